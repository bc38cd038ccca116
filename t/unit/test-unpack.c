/* SPDX-License-Identifier: MIT */
/*
 * Tests of odb/unpack.c, which unpacks a received pack to loose objects: whole
 * objects, deltas and large objects are written, and existing ones are not
 * written again.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "odb/odb.h"
#include "odb/unpack.h"
#include "sys/io.h"
#include "t/unit/packfile.h"
#include "t/unit/tmprepo.h"

struct fixture {
	struct tmprepo t;
	struct packfile file;
	struct pack *pack;
	struct oid oids[3];
	const struct oid *known;
};

/* Makes a pack of two blobs, and a delta of one of them. */
static void setup(struct fixture *f)
{
	struct hash_ctx hash;

	memset(f, 0, sizeof(*f));
	tmprepo_init(&f->t, HASH_SHA1);
	packfile_init(&f->file, HASH_SHA1);
	assert_int_equal(hash_init(&hash, HASH_SHA1), 0);
	hash_object(&hash, &f->oids[0], OBJ_BLOB, "one", 3);
	hash_object(&hash, &f->oids[1], OBJ_BLOB, "oneone", 6);
	hash_object(&hash, &f->oids[2], OBJ_BLOB, "two", 3);
	hash_release(&hash);
	packfile_add(&f->file, OBJ_BLOB, "one", 3);
	packfile_add_delta(&f->file, OBJ_OFS_DELTA, 0, 3, "one", &f->oids[1]);
	packfile_add(&f->file, OBJ_BLOB, "two", 3);
	f->pack = packfile_open(&f->file);
}

static void teardown(struct fixture *f)
{
	pack_close(f->pack);
	packfile_release(&f->file);
	tmprepo_release(&f->t);
}

static int has(void *ctx, const struct oid *oid, struct error *err)
{
	const struct fixture *f = ctx;

	return f->known && oid_equal(oid, f->known);
}

static int run(struct fixture *f, uint64_t piecewise_above)
{
	struct unpack_options options = {has, f, piecewise_above, NULL};
	struct loose_writer w;
	int ret;

	assert_int_equal(loose_writer_init(&w, &f->t.repo, f->t.objects, NULL),
			 0);
	ret = unpack_pack(f->pack, &w, &options, NULL);
	loose_writer_release(&w);
	return ret;
}

/*
 * Returns a bit mask: which of the three objects of the pack exist as loose
 * objects.
 */
static unsigned loose(struct fixture *f)
{
	struct odb *odb;
	unsigned bits = 0;

	assert_int_equal(odb_open(&odb, &f->t.repo, NULL, NULL), 0);
	for (unsigned i = 0; i < 3; i++)
		bits |= (unsigned)odb_has_loose(odb, &f->oids[i]) << i;
	odb_close(odb);
	return bits;
}

static void check_all(uint64_t piecewise_above)
{
	struct fixture f;
	struct odb_object obj = ODB_OBJECT_INIT;
	struct odb_reader *reader;
	struct odb *odb;

	setup(&f);
	assert_int_equal(run(&f, piecewise_above), 0);
	assert_int_equal(loose(&f), 7);
	assert_int_equal(odb_open(&odb, &f.t.repo, NULL, NULL), 0);
	reader = odb_reader_new(odb, 0);
	assert_int_equal(odb_read(reader, &f.oids[1], &obj, NULL), 0);
	assert_int_equal(obj.len, 6);
	assert_memory_equal(obj.data, "oneone", 6);
	odb_object_release(reader, &obj);
	odb_reader_free(reader);
	odb_close(odb);
	teardown(&f);
}

static void test_all(void **state)
{
	check_all(0);
}

/*
 * The limit is 2 bytes, so longer objects that are stored whole are unpacked in
 * pieces. The results of deltas are still written in one piece.
 */
static void test_pieces(void **state)
{
	check_all(2);
}

static void test_known(void **state)
{
	struct fixture f;

	setup(&f);
	f.known = &f.oids[0];
	assert_int_equal(run(&f, 0), 0);
	assert_int_equal(loose(&f), 6);
	teardown(&f);
}

/*
 * Callback that copies up to `len` bytes of the pack to `bytes`, and removes
 * them from the pack. Returns their number; 0: the pack has ended.
 */
static ssize_t deal(void *ctx, void *bytes, size_t len, struct error *err)
{
	struct buf *left = ctx;
	size_t n = left->len < len ? left->len : len;

	memcpy(bytes, left->data, n);
	memmove(left->data, left->data + n, left->len - n);
	left->len -= n;
	return (ssize_t)n;
}

static void test_received(void **state)
{
	const struct pack_indexer_config config = {.algo = HASH_SHA1,
						   .threads = 1};
	struct buf bytes = BUF_INIT, path = BUF_INIT;
	struct unpack_options options = {0};
	struct pack_indexer *ix = pack_indexer_new(&config);
	struct loose_writer w;
	struct fixture f;

	setup(&f);
	assert_int_equal(sys_mkdir_p(f.t.objects, NULL), 0);
	assert_int_equal(
		buf_append(&bytes, pack_bytes(f.pack, NULL), f.pack->file.len),
		0);
	assert_int_equal(
		pack_indexer_receive(
			ix, (struct pack_source){.read = deal, .ctx = &bytes},
			f.t.objects, NULL),
		0);
	assert_int_equal(pack_indexer_resolve(ix, NULL), 0);
	assert_int_equal(loose_writer_init(&w, &f.t.repo, f.t.objects, NULL),
			 0);
	assert_int_equal(unpack_received(ix, f.t.objects, &w, &options, NULL),
			 0);
	loose_writer_release(&w);
	pack_indexer_free(ix);
	assert_int_equal(loose(&f), 7);
	assert_int_equal(buf_printf(&path, "%s/unpack.pack", f.t.objects), 0);
	assert_false(sys_exists(path.data));
	buf_release(&path);
	buf_release(&bytes);
	teardown(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all),
		cmocka_unit_test(test_pieces),
		cmocka_unit_test(test_known),
		cmocka_unit_test(test_received),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
