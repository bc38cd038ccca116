/* SPDX-License-Identifier: MIT */
/*
 * A repository: the paths of its parts, its format and its configuration.
 *
 * A repository is immutable after opening, and threads may share it. Snapshots
 * of objects (odb/odb.h) and refs (refs/refs.h) borrow the repository.
 */
#ifndef REPO_REPO_H
#define REPO_REPO_H

#include <stdbool.h>

#include "base/error.h"
#include "config/config.h"
#include "object/oid.h"
#include "sys/tempfile.h"

struct refs_cache;
struct trace;

/* extensions.refStorage: the format of the refs. */
enum repo_ref_storage {
	/* refs are loose files and a file packed-refs */
	REPO_REFS_FILES,
	REPO_REFS_REFTABLE, /* a stack of reftables */
};

/* Returns "files" or "reftable", a static string. */
const char *repo_ref_storage_name(enum repo_ref_storage storage);

/* Finds a format of refs by its name. Returns false if the name is unknown. */
bool repo_ref_storage_by_name(enum repo_ref_storage *storage, const char *name);

/*
 * Parses "<format>" or "<format>://<path>". *path points into `text`, and is ""
 * if there is no path. Returns false if the format is unknown. *name_len is set
 * to the length of "<format>" even if the format is unknown.
 */
bool repo_ref_storage_parse(enum repo_ref_storage *storage, const char **path,
			    size_t *name_len, const char *text);

struct repo {
	char *git_dir; /* owned, absolute: GIT_DIR */
	/*
	 * owned: equal to git_dir unless the file "commondir" names another
	 * directory
	 */
	char *common_dir;
	/*
	 * Owned. Use repo_refs_dir() and repo_refs_common_dir() to read these
	 * fields. NULL: the default, which is git_dir for refs_dir, and
	 * common_dir for refs_common_dir.
	 */
	char *refs_dir, *refs_common_dir;
	/* owned: GIT_OBJECT_DIRECTORY, or <common_dir>/objects */
	char *object_dir;
	/* owned: GIT_ALTERNATE_OBJECT_DIRECTORIES, or NULL */
	char *alternate_object_dirs;
	/* owned: path of the work tree; NULL: there is none */
	char *worktree;
	/*
	 * true: GIT_DIR, GIT_WORK_TREE or core.worktree determines `worktree`.
	 * The work tree is then in use even if the working directory is in the
	 * git directory.
	 */
	bool worktree_is_set;
	enum hash_algo algo;
	enum repo_ref_storage ref_storage;
	bool is_bare;
	/*
	 * GIT_QUARANTINE_PATH is set, so new objects may be discarded; see
	 * repo_check_quarantine()
	 */
	bool in_quarantine;
	/* core.repositoryformatversion */
	unsigned format_version;
	/*
	 * the repository is a partial clone: extensions.partialClone,
	 * remote.<name>.promisor or remote.<name>.partialCloneFilter is set
	 */
	bool has_promisor;
	/*
	 * permissions of new files (core.sharedRepository) and the flag of
	 * core.lockfilePid, in the form of sys/share.h; 0: neither is set
	 */
	unsigned share;
	struct config config;
	/*
	 * borrowed; the caller sets this after opening; NULL: nothing is traced
	 */
	struct trace *trace;
	/*
	 * Borrowed; the caller sets this after opening. A cache that keeps a
	 * ref storage mapped into memory (refs/refs-cache.h): the file
	 * packed-refs, or the stack of reftables with the refs that all work
	 * trees share. NULL: each snapshot of refs maps the file or the stack
	 * again.
	 */
	struct refs_cache *refs_cache;
};

enum {
	/* the path is the git directory itself: do not search upwards */
	REPO_OPEN_EXACT = 1 << 0,
	/* allow a repository of another user without safe.directory */
	REPO_OPEN_NO_OWNER = 1 << 1,
	/*
	 * Look for the repository like `git upload-pack <dir>` without
	 * --strict: at "<dir>/.git", "<dir>", "<dir>.git/.git" and "<dir>.git",
	 * in this order.
	 */
	REPO_OPEN_ENTER = 1 << 2,
};

/*
 * Options of the command line. NULL: the option is not given. Borrowed during
 * the call.
 */
struct repo_options {
	/* directory where the search starts; NULL: "." */
	const char *path;
	/* value of --git-dir; NULL: use GIT_DIR, or search for a repository */
	const char *git_dir;
	unsigned flags;
	/*
	 * called with the path of each configuration file, see struct
	 * config_sources
	 */
	void (*look)(void *ctx, const char *path);
	void *look_ctx;
};

/*
 * Finds and opens a repository. ".git" files ("gitdir: <path>") are followed.
 * The search stops at GIT_CEILING_DIRECTORIES, and at file system borders
 * unless GIT_DISCOVERY_ACROSS_FILESYSTEM is set.
 *
 * core.repositoryFormatVersion and the extensions are checked. The known
 * extensions are objectFormat, refStorage, partialClone, worktreeConfig, noop,
 * noop-v1, preciousObjects, relativeWorktrees and submodulePathConfig. In
 * version 1 of the format, any other extension is ERR_UNSUPPORTED.
 *
 * If a repository that was discovered, or opened with REPO_OPEN_ENTER, belongs
 * to another user, the result is ERR_DENIED. The message is stock Git's:
 * "detected dubious ownership in repository at '<path>'", and lines of advice.
 * The key safe.directory in a protected configuration can allow the repository.
 * The value is the absolute path, or "." for the current directory, or "*", or
 * a prefix that ends in a slash and an asterisk. An empty value resets the
 * list. With safe.bareRepository=explicit, bare repositories that were
 * discovered are forbidden.
 *
 * Returns 0 with *out owned by the caller, ERR_MISSING ("not a git repository
 * (or any of the parent directories): .git"), or another error code.
 */
int repo_open(struct repo **out, const struct repo_options *options,
	      struct error *err);
void repo_close(struct repo *repo);

/*
 * Checks whether extensions.preciousObjects forbids deleting objects. `what`
 * names the operation in the message, e.g. "prune". Returns 0 if allowed,
 * ERR_DENIED with Git's message if not, or ERR_INVALID if the variable has no
 * valid value.
 */
int repo_check_precious(const struct repo *repo, const char *what,
			struct error *err);

/*
 * Refuses to change a ref while GIT_QUARANTINE_PATH is set. The variable is set
 * for a pre-receive hook. If the hook changed a ref, the ref could name an
 * object that receive-pack discards when the hook fails. Returns 0 if the
 * variable was not set when the repository was opened, or ERR_DENIED with Git's
 * message. Source: git-receive-pack(1), "Quarantine Environment".
 */
int repo_check_quarantine(const struct repo *repo, struct error *err);

/*
 * First part of the name of a quarantine directory, which is in the object
 * directory.
 */
#define REPO_QUARANTINE_PREFIX "tmp_objdir-incoming-"

/*
 * The name of the file that marks a local copy. A local copy is a bare
 * repository on the disk of this machine. It is a cached replica of a
 * repository in a store (a place for files that several machines share; see
 * copies/copy.h). The marker file is in the common directory of the local copy.
 */
#define REPO_COPY_MARKER "store-copy"

/*
 * Refuses to change a repository that is a local copy (a cached replica of a
 * repository in a store). A change of the copy would not get into the store. So
 * the next refresh of the copy would undo the change. And if an object were
 * written only to the copy, a later push could use this object, and the
 * repository in the store would then lack the object.
 *
 * `what` is the operation in the message, e.g. "repack". Returns 0 if the
 * repository is no copy, ERR_DENIED if it is, ERR_IO if it is unknown whether
 * the repository is a copy, or ERR_NOMEM.
 *
 * Cost: none if the refs are in the files format, because a local copy always
 * has its refs in the reftable format. If the refs are in the reftable format,
 * one system call looks for the file REPO_COPY_MARKER.
 */
int repo_check_copy(const struct repo *repo, const char *what,
		    struct error *err);

/* Returns "<common_dir>/<name>", malloc()ed, or NULL if memory runs out. */
char *repo_common_path(const struct repo *repo, const char *name);

/*
 * Returns the directory of the refs and reflogs that belong to this work tree
 * alone, for example HEAD. The default is git_dir.
 *
 * GIT_REFERENCE_BACKEND or extensions.refStorage may name another directory for
 * refs and reflogs ("files://<path>"; a relative path starts in common_dir).
 * This function then returns the named directory, or for a linked work tree its
 * subdirectory worktrees/<id>.
 */
static inline const char *repo_refs_dir(const struct repo *repo)
{
	return repo->refs_dir ? repo->refs_dir : repo->git_dir;
}

/*
 * Returns the directory of the refs and reflogs that all work trees share: the
 * directory that GIT_REFERENCE_BACKEND or extensions.refStorage names, or by
 * default common_dir.
 */
static inline const char *repo_refs_common_dir(const struct repo *repo)
{
	return repo->refs_common_dir ? repo->refs_common_dir : repo->common_dir;
}

/*
 * Returns "<repo_refs_common_dir()>/<name>", malloc()ed, or NULL if memory runs
 * out.
 */
char *repo_refs_common_path(const struct repo *repo, const char *name);

/* Returns "<object_dir>/<name>", malloc()ed, or NULL if memory runs out. */
char *repo_object_path(const struct repo *repo, const char *name);

/* The components that core.fsync can list. */
enum repo_fsync_component {
	REPO_FSYNC_LOOSE_OBJECT = 1 << 0,
	REPO_FSYNC_PACK = 1 << 1,
	REPO_FSYNC_PACK_METADATA = 1 << 2,
	REPO_FSYNC_COMMIT_GRAPH = 1 << 3,
	REPO_FSYNC_INDEX = 1 << 4,
	REPO_FSYNC_REFERENCE = 1 << 5,
	/*
	 * packed-refs: core.fsync has no name for this component alone, but
	 * "reference" covers it, too
	 */
	REPO_FSYNC_PACKED_REFS = 1 << 6,
};

/*
 * Finds the method to make files of one component durable. core.fsync chooses
 * components, and core.fsyncMethod the method (default fsync; batch means fsync
 * here). Without core.fsync, core.fsyncObjectFiles adds loose objects to the
 * default components. GIT_TEST_FSYNC=0 turns off all components.
 *
 * The default components are packs with their side files, commit-graphs and
 * packed-refs. Experiments with stock Git show the same default, but without
 * packed-refs. Here packed-refs is added, because losing this file loses all
 * refs.
 *
 * If core.fsync has the value "committed" or "added", this includes references,
 * as in stock Git. Unknown values are ignored, as in stock Git. Returns 0, or
 * ERR_INVALID if core.fsync has no value, or if core.fsyncObjectFiles or
 * GIT_TEST_FSYNC is not a boolean.
 */
int repo_fsync_method(const struct repo *repo,
		      enum repo_fsync_component component,
		      enum sys_fsync_method *method, struct error *err);

/*
 * Calls `fn` with each unknown component in a value of core.fsync, without the
 * minus before it. A minus without a name ends the list: `fn` is called with
 * `len` 0.
 */
void repo_fsync_each_unknown(const char *list,
			     void (*fn)(const char *item, size_t len));

/*
 * Returns pack.threads, the number of threads for work on this repository. 0:
 * one per processor; an invalid value counts as 0.
 */
unsigned repo_threads(const struct repo *repo);

/*
 * Parses a value of core.sharedRepository or of `git init --shared`. *share
 * gets the permissions of new files in the form of sys/share.h; 0: the umask
 * decides. `value` is NULL for a key without value. `name` is the key in
 * messages. Returns 0, or ERR_INVALID with Git's message.
 */
int repo_share_parse(unsigned *share, const char *name, const char *value,
		     struct error *err);

/* Options of repo_init_from(). Borrowed during the call. */
struct repo_init_options {
	const char *worktree; /* NULL: a bare repository */
	/* the branch that HEAD names; NULL: "master" */
	const char *branch;
	/* directory to copy; NULL: the built-in template; "": no template */
	const char *template_dir;
	/*
	 * hash function of the repository; 0: the hash function of the
	 * existing repository, or SHA-1 for a new one
	 */
	enum hash_algo algo;
	/*
	 * storage of refs; NULL: the storage of the existing repository, or
	 * files for a new one
	 */
	const enum repo_ref_storage *ref_storage;
	/*
	 * permissions of new files, as core.sharedRepository gives them, in the
	 * form of sys/share.h; 0: keep the setting
	 */
	unsigned share;
	/*
	 * A relative GIT_OBJECT_DIRECTORY starts at this directory; NULL: at
	 * the current directory.
	 */
	const char *start_dir;
	/* out: whether the repository is shared; NULL allowed */
	bool *is_shared;
};

/*
 * Creates an empty repository at `git_dir` as `git init` does. The repository
 * gets HEAD (pointing to refs/heads/<branch>), config, objects/ (or
 * GIT_OBJECT_DIRECTORY), refs/, and the files of the template. With reftables,
 * HEAD is in a table. In this case the files HEAD and refs/heads only contain
 * text that tells other programs about the tables. The built-in template has
 * description, hooks/ and info/exclude.
 *
 * Existing files stay, but missing variables are added to config. Names in the
 * template that start with a dot are skipped; a missing template counts as
 * empty. The permissions in options->share apply to all files, and are written
 * to config together with receive.denyNonFastForwards.
 *
 * Returns 1 if HEAD existed ("reinitialized"), 0 if the repository is new, or a
 * negative error code: ERR_INVALID ("attempt to reinitialize repository with
 * different hash", "... different reference storage format"), or
 * ERR_UNSUPPORTED if the existing repository has an unsupported format.
 */
int repo_init_from(const char *git_dir, const struct repo_init_options *options,
		   struct error *err);

/*
 * Works like repo_init_from() with the built-in template, and has its return
 * values. `worktree` is NULL for a bare repository.
 */
int repo_init(const char *git_dir, const char *worktree, const char *branch,
	      enum hash_algo algo, struct error *err);

/*
 * Makes the stack of tables "<git_dir>/reftable" with a symbolic HEAD that
 * points to `target`, unless the stack exists. `share`: permissions of new
 * files, see sys/share.h. Returns 0 or a negative error code.
 */
int repo_init_reftable(const char *git_dir, enum hash_algo algo,
		       const char *target, unsigned share, struct error *err);

#endif
