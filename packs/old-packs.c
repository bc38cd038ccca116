/* SPDX-License-Identifier: MIT */
/*
 * Lists the packs that exist before a repack, and removes those that became
 * redundant.
 */
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "pack/pack-name.h"
#include "packs/multi-pack-remove.h"
#include "packs/old-packs.h"
#include "sys/cleanup.h"
#include "sys/dirlock.h"
#include "sys/io.h"

/*
 * The files of a pack, in the order in which they are removed: the .idx first.
 */
static const char *const extensions[] = {
	"idx", "rev", "bitmap", "mtimes", "promisor", "pack",
};

struct listing {
	struct old_packs *old;
	struct error *err;
};

static int stat_file(struct sys_stat *st, const char *base,
		     const char *extension, struct error *err)
{
	struct buf path = BUF_INIT;
	int ret = buf_printf(&path, "%s.%s", base, extension) < 0
			  ? error_nomem(err)
			  : sys_stat(st, path.data, err);

	buf_release(&path);
	return ret;
}

static int stat_idx(struct sys_stat *st, const char *base, struct error *err)
{
	return stat_file(st, base, "idx", err);
}

static bool has_file(const char *base, const char *extension)
{
	struct buf path = BUF_INIT;
	bool exists = buf_printf(&path, "%s.%s", base, extension) == 0 &&
		      sys_exists(path.data);

	buf_release(&path);
	return exists;
}

/*
 * Add a pack to the list if it has both an .idx and a .pack file. Readers use
 * no other packs. Returns 0 or a negative error code.
 */
static int add_pack(struct old_packs *old, const char *base, struct error *err)
{
	struct old_pack pack = {.base = mem_strdup(base)};
	int ret = pack.base ? stat_idx(&pack.idx, base, err) : error_nomem(err);
	struct sys_stat st;

	if (!ret)
		ret = stat_file(&st, base, "pack", err);
	if (!ret && mem_grow(&old->packs, &old->alloc, old->nr + 1,
			     sizeof(*old->packs)) < 0)
		ret = error_nomem(err);
	if (ret < 0) {
		free(pack.base);
		return ret == ERR_MISSING ? 0 : ret;
	}
	pack.mtime_ns = st.mtime_ns;
	old->packs[old->nr++] = pack;
	return 0;
}

static int list_entry(void *ctx, const char *name)
{
	struct listing *l = ctx;
	size_t len = pack_name_len(name);
	struct buf base = BUF_INIT;
	int ret = 0;

	if (!len || strcmp(name + len, ".idx") != 0)
		return 0;
	if (buf_printf(&base, "%s/%.*s", l->old->dir, (int)len, name) < 0)
		return error_nomem(l->err);
	if (!has_file(base.data, "keep"))
		ret = add_pack(l->old, base.data, l->err);
	buf_release(&base);
	return ret;
}

static const char *name_of(const struct old_pack *pack)
{
	return strrchr(pack->base, '/') + 1;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(name_of(a), name_of(b));
}

static void sort_by_name(struct old_packs *old)
{
	if (old->nr)
		qsort(old->packs, old->nr, sizeof(*old->packs), by_name);
}

static int compare_name(const void *name, const void *pack)
{
	return strcmp(name, name_of(pack));
}

int old_packs_list(struct old_packs *old, const char *dir, struct error *err)
{
	struct listing l = {old, err};
	int ret;

	*old = (struct old_packs){.dir = mem_strdup(dir)};
	if (!old->dir)
		return error_nomem(err);
	ret = sys_dir_each(dir, list_entry, &l, err);
	sort_by_name(old);
	return ret == ERR_MISSING ? 0 : ret;
}

void old_packs_release(struct old_packs *old)
{
	for (size_t i = 0; i < old->nr; i++)
		free(old->packs[i].base);
	free(old->packs);
	free(old->dir);
	*old = (struct old_packs){0};
}

bool old_packs_has(const struct old_packs *old, const struct pack *pack)
{
	return old->nr && bsearch(pack->name, old->packs, old->nr,
				  sizeof(*old->packs), compare_name);
}

static bool is_freshened(const struct old_pack *pack)
{
	struct sys_stat now;

	return !stat_file(&now, pack->base, "pack", NULL) &&
	       now.mtime_ns != pack->mtime_ns;
}

/*
 * Remove packs from the list by name: the packs whose names are in `names` if
 * `named` is true, all other packs if `named` is false.
 */
static void filter(struct old_packs *old, const struct strlist *names,
		   bool named)
{
	size_t kept = 0;

	for (size_t i = 0; i < old->nr; i++)
		if (pack_names_has(names, name_of(&old->packs[i])) == named)
			free(old->packs[i].base);
		else
			old->packs[kept++] = old->packs[i];
	old->nr = kept;
}

void old_packs_spare(struct old_packs *old, const char *name)
{
	char *names[] = {(char *)(uintptr_t)name};

	filter(old, &(struct strlist){.items = names, .nr = 1}, true);
}

void old_packs_retain(struct old_packs *old, const struct strlist *names)
{
	filter(old, names, false);
}

void old_packs_spare_kept(struct old_packs *old, const struct odb *odb)
{
	for (uint32_t i = 0; i < odb->pack_nr; i++) {
		const struct pack *pack = odb->packs[i].pack;

		if (pack->is_local && pack->is_kept)
			old_packs_spare(old, pack->name);
	}
}

/*
 * Returns whether the .pack file of `pack` is a symlink to the file with the
 * same name in directory `dir`. If memory runs out, returns true.
 */
static bool is_link_into(const char *dir, const struct pack *pack)
{
	struct buf path = BUF_INIT, target = BUF_INIT;
	struct sys_stat link, a, b;
	bool is_link = true;

	if (!buf_printf(&path, "%s.pack", pack->path) &&
	    !buf_printf(&target, "%s/%s.pack", dir, pack->name))
		is_link = !sys_lstat(&link, path.data, NULL) && link.is_link &&
			  !sys_stat(&a, path.data, NULL) &&
			  !sys_stat(&b, target.data, NULL) &&
			  sys_is_same(&a, &b);
	buf_release(&path);
	buf_release(&target);
	return is_link;
}

void old_packs_spare_linked(struct old_packs *old, const struct odb *odb)
{
	for (uint32_t i = 0; i < odb->pack_nr; i++) {
		const struct pack *pack = odb->packs[i].pack;

		if (!pack->is_local && old_packs_has(old, pack) &&
		    is_link_into(old->dir, pack))
			old_packs_spare(old, pack->name);
	}
}

static int remove_file(const char *base, const char *extension,
		       struct error *err)
{
	struct buf path = BUF_INIT;
	int ret = buf_printf(&path, "%s.%s", base, extension) < 0
			  ? error_nomem(err)
			  : sys_unlink(path.data, err);

	buf_release(&path);
	return ret;
}

static bool is_redundant(const struct old_pack *pack)
{
	struct sys_stat now;

	/*
	 * Keep a pack that got a .keep file after the old packs were listed.
	 * Unless it has --pack-kept-objects, a repack leaves objects of packs
	 * with a .keep file out of the new pack. So if the .keep file was made
	 * before the repack looked for the objects, the new pack lacks the
	 * objects of this pack.
	 */
	return !has_file(pack->base, "keep") &&
	       !stat_idx(&now, pack->base, NULL) &&
	       sys_is_same(&now, &pack->idx) &&
	       now.mtime_ns == pack->idx.mtime_ns;
}

int old_pack_remove(const char *base, struct error *err)
{
	struct sys_hold hold;
	int ret = 0;

	/*
	 * Hold signals until all files of the pack are removed. If only the
	 * .idx were removed, nobody would ever remove the .pack.
	 */
	sys_hold_signals(&hold);
	for (size_t i = 0; i < ARRAY_NR(extensions) && !ret; i++)
		ret = remove_file(base, extensions[i], err);
	sys_release_signals(&hold);
	return ret;
}

int old_packs_names(struct strlist *names, const struct old_packs *old)
{
	int ret = 0;

	for (size_t i = 0; i < old->nr && !ret; i++)
		if (is_redundant(&old->packs[i]))
			ret = strlist_add(names, name_of(&old->packs[i]));
	return ret;
}

bool old_packs_is_gone(const struct pack *pack)
{
	struct buf path = BUF_INIT;
	bool gone = !buf_printf(&path, "%s.idx", pack->path) &&
		    !sys_exists(path.data);

	buf_release(&path);
	return gone;
}

int old_packs_spare_freshened(struct old_packs *old,
			      const struct old_packs_guard *guard,
			      struct error *err)
{
	struct strlist names = STRLIST_INIT;
	int ret = 0;

	for (size_t i = 0; i < old->nr && !ret; i++) {
		const char *name = name_of(&old->packs[i]);

		if (is_freshened(&old->packs[i]) &&
		    (!guard->may_age || guard->may_age(guard->ctx, name)))
			ret = strlist_add(&names, name);
	}
	filter(old, &names, true);
	strlist_release(&names);
	return ret < 0 ? error_nomem(err) : 0;
}

bool old_packs_is_in_use(const struct pack *pack)
{
	struct sys_stat now;

	return has_file(pack->path, "keep") ||
	       (!stat_file(&now, pack->path, "pack", NULL) &&
		now.mtime_ns != pack->mtime_ns);
}

static int report_gone(const char *name, struct error *err)
{
	return error_set(err, ERR_MISSING,
			 "no pack is removed, because %s was removed meanwhile",
			 name);
}

/* Returns 0 if all packs that the caller has made exist, or an error code. */
static int check_made(const struct old_packs *old, const struct strlist *made,
		      struct error *err)
{
	struct buf base = BUF_INIT;
	int ret = 0;

	for (size_t i = 0; i < made->nr && old->nr && !ret; i++) {
		buf_reset(&base);
		if (buf_printf(&base, "%s/%s", old->dir, made->items[i]) < 0)
			ret = error_nomem(err);
		else if (!has_file(base.data, "idx"))
			ret = report_gone(made->items[i], err);
	}
	buf_release(&base);
	return ret;
}

/*
 * Returns 0 if all packs on which the caller relies exist, otherwise
 * ERR_MISSING.
 */
static int check_relied(const struct old_packs *old,
			const struct old_packs_guard *guard, struct error *err)
{
	for (uint32_t i = 0; i < guard->odb->pack_nr && old->nr; i++) {
		const struct pack *pack = guard->odb->packs[i].pack;

		if (pack->is_local && !old_packs_has(old, pack) &&
		    (!guard->relies_on || guard->relies_on(guard->ctx, pack)) &&
		    old_packs_is_gone(pack))
			return report_gone(pack->name, err);
	}
	return guard->made ? check_made(old, guard->made, err) : 0;
}

static int check_last(struct old_packs *old,
		      const struct old_packs_guard *guard, struct error *err)
{
	int ret = guard ? check_relied(old, guard, err) : 0;

	if (!ret && guard && guard->check)
		ret = guard->check(guard->ctx, err);
	return ret < 0 || !guard ? ret
				 : old_packs_spare_freshened(old, guard, err);
}

static int newest_first(const void *a, const void *b)
{
	int64_t x = ((const struct old_pack *)a)->idx.mtime_ns;
	int64_t y = ((const struct old_pack *)b)->idx.mtime_ns;

	return x < y ? 1 : x > y ? -1 : by_name(a, b);
}

/* Returns 0 or a negative error code. */
static int remove_newest_first(struct old_packs *old, struct error *err)
{
	int ret = 0;

	if (old->nr)
		qsort(old->packs, old->nr, sizeof(*old->packs), newest_first);
	for (size_t i = 0; i < old->nr && !ret; i++)
		if (is_redundant(&old->packs[i]))
			ret = old_pack_remove(old->packs[i].base, err);
	sort_by_name(old);
	return ret;
}

/* Releases `midx`, the lock of the multi-pack-indexes, as soon as possible. */
static int remove_locked(struct old_packs *old,
			 const struct old_packs_guard *guard,
			 struct sys_tempfile *midx, struct error *err)
{
	struct strlist names = STRLIST_INIT;
	int ret = check_last(old, guard, err);

	if (!ret && old_packs_names(&names, old) < 0)
		ret = error_nomem(err);
	if (!ret)
		ret = multi_pack_remove_naming(old->dir, &names, err);
	sys_tempfile_abort(midx);
	strlist_release(&names);
	return ret < 0 ? ret : remove_newest_first(old, err);
}

/*
 * Calls guard->held with the message about the lock of another process
 * (sys/lockfile.h) as one line.
 */
static void tell_held(const struct old_packs_guard *guard,
		      const struct error *held)
{
	struct error line = ERROR_INIT;
	char *at;

	if (!guard || !guard->held)
		return;
	error_set(&line, ERR_DENIED, "packs are removed without a lock: %s",
		  held->msg);
	for (at = line.msg; (at = strchr(at, '\n'));)
		if (at[1] == '\n')
			memmove(at, at + 1, strlen(at));
		else
			*at = ' ';
	guard->held(guard->ctx, line.msg);
}

int old_packs_remove(struct old_packs *old, const struct old_packs_guard *guard,
		     struct error *err)
{
	struct sys_tempfile midx = SYS_TEMPFILE_INIT;
	struct error held;
	int lock = SYS_DIRLOCK_NONE;
	int ret = multi_pack_lock_removal(&midx, old->dir, old->share, &held,
					  err);

	if (!ret && held.code && old->nr)
		tell_held(guard, &held);
	if (!ret)
		lock = sys_dirlock_take(old->dir, SYS_DIRLOCK_PACKS_MS, err);
	if (!ret)
		ret = lock < 0 ? lock : remove_locked(old, guard, &midx, err);
	sys_dirlock_drop(lock);
	sys_tempfile_abort(&midx);
	return ret;
}

/* Remove the files of one pack if it has an .idx but no .pack file. */
static int remove_lone(void *ctx, const char *name)
{
	const struct listing *l = ctx;
	size_t len = pack_name_len(name);
	struct buf base = BUF_INIT;
	struct sys_stat st;
	int ret = 0;

	if (!len || strcmp(name + len, ".idx") != 0)
		return 0;
	if (buf_printf(&base, "%s/%.*s", l->old->dir, (int)len, name) < 0)
		return error_nomem(l->err);
	if (!has_file(base.data, "pack") && !stat_idx(&st, base.data, NULL) &&
	    st.is_file) {
		ret = old_pack_remove(base.data, l->err);
		if (!ret)
			ret = remove_file(base.data, "keep", l->err);
	}
	buf_release(&base);
	return ret;
}

int old_packs_remove_lone(const char *dir, struct error *err)
{
	struct old_packs old = {.dir = mem_strdup(dir)};
	struct listing l = {&old, err};
	int ret = old.dir ? sys_dir_each(dir, remove_lone, &l, err)
			  : error_nomem(err);

	old_packs_release(&old);
	return ret == ERR_MISSING ? 0 : ret;
}
