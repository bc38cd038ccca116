/* SPDX-License-Identifier: MIT */
/* git store: looks at stores of files that several machines share. */
#include <stdio.h>

#include "builtin/builtin.h"
#include "builtin/options.h"
#include "store/open.h"
#include "store/probe.h"

static const char usage_text[] =
	"git store probe [--endpoint=<url>] [--region=<name>] "
	"[--ca-file=<file>] <store>";

static int probe_store(const char *url,
		       const struct store_s3_settings *settings)
{
	struct filestore *store;
	struct error err = ERROR_INIT;
	int ret = store_open_url(&store, url, settings, &err);

	if (!ret) {
		ret = store_probe(store, &err);
		filestore_close(store);
	}
	if (ret > 0)
		return builtin_die("'%s' does not answer: %s", url, err.msg);
	if (ret < 0)
		return builtin_fail(&err);
	printf("%s: ok\n", url);
	return builtin_finish(0);
}

static int probe(int argc, const char **argv, struct builtin_env *env)
{
	struct store_s3_settings settings = STORE_S3_SETTINGS_INIT;
	const struct option options[] = {
		OPTION_ROW_STRING(0, "endpoint", &settings.endpoint, "<url>",
				  "where the service is, for s3://"),
		OPTION_ROW_STRING(0, "region", &settings.region, "<name>",
				  "the region of the bucket (us-east-1)"),
		OPTION_ROW_STRING(0, "ca-file", &settings.ca_file, "<file>",
				  "certificates of authorities"),
		{.kind = OPTION_END},
	};
	int operands = options_parse(argc, argv, options, usage_text);

	if (operands < 0)
		return 129;
	if (operands != 1)
		return options_usage(options, usage_text);
	return probe_store(argv[1], &settings);
}

int cmd_store(int argc, const char **argv, struct builtin_env *env)
{
	static const struct subcommand subcommands[] = {
		{"probe", probe},
		{NULL, NULL},
	};

	return subcommand_run(subcommands, usage_text, argc, argv, env);
}
