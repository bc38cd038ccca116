/* SPDX-License-Identifier: MIT */
/*
 * Checks who owns a repository. The configuration and hooks of a repository can
 * start programs. So this program reads nothing from the repository of another
 * user, unless safe.directory allows it. safe.directory is read only from
 * configuration that the other user cannot write.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "config/config.h"
#include "repo/repo-internal.h"
#include "sys/io.h"

/* Finds the user who started sudo. Returns false if this is unknown. */
static bool sudo_uid(uint32_t *out)
{
	const char *text = getenv("SUDO_UID");
	unsigned long uid;
	char *end;

	if (!text || !*text)
		return false;
	errno = 0;
	uid = strtoul(text, &end, 10);
	if (errno || *end || uid > UINT32_MAX)
		return false;
	*out = (uint32_t)uid;
	return true;
}

/*
 * Returns whether the user of this process owns the file. For a symlink, the
 * owner of the symlink itself counts.
 */
static bool is_ours(const char *path)
{
	struct sys_stat st;
	uint32_t euid = sys_euid(), sudo;

	if (!path)
		return true;
	if (sys_lstat(&st, path, NULL) < 0)
		return false;
	return st.uid == euid || (!euid && sudo_uid(&sudo) && st.uid == sudo);
}

/* The state of reading safe.directory. */
struct safe {
	/* owned: path of the repository with symlinks resolved, or NULL */
	char *real;
	bool allowed;
};

/*
 * Returns whether the real path of the repository is below the directory `dir`.
 */
static bool lies_below(const struct safe *safe, const char *dir)
{
	char *real = sys_realpath(dir, NULL);
	size_t len = real ? strlen(real) : 0;
	bool below = real && !strncmp(real, safe->real, len) &&
		     (safe->real[len] == '/' || !strcmp(real, "/"));

	free(real);
	return below;
}

/*
 * Returns whether `dir`, a value of safe.directory, stands for the repository.
 * A `dir` that ends in a slash and an asterisk matches all repositories below
 * it. A relative path never matches, except ".", which stands for the current
 * directory.
 */
static bool names_place(const struct safe *safe, char *dir)
{
	size_t len = strlen(dir);
	char *real;
	bool same;

	if ((*dir != '/' && strcmp(dir, ".")) || !safe->real)
		return false;
	if (len >= 2 && dir[len - 2] == '/' && dir[len - 1] == '*') {
		dir[len - 1] = '\0';
		return lies_below(safe, dir);
	}
	real = sys_realpath(dir, NULL);
	same = real && !strcmp(real, safe->real);
	free(real);
	return same;
}

static int note_safe(void *ctx, const struct config_entry *entry)
{
	struct safe *safe = ctx;
	char *dir;

	if (!entry->value || !*entry->value) {
		safe->allowed = false;
	} else if (!strcmp(entry->value, "*")) {
		safe->allowed = true;
	} else {
		dir = config_expand_path(entry->value);
		if (dir && names_place(safe, dir))
			safe->allowed = true;
		free(dir);
	}
	return 0;
}

static int load_protected(struct config *config, struct error *err)
{
	struct config_sources sources = {.protected_only = true};

	return config_load(config, &sources, err);
}

static int is_allowed(const char *path, struct error *err)
{
	struct config config = CONFIG_INIT;
	struct safe safe = {sys_realpath(path, NULL), false};
	int ret = load_protected(&config, err);

	if (!ret) {
		config_each(&config, "safe.directory", note_safe, &safe);
		ret = safe.allowed;
	}
	config_release(&config);
	free(safe.real);
	return ret;
}

/*
 * Appends `path` for a shell, in quotes if necessary. Returns 0 or ERR_NOMEM.
 */
static int append_quoted(struct buf *out, const char *path)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
				    "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789/.,_-+=:@%^";
	int ret = 0;

	if (*path && !path[strspn(path, plain)])
		return buf_append_str(out, path);
	ret |= buf_append_char(out, '\'');
	for (; *path; path++) {
		if (*path == '\'' || *path == '!')
			ret |= buf_printf(out, "'\\%c'", *path);
		else
			ret |= buf_append_char(out, *path);
	}
	ret |= buf_append_char(out, '\'');
	return ret ? ERR_NOMEM : 0;
}

static int refuse(const char *path, struct error *err)
{
	struct buf quoted = BUF_INIT;
	int ret = append_quoted(&quoted, path);

	if (ret < 0)
		error_nomem(err);
	else
		ret = error_set(err, ERR_DENIED,
				"detected dubious ownership in repository at "
				"'%s'\n"
				"To trust this directory whoever owns it, "
				"run:\n\n"
				"\tgit config --global --add safe.directory %s",
				path, quoted.data);
	buf_release(&quoted);
	return ret;
}

int repo_check_owner(const struct repo_place *place, struct error *err)
{
	const char *path = place->worktree ? place->worktree : place->git_dir;
	int ret = config_env_bool("GIT_TEST_ASSUME_DIFFERENT_OWNER", false,
				  err);

	if (ret < 0)
		return ret;
	if (!ret && is_ours(place->gitfile) && is_ours(place->worktree) &&
	    is_ours(place->git_dir))
		return 0;
	ret = is_allowed(path, err);
	if (ret)
		return ret < 0 ? ret : 0;
	return refuse(path, err);
}

int repo_check_bare(const struct repo_place *place, struct error *err)
{
	struct config config = CONFIG_INIT;
	const char *value;
	int ret = load_protected(&config, err);

	if (ret < 0)
		return ret;
	value = config_string(&config, "safe.barerepository");
	if (value && !strcmp(value, "explicit"))
		ret = error_set(err, ERR_DENIED,
				"cannot use bare repository '%s' "
				"(safe.bareRepository is 'explicit')",
				place->git_dir);
	else if (value && strcmp(value, "all"))
		ret = error_set(err, ERR_INVALID,
				"bad config variable 'safe.barerepository'");
	config_release(&config);
	return ret;
}
