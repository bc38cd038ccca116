/* SPDX-License-Identifier: MIT */
/* git publish: publishes packs that clients download from another server. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "builtin/builtin.h"
#include "builtin/options.h"
#include "builtin/publish-parts.h"
#include "publish/publish.h"
#include "sys/clock.h"

static const char usage_text[] = "git publish [-q | --quiet] [--expire=<time>]";

static void print(void *ctx, enum publish_event event, const char *name,
		  uint64_t len)
{
	static const char *const words[] = {
		[PUBLISH_KEPT] = "kept",       [PUBLISH_WRITTEN] = "written",
		[PUBLISH_LINKED] = "linked",   [PUBLISH_RETIRED] = "retired",
		[PUBLISH_REMOVED] = "removed",
	};

	(void)ctx;
	printf("%-7s %s %" PRIu64 "\n", words[event], name, len);
}

/*
 * Publish bundles and packs. If making bundles fails, packs are still
 * published, and old ones still expire.
 */
static int run(const struct repo *repo, bool quiet, const char *expire)
{
	const struct publish_options options = {.note = quiet ? NULL : print,
						.now = sys_clock_seconds()};
	struct published_config config;
	struct error err = ERROR_INIT, why = ERROR_INIT;
	int ret = published_config_load(&config, repo, &err), failed = 0;

	if (!ret && !config.dir)
		ret = error_set(&err, ERR_INVALID,
				"gitreach.publishDirectory is not set");
	if (expire)
		config.expire = expire;
	if (!ret && config.bundles)
		failed = publish_bundles(repo, &config, options.now, &why);
	if (!ret)
		ret = publish_run(repo, &config, &options, &err);
	published_config_release(&config);
	if (failed < 0 && ret < 0 && strcmp(why.msg, err.msg) != 0)
		builtin_error("%s", why.msg);
	return ret < 0      ? builtin_fail(&err)
	       : failed < 0 ? builtin_fail(&why)
			    : 0;
}

int cmd_publish(int argc, const char **argv, struct builtin_env *env)
{
	const char *expire = NULL;
	bool quiet = false;
	const struct option options[] = {
		{.kind = OPTION_FLAG,
		 .short_name = 'q',
		 .long_name = "quiet",
		 .flag = &quiet,
		 .help = "be quiet"},
		{.kind = OPTION_STRING,
		 .long_name = "expire",
		 .string = &expire,
		 .arg_name = "time",
		 .help = "remove packs that were retired before this time"},
		{.kind = OPTION_END},
	};
	int nr = options_parse(argc, argv, options, usage_text);
	int ret;

	if (nr < 0)
		return 129;
	if (nr > 0) {
		builtin_die("%s\n", "too many arguments");
		return options_usage(options, usage_text);
	}
	ret = builtin_open_repo(env);
	if (!ret)
		ret = run(env->repo, quiet, expire);
	return builtin_finish(ret);
}
