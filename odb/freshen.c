/* SPDX-License-Identifier: MIT */
/*
 * Freshening: sets the modification time of one copy of an object to the
 * present, so that the copy is not pruned.
 */
#include "base/buf.h"
#include "odb/freshen.h"
#include "pack/pack-name.h"
#include "sys/io.h"

/*
 * Sets the modification time of a pack's file to the present. Returns false on
 * failure: the pack may have been removed, or may belong to another user.
 */
static bool touch_pack(const struct pack *pack)
{
	struct buf path = BUF_INIT;
	bool done = !pack->is_cruft && !pack_name_is_temporary(pack->name) &&
		    !buf_printf(&path, "%s.pack", pack->path) &&
		    sys_touch(path.data, NULL) == 0;

	buf_release(&path);
	return done;
}

static bool freshen_packed(const struct odb *odb, const struct oid *oid)
{
	uint32_t odb_pos, idx_pos;

	if (!odb_find(odb, oid, &odb_pos))
		return false;
	if (touch_pack(odb_locate(odb, odb_pos, &idx_pos)->pack))
		return true;
	for (uint32_t i = 0; i < odb->pack_nr; i++) {
		const struct pack *pack = odb->packs[i].pack;

		if (!pack->is_cruft &&
		    pack_idx_find(&pack->idx, oid->bytes, &idx_pos) &&
		    touch_pack(pack))
			return true;
	}
	return false;
}

static bool freshen_loose(const struct odb *odb, const struct oid *oid)
{
	struct buf path = BUF_INIT;
	bool done = false;

	for (size_t i = 0; i < odb->dir_nr && !done; i++) {
		buf_reset(&path);
		done = !odb_loose_path(&path, odb, odb->dirs[i], oid) &&
		       sys_touch(path.data, NULL) == 0;
	}
	buf_release(&path);
	return done;
}

bool freshen_object(const struct odb *odb, const struct oid *oid)
{
	return freshen_packed(odb, oid) || freshen_loose(odb, oid);
}

bool freshen_pack(enum freshen_state *state, const struct pack *pack,
		  int64_t mtime_ns)
{
	if (pack->mtime_ns >= mtime_ns)
		return true;
	if (*state == FRESHEN_NOT_TRIED)
		*state = touch_pack(pack) ? FRESHEN_DONE : FRESHEN_FAILED;
	return *state == FRESHEN_DONE;
}
