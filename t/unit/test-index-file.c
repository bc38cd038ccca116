/* SPDX-License-Identifier: MIT */
/* repo/index-file.c: a worked example, and bytes that are no index. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/bytes.h"
#include "base/mem.h"
#include "repo/index-file.h"

/*
 * Version 2, two entries: "a" (a file) and "sub" (a submodule).
 *
 *	DIRC | version | entries
 *	times, device, inode: 24 | mode | uid, gid, size: 12 | id: 20
 *	| flags: 2 | name | 1 to 8 NULs, to a multiple of 8 bytes
 */
static size_t make(uint8_t *out, uint32_t version)
{
	static const struct {
		const char *name;
		uint32_t mode;
	} entries[] = {{"a", 0100644}, {"sub", 0160000}};
	uint8_t *p = out;

	memcpy(p, "DIRC", 4);
	store_be32(p + 4, version);
	store_be32(p + 8, 2);
	p += 12;
	for (size_t i = 0; i < ARRAY_NR(entries); i++) {
		size_t name_len = strlen(entries[i].name);
		uint8_t *start = p;

		memset(p, 0, 72);
		store_be32(p + 24, entries[i].mode);
		memset(p + 40, (int)i + 1, 20);
		store_be16(p + 60, (uint16_t)name_len);
		p += 62;
		if (version == 4)
			*p++ = 0; /* bytes to strip of the last name */
		memcpy(p, entries[i].name, name_len);
		p += name_len;
		if (version == 4)
			*p++ = 0;
		else
			p = start + (p - start) / 8 * 8 + 8;
	}
	memset(p, 0, 20); /* checksum */
	return (size_t)(p + 20 - out);
}

struct ids {
	struct oid items[4];
	size_t nr;
};

static int take(void *ctx, const struct oid *oid)
{
	struct ids *ids = ctx;

	assert_true(ids->nr < ARRAY_NR(ids->items));
	ids->items[ids->nr++] = *oid;
	return 0;
}

static void files_count_and_submodules_do_not(void **state)
{
	const struct oid one = {
		{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}};
	uint8_t bytes[512];

	for (uint32_t version = 2; version <= 4; version++) {
		struct ids ids = {.nr = 0};
		size_t len = make(bytes, version);

		assert_int_equal(index_file_parse(bytes, len, HASH_SHA1, take,
						  &ids, NULL),
				 0);
		assert_int_equal(ids.nr, 1);
		assert_true(oid_equal(&ids.items[0], &one));
	}
}

static void every_prefix_is_refused(void **state)
{
	uint8_t bytes[512];

	for (uint32_t version = 2; version <= 4; version++) {
		size_t len = make(bytes, version);

		for (size_t cut = 0; cut < len; cut++) {
			uint8_t *copy = malloc(cut + 1);
			struct ids ids = {.nr = 0};
			int ret;

			assert_non_null(copy);
			memcpy(copy, bytes, cut);
			ret = index_file_parse(copy, cut, HASH_SHA1, take, &ids,
					       NULL);
			/* the padding of the last entry may be the checksum */
			if (cut + 20 < len)
				assert_int_equal(ret, ERR_CORRUPT);
			free(copy);
		}
	}
}

static void other_versions_and_needed_extensions(void **state)
{
	uint8_t bytes[512];
	struct ids ids = {.nr = 0};
	size_t len = make(bytes, 2);

	/* "link": a split index; entries are elsewhere */
	memcpy(bytes + len - 20, "link\0\0\0\0", 8);
	memset(bytes + len - 12, 0, 20);
	assert_int_equal(
		index_file_parse(bytes, len + 8, HASH_SHA1, take, &ids, NULL),
		ERR_UNSUPPORTED);
	store_be32(bytes + 4, 5);
	assert_int_equal(
		index_file_parse(bytes, len, HASH_SHA1, take, &ids, NULL),
		ERR_CORRUPT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files_count_and_submodules_do_not),
		cmocka_unit_test(every_prefix_is_refused),
		cmocka_unit_test(other_versions_and_needed_extensions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
