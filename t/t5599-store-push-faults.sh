#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='pushes into local copies while the store fails, and kill -9

t/store-shim.py is between the node and the service. After each fault, an
acknowledged push is in the store, and each other push is there completely or not
at all. Nothing is ever deleted.'
. "$(dirname "$0")/lib.sh"
. "$GITREACH_SRC/t/lib-moto.sh"

store=s3://bucket/repos name=team/src.git
copy=$PWD/cache/repo/$name/_ receive="'$PWD/receive'"

# on <port> <subcommand> <argument>...: git store with the service at a port
on () {
	on_port=$1 on_verb=$2 && shift 2 &&
	git store $on_verb --endpoint=http://127.0.0.1:$on_port "$@"
}

# The process that receives pushes writes its id into the file "victim".
cat >receive <<EOF
#!/bin/sh
echo \$\$ >"$PWD/victim"
exec "$GITREACH_SRC/git-receive-pack" "\$@"
EOF
chmod +x receive

# push <refspec>...
push () {
	(cd work && stock push --receive-pack="$receive" "$copy" "$@") \
		>out 2>err
}

commit () {
	commit_nr=$((commit_nr + 1)) &&
	stock -C work commit -q --allow-empty -m "$commit_nr"
}

# value <ref>: its value in the store, asked without the shim. The repository is
# sound.
value () {
	rm -rf exported.git &&
	on $moto_port export $store $name exported.git &&
	stock -C exported.git fsck --full --strict >fsck 2>&1 &&
	stock -C exported.git rev-parse -q --verify $1
}

# passes <number>: so many requests without a fault
passes () {
	yes pass | head -n $1
}

# try <fault> <number>: a push whose request of this number has a fault. Whatever
# happens to the push, the store is sound, and a second push completes it.
try () {
	commit && old=$(stock -C work rev-parse HEAD~1) &&
	new=$(stock -C work rev-parse HEAD) &&
	shim_faults $(passes $2) $1 || return
	if push HEAD:refs/heads/main
	then
		code=0
	else
		code=1
	fi
	cp err err.$1.$2 && cp requests requests.$1.$2 &&
	now=$(value refs/heads/main) || return
	# An acknowledged push is there.
	test $code -ne 0 || test $now = $new || return
	test $now = $new || test $now = $old || return
	# A refused push is not there.
	! grep "this ref was not changed" err || test $now = $old || return
	shim_faults pass && push HEAD:refs/heads/main &&
	test $(value refs/heads/main) = $new &&
	cat requests.$1.$2 requests >>all-requests
}

test_expect_success MOTO 'setup: a node' '
	moto_start && shim_start && shim_faults pass &&
	commit_nr=0 && stock init -q work && stock -C work checkout -q -b main &&
	commit && stock clone -q --bare work src.git &&
	on $shim_port import --name=$name src.git $store &&
	on $shim_port fetch --cache=cache $store &&
	: >all-requests
'

test_expect_success MOTO 'the requests of a push' '
	commit && shim_faults pass && push HEAD:refs/heads/main &&
	test "$(value refs/heads/main)" = "$(stock -C work rev-parse HEAD)" &&
	# Is there a newer one? Three files with the old record; the record; the hint.
	sed "s/ .*//" requests >methods && head -n 1 methods >ordered &&
	sed -n "2,5p" methods | sort >>ordered && sed "1,5d" methods >>ordered &&
	printf "%s\n" GET GET PUT PUT PUT PUT PUT >expect &&
	test_cmp expect ordered &&
	sed -n 6p requests | grep "/gen/" && sed -n 7p requests | grep "/hint/" &&
	all=$(wc -l <requests) && record=$((all - 2)) && hint=$((all - 1)) &&
	# A deletion writes no files.
	push HEAD:refs/heads/gone && shim_faults pass && push :gone &&
	sed "s/ .*//" requests >methods &&
	printf "%s\n" GET GET PUT PUT >expect && test_cmp expect methods
'

# With GITREACH_FAULT_ALL=1, each fault happens to each request. Otherwise it happens
# to the question for a newer generation (0), in the round trip with the files (2), to
# the record, or to the hint after it.
places () {
	if test -n "$GITREACH_FAULT_ALL"
	then
		seq 0 $((all - 1))
	else
		echo $*
	fi
}

# each_place <fault> <number>...
each_place () {
	fault=$1 && shift &&
	for at in $(places $*)
	do
		try $fault $at && grep " $fault " requests.$fault.$at || {
			echo "fault $fault at $at" >&2
			return 1
		}
	done
}

test_expect_success MOTO 'requests that fail, and answers that are lost' '
	each_place lose 2 $record && each_place late-500 2 $record &&
	each_place 500 $record $hint && each_place repeat 2 $record &&
	each_place slow 0 && each_place conflict $record &&
	each_place drop 2 $record && each_place cut=10 0
'

test_expect_success MOTO 'a push whose answer was lost succeeds' '
	commit && shim_faults $(passes $record) lose &&
	push HEAD:refs/heads/main && grep " lose " requests
'

test_expect_success MOTO 'a node that is killed during a push' '
	each_place kill 0 2 $record && each_place late-kill 2 $record $hint
'

test_expect_success MOTO 'a store that is down' '
	commit && shim_faults $(yes slow | head -n 60) &&
	test_must_fail push HEAD:refs/heads/main &&
	grep "fatal: " err &&
	shim_faults pass $(yes slow | head -n 60) &&
	test_must_fail push HEAD:refs/heads/main &&
	grep "remote rejected.*does not answer; this ref was not changed" err &&
	test "$(value refs/heads/main)" = "$(stock -C work rev-parse HEAD~1)" &&
	shim_faults pass && push HEAD:refs/heads/main
'

test_expect_success MOTO 'nothing was deleted, and all is sound' '
	test_must_fail grep "^DELETE" all-requests &&
	on $moto_port verify --full $store >out 2>err && test_must_be_empty err &&
	"$GIT" -C "$copy" fsck --full
'

test_done
