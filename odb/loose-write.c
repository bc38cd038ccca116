/* SPDX-License-Identifier: MIT */
/* Writes loose objects. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "odb/loose-write.h"
#include "odb/loose.h"
#include "sys/io.h"

enum {
	LEVEL_UNSET = -2,
	LEVEL_MIN = -1,
	/* no compression; trees have this level if no level is configured */
	LEVEL_NONE = 0,
	/* the fastest compression, which is Git's default for loose objects */
	LEVEL_FASTEST = 1,
	LEVEL_MAX = 9,
	/*
	 * number of attempts to create a file while a prune removes directories
	 */
	DIR_TRIES = 3,
	/* length in bytes above which objects are compressed in pieces */
	LARGE = 8 << 20,
	PIECE = 1 << 20,
};

static int read_level(int64_t *level, const struct config *config,
		      const char *key, struct error *err)
{
	int ret = config_i64(config, key, level, err);

	if (ret < 0)
		return ret;
	if (ret && (*level < LEVEL_MIN || *level > LEVEL_MAX))
		return error_set(err, ERR_INVALID,
				 "bad zlib compression level %" PRId64, *level);
	return ret;
}

static int make_deflaters(struct loose_writer *w, const struct config *config,
			  struct error *err)
{
	int64_t level = LEVEL_UNSET;
	int ret = read_level(&level, config, "core.loosecompression", err);

	if (!ret)
		ret = read_level(&level, config, "core.compression", err);
	if (ret < 0)
		return ret;
	w->level = level == LEVEL_UNSET ? LEVEL_FASTEST : (int)level;
	w->deflater = deflater_new(w->level);
	w->of_trees = deflater_new(level == LEVEL_UNSET ? LEVEL_NONE
							: w->level);
	return w->deflater && w->of_trees ? 0 : error_nomem(err);
}

/*
 * Returns 0 if objects may be written into `dir`, or a negative error code.
 * The object directory of a local copy of a repository in a store is refused:
 * a copy gets new objects only from pushes, which write them into a
 * quarantine.
 */
static int check_place(const struct repo *repo, const char *dir,
		       struct error *err)
{
	if (repo->in_quarantine || strcmp(dir, repo->object_dir) != 0)
		return 0;
	return repo_check_copy(repo, "write objects", err);
}

int loose_writer_init(struct loose_writer *w, const struct repo *repo,
		      const char *dir, struct error *err)
{
	int ret;

	*w = (struct loose_writer){
		.dir = dir,
		.algo = repo->algo,
		.share = repo->share,
		.path = BUF_INIT,
		.bytes = BUF_INIT,
		.file = SYS_TEMPFILE_INIT,
	};
	ret = check_place(repo, dir, err);
	if (!ret)
		ret = make_deflaters(w, &repo->config, err);
	if (!ret)
		ret = repo_fsync_method(repo, REPO_FSYNC_LOOSE_OBJECT,
					&w->fsync, err);
	return ret;
}

void loose_writer_release(struct loose_writer *w)
{
	sys_tempfile_abort(&w->file);
	deflate_stream_free(w->stream);
	deflater_free(w->deflater);
	deflater_free(w->of_trees);
	buf_release(&w->path);
	buf_release(&w->bytes);
}

/*
 * Makes the bytes of a loose object's file: one zlib stream with header and
 * content. Returns 0 or ERR_NOMEM.
 */
static int encode(struct loose_writer *w, enum object_type type,
		  const void *data, size_t len)
{
	struct buf plain = BUF_INIT;
	int ret = buf_printf(&plain, "%s %zu%c", object_type_name(type), len,
			     '\0');

	buf_reset(&w->bytes);
	if (!ret)
		ret = buf_append(&plain, data, len);
	if (!ret)
		ret = deflater_append(type == OBJ_TREE ? w->of_trees
						       : w->deflater,
				      &w->bytes, plain.data, plain.len);
	buf_release(&plain);
	return ret;
}

/*
 * Creates a temporary file in the directory of the object. A prune may remove
 * the empty directory before the file is created, so there are several
 * attempts. Prunes do not remove a directory that contains a file. Returns 0
 * or a negative error code.
 */
static int create_file(struct sys_tempfile *tf, const char *dir, unsigned share,
		       struct error *err)
{
	struct error own = ERROR_INIT;
	int ret;

	for (unsigned tries = 0; tries < DIR_TRIES; tries++) {
		ret = sys_mkdir_shared(dir, share, &own);
		if (!ret)
			ret = sys_tempfile_create(tf, dir, "tmp_obj_",
						  0444 | share, &own);
		if (!ret || own.sys_errno != ENOENT)
			break;
	}
	if (ret < 0 && err)
		*err = own;
	return ret;
}

static int write_file(struct loose_writer *w, const char *dir,
		      struct error *err)
{
	struct sys_tempfile tf = SYS_TEMPFILE_INIT;
	int ret = create_file(&tf, dir, w->share, err);

	if (!ret)
		ret = sys_tempfile_write(&tf, w->bytes.data, w->bytes.len, err);
	if (!ret)
		ret = sys_tempfile_commit(&tf, w->path.data, w->fsync, err);
	sys_tempfile_abort(&tf);
	return ret;
}

/*
 * Renews the time of an object's file, so that a prune does not remove the
 * object before a reference names it. Returns whether the file exists.
 */
static bool freshen(const char *path)
{
	return sys_touch(path, NULL) == 0;
}

/*
 * Sets w->path to the path of an object's file, and *dir to its directory. The
 * caller releases *dir in any case. Returns 1 if the object exists, 0 if the
 * object must be written, or a negative error code.
 */
static int find_place(struct loose_writer *w, const struct oid *oid,
		      struct buf *dir, struct error *err)
{
	char hex[OID_MAX_HEX_LEN + 1];

	oid_to_hex(hex, oid, w->algo);
	buf_reset(&w->path);
	if (buf_printf(dir, "%s/%.2s", w->dir, hex) < 0 ||
	    buf_printf(&w->path, "%s/%s", dir->data, hex + 2) < 0)
		return error_nomem(err);
	return freshen(w->path.data);
}

static int put_whole(struct loose_writer *w, const struct oid *oid,
		     enum object_type type, const void *data, size_t len,
		     struct error *err)
{
	struct buf dir = BUF_INIT;
	int ret = find_place(w, oid, &dir, err);

	if (ret > 0) {
		ret = 0;
	} else if (!ret) {
		if (encode(w, type, data, len) < 0)
			ret = error_nomem(err);
		else
			ret = write_file(w, dir.data, err);
		ret = ret ? ret : 1;
	}
	buf_release(&dir);
	return ret;
}

/* ---- writing an object in pieces */

static int feed(struct loose_writer *w, const void *data, size_t len, bool end,
		struct error *err)
{
	buf_reset(&w->bytes);
	if (deflate_stream_feed(w->stream, &w->bytes, data, len, end) < 0)
		return error_nomem(err);
	return sys_tempfile_write(&w->file, w->bytes.data, w->bytes.len, err);
}

static int begin(struct loose_writer *w, const char *dir, enum object_type type,
		 uint64_t len, struct error *err)
{
	struct buf front = BUF_INIT;
	int ret;

	w->stream = deflate_stream_new(w->level);
	if (!w->stream || buf_printf(&front, "%s %" PRIu64 "%c",
				     object_type_name(type), len, '\0') < 0)
		ret = error_nomem(err);
	else
		ret = create_file(&w->file, dir, w->share, err);
	if (!ret)
		ret = feed(w, front.data, front.len, false, err);
	buf_release(&front);
	return ret ? ret : 1;
}

int loose_writer_begin(struct loose_writer *w, const struct oid *oid,
		       enum object_type type, uint64_t len, struct error *err)
{
	struct buf dir = BUF_INIT;
	int ret = find_place(w, oid, &dir, err);

	ret = ret ? (ret > 0 ? 0 : ret) : begin(w, dir.data, type, len, err);
	buf_release(&dir);
	return ret;
}

int loose_writer_feed(struct loose_writer *w, const void *data, size_t len,
		      struct error *err)
{
	return feed(w, data, len, false, err);
}

int loose_writer_end(struct loose_writer *w, struct error *err)
{
	int ret = feed(w, NULL, 0, true, err);

	if (!ret)
		ret = sys_tempfile_commit(&w->file, w->path.data, w->fsync,
					  err);
	deflate_stream_free(w->stream);
	w->stream = NULL;
	return ret;
}

/*
 * Writes a large object in pieces. If the object were written as a whole,
 * memory would hold two further copies of the object. Returns 1 if the object
 * was written, 0 if its file existed, or a negative error code.
 */
static int put_in_pieces(struct loose_writer *w, const struct oid *oid,
			 enum object_type type, const char *data, size_t len,
			 struct error *err)
{
	int ret = loose_writer_begin(w, oid, type, len, err);

	if (ret <= 0)
		return ret;
	for (ret = 0; !ret && len;) {
		size_t n = len < PIECE ? len : PIECE;

		ret = loose_writer_feed(w, data, n, err);
		data += n;
		len -= n;
	}
	if (!ret)
		ret = loose_writer_end(w, err);
	deflate_stream_free(w->stream);
	w->stream = NULL;
	sys_tempfile_abort(&w->file);
	return ret ? ret : 1;
}

int loose_writer_put(struct loose_writer *w, const struct oid *oid,
		     enum object_type type, const void *data, size_t len,
		     struct error *err)
{
	return len > LARGE ? put_in_pieces(w, oid, type, data, len, err)
			   : put_whole(w, oid, type, data, len, err);
}
