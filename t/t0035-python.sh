#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='the Python package: its own tests, and a wheel'
. "$(dirname "$0")/lib.sh"

python=$GITREACH_SRC/bindings/python
if ! command -v python3 >/dev/null 2>&1
then
	skip_all='python3 is missing'
	test_done
fi
export PYTHONDONTWRITEBYTECODE=1
export LIBGITREACH="$GITREACH_BUILD/libgitreach.so"

# tested <directory of the package>: runs the tests of the package.
tested () {
	PYTHONPATH=$1 GIT=$STOCK_GIT \
		GITREACH_ABI="$GITREACH_SRC/include/gitreach.abi" \
		python3 -m unittest discover -s "$python/tests" 2>log ||
	{
		cat log >&2
		return 1
	}
	grep "^OK$" log
}

test_expect_success 'the tests of the package' '
	tested "$python/src"
'

# pip builds in the source tree, so the test gives it a copy. Without a network,
# pip needs an installed setuptools.
if python3 -c "import pip, setuptools, wheel" 2>/dev/null
then
	test_set_prereq WHEEL
fi

test_expect_success WHEEL 'a wheel is built, and works after it is unpacked' '
	cp -R "$python" source &&
	python3 -m pip wheel -q --no-deps --no-index --no-build-isolation \
		-w wheels ./source &&
	python3 -m zipfile -e wheels/gitreach-*.whl unpacked &&
	tested "$PWD/unpacked"
'

test_expect_success 'the version is that of the library' '
	grep "^version = \"$(sed -n "s/.define GITREACH_VERSION \"\(.*\)\"/\1/p" \
		"$GITREACH_SRC/include/gitreach.h")\"" "$python/pyproject.toml"
'

test_done
