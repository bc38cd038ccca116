/* SPDX-License-Identifier: MIT */
/*
 * Tests of names/revname.c, which parses the names of gitrevisions(7): every
 * form of a name, in a small history.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/mem.h"
#include "names/revname.h"
#include "t/unit/tmppack.h"

/*
 * The commits root <- side and root <- main. The commit `merge` has the parents
 * main and side, and the tree { dir: { file: blob } }. The tag v1 points to
 * `merge`, and the tag `nested` points to v1.
 */
struct fixture {
	struct tmprepo t;
	struct odb *odb;
	struct odb_reader *reader;
	struct refs *refs;
	struct oid blob, dir, tree, root, side, main, merge, v1, nested;
};

static void make_tree(struct fixture *f, struct oid *out, const char *entry,
		      const struct oid *oid)
{
	struct buf text = BUF_INIT;

	buf_append(&text, entry, strlen(entry) + 1);
	buf_append(&text, oid->bytes, 20);
	tmppack_loose(&f->t, "objects", out, OBJ_TREE, text.data, text.len);
	buf_release(&text);
}

static void make_commit(struct fixture *f, struct oid *out, const char *message,
			const struct oid *parent1, const struct oid *parent2)
{
	char hex[OID_MAX_HEX_LEN + 1];
	struct buf text = BUF_INIT;

	buf_printf(&text, "tree %s\n", oid_to_hex(hex, &f->tree, HASH_SHA1));
	if (parent1)
		buf_printf(&text, "parent %s\n",
			   oid_to_hex(hex, parent1, HASH_SHA1));
	if (parent2)
		buf_printf(&text, "parent %s\n",
			   oid_to_hex(hex, parent2, HASH_SHA1));
	buf_printf(&text,
		   "author A <a@b> 1 +0000\ncommitter A <a@b> 1 +0000\n\n%s\n",
		   message);
	tmppack_loose(&f->t, "objects", out, OBJ_COMMIT, text.data, text.len);
	buf_release(&text);
}

static void make_tag(struct fixture *f, struct oid *out, const struct oid *to,
		     const char *type)
{
	char hex[OID_MAX_HEX_LEN + 1];
	struct buf text = BUF_INIT;

	buf_printf(&text,
		   "object %s\ntype %s\ntag v1\ntagger A <a@b> 1 +0000\n\nm\n",
		   oid_to_hex(hex, to, HASH_SHA1), type);
	tmppack_loose(&f->t, "objects", out, OBJ_TAG, text.data, text.len);
	buf_release(&text);
}

static void make_ref(struct fixture *f, const char *name, const struct oid *to)
{
	char hex[OID_MAX_HEX_LEN + 1];

	tmprepo_write(&f->t, name, oid_to_hex(hex, to, HASH_SHA1));
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	tmprepo_init(&f->t, HASH_SHA1);
	tmppack_loose(&f->t, "objects", &f->blob, OBJ_BLOB, "hello", 5);
	make_tree(f, &f->dir, "100644 file", &f->blob);
	make_tree(f, &f->tree, "40000 dir", &f->dir);
	make_commit(f, &f->root, "root", NULL, NULL);
	make_commit(f, &f->side, "side", &f->root, NULL);
	make_commit(f, &f->main, "main", &f->root, NULL);
	make_commit(f, &f->merge, "merge", &f->main, &f->side);
	make_tag(f, &f->v1, &f->merge, "commit");
	make_tag(f, &f->nested, &f->v1, "tag");
	tmprepo_write(&f->t, "HEAD", "ref: refs/heads/main\n");
	make_ref(f, "refs/heads/main", &f->merge);
	make_ref(f, "refs/tags/v1", &f->v1);
	make_ref(f, "refs/tags/nested", &f->nested);
	make_ref(f, "refs/tags/blob", &f->blob);
	assert_int_equal(odb_open(&f->odb, &f->t.repo, NULL, NULL), 0);
	assert_int_equal(refs_open(&f->refs, &f->t.repo, NULL), 0);
	f->reader = odb_reader_new(f->odb, 1 << 20);
	assert_non_null(f->reader);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	odb_reader_free(f->reader);
	refs_close(f->refs);
	odb_close(f->odb);
	tmprepo_release(&f->t);
	free(f);
	return 0;
}

static int resolve(struct fixture *f, struct oid *oid, const char *name,
		   struct error *err)
{
	return revname_resolve(oid, name, f->refs, f->reader, f->odb, err);
}

static void test_names(void **state)
{
	struct fixture *f = *state;
	const struct {
		const char *name;
		const struct oid *oid;
	} cases[] = {
		{"HEAD", &f->merge},
		{"@", &f->merge},
		{"main", &f->merge},
		{"heads/main", &f->merge},
		{"v1", &f->v1},
		{"v1^{}", &f->merge},
		{"v1^0", &f->merge},
		{"v1^{commit}", &f->merge},
		{"v1^{tag}", &f->v1},
		{"v1^{object}", &f->v1},
		{"nested^{tag}", &f->nested},
		{"nested^{}", &f->merge},
		{"nested~1", &f->main},
		{"HEAD^", &f->main},
		{"HEAD^1", &f->main},
		{"HEAD^2", &f->side},
		{"HEAD~", &f->main},
		{"HEAD~0", &f->merge},
		{"HEAD~2", &f->root},
		{"HEAD^^", &f->root},
		{"HEAD^2~1", &f->root},
		{"@~2^{tree}", &f->tree},
		{"HEAD^{tree}", &f->tree},
		{"v1^{tree}", &f->tree},
		{"HEAD:", &f->tree},
		{"HEAD:dir", &f->dir},
		{"HEAD:dir/", &f->dir},
		{"HEAD:dir/file", &f->blob},
		{"HEAD^{tree}:dir/file", &f->blob},
		/* the text between the two closing braces is ignored */
		{"HEAD^{}x}", &f->merge},
		{"HEAD^{tree}~1@{0}", &f->tree},
		{"HEAD^{commit}^{tree}@{0}", &f->tree},
		{"HEAD^{tree}:dir}", &f->tree},
		{"HEAD^{tree}:dir}^{object}", &f->tree},
		{"HEAD^{commit}:dir}~2", &f->root},
		{"nested:dir", &f->dir},
		{"blob", &f->blob},
		{"blob^{}", &f->blob},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct oid oid;

		assert_int_equal(resolve(f, &oid, cases[i].name, NULL), 0);
		assert_true(oid_equal(&oid, cases[i].oid));
	}
}

static void test_hex(void **state)
{
	struct fixture *f = *state;
	char hex[OID_MAX_HEX_LEN + 1];
	struct buf name = BUF_INIT;
	struct oid oid;

	oid_to_hex(hex, &f->side, HASH_SHA1);
	assert_int_equal(resolve(f, &oid, hex, NULL), 0);
	assert_true(oid_equal(&oid, &f->side));
	buf_printf(&name, "%.8s~1", hex);
	assert_int_equal(resolve(f, &oid, name.data, NULL), 0);
	assert_true(oid_equal(&oid, &f->root));
	buf_reset(&name);
	buf_printf(&name, "v1-3-g%.8s", hex);
	assert_int_equal(resolve(f, &oid, name.data, NULL), 0);
	assert_true(oid_equal(&oid, &f->side));
	buf_reset(&name);
	buf_printf(&name, "%040d", 7);
	assert_int_equal(resolve(f, &oid, name.data, NULL), 0);
	assert_int_equal(oid.bytes[19], 7);
	buf_release(&name);
}

static void test_failures(void **state)
{
	static const struct {
		const char *name;
		int ret;
		const char *message;
	} cases[] = {
		{"none", ERR_MISSING, "ambiguous argument 'none': unknown"},
		{"", ERR_MISSING, "unknown revision"},
		{"^", ERR_MISSING, "unknown revision"},
		{"~1", ERR_MISSING, "unknown revision"},
		{"HEAD^3", ERR_MISSING, "unknown revision"},
		{"HEAD~3", ERR_MISSING, "unknown revision"},
		{"HEAD~99999999999", ERR_MISSING, "unknown revision"},
		{"HEAD^{what}", ERR_MISSING, "unknown revision"},
		{"HEAD}", ERR_MISSING, "unknown revision"},
		{"0000000000000000000000000000000000000007^{}", ERR_MISSING,
		 "unknown revision"},
		{"blob^{commit}", ERR_INVALID,
		 "expected commit type, but the object dereferences to blob"},
		{"blob~1", ERR_INVALID, "is a blob, not a commit"},
		{"blob:x", ERR_INVALID, "path 'x' does not exist in 'blob'"},
		{"main^{tag}", ERR_INVALID, "expected tag type"},
		{"HEAD:none", ERR_INVALID,
		 "path 'none' does not exist in 'HEAD'"},
		{"HEAD:dir/file/", ERR_INVALID, "does not exist"},
		{"HEAD:/dir", ERR_INVALID, "does not exist"},
		{"HEAD@{1}", ERR_MISSING, "unknown revision"},
		{"HEAD@{-1}", ERR_MISSING, "unknown revision"},
		{"HEAD@{some}", ERR_MISSING, "unknown revision"},
		{"@{-1}", ERR_UNSUPPORTED, "checkouts"},
		{"@{u}", ERR_UNSUPPORTED, "upstream"},
		{"main@{upstream}@{0}", ERR_UNSUPPORTED, "upstream"},
		{"@{-1}@{now}~1", ERR_UNSUPPORTED, "checkouts"},
		{"main^0@{push}@{8}", ERR_UNSUPPORTED, "upstream"},
		{"^no branch@{u}", ERR_UNSUPPORTED, "upstream"},
		{"no branch@{push}~2", ERR_UNSUPPORTED, "upstream"},
		{"main^0@{8}@{1}", ERR_MISSING, "unknown revision"},
		{"HEAD^{what}@{0}", ERR_MISSING, "unknown revision"},
		{"HEAD^{tree}x", ERR_MISSING, "unknown revision"},
		{":/text", ERR_UNSUPPORTED, "searches"},
		{"HEAD^{/text}", ERR_UNSUPPORTED, "searches"},
		{":file", ERR_UNSUPPORTED, "index"},
		{"HEAD:./file", ERR_UNSUPPORTED, "relative paths"},
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct error err = ERROR_INIT;
		struct oid oid = OID_ZERO_INIT;

		assert_int_equal(resolve(f, &oid, cases[i].name, &err),
				 cases[i].ret);
		assert_non_null(strstr(err.msg, cases[i].message));
		assert_true(oid_is_zero(&oid));
	}
}

/* Checks the error, and the notes that are printed for the user. */
static void test_notes(void **state)
{
	static const struct {
		const char *name;
		bool quiet;
		int ret;
		const char *notes;
	} cases[] = {
		{"HEAD", false, 0, ""},
		{"twice", false, 0, "warning: refname 'twice' is ambiguous.\n"},
		{"twice", true, 0, ""},
		{"twice^{tree}", true, 0, ""},
		{"twice~0", true, 0,
		 "warning: refname 'twice' is ambiguous.\n"},
		{"refs/heads/twice", false, 0, ""},
		{"main^{tag}", false, ERR_MISSING,
		 "error: main^{tag}: expected tag type, but the object "
		 "dereferences to tree type\n"},
		{"main^{tree}^{commit}^{tree}", true, ERR_MISSING,
		 "error: main^{tree}^{commit}: expected commit type, but the "
		 "object dereferences to tree type\n"},
		{"broken", false, ERR_MISSING,
		 "warning: ignoring broken ref refs/heads/broken\n"},
		{"dangling", true, ERR_MISSING,
		 "warning: ignoring dangling symref refs/heads/dangling\n"},
	};
	struct fixture *f = *state;

	make_ref(f, "refs/heads/twice", &f->merge);
	make_ref(f, "refs/tags/twice", &f->merge);
	tmprepo_write(&f->t, "refs/heads/broken", "garbage\n");
	tmprepo_write(&f->t, "refs/heads/dangling", "ref: refs/heads/none\n");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct error err = ERROR_INIT;
		struct buf notes = BUF_INIT;
		struct oid oid = OID_ZERO_INIT;

		const struct revname_options options = {
			.quiet = cases[i].quiet,
			.notes = &notes,
		};

		assert_int_equal(revname_resolve_as(&oid, cases[i].name,
						    &options, f->refs,
						    f->reader, f->odb, &err),
				 cases[i].ret);
		assert_string_equal(notes.len ? notes.data : "",
				    cases[i].notes);
		buf_release(&notes);
	}
}

static void check_may_be_unsupported(bool expected, const char *format,
				     const char *name)
{
	struct buf arg = BUF_INIT;

	buf_append(&arg, format, strcspn(format, "@"));
	buf_append_str(&arg, name);
	buf_append_str(&arg, strchr(format, '@') + 1);
	assert_int_equal(revname_may_be_unsupported(arg.data), expected);
	buf_release(&arg);
}

/*
 * revname_path() finds the path in a name <rev>:<path>. It skips colons in
 * dates, and in text that stock Git ignores.
 */
static void test_path(void **state)
{
	static const struct {
		const char *name, *path;
	} cases[] = {
		{"HEAD", NULL},
		{":dir", NULL},
		{"HEAD:", ""},
		{"HEAD^{tree}:dir", "dir"},
		{"HEAD@{1 hour ago 10:00}", NULL},
		{"HEAD@{10:00}:dir", "dir"},
		{"HEAD^{tree}:dir}", NULL},
		{"HEAD^{tree}:dir}^{object}", NULL},
		{"HEAD^{commit}:dir}~2^", NULL},
		{"HEAD~2:dir~1", "dir~1"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_NR(cases); i++) {
		const char *path = revname_path(cases[i].name);

		assert_int_equal(!path, !cases[i].path);
		if (path)
			assert_string_equal(path, cases[i].path);
	}
}

/*
 * Puts names into each position of an argument, for example the right side of a
 * range. If a name has an unsupported form, this must be noticed at every
 * position.
 */
static void test_may_be_unsupported(void **state)
{
	static const char *const unsupported[] = {
		"HEAD@{1}", "@{u}",        ":/text",       "HEAD^{/text}",
		":file",    "HEAD:./file", "HEAD:../file", ":",
	};
	static const char *const others[] = {
		"HEAD", "@", "", "HEAD^{}", "HEAD^{commit}~2", "HEAD:dir/.file",
	};
	static const char *const formats[] = {
		"@", "^@", "@..HEAD", "HEAD..@", "HEAD...@", "@...", "..@",
	};

	for (size_t i = 0; i < ARRAY_NR(formats); i++) {
		for (size_t k = 0; k < ARRAY_NR(unsupported); k++)
			check_may_be_unsupported(true, formats[i],
						 unsupported[k]);
		for (size_t k = 0; k < ARRAY_NR(others); k++)
			check_may_be_unsupported(false, formats[i], others[k]);
	}
}

/*
 * The largest number of suffixes needs no more stack than one suffix. A name
 * with more suffixes is refused.
 */
static void test_many_suffixes(void **state)
{
	static const char *const suffixes[] = {"^0", "~0", "^{}", "^{commit}"};
	struct fixture *f = *state;
	struct oid oid;

	for (size_t i = 0; i < ARRAY_NR(suffixes); i++) {
		struct buf name = BUF_INIT;

		buf_append_str(&name, "HEAD");
		for (int k = 0; k < 10000; k++)
			buf_append_str(&name, suffixes[i]);
		assert_int_equal(resolve(f, &oid, name.data, NULL), 0);
		assert_true(oid_equal(&oid, &f->merge));
		buf_append_str(&name, suffixes[i]);
		assert_int_equal(resolve(f, &oid, name.data, NULL),
				 ERR_MISSING);
		buf_release(&name);
	}
}

/*
 * The name is "main@{now" with many suffixes "^{tag}". Each suffix fails,
 * because there is no tag. The text from "@{" to the end of this suffix is then
 * taken for a date. This is done for at most four suffixes of a name: a name
 * with five of them is refused.
 */
static void test_many_dates(void **state)
{
	struct fixture *f = *state;
	char hex[OID_MAX_HEX_LEN + 1];
	struct buf text = BUF_INIT;
	struct oid oid;

	buf_printf(&text, "%040d %s A <a@b> 1 +0000\tx\n", 0,
		   oid_to_hex(hex, &f->merge, HASH_SHA1));
	tmprepo_write(&f->t, "logs/refs/heads/main", text.data);
	buf_reset(&text);
	buf_append_str(&text, "main@{now");
	for (int i = 0; i < 4; i++)
		buf_append_str(&text, "^{tag}");
	assert_int_equal(resolve(f, &oid, text.data, NULL), 0);
	assert_true(oid_equal(&oid, &f->merge));
	buf_append_str(&text, "^{tag}");
	assert_int_equal(resolve(f, &oid, text.data, NULL), ERR_INVALID);
	tmprepo_remove(&f->t, "logs/refs/heads/main");
	buf_release(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_hex),
		cmocka_unit_test(test_path),
		cmocka_unit_test(test_failures),
		cmocka_unit_test(test_notes),
		cmocka_unit_test(test_may_be_unsupported),
		cmocka_unit_test(test_many_suffixes),
		cmocka_unit_test(test_many_dates),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
