/* SPDX-License-Identifier: MIT */
/*
 * Tests of packing/find-extended.c, which extends prepared answers (stored
 * responses to likely requests) by new history. They prove that only new
 * commits are walked, and that unsuitable answers are not used. test-prepare.c
 * extends prepared answers in random histories.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "packing/find.h"
#include "prepared/prepared-wants.h"
#include "t/unit/keptrepo.h"
#include "t/unit/nomem.h"
#include "t/unit/sentpack.h"

#define NEWEST (KEPTREPO_COMMITS - 1)
/* The branch TOPIC points to this commit of k.commits[]. */
#define TOPIC 20

struct extendedrepo {
	struct keptrepo k;
	/*
	 * Index in k.r.objects[] of a commit that was added on top of the
	 * newest packed commit. No prepared answer (stored response) has this
	 * commit.
	 */
	uint32_t commit;
	/*
	 * Index in k.r.objects[] of a commit with its own root: it shares no
	 * ancestor with the main line.
	 */
	uint32_t side;
};

/*
 * Make a repository with prepared answers (stored responses) for its branches.
 * Then add a commit on top of the newest commit, with an unchanged file.
 */
static void init(struct extendedrepo *e)
{
	struct keptrepo *k = &e->k;
	struct randrepo *r = &k->r;

	keptrepo_init(k, "");
	keptrepo_close(k);
	e->side = keptrepo_commit(r, keptrepo_version(r, 45), 0, 0);
	randrepo_store_pack(r);
	randrepo_ref(r, "refs/heads/side", e->side);
	randrepo_ref(r, "refs/heads/topic", k->commits[TOPIC]);
	bitmaprepo_repack(r, true, true);
	e->commit = keptrepo_commit(r, k->blobs[NEWEST], KEPTREPO_COMMITS,
				    k->commits[NEWEST]);
	randrepo_store(r);
	keptrepo_open(k);
}

static void release(struct extendedrepo *e)
{
	keptrepo_release(&e->k);
}

/*
 * Send the pack of a clone that wants `nr` objects. Each of the `nr` elements
 * of wants[] is the index of a wanted object in k.r.objects[]. The pack must
 * have exactly the closure of these objects. `strategy`: the expected way in
 * which the objects are found. `walked`: the expected number of walked commits.
 */
static void check_clone(struct extendedrepo *e, const uint32_t *wants,
			size_t nr, const char *strategy, uint32_t walked)
{
	struct keptrepo *k = &e->k;
	bool *due = calloc(RANDREPO_MAX, sizeof(*due));
	struct packing_send_options options;
	struct packing_report report;
	struct error err = ERROR_INIT;
	struct sentpack s;
	struct oid *ids = calloc(nr, sizeof(*ids));
	struct packing_request request = {
		.wants = ids,
		.want_nr = nr,
		.ofs_delta = true,
		.use_bitmap = true,
	};

	assert_true(due && ids);
	for (size_t i = 0; i < nr; i++) {
		ids[i] = k->r.objects[wants[i]].oid;
		randrepo_reach(&k->r, due, wants[i]);
	}
	assert_int_equal(
		packing_send_options_load(&options, &k->r.t.repo, NULL), 0);
	options.threads = 1;
	if (packing_send(k->odb, &request, &options, sentpack_init(&s, &k->r),
			 &report, &err) < 0)
		fail_msg("%s", err.msg);
	sentpack_decode(&s, NULL);
	for (uint32_t i = 0; i < k->r.nr; i++)
		assert_int_equal(s.sent[i], due[i]);
	assert_string_equal(report.strategy, strategy);
	assert_int_equal(report.commits_walked, walked);
	assert_null(report.no_bitmap);
	sentpack_release(&s);
	free(due);
	free(ids);
}

/*
 * If a clone also wants a new commit, only this commit is walked. The other
 * objects come from the prepared answer (stored response) for the wanted
 * branches.
 */
static void new_commit(void **state)
{
	struct extendedrepo e;
	uint32_t wants[3];

	init(&e);
	wants[0] = e.k.commits[NEWEST];
	wants[1] = e.side;
	wants[2] = e.k.commits[TOPIC];
	check_clone(&e, wants, 3, "prepared", 0);
	check_clone(&e, wants, 1, "prepared", 0);
	/*
	 * The clone wants two of the three branches. It does not want TOPIC, as
	 * if this branch had been deleted.
	 *
	 * TOPIC is a want of the prepared answer (stored response) for a clone
	 * of all branches. An answer is used only if each of its wants is also
	 * a want of the clone, or is reached by the walk of new commits. This
	 * clone has no commit that is new to the answer, so no walk reaches
	 * TOPIC, and the answer is not used. Instead, the prepared answer for a
	 * clone of the default branch is extended by the commit `side`.
	 */
	check_clone(&e, wants, 2, "prepared+walk", 1);
	wants[0] = e.commit;
	check_clone(&e, wants, 2, "prepared+walk", 1);
	check_clone(&e, wants, 3, "prepared+walk", 1);
	check_clone(&e, wants, 1, "prepared+walk", 1);
	/*
	 * One more want is an ancestor of commits in the prepared answer
	 * (stored response). So the answer already has the objects of this
	 * want.
	 */
	wants[1] = e.k.commits[5];
	wants[2] = e.side;
	check_clone(&e, wants, 3, "prepared+walk", 1);
	release(&e);
}

/*
 * A branch was rewound, so a prepared answer (stored response) has objects that
 * the clone does not want. The prepared answer must not be used.
 */
static void rewound_branch(void **state)
{
	struct extendedrepo e;
	uint32_t wants[2];

	init(&e);
	wants[0] = e.k.commits[NEWEST - 5];
	wants[1] = e.side;
	check_clone(&e, wants, 2, "bitmap", 0);
	wants[0] = e.side;
	check_clone(&e, wants, 1, "bitmap", 0);
	release(&e);
}

/*
 * If a file of prepared answers (stored responses) is damaged, no prepared
 * answer is used.
 */
static void damaged_files(void **state)
{
	static const char *const files[] = {"objects/info/prepared-wants",
					    "objects/info/prepared"};
	struct extendedrepo e;
	uint32_t wants[2];

	init(&e);
	wants[0] = e.commit;
	wants[1] = e.side;
	for (size_t i = 0; i < 2; i++) {
		tmprepo_remove(&e.k.r.t, files[i]);
		tmprepo_write(&e.k.r.t, files[i], "damaged");
		check_clone(&e, wants, 2, "bitmap+walk", 1);
	}
	release(&e);
}

/* A clone whose objects are found several times, while allocations fail. */
struct again {
	struct extendedrepo e;
	struct packing_request request;
	struct packing_send_options options;
	struct found f;
};

static int find_again(void *ctx, struct error *err)
{
	struct again *again = ctx;
	struct error warning = ERROR_INIT;

	return found_open(&again->f, again->e.k.odb, &again->request,
			  &again->options, &warning, err);
}

static void check_again(void *ctx)
{
	struct again *again = ctx;

	assert_true(again->f.content || again->f.pb);
	assert_int_equal(again->f.commits_walked, 1);
	assert_int_equal(again->f.objects.nr, 1);
	found_close(&again->f);
}

/*
 * If an allocation fails, either the error is returned, or all objects are
 * found. They may come from the prepared answer (stored response) or from the
 * bitmap index.
 */
static void no_memory(void **state)
{
	struct again again;
	struct oid wants[2];

	init(&again.e);
	wants[0] = again.e.k.r.objects[again.e.commit].oid;
	wants[1] = again.e.k.r.objects[again.e.side].oid;
	again.request = (struct packing_request){
		.wants = wants,
		.want_nr = 2,
		.ofs_delta = true,
		.use_bitmap = true,
	};
	assert_int_equal(packing_send_options_load(&again.options,
						   &again.e.k.r.t.repo, NULL),
			 0);
	again.options.threads = 1;
	nomem_each(NULL, find_again, check_again, &again);
	release(&again.e);
}

static void replace_file(struct tmprepo *t, const char *name,
			 const struct buf *bytes)
{
	tmprepo_remove(t, name);
	tmprepo_write_len(t, name, bytes->data, bytes->len);
}

/* Returns the wants of the prepared answer (stored response) that has most. */
static const struct prepared_wants_of *most_wants(
	const struct prepared_wants *wants)
{
	const struct prepared_wants_of *most = &wants->answers[0];

	for (size_t i = 1; i < wants->nr; i++)
		if (ewah_count(&wants->answers[i].ids) > ewah_count(&most->ids))
			most = &wants->answers[i];
	return most;
}

/* Maximum number of prepared answers that copy_answer() can write. */
#define COPIES_MAX 8

/*
 * Replace the prepared answers by `nr` copies of the answer to a clone of all
 * branches. All copies but the last are said to have one more want, which is
 * not in the repository.
 */
static void copy_answer(struct extendedrepo *e, uint32_t nr)
{
	struct prepared_answer answers[COPIES_MAX];
	struct prepared_wants_of ofs[COPIES_MAX];
	struct tmprepo *t = &e->k.r.t;
	struct bitset set = BITSET_INIT;
	struct buf bytes = BUF_INIT, ids = BUF_INIT, more = BUF_INIT;
	struct prepared p, copy;
	struct prepared_wants w, copy_w;
	struct ewah wrong;

	assert_true(nr <= COPIES_MAX);
	assert_int_equal(prepared_open(&p, e->k.odb, 0, NULL), 1);
	assert_int_equal(prepared_wants_open(&w, &p, e->k.odb, 0, NULL), 1);
	copy = p;
	copy_w = w;
	ewah_init(&wrong);
	assert_int_equal(bitset_init(&set, w.id_nr + 1), 0);
	ewah_or_into(&set, &most_wants(&w)->ids);
	bitset_set(&set, w.id_nr);
	assert_int_equal(ewah_from_bitset(&wrong, &set), 0);
	for (uint32_t i = 0; i < nr; i++) {
		answers[i] = p.answers[most_wants(&w)->answer];
		ofs[i] = (struct prepared_wants_of){
			.answer = i,
			.ids = i < nr - 1 ? ewah_view_of(&wrong)
					  : most_wants(&w)->ids,
		};
	}
	copy.answers = answers;
	copy_w.answers = ofs;
	copy.nr = copy_w.nr = nr;
	assert_int_equal(prepared_write(&bytes, &copy), 0);
	assert_int_equal(buf_append(&ids, w.ids, 20 * (size_t)w.id_nr), 0);
	for (int i = 0; i < 20; i++)
		assert_int_equal(buf_append_char(&ids, (char)0xff), 0);
	copy_w.ids = (const uint8_t *)ids.data;
	copy_w.id_nr++;
	oid_from_raw(&copy_w.prepared_checksum,
		     (const uint8_t *)bytes.data + bytes.len - 20, HASH_SHA1);
	assert_int_equal(prepared_wants_write(&more, &copy_w), 0);
	replace_file(t, "objects/info/prepared", &bytes);
	replace_file(t, "objects/info/prepared-wants", &more);
	ewah_release(&wrong);
	bitset_release(&set);
	prepared_wants_close(&w);
	prepared_close(&p);
	buf_release(&bytes);
	buf_release(&ids);
	buf_release(&more);
}

/*
 * Prepared answers (stored responses) of the same size are tried one after the
 * other, but at most a few of them.
 */
static void equal_answers(void **state)
{
	for (uint32_t nr = 1; nr <= 5; nr++) {
		struct extendedrepo e;
		uint32_t wants[3];

		init(&e);
		wants[0] = e.commit;
		wants[1] = e.side;
		wants[2] = e.k.commits[TOPIC];
		copy_answer(&e, nr);
		check_clone(&e, wants, 3,
			    nr < 5 ? "prepared+walk" : "bitmap+walk", 1);
		release(&e);
	}
}

/* Fails when the tags are visited for the first time. */
static int fail_once(void *ctx,
		     int (*fn)(void *fn_ctx, const struct packing_tag *tag),
		     void *fn_ctx, struct error *err)
{
	return (*(int *)ctx)++ ? 0 : error_set(err, ERR_IO, "try again");
}

/*
 * A prepared answer (stored response) is extended. Then reading the tags fails,
 * so the bitmap index is used instead. The list of new objects of the first
 * attempt is released. A sanitizer reports if the memory of the list is lost.
 */
static void unreadable_tags(void **state)
{
	struct packing_send_options options;
	struct error warning = ERROR_INIT, err = ERROR_INIT;
	struct extendedrepo e;
	struct found f;
	struct oid wants[2];
	int visits = 0;
	const struct packing_request request = {
		.wants = wants,
		.want_nr = 2,
		.tags = {.each = fail_once, .ctx = &visits},
		.ofs_delta = true,
		.use_bitmap = true,
	};

	init(&e);
	wants[0] = e.k.r.objects[e.commit].oid;
	wants[1] = e.k.r.objects[e.side].oid;
	assert_int_equal(
		packing_send_options_load(&options, &e.k.r.t.repo, NULL), 0);
	options.threads = 1;
	if (found_open(&f, e.k.odb, &request, &options, &warning, &err) < 0)
		fail_msg("%s", err.msg);
	assert_int_equal(visits, 2);
	assert_non_null(f.pb);
	assert_null(f.content);
	assert_int_equal(f.objects.nr, 1);
	found_close(&f);
	release(&e);
}

/*
 * Number of branches with different tips: a few more than half of NEW_MAX,
 * which is a limit in packing/find-extended.c.
 */
#define BRANCHES 2050

/*
 * A clone of many branches gets the prepared answer (stored response) to all
 * branches, and the commit that was added after the repack.
 */
static void many_branches(void **state)
{
	struct extendedrepo e = {.commit = 0};
	struct keptrepo *k = &e.k;
	struct randrepo *r = &k->r;
	uint32_t *tips = calloc(BRANCHES, sizeof(*tips));
	uint64_t seed = 1;
	uint32_t blob;

	assert_non_null(tips);
	randrepo_init(r, HASH_SHA1, &seed);
	blob = randrepo_blob(r, 1);
	for (uint32_t i = 0; i < BRANCHES; i++) {
		char name[32];

		tips[i] = keptrepo_commit(r, blob, i, tips[0]);
		snprintf(name, sizeof(name), "refs/heads/b%u", i);
		randrepo_ref(r, name, tips[i]);
	}
	randrepo_ref(r, "refs/heads/main", tips[0]);
	randrepo_store_pack(r);
	bitmaprepo_repack(r, true, true);
	e.commit = keptrepo_commit(r, blob, BRANCHES, tips[BRANCHES - 1]);
	randrepo_store(r);
	keptrepo_open(k);
	tips[BRANCHES - 1] = e.commit;
	check_clone(&e, tips, BRANCHES, "prepared+walk", 1);
	free(tips);
	release(&e);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(new_commit),
		cmocka_unit_test(rewound_branch),
		cmocka_unit_test(damaged_files),
		cmocka_unit_test(no_memory),
		cmocka_unit_test(equal_answers),
		cmocka_unit_test(unreadable_tags),
		cmocka_unit_test(many_branches),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
