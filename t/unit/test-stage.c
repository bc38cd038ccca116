/* SPDX-License-Identifier: MIT */
/* Tests of stored/stage.h: which files of a repository a generation gets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <sys/stat.h>

#include "odb/odb.h"
#include "stored/stage.h"
#include "t/unit/storedrepo.h"

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
	/* src, store: the stage is gone. */
	assert_int_equal(storedrepo_entries(&s, "."), 2);
	storedrepo_release(&s);
}

static void test_files(void **state)
{
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
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
