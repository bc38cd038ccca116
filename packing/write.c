/* SPDX-License-Identifier: MIT */
/* Writes the entries of a new pack. */
#include <string.h>

#include "base/mem.h"
#include "deltas/delta-search.h"
#include "packing/write.h"

struct writing {
	struct packing_items *list;
	const struct packs *packs;
	struct pack_writer *writer;
	const struct write_options *options;
	struct write_report *report;
	/* reads objects that cannot be copied as they are stored */
	struct odb_reader *reader;
	struct deflater *deflater;
	struct buf scratch;
	/*
	 * length of the new pack at the time when mapped pages of the old packs
	 * were last dropped
	 */
	uint64_t dropped_at;
	/* offset of the first entry in the new pack */
	uint64_t first_off;
};

/*
 * Returned by functions that write an entry, if the entry does not fit into the
 * pack. This is not an error.
 */
enum { WRITE_FULL = 1 };

static uint32_t idx_pos_of(const struct writing *w,
			   const struct packing_item *item)
{
	return item->obj_pos - w->packs->odb->packs[item->pack_nr].first_pos;
}

/*
 * Check a copied entry by reading the object and checking its id. Used for
 * packs with an .idx of version 1, which has no CRCs.
 */
static int check_by_id(const struct writing *w, const struct packing_item *item,
		       struct error *err)
{
	struct odb_object obj = ODB_OBJECT_INIT;
	int ret = odb_read_pos(w->reader, item->obj_pos, &obj, err);

	if (!ret)
		ret = packing_items_check(w->list, item, &obj, err);
	odb_object_release(w->reader, &obj);
	return ret;
}

static int check_copy(const struct writing *w, const struct packing_item *item,
		      const struct packs_stored *stored, struct error *err)
{
	const struct pack *pack = w->packs->odb->packs[item->pack_nr].pack;

	if (!w->options->check)
		return 0;
	if (pack->idx.version < 2)
		return check_by_id(w, item, err);
	if (pack_crc32(0, stored->bytes, stored->len) ==
	    pack_idx_crc(&pack->idx, idx_pos_of(w, item)))
		return 0;
	return error_set_at(err, ERR_CORRUPT, pack->path, stored->off,
			    "bad packed object CRC");
}

/*
 * Put a reference to the base of a delta into the header of its entry: a
 * distance or an id.
 */
static void name_base(const struct writing *w, const struct packing_item *item,
		      const uint8_t *base_raw, struct pack_entry *entry)
{
	const struct packing_item *base = item->base == PACKING_NO_ITEM
						  ? NULL
						  : &w->list->items[item->base];

	if (base && !base->is_external && w->options->ofs_delta &&
	    base->out_off) {
		entry->type = OBJ_OFS_DELTA;
		entry->base_distance = item->out_off - base->out_off;
		return;
	}
	entry->type = OBJ_REF_DELTA;
	entry->base_oid = base_raw;
}

static bool fits(const struct writing *w, size_t len)
{
	uint64_t max = w->options->max_len, off = w->writer->off;

	return !max || off == w->first_off ||
	       off + len + hash_len(w->packs->odb->algo) <= max;
}

static int put_entry(struct writing *w, struct packing_item *item,
		     const struct pack_entry *entry, const void *stream,
		     size_t len, struct error *err)
{
	uint8_t header[PACK_ENTRY_HEADER_MAX];
	size_t header_len = pack_entry_write(header, entry,
					     w->packs->odb->algo);
	int ret;

	if (!fits(w, header_len + len))
		return WRITE_FULL;
	ret = pack_writer_put(w->writer, header, header_len, err);
	if (!ret)
		ret = pack_writer_put(w->writer, stream, len, err);
	item->crc = w->writer->crc;
	return ret;
}

/* Set *raw to the id of the base of a stored delta that is copied. */
static int stored_base(const struct writing *w, const struct packing_item *item,
		       const struct packs_stored *stored, const uint8_t **raw,
		       struct error *err)
{
	const struct pack *pack = w->packs->odb->packs[item->pack_nr].pack;
	uint32_t base_idx_pos;
	int ret;

	if (stored->entry.type == OBJ_REF_DELTA) {
		*raw = stored->entry.base_oid;
		return 0;
	}
	ret = packs_base(&base_idx_pos, w->packs, item->pack_nr,
			 idx_pos_of(w, item), stored, err);
	if (ret > 0)
		*raw = pack_idx_oid(&pack->idx, base_idx_pos);
	return ret < 0 ? ret : 0;
}

/*
 * Deflate an object, write it whole, and release it. Returns 0 or a negative
 * error code.
 */
static int put_whole(struct writing *w, struct packing_item *item,
		     struct odb_object *obj, struct error *err)
{
	struct pack_entry entry = {.type = item->type, .size = obj->len};
	int ret = 0;

	buf_reset(&w->scratch);
	if (deflater_append(w->deflater, &w->scratch, obj->data, obj->len) < 0)
		ret = error_nomem(err);
	odb_object_release(w->reader, obj);
	if (ret < 0)
		return ret;
	w->report->bytes_recompressed += w->scratch.len;
	return put_entry(w, item, &entry, w->scratch.data, w->scratch.len, err);
}

/*
 * Write an object from another copy, because the chosen copy is damaged. *err
 * describes the damage, and does not change if there is no other copy.
 */
static int write_other_copy(struct writing *w, struct packing_item *item,
			    struct error *err)
{
	struct odb_object obj;
	struct oid oid;
	int ret;

	objspace_oid(&oid, w->list->space, item->obj_pos);
	ret = odb_read_sound(w->reader, &oid, &obj, NULL);
	if (ret < 0)
		return ret == ERR_NOMEM ? error_nomem(err)
					: error_recorded(err, ERR_CORRUPT);
	item->how = PACKING_WHOLE;
	item->base = PACKING_NO_ITEM;
	item->type = (uint8_t)obj.type;
	if (err)
		*err = (struct error)ERROR_INIT;
	return put_whole(w, item, &obj, err);
}

static int write_whole(struct writing *w, struct packing_item *item,
		       struct error *err)
{
	struct odb_object obj = ODB_OBJECT_INIT;
	int ret = objspace_read(w->list->space, w->reader, item->obj_pos, &obj,
				err);

	if (!ret && obj.type != item->type)
		ret = error_set(err, ERR_CORRUPT, "object is a %s, not a %s",
				object_type_name(obj.type),
				object_type_name(item->type));
	else if (!ret && w->options->check)
		ret = packing_items_check(w->list, item, &obj, err);
	if (!ret)
		return put_whole(w, item, &obj, err);
	odb_object_release(w->reader, &obj);
	return ret == ERR_CORRUPT ? write_other_copy(w, item, err) : ret;
}

/*
 * Find the stored bytes of an item, to copy them. If the item is a delta, also
 * find the id of its base.
 */
static int find_copy(const struct writing *w, const struct packing_item *item,
		     struct packs_stored *stored, const uint8_t **base_raw,
		     struct error *err)
{
	int ret = packs_stored(stored, w->packs, item->pack_nr,
			       idx_pos_of(w, item), err);

	if (!ret)
		ret = check_copy(w, item, stored, err);
	if (!ret && item->how == PACKING_COPY_DELTA)
		ret = stored_base(w, item, stored, base_raw, err);
	return ret;
}

static int write_copy(struct writing *w, struct packing_item *item,
		      struct error *err)
{
	const uint8_t *base_raw = NULL;
	struct packs_stored stored;
	struct pack_entry entry;
	int ret = find_copy(w, item, &stored, &base_raw, err);

	if (ret < 0)
		return ret == ERR_CORRUPT ? write_other_copy(w, item, err)
					  : ret;
	entry = stored.entry;
	w->report->reused++;
	w->report->bytes_verbatim += stored.len - entry.header_len;
	if (base_raw) {
		name_base(w, item, base_raw, &entry);
		w->report->deltas++;
		w->report->reused_deltas++;
	}
	return put_entry(w, item, &entry,
			 stored.bytes + stored.entry.header_len,
			 stored.len - stored.entry.header_len, err);
}

/*
 * Write an item as the compressed whole copy that a repack has stored. If the
 * copy cannot be read, deflate the item anew.
 */
static int write_kept(struct writing *w, struct packing_item *item,
		      struct error *err)
{
	struct pack_entry entry = {.type = item->type};
	struct kept_delta copy;

	if (kept_deltas_get(&copy, w->options->kept, item->kept_row, NULL) < 0)
		return write_whole(w, item, err);
	entry.size = copy.size;
	w->report->reused++;
	w->report->bytes_verbatim += copy.len;
	return put_entry(w, item, &entry, copy.stream, copy.len, err);
}

static int write_delta(struct writing *w, struct packing_item *item,
		       struct error *err)
{
	struct pack_entry entry = {.size = item->delta_size};
	uint8_t *made = NULL;
	size_t len = item->delta_len;
	struct oid base;
	int ret = 0;

	if (!item->delta)
		ret = delta_search_remake(
			w->list, (uint32_t)(item - w->list->items), w->reader,
			w->options->compression, &made, &len, err);
	if (ret < 0)
		return ret;
	objspace_oid(&base, w->list->space, w->list->items[item->base].obj_pos);
	name_base(w, item, base.bytes, &entry);
	ret = put_entry(w, item, &entry, made ? made : item->delta, len, err);
	w->report->deltas++;
	w->report->bytes_recompressed += len;
	free(made);
	if (ret == WRITE_FULL)
		return ret;
	free(item->delta);
	item->delta = NULL;
	return ret;
}

/*
 * Mapped pages of the old packs are dropped each time that this number of bytes
 * was written.
 */
#define DROP_INTERVAL ((uint64_t)64 << 20)

/*
 * Drop mapped pages of the old packs. Copying reads each page only once.
 * Without dropping, all pages would count as memory of this process.
 */
static void drop_pages(struct writing *w)
{
	const struct odb *odb = w->packs->odb;

	if (w->writer->off - w->dropped_at < DROP_INTERVAL)
		return;
	w->dropped_at = w->writer->off;
	for (uint32_t i = 0; i < odb->pack_nr; i++)
		if (!odb->packs[i].pack->keeps_pages)
			sys_held_drop(&odb->packs[i].pack->file, 0,
				      odb->packs[i].pack->file.len);
}

static int write_how(struct writing *w, struct packing_item *item,
		     struct error *err)
{
	switch ((enum packing_how)item->how) {
	case PACKING_WHOLE:
		return write_whole(w, item, err);
	case PACKING_COPY:
	case PACKING_COPY_DELTA:
		return write_copy(w, item, err);
	case PACKING_DELTA:
		return write_delta(w, item, err);
	case PACKING_KEPT:
		return write_kept(w, item, err);
	}
	return error_set(err, ERR_INVALID, "unplanned item");
}

static int write_item(struct writing *w, struct packing_item *item,
		      struct error *err)
{
	struct write_report before = *w->report;
	int ret;

	item->out_off = pack_writer_begin_entry(w->writer);
	w->report->objects++;
	ret = write_how(w, item, err);
	if (ret == WRITE_FULL) {
		*w->report = before;
		item->out_off = 0;
	}
	return ret;
}

void write_undeltify(struct packing_items *list, const uint32_t *order,
		     size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		struct packing_item *item = &list->items[order[i]];

		if (item->base == PACKING_NO_ITEM ||
		    !list->items[item->base].out_off)
			continue;
		item->how = PACKING_WHOLE;
		item->base = PACKING_NO_ITEM;
		free(item->delta);
		item->delta = NULL;
	}
}

int write_items(struct packing_items *list, const uint32_t *order, size_t *nr,
		const struct packs *packs, struct pack_writer *writer,
		const struct write_options *options,
		struct write_report *report, struct error *err)
{
	struct writing w = {
		.list = list,
		.packs = packs,
		.writer = writer,
		.options = options,
		.report = report,
		.scratch = BUF_INIT,
		.first_off = writer->off,
	};
	size_t i = 0;
	int ret = 0;

	w.reader = odb_reader_new(list->space->odb, (size_t)16 << 20);
	w.deflater = deflater_new(options->compression);
	if (!w.reader || !w.deflater)
		ret = error_nomem(err);
	while (i < *nr && !ret) {
		ret = write_item(&w, &list->items[order[i]], err);
		if (ret)
			break;
		i++;
		drop_pages(&w);
		if (options->progress)
			ret = progress_step(options->progress, 1, err);
	}
	*nr = i;
	buf_release(&w.scratch);
	deflater_free(w.deflater);
	odb_reader_free(w.reader);
	return ret == WRITE_FULL ? 0 : ret;
}
