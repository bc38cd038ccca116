# SPDX-License-Identifier: MIT
#
# Sourced after lib-serve.sh by tests of whole copies in the file of kept deltas.

# versions <files> <lines>: a fast-import stream. Each of 60 commits of main changes a
# line of one of two files. The tag v1 is commit 20 of main, the branch old commit 30, and the
# branch side has one commit more than old.
versions () {
	python3 - "$@" <<-\PYTHON
	import random, sys
	files, lines = int(sys.argv[1]), int(sys.argv[2])
	pick = random.Random(8)
	line = lambda: "%060x\n" % pick.getrandbits(240)
	content = [[line() for _ in range(lines)] for _ in range(files)]
	def commit(branch, nr, start=""):
	    print("commit refs/heads/%s\nmark :%d\ncommitter A <a@b> %d +0000\n"
	          "data 0%s" % (branch, nr, 1700000000 + nr, start))
	    for n in range(files) if nr == 1 else [nr % 2]:
	        content[n][pick.randrange(lines)] = line()
	        data = "".join(content[n])
	        print("M 644 inline dir%d/file%d\ndata %d\n%s"
	              % (n % 2, n, len(data), data))
	for nr in range(1, 61):
	    commit("main", nr)
	commit("side", 61, "\nfrom :30")
	print("reset refs/heads/old\nfrom :30\n")
	print("tag v1\nfrom :20\ntagger A <a@b> 1700000020 +0000\ndata 0\n")
	PYTHON
}

# make_copies_repo <dir> <files> <lines>: a repository with these versions, whose pack
# stores them as deltas.
make_copies_repo () {
	stock init -q --bare "$1" &&
	versions "$2" "$3" >stream &&
	stock -C "$1" -c fastimport.unpackLimit=1 fast-import --quiet <stream &&
	stock -C "$1" symbolic-ref HEAD refs/heads/main &&
	stock -C "$1" repack -adfq &&
	stock -C "$1" config repack.keptDeltas 90
}

# depth_1 <repo> <rev>: a request for a clone of depth 1.
depth_1 () {
	pkt command=fetch agent=test object-format=sha1 D ofs-delta \
		"want $(stock -C "$1" rev-parse "$2")" 'deepen 1' done F
}
