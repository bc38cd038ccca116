/* SPDX-License-Identifier: MIT */
/* Appends whole lines to a log, even if the disk is full. */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sys/append-line.h"
#include "sys/io.h"

/*
 * Overwrites the `len` (> 0) bytes of a file before offset `end` with blanks
 * and LF, if they are equal to `part`. If they differ, another thread has
 * written to the same descriptor meanwhile, and the place of `part` is unknown.
 * Returns whether the bytes were overwritten.
 */
static bool blank_out(int fd, const char *part, size_t len, off_t end)
{
	char *found = malloc(len);
	off_t at = end - (off_t)len;
	ssize_t n = -1;

	if (found && pread(fd, found, len, at) == (ssize_t)len &&
	    !memcmp(found, part, len)) {
		memset(found, ' ', len);
		found[len - 1] = '\n';
		do
			n = pwrite(fd, found, len, at);
		while (n < 0 && errno == EINTR);
	}
	free(found);
	return n == (ssize_t)len;
}

/*
 * `part`, the beginning of a line, was just written. Overwrites it with blanks
 * and LF. This needs no space on the disk, and keeps lines that other processes
 * have appended after the part. A descriptor that is open for appending cannot
 * write at a given place, so the file is opened once more. Returns whether the
 * part was overwritten. The part stays if the log is no file, or if this
 * process may not open the file because another user opened the log.
 */
static bool remove_part(int fd, const char *part, size_t len)
{
	off_t end = lseek(fd, 0, SEEK_CUR);
	char name[32];
	bool is_blank;
	int again;

	if (end < (off_t)len)
		return false;
	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	again = open(name, O_RDWR | O_CLOEXEC);
	if (again < 0)
		return false;
	is_blank = blank_out(again, part, len, end);
	close(again);
	return is_blank;
}

/* Writes to a log. Returns the number of written bytes, or -1. */
static ssize_t put(int fd, const char *bytes, size_t len)
{
	ssize_t n;

	do
		n = write(fd, bytes, len);
	while (n < 0 && errno == EINTR);
	return n;
}

void sys_append_line(int fd, const char *line, size_t len)
{
	sigset_t before;
	ssize_t n;

	sys_sigpipe_block(&before);
	n = put(fd, line, len);
	if (n > 0 && (size_t)n < len && !remove_part(fd, line, (size_t)n))
		put(fd, "\n", 1);
	sys_sigpipe_restore(&before);
}
