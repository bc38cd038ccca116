/* SPDX-License-Identifier: MIT */
/*
 * Tests of generations/passing.h, the message by which a change goes to another
 * process. They prove that a printed change can be parsed, and that wrong
 * messages are refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "generations/passing.h"

static const struct generation_ref_change refs[] = {
	{"refs/heads/new", NULL, "1"},
	{"refs/heads/old", "2", NULL},
	{"refs/heads/both", "3", "4"},
};

static struct generation_upload make_upload(void)
{
	struct generation_upload up = {
		.file = {.path = (char *)"objects/pack/pack-1.pack",
			 .size = UINT64_C(1) << 40,
			 .is_executable = true},
		.local_path = "/tmp/x",
	};

	memset(up.file.sha256, 7, sizeof(up.file.sha256));
	return up;
}

static struct generation_change make_change(const struct generation_upload *up)
{
	return (struct generation_change){
		.node = "node",
		.user = "user",
		.action = "push",
		.seen = 9,
		.session_ns = 1000,
		.uploads = up,
		.upload_nr = 1,
		.refs = refs,
		.ref_nr = 3,
	};
}

static const struct generation_session session = {.upload = {1, 2, 3},
						  .seen_token = {4, 5},
						  .start_ns = 77,
						  .start_time = -5};

static void assert_text(const char *got, const char *expected)
{
	if (expected)
		assert_string_equal(got, expected);
	else
		assert_null(got);
}

static void test_round_trip(void **state)
{
	const struct generation_upload up = make_upload();
	const struct generation_change change = make_change(&up);
	struct generation_passed p;
	struct buf m = BUF_INIT;
	struct cursor c;

	assert_int_equal(
		generation_passed_print(&m, "a/b.git", &change, &session, NULL),
		0);
	c = cursor_make(m.data, m.len);
	assert_int_equal(generation_passed_parse(&p, &c, NULL), 0);
	assert_string_equal(p.repository, "a/b.git");
	assert_string_equal(p.change.node, "node");
	assert_string_equal(p.change.user, "user");
	assert_string_equal(p.change.action, "push");
	assert_int_equal(p.change.seen, 9);
	assert_int_equal(p.change.session_ns, 1000);
	assert_memory_equal(p.session.upload, session.upload,
			    sizeof(session.upload));
	assert_memory_equal(p.session.seen_token, session.seen_token,
			    sizeof(session.seen_token));
	assert_int_equal(p.session.start_ns, 77);
	assert_int_equal(p.session.start_time, -5);
	assert_int_equal(p.change.upload_nr, 1);
	assert_string_equal(p.change.uploads[0].file.path, up.file.path);
	assert_int_equal(p.change.uploads[0].file.size, up.file.size);
	assert_true(p.change.uploads[0].file.is_executable);
	assert_memory_equal(p.change.uploads[0].file.sha256, up.file.sha256,
			    sizeof(up.file.sha256));
	assert_int_equal(p.change.ref_nr, 3);
	for (size_t i = 0; i < 3; i++) {
		assert_string_equal(p.change.refs[i].ref, refs[i].ref);
		assert_text(p.change.refs[i].before, refs[i].before);
		assert_text(p.change.refs[i].after, refs[i].after);
	}
	generation_passed_release(&p);
	/*
	 * A message without its last bytes, and a message with one more byte,
	 * are refused.
	 */
	for (size_t len = 0; len < m.len; len++) {
		c = cursor_make(m.data, len);
		assert_int_equal(generation_passed_parse(&p, &c, NULL),
				 ERR_PEER);
		generation_passed_release(&p);
	}
	c = cursor_make(m.data, m.len + 1);
	assert_int_equal(generation_passed_parse(&p, &c, NULL), ERR_PEER);
	generation_passed_release(&p);
	buf_release(&m);
}

/*
 * Only changes of pushes can be passed to another process. A change is refused
 * if only a repack or an import can make it: it drops objects or files, or
 * replaces tables.
 */
static void test_other_changes(void **state)
{
	struct generation_upload up = make_upload();
	struct generation_change change = make_change(&up);
	struct buf m = BUF_INIT;

	change.drops_objects = true;
	assert_int_equal(
		generation_passed_print(&m, "r", &change, &session, NULL),
		ERR_INVALID);
	change = make_change(&up);
	change.drops = &up.file;
	change.drop_nr = 1;
	assert_int_equal(
		generation_passed_print(&m, "r", &change, &session, NULL),
		ERR_INVALID);
	change = make_change(&up);
	change.tables_up_to = 3;
	assert_int_equal(
		generation_passed_print(&m, "r", &change, &session, NULL),
		ERR_INVALID);
	assert_int_equal(m.len, 0);
	buf_release(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_other_changes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
