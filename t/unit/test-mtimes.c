/* SPDX-License-Identifier: MIT */
/*
 * Tests of pack/mtimes.c: the .mtimes files of cruft packs are written and
 * read, and damage is detected.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/bytes.h"
#include "base/mem.h"
#include "pack/mtimes.h"
#include "t/unit/hexdump.h"
#include "t/unit/nomem.h"
#include "t/unit/packfile.h"
#include "t/unit/random.h"

enum { NR = 300 };

struct sample {
	enum hash_algo algo;
	struct oid checksum;
	uint32_t mtimes[NR];
	struct buf idx_file, file;
	struct pack_idx idx;
};

static void sample_init(struct sample *s, enum hash_algo algo, uint64_t *seed)
{
	struct pack_idx_entry entries[NR];
	struct oid *oids = calloc(NR, sizeof(*oids));

	assert_non_null(oids);
	memset(s, 0, sizeof(*s));
	s->algo = algo;
	buf_init(&s->idx_file);
	buf_init(&s->file);
	s->checksum.bytes[3] = 0x77;
	for (uint32_t i = 0; i < NR; i++) {
		store_be32(oids[i].bytes, i * 8000000);
		entries[i] = (struct pack_idx_entry){oids[i].bytes, 12 + i, 0};
		s->mtimes[i] = (uint32_t)random_next(seed);
	}
	assert_int_equal(pack_idx_write(&s->idx_file, entries, NR, &s->checksum,
					2, algo, NULL),
			 0);
	assert_int_equal(pack_idx_parse(&s->idx, s->idx_file.data,
					s->idx_file.len, algo, "idx", NULL),
			 0);
	assert_int_equal(pack_mtimes_write(&s->file, s->mtimes, NR,
					   &s->checksum, algo, NULL),
			 0);
	free(oids);
}

static void sample_release(struct sample *s)
{
	pack_idx_release(&s->idx);
	buf_release(&s->idx_file);
	buf_release(&s->file);
}

static int parse(const struct sample *s, size_t len)
{
	struct pack_mtimes m;
	int ret = pack_mtimes_parse(&m, &s->idx, s->file.data, len, "m", NULL);

	if (ret < 0)
		assert_null(m.table);
	return ret ? ret : pack_mtimes_verify(&m, "m", NULL);
}

static void check_algo(enum hash_algo algo, uint64_t *seed)
{
	struct pack_mtimes m;
	struct sample s;

	sample_init(&s, algo, seed);
	assert_int_equal(s.file.len, 12 + 4 * NR + 2 * hash_len(algo));
	assert_int_equal(pack_mtimes_parse(&m, &s.idx, s.file.data, s.file.len,
					   "m", NULL),
			 0);
	assert_int_equal(pack_mtimes_verify(&m, "m", NULL), 0);
	for (uint32_t i = 0; i < NR; i++)
		assert_int_equal(pack_mtimes_get(&m, i), s.mtimes[i]);
	sample_release(&s);
}

static void written_and_read(void **state)
{
	uint64_t seed = random_seed();

	check_algo(HASH_SHA1, &seed);
	check_algo(HASH_SHA256, &seed);
}

/* Writes and reads the example of pack/mtimes.h. */
static void example(void **state)
{
	static const uint32_t mtimes[1] = {1112912057};
	struct buf idx_file = BUF_INIT, want = BUF_INIT, out = BUF_INIT;
	struct pack_idx idx;
	struct pack_mtimes m;
	struct oid checksum;

	hexdump_parse(&idx_file,
		      "ff744f63 00000002 00000000 x 206 00000001 x 50"
		      "ce013625 030ba8db a906f756 967f9e9c a394464a"
		      "52941500 0000000c"
		      "de041240 1f4a9e5f 05411f44 eaf9c86d 46096746"
		      "0b629745 910d3a0b e9ee1015 a3cd11b5 09020143");
	hexdump_parse(&want, "4d544d45 00000001 00000001 4255b0b9"
			     "de041240 1f4a9e5f 05411f44 eaf9c86d 46096746"
			     "7ff05f42 ebee92a9 44a217b9 cb79fcc0 98b0e70b");
	assert_int_equal(pack_idx_parse(&idx, idx_file.data, idx_file.len,
					HASH_SHA1, "idx", NULL),
			 0);
	assert_int_equal(
		pack_mtimes_parse(&m, &idx, want.data, want.len, "m", NULL), 0);
	assert_int_equal(pack_mtimes_verify(&m, "m", NULL), 0);
	assert_int_equal(pack_mtimes_get(&m, 0), mtimes[0]);
	oid_from_raw(&checksum, idx.pack_checksum, HASH_SHA1);
	assert_int_equal(
		pack_mtimes_write(&out, mtimes, 1, &checksum, HASH_SHA1, NULL),
		0);
	assert_int_equal(out.len, want.len);
	assert_memory_equal(out.data, want.data, want.len);
	pack_idx_release(&idx);
	buf_release(&idx_file);
	buf_release(&want);
	buf_release(&out);
}

/*
 * Verifying detects every truncated file, and every file with a changed byte.
 */
static void damaged(void **state)
{
	uint64_t seed = random_seed();
	struct sample s;

	sample_init(&s, HASH_SHA1, &seed);
	for (size_t len = 0; len < s.file.len; len++)
		assert_int_equal(parse(&s, len), ERR_CORRUPT);
	for (size_t i = 0; i < s.file.len; i++) {
		s.file.data[i] ^= (char)(1 << random_next(&seed) % 8);
		assert_int_equal(parse(&s, s.file.len), ERR_CORRUPT);
		assert_int_equal(pack_mtimes_write(&s.file, s.mtimes, NR,
						   &s.checksum, s.algo, NULL),
				 0);
		memmove(s.file.data, s.file.data + s.file.len / 2,
			s.file.len / 2);
		buf_set_len(&s.file, s.file.len / 2);
	}
	assert_int_equal(parse(&s, s.file.len), 0);
	sample_release(&s);
}

static void clamped(void **state)
{
	assert_int_equal(pack_mtimes_clamp(-1), 0);
	assert_int_equal(pack_mtimes_clamp(0), 0);
	assert_int_equal(pack_mtimes_clamp(1112912057), 1112912057);
	assert_int_equal(pack_mtimes_clamp(UINT32_MAX), UINT32_MAX);
	assert_int_equal(pack_mtimes_clamp(INT64_MAX), UINT32_MAX);
}

/*
 * Function that nomem_each() calls: opens the .mtimes file of a pack, reads a
 * time, and removes the file. Returns 0 or a negative error code.
 */
static int read_and_drop(void *ctx, struct error *err)
{
	const struct pack *pack = ctx;
	struct pack_mtimes_file times;
	struct buf path = BUF_INIT;
	int ret = pack_mtimes_open(&times, pack, err);

	if (!ret)
		assert_int_equal(pack_mtimes_get(&times.times, 0), 7);
	pack_mtimes_close(&times);
	if (!ret && buf_printf(&path, "%s.pack", pack->path) < 0)
		ret = error_nomem(err);
	if (!ret)
		ret = pack_mtimes_drop(path.data, err);
	buf_release(&path);
	return ret;
}

static void is_dropped(void *ctx)
{
	struct pack_mtimes_file times;

	assert_int_equal(pack_mtimes_open(&times, ctx, NULL), ERR_MISSING);
	pack_mtimes_close(&times);
}

/*
 * Opens the file "<pack>.mtimes" in three cases: it is missing, valid, or
 * damaged. Then removes the file.
 */
static void files(void **state)
{
	static const uint32_t mtimes[] = {1112912057, 7};
	struct pack_mtimes_file times;
	struct error err = ERROR_INIT;
	struct buf bytes = BUF_INIT;
	struct packfile f;
	struct pack *pack;
	char path[128];

	packfile_init(&f, HASH_SHA1);
	packfile_add(&f, OBJ_BLOB, "hello\n", 6);
	packfile_add(&f, OBJ_BLOB, "world\n", 6);
	pack = packfile_open(&f);
	assert_int_equal(pack_mtimes_open(&times, pack, &err), ERR_MISSING);
	pack_mtimes_close(&times);
	assert_int_equal(pack_mtimes_write(&bytes, mtimes, 2, &pack->checksum,
					   HASH_SHA1, NULL),
			 0);
	packfile_save_file(&f, ".mtimes", bytes.data, bytes.len);
	assert_int_equal(pack_mtimes_open(&times, pack, NULL), 0);
	assert_int_equal(pack_mtimes_get(&times.times, 0), mtimes[0]);
	assert_int_equal(pack_mtimes_get(&times.times, 1), mtimes[1]);
	pack_mtimes_close(&times);
	assert_null(times.times.table);
	bytes.data[13] ^= 1;
	packfile_save_file(&f, ".mtimes", bytes.data, bytes.len);
	assert_int_equal(pack_mtimes_open(&times, pack, &err), ERR_CORRUPT);
	assert_non_null(strstr(err.msg, "pack-test.mtimes"));
	pack_mtimes_close(&times);
	packfile_save_file(&f, ".mtimes", bytes.data, bytes.len - 1);
	assert_int_equal(pack_mtimes_open(&times, pack, &err), ERR_CORRUPT);
	pack_mtimes_close(&times);
	/*
	 * If the path does not end as the path of a pack does, no file is
	 * removed.
	 */
	snprintf(path, sizeof(path), "%s.pac", f.base);
	assert_int_equal(pack_mtimes_drop(path, NULL), 0);
	assert_int_equal(pack_mtimes_drop("x", NULL), 0);
	assert_int_equal(pack_mtimes_open(&times, pack, NULL), ERR_CORRUPT);
	pack_mtimes_close(&times);
	for (int i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "%s.pack", f.base);
		assert_int_equal(pack_mtimes_drop(path, NULL), 0);
		assert_int_equal(pack_mtimes_open(&times, pack, NULL),
				 ERR_MISSING);
		pack_mtimes_close(&times);
	}
	buf_release(&bytes);
	pack_close(pack);
	packfile_release(&f);
}

static struct packfile small; /* a pack of one object */

static void save_times(void *ctx)
{
	static const uint32_t mtime = 7;
	const struct pack *pack = ctx;
	struct buf bytes = BUF_INIT;

	assert_int_equal(pack_mtimes_write(&bytes, &mtime, 1, &pack->checksum,
					   HASH_SHA1, NULL),
			 0);
	packfile_save_file(&small, ".mtimes", bytes.data, bytes.len);
	buf_release(&bytes);
}

static void no_memory(void **state)
{
	struct pack *pack;

	packfile_init(&small, HASH_SHA1);
	packfile_add(&small, OBJ_BLOB, "hello\n", 6);
	pack = packfile_open(&small);
	nomem_each(save_times, read_and_drop, is_dropped, pack);
	pack_close(pack);
	packfile_release(&small);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(written_and_read),
		cmocka_unit_test(example),
		cmocka_unit_test(damaged),
		cmocka_unit_test(clamped),
		cmocka_unit_test(files),
		cmocka_unit_test(no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
