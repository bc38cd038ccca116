/* SPDX-License-Identifier: MIT */
/*
 * Tests of serve/advertise.c, which writes the advertisements of all protocol
 * versions. They prove that an advertisement has exactly the refs and
 * capabilities that the configuration allows.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "t/unit/dialog.h"

#define CAPABILITIES                                                           \
	"multi_ack thin-pack side-band side-band-64k ofs-delta shallow "       \
	"deepen-since deepen-not deepen-relative no-progress include-tag "     \
	"multi_ack_detailed"
#define LAST " object-format=sha1 agent=test/1"
#define REFS                                                                   \
	"|c4 refs/heads/main|s0 refs/heads/side|h0 refs/hidden/h|"             \
	"v1 refs/tags/v1|c3 refs/tags/v1^{}|F"

static void test_v0(void **state)
{
	struct dialog d;

	dialog_init(&d, HASH_SHA1);
	assert_string_equal(dialog_run(&d, "F"),
			    "c4 HEAD~" CAPABILITIES
			    " symref=HEAD:refs/heads/main" LAST REFS);
	assert_int_equal(d.ret, 0);
	d.options.version = 1;
	assert_string_equal(dialog_run(&d, "F"),
			    "version 1|c4 HEAD~" CAPABILITIES
			    " symref=HEAD:refs/heads/main" LAST REFS);
	dialog_release(&d);
}

static void test_v0_configured(void **state)
{
	struct dialog d;

	dialog_init(&d, HASH_SHA1);
	dialog_config(&d, CONFIG_LOCAL,
		      "[uploadpack]\nallowTipSHA1InWant\n"
		      "allowReachableSHA1InWant = true\n"
		      "[transfer]\nadvertiseSID = true\n");
	d.options.session_id = "id7";
	d.options.stateless_rpc = d.options.advertise_only = true;
	assert_string_equal(
		dialog_run(&d, "F"),
		"c4 HEAD~" CAPABILITIES
		" allow-tip-sha1-in-want allow-reachable-sha1-in-want no-done"
		" symref=HEAD:refs/heads/main session-id=id7" LAST REFS);
	dialog_release(&d);
}

static void test_v0_detached(void **state)
{
	struct dialog d;

	dialog_init(&d, HASH_SHA1);
	dialog_ref(&d, "HEAD", "c1");
	assert_string_equal(dialog_run(&d, "F"),
			    "c1 HEAD~" CAPABILITIES LAST REFS);
	dialog_release(&d);
}

/*
 * If HEAD is hidden, the branch to which HEAD points is still advertised,
 * unless this branch is hidden, too.
 */
static void test_v0_hidden_head(void **state)
{
	struct dialog d;

	dialog_init(&d, HASH_SHA1);
	dialog_config(&d, CONFIG_LOCAL, "[transfer]\nhideRefs = HEAD\n");
	assert_string_equal(dialog_run(&d, "F"),
			    "c4 refs/heads/main~" CAPABILITIES
			    " symref=HEAD:refs/heads/main" LAST
			    "|s0 refs/heads/side|h0 refs/hidden/h|"
			    "v1 refs/tags/v1|c3 refs/tags/v1^{}|F");
	tmprepo_write(&d.t, "HEAD", "ref: refs/heads/none\n");
	assert_null(strstr(dialog_run(&d, "F"), "symref"));
	tmprepo_write(&d.t, "HEAD", "ref: HEAD\n");
	assert_null(strstr(dialog_run(&d, "F"), "symref"));
	dialog_ref(&d, "HEAD", "c1");
	assert_null(strstr(dialog_run(&d, "F"), "symref"));
	dialog_release(&d);
	dialog_init(&d, HASH_SHA1);
	dialog_config(&d, CONFIG_LOCAL,
		      "[transfer]\nhideRefs = HEAD\n"
		      "hideRefs = refs/heads/main\n");
	assert_string_equal(dialog_run(&d, "F"),
			    "s0 refs/heads/side~" CAPABILITIES LAST
			    "|h0 refs/hidden/h|v1 refs/tags/v1|"
			    "c3 refs/tags/v1^{}|F");
	dialog_release(&d);
}

static void test_v0_unborn(void **state)
{
	struct dialog d;

	dialog_init(&d, HASH_SHA1);
	tmprepo_write(&d.t, "HEAD", "ref: refs/heads/none\n");
	assert_string_equal(dialog_run(&d, "F"),
			    "c4 refs/heads/main~" CAPABILITIES LAST
			    "|s0 refs/heads/side|h0 refs/hidden/h|"
			    "v1 refs/tags/v1|c3 refs/tags/v1^{}|F");
	dialog_release(&d);
}

static void test_v0_empty(void **state)
{
	struct dialog d;

	dialog_init(&d, HASH_SHA1);
	tmprepo_remove(&d.t, "refs/heads/main");
	tmprepo_remove(&d.t, "refs/heads/side");
	tmprepo_remove(&d.t, "refs/hidden/h");
	tmprepo_remove(&d.t, "refs/tags/v1");
	assert_string_equal(dialog_run(&d, "F"),
			    "0000000000000000000000000000000000000000 "
			    "capabilities^{}~" CAPABILITIES LAST "|F");
	assert_int_equal(d.ret, 0);
	dialog_release(&d);
}

static void test_v0_shallow(void **state)
{
	struct dialog d;

	dialog_init(&d, HASH_SHA1);
	dialog_ref(&d, "shallow", "c2");
	assert_non_null(strstr(dialog_run(&d, "F"), "^{}|shallow c2|F"));
	dialog_release(&d);
}

/* A ref to a missing object is advertised, and the server logs a warning. */
static void test_v0_missing_object(void **state)
{
	struct dialog d;
	const char *text;

	dialog_init(&d, HASH_SHA1);
	dialog_ref(&d, "refs/heads/broken", "none");
	text = dialog_run(&d, "F");
	assert_non_null(strstr(text, "none refs/heads/broken"));
	assert_non_null(strstr(text, "c4 refs/heads/main"));
	assert_string_equal(
		d.warnings.data,
		"refs/heads/broken does not point to a valid object!\n");
	dialog_release(&d);
}

static void test_v2(void **state)
{
	struct dialog d;

	dialog_init(&d, HASH_SHA1);
	d.options.version = 2;
	assert_string_equal(dialog_run(&d, "F"),
			    "version 2|agent=test/1|ls-refs=unborn|"
			    "fetch=shallow wait-for-done|server-option|"
			    "object-format=sha1|F");
	d.options.session_id = "id7";
	dialog_config(&d, CONFIG_LOCAL,
		      "[uploadpack]\nallowRefInWant\n[lsrefs]\n"
		      "unborn = allow\n[transfer]\nadvertiseSID\n"
		      "advertiseObjectInfo\n");
	assert_string_equal(dialog_run(&d, "F"),
			    "version 2|agent=test/1|ls-refs|"
			    "fetch=shallow wait-for-done ref-in-want|"
			    "server-option|object-format=sha1|"
			    "session-id=id7|object-info|F");
	dialog_release(&d);
}

/* Each optional capability of v2 is advertised if it is configured. */
static void test_v2_configured(void **state)
{
	struct buf text = BUF_INIT;
	struct dialog d;

	dialog_init(&d, HASH_SHA1);
	d.options.version = 2;
	buf_printf(&text,
		   "[uploadpack]\nallowFilter\nallowSidebandAll\n"
		   "advertiseBundleURIs\n"
		   "blobPackfileUri = %s %s https://x/a\n"
		   "[promisor]\nadvertise\n"
		   "[remote \"b\"]\npromisor\nurl = https://b/x\n",
		   dialog_hex(&d, "none"), dialog_hex(&d, "none"));
	dialog_config(&d, CONFIG_LOCAL, text.data);
	assert_string_equal(dialog_run(&d, "F"),
			    "version 2|agent=test/1|ls-refs=unborn|"
			    "fetch=shallow wait-for-done filter sideband-all "
			    "packfile-uris|server-option|object-format=sha1|"
			    "bundle-uri|promisor-remote=name=b,url=https://b/x|"
			    "F");
	buf_release(&text);
	dialog_release(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_v0),
		cmocka_unit_test(test_v0_configured),
		cmocka_unit_test(test_v0_detached),
		cmocka_unit_test(test_v0_hidden_head),
		cmocka_unit_test(test_v0_unborn),
		cmocka_unit_test(test_v0_empty),
		cmocka_unit_test(test_v0_shallow),
		cmocka_unit_test(test_v0_missing_object),
		cmocka_unit_test(test_v2),
		cmocka_unit_test(test_v2_configured),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
