/* SPDX-License-Identifier: MIT */
/* References as tips for pseudo-merges. */
#include <string.h>

#include "repack/pseudo-tips.h"

struct classing {
	struct walk *w;
	struct pseudo_tips *out;
	struct walk_tips tips;
	struct error *err;
};

static bool has_prefix(const char *name, const char *prefix)
{
	return !strncmp(name, prefix, strlen(prefix));
}

static int add_class(void *ctx, const struct ref *ref)
{
	struct classing *cl = ctx;
	enum pseudo_class class = has_prefix(ref->name, "refs/heads/") ||
						  has_prefix(ref->name,
							     "refs/tags/")
					  ? PSEUDO_NAMED
					  : PSEUDO_OTHERS;
	size_t i = cl->tips.commit_nr;
	int ret = walk_add_tip(cl->w, &cl->tips, &ref->oid, false, cl->err);

	for (; i < cl->tips.commit_nr && !ret; i++)
		if (pseudo_tips_add(cl->out, cl->tips.commits[i], class) < 0)
			ret = error_nomem(cl->err);
	return ret;
}

int pseudo_tips_load(struct pseudo_tips *tips, struct walk *w,
		     struct refs *refs, struct error *err)
{
	struct classing cl = {w, tips, WALK_TIPS_INIT, err};
	int ret = refs_each_strict(refs, "", add_class, &cl, err);

	walk_tips_release(&cl.tips);
	return ret;
}
