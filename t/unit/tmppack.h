/* SPDX-License-Identifier: MIT */
/*
 * Functions that write loose objects, and packs of objects stored whole, into a
 * struct tmprepo, for unit tests.
 */
#ifndef T_UNIT_TMPPACK_H
#define T_UNIT_TMPPACK_H

#include "object/hash.h"
#include "pack/entry.h"
#include "pack/idx.h"
#include "pack/inflate.h"
#include "t/unit/tmprepo.h"

/* Compute the id of an object. */
static inline void tmppack_oid(const struct tmprepo *t, struct oid *oid,
			       enum object_type type, const void *data,
			       size_t len)
{
	struct hash_ctx hash;

	assert_int_equal(hash_init(&hash, t->repo.algo), 0);
	hash_object(&hash, oid, type, data, len);
	hash_release(&hash);
}

static inline void tmppack_deflate(struct buf *out, const void *data,
				   size_t len)
{
	struct deflater *def = deflater_new(-1);

	assert_non_null(def);
	assert_int_equal(deflater_append(def, out, data, len), 0);
	deflater_free(def);
}

/*
 * Write a loose object below the object directory `dir`, normally "objects".
 * Sets *oid to the id of the object.
 */
static inline void tmppack_loose(const struct tmprepo *t, const char *dir,
				 struct oid *oid, enum object_type type,
				 const void *data, size_t len)
{
	struct buf plain = BUF_INIT, file = BUF_INIT, name = BUF_INIT;
	char hex[OID_MAX_HEX_LEN + 1];

	tmppack_oid(t, oid, type, data, len);
	oid_to_hex(hex, oid, t->repo.algo);
	buf_printf(&name, "%s/%.2s/%s", dir, hex, hex + 2);
	buf_printf(&plain, "%s %zu", object_type_name(type), len);
	buf_append_char(&plain, '\0');
	buf_append(&plain, data, len);
	tmppack_deflate(&file, plain.data, plain.len);
	tmprepo_write_len(t, name.data, file.data, file.len);
	buf_release(&plain);
	buf_release(&file);
	buf_release(&name);
}

struct tmppack_object {
	enum object_type type;
	const char *text;
	struct oid oid; /* set by tmppack_write() */
};

static inline int tmppack_cmp(const void *a, const void *b)
{
	const struct pack_idx_entry *ea = a;
	const struct pack_idx_entry *eb = b;

	return memcmp(ea->oid, eb->oid, OID_MAX_LEN);
}

/*
 * Write <dir>/pack/<name>.pack and .idx. If `break_first` is set, the
 * compressed data of the first object is damaged: some bytes are set to zero.
 */
static inline void tmppack_write(const struct tmprepo *t, const char *dir,
				 const char *name,
				 struct tmppack_object *objects, uint32_t nr,
				 bool break_first)
{
	struct pack_idx_entry *entries = calloc(nr + 1, sizeof(*entries));
	struct buf pack = BUF_INIT, idx = BUF_INIT, path = BUF_INIT;
	struct hash_ctx hash;
	struct oid checksum;

	assert_non_null(entries);
	buf_append(&pack, "PACK\0\0\0\2", 8);
	buf_append_be32(&pack, nr);
	for (uint32_t i = 0; i < nr; i++) {
		struct tmppack_object *o = &objects[i];
		struct pack_entry entry = {.type = o->type,
					   .size = strlen(o->text)};
		uint8_t header[PACK_ENTRY_HEADER_MAX];
		size_t start = pack.len;
		size_t n = pack_entry_write(header, &entry, t->repo.algo);

		tmppack_oid(t, &o->oid, o->type, o->text, strlen(o->text));
		buf_append(&pack, header, n);
		tmppack_deflate(&pack, o->text, strlen(o->text));
		if (break_first && !i)
			memset(pack.data + start + n, 0, 4);
		entries[i].oid = o->oid.bytes;
		entries[i].offset = start;
		entries[i].crc = pack_crc32(0, pack.data + start,
					    pack.len - start);
	}
	assert_int_equal(hash_init(&hash, t->repo.algo), 0);
	hash_update(&hash, pack.data, pack.len);
	hash_final(&hash, &checksum);
	hash_release(&hash);
	buf_append(&pack, checksum.bytes, hash_len(t->repo.algo));
	qsort(entries, nr, sizeof(*entries), tmppack_cmp);
	assert_int_equal(pack_idx_write(&idx, entries, nr, &checksum, 2,
					t->repo.algo, NULL),
			 0);
	buf_printf(&path, "%s/pack/%s.pack", dir, name);
	tmprepo_write_len(t, path.data, pack.data, pack.len);
	buf_reset(&path);
	buf_printf(&path, "%s/pack/%s.idx", dir, name);
	tmprepo_write_len(t, path.data, idx.data, idx.len);
	free(entries);
	buf_release(&pack);
	buf_release(&idx);
	buf_release(&path);
}

#endif
