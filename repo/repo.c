/* SPDX-License-Identifier: MIT */
/* Opens a repository: finds it, checks it, and reads its configuration. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "config/config.h"
#include "repo/repo-internal.h"
#include "sys/io.h"
#include "sys/share.h"

/*
 * Uses the git directory that the user named by --git-dir or GIT_DIR. Returns 0
 * or a negative error code.
 */
static int take_explicit(struct repo_place *place, const char *path,
			 struct error *err)
{
	struct sys_stat st;
	int ret;

	place->kind = REPO_PLACE_EXPLICIT;
	if (!sys_stat(&st, path, NULL) && st.is_file) {
		ret = repo_read_gitfile(&place->git_dir, path, err);
		if (ret < 0)
			return ret;
		place->gitfile = mem_strdup(path);
		return place->gitfile ? 0 : error_nomem(err);
	}
	ret = repo_is_git_dir(path, err);
	if (ret < 0)
		return ret;
	if (!ret)
		return error_set(err, ERR_MISSING, "not a git repository: '%s'",
				 path);
	place->git_dir = mem_strdup(path);
	return place->git_dir ? 0 : error_nomem(err);
}

static int find_place(struct repo_place *place,
		      const struct repo_options *options, struct error *err)
{
	const char *start = options->path ? options->path : ".";
	const char *git_dir = options->git_dir;
	unsigned flags = options->flags;
	int ret;

	if (flags & (REPO_OPEN_ENTER | REPO_OPEN_EXACT)) {
		ret = repo_enter(place, start, flags & REPO_OPEN_EXACT, err);
	} else {
		if (!git_dir)
			git_dir = getenv("GIT_DIR");
		if (git_dir)
			return take_explicit(place, git_dir, err);
		ret = repo_discover(place, start, err);
	}
	if (!ret && !(flags & REPO_OPEN_NO_OWNER))
		ret = repo_check_owner(place, err);
	if (!ret && place->kind == REPO_PLACE_BARE)
		ret = repo_check_bare(place, err);
	return ret;
}

static int set_dirs(struct repo *repo, const struct repo_place *place,
		    struct error *err)
{
	const char *objects = getenv("GIT_OBJECT_DIRECTORY");
	const char *alternates = getenv("GIT_ALTERNATE_OBJECT_DIRECTORIES");
	char *common;
	bool is_main;
	int ret = repo_read_common_dir(&common, place->git_dir, err);

	if (ret < 0)
		return ret;
	repo->common_dir = sys_realpath(common, err);
	is_main = !strcmp(common, place->git_dir);
	free(common);
	if (!repo->common_dir)
		return error_recorded(err, ERR_IO);
	repo->git_dir = is_main ? mem_strdup(repo->common_dir)
				: sys_realpath(place->git_dir, err);
	if (!repo->git_dir)
		return is_main ? error_nomem(err) : error_recorded(err, ERR_IO);
	repo->object_dir = objects ? repo_absolute_path(objects, err)
				   : repo_common_path(repo, "objects");
	repo->in_quarantine = getenv("GIT_QUARANTINE_PATH") != NULL;
	if (alternates)
		repo->alternate_object_dirs = mem_strdup(alternates);
	if (!repo->object_dir || (alternates && !repo->alternate_object_dirs))
		return error_nomem(err);
	return 0;
}

static char *current_branch(void *ctx)
{
	return repo_current_branch(ctx);
}

static int load_config(struct repo *repo, const struct repo_place *place,
		       const struct repo_options *options, struct error *err)
{
	struct config_sources sources = {
		.common_dir = repo->common_dir,
		.look = options->look,
		.look_ctx = options->look_ctx,
		.branch = current_branch,
		.branch_ctx = repo,
	};
	char *git_dir = repo_absolute_path(place->git_dir, err);
	int ret;

	/*
	 * The path is used as the user has typed it, because a condition
	 * includeIf.gitdir may match this form of the path.
	 */
	if (!git_dir)
		return error_recorded(err, ERR_IO);
	sources.git_dir = git_dir;
	ret = config_load(&repo->config, &sources, err);
	free(git_dir);
	return ret;
}

/*
 * Sets the work tree to the value of core.worktree, a path relative to the git
 * directory. Returns 0 or a negative error code.
 */
static int set_configured(struct repo *repo, const struct config *own,
			  struct error *err)
{
	const char *value = config_find(own, "core.worktree")->value;
	char *path;

	if (!value)
		return error_set(err, ERR_INVALID,
				 "missing value for 'core.worktree'");
	path = *value == '/' ? mem_strdup(value)
			     : repo_join_path(repo->git_dir, value);
	if (!path)
		return error_nomem(err);
	repo->worktree = *value ? sys_realpath(path, NULL) : NULL;
	free(path);
	if (repo->worktree)
		return 0;
	return error_set(err, ERR_MISSING, "cannot chdir to '%s': %s", value,
			 strerror(ENOENT));
}

/*
 * Sets the work tree to `path`, which comes from GIT_WORK_TREE or from the
 * search for a repository. The directory need not exist. Returns 0 or
 * ERR_NOMEM.
 */
static int set_worktree(struct repo *repo, const char *path, struct error *err)
{
	repo->worktree = sys_realpath(path, NULL);
	if (!repo->worktree)
		repo->worktree = repo_absolute_path(path, err);
	return repo->worktree ? 0 : ERR_NOMEM;
}

/*
 * Sets *out to the value of core.bare, as 1 or 0, or to -1 if the variable is
 * not set. Sets *out to 0 in a linked work tree: it shares the configuration of
 * the main work tree, so core.bare does not apply to it. Returns 0 or
 * ERR_INVALID.
 */
static int is_bare(int *out, const struct repo *repo,
		   const struct repo_place *place, const struct config *own,
		   struct error *err)
{
	bool linked = strcmp(repo->git_dir, repo->common_dir) != 0;
	bool bare;
	int ret = config_bool(own, "core.bare", &bare, err);

	if (ret < 0)
		return ret;
	if (linked && place->kind != REPO_PLACE_BARE)
		*out = 0;
	else
		*out = ret ? bare : -1;
	return 0;
}

/*
 * Determines the path of the work tree, or that the repository has none.
 * Returns 0 or a negative error code.
 */
static int choose_worktree(struct repo *repo, const struct repo_place *place,
			   const struct config *own, struct error *err)
{
	const char *env = getenv("GIT_WORK_TREE");
	int bare;
	int ret = is_bare(&bare, repo, place, own, err);

	if (ret < 0)
		return ret;
	repo->is_bare = bare > 0;
	if (place->kind == REPO_PLACE_ENTERED)
		return 0;
	if (env) {
		repo->is_bare = false;
		repo->worktree_is_set = true;
		return set_worktree(repo, env, err);
	}
	if (bare > 0)
		return 0;
	repo->worktree_is_set = true;
	if (config_find(own, "core.worktree"))
		return set_configured(repo, own, err);
	if (place->kind == REPO_PLACE_EXPLICIT) {
		ret = config_env_bool("GIT_IMPLICIT_WORK_TREE", true, err);
		return ret > 0 ? set_worktree(repo, ".", err) : ret;
	}
	repo->worktree_is_set = false;
	if (place->worktree)
		return set_worktree(repo, place->worktree, err);
	repo->is_bare = bare < 0;
	return 0;
}

/*
 * `path` is a directory for refs. Checks that its parent directory exists.
 * Without this check, all refs would seem to be absent. Returns 0, ERR_MISSING
 * if the parent does not exist, or ERR_NOMEM.
 */
static int check_parent(const char *path, struct error *err)
{
	char *parent = sys_parent(path);
	int ret = 0;

	if (!parent)
		return error_nomem(err);
	if (!sys_exists(parent))
		ret = error_set(err, ERR_MISSING,
				"Invalid path '%s': No such file or directory",
				parent);
	free(parent);
	return ret;
}

/*
 * Sets repo->refs_dir and repo->refs_common_dir from `path`, the configured
 * directory of the refs. Returns 0 or a negative error code.
 */
static int set_refs_dirs(struct repo *repo, const char *path, struct error *err)
{
	const char *id = strrchr(repo->git_dir, '/');
	bool linked = strcmp(repo->git_dir, repo->common_dir) != 0;
	char *parent;

	repo->refs_common_dir = *path == '/' ? mem_strdup(path)
					     : repo_common_path(repo, path);
	if (!repo->refs_common_dir)
		return error_nomem(err);
	if (check_parent(repo->refs_common_dir, err) < 0)
		return ERR_MISSING;
	if (!linked) {
		repo->refs_dir = mem_strdup(repo->refs_common_dir);
	} else {
		parent = repo_refs_common_path(repo, "worktrees");
		repo->refs_dir = parent ? repo_join(parent, id) : NULL;
		free(parent);
	}
	return repo->refs_dir ? 0 : error_nomem(err);
}

/*
 * Sets the storage format and the directories of the refs.
 * GIT_REFERENCE_BACKEND overrides `format`. As in stock Git, the variable has
 * no effect if the repository was opened by a path that the user or a client
 * named (REPO_PLACE_ENTERED). Returns 0 or a negative error code.
 */
static int set_ref_storage(struct repo *repo, const struct repo_place *place,
			   const struct repo_format *format, struct error *err)
{
	const char *env = place->kind == REPO_PLACE_ENTERED
				  ? NULL
				  : getenv("GIT_REFERENCE_BACKEND");
	const char *path = format->refs_path;
	size_t name_len;

	repo->ref_storage = format->ref_storage;
	if (env &&
	    !repo_ref_storage_parse(&repo->ref_storage, &path, &name_len, env))
		return error_set(err, ERR_INVALID,
				 "unknown ref storage format: '%.*s'",
				 (int)name_len, env);
	return path && *path ? set_refs_dirs(repo, path, err) : 0;
}

/*
 * Reads the repository's own configuration into *own, and the format from it.
 * Returns 0 or a negative error code.
 */
static int read_format(struct repo *repo, const struct repo_place *place,
		       struct config *own, struct error *err)
{
	struct repo_format format;
	char *path;
	int ret = repo_read_format(&format, own, repo->common_dir, err);

	if (ret < 0)
		return ret;
	repo->algo = format.algo;
	ret = set_ref_storage(repo, place, &format, err);
	if (ret < 0)
		return ret;
	repo->format_version = format.version > 0;
	repo->has_promisor = format.has_promisor;
	if (format.version < 0)
		config_release(own);
	if (!format.worktree_config)
		return 0;
	path = repo_join_path(repo->git_dir, "config.worktree");
	ret = path ? config_load_plain(own, path, err) : error_nomem(err);
	free(path);
	return ret == ERR_MISSING ? 0 : ret;
}

static int find_promisor(void *ctx, const struct config_entry *entry)
{
	const char *dot = strrchr(entry->key, '.');

	if (dot && !strcmp(dot, ".partialclonefilter"))
		return 1;
	return dot && !strcmp(dot, ".promisor") &&
	       config_parse_bool(entry->value) > 0;
}

static int load_lockfile_pid(struct repo *repo, struct error *err)
{
	bool wanted = false;
	int ret = config_bool(&repo->config, "core.lockfilepid", &wanted, err);

	if (wanted)
		repo->share |= SYS_SHARE_PID;
	return ret < 0 ? ret : 0;
}

/* Fills in all fields of the repository. Returns 0 or a negative error code. */
static int fill_repo(struct repo *repo, const struct repo_place *place,
		     const struct repo_options *options, struct error *err)
{
	struct config own = CONFIG_INIT;
	int ret = set_dirs(repo, place, err);

	if (!ret)
		ret = read_format(repo, place, &own, err);
	if (!ret)
		ret = load_config(repo, place, options, err);
	if (!ret && config_each(&repo->config, "remote.", find_promisor, NULL))
		repo->has_promisor = true;
	if (!ret)
		ret = repo_share_load(&repo->share, &repo->config, err);
	if (!ret)
		ret = load_lockfile_pid(repo, err);
	if (!ret)
		ret = choose_worktree(repo, place, &own, err);
	config_release(&own);
	return ret;
}

int repo_open(struct repo **out, const struct repo_options *options,
	      struct error *err)
{
	struct repo_place place = {0};
	struct repo *repo = mem_calloc(1, sizeof(*repo));
	int ret;

	*out = NULL;
	if (!repo)
		return error_nomem(err);
	ret = find_place(&place, options, err);
	if (!ret)
		ret = fill_repo(repo, &place, options, err);
	repo_place_release(&place);
	if (ret < 0) {
		repo_close(repo);
		return ret;
	}
	*out = repo;
	return 0;
}

void repo_close(struct repo *repo)
{
	if (!repo)
		return;
	free(repo->git_dir);
	free(repo->common_dir);
	free(repo->refs_dir);
	free(repo->refs_common_dir);
	free(repo->object_dir);
	free(repo->alternate_object_dirs);
	free(repo->worktree);
	config_release(&repo->config);
	free(repo);
}

char *repo_common_path(const struct repo *repo, const char *name)
{
	return repo_join_path(repo->common_dir, name);
}

char *repo_refs_common_path(const struct repo *repo, const char *name)
{
	return repo_join_path(repo_refs_common_dir(repo), name);
}

char *repo_object_path(const struct repo *repo, const char *name)
{
	return repo_join_path(repo->object_dir, name);
}

int repo_check_quarantine(const struct repo *repo, struct error *err)
{
	return repo->in_quarantine
		       ? error_set(err, ERR_DENIED,
				   "ref updates forbidden inside quarantine "
				   "environment")
		       : 0;
}

int repo_check_copy(const struct repo *repo, const char *what,
		    struct error *err)
{
	struct error why = ERROR_INIT;
	struct sys_stat st;
	char *marker;
	int ret;

	if (repo->ref_storage != REPO_REFS_REFTABLE)
		return 0;
	marker = repo_common_path(repo, REPO_COPY_MARKER);
	if (!marker)
		return error_nomem(err);
	ret = sys_stat(&st, marker, &why);
	free(marker);
	if (ret == ERR_MISSING)
		return 0;
	if (ret)
		return error_set(err, ret, "%s", why.msg);
	return error_set(err, ERR_DENIED,
			 "cannot %s: this is a local copy of a repository in a "
			 "store, and only pushes may change it",
			 what);
}

int repo_check_precious(const struct repo *repo, const char *what,
			struct error *err)
{
	bool precious = false;

	if (config_bool(&repo->config, "extensions.preciousobjects", &precious,
			err) < 0)
		return ERR_INVALID;
	return precious
		       ? error_set(err, ERR_DENIED,
				   "cannot %s in a precious-objects repo", what)
		       : 0;
}

#define THREADS_MAX 1024

unsigned repo_threads(const struct repo *repo)
{
	uint64_t threads = 0;

	if (config_u64(&repo->config, "pack.threads", &threads, NULL) < 0)
		return 0;
	return threads < THREADS_MAX ? (unsigned)threads : THREADS_MAX;
}
