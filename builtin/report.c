/* SPDX-License-Identifier: MIT */
/* Error messages of commands, their exit codes, and our version. */
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/affix.h"
#include "base/buf.h"
#include "base/mem.h"
#include "builtin/builtin.h"
#include "include/gitreach.h"
#include "sys/trace.h"

/* The version of stock Git whose commands and options we implement. */
#define GIT_LEVEL "2.55.0"

const char builtin_version[] = GIT_LEVEL ".gitreach." GITREACH_VERSION;

#define EXIT_FATAL 128
/* the exit code that a shell reports for a process that SIGPIPE has ended */
#define EXIT_SIGPIPE 141

/*
 * Returns whether a path leads into the git directory of a repository. The path
 * is relative to the working directory.
 */
static bool is_in_repo(const char *path)
{
	static const char *const starts[] = {
		"objects/", "refs/", "packed-refs", "logs/",
		"info/",    "index", "reftable/",   "worktrees/",
	};
	size_t len = strcspn(path, " ':)");
	const char *dir = strstr(path, ".git/");

	for (size_t i = 0; i < ARRAY_NR(starts); i++)
		if (starts_with(path, starts[i]))
			return true;
	return dir && (size_t)(dir - path) < len;
}

/*
 * Returns the part of an absolute path that is printed: the path relative to
 * `cwd`. If the path is in the .git of a parent directory of `cwd`, it is
 * relative to this parent directory.
 */
static const char *shorten(const char *path, const char *cwd)
{
	for (size_t len = strlen(cwd); len > 1; len--) {
		const char *rest = path + len + 1;

		if ((cwd[len] && cwd[len] != '/') || strncmp(path, cwd, len) ||
		    path[len] != '/')
			continue;
		if (starts_with(rest, ".git/") ||
		    (!cwd[len] && is_in_repo(rest)))
			return rest;
	}
	return path;
}

/*
 * Append a message with shortened paths. The library uses absolute paths. Stock
 * Git prints paths relative to the top of the work tree, or to the directory of
 * a bare repository. Paths that the user gave as absolute stay absolute, and so
 * do names of lock files.
 */
static int append_message(struct buf *line, const char *msg)
{
	const char *git_dir = getenv("GIT_DIR");
	char *cwd = NULL;
	char before = ' ';
	int ret = 0;

	if (strchr(msg, '/') && !strstr(msg, ".lock'") &&
	    !(git_dir && *git_dir == '/'))
		cwd = getcwd(NULL, 0);
	while (*msg && !ret) {
		if (cwd && *msg == '/' && strchr(" '(", before))
			msg = shorten(msg, cwd);
		before = *msg++;
		ret = buf_append_char(line, before);
	}
	free(cwd);
	return ret;
}

/*
 * Replace control characters with question marks. A message can contain names
 * that another user chose, and their bytes must not control the terminal.
 */
static void mask_controls(struct buf *line)
{
	for (size_t i = 0; i < line->len; i++)
		if (iscntrl((unsigned char)line->data[i]) &&
		    line->data[i] != '\t' && line->data[i] != '\n')
			line->data[i] = '?';
}

/*
 * The trace that also gets each message; see builtin_trace_errors(). The
 * variable is global, because functions that report an error know neither the
 * command nor its trace.
 */
static struct trace *error_trace;

void builtin_trace_errors(struct trace *t)
{
	error_trace = t;
}

/* Write a printed line "<kind>: <message>\n" to the trace, if there is one. */
static void trace_line(struct buf *line, size_t kind_len, const char *fmt)
{
	if (!error_trace)
		return;
	buf_set_len(line, line->len - 1);
	trace_error_at(error_trace, TRACE_AT, fmt,
		       line->data + kind_len + strlen(": "));
}

/*
 * Print a message with one write, because several processes share the standard
 * error stream. Two messages must not mix.
 */
static void say(const char *kind, const char *fmt, va_list ap)
{
	struct buf line = BUF_INIT;
	char *msg = NULL;

	fflush(stdout);
	if (vasprintf(&msg, fmt, ap) < 0)
		msg = NULL;
	if (!msg || buf_printf(&line, "%s: ", kind) < 0 ||
	    append_message(&line, msg) < 0 ||
	    buf_append_char(&line, '\n') < 0) {
		fprintf(stderr, "%s: out of memory\n", kind);
	} else {
		mask_controls(&line);
		fwrite(line.data, 1, line.len, stderr);
		trace_line(&line, strlen(kind), fmt);
	}
	buf_release(&line);
	free(msg);
}

/*
 * If a message about the configuration has the form "<place>: <reason>",
 * returns the length of <place>; otherwise 0.
 */
static size_t config_place_len(const char *msg)
{
	static const char command_line[] =
		"unable to parse command-line config";
	const char *file = starts_with(msg, "bad config line ")
				   ? strstr(msg, " in file ")
				   : NULL;
	const char *end = file ? strstr(file, ": ") : NULL;

	if (starts_with(msg, command_line))
		end = strstr(msg, ": ");
	return end ? (size_t)(end - msg) : 0;
}

int builtin_fail(const struct error *err)
{
	size_t len = config_place_len(err->msg);

	/*
	 * As in stock Git, print the reason as an error in a line of its own,
	 * and then the place.
	 */
	if (len) {
		builtin_error("%s", err->msg + len + 2);
		return builtin_die("%.*s", (int)len, err->msg);
	}
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

int builtin_fail_midx_bitmap(const struct error *err)
{
	builtin_warn("Failed to write bitmap index. Packfile doesn't have full "
		     "closure (%s)",
		     err->msg);
	builtin_error("could not write multi-pack bitmap");
	return 255;
}
