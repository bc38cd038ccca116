/* SPDX-License-Identifier: MIT */
/*
 * Loose references: one file per ref, below the git directory of the work
 * tree (HEAD, refs/bisect/, refs/worktree/, refs/rewritten/) or the common
 * directory (everything else under refs/); gitrepository-layout(5).
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
	REFS_LOOSE_BROKEN,   /* neither, or an impossible name */
};

struct refs_loose {
	enum refs_loose_kind kind;
	struct oid oid;     /* REFS_LOOSE_OID */
	char *target;       /* owned; REFS_LOOSE_SYMBOLIC, well-formed */
	char *name;         /* owned; full name, set by lists only */
	bool leads_nowhere; /* BROKEN: symbolic, to an impossible name */
	bool is_zero;       /* BROKEN: the id is all zeros */
};

void refs_loose_release(struct refs_loose *ref);

/*
 * Take the content of a ref's file apart: `kind`, `oid` and `target` are set.
 * 0 or ERR_NOMEM. Any bytes are accepted; what is no ref is BROKEN.
 */
int refs_loose_parse(struct refs_loose *ref, const char *bytes, size_t len,
		     enum hash_algo algo);

/*
 * Read a ref's file. 1; 0 when it is not there (or is no file); or
 * ERR_IO, ERR_NOMEM with *ref zeroed.
 */
int refs_loose_read_file(struct refs_loose *ref, const char *path,
			 enum hash_algo algo, struct error *err);

/*
 * Whether each work tree has a ref of this name for itself: it is not below
 * refs/, or below one of the three.
 */
bool refs_loose_is_per_worktree(const char *name);

/*
 * Append the path of the file of ref `name`, which has to be well-formed.
 * "main-worktree/<ref>" and "worktrees/<id>/<ref>" name refs of other work
 * trees (git-worktree(1)). 0 or ERR_NOMEM.
 */
int refs_loose_path(struct buf *out, const struct repo *repo, const char *name);

/* As refs_loose_path() for the file of its reflog, below logs/. */
int refs_log_path(struct buf *out, const struct repo *repo, const char *name);

/* As refs_loose_read_file() for a full name. */
int refs_loose_read(struct refs_loose *ref, const struct repo *repo,
		    const char *name, struct error *err);

/* All loose refs whose name starts with `prefix`, in byte order. */
struct refs_loose_list {
	char *prefix;            /* owned */
	struct refs_loose *refs; /* owned */
	size_t nr, alloc;
};

/*
 * List and read what is below refs/; directories that cannot contain the
 * prefix are not opened. *out is owned by the caller. 0 or a negative error.
 */
int refs_loose_list_read(struct refs_loose_list **out, const struct repo *repo,
			 const char *prefix, struct error *err);
void refs_loose_list_free(struct refs_loose_list *list);

/* Index of the first entry whose name is not less than `name`. */
size_t refs_loose_list_seek(const struct refs_loose_list *list,
			    const char *name);

#endif
