/* SPDX-License-Identifier: MIT */
/*
 * Tests of serve/send.c, which sends the pack of a fetch: the pack arrives with
 * tags, progress and keep-alive packets, and failures are reported.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sys/clock.h"
#include "t/unit/dialog.h"

/* Replaces packing_send(): sends some bytes and then fails. */
static int fail_to_pack(void *ctx, const struct odb *odb,
			const struct packing_request *request,
			const struct packing_send_options *options,
			struct pack_sink sink, struct packing_report *report,
			struct error *err)
{
	(void)odb;
	(void)request;
	(void)options;
	(void)report;
	sink.put(sink.ctx, "PACK", 4, err);
	return error_set(err, ERR_CORRUPT, "/secret/path: broken");
}

/*
 * If the pack cannot be made, the client gets only a general message. The
 * reason is logged for the administrator.
 */
static void test_failure(void **state)
{
	struct dialog d;

	dialog_init(&d, HASH_SHA1);
	d.options.make_pack = fail_to_pack;
	assert_string_equal(
		dialog_answer(&d, "want c4 side-band-64k|F|done"),
		"NAK|1:PACK|3:aborting due to possible repository corruption "
		"on the remote side.");
	assert_int_equal(d.ret, ERR_CORRUPT);
	assert_string_equal(d.err.msg, "/secret/path: broken");
	assert_string_equal(dialog_answer(&d, "want c4|F|done"), "NAK|=PACK");
	dialog_release(&d);
}

static int warn_and_pack(void *ctx, const struct odb *odb,
			 const struct packing_request *request,
			 const struct packing_send_options *options,
			 struct pack_sink sink, struct packing_report *report,
			 struct error *err)
{
	(void)odb;
	(void)options;
	assert_int_equal(taglist_count(&request->tags), 1);
	assert_true(request->use_bitmap);
	*report = (struct packing_report){.objects = 12,
					  .deltas = 3,
					  .reused = 10,
					  .reused_deltas = 2,
					  .pack_reused = 1};
	error_set(&report->warning, ERR_CORRUPT, "bitmap is odd");
	return sink.put(sink.ctx, "PACK", 4, err);
}

static void test_report(void **state)
{
	struct dialog d;

	dialog_init(&d, HASH_SHA1);
	d.options.make_pack = warn_and_pack;
	assert_string_equal(
		dialog_answer(&d, "want c4 side-band-64k include-tag|F|done"),
		"NAK|1:PACK|2:Total 12 (delta 3), reused 10 (delta 2), "
		"pack-reused 1 (from 0)|F");
	assert_string_equal(d.warnings.data, "bitmap is odd\n");
	assert_string_equal(dialog_answer(&d,
					  "want c4 side-band-64k include-tag "
					  "no-progress|F|done"),
			    "NAK|1:PACK|F");
	dialog_release(&d);
}

/* If a tag cannot be read, the pack is sent nevertheless. */
static void test_broken_tag(void **state)
{
	struct dialog d;

	dialog_init(&d, HASH_SHA1);
	dialog_ref(&d, "refs/tags/bad", "none");
	assert_string_equal(
		dialog_answer(&d, "want c4 include-tag no-progress|F|done"),
		"NAK|=PACK wants=c4 tags=1");
	dialog_release(&d);
}

/*
 * If all wants are also haves, the pack is empty. But a shallow client may lack
 * ancestors of its haves, so its pack is not empty.
 */
static void test_had_wants(void **state)
{
	struct dialog d;

	dialog_init(&d, HASH_SHA1);
	assert_string_equal(
		dialog_answer(&d, "want c4 no-progress|F|have c4|done"),
		"ACK c4|=PACK haves=c4");
	assert_string_equal(
		dialog_answer(&d, "want c4 no-progress|want s0|F|have c4|done"),
		"ACK c4|=PACK wants=c4,s0 haves=c4");
	assert_string_equal(
		dialog_answer(&d, "want c4 no-progress|shallow c4|F|have c4|"
				  "done"),
		"ACK c4|=PACK wants=c4 haves=c4 shallow=c4");
	dialog_release(&d);
}

static struct dialog *waiting;

/*
 * Replaces packing_send(): reports much work, and then waits until a keep-alive
 * packet was sent.
 */

static int wait_and_pack(void *ctx, const struct odb *odb,
			 const struct packing_request *request,
			 const struct packing_send_options *options,
			 struct pack_sink sink, struct packing_report *report,
			 struct error *err)
{
	uint64_t start = sys_clock_ns();
	size_t len = waiting->out.len;

	(void)odb;
	*report = (struct packing_report){.objects = 1};
	assert_int_equal(progress_ask(options->progress, "Much",
				      request->want_nr << 20, err),
			 0);
	while (__atomic_load_n(&waiting->out.len, __ATOMIC_RELAXED) == len &&
	       sys_clock_ns() - start < UINT64_C(20000000000))
		;
	return sink.put(sink.ctx, "PACK", 4, err);
}

static void test_signs_of_life(void **state)
{
	struct dialog d;

	dialog_init(&d, HASH_SHA1);
	dialog_config(&d, CONFIG_LOCAL, "[uploadpack]\nkeepAlive = 1\n");
	d.options.make_pack = wait_and_pack;
	waiting = &d;
	assert_string_equal(
		dialog_answer(&d, "want c4 side-band-64k no-progress|F|done"),
		"NAK|2:|1:PACK|F");
	dialog_release(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_failure),
		cmocka_unit_test(test_report),
		cmocka_unit_test(test_broken_tag),
		cmocka_unit_test(test_had_wants),
		cmocka_unit_test(test_signs_of_life),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
