/* SPDX-License-Identifier: MIT */
/*
 * Reads and writes .mtimes files, which have the times of the objects of a
 * cruft pack.
 */
#include <string.h>

#include "object/hash.h"
#include "pack/mtimes.h"
#include "pack/side-table.h"
#include "sys/io.h"

static const struct side_table_kind mtimes_kind = {"MTME", "table of times"};

int pack_mtimes_parse(struct pack_mtimes *m, const struct pack_idx *idx,
		      const void *bytes, size_t len, const char *name,
		      struct error *err)
{
	const uint8_t *table;
	int ret = side_table_parse(&table, &mtimes_kind, idx, bytes, len, name,
				   err);

	*m = (struct pack_mtimes){0};
	if (!ret)
		*m = (struct pack_mtimes){idx, table, bytes, len};
	return ret;
}

int pack_mtimes_verify(const struct pack_mtimes *m, const char *name,
		       struct error *err)
{
	return hash_check_trailer(m->bytes, m->len, m->idx->algo, name, err);
}

int pack_mtimes_write(struct buf *out, const uint32_t *mtimes, uint32_t nr,
		      const struct oid *pack_checksum, enum hash_algo algo,
		      struct error *err)
{
	return side_table_write(out, &mtimes_kind, mtimes, nr, pack_checksum,
				algo, err);
}

int pack_mtimes_open(struct pack_mtimes_file *f, const struct pack *pack,
		     struct error *err)
{
	struct buf path = BUF_INIT;
	int ret = 0;

	*f = (struct pack_mtimes_file){.map = SYS_MAP_INIT};
	if (buf_printf(&path, "%s.mtimes", pack->path) < 0)
		ret = error_nomem(err);
	if (!ret)
		ret = sys_map_open(&f->map, path.data, err);
	if (!ret)
		ret = pack_mtimes_parse(&f->times, &pack->idx, f->map.data,
					f->map.len, path.data, err);
	if (!ret)
		ret = pack_mtimes_verify(&f->times, path.data, err);
	buf_release(&path);
	return ret;
}

void pack_mtimes_close(struct pack_mtimes_file *f)
{
	sys_map_close(&f->map);
	f->times = (struct pack_mtimes){0};
}

int pack_mtimes_drop(const char *pack_path, struct error *err)
{
	static const char end[] = ".pack";
	size_t len = strlen(pack_path);
	struct buf path = BUF_INIT;
	int ret = 0;

	if (len < strlen(end) || strcmp(pack_path + len - strlen(end), end))
		return 0;
	if (buf_printf(&path, "%.*s.mtimes", (int)(len - strlen(end)),
		       pack_path) < 0)
		ret = error_nomem(err);
	else if (sys_exists(path.data))
		ret = sys_unlink(path.data, err);
	buf_release(&path);
	return ret;
}
