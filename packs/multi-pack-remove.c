/* SPDX-License-Identifier: MIT */
/* Removes multi-pack-indexes and their side files. */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "odb/odb-midx.h"
#include "pack/midx.h"
#include "packs/multi-pack-lock.h"
#include "packs/multi-pack-remove.h"
#include "sys/io.h"
#include "sys/map.h"

/*
 * offset of the byte in a multi-pack-index header that says the hash function
 */
#define MIDX_HASH_AT 5

#define CHAIN_FILE "multi-pack-index-chain"

struct removal {
	const char *dir;
	/*
	 * The hexadecimal digits of the checksum of the multi-pack-index whose
	 * files are kept. "": all files are removed.
	 */
	const char *keep;
	/* Also keep the bitmap index of the multi-pack-index `keep`. */
	bool keep_bitmap;
	/* Remove nothing; stop at the first file that would be removed. */
	bool only_find;
	struct error *err;
};

/*
 * Remove a file. Returns 0 or a negative error code. If r->only_find is set,
 * removes nothing and returns 1: a file to remove exists. This value stops the
 * listing of the directory.
 */
static int remove_named(const struct removal *r, const char *name)
{
	struct buf path = BUF_INIT;
	int ret;

	if (r->only_find)
		return 1;
	ret = buf_printf(&path, "%s/%s", r->dir, name) < 0
		      ? error_nomem(r->err)
		      : sys_unlink(path.data, r->err);

	buf_release(&path);
	return ret;
}

static bool is_kept(const struct removal *r, const char *name)
{
	size_t len = strlen(r->keep);

	return len && !strncmp(name, r->keep, len) &&
	       (r->keep_bitmap || strcmp(name + len, ".bitmap") != 0);
}

/*
 * Remove a side file "multi-pack-index-<hex>.bitmap" or
 * "multi-pack-index-<hex>.rev", unless is_kept() returns true for it. Other
 * files stay. Returns 0 or a negative error code.
 */
static int remove_part(void *ctx, const char *name)
{
	static const char prefix[] = "multi-pack-index-";
	const struct removal *r = ctx;
	size_t len = sizeof(prefix) - 1;

	if (strncmp(name, prefix, len) != 0 || is_kept(r, name + len))
		return 0;
	return remove_named(r, name);
}

int multi_pack_remove_parts(const char *dir, const char *keep, bool keep_bitmap,
			    struct error *err)
{
	struct removal r = {
		.dir = dir,
		.keep = keep,
		.keep_bitmap = keep_bitmap,
		.err = err,
	};

	return sys_dir_each(dir, remove_part, &r, err);
}

int multi_pack_remove(const char *dir, struct error *err)
{
	struct removal r = {.dir = dir, .keep = "", .err = err};
	int ret = remove_named(&r, "multi-pack-index");

	return ret < 0 ? ret : multi_pack_remove_parts(dir, "", false, err);
}

static bool names_any(const struct pack_midx *midx, const struct strlist *names)
{
	for (uint32_t i = 0; i < midx->pack_nr; i++) {
		size_t len = strlen(midx->names[i]);

		for (size_t k = 0; k < names->nr; k++) {
			size_t base_len = strlen(names->items[k]);

			if (len == base_len + 4 &&
			    !memcmp(midx->names[i], names->items[k], base_len))
				return true;
		}
	}
	return false;
}

/*
 * Returns whether one of the packs that a multi-pack-index names has no .idx in
 * `dir`.
 */
static bool names_missing(const struct pack_midx *midx, const char *dir)
{
	struct buf path = BUF_INIT;
	bool found = false;

	for (uint32_t i = 0; i < midx->pack_nr && !found; i++) {
		buf_reset(&path);
		found = buf_printf(&path, "%s/%s", dir, midx->names[i]) < 0 ||
			!sys_exists(path.data);
	}
	buf_release(&path);
	return found;
}

/*
 * Returns whether a multi-pack-index names one of the packs in `names`, names a
 * pack that does not exist, or cannot be read.
 */
static bool file_names_any(const char *path, const char *dir,
			   const struct strlist *names)
{
	struct sys_map map = SYS_MAP_INIT;
	struct pack_midx midx;
	bool found = true;
	int ret = sys_map_open(&map, path, NULL);

	if (!ret && map.len > MIDX_HASH_AT)
		ret = pack_midx_parse(&midx, map.data, map.len,
				      map.data[MIDX_HASH_AT], path, NULL);
	else if (!ret)
		ret = ERR_CORRUPT;
	if (!ret) {
		found = names_any(&midx, names) || names_missing(&midx, dir);
		pack_midx_release(&midx);
	}
	sys_map_close(&map);
	return found;
}

/* ---- chains */

struct chain_removal {
	const char *pack_dir;
	/* directory of the chain's files */
	const char *dir;
	/*
	 * The topmost layer whose files are kept; all layers below it are kept
	 * too. NULL: no layer is kept.
	 */
	const struct odb_midx *top;
	/*
	 * names of packs: if a layer of the chain has one of these packs, the
	 * chain is removed
	 */
	const struct strlist *any;
	/* Remove nothing; stop at the first file that would be removed. */
	bool only_find;
	struct error *err;
};

/*
 * Parse the checksum in the name of a layer's file. Returns false if the file
 * is not a layer.
 */
static bool layer_checksum(struct oid *checksum, const char *name,
			   enum hash_algo algo)
{
	static const char prefix[] = "multi-pack-index-";
	size_t len = sizeof(prefix) - 1;

	return !strncmp(name, prefix, len) &&
	       oid_from_hex(checksum, name + len, strlen(name + len), algo) &&
	       name[len + hash_hex_len(algo)] == '.';
}

static bool is_in_chain(const struct odb_midx *om, const char *name)
{
	struct oid checksum;

	for (; om; om = om->base)
		if (layer_checksum(&checksum, name, om->midx.algo) &&
		    !memcmp(checksum.bytes, om->midx.checksum,
			    hash_len(om->midx.algo)))
			return true;
	return false;
}

static int remove_layer(void *ctx, const char *name)
{
	const struct chain_removal *c = ctx;
	const struct removal r = {
		.dir = c->dir,
		.only_find = c->only_find,
		.err = c->err,
	};
	struct oid checksum;

	if ((!layer_checksum(&checksum, name, HASH_SHA1) &&
	     !layer_checksum(&checksum, name, HASH_SHA256)) ||
	    is_in_chain(c->top, name))
		return 0;
	return remove_named(&r, name);
}

/*
 * Remove the files of layers, except those of c->top and the layers below it.
 * c->dir is set here. Returns the values of remove_named().
 */
static int remove_layers(struct chain_removal *c, const char *dir)
{
	char *chain_dir = odb_midx_chain_path(dir, "");
	int ret;

	c->dir = chain_dir;
	ret = chain_dir ? sys_dir_each(chain_dir, remove_layer, c, c->err)
			: error_nomem(c->err);
	free(chain_dir);
	return ret == ERR_MISSING ? 0 : ret;
}

int multi_pack_remove_layers(const char *dir, const struct odb_midx *top,
			     struct error *err)
{
	struct chain_removal c = {.top = top, .err = err};

	return remove_layers(&c, dir);
}

int multi_pack_remove_chain(const char *dir, struct error *err)
{
	char *path = odb_midx_chain_path(dir, CHAIN_FILE);
	int ret = path ? sys_unlink(path, err) : error_nomem(err);

	free(path);
	return ret < 0 ? ret : multi_pack_remove_layers(dir, NULL, err);
}

int multi_pack_has_replaced(const char *dir, const char *keep, bool keep_bitmap,
			    struct error *err)
{
	struct removal r = {
		.dir = dir,
		.keep = keep,
		.keep_bitmap = keep_bitmap,
		.only_find = true,
		.err = err,
	};
	struct chain_removal c = {.only_find = true, .err = err};
	int ret = sys_dir_each(dir, remove_part, &r, err);

	return ret ? ret : remove_layers(&c, dir);
}

/*
 * Callback for the file of each layer. Returns 1, which stops the search, if
 * the layer names one of the packs in `any`. Returns 0 if not, or a negative
 * error code.
 */
static int check_layer(void *ctx, const char *name)
{
	const struct chain_removal *c = ctx;
	size_t len = strlen(name);
	struct buf path = BUF_INIT;
	int ret = 0;

	if (len < 5 || strcmp(name + len - 5, ".midx") != 0)
		return 0;
	if (buf_printf(&path, "%s/%s", c->dir, name) < 0)
		ret = error_nomem(c->err);
	else
		ret = file_names_any(path.data, c->pack_dir, c->any);
	buf_release(&path);
	return ret;
}

static int remove_chain_naming(const char *dir, const struct strlist *names,
			       struct error *err)
{
	char *chain_dir = odb_midx_chain_path(dir, "");
	struct chain_removal c = {
		.pack_dir = dir,
		.dir = chain_dir,
		.any = names,
		.err = err,
	};
	int ret = chain_dir ? sys_dir_each(chain_dir, check_layer, &c, err)
			    : error_nomem(err);

	free(chain_dir);
	if (ret == ERR_MISSING)
		return 0;
	return ret > 0 ? multi_pack_remove_chain(dir, err) : ret;
}

/*
 * Returns 1 if the pack directory has a multi-pack-index or a chain, 0 if not,
 * or ERR_NOMEM.
 */
static int has_any(const char *dir)
{
	char *path = odb_midx_path(dir);
	char *chain_dir = odb_midx_chain_path(dir, "");
	int ret = path && chain_dir ? sys_exists(path) || sys_exists(chain_dir)
				    : ERR_NOMEM;

	free(path);
	free(chain_dir);
	return ret;
}

int multi_pack_lock_removal(struct sys_tempfile *lock, const char *dir,
			    unsigned share, struct error *held,
			    struct error *err)
{
	struct error why = ERROR_INIT;
	int ret = has_any(dir);

	*held = (struct error)ERROR_INIT;
	if (ret <= 0)
		return ret < 0 ? error_nomem(err) : 0;
	ret = multi_pack_lock(lock, dir, share, &why);
	if (ret < 0 && ret != ERR_DENIED && err)
		*err = why;
	if (ret == ERR_DENIED)
		*held = why;
	return ret == ERR_DENIED ? 0 : ret;
}

int multi_pack_remove_naming(const char *dir, const struct strlist *names,
			     struct error *err)
{
	char *path = odb_midx_path(dir);
	int ret = path ? has_any(dir) : ERR_NOMEM;
	bool found = ret > 0 && names->nr && file_names_any(path, dir, names);

	free(path);
	if (ret <= 0)
		return ret < 0 ? error_nomem(err) : 0;
	ret = found ? multi_pack_remove(dir, err) : 0;
	return ret < 0 ? ret : remove_chain_naming(dir, names, err);
}
