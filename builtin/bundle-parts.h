/* SPDX-License-Identifier: MIT */
/* What the parts of git bundle share. */
#ifndef BUILTIN_BUNDLE_PARTS_H
#define BUILTIN_BUNDLE_PARTS_H

#include "builtin/builtin.h"
#include "builtin/revargs.h"
#include "builtin/store.h"
#include "pack/bundle.h"

/* Subcommands in files of their own; see subcommand.h. */
int bundle_create(int argc, const char **argv, struct builtin_env *env);

/* Objects that go in, with all they reach. */
struct bundle_wants {
	struct oid *oids; /* owned */
	size_t nr;
};

/*
 * Choose what goes in: of the arguments, which keep their names, those that are
 * not excluded; in the header, the refs they name, each once, and as
 * prerequisites the commits behind those that go in, and those that tags lead
 * to which go in without them. 0, ERR_INVALID ("Refusing to create empty
 * bundle."), or another error; free `chosen->oids` in any case.
 */
int bundle_choose(struct bundle_header *header, struct bundle_wants *chosen,
		  const struct store *store, const struct rev_args *revs,
		  struct error *err);

#endif
