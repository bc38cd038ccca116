/* SPDX-License-Identifier: MIT */
/*
 * Makes layers of a chain of multi-pack-indexes, and installs their files and
 * the chain file.
 */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "midx/multi-pack-chain.h"
#include "midx/multi-pack-parts.h"
#include "midx/multi-pack-sources.h"
#include "pack-bitmap.h"
#include "pack/midx-write.h"
#include "packs/multi-pack-lock.h"
#include "packs/multi-pack-remove.h"
#include "packs/old-packs.h"
#include "sys/dirlock.h"
#include "sys/io.h"
#include "sys/lockfile.h"
#include "sys/tempfile.h"

#define CHAIN_MODE 0666
#define LAYER_MODE 0444
#define CHAIN_FILE "multi-pack-index-chain"

struct writing {
	const struct odb *odb;
	const struct multi_pack_options *o;
	struct multi_pack_result *result;
	bool no_chain_file;
	/* borrowed: the layer below the new layer; NULL: none */
	struct odb_midx *base;
	/*
	 * Borrowed: the topmost of the layers that stay above the new layer.
	 * NULL: none.
	 */
	const struct odb_midx *above;
	/* number of layers that stay above the new layer */
	size_t above_nr;
	/* the packs of the new layer; not used by compaction */
	struct multi_pack_sources sources;
	/* owned: the bitmap index of the snapshot's chain */
	struct pack_bitmap *pb;
	/*
	 * contents of the new layer's two files: the multi-pack-index and the
	 * bitmap index
	 */
	struct buf bytes, bitmap;
	/*
	 * Owned: the new layer, parsed from `bytes`. It does not include the
	 * layers below.
	 */
	struct odb_midx *om;
	struct buf dir; /* "<objects>/pack" */
	/* lock of the multi-pack-indexes in this directory */
	struct sys_tempfile lock;
	/* lock file that is renamed to the chain file */
	struct sys_tempfile chain_lock;
	/* owned: path of the chain file, with symbolic links followed */
	char *chain_path;
	enum sys_fsync_method method;
	struct error *err;
};

static void writing_release(struct writing *w)
{
	sys_tempfile_abort(&w->chain_lock);
	sys_tempfile_abort(&w->lock);
	if (w->om)
		odb_midx_pop(w->om);
	pack_bitmap_close(w->pb);
	multi_pack_sources_release(&w->sources);
	buf_release(&w->bytes);
	buf_release(&w->bitmap);
	buf_release(&w->dir);
	free(w->chain_path);
}

/* ---- locks and checks */

static int take_locks(struct writing *w)
{
	char *dir = odb_midx_chain_path(w->dir.data, "");
	char *path = odb_midx_chain_path(w->dir.data, CHAIN_FILE);
	int ret = dir && path
			  ? sys_mkdir_shared(dir, w->odb->repo->share, w->err)
			  : error_nomem(w->err);

	if (!ret && !w->no_chain_file)
		ret = multi_pack_lock(&w->lock, w->dir.data,
				      w->odb->repo->share, w->err);
	if (!ret && !w->no_chain_file)
		ret = sys_lockfile_follow(&w->chain_lock, &w->chain_path, path,
					  CHAIN_MODE | w->odb->repo->share, 0,
					  w->err);
	free(dir);
	free(path);
	return ret;
}

/*
 * Returns the bitmap index that covers a layer and all layers below it, or NULL
 * if there is none.
 */
static struct pack_bitmap *bitmap_of(const struct writing *w,
				     const struct odb_midx *om)
{
	struct pack_bitmap *pb = w->pb;

	while (pb && pb->space.midx != om)
		pb = pb->base;
	return pb;
}

static int begin(struct writing *w)
{
	const struct odb *odb = w->odb;
	size_t dir_nr = w->o->dir_nr;
	int ret = repo_fsync_method(odb->repo, REPO_FSYNC_PACK_METADATA,
				    &w->method, w->err);

	if (!ret && buf_printf(&w->dir, "%s/pack", odb->dirs[dir_nr]) < 0)
		ret = error_nomem(w->err);
	if (!ret)
		ret = take_locks(w);
	if (!ret)
		ret = multi_pack_check_current(&w->result->outdated, odb,
					       dir_nr, w->err);
	if (!ret && w->o->bitmap &&
	    pack_bitmap_open_midx(&w->pb, odb, dir_nr, NULL) == ERR_NOMEM)
		ret = error_nomem(w->err);
	return ret;
}

/* ---- the files of the layer */

/*
 * Parse the new layer and link it to the layers below. Returns 0 or a negative
 * error code.
 */
static int stack_layer(struct writing *w,
		       const struct pack_midx_written *written)
{
	enum hash_algo algo = w->odb->algo;
	char *path = odb_midx_layer_path(w->dir.data, written->checksum.bytes,
					 algo, "midx");
	int ret = path ? odb_midx_parse(&w->om, w->bytes.data, w->bytes.len,
					path, algo, w->err)
		       : error_nomem(w->err);

	free(path);
	if (!ret && w->base)
		ret = odb_midx_stack(w->om, w->base, w->err);
	if (!ret)
		ret = odb_midx_link(w->om, w->odb, w->odb->dirs[w->o->dir_nr],
				    w->err);
	w->result->object_nr = written->nr;
	w->result->checksum = written->checksum;
	if (!ret)
		w->result->pack_nr = w->om->midx.pack_nr;
	return ret;
}

/*
 * Make the bitmap index of the new layer from the bitmaps in `old` (see
 * multi-pack-bitmap.h), or from objects if `old` is NULL. Returns 0 or a
 * negative error code.
 */
static int make_bitmap(struct writing *w, const struct pack_bitmap *old,
		       bool compacts)
{
	const struct multi_pack_below below = {
		.base = w->base ? bitmap_of(w, w->base) : NULL,
		.old = old,
		.compacts = compacts,
	};

	return multi_pack_make_bitmap(&w->bitmap, w->result, w->odb, w->om,
				      w->o, &below, w->err);
}

static const struct pack_midx **list_layers(const struct odb_midx *top,
					    size_t nr)
{
	const struct pack_midx **layers = mem_alloc(nr, sizeof(*layers));

	for (; layers && nr; top = top->base)
		layers[--nr] = &top->midx;
	return layers;
}

static int make_layer(struct writing *w)
{
	size_t below_nr = odb_midx_layer_nr(w->base);
	const struct pack_midx **below = list_layers(w->base, below_nr);
	struct pack_midx_request rq = {
		.packs = w->sources.packs,
		.pack_nr = w->sources.nr,
		.preferred = multi_pack_sources_find(&w->sources,
						     w->o->preferred),
		.with_order = w->o->bitmap != NULL,
		.below = below,
		.below_nr = below_nr,
		.algo = w->odb->algo,
		.progress = w->o->progress,
	};
	struct pack_midx_written written;
	int ret = below ? multi_pack_version(&rq.version, w->odb->repo, w->err)
			: error_nomem(w->err);

	w->result->no_such_preferred = w->o->preferred &&
				       rq.preferred == PACK_MIDX_NO_PACK;
	if (!ret)
		ret = pack_midx_write(&w->bytes, &rq, &written, w->err);
	free(below);
	if (ret < 0)
		return ret;
	return written.nr ? stack_layer(w, &written) : 1;
}

/* ---- installing */

static int put_file(struct writing *w, const char *path, const void *bytes,
		    size_t len)
{
	return multi_pack_put_file(w->dir.data, path, bytes, len,
				   LAYER_MODE | w->odb->repo->share, w->method,
				   w->err);
}

/*
 * Rename a file of a single multi-pack-index to the file name of a layer. Does
 * nothing if the file does not exist. Returns 0 or a negative error code.
 */
static int migrate_file(struct writing *w, const char *from, const char *to)
{
	struct sys_map map;
	int ret;

	if (!from || !to)
		return error_nomem(w->err);
	if (!sys_exists(from))
		return 0;
	ret = sys_link(from, to, w->err);
	if (ret <= 0)
		return ret;
	ret = sys_map_open(&map, from, w->err);
	if (!ret) {
		ret = put_file(w, to, map.data, map.len);
		sys_map_close(&map);
	}
	return ret;
}

/*
 * Rename the files of a single multi-pack-index, so that it becomes a layer.
 * Returns 0 or a negative error code.
 */
static int migrate(struct writing *w, const struct odb_midx *om)
{
	const uint8_t *checksum = om->midx.checksum;
	enum hash_algo algo = w->odb->algo;
	char *from = odb_midx_part_path(om, "bitmap");
	char *bitmap = odb_midx_layer_path(w->dir.data, checksum, algo,
					   "bitmap");
	char *midx = odb_midx_layer_path(w->dir.data, checksum, algo, "midx");
	int ret = migrate_file(w, from, bitmap);

	if (!ret)
		ret = migrate_file(w, om->path, midx);
	free(from);
	free(bitmap);
	free(midx);
	return ret;
}

static int put_layer(struct writing *w)
{
	char *bitmap_path = odb_midx_part_path(w->om, "bitmap");
	const unsigned mode = LAYER_MODE | w->odb->repo->share;
	const struct multi_pack_files files = {
		.dir = w->dir.data,
		.path = w->om->path,
		.bitmap_path = bitmap_path,
		.bytes = &w->bytes,
		.bitmap = &w->bitmap,
		.mode = mode,
		.bitmap_mode = mode,
	};
	const struct odb_midx *lowest = w->base;
	int ret = 0;

	while (lowest && lowest->base)
		lowest = lowest->base;
	if (lowest && !lowest->in_chain)
		ret = migrate(w, lowest);
	if (!ret)
		ret = multi_pack_put_files(&files, w->method, w->err);
	free(bitmap_path);
	return ret;
}

/*
 * Append one line with the checksum for each of `nr` layers, from the lowest
 * to `top`. Returns 0 or ERR_NOMEM.
 */
static int put_lines(struct buf *text, const struct odb_midx *top, size_t nr)
{
	const struct pack_midx **layers = list_layers(top, nr);
	char hex[OID_MAX_HEX_LEN + 1];
	int ret = layers ? 0 : ERR_NOMEM;

	for (size_t i = 0; i < nr && !ret; i++)
		ret = buf_printf(text, "%s\n",
				 oid_raw_to_hex(hex, layers[i]->checksum,
						layers[i]->algo));
	free(layers);
	return ret;
}

/*
 * Write the new content of the chain file into its lock file, before any other
 * file is renamed. So a full disk changes nothing. Returns 0 or a negative
 * error code.
 */
static int stage_chain(struct writing *w)
{
	struct buf text = BUF_INIT;
	int ret = 0;

	if (put_lines(&text, w->om, odb_midx_layer_nr(w->om)) < 0 ||
	    put_lines(&text, w->above, w->above_nr) < 0)
		ret = error_nomem(w->err);
	if (!ret)
		ret = sys_tempfile_write(&w->chain_lock, text.data, text.len,
					 w->err);
	if (!ret)
		ret = sys_tempfile_finish(&w->chain_lock, w->method, w->err);
	buf_release(&text);
	return ret;
}

/*
 * Remove files that readers no longer use: the files of layers that the new
 * chain does not have, and the files of a single multi-pack-index. Returns 0
 * or a negative error code.
 */
static int tidy_up(struct writing *w)
{
	struct odb_midx *top;
	int ret = multi_pack_remove(w->dir.data, w->err);

	if (!ret)
		ret = odb_midx_open(&top, w->odb->dirs[w->o->dir_nr],
				    w->odb->algo, w->err);
	if (!ret) {
		ret = multi_pack_remove_layers(w->dir.data, top, w->err);
		odb_midx_close(top);
	}
	return ret;
}

/*
 * Check the packs of `nr` layers, from `top` down. Returns 0, ERR_MISSING with
 * result->outdated set, or ERR_NOMEM.
 */
static int check_packs(struct writing *w, const struct odb_midx *top, size_t nr)
{
	int ret = 0;

	for (; nr && !ret; nr--, top = top->base)
		ret = multi_pack_check_packs(&w->result->outdated, &top->midx,
					     w->dir.data, w->err);
	return ret;
}

/*
 * Check that the new chain will be complete. begin() has checked this too, but
 * without the lock of the pack directory, which is held now. In the meantime,
 * another process may have removed packs, and with them the chain. Returns 0 or
 * a negative error code.
 */
static int check(struct writing *w)
{
	int ret = multi_pack_check_current(&w->result->outdated, w->odb,
					   w->o->dir_nr, w->err);

	if (!ret)
		ret = check_packs(w, w->om, odb_midx_layer_nr(w->om));
	return ret ? ret : check_packs(w, w->above, w->above_nr);
}

static int install_locked(struct writing *w)
{
	int ret = check(w);

	if (!ret && !w->no_chain_file)
		ret = stage_chain(w);
	if (!ret)
		ret = put_layer(w);
	if (ret < 0 || w->no_chain_file)
		return ret;
	ret = sys_tempfile_commit(&w->chain_lock, w->chain_path, w->method,
				  w->err);
	return ret < 0 ? ret : tidy_up(w);
}

static int install(struct writing *w)
{
	int lock = sys_dirlock_take(w->dir.data, SYS_DIRLOCK_PACKS_MS, w->err);
	int ret = lock < 0 ? lock : install_locked(w);

	sys_dirlock_drop(lock);
	return ret;
}

/* ---- appending */

/*
 * If the highest layer does not match its checksum, build on a lower layer. So
 * the packs of the damaged layer get into the new layer. Returns 0 or
 * ERR_NOMEM.
 */
static int skip_damaged(struct writing *w)
{
	int ret = 0;

	for (; w->base; w->base = w->base->base) {
		const struct sys_map *map = &w->base->map;

		ret = hash_check_trailer(map->data, map->len, w->odb->algo,
					 w->base->path, NULL);
		if (ret != ERR_CORRUPT)
			break;
		ret = 0;
		error_set(&w->result->warning, ERR_CORRUPT,
			  "ignoring existing multi-pack-index; "
			  "checksum mismatch");
	}
	return ret < 0 ? error_nomem(w->err) : 0;
}

static int append(struct writing *w)
{
	int ret = begin(w);

	if (!ret)
		ret = skip_damaged(w);
	if (ret < 0)
		return ret;
	while (w->o->bitmap && w->base && !bitmap_of(w, w->base))
		w->base = w->base->base;
	ret = multi_pack_sources_init(&w->sources, w->odb, w->o, w->base,
				      w->err);
	if (ret == ERR_MISSING && w->base)
		return 1;
	if (!ret)
		ret = make_layer(w);
	if (!ret && w->o->bitmap)
		ret = make_bitmap(w, w->base ? bitmap_of(w, w->base) : NULL,
				  false);
	return ret ? ret : install(w);
}

static struct writing writing_of(const struct odb *odb,
				 const struct multi_pack_options *o,
				 const struct multi_pack_layer_options *layer,
				 struct multi_pack_result *result,
				 struct error *err)
{
	*result = (struct multi_pack_result){.warning = ERROR_INIT};
	return (struct writing){
		.odb = odb,
		.o = o,
		.result = result,
		.no_chain_file = layer->no_chain_file,
		.base = layer->base,
		.bytes = BUF_INIT,
		.bitmap = BUF_INIT,
		.dir = BUF_INIT,
		.lock = SYS_TEMPFILE_INIT,
		.chain_lock = SYS_TEMPFILE_INIT,
		.err = err,
	};
}

int multi_pack_append(struct multi_pack_result *result, const struct odb *odb,
		      const struct multi_pack_options *options,
		      const struct multi_pack_layer_options *layer,
		      struct error *err)
{
	struct multi_pack_options o = *options;
	struct writing w = writing_of(odb, &o, layer, result, err);
	struct error warning = ERROR_INIT;
	int ret = multi_pack_check_bitmap(&o, &warning, odb, err);

	if (!ret)
		ret = append(&w);
	if (warning.code)
		result->warning = warning;
	writing_release(&w);
	return ret;
}

/* ---- compaction */

/*
 * Returns the orders of objects (struct pack_midx_order) of the `nr` layers
 * that are merged. `to` is the topmost of these layers. Returns NULL if memory
 * runs out.
 */
static const struct pack_midx_order **list_orders(const struct writing *w,
						  const struct odb_midx *to,
						  size_t nr)
{
	const struct pack_midx_order **orders = mem_alloc(nr, sizeof(*orders));

	for (; orders && nr; to = to->base)
		orders[--nr] = &bitmap_of(w, to)->order;
	return orders;
}

/*
 * Make the layer that replaces `nr` layers. If the replaced layers have
 * bitmaps, the objects keep their order, so that each bit still stands for the
 * same object. Returns 0 or a negative error code.
 */
static int make_compaction(struct writing *w, const struct odb_midx *to,
			   size_t nr)
{
	bool has_orders = bitmap_of(w, to) != NULL;
	const struct pack_midx **layers = list_layers(to, nr);
	const struct pack_midx_order **orders = has_orders
							? list_orders(w, to, nr)
							: NULL;
	const struct pack_midx_compaction rq = {
		.layers = layers,
		.orders = orders,
		.with_order = w->o->bitmap != NULL,
		.base_nr = w->base ? w->base->midx.base_nr + w->base->midx.nr
				   : 0,
		.nr = nr,
	};
	struct pack_midx_written written;
	int ret = layers && (orders || !has_orders) ? 0 : error_nomem(w->err);

	if (!ret)
		ret = pack_midx_compact(&w->bytes, &rq, &written, w->err);
	free(layers);
	free(orders);
	return ret < 0 ? ret : stack_layer(w, &written);
}

static int compact_bitmap(struct writing *w, const struct odb_midx *from,
			  const struct odb_midx *to)
{
	const struct pack_bitmap *old = bitmap_of(w, to);

	if (old && w->base == from->base)
		return make_bitmap(w, old, true);
	return make_bitmap(w, w->base ? bitmap_of(w, w->base) : NULL, false);
}

static int check_version(struct writing *w)
{
	uint64_t version = 2;

	if (config_u64(&w->odb->repo->config, "midx.version", &version,
		       w->err) < 0)
		return ERR_INVALID;
	return version == 1 ? error_set(w->err, ERR_UNSUPPORTED,
					"cannot perform MIDX compaction with "
					"v1 format")
			    : 0;
}

static int compact(struct writing *w, const struct odb_midx *from,
		   const struct odb_midx *to)
{
	const struct odb_midx *top = w->odb->midxes[w->o->dir_nr];
	size_t nr = odb_midx_layer_nr(to) - odb_midx_layer_nr(from) + 1;
	int ret = check_version(w);

	if (!ret)
		ret = begin(w);
	if (ret < 0)
		return ret;
	if (w->base == from->base) {
		w->above = top;
		w->above_nr = odb_midx_layer_nr(top) - odb_midx_layer_nr(to);
	}
	/*
	 * Refuse to write a bitmap index if the layers below have none: the
	 * types of the objects in these layers would be unknown.
	 */
	if (w->o->bitmap && w->base && !bitmap_of(w, w->base))
		return error_set(w->err, ERR_INVALID,
				 "the layers below have no bitmap index");
	ret = make_compaction(w, to, nr);
	if (!ret && w->o->bitmap)
		ret = compact_bitmap(w, from, to);
	return ret < 0 ? ret : install(w);
}

int multi_pack_compact(struct multi_pack_result *result, const struct odb *odb,
		       const struct multi_pack_options *options,
		       struct odb_midx *from, struct odb_midx *to,
		       const struct multi_pack_layer_options *layer,
		       struct error *err)
{
	struct multi_pack_options o = *options;
	struct writing w = writing_of(odb, &o, layer, result, err);
	struct error warning = ERROR_INIT;
	int ret = multi_pack_check_bitmap(&o, &warning, odb, err);

	if (!ret)
		ret = compact(&w, from, to);
	if (warning.code)
		result->warning = warning;
	writing_release(&w);
	return ret;
}

struct odb_midx *multi_pack_find_layer(const struct odb *odb, size_t dir_nr,
				       const struct oid *checksum)
{
	struct odb_midx *om = odb->midxes[dir_nr];

	while (om && memcmp(om->midx.checksum, checksum->bytes,
			    hash_len(odb->algo)) != 0)
		om = om->base;
	return om;
}
