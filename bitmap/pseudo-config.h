/* SPDX-License-Identifier: MIT */
/*
 * The configuration bitmapPseudoMerge.<name>.*: which references form
 * pseudo-merges (gitpacking(7)).
 */
#ifndef BITMAP_PSEUDO_CONFIG_H
#define BITMAP_PSEUDO_CONFIG_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/pattern.h"
#include "bitmap/pseudo-select.h"
#include "config/config.h"

/* The values of the keys bitmapPseudoMerge.<name>.* for one <name>. */
struct pseudo_section {
	char *name; /* owned */
	/*
	 * owned: the pattern of reference names, which matches at the start of
	 * a name
	 */
	struct pattern *pattern;
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
 * Loads the configuration, which may be empty. Thresholds are relative to
 * `now`. *out must be initialised; the caller releases it in any case.
 *
 * A number out of range is replaced by the default, as in stock Git. *warning
 * (may be NULL) then describes the last such number.
 *
 * Returns 0, or a negative error code. ERR_INVALID means an invalid number,
 * date or expression, a <name> without `pattern`, or a `threshold` that is
 * before `stableThreshold`. The message is the same as stock Git's.
 */
int pseudo_config_load(struct pseudo_config *out, const struct config *config,
		       int64_t now, struct error *warning, struct error *err);
void pseudo_config_release(struct pseudo_config *config);

#endif
