/* SPDX-License-Identifier: MIT */
/*
 * Tests of refs/refs-loose.c, which reads loose refs: all forms of their files
 * are parsed, and refs of the right work tree are found and listed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "refs/refs-cache.h"
#include "refs/refs-loose.h"
#include "t/unit/tmprepo.h"

#define HEX_A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define HEX_0 "0000000000000000000000000000000000000000"

static void test_parse(void **state)
{
	static const struct {
		const char *text;
		enum refs_loose_kind kind;
		const char *target;
		bool leads_nowhere;
	} cases[] = {
		{HEX_A "\n", REFS_LOOSE_OID, NULL, false},
		{HEX_A, REFS_LOOSE_OID, NULL, false},
		{HEX_A "\tnot-for-merge\n", REFS_LOOSE_OID, NULL, false},
		{HEX_A "a\n", REFS_LOOSE_BROKEN, NULL, false},
		{HEX_0 "\n", REFS_LOOSE_BROKEN, NULL, false},
		{"", REFS_LOOSE_BROKEN, NULL, false},
		{"aaaa\n", REFS_LOOSE_BROKEN, NULL, false},
		{"ref: refs/heads/main\n", REFS_LOOSE_SYMBOLIC,
		 "refs/heads/main", false},
		{"ref:refs/heads/main \n", REFS_LOOSE_SYMBOLIC,
		 "refs/heads/main", false},
		{"ref: ../../etc/passwd\n", REFS_LOOSE_SYMBOLIC,
		 "../../etc/passwd", true},
		{"ref: refs/heads/../x\n", REFS_LOOSE_SYMBOLIC,
		 "refs/heads/../x", true},
		{"ref:\n", REFS_LOOSE_SYMBOLIC, "", true},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct refs_loose ref = {0};

		assert_int_equal(refs_loose_parse(&ref, cases[i].text,
						  strlen(cases[i].text),
						  HASH_SHA1),
				 0);
		assert_int_equal(ref.kind, cases[i].kind);
		if (cases[i].target)
			assert_string_equal(ref.target, cases[i].target);
		else
			assert_null(ref.target);
		assert_int_equal(ref.leads_nowhere, cases[i].leads_nowhere);
		refs_loose_release(&ref);
	}
}

static void test_path(void **state)
{
	static const char *const cases[][2] = {
		{"HEAD", "/wt/HEAD"},
		{"refs/heads/x", "/common/refs/heads/x"},
		{"refs/bisect/bad", "/wt/refs/bisect/bad"},
		{"refs/worktree/x", "/wt/refs/worktree/x"},
		{"refs/rewritten/x", "/wt/refs/rewritten/x"},
		{"refs/bisected", "/common/refs/bisected"},
		{"main-worktree/HEAD", "/common/HEAD"},
		{"worktrees/w/HEAD", "/common/worktrees/w/HEAD"},
		{"worktrees/w/refs/heads/x", "/common/refs/heads/x"},
		{"worktrees/w/refs/bisect/x",
		 "/common/worktrees/w/refs/bisect/x"},
		{"worktrees/w", "/common/worktrees/w"},
		{"worktrees/w/x", "/common/worktrees/w/x"},
		{"main-worktree/x", "/common/main-worktree/x"},
		{"MY_HEAD", "/wt/MY_HEAD"},
		{"x", "/common/x"},
		{"A1", "/common/A1"},
	};
	char git_dir[] = "/wt", common_dir[] = "/common";
	struct repo repo = {.git_dir = git_dir, .common_dir = common_dir};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct buf path = BUF_INIT;
		struct refs_place place;

		assert_int_equal(refs_loose_path(&path, &repo, cases[i][0]), 0);
		assert_string_equal(path.data, cases[i][1]);
		place = refs_place_of(cases[i][0]);
		assert_string_equal(path.data + path.len - strlen(place.inner),
				    place.inner);
		assert_int_equal(place.dir_len, place.kind == REFS_PLACE_LINKED
							? strlen("worktrees/w")
							: 0);
		buf_release(&path);
	}
}

static void test_read(void **state)
{
	struct error err = ERROR_INIT;
	struct refs_loose ref;
	struct tmprepo t;

	tmprepo_init(&t, HASH_SHA1);
	tmprepo_write(&t, "refs/heads/main", HEX_A "\n");
	assert_int_equal(
		refs_loose_read(&ref, &t.repo, "refs/heads/main", NULL), 1);
	assert_int_equal(ref.oid.bytes[0], 0xaa);
	refs_loose_release(&ref);
	assert_int_equal(refs_loose_read(&ref, &t.repo, "refs/heads", NULL), 0);
	assert_int_equal(refs_loose_read(&ref, &t.repo, "refs/x", NULL), 0);
	assert_int_equal(
		refs_loose_read(&ref, &t.repo, "refs/heads/main/x", NULL), 0);
	tmprepo_link(&t, "refs/heads/loop", "loop");
	assert_int_equal(
		refs_loose_read(&ref, &t.repo, "refs/heads/loop", &err),
		ERR_IO);
	assert_int_equal(err.code, ERR_IO);
	/* A symbolic link to a path below refs/ is a symbolic ref. */
	tmprepo_link(&t, "refs/heads/sym", "refs/heads/none");
	assert_int_equal(refs_loose_read(&ref, &t.repo, "refs/heads/sym", NULL),
			 1);
	assert_int_equal(ref.kind, REFS_LOOSE_SYMBOLIC);
	assert_string_equal(ref.target, "refs/heads/none");
	refs_loose_release(&ref);
	/*
	 * A symbolic link to any other path is followed, and the file to which
	 * it leads is read.
	 */
	tmprepo_link(&t, "refs/heads/other", "main");
	assert_int_equal(
		refs_loose_read(&ref, &t.repo, "refs/heads/other", NULL), 1);
	assert_int_equal(ref.kind, REFS_LOOSE_OID);
	refs_loose_release(&ref);
	tmprepo_release(&t);
}

static void assert_list(const struct tmprepo *t, const char *prefix,
			const char *const *names)
{
	struct refs_loose_list *list;
	size_t i;

	assert_int_equal(refs_loose_list_read(&list, &t->repo, prefix, NULL),
			 0);
	for (i = 0; names[i]; i++) {
		assert_true(i < list->nr);
		assert_string_equal(list->refs[i].name, names[i]);
		assert_int_equal(refs_loose_list_seek(list, names[i]), i);
	}
	assert_int_equal(list->nr, i);
	refs_loose_list_free(list);
}

#define NAMES(...) ((const char *const[]){__VA_ARGS__, NULL})

static void test_list(void **state)
{
	struct tmprepo t;

	tmprepo_init(&t, HASH_SHA1);
	tmprepo_write(&t, "refs/heads/main", HEX_A "\n");
	tmprepo_write(&t, "refs/heads/a/b", HEX_A "\n");
	tmprepo_write(&t, "refs/heads/a-b", HEX_A "\n");
	tmprepo_write(&t, "refs/heads/x.lock", HEX_A "\n");
	tmprepo_write(&t, "refs/heads/.hidden", HEX_A "\n");
	tmprepo_write(&t, "refs/tags/v1", HEX_A "\n");
	assert_list(&t, "refs/",
		    NAMES("refs/heads/a-b", "refs/heads/a/b", "refs/heads/main",
			  "refs/tags/v1"));
	assert_list(&t, "refs/heads/a",
		    NAMES("refs/heads/a-b", "refs/heads/a/b"));
	assert_list(&t, "refs/heads/a/", NAMES("refs/heads/a/b"));
	assert_list(&t, "refs/t", NAMES("refs/tags/v1"));
	assert_list(&t, "refs/heads/../", NAMES(NULL));
	assert_list(&t, "objects/", NAMES(NULL));
	assert_list(&t, "refs/none/x", NAMES(NULL));
	tmprepo_release(&t);
}

static void test_worktree(void **state)
{
	struct tmprepo t;
	struct buf git_dir = BUF_INIT;

	tmprepo_init(&t, HASH_SHA1);
	buf_printf(&git_dir, "%s/worktrees/w", t.dir);
	t.repo.git_dir = git_dir.data;
	tmprepo_write(&t, "refs/heads/main", HEX_A "\n");
	tmprepo_write(&t, "refs/bisect/bad", HEX_A "\n");
	tmprepo_write(&t, "worktrees/w/refs/bisect/good", HEX_A "\n");
	tmprepo_write(&t, "worktrees/w/refs/heads/other", HEX_A "\n");
	tmprepo_write(&t, "worktrees/w/refs/rewritten/y", HEX_A "\n");
	tmprepo_write(&t, "worktrees/w/refs/worktree/x", HEX_A "\n");
	assert_list(&t, "refs/",
		    NAMES("refs/bisect/good", "refs/heads/main",
			  "refs/rewritten/y", "refs/worktree/x"));
	assert_list(&t, "refs/bisect/", NAMES("refs/bisect/good"));
	assert_list(&t, "refs/b", NAMES("refs/bisect/good"));
	buf_release(&git_dir);
	tmprepo_release(&t);
}

/*
 * A server may read HEAD once for many requests. The refs of a request then do
 * not read the file HEAD again.
 */
static void test_cached_head(void **state)
{
	struct refs_cache *cache = refs_cache_new("ref: refs/heads/kept\n");
	const struct repo repo = {
		.git_dir = (char *)"/none",
		.common_dir = (char *)"/none",
		.refs_cache = cache,
		.algo = HASH_SHA1,
	};
	struct refs_loose ref;

	assert_int_equal(refs_loose_read(&ref, &repo, "HEAD", NULL), 1);
	assert_int_equal(ref.kind, REFS_LOOSE_SYMBOLIC);
	assert_string_equal(ref.target, "refs/heads/kept");
	refs_loose_release(&ref);
	assert_int_equal(refs_loose_read(&ref, &repo, "refs/heads/kept", NULL),
			 0);
	refs_cache_free(cache);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cached_head),
		cmocka_unit_test(test_parse),
		cmocka_unit_test(test_path),
		cmocka_unit_test(test_read),
		cmocka_unit_test(test_list),
		cmocka_unit_test(test_worktree),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
