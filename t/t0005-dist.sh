#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='make dist: the tarball of a release'
. "$(dirname "$0")/lib.sh"

if ! stock -C "$GITREACH_SRC" rev-parse -q --verify HEAD >/dev/null 2>&1
then
	skip_all='the tree is not a checkout'
	test_done
fi

version=$(sed -n 's/.define GITREACH_VERSION "\(.*\)"/\1/p' \
	"$GITREACH_SRC/include/gitreach.h")
name=gitreach-$version
here=$PWD

# dist <directory> [<variable>...]
# Makes the tarball from the commit of the tree.
dist () {
	dist_dir=$1 &&
	shift &&
	env PATH="$STOCK_PATH" "$@" \
		"$GITREACH_SRC/tools/dist" "$version" "$here/$dist_dir"
}

test_expect_success 'two runs write equal bytes' '
	dist one >path &&
	echo "$here/one/$name.tar.gz" >expect && test_cmp expect path &&
	(umask 077 && dist two TZ=Asia/Tokyo LC_ALL=C.UTF-8) &&
	cmp one/$name.tar.gz two/$name.tar.gz &&
	ls one >left && echo $name.tar.gz >expect && test_cmp expect left
'

test_expect_success 'the tarball has the files of the commit' '
	mkdir out && tar -xzf one/$name.tar.gz -C out &&
	(cd out/$name && find . ! -type d | sed "s|^\./||" | LC_ALL=C sort) \
		>actual &&
	stock -C "$GITREACH_SRC" -c core.quotePath=false ls-tree -r \
		--name-only HEAD | LC_ALL=C sort >expect &&
	test_cmp expect actual &&
	grep "^Documentation/gitreach\.7$" actual && grep "^t/lib\.sh$" actual
'

test_expect_success 'the times are those of the commit, the owner is root' '
	tar -tvzf one/$name.tar.gz --numeric-owner --utc --full-time |
	awk "{ print \$2, \$4, \$5 }" | sort -u >actual &&
	when=$(TZ=UTC0 stock -C "$GITREACH_SRC" log -1 HEAD \
		--format=%cd --date="format-local:%Y-%m-%d %H:%M:%S") &&
	echo "0/0 $when" >expect && test_cmp expect actual &&
	tar -tvzf one/$name.tar.gz | cut -c 1-10 | sort -u >modes &&
	cat >expect <<-\EOC &&
	-rw-r--r--
	-rwxr-xr-x
	drwxr-xr-x
	EOC
	grep -v "^l" modes >actual && test_cmp expect actual
'

test_expect_success 'SOURCE_DATE_EPOCH sets the times' '
	dist epoch SOURCE_DATE_EPOCH=1112911993 &&
	tar -tvzf epoch/$name.tar.gz --utc --full-time |
	awk "{ print \$4, \$5 }" | sort -u >actual &&
	echo "2005-04-07 22:13:13" >expect && test_cmp expect actual
'

# Building everything would take minutes. These files do not depend on the
# others.
test_expect_success 'the unpacked tarball builds without .git' '
	some="build/builtin/exec-path.o build/base/heap.o build/builtin/git.o" &&
	(cd out/$name && env -i PATH="$STOCK_PATH" HOME="$HOME" \
		GIT_CEILING_DIRECTORIES="$here" make $some) &&
	(cd out/$name && test -f build/builtin/git.o) &&
	test_must_fail env PATH="$STOCK_PATH" \
		out/$name/tools/dist "$version" "$here/no" 2>err &&
	grep "needs a checkout" err && test_line_count 1 err &&
	test_must_fail test -e no
'

test_done
