#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='gitolite3 over sshd behaves with our git as with the stock Git

The same trial runs twice: with our git first in PATH, and with the stock Git.
What clients see, the exit codes, the logs of gitolite and the repositories
afterwards have to be equal. There are two servers: "one", and its mirror
"two". Runs only if GITREACH_GITOLITE is set: gitolite compiles its rules with
Perl for each pushed configuration, which takes minutes.'
. "$(dirname "$0")/../lib.sh"

if test -z "${GITREACH_GITOLITE-}"
then
	skip_all='GITREACH_GITOLITE is not set'
	test_done
fi

find_program () {
	PATH=$STOCK_PATH:/usr/sbin:/sbin command -v "$1"
}

sshd=$(find_program sshd)
if test -z "$sshd" || ! find_program gitolite >/dev/null ||
	! find_program ssh-keygen >/dev/null
then
	skip_all='gitolite: gitolite3, sshd or ssh-keygen is missing'
	test_done
fi
# Started by root, sshd requires this directory.
test "$(id -u)" != 0 || mkdir -p /run/sshd

# gitolite and sshd take no path with a blank, as the trash directory has.
KEYS=$(mktemp -d) || exit 1
trap 'rm -rf "$KEYS"' EXIT

for key in host server-one admin dev reader
do
	ssh-keygen -q -t ed25519 -N '' -C $key -f "$KEYS/$key" || exit 1
done

# write_sshd_config <authorized keys>
write_sshd_config () {
	cat <<-EOC
	HostKey $KEYS/host
	AuthorizedKeysFile $1
	PidFile none
	StrictModes no
	UsePAM no
	PasswordAuthentication no
	EOC
}

# Whether a server of ours lets us in: the account may be locked.
can_log_in () {
	write_sshd_config "$KEYS/admin.pub" >"$KEYS/sshd_config" &&
	ssh -F none -i "$KEYS/admin" -o StrictHostKeyChecking=no \
		-o UserKnownHostsFile=/dev/null -o LogLevel=QUIET \
		-o ProxyCommand="'$sshd' -i -f '$KEYS/sshd_config'" \
		"$(id -un)@localhost" true
}
if ! can_log_in
then
	skip_all='gitolite: sshd does not let this user in'
	test_done
fi

free_ports () {
	python3 -c 'import socket, sys
held = [socket.socket() for _ in range(int(sys.argv[1]))]
for s in held:
    s.bind(("127.0.0.1", 0))
print(*(s.getsockname()[1] for s in held))' "$1"
}

# ---- servers, and clients of them

# set_side <side> <path> <port> <port>: of all processes that follow.
set_side () {
	SIDE=$1 SIDE_PATH=$2 port_one=$3 port_two=$4 ROOT=$KEYS/$1 &&
	mkdir -p "$ROOT/home" &&
	cat >"$ROOT/ssh_config" <<-EOC &&
	Host one
		Port $port_one
	Host two
		Port $port_two
	Host *
		HostName 127.0.0.1
		User $(id -un)
		IdentitiesOnly yes
		StrictHostKeyChecking no
		UserKnownHostsFile $ROOT/known_hosts
		LogLevel ERROR
	EOC
	cat >"$ROOT/ssh" <<-EOC &&
	#!/bin/sh
	exec ssh -F $ROOT/ssh_config -i $KEYS/\${SSH_KEY:-server-one} "\$@"
	EOC
	chmod +x "$ROOT/ssh"
}

# What every process has in its environment. sshd would take HOME from the
# password file. Equal dates make equal ids.
side_environment () {
	cat <<-EOC
	HOME=$ROOT/home/$1
	PATH=$SIDE_PATH
	USER=git
	GIT_CONFIG_NOSYSTEM=1
	GIT_SSH=$ROOT/ssh
	GIT_AUTHOR_DATE=2005-04-07T22:13:13+0200
	GIT_COMMITTER_DATE=2005-04-07T22:13:13+0200
	LC_ALL=C
	PERL_HASH_SEED=0
	EOC
}

# run_as <home> <command>...: in the directory $ROOT/home/<home>.
run_as () {
	(
		home=$1 &&
		shift &&
		cd "$ROOT/home/$home" &&
		env -i $(side_environment $home) SSH_KEY=${SSH_KEY-} "$@"
	)
}

write_gitconfig () {
	cat >"$ROOT/home/$1/.gitconfig" <<-EOC
	[init]
		defaultBranch = master
	[gc]
		auto = 0
	[maintenance]
		auto = false
	[user]
		name = $1
		email = $1@example.com
	[url "file://$ROOT/home/one/repositories/"]
		insteadOf = local:
	EOC
}

write_rc () {
	cat >"$ROOT/home/$1/.gitolite.rc" <<-EOC
	%RC = (
		UMASK => 0077,
		GIT_CONFIG_KEYS => '.*',
		LOG_EXTRA => 1,
		ROLES => { READERS => 1, WRITERS => 1 },
		HOSTNAME => '$1',
		LOCAL_CODE => "\$ENV{HOME}/local",
		ENABLE => [
			'help', 'desc', 'info', 'perms', 'writable', 'create',
			'fork', 'mirror', 'D', 'symbolic-ref', 'config',
			'lock', 'who-pushed', 'ssh-authkeys', 'git-config',
			'daemon', 'gitweb', 'Mirroring', 'repo-specific-hooks',
			'upstream', 'partial-copy',
		],
	);
	1;
	EOC
}

# start_server <name> <port>
start_server () {
	home=$ROOT/home/$1 &&
	mkdir -p "$home/.ssh" &&
	write_gitconfig $1 && write_rc $1 && write_hooks "$home/local/hooks" &&
	cp "$KEYS/admin.pub" "$home" &&
	{
		write_sshd_config "$home/.ssh/authorized_keys" &&
		echo "ListenAddress 127.0.0.1:$2" &&
		echo "SetEnv $(side_environment $1 | tr '\n' ' ')"
	} >"$home/sshd_config" &&
	run_as $1 gitolite setup -pk admin.pub &&
	{
		"$sshd" -D -e -f "$home/sshd_config" 2>"$home/sshd.log" &
		pids="$pids $!"
	} &&
	wait_until answers $1 2>/dev/null
}

# answers <server>
answers () {
	SSH_KEY=admin run_as client "$ROOT/ssh" $1 info >/dev/null
}

# try <user> <command>...: a client's command; command, output and exit code
# are recorded.
try () {
	SSH_KEY=$1 &&
	echo "\$ $*" &&
	shift &&
	run_as client "$@" 2>&1
	echo "exit code $?"
	SSH_KEY=
}

# on <server> <command>...: a command of the operator, recorded.
on () {
	echo "@ $*"
	run_as "$@" 2>&1
	echo "exit code $?"
}

# ---- the trial

write_conf () {
	cat <<-EOC
	repo gitolite-admin
	    RW+ = admin
	repo testing
	    RW+ = @all
	repo plain
	    RW+ = admin
	    - refs/tags/v[0-9] = dev
	    RW = dev
	    R = reader
	    config receive.fsckObjects = true
	    config uploadpack.allowFilter = true
	    option hook.post-receive = tell
	    option hook.pre-receive = refuse-poison
	repo strict
	    RW+CDM = admin
	    RWC refs/heads/dev/USER/ = dev
	    RW master$ = dev
	    - VREF/COUNT/2 = dev
	    - VREF/NAME/secret/ = dev
	    - VREF/MAX_NEWBIN_SIZE/1000 = dev
	repo wild/CREATOR/[a-z]+
	    C = @all
	    RW+ = CREATOR
	    RW = WRITERS
	    R = READERS
	repo mirrored
	    RW+ = admin
	    option mirror.master = one
	    option mirror.copies.sync = two
	    config receive.denyDeleteCurrent = refuse
	repo upstream
	    R = @all
	    option upstream.url = local:plain.git
	repo partial
	    RW+ = dev
	    - VREF/partial-copy = @all
	    config gitolite.partialCopyOf = plain
	EOC
}

commit () {
	run_as client git -C "$1" add . &&
	run_as client git -C "$1" commit -q --allow-empty -m "$2"
}

# The configuration is pushed. Some are refused before any Git runs.
trial_admin () {
	try admin git clone one:gitolite-admin admin &&
	write_conf >"$CLIENT/admin/conf/gitolite.conf" &&
	cp "$KEYS/dev.pub" "$KEYS/reader.pub" "$CLIENT/admin/keydir" &&
	commit admin conf &&
	try admin git -C admin push
	try reader git clone one:gitolite-admin denied
	try reader "$ROOT/ssh" one info
	try reader "$ROOT/ssh" one 'git-receive-pack'
}

# Pushes, allowed and not.
trial_push () {
	try admin git clone one:plain plain
	echo 1 >"$CLIENT/plain/file" && commit plain first &&
	try admin git -C plain push origin master
	echo 2 >>"$CLIENT/plain/file" && commit plain second &&
	try reader git -C plain push origin master
	try dev git -C plain push origin master master:side master~1:refs/tags/x
	try dev git -C plain push origin master:refs/tags/v1 master:more
	try dev git -C plain push --atomic origin master:refs/tags/v2 master:more2
	try dev git -C plain push origin +master~1:master
	try admin git -C plain push origin +master~1:master
	try admin git -C plain push origin :side
	touch "$CLIENT/plain/poison" && commit plain poison &&
	try dev git -C plain push origin master master:clean
}

# Rules that look at what is pushed.
trial_rules () {
	try admin git clone one:strict strict
	echo 1 >"$CLIENT/strict/file" && commit strict first &&
	try admin git -C strict push origin master
	touch "$CLIENT/strict/a" "$CLIENT/strict/b" "$CLIENT/strict/c" &&
	commit strict many &&
	try dev git -C strict push origin master
	run_as client git -C strict reset -q --hard HEAD~1 &&
	mkdir "$CLIENT/strict/secret" && touch "$CLIENT/strict/secret/x" &&
	commit strict secret && try dev git -C strict push origin master
	run_as client git -C strict reset -q --hard HEAD~1 &&
	head -c 4000 /dev/zero >"$CLIENT/strict/zero" && commit strict zero &&
	try dev git -C strict push origin master
	run_as client git -C strict reset -q --hard HEAD~1 &&
	echo 2 >"$CLIENT/strict/file" && commit strict good &&
	try dev git -C strict push origin master master:dev/dev/x master:dev/admin/x
	run_as client git -C strict checkout -q -b side HEAD~1 &&
	commit strict side &&
	run_as client git -C strict merge -q -m merge master &&
	try dev git -C strict push origin side:master
	try admin git -C strict push origin side:master
	try dev git -C strict push origin :dev/dev/x
}

# Repositories that users create.
trial_wild () {
	try dev "$ROOT/ssh" one create wild/dev/a
	try dev git -C plain push one:wild/dev/b master~1:refs/heads/master
	try dev "$ROOT/ssh" one perms wild/dev/b + READERS reader
	try dev "$ROOT/ssh" one perms wild/dev/b -l
	try reader git clone -q one:wild/dev/b b
	try reader "$ROOT/ssh" one fork wild/dev/b wild/reader/c
	try reader git ls-remote one:wild/reader/c
	try dev "$ROOT/ssh" one symbolic-ref wild/dev/b HEAD refs/heads/other
	try dev git ls-remote --symref one:wild/dev/b
	try dev "$ROOT/ssh" one config wild/dev/b --get-all core.bare
	try dev "$ROOT/ssh" one D unlock wild/dev/a
	try dev "$ROOT/ssh" one D rm wild/dev/a
	try dev "$ROOT/ssh" one info -lc
}

# Copies that gitolite itself makes, and other readers.
trial_copies () {
	try admin git -C plain push one:mirrored master~1:refs/heads/master
	try admin git -C plain push one:mirrored master:refs/heads/more \
		:refs/heads/master
	try admin git -C plain push two:mirrored master:refs/heads/more2
	try reader git ls-remote one:upstream
	try dev git clone -q one:partial partial
	touch "$CLIENT/partial/new" && commit partial new &&
	try dev git -C partial push origin HEAD:refs/heads/master
	try reader git clone -q --depth 1 one:plain shallow
	try reader git clone -q --filter=blob:none one:plain filtered
	try reader git archive --remote=one:plain master --output=plain.tar
	try reader git archive --remote=one:strict master --output=no.tar
}

# What the operator runs.
trial_operate () {
	on one gitolite list-phy-repos
	on one gitolite mirror status all all
	for repo in gitolite-admin mirrored partial plain strict upstream \
		wild/reader/c
	do
		git="git -C repositories/$repo.git"
		on one $git gc --quiet
		on one $git fsck --no-progress --connectivity-only
		on one $git for-each-ref
		on one $git symbolic-ref HEAD
		on one $git config --local --list
		on one $git rev-list --objects --no-object-names --all
	done
}

# write_hooks <dir>
write_hooks () {
	hooks=$1/repo-specific &&
	mkdir -p "$hooks" &&
	cat >"$hooks/tell" <<-\EOC &&
	#!/bin/sh
	while read -r old new ref
	do
		echo "post-receive $GL_USER $GL_REPO $old $new $ref"
		git log -1 --format='%h %s' $new
	done
	EOC
	cat >"$hooks/refuse-poison" <<-\EOC &&
	#!/bin/sh
	while read -r old new ref
	do
		! git cat-file -e $new:poison 2>/dev/null || {
			echo >&2 "poison in $ref"
			exit 1
		}
	done
	EOC
	chmod +x "$hooks/tell" "$hooks/refuse-poison"
}

# The second server's configuration exists before gitolite is set up there.
start_mirror () {
	conf=$ROOT/home/two/.gitolite &&
	mkdir -p "$conf/conf" "$conf/keydir" "$conf/logs" &&
	write_conf >"$conf/conf/gitolite.conf" &&
	cp "$KEYS/server-one.pub" "$conf/keydir" &&
	start_server two $port_two
}

# What differs from run to run, and the version.
normalise () {
	sed -e "s,$ROOT,ROOT,g" \
		-e 's/\.gitreach\.[0-9.]*$//' -e 's/br-[0-9]*/br-N/' \
		-e 's/TID=[0-9]*/TID=N/'
}

# The files of the repositories outside objects, with their modes.
list_files () {
	(
		cd "$ROOT/home" &&
		find */repositories -name objects -prune -o \
			-name branches -prune -o -name '*.sample' -prune -o \
			-printf '%M %p\n' | LC_ALL=C sort -k2
	)
}

# run_trial <side> <path> <port> <port>: leaves <side>.transcript, <side>.log
# and <side>.files.
run_trial () {
	pids=
	trap 'kill $pids' EXIT
	set_side "$@" &&
	CLIENT=$ROOT/home/client &&
	mkdir "$CLIENT" && write_gitconfig client &&
	start_server one $port_one && start_mirror &&
	{
		trial_admin && trial_push && trial_rules && trial_wild &&
		trial_copies
	} >$SIDE.output 2>&1 &&
	list_files >$SIDE.files &&
	trial_operate >>$SIDE.output 2>&1 &&
	normalise <$SIDE.output >$SIDE.transcript &&
	cat "$ROOT"/home/*/.gitolite/logs/*.log | cut -f3- |
		normalise >$SIDE.log
}

test_expect_success 'the trial, with the stock Git and with ours' '
	ports=$(free_ports 4) &&
	{ (run_trial stock "$STOCK_PATH" ${ports% * *}) & } &&
	(run_trial ours "$GITREACH_BUILD/bin:$STOCK_PATH" ${ports#* * }) &&
	wait $!
'

test_expect_success 'commands were carried out, and refused' '
	test $(grep -c "^exit code 0" stock.transcript) -gt 40 &&
	test $(grep -c "remote rejected" stock.transcript) -gt 8 &&
	grep "^update.*refs/heads" stock.log >/dev/null
'

for result in transcript log files
do
	test_expect_success "the same $result" "
		test_cmp stock.$result ours.$result
	"
done

test_done
