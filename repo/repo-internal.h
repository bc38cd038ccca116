/* SPDX-License-Identifier: MIT */
/*
 * What the parts of repo.c share: git directories (gitdir.c), finding one
 * (discover.c), whose it is (owner.c), its format (format.c), templates
 * (template.c).
 */
#ifndef REPO_REPO_INTERNAL_H
#define REPO_REPO_INTERNAL_H

#include "repo/repo.h"

enum repo_place_kind {
	REPO_PLACE_EXPLICIT, /* --git-dir, GIT_DIR: the user said so */
	REPO_PLACE_ENTERED,  /* a path that upload-pack was given */
	REPO_PLACE_WORKTREE, /* discovered: a directory with a .git */
	REPO_PLACE_BARE,     /* discovered: a directory that is one */
};

/* Where a repository was found. All paths are owned, and as found. */
struct repo_place {
	enum repo_place_kind kind;
	char *git_dir;
	char *worktree; /* or NULL */
	char *gitfile;  /* the .git file that led to git_dir, or NULL */
};

void repo_place_release(struct repo_place *place);

/* "<a><b>", malloc()ed; NULL when out of memory. */
char *repo_join(const char *a, const char *b);

/* As repo_join() with a slash between, unless `a` ends in one. */
char *repo_join_path(const char *a, const char *b);

/* `path` from the root; symlinks stay. malloc()ed, or NULL with *err set. */
char *repo_absolute_path(const char *path, struct error *err);

/*
 * Whether `path` is a git directory: HEAD, objects/ and refs/ are there. 1, 0,
 * or a negative error for a broken "commondir" or no memory.
 */
int repo_is_git_dir(const char *path, struct error *err);

/*
 * The git directory that a ".git" file names, if it is one: 0 and *out owned
 * by the caller, or an error with Git's words.
 */
int repo_read_gitfile(char **out, const char *path, struct error *err);

/*
 * The common directory of `git_dir`: GIT_COMMON_DIR, what its file "commondir"
 * says, or itself. 0 and *out owned by the caller, or a negative error.
 */
int repo_read_common_dir(char **out, const char *git_dir, struct error *err);

/* Go up from `start` to a repository. See repo_open(). */
int repo_discover(struct repo_place *place, const char *start,
		  struct error *err);

/* Enter a path, trying suffixes unless `exact`. See REPO_OPEN_ENTER. */
int repo_enter(struct repo_place *place, const char *path, bool exact,
	       struct error *err);

/* ERR_DENIED unless safe.directory or the owner of the place allow it. */
int repo_check_owner(const struct repo_place *place, struct error *err);

/* ERR_DENIED for a bare place that safe.bareRepository forbids. */
int repo_check_bare(const struct repo_place *place, struct error *err);

/* core.sharedRepository of this configuration. 0 or an error. */
int repo_share_load(unsigned *share, const struct config *config,
		    struct error *err);

/* How Git notes a share in a config file: "1", "2" or "0640". */
#define REPO_SHARE_TEXT_LEN 8
void repo_share_text(char text[REPO_SHARE_TEXT_LEN], unsigned share);

/* What a repository's own configuration says about it. */
struct repo_format {
	int64_t version; /* -1: not given; then the rest is not heeded */
	enum hash_algo algo;
	enum repo_ref_storage ref_storage;
	/* Where refs are: points into the configuration, or NULL. */
	const char *refs_path;
	bool has_promisor;
	bool worktree_config; /* config.worktree counts too */
};

/*
 * Read and check <common_dir>/config, without includes, as Git does: its
 * variables are added to *config. A missing file is version -1.
 * ERR_UNSUPPORTED for versions and extensions that we do not know.
 */
int repo_read_format(struct repo_format *format, struct config *config,
		     const char *common_dir, struct error *err);

/*
 * Copy what a template directory holds into the git directory: no names that
 * start with a dot, nothing that exists. A missing template is no error.
 * template_dir NULL: what is built in. share: sys/share.h.
 */
int repo_copy_template(const char *git_dir, const char *template_dir,
		       unsigned share, struct error *err);

#endif
