#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='the unit tests on aarch64, in QEMU

Only with GITREACH_AARCH64=1, as root (debootstrap makes device files), with
gcc-aarch64-linux-gnu, qemu-user-static and debootstrap. It takes many minutes.
GITREACH_AARCH64_ROOT=<dir>: libraries and headers for aarch64 are there already, from
an earlier run or another way.'
. "$(dirname "$0")/../lib.sh"

if test -z "${GITREACH_AARCH64-}"
then
	skip_all='GITREACH_AARCH64 is not set'
	test_done
fi
for tool in aarch64-linux-gnu-gcc qemu-aarch64-static debootstrap dpkg-deb
do
	command -v $tool >/dev/null || {
		echo "$0: $tool is missing" >&2
		exit 1
	}
done

here=$PWD
# Flags of the compiler cannot have blanks, which the path of this directory has.
temporary=$(mktemp -d) || exit 1
root=${GITREACH_AARCH64_ROOT-$temporary/root}

# Nothing of the root directory is executed: its packages are unpacked only.
# Absolute links would lead to files of this machine.
make_root () {
	packages=$("$GITREACH_SRC/tools/libs" packages |
		grep -v pkg-config | tr "\n" ",") &&
	debootstrap --foreign --arch=arm64 --variant=minbase \
		--include="${packages}libcmocka-dev,libc6-dev,libcrypt-dev,linux-libc-dev" \
		bookworm boot &&
	mkdir "$root" &&
	for deb in boot/var/cache/apt/archives/lib*.deb \
		boot/var/cache/apt/archives/zlib*.deb \
		boot/var/cache/apt/archives/linux-libc-dev*.deb
	do
		dpkg-deb -x $deb "$root" || return 1
	done &&
	find "$root" -type l -lname "/*" | while read -r link
	do
		ln -sfn "$root$(readlink "$link")" "$link" || return 1
	done &&
	test -e "$root/lib/aarch64-linux-gnu/libc.so.6" &&
	rm -rf boot
}

cat >pkg-config <<EOC
#!/bin/sh
PKG_CONFIG_SYSROOT_DIR='$root' exec pkg-config "\$@"
EOC
chmod +x pkg-config
PKG_CONFIG_LIBDIR=$root/usr/lib/aarch64-linux-gnu/pkgconfig
PKG_CONFIG_LIBDIR=$PKG_CONFIG_LIBDIR:$root/usr/share/pkgconfig
export PKG_CONFIG_LIBDIR
MAKEFLAGS=
export MAKEFLAGS

cross_make () {
	make -s -C tree -j2 CC="aarch64-linux-gnu-gcc --sysroot=$root" \
		AR=aarch64-linux-gnu-ar OBJCOPY=aarch64-linux-gnu-objcopy \
		PKG_CONFIG="$here/pkg-config" "$@"
}

test -n "${GITREACH_AARCH64_ROOT-}" ||
test_expect_success 'a root directory with the libraries' '
	make_root >root.log 2>&1
'

test_expect_success 'the tree builds without a warning' '
	mkdir tree &&
	stock -C "$GITREACH_SRC" archive HEAD | tar -xf - -C tree &&
	replays=$(cd tree && ls t/fuzz/fuzz-*.c |
		sed "s|t/fuzz/fuzz-\(.*\)\.c|build/t/fuzz/replay-\1|") &&
	cross_make all unit $replays >out 2>&1 &&
	test_must_be_empty out &&
	file -L tree/build/bin/git >kind && grep "ARM aarch64" kind
'

cat >emulate <<EOC
#!/bin/sh
exec qemu-aarch64-static -L '$root' "\$@"
EOC
chmod +x emulate

test_expect_success 'the unit tests and the fuzzing corpora pass' '
	(cd tree && CMOCKA_MESSAGE_OUTPUT=TAP GITREACH_BUILD="$PWD/build" \
		prove --timer -j2 --exec ../emulate \
		$(ls build/t/unit/test-* build/t/fuzz/replay-* |
			grep -v "\.d$")) >proved 2>&1 &&
	grep "^Result: PASS" proved || {
		grep -e "^not ok" -e Dubious -e "Failed" proved >&2
		return 1
	}
'

cat proved >&3
rm -rf tree "$temporary"
test_done
