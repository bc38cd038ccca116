/* SPDX-License-Identifier: MIT */
/*
 * Tests of access/trusted.c: addresses of trusted proxies are recognized, and
 * each client is counted under the right name.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "access/trusted.h"

static bool has(const char *net, const char *address)
{
	struct trusted_net n;

	assert_true(trusted_parse(&n, net));
	return trusted_has(&n, 1, address);
}

static void test_networks(void **state)
{
	assert_true(has("127.0.0.1", "127.0.0.1"));
	assert_false(has("127.0.0.1", "127.0.0.2"));
	assert_true(has("10.0.0.0/8", "10.255.1.2"));
	assert_false(has("10.0.0.0/8", "11.0.0.0"));
	assert_true(has("192.0.2.64/26", "192.0.2.127"));
	assert_false(has("192.0.2.64/26", "192.0.2.128"));
	assert_true(has("0.0.0.0/0", "1.2.3.4"));
	assert_false(has("0.0.0.0/0", "::1"));
	assert_true(has("::1", "::1"));
	assert_true(has("2001:db8::/33", "2001:db8:7fff::1"));
	assert_false(has("2001:db8::/33", "2001:db8:8000::1"));
	assert_false(has("::/0", "ssh"));
	assert_false(trusted_has(NULL, 0, "127.0.0.1"));
}

static void test_loopback(void **state)
{
	assert_true(trusted_is_loopback("127.0.0.1"));
	assert_true(trusted_is_loopback("127.1.2.3"));
	assert_true(trusted_is_loopback("::1"));
	assert_false(trusted_is_loopback("::2"));
	assert_false(trusted_is_loopback("128.0.0.1"));
	assert_false(trusted_is_loopback("ssh"));
}

static void test_client_name(void **state)
{
	static const char *const names[][2] = {
		{"192.0.2.1", "192.0.2.1"},
		{"2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"},
		{"2001:db8:1:2::9", "2001:db8:1:2::/64"},
		{"2001:db8:1:3::9", "2001:db8:1:3::/64"},
		{"::1", "::/64"},
		{"::ffff:192.0.2.1", "::ffff:192.0.2.1"},
		{"ssh", "ssh"},
		{"", ""},
	};
	char out[SYS_ADDRESS_MAX];

	for (size_t i = 0; i < ARRAY_NR(names); i++) {
		trusted_client_name(out, names[i][0]);
		assert_string_equal(out, names[i][1]);
	}
}

static void test_refused(void **state)
{
	static const char *const texts[] = {
		"",           "h",           "127.0.0.1/33",
		"127.0.0.1/", "127.0.0.1/a", "127.0.0.1/-1",
		"::1/129",    "/8",          "127.0.0.1/+8"};
	struct trusted_net n;

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		assert_false(trusted_parse(&n, texts[i]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_networks),
		cmocka_unit_test(test_loopback),
		cmocka_unit_test(test_client_name),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
