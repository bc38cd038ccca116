/* SPDX-License-Identifier: MIT */
/*
 * Tests of stored/stage.h, which makes a stage: a temporary repository with
 * exactly the files that a generation (version) gets from a local repository.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "odb/odb.h"
#include "stored/stage.h"
#include "sys/map.h"
#include "t/unit/storedrepo.h"
#include "t/unit/tmppack.h"

static int make(struct storedrepo *s, struct stored_stage *stage)
{
	struct repo *repo = netrepo_open(&s->n, "src");
	int ret = stored_stage_make(stage, repo, s->n.t.dir, NULL, &s->err);

	repo_close(repo);
	return ret;
}

static bool has(const struct stored_stage *stage, const char *name)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", stage->dir.path, name);
	return sys_exists(path);
}

static void test_reachable_objects(void **state)
{
	struct storedrepo s;
	struct stored_stage stage;
	struct oid gone;
	struct odb *odb;

	storedrepo_init(&s);
	netrepo_commit(&s.n, "src", "unreachable", &gone);
	netrepo_ref(&s.n, "src", "refs/heads/main", &s.tip);
	if (make(&s, &stage) != 0)
		fail_msg("%s", s.err.msg);
	assert_int_equal(stage.packed_nr, 3);
	assert_int_equal(odb_open(&odb, stage.repo, NULL, NULL), 0);
	assert_true(odb_has(odb, &s.tip));
	assert_false(odb_has(odb, &gone));
	odb_close(odb);
	stored_stage_release(&stage);
	/*
	 * Only the directories src and store are left. So the stage (a
	 * temporary repository) was removed.
	 */
	assert_int_equal(storedrepo_entries(&s, "."), 2);
	storedrepo_release(&s);
}

static void test_files(void **state)
{
	struct tmppack_object packed[] = {{.type = OBJ_BLOB, .text = "one\n"}};
	struct storedrepo s;
	struct stored_stage stage;

	storedrepo_init(&s);
	tmprepo_write(&s.n.t, "src/hooks/update", "#!/bin/sh\n");
	tmprepo_write(&s.n.t, "src/hooks/post-update", "#!/bin/sh\n");
	tmprepo_write(&s.n.t, "src/hooks/x.sample", "#!/bin/sh\n");
	assert_int_equal(chmod(netrepo_path(&s.n, "src/hooks/update"), 0755),
			 0);
	assert_int_equal(chmod(netrepo_path(&s.n, "src/hooks/x.sample"), 0755),
			 0);
	tmprepo_write(&s.n.t, "src/git-daemon-export-ok", "");
	tmprepo_write(&s.n.t, "src/info/attributes", "* -delta\n");
	tmprepo_write(&s.n.t, "src/logs/HEAD", "");
	tmprepo_write(&s.n.t, "src/objects/pack/tmp_pack_abc", "");
	/* a pack of git maintenance run --task=loose-objects */
	tmppack_write(&s.n.t, "src/objects", "loose-1", packed, 1, false);
	tmprepo_write(&s.n.t, "src/objects/info/commit-graph", "damaged");
	tmprepo_write(&s.n.t, "src/objects/pack/multi-pack-index", "damaged");
	tmprepo_write(&s.n.t, "src/objects/pack/multi-pack-index-1.bitmap",
		      "damaged");
	if (make(&s, &stage) != 0)
		fail_msg("%s", s.err.msg);
	assert_true(has(&stage, "hooks/update"));
	assert_false(has(&stage, "hooks/post-update"));
	assert_false(has(&stage, "hooks/x.sample"));
	assert_true(has(&stage, "git-daemon-export-ok"));
	assert_true(has(&stage, "info/attributes"));
	assert_true(has(&stage, "description"));
	assert_false(has(&stage, "logs"));
	assert_false(has(&stage, "objects/pack/tmp_pack_abc"));
	assert_true(has(&stage, "objects/pack/loose-1.pack"));
	assert_true(has(&stage, "objects/pack/loose-1.idx"));
	assert_false(has(&stage, "objects/info/commit-graph"));
	assert_false(has(&stage, "objects/pack/multi-pack-index"));
	assert_false(has(&stage, "objects/pack/multi-pack-index-1.bitmap"));
	stored_stage_release(&stage);
	/* The source is unchanged. */
	assert_true(sys_exists(
		netrepo_path(&s.n, "src/objects/info/commit-graph")));
	assert_true(sys_exists(
		netrepo_path(&s.n, "src/objects/pack/multi-pack-index")));
	storedrepo_release(&s);
}

/*
 * Appends a line to a file of the source repository, without replacing the
 * file.
 */
static void edit(struct storedrepo *s, const char *name)
{
	FILE *file = fopen(netrepo_path(&s->n, name), "a");

	assert_non_null(file);
	fputs("edited\n", file);
	assert_int_equal(fclose(file), 0);
}

static bool is_edited(const struct stored_stage *stage, const char *name)
{
	struct buf path = BUF_INIT, text = BUF_INIT;
	bool found;

	buf_printf(&path, "%s/%s", stage->dir.path, name);
	assert_int_equal(sys_read_file(&text, path.data, NULL), 0);
	found = strstr(text.data, "edited") != NULL;
	buf_release(&path);
	buf_release(&text);
	return found;
}

/*
 * If a file of the source is edited in place, the stage (a temporary repository
 * made from the source) must keep the old content.
 */
static void test_edits_during_an_import(void **state)
{
	static const char *const names[] = {"description", "hooks/update",
					    "info/attributes"};
	struct storedrepo s;
	struct stored_stage stage;

	storedrepo_init(&s);
	tmprepo_write(&s.n.t, "src/hooks/update", "#!/bin/sh\n");
	tmprepo_write(&s.n.t, "src/info/attributes", "* -delta\n");
	assert_int_equal(chmod(netrepo_path(&s.n, "src/hooks/update"), 0755),
			 0);
	if (make(&s, &stage) != 0)
		fail_msg("%s", s.err.msg);
	for (size_t i = 0; i < ARRAY_NR(names); i++) {
		char path[64];

		snprintf(path, sizeof(path), "src/%s", names[i]);
		edit(&s, path);
		assert_false(is_edited(&stage, names[i]));
	}
	stored_stage_release(&stage);
	storedrepo_release(&s);
}

/*
 * A stage is a temporary repository that is made from another one (the source).
 * This test makes the stage on a second file system, if the machine has one.
 * Hard links are impossible there, so all files must be copied. A symbolic link
 * would be wrong: a later change of the source would change the stage.
 */
static void test_other_file_system(void **state)
{
	struct stat st;
	struct storedrepo s;
	struct stored_stage stage;
	struct repo *repo;
	struct buf path = BUF_INIT;
	char *from;
	const char *tmp = access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm";

	storedrepo_init(&s);
	tmprepo_write(&s.n.t, "src/objects/info/deltas", "some");
	repo = netrepo_open(&s.n, "src");
	if (stored_stage_make(&stage, repo, tmp, NULL, &s.err) != 0)
		fail_msg("%s", s.err.msg);
	repo_close(repo);
	buf_printf(&path, "%s/objects/info/deltas", stage.dir.path);
	assert_int_equal(lstat(path.data, &st), 0);
	assert_true(S_ISREG(st.st_mode));
	tmprepo_write(&s.n.t, "src/objects/info/new", "edited");
	from = strdup(netrepo_path(&s.n, "src/objects/info/new"));
	assert_int_equal(
		sys_rename(from, netrepo_path(&s.n, "src/objects/info/deltas"),
			   NULL),
		0);
	free(from);
	assert_false(is_edited(&stage, "objects/info/deltas"));
	buf_release(&path);
	stored_stage_release(&stage);
	storedrepo_release(&s);
}

static void test_refused(void **state)
{
	struct storedrepo s;
	struct stored_stage stage;
	struct oid none = {{1}};

	storedrepo_init(&s);
	netrepo_ref(&s.n, "src", "refs/heads/broken", &none);
	assert_int_equal(make(&s, &stage), ERR_MISSING);
	stored_stage_release(&stage);
	tmprepo_remove(&s.n.t, "src/refs/heads/broken");
	tmprepo_write(&s.n.t, "src/refs/heads/broken", "no id\n");
	assert_int_equal(make(&s, &stage), ERR_CORRUPT);
	stored_stage_release(&stage);
	tmprepo_remove(&s.n.t, "src/refs/heads/broken");
	tmprepo_write(&s.n.t, "src/config",
		      "[core]\nrepositoryformatversion = 1\nbare = true\n"
		      "[extensions]\npartialClone = origin\n");
	assert_int_equal(make(&s, &stage), ERR_UNSUPPORTED);
	assert_non_null(strstr(s.err.msg, "partial clone"));
	stored_stage_release(&stage);
	tmprepo_write(&s.n.t, "src/config", "[core]\nbare = false\n");
	assert_int_equal(make(&s, &stage), ERR_UNSUPPORTED);
	assert_non_null(strstr(s.err.msg, "not a bare repository"));
	stored_stage_release(&stage);
	assert_int_equal(storedrepo_entries(&s, "."), 2);
	storedrepo_release(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reachable_objects),
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_edits_during_an_import),
		cmocka_unit_test(test_other_file_system),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
