/* SPDX-License-Identifier: MIT */
/* Removes packs that a killed repack has left without their final names. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "odb/odb-midx.h"
#include "packs/old-packs.h"
#include "repack/prune-parts.h"
#include "sys/io.h"
#include "sys/map.h"

#define UNNAMED_PREFIX ".tmp-"

/* ---- listing */

struct listing {
	struct prune_unnamed *list;
	const char *dir;
	size_t hex_len;
	int64_t expiry;
	struct error *err;
};

/*
 * Returns the length of ".tmp-<pid>-pack-<hash>" at the start of a file name.
 * Returns 0 if the name has another start, or no extension.
 */
static size_t base_len(const char *name, size_t hex_len)
{
	static const char middle[] = "-pack-";
	const char *p = name + strlen(UNNAMED_PREFIX);
	const char *hash;

	if (strncmp(name, UNNAMED_PREFIX, strlen(UNNAMED_PREFIX)) != 0 ||
	    !isdigit((unsigned char)*p))
		return 0;
	while (isdigit((unsigned char)*p))
		p++;
	if (strncmp(p, middle, strlen(middle)) != 0)
		return 0;
	hash = p + strlen(middle);
	p = hash;
	while (isxdigit((unsigned char)*p))
		p++;
	return (size_t)(p - hash) == hex_len && *p == '.' ? (size_t)(p - name)
							  : 0;
}

/*
 * Returns the path "<dir>/<start><ext>", where <start> is the first `len` bytes
 * of `name`. NULL: no memory. The caller frees the path.
 */
static char *join(const char *dir, const char *name, size_t len,
		  const char *ext)
{
	struct buf path = BUF_INIT;

	if (buf_printf(&path, "%s/%.*s%s", dir, (int)len, name, ext) == 0)
		return buf_detach(&path, NULL);
	buf_release(&path);
	return NULL;
}

static int add(char ***items, size_t *nr, size_t *alloc, char *item,
	       struct error *err)
{
	if (!item || mem_grow(items, alloc, *nr + 1, sizeof(**items)) < 0) {
		free(item);
		return error_nomem(err);
	}
	(*items)[(*nr)++] = item;
	return 0;
}

/*
 * Set *seconds to the modification time of the file "<dir>/<start><ext>", where
 * <start> is the first `len` bytes of `name`. Returns 1 if the file exists, 0
 * if not, or a negative error code.
 */
static int look(int64_t *seconds, const struct listing *l, const char *name,
		size_t len, const char *ext)
{
	char *path = join(l->dir, name, len, ext);
	struct sys_stat st;
	int ret = path ? sys_stat(&st, path, l->err) : error_nomem(l->err);

	free(path);
	if (ret < 0)
		return ret == ERR_MISSING ? 0 : ret;
	*seconds = st.mtime_ns / 1000000000;
	return 1;
}

static int add_file(struct listing *l, const char *name)
{
	struct prune_unnamed *list = l->list;

	return add(&list->files, &list->file_nr, &list->file_alloc,
		   join(l->dir, name, strlen(name), ""), l->err);
}

static int visit(void *ctx, const char *name)
{
	struct listing *l = ctx;
	struct prune_unnamed *list = l->list;
	size_t len = base_len(name, l->hex_len);
	int64_t packed, indexed, kept;
	int ret;

	if (!len)
		return 0;
	ret = look(&indexed, l, name, len, ".idx");
	if (ret > 0)
		ret = look(&packed, l, name, len, ".pack");
	if (ret <= 0)
		return ret < 0 ? ret : add_file(l, name);
	if (strcmp(name + len, ".idx") != 0)
		return 0;
	ret = look(&kept, l, name, len, ".keep");
	if (ret < 0)
		return ret;
	if (ret || packed > l->expiry || indexed > l->expiry)
		list->stays = true;
	return add(&list->packs, &list->pack_nr, &list->pack_alloc,
		   join(l->dir, name, len, ""), l->err);
}

int prune_unnamed_list(struct prune_unnamed *list, const struct repo *repo,
		       const struct prune_options *options, struct error *err)
{
	char *dir = repo_object_path(repo, "pack");
	struct listing l = {list, dir, hash_hex_len(repo->algo),
			    options->expiry, err};
	int ret;

	*list = (struct prune_unnamed){0};
	ret = dir ? sys_dir_each(dir, visit, &l, err) : error_nomem(err);
	free(dir);
	return ret == ERR_MISSING ? 0 : ret;
}

void prune_unnamed_release(struct prune_unnamed *list)
{
	while (list->pack_nr)
		free(list->packs[--list->pack_nr]);
	while (list->file_nr)
		free(list->files[--list->file_nr]);
	free(list->packs);
	free(list->files);
	*list = (struct prune_unnamed){0};
}

/* ---- deciding whether the packs are removed */

struct question {
	const struct odb *odb;
	bool (*is_wanted)(void *ctx, const uint8_t *raw);
	void *ctx;
	struct error *err;
};

/*
 * `idx` is the index of a pack without a final name. Returns 1 if some object
 * of this pack may be needed and is in no pack with a final name, else 0.
 */
static int has_needed(const struct question *q, const struct pack_idx *idx)
{
	for (uint32_t i = 0; i < idx->nr; i++) {
		const uint8_t *raw = pack_idx_oid(idx, i);
		uint32_t ignored;

		if (q->is_wanted(q->ctx, raw) &&
		    !odb_find_raw(q->odb, raw, &ignored))
			return 1;
	}
	return 0;
}

/*
 * Returns 1 if a pack without its final name must stay, 0 if it may be removed,
 * or a negative error code. A pack whose .idx is damaged or missing stays,
 * because its objects are unknown.
 */
static int is_needed(const struct question *q, const char *base)
{
	struct sys_map map = SYS_MAP_INIT;
	struct buf name = BUF_INIT;
	struct pack_idx idx;
	int ret = 1;

	if (buf_printf(&name, "%s.idx", base) < 0)
		ret = error_nomem(q->err);
	else if (!sys_map_open(&map, name.data, NULL) &&
		 !pack_idx_parse(&idx, map.data, map.len, q->odb->algo,
				 name.data, NULL)) {
		ret = has_needed(q, &idx);
		pack_idx_release(&idx);
	}
	sys_map_close(&map);
	buf_release(&name);
	return ret;
}

/*
 * Returns whether a multi-pack-index names a pack that still has its temporary
 * name. Also looks into multi-pack-index files that readers would reject.
 */
static bool is_in_midx(const struct odb *odb)
{
	/* set if some layers of the multi-pack-index cannot be read */
	struct error skipped = ERROR_INIT;
	struct odb_midx *top;
	bool found;
	int ret = odb_midx_open(&top, odb->dirs[0], odb->algo, &skipped);

	if (ret < 0)
		return ret != ERR_MISSING;
	found = skipped.code != 0;
	for (const struct odb_midx *om = top; om; om = om->base)
		for (uint32_t i = 0; i < om->midx.pack_nr; i++)
			found |= om->midx.names[i][0] == '.';
	odb_midx_close(top);
	return found;
}

/* ---- removing */

/*
 * Remove a pack, if the pack is still old enough. The pack may have become
 * younger since it was listed: a process that writes an object which the pack
 * already has sets the pack's time to now. Returns 0 or a negative error code.
 */
static int remove_pack(const char *base, const struct prune_options *o,
		       struct error *err)
{
	struct buf path = BUF_INIT;
	struct sys_stat st;
	int ret = 0;

	if (buf_printf(&path, "%s.pack", base) < 0)
		ret = error_nomem(err);
	if (!ret && sys_stat(&st, path.data, NULL) == 0 &&
	    st.mtime_ns / 1000000000 <= o->expiry) {
		if (o->hooks.stale)
			o->hooks.stale(o->hooks.ctx, path.data, false);
		if (!o->dry_run)
			ret = old_pack_remove(base, err);
	}
	buf_release(&path);
	return ret;
}

static int remove_packs(const struct prune_unnamed *list,
			const struct question *q, const struct prune_options *o)
{
	int ret = is_in_midx(q->odb);

	for (size_t i = 0; !ret && i < list->pack_nr; i++)
		ret = is_needed(q, list->packs[i]);
	for (size_t i = 0; !ret && i < list->pack_nr; i++)
		ret = remove_pack(list->packs[i], o, q->err);
	return ret < 0 ? ret : 0;
}

int prune_unnamed_remove(const struct prune_unnamed *list,
			 const struct odb *odb,
			 bool (*is_wanted)(void *ctx, const uint8_t *raw),
			 void *ctx, const struct prune_options *options,
			 struct error *err)
{
	const struct question q = {odb, is_wanted, ctx, err};
	int ret = 0;

	for (size_t i = 0; !ret && i < list->file_nr; i++)
		ret = prune_file_stale(list->files[i], options, err);
	if (!ret && odb && prune_unnamed_asks(list))
		ret = remove_packs(list, &q, options);
	return ret;
}
