/* SPDX-License-Identifier: MIT */
/*
 * The target of a trace: standard error, an inherited descriptor, a file, a new
 * file in a directory, or a socket. These are the values of GIT_TRACE2 and
 * similar variables (git(1)).
 *
 * Each line is written with one system call, to files in append mode, so that
 * lines of several processes and threads do not mix. A line that cannot be
 * written is dropped without an error.
 */
#ifndef SYS_TRACE_FILE_H
#define SYS_TRACE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct trace_file {
	int fd; /* -1 if closed */
	bool is_owned;
};

#define TRACE_FILE_INIT                                                        \
	{                                                                      \
		-1, false                                                      \
	}

/* How to write to a directory. */
struct trace_file_dir {
	/*
	 * name of our file in it; NULL: directories and sockets are not allowed
	 */
	const char *name;
	/* limit of files in the directory; 0: none */
	uint64_t files_max;
};

/* The name of the file that marks a directory with too many files. */
#define TRACE_FILE_DISCARD "git-trace2-discard"

/*
 * Opens the target that a value describes. NULL, "", "0" and "false" mean off;
 * "1" and "true" standard error; "2" to "9" that descriptor. "/..." is a file,
 * or an existing directory in which a new file is created.
 * "af_unix:[stream:|dgram:]/..." is a socket.
 *
 * Returns 1 if the target is open, and 0 if it is off. Returns 2 if the target
 * is the open file that marks a directory with too many files. Returns
 * ERR_INVALID for another value, or ERR_IO.
 */
int trace_file_open(struct trace_file *f, const char *value,
		    const struct trace_file_dir *dir, struct error *err);

/* Appends bytes. Does nothing if the trace is off. */
void trace_file_append(const struct trace_file *f, const void *bytes,
		       size_t len);
void trace_file_close(struct trace_file *f);

#endif
