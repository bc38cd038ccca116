# gitreach: see README.md.
#
# Works as it is, asking pkg-config for the libraries, or after ./configure
# (`make configure` writes that script), which settles the same variables in
# config.mak. Goals:
#
#	all		./git and its names, the static and the shared library
#	lib, unit	the static library; the unit tests
#	test		all tests, through prove (TESTS="..." for some of them)
#	test-unit	the unit tests and the fuzz targets on their corpora
#	test-rotation	a part of the tests with a sanitizer, see tools/rotation
#	check		the rules of the tree, see tools/
#	coverage	lines and branches of the library that the tests execute;
#			SCRIPTS=no runs only compiled tests
#	mutants		whether the tests of ROOM="..." notice small bugs
#	fuzz		fuzz targets for libFuzzer, with clang
#	fuzz-all	runs them: TIME=seconds or RUNS=, TARGETS="..."
#	fuzz-merge	copies the best small inputs of these runs to t/fuzz/corpus
#	install, uninstall	prefix=, DESTDIR=
#	guide		the guide for operators as HTML, in $O/guide
#	dist		build/gitreach-<version>.tar.gz of the commit HEAD
#	demo		the main job on a real or a generated repository
#
# Variables: DEBUG=1, SANITIZE=address,undefined or thread, LIBDEFLATE=0,
# STATIC_LIBS=, VERBOSE=1. Each kind of build has a directory of its own.
-include config.mak

CC ?= cc
AR ?= ar
OBJCOPY ?= objcopy
CFLAGS ?= -O2 -g
PKG_CONFIG ?= pkg-config
LIBDEFLATE ?= 1
prefix ?= /usr/local
exec_prefix ?= $(prefix)
bindir ?= $(exec_prefix)/bin
libdir ?= $(exec_prefix)/lib
libexecdir ?= $(exec_prefix)/libexec
includedir ?= $(prefix)/include
datarootdir ?= $(prefix)/share
mandir ?= $(datarootdir)/man
docdir ?= $(datarootdir)/doc/gitreach
bashcompdir ?= $(datarootdir)/bash-completion/completions
zshcompdir ?= $(datarootdir)/zsh/site-functions
unitdir ?= $(prefix)/lib/systemd/system
sysusersdir ?= $(prefix)/lib/sysusers.d
tmpfilesdir ?= $(prefix)/lib/tmpfiles.d
# A drop-in reads the system configuration that the stock Git reads.
execdir = $(libexecdir)/gitreach-core
JOBS ?= 2

comma := ,
V := $(if $(VERBOSE),,@)
O := build$(if $(SANITIZE),-$(subst $(comma),-,$(SANITIZE)))$(if \
	$(DEBUG),-debug)$(if $(COVERAGE),-coverage)
version := $(shell sed -n \
	's/.define GITREACH_VERSION "\(.*\)"/\1/p' include/gitreach.h)

# ---- what there is to build

rooms = base sys metrics admission ewah object pack reftable config store access \
	generations indexer repo odb prepared refs refs-write graph names trees \
	walk graph-write simplify check bitmap islands deltas packing packs wire plans \
	midx publish status repack network stored copies serve receive http1 http \
	daemon processes libgitreach
lib_src := $(wildcard $(addsuffix /*.c,$(rooms)) pack-bitmap*.c)
builtin_src := $(wildcard builtin/*.c)
unit_src := $(wildcard t/unit/test-*.c)
helper_src := $(wildcard t/helper/*.c)
fuzz_src := $(wildcard t/fuzz/fuzz-*.c)
headers := $(wildcard $(addsuffix /*.h,$(rooms) builtin include) *.h)
command_tests := $(wildcard t/interop/*.sh t/t[0-9][0-9][0-9][0-9]-*.sh)
man_pages := $(wildcard Documentation/*.[1-9])

lib_obj := $(lib_src:%.c=$O/%.o)
builtin_obj := $(builtin_src:%.c=$O/%.o)
unit_bin := $(unit_src:%.c=$O/%)
# Libraries for LD_PRELOAD, and programs.
preload_src := $(wildcard t/helper/preload-*.c)
helper_bin := $(patsubst %.c,$O/%,$(filter-out $(preload_src),$(helper_src))) \
	$(preload_src:%.c=$O/%.so)
fuzz_bin := $(fuzz_src:t/fuzz/fuzz-%.c=$O/t/fuzz/replay-%)
git_names = git-upload-pack git-receive-pack git-upload-archive gitreachd
# The commands that are ours: what defines cmd_*().
commands := $(shell grep -hoE '^int cmd_[a-z_]+' $(builtin_src) /dev/null | \
	sed 's/^int cmd_//' | tr _ - | sort)
static_lib := $O/libgitreach.a
# The same with internal names, for the commands and the tests.
inner_lib := $O/libinner.a
# The commands without main(), for unit tests of their common parts.
builtin_lib := $O/libbuiltin.a
abi := $(shell sed -n \
	's/.define GITREACH_ABI_VERSION //p' include/gitreach.h)
soname := libgitreach.so.$(abi)
shared_lib := $O/libgitreach.so.$(version)
programs := $(if $(wildcard builtin/git.c),$O/bin/git)

# ---- machine and libraries: one line that names what is wrong, before all else

building := $(filter-out clean distclean uninstall configure format \
	print-packages print-commands demo dist guide,$(or $(MAKECMDGOALS),all))
ifneq ($(building),)
unsupported := $(shell CC='$(CC)' CFLAGS='$(CFLAGS)' tools/machine)
ifneq ($(unsupported),)
$(error $(unsupported))
endif
libs_env := PKG_CONFIG='$(PKG_CONFIG)' LIBDEFLATE='$(LIBDEFLATE)'
missing := $(shell $(libs_env) tools/libs missing \
	$(if $(filter unit test check,$(building)),dev))
ifneq ($(missing),)
$(error $(missing))
endif
dep_cflags := $(shell $(libs_env) tools/libs cflags)
dep_libs := $(shell $(libs_env) tools/libs libs)
endif

# Loading a shared library costs each start of the program a twentieth of a small
# request, libcrypto with its many relocations far more. Of these, which see no
# byte of a peer but to hash it, the program holds what it needs; of what is left
# out here, or has no archive, the shared one is loaded. Directories that are
# named (-L) come first, as for the linker: the headers are of the same library.
# With "c" the program holds the C library and all others: nothing is loaded.
STATIC_LIBS ?= crypto pcre2-8
static_flag = $(if $(SANITIZE),,$(if $(filter c,$(STATIC_LIBS)),-static))
lib_dirs = $(patsubst -L%,%,$(filter -L%,$(LDFLAGS) $(dep_libs)))
archive = $(filter %.a,$(firstword $(wildcard $(foreach \
	d,$(lib_dirs),$d/lib$(1).a $d/lib$(1).so)) $(filter /%,$(shell \
	$(CC) -print-file-name=lib$(1).a))))
static_lib_of = $(if $(filter $(1),$(STATIC_LIBS:%=-l%)),$(call \
	archive,$(1:-l%=%)))
program_libs = $(foreach l,$(dep_libs),$(or $(call static_lib_of,$l),$l))

# ---- flags

std_cflags = -std=c11 -D_GNU_SOURCE -I. -fPIC -fvisibility=hidden -pthread \
	-Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
	-Wpointer-arith -Wwrite-strings -Wno-unused-parameter \
	-fno-strict-aliasing
# Counters of lines are atomic, because threads share them.
san_flags = $(if $(SANITIZE),-fsanitize=$(SANITIZE) \
	-fno-sanitize-recover=all -fno-omit-frame-pointer)$(if \
	$(COVERAGE),--coverage -fprofile-update=atomic)
debug_flags = $(if $(DEBUG),-O0 -g3)
all_cflags = $(std_cflags) $(CFLAGS) $(debug_flags) $(san_flags) $(dep_cflags)
all_ldflags = -pthread -Wl,--as-needed $(san_flags) $(LDFLAGS)
# Tests spend their time in the library. Optimizing their own code took as long
# as compiling the whole library; so did the checks of their own arithmetic.
test_flags = $(all_cflags) $(all_ldflags) -O0 -U_FORTIFY_SOURCE $(if $(findstring \
	undefined,$(SANITIZE)),-fno-sanitize=$(subst $() ,$(comma),null alignment \
	object-size pointer-overflow bounds signed-integer-overflow shift))
path_flags = -DGITREACH_EXEC_DIR='"$(execdir)"' \
	-DGITREACH_MAN_DIR='"$(mandir)"' -DGITREACH_PREFIX='"$(prefix)"'
# The table of commands: COMMAND(cat_file) COMMAND(count_objects) ...
command_flags = -DGITREACH_COMMANDS='$(foreach c,$(commands),COMMAND($(subst \
	-,_,$c)))'
fuzz_ldflags := -fsanitize=fuzzer
# gold links a test with sanitizers in a third of the time of ld.
gold = $(if $(shell command -v ld.gold),-fuse-ld=gold)
# clang generates code when it links; GCC has to be told.
lto_flag = $(if $(findstring -flto,$(CC) $(CFLAGS)),$(shell \
	$(CC) -dM -E -x c /dev/null | grep -q __clang__ || \
	echo -flinker-output=nolto-rel))

all: git lib shared
lib: $(static_lib)
shared: $(shared_lib)
unit: $(unit_bin) $(helper_bin)
git: $(programs) $O/share/man

# ---- compiling and linking

# Files that change when the flags do; what was built with others is rebuilt.
record = mkdir -p $(@D) && printf '%s\n' '$(subst ','\'',$(1))' | \
	cmp -s - $@ || printf '%s\n' '$(subst ','\'',$(1))' >$@
$O/flags: FORCE
	@$(call record,$(CC) $(all_cflags) $(all_ldflags) $(dep_libs))
$O/paths: FORCE
	@$(call record,$(path_flags))
$O/libs: FORCE
	@$(call record,$(static_flag) $(program_libs))
$O/commands: FORCE
	@$(call record,$(command_flags))

$O/%.o: %.c $O/flags
	@mkdir -p $(@D)
	$V$(CC) $(all_cflags) $(CPPFLAGS) -MMD -MP -c -o $@ $<

path_obj := $O/builtin/exec-path.o $O/config/config.o
$(path_obj): CPPFLAGS += $(path_flags)
$(path_obj): $O/paths
$O/builtin/git.o: CPPFLAGS += $(command_flags)
$O/builtin/git.o: $O/commands

$(inner_lib): $(lib_obj)
	$Vrm -f $@ && $(AR) rcs $@ $^

# One object, so that internal names need not be global. With link-time
# optimization, machine code is generated here, as objcopy reads nothing else.
$(static_lib): $(lib_obj) Makefile
	$V$(CC) $(CFLAGS) $(debug_flags) $(lto_flag) -r -nostdlib \
		-o $O/libgitreach.o $(lib_obj)
	$V$(OBJCOPY) --localize-hidden $O/libgitreach.o
	$Vrm -f $@ && $(AR) rcs $@ $O/libgitreach.o

$(builtin_lib): $(filter-out $O/builtin/git.o,$(builtin_obj))
	$Vrm -f $@ && $(AR) rcs $@ $^

$(shared_lib): $(lib_obj)
	$V$(CC) $(all_cflags) $(all_ldflags) -shared -Wl,-soname,$(soname) \
		$(if $(SANITIZE),,-Wl,--no-undefined) -o $@ $^ $(dep_libs)
	$Vln -sf $(@F) $O/$(soname) && ln -sf $(soname) $O/libgitreach.so

# $O/bin holds the program under its names; the plain build has them at the
# top as well. $O/exec is an exec-path directory laid out as if installed. The
# linker writes its output in pieces, which Linux keeps page by page; of a copy it
# keeps larger parts, and maps them so: each start is a twentieth cheaper.
$O/bin/git: $(builtin_obj) $(inner_lib) $O/libs
	@mkdir -p $(@D)
	$V$(CC) $(all_cflags) $(all_ldflags) $(static_flag) -o $@.linked \
		$(builtin_obj) $(inner_lib) $(program_libs)
	$Vcp $@.linked $@.new && rm -f $@.linked && mv -f $@.new $@
	$Vfor n in $(git_names); do ln -sf git $O/bin/$$n || exit 1; done
	$VDESTDIR= tools/exec-dir '$(CURDIR)/$O/exec' '$(CURDIR)/$O/bin/git' $(commands)
ifeq ($O,build)
	$Vln -f $O/bin/git git || cp $O/bin/git git
	$Vfor n in $(git_names); do ln -sf git $$n || exit 1; done
endif

# The manual pages, laid out as if installed: `git help` shows them.
$O/share/man: $(man_pages)
	$Vrm -rf $@ && for p in $^; do \
		mkdir -p $@/man$${p##*.} && \
		ln -s '$(CURDIR)'/$$p $@/man$${p##*.}/ || exit 1; done

$O/t/unit/test-%: t/unit/test-%.c $(builtin_lib) $(inner_lib)
	@mkdir -p $(@D)
	$V$(CC) $(test_flags) -MMD -MP -o $@ $< \
		$(builtin_lib) $(inner_lib) $(dep_libs) -lcmocka

# The public interface is tested as programs get it: through the shared library.
# The static one makes the repositories.
$O/t/unit/test-libgitreach-%: t/unit/test-libgitreach-%.c $(shared_lib) $(inner_lib)
	@mkdir -p $(@D)
	$V$(CC) $(test_flags) -MMD -MP -o $@ $< \
		$(shared_lib) $(inner_lib) $(dep_libs) -lcmocka \
		-Wl,-rpath,'$(CURDIR)/$O'

$O/t/helper/%: t/helper/%.c $(inner_lib)
	@mkdir -p $(@D)
	$V$(CC) $(all_cflags) $(all_ldflags) -MMD -MP -o $@ $< $(inner_lib) \
		$(dep_libs)

$O/t/helper/%.so: t/helper/%.c $O/flags
	@mkdir -p $(@D)
	$V$(CC) $(std_cflags) $(CFLAGS) -shared -MMD -MP -o $@ $<

$O/t/fuzz/replay-%: t/fuzz/fuzz-%.c $O/t/fuzz/replay.o $(inner_lib)
	@mkdir -p $(@D)
	$V$(CC) $(test_flags) -MMD -MP -o $@ $< \
		$O/t/fuzz/replay.o $(inner_lib) $(dep_libs)

$O/t/fuzz/fuzz-%: t/fuzz/fuzz-%.c $(inner_lib)
	@mkdir -p $(@D)
	$V$(CC) $(all_cflags) $(all_ldflags) $(fuzz_ldflags) -MMD -MP -o $@ $< \
		$(inner_lib) $(dep_libs)

# ---- tests

# The long ones come first, so that no processor waits for the last test.
TESTS = $(command_tests) $(fuzz_bin) $(unit_bin)
# Sanitizers: a too large allocation is NULL, as it is without them.
test_env = CMOCKA_MESSAGE_OUTPUT=TAP GITREACH_BUILD='$(CURDIR)/$O' \
	ASAN_OPTIONS=allocator_may_return_null=1 UBSAN_OPTIONS=print_stacktrace=1 \
	TSAN_OPTIONS=allocator_may_return_null=1
test: all $(filter $(unit_bin) $(fuzz_bin),$(TESTS)) $(helper_bin)
	$V$(test_env) tools/scratch prove --timer -j$(JOBS) $(TESTS)

# UNITS="t/unit/test-name ...": some of them.
unit_tests = $(or $(UNITS:%=$O/%),$(unit_bin) $(fuzz_bin))
test-unit: $(unit_tests)
	$V$(test_env) tools/scratch prove -j$(JOBS) $(unit_tests)

# A part of the tests with a sanitizer, which the commit or TURN=<n> chooses.
test-rotation:
	$VMAKE='$(MAKE)' TURN='$(TURN)' tools/rotation

# The counters are files that a process writes when it ends. Tests that count system
# calls with strace would count those of the counters.
coverage_scripts = $(if $(filter no,$(SCRIPTS)),,$(shell grep -L \
	'lib-strace' $(command_tests)))
coverage:
	$V$(MAKE) COVERAGE=1 CFLAGS='-Og -g1' LDFLAGS='$(gold)' coverage-run
coverage-run: all $(unit_bin) $(fuzz_bin) $(helper_bin)
	$Vfind $O -name '*.gcda' -delete
	-$V$(test_env) tools/scratch prove -j$(JOBS) $(coverage_scripts) \
		$(fuzz_bin) $(unit_bin)
	$Vtools/coverage $O

# clang's libFuzzer wants the library instrumented as well.
FUZZ_CC = $(notdir $(firstword $(shell command -v clang || command -v clang-14)))
FUZZ_CFLAGS = -O1 -g1
fuzz_sanitize = fuzzer-no-link,address,undefined
fuzz:
	$(if $(FUZZ_CC),,@echo \
		'gitreach: clang is missing (apt-get install clang)' >&2; exit 1)
	$V$(MAKE) CC=$(FUZZ_CC) CFLAGS='$(FUZZ_CFLAGS)' \
		SANITIZE=$(fuzz_sanitize) fuzz-targets
fuzz-targets: $(fuzz_src:%.c=$O/%)

# New inputs are kept outside of the tree, so that `make clean` and git leave them.
FUZZ_CORPUS ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/gitreach/fuzz
fuzz_tool = BUILD='build-$(subst $(comma),-,$(fuzz_sanitize))' tools/fuzz
fuzz-all: fuzz
	$V$(fuzz_tool) run --jobs $(JOBS) --corpus '$(FUZZ_CORPUS)' \
		$(TIME:%=--time %) $(RUNS:%=--runs %) $(TARGETS)
fuzz-merge: fuzz
	$V$(fuzz_tool) merge --corpus '$(FUZZ_CORPUS)' \
		$(BUDGET:%=--budget %) $(TARGETS)

check: $(lib_obj) $(builtin_obj) $(shared_lib)
	$VCC='$(CC)' CHECK_CFLAGS="$$(cat $O/flags | sed 's|^$(CC) ||')" \
		BUILD='$O' tools/check $(CHECKS)

# Small changes of a room's code, tried on its tests: ROOM=, SEED=, MUTANTS=.
mutants: all $(builtin_lib) $(helper_bin) $O/t/fuzz/replay.o
	$VCC='$(CC)' BUILD='$O' \
		CFLAGS='$(subst ','\'',$(all_cflags) $(CPPFLAGS) $(path_flags))' \
		LDFLAGS='$(all_ldflags)' LIBS='$(dep_libs)' \
		PYTHONDONTWRITEBYTECODE=1 tools/mutants --jobs $(JOBS) \
		$(SEED:%=--seed %) $(MUTANTS:%=--number %) \
		$(if $(filter no,$(SCRIPTS)),--no-scripts) $(ROOM)

format:
	clang-format -i $(lib_src) $(builtin_src) $(headers) \
		$(wildcard t/*/*.[ch] Documentation/examples/*.c)

# ---- installing

install: all
	$VDESTDIR='$(DESTDIR)' BUILD='$O' VERSION='$(version)' \
	SONAME='$(soname)' \
	bindir='$(bindir)' libdir='$(libdir)' includedir='$(includedir)' \
	execdir='$(execdir)' mandir='$(mandir)' prefix='$(prefix)' \
	bashcompdir='$(bashcompdir)' zshcompdir='$(zshcompdir)' \
	unitdir='$(unitdir)' docdir='$(docdir)' \
	sysusersdir='$(sysusersdir)' tmpfilesdir='$(tmpfilesdir)' \
	REQUIRES="$$($(libs_env) tools/libs private)" \
	tools/install '$(man_pages)' '$(git_names)' '$(commands)'

uninstall:
	$VDESTDIR='$(DESTDIR)' VERSION='$(version)' \
	bindir='$(bindir)' libdir='$(libdir)' includedir='$(includedir)' \
	execdir='$(execdir)' mandir='$(mandir)' \
	bashcompdir='$(bashcompdir)' zshcompdir='$(zshcompdir)' \
	unitdir='$(unitdir)' docdir='$(docdir)' \
	sysusersdir='$(sysusersdir)' tmpfilesdir='$(tmpfilesdir)' \
	tools/uninstall '$(man_pages)' '$(git_names)'

dist:
	$Vtools/dist '$(version)' '$O'

demo:
	@REPO='$(REPO)' tools/demo

guide:
	$Vtools/guide-html $O/guide

print-packages:
	@LIBDEFLATE='$(LIBDEFLATE)' tools/libs packages dev

# For tools/exec-dir, where packages run it on the machine of the user.
print-commands:
	@echo '$(commands)'

configure: configure.ac
	autoconf

clean:
	rm -rf build build-* git $(git_names)
distclean: clean
	rm -rf configure config.mak config.log config.status autom4te.cache

ifneq ($(building),)
-include $(shell find $O -name '*.d' 2>/dev/null)
endif
FORCE:
.PHONY: all lib shared unit git test test-unit check format
.PHONY: test-rotation coverage coverage-run fuzz fuzz-targets fuzz-all fuzz-merge
.PHONY: mutants install uninstall guide dist demo print-packages print-commands
.PHONY: clean distclean FORCE
.SECONDARY:
.DELETE_ON_ERROR:
