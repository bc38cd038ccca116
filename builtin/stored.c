/* SPDX-License-Identifier: MIT */
/*
 * git store: manages repositories in stores of files that several machines
 * share.
 */
#include <stdio.h>

#include "builtin/stored-parts.h"
#include "store/probe.h"

static const char usage_text[] =
	"git store probe [<options>] <store>\n"
	"git store import [--name=<name>] [--force] [<options>] <repository> "
	"<store>\n"
	"git store import --all [--force] [<options>] <directory> <store>\n"
	"git store export [--generation=<n>] [--ref-format=<format>] "
	"[<options>] <store> <name> <directory>\n"
	"git store fetch --cache=<directory> [--cache-size=<size>] [<options>] "
	"<store> [<name>...]\n"
	"git store list [--json] [<options>] <store>\n"
	"git store log [-n <number>] [--json] [<options>] <store> <name>\n"
	"git store verify [--full] [<options>] <store> [<name>...]\n"
	"git store repack [--auto=<packs>] [--prune=<date>] [--force] "
	"[<options>] <store> [<name>...]\n"
	"git store gc [--grace=<time>] [--dry-run] [<options>] <store> "
	"[<name>...]";
static const char probe_usage[] = "git store probe [<options>] <store>";

static int probe_store(const char *url,
		       const struct store_s3_settings *settings)
{
	struct stored_place place;
	struct error err = ERROR_INIT;
	int ret, code = stored_place_make(&place, url, settings);

	if (code)
		return code;
	ret = store_probe(place.store, &err);
	stored_place_close(&place);
	if (ret)
		return stored_place_fail(&place, ret, &err);
	printf("%s: ok\n", url);
	return builtin_finish(0);
}

static int probe(int argc, const char **argv, struct builtin_env *env)
{
	struct store_s3_settings settings = STORE_S3_SETTINGS_INIT;
	const struct option options[] = {
		STORED_OPTION_ROWS(&settings),
		{.kind = OPTION_END},
	};
	int operands = options_parse(argc, argv, options, probe_usage);

	(void)env;
	if (operands < 0)
		return 129;
	if (operands != 1)
		return options_usage(options, probe_usage);
	return probe_store(argv[1], &settings);
}

int cmd_store(int argc, const char **argv, struct builtin_env *env)
{
	static const struct subcommand subcommands[] = {
		{"probe", probe},
		{"import", stored_cmd_import},
		{"export", stored_cmd_export},
		{"fetch", stored_cmd_fetch},
		{"list", stored_cmd_list},
		{"log", stored_cmd_log},
		{"verify", stored_cmd_verify},
		{"repack", stored_cmd_repack},
		{"gc", stored_cmd_gc},
		{NULL, NULL},
	};

	return subcommand_run(subcommands, usage_text, argc, argv, env);
}
