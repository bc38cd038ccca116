/* SPDX-License-Identifier: MIT */
/*
 * Groups the tips of references, so that each group gets pseudo-merges in the
 * bitmap index.
 */
#include <stdlib.h>
#include <string.h>

#include "base/affix.h"
#include "base/buf.h"
#include "base/mem.h"
#include "object/oidmap.h"
#include "packs/pseudo-tips.h"

/*
 * A tip, and the name of its group. The name is the part of the reference's
 * name that the pattern of the section captures.
 */
struct named_tip {
	uint32_t section;
	uint32_t commit_nr;
	/* offset of the name in loading.names, where a NUL ends it */
	size_t name_off;
};

/*
 * An object to which references point. In a fork network, many references
 * point to the same object.
 */
struct named_value {
	/*
	 * commit_nr of the commit that the object is or peels to; NO_COMMIT:
	 * the object neither is a commit nor peels to one
	 */
	uint32_t commit_nr;
	/*
	 * indexed by enum pseudo_class: whether the object was added to the
	 * class already; used only if the configuration has no sections
	 * bitmapPseudoMerge.<name>
	 */
	bool in_class[PSEUDO_OTHERS + 1];
};

#define NO_COMMIT UINT32_MAX

struct loading {
	struct walk *w;
	struct pseudo_tips *out;
	const struct pseudo_config *config;
	/* maps an id to its index in `values` */
	struct oidmap by_value;
	struct named_value *values; /* owned */
	size_t value_nr, value_alloc;
	struct buf names;
	struct named_tip *named; /* owned */
	size_t named_nr, named_alloc;
	struct error *err;
};

static int add_by_class(struct loading *l, const char *name,
			struct named_value *value)
{
	bool is_named = starts_with(name, "refs/heads/") ||
			starts_with(name, "refs/tags/");
	uint32_t class = is_named ? PSEUDO_NAMED : PSEUDO_OTHERS;

	if (value->in_class[class])
		return 0;
	value->in_class[class] = true;
	if (pseudo_tips_add(l->out, value->commit_nr, class) < 0)
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

static int add_commit(struct loading *l, const char *name,
		      struct named_value *value)
{
	int ret = 0;

	if (!l->config->nr)
		return add_by_class(l, name, value);
	for (size_t i = 0; i < l->config->nr && !ret; i++)
		ret = add_to_section(l, name, value->commit_nr, i);
	return ret;
}

/*
 * Find the record of an object that a reference names, or add a record. So each
 * object is looked up only once. Returns 0 or a negative error code.
 */
static int find_value(struct named_value **value, struct loading *l,
		      const struct oid *oid)
{
	struct walk_tips tips = WALK_TIPS_INIT;
	uint32_t at = (uint32_t)l->value_nr;
	int ret = oidmap_add(&l->by_value, oid, at, &at);

	if (!ret) {
		*value = &l->values[at];
		return 0;
	}
	if (ret < 0 || mem_grow(&l->values, &l->value_alloc, l->value_nr + 1,
				sizeof(*l->values)) < 0)
		return error_nomem(l->err);
	*value = &l->values[l->value_nr++];
	**value = (struct named_value){.commit_nr = NO_COMMIT};
	ret = walk_add_tip(l->w, &tips, oid, true, l->err);
	if (!ret && tips.commit_nr)
		(*value)->commit_nr = tips.commits[0];
	walk_tips_release(&tips);
	return ret;
}

static int add_ref(void *ctx, const struct ref *ref)
{
	struct loading *l = ctx;
	struct named_value *value = NULL;
	int ret = find_value(&value, l, &ref->oid);

	if (ret || value->commit_nr == NO_COMMIT)
		return ret;
	return add_commit(l, ref->name, value);
}

static int compare(const void *a, const void *b, void *ctx)
{
	const struct named_tip *x = a, *y = b;
	const char *names = ctx;

	if (x->section != y->section)
		return x->section < y->section ? -1 : 1;
	return strcmp(names + x->name_off, names + y->name_off);
}

/* Sort the groups by name and give numbers to them. Returns 0 or ERR_NOMEM. */
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
		.by_value = OIDMAP_INIT,
		.names = BUF_INIT,
		.err = err,
	};
	struct error warning = ERROR_INIT;
	int ret = refs_each(refs, "", add_ref, &l, &warning, err);

	if (!ret && number_groups(&l) < 0)
		ret = error_nomem(err);
	oidmap_release(&l.by_value);
	free(l.values);
	buf_release(&l.names);
	free(l.named);
	return ret;
}
