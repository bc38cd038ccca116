/* SPDX-License-Identifier: MIT */
/* Removes loose objects that are also in packs. */
#include <stdlib.h>

#include "base/mem.h"
#include "odb/freshen.h"
#include "odb/odb.h"
#include "pack/mtimes.h"
#include "packs/old-packs.h"
#include "repack/prune-packed.h"
#include "sys/clock.h"
#include "sys/dirlock.h"
#include "sys/io.h"

enum {
	FANOUT_NR = 256,
	NS_PER_S = 1000000000,
	/* Other processes may take the lock after each such time. */
	TURN_NS = 100000000,
	/* a positive result of prune_one(): another process keeps the lock */
	IS_LOCKED = 1,
};

/* The times of one pack and of its objects. */
struct pack_times {
	/* the .mtimes file of a cruft pack; valid if `is_open` */
	struct pack_mtimes_file file;
	bool is_tried, is_open;
	/*
	 * whether the pack still existed in the turn `looked_at` (struct prune)
	 */
	bool is_there;
	/* the last turn in which the pack was looked for; 0: none */
	uint64_t looked_at;
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
	/* owned: the repository's own directory of packs */
	struct buf pack_dir;
	/*
	 * A result of sys_dirlock_take() for `pack_dir`. While the lock is
	 * held, no other process removes a pack of this directory because its
	 * objects also exist as loose files.
	 */
	int lock;
	/*
	 * The time during which the lock is held without a break is a turn. A
	 * turn lasts about TURN_NS. The turns are counted from 1; 0: none has
	 * begun.
	 */
	uint64_t turn;
	uint64_t turn_ns;  /* the time when the turn began (sys_clock_ns()) */
	struct error held; /* why the lock is not held; set with IS_LOCKED */
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

/*
 * Returns whether pack `nr` still exists. Looks for the pack once in each turn.
 * During the turn, no process that takes the lock removes a pack of
 * `pack_dir`. A pack of an alternate can be removed, because only `pack_dir` is
 * locked. The owner of the alternate must keep the objects that other
 * repositories borrow, in this pack or in another one.
 */
static bool is_there(struct prune *p, uint32_t nr)
{
	struct pack_times *t = &p->times[nr];

	if (t->looked_at != p->turn) {
		t->looked_at = p->turn;
		t->is_there = !old_packs_is_gone(p->odb->packs[nr].pack);
	}
	return t->is_there;
}

/*
 * Pack `nr` has the object. Returns whether the pack still exists, its delta
 * chain of the object ends, and the pack has the object with a time that is not
 * earlier than the time of the loose file.
 */
static bool suffices(struct prune *p, uint32_t nr, uint32_t idx_pos,
		     int64_t mtime_ns)
{
	if (!is_there(p, nr) ||
	    !pack_chain_ends(p->odb->packs[nr].pack, idx_pos))
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
 * Begins the first turn, or the next one if this turn has lasted for TURN_NS. A
 * turn is a time for which this process holds the lock of the packs without
 * letting other processes have it. A dry run has turns, too, but takes no lock.
 * Returns 0, or IS_LOCKED if another process keeps the lock.
 */
static int take_turn(struct prune *p)
{
	if (p->turn && sys_clock_ns() - p->turn_ns < TURN_NS)
		return 0;
	if (!p->options->dry_run)
		p->lock = sys_dirlock_yield(p->lock, p->pack_dir.data,
					    PRUNE_PACKED_LOCK_MS, &p->held);
	p->turn++;
	p->turn_ns = sys_clock_ns();
	return p->lock < 0 ? IS_LOCKED : 0;
}

static int prune_one(void *ctx, const struct oid *oid, const char *path)
{
	struct prune *p = ctx;
	int ret = take_turn(p);

	if (ret)
		return ret;
	if (oid->bytes[0] != p->first) {
		p->first = oid->bytes[0];
		progress_set(&p->progress, p->first + 1);
	}
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

/* Free what *p owns, and drop the lock. */
static void release(struct prune *p)
{
	sys_dirlock_drop(p->lock);
	for (uint32_t i = 0; p->times && i < p->odb->pack_nr; i++)
		if (p->times[i].is_open)
			pack_mtimes_close(&p->times[i].file);
	free(p->times);
	buf_release(&p->pack_dir);
}

/* Tell the caller that not all redundant loose objects were removed. */
static void warn_locked(const struct prune *p)
{
	struct error line = ERROR_INIT;

	if (!p->options->warn)
		return;
	error_set(&line, ERR_DENIED,
		  "loose objects that are also in packs are left: %s",
		  p->held.msg);
	p->options->warn(p->options->ctx, line.msg);
}

/* Works like prune_packed() for an open odb. */
static int prune_loose(const struct odb *odb,
		       const struct prune_packed_options *options,
		       struct error *err)
{
	struct prune p = {.odb = odb,
			  .times = mem_calloc(odb->pack_nr, sizeof(*p.times)),
			  .options = options,
			  .first = FANOUT_NR,
			  .pack_dir = BUF_INIT,
			  .lock = SYS_DIRLOCK_NONE,
			  .held = ERROR_INIT,
			  .err = err};
	int ret = 0;

	if (!p.times || buf_printf(&p.pack_dir, "%s/pack", odb->dirs[0]) < 0)
		ret = error_nomem(err);
	progress_start(&p.progress, options->progress,
		       "Removing duplicate objects", FANOUT_NR);
	if (!ret)
		ret = odb_each_loose(odb, true, prune_one, &p, err);
	release(&p);
	if (!ret && !options->dry_run)
		ret = remove_empty(odb, err);
	if (!ret)
		progress_set(&p.progress, FANOUT_NR);
	progress_stop(&p.progress);
	if (ret == IS_LOCKED)
		warn_locked(&p);
	return ret < 0 ? ret : 0;
}

int prune_packed(const struct repo *repo,
		 const struct prune_packed_options *options, struct error *err)
{
	struct odb *odb;
	int ret = odb_open_named(&odb, repo, NULL, err);

	if (ret < 0)
		return ret;
	ret = prune_loose(odb, options, err);
	odb_close(odb);
	return ret;
}
