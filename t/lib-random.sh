# SPDX-License-Identifier: MIT
#
# Makes random histories. Sourced after lib.sh.
#
# repo_random <dir> <commits> <seed>: make a history of random branches and merges.
# Files change, come back, and become directories. Directories move. There are file
# modes, symbolic links and submodules.
repo_random () {
	width=40
	test "${REPO_FORMAT:-sha1}" = sha1 || width=64
	awk -v nr="$2" -v seed="$3" -v width=$width '
	function below (n) {
		seed = (seed * 1103515245 + 12345) % 2147483648
		return int (seed / 65536) % n
	}
	function name () {
		return substr ("aabbcdxyz", below(9) + 1, 1) \
			(below(3) ? "" : below(2) ? ".c" : "-1")
	}
	function path () {
		return (below(2) ? name() "/" : "") \
			(below(3) ? "" : name() "/") name()
	}
	function change (i, text) {
		text = "content " below(60) "\n"
		if (below(8) == 0)
			print "D " name()
		else if (below(12) == 0)
			printf "M 160000 %s %s\n", gitlink, path()
		else
			printf "M %s inline %s\ndata %d\n%s\n", \
				below(5) ? "100644" : below(2) ? "100755" : \
				"120000", path(), length (text), text
	}
	BEGIN {
		gitlink = sprintf ("%0*d", width, 7)
		for (i = 1; i <= nr; i++) {
			b = below(5)
			printf "commit refs/heads/%s\nmark :%d\n", \
				b ? "b" b : "main", i
			when = 1112912000 + 60 * i
			if (below(12) == 0)
				when -= 60 * below(4)
			printf "author A U Thor <a@example.com> %d +0200\n", \
				when
			printf "committer C O <c@example.com> %d +0200\n", when
			printf "data 9\ncommit %2d", i % 100
			print ""
			if (tip[b])
				print "from :" tip[b]
			else if (i > 1 && below(4)) {
				from = below(i - 1) + 1
				print "from :" from
			}
			if (i > 3 && below(4) == 0)
				for (k = below(9) ? 1 : 4; k > 0; k--)
					print "merge :" (i - 1 - below(3))
			for (k = below(4); k >= 0; k--)
				change()
			print ""
			tip[b] = i
		}
	}' |
	repo_import "$1"
}
