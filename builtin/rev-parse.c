/* SPDX-License-Identifier: MIT */
/*
 * git rev-parse: parses arguments and prints them in other forms.
 *
 * Each argument is printed as soon as it is parsed. After the first argument
 * that is neither an option nor a revision, all arguments are files.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "builtin/options.h"
#include "builtin/path-args.h"
#include "builtin/rev-parse.h"
#include "names/revname.h"
#include "repo/grafts.h"
#include "sys/io.h"

static const char usage[] = "git rev-parse --sq-quote [<arg>...]\n"
			    "git rev-parse [<options>] [<arg>...]";

/* ---- revisions */

static void show_default(struct rev_parse *rp)
{
	const char *name = rp->dflt;
	struct oid oid;

	rp->dflt = NULL;
	if (name && !store_resolve(&rp->store, &oid, name, NULL))
		rev_parse_show_rev(rp, false, &oid, name);
}

static int not_single(const struct rev_parse *rp)
{
	return rp->quiet ? 1 : builtin_die("Needed a single revision");
}

/* ---- options that change what is printed */

static int set_abbrev(struct rev_parse *rp, const char *arg)
{
	size_t max = hash_hex_len(rp->store.odb->algo);
	int32_t n;
	int dflt;

	rp->filter &= ~(unsigned)(REV_PARSE_FLAGS | REV_PARSE_NO_REVS);
	rp->verify = true;
	if (*arg) {
		/*
		 * As in stock Git, only the lower 32 bits of the number are
		 * used.
		 */
		n = (int32_t)strtoul(arg + 1, NULL, 10);
		rp->abbrev = n < 4 ? 4 : (size_t)n;
		if (rp->abbrev > max)
			rp->abbrev = max;
		return 1;
	}
	dflt = store_default_abbrev(&rp->store);
	if (dflt < 0)
		return -128;
	rp->abbrev = (size_t)dflt;
	return 1;
}

static int set_abbrev_ref(struct rev_parse *rp, const char *arg)
{
	bool strict = true;

	config_bool(&rp->store.repo->config, "core.warnambiguousrefs", &strict,
		    NULL);
	if (!strcmp(arg, "=loose"))
		strict = false;
	else if (!strcmp(arg, "=strict"))
		strict = true;
	else if (*arg)
		return -builtin_die("unknown mode for --abbrev-ref: %s",
				    arg + 1);
	rp->short_form = strict ? REV_PARSE_STRICT : REV_PARSE_LOOSE;
	return 1;
}

/*
 * Returns the text after `option`: "" if `arg` is "--option", "=x" if `arg` is
 * "--option=x". Returns NULL if `arg` is another option.
 */
static const char *after(const char *arg, const char *option)
{
	size_t len = strlen(option);

	if (strncmp(arg, option, len) != 0 || (arg[len] && arg[len] != '='))
		return NULL;
	return arg + len;
}

static void local_env_vars(void)
{
	static const char *const names[] = {
		"GIT_ALTERNATE_OBJECT_DIRECTORIES",
		"GIT_CONFIG",
		"GIT_CONFIG_PARAMETERS",
		"GIT_CONFIG_COUNT",
		"GIT_OBJECT_DIRECTORY",
		"GIT_DIR",
		"GIT_WORK_TREE",
		"GIT_IMPLICIT_WORK_TREE",
		"GIT_GRAFT_FILE",
		"GIT_INDEX_FILE",
		"GIT_NO_REPLACE_OBJECTS",
		"GIT_REPLACE_REF_BASE",
		"GIT_PREFIX",
		"GIT_SHALLOW_FILE",
		"GIT_COMMON_DIR",
	};

	for (size_t i = 0; i < ARRAY_NR(names); i++)
		puts(names[i]);
}

static bool is_local_env_vars(const char *arg)
{
	return !strcmp(arg, "--local-env-vars");
}

static int mode_option(struct rev_parse *rp, const char *arg)
{
	if (!strcmp(arg, "--revs-only"))
		rp->filter &= ~(unsigned)REV_PARSE_NO_REVS;
	else if (!strcmp(arg, "--no-revs"))
		rp->filter &= ~(unsigned)REV_PARSE_REVS;
	else if (!strcmp(arg, "--flags"))
		rp->filter &= ~(unsigned)REV_PARSE_NO_FLAGS;
	else if (!strcmp(arg, "--no-flags"))
		rp->filter &= ~(unsigned)REV_PARSE_FLAGS;
	else if (!strcmp(arg, "--sq"))
		rp->quote = true;
	else if (!strcmp(arg, "--not"))
		rp->not = !rp->not ;
	else if (!strcmp(arg, "--symbolic"))
		rp->form = REV_PARSE_SYMBOLIC;
	else if (!strcmp(arg, "--symbolic-full-name"))
		rp->form = REV_PARSE_FULL;
	else if (!strcmp(arg, "-q") || !strcmp(arg, "--quiet"))
		rp->quiet = true;
	else if (!strcmp(arg, "--verify")) {
		rp->filter &= ~(unsigned)(REV_PARSE_FLAGS | REV_PARSE_NO_REVS);
		rp->verify = true;
	} else if (after(arg, "--short"))
		return set_abbrev(rp, after(arg, "--short"));
	else if (is_local_env_vars(arg))
		local_env_vars();
	else if (after(arg, "--abbrev-ref"))
		return set_abbrev_ref(rp, after(arg, "--abbrev-ref"));
	else
		return 0;
	return 1;
}

/*
 * Returns whether only stock Git's rev-parse has the option `arg`. An option
 * that no rev-parse has is printed like any other word.
 */
static bool is_not_ours(const char *arg)
{
	static const char *const not_ours[] = {
		"--bisect",
		"--prefix",
		"--exclude-hidden",
		"--shared-index-path",
		"--show-superproject-working-tree",
		"--since",
		"--after",
		"--until",
		"--before",
		"--output-object-format",
	};

	for (size_t i = 0; i < ARRAY_NR(not_ours); i++)
		if (after(arg, not_ours[i]))
			return true;
	return false;
}

static int refuse_option(const char *arg)
{
	return is_not_ours(arg) ? -builtin_die("%s is not supported", arg) : 0;
}

/*
 * Returns whether an option that rev-parse does not know is an option of
 * rev-list.
 */
static bool is_rev_option(const char *arg)
{
	static const char *const names[] = {
		"--dense",          "--header",     "--ignore-missing",
		"--no-merges",      "--objects",    "--no-min-parents",
		"--no-max-parents", "--parents",    "--objects-edge",
		"--pretty",         "--topo-order", "--date-order",
		"--unpacked",       "--sparse",
	};
	static const char *const starts[] = {
		"--max-age=",     "--max-count=",   "--min-age=",
		"--min-parents=", "--max-parents=", "-n",
	};

	for (size_t i = 0; i < ARRAY_NR(names); i++)
		if (!strcmp(arg, names[i]))
			return true;
	for (size_t i = 0; i < ARRAY_NR(starts); i++)
		if (!strncmp(arg, starts[i], strlen(starts[i])))
			return true;
	return arg[0] == '-' && arg[1] >= '0' && arg[1] <= '9';
}

/*
 * Print an option that rev-parse does not know, if --flags or --no-revs asks
 * for it.
 */
static void show_flag(const struct rev_parse *rp, const char *arg)
{
	unsigned kind = is_rev_option(arg) ? REV_PARSE_REVS : REV_PARSE_NO_REVS;

	if ((rp->filter & REV_PARSE_FLAGS) && (rp->filter & kind))
		rev_parse_show(rp, arg);
}

/* ---- the arguments */

struct args {
	const char **argv;
	int argc, next;
	/*
	 * true: "--" is one of the arguments, before or after the present one
	 */
	bool has_dashes;
	bool only_files; /* a file was seen */
	bool only_words; /* "--" was seen */
	/* true: the argument --end-of-options was found */
	bool options_ended;
	/* number of revisions so far, without ranges, for --verify */
	size_t rev_nr;
	/* id of the last revision that was not a range */
	struct oid oid;
	const char *name;
	bool negate;
};

/*
 * Print the name of a file, unless options exclude files. Returns whether it
 * was printed.
 */
static bool show_file(struct rev_parse *rp, const char *arg)
{
	unsigned need = REV_PARSE_NO_FLAGS | REV_PARSE_NO_REVS;

	show_default(rp);
	if ((rp->filter & need) != need)
		return false;
	rev_parse_show(rp, arg);
	return true;
}

static int take_file(struct rev_parse *rp, const char *arg)
{
	struct error err = ERROR_INIT;

	if (!show_file(rp, arg))
		return 0;
	return path_args_check_path(arg, false, rp->store.repo, &err) < 0
		       ? builtin_fail(&err)
		       : 0;
}

/*
 * Check the first argument that is not a revision: it must be an existing file.
 */
static int take_first_file(struct rev_parse *rp, struct args *a,
			   const char *arg, struct error *err)
{
	struct error why = ERROR_INIT;
	size_t rev_len = revname_rev_len(arg);
	struct oid oid;

	if (a->has_dashes)
		return builtin_die("bad revision '%s'", arg);
	a->only_files = true;
	if (!show_file(rp, arg) ||
	    path_args_check_path(arg, true, rp->store.repo, &why) >= 0)
		return 0;
	if (why.code != ERR_MISSING)
		return builtin_fail(&why);
	if (revname_error_is_ambiguous(err))
		builtin_error("%s", err->msg);
	if (rev_len && (*arg == '^' || err->code == ERR_MISSING ||
			revname_error_is_ambiguous(err)))
		return builtin_die("invalid object name '%.*s'.", (int)rev_len,
				   arg);
	if (err->code == ERR_MISSING || revname_error_is_ambiguous(err)) {
		/*
		 * Stock Git resolves the name twice in order to explain the
		 * error, so it prints the warnings about the name twice. Do the
		 * same.
		 */
		if (err->code == ERR_MISSING)
			store_resolve_quietly(&rp->store, &oid, arg, NULL);
		return builtin_fail(&why);
	}
	path_args_look_on_disk(arg, rp->store.repo, err);
	return builtin_fail(err);
}

static int take_revision(struct rev_parse *rp, struct args *a, const char *arg)
{
	struct error err = ERROR_INIT;
	bool negate = arg[0] == '^';
	const char *name = arg + negate;
	struct oid oid;
	int ret = rev_parse_range(rp, arg);

	if (!ret)
		ret = rev_parse_shorthand(rp, arg);
	if (ret)
		return ret < 0 ? -ret : 0;
	ret = rp->quiet ? store_resolve_quietly(&rp->store, &oid, name, &err)
			: store_resolve(&rp->store, &oid, name, &err);
	if (ret < 0) {
		if (rev_parse_is_fatal(rp, name, &err))
			return builtin_fail(&err);
		if (rp->verify && !rp->quiet &&
		    revname_error_is_ambiguous(&err))
			builtin_error("%s", err.msg);
		if (rp->verify)
			return err.code == ERR_UNSUPPORTED ? builtin_fail(&err)
							   : not_single(rp);
		return take_first_file(rp, a, arg, &err);
	}
	if (!rp->verify) {
		rev_parse_show_rev(rp, negate, &oid, name);
		return 0;
	}
	if (a->rev_nr++)
		return not_single(rp);
	a->oid = oid;
	a->name = name;
	a->negate = negate;
	return 0;
}

/*
 * Handle "-n <count>": print it as two arguments, if options of rev-list are
 * requested.
 */
static int take_count(struct rev_parse *rp, struct args *a)
{
	unsigned need = REV_PARSE_FLAGS | REV_PARSE_REVS;

	if (a->next >= a->argc)
		return builtin_die("-n requires an argument");
	if ((rp->filter & need) == need) {
		rev_parse_show(rp, "-n");
		rev_parse_show(rp, a->argv[a->next]);
	}
	a->next++;
	return 0;
}

static int take_option(struct rev_parse *rp, struct args *a, const char *arg)
{
	const char *next = a->next < a->argc ? a->argv[a->next] : NULL;
	bool used = false;
	int ret;

	if (!strcmp(arg, "-n"))
		return take_count(rp, a);
	if (!strcmp(arg, "--default")) {
		if (!next)
			return builtin_die("--default requires an argument");
		rp->dflt = next;
		a->next++;
		return 0;
	}
	if (!strcmp(arg, "--end-of-options")) {
		a->options_ended = true;
		if (rp->filter & (REV_PARSE_FLAGS | REV_PARSE_REVS))
			show_file(rp, arg);
		return 0;
	}
	ret = mode_option(rp, arg);
	if (!ret)
		ret = rev_parse_refs(rp, arg);
	if (!ret)
		ret = rev_parse_place(rp, arg, next, &used);
	if (!ret)
		ret = refuse_option(arg);
	a->next += used;
	if (ret)
		return ret < 0 ? -ret : 0;
	show_flag(rp, arg);
	return 0;
}

static int take(struct rev_parse *rp, struct args *a, const char *arg)
{
	if (a->only_words || a->only_files) {
		if (!a->only_words && !strcmp(arg, "--"))
			a->only_words = true;
		if (a->only_words)
			show_file(rp, arg);
		else
			return take_file(rp, arg);
		return 0;
	}
	if (!strcmp(arg, "--")) {
		a->only_words = true;
		/*
		 * Print "--" with show_file(), which prints file names. But if
		 * neither options nor revisions may be printed, do not print
		 * "--".
		 */
		if (rp->filter & (REV_PARSE_FLAGS | REV_PARSE_REVS))
			show_file(rp, arg);
		return 0;
	}
	if (!a->options_ended && arg[0] == '-')
		return take_option(rp, a, arg);
	return take_revision(rp, a, arg);
}

static int take_all(struct rev_parse *rp, struct args *a)
{
	int ret = 0;

	for (int i = 1; i < a->argc; i++)
		a->has_dashes |= !strcmp(a->argv[i], "--");
	while (!ret && a->next < a->argc)
		ret = take(rp, a, a->argv[a->next++]);
	if (ret)
		return ret;
	if (!rp->verify) {
		show_default(rp);
		return 0;
	}
	if (a->rev_nr == 1) {
		rev_parse_show_rev(rp, a->negate, &a->oid, a->name);
		return 0;
	}
	if (!a->rev_nr && rp->dflt) {
		struct oid oid;

		if (!store_resolve(&rp->store, &oid, rp->dflt, NULL)) {
			rev_parse_show_rev(rp, false, &oid, rp->dflt);
			return 0;
		}
	}
	return not_single(rp);
}

/*
 * Returns whether an argument may be one that only stock Git understands. All
 * arguments are checked before anything is printed.
 */
static bool has_not_ours(int argc, const char **argv)
{
	bool found = false;

	for (int i = 1; i < argc && !found && strcmp(argv[i], "--") != 0; i++)
		found = is_not_ours(argv[i]) ||
			revname_may_be_unsupported(argv[i]);
	return found;
}

/* ---- modes without a repository */

static int quote_all(int argc, const char **argv)
{
	for (int i = 2; i < argc; i++) {
		putchar(' ');
		rev_parse_show_quoted(argv[i]);
	}
	putchar('\n');
	return 0;
}

static int no_mode(const char *arg)
{
	struct error err = ERROR_INIT;

	error_set(&err, ERR_UNSUPPORTED, "%s is not supported", arg);
	return builtin_not_ours(&err);
}

/*
 * Run modes that need no repository, such as --parseopt. Returns the exit code,
 * or -1 if the arguments need a repository.
 */
static int without_repository(int argc, const char **argv)
{
	static const struct option none[] = {{.kind = OPTION_END}};
	int vars_nr = 0;

	if (argc < 2)
		return -1;
	if (!strcmp(argv[1], "--parseopt"))
		return no_mode(argv[1]);
	if (!strcmp(argv[1], "--sq-quote"))
		return quote_all(argc, argv);
	while (vars_nr < argc - 1 && is_local_env_vars(argv[vars_nr + 1]))
		vars_nr++;
	if (vars_nr == argc - 1) {
		for (; vars_nr; vars_nr--)
			local_env_vars();
		return 0;
	}
	if (!strcmp(argv[1], "-h") ||
	    (argc == 2 && !strcmp(argv[1], "--help-all"))) {
		options_parse(2, argv, none, usage);
		return 129;
	}
	if (!strcmp(argv[1], "--resolve-git-dir"))
		return no_mode(argv[1]);
	return -1;
}

int cmd_rev_parse(int argc, const char **argv, struct builtin_env *env)
{
	struct rev_parse rp = {
		.filter = REV_PARSE_REVS | REV_PARSE_NO_REVS | REV_PARSE_FLAGS |
			  REV_PARSE_NO_FLAGS,
		.abbrev = STORE_FULL,
	};
	struct args a = {.argv = argv, .argc = argc, .next = 1};
	int ret = without_repository(argc, argv);

	if (ret != -1)
		return builtin_finish(ret);
	if (has_not_ours(argc, argv) && builtin_has_stock())
		return BUILTIN_NOT_OURS;
	ret = store_open_replaced(&rp.store, env);
	/*
	 * An option --local-env-vars that precedes all other arguments works
	 * even if the repository cannot be opened.
	 */
	for (; ret && a.next < argc && is_local_env_vars(argv[a.next]);
	     a.next++)
		local_env_vars();
	if (ret)
		return builtin_finish(ret);
	/*
	 * Leave a repository with grafts to stock Git, because only stock Git
	 * follows them.
	 */
	if (grafts_exist(rp.store.repo, NULL) > 0 && builtin_has_stock()) {
		store_close(&rp.store);
		return BUILTIN_NOT_OURS;
	}
	ret = store_fetch_missing(&rp.store, env);
	if (!ret)
		ret = take_all(&rp, &a);
	free(rp.excluded);
	store_close(&rp.store);
	return builtin_finish(ret);
}
