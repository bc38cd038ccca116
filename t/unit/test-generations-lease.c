/* SPDX-License-Identifier: MIT */
/*
 * Tests of generations/lease.c. A lease is a file in a store, and only one
 * process at a time can hold it. The tests prove that a second process gets the
 * lease only after the holder has dropped it or has died.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "generations/lease.h"
#include "generations/names.h"
#include "t/unit/genhost.h"
#include "t/unit/memstore.h"

#define MAX_AGE 100

struct node {
	struct memstore mem;
	struct genhost host;
	struct generation_place place;
	struct buf holder;
	/* How the next put or delete ends. All later requests succeed. */
	enum memstore_fate fate;
	/*
	 * Before the next request of this kind, another node tries to take the
	 * lease; other_result is the result. MEMSTORE_LIST: no node tries.
	 */
	enum memstore_op interferes;
	int other_result;
};

static void interfere(struct node *n)
{
	struct generation_lease other;
	struct buf holder = BUF_INIT;

	n->interferes = MEMSTORE_LIST;
	n->other_result = generation_lease_take(&other, &n->place, "other",
						MAX_AGE, &holder, NULL);
	buf_release(&holder);
}

static enum memstore_fate decide(void *ctx, enum memstore_op op,
				 const char *name)
{
	struct node *n = ctx;
	enum memstore_fate fate = n->fate;

	if (op == n->interferes)
		interfere(n);
	if (op != MEMSTORE_PUT && op != MEMSTORE_DELETE)
		return MEMSTORE_NORMAL;
	assert_string_equal(name, "lease/team/a_5fb/_");
	n->fate = MEMSTORE_NORMAL;
	return fate;
}

static void node_init(struct node *n)
{
	memset(n, 0, sizeof(*n));
	memstore_init(&n->mem);
	genhost_init(&n->host);
	n->host.seconds = n->mem.clock;
	n->interferes = MEMSTORE_LIST;
	n->place = (struct generation_place){&n->mem.store, &n->host.host,
					     "team/a_b"};
	n->mem.fate = decide;
	n->mem.ctx = n;
	buf_init(&n->holder);
}

static void node_release(struct node *n)
{
	buf_release(&n->holder);
	memstore_release(&n->mem);
}

static int take(struct node *n, struct generation_lease *lease,
		const char *name)
{
	buf_reset(&n->holder);
	return generation_lease_take(lease, &n->place, name, MAX_AGE,
				     &n->holder, NULL);
}

static void test_one_holder(void **state)
{
	struct generation_lease a, b;
	struct node n;

	(void)state;
	node_init(&n);
	assert_int_equal(take(&n, &a, "alpha"), 0);
	assert_int_equal(take(&n, &b, "beta"), STORE_CONFLICT);
	assert_string_equal(n.holder.data, "alpha");
	/*
	 * A process that did not get the lease may call
	 * generation_lease_drop(). This must not drop the lease of the holder.
	 */
	assert_int_equal(generation_lease_drop(&b, NULL), 0);
	assert_int_equal(take(&n, &b, "beta"), STORE_CONFLICT);
	assert_int_equal(generation_lease_drop(&a, NULL), 0);
	assert_int_equal(n.mem.nr, 0);
	assert_int_equal(take(&n, &b, "beta"), 0);
	assert_int_equal(generation_lease_drop(&b, NULL), 0);
	assert_int_equal(generation_lease_drop(&b, NULL), 0);
	node_release(&n);
}

static void test_dead_holder(void **state)
{
	struct generation_lease dead, next;
	struct node n;

	(void)state;
	node_init(&n);
	assert_int_equal(take(&n, &dead, "dead"), 0);
	n.host.seconds += MAX_AGE;
	assert_int_equal(take(&n, &next, "next"), STORE_CONFLICT);
	n.host.seconds++;
	n.mem.clock = n.host.seconds;
	assert_int_equal(take(&n, &next, "next"), 0);
	/*
	 * The first holder was not dead but slow. It must not drop the lease,
	 * which another process holds now.
	 */
	assert_int_equal(generation_lease_drop(&dead, NULL), 0);
	assert_int_equal(take(&n, &dead, "dead"), STORE_CONFLICT);
	assert_string_equal(n.holder.data, "next");
	node_release(&n);
}

/*
 * If the holder renews its lease in time, no other process can take the lease.
 */
static void test_renewed(void **state)
{
	struct generation_lease holder, other;
	struct node n;

	(void)state;
	node_init(&n);
	assert_int_equal(take(&n, &holder, "holder"), 0);
	for (int i = 0; i < 3; i++) {
		const struct memstore_file *f = &n.mem.files[0];
		size_t len = f->len;
		char *before = malloc(len);

		assert_non_null(before);
		memcpy(before, f->bytes, len);
		n.host.seconds += MAX_AGE;
		n.mem.clock = n.host.seconds;
		assert_int_equal(generation_lease_renew(&holder, NULL), 0);
		/*
		 * Each renewal must change the content of the file, because a
		 * store may compute the entity tag from the content.
		 */
		f = &n.mem.files[0];
		assert_false(f->len == len && !memcmp(before, f->bytes, len));
		free(before);
	}
	n.host.seconds += MAX_AGE;
	assert_int_equal(take(&n, &other, "other"), STORE_CONFLICT);
	assert_string_equal(n.holder.data, "holder");
	assert_int_equal(n.mem.nr, 1);

	/* If the store does not answer a renewal, the holder can try again. */
	n.fate = MEMSTORE_DOWN;
	assert_int_equal(generation_lease_renew(&holder, NULL),
			 STORE_UNAVAILABLE);
	assert_int_equal(generation_lease_renew(&holder, NULL), 0);

	/*
	 * A lease cannot be renewed after another process has taken it, or
	 * after it was dropped.
	 */
	n.host.seconds += MAX_AGE + 1;
	n.mem.clock = n.host.seconds;
	assert_int_equal(take(&n, &other, "other"), 0);
	assert_int_equal(generation_lease_renew(&holder, NULL), STORE_CONFLICT);
	assert_int_equal(generation_lease_renew(&other, NULL), 0);
	assert_int_equal(generation_lease_drop(&other, NULL), 0);
	assert_int_equal(generation_lease_renew(&other, NULL), STORE_CONFLICT);
	assert_int_equal(n.mem.nr, 0);
	node_release(&n);
}

static void test_lost_answers(void **state)
{
	static const enum memstore_fate fates[] = {
		MEMSTORE_LOST,
		MEMSTORE_NOTHING,
		MEMSTORE_REPEATED,
	};
	struct generation_lease lease;
	struct node n;

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		node_init(&n);
		n.fate = fates[i];
		assert_int_equal(take(&n, &lease, "alpha"), 0);
		assert_int_equal(n.mem.nr, 1);
		/*
		 * When the lease is too old, another process ("beta") takes it
		 * over. The first request of this process ends like that of the
		 * first process (fates[i]): the response is lost, the request
		 * has no effect, or the request is executed twice.
		 * Nevertheless, this process must get the lease.
		 */
		n.host.seconds += 2 * MAX_AGE;
		n.mem.clock = n.host.seconds;
		n.fate = fates[i];
		assert_int_equal(take(&n, &lease, "beta"), 0);
		assert_int_equal(generation_lease_drop(&lease, NULL), 0);
		assert_int_equal(n.mem.nr, 0);
		node_release(&n);
	}
}

static void test_store_down(void **state)
{
	struct generation_lease lease;
	struct node n;

	(void)state;
	node_init(&n);
	n.fate = MEMSTORE_DOWN;
	assert_int_equal(take(&n, &lease, "alpha"), STORE_UNAVAILABLE);
	n.fate = MEMSTORE_ERROR;
	assert_int_equal(take(&n, &lease, "alpha"), ERR_DENIED);
	assert_int_equal(n.mem.nr, 0);
	assert_int_equal(take(&n, &lease, "alpha"), 0);
	n.fate = MEMSTORE_DOWN;
	assert_int_equal(generation_lease_drop(&lease, NULL),
			 STORE_UNAVAILABLE);
	assert_int_equal(n.mem.nr, 1);
	node_release(&n);
}

/*
 * Another program has written a file under the name of the lease. The file
 * counts as a lease of an unknown holder.
 */
static void test_strange_lease(void **state)
{
	struct generation_lease lease;
	struct node n;

	(void)state;
	node_init(&n);
	memstore_write(&n.mem, "lease/team/a_5fb/_", "?", 1);
	assert_int_equal(take(&n, &lease, "alpha"), STORE_CONFLICT);
	assert_int_equal(n.holder.len, 0);
	/*
	 * The age of the lease is measured by the clock of the store, not by
	 * that of this machine.
	 */
	n.host.seconds += 2 * MAX_AGE;
	assert_int_equal(take(&n, &lease, "alpha"), STORE_CONFLICT);
	n.mem.clock += 2 * MAX_AGE;
	assert_int_equal(take(&n, &lease, "alpha"), 0);
	node_release(&n);
}

/*
 * A holder drops its lease when the lease is already too old. Meanwhile,
 * another node tries to take the lease over. There is never a second holder:
 * either the other node does not get the lease, or its lease is not deleted.
 */
static void test_old_lease_dropped(void **state)
{
	static const enum memstore_op moments[] = {MEMSTORE_PUT,
						   MEMSTORE_DELETE};
	struct generation_lease holder, third;
	struct node n;

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		node_init(&n);
		assert_int_equal(take(&n, &holder, "holder"), 0);
		n.host.seconds += MAX_AGE + 1;
		n.mem.clock = n.host.seconds;
		n.interferes = moments[i];
		n.other_result = -1;
		assert_int_equal(generation_lease_drop(&holder, NULL), 0);
		assert_int_equal(n.interferes, MEMSTORE_LIST);
		if (n.other_result) {
			assert_int_equal(n.other_result, STORE_CONFLICT);
			assert_int_equal(n.mem.nr, 0);
		} else {
			assert_int_equal(take(&n, &third, "third"),
					 STORE_CONFLICT);
			assert_string_equal(n.holder.data, "other");
		}
		node_release(&n);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_holder),
		cmocka_unit_test(test_dead_holder),
		cmocka_unit_test(test_renewed),
		cmocka_unit_test(test_old_lease_dropped),
		cmocka_unit_test(test_lost_answers),
		cmocka_unit_test(test_store_down),
		cmocka_unit_test(test_strange_lease),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
