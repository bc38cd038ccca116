/* SPDX-License-Identifier: MIT */
/* From a pack to loose objects. */
#include "pack/reader.h"
#include "repo/unpack.h"
#include "sys/progress.h"

enum { CACHE_LIMIT = 16 << 20 }; /* bytes of decoded bases */

struct unpack {
	struct pack *pack;
	struct pack_reader *reader; /* owned */
	struct loose_writer *w;
	const struct unpack_options *options;
};

/* Decode, offer for checking, write. */
static int write_one(struct unpack *u, uint32_t idx_pos, const struct oid *oid,
		     struct error *err)
{
	const struct unpack_options *o = u->options;
	struct pack_object obj;
	int ret = pack_reader_read(u->reader, u->pack,
				   pack_idx_offset(&u->pack->idx, idx_pos),
				   &obj, err);

	if (ret < 0)
		return ret;
	if (o->check)
		ret = o->check(o->ctx, oid, obj.type, obj.data, obj.len, err);
	if (ret >= 0)
		ret = loose_writer_put(u->w, oid, obj.type, obj.data, obj.len,
				       err);
	pack_object_release(u->reader, &obj);
	return ret < 0 ? ret : 0;
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
