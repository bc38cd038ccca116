/* SPDX-License-Identifier: MIT */
/*
 * Tests of pack/midx-write.c: a multi-pack-index has each object once, from the
 * right pack, and in the right pack order. A search in all packs finds the
 * expected pack.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "object/hash.h"
#include "t/unit/midxfile.h"

/*
 * Returns the pack whose copy of the object must be used, or MIDXFILE_PACKS if
 * no pack has the object.
 */
static uint32_t best_pack(const struct midxfile *f, uint32_t preferred,
			  const uint8_t *id)
{
	uint32_t best = MIDXFILE_PACKS, idx_pos;

	for (uint32_t p = 0; p < MIDXFILE_PACKS; p++) {
		if (!pack_idx_find(&f->idx[p], id, &idx_pos))
			continue;
		if (best == MIDXFILE_PACKS || p == preferred ||
		    (best != preferred &&
		     f->sources[p].mtime_ns > f->sources[best].mtime_ns))
			best = p;
	}
	return best;
}

static void check_objects(const struct midxfile *f, uint32_t preferred)
{
	uint32_t nr = 0, idx_pos, midx_pos;

	for (uint32_t i = 0; i < MIDXFILE_IDS; i++) {
		const uint8_t *id = f->ids[i].bytes;
		uint32_t pack = best_pack(f, preferred, id);

		if (pack == MIDXFILE_PACKS) {
			assert_false(pack_midx_find(&f->midx, id, &midx_pos));
			continue;
		}
		assert_true(pack_midx_find(&f->midx, id, &midx_pos));
		assert_int_equal(midx_pos, nr++);
		assert_int_equal(pack_midx_pack(&f->midx, midx_pos), pack);
		assert_true(pack_idx_find(&f->idx[pack], id, &idx_pos));
		assert_true(pack_midx_offset(&f->midx, midx_pos) ==
			    pack_idx_offset(&f->idx[pack], idx_pos));
	}
	assert_int_equal(f->midx.nr, nr);
	assert_int_equal(f->written.nr, nr);
}

/*
 * Reads the pack order without verifying it: first from valid chunks, then from
 * damaged ones. The damage must be found at once, or by a later verification.
 */
static void check_unproven(const struct midxfile *f,
			   const struct pack_midx_order *proven)
{
	uint8_t *order_bytes = (uint8_t *)(uintptr_t)f->midx.order;
	uint8_t *span_bytes = (uint8_t *)(uintptr_t)f->midx.spans;
	struct pack_midx_order order;
	struct pack_midx without = f->midx;

	assert_int_equal(pack_midx_order_init_unproven(&order, &f->midx, NULL),
			 0);
	assert_int_equal(order.preferred, proven->preferred);
	for (uint32_t i = 0; i < f->midx.pack_nr; i++) {
		assert_int_equal(order.spans[i].nr, proven->spans[i].nr);
		if (order.spans[i].nr)
			assert_int_equal(order.spans[i].first,
					 proven->spans[i].first);
	}
	assert_int_equal(pack_midx_order_prove(&order, NULL), 0);
	/*
	 * In a damaged pack order, a position that is too large is read as 0.
	 * Verifying the order fails.
	 */
	order_bytes[0] ^= 0x80;
	assert_int_equal(pack_midx_order_pos(&order, 0), 0);
	assert_int_equal(pack_midx_order_prove(&order, NULL), ERR_CORRUPT);
	order_bytes[0] ^= 0x80;
	pack_midx_order_release(&order);
	/* The chunk BTMP states one object more or less than a pack has. */
	for (uint32_t i = 0; i < f->midx.pack_nr; i++) {
		span_bytes[8 * i + 7] ^= 1;
		assert_int_equal(
			pack_midx_order_init_unproven(&order, &f->midx, NULL),
			ERR_CORRUPT);
		span_bytes[8 * i + 7] ^= 1;
	}
	without.spans = NULL;
	assert_int_equal(pack_midx_order_init_unproven(&order, &without, NULL),
			 1);
}

static void check_order(const struct midxfile *f, uint32_t preferred)
{
	struct pack_midx_order order;
	uint32_t last = 0;

	assert_int_equal(pack_midx_order_init(&order, &f->midx, NULL, 0, NULL),
			 0);
	assert_int_equal(order.preferred, preferred);
	for (uint32_t i = 0; i < f->midx.nr; i++) {
		uint32_t pack = pack_midx_pack(&f->midx,
					       pack_midx_order_pos(&order, i));

		assert_true(last == preferred || pack >= last);
		last = pack;
	}
	for (uint32_t p = 0; p < MIDXFILE_PACKS; p++) {
		assert_int_equal(load_be32(f->midx.spans + (size_t)8 * p),
				 order.spans[p].first);
		assert_int_equal(load_be32(f->midx.spans + (size_t)8 * p + 4),
				 order.spans[p].nr);
	}
	/*
	 * If the preferred pack has an object, its copy in this pack is used.
	 * So the pack order has all objects of the preferred pack.
	 */
	assert_int_equal(order.spans[preferred].nr, f->idx[preferred].nr);
	check_unproven(f, &order);
	pack_midx_order_release(&order);
}

static void check(enum hash_algo algo, bool large, uint32_t preferred,
		  bool with_order, uint64_t *seed)
{
	struct midxfile f;

	midxfile_init(&f, algo, seed, large);
	f.request.preferred = preferred;
	f.request.with_order = with_order;
	f.request.version = with_order ? 1 : 2;
	midxfile_write(&f);
	assert_int_equal(f.midx.version, f.request.version);
	assert_int_equal(
		hash_check_trailer(f.file.data, f.file.len, algo, "midx", NULL),
		0);
	assert_memory_equal(f.midx.checksum, f.written.checksum.bytes,
			    hash_len(algo));
	/*
	 * If a pack order is written and the caller has no preferred pack, the
	 * oldest pack that has objects is preferred.
	 */
	if (with_order && preferred == PACK_MIDX_NO_PACK)
		preferred = 4;
	check_objects(&f, preferred);
	if (with_order)
		check_order(&f, preferred);
	else
		assert_null(f.midx.order);
	assert_true(large == (f.midx.off64_nr > 0));
	midxfile_release(&f);
}

static void test_written(void **state)
{
	static const uint32_t preferred[] = {PACK_MIDX_NO_PACK, 1, 3, 5};
	uint64_t seed = random_seed();

	for (unsigned i = 0; i < 16; i++)
		check(i & 4 ? HASH_SHA256 : HASH_SHA1, i & 8, preferred[i % 4],
		      i & 2, &seed);
	check(HASH_SHA1, true, PACK_MIDX_NO_PACK, true, &seed);
}

/*
 * A file is appended to a buffer that has bytes already. These bytes stay, and
 * the file is the same as in an empty buffer.
 */
static void test_appends(void **state)
{
	uint64_t seed = random_seed();
	struct pack_midx_written written;
	struct buf out = BUF_INIT;
	struct midxfile f;

	midxfile_init(&f, HASH_SHA1, &seed, false);
	f.request.with_order = true;
	midxfile_write(&f);
	assert_int_equal(buf_append(&out, "keep", 4), 0);
	assert_int_equal(pack_midx_write(&out, &f.request, &written, NULL), 0);
	assert_int_equal(out.len, f.file.len + 4);
	assert_memory_equal(out.data + 4, f.file.data, f.file.len);
	buf_release(&out);
	midxfile_release(&f);
}

static void test_no_packs(void **state)
{
	uint64_t seed = random_seed();
	struct midxfile f;

	midxfile_init(&f, HASH_SHA1, &seed, false);
	f.request.pack_nr = 0;
	f.request.with_order = true;
	midxfile_write(&f);
	assert_int_equal(f.midx.nr, 0);
	assert_int_equal(f.midx.pack_nr, 0);
	midxfile_release(&f);
}

static void check_refused(struct midxfile *f, const char *why)
{
	struct pack_midx_written written;
	struct error err = ERROR_INIT;
	struct buf out = BUF_INIT;

	assert_int_equal(pack_midx_write(&out, &f->request, &written, &err),
			 ERR_INVALID);
	assert_string_equal(err.msg, why);
	assert_int_equal(out.len, 0);
	buf_release(&out);
}

static void test_refused(void **state)
{
	uint64_t seed = random_seed();
	struct midxfile f;

	midxfile_init(&f, HASH_SHA1, &seed, false);
	f.request.preferred = 0;
	check_refused(&f, "cannot select preferred pack pack-0.idx with no "
			  "objects");
	f.request.preferred = 1;
	f.request.version = 3;
	check_refused(&f, "multi-pack-index version 3 cannot be written");
	f.request.version = 1;
	f.sources[3].name = "pack-2.idx";
	check_refused(&f, "packs are not sorted by name");
	midxfile_release(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_written),
		cmocka_unit_test(test_appends),
		cmocka_unit_test(test_no_packs),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
