/* SPDX-License-Identifier: MIT */
/* git help: lists of commands, and their manual pages. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "builtin/builtin.h"
#include "builtin/fallback.h"
#include "builtin/help.h"
#include "builtin/options.h"
#include "builtin/tracing.h"
#include "config/config.h"

static const char usage[] = "git help [-a | --all] [--[no-]verbose]\n"
			    "git help [-m | --man] [<command>]\n"
			    "git help [-g | --guides]";

static const char synopsis[] =
	"usage: git [-v | --version] [-h | --help] [-C <path>] "
	"[-c <name>=<value>]\n"
	"           [--exec-path[=<path>]] [-p | --paginate | -P | "
	"--no-pager]\n"
	"           [--no-replace-objects] [--no-lazy-fetch] "
	"[--no-optional-locks]\n"
	"           [--no-advice] [--bare] [--git-dir=<path>] "
	"[--work-tree=<path>]\n"
	"           [--namespace=<name>] [--config-env=<name>=<envvar>]\n"
	"           <command> [<args>]\n";

struct help_args {
	bool all, is_terse, guides, man;
	const char *topic; /* NULL: none */
};

int help_bad_option(const char *option, bool lacks_value)
{
	fprintf(stderr, "%s: %s\n%s",
		lacks_value ? "no value given for option" : "unknown option",
		option, synopsis);
	return 129;
}

int help_print(void)
{
	fputs(synopsis, stdout);
	puts("\nThese commands are part of gitreach. All others need a stock "
	     "Git,");
	puts("and none is installed.\n");
	help_print_groups();
	puts("\n'git help <command>' and 'git help gitreach' show manual "
	     "pages.");
	return builtin_finish(0);
}

static void print_guides(void)
{
	puts("The guides of gitreach are:");
	printf("   %-23s %s\n", "gitreach",
	       "How commands are run, and what "
	       "configures them");
	printf("   %-23s %s\n", "libgitreach",
	       "The library for other programs");
}

/* ---- printing stock Git's lists of commands, followed by our own commands */

/*
 * Print `text` on the terminal through the pager that the user has configured
 * for stock Git.
 */
static int page_text(const char *text, size_t len, struct trace *trace)
{
	static const char *const words[] = {
		"-p", "-c", "alias.gitreach-show=!cat", "gitreach-show", NULL,
	};
	FILE *file = tmpfile();

	if (!file || fwrite(text, 1, len, file) != len || fflush(file) ||
	    lseek(fileno(file), 0, SEEK_SET) < 0 || dup2(fileno(file), 0) < 0)
		return builtin_die("cannot write a temporary file");
	return fallback_git(words, trace);
}

/*
 * List all commands. `words` are the words of the command line, from "help" on.
 */
static int list_all(const struct help_args *args, const char *const *words,
		    struct trace *trace)
{
	struct buf stock = BUF_INIT;
	struct error err = ERROR_INIT;
	char *own = NULL;
	size_t own_len;
	int code = fallback_capture(&stock, words, trace, &err);
	FILE *out = code ? NULL : open_memstream(&own, &own_len);

	if (out) {
		help_print_own(out);
		fclose(out);
	}
	if (code < 0)
		code = builtin_fail(&err);
	else if (!code && (!own || buf_append(&stock, own, own_len) < 0))
		code = builtin_die("out of memory");
	if (!code && isatty(1))
		code = page_text(stock.data, stock.len, trace);
	else
		fwrite(stock.data, 1, stock.len, stdout);
	free(own);
	buf_release(&stock);
	return builtin_finish(code);
}

static bool has_group(const char *groups, const char *name)
{
	size_t len = strlen(name);

	while (*groups) {
		size_t word = strcspn(groups, ",");

		if (word == len && !strncmp(groups, name, len))
			return true;
		groups += word + (groups[word] == ',');
	}
	return false;
}

int help_list_cmds(const char *groups, struct trace *trace)
{
	struct buf option = BUF_INIT, stock = BUF_INIT;
	struct error err = ERROR_INIT;
	const char *words[] = {NULL, NULL};
	bool complete = has_group(groups, "list-complete");
	int code = 0;

	if (!fallback_exists()) {
		if (complete || has_group(groups, "main") ||
		    has_group(groups, "builtins") ||
		    has_group(groups, "parseopt"))
			help_print_names(false);
		return builtin_finish(0);
	}
	if (buf_printf(&option, "--list-cmds=%s", groups) < 0)
		return builtin_die("out of memory");
	words[0] = option.data;
	/*
	 * Our commands are added, below, only to the list for completion (the
	 * group list-complete). For all other lists, stock Git is run, and
	 * nothing is added to its output. This is also right for the group
	 * `main`, which should have our commands: stock Git lists them itself,
	 * because it finds them in the exec path.
	 */
	if (!complete)
		return fallback_git(words, trace);
	code = fallback_capture(&stock, words, trace, &err);
	if (code < 0)
		code = builtin_fail(&err);
	fwrite(stock.data, 1, stock.len, stdout);
	if (!code)
		help_print_names(true);
	buf_release(&option);
	buf_release(&stock);
	return builtin_finish(code);
}

/* ---- pages */

/*
 * Returns whether stock Git should show the help page: help.format asks for
 * another form than a manual page, --man is not given, and both gitreach and
 * stock Git have the command.
 */
static bool wants_other_form(const struct help_args *args,
			     const struct config *config)
{
	const char *form = config_string(config, "help.format");

	return form && strcmp(form, "man") != 0 && !args->man &&
	       help_is_native(args->topic) && !help_is_own(args->topic);
}

/*
 * Show our manual page, with stock Git's viewers if stock Git is installed. If
 * we have no page in the form that the user wants, stock Git shows its own
 * page.
 */
static int show_page(const struct help_args *args, const struct config *config,
		     struct trace *trace)
{
	const char *words[] = {"help", "-m", NULL, NULL};
	struct error err = ERROR_INIT;
	struct buf page = BUF_INIT;
	bool has_stock = fallback_exists();
	int ret = help_find_page(&page, args->topic), code;

	words[2] = page.data;
	if (ret == ERR_NOMEM)
		code = builtin_die("out of memory");
	else if (has_stock && (ret < 0 || wants_other_form(args, config)))
		code = BUILTIN_NOT_OURS;
	else if (help_set_manpath())
		code = 128;
	else if (has_stock)
		code = fallback_git(words, trace);
	else if (!page.len) {
		error_set(&err, ERR_MISSING,
			  "the manual page of '%s' comes with stock Git, which "
			  "is not installed",
			  args->topic);
		code = help_unknown(args->topic, &err);
	} else
		code = help_view(page.data, config);
	buf_release(&page);
	return code;
}

static int show_topic(const struct help_args *args, struct builtin_env *env)
{
	const struct config_sources sources = {.protected_only = true};
	struct config config = CONFIG_INIT;
	struct error err = ERROR_INIT;
	int code = builtin_open_repo_gently(env);

	if (code)
		return code;
	if (env->repo)
		return show_page(args, &env->repo->config,
				 tracing_trace(env->tracing));
	if (config_load(&config, &sources, &err) < 0)
		return builtin_fail(&err);
	code = show_page(args, &config, tracing_trace(env->tracing));
	config_release(&config);
	return code;
}

/* ---- the command */

/* Print help if stock Git is not installed. */
static int help_alone(const struct help_args *args, struct builtin_env *env)
{
	if (args->topic)
		return show_topic(args, env);
	if (args->guides)
		print_guides();
	else if (!args->all)
		return help_print();
	else if (args->is_terse)
		help_print_names(false);
	else
		help_print_groups();
	return builtin_finish(0);
}

#define NOT_OURS(letter, name)                                                 \
	{                                                                      \
		.kind = OPTION_NOT_OURS, .short_name = letter,                 \
		.long_name = name                                              \
	}

static int parse_args(struct help_args *args, int argc, const char **argv)
{
	const struct option options[] = {
		OPTION_ROW_FLAG('a', "all", &args->all, "list all commands"),
		{.kind = OPTION_FLAG,
		 .long_name = "no-verbose",
		 .flag = &args->is_terse,
		 .flags = OPTION_ONE_NO,
		 .help = "with --all, list names only"},
		OPTION_ROW_FLAG('g', "guides", &args->guides, "list guides"),
		OPTION_ROW_FLAG('m', "man", &args->man, "show a man page"),
		NOT_OURS('i', "info"),
		NOT_OURS('w', "web"),
		NOT_OURS('c', "config"),
		NOT_OURS(0, "config-for-completion"),
		NOT_OURS(0, "external-commands"),
		NOT_OURS(0, "aliases"),
		NOT_OURS(0, "exclude-guides"),
		NOT_OURS(0, "user-interfaces"),
		NOT_OURS(0, "developer-interfaces"),
		{.kind = OPTION_END},
	};
	int operands = options_parse(argc, argv, options, usage);

	if (operands < 0)
		return options_failed(operands);
	if (operands > 1)
		return fallback_exists() ? BUILTIN_NOT_OURS
					 : options_usage(options, usage);
	args->topic = operands ? argv[1] : NULL;
	return 0;
}

int cmd_help(int argc, const char **argv, struct builtin_env *env)
{
	const char **words = mem_alloc((size_t)argc + 1, sizeof(*words));
	struct help_args args = {0};
	int code;

	if (!words)
		return builtin_die("out of memory");
	memcpy(words, argv, ((size_t)argc + 1) * sizeof(*words));
	code = parse_args(&args, argc, argv);
	if (!code && !fallback_exists())
		code = help_alone(&args, env);
	else if (!code && args.topic && !args.all && !args.guides)
		code = show_topic(&args, env);
	else if (!code && args.all && !args.topic && !args.guides &&
		 !args.is_terse)
		code = list_all(&args, words, tracing_trace(env->tracing));
	else if (!code)
		code = BUILTIN_NOT_OURS;
	free(words);
	return code;
}
