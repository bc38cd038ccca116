/* SPDX-License-Identifier: MIT */
/*
 * Tests of network/network-verify.c, which checks a fork network: each kind of
 * problem is reported.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "network/network-repack-parts.h"
#include "network/network-verify.h"
#include "sys/tempdir.h"
#include "t/unit/netsync.h"
#include "t/unit/nomem.h"

struct told {
	unsigned store, member;
	char last[512];
};

static void tell(void *ctx, uint32_t id, const char *what)
{
	struct told *told = ctx;

	*(id ? &told->member : &told->store) += 1;
	snprintf(told->last, sizeof(told->last), "%s", what);
}

static struct network_verify_report verify(struct netsync *f, struct told *told)
{
	struct network_verify how = {&f->options, tell, told};
	struct network_verify_report report;

	*told = (struct told){0};
	assert_int_equal(network_verify(&report, f->n.network, &how, NULL), 0);
	return report;
}

static void test_right(void **state)
{
	struct network_verify_report report;
	struct oid one, two;
	struct netsync f;
	struct told told;

	netsync_init(&f);
	report = verify(&f, &told);
	assert_int_equal(report.member_nr + report.object_nr, 0);
	netsync_member(&f, "a", "one", &one);
	netrepo_commit(&f.n, "a", "two", &two);
	report = verify(&f, &told);
	assert_int_equal(told.store + told.member, 0);
	assert_int_equal(report.member_nr, 1);
	assert_int_equal(report.object_nr, 3);
	assert_int_equal(report.unsynced_nr, 3);
	assert_int_equal(report.pending_nr, 0);
	assert_int_equal(network_set_state(f.n.network, 1, NETWORK_ADDING,
					   SYS_FSYNC_NONE, NULL),
			 0);
	assert_int_equal(verify(&f, &told).pending_nr, 1);
	netrepo_release(&f.n);
}

static void test_member(void **state)
{
	struct network_drop_report dropped;
	struct oid one, gone;
	struct netsync f;
	struct told told;

	netsync_init(&f);
	netsync_member(&f, "a", "one", &one);
	tmprepo_write(&f.n.t, "a/config", "[core]\n\tbare = true\n");
	verify(&f, &told);
	assert_int_equal(told.member, 1);
	assert_non_null(strstr(told.last, "alternateRefsPrefixes"));
	tmprepo_write(&f.n.t, "a/config",
		      "[core]\n\tbare = true\n"
		      "\talternateRefsPrefixes = refs/virtual/1/\n");
	verify(&f, &told);
	assert_int_equal(told.member, 0);
	memset(&gone, 0x11, sizeof(gone));
	memset(gone.bytes + 20, 0, 12);
	netrepo_ref(&f.n, "a", "refs/heads/gone", &gone);
	verify(&f, &told);
	assert_int_equal(told.member, 1);
	tmprepo_remove(&f.n.t, "a/refs/heads/gone");
	assert_int_equal(
		network_drop(f.n.network, 1, &f.options, &dropped, NULL), 0);
	tmprepo_remove(&f.n.t, "a/objects/info/alternates");
	verify(&f, &told);
	assert_int_equal(told.member, 1);
	assert_non_null(strstr(told.last, "must list the store"));
	assert_int_equal(sys_tempdir_remove(netrepo_path(&f.n, "a"), NULL), 0);
	verify(&f, &told);
	assert_int_equal(told.member, 1);
	assert_non_null(strstr(told.last, "there is no repository at"));
	netrepo_release(&f.n);
}

static void test_store(void **state)
{
	struct netsync f;
	struct oid one;
	struct told told;

	netsync_init(&f);
	netsync_member(&f, "a", "one", &one);
	assert_int_equal(
		sys_tempdir_remove(netrepo_path(&f.n, "store/objects/pack"),
				   NULL),
		0);
	verify(&f, &told);
	assert_int_equal(told.store, 1);
	tmprepo_write(&f.n.t, "store/config", "[core]\n\tbare = true\n");
	network_close(f.n.network);
	assert_int_equal(
		network_open(&f.n.network, netrepo_path(&f.n, "store"), NULL),
		0);
	verify(&f, &told);
	assert_int_equal(told.store, 2);
	netrepo_release(&f.n);
}

struct again {
	struct netsync f;
	struct told told;
	struct network_verify_report report;
};

static int verify_again(void *ctx, struct error *err)
{
	struct again *a = ctx;
	struct network_verify how = {&a->f.options, tell, &a->told};

	a->told = (struct told){0};
	return network_verify(&a->report, a->f.n.network, &how, err);
}

static void check_report(void *ctx)
{
	const struct again *a = ctx;

	assert_int_equal(a->told.store + a->told.member, 0);
	assert_int_equal(a->report.member_nr, 2);
	assert_int_equal(a->report.object_nr, 6);
	assert_int_equal(a->report.unsynced_nr, 3);
}

/*
 * An allocation fails during the check. Then the check must return an error, or
 * it must succeed with a complete report. The lack of memory must not be
 * reported as damage of the network.
 */
static void test_no_memory(void **state)
{
	struct oid one, two, three;
	struct again a;

	netsync_init(&a.f);
	netsync_member(&a.f, "a", "one", &one);
	netsync_member(&a.f, "b", "two", &two);
	netrepo_commit(&a.f.n, "a", "three", &three);
	nomem_each(NULL, verify_again, check_report, &a);
	netrepo_release(&a.f.n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_right),
		cmocka_unit_test(test_member),
		cmocka_unit_test(test_store),
		cmocka_unit_test(test_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
