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

/* An object that an argument names. */
struct rev_arg {
	struct oid oid;
	/* owned: the path in a name <rev>:<path>, otherwise NULL */
	char *path;
	/*
	 * owned: the name as given, or the name of a ref; NULL unless
	 * keep_names is set
	 */
	char *name;
	/* true: the object is on the left side of a range <rev>...<rev> */
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
	/* the commits in "--shallow <oid>" lines of standard input */
	struct rev_list shallow;
	/* owned: the paths after "--" */
	char **paths;
	size_t path_nr, path_alloc;
	/* Set by the caller: standard input may contain paths after "--". */
	bool takes_paths;
	/*
	 * true: keep the names of objects that are added from now on. Refs from
	 * --branches, --tags and --remotes are kept without the prefix, for
	 * example "refs/heads/".
	 */
	bool keep_names;
	/*
	 * true: the next argument cannot be a path, because it is before "--"
	 * or is a line of standard input. So ".." means HEAD..HEAD, not the
	 * parent directory.
	 */
	bool no_path;
	/*
	 * Set by the caller. true: stop reading standard input at the first
	 * line that names a missing object. false: read all lines. An error in
	 * a later line is then reported in place of the missing object.
	 */
	bool must_exist;
	/*
	 * Set by the caller. true: a broken ref counts as a ref to the missing
	 * object whose id is all zeros. false: a broken ref is an error.
	 */
	bool broken_is_missing;
	/*
	 * true: an odd number of --not was given so far, so the next revisions
	 * are negated
	 */
	bool negate;
	/*
	 * true: an argument such as --all or main^@ was given, which stands for
	 * any number of revisions, perhaps for none
	 */
	bool asked_for_refs;
	/*
	 * Borrowed: receives every line read from standard input, unchanged.
	 * Set by a caller that can run stock Git with the same input later.
	 * NULL: the lines are not kept.
	 */
	struct buf *input;
	/*
	 * true: a child process of stock Git resolves each name that only stock
	 * Git can resolve. false: such a name is ERR_UNSUPPORTED, and the
	 * caller runs stock Git in place of the whole command.
	 *
	 * Set while lines of standard input are read and not kept (`input` is
	 * NULL). Stock Git cannot run in place of the command in this case,
	 * because the lines that we have read are gone from standard input.
	 */
	bool asks_stock;
	/*
	 * The error about the first argument that names a missing object, by
	 * its full id or by a name that resolves to the id. The code is 0 if no
	 * object is missing.
	 */
	struct error absent;
	/* messages of revname_resolve_as() that were not printed yet */
	struct buf notes;
};

/*
 * Initialize *args. Returns 0 or ERR_NOMEM. The caller must release *args in
 * both cases.
 */
int rev_args_init(struct rev_args *args, const struct odb *odb,
		  struct refs *refs);
void rev_args_release(struct rev_args *args);

/*
 * Parse one argument. Returns 1 if the argument was used, 0 if it is another
 * option, or a negative error code. ERR_UNSUPPORTED means that only stock Git
 * can resolve the argument.
 */
int rev_args_add(struct rev_args *args, const char *arg, struct error *err);

/*
 * Parse the lines of standard input, up to the first empty line. If takes_paths
 * is set, paths may follow after "--". A "--not" in a line applies only to
 * later lines. A "--not" on the command line does not apply to lines.
 *
 * Returns 0 or a negative error code. If args->input is set, the lines are kept
 * there, so that the caller can run stock Git with them. Returns
 * ERR_UNSUPPORTED in this case for an unknown option, and for a name that only
 * stock Git can resolve. If args->input is NULL, an unknown option is
 * ERR_INVALID, and a child process of stock Git resolves the name.
 */
int rev_args_add_stdin(struct rev_args *args, struct error *err);

/*
 * Call this after the last argument, if all objects must exist. Returns 0, or
 * ERR_MISSING if an argument is the id of a missing object.
 */
int rev_args_check(const struct rev_args *args, struct error *err);

/*
 * Call this if a tip could not be added, because an object is missing: the
 * object of the tip, or the target of a tag.
 *
 * If --all or a similar option was given, and the object of a tip is missing,
 * sets *err to "bad object <ref>". Here, <ref> is a ref that has the id of this
 * tip. If there is no such ref, and in other cases, *err is not changed. So a
 * ref whose object is missing is reported before a tag whose target is missing.
 *
 * Returns ERR_MISSING, or another negative error code if the refs cannot be
 * read.
 */
int rev_args_name_missing(const struct rev_args *args, struct error *err);

/*
 * Print the messages about the arguments read so far. Do not call this if stock
 * Git runs instead, because stock Git prints its own messages.
 */
void rev_args_print_notes(struct rev_args *args);

/*
 * Call this for a name that is neither a revision nor a path. Resolves the name
 * again, so that warnings about the name are printed twice, as in stock Git.
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

#endif
