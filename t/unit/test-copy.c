/* SPDX-License-Identifier: MIT */
/*
 * Tests of pack/copy.c, which copies bytes of a pack to a writer. They prove
 * that all ways of copying give the bytes of the pack, and that damaged entries
 * are noticed by their CRC.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include <sys/resource.h>

#include "pack/copy.h"
#include "t/unit/packfile.h"
#include "t/unit/random.h"
#include "t/unit/tmprepo.h"

/*
 * Size of the pack in bytes, which is above two limits. To copy 1 MiB or more,
 * the tested code opens the file of the pack again. After each 8 MiB, it
 * releases mapped pages.
 */
#define LEN ((size_t)9 << 20)

struct env {
	struct tmprepo t;
	struct pack pack; /* of random bytes */
	struct buf got;
	/* Number of bytes that put_file() has received. */
	size_t by_file;
};

static void env_init(struct env *e, uint64_t *seed)
{
	uint8_t *bytes = malloc(LEN);
	struct buf path = BUF_INIT, file = BUF_INIT;

	memset(e, 0, sizeof(*e));
	assert_non_null(bytes);
	for (size_t i = 0; i < LEN; i += 8) {
		uint64_t word = random_next(seed);

		memcpy(bytes + i, &word, 8);
	}
	tmprepo_init(&e->t, HASH_SHA1);
	tmprepo_write_len(&e->t, "objects/pack/pack-a.pack", bytes, LEN);
	buf_printf(&path, "%s/pack/pack-a", e->t.objects);
	buf_printf(&file, "%s.pack", path.data);
	assert_int_equal(sys_held_open(&e->pack.file, file.data, NULL), 0);
	e->pack.path = buf_detach(&path, NULL);
	e->pack.algo = HASH_SHA1;
	memcpy(e->pack.checksum.bytes, bytes + LEN - 20, 20);
	buf_release(&file);
	free(bytes);
}

static void env_release(struct env *e)
{
	sys_held_close(&e->pack.file);
	free(e->pack.path);
	buf_release(&e->got);
	tmprepo_release(&e->t);
}

static int put(void *ctx, const void *bytes, size_t len, struct error *err)
{
	struct env *e = ctx;

	return buf_append(&e->got, bytes, len);
}

static int put_file(void *ctx, const struct sys_file_span *span,
		    struct error *err)
{
	struct env *e = ctx;

	e->by_file += span->len;
	return buf_append(&e->got, span->bytes, span->len);
}

static void check(struct env *e, bool takes_files, uint64_t start, uint64_t end)
{
	const struct pack_sink sink = {put, e, takes_files ? put_file : NULL,
				       NULL};
	struct pack_writer writer;
	struct pack_copy copy;
	struct oid checksum;

	buf_reset(&e->got);
	e->by_file = 0;
	assert_int_equal(
		pack_writer_init(&writer, sink, 1, HASH_SHA1, false, NULL), 0);
	assert_int_equal(
		pack_copy_open(&copy, &e->pack, &writer, end - start, NULL), 0);
	assert_int_equal(pack_copy_put(&copy, &writer, start, end, NULL), 0);
	assert_int_equal(pack_copy_put(&copy, &writer, end, end, NULL), 0);
	pack_copy_close(&copy);
	assert_int_equal(pack_writer_finish(&writer, &checksum, NULL), 0);
	pack_writer_release(&writer);
	assert_int_equal(e->got.len, PACK_HEADER_LEN + (end - start) + 20);
	assert_memory_equal(e->got.data + PACK_HEADER_LEN,
			    pack_bytes(&e->pack, NULL) + start, end - start);
}

static void by_map_and_by_file(void **state)
{
	uint64_t seed = random_seed();
	struct env e;

	env_init(&e, &seed);
	for (int i = 0; i < 8; i++) {
		uint64_t end = random_next(&seed) % LEN;
		uint64_t start = i ? end / 2 : end;

		check(&e, i % 2, start, end);
		if (!(i % 2) || end - start < 1 << 20)
			assert_int_equal(e.by_file, 0);
		else
			assert_true(e.by_file > (end - start) / 2);
	}
	check(&e, true, 0, LEN);
	/*
	 * The writer buffers the last piece if it is shorter than 16 KiB. So
	 * put_file() does not get this piece.
	 */
	assert_true(e.by_file > LEN - 16384);
	tmprepo_remove(&e.t, "objects/pack/pack-a.pack");
	check(&e, true, 0, LEN);
	assert_int_equal(e.by_file, 0);
	env_release(&e);
}

static int put_pinned(void *ctx, const void *bytes, size_t len,
		      struct error *err)
{
	struct env *e = ctx;

	e->by_file = len;
	return buf_append(&e->got, bytes, len);
}

/*
 * Copies the whole pack to a sink that has the callback put_pinned(). The
 * callback gets bytes of the mapped pack, and may keep using them.
 */
static void copy_pinned(struct env *e, bool has_checksum)
{
	const struct pack_sink sink = {put, e, put_file, put_pinned};
	struct pack_writer writer;
	struct pack_copy copy;
	struct oid checksum;

	buf_reset(&e->got);
	e->by_file = 0;
	pack_writer_init(&writer, sink, 1, HASH_SHA1, false, NULL);
	writer.has_checksum = has_checksum;
	pack_copy_open(&copy, &e->pack, &writer, LEN, NULL);
	assert_int_equal(pack_copy_put(&copy, &writer, 0, LEN, NULL), 0);
	pack_copy_close(&copy);
	assert_int_equal(pack_writer_finish(&writer, &checksum, NULL), 0);
	pack_writer_release(&writer);
}

/*
 * put_pinned() is called only if the pack is pinned, which means that the pack
 * stays open until the response was sent. If the checksum of the new pack is
 * known already, the bytes need not be hashed. So one call of put_pinned() gets
 * all bytes of the range. If the checksum is not known, the bytes are hashed
 * piece by piece, and each call of put_pinned() gets one piece.
 */
static void by_span(void **state)
{
	uint64_t seed = random_seed();
	struct env e;

	env_init(&e, &seed);
	check(&e, false, 0, LEN);
	e.pack.is_pinned = true;
	copy_pinned(&e, true);
	assert_int_equal(e.by_file, LEN);
	copy_pinned(&e, false);
	assert_in_range(e.by_file, 1, 16 * 65515);
	assert_int_equal(e.got.len, PACK_HEADER_LEN + LEN + 20);
	assert_memory_equal(e.got.data + PACK_HEADER_LEN,
			    pack_bytes(&e.pack, NULL), LEN);
	e.pack.is_pinned = false;
	e.by_file = 0;
	check(&e, false, 0, LEN);
	assert_int_equal(e.by_file, 0);
	env_release(&e);
}

static void what_is_not_there(void **state)
{
	const struct pack_sink sink = {.put = put};
	uint64_t seed = random_seed();
	struct pack_writer writer;
	struct pack_copy copy;
	struct env e;

	env_init(&e, &seed);
	assert_int_equal(
		pack_writer_init(&writer, sink, 1, HASH_SHA1, false, NULL), 0);
	assert_int_equal(pack_copy_open(&copy, &e.pack, &writer, 100, NULL), 0);
	assert_int_equal(pack_copy_put(&copy, &writer, 12, LEN + 1, NULL),
			 ERR_CORRUPT);
	assert_int_equal(pack_copy_put(&copy, &writer, 13, 12, NULL),
			 ERR_CORRUPT);
	/* A range of length 0 is valid at any offset. */
	assert_int_equal(pack_copy_put(&copy, &writer, LEN + 1, LEN + 1, NULL),
			 0);
	pack_copy_close(&copy);
	pack_writer_release(&writer);
	env_release(&e);
}

static int discard(void *ctx, const void *bytes, size_t len, struct error *err)
{
	return 0;
}

/*
 * Copies the pack, and then reads all of its mapped pages. Returns the number
 * of page faults during the reading: the number of pages that the copying has
 * released.
 */
static long faults_behind(struct env *e)
{
	const struct pack_sink sink = {.put = discard};
	const volatile uint8_t *bytes = pack_bytes(&e->pack, NULL);
	struct rusage before, after;
	struct pack_writer writer;
	struct pack_copy copy;
	struct oid checksum;

	assert_int_equal(
		pack_writer_init(&writer, sink, 1, HASH_SHA1, false, NULL), 0);
	assert_int_equal(pack_copy_open(&copy, &e->pack, &writer, LEN, NULL),
			 0);
	assert_int_equal(pack_copy_put(&copy, &writer, 0, LEN, NULL), 0);
	pack_copy_close(&copy);
	assert_int_equal(pack_writer_finish(&writer, &checksum, NULL), 0);
	pack_writer_release(&writer);
	getrusage(RUSAGE_SELF, &before);
	for (size_t i = 0; i < LEN; i += 4096)
		(void)bytes[i];
	getrusage(RUSAGE_SELF, &after);
	return after.ru_minflt - before.ru_minflt;
}

static void pages_behind_the_copy(void **state)
{
	uint64_t seed = random_seed();
	struct env e;

	env_init(&e, &seed);
	assert_true(faults_behind(&e) > 0);
	e.pack.keeps_pages = true;
	assert_int_equal(faults_behind(&e), 0);
	env_release(&e);
}

/* A small pack, and a writer that checks the CRCs of copied entries. */
struct checked {
	struct packfile file;
	struct pack *pack;
	/*
	 * The copied bytes are collected in out.got. The other fields of `out`
	 * are not used.
	 */
	struct env out;
	struct pack_writer writer;
	struct pack_copy copy;
};

enum { ENTRIES = 30, WRONG = 20 };

static void checked_init(struct checked *c)
{
	const struct pack_sink sink = {.put = put, .ctx = &c->out};

	memset(c, 0, sizeof(*c));
	packfile_init(&c->file, HASH_SHA1);
	for (int i = 0; i < ENTRIES; i++) {
		char text[16];

		snprintf(text, sizeof(text), "entry %d\n", i);
		packfile_add(&c->file, OBJ_BLOB, text, strlen(text));
	}
	c->file.crcs[WRONG] ^= 1;
	c->pack = packfile_open(&c->file);
	assert_int_equal(
		pack_writer_init(&c->writer, sink, 1, HASH_SHA1, false, NULL),
		0);
	c->writer.check_copies = true;
	assert_int_equal(
		pack_copy_open(&c->copy, c->pack, &c->writer, 100, NULL), 0);
}

static void checked_release(struct checked *c)
{
	pack_copy_close(&c->copy);
	pack_writer_release(&c->writer);
	pack_close(c->pack);
	packfile_release(&c->file);
	buf_release(&c->out.got);
}

static int copy_range(struct checked *c, uint64_t start, uint64_t end,
		      struct error *err)
{
	return pack_copy_put(&c->copy, &c->writer, start, end, err);
}

/*
 * A copied entry must have the CRC that the pack index states. This holds also
 * if the entry is copied in parts.
 */
static void crcs_of_copies(void **state)
{
	char hex[OID_MAX_HEX_LEN + 1], at[40];
	struct error err = ERROR_INIT;
	const uint64_t *off;
	struct checked c;

	checked_init(&c);
	off = c.file.offsets;
	assert_int_equal(copy_range(&c, off[0], off[5] + 3, NULL), 0);
	assert_int_equal(copy_range(&c, off[5] + 3, off[6] - 1, NULL), 0);
	assert_int_equal(copy_range(&c, off[6] - 1, off[9], NULL), 0);
	assert_int_equal(
		copy_range(&c, off[WRONG + 1], c.pack->file.len - 20, NULL), 0);
	assert_int_equal(copy_range(&c, off[WRONG - 1], off[WRONG], NULL), 0);
	assert_int_equal(copy_range(&c, off[WRONG], off[WRONG + 1], &err),
			 ERR_CORRUPT);
	oid_to_hex(hex, &c.file.oids[WRONG], HASH_SHA1);
	assert_non_null(strstr(err.msg, hex));
	assert_non_null(strstr(err.msg, "its CRC is not that of the index"));
	snprintf(at, sizeof(at), "at offset %d", (int)off[WRONG]);
	assert_non_null(strstr(err.msg, at));
	assert_int_equal(copy_range(&c, off[3] + 1, off[4], NULL), 0);
	assert_int_equal(copy_range(&c, off[WRONG] + 1, off[WRONG + 1], &err),
			 ERR_CORRUPT);
	assert_non_null(strstr(err.msg, "its CRC is not that of the index"));
	assert_int_equal(copy_range(&c, 3, off[1], &err), ERR_CORRUPT);
	assert_non_null(strstr(err.msg, "no object is here"));
	checked_release(&c);
}

/*
 * No CRC is checked if the option check_copies is off, or if the index has no
 * CRCs.
 */
static void no_crcs(void **state)
{
	struct pack *pack;
	struct checked c;

	checked_init(&c);
	pack_copy_close(&c.copy);
	c.writer.check_copies = false;
	assert_int_equal(pack_copy_open(&c.copy, c.pack, &c.writer, 100, NULL),
			 0);
	assert_int_equal(copy_range(&c, c.file.offsets[WRONG],
				    c.file.offsets[WRONG + 1], NULL),
			 0);
	pack_copy_close(&c.copy);
	c.writer.check_copies = true;
	packfile_make_idx(&c.file, 1);
	packfile_save(&c.file);
	assert_int_equal(pack_open(&pack, c.file.base, HASH_SHA1, NULL), 0);
	assert_int_equal(pack_copy_open(&c.copy, pack, &c.writer, 100, NULL),
			 0);
	assert_int_equal(copy_range(&c, c.file.offsets[WRONG],
				    c.file.offsets[WRONG + 1], NULL),
			 0);
	pack_close(pack);
	checked_release(&c);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_map_and_by_file),
		cmocka_unit_test(by_span),
		cmocka_unit_test(what_is_not_there),
		cmocka_unit_test(pages_behind_the_copy),
		cmocka_unit_test(crcs_of_copies),
		cmocka_unit_test(no_crcs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
