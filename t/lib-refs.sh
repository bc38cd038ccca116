# SPDX-License-Identifier: MIT
#
# Sourced after lib.sh by tests of commands that change refs.
#
#	twins <init options>...
#		makes two equal repositories, "ours" and "theirs", with commits
#		$A, $B, a tag $T of $A, and a tree $TREE
#	both '<script>'
#		runs a shell script in both repositories. `g` is our git in one
#		and stock Git in the other. Compares exit code, output, standard
#		error (without empty lines), and HEAD, refs, packed-refs and
#		reflogs afterwards

ZERO=0000000000000000000000000000000000000000
TRASH=$PWD

twins () {
	for twin in ours theirs
	do
		rm -rf "$twin" &&
		stock init -q -b main "$@" "$twin" &&
		(
			cd "$twin" &&
			stock config core.bare >../is_bare &&
			GIT_AUTHOR_DATE="1112911993 -0700" &&
			GIT_COMMITTER_DATE=$GIT_AUTHOR_DATE &&
			export GIT_AUTHOR_DATE GIT_COMMITTER_DATE &&
			TREE=$(stock hash-object -t tree -w /dev/null) &&
			A=$(stock commit-tree -m a $TREE) &&
			B=$(stock commit-tree -m b -p $A $TREE) &&
			stock tag -a -m T T $A &&
			T=$(stock rev-parse T) &&
			stock update-ref -d refs/tags/T &&
			printf "A=%s\nB=%s\nT=%s\nTREE=%s\n" \
				$A $B $T $TREE >../ids
		) || return 1
	done
	. ./ids
	export A B T TREE ZERO
}

# Print the refs of a repository, file by file. The trait that only gitreach writes
# to packed-refs is left out.
refs_state () {
	(
		cd "$1" &&
		if test -d .git
		then
			cd .git
		fi &&
		for file in $(find HEAD refs packed-refs logs -type f \
			2>/dev/null | LC_ALL=C sort)
		do
			echo "== $file"
			sed "s/^\(# pack-refs with:.*\) gitreach-peeled/\1/" $file
		done
	)
}

# run_twin <directory> <git> <script>: messages of Git 2.39 become those of 2.55.
run_twin () {
	(
		cd "$1" &&
		GIT_COMMITTER_DATE="1112911993 -0700" &&
		export GIT_COMMITTER_DATE &&
		twin_git=$2 &&
		g () {
			$twin_git "$@"
		} &&
		eval "$3"
		echo "exit code $?"
	) >"$TRASH/$1.out" 2>"$TRASH/$1.err"
	sed -e "/^\$/d" -e "s,$TRASH/$1,REPO," -e "s,REPO/\./,REPO/," \
		-e "s,'\./refs,'REPO/.git/refs," \
		-e "s,cannot update ref '[^']*': \(trying to write\),\1," \
		-e "s,<\(new\|old\)value>,<\1-oid>," \
		"$TRASH/$1.err" >>"$TRASH/$1.out"
	refs_state "$1" >>"$TRASH/$1.out"
}

# Remove messages of failures, and the peeled ids in packed-refs, which not every
# program writes.
less_told () {
	sed -i -e "/^\^/d" -e "/^warning:/d" -e "/^exit code [1-9]/,/^== /{" \
		-e "/^exit code/b" -e "/^== /b" -e d -e "}" "$@"
}

both () {
	run_twin theirs stock "$1"
	run_twin ours git "$1"
	test_have_prereq STOCK_239 || less_told theirs.out ours.out
	test_cmp theirs.out ours.out
}
