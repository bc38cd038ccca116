/* SPDX-License-Identifier: MIT */
/*
 * Tests of object/fsck.c, which checks whether an object is well-formed. They
 * prove that each possible message appears with its severity, as in stock Git
 * 2.55. t/t1450-fsck.sh compares with the installed stock Git.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/mem.h"
#include "object/fsck.h"

#define TREE "tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904\n"
#define OBJECT "object 4b825dc642cb6eb9a060e54bf8d69288fbee4904\ntype tree\n"
#define WHO "A <a@b> 1 +0000\n"
#define AUTHOR "author " WHO
#define COMMITTER "committer " WHO
#define ID "\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1"
#define NO_ID "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"

/*
 * The names of the reported messages, separated by blanks. 'E' (error) or 'W'
 * (warning) comes before each name.
 */
struct heard {
	char text[1024];
	char last[512]; /* text of the last message */
	unsigned modules, attributes;
};

static int hear(void *ctx, const struct fsck_report *report, struct error *err)
{
	struct heard *h = ctx;
	size_t len = strlen(h->text);

	snprintf(h->text + len, sizeof(h->text) - len, "%s%c:%s",
		 len ? " " : "", report->is_error ? 'E' : 'W',
		 fsck_msg_name(report->msg));
	snprintf(h->last, sizeof(h->last), "%s", report->text);
	return 0;
}

static int find(void *ctx, const struct oid *oid, enum fsck_special special,
		struct error *err)
{
	struct heard *h = ctx;

	h->modules += special == FSCK_GITMODULES;
	h->attributes += special == FSCK_GITATTRIBUTES;
	return 0;
}

static int check_with(const struct fsck_rules *rules, struct heard *h,
		      enum object_type type, const void *data, size_t len)
{
	static const struct oid oid = {{1}};
	struct fsck f;
	void *copy = malloc(len ? len : 1);
	int ret;

	memset(h, 0, sizeof(*h));
	fsck_init(&f, rules);
	f.report = hear;
	f.found = find;
	f.ctx = h;
	/*
	 * The copy on the heap has no NUL after the last byte, so sanitizers
	 * report a read past the end.
	 */
	memcpy(copy, data, len);
	ret = fsck_object(&f, &oid, type, copy, len, NULL);
	free(copy);
	fsck_release(&f);
	return ret;
}

struct object_case {
	const char *data;
	size_t len;
	const char *heard;
};

#define TEXT(data, heard)                                                      \
	{                                                                      \
		data, sizeof(data) - 1, heard                                  \
	}

static void run_cases(const struct object_case *cases, size_t nr,
		      enum object_type type, bool strict)
{
	struct fsck_rules rules;
	struct heard h;

	fsck_rules_init(&rules, HASH_SHA1, strict);
	for (size_t i = 0; i < nr; i++) {
		int ret = check_with(&rules, &h, type, cases[i].data,
				     cases[i].len);

		if (strcmp(h.text, cases[i].heard))
			fail_msg("case %zu: heard '%s', not '%s'", i, h.text,
				 cases[i].heard);
		assert_int_equal(ret, strstr(h.text, "E:") != NULL);
	}
	fsck_rules_release(&rules);
}

static void test_commits(void **state)
{
	static const struct object_case cases[] = {
		TEXT(TREE AUTHOR COMMITTER "\nm\n", ""),
		TEXT(TREE AUTHOR COMMITTER, ""),
		TEXT(TREE
		     "parent 4b825dc642cb6eb9a060e54bf8d69288fbee4904\n" AUTHOR
			     COMMITTER "gpgsig x\n y\n\nm\n",
		     ""),
		TEXT("", "E:unterminatedHeader"),
		TEXT(TREE AUTHOR "committer "
				 "A <a@b> 1 +0000",
		     "E:unterminatedHeader"),
		TEXT(TREE AUTHOR COMMITTER "x \0 y\n\nm\n", "E:nulInHeader"),
		TEXT("foo\n\n", "E:missingTree"),
		TEXT("tree 4b825dc642cb6eb9\n" AUTHOR COMMITTER "\n",
		     "E:badTreeSha1"),
		TEXT(TREE "parent x\n" AUTHOR COMMITTER "\n",
		     "E:badParentSha1"),
		TEXT(TREE COMMITTER "\n", "E:missingAuthor"),
		TEXT(TREE AUTHOR AUTHOR COMMITTER "\n", "E:multipleAuthors"),
		TEXT(TREE AUTHOR "\n", "E:missingCommitter"),
		TEXT(TREE AUTHOR COMMITTER "\na\0b\n", "W:nulInCommit"),
	};

	run_cases(cases, ARRAY_NR(cases), OBJ_COMMIT, false);
}

static void test_idents(void **state)
{
#define IDENT_CASE(ident, heard)                                               \
	TEXT(TREE "author " ident "\n" COMMITTER "\n", heard)
	static const struct object_case cases[] = {
		IDENT_CASE(" <a@b> 1 +0000", ""),
		IDENT_CASE("A <> 0 -9999", ""),
		IDENT_CASE("A <a> \t1 +0000", ""),
		IDENT_CASE("A <a> 9223372036854775807 +0000", ""),
		IDENT_CASE("<a@b> 1 +0000", "E:missingNameBeforeEmail"),
		IDENT_CASE("A> <a@b> 1 +0000", "E:badName"),
		IDENT_CASE("", "E:missingEmail"),
		IDENT_CASE("A 1 +0000", "E:missingEmail"),
		IDENT_CASE("A<a@b> 1 +0000", "E:missingSpaceBeforeEmail"),
		IDENT_CASE("A <a<b> 1 +0000", "E:badEmail"),
		IDENT_CASE("A <a", "E:badEmail"),
		IDENT_CASE("A <a>> 1 +0000", "E:missingSpaceBeforeDate"),
		IDENT_CASE("A <a>", "E:missingSpaceBeforeDate"),
		IDENT_CASE("A <a> ", "E:badDate"),
		IDENT_CASE("A <a> -1 +0000", "E:badDate"),
		IDENT_CASE("A <a> 1x +0000", "E:badDate"),
		IDENT_CASE("A <a> 1", "E:badDate"),
		IDENT_CASE("A <a> 01 +0000", "E:zeroPaddedDate"),
		IDENT_CASE("A <a> 9223372036854775808 +0000",
			   "E:badDateOverflow"),
		IDENT_CASE("A <a> 99999999999999999999999999999 +0000",
			   "E:badDateOverflow"),
		IDENT_CASE("A <a> 1 ", "E:badTimezone"),
		IDENT_CASE("A <a> 1 +000", "E:badTimezone"),
		IDENT_CASE("A <a> 1 +00000", "E:badTimezone"),
		IDENT_CASE("A <a> 1  +0000", "E:badTimezone"),
	};

	run_cases(cases, ARRAY_NR(cases), OBJ_COMMIT, false);
}

static void test_tags(void **state)
{
#define TAGGER "tagger " WHO
	static const struct object_case cases[] = {
		TEXT(OBJECT "tag x\n" TAGGER "\nm\n", ""),
		TEXT(OBJECT "tag @\n" TAGGER, ""),
		TEXT(OBJECT "tag x\n" TAGGER "gpgsig a\n b\n\nm\0\n", ""),
		TEXT(OBJECT "tag x\n" TAGGER "other\n\n", ""),
		TEXT("", "E:unterminatedHeader"),
		TEXT("foo\n", "E:missingObject"),
		TEXT("object 4b825dc642\ntype tree\n", "E:badObjectSha1"),
		TEXT("object 4b825dc642cb6eb9a060e54bf8d69288fbee4904\n\n",
		     "E:missingTypeEntry"),
		TEXT("object 4b825dc642cb6eb9a060e54bf8d69288fbee4904\n"
		     "type foo\ntag x\n",
		     "E:badType"),
		TEXT(OBJECT "\n", "E:missingTagEntry"),
		TEXT(OBJECT "tag x..y\n" TAGGER "\n", "W:badTagName"),
		TEXT(OBJECT "tag \n" TAGGER "\n", "W:badTagName"),
		TEXT(OBJECT "tag x\n\nm\n", "W:missingTaggerEntry"),
		TEXT(OBJECT "tag x\ntagger A\n\n", "E:missingEmail"),
	};

	run_cases(cases, ARRAY_NR(cases), OBJ_TAG, false);
}

#define FILE_ENTRY(name) "100644 " name "\0" ID
#define DIR_ENTRY(name) "40000 " name "\0" ID
#define LINK_ENTRY(name) "120000 " name "\0" ID

static void test_trees(void **state)
{
	static const struct object_case cases[] = {
		TEXT("", ""),
		TEXT(FILE_ENTRY("a") LINK_ENTRY("a-b")
			     DIR_ENTRY("ab") "160000 b\0" ID "100755 c\0" ID,
		     ""),
		TEXT(FILE_ENTRY("a-b") DIR_ENTRY("a") FILE_ENTRY("a0"), ""),
		TEXT("100664 a\0" ID, ""),
		TEXT("100644 a\0" NO_ID, "W:nullSha1"),
		TEXT(FILE_ENTRY("a/b"), "W:fullPathname"),
		TEXT(FILE_ENTRY("."), "W:hasDot"),
		TEXT(FILE_ENTRY(".."), "W:hasDotdot"),
		TEXT(DIR_ENTRY(".GIT"), "W:hasDotgit"),
		TEXT("040000 a\0" ID, "W:zeroPaddedFilemode"),
		TEXT("100666 a\0" ID, "W:badFilemode"),
		TEXT("777777 a\0" ID, "W:badFilemode"),
		TEXT(FILE_ENTRY("a") FILE_ENTRY("a"), "E:duplicateEntries"),
		TEXT(DIR_ENTRY("a") FILE_ENTRY("a"), "E:duplicateEntries"),
		TEXT(FILE_ENTRY("a") FILE_ENTRY("a-b") FILE_ENTRY("a-c")
			     DIR_ENTRY("a") FILE_ENTRY("b"),
		     "E:duplicateEntries"),
		TEXT(FILE_ENTRY("b") FILE_ENTRY("a"), "E:treeNotSorted"),
		TEXT(FILE_ENTRY(""), "E:badTree"),
		TEXT("100644 a\0abc", "E:badTree"),
		TEXT("100644 a", "E:badTree"),
		TEXT("10x644 a\0" ID, "E:badTree"),
		TEXT(" a\0" ID, "E:badTree"),
		TEXT(FILE_ENTRY(".") "x", "E:badTree"),
		TEXT("0100666 .\0" NO_ID FILE_ENTRY("") FILE_ENTRY("z"),
		     "E:badTree W:nullSha1 W:hasDot W:zeroPaddedFilemode "
		     "W:badFilemode"),
		TEXT(LINK_ENTRY(".gitmodules"), "E:gitmodulesSymlink"),
		TEXT(LINK_ENTRY(".gitattributes"), "W:gitattributesSymlink"),
		TEXT(LINK_ENTRY(".gitignore"), "W:gitignoreSymlink"),
		TEXT(LINK_ENTRY(".mailmap"), "W:mailmapSymlink"),
	};

	run_cases(cases, ARRAY_NR(cases), OBJ_TREE, false);
}

static void test_strict(void **state)
{
	static const struct object_case trees[] = {
		TEXT("100664 a\0" ID, "W:badFilemode"),
		TEXT("040000 a\0" ID, "E:zeroPaddedFilemode"),
		TEXT(FILE_ENTRY("a/b"), "E:fullPathname"),
		TEXT(LINK_ENTRY(".mailmap"), "W:mailmapSymlink"),
	};
	static const struct object_case tags[] = {
		TEXT(OBJECT "tag x\n\nm\n", "W:missingTaggerEntry"),
	};

	run_cases(trees, ARRAY_NR(trees), OBJ_TREE, true);
	run_cases(tags, ARRAY_NR(tags), OBJ_TAG, true);
}

static void test_texts(void **state)
{
	struct fsck_rules rules;
	struct heard h;

#define CHECK(type, data, expected)                                            \
	do {                                                                   \
		check_with(&rules, &h, type, data, sizeof(data) - 1);          \
		assert_string_equal(h.last, expected);                         \
	} while (0)
	fsck_rules_init(&rules, HASH_SHA1, false);
	CHECK(OBJ_COMMIT, TREE "a\0", "unterminated header: NUL at offset 47");
	CHECK(OBJ_COMMIT, TREE "author A<>\n\n",
	      "invalid author/committer line - missing space before email");
	CHECK(OBJ_TAG, OBJECT "tag x..y\n\n",
	      "invalid format - expected 'tagger' line");
	CHECK(OBJ_TREE, FILE_ENTRY(".git"), "contains '.git'");
	fsck_rules_release(&rules);
}

static void test_long_name(void **state)
{
	struct fsck_rules rules;
	struct heard h;
	char tree[8 + 4097 + 20];

	memcpy(tree, "100644 ", 7);
	memset(tree + 7, 'a', 4097);
	memset(tree + 7 + 4097, 0, 1);
	memset(tree + 8 + 4097, 1, 20);
	fsck_rules_init(&rules, HASH_SHA1, false);
	check_with(&rules, &h, OBJ_TREE, tree, sizeof(tree));
	assert_string_equal(h.text, "W:largePathname");
	assert_int_equal(fsck_rules_set(&rules, "largePathname", 13,
					"ignore:5k", 9, NULL),
			 0);
	assert_int_equal(rules.path_max, 5120);
	assert_int_equal(rules.severity[FSCK_LARGE_PATHNAME], FSCK_IGNORE);
	fsck_rules_release(&rules);
}

static void test_found(void **state)
{
	static const char tree[] = FILE_ENTRY(".gitattributes")
		FILE_ENTRY(".gitmodules") DIR_ENTRY("GITMOD~1") FILE_ENTRY("x");
	struct fsck_rules rules;
	struct heard h;

	fsck_rules_init(&rules, HASH_SHA1, false);
	check_with(&rules, &h, OBJ_TREE, tree, sizeof(tree) - 1);
	assert_int_equal(h.modules, 2);
	assert_int_equal(h.attributes, 1);
	fsck_rules_release(&rules);
}

static void check_set(const char *name, const char *value, const char *message)
{
	struct error err = ERROR_INIT;
	struct fsck_rules rules;
	int ret;

	fsck_rules_init(&rules, HASH_SHA1, false);
	ret = fsck_rules_set(&rules, name, strlen(name), value, strlen(value),
			     &err);
	assert_int_equal(ret, message ? ERR_INVALID : 0);
	assert_string_equal(err.msg, message ? message : "");
	fsck_rules_release(&rules);
}

static void test_rules(void **state)
{
	check_set("MISSINGemail", "warn", NULL);
	check_set("nulInHeader", "error", NULL);
	check_set("foo", "warn", "Unhandled message id: foo");
	check_set("missingEmail", "info", "Unknown fsck message type: 'info'");
	check_set("missingEmail", "", "Unknown fsck message type: ''");
	check_set("missingEmail", "warn:3",
		  "Unknown fsck message type: 'warn:3'");
	check_set("nulInHeader", "warn", "Cannot demote nulinheader to warn");
	check_set("largePathname", "warn:10", NULL);
	check_set("largePathname", "warn:x",
		  "unable to parse max tree entry len: x");
}

static void test_overrides(void **state)
{
	static const char commit[] = "tree x\nauthor A 1 +0000\n" COMMITTER;
	struct fsck_rules rules;
	struct oid oid = {{1}};
	struct heard h;

	fsck_rules_init(&rules, HASH_SHA1, false);
	fsck_rules_set(&rules, "badTreeSha1", 11, "warn", 4, NULL);
	fsck_rules_set(&rules, "missingEmail", 12, "ignore", 6, NULL);
	assert_int_equal(
		check_with(&rules, &h, OBJ_COMMIT, commit, sizeof(commit) - 1),
		0);
	assert_string_equal(h.text, "W:badTreeSha1");
	assert_int_equal(fsck_rules_skip(&rules, &oid), 0);
	check_with(&rules, &h, OBJ_COMMIT, commit, sizeof(commit) - 1);
	assert_string_equal(h.text, "");
	fsck_rules_release(&rules);

	fsck_rules_init(&rules, HASH_SHA1, false);
	fsck_rules_all_errors(&rules);
	check_with(&rules, &h, OBJ_TREE, "100664 a\0" ID, 29);
	assert_string_equal(h.text, "E:badFilemode");
	fsck_rules_release(&rules);
}

static int attributes(struct heard *h, const void *data, size_t len)
{
	static const struct oid oid = {{1}};
	struct fsck_rules rules;
	struct fsck f;
	int ret;

	memset(h, 0, sizeof(*h));
	fsck_rules_init(&rules, HASH_SHA1, false);
	fsck_init(&f, &rules);
	f.report = hear;
	f.ctx = h;
	ret = fsck_gitattributes(&f, &oid, data, len, NULL);
	fsck_release(&f);
	fsck_rules_release(&rules);
	return ret;
}

static void test_attributes(void **state)
{
	char text[4096];
	struct heard h;

	memset(text, 'a', sizeof(text));
	assert_int_equal(attributes(&h, text, 2047), 0);
	assert_int_equal(attributes(&h, text, 2048), 1);
	assert_string_equal(h.text, "E:gitattributesLineLength");
	text[2047] = '\n';
	assert_int_equal(attributes(&h, text, 4000), 0);
	text[1] = '\0';
	memset(text + 2, 'b', sizeof(text) - 2);
	assert_int_equal(attributes(&h, text, sizeof(text)), 0);
	assert_int_equal(attributes(&h, NULL, 0), 1);
	assert_string_equal(h.text, "E:gitattributesLarge");
}

/* A callback that returns an error, which must end the check. */
static int refuse(void *ctx, const struct fsck_report *report,
		  struct error *err)
{
	return error_set(err, ERR_DENIED, "enough");
}

static void test_refused(void **state)
{
	struct fsck_rules rules;
	struct fsck f;
	struct oid oid = OID_ZERO_INIT;
	static const char tree[] = FILE_ENTRY(".git") LINK_ENTRY(".mailmap");

	fsck_rules_init(&rules, HASH_SHA1, false);
	fsck_init(&f, &rules);
	f.report = refuse;
	assert_int_equal(
		fsck_object(&f, &oid, OBJ_TREE, tree, sizeof(tree) - 1, NULL),
		ERR_DENIED);
	assert_int_equal(fsck_object(&f, &oid, OBJ_TAG, "", 0, NULL),
			 ERR_DENIED);
	assert_int_equal(fsck_object(&f, &oid, OBJ_BLOB, "x", 1, NULL), 0);
	fsck_release(&f);
	fsck_rules_release(&rules);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_commits),
		cmocka_unit_test(test_idents),
		cmocka_unit_test(test_tags),
		cmocka_unit_test(test_trees),
		cmocka_unit_test(test_strict),
		cmocka_unit_test(test_texts),
		cmocka_unit_test(test_long_name),
		cmocka_unit_test(test_found),
		cmocka_unit_test(test_rules),
		cmocka_unit_test(test_overrides),
		cmocka_unit_test(test_attributes),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
