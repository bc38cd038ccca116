#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='a partial clone serves clients that know where to get the rest'
. "$(dirname "$0")/lib.sh"
. "$GITREACH_SRC/t/lib-serve.sh"

UP=--upload-pack=$GITREACH_BUILD/bin/git-upload-pack

# Clients know of promisor remotes of servers since 2.50.
case "$(stock version)" in
*\ [3-9].* | *\ 2.[5-9][0-9]*) test_set_prereq PROMISOR_CLIENT ;;
esac

test_expect_success 'setup' '
	repo_linear whole.git 12 &&
	stock -C whole.git config uploadpack.allowFilter true &&
	stock -C whole.git config uploadpack.allowAnySHA1InWant true &&
	stock clone -q --bare --filter=blob:none "file://$PWD/whole.git" \
		server.git &&
	stock -C server.git remote rename origin lop 2>/dev/null &&
	stock -C server.git config promisor.advertise true &&
	stock -C server.git config uploadpack.allowFilter true &&
	stock -C server.git rev-list --objects --missing=print main \
		>all && grep "^?" all >missing &&
	tip=$(stock -C server.git rev-parse main)
'

# ask <key or argument>...: a fetch of main in protocol v2.
ask () {
	pkt command=fetch object-format=sha1 "$@" |
		GIT_PROTOCOL=version=2 git upload-pack --stateless-rpc \
			server.git >answer 2>err
}

test_expect_success 'the remote is advertised' '
	GIT_PROTOCOL=version=2 git upload-pack --advertise-refs server.git \
		>out &&
	url=file://$(echo "$PWD" | sed "s/ /%20/g")/whole.git &&
	grep -a "promisor-remote=name=lop,url=$url\$" out &&
	stock -C server.git config promisor.sendFields partialCloneFilter &&
	GIT_PROTOCOL=version=2 git upload-pack --advertise-refs server.git \
		>out &&
	grep -a "whole.git,partialCloneFilter=blob:none\$" out &&
	GIT_PROTOCOL=version=1 git upload-pack --advertise-refs server.git \
		>out &&
	! grep -a promisor out
'

test_expect_success 'a client without the promisor remote gets an error' '
	test_must_fail ask D "want $tip" done F &&
	grep "unable to read" err &&
	test_must_fail ask promisor-remote=other D "want $tip" done F &&
	grep "accepted promisor remote .other. not found" err
'

test_expect_success 'a client that accepts the promisor remote gets the rest' '
	ask promisor-remote=lop D "want $tip" done F &&
	{
		printf "0008NAK\n" && # as the helper expects it
		tail -c +14 answer
	} | pack_of_answer side-band-64k >sent.pack &&
	cp -R whole.git copy.git &&
	sent=$(stock -C copy.git index-pack --stdin <sent.pack) &&
	stock -C copy.git show-index <copy.git/objects/pack/pack-${sent#*	}.idx |
		cut -d" " -f2 | sort >actual &&
	grep -v "^?" all | cut -d" " -f1 | sort >expect &&
	test_cmp expect actual
'

test_expect_success 'a missing object that was not promised is an error' '
	cp -R server.git broken.git &&
	rm broken.git/objects/pack/*.promisor &&
	pkt command=fetch object-format=sha1 promisor-remote=lop D \
		"want $tip" done F |
		GIT_PROTOCOL=version=2 test_must_fail git upload-pack \
			--stateless-rpc broken.git >answer
'

test_expect_success PROMISOR_CLIENT 'a client fetches promised objects from the remote' '
	stock_client -c promisor.acceptFromServer=knownUrl clone -q \
		-c remote.lop.promisor=true \
		-c remote.lop.fetch=+refs/heads/*:refs/remotes/lop/* \
		-c remote.lop.url="file://$PWD/whole.git" \
		--no-local --filter=blob:none "$UP" server.git clone &&
	test_served_by_us &&
	grep "> promisor-remote=lop" packets &&
	stock -C clone fsck &&
	stock -C clone log -p --all >actual &&
	stock -C whole.git log -p --all >expect &&
	sed "s/ (.*)//" expect >e && sed "s/ (.*)//" actual >a &&
	test_cmp e a
'

test_done
