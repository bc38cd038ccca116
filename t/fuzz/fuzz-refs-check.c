/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target for refs/refs-check-*.c: any bytes are checked as a packed-refs
 * file, and as a loose ref.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "refs/refs-check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void look(void *ctx, const struct refs_report *report)
{
	size_t *bytes = ctx;

	*bytes += strlen(report->where) + strlen(report->text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct fsck_rules rules;
	size_t bytes = 0;
	struct refs_check c = {.rules = &rules, .report = look, .ctx = &bytes};
	char *text = malloc(len + 1);

	fsck_rules_init(&rules, HASH_SHA1, false);
	refs_check_packed(&c, (const char *)data, len, HASH_SHA1, NULL);
	if (text) {
		memcpy(text, data, len);
		text[len] = '\0';
		refs_check_loose(&c, "HEAD", text, HASH_SHA1, NULL);
		refs_check_loose(&c, "refs/x", text, HASH_SHA1, NULL);
	}
	free(text);
	fsck_rules_release(&rules);
	return 0;
}
