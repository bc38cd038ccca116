/* SPDX-License-Identifier: MIT */
/* Makes and installs a pack. */
#include <string.h>

#include "base/mem.h"
#include "base/sort.h"
#include "object/hash.h"
#include "pack-bitmap.h"
#include "pack/writer.h"
#include "pack/mtimes.h"
#include "deltas/delta-search.h"
#include "packing/plan.h"
#include "packs/newpack.h"
#include "sys/cleanup.h"
#include "sys/dirlock.h"
#include "sys/io.h"
#include "sys/process.h"
#include "sys/trace.h"

/*
 * Minimum memory limit, in bytes, for building a bitmap index. With a lower
 * limit, every tree would be read again and again.
 */
#define MIN_BITMAP_MEMORY ((uint64_t)8 << 20)

/*
 * The default memory limit for building a bitmap index is this number of bytes
 * for each packed object. For the repository git/git, more memory does not make
 * the build faster.
 */
#define BITMAP_MEMORY_PER_OBJECT 64

/*
 * Minimum, in bytes, of the default memory limit for building a bitmap index.
 */
#define DEFAULT_BITMAP_MEMORY ((uint64_t)64 << 20)

/*
 * Permissions of the files of packs: read-only, because these files are never
 * changed.
 */
#define FILE_MODE 0444

static int load_bool(const struct config *config, const char *key, bool *out,
		     struct error *err)
{
	int found = config_bool(config, key, out, err);

	return found < 0 ? found : 0;
}

static void set_defaults(struct newpack_options *options,
			 const struct repo *repo)
{
	*options = (struct newpack_options){
		.share = repo->share,
		.ofs_delta = true,
		.write_rev = true,
		.hash_cache = true,
		.lookup_table = true,
		.pseudo_merges = true,
		.bitmap_memory = NEWPACK_BITMAP_MEMORY_AUTO,
	};
}

static int load_bitmap_keys(struct newpack_options *options,
			    const struct repo *repo, struct error *err)
{
	int ret = load_bool(&repo->config, "pack.writebitmaphashcache",
			    &options->hash_cache, err);

	if (!ret)
		ret = load_bool(&repo->config, "pack.writebitmaplookuptable",
				&options->lookup_table, err);
	if (!ret)
		ret = load_bool(&repo->config, "pack.writebitmappseudomerges",
				&options->pseudo_merges, err);
	if (!ret && config_u64(&repo->config, "pack.bitmapbuildmemory",
			       &options->bitmap_memory, err) < 0)
		ret = ERR_INVALID;
	if (!ret && config_u64(&repo->config, "pack.bitmapbudget",
			       &options->bitmap_budget, err) < 0)
		ret = ERR_INVALID;
	if (options->bitmap_memory &&
	    options->bitmap_memory < MIN_BITMAP_MEMORY)
		options->bitmap_memory = MIN_BITMAP_MEMORY;
	return ret;
}

static int load_fsync(struct newpack_options *options, const struct repo *repo,
		      struct error *err)
{
	int ret = repo_fsync_method(repo, REPO_FSYNC_PACK, &options->fsync_pack,
				    err);

	return ret ? ret
		   : repo_fsync_method(repo, REPO_FSYNC_PACK_METADATA,
				       &options->fsync_metadata, err);
}

int newpack_options_load(struct newpack_options *options,
			 const struct repo *repo, struct error *err)
{
	int index_version = 2;
	int ret;

	set_defaults(options, repo);
	ret = packing_send_options_load(&options->make, repo, err);
	if (!ret)
		ret = load_bool(&repo->config, "pack.writereverseindex",
				&options->write_rev, err);
	if (!ret)
		ret = load_bitmap_keys(options, repo, err);
	if (!ret && config_u64(&repo->config, "pack.packsizelimit",
			       &options->max_pack_size, err) < 0)
		ret = ERR_INVALID;
	if (!ret && config_int(&repo->config, "pack.indexversion",
			       &index_version, err) < 0)
		ret = ERR_INVALID;
	if (!ret && (index_version < 1 || index_version > 2))
		ret = error_set(err, ERR_INVALID, "bad pack.indexVersion=%u",
				(unsigned)index_version);
	options->idx_format.version = (unsigned)index_version;
	return ret ? ret : load_fsync(options, repo, err);
}

int newpack_bitmap_options_load(struct newpack_options *options,
				const struct repo *repo, struct error *err)
{
	uint64_t threads = 0;
	int ret;

	set_defaults(options, repo);
	config_u64(&repo->config, "pack.threads", &threads, NULL);
	options->make.trace = repo->trace;
	options->make.threads = threads < PACKING_MAX_THREADS
					? (unsigned)threads
					: PACKING_MAX_THREADS;
	ret = load_bitmap_keys(options, repo, err);
	return ret ? ret : load_fsync(options, repo, err);
}

uint64_t newpack_bitmap_memory(const struct newpack_options *options,
			       const struct odb *odb)
{
	uint64_t bytes = (uint64_t)odb->packed_nr * BITMAP_MEMORY_PER_OBJECT;

	if (options->bitmap_memory != NEWPACK_BITMAP_MEMORY_AUTO)
		return options->bitmap_memory;
	return bytes > DEFAULT_BITMAP_MEMORY ? bytes : DEFAULT_BITMAP_MEMORY;
}

static int plan_and_search(struct newpack *np, bool check, struct error *err)
{
	const struct packing_send_options *make = &np->options->make;
	struct plan_options plan = {
		.reuse_delta = np->options->make.reuse_delta,
		.reuse_object = np->options->make.reuse_object,
		.chain_max = make->depth + 1,
		.threads = make->threads,
		.big_file_threshold = make->big_file_threshold,
	};
	struct delta_search_options search = {
		.threads = make->threads,
		.window = make->window,
		.depth = make->depth,
		.grouping = make->grouping,
		.window_memory = make->window_memory,
		.cache_size = make->delta_cache_size,
		.cache_limit = make->delta_cache_limit,
		.big_file_threshold = make->big_file_threshold,
		.compression = make->compression,
		.check_ids = check,
		.retry_same_pack = !np->options->make.reuse_delta,
		.progress = make->progress,
	};
	struct trace *trace = np->packs.odb->repo->trace;
	int ret;

	progress_tell(make->progress, "Counting objects", np->items->nr);
	trace_region_enter(trace, "pack-objects", "prepare-pack");
	ret = plan_items(np->items, &np->packs, &plan, err);
	if (!ret)
		ret = delta_search_run(np->items, &search, err);
	trace_region_leave(trace, "pack-objects", "prepare-pack");
	return ret;
}

static int write_pack(struct newpack *np, struct pack_sink sink, bool check,
		      uint64_t max_len, struct error *err)
{
	struct pack_writer writer;
	struct progress progress;
	struct write_options options = {
		.ofs_delta = np->options->ofs_delta,
		.check = check,
		.compression = np->options->make.compression,
		.max_len = max_len,
		.progress = &progress,
	};
	struct trace *trace = np->packs.odb->repo->trace;
	size_t all = np->nr;
	int ret;

	trace_region_enter(trace, "pack-objects", "write-pack-file");
	ret = pack_writer_init(&writer, sink, (uint32_t)np->nr,
			       np->packs.odb->algo, true, err);
	progress_start(&progress, np->options->make.write_progress,
		       "Writing objects", np->nr);
	if (!ret)
		ret = write_items(np->items, np->order, &np->nr, &np->packs,
				  &writer, &options, &np->report, err);
	np->rest_nr = all - np->nr;
	if (!ret)
		ret = pack_writer_finish(&writer, &np->checksum, err);
	progress_stop(&progress);
	pack_writer_release(&writer);
	trace_region_leave(trace, "pack-objects", "write-pack-file");
	return ret;
}

/*
 * A pack has reached its size limit: correct the object count in its header,
 * and then its checksum. Returns 0 or a negative error code.
 */
static int correct_count(struct newpack *np, struct error *err)
{
	struct sys_tempfile *file = &np->files[NEWPACK_PACK];
	size_t id_len = hash_len(np->packs.odb->algo);
	struct sys_map map = SYS_MAP_INIT;
	struct hash_ctx hash;
	uint8_t nr[4];
	uint64_t end;
	int ret;

	store_be32(nr, (uint32_t)np->nr);
	if (hash_init(&hash, np->packs.odb->algo) < 0)
		return error_nomem(err);
	ret = sys_tempfile_write_at(file, 8, nr, sizeof(nr), err);
	if (!ret)
		ret = sys_map_open(&map, file->path, err);
	if (!ret) {
		end = map.len - id_len;
		hash_update(&hash, map.data, end);
		hash_final(&hash, &np->checksum);
		ret = sys_tempfile_write_at(file, end, np->checksum.bytes,
					    id_len, err);
	}
	sys_map_close(&map);
	hash_release(&hash);
	return ret;
}

/*
 * Write the items order[0 .. nr) to a temporary pack file, until the size
 * limit is reached. Returns 0 or a negative error code.
 */
static int write_file(struct newpack *np, const char *dir, struct error *err)
{
	struct sys_tempfile *file = &np->files[NEWPACK_PACK];
	struct pack_file_sink sink = {0};
	int ret = sys_tempfile_create(file, dir, "tmp_pack_",
				      FILE_MODE | np->options->share, err);

	if (!ret)
		ret = pack_file_sink_init(&sink, file, err);
	if (!ret)
		ret = write_pack(np, pack_file_sink(&sink), true,
				 np->options->max_pack_size, err);
	if (!ret)
		ret = pack_file_sink_flush(&sink, err);
	pack_file_sink_release(&sink);
	return ret || !np->rest_nr ? ret : correct_count(np, err);
}

static void init(struct newpack *np, struct packing_items *items,
		 const struct newpack_options *options)
{
	*np = (struct newpack){.options = options, .items = items};
	for (int i = 0; i < NEWPACK_PART_NR; i++)
		np->files[i] = (struct sys_tempfile)SYS_TEMPFILE_INIT;
}

static int prepare(struct newpack *np, struct packing_items *items,
		   const struct newpack_options *options, bool check,
		   struct error *err)
{
	int ret;

	init(np, items, options);
	ret = packs_init(&np->packs, items->space->odb, err);
	if (!ret)
		ret = plan_and_search(np, check, err);
	if (ret < 0)
		return ret;
	np->order = write_order(items, &np->nr);
	return np->order ? 0 : error_nomem(err);
}

int newpack_make(struct newpack *np, struct packing_items *items,
		 const char *dir, const struct newpack_options *options,
		 struct error *err)
{
	int ret = prepare(np, items, options, true, err);

	sys_memory_trim();
	return ret < 0 ? ret : write_file(np, dir, err);
}

int newpack_continue(struct newpack *next, struct newpack *np, const char *dir,
		     struct error *err)
{
	init(next, np->items, np->options);
	next->packs = np->packs;
	np->packs.tables = NULL;
	next->order = mem_alloc(np->rest_nr, sizeof(*next->order));
	if (!next->order)
		return error_nomem(err);
	next->nr = np->rest_nr;
	memcpy(next->order, np->order + np->nr,
	       next->nr * sizeof(*next->order));
	np->rest_nr = 0;
	write_undeltify(next->items, next->order, next->nr);
	return write_file(next, dir, err);
}

int newpack_send(struct newpack *np, struct packing_items *items,
		 struct pack_sink sink, const struct newpack_options *options,
		 struct error *err)
{
	/*
	 * Objects that are sent are not checked against their ids, because the
	 * receiver checks every id.
	 */
	int ret = prepare(np, items, options, false, err);

	return ret < 0 ? ret : write_pack(np, sink, false, 0, err);
}

void newpack_release(struct newpack *np)
{
	for (int i = 0; i < NEWPACK_PART_NR; i++)
		sys_tempfile_abort(&np->files[i]);
	packs_release(&np->packs);
	free(np->order);
	free(np->idx_pos);
	np->order = np->idx_pos = NULL;
}

/* Returns the id of an object, for sort_items_by_bytes(). */
static const uint8_t *id_of(const void *ctx, uint32_t bit)
{
	const struct newpack *np = ctx;

	return objspace_raw(np->items->space,
			    np->items->items[np->order[bit]].obj_pos);
}

/*
 * Returns the packed objects sorted by id. The value of each element is the
 * object's bit_pos. NULL: no memory.
 */
static struct sort_item *sort_by_oid(const struct newpack *np)
{
	struct sort_item *sorted = mem_alloc(np->nr, sizeof(*sorted));

	if (!sorted)
		return NULL;
	for (uint32_t bit = 0; bit < np->nr; bit++)
		sorted[bit] = (struct sort_item){0, bit};
	if (sort_items_by_bytes(sorted, np->nr, id_of, np,
				hash_len(np->packs.odb->algo)) < 0) {
		free(sorted);
		return NULL;
	}
	return sorted;
}

static int write_part(struct newpack *np, enum newpack_part part,
		      const char *dir, const char *prefix,
		      const struct buf *bytes, struct error *err)
{
	struct sys_tempfile *file = &np->files[part];
	int ret = sys_tempfile_create(file, dir, prefix,
				      FILE_MODE | np->options->share, err);

	if (!ret)
		ret = sys_tempfile_write(file, bytes->data, bytes->len, err);
	return ret;
}

/*
 * Returns the entries of the .idx, sorted by id, and fills in np->idx_pos.
 * NULL: no memory.
 */
static struct pack_idx_entry *list_entries(struct newpack *np)
{
	struct pack_idx_entry *entries = mem_alloc(np->nr, sizeof(*entries));
	struct sort_item *sorted = entries ? sort_by_oid(np) : NULL;

	if (!sorted) {
		free(entries);
		return NULL;
	}
	for (size_t i = 0; i < np->nr; i++) {
		uint32_t bit = sorted[i].value;
		const struct packing_item *item =
			&np->items->items[np->order[bit]];

		entries[i] = (struct pack_idx_entry){
			id_of(np, bit),
			item->out_off,
			item->crc,
		};
		np->idx_pos[bit] = (uint32_t)i;
	}
	free(sorted);
	return entries;
}

static int write_idx(struct newpack *np, const char *dir, struct error *err)
{
	struct pack_idx_entry *entries = list_entries(np);
	struct buf bytes = BUF_INIT;
	int ret;

	if (!entries)
		return error_nomem(err);
	ret = pack_idx_write_as(&bytes, entries, (uint32_t)np->nr,
				&np->checksum, &np->options->idx_format,
				np->packs.odb->algo, err);
	free(entries);
	if (!ret)
		ret = write_part(np, NEWPACK_IDX, dir, "tmp_idx_", &bytes, err);
	buf_release(&bytes);
	return ret;
}

static int write_rev(struct newpack *np, const char *dir, struct error *err)
{
	struct buf bytes = BUF_INIT;
	int ret = pack_rev_write(&bytes, np->idx_pos, (uint32_t)np->nr,
				 &np->checksum, np->packs.odb->algo, err);

	if (!ret)
		ret = write_part(np, NEWPACK_REV, dir, "tmp_rev_", &bytes, err);
	buf_release(&bytes);
	return ret;
}

static int write_keep(struct newpack *np, const char *dir, struct error *err)
{
	const char *keep = np->options->keep;
	struct buf text = BUF_INIT;
	int ret;

	if (!keep)
		return 0;
	ret = buf_append(&text, keep, strlen(keep)) < 0
		      ? error_nomem(err)
		      : write_part(np, NEWPACK_KEEP, dir, "tmp_keep_", &text,
				   err);
	buf_release(&text);
	return ret;
}

int newpack_index(struct newpack *np, const char *dir, struct error *err)
{
	int ret;

	sys_memory_trim();
	np->idx_pos = mem_alloc(np->nr, sizeof(*np->idx_pos));
	if (!np->idx_pos)
		return error_nomem(err);
	ret = write_idx(np, dir, err);
	if (!ret && np->options->write_rev)
		ret = write_rev(np, dir, err);
	return ret ? ret : write_keep(np, dir, err);
}

int newpack_mtimes(struct newpack *np, const char *dir, const uint32_t *mtimes,
		   struct error *err)
{
	uint32_t *by_idx = mem_alloc(np->nr, sizeof(*by_idx));
	struct buf bytes = BUF_INIT;
	int ret;

	if (!by_idx)
		return error_nomem(err);
	for (size_t bit = 0; bit < np->nr; bit++)
		by_idx[np->idx_pos[bit]] = mtimes[np->order[bit]];
	ret = pack_mtimes_write(&bytes, by_idx, (uint32_t)np->nr, &np->checksum,
				np->packs.odb->algo, err);
	free(by_idx);
	if (!ret)
		ret = write_part(np, NEWPACK_MTIMES, dir, "tmp_mtimes_", &bytes,
				 err);
	buf_release(&bytes);
	return ret;
}

int newpack_promisor(struct newpack *np, const char *dir, struct error *err)
{
	const struct buf empty = BUF_INIT;

	return write_part(np, NEWPACK_PROMISOR, dir, "tmp_promisor_", &empty,
			  err);
}

/* Tables of a new pack from which its bitmap index is made. */
struct tables {
	uint32_t *bit_pos; /* indexed by obj_pos */
	/* path hashes, indexed by idx_pos; NULL: not wanted */
	uint32_t *hash_cache;
	uint8_t *types; /* indexed by bit_pos */
};

static int tables_fill(struct tables *t, const struct newpack *np)
{
	size_t end = objspace_end(np->items->space);

	t->bit_pos = mem_alloc(end, sizeof(*t->bit_pos));
	t->types = mem_alloc(np->nr, 1);
	t->hash_cache = np->options->hash_cache
				? mem_alloc(np->nr, sizeof(*t->hash_cache))
				: NULL;
	if (!t->bit_pos || !t->types ||
	    (np->options->hash_cache && !t->hash_cache))
		return ERR_NOMEM;
	memset(t->bit_pos, 0xff, end * sizeof(*t->bit_pos));
	for (size_t bit = 0; bit < np->nr; bit++) {
		const struct packing_item *item =
			&np->items->items[np->order[bit]];

		t->bit_pos[item->obj_pos] = (uint32_t)bit;
		t->types[bit] = item->type;
		if (t->hash_cache)
			t->hash_cache[np->idx_pos[bit]] = item->name_hash;
	}
	return 0;
}

static int write_bitmap(struct newpack *np, const char *dir,
			const struct newpack_bitmap_input *input,
			const struct tables *tables, struct error *err)
{
	struct pack_bitmap_write request = {
		.walk = input->walk,
		.enumerated = input->enumerated,
		.idx_pos = np->idx_pos,
		.bit_pos = tables->bit_pos,
		.hash_cache = tables->hash_cache,
		.types = tables->types,
		.object_nr = (uint32_t)np->nr,
		.checksum = np->checksum,
		.is_tip = input->is_tip,
		.pseudo = input->pseudo,
		.lookup_table = np->options->lookup_table,
		.memory_limit = newpack_bitmap_memory(np->options,
						      np->packs.odb),
		.budget = np->options->bitmap_budget,
		.progress = np->options->make.progress,
	};
	struct pack_bitmap_written written;
	struct buf bytes = BUF_INIT;
	int ret = pack_bitmap_write(&bytes, &request, &written, err);

	if (!ret)
		ret = write_part(np, NEWPACK_BITMAP, dir, "tmp_bitmap_", &bytes,
				 err);
	if (!ret) {
		np->bitmap_nr = written.bitmap_nr;
		np->bitmap_len = written.file_len;
	}
	buf_release(&bytes);
	return ret;
}

int newpack_bitmap(struct newpack *np, const char *dir,
		   const struct newpack_bitmap_input *input, struct error *err)
{
	struct tables tables = {0};
	int ret = tables_fill(&tables, np) < 0
			  ? error_nomem(err)
			  : write_bitmap(np, dir, input, &tables, err);

	free(tables.bit_pos);
	free(tables.hash_cache);
	free(tables.types);
	return ret;
}

static enum sys_fsync_method fsync_of(const struct newpack *np,
				      enum newpack_part part)
{
	return part == NEWPACK_PACK ? np->options->fsync_pack
				    : np->options->fsync_metadata;
}

static int install_part(struct newpack *np, enum newpack_part part,
			const char *path, struct error *err)
{
	if (part == NEWPACK_KEEP && (!np->files[part].path || sys_exists(path)))
		return 0;
	if (!np->files[part].path)
		return np->options->replace ? sys_unlink(path, err) : 0;
	return sys_tempfile_commit(&np->files[part], path, fsync_of(np, part),
				   err);
}

/*
 * Complete and sync all files of the pack. Afterwards only renames remain,
 * which are fast. Returns 0 or a negative error code.
 */
static int finish_parts(struct newpack *np, struct error *err)
{
	int ret = 0;

	for (int i = 0; i < NEWPACK_PART_NR && !ret; i++)
		if (np->files[i].path)
			ret = sys_tempfile_finish(&np->files[i],
						  fsync_of(np, i), err);
	return ret;
}

/* Sets *path to the final path of a file of the pack. */
static int part_path(struct buf *path, const struct newpack *np,
		     const char *base, const char *extension, struct error *err)
{
	char hex[OID_MAX_HEX_LEN + 1];

	oid_to_hex(hex, &np->checksum, np->packs.odb->algo);
	buf_reset(path);
	return buf_printf(path, "%s-%s.%s", base, hex, extension) < 0
		       ? error_nomem(err)
		       : 0;
}

int newpack_install(struct newpack *np, const char *base, struct error *err)
{
	static const char *const extensions[NEWPACK_PART_NR] = {
		[NEWPACK_PACK] = "pack",         [NEWPACK_REV] = "rev",
		[NEWPACK_BITMAP] = "bitmap",     [NEWPACK_MTIMES] = "mtimes",
		[NEWPACK_PROMISOR] = "promisor", [NEWPACK_KEEP] = "keep",
		[NEWPACK_IDX] = "idx",
	};
	int ret = finish_parts(np, err), lock = SYS_DIRLOCK_NONE;
	struct buf path = BUF_INIT;
	struct sys_hold hold;

	if (!ret)
		ret = part_path(&path, np, base, "pack", err);
	if (!ret)
		lock = sys_dirlock_take_for_pack(path.data,
						 SYS_DIRLOCK_PACKS_MS, err);
	if (lock < 0)
		ret = lock;
	sys_hold_signals(&hold);
	for (int i = 0; i < NEWPACK_PART_NR && !ret; i++) {
		ret = part_path(&path, np, base, extensions[i], err);
		if (!ret)
			ret = install_part(np, i, path.data, err);
	}
	sys_release_signals(&hold);
	sys_dirlock_drop(lock);
	buf_release(&path);
	np->is_installed = !ret;
	return ret;
}
