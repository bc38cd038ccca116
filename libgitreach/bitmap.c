/* SPDX-License-Identifier: MIT */
/* The public functions about the bitmap index of a repository. */
#include "libgitreach/internal.h"
#include "midx/multi-pack-bitmap.h"
#include "midx/multi-pack.h"

_Static_assert((int)GITREACH_BITMAP_HASH_CACHE == BITMAP_HASH_CACHE, "");
_Static_assert((int)GITREACH_BITMAP_LOOKUP_TABLE == BITMAP_LOOKUP_TABLE, "");
_Static_assert((int)GITREACH_BITMAP_PSEUDO_MERGES == BITMAP_PSEUDO_MERGES, "");

int gitreach_bitmap_info(struct gitreach_bitmap_info *out,
			 const gitreach_repo *repo, gitreach_error *err)
{
	struct error *inner = libgitreach_error(err);
	const struct pack_bitmap *pb;
	struct gitreach_bitmap_info info = {0};
	int ret = libgitreach_need(out && repo, inner);

	if (ret < 0)
		return ret;
	pb = repo->pb;
	if (!pb)
		return error_set(inner, ERR_MISSING, "%s", repo->no_bitmap.msg);
	info.bytes = bitmap_file_len(&pb->file);
	info.objects = pb->file.object_nr;
	info.bitmaps = pb->file.row_nr;
	info.pseudo_merges = pb->file.pseudo.nr;
	info.flags = pb->file.flags & (BITMAP_HASH_CACHE | BITMAP_LOOKUP_TABLE |
				       BITMAP_PSEUDO_MERGES);
	info.path = pb->path;
	ret = libgitreach_struct_out(out, &info, sizeof(info), inner);
	return libgitreach_done(ret, err);
}

static int describe(struct gitreach_bitmap_entry *entry,
		    const gitreach_repo *repo, uint32_t row, struct error *err)
{
	const struct bitmap_file *f = &repo->pb->file;
	uint32_t idx_pos = bitmap_file_row(f, row).idx_pos;
	struct bitmap_stored stored;
	int ret = bitmap_file_stored(&stored, f, row, err);

	if (!ret && idx_pos >= f->object_nr)
		ret = error_set(
			err, ERR_CORRUPT,
			"%s: the object number of a bitmap is out of range",
			repo->pb->path);
	if (ret < 0)
		return ret;
	*entry = (struct gitreach_bitmap_entry){
		.size = sizeof(*entry),
		.id = libgitreach_repo_index_id(repo, idx_pos),
		.id_len = gitreach_repo_id_len(repo),
		.bytes = stored.len,
		.xor_depth = stored.depth,
	};
	return 0;
}

int gitreach_bitmap_each(const gitreach_repo *repo, gitreach_bitmap_fn fn,
			 void *ctx, gitreach_error *err)
{
	struct error *inner = libgitreach_error(err);
	int ret = libgitreach_need(repo && fn, inner);
	uint32_t nr;

	if (ret < 0)
		return ret;
	nr = repo->pb ? repo->pb->file.row_nr : 0;
	for (uint32_t row = 0; row < nr; row++) {
		struct gitreach_bitmap_entry entry;

		ret = describe(&entry, repo, row, inner);

		if (ret < 0)
			return ret;
		ret = fn(ctx, &entry);
		if (ret)
			return libgitreach_done(libgitreach_stopped(ret, inner),
						err);
	}
	return libgitreach_done(0, err);
}

int gitreach_bitmap_verify(const gitreach_repo *repo,
			   const struct gitreach_verify_options *given,
			   gitreach_error *err)
{
	struct error *inner = libgitreach_error(err);
	struct gitreach_verify_options options;
	struct libgitreach_progress progress;
	struct pack_bitmap_verify how = {0};
	struct walk w;
	int ret = libgitreach_need(repo, inner);

	if (!ret)
		ret = libgitreach_struct_in(&options, given, sizeof(options),
					    inner);
	if (!ret)
		ret = libgitreach_progress_begin(options.progress,
						 options.progress_ctx, inner);
	if (!ret && !repo->pb)
		ret = error_set(inner, ERR_MISSING, "%s", repo->no_bitmap.msg);
	if (!ret)
		ret = walk_open(&w, repo->odb, NULL, 0, inner);
	if (ret < 0)
		return ret;
	how.sample = options.sample;
	how.seed = options.seed;
	how.progress = libgitreach_progress(&progress, options.progress,
					    options.progress_ctx);
	history_check_graph(&w.history);
	history_poll(&w.history, how.progress);
	ret = pack_bitmap_verify(repo->pb, &w, &how, inner);
	walk_close(&w);
	return libgitreach_done(ret, err);
}

/*
 * Find the only pack of the repository. Cruft packs are ignored, because their
 * objects are unreachable.
 */
static int find_pack(const struct odb_pack **pack, const struct odb *odb,
		     struct error *err)
{
	*pack = NULL;
	for (uint32_t i = 0; i < odb->pack_nr; i++) {
		const struct pack *p = odb->packs[i].pack;

		if (!p->is_local || p->is_cruft)
			continue;
		if (*pack)
			return error_set(err, ERR_UNSUPPORTED,
					 "the repository has several packs, "
					 "but no multi-pack-index");
		*pack = &odb->packs[i];
	}
	return *pack ? 0
		     : error_set(err, ERR_MISSING,
				 "the repository has no pack");
}

static int write_index(const gitreach_repo *repo, struct refs *refs,
		       const struct newpack_options *newpack, struct error *err)
{
	struct multi_pack_options midx = {
		.bitmap = newpack,
		.refs = refs,
		.progress = newpack->make.progress,
	};
	struct multi_pack_bitmap_report report;
	struct multi_pack_result result;
	const struct odb_pack *pack;
	int ret;

	if (repo->odb->midxes[0])
		return multi_pack_write(&result, repo->odb, &midx, err);
	ret = find_pack(&pack, repo->odb, err);
	return ret < 0 ? ret
		       : multi_pack_bitmap_write_pack(&report, repo->odb, pack,
						      refs, newpack, err);
}

int gitreach_bitmap_write(const gitreach_repo *repo,
			  const struct gitreach_bitmap_options *given,
			  gitreach_error *err)
{
	struct error *inner = libgitreach_error(err);
	struct gitreach_bitmap_options options;
	struct libgitreach_progress progress;
	struct newpack_options newpack;
	struct refs *refs;
	int ret = libgitreach_need(repo, inner);

	if (!ret)
		ret = libgitreach_struct_in(&options, given, sizeof(options),
					    inner);
	if (!ret)
		ret = libgitreach_progress_begin(options.progress,
						 options.progress_ctx, inner);
	if (!ret)
		ret = newpack_options_load(&newpack, repo->repo, inner);
	if (!ret)
		ret = refs_open(&refs, repo->repo, inner);
	if (ret < 0)
		return ret;
	newpack.make.progress = libgitreach_progress(
		&progress, options.progress, options.progress_ctx);
	if (options.threads)
		newpack.make.threads = options.threads < PACKING_MAX_THREADS
					       ? (unsigned)options.threads
					       : PACKING_MAX_THREADS;
	ret = write_index(repo, refs, &newpack, inner);
	refs_close(refs);
	return libgitreach_done(ret, err);
}
