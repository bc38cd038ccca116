/* SPDX-License-Identifier: MIT */
/*
 * Tests of indexer/indexer.c and its parts, which index a received pack. They
 * prove that the index of a valid pack is right, and that each kind of invalid
 * pack is refused. The packs are made by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "indexer/indexer.h"
#include "pack/reader.h"
#include "sys/io.h"
#include "sys/map.h"
#include "t/unit/packfile.h"
#include "t/unit/random.h"

static char dir[] = "/tmp/gitreach-indexer-XXXXXX";

static int count_name(void *ctx, const char *name)
{
	(*(int *)ctx)++;
	return 0;
}

static int files_nr(void)
{
	int nr = 0;

	assert_int_equal(sys_dir_each(dir, count_name, &nr, NULL), 0);
	return nr;
}

static void remove_file(const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	unlink(path);
}

static void remove_files(void)
{
	remove_file("p.pack");
	remove_file("p.idx");
	remove_file("p.rev");
	remove_file("p.keep");
	assert_int_equal(files_nr(), 0);
}

/*
 * A source that returns the bytes of a pack in pieces. `rest`: number of bytes
 * that the indexer has read past the end of the pack and given back.
 */
struct dealer {
	const uint8_t *bytes;
	size_t len, at;
	size_t piece; /* limit of bytes at a time */
	/*
	 * Whether the indexer may read once more after the last byte of the
	 * pack.
	 */
	bool may_end;
	size_t rest;
};

static ssize_t deal(void *ctx, void *bytes, size_t len, struct error *err)
{
	struct dealer *d = ctx;
	size_t n = d->len - d->at;

	if (!n && !d->may_end)
		fail_msg("read past the pack");
	n = n < len ? n : len;
	n = n < d->piece ? n : d->piece;
	memcpy(bytes, d->bytes + d->at, n);
	d->at += n;
	return (ssize_t)n;
}

static int count_rest(void *ctx, const void *bytes, size_t len,
		      struct error *err)
{
	((struct dealer *)ctx)->rest += len;
	return 0;
}

static struct pack_source source_of(struct dealer *d)
{
	return (struct pack_source){.read = deal, .ctx = d};
}

static struct pack_indexer_config config_of(const struct packfile *p)
{
	return (struct pack_indexer_config){
		.algo = p->algo, .threads = 1, .cache_limit = 1 << 20};
}

/*
 * Indexes the bytes of a pack. Returns 0 with *ix owned by the caller, or the
 * first error.
 */
static int try_bytes(struct pack_indexer **ix,
		     const struct pack_indexer_config *config, struct dealer *d,
		     struct error *err)
{
	int ret;

	*ix = pack_indexer_new(config);
	assert_non_null(*ix);
	ret = pack_indexer_receive(*ix, source_of(d), dir, err);
	if (!ret)
		ret = pack_indexer_resolve(*ix, err);
	if (ret < 0) {
		assert_int_equal(err->code, ret);
		pack_indexer_free(*ix);
		assert_int_equal(files_nr(), 0);
	}
	return ret;
}

/*
 * Asserts that the pack is refused with the error code `code`, and that the
 * message contains `words`.
 */
static void refused_with(const struct pack_indexer_config *config,
			 const struct packfile *p, int code, const char *words)
{
	struct dealer d = {.bytes = (uint8_t *)p->bytes.data,
			   .len = p->bytes.len,
			   .piece = SIZE_MAX,
			   .may_end = true};
	struct error err = ERROR_INIT;
	struct pack_indexer *ix;

	assert_int_equal(try_bytes(&ix, config, &d, &err), code);
	if (!strstr(err.msg, words))
		fail_msg("'%s' instead of '%s'", err.msg, words);
}

static void accepted_with(const struct pack_indexer_config *config,
			  const struct packfile *p)
{
	struct dealer d = {.bytes = (uint8_t *)p->bytes.data,
			   .len = p->bytes.len,
			   .piece = SIZE_MAX,
			   .may_end = true};
	struct error err = ERROR_INIT;
	struct pack_indexer *ix;

	if (try_bytes(&ix, config, &d, &err) < 0)
		fail_msg("%s", err.msg);
	pack_indexer_free(ix);
}

static void refused(const struct packfile *p, const char *words)
{
	struct pack_indexer_config config = config_of(p);

	refused_with(&config, p, ERR_CORRUPT, words);
}

static void file_is(const char *name, const struct buf *want)
{
	struct buf got = BUF_INIT;
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	assert_int_equal(sys_read_file(&got, path, NULL), 0);
	assert_int_equal(got.len, want->len);
	assert_memory_equal(got.data, want->data, want->len);
	buf_release(&got);
}

static int write_files(struct pack_indexer *ix, bool pack, bool keep)
{
	char paths[4][64];
	static const char *const ext[] = {"pack", "idx", "rev", "keep"};
	struct pack_indexer_files files = {.keep_text = "why",
					   .idx_format.version = 2};
	struct error err = ERROR_INIT;
	int ret;

	for (int i = 0; i < 4; i++)
		snprintf(paths[i], sizeof(paths[i]), "%s/p.%s", dir, ext[i]);
	files.pack = pack ? paths[0] : NULL;
	files.idx = paths[1];
	files.rev = paths[2];
	files.keep = keep ? paths[3] : NULL;
	ret = pack_indexer_write(ix, &files, &err);
	if (ret < 0)
		fail_msg("%s", err.msg);
	return ret;
}

/*
 * Asserts that the written files contain all objects, and that the reverse
 * index is sorted.
 */
static void check_written(const struct packfile *p)
{
	char base[64];
	struct pack *pack;
	const struct pack_rev *rev;

	snprintf(base, sizeof(base), "%s/p", dir);
	assert_int_equal(pack_open(&pack, base, p->algo, NULL), 0);
	rev = pack_get_rev(pack, NULL);
	assert_non_null(rev);
	assert_non_null(rev->table);
	for (uint32_t i = 0; i < p->nr; i++)
		assert_true(pack_rev_offset(rev, i) == p->offsets[i]);
	pack_close(pack);
}

/*
 * Asserts that each object of the pack can be read by its id before the files
 * are in place, and that another id is not found.
 */
static void check_reading(struct pack_indexer *ix, const struct packfile *p)
{
	struct pack_reader *reader = pack_reader_new(1 << 20);
	struct oid oid, none = OID_ZERO_INIT;
	struct error err = ERROR_INIT;
	struct pack_object obj;
	struct hash_ctx hash;
	struct pack *pack;
	uint32_t idx_pos;

	assert_non_null(reader);
	assert_int_equal(hash_init(&hash, p->algo), 0);
	if (pack_indexer_open_pack(&pack, ix, &err) < 0)
		fail_msg("%s", err.msg);
	for (uint32_t i = 0; i < p->nr; i++) {
		assert_true(
			pack_idx_find(&pack->idx, p->oids[i].bytes, &idx_pos));
		if (pack_reader_read(reader, pack,
				     pack_idx_offset(&pack->idx, idx_pos), &obj,
				     &err) < 0)
			fail_msg("%s", err.msg);
		hash_object(&hash, &oid, obj.type, obj.data, obj.len);
		assert_true(oid_equal(&oid, &p->oids[i]));
		pack_object_release(reader, &obj);
	}
	assert_false(pack_idx_find(&pack->idx, none.bytes, &idx_pos));
	pack_reader_free(reader);
	pack_close(pack);
	hash_release(&hash);
}

/*
 * Indexes a pack with different options. The source returns at most `piece`
 * bytes at a time. The written files must equal those that the test makes
 * itself.
 */
static void check_good(const struct packfile *p, size_t piece)
{
	struct pack_indexer_config config = config_of(p);
	struct pack_indexer_result result;
	struct error err = ERROR_INIT;
	struct pack_indexer *ix;

	for (int way = 0; way < 4; way++) {
		struct dealer d = {.bytes = (uint8_t *)p->bytes.data,
				   .len = p->bytes.len,
				   .piece = piece};

		config.threads = way % 2 ? 3 : 1;
		config.cache_limit = way / 2 ? 100 : 1 << 20;
		if (try_bytes(&ix, &config, &d, &err) < 0)
			fail_msg("%s", err.msg);
		pack_indexer_result(ix, &result);
		assert_int_equal(result.nr, p->nr);
		assert_int_equal(result.pack_len, p->bytes.len);
		if (!way)
			check_reading(ix, p);
		assert_int_equal(write_files(ix, true, false), 0);
		pack_indexer_free(ix);
		file_is("p.pack", &p->bytes);
		file_is("p.idx", &p->idx);
		check_written(p);
		remove_files();
	}
}

/* Makes random packs of blobs and deltas. Keeps the content of each entry. */
struct maker {
	struct packfile p;
	struct buf text[PACKFILE_MAX];
	uint64_t seed;
};

static void maker_init(struct maker *m, enum hash_algo algo)
{
	packfile_init(&m->p, algo);
	for (int i = 0; i < PACKFILE_MAX; i++)
		buf_init(&m->text[i]);
}

static void maker_release(struct maker *m)
{
	for (int i = 0; i < PACKFILE_MAX; i++)
		buf_release(&m->text[i]);
	packfile_release(&m->p);
}

static void add_blob(struct maker *m, size_t len)
{
	struct buf *b = &m->text[m->p.nr];

	while (b->len < len)
		buf_append_be32(b, (uint32_t)random_next(&m->seed) & 0xffff);
	packfile_add(&m->p, OBJ_BLOB, b->data, b->len);
}

static void add_delta(struct maker *m, enum object_type type, uint32_t base)
{
	struct buf *b = &m->text[m->p.nr];
	char more[32];
	struct oid oid;

	snprintf(more, sizeof(more), "more %u", m->p.nr);
	buf_append(b, m->text[base].data, m->text[base].len);
	buf_append_str(b, more);
	hash_object(&m->p.hash, &oid, OBJ_BLOB, b->data, b->len);
	packfile_add_delta(&m->p, type, base, m->text[base].len, more, &oid);
}

static void empty_pack(void **state)
{
	struct packfile p;

	packfile_init(&p, HASH_SHA1);
	packfile_finish(&p);
	check_good(&p, 1);
	packfile_release(&p);
}

/*
 * Packs with random OFS_DELTA and REF_DELTA entries are received in pieces of
 * all sizes.
 */
static void random_packs(void **state)
{
	static struct maker m;
	uint64_t seed = random_seed();

	for (int i = 0; i < 12; i++) {
		unsigned nr = 1 + (unsigned)(random_next(&seed) % 60);

		m.seed = random_next(&seed);
		maker_init(&m, i % 2 ? HASH_SHA256 : HASH_SHA1);
		add_blob(&m, 0);
		while (m.p.nr < nr) {
			uint64_t r = random_next(&seed);
			uint32_t base = (uint32_t)((r >> 8) % m.p.nr);

			if (r % 4 == 0)
				add_blob(&m, (r >> 40) % 3000);
			else
				add_delta(&m,
					  r % 4 == 1 ? OBJ_REF_DELTA
						     : OBJ_OFS_DELTA,
					  base);
		}
		packfile_finish(&m.p);
		check_good(&m.p, i % 3 ? random_next(&seed) % 2000 + 1 : 1);
		maker_release(&m);
	}
}

/*
 * The pack has a long delta chain, and each object of the chain has a second
 * delta. The memory limit is so small that delta bases are freed before they
 * are used. They must be computed again.
 */
static void waiting_bases_are_made_again(void **state)
{
	static struct maker m;

	m.seed = 5;
	maker_init(&m, HASH_SHA1);
	add_blob(&m, 90);
	for (uint32_t base = 0; m.p.nr < 200; base = m.p.nr - 1) {
		add_delta(&m, OBJ_OFS_DELTA, base);
		add_delta(&m, OBJ_OFS_DELTA, base);
	}
	packfile_finish(&m.p);
	check_good(&m.p, SIZE_MAX);
	maker_release(&m);
}

/*
 * The base of a REF_DELTA may come later in the pack, and may be a delta
 * itself.
 */
static void bases_may_come_later(void **state)
{
	static struct maker m;
	struct pack_entry e = {.type = OBJ_REF_DELTA};
	struct buf delta = BUF_INIT;
	struct oid base, oid;

	maker_init(&m, HASH_SHA1);
	hash_object(&m.p.hash, &base, OBJ_BLOB, "rootmore 2", 10);
	hash_object(&m.p.hash, &oid, OBJ_BLOB, "rootmore 2last", 14);
	packfile_make_delta(&delta, 10, "last");
	e.size = delta.len;
	e.base_oid = base.bytes;
	packfile_add_entry(&m.p, &e, delta.data, delta.len, &oid);
	buf_append_str(&m.text[1], "root");
	packfile_add(&m.p, OBJ_BLOB, "root", 4);
	add_delta(&m, OBJ_OFS_DELTA, 1);
	packfile_finish(&m.p);
	check_good(&m.p, 7);
	buf_release(&delta);
	maker_release(&m);
}

static void large_blobs_come_in_pieces(void **state)
{
	size_t len = (17 << 20) + 5;
	char *zeros = mem_calloc(len, 1);
	struct packfile p;

	assert_non_null(zeros);
	packfile_init(&p, HASH_SHA1);
	packfile_add(&p, OBJ_BLOB, zeros, len);
	packfile_add(&p, OBJ_BLOB, "x", 1);
	packfile_finish(&p);
	check_good(&p, 1000);
	packfile_release(&p);
	free(zeros);
}

static void file_in_place(void **state)
{
	static struct maker m;
	struct pack_indexer_config config;
	struct error err = ERROR_INIT;
	struct pack_indexer *ix;
	char path[128];

	maker_init(&m, HASH_SHA1);
	add_blob(&m, 100);
	add_delta(&m, OBJ_OFS_DELTA, 0);
	packfile_finish(&m.p);
	packfile_save(&m.p);
	snprintf(path, sizeof(path), "%s.pack", m.p.base);
	config = config_of(&m.p);
	ix = pack_indexer_new(&config);
	assert_non_null(ix);
	assert_int_equal(pack_indexer_open(ix, path, &err), 0);
	assert_int_equal(pack_indexer_resolve(ix, &err), 0);
	assert_int_equal(write_files(ix, false, true), 1);
	assert_int_equal(write_files(ix, false, true), 0);
	file_is("p.idx", &m.p.idx);
	pack_indexer_free(ix);
	remove_files();
	ix = pack_indexer_new(&config);
	assert_int_equal(pack_indexer_open(ix, "/no/such", &err), ERR_MISSING);
	pack_indexer_free(ix);
	maker_release(&m);
}

static void every_cut_is_noticed(void **state)
{
	static struct maker m;

	maker_init(&m, HASH_SHA1);
	add_blob(&m, 50);
	add_delta(&m, OBJ_OFS_DELTA, 0);
	add_delta(&m, OBJ_REF_DELTA, 0);
	packfile_finish(&m.p);
	while (m.p.bytes.len) {
		buf_set_len(&m.p.bytes, m.p.bytes.len - 1);
		refused(&m.p, "early EOF");
	}
	maker_release(&m);
}

static void bytes_after_the_pack(void **state)
{
	struct packfile p;
	struct pack_indexer_config config;
	struct error err = ERROR_INIT;
	struct pack_indexer *ix;
	struct pack_source source;
	struct dealer d = {.piece = SIZE_MAX, .may_end = true};

	packfile_init(&p, HASH_SHA1);
	packfile_add(&p, OBJ_BLOB, "a", 1);
	packfile_finish(&p);
	assert_int_equal(buf_append(&p.bytes, "xyz", 3), 0);
	refused(&p, "junk at the end");
	config = config_of(&p);
	d.bytes = (uint8_t *)p.bytes.data;
	d.len = p.bytes.len;
	source = source_of(&d);
	source.rest = count_rest;
	ix = pack_indexer_new(&config);
	assert_int_equal(pack_indexer_receive(ix, source, dir, &err), 0);
	assert_int_equal(d.rest, 3);
	pack_indexer_free(ix);

	/*
	 * With must_end, bytes after the pack are an error, even if they have
	 * not been read yet.
	 */
	d.at = 0;
	d.piece = 1;
	source.must_end = true;
	ix = pack_indexer_new(&config);
	assert_int_equal(pack_indexer_receive(ix, source, dir, &err),
			 ERR_CORRUPT);
	pack_indexer_free(ix);
	packfile_release(&p);
}

/* Writes the right trailer after a test has changed the pack. */
static void reseal(struct packfile *p)
{
	size_t len = p->bytes.len - hash_len(p->algo);
	struct oid sum;

	hash_reset(&p->hash);
	hash_update(&p->hash, p->bytes.data, len);
	hash_final(&p->hash, &sum);
	memcpy(p->bytes.data + len, sum.bytes, hash_len(p->algo));
}

static void wrong_headers_and_trailers(void **state)
{
	struct pack_indexer_config config;
	struct packfile p;

	packfile_init(&p, HASH_SHA256);
	packfile_add(&p, OBJ_BLOB, "a", 1);
	packfile_finish(&p);
	p.bytes.data[p.bytes.len - 1] ^= 1;
	refused(&p, "pack is corrupted (SHA256 mismatch)");
	p.bytes.data[11] = 2;
	refused(&p, "at offset");
	p.bytes.data[11] = 0;
	refused(&p, "pack is corrupted");
	p.bytes.data[11] = 1;
	p.bytes.data[7] = 4;
	reseal(&p);
	config = config_of(&p);
	refused_with(&config, &p, ERR_UNSUPPORTED, "pack version 4");
	p.bytes.data[7] = 3;
	p.bytes.data[12] = 0x51;
	reseal(&p);
	refused(&p, "bad object header at offset 12");
	p.bytes.data[0] = 'B';
	refused(&p, "pack signature mismatch");
	packfile_release(&p);
}

static void wrong_sizes(void **state)
{
	struct pack_entry e = {.type = OBJ_BLOB};
	struct oid oid = OID_ZERO_INIT;
	struct packfile p;

	for (size_t claim = 0; claim < 12; claim += 2) {
		packfile_init(&p, HASH_SHA1);
		e.size = claim;
		packfile_add_entry(&p, &e, "12345", 5, &oid);
		packfile_finish(&p);
		refused(&p, "does not inflate to its size at offset 12");
		packfile_release(&p);
	}
}

static void wrong_bases(void **state)
{
	struct pack_entry e = {.type = OBJ_OFS_DELTA, .size = 3};
	struct oid oid = OID_ZERO_INIT;
	static const int64_t off_by[] = {-1, 1, 12, 30, INT64_MAX / 4};
	struct packfile p;

	for (size_t i = 0; i < ARRAY_NR(off_by); i++) {
		packfile_init(&p, HASH_SHA1);
		packfile_add(&p, OBJ_BLOB, "a", 1);
		e.base_distance = p.bytes.len - 12 + (uint64_t)off_by[i];
		packfile_add_entry(&p, &e, "\1\1\1", 3, &oid);
		packfile_finish(&p);
		refused(&p, "delta base offset is out of bound");
		packfile_release(&p);
	}
}

static void wrong_deltas(void **state)
{
	static const struct {
		const char *delta;
		const char *words;
	} bad[] = {
		{"\x85", "bad delta"},
		{"\5\2\x90\2", "failed to apply delta"},
		{"\4\2\x90\1", "failed to apply delta"},
		{"\4\2\x91\3\2", "failed to apply delta"},
		/*
		 * Two deltas. Each says that its result has a terabyte, but
		 * makes only two bytes. The second delta also has an invalid
		 * copy instruction. No terabyte may be allocated.
		 */
		{"\4\x80\x80\x80\x80\x80\x20\x90\2", "failed to apply delta"},
		{"\4\x80\x80\x80\x80\x80\x20\x91\5\2", "failed to apply delta"},
	};
	struct pack_entry e = {.type = OBJ_OFS_DELTA};
	struct oid oid = OID_ZERO_INIT;
	struct packfile p;

	for (size_t i = 0; i < ARRAY_NR(bad); i++) {
		packfile_init(&p, HASH_SHA1);
		packfile_add(&p, OBJ_BLOB, "base", 4);
		e.base_distance = p.bytes.len - 12;
		e.size = strlen(bad[i].delta);
		packfile_add_entry(&p, &e, bad[i].delta, e.size, &oid);
		packfile_finish(&p);
		refused(&p, bad[i].words);
		packfile_release(&p);
	}
}

/*
 * Two deltas are each other's base. Their ids are invented, because such deltas
 * cannot have their real ids.
 */
static void a_cycle_is_unresolved(void **state)
{
	struct pack_entry e = {.type = OBJ_REF_DELTA, .size = 4};
	struct oid a = {{1}}, b = {{2}};
	struct packfile p;

	packfile_init(&p, HASH_SHA1);
	e.base_oid = a.bytes;
	packfile_add_entry(&p, &e, "\1\1\1x", 4, &b);
	packfile_finish(&p);
	refused(&p, "pack has 1 unresolved delta");
	buf_set_len(&p.bytes, p.bytes.len - 20);
	e.base_oid = b.bytes;
	packfile_add_entry(&p, &e, "\1\1\1y", 4, &a);
	packfile_finish(&p);
	refused(&p, "pack has 2 unresolved deltas");
	packfile_release(&p);
}

static void limits(void **state)
{
	static struct maker m;
	struct pack_indexer_config config;

	maker_init(&m, HASH_SHA1);
	add_blob(&m, 1000);
	add_delta(&m, OBJ_OFS_DELTA, 0);
	packfile_finish(&m.p);
	config = config_of(&m.p);
	config.max_len = m.p.bytes.len - 1;
	refused_with(&config, &m.p, ERR_DENIED, "maximum allowed size");
	config.max_len = m.p.bytes.len;
	accepted_with(&config, &m.p);
	config.max_len = 0;
	config.max_object_len = m.text[1].len - 1;
	refused_with(&config, &m.p, ERR_DENIED, "object is too large");
	config.max_object_len = m.text[1].len;
	accepted_with(&config, &m.p);
	maker_release(&m);
}

/* For the callbacks that look up objects: a repository of one object. */
struct known {
	struct oid oid;
	const void *data;
	size_t len;
	int compared;
};

static int known_base(void *ctx, const struct oid *oid, enum object_type *type,
		      void **data, size_t *len, struct error *err)
{
	struct known *k = ctx;

	if (!oid_equal(oid, &k->oid))
		return 0;
	*type = OBJ_BLOB;
	*data = mem_strndup(k->data, k->len);
	*len = k->len;
	return 1;
}

static int known_has(void *ctx, unsigned thread_nr, const struct oid *oid,
		     struct error *err)
{
	return oid_equal(oid, &((struct known *)ctx)->oid);
}

static int known_compare(void *ctx, unsigned thread_nr, const struct oid *oid,
			 enum object_type type, const void *data, size_t len,
			 struct error *err)
{
	struct known *k = ctx;

	k->compared++;
	if (type == OBJ_BLOB && len == k->len && !memcmp(data, k->data, len))
		return 0;
	return error_set(err, ERR_CORRUPT, "collision");
}

static void known_objects_are_compared(void **state)
{
	size_t large = (16 << 20) + 1;
	char *zeros = mem_calloc(large, 1);
	static struct maker m;
	struct pack_indexer_config config;
	struct known k = {.data = "else", .len = 4};
	struct dealer d = {.piece = SIZE_MAX};
	struct error err = ERROR_INIT;
	struct pack_indexer *ix;

	assert_non_null(zeros);
	maker_init(&m, HASH_SHA1);
	add_blob(&m, 100);
	add_delta(&m, OBJ_OFS_DELTA, 0);
	packfile_add(&m.p, OBJ_BLOB, zeros, large);
	packfile_finish(&m.p);
	config = config_of(&m.p);
	config.hooks = (struct pack_indexer_hooks){
		.has = known_has, .compare = known_compare, .ctx = &k};
	for (int i = 0; i < 3; i++) {
		k.oid = m.p.oids[i];
		refused_with(&config, &m.p, ERR_CORRUPT, "collision");
		assert_int_equal(k.compared, i + 1);
	}
	k.data = zeros;
	k.len = large;
	d.bytes = (uint8_t *)m.p.bytes.data;
	d.len = m.p.bytes.len;
	assert_int_equal(try_bytes(&ix, &config, &d, &err), 0);
	assert_int_equal(k.compared, 4);
	pack_indexer_free(ix);
	maker_release(&m);
	free(zeros);
}

/* Adds a REF_DELTA whose base is not in the pack. */
static void add_thin(struct packfile *p, const struct oid *base,
		     const char *base_text, const char *more)
{
	struct pack_entry e = {.type = OBJ_REF_DELTA};
	struct buf delta = BUF_INIT, text = BUF_INIT;
	struct oid oid;

	buf_printf(&text, "%s%s", base_text, more);
	hash_object(&p->hash, &oid, OBJ_BLOB, text.data, text.len);
	packfile_make_delta(&delta, strlen(base_text), more);
	e.size = delta.len;
	e.base_oid = base->bytes;
	packfile_add_entry(p, &e, delta.data, delta.len, &oid);
	buf_release(&delta);
	buf_release(&text);
}

/* Completes a thin pack. Returns the number of bases that were appended. */
static uint32_t complete(const struct packfile *p, struct known *k)
{
	struct pack_indexer_config config = config_of(p);
	struct dealer d = {.bytes = (uint8_t *)p->bytes.data,
			   .len = p->bytes.len,
			   .piece = SIZE_MAX};
	struct pack_indexer_result result;
	struct error err = ERROR_INIT;
	struct pack_indexer *ix, *again;
	char path[128];
	struct buf first = BUF_INIT;

	config.hooks = (struct pack_indexer_hooks){.base = known_base,
						   .ctx = k};
	config.threads = 2;
	if (try_bytes(&ix, &config, &d, &err) < 0)
		fail_msg("%s", err.msg);
	pack_indexer_result(ix, &result);
	assert_int_equal(result.nr, p->nr + result.appended_nr);
	write_files(ix, true, false);

	/*
	 * The completed pack needs no other objects, and indexing it gives the
	 * same index.
	 */
	snprintf(path, sizeof(path), "%s/p.idx", dir);
	assert_int_equal(sys_read_file(&first, path, NULL), 0);
	config.hooks.base = NULL;
	again = pack_indexer_new(&config);
	snprintf(path, sizeof(path), "%s/p.pack", dir);
	assert_int_equal(pack_indexer_open(again, path, NULL), 0);
	assert_int_equal(pack_indexer_resolve(again, NULL), 0);
	write_files(again, false, false);
	file_is("p.idx", &first);
	pack_indexer_free(again);
	pack_indexer_free(ix);
	buf_release(&first);
	remove_files();
	return result.appended_nr;
}

static void thin_packs(void **state)
{
	struct known k = {.data = "base", .len = 4};
	struct packfile p;

	packfile_init(&p, HASH_SHA256);
	hash_object(&p.hash, &k.oid, OBJ_BLOB, "base", 4);
	add_thin(&p, &k.oid, "base", "+one");
	add_thin(&p, &k.oid, "base", "+two");
	add_thin(&p, &p.oids[1], "base+two", "+three");
	packfile_finish(&p);
	refused(&p, "pack has 3 unresolved deltas");
	assert_int_equal(complete(&p, &k), 1);
	packfile_release(&p);
}

/*
 * The pack has two REF_DELTAs. The base of the first is not stored in the pack,
 * but the second delta produces this object. So no base must be appended to the
 * pack.
 */
static void thin_base_in_the_pack(void **state)
{
	struct known k = {.data = "base", .len = 4};
	struct packfile p;

	packfile_init(&p, HASH_SHA1);
	hash_object(&p.hash, &k.oid, OBJ_BLOB, "base", 4);
	packfile_add(&p, OBJ_BLOB, "ba", 2);
	add_thin(&p, &k.oid, "base", "+one");
	add_thin(&p, &p.oids[0], "ba", "se");
	packfile_finish(&p);
	assert_int_equal(complete(&p, &k), 0);
	packfile_release(&p);
}

static void wrong_thin_base(void **state)
{
	struct known k = {.data = "BASE", .len = 4};
	struct pack_indexer_config config;
	struct packfile p;

	packfile_init(&p, HASH_SHA1);
	hash_object(&p.hash, &k.oid, OBJ_BLOB, "base", 4);
	add_thin(&p, &k.oid, "base", "+one");
	packfile_finish(&p);
	config = config_of(&p);
	config.hooks = (struct pack_indexer_hooks){.base = known_base,
						   .ctx = &k};
	refused_with(&config, &p, ERR_CORRUPT, "the base of a delta");
	packfile_release(&p);
}

static int make_dir(void **state)
{
	return mkdtemp(dir) ? 0 : -1;
}

static int remove_dir(void **state)
{
	return rmdir(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(empty_pack),
		cmocka_unit_test(random_packs),
		cmocka_unit_test(waiting_bases_are_made_again),
		cmocka_unit_test(bases_may_come_later),
		cmocka_unit_test(large_blobs_come_in_pieces),
		cmocka_unit_test(file_in_place),
		cmocka_unit_test(every_cut_is_noticed),
		cmocka_unit_test(bytes_after_the_pack),
		cmocka_unit_test(wrong_headers_and_trailers),
		cmocka_unit_test(wrong_sizes),
		cmocka_unit_test(wrong_bases),
		cmocka_unit_test(wrong_deltas),
		cmocka_unit_test(a_cycle_is_unresolved),
		cmocka_unit_test(limits),
		cmocka_unit_test(known_objects_are_compared),
		cmocka_unit_test(thin_packs),
		cmocka_unit_test(thin_base_in_the_pack),
		cmocka_unit_test(wrong_thin_base),
	};

	return cmocka_run_group_tests_name("indexer", tests, make_dir,
					   remove_dir);
}
