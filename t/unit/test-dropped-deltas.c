/* SPDX-License-Identifier: MIT */
/*
 * Tests of packs/dropped-deltas.c. The tip island is the set of objects that
 * clones with depth 1 need. In a new pack, no object of the tip island is
 * stored as a delta of an object outside of the tip island. If the old pack has
 * such a delta, a repack does not copy this delta to the new pack. The tested
 * code lists these dropped deltas, so that they can be stored in a file beside
 * the new pack. The tests prove which deltas are listed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "packs/keep-deltas.h"
#include "t/unit/packfile.h"
#include "t/unit/tmprepo.h"

#define DELTAS "objects/info/deltas"
#define WHOLE "base"
#define TIP "tip"

/*
 * The objects of the pack. OLD, OTHER and TIP_WHOLE are stored whole.
 * TIP_DROPPED and OUTSIDE are deltas of OLD, and TIP_INSIDE is a delta of
 * TIP_WHOLE. The tip island (the objects that a clone with depth 1 needs) has
 * TIP_WHOLE, TIP_DROPPED and TIP_INSIDE.
 */
enum { OLD, OTHER, TIP_WHOLE, TIP_DROPPED, TIP_INSIDE, OUTSIDE, OBJECT_NR };

struct fixture {
	struct tmprepo t;
	struct oid oids[OBJECT_NR];
	struct odb *odb;
	struct walk walk;
	struct islands islands;
	struct dropped_deltas found;
};

/*
 * Add a delta that appends `text` to the object `whole`, which is entry `base`.
 */
static void add_delta(struct packfile *p, uint32_t base, enum object_type type,
		      const char *whole, const char *text)
{
	char content[64];
	struct oid oid;

	snprintf(content, sizeof(content), "%s%s", whole, text);
	hash_object(&p->hash, &oid, OBJ_BLOB, content, strlen(content));
	packfile_add_delta(p, type, base, strlen(whole), text, &oid);
}

static void write_pack(struct fixture *f, bool damaged)
{
	struct packfile *p = malloc(sizeof(*p));

	assert_non_null(p);
	packfile_init(p, HASH_SHA1);
	packfile_add(p, OBJ_BLOB, WHOLE, strlen(WHOLE));
	packfile_add(p, OBJ_BLOB, "other", 5);
	packfile_add(p, OBJ_BLOB, TIP, strlen(TIP));
	add_delta(p, OLD, OBJ_OFS_DELTA, WHOLE, " dropped");
	add_delta(p, TIP_WHOLE, OBJ_OFS_DELTA, TIP, " inside");
	add_delta(p, OLD, OBJ_REF_DELTA, WHOLE, " outside");
	memcpy(f->oids, p->oids, sizeof(f->oids));
	p->crcs[TIP_DROPPED] ^= damaged;
	packfile_finish(p);
	tmprepo_write_len(&f->t, "objects/pack/pack-1.pack", p->bytes.data,
			  p->bytes.len);
	tmprepo_write_len(&f->t, "objects/pack/pack-1.idx", p->idx.data,
			  p->idx.len);
	packfile_release(p);
	free(p);
}

static void put_in_tip(struct fixture *f, int nr)
{
	uint32_t obj_pos;

	assert_true(odb_find(f->odb, &f->oids[nr], &obj_pos));
	bitset_set(&f->islands.tip, obj_pos);
}

static void fixture_init(struct fixture *f, bool damaged)
{
	memset(f, 0, sizeof(*f));
	tmprepo_init(&f->t, HASH_SHA1);
	write_pack(f, damaged);
	f->islands = (struct islands)ISLANDS_INIT;
	f->found = (struct dropped_deltas)DROPPED_DELTAS_INIT;
}

/*
 * Write a file of `nr` kept deltas (deltas that are stored beside the pack).
 * Sets the target of each row to TIP_DROPPED.
 */
static void keep(struct fixture *f, struct kept_delta *rows, uint32_t nr)
{
	struct buf bytes = BUF_INIT;

	for (uint32_t i = 0; i < nr; i++) {
		rows[i].target = f->oids[TIP_DROPPED];
		rows[i].stream = (const uint8_t *)"stream";
		rows[i].size = rows[i].len = 6;
	}
	assert_int_equal(kept_deltas_write(&bytes, HASH_SHA1, rows, nr), 0);
	tmprepo_write_len(&f->t, DELTAS, bytes.data, bytes.len);
	buf_release(&bytes);
}

static void find(struct fixture *f)
{
	assert_int_equal(odb_open(&f->odb, &f->t.repo, NULL, NULL), 0);
	assert_int_equal(walk_open(&f->walk, f->odb, NULL, 0, NULL), 0);
	assert_int_equal(bitset_init(&f->islands.tip, f->odb->packed_nr), 0);
	put_in_tip(f, TIP_WHOLE);
	put_in_tip(f, TIP_DROPPED);
	put_in_tip(f, TIP_INSIDE);
	assert_int_equal(
		dropped_deltas_find(&f->found, &f->walk, &f->islands, NULL), 0);
}

static void fixture_release(struct fixture *f)
{
	dropped_deltas_release(&f->found);
	islands_release(&f->islands);
	walk_close(&f->walk);
	odb_close(f->odb);
	tmprepo_release(&f->t);
}

static void check_row(const struct fixture *f, size_t nr, int base)
{
	const struct kept_delta *row = &f->found.deltas[nr];

	assert_true(oid_equal(&row->target, &f->oids[TIP_DROPPED]));
	assert_true(oid_equal(&row->base, &f->oids[base]));
	assert_int_equal(row->step, 0);
	assert_int_equal(row->size, f->found.deltas[0].size);
}

/*
 * Of the three deltas in the pack, only TIP_DROPPED is found. A repack drops
 * this delta: TIP_DROPPED is in the tip island, and its base OLD is not. The
 * tip island has the objects that a clone with depth 1 needs, and such an
 * object may not be a delta against an object outside.
 */
static void a_stored_delta(void **state)
{
	struct fixture f;

	fixture_init(&f, false);
	find(&f);
	assert_int_equal(f.found.nr, 1);
	check_row(&f, 0, OLD);
	fixture_release(&f);
}

/* A delta whose bytes do not match the CRC in the pack index is not found. */
static void a_damaged_delta(void **state)
{
	struct fixture f;

	fixture_init(&f, true);
	find(&f);
	assert_int_equal(f.found.nr, 0);
	fixture_release(&f);
}

/*
 * A file of kept deltas (deltas that are stored beside the pack) exists
 * already. Each row of the file is a delta. If an earlier repack dropped the
 * delta from the pack, the row has the step 0. If the delta was made for the
 * file, the step is the age of the delta's base. A row with the step 0 is
 * listed again, unless the pack stores the same delta, or the base is in the
 * tip island (the objects that a clone with depth 1 needs).
 */
static void rows_of_the_present_file(void **state)
{
	struct fixture f;
	struct kept_delta rows[4] = {
		{.step = 0}, {.step = 0}, {.step = 0}, {.step = 2}};

	fixture_init(&f, false);
	rows[0].base = f.oids[OLD];
	rows[1].base = f.oids[OTHER];
	rows[2].base = f.oids[TIP_WHOLE];
	rows[3].base = f.oids[OTHER];
	keep(&f, rows, 4);
	find(&f);
	assert_int_equal(f.found.nr, 2);
	check_row(&f, 0, OLD);
	assert_true(oid_equal(&f.found.deltas[1].base, &f.oids[OTHER]));
	assert_memory_equal(f.found.deltas[1].stream, "stream", 6);
	fixture_release(&f);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_stored_delta),
		cmocka_unit_test(a_damaged_delta),
		cmocka_unit_test(rows_of_the_present_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
