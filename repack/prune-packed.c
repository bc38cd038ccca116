/* SPDX-License-Identifier: MIT */
/* Loose objects that packs have. */
#include "odb/odb.h"
#include "repack/prune-packed.h"
#include "sys/io.h"

enum { FANOUT_NR = 256 };

struct prune {
	const struct odb *odb;
	const struct prune_packed_options *options;
	struct progress progress;
	unsigned first; /* byte of the ids whose directory was visited last */
	struct error *err;
};

/* Whether a pack that has the object lasts at least as long as the file. */
static bool is_redundant(const struct odb *odb, const struct oid *oid,
			 const char *path)
{
	struct sys_stat st;
	uint32_t ignored;

	if (!odb_find(odb, oid, &ignored) || sys_stat(&st, path, NULL) < 0)
		return false;
	for (uint32_t i = 0; i < odb->pack_nr; i++) {
		const struct pack *pack = odb->packs[i].pack;

		if (pack_idx_find(&pack->idx, oid->bytes, &ignored) &&
		    (!pack->is_cruft || pack->mtime_ns >= st.mtime_ns))
			return true;
	}
	return false;
}

static int prune_one(void *ctx, const struct oid *oid, const char *path)
{
	struct prune *p = ctx;

	if (oid->bytes[0] != p->first) {
		p->first = oid->bytes[0];
		progress_set(&p->progress, p->first + 1);
	}
	if (!is_redundant(p->odb, oid, path))
		return 0;
	if (p->options->removing)
		p->options->removing(p->options->ctx, path);
	return p->options->dry_run ? 0 : sys_unlink(path, p->err);
}

/*
 * Those that are not empty stay, and so do those that cannot be removed: a
 * read-only file system says that of all, and an empty one does no harm.
 */
static int remove_empty(const struct odb *odb, struct error *err)
{
	struct buf path = BUF_INIT;
	int ret = 0;

	for (unsigned i = 0; i < FANOUT_NR && !ret; i++) {
		buf_reset(&path);
		if (buf_printf(&path, "%s/%02x", odb->dirs[0], i) < 0)
			ret = error_nomem(err);
		else if (sys_exists(path.data))
			sys_rmdir(path.data, NULL);
	}
	buf_release(&path);
	return ret;
}

int prune_packed(const struct repo *repo,
		 const struct prune_packed_options *options, struct error *err)
{
	struct prune p = {.options = options, .first = FANOUT_NR, .err = err};
	struct odb *odb;
	int ret = odb_open_named(&odb, repo, NULL, err);

	if (ret < 0)
		return ret;
	p.odb = odb;
	progress_start(&p.progress, options->progress,
		       "Removing duplicate objects", FANOUT_NR);
	ret = odb_each_loose(odb, true, prune_one, &p, err);
	if (!ret && !options->dry_run)
		ret = remove_empty(odb, err);
	if (!ret)
		progress_set(&p.progress, FANOUT_NR);
	progress_stop(&p.progress);
	odb_close(odb);
	return ret;
}
