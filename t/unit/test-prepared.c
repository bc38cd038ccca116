/* SPDX-License-Identifier: MIT */
/*
 * Tests of prepared/prepared.c: a file of prepared answers (stored responses to
 * likely requests) is written and read.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "object/hash.h"
#include "prepared/prepared.h"
#include "t/unit/hexdump.h"
#include "t/unit/random.h"

#define ANSWERS 5
#define RUNS 40
#define TAGS 70
#define REPEATS 9

struct file {
	struct prepared made;
	struct prepared_answer answers[ANSWERS];
	struct prepared_run runs[2 * ANSWERS][RUNS];
	struct prepared_place places[ANSWERS][RUNS];
	struct prepared_repeat repeats[ANSWERS][REPEATS];
	struct ewah along[ANSWERS];
	uint8_t tags[TAGS * OID_MAX_LEN];
	struct buf bytes;
};

static void random_oid(struct oid *oid, enum hash_algo algo, uint64_t *seed)
{
	*oid = (struct oid)OID_ZERO_INIT;
	for (size_t i = 0; i < hash_len(algo); i++)
		oid->bytes[i] = (uint8_t)random_next(seed);
}

static void random_content(struct prepared_content *content,
			   struct prepared_run runs[RUNS], enum hash_algo algo,
			   uint64_t *seed)
{
	uint64_t off = 12;

	random_oid(&content->checksum, algo, seed);
	content->runs = runs;
	content->run_nr = 1 + random_next(seed) % RUNS;
	content->object_nr = (uint32_t)content->run_nr + 5;
	for (size_t i = 0; i < content->run_nr; i++) {
		runs[i].off = off;
		runs[i].len = 1 + random_next(seed) % (UINT64_C(1) << 40);
		off += runs[i].len + 1 + random_next(seed) % 1000;
	}
}

/*
 * Make tags with ascending ids. Choose the tags that a prepared answer (stored
 * response) adds to its pack.
 */
static void random_tags(struct file *f, size_t answer, uint64_t *seed)
{
	ewah_init(&f->along[answer]);
	for (size_t i = 0; i < f->made.tag_nr; i++)
		if (random_next(seed) % 3 == 0)
			assert_int_equal(ewah_set(&f->along[answer], i), 0);
	f->answers[answer].along = ewah_view_of(&f->along[answer]);
}

/*
 * A prepared answer (stored response) to a clone of depth 1 sends the objects
 * of one root tree. The answer consists of runs (ranges of the pack). The file
 * can store two facts about the tree: the positions of the objects of each run,
 * and which objects occur at several paths. Make such facts at random for every
 * second answer. Each run has one object, but the last run also has all other
 * objects.
 */
static void random_tree(struct file *f, size_t answer, uint64_t *seed)
{
	struct prepared_answer *a = &f->answers[answer];
	struct prepared_place *places = f->places[answer];
	struct prepared_repeat *repeats = f->repeats[answer];
	uint32_t at = 0, idx_pos = 0;

	a->tree.is_known = answer % 2;
	if (!a->tree.is_known)
		return;
	for (size_t i = 0; i < a->plain.run_nr; i++) {
		at += (uint32_t)(random_next(seed) % 9);
		places[i] = (struct prepared_place){at++, 1};
	}
	places[a->plain.run_nr - 1].nr += a->plain.object_nr -
					  (uint32_t)a->plain.run_nr;
	a->tree.places = places;
	a->tree.repeats = repeats;
	a->tree.repeat_nr = random_next(seed) % (REPEATS + 1);
	for (size_t i = 0; i < a->tree.repeat_nr; i++) {
		repeats[i].idx_pos = idx_pos;
		repeats[i].paths = 2 + (uint32_t)(random_next(seed) % 99);
		idx_pos += 2 + (uint32_t)(random_next(seed) % 9999);
	}
	random_oid(&a->tree.order, f->made.algo, seed);
}

static void file_init(struct file *f, enum hash_algo algo, size_t nr,
		      uint64_t *seed)
{
	memset(f, 0, sizeof(*f));
	f->made.algo = algo;
	f->made.nr = nr;
	f->made.answers = f->answers;
	f->made.tags = f->tags;
	f->made.tag_nr = nr % 3 ? TAGS : 0;
	for (size_t i = 0; i < f->made.tag_nr; i++)
		f->tags[i * hash_len(algo)] = (uint8_t)(3 * i);
	random_oid(&f->made.pack_checksum, algo, seed);
	for (size_t i = 0; i < nr; i++) {
		struct prepared_answer *answer = &f->answers[i];

		answer->request.kind = (uint8_t)(1 + i % 4);
		random_oid(&answer->request.id, algo, seed);
		random_content(&answer->plain, f->runs[2 * i], algo, seed);
		random_content(&answer->tagged, f->runs[2 * i + 1], algo, seed);
		random_tags(f, i, seed);
		random_tree(f, i, seed);
	}
	assert_int_equal(prepared_write(&f->bytes, &f->made), 0);
}

static void file_release(struct file *f)
{
	for (size_t i = 0; i < f->made.nr; i++)
		ewah_release(&f->along[i]);
	buf_release(&f->bytes);
}

static int parse(struct prepared *p, const struct file *f)
{
	return prepared_parse(p, f->bytes.data, f->bytes.len, f->made.algo,
			      "file", NULL);
}

/*
 * The content of a prepared answer (stored response) is a list of runs: byte
 * ranges of the stored pack. Check that prepared_find_content() returns
 * `content` for the runs of `expect`, which are the same runs. For a longer
 * last run, it must return NULL. Check also that prepared_has() returns true
 * only for offsets in the runs.
 */
static void check_content(const struct prepared *p,
			  const struct prepared_content *content,
			  struct prepared_content *expect)
{
	struct prepared_run *last =
		(struct prepared_run *)&expect->runs[expect->run_nr - 1];
	uint64_t bytes = 0;

	assert_true(oid_equal(&content->checksum, &expect->checksum));
	assert_int_equal(content->object_nr, expect->object_nr);
	assert_ptr_equal(prepared_find_content(p, expect->runs, expect->run_nr),
			 content);
	for (size_t i = 0; i < content->run_nr; i++) {
		const struct prepared_run *run = &content->runs[i];

		assert_false(prepared_has(content, run->off - 1));
		assert_true(prepared_has(content, run->off));
		assert_true(prepared_has(content, run->off + run->len - 1));
		assert_false(prepared_has(content, run->off + run->len));
		bytes += run->len;
	}
	assert_int_equal(prepared_bytes(content), bytes);
	last->len++;
	assert_null(prepared_find_content(p, expect->runs, expect->run_nr));
}

static void check_tree(const struct prepared_tree *tree,
		       const struct prepared_tree *expect, size_t run_nr)
{
	assert_int_equal(tree->is_known, expect->is_known);
	assert_int_equal(tree->repeat_nr, expect->repeat_nr);
	if (!tree->is_known)
		return;
	assert_true(oid_equal(&tree->order, &expect->order));
	for (size_t i = 0; i < run_nr; i++) {
		assert_int_equal(tree->places[i].first,
				 expect->places[i].first);
		assert_int_equal(tree->places[i].nr, expect->places[i].nr);
	}
	for (size_t i = 0; i < tree->repeat_nr; i++) {
		const struct prepared_repeat *repeat = &expect->repeats[i];

		assert_int_equal(prepared_paths(tree, repeat->idx_pos),
				 repeat->paths);
		assert_int_equal(prepared_paths(tree, repeat->idx_pos + 1), 1);
	}
}

static void check_answer(const struct prepared *p, struct file *f, size_t i)
{
	struct prepared_answer *expect = &f->answers[i];
	const struct prepared_answer *answer = &p->answers[i];
	struct prepared_request request = expect->request;

	assert_ptr_equal(prepared_find(p, &request), answer);
	request.kind ^= 4;
	assert_null(prepared_find(p, &request));
	check_content(p, &answer->plain, &expect->plain);
	check_content(p, &answer->tagged, &expect->tagged);
	check_tree(&answer->tree, &expect->tree, expect->plain.run_nr);
	for (size_t k = 0; k < p->tag_nr; k++)
		assert_int_equal(ewah_test(&answer->along, k),
				 ewah_test(&expect->along, k));
}

static void check_tags(const struct prepared *p, uint64_t *seed)
{
	struct oid oid;
	uint32_t at;

	for (uint32_t i = 0; i < p->tag_nr; i++) {
		oid_from_raw(&oid, p->tags + i * hash_len(p->algo), p->algo);
		assert_true(prepared_find_tag(p, &oid, &at));
		assert_int_equal(at, i);
		random_oid(&oid, p->algo, seed);
		assert_false(prepared_find_tag(p, &oid, &at));
	}
}

static void there_and_back(void **state)
{
	uint64_t seed = random_seed();

	for (size_t nr = 0; nr <= ANSWERS; nr++) {
		struct prepared p;
		struct file f;

		file_init(&f, nr % 2 ? HASH_SHA256 : HASH_SHA1, nr, &seed);
		assert_int_equal(parse(&p, &f), 0);
		assert_true(oid_equal(&p.pack_checksum, &f.made.pack_checksum));
		assert_int_equal(p.nr, nr);
		assert_int_equal(p.tag_nr, f.made.tag_nr);
		check_tags(&p, &seed);
		for (size_t i = 0; i < nr; i++)
			check_answer(&p, &f, i);
		prepared_close(&p);
		file_release(&f);
	}
}

/* Parse the example of Documentation/format/prepared.md. */
static void worked_example(void **state)
{
	static const char example[] =
		"50524550 03 01 0001 00000002"
		" 069543fd 64102fc8 f326b98f ba297c80 7ebce5f8"
		" 11111111 11111111 11111111 11111111 11111111"
		" 22222222 22222222 22222222 22222222 22222222"
		" 02"
		" e83c5163 316f89bf bde7d9ab 23ca2e25 604af290"
		" 5da13333 33333333 33333333 33333333 33333377"
		" 00000003 00000002"
		" 00000000 0000000c 00000000 00000040"
		" 00000000 00000100 00000000 00000200"
		" 9b024444 44444444 44444444 44444444 4444441c"
		" 00000004 00000001"
		" 00000000 0000000c 00000000 000002f4"
		" 00000002 00000002 00000002 00000000"
		" 00000000 00000002 00000000"
		" 00000001 00000005 00000003"
		" 00000000 00000001 00000004 00000002"
		" 0a0d6666 66666666 66666666 66666666 6666660d"
		" ed6481b6 43c3d17f a41da446 d728317e 3269595c";
	struct buf bytes = BUF_INIT, again = BUF_INIT;
	const struct prepared_answer *answer;
	struct prepared p;

	hexdump_parse(&bytes, example);
	assert_int_equal(prepared_parse(&p, bytes.data, bytes.len, HASH_SHA1,
					"example", NULL),
			 0);
	assert_int_equal(p.nr, 1);
	answer = &p.answers[0];
	assert_int_equal(answer->request.kind, PREPARED_DEPTH_1);
	assert_int_equal(answer->plain.object_nr, 3);
	assert_int_equal(answer->plain.run_nr, 2);
	assert_int_equal(answer->plain.runs[1].off, 0x100);
	assert_int_equal(answer->plain.runs[1].len, 0x200);
	assert_int_equal(answer->tagged.object_nr, 4);
	assert_false(ewah_test(&answer->along, 0));
	assert_true(ewah_test(&answer->along, 1));
	assert_true(answer->tree.is_known);
	assert_int_equal(prepared_paths(&answer->tree, 5), 3);
	assert_int_equal(answer->tree.places[1].first, 4);
	assert_int_equal(answer->tree.places[1].nr, 2);
	assert_int_equal(prepared_write(&again, &p), 0);
	assert_int_equal(again.len, bytes.len);
	assert_memory_equal(again.data, bytes.data, bytes.len);
	prepared_close(&p);
	buf_release(&bytes);
	buf_release(&again);
}

/*
 * Two requests are the same even if the order of their wants differs, or if one
 * of them has duplicate wants.
 */
static void requests(void **state)
{
	uint64_t seed = random_seed();
	struct prepared_request a, b;
	struct oid wants[40];

	for (size_t i = 0; i < 20; i++)
		random_oid(&wants[i], HASH_SHA1, &seed);
	for (size_t i = 20; i < 40; i++)
		wants[i] = wants[39 - i];
	assert_int_equal(prepared_request(&a, HASH_SHA1, false, wants, 20), 0);
	assert_int_equal(a.kind, 3);
	assert_int_equal(prepared_request(&b, HASH_SHA1, false, wants + 20, 20),
			 0);
	assert_true(prepared_same_request(&a, &b));
	assert_int_equal(prepared_request(&b, HASH_SHA1, false, wants, 40), 0);
	assert_true(prepared_same_request(&a, &b));
	assert_int_equal(prepared_request(&b, HASH_SHA1, true, wants, 20), 0);
	assert_int_equal(b.kind, 4);
	assert_false(prepared_same_request(&a, &b));
	assert_int_equal(prepared_request(&b, HASH_SHA1, false, wants, 19), 0);
	assert_false(prepared_same_request(&a, &b));
	wants[1] = wants[0];
	assert_int_equal(prepared_request(&b, HASH_SHA1, true, wants, 2), 0);
	assert_int_equal(b.kind, PREPARED_DEPTH_1);
	assert_true(prepared_is_of_one(&b) && !prepared_is_of_one(&a));
	assert_true(oid_equal(&b.id, &wants[0]));
}

#define NR 1000

/*
 * The index and the order of a pack, which stores its objects in the order of
 * their ids.
 */
struct indexed {
	struct oid ids[NR];
	struct buf file;
	struct pack_idx idx;
	struct pack_rev rev;
};

static void indexed_init(struct indexed *p, uint64_t *seed)
{
	struct pack_idx_entry entries[NR];
	uint64_t off = 12;
	struct oid checksum;

	memset(p, 0, sizeof(*p));
	random_oid(&checksum, HASH_SHA1, seed);
	for (uint32_t i = 0; i < NR; i++) {
		store_be32(p->ids[i].bytes, i * 4000000);
		entries[i] = (struct pack_idx_entry){p->ids[i].bytes, off, 0};
		off += 2 + random_next(seed) % 5000;
	}
	assert_int_equal(pack_idx_write(&p->file, entries, NR, &checksum, 2,
					HASH_SHA1, NULL),
			 0);
	assert_int_equal(pack_idx_parse(&p->idx, p->file.data, p->file.len,
					HASH_SHA1, "index", NULL),
			 0);
	assert_int_equal(
		pack_rev_compute(&p->rev, &p->idx, off + hash_len(HASH_SHA1)),
		0);
}

static void indexed_release(struct indexed *p)
{
	pack_rev_release(&p->rev);
	pack_idx_release(&p->idx);
	buf_release(&p->file);
}

/*
 * Convert objects of a pack to runs (ranges of its bytes), and convert the runs
 * back.
 */
static void runs_of_objects(void **state)
{
	uint64_t seed = random_seed();
	static struct indexed pack;

	indexed_init(&pack, &seed);
	for (uint64_t ratio = 1; ratio < 10; ratio++) {
		struct bitset set = BITSET_INIT, again = BITSET_INIT;
		struct prepared_content content;
		struct prepared_run *runs;

		assert_int_equal(bitset_init(&set, NR), 0);
		assert_int_equal(bitset_init(&again, NR), 0);
		for (size_t i = 0; i < NR; i++)
			if (random_next(&seed) % ratio == 0)
				bitset_set(&set, i);
		assert_int_equal(prepared_runs(&runs, &content.run_nr,
					       &pack.rev, &set, NULL),
				 0);
		content.runs = runs;
		content.object_nr = (uint32_t)bitset_count(&set);
		assert_true(prepared_objects(&again, &pack.rev, &content));
		assert_true(bitset_equal(&again, &set));
		content.object_nr++;
		assert_false(prepared_objects(&again, &pack.rev, &content));
		content.object_nr--;
		runs[content.run_nr / 2].off++;
		assert_false(prepared_objects(&again, &pack.rev, &content));
		free(runs);
		bitset_release(&set);
		bitset_release(&again);
	}
	indexed_release(&pack);
}

static void what_is_broken(void **state)
{
	uint64_t seed = random_seed();
	struct prepared p;
	struct file f;

	file_init(&f, HASH_SHA1, ANSWERS, &seed);
	for (size_t at = 0; at < f.bytes.len; at += 7) {
		f.bytes.data[at] ^= 0x10;
		int ret = parse(&p, &f);

		/*
		 * If the changed byte makes a length exceed the file, the error
		 * code is ERR_MISSING, as after an interrupted write.
		 */
		assert_true(ret == ERR_CORRUPT || ret == ERR_MISSING);
		f.bytes.data[at] ^= 0x10;
	}
	assert_int_equal(prepared_parse(&p, f.bytes.data, f.bytes.len,
					HASH_SHA256, "file", NULL),
			 ERR_CORRUPT);
	file_release(&f);
}

static void what_is_cut_short(void **state)
{
	uint64_t seed = random_seed();
	struct prepared p;
	struct file f;

	file_init(&f, HASH_SHA1, ANSWERS, &seed);
	for (size_t len = 0; len < f.bytes.len; len++)
		assert_int_equal(prepared_parse(&p, f.bytes.data, len,
						HASH_SHA1, "cut", NULL),
				 ERR_MISSING);
	file_release(&f);
}

static void another_version(void **state)
{
	uint64_t seed = random_seed();
	struct prepared p;
	struct file f;

	file_init(&f, HASH_SHA1, ANSWERS, &seed);
	for (int version = 0; version < 256; version++) {
		f.bytes.data[4] = (char)version;
		assert_int_equal(parse(&p, &f),
				 version == 3 ? 0 : ERR_UNSUPPORTED);
		prepared_close(&p);
	}
	file_release(&f);
}

/* A truncated file is refused, even if its checksum is right. */
static void what_is_wrong(void **state)
{
	uint64_t seed = random_seed();
	size_t id_len = hash_len(HASH_SHA1);
	struct prepared p;
	struct file f;

	file_init(&f, HASH_SHA1, ANSWERS, &seed);
	f.bytes.len -= id_len;
	for (size_t len = 0; len <= f.bytes.len; len++) {
		struct buf cut = BUF_INIT;

		assert_int_equal(buf_append(&cut, f.bytes.data, len), 0);
		assert_int_equal(hash_append_trailer(&cut, 0, HASH_SHA1, NULL),
				 0);
		assert_int_equal(prepared_parse(&p, cut.data, cut.len,
						HASH_SHA1, "cut", NULL),
				 len == f.bytes.len ? 0 : ERR_CORRUPT);
		prepared_close(&p);
		buf_release(&cut);
	}
	file_release(&f);
}

/*
 * Write a file whose second prepared answer (stored response) was changed, and
 * parse it.
 */
static int parse_again(struct file *f)
{
	struct prepared p;
	int ret;

	f->bytes.len = 0;
	assert_int_equal(prepared_write(&f->bytes, &f->made), 0);
	ret = parse(&p, f);
	prepared_close(&p);
	return ret;
}

/*
 * A wrong description of the tree of a prepared answer (stored response) must
 * be refused, although the checksum of the file is right. The description has
 * two lists:
 *
 * - repeated objects: objects that the tree has at several paths;
 * - places: ranges of pack positions, which have the objects of the answer.
 *
 * First the repeated objects are out of order, or have a wrong number of paths.
 * Then the places are wrong: they have more objects than the answer, a place
 * overflows, or a place is empty.
 */
static void wrong_trees(void **state)
{
	uint64_t seed = random_seed();
	struct prepared_tree *tree;
	struct file f;

	file_init(&f, HASH_SHA1, 2, &seed);
	tree = &f.answers[1].tree;
	tree->repeat_nr = 2;
	f.repeats[1][0] = (struct prepared_repeat){7, 2};
	f.repeats[1][1] = (struct prepared_repeat){8, 3};
	assert_int_equal(parse_again(&f), 0);
	f.repeats[1][1].idx_pos = 7;
	assert_int_equal(parse_again(&f), ERR_CORRUPT);
	f.repeats[1][1] = (struct prepared_repeat){8, 1};
	assert_int_equal(parse_again(&f), ERR_CORRUPT);
	f.repeats[1][1].paths = UINT32_MAX;
	assert_int_equal(parse_again(&f), ERR_CORRUPT);
	tree->repeat_nr = 1;
	assert_int_equal(parse_again(&f), 0);
	f.places[1][f.answers[1].plain.run_nr - 1].nr++;
	assert_int_equal(parse_again(&f), ERR_CORRUPT);
	f.answers[1].plain.object_nr++;
	assert_int_equal(parse_again(&f), 0);
	f.places[1][f.answers[1].plain.run_nr - 1].first = UINT32_MAX;
	assert_int_equal(parse_again(&f), ERR_CORRUPT);
	f.places[1][f.answers[1].plain.run_nr - 1].first = 1000;
	f.places[1][0].nr = 0;
	assert_int_equal(parse_again(&f), ERR_CORRUPT);
	file_release(&f);
}

/*
 * A prepared answer (stored response) copies ranges of objects from the pack. A
 * range of pack positions is called a place. For each answer, the file of
 * prepared answers has a hash, which is computed from the order of objects in
 * the pack. The hash must cover the objects of each place, and the one object
 * after each place, which shows where the place ends. The hash must cover no
 * other object.
 */
static void hash_of_order(void **state)
{
	uint64_t seed = random_seed();
	static struct indexed pack;
	struct prepared_place places[2] = {{3, 700}, {900, 2}};
	const struct prepared_tree tree = {.places = places};
	struct oid expect, first, other;
	struct hash_ctx hash;
	uint8_t be[4];

	indexed_init(&pack, &seed);
	assert_int_equal(hash_init(&hash, HASH_SHA1), 0);
	for (uint32_t pos = 0; pos < NR; pos++) {
		store_be32(be, pack_rev_idx_pos(&pack.rev, pos));
		/*
		 * The hash covers the objects in both ranges of pack positions
		 * (places), and the object after each range.
		 */
		if ((pos >= 3 && pos <= 703) || (pos >= 900 && pos <= 902))
			hash_update(&hash, be, sizeof(be));
	}
	hash_final(&hash, &expect);
	hash_release(&hash);
	assert_int_equal(prepared_hash_order(&first, &tree, 2, &pack.rev), 0);
	assert_true(oid_equal(&first, &expect));
	pack.rev.owned[100] ^= 1;
	assert_int_equal(prepared_hash_order(&other, &tree, 2, &pack.rev), 0);
	assert_false(oid_equal(&first, &other));
	pack.rev.owned[100] ^= 1;
	pack.rev.owned[703] ^= 1;
	assert_int_equal(prepared_hash_order(&other, &tree, 2, &pack.rev), 0);
	assert_false(oid_equal(&first, &other));
	pack.rev.owned[703] ^= 1;
	pack.rev.owned[704] ^= 1;
	assert_int_equal(prepared_hash_order(&other, &tree, 2, &pack.rev), 0);
	assert_true(oid_equal(&first, &other));
	indexed_release(&pack);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(there_and_back),
		cmocka_unit_test(worked_example),
		cmocka_unit_test(requests),
		cmocka_unit_test(runs_of_objects),
		cmocka_unit_test(what_is_broken),
		cmocka_unit_test(what_is_cut_short),
		cmocka_unit_test(another_version),
		cmocka_unit_test(what_is_wrong),
		cmocka_unit_test(wrong_trees),
		cmocka_unit_test(hash_of_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
