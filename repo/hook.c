/* SPDX-License-Identifier: MIT */
/* Finds hooks and runs them. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/affix.h"
#include "base/buf.h"
#include "base/mem.h"
#include "repo/hook.h"
#include "sys/io.h"

/* ---- hooks that are programs in the hooks directory */

static const char hooks_path[] = "core.hookspath";

/*
 * If `dir`, the directory in which the hook runs, is the repository or its work
 * tree, makes the path of the hook relative to `dir`. The path appears in error
 * messages, and clients of a server should not see the server's directories.
 */
static void shorten(char *path, const struct repo *repo, const char *dir)
{
	char *here = sys_realpath(dir ? dir : ".", NULL);
	size_t len = here ? strlen(here) : 0;

	if (here && starts_with(path, here) && path[len] == '/' &&
	    (!strcmp(here, repo->common_dir) ||
	     (repo->worktree && !strcmp(here, repo->worktree))))
		memmove(path, path + len + 1, strlen(path + len + 1) + 1);
	free(here);
}

int repo_hooks_path(char **dir, const struct repo *repo, const char *where,
		    struct error *err)
{
	const struct config_entry *entry = NULL;
	int ret;

	*dir = NULL;
	for (size_t i = 0; i < repo->config.nr; i++) {
		if (strcmp(repo->config.entries[i].key, hooks_path) != 0)
			continue;
		entry = &repo->config.entries[i];
		if (!entry->value)
			return error_set(err, ERR_INVALID,
					 "missing value for '%s'", hooks_path);
	}
	if (!entry)
		return 0;
	ret = config_path(dir, entry->value, where);
	return ret < 0 ? error_set(err, ret,
				   "failed to expand user dir in: '%s'",
				   entry->value)
		       : ret;
}

/*
 * Appends the path of the directory with the hooks. A relative path starts in
 * `where`, the directory in which the hooks run. If `where` is NULL, the hooks
 * run in the working directory. Returns 0 or a negative error code.
 */
static int name_dir(struct buf *out, const struct repo *repo, const char *where,
		    struct error *err)
{
	char *dir;
	int ret = repo_hooks_path(&dir, repo, where, err);

	if (ret < 0)
		return ret;
	if (!ret) {
		dir = repo_common_path(repo, "hooks");
		if (!dir)
			return error_nomem(err);
		shorten(dir, repo, where);
	}
	ret = buf_append_str(out, dir);
	free(dir);
	return ret < 0 ? error_nomem(err) : 0;
}

int repo_hooks_check_path(const struct repo *repo, struct error *err)
{
	char *dir;
	int ret = repo_hooks_path(&dir, repo, NULL, err);

	free(dir);
	return ret < 0 ? ret : 0;
}

/*
 * Shows advice to the user. If the caller supplied runner->advice to remember
 * advice, the same text is shown only once.
 */
static void advise(const struct hook_runner *runner, const char *text)
{
	struct buf *given = runner->advice;

	if (!runner->advise ||
	    (given && given->len && strstr(given->data, text)))
		return;
	runner->advise(runner->ctx, text);
	if (given)
		buf_append_str(given, text);
}

static int advise_ignored(const struct hook_runner *runner,
			  const struct repo *repo, const char *path)
{
	struct buf text = BUF_INIT;
	bool wanted = true;
	int ret;

	if (config_bool(&repo->config, "advice.ignoredhook", &wanted, NULL) >=
		    0 &&
	    !wanted)
		return 0;
	ret = buf_printf(&text,
			 "hint: The '%s' hook was ignored because it's not set "
			 "as executable.\n"
			 "hint: You can disable this warning with `git config "
			 "set advice.ignoredHook false`.\n",
			 path);
	if (!ret)
		advise(runner, text.data);
	buf_release(&text);
	return ret;
}

/*
 * Returns 1 if this process may execute the file at `path`, ERR_DENIED if it
 * may not, 0 if there is no such file, or ERR_NOMEM. A relative path starts in
 * `dir`.
 */
static int look_at(const char *path, const char *dir)
{
	struct buf full = BUF_INIT;
	int ret = 0;

	if (dir && *path != '/')
		ret = buf_printf(&full, "%s/", dir);
	if (!ret)
		ret = buf_append_str(&full, path);
	if (!ret)
		ret = sys_may_execute(full.data);
	buf_release(&full);
	return ret;
}

int repo_hook_find(char **path, const struct repo *repo, const char *name,
		   const struct hook_runner *runner, struct error *err)
{
	struct buf b = BUF_INIT;
	int ret = name_dir(&b, repo, runner->dir, err);

	*path = NULL;
	if (!ret && buf_printf(&b, "/%s", name) < 0)
		ret = error_nomem(err);
	if (!ret)
		ret = look_at(b.data, runner->dir);
	if (ret == ERR_DENIED)
		ret = advise_ignored(runner, repo, b.data);
	if (ret == ERR_NOMEM)
		error_nomem(err);
	if (ret > 0)
		*path = buf_detach(&b, NULL);
	buf_release(&b);
	return ret;
}

/* ---- hooks that are commands in the configuration */

/*
 * The events of githooks(5). A configured hook (hook.<name>.*) must not have
 * one of these names.
 */
static const char *const events[] = {
	"applypatch-msg",
	"commit-msg",
	"fsmonitor-watchman",
	"p4-changelist",
	"p4-post-changelist",
	"p4-pre-submit",
	"p4-prepare-changelist",
	"post-applypatch",
	"post-checkout",
	"post-commit",
	"post-index-change",
	"post-merge",
	"post-receive",
	"post-rewrite",
	"post-update",
	"pre-applypatch",
	"pre-auto-gc",
	"pre-commit",
	"pre-merge-commit",
	"pre-push",
	"pre-rebase",
	"pre-receive",
	"prepare-commit-msg",
	"proc-receive",
	"push-to-checkout",
	"reference-transaction",
	"sendemail-validate",
	"update",
};

/* The name of a configured hook. It points into a key of the configuration. */
struct hook_name {
	const char *p;
	size_t len;
	/* true: the hook is configured for the event that runs now */
	bool is_listed;
};

/* All configured hooks. The hooks for `event` are marked by is_listed. */
struct listing {
	const struct repo *repo;
	const struct hook_runner *runner;
	const char *event;
	struct hook_name *names; /* owned */
	size_t nr, alloc;
	struct error *err;
};

static bool name_is(const struct hook_name *name, const char *s, size_t len)
{
	return name->len == len && !memcmp(name->p, s, len);
}

static int refuse_event(const struct hook_name *name, struct error *err)
{
	for (size_t i = 0; i < ARRAY_NR(events); i++)
		if (name_is(name, events[i], strlen(events[i])))
			return error_set(
				err, ERR_INVALID,
				"hook friendly-name '%s' collides with a "
				"known event name; please choose a different "
				"friendly-name",
				events[i]);
	return 0;
}

/*
 * If `key` is "hook.<name>.<variable>", sets *name to the name of the hook and
 * returns true. Returns false for another key.
 */
static bool is_key(struct hook_name *name, const char *key,
		   const char *variable)
{
	static const char first[] = "hook.";
	const char *last = strrchr(key, '.');

	if (last < key + sizeof(first) - 1 || strcmp(last + 1, variable) != 0)
		return false;
	*name = (struct hook_name){key + sizeof(first) - 1,
				   (size_t)(last - key) - (sizeof(first) - 1),
				   false};
	return true;
}

/*
 * Refuses a key "hook.<name>.<variable>" that has no value, whatever the
 * variable. Returns 0 or ERR_INVALID.
 */
static int check_value(const struct config_entry *entry, struct error *err)
{
	const char *variable = strrchr(entry->key, '.') + 1;
	struct hook_name name;

	if (entry->value || !is_key(&name, entry->key, variable))
		return 0;
	return error_set(err, ERR_INVALID, "missing value for '%s'",
			 entry->key);
}

static void forget(struct listing *list, size_t i)
{
	memmove(&list->names[i], &list->names[i + 1],
		(list->nr - i - 1) * sizeof(*list->names));
	list->nr--;
}

static int take_event(void *ctx, const struct config_entry *entry)
{
	struct listing *list = ctx;
	const char *value = entry->value;
	struct hook_name name;
	size_t i = 0;
	int ret = check_value(entry, list->err);

	if (ret < 0 || !is_key(&name, entry->key, "event"))
		return ret;
	while (i < list->nr && !name_is(&list->names[i], name.p, name.len))
		i++;
	if (!*value) {
		if (i < list->nr)
			forget(list, i);
		return 0;
	}
	ret = refuse_event(&name, list->err);
	if (ret < 0)
		return ret;
	if (i == list->nr) {
		if (mem_grow(&list->names, &list->alloc, list->nr + 1,
			     sizeof(*list->names)) < 0)
			return error_nomem(list->err);
		list->names[list->nr++] = name;
	}
	list->names[i].is_listed |= !strcmp(value, list->event);
	return 0;
}

/*
 * Looks up the key hook.<name>.<variable>. Sets *value to the last value of the
 * key, or to NULL if the key is not set. Returns 0 or ERR_NOMEM.
 */
static int look_up(const char **value, const struct repo *repo,
		   const struct hook_name *name, const char *variable)
{
	struct buf key = BUF_INIT;
	int ret = buf_printf(&key, "hook.%.*s.%s", (int)name->len, name->p,
			     variable);

	*value = ret ? NULL : config_string(&repo->config, key.data);
	buf_release(&key);
	return ret;
}

/*
 * Returns whether a configured hook is enabled. As in Git, the last value that
 * is a boolean counts, and other values are ignored.
 */
static bool is_enabled(const struct repo *repo, const struct hook_name *name)
{
	bool enabled = true;

	for (size_t i = 0; i < repo->config.nr; i++) {
		const struct config_entry *entry = &repo->config.entries[i];
		struct hook_name other;
		int value;

		if (!entry->value || !starts_with(entry->key, "hook.") ||
		    !is_key(&other, entry->key, "enabled") ||
		    !name_is(&other, name->p, name->len))
			continue;
		value = config_parse_bool(entry->value);
		if (value >= 0)
			enabled = value;
	}
	return enabled;
}

static int warn_disabled(const struct listing *list,
			 const struct hook_name *name)
{
	struct buf text = BUF_INIT;
	int ret = buf_printf(&text,
			     "warning: disabled hook '%.*s' has no command "
			     "configured\n",
			     (int)name->len, name->p);

	if (!ret)
		advise(list->runner, text.data);
	buf_release(&text);
	return ret;
}

/*
 * Finds the command of a configured hook. Returns 1 with *command set, 0 if the
 * hook is disabled, or a negative error code.
 */
static int find_command(const char **command, const struct listing *list,
			const struct hook_name *name)
{
	int ret = is_enabled(list->repo, name);

	if (look_up(command, list->repo, name, "command") < 0)
		ret = ERR_NOMEM;
	if (!ret && !*command)
		ret = warn_disabled(list, name);
	if (ret < 0)
		return error_nomem(list->err);
	if (ret && !*command)
		return error_set(list->err, ERR_INVALID,
				 "'hook.%.*s.command' must be configured or "
				 "'hook.%.*s.event' must be removed; aborting.",
				 (int)name->len, name->p, (int)name->len,
				 name->p);
	return ret;
}

/* ---- both kinds */

/* The hooks of an event. */
struct hooks {
	/* owned array; the strings are borrowed from the configuration */
	const char **commands;
	size_t nr, alloc;
	/* owned: path of the program in the hooks directory, or NULL */
	char *path;
};

static void hooks_release(struct hooks *hooks)
{
	free(hooks->commands);
	free(hooks->path);
}

static int add_command(struct hooks *hooks, const char *command)
{
	if (mem_grow(&hooks->commands, &hooks->alloc, hooks->nr + 1,
		     sizeof(*hooks->commands)) < 0)
		return ERR_NOMEM;
	hooks->commands[hooks->nr++] = command;
	return 0;
}

/*
 * Lists the configured hooks of an event. All configured hooks are checked, so
 * an invalid hook is an error for every event. Returns 0 or a negative error
 * code.
 */
static int list_configured(struct hooks *hooks, const struct repo *repo,
			   const char *event, const struct hook_runner *runner,
			   struct error *err)
{
	const struct hook_name all = {event, strlen(event), true};
	struct listing list = {repo, runner, .event = event, .err = err};
	int ret = config_each(&repo->config, "hook.", take_event, &list);
	bool enabled = is_enabled(repo, &all);

	for (size_t i = 0; ret >= 0 && i < list.nr; i++) {
		const char *command = NULL;

		ret = find_command(&command, &list, &list.names[i]);
		if (ret > 0 && enabled && list.names[i].is_listed &&
		    add_command(hooks, command) < 0)
			ret = error_nomem(err);
	}
	free(list.names);
	return ret < 0 ? ret : 0;
}

/*
 * Lists all hooks of an event. The caller releases *hooks, also after an
 * error. Returns 0 or a negative error code.
 */
static int hooks_list(struct hooks *hooks, const struct repo *repo,
		      const char *event, const struct hook_runner *runner,
		      struct error *err)
{
	int ret;

	*hooks = (struct hooks){0};
	ret = list_configured(hooks, repo, event, runner, err);
	if (!ret)
		ret = repo_hook_find(&hooks->path, repo, event, runner, err);
	return ret < 0 ? ret : 0;
}

struct starter {
	const char *const *args;
	size_t arg_nr;
	const struct hook_runner *runner;
	/*
	 * memory for the complete command line: the words that start a shell,
	 * and the arguments of the hook
	 */
	const char **argv;
};

/*
 * s->argv has `nr` words already. Appends the arguments of the hook, and runs
 * the hook with the callback s->runner->run(), whose result is returned.
 */
static int start(const struct starter *s, size_t nr, const char *name,
		 struct error *err)
{
	const struct hook_program program = {s->argv, name};

	for (size_t i = 0; i < s->arg_nr; i++)
		s->argv[nr + i] = s->args[i];
	s->argv[nr + s->arg_nr] = NULL;
	return s->runner->run(s->runner->ctx, &program, err);
}

/*
 * Runs a configured hook. As in Git, a command without characters that are
 * special to a shell is run as a program. Any other command is run as: sh -c
 * '<command> "$@"' <command> <args>. If the hook has no arguments, "$@" is not
 * appended. The reason: if the command is 'check;', the shell would run an
 * empty "$@" after `check`. The exit code of an empty command is 0, so the hook
 * would succeed even if `check` fails. Returns the result of the callback
 * `run`, or ERR_NOMEM.
 */
static int start_command(const struct starter *s, const char *command,
			 struct error *err)
{
	struct buf script = BUF_INIT;
	int ret;

	s->argv[0] = command;
	if (!strpbrk(command, "\"#$%&'()*;<=>?[\\`|~ \t\n"))
		return start(s, 1, command, err);
	if (buf_printf(&script, "%s%s", command, s->arg_nr ? " \"$@\"" : "") <
	    0) {
		ret = error_nomem(err);
	} else {
		s->argv[0] = "sh";
		s->argv[1] = "-c";
		s->argv[2] = script.data;
		s->argv[3] = command;
		ret = start(s, 4, command, err);
	}
	buf_release(&script);
	return ret;
}

int repo_hooks_run(const struct repo *repo, const char *event,
		   const char *const *args, size_t arg_nr,
		   const struct hook_runner *runner, struct error *err)
{
	struct starter s = {args, arg_nr, runner, NULL};
	struct hooks hooks;
	int ret = hooks_list(&hooks, repo, event, runner, err), code = 0;

	if (ret < 0 || (!hooks.nr && !hooks.path))
		goto out;
	s.argv = mem_calloc(arg_nr + 5, sizeof(*s.argv));
	if (!s.argv)
		ret = error_nomem(err);
	for (size_t i = 0; ret >= 0 && i < hooks.nr; i++) {
		ret = start_command(&s, hooks.commands[i], err);
		code = ret ? ret : code;
	}
	if (ret >= 0 && hooks.path) {
		s.argv[0] = hooks.path;
		ret = start(&s, 1, hooks.path, err);
		code = ret ? ret : code;
	}
out:
	free(s.argv);
	hooks_release(&hooks);
	return ret < 0 ? ret : code;
}

int repo_hooks_has(const struct repo *repo, const char *event,
		   const struct hook_runner *runner, struct error *err)
{
	struct hooks hooks;
	int ret = hooks_list(&hooks, repo, event, runner, err);

	if (!ret)
		ret = hooks.nr || hooks.path;
	hooks_release(&hooks);
	return ret;
}

int repo_hook_describe_end(struct buf *out, const struct hook_program *program,
			   const struct sys_child *child)
{
	int ret;

	if (child->error_nr)
		ret = buf_printf(out,
				 strchr(program->argv[0], '/')
					 ? "fatal: cannot exec '%s': %s\n"
					 : "error: cannot run %s: %s\n",
				 program->name, strerror(child->error_nr));
	else if (child->signal_nr && child->signal_nr != SIGINT &&
		 child->signal_nr != SIGQUIT && child->signal_nr != SIGPIPE)
		ret = buf_printf(out, "error: %s died of signal %d\n",
				 program->name, child->signal_nr);
	else
		return 0;
	return ret < 0 ? ret : 1;
}
