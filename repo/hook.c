/* SPDX-License-Identifier: MIT */
/* Finds hooks and runs them. */
#include <stdlib.h>
#include <string.h>

#include "base/affix.h"
#include "base/buf.h"
#include "base/mem.h"
#include "repo/hook.h"
#include "sys/io.h"

/* ---- hooks that are programs in the hooks directory */

/*
 * Shortens a path below the repository or its work tree if that is the working
 * directory. Messages of a hook often have the path of the hook, and clients of
 * a server should not see the server's directories.
 */
static void shorten(char *path, const struct repo *repo)
{
	char *here = sys_realpath(".", NULL);
	size_t len = here ? strlen(here) : 0;

	if (here && starts_with(path, here) && path[len] == '/' &&
	    (!strcmp(here, repo->common_dir) ||
	     (repo->worktree && !strcmp(here, repo->worktree))))
		memmove(path, path + len + 1, strlen(path + len + 1) + 1);
	free(here);
}

static int name_dir(struct buf *out, const struct repo *repo)
{
	const char *value = config_string(&repo->config, "core.hookspath");
	char *dir = value ? config_expand_path(value)
			  : repo_common_path(repo, "hooks");
	int ret;

	if (dir && !value)
		shorten(dir, repo);
	ret = dir ? buf_append_str(out, dir) : ERR_NOMEM;
	free(dir);
	return ret;
}

int repo_hook_find(char **path, const struct repo *repo, const char *name,
		   struct error *err)
{
	struct buf b = BUF_INIT;
	struct sys_stat st;

	*path = NULL;
	if (name_dir(&b, repo) < 0 || buf_printf(&b, "/%s", name) < 0) {
		buf_release(&b);
		return error_nomem(err);
	}
	if (sys_stat(&st, b.data, NULL) < 0 || !st.is_file ||
	    !(st.mode & 0111)) {
		buf_release(&b);
		return 0;
	}
	*path = buf_detach(&b, NULL);
	return 1;
}

/* ---- hooks that are commands in the configuration */

/*
 * The events of githooks(5). A configured hook (hook.<name>.*) may not have one
 * of these names.
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
				"known event name",
				events[i]);
	return 0;
}

/*
 * If `key` is "hook.<name>.event", sets *name to the name of the hook and
 * returns true. Returns false for another key.
 */
static bool is_event_key(struct hook_name *name, const char *key)
{
	static const char first[] = "hook.", last[] = ".event";
	size_t len = strlen(key), around = sizeof(first) + sizeof(last) - 2;

	if (len < around || strcmp(key + len - sizeof(last) + 1, last) != 0)
		return false;
	*name = (struct hook_name){key + sizeof(first) - 1, len - around,
				   false};
	return true;
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
	const char *value = entry->value ? entry->value : "";
	struct hook_name name;
	size_t i = 0;
	int ret;

	if (!is_event_key(&name, entry->key))
		return 0;
	ret = refuse_event(&name, list->err);
	if (ret < 0)
		return ret;
	while (i < list->nr && !name_is(&list->names[i], name.p, name.len))
		i++;
	if (!*value) {
		if (i < list->nr)
			forget(list, i);
		return 0;
	}
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
 * Looks up hook.<name>.<variable>. Sets *value to its last value, or to NULL if
 * it is not set. Returns 0 or ERR_NOMEM.
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
 * Returns 1 if a configured hook is enabled, 0 if not, or ERR_NOMEM. As in Git,
 * only a valid false value disables a hook.
 */
static int is_enabled(const struct repo *repo, const struct hook_name *name)
{
	const char *value;
	int ret = look_up(&value, repo, name, "enabled");

	if (ret < 0)
		return ret;
	return !value || config_parse_bool(value) != 0;
}

/*
 * Finds the command of a configured hook. Returns 1 with *command set, 0 if the
 * hook is disabled, or a negative error code.
 */
static int find_command(const char **command, const struct repo *repo,
			const struct hook_name *name, struct error *err)
{
	int ret = is_enabled(repo, name);

	if (ret > 0 && look_up(command, repo, name, "command") < 0)
		ret = ERR_NOMEM;
	if (ret < 0)
		return error_nomem(err);
	if (ret && !*command)
		return error_set(err, ERR_INVALID,
				 "'hook.%.*s.command' must be configured or "
				 "'hook.%.*s.event' must be removed; aborting.",
				 (int)name->len, name->p, (int)name->len,
				 name->p);
	if (ret && !**command)
		return error_set(err, ERR_INVALID,
				 "'hook.%.*s.command' is empty", (int)name->len,
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
			   const char *event, struct error *err)
{
	const struct hook_name all = {event, strlen(event), true};
	struct listing list = {.event = event, .err = err};
	int ret = config_each(&repo->config, "hook.", take_event, &list);
	int enabled = is_enabled(repo, &all);

	if (enabled < 0)
		ret = error_nomem(err);
	for (size_t i = 0; ret >= 0 && i < list.nr; i++) {
		const char *command = NULL;

		ret = find_command(&command, repo, &list.names[i], err);
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
		      const char *event, struct error *err)
{
	int ret;

	*hooks = (struct hooks){0};
	ret = list_configured(hooks, repo, event, err);
	if (!ret)
		ret = repo_hook_find(&hooks->path, repo, event, err);
	return ret < 0 ? ret : 0;
}

struct starter {
	const char *const *args;
	size_t arg_nr;
	int (*run)(void *ctx, const char *const *argv, struct error *err);
	void *ctx;
	/*
	 * array with room for the words that start a shell and the hook's
	 * arguments
	 */
	const char **argv;
};

/*
 * Appends the arguments of the hook to the first `nr` elements of argv, and
 * runs the hook. Returns the result of the callback `run`.
 */
static int start(const struct starter *s, size_t nr, struct error *err)
{
	for (size_t i = 0; i < s->arg_nr; i++)
		s->argv[nr + i] = s->args[i];
	s->argv[nr + s->arg_nr] = NULL;
	return s->run(s->ctx, s->argv, err);
}

/*
 * Runs a configured hook by: sh -c '<command> "$@"' <command> <args>. Returns
 * the result of the callback `run`, or ERR_NOMEM.
 */
static int start_command(const struct starter *s, const char *command,
			 struct error *err)
{
	struct buf script = BUF_INIT;
	int ret;

	if (buf_printf(&script, "%s \"$@\"", command) < 0) {
		ret = error_nomem(err);
	} else {
		s->argv[0] = "sh";
		s->argv[1] = "-c";
		s->argv[2] = script.data;
		s->argv[3] = command;
		ret = start(s, 4, err);
	}
	buf_release(&script);
	return ret;
}

int repo_hooks_run(const struct repo *repo, const char *event,
		   const char *const *args, size_t arg_nr,
		   int (*run)(void *ctx, const char *const *argv,
			      struct error *err),
		   void *ctx, struct error *err)
{
	struct starter s = {args, arg_nr, run, ctx, NULL};
	struct hooks hooks;
	int ret = hooks_list(&hooks, repo, event, err), code = 0;

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
		ret = start(&s, 1, err);
		code = ret ? ret : code;
	}
out:
	free(s.argv);
	hooks_release(&hooks);
	return ret < 0 ? ret : code;
}

int repo_hooks_has(const struct repo *repo, const char *event,
		   struct error *err)
{
	struct hooks hooks;
	int ret = hooks_list(&hooks, repo, event, err);

	if (!ret)
		ret = hooks.nr || hooks.path;
	hooks_release(&hooks);
	return ret;
}
