#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='git store: repositories in a bucket, also of a service that fails

t/store-shim.py loses answers, and answers with 5xx. An import either makes the
whole generation or none, and says which.'
. "$(dirname "$0")/lib.sh"
. "$GITREACH_SRC/t/lib-moto.sh"

store=s3://bucket/repos

# on <port> <subcommand> <argument>...: git store with the service at a port
on () {
	on_port=$1 on_verb=$2 && shift 2 &&
	git store $on_verb --endpoint=http://127.0.0.1:$on_port "$@"
}

# same_as <repository> <exported>
same_as () {
	stock -C "$2" fsck --full --strict &&
	stock -C "$1" for-each-ref >expect &&
	stock -C "$2" for-each-ref >actual && test_cmp expect actual
}

# exports <name>: export without the shim, and compare with src.git.
exports () {
	rm -rf out.git && on $moto_port export $store $1 out.git &&
	same_as src.git out.git
}

test_expect_success 'setup: a repository' '
	repo_linear src.git 30 && repo_tags src.git &&
	"$GIT" -C src.git repack -adbq
'

test_expect_success MOTO 'import, export, list, log and verify' '
	moto_start &&
	on $moto_port import --name=team/a_b.git src.git $store >out &&
	grep "^team/a_b.git: generation 1, wrote" out &&
	exports team/a_b.git &&
	on $moto_port list $store >actual &&
	echo team/a_b.git >expect && test_cmp expect actual &&
	on $moto_port log $store team/a_b.git >log &&
	grep "refs/tags/deep none -> $(stock -C src.git rev-parse deep)" log &&
	on $moto_port verify --full $store &&
	stock -C src.git update-ref refs/heads/new main~3 &&
	on $moto_port import --force --name=team/a_b.git src.git $store >out &&
	grep "^team/a_b.git: generation 2, wrote 2 of" out &&
	exports team/a_b.git &&
	test_expect_code 128 on $moto_port import --name=team/a_b.git src.git \
		$store 2>err &&
	grep "exists in the store already" err
'

test_expect_success MOTO 'the number of requests' '
	shim_start && shim_faults pass &&
	on $shim_port import --name=counted.git src.git $store >out &&
	files=$(sed -n "s/.* wrote \([0-9]*\) of .*/\1/p" out) &&
	sed "s/ .*//" requests | sort | uniq -c >counts.import &&
	# the files, the record, and the hint before and after it
	test $(grep -c "^PUT" requests) -eq $((files + 3)) &&
	shim_faults pass && rm -rf out.git &&
	on $shim_port export $store counted.git out.git &&
	same_as src.git out.git &&
	# the files, the record, the hint, and that there is no next record
	test $(wc -l <requests) -le $((files + 4)) &&
	shim_faults pass &&
	on $shim_port verify $store counted.git &&
	# hint, record, no next record, a listing
	test $(wc -l <requests) -le 4
'

test_expect_success MOTO 'exports get over answers that fail' '
	shim_faults 500 lose pass cut=10 503 pass slow 502 lose late-500 &&
	rm -rf out.git &&
	on $shim_port export $store counted.git out.git &&
	same_as src.git out.git &&
	grep " 500 " requests && grep " cut=10 " requests
'

# The first request of an import fails, one in its middle, one of the last, which
# write the record and the hint. The import makes the generation, or says that it does
# not know. Then another import finds out.
test_expect_success MOTO 'imports get over answers that fail' '
	shim_faults pass &&
	on $shim_port import --name=f/0.git src.git $store &&
	all=$(wc -l <requests) nr=0 &&
	for fault in lose late-500 500 repeat
	do
		case $fault in
		lose) places="0 $((all / 2)) $((all - 2)) $((all - 1))" ;;
		*) places="$((all / 2)) $((all - 2))" ;;
		esac &&
		for at in $places
		do
			nr=$((nr + 1)) &&
			shim_faults $(yes pass | head -n $at) $fault &&
			if on $shim_port import --name=f/$nr.git src.git $store \
				>out 2>err
			then
				grep "^f/$nr.git: generation 1," out || return 1
			else
				grep "^fatal: " err &&
				on $moto_port import --force --name=f/$nr.git \
					src.git $store || return 1
			fi &&
			grep " $fault " requests && exports f/$nr.git || {
				echo "fault $fault at $at" >&2
				cat requests >&2
				return 1
			}
		done
	done &&
	on $moto_port verify $store >out &&
	test_line_count $((nr + 3)) out
'

# At its end, a repack reads its lease, renews it and deletes it. The store does not answer the
# read. After the time limit, the repack ends without a second try, and the lease stays. With
# --force, a later repack takes the lease over.
test_expect_success MOTO 'a repack ends although the store is silent at the end' '
	on $moto_port import --name=lease.git src.git $store &&
	shim_faults pass && echo "GET /bucket/repos/lease/" >hang &&
	on $shim_port repack $store lease.git >out &&
	rm hang && grep "^lease.git: generation 2," out &&
	grep "^GET /bucket/repos/lease/lease.git/_ " requests >tries &&
	test_line_count 1 tries &&
	on $shim_port repack $store lease.git >out &&
	grep "^lease.git: skipped, because .*is maintaining it" out &&
	shim_faults pass &&
	on $shim_port repack --force $store lease.git >out &&
	grep "^DELETE /bucket/repos/lease/lease.git/_ " requests
'

test_expect_success MOTO 'a service that is down, and a bucket that is gone' '
	test_expect_code 128 on 1 import --name=x.git src.git $store 2>err &&
	grep "^fatal: " err &&
	test_expect_code 128 on $moto_port list s3://none 2>err &&
	grep "^fatal: .*no such bucket" err &&
	test_expect_code 128 on $moto_port export s3://none a.git x.git 2>err &&
	test_must_fail test -e x.git
'

test_done
