/* SPDX-License-Identifier: MIT */
/* Removes loose objects that are also in packs. */
#include <stdlib.h>

#include "base/mem.h"
#include "odb/freshen.h"
#include "odb/odb.h"
#include "pack/mtimes.h"
#include "packs/old-packs.h"
#include "repack/prune-packed.h"
#include "sys/dirlock.h"
#include "sys/io.h"

enum { FANOUT_NR = 256, NS_PER_S = 1000000000 };

/* The times of one pack and of its objects. */
struct pack_times {
	/* the .mtimes file of a cruft pack; valid if `is_open` */
	struct pack_mtimes_file file;
	bool is_tried, is_open;
	/*
	 * whether the pack still exists. It is looked for once for each
	 * directory of loose objects: a lock is held meanwhile (struct prune)
	 */
	bool is_there;
	/*
	 * 1 + the first byte of the ids in the directory of loose objects for
	 * which is_there is valid; 0: for none
	 */
	unsigned looked_at;
	/* whether the modification time of the pack was set to now */
	enum freshen_state freshness;
};

struct prune {
	const struct odb *odb;
	/* owned array, one for each pack */
	struct pack_times *times;
	const struct prune_packed_options *options;
	struct progress progress;
	/*
	 * The first byte of the ids in the directory of loose objects that is
	 * being visited.
	 */
	unsigned first;
	/*
	 * A result of sys_dirlock_take() for the directory of packs. While the
	 * lock is held, no other process removes a pack because its objects
	 * also exist as loose files. The lock is taken for one directory of
	 * loose objects at a time.
	 */
	int lock;
	struct error *err;
};

/*
 * Returns whether the .mtimes file of cruft pack `nr` has a time of `seconds`
 * or later for the object. The modification time of the pack does not count:
 * the pack may be younger than a loose copy of the object, but have an older
 * time for the object in its .mtimes file.
 */
static bool is_noted(struct prune *p, uint32_t nr, uint32_t idx_pos,
		     uint32_t seconds)
{
	struct pack_times *t = &p->times[nr];

	if (!t->is_tried) {
		t->is_tried = true;
		t->is_open = !pack_mtimes_open(&t->file, p->odb->packs[nr].pack,
					       NULL);
		if (!t->is_open)
			pack_mtimes_close(&t->file);
	}
	return t->is_open &&
	       pack_mtimes_get(&t->file.times, idx_pos) >= seconds;
}

/*
 * Returns true if pack `nr`, which has no .mtimes file, is at least as young as
 * the loose file. If the pack is older, tries once to set its modification time
 * to now. Returns true if this succeeded, otherwise false. A dry run sets no
 * time, and returns true.
 */
static bool takes_time(struct prune *p, uint32_t nr, int64_t mtime_ns)
{
	struct pack_times *t = &p->times[nr];
	const struct pack *pack = p->odb->packs[nr].pack;

	return p->options->dry_run ||
	       freshen_pack(&t->freshness, pack, mtime_ns);
}

/* Returns whether pack `nr` was not removed. */
static bool is_there(struct prune *p, uint32_t nr)
{
	struct pack_times *t = &p->times[nr];

	if (t->looked_at != p->first + 1) {
		t->looked_at = p->first + 1;
		t->is_there = !old_packs_is_gone(p->odb->packs[nr].pack);
	}
	return t->is_there;
}

/*
 * Returns whether pack `nr`, which has the object, still exists, and has the
 * object with a time that is not earlier than the time of the loose file.
 */
static bool suffices(struct prune *p, uint32_t nr, uint32_t idx_pos,
		     int64_t mtime_ns)
{
	if (!is_there(p, nr))
		return false;
	return p->odb->packs[nr].pack->is_cruft
		       ? is_noted(p, nr, idx_pos,
				  pack_mtimes_clamp(mtime_ns / NS_PER_S))
		       : takes_time(p, nr, mtime_ns);
}

/*
 * Returns whether the loose file may be removed. There may be many packs, so
 * the pack in which the object was found is tried first.
 */
static bool is_redundant(struct prune *p, const struct oid *oid,
			 const char *path)
{
	const struct odb *odb = p->odb;
	const struct odb_pack *first;
	uint32_t odb_pos, idx_pos;
	struct sys_stat st;

	if (!odb_find(odb, oid, &odb_pos) || sys_stat(&st, path, NULL) < 0)
		return false;
	first = odb_locate(odb, odb_pos, &idx_pos);
	if (suffices(p, (uint32_t)(first - odb->packs), idx_pos, st.mtime_ns))
		return true;
	for (uint32_t i = 0; i < odb->pack_nr; i++)
		if (pack_idx_find(&odb->packs[i].pack->idx, oid->bytes,
				  &idx_pos) &&
		    suffices(p, i, idx_pos, st.mtime_ns))
			return true;
	return false;
}

/*
 * Begins the directory of loose objects whose ids start with the byte `first`.
 * Returns 0, ERR_DENIED if another process keeps the lock, or ERR_NOMEM.
 */
static int begin_dir(struct prune *p, unsigned first)
{
	struct buf dir = BUF_INIT;

	p->first = first;
	progress_set(&p->progress, first + 1);
	if (p->options->dry_run)
		return 0;
	sys_dirlock_drop(p->lock);
	p->lock = buf_printf(&dir, "%s/pack", p->odb->dirs[0]) < 0
			  ? error_nomem(p->err)
			  : sys_dirlock_take(dir.data, SYS_DIRLOCK_PACKS_MS,
					     p->err);
	buf_release(&dir);
	return p->lock < 0 ? p->lock : 0;
}

static int prune_one(void *ctx, const struct oid *oid, const char *path)
{
	struct prune *p = ctx;
	int ret = oid->bytes[0] != p->first ? begin_dir(p, oid->bytes[0]) : 0;

	if (ret < 0)
		return ret;
	if (!is_redundant(p, oid, path))
		return 0;
	if (p->options->removing)
		p->options->removing(p->options->ctx, path);
	return p->options->dry_run ? 0 : sys_unlink(path, p->err);
}

/*
 * Remove the empty ones of the 256 directories of loose objects. Failures are
 * ignored: an empty directory does no harm, and on a read-only file system
 * every removal fails. Returns 0 or ERR_NOMEM.
 */
static int remove_empty(const struct odb *odb, struct error *err)
{
	struct buf path = BUF_INIT;
	int ret = 0;

	for (unsigned i = 0; i < FANOUT_NR && !ret; i++) {
		buf_reset(&path);
		if (buf_printf(&path, "%s/%02x", odb->dirs[0], i) < 0)
			ret = error_nomem(err);
		else if (sys_exists(path.data))
			sys_rmdir(path.data, NULL);
	}
	buf_release(&path);
	return ret;
}

int prune_packed(const struct repo *repo,
		 const struct prune_packed_options *options, struct error *err)
{
	struct prune p = {.options = options,
			  .first = FANOUT_NR,
			  .lock = SYS_DIRLOCK_NONE,
			  .err = err};
	struct odb *odb;
	int ret = odb_open_named(&odb, repo, NULL, err);

	if (ret < 0)
		return ret;
	p.odb = odb;
	p.times = mem_calloc(odb->pack_nr, sizeof(*p.times));
	if (!p.times) {
		odb_close(odb);
		return error_nomem(err);
	}
	progress_start(&p.progress, options->progress,
		       "Removing duplicate objects", FANOUT_NR);
	ret = odb_each_loose(odb, true, prune_one, &p, err);
	sys_dirlock_drop(p.lock);
	if (!ret && !options->dry_run)
		ret = remove_empty(odb, err);
	if (!ret)
		progress_set(&p.progress, FANOUT_NR);
	progress_stop(&p.progress);
	for (uint32_t i = 0; i < odb->pack_nr; i++)
		if (p.times[i].is_open)
			pack_mtimes_close(&p.times[i].file);
	free(p.times);
	odb_close(odb);
	return ret;
}
