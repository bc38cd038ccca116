# SPDX-License-Identifier: MIT
"""What random command lines are made of, from the manual pages.

COMMANDS[name] is (options, forms). A form is the rest of a command line, and
OPTIONS in it stands for some of the options. Words in <> are drawn by draw.py.
A form that ends with " < ..." has a standard input.
"""

LISTING = """--max-count=<n> -n<n> -<n> --skip=<n> --since=<date> --after=<date>
--until=<date> --before=<date> --max-age=<stamp> --min-age=<stamp>
--since-as-filter=<date> --author=<pattern> --committer=<pattern>
--grep=<pattern> --grep-reflog=<pattern> --all-match --invert-grep -i -E -F -P
--basic-regexp --remove-empty --merges --no-merges --min-parents=<n>
--max-parents=<n> --no-min-parents --no-max-parents --first-parent
--exclude-first-parent-only --not --all --branches --branches=<glob> --tags
--tags=<glob> --remotes --remotes=<glob> --glob=<glob> --exclude=<glob>
--exclude-hidden=<hidden> --reflog --alternate-refs --single-worktree
--ignore-missing --bisect --quiet --disk-usage --disk-usage=human
--cherry-mark --cherry-pick --left-only --right-only --cherry -g
--walk-reflogs --boundary --use-bitmap-index --progress=x
--simplify-by-decoration --show-pulls --full-history --dense --sparse
--simplify-merges --ancestry-path --ancestry-path=<rev> --bisect-vars
--bisect-all --date-order --author-date-order --topo-order --reverse --objects
--in-commit-order --objects-edge --objects-edge-aggressive --indexed-objects
--unpacked --object-names --no-object-names --filter=<filter> --no-filter
--filter-provided-objects --filter-print-omitted --missing=<missing>
--exclude-promisor-objects --no-walk --no-walk=<walk> --do-walk
--relative-date --date=<dateformat> --header --no-commit-header
--commit-header --parents --children --timestamp --left-right --graph --count
--oneline --abbrev-commit --abbrev=<n> --no-abbrev --format=<pretty>
--pretty=<pretty> --pretty --encoding=<encoding> --show-signature --full-diff
--test-bitmap --expand-tabs --notes --root --pretty=raw -v --merge
--stdin --end-of-options --show-linear-break --log-size"""

NEWER_LISTING = """-z --maximal-only --max-count-oldest=<n>
--graph-lane-limit=<n>"""

PARSING = """--revs-only --no-revs --flags --no-flags --default=<rev>
--prefix=<dir> --verify -q --quiet --sq --short --short=<n> --not
--abbrev-ref --abbrev-ref=<strict> --symbolic --symbolic-full-name --all
--branches --branches=<glob> --tags --tags=<glob> --remotes --remotes=<glob>
--glob=<glob> --exclude=<glob> --exclude-hidden=<hidden>
--disambiguate=<prefix> --local-env-vars --path-format=<pathformat> --git-dir
--git-common-dir --show-toplevel --show-superproject-working-tree
--shared-index-path --absolute-git-dir --is-inside-git-dir
--is-inside-work-tree --is-bare-repository --is-shallow-repository --show-cdup
--show-prefix --show-object-format --show-object-format=<where>
--since=<date> --after=<date> --until=<date> --before=<date> --max-age=<stamp>
--keep-dashdash --end-of-options -- --bisect --sq-quote"""

NEWER_PARSING = """--show-ref-format --output-object-format=<hash>
--show-object-format=compat"""

REFS = """--count=<n> --shell --perl --python --tcl --sort=<key> --sort=-<key>
--format=<format> --color --color=<when> --points-at=<rev> --merged
--merged=<rev> --no-merged --no-merged=<rev> --contains --contains=<rev>
--no-contains --no-contains=<rev> --ignore-case --omit-empty --exclude=<glob>
--stdin"""

COMMANDS = {
    "rev-list": (LISTING, [
        "OPTIONS <revs>", "OPTIONS <revs>", "OPTIONS <revs> OPTIONS",
        "OPTIONS <revs> -- <path>", "OPTIONS --all", "OPTIONS <range>",
        "OPTIONS <range>", "OPTIONS", "--objects OPTIONS <revs>",
        "--stdin OPTIONS < <revlines>", "OPTIONS --all -- <path> <path>",
        "--objects --filter=<filter> OPTIONS <revs>"]),
    "rev-parse": (PARSING, [
        "OPTIONS <rev>", "OPTIONS <rev>", "OPTIONS <revs>", "OPTIONS <range>",
        "OPTIONS", "--verify OPTIONS <rev>", "<rev> OPTIONS <revs>",
        "OPTIONS <path>", "OPTIONS <rev> -- <path>", "--git-path <gitpath>",
        "--resolve-git-dir <gitpath>", "OPTIONS <badrev>"]),
    "show-ref": ("""--head -d --dereference --tags --heads -s --hash
        --hash=<n> --abbrev --abbrev=<n> -q --verify --exclude-existing
        --exclude-existing=<glob> --""", [
            "OPTIONS", "OPTIONS <ref>", "OPTIONS <branch>",
            "--verify OPTIONS <ref>", "--verify OPTIONS <ref> <ref>",
            "--exclude-existing OPTIONS < <reflines>"]),
    "for-each-ref": (REFS, [
        "OPTIONS", "OPTIONS", "OPTIONS <refprefix>", "OPTIONS <glob>",
        "--format=<format> OPTIONS", "--format=<format> --sort=<key> OPTIONS",
        "--stdin OPTIONS < <reflines>"]),
    "cat-file": ("""-t -s -e -p --mailmap --no-mailmap --use-mailmap
        --batch-all-objects --buffer --unordered --follow-symlinks -z
        --allow-unknown-type""", [
            "-t <rev>", "-s <rev>", "-p <rev>", "-e <rev>", "<type> <rev>",
            "OPTIONS <rev>", "OPTIONS <type> <rev>", "OPTIONS <badrev>",
            "--batch OPTIONS < <revlines>", "--batch-check OPTIONS < <revlines>",
            "--batch-check --batch-all-objects OPTIONS",
            "--batch-check=<batchformat> OPTIONS < <revlines>",
            "--batch=<batchformat> --batch-all-objects OPTIONS",
            "--batch-command OPTIONS < <batchlines>",
            "--batch-command=<batchformat> OPTIONS < <batchlines>"]),
    "count-objects": ("-v -H --verbose --human-readable", ["OPTIONS"]),
    "symbolic-ref": ("-d --delete -q --quiet --short --no-recurse --recurse"
                     " -m <word>", [
                         "OPTIONS <ref>", "OPTIONS HEAD",
                         "OPTIONS <ref> <ref>", "OPTIONS HEAD <ref>"]),
    "update-ref": ("--no-deref --create-reflog -m <word> -d -z --stdin", [
        "OPTIONS <ref> <rev>", "OPTIONS <ref> <rev> <rev>",
        "-d OPTIONS <ref>", "-d OPTIONS <ref> <rev>",
        "OPTIONS HEAD <rev>", "--stdin OPTIONS < <refcommands>",
        "--stdin OPTIONS < <refcommands>", "OPTIONS <ref> <badrev>"]),
    "pack-refs": ("--all --no-prune --prune --no-all", ["OPTIONS"]),
    "reflog": ("--expire=<expiry> --expire-unreachable=<expiry> --all"
               " --updateref --rewrite --stale-fix -n --dry-run --verbose"
               " --single-worktree", [
                   "expire OPTIONS --all", "expire OPTIONS <ref>",
                   "delete OPTIONS <ref>@{<n>}", "exists <ref>",
                   "expire OPTIONS"]),
    "commit-graph": ("--reachable --append --changed-paths --split"
                     " --split=<split> --no-changed-paths --max-commits=<n>"
                     " --size-multiple=<n> --expire-time=<date>"
                     " --max-new-filters=<n> --stdin-commits --stdin-packs"
                     " --no-progress --object-dir=<gitpath> --shallow", [
                         "write OPTIONS", "write --reachable OPTIONS",
                         "verify OPTIONS", "write --stdin-commits OPTIONS"
                         " < <idlines>"]),
    "multi-pack-index": ("--bitmap --no-bitmap --preferred-pack=<word>"
                         " --no-progress --batch-size=<n> --stdin-packs"
                         " --refs-snapshot=<gitpath> --object-dir=<gitpath>", [
                             "write OPTIONS", "verify OPTIONS",
                             "expire OPTIONS", "repack OPTIONS",
                             "write --bitmap OPTIONS"]),
    "pack-objects": ("""-q --revs --unpacked --all --include-tag --reflog
        --indexed-objects --window=<n> --depth=<n> --window-memory=<size>
        --max-pack-size=<size> --honor-pack-keep --incremental --local
        --non-empty --no-reuse-delta --no-reuse-object --compression=<n>
        --sparse --no-sparse --thin --shallow --delta-base-offset --threads=<n>
        --index-version=<n> --filter=<filter> --no-filter --missing=<missing>
        --exclude-promisor-objects --keep-unreachable --pack-loose-unreachable
        --unpack-unreachable --delta-islands --use-bitmap-index
        --no-use-bitmap-index --write-bitmap-index --progress""", [
            "--stdout OPTIONS < <idlines>", "--revs --stdout OPTIONS"
            " < <revlines>", "--all --stdout OPTIONS",
            "-q OPTIONS $ROOT/new < <idlines>", "-q --revs OPTIONS $ROOT/new"
            " < <revlines>", "--all -q OPTIONS $ROOT/new",
            "--cruft --cruft-expiration=<expiry> -q OPTIONS $ROOT/new <"
            " <packlines>"]),
    "repack": ("""-a -A -d --cruft --cruft-expiration=<expiry>
        --max-cruft-size=<size> -l -f -F -q -n --window=<n> --depth=<n>
        --threads=<n> --window-memory=<size> --max-pack-size=<size> -b
        --write-bitmap-index --no-write-bitmap-index --pack-kept-objects
        --keep-pack=<word> --unpack-unreachable=<expiry> -k
        --keep-unreachable -i --delta-islands -g<n> --geometric=<n> -m
        --write-midx --filter=<filter> --expire-to=$ROOT/to""", [
            "OPTIONS -q", "-ad OPTIONS -q", "-Ad OPTIONS -q", "-d OPTIONS -q",
            "--cruft -d OPTIONS -q", "-d --geometric=2 OPTIONS -q"]),
    "gc": ("""--aggressive --auto --no-detach --cruft --no-cruft
        --max-cruft-size=<size> --prune=<expiry> --no-prune --quiet --force
        --keep-largest-pack""", ["OPTIONS -q"]),
    "prune": ("-n --dry-run -v --verbose --expire=<expiry> --progress"
              " --exclude-promisor-objects", [
                  "OPTIONS", "OPTIONS <rev>", "-n OPTIONS"]),
    "prune-packed": ("-n --dry-run -q --quiet", ["OPTIONS"]),
    "fsck": ("""--unreachable --dangling --no-dangling --root --tags --cache
        --no-reflogs --full --no-full --connectivity-only --strict --verbose
        --lost-found --name-objects --no-progress""", [
            "OPTIONS", "OPTIONS", "OPTIONS <rev>"]),
    "verify-pack": ("-v -s --verbose --stat-only",
                    ["OPTIONS <packfile>", "OPTIONS <packfile> <packfile>"]),
    "hash-object": ("-t <type> -w --stdin --stdin-paths --path=<path>"
                    " --no-filters --literally", [
                        "--stdin OPTIONS < <content>",
                        "-w --stdin OPTIONS < <content>", "OPTIONS <path>",
                        "-t <type> --stdin OPTIONS < <content>",
                        "--stdin-paths OPTIONS < <pathlines>"]),
    "bundle": ("--quiet -q --version=<n> --no-progress --progress --all"
               " --branches --tags --since=<date> -<n> --all-progress"
               " --filter=<filter>", [
                   "create OPTIONS - <revs>", "create OPTIONS $ROOT/b --all",
                   "create OPTIONS $ROOT/b <range>",
                   "create -q OPTIONS $ROOT/b <revs>"]),
    "init": ("-q --quiet --bare --object-format=<hash> --template= -b <branch>"
             " --initial-branch=<branch> --shared --shared=<shared>"
             " --separate-git-dir=$ROOT/sep", [
                 "--template= OPTIONS", "--template= OPTIONS $ROOT/new",
                 "--template= OPTIONS new"]),
    "show-index": ("--object-format=<hash>", ["OPTIONS < <content>"]),
    "receive-pack": ("--http-backend-info-refs --advertise-refs"
                     " --stateless-rpc --skip-connectivity-check --quiet", [
                         "--http-backend-info-refs OPTIONS .",
                         "--stateless-rpc OPTIONS . < <pushlines>"]),
    "upload-pack": ("--strict --no-strict --timeout=<n> --stateless-rpc"
                    " --http-backend-info-refs --advertise-refs", [
                        "--http-backend-info-refs OPTIONS .",
                        "--stateless-rpc OPTIONS . < <wantlines>"]),
    "version": ("--build-options", ["OPTIONS"]),
    "maintenance": ("--auto --quiet --task=<task>", ["run OPTIONS -q"]),
}

NEWER = {
    "rev-list": ((2, 50), NEWER_LISTING, []),
    "rev-parse": ((2, 50), NEWER_PARSING, []),
    "for-each-ref": ((2, 50), "--include-root-refs --start-after=<ref>", []),
    "show-ref": ((2, 46), "--branches", ["--exists OPTIONS <ref>"]),
    "symbolic-ref": ((2, 46), "", []),
    "update-ref": ((2, 50), "--batch-updates", []),
    "pack-refs": ((2, 46), "--auto --include=<glob> --exclude=<glob>", []),
    "reflog": ((2, 51), "", ["list", "drop OPTIONS <ref>", "drop --all",
                             "write <ref> <id> <id> <word>"]),
    "pack-objects": ((2, 51), "--path-walk --name-hash-version=<n>", []),
    "repack": ((2, 51), "--combine-cruft-below-size=<size>"
               " --name-hash-version=<n> --path-walk", []),
    "fsck": ((2, 50), "--no-references --references", []),
    "refs": ((2, 51), REFS, ["verify", "verify --strict", "verify --verbose",
                             "list OPTIONS", "exists <ref>",
                             "optimize --all", "migrate --ref-format=files"]),
    "cat-file": ((2, 50), "-Z --filter=<filter> --no-filter",
                 ["--batch-command -Z < <batchlines>"]),
}

CONFIG = """core.abbrev=<n> core.logAllRefUpdates=<bool> core.warnAmbiguousRefs=false
core.commitGraph=<bool> core.multiPackIndex=<bool> core.compression=<n>
core.looseCompression=<n> core.sharedRepository=<shared> core.quotePath=false
core.bigFileThreshold=<size> core.deltaBaseCacheLimit=<size>
core.packedGitWindowSize=<size> core.useReplaceRefs=<bool> core.ignoreCase=true
core.preferSymlinkRefs=<bool> core.disambiguate=<type> core.fsync=<word>
pack.window=<n> pack.depth=<n> pack.compression=<n> pack.threads=<n>
pack.indexVersion=<n> pack.packSizeLimit=<size> pack.useBitmaps=<bool>
pack.writeBitmapHashCache=<bool> pack.writeReverseIndex=<bool>
pack.useSparse=<bool> pack.island=<glob> pack.preferBitmapTips=<refprefix>
repack.writeBitmaps=<bool> repack.packKeptObjects=<bool>
repack.useDeltaBaseOffset=<bool> repack.cruftWindow=<n>
gc.cruftPacks=<bool> gc.pruneExpire=<expiry> gc.reflogExpire=<expiry>
gc.reflogExpireUnreachable=<expiry> gc.packRefs=<bool> gc.writeCommitGraph=<bool>
gc.bigPackThreshold=<size> gc.worktreePruneExpire=<expiry> gc.auto=<n>
commitGraph.generationVersion=<n> commitGraph.readChangedPaths=<bool>
commitGraph.maxNewFilters=<n> transfer.hideRefs=<refprefix>
receive.hideRefs=<refprefix> uploadpack.hideRefs=<refprefix>
uploadpack.allowFilter=<bool> uploadpack.allowAnySHA1InWant=<bool>
receive.denyDeletes=<bool> receive.denyNonFastForwards=<bool>
receive.fsckObjects=<bool> transfer.fsckObjects=<bool>
fsck.missingEmail=ignore fsck.zeroPaddedFilemode=<severity>
log.date=<dateformat> log.showSignature=<bool> log.excludeDecoration=<glob>
i18n.logOutputEncoding=<encoding> color.ui=<when> init.defaultBranch=<branch>
log.mailmap=<bool> versionsort.suffix=-rc user.name= x.y=z nokey"""

ENVIRONMENTS = """GIT_NAMESPACE=one GIT_NAMESPACE=nothing
GIT_NO_REPLACE_OBJECTS=1 GIT_REF_PARANOIA=0 GIT_REF_PARANOIA=1
GIT_OBJECT_DIRECTORY=nothing GIT_ALTERNATE_OBJECT_DIRECTORIES=$ROOT/lender.git/objects
GIT_INDEX_FILE=nothing GIT_LITERAL_PATHSPECS=1 GIT_GLOB_PATHSPECS=1
GIT_ICASE_PATHSPECS=1 GIT_NO_LAZY_FETCH=1 GIT_REPLACE_REF_BASE=refs/other
GIT_GRAFT_FILE=nothing GIT_SHALLOW_FILE=nothing GIT_ATTR_SOURCE=main
GIT_PROTOCOL=version=1 GIT_PROTOCOL=version=2 GIT_DEFAULT_HASH=sha256
GIT_COMMITTER_DATE=bad GIT_COMMITTER_NAME= GIT_REFLOG_ACTION=acting
GIT_OPTIONAL_LOCKS=0 TZ=Asia/Tokyo"""

GLOBAL = """--no-replace-objects --bare --git-dir=. --git-dir=.git
--namespace=one --literal-pathspecs --glob-pathspecs --icase-pathspecs
--no-optional-locks --no-lazy-fetch -P --work-tree=. -C."""

WORDS = {
    "n": "0 1 2 3 5 7 12 40 100 1 2 3 -1 x 1k 99999999999 +2 ''",
    "date": "2005-04-08 now yesterday 1112912200 2020-01-01T00:00:00Z never"
            " 0 2005-04-07.22:20:00 garbage 10.minutes.ago @1112912300 1.week",
    "stamp": "1112912200 0 1112912500 99999999999 x",
    "pattern": "commit main 'on main' ^merge '[' author A Mitter x|y '\\(m\\)'"
               " 'm.*e' '' body",
    "glob": "'*' main 'm*' 'refs/heads/*' heads refs/heads 'refs/tags/v*' 'v?.0'"
            " 'origin/*' '[' 'refs/heads/s*de' '' refs/ '*/main' '**/main'",
    "hidden": "fetch receive uploadpack x",
    "filter": "blob:none blob:limit=10 blob:limit=1k tree:0 tree:1 tree:2"
              " object:type=commit object:type=tag object:type=blob"
              " object:type=tree sparse:oid=main:sparse combine:blob:none+tree:2"
              " sparse:path=x x blob:limit=x tree:-1 combine: object:type=x"
              " combine:tree:1+object:type=tree",
    "missing": "error allow-any allow-promisor print x print-info",
    "walk": "sorted unsorted x",
    "dateformat": "iso raw unix short relative local rfc default human"
                  " iso-strict format:%Y format-local:%H:%M iso-local raw-local x"
                  " format:",
    "encoding": "UTF-8 ISO-8859-1 none x",
    "strict": "strict loose x",
    "pathformat": "absolute relative x",
    "where": "storage input output x",
    "hash": "sha1 sha256 x",
    "when": "always never auto x",
    "type": "commit tree blob tag x",
    "bool": "true false yes 0 x ''",
    "size": "0 1 10 100 1k 1m x -1",
    "expiry": "now never all 2005-04-08 2.weeks.ago 0 90 1 false garbage"
              " 2030-01-01 '' 01-01-1980",
    "split": "no-merge replace x append",
    "shared": "true false umask group all world 0640 0660 0777 x 2 0",
    "severity": "ignore warn error x",
    "task": "gc commit-graph loose-objects incremental-repack pack-refs prefetch"
            " x",
    "word": "word 'two words' '' -x pack-x.pack 'line\nbreak'",
    "path": "a dir dir/b nothing . dir/ '*' ':(top)a' ':!a' ':(icase)A' '' big"
            " './a' ':/' 'di?' ':(glob)**/b' ':(exclude)dir' ':(bad)x' d d/e",
    "dir": "dir/ dir nothing/ ''",
    "gitpath": "objects refs config . .git HEAD hooks ../repo nothing logs/HEAD"
               " index objects/pack",
    "branch": "main side topic alone link origin/main v1.0 nothing a..b HEAD"
              " main.lock -x",
    "refprefix": "refs/heads refs/tags refs/heads/ refs refs/remotes/origin"
                 " refs/nothing refs/heads/main",
    "packfile": "nothing objects/pack/pack-x.idx $PACK $PACK $PACK.idx"
                " $PACK.pack",
}

REFS_FULL = """refs/heads/main refs/heads/side refs/heads/topic refs/heads/alone
refs/heads/link refs/tags/v1.0 refs/tags/nested refs/tags/of-tree
refs/tags/light refs/tags/light-blob refs/remotes/origin/main
refs/remotes/origin/HEAD refs/notes/commits HEAD ORIG_HEAD FETCH_HEAD
MERGE_HEAD refs/heads/new refs/heads/new/deep refs/heads/main/under
refs/heads/a..b refs/heads/x.lock refs/stash refs/odd/one main bad..name
refs/namespaces/one/refs/heads/main refs/worktree/own
worktrees/second/HEAD main-worktree/HEAD refs/replace/x @ '' refs/heads/
refs/heads/directory refs/heads/dangling refs/heads/symlink"""

REV_BASES = """main side topic alone link v1.0 nested nested2 of-tree of-blob light
light-tree HEAD HEAD @ origin/main origin refs/heads/main heads/side
ORIG_HEAD FETCH_HEAD v2.0 tags/v1.0 main main"""

REV_ENDS = """~1 ~2 ^ ^2 ^3 ~1^2 ^0 ^{} ^{commit} ^{tree} ^{tag} ^{object}
@{0} @{1} ^{blob} ^{/commit} @{upstream} @{u} @{push} @{now}
:a :dir :dir/b :nothing : ^! ^@ ^- ^-2 ~40 ^9 @{9} ~0 ~ ^{/nothing}
@{yesterday} ^{tree}:dir ^{} ^{commit}~1 ^{tree} @{-1}"""

BAD_REVS = """nothing '' a..b.. ^ .. ... 'main^{x}' main^{ 'main@{x}' main@{-1}
:0:a :1:a :nothing :/commit ':/!-x' :/nothing @{-1} @{u} deadbeef 0000 main:
:dir/b ./a :./a main:./a main:../x main~x main^x 'v1.0-1-g12' v1.0-0-gabcd
1234567890123456789012345678901234567890 '*' --x -- main^{/x HEAD@{0 ^main
main..nothing nothing...main ':(top)' main.. ..main ...main main^!^! @ @@{0}"""

REF_ATOMS = """refname refname:short refname:lstrip=1 refname:rstrip=-1
refname:strip=2 objecttype objectsize objectsize:disk objectname
objectname:short objectname:short=5 deltabase HEAD upstream upstream:short
upstream:track upstream:track,nobracket upstream:trackshort upstream:remotename
upstream:remoteref push push:short symref symref:short worktreepath tree parent
numparent object type tag author authorname authoremail authoremail:trim
authoremail:localpart authordate authordate:short authordate:iso8601
authordate:relative authordate:format:%Y committer committername
committerdate:unix committerdate taggername taggerdate tagger creator
creatordate creatordate:raw subject subject:sanitize body contents
contents:size contents:subject contents:body contents:signature
contents:lines=1 trailers trailers:key=x raw raw:size *objectname *objecttype
*refname *tree *subject *authorname color:red color:reset align:10 end if then
else if:equals=x if:notequals=main describe ahead-behind:main is-base:main
signature signature:grade flag x authorname:mailmap *contents:size
describe:tags=1 rest"""

SORT_KEYS = """refname -refname objectname objecttype objectsize version:refname
v:refname authordate committerdate creatordate taggerdate -creatordate subject
*objectname numparent upstream HEAD x authorname raw contents:size
refname:short symref -version:refname creatordate:raw"""

PRETTY = """oneline short medium full fuller reference raw email mboxrd
'%H' '%h %s' '%an %ae' '%P' '%T' '%ad' 'format:%H %ct' 'tformat:%h' '%x00%H'
'%d' '%D' '%G?' '%n' '%%' '%q' '%N' '%gd %gs' '%b' '%B' '%<(10)%s|'
'%>(12,trunc)%s' '%C(red)%h%Creset' '%m' '%w(20)%b' '%(trailers)' '%e' '%f'
'%S' '%(describe)' x '' '%+b' '%-b' '% s' '%aI' '%as' '%al' '%aN' '%(decorate)'
'%ch' '%cs'"""

BATCH_ATOMS = """%(objectname) %(objecttype) %(objectsize) %(objectsize:disk)
%(deltabase) %(rest) %(objectname:short) %(objectmode) %(x) x %% %n"""
