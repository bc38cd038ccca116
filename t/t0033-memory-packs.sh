#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='packs and bitmaps are read and written when memory runs out

Each request for memory fails once, one after the other.'
. "$(dirname "$0")/lib.sh"
. "$GITREACH_SRC/t/lib-memory.sh"

test_expect_success 'a repository' '
	memory_repo r.git &&
	ls r.git/objects/pack/pack-*.pack >pack
'

test_expect_success 'history is read, and a bitmap index' '
	each_request "$git" -C r.git rev-list --all --objects &&
	each_request "$git" -C r.git rev-list --all --objects \
		--use-bitmap-index &&
	each_request "$git" -C r.git rev-list --test-bitmap main
'

test_expect_success 'packs are read and written' '
	each_request "$git" verify-pack "$(cat pack)" &&
	each_request "$git" index-pack -o x.idx "$(cat pack)" &&
	each_request "$git" -C r.git pack-objects --all --stdout -q
'

test_expect_success 'multi-pack-index, commit-graph and bitmaps are written' '
	each_request "$git" -C r.git multi-pack-index write --bitmap &&
	each_request "$git" -C r.git multi-pack-index verify &&
	each_request "$git" -C r.git commit-graph write --reachable
'

test_expect_success 'a repository is repacked' '
	each_request "$git" -C r.git repack -adbq &&
	"$git" -C r.git fsck --strict
'

test_done
