/* SPDX-License-Identifier: MIT */
/*
 * Tests of pack/midx-compact.c, which merges layers of a chain of
 * multi-pack-indexes, and of pack/midx-write.c, which writes layers. A chain
 * has each object once, and merging layers does not change the bit position of
 * an object.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "t/unit/midxfile.h"
#include "t/unit/nomem.h"

enum { LAYERS = 3, PACKS_EACH = MIDXFILE_PACKS / LAYERS };

struct chain {
	struct midxfile f;
	struct buf files[LAYERS];
	struct pack_midx layers[LAYERS];
	struct pack_midx_order orders[LAYERS];
	/*
	 * Pointers to the layers of the chain and to the layers' pack orders,
	 * as arguments for the tested functions.
	 */
	const struct pack_midx *midx[LAYERS];
	const struct pack_midx_order *order[LAYERS];
};

static void add_layer(struct chain *c, unsigned n, bool with_order)
{
	const struct pack_midx_request rq = {
		.packs = c->f.sources + (size_t)n * PACKS_EACH,
		.pack_nr = PACKS_EACH,
		.preferred = n ? PACK_MIDX_NO_PACK : 1,
		.with_order = with_order,
		.below = c->midx,
		.below_nr = n,
		.version = 1,
		.algo = c->f.algo,
	};
	struct pack_midx *m = &c->layers[n];
	struct pack_midx_written written;

	assert_int_equal(pack_midx_write(&c->files[n], &rq, &written, NULL), 0);
	assert_int_equal(pack_midx_parse(m, c->files[n].data, c->files[n].len,
					 c->f.algo, "layer", NULL),
			 0);
	assert_int_equal(written.nr, m->nr);
	m->base_nr = n ? c->layers[n - 1].base_nr + c->layers[n - 1].nr : 0;
	if (with_order) {
		assert_int_equal(
			pack_midx_order_init(&c->orders[n], m, NULL, 0, NULL),
			0);
		assert_int_equal(pack_midx_order_prove(&c->orders[n], NULL), 0);
	}
	c->midx[n] = m;
	c->order[n] = &c->orders[n];
}

static void chain_init(struct chain *c, enum hash_algo algo, uint64_t *seed,
		       bool with_order)
{
	memset(c, 0, sizeof(*c));
	midxfile_init(&c->f, algo, seed, random_next(seed) & 1);
	for (unsigned n = 0; n < LAYERS; n++) {
		buf_init(&c->files[n]);
		add_layer(c, n, with_order);
	}
}

static void chain_release(struct chain *c)
{
	for (unsigned n = 0; n < LAYERS; n++) {
		pack_midx_order_release(&c->orders[n]);
		pack_midx_release(&c->layers[n]);
		buf_release(&c->files[n]);
	}
	midxfile_release(&c->f);
}

/* Returns the number of layers of the chain that contain an object id. */
static unsigned layers_with(const struct chain *c, const uint8_t *id)
{
	unsigned nr = 0;
	uint32_t pos;

	for (unsigned n = 0; n < LAYERS; n++)
		nr += pack_midx_find(&c->layers[n], id, &pos);
	return nr;
}

static unsigned packs_with(const struct chain *c, const uint8_t *id)
{
	unsigned nr = 0;
	uint32_t pos;

	for (unsigned p = 0; p < MIDXFILE_PACKS; p++)
		nr += pack_idx_find(&c->f.idx[p], id, &pos);
	return nr;
}

static void test_once(void **state)
{
	uint64_t seed = random_seed();

	for (int i = 0; i < 20; i++) {
		struct chain c;

		chain_init(&c, i & 1 ? HASH_SHA256 : HASH_SHA1, &seed, i & 2);
		for (uint32_t k = 0; k < MIDXFILE_IDS; k++)
			assert_int_equal(layers_with(&c, c.f.ids[k].bytes),
					 packs_with(&c, c.f.ids[k].bytes) != 0);
		chain_release(&c);
	}
}

/*
 * Returns the raw id of the object at bit position `bit` of a chain of `nr`
 * layers.
 */
static const uint8_t *id_of_bit(const struct pack_midx_order *const *orders,
				size_t nr, uint32_t bit)
{
	while (nr-- && bit < orders[nr]->midx->base_nr)
		;
	bit -= orders[nr]->midx->base_nr;
	return pack_midx_oid(orders[nr]->midx,
			     pack_midx_order_pos(orders[nr], bit));
}

/*
 * Merges the layers [from, to) and checks the new chain. `with_order`: the
 * layers have a pack order.
 */
static void check_compaction(struct chain *c, size_t from, size_t to,
			     bool with_order)
{
	const struct pack_midx_compaction rq = {
		.layers = c->midx + from,
		.orders = with_order ? c->order + from : NULL,
		.with_order = with_order,
		.base_nr = c->layers[from].base_nr,
		.nr = to - from,
	};
	const uint32_t base_nr = rq.base_nr;
	const uint32_t end = c->layers[to - 1].base_nr + c->layers[to - 1].nr;
	struct buf file = BUF_INIT;
	struct pack_midx m;
	struct pack_midx_order order;
	const struct pack_midx_order *one = &order;
	struct pack_midx_written written;
	size_t id_len = hash_len(c->f.algo);

	assert_int_equal(pack_midx_compact(&file, &rq, &written, NULL), 0);
	assert_int_equal(pack_midx_parse(&m, file.data, file.len, c->f.algo,
					 "one", NULL),
			 0);
	m.base_nr = base_nr;
	assert_int_equal(m.version, 2);
	assert_int_equal(m.pack_nr, (to - from) * PACKS_EACH);
	assert_int_equal(m.nr, end - base_nr);
	for (uint32_t i = 1; i < m.nr; i++)
		assert_true(memcmp(pack_midx_oid(&m, i - 1),
				   pack_midx_oid(&m, i), id_len) < 0);
	if (with_order) {
		assert_int_equal(
			pack_midx_order_init(&order, &m, NULL, 0, NULL), 0);
		assert_int_equal(pack_midx_order_prove(&order, NULL), 0);
		for (uint32_t bit = base_nr; bit < end; bit++)
			assert_memory_equal(id_of_bit(&one, 1, bit),
					    id_of_bit(c->order, LAYERS, bit),
					    id_len);
		pack_midx_order_release(&order);
	} else {
		assert_null(m.order);
	}
	pack_midx_release(&m);
	buf_release(&file);
}

static void test_compact(void **state)
{
	uint64_t seed = random_seed();

	for (int i = 0; i < 20; i++) {
		struct chain c;

		chain_init(&c, i & 1 ? HASH_SHA256 : HASH_SHA1, &seed, i & 2);
		for (size_t from = 0; from < LAYERS; from++)
			for (size_t to = from + 1; to <= LAYERS; to++)
				check_compaction(&c, from, to, i & 2);
		chain_release(&c);
	}
}

/*
 * In one layer of the chain, the pack number of an object is too large. Merging
 * the layers must fail.
 */
static void test_corrupt(void **state)
{
	uint64_t seed = random_seed();
	struct pack_midx_compaction rq = {.nr = LAYERS};
	struct pack_midx_written written;
	struct buf out = BUF_INIT;
	struct error err = ERROR_INIT;
	struct chain c;

	chain_init(&c, HASH_SHA1, &seed, false);
	rq.layers = c.midx;
	((uint8_t *)(uintptr_t)c.layers[1].objects)[3] = PACKS_EACH;
	assert_int_equal(pack_midx_compact(&out, &rq, &written, &err),
			 ERR_CORRUPT);
	assert_int_equal(out.len, 0);
	assert_non_null(strstr(err.msg, "bad pack or offset of object 0"));
	buf_release(&out);
	chain_release(&c);
}

struct merging {
	struct chain chain;
	struct buf out;
};

static int merge(void *ctx, struct error *err)
{
	struct merging *m = ctx;
	const struct pack_midx_compaction rq = {
		.layers = m->chain.midx,
		.orders = m->chain.order,
		.with_order = true,
		.nr = LAYERS,
	};
	struct pack_midx_written written;
	int ret;

	buf_release(&m->out);
	ret = pack_midx_compact(&m->out, &rq, &written, err);
	if (ret < 0)
		assert_int_equal(m->out.len, 0);
	return ret;
}

static void check_merged(void *ctx)
{
	struct merging *m = ctx;
	const struct pack_midx *last = &m->chain.layers[LAYERS - 1];
	struct pack_midx one;

	assert_int_equal(pack_midx_parse(&one, m->out.data, m->out.len,
					 m->chain.f.algo, "one", NULL),
			 0);
	assert_int_equal(one.nr, last->base_nr + last->nr);
	pack_midx_release(&one);
}

static void test_no_memory(void **state)
{
	uint64_t seed = random_seed();
	struct merging m = {.out = BUF_INIT};

	chain_init(&m.chain, HASH_SHA1, &seed, true);
	nomem_each(NULL, merge, check_merged, &m);
	buf_release(&m.out);
	chain_release(&m.chain);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_once),
		cmocka_unit_test(test_compact),
		cmocka_unit_test(test_corrupt),
		cmocka_unit_test(test_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
