/* SPDX-License-Identifier: MIT */
/*
 * Tests of odb/loose-write.c, which writes loose objects, with several levels
 * of compression. The objects are read back. An object that exists is not
 * written again.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <sys/stat.h>
#include <unistd.h>

#include "object/hash.h"
#include "odb/loose-write.h"
#include "odb/odb.h"
#include "sys/clock.h"
#include "sys/io.h"
#include "t/unit/tmprepo.h"

static void write_object(struct tmprepo *t, struct oid *oid, const char *text,
			 int expect)
{
	struct error err = ERROR_INIT;
	struct loose_writer w;
	struct hash_ctx hash;

	assert_int_equal(hash_init(&hash, t->repo.algo), 0);
	hash_object(&hash, oid, OBJ_BLOB, text, strlen(text));
	hash_release(&hash);
	if (loose_writer_init(&w, &t->repo, t->objects, &err) < 0)
		fail_msg("%s", err.msg);
	assert_int_equal(
		loose_writer_put(&w, oid, OBJ_BLOB, text, strlen(text), &err),
		expect);
	loose_writer_release(&w);
}

static void check_object(struct tmprepo *t, const struct oid *oid,
			 const char *text)
{
	struct odb_object obj = ODB_OBJECT_INIT;
	struct odb_reader *reader;
	struct odb *odb;

	assert_int_equal(odb_open(&odb, &t->repo, NULL, NULL), 0);
	reader = odb_reader_new(odb, 0);
	assert_non_null(reader);
	assert_true(odb_has_loose(odb, oid));
	assert_int_equal(odb_read(reader, oid, &obj, NULL), 0);
	assert_int_equal(obj.type, OBJ_BLOB);
	assert_int_equal(obj.len, strlen(text));
	assert_memory_equal(obj.data, text, obj.len);
	odb_object_release(reader, &obj);
	odb_reader_free(reader);
	odb_close(odb);
}

static void test_round_trip(void **state)
{
	const enum hash_algo algos[] = {HASH_SHA1, HASH_SHA256};

	for (size_t i = 0; i < 2; i++) {
		struct tmprepo t;
		struct oid a, b;

		tmprepo_init(&t, algos[i]);
		write_object(&t, &a, "hello\n", 1);
		write_object(&t, &b, "", 1);
		check_object(&t, &a, "hello\n");
		check_object(&t, &b, "");
		/* An existing object is not written again. */
		write_object(&t, &a, "hello\n", 0);
		tmprepo_release(&t);
	}
}

/*
 * An object that is too large to be compressed in one piece is written and read
 * back.
 */
static void test_large(void **state)
{
	size_t len = (9 << 20) + 17;
	char *text = malloc(len + 1);
	struct tmprepo t;
	struct oid oid;

	assert_non_null(text);
	for (size_t i = 0; i < len; i++)
		text[i] = (char)('a' + (i ^ i >> 13) % 26);
	text[len] = '\0';
	tmprepo_init(&t, HASH_SHA1);
	write_object(&t, &oid, text, 1);
	check_object(&t, &oid, text);
	write_object(&t, &oid, text, 0);
	tmprepo_release(&t);
	free(text);
}

/*
 * Writes an object in small pieces. If a writer is released before the end, no
 * file remains.
 */
static void test_pieces(void **state)
{
	static const char text[] = "one and the other, and so on and so forth";
	size_t len = strlen(text);
	struct loose_writer w;
	struct hash_ctx hash;
	struct tmprepo t;
	struct oid oid;

	tmprepo_init(&t, HASH_SHA1);
	assert_int_equal(hash_init(&hash, HASH_SHA1), 0);
	hash_object(&hash, &oid, OBJ_BLOB, text, len);
	hash_release(&hash);
	for (int round = 0; round < 3; round++) {
		assert_int_equal(
			loose_writer_init(&w, &t.repo, t.objects, NULL), 0);
		assert_int_equal(
			loose_writer_begin(&w, &oid, OBJ_BLOB, len, NULL),
			round < 2);
		for (size_t i = 0; i < len && round < 2; i += 7)
			assert_int_equal(
				loose_writer_feed(&w, text + i,
						  len - i < 7 ? len - i : 7,
						  NULL),
				0);
		if (round == 1)
			assert_int_equal(loose_writer_end(&w, NULL), 0);
		loose_writer_release(&w);
		if (round)
			check_object(&t, &oid, text);
	}
	tmprepo_release(&t);
}

/* Writing an existing object sets the modification time of its file to now. */
static void test_freshened(void **state)
{
	char hex[OID_MAX_HEX_LEN + 1], path[256];
	int64_t before = sys_clock_seconds();
	struct tmprepo t;
	struct stat st;
	struct oid oid;

	tmprepo_init(&t, HASH_SHA1);
	write_object(&t, &oid, "hello\n", 1);
	oid_to_hex(hex, &oid, HASH_SHA1);
	snprintf(path, sizeof(path), "%s/%.2s/%s", t.objects, hex, hex + 2);
	assert_int_equal(sys_set_mtime(path, 1000000000, NULL), 0);
	write_object(&t, &oid, "hello\n", 0);
	assert_int_equal(stat(path, &st), 0);
	assert_true(st.st_mtime >= before);
	tmprepo_release(&t);
}

static void test_levels(void **state)
{
	static const char *const bad[] = {"core.loosecompression=10",
					  "core.compression=-2",
					  "core.compression=x"};
	struct tmprepo t;

	tmprepo_init(&t, HASH_SHA1);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		char key[64];
		struct config_entry e = {.key = key};
		struct loose_writer w;

		snprintf(key, sizeof(key), "%s", bad[i]);
		e.value = strchr(key, '=') + 1;
		e.value[-1] = '\0';
		t.repo.config.entries = &e;
		t.repo.config.nr = 1;
		assert_int_equal(
			loose_writer_init(&w, &t.repo, t.objects, NULL),
			ERR_INVALID);
		loose_writer_release(&w);
	}
	tmprepo_release(&t);
}

/*
 * Writes an object of the type `type`, whose content is 1,000 equal bytes.
 * `level`: value of core.compression; NULL: not set. Returns the size of the
 * written file.
 */
static off_t size_of_file(char *level, enum object_type type)
{
	char key[] = "core.compression", path[256];
	char hex[OID_MAX_HEX_LEN + 1];
	struct config_entry e = {.key = key, .value = level};
	struct oid oid = OID_ZERO_INIT;
	uint8_t text[1000] = {0};
	struct loose_writer w;
	struct tmprepo t;
	struct stat st;

	tmprepo_init(&t, HASH_SHA1);
	t.repo.config.entries = &e;
	t.repo.config.nr = level ? 1 : 0;
	assert_int_equal(loose_writer_init(&w, &t.repo, t.objects, NULL), 0);
	assert_int_equal(
		loose_writer_put(&w, &oid, type, text, sizeof(text), NULL), 1);
	loose_writer_release(&w);
	oid_to_hex(hex, &oid, HASH_SHA1);
	snprintf(path, sizeof(path), "%s/%.2s/%s", t.objects, hex, hex + 2);
	assert_int_equal(stat(path, &st), 0);
	tmprepo_release(&t);
	return st.st_size;
}

/* Trees are not compressed, unless a level is configured. */
static void test_trees(void **state)
{
	char none[] = "0", fastest[] = "1";

	assert_true(size_of_file(NULL, OBJ_TREE) > 1000);
	assert_true(size_of_file(NULL, OBJ_BLOB) < 500);
	assert_true(size_of_file(fastest, OBJ_TREE) < 500);
	assert_true(size_of_file(none, OBJ_BLOB) > 1000);
}

static void test_unwritable(void **state)
{
	struct error err = ERROR_INIT;
	struct oid oid = OID_ZERO_INIT;
	struct loose_writer w;
	struct tmprepo t;

	tmprepo_init(&t, HASH_SHA1);
	/*
	 * A file has the name of the directory that the object needs. So
	 * writing the object fails.
	 */
	tmprepo_write(&t, "objects/00", "");
	assert_int_equal(loose_writer_init(&w, &t.repo, t.objects, &err), 0);
	assert_int_equal(loose_writer_put(&w, &oid, OBJ_BLOB, "x", 1, &err),
			 ERR_IO);
	loose_writer_release(&w);
	tmprepo_release(&t);
}

/*
 * A local copy of a repository in a store must not get objects, except in a
 * quarantine directory.
 */
static void test_copy(void **state)
{
	struct loose_writer w;
	struct tmprepo t;
	char path[256];

	tmprepo_init(&t, HASH_SHA1);
	t.repo.ref_storage = REPO_REFS_REFTABLE;
	/*
	 * If the marker file cannot be read, this is an error. It must not be
	 * taken for a missing marker.
	 */
	snprintf(path, sizeof(path), "%s/" REPO_COPY_MARKER, t.dir);
	assert_int_equal(symlink(REPO_COPY_MARKER, path), 0);
	assert_int_equal(
		loose_writer_init(&w, &t.repo, t.repo.object_dir, NULL),
		ERR_IO);
	loose_writer_release(&w);
	assert_int_equal(sys_unlink(path, NULL), 0);
	tmprepo_write(&t, REPO_COPY_MARKER, "");
	assert_int_equal(
		loose_writer_init(&w, &t.repo, t.repo.object_dir, NULL),
		ERR_DENIED);
	loose_writer_release(&w);
	assert_int_equal(loose_writer_init(&w, &t.repo, "quarantine", NULL), 0);
	loose_writer_release(&w);
	t.repo.in_quarantine = true;
	assert_int_equal(
		loose_writer_init(&w, &t.repo, t.repo.object_dir, NULL), 0);
	loose_writer_release(&w);
	tmprepo_release(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_large),
		cmocka_unit_test(test_pieces),
		cmocka_unit_test(test_freshened),
		cmocka_unit_test(test_levels),
		cmocka_unit_test(test_trees),
		cmocka_unit_test(test_unwritable),
		cmocka_unit_test(test_copy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
