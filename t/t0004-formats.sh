#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='the worked examples of Documentation/format are real files'
. "$(dirname "$0")/lib.sh"

if ! command -v python3 >/dev/null
then
	skip_all='python3 is missing'
	test_done
fi

# Print the bytes of the hex dump in a page of Documentation/format. The lines
# of a dump are indented, and have the form "<offset>  <words>".
cat >dump.py <<\EOF
import re, sys
data = b""
for line in open(sys.argv[1]):
    m = re.fullmatch(r"    ([0-9a-f]+)  ((?:[0-9a-f]{8} ?)+)\n", line)
    if m:
        assert int(m.group(1), 16) == len(data), line
        data += bytes.fromhex(m.group(2))
sys.stdout.buffer.write(data)
EOF
dump () {
	python3 dump.py "$GITREACH_SRC/Documentation/format/$1.md"
}

# rename.py <offset> [<hex>]
# Reads a file from standard input. Puts the 20 bytes <hex>, the checksum of
# another pack, at the offset (counted from the end if negative). Then corrects
# the checksum at the end of the file. Without <hex>, only corrects the
# checksum.
cat >rename.py <<\EOF
import hashlib, sys
data = bytearray(sys.stdin.buffer.read())
at = int(sys.argv[1])
at += len(data) if at < 0 else 0
if len(sys.argv) > 2:
    data[at:at + 20] = bytes.fromhex(sys.argv[2])
body = bytes(data[:-20])
sys.stdout.buffer.write(body + hashlib.sha1(body).digest())
EOF

test_expect_success 'each hex dump ends in the checksum of its bytes' '
	for page in bitmap pack-idx-rev
	do
		dump $page >whole &&
		test "$(wc -c <whole)" -gt 70 &&
		python3 rename.py 0 <whole >again &&
		cmp whole again || return 1
	done
'

# The name of a pack is a checksum of its bytes, which depend on the compression
# library. The order of its objects does not.
test_expect_success 'the hex dumps are the bytes that repack writes' '
	repo_init tiny.git &&
	cat >stream <<-\EOC &&
	blob
	mark :1
	data 6
	hello

	commit refs/heads/main
	mark :2
	author A U Thor <author@example.com> 1000000000 +0000
	committer A U Thor <author@example.com> 1000000000 +0000
	data 4
	one
	M 100644 :1 greeting

	commit refs/heads/main
	author A U Thor <author@example.com> 1000000060 +0000
	committer A U Thor <author@example.com> 1000000060 +0000
	data 4
	two
	from :2
	M 100644 :1 copy

	EOC
	stock -C tiny.git fast-import --quiet <stream &&
	git -C tiny.git repack -adbq &&
	pack=$(echo tiny.git/objects/pack/*.pack) &&
	name=$(basename "$pack" .pack) &&
	name=${name#pack-} &&
	dump bitmap | python3 rename.py 12 "$name" >expect &&
	cmp expect "${pack%.pack}.bitmap" &&
	dump pack-idx-rev | python3 rename.py -40 "$name" >expect &&
	cmp expect "${pack%.pack}.rev"
'

test_done
