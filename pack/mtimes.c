/* SPDX-License-Identifier: MIT */
/* .mtimes files. */
#include "pack/mtimes.h"
#include "pack/side-table.h"

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
	return side_table_verify(m->idx, m->bytes, m->len, name, err);
}

int pack_mtimes_write(struct buf *out, const uint32_t *mtimes, uint32_t nr,
		      const struct oid *pack_checksum, enum hash_algo algo,
		      struct error *err)
{
	return side_table_write(out, &mtimes_kind, mtimes, nr, pack_checksum,
				algo, err);
}
