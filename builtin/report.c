/* SPDX-License-Identifier: MIT */
/* Error messages of commands, their exit codes, and our version. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "builtin/builtin.h"
#include "include/gitreach.h"

/* The version of stock Git whose commands and options we implement. */
#define GIT_LEVEL "2.55.0"

const char builtin_version[] = GIT_LEVEL ".gitreach." GITREACH_VERSION;

#define EXIT_FATAL 128
/* exit code of a shell for a process that SIGPIPE has ended */
#define EXIT_SIGPIPE 141

static void say(const char *kind, const char *fmt, va_list ap)
{
	fflush(stdout);
	fprintf(stderr, "%s: ", kind);
	vfprintf(stderr, fmt, ap);
	fputc('\n', stderr);
}

int builtin_fail(const struct error *err)
{
	return builtin_die("%s", err->msg);
}

int builtin_die(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say("fatal", fmt, ap);
	va_end(ap);
	return EXIT_FATAL;
}

int builtin_error(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say("error", fmt, ap);
	va_end(ap);
	return -1;
}

void builtin_warn(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say("warning", fmt, ap);
	va_end(ap);
}

int builtin_finish(int code)
{
	errno = 0;
	if (!ferror(stdout) && !fflush(stdout))
		return code;
	if (errno == EPIPE)
		return EXIT_SIGPIPE;
	if (!errno)
		return builtin_die("unknown write failure on standard output");
	return builtin_die("write failure on standard output: %s",
			   strerror(errno));
}
