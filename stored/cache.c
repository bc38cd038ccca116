/* SPDX-License-Identifier: MIT */
/* Files of generations on the local disk. */
#include <string.h>

#include "base/mem.h"
#include "object/oid.h"
#include "stored/cache.h"
#include "stored/fetch.h"
#include "stored/layout.h"
#include "sys/io.h"

struct stored_cache {
	char *dir; /* owned: "<dir>/file" */
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

/* Appends the path of a file in the cache, and makes its directory. */
static int place_file(const struct stored_cache *cache, struct buf *path,
		      const struct generation_file *file, struct error *err)
{
	char hex[OID_MAX_HEX_LEN + 1];
	struct oid sha256;

	oid_from_raw(&sha256, file->sha256, HASH_SHA256);
	oid_to_hex(hex, &sha256, HASH_SHA256);
	if (buf_printf(path, "%s/%.2s", cache->dir, hex) < 0)
		return error_nomem(err);
	if (sys_mkdir_p(path->data, err) < 0)
		return ERR_IO;
	return buf_printf(path, "/%s%s", hex + 2,
			  file->is_executable ? "x" : "") < 0
		       ? error_nomem(err)
		       : 0;
}

int stored_cache_file(struct stored_cache *cache, struct buf *path,
		      const struct generation_place *place,
		      const struct generation_file *file, struct error *err)
{
	struct buf at = BUF_INIT;
	struct sys_stat st;
	int ret = place_file(cache, &at, file, err);

	/* Files with a name are synced, so the size tells that one is whole. */
	if (!ret && (sys_stat(&st, at.data, NULL) || st.size != file->size))
		ret = stored_fetch(place, file, at.data, SYS_FSYNC_FSYNC, err);
	if (!ret && buf_append(path, at.data, at.len) < 0)
		ret = error_nomem(err);
	buf_release(&at);
	return ret;
}

struct linking {
	struct stored_cache *cache;
	const struct generation_place *place;
};

static int put_link(void *ctx, const struct generation_file *file,
		    const char *path, struct error *err)
{
	const struct linking *l = ctx;
	struct buf from = BUF_INIT;
	int ret = stored_cache_file(l->cache, &from, l->place, file, err);

	if (!ret)
		ret = sys_link(from.data, path, err);
	/* Another file system, or the file has as many links as it may. */
	if (ret > 0)
		ret = stored_fetch(l->place, file, path, SYS_FSYNC_NONE, err);
	buf_release(&from);
	return ret;
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
