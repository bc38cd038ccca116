/* SPDX-License-Identifier: MIT */
/* Tests of islands/network.h: a fork network is created, opened and changed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "sys/io.h"
#include "sys/map.h"
#include "t/unit/netrepo.h"

static void test_init(void **state)
{
	struct error err = ERROR_INIT;
	struct netrepo n;
	bool precious = false;

	netrepo_init(&n);
	assert_int_equal(n.network->registry.nr, 0);
	assert_int_equal(config_bool(&n.network->store->config,
				     "extensions.preciousobjects", &precious,
				     NULL),
			 1);
	assert_true(precious);
	assert_int_equal(
		network_init(netrepo_path(&n, "store"), HASH_SHA1, &err),
		ERR_INVALID);
	netrepo_repo(&n, "a");
	assert_int_equal(network_init(netrepo_path(&n, "a"), HASH_SHA1, NULL),
			 ERR_INVALID);
	/*
	 * A process that called network_init() was killed before it wrote the
	 * registry of members. A second call completes the work.
	 */
	tmprepo_remove(&n.t, "store/network/members");
	assert_int_equal(
		network_init(netrepo_path(&n, "store"), HASH_SHA1, NULL), 0);
	netrepo_release(&n);
}

static void test_find(void **state)
{
	struct netrepo n;
	struct repo *repo;
	char *found;

	netrepo_init(&n);
	netrepo_repo(&n, "a");
	repo = netrepo_open(&n, "a");
	assert_int_equal(network_find(&found, repo, NULL), 0);
	assert_null(found);
	tmprepo_write(&n.t, "a/objects/info/alternates",
		      "../../store/objects\n");
	assert_int_equal(network_find(&found, repo, NULL), 1);
	assert_string_equal(found, n.network->store->common_dir);
	free(found);
	/*
	 * The directory of the registry cannot be searched, here because it is
	 * a symlink to itself. Whether "a" borrows from a store is unknown.
	 */
	tmprepo_remove(&n.t, "store/network/lock");
	tmprepo_remove(&n.t, "store/network/members");
	assert_int_equal(sys_rmdir(netrepo_path(&n, "store/network"), NULL), 1);
	assert_int_equal(sys_symlink("network", n.path, NULL), 0);
	assert_int_equal(network_find(&found, repo, NULL), ERR_IO);
	assert_null(found);
	assert_int_equal(sys_unlink(n.path, NULL), 0);
	assert_int_equal(sys_mkdir_p(n.path, NULL), 0);
	tmprepo_write(&n.t, "store/network/members", "");
	repo_close(repo);
	assert_int_equal(network_find(&found, n.network->store, NULL), 1);
	assert_string_equal(found, n.network->store->common_dir);
	free(found);
	netrepo_release(&n);
}

static uint32_t add(struct netrepo *n, const char *path)
{
	struct network_entry *entry;
	uint32_t id;

	assert_int_equal(network_edit_begin(n->network, NULL), 0);
	assert_int_equal(network_registry_add(&entry, &n->network->registry,
					      NETWORK_ADDING, path, NULL),
			 0);
	id = entry->id;
	assert_int_equal(network_edit_save(n->network, SYS_FSYNC_NONE, NULL),
			 0);
	network_edit_end(n->network);
	return id;
}

static void test_edit(void **state)
{
	struct network *other;
	struct netrepo n;
	struct network_entry *entry;
	struct buf path = BUF_INIT;

	netrepo_init(&n);
	netrepo_repo(&n, "a");
	assert_int_equal(add(&n, "../a"), 1);
	assert_int_equal(add(&n, "/gone"), 2);
	assert_int_equal(
		network_open(&other, n.network->store->common_dir, NULL), 0);
	assert_int_equal(network_set_state(other, 1, NETWORK_MEMBER,
					   SYS_FSYNC_NONE, NULL),
			 0);
	assert_int_equal(network_set_state(other, 3, NETWORK_MEMBER,
					   SYS_FSYNC_NONE, NULL),
			 ERR_MISSING);
	assert_int_equal(network_forget(other, 2, NULL), 0);
	assert_int_equal(network_forget(other, 2, NULL), 0);
	network_close(other);
	assert_int_equal(network_reload(n.network, NULL), 0);
	assert_int_equal(n.network->registry.nr, 1);
	assert_int_equal(add(&n, "/new"), 3);
	entry = network_lookup(n.network, netrepo_path(&n, "a"), NULL);
	assert_non_null(entry);
	assert_int_equal(entry->id, 1);
	assert_int_equal(entry->state, NETWORK_MEMBER);
	assert_int_equal(network_path(&path, n.network, entry), 0);
	assert_true(sys_exists(path.data));
	assert_ptr_equal(network_lookup(n.network, "1", NULL), entry);
	assert_non_null(network_lookup(n.network, "/new", NULL));
	assert_null(network_lookup(n.network, "2", NULL));
	assert_null(network_lookup(n.network, "01", NULL));
	buf_release(&path);
	netrepo_release(&n);
}

static void test_locks(void **state)
{
	struct network *other;
	struct netrepo n;

	netrepo_init(&n);
	assert_int_equal(
		network_open(&other, n.network->store->common_dir, NULL), 0);
	assert_int_equal(network_lock(n.network, NETWORK_LOCK_OBJECTS, true,
				      false, NULL),
			 0);
	assert_int_equal(
		network_lock(other, NETWORK_LOCK_OBJECTS, false, false, NULL),
		ERR_DENIED);
	network_unlock(n.network, NETWORK_LOCK_OBJECTS);
	assert_int_equal(
		network_lock(other, NETWORK_LOCK_OBJECTS, false, false, NULL),
		0);
	network_close(other);
	netrepo_release(&n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_init),
		cmocka_unit_test(test_find),
		cmocka_unit_test(test_edit),
		cmocka_unit_test(test_locks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
