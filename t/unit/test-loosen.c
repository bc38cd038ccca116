/* SPDX-License-Identifier: MIT */
/*
 * Tests of repack/loosen.c: before a pack is removed, objects that only this
 * pack has are written as loose objects. Each loose object gets the time of its
 * packed copy.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "repack/loosen.h"
/* Let only a sample of the allocations fail, since each call writes files. */
#define NOMEM_MAX 60
#include "t/unit/nomem.h"
#include "t/unit/oldrepo.h"

static bool stat_loose(struct oldrepo *o, uint32_t nr, struct sys_stat *st)
{
	struct buf path = BUF_INIT;
	bool exists;

	assert_int_equal(odb_loose_path(&path, o->odb, o->odb->dirs[0],
					&o->r.objects[nr].oid),
			 0);
	exists = !sys_stat(st, path.data, NULL);
	buf_release(&path);
	return exists;
}

static void check(struct oldrepo *o, int64_t expiry)
{
	bool *kept = calloc(RANDREPO_MAX, sizeof(*kept));
	struct error err = ERROR_INIT;
	uint32_t nr, expected = 0;
	struct unreachable u;

	assert_non_null(kept);
	oldrepo_collect(o, &u, true);
	assert_int_equal(unreachable_keep(&u, expiry, NULL), 0);
	for (size_t i = 0; i < u.nr; i++) {
		kept[oldrepo_nr(o, u.items[i].obj_pos)] = u.items[i].is_kept;
		expected += loosen_wants(&u.items[i]);
	}
	if (loosen_write(&nr, &u, &err) != 0)
		fail_msg("%s", err.msg);
	assert_int_equal(nr, expected);
	unreachable_release(&u);
	for (uint32_t i = 0; i < o->r.nr; i++) {
		unsigned p = o->places[i];
		bool stays = p & (OLD_KEPT | OLD_ALTERNATE);
		struct sys_stat st;

		if (p & OLD_LOOSE) {
			/*
			 * The loose file must be at least as new as the packed
			 * copy.
			 */
			assert_true(stat_loose(o, i, &st));
			if (!o->reached[i] && !stays && kept[i])
				assert_true(st.mtime_ns / 1000000000 >=
					    o->times[i]);
			continue;
		}
		assert_int_equal(stat_loose(o, i, &st),
				 !o->reached[i] && !stays && kept[i]);
		if (!o->reached[i] && !stays && kept[i])
			assert_int_equal(st.mtime_ns / 1000000000, o->times[i]);
	}
	free(kept);
}

static void loosened(void **state)
{
	uint64_t seed = random_seed();
	struct oldrepo o;

	oldrepo_init(&o, &seed, (1 << OLD_PLACES) - 1);
	check(&o, INT64_MAX);
	check(&o, OLDREPO_EPOCH + 2500);
	oldrepo_release(&o);
	oldrepo_init(&o, &seed, OLD_PACK | OLD_CRUFT);
	check(&o, 0);
	oldrepo_release(&o);
}

/* A call of loosen_write(). */
struct loosening {
	struct oldrepo o;
	struct unreachable u;
};

static void remove_loose(void *ctx)
{
	struct loosening *l = ctx;
	struct sys_stat st;

	for (uint32_t i = 0; i < l->o.r.nr; i++) {
		struct buf path = BUF_INIT;

		assert_int_equal(odb_loose_path(&path, l->o.odb,
						l->o.odb->dirs[0],
						&l->o.r.objects[i].oid),
				 0);
		assert_int_equal(sys_unlink(path.data, NULL), 0);
		buf_release(&path);
		assert_false(stat_loose(&l->o, i, &st));
	}
}

static int loosen(void *ctx, struct error *err)
{
	struct loosening *l = ctx;
	uint32_t nr;

	return loosen_write(&nr, &l->u, err);
}

static void all_loose(void *ctx)
{
	struct loosening *l = ctx;
	struct sys_stat st;

	for (uint32_t i = 0; i < l->o.r.nr; i++)
		assert_int_equal(stat_loose(&l->o, i, &st), !l->o.reached[i]);
}

/* If memory runs out, the call fails, or all loose objects are written. */
static void no_memory(void **state)
{
	uint64_t seed = random_seed();
	struct loosening l;

	oldrepo_init(&l.o, &seed, OLD_PACK);
	oldrepo_collect(&l.o, &l.u, true);
	assert_int_equal(unreachable_keep(&l.u, 0, NULL), 0);
	nomem_each(remove_loose, loosen, all_loose, &l);
	unreachable_release(&l.u);
	oldrepo_release(&l.o);
}

/*
 * Chooses every 8th of the objects that must be loose. For each chosen object,
 * the check must succeed, and must fail while the loose object is moved away.
 * Returns the number of objects that must be loose.
 */
static size_t check_missing(struct loosening *l)
{
	size_t nr = 0;

	for (size_t i = 0; i < l->u.nr; i++) {
		struct buf path = BUF_INIT, away = BUF_INIT;
		struct oid oid;

		if (!loosen_relies(&l->u.items[i]) || nr++ % 8)
			continue;
		objspace_oid(&oid, &l->u.walk->space, l->u.items[i].obj_pos);
		assert_int_equal(odb_loose_path(&path, l->o.odb,
						l->o.odb->dirs[0], &oid),
				 0);
		assert_int_equal(buf_printf(&away, "%s.away", path.data), 0);
		assert_int_equal(loosen_check(&l->u, NULL), 0);
		assert_int_equal(rename(path.data, away.data), 0);
		assert_int_equal(loosen_check(&l->u, NULL), ERR_MISSING);
		assert_int_equal(rename(away.data, path.data), 0);
		buf_release(&path);
		buf_release(&away);
	}
	return nr;
}

/*
 * After the objects were written as loose objects, the check succeeds. The
 * check fails if one of these loose objects is removed. This is tried with many
 * objects, so that the check lists their directories, and with a few objects.
 */
static void checked(void **state)
{
	uint64_t seed = random_seed();
	struct loosening l;

	oldrepo_init(&l.o, &seed, OLD_PACK);
	oldrepo_collect(&l.o, &l.u, true);
	assert_int_equal(unreachable_keep(&l.u, 0, NULL), 0);
	assert_int_equal(loosen(&l, NULL), 0);
	assert_true(check_missing(&l) > 20);
	for (size_t i = 20; i < l.u.nr; i++)
		l.u.items[i].is_kept = false;
	assert_int_equal(check_missing(&l), 20);
	unreachable_release(&l.u);
	oldrepo_release(&l.o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(loosened),
		cmocka_unit_test(checked),
		cmocka_unit_test(no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
