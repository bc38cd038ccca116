/* SPDX-License-Identifier: MIT */
/*
 * Internal declarations of repo.c and its parts: git directories (gitdir.c),
 * discovery (discover.c), owners (owner.c), formats (format.c), the current
 * branch (branch.c), templates (template.c).
 */
#ifndef REPO_REPO_INTERNAL_H
#define REPO_REPO_INTERNAL_H

#include "repo/repo.h"

enum repo_place_kind {
	REPO_PLACE_EXPLICIT, /* --git-dir or GIT_DIR */
	/*
	 * a path that the user or a client named, such as the argument of
	 * upload-pack
	 */
	REPO_PLACE_ENTERED,
	/* found by a search upwards: a directory with a .git */
	REPO_PLACE_WORKTREE,
	/* found by a search upwards: a git directory itself */
	REPO_PLACE_BARE,
};

/*
 * The place where a repository was found. All paths are owned; symlinks in them
 * are not resolved.
 */
struct repo_place {
	enum repo_place_kind kind;
	char *git_dir;
	char *worktree; /* or NULL */
	/* owned: path of the .git file that points to git_dir, or NULL */
	char *gitfile;
};

void repo_place_release(struct repo_place *place);

/*
 * Returns the full name of the ref to which HEAD points, malloc()ed. If this
 * ref points to another ref, returns the name of the other ref. Returns NULL if
 * HEAD points to no ref, or if it cannot be read. Uses the hash, the storage
 * format and the directories of *repo.
 */
char *repo_current_branch(const struct repo *repo);

/* Returns the two strings joined, malloc()ed, or NULL if memory runs out. */
char *repo_join(const char *a, const char *b);

/*
 * Works like repo_join(), and puts a slash between the two strings unless `a`
 * ends in a slash.
 */
char *repo_join_path(const char *a, const char *b);

/*
 * Returns `path` as an absolute path, malloc()ed, or NULL with *err set.
 * Symlinks are not resolved.
 */
char *repo_absolute_path(const char *path, struct error *err);

/*
 * Returns 1 if `path` is a git directory, with HEAD, objects/ and refs/.
 * Returns 0 if not, or a negative error code. A broken file "commondir" is an
 * error.
 */
int repo_is_git_dir(const char *path, struct error *err);

/*
 * Reads a .git file. Returns 0 with *out set to the git directory that the file
 * names (owned by the caller), or an error code with Git's message.
 */
int repo_read_gitfile(char **out, const char *path, struct error *err);

/*
 * Finds the common directory of `git_dir`: GIT_COMMON_DIR, or the path in the
 * file "commondir", or `git_dir` itself. Returns 0 with *out owned by the
 * caller, or a negative error code.
 */
int repo_read_common_dir(char **out, const char *git_dir, struct error *err);

/*
 * Searches upwards from `start` for a repository, as repo_open() describes.
 * Returns 0 with *place filled, ERR_MISSING if there is none, or another
 * negative error code.
 */
int repo_discover(struct repo_place *place, const char *start,
		  struct error *err);

/*
 * Looks for a repository at `path`. Unless `exact`, also tries the path with
 * suffixes (REPO_OPEN_ENTER). Returns 0 with *place filled, ERR_MISSING if
 * there is none, or another negative error code.
 */
int repo_enter(struct repo_place *place, const char *path, bool exact,
	       struct error *err);

/*
 * Returns 0 if this user may use the repository, because the user owns it or
 * safe.directory allows it. Returns ERR_DENIED if not, or another error code.
 */
int repo_check_owner(const struct repo_place *place, struct error *err);

/*
 * Returns 0, ERR_DENIED for a bare repository that safe.bareRepository forbids,
 * or another error code.
 */
int repo_check_bare(const struct repo_place *place, struct error *err);

/*
 * Reads core.sharedRepository from `config`. Sets *share to the permissions
 * that new files get by this variable, in the form of sys/share.h. Returns 0 or
 * a negative error code.
 */
int repo_share_load(unsigned *share, const struct config *config,
		    struct error *err);

/* Size of a buffer for repo_share_text(), NUL included. */
#define REPO_SHARE_TEXT_LEN 8

/*
 * Formats the permissions in `share` (sys/share.h) as Git writes the value of
 * core.sharedRepository into a configuration file: "1", "2" or "0640".
 */
void repo_share_text(char text[REPO_SHARE_TEXT_LEN], unsigned share);

/* The format that a repository's own configuration describes. */
struct repo_format {
	/*
	 * core.repositoryFormatVersion; -1: the variable is not set, and the
	 * other fields have their defaults
	 */
	int64_t version;
	enum hash_algo algo;
	enum repo_ref_storage ref_storage;
	/*
	 * Path of the directory of the refs, from extensions.refStorage.
	 * Points into the configuration; NULL: the refs are in the git
	 * directory.
	 */
	const char *refs_path;
	bool has_promisor;
	/* true: the file config.worktree is read too */
	bool worktree_config;
};

/*
 * Reads and checks <common_dir>/config, without includes, as Git does. Adds its
 * variables to *config. Without the file, the version is -1. Returns 0,
 * ERR_UNSUPPORTED if the version or an extension is unknown, or another error
 * code.
 */
int repo_read_format(struct repo_format *format, struct config *config,
		     const char *common_dir, struct error *err);

/*
 * Copies the files of a template directory into the git directory. Names that
 * start with a dot are skipped, and existing files are kept. A missing template
 * directory is not an error. template_dir NULL means the built-in template.
 * `share`: core.sharedRepository for the permissions of the copies, see
 * sys/share.h. Returns 0 or a negative error code.
 */
int repo_copy_template(const char *git_dir, const char *template_dir,
		       unsigned share, struct error *err);

#endif
