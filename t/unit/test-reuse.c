/* SPDX-License-Identifier: MIT */
/*
 * Tests of packing/reuse.c, which copies ranges of a stored pack into a new
 * pack. The copied objects must be the same as if each entry were decoded and
 * sent.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/mem.h"
#include "packing/reuse.h"
#include "t/unit/bitmaprepo.h"
#include "t/unit/midxbitmap.h"
#include "t/unit/midxrepo.h"
#include "t/unit/packread.h"

/*
 * Make a repository with one pack. All of its deltas are OFS_DELTAs, or all are
 * REF_DELTAs.
 */
static void make(struct randrepo *r, bool ofs_delta, uint64_t *seed)
{
	struct repack_options options;
	struct repack_result result;

	randrepo_init(r, HASH_SHA1, seed);
	randrepo_history(r, 80);
	randrepo_store_pack(r);
	randrepo_all_refs(r);
	bitmaprepo_options(&options, &r->t.repo);
	options.newpack.ofs_delta = ofs_delta;
	options.newpack.make.reuse_delta = false;
	assert_int_equal(repack_run(&result, &r->t.repo, &options, NULL), 0);
	assert_true(result.report.deltas > 50);
}

/* Set runs of bits in a set. The lengths of runs and of gaps are random. */
static void random_runs(struct bitset *set, size_t bits, uint64_t *seed)
{
	unsigned longest = 1 + random_next(seed) % 60;
	bool on = random_next(seed) % 2;

	assert_int_equal(bitset_init(set, bits), 0);
	for (size_t at = 0; at < bits; on = !on) {
		size_t len = 1 + random_next(seed) % longest;
		size_t end = bits - at < len ? bits : at + len;

		if (on)
			bitset_set_range(set, at, end);
		at = end;
	}
}

struct copy {
	struct buf pack;
	struct bitset left_over;
	struct reuse_report report;
};

static void copy_make(struct copy *c, const struct reuse_request *request)
{
	struct pack_sink sink = {.put = packread_put, .ctx = &c->pack};
	enum hash_algo algo = request->space->odb->algo;
	struct pack_writer writer;
	struct oid sum;

	memset(c, 0, sizeof(*c));
	buf_init(&c->pack);
	assert_int_equal(pack_writer_init(&writer, sink, 0, algo, false, NULL),
			 0);
	assert_int_equal(
		reuse_write(&c->left_over, request, &writer, &c->report, NULL),
		0);
	assert_int_equal(pack_writer_finish(&writer, &sum, NULL), 0);
	pack_writer_release(&writer);
	packread_seal(&c->pack, c->report.objects, algo);
}

static void copy_release(struct copy *c)
{
	buf_release(&c->pack);
	bitset_release(&c->left_over);
}

/*
 * Check that exactly the wanted objects are either copied or left over. Objects
 * that are left over must be sent in another way.
 */
static void copy_check(const struct bitmaprepo *b, const struct copy *c,
		       const struct reuse_request *request,
		       struct packread *read)
{
	bool *thin = calloc(RANDREPO_MAX, sizeof(*thin));
	size_t nr = 0;

	assert_non_null(thin);
	for (uint32_t bit = 0;
	     request->uninteresting && bit < request->uninteresting->bits;
	     bit++)
		thin[bitmaprepo_at(b, bit)] = bitset_test(
			request->uninteresting, bit);
	packread_open(read, b->r, c->pack.data, c->pack.len,
		      request->uninteresting ? thin : NULL);
	assert_int_equal(read->nr, c->report.objects);
	for (uint32_t bit = 0; bit < request->want->bits; bit++) {
		bool wanted = bitset_test(request->want, bit);
		bool left = bitset_get(&c->left_over, bit);

		assert_false(left && !wanted);
		assert_int_equal(read->has[bitmaprepo_at(b, bit)],
				 wanted && !left);
		nr += wanted;
	}
	assert_int_equal(nr, read->nr + bitset_count(&c->left_over));
	if (!request->ofs_delta)
		assert_int_equal(read->ofs_nr, 0);
	free(thin);
}

/* Copies random subsets of the objects that have bits, and checks the copies.
 */
static void check_subsets(const struct bitmaprepo *b, bool all_packs,
			  uint64_t *seed)
{
	size_t thin = 0, left = 0, deltas = 0;

	for (int i = 0; i < 60; i++) {
		struct bitset want, uninteresting;
		struct reuse_request request = {
			.space = &b->pb->space,
			.want = &want,
			.uninteresting = random_next(seed) % 2 ? &uninteresting
							       : NULL,
			.all_packs = all_packs,
			.ofs_delta = random_next(seed) % 2,
		};
		struct packread read;
		struct copy c;

		random_runs(&want, b->pb->file.object_nr, seed);
		random_runs(&uninteresting, b->pb->file.object_nr, seed);
		bitset_andnot(&uninteresting, &want);
		copy_make(&c, &request);
		copy_check(b, &c, &request, &read);
		deltas += read.ofs_nr + read.ref_nr;
		thin += read.thin_nr;
		left += bitset_count(&c.left_over);
		packread_release(&read);
		copy_release(&c);
		bitset_release(&want);
		bitset_release(&uninteresting);
	}
	assert_true(thin > 10 && left > 10 && deltas > 100);
}

static void random_subsets(bool stored_ofs)
{
	uint64_t seed = random_seed();
	struct randrepo r;
	struct bitmaprepo b;

	make(&r, stored_ofs, &seed);
	bitmaprepo_open(&b, &r);
	check_subsets(&b, false, &seed);
	bitmaprepo_close(&b);
	randrepo_release(&r);
}

static void subsets_of_ofs_deltas(void **state)
{
	random_subsets(true);
}

static void subsets_of_ref_deltas(void **state)
{
	random_subsets(false);
}

/*
 * Objects are copied from three packs. Each pack has OFS_DELTAs, whose bases
 * are in the same pack.
 */
static void subsets_of_packs(void **state)
{
	uint64_t seed = random_seed();
	struct bitmap_space_part *parts;
	struct randrepo r;
	struct bitmaprepo b;
	size_t part_nr;

	randrepo_init(&r, HASH_SHA1, &seed);
	for (int i = 0; i < 3; i++) {
		randrepo_history(&r, 40);
		randrepo_store(&r);
		randrepo_all_refs(&r);
		bitmaprepo_repack(&r, false, false);
	}
	midxbitmap_write(&r);
	bitmaprepo_open(&b, &r);
	assert_int_equal(bitmap_space_parts(&parts, &part_nr, &b.pb->space), 0);
	assert_int_equal(part_nr, 3);
	check_subsets(&b, true, &seed);
	free(parts);
	bitmaprepo_close(&b);
	randrepo_release(&r);
}

/*
 * All objects are wanted. The whole pack is copied byte for byte if the
 * receiver accepts OFS_DELTA, or if the pack has no entry of this type.
 */
static void everything(void **state)
{
	uint64_t seed = random_seed();

	for (int i = 0; i < 4; i++) {
		struct reuse_request request = {.ofs_delta = i & 1};
		struct bitset want;
		struct packread read;
		struct bitmaprepo b;
		struct randrepo r;
		struct copy c;

		make(&r, i & 2, &seed);
		bitmaprepo_open(&b, &r);
		request.space = &b.pb->space;
		request.want = &want;
		assert_int_equal(bitset_init(&want, b.pb->file.object_nr), 0);
		bitset_set_range(&want, 0, want.bits);
		copy_make(&c, &request);
		copy_check(&b, &c, &request, &read);
		assert_true(bitset_is_empty(&c.left_over));
		if (request.ofs_delta)
			assert_int_equal(c.report.bytes_verbatim,
					 c.pack.len - 12 - 20);
		if (request.ofs_delta || !(i & 2)) {
			assert_int_equal(c.pack.len,
					 b.pb->space.pack->pack->file.len);
			assert_memory_equal(
				c.pack.data,
				pack_bytes(b.pb->space.pack->pack, NULL),
				c.pack.len);
		}
		packread_release(&read);
		copy_release(&c);
		bitset_release(&want);
		bitmaprepo_close(&b);
		randrepo_release(&r);
	}
}

/*
 * There are large gaps between the copied objects. So distances to delta bases
 * shrink, headers get shorter, and later entries move.
 */
static void far_bases(void **state)
{
	uint64_t seed = random_seed();
	struct randrepo r;
	struct bitmaprepo b;

	make(&r, true, &seed);
	bitmaprepo_open(&b, &r);
	for (int i = 0; i < 40; i++) {
		struct bitset want;
		struct reuse_request request = {
			.space = &b.pb->space,
			.want = &want,
			.ofs_delta = true,
		};
		struct packread read;
		struct copy c;

		assert_int_equal(bitset_init(&want, b.pb->file.object_nr), 0);
		for (size_t bit = 0; bit < want.bits; bit++)
			if (random_next(&seed) % 64 < (unsigned)i + 1)
				bitset_set(&want, bit);
		copy_make(&c, &request);
		copy_check(&b, &c, &request, &read);
		packread_release(&read);
		copy_release(&c);
		bitset_release(&want);
	}
	bitmaprepo_close(&b);
	randrepo_release(&r);
}

/*
 * A REF_DELTA comes before its base in the pack. Such a delta is left over (its
 * entry is not copied), unless the pack is copied as a whole.
 */
static void base_after_delta(void **state)
{
	uint64_t seed = random_seed();
	struct reuse_request request = {.ofs_delta = true};
	struct packfile *p = malloc(sizeof(*p));
	struct pack_entry entry = {.type = OBJ_REF_DELTA};
	struct buf delta = BUF_INIT, text = BUF_INIT;
	struct odb odb = {.algo = HASH_SHA1};
	struct odb_pack pack = {NULL, 0};
	struct bitmap_space space;
	struct randrepo r;
	struct bitset want;
	struct oid base, oid;
	struct copy c;
	uint32_t nr;

	assert_non_null(p);
	randrepo_init(&r, HASH_SHA1, &seed);
	nr = randrepo_blob(&r, 3);
	base = r.objects[nr].oid;
	buf_append(&text, r.objects[nr].data.data, r.objects[nr].data.len);
	packfile_make_delta(&delta, text.len, "more\n");
	buf_append_str(&text, "more\n");
	oid = r.objects[randrepo_add(&r, OBJ_BLOB, &text, NULL, 0)].oid;
	packfile_init(p, HASH_SHA1);
	entry.size = delta.len;
	entry.base_oid = base.bytes;
	packfile_add_entry(p, &entry, delta.data, delta.len, &oid);
	packfile_add(p, OBJ_BLOB, r.objects[nr].data.data,
		     r.objects[nr].data.len);
	pack.pack = packfile_open(p);
	space = bitmap_space_of_pack(&odb, &pack,
				     pack_get_rev(pack.pack, NULL));
	assert_int_equal(bitset_init(&want, 3), 0);
	bitset_set_range(&want, 0, 2);
	request.space = &space;
	request.want = &want;
	/*
	 * If the receiver accepts OFS_DELTA, the pack is copied as a whole.
	 * Otherwise each entry is checked.
	 */
	copy_make(&c, &request);
	assert_int_equal(c.report.objects, 2);
	copy_release(&c);
	request.ofs_delta = false;
	copy_make(&c, &request);
	assert_int_equal(c.report.objects, 1);
	assert_true(bitset_get(&c.left_over, 0));
	copy_release(&c);
	bitset_release(&want);
	pack_close(pack.pack);
	packfile_release(p);
	free(p);
	buf_release(&delta);
	buf_release(&text);
	randrepo_release(&r);
}

/*
 * Add an OFS_DELTA that appends `tail` to an entry of the pack. Returns the
 * number of the new entry.
 */
static uint32_t add_ofs_delta(struct packfile *p, uint32_t base,
			      const struct buf *text, const char *tail)
{
	struct pack_entry entry = {.type = OBJ_OFS_DELTA};
	struct buf delta = BUF_INIT, whole = BUF_INIT;
	struct oid oid;
	uint32_t nr;

	packfile_make_delta(&delta, text->len, tail);
	buf_append(&whole, text->data, text->len);
	buf_append_str(&whole, tail);
	hash_object(&p->hash, &oid, OBJ_BLOB, whole.data, whole.len);
	entry.size = delta.len;
	entry.base_distance = p->bytes.len - p->offsets[base];
	nr = packfile_add_entry(p, &entry, delta.data, delta.len, &oid);
	buf_release(&delta);
	buf_release(&whole);
	return nr;
}

/*
 * Add a blob whose entry has `entry_len` bytes. Sets `text` to the content of
 * the blob. Returns the number of the entry.
 */
static uint32_t add_blob_of_len(struct packfile *p, size_t entry_len,
				struct buf *text)
{
	static const char bytes[] = "0123456789abcde";

	for (size_t len = 0; len < 16; len++) {
		struct buf deflated = BUF_INIT;
		size_t found;

		assert_int_equal(
			deflater_append(p->deflater, &deflated, bytes, len), 0);
		/* In a pack, the header of such a small object has one byte. */
		found = 1 + deflated.len;
		buf_release(&deflated);
		if (found == entry_len) {
			buf_append(text, bytes, len);
			return packfile_add(p, OBJ_BLOB, bytes, len);
		}
	}
	fail_msg("no blob has an entry of %zu bytes", entry_len);
	return 0;
}

/*
 * When the pack is copied, entry GAP is left out, and the earlier entry GROWS
 * gets longer by as many bytes. So the entries after GAP keep their offsets.
 * But the delta LEFT, whose base is GAP, must not be copied.
 */
static void gap_as_long_as_growth(void **state)
{
	/*
	 * Entry GROWS gets 19 bytes longer: an id of 20 bytes replaces a
	 * distance of one byte.
	 */
	enum { BASE, GROWS, GAP, BETWEEN, LEFT, NR };
	struct packfile *p = malloc(sizeof(*p));
	struct odb odb = {.algo = HASH_SHA1};
	struct odb_pack pack = {NULL, 0};
	struct buf base = BUF_INIT, gap = BUF_INIT;
	struct bitset want, uninteresting;
	struct bitmap_space space;
	struct reuse_request request = {
		.space = &space,
		.want = &want,
		.uninteresting = &uninteresting,
		.ofs_delta = true,
	};
	struct copy c;

	assert_non_null(p);
	packfile_init(p, HASH_SHA1);
	buf_append_str(&base, "the base\n");
	packfile_add(p, OBJ_BLOB, base.data, base.len);
	add_ofs_delta(p, BASE, &base, "grows\n");
	add_blob_of_len(p, 19, &gap);
	packfile_add(p, OBJ_BLOB, "between\n", 8);
	assert_int_equal(add_ofs_delta(p, GAP, &gap, "left\n"), LEFT);
	assert_int_equal(p->offsets[BETWEEN] - p->offsets[GAP], 19);
	pack.pack = packfile_open(p);
	space = bitmap_space_of_pack(&odb, &pack,
				     pack_get_rev(pack.pack, NULL));
	assert_int_equal(bitset_init(&want, NR), 0);
	assert_int_equal(bitset_init(&uninteresting, NR), 0);
	bitset_set(&uninteresting, BASE);
	bitset_set(&want, GROWS);
	bitset_set(&want, BETWEEN);
	bitset_set(&want, LEFT);
	copy_make(&c, &request);
	assert_int_equal(c.report.objects, 2);
	assert_int_equal(bitset_count(&c.left_over), 1);
	assert_true(bitset_get(&c.left_over, LEFT));
	copy_release(&c);
	bitset_release(&want);
	bitset_release(&uninteresting);
	pack_close(pack.pack);
	packfile_release(p);
	free(p);
	buf_release(&base);
	buf_release(&gap);
}

/*
 * Write pack-c again, with its objects at other offsets than the
 * multi-pack-index says.
 */
static void replace_pack_c(struct midxrepo *m)
{
	struct tmppack_object first = m->objects[2][0];

	m->objects[2][0] = m->objects[2][2];
	m->objects[2][2] = first;
	tmprepo_remove(&m->t, "objects/pack/pack-c.pack");
	tmprepo_remove(&m->t, "objects/pack/pack-c.idx");
	tmppack_write(&m->t, "objects", "pack-c", m->objects[2],
		      MIDXREPO_PER_PACK, false);
}

/*
 * One of three packs contradicts the multi-pack-index. No object of this pack
 * is copied: all its wanted objects are left over. The other packs are copied.
 */
static void pack_that_was_replaced(void **state)
{
	struct bitset want;
	struct bitmap_space space;
	struct bitmap_space_part *parts;
	struct reuse_request request = {
		.space = &space,
		.want = &want,
		.all_packs = true,
		.ofs_delta = true,
	};
	struct midxrepo m;
	struct copy c;
	size_t part_nr, last;
	struct odb *odb;

	midxrepo_init(&m);
	replace_pack_c(&m);
	assert_int_equal(odb_open(&odb, &m.t.repo, NULL, NULL), 0);
	assert_non_null(odb->midxes[0]);
	space = bitmap_space_of_midx(odb, odb->midxes[0], &m.order);
	assert_int_equal(bitmap_space_parts(&parts, &part_nr, &space), 0);
	assert_int_equal(part_nr, MIDXREPO_PACKS);
	last = parts[2].first;
	assert_string_equal(parts[2].pack->pack->name, "pack-c");
	assert_int_equal(parts[2].nr, 2);
	assert_int_equal(bitset_init(&want, last + 2), 0);
	bitset_set_range(&want, 0, want.bits);
	copy_make(&c, &request);
	assert_int_equal(c.report.packs, 2);
	assert_int_equal(c.report.objects, last);
	assert_int_equal(bitset_count(&c.left_over), 2);
	assert_true(bitset_get(&c.left_over, last));
	assert_true(bitset_get(&c.left_over, last + 1));
	copy_release(&c);
	bitset_release(&want);
	free(parts);
	odb_close(odb);
	midxrepo_release(&m);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(subsets_of_ofs_deltas),
		cmocka_unit_test(subsets_of_ref_deltas),
		cmocka_unit_test(subsets_of_packs),
		cmocka_unit_test(everything),
		cmocka_unit_test(far_bases),
		cmocka_unit_test(base_after_delta),
		cmocka_unit_test(gap_as_long_as_growth),
		cmocka_unit_test(pack_that_was_replaced),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
