/* SPDX-License-Identifier: MIT */
/* Multi-pack-indexes in a snapshot. */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "repo/odb-midx.h"

char *odb_midx_path(const char *pack_dir)
{
	struct buf path = BUF_INIT;

	if (buf_printf(&path, "%s/multi-pack-index", pack_dir) < 0)
		buf_release(&path);
	return buf_detach(&path, NULL);
}

char *odb_midx_part_path(const struct odb_midx *om, const char *ext)
{
	struct buf path = BUF_INIT;
	char hex[OID_MAX_HEX_LEN + 1];

	oid_raw_to_hex(hex, om->midx.checksum, om->midx.algo);
	if (buf_printf(&path, "%s-%s.%s", om->path, hex, ext) < 0)
		buf_release(&path);
	return buf_detach(&path, NULL);
}

static int open_file(struct odb_midx *om, const char *object_dir,
		     enum hash_algo algo, struct error *err)
{
	struct buf dir = BUF_INIT;
	int ret;

	if (!buf_printf(&dir, "%s/pack", object_dir))
		om->path = odb_midx_path(dir.data);
	buf_release(&dir);
	if (!om->path)
		return error_nomem(err);
	ret = sys_map_open(&om->map, om->path, err);
	if (ret < 0)
		return ret;
	return pack_midx_parse(&om->midx, om->map.data, om->map.len, algo,
			       om->path, err);
}

static struct odb_midx *new_midx(void)
{
	struct odb_midx *om = mem_calloc(1, sizeof(*om));

	if (om)
		pthread_mutex_init(&om->lock, NULL);
	return om;
}

int odb_midx_open(struct odb_midx **out, const char *object_dir,
		  enum hash_algo algo, struct error *err)
{
	struct odb_midx *om = new_midx();
	int ret;

	*out = NULL;
	if (!om)
		return error_nomem(err);
	ret = open_file(om, object_dir, algo, err);
	if (ret < 0)
		odb_midx_close(om);
	else
		*out = om;
	return ret;
}

int odb_midx_parse(struct odb_midx **out, const void *bytes, size_t len,
		   const char *path, enum hash_algo algo, struct error *err)
{
	struct odb_midx *om = new_midx();
	int ret;

	*out = NULL;
	if (!om)
		return error_nomem(err);
	om->path = mem_strdup(path);
	ret = om->path ? pack_midx_parse(&om->midx, bytes, len, algo, path, err)
		       : error_nomem(err);
	if (ret < 0)
		odb_midx_close(om);
	else
		*out = om;
	return ret;
}

void odb_midx_close(struct odb_midx *om)
{
	if (!om)
		return;
	free(atomic_load_explicit(&om->odb_pos, memory_order_relaxed));
	free(om->pack_nrs);
	pack_midx_release(&om->midx);
	sys_map_close(&om->map);
	pthread_mutex_destroy(&om->lock);
	free(om->path);
	free(om);
}

/* The packs of a snapshot by path, to be searched. */
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

/* One pack: "<name>.idx" in the file is the pack "<object_dir>/pack/<name>". */
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
		ret = error_set(err, ERR_MISSING,
				"%s is not used: %s is not there", om->path,
				name);
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

/* The pack that an object is taken from; NULL in a corrupt file. */
static const struct odb_pack *pack_of(const struct odb *odb,
				      const struct odb_midx *om,
				      uint32_t midx_pos)
{
	uint32_t midx_pack = pack_midx_pack(&om->midx, midx_pos);

	if (midx_pack >= om->midx.pack_nr)
		return NULL;
	return &odb->packs[om->pack_nrs[midx_pack]];
}

/* Without the table. */
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
 * Where an object is in its pack's index, which is read front to back: both
 * ascend. `next` is how far the index was read.
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
	/* Of an object that is there twice, a search may find the other one. */
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
