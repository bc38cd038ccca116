/* SPDX-License-Identifier: MIT */
/* git rev-list: parsing the arguments. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "builtin/builtin.h"
#include "builtin/path-args.h"
#include "builtin/rev-list.h"
#include "names/revname.h"

int rev_list_usage(FILE *out)
{
	fputs("usage: git rev-list [<options>] <commit>... [--] [<path>...]\n",
	      out);
	return 129;
}

/*
 * Parse a number. Returns whether `text` is a number. A negative number is
 * stored as `none`.
 */
static bool parse_number(uint64_t *out, const char *text, uint64_t none)
{
	char *end;
	long long value = strtoll(text, &end, 10);

	if (!*text || *end || value > INT_MAX || value < INT_MIN)
		return false;
	*out = value < 0 ? none : (uint64_t)value;
	return true;
}

/*
 * Parse "-5", "-n 5", "-n5", "--max-count=5" or "--skip=5". Returns 1 if the
 * argument is one of these, 0 if it is another option, 128 after printing an
 * error, or a negative error code.
 */
static int parse_limit(struct rev_list_run *r, const char ***argv)
{
	const char *arg = **argv, *value = NULL;
	uint64_t *out = &r->o.max_count;

	if (!strncmp(arg, "--max-count=", 12)) {
		value = arg + 12;
	} else if (!strncmp(arg, "--skip=", 7)) {
		value = arg + 7;
		out = &r->o.skip;
	} else if (!strcmp(arg, "--max-count") || !strcmp(arg, "--skip")) {
		out = arg[2] == 's' ? &r->o.skip : out;
		value = *++*argv;
	} else if (arg[0] == '-' && arg[1] == 'n') {
		value = arg[2] ? arg + 2 : *++*argv;
	} else if (arg[0] == '-' && arg[1] >= '0' && arg[1] <= '9') {
		value = arg + 1;
	} else {
		return 0;
	}
	if (value &&
	    parse_number(out, value, out == &r->o.skip ? 0 : UINT64_MAX))
		return 1;
	if (!value && arg[1] == 'n') {
		builtin_error("-n requires an argument");
		return 128;
	}
	if (!value)
		return error_set(r->err, ERR_INVALID,
				 "Option '%s' requires a value", arg);
	return error_set(r->err, ERR_INVALID, "'%s': not an integer", value);
}

static int parse_flag(struct rev_list_run *r, const char *arg)
{
	const struct {
		const char *name;
		bool *flag;
		bool value;
	} flags[] = {
		{"--objects", &r->o.objects, true},
		{"--no-object-names", &r->o.no_object_names, true},
		{"--object-names", &r->o.no_object_names, false},
		{"--count", &r->o.count, true},
		{"--use-bitmap-index", &r->o.use_bitmap, true},
		{"--test-bitmap", &r->o.test_bitmap, true},
		{"--quiet", &r->o.quiet, true},
		{"--reverse", &r->o.reverse, true},
		{"--unpacked", &r->o.unpacked, true},
		{"--exclude-promisor-objects", &r->o.exclude_promisor, true},
		{"--in-commit-order", &r->o.in_commit_order, true},
		{"--disk-usage", &r->o.disk_usage, true},
		{"--filter-provided-objects", &r->o.filter_provided, true},
		{"--filter-print-omitted", &r->o.print_omitted, true},
	};

	for (size_t i = 0; i < sizeof(flags) / sizeof(*flags); i++) {
		if (strcmp(arg, flags[i].name) != 0)
			continue;
		*flags[i].flag = flags[i].value;
		return 1;
	}
	return 0;
}

/* Returns whether `name` is a value of --missing. */
static bool missing_by_name(enum rev_list_missing *missing, const char *name)
{
	static const struct {
		const char *name;
		enum rev_list_missing missing;
	} values[] = {
		{"error", MISSING_ERROR},
		{"allow-any", MISSING_ALLOW_ANY},
		{"allow-promisor", MISSING_ALLOW_PROMISOR},
		{"print", MISSING_PRINT},
		{"print-info", MISSING_PRINT_INFO},
	};

	for (size_t i = 0; i < ARRAY_NR(values); i++) {
		if (strcmp(name, values[i].name) != 0)
			continue;
		*missing = values[i].missing;
		return true;
	}
	return false;
}

static int parse_missing(struct rev_list_run *r, const char *value)
{
	if (missing_by_name(&r->o.missing, value))
		return 1;
	return error_set(r->err, ERR_UNSUPPORTED,
			 "--missing=%s is not supported", value);
}

/*
 * Parse --filter, --missing or --disk-usage with its value. Returns 1 if the
 * argument is one of these, 0 if not, or a negative error code.
 */
static int parse_valued(struct rev_list_run *r, const char ***argv)
{
	const char *arg = **argv;

	if (!strncmp(arg, "--filter=", 9)) {
		int ret = filter_args_add(&r->filter, arg + 9, r->err);

		if (ret < 0)
			return ret;
	} else if (!strcmp(arg, "--no-filter")) {
		filter_release(&r->filter.filter);
	} else if (!strncmp(arg, "--missing=", 10)) {
		return parse_missing(r, arg + 10);
	} else if (!strncmp(arg, "--disk-usage=", 13)) {
		r->o.disk_usage = r->o.disk_usage_human = true;
		if (strcmp(arg + 13, "human") != 0 && !r->o.bad_disk_usage)
			r->o.bad_disk_usage = arg + 13;
	} else {
		return 0;
	}
	return 1;
}

/*
 * Parse "--stdin". Returns 1 if the argument is this option, 0 if it is another
 * one, or a negative error code.
 */
static int parse_stdin(struct rev_list_run *r, const char *arg)
{
	if (strcmp(arg, "--stdin") != 0)
		return 0;
	if (r->o.read_stdin)
		return error_set(r->err, ERR_INVALID, "--stdin given twice?");
	r->o.read_stdin = true;
	return 1;
}

bool rev_list_must_exist(const struct rev_list_run *r)
{
	return r->o.missing == MISSING_ERROR &&
	       (!r->o.exclude_promisor || !r->odb->repo->has_promisor);
}

/* Parse the paths among the arguments, and the lines of standard input. */
static int parse_rest(struct rev_list_run *r, const char **paths)
{
	int ret = 0;

	for (; *paths && !ret; paths++)
		if (rev_args_add_path(&r->args, *paths) < 0)
			ret = error_nomem(r->err);
	if (!ret)
		ret = rev_list_check_history(r);
	if (ret < 0 || !r->o.read_stdin)
		return ret;
	if (builtin_has_stock())
		r->args.input = &r->input;
	r->args.must_exist = rev_list_must_exist(r);
	ret = rev_args_add_stdin(&r->args, r->err);
	return ret < 0 ? ret : rev_list_check_history(r);
}

/*
 * Check that all remaining arguments are paths. `why` is the reason why the
 * first of them is not a revision. If the first of them is a malformed
 * revision, and is no path, *why becomes the error.
 */
static int check_paths(struct rev_list_run *r, const char **argv,
		       const struct error *why)
{
	int ret = 0;

	for (size_t i = 0; argv[i] && !ret; i++) {
		ret = path_args_check_path(argv[i], !i, r->odb->repo, r->err);
		if (ret == ERR_MISSING && !i && why->code == ERR_INVALID)
			return error_set(r->err, ERR_INVALID, "%s", why->msg);
	}
	return ret;
}

/*
 * Parse a revision, or an option that stands for revisions. Returns 1 if the
 * argument was used, or 0 if it is an option of another kind. Returns 2 if no
 * "--" is given and the argument is the first path. Otherwise returns a
 * negative error code.
 */
static int parse_rev(struct rev_list_run *r, const char **argv, bool has_dashes)
{
	struct error why = ERROR_INIT;
	int was_absent = r->args.absent.code;
	int ret;

	/*
	 * Take an argument such as ":(top)t" for a pathspec. It could also mean
	 * the file "(top)t" in the index, but that is unlikely.
	 */
	if (!has_dashes && !strncmp(*argv, ":(", 2))
		return check_paths(r, argv, &why) < 0 ? r->err->code : 2;
	r->args.no_path = has_dashes;
	ret = rev_args_add(&r->args, *argv, &why);
	if (ret > 0 && !has_dashes) {
		ret = path_args_check_rev(*argv, r->odb->repo, r->err);
		return ret < 0 ? ret : 1;
	}
	if (ret >= 0)
		return ret;
	if (was_absent && rev_list_must_exist(r))
		return rev_args_check(&r->args, r->err);
	if ((ret != ERR_MISSING && ret != ERR_INVALID) ||
	    r->args.absent.code != was_absent ||
	    !strncmp(why.msg, "Invalid symmetric ", 18))
		return error_set(r->err, ret, "%s", why.msg);
	if (**argv == '^' || has_dashes)
		return error_set(r->err, ret, "bad revision '%s'", *argv);
	ret = check_paths(r, argv, &why);
	if (ret == ERR_MISSING && why.code == ERR_MISSING &&
	    revname_rev_len(*argv))
		return error_set(r->err, ret, "invalid object name '%.*s'.",
				 (int)revname_rev_len(*argv), *argv);
	if (ret < 0)
		rev_args_note_again(&r->args, *argv);
	return ret < 0 ? ret : 2;
}

/*
 * Report an option that our rev-list does not have. If stock Git is installed,
 * returns ERR_UNSUPPORTED. Stock Git then runs, and prints the error if the
 * option is unknown. Without stock Git, prints an error and the usage, and
 * returns 129.
 */
static int unknown_option(struct rev_list_run *r, const char *arg)
{
	if (builtin_has_stock())
		return error_set(r->err, ERR_UNSUPPORTED,
				 "unsupported option '%s'", arg);
	builtin_error("unsupported option '%s'", arg);
	return rev_list_usage(stderr);
}

/*
 * Call this after a wrong argument, when *r->err has the error about it. Stock
 * Git reads standard input as soon as it sees "--stdin". So if "--stdin" came
 * before the wrong argument, and a line of standard input is wrong, too, the
 * error about the line replaces *r->err. Returns the code of the error.
 */
static int prefer_line_error(struct rev_list_run *r)
{
	const struct error later = *r->err;
	struct error early = ERROR_INIT;

	r->args.must_exist = rev_list_must_exist(r);
	if (r->o.read_stdin && later.code != ERR_UNSUPPORTED &&
	    later.code != ERR_NOMEM &&
	    rev_args_add_stdin(&r->args, &early) < 0 &&
	    early.code != ERR_UNSUPPORTED)
		*r->err = early;
	return r->err->code;
}

/*
 * Check the format of --disk-usage. As in stock Git, this check comes after all
 * other arguments and the lines of standard input were parsed. `ret` is the
 * result of parsing them. A negative `ret` is returned at once.
 */
static int check_disk_usage(struct rev_list_run *r, int ret)
{
	if (ret < 0 || !r->o.bad_disk_usage)
		return ret;
	return error_set(r->err, ERR_INVALID,
			 "invalid value for '--disk-usage=<format>': '%s', the "
			 "only allowed format is 'human'",
			 r->o.bad_disk_usage);
}

/*
 * Refuse --exclude-promisor-objects together with a --missing that allows
 * missing objects. As in stock Git, this error precedes all others. Returns 0
 * or ERR_INVALID.
 */
static int check_missing(struct rev_list_run *r, const char **argv)
{
	enum rev_list_missing missing = MISSING_ERROR;
	bool excludes = false;

	/*
	 * As in stock Git, the words after "--" are checked like options,
	 * although they are paths.
	 */
	for (; *argv; argv++) {
		if (!strcmp(*argv, "--exclude-promisor-objects"))
			excludes = true;
		else if (!strncmp(*argv, "--missing=", 10))
			missing_by_name(&missing, *argv + 10);
	}
	if (!excludes || missing == MISSING_ERROR)
		return 0;
	return error_set(r->err, ERR_INVALID,
			 "options '--exclude_promisor_objects' and '--missing' "
			 "cannot be used together");
}

int rev_list_parse(struct rev_list_run *r, const char **argv)
{
	bool has_dashes = false;

	if (check_missing(r, argv + 1) < 0)
		return ERR_INVALID;
	for (size_t i = 1; argv[i]; i++)
		has_dashes |= !strcmp(argv[i], "--");
	for (argv++; *argv; argv++) {
		int ret = parse_flag(r, *argv);

		if (!ret)
			ret = parse_stdin(r, *argv);
		if (!ret)
			ret = parse_limit(r, &argv);
		if (!ret)
			ret = parse_valued(r, &argv);
		if (!ret)
			ret = rev_list_parse_history(r, *argv);
		if (!ret)
			ret = rev_list_parse_pick(r, *argv);
		if (!ret && !strcmp(*argv, "--")) {
			argv++;
			break;
		}
		if (!ret)
			ret = parse_rev(r, argv, has_dashes);
		if (ret < 0)
			return prefer_line_error(r);
		if (ret == 128)
			return ret;
		if (ret == 2)
			break;
		if (!ret)
			return unknown_option(r, *argv);
	}
	return check_disk_usage(r, parse_rest(r, argv));
}
