/* SPDX-License-Identifier: MIT */
/*
 * Tests of network/network-leave.c: when a repository leaves its fork network,
 * it gets all objects that it needs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "network/network-leave.h"
#include "network/network-repack-parts.h"
#include "sys/tempdir.h"
#include "t/unit/netsync.h"

static void test_leave(void **state)
{
	struct network_drop_report report;
	struct oid one, two;
	struct netsync f;
	uint32_t id;

	netsync_init(&f);
	netsync_member(&f, "b", "two", &two);
	id = netsync_member(&f, "a", "one", &one);
	assert_int_equal(
		network_drop(f.n.network, id, &f.options, &report, NULL), 0);
	assert_false(netsync_owns(&f, "a", &one));
	assert_int_equal(network_leave(f.n.network, id, NULL), 0);
	assert_true(netsync_owns(&f, "a", &one));
	assert_false(
		sys_exists(netrepo_path(&f.n, "a/objects/info/alternates")));
	assert_int_equal(f.n.network->registry.nr, 1);
	assert_int_equal(network_leave(f.n.network, id, NULL), ERR_MISSING);
	netrepo_release(&f.n);
}

/*
 * The shared store has lost an object of the member. Leaving the network must
 * fail before anything changes.
 */
static void test_broken(void **state)
{
	struct network_drop_report report;
	struct error err = ERROR_INIT;
	struct netsync f;
	struct oid one;
	uint32_t id;

	netsync_init(&f);
	id = netsync_member(&f, "a", "one", &one);
	assert_int_equal(
		network_drop(f.n.network, id, &f.options, &report, NULL), 0);
	assert_int_equal(
		sys_tempdir_remove(netrepo_path(&f.n, "store/objects/pack"),
				   NULL),
		0);
	assert_true(network_leave(f.n.network, id, &err) < 0);
	assert_int_equal(f.n.network->registry.entries[0].state,
			 NETWORK_MEMBER);
	assert_true(
		sys_exists(netrepo_path(&f.n, "a/objects/info/alternates")));
	netrepo_release(&f.n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_leave),
		cmocka_unit_test(test_broken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
