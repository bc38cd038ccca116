/* SPDX-License-Identifier: MIT */
/* Choosing the references whose tips go into pseudo-merges. */
#ifndef PACKS_PSEUDO_TIPS_H
#define PACKS_PSEUDO_TIPS_H

#include "base/error.h"
#include "bitmap/pseudo-config.h"
#include "bitmap/pseudo-select.h"
#include "refs/refs.h"
#include "walk/walk.h"

/*
 * Add the tips of references to *tips; tags are peeled. With a configuration:
 * tips of references that match. There is one group for each <name> and
 * captured text (joined with '-'), with the rules of <name>. A tip may be in
 * several groups. Without a configuration (config->nr is 0): tips of all
 * references, grouped by enum pseudo_class. Returns 0 or a negative error code.
 */
int pseudo_tips_load(struct pseudo_tips *tips, struct walk *w,
		     struct refs *refs, const struct pseudo_config *config,
		     struct error *err);

#endif
