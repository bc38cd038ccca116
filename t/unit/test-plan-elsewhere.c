/* SPDX-License-Identifier: MIT */
/*
 * Tests of plans/plan-elsewhere.c. A plan (cached response) notes which objects
 * or which pack were left out, because the first client could download them
 * elsewhere. Another client may use the plan only if it can download them, too.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "plans/plan-cache.h"

#define NR 4

/*
 * A client. It can download some objects or a pack elsewhere (packfile-uris).
 * Counts the calls of its callback tell().
 */
struct receiver {
	struct oid oids[NR];
	/*
	 * Checksum of the only pack that the client can download. The length of
	 * the pack is 50 bytes.
	 */
	struct oid offered;
	struct packing_elsewhere elsewhere;
	unsigned tells;
	bool left_out[NR];
	bool has_pack;
	struct oid pack;
	int result;
};

static bool has_pack(void *ctx, const struct oid *checksum, uint64_t len)
{
	const struct receiver *r = ctx;

	return oid_equal(checksum, &r->offered) && len == 50;
}

static int tell(void *ctx, const bool *left_out, const struct oid *pack,
		struct error *err)
{
	struct receiver *r = ctx;

	r->tells++;
	if (r->elsewhere.nr)
		memcpy(r->left_out, left_out, sizeof(r->left_out));
	r->has_pack = pack;
	if (pack)
		r->pack = *pack;
	return r->result;
}

/*
 * Initializes a client that can download `nr` objects, with the ids 1, 2, and
 * so on. If `nr` is 0, it can download a pack instead.
 */
static void receiver_init(struct receiver *r, size_t nr)
{
	memset(r, 0, sizeof(*r));
	for (int i = 0; i < NR; i++)
		r->oids[i].bytes[0] = (uint8_t)(i + 1);
	r->offered.bytes[0] = 77;
	r->elsewhere = (struct packing_elsewhere){.oids = r->oids,
						  .nr = nr,
						  .has_pack = has_pack,
						  .tell = tell,
						  .ctx = r};
}

static void test_objects(void **state)
{
	static const bool left_out[NR] = {true, false, true, true};
	struct plan_absent absent = {.nr = 0};
	struct plan_elsewhere e;
	struct packing_elsewhere noting;
	struct receiver a, b;

	receiver_init(&a, NR);
	noting = plan_elsewhere_note(&e, &a.elsewhere, &absent);
	assert_int_equal(noting.nr, NR);
	assert_int_equal(noting.tell(noting.ctx, left_out, NULL, NULL), 0);
	assert_memory_equal(a.left_out, left_out, sizeof(left_out));
	assert_false(e.has_failed);
	assert_int_equal(absent.nr, 3);
	assert_int_equal(absent.pack_len, 0);
	/*
	 * Another client can download the same objects, but lists them in
	 * another order. So it can use the plan (cached response).
	 * plan_elsewhere_tell() must call the callback tell() of this client
	 * once, with the objects that the plan leaves out.
	 */
	receiver_init(&b, NR);
	b.oids[0].bytes[0] = 4;
	b.oids[3].bytes[0] = 1;
	assert_int_equal(plan_elsewhere_tell(&absent, &b.elsewhere, NULL), 1);
	assert_int_equal(b.tells, 1);
	assert_true(b.left_out[0] && !b.left_out[1] && b.left_out[2] &&
		    b.left_out[3]);
	assert_false(b.has_pack);
	b.result = ERR_IO;
	assert_int_equal(plan_elsewhere_tell(&absent, &b.elsewhere, NULL),
			 ERR_IO);
	/*
	 * The plan (cached response) leaves out objects that the client must
	 * download elsewhere. A client that can download none or only some of
	 * these objects cannot use the plan. So its callback tell(), which gets
	 * the objects that the plan leaves out, must not be called.
	 */
	receiver_init(&b, NR);
	b.oids[2].bytes[0] = 9;
	assert_int_equal(plan_elsewhere_tell(&absent, &b.elsewhere, NULL), 0);
	b.elsewhere.nr = 0;
	assert_int_equal(plan_elsewhere_tell(&absent, &b.elsewhere, NULL), 0);
	assert_int_equal(plan_elsewhere_tell(&absent, NULL, NULL), 0);
	assert_int_equal(b.tells, 0);
	free(absent.blobs);
}

static void test_pack(void **state)
{
	struct plan_absent absent = {.nr = 0};
	struct plan_elsewhere e;
	struct packing_elsewhere noting;
	struct receiver a;
	struct oid other = {{5}};

	receiver_init(&a, 0);
	noting = plan_elsewhere_note(&e, &a.elsewhere, &absent);
	assert_false(noting.has_pack(noting.ctx, &other, 50));
	assert_true(noting.has_pack(noting.ctx, &a.offered, 50));
	assert_int_equal(noting.tell(noting.ctx, NULL, &a.offered, NULL), 0);
	assert_true(a.has_pack);
	assert_false(e.has_failed);
	assert_int_equal(absent.pack_len, 50);
	receiver_init(&a, 0);
	assert_int_equal(plan_elsewhere_tell(&absent, &a.elsewhere, NULL), 1);
	assert_true(a.has_pack && oid_equal(&a.pack, &a.offered));
	/*
	 * The callback tell() gets the pack that the plan (cached response)
	 * leaves out. tell() must not be called for a client that cannot use
	 * the plan. Four such clients follow: the plan leaves out a pack that
	 * has another length than the client's pack; the client can download
	 * single objects, but no packs; the client can download only another
	 * pack; the client can download nothing elsewhere.
	 */
	absent.pack_len = 51;
	assert_int_equal(plan_elsewhere_tell(&absent, &a.elsewhere, NULL), 0);
	absent.pack_len = 50;
	a.elsewhere.nr = 1;
	assert_int_equal(plan_elsewhere_tell(&absent, &a.elsewhere, NULL), 0);
	receiver_init(&a, 0);
	a.offered.bytes[0]++;
	assert_int_equal(plan_elsewhere_tell(&absent, &a.elsewhere, NULL), 0);
	assert_int_equal(plan_elsewhere_tell(&absent, NULL, NULL), 0);
	assert_int_equal(a.tells, 0);
}

/*
 * If a pack is left out of a plan (cached response), the plan must note the
 * length of this pack. The sender passes a checksum and a length to has_pack(),
 * to ask whether the client can download a pack. Later the sender passes the
 * checksum of the left-out pack to tell(), without a length. Here, tell() gets
 * another checksum than has_pack(). So the length is unknown, and `has_failed`
 * must be set, which says that the plan must not be used.
 */
static void test_unknown_pack(void **state)
{
	struct plan_absent absent = {.nr = 0};
	struct plan_elsewhere e;
	struct packing_elsewhere noting;
	struct receiver a;
	struct oid other = {{5}};

	receiver_init(&a, 0);
	noting = plan_elsewhere_note(&e, &a.elsewhere, &absent);
	noting.has_pack(noting.ctx, &a.offered, 50);
	assert_int_equal(noting.tell(noting.ctx, NULL, &other, NULL), 0);
	assert_true(e.has_failed);
}

/*
 * The plan (cached response) leaves out nothing, because the first client used
 * nothing from elsewhere. Every client can use this plan.
 */
static void test_nothing(void **state)
{
	struct plan_absent absent = {.nr = 0};
	struct plan_elsewhere e;
	struct packing_elsewhere noting;
	struct receiver a;

	receiver_init(&a, 0);
	noting = plan_elsewhere_note(&e, &a.elsewhere, &absent);
	assert_int_equal(noting.tell(noting.ctx, NULL, NULL, NULL), 0);
	assert_false(e.has_failed);
	assert_int_equal(plan_elsewhere_tell(&absent, &a.elsewhere, NULL), 1);
	assert_int_equal(a.tells, 2);
	assert_false(a.has_pack);
	assert_int_equal(plan_elsewhere_tell(&absent, NULL, NULL), 1);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_objects),
		cmocka_unit_test(test_pack),
		cmocka_unit_test(test_unknown_pack),
		cmocka_unit_test(test_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
