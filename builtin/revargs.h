/* SPDX-License-Identifier: MIT */
/*
 * Revision arguments, as rev-list and pack-objects take them from the command
 * line and from standard input: names, ^names, ranges, --not, --all.
 */
#ifndef BUILTIN_REVARGS_H
#define BUILTIN_REVARGS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "object/oid.h"
#include "odb/odb.h"
#include "refs/refs.h"

/* A named object. */
struct rev_arg {
	struct oid oid;
	char *path;   /* owned: of <rev>:<path>, else NULL */
	char *name;   /* owned: as it was given, or a ref's; NULL unless
			 names are kept */
	bool is_left; /* the left side of <rev>...<rev> */
};

struct rev_list {
	struct rev_arg *items; /* owned */
	size_t nr, alloc;
};

struct rev_args {
	const struct odb *odb;     /* borrowed */
	struct refs *refs;         /* borrowed */
	struct odb_reader *reader; /* owned */
	struct rev_list wants, haves;
	struct rev_list shallow; /* from "--shallow <oid>" lines */
	char **paths;            /* owned: what stands behind "--" */
	size_t path_nr, path_alloc;
	bool takes_paths;    /* may be set: from standard input, too */
	bool keep_names;     /* of what is added from now on */
	bool negate;         /* after an odd number of --not */
	bool asked_for_refs; /* --all and the like, of which there may be
				none */
	struct error absent; /* about an object that does not exist, though it
				has a name or a full id; code 0: all do */
};

/* 0 or ERR_NOMEM; release in any case. */
int rev_args_init(struct rev_args *args, const struct odb *odb,
		  struct refs *refs);
void rev_args_release(struct rev_args *args);

/*
 * Take one argument. Returns 1 when it was one of ours, 0 when it is an option
 * that is not, or a negative error: ERR_UNSUPPORTED for what only stock Git
 * resolves.
 */
int rev_args_add(struct rev_args *args, const char *arg, struct error *err);

/*
 * Take all lines of standard input; other options are errors. Behind "--" come
 * paths, where these are taken. A "--not" among them is for them alone, one
 * that was added before is not.
 */
int rev_args_add_stdin(struct rev_args *args, struct error *err);

/*
 * When all are taken: 0, or ERR_MISSING when one has the id of an object that
 * does not exist, for who cannot do without.
 */
int rev_args_check(const struct rev_args *args, struct error *err);

/*
 * The words for who cannot do without a tip that is missing: those of a ref
 * that has its id, where refs were asked for and the object does not exist.
 * Returns ERR_MISSING, with *err left as it is in any other case, or a negative
 * error. Reads all refs.
 */
int rev_args_name_missing(const struct rev_args *args, const struct oid *oid,
			  struct error *err);

/* Take a path. 0 or ERR_NOMEM. */
int rev_args_add_path(struct rev_args *args, const char *path);

/* Empty a list and let go of its memory. */
void rev_list_release(struct rev_list *list);

/* Add the object of a name to a list. 0 or negative. */
int rev_args_resolve(struct rev_args *args, struct rev_list *list,
		     const char *name, struct error *err);

/* The ids of a list alone: malloc()ed, NULL when out of memory. */
struct oid *rev_list_oids(const struct rev_list *list);

#endif
