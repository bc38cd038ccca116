/* SPDX-License-Identifier: MIT */
/*
 * Tests of serve/upload-pack.c, which serves fetches: each protocol version and
 * stateless requests get the right response, and errors end the session.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>

#include "sys/clock.h"
#include "t/unit/dialog.h"
#include "t/unit/nomem.h"

static void test_protocol_version(void **state)
{
	assert_int_equal(serve_protocol_version(NULL), 0);
	assert_int_equal(serve_protocol_version(""), 0);
	assert_int_equal(serve_protocol_version("version=2"), 2);
	assert_int_equal(serve_protocol_version("version=1"), 1);
	assert_int_equal(serve_protocol_version("version=0"), 0);
	assert_int_equal(serve_protocol_version("x:version=1:y=2"), 1);
	assert_int_equal(serve_protocol_version("version=1:version=2"), 2);
	assert_int_equal(serve_protocol_version("version=2:version=1"), 2);
	assert_int_equal(serve_protocol_version("version=3"), 0);
	assert_int_equal(serve_protocol_version("version=22"), 0);
	assert_int_equal(serve_protocol_version("version="), 0);
	assert_int_equal(serve_protocol_version(":::"), 0);
}

static void test_clone_by_version(void **state)
{
	struct dialog d;

	dialog_init(&d, HASH_SHA1);
	for (int version = 0; version <= 1; version++) {
		d.options.version = version;
		assert_string_equal(
			dialog_answer(&d, "want c4 ofs-delta|F|done"),
			"NAK|=PACK wants=c4 ofs progress");
		assert_int_equal(d.ret, 0);
	}
	d.options.version = 2;
	assert_string_equal(dialog_answer(&d, "command=fetch|D|want c4|"
					      "ofs-delta|done|F|F"),
			    "packfile|1:PACK wants=c4 ofs progress|"
			    "2:Total 0 (delta 0), reused 0 (delta 0), "
			    "pack-reused 0 (from 0)|F");
	assert_int_equal(d.ret, 0);
	dialog_release(&d);
}

static void test_sha256(void **state)
{
	struct dialog d;

	dialog_init(&d, HASH_SHA256);
	assert_string_equal(
		dialog_answer(&d, "want c4 object-format=sha256|F|done"),
		"NAK|=PACK wants=c4 progress");
	d.options.version = 2;
	assert_non_null(strstr(dialog_run(&d, "F"), "|object-format=sha256|"));
	assert_string_equal(dialog_answer(&d, "command=fetch|D|want c4|F"),
			    "ERR mismatched object format: server sha256; "
			    "client sha1");
	assert_string_equal(dialog_answer(&d, "command=fetch|"
					      "object-format=sha256|D|want c4|"
					      "no-progress|done|F"),
			    "packfile|1:PACK wants=c4|F");
	dialog_release(&d);
}

static void test_advertise_only(void **state)
{
	struct dialog d;
	const char *text;

	dialog_init(&d, HASH_SHA1);
	d.options.advertise_only = true;
	d.options.stateless_rpc = true;
	text = dialog_run(&d, "want c4|F");
	assert_non_null(strstr(text, "c4 HEAD~multi_ack "));
	assert_non_null(strstr(text, " no-done "));
	assert_int_equal(d.read, 0);
	d.options.version = 2;
	text = dialog_run(&d, "command=ls-refs|F");
	assert_memory_equal(text, "version 2|agent=test/1|", 23);
	assert_int_equal(d.read, 0);
	dialog_release(&d);
}

static void test_stateless_v2_is_one_request(void **state)
{
	struct dialog d;

	dialog_init(&d, HASH_SHA1);
	d.options.version = 2;
	d.options.stateless_rpc = true;
	assert_string_equal(dialog_run(&d, "command=ls-refs|D|ref-prefix HEAD|"
					   "F|command=ls-refs|F"),
			    "c4 HEAD|F");
	d.options.stateless_rpc = false;
	assert_string_equal(
		dialog_answer(&d, "command=ls-refs|D|ref-prefix HEAD|F|"
				  "command=ls-refs|D|ref-prefix HEAD|F|F"),
		"c4 HEAD|F|c4 HEAD|F");
	dialog_release(&d);
}

/* A client gets only the errors of its own request, and each of them once. */
static void test_errors(void **state)
{
	struct dialog d;

	dialog_init(&d, HASH_SHA1);
	assert_string_equal(dialog_answer(&d, "want none|F|done"),
			    "ERR upload-pack: not our ref none");
	assert_int_equal(d.ret, ERR_PEER);
	assert_string_equal(dialog_answer(&d, "=zzzz"),
			    "ERR protocol error: bad line length character: "
			    "zzzz");
	assert_string_equal(dialog_answer(&d, "want c4|F"), "");
	assert_int_equal(d.ret, ERR_PEER);
	assert_string_equal(d.err.msg, "the remote end hung up unexpectedly");
	tmprepo_write(&d.t, "HEAD", "nonsense\n");
	dialog_run(&d, "F");
	assert_int_equal(d.ret, 0);
	assert_true(d.warnings.len > 0);
	dialog_release(&d);
}

static void test_broken_output(void **state)
{
	struct dialog d;

	dialog_init(&d, HASH_SHA1);
	for (d.write_max = 0; d.write_max < 2000; d.write_max += 50) {
		dialog_run(&d, "want c4|F|done");
		assert_true(d.ret == 0 || d.ret == ERR_PEER);
	}
	assert_int_equal(d.ret, 0);
	d.write_max = 10;
	dialog_run(&d, "want c4|F|done");
	assert_int_equal(d.ret, ERR_PEER);
	assert_string_equal(d.err.msg, "broken pipe");
	dialog_release(&d);
}

/*
 * The request arrives in pieces of any size. The response must always be the
 * same.
 */
static void test_pieces(void **state)
{
	static const char script[] =
		"want c4 multi_ack_detailed|F|have none|have c1|F|have c2|F|"
		"done";
	struct dialog d;
	char *whole;

	dialog_init(&d, HASH_SHA1);
	whole = strdup(dialog_run(&d, script));
	assert_int_equal(d.ret, 0);
	for (d.chunk = 1; d.chunk < 60; d.chunk += 7)
		assert_string_equal(dialog_run(&d, script), whole);
	free(whole);
	dialog_release(&d);
}

/* The results of all requests of a session. */
struct results {
	unsigned nr, failed_nr;
	uint64_t sent, received;
	enum error_code code;
};

static void note(void *ctx, const struct summary *s, const struct error *error)
{
	struct results *r = ctx;

	r->nr++;
	r->failed_nr += error != NULL;
	r->code = error ? error->code : 0;
	r->sent += s->numbers[SUMMARY_BYTES_SENT];
	r->received += s->numbers[SUMMARY_BYTES_RECEIVED];
}

/*
 * The callback gets the results of each request once. The byte counts of all
 * requests add up to the number of bytes of the whole connection.
 */
static void test_results(void **state)
{
	struct results r = {.nr = 0};
	const struct summary_about about = {.done = note, .ctx = &r};
	struct dialog d;

	dialog_init(&d, HASH_SHA1);
	d.options.about = &about;
	d.options.version = 2;
	dialog_run(&d, "command=ls-refs|F|"
		       "command=fetch|D|want c4|no-progress|done|F");
	assert_int_equal(d.ret, 0);
	/* The advertisement of refs counts as a request, too. */
	assert_int_equal(r.nr, 3);
	assert_int_equal(r.failed_nr, 0);
	assert_int_equal(r.sent, d.out.len);
	assert_int_equal(r.received, d.in.len);
	r = (struct results){.nr = 0};
	d.options.version = 0;
	dialog_run(&d, "want none|F|done");
	assert_int_equal(r.nr, 2);
	assert_int_equal(r.failed_nr, 1);
	assert_int_equal(r.code, ERR_PEER);
	dialog_release(&d);
}

static unsigned write_nr;

static int count_writev(void *ctx, struct iovec *iov, size_t nr,
			struct error *err)
{
	write_nr++;
	return dialog_writev(ctx, iov, nr, err);
}

/* If the client has all wanted objects, one write sends the whole response. */
static void test_tiny_answer(void **state)
{
	struct dialog d;
	struct serve_io io;

	dialog_init(&d, HASH_SHA1);
	io = dialog_io(&d);
	io.writev = count_writev;
	d.options.version = 2;
	d.options.stateless_rpc = true;
	dialog_script(&d, "command=fetch|D|want c4|have c4|no-progress|done|F");
	write_nr = 0;
	assert_int_equal(serve_upload_pack(&d.options, &io, NULL), 0);
	assert_int_equal(write_nr, 1);
	dialog_transcribe(&d);
	assert_string_equal(d.text.data, "packfile|1:PACK haves=c4|F");
	dialog_release(&d);
}

/* Serves a script. Returns the events of the trace. */
static const char *traced(struct dialog *d, const char *script)
{
	static char text[16384];
	struct trace trace;
	int fds[2];
	ssize_t n;

	assert_int_equal(pipe2(fds, O_NONBLOCK), 0);
	trace_init(&trace, "me", sys_clock_ns());
	trace.files[TRACE_EVENT] = (struct trace_file){fds[1], true};
	d->t.repo.trace = &trace;
	dialog_run(d, script);
	d->t.repo.trace = NULL;
	n = read(fds[0], text, sizeof(text) - 1);
	text[n > 0 ? n : 0] = '\0';
	trace_release(&trace);
	close(fds[0]);
	return text;
}

/* The trace has the version of the protocol, and the error of a session. */
static void test_trace(void **state)
{
	struct dialog d;
	const char *text;

	dialog_init(&d, HASH_SHA1);
	d.options.version = 2;
	text = traced(&d, "F");
	assert_non_null(strstr(text, "\"key\":\"negotiated-version\","
				     "\"value\":\"2\""));
	assert_null(strstr(text, "\"event\":\"error\""));
	d.options.version = 0;
	text = traced(&d, "want none|F|done");
	assert_non_null(strstr(text, "\"key\":\"negotiated-version\","
				     "\"value\":\"0\""));
	text = strstr(text, "\"event\":\"error\"");
	assert_non_null(text);
	assert_non_null(strstr(text, "not our ref"));
	dialog_release(&d);
}

/*
 * Replaces packing_send(). Makes a pack without allocating memory. Returns 0 or
 * a negative error code.
 */
static int put_pack(void *ctx, const struct odb *odb,
		    const struct packing_request *r,
		    const struct packing_send_options *options,
		    struct pack_sink sink, struct packing_report *report,
		    struct error *err)
{
	memset(report, 0, sizeof(*report));
	return sink.put(sink.ctx, "PACK", 4, err);
}

static const char *script_now;

static void rewind_dialog(void *ctx)
{
	struct dialog *d = ctx;

	dialog_script(d, script_now);
	d->read = 0;
	buf_reset(&d->out);
	/*
	 * The buffer is larger than any response, so that dialog_writev()
	 * allocates no memory.
	 */
	assert_int_equal(buf_reserve(&d->out, 4096), 0);
}

static int serve_again(void *ctx, struct error *err)
{
	struct dialog *d = ctx;
	struct serve_io io = dialog_io(d);

	return serve_upload_pack(&d->options, &io, err);
}

static void check_answer(void *ctx)
{
	struct dialog *d = ctx;
	char *got;

	dialog_transcribe(d);
	got = strdup(d->text.data);
	assert_non_null(got);
	assert_string_equal(got, dialog_run(d, script_now));
	free(got);
}

/*
 * If memory runs out, a request fails, or its response is the same. The
 * requests have no haves: a have that cannot be looked up for lack of memory
 * counts as unknown.
 */
static void test_no_memory(void **state)
{
	static const struct {
		int version;
		const char *script;
	} cases[] = {
		{0, "want c4 multi_ack_detailed include-tag|want s0|F|done"},
		{0, "want c4 shallow|deepen 2|F|done"},
		{2, "command=ls-refs|D|peel|symrefs|ref-prefix refs/|"
		    "ref-prefix HEAD|F|F"},
		{2, "command=fetch|D|no-progress|include-tag|want c4|"
		    "want-ref refs/heads/side|done|F|F"},
		{2, "command=fetch|D|no-progress|want c4|want v1|shallow c1|"
		    "deepen 2|filter blob:none|done|F|F"},
		{2, "command=fetch|promisor-remote=b|D|no-progress|want c4|"
		    "done|F|F"},
	};
	struct dialog d;

	dialog_init(&d, HASH_SHA1);
	d.options.make_pack = put_pack;
	dialog_config(&d, CONFIG_LOCAL,
		      "[promisor]\nadvertise\n"
		      "[remote \"b\"]\npromisor\nurl = https://b/x\n"
		      "[uploadpack]\nallowFilter\nallowRefInWant\n"
		      "[transfer]\nhideRefs = refs/hidden\n");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		d.options.version = cases[i].version;
		script_now = cases[i].script;
		nomem_each(rewind_dialog, serve_again, check_answer, &d);
	}
	dialog_release(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_protocol_version),
		cmocka_unit_test(test_clone_by_version),
		cmocka_unit_test(test_sha256),
		cmocka_unit_test(test_advertise_only),
		cmocka_unit_test(test_stateless_v2_is_one_request),
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_broken_output),
		cmocka_unit_test(test_pieces),
		cmocka_unit_test(test_results),
		cmocka_unit_test(test_tiny_answer),
		cmocka_unit_test(test_trace),
		cmocka_unit_test(test_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
