/* SPDX-License-Identifier: MIT */
/*
 * Tests of islands/network-refs.h: refs are copied from a member repository to
 * the shared store, and to a fork.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "islands/network-refs.h"
#include "refs/refs.h"
#include "t/unit/netrepo.h"

static size_t nr_of(struct netrepo *n, const char *prefix)
{
	struct network_refs refs = NETWORK_REFS_INIT;
	size_t nr;

	assert_int_equal(network_refs_read(&refs, n->network->store, prefix,
					   false, NULL),
			 0);
	nr = refs.nr;
	network_refs_release(&refs);
	return nr;
}

static size_t store(struct netrepo *n, const char *member)
{
	struct network_refs refs = NETWORK_REFS_INIT;
	struct repo *repo = netrepo_open(n, member);
	struct error err = ERROR_INIT;
	size_t changed;

	if (network_refs_read(&refs, repo, "refs/", true, &err) < 0 ||
	    network_refs_store(n->network, 1, &refs, &changed, &err) < 0)
		fail_msg("%s", err.msg);
	network_refs_release(&refs);
	repo_close(repo);
	return changed;
}

/*
 * Makes a network with a member. Sets *oid to the id of an object that the
 * store and the member have.
 */
static void init(struct netrepo *n, struct oid *oid)
{
	netrepo_init(n);
	netrepo_repo(n, "a");
	netrepo_commit(n, "a", "one", oid);
	netrepo_commit(n, "store", "one", oid);
}

static void test_few(void **state)
{
	struct netrepo n;
	struct oid oid;

	init(&n, &oid);
	netrepo_ref(&n, "a", "refs/tags/x", &oid);
	assert_int_equal(store(&n, "a"), 2);
	assert_int_equal(store(&n, "a"), 0);
	assert_int_equal(nr_of(&n, "refs/virtual/1/"), 2);
	/*
	 * In the member repository, a directory has replaced the file of a ref.
	 * The copies of the refs in the store must change in the same way.
	 */
	tmprepo_remove(&n.t, "a/refs/tags/x");
	netrepo_ref(&n, "a", "refs/tags/x/y", &oid);
	assert_int_equal(store(&n, "a"), 2);
	assert_int_equal(nr_of(&n, "refs/virtual/1/tags/x/y"), 1);
	assert_int_equal(network_refs_store(n.network, 1, NULL, NULL, NULL), 0);
	assert_int_equal(nr_of(&n, "refs/virtual/"), 0);
	netrepo_release(&n);
}

/*
 * Writes many refs, alternately by a transaction and by a new packed-refs file.
 */
static void test_many(void **state)
{
	struct netrepo n;
	struct oid oid;

	init(&n, &oid);
	for (int i = 0; i < 60; i++) {
		char name[64];

		snprintf(name, sizeof(name), "refs/heads/b%d", i);
		netrepo_ref(&n, "a", name, &oid);
		if (i < 3 || i > 50)
			assert_int_equal(store(&n, "a"), i == 0    ? 2
							 : i == 51 ? 49
								   : 1);
	}
	assert_int_equal(nr_of(&n, "refs/virtual/1/"), 61);
	netrepo_commit(&n, "store", "two", &oid);
	for (int i = 0; i < 60; i++) {
		char name[64];

		snprintf(name, sizeof(name), "refs/heads/b%d", i);
		netrepo_ref(&n, "a", name, &oid);
	}
	assert_int_equal(store(&n, "a"), 60);
	assert_int_equal(store(&n, "a"), 0);
	assert_int_equal(network_refs_store(n.network, 1, NULL, NULL, NULL), 0);
	assert_int_equal(nr_of(&n, "refs/virtual/"), 0);
	assert_int_equal(nr_of(&n, "refs/"), 1);
	netrepo_release(&n);
}

static void test_head(void **state)
{
	struct network_refs refs = NETWORK_REFS_INIT;
	struct netrepo n;
	struct repo *repo;
	struct oid oid;

	init(&n, &oid);
	netrepo_ref(&n, "a", "HEAD", &oid);
	netrepo_ref(&n, "a", "refs/Before", &oid);
	assert_int_equal(store(&n, "a"), 3);
	assert_int_equal(nr_of(&n, "refs/virtual/1/HEAD"), 1);
	repo = netrepo_open(&n, "a");
	assert_int_equal(network_refs_read(&refs, repo, "refs/", true, NULL),
			 0);
	assert_int_equal(refs.nr, 3);
	assert_string_equal(network_ref_name(&refs, &refs.refs[0]), "Before");
	assert_string_equal(network_ref_name(&refs, &refs.refs[1]), "HEAD");
	assert_string_equal(network_ref_name(&refs, &refs.refs[2]),
			    "heads/main");
	network_refs_release(&refs);
	repo_close(repo);
	netrepo_release(&n);
}

static void test_write(void **state)
{
	struct network_refs refs = NETWORK_REFS_INIT;
	struct netrepo n;
	struct repo *from, *to;
	struct refs *written;
	struct ref ref;
	struct oid oid;

	init(&n, &oid);
	tmprepo_write(&n.t, "a/refs/remotes/o/HEAD", "ref: refs/heads/main\n");
	netrepo_repo(&n, "b");
	from = netrepo_open(&n, "a");
	to = netrepo_open(&n, "b");
	assert_int_equal(network_refs_read(&refs, from, "refs/", false, NULL),
			 0);
	assert_int_equal(refs.nr, 2);
	assert_int_equal(network_refs_write(to, &refs, from, NULL), 0);
	assert_int_equal(refs_open(&written, to, NULL), 0);
	assert_int_equal(refs_lookup(written, "refs/heads/main", &ref, NULL),
			 1);
	assert_true(oid_equal(&ref.oid, &oid));
	assert_int_equal(
		refs_lookup(written, "refs/remotes/o/HEAD", &ref, NULL), 1);
	assert_string_equal(ref.target, "refs/heads/main");
	refs_close(written);
	network_refs_release(&refs);
	repo_close(from);
	repo_close(to);
	netrepo_release(&n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_few),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_head),
		cmocka_unit_test(test_write),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
