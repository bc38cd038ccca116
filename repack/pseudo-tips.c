/* SPDX-License-Identifier: MIT */
/* References as tips for pseudo-merges. */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "repack/pseudo-tips.h"

/* A tip with the name of its group: what the pattern captured. */
struct named_tip {
	uint32_t section;
	uint32_t commit_nr;
	size_t name_off; /* in loading.names, NUL-terminated */
};

struct loading {
	struct walk *w;
	struct pseudo_tips *out;
	const struct pseudo_config *config;
	struct walk_tips tips; /* of the refs so far */
	struct buf names;
	struct named_tip *named; /* owned */
	size_t named_nr, named_alloc;
	struct error *err;
};

static bool has_prefix(const char *name, const char *prefix)
{
	return !strncmp(name, prefix, strlen(prefix));
}

static int add_by_class(struct loading *l, const char *name, uint32_t commit_nr)
{
	bool is_named = has_prefix(name, "refs/heads/") ||
			has_prefix(name, "refs/tags/");

	if (pseudo_tips_add(l->out, commit_nr,
			    is_named ? PSEUDO_NAMED : PSEUDO_OTHERS) < 0)
		return error_nomem(l->err);
	return 0;
}

static int add_to_section(struct loading *l, const char *name,
			  uint32_t commit_nr, size_t section)
{
	struct pattern *pattern = l->config->sections[section].pattern;
	size_t off = l->names.len;
	int ret = pattern_match(pattern, name, strlen(name), l->err);

	if (ret <= 0)
		return ret;
	if (pattern_captures(&l->names, pattern, name) < 0 ||
	    buf_append_char(&l->names, '\0') < 0 ||
	    mem_grow(&l->named, &l->named_alloc, l->named_nr + 1,
		     sizeof(*l->named)) < 0)
		return error_nomem(l->err);
	l->named[l->named_nr++] = (struct named_tip){
		.section = (uint32_t)section,
		.commit_nr = commit_nr,
		.name_off = off,
	};
	return 0;
}

static int add_commit(struct loading *l, const char *name, uint32_t commit_nr)
{
	int ret = 0;

	if (!l->config->nr)
		return add_by_class(l, name, commit_nr);
	for (size_t i = 0; i < l->config->nr && !ret; i++)
		ret = add_to_section(l, name, commit_nr, i);
	return ret;
}

static int add_ref(void *ctx, const struct ref *ref)
{
	struct loading *l = ctx;
	size_t i = l->tips.commit_nr;
	int ret = walk_add_tip(l->w, &l->tips, &ref->oid, false, l->err);

	for (; i < l->tips.commit_nr && !ret; i++)
		ret = add_commit(l, ref->name, l->tips.commits[i]);
	return ret;
}

static int compare(const void *a, const void *b, void *ctx)
{
	const struct named_tip *x = a, *y = b;
	const char *names = ctx;

	if (x->section != y->section)
		return x->section < y->section ? -1 : 1;
	return strcmp(names + x->name_off, names + y->name_off);
}

/* Number the names of groups. */
static int number_groups(struct loading *l)
{
	struct pseudo_tips *out = l->out;

	if (l->named_nr)
		qsort_r(l->named, l->named_nr, sizeof(*l->named), compare,
			l->names.data);
	for (size_t i = 0; i < l->named_nr; i++) {
		const struct named_tip *tip = &l->named[i];

		if (!i || compare(tip - 1, tip, l->names.data)) {
			if (mem_grow(&out->rules, &out->group_alloc,
				     out->group_nr + 1,
				     sizeof(*out->rules)) < 0)
				return ERR_NOMEM;
			out->rules[out->group_nr++] =
				l->config->sections[tip->section].rules;
		}
		if (pseudo_tips_add(out, tip->commit_nr,
				    (uint32_t)out->group_nr - 1) < 0)
			return ERR_NOMEM;
	}
	return 0;
}

int pseudo_tips_load(struct pseudo_tips *tips, struct walk *w,
		     struct refs *refs, const struct pseudo_config *config,
		     struct error *err)
{
	struct loading l = {
		.w = w,
		.out = tips,
		.config = config,
		.tips = WALK_TIPS_INIT,
		.names = BUF_INIT,
		.err = err,
	};
	int ret = refs_each_strict(refs, "", add_ref, &l, err);

	if (!ret && number_groups(&l) < 0)
		ret = error_nomem(err);
	walk_tips_release(&l.tips);
	buf_release(&l.names);
	free(l.named);
	return ret;
}
