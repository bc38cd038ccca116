/* SPDX-License-Identifier: MIT */
/*
 * Loose refs: one file per ref (gitrepository-layout(5)). HEAD and refs below
 * refs/bisect/, refs/worktree/ and refs/rewritten/ are in the git directory of
 * the work tree. All other refs are in the common directory. A file has one of
 * two forms:
 *
 *   "<hex>\n"  or  "ref: refs/heads/main\n"
 */
#ifndef REFS_REFS_LOOSE_H
#define REFS_REFS_LOOSE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/error.h"
#include "object/oid.h"
#include "repo/repo.h"

enum refs_loose_kind {
	REFS_LOOSE_OID,      /* names an object */
	REFS_LOOSE_SYMBOLIC, /* names another ref */
	/*
	 * the content is neither an id nor a ref name, or the name of the ref
	 * itself is not valid
	 */
	REFS_LOOSE_BROKEN,
};

struct refs_loose {
	enum refs_loose_kind kind;
	struct oid oid; /* if REFS_LOOSE_OID */
	/*
	 * owned: the target if REFS_LOOSE_SYMBOLIC, else NULL. The target is
	 * well-formed unless leads_nowhere is set.
	 */
	char *target;
	/*
	 * owned: the full name of the ref; NULL if the ref is not an item of a
	 * list
	 */
	char *name;
	/*
	 * if REFS_LOOSE_SYMBOLIC, true: no ref can have the name of the target.
	 * The ref counts as a dangling symbolic ref.
	 */
	bool leads_nowhere;
	/* only if REFS_LOOSE_BROKEN: whether the stored id is all zeros */
	bool is_zero;
};

void refs_loose_release(struct refs_loose *ref);

/*
 * Parses the content of a ref's file: sets `kind`, `oid` and `target`. All
 * bytes are accepted; malformed content gives REFS_LOOSE_BROKEN. Returns 0 or
 * ERR_NOMEM.
 */
int refs_loose_parse(struct refs_loose *ref, const char *bytes, size_t len,
		     enum hash_algo algo);

/*
 * Reads the file of a ref. Returns 1 if the file was read, 0 if there is no
 * regular file at `path`, ERR_IO or ERR_NOMEM. After an error, *ref is zeroed.
 */
int refs_loose_read_file(struct refs_loose *ref, const char *path,
			 enum hash_algo algo, struct error *err);

/*
 * Returns whether each work tree has its own ref of this name. True for names
 * of the form of root refs (refs_name_has_root_form()), and below refs/bisect/,
 * refs/worktree/ and refs/rewritten/.
 */
bool refs_loose_is_per_worktree(const char *name);

/* The directories below refs/ that each work tree has for itself. */
#define REFS_LOOSE_PRIVATE_NR 3
extern const char *const refs_loose_private[REFS_LOOSE_PRIVATE_NR];

/* The place where a ref is stored. The ref's name decides the place. */
struct refs_place {
	enum {
		REFS_PLACE_SHARED, /* repo_refs_common_dir() */
		REFS_PLACE_OWN,    /* repo_refs_dir() */
		/* the directory of a linked work tree, see dir_len */
		REFS_PLACE_LINKED,
	} kind;
	/*
	 * REFS_PLACE_LINKED: the first dir_len bytes of the name,
	 * "worktrees/<id>", are the path of the directory, relative to
	 * repo_refs_common_dir()
	 */
	size_t dir_len;
	/*
	 * the ref's name in this place; points into the full name: after
	 * "main-worktree/" or "worktrees/<id>/", or to the beginning
	 */
	const char *inner;
};

/*
 * Returns the place of a ref with a full name. "main-worktree/<ref>" and
 * "worktrees/<id>/<ref>" name refs of other work trees (git-worktree(1)). If
 * all work trees share <ref> and it is below refs/, the place is that of <ref>.
 * If <ref> is neither below refs/ nor per work tree, as in "worktrees/<id>/x",
 * the name is the full name of a shared ref.
 */
struct refs_place refs_place_of(const char *name);

/*
 * Appends the path of the file of ref `name`, which must be well-formed
 * (refs_place_of()). Returns 0 or ERR_NOMEM.
 */
int refs_loose_path(struct buf *out, const struct repo *repo, const char *name);

/*
 * Appends the path of the reflog file of ref `name`. The path includes the
 * repository's directory and "logs/". Returns 0 or ERR_NOMEM.
 */
int refs_log_path(struct buf *out, const struct repo *repo, const char *name);

/*
 * Reads a loose ref by its full name. Returns 1 if the ref was read, 0 if the
 * ref has no regular file, ERR_IO or ERR_NOMEM. After an error, *ref is zeroed.
 */
int refs_loose_read(struct refs_loose *ref, const struct repo *repo,
		    const char *name, struct error *err);

/* All loose refs whose names start with `prefix`, in byte order. */
struct refs_loose_list {
	char *prefix;            /* owned */
	struct refs_loose *refs; /* owned */
	size_t nr, alloc;
};

/*
 * Lists and reads refs below refs/. A directory that cannot contain the prefix
 * is not opened. *out is owned by the caller. Returns 0 or a negative error
 * code.
 */
int refs_loose_list_read(struct refs_loose_list **out, const struct repo *repo,
			 const char *prefix, struct error *err);
void refs_loose_list_free(struct refs_loose_list *list);

/*
 * Returns the index in the list of the first ref whose name is not less than
 * `name`.
 */
size_t refs_loose_list_seek(const struct refs_loose_list *list,
			    const char *name);

#endif
