/* SPDX-License-Identifier: MIT */
/*
 * Tests of odb/fsck-blob.[ch], which check .gitmodules and .gitattributes
 * files. They prove that wrong files are reported. The trees of the repository
 * tell which blobs are such files, so the blobs are checked after all trees.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "odb/fsck-blob.h"

/* Callback that appends each report as a line to `ctx`. */
static int hear(void *ctx, const struct fsck_report *report, struct error *err)
{
	char *text = ctx;
	size_t len = strlen(text);

	snprintf(text + len, 1024 - len, "%s%d %s %s: %s\n",
		 report->is_error ? "error" : "warning", report->oid->bytes[0],
		 object_type_name(report->type), fsck_msg_name(report->msg),
		 report->text);
	return 0;
}

static int check(char text[1024], const char *data)
{
	static const struct oid oid = {{7}};
	struct fsck_rules rules;
	struct fsck f;
	int ret;

	*text = '\0';
	fsck_rules_init(&rules, HASH_SHA1, false);
	fsck_init(&f, &rules);
	f.report = hear;
	f.ctx = text;
	ret = fsck_blob_gitmodules(&f, &oid, data, data ? strlen(data) : 0,
				   NULL);
	fsck_release(&f);
	fsck_rules_release(&rules);
	return ret;
}

static void test_modules(void **state)
{
	char text[1024];

	assert_int_equal(check(text, "[submodule \"a\"]\n path=b\n url=../x\n"
				     "update=rebase\n[foo \"..\"]\npath=-x\n"
				     "[submodule]\nurl=-x\n"),
			 0);
	assert_string_equal(text, "");
	assert_int_equal(check(text, "[submodule \"..\"]\n path=-b\n url\n"
				     " update=!rm\n url=-x\n"),
			 1);
	assert_string_equal(
		text,
		"error7 blob gitmodulesName: disallowed submodule name: ..\n"
		"error7 blob gitmodulesPath: disallowed submodule path: -b\n"
		"error7 blob gitmodulesName: disallowed submodule name: ..\n"
		"error7 blob gitmodulesName: disallowed submodule name: ..\n"
		"error7 blob gitmodulesUpdate: disallowed submodule update "
		"setting: !rm\n"
		"error7 blob gitmodulesName: disallowed submodule name: ..\n"
		"error7 blob gitmodulesUrl: disallowed submodule url: -x\n");
	assert_int_equal(check(text, "[submodule \"a\"]\n path=-b\n[x\n"), 1);
	assert_string_equal(
		text,
		"error7 blob gitmodulesPath: disallowed submodule path: -b\n"
		"warning7 blob gitmodulesParse: could not parse gitmodules "
		"blob\n");
	assert_int_equal(check(text, NULL), 1);
	assert_string_equal(text, "error7 blob gitmodulesLarge: .gitmodules "
				  "too large to parse\n");
}

/*
 * Callback that reads an object. The first byte of `oid` says what the object
 * is. 1: a valid .gitmodules blob, 2: an invalid .gitmodules blob, 3: a tree,
 * above 3: a missing object. Returns 1, or 0 if the object is missing.
 */
static int read_object(void *ctx, const struct oid *oid, enum object_type *type,
		       const void **data, size_t *len, struct error *err)
{
	static const char good[] = "[submodule \"a\"]\n path=b\n";
	static const char bad[] = "[submodule \"a\"]\n path=-b\n";
	const char *text = oid->bytes[0] == 1 ? good : bad;

	if (oid->bytes[0] > 3)
		return 0;
	*type = oid->bytes[0] == 3 ? OBJ_TREE : OBJ_BLOB;
	*data = text;
	*len = strlen(text);
	return 1;
}

static bool is_promised(void *ctx, const struct oid *oid)
{
	return oid->bytes[0] == 5;
}

static void test_list(void **state)
{
	const struct fsck_blobs_source source = {read_object, is_promised,
						 NULL};
	struct oid oid = OID_ZERO_INIT;
	struct fsck_blobs blobs;
	struct fsck_rules rules;
	struct fsck f;
	char text[1024] = "";

	fsck_rules_init(&rules, HASH_SHA1, false);
	fsck_init(&f, &rules);
	f.report = hear;
	f.ctx = text;
	fsck_blobs_init(&blobs);
	for (oid.bytes[0] = 6; oid.bytes[0]; oid.bytes[0]--) {
		assert_int_equal(
			fsck_blobs_add(&blobs, &oid, FSCK_GITMODULES, NULL), 0);
		assert_int_equal(
			fsck_blobs_add(&blobs, &oid, FSCK_GITMODULES, NULL), 0);
	}
	oid.bytes[0] = 4;
	fsck_blobs_add(&blobs, &oid, FSCK_GITATTRIBUTES, NULL);
	oid.bytes[0] = 6;
	fsck_rules_skip(&rules, &oid);
	assert_int_equal(fsck_blobs_check(&blobs, &f, &source, NULL), 1);
	assert_string_equal(
		text,
		"error2 blob gitmodulesPath: disallowed submodule path: -b\n"
		"error3 tree gitmodulesBlob: non-blob found at .gitmodules\n"
		"error4 blob gitmodulesMissing: unable to read .gitmodules "
		"blob\n"
		"error4 blob gitattributesMissing: unable to read "
		".gitattributes blob\n");
	fsck_blobs_release(&blobs);
	fsck_release(&f);
	fsck_rules_release(&rules);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_modules),
		cmocka_unit_test(test_list),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
