/* SPDX-License-Identifier: MIT */
/* Ids of index entries. */
#include <string.h>

#include "base/buf.h"
#include "base/cursor.h"
#include "base/mem.h"
#include "object/parse.h"
#include "repo/index-file.h"
#include "sys/io.h"
#include "sys/map.h"

enum {
	INDEX_MODE_OFF = 24, /* after times, device and inode */
	INDEX_OID_OFF = 40,
	INDEX_FLAG_EXTENDED = 0x4000,
};

static int corrupt(struct error *err)
{
	return error_set(err, ERR_CORRUPT, "malformed index file");
}

/* Step over the path of a version 4 entry: a number and a suffix. */
static bool skip_compressed_path(struct cursor *c)
{
	uint8_t byte;

	do {
		if (!cursor_u8(c, &byte))
			return false;
	} while (byte & 0x80);
	do {
		if (!cursor_u8(c, &byte))
			return false;
	} while (byte);
	return true;
}

/* Step over path and padding of an older entry that began at `start`. */
static bool skip_padded_path(struct cursor *c, const uint8_t *start)
{
	const uint8_t *nul = memchr(c->p, 0, cursor_left(c));
	size_t len;

	if (!nul)
		return false;
	len = (size_t)(nul - start);
	/* One to eight NULs make the entry a multiple of eight bytes. */
	len += 8 - len % 8;
	if (len > (size_t)(c->end - start))
		return false;
	c->p = start + len;
	return true;
}

static int parse_entry(struct cursor *c, uint32_t version, enum hash_algo algo,
		       struct oid *oid, uint32_t *mode)
{
	const uint8_t *start = c->p, *fixed;
	uint16_t flags;

	if (!cursor_bytes(c, &fixed, INDEX_OID_OFF + hash_len(algo)) ||
	    !cursor_be16(c, &flags))
		return ERR_CORRUPT;
	*mode = load_be32(fixed + INDEX_MODE_OFF);
	oid_from_raw(oid, fixed + INDEX_OID_OFF, algo);
	if ((flags & INDEX_FLAG_EXTENDED) &&
	    (version < 3 || !cursor_skip(c, 2)))
		return ERR_CORRUPT;
	if (version >= 4)
		return skip_compressed_path(c) ? 0 : ERR_CORRUPT;
	return skip_padded_path(c, start) ? 0 : ERR_CORRUPT;
}

/* Extensions in lower case change the meaning of the entries. */
static int parse_extension(const uint8_t *name, struct cursor *data,
			   enum hash_algo algo, struct oid *shared,
			   struct error *err)
{
	const uint8_t *raw;

	if (!memcmp(name, "link", 4)) {
		if (!cursor_bytes(data, &raw, hash_len(algo)))
			return corrupt(err);
		oid_from_raw(shared, raw, algo);
		return 0;
	}
	/* "sdir" only says that entries may be trees. */
	if ((name[0] >= 'A' && name[0] <= 'Z') || !memcmp(name, "sdir", 4))
		return 0;
	return error_set(err, ERR_UNSUPPORTED,
			 "index extension '%.4s' is not supported",
			 (const char *)name);
}

static int parse_extensions(struct cursor *c, enum hash_algo algo,
			    struct oid *shared, struct error *err)
{
	while (cursor_left(c) >= 8) {
		const uint8_t *name = c->p, *bytes;
		struct cursor data;
		uint32_t len;
		int ret;

		cursor_skip(c, 4);
		if (!cursor_be32(c, &len) || !cursor_bytes(c, &bytes, len))
			return corrupt(err);
		data = cursor_make(bytes, len);
		ret = parse_extension(name, &data, algo, shared, err);
		if (ret < 0)
			return ret;
	}
	return 0;
}

int index_file_parse(const void *bytes, size_t len, enum hash_algo algo,
		     int (*fn)(void *ctx, const struct oid *oid), void *ctx,
		     struct oid *shared, struct error *err)
{
	struct cursor c = cursor_make(bytes, len);
	const uint8_t *magic;
	uint32_t version, nr;

	*shared = (struct oid)OID_ZERO_INIT;
	if (len < hash_len(algo))
		return corrupt(err);
	c.end -= hash_len(algo);
	if (!cursor_bytes(&c, &magic, 4) || memcmp(magic, "DIRC", 4) != 0 ||
	    !cursor_be32(&c, &version) || !cursor_be32(&c, &nr) ||
	    version < 2 || version > 4)
		return corrupt(err);
	for (uint32_t i = 0; i < nr; i++) {
		struct oid oid;
		uint32_t mode;
		int ret = parse_entry(&c, version, algo, &oid, &mode);

		if (ret < 0)
			return corrupt(err);
		if ((mode & TREE_MODE_TYPE) == TREE_MODE_GITLINK)
			continue;
		ret = fn(ctx, &oid);
		if (ret)
			return ret;
	}
	return parse_extensions(&c, algo, shared, err);
}

struct visit {
	const struct repo *repo;
	int (*fn)(void *ctx, const struct oid *oid);
	void *ctx;
	struct error *err;
};

/* Visit one file, if it is there. */
static int visit_one(const struct visit *v, const char *path,
		     struct oid *shared)
{
	struct sys_map map;
	int ret = sys_map_open(&map, path, v->err);

	*shared = (struct oid)OID_ZERO_INIT;
	if (ret == ERR_MISSING)
		return 0;
	if (ret < 0)
		return ret;
	ret = index_file_parse(map.data, map.len, v->repo->algo, v->fn, v->ctx,
			       shared, v->err);
	if ((ret == ERR_CORRUPT || ret == ERR_UNSUPPORTED) && v->err)
		error_set(v->err, ret, "%s: %s", path, v->err->msg);
	sys_map_close(&map);
	return ret;
}

/* Visit "<dir>/index" and what it shares: "<dir>/sharedindex.<id>". */
static int visit_dir(const struct visit *v, const char *dir)
{
	char hex[OID_MAX_HEX_LEN + 1];
	struct oid none = OID_ZERO_INIT, shared, ignored;
	struct buf path = BUF_INIT;
	int ret;

	if (buf_printf(&path, "%s/index", dir) < 0)
		return error_nomem(v->err);
	ret = visit_one(v, path.data, &shared);
	if (!ret && !oid_equal(&shared, &none)) {
		buf_reset(&path);
		oid_to_hex(hex, &shared, v->repo->algo);
		if (buf_printf(&path, "%s/sharedindex.%s", dir, hex) < 0)
			ret = error_nomem(v->err);
		else
			ret = visit_one(v, path.data, &ignored);
	}
	buf_release(&path);
	return ret;
}

static int visit_worktree(void *ctx, const char *name)
{
	const struct visit *v = ctx;
	struct buf path = BUF_INIT;
	int ret;

	if (buf_printf(&path, "%s/worktrees/%s", v->repo->common_dir, name) < 0)
		return error_nomem(v->err);
	ret = visit_dir(v, path.data);
	buf_release(&path);
	return ret;
}

int index_file_each_oid(const struct repo *repo,
			int (*fn)(void *ctx, const struct oid *oid), void *ctx,
			struct error *err)
{
	struct visit v = {repo, fn, ctx, err};
	char *worktrees = repo_common_path(repo, "worktrees");
	int ret = worktrees ? visit_dir(&v, repo->common_dir)
			    : error_nomem(err);

	if (!ret) {
		ret = sys_dir_each(worktrees, visit_worktree, &v, err);
		if (ret == ERR_MISSING)
			ret = 0;
	}
	free(worktrees);
	return ret;
}
