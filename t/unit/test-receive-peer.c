/* SPDX-License-Identifier: MIT */
/*
 * Tests of receive/receive-peer.c, which sends messages to the client of a
 * push, with and without side bands.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/mem.h"
#include "receive/receive.h"
#include "sys/clock.h"
#include "t/unit/pushed.h"

struct fixture {
	struct pushed p;
	struct serve_io io;
	struct receive_peer peer;
};

static void init(struct fixture *f, bool has_band)
{
	pushed_init(&f->p);
	f->io = dialog_io(&f->p.d);
	assert_int_equal(
		receive_peer_init(&f->peer, &f->p.options, &f->io, NULL), 0);
	if (has_band)
		f->peer.band.mode = SIDEBAND_LARGE;
}

static void release(struct fixture *f)
{
	receive_peer_release(&f->peer);
	pushed_release(&f->p);
}

/* Asserts that the client has got the packets `text`. */
static void assert_sent(struct fixture *f, const char *text)
{
	dialog_transcribe(&f->p.d);
	assert_string_equal(f->p.d.text.data, text);
}

static void test_band(void **state)
{
	struct fixture f;

	init(&f, true);
	assert_true(receive_peer_has_band(&f.peer));
	receive_peer_tell(&f.peer, "warning: %d\n", 1);
	assert_int_equal(receive_peer_tell_text(&f.peer, "a\nb", 3, NULL), 0);
	assert_sent(&f, "2:warning: 1|2:a\nb");
	assert_int_equal(f.p.told.len, 0);
	release(&f);
}

static void test_no_band(void **state)
{
	struct fixture f;

	init(&f, false);
	assert_false(receive_peer_has_band(&f.peer));
	receive_peer_tell(&f.peer, "warning: %d\n", 1);
	receive_peer_tell_failure(&f.peer, ERR_IO, "no '/srv/a'");
	assert_string_equal(f.p.told.data, "warning: 1\nerror: no '/srv/a'\n");
	assert_int_equal(f.p.d.out.len, 0);
	release(&f);
}

/*
 * The client gets the error message, but only the last part of each path in it.
 * If the error code is ERR_IO, the callback `tell` gets the whole message, too.
 */
static void test_failure(void **state)
{
	struct fixture f;

	init(&f, true);
	receive_peer_tell_failure(&f.peer, ERR_CORRUPT, "bad '/srv/x'");
	assert_int_equal(f.p.told.len, 0);
	receive_peer_tell_failure(&f.peer, ERR_IO, "no '/srv/a'");
	assert_string_equal(f.p.told.data, "error: no '/srv/a'\n");
	assert_sent(&f, "2:error: bad 'x'|2:error: no 'a'");
	release(&f);
}

/*
 * Before refs change, a failed write to the client is an error. After refs have
 * begun to change, the push goes on, and `gone` stores the error.
 */
static void test_settling(void **state)
{
	struct fixture f;

	init(&f, true);
	f.p.d.write_max = 0;
	assert_int_equal(receive_peer_tell_text(&f.peer, "a", 1, NULL),
			 ERR_PEER);
	release(&f);
	init(&f, true);
	f.p.d.write_max = 0;
	f.peer.is_settling = true;
	assert_int_equal(receive_peer_tell_text(&f.peer, "a", 1, NULL), 0);
	assert_int_equal(f.peer.gone.code, ERR_PEER);
	assert_int_equal(receive_peer_tell_text(&f.peer, "a", 1, NULL), 0);
	release(&f);
}

static void test_ticker(void **state)
{
	struct sys_ticker *ticker = NULL;
	struct fixture f;

	init(&f, false);
	assert_int_equal(receive_peer_start_ticker(&ticker, &f.peer, 1, NULL),
			 0);
	assert_null(ticker);
	f.peer.band.mode = SIDEBAND_LARGE;
	assert_int_equal(receive_peer_start_ticker(&ticker, &f.peer, 0, NULL),
			 0);
	assert_null(ticker);
	assert_int_equal(receive_peer_start_ticker(&ticker, &f.peer, 1, NULL),
			 0);
	assert_non_null(ticker);
	sys_sleep_ns(1500000000);
	sys_ticker_stop(ticker);
	assert_memory_equal(f.p.d.out.data, "0005\2", 5);
	release(&f);
}

static void test_end(void **state)
{
	struct fixture f;
	struct pktline pkt;

	init(&f, false);
	buf_append_str(&f.p.d.in, "0006hi0000");
	assert_int_equal(pktline_read(&f.peer.in, &pkt, NULL), 0);
	receive_peer_tell_end(&f.peer, "no");
	assert_sent(&f, "ERR no");
	buf_reset(&f.p.d.out);
	f.peer.band.mode = SIDEBAND_LARGE;
	receive_peer_tell_end(&f.peer, "no");
	assert_sent(&f, "3:no");
	release(&f);
}

static void test_hidden_paths(void **state)
{
	static const char *const messages[][2] = {
		{"cannot create '/srv/a b/x.lock': No space left on device",
		 "cannot create 'x.lock': No space left on device"},
		{"/srv/objects/pack-1.idx: bad header at offset 8",
		 "pack-1.idx: bad header at offset 8"},
		{"cannot write to /srv/a b/x: File too large",
		 "cannot write to x: File too large"},
		{"cannot rename '/a/b' to '/c/'", "cannot rename 'b' to ''"},
		{"'/srv/cut", "'cut"},
		{"ref 'refs/heads/a' and/or b", NULL},
		{"/", ""},
		{"", NULL},
	};

	for (size_t i = 0; i < ARRAY_NR(messages); i++) {
		const char *left = messages[i][1];
		char *msg = mem_strdup(messages[i][0]);

		assert_non_null(msg);
		receive_hide_paths(msg);
		assert_string_equal(msg, left ? left : messages[i][0]);
		free(msg);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_band),
		cmocka_unit_test(test_no_band),
		cmocka_unit_test(test_failure),
		cmocka_unit_test(test_settling),
		cmocka_unit_test(test_ticker),
		cmocka_unit_test(test_end),
		cmocka_unit_test(test_hidden_paths),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
