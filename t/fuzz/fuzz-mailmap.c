/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target for base/mailmap.c: any bytes are parsed as a mailmap. The binary
 * search must find the same line as a search through all lines.
 */
#include "base/mailmap.h"
#include "t/fuzz/fuzz.h"

static bool is_same(struct mailmap_span a, struct mailmap_span b)
{
	return a.len == b.len && (!a.len || !memcmp(a.p, b.p, a.len));
}

/*
 * Maps the name and address of entry `i`. The result must be the one that this
 * entry states. An entry is not checked if a later entry may be for the same
 * name and address.
 */
static void check_entry(const struct mailmap *m, size_t i)
{
	const struct mailmap_entry *entry = &m->entries[i];
	struct mailmap_span name = entry->old_name, email = entry->old_email;
	bool is_last = true;

	if (!name.p)
		return;
	for (size_t j = 0; j < m->nr; j++)
		if (m->entries[j].old_name.len == name.len &&
		    m->entries[j].old_email.len == email.len &&
		    m->entries[j].nr > entry->nr)
			is_last = false;
	if (!is_last)
		return;
	require(mailmap_map(m, &name, &email) ==
		(entry->name.p || entry->email.p));
	require(is_same(email,
			entry->email.p ? entry->email : entry->old_email));
	require(is_same(name, entry->name.p ? entry->name : entry->old_name));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct mailmap m = MAILMAP_INIT;

	require(mailmap_add(&m, (const char *)data, len) == 0);
	mailmap_sort(&m);
	for (size_t i = 0; i < m.nr && i < 50; i++)
		check_entry(&m, i);
	mailmap_release(&m);
	return 0;
}
