/* SPDX-License-Identifier: MIT */
/*
 * Tests of serve/upload-pack-v0.c, fetches with protocols v0 and v1:
 * advertisement, negotiation and stateless rounds give the expected
 * transcripts, and malformed requests are refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "t/unit/dialog.h"

static void check(struct dialog *d, const char *script, const char *want,
		  int ret)
{
	assert_string_equal(dialog_answer(d, script), want);
	assert_int_equal(d->ret, ret);
}

static void test_no_wants(void **state)
{
	struct dialog d;

	dialog_init(&d, HASH_SHA1);
	check(&d, "F", "", 0);
	check(&d, "D", "", 0);
	check(&d, "", "", ERR_PEER);
	dialog_release(&d);
}

static void test_capabilities(void **state)
{
	struct dialog d;

	dialog_init(&d, HASH_SHA1);
	check(&d, "want c4 thin-pack ofs-delta include-tag no-progress|F|done",
	      "NAK|=PACK wants=c4 tags=1 thin ofs", 0);
	check(&d, "want c4 no-progress unknown agent=x  |want s0|F|done",
	      "NAK|=PACK wants=c4,s0", 0);
	check(&d, "want c4 side-band no-progress|F|done",
	      "NAK|1:PACK wants=c4|F", 0);
	check(&d, "want c4 side-band-64k side-band no-progress|F|done",
	      "NAK|1:PACK wants=c4|F", 0);
	check(&d, "want c4 side-band-64k|F|done",
	      "NAK|1:PACK wants=c4 progress|2:Total 0 (delta 0), reused 0 "
	      "(delta 0), pack-reused 0 (from 0)|F",
	      0);
	check(&d, "want c4 filter|filter blob:none|F|done",
	      "ERR upload-pack: filtering capability not negotiated", ERR_PEER);
	dialog_config(&d, CONFIG_LOCAL, "[uploadpack]\nallowFilter\n");
	check(&d, "want c4 filter no-progress|filter blob:none|F|done",
	      "NAK|=PACK wants=c4 filter=blob:none", 0);
	check(&d, "want c4 filter|filterxblob:none|F|done",
	      "ERR upload-pack: protocol error, expected to get object ID, not "
	      "'filterxblob:none'",
	      ERR_PEER);
	check(&d, "want c4 no-progress|filter blob:none|F|done",
	      "ERR upload-pack: filtering capability not negotiated", ERR_PEER);
	check(&d, "want c4 object-format=sha256|F|done",
	      "ERR upload-pack: the repository's object format is sha1",
	      ERR_PEER);
	dialog_release(&d);
}

static void test_negotiation(void **state)
{
	struct dialog d;

	dialog_init(&d, HASH_SHA1);
	check(&d, "want c4 no-progress|F|have none|F|have c2|have c1|F|done",
	      "NAK|ACK c2|=PACK wants=c4 haves=c2,c1", 0);
	check(&d,
	      "want c4 multi_ack no-progress|F|have none|have c2|have none|F|"
	      "done",
	      "ACK c2 continue|ACK none continue|NAK|ACK c2|"
	      "=PACK wants=c4 haves=c2",
	      0);
	check(&d,
	      "want c4 multi_ack_detailed no-progress|F|have c2|have c1|F|done",
	      "ACK c2 common|ACK c1 common|ACK c1 ready|NAK|ACK c1|"
	      "=PACK wants=c4 haves=c2,c1",
	      0);
	/*
	 * A client that has s0 also has the parent of s0. So s0 is enough for a
	 * want that reaches s0 or the parent of s0. The want h0 is a root
	 * commit, so it reaches neither of them. So the haves are not enough,
	 * and the server does not send "ready".
	 */
	check(&d,
	      "want c4 multi_ack_detailed no-progress|want h0|F|have s0|F|"
	      "have none|F|done",
	      "ACK s0 common|NAK|NAK|ACK s0|=PACK wants=c4,h0 haves=s0", 0);
	dialog_release(&d);
}

static void test_stateless(void **state)
{
	struct dialog d;

	dialog_init(&d, HASH_SHA1);
	d.options.stateless_rpc = true;
	check(&d, "", "", ERR_PEER);
	check(&d, "F", "", 0);
	check(&d, "want c4 multi_ack_detailed|F|have none|F|have c1|F", "NAK",
	      0);
	check(&d, "want c4 multi_ack_detailed|F|have c1|F",
	      "ACK c1 common|ACK c1 ready|NAK", 0);
	check(&d, "want c4 multi_ack_detailed no-done no-progress|F|have c1|F",
	      "ACK c1 common|ACK c1 ready|NAK|ACK c1|=PACK wants=c4 haves=c1",
	      0);
	check(&d, "want c4 no-progress|F|done", "NAK|=PACK wants=c4", 0);
	check(&d, "want c4|deepen 1|F", "shallow c4|F", 0);
	check(&d, "want c4|F|have c1", "", ERR_PEER);
	dialog_release(&d);
}

static void test_errors(void **state)
{
	static const char *const cases[][2] = {
		{"want zzz|F", "ERR upload-pack: protocol error, expected to "
			       "get object ID, not 'want zzz'"},
		{"want c4x|F", "ERR upload-pack: protocol error, expected to "
			       "get object ID, not 'want c4x'"},
		{"foo", "ERR upload-pack: protocol error, expected to get "
			"object ID, not 'foo'"},
		{"=0004", "ERR upload-pack: protocol error, expected to get "
			  "object ID, not ''"},
		{"want c4|F|have zzz",
		 "ERR upload-pack: expected SHA1 object, got 'zzz'"},
		{"want c4|F|bogus",
		 "ERR upload-pack: expected SHA1 list, got 'bogus'"},
		{"want c4|F|=0004",
		 "ERR upload-pack: expected SHA1 list, got ''"},
		{"want c4|filter blob:none|F",
		 "ERR upload-pack: filtering capability not negotiated"},
		{"=ffff", "ERR protocol error: bad line length 65535"},
		{"=0003", "ERR protocol error: bad line length 3"},
	};
	struct dialog d;

	dialog_init(&d, HASH_SHA1);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		check(&d, cases[i][0], cases[i][1], ERR_PEER);
	dialog_release(&d);
}

static void test_hang_ups(void **state)
{
	static const char *const scripts[] = {
		"want c4", "want c4|F", "want c4|F|have c1", "=00", "=0010abc"};
	struct dialog d;

	dialog_init(&d, HASH_SHA1);
	for (size_t i = 0; i < sizeof(scripts) / sizeof(scripts[0]); i++) {
		dialog_run(&d, scripts[i]);
		assert_int_equal(d.ret, ERR_PEER);
		assert_string_equal(d.err.msg,
				    "the remote end hung up unexpectedly");
	}
	dialog_release(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_wants),
		cmocka_unit_test(test_capabilities),
		cmocka_unit_test(test_negotiation),
		cmocka_unit_test(test_stateless),
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_hang_ups),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
