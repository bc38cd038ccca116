/* SPDX-License-Identifier: MIT */
/*
 * The options before the command's name, applied to the directory and the
 * environment.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "builtin/builtin.h"
#include "builtin/global.h"

/* Options that set a variable to a constant. */
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

/* Options whose argument becomes a variable's value. */
static const struct {
	const char *option, *variable;
	/* only --x=<value>, not --x <value> */
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

/* Append a word in quotes, as in GIT_CONFIG_PARAMETERS. */
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
 * Append 'key'='value', or 'key'= for a key without value, to
 * GIT_CONFIG_PARAMETERS.
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

/* Apply <key>=<variable>. The key may contain '='. */
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

/* ---- options that are more than a variable */

static int change_dir(const char *dir)
{
	if (*dir && chdir(dir) < 0)
		return builtin_die("cannot change to '%s': %s", dir,
				   strerror(errno));
	return 0;
}

/*
 * Apply --bare: the git directory is the current one unless GIT_DIR is set, and
 * there is no work tree.
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
 * If the word at *next is `option`, returns its argument and moves *next past
 * it. The argument follows '=', or is the next word unless attached_only.
 * Returns NULL if the word is another one, or if the argument is missing.
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
 * Returns 1 if the word was applied, 0 if it is another option, or a negative
 * exit code.
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

/* Returns as apply_variable(). */
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

/* Returns why the loop ends at `word`, which is argv[next]. */
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

bool global_takes_value(const char *option)
{
	if (!strcmp(option, "-C") || !strcmp(option, "-c") ||
	    !strcmp(option, "--config-env"))
		return true;
	for (size_t i = 0; i < ARRAY_NR(settings); i++)
		if (!strcmp(option, settings[i].option))
			return true;
	return false;
}

void global_apply(struct global *g, int argc, const char *const *argv)
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
