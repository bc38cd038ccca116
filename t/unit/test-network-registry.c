/* SPDX-License-Identifier: MIT */
/*
 * Tests of islands/network-registry.c, the list of a fork network's members:
 * the hex dump in the comment of network.h is parsed, damaged registries are
 * refused, and random registries are written and read.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "islands/network.h"
#include "t/unit/hexdump.h"
#include "t/unit/random.h"

static int parse(struct network_registry *r, const char *text,
		 struct error *err)
{
	return network_registry_parse(r, text, strlen(text), "members", err);
}

static void test_dump(void **state)
{
	struct network_registry r = NETWORK_REGISTRY_INIT;
	struct buf out = BUF_INIT;
	struct buf bytes = BUF_INIT;

	hexdump_parse(&bytes, "23206769 74726561 6368206e 6574776f 726b2031 0a "
			      "6e657874 20320a "
			      "6d656d62 65722031 202e2e2f 720a");
	assert_int_equal(
		network_registry_parse(&r, bytes.data, bytes.len, "x", NULL),
		0);
	assert_int_equal(r.next_id, 2);
	assert_int_equal(r.nr, 1);
	assert_int_equal(r.entries[0].id, 1);
	assert_int_equal(r.entries[0].state, NETWORK_MEMBER);
	assert_string_equal(r.entries[0].path, "../r");
	assert_int_equal(network_registry_format(&out, &r), 0);
	assert_int_equal(out.len, bytes.len);
	assert_memory_equal(out.data, bytes.data, bytes.len);
	buf_release(&bytes);
	buf_release(&out);
	network_registry_release(&r);
}

static void test_refused(void **state)
{
	static const struct {
		const char *text, *msg;
		int code;
	} wrong[] = {
		{"", "members: not a registry of a network", ERR_CORRUPT},
		{"# gitreach network 1", "members: not a registry of a network",
		 ERR_CORRUPT},
		{"# gitreach network 2\n", "members: unknown version '2'",
		 ERR_UNSUPPORTED},
		{"# gitreach network 1\nnext 0\n", "members: bad line 2",
		 ERR_CORRUPT},
		{"# gitreach network 1\nnext 2147483648\n",
		 "members: bad line 2", ERR_CORRUPT},
		{"# gitreach network 1\nnext 3\nmember 3 a\n",
		 "members: bad line 3", ERR_CORRUPT},
		{"# gitreach network 1\nnext 3\nmember 01 a\n",
		 "members: bad line 3", ERR_CORRUPT},
		{"# gitreach network 1\nnext 3\nmember 2 a\nmember 1 b\n",
		 "members: bad line 4", ERR_CORRUPT},
		{"# gitreach network 1\nnext 3\nmember 2 \n",
		 "members: bad line 3", ERR_CORRUPT},
		{"# gitreach network 1\nnext 3\nmember 2 a",
		 "members: bad line 3", ERR_CORRUPT},
		{"# gitreach network 1\nnext 3\nstranger 2 a\n",
		 "members: bad line 3", ERR_CORRUPT},
	};

	for (size_t i = 0; i < ARRAY_NR(wrong); i++) {
		struct network_registry r = NETWORK_REGISTRY_INIT;
		struct error err = ERROR_INIT;

		assert_int_equal(parse(&r, wrong[i].text, &err), wrong[i].code);
		assert_string_equal(err.msg, wrong[i].msg);
		assert_int_equal(r.nr, 0);
		network_registry_release(&r);
	}
}

static void assert_same(const struct network_registry *a,
			const struct network_registry *b)
{
	assert_int_equal(a->nr, b->nr);
	assert_int_equal(a->next_id, b->next_id);
	for (size_t i = 0; i < a->nr; i++) {
		assert_int_equal(a->entries[i].id, b->entries[i].id);
		assert_int_equal(a->entries[i].state, b->entries[i].state);
		assert_string_equal(a->entries[i].path, b->entries[i].path);
	}
}

static void test_random(void **state)
{
	struct network_registry r = NETWORK_REGISTRY_INIT;
	struct network_registry again = NETWORK_REGISTRY_INIT;
	uint64_t seed = random_seed();
	struct buf out = BUF_INIT;

	for (int i = 0; i < 400; i++) {
		struct network_entry *entry;
		char path[32];
		uint32_t id = 1 + (uint32_t)(random_next(&seed) % r.next_id);

		snprintf(path, sizeof(path), "../a b/%d \"x", i);
		if (random_next(&seed) % 3) {
			assert_int_equal(network_registry_add(
						 &entry, &r,
						 (enum network_state)(i % 5),
						 path, NULL),
					 0);
			assert_ptr_equal(network_registry_find_path(&r, path),
					 entry);
		} else {
			network_registry_remove(&r, id);
			assert_null(network_registry_find(&r, id));
		}
		buf_reset(&out);
		assert_int_equal(network_registry_format(&out, &r), 0);
		assert_int_equal(network_registry_parse(&again, out.data,
							out.len, "x", NULL),
				 0);
		assert_same(&r, &again);
		for (size_t k = 0; k < r.nr; k++)
			assert_ptr_equal(
				network_registry_find(&r, r.entries[k].id),
				&r.entries[k]);
	}
	buf_release(&out);
	network_registry_release(&r);
	network_registry_release(&again);
}

static void test_paths(void **state)
{
	struct network_registry r = NETWORK_REGISTRY_INIT;
	struct network_entry *entry;

	assert_int_equal(
		network_registry_add(&entry, &r, NETWORK_MEMBER, "", NULL),
		ERR_INVALID);
	assert_int_equal(
		network_registry_add(&entry, &r, NETWORK_MEMBER, "a\nb", NULL),
		ERR_INVALID);
	assert_int_equal(r.nr, 0);
	assert_null(network_registry_find_path(&r, "a"));
	network_registry_release(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_dump),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_paths),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
