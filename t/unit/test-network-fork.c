/* SPDX-License-Identifier: MIT */
/*
 * Tests of islands/network-fork.c, which makes a fork of a repository. If a
 * process was killed while it made a fork, a second call completes the fork.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "islands/network-fork.h"
#include "islands/network-member.h"
#include "t/unit/netrepo.h"

struct fixture {
	struct netrepo n;
	struct network_refs refs;
	struct repo *source;
	struct network_fork fork;
	struct oid oid;
};

static void init(struct fixture *f)
{
	f->refs = (struct network_refs)NETWORK_REFS_INIT;
	netrepo_init(&f->n);
	netrepo_repo(&f->n, "a");
	netrepo_commit(&f->n, "a", "one", &f->oid);
	netrepo_commit(&f->n, "store", "one", &f->oid);
	f->source = netrepo_open(&f->n, "a");
	assert_int_equal(
		network_refs_read(&f->refs, f->source, "refs/", false, NULL),
		0);
	f->fork = (struct network_fork){.source = f->source, .refs = &f->refs};
}

static void release(struct fixture *f)
{
	network_refs_release(&f->refs);
	repo_close(f->source);
	netrepo_release(&f->n);
}

static int fork_to(struct fixture *f, const char *name, uint32_t *id)
{
	f->fork.path = netrepo_path(&f->n, name);
	return network_fork(id, f->n.network, &f->fork, NULL);
}

static void test_fork(void **state)
{
	struct fixture f;
	struct repo *repo;
	enum network_link link;
	uint32_t id;

	init(&f);
	assert_int_equal(fork_to(&f, "x/y/b", &id), 0);
	assert_int_equal(id, 1);
	repo = netrepo_open(&f.n, "x/y/b");
	assert_int_equal(network_link_check(&link, f.n.network, repo, NULL), 0);
	assert_int_equal(link, NETWORK_LINK_STORE);
	assert_string_equal(
		config_string(&repo->config, "core.alternaterefsprefixes"),
		"refs/virtual/1/");
	repo_close(repo);
	assert_int_equal(f.n.network->registry.entries[0].state,
			 NETWORK_MEMBER);
	/* The new path must not be a file, as x is, or lie below a file. */
	assert_int_equal(fork_to(&f, "x", &id), ERR_INVALID);
	assert_int_equal(fork_to(&f, "x/y/b", &id), ERR_INVALID);
	assert_int_equal(f.n.network->registry.nr, 1);
	assert_int_equal(sys_mkdir_p(netrepo_path(&f.n, "empty"), NULL), 0);
	assert_int_equal(fork_to(&f, "empty/", &id), 0);
	assert_int_equal(id, 2);
	release(&f);
}

static void half(struct fixture *f, const char *path)
{
	struct network *network = f->n.network;
	struct network_entry *entry;

	assert_int_equal(network_edit_begin(network, NULL), 0);
	assert_int_equal(network_registry_add(&entry, &network->registry,
					      NETWORK_FORKING, path, NULL),
			 0);
	assert_int_equal(network_edit_save(network, SYS_FSYNC_NONE, NULL), 0);
	network_edit_end(network);
}

static void test_killed(void **state)
{
	struct fixture f;
	uint32_t id;

	init(&f);
	half(&f, "../b");
	tmprepo_write(&f.n.t, ".b.network-1/HEAD", "half");
	assert_int_equal(fork_to(&f, "b", &id), 0);
	assert_int_equal(id, 1);
	assert_false(sys_exists(netrepo_path(&f.n, ".b.network-1")));
	assert_true(sys_exists(netrepo_path(&f.n, "b/packed-refs")));
	/*
	 * The process that made the fork was killed after it had renamed the
	 * new repository. A second call completes the fork.
	 */
	assert_int_equal(network_set_state(f.n.network, 1, NETWORK_FORKING,
					   SYS_FSYNC_NONE, NULL),
			 0);
	assert_int_equal(fork_to(&f, "b", &id), 0);
	assert_int_equal(id, 1);
	release(&f);
}

static void test_settle(void **state)
{
	struct fixture f;
	uint32_t id;

	init(&f);
	half(&f, "../b");
	tmprepo_write(&f.n.t, ".b.network-1/HEAD", "half");
	assert_int_equal(network_fork_settle(f.n.network, 1, NULL), 0);
	assert_int_equal(f.n.network->registry.nr, 0);
	assert_false(sys_exists(netrepo_path(&f.n, ".b.network-1")));
	assert_int_equal(fork_to(&f, "b", &id), 0);
	assert_int_equal(id, 2);
	assert_int_equal(network_set_state(f.n.network, 2, NETWORK_FORKING,
					   SYS_FSYNC_NONE, NULL),
			 0);
	assert_int_equal(network_fork_settle(f.n.network, 2, NULL), 1);
	assert_int_equal(f.n.network->registry.entries[0].state,
			 NETWORK_MEMBER);
	release(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fork),
		cmocka_unit_test(test_killed),
		cmocka_unit_test(test_settle),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
