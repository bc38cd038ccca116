/* SPDX-License-Identifier: MIT */
/*
 * Tests of plans/plan-file.c: a plan (which parts of stored packs answer a
 * fetch) is written to a file and read. A damaged file is refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/bytes.h"
#include "base/mem.h"
#include "object/hash.h"
#include "plans/plan-file.h"
#include "t/unit/hexdump.h"

#define PACK_NR 3
#define PACK_LEN 332

/* A snapshot of packs. The content of the packs is arbitrary. */
struct packs {
	struct odb odb;
	struct odb_pack list[PACK_NR];
	struct pack packs[PACK_NR];
	uint8_t bytes[PACK_NR][PACK_LEN];
};

static void packs_init(struct packs *p)
{
	memset(p, 0, sizeof(*p));
	for (int i = 0; i < PACK_NR; i++) {
		memset(p->bytes[i], 'a' + i, PACK_LEN);
		memset(p->packs[i].checksum.bytes, 0x11 * i, 20);
		p->packs[i].file.len = PACK_LEN;
		p->packs[i].file.bytes = p->bytes[i];
		p->list[i].pack = &p->packs[i];
	}
	p->odb.algo = HASH_SHA1;
	p->odb.packs = p->list;
	p->odb.pack_nr = PACK_NR;
}

static const uint8_t key[PLAN_KEY_LEN] = {7, 8, 9};

static const struct packing_report numbers = {
	.objects = 1,
	.deltas = 2,
	.reused = 3,
	.reused_deltas = 4,
	.pack_reused = 5,
	.packs_reused = 6,
	.bytes_verbatim = UINT64_C(7) << 32,
	.bytes_recompressed = UINT64_C(8) << 32,
	.strategy = "stored pack",
	.no_bitmap = "there is none",
};

static void add(struct plan *plan, const uint8_t *span, const char *literal,
		size_t len)
{
	assert_int_equal(mem_grow(&plan->pieces, &plan->alloc, plan->nr + 1,
				  sizeof(*plan->pieces)),
			 0);
	plan->pieces[plan->nr++] = (struct plan_piece){span, len};
	if (!span)
		assert_int_equal(buf_append(&plan->literals, literal, len), 0);
}

/*
 * Makes a plan (cached response) that uses ranges of two packs, and its file.
 * The caller releases both.
 */
static void make(struct plan *plan, struct buf *file, const struct packs *p)
{
	*plan = PLAN_INIT;
	*file = (struct buf)BUF_INIT;
	add(plan, NULL, "header", 6);
	add(plan, p->bytes[2] + 10, NULL, 20);
	add(plan, p->bytes[0], NULL, PACK_LEN);
	add(plan, NULL, "x", 1);
	add(plan, p->bytes[2] + PACK_LEN - 1, NULL, 1);
	assert_int_equal(
		plan_file_print(file, key, plan, &numbers, &p->odb, NULL), 0);
}

static int put(void *ctx, const void *bytes, size_t len, struct error *err)
{
	return buf_append(ctx, bytes, len);
}

static void assert_same(const struct plan *a, const struct plan *b)
{
	struct buf x = BUF_INIT, y = BUF_INIT;
	const struct pack_sink sinks[] = {{.put = put, .ctx = &x},
					  {.put = put, .ctx = &y}};

	assert_int_equal(plan_send(a, &sinks[0], NULL), 0);
	assert_int_equal(plan_send(b, &sinks[1], NULL), 0);
	assert_int_equal(x.len, y.len);
	assert_memory_equal(x.data, y.data, x.len);
	assert_int_equal(plan_pack_len(a), x.len);
	assert_int_equal(plan_pack_len(b), x.len);
	buf_release(&x);
	buf_release(&y);
}

static void round_trip(void **state)
{
	struct packs p;
	struct plan plan, again;
	struct plan_file f;
	struct buf file;

	packs_init(&p);
	make(&plan, &file, &p);
	assert_int_equal(plan_file_len(&plan, 2, HASH_SHA1), file.len);
	assert_int_equal(plan_file_parse(&f, file.data, file.len, "it", NULL),
			 0);
	assert_memory_equal(f.key, key, PLAN_KEY_LEN);
	assert_int_equal(f.pack_nr, 2);
	assert_int_equal(f.piece_nr, 5);
	assert_int_equal(f.report.objects, 1);
	assert_int_equal(f.report.deltas, 2);
	assert_int_equal(f.report.reused, 3);
	assert_int_equal(f.report.reused_deltas, 4);
	assert_int_equal(f.report.pack_reused, 5);
	assert_int_equal(f.report.packs_reused, 6);
	assert_true(f.report.bytes_verbatim == UINT64_C(7) << 32);
	assert_true(f.report.bytes_recompressed == UINT64_C(8) << 32);
	assert_string_equal(f.report.strategy, "stored pack");
	assert_false(f.report.used_bitmap);
	assert_null(f.report.no_bitmap);
	assert_int_equal(plan_file_resolve(&again, &f, &p.odb, NULL), 0);
	assert_same(&plan, &again);
	plan_release(&again);
	plan_release(&plan);
	buf_release(&file);
}

/*
 * Makes a plan (cached response) and its file. The plan leaves out `blobs`
 * objects, and a pack of `pack_len` bytes (0: no pack). The caller releases
 * both.
 */
static void make_lacking(struct plan *plan, struct buf *file,
			 const struct packs *p, size_t blobs, uint64_t pack_len)
{
	struct packing_report report = numbers;

	make(plan, file, p);
	buf_reset(file);
	plan->absent.blobs = mem_calloc(2, sizeof(*plan->absent.blobs));
	assert_non_null(plan->absent.blobs);
	plan->absent.nr = blobs;
	plan->absent.blobs[0].bytes[19] = 1;
	plan->absent.blobs[1].bytes[0] = 2;
	plan->absent.pack_len = pack_len;
	if (pack_len)
		plan->absent.pack.bytes[5] = 3;
	report.objects_elsewhere = 9;
	report.bytes_elsewhere = pack_len;
	assert_int_equal(
		plan_file_print(file, key, plan, &report, &p->odb, NULL), 0);
}

static void absent_objects(void **state)
{
	static const struct {
		size_t blobs;
		uint64_t pack_len;
	} cases[] = {{2, 0}, {0, UINT64_C(5) << 33}, {1, 1}};
	struct packs p;
	struct plan plan, again;
	struct plan_file f;
	struct buf file;

	packs_init(&p);
	for (size_t i = 0; i < ARRAY_NR(cases); i++) {
		make_lacking(&plan, &file, &p, cases[i].blobs,
			     cases[i].pack_len);
		assert_int_equal(plan_file_len(&plan, 2, HASH_SHA1), file.len);
		assert_int_equal(
			plan_file_parse(&f, file.data, file.len, "it", NULL),
			0);
		assert_int_equal(f.report.objects_elsewhere, 9);
		assert_true(f.report.bytes_elsewhere == cases[i].pack_len);
		assert_int_equal(plan_file_resolve(&again, &f, &p.odb, NULL),
				 0);
		assert_same(&plan, &again);
		assert_int_equal(again.absent.nr, cases[i].blobs);
		for (size_t k = 0; k < again.absent.nr; k++)
			assert_true(oid_equal(&again.absent.blobs[k],
					      &plan.absent.blobs[k]));
		assert_true(again.absent.pack_len == cases[i].pack_len);
		assert_true(oid_equal(&again.absent.pack, &plan.absent.pack));
		plan_release(&again);
		plan_release(&plan);
		buf_release(&file);
	}
}

/*
 * A plan (cached response) can be used if the snapshot has all packs to which
 * the plan refers, in any order.
 */
static void other_packs(void **state)
{
	struct packs p;
	struct plan plan, again;
	struct plan_file f;
	struct buf file;
	struct odb_pack first;

	packs_init(&p);
	make(&plan, &file, &p);
	assert_int_equal(plan_file_parse(&f, file.data, file.len, "it", NULL),
			 0);
	first = p.list[0];
	p.list[0] = p.list[2];
	p.list[2] = first;
	assert_int_equal(plan_file_resolve(&again, &f, &p.odb, NULL), 0);
	assert_same(&plan, &again);
	plan_release(&again);
	p.odb.pack_nr--;
	assert_int_equal(plan_file_resolve(&again, &f, &p.odb, NULL),
			 ERR_MISSING);
	plan_release(&again);
	p.odb.pack_nr++;
	p.packs[2].checksum.bytes[19]++;
	assert_int_equal(plan_file_resolve(&again, &f, &p.odb, NULL),
			 ERR_MISSING);
	plan_release(&again);
	p.packs[2].checksum.bytes[19]--;
	p.packs[2].file.len--;
	assert_int_equal(plan_file_resolve(&again, &f, &p.odb, NULL),
			 ERR_MISSING);
	plan_release(&again);
	p.packs[2].file.len++;
	p.odb.algo = HASH_SHA256;
	assert_int_equal(plan_file_resolve(&again, &f, &p.odb, NULL),
			 ERR_MISSING);
	plan_release(&again);
	plan_release(&plan);
	buf_release(&file);
}

static void no_file(void **state)
{
	static const uint8_t elsewhere[4];
	struct packing_report report = numbers;
	struct packs p;
	struct plan plan;
	struct buf file;

	packs_init(&p);
	make(&plan, &file, &p);
	report.strategy = "unheard of";
	assert_int_equal(
		plan_file_print(&file, key, &plan, &report, &p.odb, NULL),
		ERR_INVALID);
	add(&plan, elsewhere, NULL, 4);
	assert_int_equal(
		plan_file_print(&file, key, &plan, &numbers, &p.odb, NULL),
		ERR_INVALID);
	plan_release(&plan);
	buf_release(&file);
}

/* A file with a changed byte is refused. A truncated file is refused, too. */
static void damage(void **state)
{
	struct packs p;
	struct plan plan;
	struct plan_file f;
	struct buf file;

	packs_init(&p);
	make(&plan, &file, &p);
	for (size_t i = 0; i < file.len; i++) {
		file.data[i] ^= 0x10;
		assert_true(plan_file_parse(&f, file.data, file.len, "it",
					    NULL) < 0);
		file.data[i] ^= 0x10;
		assert_int_equal(plan_file_parse(&f, file.data, i, "it", NULL),
				 ERR_CORRUPT);
	}
	assert_int_equal(plan_file_parse(&f, file.data, file.len, "it", NULL),
			 0);
	plan_release(&plan);
	buf_release(&file);
}

/*
 * Parse a copy of the file of a plan (cached response) in which the four bytes
 * at the offset `off` are replaced by `number`. The checksum of the copy is
 * right. Returns the result of parsing.
 */
static int parse_with(const struct buf *file, size_t off, uint32_t number)
{
	struct buf bytes = BUF_INIT;
	struct plan_file f;
	int ret;

	assert_int_equal(buf_append(&bytes, file->data, file->len - 32), 0);
	assert_int_not_equal(load_be32(bytes.data + off), number);
	store_be32(bytes.data + off, number);
	assert_int_equal(hash_append_trailer(&bytes, 0, HASH_SHA256, NULL), 0);
	ret = plan_file_parse(&f, bytes.data, bytes.len, "it", NULL);
	buf_release(&bytes);
	return ret;
}

static void wrong_numbers(void **state)
{
	const size_t pieces = 104 + 2 * 28;
	struct packs p;
	struct plan plan;
	struct buf file;

	packs_init(&p);
	make(&plan, &file, &p);
	assert_int_equal(parse_with(&file, 0, 1), ERR_CORRUPT);
	assert_int_equal(parse_with(&file, 4, 2), ERR_UNSUPPORTED);
	assert_int_equal(parse_with(&file, 8, 1), 0); /* wrong key */
	assert_int_equal(parse_with(&file, 40, 3), ERR_CORRUPT);
	assert_int_equal(parse_with(&file, 40, 2), ERR_CORRUPT);
	assert_int_equal(parse_with(&file, 44, 0x502), ERR_CORRUPT);
	assert_int_equal(parse_with(&file, 44, 0x600), 0);
	assert_int_equal(parse_with(&file, 44, 0x700), 0);
	assert_int_equal(parse_with(&file, 44, 0x900), ERR_CORRUPT);
	assert_int_equal(parse_with(&file, 44, 0x504), ERR_CORRUPT);
	assert_int_equal(parse_with(&file, 48, 1), ERR_CORRUPT);
	assert_int_equal(parse_with(&file, 48, UINT32_MAX), ERR_CORRUPT);
	assert_int_equal(parse_with(&file, 52, 4), ERR_CORRUPT);
	assert_int_equal(parse_with(&file, 52, UINT32_MAX), ERR_CORRUPT);
	assert_int_equal(parse_with(&file, 56, UINT32_MAX), ERR_CORRUPT);
	assert_int_equal(parse_with(&file, 60, 6), ERR_CORRUPT);
	/*
	 * The file of a plan (cached response) states the size of each pack.
	 * The first size is made too small for a range of the plan, which must
	 * be an error. A size above the real one is accepted.
	 */
	assert_int_equal(parse_with(&file, 104 + 24, PACK_LEN - 1),
			 ERR_CORRUPT);
	assert_int_equal(parse_with(&file, 104 + 24, PACK_LEN + 1), 0);
	/*
	 * A literal is a range of bytes that the plan itself has. First its
	 * offset is wrong, then its length.
	 */
	assert_int_equal(parse_with(&file, pieces + 8, 1), ERR_CORRUPT);
	assert_int_equal(parse_with(&file, pieces + 16, 5), ERR_CORRUPT);
	assert_int_equal(parse_with(&file, pieces + 16, 7), ERR_CORRUPT);
	assert_int_equal(parse_with(&file, pieces + 16, 0), ERR_CORRUPT);
	/*
	 * Change the pack of a range, then its offset, then its length. Only
	 * values within the packs are accepted.
	 */
	assert_int_equal(parse_with(&file, pieces + 20, 1), 0);
	assert_int_equal(parse_with(&file, pieces + 20, 2), ERR_CORRUPT);
	assert_int_equal(parse_with(&file, pieces + 28, PACK_LEN - 20), 0);
	assert_int_equal(parse_with(&file, pieces + 28, PACK_LEN - 19),
			 ERR_CORRUPT);
	assert_int_equal(parse_with(&file, pieces + 24, UINT32_MAX),
			 ERR_CORRUPT);
	assert_int_equal(parse_with(&file, pieces + 32, UINT32_MAX),
			 ERR_CORRUPT);
	plan_release(&plan);
	buf_release(&file);
	/*
	 * A file is refused if its table of left-out objects is empty, or too
	 * long for the file.
	 */
	make_lacking(&plan, &file, &p, 1, 0);
	assert_int_equal(parse_with(&file, 104, 0), ERR_CORRUPT);
	assert_int_equal(parse_with(&file, 104, 2), ERR_CORRUPT);
	assert_int_equal(parse_with(&file, 104, UINT32_MAX), ERR_CORRUPT);
	assert_int_equal(parse_with(&file, 44, 0x500), ERR_CORRUPT);
	plan_release(&plan);
	buf_release(&file);
}

/* Parse the example of Documentation/format/plan.md. */
static void worked_example(void **state)
{
	static const char example[] =
		"50504c4e 00000001"
		" 5e5e5e5e x 8"
		" 00000001 00000001"
		" 00000001 00000003"
		" 00000000 00000020"
		" 00000004 00000001 00000001"
		" 00000000 00000003 00000001"
		" 00000000 0000012c 00000000 00000009"
		" 11111111 x 5"
		" 00000000 0000014c"
		" ffffffff 00000000 00000000 00000000 0000000c"
		" 00000000 00000000 0000000c 00000000 0000012c"
		" ffffffff 00000000 00000000 00000000 00000014"
		" 5041434b 00000002 00000004"
		" 22222222 x 5"
		" a51b95f1 b7d20d10 571d13c1 60b9e006"
		" df2cf3af 133b04a3 a3971617 37cefbb0";
	struct buf bytes = BUF_INIT, again = BUF_INIT;
	struct packs p;
	struct plan plan;
	struct plan_file f;

	packs_init(&p);
	hexdump_parse(&bytes, example);
	assert_int_equal(
		plan_file_parse(&f, bytes.data, bytes.len, "example", NULL), 0);
	assert_string_equal(f.report.strategy, "bitmap");
	assert_true(f.report.used_bitmap);
	assert_int_equal(f.report.pack_reused, 3);
	assert_int_equal(plan_file_resolve(&plan, &f, &p.odb, NULL), 0);
	assert_int_equal(plan.nr, 3);
	assert_ptr_equal(plan.pieces[1].span, p.bytes[1] + 12);
	assert_int_equal(plan.pieces[1].len, 300);
	assert_memory_equal(plan.stored, "PACK", 4);
	/*
	 * Print the parsed plan (cached response). The result must be the same
	 * file.
	 */
	assert_int_equal(buf_append(&plan.literals, f.literals, f.literal_len),
			 0);
	assert_int_equal(
		plan_file_print(&again, f.key, &plan, &f.report, &p.odb, NULL),
		0);
	assert_int_equal(again.len, bytes.len);
	assert_memory_equal(again.data, bytes.data, bytes.len);
	plan_release(&plan);
	buf_release(&bytes);
	buf_release(&again);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(round_trip),
		cmocka_unit_test(absent_objects),
		cmocka_unit_test(other_packs),
		cmocka_unit_test(no_file),
		cmocka_unit_test(damage),
		cmocka_unit_test(wrong_numbers),
		cmocka_unit_test(worked_example),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
