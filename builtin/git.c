/* SPDX-License-Identifier: MIT */
/*
 * git: applies the options before the command's name, then runs one of our
 * commands, or executes stock Git for any other.
 *
 * If the program is called as git-<command> (a link), it runs that command.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "builtin/builtin.h"
#include "builtin/exec-path.h"
#include "builtin/fallback.h"
#include "builtin/global.h"
#include "builtin/help.h"
#include "builtin/lazy-fetch.h"
#include "builtin/options.h"
#include "builtin/tracing.h"
#include "sys/cleanup.h"

struct command {
	/* the command's name, with '_' instead of '-' */
	const char *name;
	int (*run)(int argc, const char **argv, struct builtin_env *env);
};

/* The Makefile defines one COMMAND(x) for each cmd_x() of this directory. */
#define COMMAND(x) {#x, cmd_##x},
static const struct command commands[] = {GITREACH_COMMANDS};
#undef COMMAND

static bool same_name(const char *in_table, const char *name)
{
	while (*in_table && (*name == '-' ? '_' : *name) == *in_table &&
	       *name != '_')
		in_table++, name++;
	return !*in_table && !*name;
}

static const struct command *find_command(const char *name)
{
	for (size_t i = 0; i < ARRAY_NR(commands); i++)
		if (same_name(commands[i].name, name))
			return &commands[i];
	return NULL;
}

/*
 * Repair what a daemon may have set up. Closed standard streams are opened,
 * because the next opened file would take their descriptors. SIGPIPE is no
 * longer ignored. Signal handlers are installed that remove lock files.
 */
static void prepare_process(void)
{
	for (int fd = 0; fd <= 2; fd++)
		if (fcntl(fd, F_GETFD) < 0)
			open("/dev/null", O_RDWR);
	signal(SIGPIPE, SIG_DFL);
	sys_cleanup_arm();
}

/*
 * Whether a command prepends the exec path to PATH itself when it starts a
 * child.
 */
static bool prepares_for_children(const struct command *command)
{
	return command->run == cmd_upload_pack;
}

/*
 * Execute stock Git. argv[0] is the command's name; argv ends with NULL. The
 * options in *g that no environment variable holds are put before the name.
 */
static int run_stock(const struct global *g, int argc, const char **argv,
		     struct trace *trace)
{
	const char **words = mem_alloc((size_t)argc + 3, sizeof(*words));
	size_t nr = 0;
	int code;

	if (!words)
		return builtin_die("out of memory");
	if (g->paginate)
		words[nr++] = "-p";
	if (g->bare)
		words[nr++] = "--bare";
	memcpy(words + nr, argv, ((size_t)argc + 1) * sizeof(*words));
	code = fallback_git(words, trace);
	free(words);
	return code;
}

/* Whether a shell asks for the options of a command or of its subcommand. */
static bool asks_for_completion(const char *const *words)
{
	return words[1] && (options_is_completion(words[1]) ||
			    options_is_completion(words[2]));
}

/*
 * Run one of our commands; argv[0] is its name. Commands reorder argv, so the
 * original words are kept for stock Git.
 */
static int run_command(const struct command *command, const struct global *g,
		       int argc, const char **argv, struct tracing *tracing)
{
	struct builtin_env env = {NULL, tracing, g->bare, NULL};
	struct error err = ERROR_INIT;
	const char **words;
	int code;

	if (!prepares_for_children(command) && exec_path_prepend(&err) < 0)
		return builtin_fail(&err);
	words = mem_alloc((size_t)argc + 1, sizeof(*words));
	if (!words)
		return builtin_die("out of memory");
	memcpy(words, argv, ((size_t)argc + 1) * sizeof(*words));
	tracing_command(tracing, argv);
	code = command->run(argc, argv, &env);
	lazy_fetch_free(env.lazy_fetch);
	repo_close(env.repo);
	if (code == 129 && asks_for_completion(words))
		code = 0;
	if (code == BUILTIN_NOT_OURS)
		code = run_stock(g, argc, words, tracing_trace(tracing));
	free(words);
	return builtin_finish(code);
}

/*
 * Whether the user asks for help. The arguments of a CGI program may come from
 * a remote client and are ignored.
 */
static bool asks_for_help(int argc, const char **argv)
{
	return argc > 1 && !strcmp(argv[1], "--help") &&
	       !getenv("GATEWAY_INTERFACE");
}

/* Run `git help <topic>`. */
static int run_help_about(const char *topic, const struct global *g,
			  struct tracing *tracing)
{
	const char *words[] = {"help", topic, NULL};

	return run_command(find_command("help"), g, 2, words, tracing);
}

/* Run the command if the program was called as git-<name>. */
static int run_by_name(int argc, const char **argv, const char *name,
		       struct tracing *tracing)
{
	static const struct global no_options = {.next = 0};
	const struct command *command = find_command(name);

	argv[0] = name;
	if (command && fallback_is_parent(name))
		return builtin_die("the stock Git has no '%s'", name);
	if (command && !asks_for_help(argc, argv))
		return run_command(command, &no_options, argc, argv, tracing);
	return command ? run_help_about(name, &no_options, tracing)
		       : fallback_helper(argv, tracing_trace(tracing));
}

static int print_exec_path(struct trace *trace)
{
	struct buf path = BUF_INIT;
	struct error err = ERROR_INIT;
	int ret = fallback_exec_path(&path, trace, &err);

	if (!ret)
		puts(path.data);
	buf_release(&path);
	return ret < 0 ? builtin_fail(&err) : builtin_finish(0);
}

static int run_git_command(const struct global *g, int argc, const char **argv,
			   struct tracing *tracing)
{
	const struct command *command = find_command(argv[g->next]);

	argc -= g->next;
	if (command && asks_for_help(argc, argv + g->next))
		return run_help_about(argv[g->next], g, tracing);
	if (!command)
		return run_stock(g, argc, argv + g->next,
				 tracing_trace(tracing));
	if (g->paginate && isatty(1))
		return builtin_die("there is no pager for '%s' yet; run it "
				   "without -p, into one",
				   argv[g->next]);
	return run_command(command, g, argc, argv + g->next, tracing);
}

/* Whether only stock Git knows the value that the option asks for. */
static bool asks_for_path(const char *option)
{
	return !strcmp(option, "--html-path") ||
	       !strcmp(option, "--man-path") || !strcmp(option, "--info-path");
}

/* Run `git` with an option in place of a command, or without any word. */
static int run_option(const struct global *g, int argc, const char **argv,
		      struct tracing *tracing)
{
	static const char list_cmds[] = "--list-cmds=";
	const char *option = argv[0];
	int code;

	if (!option && !fallback_exists()) {
		code = help_print();
		return code ? code : 1;
	}
	if (option && (!strcmp(option, "--help") || !strcmp(option, "-h"))) {
		argv[0] = "help";
		return run_command(find_command("help"), g, argc, argv,
				   tracing);
	}
	if (option && !strncmp(option, list_cmds, strlen(list_cmds)))
		return help_list_cmds(option + strlen(list_cmds),
				      tracing_trace(tracing));
	if (option && !asks_for_path(option) && !fallback_exists())
		return help_bad_option(option, global_takes_value(option));
	return run_stock(g, argc, argv, tracing_trace(tracing));
}

static int run_git(int argc, const char **argv, struct tracing *tracing)
{
	struct global g;

	global_apply(&g, argc, argv);
	switch (g.end) {
	case GLOBAL_COMMAND:
		return run_git_command(&g, argc, argv, tracing);
	case GLOBAL_VERSION:
		argv[g.next - 1] = "version";
		return run_command(find_command("version"), &g,
				   argc - g.next + 1, argv + g.next - 1,
				   tracing);
	case GLOBAL_EXEC_PATH:
		return print_exec_path(tracing_trace(tracing));
	case GLOBAL_STOCK:
		return run_option(&g, argc - g.next, argv + g.next, tracing);
	default:
		return g.code;
	}
}

static int run(int argc, const char **argv, struct tracing *tracing)
{
	const char *slash = strrchr(argv[0], '/');
	const char *name = slash ? slash + 1 : argv[0];

	/* As a login shell, git-shell's name starts with a dash. */
	name += *name == '-';
	if (!strncmp(name, "git-", 4) && name[4])
		return run_by_name(argc, argv, name + 4, tracing);
	return run_git(argc, argv, tracing);
}

int main(int argc, char **argv)
{
	struct tracing tracing;

	prepare_process();
	if (argc < 1)
		return builtin_die("called without a name");
	tracing_start(&tracing);
	return tracing_finish(&tracing,
			      run(argc, (const char **)argv, &tracing));
}
