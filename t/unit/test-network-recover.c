/* SPDX-License-Identifier: MIT */
/*
 * Tests of network/network-recover.c, which removes locks and unfinished files
 * of killed processes. Nothing is removed while another process works on the
 * network. t/t5602-network-repack.sh tests all places of locks.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "network/network-repack.h"
#include "sys/clock.h"
#include "t/unit/netrepo.h"

#define GONE "pid 99999999\n"

static bool is_there(struct netrepo *n, const char *name)
{
	return sys_exists(netrepo_path(n, name));
}

static void refuse_warning(const char *text)
{
	fail_msg("%s", text);
}

static void expect_warning(const char *text)
{
	assert_non_null(strstr(text, "store/packed-refs.lock'"));
	assert_non_null(strstr(text, " 99999999,"));
}

static void test_locks(void **state)
{
	struct netrepo n;

	netrepo_init(&n);
	n.network->warn = refuse_warning;
	tmprepo_write(&n.t, "store/refs/x.lock", "");
	tmprepo_write(&n.t, "store/refs/y.lock", "");
	tmprepo_write(&n.t, "store/refs/y~pid.lock", "pid 1\n");
	assert_int_equal(network_recover(n.network, NULL), 0);
	assert_true(is_there(&n, "store/refs/x.lock"));
	assert_true(is_there(&n, "store/refs/y.lock"));
	assert_true(is_there(&n, "store/refs/y~pid.lock"));
	n.network->warn = expect_warning;
	tmprepo_write(&n.t, "store/packed-refs.lock", "");
	tmprepo_write(&n.t, "store/packed-refs~pid.lock", GONE);
	assert_int_equal(network_recover(n.network, NULL), 0);
	assert_false(is_there(&n, "store/packed-refs.lock"));
	assert_false(is_there(&n, "store/packed-refs~pid.lock"));
	n.network->warn = NULL;
	assert_int_equal(sys_set_mtime(netrepo_path(&n, "store/refs/x.lock"),
				       sys_clock_seconds() - 3700, NULL),
			 0);
	assert_int_equal(network_recover(n.network, NULL), 0);
	assert_false(is_there(&n, "store/refs/x.lock"));
	netrepo_release(&n);
}

static void test_packs(void **state)
{
	struct netrepo n;

	netrepo_init(&n);
	tmprepo_write(&n.t, "store/objects/pack/tmp_pack_x", "");
	tmprepo_write(&n.t, "store/objects/pack/pack-1.pack", "");
	tmprepo_write(&n.t, "store/objects/pack/pack-1.rev", "");
	tmprepo_write(&n.t, "store/objects/pack/pack-2.pack", "");
	tmprepo_write(&n.t, "store/objects/pack/pack-2.idx", "");
	tmprepo_write(&n.t, "store/objects/pack/loose-3.pack", "");
	tmprepo_write(&n.t, "store/objects/pack/loose-3.rev", "");
	tmprepo_write(&n.t, "store/objects/pack/loose-4.pack", "");
	tmprepo_write(&n.t, "store/objects/pack/loose-4.idx", "");
	tmprepo_write(&n.t, "store/objects/pack/multi-pack-index-5.rev", "");
	tmprepo_write(&n.t, "store/objects/pack/pack-6.txt", "");
	assert_int_equal(network_recover(n.network, NULL), 0);
	assert_false(is_there(&n, "store/objects/pack/loose-3.pack"));
	assert_false(is_there(&n, "store/objects/pack/loose-3.rev"));
	assert_true(is_there(&n, "store/objects/pack/loose-4.pack"));
	assert_true(is_there(&n, "store/objects/pack/multi-pack-index-5.rev"));
	assert_true(is_there(&n, "store/objects/pack/pack-6.txt"));
	assert_false(is_there(&n, "store/objects/pack/tmp_pack_x"));
	assert_false(is_there(&n, "store/objects/pack/pack-1.pack"));
	assert_false(is_there(&n, "store/objects/pack/pack-1.rev"));
	assert_true(is_there(&n, "store/objects/pack/pack-2.pack"));
	netrepo_release(&n);
}

/*
 * If another process holds any lock of the network, even a shared one, nothing
 * is removed.
 */
static void test_others(void **state)
{
	struct network *other;
	struct netrepo n;

	netrepo_init(&n);
	tmprepo_write(&n.t, "store/objects/pack/tmp_pack_x", "");
	assert_int_equal(network_open(&other, netrepo_path(&n, "store"), NULL),
			 0);
	assert_int_equal(
		network_lock(other, NETWORK_LOCK_OBJECTS, true, false, NULL),
		0);
	assert_int_equal(network_recover(n.network, NULL), 0);
	assert_true(is_there(&n, "store/objects/pack/tmp_pack_x"));
	network_unlock(other, NETWORK_LOCK_OBJECTS);
	assert_int_equal(network_recover(n.network, NULL), 0);
	assert_false(is_there(&n, "store/objects/pack/tmp_pack_x"));
	/* network_recover() has released its lock. */
	assert_int_equal(network_lock(other, 99, false, false, NULL), 0);
	network_close(other);
	netrepo_release(&n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_locks),
		cmocka_unit_test(test_packs),
		cmocka_unit_test(test_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
