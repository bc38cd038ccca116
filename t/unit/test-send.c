/* SPDX-License-Identifier: MIT */
/* repack/send.c: random requests, and every pack taken apart. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "t/unit/sendrepo.h"

static int send(struct sendrepo *s, struct buf *pack,
		struct repack_report *report, struct error *err)
{
	struct pack_sink sink = {packread_put, pack};

	return repack_send(s->odb, &s->request, &s->options, sink, report, err);
}

static void check_report(const struct packread *read,
			 const struct repack_report *report)
{
	assert_int_equal(read->nr, read->header_nr);
	assert_int_equal(read->nr, report->objects);
	assert_true(report->deltas <= read->ofs_nr + read->ref_nr);
	assert_true(report->reused + report->pack_reused <= report->objects);
	assert_int_equal(report->warning.code, 0);
}

static uint32_t random_request(struct sendrepo *s, bool shallow)
{
	struct error err = ERROR_INIT;
	struct buf pack = BUF_INIT;
	struct repack_report report;
	struct packread read;
	uint32_t thin;

	sendrepo_request(s, shallow);
	if (send(s, &pack, &report, &err) < 0)
		fail_msg("%s", err.msg);
	packread_open(&read, &s->r, pack.data, pack.len,
		      s->request.thin ? s->had : NULL);
	check_report(&read, &report);
	if (!s->request.ofs_delta)
		assert_int_equal(read.ofs_nr, 0);
	assert_int_equal(report.used_bitmap, s->request.use_bitmap && !shallow);
	sendrepo_check(s, read.has, report.used_bitmap);
	thin = read.thin_nr;
	packread_release(&read);
	buf_release(&pack);
	return thin;
}

static void random_requests(void **state)
{
	uint64_t seed = random_seed();
	struct sendrepo s;
	uint32_t thin = 0;

	sendrepo_init(&s, &seed);
	for (int i = 0; i < 100; i++)
		thin += random_request(&s, false);
	assert_true(thin > 20);
	sendrepo_release(&s);
}

static void shallow_requests(void **state)
{
	uint64_t seed = random_seed();
	struct sendrepo s;

	sendrepo_init(&s, &seed);
	for (int i = 0; i < 60; i++)
		random_request(&s, true);
	sendrepo_release(&s);
}

/* What may not be copied is made anew. */
static void reuse_forbidden(void **state)
{
	uint64_t seed = random_seed();
	struct sendrepo s;

	sendrepo_init(&s, &seed);
	for (int i = 0; i < 24; i++) {
		s.options.reuse_spans = i & 1;
		s.options.reuse_delta = i & 2;
		s.options.reuse_object = i & 4;
		s.options.window = i & 8 ? 0 : 10;
		random_request(&s, false);
	}
	sendrepo_release(&s);
}

static void nothing_to_send(void **state)
{
	uint64_t seed = random_seed();
	struct repack_report report;
	struct packread read;
	struct sendrepo s;

	sendrepo_init(&s, &seed);
	for (int bitmap = 0; bitmap < 2; bitmap++) {
		struct buf pack = BUF_INIT;

		s.wants[0] = s.r.objects[s.r.commits[50]].oid;
		s.request = (struct repack_request){
			.wants = s.wants,
			.want_nr = 1,
			.haves = s.wants,
			.have_nr = 1,
			.use_bitmap = bitmap,
		};
		assert_int_equal(send(&s, &pack, &report, NULL), 0);
		packread_open(&read, &s.r, pack.data, pack.len, NULL);
		assert_int_equal(read.header_nr, 0);
		assert_int_equal(read.nr, 0);
		packread_release(&read);
		buf_release(&pack);
	}
	sendrepo_release(&s);
}

/* A want that is not there, and a have. */
static void unknown_ids(void **state)
{
	uint64_t seed = random_seed();
	struct repack_report report;
	struct buf pack = BUF_INIT;
	struct sendrepo s;

	sendrepo_init(&s, &seed);
	memset(&s.wants[0], 0, sizeof(s.wants[0]));
	s.wants[0].bytes[3] = 1;
	s.haves[0] = s.wants[0];
	s.request = (struct repack_request){
		.wants = s.wants,
		.want_nr = 1,
		.use_bitmap = true,
	};
	assert_int_equal(send(&s, &pack, &report, NULL), ERR_MISSING);
	s.wants[0] = s.r.objects[s.r.commits[3]].oid;
	s.request.haves = s.haves;
	s.request.have_nr = 1;
	buf_reset(&pack);
	assert_int_equal(send(&s, &pack, &report, NULL), 0);
	assert_true(report.objects > 0);
	buf_release(&pack);
	sendrepo_release(&s);
}

struct limited {
	struct buf text;
	size_t left; /* bytes until writing fails */
};

static int put_limited(void *ctx, const void *bytes, size_t len,
		       struct error *err)
{
	struct limited *l = ctx;

	if (len > l->left)
		return error_set(err, ERR_IO, "gone");
	l->left -= len;
	return buf_append(&l->text, bytes, len);
}

/* The receiver goes away: its error is what is reported. */
static void sink_fails(void **state)
{
	uint64_t seed = random_seed();
	struct repack_report report;
	struct sendrepo s;

	sendrepo_init(&s, &seed);
	s.wants[0] = s.r.objects[s.r.commits[s.r.commit_nr - 1]].oid;
	s.request = (struct repack_request){
		.wants = s.wants,
		.want_nr = 1,
		.use_bitmap = true,
	};
	for (size_t limit = 0; limit < 3000; limit += 700) {
		struct limited l = {BUF_INIT, limit};
		struct pack_sink sink = {put_limited, &l};

		assert_int_equal(repack_send(s.odb, &s.request, &s.options,
					     sink, &report, NULL),
				 ERR_IO);
		buf_release(&l.text);
	}
	sendrepo_release(&s);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_requests),
		cmocka_unit_test(shallow_requests),
		cmocka_unit_test(reuse_forbidden),
		cmocka_unit_test(nothing_to_send),
		cmocka_unit_test(unknown_ids),
		cmocka_unit_test(sink_fails),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
