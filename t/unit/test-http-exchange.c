/* SPDX-License-Identifier: MIT */
/*
 * Tests of http/http-exchange.c, the state of one HTTP request. They prove that
 * errors give the right status, and that the configuration takes effect.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "http/http-exchange.h"
#include "t/unit/dialog.h"

/* An HTTP request to the repository of dialog.h. */
struct asked {
	struct dialog d;
	struct serve_io io;
	struct http_options options;
	struct http_exchange x;
	struct buf log;
};

static void write_log(void *ctx, const char *line)
{
	struct asked *a = ctx;

	assert_int_equal(buf_printf(&a->log, "%s\n", line), 0);
}

static void asked_init(struct asked *a)
{
	memset(a, 0, sizeof(*a));
	dialog_init(&a->d, HASH_SHA1);
	a->io = dialog_io(&a->d);
	buf_init(&a->log);
	a->options = (struct http_options){.log = write_log, .ctx = a};
	a->x = (struct http_exchange){
		.options = &a->options,
		.io = &a->io,
		.repo = &a->d.t.repo,
	};
	http_reply_init(&a->x.reply, &a->io, false);
}

static void asked_release(struct asked *a)
{
	http_reply_release(&a->x.reply);
	buf_release(&a->log);
	dialog_release(&a->d);
}

static void set(struct asked *a, const char *text)
{
	assert_int_equal(config_parse(&a->d.t.repo.config, text, strlen(text),
				      CONFIG_LOCAL, NULL, NULL, NULL),
			 0);
}

static void test_refuse(void **state)
{
	static const char start[] = "Status: 404 Not Found\r\n";
	struct asked a;

	asked_init(&a);
	assert_int_equal(http_reply_header(&a.x.reply, "Old", "1", NULL), 0);
	assert_int_equal(
		http_refuse(&a.x, "404 Not Found", NULL, "no %s", "file"), 0);
	assert_string_equal(a.log.data, "no file\n");
	assert_int_equal(strncmp(a.d.out.data, start, strlen(start)), 0);
	assert_null(strstr(a.d.out.data, "Old"));
	asked_release(&a);
}

static void test_defaults(void **state)
{
	struct asked a;

	asked_init(&a);
	assert_int_equal(http_configure(&a.x, NULL), 0);
	assert_int_equal(http_may_get_files(&a.x, NULL), 1);
	assert_true(a.x.upload_pack);
	assert_false(a.x.receive_pack);
	assert_false(a.x.upload_archive);
	assert_int_equal(a.x.request_buffer, 10 << 20);
	/* If the web server has authenticated a user, the user may push. */
	a.options.remote_user = "me";
	assert_int_equal(http_configure(&a.x, NULL), 0);
	assert_true(a.x.receive_pack);
	asked_release(&a);
}

static void test_keys(void **state)
{
	struct asked a;

	asked_init(&a);
	a.options.remote_user = "me";
	set(&a, "[http]\ngetanyfile = no\nuploadpack = no\n"
		"receivepack = no\nuploadarchive = yes\n"
		"maxrequestbuffer = 2k\n");
	assert_int_equal(http_configure(&a.x, NULL), 0);
	assert_int_equal(http_may_get_files(&a.x, NULL), 0);
	assert_false(a.x.upload_pack);
	assert_false(a.x.receive_pack);
	assert_true(a.x.upload_archive);
	assert_int_equal(a.x.request_buffer, 2048);
	a.options.max_request_buffer = "3k";
	assert_int_equal(http_configure(&a.x, NULL), 0);
	assert_int_equal(a.x.request_buffer, 3072);
	asked_release(&a);
}

/*
 * With gitreach.reachableOnly, files of the repository are not served: they may
 * hold objects that no ref reaches.
 */
static void test_no_files_with_a_limit(void **state)
{
	struct asked a;

	asked_init(&a);
	set(&a, "[http]\ngetanyfile = yes\n[gitreach]\nreachableonly\n");
	assert_int_equal(http_configure(&a.x, NULL), 0);
	assert_int_equal(http_may_get_files(&a.x, NULL), 0);
	asked_release(&a);
}

/*
 * gitreach.reachableOnly has an invalid value, so it is unknown whether clients
 * may only get reachable objects. Then no files are served.
 */
static void test_no_files_with_a_wrong_limit(void **state)
{
	struct asked a;

	asked_init(&a);
	set(&a, "[gitreach]\nreachableonly = perhaps\n");
	assert_int_equal(http_configure(&a.x, NULL), 0);
	assert_int_equal(http_may_get_files(&a.x, NULL), ERR_INVALID);
	asked_release(&a);
}

static void test_invalid(void **state)
{
	struct error err = ERROR_INIT;
	struct asked a;

	asked_init(&a);
	a.options.max_request_buffer = "many";
	assert_int_equal(http_configure(&a.x, &err), ERR_INVALID);
	assert_non_null(strstr(err.msg, "GIT_HTTP_MAX_REQUEST_BUFFER"));
	a.options.max_request_buffer = NULL;
	set(&a, "[http]\nuploadpack = perhaps\n");
	assert_true(http_configure(&a.x, &err) < 0);
	asked_release(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refuse),
		cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_keys),
		cmocka_unit_test(test_no_files_with_a_limit),
		cmocka_unit_test(test_no_files_with_a_wrong_limit),
		cmocka_unit_test(test_invalid),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
