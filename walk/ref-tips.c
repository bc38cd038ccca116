/* SPDX-License-Identifier: MIT */
/*
 * Adds the objects that refs and extra roots name as tips of a walk.
 */
#include <string.h>

#include "base/mem.h"
#include "names/index-file.h"
#include "repo/grafts.h"
#include "repo/rebase.h"
#include "walk/ref-tips.h"

struct adding {
	struct walk *w;
	struct walk_tips *tips;
	struct error *err;
	/*
	 * true: refs that name a missing or damaged object, or a tag of a
	 * missing object, are left out
	 */
	bool leaves_out_broken;
	/*
	 * ids of the tips that were added, so that each is added once: refs of
	 * forks often name the same objects
	 */
	struct oidmap seen;
};

static int add_ref(void *ctx, const struct ref *ref)
{
	struct adding *a = ctx;
	size_t before = a->tips->others.nr;
	int ret = oidmap_add(&a->seen, &ref->oid, 0, NULL);

	if (ret <= 0)
		return ret < 0 ? error_nomem(a->err) : 0;
	ret = walk_add_tip(a->w, a->tips, &ref->oid, false, a->err);
	/*
	 * If the object of the ref itself is damaged, leave out the ref. If the
	 * object is a good tag with a damaged target, do not leave out the ref,
	 * but return the error. In the second case, the tag was added to
	 * a->tips->others before the error.
	 */
	if (ret == ERR_CORRUPT && a->leaves_out_broken &&
	    a->tips->others.nr == before)
		return 0;
	if (ret != ERR_MISSING)
		return ret;
	/*
	 * The object of the ref is missing, or the ref names a tag whose target
	 * is missing.
	 */
	return a->leaves_out_broken ? 0
				    : error_set(a->err, ERR_MISSING,
						"bad object %s", ref->name);
}

/*
 * Adds the object of HEAD. If this fails, forgets that the object was seen. A
 * ref to the same object then reports the error again. Returns 0 or a negative
 * error code.
 */
static int add_head(struct adding *a, struct refs *refs, struct error *err)
{
	struct adding own = *a;
	struct ref head;
	int ret = refs_lookup_head(refs, &head, err);

	own.err = err;
	if (ret > 0)
		ret = add_ref(&own, &head);
	a->seen = own.seen;
	if (ret >= 0)
		return 0;
	oidmap_release(&a->seen);
	a->seen = (struct oidmap)OIDMAP_INIT;
	return ret == ERR_CORRUPT && a->leaves_out_broken ? 0 : ret;
}

int ref_tips_add(struct walk *w, struct walk_tips *tips, struct refs *refs,
		 const char *prefix, struct error *err)
{
	struct adding a = {
		.w = w,
		.tips = tips,
		.err = err,
		.leaves_out_broken = refs_leaves_out_broken(refs),
	};
	struct error of_head = ERROR_INIT;
	int head = *prefix ? 0 : add_head(&a, refs, &of_head);
	int ret = refs_each_strict(refs, prefix, add_ref, &a, err);

	if (!ret && head < 0) {
		ret = head;
		if (err)
			*err = of_head;
	}
	oidmap_release(&a.seen);
	return ret;
}

void ref_tips_reword(const struct walk *w, struct refs *refs, struct error *err)
{
	static const char bad[] = "bad object ";
	const char *name;
	struct error old;
	struct ref ref;

	if (!err || strncmp(err->msg, bad, strlen(bad)) != 0)
		return;
	old = *err;
	name = old.msg + strlen(bad);
	if (refs_lookup(refs, name, &ref, NULL) <= 0 ||
	    !odb_reader_has(w->reader, &ref.oid))
		error_set(err, old.code, "unable to parse object: %s", name);
}

static const struct {
	int (*each)(const struct repo *repo,
		    int (*fn)(void *ctx, const struct oid *oid), void *ctx,
		    struct error *err);
	/* the message for a missing object is "<missing> <id>" */
	const char *missing;
} extra_roots[] = {
	[EXTRA_ROOT_REFLOGS] = {refs_each_reflog_oid, "unable to read"},
	[EXTRA_ROOT_GRAFTS] = {grafts_each_oid, "unable to read"},
	[EXTRA_ROOT_INDEXES] = {index_file_each_oid, "unable to read"},
	[EXTRA_ROOT_REBASES] = {rebase_each_oid, "unable to parse object:"},
};

int ref_tips_each_extra(const struct repo *repo,
			int (*fn)(void *ctx, const struct oid *oid), void *ctx,
			struct error *err)
{
	int ret = 0;

	for (int kind = 0; kind < EXTRA_ROOT_NR && !ret; kind++)
		ret = extra_roots[kind].each(repo, fn, ctx, err);
	return ret;
}

struct extra {
	struct walk *w;
	struct walk_tips *tips;
	/* the message for a missing object; NULL: leave the object out */
	const char *missing;
	struct error *err;
};

static int add_extra(void *ctx, const struct oid *oid)
{
	const struct extra *x = ctx;
	int ret = walk_add_tip(x->w, x->tips, oid, false, x->err);
	char hex[OID_MAX_HEX_LEN + 1];

	if (ret != ERR_MISSING)
		return ret;
	return x->missing ? error_set(x->err, ret, "%s %s", x->missing,
				      oid_to_hex(hex, oid, x->w->odb->algo))
			  : 0;
}

int ref_tips_add_extra(struct walk *w, struct walk_tips *tips,
		       enum extra_root kind, bool strict, struct error *err)
{
	struct extra x = {
		.w = w,
		.tips = tips,
		.missing = strict ? extra_roots[kind].missing : NULL,
		.err = err,
	};

	return extra_roots[kind].each(w->odb->repo, add_extra, &x, err);
}
