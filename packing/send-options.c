/* SPDX-License-Identifier: MIT */
/* Loads the options for making packs from the configuration. */
#include <string.h>
#include <strings.h>

#include "config/config.h"
#include "packing/send.h"

static void load_u64(const struct config *config, const char *key,
		     uint64_t *out, int *ret, struct error *err)
{
	int found = *ret < 0 ? 0 : config_u64(config, key, out, err);

	if (found < 0)
		*ret = found;
}

/* Load the zlib level: core.compression, overridden by pack.compression. */
static int load_compression(int *level, const struct config *config,
			    struct error *err)
{
	static const char *const keys[] = {
		"core.compression",
		"pack.compression",
	};

	*level = -1;
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		int64_t value;
		int found = config_i64(config, keys[i], &value, err);

		if (found < 0)
			return found;
		if (!found)
			continue;
		if (value < -1 || value > 9)
			return error_set(err, ERR_INVALID,
					 "bad zlib compression level %lld",
					 (long long)value);
		*level = (int)value;
	}
	return 0;
}

/*
 * Load a limit from the configuration. A negative value is replaced by 0, as in
 * stock Git. (Stock Git treats a negative pack.deltaCacheLimit as a very large
 * limit. Here it becomes 0, which means no limit for this key, so the effect is
 * the same.)
 */
static void load_limit(const struct config *config, const char *key,
		       uint64_t *value, int *ret, struct error *err)
{
	int64_t limit;
	int found = *ret < 0 ? *ret : config_i64(config, key, &limit, err);

	if (found > 0)
		*value = limit > 0 ? (uint64_t)limit : 0;
	if (found < 0)
		*ret = found;
}

/* Load pack.threads, which is at most INT32_MAX, as in stock Git. */
static void load_threads(const struct config *config, uint64_t *threads,
			 int *ret, struct error *err)
{
	static const char key[] = "pack.threads";

	load_u64(config, key, threads, ret, err);
	if (*ret >= 0 && *threads > INT32_MAX)
		*ret = error_set(err, ERR_INVALID,
				 "bad numeric config value '%s' for '%s': out "
				 "of range",
				 config_string(config, key), key);
}

static unsigned at_most(uint64_t value, unsigned max)
{
	return value < max ? (unsigned)value : max;
}

/*
 * Load pack.allowPackReuse: a word for true or false, "single" (means true), or
 * "multi". As in stock Git, a number is an error. Returns 0 or ERR_INVALID.
 */
static int load_span_reuse(struct packing_send_options *options,
			   const struct config *config, struct error *err)
{
	const char *key = "pack.allowpackreuse";
	const struct config_entry *entry = config_find(config, key);
	const char *value = entry ? entry->value : NULL;
	int reuse;

	options->reuse_all_packs = value && !strcasecmp(value, "multi");
	if (!entry || (value && (!strcasecmp(value, "single") ||
				 !strcasecmp(value, "multi"))))
		return 0;
	reuse = config_parse_bool_word(value);
	if (reuse < 0)
		return error_set(err, ERR_INVALID,
				 "invalid pack.allowPackReuse value: '%s'",
				 value);
	options->reuse_spans = reuse;
	return 0;
}

/* Load pack.usePathWalk. Its default is the value of feature.experimental. */
static int load_grouping(enum path_grouping *grouping,
			 const struct config *config, struct error *err)
{
	bool by_path = false;
	int ret = config_bool(config, "feature.experimental", &by_path, err);

	if (ret >= 0)
		ret = config_bool(config, "pack.usepathwalk", &by_path, err);
	*grouping = by_path ? PATH_GROUP_PATH : PATH_GROUP_NONE;
	return ret < 0 ? ret : 0;
}

/* Load gitreach.bitmapStrategy: how a bitmap index is used. */
static int load_strategy(struct packing_send_options *options,
			 const struct config *config, struct error *err)
{
	const char *name = config_string(config, "gitreach.bitmapstrategy");
	bool boundary = true;
	int ret = config_bool(config, "pack.usebitmapboundarytraversal",
			      &boundary, err);

	options->exact = !boundary;
	if (ret < 0)
		return ret;
	if (name && bitmap_strategy_parse(&options->strategy, name) < 0)
		return error_set(err, ERR_INVALID,
				 "bad value of gitreach.bitmapStrategy: '%s'",
				 name);
	return 0;
}

int packing_send_options_load(struct packing_send_options *options,
			      const struct repo *repo, struct error *err)
{
	const struct config *config = &repo->config;
	uint64_t threads = 0, window = 10, depth = 50;
	bool sparse;
	int ret = load_compression(&options->compression, config, err);

	*options = (struct packing_send_options){
		.trace = repo->trace,
		.compression = options->compression,
		.delta_cache_size = UINT64_C(256) << 20,
		.big_file_threshold = UINT64_C(512) << 20,
		.reuse_spans = true,
		.reuse_delta = true,
		.reuse_object = true,
		.use_prepared = true,
	};
	load_threads(config, &threads, &ret, err);
	load_limit(config, "pack.window", &window, &ret, err);
	load_limit(config, "pack.depth", &depth, &ret, err);
	load_u64(config, "pack.windowmemory", &options->window_memory, &ret,
		 err);
	load_limit(config, "pack.deltacachesize", &options->delta_cache_size,
		   &ret, err);
	load_limit(config, "pack.deltacachelimit", &options->delta_cache_limit,
		   &ret, err);
	load_u64(config, "core.bigfilethreshold", &options->big_file_threshold,
		 &ret, err);
	options->threads = at_most(threads, PACKING_MAX_THREADS);
	options->window = at_most(window, PACKING_MAX_WINDOW);
	options->depth = at_most(depth, PACKING_MAX_DEPTH);
	if (ret >= 0)
		ret = load_span_reuse(options, config, err);
	if (ret >= 0)
		ret = config_bool(config, "gitreach.verifyreused",
				  &options->check_reused, err);
	/*
	 * pack.useSparse has no effect, since walks are never sparse. But a
	 * wrong value is an error.
	 */
	if (ret >= 0)
		ret = config_bool(config, "pack.usesparse", &sparse, err);
	if (ret >= 0)
		ret = load_strategy(options, config, err);
	return ret < 0 ? ret : load_grouping(&options->grouping, config, err);
}
