/* SPDX-License-Identifier: MIT */
/* Stores the objects of a push. */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "odb/known-objects.h"
#include "odb/unpack.h"
#include "receive/receive-objects.h"
#include "sys/io.h"
#include "sys/process.h"
#include "sys/thread.h"

static ssize_t read_pack(void *ctx, void *bytes, size_t len, struct error *err)
{
	struct receive *r = ctx;

	return pktline_read_raw(&r->peer.in, bytes, len, err);
}

/*
 * Returns the path of a pack file in the quarantine:
 * "<quarantine>/pack/pack-<hex><ext>". The caller frees the path. NULL: no
 * memory.
 */
static char *name_file(const struct receive *r, const struct oid *checksum,
		       const char *ext)
{
	char hex[OID_MAX_HEX_LEN + 1];
	struct buf path = BUF_INIT;

	oid_to_hex(hex, checksum, r->repo->algo);
	if (buf_printf(&path, "%s/pack/pack-%s%s", r->quarantine.dir.path, hex,
		       ext) < 0) {
		buf_release(&path);
		return NULL;
	}
	return buf_detach(&path, NULL);
}

/*
 * Choose which files are made durable. If the push has a target (struct
 * receive_target), the target uploads the files, and makes hard links to them
 * in its cache. The cache keeps these links, so the content of the files must
 * be durable. Their names in the quarantine need not be durable.
 */
static int choose_fsync(struct pack_indexer_files *files,
			const struct receive *r, struct error *err)
{
	const struct repo *repo = r->repo;
	int ret;

	if (r->options->target) {
		files->fsync_pack = files->fsync_metadata = SYS_FSYNC_FSYNC;
		files->is_passing = true;
		return 0;
	}
	ret = repo_fsync_method(repo, REPO_FSYNC_PACK, &files->fsync_pack, err);

	return ret ? ret
		   : repo_fsync_method(repo, REPO_FSYNC_PACK_METADATA,
				       &files->fsync_metadata, err);
}

/*
 * Set *text to the content of a .keep file: it names the process that made the
 * file.
 */
static int say_who(struct buf *text, struct error *err)
{
	if (buf_printf(text, "receive-pack %ld on ", sys_process_id()) < 0)
		return error_nomem(err);
	return sys_host_name(text, err);
}

/*
 * Store the received objects as a pack, not as loose objects. A .keep file
 * protects the pack until refs reach its objects: a repack by another process
 * does not remove a pack with a .keep file.
 *
 * If objects are checked, a pack that has an object twice is refused. Stock Git
 * accepts such a pack if it unpacks the pack.
 */
static int keep(struct receive_objects *o, struct receive *r, struct error *err)
{
	const struct oid *sum = &o->result.checksum;
	struct buf text = BUF_INIT;
	struct pack_indexer_files files = {
		.pack = name_file(r, sum, ".pack"),
		.idx = name_file(r, sum, ".idx"),
		.rev = name_file(r, sum, ".rev"),
		.keep = name_file(r, sum, ".keep"),
		.idx_format.version = 2,
	};
	int ret = r->config.fsck_objects ? pack_indexer_check_unique(o->ix, err)
					 : 0;

	if (!ret)
		ret = say_who(&text, err);
	files.keep_text = text.data;
	if (!files.pack || !files.idx || !files.rev || !files.keep)
		ret = error_nomem(err);
	if (!ret)
		ret = choose_fsync(&files, r, err);
	if (!ret)
		ret = pack_indexer_write(o->ix, &files, err);
	free((char *)files.pack);
	free((char *)files.idx);
	free((char *)files.rev);
	free((char *)files.keep);
	buf_release(&text);
	return ret < 0 ? ret : 0;
}

/*
 * Sets the modification time of an object to now if the repository has the
 * object. So `git prune` keeps the object until refs reach it. Returns 1 if the
 * time was set, 0 if the object must be written, or a negative error code.
 */
static int is_known(void *ctx, const struct oid *oid, struct error *err)
{
	struct receive_objects *o = ctx;

	return known_objects_freshen(o->known, oid, err);
}

static int take_apart(struct receive_objects *o, struct receive *r,
		      struct error *err)
{
	struct unpack_options options = {
		.has = is_known,
		.ctx = o,
		.piecewise_above = PACK_INDEXER_CACHE_LIMIT,
	};
	struct buf dir = BUF_INIT;
	struct loose_writer w;
	int ret = loose_writer_init(&w, r->repo, r->quarantine.dir.path, err);

	if (!ret && buf_printf(&dir, "%s/pack", r->quarantine.dir.path) < 0)
		ret = error_nomem(err);
	if (!ret)
		ret = unpack_received(o->ix, dir.data, &w, &options, err);
	loose_writer_release(&w);
	buf_release(&dir);
	return ret;
}

static int seen_has(void *ctx, unsigned thread_nr, const struct oid *oid,
		    struct error *err)
{
	struct receive_seen_only *s = ctx;

	return s->all.has(s->all.ctx, thread_nr, oid, err);
}

static int seen_compare(void *ctx, unsigned thread_nr, const struct oid *oid,
			enum object_type type, const void *data, size_t len,
			struct error *err)
{
	struct receive_seen_only *s = ctx;

	return s->all.compare(s->all.ctx, thread_nr, oid, type, data, len, err);
}

/*
 * Read a delta base. If the client is not allowed to know of the object, the
 * base counts as missing.
 */
static int seen_base(void *ctx, const struct oid *oid, enum object_type *type,
		     void **data, size_t *len, struct error *err)
{
	struct receive_seen_only *s = ctx;
	int ret = receive_sees(s->r, oid, err);

	return ret <= 0 ? ret
			: s->all.base(s->all.ctx, oid, type, data, len, err);
}

static void limit_hooks(struct pack_indexer_hooks *hooks,
			struct receive_seen_only *s, struct receive *r)
{
	*s = (struct receive_seen_only){*hooks, r};
	*hooks = (struct pack_indexer_hooks){
		.base = seen_base,
		.has = seen_has,
		.compare = seen_compare,
		.ctx = s,
	};
}

static int index_pack(struct receive_objects *o, struct receive *r,
		      struct error *err)
{
	bool shows = receive_peer_has_band(&r->peer) && !r->request.quiet &&
		     !r->options->quiet;
	struct pack_indexer_config config = {
		.algo = r->repo->algo,
		.share = r->repo->share,
		.max_len = r->config.max_len,
		.max_work = r->config.max_work,
		.max_work_name = "gitreach.maxPushInflate",
		.resolve_progress = shows ? &o->progress : NULL,
	};
	const struct pack_source source = {.read = read_pack, .ctx = r};
	struct sys_ticker *ticker = NULL;
	struct buf dir = BUF_INIT;
	int ret = pack_indexer_config_load(&config, &r->repo->config, err);

	if (!ret)
		ret = known_objects_open(&o->known, r->repo, config.threads,
					 err);
	if (ret < 0)
		return ret;
	o->progress = sideband_progress(&r->peer.band);
	config.hooks = known_objects_hooks(o->known);
	if (r->is_limit)
		limit_hooks(&config.hooks, &o->seen, r);
	o->ix = pack_indexer_new(&config);
	if (!o->ix || buf_printf(&dir, "%s/pack", r->quarantine.dir.path) < 0)
		ret = error_nomem(err);
	if (!ret)
		ret = sys_mkdir_shared(dir.data, r->repo->share, err);
	if (!ret)
		ret = pack_indexer_receive(o->ix, source, dir.data, err);
	if (!ret)
		ret = receive_peer_start_ticker(&ticker, &r->peer,
						r->config.keep_alive, err);
	if (!ret)
		ret = pack_indexer_resolve(o->ix, err);
	sys_ticker_stop(ticker);
	buf_release(&dir);
	return ret;
}

int receive_objects_take(struct receive_objects *o, struct receive *r,
			 struct error *err)
{
	uint32_t sent_nr;
	int ret;

	*o = (struct receive_objects){0};
	ret = quarantine_create(&r->quarantine, r->repo, err);
	if (!ret)
		ret = index_pack(o, r, err);
	if (ret < 0)
		return ret;
	pack_indexer_result(o->ix, &o->result);
	sent_nr = o->result.nr - o->result.appended_nr;
	if (!sent_nr)
		return 0;
	return sent_nr >= r->config.unpack_limit ? keep(o, r, err)
						 : take_apart(o, r, err);
}

void receive_objects_release(struct receive_objects *o)
{
	pack_indexer_free(o->ix);
	known_objects_close(o->known);
	*o = (struct receive_objects){0};
}

bool receive_objects_has(const struct receive_objects *o, enum hash_algo algo,
			 const struct oid *oid)
{
	uint32_t low = 0, high = o->result.nr;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;
		int cmp = memcmp(o->result.entries[mid].oid, oid->bytes,
				 hash_len(algo));

		if (!cmp)
			return true;
		if (cmp < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return false;
}
