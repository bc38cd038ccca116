/* SPDX-License-Identifier: MIT */
/*
 * Tests of serve/fetch-v2.c, the command fetch of protocol v2. Each test sends
 * a script, which is a fixed sequence of packets in the role of a client. The
 * tests prove that the response has the right sections, and that wrong requests
 * are refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "t/unit/dialog.h"

static void check(struct dialog *d, const char *args, const char *want, int ret)
{
	char script[1024];

	snprintf(script, sizeof(script), "command=fetch|D|%s%sF", args,
		 *args ? "|" : "");
	assert_string_equal(dialog_answer(d, script), want);
	assert_int_equal(d->ret, ret);
}

static void start(struct dialog *d)
{
	dialog_init(d, HASH_SHA1);
	d->options.version = 2;
}

static void test_no_wants(void **state)
{
	struct dialog d;

	start(&d);
	check(&d, "", "", 0);
	check(&d, "have c4", "", 0);
	check(&d, "have c4|done", "", 0);
	dialog_release(&d);
}

/*
 * With `git fetch --negotiate-only`, the client asks which haves are common.
 * The server acknowledges the common haves.
 */
static void test_negotiate_only(void **state)
{
	struct dialog d;

	start(&d);
	check(&d, "wait-for-done|have none|have c4|have s0",
	      "acknowledgments|ACK c4|ACK s0|F", 0);
	check(&d, "wait-for-done|have none", "acknowledgments|NAK|F", 0);
	check(&d, "wait-for-done|no-progress", "packfile|1:PACK|F", 0);
	dialog_release(&d);
}

static void test_clone(void **state)
{
	struct dialog d;

	start(&d);
	check(&d,
	      "thin-pack|no-progress|include-tag|ofs-delta|want c4|want c4|"
	      "want s0|done",
	      "packfile|1:PACK wants=c4,s0 tags=1 thin ofs|F", 0);
	/* The response to a request without haves is a pack. */
	check(&d, "no-progress|want c4", "packfile|1:PACK wants=c4|F", 0);
	/* In v2 a client may want any object that exists. */
	check(&d, "no-progress|want lost|want t|done",
	      "packfile|1:PACK wants=lost,t|F", 0);
	dialog_release(&d);
}

static void test_negotiation(void **state)
{
	struct dialog d;

	start(&d);
	check(&d, "want c4|have none", "acknowledgments|NAK|F", 0);
	check(&d, "no-progress|want c4|have none|have c2",
	      "acknowledgments|ACK c2|ready|D|packfile|"
	      "1:PACK wants=c4 haves=c2|F",
	      0);
	check(&d, "want c4|want h0|have c2", "acknowledgments|ACK c2|F", 0);
	check(&d, "no-progress|want c4|want h0|have c2|have none|done",
	      "packfile|1:PACK wants=c4,h0 haves=c2|F", 0);
	check(&d, "want c4|wait-for-done|have c4", "acknowledgments|ACK c4|F",
	      0);
	/*
	 * A have that is a tag counts as its target: the commit to which the
	 * tag points is found.
	 */
	check(&d, "no-progress|want c4|have v1",
	      "acknowledgments|ACK v1|ready|D|packfile|"
	      "1:PACK wants=c4 haves=v1|F",
	      0);
	dialog_release(&d);
}

static void test_want_ref(void **state)
{
	struct dialog d;

	start(&d);
	check(&d, "want-ref refs/heads/main",
	      "ERR unexpected line: 'want-ref refs/heads/main'", ERR_PEER);
	dialog_config(&d, CONFIG_LOCAL,
		      "[uploadpack]\nallowRefInWant\n[transfer]\n"
		      "hideRefs = refs/hidden\n");
	check(&d,
	      "no-progress|want-ref refs/heads/main|"
	      "want-ref refs/heads/side|done",
	      "wanted-refs|c4 refs/heads/main|s0 refs/heads/side|D|packfile|"
	      "1:PACK wants=c4,s0|F",
	      0);
	check(&d, "want-ref refs/heads/x|done", "ERR unknown ref refs/heads/x",
	      ERR_PEER);
	check(&d, "want-ref refs/hidden/h|done",
	      "ERR unknown ref refs/hidden/h", ERR_PEER);
	check(&d, "want-ref ../config|done", "ERR unknown ref ../config",
	      ERR_PEER);
	check(&d, "want-ref refs/heads/main|want-ref refs/heads/main|done",
	      "ERR duplicate want-ref refs/heads/main", ERR_PEER);
	dialog_release(&d);
}

static void test_filter(void **state)
{
	struct dialog d;

	start(&d);
	dialog_config(&d, CONFIG_LOCAL, "[uploadpack]\nallowFilter\n");
	dialog_object(&d, "patterns", OBJ_BLOB, "/a\n");
	dialog_ref(&d, "refs/heads/patterns", "patterns");
	check(&d, "no-progress|want c4|filter blob:none|done",
	      "packfile|1:PACK wants=c4 filter=blob:none|F", 0);
	check(&d, "no-progress|want c4|filter sparse:oid=patterns|done",
	      "packfile|1:PACK wants=c4 filter=sparse:oid=patterns|F", 0);
	check(&d, "want c4|filter tree:0|filter blob:none|done",
	      "ERR multiple filter-specs cannot be combined", ERR_PEER);
	check(&d, "want c4|filter bogus|done",
	      "ERR invalid filter-spec 'bogus'", ERR_PEER);
	check(&d, "want c4|filter sparse:oid=nowhere|done",
	      "ERR unable to access sparse blob in 'nowhere'", ERR_PEER);
	dialog_config(&d, CONFIG_LOCAL,
		      "[uploadpackfilter \"blob:none\"]\nallow = false\n");
	check(&d, "want c4|filter blob:none|done",
	      "ERR filter 'blob:none' not supported", ERR_PEER);
	dialog_release(&d);
}

/*
 * With gitreach.reachableOnly, a client gets only objects that visible refs
 * reach. This also holds for the blob with the patterns of a sparse filter. The
 * client names the blob by its full id or by a visible ref.
 */
static void test_reachable_only(void **state)
{
	char script[200], *hex;
	struct dialog d;

	start(&d);
	dialog_object(&d, "patterns", OBJ_BLOB, "/a\n");
	dialog_object(&d, "secret", OBJ_BLOB, "/b\n");
	dialog_ref(&d, "refs/heads/patterns", "patterns");
	dialog_config(&d, CONFIG_LOCAL,
		      "[uploadpack]\nallowFilter\n[gitreach]\n"
		      "reachableOnly\n[transfer]\nhideRefs = refs/hidden\n");
	check(&d, "no-progress|want c1|have lost|have c0|done",
	      "packfile|1:PACK wants=c1 haves=c0|F", 0);
	check(&d, "want lost|done", "ERR upload-pack: not our ref lost",
	      ERR_PEER);
	check(&d, "want h0|done", "ERR upload-pack: not our ref h0", ERR_PEER);
	for (int is_secret = 0; is_secret < 2; is_secret++) {
		hex = strdup(dialog_hex(&d, is_secret ? "secret" : "patterns"));
		snprintf(script, sizeof(script),
			 "no-progress|want c4|filter sparse:oid=%s|done", hex);
		if (is_secret)
			check(&d, script,
			      "ERR unable to access sparse blob in 'secret'",
			      ERR_PEER);
		else
			check(&d, script,
			      "packfile|1:PACK wants=c4 "
			      "filter=sparse:oid=patterns|F",
			      0);
		/*
		 * An abbreviated id of the blob with the patterns of a sparse
		 * filter is refused.
		 */
		hex[12] = '\0';
		snprintf(script, sizeof(script),
			 "want c4|filter sparse:oid=%s|done", hex);
		assert_memory_equal(dialog_answer(&d, "F"), "", 1);
		snprintf(script, sizeof(script),
			 "command=fetch|D|want c4|filter sparse:oid=%s|done|F",
			 hex);
		assert_non_null(strstr(dialog_answer(&d, script),
				       "ERR unable to access sparse blob"));
		free(hex);
	}
	check(&d, "no-progress|want c4|filter sparse:oid=patterns|done",
	      "packfile|1:PACK wants=c4 filter=sparse:oid=patterns|F", 0);
	check(&d, "want c4|filter sparse:oid=patterns:x|done",
	      "ERR unable to access sparse blob in 'patterns:x'", ERR_PEER);
	dialog_release(&d);
}

/* With sideband-all, each packet of the response has a side-band number. */
static void test_sideband_all(void **state)
{
	struct dialog d;

	start(&d);
	dialog_config(&d, CONFIG_LOCAL, "[uploadpack]\nallowSidebandAll\n");
	check(&d, "sideband-all|want c4|have none", "1:acknowledgments|1:NAK|F",
	      0);
	check(&d, "sideband-all|no-progress|want c4|done",
	      "1:packfile|1:PACK wants=c4|F", 0);
	check(&d, "sideband-all|want none|done",
	      "3:upload-pack: not our ref none", ERR_PEER);
	dialog_release(&d);
}

/*
 * Replaces packing_send(). Leaves out the first object that the receiver can
 * download elsewhere, and writes progress. Returns 0 or a negative error code.
 */
static int make_offered(void *ctx, const struct odb *odb,
			const struct packing_request *r,
			const struct packing_send_options *options,
			struct pack_sink sink, struct packing_report *report,
			struct error *err)
{
	const bool left_out[] = {true, false};
	int ret = 0;

	memset(report, 0, sizeof(*report));
	if (options->progress && options->progress->put)
		options->progress->put(options->progress->ctx, "counting", 8);
	if (r->elsewhere) {
		assert_int_equal(r->elsewhere->nr, 2);
		ret = r->elsewhere->tell(r->elsewhere->ctx, left_out, NULL,
					 err);
	}
	return ret ? ret : sink.put(sink.ctx, "PACK", 4, err);
}

/* Replaces packing_send(). Fails when the section of URIs has been sent. */
static int fail_after_uris(void *ctx, const struct odb *odb,
			   const struct packing_request *r,
			   const struct packing_send_options *options,
			   struct pack_sink sink, struct packing_report *report,
			   struct error *err)
{
	const bool left_out[] = {false, false};
	int ret;

	memset(report, 0, sizeof(*report));
	assert_non_null(r->elsewhere);
	ret = r->elsewhere->tell(r->elsewhere->ctx, left_out, NULL, err);
	return ret ? ret : error_set(err, ERR_CORRUPT, "broken");
}

static void test_uris(void **state)
{
	struct buf text = BUF_INIT;
	struct dialog d;

	start(&d);
	check(&d, "want c4|packfile-uris https|done",
	      "ERR unexpected line: 'packfile-uris https'", ERR_PEER);
	buf_printf(&text, "[uploadpack]\n");
	for (int i = 0; i < 2; i++) {
		char hex[OID_MAX_HEX_LEN + 1];

		oid_to_hex(hex, dialog_oid(&d, i ? "v1" : "t"), HASH_SHA1);
		buf_printf(&text, "blobPackfileUri = %s %s https://x/%d\n", hex,
			   dialog_hex(&d, "none"), i);
	}
	dialog_config(&d, CONFIG_LOCAL, text.data);
	d.options.make_pack = make_offered;
	check(&d, "no-progress|want c4|packfile-uris https|done",
	      "packfile-uris|none https://x/0|D|packfile|1:PACK|F", 0);
	check(&d, "no-progress|want c4|done", "packfile|1:PACK|F", 0);
	check(&d, "want c4|done",
	      "packfile|2:counting|1:PACK|2:Total 0 (delta 0), reused 0 "
	      "(delta 0), pack-reused 0 (from 0)|F",
	      0);
	/* If making the pack fails, the error is sent on side-band 3. */
	d.options.make_pack = fail_after_uris;
	check(&d, "no-progress|want c4|packfile-uris https|done",
	      "packfile|3:aborting due to possible repository corruption on "
	      "the remote side.",
	      ERR_CORRUPT);
	check(&d, "want c4|packfile-uris https|packfile-uris http|done",
	      "ERR multiple packfile-uris lines forbidden", ERR_PEER);
	buf_release(&text);
	dialog_release(&d);
}

/*
 * A URI is too long for a pkt-line. The fetch must fail before a byte is sent.
 */
static void test_long_uri(void **state)
{
	struct buf text = BUF_INIT;
	struct dialog d;

	start(&d);
	buf_printf(&text, "[uploadpack]\n");
	for (int i = 0; i < 2; i++) {
		buf_printf(&text, "blobPackfileUri = %s ",
			   dialog_hex(&d, i ? "v1" : "t"));
		buf_printf(&text, "%s https://x/%070000d\n",
			   dialog_hex(&d, "none"), i);
	}
	dialog_config(&d, CONFIG_LOCAL, text.data);
	d.options.make_pack = make_offered;
	check(&d, "no-progress|want c4|packfile-uris https|done", "",
	      ERR_INVALID);
	buf_release(&text);
	dialog_release(&d);
}

static void test_errors(void **state)
{
	static const char *const cases[][2] = {
		{"want zz", "ERR upload-pack: protocol error, expected to get "
			    "oid, not 'want zz'"},
		{"want none", "ERR upload-pack: not our ref none"},
		{"want c4|want none|done", "ERR upload-pack: not our ref none"},
		{"want c4 ofs-delta",
		 "ERR upload-pack: protocol error, expected to get oid, not "
		 "'want "},
		{"want c4|have zz",
		 "ERR upload-pack: expected SHA1 object, got 'zz'"},
		{"want c4|bogus", "ERR unexpected line: 'bogus'"},
		{"want none|bogus", "ERR upload-pack: not our ref none"},
		{"bogus|want none", "ERR unexpected line: 'bogus'"},
		{"want c4|filter blob:none",
		 "ERR unexpected line: 'filter blob:none'"},
		{"want c4|sideband-all", "ERR unexpected line: 'sideband-all'"},
		{"want c4|deepen 1|deepen-since 5",
		 "ERR upload-pack: deepen and deepen-since (or deepen-not) "
		 "cannot be used together"},
		{"want c4|E", "ERR expected flush after fetch arguments"},
	};
	struct dialog d;

	start(&d);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char script[256];
		const char *text;

		snprintf(script, sizeof(script), "command=fetch|D|%s|F",
			 cases[i][0]);
		text = dialog_answer(&d, script);
		assert_int_equal(
			strncmp(text, cases[i][1], strlen(cases[i][1])), 0);
		assert_int_equal(d.ret, ERR_PEER);
	}
	dialog_release(&d);
}

/*
 * A connection can carry several requests. The response to the second request
 * must not depend on the first.
 */
static void test_two_requests(void **state)
{
	struct dialog d;

	start(&d);
	assert_string_equal(
		dialog_answer(&d, "command=fetch|D|want c4|have none|F|"
				  "command=fetch|D|no-progress|want s0|done|F"),
		"acknowledgments|NAK|F|packfile|1:PACK wants=s0|F");
	assert_int_equal(d.ret, 0);
	dialog_release(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_wants),
		cmocka_unit_test(test_negotiate_only),
		cmocka_unit_test(test_clone),
		cmocka_unit_test(test_negotiation),
		cmocka_unit_test(test_want_ref),
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_two_requests),
		cmocka_unit_test(test_filter),
		cmocka_unit_test(test_reachable_only),
		cmocka_unit_test(test_sideband_all),
		cmocka_unit_test(test_uris),
		cmocka_unit_test(test_long_uri),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
