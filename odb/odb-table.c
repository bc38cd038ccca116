/* SPDX-License-Identifier: MIT */
/* A hash table over the ids of many packs. */
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/mem.h"
#include "odb/odb-table.h"

/*
 * Maximum number of slots that a search looks at. Clients can push very many
 * objects whose ids begin with the same bits, and all of these ids belong into
 * the same slot. Without such ids, nearly no search looks at so many slots.
 */
#define PROBES_MAX 64

/*
 * Returns the slot of an id in the hash table, or the free slot where the id
 * belongs. Returns NULL if the first PROBES_MAX slots have other ids. No slot
 * is ever freed, so the id is then not in the table.
 */
static struct odb_table_slot *find_slot(const struct odb_table *t,
					const uint8_t *raw)
{
	size_t id_len = hash_len(t->odb->algo);
	size_t at = (size_t)(load_be64(raw) >> t->shift);
	uint32_t tag = load_be32(raw + 8);

	for (size_t end = at + PROBES_MAX; at < end; at++) {
		struct odb_table_slot *slot = &t->slots[at & t->mask];

		if (!slot->odb_pos_plus_1)
			return slot;
		if (slot->tag == tag &&
		    !memcmp(odb_oid_raw(t->odb, slot->odb_pos_plus_1 - 1), raw,
			    id_len))
			return slot;
	}
	return NULL;
}

/*
 * Adds the ids of one source (a pack or a multi-pack-index) to the table.
 * Sources are added in the order in which they are searched. So an id that is
 * in the table already keeps its position, the canonical one.
 */
static void add_source(struct odb_table *t, const struct odb_source *source)
{
	for (uint32_t i = 0; i < source->ids->nr; i++) {
		const uint8_t *raw = pack_ids_at(source->ids, i);
		struct odb_table_slot *slot = find_slot(t, raw);
		uint32_t odb_pos;

		if (!slot || slot->odb_pos_plus_1)
			continue;
		if (!odb_source_pos(t->odb, source, i, &odb_pos) &&
		    !odb_find_raw(t->odb, raw, &odb_pos))
			continue;
		slot->tag = load_be32(raw + 8);
		slot->odb_pos_plus_1 = odb_pos + 1;
	}
}

int odb_table_init(struct odb_table *table, const struct odb *odb)
{
	uint64_t nr = 0;
	unsigned bits = 4;

	for (uint32_t i = 0; i < odb->source_nr; i++)
		nr += odb->sources[i].ids->nr;
	while (bits < 40 && UINT64_C(1) << bits < 2 * nr)
		bits++;
	*table = (struct odb_table){
		.odb = odb,
		.slots = mem_calloc((size_t)1 << bits, sizeof(*table->slots)),
		.shift = 64 - bits,
		.mask = ((size_t)1 << bits) - 1,
	};
	if (!table->slots)
		return ERR_NOMEM;
	for (uint32_t i = 0; i < odb->source_nr; i++)
		add_source(table, &odb->sources[i]);
	return 0;
}

void odb_table_release(struct odb_table *table)
{
	free(table->slots);
	*table = (struct odb_table){0};
}

bool odb_table_find(const struct odb_table *table, const uint8_t *raw,
		    uint32_t *odb_pos)
{
	const struct odb_table_slot *slot = find_slot(table, raw);

	if (!slot)
		return odb_find_raw(table->odb, raw, odb_pos);
	if (!slot->odb_pos_plus_1)
		return false;
	*odb_pos = slot->odb_pos_plus_1 - 1;
	return true;
}
