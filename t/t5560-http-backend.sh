#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='git http-backend: what stock Git answers, what it does not
and clients of stock Git over it'
. "$(dirname "$0")/lib.sh"
. "$GITREACH_SRC/t/lib-meanwhile.sh"
. "$GITREACH_SRC/t/lib-serve.sh"

OURS=$GITREACH_BUILD/exec/git-http-backend
STOCK=$(stock --exec-path)/git-http-backend
pids=
trap 'for pid in $pids; do kill $pid; done 2>/dev/null' EXIT
UPLOAD=application/x-git-upload-pack
RECEIVE=application/x-git-receive-pack

test "$(id -u)" = 0 && test_set_prereq ROOT

# cgi <program> <method> <path> [<query>] [<variable>=<value>...]: run it as a
# web server does, with standard input as the body.
cgi () {
	program=$1 method=$2 path=$3
	query=${4-}
	if test $# -gt 3
	then
		shift 4
	else
		shift 3
	fi
	env -u GIT_COMMITTER_NAME -u GIT_COMMITTER_EMAIL \
		GIT_PROJECT_ROOT="$PWD/srv" GIT_HTTP_EXPORT_ALL=1 \
		GATEWAY_INTERFACE=CGI/1.1 SERVER_PROTOCOL=HTTP/1.1 \
		REQUEST_METHOD="$method" PATH_INFO="$path" \
		QUERY_STRING="$query" "$@" "$program"
}

# compare: requests on standard input, see cgi-compare.py.
compare () {
	env -u GIT_COMMITTER_NAME -u GIT_COMMITTER_EMAIL \
		python3 "$GITREACH_SRC/t/cgi-compare.py" "$PWD/srv" "$OURS" \
		"$STOCK"
}

test_expect_success 'setup' '
	mkdir srv &&
	repo_criss_cross srv/r.git 20 &&
	repo_tags srv/r.git &&
	stock -C srv/r.git repack -adq &&
	echo loose | stock -C srv/r.git hash-object -w --stdin >loose &&
	loose=$(sed "s,^..,&/," loose) &&
	stock -C srv/r.git pack-refs --all &&
	stock -C srv/r.git update-ref refs/hidden/x main &&
	stock -C srv/r.git update-ref refs/namespaces/n/refs/heads/x side &&
	stock -C srv/r.git symbolic-ref refs/namespaces/n/HEAD \
		refs/namespaces/n/refs/heads/x &&
	pack=$(cd srv/r.git/objects/pack && echo *.pack) &&
	pack=${pack%.pack} &&
	echo /elsewhere >srv/r.git/objects/info/http-alternates &&
	stock init -q --bare srv/empty.git &&
	stock init -q srv/checkout &&
	oid=$(stock -C srv/r.git rev-parse main) &&
	printf "0032want %s\n00000009done\n" $oid >want &&
	gzip -kn want &&
	pkt command=ls-refs F >ls-refs
'

test_expect_success 'files' '
	for method in GET HEAD
	do
		for path in HEAD info/refs objects/info/packs \
			objects/info/alternates objects/info/http-alternates \
			objects/$loose objects/pack/$pack.pack \
			objects/pack/$pack.idx
		do
			echo "= $method /r.git/$path"
		done
	done >requests &&
	cat >>requests <<-\EOF &&
	= GET /empty.git/HEAD
	= GET /empty.git/info/refs
	= GET /empty.git/objects/info/packs
	= GET /detached.git/HEAD
	EOF
	stock init -q --bare srv/detached.git &&
	stock -C srv/r.git rev-parse main >srv/detached.git/HEAD &&
	compare <requests
'

test_expect_success 'files: cache headers of immutable files' '
	cgi "$OURS" GET /r.git/objects/pack/$pack.idx >actual &&
	LC_ALL=C tr -d "\r" <actual | grep -a "^[A-Z][A-Za-z-]*: " >head &&
	sed "s/: .*//" head >names &&
	cat >expect <<-\EOF &&
	Date
	Expires
	Cache-Control
	Content-Length
	Content-Type
	Last-Modified
	EOF
	test_cmp expect names &&
	date="[A-Z][a-z][a-z], [0-3][0-9] [A-Z][a-z][a-z] [0-9]*" &&
	grep -c "^[DEL].*: $date [0-9:]\{8\} GMT\$" head >count &&
	echo 3 >expect &&
	test_cmp expect count &&
	LC_ALL=C TZ=UTC date -r srv/r.git/objects/pack/$pack.idx \
		"+Last-Modified: %a, %d %b %Y %H:%M:%S GMT" >expect &&
	grep Last-Modified head >actual &&
	test_cmp expect actual
'

test_expect_success 'files: packs of any name' '
	cp -r srv/r.git srv/named.git &&
	(
		cd srv/named.git/objects/pack &&
		checksum=${pack#pack-} &&
		for end in pack idx
		do
			cp $pack.$end loose-$checksum.$end &&
			mv $pack.$end foo.$end || exit 1
		done &&
		cp foo.pack .tmp-1-$pack.pack
	) &&
	cgi "$OURS" GET /named.git/objects/info/packs >out &&
	for name in foo loose-${pack#pack-}
	do
		grep "^P $name.pack\$" out || return 1
		for end in pack idx
		do
			file=objects/pack/$name.$end &&
			size=$(wc -c <srv/named.git/$file) &&
			cgi "$OURS" GET /named.git/$file >answer &&
			tail -c $size answer >actual &&
			cmp srv/named.git/$file actual || return 1
		done
	done &&
	cgi "$OURS" GET /named.git/objects/pack/loose-${pack#pack-}.idx \
		>answer &&
	grep -a "^Cache-Control: public, max-age=31536000" answer &&
	cgi "$OURS" GET /named.git/objects/pack/foo.idx >answer &&
	grep -a "^Cache-Control: no-cache" answer &&
	for file in foo.rev foo.bitmap .tmp-1-$pack.pack x/foo.pack
	do
		cgi "$OURS" GET /named.git/objects/pack/$file >answer &&
		grep "^Status: 404" answer || return 1
	done
'

test_expect_success 'paths: how a repository may be named' '
	ln -s r.git srv/link.git &&
	cp -r srv/r.git outside.git &&
	ln -s ../outside.git srv/outside.git &&
	compare <<-EOF
	= GET /r/HEAD
	= GET /checkout/HEAD
	= GET /checkout/.git/HEAD
	= GET /checkout.git/HEAD
	= GET /link.git/HEAD
	= GET /outside.git/HEAD
	= GET /r.git
	= GET /r.git/
	= GET /
	= GET /HEAD
	= GET /none.git/HEAD
	= GET /r.git/r.git/HEAD
	= GET /r.git/HEAD?x
	= GET /~x/r.git/HEAD
	= GET /r.git/HEAD "" "GIT_PROJECT_ROOT=$PWD/srv//"
	= GET /x "" GIT_PROJECT_ROOT= "PATH_TRANSLATED=$PWD/srv/r.git/HEAD"
	= GET /x "" GIT_PROJECT_ROOT= "PATH_TRANSLATED=$PWD/srv/none/HEAD"
	= GET /x "" GIT_PROJECT_ROOT= "PATH_TRANSLATED=$PWD/srv"
	= GET /x "" GIT_PROJECT_ROOT= PATH_TRANSLATED=
	= GET /x "" GIT_PROJECT_ROOT-
	EOF
'

test_expect_success 'paths: nothing else can be named' '
	cp srv/r.git/HEAD srv/r.git/objects/secret &&
	for path in config description hooks/pre-receive packed-refs \
		refs/heads/main logs/HEAD shallow HEAD/ HEAD/x xHEAD \
		objects/secret objects/info/secret objects/pack/secret \
		objects/pack/$pack.bitmap objects/pack/$pack.pack.x \
		objects/pack/pack-0.pack objects/info/commit-graph \
		objects/AB/$(cut -c3- loose) objects/$(cat loose) \
		objects/00/$(cut -c3- loose) objects/$loose/ git-shell
	do
		echo "=404 GET /r.git/$path"
	done | compare
'

test_expect_success 'paths: no way out of the project root' '
	cp -r srv/r.git secret.git &&
	compare <<-EOF
	=500 GET /../secret.git/HEAD
	=500 GET /r.git/../../secret.git/HEAD
	=500 GET /r.git/../r.git/HEAD
	=500 GET /r.git/objects/../HEAD
	=500 GET //r.git/HEAD
	=500 GET /r.git//HEAD
	=500 GET /./r.git/HEAD
	=500 GET /r.git/./HEAD
	=500 GET /..
	=500 GET /r.git/..
	=500 GET r.git/HEAD
	=500 GET ../secret.git/HEAD
	=500 GET ""
	=404 GET /%2e%2e/secret.git/HEAD
	=404 GET /%72.git/HEAD
	=404 GET /..%2fsecret.git/HEAD
	=404 GET "/..\\\\secret.git/HEAD"
	=404 GET /.../HEAD
	500 GET /x "" GIT_PROJECT_ROOT= \
		"PATH_TRANSLATED=$PWD/srv/../secret.git/HEAD"
	EOF
'

test_expect_success 'files: missing ones give 404' '
	mkfifo srv/r.git/objects/info/alternates &&
	echo "404 GET /r.git/objects/info/alternates" | compare &&
	rm srv/r.git/objects/info/alternates &&
	mkdir srv/r.git/objects/info/alternates &&
	echo "404 GET /r.git/objects/info/alternates" | compare &&
	rmdir srv/r.git/objects/info/alternates
'

# The pipe has no writer. So opening the pipe must not wait for one.
test_expect_success 'a file that becomes a pipe before it is opened' '
	echo x >srv/r.git/objects/info/http-alternates &&
	meanwhile "*/info/http-alternates" \
		"cd \"$PWD/srv/r.git/objects/info\" && rm http-alternates && mkfifo http-alternates" \
		timeout 20 env GIT_PROJECT_ROOT="$PWD/srv" GIT_HTTP_EXPORT_ALL=1 \
		REQUEST_METHOD=GET PATH_INFO=/r.git/objects/info/http-alternates \
		"$GIT" http-backend >out 2>err &&
	grep "^Status: 500" out &&
	grep "cannot read .*http-alternates" err &&
	rm srv/r.git/objects/info/http-alternates
'

test_expect_success 'methods' '
	for protocol in HTTP/1.0 HTTP/1.1 ""
	do
		for method in GET HEAD POST PUT OPTIONS get "\"\""
		do
			for path in HEAD info/refs git-upload-pack config
			do
				case "$method $path" in
				POST\ git-*) continue ;;
				esac
				echo "= $method /r.git/$path \"\"" \
					SERVER_PROTOCOL=$protocol
			done
		done
	done >requests &&
	echo "=500 GET /r.git/HEAD \"\" REQUEST_METHOD-" >>requests &&
	compare <requests
'

test_expect_success 'arguments are a stranger'\''s' '
	printf "#!/bin/sh\nexec \"%s\" --help\n" "$OURS" >helpful &&
	chmod +x helpful &&
	cgi ./helpful GET /r.git/HEAD --help >actual &&
	grep "^ref: refs/heads/main" actual
'

test_expect_success 'the parameter of info/refs' '
	for query in service=git-upload-pack service=git-receive-pack \
		"x=1&service=git-upload-pack" service=git%2dupload-pack \
		"service=git-receive-pack&service=git-upload-pack" \
		"&service=git-upload-pack" "?service=git-upload-pack" \
		Service=git-upload-pack service service= service=upload-pack \
		service=git-upload-archive service=git-shell service=git- \
		"service=git+upload-pack" "service=git-upload-pack%0a" \
		"service=git-upload-pack%00" "ser%76ice=git-upload-pack" \
		"service=git-upload-pack;a=b" "a=b" "service=%ff%fe" "%"
	do
		echo "= GET /r.git/info/refs \"$query\"" &&
		echo "= HEAD /r.git/info/refs \"$query\""
	done | compare
'

test_expect_success 'versions' '
	for version in 0 1 2
	do
		for service in upload-pack receive-pack
		do
			test $version$service = 2upload-pack ||
			echo "= GET /r.git/info/refs service=git-$service" \
				GIT_PROTOCOL=version=$version REMOTE_USER=me
		done
	done >requests &&
	cat >>requests <<-EOF &&
	= POST /r.git/git-upload-pack "" CONTENT_TYPE=$UPLOAD-request \
		GIT_PROTOCOL=version=2 <ls-refs
	= POST /r.git/git-upload-pack "" CONTENT_TYPE=$UPLOAD-request \
		HTTP_GIT_PROTOCOL=version=2 <ls-refs
	EOF
	compare <requests &&
	cgi "$OURS" GET /r.git/info/refs service=git-upload-pack \
		HTTP_GIT_PROTOCOL=version=2 >actual &&
	tr -d "\r" <actual | sed "1,/^\$/d" | head -n 1 >first &&
	echo "000eversion 2" >expect &&
	test_cmp expect first &&
	cgi "$OURS" GET /r.git/info/refs service=git-upload-pack \
		GIT_PROTOCOL=version=0 HTTP_GIT_PROTOCOL=version=2 >actual &&
	grep -a "^001e# service=git-upload-pack" actual
'

test_expect_success 'services that may be turned on and off' '
	for config in getanyfile=false uploadpack=false receivepack=true \
		receivepack=false getanyfile=bad uploadpack=bad \
		receivepack=bad uploadpack maxrequestbuffer=1x
	do
		for user in "" me
		do
			env="GIT_CONFIG_COUNT=1 REMOTE_USER=$user" &&
			env="$env GIT_CONFIG_KEY_0=http.${config%=*}" &&
			env="$env GIT_CONFIG_VALUE_0=${config#*=}" &&
			sed "s/\$/ $env/" <<-\EOF
			= GET /r.git/HEAD ""
			= GET /r.git/info/refs ""
			= GET /r.git/info/refs service=git-upload-pack
			= GET /r.git/info/refs service=git-receive-pack
			= POST /r.git/git-upload-pack "" CONTENT_TYPE=x
			= POST /r.git/git-receive-pack "" CONTENT_TYPE=x
			EOF
		done
	done | compare
'

test_expect_success 'repositories are served only if they are exported' '
	cat >requests <<-\EOF &&
	= GET /r.git/HEAD "" GIT_HTTP_EXPORT_ALL-
	= GET /r.git/info/refs service=git-upload-pack GIT_HTTP_EXPORT_ALL-
	= GET /r.git/HEAD "" GIT_HTTP_EXPORT_ALL=
	EOF
	compare <requests &&
	>srv/r.git/git-daemon-export-ok &&
	compare <requests &&
	rm srv/r.git/git-daemon-export-ok
'

test_expect_success ROOT 'repositories of other users are refused' '
	chown -R 12345 srv/empty.git &&
	compare <<-\EOF &&
	=500 GET /empty.git/HEAD
	=500 GET /empty.git/info/refs service=git-upload-pack
	EOF
	cgi "$OURS" GET /empty.git/HEAD >actual 2>err &&
	grep "dubious ownership" err &&
	chown -R "$(id -u)" srv/empty.git
'

test_expect_success 'namespaces, and refs that are hidden' '
	stock -C srv/r.git config transfer.hideRefs refs/hidden &&
	for path in HEAD info/refs "info/refs service=git-upload-pack"
	do
		case "$path" in
		*" "*) namespaces="n" ;;
		*) path="$path \"\"" namespaces="n none" ;;
		esac &&
		for namespace in $namespaces ""
		do
			echo "= GET /r.git/$path GIT_NAMESPACE=$namespace"
		done
	done | compare
'

test_expect_success 'broken refs are not advertised' '
	cp -r srv/r.git srv/broken.git &&
	echo 1234563890123456389012345638901234563890 \
		>srv/broken.git/refs/heads/broken &&
	echo "= GET /broken.git/info/refs" | compare &&
	rm -rf srv/broken.git
'

# ---- bodies

post=CONTENT_TYPE=$UPLOAD-request
pack_follows () {
	LC_ALL=C tr -d "\r" <actual | head -n 8 >lines &&
	grep -a "^Content-Type: $UPLOAD-result" lines &&
	grep -a 0008NAK lines && grep -a PACK actual >/dev/null
}

test_expect_success 'types of bodies' '
	for service in upload-pack receive-pack
	do
		for type in "" text/plain $UPLOAD-result \
			"application/x-git-$service-request; a=b"
		do
			echo "=415 POST /r.git/git-$service \"\"" \
				"REMOTE_USER=me \"CONTENT_TYPE=$type\""
		done
	done | compare
'

test_expect_success 'lengths of bodies' '
	for length in "" 63 100
	do
		cgi "$OURS" POST /r.git/git-upload-pack "" $post \
			CONTENT_LENGTH=$length <want >actual &&
		pack_follows || return 1
	done &&
	cat want ls-refs >longer &&
	cgi "$OURS" POST /r.git/git-upload-pack "" $post \
		CONTENT_LENGTH=63 <longer >actual &&
	pack_follows &&
	for case in 500:abc 500:63x 500:99999999999999999999999 500:-1 \
		500:1k 400:0 400:10
	do
		echo "${case%:*} POST /r.git/git-upload-pack \"\" $post" \
			"CONTENT_LENGTH=${case#*:} <want"
	done | compare
'

test_expect_success 'packed bodies' '
	for encoding in gzip x-gzip GZIP
	do
		cgi "$OURS" POST /r.git/git-upload-pack "" $post \
			HTTP_CONTENT_ENCODING=$encoding <want.gz >actual &&
		pack_follows || return 1
	done &&
	cgi "$OURS" POST /r.git/git-upload-pack "" $post \
		HTTP_CONTENT_ENCODING=identity <want >actual &&
	pack_follows &&
	head -c 40 want.gz >short.gz &&
	>none &&
	for case in 400:gzip:want 400:gzip:none 400:gzip:short.gz \
		415:deflate:want.gz
	do
		IFS=: read status encoding body <<-EOF &&
		$case
		EOF
		echo "$status POST /r.git/git-upload-pack \"\" $post" \
			"HTTP_CONTENT_ENCODING=$encoding <$body"
	done | compare
'

test_expect_success 'requests are bounded' '
	# What unpacks to a hundred times its size.
	head -c 20000000 /dev/zero | gzip -c >bomb.gz &&
	config="GIT_CONFIG_COUNT=1 GIT_CONFIG_VALUE_0=62" &&
	config="$config GIT_CONFIG_KEY_0=http.maxRequestBuffer" &&
	limit=GIT_HTTP_MAX_REQUEST_BUFFER &&
	sed "s,\$, $post," <<-EOF | compare &&
	413 POST /r.git/git-upload-pack "" <want $limit=62
	413 POST /r.git/git-upload-pack "" <want $limit=62 CONTENT_LENGTH=63
	413 POST /r.git/git-upload-pack "" <want $config
	200 POST /r.git/git-upload-pack "" <want $limit=63
	200 POST /r.git/git-upload-pack "" <want $limit=1k $config
	=500 POST /r.git/git-upload-pack "" <want $limit=1q
	413 POST /r.git/git-upload-pack "" <bomb.gz HTTP_CONTENT_ENCODING=gzip
	EOF
	cgi "$OURS" POST /r.git/git-upload-pack "" $post $limit=62 <want \
		>actual 2>err &&
	grep "larger than our maximum size (62)" err
'

test_expect_success 'a want that does not exist gives an error' '
	sed "s/want [0-9a-f]*/want $(printf %040d 1)/" want >wrong &&
	cgi "$OURS" POST /r.git/git-upload-pack "" $post <wrong >actual \
		2>err && return 1
	grep -a "ERR upload-pack: not our ref" actual
'

test_expect_success 'an empty request is answered' '
	pkt F >flush &&
	compare <<-EOF
	= POST /r.git/git-upload-pack "" $post <flush
	= POST /r.git/git-receive-pack "" CONTENT_TYPE=$RECEIVE-request \
		REMOTE_USER=me <flush
	EOF
'

# ---- clients

test_expect_success 'start a web server' '
	{
		env -u GIT_COMMITTER_NAME -u GIT_COMMITTER_EMAIL \
			GIT_PROJECT_ROOT="$PWD/srv" GIT_HTTP_EXPORT_ALL=1 \
			python3 "$GITREACH_SRC/t/cgi-server.py" port \
			"$OURS" 2>web.log &
		pids="$pids $!"
	} &&
	wait_until test -e port &&
	url=http://127.0.0.1:$(cat port) &&
	stock -C srv/r.git config --unset transfer.hideRefs
'

test_expect_success 'dumb clients' '
	rm -rf copy.git &&
	GIT_SMART_HTTP=0 stock clone -q --mirror "$url/r.git" copy.git &&
	test_same_repo srv/r.git copy.git
'

test_expect_success 'clone and fetch' '
	for v in 0 1 2
	do
		rm -rf copy.git short.git &&
		stock_client -v$v clone -q --mirror "$url/r.git" copy.git &&
		test_served_by_us &&
		test_same_repo srv/r.git copy.git &&
		stock_client -v$v clone -q --bare --depth=2 "$url/r.git" \
			short.git &&
		stock -C short.git fsck --full &&
		stock -C srv/r.git update-ref refs/heads/new-$v \
			$(echo new | stock -C srv/r.git commit-tree \
			-p main -p side "main^{tree}") &&
		stock_client -v$v -C copy.git fetch -q &&
		test_same_repo srv/r.git copy.git &&
		stock_client -v$v -C short.git fetch -q --unshallow &&
		stock -C short.git fsck --full || return 1
	done
'

test_expect_success 'a fetch with many haves is packed and split' '
	stock init -q --bare many.git &&
	for i in $(seq 1500)
	do
		echo "commit refs/heads/many" &&
		echo "committer A <a@b> $((1700000000 + i)) +0000" &&
		printf "data 0\n\n"
	done | stock -C many.git fast-import --quiet &&
	stock -C many.git fetch -q "$PWD/srv/r.git" &&
	for v in 0 2
	do
		rm -rf copy.git &&
		cp -r many.git copy.git &&
		stock -C srv/r.git update-ref refs/heads/far \
			$(echo far$v | stock -C srv/r.git commit-tree \
			-p main "main^{tree}") &&
		GIT_TRACE_CURL=$PWD/curl stock_client -v$v -C copy.git \
			fetch -q "$url/r.git" far &&
		stock -C copy.git fsck --full || return 1
	done &&
	grep -i "content-encoding: gzip" curl
'

test_expect_success 'push' '
	stock init -q --bare srv/push.git &&
	stock -C srv/push.git config core.logAllRefUpdates true &&
	test_must_fail stock -C srv/r.git push -q "$url/push.git" main &&
	stock -C srv/push.git config http.receivepack true &&
	for v in 0 1 2
	do
		stock_client -v$v -C srv/r.git push -q "$url/push.git" \
			main:refs/heads/main-$v &&
		test_served_by_us || return 1
	done &&
	# More than the client holds: sent in chunks, length unknown.
	stock -c http.postBuffer=1 -C srv/r.git push -q --mirror \
		"$url/push.git" &&
	test_same_repo srv/r.git srv/push.git &&
	stock -C srv/push.git log -g -1 --format=%gn:%ge main >actual &&
	echo "anonymous:anonymous@http.127.0.0.1" >expect &&
	test_cmp expect actual
'

test_expect_success 'hooks and reflogs get the authenticated user' '
	cat >srv/push.git/hooks/pre-receive <<-\EOF &&
	#!/bin/sh
	echo "$GIT_COMMITTER_NAME $GIT_COMMITTER_EMAIL $REMOTE_ADDR" >who
	EOF
	chmod +x srv/push.git/hooks/pre-receive &&
	who () {
		{
			pkt "$(printf %040d 0) $oid refs/heads/$1" F &&
			stock -C srv/r.git pack-objects --stdout </dev/null
		} >request &&
		shift &&
		cgi "$OURS" POST /push.git/git-receive-pack "" "$@" \
			CONTENT_TYPE=$RECEIVE-request <request >out
	} &&
	who a REMOTE_USER=me REMOTE_ADDR=192.0.2.1 &&
	echo "me me@http.192.0.2.1 192.0.2.1" >expect &&
	test_cmp expect srv/push.git/who &&
	stock -C srv/push.git log -g -1 --format=%gn:%ge a >actual &&
	echo "me:me@http.192.0.2.1" >expect &&
	test_cmp expect actual &&
	who b REMOTE_USER= REMOTE_ADDR= GIT_COMMITTER_EMAIL=x@y &&
	stock -C srv/push.git log -g -1 --format=%gn:%ge b >actual &&
	echo "anonymous:x@y" >expect &&
	test_cmp expect actual
'

test_expect_success 'a packed push' '
	{
		pkt "$(printf %040d 0) $oid refs/heads/packed" F &&
		stock -C srv/r.git pack-objects --stdout </dev/null
	} | gzip -c >request.gz &&
	cgi "$OURS" POST /push.git/git-receive-pack "" \
		CONTENT_TYPE=$RECEIVE-request HTTP_CONTENT_ENCODING=gzip \
		<request.gz >actual &&
	echo $oid >expect &&
	stock -C srv/push.git rev-parse packed >actual &&
	test_cmp expect actual
'

# ---- archives

# archive <variable>...: our answer to a request for an archive on standard input,
# without its headers, in `answer`.
archive () {
	cgi "$OURS" POST /r.git/git-upload-archive "" \
		CONTENT_TYPE=application/x-git-upload-archive-request "$@" \
		>actual
	archive_status=$?
	python3 -c "
import sys
sys.stdout.buffer.write(sys.stdin.buffer.read().split(b\"\\r\\n\\r\\n\", 1)[1])
" <actual >answer && return $archive_status
}

# As stock Git 2.55; Debian 12 has one that does not know the service.
test_expect_success 'archives are off by default' '
	pkt "argument main" F >request &&
	gzip -c <request >request.gz &&
	type=CONTENT_TYPE=application/x-git-upload-archive-request &&
	cat >requests <<-EOF &&
	403 POST /r.git/git-upload-archive "" $type <request
	405 GET /r.git/git-upload-archive
	403 GET /r.git/info/refs service=git-upload-archive
	EOF
	compare <requests &&
	stock -C srv/r.git config http.uploadArchive true &&
	cat >requests <<-EOF &&
	200 POST /r.git/git-upload-archive "" $type <request
	413 POST /r.git/git-upload-archive "" $type <request \
		GIT_HTTP_MAX_REQUEST_BUFFER=20
	415 POST /r.git/git-upload-archive "" CONTENT_TYPE=x <request
	405 GET /r.git/git-upload-archive
	403 GET /r.git/info/refs service=git-upload-archive
	EOF
	compare <requests
'

test_expect_success 'an archive over HTTP equals that of upload-archive' '
	stock upload-archive srv/r.git <request >expect &&
	archive GIT_PROTOCOL=version=2 <request &&
	test_cmp expect answer &&
	tr -d "\r" <actual >lines &&
	grep -a "^Content-Type: application/x-git-upload-archive-result$" \
		lines &&
	archive HTTP_CONTENT_ENCODING=gzip <request.gz &&
	test_cmp expect answer &&
	pkt "argument nothing" F >wrong &&
	test_must_fail archive <wrong 2>err &&
	grep -a "no such ref: nothing" answer
'

# What no ref reaches is not given away by a member of a network.
test_expect_success 'an archive of an unreachable object' '
	stock -C srv/r.git config uploadArchive.allowUnreachable true &&
	pkt "argument $(stock -C srv/r.git rev-parse main^{tree})" F >tree &&
	archive <tree &&
	grep -a ustar answer >/dev/null &&
	stock -C srv/r.git config gitreach.reachableOnly true &&
	test_must_fail archive <tree 2>err &&
	! grep -a ustar answer &&
	stock -C srv/r.git config --unset gitreach.reachableOnly
'

test_expect_success 'without a stock Git there are no archives' '
	archive GITREACH_FALLBACK=/none <request 2>err &&
	cat err &&
	grep -a "^Status: 500" actual
'

test_done
