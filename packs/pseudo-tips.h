/* SPDX-License-Identifier: MIT */
/* Which references' tips pseudo-merges are made of. */
#ifndef PACKS_PSEUDO_TIPS_H
#define PACKS_PSEUDO_TIPS_H

#include "base/error.h"
#include "bitmap/pseudo-config.h"
#include "bitmap/pseudo-select.h"
#include "refs/refs.h"
#include "walk/walk.h"

/*
 * Add the tips of refs to *tips, tags followed. With a configuration: of refs
 * that match, one group for each <name> and what its pattern captured, joined
 * with '-', with the rules of <name>; a tip may be in several. Without
 * (config->nr is 0): of all refs, by enum pseudo_class.
 */
int pseudo_tips_load(struct pseudo_tips *tips, struct walk *w,
		     struct refs *refs, const struct pseudo_config *config,
		     struct error *err);

#endif
