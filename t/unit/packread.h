/* SPDX-License-Identifier: MIT */
/*
 * A slow reader of packs, which checks the packs that the program writes. It
 * reads entry by entry with zlib, and does not use a pack index. It looks for
 * delta bases among the entries read before, and computes object ids from the
 * contents. Include this header after cmocka.h.
 */
#ifndef T_UNIT_PACKREAD_H
#define T_UNIT_PACKREAD_H

#include <zlib.h>

#include "pack/delta.h"
#include "pack/writer.h"
#include "t/unit/randrepo.h"

struct packread_entry {
	/*
	 * `off`: offset of the entry in the pack. `base_off`: offset of its
	 * delta base, set only for OFS_DELTA.
	 */
	uint64_t off, base_off;
	struct oid base; /* only for REF_DELTA */
	/* Type in the header of the entry, which may be a delta type. */
	enum object_type stored;
	/* Type of the object; OBJ_NONE while the delta is not resolved. */
	enum object_type type;
	/*
	 * `data`: content of the object. `inflated`: inflated bytes of the
	 * entry, which may be a delta.
	 */
	struct buf data, inflated;
	/* Index of the object in r->objects[] of the random repository. */
	uint32_t object;
};

struct packread {
	const struct randrepo *r;
	struct packread_entry *entries; /* in pack order */
	uint32_t nr;
	/* Number of objects that the pack header states. */
	uint32_t header_nr;
	uint32_t ofs_nr, ref_nr; /* numbers of deltas */
	/* Number of deltas whose base is not in the pack (thin pack). */
	uint32_t thin_nr;
	/* Indexed like r->objects: whether the pack has the object. */
	bool *has;
};

static inline void packread_release(struct packread *p)
{
	for (uint32_t i = 0; i < p->nr; i++) {
		buf_release(&p->entries[i].data);
		buf_release(&p->entries[i].inflated);
	}
	free(p->entries);
	free(p->has);
}

/*
 * Inflate one zlib stream, whose content must have `size` bytes. Returns the
 * number of compressed bytes.
 */
static inline size_t packread_inflate(struct buf *out, const uint8_t *bytes,
				      size_t len, size_t size)
{
	uint8_t *data = malloc(size + 1);
	z_stream z = {.next_in = (Bytef *)bytes, .avail_in = (uInt)len};
	size_t used;

	assert_non_null(data);
	z.next_out = data;
	z.avail_out = (uInt)size + 1;
	assert_int_equal(inflateInit(&z), Z_OK);
	assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
	assert_int_equal(z.total_out, size);
	used = z.total_in;
	inflateEnd(&z);
	assert_int_equal(buf_append(out, data, size), 0);
	free(data);
	return used;
}

static inline void packread_entries(struct packread *p, const uint8_t *bytes,
				    size_t end)
{
	enum hash_algo algo = p->r->t.repo.algo;
	size_t off = 12;

	while (off < end) {
		struct packread_entry *e = &p->entries[p->nr++];
		struct cursor c = cursor_make(bytes + off, end - off);
		struct pack_entry header;

		assert_true(p->nr < RANDREPO_MAX);
		assert_int_equal(pack_entry_parse(&header, &c, algo), 0);
		e->off = off;
		e->stored = header.type;
		if (header.type == OBJ_OFS_DELTA) {
			assert_true(header.base_distance < off);
			e->base_off = off - header.base_distance;
		}
		if (header.type == OBJ_REF_DELTA)
			oid_from_raw(&e->base, header.base_oid, algo);
		off += header.header_len;
		off += packread_inflate(&e->inflated, bytes + off, end - off,
					header.size);
	}
	assert_int_equal(off, end);
}

/*
 * Set the type and the content of an entry. Checks that the repository has this
 * object, and that no earlier entry of the pack has it.
 */
static inline void packread_settle(struct packread *p, struct packread_entry *e,
				   enum object_type type, const void *data,
				   size_t len)
{
	struct oid oid;

	e->type = type;
	assert_int_equal(buf_append(&e->data, data, len), 0);
	tmppack_oid(&p->r->t, &oid, type, data, len);
	e->object = randrepo_find(p->r, &oid);
	assert_false(p->has[e->object]);
	p->has[e->object] = true;
}

static inline void packread_apply(struct packread *p, struct packread_entry *e,
				  enum object_type type, const struct buf *base)
{
	uint64_t base_size, size;
	uint8_t *data;

	assert_int_equal(delta_sizes(e->inflated.data, e->inflated.len,
				     &base_size, &size, NULL),
			 0);
	data = malloc(size + 1);
	assert_non_null(data);
	assert_int_equal(delta_apply(data, size, base->data, base->len,
				     e->inflated.data, e->inflated.len),
			 0);
	packread_settle(p, e, type, data, size);
	free(data);
}

/*
 * Returns the entry that is the base of a delta, or NULL if the base is not in
 * the pack.
 */
static inline struct packread_entry *packread_base(struct packread *p,
						   struct packread_entry *e)
{
	for (uint32_t i = 0; i < p->nr; i++) {
		struct packread_entry *base = &p->entries[i];

		if (e->stored == OBJ_OFS_DELTA
			    ? base->off == e->base_off
			    : base->type != OBJ_NONE &&
				      oid_equal(
					      &e->base,
					      &p->r->objects[base->object].oid))
			return base;
	}
	return NULL;
}

/*
 * Resolve all deltas whose bases are known. Returns true if the type and
 * content of at least one entry became known. `thin` is indexed like
 * r->objects, and says which objects may be bases outside of the pack (NULL:
 * none).
 */
static inline bool packread_resolve(struct packread *p, const bool *thin)
{
	bool progress = false;

	for (uint32_t i = 0; i < p->nr; i++) {
		struct packread_entry *e = &p->entries[i], *base;

		if (e->type != OBJ_NONE)
			continue;
		if (e->stored != OBJ_OFS_DELTA && e->stored != OBJ_REF_DELTA) {
			packread_settle(p, e, e->stored, e->inflated.data,
					e->inflated.len);
			progress = true;
			continue;
		}
		base = packread_base(p, e);
		if (base && base->type != OBJ_NONE) {
			packread_apply(p, e, base->type, &base->data);
			progress = true;
		} else if (thin && e->stored == OBJ_REF_DELTA) {
			uint32_t nr = randrepo_find(p->r, &e->base);

			/*
			 * The receiver does not have the base. So the base must
			 * be an entry of the pack that becomes known later.
			 */
			if (!thin[nr])
				continue;
			packread_apply(p, e, p->r->objects[nr].type,
				       &p->r->objects[nr].data);
			p->thin_nr++;
			progress = true;
		}
	}
	return progress;
}

/*
 * Read a whole pack. `thin` is indexed like r->objects, and says which objects
 * the receiver has (NULL: none). Checks that every delta can be resolved, that
 * each object is in the pack once, and that the trailer is right.
 */
static inline void packread_open(struct packread *p, const struct randrepo *r,
				 const void *bytes, size_t len,
				 const bool *thin)
{
	size_t end = len - hash_len(r->t.repo.algo);
	struct hash_ctx hash;
	struct oid sum;

	memset(p, 0, sizeof(*p));
	p->r = r;
	p->entries = calloc(RANDREPO_MAX, sizeof(*p->entries));
	p->has = calloc(RANDREPO_MAX, sizeof(*p->has));
	assert_true(p->entries && p->has);
	assert_true(len >= 12 + hash_len(r->t.repo.algo));
	assert_memory_equal(bytes, "PACK\0\0\0\2", 8);
	p->header_nr = load_be32((const uint8_t *)bytes + 8);
	assert_int_equal(hash_init(&hash, r->t.repo.algo), 0);
	hash_update(&hash, bytes, end);
	hash_final(&hash, &sum);
	hash_release(&hash);
	assert_memory_equal((const uint8_t *)bytes + end, sum.bytes,
			    hash_len(r->t.repo.algo));
	packread_entries(p, bytes, end);
	while (packread_resolve(p, thin))
		;
	for (uint32_t i = 0; i < p->nr; i++) {
		assert_true(p->entries[i].type != OBJ_NONE);
		p->ofs_nr += p->entries[i].stored == OBJ_OFS_DELTA;
		p->ref_nr += p->entries[i].stored == OBJ_REF_DELTA;
	}
}

/* A callback for pack writers that appends all bytes to a buffer. */
static inline int packread_put(void *ctx, const void *bytes, size_t len,
			       struct error *err)
{
	(void)err;
	return buf_append(ctx, bytes, len);
}

/*
 * Write the number of objects, `nr`, into the pack header. Overwrite the last
 * bytes of the pack with the right trailer.
 */
static inline void packread_seal(struct buf *pack, uint32_t nr,
				 enum hash_algo algo)
{
	struct hash_ctx hash;
	struct oid sum;

	store_be32(pack->data + 8, nr);
	assert_int_equal(hash_init(&hash, algo), 0);
	hash_update(&hash, pack->data, pack->len - hash_len(algo));
	hash_final(&hash, &sum);
	hash_release(&hash);
	memcpy(pack->data + pack->len - hash_len(algo), sum.bytes,
	       hash_len(algo));
}

#endif
