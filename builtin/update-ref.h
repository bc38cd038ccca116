/* SPDX-License-Identifier: MIT */
/* git update-ref: what the commands read from standard input go with. */
#ifndef BUILTIN_UPDATE_REF_H
#define BUILTIN_UPDATE_REF_H

#include "builtin/ref-change.h"

struct update_ref_args {
	struct ref_changer changer;
	const char *message; /* -m, or NULL */
	unsigned flags;      /* of ref_change_flags */
};

/*
 * Resolve the name of a value; "" is the zero id where `may_be_empty`. 1; 0
 * when it names nothing; or negative when that cannot be told.
 */
int update_ref_value(struct oid *out, const struct store *store,
		     const char *name, bool may_be_empty, struct error *err);

/*
 * Carry out the commands on standard input, which end in NUL (`nul`) or
 * newlines; prints what is wrong. Returns the exit code.
 */
int update_ref_stdin(struct update_ref_args *args, bool nul);

#endif
