# SPDX-License-Identifier: MIT
#
# Sourced after t/lib.sh by tests of clients from PyPI.
#
#	pip_fetch <name>    installs the packages that t/interop/<name>/requirements.txt
#	                    names into a virtual environment, build/<name>, unless it
#	                    exists. If that fails, pip.log in it has the reason.

pip_fetch () {
	pip_dir=$GITREACH_SRC/build/$1
	pip_wanted=$GITREACH_SRC/t/interop/$1/requirements.txt
	test "$pip_dir/fetched" -nt "$pip_wanted" && return
	# pip is configured in the caller's home, not in the test's. Python compiles
	# what is imported; compiling everything doubles the time.
	mkdir -p "$pip_dir" &&
	/usr/bin/python3 -m venv "$pip_dir" >"$pip_dir/pip.log" 2>&1 &&
	HOME=$GITREACH_HOME "$pip_dir/bin/python" -m pip install -q \
		--disable-pip-version-check --only-binary :all: --no-compile \
		-r "$pip_wanted" >"$pip_dir/pip.log" 2>&1 &&
	touch "$pip_dir/fetched"
}
