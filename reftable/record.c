/* SPDX-License-Identifier: MIT */
/* Reads and writes the records of a reftable. */
#include <string.h>

#include "base/varint.h"
#include "reftable/record.h"

#define EXTRA_BITS 3

int reftable_key_cmp(const char *a, size_t a_len, const char *b, size_t b_len)
{
	int cmp = memcmp(a, b, a_len < b_len ? a_len : b_len);

	if (cmp)
		return cmp;
	return (a_len > b_len) - (a_len < b_len);
}

int reftable_key_take(struct cursor *c, struct buf *key, unsigned *extra)
{
	const uint8_t *rest;
	uint64_t shared, len;

	if (!varint_take(c, &shared) || !varint_take(c, &len))
		return 0;
	*extra = (unsigned)len & ((1u << EXTRA_BITS) - 1);
	len >>= EXTRA_BITS;
	if (shared > key->len || len > cursor_left(c) ||
	    !cursor_bytes(c, &rest, len))
		return 0;
	buf_set_len(key, shared);
	return buf_append(key, rest, len) < 0 ? ERR_NOMEM : 1;
}

static int append_varint(struct buf *out, uint64_t v)
{
	uint8_t bytes[VARINT_MAX_LEN];

	return buf_append(out, bytes, varint_put(bytes, v));
}

static int append_text(struct buf *out, const char *p, size_t len)
{
	int ret = append_varint(out, len);

	return ret ? ret : buf_append(out, p, len);
}

int reftable_key_append(struct buf *out, const char *last, size_t last_len,
			const char *key, size_t key_len, unsigned extra)
{
	size_t shared = 0, max = last_len < key_len ? last_len : key_len;
	int ret;

	while (shared < max && last[shared] == key[shared])
		shared++;
	ret = append_varint(out, shared);
	if (!ret)
		ret = append_varint(out,
				    (key_len - shared) << EXTRA_BITS | extra);
	return ret ? ret : buf_append(out, key + shared, key_len - shared);
}

static bool take_oid(struct cursor *c, struct oid *oid, enum hash_algo algo)
{
	const uint8_t *raw;

	if (!cursor_bytes(c, &raw, hash_len(algo)))
		return false;
	oid_from_raw(oid, raw, algo);
	return true;
}

static bool take_text(struct cursor *c, const char **p, size_t *len)
{
	const uint8_t *bytes;
	uint64_t n;

	if (!varint_take(c, &n) || n > cursor_left(c) ||
	    !cursor_bytes(c, &bytes, n))
		return false;
	*p = (const char *)bytes;
	*len = n;
	return true;
}

bool reftable_ref_take(struct cursor *c, struct reftable_ref *ref,
		       const struct buf *key, unsigned extra,
		       uint64_t min_index, enum hash_algo algo)
{
	uint64_t delta;

	if (extra > REFTABLE_SYMBOLIC || !varint_take(c, &delta) ||
	    __builtin_add_overflow(min_index, delta, &ref->update_index))
		return false;
	ref->name = key->data;
	ref->name_len = key->len;
	ref->value = (enum reftable_value)extra;
	ref->target = NULL;
	ref->target_len = 0;
	if (ref->value == REFTABLE_SYMBOLIC)
		return take_text(c, &ref->target, &ref->target_len);
	if (ref->value == REFTABLE_DELETED)
		return true;
	if (!take_oid(c, &ref->oid, algo))
		return false;
	return ref->value == REFTABLE_OID || take_oid(c, &ref->peeled, algo);
}

int reftable_ref_append(struct buf *out, const struct reftable_ref *ref,
			uint64_t min_index, enum hash_algo algo)
{
	int ret = append_varint(out, ref->update_index - min_index);

	if (ref->value == REFTABLE_SYMBOLIC)
		return ret | append_text(out, ref->target, ref->target_len);
	if (ref->value == REFTABLE_OID || ref->value == REFTABLE_TAG)
		ret |= buf_append(out, ref->oid.bytes, hash_len(algo));
	if (ref->value == REFTABLE_TAG)
		ret |= buf_append(out, ref->peeled.bytes, hash_len(algo));
	return ret ? ERR_NOMEM : 0;
}

bool reftable_log_take(struct cursor *c, struct reftable_log *log,
		       const struct buf *key, unsigned extra,
		       enum hash_algo algo)
{
	uint16_t zone;

	memset(log, 0, sizeof(*log));
	if (extra > 1 || key->len < REFTABLE_LOG_TAIL_LEN)
		return false;
	log->name = key->data;
	log->name_len = key->len - REFTABLE_LOG_TAIL_LEN;
	/*
	 * The key of a reflog entry is a name without NUL, then a NUL and the
	 * update index.
	 */
	if (memchr(log->name, '\0', log->name_len) ||
	    log->name[log->name_len] != '\0')
		return false;
	log->update_index = ~load_be64(key->data + log->name_len + 1);
	log->is_deleted = !extra;
	if (log->is_deleted)
		return true;
	if (!take_oid(c, &log->old_oid, algo) ||
	    !take_oid(c, &log->new_oid, algo) ||
	    !take_text(c, &log->who.p, &log->who.len) ||
	    !take_text(c, &log->mail.p, &log->mail.len) ||
	    !varint_take(c, &log->time) || !cursor_be16(c, &zone))
		return false;
	log->zone = (int16_t)zone;
	return take_text(c, &log->message.p, &log->message.len);
}

int reftable_log_append(struct buf *out, const struct reftable_log *log,
			enum hash_algo algo)
{
	uint8_t zone[2];
	int ret;

	if (log->is_deleted)
		return 0;
	store_be16(zone, (uint16_t)log->zone);
	ret = buf_append(out, log->old_oid.bytes, hash_len(algo));
	ret |= buf_append(out, log->new_oid.bytes, hash_len(algo));
	ret |= append_text(out, log->who.p, log->who.len);
	ret |= append_text(out, log->mail.p, log->mail.len);
	ret |= append_varint(out, log->time);
	ret |= buf_append(out, zone, sizeof(zone));
	ret |= append_text(out, log->message.p, log->message.len);
	return ret ? ERR_NOMEM : 0;
}

int reftable_log_key(struct buf *out, const char *name, size_t name_len,
		     uint64_t update_index)
{
	int ret = buf_append(out, name, name_len);

	ret |= buf_append_char(out, '\0');
	ret |= buf_append_be64(out, ~update_index);
	return ret ? ERR_NOMEM : 0;
}
