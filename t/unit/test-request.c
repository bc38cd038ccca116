/* SPDX-License-Identifier: MIT */
/*
 * Tests of serve/request.c, which parses the lines of a fetch request: lines
 * set the right fields, and each request is summarized in the trace.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <unistd.h>

#include "sys/clock.h"
#include "sys/trace.h"
#include "t/unit/dialog.h"

#include "serve/request.h"

struct fixture {
	struct dialog d;
	struct serve_io io;
	struct session s;
	struct request req;
};

static void start(struct fixture *f)
{
	dialog_init(&f->d, HASH_SHA1);
	f->io = dialog_io(&f->d);
	assert_int_equal(session_init(&f->s, &f->d.options, &f->io, NULL), 0);
	request_init(&f->req, &f->s);
}

static void stop(struct fixture *f)
{
	request_release(&f->req);
	session_release(&f->s);
	dialog_release(&f->d);
}

/* Handle the line "<word> <id>", with the id of the object `name`. */
static int take(struct fixture *f, const char *word, const char *name)
{
	char line[128];

	snprintf(line, sizeof(line), "%s %s", word,
		 dialog_oid(&f->d, name) ? dialog_hex(&f->d, name) : name);
	return request_take_line(&f->req, line, NULL);
}

static void test_take_line(void **state)
{
	struct fixture f;

	start(&f);
	assert_false(request_has_depth_limit(&f.req));
	assert_int_equal(take(&f, "shallow", "c2"), 1);
	assert_int_equal(take(&f, "shallow", "c2"), 1);
	assert_int_equal(take(&f, "shallow", "none"), 1);
	assert_int_equal(f.req.client_shallow.nr, 1);
	assert_int_equal(take(&f, "deepen", "3"), 1);
	assert_int_equal(f.req.depth, 3);
	assert_int_equal(take(&f, "deepen", "2147483647"), 1);
	assert_int_equal(f.req.depth, DEPTH_INFINITE);
	assert_int_equal(take(&f, "deepen", "2147483648"), ERR_PEER);
	assert_int_equal(take(&f, "deepen", "x"), ERR_PEER);
	assert_int_equal(take(&f, "deepen", "-5"), ERR_PEER);
	assert_int_equal(take(&f, "deepen", " 5"), ERR_PEER);
	assert_int_equal(take(&f, "deepen", "5 "), ERR_PEER);
	assert_int_equal(take(&f, "deepen", ":"), ERR_PEER);
	assert_int_equal(take(&f, "deepen", "0"), ERR_PEER);
	assert_int_equal(f.req.depth, DEPTH_INFINITE);
	assert_int_equal(take(&f, "deepen-since", "77"), 1);
	assert_int_equal(f.req.since, 77);
	assert_int_equal(take(&f, "deepen-since", "7 7"), ERR_PEER);
	/* the second 0 of 1970 is a time like any other */
	assert_int_equal(take(&f, "deepen-since", "0"), 1);
	assert_true(f.req.has_since);
	assert_int_equal(f.req.since, 0);
	assert_int_equal(take(&f, "deepen-not", "main"), 1);
	assert_int_equal(f.req.nots.nr, 1);
	assert_int_equal(take(&f, "deepen-not", "none/x"), ERR_PEER);
	dialog_ref(&f.d, "refs/heads/v1", "c0");
	assert_int_equal(take(&f, "deepen-not", "v1"), ERR_PEER);
	assert_int_equal(f.req.nots.nr, 1);
	/* A client may repeat a line, but only up to a limit. */
	for (int i = 0; i < 16384 - 3; i++)
		assert_int_equal(take(&f, "deepen-not", "main"), 1);
	assert_int_equal(take(&f, "deepen-not", "main"), ERR_PEER);
	assert_int_equal(f.req.nots.nr, 1);
	assert_int_equal(take(&f, "other", "x"), 0);
	assert_int_equal(request_take_line(&f.req, "deepen", NULL), 0);
	assert_int_equal(request_take_line(&f.req, "", NULL), 0);
	assert_int_equal(request_check_depth_limit(&f.req, NULL), ERR_PEER);
	stop(&f);
}

static void test_parse_oid(void **state)
{
	struct fixture f;
	struct oid oid;
	char line[128];
	const char *rest;

	start(&f);
	snprintf(line, sizeof(line), "want %s caps", dialog_hex(&f.d, "c1"));
	rest = request_parse_oid(&f.req, line, "want", &oid);
	assert_string_equal(rest, " caps");
	assert_true(oid_equal(&oid, dialog_oid(&f.d, "c1")));
	assert_null(request_parse_oid(&f.req, line, "have", &oid));
	assert_null(request_parse_oid(&f.req, line, "wan", &oid));
	line[30] = '\0';
	assert_null(request_parse_oid(&f.req, line, "want", &oid));
	assert_null(request_parse_oid(&f.req, "want", "want", &oid));
	stop(&f);
}

static void test_ops(void **state)
{
	struct fixture f;
	struct negotiate_ops ops;

	start(&f);
	ops = request_ops(&f.req);
	assert_true(ops.has(ops.ctx, dialog_oid(&f.d, "c1")));
	assert_false(ops.has(ops.ctx, dialog_oid(&f.d, "none")));
	oidset_add(&f.req.wants, dialog_oid(&f.d, "c4"), NULL);
	oidset_add(&f.req.wants, dialog_oid(&f.d, "s0"), NULL);
	oidset_add(&f.req.wants, dialog_oid(&f.d, "t"), NULL);
	oidset_add(&f.req.common, dialog_oid(&f.d, "c3"), NULL);
	assert_int_equal(ops.enough(ops.ctx, &f.req.common, NULL), 0);
	oidset_add(&f.req.common, dialog_oid(&f.d, "t"), NULL);
	assert_int_equal(ops.enough(ops.ctx, &f.req.common, NULL), 0);
	oidset_add(&f.req.common, dialog_oid(&f.d, "c0"), NULL);
	assert_int_equal(ops.enough(ops.ctx, &f.req.common, NULL), 1);
	/* The wants were added to the walk only once. */
	assert_int_equal(f.req.want_tips.commit_nr, 2);
	stop(&f);
}

/*
 * If the common commits are enough, the server sends "ready" and the
 * negotiation can end. They are enough if each want descends from a common
 * commit, or from the parent of a common commit. Here, the only want is s0, a
 * child of c1.
 *
 * First, c3 is common. Its parent is c2. The want descends from neither of
 * them, so c3 is not enough. Then c2 is common, too. Its parent is c1. The want
 * descends from c1, so c2 is enough.
 */
static void test_parents_count(void **state)
{
	struct fixture f;
	struct negotiate_ops ops;

	start(&f);
	ops = request_ops(&f.req);
	oidset_add(&f.req.wants, dialog_oid(&f.d, "s0"), NULL);
	oidset_add(&f.req.common, dialog_oid(&f.d, "c3"), NULL);
	assert_int_equal(ops.enough(ops.ctx, &f.req.common, NULL), 0);
	oidset_add(&f.req.common, dialog_oid(&f.d, "c2"), NULL);
	assert_int_equal(ops.enough(ops.ctx, &f.req.common, NULL), 1);
	stop(&f);
}

/*
 * Client and server have a common commit. No ref reaches this commit, and one
 * of its parents is missing. This is no error.
 */
static void test_missing_parent(void **state)
{
	struct fixture f;
	struct negotiate_ops ops;
	struct oid none = {{1}};

	start(&f);
	dialog_name(&f.d, "gone", &none);
	dialog_commit(&f.d, "orphan", 2000000000, "gone", "c1");
	ops = request_ops(&f.req);
	oidset_add(&f.req.wants, dialog_oid(&f.d, "s0"), NULL);
	oidset_add(&f.req.common, dialog_oid(&f.d, "orphan"), NULL);
	assert_int_equal(ops.enough(ops.ctx, &f.req.common, NULL), 1);
	stop(&f);
}

/*
 * Replaces packing_send(). Sends nothing, and reports invented numbers. Returns
 * 0.
 */
static int make_numbers(void *ctx, const struct odb *odb,
			const struct packing_request *r,
			const struct packing_send_options *options,
			struct pack_sink sink, struct packing_report *report,
			struct error *err)
{
	*report = (struct packing_report){
		.objects = 100,
		.reused = 20,
		.pack_reused = 50,
		.bytes_verbatim = 3000,
		.bytes_recompressed = 400,
		.strategy = "bitmap+walk",
		.bitmaps_used = 5,
		.pseudo_merges_used = 6,
		.commits_walked = 7,
		.plan = {.reason = "why",
			 .bitmap_cost = 8,
			 .walk_cost = r->thin ? UINT64_MAX : 9},
		.count_ns = 11000,
		.reuse_ns = 12000,
		.search_ns = 13000,
		.write_ns = 14000,
	};
	if (r->thin)
		error_set(&report->warning, ERR_CORRUPT, "broken");
	return 0;
}

/*
 * Runs one fetch, with `target` as the only target of the trace. Returns the
 * text that was written to this target.
 */
static const char *traced(struct dialog *d, enum trace_target target,
			  const char *script)
{
	static char text[8192];
	struct trace trace;
	int fds[2];
	ssize_t n;

	assert_int_equal(pipe2(fds, O_NONBLOCK), 0);
	trace_init(&trace, "me", sys_clock_ns());
	trace.files[target] = (struct trace_file){fds[1], true};
	d->t.repo.trace = &trace;
	dialog_run(d, script);
	d->t.repo.trace = NULL;
	n = read(fds[0], text, sizeof(text) - 1);
	text[n > 0 ? n : 0] = '\0';
	trace_release(&trace);
	close(fds[0]);
	return text;
}

/* The trace has a summary of the request and of its pack. */
static void test_summary(void **state)
{
	struct dialog d;
	const char *text;

	dialog_init(&d, HASH_SHA1);
	d.options.version = 2;
	d.options.make_pack = make_numbers;
	dialog_config(&d, CONFIG_LOCAL, "[uploadpack]\nallowFilter\n");
	text = traced(&d, TRACE_LOG,
		      "command=fetch|D|no-progress|want c4|want s0|have c0|"
		      "have none|filter tree:3|done|F");
	assert_non_null(
		strstr(text, "\"filter\":\"tree:3\",\"request\":\"want="));
	assert_non_null(strstr(text, " filter=tree:3\","
				     "\"strategy\":\"bitmap+walk\","
				     "\"no_bitmap_reason\":null,"
				     "\"strategy_reason\":\"why\","));
	assert_non_null(strstr(
		text, "\"wants\":2,\"haves\":2,\"haves_common\":1,"
		      "\"shallow\":false,\"depth\":0,\"estimated_bitmap\":8,"
		      "\"estimated_walk\":9,\"bitmaps_used\":5,"
		      "\"pseudo_merges_used\":6,\"commits_walked\":7,"
		      "\"objects_sent\":100,\"objects_reused_in_spans\":50,"
		      "\"objects_reused\":20,\"objects_recompressed\":30,"
		      "\"bytes_verbatim\":3000,\"bytes_recompressed\":400,"
		      "\"count_us\":11,\"reuse_us\":12,\"search_us\":13,"
		      "\"write_us\":14"));
	text = traced(&d, TRACE_LOG,
		      "command=fetch|D|no-progress|thin-pack|want c4|deepen 2|"
		      "done|F");
	assert_non_null(strstr(text, "\"shallow\":true,\"depth\":2,"));
	assert_non_null(strstr(text, "\"filter\":null,"));
	assert_non_null(strstr(text, "\"no_bitmap_reason\":\"broken\","));
	assert_null(strstr(text, "estimated_walk"));
	d.options.version = 0;
	text = traced(&d, TRACE_LOG, "want c4 no-progress|F|done");
	assert_non_null(strstr(text, "\"command\":\"fetch\","));
	assert_non_null(strstr(text, "\"protocol\":0,"));
	d.options.version = 2;
	/*
	 * This request gets no pack. So its summary does not say by which
	 * strategy the pack was made.
	 */
	text = traced(&d, TRACE_LOG, "command=fetch|D|want c4|have none|F");
	assert_non_null(strstr(text, "\"wants\":1,\"haves\":1,"));
	assert_null(strstr(text, "strategy"));
	dialog_release(&d);
}

/*
 * The summary of a request counts the refs that this request has looked at, and
 * not those of earlier requests.
 */
static void test_refs_looked_at(void **state)
{
	static const char key[] = "\"refs_looked_at\":";
	struct dialog d;
	const char *text;

	dialog_init(&d, HASH_SHA1);
	d.options.version = 2;
	text = traced(&d, TRACE_LOG,
		      "command=ls-refs|D|ref-prefix refs/heads/|F|"
		      "command=ls-refs|D|ref-prefix refs/heads/|F");
	for (int i = 0; i < 2; i++) {
		text = strstr(text, key);
		assert_non_null(text);
		text += strlen(key);
		assert_int_equal(strtoul(text, NULL, 10), 2);
	}
	dialog_release(&d);
}

/* The event "fetch-info" has the members that stock Git writes. */
static void test_fetch_info(void **state)
{
	struct dialog d;
	const char *text;

	dialog_init(&d, HASH_SHA1);
	d.options.version = 2;
	dialog_config(&d, CONFIG_LOCAL,
		      "[uploadpack]\nallowFilter\nallowRefInWant\n");
	text = traced(&d, TRACE_EVENT,
		      "command=fetch|D|no-progress|want c4|have c0|"
		      "want-ref refs/heads/side|filter tree:3|shallow c1|"
		      "deepen 2|deepen-relative|done|F");
	assert_non_null(strstr(text,
			       "\"key\":\"fetch-info\",\"value\":{\"haves\":1,"
			       "\"wants\":2,\"want-refs\":1,\"depth\":2,"
			       "\"shallows\":1,\"deepen-since\":false,"
			       "\"deepen-not\":0,\"deepen-relative\":true,"
			       "\"filter\":\"tree\"}"));
	text = traced(&d, TRACE_EVENT,
		      "command=fetch|D|no-progress|want c4|"
		      "filter combine:tree:3+blob:none|deepen 2147483647|"
		      "done|F");
	assert_non_null(strstr(text, "\"depth\":2147483647,"));
	assert_non_null(strstr(text, "\"filter\":\"combine\"}"));
	text = traced(&d, TRACE_EVENT,
		      "command=fetch|D|no-progress|want c4|deepen-since 5|"
		      "deepen-not side|done|F");
	assert_non_null(strstr(text, "\"deepen-since\":true,"
				     "\"deepen-not\":1,"
				     "\"deepen-relative\":false,"
				     "\"filter\":null}"));
	dialog_release(&d);
}

/* Append "|want <id>" for a new blob. */
static void want_blob(struct dialog *d, struct buf *script, int nr)
{
	char text[8];

	snprintf(text, sizeof(text), "%d", nr);
	dialog_object(d, "new", OBJ_BLOB, text);
	buf_printf(script, "|want %s", dialog_hex(d, "new"));
	d->nr--;
}

/*
 * If a request has many wants, each want is first looked up among the wants of
 * prepared answers (stored responses). A want that is not found there must
 * still be found in the repository, or be refused.
 */
static void test_many_wants(void **state)
{
	struct buf script = BUF_INIT;
	struct dialog d;

	dialog_init(&d, HASH_SHA1);
	d.options.version = 2;
	buf_append_str(&script, "command=fetch|D|no-progress");
	for (int i = 0; i < 70; i++)
		want_blob(&d, &script, i);
	buf_append_str(&script, "|done|F");
	assert_memory_equal(dialog_answer(&d, script.data),
			    "packfile|1:PACK wants=", 22);
	assert_int_equal(d.ret, 0);
	script.len -= strlen("|done|F");
	buf_append_str(&script, "|want none|done|F");
	assert_string_equal(dialog_answer(&d, script.data),
			    "ERR upload-pack: not our ref none");
	buf_release(&script);
	dialog_release(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_take_line),
		cmocka_unit_test(test_parse_oid),
		cmocka_unit_test(test_ops),
		cmocka_unit_test(test_parents_count),
		cmocka_unit_test(test_missing_parent),
		cmocka_unit_test(test_many_wants),
		cmocka_unit_test(test_summary),
		cmocka_unit_test(test_fetch_info),
		cmocka_unit_test(test_refs_looked_at),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
