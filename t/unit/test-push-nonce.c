/* SPDX-License-Identifier: MIT */
/* serve/push-nonce.c: which nonces are ours, and of when. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "serve/push-nonce.h"

#define NOW 1700000000

static const struct push_nonce_maker maker = {"seed", "/srv/x.git"};

static void make(struct buf *out, const struct push_nonce_maker *m,
		 int64_t seconds)
{
	buf_reset(out);
	assert_int_equal(push_nonce_make(out, m, seconds), 0);
}

static struct push_nonce_check check(const char *nonce, bool stateless,
				     uint64_t slop_max)
{
	struct push_nonce_check out;

	assert_int_equal(
		push_nonce_check(&out, &maker, NOW, nonce, stateless, slop_max),
		0);
	return out;
}

static void test_make(void **state)
{
	static const struct push_nonce_maker others[] = {
		{"other", "/srv/x.git"},
		{"seed", "/srv/y.git"},
	};
	struct buf a = BUF_INIT, b = BUF_INIT;

	make(&a, &maker, NOW);
	/* printf %s /srv/x.git:1700000000 | openssl dgst -sha256 -hmac seed */
	assert_string_equal(a.data, "1700000000-"
				    "207ab14b63519a1e23b4f41ef6e83f09099a9cc1b5"
				    "78fbd5e6f10280df19a12b");
	for (size_t i = 0; i < 2; i++) {
		make(&b, &others[i], NOW);
		assert_string_not_equal(a.data, b.data);
		assert_int_equal(check(b.data, false, 0).status,
				 PUSH_NONCE_BAD);
		assert_int_equal(check(b.data, true, 600).status,
				 PUSH_NONCE_BAD);
	}
	buf_release(&a);
	buf_release(&b);
}

/* One that talks to its pusher knows what it has issued. */
static void test_session(void **state)
{
	struct buf nonce = BUF_INIT;

	assert_int_equal(check(NULL, false, 0).status, PUSH_NONCE_MISSING);
	make(&nonce, &maker, NOW);
	assert_int_equal(check(nonce.data, false, 0).status, PUSH_NONCE_OK);
	make(&nonce, &maker, NOW - 1);
	assert_int_equal(check(nonce.data, false, 600).status, PUSH_NONCE_BAD);
	buf_release(&nonce);
}

static void test_stateless(void **state)
{
	struct push_nonce_check got;
	struct buf nonce = BUF_INIT;

	make(&nonce, &maker, NOW);
	got = check(nonce.data, true, 0);
	assert_true(got.status == PUSH_NONCE_OK && !got.was_slop);
	make(&nonce, &maker, NOW - 7);
	got = check(nonce.data, true, 6);
	assert_true(got.status == PUSH_NONCE_SLOP && got.slop == 7);
	got = check(nonce.data, true, 7);
	assert_true(got.status == PUSH_NONCE_OK && got.was_slop);
	/* Issued where the clock is ahead. */
	make(&nonce, &maker, NOW + 3);
	got = check(nonce.data, true, 0);
	assert_true(got.status == PUSH_NONCE_SLOP && got.slop == -3);
	assert_int_equal(check(nonce.data, true, 3).status, PUSH_NONCE_OK);
	buf_release(&nonce);
}

static void test_bogus(void **state)
{
	static const char *const bogus[] = {
		"",
		"-",
		"x",
		"1700000000",
		"1700000000-",
		"1700000000-00",
		"99999999999999999999999-00",
		"-1700000000-00",
	};
	struct buf nonce = BUF_INIT;

	for (size_t i = 0; i < sizeof(bogus) / sizeof(bogus[0]); i++)
		assert_int_equal(check(bogus[i], true, 600).status,
				 PUSH_NONCE_BAD);
	/* Another spelling of the time, and each character changed. */
	buf_append_char(&nonce, '0');
	assert_int_equal(push_nonce_make(&nonce, &maker, NOW), 0);
	assert_int_equal(check(nonce.data, true, 600).status, PUSH_NONCE_BAD);
	for (size_t i = 1; i < nonce.len; i++) {
		nonce.data[i] ^= 1;
		assert_int_equal(check(nonce.data + 1, true, 600).status,
				 PUSH_NONCE_BAD);
		nonce.data[i] ^= 1;
	}
	assert_int_equal(check(nonce.data + 1, true, 0).status, PUSH_NONCE_OK);
	buf_release(&nonce);
}

static void test_names(void **state)
{
	assert_string_equal(push_nonce_status_name(PUSH_NONCE_MISSING),
			    "MISSING");
	assert_string_equal(push_nonce_status_name(PUSH_NONCE_SLOP), "SLOP");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_make),
		cmocka_unit_test(test_session),
		cmocka_unit_test(test_stateless),
		cmocka_unit_test(test_bogus),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
