/* SPDX-License-Identifier: MIT */
/*
 * Tests of receive/receive-config.c, the configuration of receive-pack:
 * defaults, precedence, and malformed values.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "receive/receive.h"

static int load(struct receive_config *c, const char *text)
{
	struct config config = CONFIG_INIT;
	int ret;

	assert_int_equal(config_parse(&config, text, strlen(text), CONFIG_LOCAL,
				      NULL, NULL, NULL),
			 0);
	ret = receive_config_load(c, &config, NULL);
	config_release(&config);
	return ret;
}

static void test_defaults(void **state)
{
	struct receive_config c;

	assert_int_equal(load(&c, ""), 0);
	assert_true(c.advertise_atomic && c.ofs_delta && c.auto_gc);
	assert_false(c.deny_deletes || c.deny_non_ff || c.push_options);
	assert_false(c.shallow_update || c.server_info || c.advertise_sid);
	assert_int_equal(c.deny_current, RECEIVE_DENY_DEFAULT);
	assert_int_equal(c.unpack_limit, 100);
	assert_int_equal(c.keep_alive, 5);
	assert_int_equal(c.max_len, 0);
}

static void test_limits(void **state)
{
	struct receive_config c;

	assert_int_equal(load(&c, "[transfer]\nunpackLimit = 7\n"), 0);
	assert_int_equal(c.unpack_limit, 7);
	assert_int_equal(load(&c, "[receive]\nunpackLimit = 3\n"
				  "[transfer]\nunpackLimit = 7\n"),
			 0);
	assert_int_equal(c.unpack_limit, 3);
	assert_int_equal(load(&c, "[receive]\nmaxInputSize = 1k\n"
				  "keepAlive = 0\n"),
			 0);
	assert_int_equal(c.max_len, 1024);
	assert_int_equal(c.keep_alive, 0);
}

static void test_fsck(void **state)
{
	struct receive_config c;

	assert_int_equal(load(&c, "[transfer]\nfsckObjects\n"), 0);
	assert_true(c.fsck_objects);
	assert_int_equal(load(&c, "[receive]\nfsckObjects = false\n"
				  "[transfer]\nfsckObjects\n"),
			 0);
	assert_false(c.fsck_objects);
}

static void test_deny(void **state)
{
	static const struct {
		const char *text;
		enum receive_deny deny;
	} cases[] = {
		{"= ignore", RECEIVE_DENY_IGNORE},
		{"= false", RECEIVE_DENY_IGNORE},
		{"= WARN", RECEIVE_DENY_WARN},
		{"= refuse", RECEIVE_DENY_REFUSE},
		{"= true", RECEIVE_DENY_REFUSE},
		{"", RECEIVE_DENY_REFUSE},
		{"= updateInstead", RECEIVE_DENY_UPDATE_INSTEAD},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct receive_config c;
		char text[80];

		snprintf(text, sizeof(text),
			 "[receive]\ndenyCurrentBranch %s\n", cases[i].text);
		assert_int_equal(load(&c, text), 0);
		assert_int_equal(c.deny_current, cases[i].deny);
	}
}

static void test_refused(void **state)
{
	struct receive_config c;

	assert_int_equal(load(&c, "[receive]\ndenyDeletes = maybe\n"),
			 ERR_INVALID);
	assert_int_equal(load(&c, "[receive]\ndenyCurrentBranch = maybe\n"),
			 ERR_INVALID);
	assert_int_equal(load(&c, "[receive]\nunpackLimit = x\n"), ERR_INVALID);
	assert_int_equal(load(&c, "[receive]\ncertNonceSlop = x\n"),
			 ERR_INVALID);
	receive_config_release(&c);
	assert_int_equal(load(&c, "[receive]\nprocReceiveRefs\n"), ERR_INVALID);
	receive_config_release(&c);
}

static void test_proc_refs(void **state)
{
	static const struct {
		const char *prefix;
		bool creates, changes, deletes, is_negated;
	} want[] = {
		{"refs/for", true, true, true, false},
		{"refs/x", true, false, true, false},
		{"refs/y", false, true, false, true},
		{"refs/z", false, false, false, false},
	};
	struct receive_config c;

	assert_int_equal(load(&c, "[receive]\nprocReceiveRefs = refs/for//\n"
				  "procReceiveRefs = ad:refs/x\n"
				  "procReceiveRefs = !m:refs/y/\n"
				  "procReceiveRefs = :refs/z\n"),
			 0);
	assert_int_equal(c.proc_ref_nr, 4);
	for (size_t i = 0; i < 4; i++) {
		const struct receive_proc_ref *p = &c.proc_refs[i];

		assert_string_equal(p->prefix, want[i].prefix);
		assert_int_equal(p->creates, want[i].creates);
		assert_int_equal(p->changes, want[i].changes);
		assert_int_equal(p->deletes, want[i].deletes);
		assert_int_equal(p->is_negated, want[i].is_negated);
	}
	receive_config_release(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_fsck),
		cmocka_unit_test(test_deny),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_proc_refs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
