/* SPDX-License-Identifier: MIT */
/* Shortening ref names by reversing the expansion rules. */
#include <string.h>

#include "base/mem.h"
#include "builtin/ref-short.h"

/* The expansion rules of gitrevisions(7), in order of precedence. */
static const struct {
	const char *prefix, *suffix;
} rules[] = {
	{"", ""},
	{"refs/", ""},
	{"refs/tags/", ""},
	{"refs/heads/", ""},
	{"refs/remotes/", ""},
	{"refs/remotes/", "/HEAD"},
};

#define RULE_NR ARRAY_NR(rules)

/*
 * Rule `i` adds a prefix and a suffix to a short name. Remove both from the
 * full name `name`, to get the short name. Sets *start to the first byte of the
 * short name in `name`, and returns the length of the short name. Returns 0 if
 * `name` does not have this prefix and this suffix, or if nothing is left.
 */
static size_t match_rule(const char **start, size_t i, const char *name)
{
	size_t prefix_len = strlen(rules[i].prefix);
	size_t suffix_len = strlen(rules[i].suffix);
	size_t len = strlen(name);

	if (len <= prefix_len + suffix_len ||
	    memcmp(name, rules[i].prefix, prefix_len) != 0 ||
	    strcmp(name + len - suffix_len, rules[i].suffix) != 0)
		return 0;
	*start = name + prefix_len;
	return len - prefix_len - suffix_len;
}

/*
 * Find whether the short name is ambiguous, that is, whether a rule other than
 * `rule` expands it to an existing ref. If `strict` is false, only rules of
 * higher precedence are tried. Returns 1 if it is ambiguous, 0 if not, or a
 * negative error code.
 */
static int is_ambiguous(const struct store *store, const char *start,
			size_t len, size_t rule, bool strict, struct error *err)
{
	size_t end = strict ? RULE_NR : rule;
	struct buf full = BUF_INIT;
	struct ref ref;
	size_t i;
	int ret = 0;

	for (i = 0; ret <= 0 && i < end; i++) {
		if (i == rule)
			continue;
		buf_reset(&full);
		if (buf_printf(&full, "%s%.*s%s", rules[i].prefix, (int)len,
			       start, rules[i].suffix) < 0) {
			ret = error_nomem(err);
			break;
		}
		/*
		 * A broken ref counts as missing, so it does not make the name
		 * ambiguous.
		 */
		ret = refs_lookup(store->refs, full.data, &ref, err);
		if (ret == ERR_NOMEM)
			break;
		if (ret < 0)
			ret = 0;
	}
	buf_release(&full);
	return ret;
}

int ref_short_append_as(struct buf *out, const struct store *store,
			const char *name, bool strict, struct error *err)
{
	size_t rule;

	for (rule = RULE_NR; --rule > 0;) {
		const char *start;
		size_t len = match_rule(&start, rule, name);
		int ret;

		if (!len)
			continue;
		ret = is_ambiguous(store, start, len, rule, strict, err);
		if (ret < 0)
			return ret;
		if (!ret)
			return buf_append(out, start, len);
	}
	return buf_append_str(out, name);
}

int ref_short_append(struct buf *out, const struct store *store,
		     const char *name, struct error *err)
{
	bool strict = true;
	int ret = config_bool(&store->repo->config, "core.warnambiguousrefs",
			      &strict, err);

	if (ret < 0)
		return ret;
	return ref_short_append_as(out, store, name, strict, err);
}

int ref_short_matches(struct ref *ref, const struct store *store,
		      const char *name)
{
	int nr = refs_dwim_nr(store->refs, name, NULL, NULL);

	memset(ref, 0, sizeof(*ref));
	if (nr > 0)
		refs_dwim(store->refs, name, ref, NULL);
	return nr;
}
