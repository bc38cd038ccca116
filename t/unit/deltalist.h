/* SPDX-License-Identifier: MIT */
/*
 * A list of objects for a new pack (struct packing_item), and a slow check of
 * the delta search. The objects are loose and have known contents. The check
 * applies every delta and follows every chain. Include this header after
 * cmocka.h.
 */
#ifndef T_UNIT_DELTALIST_H
#define T_UNIT_DELTALIST_H

#include "pack/delta.h"
#include "deltas/delta-search.h"
#include "t/unit/random.h"
#include "t/unit/tmppack.h"

#define DELTALIST_MAX 2048
#define TEXT_LINES 64
#define TEXT_LINE_LEN 24

struct deltalist {
	struct tmprepo repo;
	struct odb *odb;
	struct objspace space;
	struct packing_items list;
	struct buf contents[DELTALIST_MAX]; /* indexed by item */
};

static inline void deltalist_init(struct deltalist *d)
{
	memset(d, 0, sizeof(*d));
	tmprepo_init(&d->repo, HASH_SHA1);
	tmprepo_write(&d->repo, "objects/info/made", "");
	assert_int_equal(odb_open(&d->odb, &d->repo.repo, NULL, NULL), 0);
	objspace_init(&d->space, d->odb);
	packing_items_init(&d->list, &d->space);
}

/*
 * Remove the results of a delta search from the list, so that the test can
 * search again.
 */
static inline void deltalist_reset(struct deltalist *d)
{
	for (size_t i = 0; i < d->list.nr; i++) {
		struct packing_item *item = &d->list.items[i];

		if (item->how != PACKING_DELTA)
			continue;
		free(item->delta);
		item->delta = NULL;
		item->how = PACKING_WHOLE;
		item->base = PACKING_NO_ITEM;
		item->delta_len = item->delta_size = 0;
	}
}

static inline void deltalist_release(struct deltalist *d)
{
	for (size_t i = 0; i < d->list.nr; i++)
		buf_release(&d->contents[i]);
	packing_items_release(&d->list);
	objspace_release(&d->space);
	odb_close(d->odb);
	tmprepo_release(&d->repo);
}

/*
 * Write a new loose object to the repository, and append it to the list.
 * Returns the new entry, which has the given type and name hash.
 */
static inline struct packing_item *deltalist_add(struct deltalist *d,
						 enum object_type type,
						 uint32_t name_hash,
						 const void *data, size_t len)
{
	struct packing_item *item;
	uint32_t obj_pos;
	struct oid oid;

	assert_true(d->list.nr < DELTALIST_MAX);
	tmppack_loose(&d->repo, "objects", &oid, type, data, len);
	assert_int_equal(objspace_add(&d->space, oid.bytes, &obj_pos), 0);
	assert_int_equal(
		packing_items_append(&d->list, obj_pos, type, name_hash, false),
		0);
	assert_int_equal(buf_append(&d->contents[d->list.nr - 1], data, len),
			 0);
	item = &d->list.items[d->list.nr - 1];
	item->size = len;
	return item;
}

/* Fill `text` with lines of random letters. */
static inline void text_make(char *text, size_t len, uint64_t *seed)
{
	for (size_t i = 0; i < len; i++)
		text[i] = i % TEXT_LINE_LEN == TEXT_LINE_LEN - 1
				  ? '\n'
				  : (char)('a' + random_next(seed) % 26);
}

/*
 * Change the first two letters in each of `nr` random lines. A line may be
 * chosen twice.
 */
static inline void text_edit(char *text, size_t len, unsigned nr,
			     uint64_t *seed)
{
	while (nr--) {
		size_t line = random_next(seed) % (len / TEXT_LINE_LEN);

		text[line * TEXT_LINE_LEN] = (char)('A' +
						    random_next(seed) % 26);
		text[line * TEXT_LINE_LEN + 1] = (char)('0' +
							random_next(seed) % 10);
	}
}

/*
 * Append `versions` versions of a new text to the list, from the longest to the
 * shortest. All of them have the given type and name hash.
 */
static inline void deltalist_add_versions(struct deltalist *d,
					  enum object_type type,
					  uint32_t name_hash, unsigned versions,
					  uint64_t *seed)
{
	char text[(TEXT_LINES + 64) * TEXT_LINE_LEN];

	text_make(text, sizeof(text), seed);
	for (unsigned i = versions; i-- > 0;) {
		text_edit(text, sizeof(text), 2, seed);
		deltalist_add(d, type, name_hash, text,
			      (TEXT_LINES + i) * TEXT_LINE_LEN);
	}
}

static const struct delta_search_options deltalist_options = {
	.threads = 1,
	.window = 10,
	.depth = 50,
	.big_file_threshold = UINT64_C(512) << 20,
	.compression = -1,
};

static inline void deltalist_search(struct deltalist *d,
				    const struct delta_search_options *options)
{
	struct error err = ERROR_INIT;

	assert_int_equal(delta_search_run(&d->list, options, &err), 0);
}

/*
 * Returns the inflated delta of list entry `nr`. If the search did not keep the
 * delta, makes the delta again. The caller frees the result.
 */
static inline uint8_t *deltalist_delta(struct deltalist *d, uint32_t nr)
{
	const struct packing_item *item = &d->list.items[nr];
	struct odb_reader *reader = odb_reader_new(d->odb, 0);
	struct inflater *inf = inflater_new();
	uint8_t *delta = malloc(item->delta_size);
	uint8_t *made = NULL;
	size_t len = item->delta_len;

	assert_true(reader && inf && delta);
	if (!item->delta)
		assert_int_equal(delta_search_remake(&d->list, nr, reader, -1,
						     &made, &len, NULL),
				 0);
	assert_int_equal(inflater_exact(inf, delta, item->delta_size,
					made ? made : item->delta, len, NULL),
			 0);
	free(made);
	inflater_free(inf);
	odb_reader_free(reader);
	return delta;
}

static inline void deltalist_verify_delta(struct deltalist *d, uint32_t nr)
{
	const struct packing_item *item = &d->list.items[nr];
	const struct packing_item *base = &d->list.items[item->base];
	uint8_t *delta = deltalist_delta(d, nr);
	uint8_t *result = malloc(item->size);

	assert_int_equal(base->type, item->type);
	assert_true(item->delta_size <= item->size / 2);
	assert_false(item->is_external || item->no_delta);
	assert_non_null(result);
	assert_int_equal(delta_apply(result, item->size,
				     d->contents[item->base].data, base->size,
				     delta, item->delta_size),
			 0);
	assert_memory_equal(result, d->contents[nr].data, item->size);
	free(result);
	free(delta);
}

/*
 * Check that each delta produces its target, that no chain of deltas is longer
 * than `depth`, and that no chain is a cycle. Returns the number of deltas.
 */
static inline size_t deltalist_verify(struct deltalist *d, uint32_t depth)
{
	size_t deltas = 0;

	for (uint32_t i = 0; i < d->list.nr; i++) {
		const struct packing_item *item = &d->list.items[i];
		uint32_t chain = 0;

		if (item->how == PACKING_DELTA) {
			deltalist_verify_delta(d, i);
			deltas++;
		}
		for (; item->base != PACKING_NO_ITEM; chain++) {
			assert_true(chain < depth);
			item = &d->list.items[item->base];
		}
	}
	return deltas;
}

#endif
