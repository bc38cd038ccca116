/* SPDX-License-Identifier: MIT */
/*
 * Tests of network/network-heads.c, which chooses HEAD commits of members of a
 * fork network. A repack of the shared store puts the objects of the chosen
 * commits first.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "network/network-repack-parts.h"
#include "t/unit/netrepo.h"

static void add(struct network_heads *heads, struct netrepo *n,
		const char *name)
{
	struct repo *repo = netrepo_open(n, name);

	assert_int_equal(network_heads_add(heads, repo, NULL), 0);
	repo_close(repo);
}

static void unborn(void **state)
{
	struct network_heads heads = {.nr = 0};
	struct netrepo n;

	netrepo_init(&n);
	netrepo_repo(&n, "a");
	add(&heads, &n, "a");
	assert_int_equal(heads.nr, 0);
	assert_int_equal(network_heads_choose(&heads, NULL), 0);
	assert_int_equal(heads.nr, 0);
	network_heads_release(&heads);
	netrepo_release(&n);
}

/*
 * The HEAD of the network's first repository is chosen first. Then come the
 * commits that are HEAD of the most repositories.
 */
static void chosen(void **state)
{
	/* The i-th letter stands for the commit that is HEAD of member i. */
	static const char commits[] = "accbbbdefghijk";
	static const char expect[] = "abcdefgh";
	struct network_heads heads = {.nr = 0};
	struct oid oids[256];
	struct netrepo n;

	netrepo_init(&n);
	for (size_t i = 0; commits[i]; i++) {
		const char text[] = {commits[i], '\0'};
		char name[8];

		snprintf(name, sizeof(name), "%zu", i);
		netrepo_repo(&n, name);
		netrepo_commit(&n, name, text,
			       &oids[(unsigned char)commits[i]]);
		add(&heads, &n, name);
		assert_int_equal(heads.nr, i + 1);
	}
	assert_int_equal(network_heads_choose(&heads, NULL), 0);
	assert_int_equal(heads.nr, NETWORK_HEADS_MAX);
	for (size_t i = 0; i < heads.nr; i++)
		assert_true(oid_equal(&heads.heads[i],
				      &oids[(unsigned char)expect[i]]));
	network_heads_release(&heads);
	netrepo_release(&n);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(unborn),
		cmocka_unit_test(chosen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
