/* SPDX-License-Identifier: MIT */
/*
 * Tests of stored/export.h, which exports a generation (version) of a
 * repository in a store as a plain repository. They prove that the repository
 * is complete, and that a failed export leaves nothing on the disk.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "stored/export.h"
#include "t/unit/storedrepo.h"

static int export(struct storedrepo *s, const struct generation *g,
		  const char *name, enum repo_ref_storage storage)
{
	char *dir = strdup(netrepo_path(&s->n, name));
	int ret = stored_export(&s->place, g, dir, storage, &s->err);

	free(dir);
	return ret;
}

static void test_both_kinds_of_refs(void **state)
{
	char hex[OID_MAX_HEX_LEN + 1];
	struct storedrepo s;
	struct generation g;
	struct repo *repo;

	storedrepo_init(&s);
	storedrepo_generation(&s, &g);
	oid_to_hex(hex, &s.tip, HASH_SHA1);
	if (export(&s, &g, "files", REPO_REFS_FILES) != 0)
		fail_msg("%s", s.err.msg);
	assert_int_equal(export(&s, &g, "tables///", REPO_REFS_REFTABLE), 0);
	storedrepo_assert_ref(&s, "files", "refs/heads/main", hex);
	storedrepo_assert_ref(&s, "tables", "refs/heads/main", hex);
	storedrepo_assert_ref(&s, "files", "HEAD", "refs/heads/main");
	repo = netrepo_open(&s.n, "files");
	assert_int_equal(repo->ref_storage, REPO_REFS_FILES);
	repo_close(repo);
	repo = netrepo_open(&s.n, "tables");
	assert_int_equal(repo->ref_storage, REPO_REFS_REFTABLE);
	repo_close(repo);
	assert_int_equal(export(&s, &g, "files", REPO_REFS_FILES), ERR_INVALID);
	assert_int_equal(storedrepo_entries(&s, "."), 4);
	generation_release(&g);
	storedrepo_release(&s);
}

/* Inode of the directory for which fsync() fails; 0: none. */
static ino_t broken;

int fsync(int fd)
{
	struct stat st;

	if (broken && !fstat(fd, &st) && st.st_ino == broken) {
		errno = EIO;
		return -1;
	}
	return (int)syscall(SYS_fsync, fd);
}

/*
 * fsync() of the parent directory fails. The repository is complete, but its
 * name may not be durable.
 */
static void test_name_is_not_durable(void **state)
{
	struct storedrepo s;
	struct generation g;
	struct stat st;

	storedrepo_init(&s);
	storedrepo_generation(&s, &g);
	assert_int_equal(stat(s.n.t.dir, &st), 0);
	broken = st.st_ino;
	assert_int_equal(export(&s, &g, "out", REPO_REFS_FILES), ERR_IO);
	broken = 0;
	/* The directory has only src and store: no temporary file is left. */
	assert_int_equal(storedrepo_entries(&s, "."), 2);
	assert_int_equal(export(&s, &g, "out", REPO_REFS_FILES), 0);
	generation_release(&g);
	storedrepo_release(&s);
}

static void test_nothing_is_left(void **state)
{
	struct storedrepo s;
	struct generation g;

	storedrepo_init(&s);
	storedrepo_generation(&s, &g);
	assert_true(export(&s, &g, "nowhere/out", REPO_REFS_FILES) < 0);
	storedrepo_damage(&s, storedrepo_file(&g, "objects/pack/"), 0);
	assert_int_equal(export(&s, &g, "out", REPO_REFS_FILES), ERR_CORRUPT);
	storedrepo_delete(&s, storedrepo_file(&g, "objects/pack/"));
	assert_int_equal(export(&s, &g, "out", REPO_REFS_FILES), ERR_MISSING);
	assert_int_equal(storedrepo_entries(&s, "."), 2);
	generation_release(&g);
	storedrepo_release(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_both_kinds_of_refs),
		cmocka_unit_test(test_nothing_is_left),
		cmocka_unit_test(test_name_is_not_durable),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
