/* SPDX-License-Identifier: MIT */
/*
 * Finds plans in a directory, and lets one process make a plan while the others
 * wait.
 *
 * The content of the file "keys" is a table of slots. A slot says that the plan
 * of a key was made and not stored, and why (enum slot_kind). There are two
 * reasons:
 *
 * - Most plans are stored only when they are requested for the second time. The
 *   slot tells the process of the second request that there was a first one.
 * - The plan is too large, or could not be written. The slot tells other
 *   processes not to wait for this plan.
 *
 * A slot is written without a lock, so it may have a wrong content. This does
 * no harm: at worst, a plan is stored too early, at its first request, or is
 * not stored at all.
 *
 *	| first half of a key (16) | kind (be64) | seconds since 1970 (be64) |
 */
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/mem.h"
#include "plans/plan-dir-parts.h"
#include "sys/clock.h"
#include "sys/io.h"
#include "sys/map.h"
#include "sys/rangelock.h"

/*
 * The maximum size of a plan (a cached response) is the maximum size of all
 * plans divided by this number.
 */
#define PLAN_PART 16

/*
 * Minimum of free space on the disk, in percent. If less is free, no plan is
 * written.
 */
#define FREE_PERCENT 15

/*
 * A plan is stored on disk when it is first made, if it is small and saves
 * much: it has at most SHORT_PLAN bytes, and its pack is at least SHORT_PART
 * times as long. Any other plan is stored at the second request for its pack.
 */
#define SHORT_PLAN ((size_t)64 << 10)
#define SHORT_PART 50

/*
 * Interval in which a waiting process looks for the plan, and the maximum time
 * that it waits; nanoseconds.
 */
#define LOOK_NS UINT64_C(20000000)
#define WAIT_MAX_NS UINT64_C(120000000000)

/*
 * The maker of a plan (a cached response) may wait for its own client. A
 * process that waits for the plan checks this every LOOK_NS. If the maker waits
 * for its client at this number of checks in a row, the process stops waiting
 * for the plan.
 */
#define STALLED_LOOKS 3

/*
 * Minimum interval in seconds between two updates of the time at which a plan
 * was last used.
 */
#define USE_SECONDS 60

#define SLOT_NR 4096
#define SLOT_LEN 32
#define SLOT_KEY_LEN 16

enum slot_kind {
	/*
	 * the plan was made once but not stored; a second request may store it
	 */
	SLOT_ASKED = 1,
	/* the plan is too large, or could not be written: do not wait for it */
	SLOT_REFUSED = 2,
};

/*
 * The file "keys" has a slot for each plan that was made but not stored. A slot
 * is valid for this number of seconds. ASKED_SECONDS is for a plan that was
 * made once (SLOT_ASKED): if a second request for the same pack comes within
 * this time, the plan is stored. REFUSED_SECONDS is for a plan that cannot be
 * stored (SLOT_REFUSED).
 */
#define ASKED_SECONDS 3600
#define REFUSED_SECONDS 60

/*
 * The three locks of a plan's key. Each lock is on one byte of the file "keys",
 * and the three bytes are neighbours. The byte of the lock PLAN_DIR_STORING
 * comes before the bytes of all keys.
 */
enum lock_kind { MAKER, SENDING, AWAITED, LOCK_KINDS };

static uint32_t lock_nr(const uint8_t *key, enum lock_kind kind)
{
	return 4 + (load_be32(key) >> 3) * 4 + (uint32_t)kind;
}

/* ---- the directory */

/*
 * Returns NULL, or a constant string that says why the directory must not be
 * used.
 */
static const char *find_fault(const struct plan_dir *dir)
{
	struct sys_stat st;

	/*
	 * A relative path would mean different directories for different
	 * processes.
	 */
	if (*dir->path != '/')
		return "the path is not absolute";
	if (sys_stat(&st, dir->path, NULL) < 0)
		return "there is no such directory";
	if (!st.is_dir)
		return "it is not a directory";
	if (st.uid != sys_euid())
		return "it belongs to another user";
	if (st.mode & 022)
		return "other users may write into it";
	return NULL;
}

int plan_dir_new(struct plan_dir **out, const char *path, uint64_t max,
		 struct error *warning, struct error *err)
{
	struct plan_dir *dir = mem_calloc(1, sizeof(*dir));
	const char *fault;

	*warning = (struct error)ERROR_INIT;
	if (dir)
		dir->path = mem_strdup(path);
	if (!dir || !dir->path) {
		plan_dir_free(dir);
		return error_nomem(err);
	}
	dir->max = max;
	fault = find_fault(dir);
	if (fault)
		error_set(warning, ERR_INVALID,
			  "the plan directory '%s' is not used: %s", path,
			  fault);
	*out = dir;
	return 0;
}

/*
 * Reads the value of a configuration key, but ignores values in the
 * repository's own configuration file.
 */
static int take_protected(void *ctx, const struct config_entry *entry)
{
	const char **value = ctx;

	if (entry->scope != CONFIG_LOCAL)
		*value = entry->value ? entry->value : "";
	return 0;
}

int plan_dir_load(struct plan_dir **out, const struct repo *repo,
		  struct error *warning, struct error *err)
{
	const char *path = NULL, *size = NULL;
	uint64_t max = PLAN_DIR_SIZE;
	char *expanded;
	int ret;

	*out = NULL;
	*warning = (struct error)ERROR_INIT;
	config_each(&repo->config, "gitreach.plandirectory", take_protected,
		    &path);
	config_each(&repo->config, "gitreach.plandirectorysize", take_protected,
		    &size);
	if (!path || !*path)
		return 0;
	if (size && config_parse_u64(&max, size) < 0)
		return error_set(err, ERR_INVALID,
				 "bad value of gitreach.planDirectorySize: "
				 "'%s'",
				 size);
	expanded = config_expand_path(path);
	if (!expanded)
		return error_nomem(err);
	ret = plan_dir_new(out, expanded, max, warning, err);
	free(expanded);
	return ret;
}

void plan_dir_free(struct plan_dir *dir)
{
	if (!dir)
		return;
	free(dir->path);
	free(dir);
}

size_t plan_dir_plan_max(const struct plan_dir *dir)
{
	return (size_t)(dir->max / PLAN_PART);
}

static bool is_nearly_full(const struct plan_dir *dir)
{
	uint64_t total, available;

	return sys_disk_space(&total, &available, dir->path, NULL) < 0 ||
	       available < total / 100 * FREE_PERCENT;
}

/* ---- slots */

static uint64_t slot_off(const uint8_t *key)
{
	return (uint64_t)(load_be16(key) % SLOT_NR) * SLOT_LEN;
}

static bool slot_has(const struct plan_claim *claim, enum slot_kind kind)
{
	uint64_t max = kind == SLOT_ASKED ? ASKED_SECONDS : REFUSED_SECONDS;
	uint64_t now = (uint64_t)sys_clock_seconds(), then;
	uint8_t slot[SLOT_LEN];

	if (sys_read_at(claim->locks, slot, sizeof(slot), slot_off(claim->key),
			"keys", NULL) < 0)
		return false;
	then = load_be64(slot + SLOT_KEY_LEN + 8);
	return !memcmp(slot, claim->key, SLOT_KEY_LEN) &&
	       load_be64(slot + SLOT_KEY_LEN) == kind && then <= now &&
	       now - then < max;
}

static void slot_set(const struct plan_claim *claim, enum slot_kind kind)
{
	uint8_t slot[SLOT_LEN];

	memcpy(slot, claim->key, SLOT_KEY_LEN);
	store_be64(slot + SLOT_KEY_LEN, kind);
	store_be64(slot + SLOT_KEY_LEN + 8, (uint64_t)sys_clock_seconds());
	sys_write_at(claim->locks, slot, sizeof(slot), slot_off(claim->key),
		     "keys", NULL);
}

/* ---- reading */

/*
 * Records that the plan in the file is used now: the modification time of the
 * file is the time of the last use.
 */
static void touch(const char *path)
{
	int64_t now = sys_clock_seconds();
	struct sys_stat st;

	if (!sys_stat(&st, path, NULL) &&
	    llabs(now - st.mtime_ns / 1000000000) >= USE_SECONDS)
		sys_touch(path, NULL);
}

static int load_file(struct plan *plan, struct packing_report *report,
		     struct buf *bytes, const uint8_t *key,
		     const struct odb *odb)
{
	struct plan_file file;

	if (plan_file_parse(&file, bytes->data, bytes->len, "plan", NULL) < 0 ||
	    memcmp(file.key, key, PLAN_KEY_LEN) != 0 ||
	    plan_file_resolve(plan, &file, odb, NULL) < 0)
		return 0;
	plan->file = *bytes;
	*bytes = (struct buf)BUF_INIT;
	*report = file.report;
	return 1;
}

/*
 * Reads the file of a plan. Returns 1 with the plan, or 0 if it cannot be used.
 */
static int load(struct plan *plan, struct packing_report *report,
		const struct plan_dir *dir, const uint8_t *key,
		const struct odb *odb)
{
	struct buf path = BUF_INIT, bytes = BUF_INIT;
	struct sys_stat st;
	int ret = 0;

	*plan = PLAN_INIT;
	if (!plan_dir_path(&path, dir, key) &&
	    !sys_stat(&st, path.data, NULL) &&
	    st.size <= plan_dir_plan_max(dir) &&
	    !sys_read_file(&bytes, path.data, NULL))
		ret = load_file(plan, report, &bytes, key, odb);
	if (ret)
		touch(path.data);
	else
		plan_release(plan);
	buf_release(&bytes);
	buf_release(&path);
	return ret;
}

int plan_dir_has(const struct plan_dir *dir, const uint8_t key[PLAN_KEY_LEN],
		 const struct odb *odb)
{
	struct packing_report report;
	struct plan plan;
	int ret;

	if (find_fault(dir))
		return 0;
	ret = load(&plan, &report, dir, key, odb);
	plan_release(&plan);
	return ret;
}

/* ---- claims */

/*
 * Opens the file with the locks. Returns false with claim->reason set if the
 * plan cannot be stored.
 */
static bool open_locks(struct plan_claim *claim)
{
	struct buf path = BUF_INIT;

	if (is_nearly_full(claim->dir))
		claim->reason = "the disk is nearly full";
	else if (!buf_printf(&path, "%s/keys", claim->dir->path))
		claim->locks = sys_rangelock_open_private(path.data, NULL);
	buf_release(&path);
	if (claim->locks < 0 && !claim->reason)
		claim->reason = "the plan directory cannot be written";
	if (claim->reason)
		plan_claim_release(claim);
	return !claim->reason;
}

/*
 * The state of a process that waits until another process has made a plan (a
 * cached response).
 */
struct waiting {
	/* time at which the wait began; 0: it has not begun */
	uint64_t begun_ns;
	/*
	 * number of checks in a row in which another process held the lock
	 * SENDING
	 */
	unsigned sending;
};

/*
 * Waits LOOK_NS for another process, the maker of the plan. Returns 1 if the
 * caller should look for the plan again, 0 if it should make the plan itself,
 * or ERR_CANCELLED.
 */
static int wait_for(struct plan_claim *claim, struct waiting *w,
		    const struct progress_out *progress, struct error *err)
{
	int fd = claim->locks;

	if (!w->begun_ns) {
		w->begun_ns = sys_clock_ns();
		sys_rangelock_take(fd, lock_nr(claim->key, AWAITED), true,
				   false, NULL);
	}
	if (!sys_rangelock_is_taken(fd, lock_nr(claim->key, SENDING)))
		w->sending = 0;
	else if (++w->sending == STALLED_LOOKS)
		return 0;
	if (sys_clock_ns() - w->begun_ns > WAIT_MAX_NS)
		return 0;
	sys_sleep_ns(LOOK_NS);
	if (progress_ask(progress, "Waiting for an equal request", 0, err) < 0)
		return ERR_CANCELLED;
	return 1;
}

/*
 * Tries to take the lock MAKER. Returns 1 if this claim now has the lock, 0 if
 * another process has it, or ERR_IO if the system refuses the lock for another
 * reason.
 */
static int take(struct plan_claim *claim)
{
	int ret = sys_rangelock_take(claim->locks, lock_nr(claim->key, MAKER),
				     false, false, NULL);

	return ret == ERR_DENIED ? 0 : ret < 0 ? ret : 1;
}

/*
 * Waits until another process has made the plan (a cached response), or becomes
 * its maker. Returns 1 with the plan, 0 if the caller must make the plan, or
 * ERR_CANCELLED.
 */
static int find(struct plan_claim *claim, struct plan *plan,
		struct packing_report *report, bool *has_waited,
		const struct odb *odb, const struct progress_out *progress,
		struct error *err)
{
	struct waiting w = {0};
	int ret;

	for (;;) {
		ret = take(claim);
		/*
		 * Look for the plan again. Another process may have stored the
		 * plan before this process got the lock.
		 */
		if (load(plan, report, claim->dir, claim->key, odb))
			return 1;
		if (ret < 0)
			claim->reason = "the locks of the plan directory "
					"cannot be taken";
		else if (slot_has(claim, SLOT_REFUSED))
			claim->reason =
				"the plan of an equal request was not stored";
		if (ret > 0 || claim->reason)
			break;
		*has_waited = true;
		ret = wait_for(claim, &w, progress, err);
		if (!ret)
			claim->reason = "another process took too long to make "
					"the plan";
		if (ret <= 0)
			break;
	}
	if (ret < 0 || claim->reason)
		plan_claim_release(claim);
	else
		sys_rangelock_drop(claim->locks, lock_nr(claim->key, AWAITED));
	return ret == ERR_CANCELLED ? ret : 0;
}

int plan_dir_find(struct plan_claim *claim, struct plan *plan,
		  struct packing_report *report, bool *has_waited,
		  const struct plan_dir *dir, const uint8_t key[PLAN_KEY_LEN],
		  const struct odb *odb, const struct progress_out *progress,
		  struct error *err)
{
	*plan = PLAN_INIT;
	*claim = (struct plan_claim){.dir = dir, .locks = -1};
	memcpy(claim->key, key, PLAN_KEY_LEN);
	if (find_fault(dir)) {
		claim->reason = "the plan directory is unusable";
		return 0;
	}
	if (load(plan, report, dir, key, odb))
		return 1;
	if (!open_locks(claim))
		return 0;
	return find(claim, plan, report, has_waited, odb, progress, err);
}

bool plan_claim_begin_sending(struct plan_claim *claim)
{
	if (claim->locks < 0)
		return false;
	if (sys_rangelock_is_taken(claim->locks,
				   lock_nr(claim->key, AWAITED))) {
		claim->is_awaited = true;
		return true;
	}
	sys_rangelock_take(claim->locks, lock_nr(claim->key, SENDING), false,
			   false, NULL);
	return false;
}

void plan_claim_end_sending(struct plan_claim *claim)
{
	if (claim->locks >= 0)
		sys_rangelock_drop(claim->locks, lock_nr(claim->key, SENDING));
}

/*
 * Returns whether the plan should be stored now. If not, notes that its key was
 * asked for, so that a second request stores the plan.
 */
static bool is_worth_it(struct plan_claim *claim, const struct plan *plan,
			size_t len)
{
	if (len <= SHORT_PLAN && len <= plan_pack_len(plan) / SHORT_PART)
		return true;
	if (claim->is_awaited ||
	    sys_rangelock_is_taken(claim->locks,
				   lock_nr(claim->key, AWAITED)) ||
	    slot_has(claim, SLOT_ASKED))
		return true;
	slot_set(claim, SLOT_ASKED);
	claim->reason = "the plan is stored when it is asked for again";
	return false;
}

void plan_claim_store(struct plan_claim *claim, const struct plan *plan,
		      const struct packing_report *report,
		      const struct odb *odb, bool is_awaited)
{
	struct buf bytes = BUF_INIT;

	if (claim->locks < 0)
		return;
	claim->is_awaited |= is_awaited;
	if (plan_file_len(plan, 0, odb->algo) > plan_dir_plan_max(claim->dir)) {
		plan_claim_give_up(claim);
		return;
	}
	if (is_worth_it(claim, plan, plan_file_len(plan, 0, odb->algo)))
		claim->reason = plan_file_print(&bytes, claim->key, plan,
						report, odb, NULL) < 0
					? "the plan cannot be written as a file"
					: plan_dir_store(claim->dir, claim->key,
							 bytes.data, bytes.len,
							 claim->locks);
	/*
	 * Record in the table of keys that the plan could not be stored.
	 * Otherwise each waiting process would make the plan in turn.
	 */
	if (bytes.len && claim->reason)
		slot_set(claim, SLOT_REFUSED);
	buf_release(&bytes);
	plan_claim_release(claim);
}

void plan_claim_give_up(struct plan_claim *claim)
{
	if (claim->locks < 0)
		return;
	slot_set(claim, SLOT_REFUSED);
	claim->reason = "the plan is too large";
	plan_claim_release(claim);
}

void plan_claim_release(struct plan_claim *claim)
{
	sys_close(claim->locks);
	claim->locks = -1;
}
