/* SPDX-License-Identifier: MIT */
/*
 * Where lines of a trace go: standard error, a descriptor that was inherited,
 * a file, a file of its own in a directory, or a socket. (The values of
 * GIT_TRACE2 and its like, git(1).)
 *
 * Lines are written each with one call, to files in append mode, so that those
 * of several processes and threads do not mix. What cannot be written is lost
 * and disturbs nobody.
 */
#ifndef SYS_TRACE_FILE_H
#define SYS_TRACE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct trace_file {
	int fd; /* -1: off */
	bool is_owned;
};

#define TRACE_FILE_INIT                                                        \
	{                                                                      \
		-1, false                                                      \
	}

/* How a directory is written to. */
struct trace_file_dir {
	const char *name;   /* of our file in it; NULL: no directory, no socket
			     */
	uint64_t files_max; /* 0: no limit */
};

/* The file that stands for those that were one too many. */
#define TRACE_FILE_DISCARD "git-trace2-discard"

/*
 * Open what a value says: NULL, "", "0", "false": off; "1", "true": standard
 * error; "2".."9": that descriptor; "/...": a file, or a new file in a
 * directory that is there; "af_unix:[stream:|dgram:]/...": a socket. Returns
 * 1 when it is open, 0 when it is off; 2 when it is open and is the file that
 * says that a directory has enough files; ERR_INVALID for another value; or
 * ERR_IO.
 */
int trace_file_open(struct trace_file *f, const char *value,
		    const struct trace_file_dir *dir, struct error *err);

/* Nothing when off. */
void trace_file_append(const struct trace_file *f, const void *bytes,
		       size_t len);
void trace_file_close(struct trace_file *f);

#endif
