/* SPDX-License-Identifier: MIT */
/* Parses the revisions of a command line, or of standard input. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/affix.h"
#include "base/mem.h"
#include "builtin/input.h"
#include "builtin/path-args.h"
#include "builtin/revargs.h"
#include "builtin/store.h"
#include "names/revname.h"
#include "walk/merge-bases.h"

#define READER_CACHE ((size_t)1 << 20)

int rev_args_init(struct rev_args *args, const struct odb *odb,
		  struct refs *refs)
{
	*args = (struct rev_args){
		.odb = odb,
		.refs = refs,
		.notes = BUF_INIT,
	};
	args->reader = odb_reader_new(odb, READER_CACHE);
	return args->reader ? 0 : ERR_NOMEM;
}

void rev_list_release(struct rev_list *list)
{
	for (size_t i = 0; i < list->nr; i++) {
		free(list->items[i].path);
		free(list->items[i].name);
	}
	free(list->items);
	*list = (struct rev_list){NULL, 0, 0};
}

void rev_args_release(struct rev_args *args)
{
	odb_reader_free(args->reader);
	rev_list_release(&args->wants);
	rev_list_release(&args->haves);
	rev_list_release(&args->shallow);
	for (size_t i = 0; i < args->path_nr; i++)
		free(args->paths[i]);
	free(args->paths);
	buf_release(&args->notes);
}

void rev_args_print_notes(struct rev_args *args)
{
	store_print_notes(&args->notes);
}

static int resolve(struct oid *oid, struct rev_args *args, const char *name,
		   struct error *err)
{
	const struct revname_options options = {.notes = &args->notes};
	int ret = revname_resolve_as(oid, name, &options, args->refs,
				     args->reader, args->odb, err);

	if (ret == ERR_UNSUPPORTED && args->asks_stock)
		ret = store_resolve_by_stock(args->odb->repo, oid, name, err);
	if (ret < 0)
		path_args_look_on_disk(name, args->odb->repo, err);
	return ret;
}

void rev_args_note_again(struct rev_args *args, const char *name)
{
	const struct revname_options options = {
		.quiet = true,
		.notes = &args->notes,
	};
	struct oid oid;

	revname_resolve_as(&oid, name, &options, args->refs, args->reader,
			   args->odb, NULL);
}

/* Append an object to the list; `path` and `name` may be NULL. */
static int list_add(struct rev_list *list, const struct oid *oid,
		    const char *path, const char *name)
{
	struct rev_arg *arg;

	if (mem_grow(&list->items, &list->alloc, list->nr + 1,
		     sizeof(*list->items)) < 0)
		return ERR_NOMEM;
	arg = &list->items[list->nr++];
	*arg = (struct rev_arg){
		.oid = *oid,
		.path = path ? mem_strdup(path) : NULL,
		.name = name ? mem_strdup(name) : NULL,
	};
	return (path && !arg->path) || (name && !arg->name) ? ERR_NOMEM : 0;
}

struct oid *rev_list_oids(const struct rev_list *list)
{
	struct oid *oids = mem_alloc(list->nr, sizeof(*oids));

	for (size_t i = 0; oids && i < list->nr; i++)
		oids[i] = list->items[i].oid;
	return oids;
}

static int add_found(const struct rev_args *args, struct rev_list *list,
		     const char *name, const struct oid *oid, struct error *err)
{
	if (list_add(list, oid, revname_path(name),
		     args->keep_names ? name : NULL) < 0)
		return error_nomem(err);
	return 0;
}

int rev_args_resolve(struct rev_args *args, struct rev_list *list,
		     const char *name, struct error *err)
{
	struct oid oid;
	int ret = resolve(&oid, args, name, err);

	if (ret < 0)
		return ret;
	if (!args->absent.code) {
		ret = odb_reader_need(args->reader, &oid, err);
		if (ret < 0)
			return ret;
		if (!ret)
			error_set(&args->absent, ERR_MISSING, "bad object %s",
				  name);
	}
	return add_found(args, list, name, &oid, err);
}

int rev_args_check(const struct rev_args *args, struct error *err)
{
	if (args->absent.code && err)
		*err = args->absent;
	return args->absent.code;
}

struct naming {
	const struct oid *oid;
	struct error *err;
};

/*
 * Callback for each ref. If the ref points to the missing object n->oid, sets
 * an error that names the ref, and returns ERR_MISSING, which ends the visit.
 * Otherwise returns 0.
 */
static int name_missing(void *ctx, const struct ref *ref)
{
	const struct naming *n = ctx;

	return oid_equal(&ref->oid, n->oid)
		       ? error_set(n->err, ERR_MISSING, "bad object %s",
				   ref->name)
		       : 0;
}

/* Returns the first id of the list whose object is missing, or NULL. */
static const struct oid *first_missing(const struct rev_args *args,
				       const struct rev_list *list)
{
	for (size_t i = 0; i < list->nr; i++)
		if (!odb_reader_has(args->reader, &list->items[i].oid))
			return &list->items[i].oid;
	return NULL;
}

int rev_args_name_missing(const struct rev_args *args, struct error *err)
{
	struct naming n = {first_missing(args, &args->wants), err};
	struct ref head;
	int ret;

	if (!n.oid)
		n.oid = first_missing(args, &args->haves);
	if (!args->asked_for_refs || !n.oid)
		return ERR_MISSING;
	ret = refs_each_strict(args->refs, "", name_missing, &n, err);
	if (!ret)
		ret = refs_lookup_head(args->refs, &head, err);
	if (ret > 0)
		ret = name_missing(&n, &head);
	if (!ret)
		ret = refs_each_other_head(args->refs, name_missing, &n, err);
	return ret < 0 ? ret : ERR_MISSING;
}

static int add_name(struct rev_args *args, const char *name, bool negate,
		    struct error *err)
{
	return rev_args_resolve(
		args, negate != args->negate ? &args->haves : &args->wants,
		name, err);
}

/* Add the merge bases of both ends of a range <rev>...<rev> to `list`. */
static int add_bases(struct rev_args *args, struct rev_list *list,
		     const struct rev_arg *left, const struct rev_arg *right,
		     struct error *err)
{
	struct oid *bases;
	size_t nr;
	int ret = merge_bases_of(&bases, &nr, args->odb, &left->oid,
				 &right->oid, err);

	for (size_t i = 0; i < nr && !ret; i++)
		if (list_add(list, &bases[i], NULL, NULL) < 0)
			ret = error_nomem(err);
	free(bases);
	return ret;
}

/* A range of revisions: the names of its two ends, and their objects. */
struct range {
	const char *names[2];
	struct oid oids[2];
	/* true: the range is a symmetric difference, written with "..." */
	bool is_difference;
};

/*
 * Resolve both ends of a range. Returns 1 if both are revisions, 0 if one is
 * not, ERR_UNSUPPORTED for a form that only stock Git resolves, or another
 * negative error code.
 */
static int find_ends(struct range *range, struct rev_args *args,
		     struct error *err)
{
	for (int i = 0; i < 2; i++) {
		int ret = resolve(&range->oids[i], args, range->names[i], err);

		if (ret < 0)
			return ret == ERR_UNSUPPORTED || ret == ERR_PEER ? ret
									 : 0;
	}
	return 1;
}

/*
 * Check that the objects at both ends of a range exist. They must exist even if
 * other objects may be missing. Returns 1 or a negative error code.
 */
static int check_ends(struct rev_args *args, const struct range *range,
		      const char *arg, struct error *err)
{
	int ret = odb_reader_need(args->reader, &range->oids[0], err);

	if (ret > 0)
		ret = odb_reader_need(args->reader, &range->oids[1], err);
	if (ret)
		return ret;
	error_set(&args->absent, ERR_MISSING, "%s %s",
		  range->is_difference ? "Invalid symmetric difference "
					 "expression"
				       : "Invalid revision range",
		  arg);
	return rev_args_check(args, err);
}

/*
 * Check that an end of <left>...<right> leads to a commit. Returns 1 if so, 0
 * after printing an error, or a negative error code.
 */
static int check_end(struct odb_reader *reader, const struct oid *oid,
		     enum hash_algo algo, struct error *err)
{
	char hex[OID_MAX_HEX_LEN + 1];
	enum object_type type;
	struct oid peeled;
	int ret = odb_peel(reader, oid, &peeled, &type, err);

	if (ret == ERR_MISSING && !odb_peel_tag(reader, oid, &peeled, NULL)) {
		builtin_error("Could not read %s",
			      oid_to_hex(hex, &peeled, algo));
		return 0;
	}
	if (ret < 0 || type == OBJ_COMMIT)
		return ret < 0 ? ret : 1;
	builtin_error("object %s is a %s, not a commit",
		      oid_to_hex(hex, oid, algo), object_type_name(type));
	return 0;
}

/*
 * Check that both ends of <left>...<right> lead to commits. Returns 1 if so, or
 * a negative error code.
 */
static int check_difference(struct rev_args *args, const struct range *range,
			    const char *arg, struct error *err)
{
	enum hash_algo algo = args->odb->algo;
	int one = check_end(args->reader, &range->oids[0], algo, err);
	int two = one < 0 ? one
			  : check_end(args->reader, &range->oids[1], algo, err);

	if (two < 0)
		return two;
	return one && two ? 1
			  : error_set(err, ERR_INVALID,
				      "Invalid symmetric difference "
				      "expression %s",
				      arg);
}

/*
 * Add both ends of a range. For <from>..<to>, `to` is a want and `from` is a
 * have. For <left>...<right>, both are wants, and their merge bases are haves.
 * If args->negate is set, wants and haves are exchanged. Returns 1 or a
 * negative error code.
 */
static int add_ends(struct rev_args *args, const struct range *range,
		    struct error *err)
{
	struct rev_list *sides = args->negate ? &args->haves : &args->wants;
	struct rev_list *others = args->negate ? &args->wants : &args->haves;
	int ret = add_found(args, range->is_difference ? sides : others,
			    range->names[0], &range->oids[0], err);

	if (!ret)
		ret = add_found(args, sides, range->names[1], &range->oids[1],
				err);
	if (!ret && range->is_difference) {
		struct rev_arg *left = &sides->items[sides->nr - 2];

		left->is_left = true;
		ret = add_bases(args, others, left, left + 1, err);
	}
	return ret < 0 ? ret : 1;
}

/*
 * Parse "<from>..<to>" or "<left>...<right>". A missing side means HEAD.
 * Returns 1 if the range was added. Returns 0 if an end is not a revision: the
 * dots may belong to a name, as in "HEAD:../x". Otherwise returns a negative
 * error code.
 */
static int add_range(struct rev_args *args, const char *arg, const char *dots,
		     struct error *err)
{
	char *from = mem_strndup(arg, (size_t)(dots - arg));
	bool is_difference = dots[2] == '.';
	const char *to = dots + 2 + is_difference;
	struct range range = {
		.names = {from && *from ? from : "HEAD", *to ? to : "HEAD"},
		.is_difference = is_difference,
	};
	int ret = 0;

	if (!from)
		return error_nomem(err);
	if (strcmp(arg, "..") != 0 || args->no_path)
		ret = find_ends(&range, args, err);
	if (ret > 0)
		ret = check_ends(args, &range, arg, err);
	if (ret > 0 && is_difference)
		ret = check_difference(args, &range, arg, err);
	if (ret > 0)
		ret = add_ends(args, &range, err);
	free(from);
	return ret;
}

struct adding_refs {
	struct rev_list *list;
	bool keep_names;
	/* length of the prefix that is removed from the names of refs */
	size_t prefix_len;
	struct error *err;
};

static int add_ref(void *ctx, const struct ref *ref)
{
	struct adding_refs *a = ctx;

	return list_add(a->list, &ref->oid, NULL,
			a->keep_names ? ref->name + a->prefix_len : NULL) < 0
		       ? error_nomem(a->err)
		       : 0;
}

/* Callback for a broken ref. Adds the id of zeros. */
static int add_broken(void *ctx, const char *name, enum refs_flaw flaw)
{
	const struct ref zeros = {.name = name};

	/*
	 * A symbolic ref has no object of its own. A ref to a missing object is
	 * left out, as GIT_REF_PARANOIA=0 asks for.
	 */
	return flaw == REFS_FLAW_SYMBOLIC || flaw == REFS_FLAW_MISSING
		       ? 0
		       : add_ref(ctx, &zeros);
}

static int add_refs(struct rev_args *args, const char *prefix, bool and_head,
		    struct error *err)
{
	struct adding_refs a = {
		args->negate ? &args->haves : &args->wants,
		args->keep_names,
		strlen(prefix),
		err,
	};
	struct ref head;
	int ret = args->broken_is_missing
			  ? refs_each_from(args->refs, prefix, NULL, add_ref,
					   add_broken, &a, err)
			  : refs_each_strict(args->refs, prefix, add_ref, &a,
					     err);

	if (ret < 0 || !and_head)
		return ret;
	ret = refs_lookup_head(args->refs, &head, err);
	if (ret == ERR_CORRUPT && args->broken_is_missing)
		ret = add_broken(&a, "HEAD", REFS_FLAW_VALUE);
	else if (ret > 0)
		ret = add_ref(&a, &head);
	return ret ? ret : refs_each_other_head(args->refs, add_ref, &a, err);
}

/* Add the refs of another repository, whose object directory is `dir`. */
static int add_refs_of(struct rev_args *args, const char *dir,
		       struct error *err)
{
	struct adding_refs a = {
		args->negate ? &args->haves : &args->wants,
		false,
		0,
		err,
	};
	size_t len = strlen(dir);
	struct repo_options options = {.flags = REPO_OPEN_EXACT |
						REPO_OPEN_NO_OWNER};
	struct refs *refs = NULL;
	struct repo *repo = NULL;
	char *git_dir;
	int ret;

	/*
	 * If the object directory is not that of a repository, there are no
	 * refs.
	 */
	if (len < 8 || strcmp(dir + len - 8, "/objects") != 0)
		return 0;
	git_dir = mem_strndup(dir, len - 8);
	if (!git_dir)
		return error_nomem(err);
	options.path = git_dir;
	if (repo_open(&repo, &options, NULL) < 0) {
		free(git_dir);
		return 0;
	}
	ret = refs_open(&refs, repo, err);
	if (!ret)
		ret = refs_each(refs, "", add_ref, &a, NULL, err);
	refs_close(refs);
	repo_close(repo);
	free(git_dir);
	return ret;
}

/*
 * Add the refs of alternates. core.alternateRefsCommand and
 * core.alternateRefsPrefixes are refused, because selecting refs by them is not
 * implemented.
 */
static int add_alternate_refs(struct rev_args *args, struct error *err)
{
	const struct config *config = &args->odb->repo->config;
	int ret = 0;

	if (config_find(config, "core.alternaterefscommand") ||
	    config_find(config, "core.alternaterefsprefixes"))
		return error_set(err, ERR_UNSUPPORTED,
				 "core.alternateRefsCommand and "
				 "core.alternateRefsPrefixes are not "
				 "supported");
	for (size_t i = 1; i < args->odb->dir_nr && !ret; i++)
		ret = add_refs_of(args, args->odb->dirs[i], err);
	return ret;
}

static int add_shallow(struct rev_args *args, const char *hex,
		       struct error *err)
{
	struct oid oid;

	if (!oid_from_hex(&oid, hex, strlen(hex), args->odb->algo))
		return error_set(err, ERR_INVALID, "not an object name '%s'",
				 hex);
	return list_add(&args->shallow, &oid, NULL, NULL) < 0 ? error_nomem(err)
							      : 0;
}

/*
 * Parse an option that stands for many refs. Returns 1 if the argument is such
 * an option, 0 if not, or a negative error code.
 */
static int add_group(struct rev_args *args, const char *arg, struct error *err)
{
	static const struct {
		const char *option, *prefix;
		bool with_head;
	} groups[] = {
		{"--all", "", true},
		{"--branches", "refs/heads/", false},
		{"--tags", "refs/tags/", false},
		{"--remotes", "refs/remotes/", false},
	};

	for (size_t i = 0; i < ARRAY_NR(groups); i++) {
		int ret;

		if (strcmp(arg, groups[i].option) != 0)
			continue;
		ret = add_refs(args, groups[i].prefix, groups[i].with_head,
			       err);
		return ret < 0 ? ret : 1;
	}
	return 0;
}

static int add_option(struct rev_args *args, const char *arg, struct error *err)
{
	int ret;

	if (!strcmp(arg, "--not")) {
		args->negate = !args->negate;
		return 1;
	}
	if (!strcmp(arg, "--alternate-refs")) {
		ret = add_alternate_refs(args, err);
		return ret < 0 ? ret : 1;
	}
	ret = add_group(args, arg, err);
	args->asked_for_refs |= ret > 0;
	return ret;
}

/*
 * An argument "<rev>^@", "<rev>^!" or "<rev>^-<n>": a revision, and a suffix
 * that selects parents of the revision.
 */
struct family {
	/* owned: the revision, without the suffix */
	char *name;
	char kind; /* '@', '!' or '-' */
	/* for '-': the number of the parent, from 1 on */
	unsigned long nr;
};

/*
 * Split "<rev>^@", "<rev>^!" or "<rev>^-<n>". Returns 1 if the argument has
 * such a suffix, 0 if not, or ERR_NOMEM. The caller frees f->name.
 */
static int split_family(struct family *f, const char *arg)
{
	const char *caret = strrchr(arg, '^');
	char *end = NULL;

	if (!caret || caret == arg || !strchr("@!-", caret[1]) || !caret[1])
		return 0;
	f->kind = caret[1];
	f->nr = 1;
	if (f->kind != '-' && caret[2])
		return 0;
	if (f->kind == '-' && caret[2]) {
		f->nr = strtoul(caret + 2, &end, 10);
		if (*end || !f->nr)
			return 0;
	}
	f->name = mem_strndup(arg, (size_t)(caret - arg));
	return f->name ? 1 : ERR_NOMEM;
}

/*
 * Append the warnings in `notes` to args->notes, to print them later. `notes`
 * comes from resolving <rev> in an argument such as <rev>^@ or <rev>^!. The
 * errors in `notes` are dropped, because they are not final: if <rev> is no
 * commit, add_name() resolves the whole argument, with the suffix, as one name.
 * If this fails, too, add_name() reports the errors.
 */
static int keep_warnings(struct rev_args *args, const struct buf *notes)
{
	static const char start[] = "warning: ";
	const char *line = notes->len ? notes->data : start;
	const char *end = line + notes->len;

	while (line < end) {
		const char *next = memchr(line, '\n', (size_t)(end - line));

		next = next ? next + 1 : end;
		if (!strncmp(line, start, strlen(start)) &&
		    buf_append(&args->notes, line, (size_t)(next - line)) < 0)
			return ERR_NOMEM;
		line = next;
	}
	return 0;
}

static int resolve_parent_of(struct oid *oid, struct rev_args *args,
			     const char *name, unsigned long n,
			     struct error *err)
{
	struct buf full = BUF_INIT, notes = BUF_INIT;
	const struct revname_options options = {
		.quiet = n > 0,
		.notes = &notes,
	};
	int ret;

	if (buf_printf(&full, "%s^%lu", name, n) < 0)
		ret = error_nomem(err);
	else
		ret = revname_resolve_as(oid, full.data, &options, args->refs,
					 args->reader, args->odb, err);
	if (!n && ret != ERR_NOMEM && keep_warnings(args, &notes) < 0)
		ret = error_nomem(err);
	buf_release(&notes);
	buf_release(&full);
	return ret;
}

/*
 * Resolve the n-th parent of a revision; parent 0 is the commit itself. Returns
 * 1 if *oid is set, 0 if the revision is no commit or has no such parent, or a
 * negative error code.
 */
static int resolve_parent(struct oid *oid, struct rev_args *args,
			  const char *name, unsigned long n, struct error *err)
{
	char hex[OID_MAX_HEX_LEN + 1];
	int ret = resolve_parent_of(oid, args, name, n, err);

	/*
	 * Let stock Git resolve only the name without the suffix, and then find
	 * the parent. If the name has the form ":/<text>", stock Git would take
	 * the suffix for a part of the text.
	 */
	if (ret == ERR_UNSUPPORTED && args->asks_stock) {
		ret = store_resolve_by_stock(args->odb->repo, oid, name, err);
		if (!ret)
			ret = resolve_parent_of(
				oid, args,
				oid_to_hex(hex, oid, args->odb->algo), n, err);
	}
	if (ret == ERR_NOMEM || ret == ERR_UNSUPPORTED || ret == ERR_PEER)
		return ret;
	return ret < 0 ? 0 : 1;
}

/*
 * Add to `list` the parents that the suffix selects. The list gets no names for
 * these parents. Returns 1 if the parents were added, 0 if the revision is no
 * commit or does not have the parent, or a negative error code.
 */
static int add_parents(struct rev_args *args, struct rev_list *list,
		       const struct family *f, struct error *err)
{
	unsigned long n = f->kind == '-' ? f->nr : 1;
	struct oid oid;
	int ret = resolve_parent(&oid, args, f->name, 0, err);

	if (ret <= 0)
		return ret;
	while ((ret = resolve_parent(&oid, args, f->name, n, err)) > 0) {
		if (list_add(list, &oid, NULL, NULL) < 0)
			return error_nomem(err);
		if (f->kind == '-')
			return 1;
		n++;
	}
	return ret < 0 ? ret : f->kind != '-';
}

/*
 * Called if the parents of the revision f->name could not be added. If the
 * object of this name is missing, sets args->absent to the error "bad object
 * <name>", and returns ERR_MISSING. Returns 0 if the object exists, or if the
 * name cannot be resolved to an id. Returns another negative error code if the
 * object cannot be read.
 */
static int check_family(struct rev_args *args, const struct family *f,
			struct error *err)
{
	const struct revname_options options = {.quiet = true};
	struct oid oid;
	int ret;

	if (revname_resolve_as(&oid, f->name, &options, args->refs,
			       args->reader, args->odb, NULL) < 0)
		return 0;
	ret = odb_reader_need(args->reader, &oid, err);
	if (ret)
		return ret < 0 ? ret : 0;
	error_set(&args->absent, ERR_MISSING, "bad object %s", f->name);
	return rev_args_check(args, err);
}

/*
 * Add the revisions of an argument such as <rev>^@, <rev>^! or <rev>^-<n>.
 * Returns 1 if the revisions were added, or a negative error code. Returns 0 if
 * the argument has another form, or if <rev> is no commit or lacks the n-th
 * parent.
 */
static int add_family(struct rev_args *args, const char *arg, bool negate,
		      struct error *err)
{
	bool excluded = negate != args->negate;
	struct family f = {.name = NULL};
	int ret = split_family(&f, arg);

	if (ret < 0)
		return error_nomem(err);
	if (ret > 0)
		ret = add_parents(args,
				  excluded == (f.kind == '@') ? &args->haves
							      : &args->wants,
				  &f, err);
	if (!ret && f.name && !args->absent.code)
		ret = check_family(args, &f, err);
	/*
	 * <rev>^@ of a root commit stands for no revision. The user still asked
	 * for revisions, so the command must not complain that none was given.
	 */
	args->asked_for_refs |= ret > 0 && f.kind == '@';
	if (ret > 0 && f.kind != '@') {
		ret = add_name(args, f.name, negate, err);
		ret = ret < 0 ? ret : 1;
	}
	free(f.name);
	return ret;
}

int rev_args_add(struct rev_args *args, const char *arg, struct error *err)
{
	bool negate = *arg == '^';
	const char *dots = negate ? NULL : strstr(arg, "..");
	int ret;

	if (*arg == '-')
		return add_option(args, arg, err);
	ret = dots ? add_range(args, arg, dots, err) : 0;
	if (!ret)
		ret = add_family(args, arg + negate, negate, err);
	if (!ret)
		ret = add_name(args, arg + negate, negate, err);
	return ret < 0 ? ret : 1;
}

/*
 * Read all objects that were named so far. Returns 0, or ERR_CORRUPT with a
 * message about the first damaged object.
 */
static int check_named(const struct rev_args *args, struct error *err)
{
	const struct rev_list *lists[] = {&args->wants, &args->haves};

	for (size_t i = 0; i < ARRAY_NR(lists); i++) {
		for (size_t k = 0; k < lists[i]->nr; k++) {
			struct error why = ERROR_INIT;
			struct odb_object obj;
			int ret = odb_read(args->reader,
					   &lists[i]->items[k].oid, &obj, &why);

			if (!ret)
				odb_object_release(args->reader, &obj);
			if (ret == ERR_CORRUPT)
				return error_set(err, ret, "%s", why.msg);
		}
	}
	return 0;
}

static int add_line(struct rev_args *args, const char *line, struct error *err)
{
	bool no_path = args->no_path;
	int was_absent = args->absent.code;
	int ret;

	if (!strncmp(line, "--shallow ", 10))
		return add_shallow(args, line + 10, err);
	args->no_path = true;
	ret = rev_args_add(args, line, err);
	args->no_path = no_path;
	if (ret >= 0 && args->must_exist && args->absent.code)
		return rev_args_check(args, err);
	/*
	 * Stock Git reads the object of each line before it reads the next
	 * line. So if an earlier line names a damaged object, report the
	 * damaged object, not the unknown name in this line.
	 */
	if (ret == ERR_MISSING && check_named(args, err) < 0)
		return ERR_CORRUPT;
	/*
	 * A line before "--" cannot be a path, so the message mentions only
	 * revisions.
	 */
	if ((ret == ERR_MISSING && args->absent.code == was_absent) ||
	    (ret == ERR_INVALID && err && starts_with(err->msg, "path '")))
		return error_set(err, ERR_MISSING, "bad revision '%s'", line);
	if (!ret)
		return error_set(
			err, args->input ? ERR_UNSUPPORTED : ERR_INVALID,
			"options not supported in --stdin mode: '%s'", line);
	return ret < 0 ? ret : 0;
}

int rev_args_add_path(struct rev_args *args, const char *path)
{
	char *copy = mem_strdup(path);

	if (!copy || mem_grow(&args->paths, &args->path_alloc,
			      args->path_nr + 1, sizeof(*args->paths)) < 0) {
		free(copy);
		return ERR_NOMEM;
	}
	args->paths[args->path_nr++] = copy;
	return 0;
}

/*
 * Read the next line. If args->input is set, the line is also appended to it,
 * for stock Git. If the command allows paths in its input, a CR before the LF
 * is removed. Otherwise the CR stays a part of the line. Returns 1 if there was
 * a line, 0 at the end of the input, or a negative error code.
 */
static int next_line(struct rev_args *args, struct stdin_lines *in,
		     struct error *err)
{
	int ret = stdin_lines_next(in, err);

	if (ret <= 0)
		return ret;
	if (args->input &&
	    (buf_append(args->input, in->line, in->len) < 0 ||
	     (in->ended && buf_append_char(args->input, in->end) < 0)))
		return error_nomem(err);
	if (args->takes_paths && in->ended && in->len &&
	    in->line[in->len - 1] == '\r')
		in->line[--in->len] = '\0';
	return 1;
}

/* Add the lines after "--", which are paths. */
static int add_paths(struct rev_args *args, struct stdin_lines *in,
		     struct error *err)
{
	int ret;

	while ((ret = next_line(args, in, err)) > 0)
		if (rev_args_add_path(args, in->line) < 0)
			return error_nomem(err);
	return ret;
}

int rev_args_add_stdin(struct rev_args *args, struct error *err)
{
	bool negate = args->negate;
	struct stdin_lines in = STDIN_LINES_INIT;
	int ret;

	args->negate = false;
	args->asks_stock = !args->input;
	while ((ret = next_line(args, &in, err)) > 0) {
		if (args->takes_paths && !strcmp(in.line, "--")) {
			ret = add_paths(args, &in, err);
			break;
		}
		ret = *in.line ? add_line(args, in.line, err) : 0;
		if (ret < 0 || !*in.line)
			break;
	}
	stdin_lines_release(&in);
	args->negate = negate;
	args->asks_stock = false;
	return ret;
}
