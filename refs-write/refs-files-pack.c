/* SPDX-License-Identifier: MIT */
/* The files backend: moves loose refs into packed-refs. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "refs-write/packed-rewrite.h"
#include "refs-write/ref-pack.h"
#include "refs-write/refs-files-tx.h"
#include "refs/reflog-write.h"
#include "refs/refs-loose.h"
#include "sys/io.h"
#include "sys/lockfile.h"

#define LEAST_LIMIT 16

/* State of one packing. */
struct packer {
	const struct repo *repo;
	struct odb_reader *reader;
	const struct ref_pack_options *options;
	struct packed_rewrite rw;
	struct refs_loose_list *list;
	/* owned array: for each ref in `list`, whether it is packed */
	bool *chosen;
	size_t chosen_nr;
	/*
	 * offset in the old packed-refs up to which peel_old_until() has
	 * processed the records
	 */
	size_t old_off;
	/* milliseconds to wait for the lock of a ref */
	int64_t lock_timeout_ms;
	struct buf name;
	/* the lock of the ref that was pruned last; inactive: none */
	struct sys_tempfile lock;
	/* borrowed: the name of this ref; NULL: none */
	const char *locked;
	struct buf path; /* scratch memory: path of a ref's file */
};

static int choose(struct packer *p, struct error *err)
{
	p->chosen = mem_calloc(p->list->nr, sizeof(*p->chosen));
	if (!p->chosen)
		return error_nomem(err);
	for (size_t i = 0; i < p->list->nr; i++) {
		const struct refs_loose *ref = &p->list->refs[i];

		if (ref->kind != REFS_LOOSE_OID ||
		    refs_loose_is_per_worktree(ref->name))
			continue;
		p->chosen[i] = p->options->wants(p->options->ctx, ref->name);
		p->chosen_nr += p->chosen[i];
	}
	return 0;
}

/*
 * Returns whether a record of the old packed-refs has all that the new file
 * needs: it has a peeled id, or is a branch. A branch points to a commit, which
 * has no peeled id. The header of the old file may promise peeled ids, but is
 * not trusted.
 */
static bool is_complete(const struct packed_ref *ref)
{
	static const char heads[] = "refs/heads/";
	size_t len = sizeof(heads) - 1;

	return ref->is_tag ||
	       (ref->name_len > len && !memcmp(ref->name, heads, len));
}

/*
 * Adds the peeled id to a record of the old packed-refs if the record is one of
 * a tag. If this cannot be found out, the record stays as it is, and the new
 * header does not promise peeled ids. Returns 0 or a negative error code.
 */
static int peel_old(struct packer *p, struct packed_ref *ref, struct error *err)
{
	int ret = odb_find_peeled(p->reader, &ref->oid, &ref->peeled, err);

	if (ret == ODB_PEELED_UNKNOWN)
		packed_rewrite_promise_no_more(&p->rw);
	if (ret != ODB_PEELED_TAG)
		return ret < 0 ? ret : 0;
	buf_reset(&p->name);
	if (buf_append(&p->name, ref->name, ref->name_len) < 0)
		return error_nomem(err);
	return packed_rewrite_put(&p->rw, p->name.data, &ref->oid, &ref->peeled,
				  err);
}

/*
 * Adds peeled ids to the records of the old packed-refs before `name` (NULL:
 * to all remaining records), because the new header promises peeled ids for
 * all records. Returns 0 or a negative error code.
 */
static int peel_old_until(struct packer *p, const char *name, struct error *err)
{
	for (;;) {
		struct packed_ref ref;
		size_t off = p->old_off;
		int ret = packed_refs_next(&p->rw.old, &off, &ref, err), cmp;

		if (ret <= 0)
			return ret;
		cmp = name ? packed_refs_name_cmp(ref.name, ref.name_len, name,
						  strlen(name))
			   : -1;
		if (cmp > 0)
			return 0;
		p->old_off = off;
		ret = cmp && !is_complete(&ref) ? peel_old(p, &ref, err) : 0;
		if (ret)
			return ret;
	}
}

/*
 * Puts a loose ref into the new packed-refs. The ref stays loose if its object
 * is missing or damaged. As in stock Git, a tag that leads to such an object is
 * packed without a peeled id. Returns 0 or a negative error code.
 */
static int put_one(struct packer *p, size_t i, bool peel_all, struct error *err)
{
	const struct refs_loose *ref = &p->list->refs[i];
	struct oid peeled;
	int ret = odb_find_peeled(p->reader, &ref->oid, &peeled, err);
	bool is_tag = ret == ODB_PEELED_TAG;

	if (ret == ODB_PEELED_UNKNOWN) {
		if (odb_info(p->reader, &ref->oid, NULL, NULL, NULL) < 0) {
			p->options->broken(p->options->ctx, ref->name);
			p->chosen[i] = false;
			return 0;
		}
		packed_rewrite_promise_no_more(&p->rw);
	}
	if (ret >= 0)
		ret = peel_all ? peel_old_until(p, ref->name, err) : 0;
	return ret < 0 ? ret
		       : packed_rewrite_put(&p->rw, ref->name, &ref->oid,
					    is_tag ? &peeled : NULL, err);
}

static int write_packed(struct packer *p, struct error *err)
{
	bool peel_all = p->rw.old.len && !p->rw.is_proved;
	int ret = 0;

	packed_rewrite_promise_peeled(&p->rw);
	for (size_t i = 0; !ret && i < p->list->nr; i++)
		if (p->chosen[i])
			ret = put_one(p, i, peel_all, err);
	if (!ret && peel_all)
		ret = peel_old_until(p, NULL, err);
	if (!ret)
		ret = packed_rewrite_finish(&p->rw, err);
	return ret ? ret : packed_rewrite_commit(&p->rw, err);
}

/*
 * Returns whether `path` is a dangling symbolic link. `path` is the path of the
 * loose ref of a packed ref, and no ref can be read there any more. A link
 * dangles in this case: the ref was read through the link before packing, and
 * the file to which the link leads was removed after packing.
 */
static bool is_dangling_link(const char *path)
{
	struct sys_stat st;

	return !sys_lstat(&st, path, NULL) && !st.is_file && !st.is_dir;
}

/*
 * Sets p->path to the path of a ref's file plus `suffix`. Returns 0 or
 * ERR_NOMEM.
 */
static int set_path(struct packer *p, const char *name, const char *suffix,
		    struct error *err)
{
	buf_reset(&p->path);
	if (refs_loose_path(&p->path, p->repo, name) < 0 ||
	    buf_append_str(&p->path, suffix) < 0)
		return error_nomem(err);
	return 0;
}

/*
 * Releases the lock of the ref that was pruned before, and removes directories
 * that are then empty.
 */
static void unlock(struct packer *p)
{
	sys_tempfile_abort(&p->lock);
	if (p->locked && !set_path(p, p->locked, "", NULL))
		reflog_prune_dirs(p->path.data, p->locked);
	p->locked = NULL;
}

static bool in_same_dir(const char *a, const char *b)
{
	const char *a_end = strrchr(a, '/'), *b_end = strrchr(b, '/');

	return a_end - a == b_end - b && !memcmp(a, b, (size_t)(a_end - a));
}

/*
 * Locks a ref. If the ref that was pruned before is in the same directory, no
 * new lock file is made. In place of this, the lock file of the earlier ref is
 * renamed, and becomes the lock file of this ref. This is much faster:
 * otherwise, thousands of lock files would be made, and each would be removed
 * immediately afterwards. This costs much on ext4, which does not use the inode
 * of a removed file again soon. Returns 0, 1 if the ref cannot be locked, or
 * ERR_NOMEM.
 */
static int lock(struct packer *p, const char *name, struct error *err)
{
	struct error why = ERROR_INIT;
	bool moves = p->lock.path && !p->lock.companion &&
		     in_same_dir(p->locked, name);
	int ret = 0;

	if (moves)
		ret = set_path(p, name, ".lock", err);
	if (ret < 0)
		return ret;
	if (!moves || sys_tempfile_move(&p->lock, p->path.data, NULL) < 0) {
		unlock(p);
		ret = set_path(p, name, ".lock", err);
		if (ret < 0)
			return ret;
		ret = sys_lockfile_create_mode(&p->lock, p->path.data,
					       0666 | p->repo->share,
					       p->lock_timeout_ms, &why);
		if (!ret)
			ret = sys_tempfile_finish(&p->lock, SYS_FSYNC_NONE,
						  &why);
	}
	if (!ret)
		p->locked = name;
	else if (p->options->locked)
		p->options->locked(p->options->ctx, name, &why);
	return ret < 0;
}

/*
 * Removes the loose file of a packed ref, unless the ref has changed or is
 * locked. The ref stays locked. Returns 0 or a negative error code.
 */
static int prune_one(struct packer *p, const struct refs_loose *packed,
		     struct error *err)
{
	struct refs_loose now = {.name = NULL};
	int ret = lock(p, packed->name, err);

	if (ret)
		return ret < 0 ? ret : 0;
	ret = set_path(p, packed->name, "", err);
	if (!ret)
		ret = refs_loose_read_file(&now, p->path.data, p->repo->algo,
					   err);
	if (ret > 0 ? now.kind == REFS_LOOSE_OID &&
			      oid_equal(&now.oid, &packed->oid)
		    : !ret && is_dangling_link(p->path.data))
		ret = sys_unlink(p->path.data, err);
	refs_loose_release(&now);
	return ret < 0 ? ret : 0;
}

static int prune_all(struct packer *p, struct error *err)
{
	int ret = refs_files_lock_timeout(&p->lock_timeout_ms, &p->repo->config,
					  err);

	for (size_t i = 0; !ret && i < p->list->nr; i++)
		if (p->chosen[i])
			ret = prune_one(p, &p->list->refs[i], err);
	unlock(p);
	return ret;
}

size_t ref_pack_limit(uint64_t size)
{
	size_t limit = 0;

	for (size /= 100; size > 1; size /= 2)
		limit += 5;
	return limit < LEAST_LIMIT ? LEAST_LIMIT : limit;
}

static bool is_due(const struct packer *p)
{
	return !p->options->if_needed ||
	       p->chosen_nr >= ref_pack_limit(p->rw.old.map.len);
}

int refs_files_pack_is_due(const struct repo *repo,
			   const struct ref_pack_options *options,
			   struct error *err)
{
	struct packer p = {.repo = repo, .options = options};
	char *path = repo_refs_common_path(repo, "packed-refs");
	struct sys_stat st;
	int ret = path ? sys_stat(&st, path, err) : error_nomem(err);

	if (ret == ERR_MISSING) {
		st.size = 0;
		ret = 0;
	}
	if (!ret)
		ret = refs_loose_list_read(&p.list, repo, "refs/", err);
	if (!ret)
		ret = choose(&p, err);
	if (!ret)
		ret = p.chosen_nr >= ref_pack_limit(st.size);
	refs_loose_list_free(p.list);
	free(p.chosen);
	free(path);
	return ret;
}

int refs_files_pack(const struct repo *repo, struct odb_reader *reader,
		    const struct ref_pack_options *options, struct error *err)
{
	struct packer p = {
		.repo = repo,
		.reader = reader,
		.options = options,
		.name = BUF_INIT,
		.lock = SYS_TEMPFILE_INIT,
		.path = BUF_INIT,
	};
	bool due = false;
	int ret = packed_rewrite_begin(&p.rw, repo, err);

	if (ret < 0)
		return ret;
	/*
	 * Loose refs are read under the lock of packed-refs. Without the lock,
	 * another process could pack newer values after this process has read
	 * the loose refs. This process would then replace the newer values by
	 * the older ones.
	 */
	ret = refs_loose_list_read(&p.list, repo, "refs/", err);
	if (!ret)
		ret = choose(&p, err);
	if (!ret)
		due = is_due(&p);
	if (due)
		ret = write_packed(&p, err);
	packed_rewrite_release(&p.rw);
	if (!ret && due && options->prune)
		ret = prune_all(&p, err);
	refs_loose_list_free(p.list);
	free(p.chosen);
	buf_release(&p.name);
	buf_release(&p.path);
	return ret;
}
