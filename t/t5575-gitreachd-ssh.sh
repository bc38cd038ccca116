#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='gitreachd: clients of ssh, whose descriptors are passed to the
server'
. "$(dirname "$0")/lib.sh"
. "$GITREACH_SRC/t/lib-serve.sh"
. "$GITREACH_SRC/t/lib-gitreachd.sh"

SSHD=/usr/sbin/sshd
# sshd takes an AuthorizedKeysCommand only from directories that only root can
# write. The path of a socket is short, and the test's directory may be long.
if test -x $SSHD && command -v ssh-keygen >/dev/null &&
	sockets=$(mktemp -d /run/t5575.XXXXXX 2>/dev/null)
then
	test_set_prereq SSHD
else
	sockets=$(mktemp -d /tmp/t5575.XXXXXX)
fi
socket=$sockets/ssh.sock
trap 'for pid in $pids; do kill $pid; done 2>/dev/null; rm -rf "$sockets"' EXIT

# The program that Git runs in place of ssh: `fake-ssh [<option>...] <host>
# <command>`. It runs the forced command as sshd does.
cat >fake-ssh <<EOF
#!/bin/sh
while test \$# -gt 2
do
	shift
done
SSH_ORIGINAL_COMMAND=\$2 SSH_CLIENT="192.0.2.7 1 22" exec "$DAEMON" \\
	--ssh-client="$socket" --user=alice
EOF
chmod +x fake-ssh
GIT_SSH=$PWD/fake-ssh
GIT_SSH_VARIANT=ssh
export GIT_SSH GIT_SSH_VARIANT

# forced <command>: run the forced command
forced () {
	SSH_ORIGINAL_COMMAND=$1 "$DAEMON" --ssh-client="$socket"
}

test_expect_success 'setup' '
	mkdir srv &&
	repo_criss_cross srv/r.git 20 &&
	stock -C srv/r.git config uploadpack.allowFilter true &&
	stock -C srv/r.git repack -adqb &&
	start_daemon --listen="unix:$socket" &&
	grep "listens on unix:$socket" log &&
	ls -l "$socket" | grep "^srw-rw----"
'

test_expect_success 'clone, shallow clone, partial clone and fetch' '
	for v in 0 1 2
	do
		stock -c protocol.version=$v clone -q --mirror h:r.git full$v &&
		stock -C full$v fsck || return 1
	done &&
	stock clone -q --bare --depth 1 ssh://git@h/r.git shallow &&
	test "$(stock -C shallow rev-list --count HEAD)" = 1 &&
	stock -C shallow fetch -q --unshallow &&
	stock -C shallow fsck &&
	stock clone -q --bare --filter=blob:none h:r.git partial &&
	stock -C partial rev-list --objects --all --missing=print >list &&
	sed -n "s/^?//p" list | head -n 1 >blob &&
	stock -C partial cat-file blob $(cat blob) >out &&
	stock -C srv/r.git cat-file blob $(cat blob) >expected &&
	cmp expected out
'

test_expect_success 'a push, whose hook knows user and address' '
	stock clone -q h:r.git work &&
	stock -C work commit -q --allow-empty -m pushed &&
	printf "#!/bin/sh\necho \$REMOTE_USER at \$REMOTE_ADDR\n" \
		>srv/r.git/hooks/pre-receive &&
	chmod +x srv/r.git/hooks/pre-receive &&
	stock -C work push origin HEAD:refs/heads/pushed 2>err &&
	grep "alice at 192.0.2.7" err &&
	test "$(stock -C srv/r.git rev-parse pushed)" = \
		"$(stock -C work rev-parse HEAD)" &&
	printf "#!/bin/sh\nexit 1\n" >srv/r.git/hooks/pre-receive &&
	test_must_fail stock -C work push origin :pushed &&
	rm srv/r.git/hooks/pre-receive &&
	stock -C work push -q origin :pushed
'

test_expect_success 'the reflog of a push names the user' '
	stock -C srv/r.git config core.logAllRefUpdates always &&
	stock -C work push -q origin HEAD:refs/heads/logged &&
	stock -C srv/r.git config --unset core.logAllRefUpdates &&
	grep -F " alice <alice@ssh.192.0.2.7> " srv/r.git/logs/refs/heads/logged &&
	stock -C work push -q origin :logged
'

test_expect_success 'an archive' '
	stock archive --remote=h:r.git main >out &&
	stock -C srv/r.git archive main >expected &&
	cmp expected out
'

test_expect_success 'errors are one line, and exit code 128' '
	check () {
		test_expect_code 128 forced "$1" </dev/null 2>err >out &&
		test_line_count 1 err &&
		test_line_count 0 out &&
		grep -e "$2" err
	} &&
	check "sh" "only Git.s services" &&
	check "git-upload-pack r.git" "not one quoted word" &&
	check "git-upload-pack '\''/r.git'\''; sh" "not one quoted word" &&
	check "git-upload-pack '\''/r.git'\''" "standard input is not a pipe" &&
	test_must_fail stock ls-remote h:none 2>err &&
	grep "fatal: ./none. does not appear to be a git repository" err &&
	test_must_fail stock ls-remote h:../srv/r.git 2>err &&
	grep "fatal: .*aliased" err &&
	test_expect_code 128 "$DAEMON" --ssh-client="$socket" 2>err &&
	grep "there is no shell" err &&
	test_expect_code 128 env SSH_ORIGINAL_COMMAND="git-upload-pack '\''a'\''" \
		"$DAEMON" --ssh-client=none 2>err &&
	test_line_count 1 err &&
	grep "cannot connect to .none." err
'

test_expect_success 'the descriptors are closed, and block again' '
	workers=$(ps -o pid= --ppid $server) &&
	for pid in $workers
	do
		ls /proc/$pid/fd | wc -l >before.$pid || return 1
	done &&
	for i in 1 2 3 4 5 6 7 8 9 10
	do
		stock ls-remote h:r.git >/dev/null || return 1
	done &&
	sleep 0.3 &&
	for pid in $workers
	do
		ls /proc/$pid/fd | wc -l >after &&
		test $(cat after) -le $(($(cat before.$pid) + 1)) || return 1
	done &&
	python3 -c "
import fcntl, os, subprocess
r, w = os.pipe()
out, out2 = os.pipe()
os.write(w, b\"0000\")
os.close(w)
env = dict(os.environ, SSH_ORIGINAL_COMMAND=\"git-upload-pack \\x27r.git\\x27\")
subprocess.run([\"$DAEMON\", \"--ssh-client=$socket\"], stdin=r, stdout=out2,
               env=env, check=True)
for fd in r, out2:
    assert not fcntl.fcntl(fd, fcntl.F_GETFL) & os.O_NONBLOCK
"
'

test_expect_success 'a message of another form is refused' '
	python3 -c "
import socket
for text, fds in ((b\"x\", []), (b\"x\", [0, 1]), (b\"x\" * 9000, [0, 1, 2])):
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    s.settimeout(20)
    s.connect(\"$socket\")
    socket.send_fds(s, [text], fds)
    assert s.recv(9) == b\"\"
" &&
	grep "received no valid message" log &&
	stock ls-remote h:r.git >/dev/null
'

test_expect_success 'the socket file of a killed server is replaced' '
	kill -9 $server &&
	wait_until test_must_fail stock ls-remote h:r.git 2>err &&
	start_daemon --listen="unix:$socket" &&
	stock ls-remote h:r.git >out &&
	test -s out &&
	test_must_fail "$DAEMON" --base-path=srv --listen="unix:$socket" \
		2>err &&
	grep "cannot listen on .$socket." err
'

test_expect_success SSHD 'a real sshd, with AuthorizedKeysCommand' '
	for key in host user
	do
		ssh-keygen -q -t ed25519 -N "" -f "$sockets/$key" || return 1
	done &&
	printf "#!/bin/sh\necho \"restrict,command=\\\\\"%s\\\\\" %s\"\n" \
		"$DAEMON --ssh-client=$socket --user=bob" \
		"$(cat "$sockets/user.pub")" >"$sockets/keys" &&
	chmod 755 "$sockets" "$sockets/keys" &&
	cat >"$sockets/config" <<-EOF &&
	HostKey $sockets/host
	PidFile $sockets/pid
	UsePAM no
	StrictModes no
	AcceptEnv GIT_PROTOCOL
	AuthorizedKeysFile none
	AuthorizedKeysCommand $sockets/keys
	AuthorizedKeysCommandUser $(id -un)
	EOF
	for ssh_port in 19422 29422 39422
	do
		mkdir -p /run/sshd &&
		$SSHD -D -e -f "$sockets/config" -p $ssh_port \
			-o ListenAddress=127.0.0.1 2>sshd.log &
		sshd=$! &&
		sleep 1 &&
		kill -0 $sshd && break
	done &&
	pids="$pids $sshd" &&
	(
		unset GIT_SSH GIT_SSH_VARIANT &&
		GIT_SSH_COMMAND="ssh -F none -i $sockets/user -o BatchMode=yes \
-o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null \
-o IdentitiesOnly=yes -o SendEnv=GIT_PROTOCOL" &&
		export GIT_SSH_COMMAND &&
		remote=ssh://$(id -un)@127.0.0.1:$ssh_port &&
		stock clone -q --bare $remote/r.git real 2>err &&
		stock -C real fsck &&
		GIT_TRACE_PACKET="$PWD/packets" \
			stock ls-remote $remote/r.git >out 2>err &&
		test -s out &&
		grep "< version 2" packets &&
		printf "#!/bin/sh\necho hello \$REMOTE_USER\n" \
			>srv/r.git/hooks/pre-receive &&
		chmod +x srv/r.git/hooks/pre-receive &&
		stock -C work push $remote/r.git HEAD:refs/heads/ssh 2>err &&
		grep "hello bob" err &&
		test_must_fail stock ls-remote $remote/none 2>err &&
		grep "does not appear to be a git repository" err
	)
'

test_expect_success 'the server ends' '
	stop_daemon
'

test_expect_success PLAIN 'a repository whose requests crash is found, and refused' '
	stock clone -q --bare srv/r.git srv/crash.git &&
	LD_PRELOAD=$GITREACH_BUILD/t/helper/preload-meanwhile.so \
		MEANWHILE=false MEANWHILE_AT="*/crash.git/objects*" \
		MEANWHILE_ONCE=$PWD/once start_daemon --listen="unix:$socket" &&
	for i in 1 2 child
	do
		: >once &&
		test_must_fail stock clone -q --bare h:crash.git crashed &&
		test ! -e once || return
		test $i = child || wait_until grep "(crash $i)" log || return
	done &&
	test_must_fail stock ls-remote h:crash.git 2>err &&
	grep "fatal: requests for ./crash.git. are refused" err &&
	grep -c "killed by signal 6" log >count &&
	echo 2 | cmp - count &&
	stock ls-remote h:r.git &&
	stop_daemon
'

test_done
