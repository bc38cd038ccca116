/* SPDX-License-Identifier: MIT */
/*
 * Tests of pack/midx-verify.c: a valid file passes; each kind of damage is
 * reported.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "pack/midx.h"
#include "t/unit/midxfile.h"
#include "t/unit/nomem.h"

struct bed {
	struct midxfile f;
	const struct pack_idx *packs[MIDXFILE_PACKS];
	struct buf lines; /* reported lines */
};

static void take_line(void *ctx, const char *line)
{
	struct bed *b = ctx;

	assert_int_equal(buf_printf(&b->lines, "%s\n", line), 0);
}

static void bed_init(struct bed *b)
{
	uint64_t seed = random_seed();

	midxfile_init(&b->f, HASH_SHA1, &seed, true);
	b->f.request.with_order = true;
	midxfile_write(&b->f);
	for (unsigned p = 0; p < MIDXFILE_PACKS; p++)
		b->packs[p] = &b->f.idx[p];
	buf_init(&b->lines);
}

static void bed_release(struct bed *b)
{
	midxfile_release(&b->f);
	buf_release(&b->lines);
}

/*
 * Verifies the multi-pack-index. The first reported line must begin with
 * `begins`. NULL: verifying must succeed.
 */
static void check(struct bed *b, const char *begins)
{
	const struct pack_midx_check c = {
		.packs = b->packs,
		.report = take_line,
		.ctx = b,
	};

	buf_reset(&b->lines);
	assert_int_equal(pack_midx_verify(&b->f.midx, &c, NULL),
			 begins ? 1 : 0);
	if (!begins)
		assert_string_equal(b->lines.data, "");
	else
		assert_non_null(strstr(b->lines.data, begins));
}

/*
 * Replaces the bytes at `at`, which points into the file, by `value`. Verifies
 * the file, and restores the bytes.
 */
static void check_damaged(struct bed *b, const uint8_t *at, uint32_t value,
			  const char *begins)
{
	uint8_t *p = (uint8_t *)b->f.file.data + (at - b->f.midx.bytes);
	uint32_t was = load_be32(p);

	store_be32(p, value);
	check(b, begins);
	assert_non_null(strstr(b->lines.data, "incorrect checksum\n"));
	store_be32(p, was);
}

static void test_damage(void **state)
{
	struct bed b;
	const struct pack_midx *m = &b.f.midx;
	char hex[OID_MAX_HEX_LEN + 1], wanted[128];

	bed_init(&b);
	check(&b, NULL);
	oid_raw_to_hex(hex, pack_midx_oid(m, 7), m->algo);
	snprintf(wanted, sizeof(wanted),
		 "failed to load pack entry for oid[7] = %s\n", hex);
	check_damaged(&b, m->objects + 8 * 7, 0x7f7f7f7f, wanted);
	check_damaged(&b, pack_midx_oid(m, 7), 0x7f7f7f7f,
		      "oid lookup out of order: oid[7] = 7f7f7f7f");
	check_damaged(&b, m->objects + 8 * 7, 0x7f7f7f7f,
		      "failed to load pack entry for oid[7] = ");
	check_damaged(&b, m->objects + 8 * 7 + 4, 1,
		      "incorrect object offset for oid[7] = ");
	check_damaged(&b, m->objects + 8 * 7 + 4, 0xffffffff,
		      "incorrect object offset for oid[7] = ");
	check_damaged(&b, m->off64 + 4, 1, "incorrect object offset for oid[");
	check_damaged(&b, m->order, load_be32(m->order + 4),
		      "reverse index does not give the order");
	check_damaged(&b, m->spans + 8 + 4, 1,
		      "bitmapped pack pack-1.idx is not where");
	check(&b, NULL);
	bed_release(&b);
}

/*
 * In a layer of a chain, bit positions continue after those of the layers
 * below. So the bit positions of this layer start at the number of objects
 * below, and verifying must accept that.
 */
static void test_layer(void **state)
{
	enum { BELOW = 7 };
	struct bed b;
	const struct pack_midx *m = &b.f.midx;

	bed_init(&b);
	b.f.midx.base_nr = BELOW;
	for (uint32_t i = 0; i < m->pack_nr; i++) {
		uint8_t *p = (uint8_t *)(uintptr_t)m->spans + (size_t)8 * i;

		if (load_be32(p + 4))
			store_be32(p, load_be32(p) + BELOW);
	}
	for (uint32_t i = 0; i < m->nr; i++) {
		uint8_t *p = (uint8_t *)(uintptr_t)m->order + (size_t)4 * i;

		store_be32(p, load_be32(p) + BELOW);
	}
	check(&b, "incorrect checksum\n");
	assert_null(strstr(b.lines.data, "bitmapped pack"));
	assert_null(strstr(b.lines.data, "reverse index"));
	store_be32((uint8_t *)(uintptr_t)m->spans + 8, BELOW + 1);
	check(&b, "bitmapped pack pack-1.idx is not where");
	bed_release(&b);
}

static int verify(void *ctx, struct error *err)
{
	struct bed *b = ctx;
	const struct pack_midx_check c = {
		.packs = b->packs,
		.report = take_line,
		.ctx = b,
	};

	return pack_midx_verify(&b->f.midx, &c, err);
}

static void check_verified(void *ctx)
{
	assert_int_equal(((struct bed *)ctx)->lines.len, 0);
}

static void test_no_memory(void **state)
{
	struct bed b;

	bed_init(&b);
	nomem_each(NULL, verify, check_verified, &b);
	bed_release(&b);
}

static void test_missing_pack(void **state)
{
	struct bed b;

	bed_init(&b);
	b.packs[2] = NULL;
	check(&b, "failed to load pack in position 2\n"
		  "failed to load pack entry for oid[");
	b.packs[0] = NULL;
	check(&b, "failed to load pack in position 0\n");
	bed_release(&b);
}

static void test_empty(void **state)
{
	struct bed b;

	bed_init(&b);
	midxfile_reset(&b.f);
	/* The only pack has no objects. */
	b.f.request.pack_nr = 1;
	midxfile_write(&b.f);
	check(&b, "the midx contains no oid\n");
	bed_release(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_damage),
		cmocka_unit_test(test_layer),
		cmocka_unit_test(test_no_memory),
		cmocka_unit_test(test_missing_pack),
		cmocka_unit_test(test_empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
