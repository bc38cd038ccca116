/* SPDX-License-Identifier: MIT */
/*
 * pack/pieces.c: blobs of all sizes, a callback that stops, a damaged stream.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/buf.h"
#include "base/mem.h"
#include "pack/pieces.h"
#include "t/unit/packfile.h"
#include "t/unit/random.h"

static int collect(void *ctx, const void *bytes, size_t len, struct error *err)
{
	return buf_append(ctx, bytes, len);
}

static int stop(void *ctx, const void *bytes, size_t len, struct error *err)
{
	return 42;
}

static int run(struct pack *pack, struct buf *out,
	       int (*fn)(void *ctx, const void *bytes, size_t len,
			 struct error *err),
	       uint64_t more, struct error *err)
{
	struct inflater *inf = inflater_new();
	struct pack_entry entry;
	int ret;

	assert_int_equal(pack_entry_at(&entry, pack, 12, NULL), 0);
	entry.size += more;
	ret = pack_pieces(pack, 12, &entry, inf, fn, out, err);
	inflater_free(inf);
	return ret;
}

static void check(uint64_t *seed, size_t len)
{
	uint8_t *text = mem_alloc(len, 1);
	struct error err = ERROR_INIT;
	struct buf out = BUF_INIT;
	struct packfile file;
	struct pack *pack;

	for (size_t i = 0; i < len; i++)
		text[i] = (uint8_t)random_next(seed);
	packfile_init(&file, HASH_SHA1);
	packfile_add(&file, OBJ_BLOB, text, len);
	pack = packfile_open(&file);
	assert_int_equal(run(pack, &out, collect, 0, &err), 0);
	assert_int_equal(out.len, len);
	assert_memory_equal(out.data ? out.data : "", text, len);
	assert_int_equal(run(pack, &out, stop, 0, &err), len ? 42 : 0);
	assert_int_equal(run(pack, &out, collect, 1, &err), ERR_CORRUPT);
	assert_non_null(strstr(err.msg, "at offset 12"));
	pack_close(pack);
	packfile_release(&file);
	buf_release(&out);
	free(text);
}

static void test_sizes(void **state)
{
	uint64_t seed = random_seed();

	check(&seed, 0);
	check(&seed, 1);
	check(&seed, 64 << 10);
	check(&seed, (200 << 10) + 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sizes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
