/* SPDX-License-Identifier: MIT */
/* Lists the roots of reachability, and the tips that get bitmaps. */
#include <string.h>

#include "base/mem.h"
#include "base/sort.h"
#include "bitmap/select.h"
#include "packs/roots.h"
#include "walk/ref-tips.h"

int roots_add(struct walk *w, struct walk_tips *tips, struct refs *refs,
	      bool all_roots, struct error *err)
{
	int ret = ref_tips_add(w, tips, refs, "", err);

	if (!ret && all_roots)
		ret = ref_tips_add_reflogs(w, tips, err);
	if (!ret && all_roots)
		ret = ref_tips_add_index(w, tips, err);
	return ret;
}

struct marking {
	struct walk *w;
	struct refs *refs;
	struct walk_tips tips;
	size_t prefix_nr;
	/*
	 * The first `default_nr` tips were chosen by default, not by
	 * configuration.
	 */
	size_t default_nr;
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

static int add_head(struct marking *m)
{
	struct ref head;
	int ret = refs_lookup(m->refs, "HEAD", &head, m->err);

	return ret > 0 ? walk_add_tip(m->w, &m->tips, &head.oid, false, m->err)
		       : ret;
}

/* Add HEAD and the newest branches as tips. */
static int add_default(struct marking *m)
{
	const struct history *h = &m->w->history;
	struct sort_item *by_age;
	int ret = ref_tips_add(m->w, &m->tips, m->refs, "refs/heads/", m->err);

	if (ret < 0)
		return ret;
	by_age = mem_alloc(m->tips.commit_nr, sizeof(*by_age));
	if (!by_age)
		return error_nomem(m->err);
	for (size_t i = 0; i < m->tips.commit_nr; i++)
		by_age[i] = (struct sort_item){
			UINT64_MAX - h->commits[m->tips.commits[i]].date,
			m->tips.commits[i],
		};
	if (sort_items(by_age, m->tips.commit_nr) < 0)
		ret = error_nomem(m->err);
	if (m->tips.commit_nr > ROOTS_DEFAULT_TIPS)
		m->tips.commit_nr = ROOTS_DEFAULT_TIPS;
	for (size_t i = 0; i < m->tips.commit_nr; i++)
		m->tips.commits[i] = by_age[i].value;
	free(by_age);
	m->default_nr = m->tips.commit_nr;
	return ret < 0 ? ret : add_head(m);
}

int roots_mark_tips(uint8_t **is_tip, struct walk *w, struct refs *refs,
		    struct error *err)
{
	struct marking m = {.w = w, .refs = refs, .err = err};
	uint8_t *marks = NULL;
	int ret = config_each(&w->odb->repo->config, "pack.preferbitmaptips",
			      add_prefix, &m);

	if (!ret && !m.prefix_nr)
		ret = add_default(&m);
	if (!ret) {
		marks = mem_calloc(w->history.nr, 1);
		ret = marks ? 0 : error_nomem(err);
	}
	for (size_t i = 0; marks && i < m.tips.commit_nr; i++)
		marks[m.tips.commits[i]] = i < m.default_nr ? SELECT_DEFAULT_TIP
							    : SELECT_TIP;
	walk_tips_release(&m.tips);
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
	 * borrowed: a value of repack.tipIsland that names no reference; NULL:
	 * none found so far
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
