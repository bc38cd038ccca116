/* SPDX-License-Identifier: MIT */
/*
 * The files backend: finds conflicts of names. If refs/a is a file, there
 * cannot be a directory for refs/a/b. packed-refs could contain both, so its
 * names are compared.
 *
 * The lock file of the ref refs/a/b is in the directory refs/a. So after
 * locking, there can be no loose ref refs/a, and only packed-refs must be
 * searched for a ref of this name.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "refs-write/refs-files-tx.h"
#include "refs/refs-files.h"
#include "refs/refs-loose.h"
#include "sys/io.h"

static int is_packed(struct refs *refs, const char *name, struct error *err)
{
	const struct packed_refs *table;
	struct packed_ref ref;
	int ret = refs_files_packed(refs, &table, err);

	return ret < 0 ? ret : packed_refs_find(table, name, &ref, err);
}

/*
 * Looks for a packed ref below "<name>/". Returns 1 with the ref's name in
 * *other, 0 if there is none, or a negative error code.
 */
static int find_packed_below(const char *name, const struct packed_refs *table,
			     struct buf *other, struct error *err)
{
	struct packed_ref ref;
	size_t off;
	int ret;

	buf_reset(other);
	if (buf_printf(other, "%s/", name) < 0)
		return error_nomem(err);
	ret = packed_refs_seek(table, other->data, other->len, &off, err);
	if (!ret)
		ret = packed_refs_next(table, &off, &ref, err);
	if (ret <= 0)
		return ret;
	if (ref.name_len < other->len ||
	    memcmp(ref.name, other->data, other->len))
		return 0;
	buf_reset(other);
	if (buf_append(other, ref.name, ref.name_len) < 0)
		return error_nomem(err);
	return 1;
}

/*
 * Looks for a loose ref in a directory at the path of the ref's file,
 * tx->path. Sets item->is_dir to whether there is a directory. Returns 1 with
 * the name of a loose ref in *other, 0 if there is none, or a negative error
 * code.
 */
static int find_loose_below(struct ref_transaction *tx, struct ref_item *item,
			    struct buf *other, struct error *err)
{
	struct refs_loose_list *list;
	struct sys_stat st;
	int ret = sys_stat(&st, tx->path.data, err);

	item->is_dir = !ret && st.is_dir;
	if (!item->is_dir)
		return ret == ERR_MISSING ? 0 : ret;
	buf_reset(other);
	if (buf_printf(other, "%s/", item->name) < 0)
		return error_nomem(err);
	ret = refs_loose_list_read(&list, tx->repo, other->data, err);
	if (ret < 0)
		return ret;
	if (list->nr) {
		buf_reset(other);
		ret = buf_append_str(other, list->refs[0].name);
		ret = ret ? error_nomem(err) : 1;
	}
	refs_loose_list_free(list);
	return ret;
}

int refs_files_tx_conflict(struct ref_transaction *tx, struct ref_item *item,
			   struct buf *other, struct error *err)
{
	const struct packed_refs *table;
	int ret = find_loose_below(tx, item, other, err);

	if (!ret)
		ret = ref_items_find_above(tx, item->name, is_packed, other,
					   err);
	if (!ret)
		ret = refs_files_packed(tx->refs, &table, err);
	if (!ret)
		ret = find_packed_below(item->name, table, other, err);
	return ret;
}

int refs_files_conflict_above(struct ref_transaction *tx, const char *name,
			      struct buf *other, struct error *err)
{
	const char *slash = strchr(name, '/');

	for (; slash; slash = strchr(slash + 1, '/')) {
		struct sys_stat st;

		buf_reset(other);
		buf_reset(&tx->path);
		if (buf_append(other, name, (size_t)(slash - name)) < 0 ||
		    refs_loose_path(&tx->path, tx->repo, other->data) < 0)
			return error_nomem(err);
		if (!sys_stat(&st, tx->path.data, NULL) && !st.is_dir)
			return 1;
	}
	return 0;
}
