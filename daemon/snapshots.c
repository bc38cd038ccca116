/* SPDX-License-Identifier: MIT */
/*
 * A cache of the repositories that a worker has open. The requests of the
 * worker share them.
 *
 * Open repositories (struct daemon_snapshot) and sets of open packs (struct
 * daemon_packs) have a count `users`. Each request that uses the struct adds
 * one to the count. While a repository is in the list of the cache, the count
 * of the repository is also one higher. While a repository keeps a set of packs
 * open, the count of this set is also one higher. When a count is zero, the
 * struct is freed.
 */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "daemon/snapshots.h"
#include "odb/odb-midx.h"
#include "plans/plan-cache.h"
#include "refs/refs-cache.h"
#include "sys/clock.h"
#include "sys/io.h"
#include "sys/map.h"
#include "sys/thread.h"
#include "sys/witness.h"

/*
 * If a repository has more packs than this number, requests do not share the
 * packs. Shared packs are all mapped into memory and stay open between
 * requests, and a process has the shared packs of many repositories. A pack
 * needs several memory maps, and the kernel allows 65,530 maps in a process. A
 * request that does not share its packs maps a pack only when the request reads
 * the pack.
 */
#define PACKS_MAX 128

struct daemon_packs {
	unsigned users; /* under cache->lock */
	struct odb *odb;
	struct sys_witness witness;
	bool is_shared;
};

struct daemon_snapshot {
	/* `next`, `users` and `used_ns` are protected by cache->lock. */
	struct daemon_snapshot *next;
	unsigned users;
	uint64_t used_ns; /* time of the last use */
	char *path;
	/* whether the repository was opened with REPO_OPEN_EXACT */
	bool is_exact;
	struct repo *repo;
	/* owned: the mapped refs; NULL: the repository is not shared */
	struct refs_cache *refs_cache;
	/* the content of HEAD; valid if has_head */
	struct buf head;
	bool has_head;
	struct sys_witness witness;
	bool is_shared; /* may be listed */
	/* held while packs are opened, so that other requests wait for them */
	pthread_mutex_t opening;
	/* guarded by `opening`: the open packs; NULL: none */
	struct daemon_packs *packs;
	/* guarded by `opening`: there are too many packs to share */
	bool has_many;
};

struct daemon_snapshots {
	size_t max;
	struct plan_cache *plans; /* borrowed; NULL: none */
	pthread_mutex_t lock;
	/* guarded by `lock`: list of the snapshots, the newest first */
	struct daemon_snapshot *first;
	size_t nr;
};

struct daemon_snapshots *daemon_snapshots_new(size_t max,
					      struct plan_cache *plans)
{
	struct daemon_snapshots *cache = mem_calloc(1, sizeof(*cache));

	if (!cache)
		return NULL;
	cache->max = max;
	cache->plans = plans;
	pthread_mutex_init(&cache->lock, NULL);
	return cache;
}

void daemon_snapshots_free(struct daemon_snapshots *cache)
{
	if (!cache)
		return;
	daemon_snapshots_expire(cache, UINT64_MAX);
	pthread_mutex_destroy(&cache->lock);
	free(cache);
}

/* ---- users */

static void drop_packs(struct daemon_snapshots *cache,
		       struct daemon_packs *packs)
{
	bool is_last;

	if (!packs)
		return;
	pthread_mutex_lock(&cache->lock);
	is_last = !--packs->users;
	pthread_mutex_unlock(&cache->lock);
	if (!is_last)
		return;
	plan_cache_forget(cache->plans, packs);
	odb_close(packs->odb);
	sys_witness_release(&packs->witness);
	free(packs);
}

static void free_snapshot(struct daemon_snapshots *cache,
			  struct daemon_snapshot *s)
{
	drop_packs(cache, s->packs);
	repo_close(s->repo);
	refs_cache_free(s->refs_cache);
	buf_release(&s->head);
	sys_witness_release(&s->witness);
	pthread_mutex_destroy(&s->opening);
	free(s->path);
	free(s);
}

static void drop_snapshot(struct daemon_snapshots *cache,
			  struct daemon_snapshot *s)
{
	bool is_last;

	pthread_mutex_lock(&cache->lock);
	is_last = !--s->users;
	pthread_mutex_unlock(&cache->lock);
	if (is_last)
		free_snapshot(cache, s);
}

/* ---- the list; these functions need cache->lock */

static struct daemon_snapshot **find(struct daemon_snapshots *cache,
				     const char *path, bool exact)
{
	struct daemon_snapshot **at = &cache->first;

	while (*at &&
	       ((*at)->is_exact != exact || strcmp((*at)->path, path) != 0))
		at = &(*at)->next;
	return at;
}

static struct daemon_snapshot *unlist(struct daemon_snapshots *cache,
				      struct daemon_snapshot **at)
{
	struct daemon_snapshot *s = *at;

	*at = s->next;
	cache->nr--;
	return s;
}

static struct daemon_snapshot **oldest(struct daemon_snapshots *cache)
{
	struct daemon_snapshot **found = &cache->first;

	for (struct daemon_snapshot **at = found; *at; at = &(*at)->next)
		if ((*at)->used_ns < (*found)->used_ns)
			found = at;
	return found;
}

/* ---- entering */

/*
 * Finds a snapshot (an open repository) in the list and counts one more user of
 * it. Returns the snapshot, or NULL if the list does not have it.
 */
static struct daemon_snapshot *take(struct daemon_snapshots *cache,
				    const char *path, bool exact)
{
	struct daemon_snapshot *s;

	pthread_mutex_lock(&cache->lock);
	s = *find(cache, path, exact);
	if (s) {
		s->users++;
		s->used_ns = sys_clock_ns();
	}
	pthread_mutex_unlock(&cache->lock);
	return s;
}

/*
 * Removes a snapshot from the list because its witness (sys/witness.h) no
 * longer holds: a file that the snapshot depends on has changed. Does nothing
 * if another thread has already removed it.
 */
static void forget(struct daemon_snapshots *cache, struct daemon_snapshot *s)
{
	struct daemon_snapshot **at;
	bool is_listed;

	pthread_mutex_lock(&cache->lock);
	at = find(cache, s->path, s->is_exact);
	is_listed = *at == s;
	if (is_listed)
		unlist(cache, at);
	pthread_mutex_unlock(&cache->lock);
	if (is_listed)
		drop_snapshot(cache, s);
}

/*
 * Adds a snapshot (an open repository) to the list. Removes the older snapshot
 * of the same path, if there is one. Otherwise, if the list is full, removes
 * the snapshot that was not used for the longest time.
 */
static void list(struct daemon_snapshots *cache, struct daemon_snapshot *s)
{
	struct daemon_snapshot *other = NULL, **at;

	pthread_mutex_lock(&cache->lock);
	at = find(cache, s->path, s->is_exact);
	if (!*at && cache->nr == cache->max)
		at = oldest(cache);
	if (*at)
		other = unlist(cache, at);
	s->users++;
	s->next = cache->first;
	cache->first = s;
	cache->nr++;
	pthread_mutex_unlock(&cache->lock);
	if (other)
		drop_snapshot(cache, other);
}

static void witness_below(struct sys_witness *w, const char *dir,
			  const char *name, enum sys_witness_kind kind)
{
	struct buf path = BUF_INIT;

	if (buf_printf(&path, "%s/%s", dir, name) < 0)
		w->is_void = true;
	else
		sys_witness_add(w, path.data, kind);
	buf_release(&path);
}

static void look(void *ctx, const char *path)
{
	sys_witness_add(ctx, path, SYS_WITNESS_CONTENT);
}

/*
 * Adds to s->witness the directories that repo_open() tries, in the same order,
 * until one is the git directory of the repository. s->witness detects later
 * changes (sys/witness.h). Returns true if it detects every change that would
 * make repo_open() open another repository. Otherwise returns false.
 */
static bool witness_search(struct daemon_snapshot *s)
{
	static const char *const suffixes[] = {"/.git", "", ".git/.git",
					       ".git"};
	bool is_found = false, is_plain = true;

	for (size_t i = 0; i < ARRAY_NR(suffixes) && !is_found; i++) {
		struct buf path = BUF_INIT;
		char *real = NULL;

		if (s->is_exact && *suffixes[i])
			continue;
		if (buf_printf(&path, "%s%s", s->path, suffixes[i]) < 0)
			return false;
		real = sys_realpath(path.data, NULL);
		is_found = real && !strcmp(real, s->repo->git_dir);
		/*
		 * If a directory exists, but was refused as a repository, files
		 * that are added to the directory could make it a repository.
		 * s->witness would not notice this: it only checks that the
		 * path still leads to the same directory.
		 */
		is_plain = is_plain && (is_found || !real);
		sys_witness_add(&s->witness, path.data, SYS_WITNESS_IDENTITY);
		free(real);
		buf_release(&path);
	}
	return is_found && is_plain;
}

static int is_conditional(void *ctx, const struct config_entry *entry)
{
	return 1;
}

/*
 * Keeps the content of HEAD in the snapshot (the open repository), so that
 * requests need not read the file. If HEAD is a symbolic link, nothing is kept,
 * because the target of the link names the ref. Must be called before HEAD is
 * added to s->witness, which finds later changes of HEAD.
 */
static void keep_head(struct daemon_snapshot *s)
{
	struct buf path = BUF_INIT;
	struct sys_stat st;

	/*
	 * If extensions.refStorage names a directory, HEAD is in that
	 * directory, not in the git directory.
	 */
	if (s->repo->refs_dir)
		return;
	if (!buf_printf(&path, "%s/HEAD", s->repo->git_dir) &&
	    !sys_lstat(&st, path.data, NULL) && st.is_file &&
	    !sys_read_file(&s->head, path.data, NULL) && s->head.len &&
	    !memchr(s->head.data, '\0', s->head.len))
		s->has_head = true;
	buf_release(&path);
}

/*
 * Returns whether other requests may use the snapshot (the open repository).
 * They may if s->witness (sys/witness.h) can find each later change of the
 * files from which the snapshot was read.
 */
static bool can_share(struct daemon_snapshot *s)
{
	const struct repo *repo = s->repo;

	if (!witness_search(s) || strcmp(repo->git_dir, repo->common_dir) != 0)
		return false;
	keep_head(s);
	witness_below(&s->witness, repo->git_dir, "HEAD", SYS_WITNESS_CONTENT);
	witness_below(&s->witness, repo->git_dir, "commondir",
		      SYS_WITNESS_CONTENT);
	witness_below(&s->witness, repo->git_dir, "refs", SYS_WITNESS_IDENTITY);
	sys_witness_add(&s->witness, repo->object_dir, SYS_WITNESS_IDENTITY);
	return !config_each(&repo->config, "includeif.", is_conditional,
			    NULL) &&
	       sys_witness_can_trust(repo->git_dir) &&
	       sys_witness_can_trust(repo_refs_common_dir(repo)) &&
	       sys_witness_can_trust(repo->object_dir);
}

static int open_snapshot(struct daemon_snapshot **out, const char *path,
			 bool exact, struct error *err)
{
	struct daemon_snapshot *s = mem_calloc(1, sizeof(*s));
	struct repo_options options = {
		.path = path,
		.flags = exact ? REPO_OPEN_EXACT : REPO_OPEN_ENTER,
	};
	int ret;

	if (!s)
		return error_nomem(err);
	pthread_mutex_init(&s->opening, NULL);
	s->users = 1;
	buf_init(&s->head);
	s->used_ns = sys_clock_ns();
	sys_witness_init(&s->witness);
	options.look = look;
	options.look_ctx = &s->witness;
	s->is_exact = exact;
	s->path = mem_strdup(path);
	ret = s->path ? repo_open(&s->repo, &options, err) : error_nomem(err);
	if (ret < 0) {
		free_snapshot(NULL, s);
		return ret;
	}
	s->is_shared = can_share(s);
	if (s->is_shared)
		s->refs_cache = s->repo->refs_cache = refs_cache_new(
			s->has_head ? s->head.data : NULL);
	*out = s;
	return 0;
}

int daemon_snapshots_enter(struct daemon_snapshots *cache,
			   struct daemon_use *use, const char *path, bool exact,
			   const struct repo **repo, struct error *err)
{
	struct daemon_snapshot *s = take(cache, path, exact);
	int ret = 0;

	if (s && !sys_witness_holds(&s->witness)) {
		forget(cache, s);
		drop_snapshot(cache, s);
		s = NULL;
	}
	if (!s) {
		ret = open_snapshot(&s, path, exact, err);
		if (ret < 0)
			return ret;
		/*
		 * If the repository's files changed just before they were read,
		 * a later change might not be detected. So do not share this
		 * snapshot with other requests.
		 */
		if (s->is_shared && sys_witness_holds(&s->witness))
			list(cache, s);
		else
			s->is_shared = false;
	}
	use->snapshot = s;
	*repo = s->repo;
	return 0;
}

/* ---- objects */

/*
 * Sets two marks of each pack. is_pinned: the pack stays open until the answer
 * was sent and daemon_snapshots_leave() is called. keeps_pages, if requests
 * share the packs: no request drops pages of the pack from memory, because
 * other requests would have to read them again.
 */
static void pin_packs(struct odb *odb, bool is_shared)
{
	for (uint32_t i = 0; i < odb->pack_nr; i++) {
		odb->packs[i].pack->is_pinned = true;
		odb->packs[i].pack->keeps_pages = is_shared;
	}
}

/*
 * Adds to packs->witness the files and directories in which odb_open() has
 * found packs. The witness detects later changes (sys/witness.h).
 */
static void witness_packs(struct daemon_packs *packs)
{
	const struct odb *odb = packs->odb;

	for (size_t i = 0; i < odb->dir_nr; i++) {
		struct buf dir = BUF_INIT;
		char *chain = NULL;

		if (!buf_printf(&dir, "%s/pack", odb->dirs[i]))
			chain = odb_midx_chain_path(dir.data, "");
		if (chain) {
			sys_witness_add(&packs->witness, dir.data,
					SYS_WITNESS_CONTENT);
			sys_witness_add(&packs->witness, chain,
					SYS_WITNESS_CONTENT);
		}
		packs->witness.is_void |= !chain ||
					  !sys_witness_can_trust(odb->dirs[i]);
		witness_below(&packs->witness, odb->dirs[i], "info/alternates",
			      SYS_WITNESS_CONTENT);
		free(chain);
		buf_release(&dir);
	}
}

/*
 * Adds the shallow and graft files to the witness of the packs, which finds
 * changes of files (sys/witness.h). Requests read these files themselves, but
 * plans (cached responses) that were made with the old files are no longer
 * valid.
 */
static void witness_history(struct daemon_packs *packs, const struct repo *repo)
{
	witness_below(&packs->witness, repo->common_dir, "shallow",
		      SYS_WITNESS_CONTENT);
	witness_below(&packs->witness, repo->common_dir, "info/grafts",
		      SYS_WITNESS_CONTENT);
}

static int open_packs(struct daemon_packs **out, struct daemon_snapshot *s,
		      struct error *warning, struct error *err)
{
	struct daemon_packs *packs = mem_calloc(1, sizeof(*packs));
	bool is_shared = s->is_shared && !s->has_many;
	int ret;

	if (!packs)
		return error_nomem(err);
	packs->users = 1;
	sys_witness_init(&packs->witness);
	/*
	 * Add these two paths to the witness before odb_open() reads them.
	 * There are two reasons:
	 * - The alternates file is usually missing. If the file were added only
	 *   afterwards, the witness would not notice a file that existed only
	 *   while odb_open() was running.
	 * - The directory of packs may have changed just now, by a push. For
	 *   such a directory, the witness holds only if the directory was added
	 *   before it was read (SYS_WITNESS_LISTING). The packs that are opened
	 *   here are kept for later requests only while the witness holds. So
	 *   if the directory were added afterwards, each request shortly after
	 *   a push would have to open all packs again.
	 */
	witness_below(&packs->witness, s->repo->object_dir, "info/alternates",
		      SYS_WITNESS_CONTENT);
	witness_below(&packs->witness, s->repo->object_dir, "pack",
		      SYS_WITNESS_LISTING);
	ret = is_shared ? odb_open(&packs->odb, s->repo, warning, err)
			: odb_open_held(&packs->odb, s->repo, warning, err);
	if (ret < 0) {
		sys_witness_release(&packs->witness);
		free(packs);
		return ret;
	}
	s->has_many |= packs->odb->pack_nr > PACKS_MAX;
	packs->witness.is_void |= !is_shared || s->has_many || warning->code;
	pin_packs(packs->odb, !packs->witness.is_void);
	if (!packs->witness.is_void) {
		witness_packs(packs);
		witness_history(packs, s->repo);
	}
	packs->is_shared = !packs->witness.is_void;
	*out = packs;
	return 0;
}

/*
 * Keeps open packs in a snapshot (an open repository) for further requests, and
 * drops the packs that it kept before. `packs` NULL: the snapshot keeps no
 * packs.
 */
static void keep_packs(struct daemon_snapshots *cache,
		       struct daemon_snapshot *s, struct daemon_packs *packs)
{
	struct daemon_packs *before = s->packs;

	if (packs) {
		pthread_mutex_lock(&cache->lock);
		packs->users++;
		pthread_mutex_unlock(&cache->lock);
	}
	s->packs = packs;
	drop_packs(cache, before);
}

int daemon_snapshots_objects(struct daemon_snapshots *cache,
			     struct daemon_use *use, struct odb **odb,
			     struct error *warning, struct error *err)
{
	struct daemon_snapshot *s = use->snapshot;
	struct daemon_packs *packs;
	int ret = 0;

	pthread_mutex_lock(&s->opening);
	packs = s->packs;
	if (packs && sys_witness_holds(&packs->witness)) {
		pthread_mutex_lock(&cache->lock);
		packs->users++;
		pthread_mutex_unlock(&cache->lock);
	} else {
		packs = NULL;
		ret = open_packs(&packs, s, warning, err);
		keep_packs(cache, s,
			   !ret && sys_witness_holds(&packs->witness) ? packs
								      : NULL);
	}
	pthread_mutex_unlock(&s->opening);
	if (ret < 0)
		return ret;
	use->packs = packs;
	*odb = packs->odb;
	return 0;
}

const void *daemon_snapshots_owner(const struct daemon_use *use)
{
	return use->packs && use->packs->is_shared ? use->packs : NULL;
}

/* ---- leaving */

void daemon_snapshots_leave(struct daemon_snapshots *cache,
			    struct daemon_use *use)
{
	drop_packs(cache, use->packs);
	if (use->snapshot)
		drop_snapshot(cache, use->snapshot);
	memset(use, 0, sizeof(*use));
}

size_t daemon_snapshots_nr(struct daemon_snapshots *cache)
{
	size_t nr;

	pthread_mutex_lock(&cache->lock);
	nr = cache->nr;
	pthread_mutex_unlock(&cache->lock);
	return nr;
}

void daemon_snapshots_expire(struct daemon_snapshots *cache, uint64_t since_ns)
{
	struct daemon_snapshot *old = NULL, *next;

	pthread_mutex_lock(&cache->lock);
	for (struct daemon_snapshot **at = &cache->first; *at;) {
		if ((*at)->used_ns >= since_ns) {
			at = &(*at)->next;
			continue;
		}
		next = unlist(cache, at);
		next->next = old;
		old = next;
	}
	pthread_mutex_unlock(&cache->lock);
	for (; old; old = next) {
		next = old->next;
		drop_snapshot(cache, old);
	}
}
