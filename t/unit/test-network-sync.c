/* SPDX-License-Identifier: MIT */
/*
 * Tests of network/network-sync.h: which objects the shared store of a fork
 * network gets from member repositories.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "islands/network-member.h"
#include "t/unit/netsync.h"

static void test_add(void **state)
{
	struct netsync f;
	struct oid one, two;
	uint32_t id;

	netsync_init(&f);
	netrepo_repo(&f.n, "a");
	netrepo_commit(&f.n, "a", "one", &one);
	assert_int_equal(netsync_add(&f, "a", &id), 0);
	assert_int_equal(id, 1);
	assert_int_equal(f.report.copied_nr, 3);
	assert_int_equal(f.report.ref_nr, 1);
	assert_true(netrepo_stored(&f.n, &one));
	assert_int_equal(netsync_add(&f, "a", &id), ERR_INVALID);
	assert_int_equal(netsync_add(&f, "store", &id), ERR_INVALID);
	/*
	 * Add a second repository to the network. It has one object more than
	 * the first.
	 */
	netrepo_repo(&f.n, "b");
	netrepo_commit(&f.n, "b", "one", &one);
	netrepo_commit(&f.n, "b", "two", &two);
	netrepo_ref(&f.n, "b", "refs/heads/one", &one);
	assert_int_equal(netsync_add(&f, "b", &id), 0);
	assert_int_equal(id, 2);
	assert_int_equal(f.report.copied_nr, 3);
	assert_int_equal(f.report.ref_nr, 2);
	assert_true(netrepo_stored(&f.n, &two));
	netrepo_release(&f.n);
}

static void test_sync(void **state)
{
	struct netsync f;
	struct oid oid;
	uint32_t id;

	netsync_init(&f);
	netrepo_repo(&f.n, "a");
	assert_int_equal(netsync_add(&f, "a", &id), 0);
	assert_int_equal(netsync_sync(&f, 1), 0);
	assert_int_equal(f.report.copied_nr + f.report.ref_nr, 0);
	netrepo_commit(&f.n, "a", "one", &oid);
	assert_false(netrepo_stored(&f.n, &oid));
	assert_int_equal(netsync_sync(&f, 1), 0);
	assert_int_equal(f.report.copied_nr, 3);
	assert_true(netrepo_stored(&f.n, &oid));
	/*
	 * A branch of the member repository was deleted. Its copy in the shared
	 * store must be deleted, too.
	 */
	tmprepo_remove(&f.n.t, "a/refs/heads/main");
	assert_int_equal(netsync_sync(&f, 1), 0);
	assert_int_equal(f.report.ref_nr, 1);
	assert_int_equal(netsync_sync(&f, 5), ERR_MISSING);
	tmprepo_remove(&f.n.t, "a/objects/info/alternates");
	assert_int_equal(netsync_sync(&f, 1), ERR_INVALID);
	netrepo_release(&f.n);
}

/*
 * A process that added a repository to the network was killed. Adding it again
 * completes the work, and the member keeps its id.
 */
static void test_killed_add(void **state)
{
	struct netsync f;
	struct oid oid;
	uint32_t id;

	netsync_init(&f);
	netrepo_repo(&f.n, "a");
	netrepo_commit(&f.n, "a", "one", &oid);
	assert_int_equal(netsync_add(&f, "a", &id), 0);
	assert_int_equal(network_set_state(f.n.network, 1, NETWORK_ADDING,
					   SYS_FSYNC_NONE, NULL),
			 0);
	assert_int_equal(netsync_sync(&f, 1), ERR_INVALID);
	assert_int_equal(netsync_add(&f, "a", &id), 0);
	assert_int_equal(id, 1);
	netrepo_release(&f.n);
}

/*
 * After the last sync, a commit was pushed to the source repository. A fork of
 * this repository must get the commit.
 */
static void test_fork(void **state)
{
	struct netsync f;
	struct repo *source;
	struct oid oid;
	uint32_t id;

	netsync_init(&f);
	netrepo_repo(&f.n, "a");
	assert_int_equal(netsync_add(&f, "a", &id), 0);
	netrepo_commit(&f.n, "a", "one", &oid);
	source = netrepo_open(&f.n, "a");
	assert_int_equal(network_fork_synced(&id, f.n.network, source,
					     netrepo_path(&f.n, "b"),
					     &f.options, NULL),
			 0);
	assert_int_equal(id, 2);
	assert_true(netrepo_stored(&f.n, &oid));
	repo_close(source);
	netrepo_release(&f.n);
}

static void test_refused(void **state)
{
	struct netsync f;
	uint32_t id;

	netsync_init(&f);
	netrepo_repo(&f.n, "other");
	netrepo_repo(&f.n, "a");
	tmprepo_write(&f.n.t, "a/objects/info/alternates",
		      "../../other/objects\n");
	assert_int_equal(netsync_add(&f, "a", &id), ERR_INVALID);
	assert_non_null(
		strstr(f.err.msg, "borrows objects from another repository"));
	netrepo_repo(&f.n, "b");
	tmprepo_write(&f.n.t, "b/shallow",
		      "1234567890123456789012345678901234567890\n");
	assert_int_equal(netsync_add(&f, "b", &id), ERR_INVALID);
	assert_non_null(strstr(f.err.msg, "is shallow"));
	assert_int_equal(netsync_add(&f, "nowhere", &id), ERR_MISSING);
	assert_int_equal(f.n.network->registry.nr, 0);
	netrepo_release(&f.n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_add),        cmocka_unit_test(test_sync),
		cmocka_unit_test(test_killed_add), cmocka_unit_test(test_fork),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
