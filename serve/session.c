/* SPDX-License-Identifier: MIT */
/* The state of one connection to a client that fetches. */
#include <string.h>

#include "serve/session.h"

void session_release(struct session *s)
{
	visible_close(s->visible);
	if (s->walk_is_open)
		walk_close(&s->walk);
	if (!s->options->objects)
		odb_close(s->odb);
	if (s->refs_are_open)
		refview_release(&s->refs);
	serve_config_release(&s->config);
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
	summary_u64(&s->summary, SUMMARY_PROTOCOL,
		    (uint64_t)s->options->version);
	s->refs_before = s->refs_are_open ? s->refs.looked_at : 0;
}

void session_end(struct session *s, const struct error *error)
{
	if (s->refs_are_open)
		summary_u64(&s->summary, SUMMARY_REFS_LOOKED_AT,
			    s->refs.looked_at - s->refs_before);
	if (!s->io->end_later ||
	    !s->io->end_later(s->io->ctx, &s->summary, error))
		summary_end(&s->summary, error);
}

int session_send(struct session *s, struct error *err)
{
	const struct serve_options *o = s->options;

	return o->stateless_rpc || o->advertise_only
		       ? pktline_send_last(&s->out, err)
		       : pktline_send(&s->out, err);
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
	if (s->options->objects)
		ret = s->options->objects(s->options->objects_ctx, &s->odb,
					  &warning, err);
	else
		ret = odb_open_held(&s->odb, s->options->repo, &warning, err);
	if (!ret && !s->options->objects)
		odb_set_provider(s->odb, s->options->provider);
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
	struct error warning = ERROR_INIT;
	int ret;

	memset(s, 0, sizeof(*s));
	s->options = options;
	s->io = io;
	s->algo = options->repo->algo;
	summary_init(&s->summary, options->repo, options->about, "upload-pack");
	pktline_writer_init(&s->out, io);
	if (pktline_reader_init(&s->in, io) < 0)
		return error_nomem(err);
	s->in.tap = s->out.tap = summary_tap(&s->summary);
	ret = serve_config_load(&s->config, options->repo, &warning, err);
	session_warn(s, &warning);
	/*
	 * Open the refs now: a bad namespace must end the session before any
	 * output.
	 */
	if (!ret && options->namespace)
		ret = session_open_refs(s, err);
	return ret;
}

int session_sees(struct session *s, const struct oid *oid, struct error *err)
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
		return session_sees(s, oid, err);
	ret = session_open_odb(s, err);
	return ret < 0 ? ret : odb_has(s->odb, oid);
}

int session_has(struct session *s, const struct oid *oid, struct error *err)
{
	int ret;

	if (s->config.is_limit)
		return session_sees(s, oid, err);
	ret = session_open_odb(s, err);
	if (ret < 0 || odb_has(s->odb, oid))
		return ret < 0 ? ret : 1;
	ret = session_open_walk(s, err);
	return ret < 0 ? ret : odb_reader_has(s->walk.reader, oid);
}

/*
 * Warns that the object of a ref cannot be read, and counts the ref. `ret` is
 * the error code of reading the object. Returns 0, or ERR_NOMEM without a
 * warning if `ret` is ERR_NOMEM.
 */
static int warn_missing(struct session *s, const struct ref *ref, int ret,
			struct error *err)
{
	struct error warning = ERROR_INIT;

	if (ret == ERR_NOMEM)
		return error_nomem(err);
	s->unreadable_nr++;
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
	ret = odb_info(s->walk.reader, &ref->oid, &type, NULL, NULL);
	if (ret < 0)
		return warn_missing(s, ref, ret, err);
	if (type != OBJ_TAG) {
		s->no_tag = ref->oid;
		s->knows_no_tag = true;
		return 0;
	}
	ret = odb_peel_tag(s->walk.reader, &ref->oid, peeled, NULL);
	return ret < 0 ? warn_missing(s, ref, ret, err) : 1;
}
