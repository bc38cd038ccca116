/* SPDX-License-Identifier: MIT */
/*
 * Tests of packing/send.c, which makes and sends packs. The packs are decoded
 * and compared with the expected objects.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/mem.h"
#include "t/unit/asking.h"
#include "t/unit/keptrepo.h"
#include "t/unit/nomem.h"

static void random_options(struct packing_send_options *o, struct randrepo *r)
{
	assert_int_equal(packing_send_options_load(o, &r->t.repo, NULL), 0);
	o->threads = 1 + randrepo_below(r, 2);
	o->exact = randrepo_below(r, 2);
	o->window = randrepo_below(r, 4) ? 5 : 0;
	o->reuse_spans = randrepo_below(r, 4) > 0;
	o->reuse_delta = randrepo_below(r, 4) > 0;
	o->reuse_object = randrepo_below(r, 8) > 0;
}

/*
 * Counts the requests whose packs have a property. Each field counts one
 * property.
 */
struct tally {
	uint32_t bitmaps, spans, external, deltas, empty;
};

static void send_and_check(struct asking *a, const struct odb *odb,
			   struct tally *tally)
{
	struct packing_send_options options;
	struct error err = ERROR_INIT;
	struct packing_report report;
	struct sentpack s;
	struct pack_sink sink = sentpack_init(&s, a->r);

	random_options(&options, a->r);
	if (packing_send(odb, &a->request, &options, sink, &report, &err) < 0)
		fail_msg("%s", err.msg);
	assert_int_equal(report.warning.code, 0);
	sentpack_decode(&s, a->request.thin ? a->uninteresting : NULL);
	asking_check(a, &s, &report, options.exact);
	tally->bitmaps += report.used_bitmap;
	tally->spans += report.pack_reused > 0;
	tally->external += s.external > 0;
	tally->deltas += s.ofs + s.ref > 0;
	tally->empty += s.nr == 0;
	sentpack_release(&s);
}

static void random_requests(enum hash_algo algo, int requests, bool shallow,
			    struct tally *tally)
{
	uint64_t seed = random_seed();
	struct randrepo r;
	struct asking a;
	struct odb *odb;

	asking_repo(&r, algo, &seed);
	asking_init(&a, &r);
	assert_int_equal(odb_open(&odb, &r.t.repo, NULL, NULL), 0);
	for (int i = 0; i < requests; i++) {
		asking_random(&a, shallow);
		send_and_check(&a, odb, tally);
	}
	odb_close(odb);
	asking_release(&a);
	randrepo_release(&r);
}

static void sha1(void **state)
{
	struct tally tally = {0};

	random_requests(HASH_SHA1, 120, false, &tally);
	assert_true(tally.bitmaps > 20 && tally.spans > 10);
	assert_true(tally.external > 3 && tally.deltas > 30);
}

static void sha256(void **state)
{
	struct tally tally = {0};

	random_requests(HASH_SHA256, 40, false, &tally);
	assert_true(tally.bitmaps > 5 && tally.deltas > 10);
}

static void shallow(void **state)
{
	struct tally tally = {0};

	random_requests(HASH_SHA1, 60, true, &tally);
	/* Bitmaps must not be used for a request with a shallow boundary. */
	assert_int_equal(tally.bitmaps, 0);
}

/*
 * Objects that are left out of the pack, because the receiver can download them
 * elsewhere.
 */
struct elsewhere {
	struct oid oids[8];
	bool left_out[8];
	/*
	 * The pack. It must still be empty when the callback tell() is called.
	 */
	const struct sentpack *s;
	unsigned told;
};

static int note_left_out(void *ctx, const bool *left_out,
			 const struct oid *pack, struct error *err)
{
	struct elsewhere *e = ctx;

	assert_null(pack);

	memcpy(e->left_out, left_out, sizeof(e->left_out));
	e->told++;
	return e->s->bytes.len ? ERR_INVALID : 0;
}

/*
 * Choose random objects that the receiver can download elsewhere. The same
 * object may be chosen twice.
 */
static void choose_elsewhere(struct elsewhere *e, struct randrepo *r)
{
	*e = (struct elsewhere){.told = 0};
	for (size_t i = 0; i < ARRAY_NR(e->oids); i++)
		e->oids[i] = r->objects[randrepo_below(r, r->nr)].oid;
}

/*
 * Send the pack of `a->request` twice. The first time, the whole pack is sent.
 * The second time, the receiver can get some objects elsewhere. An object must
 * be reported as left out exactly if it is one of these objects and is in the
 * first pack.
 */
static void send_without(struct asking *a, const struct odb *odb)
{
	struct packing_send_options options;
	struct packing_report report;
	struct sentpack all, rest;
	struct elsewhere e;
	struct packing_elsewhere elsewhere = {.oids = e.oids,
					      .nr = ARRAY_NR(e.oids),
					      .tell = note_left_out,
					      .ctx = &e};
	struct pack_sink sink = sentpack_init(&all, a->r);

	random_options(&options, a->r);
	choose_elsewhere(&e, a->r);
	assert_int_equal(
		packing_send(odb, &a->request, &options, sink, &report, NULL),
		0);
	sentpack_decode(&all, a->request.thin ? a->uninteresting : NULL);
	sink = sentpack_init(&rest, a->r);
	e.s = &rest;
	a->request.elsewhere = &elsewhere;
	assert_int_equal(
		packing_send(odb, &a->request, &options, sink, &report, NULL),
		0);
	assert_int_equal(e.told, 1);
	sentpack_decode(&rest, a->request.thin ? a->uninteresting : NULL);
	for (size_t i = 0; i < ARRAY_NR(e.oids); i++) {
		uint32_t nr = randrepo_find(a->r, &e.oids[i]);

		assert_int_equal(e.left_out[i], all.sent[nr]);
		all.sent[nr] = false;
	}
	for (uint32_t i = 0; i < a->r->nr; i++)
		assert_int_equal(rest.sent[i], all.sent[i]);
	sentpack_release(&all);
	sentpack_release(&rest);
}

static void objects_elsewhere(void **state)
{
	uint64_t seed = random_seed();
	struct randrepo r;
	struct asking a;
	struct odb *odb;

	asking_repo(&r, HASH_SHA1, &seed);
	asking_init(&a, &r);
	assert_int_equal(odb_open(&odb, &r.t.repo, NULL, NULL), 0);
	for (int i = 0; i < 80; i++) {
		asking_random(&a, i % 4 == 0);
		send_without(&a, odb);
	}
	odb_close(odb);
	asking_release(&a);
	randrepo_release(&r);
}

/* The receiver has all objects, so the pack is empty. */
static void nothing_to_send(void **state)
{
	uint64_t seed = random_seed();
	struct packing_send_options options;
	struct packing_report report;
	struct tally tally = {0};
	struct pack_sink sink;
	struct sentpack s;
	struct randrepo r;
	struct asking a;
	struct odb *odb;

	asking_repo(&r, HASH_SHA1, &seed);
	asking_init(&a, &r);
	assert_int_equal(odb_open(&odb, &r.t.repo, NULL, NULL), 0);
	for (int i = 0; i < 4; i++) {
		asking_random(&a, false);
		a.request.haves = a.request.wants;
		a.request.have_nr = a.request.want_nr;
		memcpy(a.uninteresting, a.want, RANDREPO_MAX);
		a.request.use_bitmap = i & 1;
		a.request.thin = i & 2;
		send_and_check(&a, odb, &tally);
	}
	assert_int_equal(tally.empty, 4);
	a.request.want_nr = 0;
	random_options(&options, &r);
	sink = sentpack_init(&s, &r);
	assert_int_equal(
		packing_send(odb, &a.request, &options, sink, &report, NULL),
		0);
	assert_string_equal(report.strategy, "nothing");
	assert_int_equal(s.bytes.len, 12 + 20);
	sentpack_release(&s);
	odb_close(odb);
	asking_release(&a);
	randrepo_release(&r);
}

static int refuse(void *ctx, const void *bytes, size_t len, struct error *err)
{
	return error_set(err, ERR_PEER, "gone");
}

/*
 * A missing have is ignored, a missing want is an error, and an error of the
 * sink is returned.
 */
static void failures(void **state)
{
	uint64_t seed = random_seed();
	struct packing_send_options options;
	struct error err = ERROR_INIT;
	struct packing_report report;
	struct tally tally = {0};
	struct pack_sink sink;
	struct sentpack s;
	struct randrepo r;
	struct asking a;
	struct odb *odb;

	asking_repo(&r, HASH_SHA1, &seed);
	asking_init(&a, &r);
	assert_int_equal(odb_open(&odb, &r.t.repo, NULL, NULL), 0);
	asking_random(&a, false);
	a.request.use_bitmap = true;
	memset(a.haves[0].bytes, 0x5a, 20);
	a.request.have_nr = 1;
	memset(a.uninteresting, 0, RANDREPO_MAX);
	send_and_check(&a, odb, &tally);
	random_options(&options, &r);
	sink = (struct pack_sink){.put = refuse};
	assert_int_equal(
		packing_send(odb, &a.request, &options, sink, &report, &err),
		ERR_PEER);
	assert_string_equal(err.msg, "gone");
	a.wants[0] = a.haves[0];
	sink = sentpack_init(&s, &r);
	assert_int_equal(
		packing_send(odb, &a.request, &options, sink, &report, &err),
		ERR_MISSING);
	sentpack_release(&s);
	odb_close(odb);
	asking_release(&a);
	randrepo_release(&r);
}

/* A request whose pack is sent several times, while allocations fail. */
struct again {
	struct asking a;
	struct odb *odb;
	struct packing_send_options options;
	struct packing_report report;
	struct sentpack s;
	struct pack_sink sink;
};

static void begin_again(void *ctx)
{
	struct again *again = ctx;

	sentpack_release(&again->s);
	again->sink = sentpack_init(&again->s, again->a.r);
	/*
	 * The buffer is larger than the pack, so that sentpack_put() allocates
	 * no memory.
	 */
	assert_int_equal(buf_reserve(&again->s.bytes, 1 << 18), 0);
}

static int send_again(void *ctx, struct error *err)
{
	struct again *again = ctx;

	return packing_send(again->odb, &again->a.request, &again->options,
			    again->sink, &again->report, err);
}

static void check_again(void *ctx)
{
	struct again *again = ctx;
	const struct asking *a = &again->a;

	sentpack_decode(&again->s, a->request.thin ? a->uninteresting : NULL);
	asking_check(a, &again->s, &again->report, false);
}

/* If an allocation fails, either the request fails, or all objects are sent. */
static void no_memory(void **state)
{
	uint64_t seed = random_seed();
	struct again again = {.odb = NULL};
	struct randrepo r;

	asking_repo(&r, HASH_SHA1, &seed);
	asking_init(&again.a, &r);
	assert_int_equal(odb_open(&again.odb, &r.t.repo, NULL, NULL), 0);
	assert_int_equal(
		packing_send_options_load(&again.options, &r.t.repo, NULL), 0);
	again.options.threads = 1;
	sentpack_init(&again.s, &r);
	for (int i = 0; i < 2; i++) {
		asking_random(&again.a, false);
		again.a.request.use_bitmap = i;
		again.a.request.thin = true;
		again.a.request.tags.each = taglist_each;
		nomem_each(begin_again, send_again, check_again, &again);
	}
	sentpack_release(&again.s);
	odb_close(again.odb);
	asking_release(&again.a);
	randrepo_release(&r);
}

/* ---- packs of known content */

/*
 * Adds version `nr` of a text of random letters as a blob. The versions differ
 * at the end. Returns the number of the blob.
 */
static uint32_t add_version(struct randrepo *r, unsigned nr)
{
	struct buf data = BUF_INIT;
	uint64_t seed = 4711;
	uint32_t blob;

	for (unsigned i = 0; i < 4000; i++)
		buf_append_char(&data, (char)('a' + random_next(&seed) % 26));
	for (unsigned i = 0; i < nr; i++)
		buf_append_str(&data, "more\n");
	blob = randrepo_add(r, OBJ_BLOB, &data, NULL, 0);
	buf_release(&data);
	return blob;
}

static struct packfile *new_pack(void)
{
	struct packfile *p = malloc(sizeof(*p));

	assert_non_null(p);
	packfile_init(p, HASH_SHA1);
	return p;
}

static void pack_object(struct packfile *p, const struct randrepo *r,
			uint32_t nr)
{
	const struct randrepo_object *o = &r->objects[nr];

	packfile_add(p, o->type, o->data.data, o->data.len);
}

static void save_pack(struct randrepo *r, struct packfile *p, unsigned nr)
{
	char name[64];

	packfile_finish(p);
	snprintf(name, sizeof(name), "objects/pack/pack-%u.pack", nr);
	tmprepo_write_len(&r->t, name, p->bytes.data, p->bytes.len);
	snprintf(name, sizeof(name), "objects/pack/pack-%u.idx", nr);
	tmprepo_write_len(&r->t, name, p->idx.data, p->idx.len);
	packfile_release(p);
	free(p);
}

/*
 * Send objects one by one, not in runs of stored bytes. `had`: objects that may
 * be bases outside of the pack; NULL: none. Returns the report.
 */
static struct packing_report send_singly(const struct randrepo *r,
					 const struct packing_request *request,
					 const bool *had)
{
	struct packing_send_options options;
	struct packing_report report;
	struct error err = ERROR_INIT;
	struct sentpack s;
	struct odb *odb;

	assert_int_equal(odb_open(&odb, &r->t.repo, NULL, NULL), 0);
	assert_int_equal(packing_send_options_load(&options, &r->t.repo, NULL),
			 0);
	options.threads = 1;
	options.reuse_spans = false;
	options.spare_search = true;
	if (packing_send(odb, request, &options, sentpack_init(&s, r), &report,
			 &err) < 0)
		fail_msg("%s", err.msg);
	sentpack_decode(&s, had);
	assert_int_equal(s.nr, report.objects);
	sentpack_release(&s);
	odb_close(odb);
	return report;
}

/*
 * A stored delta is copied if the receiver has the base and accepts a thin
 * pack.
 */
static void stored_deltas_of_receiver(void **state)
{
	uint64_t seed = random_seed();
	struct packfile *p = new_pack();
	bool *had = calloc(RANDREPO_MAX, sizeof(*had));
	uint32_t blobs[2], commits[2] = {0};
	struct packing_report report;
	struct packing_request request;
	struct randrepo r;

	assert_non_null(had);
	randrepo_init(&r, HASH_SHA1, &seed);
	for (uint32_t i = 0; i < 2; i++) {
		blobs[i] = add_version(&r, i);
		commits[i] = keptrepo_commit(&r, blobs[i], i, commits[0]);
	}
	for (uint32_t i = 0; i < r.nr; i++)
		if (i != blobs[1])
			pack_object(p, &r, i);
	assert_int_equal(blobs[0], 0);
	packfile_add_delta(p, OBJ_OFS_DELTA, 0, r.objects[0].data.len, "more\n",
			   &r.objects[blobs[1]].oid);
	save_pack(&r, p, 1);
	randrepo_reach(&r, had, commits[0]);
	request = (struct packing_request){
		.wants = &r.objects[commits[1]].oid,
		.want_nr = 1,
		.haves = &r.objects[commits[0]].oid,
		.have_nr = 1,
		.ofs_delta = true,
		.thin = true,
	};
	report = send_singly(&r, &request, had);
	assert_int_equal(report.objects, 3);
	assert_int_equal(report.reused_deltas, 1);
	assert_int_equal(report.bytes_recompressed, 0);
	request.thin = false;
	report = send_singly(&r, &request, NULL);
	assert_int_equal(report.objects, 3);
	assert_int_equal(report.deltas, 0);
	free(had);
	randrepo_release(&r);
}

#define VERSIONS 4

/*
 * Make a repository with versions of a text. `small_nr` of them have a small
 * pack each. The other versions are in one large pack. The server assumes that
 * a large pack already has good deltas.
 */
static void store_versions(struct randrepo *r, struct oid *versions,
			   unsigned small_nr)
{
	struct packfile *large = new_pack();

	for (unsigned i = 0; i < VERSIONS; i++) {
		struct packfile *p = i < small_nr ? new_pack() : large;
		uint32_t nr = add_version(r, i);

		versions[i] = r->objects[nr].oid;
		pack_object(p, r, nr);
		if (i < small_nr)
			save_pack(r, p, 2 + i);
	}
	/*
	 * packing/send.c counts a pack of at least 1000 objects as large
	 * (SETTLED_MIN).
	 */
	for (unsigned i = 0; i < 1000; i++)
		packfile_add(large, OBJ_BLOB, &i, sizeof(i));
	save_pack(r, large, 1);
}

/*
 * For a clone without history, the server reuses stored deltas. It searches for
 * more deltas only if more than half of the objects come from small packs.
 */
static void spared_searches(void **state)
{
	uint64_t seed = random_seed();

	for (unsigned small_nr = 0; small_nr <= VERSIONS; small_nr++) {
		struct packing_report report;
		struct oid versions[VERSIONS];
		struct packing_request request = {
			.wants = versions,
			.want_nr = VERSIONS,
			.shallow = versions,
			.shallow_nr = 1,
			.ofs_delta = true,
		};
		struct randrepo r;

		randrepo_init(&r, HASH_SHA1, &seed);
		store_versions(&r, versions, small_nr);
		report = send_singly(&r, &request, NULL);
		assert_int_equal(report.objects, VERSIONS);
		assert_int_equal(report.deltas > 0, small_nr > VERSIONS / 2);
		randrepo_release(&r);
	}
}

/*
 * Context of the callback for admission. It counts its calls, and refuses call
 * number `refused`.
 */
struct asked {
	struct sentpack *s;
	unsigned calls, refused;
	uint64_t price_us;
};

static int admit(void *ctx, uint64_t price_us, unsigned *threads,
		 struct error *err)
{
	struct asked *asked = ctx;

	/*
	 * When admit() is called the first two times, no byte of the pack may
	 * have been sent.
	 */
	if (asked->calls < 2)
		assert_int_equal(asked->s->bytes.len, 0);
	asked->price_us += price_us;
	*threads = 1;
	return ++asked->calls == asked->refused
		       ? error_set(err, ERR_DENIED, "busy")
		       : 0;
}

/*
 * A walk asks for admission three times: before it walks, before the pack
 * begins, and before objects are compressed.
 */
static void admission(void **state)
{
	uint64_t seed = random_seed();
	struct asked asked = {.calls = 0};
	const struct packing_admission admission = {admit, &asked};
	struct packing_send_options options;
	struct packing_report report;
	struct error err = ERROR_INIT;
	struct pack_sink sink;
	struct sentpack s;
	struct randrepo r;
	struct asking a;
	struct odb *odb;

	asking_repo(&r, HASH_SHA1, &seed);
	asking_init(&a, &r);
	assert_int_equal(odb_open(&odb, &r.t.repo, NULL, NULL), 0);
	asking_random(&a, false);
	random_options(&options, &r);
	options.admission = &admission;
	a.request.use_bitmap = false;
	a.request.have_nr = 0;
	a.request.filter = NULL;
	for (unsigned refused = 0; refused < 3; refused++) {
		sink = sentpack_init(&s, &r);
		asked = (struct asked){.s = &s, .refused = refused};
		assert_int_equal(packing_send(odb, &a.request, &options, sink,
					      &report, &err),
				 refused ? ERR_DENIED : 0);
		assert_int_equal(!s.bytes.len, refused > 0);
		assert_true(refused ? asked.calls == refused
				    : asked.calls >= 2);
		assert_true(asked.price_us > 0);
		sentpack_release(&s);
	}
	assert_string_equal(err.msg, "busy");
	/* For an empty pack, the callback for admission must not be called. */
	a.request.want_nr = 0;
	sink = sentpack_init(&s, &r);
	asked = (struct asked){.s = &s};
	assert_int_equal(
		packing_send(odb, &a.request, &options, sink, &report, &err),
		0);
	assert_int_equal(asked.calls, 0);
	sentpack_release(&s);
	odb_close(odb);
	asking_release(&a);
	randrepo_release(&r);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(sha1),
		cmocka_unit_test(sha256),
		cmocka_unit_test(shallow),
		cmocka_unit_test(nothing_to_send),
		cmocka_unit_test(failures),
		cmocka_unit_test(objects_elsewhere),
		cmocka_unit_test(stored_deltas_of_receiver),
		cmocka_unit_test(spared_searches),
		cmocka_unit_test(admission),
		cmocka_unit_test(no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
