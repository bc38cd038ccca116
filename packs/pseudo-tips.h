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
 * Without a configuration (config->nr is 0), the tips of all references are
 * added, grouped by enum pseudo_class. With a configuration, each section
 * <name> has a pattern, and the tips of references that match the pattern are
 * added. The name of a tip's group in the section is made of the texts that the
 * pattern captures, joined with '-'. The rules of the section apply to each of
 * its groups. A tip may be in groups of several sections. Returns 0 or a
 * negative error code.
 */
int pseudo_tips_load(struct pseudo_tips *tips, struct walk *w,
		     struct refs *refs, const struct pseudo_config *config,
		     struct error *err);

#endif
