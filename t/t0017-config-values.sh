#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='wrong values of keys that most commands read

The expected words are those of Git 2.55.'
. "$(dirname "$0")/lib.sh"

SQ="'"

test_expect_success 'a repository' '
	repo_linear r.git 2
'

# refused <key>=<value>: all commands except those in `spared` must refuse the
# value. The last line of the error message must be standard input.
refused () {
	sed "s/Q/$SQ/g" >expect &&
	for args in "rev-parse HEAD" "rev-list -1 HEAD" show-ref \
		"cat-file -t HEAD" "update-ref refs/heads/x main" \
		"symbolic-ref HEAD" "repack -q" "hash-object HEAD" \
		"reflog expire --all" "refs verify" "gc -q" "count-objects" \
		"verify-pack none"
	do
		test_expect_code 128 git -C r.git -c "$1" $args >out 2>err &&
		test_cmp /dev/null out && test_cmp expect err || return 1
	done &&
	for args in "reflog list" "refs exists refs/heads/main" prune-packed \
		"upload-pack --advertise-refs ." version
	do
		git -C r.git -c "$1" $args >out 2>err &&
		test_cmp /dev/null err || return 1
	done
}

test_expect_success 'fsck and maintenance check their options first' '
	for args in "fsck --what" "maintenance run -q" "maintenance run --what"
	do
		test_expect_code 129 git -C r.git -c core.looseCompression=12 \
			$args 2>err && ! grep "compression" err || return 1
	done &&
	for args in fsck "maintenance run" "maintenance run x"
	do
		test_expect_code 128 git -C r.git -c core.looseCompression=12 \
			$args 2>err && grep "bad zlib compression" err ||
			return 1
	done
'

test_expect_success 'keys with boolean values' '
	echo "fatal: bad boolean config value QxQ for Qcore.filemodeQ" |
	refused core.fileMode=x &&
	echo "fatal: bad boolean config value QxQ for Qcore.autocrlfQ" |
	refused core.autocrlf=x &&
	git -C r.git -c core.autocrlf=input -c core.safecrlf=warn \
		-c branch.autoSetupMerge=simple -c color.advice=auto show-ref
'

test_expect_success 'keys with numbers' '
	echo "fatal: bad zlib compression level 99" |
	refused core.compression=99 &&
	echo "fatal: bad pack compression level -2" |
	refused pack.compression=-2 &&
	echo "fatal: bad numeric config value QxQ for Qcore.compressionQ: invalid unit" |
	refused core.compression=x &&
	refused core.abbrev=3 <<-\EOF &&
	error: abbrev length out of range: 3
	fatal: unable to parse Qcore.abbrevQ from command-line config
	EOF
	refused core.abbrev=0 <<-\EOF &&
	error: abbrev length out of range: 0
	fatal: unable to parse Qcore.abbrevQ from command-line config
	EOF
	git -C r.git -c core.abbrev=auto -c core.abbrev= \
		-c core.abbrev=no \
		-c core.abbrev=99 show-ref
'

test_expect_success 'keys whose values are words' '
	echo "fatal: invalid mode for object creation: x" |
	refused core.createObject=x &&
	refused core.disambiguate=x <<-\EOF &&
	error: unknown hint type for Qcore.disambiguateQ: x
	fatal: unable to parse Qcore.disambiguateQ from command-line config
	EOF
	refused core.checkStat=x <<-\EOF &&
	error: invalid value for Qcore.checkstatQ: QxQ
	fatal: unable to parse Qcore.checkstatQ from command-line config
	EOF
	refused push.default=x <<-\EOF &&
	error: malformed value for push.default: x
	error: must be one of nothing, matching, simple, upstream or current
	fatal: unable to parse Qpush.defaultQ from command-line config
	EOF
	refused branch.autoSetupRebase=x <<-\EOF &&
	error: malformed value for branch.autosetuprebase
	fatal: unable to parse Qbranch.autosetuprebaseQ from command-line config
	EOF
	refused core.commentChar= <<-\EOF &&
	error: core.commentchar must have at least one character
	fatal: unable to parse Qcore.commentcharQ from command-line config
	EOF
	refused core.editor <<-\EOF
	error: missing value for Qcore.editorQ
	fatal: unable to parse Qcore.editorQ from command-line config
	EOF
'

test_expect_success 'a wrong value in a file' '
	test_when_finished "stock -C r.git config --unset core.createObject" &&
	stock -C r.git config core.createObject link &&
	git -C r.git show-ref &&
	printf "[user]\n\tname\n" >extra &&
	test_expect_code 128 git -C r.git -c "include.path=$PWD/extra" \
		show-ref 2>err &&
	grep "^error: missing value for .user.name.$" err
'

test_expect_success 'unknown components of core.fsync are ignored' '
	echo x >blob &&
	git -C r.git -c core.fsync=-x,none,pack hash-object -w ../blob 2>err &&
	printf "warning: ignoring unknown core.fsync component %s\n" \
		"${SQ}x$SQ" "${SQ}none$SQ" >expect &&
	test_cmp expect err &&
	git -C r.git -c core.fsync=NONE,-,x hash-object -w ../blob 2>err &&
	printf "warning: %s\n" \
		"ignoring unknown core.fsync component ${SQ}NONE$SQ" \
		"invalid value for variable core.fsync" >expect &&
	test_cmp expect err &&
	git -C r.git -c core.fsyncMethod=x hash-object -w ../blob 2>err &&
	echo "warning: ignoring unknown core.fsyncMethod value ${SQ}x$SQ" \
		>expect &&
	test_cmp expect err &&
	git -C r.git -c core.fsync=pack,none -c core.fsyncMethod=batch \
		hash-object -w ../blob 2>err &&
	test_cmp /dev/null err
'

# refused_by <command> <key>=<value>...: the command must fail and name the last
# key. Another value after it does not help.
refused_by () {
	command=$1 && shift &&
	for bad
	do
		key=${bad%%=*} &&
		test_expect_code 128 git -C r.git -c $bad -c $key=1 $command \
			2>err </dev/null &&
		grep -i "^fatal: .*\(${bad#*=}\|$key\)" err || return 1
	done
}

test_expect_success 'each value of the keys of commands that make packs is checked' '
	git -C r.git repack -adq &&
	pack=$(cd r.git && ls objects/pack/*.pack) &&
	for command in "pack-objects --all new" "repack -adq"
	do
		refused_by "$command" pack.window=x pack.window=3g \
			pack.depth=x pack.windowMemory=x pack.threads=x \
			pack.deltaCacheSize=x pack.deltaCacheLimit=x \
			pack.useBitmaps=x pack.allowPackReuse=x \
			pack.indexVersion=x pack.writeReverseIndex=x \
			pack.writeBitmapHashCache=x \
			pack.writeBitmapLookupTable=x || return 1
	done &&
	refused_by "index-pack $pack" pack.threads=x pack.indexVersion=x \
		pack.writeReverseIndex=x core.deltaBaseCacheLimit=x &&
	refused_by "repack -adq" repack.packKeptObjects=x \
		repack.useDeltaBaseOffset=x repack.writeBitmaps=x \
		repack.useDeltaIslands=x repack.updateServerInfo=x \
		repack.midxMustContainCruft=x &&
	git -C r.git -c pack.window=x -c repack.writeBitmaps=x \
		index-pack $pack &&
	git -C r.git -c repack.writeBitmaps=x -c core.deltaBaseCacheLimit=x \
		-c pack.deltaCacheSize=-1 -c pack.deltaCacheLimit=-1 \
		-c pack.allowPackReuse=Multi pack-objects -q --all new
'

test_expect_success 'pack.threads below zero and out of range' '
	for command in "index-pack $pack" "pack-objects --all new" "repack -adq"
	do
		test_expect_code 128 git -C r.git -c pack.threads=-1 \
			$command 2>err &&
		echo "fatal: invalid number of threads specified (-1)" \
			>expect &&
		test_cmp expect err &&
		test_expect_code 128 git -C r.git -c pack.threads=2147483648 \
			$command 2>err &&
		grep "pack.threads.: out of range$" err || return 1
	done
'

test_done
