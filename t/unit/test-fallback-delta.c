/* SPDX-License-Identifier: MIT */
/*
 * Tests of packing/fallback-delta.c, which makes a delta for an object without
 * a usable stored base. They prove that the object is sent as a delta against
 * an old version that the receiver has.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "packing/fallback-delta.h"
#include "t/unit/deltalist.h"
#include "t/unit/nomem.h"

#define PAIRS 40

/*
 * A list of pairs of items: a new version of a text, followed by the old
 * version. The old version is external (only the receiver has it).
 */
struct pairs {
	struct deltalist d;
	struct found found;
	struct found_version versions[PAIRS];
};

static void pairs_init(struct pairs *p)
{
	memset(p, 0, sizeof(*p));
	deltalist_init(&p->d);
	p->found.versions = p->versions;
}

static void pairs_release(struct pairs *p)
{
	deltalist_release(&p->d);
}

static void add_pair(struct pairs *p, const char *text, const char *old,
		     size_t old_len, enum object_type old_type)
{
	struct found_version *v = &p->versions[p->found.version_nr++];
	struct deltalist *d = &p->d;
	struct packing_item *item;

	deltalist_add(d, OBJ_BLOB, 7, text, strlen(text));
	v->object = d->list.nr - 1;
	item = deltalist_add(d, old_type, 7, old, old_len);
	item->is_external = true;
	v->old.obj_pos = item->obj_pos;
	v->old.type = OBJ_BLOB;
	v->old.name_hash = 7;
}

static void run(struct pairs *p)
{
	struct deltalist *d = &p->d;
	size_t nr = d->list.nr;

	p->found.walk.reader = odb_reader_new(d->odb, 1 << 20);
	assert_non_null(p->found.walk.reader);
	assert_int_equal(fallback_delta_versions(&d->list, &p->found,
						 &(struct bitset)BITSET_INIT,
						 -1, NULL),
			 0);
	odb_reader_free(p->found.walk.reader);
	/*
	 * The items after the first `nr` were appended by the tested code: old
	 * versions that became delta bases.
	 */
	for (size_t i = 0; i < nr; i++) {
		const struct packing_item *item = &d->list.items[i];
		struct packing_item *base;
		const struct buf *old = &d->contents[i + 1];

		if (item->how != PACKING_DELTA)
			continue;
		base = &d->list.items[item->base];
		assert_true(base->is_external && item->base >= nr);
		assert_int_equal(base->obj_pos, d->list.items[i + 1].obj_pos);
		assert_non_null(item->delta);
		base->size = old->len;
		assert_int_equal(buf_append(&d->contents[item->base], old->data,
					    old->len),
				 0);
	}
}

static void versions_become_bases(void **state)
{
	uint64_t seed = random_seed();
	char text[TEXT_LINES * TEXT_LINE_LEN + 1] = "";
	char old[TEXT_LINES * TEXT_LINE_LEN + 1] = "";
	struct pairs p;

	pairs_init(&p);
	for (unsigned i = 0; i < PAIRS; i++) {
		text_make(text, sizeof(text) - 1, &seed);
		memcpy(old, text, sizeof(text));
		text_edit(old, sizeof(text) - 1, 1 + i % 4, &seed);
		add_pair(&p, text, old, strlen(old), OBJ_BLOB);
	}
	run(&p);
	assert_int_equal(p.d.list.nr, 3 * PAIRS);
	assert_int_equal(deltalist_verify(&p.d, 2), PAIRS);
	pairs_release(&p);
}

/*
 * An item gets no new delta if it is small, or if its stored delta is copied.
 * An item also gets no new delta if its old version differs much, has another
 * type, is missing, or is sent, too.
 */
static void others_stay_as_they_are(void **state)
{
	uint64_t seed = random_seed();
	char text[TEXT_LINES * TEXT_LINE_LEN + 1] = "";
	char old[sizeof(text)] = "";
	struct pairs p;

	pairs_init(&p);
	add_pair(&p, "a few bytes", "a few more bytes", 16, OBJ_BLOB);
	text_make(text, sizeof(text) - 1, &seed);
	text_make(old, sizeof(old) - 1, &seed);
	add_pair(&p, text, old, strlen(old), OBJ_BLOB);
	text[0] = '1';
	add_pair(&p, text, text + 1, strlen(text + 1), OBJ_TAG);
	text[0] = '2';
	add_pair(&p, text, text + 2, strlen(text + 2), OBJ_BLOB);
	p.d.list.items[p.d.list.nr - 2].how = PACKING_COPY_DELTA;
	text[0] = '3';
	add_pair(&p, text, text + 3, strlen(text + 3), OBJ_BLOB);
	assert_int_equal(objspace_add(&p.d.space,
				      (const uint8_t *)"there is no such id.",
				      &p.versions[4].old.obj_pos),
			 0);
	text[0] = '4';
	add_pair(&p, text, text + 4, strlen(text + 4), OBJ_BLOB);
	/*
	 * The old version of the last pair is sent, too, because the receiver
	 * does not have it.
	 */
	p.d.list.items[p.d.list.nr - 1].is_external = false;
	run(&p);
	assert_int_equal(p.d.list.nr, 2 * p.found.version_nr);
	assert_int_equal(deltalist_verify(&p.d, 1), 0);
	pairs_release(&p);
}

static void make_whole(void *ctx)
{
	struct pairs *p = ctx;

	deltalist_reset(&p->d);
	p->d.list.nr = 2;
}

static int make_delta(void *ctx, struct error *err)
{
	struct pairs *p = ctx;

	return fallback_delta_versions(&p->d.list, &p->found,
				       &(struct bitset)BITSET_INIT, -1, err);
}

static void check_delta(void *ctx)
{
	const struct pairs *p = ctx;

	assert_int_equal(p->d.list.items[0].how, PACKING_DELTA);
}

/* If an allocation fails, the error is returned, or the delta is made. */
static void no_memory(void **state)
{
	uint64_t seed = random_seed();
	char text[TEXT_LINES * TEXT_LINE_LEN + 1] = "";
	char old[sizeof(text)] = "";
	struct pairs p;

	pairs_init(&p);
	text_make(text, sizeof(text) - 1, &seed);
	memcpy(old, text, sizeof(text));
	text_edit(old, sizeof(text) - 1, 2, &seed);
	add_pair(&p, text, old, strlen(old), OBJ_BLOB);
	p.found.walk.reader = odb_reader_new(p.d.odb, 1 << 20);
	assert_non_null(p.found.walk.reader);
	nomem_each(make_whole, make_delta, check_delta, &p);
	odb_reader_free(p.found.walk.reader);
	pairs_release(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(versions_become_bases),
		cmocka_unit_test(others_stay_as_they_are),
		cmocka_unit_test(no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
