/* SPDX-License-Identifier: MIT */
/*
 * A slow decoder of packs in memory. Tests use it to find out which objects of
 * a random repository were sent. Include this header after cmocka.h.
 */
#ifndef T_UNIT_SENTPACK_H
#define T_UNIT_SENTPACK_H

#include "base/cursor.h"
#include "pack/delta.h"
#include "pack/writer.h"
#include "t/unit/randrepo.h"

struct sentpack_entry {
	struct pack_entry header;
	uint64_t off;
	/*
	 * Owned. The inflated bytes of the entry: the content of the object, or
	 * the delta while it is not applied.
	 */
	uint8_t *payload;
	size_t len;
	/* Index of the object in r->objects[]; valid if is_whole is set. */
	uint32_t nr;
	bool is_whole;
};

struct sentpack {
	const struct randrepo *r;
	struct buf bytes;
	struct sentpack_entry *entries; /* owned */
	uint32_t nr;
	/* Owned. Indexed like r->objects: whether the pack has the object. */
	bool *sent;
	/* Number of entries of type OFS_DELTA. */
	uint32_t ofs;
	/* Number of entries of type REF_DELTA. */
	uint32_t ref;
	/* Number of deltas whose base is not in the pack. */
	uint32_t external;
};

static inline int sentpack_put(void *ctx, const void *bytes, size_t len,
			       struct error *err)
{
	struct sentpack *s = ctx;

	return buf_append(&s->bytes, bytes, len) < 0 ? error_nomem(err) : 0;
}

static inline struct pack_sink sentpack_init(struct sentpack *s,
					     const struct randrepo *r)
{
	struct pack_sink sink = {.put = sentpack_put, .ctx = s};

	memset(s, 0, sizeof(*s));
	s->r = r;
	s->sent = calloc(RANDREPO_MAX, sizeof(bool));
	assert_non_null(s->sent);
	return sink;
}

static inline void sentpack_release(struct sentpack *s)
{
	for (uint32_t i = 0; i < s->nr; i++)
		free(s->entries[i].payload);
	free(s->entries);
	free(s->sent);
	buf_release(&s->bytes);
}

/*
 * Set e->nr to the object that has the content of the entry. Checks that the
 * repository has such an object.
 */
static inline void sentpack_whole(struct sentpack *s, struct sentpack_entry *e,
				  enum object_type type)
{
	const struct randrepo_object *o;
	struct oid oid;

	tmppack_oid(&s->r->t, &oid, type, e->payload, e->len);
	e->nr = randrepo_find(s->r, &oid);
	o = &s->r->objects[e->nr];
	assert_int_equal(o->type, type);
	assert_int_equal(o->data.len, e->len);
	/* The pack must have each object only once. */
	assert_false(s->sent[e->nr]);
	s->sent[e->nr] = true;
	e->is_whole = true;
}

/*
 * Returns the object that is the base of a delta. The base can be a decoded
 * entry of the pack or, for a REF_DELTA, an object in `had` (NULL: no objects).
 * Returns NULL if the base is in neither.
 */
static inline const struct randrepo_object *sentpack_base(
	struct sentpack *s, const struct sentpack_entry *e, const bool *had)
{
	uint32_t nr;

	if (e->header.type == OBJ_OFS_DELTA) {
		for (uint32_t i = 0; i < s->nr; i++)
			if (s->entries[i].off ==
			    e->off - e->header.base_distance)
				return s->entries[i].is_whole
					       ? &s->r->objects[s->entries[i]
									.nr]
					       : NULL;
		fail_msg("a distance leads to no entry");
	} else {
		struct oid oid;

		oid_from_raw(&oid, e->header.base_oid, s->r->t.repo.algo);
		nr = randrepo_find(s->r, &oid);
		if (s->sent[nr])
			return &s->r->objects[nr];
		/*
		 * Use the receiver's copy of the base. If the receiver does not
		 * have the base, the base must be an entry of this pack that is
		 * not decoded yet. The caller decodes the delta after its base.
		 */
		if (had && had[nr]) {
			s->external++;
			return &s->r->objects[nr];
		}
	}
	return NULL;
}

static inline bool sentpack_apply(struct sentpack *s, struct sentpack_entry *e,
				  const bool *had)
{
	const struct randrepo_object *base = sentpack_base(s, e, had);
	uint64_t base_len, len;
	uint8_t *object;

	if (!base)
		return false;
	assert_int_equal(delta_sizes(e->payload, e->len, &base_len, &len, NULL),
			 0);
	assert_int_equal(base_len, base->data.len);
	object = malloc(len + 1);
	assert_non_null(object);
	assert_int_equal(delta_apply(object, len, base->data.data, base_len,
				     e->payload, e->len),
			 0);
	free(e->payload);
	e->payload = object;
	e->len = len;
	sentpack_whole(s, e, base->type);
	return true;
}

static inline void sentpack_parse(struct sentpack *s)
{
	enum hash_algo algo = s->r->t.repo.algo;
	struct cursor c = cursor_make(s->bytes.data,
				      s->bytes.len - hash_len(algo));
	struct inflater *inf = inflater_new();

	assert_non_null(inf);
	assert_true(cursor_skip(&c, 12));
	for (uint32_t i = 0; i < s->nr; i++) {
		struct sentpack_entry *e = &s->entries[i];
		size_t used;

		e->off = (uint64_t)(c.p - (uint8_t *)s->bytes.data);
		assert_int_equal(pack_entry_parse(&e->header, &c, algo), 0);
		e->len = e->header.size;
		e->payload = malloc(e->len + 1);
		assert_non_null(e->payload);
		assert_int_equal(inflater_exact(inf, e->payload, e->len, c.p,
						cursor_left(&c), &used),
				 0);
		assert_true(cursor_skip(&c, used));
		s->ofs += e->header.type == OBJ_OFS_DELTA;
		s->ref += e->header.type == OBJ_REF_DELTA;
		if (e->header.type < OBJ_OFS_DELTA)
			sentpack_whole(s, e, e->header.type);
	}
	assert_int_equal(cursor_left(&c), 0);
	inflater_free(inf);
}

static inline void sentpack_check_frame(const struct sentpack *s)
{
	size_t sum_len = hash_len(s->r->t.repo.algo);
	struct hash_ctx hash;
	struct oid sum;

	assert_true(s->bytes.len >= 12 + sum_len);
	assert_memory_equal(s->bytes.data, "PACK\0\0\0\2", 8);
	assert_int_equal(hash_init(&hash, s->r->t.repo.algo), 0);
	hash_update(&hash, s->bytes.data, s->bytes.len - sum_len);
	hash_final(&hash, &sum);
	hash_release(&hash);
	assert_memory_equal(sum.bytes, s->bytes.data + s->bytes.len - sum_len,
			    sum_len);
}

/*
 * Decode the pack, and set s->sent for each object in it. `had` is indexed like
 * r->objects, and says which objects may be bases outside of the pack (NULL:
 * none).
 */
static inline void sentpack_decode(struct sentpack *s, const bool *had)
{
	uint32_t left, before;

	sentpack_check_frame(s);
	s->nr = load_be32(s->bytes.data + 8);
	s->entries = calloc(s->nr + 1, sizeof(*s->entries));
	assert_non_null(s->entries);
	sentpack_parse(s);
	left = s->ofs + s->ref;
	/*
	 * First, use only bases in the pack. If no more deltas can be applied
	 * in this way, also use bases outside of the pack.
	 */
	for (const bool *outside = NULL; left; before = left) {
		before = left;
		for (uint32_t i = 0; i < s->nr; i++)
			if (!s->entries[i].is_whole)
				left -= sentpack_apply(s, &s->entries[i],
						       outside);
		assert_true(left < before || (had && !outside));
		if (left == before)
			outside = had;
	}
}

#endif
