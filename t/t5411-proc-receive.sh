#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='receive-pack: the proc-receive hook does what it does for stock Git'
. "$(dirname "$0")/lib.sh"

OURS=$GITREACH_BUILD/bin/git-receive-pack
export OURS

pack_line () {
	for line
	do
		printf '%04x%s\n' $((${#line} + 5)) "$line"
	done
}

test_expect_success 'setup' '
	repo_linear client.git 5 &&
	repo_init plain.git &&
	stock -C client.git push -q ../plain.git main~3:refs/heads/old &&
	stock -C plain.git config receive.procReceiveRefs refs/for &&
	stock -C plain.git config receive.advertisePushOptions true &&
	cat >plain.git/hooks/post-receive <<-\EOH &&
	#!/bin/sh
	echo post-receive && cat
	EOH
	cat >plain.git/hooks/proc-receive <<-\EOH &&
	#!/usr/bin/env python3
	import os
	import sys
	log = open("log", "w")
	def section():
	    while True:
	        size = int(os.read(0, 4), 16)
	        if not size:
	            break
	        log.write(repr(os.read(0, size - 4).rstrip(b"\n")) + "\n")
	    log.write("flush\n")
	section()
	version = open("../version", "rb").read()
	os.write(1, version)
	section()
	if b"push-options" in version:
	    section()
	os.write(2, b"on stderr\n")
	os.write(1, open("../report", "rb").read())
	log.close()
	sys.exit(os.path.exists("../fail"))
	EOH
	chmod +x plain.git/hooks/p*-receive
'

# test_as_stock <name> <report, lines separated by "|"> <argument of push>...
test_as_stock () {
	name=$1
	report=$2
	shift 2
	echo "$report" >lines
	echo "$*" >arguments
	test_expect_success "as stock: $name" '
		read -r arguments <arguments &&
		(IFS="|" && pack_line $(cat lines) && printf 0000) >report &&
		for who in ours stock
		do
			rm -rf $who.git &&
			cp -R plain.git $who.git &&
			server=$OURS &&
			test $who = ours || server="env -u GIT_EXEC_PATH \
				PATH=$STOCK_PATH $STOCK_GIT-receive-pack"
			{
				stock -C client.git push \
					--receive-pack="$server" \
					../$who.git $arguments 2>&1 ||
				echo failed
			} | sed -e "s/$who\.git/X.git/" -e "s/[[:space:]]*$//" |
			LC_ALL=C sort >$who.out &&
			stock -C $who.git for-each-ref >>$who.out &&
			{ cat $who.git/log || :; } >>$who.out 2>/dev/null ||
			return 1
		done &&
		test_cmp stock.out ours.out
	'
}

printf '000eversion=1\n0000' >version
test_as_stock 'ok' 'ok refs/for/x' main:refs/for/x main:refs/heads/y
test_as_stock 'ok as another ref' \
	'ok refs/for/x|option refname refs/heads/q|option forced-update' \
	main:refs/for/x
test_as_stock 'ok as two' \
	'ok refs/for/x|option refname refs/a|ok refs/for/x|option refname refs/b' \
	main:refs/for/x
test_as_stock 'fall through' 'ok refs/for/x|option fall-through' \
	main:refs/for/x main:refs/heads/y
test_as_stock 'ng' 'ng refs/for/x not like this|ok refs/for/y' \
	main:refs/for/x main:refs/for/y main:refs/heads/z
zero=0000000000000000000000000000000000000000
one=$(printf %040d 1)
test_as_stock 'the ids of the report' \
	"ok refs/for/x|option old-oid $one|option new-oid $zero|option forced-update" \
	main:refs/for/x
test_as_stock 'ids that are none' \
	"ok refs/for/x|option old-oid $one|option old-oid bad|option new-oid" \
	main:refs/for/x
test_as_stock 'a refname without a value' \
	'ok refs/for/x|option refname refs/a|option refname' main:refs/for/x
test_as_stock 'options after ng' \
	'ng refs/for/x no|option refname refs/a|option a b|huh refs/for/y|ok refs/for/y' \
	main:refs/for/x main:refs/for/y
test_as_stock 'ok after ng' \
	'ng refs/for/x no|ok refs/for/x|option refname refs/a' main:refs/for/x
test_as_stock 'ng twice' 'ng refs/for/x no|ng refs/for/x never' main:refs/for/x
test_as_stock 'fall through after another ref' \
	'ok refs/for/x|option refname refs/a|ok refs/for/x|option fall-through' \
	main:refs/for/x
test_as_stock 'fall through and ng, atomic' \
	'ok refs/for/x|option fall-through|ng refs/for/y no' --atomic \
	main:refs/for/x main:refs/for/y
test_as_stock 'ng without a reason' 'ng refs/for/x' main:refs/for/x
test_as_stock 'no report' '' main:refs/for/x main:refs/heads/y
test_as_stock 'ng, atomic' 'ng refs/for/x no' --atomic \
	main:refs/for/x main:refs/heads/y
test_as_stock 'a wrong line' 'huh refs/for/x' main:refs/for/x
test_as_stock 'half a line' 'ok' main:refs/for/x
test_as_stock 'an option of nothing' 'option refname x' main:refs/for/x
test_as_stock 'a ref that nobody asked for' 'ok refs/for/q' main:refs/for/x
test_as_stock 'a ref that is not the hook'"'"'s' 'ok refs/heads/y' \
	main:refs/for/x main:refs/heads/y
test_as_stock 'options that the hook does not know' 'ok refs/for/x' \
	-o a -o b main:refs/for/x

printf '001bversion=1\0push-options\n0000' >version
test_as_stock 'push options' 'ok refs/for/x' -o a -o b main:refs/for/x
printf '000eversion=1\n0000' >version

test_expect_success 'setup: the hook fails' '
	>fail
'
test_as_stock 'a hook that fails' 'ok refs/for/x' \
	main:refs/for/x main:refs/heads/y
test_as_stock 'a hook that fails, atomic' 'ok refs/for/x' --atomic \
	main:refs/for/x main:refs/heads/y
rm -f fail

for value in refs/ refs/fo refs/for/ a:refs m:refs d:refs '!:refs/for' \
	'am!:refs/heads' x:refs ''
do
	test_expect_success "setup: receive.procReceiveRefs=$value" "
		stock -C plain.git config receive.procReceiveRefs '$value'
	"
	test_as_stock "which commands: '$value'" 'ok refs/for/x' \
		main:refs/for/x main~1:refs/heads/new :refs/heads/old
done

test_expect_success 'setup: no hook' '
	stock -C plain.git config receive.procReceiveRefs refs/for &&
	mv plain.git/hooks/proc-receive hook
'
test_as_stock 'no hook' '' main:refs/for/x main:refs/heads/y
test_as_stock 'no hook, atomic' '' --atomic main:refs/for/x main:refs/heads/y

# The hook prints the end of a line when the server has read the whole report.
test_expect_success 'messages about a report are not put into lines of the hook' '
	mkdir -p late &&
	cat >late/proc-receive <<-\EOH &&
	#!/usr/bin/env python3
	import os
	def section():
	    while True:
	        size = int(os.read(0, 4), 16)
	        if not size:
	            break
	        os.read(0, size - 4)
	section()
	os.write(1, b"000eversion=1\n0000")
	section()
	os.write(2, b"one ")
	os.write(1, b"0013bad refs/for/x\n0012ok refs/for/x\n0000")
	while os.read(0, 100):
	    pass
	os.write(2, b"line\n")
	EOH
	chmod +x late/proc-receive &&
	for who in ours stock
	do
		rm -rf $who.git &&
		cp -R plain.git $who.git &&
		rm $who.git/hooks/post-receive &&
		cp late/proc-receive $who.git/hooks/ &&
		server=$OURS &&
		test $who = ours || server="env -u GIT_EXEC_PATH \
			PATH=$STOCK_PATH $STOCK_GIT-receive-pack"
		test_might_fail stock -C client.git push \
			--receive-pack="$server" ../$who.git \
			main:refs/for/x 2>err &&
		sed -n "s/[[:space:]]*$//; /^remote: /p" err >$who.out ||
			return 1
	done &&
	cat >expect <<-\EOF &&
	remote: one line
	remote: error: proc-receive reported bad status '"'bad'"' on ref '"'refs/for/x'"'
	EOF
	test_cmp expect ours.out &&
	test_cmp expect stock.out
'

# Whether the hook ends before or after the first write is a matter of chance.
test_expect_success 'a hook that ends at once is named in the message' '
	for script in "exit 1" "exec <&-; sleep 0.1"
	do
		rm -rf ours.git &&
		cp -R plain.git ours.git &&
		printf "#!/bin/sh\n%s\n" "$script" \
			>ours.git/hooks/proc-receive &&
		chmod +x ours.git/hooks/proc-receive &&
		for i in 1 2 3
		do
			test_must_fail stock -C client.git push \
				--receive-pack="$OURS" ../ours.git \
				main:refs/for/x 2>err &&
			grep "fail to negotiate version with proc-receive" \
				err && ! grep "to the client" err || return 1
		done || return 1
	done
'

# The hook may end before its standard error is read.
test_expect_success 'the client gets the last words of a hook that ends at once' '
	rm -rf ours.git &&
	cp -R plain.git ours.git &&
	printf "#!/bin/sh\necho last words >&2\n" \
		>ours.git/hooks/proc-receive &&
	chmod +x ours.git/hooks/proc-receive &&
	for i in 1 2 3 4 5 6 7 8 9 10
	do
		test_must_fail stock -C client.git push \
			--receive-pack="$OURS" ../ours.git \
			main:refs/for/x 2>err &&
		grep "^remote: last words" err || return 1
	done
'

test_expect_success 'a hook that is killed, or that cannot be started' '
	printf "#!/bin/sh\nkill -9 \$\$\n" >ours.git/hooks/proc-receive &&
	test_must_fail stock -C client.git push --receive-pack="$OURS" \
		../ours.git main:refs/for/x 2>err &&
	grep "^remote: error: hooks/proc-receive died of signal 9" err &&
	printf "#!/no/such/shell\n" >ours.git/hooks/proc-receive &&
	test_must_fail stock -C client.git push --receive-pack="$OURS" \
		../ours.git main:refs/for/x main:refs/heads/x 2>err &&
	grep "^remote: fatal: cannot exec .hooks/proc-receive.: No such" err &&
	grep "rejected.*refs/for/x (fail to run proc-receive hook)" err &&
	grep "new branch.*x$" err
'

test_expect_success 'a hook whose answer ends inside a packet' '
	printf "#!/bin/sh\nhead -c 4 >/dev/null\necho hi\n" \
		>ours.git/hooks/proc-receive &&
	test_must_fail stock -C client.git push --receive-pack="$OURS" \
		../ours.git main:refs/for/x 2>err &&
	grep "^remote: error: fail to negotiate version with proc-receive" err
'

test_expect_success 'a hook that breaks the protocol fails only its commands' '
	for answer in zzzz 000eversion=9 ""
	do
		rm -rf ours.git &&
		cp -R plain.git ours.git &&
		printf "#!/bin/sh\nprintf %s\n" "$answer" \
			>ours.git/hooks/proc-receive &&
		chmod +x ours.git/hooks/proc-receive &&
		test_must_fail stock -C client.git push --receive-pack="$OURS" \
			../ours.git main:refs/for/x main:refs/heads/y 2>err &&
		grep "refs/for/x (fail to run proc-receive hook)" err &&
		stock -C ours.git rev-parse --verify refs/heads/y || return 1
	done
'

test_done
