# SPDX-License-Identifier: MIT
# Shell functions for tests of clients that read slowly. A script starts them in
# the background. $readers is their process, descriptor 5 leads to their standard
# input, and $tip is the commit that they clone.

# go_on: let the slow clients go on, and wait until they have ended
go_on () {
	echo >&5 &&
	wait $readers
}

# packs_are_right <number>: check the packs that the slow clients got, which are
# equal
packs_are_right () {
	rm -rf got.git &&
	git init -q --bare got.git &&
	stock -C got.git index-pack --stdin <pack.0 >/dev/null &&
	stock -C got.git rev-list --objects $tip >list &&
	for i in $(seq $(($1 - 1)))
	do
		cmp pack.0 pack.$i || return
	done
}

# record <Python expression>: evaluate it for the value v of the last fetch in
# the log of requests
record () {
	python3 -c "
import json
for line in open(\"requests\"):
    value = json.loads(line)[\"value\"]
    if value[\"command\"] == \"fetch\":
        v = value
assert $1, v
"
}
