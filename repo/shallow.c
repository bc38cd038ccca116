/* SPDX-License-Identifier: MIT */
/* Reads and changes the file "shallow", which lists the shallow boundary. */
#include <stdlib.h>

#include "base/buf.h"
#include "object/oidmap.h"
#include "repo/shallow.h"
#include "sys/io.h"
#include "sys/lockfile.h"
#include "sys/map.h"

static int parse(const char *path, const struct buf *text, enum hash_algo algo,
		 int (*fn)(void *ctx, const struct oid *oid), void *ctx,
		 struct error *err)
{
	const char *p = text->data, *end = p + text->len;
	int ret = 0;

	while (!ret && p < end) {
		struct oid oid;

		if (!oid_from_hex(&oid, p, (size_t)(end - p), algo))
			return error_set(err, ERR_CORRUPT,
					 "bad shallow line in %s", path);
		p += hash_hex_len(algo);
		if (p < end && *p == '\n')
			p++;
		ret = fn(ctx, &oid);
	}
	return ret;
}

int repo_shallow_each(const struct repo *repo,
		      int (*fn)(void *ctx, const struct oid *oid), void *ctx,
		      struct error *err)
{
	char *path = repo_common_path(repo, "shallow");
	struct buf text = BUF_INIT;
	int ret;

	if (!path)
		return error_nomem(err);
	ret = sys_read_file(&text, path, err);
	if (!ret)
		ret = parse(path, &text, repo->algo, fn, ctx, err);
	else if (ret == ERR_MISSING)
		ret = 0;
	buf_release(&text);
	free(path);
	return ret;
}

static int is_same(void *ctx, const struct oid *oid)
{
	return oid_equal(oid, ctx);
}

int repo_shallow_has(const struct repo *repo, const struct oid *oid,
		     struct error *err)
{
	struct oid wanted = *oid;

	return repo_shallow_each(repo, is_same, &wanted, err);
}

struct listing {
	enum hash_algo algo;
	struct oidmap seen;
	struct buf text;
};

static int list(void *ctx, const struct oid *oid)
{
	struct listing *l = ctx;
	char hex[OID_MAX_HEX_LEN + 1];
	int ret = oidmap_add(&l->seen, oid, 0, NULL);

	if (ret > 0)
		ret = buf_printf(&l->text, "%s\n",
				 oid_to_hex(hex, oid, l->algo));
	return ret < 0 ? ERR_NOMEM : 0;
}

static int replace(const struct repo *repo, struct sys_tempfile *lock,
		   const char *path, const struct buf *text, struct error *err)
{
	int ret = sys_tempfile_write(lock, text->data, text->len, err);

	return ret ? ret
		   : sys_tempfile_commit(lock, path, SYS_FSYNC_FSYNC, err);
}

/*
 * Makes the list of ids for the new file "shallow": the ids in the present
 * file, followed by the ids to add. Returns 0 or ERR_NOMEM.
 */
static int list_with(struct listing *l, const struct repo *repo,
		     const struct oid *oids, size_t nr, struct error *err)
{
	int ret = repo_shallow_each(repo, list, l, err);

	for (size_t i = 0; !ret && i < nr; i++)
		ret = list(l, &oids[i]);
	return ret == ERR_NOMEM ? error_nomem(err) : ret;
}

int repo_shallow_add(const struct repo *repo, const struct oid *oids, size_t nr,
		     struct error *err)
{
	struct listing l = {repo->algo, OIDMAP_INIT, BUF_INIT};
	char *path = repo_common_path(repo, "shallow");
	char *target = NULL;
	struct sys_tempfile lock = SYS_TEMPFILE_INIT;
	int ret = path ? 0 : error_nomem(err);

	if (!ret)
		ret = sys_lockfile_follow(&lock, &target, path,
					  0666 | repo->share, 0, err);
	if (!ret)
		ret = list_with(&l, repo, oids, nr, err);
	if (!ret)
		ret = replace(repo, &lock, target, &l.text, err);
	sys_tempfile_abort(&lock);
	oidmap_release(&l.seen);
	buf_release(&l.text);
	free(path);
	free(target);
	return ret;
}

int repo_shallow_stamp_take(struct repo_shallow_stamp *stamp,
			    const struct repo *repo, struct error *err)
{
	char *path = repo_common_path(repo, "shallow");
	struct sys_stat st;
	int ret = path ? sys_stat(&st, path, err) : error_nomem(err);

	*stamp = (struct repo_shallow_stamp){0};
	if (!ret)
		*stamp = (struct repo_shallow_stamp){true, st.dev, st.ino,
						     st.size, st.mtime_ns};
	free(path);
	return ret == ERR_MISSING ? 0 : ret;
}

static bool is_same_file(const struct repo_shallow_stamp *a,
			 const struct repo_shallow_stamp *b)
{
	return a->exists == b->exists && a->dev == b->dev && a->ino == b->ino &&
	       a->size == b->size && a->mtime_ns == b->mtime_ns;
}

struct retaining {
	struct listing listing;
	bool (*keeps)(void *ctx, const struct oid *oid);
	void *ctx;
	bool has_others;
};

static int list_kept(void *ctx, const struct oid *oid)
{
	struct retaining *r = ctx;

	if (r->keeps(r->ctx, oid))
		return list(&r->listing, oid);
	r->has_others = true;
	return 0;
}

static int retain(const struct repo *repo, struct retaining *r,
		  const struct repo_shallow_stamp *since,
		  struct sys_tempfile *lock, const char *path,
		  const char *target, struct error *err)
{
	struct repo_shallow_stamp now;
	int ret = repo_shallow_stamp_take(&now, repo, err);

	if (ret < 0 || !is_same_file(&now, since))
		return ret;
	oidmap_release(&r->listing.seen);
	buf_reset(&r->listing.text);
	ret = repo_shallow_each(repo, list_kept, r, err);
	if (ret == ERR_NOMEM)
		return error_nomem(err);
	if (!ret && !r->listing.text.len)
		return sys_unlink(path, err);
	return ret ? ret : replace(repo, lock, target, &r->listing.text, err);
}

int repo_shallow_retain(const struct repo *repo,
			const struct repo_shallow_stamp *since,
			bool (*keeps)(void *ctx, const struct oid *oid),
			void *ctx, struct error *err)
{
	struct retaining r = {
		.listing = {repo->algo, OIDMAP_INIT, BUF_INIT},
		.keeps = keeps,
		.ctx = ctx,
	};
	char *path = repo_common_path(repo, "shallow");
	char *target = NULL;
	struct sys_tempfile lock = SYS_TEMPFILE_INIT;
	int ret = path ? 0 : error_nomem(err);

	if (!ret)
		ret = repo_shallow_each(repo, list_kept, &r, err);
	if (!ret && r.has_others)
		ret = sys_lockfile_follow(&lock, &target, path,
					  0666 | repo->share, 0, err);
	if (!ret && r.has_others)
		ret = retain(repo, &r, since, &lock, path, target, err);
	sys_tempfile_abort(&lock);
	oidmap_release(&r.listing.seen);
	buf_release(&r.listing.text);
	free(path);
	free(target);
	return ret;
}
