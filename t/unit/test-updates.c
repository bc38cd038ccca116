/* SPDX-License-Identifier: MIT */
/*
 * Tests of stored/updates.h. The record (manifest) of a repository version
 * lists refs that have changed, and the code writes them as a reftable.
 * test-layout.c tests whole repositories with updates.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/mem.h"
#include "stored/fetch.h"
#include "stored/layout.h"
#include "t/unit/copynode.h"

struct updates {
	struct copynode c;
	struct generation g;
	/*
	 * Owned. Directory of a repository that has the generation (version)
	 * *g.
	 */
	char *dir;
	char hex[OID_MAX_HEX_LEN + 1];
};

static void updates_init(struct updates *u)
{
	copynode_init(&u->c);
	storedrepo_generation(&u->c.s, &u->g);
	u->dir = storedrepo_dir(&u->c.s, "out");
	oid_to_hex(u->hex, &u->c.s.tip, HASH_SHA1);
	assert_int_equal(stored_cache_lay_out(u->c.node->cache, u->dir,
					      &u->c.s.place, &u->g, NULL),
			 0);
}

static void updates_release(struct updates *u)
{
	free(u->dir);
	generation_release(&u->g);
	copynode_release(&u->c);
}

static int install(struct updates *u)
{
	return stored_updates_install(u->dir, &u->g, SYS_FSYNC_NONE, 0,
				      &u->c.err);
}

static void set(struct updates *u, const char *ref, const char *value)
{
	assert_int_equal(
		generation_set_ref(&u->g, u->g.number, ref, value, NULL), 0);
}

/*
 * The updates are installed several times. The refs must only depend on the
 * record (manifest), and not on what was installed before.
 */
static void test_installed_again(void **state)
{
	struct updates u;
	int nr;

	updates_init(&u);
	nr = storedrepo_entries(&u.c.s, "out/reftable");
	set(&u, "refs/heads/x", u.hex);
	assert_int_equal(install(&u), 0);
	storedrepo_assert_ref(&u.c.s, "out", "refs/heads/x", u.hex);
	assert_int_equal(storedrepo_entries(&u.c.s, "out/reftable"), nr + 1);
	set(&u, "refs/heads/x", NULL);
	set(&u, "refs/heads/x/y", u.hex);
	assert_int_equal(install(&u), 0);
	storedrepo_assert_ref(&u.c.s, "out", "refs/heads/x", NULL);
	storedrepo_assert_ref(&u.c.s, "out", "refs/heads/x/y", u.hex);
	storedrepo_assert_ref(&u.c.s, "out", "refs/heads/main", u.hex);
	/*
	 * The second reftable has another name than the first, because a reader
	 * may have opened the first one.
	 */
	assert_int_equal(storedrepo_entries(&u.c.s, "out/reftable"), nr + 2);
	generation_release(&u.g);
	storedrepo_newest(&u.c.s, &u.g);
	assert_int_equal(install(&u), 0);
	storedrepo_assert_ref(&u.c.s, "out", "refs/heads/x/y", NULL);
	updates_release(&u);
}

static void test_refused(void **state)
{
	static const char *const names[] = {
		"refs/heads/../x",
		"refs/heads/a.lock",
		"main",
		"config",
	};
	struct updates u;

	updates_init(&u);
	for (size_t i = 0; i < ARRAY_NR(names); i++) {
		set(&u, names[i], u.hex);
		assert_int_equal(install(&u), ERR_CORRUPT);
		assert_non_null(strstr(u.c.err.msg, names[i]));
		generation_release(&u.g);
		storedrepo_newest(&u.c.s, &u.g);
	}
	storedrepo_assert_ref(&u.c.s, "out", "refs/heads/main", u.hex);
	updates_release(&u);
}

/*
 * To install updates of branches, the object database need not be opened. It is
 * opened for refs that may be tags. Here, opening fails because of a wrong
 * value in the configuration.
 */
static void test_branches_are_not_read(void **state)
{
	struct updates u;
	FILE *config;
	char *path;

	updates_init(&u);
	path = stored_join(u.dir, "config", NULL);
	config = fopen(path, "a");
	assert_non_null(config);
	fputs("[core]\n\tmultiPackIndex = neither\n", config);
	fclose(config);
	free(path);
	set(&u, "refs/heads/x", u.hex);
	assert_int_equal(install(&u), 0);
	storedrepo_assert_ref(&u.c.s, "out", "refs/heads/x", u.hex);
	set(&u, "refs/tags/x", u.hex);
	assert_int_not_equal(install(&u), 0);
	updates_release(&u);
}

/*
 * A name in the record (manifest) can be too long for a reftable block of the
 * usual size. Nevertheless, the ref must be installed.
 */
static void test_long_names(void **state)
{
	static const size_t lens[] = {4000, 4030, GENERATION_TEXT_MAX};
	char name[GENERATION_TEXT_MAX + 1];
	char target[sizeof(STORED_SYMBOLIC) + GENERATION_TEXT_MAX];
	struct updates u;

	updates_init(&u);
	set(&u, "refs/heads/x", u.hex);
	for (size_t i = 0; i < ARRAY_NR(lens); i++) {
		memset(name, 'n', lens[i]);
		memcpy(name, "refs/heads/", 11);
		name[lens[i]] = '\0';
		set(&u, name, u.hex);
		if (install(&u))
			fail_msg("%s", u.c.err.msg);
		storedrepo_assert_ref(&u.c.s, "out", name, u.hex);
	}
	snprintf(target, sizeof(target), "%s%.4000s", STORED_SYMBOLIC, name);
	name[11] = 's';
	set(&u, name, target);
	if (install(&u))
		fail_msg("%s", u.c.err.msg);
	storedrepo_assert_ref(&u.c.s, "out", name,
			      target + strlen(STORED_SYMBOLIC));
	set(&u, name, NULL);
	assert_int_equal(install(&u), 0);
	storedrepo_assert_ref(&u.c.s, "out", name, NULL);
	storedrepo_assert_ref(&u.c.s, "out", "refs/heads/x", u.hex);
	updates_release(&u);
}

static void test_locked(void **state)
{
	struct updates u;
	struct buf lock = BUF_INIT;

	updates_init(&u);
	set(&u, "refs/heads/x", u.hex);
	assert_int_equal(
		buf_printf(&lock, "%s/reftable/tables.list.lock", u.dir), 0);
	assert_int_equal(sys_append(lock.data, "", 0, 0666, NULL), 0);
	assert_int_equal(install(&u), ERR_DENIED);
	assert_int_equal(sys_unlink(lock.data, NULL), 0);
	storedrepo_assert_ref(&u.c.s, "out", "refs/heads/x", NULL);
	assert_int_equal(install(&u), 0);
	assert_false(sys_exists(lock.data));
	buf_release(&lock);
	updates_release(&u);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_installed_again),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_branches_are_not_read),
		cmocka_unit_test(test_long_names),
		cmocka_unit_test(test_locked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
