/* SPDX-License-Identifier: MIT */
/*
 * git store gc: deletes the files of a store that no generation (version of a
 * repository) needs.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/approxidate.h"
#include "builtin/stored-parts.h"
#include "generations/collect.h"
#include "stored/fetch.h"
#include "stored/successor.h"
#include "sys/clock.h"

static const char usage[] =
	"git store gc [--grace=<time>] [--dry-run] [<options>] <store> "
	"[<name>...]";

/* exit code if some files could not be deleted */
#define LEFT 1

/*
 * Parses "<n><unit>", and sets *out to the number of seconds. Returns 0 if *out
 * is set. Returns 1 if the text may be a date: its first character is no digit,
 * or more than one character follows the number. Returns ERR_INVALID if the
 * unit is missing or unknown, or if the number is too large.
 */
static int parse_duration(int64_t *out, const char *text)
{
	static const char units[] = "smhdw";
	static const int64_t seconds[] = {1, 60, 3600, 86400, 7 * 86400};
	char *end;
	unsigned long long n = strtoull(text, &end, 10);
	const char *unit = *end ? strchr(units, *end) : NULL;

	if (*text < '0' || *text > '9' || (*end && end[1]))
		return 1;
	/*
	 * Refuse a number without a valid unit, and a number that is too large.
	 * Do not return 1 for them: the caller would then parse the text as a
	 * date, and the number could become a day or a year.
	 */
	if (!unit || n > 1000000)
		return ERR_INVALID;
	*out = (int64_t)n * seconds[unit - units];
	return 0;
}

/*
 * Parses a duration or a date. Returns 0, or the exit code after printing an
 * error.
 */
static int parse_grace(int64_t *grace, const char *text)
{
	int64_t now = sys_clock_seconds(), when = now;
	int ret = parse_duration(grace, text);

	if (ret > 0) {
		ret = approxidate_parse(&when, text, now);
		*grace = now - when;
	}
	if (ret < 0)
		return builtin_die("invalid time '%s'", text);
	if (*grace < STORED_GRACE_MIN)
		return builtin_die("a grace period of less than %" PRId64
				   " hours is not safe: running pushes and "
				   "fetches could lose files",
				   STORED_GRACE_MIN / 3600);
	return 0;
}

static int collect(void *ctx, const struct generation_place *place,
		   bool is_listed)
{
	const struct generation_collect_options *options = ctx;
	struct generation_garbage garbage;
	struct error err = ERROR_INIT;
	int ret = generation_collect(&garbage, place, options, &err);

	if (ret == STORE_ABSENT && is_listed)
		return 0;
	ret = stored_result(ret, place->repository, &err);
	if (ret && !garbage.file_nr) {
		builtin_error("%s: %s", place->repository, err.msg);
		return 128;
	}
	printf("%s: %s %" PRIu64 " files (%" PRIu64 " bytes) and %" PRIu64
	       " records, kept %" PRIu64 " files that are in use and %" PRIu64
	       " that are too young\n",
	       place->repository, options->is_dry ? "would remove" : "removed",
	       garbage.file_nr, garbage.bytes, garbage.retired_nr,
	       garbage.kept_nr, garbage.young_nr);
	if (ret) {
		builtin_error("%s: %s", place->repository, err.msg);
		return 128;
	}
	if (garbage.failed_nr) {
		builtin_error("%s: %" PRIu64 " files could not be removed",
			      place->repository, garbage.failed_nr);
		return LEFT;
	}
	return 0;
}

int stored_cmd_gc(int argc, const char **argv, struct builtin_env *env)
{
	struct store_s3_settings settings = STORE_S3_SETTINGS_INIT;
	struct generation_collect_options how = {0};
	const char *grace = NULL;
	const struct option options[] = {
		OPTION_ROW_STRING(0, "grace", &grace, "<time>",
				  "keep files that were used within this time "
				  "(default 24h)"),
		OPTION_ROW_FLAG(
			'n', "dry-run", &how.is_dry,
			"print what would be removed, and remove nothing"),
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
	code = parse_grace(&how.grace, grace ? grace : "24h");
	if (code)
		return code;
	return stored_place_run(argv, operands, &settings, collect, &how);
}
