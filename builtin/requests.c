/* SPDX-License-Identifier: MIT */
/* git requests: sums up logs of requests (gitreach.requestLog). */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/approxidate.h"
#include "base/mem.h"
#include "builtin/builtin.h"
#include "builtin/options.h"
#include "builtin/requests-parts.h"
#include "builtin/tracing.h"
#include "config/config.h"
#include "sys/clock.h"

static const char usage[] = "git requests [<options>] [<file>...]";

struct args {
	struct requests_sums sums;
	uint64_t slowest, top;
	bool json, records;
};

/* ---- options */

static bool is_member(const char *name)
{
	return *name && !name[strspn(name, "abcdefghijklmnopqrstuvwxyz"
					   "0123456789_")];
}

/*
 * Callback for --by=<member>: adds a table of requests, grouped by this member
 * of their records. For --no-by, removes all tables.
 */
static int take_by(void *value, const char *arg)
{
	struct requests_sums *sums = value;

	if (arg == option_negated) {
		sums->table_nr = 0;
		return 0;
	}
	if (!is_member(arg))
		return builtin_error(
			"--by: '%s' is not the name of a member of the records",
			arg);
	for (size_t i = 0; i < sums->table_nr; i++)
		if (!strcmp(sums->tables[i].by, arg))
			return 0;
	if (sums->table_nr == REQUESTS_TABLES_MAX)
		return builtin_error("--by: more than %d members",
				     REQUESTS_TABLES_MAX);
	sums->tables[sums->table_nr++].by = arg;
	return 0;
}

static int take_sort(void *value, const char *arg)
{
	static const char *const names[] = {
		[REQUESTS_BY_TIME] = "time",
		[REQUESTS_BY_TOTAL] = "total",
		[REQUESTS_BY_CPU] = "cpu",
		[REQUESTS_BY_SENT] = "sent",
		[REQUESTS_BY_REQUESTS] = "requests",
	};
	enum requests_sort *sort = value;

	for (size_t i = 0; i < ARRAY_NR(names); i++) {
		if (strcmp(names[i], arg == option_negated ? "time" : arg))
			continue;
		*sort = (enum requests_sort)i;
		return 0;
	}
	return builtin_error("--sort: unknown order '%s'", arg);
}

static int take_date(uint64_t *us, const char *option, const char *arg)
{
	int64_t when;

	if (approxidate_parse(&when, arg, sys_clock_seconds()) < 0 ||
	    when > INT64_MAX / 1000000)
		return builtin_error("%s: '%s' is not a date", option, arg);
	*us = (uint64_t)when * 1000000;
	return 0;
}

static int take_since(void *value, const char *arg)
{
	uint64_t *since = value;

	*since = 0;
	return arg == option_negated ? 0 : take_date(since, "--since", arg);
}

static int take_until(void *value, const char *arg)
{
	uint64_t *until = value;

	*until = UINT64_MAX;
	return arg == option_negated ? 0 : take_date(until, "--until", arg);
}

static int parse(struct args *a, int argc, const char **argv)
{
	struct requests_sums *s = &a->sums;
	const struct option options[] = {
		OPTION_ROW_CALLBACK(
			0, "since", take_since, &s->since_us, "<date>",
			"include requests that ended at this time or later"),
		OPTION_ROW_CALLBACK(
			0, "until", take_until, &s->until_us, "<date>",
			"include requests that ended before this time"),
		OPTION_ROW_STRING(0, "repository", &s->repository, "<path>",
				  "include only requests to this repository"),
		{.kind = OPTION_U64,
		 .long_name = "slowest",
		 .u64 = &a->slowest,
		 .help = "print the <n> slowest requests (default 10)"},
		OPTION_ROW_CALLBACK(
			0, "by", take_by, s, "<member>",
			"print a table, one line for each value of <member>"),
		{.kind = OPTION_U64,
		 .long_name = "top",
		 .u64 = &a->top,
		 .help = "print at most <n> lines of a table (default 10)"},
		OPTION_ROW_CALLBACK(
			0, "sort", take_sort, &s->sort, "<order>",
			"sort by time, total, cpu, sent or requests"),
		OPTION_ROW_FLAG(0, "json", &a->json, "print JSON"),
		OPTION_ROW_FLAG(0, "records", &a->records,
				"print the records of the slowest requests"),
		{.kind = OPTION_END},
	};

	return options_parse(argc, argv, options, usage);
}

/* Check the options, and fill in the defaults. Returns 0 or an exit code. */
static int settle(struct args *a)
{
	static const char *const usual[] = {
		"repository", "strategy", "no_bitmap_reason", "user", "client"};
	struct requests_sums *s = &a->sums;

	if (a->slowest > REQUESTS_SHOWN_MAX || a->top > REQUESTS_SHOWN_MAX)
		return builtin_die("--slowest and --top: at most %d",
				   REQUESTS_SHOWN_MAX);
	if (a->json && a->records)
		return builtin_die(
			"--json and --records cannot be used together");
	s->slow_max = (size_t)a->slowest;
	if (a->records)
		s->table_nr = 0;
	else if (!s->table_nr)
		for (size_t i = 0; i < ARRAY_NR(usual); i++)
			s->tables[s->table_nr++].by = usual[i];
	return 0;
}

/* ---- files */

/* Read the file that gitreach.requestLog names. */
static int read_configured(struct args *a, struct error *err)
{
	const struct config_sources sources = {.protected_only = true};
	struct config config = CONFIG_INIT;
	int ret = config_load(&config, &sources, err);
	char *path = NULL;

	if (ret < 0)
		return ret;
	ret = tracing_log_path(&path, &config);
	config_release(&config);
	if (!ret)
		return error_set(
			err, ERR_INVALID,
			"no file is given, and gitreach.requestLog is not set");
	ret = ret < 0 ? error_nomem(err) : requests_read(&a->sums, path, err);
	free(path);
	return ret;
}

static int run(struct args *a, const char **files, struct error *err)
{
	int ret = 0;

	if (!*files)
		ret = read_configured(a, err);
	for (; !ret && *files; files++)
		ret = requests_read(&a->sums, *files, err);
	if (ret < 0)
		return ret;
	if (a->sums.broken_nr)
		builtin_warn("%" PRIu64 " of %" PRIu64
			     " lines are broken and were skipped",
			     a->sums.broken_nr, a->sums.line_nr);
	requests_sums_finish(&a->sums);
	if (a->records)
		requests_print_records(&a->sums);
	else if (a->json)
		ret = requests_print_json(&a->sums, (size_t)a->top);
	else
		ret = requests_print_text(&a->sums, (size_t)a->top);
	return ret < 0 ? error_nomem(err) : 0;
}

int cmd_requests(int argc, const char **argv, struct builtin_env *env)
{
	struct args *a = mem_calloc(1, sizeof(*a));
	struct error err = ERROR_INIT;
	int ret;

	if (!a)
		return builtin_die("out of memory");
	a->slowest = a->top = 10;
	a->sums.until_us = UINT64_MAX;
	ret = parse(a, argc, argv);
	if (ret < 0) {
		free(a);
		return options_failed(ret);
	}
	ret = settle(a);
	if (!ret)
		ret = run(a, argv + 1, &err);
	requests_sums_release(&a->sums);
	free(a);
	return builtin_finish(ret < 0 ? builtin_fail(&err) : ret);
}
