/* SPDX-License-Identifier: MIT */
/*
 * git store repack: repacks repositories in a store. A generation is a version
 * of a repository:
 *
 *	newest generation -> directory -> git gc -> next generation
 *
 * Pushes to the repository are accepted during the repack. The next generation
 * keeps the packs and refs of these pushes.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/affix.h"
#include "builtin/child.h"
#include "builtin/stored-parts.h"
#include "generations/lease.h"
#include "stored/cache.h"
#include "stored/fetch.h"
#include "stored/offer-list.h"
#include "stored/offers-make.h"
#include "stored/successor.h"
#include "sys/io.h"
#include "sys/tempdir.h"
#include "sys/ticker.h"

static const char usage[] =
	"git store repack [--auto=<packs>] [--prune=<date>] [--force] "
	"[<options>] <store> [<name>...]";

/*
 * Maximum number of tries to repack one repository. A try fails if another
 * writer has replaced the repacked files meanwhile.
 */
#define TRIES 3

/*
 * The holder of a lease (a lock in the store) renews it every LEASE_RENEW
 * seconds. If a lease was not renewed for LEASE_AGE seconds, its holder has
 * probably died, and another process may take it.
 */
#define LEASE_RENEW 60
#define LEASE_AGE (10 * LEASE_RENEW)
/*
 * Time limits, in milliseconds, of the requests that renew or drop the lease. A
 * request fails if the store is silent for LEASE_MS. A failed request is sent
 * again only if less than LEASE_TRY_MS have passed since its first try began.
 * So a request that fails because the store is silent is not sent again. The
 * limits are short because the command can only end after these requests.
 */
#define LEASE_MS 4000
#define LEASE_TRY_MS 2000

struct run {
	uint64_t min_packs;
	/* value of --prune; NULL: unreachable objects are never dropped */
	const char *prune;
	bool force;
	struct buf node, user;
	/*
	 * owned: the store again, opened with short time limits, for requests
	 * about the lease (a lock in the store)
	 */
	struct filestore *quick;
};

/* The temporary directory in which a repository is repacked. */
struct workshop {
	struct sys_tempdir dir;
	/* owned: the repository, and the directory for dropped objects */
	char *repo_path, *expired_path;
	/* owned: cache of files of the store */
	struct stored_cache *cache;
};

static void workshop_close(struct workshop *shop)
{
	stored_cache_close(shop->cache);
	free(shop->repo_path);
	free(shop->expired_path);
	sys_tempdir_release(&shop->dir);
}

/*
 * Makes the temporary directory and its subdirectories. Close *shop in any
 * case.
 */
static int workshop_open(struct workshop *shop, struct error *err)
{
	int ret;

	*shop = (struct workshop){.dir = SYS_TEMPDIR_INIT};
	ret = sys_tempdir_create(&shop->dir, stored_place_tmp(),
				 "gitreach-repack-", err);
	if (ret)
		return ret;
	shop->repo_path = stored_join(shop->dir.path, "repo", err);
	shop->expired_path = stored_join(shop->dir.path, "expired", err);
	if (!shop->repo_path || !shop->expired_path)
		return ERR_NOMEM;
	ret = stored_cache_open(&shop->cache, shop->dir.path, err);
	if (!ret)
		ret = sys_mkdir_p(shop->repo_path, err);
	return ret ? ret : sys_mkdir_p(shop->expired_path, err);
}

/* ---- one repository */

/*
 * Returns the number of packs of the repository, without those that are only
 * published for packfile-uris.
 */
static size_t count_packs(const struct generation *g)
{
	size_t nr = 0;

	for (size_t i = 0; i < g->file_nr; i++) {
		const char *path = g->files[i].path;

		nr += ends_with(path, ".pack") && !stored_offer_is_remote(path);
	}
	return nr;
}

/* Runs git gc, with the configuration of the repository. */
static int collect(const struct run *run, const struct workshop *shop,
		   struct error *err)
{
	/*
	 * Turn publishing off, because the repository is in a temporary
	 * directory.
	 */
	static const char *const words[] = {
		"-c", "gitreach.publishDirectory=", "-C", NULL};
	const struct repo_options where = {
		.path = shop->repo_path,
		.flags = REPO_OPEN_EXACT,
	};
	struct repo *repo = NULL;
	struct child_words w;
	int ret = repo_open(&repo, &where, err);

	if (ret)
		return ret;
	w = child_git(words);
	child_add(&w, "%s", shop->repo_path);
	child_add(&w, "gc");
	child_add(&w, "--quiet");
	child_add(&w, "--cruft");
	child_add(&w, "--prune=%s", run->prune ? run->prune : "never");
	/* git gc puts dropped objects into this directory. */
	child_add(&w, "--expire-to=%s/pack", shop->expired_path);
	ret = child_run(&w, repo, err);
	repo_close(repo);
	return ret == ERR_PEER ? error_set(err, ret, "git gc has failed") : ret;
}

/*
 * Publishes packs that clients can download without the server (packfile-uris).
 * If this fails, prints only a warning, because clients can get all objects
 * from servers.
 */
static int publish(const struct workshop *shop, const char *name,
		   struct error *err)
{
	struct error why = ERROR_INIT;
	int ret = stored_offers_make(shop->repo_path, &why);

	if (ret == ERR_NOMEM)
		return error_nomem(err);
	if (ret)
		builtin_warn("%s: packs could not be published: %s", name,
			     why.msg);
	return 0;
}

static int stop_at_once(void *ctx, const char *name)
{
	(void)ctx;
	return *name == '.' ? 0 : 1;
}

/*
 * Repacks the files of generation *g, and makes the next generation from the
 * result. Returns 0, ERR_DENIED if changes of other writers conflict with the
 * repack, or another negative error code.
 */
static int repack(const struct run *run, const struct generation_place *place,
		  struct generation *g, struct stored_written *written,
		  struct error *err)
{
	struct stored_successor next = {
		.node = run->node.data,
		.user = run->user.len ? run->user.data : "",
		.action = "repack",
	};
	struct workshop shop;
	int ret = workshop_open(&shop, err);

	if (!ret)
		ret = stored_cache_lay_out(shop.cache, shop.repo_path, place, g,
					   err);
	if (!ret)
		ret = collect(run, &shop, err);
	if (!ret)
		ret = publish(&shop, place->repository, err);
	if (!ret)
		ret = sys_dir_each(shop.expired_path, stop_at_once, NULL, err);
	if (ret >= 0) {
		next.dir = shop.repo_path;
		next.drops_objects = ret > 0;
		ret = stored_successor_commit(written, g, place, &next, err);
	}
	workshop_close(&shop);
	return ret;
}

static void tell(const char *name, size_t packs, const struct generation *g,
		 const struct stored_written *written)
{
	if (written->is_same)
		printf("%s: generation %" PRIu64 " needs no repack\n", name,
		       written->number);
	else
		printf("%s: generation %" PRIu64 ", %zu packs became %zu, "
		       "wrote %" PRIu64 " of %" PRIu64 " bytes\n",
		       name, written->number, packs, count_packs(g),
		       written->upload_bytes, written->bytes);
	fflush(stdout);
}

/*
 * Repacks a repository. `is_listed`: the name of the repository comes from a
 * list of all repositories in the store, and not from the command line. The
 * list may have names of repositories that have no generation, because no
 * import has succeeded. If the repository has no generation, returns 0 if
 * `is_listed` is set, otherwise a negative error code. In all other cases,
 * returns 0 or a negative error code.
 */
static int maintain(const struct run *run, const struct generation_place *place,
		    bool is_listed, struct error *err)
{
	struct stored_written written = {0};
	int ret = ERR_DENIED;

	for (int i = 0; i < TRIES && ret == ERR_DENIED; i++) {
		struct generation g = {0};
		size_t packs = 0;

		ret = generation_newest(&g, place, 0, err);
		if (ret == STORE_ABSENT && is_listed)
			return 0;
		ret = stored_result(ret, place->repository, err);
		if (!ret)
			packs = count_packs(&g);
		if (!ret) {
			ret = repack(run, place, &g, &written, err);
			if (!ret)
				tell(place->repository, packs, &g, &written);
		}
		generation_release(&g);
	}
	return ret;
}

/*
 * Returns 1 if a repository has at least the number of packs that --auto gives,
 * 0 if not, or a negative error code.
 */
static int is_due(const struct run *run, const struct generation_place *place,
		  bool is_listed, struct error *err)
{
	struct generation g = {0};
	int ret;

	if (!run->min_packs)
		return 1;
	ret = generation_newest(&g, place, 0, err);
	if (!ret)
		ret = count_packs(&g) >= run->min_packs;
	else if (ret == STORE_ABSENT && is_listed)
		ret = 0;
	else
		ret = stored_result(ret, place->repository, err);
	generation_release(&g);
	return ret;
}

static void renew(void *lease)
{
	/*
	 * Ignore a failed renewal. The ticker calls this function again, and
	 * other processes take the lease only after many missed renewals.
	 */
	generation_lease_renew(lease, NULL);
}

/*
 * Works like maintain(), while a ticker renews the lease (a lock in the store)
 * from time to time.
 */
static int maintain_long(const struct run *run, struct generation_lease *lease,
			 const struct generation_place *place, bool is_listed,
			 struct error *err)
{
	struct sys_ticker *ticker;
	int ret = sys_ticker_start(&ticker, LEASE_RENEW, renew, lease, err);

	if (!ret)
		ret = maintain(run, place, is_listed, err);
	sys_ticker_stop(ticker);
	return ret;
}

/*
 * Works like maintain(), while holding the lease of the repository (a lock in
 * the store). If another process holds the lease, prints the name of its node
 * and returns 0.
 */
static int with_lease(struct run *run, const struct generation_place *place,
		      bool is_listed, struct error *err)
{
	struct generation_place quick = *place;
	struct generation_lease lease;
	struct buf holder = BUF_INIT;
	int ret = generation_lease_take(&lease, place, run->node.data,
					run->force ? INT64_MIN : LEASE_AGE,
					&holder, err);

	if (ret == STORE_CONFLICT) {
		printf("%s: skipped, because '%s' is maintaining it\n",
		       place->repository, holder.data);
		buf_release(&holder);
		return 0;
	}
	buf_release(&holder);
	ret = stored_result(ret, "the lease", err);
	if (ret)
		return ret;
	quick.store = run->quick;
	lease.place = &quick;
	ret = maintain_long(run, &lease, place, is_listed, err);
	/*
	 * Ignore a failure: a lease (a lock in the store) that is not dropped
	 * is taken over when it is old.
	 */
	generation_lease_drop(&lease, NULL);
	return ret;
}

static int repack_one(void *ctx, const struct generation_place *place,
		      bool is_listed)
{
	struct error err = ERROR_INIT;
	int ret = is_due(ctx, place, is_listed, &err);

	if (ret > 0)
		ret = with_lease(ctx, place, is_listed, &err);
	if (!ret)
		return 0;
	builtin_error("%s: %s", place->repository, err.msg);
	return 128;
}

/* Opens the store with short time limits. */
static int open_quick(struct run *run, const char *url,
		      struct store_s3_settings settings, struct error *err)
{
	settings.connect_ms = LEASE_MS;
	settings.stall_ms = LEASE_MS;
	settings.try_ms = LEASE_TRY_MS;
	settings.is_lazy = true;
	return store_open_url(&run->quick, url, &settings, err);
}

/* Fills *run, and repacks the repositories that the arguments name. */
static int repack_each(struct run *run, const char **argv, int operands,
		       const struct store_s3_settings *settings)
{
	struct error err = ERROR_INIT;
	int ret = stored_place_origin(&run->node, &run->user, &err);

	if (!ret)
		ret = open_quick(run, argv[1], *settings, &err);
	return ret < 0 ? builtin_fail(&err)
		       : stored_place_run(argv, operands, settings, repack_one,
					  run);
}

int stored_cmd_repack(int argc, const char **argv, struct builtin_env *env)
{
	struct store_s3_settings settings = STORE_S3_SETTINGS_INIT;
	struct run run = {.node = BUF_INIT, .user = BUF_INIT};
	const struct option options[] = {
		{.kind = OPTION_U64,
		 .long_name = "auto",
		 .u64 = &run.min_packs,
		 .arg_name = "<packs>",
		 .help = "repack only repositories with <n> packs or more"},
		OPTION_ROW_STRING(0, "prune", &run.prune, "<date>",
				  "delete unreachable objects older than this"),
		OPTION_ROW_FLAG(
			0, "force", &run.force,
			"repack even if another node seems to be repacking"),
		STORED_OPTION_ROWS(&settings),
		{.kind = OPTION_END},
	};
	int operands = options_parse(argc, argv, options, usage);
	int code;

	(void)env;
	if (operands < 0)
		return 129;
	if (operands < 1)
		return options_usage(options, usage);
	code = repack_each(&run, argv, operands, &settings);
	filestore_close(run.quick);
	buf_release(&run.node);
	buf_release(&run.user);
	return code;
}
