#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='plans of packs and their failures: no fetch fails

Each kind of failure meets plans in memory, in a directory, and in both.'
. "$(dirname "$0")/lib.sh"
. "$GITREACH_SRC/t/lib-serve.sh"
. "$GITREACH_SRC/t/lib-gitreachd.sh"
. "$GITREACH_SRC/t/lib-fault.sh"

# Nothing is stored on a disk that is nearly full.
free=$(df -P . | sed -n "2s/.* \([0-9]*\)%.*/\1/p")
if test -z "$free" || test "$free" -gt 84
then
	skip_all='the disk is nearly full'
	test_done
fi

plans=$PWD/plans

# setting <name> <value>: a variable of the environment of the next server
setting () {
	echo "export $1='$2'" >>env
}

# preload <name>...: the libraries t/helper/preload-<name>.so, for LD_PRELOAD
preload () {
	for library in "$@"
	do
		printf "%s " "$GITREACH_BUILD/t/helper/preload-$library.so"
	done
}

# serve <memory|directory|both>: start the server. Commands before it can set
# variables of the server's environment in the variable "with".
serve () {
	case $1 in
	memory) set -- --plan-memory=64 ;;
	directory) set -- --plan-memory=0 --plan-directory="$plans" ;;
	both) set -- --plan-memory=64 --plan-directory="$plans" ;;
	esac &&
	rm -rf plans && mkdir -m 700 plans && : >records &&
	served_from="--base-path=srv" &&
	DAEMON=$server_command start_daemon --listen=http://127.0.0.1:0 \
		--workers=2 --export-all "$@" &&
	wait_until grep -q "started: " log
}

# The program that serve() starts: gitreachd with the variables in the file "env".
server_command=$PWD/server
cat >server <<EOF
#!/bin/sh
export ASAN_OPTIONS="\${ASAN_OPTIONS-}:verify_asan_link_order=0"
. "./env"
exec '$DAEMON' "\$@"
EOF
chmod +x server
: >env

# serve_faults <FAULT> <memory|directory|both>: its disk fails (t/lib-fault.sh)
serve_faults () {
	printf '\0\0\0\0\0\0\0\0' >fault.count &&
	: >fault.log &&
	setting FAULT "$1" &&
	setting FAULT_COUNT "$PWD/fault.count" &&
	setting FAULT_LOG "$PWD/fault.log" &&
	setting LD_PRELOAD "$(preload fault)" &&
	serve $2
}

# A command for t/helper/preload-meanwhile.c: note the process that runs it, and wait.
hold="cd \"$PWD\"; echo \$PPID >pid; mv pid held; until test -e go; do sleep 0.05; done"

# get <name>: fetch, and write the answer to <name>
get () {
	curl -sf --max-time 100 --data-binary @request -o $1 \
		-H "Content-Type: application/x-git-upload-pack-request" \
		$url/r.git/git-upload-pack
}

# right <name>: an answer has all objects. Most answers have the same bytes.
right () {
	cmp -s $1 checked ||
	check $1
}

check () {
	pack_of_answer <$1 >$1.pack &&
	rm -f $1.idx &&
	stock index-pack --strict -o $1.idx $1.pack >id &&
	stock show-index <$1.idx | cut -d" " -f2 | sort >ids &&
	test_cmp expected ids &&
	cp $1 checked
}

# fetch_all: fetches one after the other and at once are right
fetch_all () {
	waited= &&
	get a1 && right a1 && get a2 && right a2 &&
	for i in 3 4 5
	do
		get a$i &
		waited="$waited $!"
	done &&
	for pid in $waited
	do
		wait $pid || return 1
	done &&
	right a3 && right a4 && right a5
}

# until_record <text>: fetch until the record of a fetch has the text
until_record () {
	: >records &&
	for try in 1 2 3 4 5 6 7 8
	do
		get a && right a || return 1
	done &&
	wait_until records_are 8 &&
	grep "$1" records >/dev/null
}

records_are () {
	test $(grep -c "\"plan\":" records) -ge $1
}

# store_plan: make the plan of the request in the directory. It is stored when it is
# asked for again.
store_plan () {
	for try in 1 2
	do
		"$GIT" -c gitreach.planDirectory="$plans" upload-pack \
			--stateless-rpc srv/r.git <request >stored || return 1
	done &&
	ls plans/*.plan
}

# damage cut <length> <file>, or damage flip <file>: in place
damage () {
	case $1 in
	cut) truncate -s $2 "$3" ;;
	flip) printf damaged | dd of="$2" bs=1 seek=200 conv=notrunc 2>/dev/null ;;
	esac
}

# is_awaited: a process waits for a plan. The locks of a key are the maker's, two
# bytes before the one that waiting processes share.
is_awaited () {
	python3 -c '
import fcntl, struct, sys
form, query = "hhqqi4x", 36
def lock(start, length):
    fields = struct.pack(form, fcntl.F_WRLCK, 0, start, length, 0)
    with open(sys.argv[1], "r+b") as keys:
        return struct.unpack(form, fcntl.fcntl(keys, query, fields))
kind, _, at, _, _ = lock(4, 0)
sys.exit(kind == fcntl.F_UNLCK or lock(at // 4 * 4 + 2, 1)[0] != fcntl.F_RDLCK)
' plans/keys
}

test_expect_success 'setup' '
	mkdir srv &&
	repo_criss_cross srv/r.git 20 &&
	repo_tags srv/r.git &&
	"$GIT" -C srv/r.git repack -adbq &&
	git config --global gitreach.requestLog "$PWD/records" &&
	stock -C srv/r.git rev-list --objects --no-object-names main |
		sort >expected &&
	pkt "want $(stock -C srv/r.git rev-parse main) ofs-delta no-progress" \
		F done >request
'

for cache in memory directory both
do
	test_expect_success "$cache: no failure" '
		serve $cache &&
		fetch_all &&
		until_record "\"plan\":\"hit\"" &&
		stop_daemon
	'

	for mode in ENOSPC EIO short
	do
		# The request log cannot be written either, so there are no records.
		test_expect_success "$cache: a disk that fails: $mode" '
			serve_faults $mode:1 $cache &&
			fetch_all &&
			case $cache in
			memory) ;;
			*) grep "$plans/" fault.log ;;
			esac >/dev/null &&
			: >env &&
			stop_daemon
		'
	done

	test_expect_success "$cache: the clock jumps" '
		echo 0 >shift &&
		setting CLOCK_SHIFT "$PWD/shift" &&
		setting LD_PRELOAD "$(preload clock)" &&
		serve $cache &&
		for seconds in 0 400000000 -400000000 -3000000000 3600 0
		do
			echo $seconds >shift.new && mv shift.new shift &&
			fetch_all || return 1
		done &&
		until_record "\"plan\":\"hit\"" &&
		: >env &&
		stop_daemon
	'
done

for cache in directory both
do
	test_expect_success "$cache: a directory that cannot be written" '
		serve $cache &&
		mkdir plans/keys &&
		fetch_all &&
		{
			test $cache = both ||
			until_record "the plan directory cannot be written"
		} &&
		rmdir plans/keys &&
		chmod 500 plans &&
		fetch_all &&
		chmod 777 plans &&
		fetch_all &&
		chmod 700 plans &&
		mv plans away && fetch_all && mv away plans &&
		fetch_all &&
		until_record "\"plan\":\"hit\"" &&
		stop_daemon
	'

	# Workers may have the plan in memory when its file is damaged.
	test_expect_success "$cache: damaged files" '
		for damage in "cut 300" "cut 0" "cut 1" flip
		do
			serve $cache &&
			store_plan &&
			until_record "\"plan\":\"hit\"" &&
			damage $damage plans/*.plan &&
			head -c 1000 /dev/urandom >random &&
			dd if=random of=plans/keys conv=notrunc 2>/dev/null &&
			fetch_all &&
			! grep -i signal log &&
			stop_daemon || return 1
		done
	'

	# A process holds the right to make the plan until it is killed, while
	# clients of the server wait for the plan.
	test_expect_success "$cache: the maker of a plan is killed" '
		serve $cache &&
		rm -f held go && : >once &&
		git config --global gitreach.planDirectory "$plans" &&
		"$GIT" upload-pack --stateless-rpc srv/r.git <request >out.1 &&
		right out.1 &&
		{
			LD_PRELOAD="$(preload meanwhile)" MEANWHILE="$hold" \
			MEANWHILE_AT="*/tmp_plan_*" MEANWHILE_ONCE="$PWD/once" \
			ASAN_OPTIONS="${ASAN_OPTIONS-}:verify_asan_link_order=0" \
				"$GIT" upload-pack --stateless-rpc srv/r.git \
				<request >out.2 2>err.2 &
			maker=$!
		} &&
		wait_until test -e held &&
		waited= &&
		for i in 1 2 3
		do
			get w$i &
			waited="$waited $!"
		done &&
		wait_until is_awaited &&
		kill -9 $maker &&
		for pid in $waited
		do
			wait $pid || return 1
		done &&
		: >go &&
		right w1 && right w2 && right w3 &&
		git config --global --unset gitreach.planDirectory &&
		until_record "\"plan\":\"hit\"" &&
		stop_daemon
	'
done

test_expect_success 'memory: the worker that makes a plan is killed' '
	rm -f held go && : >once &&
	setting LD_PRELOAD "$(preload meanwhile)" &&
	setting MEANWHILE "$hold" &&
	setting MEANWHILE_AT "*/info/prepared" &&
	setting MEANWHILE_ONCE "$PWD/once" &&
	serve memory &&
	{
		get lost &
		lost=$!
	} &&
	wait_until test -e held &&
	kill -9 $(cat held) &&
	: >go &&
	test_must_fail wait $lost &&
	: >env &&
	fetch_all &&
	until_record "\"plan\":\"hit\"" &&
	stop_daemon
'

test_done
