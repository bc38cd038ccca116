#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='Debian packages in a clean Debian 12

Only with GITREACH_DEBIAN=1, as root, with debootstrap and lintian.
With systemd-nspawn, the system is also started, and follows debian/*.README.Debian.
It takes about ten minutes. GITREACH_DEBIAN_BASE=<dir>: copy this debootstrap of Debian 12
instead of making one. GITREACH_DEBIAN_PACKAGES=<dir>: take the packages from there
instead of building them from the commit HEAD.'
. "$(dirname "$0")/../lib.sh"
. "$GITREACH_SRC/t/lib-gitreachd.sh"

if test -z "${GITREACH_DEBIAN-}"
then
	skip_all='GITREACH_DEBIAN is not set'
	test_done
fi
if test "$(id -u)" -ne 0
then
	echo "$0: needs root" >&2
	exit 1
fi
for tool in debootstrap lintian
do
	command -v $tool >/dev/null || {
		echo "$0: $tool is missing" >&2
		exit 1
	}
done

version=$(sed -n 's/.define GITREACH_VERSION "\(.*\)"/\1/p' \
	"$GITREACH_SRC/include/gitreach.h")
here=$PWD
root=$here/debian
packages=${GITREACH_DEBIAN_PACKAGES-$here/build}
PATH=$STOCK_PATH:/usr/sbin:/sbin

in_root () {
	env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 HOME=/root \
		DEBIAN_FRONTEND=noninteractive chroot "$root" "$@"
}

# start_root: start systemd in the root directory, without a network. Changes of
# files are lost at the end. Sets $booted.
start_root () {
	systemd-nspawn -q -D "$root" --boot --volatile=overlay --register=no \
		--keep-unit --private-network --machine=gitreach-$$ \
		</dev/null >nspawn.log 2>&1 &
	booted=$! && pids="$pids $booted" &&
	wait_until in_booted systemctl list-jobs &&
	in_booted systemctl is-system-running --wait
}

# The process 1 of the system is a child of systemd-nspawn.
in_booted () {
	first=$(ps -o pid= --ppid $booted) && test -n "$first" &&
	nsenter --all --target $first env -i \
		PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 HOME=/root \
		DEBIAN_FRONTEND=noninteractive "$@"
}

# The commands of a README.Debian.
commands_of () {
	sed -n "s/^    //p" "$GITREACH_SRC/debian/$1.README.Debian"
}

in_root_as_git () {
	env -i PATH="${PATH_IN_ROOT-/usr/bin:/bin}" HOME=/var/lib/gitreachd \
		/usr/sbin/chroot --userspec=git:git "$root" "$@"
}

# Git's files: name, mode, and for a file its time and its content or target.
git_files () {
	in_root dpkg -V git git-man &&
	in_root dpkg -L git git-man | LC_ALL=C sort -u |
	while read -r file
	do
		echo "$file $(stat -c %A "$root$file") $(
			if test -L "$root$file"
			then
				readlink "$root$file"
			elif test -f "$root$file"
			then
				stat -c %Y "$root$file"
				sha256sum <"$root$file"
			fi | tr "\n" " ")"
	done
}

# Files that the packages could have left. Logs and caches of apt and dpkg, and the
# accounts, change with each installation.
all_files () {
	(cd "$root" && find . -xdev \( -path ./proc -o -path ./sys -o \
		-path ./dev -o -path ./var/lib/dpkg -o -path ./var/lib/apt -o \
		-path ./var/cache -o -path ./var/log -o -path ./tmp -o \
		-path ./packages \) -prune -o -print) | LC_ALL=C sort
}

# make_base: a Debian 12 at $root. debootstrap fails if its directory has a blank in
# its name, as that of the test has.
make_base () {
	base=$(mktemp -d /var/tmp/gitreach.XXXXXX) &&
	chmod 755 "$base" &&
	debootstrap --variant=minbase bookworm "$base" >debootstrap.log &&
	mv "$base" "$root" || {
		rm -rf "$base"
		return 1
	}
}

if test -n "${GITREACH_DEBIAN_BASE-}"
then
	cp -a "$GITREACH_DEBIAN_BASE" "$root"
else
	make_base
fi || exit 1
# The directory is removed at the end, so nothing needs to survive a power loss.
echo force-unsafe-io >"$root/etc/dpkg/dpkg.cfg.d/test"

# sudo_here: a shell function for commands that the guide gives with sudo.
sudo_here='sudo () {
	case $1 in
	-u) user=$2 && shift 2 && runuser -u $user -- "$@" ;;
	*) "$@" ;;
	esac
}'

# section <page> <heading>: the commands for root in a section of the guide.
section () {
	sed -n "/^## $2\$/,/^## /p" "$GITREACH_SRC/Documentation/guide/$1" |
	sed -n "/^\`\`\`sh root\$/,/^\`\`\`\$/p" | sed "/^\`\`\`/d"
}

# The machine of the test may have packages that debian/control does not name, so the
# packages are built in a copy of the clean Debian.
test -n "${GITREACH_DEBIAN_PACKAGES-}" ||
test_expect_success 'the guide builds the packages in a clean Debian' '
	mkdir build && cp -a "$root" builder &&
	echo "APT::Get::Assume-Yes \"true\";" >builder/etc/apt/apt.conf.d/test &&
	tarball=$("$GITREACH_SRC/tools/dist" "$version" "$here/build") &&
	mkdir builder/src && tar -xzf "$tarball" -C builder/src &&
	section service.md Install | sed "/apt-get install/,\$d" >script &&
	test_line_count 2 script &&
	(root=$here/builder &&
	 mount -t proc proc "$root/proc" &&
	 trap "umount --lazy \"$root/proc\"" EXIT &&
	 in_root apt-get -qq update &&
	 in_root sh -exc "$sudo_here
		cd /src/gitreach-$version; $(cat script)") >build/log 2>&1 &&
	cp builder/src/*_* build/ && rm -rf builder
'

test_expect_success 'lintian has nothing to say' '
	lintian --allow-root --fail-on error,warning \
		"$packages"/gitreach_*.changes >out 2>&1 &&
	test_must_be_empty out
'

# systemd-tmpfiles, which the packages call, needs /proc.
trap 'for pid in $pids; do kill $pid; done 2>/dev/null; umount --lazy "$root/proc"' EXIT
mount -t proc proc "$root/proc" || exit 1

test_expect_success 'a clean Debian with stock Git' '
	in_root apt-get -qq update >apt.log 2>&1 &&
	in_root apt-get -qqy --no-install-recommends install git systemd-sysv \
		dbus logrotate openssh-server >>apt.log 2>&1 &&
	mkdir "$root/packages" &&
	cp "$packages"/*git*_"$version"-*.deb "$root/packages" &&
	git_files >git.before && all_files >all.before
'

test_expect_success 'the packages are installed beside stock Git' '
	in_root sh -c "apt-get -qqy --no-install-recommends install \
		\$(ls /packages/*.deb | grep -v dbgsym)" >>apt.log 2>&1 &&
	in_root git version >actual && grep "^git version 2\.39" actual &&
	git_files >git.during && test_cmp git.before git.during &&
	(cd "$root/usr/share/doc/gitreach" &&
	 python3 "$GITREACH_SRC/t/guide.py" links $(find . -name "*.md")) &&
	test "$(in_root dpkg-divert --list "*gitreach*")" = "" &&
	in_root stat -c "%U %a" /var/lib/gitreachd >actual &&
	echo "git 750" >expect && test_cmp expect actual
'

PATH_IN_ROOT=/usr/lib/gitreach/bin:/usr/sbin:/usr/bin:/bin

test_expect_success 'the commands run, ours and those of stock Git' '
	repo_linear source.git 30 && cp -r source.git "$root/var/lib/gitreachd/" &&
	repo=/var/lib/gitreachd/source.git &&
	touch "$root$repo/git-daemon-export-ok" &&
	in_root chown -R git:git $repo &&
	in_root_as_git git version >actual && grep gitreach actual &&
	in_root_as_git git -C $repo repack -adbq &&
	in_root_as_git git -C $repo bitmap verify &&
	in_root_as_git git -C $repo log --format=%s >actual &&
	test_line_count 30 actual &&
	in_root_as_git git --exec-path >actual &&
	echo /usr/lib/gitreach/gitreach-core >expect && test_cmp expect actual &&
	in_root test -e /usr/lib/gitreach/gitreach-core/git-mktag
'

test_expect_success 'a program uses the library' '
	cc -o "$root/packages/count" -I"$root/usr/include" \
		"$GITREACH_SRC/Documentation/examples/count.c" \
		"$(echo "$root"/usr/lib/*/libgitreach.a)" \
		$("$GITREACH_SRC/tools/libs" libs) -pthread &&
	cc -o "$root/packages/count-shared" -I"$root/usr/include" \
		"$GITREACH_SRC/Documentation/examples/count.c" \
		"$(echo "$root"/usr/lib/*/libgitreach.so.*.*)" &&
	in_root_as_git /packages/count $repo >expect &&
	in_root_as_git /packages/count-shared $repo >actual &&
	test_cmp expect actual && grep "[1-9]" actual
'

# As the service runs, but for the port: the user, the environment, the file of the
# configuration.
test_expect_success 'gitreachd serves a clone over HTTP' '
	in_root_as_git /usr/bin/gitreachd --check-config &&
	. "$root/etc/default/gitreachd" && : >log && {
		env -i PATH="$PATH_IN_ROOT" GIT_CONFIG_COUNT=$GIT_CONFIG_COUNT \
			GIT_CONFIG_KEY_0="$GIT_CONFIG_KEY_0" \
			GIT_CONFIG_VALUE_0="$GIT_CONFIG_VALUE_0" \
			/usr/sbin/chroot --userspec=git:git "$root" gitreachd \
			--listen=http://127.0.0.1:0 2>log &
	} && server=$! && pids="$pids $server" &&
	unset GIT_CONFIG_COUNT GIT_CONFIG_KEY_0 GIT_CONFIG_VALUE_0 &&
	wait_until grep -q "listens on" log &&
	url=$(sed -n "s/^gitreachd: listens on //p" log | head -n 1) &&
	stock clone -q --bare $url/source.git clone.git &&
	repo_objects source.git >expect && repo_objects clone.git >actual &&
	test_cmp expect actual &&
	wait_until grep -q upload-pack \
		"$root/var/log/gitreach/requests.log" &&
	stop_daemon
'

test_expect_success 'the log of requests is rotated' '
	in_root logrotate --state /tmp/state --force \
		/etc/logrotate.d/gitreachd 2>err &&
	test_must_be_empty err &&
	test -s "$root/var/log/gitreach/requests.log.1"
'

! command -v systemd-nspawn >/dev/null || test_set_prereq NSPAWN

test_expect_success NSPAWN 'the service runs when the system starts' '
	start_root &&
	in_booted systemctl is-active gitreachd.service &&
	in_booted git ls-remote http://127.0.0.1:8080/source.git >actual &&
	git ls-remote source.git >expect && test_cmp expect actual &&
	for unit in gitreachd.service gitreachd.socket
	do
		in_booted systemd-analyze verify --man=no $unit || return 1
	done &&
	in_booted systemd-analyze security --threshold=30 gitreachd.service \
		>security
'

test_expect_success NSPAWN 'the guide moves the repositories to /srv/git' '
	section service.md "Repositories in .srv.git" >script &&
	test_line_count 3 script &&
	in_booted sh -exc "$sudo_here; test ! -e /srv/git; $(cat script)" &&
	in_booted sh -exc "$sudo_here
		sudo -u git git init -q --bare /srv/git/pushed.git
		sudo -u git git -C /srv/git/pushed.git config http.receivepack true
		touch /srv/git/pushed.git/git-daemon-export-ok
		git -c safe.directory=\* -C /var/lib/gitreachd/source.git \
			push http://127.0.0.1:8080/pushed.git HEAD:refs/heads/new
		git ls-remote --exit-code http://127.0.0.1:8080/pushed.git new
		rm -rf /srv/git
		git config --file /etc/gitreach/gitreachd.conf \
			gitreachd.base-path /var/lib/gitreachd
		systemctl restart gitreachd"
'

# the directory of a client in the booted system
work=/srv/work

# The README is for an empty directory of repositories and a new client.
test_expect_success NSPAWN 'the commands of README.Debian' '
	certify tls && ssh-keygen -q -t ed25519 -N "" -C alice -f alice &&
	in_booted sh -c "mkdir -p $work && mkdir -p ~/.ssh" &&
	for file in tls.crt:cert.pem tls.key:key.pem alice:alice \
		alice.pub:alice.pub
	do
		in_booted sh -c "umask 077; cat >$work/${file#*:}" \
			<${file%:*} || return 1
	done &&
	commands_of gitreachd >script &&
	test $(wc -l <script) -gt 20 &&
	in_booted sh -exc "cd $work; $(cat script)" &&
	in_booted sh -ec "$(commands_of gitreach) git version" >actual &&
	grep gitreach actual
'

test_expect_success NSPAWN 'clones over TLS, over ssh, and from a socket of systemd' '
	cat >script <<-\EOC &&
	cd $work
	export GIT_TRACE_PACKET=$work/packets
	export GIT_SSH_COMMAND="ssh -i $work/alice -o StrictHostKeyChecking=no"
	while read -r name url
	do
		rm -f packets
		git -c http.sslCAInfo=cert.pem clone -q --bare $url $name.git
		grep "agent=git/.*gitreach" packets
		grep "clone< version 2" packets
		git -C $name.git rev-list --count --all
	done <<EOU
	socket http://127.0.0.1:8080/source.git
	tls https://127.0.0.1:8443/source.git
	ssh git@127.0.0.1:source.git
	EOU
	git -C ssh.git push -q origin HEAD:refs/heads/pushed
	EOC
	in_booted sh -exc "work=$work; $(cat script)" >out && cat out &&
	grep "^30$" out >counts && test_line_count 3 counts
'

# upgrade <suffix> <sed script>: install gitreachd again, with a higher version, and with
# a unit that the script changes. Return when another process is the server.
upgrade () {
	rm -rf newer && dpkg-deb -R "$packages"/gitreachd_*.deb newer &&
	sed -i "s/^Version: .*/&$1/" newer/DEBIAN/control &&
	sed -i "$2" newer/lib/systemd/system/gitreachd.service &&
	dpkg-deb -b newer newer.deb &&
	in_booted systemctl show -P MainPID gitreachd >before &&
	in_booted sh -c "cat >$work/newer.deb" <newer.deb &&
	in_booted dpkg -i $work/newer.deb &&
	wait_until in_booted sh -c "test \$(systemctl show -P MainPID \
		gitreachd) != $(cat before)"
}

test_expect_success NSPAWN 'the upgraded server takes over, or starts again for another unit' '
	upgrade +1 "" &&
	in_booted journalctl -q -u gitreachd >log && grep "upgrade: process" log &&
	upgrade +2 "s/^WatchdogSec=.*/WatchdogSec=61/" &&
	in_booted systemctl show -P WatchdogUSec gitreachd >actual &&
	grep "1min 1s" actual &&
	in_booted journalctl -q -u gitreachd >log &&
	grep "upgrade: process" log >upgrades && test_line_count 1 upgrades &&
	in_booted git ls-remote http://127.0.0.1:8080/source.git &&
	in_booted sh -c "test ! -e /run/gitreachd.service.old"
'

test_expect_success NSPAWN 'a new server takes over, and stops when it is removed' '
	in_booted systemctl show -P MainPID gitreachd >before &&
	in_booted systemctl kill --kill-who=main --signal=SIGUSR2 gitreachd &&
	wait_until in_booted sh -c "test \$(systemctl show -P MainPID \
		gitreachd) != $(cat before)" &&
	in_booted git ls-remote http://127.0.0.1:8080/source.git &&
	in_booted apt-get -qqy purge gitreach gitreachd &&
	wait_until in_booted sh -c "systemctl list-units --all \
		--no-legend \"gitreachd*\" >/tmp/units && test ! -s /tmp/units" &&
	in_booted sh -c "! pgrep gitreachd && test ! -e /run/gitreach" &&
	in_booted runuser -u git -- \
		git -C /var/lib/gitreachd/source.git fsck &&
	in_booted systemctl poweroff && wait $booted
'

test_expect_success 'the exec path follows changes of stock Git' '
	in_root sh -c "apt-get -qqy download git && dpkg -r --force-depends git" \
		>>apt.log 2>&1 &&
	in_root test ! -L /usr/lib/gitreach/gitreach-core/git-mktag &&
	in_root sh -c "dpkg -i git_*.deb && rm git_*.deb" >>apt.log 2>&1 &&
	in_root test -e /usr/lib/gitreach/gitreach-core/git-mktag
'

test_expect_success 'remove and purge leave stock Git as it was' '
	in_root apt-get -qqy remove gitreach gitreachd libgitreach-dev \
		libgitreach0 >>apt.log 2>&1 &&
	git_files >git.removed && test_cmp git.before git.removed &&
	in_root test ! -e /usr/lib/gitreach &&
	in_root_as_git git -C $repo fsck &&
	in_root apt-get -qqy purge gitreach gitreachd >>apt.log 2>&1 &&
	in_root apt-get -qqy autoremove --purge >>apt.log 2>&1 &&
	git_files >git.after && test_cmp git.before git.after &&
	in_root test -d $repo && rm -rf "$root/var/lib/gitreachd" &&
	all_files >all.after && test_cmp all.before all.after
'

umount --lazy "$root/proc" && rm -rf "$root"
trap 'for pid in $pids; do kill $pid; done 2>/dev/null' EXIT
test_done
