/* SPDX-License-Identifier: MIT */
/* git store verify: checks repositories in a store. */
#include <inttypes.h>
#include <stdio.h>

#include "builtin/output.h"
#include "builtin/stored-parts.h"
#include "stored/check.h"

static const char usage[] =
	"git store verify [--full] [<options>] <store> [<name>...]";

/* exit code if a repository has a problem */
#define FOUND 1

struct run {
	struct stored_check check;
	const char *repository;
};

static void tell_wrong(void *ctx, const char *what)
{
	const struct run *run = ctx;

	builtin_error("%s: %s", run->repository, what);
}

static int verify(void *ctx, const struct generation_place *place,
		  bool is_listed)
{
	struct run *run = ctx;
	struct stored_check_report report;
	struct error err = ERROR_INIT;
	int ret;

	run->repository = place->repository;
	ret = stored_check_run(&report, place, &run->check, &err);
	if (ret == ERR_MISSING && !report.number && is_listed)
		return 0;
	if (ret < 0) {
		builtin_error("%s: %s", place->repository, err.msg);
		return 128;
	}
	if (report.wrong_nr)
		return FOUND;
	printf("%s: ok, generation %" PRIu64 ", %" PRIu64 " files, %" PRIu64
	       " bytes, %" PRIu64 " records\n",
	       place->repository, report.number, report.file_nr, report.bytes,
	       report.generation_nr);
	return 0;
}

int stored_cmd_verify(int argc, const char **argv, struct builtin_env *env)
{
	struct store_s3_settings settings = STORE_S3_SETTINGS_INIT;
	struct progress_out progress;
	struct run run = {
		.check.wrong = tell_wrong,
		.check.tmp = stored_place_tmp(),
		.check.progress = output_progress(&progress,
						  PROGRESS_IF_TERMINAL),
	};
	const struct option options[] = {
		OPTION_ROW_FLAG(0, "full", &run.check.full,
				"download all files and check their content"),
		STORED_OPTION_ROWS(&settings),
		{.kind = OPTION_END},
	};
	int operands = options_parse(argc, argv, options, usage);

	(void)env;
	if (operands < 0)
		return 129;
	if (operands < 1)
		return options_usage(options, usage);
	run.check.ctx = &run;
	return stored_place_run(argv, operands, &settings, verify, &run);
}
