/* SPDX-License-Identifier: MIT */
/*
 * A repository: where its parts are, its format, its configuration.
 *
 * Immutable after opening; threads may share it. Objects and refs have
 * snapshots of their own (odb.h, refs.h) which borrow the repository.
 */
#ifndef REPO_REPO_H
#define REPO_REPO_H

#include <stdbool.h>

#include "base/error.h"
#include "config/config.h"
#include "object/oid.h"
#include "sys/tempfile.h"

struct trace;

/* extensions.refStorage: how refs are kept. */
enum repo_ref_storage {
	REPO_REFS_FILES,    /* loose files over packed-refs */
	REPO_REFS_REFTABLE, /* a stack of reftables */
};

/* "files", "reftable". Static. */
const char *repo_ref_storage_name(enum repo_ref_storage storage);

/* The one of that name; false when unknown. */
bool repo_ref_storage_by_name(enum repo_ref_storage *storage, const char *name);

/*
 * Parse "<format>" or "<format>://<path>". *path points into `text`; it is ""
 * when there is none. Returns false when the format is unknown, and then
 * *name_len is the length of what was looked up.
 */
bool repo_ref_storage_parse(enum repo_ref_storage *storage, const char **path,
			    size_t *name_len, const char *text);

struct repo {
	char *git_dir;    /* owned, absolute: GIT_DIR */
	char *common_dir; /* owned: git_dir unless "commondir" says otherwise */
	/*
	 * Owned: where refs and reflogs are, when they are not in git_dir and
	 * common_dir; else both NULL. See repo_refs_dir().
	 */
	char *refs_dir, *refs_common_dir;
	char *object_dir; /* owned: GIT_OBJECT_DIRECTORY or <common>/objects */
	char *alternate_object_dirs; /* owned: the environment's, or NULL */
	char *worktree; /* owned: work tree found by discovery, or NULL */
	enum hash_algo algo;
	enum repo_ref_storage ref_storage;
	bool is_bare;
	bool in_quarantine; /* GIT_QUARANTINE_PATH is set: the objects may yet
			       be discarded; see repo_check_quarantine() */
	unsigned format_version; /* core.repositoryformatversion */
	bool has_promisor;       /* a partial clone: extensions.partialClone or
				    remote.<name>.promisor is set */
	unsigned share; /* core.sharedRepository: sys/share.h; 0: none */
	struct config config;
	struct trace *trace; /* borrowed from who opened us, who sets it; NULL:
				nobody listens to what is done here */
};

enum {
	REPO_OPEN_EXACT = 1 << 0,    /* path is the git dir: do not go up */
	REPO_OPEN_NO_OWNER = 1 << 1, /* skip the safe.directory check */
	/*
	 * As `git upload-pack <dir>` does without --strict: try "<dir>/.git",
	 * "<dir>", "<dir>.git/.git", "<dir>.git" in that order.
	 */
	REPO_OPEN_ENTER = 1 << 2,
};

/* What the command line overrides. NULL: not given. Borrowed for the call. */
struct repo_options {
	const char *path;    /* start of discovery; NULL: "." */
	const char *git_dir; /* --git-dir; NULL: GIT_DIR, else discovery */
	unsigned flags;
};

/*
 * Find and open. Follows ".git" files ("gitdir: <path>"), stops at
 * GIT_CEILING_DIRECTORIES and file system borders (unless
 * GIT_DISCOVERY_ACROSS_FILESYSTEM). Checks core.repositoryformatversion and
 * the extensions it knows (objectFormat, refStorage, partialClone,
 * worktreeConfig, noop, preciousObjects, relativeWorktrees); anything else is
 * ERR_UNSUPPORTED. A repository found by discovery or entered that another
 * user owns is ERR_DENIED with stock Git's words ("detected dubious ownership
 * in repository at '<path>'", and lines of advice) unless safe.directory of a
 * protected configuration allows it (exact path, "*", a trailing slash-star
 * prefix; empty value resets); safe.bareRepository=explicit is honoured.
 *
 * Returns 0 with *out owned by the caller; ERR_MISSING ("not a git repository
 * (or any of the parent directories): .git"), or another error.
 */
int repo_open(struct repo **out, const struct repo_options *options,
	      struct error *err);
void repo_close(struct repo *repo);

/*
 * Refuse to `what` ("prune") where extensions.preciousObjects forbids to delete
 * objects: 0, or ERR_DENIED in Git's words.
 */
int repo_check_precious(const struct repo *repo, const char *what,
			struct error *err);

/*
 * Refuse to change a ref while GIT_QUARANTINE_PATH is set. A pre-receive hook
 * runs in such an environment. A ref could name an object that receive-pack
 * discards when the hook fails. Returns 0 if the variable was not set when the
 * repository was opened, or ERR_DENIED with Git's words.
 * Source: git-receive-pack(1), "Quarantine Environment".
 */
int repo_check_quarantine(const struct repo *repo, struct error *err);

/* "<common_dir>/<name>", malloc()ed; NULL when out of memory. */
char *repo_common_path(const struct repo *repo, const char *name);

/*
 * Where refs and reflogs of this work tree are, and those that all work trees
 * share: git_dir and common_dir, unless GIT_REFERENCE_BACKEND or
 * extensions.refStorage name another directory ("files://<path>"). A path that
 * is relative is one from common_dir. A linked work tree has its refs in
 * worktrees/<id> of that directory.
 */
static inline const char *repo_refs_dir(const struct repo *repo)
{
	return repo->refs_dir ? repo->refs_dir : repo->git_dir;
}

static inline const char *repo_refs_common_dir(const struct repo *repo)
{
	return repo->refs_common_dir ? repo->refs_common_dir : repo->common_dir;
}

/* "<repo_refs_common_dir()>/<name>", malloc()ed; NULL when out of memory. */
char *repo_refs_common_path(const struct repo *repo, const char *name);

/* "<object_dir>/<name>", malloc()ed; NULL when out of memory. */
char *repo_object_path(const struct repo *repo, const char *name);

/* Components of core.fsync. */
enum repo_fsync_component {
	REPO_FSYNC_LOOSE_OBJECT = 1 << 0,
	REPO_FSYNC_PACK = 1 << 1,
	REPO_FSYNC_PACK_METADATA = 1 << 2,
	REPO_FSYNC_COMMIT_GRAPH = 1 << 3,
	REPO_FSYNC_INDEX = 1 << 4,
	REPO_FSYNC_REFERENCE = 1 << 5,
	REPO_FSYNC_PACKED_REFS = 1 << 6, /* has no name: of "reference" */
};

/*
 * How one component has to be made durable: core.fsync (default "committed,
 * -loose-object"), core.fsyncMethod (default fsync; batch counts as fsync
 * here), core.fsyncObjectFiles, GIT_TEST_FSYNC=0 turns all off. The default
 * set covers packs with their metadata and commit graphs, as measured of
 * stock Git, where the manual names packs only; and packed-refs, which stock
 * Git leaves out: to lose that file is to lose all refs. "committed" and
 * "added" cover references, as measured, too.
 * ERR_INVALID for unknown values.
 */
int repo_fsync_method(const struct repo *repo,
		      enum repo_fsync_component component,
		      enum sys_fsync_method *method, struct error *err);

/*
 * What a value of core.sharedRepository, or of `git init --shared`, asks for:
 * *share for sys/share.h, 0 for what the umask leaves. NULL is a key without
 * value. 0, or ERR_INVALID in Git's words, which call it `name`.
 */
int repo_share_parse(unsigned *share, const char *name, const char *value,
		     struct error *err);

/* What repo_init_from() makes. Borrowed for the call. */
struct repo_init_options {
	const char *worktree; /* NULL: a bare repository */
	const char *branch;   /* that HEAD names; NULL: "master" */
	/* Copied into it; NULL: a built-in one, "": nothing. */
	const char *template_dir;
	/* 0: that of an existing repository, else SHA-1. */
	enum hash_algo algo;
	/* NULL: that of an existing repository, else files. */
	const enum repo_ref_storage *ref_storage;
	/* core.sharedRepository as sys/share.h has it; 0: as it was. */
	unsigned share;
	bool *is_shared; /* gets whether it is shared; or NULL */
};

/*
 * Create an empty repository at `git_dir` as `git init` does: HEAD (to
 * refs/heads/<branch>; with reftables that is in one, and HEAD and refs/heads
 * are files that say so), config, objects/ (or GIT_OBJECT_DIRECTORY), refs/,
 * and what the template has; the built-in one has description, hooks/ and
 * info/exclude. Existing files stay, but the config gets what it has to say
 * about this repository and does not. A template's names that start with a
 * dot are left out; one that does not exist is taken as empty. A share is noted
 * in the config, with receive.denyNonFastForwards, and holds for all of it.
 *
 * Returns 1 when there is a HEAD already ("reinitialized"), 0 when new, or a
 * negative error: ERR_INVALID ("attempt to reinitialize repository with
 * different hash", "... different reference storage format"), ERR_UNSUPPORTED
 * for an existing one of another format.
 */
int repo_init_from(const char *git_dir, const struct repo_init_options *options,
		   struct error *err);

/*
 * As repo_init_from() with the built-in template. `worktree`: NULL for a bare
 * repository.
 */
int repo_init(const char *git_dir, const char *worktree, const char *branch,
	      enum hash_algo algo, struct error *err);

#endif
