/* SPDX-License-Identifier: MIT */
/* Parses entries of index files. */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/cursor.h"
#include "base/mem.h"
#include "base/varint.h"
#include "names/index-file.h"
#include "object/hash.h"
#include "object/parse.h"
#include "repo/worktree.h"
#include "sys/io.h"
#include "sys/map.h"

enum {
	/*
	 * Offsets in an index entry: the file mode follows the times, the
	 * device and the inode.
	 */
	INDEX_MODE_OFF = 24,
	INDEX_OID_OFF = 40,
	INDEX_HEADER_LEN = 12,
	INDEX_FLAG_EXTENDED = 0x4000,
};

static int corrupt(struct error *err)
{
	return error_set(err, ERR_CORRUPT, "malformed index file");
}

/* The state of the parser of one index file. */
struct reading {
	struct cursor c;
	uint32_t version;
	enum hash_algo algo;
	/*
	 * path of the previous entry; in version 4, an entry stores only how
	 * its path differs from the previous path
	 */
	struct buf path;
	const char *index; /* name of the index file */
	struct index_callbacks on;
	bool skips_submodules; /* do not visit the entries of submodules */
};

/*
 * Takes the path of an index entry of version 4. The entry has a number
 * (base/varint.h) and a suffix. The number says how many bytes to remove from
 * the end of the previous path; then the suffix is appended. Returns 0,
 * ERR_CORRUPT or ERR_NOMEM.
 */
static int take_compressed_path(struct reading *r)
{
	const uint8_t *nul;
	uint64_t drop;

	if (!varint_take(&r->c, &drop) || drop > r->path.len)
		return ERR_CORRUPT;
	nul = memchr(r->c.p, 0, cursor_left(&r->c));
	if (!nul)
		return ERR_CORRUPT;
	buf_set_len(&r->path, r->path.len - drop);
	if (buf_append(&r->path, r->c.p, (size_t)(nul - r->c.p)) < 0)
		return ERR_NOMEM;
	r->c.p = nul + 1;
	return 0;
}

/*
 * Takes the path and the padding of an index entry of version 2 or 3. The
 * entry begins at `start`. Returns 0, ERR_CORRUPT or ERR_NOMEM.
 */
static int take_padded_path(struct reading *r, const uint8_t *start)
{
	const uint8_t *nul = memchr(r->c.p, 0, cursor_left(&r->c));
	size_t len;

	if (!nul)
		return ERR_CORRUPT;
	len = (size_t)(nul - start);
	/* One to eight NULs pad the entry to a multiple of eight bytes. */
	len += 8 - len % 8;
	if (len > (size_t)(r->c.end - start))
		return ERR_CORRUPT;
	buf_reset(&r->path);
	if (buf_append(&r->path, r->c.p, (size_t)(nul - r->c.p)) < 0)
		return ERR_NOMEM;
	r->c.p = start + len;
	return 0;
}

static int parse_entry(struct reading *r, struct index_entry *entry)
{
	const uint8_t *start = r->c.p, *fixed;
	uint16_t flags;
	int ret;

	if (!cursor_bytes(&r->c, &fixed, INDEX_OID_OFF + hash_len(r->algo)) ||
	    !cursor_be16(&r->c, &flags))
		return ERR_CORRUPT;
	entry->mode = load_be32(fixed + INDEX_MODE_OFF);
	oid_from_raw(&entry->oid, fixed + INDEX_OID_OFF, r->algo);
	if ((flags & INDEX_FLAG_EXTENDED) &&
	    (r->version < 3 || !cursor_skip(&r->c, 2)))
		return ERR_CORRUPT;
	ret = r->version >= 4 ? take_compressed_path(r)
			      : take_padded_path(r, start);
	entry->path = r->path.data;
	entry->path_len = r->path.len;
	entry->index = r->index;
	return ret;
}

/* One directory of a cache-tree. */
struct cache_node {
	bool has_oid;
	struct oid oid;
	uint64_t subtree_nr;
};

/*
 * Takes a directory of a cache-tree: its name and NUL, the number of entries in
 * decimal, a space, the number of subtrees, a line feed, and the id. A negative
 * number of entries means that there is no id. Returns 0 or ERR_CORRUPT.
 */
static int take_cache_node(struct cache_node *node, struct cursor *data,
			   enum hash_algo algo)
{
	const uint8_t *name_end = memchr(data->p, 0, cursor_left(data));
	const uint8_t *line_end, *p, *raw;

	if (!name_end)
		return ERR_CORRUPT;
	data->p = name_end + 1;
	line_end = memchr(data->p, '\n', cursor_left(data));
	p = line_end ? memchr(data->p, ' ', (size_t)(line_end - data->p))
		     : NULL;
	if (!p)
		return ERR_CORRUPT;
	data->p = line_end + 1;
	for (node->subtree_nr = 0; ++p < line_end;) {
		if (*p < '0' || *p > '9' || node->subtree_nr > UINT32_MAX)
			return ERR_CORRUPT;
		node->subtree_nr = node->subtree_nr * 10 + (*p - '0');
	}
	node->has_oid = name_end[1] != '-';
	if (!node->has_oid)
		return 0;
	if (!cursor_bytes(data, &raw, hash_len(algo)))
		return ERR_CORRUPT;
	oid_from_raw(&node->oid, raw, algo);
	return 0;
}

/*
 * Visits the trees of a cache-tree. The directories come in pre-order, each
 * with its number of subtrees. So all directories below a directory can be
 * skipped by counting. Returns 0, the first nonzero result of the callback, or
 * ERR_CORRUPT.
 */
static int visit_cache_tree(const struct reading *r, struct cursor *data,
			    struct error *err)
{
	/* number of directories that are still to be skipped */
	uint64_t skipped_nr = 0;
	struct cache_node node;

	while (r->on.tree && cursor_left(data)) {
		struct index_tree tree = {.index = r->index};
		int ret;

		if (take_cache_node(&node, data, r->algo) < 0)
			return corrupt(err);
		if (skipped_nr) {
			skipped_nr += node.subtree_nr - 1;
			continue;
		}
		if (!node.has_oid)
			continue;
		tree.oid = node.oid;
		ret = r->on.tree(r->on.ctx, &tree);
		if (ret)
			return ret;
		if (tree.skips_subtrees)
			skipped_nr = node.subtree_nr;
	}
	return 0;
}

enum { UNDO_STAGE_NR = 3 };

/*
 * Takes the path of a resolved conflict, and the modes of its stages. Each mode
 * is an octal number with a NUL; 0 means that the stage had no file. Returns 0
 * or ERR_CORRUPT.
 */
static int take_undo_modes(uint32_t *modes, struct cursor *data)
{
	const uint8_t *nul = memchr(data->p, 0, cursor_left(data));

	for (size_t i = 0; i < UNDO_STAGE_NR && nul; i++) {
		data->p = nul + 1;
		nul = memchr(data->p, 0, cursor_left(data));
		if (!nul || nul == data->p)
			return ERR_CORRUPT;
		for (modes[i] = 0; data->p < nul; data->p++) {
			if (*data->p < '0' || *data->p > '7' ||
			    modes[i] > UINT32_MAX >> 3)
				return ERR_CORRUPT;
			modes[i] = modes[i] << 3 | (*data->p - '0');
		}
	}
	if (!nul)
		return ERR_CORRUPT;
	data->p = nul + 1;
	return 0;
}

/*
 * Visits the objects of the resolve-undo extension. Each resolved conflict has
 * a path, the modes of the stages 1 to 3, and the ids of the stages that had a
 * file. Submodules are not visited. Returns 0, the first nonzero result of the
 * callback, or ERR_CORRUPT.
 */
static int visit_undo(const struct reading *r, struct cursor *data,
		      struct error *err)
{
	uint32_t modes[UNDO_STAGE_NR];

	while (r->on.undo && cursor_left(data)) {
		if (take_undo_modes(modes, data) < 0)
			return corrupt(err);
		for (size_t i = 0; i < UNDO_STAGE_NR; i++) {
			const uint8_t *raw;
			struct oid oid;
			int ret = 0;

			if (!modes[i])
				continue;
			if (!cursor_bytes(data, &raw, hash_len(r->algo)))
				return corrupt(err);
			oid_from_raw(&oid, raw, r->algo);
			if ((modes[i] & TREE_MODE_TYPE) != TREE_MODE_GITLINK)
				ret = r->on.undo(r->on.ctx, &oid, r->index);
			if (ret)
				return ret;
		}
	}
	return 0;
}

/*
 * Parses an extension of an index file. Returns 0 or a negative error code. An
 * unknown extension whose name starts with a lower-case letter is
 * ERR_UNSUPPORTED, because its writer requires that readers understand the
 * extension.
 */
static int parse_extension(const struct reading *r, const uint8_t *name,
			   struct cursor *data, struct oid *shared,
			   struct error *err)
{
	const uint8_t *raw;

	if (!memcmp(name, "link", 4)) {
		if (!cursor_bytes(data, &raw, hash_len(r->algo)))
			return corrupt(err);
		oid_from_raw(shared, raw, r->algo);
		return 0;
	}
	if (!memcmp(name, "TREE", 4))
		return visit_cache_tree(r, data, err);
	if (!memcmp(name, "REUC", 4))
		return visit_undo(r, data, err);
	/*
	 * An extension whose name starts with a capital may be ignored. The
	 * extension "sdir" may be ignored too: it says only that an entry may
	 * stand for a whole tree, and this parser accepts such entries.
	 */
	if ((name[0] >= 'A' && name[0] <= 'Z') || !memcmp(name, "sdir", 4))
		return 0;
	return error_set(err, ERR_UNSUPPORTED,
			 "index extension '%.4s' is not supported",
			 (const char *)name);
}

static int parse_extensions(struct reading *r, struct oid *shared,
			    struct error *err)
{
	struct cursor *c = &r->c;

	while (cursor_left(c) >= 8) {
		const uint8_t *name = c->p, *bytes;
		struct cursor data;
		uint32_t len;
		int ret;

		cursor_skip(c, 4);
		if (!cursor_be32(c, &len) || !cursor_bytes(c, &bytes, len))
			return corrupt(err);
		data = cursor_make(bytes, len);
		ret = parse_extension(r, name, &data, shared, err);
		if (ret)
			return ret;
	}
	return 0;
}

/* Returns whether an entry is a submodule that is not visited. */
static bool is_skipped(const struct reading *r, const struct index_entry *entry)
{
	return r->skips_submodules &&
	       (entry->mode & TREE_MODE_TYPE) == TREE_MODE_GITLINK;
}

static int parse_entries(struct reading *r, struct error *err)
{
	const uint8_t *magic;
	uint32_t nr;

	if (!cursor_bytes(&r->c, &magic, 4) || memcmp(magic, "DIRC", 4) != 0 ||
	    !cursor_be32(&r->c, &r->version) || !cursor_be32(&r->c, &nr) ||
	    r->version < 2 || r->version > 4)
		return corrupt(err);
	for (uint32_t i = 0; i < nr; i++) {
		struct index_entry entry;
		int ret = parse_entry(r, &entry);

		if (ret < 0)
			return ret == ERR_NOMEM ? error_nomem(err)
						: corrupt(err);
		if (!r->on.entry || is_skipped(r, &entry))
			continue;
		ret = r->on.entry(r->on.ctx, &entry);
		if (ret)
			return ret;
	}
	return 0;
}

static int parse(struct reading *r, struct oid *shared, struct error *err)
{
	int ret;

	*shared = (struct oid)OID_ZERO_INIT;
	if (cursor_left(&r->c) < INDEX_HEADER_LEN + hash_len(r->algo))
		return error_set(err, ERR_CORRUPT,
				 "index file smaller than expected");
	r->c.end -= hash_len(r->algo);
	ret = parse_entries(r, err);
	if (!ret)
		ret = parse_extensions(r, shared, err);
	buf_release(&r->path);
	return ret;
}

int index_file_parse(const void *bytes, size_t len, enum hash_algo algo,
		     const struct index_callbacks *on, struct oid *shared,
		     struct error *err)
{
	struct reading r = {
		.c = cursor_make(bytes, len),
		.algo = algo,
		.path = BUF_INIT,
		.index = "index",
		.on = *on,
	};

	return parse(&r, shared, err);
}

struct visit {
	const struct repo *repo;
	struct index_callbacks on;
	struct error *err;
	bool checks_sum;
	bool skips_submodules; /* do not visit the entries of submodules */
	const char *index;     /* name of the index file that is visited */
};

/*
 * Verifies the checksum at the end of an index file. The file is long enough
 * to have a checksum. Returns 0, ERR_CORRUPT or ERR_NOMEM.
 */
static int check_sum(const struct visit *v, const struct sys_map *map,
		     const char *path)
{
	enum hash_algo algo = v->repo->algo;
	struct oid sum;
	int ret;

	if (!v->checks_sum || map->len < hash_len(algo))
		return 0;
	oid_from_raw(&sum,
		     (const uint8_t *)map->data + map->len - hash_len(algo),
		     algo);
	if (oid_is_zero(&sum))
		return 0;
	ret = hash_check_trailer(map->data, map->len, algo, path, v->err);
	return ret == ERR_CORRUPT
		       ? error_set(v->err, ret, "bad index file sha1 signature")
		       : ret;
}

static int visit_bytes(const struct visit *v, const struct sys_map *map,
		       struct oid *shared)
{
	struct reading r = {
		.c = cursor_make(map->data, map->len),
		.algo = v->repo->algo,
		.path = BUF_INIT,
		.index = v->index,
		.on = v->on,
		.skips_submodules = v->skips_submodules,
	};

	return parse(&r, shared, v->err);
}

/*
 * Visits the entries of the index file `path`, if it exists. Returns 0, the
 * nonzero result of the callback, or a negative error code.
 */
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
	ret = check_sum(v, &map, path);
	if (!ret)
		ret = visit_bytes(v, &map, shared);
	if ((ret == ERR_CORRUPT || ret == ERR_UNSUPPORTED) && v->err)
		error_set(v->err, ret, "%s: %s", path, v->err->msg);
	sys_map_close(&map);
	return ret;
}

/*
 * Visits the entries of the index file `path`, and of its shared index in
 * `dir`. A missing shared index is an error: its entries are unknown, so their
 * objects must not be removed. Returns 0, the nonzero result of the callback,
 * or a negative error code.
 */
static int visit_file(const struct visit *v, const char *path, const char *dir)
{
	char hex[OID_MAX_HEX_LEN + 1];
	struct oid none = OID_ZERO_INIT, shared, ignored;
	struct buf other = BUF_INIT;
	struct visit one = *v;
	int ret;

	one.index = path;
	ret = visit_one(&one, path, &shared);

	if (!ret && !oid_equal(&shared, &none)) {
		oid_to_hex(hex, &shared, v->repo->algo);
		if (buf_printf(&other, "%s/sharedindex.%s", dir, hex) < 0)
			ret = error_nomem(v->err);
		else if (!sys_exists(other.data))
			ret = error_set(v->err, ERR_IO,
					"%s: index file open failed: No such "
					"file or directory",
					other.data);
		else
			ret = visit_one(&one, other.data, &ignored);
	}
	buf_release(&other);
	return ret;
}

static int visit_dir(const struct visit *v, const char *dir)
{
	struct buf path = BUF_INIT;
	int ret = buf_printf(&path, "%s/index", dir);

	ret = ret < 0 ? error_nomem(v->err) : visit_file(v, path.data, dir);
	buf_release(&path);
	return ret;
}

int index_file_each(const struct repo *repo, index_entry_fn *fn, void *ctx,
		    struct error *err)
{
	struct visit v = {
		.repo = repo,
		.on = {.entry = fn, .ctx = ctx},
		.err = err,
	};
	const char *file = getenv("GIT_INDEX_FILE");

	return file ? visit_file(&v, file, repo->git_dir)
		    : visit_dir(&v, repo->git_dir);
}

static int visit_worktree(void *ctx, const char *name, const char *git_dir)
{
	(void)name;
	return visit_dir(ctx, git_dir);
}

/* The callback of index_file_each_oid(), which gets the id of each object. */
struct oid_visit {
	int (*fn)(void *ctx, const struct oid *oid);
	void *ctx;
};

static int visit_entry(void *ctx, const struct index_entry *entry)
{
	const struct oid_visit *v = ctx;

	return v->fn(v->ctx, &entry->oid);
}

static int visit_tree(void *ctx, struct index_tree *tree)
{
	const struct oid_visit *v = ctx;

	return v->fn(v->ctx, &tree->oid);
}

static int visit_undo_oid(void *ctx, const struct oid *oid, const char *index)
{
	const struct oid_visit *v = ctx;

	(void)index;
	return v->fn(v->ctx, oid);
}

/* Visits the index files of the main work tree and of all linked ones. */
static int visit_all(const struct repo *repo, const struct index_callbacks *on,
		     bool checks_sum, struct error *err)
{
	struct visit v = {
		.repo = repo,
		.on = *on,
		.err = err,
		.checks_sum = checks_sum,
		.skips_submodules = true,
	};
	int ret = visit_dir(&v, repo->common_dir);

	return ret ? ret : worktree_each(repo, visit_worktree, &v, err);
}

int index_file_each_oid(const struct repo *repo,
			int (*fn)(void *ctx, const struct oid *oid), void *ctx,
			struct error *err)
{
	struct oid_visit oids = {fn, ctx};
	const struct index_callbacks on = {
		.entry = visit_entry,
		.tree = visit_tree,
		.undo = visit_undo_oid,
		.ctx = &oids,
	};

	return visit_all(repo, &on, false, err);
}

int index_file_check_each(const struct repo *repo,
			  const struct index_callbacks *on, struct error *err)
{
	return visit_all(repo, on, true, err);
}
