/* SPDX-License-Identifier: MIT */
/* git rev-parse: arguments that stand for several revisions. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "builtin/rev-parse.h"
#include "names/revname.h"
#include "object/parse.h"
#include "repo/shallow.h"
#include "walk/merge-bases.h"

/*
 * Replace *oid by the commit to which it leads through tags. Returns 1 if *oid
 * is a commit now. Returns the negated exit code after printing an error if an
 * object is damaged. Returns 0 in all other cases: if an object is missing, or,
 * after printing an error, if the tags lead to no commit.
 */
static int peel_to_commit(const struct rev_parse *rp, struct oid *oid)
{
	struct error err = ERROR_INIT;
	char hex[OID_MAX_HEX_LEN + 1];
	enum object_type type;
	struct oid commit;
	int ret;

	ret = odb_peel(rp->store.reader, oid, &commit, &type, &err);
	/*
	 * If the object is missing, print no error here: the caller reports
	 * that there is no such revision.
	 */
	if (ret == ERR_CORRUPT)
		return -builtin_fail(&err);
	if (ret < 0 && ret != ERR_MISSING)
		builtin_error("%s", err.msg);
	if (ret < 0)
		return 0;
	if (type != OBJ_COMMIT) {
		builtin_error("object %s is a %s, not a commit",
			      oid_to_hex(hex, oid, rp->store.odb->algo),
			      object_type_name(type));
		return 0;
	}
	*oid = commit;
	return 1;
}

/*
 * Print the merge bases of a symmetric difference as excluded commits. Returns
 * 1 if they were printed, 0 if an end does not lead to a commit, or the negated
 * exit code after printing an error.
 */
static int show_bases(struct rev_parse *rp, struct oid *from, struct oid *to)
{
	struct error err = ERROR_INIT;
	struct oid *bases;
	size_t nr;
	int ret;

	ret = peel_to_commit(rp, from);
	if (ret > 0)
		ret = peel_to_commit(rp, to);
	if (ret <= 0)
		return ret;
	ret = merge_bases_of(&bases, &nr, rp->store.odb, from, to, &err);
	for (size_t i = 0; i < nr && !ret; i++)
		rev_parse_show_rev(rp, true, &bases[i], NULL);
	free(bases);
	return ret < 0 ? -builtin_fail(&err) : 1;
}

bool rev_parse_is_fatal(const struct rev_parse *rp, const char *name,
			const struct error *err)
{
	return err->code == ERR_PEER ||
	       (err->code == ERR_CORRUPT &&
		!store_base_is_damaged(&rp->store, name));
}

/*
 * Resolve the name of a commit. Returns 1 if there is such a commit, 0 if not,
 * or the negated exit code after printing an error that ends the command. If
 * the name is an ambiguous abbreviation, prints the candidates.
 */
static int resolve(struct rev_parse *rp, struct oid *oid, const char *name)
{
	struct error err = ERROR_INIT;

	if (!store_resolve_commit(&rp->store, oid, name, &err))
		return 1;
	if (rev_parse_is_fatal(rp, name, &err))
		return -builtin_fail(&err);
	if (revname_error_is_ambiguous(&err))
		builtin_error("%s", err.msg);
	return 0;
}

int rev_parse_range(struct rev_parse *rp, const char *arg)
{
	const char *dots = strstr(arg, "..");
	const char *to;
	struct oid from_oid, to_oid;
	char *from;
	int ret;

	if (!dots || !strcmp(arg, ".."))
		return 0;
	to = dots + 2 + (dots[2] == '.');
	from = mem_strndup(arg, (size_t)(dots - arg));
	if (!from)
		return -builtin_die("out of memory");
	ret = resolve(rp, &from_oid, *from ? from : "HEAD");
	if (ret > 0)
		ret = resolve(rp, &to_oid, *to ? to : "HEAD");
	if (ret > 0) {
		rev_parse_show_rev(rp, false, &to_oid, *to ? to : "HEAD");
		rev_parse_show_rev(rp, dots[2] != '.', &from_oid,
				   *from ? from : "HEAD");
		ret = dots[2] == '.' ? show_bases(rp, &from_oid, &to_oid) : 1;
	}
	free(from);
	return ret;
}

/*
 * Suffixes that stand for several revisions: <rev>^@, <rev>^! and <rev>^-<n>.
 */
enum shorthand { ALL_PARENTS, NOT_PARENTS, NOT_ONE };

/*
 * Find a suffix that stands for several revisions. Returns the length of the
 * name before the suffix, or 0 if there is no suffix. Sets *kind, and for
 * <rev>^-<n> sets *nr to <n>.
 */
static size_t find_shorthand(const char *arg, enum shorthand *kind, size_t *nr)
{
	const char *caret = strrchr(arg, '^');
	char *end;

	if (!caret || caret == arg)
		return 0;
	*nr = 1;
	if (!strcmp(caret, "^@"))
		*kind = ALL_PARENTS;
	else if (!strcmp(caret, "^!"))
		*kind = NOT_PARENTS;
	else if (caret[1] == '-')
		*kind = NOT_ONE;
	else
		return 0;
	if (*kind == NOT_ONE && caret[2]) {
		*nr = strtoul(caret + 2, &end, 10);
		if (*end || !*nr)
			return 0;
	}
	return (size_t)(caret - arg);
}

/*
 * Print parents of a commit: only parent `nr` if `kind` is NOT_ONE, otherwise
 * all. `name` is the name of the commit. If options ask for names in place of
 * ids, the name of a parent is "<name>^<n>".
 */
static void show_parents(struct rev_parse *rp, const struct commit_view *view,
			 const char *name, enum shorthand kind, size_t nr)
{
	bool named = rp->form != REV_PARSE_OID;
	struct buf full = BUF_INIT;
	struct oid parent;

	for (size_t i = 0; i < view->parent_nr; i++) {
		if (kind == NOT_ONE && nr != i + 1)
			continue;
		commit_parent(&parent, view, i, rp->store.odb->algo);
		buf_reset(&full);
		if (buf_printf(&full, "%s^%zu", name, i + 1) >= 0)
			rev_parse_show_rev(rp, kind != ALL_PARENTS, &parent,
					   named ? full.data : NULL);
	}
	buf_release(&full);
}

int rev_parse_shorthand(struct rev_parse *rp, const char *arg)
{
	struct odb_object obj = ODB_OBJECT_INIT;
	struct commit_view view;
	enum shorthand kind;
	struct oid oid, commit;
	size_t nr;
	size_t len = find_shorthand(arg, &kind, &nr);
	char *name;
	int ret;

	if (!len)
		return 0;
	name = mem_strndup(arg, len);
	if (!name)
		return -builtin_die("out of memory");
	ret = resolve(rp, &oid, name);
	if (ret > 0) {
		commit = oid;
		ret = peel_to_commit(rp, &commit);
	}
	if (ret <= 0)
		goto out;
	ret = 0;
	if (odb_read(rp->store.reader, &commit, &obj, NULL) < 0)
		goto out;
	if (commit_parse(&view, obj.data, obj.len, rp->store.odb->algo, NULL) <
	    0)
		goto out;
	if (repo_shallow_has(rp->store.repo, &commit, NULL) > 0)
		view.parent_nr = 0;
	if (kind == NOT_ONE && nr > view.parent_nr)
		goto out;
	if (kind != ALL_PARENTS)
		rev_parse_show_rev(rp, false, &oid, name);
	show_parents(rp, &view, name, kind, nr);
	ret = 1;
out:
	odb_object_release(rp->store.reader, &obj);
	free(name);
	return ret;
}
