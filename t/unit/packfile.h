/* SPDX-License-Identifier: MIT */
/*
 * Writes packs entry by entry, for unit tests. The test chooses each delta and
 * each size, right or wrong. Include this header after cmocka.h.
 */
#ifndef T_UNIT_PACKFILE_H
#define T_UNIT_PACKFILE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/mem.h"
#include "object/hash.h"
#include "pack/entry.h"
#include "pack/idx.h"
#include "pack/inflate.h"
#include "pack/pack.h"

/* Maximum number of objects in a pack. A test may define a larger number. */
#ifndef PACKFILE_MAX
#define PACKFILE_MAX 4096
#endif

struct packfile {
	enum hash_algo algo;
	struct buf bytes; /* the .pack file */
	/* Bytes of the .idx file, which packfile_finish() makes. */
	struct buf idx;
	struct deflater *deflater;
	struct hash_ctx hash;
	/* Object ids, in the order in which the entries were added. */
	struct oid oids[PACKFILE_MAX];
	uint64_t offsets[PACKFILE_MAX];
	uint32_t crcs[PACKFILE_MAX];
	uint32_t nr;
	/*
	 * Path of the directory that packfile_save() makes. Empty until the
	 * first call of packfile_save().
	 */
	char dir[64];
	char base[96]; /* "<dir>/pack-test" */
};

static inline void packfile_init(struct packfile *p, enum hash_algo algo)
{
	memset(p, 0, sizeof(*p));
	p->algo = algo;
	buf_init(&p->bytes);
	buf_init(&p->idx);
	p->deflater = deflater_new(-1);
	assert_non_null(p->deflater);
	assert_int_equal(hash_init(&p->hash, algo), 0);
	assert_int_equal(buf_append(&p->bytes, "PACK\0\0\0\2\0\0\0\0", 12), 0);
}

static inline void packfile_unlink(const struct packfile *p, const char *ext)
{
	char path[128];

	snprintf(path, sizeof(path), "%s%s", p->base, ext);
	unlink(path);
}

static inline void packfile_release(struct packfile *p)
{
	if (*p->dir) {
		packfile_unlink(p, ".pack");
		packfile_unlink(p, ".idx");
		packfile_unlink(p, ".rev");
		packfile_unlink(p, ".keep");
		packfile_unlink(p, ".mtimes");
		rmdir(p->dir);
	}
	hash_release(&p->hash);
	deflater_free(p->deflater);
	buf_release(&p->idx);
	buf_release(&p->bytes);
}

/*
 * Add an entry to the pack. `e` has the type, the size for the entry's header,
 * and the delta base. `payload` is deflated as the content. `oid` is the id of
 * the object. Returns the number of the entry, from 0.
 */
static inline uint32_t packfile_add_entry(struct packfile *p,
					  const struct pack_entry *e,
					  const void *payload, size_t len,
					  const struct oid *oid)
{
	uint8_t header[PACK_ENTRY_HEADER_MAX];
	size_t start = p->bytes.len;
	size_t header_len = pack_entry_write(header, e, p->algo);
	uint32_t n = p->nr++;

	assert_true(n < PACKFILE_MAX);
	assert_int_equal(buf_append(&p->bytes, header, header_len), 0);
	assert_int_equal(deflater_append(p->deflater, &p->bytes, payload, len),
			 0);
	p->oids[n] = *oid;
	p->offsets[n] = start;
	p->crcs[n] = pack_crc32(0, p->bytes.data + start, p->bytes.len - start);
	return n;
}

/*
 * Add an object that is stored whole. Returns the number of the entry, from 0.
 */
static inline uint32_t packfile_add(struct packfile *p, enum object_type type,
				    const void *data, size_t len)
{
	struct pack_entry e = {.type = type, .size = len};
	struct oid oid;

	hash_object(&p->hash, &oid, type, data, len);
	return packfile_add_entry(p, &e, data, len, &oid);
}

static inline void packfile_put_size(struct buf *b, uint64_t size)
{
	for (; size >= 0x80; size >>= 7)
		assert_int_equal(buf_append_char(b, (char)(size | 0x80)), 0);
	assert_int_equal(buf_append_char(b, (char)size), 0);
}

/*
 * Make a delta that copies a whole base of `base_len` bytes (below 64 KiB) and
 * appends `text` (below 128 bytes).
 */
static inline void packfile_make_delta(struct buf *delta, size_t base_len,
				       const char *text)
{
	size_t text_len = strlen(text);

	packfile_put_size(delta, base_len);
	packfile_put_size(delta, base_len + text_len);
	/*
	 * If the base is empty, make no copy instruction: a copy instruction
	 * with the length 0 copies 64 KiB.
	 */
	if (base_len) {
		/* the length has two bytes */
		buf_append_char(delta, (char)0xb0);
		buf_append_char(delta, (char)base_len);
		buf_append_char(delta, (char)(base_len >> 8));
	}
	buf_append_char(delta, (char)text_len);
	buf_append(delta, text, text_len);
}

/*
 * Add a delta of type `type` against entry `base`. Its result is the content of
 * the base, which has `base_len` bytes, followed by `text`. `oid` is the id of
 * the result. Returns the number of the new entry, from 0.
 */
static inline uint32_t packfile_add_delta(struct packfile *p,
					  enum object_type type, uint32_t base,
					  size_t base_len, const char *text,
					  const struct oid *oid)
{
	struct buf delta = BUF_INIT;
	struct pack_entry e = {.type = type};
	uint32_t n;

	packfile_make_delta(&delta, base_len, text);
	e.size = delta.len;
	e.base_distance = p->bytes.len - p->offsets[base];
	e.base_oid = p->oids[base].bytes;
	n = packfile_add_entry(p, &e, delta.data, delta.len, oid);
	buf_release(&delta);
	return n;
}

static inline int packfile_entry_cmp(const void *a, const void *b)
{
	const struct pack_idx_entry *x = a, *y = b;

	return memcmp(x->oid, y->oid, OID_MAX_LEN);
}

/*
 * Make the pack index in the format `version` (1 or 2). The last bytes of the
 * pack become the pack checksum in the index.
 */
static inline void packfile_make_idx(struct packfile *p, unsigned version)
{
	struct pack_idx_entry *entries = mem_calloc(p->nr, sizeof(*entries));
	struct oid checksum;

	assert_non_null(entries);
	for (uint32_t i = 0; i < p->nr; i++)
		entries[i] = (struct pack_idx_entry){p->oids[i].bytes,
						     p->offsets[i], p->crcs[i]};
	qsort(entries, p->nr, sizeof(*entries), packfile_entry_cmp);
	oid_from_raw(&checksum,
		     (uint8_t *)p->bytes.data + p->bytes.len -
			     hash_len(p->algo),
		     p->algo);
	buf_reset(&p->idx);
	assert_int_equal(pack_idx_write(&p->idx, entries, p->nr, &checksum,
					version, p->algo, NULL),
			 0);
	free(entries);
}

/*
 * Write the number of objects into the pack header, append the trailer, and
 * make the pack index.
 */
static inline void packfile_finish(struct packfile *p)
{
	struct oid sum;

	store_be32(p->bytes.data + 8, p->nr);
	hash_reset(&p->hash);
	hash_update(&p->hash, p->bytes.data, p->bytes.len);
	hash_final(&p->hash, &sum);
	assert_int_equal(buf_append(&p->bytes, sum.bytes, hash_len(p->algo)),
			 0);
	packfile_make_idx(p, 2);
}

/* Write `len` bytes to the file "<p->base><ext>". */
static inline void packfile_save_file(const struct packfile *p, const char *ext,
				      const void *bytes, size_t len)
{
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "%s%s", p->base, ext);
	unlink(path);
	f = fopen(path, "wb");
	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, len, f), len);
	assert_int_equal(fclose(f), 0);
}

/*
 * Write the pack and its index to a new directory. Set p->base to their path
 * without suffix.
 */
static inline void packfile_save(struct packfile *p)
{
	if (!*p->dir) {
		snprintf(p->dir, sizeof(p->dir), "/tmp/gitreach-pack-XXXXXX");
		assert_non_null(mkdtemp(p->dir));
		snprintf(p->base, sizeof(p->base), "%s/pack-test", p->dir);
	}
	packfile_save_file(p, ".pack", p->bytes.data, p->bytes.len);
	packfile_save_file(p, ".idx", p->idx.data, p->idx.len);
}

/* Finish the pack, save it and open it. Returns the open pack. */
static inline struct pack *packfile_open(struct packfile *p)
{
	struct error err = ERROR_INIT;
	struct pack *pack;

	packfile_finish(p);
	packfile_save(p);
	if (pack_open(&pack, p->base, p->algo, &err) < 0)
		fail_msg("%s", err.msg);
	return pack;
}

#endif
