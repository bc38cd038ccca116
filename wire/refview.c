/* SPDX-License-Identifier: MIT */
/*
 * The refs that a client may see: hide rules, namespaces, iteration and
 * look-up.
 */
#include <stdlib.h>
#include <string.h>

#include "base/affix.h"
#include "base/mem.h"
#include "base/sort.h"
#include "object/hash.h"
#include "wire/refview.h"

int refview_rules_add(struct refview_rules *rules, const char *value)
{
	struct refview_rule rule = {0};
	size_t len;

	if (*value == '!') {
		rule.is_exposed = true;
		value++;
	}
	if (*value == '^') {
		rule.is_full = true;
		value++;
	}
	len = strlen(value);
	while (len && value[len - 1] == '/')
		len--;
	if (mem_grow(&rules->rules, &rules->alloc, rules->nr + 1,
		     sizeof(rule)) < 0)
		return ERR_NOMEM;
	rule.pattern = mem_strndup(value, len);
	if (!rule.pattern)
		return ERR_NOMEM;
	rule.len = len;
	rules->rules[rules->nr++] = rule;
	return 0;
}

void refview_rules_release(struct refview_rules *rules)
{
	for (size_t i = 0; i < rules->nr; i++)
		free(rules->rules[i].pattern);
	free(rules->rules);
	*rules = (struct refview_rules){0};
}

int refview_rules_id(struct oid *id, const struct refview_rules *rules)
{
	struct hash_ctx hash;

	if (hash_init(&hash, HASH_SHA256) < 0)
		return ERR_NOMEM;
	for (size_t i = 0; i < rules->nr; i++) {
		const struct refview_rule *rule = &rules->rules[i];

		if (rule->is_exposed)
			hash_update(&hash, "!", 1);
		if (rule->is_full)
			hash_update(&hash, "^", 1);
		/*
		 * The zero byte at the end separates this rule from the next
		 * one in the hash.
		 */
		hash_update(&hash, rule->pattern, rule->len + 1);
	}
	hash_final(&hash, id);
	hash_release(&hash);
	return 0;
}

/*
 * Returns whether a ref name matches the pattern of a hide rule. Compares one
 * byte first, which rejects nearly all rules. There may be a hundred of them.
 */
static bool rule_matches(const struct refview_rule *rule, const char *name,
			 size_t len)
{
	if (len < rule->len)
		return false;
	if (!rule->len)
		return !len || *name == '/';
	return name[rule->len - 1] == rule->pattern[rule->len - 1] &&
	       (len == rule->len || name[rule->len] == '/') &&
	       !memcmp(name, rule->pattern, rule->len);
}

bool refview_rules_hide(const struct refview_rules *rules, const char *name,
			const char *full)
{
	size_t name_len = rules->nr && name ? strlen(name) : 0;
	size_t full_len = rules->nr ? strlen(full) : 0;

	for (size_t i = rules->nr; i-- > 0;) {
		const struct refview_rule *rule = &rules->rules[i];

		if (rule->is_full ? rule_matches(rule, full, full_len)
				  : name && rule_matches(rule, name, name_len))
			return !rule->is_exposed;
	}
	return false;
}

/*
 * Append the prefix of a namespace: "a/b" gives
 * "refs/namespaces/a/refs/namespaces/b/". Returns 0 or ERR_NOMEM.
 */
static int expand_namespace(struct buf *out, const char *name)
{
	while (*name) {
		size_t len = strcspn(name, "/");

		if (len && (buf_append_str(out, "refs/namespaces/") < 0 ||
			    buf_append(out, name, len) < 0 ||
			    buf_append_char(out, '/') < 0))
			return ERR_NOMEM;
		name += len;
		name += strspn(name, "/");
	}
	return 0;
}

static int add_rule(struct refview_rules *rules,
		    const struct config_entry *entry, const char *key,
		    struct error *err)
{
	if (strcmp(entry->key, "transfer.hiderefs") && strcmp(entry->key, key))
		return 0;
	/*
	 * A configuration entry without a value is an error. Ignoring the entry
	 * could show refs that the entry should hide.
	 */
	if (!entry->value)
		return error_set(err, ERR_INVALID, "missing value for '%s'",
				 entry->key);
	if (refview_rules_add(rules, entry->value) < 0)
		return error_nomem(err);
	return 0;
}

/*
 * Load the hide rules of transfer.hideRefs and of `key`, in the order of the
 * entries. A later entry overrides earlier entries of both keys. Returns 0 or
 * a negative error code.
 */
static int load_rules(struct refview_rules *rules, const struct config *config,
		      const char *key, struct error *err)
{
	int ret = 0;

	for (size_t i = 0; !ret && i < config->nr; i++)
		ret = add_rule(rules, &config->entries[i], key, err);
	return ret;
}

/*
 * Set the ref prefix of the namespace `name`. As in stock Git, a name that ends
 * in a slash or cannot be part of a ref's name is an error. If such a name were
 * ignored, refs outside of the namespace would be visible. Returns 0,
 * ERR_INVALID or ERR_NOMEM.
 */
static int set_namespace(struct refview *view, const char *name,
			 struct error *err)
{
	size_t len = strlen(name);

	if (!len)
		return 0;
	if (expand_namespace(&view->prefix, name) < 0)
		return error_nomem(err);
	if (name[len - 1] != '/' &&
	    refs_name_is_valid_len(view->prefix.data, view->prefix.len - 1,
				   false))
		return 0;
	return error_set(err, ERR_INVALID, "bad git namespace path \"%s\"",
			 name);
}

/*
 * Set *out to the pattern that is compared with full ref names: the pattern of
 * the rule, with the prefix of the namespace in front unless rule->is_full.
 * Returns 0 or ERR_NOMEM.
 */
static int full_pattern(struct buf *out, const struct refview *view,
			const struct refview_rule *rule)
{
	buf_reset(out);
	if (!rule->is_full &&
	    buf_append(out, view->prefix.data, view->prefix.len) < 0)
		return ERR_NOMEM;
	return buf_append_str(out, rule->pattern);
}

/*
 * Returns 1 if the rules surely hide every ref below `dir`, 0 if a ref may be
 * visible, or ERR_NOMEM. `dir` is the full pattern of hide rule `nr`. The
 * result is 0 if a later rule may expose a ref below `dir`.
 */
static int hides_all(const struct refview *view, size_t nr, const char *dir,
		     struct buf *scratch)
{
	const struct refview_rules *rules = &view->rules;

	if (rules->rules[nr].is_exposed || !*dir)
		return 0;
	for (size_t i = nr + 1; i < rules->nr; i++) {
		if (!rules->rules[i].is_exposed)
			continue;
		if (full_pattern(scratch, view, &rules->rules[i]) < 0)
			return ERR_NOMEM;
		if (is_at_or_below(scratch->data, dir) ||
		    is_at_or_below(dir, scratch->data) || !scratch->len)
			return 0;
	}
	return 1;
}

/*
 * Returns whether listings leave out all refs of the namespace. They do if a
 * rule has an empty pattern, and no rule begins with "!" or "^". Stock Git then
 * skips the directory of the namespace in packed-refs and in reftables, but not
 * loose refs. Here the kind of storage makes no difference.
 */
static bool skips_namespace(const struct refview *view)
{
	const struct refview_rules *rules = &view->rules;
	bool skips = false;

	for (size_t i = 0; i < rules->nr; i++) {
		if (rules->rules[i].is_exposed || rules->rules[i].is_full)
			return false;
		skips |= !rules->rules[i].len;
	}
	return skips && view->prefix.len;
}

static int find_skips(struct refview *view)
{
	struct buf dir = BUF_INIT, scratch = BUF_INIT;
	size_t nr = 0;
	int ret = 0;

	view->skips = mem_calloc(view->rules.nr + 2, sizeof(*view->skips));
	if (!view->skips)
		return ERR_NOMEM;
	if (skips_namespace(view)) {
		view->skips[nr] = mem_strdup(view->prefix.data);
		if (!view->skips[nr++])
			return ERR_NOMEM;
	}
	for (size_t i = 0; ret >= 0 && i < view->rules.nr; i++) {
		ret = full_pattern(&dir, view, &view->rules.rules[i]);
		if (!ret)
			ret = hides_all(view, i, dir.data, &scratch);
		if (ret > 0)
			ret = buf_append_char(&dir, '/');
		else
			continue;
		if (!ret)
			view->skips[nr++] = buf_detach(&dir, NULL);
	}
	sort_strings(view->skips, nr);
	buf_release(&dir);
	buf_release(&scratch);
	return ret < 0 ? ret : 0;
}

/*
 * Add to view->bounds, in the order of names, the four full names at which the
 * decision of a hide rule can change. The rule matches <pattern> itself and all
 * names that start with "<pattern>/". So the decision can change at the start
 * and at the end of each of these two ranges. Returns 0 or ERR_NOMEM.
 */
static int add_bounds(struct refview *view, size_t *nr,
		      const struct buf *pattern)
{
	static const char *const ends[] = {"", "\1", "/", "0"};

	for (size_t i = 0; i < ARRAY_NR(ends); i++) {
		struct buf bound = BUF_INIT;

		if (buf_append(&bound, pattern->data, pattern->len) < 0 ||
		    buf_append_str(&bound, ends[i]) < 0) {
			buf_release(&bound);
			return ERR_NOMEM;
		}
		view->bounds[*nr] = buf_detach(&bound, NULL);
		if (!view->bounds[*nr])
			return ERR_NOMEM;
		++*nr;
	}
	return 0;
}

/*
 * Fill view->bounds with the names at which "hidden" may change to "visible" or
 * back: the start and the end of the names that a rule matches. The start and
 * the end of the namespace are also such names. The reason: for a ref inside
 * the namespace, the prefix of the namespace is removed before the name is
 * compared with a rule. For any other ref, the full name is compared. Returns 0
 * or ERR_NOMEM.
 */
static int find_bounds(struct refview *view)
{
	struct buf pattern = BUF_INIT;
	size_t nr = 0;
	int ret;

	view->bounds = mem_calloc(4 * (view->rules.nr + 1) + 1,
				  sizeof(*view->bounds));
	if (!view->bounds)
		return ERR_NOMEM;
	ret = buf_append(&pattern, view->prefix.data,
			 view->prefix.len - !!view->prefix.len);
	if (!ret)
		ret = add_bounds(view, &nr, &pattern);
	for (size_t i = 0; !ret && i < view->rules.nr; i++) {
		ret = full_pattern(&pattern, view, &view->rules.rules[i]);
		if (!ret)
			ret = add_bounds(view, &nr, &pattern);
	}
	sort_strings(view->bounds, nr);
	buf_release(&pattern);
	return ret;
}

static void free_strings(char **strings)
{
	for (size_t i = 0; strings && strings[i]; i++)
		free(strings[i]);
	free(strings);
}

int refview_open(struct refview *view, const struct repo *repo,
		 const char *hide_key, const char *name, struct error *err)
{
	int ret;

	*view = (struct refview){0};
	buf_init(&view->prefix);
	buf_init(&view->full);
	ret = set_namespace(view, name ? name : "", err);
	if (ret < 0)
		return ret;
	ret = load_rules(&view->rules, &repo->config, hide_key, err);
	if (!ret && (find_skips(view) < 0 || find_bounds(view) < 0))
		ret = error_nomem(err);
	if (ret < 0)
		return ret;
	return refs_open(&view->refs, repo, err);
}

void refview_release(struct refview *view)
{
	refs_close(view->refs);
	refview_rules_release(&view->rules);
	buf_release(&view->prefix);
	buf_release(&view->full);
	free_strings(view->skips);
	free_strings(view->bounds);
	view->skips = view->bounds = NULL;
	view->refs = NULL;
}

static const char *strip(const struct refview *view, const char *name)
{
	if (name && view->prefix.len &&
	    !strncmp(name, view->prefix.data, view->prefix.len))
		return name + view->prefix.len;
	return name;
}

struct each {
	struct refview *view;
	bool hidden_too;
	int (*fn)(void *ctx, const struct ref *ref);
	void *ctx;
	/*
	 * Index in bounds[] of the name that ends the current range. The range
	 * begins at bounds[bound - 1]. The hide rules hide all names of a range
	 * or none. If `is_judged` is set, `is_hidden` says which.
	 */
	size_t bound;
	bool is_judged, is_hidden;
};

/*
 * Returns whether the hide rules hide a ref. view->bounds lists, in order, all
 * names at which the result of the rules can change. For all names between two
 * neighbours in this list the result is the same, so the rules are checked only
 * once for them. Names arrive in order. A name out of order, from a damaged
 * file, is checked by itself.
 */
static bool hides(struct each *each, const char *name, const char *full)
{
	const struct refview_rules *rules = &each->view->rules;
	char **bounds = each->view->bounds;
	size_t at = each->bound;

	while (bounds[at] && strcmp(full, bounds[at]) >= 0)
		at++;
	if (at && strcmp(full, bounds[at - 1]) < 0)
		return refview_rules_hide(rules, name, full);
	if (at != each->bound || !each->is_judged)
		each->is_hidden = refview_rules_hide(rules, name, full);
	each->is_judged = true;
	each->bound = at;
	return each->is_hidden;
}

static int visit(void *ctx, const struct ref *full)
{
	struct each *each = ctx;
	const char *name = strip(each->view, full->name);
	struct ref ref;

	each->view->looked_at++;
	if (!each->hidden_too && hides(each, name, full->name))
		return 0;
	if (!each->view->prefix.len)
		return each->fn(each->ctx, full);
	ref = *full;
	ref.name = name;
	ref.target = strip(each->view, full->target);
	return each->fn(each->ctx, &ref);
}

/*
 * Set view->full to `name` with the prefix of the namespace prepended. Returns
 * 0 or ERR_NOMEM.
 */
static int qualify(struct refview *view, const char *name)
{
	buf_reset(&view->full);
	if (buf_append(&view->full, view->prefix.data, view->prefix.len) < 0 ||
	    buf_append_str(&view->full, name) < 0)
		return ERR_NOMEM;
	return 0;
}

/*
 * A view lists only refs below "refs/". Returns `prefix` if it begins with
 * "refs/". Returns "refs/" if `prefix` is the start of "refs/", for example ""
 * or "ref". Otherwise returns NULL: no listed ref has this prefix. The HEAD of
 * a namespace is not listed, although its full name is below refs/.
 */
static const char *narrow(const char *prefix)
{
	if (!strncmp("refs/", prefix, strlen(prefix)))
		return "refs/";
	return strncmp(prefix, "refs/", 5) ? NULL : prefix;
}

int refview_get_cached(const struct refs_cached **out, struct refview *view,
		       const char *prefix, struct error *err)
{
	*out = NULL;
	prefix = narrow(prefix);
	if (!prefix)
		return 0;
	if (qualify(view, prefix) < 0)
		return error_nomem(err);
	return refs_get_cached(out, view->refs, view->full.data, err);
}

int refview_each(struct refview *view, const char *prefix, bool hidden_too,
		 int (*fn)(void *ctx, const struct ref *ref), void *ctx,
		 struct error *warning, struct error *err)
{
	struct each each = {
		.view = view, .hidden_too = hidden_too, .fn = fn, .ctx = ctx};

	prefix = narrow(prefix);
	if (!prefix)
		return 0;
	if (qualify(view, prefix) < 0)
		return error_nomem(err);
	return refs_each_except(view->refs, view->full.data,
				hidden_too ? NULL
					   : (const char *const *)view->skips,
				visit, &each, warning, err);
}

static int visit_with_others(void *ctx, const struct ref *full)
{
	struct each *each = ctx;
	struct ref ref;

	if (!each->view->prefix.len ||
	    strip(each->view, full->name) != full->name)
		return visit(ctx, full);
	each->view->looked_at++;
	if (hides(each, NULL, full->name))
		return 0;
	ref = *full;
	ref.name = NULL;
	return each->fn(each->ctx, &ref);
}

int refview_may_peel(struct refview *view, const char *prefix,
		     const struct refs_peel_search *search, struct error *err)
{
	if (qualify(view, prefix) < 0)
		return error_nomem(err);
	return refs_may_peel(view->refs, view->full.data, search, err);
}

int refview_each_with_others(struct refview *view,
			     int (*fn)(void *ctx, const struct ref *ref),
			     void *ctx, struct error *warning,
			     struct error *err)
{
	struct each each = {.view = view, .fn = fn, .ctx = ctx};

	return refs_each_except(view->refs, "",
				(const char *const *)view->skips,
				visit_with_others, &each, warning, err);
}

const char *refview_full_name(struct refview *view, const char *name)
{
	return qualify(view, name) < 0 ? NULL : view->full.data;
}

int refview_hides(struct refview *view, const char *name)
{
	if (qualify(view, name) < 0)
		return ERR_NOMEM;
	return refview_rules_hide(&view->rules, name, view->full.data);
}

/*
 * Returns whether clients may look up a name. Other names in the git directory,
 * such as "main-worktree/refs/...", would bypass the hide rules.
 */
static bool is_for_clients(const char *name)
{
	return !strcmp(name, "HEAD") || !strncmp(name, "refs/", 5);
}

/*
 * Look up the ref whose full name is in view->full. The names in *ref keep the
 * prefix of the namespace. Returns the codes of refs_lookup().
 */
static int lookup_full(struct refview *view, struct ref *ref, struct error *err)
{
	view->looked_at++;
	return refs_lookup(view->refs, view->full.data, ref, err);
}

static void strip_ref(const struct refview *view, struct ref *ref)
{
	ref->name = strip(view, ref->name);
	ref->target = strip(view, ref->target);
}

int refview_lookup(struct refview *view, const char *name, struct ref *ref,
		   struct error *err)
{
	int ret;

	memset(ref, 0, sizeof(*ref));
	if (!is_for_clients(name))
		return 0;
	if (qualify(view, name) < 0)
		return error_nomem(err);
	if (refview_rules_hide(&view->rules, name, view->full.data))
		return 0;
	ret = lookup_full(view, ref, err);
	strip_ref(view, ref);
	return ret;
}

/*
 * Returns whether clients may see a ref with this full name. The ref need not
 * exist.
 */
static bool shows(const struct refview *view, const char *full)
{
	const char *name = strip(view, full);

	return (name != full || !view->prefix.len) &&
	       !refview_rules_hide(&view->rules, name, full);
}

int refview_head(struct refview *view, struct ref *head, const char **branch,
		 struct error *err)
{
	bool is_shown, is_hidden;
	int ret;

	memset(head, 0, sizeof(*head));
	*branch = NULL;
	if (qualify(view, "HEAD") < 0)
		return error_nomem(err);
	is_hidden = refview_rules_hide(&view->rules, "HEAD", view->full.data);
	ret = lookup_full(view, head, err);
	is_shown = !is_hidden || (head->target && shows(view, head->target));
	strip_ref(view, head);
	if (ret > 0 && is_shown)
		*branch = head->target;
	return is_hidden && ret != ERR_NOMEM ? 0 : ret;
}

int refview_expand(struct refview *view, const char *name, struct ref *ref,
		   struct error *err)
{
	static const char *const prefixes[] = {"", "refs/", "refs/tags/",
					       "refs/heads/"};
	struct buf full = BUF_INIT;
	int found = 0, ret = 0;

	/*
	 * Try the prefixes from the last to the first. At the end, *ref is the
	 * ref of the prefix with the highest priority.
	 */
	for (size_t i = ARRAY_NR(prefixes); i-- > 0 && ret >= 0;) {
		struct ref one;

		buf_reset(&full);
		if (buf_append_str(&full, prefixes[i]) < 0 ||
		    buf_append_str(&full, name) < 0)
			ret = error_nomem(err);
		else
			ret = refview_lookup(view, full.data, &one, err);
		if (ret > 0) {
			*ref = one;
			found++;
		}
	}
	buf_release(&full);
	return ret < 0 ? ret : found;
}
