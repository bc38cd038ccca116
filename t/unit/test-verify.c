/* SPDX-License-Identifier: MIT */
/*
 * Tests of pack/verify.c: a valid pack passes, and each kind of damage is
 * found.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "pack/verify.h"
#include "t/unit/nomem.h"
#include "t/unit/packfile.h"
#include "t/unit/random.h"

#define THREADS 3

/*
 * A pack, and the content of its objects. From the content, the test computes
 * the id of an object that the pack stores as a delta.
 */
struct sample {
	struct packfile file;
	struct buf text[PACKFILE_MAX];
	enum object_type type[PACKFILE_MAX];
};

static void sample_init(struct sample *s, enum hash_algo algo)
{
	memset(s->type, 0, sizeof(s->type));
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

static void sample_add(struct sample *s, enum object_type type,
		       const char *text)
{
	uint32_t n = packfile_add(&s->file, type, text, strlen(text));

	s->type[n] = type;
	assert_int_equal(buf_append_str(&s->text[n], text), 0);
}

static void sample_add_delta(struct sample *s, enum object_type type,
			     uint32_t base, const char *more)
{
	uint32_t n = s->file.nr;
	struct oid oid;

	s->type[n] = s->type[base];
	buf_append(&s->text[n], s->text[base].data, s->text[base].len);
	assert_int_equal(buf_append_str(&s->text[n], more), 0);
	hash_object(&s->file.hash, &oid, s->type[n], s->text[n].data,
		    s->text[n].len);
	packfile_add_delta(&s->file, type, base, s->text[base].len, more, &oid);
}

/*
 * Opens and verifies the saved files of a pack with `threads` threads, as `git
 * verify-pack` does. Returns 0 or a negative error code.
 */
static int verify_saved(const struct packfile *f, unsigned threads,
			struct error *err)
{
	struct pack_chains c;
	struct pack *pack;
	int ret = pack_open(&pack, f->base, f->algo, err);

	if (ret < 0)
		return ret;
	ret = pack_chains_init(&c, pack, err);
	if (!ret) {
		ret = pack_verify(&c, threads, err);
		pack_chains_release(&c);
	}
	pack_close(pack);
	return ret;
}

static void assert_good(struct packfile *f)
{
	struct error err = ERROR_INIT;

	packfile_finish(f);
	packfile_save(f);
	if (verify_saved(f, 1, &err) < 0 || verify_saved(f, THREADS, &err) < 0)
		fail_msg("%s", err.msg);
}

static void assert_bad(struct packfile *f, const char *message)
{
	struct error err = ERROR_INIT;

	packfile_finish(f);
	packfile_save(f);
	assert_int_equal(verify_saved(f, THREADS, &err), ERR_CORRUPT);
	if (!strstr(err.msg, message))
		fail_msg("%s", err.msg);
}

/*
 * Makes deltas of all shapes: long chains, bases with many deltas, and
 * mixtures.
 */
static void make_random(struct sample *s, uint64_t *seed, uint32_t nr)
{
	uint32_t reach = 1 + random_next(seed) % 20;

	for (uint32_t i = 0; i < nr; i++) {
		uint64_t r = random_next(seed);
		char text[32];

		snprintf(text, sizeof(text), "object %u\n", i);
		if (!i || r % 16 == 0)
			sample_add(s, 1 + r % 4, text);
		else
			sample_add_delta(
				s, r & 1 ? OBJ_OFS_DELTA : OBJ_REF_DELTA,
				i - 1 - (r >> 8) % (i < reach ? i : reach),
				text);
	}
}

static void random_packs(void **state)
{
	struct sample *s = malloc(sizeof(*s));
	uint64_t seed = random_seed();

	assert_non_null(s);
	for (int round = 0; round < 20; round++) {
		sample_init(s, round & 1 ? HASH_SHA256 : HASH_SHA1);
		make_random(s, &seed, random_next(&seed) % 400);
		assert_good(&s->file);
		/* In a pack index of version 1, there are no CRCs. */
		packfile_make_idx(&s->file, 1);
		packfile_save(&s->file);
		assert_int_equal(verify_saved(&s->file, THREADS, NULL), 0);
		sample_release(s);
	}
	free(s);
}

/* Any changed byte of the pack or of its index is detected. */
static void every_changed_byte_is_noticed(void **state)
{
	struct sample *s = malloc(sizeof(*s));
	uint64_t seed = random_seed();

	assert_non_null(s);
	sample_init(s, HASH_SHA1);
	make_random(s, &seed, 12);
	assert_good(&s->file);
	for (int in_idx = 0; in_idx < 2; in_idx++) {
		struct buf *b = in_idx ? &s->file.idx : &s->file.bytes;

		for (size_t i = 0; i < b->len; i++) {
			char was = b->data[i];

			b->data[i] ^= (char)(1 + random_next(&seed) % 255);
			packfile_save(&s->file);
			if (!verify_saved(&s->file, 2, NULL))
				fail_msg("file %d, byte %zu", in_idx, i);
			b->data[i] = was;
		}
	}
	sample_release(s);
	free(s);
}

/*
 * The checksums of the pack and of its index are right. So the check of the
 * object ids must find the damage.
 */

static void an_object_with_another_id(void **state)
{
	struct packfile f;

	packfile_init(&f, HASH_SHA1);
	packfile_add(&f, OBJ_BLOB, "hello\n", 6);
	f.oids[0].bytes[7] ^= 1;
	assert_bad(&f, "object is not ce01362503");
	packfile_release(&f);
}

/* One object of many has a wrong id. It must be found wherever it is. */
static void one_object_of_many(void **state)
{
	static const uint32_t wrong[] = {0, 1, 62, 63, 64, 65, 128, 149};

	for (size_t i = 0; i < ARRAY_NR(wrong); i++) {
		struct packfile f;

		packfile_init(&f, HASH_SHA1);
		for (unsigned nr = 0; nr < 150; nr++) {
			char text[16];

			snprintf(text, sizeof(text), "%u\n", nr);
			packfile_add(&f, OBJ_BLOB, text, strlen(text));
		}
		f.oids[wrong[i]].bytes[7] ^= 1;
		assert_bad(&f, "object is not ");
		packfile_release(&f);
	}
}

static void an_entry_with_another_crc(void **state)
{
	struct packfile f;

	packfile_init(&f, HASH_SHA1);
	packfile_add(&f, OBJ_BLOB, "hello\n", 6);
	f.crcs[0] ^= 1;
	assert_bad(&f, "another CRC than in the index at offset 12");
	packfile_release(&f);
}

static void bytes_between_objects(void **state)
{
	struct packfile f;
	char at[64];

	packfile_init(&f, HASH_SHA1);
	packfile_add(&f, OBJ_BLOB, "hello\n", 6);
	snprintf(at, sizeof(at), "bytes between objects at offset %zu",
		 f.bytes.len);
	assert_int_equal(buf_append(&f.bytes, "gap", 3), 0);
	f.crcs[0] = pack_crc32(0, f.bytes.data + 12, f.bytes.len - 12);
	packfile_add(&f, OBJ_BLOB, "world\n", 6);
	assert_bad(&f, at);
	packfile_release(&f);
}

static void sizes_that_lie(void **state)
{
	struct pack_entry e = {.type = OBJ_BLOB};
	struct oid oid = OID_ZERO_INIT;
	const uint64_t sizes[] = {5, 7, 1000, UINT64_C(1) << 40, UINT64_MAX};

	for (size_t i = 0; i < ARRAY_NR(sizes); i++) {
		struct packfile f;

		packfile_init(&f, HASH_SHA1);
		e.size = sizes[i];
		packfile_add_entry(&f, &e, "hello\n", 6, &oid);
		assert_bad(&f, i < 3 ? "does not inflate to its size"
				     : "larger than its data can be");
		packfile_release(&f);
	}
}

/*
 * Asserts that verifying a pack with an invalid delta gives the error
 * `message`. `bytes`: the delta of `len` bytes. Its base has six bytes.
 */
static void bad_delta(const char *bytes, size_t len, const char *message)
{
	struct pack_entry e = {.type = OBJ_OFS_DELTA, .size = len};
	struct oid oid = OID_ZERO_INIT;
	struct packfile f;

	packfile_init(&f, HASH_SHA1);
	packfile_add(&f, OBJ_BLOB, "hello\n", 6);
	e.base_distance = f.bytes.len - f.offsets[0];
	packfile_add_entry(&f, &e, bytes, len, &oid);
	assert_bad(&f, message);
	packfile_release(&f);
}

static void deltas_that_lie(void **state)
{
	bad_delta("", 0, "delta does not fit its base");
	bad_delta("\x06", 1, "delta does not fit its base");
	bad_delta("\x05\x01\x01x", 4, "delta does not fit its base");
	/*
	 * The delta states a result of 2^41 bytes, but is far too short to make
	 * it.
	 */
	bad_delta("\x06\x80\x80\x80\x80\x80\x40\x01x", 9,
		  "delta does not fit its base");
	/* The delta states 2^26 bytes, too many for a base of 6 bytes. */
	bad_delta("\x06\x80\x80\x80\x20\x01x", 7,
		  "delta does not fit its base");
	bad_delta("\x06\x02\x01x", 4, "malformed delta");
	bad_delta("\x06\x01\x91\x06\x01", 5, "malformed delta");
	bad_delta("\x06\x06\x90\x06", 4, "object is not 0000");
}

static void files_only(void **state)
{
	struct error err = ERROR_INIT;
	struct packfile f;
	struct pack *pack;

	packfile_init(&f, HASH_SHA1);
	packfile_add(&f, OBJ_BLOB, "hello\n", 6);
	/*
	 * pack_verify_files() does not read objects, so it does not notice the
	 * changed id.
	 */
	f.oids[0].bytes[7] ^= 1;
	pack = packfile_open(&f);
	assert_int_equal(pack_verify_files(pack, NULL), 0);
	pack_close(pack);
	f.bytes.data[14] ^= 1;
	packfile_save(&f);
	assert_int_equal(pack_open(&pack, f.base, f.algo, NULL), 0);
	assert_int_equal(pack_verify_files(pack, &err), ERR_CORRUPT);
	assert_non_null(strstr(err.msg, "pack-test"));
	pack_close(pack);
	packfile_release(&f);
}

/*
 * Records the calls of the callbacks for each object. The arrays are indexed by
 * the idx_pos of an object.
 */
struct told {
	const struct pack *pack;
	int objects[4], bad[4];
	enum object_type type[4];
	size_t len[4];
	struct error why;
	/* Values that the callbacks return. */
	int object_result, bad_result;
	/* true: tell_object() returns an error without a message */
	bool is_silent;
};

static int tell_object(void *ctx, unsigned thread_nr, uint32_t idx_pos,
		       enum object_type type, const void *data, size_t len,
		       struct error *err)
{
	struct told *told = ctx;

	assert_true(thread_nr < THREADS);
	told->objects[idx_pos]++;
	told->type[idx_pos] = type;
	told->len[idx_pos] = len;
	if (told->object_result && !told->is_silent)
		error_set(err, told->object_result, "no more");
	return told->object_result;
}

static int tell_bad(void *ctx, unsigned thread_nr, uint32_t idx_pos,
		    const struct error *why, struct error *err)
{
	struct told *told = ctx;

	assert_true(thread_nr < THREADS);
	told->bad[idx_pos]++;
	told->why = *why;
	return told->bad_result ? error_set(err, told->bad_result, "enough")
				: 0;
}

static int verify_objects(struct told *told, struct pack *pack,
			  struct error *err)
{
	const struct pack_verify_hooks hooks = {tell_object, tell_bad, told};
	struct pack_chains c;
	int ret;

	told->pack = pack;
	assert_int_equal(pack_chains_init(&c, pack, NULL), 0);
	ret = pack_verify_objects(&c, THREADS, &hooks, err);
	pack_chains_release(&c);
	return ret;
}

/*
 * Each object is passed to one of two callbacks: for right objects, or for
 * wrong ones. Deltas of a wrong object are skipped. Verifying goes on after a
 * wrong object, and stops if a callback returns an error.
 */
static void callbacks(void **state)
{
	struct sample *s = malloc(sizeof(*s));
	struct told told = {.object_result = 0};
	struct error err = ERROR_INIT;
	uint32_t idx_pos[4];
	struct pack *pack;

	assert_non_null(s);
	sample_init(s, HASH_SHA1);
	sample_add(s, OBJ_BLOB, "base");
	sample_add_delta(s, OBJ_OFS_DELTA, 0, "wrong");
	sample_add_delta(s, OBJ_OFS_DELTA, 1, "skipped");
	sample_add(s, OBJ_TREE, "tree");
	s->file.oids[1].bytes[7] ^= 1;
	pack = packfile_open(&s->file);
	for (int i = 0; i < 4; i++)
		assert_true(pack_idx_find(&pack->idx, s->file.oids[i].bytes,
					  &idx_pos[i]));
	assert_int_equal(verify_objects(&told, pack, &err), 0);
	assert_int_equal(told.objects[idx_pos[0]], 1);
	assert_int_equal(told.objects[idx_pos[1]], 0);
	assert_int_equal(told.objects[idx_pos[2]], 0);
	assert_int_equal(told.objects[idx_pos[3]], 1);
	assert_int_equal(told.type[idx_pos[0]], OBJ_BLOB);
	assert_int_equal(told.type[idx_pos[3]], OBJ_TREE);
	assert_int_equal(told.len[idx_pos[0]], 4);
	for (int i = 0; i < 4; i++)
		assert_int_equal(told.bad[idx_pos[i]], i == 1);
	assert_int_equal(told.why.code, ERR_CORRUPT);
	assert_non_null(strstr(told.why.msg, "object is not "));
	told.bad_result = ERR_DENIED;
	assert_int_equal(verify_objects(&told, pack, &err), ERR_DENIED);
	assert_string_equal(err.msg, "enough");
	told.bad_result = 0;
	told.object_result = ERR_CANCELLED;
	assert_int_equal(verify_objects(&told, pack, &err), ERR_CANCELLED);
	assert_string_equal(err.msg, "no more");
	/* A callback need not set a message. */
	err = (struct error)ERROR_INIT;
	told.object_result = ERR_IO;
	told.is_silent = true;
	assert_int_equal(verify_objects(&told, pack, &err), ERR_IO);
	pack_close(pack);
	sample_release(s);
	free(s);
}

static void save_rev(struct packfile *f, const struct pack *pack,
		     const uint32_t *idx_pos)
{
	struct buf bytes = BUF_INIT;

	assert_int_equal(pack_rev_write(&bytes, idx_pos, f->nr, &pack->checksum,
					f->algo, NULL),
			 0);
	packfile_save_file(f, ".rev", bytes.data, bytes.len);
	buf_release(&bytes);
}

/*
 * A missing .rev file is no error. If there is one, its order and its checksum
 * must be right.
 */
static void rev_files(void **state)
{
	struct error err = ERROR_INIT;
	struct packfile f;
	struct pack *pack;
	uint32_t idx_pos[2], swapped[2];

	packfile_init(&f, HASH_SHA1);
	packfile_add(&f, OBJ_BLOB, "hello\n", 6);
	packfile_add(&f, OBJ_BLOB, "world\n", 6);
	pack = packfile_open(&f);
	for (int i = 0; i < 2; i++)
		assert_true(pack_idx_find(&pack->idx, f.oids[i].bytes,
					  &idx_pos[i]));
	swapped[0] = idx_pos[1];
	swapped[1] = idx_pos[0];
	assert_int_equal(pack_verify_rev(pack, NULL), 0);
	save_rev(&f, pack, idx_pos);
	assert_int_equal(pack_verify_rev(pack, NULL), 0);
	save_rev(&f, pack, swapped);
	assert_int_equal(pack_verify_rev(pack, &err), ERR_CORRUPT);
	assert_non_null(strstr(err.msg, "pack-test.rev"));
	packfile_save_file(&f, ".rev", "short", 5);
	assert_int_equal(pack_verify_rev(pack, NULL), ERR_CORRUPT);
	pack_close(pack);
	packfile_release(&f);
}

static int verify_again(void *ctx, struct error *err)
{
	return verify_saved(ctx, 1, err);
}

static void no_memory(void **state)
{
	struct sample s;

	sample_init(&s, HASH_SHA1);
	sample_add(&s, OBJ_BLOB, "hello\n");
	sample_add_delta(&s, OBJ_OFS_DELTA, 0, "more\n");
	sample_add_delta(&s, OBJ_REF_DELTA, 1, "yet more\n");
	assert_good(&s.file);
	nomem_each(NULL, verify_again, NULL, &s.file);
	sample_release(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_packs),
		cmocka_unit_test(every_changed_byte_is_noticed),
		cmocka_unit_test(an_object_with_another_id),
		cmocka_unit_test(one_object_of_many),
		cmocka_unit_test(an_entry_with_another_crc),
		cmocka_unit_test(bytes_between_objects),
		cmocka_unit_test(sizes_that_lie),
		cmocka_unit_test(deltas_that_lie),
		cmocka_unit_test(files_only),
		cmocka_unit_test(no_memory),
		cmocka_unit_test(callbacks),
		cmocka_unit_test(rev_files),
	};

	return cmocka_run_group_tests_name("verify", tests, NULL, NULL);
}
