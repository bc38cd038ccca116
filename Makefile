# gitreach: see README.md. Works as it is (pkg-config), or after ./configure.
-include config.mak

CC ?= cc
CFLAGS ?= -O2 -g
prefix ?= /usr/local
V = $(if $(VERBOSE),,@)
O = build$(if $(SANITIZE),-$(subst $(comma),-,$(SANITIZE)),)
comma := ,

rooms = base sys ewah object pack repo walk bitmap islands repack serve
lib_src := $(wildcard $(addsuffix /*.c,$(rooms))) $(wildcard pack-bitmap*.c)
builtin_src := $(wildcard builtin/*.c)
unit_src := $(wildcard t/unit/test-*.c)

pc = zlib libcrypto libpcre2-8 libdeflate
std_cflags = -std=c11 -D_GNU_SOURCE -I. -fvisibility=hidden -pthread -Wall -Wextra \
	-Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith \
	-Wwrite-strings -Wno-unused-parameter -fno-strict-aliasing
san_flags = $(if $(SANITIZE),-fsanitize=$(SANITIZE) -fno-omit-frame-pointer)
dep_cflags := $(shell pkg-config --cflags $(pc)) -DHAVE_LIBDEFLATE
dep_libs := $(shell pkg-config --libs $(pc))
all_cflags = $(std_cflags) $(CFLAGS) $(san_flags) $(dep_cflags)

lib_obj = $(lib_src:%.c=$O/%.o)
builtin_obj = $(builtin_src:%.c=$O/%.o)
unit_bin = $(unit_src:%.c=$O/%)

all: git
lib: $O/libgitreach.a
unit: $(unit_bin)

git: $(builtin_obj) $O/libgitreach.a
	$V$(CC) $(all_cflags) -o $@ $^ $(dep_libs)

$O/libgitreach.a: $(lib_obj)
	$Vrm -f $@ && ar rcs $@ $^

$O/%.o: %.c
	@mkdir -p $(@D)
	$V$(CC) $(all_cflags) -MMD -MP -c -o $@ $<

$O/t/unit/test-%: t/unit/test-%.c $O/libgitreach.a
	@mkdir -p $(@D)
	$V$(CC) $(all_cflags) -MMD -MP -o $@ $< $O/libgitreach.a $(dep_libs) -lcmocka

test-unit: $(unit_bin)
	prove $(unit_bin)

clean:
	rm -rf build build-* git

-include $(shell find $O -name '*.d' 2>/dev/null)
.PHONY: all lib unit test-unit clean
