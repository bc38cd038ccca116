/* SPDX-License-Identifier: MIT */
/*
 * Tests of repack/unreachable.c, which lists unreachable objects: which objects
 * are listed, which times they have, and which are kept.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "t/unit/oldrepo.h"

#define LOCAL (OLD_PACK | OLD_PACK_2 | OLD_KEPT | OLD_CRUFT | OLD_LOOSE)
#define EVERYWHERE (LOCAL | OLD_ALTERNATE)

static void check_listed(struct oldrepo *o, const struct unreachable *u,
			 bool loose)
{
	unsigned local = loose ? LOCAL : LOCAL & ~(unsigned)OLD_LOOSE;
	uint32_t expected = 0;

	for (uint32_t i = 0; i < o->r.nr; i++) {
		unsigned p = o->places[i];
		const struct unreachable_item *item = unreachable_find(
			u, oldrepo_pos(o, i));

		assert_int_equal(item != NULL, !o->reached[i] && (p & local));
		if (!item)
			continue;
		expected++;
		assert_int_equal(item->obj_pos, oldrepo_pos(o, i));
		assert_int_equal(item->is_packed, (p & (OLD_PACK | OLD_PACK_2 |
							OLD_CRUFT)) != 0);
		assert_int_equal(item->is_loose, loose && (p & OLD_LOOSE));
		assert_int_equal(item->is_safe,
				 (p & (OLD_KEPT | OLD_ALTERNATE)) != 0);
		assert_false(item->is_kept);
		if (loose)
			assert_int_equal(item->mtime, o->times[i]);
	}
	assert_int_equal(u->nr, expected);
}

static void listed(void **state)
{
	uint64_t seed = random_seed();

	for (int round = 0; round < 6; round++) {
		struct unreachable u;
		struct oldrepo o;

		oldrepo_init(&o, &seed, round % 2 ? EVERYWHERE : LOCAL);
		for (int loose = 0; loose < 2; loose++) {
			oldrepo_collect(&o, &u, loose);
			check_listed(&o, &u, loose);
			unreachable_release(&u);
		}
		oldrepo_release(&o);
	}
}

/*
 * Check which objects are kept: exactly those that recent objects reach. The
 * test computes the expected objects from r.objects[].
 */
static void check_kept(struct oldrepo *o, struct unreachable *u, int64_t expiry)
{
	bool *kept = calloc(RANDREPO_MAX, sizeof(*kept));
	struct error err = ERROR_INIT;

	assert_non_null(kept);
	for (size_t i = 0; i < u->nr; i++) {
		u->items[i].is_kept = false;
		if (u->items[i].mtime > expiry)
			randrepo_reach(&o->r, kept,
				       oldrepo_nr(o, u->items[i].obj_pos));
	}
	if (unreachable_keep(u, expiry, &err) != 0)
		fail_msg("%s", err.msg);
	for (size_t i = 0; i < u->nr; i++)
		assert_int_equal(u->items[i].is_kept,
				 kept[oldrepo_nr(o, u->items[i].obj_pos)]);
	free(kept);
}

static void kept(void **state)
{
	uint64_t seed = random_seed();

	for (int round = 0; round < 4; round++) {
		struct unreachable u;
		struct oldrepo o;

		oldrepo_init(&o, &seed, EVERYWHERE);
		oldrepo_collect(&o, &u, true);
		for (int k = 0; k < 10; k++)
			check_kept(&o, &u, OLDREPO_EPOCH + 600 * k);
		check_kept(&o, &u, INT64_MAX);
		check_kept(&o, &u, 0);
		unreachable_release(&u);
		oldrepo_release(&o);
	}
}

/* A recent object refers to missing objects. They are skipped. */
static void torn(void **state)
{
	uint64_t seed = random_seed();
	struct unreachable u;
	struct oldrepo o;

	oldrepo_init(&o, &seed, OLD_LOOSE);
	for (uint32_t i = 0; i < o.r.nr; i += 3) {
		struct buf path = BUF_INIT;

		if (o.reached[i])
			continue;
		assert_int_equal(odb_loose_path(&path, o.odb, o.odb->dirs[0],
						&o.r.objects[i].oid),
				 0);
		assert_int_equal(sys_unlink(path.data, NULL), 0);
		buf_release(&path);
	}
	oldrepo_collect(&o, &u, true);
	assert_int_equal(unreachable_keep(&u, OLDREPO_EPOCH + 1000, NULL), 0);
	for (size_t i = 0; i < u.nr; i++)
		if (u.items[i].mtime > OLDREPO_EPOCH + 1000)
			assert_true(u.items[i].is_kept);
	unreachable_release(&u);
	oldrepo_release(&o);
}

static void damaged_times(void **state)
{
	struct unreachable_options options = {
		.is_leaving = oldrepo_is_leaving,
	};
	uint64_t seed = random_seed();
	struct error err = ERROR_INIT;
	struct unreachable u;
	struct oldrepo o;

	oldrepo_init(&o, &seed, OLD_CRUFT);
	tmprepo_write(&o.r.t, "objects/pack/pack-8.mtimes", "MTME");
	assert_int_equal(unreachable_collect(&u, &o.w, &o.bits, &options, &err),
			 ERR_CORRUPT);
	assert_non_null(strstr(err.msg, "pack-8.mtimes"));
	unreachable_release(&u);
	oldrepo_release(&o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(listed),
		cmocka_unit_test(kept),
		cmocka_unit_test(torn),
		cmocka_unit_test(damaged_times),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
