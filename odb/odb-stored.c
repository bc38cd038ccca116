/* SPDX-License-Identifier: MIT */
/*
 * Finds how objects are stored: the lengths of their entries, and their delta
 * bases.
 */
#include <string.h>

#include "odb/odb-stored.h"
#include "sys/io.h"

static int base_of(struct odb_stored *stored, struct pack *pack,
		   uint64_t offset, struct error *err)
{
	struct pack_entry entry;
	uint32_t idx_pos;
	int ret = pack_entry_at(&entry, pack, offset, err);

	if (!ret)
		ret = pack_entry_base_pos(&idx_pos, pack, offset, &entry, err);
	if (ret > 0)
		oid_from_raw(&stored->base, pack_idx_oid(&pack->idx, idx_pos),
			     pack->algo);
	return ret < 0 ? ret : 0;
}

static int get_packed(struct odb_stored *stored, const struct odb *odb,
		      uint32_t odb_pos, bool with_base, struct error *err)
{
	const struct pack_rev *rev;
	struct pack *pack;
	uint64_t offset = odb_offset(odb, odb_pos, &pack);
	uint32_t pack_pos;

	rev = pack_get_rev(pack, err);
	if (!rev)
		return ERR_NOMEM;
	if (!pack_rev_find(rev, offset, &pack_pos))
		return error_set_at(err, ERR_CORRUPT, pack->path, offset,
				    "no object starts there");
	stored->len = pack_rev_offset(rev, pack_pos + 1) - offset;
	return with_base ? base_of(stored, pack, offset, err) : 0;
}

static int get_loose(struct odb_stored *stored, const struct odb *odb,
		     const struct oid *oid, struct error *err)
{
	struct buf path = BUF_INIT;
	struct sys_stat st;
	int ret = ERR_MISSING;

	for (size_t i = 0; ret == ERR_MISSING && i < odb->dir_nr; i++) {
		buf_reset(&path);
		if (odb_loose_path(&path, odb, odb->dirs[i], oid) < 0)
			ret = error_nomem(err);
		else
			ret = sys_stat(&st, path.data, err);
	}
	if (!ret)
		stored->len = st.size;
	else if (ret == ERR_MISSING &&
		 oid_equal(oid, oid_empty_tree(odb->algo)))
		/*
		 * The object is the built-in empty tree, and has no bytes on
		 * disk.
		 */
		ret = 0;
	buf_release(&path);
	return ret;
}

static int get(struct odb_stored *stored, const struct odb *odb,
	       const struct oid *oid, bool with_base, struct error *err)
{
	uint32_t odb_pos;

	memset(stored, 0, sizeof(*stored));
	if (odb_find(odb, oid, &odb_pos))
		return get_packed(stored, odb, odb_pos, with_base, err);
	return get_loose(stored, odb, oid, err);
}

int odb_stored_get(struct odb_stored *stored, const struct odb *odb,
		   const struct oid *oid, struct error *err)
{
	return get(stored, odb, oid, true, err);
}

int odb_stored_len(uint64_t *len, const struct odb *odb, const struct oid *oid,
		   struct error *err)
{
	struct odb_stored stored;
	int ret = get(&stored, odb, oid, false, err);

	*len = stored.len;
	return ret;
}

bool odb_stored_is_empty(const struct odb *odb, const struct oid *oid)
{
	uint64_t len;

	return !odb_stored_len(&len, odb, oid, NULL) && !len;
}
