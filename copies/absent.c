/* SPDX-License-Identifier: MIT */
/* Remembers names of repositories that the store did not have. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "copies/copies.h"

struct stored_absent {
	struct {
		char *name; /* owned; NULL: none */
		uint64_t asked_ns;
	} slots[STORED_ABSENT_MAX];
};

struct stored_absent *stored_absent_new(void)
{
	return mem_calloc(1, sizeof(struct stored_absent));
}

void stored_absent_free(struct stored_absent *absent)
{
	for (size_t i = 0; absent && i < STORED_ABSENT_MAX; i++)
		free(absent->slots[i].name);
	free(absent);
}

void stored_absent_note(struct stored_absent *absent, const char *name,
			uint32_t hash, uint64_t now_ns)
{
	size_t at = hash % STORED_ABSENT_MAX;
	char *copy = mem_strdup(name);

	if (!copy)
		return;
	free(absent->slots[at].name);
	absent->slots[at].name = copy;
	absent->slots[at].asked_ns = now_ns;
}

static bool is_noted(const struct stored_absent *absent, const char *name,
		     uint32_t hash)
{
	const char *noted = absent->slots[hash % STORED_ABSENT_MAX].name;

	return noted && !strcmp(noted, name);
}

void stored_absent_forget(struct stored_absent *absent, const char *name,
			  uint32_t hash)
{
	size_t at = hash % STORED_ABSENT_MAX;

	if (!is_noted(absent, name, hash))
		return;
	free(absent->slots[at].name);
	absent->slots[at].name = NULL;
}

bool stored_absent_has(const struct stored_absent *absent, const char *name,
		       uint32_t hash, uint64_t now_ns, uint64_t age_ns)
{
	uint64_t asked_ns = absent->slots[hash % STORED_ABSENT_MAX].asked_ns;

	return is_noted(absent, name, hash) &&
	       (asked_ns > now_ns || now_ns - asked_ns < age_ns);
}
