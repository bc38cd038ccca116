/* SPDX-License-Identifier: MIT */
/*
 * Tests of islands/network-delete.c, which deletes a member of a fork network:
 * its repository, and its refs in the shared store.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "islands/network-delete.h"
#include "sys/tempdir.h"
#include "t/unit/netsync.h"

static void test_delete(void **state)
{
	struct oid one, two;
	struct netsync f;
	uint32_t a, b;

	netsync_init(&f);
	a = netsync_member(&f, "a", "one", &one);
	b = netsync_member(&f, "b", "two", &two);
	assert_int_equal(network_delete(f.n.network, a, NULL), 0);
	assert_false(sys_exists(netrepo_path(&f.n, "a")));
	assert_null(network_registry_find(&f.n.network->registry, a));
	assert_non_null(network_registry_find(&f.n.network->registry, b));
	assert_true(netrepo_stored(&f.n, &one));
	assert_int_equal(network_delete(f.n.network, a, NULL), ERR_MISSING);
	/*
	 * Somebody has removed the member's repository before. So
	 * network_delete() only removes the member's entry from the registry.
	 */
	assert_int_equal(sys_tempdir_remove(netrepo_path(&f.n, "b"), NULL), 0);
	assert_int_equal(network_delete(f.n.network, b, NULL), 0);
	assert_int_equal(f.n.network->registry.nr, 0);
	netrepo_release(&f.n);
}

static void test_refused(void **state)
{
	struct netsync f;
	struct oid one;
	uint32_t id;

	netsync_init(&f);
	id = netsync_member(&f, "a", "one", &one);
	tmprepo_remove(&f.n.t, "a/objects/info/alternates");
	assert_int_equal(network_delete(f.n.network, id, NULL), ERR_INVALID);
	tmprepo_write(&f.n.t, "a/objects/info/alternates",
		      "../../store/objects\n");
	tmprepo_write(&f.n.t, "a/config", "[core]\n\tbare = false\n");
	assert_int_equal(network_delete(f.n.network, id, NULL), ERR_INVALID);
	assert_true(sys_exists(netrepo_path(&f.n, "a/HEAD")));
	assert_int_equal(f.n.network->registry.entries[0].state,
			 NETWORK_MEMBER);
	netrepo_release(&f.n);
}

/*
 * A process that deleted a repository of the network was killed after it had
 * renamed the repository. A second deletion completes the work.
 */
static void test_killed(void **state)
{
	struct netsync f;
	struct oid one;
	uint32_t id;

	netsync_init(&f);
	id = netsync_member(&f, "a", "one", &one);
	assert_int_equal(network_set_state(f.n.network, id, NETWORK_DELETING,
					   SYS_FSYNC_NONE, NULL),
			 0);
	assert_int_equal(
		sys_mkdir_p(netrepo_path(&f.n, ".a.network-1-deleted"), NULL),
		0);
	assert_int_equal(network_delete(f.n.network, id, NULL), 0);
	assert_false(sys_exists(netrepo_path(&f.n, "a")));
	assert_false(sys_exists(netrepo_path(&f.n, ".a.network-1-deleted")));
	assert_int_equal(f.n.network->registry.nr, 0);
	netrepo_release(&f.n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_delete),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_killed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
