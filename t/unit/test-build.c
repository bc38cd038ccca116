/* SPDX-License-Identifier: MIT */
/*
 * Tests of bitmap/build.c, which computes bitmaps. They prove, for random
 * commits, that each bitmap has exactly the objects that its commit reaches.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/buf.h"
#include "base/mem.h"
#include "bitmap/build.h"
#include "bitmap/file-write.h"
#include "bitmap/file.h"
#include "t/unit/dag.h"
#include "t/unit/randrepo.h"
#include "walk/walk.h"

/*
 * A random repository, a walk that has found all of its objects, and a random
 * bit position for each object.
 */
struct sample {
	struct randrepo r;
	struct odb *odb;
	struct walk walk;
	struct walk_result found;
	uint32_t *bit_pos; /* indexed by obj_pos */
	uint32_t *object;  /* indexed by bit */
	uint32_t bits;
	struct bitmap_build_input in;
};

static void enumerate(struct sample *s)
{
	struct walk_options options = {.objects = true, .keep_lists = true};
	struct walk_tips tips = WALK_TIPS_INIT, none = WALK_TIPS_INIT;

	for (uint32_t i = 0; i < s->r.commit_nr; i++)
		assert_int_equal(
			walk_add_tip(&s->walk, &tips,
				     &s->r.objects[s->r.commits[i]].oid, false,
				     NULL),
			0);
	assert_int_equal(walk_enumerate(&s->found, &s->walk, &tips, &none,
					&options, NULL),
			 0);
	walk_tips_release(&tips);
}

static void swap_bits(struct sample *s, uint32_t i, uint32_t j)
{
	uint32_t t = s->bit_pos[i];

	s->bit_pos[i] = s->bit_pos[j];
	s->bit_pos[j] = t;
}

/*
 * Gives each object a bit in random order, except that the newest commit gets
 * bit 0.
 */
static void number(struct sample *s, uint64_t *seed)
{
	uint32_t end = objspace_end(&s->walk.space);
	uint32_t newest = s->found.revs.commits[0];

	s->bit_pos = malloc(end * sizeof(*s->bit_pos));
	s->object = malloc(end * sizeof(*s->object));
	assert_true(s->bit_pos && s->object);
	s->bits = end;
	for (uint32_t i = 0; i < end; i++)
		s->bit_pos[i] = i;
	for (uint32_t i = end - 1; i > 0; i--)
		swap_bits(s, i, (uint32_t)(random_next(seed) % (i + 1)));
	for (uint32_t i = 0; i < end; i++)
		if (!s->bit_pos[i]) {
			swap_bits(s, i,
				  s->walk.history.commits[newest].obj_pos);
			break;
		}
	for (uint32_t i = 0; i < end; i++) {
		struct oid oid;

		objspace_oid(&oid, &s->walk.space, i);
		s->object[s->bit_pos[i]] = randrepo_find(&s->r, &oid);
	}
}

static void sample_init(struct sample *s, uint32_t commits, uint64_t *seed)
{
	memset(s, 0, sizeof(*s));
	randrepo_init(&s->r, HASH_SHA1, seed);
	randrepo_history(&s->r, commits);
	randrepo_store_pack(&s->r);
	assert_int_equal(odb_open(&s->odb, &s->r.t.repo, NULL, NULL), 0);
	assert_int_equal(walk_open(&s->walk, s->odb, NULL, 0, NULL), 0);
	enumerate(s);
	number(s, seed);
	s->in = (struct bitmap_build_input){
		.history = &s->walk.history,
		.commits = s->found.parents_first,
		.commit_nr = s->found.revs.nr,
		.lists = &s->found.lists,
		.bit_pos = s->bit_pos,
		.bits = s->bits,
	};
}

static void sample_release(struct sample *s)
{
	free(s->bit_pos);
	free(s->object);
	walk_result_release(&s->found);
	walk_close(&s->walk);
	odb_close(s->odb);
	randrepo_release(&s->r);
}

static uint32_t object_of(struct sample *s, uint32_t commit_nr)
{
	uint32_t obj = s->walk.history.commits[commit_nr].obj_pos;

	return s->object[s->bit_pos[obj]];
}

/*
 * Decodes the bitmap of entry i by XORing it with the bitmaps on which it
 * depends. Asserts that the number of these bitmaps is within the limits.
 */
static void unpack(struct bitset *set, const struct bitmap_built *built,
		   size_t i)
{
	unsigned links = 0;
	size_t words = 0;

	for (;; i -= built[i].xor_offset, links++) {
		struct ewah_view view = ewah_view_of(&built[i].bitmap);

		ewah_xor_into(set, &view);
		words += view.word_nr;
		if (!built[i].xor_offset)
			break;
		assert_true(built[i].xor_offset <= i);
		assert_true(built[i].xor_offset <= BITMAP_WRITE_XOR_OFFSET);
	}
	assert_true(links <= BITMAP_CHAIN_LINKS);
	assert_true(words <=
		    BITMAP_CHAIN_WORDS + BITMAP_CHAIN_FACTOR * set->word_nr);
}

static void check(struct sample *s, const struct bitmap_built *built, size_t nr)
{
	bool *reached = calloc(RANDREPO_MAX, sizeof(*reached));
	size_t xored = 0;

	assert_non_null(reached);
	for (size_t i = 0; i < nr; i++) {
		struct bitset set;

		assert_int_equal(bitset_init(&set, s->bits), 0);
		unpack(&set, built, i);
		xored += built[i].xor_offset != 0;
		memset(reached, 0, RANDREPO_MAX);
		randrepo_reach(&s->r, reached,
			       object_of(s, built[i].commit_nr));
		for (uint32_t bit = 0; bit < s->bits; bit++)
			assert_int_equal(bitset_test(&set, bit),
					 reached[s->object[bit]]);
		bitset_release(&set);
	}
	assert_true(nr < 100 || xored > nr / 4);
	free(reached);
}

/*
 * Checks that a pseudo-merge has exactly the objects that at least one of its
 * commits reaches.
 */
static void check_group(struct sample *s, const struct bitmap_group *group,
			const struct bitmap_built_group *built)
{
	struct ewah_view commits = ewah_view_of(&built->commits);
	struct ewah_view objects = ewah_view_of(&built->objects);
	bool *reached = calloc(RANDREPO_MAX, sizeof(*reached));

	assert_non_null(reached);
	assert_int_equal(ewah_count(&commits), group->nr);
	for (size_t i = 0; i < group->nr; i++) {
		uint32_t nr = object_of(s, group->commits[i]);

		randrepo_reach(&s->r, reached, nr);
		for (uint32_t bit = 0; bit < s->bits; bit++)
			if (s->object[bit] == nr)
				assert_true(ewah_test(&commits, bit));
	}
	for (uint32_t bit = 0; bit < s->bits; bit++)
		assert_int_equal(ewah_test(&objects, bit),
				 reached[s->object[bit]]);
	free(reached);
}

/* Checks that a build with a lower limit of memory gives the same bitmaps. */
static void same_with_less_memory(struct sample *s)
{
	static const size_t limits[] = {0, 1, 2000};
	struct bitmap_build_result built[ARRAY_NR(limits)];

	for (size_t l = 0; l < ARRAY_NR(limits); l++) {
		s->in.memory_limit = limits[l];
		assert_int_equal(bitmap_build(&built[l], &s->in, NULL), 0);
		for (size_t i = 0; i < built[0].entry_nr; i++) {
			struct bitmap_built *a = &built[0].entries[i];
			struct bitmap_built *b = &built[l].entries[i];

			assert_int_equal(a->xor_offset, b->xor_offset);
			assert_int_equal(a->bitmap.word_nr, b->bitmap.word_nr);
			assert_memory_equal(a->bitmap.words, b->bitmap.words,
					    a->bitmap.word_nr *
						    sizeof(uint64_t));
		}
	}
	for (size_t l = 0; l < ARRAY_NR(limits); l++)
		bitmap_build_result_release(&built[l]);
	s->in.memory_limit = 0;
}

/*
 * Builds bitmaps of random commits. Each commit is selected with a probability
 * of `keep` in 16.
 */
static void build_some(struct sample *s, unsigned keep, uint64_t *seed)
{
	uint32_t *selected = calloc(s->found.revs.nr, sizeof(*selected));
	struct bitmap_build_result built;
	struct bitmap_group groups[3];
	size_t nr = 0;

	assert_non_null(selected);
	for (size_t i = 0; i < s->found.revs.nr; i++)
		if (random_next(seed) % 16 < keep)
			selected[nr++] = s->found.revs.commits[i];
	s->in.selected = selected;
	s->in.selected_nr = nr;
	for (size_t i = 0; i < ARRAY_NR(groups); i++)
		groups[i] = (struct bitmap_group){
			s->found.revs.commits +
				random_next(seed) % (s->found.revs.nr - 9),
			1 + random_next(seed) % 9,
		};
	groups[0].commits = s->found.revs.commits;
	s->in.groups = groups;
	s->in.group_nr = ARRAY_NR(groups);
	assert_int_equal(bitmap_build(&built, &s->in, NULL), 0);
	assert_int_equal(built.entry_nr, nr);
	check(s, built.entries, nr);
	for (size_t i = 0; i < ARRAY_NR(groups); i++)
		check_group(s, &groups[i], &built.groups[i]);
	bitmap_build_result_release(&built);
	same_with_less_memory(s);
	free(selected);
}

static void any_selection(void **state)
{
	static const unsigned keep[] = {16, 8, 3, 1, 0};
	uint64_t seed = random_seed();
	struct sample s;

	sample_init(&s, 150, &seed);
	for (size_t i = 0; i < ARRAY_NR(keep); i++)
		build_some(&s, keep[i], &seed);
	sample_release(&s);
}

/*
 * A bitmap can only name objects of its pack. Here, the pack lacks a reachable
 * object, so the build must fail.
 */
static void not_closed(void **state)
{
	uint64_t seed = random_seed();
	struct bitmap_build_result built;
	struct sample s;

	sample_init(&s, 20, &seed);
	s.in.selected = s.found.revs.commits;
	s.in.selected_nr = s.found.revs.nr;
	for (uint32_t obj = 0; obj < s.bits; obj += 7) {
		struct error err = ERROR_INIT;
		char hex[OID_MAX_HEX_LEN + 1];
		uint32_t bit = s.bit_pos[obj];

		if (s.r.objects[s.object[bit]].type == OBJ_TAG)
			continue;
		s.bit_pos[obj] = UINT32_MAX;
		assert_int_equal(bitmap_build(&built, &s.in, &err),
				 ERR_MISSING);
		bitmap_build_result_release(&built);
		oid_to_hex(hex, &s.r.objects[s.object[bit]].oid, HASH_SHA1);
		assert_non_null(strstr(err.msg, hex));
		s.bit_pos[obj] = bit;
	}
	sample_release(&s);
}

/*
 * Writes a bitmap index with a lookup table to *out. Its only bitmap is of the
 * commit `c`, and has only the bit of this commit.
 */
static void write_below(struct buf *out, const struct sample *s, uint32_t c)
{
	uint32_t bit = s->bit_pos[s->walk.history.commits[c].obj_pos];
	struct ewah types[BITMAP_TYPE_NR], set;
	const struct bitmap_write_entry entry = {
		.idx_pos = bitmap_space_idx_pos(s->in.space, bit),
		.bitmap = &set,
	};
	const struct bitmap_write write = {
		.algo = HASH_SHA1,
		.object_nr = s->bits,
		.types = types,
		.entries = &entry,
		.entry_nr = 1,
		.lookup_table = true,
	};

	ewah_init(&set);
	assert_int_equal(ewah_set(&set, bit), 0);
	for (int i = 0; i < BITMAP_TYPE_NR; i++)
		ewah_init(&types[i]);
	assert_int_equal(bitmap_file_write(out, &write, NULL), 0);
	ewah_release(&set);
}

/*
 * A layer below has a bitmap of the selected commit. The build must copy this
 * bitmap instead of listing objects. To notice the copy, the test has made a
 * bitmap with only the bit of the commit. A new bitmap would also have the bit
 * of the commit's tree. If the offset of the bitmap in the layer below is
 * wrong, so that the bitmap cannot be read, the build must fail.
 */
static void from_below(void **state)
{
	uint64_t seed = random_seed();
	struct bitmap_build_result built;
	struct bitmap_space space;
	struct bitmap_file below;
	struct buf bytes = BUF_INIT;
	struct ewah_view view;
	struct sample s;
	uint32_t oldest;

	sample_init(&s, 20, &seed);
	space = bitmap_space_of_pack(s.odb, &s.odb->packs[0],
				     pack_get_rev(s.odb->packs[0].pack, NULL));
	for (uint32_t i = 0; i < s.bits; i++)
		assert_true(bitmap_space_bit(&space, &s.walk.space, i,
					     &s.bit_pos[i]));
	s.in.space = &space;
	oldest = s.in.commits[0];
	write_below(&bytes, &s, oldest);
	assert_int_equal(bitmap_file_parse(&below, bytes.data, bytes.len,
					   s.bits, HASH_SHA1, "below", NULL),
			 0);
	s.in.below = &below;
	s.in.selected = &oldest;
	s.in.selected_nr = 1;
	assert_int_equal(bitmap_build(&built, &s.in, NULL), 0);
	view = ewah_view_of(&built.entries[0].bitmap);
	assert_int_equal(ewah_count(&view), 1);
	bitmap_build_result_release(&built);
	/* Change the offset of the bitmap in the lookup table. */
	bytes.data[below.lookup + 4 - below.bytes] ^= 0x40;
	assert_int_equal(bitmap_build(&built, &s.in, NULL), ERR_CORRUPT);
	bitmap_build_result_release(&built);
	bitmap_file_release(&below);
	buf_release(&bytes);
	sample_release(&s);
}

/*
 * A root commit has many objects and one child. The bitmaps of 40 other
 * commits, which do not reach the root, stand between the bitmaps of the root
 * and of the child. Still, the bitmap of the child must be XORed with the
 * bitmap of the root.
 */
static void far_parent(void **state)
{
	enum { BETWEEN = 40, CHILD = 1 + BETWEEN, MANY = 200, STEP = 3 };
	struct treediff_object many[MANY];
	struct newobj_list lists[CHILD + 1] = {{.items = many, .nr = MANY}};
	const struct newobj_set set = {.lists = lists, .nr = CHILD + 1};
	uint32_t commits[CHILD + 1], bit_pos[CHILD + 1 + MANY], root = 0;
	struct bitmap_build_result built;
	struct bitmap_build_input in = {
		.commits = commits,
		.commit_nr = CHILD + 1,
		.lists = &set,
		.bit_pos = bit_pos,
		.bits = STEP * (CHILD + 1 + MANY),
		.selected = commits,
		.selected_nr = CHILD + 1,
	};
	struct dag d;

	dag_init(&d);
	for (uint32_t c = 0; c <= CHILD; c++) {
		uint32_t parent = c == CHILD ? root : c - 1;

		dag_add(&d, 1000 + c, false, &parent, c > 1);
		d.h.commits[c].obj_pos = commits[c] = c;
	}
	/*
	 * The bit positions of the objects are not adjacent, so bitmaps cannot
	 * be compressed.
	 */
	for (uint32_t i = 0; i < CHILD + 1 + MANY; i++)
		bit_pos[i] = STEP * i;
	for (uint32_t i = 0; i < MANY; i++)
		many[i].obj_pos = CHILD + 1 + i;
	in.history = &d.h;
	assert_int_equal(bitmap_build(&built, &in, NULL), 0);
	assert_int_equal(built.entries[CHILD].commit_nr, CHILD);
	assert_int_equal(built.entries[CHILD].xor_offset, CHILD - root);
	bitmap_build_result_release(&built);
	dag_release(&d);
}

static void put(void *ctx, const char *text, size_t len)
{
	assert_int_equal(buf_append(ctx, text, len), 0);
}

/* Each bitmap is counted in the progress meter. */
static void progress(void **state)
{
	uint64_t seed = random_seed();
	struct buf text = BUF_INIT;
	const struct progress_out out = {.put = put, .ctx = &text};
	struct bitmap_build_result built;
	struct sample s;

	sample_init(&s, 10, &seed);
	s.in.selected = s.found.revs.commits;
	s.in.selected_nr = 4;
	s.in.progress = &out;
	assert_int_equal(bitmap_build(&built, &s.in, NULL), 0);
	assert_string_equal(text.data, "Building bitmaps:  25% (1/4)\r"
				       "Building bitmaps:  50% (2/4)\r"
				       "Building bitmaps:  75% (3/4)\r"
				       "Building bitmaps: 100% (4/4)\r"
				       "Building bitmaps: 100% (4/4), done.\n");
	bitmap_build_result_release(&built);
	buf_release(&text);
	sample_release(&s);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_selection), cmocka_unit_test(not_closed),
		cmocka_unit_test(from_below),    cmocka_unit_test(far_parent),
		cmocka_unit_test(progress),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
