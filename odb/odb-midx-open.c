/* SPDX-License-Identifier: MIT */
/* Opens multi-pack-indexes and chains of them. */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/cursor.h"
#include "base/mem.h"
#include "object/oid.h"
#include "odb/odb-midx.h"
#include "sys/io.h"

/* ---- names */

char *odb_midx_path(const char *pack_dir)
{
	struct buf path = BUF_INIT;

	if (buf_printf(&path, "%s/multi-pack-index", pack_dir) < 0) {
		buf_release(&path);
		return NULL;
	}
	return buf_detach(&path, NULL);
}

char *odb_midx_chain_path(const char *pack_dir, const char *name)
{
	struct buf path = BUF_INIT;

	if (buf_printf(&path, "%s/multi-pack-index.d/%s", pack_dir, name) < 0) {
		buf_release(&path);
		return NULL;
	}
	return buf_detach(&path, NULL);
}

char *odb_midx_layer_path(const char *pack_dir, const uint8_t *checksum,
			  enum hash_algo algo, const char *ext)
{
	struct buf path = BUF_INIT;
	char hex[OID_MAX_HEX_LEN + 1];

	if (buf_printf(&path, "%s/multi-pack-index.d/multi-pack-index-%s.%s",
		       pack_dir, oid_raw_to_hex(hex, checksum, algo),
		       ext) < 0) {
		buf_release(&path);
		return NULL;
	}
	return buf_detach(&path, NULL);
}

char *odb_midx_part_path(const struct odb_midx *om, const char *ext)
{
	const char *slash = strrchr(om->path, '/');
	struct buf path = BUF_INIT;
	char hex[OID_MAX_HEX_LEN + 1];

	oid_raw_to_hex(hex, om->midx.checksum, om->midx.algo);
	if (buf_printf(&path, "%.*s/multi-pack-index-%s.%s",
		       (int)(slash - om->path), om->path, hex, ext) < 0) {
		buf_release(&path);
		return NULL;
	}
	return buf_detach(&path, NULL);
}

/* ---- one file */

static struct odb_midx *new_midx(void)
{
	struct odb_midx *om = mem_calloc(1, sizeof(*om));

	if (om)
		pthread_mutex_init(&om->lock, NULL);
	return om;
}

struct odb_midx *odb_midx_pop(struct odb_midx *om)
{
	struct odb_midx *base = om->base;

	free(atomic_load_explicit(&om->odb_pos, memory_order_relaxed));
	free(om->pack_nrs);
	pack_midx_release(&om->midx);
	sys_map_close(&om->map);
	pthread_mutex_destroy(&om->lock);
	free(om->path);
	free(om);
	return base;
}

void odb_midx_close(struct odb_midx *om)
{
	while (om)
		om = odb_midx_pop(om);
}

/*
 * Opens one multi-pack-index file. Takes ownership of `path`. Returns 0 or a
 * negative error code.
 */
static int open_file(struct odb_midx **out, char *path, enum hash_algo algo,
		     struct error *err)
{
	struct odb_midx *om = path ? new_midx() : NULL;
	int ret;

	*out = NULL;
	if (!om) {
		free(path);
		return error_nomem(err);
	}
	om->path = path;
	ret = sys_map_open(&om->map, path, err);
	if (!ret)
		ret = pack_midx_parse(&om->midx, om->map.data, om->map.len,
				      algo, path, err);
	if (ret < 0)
		odb_midx_close(om);
	else
		*out = om;
	return ret;
}

int odb_midx_parse(struct odb_midx **out, const void *bytes, size_t len,
		   const char *path, enum hash_algo algo, struct error *err)
{
	struct odb_midx *om = new_midx();
	int ret;

	*out = NULL;
	if (!om)
		return error_nomem(err);
	om->path = mem_strdup(path);
	ret = om->path ? pack_midx_parse(&om->midx, bytes, len, algo, path, err)
		       : error_nomem(err);
	if (ret < 0)
		odb_midx_close(om);
	else
		*out = om;
	return ret;
}

/* ---- chains */

int odb_midx_stack(struct odb_midx *om, struct odb_midx *base,
		   struct error *err)
{
	uint64_t nr = (uint64_t)odb_midx_nr(base) + om->midx.nr;

	if (nr >= UINT32_MAX)
		return error_set(err, ERR_UNSUPPORTED,
				 "%s: too many objects in the layers below",
				 om->path);
	om->base = base;
	om->midx.base_nr = odb_midx_nr(base);
	return 0;
}

size_t odb_midx_layer_nr(const struct odb_midx *om)
{
	size_t nr = 0;

	for (; om; om = om->base)
		nr++;
	return nr;
}

/*
 * Opens the file of a layer. The checksum in the file must be the checksum in
 * its name. Returns 0 or a negative error code.
 */
static int open_layer(struct odb_midx **out, const char *pack_dir,
		      const struct oid *checksum, enum hash_algo algo,
		      struct error *err)
{
	char *path = odb_midx_layer_path(pack_dir, checksum->bytes, algo,
					 "midx");
	int ret = open_file(out, path, algo, err);

	if (ret < 0)
		return ret;
	(*out)->in_chain = true;
	if (!memcmp((*out)->midx.checksum, checksum->bytes, hash_len(algo)))
		return 0;
	ret = error_set(err, ERR_CORRUPT,
			"%s: not the layer that its name says", (*out)->path);
	odb_midx_close(*out);
	*out = NULL;
	return ret;
}

/*
 * Opens a layer and puts it on top of the chain *top. Returns 0, or a negative
 * error code with *top unchanged.
 */
static int push_layer(struct odb_midx **top, const char *pack_dir,
		      const struct oid *checksum, enum hash_algo algo,
		      struct error *err)
{
	struct odb_midx *om;
	int ret = open_layer(&om, pack_dir, checksum, algo, err);

	if (!ret && *top) {
		ret = odb_midx_stack(om, *top, err);
		if (ret < 0)
			odb_midx_close(om);
	}
	if (!ret)
		*top = om;
	return ret;
}

/*
 * Opens the layers of a chain. `text` is the content of the chain file, which
 * lists the layers. Returns 0 with the top layer in *top, or a negative error
 * code with the layers below the unusable one in *top.
 */
static int open_layers(struct odb_midx **top, const char *pack_dir,
		       const struct buf *text, enum hash_algo algo,
		       struct error *err)
{
	struct cursor c = cursor_make(text->data, text->len);
	struct oid checksum;
	int ret;

	for (unsigned nr = 0;; nr++) {
		ret = oid_lines_next(&checksum, &c, algo,
				     "multi-pack-index chain", err);
		if (ret <= 0)
			return ret;
		if (nr == ODB_MIDX_LAYERS_MAX)
			return error_set(err, ERR_UNSUPPORTED,
					 "too many layers in the "
					 "multi-pack-index chain");
		ret = push_layer(top, pack_dir, &checksum, algo, err);
		if (ret < 0)
			return ret;
	}
}

static bool is_equal(const struct buf *a, const struct buf *b)
{
	return a->len == b->len &&
	       (!a->len || !memcmp(a->data, b->data, a->len));
}

/*
 * Opens the chain of a pack directory. Other processes remove a layer only
 * after they have written a chain without it. So if a layer is missing, the
 * chain file was replaced, and is read again. Returns 0, ERR_MISSING if there
 * is no chain (*top is then NULL), or another error code.
 */
static int open_current(struct odb_midx **top, const char *path,
			const char *pack_dir, enum hash_algo algo,
			struct error *err)
{
	struct buf text = BUF_INIT, last = BUF_INIT;
	int ret;

	do {
		odb_midx_close(*top);
		*top = NULL;
		buf_release(&last);
		last = text;
		text = (struct buf)BUF_INIT;
		ret = sys_read_file(&text, path, err);
		if (ret < 0)
			break;
		ret = open_layers(top, pack_dir, &text, algo, err);
		if (ret == ERR_MISSING && is_equal(&text, &last)) {
			ret = error_set(err, ERR_CORRUPT,
					"a layer of the multi-pack-index chain "
					"is missing in %s",
					pack_dir);
		}
	} while (ret == ERR_MISSING);
	if (!ret && !*top)
		ret = ERR_MISSING;
	buf_release(&text);
	buf_release(&last);
	return ret;
}

static int open_chain(struct odb_midx **out, const char *pack_dir,
		      enum hash_algo algo, struct error *err)
{
	char *path = odb_midx_chain_path(pack_dir, "multi-pack-index-chain");
	int ret = path ? open_current(out, path, pack_dir, algo, err)
		       : error_nomem(err);

	free(path);
	/*
	 * An unusable layer is no error here: *out has the layers below the
	 * unusable one, and these can be used.
	 */
	if (ret < 0 && ret != ERR_NOMEM && *out)
		return 0;
	if (ret < 0) {
		odb_midx_close(*out);
		*out = NULL;
	}
	return ret;
}

static int open_any(struct odb_midx **out, const char *pack_dir,
		    enum hash_algo algo, struct error *err)
{
	int ret = open_file(out, odb_midx_path(pack_dir), algo, err);

	if (ret != ERR_MISSING)
		return ret;
	if (err)
		err->code = 0;
	return open_chain(out, pack_dir, algo, err);
}

int odb_midx_open(struct odb_midx **out, const char *object_dir,
		  enum hash_algo algo, struct error *err)
{
	struct buf dir = BUF_INIT;
	char *path = NULL;
	int ret;

	*out = NULL;
	if (!buf_printf(&dir, "%s/pack", object_dir))
		path = odb_midx_path(dir.data);
	/*
	 * While open_any() runs, another process may replace a chain by a
	 * single file. If this happens between the look-up of the file and the
	 * look-up of the chain, open_any() finds neither. So if both are
	 * missing and the file exists now, try again.
	 */
	do
		ret = path ? open_any(out, dir.data, algo, err)
			   : error_nomem(err);
	while (ret == ERR_MISSING && sys_exists(path));
	free(path);
	buf_release(&dir);
	return ret;
}
