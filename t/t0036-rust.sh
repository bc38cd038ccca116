#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='the crates of Rust: their own tests, their packages, the examples'
. "$(dirname "$0")/lib.sh"

rust=$GITREACH_SRC/bindings/rust
here=$PWD

# Cargo of rustup looks for its toolchain below HOME. The crates need no other crate,
# so nothing is fetched.
cargo () {
	env HOME="$GITREACH_HOME" CARGO_HOME="$here/cargo-home" \
		CARGO_NET_OFFLINE=true \
		CARGO_TARGET_DIR="$GITREACH_BUILD/t/rust" \
		CARGO_PROFILE_DEV_DEBUG=0 CARGO_PROFILE_TEST_DEBUG=0 \
		PKG_CONFIG_PATH="$here/pkgconfig" \
		LD_LIBRARY_PATH="$here/lib" GIT="$STOCK_GIT" cargo "$@"
}

# The oldest Rust that the crates are for.
oldest=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' "$rust/gitreach/Cargo.toml")
found=$(cd "$rust" &&
	env HOME="$GITREACH_HOME" rustc --version 2>/dev/null | cut -d " " -f 2)
if test -z "$found" || ! (cd "$rust" && cargo --version) >/dev/null 2>&1 ||
	! command -v pkg-config >/dev/null
then
	skip_all='cargo, rustc or pkg-config is missing'
	test_done
fi
if test "$(printf "%s\n" "$oldest" "$found" | sort -V | head -n 1)" != "$oldest"
then
	skip_all="rustc $found is older than $oldest"
	test_done
fi
if ! test_have_prereq PLAIN
then
	skip_all='a plain build is needed'
	test_done
fi

# The library in a directory that has a blank in its name, as that of the test.
ln -s "$GITREACH_BUILD" lib
mkdir pkgconfig
in_pc () {
	printf "%s\n" "$1" | sed 's/[ \\&|]/\\&/g; s/[\\&|]/\\&/g'
}
version=$(sed -n 's/.define GITREACH_VERSION "\(.*\)"/\1/p' \
	"$GITREACH_SRC/include/gitreach.h")
sed -e "s|@prefix@|/none|" -e "s|@libdir@|$(in_pc "$here/lib")|" \
	-e "s|@includedir@|$(in_pc "$GITREACH_SRC/include")|" \
	-e "s|@version@|$version|" -e "s|@requires@||" \
	"$GITREACH_SRC/gitreach.pc.in" >pkgconfig/gitreach.pc

test_expect_success 'the tests of the crates' '
	(cd "$rust" && cargo test --locked) >log 2>&1 ||
	{
		cat log >&2
		return 1
	}
	grep "^test result: ok\. [1-9]" log >results &&
	test_line_count 3 results
'

test_expect_success 'without the library, the build names it' '
	(
		cd "$rust" &&
		CARGO_TARGET_DIR="$here/other" PKG_CONFIG_PATH=/none \
		PKG_CONFIG_LIBDIR=/none CARGO_NET_OFFLINE=true \
		CARGO_HOME="$here/cargo-home" HOME="$GITREACH_HOME" \
			test_must_fail env cargo check -p gitreach-sys
	) 2>err &&
	grep "gitreach-sys: pkg-config does not find libgitreach" err
'

# example <name> <argument>...: the example in Rust, or in C with a name after "c-"
example () {
	name=$1 &&
	shift &&
	case $name in
	c-*) LD_LIBRARY_PATH=$here/lib ./$name "$@" ;;
	*) LD_LIBRARY_PATH=$here/lib \
		"$GITREACH_BUILD/t/rust/debug/examples/$name" "$@" ;;
	esac
}

test_expect_success 'the examples do what those in C do' '
	(cd "$rust" && cargo build --locked --examples) 2>log &&
	for name in fork-use unreachable write-pack
	do
		cc -o c-$name -I"$GITREACH_SRC/include" \
			"$GITREACH_SRC/Documentation/examples/$name.c" \
			-Llib -lgitreach || return 1
	done &&
	repo_criss_cross repo 20 &&
	repo_tags repo &&
	git -C repo repack -adbq &&
	echo "nobody has this" | stock -C repo hash-object -w --stdin &&
	stock -C repo cat-file --batch-all-objects \
		--batch-check="%(objectname)" >all &&
	set -- refs/heads/main refs/heads/side refs/tags/ &&
	for of in "" c-
	do
		example ${of}fork-use repo "$@" >${of}fork-use.out &&
		example ${of}unreachable repo <all >${of}unreachable.out &&
		example ${of}write-pack repo main main~7 >${of}write-pack.out \
			2>${of}report || return 1
	done &&
	for name in fork-use unreachable write-pack
	do
		test -s $name.out && test_cmp c-$name.out $name.out || return 1
	done &&
	tail -n 1 report >actual && tail -n 1 c-report >expect &&
	test_cmp expect actual &&
	test_expect_code 1 example fork-use nowhere refs/ refs/tags/ 2>err &&
	grep "^error: .*nowhere" err &&
	test_expect_code 1 example write-pack repo nobody 2>err &&
	grep "^error: .*nobody" err &&
	test_expect_code 1 example unreachable repo <err 2>err.ids &&
	grep "^error: " err.ids
'

# Cargo makes packages of crates that need each other since version 1.90.
test "$(printf "%s\n" 1.90 "$found" | sort -V | head -n 1)" != 1.90 ||
test_set_prereq WORKSPACE
test_expect_success WORKSPACE 'cargo makes the packages and builds what they have' '
	(cd "$rust" && cargo package --locked --workspace --allow-dirty) \
		>log 2>&1 ||
	{
		cat log >&2
		return 1
	}
	packages=$GITREACH_BUILD/t/rust/package &&
	test -f "$packages/gitreach-$version.crate" &&
	tar -tzf "$packages/gitreach-$version.crate" >files &&
	for file in LICENSE README.md src/lib.rs tests/library.rs examples/fork-use.rs
	do
		grep "/$file$" files || return 1
	done
'

test_expect_success 'the declarations are those of the header' '
	"$rust/generate" --layout made &&
	test_cmp "$rust/gitreach-sys/tests/layout.rs" made/tests/layout.rs
'

case "$(bindgen --version 2>/dev/null)" in
*' 0.60.1')
	env HOME="$GITREACH_HOME" rustfmt --version >/dev/null 2>&1 &&
	test_set_prereq BINDGEN
	;;
esac
test_expect_success BINDGEN 'bindgen makes the same declarations' '
	env HOME="$GITREACH_HOME" "$rust/generate" made &&
	test_cmp "$rust/gitreach-sys/src/bindings.rs" made/src/bindings.rs
'

test_expect_success 'the version is that of the library' '
	for crate in gitreach gitreach-sys
	do
		grep "^version = \"$version\"" "$rust/$crate/Cargo.toml" ||
			return 1
	done &&
	grep "^gitreach-sys = { version = \"$version\"" \
		"$rust/gitreach/Cargo.toml" &&
	grep "pkg_config(\"gitreach >= $version\")" \
		"$rust/gitreach-sys/build.rs"
'

test_done
