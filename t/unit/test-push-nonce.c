/* SPDX-License-Identifier: MIT */
/*
 * Tests of receive/push-nonce.c: nonces of push certificates are made and
 * checked.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "receive/receive-cert.h"

#define NOW 1700000000

static const struct push_nonce_maker maker = {HASH_SHA1, "seed", "/srv/x.git"};

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

/* The expected nonces were sent by stock Git 2.39 and 2.55. */
static void test_make(void **state)
{
	static const struct push_nonce_maker sha1 = {HASH_SHA1, "sekret",
						     "a.git"};
	static const struct push_nonce_maker sha256 = {HASH_SHA256, "sekret",
						       "b.git"};
	struct buf nonce = BUF_INIT;

	make(&nonce, &sha1, 1795290525);
	assert_string_equal(
		nonce.data,
		"1795290525-0c57491798408521baf716dc6534e1687c077707");
	make(&nonce, &sha256, 1795290525);
	assert_string_equal(nonce.data,
			    "1795290525-f8081461f6afddd1232b57276258e9e0"
			    "3cd3bddfd308706b7c377b687206d503");
	buf_release(&nonce);
}

static void test_others(void **state)
{
	static const struct push_nonce_maker others[] = {
		{HASH_SHA1, "other", "/srv/x.git"},
		{HASH_SHA1, "seed", "/srv/y.git"},
		{HASH_SHA256, "seed", "/srv/x.git"},
	};
	struct buf nonce = BUF_INIT;

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		make(&nonce, &others[i], NOW);
		assert_int_equal(check(nonce.data, false, 0).status,
				 PUSH_NONCE_BAD);
		assert_int_equal(check(nonce.data, true, 600).status,
				 PUSH_NONCE_BAD);
	}
	buf_release(&nonce);
}

/* If `stateless` is false, a nonce is OK only if this session has sent it. */
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
	/*
	 * The clock of the server that sent the nonce is 3 seconds ahead of the
	 * clock of this server.
	 */
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
	/*
	 * A nonce is bad if its time has a leading zero, or if any character is
	 * changed.
	 */
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
		cmocka_unit_test(test_others),
		cmocka_unit_test(test_session),
		cmocka_unit_test(test_stateless),
		cmocka_unit_test(test_bogus),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
