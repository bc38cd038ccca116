/* SPDX-License-Identifier: MIT */
/*
 * bitmapPseudoMerge.<name>.*: which references make pseudo-merges together
 * (gitpacking(7)).
 */
#ifndef BITMAP_PSEUDO_CONFIG_H
#define BITMAP_PSEUDO_CONFIG_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/pattern.h"
#include "bitmap/pseudo-select.h"
#include "config/config.h"

/* The keys of one <name>. */
struct pseudo_section {
	char *name;              /* owned */
	struct pattern *pattern; /* owned; matches from the start of a name */
	struct pseudo_rules rules;
};

struct pseudo_config {
	struct pseudo_section *sections; /* owned */
	size_t nr, alloc;
};

#define PSEUDO_CONFIG_INIT                                                     \
	{                                                                      \
		NULL, 0, 0                                                     \
	}

/*
 * Load what is configured, which may be nothing; thresholds count from `now`.
 * A number out of its range is the default instead, as in stock Git, and
 * *warning (NULL allowed) describes the last such one. ERR_INVALID with stock
 * Git's words for what is no number, date or expression, for a name without
 * pattern, and for an unstable threshold before the stable one. *out must be
 * initialised; release it in any case.
 */
int pseudo_config_load(struct pseudo_config *out, const struct config *config,
		       int64_t now, struct error *warning, struct error *err);
void pseudo_config_release(struct pseudo_config *config);

#endif
