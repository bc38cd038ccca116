/* SPDX-License-Identifier: MIT */
/* Records packs on their way to a sink, and sends them again. */
#include <stdlib.h>

#include "base/mem.h"
#include "plans/plan.h"

/*
 * A literal is a run of bytes that the plan stores itself. Literals with at
 * least this many bytes are passed to the sink without a copy. Shorter ones are
 * passed with put(), which copies them, because this is cheaper for so few
 * bytes.
 */
#define LONG_LITERAL 4096

/*
 * Minimum bytes of a span (a range of a pack). Shorter ranges are copied into
 * the plan.
 */
#define SHORT_SPAN 256

void plan_release(struct plan *plan)
{
	buf_release(&plan->literals);
	buf_release(&plan->file);
	free(plan->pieces);
	free(plan->absent.blobs);
	*plan = PLAN_INIT;
}

size_t plan_size(const struct plan *plan)
{
	return plan->literals.len + plan->file.len +
	       plan->nr * sizeof(*plan->pieces) +
	       plan->absent.nr * sizeof(*plan->absent.blobs);
}

uint64_t plan_pack_len(const struct plan *plan)
{
	uint64_t len = 0;

	for (size_t i = 0; i < plan->nr; i++)
		len += plan->pieces[i].len;
	return len;
}

/*
 * Sends the rest of a plan, from the position `at` on. If `plan_stays` is true,
 * the plan lives until the sink has used the bytes. Long literals are then
 * passed to the sink without a copy.
 */
static int send_from(const struct plan *plan, struct plan_place at,
		     bool plan_stays, const struct pack_sink *sink,
		     struct error *err)
{
	const uint8_t *literals = plan->stored ? plan->stored
					       : (uint8_t *)plan->literals.data;
	int ret = 0;

	for (; !ret && at.piece < plan->nr; at.piece++, at.bytes = 0) {
		const struct plan_piece *p = &plan->pieces[at.piece];
		const void *bytes = p->span ? p->span + at.bytes
					    : literals + at.literals;
		size_t len = p->len - at.bytes;

		if (!len)
			continue;
		if (sink->put_pinned &&
		    (p->span || (plan_stays && len >= LONG_LITERAL)))
			ret = sink->put_pinned(sink->ctx, bytes, len, err);
		else
			ret = sink->put(sink->ctx, bytes, len, err);
		at.literals += p->span ? 0 : len;
	}
	return ret;
}

int plan_send(const struct plan *plan, const struct pack_sink *sink,
	      struct error *err)
{
	return send_from(plan, (struct plan_place){0, 0, 0}, true, sink, err);
}

/* ---- recording */

/*
 * Returns the last piece of the plan if the bytes at `span` directly follow the
 * bytes of this piece in the pack. For `span` NULL, returns the last piece if
 * it is a literal. Otherwise returns NULL.
 */
static struct plan_piece *continued(const struct plan *plan,
				    const uint8_t *span)
{
	struct plan_piece *last = plan->nr ? &plan->pieces[plan->nr - 1] : NULL;

	if (!last || !last->span != !span)
		return NULL;
	return !span || last->span + last->len == span ? last : NULL;
}

static int add_piece(struct plan *plan, const uint8_t *span, size_t len)
{
	struct plan_piece *last = continued(plan, span);

	if (last) {
		last->len += len;
		return 0;
	}
	if (mem_grow(&plan->pieces, &plan->alloc, plan->nr + 1,
		     sizeof(*plan->pieces)) < 0)
		return ERR_NOMEM;
	plan->pieces[plan->nr++] = (struct plan_piece){span, len};
	return 0;
}

static int note_literal(struct plan_recorder *r, const void *bytes, size_t len)
{
	struct plan *plan = r->plan;

	if (!len)
		return 0;
	if (len > r->max || plan_size(plan) > r->max - len ||
	    buf_append(&plan->literals, bytes, len) < 0)
		return ERR_NOMEM;
	return add_piece(plan, NULL, len);
}

static int note_span(struct plan_recorder *r, const uint8_t *span, size_t len)
{
	if (len < SHORT_SPAN && !continued(r->plan, span))
		return note_literal(r, span, len);
	return plan_size(r->plan) > r->max ? ERR_NOMEM
					   : add_piece(r->plan, span, len);
}

/*
 * From now on, bytes are recorded in the plan but not sent. Stores the present
 * end of the plan, because all bytes before this place were sent.
 */
static void fall_behind(struct plan_recorder *r)
{
	const struct plan *plan = r->plan;

	r->is_behind = true;
	if (plan->nr)
		r->sent = (struct plan_place){plan->nr - 1,
					      plan->pieces[plan->nr - 1].len,
					      plan->literals.len};
}

/*
 * Sends the bytes that were held back. See send_from() for `plan_stays`.
 * Returns 0 or the error of the sink.
 */
static int catch_up(struct plan_recorder *r, bool plan_stays, struct error *err)
{
	if (!r->is_behind)
		return 0;
	r->is_behind = false;
	return send_from(r->plan, r->sent, plan_stays, &r->sink, err);
}

int plan_recorder_finish(struct plan_recorder *recorder, struct error *err)
{
	return catch_up(recorder, true, err);
}

/*
 * Records bytes in the plan: a range of a pinned pack (`span`), or other bytes,
 * which the plan copies (`literal`). Returns 1 if the caller must send these
 * bytes now, 0 if they are held back and sent later, or a negative error code.
 */
static int note(struct plan_recorder *r, const uint8_t *span,
		const void *literal, size_t len, struct error *err)
{
	int ret;

	if (r->is_full)
		return 1;
	if (!r->is_behind && r->begin_sending(r->ctx))
		fall_behind(r);
	ret = span ? note_span(r, span, len) : note_literal(r, literal, len);
	if (!ret)
		return !r->is_behind;
	r->is_full = true;
	r->give_up(r->ctx);
	ret = catch_up(r, false, err);
	plan_release(r->plan);
	return ret < 0 ? ret : 1;
}

static int sent(struct plan_recorder *r, int ret)
{
	if (!r->is_full)
		r->end_sending(r->ctx);
	return ret;
}

static int put(void *ctx, const void *bytes, size_t len, struct error *err)
{
	struct plan_recorder *r = ctx;
	int ret = note(r, NULL, bytes, len, err);

	if (ret <= 0)
		return ret;
	return sent(r, r->sink.put(r->sink.ctx, bytes, len, err));
}

static int put_file(void *ctx, const struct sys_file_span *span,
		    struct error *err)
{
	struct plan_recorder *r = ctx;
	int ret = note(r, NULL, span->bytes, span->len, err);

	if (ret <= 0)
		return ret;
	return sent(r, pack_sink_put_file(&r->sink, span, err));
}

static int put_pinned(void *ctx, const void *bytes, size_t len,
		      struct error *err)
{
	struct plan_recorder *r = ctx;
	int ret = note(r, bytes, NULL, len, err);

	if (ret <= 0)
		return ret;
	return sent(r,
		    r->sink.put_pinned
			    ? r->sink.put_pinned(r->sink.ctx, bytes, len, err)
			    : r->sink.put(r->sink.ctx, bytes, len, err));
}

struct pack_sink plan_recorder_sink(struct plan_recorder *recorder)
{
	return (struct pack_sink){put, recorder, put_file, put_pinned};
}
