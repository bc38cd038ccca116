/* SPDX-License-Identifier: MIT */
/*
 * Tests of network/network-drop.c: a member repository of a fork network drops
 * objects that the shared store has.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>
#include <cmocka.h>
#include <pthread.h>

#include "base/mem.h"
#include "network/network-repack-parts.h"
#include "repack/repack.h"
#include "sys/clock.h"
#include "sys/dirlock.h"
#include "t/unit/netsync.h"

static void test_drop(void **state)
{
	struct network_drop_report report;
	struct oid one, two;
	struct netsync f;
	uint32_t id;

	netsync_init(&f);
	id = netsync_member(&f, "a", "one", &one);
	netrepo_commit(&f.n, "a", "two", &two);
	assert_true(netsync_owns(&f, "a", &one));
	assert_int_equal(
		network_drop(f.n.network, id, &f.options, &report, NULL), 0);
	assert_false(netsync_owns(&f, "a", &one));
	assert_true(netsync_owns(&f, "a", &two));
	assert_true(netrepo_stored(&f.n, &one));
	/* A second call of network_drop() finds nothing to remove. */
	assert_int_equal(
		network_drop(f.n.network, id, &f.options, &report, NULL), 0);
	assert_int_equal(report.pack_nr, 0);
	netrepo_release(&f.n);
}

/*
 * network_drop() removes objects from a member of the network if the shared
 * store has them, too. But a member that does not borrow objects from the store
 * keeps all its objects.
 */
static void test_alone(void **state)
{
	struct network_drop_report report;
	struct netsync f;
	struct oid one;
	uint32_t id;

	netsync_init(&f);
	id = netsync_member(&f, "a", "one", &one);
	tmprepo_remove(&f.n.t, "a/objects/info/alternates");
	assert_int_equal(
		network_drop(f.n.network, id, &f.options, &report, NULL), 0);
	assert_true(netsync_owns(&f, "a", &one));
	assert_int_equal(
		network_drop(f.n.network, 9, &f.options, &report, NULL), 0);
	netrepo_release(&f.n);
}

#define SECOND_NS INT64_C(1000000000)
#define KEPT "pack-eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee"

/* Pack the loose objects of the member "a". */
static void pack_loose(struct netsync *f)
{
	const struct repack_options options = {
		.remove_redundant = true,
		.newpack = f->options,
	};
	struct repo *repo = netrepo_open(&f->n, "a");
	struct repack_result result;

	assert_int_equal(repack_run(&result, repo, &options, NULL), 0);
	repo_close(repo);
}

/* Make KEPT: a second copy of the member's pack with the object `oid`. */
static void copy_pack(struct netsync *f, const struct oid *oid)
{
	static const char *const extensions[] = {"pack", "idx"};
	struct repo *repo = netrepo_open(&f->n, "a");
	char from[4096], to[4096];
	struct odb *odb;
	uint32_t odb_pos, idx_pos;

	assert_int_equal(odb_open(&odb, repo, NULL, NULL), 0);
	assert_true(odb_find(odb, oid, &odb_pos));
	for (size_t i = 0; i < ARRAY_NR(extensions); i++) {
		snprintf(from, sizeof(from), "%s.%s",
			 odb_locate(odb, odb_pos, &idx_pos)->pack->path,
			 extensions[i]);
		snprintf(to, sizeof(to), "%s/a/objects/pack/%s.%s", f->n.t.dir,
			 KEPT, extensions[i]);
		assert_int_equal(link(from, to), 0);
	}
	tmprepo_write(&f->n.t, "a/objects/pack/" KEPT ".keep", "");
	odb_close(odb);
	repo_close(repo);
}

struct other {
	struct netsync *f;
	int lock; /* a result of sys_dirlock_take() */
};

/* Another process has the lock, and removes KEPT. */
static void *remove_kept(void *ctx)
{
	struct other *other = ctx;

	sys_sleep_ns(SECOND_NS);
	tmprepo_remove(&other->f->n.t, "a/objects/pack/" KEPT ".idx");
	tmprepo_remove(&other->f->n.t, "a/objects/pack/" KEPT ".pack");
	sys_dirlock_drop(other->lock);
	return NULL;
}

/*
 * An object is in a pack that would be removed, and in a pack with a .keep
 * file. If another process removes the second pack, the first one stays.
 */
static void test_kept_goes(void **state)
{
	struct network_drop_report report;
	struct netsync f;
	struct other other = {.f = &f};
	struct oid one, two;
	pthread_t thread;
	uint32_t id;

	netsync_init(&f);
	id = netsync_member(&f, "a", "one", &one);
	netrepo_commit(&f.n, "a", "two", &two);
	pack_loose(&f);
	copy_pack(&f, &two);
	other.lock = sys_dirlock_take(netrepo_path(&f.n, "a/objects/pack"), 0,
				      NULL);
	assert_true(other.lock >= 0 && other.lock != SYS_DIRLOCK_NONE);
	assert_int_equal(pthread_create(&thread, NULL, remove_kept, &other), 0);
	assert_int_equal(
		network_drop(f.n.network, id, &f.options, &report, NULL),
		ERR_MISSING);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(report.pack_nr, 0);
	assert_true(netsync_owns(&f, "a", &two));
	netrepo_release(&f.n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_drop),
		cmocka_unit_test(test_alone),
		cmocka_unit_test(test_kept_goes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
