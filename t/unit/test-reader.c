/* SPDX-License-Identifier: MIT */
/*
 * Tests of pack/reader.c: whole objects, OFS_DELTA and REF_DELTA objects, long
 * delta chains, cycles, and invalid packs. A read must fail or return the right
 * bytes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "pack/reader.h"
#include "t/unit/packfile.h"
#include "t/unit/random.h"
#include "base/buf.h"
#include "base/mem.h"

#define CACHE_LIMIT ((size_t)1 << 20)

/* A pack, and the expected content of its objects. */
struct sample {
	struct packfile file;
	struct buf text[PACKFILE_MAX];
	enum object_type type[PACKFILE_MAX];
};

static uint32_t sample_add(struct sample *s, enum object_type type,
			   const void *data, size_t len)
{
	uint32_t n = packfile_add(&s->file, type, data, len);

	assert_int_equal(buf_append(&s->text[n], data, len), 0);
	s->type[n] = type;
	return n;
}

/*
 * Adds a delta against entry `base`. Its result is the content of `base`,
 * followed by `more`. `type`: OBJ_OFS_DELTA or OBJ_REF_DELTA. Returns the
 * number of the new entry.
 */
static uint32_t sample_add_delta(struct sample *s, enum object_type type,
				 uint32_t base, const char *more)
{
	struct buf *text = &s->text[s->file.nr];
	struct oid oid;

	assert_int_equal(
		buf_append(text, s->text[base].data, s->text[base].len), 0);
	assert_int_equal(buf_append_str(text, more), 0);
	s->type[s->file.nr] = s->type[base];
	hash_object(&s->file.hash, &oid, s->type[base], text->data, text->len);
	return packfile_add_delta(&s->file, type, base, s->text[base].len, more,
				  &oid);
}

static void sample_init(struct sample *s, enum hash_algo algo)
{
	for (size_t i = 0; i < PACKFILE_MAX; i++)
		buf_init(&s->text[i]);
	packfile_init(&s->file, algo);
}

static void sample_release(struct sample *s)
{
	for (size_t i = 0; i < PACKFILE_MAX; i++)
		buf_release(&s->text[i]);
	packfile_release(&s->file);
}

/*
 * Adds one object of each type, an empty object, and chains of OFS_DELTA and of
 * REF_DELTA objects.
 */
static void sample_init_mixed(struct sample *s, enum hash_algo algo)
{
	uint32_t blob, delta;

	sample_init(s, algo);
	sample_add(s, OBJ_COMMIT, "commit text", 11);
	sample_add(s, OBJ_TREE, "tree text", 9);
	blob = sample_add(s, OBJ_BLOB, "a blob, a blob, a blob, a blob", 30);
	sample_add(s, OBJ_TAG, "tag text", 8);
	sample_add(s, OBJ_BLOB, "", 0);
	delta = sample_add_delta(s, OBJ_OFS_DELTA, blob, "ofs");
	delta = sample_add_delta(s, OBJ_REF_DELTA, delta, "ref");
	delta = sample_add_delta(s, OBJ_OFS_DELTA, delta, "again");
	sample_add_delta(s, OBJ_REF_DELTA, delta, "and again");
	sample_add_delta(s, OBJ_REF_DELTA, 4, "onto nothing");
	sample_add_delta(s, OBJ_OFS_DELTA, 1, "subtree");
}

static void check_object(const struct sample *s, uint32_t n,
			 const struct pack_object *obj)
{
	assert_int_equal(obj->type, s->type[n]);
	assert_int_equal(obj->len, s->text[n].len);
	assert_memory_equal(obj->data, s->text[n].data, obj->len);
	assert_int_equal(obj->data[obj->len], 0);
}

static void check_read(const struct sample *s, struct pack_reader *r,
		       struct pack *pack, uint32_t n)
{
	struct pack_object obj;
	struct error err = ERROR_INIT;

	if (pack_reader_read(r, pack, s->file.offsets[n], &obj, &err) < 0)
		fail_msg("%s", err.msg);
	check_object(s, n, &obj);
	pack_object_release(r, &obj);
	assert_null(obj.data);
}

static void check_info(const struct sample *s, struct pack_reader *r,
		       struct pack *pack, uint32_t n)
{
	enum object_type type = OBJ_NONE;
	uint64_t size = 0;

	assert_int_equal(pack_reader_info(r, pack, s->file.offsets[n], &type,
					  &size, NULL),
			 0);
	assert_int_equal(type, s->type[n]);
	assert_int_equal(size, s->text[n].len);
	assert_int_equal(pack_reader_info(r, pack, s->file.offsets[n], NULL,
					  &size, NULL),
			 0);
	assert_int_equal(pack_reader_info(r, pack, s->file.offsets[n], &type,
					  NULL, NULL),
			 0);
}

static void check_all(struct sample *s, size_t cache_limit, uint64_t *seed)
{
	struct pack *pack = packfile_open(&s->file);
	struct pack_reader *r = pack_reader_new(cache_limit);

	assert_non_null(r);
	assert_non_null(pack_reader_inflater(r));
	for (uint32_t i = 0; i < s->file.nr; i++)
		check_info(s, r, pack, i);
	for (uint32_t i = 0; i < s->file.nr; i++)
		check_read(s, r, pack, i);
	for (uint32_t i = s->file.nr; i-- > 0;)
		check_read(s, r, pack, i);
	for (uint32_t i = 0; i < 4 * s->file.nr; i++) {
		uint32_t n = (uint32_t)(random_next(seed) % s->file.nr);

		check_read(s, r, pack, n);
		check_info(s, r, pack, n);
		if (i % 50 == 0)
			pack_reader_forget(r, pack);
	}
	pack_reader_free(r);
	pack_close(pack);
}

static void test_mixed(void **state)
{
	static const size_t limits[] = {0, 600, CACHE_LIMIT};
	uint64_t seed = random_seed();

	for (int algo = HASH_SHA1; algo <= HASH_SHA256; algo++) {
		for (size_t i = 0; i < ARRAY_NR(limits); i++) {
			struct sample s;

			sample_init_mixed(&s, algo);
			check_all(&s, limits[i], &seed);
			sample_release(&s);
		}
	}
	pack_reader_free(NULL);
}

static void test_chain(void **state)
{
	static const size_t limits[] = {0, 5000, CACHE_LIMIT};
	uint64_t seed = random_seed();

	for (size_t i = 0; i < ARRAY_NR(limits); i++) {
		struct sample s;
		uint32_t n;

		sample_init(&s, HASH_SHA1);
		n = sample_add(&s, OBJ_BLOB, "start", 5);
		while (s.file.nr < 101)
			n = sample_add_delta(
				&s, n % 3 ? OBJ_OFS_DELTA : OBJ_REF_DELTA, n,
				"link");
		check_all(&s, limits[i], &seed);
		sample_release(&s);
	}
}

/*
 * The types of two chains of a tree and a blob, which fork in the middle. The
 * reader remembers the types of some deltas.
 */
static void test_long_chains(void **state)
{
	struct pack_reader *r = pack_reader_new(CACHE_LIMIT);
	uint64_t seed = random_seed();
	struct pack *pack;
	struct sample s;

	sample_init(&s, HASH_SHA1);
	sample_add(&s, OBJ_TREE, "tree", 4);
	sample_add(&s, OBJ_BLOB, "blob", 4);
	while (s.file.nr < 1200)
		sample_add_delta(&s, OBJ_OFS_DELTA,
				 s.file.nr == 800 ? 400 : s.file.nr - 2, "");
	pack = packfile_open(&s.file);
	for (int round = 0; round < 2; round++) {
		check_info(&s, r, pack, 1199);
		for (int i = 0; i < 2000; i++)
			check_info(&s, r, pack,
				   (uint32_t)(random_next(&seed) % 1200));
		pack_reader_forget(r, pack);
	}
	pack_reader_free(r);
	pack_close(pack);
	sample_release(&s);
}

/* An object that was read remains valid while other objects are read. */
static void test_pins(void **state)
{
	struct pack_object objs[60];
	struct pack_reader *r = pack_reader_new(4000);
	struct sample s;
	struct pack *pack;
	uint32_t n;

	sample_init(&s, HASH_SHA1);
	n = sample_add(&s, OBJ_BLOB, "start", 5);
	while (s.file.nr < 60)
		n = sample_add_delta(&s, OBJ_OFS_DELTA, n, "another link");
	pack = packfile_open(&s.file);
	for (uint32_t i = 60; i-- > 0;)
		assert_int_equal(pack_reader_read(r, pack, s.file.offsets[i],
						  &objs[i], NULL),
				 0);
	pack_reader_forget(r, pack);
	for (uint32_t i = 0; i < 60; i++)
		check_read(&s, r, pack, i);
	for (uint32_t i = 0; i < 60; i++) {
		check_object(&s, i, &objs[i]);
		pack_object_release(r, &objs[i]);
	}
	pack_object_release(r, &objs[0]); /* zeroed: may be released */
	pack_reader_free(r);
	pack_close(pack);
	sample_release(&s);
}

/*
 * Two packs have different objects at the same offset. The cache must not
 * confuse them.
 */
static void test_two_packs(void **state)
{
	struct pack_reader *r = pack_reader_new(CACHE_LIMIT);
	struct sample a, b;
	struct pack *pack_a, *pack_b;

	sample_init(&a, HASH_SHA1);
	sample_init(&b, HASH_SHA1);
	sample_add(&a, OBJ_BLOB, "one", 3);
	sample_add(&b, OBJ_TREE, "two", 3);
	pack_a = packfile_open(&a.file);
	pack_b = packfile_open(&b.file);
	for (int i = 0; i < 3; i++) {
		check_read(&a, r, pack_a, 0);
		check_read(&b, r, pack_b, 0);
	}
	pack_reader_free(r);
	pack_close(pack_a);
	pack_close(pack_b);
	sample_release(&a);
	sample_release(&b);
}

static void check_fails(struct pack *pack, uint64_t offset, const char *why)
{
	struct pack_reader *r = pack_reader_new(CACHE_LIMIT);
	struct error err = ERROR_INIT;
	struct pack_object obj;

	assert_int_equal(pack_reader_read(r, pack, offset, &obj, &err),
			 ERR_CORRUPT);
	assert_null(obj.data);
	assert_null(obj.pin);
	assert_int_equal(err.code, ERR_CORRUPT);
	if (!strstr(err.msg, why))
		fail_msg("'%s' does not say '%s'", err.msg, why);
	assert_non_null(strstr(err.msg, "pack-test: "));
	assert_non_null(strstr(err.msg, " at offset "));
	pack_object_release(r, &obj);
	pack_reader_free(r);
}

static void test_cycles(void **state)
{
	struct oid a = {{0xaa}}, b = {{0xbb}}, self = {{0xcc}};
	struct pack_reader *r = pack_reader_new(CACHE_LIMIT);
	struct pack_entry e = {.type = OBJ_REF_DELTA, .size = 3};
	enum object_type type;
	struct packfile p;
	struct pack *pack;

	packfile_init(&p, HASH_SHA1);
	e.base_oid = b.bytes;
	packfile_add_entry(&p, &e, "\1\1x", 3, &a);
	/*
	 * Add an OFS_DELTA that closes a cycle of two deltas, and a REF_DELTA
	 * that is its own base. None of the three objects can be read.
	 */
	packfile_add_delta(&p, OBJ_OFS_DELTA, 0, 1, "y", &b);
	e.base_oid = self.bytes;
	packfile_add_entry(&p, &e, "\1\1x", 3, &self);
	pack = packfile_open(&p);
	for (uint32_t i = 0; i < 3; i++) {
		check_fails(pack, p.offsets[i], "cycle");
		assert_int_equal(pack_reader_info(r, pack, p.offsets[i], &type,
						  NULL, NULL),
				 ERR_CORRUPT);
	}
	pack_reader_free(r);
	pack_close(pack);
	packfile_release(&p);
}

static void add_claim(struct packfile *p, enum object_type type, uint64_t size,
		      const void *payload, size_t len, const struct oid *base)
{
	struct pack_entry e = {
		.type = type, .size = size, .base_oid = base->bytes};
	struct oid oid = {{(uint8_t)(p->nr + 1)}};

	packfile_add_entry(p, &e, payload, len, &oid);
}

static void test_lies(void **state)
{
	/*
	 * Invalid deltas of a base of 4 bytes: a result of 2^40 bytes, a delta
	 * made for a base of 5 bytes, and an incomplete delta.
	 */
	static const char huge[] = "\x04\x80\x80\x80\x80\x80\x20\x90\x04";
	static const char other_base[] = "\x05\x01\x01z";
	static const char cut[] = "\x04\x08\x90\x04\x04zz";
	static const char *const why[] = {
		"its data can be",    "its size",     "its size",
		"its delta can make", "another size", "invalid delta",
		"is not in the pack", "invalid delta"};
	struct oid base, none = {{0xee}};
	struct packfile p;
	struct pack *pack;

	packfile_init(&p, HASH_SHA1);
	packfile_add(&p, OBJ_BLOB, "base", 4);
	base = p.oids[0];
	add_claim(&p, OBJ_BLOB, UINT64_C(1) << 40, "abc", 3, &none);
	add_claim(&p, OBJ_BLOB, 4, "abc", 3, &none);
	add_claim(&p, OBJ_BLOB, 2, "abc", 3, &none);
	add_claim(&p, OBJ_REF_DELTA, 9, huge, 9, &base);
	add_claim(&p, OBJ_REF_DELTA, 4, other_base, 4, &base);
	add_claim(&p, OBJ_REF_DELTA, 7, cut, 7, &base);
	add_claim(&p, OBJ_REF_DELTA, 7, cut, 7, &none);
	add_claim(&p, OBJ_REF_DELTA, 1, "\x04", 1, &base);
	pack = packfile_open(&p);
	for (uint32_t i = 1; i < p.nr; i++)
		check_fails(pack, p.offsets[i], why[i - 1]);
	check_fails(pack, 3, "offset is outside");
	pack_close(pack);
	packfile_release(&p);
}

/*
 * The header of an entry states a size that is too large for the bytes of this
 * entry. The whole pack has enough bytes to inflate to such a size. Reading the
 * entry must fail nevertheless.
 */
static void test_large_claim(void **state)
{
	enum { LEN = 200000 };
	struct oid none = OID_ZERO_INIT;
	uint64_t seed = random_seed();
	uint8_t *noise = mem_alloc(LEN, 1);
	struct packfile p;
	struct pack *pack;

	assert_non_null(noise);
	for (size_t i = 0; i < LEN; i++)
		noise[i] = (uint8_t)(random_next(&seed) >> 32);
	packfile_init(&p, HASH_SHA1);
	add_claim(&p, OBJ_BLOB, UINT64_C(100) << 20, "abc", 3, &none);
	packfile_add(&p, OBJ_BLOB, noise, LEN);
	pack = packfile_open(&p);
	assert_true(pack->file.len * 1032 > UINT64_C(100) << 20);
	check_fails(pack, p.offsets[0], "its data can be");
	pack_close(pack);
	packfile_release(&p);
	free(noise);
}

/*
 * Reads all objects of a pack that may be damaged. Each read must fail, or
 * return the right object.
 */
static void read_changed(struct sample *s)
{
	struct pack_reader *r = pack_reader_new(CACHE_LIMIT);
	struct pack *pack;

	packfile_make_idx(&s->file, 2);
	packfile_save(&s->file);
	if (pack_open(&pack, s->file.base, s->file.algo, NULL) < 0) {
		pack_reader_free(r);
		return;
	}
	for (uint32_t i = 0; i < s->file.nr; i++) {
		uint64_t off = s->file.offsets[i], size;
		enum object_type type;
		struct pack_object obj;
		struct oid oid;

		pack_reader_info(r, pack, off, &type, &size, NULL);
		if (pack_reader_read(r, pack, off, &obj, NULL) < 0) {
			assert_null(obj.data);
			continue;
		}
		/*
		 * A delta of a damaged base may give an object, but with
		 * another id.
		 */
		hash_object(&s->file.hash, &oid, obj.type, obj.data, obj.len);
		if (oid_equal(&oid, &s->file.oids[i]))
			check_object(s, i, &obj);
		pack_object_release(r, &obj);
	}
	pack_reader_free(r);
	pack_close(pack);
}

static void test_changed_bytes(void **state)
{
	uint64_t seed = random_seed();
	struct sample s;

	sample_init_mixed(&s, HASH_SHA1);
	packfile_finish(&s.file);
	for (size_t i = 8; i < s.file.bytes.len - 20; i++) {
		char old = s.file.bytes.data[i];

		for (int round = 0; round < 3; round++) {
			s.file.bytes.data[i] =
				(char)(old ^ (random_next(&seed) % 255 + 1));
			read_changed(&s);
		}
		s.file.bytes.data[i] = old;
	}
	sample_release(&s);
}

/*
 * The pack is truncated at each length, but its trailer agrees with the pack
 * index. Each read must fail or return the right object.
 */
static void test_cut_short(void **state)
{
	struct sample s;
	struct buf whole = BUF_INIT;

	sample_init_mixed(&s, HASH_SHA1);
	packfile_finish(&s.file);
	assert_int_equal(
		buf_append(&whole, s.file.bytes.data, s.file.bytes.len), 0);
	for (size_t len = 32; len < whole.len; len++) {
		buf_set_len(&s.file.bytes, len);
		read_changed(&s);
	}
	buf_release(&whole);
	sample_release(&s);
}

/*
 * Context of the callback spare(), which returns intact copies of the objects
 * of a damaged pack.
 */
struct spares {
	const struct sample *s;
	int calls;
	/*
	 * Number of calls in which the reader asked for the content of an
	 * object, not only for its type and size.
	 */
	int bodies;
};

static int spare(void *ctx, struct pack *pack, uint64_t offset,
		 const struct oid *oid, bool with_data,
		 struct pack_spare *spare)
{
	struct spares *all = ctx;

	all->calls++;
	all->bodies += with_data;
	for (uint32_t i = 0; i < all->s->file.nr; i++) {
		const struct buf *text = &all->s->text[i];

		if (!oid_equal(oid, &all->s->file.oids[i]))
			continue;
		assert_int_equal(offset, all->s->file.offsets[i]);
		spare->type = all->s->type[i];
		if (with_data) {
			spare->data = mem_alloc(text->len, 1);
			assert_non_null(spare->data);
			memcpy(spare->data, text->data, text->len);
			spare->len = text->len;
		}
		return 0;
	}
	return ERR_MISSING;
}

/* Adds an entry whose header states a larger size than the content has. */
static void add_damaged(struct sample *s, enum object_type type, uint32_t base,
			const char *text)
{
	struct pack_entry e = {.type = type, .size = 200};
	uint32_t n = s->file.nr;
	struct oid oid;

	e.base_distance = s->file.bytes.len - s->file.offsets[base];
	s->type[n] = OBJ_TREE;
	buf_append_str(&s->text[n], text);
	hash_object(&s->file.hash, &oid, OBJ_TREE, text, strlen(text));
	packfile_add_entry(&s->file, &e, text, strlen(text), &oid);
}

static void check_spared(struct sample *s, uint32_t n)
{
	struct pack_reader *r = pack_reader_new(CACHE_LIMIT);
	struct spares all = {.s = s};
	struct error err = ERROR_INIT;
	enum object_type type;
	struct pack_object obj;
	struct pack *pack = packfile_open(&s->file);

	assert_int_equal(
		pack_reader_read(r, pack, s->file.offsets[n], &obj, &err),
		ERR_CORRUPT);
	pack_reader_set_spare(r, spare, &all);
	err = (struct error)ERROR_INIT;
	assert_int_equal(pack_reader_info(r, pack, s->file.offsets[n], &type,
					  NULL, &err),
			 0);
	assert_int_equal(type, OBJ_TREE);
	assert_int_equal(all.bodies, 0);
	assert_int_equal(
		pack_reader_read(r, pack, s->file.offsets[n], &obj, &err), 0);
	check_object(s, n, &obj);
	pack_object_release(r, &obj);
	assert_int_equal(err.code, 0);
	assert_int_equal(all.bodies, 1);
	/*
	 * The intact copy is in the cache, so the callback is not called again.
	 */
	all.calls = 0;
	check_read(s, r, pack, n);
	check_info(s, r, pack, n);
	assert_int_equal(all.calls, 0);
	pack_reader_forget(r, pack);
	pack_reader_set_spare(r, NULL, NULL);
	assert_int_equal(
		pack_reader_read(r, pack, s->file.offsets[n], &obj, NULL),
		ERR_CORRUPT);
	pack_reader_free(r);
	pack_close(pack);
}

/*
 * If a delta base or a delta is damaged, another copy of the object replaces
 * it.
 */
static void test_spares(void **state)
{
	struct sample s;

	sample_init(&s, HASH_SHA1);
	add_damaged(&s, OBJ_TREE, 0, "a base");
	sample_add_delta(&s, OBJ_OFS_DELTA, 0, "one");
	sample_add_delta(&s, OBJ_REF_DELTA, 1, "two");
	check_spared(&s, 2);
	sample_release(&s);
	sample_init(&s, HASH_SHA1);
	sample_add(&s, OBJ_TREE, "a base", 6);
	add_damaged(&s, OBJ_OFS_DELTA, 0, "a base, changed");
	sample_add_delta(&s, OBJ_REF_DELTA, 1, "two");
	check_spared(&s, 2);
	sample_release(&s);
}

/*
 * A damaged object is normally replaced by an intact copy. Here there is no
 * copy, so reading fails, and the error is about the damaged object.
 */
static void test_no_spare(void **state)
{
	struct pack_reader *r = pack_reader_new(CACHE_LIMIT);
	struct error err = ERROR_INIT;
	struct pack_object obj;
	struct spares all;
	struct sample s, empty;
	struct pack *pack;
	enum object_type type;

	sample_init(&empty, HASH_SHA1);
	sample_init(&s, HASH_SHA1);
	all = (struct spares){.s = &empty};
	add_damaged(&s, OBJ_TREE, 0, "a base");
	sample_add_delta(&s, OBJ_OFS_DELTA, 0, "one");
	pack = packfile_open(&s.file);
	pack_reader_set_spare(r, spare, &all);
	assert_int_equal(
		pack_reader_read(r, pack, s.file.offsets[1], &obj, &err),
		ERR_CORRUPT);
	assert_non_null(strstr(err.msg, "at offset 12"));
	assert_true(all.bodies > 0);
	assert_int_equal(
		pack_reader_info(r, pack, s.file.offsets[1], &type, NULL, NULL),
		0);
	assert_int_equal(type, OBJ_TREE);
	pack_reader_free(r);
	pack_close(pack);
	sample_release(&s);
	sample_release(&empty);
}

/*
 * An entry that inflates is still damaged if its CRC differs from that in the
 * pack index.
 */
static void test_crcs(void **state)
{
	struct pack_reader *r = pack_reader_new(0);
	struct error err = ERROR_INIT;
	struct pack_object obj;
	struct sample s;
	struct pack *pack;

	sample_init_mixed(&s, HASH_SHA1);
	s.file.crcs[2] ^= 1;
	pack = packfile_open(&s.file);
	check_read(&s, r, pack, 2);
	pack_reader_check_crcs(r);
	for (uint32_t i = 0; i < s.file.nr; i++) {
		/*
		 * Objects 5 to 8 depend on object 2, because they are deltas of
		 * it.
		 */
		if (i != 2 && (i < 5 || i > 8)) {
			check_read(&s, r, pack, i);
			continue;
		}
		assert_int_equal(pack_reader_read(r, pack, s.file.offsets[i],
						  &obj, &err),
				 ERR_CORRUPT);
		assert_non_null(strstr(err.msg, "bad packed object CRC"));
	}
	pack_close(pack);
	packfile_make_idx(&s.file, 1);
	packfile_save(&s.file);
	assert_int_equal(pack_open(&pack, s.file.base, HASH_SHA1, NULL), 0);
	check_read(&s, r, pack, 2);
	pack_close(pack);
	pack_reader_free(r);
	sample_release(&s);
}

/*
 * The cache keeps objects of a pack until the reader is told to forget the
 * pack.
 */
static void test_forget(void **state)
{
	struct pack_reader *r = pack_reader_new(CACHE_LIMIT);
	struct pack_object obj;
	struct sample s;
	struct pack *pack;
	uint8_t *bytes;

	sample_init(&s, HASH_SHA1);
	sample_add(&s, OBJ_BLOB, "a base", 6);
	sample_add_delta(&s, OBJ_OFS_DELTA, 0, "one");
	sample_add_delta(&s, OBJ_OFS_DELTA, 1, "two");
	pack = packfile_open(&s.file);
	check_read(&s, r, pack, 2);
	/*
	 * The pack is small, so pack_bytes() returns a copy in memory. The test
	 * can damage this copy without writing to the file.
	 */
	assert_true(s.file.bytes.len <= SYS_MAP_COPY_MAX);
	bytes = (uint8_t *)(uintptr_t)pack_bytes(pack, NULL);
	memset(bytes + s.file.offsets[0] + 2, 0, 4);
	check_read(&s, r, pack, 2);
	pack_reader_forget(r, pack);
	assert_int_equal(
		pack_reader_read(r, pack, s.file.offsets[2], &obj, NULL),
		ERR_CORRUPT);
	pack_reader_free(r);
	pack_close(pack);
	sample_release(&s);
}

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
		cmocka_unit_test(test_mixed),
		cmocka_unit_test(test_chain),
		cmocka_unit_test(test_long_chains),
		cmocka_unit_test(test_pins),
		cmocka_unit_test(test_two_packs),
		cmocka_unit_test(test_cycles),
		cmocka_unit_test(test_lies),
		cmocka_unit_test(test_large_claim),
		cmocka_unit_test(test_changed_bytes),
		cmocka_unit_test(test_cut_short),
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_spares),
		cmocka_unit_test(test_no_spare),
		cmocka_unit_test(test_crcs),
		cmocka_unit_test(test_forget),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
