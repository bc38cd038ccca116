/* SPDX-License-Identifier: MIT */
/* Which references' tips pseudo-merges are made of. */
#ifndef REPACK_PSEUDO_TIPS_H
#define REPACK_PSEUDO_TIPS_H

#include "base/error.h"
#include "bitmap/pseudo-select.h"
#include "repo/refs.h"
#include "walk/walk.h"

/*
 * Add the tips of all refs to *tips, by enum pseudo_class. Tags are followed.
 */
int pseudo_tips_load(struct pseudo_tips *tips, struct walk *w,
		     struct refs *refs, struct error *err);

#endif
