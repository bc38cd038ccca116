/* SPDX-License-Identifier: MIT */
/*
 * Tests of daemon/place.c, which finds the repository that the path of a
 * request names: on the local disk, or in a store, with and without an access
 * helper.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "daemon/conn.h"
#include "daemon/place.h"
#include "t/unit/copynode.h"

/* A server whose store has the repository "team/src.git", and no other one. */
struct server {
	struct copynode c;
	struct stored_copies *copies;
	struct countstore count;
	char log[1024]; /* the last line */
	struct daemon_options options;
	struct daemon_conn conn;
	struct access_answer answer;
};

static void keep_line(void *ctx, const char *line)
{
	struct server *s = ctx;

	snprintf(s->log, sizeof(s->log), "%s", line);
}

static void start(struct server *s)
{
	struct stored_copies_options options;
	struct stored_node *node;

	memset(s, 0, sizeof(*s));
	copynode_init(&s->c);
	copynode_push(&s->c, "two");
	options = (struct stored_copies_options){
		.dir = s->c.node->dir, .origin = copynode_origin(&s->c)};
	assert_int_equal(stored_copies_open(&s->copies, &options, &s->c.err),
			 0);
	node = stored_copies_node(s->copies);
	node->store = countstore_init(&s->count, node->store);
	s->options.log = keep_line;
	s->options.log_ctx = s;
	s->conn.copies = s->copies;
}

static void stop(struct server *s)
{
	access_answer_release(&s->answer);
	access_helper_free(s->conn.helper);
	stored_copies_close(s->copies);
	copynode_release(&s->c);
}

/* Starts the access helper: a program that sh runs. */
static void ask_helper(struct server *s, const char *command)
{
	s->conn.helper = access_helper_new(command, 5000);
	assert_non_null(s->conn.helper);
}

/*
 * Looks for the repository at `path`. If one is found, it must be the local
 * copy of "team/src.git". Returns the result of daemon_place_find().
 */
static int find(struct server *s, const char *path, bool strict,
		struct error *err)
{
	struct daemon_place place = {.path = NULL};
	struct daemon_inquiry inquiry = {.question = {.user = "",
						      .service = "upload-pack",
						      .protocol = "http",
						      .address = ""},
					 .answer = &s->answer};
	int ret = daemon_place_find(&place, &s->options, &s->conn, path,
				    strlen(path), strict,
				    s->conn.helper ? &inquiry : NULL, err);

	if (ret)
		assert_null(place.path);
	else
		assert_string_equal(place.path,
				    netrepo_path(&s->c.s.n, COPYNODE_COPY));
	daemon_place_release(&place);
	assert_null(place.path);
	assert_null(place.use.copy);
	return ret;
}

/*
 * Without a store, the path of a request is appended to the base path. The disk
 * is not read.
 */
static void test_disk(void **state)
{
	const struct daemon_options options = {.base_path = "/no/such/base"};
	const struct daemon_conn conn = {.copies = NULL};
	struct daemon_place place = {.path = NULL};

	assert_int_equal(daemon_place_find(&place, &options, &conn,
					   "/a.git/info/refs", 6, false, NULL,
					   NULL),
			 0);
	assert_string_equal(place.path, "/no/such/base/a.git");
	daemon_place_release(&place);
	assert_null(place.path);
}

/* The name of a repository in a store is the path without slashes at its ends.
 */
static void test_names(void **state)
{
	struct error err = ERROR_INIT;
	struct server s;

	start(&s);
	assert_int_equal(find(&s, "/team/src.git", false, &err), 0);
	assert_int_equal(find(&s, "//team/src.git//", true, &err), 0);
	assert_int_equal(find(&s, "/team/src", false, &err), 0);
	/* A strict path must name the repository with its suffix ".git". */
	assert_int_equal(find(&s, "/team/src", true, &err), ERR_MISSING);
	assert_string_equal(err.msg, "no such repository in the store");
	assert_int_equal(find(&s, "/team/other.git", false, &err), ERR_MISSING);
	/* No repository of a store can have these names. */
	assert_int_equal(find(&s, "/", false, &err), ERR_MISSING);
	assert_int_equal(find(&s, "/../team/src.git", false, &err),
			 ERR_MISSING);
	assert_string_equal(s.log, "");
	stop(&s);
}

/*
 * If the store does not answer, the log has the reason. The client learns only
 * that the repository cannot be served.
 */
static void test_store_is_down(void **state)
{
	struct error err = ERROR_INIT;
	struct server s;

	start(&s);
	s.count.is_down = true;
	assert_true(find(&s, "/team/src.git", false, &err) < 0);
	assert_string_equal(err.msg, "the repository cannot be served now");
	assert_non_null(strstr(s.log, "team/src.git: cannot be served from "
				      "the store: "));
	assert_non_null(strstr(s.log, "the store is down"));
	stop(&s);
}

/*
 * The store gets no request about a repository to which the access helper (an
 * external program) denies access.
 */
static void test_denied(void **state)
{
	struct error err = ERROR_INIT;
	struct server s;

	start(&s);
	ask_helper(&s, "while read -r line; do echo deny; done");
	assert_int_equal(find(&s, "/team/src.git", true, &err), ERR_DENIED);
	assert_string_equal(err.msg, "access denied");
	assert_int_equal(find(&s, "/team/src", false, &err), ERR_DENIED);
	assert_int_equal(s.count.requests, 0);
	stop(&s);
}

/*
 * The access helper (an external program) denies "/team/src" and allows
 * "/team/src.git". The path "/team/src" then means the longer name, because the
 * store has no repository "team/src".
 */
static void test_longer_name(void **state)
{
	struct error err = ERROR_INIT;
	struct server s;

	start(&s);
	ask_helper(&s, "while read -r line; do case $line in "
		       "*src.git*) echo allow hide=refs/x;; *) echo deny;; "
		       "esac; done");
	assert_int_equal(find(&s, "/team/src", false, &err), 0);
	assert_true(s.answer.is_allowed);
	assert_string_equal(s.answer.hidden.data, "refs/x");
	assert_int_equal(find(&s, "/team/src", true, &err), ERR_DENIED);
	stop(&s);
}

/* An access helper that ends without an answer denies the request. */
static void test_silent_helper(void **state)
{
	struct error err = ERROR_INIT;
	struct server s;

	start(&s);
	ask_helper(&s, "read -r line");
	assert_int_equal(find(&s, "/team/src.git", false, &err), ERR_PEER);
	assert_string_equal(err.msg, "service unavailable");
	assert_int_equal(s.count.requests, 0);
	stop(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_disk),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_store_is_down),
		cmocka_unit_test(test_denied),
		cmocka_unit_test(test_longer_name),
		cmocka_unit_test(test_silent_helper),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
