/* SPDX-License-Identifier: MIT */
/* State of a connection. */
#include <string.h>

#include "base/mem.h"
#include "serve/session.h"
#include "wire/sideband.h"

struct flag {
	const char *key;
	bool *value;
};

static int load_flags(struct session_config *c, const struct config *config,
		      struct error *err)
{
	const struct flag flags[] = {
		{"uploadpack.allowrefinwant", &c->allow_ref_in_want},
		{"uploadpack.allowfilter", &c->allow_filter},
		{"uploadpack.allowsidebandall", &c->allow_sideband_all},
		{"uploadpack.advertisebundleuris", &c->advertise_bundle_uris},
		{"transfer.advertisesid", &c->advertise_sid},
		{"transfer.advertiseobjectinfo", &c->advertise_object_info},
		{"pack.usebitmaps", &c->use_bitmaps},
	};

	c->use_bitmaps = true;
	for (size_t i = 0; i < ARRAY_NR(flags); i++) {
		int ret = config_bool(config, flags[i].key, flags[i].value,
				      err);

		if (ret < 0)
			return ret;
	}
	return 0;
}

struct allowing {
	struct session_config *c;
	struct error *err;
};

/* allowAnySHA1InWant is about the other two as well, and the later one wins. */
static int take_allow(void *ctx, const struct config_entry *entry)
{
	struct allowing *a = ctx;
	const char *name = strchr(entry->key, '.') + 1;
	bool is_any = !strcmp(name, "allowanysha1inwant");
	bool is_tip = is_any || !strcmp(name, "allowtipsha1inwant");
	bool is_behind = is_any || !strcmp(name, "allowreachablesha1inwant");
	int value;

	if (!is_tip && !is_behind)
		return 0;
	value = config_entry_bool(entry, a->err);
	if (value < 0)
		return value;
	if (is_tip)
		a->c->allow_tip = value;
	if (is_behind)
		a->c->allow_reachable = value;
	if (is_any)
		a->c->allow_any = value;
	return 0;
}

static int load_allow(struct session_config *c, const struct config *config,
		      struct error *err)
{
	struct allowing a = {c, err};
	int ret = config_each(config, "uploadpack.", take_allow, &a);

	c->allow_any = c->allow_any && c->allow_tip && c->allow_reachable;
	return ret;
}

static int load_unborn(struct session_config *c, const struct config *config,
		       struct error *err)
{
	const char *value = config_string(config, "lsrefs.unborn");

	if (!value || !strcmp(value, "advertise"))
		c->unborn = SESSION_UNBORN_ADVERTISE;
	else if (!strcmp(value, "allow"))
		c->unborn = SESSION_UNBORN_ALLOW;
	else if (!strcmp(value, "ignore"))
		c->unborn = SESSION_UNBORN_IGNORE;
	else
		return error_set(err, ERR_INVALID,
				 "invalid value for 'lsrefs.unborn': '%s'",
				 value);
	return 0;
}

/* A served repository is not trusted to name programs that we run. */
static int take_hook(void *ctx, const struct config_entry *entry)
{
	struct session_config *c = ctx;

	if (entry->scope != CONFIG_LOCAL)
		c->pack_objects_hook = entry->value;
	return 0;
}

void session_release(struct session *s)
{
	visible_close(s->visible);
	if (s->walk_is_open)
		walk_close(&s->walk);
	odb_close(s->odb);
	if (s->refs_are_open)
		refview_release(&s->refs);
	pack_uris_release(&s->config.pack_uris);
	promisor_remotes_release(&s->config.promisor_remotes);
	summary_release(&s->summary);
	pktline_reader_release(&s->in);
	pktline_writer_release(&s->out);
}

void session_begin(struct session *s, const char *command)
{
	summary_begin(&s->summary, command);
	summary_phase(&s->summary, strcmp(command, "fetch")
					   ? SUMMARY_ANSWER
					   : SUMMARY_NEGOTIATE);
	summary_u64(&s->summary, "protocol", (uint64_t)s->options->version);
	s->refs_before = s->refs_are_open ? s->refs.looked_at : 0;
}

void session_end(struct session *s, const struct error *error)
{
	if (s->refs_are_open)
		summary_u64(&s->summary, "refs_looked_at",
			    s->refs.looked_at - s->refs_before);
	summary_end(&s->summary, error);
}

void session_warn(struct session *s, const struct error *warning)
{
	if (warning->code)
		trace_error(s->options->repo->trace, warning->msg);
	if (warning->code && s->options->warn)
		s->options->warn(s->options->warn_ctx, warning->msg);
}

int session_open_odb(struct session *s, struct error *err)
{
	struct error warning = ERROR_INIT;
	int ret;

	if (s->odb)
		return 0;
	ret = odb_open_held(&s->odb, s->options->repo, &warning, err);
	session_warn(s, &warning);
	return ret;
}

int session_open_walk(struct session *s, struct error *err)
{
	int ret;

	if (s->walk_is_open)
		return 0;
	ret = session_open_odb(s, err);
	if (!ret)
		ret = walk_open(&s->walk, s->odb, NULL, 0, err);
	s->walk_is_open = !ret;
	return ret;
}

int session_open_refs(struct session *s, struct error *err)
{
	int ret;

	if (s->refs_are_open)
		return 0;
	ret = refview_open(&s->refs, s->options->repo, "uploadpack.hiderefs",
			   s->options->namespace, err);
	if (ret < 0)
		refview_release(&s->refs);
	s->refs_are_open = !ret;
	return ret;
}

int session_init(struct session *s, const struct serve_options *options,
		 const struct serve_io *io, struct error *err)
{
	const struct config *config = &options->repo->config;
	struct error warning = ERROR_INIT;
	int ret;

	memset(s, 0, sizeof(*s));
	s->options = options;
	s->algo = options->repo->algo;
	summary_init(&s->summary, options->repo->trace, "upload-pack");
	pktline_writer_init(&s->out, io);
	if (pktline_reader_init(&s->in, io) < 0)
		return error_nomem(err);
	s->in.tap = s->out.tap = summary_tap(&s->summary);
	ret = load_flags(&s->config, config, err);
	if (!ret)
		ret = load_allow(&s->config, config, err);
	if (!ret)
		ret = load_unborn(&s->config, config, err);
	if (!ret)
		ret = sideband_load_keep_alive(&s->config.keep_alive, config,
					       "uploadpack.keepalive", err);
	if (!ret)
		ret = visible_is_limit(&s->config.is_limit, options->repo, err);
	if (!ret)
		ret = pack_uris_load(&s->config.pack_uris, config, s->algo,
				     err);
	if (!ret)
		ret = promisor_remotes_load(&s->config.promisor_remotes, config,
					    &warning, err);
	session_warn(s, &warning);
	if (!ret)
		config_each(config, "uploadpack.packobjectshook", take_hook,
			    &s->config);
	/* A bad namespace ends the session before anything is said. */
	if (!ret && options->namespace)
		ret = session_open_refs(s, err);
	return ret;
}

static int is_visible(struct session *s, const struct oid *oid,
		      struct error *err)
{
	const struct serve_options *options = s->options;
	int ret = s->visible ? 0 : session_open_odb(s, err);

	if (!ret)
		ret = session_open_refs(s, err);
	if (!ret && !s->visible)
		ret = visible_open(&s->visible, options->repo,
				   options->namespace, s->odb, &s->refs, err);
	return ret < 0 ? ret : visible_has(s->visible, oid, err);
}

int session_knows(struct session *s, const struct oid *oid, struct error *err)
{
	int ret;

	if (s->config.is_limit)
		return is_visible(s, oid, err);
	ret = session_open_odb(s, err);
	return ret < 0 ? ret : odb_has(s->odb, oid);
}

int session_has(struct session *s, const struct oid *oid, struct error *err)
{
	int ret;

	if (s->config.is_limit)
		return is_visible(s, oid, err);
	ret = session_open_odb(s, err);
	if (ret < 0 || odb_has(s->odb, oid))
		return ret < 0 ? ret : 1;
	ret = session_open_walk(s, err);
	return ret < 0 ? ret : odb_reader_has(s->walk.reader, oid);
}

static int warn_missing(struct session *s, const struct ref *ref)
{
	struct error warning = ERROR_INIT;

	error_set(&warning, ERR_MISSING, "%s does not point to a valid object!",
		  ref->name);
	session_warn(s, &warning);
	return 0;
}

int session_peel_ref(struct session *s, const struct ref *ref,
		     struct oid *peeled, struct error *err)
{
	enum object_type type;
	int ret;

	if (ref->has_peeled) {
		*peeled = ref->peeled;
		return ref->is_tag;
	}
	if (s->knows_no_tag && oid_equal(&s->no_tag, &ref->oid))
		return 0;
	ret = session_open_walk(s, err);
	if (ret < 0)
		return ret;
	if (odb_info(s->walk.reader, &ref->oid, &type, NULL, NULL) < 0)
		return warn_missing(s, ref);
	if (type != OBJ_TAG) {
		s->no_tag = ref->oid;
		s->knows_no_tag = true;
		return 0;
	}
	if (odb_peel(s->walk.reader, &ref->oid, peeled, &type, NULL) < 0)
		return warn_missing(s, ref);
	return 1;
}
