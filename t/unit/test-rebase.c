/* SPDX-License-Identifier: MIT */
/*
 * Tests of repo/rebase.c, which reads the files of stopped rebases: ids are
 * found in each work tree, and files without an id are skipped.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "repo/rebase.h"
#include "t/unit/tmprepo.h"

/* The first byte of each id that was found. */
struct found {
	uint8_t bytes[8];
	size_t nr, stop_at;
};

static int note(void *ctx, const struct oid *oid)
{
	struct found *f = ctx;

	assert_true(f->nr < sizeof(f->bytes));
	f->bytes[f->nr++] = oid->bytes[0];
	return f->nr == f->stop_at ? 7 : 0;
}

/* Writes a file: an id that starts with the byte `first`, and `rest`. */
static void write_id(const struct tmprepo *t, const char *name, uint8_t first,
		     const char *rest)
{
	char hex[OID_MAX_HEX_LEN + 1];
	struct buf text = BUF_INIT;
	struct oid oid = OID_ZERO_INIT;

	oid.bytes[0] = first;
	assert_int_equal(buf_printf(&text, "%s%s",
				    oid_to_hex(hex, &oid, t->repo.algo), rest),
			 0);
	tmprepo_write(t, name, text.data);
	buf_release(&text);
}

static void all_files(void **state)
{
	static const enum hash_algo algos[] = {HASH_SHA1, HASH_SHA256};

	for (size_t i = 0; i < 2; i++) {
		struct found f = {.nr = 0};
		struct tmprepo t;

		tmprepo_init(&t, algos[i]);
		assert_int_equal(rebase_each_oid(&t.repo, note, &f, NULL), 0);
		assert_int_equal(f.nr, 0);
		write_id(&t, "rebase-merge/orig-head", 1, "\n");
		write_id(&t, "rebase-merge/autostash", 2, "\n");
		write_id(&t, "rebase-merge/onto", 9, "\n");
		write_id(&t, "rebase-apply/orig-head", 3, "");
		write_id(&t, "rebase-apply/autostash", 4, " x\ny");
		write_id(&t, "worktrees/a/rebase-merge/orig-head", 5, "\n");
		write_id(&t, "worktrees/a/rebase-apply/autostash", 6, "\n");
		assert_int_equal(rebase_each_oid(&t.repo, note, &f, NULL), 0);
		assert_int_equal(f.nr, 6);
		for (size_t k = 0; k < 6; k++)
			assert_int_equal(f.bytes[k], k + 1);
		f = (struct found){.stop_at = 2};
		assert_int_equal(rebase_each_oid(&t.repo, note, &f, NULL), 7);
		assert_int_equal(f.nr, 2);
		tmprepo_release(&t);
	}
}

static void no_ids(void **state)
{
	static const char *const texts[] = {
		"",
		"\n",
		"refs/heads/main\n",
		"012345678901234567890123456789012345678",
		" 0123456789012345678901234567890123456789",
	};
	struct error err = ERROR_INIT;
	struct found f = {.nr = 0};
	struct tmprepo t;

	tmprepo_init(&t, HASH_SHA1);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		tmprepo_write(&t, "rebase-merge/orig-head", texts[i]);
		assert_int_equal(rebase_each_oid(&t.repo, note, &f, NULL), 0);
	}
	assert_int_equal(f.nr, 0);
	tmprepo_write(&t, "rebase-apply/autostash/file", "");
	assert_int_equal(rebase_each_oid(&t.repo, note, &f, &err), ERR_IO);
	assert_non_null(strstr(err.msg, "rebase-apply/autostash"));
	tmprepo_release(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_files),
		cmocka_unit_test(no_ids),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
