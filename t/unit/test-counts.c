/* SPDX-License-Identifier: MIT */
/*
 * Tests of stored/counts.h, the counters of requests to a store and of the
 * cache: which events are counted, and that processes with the same cache
 * directory share the counters.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/mem.h"
#include "stored/counts.h"
#include "sys/clock.h"
#include "sys/io.h"
#include "sys/tempdir.h"
#include "t/unit/memstore.h"

struct counted {
	struct memstore mem;
	struct sys_tempdir dir;
	struct stored_counts *counts;
	int64_t begin; /* seconds since 1970 */
};

static void counted_init(struct counted *c)
{
	*c = (struct counted){.dir = SYS_TEMPDIR_INIT};
	memstore_init(&c->mem);
	assert_int_equal(sys_tempdir_create(&c->dir, "/tmp", "counts-", NULL),
			 0);
	c->counts = stored_counts_open(c->dir.path);
	assert_non_null(c->counts);
	stored_counts_watch(c->counts, &c->mem.store);
	c->begin = sys_clock_seconds();
}

static void counted_release(struct counted *c)
{
	stored_counts_close(c->counts);
	memstore_release(&c->mem);
	sys_tempdir_release(&c->dir);
}

static void assert_line(struct counted *c, const char *line)
{
	struct buf text = BUF_INIT, whole = BUF_INIT;

	assert_int_equal(
		stored_counts_print(&text, c->counts, 77, METRICS_PROMETHEUS),
		0);
	assert_int_equal(buf_printf(&whole, "\n%s\n", line), 0);
	if (!strstr(text.data, whole.data))
		fail_msg("no %s in\n%s", line, text.data);
	buf_release(&text);
	buf_release(&whole);
}

static enum memstore_fate fate_of(void *ctx, enum memstore_op op,
				  const char *name)
{
	return *(enum memstore_fate *)ctx;
}

static void test_requests(void **state)
{
	static const struct filestore_condition create = {STORE_CREATE, NULL};
	enum memstore_fate fate = MEMSTORE_NORMAL;
	struct stored_counts_view v;
	struct filestore *store;
	struct counted c;
	struct buf out = BUF_INIT;

	counted_init(&c);
	store = &c.mem.store;
	c.mem.fate = fate_of;
	c.mem.ctx = &fate;
	assert_int_equal(
		filestore_put(store, NULL, "a", "12345", 5, &create, NULL), 0);
	assert_int_equal(
		filestore_put(store, NULL, "a", "12345", 5, &create, NULL),
		STORE_CONFLICT);
	assert_int_equal(filestore_get(store, &out, NULL, "a", 9, NULL), 0);
	assert_int_equal(filestore_get(store, &out, NULL, "b", 9, NULL),
			 STORE_ABSENT);
	stored_counts_look(&v, c.counts);
	assert_int_equal(v.requests, 4);
	assert_int_equal(v.failures, 0);
	assert_int_equal(v.received, 5);
	assert_int_equal(v.sent, 5);
	assert_in_range(v.answered, c.begin, c.begin + 3600);
	fate = MEMSTORE_DOWN;
	assert_int_equal(filestore_get(store, &out, NULL, "a", 9, NULL),
			 STORE_UNAVAILABLE);
	fate = MEMSTORE_ERROR;
	assert_int_equal(filestore_delete(store, "a", NULL), ERR_DENIED);
	fate = MEMSTORE_LOST;
	assert_int_equal(filestore_put(store, NULL, "c", "1", 1, &create, NULL),
			 STORE_AMBIGUOUS);
	/* No request is sent for a wrong name. */
	assert_int_equal(filestore_get(store, &out, NULL, "../x", 9, NULL),
			 ERR_INVALID);
	stored_counts_look(&v, c.counts);
	assert_int_equal(v.requests, 7);
	assert_int_equal(v.failures, 3);
	assert_line(&c, "gitreach_store_requests_total{operation=\"read\","
			"status=\"ok\"} 1");
	assert_line(&c, "gitreach_store_requests_total{operation=\"read\","
			"status=\"absent\"} 1");
	assert_line(&c, "gitreach_store_requests_total{operation=\"read\","
			"status=\"unavailable\"} 1");
	assert_line(&c, "gitreach_store_requests_total{operation=\"put\","
			"status=\"conflict\"} 1");
	assert_line(&c, "gitreach_store_requests_total{operation=\"put\","
			"status=\"unknown\"} 1");
	assert_line(&c, "gitreach_store_requests_total{operation=\"delete\","
			"status=\"denied\"} 1");
	assert_line(&c, "gitreach_store_request_seconds_count{operation="
			"\"read\"} 3");
	assert_line(&c, "gitreach_cache_limit_bytes 77");
	buf_release(&out);
	counted_release(&c);
}

static void test_cache(void **state)
{
	struct stored_counts_view v;
	struct stored_counts *other;
	struct counted c;

	counted_init(&c);
	stored_counts_lookup(c.counts, STORED_LOOKUP_HIT);
	stored_counts_lookup(c.counts, STORED_LOOKUP_HIT);
	stored_counts_lookup(c.counts, STORED_LOOKUP_STALE);
	stored_counts_download(c.counts, 1000);
	stored_counts_trim(c.counts, 600, 2);
	stored_counts_download(c.counts, 50);
	assert_line(&c, "gitreach_cache_lookups_total{result=\"hit\"} 2");
	assert_line(&c, "gitreach_cache_lookups_total{result=\"stale\"} 1");
	assert_string_equal(stored_lookup_name(STORED_LOOKUP_FAILED), "failed");

	/*
	 * Another process that uses the same cache directory adds to the same
	 * counters.
	 */
	other = stored_counts_open(c.dir.path);
	assert_non_null(other);
	stored_counts_lookup(other, STORED_LOOKUP_HIT);
	stored_counts_close(other);
	stored_counts_look(&v, c.counts);
	assert_int_equal(v.lookups[STORED_LOOKUP_HIT], 3);
	assert_int_equal(v.downloads, 2);
	assert_int_equal(v.evictions, 2);
	assert_int_equal(v.cache_bytes, 650);
	assert_int_equal(v.requests, 0);
	assert_int_equal(v.answered, 0);
	counted_release(&c);
}

static void test_none(void **state)
{
	struct stored_counts_view v;
	struct buf text = BUF_INIT;

	assert_null(stored_counts_open("/nonexistent/gitreach"));
	stored_counts_lookup(NULL, STORED_LOOKUP_HIT);
	stored_counts_download(NULL, 1);
	stored_counts_trim(NULL, 1, 1);
	stored_counts_watch(NULL, NULL);
	stored_counts_look(&v, NULL);
	assert_int_equal(v.requests, 0);
	assert_int_equal(
		stored_counts_print(&text, NULL, 0, METRICS_OPENMETRICS), 0);
	assert_int_equal(text.len, 0);
	stored_counts_close(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_requests),
		cmocka_unit_test(test_cache),
		cmocka_unit_test(test_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
