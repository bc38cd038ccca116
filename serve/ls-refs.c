/* SPDX-License-Identifier: MIT */
/* The command ls-refs of protocol v2. */
#include <stdlib.h>
#include <string.h>

#include "base/affix.h"
#include "base/strlist.h"
#include "refs/refs-cache.h"
#include "serve/v2-command.h"
#include "wire/pktline.h"

/*
 * Limits for the ref prefixes of one request: their number, and their total
 * bytes. Beyond a limit, all visible refs are listed. Prefixes only save work,
 * because clients filter the list themselves.
 */
#define PREFIX_NR_MAX 65536
#define PREFIX_BYTES_MAX (4 << 20)

struct listing {
	struct session *s;
	bool symrefs, peel, unborn;
	struct strlist prefixes;
	size_t prefix_bytes;
	/*
	 * true: list all visible refs, because the request has too many
	 * prefixes
	 */
	bool all;
	/* attributes of the current ref */
	struct buf attributes;
	/*
	 * true: a line of the listing depends on the target of a symbolic ref,
	 * and this target may be outside of the cached refs. So the packets are
	 * not kept for other requests.
	 */
	bool is_mixed;
	struct error *err;
};

static int add_prefix(struct listing *l, const char *prefix)
{
	l->prefix_bytes += strlen(prefix);
	if (l->prefixes.nr >= PREFIX_NR_MAX ||
	    l->prefix_bytes > PREFIX_BYTES_MAX)
		l->all = true;
	if (l->all)
		return 0;
	return strlist_add(&l->prefixes, prefix) < 0 ? error_nomem(l->err) : 0;
}

static int parse(struct listing *l, struct v2_args *args)
{
	const char *line, *prefix;
	int ret;

	while ((ret = v2_args_next(args, &line, l->err)) > 0) {
		if (!strcmp(line, "symrefs"))
			l->symrefs = true;
		else if (!strcmp(line, "peel"))
			l->peel = true;
		else if (!strcmp(line, "unborn"))
			l->unborn = l->s->config.unborn != SERVE_UNBORN_IGNORE;
		else if ((prefix = after_word(line, "ref-prefix")))
			ret = add_prefix(l, prefix);
		else
			ret = v2_args_unexpected(line, l->err);
		if (ret < 0)
			break;
	}
	return ret;
}

/*
 * Sorts the ref prefixes, and removes each prefix that begins with another
 * prefix.
 */
static void disjoin(struct listing *l)
{
	char **prefixes = l->prefixes.items;
	size_t kept = 0;

	strlist_sort(&l->prefixes);
	for (size_t i = 0; i < l->prefixes.nr; i++) {
		const char *last = kept ? prefixes[kept - 1] : NULL;

		if (last && !strncmp(prefixes[i], last, strlen(last)))
			free(prefixes[i]);
		else
			prefixes[kept++] = prefixes[i];
	}
	l->prefixes.nr = kept;
}

static int put_oid(struct listing *l, const struct oid *oid)
{
	char hex[OID_MAX_HEX_LEN + 1];

	return buf_append_str(&l->attributes, oid_to_hex(hex, oid, l->s->algo));
}

static int put_attributes(struct listing *l, const struct ref *ref,
			  const struct oid *peeled)
{
	int ret = 0;

	if (l->symrefs && ref->target)
		ret = buf_printf(&l->attributes, " symref-target:%s",
				 ref->target);
	if (!ret && peeled)
		ret = buf_append_str(&l->attributes, " peeled:");
	return !ret && peeled ? put_oid(l, peeled) : ret;
}

static int write_ref(void *ctx, const struct ref *ref)
{
	struct listing *l = ctx;
	struct oid peeled;
	int is_tag = 0;

	l->is_mixed |= ref->target != NULL;
	if (l->peel)
		is_tag = session_peel_ref(l->s, ref, &peeled, l->err);
	if (is_tag < 0)
		return is_tag;
	buf_reset(&l->attributes);
	if (put_attributes(l, ref, is_tag ? &peeled : NULL) < 0)
		return error_nomem(l->err);
	return pktline_write_ref(&l->s->out, l->s->algo, &ref->oid, ref->name,
				 l->attributes.data, l->attributes.len, l->err);
}

static bool has_head(const struct listing *l)
{
	for (size_t i = 0; i < l->prefixes.nr; i++)
		if (starts_with("HEAD", l->prefixes.items[i]))
			return true;
	return l->all || !l->prefixes.nr;
}

static int write_head(struct listing *l)
{
	struct error why = ERROR_INIT;
	struct ref head;
	int ret = refview_lookup(&l->s->refs, "HEAD", &head, &why);

	if (ret > 0)
		return write_ref(l, &head);
	if (ret == ERR_NOMEM)
		return error_nomem(l->err);
	if (ret < 0)
		session_warn(l->s, &why);
	if (ret < 0 || !l->unborn || !head.target)
		return 0;
	return pktline_printf(&l->s->out, l->err,
			      "unborn HEAD symref-target:%s\n", head.target);
}

static size_t visit_nr(const struct listing *l)
{
	return l->all || !l->prefixes.nr ? 1 : l->prefixes.nr;
}

static const char *visit_prefix(const struct listing *l, size_t i)
{
	return l->all || !l->prefixes.nr ? "" : l->prefixes.items[i];
}

/* Visits the refs below refs/. */
static int visit_refs(struct listing *l, struct error *warning)
{
	int ret = 0;

	for (size_t i = 0; !ret && i < visit_nr(l); i++)
		ret = refview_each(&l->s->refs, visit_prefix(l, i), false,
				   write_ref, l, warning, l->err);
	return ret;
}

/* ---- listings that requests share */

/* Returns whether names below refs/ can have the prefix. */
static bool is_for_refs(const char *prefix)
{
	return !strncmp("refs/", prefix, strlen(prefix)) ||
	       !strncmp(prefix, "refs/", 5);
}

/*
 * Finds out whether requests can share the packets of this listing. If so, sets
 * *cached to the packed-refs file or the reftable stack that has all refs of
 * the listing. Otherwise sets *cached to NULL, for example if a loose ref is
 * listed, if the packets go into a sideband or the trace, or if there is no
 * cache. Returns 0 or a negative error code.
 */
static int find_cached(const struct refs_cached **cached, struct listing *l)
{
	const struct refs_cached *first = NULL;
	size_t nr = visit_nr(l);

	*cached = NULL;
	if (!l->s->options->repo->refs_cache || l->s->out.band ||
	    trace_wants(l->s->options->repo->trace, TRACE_PACKET))
		return 0;
	for (size_t i = 0; i < nr; i++) {
		const char *prefix = visit_prefix(l, i);
		int ret = is_for_refs(prefix)
				  ? refview_get_cached(cached, &l->s->refs,
						       prefix, l->err)
				  : 1;

		if (ret > 0 && first && *cached != first)
			ret = 0;
		if (ret <= 0) {
			*cached = NULL;
			return ret;
		}
		first = *cached;
	}
	return 0;
}

/*
 * Sets *key to a string that identifies a listing of the cached refs. It has
 * the rules for hidden refs, the namespace, the prefixes, and whether tags are
 * peeled. Listings with different lines get different keys.
 */
static int make_key(struct buf *key, const struct listing *l)
{
	const char *namespace = l->s->options->namespace;
	struct oid rules;
	int ret = refview_rules_id(&rules, &l->s->refs.rules);

	if (!ret)
		ret = buf_append(key, rules.bytes, hash_len(HASH_SHA256));
	if (!ret)
		ret = buf_append_char(key, l->peel ? 'p' : '-');
	if (!ret && namespace)
		ret = buf_append_str(key, namespace);
	for (size_t i = 0; !ret && i < visit_nr(l); i++) {
		ret = buf_append_char(key, '\0');
		if (!ret)
			ret = buf_append_str(key, visit_prefix(l, i));
	}
	return ret < 0 ? error_nomem(l->err) : 0;
}

/*
 * Lists the refs. Keeps the packets of the list for later requests, if all of
 * them are still in the buffer, and if they stay right as long as the cached
 * refs do not change. A packet may also have the peeled value of a tag, which
 * was read from the tag object. Such a packet can be kept, because an object
 * never changes.
 */
static int visit_and_note(struct listing *l, const struct refs_cached *cached,
			  const struct buf *key, struct error *warning)
{
	struct session *s = l->s;
	size_t from = s->out.pending.len, write_nr = s->out.write_nr;
	uint64_t looked_at = s->refs.looked_at;
	uint64_t unreadable_nr = s->unreadable_nr;
	int ret = visit_refs(l, warning);

	if (!ret && !l->is_mixed && !warning->code &&
	    s->unreadable_nr == unreadable_nr && s->out.write_nr == write_nr &&
	    s->out.pending.len > from)
		refs_cache_add_note(s->options->repo->refs_cache, cached, key,
				    s->out.pending.data + from,
				    s->out.pending.len - from,
				    s->refs.looked_at - looked_at);
	return ret;
}

static int share_refs(struct listing *l, const struct refs_cached *cached,
		      struct error *warning)
{
	struct session *s = l->s;
	struct buf key = BUF_INIT;
	uint64_t looked_at = 0;
	int ret = make_key(&key, l);

	if (!ret) {
		ret = refs_cache_find_note(&s->out.pending, &looked_at,
					   s->options->repo->refs_cache, cached,
					   &key);
		s->refs.looked_at += looked_at;
		if (ret < 0)
			error_nomem(l->err);
		else
			ret = ret ? 0
				  : visit_and_note(l, cached, &key, warning);
	}
	buf_release(&key);
	return ret;
}

static int write_refs(struct listing *l)
{
	const struct refs_cached *cached = NULL;
	struct error warning = ERROR_INIT;
	int ret = session_open_refs(l->s, l->err);

	if (!ret && has_head(l))
		ret = write_head(l);
	/*
	 * is_mixed says that a line depends on a ref outside of the cached
	 * refs. If it is set after the lines of refs were written, these lines
	 * are not kept for other requests. The line of HEAD, which was just
	 * written, may have set it. But only the lines after that of HEAD are
	 * kept, and they do not depend on it. So clear is_mixed before they are
	 * written.
	 */
	l->is_mixed = false;
	if (!ret)
		ret = find_cached(&cached, l);
	if (!ret)
		ret = cached ? share_refs(l, cached, &warning)
			     : visit_refs(l, &warning);
	session_warn(l->s, &warning);
	return ret;
}

int ls_refs_run(struct session *s, struct v2_args *args, struct error *err)
{
	struct listing l = {.s = s, .attributes = BUF_INIT, .err = err};
	int ret = parse(&l, args);

	disjoin(&l);
	if (!ret)
		ret = write_refs(&l);
	if (!ret)
		ret = pktline_write_flush(&s->out, err);
	strlist_release(&l.prefixes);
	buf_release(&l.attributes);
	return ret;
}
