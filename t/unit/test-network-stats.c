/* SPDX-License-Identifier: MIT */
/*
 * Tests of network/network-stats.c, which counts for a fork network how many
 * objects can be sent by copying their stored bytes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "network/network-repack-parts.h"
#include "network/network-repack.h"
#include "network/network-verify.h"
#include "t/unit/netsync.h"
#include "t/unit/nomem.h"

static void test_stats(void **state)
{
	struct network_repack_report repacked;
	struct network_repack how = {.prune = false};
	struct network_stats stats;
	struct network *network;
	uint64_t stored;
	struct oid one, two;
	struct netsync f;

	netsync_init(&f);
	network = f.n.network;
	netrepo_repo(&f.n, "b");
	netsync_member(&f, "a", "one", &one);
	how.newpack = how.store = f.options;
	assert_int_equal(network_repack(&repacked, network, &how, NULL), 0);
	assert_int_equal(network_stats(&stats, network,
				       &network->registry.entries[0], NULL),
			 0);
	assert_int_equal(stats.object_nr, 3);
	assert_int_equal(stats.recompressed_nr, 0);
	assert_true(stats.used_bitmap);
	assert_true(stats.verbatim_bytes > 0);
	assert_int_equal(stats.own_pack_bytes, 0);
	assert_int_equal(network_stats_store(&stored, network, NULL), 0);
	/* The header and the trailer of the pack are not copied. */
	assert_int_equal(stored, stats.verbatim_bytes + 32);
	/*
	 * A loose object cannot be copied into a pack, because its header is
	 * compressed together with its content.
	 */
	netrepo_commit(&f.n, "a", "two", &two);
	netrepo_ref(&f.n, "a", "refs/heads/old", &one);
	assert_int_equal(network_stats(&stats, network,
				       &network->registry.entries[0], NULL),
			 0);
	assert_int_equal(stats.object_nr, 6);
	assert_int_equal(stats.recompressed_nr, 3);
	netrepo_release(&f.n);
}

static void test_empty(void **state)
{
	struct network_stats stats;
	struct network_entry entry = {1, NETWORK_MEMBER, (char *)"../a"};
	struct netsync f;

	netsync_init(&f);
	netrepo_repo(&f.n, "a");
	assert_int_equal(network_stats(&stats, f.n.network, &entry, NULL), 0);
	assert_int_equal(stats.object_nr, 0);
	entry.path = (char *)"../nowhere";
	assert_int_equal(network_stats(&stats, f.n.network, &entry, NULL),
			 ERR_MISSING);
	netrepo_release(&f.n);
}

struct again {
	struct netsync f;
	struct network_stats stats;
};

static int stats_again(void *ctx, struct error *err)
{
	struct again *a = ctx;
	const struct network *network = a->f.n.network;

	return network_stats(&a->stats, network, &network->registry.entries[0],
			     err);
}

static void check_stats(void *ctx)
{
	const struct again *a = ctx;

	assert_int_equal(a->stats.object_nr, 6);
}

/* If an allocation fails, either counting fails, or the counts are right. */
static void test_no_memory(void **state)
{
	struct network_repack_report repacked;
	struct network_repack how = {.prune = false};
	struct oid one, two;
	struct again a;

	netsync_init(&a.f);
	netrepo_repo(&a.f.n, "b");
	netsync_member(&a.f, "a", "one", &one);
	how.newpack = how.store = a.f.options;
	assert_int_equal(network_repack(&repacked, a.f.n.network, &how, NULL),
			 0);
	netrepo_commit(&a.f.n, "a", "two", &two);
	netrepo_ref(&a.f.n, "a", "refs/heads/old", &one);
	nomem_each(NULL, stats_again, check_stats, &a);
	netrepo_release(&a.f.n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stats),
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
