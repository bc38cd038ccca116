/* SPDX-License-Identifier: MIT */
/* Writes the objects of a pack as loose objects. */
#include "base/buf.h"
#include "odb/unpack.h"
#include "pack/reader.h"
#include "sys/io.h"
#include "sys/progress.h"

/* maximum number of bytes of delta bases that are cached */
enum { CACHE_LIMIT = 16 << 20 };

struct unpack {
	struct pack *pack;
	struct pack_reader *reader; /* owned */
	struct loose_writer *w;
	const struct unpack_options *options;
};

static int write_whole(struct unpack *u, uint64_t offset, const struct oid *oid,
		       struct error *err)
{
	struct pack_object obj;
	int ret = pack_reader_read(u->reader, u->pack, offset, &obj, err);

	if (ret < 0)
		return ret;
	ret = loose_writer_put(u->w, oid, obj.type, obj.data, obj.len, err);
	pack_object_release(u->reader, &obj);
	return ret;
}

static int write_piece(void *ctx, const void *bytes, size_t len,
		       struct error *err)
{
	struct unpack *u = ctx;

	return loose_writer_feed(u->w, bytes, len, err);
}

static int write_pieces(struct unpack *u, uint64_t offset,
			const struct pack_entry *entry, const struct oid *oid,
			struct error *err)
{
	int ret = loose_writer_begin(u->w, oid, entry->type, entry->size, err);

	if (ret <= 0)
		return ret;
	ret = pack_pieces(u->pack, offset, entry,
			  pack_reader_inflater(u->reader), write_piece, u, err);
	return ret ? ret : loose_writer_end(u->w, err);
}

static int write_one(struct unpack *u, uint32_t idx_pos, const struct oid *oid,
		     struct error *err)
{
	uint64_t offset = pack_idx_offset(&u->pack->idx, idx_pos);
	uint64_t limit = u->options->piecewise_above;
	struct pack_entry entry;
	int ret = pack_entry_at(&entry, u->pack, offset, err);

	if (ret < 0)
		return ret;
	if (limit && entry.type == OBJ_BLOB && entry.size > limit)
		return write_pieces(u, offset, &entry, oid, err);
	return write_whole(u, offset, oid, err);
}

static int take_one(struct unpack *u, uint32_t idx_pos, struct error *err)
{
	const struct unpack_options *o = u->options;
	struct oid oid;
	int ret;

	oid_from_raw(&oid, pack_idx_oid(&u->pack->idx, idx_pos), u->pack->algo);
	ret = o->has ? o->has(o->ctx, &oid, err) : 0;
	if (!ret)
		ret = write_one(u, idx_pos, &oid, err);
	if (ret >= 0 && o->progress)
		progress_add(o->progress, 1);
	return ret < 0 ? ret : 0;
}

int unpack_pack(struct pack *pack, struct loose_writer *w,
		const struct unpack_options *options, struct error *err)
{
	const struct pack_rev *rev = pack_get_rev(pack, err);
	struct unpack u = {
		.pack = pack,
		.reader = pack_reader_new(CACHE_LIMIT),
		.w = w,
		.options = options,
	};
	int ret = 0;

	if (!rev)
		ret = ERR_NOMEM;
	else if (!u.reader)
		ret = error_nomem(err);
	for (uint32_t i = 0; !ret && i < pack->idx.nr; i++)
		ret = take_one(&u, pack_rev_idx_pos(rev, i), err);
	pack_reader_free(u.reader);
	return ret;
}

/*
 * Opens the pack that was just written under the name `base`, and writes its
 * objects as loose objects. Returns 0 or a negative error code.
 */
static int open_and_unpack(const char *base, struct loose_writer *w,
			   const struct unpack_options *options,
			   struct error *err)
{
	struct pack *pack;
	int ret = pack_open(&pack, base, w->algo, err);

	if (ret < 0)
		return ret;
	ret = unpack_pack(pack, w, options, err);
	pack_close(pack);
	return ret;
}

int unpack_received(struct pack_indexer *ix, const char *dir,
		    struct loose_writer *w,
		    const struct unpack_options *options, struct error *err)
{
	struct buf base = BUF_INIT, pack = BUF_INIT, idx = BUF_INIT;
	struct pack_indexer_files files = {.idx_format.version = 2};
	int ret = 0;

	if (buf_printf(&base, "%s/unpack", dir) < 0 ||
	    buf_printf(&pack, "%s.pack", base.data) < 0 ||
	    buf_printf(&idx, "%s.idx", base.data) < 0)
		ret = error_nomem(err);
	/*
	 * The files of this pack are removed soon, so they are not synced to
	 * disk.
	 */
	files.pack = pack.data;
	files.idx = idx.data;
	if (!ret)
		ret = pack_indexer_write(ix, &files, err);
	if (!ret)
		ret = open_and_unpack(base.data, w, options, err);
	if (!ret)
		ret = sys_unlink(idx.data, err);
	if (!ret)
		ret = sys_unlink(pack.data, err);
	buf_release(&base);
	buf_release(&pack);
	buf_release(&idx);
	return ret;
}
