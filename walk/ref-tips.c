/* SPDX-License-Identifier: MIT */
/*
 * Adds the objects that refs, reflogs and index files name as tips of a walk.
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
	 * Leave out a damaged object. If a tag was added before the error, only
	 * the target of the tag is damaged: this is an error.
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

/*
 * Adds an object as a tip. A missing object is left out; a broken object is an
 * error.
 */
static int add_if_there(void *ctx, const struct oid *oid)
{
	struct adding *a = ctx;
	int ret = walk_add_tip(a->w, a->tips, oid, false, a->err);

	return ret == ERR_MISSING ? 0 : ret;
}

int ref_tips_add_reflogs(struct walk *w, struct walk_tips *tips,
			 struct error *err)
{
	struct adding a = {.w = w, .tips = tips, .err = err};
	int ret = refs_each_reflog_oid(w->odb->repo, add_if_there, &a, err);

	return ret ? ret : grafts_each_oid(w->odb->repo, add_if_there, &a, err);
}

/*
 * Adds an object as a tip. A missing object is ERR_MISSING, with the message
 * "<prefix> <id>".
 */
static int add_or_fail(struct adding *a, const struct oid *oid,
		       const char *prefix)
{
	int ret = walk_add_tip(a->w, a->tips, oid, false, a->err);
	char hex[OID_MAX_HEX_LEN + 1];

	return ret != ERR_MISSING
		       ? ret
		       : error_set(a->err, ret, "%s %s", prefix,
				   oid_to_hex(hex, oid, a->w->odb->algo));
}

static int add_indexed(void *ctx, const struct oid *oid)
{
	return add_or_fail(ctx, oid, "unable to read");
}

int ref_tips_add_index(struct walk *w, struct walk_tips *tips, bool strict,
		       struct error *err)
{
	struct adding a = {.w = w, .tips = tips, .err = err};

	return index_file_each_oid(
		w->odb->repo, strict ? add_indexed : add_if_there, &a, err);
}

static int add_rebased(void *ctx, const struct oid *oid)
{
	return add_or_fail(ctx, oid, "unable to parse object:");
}

int ref_tips_add_rebases(struct walk *w, struct walk_tips *tips, bool strict,
			 struct error *err)
{
	struct adding a = {.w = w, .tips = tips, .err = err};

	return rebase_each_oid(w->odb->repo,
			       strict ? add_rebased : add_if_there, &a, err);
}
