/* SPDX-License-Identifier: MIT */
/*
 * Tests of packing/find-near.c, which answers clones of depth 1 with the help
 * of a prepared answer to a clone of another commit. Exactly the objects of the
 * wanted commit must be sent.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "packing/find.h"
#include "t/unit/bitmaprepo.h"
#include "t/unit/nomem.h"
#include "t/unit/randtree.h"
#include "t/unit/sentpack.h"
#include "t/unit/taglist.h"

#define TAGS_MAX 400
#define NEAR "prepared+walk"

struct nearrepo {
	struct randhist h;
	struct odb *odb;
	struct packing_tag tags[TAGS_MAX];
	struct taglist taglist;
	/* the tree of the next commit that a test makes by hand */
	struct randtree t;
};

static void open_odb(struct nearrepo *n)
{
	odb_close(n->odb);
	assert_int_equal(odb_open(&n->odb, &n->h.r.t.repo, NULL, NULL), 0);
}

/* Repack the repository, with the commit r.objects[tip] as HEAD. */
static void repack(struct nearrepo *n, uint32_t tip, const char *config)
{
	struct randrepo *r = &n->h.r;

	randtree_store_packs(r);
	randrepo_ref(r, "refs/heads/main", tip);
	tmprepo_remove(&r->t, "HEAD");
	tmprepo_write(&r->t, "HEAD", "ref: refs/heads/main\n");
	assert_int_equal(config_parse(&r->t.repo.config, config, strlen(config),
				      CONFIG_LOCAL, NULL, NULL, NULL),
			 0);
	bitmaprepo_repack(r, true, true);
	open_odb(n);
	for (uint32_t i = 0; i < r->nr; i++)
		r->objects[i].is_stored = odb_has(n->odb, &r->objects[i].oid);
}

static void begin(struct nearrepo *n, enum hash_algo algo, uint64_t *seed)
{
	memset(n, 0, sizeof(*n));
	randhist_init(&n->h, algo, seed);
	n->taglist.tags = n->tags;
}

static void end(struct nearrepo *n)
{
	odb_close(n->odb);
	config_release(&n->h.r.t.repo.config);
	randhist_release(&n->h);
}

/* List all tags. A ref points to each of them. */
static void list_tags(struct nearrepo *n)
{
	struct randrepo *r = &n->h.r;

	n->taglist.nr = 0;
	for (uint32_t i = 0; i < r->nr; i++) {
		uint32_t target = i;
		char name[32];

		if (r->objects[i].type != OBJ_TAG)
			continue;
		while (r->objects[target].type == OBJ_TAG)
			target = r->objects[target].refs[0];
		snprintf(name, sizeof(name), "refs/tags/t%u", i);
		randrepo_ref(r, name, i);
		assert_true(n->taglist.nr < TAGS_MAX);
		n->tags[n->taglist.nr++] = (struct packing_tag){
			r->objects[i].oid, r->objects[target].oid};
	}
}

/*
 * due[] marks the objects that must be sent. A tag points to an object that may
 * be a tag, too, and so on. If due[] is set for the object at the end of this
 * chain, set due[] for all tags of the chain.
 */
static void add_tags(const struct randrepo *r, bool *due)
{
	for (uint32_t i = r->nr; i-- > 0;) {
		uint32_t at = i;

		while (r->objects[at].type == OBJ_TAG)
			at = r->objects[at].refs[0];
		for (uint32_t k = i; due[at] && k != at;
		     k = r->objects[k].refs[0])
			due[k] = true;
	}
}

static int send(struct nearrepo *n, uint32_t commit, bool with_tags,
		struct sentpack *s, struct packing_report *report)
{
	const struct oid *want = &n->h.r.objects[commit].oid;
	struct packing_send_options options;
	struct packing_request request = {
		.wants = want,
		.want_nr = 1,
		.shallow = want,
		.shallow_nr = 1,
		.ofs_delta = true,
		.use_bitmap = true,
		.thin = true,
	};

	if (with_tags)
		request.tags = (struct packing_tags){.each = taglist_each,
						     .ctx = &n->taglist};
	assert_int_equal(
		packing_send_options_load(&options, &n->h.r.t.repo, NULL), 0);
	options.threads = 1;
	return packing_send(n->odb, &request, &options,
			    sentpack_init(s, &n->h.r), report, NULL);
}

/*
 * Clone a commit with depth 1. Exactly the commit, the objects of its tree and,
 * if asked for, its tags must be sent. Returns whether the server has used a
 * prepared answer: a stored response to a clone, here of another commit.
 */
static bool is_near(struct nearrepo *n, uint32_t commit, bool with_tags)
{
	struct randrepo *r = &n->h.r;
	bool *due = calloc(RANDREPO_MAX, sizeof(*due));
	struct packing_report report;
	struct sentpack s;

	assert_non_null(due);
	randrepo_reach(r, due, randhist_tree(&n->h, commit));
	due[commit] = true;
	if (with_tags)
		add_tags(r, due);
	assert_int_equal(send(n, commit, with_tags, &s, &report), 0);
	sentpack_decode(&s, NULL);
	assert_int_equal(s.external, 0);
	for (uint32_t i = 0; i < r->nr; i++)
		assert_int_equal(s.sent[i], due[i]);
	sentpack_release(&s);
	free(due);
	return !strcmp(report.strategy, NEAR);
}

/*
 * Random histories: the new commits are loose or in packs, and some have tags.
 * Random commits, also old ones, are cloned with depth 1. More than 100 of
 * these clones must be served from a prepared answer (the stored response to a
 * clone) of another commit.
 */
static void random_histories(void **state)
{
	uint64_t seed = random_seed();
	unsigned near_nr = 0;

	for (int round = 0; round < 6; round++) {
		struct nearrepo n;
		struct randrepo *r = &n.h.r;

		begin(&n, round % 2 ? HASH_SHA256 : HASH_SHA1, &seed);
		randhist_grow_by(&n.h, 120, false);
		list_tags(&n);
		randrepo_all_refs(r);
		repack(&n, r->commits[r->commit_nr - 1],
		       "[repack]\ntipIsland = true\n");
		randhist_grow_by(&n.h, 30, false);
		list_tags(&n);
		if (round < 3)
			randrepo_store(r);
		else
			randtree_store_packs(r);
		open_odb(&n);
		for (uint32_t i = 0; i < 60; i++) {
			uint32_t back = randrepo_below(r, i % 4 ? 40 : 150);

			near_nr += is_near(
				&n, r->commits[r->commit_nr - 1 - back], i % 2);
		}
		end(&n);
	}
	assert_true(near_nr > 100);
}

/* Store a commit with the tree n->t. */
static uint32_t commit(struct nearrepo *n)
{
	uint32_t tree = randtree_store(&n->h.r, &n->t, "");

	return randhist_commit_tree(&n->h.r, tree, NULL, 0, 1700000000);
}

/* Commit the tree n->t after the repack, as loose objects. */
static uint32_t push(struct nearrepo *n)
{
	uint32_t nr = commit(n);

	randrepo_store(&n->h.r);
	open_odb(n);
	return nr;
}

/*
 * Make a repository whose HEAD has this tree: one directory twice, and one more
 * copy of one of its files.
 */
static void make(struct nearrepo *n)
{
	uint64_t seed = 1;

	begin(n, HASH_SHA1, &seed);
	randtree_put(&n->t, "dir/a", 1);
	randtree_put(&n->t, "dir/b", 2);
	randtree_put(&n->t, "copy/a", 1);
	randtree_put(&n->t, "copy/b", 2);
	randtree_put(&n->t, "d", 2);
	repack(n, commit(n), "[repack]\ntipIsland = true\n");
}

/*
 * In the prepared tree, a directory and its two files are at several paths. The
 * first three commits put other files at these paths, one after another. An
 * object is still sent as long as the tree has it at some path. The tree of the
 * third commit has none of these objects. The last commit adds one of the two
 * files again, at a new path.
 */
static void repeated_objects(void **state)
{
	struct nearrepo n;

	make(&n);
	randtree_put(&n.t, "copy", 7);
	assert_true(is_near(&n, push(&n), false));
	randtree_put(&n.t, "d", 8);
	assert_true(is_near(&n, push(&n), false));
	randtree_put(&n.t, "dir", 9);
	assert_true(is_near(&n, push(&n), false));
	randtree_put(&n.t, "back/b", 2);
	assert_true(is_near(&n, push(&n), false));
	end(&n);
}

/*
 * No prepared answer (stored response) was made for the wanted commit. But
 * there is one for another commit with the same tree, and this answer is used.
 */
static void same_tree(void **state)
{
	struct nearrepo n;
	uint32_t again;

	make(&n);
	again = randhist_commit_tree(&n.h.r, randtree_store(&n.h.r, &n.t, ""),
				     NULL, 0, 1700000001);
	randrepo_store(&n.h.r);
	open_odb(&n);
	assert_true(is_near(&n, again, false));
	end(&n);
}

/*
 * The wanted tree has a blob that is missing. The clone must fail, although a
 * prepared answer (the stored response to a clone) of another commit could be
 * used.
 */
static void missing_blob(void **state)
{
	struct packing_report report;
	struct sentpack s;
	struct nearrepo n;
	uint32_t nr;

	make(&n);
	randtree_put(&n.t, "new", 9);
	nr = commit(&n);
	n.h.r.objects[randrepo_blob(&n.h.r, 9)].is_stored = true;
	randrepo_store(&n.h.r);
	open_odb(&n);
	assert_int_equal(send(&n, nr, false, &s, &report), ERR_MISSING);
	assert_int_equal(s.bytes.len, 0);
	sentpack_release(&s);
	end(&n);
}

/* Make a commit with `nr` files. File i has the content number `first` + i. */
static uint32_t commit_files(struct nearrepo *n, uint32_t first, uint32_t nr)
{
	char name[16];

	n->t.nr = 0;
	for (uint32_t i = 0; i < nr; i++) {
		snprintf(name, sizeof(name), "f%u", i);
		randtree_put(&n->t, name, (uint8_t)(first + i));
	}
	return commit(n);
}

/*
 * There are prepared answers (stored responses) for two tips. If the tree of
 * the first tip differs too much from the wanted tree, the comparison stops
 * early. The answer for the other tip is then used, if its tree is similar
 * enough.
 */
static void several_answers(void **state)
{
	static const char config[] = "[repack]\n"
				     "tipIsland = refs/heads/main\n"
				     "tipIsland = refs/heads/next\n"
				     "[pack]\nwindow = 0\n";
	uint64_t seed = 1;
	struct nearrepo n;
	uint32_t main_tip, near_main, near_next, far;

	begin(&n, HASH_SHA1, &seed);
	randrepo_ref(&n.h.r, "refs/heads/next", commit_files(&n, 30, 48));
	main_tip = commit_files(&n, 0, 48);
	/*
	 * A prepared answer is copied from the pack as it is stored. So each
	 * delta of the answer must have its base in the answer, too. With
	 * pack.window = 0, no delta is searched, so no file of one tip is
	 * stored as a delta of a file of the other tip. So the repack can make
	 * a prepared answer for each of the two tips.
	 */
	randrepo_store(&n.h.r);
	repack(&n, main_tip, config);
	near_main = commit_files(&n, 0, 47);
	near_next = commit_files(&n, 30, 46);
	far = commit_files(&n, 60, 48);
	randrepo_store(&n.h.r);
	open_odb(&n);
	assert_true(is_near(&n, near_main, false));
	assert_true(is_near(&n, near_next, false));
	assert_false(is_near(&n, far, false));
	end(&n);
}

/*
 * Write the file of prepared answers (stored responses) again, after *p was
 * changed.
 */
static void write_answers(struct nearrepo *n, const struct prepared *p)
{
	struct buf bytes = BUF_INIT;

	assert_int_equal(prepared_write(&bytes, p), 0);
	tmprepo_remove(&n->h.r.t, "objects/info/prepared");
	tmprepo_write_len(&n->h.r.t, "objects/info/prepared", bytes.data,
			  bytes.len);
	buf_release(&bytes);
}

/*
 * A file of prepared answers (stored responses) must not be used if it is
 * damaged or belongs to another pack. The same holds if it does not describe
 * the answer's tree, or if the description contradicts the tree or the pack.
 */
static void wrong_files(void **state)
{
	struct prepared_tree right, *tree;
	struct prepared p;
	struct nearrepo n;
	uint32_t nr;

	make(&n);
	n.t.nr = 0;
	randtree_put(&n.t, "d", 2);
	randtree_put(&n.t, "dir/b", 2);
	nr = push(&n);
	assert_true(is_near(&n, nr, false));
	assert_int_equal(prepared_open(&p, n.odb, 0, NULL), 1);
	tree = &p.answers[0].tree;
	right = *tree;
	assert_true(right.is_known && right.repeat_nr == 3);
	tree->order.bytes[0] ^= 1;
	write_answers(&n, &p);
	assert_false(is_near(&n, nr, false));
	*tree = right;
	tree->repeat_nr = 0;
	write_answers(&n, &p);
	assert_false(is_near(&n, nr, false));
	tree->is_known = false;
	write_answers(&n, &p);
	assert_false(is_near(&n, nr, false));
	*tree = right;
	write_answers(&n, &p);
	assert_true(is_near(&n, nr, false));
	p.repeats[2].idx_pos = n.odb->packs[0].pack->idx.nr;
	write_answers(&n, &p);
	assert_false(is_near(&n, nr, false));
	p.pack_checksum.bytes[0] ^= 1;
	write_answers(&n, &p);
	assert_false(is_near(&n, nr, false));
	prepared_close(&p);
	tmprepo_remove(&n.h.r.t, "objects/info/prepared");
	tmprepo_write(&n.h.r.t, "objects/info/prepared", "damaged");
	assert_false(is_near(&n, nr, false));
	end(&n);
}

/* A clone whose objects are found several times, while allocations fail. */
struct again {
	struct nearrepo n;
	struct packing_request request;
	struct packing_send_options options;
	struct found f;
};

/* Forget the reverse index of the pack, so that it is made again. */
static void open_again(void *ctx)
{
	struct again *again = ctx;

	open_odb(&again->n);
}

static int find_again(void *ctx, struct error *err)
{
	struct again *again = ctx;
	struct error warning = ERROR_INIT;

	return found_open(&again->f, again->n.odb, &again->request,
			  &again->options, &warning, err);
}

static void check_again(void *ctx)
{
	struct again *again = ctx;

	assert_non_null(again->f.near);
	assert_int_equal(again->f.commits_walked, 1);
	assert_int_equal(bitset_count(&again->f.packed), 3);
	assert_int_equal(again->f.objects.nr, 3);
	found_close(&again->f);
}

/* If an allocation fails, the error is returned, or all objects are found. */
static void no_memory(void **state)
{
	struct again again;
	struct oid want;

	make(&again.n);
	randtree_put(&again.n.t, "d", 9);
	want = again.n.h.r.objects[push(&again.n)].oid;
	again.request = (struct packing_request){
		.wants = &want,
		.want_nr = 1,
		.shallow = &want,
		.shallow_nr = 1,
		.ofs_delta = true,
		.use_bitmap = true,
	};
	again.request.tags = (struct packing_tags){.each = taglist_each,
						   .ctx = &again.n.taglist};
	assert_int_equal(packing_send_options_load(&again.options,
						   &again.n.h.r.t.repo, NULL),
			 0);
	again.options.threads = 1;
	nomem_each(open_again, find_again, check_again, &again);
	end(&again.n);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_histories),
		cmocka_unit_test(repeated_objects),
		cmocka_unit_test(same_tree),
		cmocka_unit_test(missing_blob),
		cmocka_unit_test(several_answers),
		cmocka_unit_test(wrong_files),
		cmocka_unit_test(no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
