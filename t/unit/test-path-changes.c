/* SPDX-License-Identifier: MIT */
/*
 * Tests of graph-write/path-changes.c, a tree diff. The changes between random
 * commits are compared with lists of all paths, with and without a pathspec.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "graph-write/path-changes.h"
#include "t/unit/walkrepo.h"

/* Appends the files of a tree as lines "<path>\t<mode> <id>\n". */
static void list(struct buf *out, struct randrepo *r, uint32_t tree,
		 const char *dir)
{
	const struct randrepo_object *o = &r->objects[tree];
	struct cursor c = cursor_make(o->data.data, o->data.len);
	struct tree_entry e;

	while (tree_next(&e, &c, r->t.repo.algo) > 0) {
		char hex[OID_MAX_HEX_LEN + 1];
		struct buf path = BUF_INIT;
		struct oid oid;

		oid_from_raw(&oid, e.oid, r->t.repo.algo);
		buf_printf(&path, "%s%.*s", dir, (int)e.name_len, e.name);
		if (tree_entry_is_dir(&e)) {
			buf_append_char(&path, '/');
			list(out, r, randrepo_find(r, &oid), path.data);
		} else {
			buf_printf(out, "%s\t%o %s\n", path.data, e.mode,
				   oid_to_hex(hex, &oid, r->t.repo.algo));
		}
		buf_release(&path);
	}
}

static int take_path(void *ctx, const char *path, size_t len,
		     enum path_change change)
{
	assert_int_equal(path[len], '\0');
	assert_in_range(change, PATH_ADDED, PATH_MODIFIED);
	assert_true(path[0] != '/' && path[len - 1] != '/');
	return buf_printf(ctx, "%s\n", path);
}

/* Returns whether a line of `text` begins with the path and a tab. */
static bool has_line(const char *text, const char *path, size_t len)
{
	for (; *text; text = strchr(text, '\n') + 1)
		if (!strncmp(text, path, len))
			return true;
	return false;
}

/* Checks that each line of `a` that is not in `b` has its path in `changed`. */
static void check_lines(const char *a, const char *b, const char *changed)
{
	for (; *a; a = strchr(a, '\n') + 1) {
		size_t line_len = strcspn(a, "\n") + 1;
		struct buf path = BUF_INIT;

		buf_printf(&path, "%.*s\n", (int)strcspn(a, "\t"), a);
		if (!has_line(b, a, line_len))
			assert_true(has_line(changed, path.data, path.len));
		buf_release(&path);
	}
}

/*
 * Checks that each path in `changed` has different lines in `a` and `b`, or a
 * line in only one of them.
 */
static void check_changed(const char *changed, const char *a, const char *b)
{
	for (; *changed; changed = strchr(changed, '\n') + 1) {
		struct buf path = BUF_INIT;
		bool found = false;

		buf_printf(&path, "%.*s\t", (int)strcspn(changed, "\n"),
			   changed);
		for (int i = 0; i < 2; i++)
			for (const char *l = i ? a : b, *other = i ? b : a; *l;
			     l = strchr(l, '\n') + 1)
				found |= !strncmp(l, path.data, path.len) &&
					 !has_line(other, l,
						   strcspn(l, "\n") + 1);
		assert_true(found);
		buf_release(&path);
	}
}

/*
 * Collects changes as lines "<path> <change>". With a pathspec, only paths that
 * the pathspec takes are collected.
 */
struct noting {
	struct buf out;
	const struct pathspec *ps;
};

static int note_change(void *ctx, const char *path, size_t len,
		       enum path_change change)
{
	struct noting *n = ctx;

	/* The last argument is false: random trees have no submodules. */
	if (n->ps && !pathspec_takes(n->ps, path, len, false))
		return 0;
	return buf_printf(&n->out, "%s %d\n", path, (int)change);
}

/*
 * Checks a tree diff that is limited by a pathspec. It must report exactly the
 * changes of paths that the pathspec takes.
 */
static void check_limited(struct path_changes *p, uint32_t ta, uint32_t tb,
			  const char *path)
{
	static const char *const forms[] = {"%s", ":!%s", "%.2s*",
					    ":(glob)*%s"};

	for (size_t i = 0; i < 4; i++) {
		const struct pathspec_place top = {.name = ""};
		struct noting all = {BUF_INIT, NULL}, limited = all;
		struct buf text = BUF_INIT;
		const char *pattern;
		struct pathspec ps;

		buf_printf(&text, forms[i], path);
		pattern = text.data;
		assert_int_equal(pathspec_parse(&ps, &pattern, 1, &top, NULL),
				 0);
		all.ps = &ps;
		path_changes_run(p, ta, tb, note_change, &all, NULL);
		path_changes_limit(p, &ps);
		path_changes_run(p, ta, tb, note_change, &limited, NULL);
		path_changes_limit(p, NULL);
		assert_string_equal(all.out.data, limited.out.data);
		pathspec_release(&ps);
		buf_release(&text);
		buf_release(&all.out);
		buf_release(&limited.out);
	}
}

static void check_limits(struct path_changes *p, uint32_t ta, uint32_t tb,
			 const char *changed)
{
	char path[256];

	for (; *changed; changed = strchr(changed, '\n') + 1) {
		size_t len = strcspn(changed, "\n");

		assert_true(len < sizeof(path));
		memcpy(path, changed, len);
		path[len] = '\0';
		check_limited(p, ta, tb, path);
	}
}

static void check_pair(struct walkrepo *f, struct path_changes *p, uint32_t a,
		       uint32_t b)
{
	struct randrepo *r = &f->h.r;
	struct buf changed = BUF_INIT, la = BUF_INIT, lb = BUF_INIT;
	uint32_t ta = r->objects[a].refs[0], tb = r->objects[b].refs[0];

	list(&la, r, ta, "");
	list(&lb, r, tb, "");
	assert_int_equal(path_changes_run(p, walkrepo_pos(f, ta),
					  walkrepo_pos(f, tb), take_path,
					  &changed, NULL),
			 0);
	check_lines(la.data, lb.data, changed.data);
	check_lines(lb.data, la.data, changed.data);
	check_changed(changed.data, la.data, lb.data);
	check_limits(p, walkrepo_pos(f, ta), walkrepo_pos(f, tb), changed.data);
	/*
	 * If there is no second tree, each file of the first tree counts as
	 * changed.
	 */
	buf_reset(&changed);
	assert_int_equal(path_changes_run(p, walkrepo_pos(f, ta),
					  PATH_CHANGES_NO_TREE, take_path,
					  &changed, NULL),
			 0);
	check_lines(la.data, "", changed.data);
	buf_release(&changed);
	buf_release(&la);
	buf_release(&lb);
}

static void test_random(void **state)
{
	uint64_t seed = random_seed();
	struct path_changes *p;
	struct walkrepo f;

	for (int i = 0; i < 2; i++) {
		walkrepo_init(&f, i ? HASH_SHA256 : HASH_SHA1, &seed, 40, 10);
		p = path_changes_new(&f.w.space, 1 << 20);
		assert_non_null(p);
		for (int k = 0; k < 100; k++)
			check_pair(&f, p, walkrepo_some_commit(&f),
				   walkrepo_some_commit(&f));
		path_changes_free(p);
		walkrepo_release(&f);
	}
}

static int stop(void *ctx, const char *path, size_t len,
		enum path_change change)
{
	++*(int *)ctx;
	return 7;
}

static void test_stop(void **state)
{
	uint64_t seed = random_seed();
	struct path_changes *p;
	struct walkrepo f;
	uint32_t tree;
	int calls = 0;

	walkrepo_init(&f, HASH_SHA1, &seed, 30, 0);
	p = path_changes_new(&f.w.space, 0);
	assert_non_null(p);
	tree = f.h.r.objects[f.h.r.commits[f.h.r.commit_nr - 1]].refs[0];
	assert_int_equal(path_changes_run(p, walkrepo_pos(&f, tree),
					  PATH_CHANGES_NO_TREE, stop, &calls,
					  NULL),
			 7);
	assert_int_equal(calls, 1);
	path_changes_free(p);
	walkrepo_release(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_stop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
