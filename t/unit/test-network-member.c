/* SPDX-License-Identifier: MIT */
/*
 * Tests of islands/network-member.c, which links a repository to the shared
 * store of a fork network: links are made and removed, and other configuration
 * stays.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/mem.h"
#include "islands/network-member.h"
#include "sys/map.h"
#include "t/unit/netrepo.h"

static enum network_link link_of(struct netrepo *n, const char *name)
{
	struct repo *repo = netrepo_open(n, name);
	enum network_link link;

	assert_int_equal(network_link_check(&link, n->network, repo, NULL), 0);
	repo_close(repo);
	return link;
}

static void test_link(void **state)
{
	struct netrepo n;
	struct repo *repo;
	struct buf text = BUF_INIT;

	netrepo_init(&n);
	netrepo_repo(&n, "a");
	netrepo_repo(&n, "b");
	assert_int_equal(link_of(&n, "a"), NETWORK_LINK_NONE);
	repo = netrepo_open(&n, "a");
	assert_int_equal(network_link(n.network, repo, 7, NULL), 0);
	repo_close(repo);
	assert_int_equal(link_of(&n, "a"), NETWORK_LINK_STORE);
	assert_int_equal(
		sys_read_file(&text,
			      netrepo_path(&n, "a/objects/info/alternates"),
			      NULL),
		0);
	assert_string_equal(text.data, "../../store/objects\n");
	repo = netrepo_open(&n, "a");
	assert_string_equal(
		config_string(&repo->config, "core.alternaterefsprefixes"),
		"refs/virtual/7/");
	/* Linking the repository again does not change its configuration. */
	buf_reset(&text);
	assert_int_equal(
		sys_read_file(&text, netrepo_path(&n, "a/config"), NULL), 0);
	assert_int_equal(network_link(n.network, repo, 7, NULL), 0);
	repo_close(repo);
	repo = netrepo_open(&n, "a");
	/*
	 * Unlinking is called with the id of another member. So the
	 * configuration of the repository stays as it is.
	 */
	assert_int_equal(network_unlink(n.network, repo, 1, NULL), 0);
	assert_int_equal(link_of(&n, "a"), NETWORK_LINK_NONE);
	repo_close(repo);
	repo = netrepo_open(&n, "a");
	assert_non_null(
		config_find(&repo->config, "core.alternaterefsprefixes"));
	assert_int_equal(network_unlink(n.network, repo, 7, NULL), 0);
	repo_close(repo);
	repo = netrepo_open(&n, "a");
	assert_null(config_find(&repo->config, "core.alternaterefsprefixes"));
	repo_close(repo);
	buf_release(&text);
	netrepo_release(&n);
}

static void test_other(void **state)
{
	struct netrepo n;

	netrepo_init(&n);
	netrepo_repo(&n, "a");
	netrepo_repo(&n, "b");
	tmprepo_write(&n.t, "a/objects/info/alternates", "../../b/objects\n");
	assert_int_equal(link_of(&n, "a"), NETWORK_LINK_OTHER);
	tmprepo_write(&n.t, "a/objects/info/alternates",
		      "../../store/objects\n../../b/objects\n");
	assert_int_equal(link_of(&n, "a"), NETWORK_LINK_OTHER);
	tmprepo_write(&n.t, "a/objects/info/alternates",
		      "../../store/objects\n/nowhere/at/all\n");
	assert_int_equal(link_of(&n, "a"), NETWORK_LINK_OTHER);
	netrepo_release(&n);
}

static void test_open(void **state)
{
	struct network_entry entry = {3, NETWORK_MEMBER, (char *)"../a"};
	struct error err = ERROR_INIT;
	struct netrepo n;
	struct repo *repo;

	netrepo_init(&n);
	assert_int_equal(network_member_open(&repo, n.network, &entry, &err),
			 ERR_MISSING);
	assert_null(repo);
	assert_non_null(strstr(err.msg, "member 3: there is no repository at"));
	netrepo_repo(&n, "a");
	assert_int_equal(network_member_open(&repo, n.network, &entry, NULL),
			 0);
	repo_close(repo);
	netrepo_release(&n);
}

/*
 * Unlinking removes a line of the configuration. If the section has no other
 * line, its header is removed, too.
 */
static void test_unlink_config(void **state)
{
	static const struct {
		const char *before, *after;
	} cases[] = {
		{"[core]\n\tbare = true\n[core]\n"
		 "\talternateRefsPrefixes = refs/virtual/7/\n",
		 "[core]\n\tbare = true\n"},
		{"[core]\nALTERNATErefsPREFIXES=refs/virtual/7/", ""},
		{"[core]\n\talternateRefsPrefixes = refs/virtual/7/\n"
		 "\tbare = true\n",
		 "[core]\n\tbare = true\n"},
		{"[core]\n\talternateRefsPrefixes = refs/virtual/70/\n"
		 "\talternateRefsPrefixes = refs/virtual/7/\n[a]\n\tb = c\n",
		 "[core]\n\talternateRefsPrefixes = refs/virtual/70/\n"
		 "[a]\n\tb = c\n"},
	};
	struct buf text = BUF_INIT;
	struct netrepo n;

	netrepo_init(&n);
	netrepo_repo(&n, "a");
	for (size_t i = 0; i < ARRAY_NR(cases); i++) {
		struct repo *repo;

		tmprepo_write(&n.t, "a/config", cases[i].before);
		repo = netrepo_open(&n, "a");
		assert_int_equal(network_unlink(n.network, repo, 7, NULL), 0);
		repo_close(repo);
		buf_reset(&text);
		assert_int_equal(sys_read_file(&text,
					       netrepo_path(&n, "a/config"),
					       NULL),
				 0);
		assert_string_equal(text.len ? text.data : "", cases[i].after);
	}
	buf_release(&text);
	netrepo_release(&n);
}

static void ignore_warning(const char *text)
{
}

/*
 * The lock file of the configuration is removed only if the process that
 * created it has ended.
 */
static void test_config_lock(void **state)
{
	struct repo *repo;
	struct netrepo n;

	netrepo_init(&n);
	n.network->warn = ignore_warning;
	netrepo_repo(&n, "a");
	repo = netrepo_open(&n, "a");
	tmprepo_write(&n.t, "a/config.lock", "");
	tmprepo_write(&n.t, "a/config~pid.lock", "pid 1\n");
	assert_int_equal(network_link(n.network, repo, 7, NULL), ERR_DENIED);
	tmprepo_write(&n.t, "a/config~pid.lock", "pid 99999999\n");
	assert_int_equal(network_link(n.network, repo, 7, NULL), 0);
	assert_false(sys_exists(netrepo_path(&n, "a/config.lock")));
	assert_false(sys_exists(netrepo_path(&n, "a/config~pid.lock")));
	repo_close(repo);
	netrepo_release(&n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_link),
		cmocka_unit_test(test_other),
		cmocka_unit_test(test_open),
		cmocka_unit_test(test_unlink_config),
		cmocka_unit_test(test_config_lock),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
