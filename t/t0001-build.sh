#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='building, configuring, installing and removing'
. "$(dirname "$0")/lib.sh"

# Copy the sources of the tree to <directory>, so that a test writes nothing
# into the tree.
copy_tree () {
	mkdir "$1" &&
	(cd "$GITREACH_SRC" && tar cf - --exclude=./build --exclude='./build-*' \
		--exclude=./.git --exclude=./config.mak --exclude=./git .) |
	tar xf - -C "$1"
}

test_expect_success 'the shared library exports the public symbols only' '
	nm -D --defined-only "$GITREACH_BUILD/libgitreach.so" >symbols &&
	grep " T gitreach_version$" symbols &&
	! grep -v " gitreach_" symbols &&
	readelf -d "$GITREACH_BUILD/libgitreach.so" >dynamic &&
	grep "SONAME.*\[libgitreach\.so\.0\]" dynamic
'

# Run make in the tree itself, with the variables of `make test`, which are in
# MAKEFLAGS. Otherwise make would build the programs again while other tests use
# them. The options of the job server are removed, because sharness uses the
# same descriptors.
MAKEFLAGS=$(echo "${MAKEFLAGS-}" |
	sed 's/\(^\| \)-j[0-9]*//g; s/--jobserver-[a-z]*=[^ ]*//g')
export MAKEFLAGS
in_tree () {
	make -C "$GITREACH_SRC" --no-print-directory "$@"
}

test_expect_success 'make install into DESTDIR' '
	in_tree install DESTDIR="$PWD/dest" &&
	header=$(find dest -name gitreach.h) &&
	root=${header%/include/gitreach.h} &&
	prefix=${root#dest} &&
	test -n "$prefix" &&
	test -f "$root/lib/libgitreach.a" &&
	test -f "$root/lib/libgitreach.so" &&
	test -f "$root/lib/pkgconfig/gitreach.pc"
'

test_expect_success '%(prefix) in the configuration is the prefix of the installation' '
	stock init -q prefixed &&
	"$root/bin/git" -C prefixed -c "core.hooksPath=%(prefix)/h" \
		rev-parse --git-path hooks >actual &&
	echo "$prefix/h" >expect &&
	test_cmp expect actual
'

test_expect_success 'the guide is installed, and its links lead to installed files' '
	doc=$root/share/doc/gitreach &&
	python3 "$GITREACH_SRC/t/guide.py" links "$doc"/guide/*.md \
		"$doc"/format/*.md "$doc"/results/*.md &&
	! grep -r "](\.\./\.\./" "$doc/guide" &&
	test -f "$doc/contrib/nginx/gitreachd.conf"
'

# With a sanitizer, the program would have to be linked with the sanitizer's
# library.
test_expect_success PLAIN 'a program builds against the installed library' '
	cat >use.c <<-\EOC &&
	#include <gitreach.h>
	#include <stdio.h>
	#include <string.h>
	int main(void)
	{
		puts(gitreach_version());
		return strcmp(gitreach_version(), GITREACH_VERSION) != 0;
	}
	EOC
	pc=$root/lib/pkgconfig/gitreach.pc &&
	cc -I"$root/include" -o use use.c -L"$root/lib" -lgitreach &&
	LD_LIBRARY_PATH=$PWD/$root/lib ./use >actual &&
	pkg-config --modversion "$pc" >expect &&
	test_cmp expect actual &&
	pkg-config --static --libs "$pc" >libs &&
	grep -e "-lgitreach" libs
'

test_expect_success 'programs and exec path are installed' '
	bin=$root/bin exec=$root/libexec/gitreach-core &&
	test -x $bin/git &&
	for name in git-upload-pack git-receive-pack git-upload-archive
	do
		test "$(readlink $bin/$name)" = git &&
		test "$(readlink $exec/$name)" = git || return 1
	done &&
	test "$(readlink $exec/git)" = "$prefix/bin/git" &&
	for name in $(ls "$(stock --exec-path)")
	do
		test -L $exec/$name || return 1
	done
'

# Without stock Git's completion, our completion is also installed for `git`
# itself. With it, only for our commands.
test_expect_success 'completion is installed' '
	dir=$root/share/bash-completion/completions &&
	cmp "$GITREACH_SRC/completion/gitreach.bash" $dir/git-bitmap &&
	test "$(readlink $dir/git-network)" = git-bitmap &&
	if test -e /usr/share/bash-completion/completions/git
	then
		test_must_fail test -e $dir/git
	else
		test "$(readlink $dir/git)" = git-bitmap
	fi &&
	head -n 1 $root/share/zsh/site-functions/_git-network >actual &&
	echo "#compdef git-network" >expect && test_cmp expect actual &&
	test_must_fail grep -r "@" $root/share/zsh &&
	test "$(readlink $dir/gitreachd)" = git-bitmap &&
	cmp "$GITREACH_SRC/completion/gitreachd.zsh" \
		$root/share/zsh/site-functions/_gitreachd
'

command -v systemd-analyze >/dev/null && test_set_prereq SYSTEMD

test_expect_success 'units of systemd are installed' '
	units=$root/lib/systemd/system &&
	grep "^ExecStart=$prefix/bin/gitreachd$" $units/gitreachd.service &&
	test_must_fail grep "^[^#].*@bindir" $units/gitreachd.service &&
	cmp "$GITREACH_SRC/contrib/systemd/gitreachd.socket" \
		$units/gitreachd.socket &&
	cmp "$GITREACH_SRC/contrib/systemd/gitreachd.sysusers" \
		$root/lib/sysusers.d/gitreachd.conf &&
	cmp "$GITREACH_SRC/contrib/systemd/gitreachd.tmpfiles" \
		$root/lib/tmpfiles.d/gitreachd.conf
'

# The program is not at the path that the units name. So the test changes the
# path.
test_expect_success SYSTEMD 'systemd accepts the units' '
	mkdir units &&
	for unit in gitreachd.service gitreachd.socket
	do
		sed "s|^ExecStart=.*|ExecStart=\"$PWD/$root/bin/gitreachd\"|" \
			$units/$unit >units/$unit || return 1
	done &&
	SYSTEMD_UNIT_PATH=$PWD/units: systemd-analyze verify --man=no \
		units/gitreachd.service units/gitreachd.socket >out 2>&1 &&
	test_must_be_empty out
'

test_expect_success SYSTEMD 'the service is well confined' '
	systemd-analyze security --offline=yes --threshold=30 \
		units/gitreachd.service >out 2>&1
'

# The test gives systemd a root directory of its own. Only root can give the new
# directories to another user.
test "$(id -u)" -ne 0 || ! command -v systemd-sysusers >/dev/null ||
	test_set_prereq SYSUSERS

test_expect_success SYSUSERS 'systemd makes the user and the directories' '
	mkdir -p system/etc && : >system/etc/passwd && : >system/etc/group &&
	systemd-sysusers --root="$PWD/system" \
		"$PWD/$root/lib/sysusers.d/gitreachd.conf" 2>err &&
	grep "^git:.*:/var/lib/gitreachd:.*nologin$" system/etc/passwd &&
	systemd-tmpfiles --create --root="$PWD/system" \
		"$PWD/$root/lib/tmpfiles.d/gitreachd.conf" &&
	id=$(sed -n "s/^git:x:\([0-9]*\):.*/\1/p" system/etc/passwd) &&
	for dir in var/lib/gitreachd var/log/gitreach run/gitreach \
		var/cache/gitreach/plans
	do
		test "$(stat -c %u system/$dir)" = "$id" || return 1
	done &&
	test "$(stat -c %a system/var/lib/gitreachd)" = 750
'

test_expect_success 'a second install replaces the first' '
	in_tree install DESTDIR="$PWD/dest"
'

test_expect_success 'make uninstall leaves no file' '
	in_tree uninstall DESTDIR="$PWD/dest" &&
	find dest ! -type d >left &&
	test_must_be_empty left
'

test_expect_success 'another Git is never overwritten' '
	mkdir -p "other$prefix/bin" &&
	echo "not ours" >"other$prefix/bin/git" &&
	test_must_fail in_tree install DESTDIR="$PWD/other" 2>err &&
	grep "is not ours" err &&
	echo "not ours" >expect &&
	test_cmp expect "other$prefix/bin/git"
'

# The following tests run make in a copy of the tree, without the variables of
# `make test`.
in_copy () {
	(cd tree && env -i PATH="$PATH" HOME="$HOME" "$@")
}

for lib in c z deflate crypto pcre2-8
do
	case "$(cc -print-file-name=lib$lib.a)" in
	/*) ;;
	*) no_archive=$lib ;;
	esac
done
if test -z "${no_archive-}" && test_have_prereq PLAIN
then
	test_set_prereq ARCHIVES
fi

test_expect_success ARCHIVES 'a program that loads no library' '
	copy_tree tree && mkdir tree/build &&
	(cd "$GITREACH_BUILD" && tar cf - --exclude=./t .) |
	tar xf - -C tree/build &&
	in_copy make STATIC_LIBS="crypto pcre2-8 z deflate c" git 2>err &&
	readelf -lW tree/build/bin/git >segments &&
	test_must_fail grep INTERP segments &&
	stock init -q looked-at && echo file >looked-at/file &&
	stock -C looked-at add file && stock -C looked-at commit -qm one &&
	tree/build/bin/git -C looked-at repack -adbq &&
	tree/build/bin/git -C looked-at rev-list --objects --all \
		--use-bitmap-index >actual &&
	test_line_count 3 actual &&
	in_copy make git && readelf -lW tree/build/bin/git >segments &&
	grep INTERP segments &&
	rm -rf tree
'

test_expect_success 'the paths of an installation recompile two files' '
	copy_tree tree &&
	some="build/builtin/exec-path.o build/config/config.o" &&
	some="$some build/base/heap.o build/base/buf.o" &&
	in_copy make $some >/dev/null &&
	in_copy make prefix=/elsewhere VERBOSE=1 $some >log &&
	grep -c -e " -c -o " log >compiled &&
	echo 2 >expect &&
	test_cmp expect compiled &&
	grep "builtin/exec-path.c" log &&
	grep "config/config.c" log
'

test_expect_success 'a changed header recompiles its users, and nothing else' '
	in_copy make prefix=/elsewhere VERBOSE=1 $some >log &&
	! grep -e " -c -o " log &&
	sleep 1 &&
	touch tree/base/heap.h &&
	in_copy make prefix=/elsewhere VERBOSE=1 $some >log &&
	grep "base/heap.c" log &&
	! grep "base/buf.c" log
'

test_expect_success 'other flags recompile everything' '
	in_copy make prefix=/elsewhere VERBOSE=1 CFLAGS=-O0 $some >log &&
	grep -c -e "-O0.* -c -o " log >compiled &&
	echo 4 >expect &&
	test_cmp expect compiled
'

if command -v autoconf >/dev/null
then
	test_set_prereq AUTOCONF
fi

test_expect_success AUTOCONF './configure --without-libdeflate' '
	in_copy make configure &&
	in_copy ./configure --prefix=/some/where --without-libdeflate &&
	grep "^prefix = /some/where$" tree/config.mak &&
	grep "^LIBDEFLATE = 0$" tree/config.mak &&
	in_copy make -n lib >log &&
	! grep -e HAVE_LIBDEFLATE -e ldeflate log
'

test_expect_success AUTOCONF './configure, plain' '
	in_copy ./configure &&
	grep "^prefix = /usr/local$" tree/config.mak &&
	grep "^sysconfdir = /etc$" tree/config.mak &&
	grep "^LIBDEFLATE = 1$" tree/config.mak &&
	grep "^STATIC_LIBS = crypto pcre2-8$" tree/config.mak &&
	rm tree/config.mak
'

test_expect_success AUTOCONF './configure chooses libraries to hold' '
	in_copy ./configure --with-static-libs="crypto z" &&
	in_copy make build/libs && grep "/libz\.a" tree/build/libs &&
	grep -e "-lpcre2-8" tree/build/libs &&
	in_copy ./configure --without-static-libs &&
	in_copy make build/libs && ! grep "\.a" tree/build/libs &&
	rm tree/config.mak
'

test_expect_success 'a static library in the directory of LDFLAGS is found' '
	mkdir named &&
	ln -s "$(cc -print-file-name=libpcre2-8.so)" named &&
	in_copy make LDFLAGS=-L../named build/libs &&
	grep -e "-lpcre2-8" tree/build/libs &&
	>named/libpcre2-8.a &&
	in_copy make LDFLAGS=-L../named build/libs &&
	grep " \.\./named/libpcre2-8\.a" tree/build/libs
'

# The compiler makes code for this machine. The options only change the macros
# that describe the machine.
test_expect_success 'other machines are refused with one line' '
	big="-U__BYTE_ORDER__ -D__BYTE_ORDER__=__ORDER_BIG_ENDIAN__" &&
	small="-U__SIZEOF_POINTER__ -D__SIZEOF_POINTER__=4" &&
	test_must_fail in_copy make CC="cc $big" >out 2>err &&
	test_line_count 1 err && test_must_be_empty out &&
	grep "gitreach: big-endian machines are not supported" err &&
	test_must_fail in_copy make CFLAGS="$small" >out 2>err &&
	test_line_count 1 err && test_must_be_empty out &&
	grep "gitreach: 32-bit machines are not supported" err &&
	CC="cc $big" "$GITREACH_SRC/tools/machine" >actual &&
	test_line_count 1 actual &&
	CC=cc "$GITREACH_SRC/tools/machine" >actual &&
	test_must_be_empty actual
'

test_expect_success 'a C library without the other libraries is refused with one line' '
	mkdir libc && : >libc/limits.h &&
	test_must_fail in_copy make CC="cc -nostdinc -I../libc" >out 2>err &&
	test_line_count 1 err && test_must_be_empty out &&
	grep "gitreach: cc .* does not use glibc" err &&
	: >libc/zlib.h &&
	(cd tree && CC="cc -nostdinc -I../libc" tools/machine) >actual &&
	test_line_count 1 actual &&
	grep "has no <crypt.h>" actual &&
	: >libc/crypt.h &&
	(cd tree && CC="cc -nostdinc -I../libc" tools/machine) >actual &&
	test_must_be_empty actual
'

test_expect_success AUTOCONF './configure refuses other machines, too' '
	test_must_fail in_copy ./configure CC="cc $big" >out 2>err &&
	test_line_count 1 err &&
	grep "error: gitreach: big-endian machines are not supported" err &&
	test_must_fail test -e tree/config.mak
'

# A pkg-config that finds no library.
test_expect_success 'for a missing library one line names the package' '
	mkdir fake &&
	printf "#!/bin/sh\nexit 1\n" >fake/pkg-config &&
	chmod +x fake/pkg-config &&
	echo "#include <zlib.h>" >>tree/base/heap.c &&
	in_copy make clean &&
	test_must_fail in_copy make PKG_CONFIG="$PWD/fake/pkg-config" >out 2>err &&
	test_line_count 1 err &&
	grep "gitreach: .*zlib1g-dev .*missing (apt-get install .*zlib1g-dev" err &&
	! grep -e " -c -o " out &&
	test_must_fail in_copy make unit PKG_CONFIG="$PWD/fake/pkg-config" 2>err &&
	test_line_count 1 err &&
	grep "libcmocka-dev" err
'

# Functions of libcrypto that report errors need most of libcrypto, which is
# relocated at every start of the program.
# A machine on which all libraries are installed hides a package that is not named.
test_expect_success 'the packages and the container name all libraries' '
	LIBDEFLATE=1 "$GITREACH_SRC/tools/libs" packages >packages &&
	test $(wc -l <packages) -gt 5 &&
	sed -n "/^Build-Depends:/,/^\$/p" "$GITREACH_SRC/debian/control" |
		tr -d " ," >depends &&
	sed -n "/ AS build\$/,/^COPY/p" \
		"$GITREACH_SRC/contrib/container/Containerfile" |
		tr -s "\t " "\n" >installed &&
	while read -r package
	do
		grep -x "$package" depends && grep -x "$package" installed ||
			return 1
	done <packages
'

test_expect_success 'of libcrypto, the program contains only hash functions' '
	nm "$GIT" >symbols &&
	grep " SHA1_Update" symbols &&
	! grep -e OPENSSL_init_crypto -e ERR_new -e EVP_ symbols
'

# Loading one shared library takes a twentieth of the time of a small request.
test_expect_success 'few shared libraries are loaded at each start' '
	readelf -d "$GIT" >dynamic &&
	grep "NEEDED.*libz" dynamic &&
	! grep -e "NEEDED.*libm\." -e "NEEDED.*pcre" -e "NEEDED.*crypto" dynamic
'

test_done
