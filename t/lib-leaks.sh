# SPDX-License-Identifier: MIT
#
# Sourced after lib.sh and lib-serve.sh by tests of information that members of a
# fork network can get about each other.
#
#	srv/store.git   has all objects, in one pack with bitmaps
#	srv/root.git    member 1: main
#	srv/a.git       member 2: main, secret, refs/hidden/x, tags
#	srv/b.git       member 3, attacked: main, own, refs/hidden/own
#	thief.git       of the attacker: all visible objects of A and B
#
# Ids of objects that only A reaches: $COMMIT on $PARENT, its $TREE with $BLOB and
# $SUBTREE, $TAG of the commit, and $HIDDEN, a commit that only a hidden ref of A
# reaches. All members have $MAIN. Only B reaches $OWN, and $BURIED, a commit of a
# hidden ref.

ZERO=0000000000000000000000000000000000000000

# build_commit <repo> <ref> <path> <file> <parent>: a commit that adds a file.
build_commit () {
	test_tick &&
	blob=$(stock -C "$1" hash-object -w "$PWD/$4") &&
	GIT_INDEX_FILE=$PWD/index stock -C "$1" read-tree "$5" &&
	GIT_INDEX_FILE=$PWD/index stock -C "$1" update-index --add \
		--cacheinfo "100644,$blob,$3" &&
	tree=$(GIT_INDEX_FILE=$PWD/index stock -C "$1" write-tree) &&
	commit=$(echo "$3" | stock -C "$1" commit-tree -p "$5" "$tree") &&
	stock -C "$1" update-ref "$2" "$commit"
}

network_of_two () {
	mkdir srv &&
	repo_linear srv/root.git 12 &&
	seq 1 400 >big && { cat big && echo secret; } >secret.txt &&
	{ cat big && echo own; } >own.txt && echo hidden >hidden.txt &&
	build_commit srv/root.git refs/heads/main shared/big big main &&
	MAIN=$commit &&
	"$GIT" network init -q srv/store.git &&
	"$GIT" -C srv/store.git network add -q ../root.git &&
	"$GIT" network fork -q srv/root.git srv/a.git &&
	"$GIT" network fork -q srv/root.git srv/b.git &&
	build_commit srv/a.git refs/heads/secret private/one hidden.txt main &&
	PARENT=$commit &&
	build_commit srv/a.git refs/heads/secret private/secret secret.txt \
		secret &&
	COMMIT=$commit BLOB=$blob TREE=$tree &&
	SUBTREE=$(stock -C srv/a.git rev-parse $COMMIT:private) &&
	stock -C srv/a.git tag -a -m secret secret-tag $COMMIT &&
	TAG=$(stock -C srv/a.git rev-parse secret-tag) &&
	stock -C srv/a.git tag -a -m "about main" shared-tag main &&
	build_commit srv/a.git refs/hidden/x x hidden.txt main &&
	HIDDEN=$commit &&
	stock -C srv/a.git config transfer.hideRefs refs/hidden &&
	build_commit srv/b.git refs/heads/own shared/own own.txt main &&
	OWN=$commit &&
	build_commit srv/b.git refs/hidden/own buried hidden.txt main &&
	BURIED=$commit &&
	stock -C srv/b.git config transfer.hideRefs refs/hidden &&
	"$GIT" -C srv/store.git network repack -q &&
	repo_init thief.git &&
	stock -C thief.git fetch -q ../srv/a.git "refs/*:refs/a/*" &&
	stock -C thief.git fetch -q ../srv/b.git "refs/*:refs/b/*"
}

# The attacked objects exist for a program that reads the files of B.
test_is_exposed () {
	for id in $COMMIT $PARENT $TREE $SUBTREE $BLOB $TAG $HIDDEN
	do
		stock -C srv/b.git cat-file -e $id || return
	done &&
	stock -C srv/b.git rev-list --objects --all >all &&
	! grep -e $COMMIT -e $TREE -e $BLOB -e $TAG -e $HIDDEN all &&
	ls srv/store.git/objects/pack/*.bitmap
}

# An id without object.
ghost () {
	echo $1 | tr 0-9a-f 1-9a-f0
}

# alike <id> <command> [<argument>...]: run the command with the id as its last
# argument, and with an id without object. Both must print the same, and no pack.
alike () {
	id=$1 ghost=$(ghost $1) &&
	shift &&
	"$@" $id >real.out 2>real.err
	real=$?
	"$@" $ghost >ghost.out 2>ghost.err
	test $? = $real &&
	for file in real.out real.err ghost.out ghost.err
	do
		tr -d "\0" <$file | sed "s/$id/<id>/g; s/$ghost/<id>/g
			s/$(echo $id | cut -c1-12)/<short>/g
			s/$(echo $ghost | cut -c1-12)/<short>/g" \
			>$file.txt || return
	done &&
	test_cmp ghost.out.txt real.out.txt &&
	test_cmp ghost.err.txt real.err.txt &&
	! grep -a PACK real.out
}

# v2 <repo> <line>...: send one request of protocol version 2.
v2 () {
	repo=$1 &&
	shift &&
	pkt "$@" | GIT_PROTOCOL=version=2 "$GIT" upload-pack \
		--stateless-rpc "srv/$repo"
}

# fetch2 <line>...: send a fetch of version 2 to B.
fetch2 () {
	v2 b.git command=fetch object-format=sha1 D no-progress "$@" F
}

# fetch0 <line>...: fetch from B by version 0, or 1 with PROTOCOL=version=1.
fetch0 () {
	pkt "$@" | GIT_PROTOCOL=${PROTOCOL-} "$GIT" upload-pack srv/b.git
}

# The functions above, over HTTP.
fetch0_stateless () {
	pkt "$@" | GIT_PROTOCOL= "$GIT" upload-pack --stateless-rpc srv/b.git
}

want2 () {
	fetch2 "want $1" done
}

want1 () {
	PROTOCOL=version=1 want0 $1
}

want0 () {
	fetch0 "want $1 no-progress" F done
}

want0_stateless () {
	fetch0_stateless "want $1 no-progress" F done
}

# pack_of <answer>: print the pack in a version 0 response without side bands.
pack_of () {
	python3 -c "import sys
data = sys.stdin.buffer.read()
sys.stdout.buffer.write(data[data.index(b'PACK'):])" <"$1"
}

# Check that a repository has no object that only A reaches.
test_no_secret () {
	for id in $COMMIT $PARENT $TREE $SUBTREE $BLOB $TAG $HIDDEN
	do
		! stock -C "$1" cat-file -e $id || return
	done
}
