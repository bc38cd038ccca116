/* SPDX-License-Identifier: MIT */
/*
 * Error codes and the detail that travels with them.
 *
 * Functions that can fail return 0 or a negative `enum error_code`; what a
 * positive value means is said where the function is declared. The reason in
 * words goes into a `struct error` that the caller supplies (NULL: not
 * wanted). Nothing here allocates, so that running out of memory can be
 * reported too.
 */
#ifndef BASE_ERROR_H
#define BASE_ERROR_H

#include <stdint.h>

enum error_code {
	ERR_NOMEM = -1,       /* an allocation failed */
	ERR_IO = -2,          /* the operating system said no; errno is kept */
	ERR_CORRUPT = -3,     /* bytes that do not follow their format */
	ERR_MISSING = -4,     /* a thing that has to exist does not */
	ERR_UNSUPPORTED = -5, /* valid, but not known to this program */
	ERR_INVALID = -6,     /* the caller's or the user's argument is wrong */
	ERR_PEER = -7,        /* a protocol peer broke the rules or went away */
	ERR_DENIED = -8,      /* refused by configuration or ownership */
	ERR_CANCELLED = -9,   /* the caller's callback said so */
};

#define ERROR_MESSAGE_MAX 1024

struct error {
	int code;                    /* an enum error_code, 0 when unset */
	int sys_errno;               /* errno for ERR_IO, else 0 */
	char msg[ERROR_MESSAGE_MAX]; /* NUL-terminated, no newline at its end;
					one line, but for locks on references:
					PACKED_REWRITE_LOCK_ADVICE */
};

#define ERROR_INIT                                                             \
	{                                                                      \
		0, 0, ""                                                       \
	}

/*
 * Record `code` and a message in *err (NULL allowed) and return `code`.
 * A later call overwrites an earlier one; err->msg may be among the
 * arguments, so that a caller can put words around what went wrong below it.
 */
int error_set(struct error *err, enum error_code code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * As error_set() for ERR_IO: appends ": " and the text of the current errno,
 * and keeps errno in err->sys_errno. Returns ERR_IO.
 */
int error_set_errno(struct error *err, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * As error_set() for bytes of a file: the message becomes
 * "<file>: <message> at offset <off>". Returns `code`.
 */
int error_set_at(struct error *err, enum error_code code, const char *file,
		 uint64_t off, const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));

/*
 * Change the code of a recorded error, for a failed call of the system that
 * means more than ERR_IO; message and errno stay. Returns `code`.
 */
int error_recode(struct error *err, enum error_code code);

/*
 * What a function that failed with NULL has recorded in *err; `code` where
 * nobody wanted to know (err is NULL).
 */
static inline int error_recorded(const struct error *err, enum error_code code)
{
	return err ? err->code : (int)code;
}

/* Record an out-of-memory error and return ERR_NOMEM. */
int error_nomem(struct error *err);

#endif
