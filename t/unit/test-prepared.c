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
#include "t/unit/random.h"

#define ANSWERS 5
#define BITS 700

struct file {
	enum hash_algo algo;
	struct oid pack_checksum;
	struct bitset sets[ANSWERS];
	struct ewah ewahs[ANSWERS];
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

static void file_init(struct file *f, enum hash_algo algo, size_t nr,
		      uint64_t *seed)
{
	memset(f, 0, sizeof(*f));
	f->algo = algo;
	f->nr = nr;
	random_oid(&f->pack_checksum, algo, seed);
	for (size_t i = 0; i < nr; i++) {
		struct prepared_answer *answer = &f->answers[i];

		assert_int_equal(bitset_init(&f->sets[i], BITS), 0);
		for (size_t bit = 0; bit < BITS; bit++)
			if (random_next(seed) % (i + 1) == 0)
				bitset_set(&f->sets[i], bit);
		ewah_init(&f->ewahs[i]);
		assert_int_equal(ewah_from_bitset(&f->ewahs[i], &f->sets[i]),
				 0);
		if (i % 2)
			random_oid(&answer->commit, algo, seed);
		random_oid(&answer->checksum, algo, seed);
		answer->object_nr = (uint32_t)bitset_count(&f->sets[i]);
		answer->objects = ewah_view_of(&f->ewahs[i]);
	}
	assert_int_equal(prepared_write(&f->bytes, &f->pack_checksum, algo,
					f->answers, nr),
			 0);
}

static void file_release(struct file *f)
{
	for (size_t i = 0; i < f->nr; i++) {
		bitset_release(&f->sets[i]);
		ewah_release(&f->ewahs[i]);
	}
	buf_release(&f->bytes);
}

static int parse(struct prepared *p, const struct file *f)
{
	return prepared_parse(p, f->bytes.data, f->bytes.len, f->algo, "file",
			      NULL);
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
		for (size_t i = 0; i < nr; i++) {
			const struct prepared_answer *answer = &p.answers[i];
			struct oid id = f.answers[i].commit;

			assert_true(oid_equal(&answer->commit, &id));
			assert_true(oid_equal(&answer->checksum,
					      &f.answers[i].checksum));
			assert_ptr_equal(prepared_of_commit(&p, &id),
					 i % 2 ? answer : NULL);
			assert_ptr_equal(prepared_of_set(&p, &f.sets[i],
							 answer->object_nr),
					 answer);
			bitset_unset(&f.sets[i], bitset_next(&f.sets[i], 0));
			assert_null(prepared_of_set(&p, &f.sets[i],
						    answer->object_nr - 1));
		}
		prepared_close(&p);
		file_release(&f);
	}
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
	/* The first answer says one object more. */
	f.bytes.data[8 + 3 * id_len + 3] ^= 1;
	assert_int_equal(hash_append_trailer(&f.bytes, 0, HASH_SHA1, NULL), 0);
	assert_int_equal(parse(&p, &f), ERR_CORRUPT);
	file_release(&f);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(there_and_back),
		cmocka_unit_test(what_is_broken),
		cmocka_unit_test(what_is_wrong),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
