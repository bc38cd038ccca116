/* SPDX-License-Identifier: MIT */
/*
 * Writes the file of wants: the ids wanted by the clones for which there is a
 * prepared answer (a stored response).
 */
#include <stdlib.h>

#include "base/mem.h"
#include "prepared/prepared-wants.h"
#include "packs/prepare-parts.h"

struct listing {
	const struct preparing *p;
	/* owned: the ids of all wants, ascending, each once */
	struct oid *ids;
	size_t nr;
	struct prepared_wants_of *answers; /* owned */
	/* Owned: the bitmaps of `answers`. */
	struct ewah *sets;
	size_t answer_nr;
};

/*
 * Returns whether the file of wants lists the wants of a request. It does if
 * two conditions hold: an answer was made for the request, and the request asks
 * for the full history.
 */
static bool is_listed(const struct preparation *item)
{
	return item->is_done && !item->is_depth_1;
}

static int cmp_ids(const void *a, const void *b)
{
	return oid_cmp(a, b);
}

static int list_ids(struct listing *l)
{
	const struct preparing *p = l->p;
	size_t nr = 0, kept = 0;

	for (size_t i = 0; i < p->nr; i++)
		if (is_listed(&p->list[i]))
			nr += p->list[i].want_nr;
	l->ids = mem_alloc(nr, sizeof(*l->ids));
	if (!l->ids)
		return ERR_NOMEM;
	for (size_t i = 0; i < p->nr; i++)
		for (size_t k = 0;
		     is_listed(&p->list[i]) && k < p->list[i].want_nr; k++)
			l->ids[l->nr++] = p->list[i].wants[k];
	if (l->nr)
		qsort(l->ids, l->nr, sizeof(*l->ids), cmp_ids);
	for (size_t i = 0; i < l->nr; i++)
		if (!i || !oid_equal(&l->ids[i - 1], &l->ids[i]))
			l->ids[kept++] = l->ids[i];
	l->nr = kept;
	return 0;
}

/*
 * Make the bitmap *out of the wants of one answer: bit i stands for l->ids[i].
 * Returns 0 or ERR_NOMEM.
 */
static int make_set(struct listing *l, struct ewah *out,
		    const struct preparation *item)
{
	struct bitset set = BITSET_INIT;
	int ret = bitset_init(&set, l->nr);

	for (size_t i = 0; i < item->want_nr && !ret; i++) {
		const struct oid *id = bsearch(&item->wants[i], l->ids, l->nr,
					       sizeof(*l->ids), cmp_ids);

		bitset_set(&set, (size_t)(id - l->ids));
	}
	if (!ret)
		ret = ewah_from_bitset(out, &set);
	bitset_release(&set);
	return ret;
}

/*
 * Make one bitmap for each prepared answer whose wants are listed
 * (is_listed()). The bits of the bitmap are the wants of the answer.
 *
 * The file of wants does not contain the answers: it refers to an answer by its
 * index in the file of prepared answers. That file has the answers of p->list
 * that are finished (item->is_done), in the order of p->list. So the index
 * counts only finished answers. Returns 0 or ERR_NOMEM.
 */
static int make_sets(struct listing *l)
{
	const struct preparing *p = l->p;
	uint32_t answer = 0;
	int ret = 0;

	l->answers = mem_calloc(p->nr, sizeof(*l->answers));
	l->sets = mem_calloc(p->nr, sizeof(*l->sets));
	if (!l->answers || !l->sets)
		return ERR_NOMEM;
	for (size_t i = 0; i < p->nr && !ret; i++) {
		const struct preparation *item = &p->list[i];
		struct ewah *set = &l->sets[l->answer_nr];

		if (is_listed(item)) {
			ewah_init(set);
			ret = make_set(l, set, item);
			l->answers[l->answer_nr++] = (struct prepared_wants_of){
				.answer = answer,
				.ids = ewah_view_of(set),
			};
		}
		answer += item->is_done;
	}
	return ret;
}

static int put(struct buf *out, const struct listing *l,
	       const struct oid *prepared_checksum)
{
	enum hash_algo algo = l->p->odb->algo;
	struct buf raw = BUF_INIT;
	struct prepared_wants file = {
		.algo = algo,
		.prepared_checksum = *prepared_checksum,
		.id_nr = (uint32_t)l->nr,
		.answers = l->answers,
		.nr = l->answer_nr,
	};
	int ret = 0;

	for (size_t i = 0; i < l->nr && !ret; i++)
		ret = buf_append(&raw, l->ids[i].bytes, hash_len(algo));
	file.ids = (const uint8_t *)raw.data;
	if (!ret)
		ret = prepared_wants_write(out, &file);
	buf_release(&raw);
	return ret;
}

int prepare_put_wants(struct buf *out, const struct preparing *p,
		      const struct oid *prepared_checksum)
{
	struct listing l = {.p = p};
	int ret = list_ids(&l);

	if (!ret)
		ret = make_sets(&l);
	if (!ret && l.answer_nr)
		ret = put(out, &l, prepared_checksum);
	for (size_t i = 0; i < l.answer_nr; i++)
		ewah_release(&l.sets[i]);
	free(l.sets);
	free(l.answers);
	free(l.ids);
	return ret < 0 ? error_nomem(p->err) : 0;
}
