/* SPDX-License-Identifier: MIT */
/*
 * Visits and looks up refs in any kind of storage, follows symbolic refs, and
 * fills the table of replaced objects.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/affix.h"
#include "base/mem.h"
#include "base/strlist.h"
#include "config/config.h"
#include "odb/odb.h"
#include "odb/replaced.h"
#include "refs/reflog-write.h"
#include "refs/refs-backend.h"
#include "repo/worktree.h"

static const struct refs_backend *backend_of(const struct repo *repo)
{
	return repo->ref_storage == REPO_REFS_REFTABLE ? &refs_reftable_backend
						       : &refs_files_backend;
}

int refs_open(struct refs **out, const struct repo *repo, struct error *err)
{
	const struct refs_backend *backend = backend_of(repo);
	enum reflog_policy policy;
	struct refs *refs;
	int ret = reflog_policy(repo, &policy, err);

	*out = NULL;
	if (!ret)
		ret = backend->open(&refs, repo, err);
	if (ret < 0)
		return ret;
	refs->backend = backend;
	refs->repo = repo;
	buf_init(&refs->name);
	buf_init(&refs->target);
	*out = refs;
	return 0;
}

void refs_close(struct refs *refs)
{
	if (!refs)
		return;
	buf_release(&refs->name);
	buf_release(&refs->target);
	refs->backend->close(refs);
}

void refs_refresh(struct refs *refs)
{
	refs->backend->refresh(refs);
}

/*
 * Follows symbolic refs from `name`. *target is the name of the ref at the end
 * of the chain, or empty if `name` is not symbolic. Sets the ids in *ref, but
 * not its strings. Returns 1 if the last ref exists, 0 if not, or a negative
 * error code.
 */
static int resolve(struct refs *refs, const char *name, struct ref *ref,
		   struct buf *target, struct error *err)
{
	struct buf next = BUF_INIT;
	unsigned depth;
	int ret = 0;

	buf_reset(target);
	for (depth = 0; depth <= REFS_SYMREF_MAX_DEPTH; depth++) {
		const char *at = depth ? target->data : name;

		buf_reset(&next);
		ret = refs->backend->read(refs, at, ref, &next, err);
		if (ret <= 0 || !next.len)
			goto out;
		buf_reset(target);
		if (buf_append(target, next.data, next.len) < 0) {
			ret = error_nomem(err);
			goto out;
		}
	}
	ref->is_broken = true;
	ret = error_set(err, ERR_CORRUPT,
			"too many levels of symbolic refs from %s", name);
out:
	buf_release(&next);
	return ret;
}

int refs_lookup(struct refs *refs, const char *name, struct ref *ref,
		struct error *err)
{
	size_t len = strlen(name);
	int ret;

	memset(ref, 0, sizeof(*ref));
	if (!refs_name_is_valid_len(name, len, true))
		return 0;
	if (strchr(name, '/') && !starts_with(name, "refs/") &&
	    !starts_with(name, "main-worktree/") &&
	    !starts_with(name, "worktrees/"))
		return 0;
	buf_reset(&refs->name);
	if (buf_append(&refs->name, name, len) < 0)
		return error_nomem(err);
	ret = resolve(refs, refs->name.data, ref, &refs->target, err);
	ref->name = refs->name.data;
	ref->target = refs->target.len ? refs->target.data : NULL;
	return ret;
}

int refs_lookup_head(struct refs *refs, struct ref *ref, struct error *err)
{
	struct error why = ERROR_INIT;
	int ret = refs_lookup(refs, "HEAD", ref, &why);

	if (ret != ERR_CORRUPT) {
		if (ret < 0 && err)
			*err = why;
		return ret;
	}
	ret = refs_read(refs, "HEAD", ref, &why);
	return ret > 0 && ref->target
		       ? 0
		       : error_set(err, ERR_CORRUPT, "bad object HEAD");
}

/* Context of a visit of the HEADs of other work trees. */
struct other_heads {
	struct refs *refs;
	int (*fn)(void *ctx, const struct ref *ref);
	void *ctx;
	struct error *err;
};

static int visit_head(const struct other_heads *o, const char *name)
{
	struct ref head;
	int ret = refs_lookup(o->refs, name, &head, o->err);

	return ret > 0 ? o->fn(o->ctx, &head) : ret;
}

static int visit_linked(void *ctx, const char *name, const char *git_dir)
{
	const struct other_heads *o = ctx;
	struct buf full = BUF_INIT;
	int ret;

	if (!strcmp(git_dir, o->refs->repo->git_dir))
		return 0;
	ret = buf_printf(&full, "worktrees/%s/HEAD", name);
	ret = ret < 0 ? error_nomem(o->err) : visit_head(o, full.data);
	buf_release(&full);
	return ret;
}

int refs_each_other_head(struct refs *refs,
			 int (*fn)(void *ctx, const struct ref *ref), void *ctx,
			 struct error *err)
{
	const struct repo *repo = refs->repo;
	struct other_heads o = {refs, fn, ctx, err};
	int ret = strcmp(repo->git_dir, repo->common_dir)
			  ? visit_head(&o, "main-worktree/HEAD")
			  : 0;

	return ret ? ret : worktree_each(repo, visit_linked, &o, err);
}

int refs_read(struct refs *refs, const char *name, struct ref *ref,
	      struct error *err)
{
	int ret;

	memset(ref, 0, sizeof(*ref));
	buf_reset(&refs->target);
	ret = refs->backend->read(refs, name, ref, &refs->target, err);
	if (ret > 0)
		ref->target = refs->target.len ? refs->target.data : NULL;
	ref->name = name;
	return ret;
}

int refs_read_stored(struct refs *refs, const char *name, struct ref *ref,
		     struct error *err)
{
	int ret = refs_read(refs, name, ref, err);

	if (ret || !ref->leads_nowhere)
		return ret;
	ref->target = refs->target.data;
	return 1;
}

/*
 * The forms of full names that are tried for a short name, in order of
 * precedence.
 */
static const char *const dwim_rules[] = {
	"%s",
	"refs/%s",
	"refs/tags/%s",
	"refs/heads/%s",
	"refs/remotes/%s",
	"refs/remotes/%s/HEAD",
};

/*
 * Sets *full to the full name that a rule gives for a short name. Returns 0 or
 * ERR_NOMEM.
 */
static int expand_rule(struct buf *full, size_t rule, const char *name)
{
	const char *slot = strchr(dwim_rules[rule], '%');

	buf_reset(full);
	if (buf_append(full, dwim_rules[rule],
		       (size_t)(slot - dwim_rules[rule])) ||
	    buf_append_str(full, name) || buf_append_str(full, slot + 2))
		return ERR_NOMEM;
	return 0;
}

/* Works like refs_lookup(), but an id of zeros is a value, too. */
static int lookup_value(struct refs *refs, const char *name, struct ref *ref,
			struct error *err)
{
	int ret = refs_lookup(refs, name, ref, err);

	return ret == ERR_CORRUPT && ref->is_zero ? 1 : ret;
}

/*
 * A short name is looked up by several rules. Returns whether the file that
 * rule `rule` finds must be a ref. Rule 0 takes the name as a path in the git
 * directory, so it may also find a file that is not a ref, such as "config".
 */
static bool has_to_be_ref(size_t rule, const char *name)
{
	return rule || starts_with(name, "refs/") || !strcmp(name, "HEAD");
}

/*
 * Appends a warning that a ref exists but cannot be read, for the reason *why.
 * Returns 0, or the code of *why if the error is not about this ref.
 */
static int note_unread(struct buf *notes, const char *full,
		       const struct ref *ref, const struct error *why)
{
	bool is_symbolic = ref->target || ref->leads_nowhere;
	const char *kind = is_symbolic ? "dangling symref" : "broken ref";

	if (!why->code && !is_symbolic)
		return 0;
	if (!is_symbolic && !ref->is_broken)
		return why->code;
	if (!strcmp(full, "HEAD"))
		return 0;
	return buf_printf(notes, "warning: ignoring %s %s\n", kind, full);
}

int refs_dwim_nr(struct refs *refs, const char *name, struct buf *notes,
		 struct error *err)
{
	struct buf full = BUF_INIT;
	struct ref ref;
	int nr = 0, ret = 0;

	for (size_t i = 0; i < ARRAY_NR(dwim_rules) && !ret; i++) {
		struct error why = ERROR_INIT;
		int found;

		if (expand_rule(&full, i, name) < 0) {
			ret = error_nomem(err);
			break;
		}
		found = lookup_value(refs, full.data, &ref, &why);
		nr += found > 0;
		/*
		 * If the ref does not exist, *why may have the error of a
		 * missing file. Clear *why, because a missing ref is not an
		 * error.
		 */
		if (!found)
			why = (struct error)ERROR_INIT;
		if (found <= 0 && notes && has_to_be_ref(i, name))
			ret = note_unread(notes, full.data, &ref, &why);
		if (ret < 0)
			error_set(err, ret, "%s",
				  why.code == ret ? why.msg : "out of memory");
	}
	buf_release(&full);
	return ret < 0 ? ret : nr;
}

int refs_dwim(struct refs *refs, const char *name, struct ref *ref,
	      struct error *err)
{
	struct error why = ERROR_INIT, broken = ERROR_INIT;
	struct buf full = BUF_INIT;
	int ret = 0;
	size_t i;

	for (i = 0; !ret && i < ARRAY_NR(dwim_rules); i++) {
		if (expand_rule(&full, i, name) < 0) {
			ret = error_nomem(&why);
			break;
		}
		ret = lookup_value(refs, full.data, ref, &why);
		if (ret != ERR_CORRUPT)
			continue;
		if (has_to_be_ref(i, name))
			broken = broken.code ? broken : why;
		ret = 0;
	}
	buf_release(&full);
	if (!ret && broken.code) {
		ret = broken.code;
		why = broken;
	}
	if (ret < 0 && err)
		*err = why;
	return ret;
}

int refs_dwim_each(struct refs *refs, const char *name,
		   int (*fn)(void *ctx, const struct ref *ref), void *ctx,
		   struct error *err)
{
	struct buf full = BUF_INIT;
	struct ref ref;
	int ret = 0;

	for (size_t i = 0; i < ARRAY_NR(dwim_rules) && !ret; i++) {
		if (expand_rule(&full, i, name) < 0) {
			ret = error_nomem(err);
			break;
		}
		ret = lookup_value(refs, full.data, &ref, err);
		if (ret > 0)
			ret = fn(ctx, &ref);
		else if (ret == ERR_CORRUPT)
			ret = 0;
	}
	buf_release(&full);
	return ret;
}

/* State of a visit. */
struct visit {
	struct refs *refs;
	const char *prefix;
	/* the directories that are still to be skipped, or NULL */
	const char *const *except;
	/* names before this one are skipped; NULL: none is skipped */
	const char *start;
	struct refs_iter *iter;
	struct buf target; /* of the present ref */
	/*
	 * the first name after all names below a skipped directory: "refs/x0"
	 * for the directory "refs/x/"
	 */
	struct buf behind;
	int (*fn)(void *ctx, const struct ref *ref);
	/* Called with the name of each ref that is left out; may be NULL. */
	int (*broken)(void *ctx, const char *name, enum refs_flaw flaw);
	void *ctx;
	/* true: a broken ref stops the visit with an error */
	bool is_strict;
	/* true: this visit ignores GIT_REF_PARANOIA (see refs_each()) */
	bool has_no_salvage;
	/*
	 * Owned: an object database. Refs to objects that it lacks are left
	 * out. Set if GIT_REF_PARANOIA is false, and in a strict visit also
	 * after refs_leave_out_broken(). NULL: the visit does not look for
	 * objects.
	 */
	struct odb *salvaged;
	struct error *warning;
};

/*
 * Returns 1 if GIT_REF_PARANOIA is false: the user salvages a damaged
 * repository, and wants the refs that still work. Otherwise returns 0, or
 * ERR_INVALID if the value is not a boolean.
 */
static int is_salvage(struct error *err)
{
	const char *value = getenv("GIT_REF_PARANOIA");
	int is_true = value ? config_parse_bool(value) : true;

	if (is_true < 0)
		return error_set(err, ERR_INVALID,
				 "bad boolean environment value '%s' for "
				 "'GIT_REF_PARANOIA'",
				 value);
	return !is_true;
}

/*
 * Returns the directory of `except` that contains `name`, or NULL. Drops
 * directories before `name` from v->except. The visited names ascend, so these
 * directories are not needed for later names.
 */
static const char *find_except(struct visit *v, const char *name)
{
	for (; v->except && *v->except; v->except++) {
		if (starts_with(name, *v->except))
			return *v->except;
		if (strcmp(name, *v->except) < 0)
			break;
	}
	return NULL;
}

/*
 * Moves the iterator past a directory "x/", to the name "x0": '0' is the
 * character after '/'. Returns 0 or a negative error code.
 */
static int step_over(struct visit *v, const char *dir, struct error *err)
{
	buf_reset(&v->behind);
	if (buf_append_str(&v->behind, dir) < 0)
		return error_nomem(err);
	v->behind.data[v->behind.len - 1] = '/' + 1;
	return v->refs->backend->iter_seek(v->iter, v->behind.data, err);
}

/*
 * Sets *record to the next ref that is not in a skipped directory. Returns 1 if
 * there was a ref, 0 at the end, or a negative error code.
 */
static int next_record(struct visit *v, struct refs_record *record,
		       struct error *err)
{
	const struct refs_backend *backend = v->refs->backend;
	const char *except;
	int ret;

	for (;;) {
		ret = backend->iter_next(v->iter, record, err);
		if (ret <= 0)
			return ret;
		except = find_except(v, record->ref.name);
		if (!except)
			return 1;
		ret = step_over(v, except, err);
		if (ret < 0)
			return ret;
	}
}

/*
 * Handles a broken ref. There are three cases:
 * - v->salvaged is set, for example because GIT_REF_PARANOIA is false. Both
 *   strict and other visits then leave the ref out. v->broken is not called. If
 *   there is no callback v->broken, v->warning is set. Returns 0.
 * - Otherwise, a strict visit returns ERR_CORRUPT.
 * - Any other visit leaves the ref out. It calls v->broken and returns the
 *   result of the call. If there is no callback v->broken, it sets v->warning
 *   and returns 0.
 */
static int pass_over(const struct visit *v, const char *name,
		     enum refs_flaw flaw, struct error *err)
{
	if (v->is_strict && !v->salvaged)
		return error_set(err, ERR_CORRUPT, "bad object %s", name);
	if (v->broken)
		return v->salvaged ? 0 : v->broken(v->ctx, name, flaw);
	error_set(v->warning, ERR_CORRUPT, "ignoring broken ref %s", name);
	return 0;
}

static int hand_over(struct visit *v, const struct ref *ref)
{
	if (!v->salvaged || odb_has(v->salvaged, &ref->oid))
		return v->fn(v->ctx, ref);
	if (v->broken)
		return v->broken(v->ctx, ref->name, REFS_FLAW_MISSING);
	error_set(v->warning, ERR_MISSING,
		  "%s does not point to a valid object!", ref->name);
	return 0;
}

static int visit_symbolic(struct visit *v, const char *name, struct error *err)
{
	struct ref ref = {.name = name};
	int ret = resolve(v->refs, name, &ref, &v->target, err);

	if (!ret && (!v->broken || v->salvaged))
		return 0;
	if (!ret)
		return v->broken(v->ctx, name, REFS_FLAW_SYMBOLIC);
	/*
	 * A symbolic ref has no object of its own. So a strict visit leaves out
	 * a symbolic ref with a broken target, and reports the error when it
	 * visits the target itself.
	 */
	if (ret == ERR_CORRUPT && v->is_strict)
		return 0;
	if (ret == ERR_CORRUPT)
		return pass_over(v, name, REFS_FLAW_SYMBOLIC, err);
	if (ret < 0)
		return ret;
	ref.target = v->target.data;
	return hand_over(v, &ref);
}

static int visit_record(struct visit *v, const struct refs_record *record,
			struct error *err)
{
	const char *name = record->ref.name;

	if (record->kind == REFS_RECORD_BROKEN)
		return pass_over(v, name,
				 refs_name_is_valid(name) ? REFS_FLAW_VALUE
							  : REFS_FLAW_NAME,
				 err);
	if (record->kind == REFS_RECORD_SYMBOLIC)
		return visit_symbolic(v, record->ref.name, err);
	return hand_over(v, &record->ref);
}

static int visit_all(struct visit *v, struct error *err)
{
	const struct refs_backend *backend = v->refs->backend;
	struct refs_record record;
	int ret;

	v->target = v->behind = (struct buf)BUF_INIT;
	if (!v->prefix || starts_with("refs/", v->prefix))
		v->prefix = "refs/";
	if (!starts_with(v->prefix, "refs/"))
		return 0;
	ret = v->has_no_salvage ? 0 : is_salvage(err);
	if (!ret && v->is_strict)
		ret = v->refs->no_broken;
	if (ret > 0)
		ret = odb_open(&v->salvaged, v->refs->repo, NULL, err);
	if (ret < 0)
		return ret;
	ret = backend->iter_new(&v->iter, v->refs, v->prefix,
				v->is_strict && !v->salvaged, err);
	if (ret < 0) {
		odb_close(v->salvaged);
		return ret;
	}
	if (v->start)
		ret = backend->iter_seek(v->iter, v->start, err);
	while (!ret && (ret = next_record(v, &record, err)) > 0)
		ret = visit_record(v, &record, err);
	backend->iter_free(v->iter);
	odb_close(v->salvaged);
	buf_release(&v->target);
	buf_release(&v->behind);
	return ret;
}

int refs_get_cached(const struct refs_cached **out, struct refs *refs,
		    const char *prefix, struct error *err)
{
	int ret;

	*out = NULL;
	if (!refs->backend->get_cached || !starts_with(prefix, "refs/"))
		return 0;
	/*
	 * If GIT_REF_PARANOIA is false, a visit leaves out refs to missing
	 * objects. So the stored refs alone do not tell what a visit finds.
	 */
	ret = is_salvage(err);
	if (ret)
		return ret < 0 ? ret : 0;
	return refs->backend->get_cached(out, refs, prefix, err);
}

int refs_may_peel(struct refs *refs, const char *prefix,
		  const struct refs_peel_search *search, struct error *err)
{
	const struct refs_backend *backend = refs->backend;

	return backend->may_peel ? backend->may_peel(refs, prefix, search, err)
				 : 1;
}

int refs_each_except(struct refs *refs, const char *prefix,
		     const char *const *except,
		     int (*fn)(void *ctx, const struct ref *ref), void *ctx,
		     struct error *warning, struct error *err)
{
	struct visit v = {
		.refs = refs,
		.prefix = prefix,
		.except = except,
		.fn = fn,
		.ctx = ctx,
		.warning = warning,
	};

	return visit_all(&v, err);
}

int refs_each(struct refs *refs, const char *prefix,
	      int (*fn)(void *ctx, const struct ref *ref), void *ctx,
	      struct error *warning, struct error *err)
{
	return refs_each_except(refs, prefix, NULL, fn, ctx, warning, err);
}

int refs_each_from(struct refs *refs, const char *prefix, const char *start,
		   int (*fn)(void *ctx, const struct ref *ref),
		   int (*broken)(void *ctx, const char *name,
				 enum refs_flaw flaw),
		   void *ctx, struct error *err)
{
	struct visit v = {
		.refs = refs,
		.prefix = prefix,
		.start = start,
		.fn = fn,
		.broken = broken,
		.ctx = ctx,
	};

	return visit_all(&v, err);
}

void refs_leave_out_broken(struct refs *refs)
{
	refs->no_broken = true;
}

bool refs_leaves_out_broken(const struct refs *refs)
{
	return refs->no_broken;
}

int refs_each_strict(struct refs *refs, const char *prefix,
		     int (*fn)(void *ctx, const struct ref *ref), void *ctx,
		     struct error *err)
{
	struct visit v = {
		.refs = refs,
		.prefix = prefix,
		.fn = fn,
		.ctx = ctx,
		.is_strict = true,
	};

	return visit_all(&v, err);
}

int refs_each_or_broken(struct refs *refs, const char *prefix,
			int (*fn)(void *ctx, const struct ref *ref),
			int (*broken)(void *ctx, const char *name,
				      enum refs_flaw flaw),
			void *ctx, struct error *err)
{
	struct visit v = {
		.refs = refs,
		.prefix = prefix,
		.fn = fn,
		.broken = broken,
		.ctx = ctx,
		.has_no_salvage = true,
	};

	return visit_all(&v, err);
}

static int add_root(void *ctx, const char *name)
{
	return strlist_add(ctx, name);
}

/*
 * Adds the names of the root refs to *names, sorted. The caller releases *names
 * in any case. Returns 0 or a negative error code.
 */
static int list_roots(struct strlist *names, struct refs *refs,
		      struct error *err)
{
	int ret = refs->backend->each_root(refs, add_root, names, err);

	if (ret == ERR_NOMEM)
		error_nomem(err);
	strlist_sort(names);
	return ret;
}

int refs_each_root(struct refs *refs,
		   int (*fn)(void *ctx, const struct ref *ref), void *ctx,
		   struct error *warning, struct error *err)
{
	struct strlist names = STRLIST_INIT;
	struct ref ref;
	int ret = list_roots(&names, refs, err);

	for (size_t i = 0; i < names.nr && !ret; i++) {
		ret = refs_lookup(refs, names.items[i], &ref, err);
		if (ret == ERR_CORRUPT) {
			error_set(warning, ret, "ignoring broken ref %s",
				  names.items[i]);
			ret = 0;
		}
		if (ret > 0)
			ret = fn(ctx, &ref);
	}
	strlist_release(&names);
	return ret;
}

/* Visits the stored root refs for refs_each_stored(). */
static int each_stored_root(struct refs *refs,
			    int (*fn)(void *ctx, const struct ref *ref),
			    void *ctx, struct error *err)
{
	struct strlist names = STRLIST_INIT;
	struct ref ref;
	int ret = list_roots(&names, refs, err);

	for (size_t i = 0; i < names.nr && !ret; i++) {
		ret = refs_read_stored(refs, names.items[i], &ref, err);
		if (ret > 0 || (ret == ERR_CORRUPT && ref.is_broken))
			ret = fn(ctx, &ref);
	}
	strlist_release(&names);
	return ret;
}

int refs_each_stored(struct refs *refs,
		     int (*fn)(void *ctx, const struct ref *ref), void *ctx,
		     struct error *err)
{
	const struct refs_backend *backend = refs->backend;
	struct refs_record record;
	struct refs_iter *iter;
	int ret = each_stored_root(refs, fn, ctx, err);

	if (!ret)
		ret = backend->iter_new(&iter, refs, "refs/", true, err);
	if (ret)
		return ret;
	while ((ret = backend->iter_next(iter, &record, err)) > 0) {
		record.ref.is_broken = record.kind == REFS_RECORD_BROKEN;
		if (record.kind != REFS_RECORD_SYMBOLIC)
			record.ref.target = NULL;
		ret = fn(ctx, &record.ref);
		if (ret)
			break;
	}
	backend->iter_free(iter);
	return ret;
}

int refs_list_now(struct refs *refs, struct error *err)
{
	return refs->backend->list_now(refs, err);
}

int refs_each_reflog_oid(const struct repo *repo,
			 int (*fn)(void *ctx, const struct oid *oid), void *ctx,
			 struct error *err)
{
	return backend_of(repo)->each_kept(repo, fn, ctx, err);
}

/* ---- replaced objects */

struct loading {
	struct odb *odb;
	/*
	 * length of the prefix of the names, such as "refs/replace/"; the rest
	 * of a name is the replaced id
	 */
	size_t base_len;
	struct error *warning, *err;
};

static int take_ref(void *ctx, const struct ref *ref)
{
	struct loading *l = ctx;
	const char *hex = ref->name + l->base_len;
	struct oid oid;

	if (strlen(hex) != hash_hex_len(l->odb->algo) ||
	    !oid_from_hex(&oid, hex, strlen(hex), l->odb->algo)) {
		error_set(l->warning, ERR_INVALID, "bad replace ref name: %s",
			  ref->name);
		return 0;
	}
	return odb_replaced_add(l->odb, &oid, &ref->oid) < 0
		       ? error_nomem(l->err)
		       : 0;
}

int refs_load_replaced(struct refs *refs, struct odb *odb,
		       struct error *warning, struct error *err)
{
	const char *base = getenv("GIT_REPLACE_REF_BASE");
	struct loading l = {.odb = odb, .warning = warning, .err = err};
	bool use = true;
	int ret = config_bool(&odb->repo->config, "core.usereplacerefs", &use,
			      err);

	if (ret < 0 || !use || getenv("GIT_NO_REPLACE_OBJECTS"))
		return ret < 0 ? ret : 0;
	if (!base)
		base = "refs/replace/";
	l.base_len = strlen(base);
	return refs_each(refs, base, take_ref, &l, NULL, err);
}
