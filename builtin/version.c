/* SPDX-License-Identifier: MIT */
/*
 * git version: prints the version in the form of stock Git, which scripts
 * parse.
 */
#include <stdio.h>
#include <sys/utsname.h>

#include <openssl/crypto.h>
#include <zlib.h>
#ifdef HAVE_LIBDEFLATE
#include <libdeflate.h>
#endif

#include "builtin/builtin.h"
#include "builtin/options.h"
#include "include/gitreach.h"

/* The version of stock Git whose commands and options we implement. */
#define GIT_LEVEL "2.39.5"

const char builtin_version[] = GIT_LEVEL ".gitreach." GITREACH_VERSION;

static const char usage[] = "git version [--build-options]";

static void print_build_options(void)
{
	struct utsname system;

	if (!uname(&system))
		printf("cpu: %s\n", system.machine);
	puts("no commit associated with this build");
	printf("sizeof-long: %zu\n", sizeof(long));
	printf("sizeof-size_t: %zu\n", sizeof(size_t));
	puts("shell-path: /bin/sh");
	printf("OpenSSL: %s\n", OPENSSL_VERSION_TEXT);
	printf("zlib: %s\n", zlibVersion());
#ifdef HAVE_LIBDEFLATE
	puts("libdeflate: " LIBDEFLATE_VERSION_STRING);
#endif
	puts("default-ref-format: files");
	puts("default-hash: sha1");
}

int cmd_version(int argc, const char **argv, struct builtin_env *env)
{
	bool build_options = false;
	const struct option options[] = {
		{.kind = OPTION_FLAG,
		 .long_name = "build-options",
		 .value = &build_options,
		 .help = "also print build options"},
		{.kind = OPTION_END},
	};

	/* Operands are ignored, as in stock Git. */
	if (options_parse(argc, argv, options, usage) < 0)
		return 129;
	printf("git version %s\n", builtin_version);
	if (build_options)
		print_build_options();
	return builtin_finish(0);
}
