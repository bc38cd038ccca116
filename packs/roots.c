/* SPDX-License-Identifier: MIT */
/* Lists the roots of reachability, and the tips that get bitmaps. */
#include <string.h>

#include "base/mem.h"
#include "base/sort.h"
#include "bitmap/select.h"
#include "packs/roots.h"
#include "walk/ref-tips.h"

/* Context of a visit of the HEADs of other work trees. */
struct heads {
	struct walk *w;
	struct walk_tips *tips;
	struct error *err;
};

/*
 * Fail if the HEAD of a work tree names a missing object. Otherwise the repack
 * could remove objects that only this HEAD still needs.
 */
static int add_other_head(void *ctx, const struct ref *head)
{
	const struct heads *h = ctx;
	int ret = walk_add_tip(h->w, h->tips, &head->oid, false, h->err);

	return ret == ERR_MISSING ? error_set(h->err, ERR_CORRUPT,
					      "bad object %s", head->name)
				  : ret;
}

int roots_add(struct walk *w, struct walk_tips *tips, struct refs *refs,
	      unsigned int flags, struct error *err)
{
	/* the flag that makes a missing object an error; 0: never an error */
	static const unsigned int strict[EXTRA_ROOT_NR] = {
		[EXTRA_ROOT_INDEXES] = ROOTS_STRICT_INDEXES,
		[EXTRA_ROOT_REBASES] = ROOTS_STRICT_REBASES,
	};
	struct heads heads = {w, tips, err};
	int ret = ref_tips_add(w, tips, refs, "", err);

	if (ret || !(flags & ROOTS_ALL))
		return ret;
	ret = refs_each_other_head(refs, add_other_head, &heads, err);
	for (int kind = 0; kind < EXTRA_ROOT_NR && !ret; kind++)
		ret = ref_tips_add_extra(w, tips, kind, flags & strict[kind],
					 err);
	return ret;
}

struct marking {
	struct walk *w;
	struct refs *refs;
	struct walk_tips tips;
	size_t prefix_nr;
	struct error *err;
};

static int add_prefix(void *ctx, const struct config_entry *entry)
{
	struct marking *m = ctx;

	if (!entry->value)
		return error_set(m->err, ERR_INVALID, "missing value for '%s'",
				 entry->key);
	m->prefix_nr++;
	return ref_tips_add(m->w, &m->tips, m->refs, entry->value, m->err);
}

/*
 * Add HEAD if it names an object. A broken HEAD is left out. roots_add()
 * reports a broken HEAD as an error.
 */
static int add_head(struct marking *m)
{
	struct ref head;
	int ret = refs_lookup(m->refs, "HEAD", &head, m->err);

	if (ret > 0)
		ret = walk_add_tip(m->w, &m->tips, &head.oid, false, m->err);
	return ret == ERR_MISSING || ret == ERR_CORRUPT ? 0 : ret;
}

/*
 * Tips that roots_mark_tips() marks: those of branches, and those of all
 * references.
 */
struct kinds {
	/* tips of all references; empty without `all_refs` */
	struct walk_tips refs;
	struct walk_tips branches;
};

static int load_kinds(struct kinds *k, const struct marking *m, bool all_refs)
{
	int ret = ref_tips_add(m->w, &k->branches, m->refs, "refs/heads/",
			       m->err);

	if (!ret && all_refs)
		ret = ref_tips_add(m->w, &k->refs, m->refs, "refs/", m->err);
	return ret;
}

static void mark(uint8_t *marks, const struct walk_tips *tips,
		 enum select_tip kind)
{
	for (size_t i = 0; i < tips->commit_nr; i++)
		marks[tips->commits[i]] = (uint8_t)kind;
}

static int mark_newest(uint8_t *marks, const struct history *h,
		       const struct walk_tips *branches, struct error *err)
{
	size_t nr = branches->commit_nr;
	struct sort_item *by_age = mem_alloc(nr, sizeof(*by_age));
	int ret = by_age ? 0 : ERR_NOMEM;

	for (size_t i = 0; i < nr && !ret; i++)
		by_age[i] = (struct sort_item){
			UINT64_MAX - h->commits[branches->commits[i]].date,
			branches->commits[i],
		};
	if (!ret)
		ret = sort_items(by_age, nr);
	for (size_t i = 0; i < nr && i < ROOTS_NEW_BRANCHES && !ret; i++)
		marks[by_age[i].value] = SELECT_NEW_BRANCH;
	free(by_age);
	return ret < 0 ? error_nomem(err) : 0;
}

int roots_mark_tips(uint8_t **is_tip, struct walk *w, struct refs *refs,
		    bool all_refs, struct error *err)
{
	struct marking m = {.w = w, .refs = refs, .err = err};
	struct kinds k = {WALK_TIPS_INIT, WALK_TIPS_INIT};
	uint8_t *marks = NULL;
	int ret = config_each(&w->odb->repo->config, "pack.preferbitmaptips",
			      add_prefix, &m);

	if (!ret && !m.prefix_nr)
		ret = add_head(&m);
	if (!ret)
		ret = load_kinds(&k, &m, all_refs);
	if (!ret) {
		marks = mem_calloc(w->history.nr, 1);
		ret = marks ? 0 : error_nomem(err);
	}
	if (!ret) {
		mark(marks, &k.refs, SELECT_REF);
		mark(marks, &k.branches, SELECT_BRANCH);
	}
	if (!ret && !m.prefix_nr)
		ret = mark_newest(marks, &w->history, &k.branches, err);
	if (!ret)
		mark(marks, &m.tips, SELECT_TIP);
	walk_tips_release(&m.tips);
	walk_tips_release(&k.refs);
	walk_tips_release(&k.branches);
	*is_tip = marks;
	return ret;
}

static int add_island_tips(void *ctx, const struct config_entry *entry)
{
	struct marking *m = ctx;
	int truth = config_parse_bool(entry->value);

	m->prefix_nr++;
	if (!truth) {
		walk_tips_release(&m->tips);
		return 0;
	}
	if (truth > 0 || !strcmp(entry->value, "HEAD"))
		return add_head(m);
	return ref_tips_add(m->w, &m->tips, m->refs, entry->value, m->err);
}

int roots_add_island_tips(struct walk *w, struct walk_tips *tips,
			  struct refs *refs, struct error *err)
{
	const struct repo *repo = w->odb->repo;
	struct marking m = {.w = w, .refs = refs, .tips = *tips, .err = err};
	int ret = config_each(&repo->config, "repack.tipisland",
			      add_island_tips, &m);

	if (!ret && !m.prefix_nr && repo->is_bare)
		ret = add_head(&m);
	*tips = m.tips;
	return ret;
}

struct idle_search {
	struct refs *refs;
	/*
	 * borrowed: a value of repack.tipIsland that matches no reference;
	 * NULL: none found so far
	 */
	const char *idle;
	struct error *err;
};

static int stop_at_ref(void *ctx, const struct ref *ref)
{
	return 1;
}

static int find_idle(void *ctx, const struct config_entry *entry)
{
	struct idle_search *s = ctx;
	int truth = config_parse_bool(entry->value);
	struct error warning = ERROR_INIT;
	struct ref head;
	int ret;

	if (!truth) {
		s->idle = NULL;
		return 0;
	}
	if (truth > 0 || !strcmp(entry->value, "HEAD"))
		ret = refs_lookup(s->refs, "HEAD", &head, s->err);
	else
		ret = refs_each(s->refs, entry->value, stop_at_ref, NULL,
				&warning, s->err);
	if (!ret)
		s->idle = entry->value ? entry->value : "true";
	return ret < 0 ? ret : 0;
}

int roots_find_idle_island(const char **value, const struct repo *repo,
			   struct refs *refs, struct error *err)
{
	struct idle_search s = {.refs = refs, .err = err};
	int ret = config_each(&repo->config, "repack.tipisland", find_idle, &s);

	*value = s.idle;
	return ret;
}
