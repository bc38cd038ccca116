/* SPDX-License-Identifier: MIT */
/* Merging tables. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "reftable/stack.h"

int reftable_merged_init(struct reftable_merged *m,
			 struct reftable *const *tables, size_t nr,
			 bool keeps_deletions, struct error *err)
{
	memset(m, 0, sizeof(*m));
	m->sources = mem_calloc(nr, sizeof(*m->sources));
	m->waiting = mem_calloc(nr, sizeof(struct reftable_source *));
	if (!m->sources || !m->waiting) {
		reftable_merged_release(m);
		return error_nomem(err);
	}
	m->source_nr = nr;
	m->keeps_deletions = keeps_deletions;
	for (size_t i = 0; i < nr; i++) {
		reftable_iter_init(&m->sources[i].it);
		m->sources[i].it.table = tables[i];
		m->sources[i].age = i;
	}
	return 0;
}

void reftable_merged_release(struct reftable_merged *m)
{
	for (size_t i = 0; i < m->source_nr; i++)
		reftable_iter_release(&m->sources[i].it);
	free(m->sources);
	free(m->waiting);
	memset(m, 0, sizeof(*m));
}

static int cmp_keys(const struct reftable_source *a,
		    const struct reftable_source *b)
{
	const struct buf *ka = &a->it.cur.key, *kb = &b->it.cur.key;

	return reftable_key_cmp(ka->data, ka->len, kb->data, kb->len);
}

/*
 * Reads the next record of a source (a table), and inserts the source into the
 * sorted array `waiting`. The source with the smallest key is the last one in
 * `waiting`; its record is returned next. A source without further records is
 * not inserted. Returns 0 or a negative error code.
 */
static int advance(struct reftable_merged *m, struct reftable_source *s,
		   struct error *err)
{
	int ret = reftable_iter_next(&s->it, err);
	size_t i;

	if (ret <= 0)
		return ret;
	for (i = m->waiting_nr; i; i--) {
		int cmp = cmp_keys(m->waiting[i - 1], s);

		if (cmp > 0 || (!cmp && m->waiting[i - 1]->age < s->age))
			break;
		m->waiting[i] = m->waiting[i - 1];
	}
	m->waiting[i] = s;
	m->waiting_nr++;
	return 0;
}

int reftable_merged_seek(struct reftable_merged *m,
			 enum reftable_block_type type, const char *key,
			 size_t key_len, struct error *err)
{
	int ret = 0;

	m->waiting_nr = 0;
	m->given = NULL;
	for (size_t i = 0; !ret && i < m->source_nr; i++) {
		struct reftable_source *s = &m->sources[i];

		ret = reftable_iter_seek(&s->it, s->it.table, type, key,
					 key_len, err);
		if (!ret)
			ret = advance(m, s, err);
	}
	return ret;
}

static bool is_deletion(const struct reftable_iter *it)
{
	return it->type == REFTABLE_LOGS ? it->log.is_deleted
					 : it->ref.value == REFTABLE_DELETED;
}

/*
 * Skips records of older tables that have the same key as the current record.
 * Returns 0 or a negative error code.
 */
static int drop_hidden(struct reftable_merged *m, struct error *err)
{
	int ret = 0;

	while (!ret && m->waiting_nr &&
	       !cmp_keys(m->waiting[m->waiting_nr - 1], m->given))
		ret = advance(m, m->waiting[--m->waiting_nr], err);
	return ret;
}

int reftable_merged_next(struct reftable_merged *m,
			 const struct reftable_iter **it, struct error *err)
{
	int ret;

	do {
		ret = m->given ? advance(m, m->given, err) : 0;
		m->given = NULL;
		if (ret < 0 || !m->waiting_nr)
			return ret;
		m->given = m->waiting[--m->waiting_nr];
		ret = drop_hidden(m, err);
		if (ret < 0)
			return ret;
	} while (!m->keeps_deletions && is_deletion(&m->given->it));
	*it = &m->given->it;
	return 1;
}
