/* SPDX-License-Identifier: MIT */
/* Publishes packs of a repository in a store, after a repack. */
#include <stdlib.h>
#include <string.h>

#include "publish/publish.h"
#include "stored/fetch.h"
#include "stored/offer-list.h"
#include "stored/offers-make.h"
#include "sys/io.h"
#include "sys/tempdir.h"

struct making {
	enum hash_algo algo;
	struct buf list;
	size_t nr;
};

/* Adds a pack to the list. */
static int note(void *ctx, const struct publish_pack *pack, struct error *err)
{
	struct making *m = ctx;
	struct buf path = BUF_INIT;
	struct stored_offer offer = {.checksum = pack->checksum,
				     .len = pack->len};
	const char *base = strrchr(pack->path, '/') + 1;
	int ret = m->nr++ == STORED_OFFER_MAX
			  ? error_set(err, ERR_UNSUPPORTED,
				      "there are too many packs to publish")
			  : 0;

	if (!ret &&
	    buf_printf(&path, "%s%s",
		       pack->is_own ? "objects/pack/" : STORED_OFFER_DIR,
		       base) < 0)
		ret = error_nomem(err);
	offer.path = path.data;
	if (!ret && stored_offer_list_append(&m->list, &offer, m->algo) < 0)
		ret = error_nomem(err);
	buf_release(&path);
	return ret;
}

/* Makes the packs in the directory `packs`, and the list in the file `path`. */
static int make(const struct repo *repo, const struct published_config *config,
		const char *packs, const char *path, struct error *err)
{
	struct making m = {.algo = repo->algo, .list = BUF_INIT};
	int ret = stored_offer_list_begin(&m.list) < 0
			  ? error_nomem(err)
			  : sys_mkdir_p(packs, err);

	if (!ret)
		ret = publish_into(repo, config, packs, note, &m, err);
	if (!ret && m.nr)
		ret = sys_tempfile_replace(path, m.list.data, m.list.len,
					   SYS_FSYNC_NONE, err);
	if (ret)
		sys_tempdir_remove(packs, NULL);
	buf_release(&m.list);
	return ret;
}

int stored_offers_make(const char *dir, struct error *err)
{
	const struct repo_options where = {
		.path = dir,
		.flags = REPO_OPEN_EXACT,
	};
	struct published_config config = {0};
	struct repo *repo = NULL;
	char *path = stored_join(dir, STORED_OFFER_LIST, err);
	char *packs = stored_join(dir, STORED_OFFER_DIR, err);
	int ret = path && packs ? sys_unlink(path, err) : ERR_NOMEM;

	if (!ret)
		ret = repo_open(&repo, &where, err);
	if (!ret)
		ret = published_config_load(&config, repo, err);
	if (!ret && config.store)
		ret = make(repo, &config, packs, path, err);
	published_config_release(&config);
	repo_close(repo);
	free(path);
	free(packs);
	return ret;
}
