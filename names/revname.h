/* SPDX-License-Identifier: MIT */
/* Resolves names of objects as in gitrevisions(7). */
#ifndef NAMES_REVNAME_H
#define NAMES_REVNAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "object/oid.h"
#include "odb/odb.h"
#include "refs/refs.h"
#include "repo/repo.h"

/*
 * The kind of object that an abbreviated id means if several objects begin with
 * it.
 */
enum revname_hint {
	/* any kind, or the kind that core.disambiguate names */
	REVNAME_ANY,
	REVNAME_COMMIT,
	/* a commit, or a tag of one */
	REVNAME_COMMITTISH,
	REVNAME_TREE,
	/* a tree, or a commit or tag that leads to a tree */
	REVNAME_TREEISH,
	REVNAME_BLOB,
};

/*
 * Resolves one name to an object id. Supported are full and abbreviated ids,
 * names of refs (refs_dwim()), "@", entries of reflogs (<ref>@{<n>} and
 * <ref>@{<date>}), and the output of git-describe(1). A suffix may follow:
 * ~<n>, ^<n> (^0 is the commit itself), ^{<type>}, ^{}, ^{object}, or :<path>
 * for a path in the tree of a revision, as in "HEAD:Makefile". A full id is
 * returned without checking that the object exists.
 *
 * Returns 0 or an error code. ERR_UNSUPPORTED: @{upstream}, @{push}, @{-<n>},
 * ^{/<regex>}, a name that begins with a colon (:<path> is an entry of the
 * index, :/<text> a search), or a reflog with too few entries; the message says
 * which. ERR_MISSING: an unknown name ("ambiguous argument '<name>': unknown
 * revision ..."), or an object on the way whose loose file is empty.
 * ERR_CORRUPT: an object on the way is damaged. ERR_INVALID: an ambiguous
 * prefix ("short object ID <hex> is ambiguous"), an object of another type than
 * required, or a missing path.
 */
int revname_resolve(struct oid *out, const char *name, struct refs *refs,
		    struct odb_reader *reader, const struct odb *odb,
		    struct error *err);

/*
 * How a name is resolved. With all fields zero, names are resolved like in
 * revname_resolve().
 */
struct revname_options {
	/*
	 * kind of object that is meant; used only if the whole name is an
	 * abbreviated id
	 */
	enum revname_hint hint;
	/*
	 * true: do not warn if several refs have the name. For a name with
	 * ~<n> or ^<n>, the warning is given all the same, as in stock Git.
	 */
	bool quiet;
	/*
	 * Messages for the user are appended, each a line with "warning: " or
	 * "error: " in front; NULL: no messages. The messages report:
	 *
	 * - a short name that several refs have (unless
	 *   core.warnAmbiguousRefs is false);
	 * - a ref that cannot be read;
	 * - an object whose type is not the one that a suffix such as ^{tree}
	 *   requires.
	 *
	 * In the last two cases the function returns ERR_MISSING, as for an
	 * unknown name.
	 */
	struct buf *notes;
};

/*
 * Resolves a name like revname_resolve(), with options. Returns 0 or a negative
 * error code.
 */
int revname_resolve_as(struct oid *out, const char *name,
		       const struct revname_options *options, struct refs *refs,
		       struct odb_reader *reader, const struct odb *odb,
		       struct error *err);

/*
 * Returns whether a message of revname_resolve() says that an abbreviated id is
 * ambiguous.
 */
bool revname_error_is_ambiguous(const struct error *err);

/*
 * Returns whether a message of revname_resolve() says that a reflog lacks the
 * entry of a name <ref>@{<n>} ("log for '<ref>' only has ...").
 */
bool revname_error_is_log(const struct error *err);

/*
 * Returns whether a message of revname_resolve() says that a name is unknown
 * ("ambiguous argument '<name>': unknown revision ...").
 */
bool revname_error_is_unknown(const struct error *err);

/*
 * Returns the length of <rev> in bytes if `name` has the form <rev>:<path>,
 * otherwise 0.
 */
size_t revname_rev_len(const char *name);

/*
 * Returns a pointer to <path> in a name <rev>:<path>, or NULL if the name has
 * another form. There is one exception, as in stock Git: if a name ends with
 * "}", all text from the last "^{" on is a suffix, and a colon in a suffix
 * starts no path. The type in the suffix ends at the first "}", and the rest of
 * the suffix is ignored. So "main^{tree}:a}" means the same as "main^{tree}".
 */
const char *revname_path(const char *name);

/*
 * Returns whether an argument (a name, "^<name>", a range) may contain a name
 * that revname_resolve() refuses with ERR_UNSUPPORTED. Only the characters of
 * the argument are looked at, so the result is also true for some supported
 * names.
 */
bool revname_may_be_unsupported(const char *arg);

/*
 * Finds the object whose id starts with the `len` digits at `hex`, at least 4.
 * If several objects match, those that are not of the kind `hint` are ignored.
 * Returns 1 on success, 0 if there is none or the text is not hexadecimal,
 * ERR_INVALID if the id is ambiguous or core.disambiguate is invalid, or
 * another error code. The error message for an ambiguous id lists as many of
 * the objects as fit into the message, one on a line, with "hint:" in front.
 */
int revname_resolve_short(struct oid *out, const char *hex, size_t len,
			  enum revname_hint hint, struct odb_reader *reader,
			  const struct odb *odb, struct error *err);

/*
 * Returns the number of digits of abbreviated ids: core.abbrev, or a number
 * that depends on the number of objects, as in stock Git. Returns ERR_INVALID
 * if core.abbrev is invalid.
 */
int revname_default_len(const struct odb *odb, struct error *err);

/*
 * Checks core.abbrev and core.disambiguate. Every command calls this function,
 * even if it uses neither variable, so that every command reports a mistake in
 * these variables. Returns 0 or ERR_INVALID.
 */
int revname_check_config(const struct config *config, struct error *err);

/*
 * The reflog selectors of gitrevisions(7): <ref>@{<n>} and <ref>@{<date>}. The
 * forms that need the configuration of branches (@{upstream}, @{push}) or the
 * history of checkouts (@{-<n>}) are recognised, but not resolved.
 */

/* The parsed text between the braces of a selector such as ref@{1}. */
struct revname_selector {
	/* true: `time` selects the entry; false: `nth` selects it */
	bool by_time;
	/* number of entries to go back; 0 is the newest entry */
	uint64_t nth;
	int64_t time; /* seconds since 1970 */
	/* true: if the reflog begins after `time`, do not warn about it */
	bool quiet;
};

/*
 * Returns whether the text between the braces of a selector @{...} stands for a
 * branch: "-<n>", or "u", "upstream" or "push" in upper or lower case. Parses
 * no date, so a long text costs little.
 */
bool revname_selector_is_branch(const char *text, size_t len);

/*
 * Parses the text between the braces of a selector @{...}. Up to eight digits
 * are a number of entries. Any other text is a date, which may be relative to
 * `now`. Returns 1 if parsed, 0 if the text is neither a number nor a date.
 * Returns ERR_UNSUPPORTED if the text stands for a branch
 * (revname_selector_is_branch()). *out is set only if the result is 1;
 * out->quiet is then false.
 */
int revname_selector_parse(struct revname_selector *out, const char *text,
			   size_t len, int64_t now);

/*
 * Finds the id that a selector names in the reflog of a ref. The `len` bytes at
 * `given` are the short name of the ref; with len 0 the ref is the current
 * branch, or HEAD if it is detached.
 *
 * Returns 1 with *out set, 0 if no such ref has a reflog, ERR_UNSUPPORTED if
 * the reflog has too few entries ("log for '<ref>' only has <n> entries"), or
 * another negative error code. After ERR_UNSUPPORTED, the command should end
 * with an error, as stock Git's commands do. Warnings about gaps in the reflog
 * are appended to *notes, each a line that begins with "warning: "; notes may
 * be NULL.
 */
int revname_selector_find(struct oid *out, const struct revname_selector *s,
			  const char *given, size_t len, struct refs *refs,
			  const struct repo *repo, struct buf *notes,
			  struct error *err);

#endif
