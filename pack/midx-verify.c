/* SPDX-License-Identifier: MIT */
/*
 * Verifies a multi-pack-index. After a problem is reported, the verification
 * continues, so that one run reports all problems.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/sort.h"
#include "object/hash.h"
#include "pack/midx.h"

#define LINE_MAX_LEN 512

struct verify {
	const struct pack_midx *midx;
	const struct pack_midx_check *check;
	/*
	 * value that pack_midx_verify() returns: 1 if a problem was reported,
	 * else 0
	 */
	int bad;
};

__attribute__((format(printf, 2, 3))) static void report(struct verify *v,
							 const char *fmt, ...)
{
	char line[LINE_MAX_LEN];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	v->check->report(v->check->ctx, line);
	v->bad = 1;
}

static int verify_checksum(struct verify *v, struct error *err)
{
	const struct pack_midx *m = v->midx;
	int ret = hash_check_trailer(m->bytes, m->len, m->algo, m->name, err);

	if (ret == ERR_CORRUPT)
		report(v, "incorrect checksum");
	return ret == ERR_NOMEM ? ret : 0;
}

static void verify_packs(struct verify *v)
{
	struct progress meter;

	progress_start(&meter, v->check->progress,
		       "Looking for referenced packfiles", v->midx->pack_nr);
	for (uint32_t i = 0; i < v->midx->pack_nr; i++) {
		if (!v->check->packs[i])
			report(v, "failed to load pack in position %" PRIu32,
			       i);
		progress_add(&meter, 1);
	}
	progress_stop(&meter);
}

static void verify_id(struct verify *v, uint32_t midx_pos)
{
	const struct pack_midx *m = v->midx;
	char last[OID_MAX_HEX_LEN + 1], hex[OID_MAX_HEX_LEN + 1];
	const uint8_t *id = pack_midx_oid(m, midx_pos);
	uint32_t lo, hi;

	pack_ids_range(&m->ids, id[0], &lo, &hi);
	if (midx_pos < lo || midx_pos >= hi)
		report(v, "oid[%" PRIu32 "] = %s is outside its fanout range",
		       midx_pos, oid_raw_to_hex(hex, id, m->algo));
	if (midx_pos && memcmp(id - m->ids.stride, id, hash_len(m->algo)) >= 0)
		report(v,
		       "oid lookup out of order: oid[%" PRIu32
		       "] = %s >= %s = oid[%" PRIu32 "]",
		       midx_pos - 1,
		       oid_raw_to_hex(last, id - m->ids.stride, m->algo),
		       oid_raw_to_hex(hex, id, m->algo), midx_pos);
}

static void verify_ids(struct verify *v)
{
	struct progress meter;

	progress_start(&meter, v->check->progress,
		       "Verifying OID order in multi-pack-index", v->midx->nr);
	for (uint32_t i = 0; i < v->midx->nr; i++) {
		verify_id(v, i);
		progress_add(&meter, 1);
	}
	progress_stop(&meter);
}

static void verify_object(struct verify *v, uint32_t midx_pos)
{
	const struct pack_midx *m = v->midx;
	uint32_t pack = pack_midx_pack(m, midx_pos), idx_pos;
	const uint8_t *id = pack_midx_oid(m, midx_pos);
	uint64_t want, off = 0;
	char hex[OID_MAX_HEX_LEN + 1];

	oid_raw_to_hex(hex, id, m->algo);
	if (pack >= m->pack_nr || !v->check->packs[pack]) {
		report(v, "failed to load pack entry for oid[%" PRIu32 "] = %s",
		       midx_pos, hex);
		return;
	}
	want = pack_midx_offset(m, midx_pos);
	if (pack_idx_find(v->check->packs[pack], id, &idx_pos))
		off = pack_idx_offset(v->check->packs[pack], idx_pos);
	if (want != off || off == UINT64_MAX)
		report(v,
		       "incorrect object offset for oid[%" PRIu32
		       "] = %s: %" PRIx64 " != %" PRIx64,
		       midx_pos, hex, want, off);
}

/*
 * Verifies the objects pack by pack, so that only one pack index is in use at a
 * time. Returns 0 or ERR_NOMEM.
 */
static int verify_objects(struct verify *v, struct error *err)
{
	uint32_t nr = v->midx->nr;
	struct sort_item *items = mem_alloc(nr, sizeof(*items));
	struct progress meter;
	int ret = items ? 0 : ERR_NOMEM;

	progress_start(&meter, v->check->progress,
		       "Sorting objects by packfile", nr);
	for (uint32_t i = 0; i < nr && !ret; i++)
		items[i] = (struct sort_item){pack_midx_pack(v->midx, i), i};
	if (!ret)
		ret = sort_items(items, nr);
	progress_set(&meter, nr);
	progress_stop(&meter);
	progress_start(&meter, v->check->progress, "Verifying object offsets",
		       nr);
	for (uint32_t i = 0; i < nr && !ret; i++) {
		verify_object(v, items[i].value);
		progress_add(&meter, 1);
	}
	progress_stop(&meter);
	free(items);
	return ret < 0 ? error_nomem(err) : 0;
}

static void verify_spans(struct verify *v, const struct pack_midx_order *order)
{
	const struct pack_midx *m = v->midx;

	for (uint32_t i = 0; i < m->pack_nr && m->spans; i++) {
		const uint8_t *p = m->spans + (size_t)8 * i;
		const struct pack_midx_span *span = &order->spans[i];

		if (load_be32(p + 4) != span->nr ||
		    (span->nr && load_be32(p) - m->base_nr != span->first))
			report(v, "bitmapped pack %s is not where it should be",
			       m->names[i]);
	}
}

static int verify_order(struct verify *v, struct error *err)
{
	struct pack_midx_order order;
	int ret;

	if (!v->midx->order)
		return 0;
	ret = pack_midx_order_init(&order, v->midx, NULL, 0, err);
	if (ret == ERR_CORRUPT)
		report(v, "reverse index does not give the order of the packs");
	if (ret < 0)
		return ret == ERR_NOMEM ? ret : 0;
	verify_spans(v, &order);
	pack_midx_order_release(&order);
	return 0;
}

int pack_midx_verify(const struct pack_midx *midx,
		     const struct pack_midx_check *check, struct error *err)
{
	struct verify v = {.midx = midx, .check = check};
	int ret = verify_checksum(&v, err);

	if (ret < 0)
		return ret;
	verify_packs(&v);
	if (!midx->nr) {
		report(&v, "the midx contains no oid");
		return v.bad;
	}
	verify_ids(&v);
	ret = verify_objects(&v, err);
	if (!ret)
		ret = verify_order(&v, err);
	return ret < 0 ? ret : v.bad;
}
