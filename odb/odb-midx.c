/* SPDX-License-Identifier: MIT */
/*
 * Maps positions of a multi-pack-index to positions of a snapshot.
 * odb-midx-open.c opens multi-pack-indexes.
 */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "odb/odb-midx.h"
#include "sys/io.h"

/* A pack of the snapshot and its path, for binary search. */
struct pack_path {
	const char *path;
	uint32_t nr;
};

static int cmp_paths(const void *a, const void *b)
{
	const struct pack_path *pa = a, *pb = b;

	return strcmp(pa->path, pb->path);
}

static struct pack_path *sort_paths(const struct odb *odb)
{
	struct pack_path *paths = mem_alloc(odb->pack_nr, sizeof(*paths));

	for (uint32_t i = 0; paths && i < odb->pack_nr; i++)
		paths[i] = (struct pack_path){odb->packs[i].pack->path, i};
	if (paths && odb->pack_nr)
		qsort(paths, odb->pack_nr, sizeof(*paths), cmp_paths);
	return paths;
}

/*
 * Sets the error for a missing pack: the multi-pack-index `om` names the pack,
 * but the snapshot (the packs that were found when the object database was
 * opened) does not have it. `path` is the path of the pack's files up to the
 * suffix. `name` is the pack's name of `len` bytes. Returns ERR_MISSING, or
 * ERR_NOMEM.
 */
static int lacks_pack(const struct odb_midx *om, struct buf *path,
		      const char *name, size_t len, struct error *err)
{
	const char *slash = strrchr(om->path, '/');
	struct sys_stat st;

	if (buf_append_str(path, ".pack") < 0)
		return error_nomem(err);
	if (sys_stat(&st, path->data, NULL) < 0 || !slash)
		return error_set(err, ERR_MISSING,
				 "%s is not used: %s does not exist", om->path,
				 name);
	return error_set(err, ERR_MISSING,
			 "%s is not used: packfile %.*s/%.*s.pack index "
			 "unavailable",
			 om->path, (int)(slash - om->path), om->path, (int)len,
			 name);
}

/*
 * The multi-pack-index `om` names a pack with the number midx_pack. Finds this
 * pack in `paths`, the packs of the snapshot (the opened object database). Sets
 * om->pack_nrs[midx_pack] to the number that the pack has in the snapshot. The
 * name "<name>.idx" in the multi-pack-index means the pack
 * "<object_dir>/pack/<name>". Returns 0, ERR_MISSING if the snapshot lacks the
 * pack, or ERR_NOMEM.
 */
static int link_pack(struct odb_midx *om, uint32_t midx_pack,
		     const struct pack_path *paths, uint32_t pack_nr,
		     const char *object_dir, struct error *err)
{
	const char *name = om->midx.names[midx_pack];
	size_t len = strlen(name);
	struct pack_path wanted = {NULL, 0}, *found = NULL;
	struct buf path = BUF_INIT;
	int ret = 0;

	if (len > 4 && !strcmp(name + len - 4, ".idx"))
		len -= 4;
	if (buf_printf(&path, "%s/pack/%.*s", object_dir, (int)len, name) < 0)
		ret = error_nomem(err);
	wanted.path = path.data;
	if (!ret && pack_nr)
		found = bsearch(&wanted, paths, pack_nr, sizeof(*paths),
				cmp_paths);
	if (found)
		om->pack_nrs[midx_pack] = found->nr;
	else if (!ret)
		ret = lacks_pack(om, &path, name, len, err);
	buf_release(&path);
	return ret;
}

int odb_midx_link(struct odb_midx *om, const struct odb *odb,
		  const char *object_dir, struct error *err)
{
	struct pack_path *paths = sort_paths(odb);
	int ret = 0;

	om->pack_nrs = mem_alloc(om->midx.pack_nr, sizeof(*om->pack_nrs));
	if (!paths || !om->pack_nrs)
		ret = error_nomem(err);
	for (uint32_t i = 0; i < om->midx.pack_nr && !ret; i++)
		ret = link_pack(om, i, paths, odb->pack_nr, object_dir, err);
	free(paths);
	return ret;
}

/*
 * Returns the pack that a multi-pack-index names for an object, or NULL if the
 * file is corrupt.
 */
static const struct odb_pack *pack_of(const struct odb *odb,
				      const struct odb_midx *om,
				      uint32_t midx_pos)
{
	uint32_t midx_pack = pack_midx_pack(&om->midx, midx_pos);

	if (midx_pack >= om->midx.pack_nr)
		return NULL;
	return &odb->packs[om->pack_nrs[midx_pack]];
}

/*
 * Finds the odb_pos of an object without the table om->odb_pos, by a search in
 * the index of its pack. Returns false if the multi-pack-index names a pack
 * that does not have the object.
 */
static bool search_pack(const struct odb *odb, const struct odb_midx *om,
			uint32_t midx_pos, uint32_t *odb_pos)
{
	const struct odb_pack *op = pack_of(odb, om, midx_pos);
	uint32_t idx_pos;

	if (!op || !pack_idx_find(&op->pack->idx,
				  pack_midx_oid(&om->midx, midx_pos), &idx_pos))
		return false;
	*odb_pos = op->first_pos + idx_pos;
	return true;
}

bool odb_midx_pos(const struct odb *odb, const struct odb_midx *om,
		  uint32_t midx_pos, uint32_t *odb_pos)
{
	const uint32_t *table = atomic_load_explicit(&om->odb_pos,
						     memory_order_acquire);

	if (!table)
		return search_pack(odb, om, midx_pos, odb_pos);
	if (table[midx_pos] == ODB_MIDX_WRONG)
		return false;
	*odb_pos = table[midx_pos];
	return true;
}

/*
 * Looks for an object in a pack index, from entry *next on. Callers look for
 * objects in the order of their ids, so the index is read from front to back.
 * Moves *next forward to the first entry whose id is not less than `raw`.
 * Returns true if the object was found and is in the index only once.
 */
static bool step_to(const struct pack_idx *idx, const uint8_t *raw,
		    uint32_t *next)
{
	size_t id_len = hash_len(idx->algo);
	int cmp = -1;

	while (*next < idx->nr) {
		cmp = memcmp(pack_idx_oid(idx, *next), raw, id_len);
		if (cmp >= 0)
			break;
		++*next;
	}
	/*
	 * If the index has an id twice, return false: a binary search may find
	 * the other entry.
	 */
	return !cmp && (*next + 1 == idx->nr ||
			memcmp(pack_idx_oid(idx, *next + 1), raw, id_len) != 0);
}

static uint32_t *make_table(const struct odb *odb, const struct odb_midx *om)
{
	uint32_t nr = om->midx.nr;
	uint32_t *table = mem_alloc(nr, sizeof(*table));
	uint32_t *next = mem_calloc(odb->pack_nr, sizeof(*next));

	for (uint32_t i = 0; i < nr && table && next; i++) {
		const struct odb_pack *op = pack_of(odb, om, i);
		const uint8_t *raw = pack_midx_oid(&om->midx, i);

		if (op && step_to(&op->pack->idx, raw, &next[op - odb->packs]))
			table[i] = op->first_pos + next[op - odb->packs];
		else if (!search_pack(odb, om, i, &table[i]))
			table[i] = ODB_MIDX_WRONG;
	}
	if (!next) {
		free(table);
		table = NULL;
	}
	free(next);
	return table;
}

const uint32_t *odb_midx_table(const struct odb *odb, struct odb_midx *om)
{
	uint32_t *table = atomic_load_explicit(&om->odb_pos,
					       memory_order_acquire);

	if (table)
		return table;
	pthread_mutex_lock(&om->lock);
	table = atomic_load_explicit(&om->odb_pos, memory_order_relaxed);
	if (!table) {
		table = make_table(odb, om);
		atomic_store_explicit(&om->odb_pos, table,
				      memory_order_release);
	}
	pthread_mutex_unlock(&om->lock);
	return table;
}
