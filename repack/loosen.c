/* SPDX-License-Identifier: MIT */
/* Writes loose copies of unreachable objects. */
#include "deltas/items.h"
#include "object/oidmap.h"
#include "odb/loose-write.h"
#include "repack/loosen.h"
#include "sys/io.h"

/*
 * From this number of loose objects, loosen_check() lists the 256 directories
 * of loose objects instead of looking for each object.
 */
#define LIST_MIN 64

static int write_one(struct loose_writer *writer, struct walk *w,
		     const struct unreachable_item *item, struct error *err)
{
	struct odb_object obj = ODB_OBJECT_INIT;
	struct buf path = BUF_INIT;
	struct oid oid;
	int ret;

	objspace_oid(&oid, &w->space, item->obj_pos);
	ret = objspace_read(&w->space, w->reader, item->obj_pos, &obj, err);
	if (!ret)
		ret = odb_object_check_id(&obj, &oid, w->odb->algo, err);
	if (!ret)
		ret = loose_writer_put(writer, &oid, obj.type, obj.data,
				       obj.len, err);
	odb_object_release(w->reader, &obj);
	/*
	 * Another process has written the file meanwhile. Keep the time of that
	 * file, because it is newer.
	 */
	if (ret <= 0)
		return ret;
	ret = 0;
	if (odb_loose_path(&path, w->odb, w->odb->dirs[0], &oid) < 0)
		ret = error_nomem(err);
	if (!ret)
		ret = sys_set_mtime(path.data, item->mtime, err);
	buf_release(&path);
	return ret;
}

int loosen_write(uint32_t *nr, const struct unreachable *u, struct error *err)
{
	struct walk *w = u->walk;
	const struct repo *repo = w->odb->repo;
	enum sys_fsync_method packs;
	struct loose_writer writer;
	int ret = repo_fsync_method(repo, REPO_FSYNC_PACK, &packs, err);

	*nr = 0;
	if (ret < 0)
		return ret;
	/*
	 * The writer can be released even after loose_writer_init() has failed.
	 */
	ret = loose_writer_init(&writer, repo, w->odb->dirs[0], err);
	for (size_t i = 0; i < u->nr && !ret; i++) {
		if (!loosen_wants(&u->items[i]))
			continue;
		ret = write_one(&writer, w, &u->items[i], err);
		++*nr;
	}
	if (!ret && *nr && packs != SYS_FSYNC_NONE)
		ret = sys_sync_file_system(w->odb->dirs[0], err);
	loose_writer_release(&writer);
	return ret;
}

static int add_listed(void *ctx, const struct oid *oid, const char *path)
{
	int ret = oidmap_add(ctx, oid, 0, NULL);

	(void)path;
	return ret < 0 ? ret : 0;
}

/*
 * Returns the number of items for which loosen_relies() is true, but at most
 * `max`.
 */
static size_t count_relied(const struct unreachable *u, size_t max)
{
	size_t nr = 0;

	for (size_t i = 0; i < u->nr && nr < max; i++)
		nr += loosen_relies(&u->items[i]);
	return nr;
}

/* Returns 0, ERR_MISSING if the loose object does not exist, or ERR_NOMEM. */
static int check_one(const struct odb *odb, const struct oid *oid,
		     struct error *err)
{
	char hex[OID_MAX_HEX_LEN + 1];
	struct buf path = BUF_INIT;
	int ret = 0;

	if (odb_loose_path(&path, odb, odb->dirs[0], oid) < 0)
		ret = error_nomem(err);
	else if (!sys_exists(path.data))
		ret = error_set(err, ERR_MISSING,
				"no pack is removed, because loose object %s "
				"was removed meanwhile",
				oid_to_hex(hex, oid, odb->algo));
	buf_release(&path);
	return ret;
}

int loosen_check(const struct unreachable *u, struct error *err)
{
	const struct odb *odb = u->walk->odb;
	struct oidmap listed = OIDMAP_INIT;
	struct oid oid;
	uint32_t unused;
	int ret = 0;

	if (count_relied(u, LIST_MIN) == LIST_MIN)
		ret = odb_each_loose(odb, true, add_listed, &listed, err);
	for (size_t i = 0; i < u->nr && !ret; i++) {
		if (!loosen_relies(&u->items[i]))
			continue;
		objspace_oid(&oid, &u->walk->space, u->items[i].obj_pos);
		if (!oidmap_get(&listed, &oid, &unused))
			ret = check_one(odb, &oid, err);
	}
	oidmap_release(&listed);
	return ret;
}
