/* SPDX-License-Identifier: MIT */
/*
 * Tests of daemon/tls.c, TLS connections: invalid certificate files are
 * refused, and clients that do not speak TLS get an error.
 * t/t5580-gitreachd-tls.sh tests with real clients.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "daemon/stream.h"
#include "daemon/tls.h"

static const char certificate[] =
	"-----BEGIN CERTIFICATE-----\n"
	"MIIBdTCCARugAwIBAgIUUxUsANazU32drUVHghI7IawZ7KcwCgYIKoZIzj0EAwIw\n"
	"DzENMAsGA1UEAwwEdGVzdDAgFw0yNjExMjMxOTE0NThaGA8yMDgxMDgyNjE5MTQ1\n"
	"OFowDzENMAsGA1UEAwwEdGVzdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABG+f\n"
	"3aEfiT4NH2M6J86bX3RhfHY0gOBD5G+E+CoDwUvMRYiLTg/SiQhOmBd7n14H5Kxy\n"
	"q05nGahLnR+wmLoxe7yjUzBRMB0GA1UdDgQWBBTXpB0oaCHpqX3Z8mOhijeqWUNZ\n"
	"AzAfBgNVHSMEGDAWgBTXpB0oaCHpqX3Z8mOhijeqWUNZAzAPBgNVHRMBAf8EBTAD\n"
	"AQH/MAoGCCqGSM49BAMCA0gAMEUCIFUcO+JNu2phcDnzWVFoAj2rzgcE3spl0dff\n"
	"xWhJitKdAiEA2llT2UsFuKD5FCChVrZrc7Bndos1EMVnVBdhlvBg/Eg=\n"
	"-----END CERTIFICATE-----\n";
static const char key[] =
	"-----BEGIN PRIVATE KEY-----\n"
	"MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQghTY3SLzpYjjoavTC\n"
	"L+eWBrDdrDhf2U3BpQ/w3Wq7ot2hRANCAARvn92hH4k+DR9jOifOm190YXx2NIDg\n"
	"Q+RvhPgqA8FLzEWIi04P0okITpgXe59eB+SscqtOZxmoS50fsJi6MXu8\n"
	"-----END PRIVATE KEY-----\n";

struct state {
	char dir[32], file[64], other[64];
	struct tls *tls;
	struct daemon_stream stream;
	int peer;
};

static void put(const char *path, const char *text, const char *more)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fprintf(f, "%s%s", text, more);
	fclose(f);
}

static int setup(void **state)
{
	struct state *s = calloc(1, sizeof(*s));
	bool is_key;
	int fds[2];

	*state = s;
	strcpy(s->dir, "/tmp/test-tls-XXXXXX");
	if (!mkdtemp(s->dir) ||
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds) < 0)
		return -1;
	snprintf(s->file, sizeof(s->file), "%s/both", s->dir);
	snprintf(s->other, sizeof(s->other), "%s/other", s->dir);
	put(s->file, certificate, key);
	if (tls_open(&s->tls, s->file, s->file, &is_key, NULL) < 0)
		return -1;
	daemon_stream_init(&s->stream, fds[0]);
	s->peer = fds[1];
	return !daemon_stream_encrypt(&s->stream, s->tls);
}

static int teardown(void **state)
{
	struct state *s = *state;

	daemon_stream_release(&s->stream);
	tls_close(s->tls);
	close(s->peer);
	unlink(s->file);
	unlink(s->other);
	rmdir(s->dir);
	free(s);
	return 0;
}

static void test_files(void **state)
{
	struct state *s = *state;
	struct error err = ERROR_INIT;
	struct tls *tls;
	bool is_key;

	assert_int_equal(tls_open(&tls, "/no/such", s->file, &is_key, &err),
			 ERR_INVALID);
	assert_false(is_key);
	assert_non_null(strstr(err.msg, "cannot open '/no/such'"));
	assert_int_equal(tls_open(&tls, s->file, "/no/such", &is_key, &err),
			 ERR_INVALID);
	assert_true(is_key);
	put(s->other, key, "");
	assert_int_equal(tls_open(&tls, s->other, s->file, &is_key, &err),
			 ERR_INVALID);
	assert_false(is_key);
	put(s->other, certificate, "");
	assert_int_equal(tls_open(&tls, s->file, s->other, &is_key, &err),
			 ERR_INVALID);
	assert_true(is_key);
}

static void test_waits(void **state)
{
	struct state *s = *state;
	enum tls_wait wait;

	assert_int_equal(daemon_stream_handshake(&s->stream, &wait, NULL), 0);
	assert_int_equal(wait, TLS_INPUT);
	assert_false(daemon_stream_has_bytes(&s->stream));
	assert_int_equal(write(s->peer, "\026\003\001", 3), 3);
	assert_int_equal(daemon_stream_handshake(&s->stream, &wait, NULL), 0);
	assert_int_equal(wait, TLS_INPUT);
}

static void test_plain_http(void **state)
{
	struct state *s = *state;
	struct iovec iov = {(char *)"400", 3};
	struct error err = ERROR_INIT;
	enum tls_wait wait;
	char bytes[8];

	assert_int_equal(write(s->peer, "GET / HTTP/1.1\r\n", 16), 16);
	assert_int_equal(daemon_stream_handshake(&s->stream, &wait, &err),
			 ERR_UNSUPPORTED);
	assert_int_equal(daemon_stream_try_writev(&s->stream, &iov, 1), 3);
	assert_int_equal(read(s->peer, bytes, 8), 3);
	assert_memory_equal(bytes, "400", 3);
}

static void test_no_tls(void **state)
{
	struct state *s = *state;
	struct error err = ERROR_INIT;
	enum tls_wait wait;

	assert_int_equal(write(s->peer, "0123456789abcdef", 16), 16);
	assert_int_equal(daemon_stream_handshake(&s->stream, &wait, &err),
			 ERR_PEER);
	assert_memory_equal(err.msg, "TLS: ", 5);
}

static void test_end(void **state)
{
	struct state *s = *state;
	enum tls_wait wait;

	shutdown(s->peer, SHUT_WR);
	assert_int_equal(daemon_stream_handshake(&s->stream, &wait, NULL),
			 ERR_MISSING);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_files),  TEST(test_waits), TEST(test_plain_http),
		TEST(test_no_tls), TEST(test_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
