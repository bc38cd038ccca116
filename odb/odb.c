/* SPDX-License-Identifier: MIT */
/*
 * Opens the snapshot of all packs. Each object of a pack has a number in the
 * snapshot (odb_pos); this file converts between such a number and a pack with
 * a position in its index. odb-find.c searches the snapshot.
 *
 * The packs are sorted: local packs before packs of alternates, newer packs
 * before older ones, and packs with equal times by name. Invariants: packs[i +
 * 1].first_pos == packs[i].first_pos + packs[i].nr. packed_nr fits in 32 bits.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "odb/odb-alternates.h"
#include "odb/odb-midx.h"
#include "odb/odb.h"
#include "odb/pack-list.h"
#include "odb/replaced.h"
#include "sys/io.h"

/*
 * Limits of attempts to list the packs while other processes add and remove
 * packs. LIST_ATTEMPTS applies if packs changed during an attempt, but all
 * listed packs could be opened.
 *
 * WHOLE_ATTEMPTS applies if a listed pack was gone before it was opened. The
 * objects of this pack may be in a pack that was added after the listing, so
 * the snapshot would lack them. A process that gets little CPU time needs many
 * attempts: it may need longer to open the packs than other processes need for
 * a repack.
 */
#define LIST_ATTEMPTS 4
#define WHOLE_ATTEMPTS 100

/* Results of an attempt to list and open packs, in order of severity. */
enum listed {
	LISTED_ALL,
	/*
	 * packs changed during the attempt, so packs that were added may be
	 * missing
	 */
	LISTED_BEFORE_CHANGE,
	/* a listed pack could not be opened any more */
	LISTED_GONE,
};

/*
 * Returns the time of a directory's last change, or 0 if there is no directory.
 */
static int64_t dir_mtime(const char *dir)
{
	struct sys_stat st;

	return sys_stat(&st, dir, NULL) < 0 ? 0 : st.mtime_ns;
}

/*
 * Returns the time of the last change of a pack directory or of its chain of
 * multi-pack-indexes, whichever is later.
 */
static int64_t packs_mtime(const char *dir)
{
	char *chain = odb_midx_chain_path(dir, "");
	int64_t packs = dir_mtime(dir), layers = chain ? dir_mtime(chain) : 0;

	free(chain);
	return packs > layers ? packs : layers;
}

/* Returns whether the packs of directory `i` changed since they were listed. */
static bool dir_has_changed(const struct odb *odb, size_t i)
{
	struct buf dir = BUF_INIT;
	bool changed = true;

	if (!buf_printf(&dir, "%s/pack", odb->dirs[i]))
		changed = packs_mtime(dir.data) != odb->pack_mtimes[i];
	buf_release(&dir);
	return changed;
}

bool odb_has_changed(const struct odb *odb)
{
	for (size_t i = 0; i < odb->dir_nr; i++)
		if (dir_has_changed(odb, i))
			return true;
	return false;
}

static int push_pack(struct odb *odb, size_t *alloc, struct pack *pack,
		     bool is_local, struct error *err)
{
	if (mem_grow(&odb->packs, alloc, (size_t)odb->pack_nr + 1,
		     sizeof(*odb->packs)) < 0)
		return error_nomem(err);
	pack->is_local = is_local;
	pack->ignores_rev = !odb->read_rev;
	odb->packs[odb->pack_nr++] = (struct odb_pack){pack, 0};
	return 0;
}

/*
 * Returns 1 if the index of the pack `base` no longer exists, 0 if it exists,
 * or ERR_NOMEM.
 */
static int is_gone(const char *base)
{
	struct buf path = BUF_INIT;
	int ret = buf_printf(&path, "%s.idx", base);

	if (!ret)
		ret = !sys_exists(path.data);
	buf_release(&path);
	return ret;
}

/*
 * Opens a pack. For the first odb->held_max packs, only a file descriptor is
 * kept open; the file is mapped when it is first read. The file of any further
 * pack is mapped immediately, so that the process does not run out of
 * descriptors. Returns 0 or a negative error code.
 */
static int hold_pack(struct pack **pack, const struct odb *odb,
		     const char *base, const struct pack_side_files *side_files,
		     struct error *err)
{
	int ret = pack_open_with(pack, base, odb->algo, side_files, err);

	if (ret || odb->pack_nr < odb->held_max || pack_bytes(*pack, err))
		return ret;
	pack_close(*pack);
	*pack = NULL;
	return error_recorded(err, ERR_IO);
}

/*
 * Opens one pack. Returns 0 (also if a broken pack is left out), 1 if the pack
 * was removed meanwhile, or a negative error code.
 */
static int open_pack(struct odb *odb, size_t *alloc, const char *base,
		     const struct pack_side_files *side_files, bool is_local,
		     struct error *warning, struct error *err)
{
	struct error why = ERROR_INIT;
	struct pack *pack;
	int ret = hold_pack(&pack, odb, base, side_files, &why);

	if (!ret) {
		ret = push_pack(odb, alloc, pack, is_local, err);
		if (ret < 0)
			pack_close(pack);
		return ret;
	}
	if (ret == ERR_MISSING)
		ret = is_gone(base);
	else if (ret != ERR_NOMEM) {
		if (warning)
			*warning = why;
		odb->warns_of_midx = false;
		ret = 0;
	}
	return ret < 0 ? error_nomem(err) : ret;
}

/*
 * Maps the multi-pack-index of directory `i`, if there is a usable one. Returns
 * 0 or ERR_NOMEM.
 */
static int open_midx(struct odb *odb, size_t i, struct error *warning,
		     struct error *err)
{
	struct error why = ERROR_INIT;
	int ret = odb_midx_open(&odb->midxes[i], odb->dirs[i], odb->algo, &why);

	if (ret == ERR_NOMEM)
		return error_nomem(err);
	if (ret != ERR_MISSING && why.code)
		odb_warn_of_midx(odb, &why, warning);
	return 0;
}

static int open_listed(struct odb *odb, size_t *alloc,
		       const struct pack_list *list, bool is_local,
		       struct error *warning, struct error *err)
{
	bool vanished = false;

	for (size_t p = 0; p < list->nr; p++) {
		const char *base = list->entries[p].base;
		int ret = 0;

		if (!odb->named_only || strrchr(base, '/')[1] != '.')
			ret = open_pack(odb, alloc, base,
					pack_list_side_files(list, p), is_local,
					warning, err);
		if (ret < 0)
			return ret;
		vanished |= ret > 0;
	}
	return vanished;
}

/*
 * Returns 1 if the pack directory `dir` of an alternate is the repository's own
 * one, for example because one of them is a symlink; 0 if not, or ERR_NOMEM.
 */
static int is_own_dir(const struct odb *odb, const char *dir)
{
	struct buf own = BUF_INIT;
	struct sys_stat a, b;
	int ret = buf_printf(&own, "%s/pack", odb->dirs[0]);

	if (!ret)
		ret = !sys_stat(&a, own.data, NULL) &&
		      !sys_stat(&b, dir, NULL) && sys_is_same(&a, &b);
	buf_release(&own);
	return ret;
}

/*
 * Opens the packs of directory `i`. If an alternate shares the repository's own
 * pack directory, the packs in this directory count only as local ones.
 * Otherwise a repack would remove them in the belief that the alternate has
 * another copy. Returns a value of enum listed, or a negative error code.
 */
static int open_packs(struct odb *odb, size_t *alloc, size_t i,
		      struct error *warning, struct error *err)
{
	struct buf dir = BUF_INIT;
	struct pack_list list = {0};
	int ret, vanished = 0;

	if (buf_printf(&dir, "%s/pack", odb->dirs[i]) < 0) {
		ret = error_nomem(err);
		goto out;
	}
	odb->pack_mtimes[i] = packs_mtime(dir.data);
	ret = i ? is_own_dir(odb, dir.data) : 0;
	if (ret) {
		ret = ret < 0 ? error_nomem(err) : LISTED_ALL;
		goto out;
	}
	ret = pack_list_read(&list, dir.data, err);
	if (!ret)
		ret = vanished = open_listed(odb, alloc, &list, !i, warning,
					     err);
	if (ret >= 0 && odb->use_midx)
		ret = open_midx(odb, i, warning, err);
	if (ret >= 0)
		ret = vanished                  ? LISTED_GONE
		      : dir_has_changed(odb, i) ? LISTED_BEFORE_CHANGE
						: LISTED_ALL;
out:
	pack_list_release(&list);
	buf_release(&dir);
	return ret;
}

static void close_packs(struct odb *odb)
{
	while (odb->pack_nr)
		pack_close(odb->packs[--odb->pack_nr].pack);
	for (size_t i = 0; i < odb->dir_nr && odb->midxes; i++) {
		odb_midx_close(odb->midxes[i]);
		odb->midxes[i] = NULL;
	}
}

static int cmp_packs(const void *va, const void *vb)
{
	const struct pack *a = ((const struct odb_pack *)va)->pack;
	const struct pack *b = ((const struct odb_pack *)vb)->pack;

	if (a->is_local != b->is_local)
		return a->is_local ? -1 : 1;
	if (a->mtime_ns != b->mtime_ns)
		return a->mtime_ns > b->mtime_ns ? -1 : 1;
	return strcmp(a->path, b->path);
}

static int number_packs(struct odb *odb, struct error *err)
{
	uint64_t next = 0;
	uint32_t i;

	if (odb->pack_nr)
		qsort(odb->packs, odb->pack_nr, sizeof(*odb->packs), cmp_packs);
	for (i = 0; i < odb->pack_nr; i++) {
		odb->packs[i].first_pos = (uint32_t)next;
		next += odb->packs[i].pack->idx.nr;
		if (next >= UINT32_MAX)
			return error_set(err, ERR_UNSUPPORTED,
					 "too many packed objects");
	}
	odb->packed_nr = (uint32_t)next;
	return 0;
}

/*
 * Makes one attempt to list and open the packs of all directories. Returns the
 * most severe result that open_packs() gave, a value of `enum listed`, or a
 * negative error code.
 */
static int try_all_packs(struct odb *odb, size_t *alloc, struct error *warning,
			 struct error *err)
{
	int worst = LISTED_ALL;

	for (size_t i = 0; i < odb->dir_nr; i++) {
		int ret = open_packs(odb, alloc, i, warning, err);

		if (ret < 0)
			return ret;
		if (ret > worst)
			worst = ret;
	}
	return worst;
}

/*
 * Opens the packs of all directories, in several attempts if packs change
 * meanwhile. Warnings of earlier attempts are dropped, because a file that was
 * broken then may be gone. If a file is broken in the last attempt, *warning is
 * set. But a warning that the caller has set before stays, unless a pack is
 * broken. Returns 0 or a negative error code.
 */
static int open_all_packs(struct odb *odb, struct error *warning,
			  struct error *err)
{
	const struct error before = warning ? *warning
					    : (struct error)ERROR_INIT;
	size_t alloc = 0;
	unsigned attempt = 0, max;
	int ret;

	do {
		close_packs(odb);
		odb->warns_of_midx = false;
		if (warning)
			*warning = before;
		ret = try_all_packs(odb, &alloc, warning, err);
		max = ret == LISTED_GONE ? WHOLE_ATTEMPTS : LIST_ATTEMPTS;
	} while (ret > LISTED_ALL && ++attempt < max);
	if (ret == LISTED_GONE)
		return error_set(err, ERR_IO,
				 "%s/pack: packs are removed faster than they "
				 "can be opened",
				 odb->dirs[0]);
	return ret < 0 ? ret : number_packs(odb, err);
}

static int load_config(struct odb *odb, struct error *err)
{
	const struct config *config = &odb->repo->config;
	int ret = 0;

	odb->read_rev = true;
	odb->max_tree_depth = ODB_MAX_TREE_DEPTH;
	if (odb->use_midx)
		ret = config_bool(config, "core.multipackindex", &odb->use_midx,
				  err);
	if (ret >= 0)
		ret = config_bool(config, "pack.readreverseindex",
				  &odb->read_rev, err);
	if (ret >= 0)
		ret = config_i64(config, "core.maxtreedepth",
				 &odb->max_tree_depth, err);
	if (odb->max_tree_depth > ODB_MAX_TREE_DEPTH)
		odb->max_tree_depth = ODB_MAX_TREE_DEPTH;
	return ret < 0 ? ret : 0;
}

/*
 * Opens the packs and multi-pack-indexes of all directories. Uses
 * multi-pack-indexes only if odb->use_midx and core.multiPackIndex are true.
 * Returns 0 or a negative error code.
 */
static int open_contents(struct odb *odb, struct error *warning,
			 struct error *err)
{
	int ret = odb_alternates_list(&odb->dirs, &odb->dir_nr, odb->repo,
				      warning, err);

	if (!ret)
		ret = load_config(odb, err);
	if (ret < 0)
		return ret;
	odb->pack_mtimes = mem_calloc(odb->dir_nr, sizeof(*odb->pack_mtimes));
	odb->midxes = mem_calloc(odb->dir_nr, sizeof(*odb->midxes));
	if (!odb->pack_mtimes || !odb->midxes)
		return error_nomem(err);
	ret = open_all_packs(odb, warning, err);
	return ret < 0 ? ret : odb_sources_init(odb, warning, err);
}

/* The options in which odb_open() and its variants differ. */
struct how {
	bool use_midx;
	bool named_only;
	size_t held_max;
};

static int open_odb(struct odb **out, const struct repo *repo,
		    const struct how *how, struct error *warning,
		    struct error *err)
{
	struct odb *odb = mem_calloc(1, sizeof(*odb));
	int ret;

	*out = NULL;
	if (warning)
		*warning = (struct error)ERROR_INIT;
	if (!odb)
		return error_nomem(err);
	pthread_mutex_init(&odb->provider_lock, NULL);
	odb->repo = repo;
	odb->algo = repo->algo;
	odb->use_midx = how->use_midx;
	odb->named_only = how->named_only;
	odb->held_max = how->held_max;
	ret = open_contents(odb, warning, err);
	if (ret < 0)
		odb_close(odb);
	else
		*out = odb;
	return ret;
}

int odb_open(struct odb **out, const struct repo *repo, struct error *warning,
	     struct error *err)
{
	const struct how how = {.use_midx = true};

	return open_odb(out, repo, &how, warning, err);
}

int odb_open_held(struct odb **out, const struct repo *repo,
		  struct error *warning, struct error *err)
{
	const struct how how = {.use_midx = true, .held_max = sys_held_max()};

	return open_odb(out, repo, &how, warning, err);
}

int odb_open_named(struct odb **out, const struct repo *repo,
		   struct error *warning, struct error *err)
{
	const struct how how = {.use_midx = true, .named_only = true};

	return open_odb(out, repo, &how, warning, err);
}

int odb_open_whole(struct odb **out, const struct repo *repo, struct error *err)
{
	struct error warning = ERROR_INIT;
	int ret = odb_open_named(out, repo, &warning, err);

	if (ret || !warning.code || (*out)->warns_of_midx)
		return ret;
	odb_close(*out);
	*out = NULL;
	return error_set(err, warning.code, "%s", warning.msg);
}

int odb_open_packs(struct odb **out, const struct repo *repo,
		   struct error *warning, struct error *err)
{
	const struct how how = {.use_midx = false};

	return open_odb(out, repo, &how, warning, err);
}

void odb_close(struct odb *odb)
{
	size_t i;

	if (!odb)
		return;
	close_packs(odb);
	free(odb->packs);
	free(odb->midxes);
	free(odb->sources);
	for (i = 0; i < odb->dir_nr; i++)
		free(odb->dirs[i]);
	free(odb->dirs);
	free(odb->pack_mtimes);
	odb_replaced_free(odb->replaced);
	pthread_mutex_destroy(&odb->provider_lock);
	free(odb);
}

void odb_set_provider(struct odb *odb, const struct odb_provider *provider)
{
	odb->provider = provider;
}

const struct odb_pack *odb_locate(const struct odb *odb, uint32_t odb_pos,
				  uint32_t *idx_pos)
{
	uint32_t low = 0, high = odb->pack_nr;

	/* Binary search for the last pack that starts at or before odb_pos. */
	while (high - low > 1) {
		uint32_t mid = low + (high - low) / 2;

		if (odb->packs[mid].first_pos <= odb_pos)
			low = mid;
		else
			high = mid;
	}
	*idx_pos = odb_pos - odb->packs[low].first_pos;
	return &odb->packs[low];
}

uint64_t odb_offset(const struct odb *odb, uint32_t odb_pos, struct pack **pack)
{
	uint32_t idx_pos;
	const struct odb_pack *op = odb_locate(odb, odb_pos, &idx_pos);

	if (pack)
		*pack = op->pack;
	return pack_idx_offset(&op->pack->idx, idx_pos);
}

const uint8_t *odb_oid_raw(const struct odb *odb, uint32_t odb_pos)
{
	uint32_t idx_pos;
	const struct odb_pack *op = odb_locate(odb, odb_pos, &idx_pos);

	return pack_idx_oid(&op->pack->idx, idx_pos);
}

void odb_oid(struct oid *out, const struct odb *odb, uint32_t odb_pos)
{
	oid_from_raw(out, odb_oid_raw(odb, odb_pos), odb->algo);
}

bool odb_stores(const struct odb *odb, const struct oid *oid)
{
	uint32_t odb_pos;

	return odb_find(odb, oid, &odb_pos) || odb_has_loose(odb, oid);
}

bool odb_has(const struct odb *odb, const struct oid *oid)
{
	return oid_equal(oid, oid_empty_tree(odb->algo)) ||
	       odb_stores(odb, oid);
}
