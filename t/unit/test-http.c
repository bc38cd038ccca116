/* SPDX-License-Identifier: MIT */
/*
 * Tests of http/http.c, which answers a request of a Git client over HTTP. They
 * prove which HTTP status each failure has, and that dumb clients get files and
 * lists.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "base/mem.h"
#include "http/http.h"
#include "t/unit/dialog.h"

/*
 * A simulated web server, which serves the repository of dialog.h as
 * /srv/r.git.
 */
struct server {
	struct dialog d;
	struct http_options options;
	struct buf log;
	int entered;
};

static int enter(void *ctx, const char *path, const struct repo **repo,
		 struct error *err)
{
	struct server *s = ctx;

	s->entered++;
	if (!strcmp(path, "/srv/denied.git"))
		return error_set(err, ERR_DENIED, "dubious");
	if (strcmp(path, "/srv/r.git"))
		return error_set(err, ERR_MISSING, "none");
	*repo = &s->d.t.repo;
	return 0;
}

static void write_log(void *ctx, const char *line)
{
	struct server *s = ctx;

	buf_printf(&s->log, "%s\n", line);
}

static void server_init(struct server *s)
{
	memset(s, 0, sizeof(*s));
	dialog_init(&s->d, HASH_SHA1);
	buf_init(&s->log);
	s->options = (struct http_options){
		.request_method = "GET",
		.server_protocol = "HTTP/1.1",
		.project_root = "/srv",
		.export_all = true,
		.agent = "test/1",
		.enter = enter,
		.log = write_log,
		.ctx = s,
	};
}

static void server_release(struct server *s)
{
	dialog_release(&s->d);
	buf_release(&s->log);
}

/* Send a request for `url`. Returns the response, without carriage returns. */
static const char *ask(struct server *s, const char *method, const char *url,
		       const char *body)
{
	struct serve_io io = dialog_io(&s->d);
	char path[256];
	size_t len = strcspn(url, "?");
	char *to;

	snprintf(path, sizeof(path), "%.*s", (int)len, url);
	s->options.request_method = method;
	s->options.path_info = path;
	s->options.query_string = url[len] ? url + len + 1 : "";
	s->entered = 0;
	s->d.read = 0;
	buf_reset(&s->log);
	buf_reset(&s->d.in);
	buf_reset(&s->d.out);
	buf_append_str(&s->d.in, body ? body : "");
	s->d.ret = http_serve(&s->options, &io, NULL, &s->d.err);
	to = s->d.out.data;
	for (const char *from = to; *from; from++)
		if (*from != '\r')
			*to++ = *from;
	if (s->d.out.len)
		*to = '\0';
	return s->d.out.data;
}

static void assert_starts(const char *text, const char *start)
{
	if (strncmp(text, start, strlen(start)))
		assert_string_equal(text, start);
}

static void test_statuses(void **state)
{
	static const struct {
		const char *method, *url, *start, *log;
		int entered;
	} cases[] = {
		{"GET", "/r.git/HEAD", "Content-Length: 21\n", "", 1},
		{"GET", "/r.git/../r.git/HEAD", "Status: 500 ",
		 "fatal: '/r.git/../r.git/HEAD': aliased\n", 0},
		{"GET", "", "Status: 500 ",
		 "fatal: GIT_PROJECT_ROOT is set but PATH_INFO is not\n", 0},
		{NULL, "/r.git/HEAD", "Status: 500 ",
		 "fatal: No REQUEST_METHOD from server\n", 0},
		{"GET", "/r.git/config", "Status: 404 ",
		 "Request not supported: '/srv/r.git/config'\n", 0},
		{"GET", "/r.git/\033[31m", "Status: 404 ",
		 "Request not supported: '/srv/r.git/?[31m'\n", 0},
		{"POST", "/r.git/HEAD",
		 "Status: 405 Method Not Allowed\nAllow: GET, HEAD\n", "", 0},
		{"GET", "/r.git/git-upload-pack",
		 "Status: 405 Method Not Allowed\nAllow: POST\n", "", 0},
		{"GET", "/none.git/HEAD", "Status: 404 ",
		 "Not a git repository: '/srv/none.git'\n", 1},
		{"GET", "/denied.git/HEAD", "Status: 500 ", "fatal: dubious\n",
		 1},
		{"POST", "/r.git/git-upload-pack", "Status: 415 ", "", 1},
		{"POST", "/r.git/git-receive-pack", "Status: 403 ",
		 "Service not enabled: 'receive-pack'\n", 1},
		{"GET", "/r.git/info/refs?service=git-x", "Status: 403 ",
		 "Unsupported service: 'git-x'\n", 1},
		{"GET", "/r.git/objects/info/packs", "Expires: ", "", 1},
	};
	struct server s;

	server_init(&s);
	for (size_t i = 0; i < ARRAY_NR(cases); i++) {
		assert_starts(ask(&s, cases[i].method, cases[i].url, NULL),
			      cases[i].start);
		assert_string_equal(s.log.data, cases[i].log);
		assert_int_equal(s.entered, cases[i].entered);
		assert_int_equal(s.d.ret, 0);
	}
	s.options.server_protocol = NULL;
	assert_starts(ask(&s, "PUT", "/r.git/HEAD", NULL), "Status: 400 ");
	s.options.export_all = false;
	assert_starts(ask(&s, "GET", "/r.git/HEAD", NULL), "Status: 404 ");
	assert_string_equal(s.log.data,
			    "Repository not exported: '/srv/r.git'\n");
	server_release(&s);
}

static void test_translated(void **state)
{
	struct server s;

	server_init(&s);
	s.options.project_root = "";
	assert_starts(ask(&s, "GET", "/x", NULL), "Status: 500 ");
	s.options.path_translated = "/srv/r.git/HEAD";
	assert_starts(ask(&s, "GET", "/x", NULL), "Content-Length: 21\n");
	s.options.path_translated = "/srv/x/../r.git/HEAD";
	assert_starts(ask(&s, "GET", "/x", NULL), "Status: 500 ");
	server_release(&s);
}

/* ---- dumb clients */

/* Requests a file. The body of the response must be `expected`. */
static void assert_answer(struct server *s, const char *url,
			  const char *expected)
{
	const char *body = strstr(ask(s, "GET", url, NULL), "\n\n");

	assert_non_null(body);
	assert_string_equal(body + 2, expected);
}

/*
 * Requests HEAD in three states: a symbolic ref to a branch, an id (detached),
 * and a symbolic ref to an unborn branch.
 */
static void test_dumb_head(void **state)
{
	struct buf head = BUF_INIT;
	struct server s;

	server_init(&s);
	assert_answer(&s, "/r.git/HEAD", "ref: refs/heads/main\n");
	buf_printf(&head, "%s\n", dialog_hex(&s.d, "c2"));
	tmprepo_write(&s.d.t, "HEAD", head.data);
	assert_answer(&s, "/r.git/HEAD", head.data);
	tmprepo_write(&s.d.t, "HEAD", "ref: refs/heads/unborn\n");
	assert_answer(&s, "/r.git/HEAD", "");
	buf_release(&head);
	server_release(&s);
}

/*
 * Requests the lists of refs and packs. A ref that cannot be read does not
 * prevent the list of the other refs.
 */
static void test_dumb_lists(void **state)
{
	struct server s;
	const char *answer;

	server_init(&s);
	tmprepo_write(&s.d.t, "refs/heads/broken", "no id\n");
	answer = ask(&s, "GET", "/r.git/info/refs", NULL);
	assert_non_null(strstr(answer, "\nCache-Control: no-cache, "));
	assert_non_null(strstr(answer, "\trefs/heads/main\n"));
	assert_non_null(strstr(answer, "\trefs/hidden/h\n"));
	assert_non_null(strstr(answer, "\trefs/tags/v1^{}\n"));
	assert_null(strstr(answer, "broken"));
	assert_answer(&s, "/r.git/objects/info/packs", "\n");
	server_release(&s);
}

/*
 * Sets `url` to the path by which clients request the file of the loose object
 * `name`.
 */
static void url_of(char *url, size_t size, struct server *s, const char *name)
{
	const char *hex = dialog_hex(&s->d, name);

	snprintf(url, size, "/r.git/objects/%.2s/%s", hex, hex + 2);
}

static void test_dumb_files(void **state)
{
	static const char alternates[] = "/r.git/objects/info/alternates";
	struct server s;
	char url[128], length[64];
	const char *answer;
	uint64_t size;
	struct buf path = BUF_INIT;
	int fd;

	server_init(&s);
	url_of(url, sizeof(url), &s, "c4");
	buf_printf(&path, "%s%s", s.d.t.objects,
		   url + strlen("/r.git/objects"));
	fd = sys_open_read(path.data, &size, NULL);
	assert_true(fd >= 0);
	sys_close(fd);
	snprintf(length, sizeof(length), "\nContent-Length: %u\n",
		 (unsigned)size);
	answer = ask(&s, "HEAD", url, NULL);
	assert_non_null(strstr(answer, length));
	assert_non_null(strstr(answer, "\nCache-Control: public, max-age="));
	assert_non_null(strstr(answer, "application/x-git-loose-object\n"));
	assert_string_equal(strstr(answer, "\n\n"), "\n\n");
	ask(&s, "GET", url, NULL);
	assert_int_equal(s.d.ret, 0);
	/* The bytes of the file are at the end of the response. */
	assert_true(s.d.out.len > size);

	/*
	 * A file that does not exist, or that is no regular file, gets status
	 * 404.
	 */
	url_of(url, sizeof(url), &s, "none");
	assert_starts(ask(&s, "GET", url, NULL), "Status: 404 ");
	assert_starts(ask(&s, "GET", alternates, NULL), "Status: 404 ");
	buf_reset(&path);
	buf_printf(&path, "%s/info", s.d.t.objects);
	mkdir(path.data, 0700);
	buf_append_str(&path, "/alternates");
	assert_int_equal(mkfifo(path.data, 0600), 0);
	assert_starts(ask(&s, "GET", alternates, NULL), "Status: 404 ");
	assert_int_equal(unlink(path.data), 0);
	tmprepo_write(&s.d.t, "objects/info/alternates", "/other\n");
	assert_answer(&s, alternates, "/other\n");
	buf_release(&path);
	server_release(&s);
}

/*
 * A client may close the connection after any number of bytes. Each time, the
 * request must end with ERR_PEER.
 */
static void test_dumb_gone(void **state)
{
	static const char *const urls[] = {"/r.git/HEAD", "/r.git/info/refs",
					   "/r.git/objects/info/packs",
					   "/r.git/objects/info/alternates"};
	struct server s;

	server_init(&s);
	tmprepo_write(&s.d.t, "objects/info/alternates", "/other\n");
	for (size_t i = 0; i < ARRAY_NR(urls); i++) {
		size_t len;

		s.d.write_max = SIZE_MAX;
		ask(&s, "GET", urls[i], NULL);
		len = s.d.out.len;
		for (size_t max = 0; max < len; max += 13) {
			s.d.write_max = max;
			ask(&s, "GET", urls[i], NULL);
			assert_int_equal(s.d.ret, ERR_PEER);
		}
	}
	server_release(&s);
}

static void test_configured(void **state)
{
	struct server s;

	server_init(&s);
	dialog_config(&s.d, CONFIG_LOCAL,
		      "[http]\ngetAnyFile = no\nuploadPack = no\n");
	assert_starts(ask(&s, "GET", "/r.git/HEAD", NULL), "Status: 403 ");
	assert_string_equal(s.log.data, "Unsupported service: getanyfile\n");
	assert_starts(ask(&s, "GET", "/r.git/info/refs?service=git-upload-pack",
			  NULL),
		      "Status: 403 ");
	dialog_config(&s.d, CONFIG_LOCAL, "[http]\nreceivePack = maybe\n");
	assert_starts(ask(&s, "GET", "/r.git/HEAD", NULL), "Status: 500 ");
	server_release(&s);
}

static void test_smart(void **state)
{
	static const char done[] = "0000"
				   "0009done\n";
	struct buf want = BUF_INIT;
	const char *answer;
	struct server s;

	server_init(&s);
	answer = ask(&s, "GET", "/r.git/info/refs?service=git-upload-pack",
		     NULL);
	assert_non_null(strstr(answer, "\n\n001e# service=git-upload-pack\n"
				       "0000"));
	assert_non_null(strstr(answer, "Content-Type: application/"
				       "x-git-upload-pack-advertisement\n"));
	answer = ask(&s, "HEAD", "/r.git/info/refs?service=git-upload-pack",
		     NULL);
	assert_string_equal(strstr(answer, "\n\n"), "\n\n");

	/*
	 * If no byte of the response was sent, a malformed request still gets
	 * the status 400.
	 */
	s.options.content_type = "application/x-git-upload-pack-request";
	assert_starts(ask(&s, "POST", "/r.git/git-upload-pack", "00"),
		      "Status: 400 ");
	assert_int_equal(s.d.ret, 0);
	buf_printf(&want, "0032want %s\n%s", dialog_hex(&s.d, "none"), done);
	answer = ask(&s, "POST", "/r.git/git-upload-pack", want.data);
	assert_non_null(strstr(answer, "ERR upload-pack: not our ref"));
	s.options.max_request_buffer = "62";
	assert_starts(ask(&s, "POST", "/r.git/git-upload-pack", want.data),
		      "Status: 413 ");
	assert_true(s.d.read <= want.len);
	s.options.max_request_buffer = "many";
	assert_starts(ask(&s, "POST", "/r.git/git-upload-pack", want.data),
		      "Status: 500 ");
	buf_release(&want);
	server_release(&s);
}

/*
 * A client closes the connection after it has got a part of the response. The
 * request must end with ERR_PEER, whatever the length of this part.
 */
static void test_gone(void **state)
{
	struct server s;
	size_t len;

	server_init(&s);
	ask(&s, "GET", "/r.git/info/refs?service=git-upload-pack", NULL);
	len = s.d.out.len;
	for (size_t max = 0; max < len; max += 13) {
		s.d.write_max = max;
		ask(&s, "GET", "/r.git/info/refs?service=git-upload-pack",
		    NULL);
		assert_int_equal(s.d.ret, ERR_PEER);
	}
	server_release(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_statuses),
		cmocka_unit_test(test_translated),
		cmocka_unit_test(test_dumb_head),
		cmocka_unit_test(test_dumb_lists),
		cmocka_unit_test(test_dumb_files),
		cmocka_unit_test(test_dumb_gone),
		cmocka_unit_test(test_configured),
		cmocka_unit_test(test_smart),
		cmocka_unit_test(test_gone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
