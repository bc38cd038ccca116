/* SPDX-License-Identifier: MIT */
/*
 * Tests of network/network-drop.c: a member repository of a fork network drops
 * objects that the shared store has.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "network/network-repack-parts.h"
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_drop),
		cmocka_unit_test(test_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
