/* SPDX-License-Identifier: MIT */
/* Making a repository. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "config/config.h"
#include "reftable/append.h"
#include "repo/repo-internal.h"
#include "sys/io.h"
#include "sys/map.h"
#include "sys/share.h"
#include "sys/tempfile.h"

/* The state while a repository is created or completed. */
struct init {
	const char *git_dir;                     /* borrowed */
	const struct repo_init_options *options; /* borrowed */
	/* owned: the variables of the existing config file */
	struct config config;
	/* format that the config file describes */
	struct repo_format format;
	enum hash_algo algo;
	enum repo_ref_storage ref_storage;
	/*
	 * true: the refs are in another directory, where they exist already and
	 * stay unchanged
	 */
	bool refs_elsewhere;
	/*
	 * true: the directory held a repository, because its config file sets
	 * core.repositoryFormatVersion
	 */
	bool had_format;
	unsigned share; /* sys/share.h */
	struct error *err;
};

static int make_dir(const struct init *init, const char *parent,
		    const char *name)
{
	char *path = repo_join_path(parent, name);
	int ret = path ? sys_mkdir_shared(path, init->share, init->err)
		       : error_nomem(init->err);

	free(path);
	return ret;
}

/*
 * Makes the git directory and the object directory. As in Git, the permissions
 * of core.sharedRepository are applied to both directories even if they
 * existed before. Returns 0 or a negative error code.
 */
static int make_outer_dirs(const struct init *init)
{
	char *refs = repo_join_path(init->git_dir, "refs");
	int ret = refs ? make_dir(init, init->git_dir, "refs")
		       : error_nomem(init->err);

	if (!ret)
		ret = sys_share_path(init->git_dir, init->share, init->err);
	if (!ret)
		ret = sys_share_path(refs, init->share, init->err);
	free(refs);
	return ret;
}

/*
 * Returns the path of the object directory, malloc()ed. Returns NULL if there
 * is no memory.
 */
static char *objects_path(const struct init *init)
{
	const char *objects = getenv("GIT_OBJECT_DIRECTORY");
	const char *start = init->options->start_dir;

	if (!objects)
		return repo_join_path(init->git_dir, "objects");
	return start && *objects != '/' ? repo_join_path(start, objects)
					: mem_strdup(objects);
}

/*
 * Checks that the parent of a directory exists. Returns 0 or a negative error
 * code.
 */
static int check_parent(const char *path, struct error *err)
{
	char *parent = sys_parent(path);
	struct sys_stat st;
	bool exists;

	if (!parent)
		return error_nomem(err);
	exists = !sys_stat(&st, parent, NULL) && st.is_dir;
	free(parent);
	return exists ? 0
		      : error_set(err, ERR_MISSING,
				  "cannot create directory '%s': no parent "
				  "directory",
				  path);
}

/*
 * Makes the directories of the objects. As in Git, the parent of the directory
 * GIT_OBJECT_DIRECTORY must exist: a wrong path should not create directories
 * elsewhere. Returns 0 or a negative error code.
 */
static int make_object_dirs(const struct init *init)
{
	const char *chosen = getenv("GIT_OBJECT_DIRECTORY");
	char *objects;
	int ret;

	if (chosen && !*chosen)
		return error_set(init->err, ERR_INVALID,
				 "GIT_OBJECT_DIRECTORY is empty");
	objects = objects_path(init);
	ret = objects ? 0 : error_nomem(init->err);
	if (!ret && chosen)
		ret = check_parent(objects, init->err);
	if (!ret)
		ret = make_dir(init, objects, "");
	if (!ret)
		ret = make_dir(init, objects, "info");
	if (!ret)
		ret = make_dir(init, objects, "pack");
	free(objects);
	return ret;
}

static int make_dirs(const struct init *init)
{
	const char *git_dir = init->git_dir;
	bool tables = init->ref_storage == REPO_REFS_REFTABLE ||
		      init->refs_elsewhere;
	int ret = make_outer_dirs(init);

	if (!ret && !tables)
		ret = make_dir(init, git_dir, "refs/heads");
	if (!ret && !tables)
		ret = make_dir(init, git_dir, "refs/tags");
	return ret ? ret : make_object_dirs(init);
}

/*
 * Takes the lock of the file `path` and replaces the content of the file.
 * `mode` may contain permissions for a shared repository. Returns 0 or a
 * negative error code.
 */
static int replace(const char *path, const struct buf *text, unsigned mode,
		   struct error *err)
{
	struct sys_tempfile lock;
	char *lock_path = repo_join(path, ".lock");
	int ret;

	if (!lock_path)
		return error_nomem(err);
	ret = sys_tempfile_create_exact(&lock, lock_path, mode, err);
	if (!ret)
		ret = sys_tempfile_write(&lock, text->data, text->len, err);
	if (!ret)
		ret = sys_tempfile_commit(&lock, path, SYS_FSYNC_NONE, err);
	else
		sys_tempfile_abort(&lock);
	free(lock_path);
	return ret;
}

/*
 * Makes a file of the new repository if it is missing. Returns 1 if the file
 * existed, 0 if it was made, or a negative error code.
 */
static int make_file(const struct init *init, const char *name,
		     const char *text)
{
	char *path = repo_join_path(init->git_dir, name);
	struct buf bytes = BUF_INIT;
	struct sys_stat st;
	int ret;

	if (!path || buf_append_str(&bytes, text) < 0)
		ret = error_nomem(init->err);
	else if (!sys_lstat(&st, path, NULL))
		ret = 1;
	else
		ret = replace(path, &bytes, 0666 | init->share, init->err);
	buf_release(&bytes);
	free(path);
	return ret;
}

int repo_init_reftable(const char *git_dir, enum hash_algo algo,
		       const char *target, unsigned share, struct error *err)
{
	struct reftable_append_options options = {.algo = algo, .share = share};
	struct reftable_ref head = {
		.name = "HEAD",
		.name_len = 4,
		.value = REFTABLE_SYMBOLIC,
		.target = target,
		.target_len = strlen(target),
	};
	struct reftable_append append;
	struct buf dir = BUF_INIT;
	int ret = buf_printf(&dir, "%s/reftable", git_dir);

	ret = ret < 0 ? error_nomem(err)
		      : sys_mkdir_shared(dir.data, share, err);
	if (!ret)
		ret = reftable_append_begin(&append, dir.data, &options, err);
	if (ret < 0)
		goto out;
	if (!append.stack.nr) {
		head.update_index = append.index;
		ret = reftable_append_start(&append, 1, err);
		if (!ret)
			ret = reftable_writer_add_ref(append.writer, &head,
						      err);
		if (!ret)
			ret = reftable_append_finish(&append, err);
		if (!ret)
			ret = reftable_append_commit(&append, err);
	}
	reftable_append_release(&append);
out:
	buf_release(&dir);
	return ret;
}

/*
 * Makes HEAD in a reftable. The files HEAD and refs/heads contain text that
 * keeps programs without reftables from using them. Returns 1 if the file HEAD
 * existed, 0 if it was made, or a negative error code.
 */
static int make_tables(const struct init *init, const char *target)
{
	int ret = make_file(init, "refs/heads",
			    "this repository uses the reftable format\n");

	if (ret >= 0)
		ret = repo_init_reftable(init->git_dir, init->algo, target,
					 init->share, init->err);
	return ret < 0 ? ret
		       : make_file(init, "HEAD", "ref: refs/heads/.invalid\n");
}

/*
 * Makes HEAD, as a file or in a reftable. Returns 1 if HEAD existed, 0 if it
 * was made, or a negative error code.
 */
static int make_head(const struct init *init)
{
	const char *branch = init->options->branch;
	struct buf text = BUF_INIT;
	int ret = buf_printf(&text, "ref: refs/heads/%s\n",
			     branch ? branch : "master");

	if (init->refs_elsewhere) {
		buf_release(&text);
		return make_file(init, "HEAD", "ref: refs/heads/.invalid\n");
	}
	if (ret < 0) {
		ret = error_nomem(init->err);
	} else if (init->ref_storage == REPO_REFS_REFTABLE) {
		buf_set_len(&text, text.len - 1);
		ret = make_tables(init, text.data + strlen("ref: "));
	} else {
		ret = make_file(init, "HEAD", text.data);
	}
	buf_release(&text);
	return ret;
}

/*
 * Sets a variable in the text of the config file, unless the existing config
 * file gives the variable this value already. The value must be valid without
 * quotes. Returns 0 or ERR_NOMEM.
 */
static int want(const struct init *init, struct buf *text, const char *key,
		const char *value)
{
	const char *there = config_string(&init->config, key);
	const char *name = strrchr(key, '.');
	char section[16];

	if (there && !strcmp(there, value))
		return 0;
	snprintf(section, sizeof(section), "%.*s", (int)(name - key), key);
	return config_edit(text, section, name + 1, value);
}

static int want_bool(const struct init *init, struct buf *text, const char *key,
		     bool value)
{
	bool there;

	if (config_bool(&init->config, key, &there, NULL) == 1 &&
	    there == value)
		return 0;
	return want(init, text, key, value ? "true" : "false");
}

/*
 * Sets the variable `key` to the path `value` in the text of the config file,
 * unless the existing config file gives the variable this value already. The
 * path is quoted if necessary. Returns 0 or ERR_NOMEM.
 */
static int want_path(const struct init *init, struct buf *text, const char *key,
		     const char *value)
{
	const char *there = config_string(&init->config, key);
	struct buf quoted = BUF_INIT;
	int ret;

	if (there && !strcmp(there, value))
		return 0;
	if (!strpbrk(value, "\"\\\n\t\b#; "))
		return want(init, text, key, value);
	ret = buf_append_char(&quoted, '"');
	for (; *value && !ret; value++) {
		if (*value == '\n')
			ret = buf_append_str(&quoted, "\\n");
		else if (*value == '"' || *value == '\\')
			ret = buf_printf(&quoted, "\\%c", *value);
		else
			ret = buf_append_char(&quoted, *value);
	}
	if (!ret)
		ret = buf_append_char(&quoted, '"');
	if (!ret)
		ret = want(init, text, key, quoted.data);
	buf_release(&quoted);
	return ret;
}

/*
 * `dot_git` is the path of the file or directory .git in a work tree. Returns
 * the git directory whose configuration the work tree uses, or NULL if there is
 * none. The caller frees the path.
 */
static char *real_git_dir(const char *dot_git)
{
	char *target = NULL, *common = NULL, *real = NULL;
	struct sys_stat st;

	if (sys_stat(&st, dot_git, NULL) < 0)
		return NULL;
	if (!st.is_file)
		return sys_realpath(dot_git, NULL);
	if (!repo_read_gitfile(&target, dot_git, NULL) &&
	    !repo_read_common_dir(&common, target, NULL))
		real = sys_realpath(common, NULL);
	free(target);
	free(common);
	return real;
}

/*
 * Returns the path to store in core.worktree, or NULL if Git finds the work
 * tree without this variable.
 */
static char *odd_worktree(const struct init *init)
{
	const char *worktree = init->options->worktree;
	char *usual = worktree ? repo_join_path(worktree, ".git") : NULL;
	char *a = usual ? real_git_dir(usual) : NULL;
	char *b = sys_realpath(init->git_dir, NULL);
	char *odd = NULL;

	if (worktree && !(a && b && !strcmp(a, b))) {
		odd = sys_realpath(worktree, NULL);
		/* realpath() fails if the work tree does not exist yet. */
		if (!odd)
			odd = repo_absolute_path(worktree, NULL);
	}
	free(usual);
	free(a);
	free(b);
	return odd;
}

/*
 * Sets the variables of a shared repository. receive.denyNonFastForwards keeps
 * a user from rewriting what others have pushed. Returns 0 or ERR_NOMEM.
 */
static int share_variables(const struct init *init, struct buf *text)
{
	char share[REPO_SHARE_TEXT_LEN];
	int ret;

	if (!init->options->share)
		return 0;
	repo_share_text(share, init->share);
	ret = want(init, text, "core.sharedrepository", share);
	return ret ? ret
		   : want(init, text, "receive.denyNonFastforwards", "true");
}

/*
 * Returns whether the repository has an extension that version 0 of the format
 * does not allow.
 */
static bool needs_version_1(const struct init *init)
{
	static const char *const extensions[] = {
		"extensions.noop-v1",
		"extensions.relativeworktrees",
		"extensions.submodulepathconfig",
	};
	bool needs = init->algo != HASH_SHA1 || init->refs_elsewhere ||
		     init->ref_storage != REPO_REFS_FILES;

	for (size_t i = 0; i < ARRAY_NR(extensions); i++)
		needs |= config_find(&init->config, extensions[i]) != NULL;
	return needs;
}

static int core_variables(const struct init *init, struct buf *text)
{
	bool bare = !init->options->worktree;
	char *odd = odd_worktree(init);
	int ret = 0;

	/*
	 * As in stock Git, an existing repository may get a lower version of
	 * the format than it had.
	 */
	ret |= want(init, text, "core.repositoryformatversion",
		    needs_version_1(init) ? "1" : "0");
	if (!config_find(&init->config, "core.filemode"))
		ret |= want(init, text, "core.filemode", "true");
	ret |= want_bool(init, text, "core.bare", bare);
	if (!bare && !config_find(&init->config, "core.logallrefupdates"))
		ret |= want(init, text, "core.logallrefupdates", "true");
	if (odd)
		ret |= want_path(init, text, "core.worktree", odd);
	free(odd);
	return ret;
}

/*
 * Sets an extension. NULL stands for the default value: the extension is
 * removed, since a repository of version 0 may not have an extension, even with
 * its default value. Returns 0 or ERR_NOMEM.
 */
static int want_extension(const struct init *init, struct buf *text,
			  const char *key, const char *value)
{
	if (value)
		return want(init, text, key, value);
	return config_find(&init->config, key)
		       ? config_edit(text, "extensions", strchr(key, '.') + 1,
				     NULL)
		       : 0;
}

static int extension_variables(const struct init *init, struct buf *text)
{
	const char *hash = init->algo != HASH_SHA1 ? hash_name(init->algo)
						   : NULL;
	const char *refs = init->ref_storage != REPO_REFS_FILES
				   ? repo_ref_storage_name(init->ref_storage)
				   : NULL;
	int ret = want_extension(init, text, "extensions.objectformat", hash);

	if (!ret && !init->refs_elsewhere)
		ret = want_extension(init, text, "extensions.refstorage", refs);
	return ret;
}

/*
 * Returns the permissions of the config file. An existing file keeps its
 * permissions, even if this call makes the repository a shared one.
 */
static unsigned config_mode(const struct init *init, const char *path)
{
	struct sys_stat st;

	if (!init->had_format || sys_stat(&st, path, NULL) < 0)
		return 0666 | init->share;
	return (st.mode & 0777) | SYS_SHARE_EXACT(st.mode & 0777);
}

/*
 * Sets the variables of the new repository in the config file, unless they
 * have the right values already. Returns 0 or a negative error code.
 */
static int make_config(const struct init *init)
{
	char *name = repo_join_path(init->git_dir, "config");
	/*
	 * If the file is a symlink, the file that it leads to is replaced, not
	 * the symlink.
	 */
	char *path = name ? sys_realpath_missing(name, init->err)
			  : (error_nomem(init->err), NULL);
	struct buf old = BUF_INIT, text = BUF_INIT;
	int ret = path ? sys_read_file(&text, path, init->err) : ERR_IO;

	free(name);
	if (ret < 0 && ret != ERR_MISSING)
		goto out;
	ret = text.len ? buf_append(&old, text.data, text.len) : 0;
	if (!ret)
		ret = extension_variables(init, &text);
	if (!ret)
		ret = core_variables(init, &text);
	if (!ret)
		ret = share_variables(init, &text);
	if (ret)
		error_nomem(init->err);
	else if (text.len != old.len ||
		 memcmp(text.data, old.data, text.len) != 0)
		ret = replace(path, &text, config_mode(init, path), init->err);
out:
	buf_release(&old);
	buf_release(&text);
	free(path);
	return ret;
}

/*
 * Reads the format from the configuration in the git directory. Chooses the
 * hash function and the ref storage. Returns 0 or a negative error code.
 */
static int settle_format(struct init *init)
{
	const enum repo_ref_storage *storage = init->options->ref_storage;
	enum hash_algo wanted = init->options->algo;
	char *head = repo_join_path(init->git_dir, "HEAD");
	bool exists = head && sys_exists(head);
	int ret;

	free(head);
	if (!head)
		return error_nomem(init->err);
	ret = repo_read_format(&init->format, &init->config, init->git_dir,
			       init->err);
	if (ret < 0)
		return ret;
	/*
	 * A repository that has lost its HEAD still has objects, so its hash
	 * function cannot change.
	 */
	exists |= init->had_format;
	if (exists && wanted && wanted != init->format.algo)
		return error_set(init->err, ERR_INVALID,
				 "attempt to reinitialize repository with "
				 "different hash");
	if (exists && storage && *storage != init->format.ref_storage)
		return error_set(init->err, ERR_INVALID,
				 "attempt to reinitialize repository with "
				 "different reference storage format");
	init->algo = wanted ? wanted : init->format.algo;
	init->ref_storage = storage ? *storage : init->format.ref_storage;
	init->refs_elsewhere = init->format.refs_path &&
			       *init->format.refs_path;
	if (init->options->share)
		return 0;
	return repo_share_load(&init->share, &init->config, init->err);
}

/*
 * Looks at the git directory before the template is copied. Sets had_format if
 * the directory holds a repository, even one without HEAD, and reads
 * core.sharedRepository. Returns 0 or a negative error code.
 */
static int read_existing(struct init *init)
{
	char *path = repo_join_path(init->git_dir, "config");
	char *objects = repo_join_path(init->git_dir, "objects");
	struct config config = CONFIG_INIT;
	int ret = path && objects ? 0 : error_nomem(init->err);

	if (!ret)
		ret = config_load_plain(&config, path, init->err);
	init->had_format = !ret && sys_exists(objects) &&
			   config_find(&config, "core.repositoryformatversion");
	if (!ret && !init->share)
		ret = repo_share_load(&init->share, &config, init->err);
	config_release(&config);
	free(path);
	free(objects);
	return ret == ERR_MISSING ? 0 : ret;
}

int repo_init_from(const char *git_dir, const struct repo_init_options *options,
		   struct error *err)
{
	struct init init = {
		.git_dir = git_dir,
		.options = options,
		.share = options->share,
		.err = err,
	};
	int ret = read_existing(&init);

	if (!ret)
		ret = make_dir(&init, git_dir, "");
	if (!ret)
		ret = repo_copy_template(git_dir, options->template_dir,
					 init.share, err);
	if (!ret)
		ret = settle_format(&init);
	if (!ret)
		ret = make_dirs(&init);
	if (!ret)
		ret = make_config(&init);
	/*
	 * HEAD is written last. Without HEAD the directory is not a repository.
	 */
	if (!ret)
		ret = make_head(&init);
	config_release(&init.config);
	if (options->is_shared)
		*options->is_shared = init.share != 0;
	return ret;
}

int repo_init(const char *git_dir, const char *worktree, const char *branch,
	      enum hash_algo algo, struct error *err)
{
	struct repo_init_options options = {
		.worktree = worktree, .branch = branch, .algo = algo};

	return repo_init_from(git_dir, &options, err);
}
