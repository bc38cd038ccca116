/* SPDX-License-Identifier: MIT */
/*
 * Tests of names/index-file.c, which reads the index files of work trees. They
 * prove that all object ids are found in all versions of the format, and that
 * damaged files are refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/mem.h"
#include "names/index-file.h"
#include "t/unit/indexfile.h"
#include "t/unit/random.h"
#include "t/unit/tmprepo.h"

#define ENTRIES 40

struct sample {
	struct indexfile_entry entries[ENTRIES];
	char paths[ENTRIES][300];
};

static void sample_init(struct sample *s, uint32_t version, uint64_t *seed)
{
	memset(s, 0, sizeof(*s));
	for (int i = 0; i < ENTRIES; i++) {
		struct indexfile_entry *e = &s->entries[i];
		size_t len = random_next(seed) % 40;

		/*
		 * Make some paths so long that version 4 stores the length of
		 * the part after the common prefix in two bytes.
		 */
		if (random_next(seed) % 8 == 0)
			len += 200;
		snprintf(s->paths[i], sizeof(s->paths[i]), "%02d/%0*d", i,
			 (int)len + 1, 0);
		e->path = s->paths[i];
		e->mode = random_next(seed) % 4 ? 0100644 : 0160000;
		e->extended = version > 2 && i % 3 == 0 ? 0x2000 : 0;
		for (int k = 0; k < OID_MAX_LEN; k++)
			e->oid.bytes[k] = (uint8_t)random_next(seed);
	}
}

static void sample_write(const struct sample *s, struct buf *out,
			 uint32_t version, enum hash_algo algo)
{
	indexfile_head(out, version, ENTRIES);
	for (int i = 0; i < ENTRIES; i++)
		indexfile_put(out, version, algo, &s->entries[i],
			      i ? &s->entries[i - 1] : NULL);
}

struct visit {
	struct oid oids[2 * ENTRIES];
	char paths[2 * ENTRIES][300];
	uint32_t modes[2 * ENTRIES];
	size_t nr, stop_at;
	struct oid shared;
};

static int note_oid(void *ctx, const struct oid *oid)
{
	struct visit *v = ctx;

	assert_true(v->nr < 2 * ENTRIES);
	v->oids[v->nr++] = *oid;
	return v->nr == v->stop_at ? 7 : 0;
}

static int note(void *ctx, const struct index_entry *entry)
{
	struct visit *v = ctx;

	assert_int_equal(strlen(entry->path), entry->path_len);
	assert_non_null(strstr(entry->index, "index"));
	assert_true(v->nr < 2 * ENTRIES);
	snprintf(v->paths[v->nr], sizeof(v->paths[0]), "%s", entry->path);
	v->modes[v->nr] = entry->mode;
	return note_oid(ctx, &entry->oid);
}

static int check_each(const struct repo *repo, index_entry_fn *entry,
		      index_tree_fn *tree, struct visit *v, struct error *err)
{
	const struct index_callbacks on = {
		.entry = entry,
		.tree = tree,
		.ctx = v,
	};

	return index_file_check_each(repo, &on, err);
}

static void all_versions(void **state)
{
	static const enum hash_algo algos[] = {HASH_SHA1, HASH_SHA256};
	uint64_t seed = random_seed();

	for (int i = 0; i < 60; i++) {
		uint32_t version = 2 + (uint32_t)i % 3;
		enum hash_algo algo = algos[i / 3 % 2];
		struct visit v = {.nr = 0};
		struct buf file = BUF_INIT;
		struct sample s;

		sample_init(&s, version, &seed);
		sample_write(&s, &file, version, algo);
		indexfile_extension(&file, "TREE", "cache");
		indexfile_extension(&file, "sdir", "");
		indexfile_finish(&file, algo);
		assert_int_equal(
			index_file_parse(file.data, file.len, algo,
					 &(struct index_callbacks){
						 .entry = note, .ctx = &v},
					 &v.shared, NULL),
			0);
		for (int k = 0; k < ENTRIES; k++) {
			assert_memory_equal(v.oids[k].bytes,
					    s.entries[k].oid.bytes,
					    hash_len(algo));
			assert_string_equal(v.paths[k], s.entries[k].path);
			assert_int_equal(v.modes[k], s.entries[k].mode);
		}
		assert_int_equal(v.nr, ENTRIES);
		buf_release(&file);
	}
}

/*
 * Reading a truncated file fails. There is one exception: a file of which at
 * most 13 bytes are missing (the size of the last extension) may be accepted.
 */
static void prefixes(void **state)
{
	uint64_t seed = random_seed();

	for (uint32_t version = 2; version < 5; version++) {
		struct buf file = BUF_INIT;
		struct sample s;

		sample_init(&s, version, &seed);
		sample_write(&s, &file, version, HASH_SHA1);
		indexfile_extension(&file, "TREE", "cache");
		indexfile_finish(&file, HASH_SHA1);
		for (size_t len = 0; len < file.len; len++) {
			struct visit v = {.nr = 0};
			uint8_t *exact = malloc(len + 1);
			int ret;

			assert_non_null(exact);
			memcpy(exact, file.data, len);
			exact = realloc(exact, len ? len : 1);
			ret = index_file_parse(
				exact, len, HASH_SHA1,
				&(struct index_callbacks){.entry = note,
							  .ctx = &v},
				&v.shared, NULL);
			/*
			 * The parser may accept a file in which at most 13
			 * bytes are missing.
			 */
			assert_true(ret == ERR_CORRUPT || len + 13 >= file.len);
			free(exact);
		}
		buf_release(&file);
	}
}

static int parse_one(const char *head, uint32_t version, uint32_t nr,
		     uint16_t extended, const char *extension)
{
	struct indexfile_entry e = {"path", 0100644, extended, OID_ZERO_INIT};
	struct buf file = BUF_INIT;
	struct visit v = {.nr = 0};
	int ret;

	buf_append_str(&file, head);
	buf_append_be32(&file, version);
	buf_append_be32(&file, nr);
	indexfile_put(&file, version, HASH_SHA1, &e, NULL);
	if (extension)
		indexfile_extension(&file, extension, "data");
	indexfile_finish(&file, HASH_SHA1);
	ret = index_file_parse(
		file.data, file.len, HASH_SHA1,
		&(struct index_callbacks){.entry = note, .ctx = &v}, &v.shared,
		NULL);
	buf_release(&file);
	return ret;
}

static void refused(void **state)
{
	assert_int_equal(parse_one("DIRC", 2, 1, 0, NULL), 0);
	assert_int_equal(parse_one("DIRD", 2, 1, 0, NULL), ERR_CORRUPT);
	assert_int_equal(parse_one("DIRC", 1, 1, 0, NULL), ERR_CORRUPT);
	assert_int_equal(parse_one("DIRC", 5, 1, 0, NULL), ERR_CORRUPT);
	assert_int_equal(parse_one("DIRC", 2, 2, 0, NULL), ERR_CORRUPT);
	assert_int_equal(parse_one("DIRC", 2, UINT32_MAX, 0, NULL),
			 ERR_CORRUPT);
	assert_int_equal(parse_one("DIRC", 2, 1, 1, NULL), ERR_CORRUPT);
	assert_int_equal(parse_one("DIRC", 3, 1, 1, NULL), 0);
	assert_int_equal(parse_one("DIRC", 2, 1, 0, "REUC"), 0);
	assert_int_equal(parse_one("DIRC", 2, 1, 0, "sdir"), 0);
	assert_int_equal(parse_one("DIRC", 2, 1, 0, "abcd"), ERR_UNSUPPORTED);
	/* The extension "link" is too short for the id of the shared index. */
	assert_int_equal(parse_one("DIRC", 2, 1, 0, "link"), ERR_CORRUPT);
}

static void a_visit_may_stop(void **state)
{
	uint64_t seed = random_seed();
	struct visit v = {.stop_at = 3};
	struct buf file = BUF_INIT;
	struct sample s;

	sample_init(&s, 2, &seed);
	sample_write(&s, &file, 2, HASH_SHA1);
	indexfile_finish(&file, HASH_SHA1);
	assert_int_equal(index_file_parse(file.data, file.len, HASH_SHA1,
					  &(struct index_callbacks){
						  .entry = note, .ctx = &v},
					  &v.shared, NULL),
			 7);
	assert_int_equal(v.nr, 3);
	buf_release(&file);
}

/* Writes an index file with one entry, whose id begins with `byte`. */
static void write_index(const struct tmprepo *t, const char *name, uint8_t byte,
			const char *shared)
{
	struct indexfile_entry e = {"path", 0100644, 0, OID_ZERO_INIT};
	struct buf file = BUF_INIT;

	e.oid.bytes[0] = byte;
	indexfile_head(&file, 2, 1);
	indexfile_put(&file, 2, HASH_SHA1, &e, NULL);
	if (shared)
		indexfile_extension(&file, "link", shared);
	indexfile_finish(&file, HASH_SHA1);
	tmprepo_write_len(t, name, file.data, file.len);
	buf_release(&file);
}

/* The index files of a repository and of its linked work trees are read. */
static void of_a_repository(void **state)
{
	static const char *const names[] = {"index", "worktrees/a/index",
					    "worktrees/b/index"};
	struct visit v = {.nr = 0};
	struct error err = ERROR_INIT;
	struct tmprepo t;

	tmprepo_init(&t, HASH_SHA1);
	assert_int_equal(index_file_each_oid(&t.repo, note_oid, &v, NULL), 0);
	for (uint8_t i = 0; i < 3; i++)
		write_index(&t, names[i], i + 1, NULL);
	tmprepo_write(&t, "worktrees/c/HEAD", "no index yet");
	assert_int_equal(index_file_each_oid(&t.repo, note_oid, &v, NULL), 0);
	assert_int_equal(v.nr, 3);
	assert_int_equal(v.oids[0].bytes[0], 1);
	assert_int_equal(v.oids[1].bytes[0] + v.oids[2].bytes[0], 5);
	tmprepo_write(&t, "worktrees/b/index", "DIRC");
	assert_int_equal(index_file_each_oid(&t.repo, note_oid, &v, &err),
			 ERR_CORRUPT);
	assert_non_null(strstr(err.msg, "worktrees/b/index"));
	tmprepo_release(&t);
}

/*
 * index_file_each_oid() also visits the trees of the cache-tree. An entry of
 * the cache-tree may have no id.
 */
static void cache_tree(void **state)
{
	static const char tree[] = "\0002 2\nabcdefghijklmnopqrst"
				   "a\000-1 0\n"
				   "b\0001 0\ntsrqponmlkjihgfedcba";
	struct indexfile_entry e = {.mode = 0100644, .path = "a/x"};
	struct buf file = BUF_INIT;
	struct visit v = {.nr = 0};
	struct tmprepo t;

	tmprepo_init(&t, HASH_SHA1);
	for (size_t cut = 0; cut < 2; cut++) {
		uint32_t len = (uint32_t)(sizeof(tree) - 1 - cut);

		indexfile_head(&file, 2, 1);
		indexfile_put(&file, 2, HASH_SHA1, &e, NULL);
		buf_append_str(&file, "TREE");
		buf_append_be32(&file, len);
		buf_append(&file, tree, len);
		indexfile_finish(&file, HASH_SHA1);
		tmprepo_write_len(&t, "index", file.data, file.len);
		v.nr = 0;
		assert_int_equal(
			index_file_each_oid(&t.repo, note_oid, &v, NULL),
			cut ? ERR_CORRUPT : 0);
		assert_int_equal(v.nr, cut ? 2 : 3);
		assert_int_equal(v.oids[1].bytes[0], 'a');
		assert_true(cut || v.oids[2].bytes[0] == 't');
		v.nr = 0;
		assert_int_equal(check_each(&t.repo, note, NULL, &v, NULL), 0);
		assert_int_equal(v.nr, 1);
		buf_release(&file);
		file = (struct buf)BUF_INIT;
	}
	tmprepo_release(&t);
}

/*
 * Callback that notes a tree. If the id of the tree starts with 's', the trees
 * below are skipped.
 */
static int note_tree(void *ctx, struct index_tree *tree)
{
	assert_non_null(strstr(tree->index, "/index"));
	tree->skips_subtrees = tree->oid.bytes[0] == 's';
	return note_oid(ctx, &tree->oid);
}

/*
 * Writes an index file that has no entries, but has the cache-tree `tree` of
 * `len` bytes.
 */
static void write_cache_tree(const struct tmprepo *t, const char *tree,
			     uint32_t len)
{
	struct buf file = BUF_INIT;

	indexfile_head(&file, 2, 0);
	buf_append_str(&file, "TREE");
	buf_append_be32(&file, len);
	buf_append(&file, tree, len);
	indexfile_finish(&file, HASH_SHA1);
	tmprepo_write_len(t, "index", file.data, file.len);
	buf_release(&file);
}

/* A callback can skip the trees below a tree, at any depth. */
static void cache_tree_skip(void **state)
{
	static const char tree[] = "\0009 3\nabcdefghijklmnopqrst"
				   "a\0003 2\nsbcdefghijklmnopqrst"
				   "b\0002 1\nxbcdefghijklmnopqrst"
				   "c\0001 0\nybcdefghijklmnopqrst"
				   "d\000-1 1\n"
				   "e\0001 0\nzbcdefghijklmnopqrst"
				   "f\0001 0\nfbcdefghijklmnopqrst"
				   "g\0001 0\ngbcdefghijklmnopqrst";
	static const char *const bad[] = {"\0001\n", "\0001 x\n", "\0001 2",
					  "\0001 99999999999999999999\n"};
	static const uint32_t bad_len[] = {3, 5, 4, 24};
	struct visit v = {.nr = 0};
	struct tmprepo t;

	tmprepo_init(&t, HASH_SHA1);
	write_cache_tree(&t, tree, sizeof(tree) - 1);
	assert_int_equal(check_each(&t.repo, note, note_tree, &v, NULL), 0);
	assert_int_equal(v.nr, 4);
	assert_int_equal(v.oids[0].bytes[0], 'a');
	assert_int_equal(v.oids[1].bytes[0], 's');
	assert_int_equal(v.oids[2].bytes[0], 'f');
	assert_int_equal(v.oids[3].bytes[0], 'g');
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		write_cache_tree(&t, bad[i], bad_len[i]);
		assert_int_equal(check_each(&t.repo, note, note_tree, &v, NULL),
				 ERR_CORRUPT);
	}
	tmprepo_release(&t);
}

/*
 * Callback that notes an object of a resolve-undo extension. The index file is
 * named.
 */
static int note_undo(void *ctx, const struct oid *oid, const char *index)
{
	assert_non_null(strstr(index, "/index"));
	return note_oid(ctx, oid);
}

/*
 * Writes an index file that has no entries, but has the resolve-undo extension
 * `undo` of `len` bytes.
 */
static void write_undo(const struct tmprepo *t, const char *undo, size_t len)
{
	struct buf file = BUF_INIT;

	indexfile_head(&file, 2, 0);
	buf_append_str(&file, "REUC");
	buf_append_be32(&file, (uint32_t)len);
	buf_append(&file, undo, len);
	indexfile_finish(&file, HASH_SHA1);
	tmprepo_write_len(t, "index", file.data, file.len);
	buf_release(&file);
}

/*
 * The objects of the resolve-undo extension are visited. A stage of mode 0 has
 * no id, and a submodule is left out.
 */
static void resolve_undo(void **state)
{
	static const char undo[] = "a/b\000100644\0000\000100755\0"
				   "abcdefghijklmnopqrst"
				   "bbcdefghijklmnopqrst"
				   "c\0000\000160000\000120000\0"
				   "cbcdefghijklmnopqrst"
				   "dbcdefghijklmnopqrst";
	/* Lengths at which the extension ends after a whole record. */
	const size_t len = sizeof(undo) - 1, first = 20 + 40;
	struct visit v = {.nr = 0};
	const struct index_callbacks on = {.undo = note_undo, .ctx = &v};
	struct tmprepo t;

	tmprepo_init(&t, HASH_SHA1);
	for (size_t part = 0; part <= len; part++) {
		bool whole = !part || part == first || part == len;

		write_undo(&t, undo, part);
		v.nr = 0;
		assert_int_equal(
			index_file_each_oid(&t.repo, note_oid, &v, NULL),
			whole ? 0 : ERR_CORRUPT);
		assert_int_equal(v.nr, part < 40      ? 0
				       : part < first ? 1
				       : part < len   ? 2
						      : 3);
	}
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(v.oids[i].bytes[0], "abd"[i]);
	v.nr = 0;
	assert_int_equal(index_file_check_each(&t.repo, &on, NULL), 0);
	assert_int_equal(v.nr, 3);
	tmprepo_release(&t);
}

/* The modes are octal numbers of at most 32 bits. */
static void resolve_undo_modes(void **state)
{
	static const char *const bad[] = {"8",  "x", "-1",
					  " 1", "",  "40000000000"};
	struct visit v = {.nr = 0};
	struct tmprepo t;

	tmprepo_init(&t, HASH_SHA1);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct buf undo = BUF_INIT;

		assert_int_equal(buf_printf(&undo, "p%c%s%c0%c0%c%020d", 0,
					    bad[i], 0, 0, 0, 0),
				 0);
		write_undo(&t, undo.data, undo.len);
		assert_int_equal(
			index_file_each_oid(&t.repo, note_oid, &v, NULL),
			ERR_CORRUPT);
		buf_release(&undo);
	}
	assert_int_equal(v.nr, 0);
	tmprepo_release(&t);
}

/*
 * The entries of the shared index are visited, too (split index). A missing
 * shared index is an error.
 */
static void split_index(void **state)
{
	struct visit v = {.nr = 0};
	struct error err = ERROR_INIT;
	struct tmprepo t;

	tmprepo_init(&t, HASH_SHA1);
	write_index(&t, "index", 1, "abcdefghijklmnopqrst and more");
	assert_int_equal(index_file_each_oid(&t.repo, note_oid, &v, &err),
			 ERR_IO);
	assert_non_null(strstr(err.msg, "sharedindex.6162"));
	v = (struct visit){.nr = 0};
	write_index(&t, "sharedindex.6162636465666768696a6b6c6d6e6f7071727374",
		    2, NULL);
	assert_int_equal(index_file_each_oid(&t.repo, note_oid, &v, NULL), 0);
	assert_int_equal(v.nr, 2);
	assert_int_equal(v.oids[0].bytes[0], 1);
	assert_int_equal(v.oids[1].bytes[0], 2);
	tmprepo_release(&t);
}

/*
 * index_file_each_oid() ignores a wrong checksum, and
 * index_file_check_each() reports it as an error. A checksum of zeros means
 * that the file has no checksum.
 */
static void checksum(void **state)
{
	struct indexfile_entry e = {"path", 0100644, 0, OID_ZERO_INIT};
	struct buf file = BUF_INIT;
	struct visit v = {.nr = 0};
	struct error err = ERROR_INIT;
	struct tmprepo t;

	tmprepo_init(&t, HASH_SHA1);
	write_index(&t, "index", 1, NULL);
	assert_int_equal(check_each(&t.repo, note, NULL, &v, NULL), 0);
	indexfile_head(&file, 2, 1);
	indexfile_put(&file, 2, HASH_SHA1, &e, NULL);
	indexfile_finish(&file, HASH_SHA1);
	file.data[20] ^= 1;
	tmprepo_write_len(&t, "worktrees/a/index", file.data, file.len);
	assert_int_equal(index_file_each_oid(&t.repo, note_oid, &v, NULL), 0);
	assert_int_equal(check_each(&t.repo, note, NULL, &v, &err),
			 ERR_CORRUPT);
	assert_non_null(strstr(err.msg, "bad index file sha1 signature"));
	assert_non_null(strstr(err.msg, "worktrees/a/index"));
	memset(file.data + file.len - 20, 0, 20);
	tmprepo_write_len(&t, "worktrees/a/index", file.data, file.len);
	assert_int_equal(check_each(&t.repo, note, NULL, &v, NULL), 0);
	tmprepo_write(&t, "index", "");
	assert_int_equal(check_each(&t.repo, note, NULL, &v, &err),
			 ERR_CORRUPT);
	assert_non_null(strstr(err.msg, "smaller than expected"));
	buf_release(&file);
	tmprepo_release(&t);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_versions),
		cmocka_unit_test(prefixes),
		cmocka_unit_test(refused),
		cmocka_unit_test(a_visit_may_stop),
		cmocka_unit_test(of_a_repository),
		cmocka_unit_test(cache_tree),
		cmocka_unit_test(cache_tree_skip),
		cmocka_unit_test(resolve_undo),
		cmocka_unit_test(resolve_undo_modes),
		cmocka_unit_test(split_index),
		cmocka_unit_test(checksum),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
