/* SPDX-License-Identifier: MIT */
/*
 * Tests of packs/prepare.c, which prepares answers to likely requests (clones).
 * With and without prepared answers, the same bytes must be sent.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "object/hash.h"
#include "prepared/prepared-wants.h"
#include "prepared/prepared.h"
#include "packing/find.h"
#include "packs/prepare.h"
#include "t/unit/bitmaprepo.h"
#include "t/unit/sentpack.h"
#include "t/unit/taglist.h"

#define TAGS_MAX 400

struct preparedrepo {
	struct randrepo r;
	struct odb *odb;
	struct prepared prepared;
	struct refs *refs;
	struct oid wants[RANDREPO_MAX];
	/* Number of different ids to which branches and tags point. */
	size_t want_nr;
	struct packing_tag tags[TAGS_MAX];
	struct taglist taglist;
	/* Number of tag objects in the pack. */
	size_t tag_nr;
	uint32_t head;
};

static int add_want(void *ctx, const struct ref *ref)
{
	struct preparedrepo *p = ctx;

	p->wants[p->want_nr++] = ref->oid;
	return 0;
}

/*
 * Write a ref to each tag object, and to each object that no other object
 * reaches.
 */
static void write_refs(struct preparedrepo *p)
{
	struct randrepo *r = &p->r;

	randrepo_all_refs(r);
	for (uint32_t i = 0; i < r->nr; i++) {
		uint32_t target = i;
		char name[32];

		if (r->objects[i].type != OBJ_TAG)
			continue;
		while (r->objects[target].type == OBJ_TAG)
			target = r->objects[target].refs[0];
		snprintf(name, sizeof(name), "refs/tags/t%u", i);
		randrepo_ref(r, name, i);
		assert_true(p->taglist.nr < TAGS_MAX);
		p->tags[p->taglist.nr++] = (struct packing_tag){
			r->objects[i].oid, r->objects[target].oid};
	}
	p->taglist.tags = p->tags;
	p->tag_nr = p->taglist.nr;
	assert_int_equal(refs_open(&p->refs, &r->t.repo, NULL), 0);
	assert_int_equal(
		refs_each_strict(p->refs, "refs/heads/", add_want, p, NULL), 0);
	assert_int_equal(
		refs_each_strict(p->refs, "refs/tags/", add_want, p, NULL), 0);
	refs_close(p->refs);
}

/*
 * Make a repository in which branches and tags do not reach all objects. So a
 * clone does not send the whole pack.
 */
static void preparedrepo_init(struct preparedrepo *p, enum hash_algo algo,
			      const char *config, uint64_t *seed)
{
	struct randrepo *r = &p->r;

	memset(p, 0, sizeof(*p));
	randrepo_init(r, algo, seed);
	randrepo_history(r, 250);
	write_refs(p);
	p->head = r->commits[r->commit_nr - 1];
	for (uint32_t i = 0; i < 30; i++)
		randrepo_grow(r);
	randrepo_ref(r, "refs/pull/1/head", r->commits[r->commit_nr - 1]);
	randrepo_store_pack(r);
	assert_int_equal(config_parse(&r->t.repo.config, config, strlen(config),
				      CONFIG_LOCAL, NULL, NULL, NULL),
			 0);
	bitmaprepo_repack(r, true, true);
	assert_int_equal(refs_open(&p->refs, &r->t.repo, NULL), 0);
	assert_int_equal(odb_open(&p->odb, &r->t.repo, NULL, NULL), 0);
	if (prepared_open(&p->prepared, p->odb, 0, NULL) < 0)
		fail_msg("the file is broken");
}

static void preparedrepo_release(struct preparedrepo *p)
{
	prepared_close(&p->prepared);
	refs_close(p->refs);
	odb_close(p->odb);
	config_release(&p->r.t.repo.config);
	randrepo_release(&p->r);
}

/*
 * Send the pack for a request. `use_prepared`: prepared answers (stored
 * responses) may be used. Returns the report.
 */
static struct packing_report send(struct preparedrepo *p, struct sentpack *out,
				  const struct packing_request *request,
				  bool use_prepared)
{
	struct packing_send_options options;
	struct packing_report report;
	struct error err = ERROR_INIT;

	assert_int_equal(
		packing_send_options_load(&options, &p->r.t.repo, NULL), 0);
	options.use_prepared = use_prepared;
	if (packing_send(p->odb, request, &options, sentpack_init(out, &p->r),
			 &report, &err) < 0)
		fail_msg("%s", err.msg);
	return report;
}

/* A receiver that can download certain packs elsewhere (packfile-uris). */
struct elsewhere {
	const struct prepared *prepared;
	/*
	 * Number of a prepared answer (stored response). The receiver can
	 * download the pack with the objects of this answer; the pack does not
	 * have the tags of the answer. -1: the receiver can download the packs
	 * of all prepared answers.
	 */
	int answer;
	unsigned told;
	/* Set when commits are read in the search for objects. */
	bool has_searched;
	/*
	 * The callback tell() tells the client which pack to download, or that
	 * there is none. true: if there is none, tell() must be called before
	 * commits are read to find the objects. false: tell() may be called at
	 * any time.
	 */
	bool is_early;
	/*
	 * The content of the pack that the client downloads, which was left out
	 * of the sent pack. NULL: the client downloads no pack.
	 */
	const struct prepared_content *left_out;
};

static int note_search(void *ctx, const char *title, uint64_t done,
		       uint64_t total)
{
	struct elsewhere *e = ctx;

	(void)title;
	(void)done;
	(void)total;
	e->has_searched = true;
	return 0;
}

static bool has_pack(void *ctx, const struct oid *checksum, uint64_t len)
{
	const struct elsewhere *e = ctx;

	for (size_t i = 0; i < e->prepared->nr; i++) {
		const struct prepared_content *plain =
			&e->prepared->answers[i].plain;

		if (!oid_equal(&plain->checksum, checksum))
			continue;
		assert_int_equal(len, PACK_HEADER_LEN + prepared_bytes(plain) +
					      hash_len(e->prepared->algo));
		if (e->answer < 0 || e->answer == (int)i)
			return true;
	}
	return false;
}

static int note_pack(void *ctx, const bool *left_out, const struct oid *pack,
		     struct error *err)
{
	struct elsewhere *e = ctx;

	(void)left_out;
	(void)err;
	e->told++;
	for (size_t i = 0; pack && i < e->prepared->nr; i++)
		if (oid_equal(&e->prepared->answers[i].plain.checksum, pack))
			e->left_out = &e->prepared->answers[i].plain;
	assert_int_equal(!pack, !e->left_out);
	if (!pack && e->is_early)
		assert_false(e->has_searched);
	return 0;
}

/*
 * Mark the objects of a prepared answer (stored response) as sent. Asserts that
 * none of them was sent already.
 */
static void add_content(struct sentpack *s, const struct preparedrepo *p,
			const struct prepared *prepared,
			const struct prepared_content *content)
{
	const struct pack_rev *rev = pack_get_rev(prepared->pack->pack, NULL);
	const struct pack_idx *idx = &prepared->pack->pack->idx;
	struct bitset objects;

	assert_int_equal(bitset_init(&objects, idx->nr), 0);
	assert_true(prepared_objects(&objects, rev, content));
	for (size_t at = bitset_next(&objects, 0); at < objects.bits;
	     at = bitset_next(&objects, at + 1)) {
		struct oid oid;
		uint32_t nr;

		oid_from_raw(&oid, pack_idx_oid(idx, pack_rev_idx_pos(rev, at)),
			     idx->algo);
		nr = randrepo_find(&p->r, &oid);
		assert_false(s->sent[nr]);
		s->sent[nr] = true;
	}
	bitset_release(&objects);
}

/*
 * Answers `request` for clients that can download the packs of prepared answers
 * from another place (packfile-uris). A client downloads at most one such pack,
 * and the objects of this pack are left out of the sent pack. Checks that:
 * - the sent pack and the downloaded pack together have the objects of `all`,
 *   and no object twice;
 * - no delta of the sent pack has its base in the downloaded pack;
 * - if `is_early` is true and the client downloads no pack, the client is told
 *   so (by the callback tell()) before commits are read to find the objects.
 */
static void check_elsewhere(const struct preparedrepo *p,
			    const struct packing_request *request,
			    const struct sentpack *all, bool is_early)
{
	struct packing_send_options options;
	struct packing_report report;
	struct prepared prepared;

	assert_int_equal(prepared_open(&prepared, p->odb, 0, NULL), 1);
	assert_int_equal(
		packing_send_options_load(&options, &p->r.t.repo, NULL), 0);
	for (int answer = -1; answer < (int)prepared.nr; answer++) {
		struct elsewhere e = {.prepared = &prepared,
				      .answer = answer,
				      .is_early = is_early};
		const struct packing_elsewhere elsewhere = {
			.has_pack = has_pack, .tell = note_pack, .ctx = &e};
		const struct progress_out progress = {.poll = note_search,
						      .ctx = &e};
		struct packing_request asked = *request;
		struct sentpack rest;

		asked.elsewhere = &elsewhere;
		options.progress = &progress;
		asked.thin = answer % 2;
		assert_int_equal(packing_send(p->odb, &asked, &options,
					      sentpack_init(&rest, &p->r),
					      &report, NULL),
				 0);
		assert_int_equal(e.told, 1);
		assert_int_equal(!!e.left_out,
				 !strncmp(report.strategy, "published", 9));
		sentpack_decode(&rest, NULL);
		assert_int_equal(rest.external, 0);
		if (e.left_out)
			add_content(&rest, p, &prepared, e.left_out);
		assert_memory_equal(rest.sent, all->sent, RANDREPO_MAX);
		sentpack_release(&rest);
	}
	prepared_close(&prepared);
}

/*
 * Check that the same bytes are sent with and without prepared answers (stored
 * responses). If `is_prepared`, a prepared answer must be used. Returns the
 * number of objects sent.
 */
static uint32_t compare(struct preparedrepo *p,
			const struct packing_request *request, bool is_prepared)
{
	struct sentpack with, without;
	struct packing_report report = send(p, &with, request, true);

	assert_int_equal(!strcmp(report.strategy, "prepared"), is_prepared);
	assert_true(!is_prepared || report.reuse_ns > 0);
	report = send(p, &without, request, false);
	assert_string_not_equal(report.strategy, "prepared");
	assert_int_equal(with.bytes.len, without.bytes.len);
	assert_memory_equal(with.bytes.data, without.bytes.data,
			    with.bytes.len);
	sentpack_decode(&with, NULL);
	check_elsewhere(p, request, &with, true);
	sentpack_release(&with);
	sentpack_release(&without);
	return report.objects;
}

/*
 * Check that the same objects are sent with and without prepared answers
 * (stored responses). Tags have changed since the preparation, so the order of
 * the objects may differ. Returns the number of objects sent.
 */
static uint32_t compare_objects(struct preparedrepo *p,
				const struct packing_request *request)
{
	struct sentpack with, without;
	struct packing_report report = send(p, &with, request, true);

	assert_string_equal(report.strategy, "prepared");
	assert_int_equal(send(p, &without, request, false).objects,
			 report.objects);
	sentpack_decode(&with, NULL);
	sentpack_decode(&without, NULL);
	assert_memory_equal(with.sent, without.sent, RANDREPO_MAX);
	check_elsewhere(p, request, &with, false);
	sentpack_release(&with);
	sentpack_release(&without);
	return report.objects;
}

static struct packing_request clone_of(const struct oid *wants, size_t nr)
{
	return (struct packing_request){
		.wants = wants,
		.want_nr = nr,
		.ofs_delta = true,
		.use_bitmap = true,
	};
}

/*
 * Make requests for clones: of one branch or of all refs, with and without
 * tags, with duplicate wants, and with one more want.
 */
static void check_clones(struct preparedrepo *p)
{
	const struct oid *head = &p->r.objects[p->head].oid;
	struct packing_tags tags = {.each = taglist_each, .ctx = &p->taglist};
	struct packing_request request = clone_of(head, 1);
	struct oid twice[2] = {*head, *head};
	uint32_t branch, tagged, all;

	branch = compare(p, &request, true);
	request.tags = tags;
	tagged = compare(p, &request, true);
	assert_true(tagged >= branch);
	request.wants = twice;
	request.want_nr = 2;
	assert_int_equal(compare(p, &request, true), tagged);
	p->taglist.nr /= 2;
	assert_true(compare_objects(p, &request) <= tagged);
	p->taglist.nr = p->tag_nr;
	request = clone_of(p->wants, p->want_nr);
	all = compare(p, &request, true);
	assert_true(all >= branch && all < p->odb->packed_nr);
	p->wants[p->want_nr] = *head;
	request.want_nr++;
	assert_int_equal(compare(p, &request, true), all);
	p->wants[p->want_nr] = p->r.objects[0].oid;
	assert_int_equal(compare(p, &request, false), all);
}

static void check_depth_1(struct preparedrepo *p)
{
	const struct oid *head = &p->r.objects[p->head].oid;
	struct packing_request request = clone_of(head, 1);

	request.shallow = head;
	request.shallow_nr = 1;
	compare(p, &request, true);
	request.tags = (struct packing_tags){.each = taglist_each,
					     .ctx = &p->taglist};
	compare(p, &request, true);
	request.use_bitmap = false;
	compare(p, &request, false);
	request.use_bitmap = true;
	request.ofs_delta = false;
	compare(p, &request, false);
	request = clone_of(&p->r.objects[p->r.commits[0]].oid, 1);
	request.shallow = head;
	request.shallow_nr = 1;
	compare(p, &request, false);
}

/*
 * Add commits to the repository, as loose objects or in a pack, and reopen the
 * repository. Objects that a repack has removed as unreachable are stored
 * again, because new commits may refer to them.
 */
static void push(struct preparedrepo *p, uint32_t commits, uint64_t *seed)
{
	struct randrepo *r = &p->r;

	for (uint32_t i = 0; i < r->nr; i++)
		r->objects[i].is_stored = odb_has(p->odb, &r->objects[i].oid);
	for (uint32_t i = 0; i < commits; i++) {
		randrepo_grow(r);
		if (random_next(seed) % 4 == 0)
			randrepo_tag(r, r->commits[r->commit_nr - 1]);
	}
	if (random_next(seed) % 2)
		randrepo_store(r);
	else
		randrepo_store_pack(r);
	prepared_close(&p->prepared);
	odb_close(p->odb);
	assert_int_equal(odb_open(&p->odb, &r->t.repo, NULL, NULL), 0);
}

/*
 * Computes the wants of a clone after a push, and stores them in wants[]. The
 * objects from index `first` on were pushed.
 *
 * Wants are the pushed objects that no other pushed object reaches, and the
 * wants of the prepared answer (stored response). A wanted commit that pushed
 * objects reach may be left out at random. Returns the number of wants.
 */
static size_t wants_after(struct preparedrepo *p, struct oid *wants,
			  uint32_t first, uint64_t *seed)
{
	struct randrepo *r = &p->r;
	bool *reached = calloc(RANDREPO_MAX, sizeof(*reached));
	size_t nr = 0;

	assert_non_null(reached);
	for (uint32_t i = r->nr; i-- > first;)
		if (!reached[i]) {
			wants[nr++] = r->objects[i].oid;
			randrepo_reach(r, reached, i);
		}
	for (size_t i = 0; i < p->want_nr; i++) {
		uint32_t at = randrepo_find(r, &p->wants[i]);

		if (!reached[at] || r->objects[at].type != OBJ_COMMIT ||
		    random_next(seed) % 2)
			wants[nr++] = p->wants[i];
	}
	free(reached);
	return nr;
}

/*
 * Sends the clone `request` with and without prepared answers (stored
 * responses). The objects must be the same. Returns whether a prepared answer
 * was extended by newer objects.
 */
static bool is_extended(struct preparedrepo *p,
			const struct packing_request *request)
{
	struct sentpack with, without;
	struct packing_report report = send(p, &with, request, true);

	assert_int_equal(send(p, &without, request, false).objects,
			 report.objects);
	sentpack_decode(&with, NULL);
	sentpack_decode(&without, NULL);
	assert_int_equal(with.external, 0);
	assert_memory_equal(with.sent, without.sent, RANDREPO_MAX);
	check_elsewhere(p, request, &with, false);
	sentpack_release(&with);
	sentpack_release(&without);
	return !strcmp(report.strategy, "prepared+walk");
}

/*
 * After pushes, a clone gets the bytes of a prepared answer (stored response),
 * followed by the new objects. This is only possible if the clone's wants reach
 * all wants of the prepared answer.
 */
static void clones_after_pushes(void **state)
{
	static const char config[] = "[repack]\ntipIsland = true\n";
	static struct oid wants[RANDREPO_MAX];
	uint64_t seed = random_seed();

	for (int round = 0; round < 6; round++) {
		struct packing_tags tags = {.each = taglist_each};
		struct packing_request request;
		struct preparedrepo p;
		uint32_t first;

		preparedrepo_init(&p, round % 2 ? HASH_SHA256 : HASH_SHA1,
				  config, &seed);
		first = p.r.nr;
		push(&p, 1 + round, &seed);
		request = clone_of(wants, wants_after(&p, wants, first, &seed));
		tags.ctx = &p.taglist;
		assert_true(is_extended(&p, &request));
		request.tags = tags;
		assert_true(is_extended(&p, &request));
		for (uint32_t i = 0; i < 10; i++) {
			size_t at = random_next(&seed) % request.want_nr;

			wants[at] = wants[--request.want_nr];
			is_extended(&p, &request);
		}
		preparedrepo_release(&p);
	}
}

static int verify(const struct preparedrepo *p, size_t *nr, struct error *err)
{
	return prepare_verify(nr, p->odb, p->refs, 0, err);
}

static void what_clones_get(void **state)
{
	static const char config[] = "[repack]\ntipIsland = true\n";
	uint64_t seed = random_seed();

	for (int round = 0; round < 4; round++) {
		struct preparedrepo p;
		size_t nr;

		preparedrepo_init(&p, round % 2 ? HASH_SHA256 : HASH_SHA1,
				  config, &seed);
		assert_int_equal(p.prepared.nr, 4);
		check_clones(&p);
		check_depth_1(&p);
		assert_int_equal(verify(&p, &nr, NULL), 0);
		assert_int_equal(nr, p.prepared.nr);
		preparedrepo_release(&p);
	}
}

/*
 * A walk finds the objects of a clone. If a prepared answer (stored response)
 * has the same objects, found_look_for_stored() must choose it, unless its
 * caller wants no prepared answers.
 */
static void clones_by_walk(void **state)
{
	static const char config[] = "[repack]\ntipIsland = true\n";
	uint64_t seed = random_seed();
	struct error warning = ERROR_INIT;
	struct packing_send_options options;
	struct packing_request request;
	struct preparedrepo p;
	struct found f;

	preparedrepo_init(&p, HASH_SHA1, config, &seed);
	assert_int_equal(packing_send_options_load(&options, &p.r.t.repo, NULL),
			 0);
	request = clone_of(p.wants, p.want_nr);
	request.use_bitmap = false;
	for (int use = 0; use < 2; use++) {
		size_t nr;

		assert_int_equal(found_open(&f, p.odb, &request, &options,
					    &warning, NULL),
				 0);
		nr = bitset_count(&f.packed);
		assert_int_equal(found_look_for_stored(&f, use, NULL), 0);
		if (use) {
			assert_non_null(f.content);
			assert_int_equal(f.content->object_nr, nr);
			assert_ptr_equal(f.content_pack, p.prepared.pack);
			assert_true(bitset_is_empty(&f.packed));
		} else {
			assert_null(f.content);
			assert_int_equal(bitset_count(&f.packed), nr);
		}
		found_close(&f);
	}
	preparedrepo_release(&p);
}

/*
 * If repack.prepareAnswers is false, a repack removes the file of prepared
 * answers (stored responses).
 */
static void unless_it_is_unwanted(void **state)
{
	static const char config[] = "[repack]\ntipIsland = true\n";
	static const char off[] = "[repack]\nprepareAnswers = false\n";
	uint64_t seed = random_seed();
	struct preparedrepo p;
	struct prepared again;
	size_t nr;

	preparedrepo_init(&p, HASH_SHA1, config, &seed);
	assert_true(p.prepared.nr > 0);
	assert_int_equal(config_parse(&p.r.t.repo.config, off, sizeof(off) - 1,
				      CONFIG_LOCAL, NULL, NULL, NULL),
			 0);
	bitmaprepo_repack(&p.r, true, true);
	assert_int_equal(prepared_open(&again, p.odb, 0, NULL), 0);
	assert_int_equal(verify(&p, &nr, NULL), 0);
	assert_int_equal(nr, 0);
	preparedrepo_release(&p);
}

/*
 * Write the file of prepared answers (stored responses) with one byte changed:
 * the byte at `at`, counted from the first answer, is XORed with `mask`.
 */
static void write_changed(struct preparedrepo *p, size_t at, uint8_t mask)
{
	size_t id_len = hash_len(p->odb->algo);
	struct buf bytes = BUF_INIT;

	assert_int_equal(buf_append(&bytes, p->prepared.map.data,
				    p->prepared.map.len - id_len),
			 0);
	at += 12 + (1 + p->prepared.tag_nr) * id_len;
	bytes.data[at] = (char)(bytes.data[at] ^ mask);
	assert_int_equal(hash_append_trailer(&bytes, 0, p->odb->algo, NULL), 0);
	tmprepo_remove(&p->r.t, "objects/info/prepared");
	tmprepo_write_len(&p->r.t, "objects/info/prepared", bytes.data,
			  bytes.len);
	buf_release(&bytes);
}

/*
 * prepare_verify() finds each kind of damage in a prepared answer (stored
 * response): a wrong checksum, count or range of bytes, and the objects of
 * another request.
 */
static void what_is_wrong(void **state)
{
	static const char config[] = "[repack]\ntipIsland = true\n";
	uint64_t seed = random_seed();
	size_t id_len = hash_len(HASH_SHA1);
	const size_t plain = 1 + id_len,
		     wrong[] =
			     {
				     plain, /* checksum */
				     plain + id_len +
					     15, /* offset of the first run */
				     plain + id_len +
					     23, /* length of the first run */
			     },
		     count = plain + id_len + 3; /* number of objects */
	struct error err = ERROR_INIT;
	struct preparedrepo p;
	size_t nr;

	preparedrepo_init(&p, HASH_SHA1, config, &seed);
	assert_int_equal(p.prepared.answers[0].request.kind, PREPARED_DEPTH_1);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		write_changed(&p, wrong[i], 1);
		assert_int_equal(verify(&p, &nr, &err), ERR_CORRUPT);
		assert_non_null(strstr(err.msg, "is wrong"));
	}
	write_changed(&p, count, 1);
	assert_int_equal(verify(&p, &nr, &err), ERR_CORRUPT);
	assert_non_null(strstr(err.msg, "another number of objects"));
	/*
	 * Change the kind of the request: a clone of depth 1 becomes a full
	 * clone.
	 */
	write_changed(&p, 0, PREPARED_CLONE ^ PREPARED_DEPTH_1);
	assert_true(verify(&p, &nr, NULL) < 0);
	preparedrepo_release(&p);
}

/*
 * Write the file of prepared answers (stored responses) again, after
 * p->prepared was changed, and verify the file. Returns the result of verify().
 */
static int verify_changed(struct preparedrepo *p, struct error *err)
{
	struct buf bytes = BUF_INIT;
	size_t nr;

	assert_int_equal(prepared_write(&bytes, &p->prepared), 0);
	tmprepo_remove(&p->r.t, "objects/info/prepared");
	tmprepo_write_len(&p->r.t, "objects/info/prepared", bytes.data,
			  bytes.len);
	buf_release(&bytes);
	return verify(p, &nr, err);
}

/*
 * Returns whether prepare_verify() says that a prepared answer (stored
 * response) is wrong.
 */
static bool is_found_wrong(struct preparedrepo *p)
{
	struct error err = ERROR_INIT;

	return verify_changed(p, &err) == ERR_CORRUPT &&
	       strstr(err.msg, "is wrong");
}

/*
 * A prepared answer (stored response) of depth 1 can describe its tree.
 * prepare_verify() must find a wrong description. It accepts an answer without
 * a description.
 */
static void wrong_tree(void **state)
{
	static const char config[] = "[repack]\ntipIsland = true\n";
	uint64_t seed = random_seed();
	struct prepared_repeat none[] = {{0, 2}};
	struct prepared_tree right, *tree;
	struct error err = ERROR_INIT;
	struct preparedrepo p;

	preparedrepo_init(&p, HASH_SHA1, config, &seed);
	assert_int_equal(p.prepared.answers[0].request.kind, PREPARED_DEPTH_1);
	tree = &p.prepared.answers[0].tree;
	assert_true(tree->is_known);
	right = *tree;
	tree->order.bytes[3] ^= 1;
	assert_true(is_found_wrong(&p));
	*tree = right;
	tree->repeat_nr = right.repeat_nr ? 0 : 1;
	tree->repeats = none;
	assert_true(is_found_wrong(&p));
	*tree = right;
	assert_int_equal(verify_changed(&p, &err), 0);
	p.prepared.places[p.prepared.answers[0].plain.run_nr - 1].first++;
	assert_true(verify_changed(&p, &err) < 0);
	tree->is_known = false;
	assert_int_equal(verify_changed(&p, &err), 0);
	preparedrepo_release(&p);
}

/*
 * prepared_wants_open_any() opens the file that lists the wants of prepared
 * answers (stored responses). The repository must have all objects whose ids
 * are in the file. A file that is too large, or made for other prepared
 * answers, is not opened. A missing file is no error.
 */
static void wants_of_any(void **state)
{
	static const char config[] = "[repack]\ntipIsland = true\n";
	uint64_t seed = random_seed();
	struct preparedrepo p;
	struct prepared_wants w;
	struct oid oid;
	size_t len;

	preparedrepo_init(&p, HASH_SHA1, config, &seed);
	assert_int_equal(prepared_wants_open_any(&w, p.odb, SIZE_MAX), 1);
	len = w.map.len;
	assert_true(w.id_nr > 1);
	for (uint32_t i = 0; i < w.id_nr; i++) {
		oid_from_raw(&oid, w.ids + (size_t)i * 20, HASH_SHA1);
		assert_true(odb_has(p.odb, &oid));
	}
	prepared_wants_close(&w);
	assert_int_equal(prepared_wants_open_any(&w, p.odb, len), 1);
	prepared_wants_close(&w);
	assert_int_equal(prepared_wants_open_any(&w, p.odb, len - 1), 0);
	assert_int_equal(w.id_nr, 0);
	write_changed(&p, 0, PREPARED_CLONE ^ PREPARED_DEPTH_1);
	assert_int_equal(prepared_wants_open_any(&w, p.odb, SIZE_MAX), 0);
	tmprepo_remove(&p.r.t, "objects/info/prepared-wants");
	assert_int_equal(prepared_wants_open_any(&w, p.odb, SIZE_MAX), 0);
	preparedrepo_release(&p);
}

/*
 * The file of wants lists the wants of each prepared answer (stored response).
 * If the wants of two answers were exchanged, prepare_verify() must notice it.
 */
static void wrong_wants(void **state)
{
	static const char config[] = "[repack]\ntipIsland = true\n";
	uint64_t seed = random_seed();
	struct buf bytes = BUF_INIT;
	struct error err = ERROR_INIT;
	struct preparedrepo p;
	struct prepared_wants w;
	struct ewah_view first;
	size_t nr;

	preparedrepo_init(&p, HASH_SHA1, config, &seed);
	assert_int_equal(prepared_wants_open(&w, &p.prepared, p.odb, 0, NULL),
			 1);
	assert_true(w.nr > 1);
	first = w.answers[0].ids;
	w.answers[0].ids = w.answers[1].ids;
	w.answers[1].ids = first;
	assert_int_equal(prepared_wants_write(&bytes, &w), 0);
	tmprepo_remove(&p.r.t, "objects/info/prepared-wants");
	tmprepo_write_len(&p.r.t, "objects/info/prepared-wants", bytes.data,
			  bytes.len);
	assert_int_equal(verify(&p, &nr, &err), ERR_CORRUPT);
	assert_non_null(strstr(err.msg, "the wants of the prepared answer"));
	prepared_wants_close(&w);
	buf_release(&bytes);
	preparedrepo_release(&p);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_clones_get),
		cmocka_unit_test(clones_by_walk),
		cmocka_unit_test(unless_it_is_unwanted),
		cmocka_unit_test(what_is_wrong),
		cmocka_unit_test(wrong_tree),
		cmocka_unit_test(clones_after_pushes),
		cmocka_unit_test(wants_of_any),
		cmocka_unit_test(wrong_wants),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
