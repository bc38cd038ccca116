/* SPDX-License-Identifier: MIT */
/*
 * A --format string: text, fields in %(...), %%, and %xx for a byte in
 * hexadecimal (git-for-each-ref(1)).
 */
#ifndef BUILTIN_REF_FORMAT_H
#define BUILTIN_REF_FORMAT_H

#include "builtin/ref-atom.h"

/* How values are quoted, for output that is a program. */
enum ref_format_quote {
	REF_FORMAT_PLAIN,
	REF_FORMAT_SHELL,
	REF_FORMAT_PERL,
	REF_FORMAT_PYTHON,
	REF_FORMAT_TCL,
};

struct ref_format_piece {
	char *text; /* owned; NULL for a field */
	size_t len;
	struct ref_atom atom; /* a field */
};

struct ref_format {
	struct ref_format_piece *pieces; /* owned */
	size_t nr, alloc;
};

#define REF_FORMAT_INIT                                                        \
	{                                                                      \
		NULL, 0, 0                                                     \
	}

/*
 * Parse a format string. Returns as ref_atom_parse(). The caller must release
 * *format in all cases.
 */
int ref_format_parse(struct ref_format *format, const char *text,
		     struct error *err);
void ref_format_release(struct ref_format *format);

/*
 * Append the expansion for a ref, without a newline. Returns 0 or a negative
 * error code.
 */
int ref_format_append(struct buf *out, const struct ref_format *format,
		      enum ref_format_quote quote,
		      struct ref_atom_subject *subject, struct error *err);

#endif
