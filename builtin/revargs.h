/* SPDX-License-Identifier: MIT */
/*
 * Revision arguments, as rev-list and pack-objects read them from the command
 * line and from standard input: names, ^names, ranges, --not, --all.
 */
#ifndef BUILTIN_REVARGS_H
#define BUILTIN_REVARGS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/error.h"
#include "object/oid.h"
#include "odb/odb.h"
#include "refs/refs.h"
#include "walk/filter.h"

/* A named object. */
struct rev_arg {
	struct oid oid;
	/* owned: the path of <rev>:<path>, otherwise NULL */
	char *path;
	/* owned: the name as given, or a ref's name; NULL unless keep_names */
	char *name;
	/* on the left side of <rev>...<rev> */
	bool is_left;
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
	/* commits of "--shallow <oid>" lines */
	struct rev_list shallow;
	/* owned: the paths after "--" */
	char **paths;
	size_t path_nr, path_alloc;
	/* set by the caller: standard input may have paths */
	bool takes_paths;
	/* keep the names of objects that are added later */
	bool keep_names;
	/* after an odd number of --not */
	bool negate;
	/* an option such as --all was given; there may be no such refs */
	bool asked_for_refs;
	/*
	 * borrowed: every line read from standard input is kept here, as it
	 * was; set by a caller who can give the whole input to stock Git; else
	 * NULL
	 */
	struct buf *input;
	/*
	 * error for an object with a name or a full id that does not exist;
	 * code 0: all exist
	 */
	struct error absent;
	/* messages of revname_resolve_as() */
	struct buf notes;
};

/* Returns 0 or ERR_NOMEM. The caller must release *args in both cases. */
int rev_args_init(struct rev_args *args, const struct odb *odb,
		  struct refs *refs);
void rev_args_release(struct rev_args *args);

/*
 * Parse one argument. Returns 1 if it was used, 0 if it is another option, or a
 * negative error code: ERR_UNSUPPORTED if only stock Git resolves it.
 */
int rev_args_add(struct rev_args *args, const char *arg, struct error *err);

/*
 * Parse all lines of standard input. After "--" come paths, if takes_paths is
 * set. A "--not" in the lines applies only to the lines; a "--not" on the
 * command line does not apply to them. An unknown option is ERR_UNSUPPORTED if
 * args->input is set, else ERR_INVALID. Returns 0 or a negative error code.
 */
int rev_args_add_stdin(struct rev_args *args, struct error *err);

/*
 * Call after the last argument, if all objects must exist. Returns 0, or
 * ERR_MISSING if an argument is the id of a missing object.
 */
int rev_args_check(const struct rev_args *args, struct error *err);

/*
 * Make the error message for a missing tip: if refs were requested and the
 * object does not exist, the message names a ref with this id. Returns
 * ERR_MISSING, or another negative error code. *err is not changed in any other
 * case. Reads all refs.
 */
int rev_args_name_missing(const struct rev_args *args, const struct oid *oid,
			  struct error *err);

/*
 * Print the messages about the arguments that were read so far. Do not call
 * this if stock Git runs instead, because it prints its own.
 */
void rev_args_print_notes(struct rev_args *args);

/*
 * Resolve a name again that is neither a revision nor a path. Stock Git does
 * this to explain the error, so its messages appear twice.
 */
void rev_args_note_again(struct rev_args *args, const char *name);

/* Add a path. Returns 0 or ERR_NOMEM. */
int rev_args_add_path(struct rev_args *args, const char *path);

/* Empty a list and free its memory. */
void rev_list_release(struct rev_list *list);

/*
 * Resolve a name and add the object to a list. Returns 0 or a negative error
 * code.
 */
int rev_args_resolve(struct rev_args *args, struct rev_list *list,
		     const char *name, struct error *err);

/* Returns the ids of a list, malloc()ed, or NULL if there is no memory. */
struct oid *rev_list_oids(const struct rev_list *list);

/* ---- --filter=<filter-spec> and --no-filter, of commands that list objects */

/* The filters of a command line. */
struct filter_args {
	struct filter filter;
	/* the error of the first invalid value */
	struct error err;
};

void filter_args_init(struct filter_args *args);
void filter_args_release(struct filter_args *args);

/* Add a filter. filter_args_load() reports an invalid one. */
void filter_args_add(struct filter_args *args, const char *spec);

/* Callback for the option; `value` is a struct filter_args. */
int filter_args_option(void *value, const char *arg);

/*
 * Read the blobs that sparse:oid filters name. Returns 0, or a negative error
 * code, also for an invalid filter.
 */
int filter_args_load(struct filter_args *args, struct rev_args *revs,
		     struct error *err);

#endif
