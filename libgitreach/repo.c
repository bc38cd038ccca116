/* SPDX-License-Identifier: MIT */
/*
 * The public functions about repositories. A repository is one snapshot, which
 * threads may share.
 */
#include "base/mem.h"
#include "libgitreach/internal.h"

#define ALL_FLAGS                                                              \
	(GITREACH_OPEN_EXACT | GITREACH_OPEN_ANY_OWNER |                       \
	 GITREACH_OPEN_NO_BITMAP)

gitreach_repo *libgitreach_repo_use(gitreach_repo *repo)
{
	atomic_fetch_add_explicit(&repo->users, 1, memory_order_relaxed);
	return repo;
}

void gitreach_repo_close(gitreach_repo *repo)
{
	if (!repo || atomic_fetch_sub_explicit(&repo->users, 1,
					       memory_order_acq_rel) > 1)
		return;
	pack_bitmap_close(repo->pb);
	if (repo->odb)
		objspace_release(&repo->space);
	odb_close(repo->odb);
	refs_close(repo->refs);
	repo_close(repo->repo);
	pthread_mutex_destroy(&repo->lock);
	free(repo);
}

/*
 * Open the bitmap index. A bitmap index that cannot be used is not an error,
 * because walking finds the same objects.
 */
static int open_bitmap(gitreach_repo *repo, struct error *err)
{
	bool use = !(repo->flags & GITREACH_OPEN_NO_BITMAP);
	int ret = config_bool(&repo->repo->config, "pack.usebitmaps", &use,
			      err);

	if (ret < 0)
		return ret;
	if (repo->flags & GITREACH_OPEN_NO_BITMAP)
		error_set(&repo->no_bitmap, ERR_MISSING,
			  "the repository was opened without bitmaps");
	else if (!use)
		error_set(&repo->no_bitmap, ERR_MISSING,
			  "pack.useBitmaps is false");
	if (repo->no_bitmap.code)
		return 0;
	ret = pack_bitmap_open(&repo->pb, repo->odb, &repo->no_bitmap);
	if (!ret)
		error_set(&repo->no_bitmap, ERR_MISSING,
			  "there is no bitmap index");
	/* Verify the bitmap index once, for all later queries. */
	if (ret > 0)
		ret = pack_bitmap_prove(repo->pb, &repo->no_bitmap);
	if (ret < 0) {
		pack_bitmap_close(repo->pb);
		repo->pb = NULL;
	}
	return ret == ERR_NOMEM ? error_nomem(err) : 0;
}

/*
 * Open the refs, then the packs. In this order, the packs have all objects that
 * the refs point to.
 */
static int open_snapshot(gitreach_repo *repo, const struct repo_options *o,
			 struct error *err)
{
	int ret = repo_open(&repo->repo, o, err);

	if (!ret)
		ret = refs_open(&repo->refs, repo->repo, err);
	if (!ret)
		ret = refs_list_now(repo->refs, err);
	if (!ret)
		ret = odb_open(&repo->odb, repo->repo, NULL, err);
	if (ret < 0)
		return ret;
	objspace_init(&repo->space, repo->odb);
	return open_bitmap(repo, err);
}

static int open_with(gitreach_repo **out, const struct repo_options *o,
		     uint32_t flags, struct error *err)
{
	gitreach_repo *repo = mem_calloc(1, sizeof(*repo));
	int ret;

	if (!repo)
		return error_nomem(err);
	pthread_mutex_init(&repo->lock, NULL);
	atomic_init(&repo->users, 1);
	repo->flags = flags;
	ret = open_snapshot(repo, o, err);
	if (ret < 0)
		gitreach_repo_close(repo);
	else
		*out = repo;
	return ret;
}

int gitreach_repo_open(gitreach_repo **out, const char *path, uint32_t flags,
		       gitreach_error *err)
{
	struct repo_options options = {
		.path = path,
		.flags = flags & GITREACH_OPEN_EXACT ? REPO_OPEN_EXACT
						     : REPO_OPEN_ENTER,
	};

	int ret = libgitreach_need(out && path, libgitreach_error(err));

	if (out)
		*out = NULL;
	if (ret < 0)
		return ret;
	if (flags & ~(uint32_t)ALL_FLAGS)
		return error_set(libgitreach_error(err), ERR_UNSUPPORTED,
				 "unknown flags %#x", flags);
	if (flags & GITREACH_OPEN_ANY_OWNER)
		options.flags |= REPO_OPEN_NO_OWNER;
	return libgitreach_done(
		open_with(out, &options, flags, libgitreach_error(err)), err);
}

int gitreach_repo_refresh(gitreach_repo **out, const gitreach_repo *repo,
			  gitreach_error *err)
{
	/*
	 * Allow any owner, because the owner was checked when the repository
	 * was first opened.
	 */
	struct repo_options options = {
		.flags = REPO_OPEN_EXACT | REPO_OPEN_NO_OWNER,
	};
	int ret = libgitreach_need(out && repo, libgitreach_error(err));

	if (out)
		*out = NULL;
	if (ret < 0)
		return ret;
	options.path = repo->repo->git_dir;
	return libgitreach_done(
		open_with(out, &options, repo->flags, libgitreach_error(err)),
		err);
}

int gitreach_repo_has_changed(const gitreach_repo *repo)
{
	return repo && odb_has_changed(repo->odb);
}

int gitreach_repo_hash(const gitreach_repo *repo)
{
	if (!repo)
		return 0;
	return repo->odb->algo == HASH_SHA256 ? GITREACH_SHA256 : GITREACH_SHA1;
}

size_t gitreach_repo_id_len(const gitreach_repo *repo)
{
	return repo ? hash_len(repo->odb->algo) : 0;
}

int libgitreach_repo_id(struct oid *oid, const gitreach_repo *repo,
			const uint8_t *id, size_t id_len, struct error *err)
{
	size_t len = gitreach_repo_id_len(repo);

	if (!id || id_len != len)
		return error_set(err, ERR_INVALID,
				 "the id has %zu bytes, but ids of the "
				 "repository have %zu",
				 id ? id_len : 0, len);
	oid_from_raw(oid, id, repo->odb->algo);
	return 0;
}

const uint8_t *libgitreach_repo_index_id(const gitreach_repo *repo,
					 uint32_t idx_pos)
{
	return bitmap_space_id(&repo->pb->space, idx_pos);
}

bool libgitreach_repo_bit(const gitreach_repo *repo, const uint8_t *raw,
			  uint32_t *bit_pos)
{
	uint32_t idx_pos;

	return repo->pb && bitmap_space_find(&repo->pb->space, raw, &idx_pos) &&
	       bitmap_space_bit_of(&repo->pb->space, idx_pos, bit_pos);
}
