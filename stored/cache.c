/* SPDX-License-Identifier: MIT */
/* Caches files of generations on the local disk. */
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "object/oid.h"
#include "stored/cache.h"
#include "stored/fetch.h"
#include "stored/layout.h"
#include "sys/clock.h"
#include "sys/io.h"

/*
 * maximum number of tries to link a file; a try fails if another process
 * removes the file from the cache after the download
 */
#define LINK_TRIES 3

struct stored_cache {
	char *dir;                        /* owned: "<dir>/file" */
	atomic_uint_least64_t downloaded; /* bytes */
	struct stored_counts *counts;     /* borrowed, or NULL */
};

int stored_cache_open(struct stored_cache **out, const char *dir,
		      struct error *err)
{
	struct stored_cache *cache = mem_calloc(1, sizeof(*cache));
	int ret;

	*out = NULL;
	if (!cache)
		return error_nomem(err);
	cache->dir = stored_join(dir, "file", err);
	ret = cache->dir ? sys_mkdir_p(cache->dir, err) : ERR_NOMEM;
	if (ret) {
		stored_cache_close(cache);
		return ret;
	}
	*out = cache;
	return 0;
}

void stored_cache_close(struct stored_cache *cache)
{
	if (!cache)
		return;
	free(cache->dir);
	free(cache);
}

void stored_cache_count(struct stored_cache *cache,
			struct stored_counts *counts)
{
	cache->counts = counts;
}

/* Appends the path of a file in the cache. */
static int path_of(const struct stored_cache *cache, struct buf *path,
		   const struct generation_file *file, struct error *err)
{
	char hex[OID_MAX_HEX_LEN + 1];
	struct oid sha256;

	oid_from_raw(&sha256, file->sha256, HASH_SHA256);
	oid_to_hex(hex, &sha256, HASH_SHA256);
	return buf_printf(path, "%s/%.2s/%s%s", cache->dir, hex, hex + 2,
			  file->is_executable ? "x" : "") < 0
		       ? error_nomem(err)
		       : 0;
}

static int make_parent(const char *path, struct error *err)
{
	char *dir = mem_strndup(path, (size_t)(strrchr(path, '/') - path));
	int ret = dir ? sys_mkdir_p(dir, err) : error_nomem(err);

	free(dir);
	return ret;
}

/*
 * Returns whether the cache has the file at `path` completely. A file is synced
 * before it gets its name, so only its size is compared.
 */
static bool is_there(const char *path, const struct generation_file *file)
{
	struct sys_stat st;

	return !sys_stat(&st, path, NULL) && st.size == file->size;
}

/* Downloads a file, and adds its bytes to the counters. */
static int fetch(struct stored_cache *cache, const char *path,
		 const struct generation_place *place,
		 const struct generation_file *file,
		 enum sys_fsync_method method, struct error *err)
{
	int ret = stored_fetch(place, file, path, method, err);

	if (!ret) {
		atomic_fetch_add(&cache->downloaded, file->size);
		stored_counts_download(cache->counts, file->size);
	}
	return ret;
}

int stored_cache_file(struct stored_cache *cache, struct buf *path,
		      const struct generation_place *place,
		      const struct generation_file *file, struct error *err)
{
	struct buf at = BUF_INIT;
	int ret = path_of(cache, &at, file, err);

	if (!ret && !is_there(at.data, file)) {
		ret = make_parent(at.data, err);
		if (!ret)
			ret = fetch(cache, at.data, place, file,
				    SYS_FSYNC_FSYNC, err);
	}
	if (!ret && buf_append(path, at.data, at.len) < 0)
		ret = error_nomem(err);
	buf_release(&at);
	return ret;
}

int stored_cache_link(struct stored_cache *cache, const char *path,
		      const struct generation_place *place,
		      const struct generation_file *file, struct error *err)
{
	struct buf from = BUF_INIT;
	struct error why = ERROR_INIT;
	int ret = 0;

	for (int i = 0; i < LINK_TRIES; i++) {
		buf_reset(&from);
		ret = stored_cache_file(cache, &from, place, file, &why);
		if (ret)
			break;
		ret = sys_link(from.data, path, &why);
		/*
		 * Try again only if another process has evicted the file after
		 * the download.
		 */
		if (ret != ERR_IO || why.sys_errno != ENOENT)
			break;
	}
	/*
	 * If ret is 1, no hard link is possible: the repository is on another
	 * file system, or the file has the maximum number of links. So download
	 * the file to `path`.
	 */
	if (ret > 0)
		ret = fetch(cache, path, place, file, SYS_FSYNC_NONE, &why);
	if (ret && err)
		*err = why;
	buf_release(&from);
	return ret;
}

bool stored_cache_has(const struct stored_cache *cache,
		      const struct generation_file *file)
{
	struct buf path = BUF_INIT;
	bool has = !path_of(cache, &path, file, NULL) &&
		   is_there(path.data, file);

	buf_release(&path);
	return has;
}

int stored_cache_put(struct stored_cache *cache,
		     const struct generation_file *file, const void *bytes,
		     size_t len, struct error *err)
{
	struct buf path = BUF_INIT;
	int ret = path_of(cache, &path, file, err);

	if (!ret)
		ret = make_parent(path.data, err);
	if (!ret)
		ret = stored_fetch_put(file, path.data, bytes, len,
				       SYS_FSYNC_FSYNC, err);
	buf_release(&path);
	return ret;
}

int stored_cache_borrow(struct stored_cache *cache, struct sys_map *map,
			const struct generation_place *place,
			const struct generation_file *file, struct error *err)
{
	struct buf path = BUF_INIT;
	int ret = path_of(cache, &path, file, err);

	if (!ret)
		ret = make_parent(path.data, err);
	if (!ret)
		ret = fetch(cache, path.data, place, file, SYS_FSYNC_NONE, err);
	if (!ret) {
		ret = sys_map_open(map, path.data, err);
		sys_unlink(path.data, NULL);
	}
	buf_release(&path);
	return ret;
}

int stored_cache_add(struct stored_cache *cache,
		     const struct generation_file *file, const char *path,
		     struct error *err)
{
	struct buf at = BUF_INIT;
	int ret = path_of(cache, &at, file, err);

	if (!ret && !is_there(at.data, file)) {
		sys_unlink(at.data, NULL);
		ret = make_parent(at.data, err);
		if (!ret)
			ret = sys_link(path, at.data, err);
		/*
		 * The name need not be durable. If it is lost, the file is
		 * downloaded again.
		 */
	}
	buf_release(&at);
	return ret > 0 ? 0 : ret;
}

/*
 * Removes a file that no repository has. Returns the number of bytes that were
 * freed, or 0.
 */
static uint64_t remove_unused(const char *path)
{
	struct sys_stat st;

	if (sys_lstat(&st, path, NULL) || st.link_nr != 1 ||
	    sys_unlink(path, NULL))
		return 0;
	return st.size;
}

uint64_t stored_cache_drop(struct stored_cache *cache,
			   const struct generation_file *file)
{
	struct buf path = BUF_INIT;
	uint64_t bytes = path_of(cache, &path, file, NULL)
				 ? 0
				 : remove_unused(path.data);

	buf_release(&path);
	return bytes;
}

uint64_t stored_cache_downloaded(const struct stored_cache *cache)
{
	return cache->downloaded;
}

/* ---- all files */

struct sweep {
	/* path of the directory that is listed now */
	struct buf path;
	uint64_t bytes;
	/*
	 * a file whose modification time is before this time is old enough to
	 * be removed
	 */
	int64_t old_ns;
	int depth;
};

static int sweep_entry(void *ctx, const char *name);

static int sweep_dir(struct sweep *s, struct error *err)
{
	int ret = sys_dir_each(s->path.data, sweep_entry, s, err);

	return ret == ERR_MISSING ? 0 : ret;
}

/*
 * Handles a file of the cache: removes it if it is old and no repository has
 * it, otherwise adds its size. If another process removes the file first, this
 * is no error.
 */
static void sweep_file(struct sweep *s)
{
	struct sys_stat st;

	if (sys_lstat(&st, s->path.data, NULL))
		return;
	if (st.link_nr == 1 && st.mtime_ns < s->old_ns &&
	    !sys_unlink(s->path.data, NULL))
		return;
	s->bytes += st.size;
}

static int sweep_entry(void *ctx, const char *name)
{
	struct sweep *s = ctx;
	size_t len = s->path.len;
	int ret = 0;

	if (buf_printf(&s->path, "/%s", name) < 0)
		return ERR_NOMEM;
	if (s->depth++)
		sweep_file(s);
	else
		ret = sweep_dir(s, NULL);
	s->depth--;
	buf_set_len(&s->path, len);
	return ret;
}

int stored_cache_sweep(uint64_t *bytes, struct stored_cache *cache,
		       struct error *err)
{
	struct sweep s = {
		.path = BUF_INIT,
		.old_ns = (sys_clock_seconds() - STORED_CACHE_AGE) * 1000000000,
	};
	int ret = buf_append_str(&s.path, cache->dir) < 0 ? error_nomem(err)
							  : sweep_dir(&s, err);

	*bytes = s.bytes;
	buf_release(&s.path);
	return ret;
}

/* ---- a repository */

struct linking {
	struct stored_cache *cache;
	const struct generation_place *place;
};

static int put_link(void *ctx, const struct generation_file *file,
		    const char *path, struct error *err)
{
	const struct linking *l = ctx;

	return stored_cache_link(l->cache, path, l->place, file, err);
}

int stored_cache_lay_out(struct stored_cache *cache, const char *dir,
			 const struct generation_place *place,
			 const struct generation *g, struct error *err)
{
	struct linking l = {cache, place};
	const struct stored_layout how = {
		.put = put_link,
		.ctx = &l,
		.threads = STORED_THREADS,
		.method = SYS_FSYNC_NONE,
	};

	return stored_layout_make(dir, g, &how, err);
}
