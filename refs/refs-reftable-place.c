/* SPDX-License-Identifier: MIT */
/*
 * The reftable backend: finds the stack of a ref. Also has functions for
 * writers: reads settings, and parses committers.
 */
#include <stdlib.h>
#include <string.h>

#include "refs/refs-loose.h"
#include "refs/refs-reftable.h"

#define DEFAULT_LOCK_TIMEOUT_MS 100
#define FACTOR_MAX 256
#define RESTART_MAX 0xffff

const char *refs_reftable_place(struct buf *dir, const struct repo *repo,
				const char *name)
{
	struct refs_place place = refs_place_of(name);
	const char *base = place.kind == REFS_PLACE_OWN
				   ? repo_refs_dir(repo)
				   : repo_refs_common_dir(repo);

	return buf_printf(dir, "%s/%.*s%sreftable", base, (int)place.dir_len,
			  name, place.dir_len ? "/" : "") < 0
		       ? NULL
		       : place.inner;
}

/*
 * Sets *value to the number that the variable `key` has in the configuration,
 * or to 0 if it is not set. A number above `max` is an error. Returns 0 or a
 * negative error code.
 */
static int read_limit(const struct repo *repo, const char *key, int64_t max,
		      int64_t *value, struct error *err)
{
	int ret;

	*value = 0;
	ret = config_i64(&repo->config, key, value, err);
	if (ret < 0)
		return ret;
	if (*value < 0 || *value > max)
		return error_set(err, ERR_INVALID, "bad value %lld for '%s'",
				 (long long)*value, key);
	return 0;
}

int refs_reftable_options(struct reftable_append_options *options,
			  const struct repo *repo, struct error *err)
{
	int64_t block_size, interval, factor;
	bool objects = true;
	int ret = repo_fsync_method(repo, REPO_FSYNC_REFERENCE,
				    &options->method, err);

	options->algo = repo->algo;
	options->share = repo->share;
	options->timeout_ms = DEFAULT_LOCK_TIMEOUT_MS;
	if (ret >= 0)
		ret = config_i64(&repo->config, "reftable.locktimeout",
				 &options->timeout_ms, err);
	if (ret >= 0)
		ret = config_bool(&repo->config, "reftable.indexobjects",
				  &objects, err);
	if (ret >= 0)
		ret = read_limit(repo, "reftable.blocksize",
				 REFTABLE_BLOCK_SIZE_MAX, &block_size, err);
	if (ret >= 0)
		ret = read_limit(repo, "reftable.restartinterval", RESTART_MAX,
				 &interval, err);
	if (ret >= 0)
		ret = read_limit(repo, "reftable.geometricfactor", FACTOR_MAX,
				 &factor, err);
	if (ret < 0)
		return ret;
	options->block_size = (uint32_t)block_size;
	options->restart_interval = (unsigned)interval;
	options->factor = (unsigned)factor;
	options->no_objects = !objects;
	return 0;
}

bool refs_reftable_take_committer(struct reftable_log *log,
				  const char *committer)
{
	const char *mail = strstr(committer, " <");
	const char *end = mail ? strchr(mail, '>') : NULL;
	char *rest;

	if (!end)
		return false;
	log->who.p = committer;
	log->who.len = (size_t)(mail - committer);
	log->mail.p = mail + 2;
	log->mail.len = (size_t)(end - log->mail.p);
	log->time = strtoull(end + 1, &rest, 10);
	log->zone = (int16_t)strtol(rest, &rest, 10);
	return !*rest;
}
