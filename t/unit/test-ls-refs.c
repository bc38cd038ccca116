/* SPDX-License-Identifier: MIT */
/*
 * Tests of serve/ls-refs.c, the command ls-refs of protocol v2: the right refs
 * and attributes are listed for each argument, and hidden refs never.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "refs/refs-cache.h"
#include "sys/clock.h"
#include "t/unit/dialog.h"

#define ALL                                                                    \
	"c4 HEAD|c4 refs/heads/main|s0 refs/heads/side|h0 refs/hidden/h|"      \
	"v1 refs/tags/v1|F"

static const char *ls(struct dialog *d, const char *args)
{
	char script[1024];

	snprintf(script, sizeof(script), "command=ls-refs|D|%s%sF|F", args,
		 *args ? "|" : "");
	d->options.version = 2;
	return dialog_answer(d, script);
}

static void test_all(void **state)
{
	struct dialog d;

	dialog_init(&d, HASH_SHA1);
	assert_string_equal(ls(&d, ""), ALL);
	assert_int_equal(d.ret, 0);
	assert_string_equal(ls(&d, "ref-prefix "), ALL);
	assert_string_equal(ls(&d, "symrefs|peel"),
			    "c4 HEAD symref-target:refs/heads/main|"
			    "c4 refs/heads/main|s0 refs/heads/side|"
			    "h0 refs/hidden/h|v1 refs/tags/v1 peeled:c3|F");
	dialog_release(&d);
}

static void test_prefixes(void **state)
{
	struct dialog d;

	dialog_init(&d, HASH_SHA1);
	assert_string_equal(ls(&d, "ref-prefix refs/tags/"),
			    "v1 refs/tags/v1|F");
	assert_string_equal(ls(&d, "ref-prefix refs/tags/|"
				   "ref-prefix refs/heads/|ref-prefix HEAD"),
			    "c4 HEAD|c4 refs/heads/main|s0 refs/heads/side|"
			    "v1 refs/tags/v1|F");
	/*
	 * If one prefix begins with another one, each ref is listed only once.
	 */
	assert_string_equal(ls(&d, "ref-prefix refs/heads/main|"
				   "ref-prefix refs/heads/m|"
				   "ref-prefix refs/heads/m"),
			    "c4 refs/heads/main|F");
	assert_string_equal(ls(&d, "ref-prefix refs/heads/m|ref-prefix ref"),
			    "c4 refs/heads/main|s0 refs/heads/side|"
			    "h0 refs/hidden/h|v1 refs/tags/v1|F");
	assert_string_equal(ls(&d, "ref-prefix nothing"), "F");
	assert_string_equal(ls(&d, "ref-prefix ../"), "F");
	dialog_release(&d);
}

/* If a request has too many prefixes, all refs are listed. */
static void test_many_prefixes(void **state)
{
	struct dialog d;
	struct buf script = BUF_INIT;

	dialog_init(&d, HASH_SHA1);
	d.options.version = 2;
	buf_append_str(&script, "command=ls-refs|D");
	for (int i = 0; i < 65537; i++)
		buf_printf(&script, "|ref-prefix x%d", i);
	buf_append_str(&script, "|F|F");
	assert_string_equal(dialog_answer(&d, script.data), ALL);
	buf_release(&script);
	dialog_release(&d);
}

static void test_unborn(void **state)
{
	struct dialog d;

	dialog_init(&d, HASH_SHA1);
	tmprepo_write(&d.t, "HEAD", "ref: refs/heads/new\n");
	assert_string_equal(ls(&d, "symrefs|unborn|ref-prefix HEAD"),
			    "unborn HEAD symref-target:refs/heads/new|F");
	assert_int_equal(d.warnings.len, 0);
	assert_string_equal(ls(&d, "ref-prefix HEAD"), "F");
	/*
	 * A HEAD, or another ref, that cannot be parsed is not listed. The
	 * server logs a warning.
	 */
	tmprepo_write(&d.t, "HEAD", "nonsense\n");
	assert_string_equal(ls(&d, "symrefs|unborn|ref-prefix HEAD"), "F");
	assert_string_equal(d.warnings.data, "broken ref HEAD\n");
	tmprepo_write(&d.t, "HEAD", "ref: refs/heads/new\n");
	tmprepo_write(&d.t, "refs/broken/x", "nonsense\n");
	buf_reset(&d.warnings);
	assert_string_equal(ls(&d, "ref-prefix refs/broken/"), "F");
	assert_string_equal(d.warnings.data,
			    "ignoring broken ref refs/broken/x\n");
	dialog_config(&d, CONFIG_LOCAL, "[lsrefs]\nunborn = ignore\n");
	assert_string_equal(ls(&d, "unborn|ref-prefix HEAD"), "F");
	assert_int_equal(d.ret, 0);
	dialog_release(&d);
}

static void test_hidden(void **state)
{
	struct dialog d;

	dialog_init(&d, HASH_SHA1);
	dialog_config(&d, CONFIG_LOCAL, "[transfer]\nhideRefs = refs/hidden\n");
	assert_string_equal(ls(&d, "ref-prefix refs/hidden/"), "F");
	assert_null(strstr(ls(&d, ""), "hidden"));
	dialog_release(&d);
}

static void put_packed(struct buf *text, const struct dialog *d,
		       const char *object, const char *before, const char *name)
{
	assert_int_equal(buf_printf(text, "%s%s%s\n", before,
				    dialog_hex(d, object), name),
			 0);
}

/*
 * Two requests share a listing of packed-refs if their arguments and hide rules
 * are equal. A listing that needs a loose ref is not shared.
 */
static void test_shared(void **state)
{
	static const char *const loose[] = {"refs/heads/main",
					    "refs/heads/side", "refs/hidden/h",
					    "refs/tags/v1"};
	struct buf text = BUF_INIT;
	struct dialog d;

	dialog_init(&d, HASH_SHA1);
	put_packed(&text, &d, "c4",
		   "# pack-refs with: peeled fully-peeled sorted \n",
		   " refs/heads/main");
	put_packed(&text, &d, "s0", "", " refs/heads/side");
	put_packed(&text, &d, "h0", "", " refs/hidden/h");
	put_packed(&text, &d, "v1", "", " refs/tags/v1");
	put_packed(&text, &d, "c3", "^", "");
	tmprepo_write(&d.t, "packed-refs", text.data);
	for (size_t i = 0; i < ARRAY_NR(loose); i++)
		tmprepo_remove(&d.t, loose[i]);
	/*
	 * Wait, because listings of a file that has just changed are not
	 * shared.
	 */
	sys_sleep_ns(150000000);
	d.t.repo.refs_cache = refs_cache_new(NULL);
	for (int i = 0; i < 2; i++) {
		assert_string_equal(ls(&d, ""), ALL);
		assert_string_equal(ls(&d, "peel|ref-prefix refs/tags/"),
				    "v1 refs/tags/v1 peeled:c3|F");
		assert_string_equal(ls(&d, "ref-prefix refs/tags/"),
				    "v1 refs/tags/v1|F");
		assert_string_equal(ls(&d, "ref-prefix refs/heads/|"
					   "ref-prefix refs/tags/"),
				    "c4 refs/heads/main|s0 refs/heads/side|"
				    "v1 refs/tags/v1|F");
	}
	buf_reset(&text);
	put_packed(&text, &d, "s0", "", "");
	tmprepo_write(&d.t, "refs/heads/loose", text.data);
	assert_string_equal(ls(&d, "ref-prefix refs/heads/"),
			    "s0 refs/heads/loose|c4 refs/heads/main|"
			    "s0 refs/heads/side|F");
	/*
	 * One prefix matches a loose ref, and the other matches only packed
	 * refs. All of these refs are listed.
	 */
	for (int i = 0; i < 2; i++)
		assert_string_equal(ls(&d, "ref-prefix refs/tags/|"
					   "ref-prefix refs/heads/"),
				    "s0 refs/heads/loose|c4 refs/heads/main|"
				    "s0 refs/heads/side|v1 refs/tags/v1|F");
	tmprepo_remove(&d.t, "refs/heads/loose");
	dialog_config(&d, CONFIG_LOCAL, "[transfer]\nhideRefs = refs/hidden\n");
	assert_null(strstr(ls(&d, ""), "hidden"));
	refs_cache_free(d.t.repo.refs_cache);
	d.t.repo.refs_cache = NULL;
	buf_release(&text);
	dialog_release(&d);
}

static void remove_object(const struct dialog *d, const char *object)
{
	const char *hex = dialog_hex(d, object);
	char name[OID_MAX_HEX_LEN + 10];

	snprintf(name, sizeof(name), "objects/%.2s/%s", hex, hex + 2);
	tmprepo_remove(&d->t, name);
}

/*
 * If packed-refs does not say whether a ref is a tag, the object is read. Later
 * requests share the listing and do not read the object again. But if the
 * object of a ref is missing, the listing is not shared, so that each request
 * logs the warning.
 */
static void test_shared_unpeeled(void **state)
{
	static const char args[] = "peel|ref-prefix refs/tags/";
	struct buf text = BUF_INIT;
	struct dialog d;

	dialog_init(&d, HASH_SHA1);
	put_packed(&text, &d, "c3", "# pack-refs with: sorted \n",
		   " refs/tags/light");
	put_packed(&text, &d, "v1", "", " refs/tags/v1");
	tmprepo_write(&d.t, "packed-refs", text.data);
	tmprepo_remove(&d.t, "refs/tags/v1");
	sys_sleep_ns(150000000);
	d.t.repo.refs_cache = refs_cache_new(NULL);
	for (int i = 0; i < 2; i++) {
		assert_string_equal(ls(&d, args),
				    "c3 refs/tags/light|"
				    "v1 refs/tags/v1 peeled:c3|F");
		assert_int_equal(d.warnings.len, 0);
		if (!i)
			remove_object(&d, "v1");
	}

	put_packed(&text, &d, "none", "", " refs/tags/w");
	tmprepo_write(&d.t, "packed-refs", text.data);
	sys_sleep_ns(150000000);
	for (int i = 0; i < 2; i++) {
		buf_reset(&d.warnings);
		assert_string_equal(ls(&d, args),
				    "c3 refs/tags/light|v1 refs/tags/v1|"
				    "none refs/tags/w|F");
		assert_string_equal(
			d.warnings.data,
			"refs/tags/v1 does not point to a valid object!\n"
			"refs/tags/w does not point to a valid object!\n");
	}
	refs_cache_free(d.t.repo.refs_cache);
	d.t.repo.refs_cache = NULL;
	buf_release(&text);
	dialog_release(&d);
}

static void test_errors(void **state)
{
	struct dialog d;

	dialog_init(&d, HASH_SHA1);
	assert_string_equal(ls(&d, "bogus"), "ERR unexpected line: 'bogus'");
	assert_int_equal(d.ret, ERR_PEER);
	assert_string_equal(ls(&d, "E"),
			    "ERR expected flush after ls-refs arguments");
	assert_string_equal(ls(&d, "D"),
			    "ERR expected flush after ls-refs arguments");
	dialog_release(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all),
		cmocka_unit_test(test_prefixes),
		cmocka_unit_test(test_many_prefixes),
		cmocka_unit_test(test_unborn),
		cmocka_unit_test(test_hidden),
		cmocka_unit_test(test_shared),
		cmocka_unit_test(test_shared_unpeeled),
		cmocka_unit_test(test_errors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
