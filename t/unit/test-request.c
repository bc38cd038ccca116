/* SPDX-License-Identifier: MIT */
/* Tests of serve/request.c: the lines of a request. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

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
	assert_int_equal(take(&f, "deepen-since", "77"), 1);
	assert_int_equal(f.req.since, 77);
	assert_int_equal(take(&f, "deepen-since", "7 7"), ERR_PEER);
	assert_int_equal(take(&f, "deepen-not", "main"), 1);
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
	/* The wants were loaded once. */
	assert_int_equal(f.req.want_tips.commit_nr, 2);
	stop(&f);
}

/*
 * A client that has a commit also has its parents. Here s0 forked at c1, the
 * parent of a have.
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

/* A have that no ref reaches may lack its parents. */
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_take_line),
		cmocka_unit_test(test_parse_oid),
		cmocka_unit_test(test_ops),
		cmocka_unit_test(test_parents_count),
		cmocka_unit_test(test_missing_parent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
