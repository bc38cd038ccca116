/* SPDX-License-Identifier: MIT */
/* repack/prepared.c: the file of prepared answers, there and back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "object/hash.h"
#include "repack/prepared.h"
#include "t/unit/hexdump.h"
#include "t/unit/random.h"

#define ANSWERS 5
#define BITS 700

struct file {
	enum hash_algo algo;
	struct oid pack_checksum;
	struct bitset objects[ANSWERS], tags[ANSWERS];
	struct ewah ewahs[2 * ANSWERS];
	struct prepared_answer answers[ANSWERS];
	size_t nr;
	struct buf bytes;
};

static void random_oid(struct oid *oid, enum hash_algo algo, uint64_t *seed)
{
	*oid = (struct oid)OID_ZERO_INIT;
	for (size_t i = 0; i < hash_len(algo); i++)
		oid->bytes[i] = (uint8_t)random_next(seed);
}

/* One in `ratio` of the bits, but for those in `without`. */
static void random_set(struct bitset *set, struct ewah *ewah, uint64_t ratio,
		       const struct bitset *without, uint64_t *seed)
{
	assert_int_equal(bitset_init(set, BITS), 0);
	for (size_t bit = 0; bit < BITS; bit++)
		if (random_next(seed) % ratio == 0)
			bitset_set(set, bit);
	if (without)
		bitset_andnot(set, without);
	ewah_init(ewah);
	assert_int_equal(ewah_from_bitset(ewah, set), 0);
}

static void file_init(struct file *f, enum hash_algo algo, size_t nr,
		      uint64_t *seed)
{
	memset(f, 0, sizeof(*f));
	f->algo = algo;
	f->nr = nr;
	random_oid(&f->pack_checksum, algo, seed);
	for (size_t i = 0; i < nr; i++) {
		struct prepared_answer *answer = &f->answers[i];
		struct bitset *objects = &f->objects[i], *tags = &f->tags[i];

		random_set(objects, &f->ewahs[2 * i], i + 2, NULL, seed);
		random_set(tags, &f->ewahs[2 * i + 1], 30, objects, seed);
		answer->request.kind = (uint8_t)(1 + i % 4);
		random_oid(&answer->request.id, algo, seed);
		random_oid(&answer->checksum, algo, seed);
		random_oid(&answer->tagged, algo, seed);
		answer->objects = ewah_view_of(&f->ewahs[2 * i]);
		answer->tags = ewah_view_of(&f->ewahs[2 * i + 1]);
		answer->object_nr = (uint32_t)bitset_count(objects);
		answer->tag_nr = (uint32_t)bitset_count(tags);
	}
	assert_int_equal(prepared_write(&f->bytes, &f->pack_checksum, algo,
					f->answers, nr),
			 0);
}

static void file_release(struct file *f)
{
	for (size_t i = 0; i < f->nr; i++) {
		bitset_release(&f->objects[i]);
		bitset_release(&f->tags[i]);
		ewah_release(&f->ewahs[2 * i]);
		ewah_release(&f->ewahs[2 * i + 1]);
	}
	buf_release(&f->bytes);
}

static int parse(struct prepared *p, const struct file *f)
{
	return prepared_parse(p, f->bytes.data, f->bytes.len, f->algo, "file",
			      NULL);
}

static bool is_known(const struct prepared *p, const struct bitset *set,
		     const struct oid *checksum)
{
	const struct oid *got = prepared_checksum(p, set, bitset_count(set));

	return got && oid_equal(got, checksum);
}

/* By request, by its objects, and by these with tags. */
static void check_answer(const struct prepared *p, struct file *f, size_t i)
{
	const struct prepared_answer *expect = &f->answers[i];
	const struct prepared_answer *answer = &p->answers[i];
	struct prepared_request request = expect->request;
	struct bitset *set = &f->objects[i];

	assert_ptr_equal(prepared_find(p, &request), answer);
	request.kind ^= 4;
	assert_null(prepared_find(p, &request));
	assert_int_equal(answer->object_nr, expect->object_nr);
	assert_int_equal(answer->tag_nr, expect->tag_nr);
	assert_true(is_known(p, set, &expect->checksum));
	bitset_or(set, &f->tags[i]);
	assert_true(is_known(p, set, &expect->tagged));
	bitset_unset(set, bitset_next(&f->tags[i], 0));
	assert_null(prepared_checksum(p, set, bitset_count(set)));
}

static void there_and_back(void **state)
{
	uint64_t seed = random_seed();

	for (size_t nr = 0; nr <= ANSWERS; nr++) {
		struct prepared p;
		struct file f;

		file_init(&f, nr % 2 ? HASH_SHA256 : HASH_SHA1, nr, &seed);
		assert_int_equal(parse(&p, &f), 0);
		assert_true(oid_equal(&p.pack_checksum, &f.pack_checksum));
		assert_int_equal(p.nr, nr);
		for (size_t i = 0; i < nr; i++)
			check_answer(&p, &f, i);
		prepared_close(&p);
		file_release(&f);
	}
}

/* The example of Documentation/format/prepared.md. */
static void worked_example(void **state)
{
	static const char example[] =
		"50524550 01 01 0001"
		" 069543fd 64102fc8 f326b98f ba297c80 7ebce5f8"
		" 02"
		" e83c5163 316f89bf bde7d9ab 23ca2e25 604af290"
		" 5da13333 33333333 33333333 33333333 33333377"
		" 9b024444 44444444 44444444 44444444 4444441c"
		" 00000005 00000002 00000002 00000000"
		" 00000000 00000015 00000000"
		" 00000002 00000002 00000002 00000000"
		" 00000000 00000002 00000000"
		" a52de96d f2811aa5 0db817f2 a52d270f 3b66a650";
	struct buf bytes = BUF_INIT, again = BUF_INIT;
	const struct prepared_answer *answer;
	struct prepared p;

	hexdump_parse(&bytes, example);
	assert_int_equal(prepared_parse(&p, bytes.data, bytes.len, HASH_SHA1,
					"example", NULL),
			 0);
	assert_int_equal(p.nr, 1);
	answer = &p.answers[0];
	assert_int_equal(answer->request.kind, PREPARED_DEPTH_1);
	assert_int_equal(answer->object_nr, 3);
	assert_true(ewah_test(&answer->objects, 4));
	assert_int_equal(answer->tag_nr, 1);
	assert_true(ewah_test(&answer->tags, 1));
	assert_int_equal(
		prepared_write(&again, &p.pack_checksum, HASH_SHA1, answer, 1),
		0);
	assert_int_equal(again.len, bytes.len);
	assert_memory_equal(again.data, bytes.data, bytes.len);
	prepared_close(&p);
	buf_release(&bytes);
	buf_release(&again);
}

/* The same wants in any order, some twice, are the same request. */
static void requests(void **state)
{
	uint64_t seed = random_seed();
	struct prepared_request a, b;
	struct oid wants[40];

	for (size_t i = 0; i < 20; i++)
		random_oid(&wants[i], HASH_SHA1, &seed);
	for (size_t i = 20; i < 40; i++)
		wants[i] = wants[39 - i];
	assert_int_equal(prepared_request(&a, HASH_SHA1, false, wants, 20), 0);
	assert_int_equal(a.kind, 3);
	assert_int_equal(prepared_request(&b, HASH_SHA1, false, wants + 20, 20),
			 0);
	assert_true(prepared_same_request(&a, &b));
	assert_int_equal(prepared_request(&b, HASH_SHA1, false, wants, 40), 0);
	assert_true(prepared_same_request(&a, &b));
	assert_int_equal(prepared_request(&b, HASH_SHA1, true, wants, 20), 0);
	assert_int_equal(b.kind, 4);
	assert_false(prepared_same_request(&a, &b));
	assert_int_equal(prepared_request(&b, HASH_SHA1, false, wants, 19), 0);
	assert_false(prepared_same_request(&a, &b));
	wants[1] = wants[0];
	assert_int_equal(prepared_request(&b, HASH_SHA1, true, wants, 2), 0);
	assert_int_equal(b.kind, PREPARED_DEPTH_1);
	assert_true(prepared_is_of_one(&b) && !prepared_is_of_one(&a));
	assert_true(oid_equal(&b.id, &wants[0]));
}

static void what_is_broken(void **state)
{
	uint64_t seed = random_seed();
	struct prepared p;
	struct file f;

	file_init(&f, HASH_SHA1, ANSWERS, &seed);
	for (size_t at = 0; at < f.bytes.len; at += 3) {
		f.bytes.data[at] ^= 0x10;
		assert_int_equal(parse(&p, &f), ERR_CORRUPT);
		f.bytes.data[at] ^= 0x10;
	}
	assert_int_equal(prepared_parse(&p, f.bytes.data, f.bytes.len,
					HASH_SHA256, "file", NULL),
			 ERR_CORRUPT);
	file_release(&f);
}

/* With the right checksum, what it is about is looked at. */
static void what_is_wrong(void **state)
{
	uint64_t seed = random_seed();
	size_t id_len = hash_len(HASH_SHA1);
	struct prepared p;
	struct file f;

	file_init(&f, HASH_SHA1, ANSWERS, &seed);
	f.bytes.len -= id_len;
	for (size_t len = 0; len <= f.bytes.len; len++) {
		struct buf cut = BUF_INIT;

		assert_int_equal(buf_append(&cut, f.bytes.data, len), 0);
		assert_int_equal(hash_append_trailer(&cut, 0, HASH_SHA1, NULL),
				 0);
		assert_int_equal(prepared_parse(&p, cut.data, cut.len,
						HASH_SHA1, "cut", NULL),
				 len == f.bytes.len ? 0 : ERR_CORRUPT);
		prepared_close(&p);
		buf_release(&cut);
	}
	file_release(&f);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(there_and_back),
		cmocka_unit_test(worked_example),
		cmocka_unit_test(requests),
		cmocka_unit_test(what_is_broken),
		cmocka_unit_test(what_is_wrong),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
