/* SPDX-License-Identifier: MIT */
/* Declarations that the parts of git bundle share. */
#ifndef BUILTIN_BUNDLE_PARTS_H
#define BUILTIN_BUNDLE_PARTS_H

#include "builtin/builtin.h"
#include "builtin/revargs.h"
#include "builtin/store.h"
#include "pack/bundle.h"

/* Subcommands in files of their own; see struct subcommand in options.h. */
int bundle_create(int argc, const char **argv, struct builtin_env *env);

/*
 * The tips of a bundle: the objects that the arguments name. The bundle gets
 * these objects and all that they reach.
 */
struct bundle_wants {
	struct oid *oids; /* owned */
	size_t nr;
};

/*
 * Choose the contents of a bundle.
 *
 * `chosen` gets the objects that the arguments name and that no argument
 * excludes. `header` gets the refs that name these objects, each ref once.
 * `header` also gets the prerequisites: the boundary commits, and the excluded
 * commits to which tags in the bundle lead.
 *
 * Returns 0, ERR_INVALID ("Refusing to create empty bundle."), or another
 * negative error code. The caller must free `chosen->oids` in all cases.
 */
int bundle_choose(struct bundle_header *header, struct bundle_wants *chosen,
		  const struct store *store, const struct rev_args *revs,
		  struct error *err);

#endif
