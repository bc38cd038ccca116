/* SPDX-License-Identifier: MIT */
/*
 * Tests of prepared/prepared-wants.c, which reads and writes a file on disk.
 * The file belongs to prepared answers, which are stored responses to likely
 * requests. For each prepared answer, the file lists the wants of its request.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "prepared/prepared-wants.h"
#include "t/unit/hexdump.h"
#include "t/unit/random.h"

#define IDS 300
#define ANSWERS 4

struct file {
	struct prepared_wants made;
	struct prepared_wants_of answers[ANSWERS];
	struct ewah sets[ANSWERS];
	uint8_t ids[IDS * OID_MAX_LEN];
	struct buf bytes;
};

/*
 * Make a file. Id number i starts with the number 2 * i, so ids that start with
 * odd numbers are absent.
 */
static void file_init(struct file *f, enum hash_algo algo, uint64_t *seed)
{
	memset(f, 0, sizeof(*f));
	f->made.algo = algo;
	f->made.ids = f->ids;
	f->made.id_nr = IDS;
	f->made.answers = f->answers;
	f->made.nr = ANSWERS;
	f->made.prepared_checksum.bytes[3] = 77;
	for (uint32_t i = 0; i < IDS; i++)
		store_be32(f->ids + i * hash_len(algo), 2 * i);
	for (size_t i = 0; i < ANSWERS; i++) {
		ewah_init(&f->sets[i]);
		for (size_t bit = 0; bit < IDS; bit++)
			if (random_next(seed) % 3 == 0)
				assert_int_equal(ewah_set(&f->sets[i], bit), 0);
		f->answers[i].answer = (uint32_t)(3 * i + 1);
		f->answers[i].ids = ewah_view_of(&f->sets[i]);
	}
	assert_int_equal(prepared_wants_write(&f->bytes, &f->made), 0);
}

static void file_release(struct file *f)
{
	for (size_t i = 0; i < ANSWERS; i++)
		ewah_release(&f->sets[i]);
	buf_release(&f->bytes);
}

static int parse(struct prepared_wants *w, const struct file *f)
{
	return prepared_wants_parse(w, f->bytes.data, f->bytes.len,
				    f->made.algo, "file", NULL);
}

/*
 * Write the content of *f, which the test has changed, to a file, and parse the
 * file. Returns the result of parsing.
 */
static int parse_changed(struct file *f)
{
	struct prepared_wants w;
	int ret;

	f->bytes.len = 0;
	assert_int_equal(prepared_wants_write(&f->bytes, &f->made), 0);
	ret = parse(&w, f);
	if (ret < 0)
		assert_null(w.answers);
	prepared_wants_close(&w);
	return ret;
}

static void there_and_back(void **state)
{
	const enum hash_algo algos[] = {HASH_SHA1, HASH_SHA256};
	uint64_t seed = random_seed();

	for (size_t k = 0; k < 2; k++) {
		struct oid oid = OID_ZERO_INIT;
		struct prepared_wants w;
		struct file f;
		uint32_t at;

		file_init(&f, algos[k], &seed);
		assert_int_equal(parse(&w, &f), 0);
		assert_true(oid_equal(&w.prepared_checksum,
				      &f.made.prepared_checksum));
		assert_int_equal(w.id_nr, IDS);
		assert_int_equal(w.nr, ANSWERS);
		for (uint32_t i = 0; i < 2 * IDS; i++) {
			store_be32(oid.bytes, i);
			assert_int_equal(prepared_wants_find(&w, &oid, &at),
					 i % 2 == 0);
			assert_true(i % 2 || at == i / 2);
		}
		for (size_t i = 0; i < ANSWERS; i++) {
			assert_int_equal(w.answers[i].answer, 3 * i + 1);
			for (size_t bit = 0; bit < IDS; bit++)
				assert_int_equal(
					ewah_test(&w.answers[i].ids, bit),
					ewah_test(&f.answers[i].ids, bit));
		}
		prepared_wants_close(&w);
		file_release(&f);
	}
}

/* Parse the example of Documentation/format/prepared.md. */
static void worked_example(void **state)
{
	static const char example[] =
		"50524557 01 01 0001 00000002"
		" 5a86169f 3f33b481 8db45b80 00812c8e 88d050fb"
		" 11111111 11111111 11111111 11111111 11111111"
		" e83c5163 316f89bf bde7d9ab 23ca2e25 604af290"
		" 00000000"
		" 00000002 00000002 00000002 00000000"
		" 00000000 00000003 00000000"
		" ebf4b1c2 43dec53a 92d5b2e9 55a5aa2a 31bad7a1";
	struct buf bytes = BUF_INIT, again = BUF_INIT;
	struct prepared_wants w;

	hexdump_parse(&bytes, example);
	assert_int_equal(prepared_wants_parse(&w, bytes.data, bytes.len,
					      HASH_SHA1, "example", NULL),
			 0);
	assert_int_equal(w.nr, 1);
	assert_int_equal(w.answers[0].answer, 0);
	assert_true(ewah_test(&w.answers[0].ids, 0));
	assert_true(ewah_test(&w.answers[0].ids, 1));
	assert_int_equal(prepared_wants_write(&again, &w), 0);
	assert_int_equal(again.len, bytes.len);
	assert_memory_equal(again.data, bytes.data, bytes.len);
	prepared_wants_close(&w);
	buf_release(&bytes);
	buf_release(&again);
}

/*
 * The parser refuses ids that are not sorted, prepared answers (stored
 * responses) in the wrong order, and answers that refer to an id that is not in
 * the file.
 */
static void refused(void **state)
{
	uint64_t seed = random_seed();
	struct file f;
	uint8_t *id;

	file_init(&f, HASH_SHA1, &seed);
	assert_int_equal(parse_changed(&f), 0);
	f.answers[2].answer = f.answers[1].answer;
	assert_int_equal(parse_changed(&f), ERR_CORRUPT);
	f.answers[2].answer++;
	assert_int_equal(parse_changed(&f), 0);
	id = f.ids + 20 * hash_len(HASH_SHA1);
	memcpy(id, id - hash_len(HASH_SHA1), hash_len(HASH_SHA1));
	assert_int_equal(parse_changed(&f), ERR_CORRUPT);
	store_be32(id, 40);
	assert_int_equal(parse_changed(&f), 0);
	f.made.id_nr--;
	f.answers[0].ids.bits = IDS;
	assert_int_equal(parse_changed(&f), ERR_CORRUPT);
	file_release(&f);
}

/* Each truncated file is refused, and so is each file with a changed byte. */
static void damaged(void **state)
{
	uint64_t seed = random_seed();
	struct prepared_wants w;
	struct file f;
	size_t len;

	file_init(&f, HASH_SHA256, &seed);
	len = f.bytes.len;
	for (size_t i = 0; i < len; i += 7) {
		f.bytes.data[i] ^= 4;
		assert_true(parse(&w, &f) < 0);
		f.bytes.data[i] ^= 4;
		f.bytes.len = i;
		assert_int_equal(parse(&w, &f), ERR_CORRUPT);
		f.bytes.len = len;
	}
	file_release(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(there_and_back),
		cmocka_unit_test(worked_example),
		cmocka_unit_test(refused),
		cmocka_unit_test(damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
