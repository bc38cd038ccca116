/* SPDX-License-Identifier: MIT */
/*
 * Some objects are left out of a pack, because the client gets them elsewhere.
 * Records these objects in a plan. When the plan is sent, tells its receiver
 * about them.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "plans/plan-cache.h"

/* ---- noting */

static bool has_pack(void *ctx, const struct oid *checksum, uint64_t len)
{
	struct plan_elsewhere *e = ctx;

	e->asked = *checksum;
	e->asked_len = len;
	return e->to->has_pack(e->to->ctx, checksum, len);
}

static int note_blobs(struct plan_elsewhere *e, const bool *left_out)
{
	struct plan_absent *absent = e->absent;

	absent->blobs = mem_alloc(e->to->nr, sizeof(*absent->blobs));
	if (!absent->blobs)
		return ERR_NOMEM;
	for (size_t i = 0; i < e->to->nr; i++)
		if (left_out[i])
			absent->blobs[absent->nr++] = e->to->oids[i];
	return 0;
}

static int tell(void *ctx, const bool *left_out, const struct oid *pack,
		struct error *err)
{
	struct plan_elsewhere *e = ctx;

	/*
	 * `pack` is a pack that the client gets from another place, so the
	 * objects of `pack` are not sent. The plan must contain the length of
	 * `pack`. This function gets no length. The length is known only if the
	 * last call of has_pack() was about `pack`. Otherwise the plan stays
	 * incomplete and is not used.
	 */
	if (pack && oid_equal(pack, &e->asked)) {
		e->absent->pack = *pack;
		e->absent->pack_len = e->asked_len;
	} else if (pack) {
		e->has_failed = true;
	}
	if (e->to->nr && note_blobs(e, left_out) < 0)
		e->has_failed = true;
	return e->to->tell(e->to->ctx, left_out, pack, err);
}

struct packing_elsewhere plan_elsewhere_note(struct plan_elsewhere *e,
					     const struct packing_elsewhere *to,
					     struct plan_absent *absent)
{
	struct packing_elsewhere noting = *to;

	*e = (struct plan_elsewhere){.to = to, .absent = absent};
	noting.has_pack = to->has_pack ? has_pack : NULL;
	noting.tell = tell;
	noting.ctx = e;
	return noting;
}

/* ---- telling */

/*
 * Finds in e->oids the objects that the plan's pack lacks (absent->blobs), and
 * sets left_out[i] for the index `i` of each. Returns false if an object is not
 * in e->oids. Both lists usually have the same order, so each search is short.
 */
static bool mark(bool *left_out, const struct plan_absent *absent,
		 const struct packing_elsewhere *e)
{
	size_t at = 0;

	for (size_t i = 0; i < absent->nr; i++) {
		size_t tries = e->nr;

		while (tries && !oid_equal(&e->oids[at], &absent->blobs[i])) {
			at = at + 1 < e->nr ? at + 1 : 0;
			tries--;
		}
		if (!tries)
			return false;
		left_out[at] = true;
	}
	return true;
}

int plan_elsewhere_tell(const struct plan_absent *absent,
			const struct packing_elsewhere *e, struct error *err)
{
	const struct oid *pack = absent->pack_len ? &absent->pack : NULL;
	bool *left_out;
	int ret;

	if (!e)
		return !pack && !absent->nr;
	if (pack && (!packing_has_packs(e) ||
		     !e->has_pack(e->ctx, pack, absent->pack_len)))
		return 0;
	left_out = mem_calloc(e->nr, sizeof(*left_out));
	if (!left_out)
		return error_nomem(err);
	ret = mark(left_out, absent, e) ? 1 : 0;
	if (ret > 0) {
		ret = e->tell(e->ctx, left_out, pack, err);
		ret = ret < 0 ? ret : 1;
	}
	free(left_out);
	return ret;
}
