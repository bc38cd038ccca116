/* SPDX-License-Identifier: MIT */
/* Lists the frequent requests for which answers are prepared. */
#include "base/mem.h"
#include "packs/prepare-parts.h"
#include "packs/roots.h"

/*
 * Maximum number of tips for which a clone of depth 1 gets a prepared answer (a
 * stored response). Only the first tips are used.
 */
#define TIPS_MAX 256

static struct preparation *add(struct preparing *p)
{
	struct preparation *item;

	if (mem_grow(&p->list, &p->alloc, p->nr + 1, sizeof(*p->list)) < 0)
		return NULL;
	item = &p->list[p->nr++];
	*item = (struct preparation){.is_depth_1 = false};
	ewah_init(&item->along);
	return item;
}

static int add_want(struct preparation *item, const struct oid *oid)
{
	if (mem_grow(&item->wants, &item->want_alloc, item->want_nr + 1,
		     sizeof(*item->wants)) < 0)
		return ERR_NOMEM;
	item->wants[item->want_nr++] = *oid;
	return 0;
}

/*
 * Returns whether the last request in the list has the wants of an earlier
 * request.
 */
static bool is_asked_twice(const struct preparing *p)
{
	const struct preparation *last = &p->list[p->nr - 1];

	for (const struct preparation *item = p->list; item < last; item++)
		if (prepared_same_request(&item->answer.request,
					  &last->answer.request))
			return true;
	return false;
}

/*
 * Complete the last request in the list after its wants were added. Remove the
 * request if it has no wants, or if it equals an earlier request. Returns 0 or
 * ERR_NOMEM.
 */
static int settle(struct preparing *p)
{
	struct preparation *last = &p->list[p->nr - 1];

	if (last->want_nr &&
	    prepared_request(&last->answer.request, p->odb->algo,
			     last->is_depth_1, last->wants, last->want_nr) < 0)
		return error_nomem(p->err);
	if (!last->want_nr || is_asked_twice(p)) {
		free(last->wants);
		p->nr--;
	}
	return 0;
}

static int add_clone(struct preparing *p, const struct oid *want,
		     bool is_depth_1)
{
	struct preparation *item = add(p);

	if (!item || add_want(item, want) < 0)
		return error_nomem(p->err);
	item->is_depth_1 = is_depth_1;
	return settle(p);
}

static int add_heads(struct walk *w, struct walk_tips *tips,
		     const struct prepare_options *options, struct error *err)
{
	int ret = 0;

	for (size_t i = 0; i < options->head_nr && !ret; i++)
		ret = walk_add_tip(w, tips, &options->heads[i], true, err);
	return ret;
}

/*
 * For each tip of the tip island, add the request for a clone of depth 1.
 * Returns 0 or a negative error code.
 */
static int add_tips(struct preparing *p, const struct prepare_options *options)
{
	struct walk_tips tips = WALK_TIPS_INIT;
	struct walk w;
	int ret = walk_open(&w, p->odb, NULL, 0, p->err);

	if (ret < 0)
		return ret;
	ret = roots_add_island_tips(&w, &tips, p->refs, p->err);
	if (!ret)
		ret = add_heads(&w, &tips, options, p->err);
	for (size_t i = 0; i < tips.commit_nr && i < TIPS_MAX && !ret; i++) {
		struct oid oid;

		objspace_oid(&oid, &w.space,
			     w.history.commits[tips.commits[i]].obj_pos);
		ret = add_clone(p, &oid, true);
	}
	walk_tips_release(&tips);
	walk_close(&w);
	return ret;
}

static int add_branch(void *ctx, const struct ref *ref)
{
	struct preparing *p = ctx;

	return add_want(&p->list[p->nr - 1], &ref->oid) < 0
		       ? error_nomem(p->err)
		       : 0;
}

/*
 * Add a tag to the wants of a clone of all references. An annotated tag is also
 * added to the list p->tags: other clones get their tags from this list
 * (include-tag). Returns 0 or a negative error code.
 */
static int add_tag(void *ctx, const struct ref *ref)
{
	struct preparing *p = ctx;
	struct packing_tag tag = {ref->oid, ref->oid};
	enum object_type type;
	int ret = 0;

	if (!ref->has_peeled)
		ret = odb_peel(p->reader, &tag.tag, &tag.target, &type, p->err);
	else if (ref->is_tag)
		tag.target = ref->peeled;
	if (ret < 0)
		return ret;
	if (!oid_equal(&tag.tag, &tag.target)) {
		if (mem_grow(&p->tags, &p->tag_alloc, p->tag_nr + 1,
			     sizeof(*p->tags)) < 0)
			return error_nomem(p->err);
		p->tags[p->tag_nr++] = tag;
	}
	return add_branch(ctx, ref);
}

/*
 * Add the requests for clones of all branches and tags, and of all references.
 * Returns 0 or a negative error code.
 */
static int add_mirrors(struct preparing *p)
{
	int ret = add(p) ? 0 : error_nomem(p->err);

	if (!ret)
		ret = refs_each_strict(p->refs, "refs/heads/", add_branch, p,
				       p->err);
	if (!ret)
		ret = refs_each_strict(p->refs, "refs/tags/", add_tag, p,
				       p->err);
	if (!ret)
		ret = settle(p);
	if (!ret && !add(p))
		ret = error_nomem(p->err);
	if (!ret)
		ret = refs_each_strict(p->refs, "", add_branch, p, p->err);
	return ret ? ret : settle(p);
}

/*
 * Add the request for a clone of HEAD's branch, and the requests of
 * add_mirrors(). Returns 0 or a negative error code.
 */
static int add_clones(struct preparing *p)
{
	struct ref head;
	int ret = refs_lookup_head(p->refs, &head, p->err);

	if (ret <= 0)
		return ret;
	ret = add_clone(p, &head.oid, false);
	return ret < 0 ? ret : add_mirrors(p);
}

static int cmp_tags(const void *a, const void *b)
{
	const struct packing_tag *tag_a = a, *tag_b = b;

	return oid_cmp(&tag_a->tag, &tag_b->tag);
}

/* Sort the tags and remove duplicates: several references may name one tag. */
static void sort_tags(struct preparing *p)
{
	size_t kept = 0;

	if (p->tag_nr)
		qsort(p->tags, p->tag_nr, sizeof(*p->tags), cmp_tags);
	for (size_t i = 0; i < p->tag_nr; i++)
		if (!i || cmp_tags(&p->tags[i - 1], &p->tags[i]))
			p->tags[kept++] = p->tags[i];
	p->tag_nr = kept;
}

int prepare_list(struct preparing *p, const struct prepare_options *options)
{
	int ret = add_tips(p, options);

	if (!ret)
		ret = add_clones(p);
	if (!ret)
		sort_tags(p);
	return ret;
}
