/* SPDX-License-Identifier: MIT */
/*
 * Writes the section of objects. For each object, the section lists the blocks
 * with refs that point to it, directly or through a tag.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/varint.h"
#include "reftable/writer-internal.h"

#define LEAST_ID_LEN 2
/* the largest length of an id prefix, in bytes, that the footer can store */
#define ID_LEN_MAX 31
/*
 * the largest number of blocks that the 3 bits `extra` at the start of a record
 * can store
 */
#define COUNT_MAX 7

static int note_one(struct reftable_writer *w, const struct oid *oid,
		    struct error *err)
{
	struct reftable_object *o;

	if (mem_grow(&w->objects, &w->object_alloc, w->object_nr + 1,
		     sizeof(*w->objects)) < 0)
		return error_nomem(err);
	o = &w->objects[w->object_nr++];
	o->oid = *oid;
	o->block_off = w->block_off;
	return 0;
}

int reftable_writer_note(struct reftable_writer *w,
			 const struct reftable_ref *ref, struct error *err)
{
	int ret = 0;

	if (w->options.no_objects)
		return 0;
	if (ref->value == REFTABLE_OID || ref->value == REFTABLE_TAG)
		ret = note_one(w, &ref->oid, err);
	if (!ret && ref->value == REFTABLE_TAG)
		ret = note_one(w, &ref->peeled, err);
	return ret;
}

static int cmp_objects(const void *a, const void *b)
{
	const struct reftable_object *oa = a, *ob = b;
	int cmp = oid_cmp(&oa->oid, &ob->oid);

	if (cmp)
		return cmp;
	return (oa->block_off > ob->block_off) -
	       (oa->block_off < ob->block_off);
}

/*
 * Returns the length in bytes of the shortest prefix that distinguishes the ids
 * of all objects.
 */
static size_t choose_id_len(const struct reftable_writer *w)
{
	size_t len = LEAST_ID_LEN;

	for (size_t i = 1; i < w->object_nr; i++) {
		const uint8_t *a = w->objects[i - 1].oid.bytes;
		const uint8_t *b = w->objects[i].oid.bytes;

		while (len < ID_LEN_MAX && !memcmp(a, b, len) &&
		       memcmp(a, b, OID_MAX_LEN) != 0)
			len++;
	}
	return len;
}

/*
 * Appends the offsets of the blocks that have refs to an object. The elements
 * [from, to) of w->objects are about this object, one for each ref. Sets *nr to
 * the number of different blocks. Returns 0 or ERR_NOMEM.
 */
static int append_blocks(struct reftable_writer *w, size_t from, size_t to,
			 size_t *nr)
{
	uint8_t bytes[VARINT_MAX_LEN];
	uint64_t last = 0;

	*nr = 0;
	for (size_t i = from; i < to; i++) {
		uint64_t off = w->objects[i].block_off;

		if (*nr && off == last)
			continue;
		if (buf_append(&w->value, bytes,
			       varint_put(bytes, off - last)) < 0)
			return ERR_NOMEM;
		last = off;
		++*nr;
	}
	return 0;
}

/*
 * Writes the index record of one object, with the offsets of the blocks that
 * have refs to it. The elements [from, to) of w->objects are about this object,
 * one for each ref. If the number of blocks does not fit into the 3 bits
 * `extra`, it is written before the offsets. Returns 0 or a negative error
 * code.
 */
static int put_object(struct reftable_writer *w, size_t from, size_t to,
		      size_t id_len, struct error *err)
{
	const char *key = (const char *)w->objects[from].oid.bytes;
	uint8_t count[VARINT_MAX_LEN];
	size_t nr, len;
	int ret;

	buf_reset(&w->value);
	if (append_blocks(w, from, to, &nr) < 0)
		return error_nomem(err);
	if (nr > COUNT_MAX) {
		len = varint_put(count, nr);
		if (buf_reserve(&w->value, len) < 0)
			return error_nomem(err);
		memmove(w->value.data + len, w->value.data, w->value.len);
		memcpy(w->value.data, count, len);
		buf_set_len(&w->value, w->value.len + len);
	}
	ret = reftable_writer_add(w, REFTABLE_OBJECTS, key, id_len,
				  nr > COUNT_MAX ? 0 : (unsigned)nr,
				  w->value.data, w->value.len, err);
	/*
	 * A list of offsets that is too long for a block is written as an empty
	 * list. An empty list makes readers search all blocks of refs.
	 */
	if (!ret)
		ret = reftable_writer_add(w, REFTABLE_OBJECTS, key, id_len, 0,
					  "", 1, err);
	if (!ret)
		ret = error_set(err, ERR_INVALID,
				"reftable block size is too small");
	return ret < 0 ? ret : 0;
}

int reftable_writer_put_objects(struct reftable_writer *w, struct error *err)
{
	size_t id_len, from, to;
	int ret = 0;

	if (!w->object_nr)
		return 0;
	qsort(w->objects, w->object_nr, sizeof(*w->objects), cmp_objects);
	id_len = choose_id_len(w);
	for (from = 0; !ret && from < w->object_nr; from = to) {
		const struct oid *oid = &w->objects[from].oid;

		for (to = from + 1; to < w->object_nr; to++)
			if (!oid_equal(oid, &w->objects[to].oid))
				break;
		ret = put_object(w, from, to, id_len, err);
		if (!from)
			w->footer.obj_off = w->block_off;
	}
	w->footer.obj_id_len = (unsigned)id_len;
	if (!ret)
		ret = reftable_writer_end_section(w, &w->footer.obj_index_off,
						  err);
	return ret;
}
