/* SPDX-License-Identifier: MIT */
/*
 * Tests of network/network-graph.c, which updates the commit-graph of a
 * network's shared store. Without a commit-graph, nothing happens. A
 * commit-graph that cannot be read does not change. t/t5602-network-repack.sh
 * tests commit-graphs that are out of date.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "network/network-repack-parts.h"
#include "t/unit/netrepo.h"

static void test_none(void **state)
{
	struct netrepo n;
	struct repo *repo;

	netrepo_init(&n);
	netrepo_repo(&n, "a");
	repo = netrepo_open(&n, "a");
	assert_int_equal(network_graph_clean(repo, NULL), 0);
	tmprepo_write(&n.t, "a/objects/info/commit-graph", "none");
	assert_int_equal(network_graph_clean(repo, NULL), 0);
	assert_true(
		sys_exists(netrepo_path(&n, "a/objects/info/commit-graph")));
	repo_close(repo);
	netrepo_release(&n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
