/* SPDX-License-Identifier: MIT */
/* Appends whole lines to a log, which several processes may share. */
#ifndef SYS_APPEND_LINE_H
#define SYS_APPEND_LINE_H

#include <stddef.h>

/*
 * Appends a line, whose last byte is LF, to a log: a file, a pipe or a socket.
 * Makes one system call, so lines of several processes and threads do not mix.
 * Errors are ignored, and a reader that has gone away causes no SIGPIPE.
 *
 * If the log is a file and only the beginning of the line fits, for example
 * because the disk is full, a line of blanks replaces the beginning. So the
 * log has no part of a line, and the next line is complete. Lines that other
 * processes append at the same time are not changed.
 *
 * The blanks need a second descriptor of the file with the right to read and
 * write. If the process may not open the file again, or the log is no file, the
 * beginning of the line stays. Then one LF is written after the beginning. If
 * there is no room for the LF either, the next line follows the beginning
 * directly.
 */
void sys_append_line(int fd, const char *line, size_t len);

#endif
