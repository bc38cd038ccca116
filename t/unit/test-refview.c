/* SPDX-License-Identifier: MIT */
/*
 * Tests of wire/refview.c, the refs that one client may see: hide rules,
 * namespaces, and short names.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "t/unit/random.h"
#include "t/unit/tmprepo.h"

#include "base/mem.h"
#include "wire/refview.h"

#define OID "1111111111111111111111111111111111111111\n"

static bool hides(const char *patterns, const char *name, const char *full)
{
	struct refview_rules rules = {0};
	bool hidden;

	while (*patterns) {
		char one[64];
		size_t len = strcspn(patterns, ",");

		snprintf(one, sizeof(one), "%.*s", (int)len, patterns);
		assert_int_equal(refview_rules_add(&rules, one), 0);
		patterns += len + (patterns[len] == ',');
	}
	hidden = refview_rules_hide(&rules, name, full);
	refview_rules_release(&rules);
	return hidden;
}

static void test_rules(void **state)
{
	static const char main[] = "refs/heads/main";

	assert_false(hides("", main, main));
	assert_true(hides("refs/heads/main", main, main));
	assert_true(hides("refs/heads", main, main));
	assert_true(hides("refs/heads/", main, main));
	assert_true(hides("refs", main, main));
	assert_false(hides("refs/head", main, main));
	assert_false(hides("refs/heads/ma", main, main));
	assert_false(hides("refs/heads/main/x", main, main));
	assert_false(hides("refs/heads,!refs/heads/main", main, main));
	assert_true(hides("!refs/heads/main,refs/heads", main, main));
	assert_true(hides("refs/heads,!refs/heads/other", main, main));
}

static void id_of(struct oid *id, const char *first, const char *second)
{
	struct refview_rules rules = {0};

	assert_int_equal(refview_rules_add(&rules, first), 0);
	if (second)
		assert_int_equal(refview_rules_add(&rules, second), 0);
	assert_int_equal(refview_rules_id(id, &rules), 0);
	refview_rules_release(&rules);
}

/*
 * The id of a set of hide rules depends on the order of the rules, on their
 * kinds, and on where each rule ends.
 */
static void test_rules_id(void **state)
{
	static const char *const rules[][2] = {
		{"a", "b"}, {"b", "a"},  {"ab", NULL}, {"a", NULL},
		{"a", ""},  {"!a", "b"}, {"^a", "b"},  {"!^a", "b"},
	};
	enum { NR = sizeof(rules) / sizeof(rules[0]) };
	struct oid ids[NR], again;

	for (size_t i = 0; i < NR; i++) {
		id_of(&ids[i], rules[i][0], rules[i][1]);
		for (size_t k = 0; k < i; k++)
			assert_false(oid_equal(&ids[i], &ids[k]));
	}
	id_of(&again, "a/", "b//");
	assert_true(oid_equal(&again, &ids[0]));
}

static void test_rules_in_namespace(void **state)
{
	static const char name[] = "refs/heads/main";
	static const char full[] = "refs/namespaces/foo/refs/heads/main";

	assert_true(hides("refs/heads", name, full));
	assert_false(hides("^refs/heads", name, full));
	assert_true(hides("^refs/namespaces/foo/refs/heads", name, full));
	assert_false(hides("refs/namespaces", name, full));
	assert_true(hides("^refs/namespaces", name, full));
	assert_false(
		hides("^refs/namespaces,!^refs/namespaces/foo", name, full));
}

/* Only patterns with "^" match refs outside of the namespace. */
static void test_rules_outside(void **state)
{
	static const char full[] = "refs/heads/main";

	assert_false(hides("refs/heads", NULL, full));
	assert_false(hides("/", NULL, full));
	assert_true(hides("^refs/heads", NULL, full));
	assert_true(hides("^refs,!", NULL, full));
	assert_true(hides("^refs,!refs", NULL, full));
	assert_false(hides("^refs,!^refs", NULL, full));
}

static int list_one(void *ctx, const struct ref *ref)
{
	buf_printf(ctx, "%s%s%s ", ref->name, ref->target ? ">" : "",
		   ref->target ? ref->target : "");
	return 0;
}

static void expect(struct refview *v, const char *prefix, bool hidden_too,
		   const char *want)
{
	struct buf text = BUF_INIT;

	assert_int_equal(refview_each(v, prefix, hidden_too, list_one, &text,
				      NULL, NULL),
			 0);
	assert_string_equal(text.data, want);
	buf_release(&text);
}

static void fill(struct tmprepo *t)
{
	tmprepo_init(t, HASH_SHA1);
	tmprepo_write(t, "HEAD", "ref: refs/heads/main\n");
	tmprepo_write(t, "refs/heads/main", OID);
	tmprepo_write(t, "refs/heads/v1", OID);
	tmprepo_write(t, "refs/tags/v1", OID);
	tmprepo_write(t, "refs/secret/x", OID);
	tmprepo_write(t, "ORIG_HEAD", OID);
	tmprepo_write(t, "refs/namespaces/a/HEAD",
		      "ref: refs/namespaces/a/refs/heads/in\n");
	tmprepo_write(t, "refs/namespaces/a/refs/heads/in", OID);
	tmprepo_write(t, "refs/namespaces/a/refs/namespaces/b/refs/heads/bb",
		      OID);
}

static void hide(struct tmprepo *t, const char *text)
{
	assert_int_equal(config_parse(&t->repo.config, text, strlen(text),
				      CONFIG_LOCAL, NULL, NULL, NULL),
			 0);
}

struct listing {
	struct buf names;
};

static int list(void *ctx, const struct ref *ref)
{
	struct listing *l = ctx;

	return buf_printf(&l->names, "%s ", ref->name ? ref->name : "-");
}

static void list_all(struct refview *v, struct listing *l)
{
	assert_int_equal(refview_each_with_others(v, list, l, NULL, NULL), 0);
	assert_int_equal(refview_each(v, "", false, list, l, NULL, NULL), 0);
}

/* Lists namespace "a" with the given hide rules. */
static void expect_listed(const char *rules, const char *listed)
{
	struct refview v;
	struct tmprepo t;
	struct listing l = {BUF_INIT};

	fill(&t);
	hide(&t, rules);
	assert_int_equal(
		refview_open(&v, &t.repo, "receive.hiderefs", "a", NULL), 0);
	assert_int_equal(refview_each_with_others(&v, list, &l, NULL, NULL), 0);
	assert_int_equal(buf_append_char(&l.names, '\0'), 0);
	assert_string_equal(l.names.data, listed);
	buf_release(&l.names);
	refview_release(&v);
	config_release(&t.repo.config);
	tmprepo_release(&t);
}

/*
 * An empty pattern leaves out the refs of the namespace, unless a rule begins
 * with "!" or "^". The refs outside of the namespace are visited as "-".
 */
static void test_empty_pattern(void **state)
{
	static const char all[] = "- - HEAD refs/heads/in "
				  "refs/namespaces/b/refs/heads/bb - - ";

	expect_listed("", all);
	expect_listed("[transfer]\nhideRefs = \"\"\n", "- - - - ");
	expect_listed("[transfer]\nhideRefs = /\n", "- - - - ");
	expect_listed("[transfer]\nhideRefs = \"\"\nhideRefs = !refs/z\n", all);
	expect_listed("[transfer]\nhideRefs = \"\"\nhideRefs = ^refs/z\n", all);
	expect_listed("[transfer]\nhideRefs = ^refs\nhideRefs = !\n", "");
}

static void test_each(void **state)
{
	struct refview v;
	struct tmprepo t;

	fill(&t);
	hide(&t, "[transfer]\nhideRefs = refs/secret\n"
		 "hideRefs = refs/namespaces\n[uploadpack]\n"
		 "hideRefs = !refs/secret/x\nhideRefs = refs/tags\n");
	assert_int_equal(
		refview_open(&v, &t.repo, "uploadpack.hiderefs", NULL, NULL),
		0);
	expect(&v, "", false, "refs/heads/main refs/heads/v1 refs/secret/x ");
	expect(&v, "refs/heads/m", false, "refs/heads/main ");
	expect(&v, "re", false, "refs/heads/main refs/heads/v1 refs/secret/x ");
	expect(&v, "HEAD", false, "");
	expect(&v, "refs/tags/", false, "");
	expect(&v, "refs/tags/", true, "refs/tags/v1 ");
	refview_release(&v);
	config_release(&t.repo.config);
	tmprepo_release(&t);
}

/*
 * A visit may skip whole directories, and may decide once for a range of names.
 * The visible refs must be the same without these shortcuts.
 */
static void test_skips(void **state)
{
	static const char *const patterns[] = {
		"refs",          "refs/secret", "refs/secret/x",  "refs/heads",
		"refs/heads/v1", "refs/tags",   "refs/namespaces"};
	static const char *const names[] = {
		"refs/heads/main",
		"refs/heads/v1",
		"refs/namespaces/a/HEAD",
		"refs/namespaces/a/refs/heads/in",
		"refs/namespaces/a/refs/namespaces/b/refs/heads/bb",
		"refs/namespaces/a/refs/secret/x",
		"refs/namespaces/a0",
		"refs/secret-a",
		"refs/secret/x",
		"refs/secret/x-y",
		"refs/secret/x1",
		"refs/secret0",
		"refs/tags/v1",
		NULL,
	};
	uint64_t seed = random_seed();
	struct refview v;
	struct tmprepo t;

	fill(&t);
	tmprepo_write(&t, "refs/namespaces/a/refs/secret/x", OID);
	tmprepo_write(&t, "refs/namespaces/a0", OID);
	tmprepo_write(&t, "refs/secret-a", OID);
	tmprepo_write(&t, "refs/secret/x-y", OID);
	tmprepo_write(&t, "refs/secret/x1", OID);
	tmprepo_write(&t, "refs/secret0", OID);
	for (int i = 0; i < 300; i++) {
		struct buf rules = BUF_INIT;
		struct listing with = {BUF_INIT}, all = {BUF_INIT};
		char **skips, **bounds;

		buf_append_str(&rules, "[transfer]\n");
		for (int n = (int)(random_next(&seed) % 5); n > 0; n--)
			buf_printf(&rules, "hideRefs = \"%s%s%s\"\n",
				   random_next(&seed) % 3 ? "" : "!",
				   random_next(&seed) % 3 ? "" : "^",
				   patterns[random_next(&seed) %
					    ARRAY_NR(patterns)]);
		hide(&t, rules.data);
		assert_int_equal(refview_open(&v, &t.repo, "receive.hiderefs",
					      i % 2 ? "a" : NULL, NULL),
				 0);
		list_all(&v, &with);
		skips = v.skips;
		bounds = v.bounds;
		v.skips = NULL;
		v.bounds = (char **)(uintptr_t)names;
		list_all(&v, &all);
		v.skips = skips;
		v.bounds = bounds;
		assert_string_equal(with.names.data, all.names.data);
		refview_release(&v);
		config_release(&t.repo.config);
		buf_release(&rules);
		buf_release(&with.names);
		buf_release(&all.names);
	}
	tmprepo_release(&t);
}

static void test_others(void **state)
{
	struct listing l = {BUF_INIT};
	struct refview v;
	struct tmprepo t;

	fill(&t);
	hide(&t, "[receive]\nhideRefs = ^refs/secret\n");
	assert_int_equal(
		refview_open(&v, &t.repo, "receive.hiderefs", "a", NULL), 0);
	assert_int_equal(refview_hides(&v, "refs/heads/in"), 0);
	assert_string_equal(refview_full_name(&v, "refs/x"),
			    "refs/namespaces/a/refs/x");
	list_all(&v, &l);
	assert_non_null(strstr(l.names.data, "refs/heads/in "));
	assert_non_null(strstr(l.names.data, "- "));
	assert_null(strstr(l.names.data, "secret"));
	buf_release(&l.names);
	refview_release(&v);
	config_release(&t.repo.config);
	tmprepo_release(&t);
}

static void test_namespace(void **state)
{
	static const char *const bad[] = {"a/../b", "..", "/", "a/", "a b"};
	struct refview v;
	struct tmprepo t;
	struct ref ref;

	fill(&t);
	assert_int_equal(
		refview_open(&v, &t.repo, "uploadpack.hiderefs", "a", NULL), 0);
	expect(&v, "refs/heads/", false, "refs/heads/in ");
	assert_int_equal(refview_lookup(&v, "HEAD", &ref, NULL), 1);
	assert_string_equal(ref.target, "refs/heads/in");
	assert_int_equal(refview_lookup(&v, "refs/heads/main", &ref, NULL), 0);
	refview_release(&v);
	assert_int_equal(
		refview_open(&v, &t.repo, "uploadpack.hiderefs", "a/b", NULL),
		0);
	expect(&v, "", false, "refs/heads/bb ");
	refview_release(&v);
	assert_int_equal(refview_open(&v, &t.repo, "uploadpack.hiderefs",
				      "//a//b", NULL),
			 0);
	expect(&v, "", false, "refs/heads/bb ");
	refview_release(&v);
	for (size_t i = 0; i < ARRAY_NR(bad); i++) {
		assert_int_equal(refview_open(&v, &t.repo,
					      "uploadpack.hiderefs", bad[i],
					      NULL),
				 ERR_INVALID);
		refview_release(&v);
	}
	tmprepo_release(&t);
}

/*
 * Check that refview_head() returns `expect_ret` and sets the branch name to
 * `expect_branch`. The client is limited to a namespace, and by hide rules in
 * `rules`.
 */
static void head(const char *namespace, const char *rules, int expect_ret,
		 const char *expect_branch)
{
	const char *branch;
	struct refview v;
	struct tmprepo t;
	struct ref ref;

	fill(&t);
	hide(&t, rules);
	assert_int_equal(refview_open(&v, &t.repo, "uploadpack.hiderefs",
				      namespace, NULL),
			 0);
	assert_int_equal(refview_head(&v, &ref, &branch, NULL), expect_ret);
	if (expect_branch)
		assert_string_equal(branch, expect_branch);
	else
		assert_null(branch);
	refview_release(&v);
	config_release(&t.repo.config);
	tmprepo_release(&t);
}

#define HIDE "[transfer]\nhideRefs = "

static void test_head(void **state)
{
	head(NULL, "", 1, "refs/heads/main");
	head(NULL, HIDE "refs/heads\n", 1, "refs/heads/main");
	head(NULL, HIDE "HEAD\n", 0, "refs/heads/main");
	head(NULL, HIDE "HEAD\nhideRefs = refs/heads\n", 0, NULL);
	head("a", "", 1, "refs/heads/in");
	head("a", HIDE "HEAD\n", 0, "refs/heads/in");
	head("a", HIDE "HEAD\nhideRefs = refs/heads/in\n", 0, NULL);
	head("a", HIDE "HEAD\nhideRefs = ^refs/namespaces/a/refs\n", 0, NULL);
	/* The namespace a/b has no HEAD. */
	head("a/b", HIDE "HEAD\n", 0, NULL);
	head("a/b", "", 0, NULL);
}

/*
 * In a namespace, HEAD is a symbolic ref to a ref outside of the namespace.
 * Clients must not see the name of that ref.
 */
static void test_head_outside(void **state)
{
	const char *branch;
	struct refview v;
	struct tmprepo t;
	struct ref ref;

	fill(&t);
	tmprepo_write(&t, "refs/namespaces/a/HEAD", "ref: refs/heads/main\n");
	hide(&t, HIDE "HEAD\n");
	assert_int_equal(
		refview_open(&v, &t.repo, "uploadpack.hiderefs", "a", NULL), 0);
	assert_int_equal(refview_head(&v, &ref, &branch, NULL), 0);
	assert_null(branch);
	refview_release(&v);
	config_release(&t.repo.config);
	tmprepo_release(&t);
}

/*
 * A hide rule without a value is an error. Ignoring the rule could show hidden
 * refs.
 */
static void test_no_value(void **state)
{
	struct refview v;
	struct tmprepo t;

	fill(&t);
	hide(&t, "[transfer]\nhideRefs\n");
	assert_int_equal(
		refview_open(&v, &t.repo, "uploadpack.hiderefs", NULL, NULL),
		ERR_INVALID);
	refview_release(&v);
	config_release(&t.repo.config);
	tmprepo_release(&t);
}

static void test_lookup(void **state)
{
	struct refview v;
	struct tmprepo t;
	struct ref ref;

	fill(&t);
	hide(&t, "[transfer]\nhideRefs = refs/secret\n");
	assert_int_equal(
		refview_open(&v, &t.repo, "uploadpack.hiderefs", NULL, NULL),
		0);
	assert_int_equal(refview_lookup(&v, "refs/secret/x", &ref, NULL), 0);
	assert_int_equal(refview_lookup(&v, "refs/tags/v1", &ref, NULL), 1);
	assert_int_equal(ref.oid.bytes[0], 0x11);
	assert_int_equal(refview_expand(&v, "v1", &ref, NULL), 2);
	assert_int_equal(refview_expand(&v, "main", &ref, NULL), 1);
	assert_int_equal(ref.oid.bytes[0], 0x11);
	assert_int_equal(refview_expand(&v, "tags/v1", &ref, NULL), 1);
	assert_int_equal(refview_expand(&v, "HEAD", &ref, NULL), 1);
	assert_int_equal(refview_expand(&v, "secret/x", &ref, NULL), 0);
	assert_int_equal(refview_expand(&v, "../config", &ref, NULL), 0);
	assert_int_equal(refview_expand(&v, "config", &ref, NULL), 0);
	assert_int_equal(refview_expand(&v, "", &ref, NULL), 0);
	/*
	 * A name that is not normalized may lead to the file of a hidden ref.
	 * So it is refused.
	 */
	assert_int_equal(
		refview_lookup(&v, "main-worktree/refs/secret/x", &ref, NULL),
		0);
	assert_int_equal(refview_lookup(&v, "ORIG_HEAD", &ref, NULL), 0);
	assert_int_equal(
		refview_lookup(&v, "refs/tags/../secret/x", &ref, NULL), 0);
	refview_release(&v);
	config_release(&t.repo.config);
	tmprepo_release(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rules),
		cmocka_unit_test(test_rules_id),
		cmocka_unit_test(test_rules_in_namespace),
		cmocka_unit_test(test_rules_outside),
		cmocka_unit_test(test_empty_pattern),
		cmocka_unit_test(test_each),
		cmocka_unit_test(test_skips),
		cmocka_unit_test(test_others),
		cmocka_unit_test(test_namespace),
		cmocka_unit_test(test_no_value),
		cmocka_unit_test(test_lookup),
		cmocka_unit_test(test_head),
		cmocka_unit_test(test_head_outside),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
