/* SPDX-License-Identifier: MIT */
/*
 * Error codes, and the error messages that accompany them.
 *
 * A function that can fail returns 0 or a negative `enum error_code`. A
 * function that returns positive values documents them. The caller may supply a
 * `struct error`, which receives the message; NULL means that the caller needs
 * none. No function here allocates memory, so that running out of memory can be
 * reported too.
 */
#ifndef BASE_ERROR_H
#define BASE_ERROR_H

#include <stdint.h>

enum error_code {
	ERR_NOMEM = -1, /* an allocation failed */
	/* a system call failed; err->sys_errno has its errno */
	ERR_IO = -2,
	/* bytes violate their format */
	ERR_CORRUPT = -3,
	/* something that must exist is missing */
	ERR_MISSING = -4,
	/* valid, but this program does not support it */
	ERR_UNSUPPORTED = -5,
	/* the caller or the user passed a wrong argument */
	ERR_INVALID = -6,
	/* a protocol peer broke the rules or went away */
	ERR_PEER = -7,
	/* refused by configuration or ownership */
	ERR_DENIED = -8,
	/* a callback of the caller asked to stop */
	ERR_CANCELLED = -9,
};

#define ERROR_MESSAGE_MAX 1024

struct error {
	/* an enum error_code, 0 if no error is set */
	int code;
	int sys_errno; /* errno for ERR_IO, else 0 */
	/*
	 * NUL-terminated, without a final newline. One line, except the advice
	 * for a lock that is held (sys_lockfile_describe()).
	 */
	char msg[ERROR_MESSAGE_MAX];
};

#define ERROR_INIT                                                             \
	{                                                                      \
		0, 0, ""                                                       \
	}

/*
 * Stores `code` and a message in *err (NULL allowed) and returns `code`. A
 * later call overwrites an earlier one. err->msg may be among the arguments, so
 * that a caller can extend the message of a function it called.
 */
int error_set(struct error *err, enum error_code code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * Works like error_set() for ERR_IO. Appends ": " and the text of the current
 * errno, and stores errno in err->sys_errno. Returns ERR_IO.
 */
int error_set_errno(struct error *err, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * Works like error_set() for bytes of a file. The message becomes "<file>:
 * <message> at offset <off>". Returns `code`.
 */
int error_set_at(struct error *err, enum error_code code, const char *file,
		 uint64_t off, const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));

/*
 * Changes the code of the error in *err, for a system call whose failure means
 * something more specific than ERR_IO, such as ERR_MISSING. The message and
 * errno stay. Returns `code`.
 */
int error_recode(struct error *err, enum error_code code);

/*
 * Returns the code in *err, for use after a function that returns NULL on
 * failure. If err is NULL, no code was recorded, and the result is `code`.
 */
static inline int error_recorded(const struct error *err, enum error_code code)
{
	return err ? err->code : (int)code;
}

/* Records an out-of-memory error and returns ERR_NOMEM. */
int error_nomem(struct error *err);

#endif
