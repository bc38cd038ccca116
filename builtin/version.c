/* SPDX-License-Identifier: MIT */
/*
 * git version: prints the version. Scripts parse the output, so its form is
 * that of stock Git.
 */
#include <stdio.h>
#include <sys/utsname.h>

#include <openssl/crypto.h>
#include <zlib.h>
#ifdef HAVE_LIBDEFLATE
#include <libdeflate.h>
#endif

#include "base/buf.h"
#include "builtin/builtin.h"
#include "builtin/fallback.h"
#include "builtin/options.h"
#include "builtin/tracing.h"
#include "include/gitreach.h"

#define OURS ".gitreach." GITREACH_VERSION

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

/*
 * Print the version of stock Git if it is installed, otherwise ours. Programs
 * use the version to find out what Git can do, and stock Git runs all commands
 * that gitreach does not have.
 */
static void print_version(struct trace *trace)
{
	struct buf stock = BUF_INIT;

	if (fallback_version(&stock, trace, NULL) < 0)
		printf("git version %s\n", builtin_version);
	else
		printf("git version %s" OURS "\n", stock.data);
	buf_release(&stock);
}

int cmd_version(int argc, const char **argv, struct builtin_env *env)
{
	bool build_options = false;
	const struct option options[] = {
		{.kind = OPTION_FLAG,
		 .long_name = "build-options",
		 .flag = &build_options,
		 .help = "also print build options"},
		{.kind = OPTION_END},
	};

	/* Operands of git version are ignored, as in stock Git. */
	if (options_parse(argc, argv, options, usage) < 0)
		return 129;
	print_version(tracing_trace(env->tracing));
	if (build_options)
		print_build_options();
	return builtin_finish(0);
}
