/* SPDX-License-Identifier: MIT */
/* git store fetch: makes or refreshes local copies in a cache directory. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "builtin/stored-parts.h"
#include "copies/trim.h"

static const char usage[] =
	"git store fetch --cache=<directory> [--cache-size=<size>] [<options>] "
	"<store> [<name>...]";

static int fetch(void *ctx, const struct generation_place *place,
		 bool is_listed)
{
	struct stored_copies *copies = ctx;
	struct stored_cache *cache = stored_copies_node(copies)->cache;
	uint64_t before = stored_cache_downloaded(cache);
	struct stored_use use = {0};
	struct error err = ERROR_INIT;
	int ret = stored_copies_enter(copies, &use, place->repository, &err);

	if (ret == ERR_MISSING && is_listed)
		return 0;
	if (ret) {
		builtin_error("%s: %s", place->repository, err.msg);
		return 128;
	}
	printf("%s: generation %" PRIu64 ", downloaded %" PRIu64 " bytes, %s\n",
	       place->repository, stored_copy_generation(use.copy)->number,
	       stored_cache_downloaded(cache) - before,
	       stored_copy_dir(use.copy));
	fflush(stdout);
	stored_copies_leave(&use);
	return 0;
}

/*
 * Removes local copies until the cache is within its budget. Called at the end
 * of the command, because a copy in use cannot be removed.
 */
static int trim(struct stored_copies *copies, uint64_t budget)
{
	struct stored_trim report;
	struct error err = ERROR_INIT;
	int ret = stored_trim_run(&report, stored_copies_node(copies), budget,
				  &err);

	return ret ? builtin_fail(&err) : 0;
}

int stored_cmd_fetch(int argc, const char **argv, struct builtin_env *env)
{
	struct store_s3_settings settings = STORE_S3_SETTINGS_INIT;
	uint64_t budget = 0;
	const char *cache = NULL;
	const struct option options[] = {
		OPTION_ROW_STRING(0, "cache", &cache, "<directory>",
				  "directory of the copies"),
		{.kind = OPTION_U64,
		 .long_name = "cache-size",
		 .u64 = &budget,
		 .help = "maximum size of the cache in bytes"},
		STORED_OPTION_ROWS(&settings),
		{.kind = OPTION_END},
	};
	int operands = options_parse(argc, argv, options, usage);
	struct stored_copies *copies = NULL;
	struct stored_place place;
	int code, trimmed;

	(void)env;
	if (operands < 0)
		return 129;
	if (operands < 1 || !cache)
		return options_usage(options, usage);
	code = stored_place_open(&place, argv[1], &settings);
	if (!code)
		code = stored_place_copies(&copies, &place, cache, &settings,
					   budget);
	if (!code) {
		code = stored_place_each(&place, argv + 2, operands - 1, fetch,
					 copies);
		/*
		 * Trim the cache also if fetching one repository has failed,
		 * because other repositories were downloaded.
		 */
		trimmed = trim(copies, budget);
		code = code ? code : trimmed;
	}
	stored_copies_close(copies);
	stored_place_close(&place);
	return code;
}
