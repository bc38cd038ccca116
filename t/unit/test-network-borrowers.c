/* SPDX-License-Identifier: MIT */
/*
 * Tests of network/network-borrowers.c, which finds repositories that borrow
 * from a fork network and are no members.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/mem.h"
#include "network/network-borrowers.h"
#include "t/unit/netsync.h"
#include "t/unit/nomem.h"

struct told {
	unsigned found_nr, unread_nr;
	/*
	 * Value that the callback returns. A value other than 0 ends the
	 * search.
	 */
	int stop;
	uint32_t id;
	char path[512], message[512];
};

static int tell(void *ctx, const char *git_dir, uint32_t id)
{
	struct told *told = ctx;

	told->found_nr++;
	told->id = id;
	snprintf(told->path, sizeof(told->path), "%s", git_dir);
	return told->stop;
}

static void tell_unread(void *ctx, const char *message)
{
	struct told *told = ctx;

	told->unread_nr++;
	snprintf(told->message, sizeof(told->message), "%s", message);
}

static int search(struct netsync *f, struct told *told, const char *name)
{
	const struct network_borrowers how = {f->n.network, tell, tell_unread,
					      told};

	told->found_nr = told->unread_nr = 0;
	return network_borrowers(&how, netrepo_path(&f->n, name), NULL);
}

static void borrow(struct netsync *f, const char *name, const char *from)
{
	char file[256], line[600];

	netrepo_repo(&f->n, name);
	snprintf(file, sizeof(file), "%s/objects/info/alternates", name);
	snprintf(line, sizeof(line), "%s/objects\n", netrepo_path(&f->n, from));
	tmprepo_write(&f->n.t, file, line);
}

static void test_members(void **state)
{
	struct told told = {0};
	struct netsync f;
	struct oid one;

	netsync_init(&f);
	netsync_member(&f, "a", "one", &one);
	assert_int_equal(search(&f, &told, ""), 0);
	assert_int_equal(told.found_nr + told.unread_nr, 0);
	netrepo_release(&f.n);
}

static void test_borrowers(void **state)
{
	struct told told = {0};
	struct netsync f;
	struct oid one;
	uint32_t id;

	netsync_init(&f);
	id = netsync_member(&f, "a", "one", &one);
	borrow(&f, "b/of-store", "store");
	assert_int_equal(search(&f, &told, ""), 0);
	assert_int_equal(told.found_nr, 1);
	assert_int_equal(told.id, 0);
	assert_non_null(strstr(told.path, "/b/of-store"));
	borrow(&f, "c/of-member", "a");
	assert_int_equal(search(&f, &told, "c"), 0);
	assert_int_equal(told.found_nr, 1);
	assert_int_equal(told.id, id);
	/*
	 * c/of-other borrows from b/of-store, which borrows from the store. So
	 * c/of-other is a borrower of the store, too.
	 */
	borrow(&f, "c/of-other", "b/of-store");
	assert_int_equal(search(&f, &told, "c/of-other"), 0);
	assert_int_equal(told.found_nr, 1);
	assert_int_equal(told.id, 0);
	/*
	 * If the callback returns a value other than 0, the search ends and
	 * returns this value.
	 */
	told.stop = 7;
	assert_int_equal(search(&f, &told, ""), 7);
	assert_int_equal(told.found_nr, 1);
	assert_int_equal(told.unread_nr, 0);
	netrepo_release(&f.n);
}

/*
 * A network has several members, whose paths are not in the order of their ids.
 * A repository that borrows from one of them is reported with the right id.
 */
static void test_several_members(void **state)
{
	static const char *const names[] = {"m", "z", "a", "m/b"};
	struct told told = {0};
	struct netsync f;
	char name[32];
	struct oid one;
	uint32_t ids[ARRAY_NR(names)];

	netsync_init(&f);
	for (size_t i = 0; i < ARRAY_NR(names); i++)
		ids[i] = netsync_member(&f, names[i], names[i], &one);
	assert_int_equal(search(&f, &told, ""), 0);
	assert_int_equal(told.found_nr + told.unread_nr, 0);
	for (size_t i = 0; i < ARRAY_NR(names); i++) {
		snprintf(name, sizeof(name), "by/%zu", i);
		borrow(&f, name, names[i]);
		assert_int_equal(search(&f, &told, name), 0);
		assert_int_equal(told.found_nr, 1);
		assert_int_equal(told.id, ids[i]);
	}
	netrepo_release(&f.n);
}

static void test_unread(void **state)
{
	struct told told = {0};
	struct netsync f;

	netsync_init(&f);
	assert_int_equal(search(&f, &told, "none"), ERR_MISSING);
	netrepo_repo(&f.n, "d/bad");
	tmprepo_write(&f.n.t, "d/bad/config", "[core\n");
	borrow(&f, "d/good", "store");
	assert_int_equal(search(&f, &told, "d"), 0);
	assert_int_equal(told.found_nr, 1);
	assert_int_equal(told.unread_nr, 1);
	/*
	 * If the alternate of a repository does not exist, the repository
	 * counts as unread, and the message names the alternate.
	 */
	borrow(&f, "lost", "gone");
	assert_int_equal(search(&f, &told, "lost"), 0);
	assert_int_equal(told.found_nr, 0);
	assert_int_equal(told.unread_nr, 1);
	assert_non_null(strstr(told.message, "gone"));
	netrepo_release(&f.n);
}

struct again {
	struct netsync f;
	struct told told;
};

static int search_again(void *ctx, struct error *err)
{
	struct again *a = ctx;
	const struct network_borrowers how = {a->f.n.network, tell, tell_unread,
					      &a->told};

	a->told.found_nr = a->told.unread_nr = 0;
	return network_borrowers(&how, netrepo_path(&a->f.n, ""), err);
}

static void check_found(void *ctx)
{
	struct again *a = ctx;

	assert_int_equal(a->told.found_nr, 2);
	assert_int_equal(a->told.unread_nr, 0);
}

/* If an allocation fails, the search fails, or it finds all borrowers. */
static void test_no_memory(void **state)
{
	struct again a = {.told = {0}};
	struct oid one;

	netsync_init(&a.f);
	netsync_member(&a.f, "a", "one", &one);
	borrow(&a.f, "b/of-store", "store");
	borrow(&a.f, "b/of-member", "a");
	nomem_each(NULL, search_again, check_found, &a);
	netrepo_release(&a.f.n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_members),
		cmocka_unit_test(test_borrowers),
		cmocka_unit_test(test_several_members),
		cmocka_unit_test(test_unread),
		cmocka_unit_test(test_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
