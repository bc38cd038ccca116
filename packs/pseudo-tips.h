/* SPDX-License-Identifier: MIT */
/* Chooses the references whose tips go into pseudo-merges. */
#ifndef PACKS_PSEUDO_TIPS_H
#define PACKS_PSEUDO_TIPS_H

#include "base/error.h"
#include "bitmap/pseudo-config.h"
#include "bitmap/pseudo-select.h"
#include "refs/refs.h"
#include "walk/walk.h"

/*
 * Add the tips of references to *tips; tags are peeled.
 *
 * With a configuration, each section <name> has a pattern. The tips of
 * references that match the pattern are added. The texts that the pattern
 * captures, joined with '-', name the tip's group in the section. The rules of
 * the section apply to the group. A tip may be in several groups. Without a
 * configuration (config->nr is 0), the tips of all references are added,
 * grouped by enum pseudo_class. Returns 0 or a negative error code.
 */
int pseudo_tips_load(struct pseudo_tips *tips, struct walk *w,
		     struct refs *refs, const struct pseudo_config *config,
		     struct error *err);

#endif
