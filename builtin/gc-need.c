/* SPDX-License-Identifier: MIT */
/* Deciding whether `git gc --auto` has something to do. */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "builtin/gc-parts.h"
#include "odb/odb-alternates.h"
#include "pack/pack-name.h"
#include "sys/io.h"

/* ---- packs */

struct lister {
	struct gc_packs *list;
	const char *dir;
	struct error *err;
};

/*
 * Returns 1 if a pack has a file with the extension `ext`, 0 if not, or a
 * negative error code. The name of the pack, without an extension, is the first
 * `len` bytes of `base`.
 */
static int has_sibling(struct lister *l, const char *base, size_t len,
		       const char *ext)
{
	struct buf path = BUF_INIT;
	int ret = buf_printf(&path, "%s/%.*s%s", l->dir, (int)len, base, ext);

	ret = ret < 0 ? error_nomem(l->err) : sys_exists(path.data);
	buf_release(&path);
	return ret;
}

static int add_pack(struct lister *l, const char *name, size_t base_len)
{
	struct gc_packs *list = l->list;
	struct buf path = BUF_INIT;
	struct sys_stat st;
	struct gc_pack *pack;
	int ret;

	if (mem_grow(&list->packs, &list->alloc, list->nr + 1,
		     sizeof(*list->packs)) < 0 ||
	    buf_printf(&path, "%s/%s", l->dir, name) < 0)
		return error_nomem(l->err);
	ret = sys_stat(&st, path.data, l->err);
	buf_release(&path);
	if (ret < 0)
		return ret == ERR_MISSING ? 0 : ret;
	pack = &list->packs[list->nr];
	*pack = (struct gc_pack){
		.name = mem_strdup(name),
		.size = st.size,
		.is_kept = has_sibling(l, name, base_len, ".keep") > 0,
		.is_cruft = has_sibling(l, name, base_len, ".mtimes") > 0,
	};
	if (!pack->name)
		return error_nomem(l->err);
	list->nr++;
	return 0;
}

static int see_file(void *ctx, const char *name)
{
	struct lister *l = ctx;
	size_t len = pack_name_len(name);
	int ret;

	if (!len || strcmp(name + len, ".pack") != 0)
		return 0;
	ret = has_sibling(l, name, len, ".idx");
	return ret > 0 ? add_pack(l, name, len) : ret;
}

int gc_packs_list(struct gc_packs *list, const struct repo *repo,
		  struct error *err)
{
	char *dir = repo_object_path(repo, "pack");
	struct lister l = {list, dir, err};
	int ret = dir ? sys_dir_each(dir, see_file, &l, err) : error_nomem(err);

	free(dir);
	return ret == ERR_MISSING ? 0 : ret;
}

void gc_packs_release(struct gc_packs *list)
{
	for (size_t i = 0; i < list->nr; i++)
		free(list->packs[i].name);
	free(list->packs);
	*list = (struct gc_packs){NULL, 0, 0};
}

size_t gc_packs_count(const struct gc_packs *list)
{
	size_t nr = 0;

	for (size_t i = 0; i < list->nr; i++)
		nr += !list->packs[i].is_kept;
	return nr;
}

static struct gc_pack *find_largest(struct gc_packs *list)
{
	struct gc_pack *best = NULL;

	for (size_t i = 0; i < list->nr; i++) {
		struct gc_pack *pack = &list->packs[i];

		if (!pack->is_cruft && (!best || pack->size > best->size))
			best = pack;
	}
	return best;
}

size_t gc_packs_keep(struct gc_packs *list, uint64_t threshold)
{
	struct gc_pack *largest = threshold ? NULL : find_largest(list);
	size_t nr = 0;

	for (size_t i = 0; i < list->nr; i++) {
		struct gc_pack *pack = &list->packs[i];
		bool keeps = threshold ? !pack->is_cruft &&
						 pack->size >= threshold
				       : pack == largest;

		nr += keeps;
		pack->stays = keeps;
	}
	return nr;
}

/* ---- loose objects */

struct counter {
	/* length of the file name of a loose object */
	size_t hex_len;
	uint64_t nr;
};

static int count_object(void *ctx, const char *name)
{
	struct counter *c = ctx;

	c->nr += strlen(name) == c->hex_len &&
		 strspn(name, "0123456789abcdef") == c->hex_len;
	return 0;
}

int gc_has_many_loose(const struct repo *repo, uint64_t limit,
		      struct error *err)
{
	struct counter c = {hash_hex_len(repo->algo) - 2, 0};
	char *dir = repo_object_path(repo, "17");
	int ret = dir ? sys_dir_each(dir, count_object, &c, err)
		      : error_nomem(err);

	free(dir);
	if (ret < 0 && ret != ERR_MISSING)
		return ret;
	return c.nr > limit / 256 + (limit % 256 != 0);
}

int gc_is_needed(bool *all, const struct repo *repo, uint64_t auto_limit,
		 uint64_t pack_limit, struct error *err)
{
	struct gc_packs packs = {NULL, 0, 0};
	int ret;

	*all = false;
	if (!auto_limit)
		return 0;
	ret = gc_packs_list(&packs, repo, err);
	if (!ret)
		*all = pack_limit && gc_packs_count(&packs) > pack_limit;
	gc_packs_release(&packs);
	if (ret < 0)
		return ret;
	return *all ? 1 : gc_has_many_loose(repo, auto_limit, err);
}

int gc_borrows_graph(const struct repo *repo, struct error *err)
{
	struct error warning = ERROR_INIT;
	struct buf path = BUF_INIT;
	char **dirs = NULL;
	size_t nr = 0;
	int ret = odb_alternates_list(&dirs, &nr, repo, &warning, err);

	for (size_t i = 1; i < nr && !ret; i++) {
		buf_reset(&path);
		ret = buf_printf(&path,
				 "%s/info/commit-graphs/commit-graph-chain",
				 dirs[i]) < 0
			      ? error_nomem(err)
			      : sys_exists(path.data);
	}
	for (size_t i = 0; i < nr; i++)
		free(dirs[i]);
	free(dirs);
	buf_release(&path);
	return ret;
}
