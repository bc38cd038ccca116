/* SPDX-License-Identifier: MIT */
/*
 * Tests of prepared/prepared-send.c, which sends a prepared answer (stored
 * response): ranges of a pack's bytes are sent, and progress is counted.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "prepared/prepared.h"
#include "t/unit/packfile.h"
#include "t/unit/random.h"

#define LEN 2000

static int put(void *ctx, const void *bytes, size_t len, struct error *err)
{
	return buf_append(ctx, bytes, len);
}

/*
 * Send a pack of two ranges of a stored pack. The number of objects in the
 * ranges is stated as `object_nr`.
 */
static void check(const struct pack *pack, uint32_t object_nr,
		  const struct prepared_run runs[2])
{
	static const struct progress_out out = {.put = NULL};
	const struct prepared_content content = {
		.object_nr = object_nr,
		.runs = runs,
		.run_nr = 2,
	};
	struct buf got = BUF_INIT;
	const struct pack_sink sink = {.put = put, .ctx = &got};
	struct pack_writer writer;
	struct progress progress;
	struct oid checksum;

	progress_start(&progress, &out, "Writing objects", object_nr);
	assert_int_equal(pack_writer_init(&writer, sink, object_nr, HASH_SHA1,
					  false, NULL),
			 0);
	assert_int_equal(
		prepared_send(&content, pack, &writer, &progress, NULL), 0);
	assert_int_equal(pack_writer_finish(&writer, &checksum, NULL), 0);
	pack_writer_release(&writer);
	assert_int_equal(progress.done, object_nr);
	progress_stop(&progress);
	assert_int_equal(got.len, PACK_HEADER_LEN + prepared_bytes(&content) +
					  hash_len(HASH_SHA1));
	assert_memory_equal(got.data + PACK_HEADER_LEN,
			    pack_bytes(pack, NULL) + runs[0].off, runs[0].len);
	assert_memory_equal(got.data + PACK_HEADER_LEN + runs[0].len,
			    pack_bytes(pack, NULL) + runs[1].off, runs[1].len);
	buf_release(&got);
}

/*
 * The progress meter computes the number of sent objects from the number of
 * sent bytes. At the end, it must have counted all objects, whatever their
 * average size is.
 */
static void all_is_counted(void **state)
{
	uint64_t seed = random_seed();
	uint8_t blob[LEN];
	struct packfile p;
	struct pack *pack;

	for (size_t i = 0; i < LEN; i++)
		blob[i] = (uint8_t)random_next(&seed);
	packfile_init(&p, HASH_SHA1);
	packfile_add(&p, OBJ_BLOB, blob, LEN);
	pack = packfile_open(&p);
	assert_true(pack->file.len > LEN);
	for (uint64_t len = 2; len < LEN - 100; len++) {
		const struct prepared_run runs[] = {
			{PACK_HEADER_LEN, len / 2},
			{PACK_HEADER_LEN + len / 2 + 1, len - len / 2},
		};

		check(pack, 1 + (uint32_t)(len / 20), runs);
	}
	pack_close(pack);
	packfile_release(&p);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_is_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
