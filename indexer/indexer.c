/* SPDX-License-Identifier: MIT */
/*
 * The public functions of the indexer: life cycle, order of the steps, and
 * files. Other files do the steps. indexer-parse.c turns bytes into entries.
 * indexer-resolve.c applies deltas, indexer-cycles.c refuses cycles of deltas,
 * and indexer-thin.c appends missing bases. indexer-entries.c has the functions
 * that these files share.
 */
#include <string.h>

#include "base/mem.h"
#include "indexer/indexer-parts.h"
#include "pack/mtimes.h"
#include "pack/rev.h"
#include "sys/cleanup.h"
#include "sys/dirlock.h"
#include "sys/io.h"
#include "sys/thread.h"

#define THREADS_MAX 20

unsigned pack_indexer_threads(uint64_t wanted)
{
	if (!wanted)
		wanted = sys_cpu_nr();
	return wanted < THREADS_MAX ? (unsigned)wanted : THREADS_MAX;
}

int pack_indexer_config_load(struct pack_indexer_config *c,
			     const struct config *config, struct error *err)
{
	uint64_t threads = 0, cache_limit = PACK_INDEXER_CACHE_LIMIT;
	int ret = 0;

	if (config)
		ret = config_u64(config, "pack.threads", &threads, err);
	if (config && ret >= 0)
		ret = config_u64(config, "core.deltabasecachelimit",
				 &cache_limit, err);
	if (ret < 0)
		return ret;
	c->threads = pack_indexer_threads(threads);
	c->cache_limit = cache_limit;
	return 0;
}

struct pack_indexer *pack_indexer_new(const struct pack_indexer_config *config)
{
	struct pack_indexer *ix = mem_calloc(1, sizeof(*ix));

	if (!ix)
		return NULL;
	ix->config = *config;
	if (!ix->config.threads)
		ix->config.threads = 1;
	ix->fd = -1;
	ix->file = (struct sys_tempfile)SYS_TEMPFILE_INIT;
	buf_init(&ix->idx);
	return ix;
}

void pack_indexer_free(struct pack_indexer *ix)
{
	if (!ix)
		return;
	sys_tempfile_abort(&ix->file);
	if (ix->owns_fd)
		sys_close(ix->fd);
	free(ix->name);
	free(ix->entries);
	free(ix->ids);
	free(ix->refs);
	free(ix->large);
	free(ix->sorted);
	buf_release(&ix->idx);
	free(ix->order);
	free(ix);
}

int pack_indexer_receive(struct pack_indexer *ix, struct pack_source source,
			 const char *dir, struct error *err)
{
	int ret = sys_tempfile_create(&ix->file, dir, "tmp_pack_",
				      0444 | ix->config.share, err);

	if (ret < 0)
		return ret;
	ix->fd = ix->file.fd;
	ix->name = mem_strdup("pack");
	if (!ix->name)
		return error_nomem(err);
	return indexer_parse(ix, source, err);
}

/* A source that reads a file from front to back. */
struct file_reader {
	int fd;
	const char *path;
};

static ssize_t read_file(void *ctx, void *bytes, size_t len, struct error *err)
{
	struct file_reader *r = ctx;

	return sys_read_some(r->fd, bytes, len, r->path, err);
}

int pack_indexer_open(struct pack_indexer *ix, const char *path,
		      struct error *err)
{
	struct file_reader reader;
	uint64_t len;

	ix->name = mem_strdup(path);
	if (!ix->name)
		return error_nomem(err);
	ix->fd = sys_open_read(path, &len, err);
	if (ix->fd < 0)
		return ix->fd;
	ix->owns_fd = true;
	reader = (struct file_reader){ix->fd, path};
	return indexer_parse(
		ix, (struct pack_source){read_file, &reader, true, NULL}, err);
}

/*
 * Makes the entries for the pack index, sorted by id. The new array takes the
 * place of ix->entries. Returns 0 or ERR_NOMEM.
 */
static int fill_sorted(struct pack_indexer *ix, struct error *err)
{
	ix->sorted = mem_alloc(ix->nr, sizeof(*ix->sorted));
	if (!ix->sorted)
		return error_nomem(err);
	for (size_t i = 0; i < ix->nr; i++) {
		const struct indexer_entry *e = &ix->entries[ix->order[i]];

		ix->sorted[i] = (struct pack_idx_entry){
			indexer_id(ix, ix->order[i]), e->offset, e->crc};
	}
	free(ix->entries);
	ix->entries = NULL;
	ix->alloc = 0;
	return 0;
}

int pack_indexer_check_unique(const struct pack_indexer *ix, struct error *err)
{
	enum hash_algo algo = ix->config.algo;
	char hex[OID_MAX_HEX_LEN + 1];

	for (size_t i = 1; i < ix->nr; i++) {
		const uint8_t *a = ix->sorted[i - 1].oid;
		const uint8_t *b = ix->sorted[i].oid;

		if (!memcmp(a, b, hash_len(algo)))
			return error_set(
				err, ERR_CORRUPT,
				"The same object %s appears twice in the pack",
				oid_raw_to_hex(hex, a, algo));
	}
	return 0;
}

int pack_indexer_resolve(struct pack_indexer *ix, struct error *err)
{
	uint32_t left;
	int ret = indexer_resolve_deltas(ix, &left, err);

	if (!ret && left)
		ret = error_set(err, ERR_CORRUPT,
				"pack has %u unresolved delta%s", left,
				left == 1 ? "" : "s");
	if (indexer_salvages(ix, true, ret, err))
		ret = 0;
	if (!ret && ix->config.hooks.broken)
		ret = indexer_drop_broken(ix, err);
	if (!ret)
		ret = indexer_sort(ix, err);
	/*
	 * With hooks.broken, entries may have been dropped, so the lists of
	 * deltas are wrong. The objects of such a pack are only unpacked.
	 */
	if (!ret && !ix->config.hooks.broken)
		ret = indexer_refuse_cycles(ix, err);
	if (!ret && indexer_may_append(ix))
		ret = indexer_append_bases(ix, err);
	if (!ret && ix->appended_nr)
		ret = indexer_sort(ix, err);
	if (!ret)
		ret = fill_sorted(ix, err);
	return ret;
}

void pack_indexer_result(const struct pack_indexer *ix,
			 struct pack_indexer_result *out)
{
	*out = (struct pack_indexer_result){
		.checksum = ix->checksum,
		.nr = (uint32_t)ix->nr,
		.delta_nr = ix->delta_nr,
		.appended_nr = ix->appended_nr,
		.pack_len = ix->end + hash_len(ix->config.algo),
		.entries = ix->sorted,
	};
}

int pack_indexer_open_pack(struct pack **out, struct pack_indexer *ix,
			   struct error *err)
{
	int ret;

	*out = NULL;
	buf_reset(&ix->idx);
	ret = pack_idx_write(&ix->idx, ix->sorted, (uint32_t)ix->nr,
			     &ix->checksum, 2, ix->config.algo, err);
	if (ret < 0)
		return ret;
	return pack_open_alone(out, ix->file.path ? ix->file.path : ix->name,
			       ix->idx.data, ix->idx.len, ix->config.algo, err);
}

/* The side files of the pack, complete and durable under temporary names. */
struct parts {
	struct sys_tempfile rev, idx; /* inactive: not wanted */
};

/*
 * Writes a small side file under a temporary name. Its final name will be
 * `path`. Returns 0 or a negative error code.
 */
static int write_part(struct sys_tempfile *tf, const char *path,
		      const struct buf *content, const char *prefix,
		      unsigned share, enum sys_fsync_method method,
		      struct error *err)
{
	const char *slash = strrchr(path, '/');
	char *dir = slash ? mem_strndup(path, (size_t)(slash - path))
			  : mem_strdup(".");
	int ret;

	if (!dir)
		return error_nomem(err);
	ret = sys_tempfile_create(tf, *dir ? dir : "/", prefix, 0444 | share,
				  err);
	if (!ret)
		ret = sys_tempfile_write(tf, content->data, content->len, err);
	if (!ret)
		ret = sys_tempfile_finish(tf, method, err);
	free(dir);
	return ret;
}

/*
 * Creates a short file such as .keep. Returns 1 if the file was created, 0 if
 * it existed already or `path` is NULL, or a negative error code.
 */
static int place_mark(const char *path, const char *text,
		      enum sys_fsync_method method, struct error *err)
{
	struct sys_tempfile tf = SYS_TEMPFILE_INIT;
	int ret;

	if (!path || sys_exists(path))
		return 0;
	ret = sys_tempfile_create_exact(&tf, path, 0600, err);
	if (!ret && text && *text)
		ret = sys_tempfile_write(&tf, text, strlen(text), err);
	if (!ret && text && *text)
		ret = sys_tempfile_write(&tf, "\n", 1, err);
	if (!ret)
		ret = sys_tempfile_commit(&tf, path, method, err);
	sys_tempfile_abort(&tf);
	return ret < 0 ? ret : 1;
}

static int write_rev(struct parts *parts, struct pack_indexer *ix,
		     const struct pack_indexer_files *files, struct error *err)
{
	uint32_t *idx_pos = mem_alloc(ix->nr, sizeof(*idx_pos));
	struct buf b = BUF_INIT;
	int ret;

	if (!idx_pos)
		return error_nomem(err);
	for (size_t i = 0; i < ix->nr; i++)
		idx_pos[ix->order[i]] = (uint32_t)i;
	ret = pack_rev_write(&b, idx_pos, (uint32_t)ix->nr, &ix->checksum,
			     ix->config.algo, err);
	if (!ret)
		ret = write_part(&parts->rev, files->rev, &b, "tmp_rev_",
				 ix->config.share, files->fsync_metadata, err);
	buf_release(&b);
	free(idx_pos);
	return ret;
}

static int write_idx(struct parts *parts, struct pack_indexer *ix,
		     const struct pack_indexer_files *files, struct error *err)
{
	struct buf b = BUF_INIT;
	int ret = pack_idx_write_as(&b, ix->sorted, (uint32_t)ix->nr,
				    &ix->checksum, &files->idx_format,
				    ix->config.algo, err);

	if (!ret)
		ret = write_part(&parts->idx, files->idx, &b, "tmp_idx_",
				 ix->config.share, files->fsync_metadata, err);
	buf_release(&b);
	return ret;
}

/*
 * Writes all files under temporary names. So a lack of space is noticed before
 * any file gets its final name. Returns 0 or a negative error code.
 */
static int write_parts(struct parts *parts, struct pack_indexer *ix,
		       const struct pack_indexer_files *files,
		       struct error *err)
{
	int ret = 0;

	if (files->pack)
		ret = sys_tempfile_finish(&ix->file, files->fsync_pack, err);
	if (!ret && files->rev)
		ret = write_rev(parts, ix, files, err);
	if (!ret && files->idx)
		ret = write_idx(parts, ix, files, err);
	return ret;
}

static int place_parts(struct parts *parts, struct pack_indexer *ix,
		       const struct pack_indexer_files *files,
		       struct error *err)
{
	/*
	 * The method that makes the new names durable. write_parts() has made
	 * the contents durable already.
	 */
	enum sys_fsync_method method = files->is_passing
					       ? SYS_FSYNC_NONE
					       : files->fsync_metadata;
	int kept = place_mark(files->keep, files->keep_text, method, err);
	int ret = kept < 0 ? kept : 0;

	if (!ret)
		ret = place_mark(files->promisor, files->promisor_text, method,
				 err);
	if (ret >= 0 && files->pack)
		ret = sys_tempfile_commit(&ix->file, files->pack,
					  files->is_passing ? SYS_FSYNC_NONE
							    : files->fsync_pack,
					  err);
	if (ret >= 0 && files->rev)
		ret = sys_tempfile_commit(&parts->rev, files->rev, method, err);
	if (ret >= 0 && files->idx)
		ret = sys_tempfile_commit(&parts->idx, files->idx, method, err);
	if (ret >= 0 && files->pack)
		ret = pack_mtimes_drop(files->pack, err);
	return ret < 0 ? ret : kept;
}

/*
 * Takes the lock of the pack directory, if a received pack is put there.
 * Returns a value for sys_dirlock_drop(), or a negative error code.
 */
static int lock_dir(const struct pack_indexer_files *files, struct error *err)
{
	if (!files->pack || files->is_passing)
		return SYS_DIRLOCK_NONE;
	return sys_dirlock_take_for_pack(files->pack, SYS_DIRLOCK_PACKS_MS,
					 err);
}

int pack_indexer_write(struct pack_indexer *ix,
		       const struct pack_indexer_files *files,
		       struct error *err)
{
	struct parts parts = {SYS_TEMPFILE_INIT, SYS_TEMPFILE_INIT};
	struct sys_hold hold;
	int ret = write_parts(&parts, ix, files, err);
	int lock = ret ? SYS_DIRLOCK_NONE : lock_dir(files, err);

	if (lock < 0)
		ret = lock;
	/*
	 * Signals are held, so that no signal leaves a pack or a .keep file
	 * without the index.
	 */
	sys_hold_signals(&hold);
	if (!ret)
		ret = place_parts(&parts, ix, files, err);
	sys_release_signals(&hold);
	sys_dirlock_drop(lock);
	sys_tempfile_abort(&parts.rev);
	sys_tempfile_abort(&parts.idx);
	return ret;
}
