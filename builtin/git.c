/* SPDX-License-Identifier: MIT */
/*
 * git: applies the options before the command's name, then runs one of our
 * commands, or executes stock Git for any other command.
 *
 * The options change the directory and the environment of this process. The
 * variables are those of stock Git. Our commands, stock Git and their children
 * therefore see the same settings.
 *
 * If the program is called as git-<command> (a link), it runs that command.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "builtin/builtin.h"
#include "builtin/config-check.h"
#include "builtin/exec-path.h"
#include "builtin/fallback.h"
#include "builtin/gitreachd.h"
#include "builtin/help.h"
#include "builtin/lazy-fetch.h"
#include "builtin/options.h"
#include "builtin/tracing.h"
#include "sys/cleanup.h"

/* ---- options before the command's name: -C <dir>, -c <key>=<value>, ... */

enum global_end {
	/* The name of a command follows, in argv[next]. */
	GLOBAL_COMMAND,
	/*
	 * Run stock Git with argv[next...]: no command is given, or --help is
	 * given, or an option is not known here.
	 */
	GLOBAL_STOCK,
	/* --version is given; argv[next...] are its arguments */
	GLOBAL_VERSION,
	/* --exec-path is given: print the exec path */
	GLOBAL_EXEC_PATH,
	/* an error was printed; exit with `code` */
	GLOBAL_FAILED,
};

struct global {
	enum global_end end;
	int next; /* index into argv */
	int code;
	/*
	 * true: -p is given. There is no environment variable for -p, so it is
	 * passed on to stock Git as an option.
	 */
	bool paginate;
	/* true: --bare is given. There is no environment variable for it. */
	bool bare;
};

/* Options that set an environment variable to a constant. */
static const struct {
	const char *option, *variable, *value;
} switches[] = {
	{"--no-pager", "GIT_PAGER", "cat"},
	{"-P", "GIT_PAGER", "cat"},
	{"--no-replace-objects", "GIT_NO_REPLACE_OBJECTS", "1"},
	{"--no-lazy-fetch", "GIT_NO_LAZY_FETCH", "1"},
	{"--no-optional-locks", "GIT_OPTIONAL_LOCKS", "0"},
	{"--no-advice", "GIT_ADVICE", "0"},
	{"--literal-pathspecs", "GIT_LITERAL_PATHSPECS", "1"},
	{"--no-literal-pathspecs", "GIT_LITERAL_PATHSPECS", "0"},
	{"--glob-pathspecs", "GIT_GLOB_PATHSPECS", "1"},
	{"--noglob-pathspecs", "GIT_NOGLOB_PATHSPECS", "1"},
	{"--icase-pathspecs", "GIT_ICASE_PATHSPECS", "1"},
};

/* Options whose value becomes the value of an environment variable. */
static const struct {
	const char *option, *variable;
	/*
	 * true: only the form --x=<value> is allowed; false: --x <value>, too
	 */
	bool attached_only;
} settings[] = {
	{"--git-dir", "GIT_DIR", false},
	{"--work-tree", "GIT_WORK_TREE", false},
	{"--namespace", "GIT_NAMESPACE", false},
	{"--exec-path", "GIT_EXEC_PATH", true},
	{"--attr-source", "GIT_ATTR_SOURCE", false},
};

static int set(const char *variable, const char *value)
{
	if (setenv(variable, value, 1) < 0)
		return builtin_die("cannot set %s: %s", variable,
				   strerror(errno));
	return 0;
}

/* ---- -c and --config-env */

/* Append a word in the quotes that GIT_CONFIG_PARAMETERS requires. */
static int quote(struct buf *out, const char *s, size_t len)
{
	int ret = buf_append_char(out, '\'');

	for (size_t i = 0; i < len && !ret; i++) {
		if (s[i] == '\'' || s[i] == '!')
			ret = buf_printf(out, "'\\%c'", s[i]);
		else
			ret = buf_append_char(out, s[i]);
	}
	return ret ? ret : buf_append_char(out, '\'');
}

/*
 * Append 'key'='value' to GIT_CONFIG_PARAMETERS, or 'key'= for a key without
 * value.
 */
static int add_config(const char *key, size_t key_len, const char *value)
{
	const char *before = getenv("GIT_CONFIG_PARAMETERS");
	struct buf all = BUF_INIT;
	int ret = 0;

	if (before && *before)
		ret = buf_printf(&all, "%s ", before);
	if (!ret)
		ret = quote(&all, key, key_len);
	if (!ret)
		ret = buf_append_char(&all, '=');
	if (!ret && value)
		ret = quote(&all, value, strlen(value));
	ret = ret < 0 ? builtin_die("out of memory")
		      : set("GIT_CONFIG_PARAMETERS", all.data);
	buf_release(&all);
	return ret;
}

static int add_config_text(const char *text)
{
	size_t key_len = strcspn(text, "=");

	return add_config(text, key_len,
			  text[key_len] ? text + key_len + 1 : NULL);
}

/* Apply --config-env=<key>=<variable>. The key may contain '='. */
static int add_config_env(const char *text)
{
	const char *equals = strrchr(text, '='), *value;
	int key_len;

	if (!equals)
		return builtin_die("invalid config format: %s", text);
	key_len = (int)(equals - text);
	if (!equals[1])
		return builtin_die("missing environment variable name for "
				   "configuration '%.*s'",
				   key_len, text);
	value = getenv(equals + 1);
	if (!value)
		return builtin_die("missing environment variable '%s' for "
				   "configuration '%.*s'",
				   equals + 1, key_len, text);
	return add_config(text, (size_t)key_len, value);
}

/* ---- options that do more than set a variable */

static int change_dir(const char *dir)
{
	if (*dir && chdir(dir) < 0)
		return builtin_die("cannot change to '%s': %s", dir,
				   strerror(errno));
	return 0;
}

/*
 * Apply --bare. The git directory is the working directory, unless GIT_DIR is
 * set. There is no work tree.
 */
static int be_bare(void)
{
	int ret = 0;

	if (!getenv("GIT_DIR")) {
		char *dir = getcwd(NULL, 0);

		if (!dir)
			return builtin_die("cannot read the working "
					   "directory: %s",
					   strerror(errno));
		ret = set("GIT_DIR", dir);
		free(dir);
	}
	return ret ? ret : set("GIT_IMPLICIT_WORK_TREE", "0");
}

/* ---- the words of argv */

/*
 * If argv[*next] is `option`, returns the argument of the option and moves
 * *next past it. Returns NULL if argv[*next] is another word, or if the
 * argument is missing. The argument of a long option may follow '=' in the same
 * word. If attached_only is false, the argument may also be the next word.
 */
static const char *take_arg(const char *const *argv, int *next,
			    const char *option, bool attached_only)
{
	const char *word = argv[*next];
	size_t len = strlen(option);

	if (strncmp(word, option, len))
		return NULL;
	if (word[len] == '=' && option[1] == '-') {
		++*next;
		return word + len + 1;
	}
	if (word[len] || attached_only || !argv[*next + 1])
		return NULL;
	*next += 2;
	return argv[*next - 1];
}

/*
 * Apply the option at *next if it stands for an environment variable. Returns 1
 * if the option was applied, 0 if it is another option, or -128 if memory ran
 * out.
 */
static int apply_variable(const char *const *argv, int *next)
{
	for (size_t i = 0; i < ARRAY_NR(switches); i++) {
		if (strcmp(argv[*next], switches[i].option))
			continue;
		++*next;
		return set(switches[i].variable, switches[i].value) ? -128 : 1;
	}
	for (size_t i = 0; i < ARRAY_NR(settings); i++) {
		const char *arg = take_arg(argv, next, settings[i].option,
					   settings[i].attached_only);

		if (arg)
			return set(settings[i].variable, arg) ? -128 : 1;
	}
	return 0;
}

/*
 * Apply the option at argv[g->next]. Returns 1 if the option was applied, or 0
 * if this function does not know the option. After printing an error, returns
 * the negated exit code.
 */
static int apply_word(struct global *g, const char *const *argv)
{
	const char *word = argv[g->next], *arg;

	if (!strcmp(word, "-p") || !strcmp(word, "--paginate")) {
		g->paginate = true;
		g->next++;
		return 1;
	}
	if (!strcmp(word, "--bare")) {
		g->next++;
		g->bare = true;
		return be_bare() ? -128 : 1;
	}
	if ((arg = take_arg(argv, &g->next, "-C", false)))
		return change_dir(arg) ? -128 : 1;
	if ((arg = take_arg(argv, &g->next, "-c", false)))
		return add_config_text(arg) ? -128 : 1;
	if ((arg = take_arg(argv, &g->next, "--config-env", false)))
		return add_config_env(arg) ? -128 : 1;
	if (!strcmp(word, "-P") || !strcmp(word, "--no-pager"))
		g->paginate = false;
	return apply_variable(argv, &g->next);
}

/*
 * Decides how to continue at the first word that changes no setting. `word` is
 * this word, argv[next]: the name of a command, or an option such as --version.
 * NULL: no word is left.
 */
static enum global_end end_at(struct global *g, const char *word)
{
	if (word && *word != '-')
		return GLOBAL_COMMAND;
	if (word && (!strcmp(word, "--version") || !strcmp(word, "-v"))) {
		g->next++;
		return GLOBAL_VERSION;
	}
	if (word && !strcmp(word, "--exec-path"))
		return GLOBAL_EXEC_PATH;
	return GLOBAL_STOCK;
}

/*
 * Returns whether an option before the command's name needs a value. Unknown
 * options are taken to need none.
 */
static bool takes_value(const char *option)
{
	if (!strcmp(option, "-C") || !strcmp(option, "-c") ||
	    !strcmp(option, "--config-env"))
		return true;
	for (size_t i = 0; i < ARRAY_NR(settings); i++)
		if (!strcmp(option, settings[i].option))
			return true;
	return false;
}

/*
 * Apply the options before the command's name, from argv[1] on. argv ends with
 * NULL.
 */
static void apply_options(struct global *g, int argc, const char *const *argv)
{
	int ret = 1;

	*g = (struct global){.next = 1};
	while (ret > 0 && g->next < argc && argv[g->next][0] == '-')
		ret = apply_word(g, argv);
	if (ret < 0) {
		g->end = GLOBAL_FAILED;
		g->code = -ret;
		return;
	}
	g->end = end_at(g, g->next < argc ? argv[g->next] : NULL);
}

/* ---- commands */

/* What run_command() does for a command. */
enum needs {
	NOTHING = 0,
	/*
	 * Open the repository before the command parses its arguments. Some
	 * commands of stock Git report a missing repository or a broken
	 * configuration before wrong arguments.
	 */
	REPO_FIRST = 1,
	/* with REPO_FIRST: a missing repository is no error */
	REPO_OPTIONAL = 2,
	/*
	 * With REPO_FIRST: open the repository, but do not check the
	 * configuration yet. As in stock Git, this check comes later: the
	 * command parses its arguments, and then calls builtin_open_repo().
	 */
	CONFIG_LATER = 4,
	/*
	 * The result depends on the shallow boundary. If GIT_SHALLOW_FILE is
	 * set, stock Git must run the command: our implementation ignores this
	 * variable, and reads only the repository's own shallow file.
	 */
	HISTORY = 8,
	/*
	 * The command itself adds the exec path to PATH before it starts a
	 * child process. For all other commands, run_command() adds the exec
	 * path before the command starts.
	 */
	OWN_PATH = 16,
};

/* The needs of each command. A new command needs a row. */
enum {
	NEEDS_bitmap = NOTHING,
	NEEDS_bundle = HISTORY,
	NEEDS_cat_file = REPO_FIRST,
	NEEDS_commit_graph = REPO_FIRST | HISTORY,
	NEEDS_count_objects = REPO_FIRST,
	NEEDS_for_each_ref = REPO_FIRST | HISTORY,
	NEEDS_fsck = REPO_FIRST | CONFIG_LATER | HISTORY,
	NEEDS_gc = REPO_FIRST | HISTORY,
	NEEDS_hash_object = NOTHING,
	NEEDS_help = NOTHING,
	NEEDS_http_backend = HISTORY,
	NEEDS_index_pack = REPO_FIRST | REPO_OPTIONAL | HISTORY,
	NEEDS_init = NOTHING,
	NEEDS_maintenance = REPO_FIRST | CONFIG_LATER | HISTORY,
	NEEDS_multi_pack_index = REPO_FIRST | HISTORY,
	NEEDS_network = NOTHING,
	NEEDS_pack_objects = REPO_FIRST | HISTORY,
	NEEDS_pack_refs = REPO_FIRST,
	NEEDS_prune = REPO_FIRST | HISTORY,
	NEEDS_prune_packed = REPO_FIRST,
	NEEDS_publish = NOTHING,
	NEEDS_receive_pack = HISTORY,
	NEEDS_reflog = REPO_FIRST | HISTORY,
	NEEDS_refs = REPO_FIRST,
	NEEDS_repack = REPO_FIRST | HISTORY,
	NEEDS_requests = NOTHING,
	NEEDS_rev_list = REPO_FIRST | HISTORY,
	NEEDS_rev_parse = HISTORY,
	NEEDS_show_index = NOTHING,
	NEEDS_show_ref = REPO_FIRST,
	NEEDS_store = NOTHING,
	NEEDS_symbolic_ref = REPO_FIRST,
	NEEDS_unpack_objects = REPO_FIRST,
	NEEDS_update_ref = REPO_FIRST,
	NEEDS_upload_archive = HISTORY,
	NEEDS_upload_pack = HISTORY | OWN_PATH,
	NEEDS_verify_pack = NOTHING,
	NEEDS_version = NOTHING,
};

struct command {
	/* the name of the command, with '_' for each '-', such as "rev_list" */
	const char *name;
	int (*run)(int argc, const char **argv, struct builtin_env *env);
	unsigned needs; /* set of enum needs */
};

/*
 * GITREACH_COMMANDS comes from the Makefile. It has one COMMAND(x) for each
 * cmd_x() of this directory.
 */
#define COMMAND(x) {#x, cmd_##x, NEEDS_##x},
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
 * Repair what the parent process may have left. Opens standard streams that are
 * closed; otherwise the next opened file would become a standard stream.
 * Restores the default action of SIGPIPE. Installs the signal handler that
 * removes lock files.
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
 * Execute stock Git. argv[0] is the command's name; argv ends with NULL. If -p
 * or --bare was given, this option is put before the name, because no
 * environment variable has the same effect.
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

/*
 * Returns whether the shell's completion asks for the options of a command or
 * of its subcommand.
 */
static bool asks_for_completion(const char *const *words)
{
	return words[1] && (options_is_completion(words[1]) ||
			    options_is_completion(words[2]));
}

/*
 * Returns whether to open the repository before the command parses its
 * arguments. With -h, no repository is opened.
 */
static bool opens_repo_first(const struct command *command,
			     const char *const *words)
{
	return command->needs & REPO_FIRST && !asks_for_completion(words) &&
	       !(words[1] && !words[2] &&
		 (!strcmp(words[1], "-h") || !strcmp(words[1], "--help-all")));
}

/*
 * Opens the repository before the command parses its arguments. Without
 * CONFIG_LATER, also checks the configuration. Returns 0 or an exit code.
 */
static int open_repo_first(const struct command *command,
			   struct builtin_env *env)
{
	unsigned config_checks = env->config_checks;
	int code;

	if (command->needs & CONFIG_LATER)
		env->config_checks = 0;
	code = command->needs & REPO_OPTIONAL ? builtin_open_repo_gently(env)
					      : builtin_open_repo(env);
	if (command->needs & CONFIG_LATER)
		env->config_checks = config_checks;
	return code;
}

/*
 * Run one of our commands; argv[0] is its name. Commands reorder argv, so the
 * original words are kept for stock Git.
 */
static int run_command(const struct command *command, const struct global *g,
		       int argc, const char **argv, struct tracing *tracing)
{
	struct builtin_env env = {
		.tracing = tracing,
		.is_bare = g->bare,
		.config_checks = config_check_groups(argv),
	};
	struct error err = ERROR_INIT;
	const char **words;
	int code;

	if (command->needs & HISTORY && getenv("GIT_SHALLOW_FILE"))
		return fallback_exists()
			       ? run_stock(g, argc, argv,
					   tracing_trace(tracing))
			       : builtin_die("GIT_SHALLOW_FILE needs stock "
					     "Git, which is not installed");
	if (!(command->needs & OWN_PATH) && exec_path_prepend(&err) < 0)
		return builtin_fail(&err);
	words = mem_alloc((size_t)argc + 1, sizeof(*words));
	if (!words)
		return builtin_die("out of memory");
	memcpy(words, argv, ((size_t)argc + 1) * sizeof(*words));
	tracing_command(tracing, argv);
	code = opens_repo_first(command, words) ? open_repo_first(command, &env)
						: 0;
	if (!code)
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
 * Returns whether the user asks for help with -h or --help. The arguments of a
 * CGI program may come from a remote client and are ignored.
 */
static bool asks_for_help(int argc, const char **argv)
{
	return argc > 1 && !strcmp(argv[1], "--help") &&
	       !getenv("GATEWAY_INTERFACE");
}

/* Run `git help <topic>` in this process. */
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
		return builtin_die("stock Git has no command '%s'", name);
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
		return builtin_die(
			"gitreach does not start a pager for '%s' yet; run it "
			"without -p, and pipe the output into a pager",
			argv[g->next]);
	return run_command(command, g, argc, argv + g->next, tracing);
}

/* Returns whether the option asks for a path that only stock Git knows. */
static bool asks_for_path(const char *option)
{
	return !strcmp(option, "--html-path") ||
	       !strcmp(option, "--man-path") || !strcmp(option, "--info-path");
}

/* Run `git` with an option in place of a command, or without arguments. */
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
		return help_bad_option(option, takes_value(option));
	return run_stock(g, argc, argv, tracing_trace(tracing));
}

static int run_git(int argc, const char **argv, struct tracing *tracing)
{
	struct global g;

	apply_options(&g, argc, argv);
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

/* Run the server: the program was called by the name gitreachd. */
static int run_server(int argc, const char **argv, struct tracing *tracing)
{
	struct builtin_env env = {.tracing = tracing};
	struct error err = ERROR_INIT;

	if (exec_path_prepend(&err) < 0)
		return builtin_fail(&err);
	tracing_command(tracing, argv);
	return builtin_finish(gitreachd_main(argc, argv, &env));
}

static int run(int argc, const char **argv, struct tracing *tracing)
{
	const char *slash = strrchr(argv[0], '/');
	const char *name = slash ? slash + 1 : argv[0];
	struct error err = ERROR_INIT;

	if (exec_path_set_default(&err) < 0)
		return builtin_fail(&err);
	/*
	 * If git-shell runs as a login shell, the name of the program starts
	 * with a dash.
	 */
	name += *name == '-';
	if (!strcmp(name, "gitreachd"))
		return run_server(argc, argv, tracing);
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
