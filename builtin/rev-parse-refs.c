/* SPDX-License-Identifier: MIT */
/* git rev-parse: options that stand for many refs or objects. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/wildmatch.h"
#include "builtin/rev-parse.h"

/* The state of visiting the refs for one option, such as --branches. */
struct visit {
	struct rev_parse *rp;
	/*
	 * length of the prefix that is removed from the printed names, in bytes
	 */
	size_t trim;
	const char *pattern; /* NULL: all refs */
};

static bool is_excluded(const struct rev_parse *rp, const char *name)
{
	for (size_t i = 0; i < rp->excluded_nr; i++)
		if (wildmatch(rp->excluded[i], name, 0))
			return true;
	return false;
}

static bool takes(const struct visit *v, const char *name)
{
	return (!v->pattern || wildmatch(v->pattern, name, 0)) &&
	       !is_excluded(v->rp, name + v->trim);
}

static int show_ref(void *ctx, const struct ref *ref)
{
	const struct visit *v = ctx;

	if (takes(v, ref->name))
		rev_parse_show_rev(v->rp, false, &ref->oid,
				   ref->name + v->trim);
	return 0;
}

/*
 * Handle a broken ref. If its name or its value is invalid, print the ref with
 * rev_parse_show_broken(): usually as if it were a revision whose id is all
 * zeros. If its object is missing, print an error. Skip a dangling symbolic
 * ref.
 */
static int show_broken(void *ctx, const char *name, enum refs_flaw flaw)
{
	const struct visit *v = ctx;

	if (flaw == REFS_FLAW_MISSING)
		builtin_error("%s does not point to a valid object!", name);
	if ((flaw == REFS_FLAW_NAME || flaw == REFS_FLAW_VALUE) &&
	    takes(v, name))
		rev_parse_show_broken(v->rp, name, v->trim);
	return 0;
}

static int visit_refs(struct visit *v, const char *prefix)
{
	struct error err = ERROR_INIT;
	int ret = refs_each_from(v->rp->store.refs, prefix, NULL, show_ref,
				 show_broken, v, &err);

	v->rp->excluded_nr = 0;
	return ret < 0 ? -builtin_fail(&err) : 1;
}

/*
 * Visit refs below `prefix` that match a pattern. A pattern without wildcards
 * is a directory.
 */
static int visit_glob(struct rev_parse *rp, const char *prefix,
		      const char *pattern, bool trim)
{
	struct visit v = {.rp = rp, .trim = trim ? strlen(prefix) : 0};
	struct buf full = BUF_INIT;
	struct buf fixed = BUF_INIT;
	int ret;

	if (!trim && !strncmp(pattern, prefix, strlen(prefix)))
		prefix = "";
	if (buf_printf(&full, "%s%s", prefix, pattern) < 0 ||
	    (!pattern[strcspn(pattern, "*?[\\")] &&
	     buf_append_str(&full, full.len && full.data[full.len - 1] == '/'
					   ? "*"
					   : "/*") < 0) ||
	    buf_append(&fixed, full.data, strcspn(full.data, "*?[\\")) < 0) {
		ret = -builtin_die("out of memory");
	} else {
		v.pattern = full.data;
		ret = visit_refs(&v, fixed.data);
	}
	buf_release(&full);
	buf_release(&fixed);
	return ret;
}

/* Handle --<option> or --<option>=<pattern> for refs below `prefix`. */
static int below(struct rev_parse *rp, const char *arg, const char *option,
		 const char *prefix)
{
	struct visit v = {.rp = rp, .trim = strlen(prefix)};
	size_t len = strlen(option);

	if (strncmp(arg, option, len) != 0)
		return 0;
	if (!arg[len])
		return visit_refs(&v, prefix);
	if (arg[len] == '=')
		return visit_glob(rp, prefix, arg + len + 1, true);
	return 0;
}

/* ---- --disambiguate */

struct candidates {
	struct oid *oids;
	size_t nr, alloc;
};

static int collect(void *ctx, const struct oid *oid)
{
	struct candidates *c = ctx;

	if (mem_grow(&c->oids, &c->alloc, c->nr + 1, sizeof(*c->oids)) < 0)
		return ERR_NOMEM;
	c->oids[c->nr++] = *oid;
	return 0;
}

static int compare_oids(const void *a, const void *b)
{
	return oid_cmp(a, b);
}

static int disambiguate(struct rev_parse *rp, const char *hex)
{
	struct candidates c = {NULL, 0, 0};
	struct error err = ERROR_INIT;
	char full[OID_MAX_HEX_LEN + 1];
	enum hash_algo algo = rp->store.odb->algo;
	size_t len = strlen(hex);
	struct oid prefix;
	int ret = 0;

	memset(full, '0', sizeof(full));
	memcpy(full, hex, len < OID_MAX_HEX_LEN ? len : OID_MAX_HEX_LEN);
	if (!len || len > hash_hex_len(algo) ||
	    !oid_from_hex(&prefix, full, OID_MAX_HEX_LEN, algo))
		return 1;
	ret = odb_each_abbrev(rp->store.odb, &prefix, len, collect, &c, &err);
	if (ret == ERR_NOMEM)
		error_nomem(&err);
	if (c.nr)
		qsort(c.oids, c.nr, sizeof(*c.oids), compare_oids);
	for (size_t i = 0; !ret && i < c.nr; i++)
		if (!i || !oid_equal(&c.oids[i], &c.oids[i - 1]))
			rev_parse_show_rev(rp, false, &c.oids[i], NULL);
	free(c.oids);
	return ret < 0 ? -builtin_fail(&err) : 1;
}

static int exclude(struct rev_parse *rp, const char *pattern)
{
	if (mem_grow(&rp->excluded, &rp->excluded_alloc, rp->excluded_nr + 1,
		     sizeof(*rp->excluded)) < 0)
		return -builtin_die("out of memory");
	rp->excluded[rp->excluded_nr++] = pattern;
	return 1;
}

int rev_parse_refs(struct rev_parse *rp, const char *arg)
{
	struct visit all = {.rp = rp};
	int ret;

	if (!strcmp(arg, "--all"))
		return visit_refs(&all, "");
	ret = below(rp, arg, "--branches", "refs/heads/");
	if (!ret)
		ret = below(rp, arg, "--tags", "refs/tags/");
	if (!ret)
		ret = below(rp, arg, "--remotes", "refs/remotes/");
	if (ret)
		return ret;
	if (!strncmp(arg, "--glob=", 7))
		return visit_glob(rp, "refs/", arg + 7, false);
	if (!strncmp(arg, "--exclude=", 10))
		return exclude(rp, arg + 10);
	if (!strncmp(arg, "--disambiguate=", 15))
		return disambiguate(rp, arg + 15);
	return 0;
}
