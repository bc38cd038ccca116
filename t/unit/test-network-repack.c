/* SPDX-License-Identifier: MIT */
/*
 * Tests of network/network-repack.c, which repacks the shared store of a fork
 * network into one pack: which objects are removed and which stay.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "islands/network-delete.h"
#include "network/network-repack.h"
#include "t/unit/netsync.h"

static int repack(struct netsync *f, bool prune,
		  struct network_repack_report *report)
{
	struct network_repack options = {
		.newpack = f->options,
		.store = f->options,
		.prune = prune,
		.expiry = INT64_MAX,
	};

	return network_repack(report, f->n.network, &options, &f->err);
}

static void test_repack(void **state)
{
	struct network_repack_report report;
	struct oid one, two;
	struct netsync f;
	uint32_t a;

	netsync_init(&f);
	a = netsync_member(&f, "a", "one", &one);
	netsync_member(&f, "b", "two", &two);
	assert_int_equal(repack(&f, false, &report), 0);
	assert_int_equal(report.member_nr, 2);
	assert_int_equal(report.store.object_nr, 6);
	assert_int_equal(report.store.cruft_nr, 0);
	assert_false(netsync_owns(&f, "a", &one));
	assert_false(netsync_owns(&f, "b", &two));
	/*
	 * Objects that have become unreachable stay in the shared store until
	 * they are pruned.
	 */
	assert_int_equal(network_delete(f.n.network, a, NULL), 0);
	assert_int_equal(repack(&f, false, &report), 0);
	assert_int_equal(report.store.cruft_nr, 3);
	assert_true(netrepo_stored(&f.n, &one));
	assert_int_equal(repack(&f, true, &report), 0);
	assert_false(netrepo_stored(&f.n, &one));
	assert_true(netrepo_stored(&f.n, &two));
	netrepo_release(&f.n);
}

/* ctx: number of notes about the store, number of notes about the member "a" */
static void count_held(void *ctx, const char *message)
{
	uint32_t *held = ctx;

	assert_non_null(strstr(message, "packs are removed without a lock: "));
	assert_non_null(strstr(message, "multi-pack-index.lock"));
	assert_null(strchr(message, '\n'));
	held[strstr(message, "/a/objects/") != NULL]++;
}

/* Put the loose objects of the member "a" into a pack. */
static void pack_loose(struct netsync *f)
{
	const struct repack_options options = {.newpack = f->options};
	struct repo *repo = netrepo_open(&f->n, "a");
	struct repack_result result;

	assert_int_equal(repack_run(&result, repo, &options, NULL), 0);
	repo_close(repo);
}

/*
 * Another process has the locks of two multi-pack-indexes: of the store and of
 * a member. Packs are removed from both, and there is a note for each lock.
 */
static void test_held(void **state)
{
	uint32_t held[2] = {0};
	struct network_repack options = {.note = count_held, .ctx = held};
	struct network_repack_report report;
	struct oid one, two;
	struct netsync f;

	netsync_init(&f);
	options.newpack = options.store = f.options;
	netsync_member(&f, "a", "one", &one);
	assert_int_equal(repack(&f, false, &report), 0);
	netrepo_commit(&f.n, "a", "two", &two);
	pack_loose(&f);
	tmprepo_write(&f.n.t, "store/objects/pack/multi-pack-index", "");
	tmprepo_write(&f.n.t, "store/objects/pack/multi-pack-index.lock", "");
	tmprepo_write(&f.n.t, "a/objects/pack/multi-pack-index", "");
	tmprepo_write(&f.n.t, "a/objects/pack/multi-pack-index.lock", "");
	assert_int_equal(network_repack(&report, f.n.network, &options, &f.err),
			 0);
	assert_int_equal(report.pack_nr, 1);
	assert_int_equal(held[0], 1);
	assert_int_equal(held[1], 1);
	netrepo_release(&f.n);
}

/*
 * A file of a member repository names an object that no ref reaches. The object
 * is pruned only after the file was removed. `format`: the content of the file,
 * with "%s" in place of the object's id.
 */
static void check_root(const char *path, const char *format)
{
	struct network_repack_report report;
	char hex[OID_MAX_HEX_LEN + 1];
	struct buf line = BUF_INIT;
	struct oid one, two;
	struct netsync f;

	netsync_init(&f);
	netsync_member(&f, "a", "one", &one);
	assert_int_equal(repack(&f, false, &report), 0);
	netrepo_commit(&f.n, "a", "two", &two);
	buf_printf(&line, format, oid_to_hex(hex, &one, HASH_SHA1));
	tmprepo_write(&f.n.t, path, line.data);
	assert_int_equal(repack(&f, true, &report), 0);
	assert_true(netrepo_stored(&f.n, &one));
	tmprepo_remove(&f.n.t, path);
	assert_int_equal(repack(&f, true, &report), 0);
	assert_false(netrepo_stored(&f.n, &one));
	buf_release(&line);
	netrepo_release(&f.n);
}

static void test_roots(void **state)
{
	check_root("a/logs/refs/heads/main",
		   "0000000000000000000000000000000000000000 %s "
		   "A <a@example.com> 1112911993 +0200\tx\n");
	check_root("a/info/grafts",
		   "1234567812345678123456781234567812345678 %s\n");
	check_root("a/rebase-merge/orig-head", "%s\n");
}

/*
 * The repository of a member is missing. Nothing is pruned, because this member
 * may need any object.
 */
static void test_lost(void **state)
{
	struct network_repack_report report;
	struct oid one, two;
	struct netsync f;
	struct buf path = BUF_INIT;

	netsync_init(&f);
	netsync_member(&f, "a", "one", &one);
	netsync_member(&f, "b", "two", &two);
	buf_printf(&path, "%s/moved", f.n.t.dir);
	assert_int_equal(rename(netrepo_path(&f.n, "a"), path.data), 0);
	assert_int_equal(repack(&f, true, &report), ERR_MISSING);
	assert_true(netrepo_stored(&f.n, &one));
	assert_int_equal(repack(&f, false, &report), 0);
	assert_int_equal(report.member_nr, 1);
	assert_true(netrepo_stored(&f.n, &one));
	buf_release(&path);
	netrepo_release(&f.n);
}

static void test_settle(void **state)
{
	static const enum network_state states[] = {
		NETWORK_ADDING, NETWORK_LEAVING, NETWORK_DELETING,
		NETWORK_FORKING};
	struct oid oid;
	struct netsync f;

	netsync_init(&f);
	for (uint32_t i = 0; i < 4; i++) {
		char name[2] = {(char)('a' + i), '\0'};

		assert_int_equal(netsync_member(&f, name, name, &oid), i + 1);
		assert_int_equal(network_set_state(f.n.network, i + 1,
						   states[i], SYS_FSYNC_NONE,
						   NULL),
				 0);
	}
	assert_int_equal(network_settle(f.n.network, &f.options, NULL), 0);
	assert_int_equal(f.n.network->registry.nr, 2);
	assert_int_equal(f.n.network->registry.entries[0].id, 1);
	assert_int_equal(f.n.network->registry.entries[0].state,
			 NETWORK_MEMBER);
	assert_int_equal(f.n.network->registry.entries[1].id, 4);
	assert_false(
		sys_exists(netrepo_path(&f.n, "b/objects/info/alternates")));
	assert_false(sys_exists(netrepo_path(&f.n, "c")));
	/*
	 * A process added the repository to the registry. It was killed before
	 * it linked the repository to the shared store. So network_settle()
	 * removes the repository from the registry.
	 */
	assert_int_equal(network_set_state(f.n.network, 1, NETWORK_ADDING,
					   SYS_FSYNC_NONE, NULL),
			 0);
	tmprepo_remove(&f.n.t, "a/objects/info/alternates");
	assert_int_equal(network_settle(f.n.network, &f.options, NULL), 0);
	assert_int_equal(f.n.network->registry.nr, 1);
	netrepo_release(&f.n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_repack), cmocka_unit_test(test_held),
		cmocka_unit_test(test_roots),  cmocka_unit_test(test_lost),
		cmocka_unit_test(test_settle),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
