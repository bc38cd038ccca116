/* SPDX-License-Identifier: MIT */
/*
 * Tests of deltas/delta-search.c, which searches deltas for a new pack. They
 * prove that the deltas are correct, that no chain is too long, and that every
 * run gives the same deltas.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "deltas/delta-search.h"
#include "t/unit/deltalist.h"

/*
 * Add items to the list: versions of several texts, as blobs and as tag
 * objects.
 */
static void add_texts(struct deltalist *d, unsigned names, unsigned versions)
{
	uint64_t seed = random_seed();

	for (uint32_t i = 0; i < names; i++) {
		deltalist_add_versions(d, OBJ_BLOB, 1000 + i, versions, &seed);
		deltalist_add_versions(d, OBJ_BLOB, 7, 1, &seed);
	}
	deltalist_add_versions(d, OBJ_TAG, 0, versions, &seed);
}

static void deltas_give_back_targets(void **state)
{
	struct delta_search_options options = deltalist_options;
	struct deltalist d;

	deltalist_init(&d);
	add_texts(&d, 6, 20);
	options.window = 0;
	deltalist_search(&d, &options);
	assert_int_equal(deltalist_verify(&d, 0), 0);
	options.window = 10;
	deltalist_search(&d, &options);
	assert_int_equal(deltalist_verify(&d, 50), 7 * 19);
	deltalist_release(&d);
}

static void depth_is_kept(void **state)
{
	struct delta_search_options options = deltalist_options;
	struct deltalist d;

	deltalist_init(&d);
	add_texts(&d, 4, 30);
	for (options.depth = 0; options.depth < 5; options.depth++) {
		size_t deltas;

		deltalist_search(&d, &options);
		deltas = deltalist_verify(&d, options.depth);
		assert_true(options.depth ? deltas > 100 : !deltas);
		deltalist_reset(&d);
	}
	deltalist_release(&d);
}

/*
 * A chain of deltas that are copied from packs ends at an object that is stored
 * whole. If the search makes a delta of this object, the chain gets longer. The
 * length of the chain must stay within the limit.
 */
static void depth_with_copied_deltas(void **state)
{
	struct delta_search_options options = deltalist_options;
	struct packing_item *items;
	struct deltalist d;
	size_t rooted = 0;

	deltalist_init(&d);
	add_texts(&d, 4, 30);
	items = d.list.items;
	for (uint32_t i = 1; i < d.list.nr; i++) {
		uint32_t base = i % 5 ? i - 1 : i / 2;

		if (i % 7 == 0 || items[base].type != items[i].type)
			continue;
		items[i].how = PACKING_COPY_DELTA;
		items[i].base = base;
	}
	/*
	 * The base of this copied delta is an object that only the receiver
	 * has.
	 */
	items[d.list.nr - 1].base = PACKING_NO_ITEM;
	options.depth = 8;
	deltalist_search(&d, &options);
	/*
	 * A chain of deltas that are all copied from packs may be longer than
	 * the limit.
	 */
	deltalist_verify(&d, 16);
	for (uint32_t i = 0; i < d.list.nr; i++) {
		uint32_t chain = 0, at = i;
		bool found = items[i].how == PACKING_DELTA;

		while (items[at].base != PACKING_NO_ITEM) {
			at = items[at].base;
			found |= items[at].how == PACKING_DELTA;
			chain++;
		}
		/*
		 * A chain that has a new delta must not be longer than the
		 * limit.
		 */
		assert_true(!found || chain <= 8);
		rooted += found && items[i].how == PACKING_COPY_DELTA;
	}
	assert_true(rooted > 0);
	deltalist_release(&d);
}

static void external_bases(void **state)
{
	struct delta_search_options options = deltalist_options;
	struct deltalist d;
	uint64_t seed = random_seed();

	deltalist_init(&d);
	for (unsigned i = 0; i < 5; i++)
		deltalist_add_versions(&d, OBJ_BLOB, i, 2, &seed);
	for (uint32_t i = 0; i < d.list.nr; i++) {
		d.list.items[i].is_external = i & 1;
		d.list.items[i].pack_nr = 0;
	}
	deltalist_search(&d, &options);
	assert_int_equal(deltalist_verify(&d, 50), 5);
	for (uint32_t i = 0; i < d.list.nr; i += 2)
		assert_int_equal(d.list.items[i].base, i + 1);
	deltalist_release(&d);
}

static void remove_objects(struct deltalist *d)
{
	nftw(d->repo.objects, tmprepo_remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/*
 * If two objects are stored in the same pack, an earlier search has compared
 * them already. So they are neither compared nor read, unless retry_same_pack
 * is set.
 */
static void one_pack(void **state)
{
	struct delta_search_options options = deltalist_options;
	struct deltalist d;

	deltalist_init(&d);
	add_texts(&d, 3, 10);
	for (uint32_t i = 0; i < d.list.nr; i++)
		d.list.items[i].pack_nr = 2;
	options.retry_same_pack = true;
	deltalist_search(&d, &options);
	assert_int_equal(deltalist_verify(&d, 50), 4 * 9);
	deltalist_reset(&d);
	options.retry_same_pack = false;
	remove_objects(&d);
	deltalist_search(&d, &options);
	for (uint32_t i = 0; i < d.list.nr; i++)
		assert_int_equal(d.list.items[i].how, PACKING_WHOLE);
	deltalist_release(&d);
}

static void two_packs(void **state)
{
	struct packing_item *items;
	struct deltalist d;

	deltalist_init(&d);
	add_texts(&d, 3, 20);
	items = d.list.items;
	for (uint32_t i = 0; i < d.list.nr; i++)
		items[i].pack_nr = i % 5 == 0;
	deltalist_search(&d, &deltalist_options);
	assert_true(deltalist_verify(&d, 50) > 30);
	for (uint32_t i = 0; i < d.list.nr; i++)
		if (items[i].how == PACKING_DELTA)
			assert_int_not_equal(items[i].pack_nr,
					     items[items[i].base].pack_nr);
	deltalist_release(&d);
}

static void any_number_of_threads(void **state)
{
	struct delta_search_options options = deltalist_options;
	static uint32_t bases[DELTALIST_MAX], sizes[DELTALIST_MAX];
	struct deltalist d;

	deltalist_init(&d);
	add_texts(&d, 30, 20);
	options.grouping = *state ? PATH_GROUP_PATH : PATH_GROUP_NONE;
	for (uint32_t i = 0; i < d.list.nr; i++)
		d.list.items[i].path_hash = i / 33;
	for (options.threads = 1; options.threads <= 3; options.threads++) {
		deltalist_search(&d, &options);
		for (uint32_t i = 0; i < d.list.nr; i++) {
			const struct packing_item *item = &d.list.items[i];

			if (options.threads > 1) {
				assert_int_equal(bases[i], item->base);
				assert_int_equal(sizes[i], item->delta_size);
			}
			bases[i] = item->base;
			sizes[i] = item->delta_size;
		}
		if (options.threads == 3)
			assert_int_equal(deltalist_verify(&d, 50), 31 * 19);
		deltalist_reset(&d);
	}
	deltalist_release(&d);
}

static void little_cache(void **state)
{
	struct delta_search_options options = deltalist_options;
	struct deltalist d;
	size_t kept = 0, made = 0;
	uint64_t bytes = 0;

	deltalist_init(&d);
	add_texts(&d, 3, 20);
	options.cache_size = 300;
	options.threads = 2;
	deltalist_search(&d, &options);
	for (uint32_t i = 0; i < d.list.nr; i++) {
		const struct packing_item *item = &d.list.items[i];

		kept += !!item->delta;
		made += item->how == PACKING_DELTA && !item->delta;
		bytes += item->delta_len;
	}
	assert_true(kept > 0 && bytes <= 300);
	assert_int_equal(kept + made, 4 * 19);
	assert_int_equal(deltalist_verify(&d, 50), 4 * 19);
	/*
	 * Set the limit of kept bytes just below the size of the largest delta,
	 * so that the search does not keep this delta.
	 */
	for (uint32_t i = 0; i < d.list.nr; i++)
		if (d.list.items[i].delta_size > options.cache_limit + 1)
			options.cache_limit = d.list.items[i].delta_size - 1;
	deltalist_reset(&d);
	options.cache_size = 0;
	deltalist_search(&d, &options);
	kept = made = 0;
	for (uint32_t i = 0; i < d.list.nr; i++) {
		const struct packing_item *item = &d.list.items[i];

		if (item->how != PACKING_DELTA)
			continue;
		assert_int_equal(!item->delta,
				 item->delta_size > options.cache_limit);
		kept += !!item->delta;
		made += !item->delta;
	}
	assert_true(kept > 0 && made > 0);
	assert_int_equal(deltalist_verify(&d, 50), 4 * 19);
	deltalist_release(&d);
}

/*
 * Add two versions of random bytes. The second one differs in its first `len`
 * bytes, and lacks the last byte.
 */
static void add_pair(struct deltalist *d, uint32_t name_hash, size_t len,
		     uint64_t *seed)
{
	uint8_t bytes[4000];

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)random_next(seed);
	deltalist_add(d, OBJ_BLOB, name_hash, bytes, sizeof(bytes));
	for (size_t i = 0; i < len; i++)
		bytes[i] = (uint8_t)random_next(seed);
	deltalist_add(d, OBJ_BLOB, name_hash, bytes, sizeof(bytes) - 1);
}

/*
 * A delta that exceeds the cache by itself is not kept, and takes no room in
 * the cache: the smaller deltas after it are kept.
 */
static void deltas_larger_than_the_cache(void **state)
{
	struct delta_search_options options = deltalist_options;
	uint64_t seed = random_seed();
	struct deltalist d;

	deltalist_init(&d);
	for (uint32_t i = 0; i < 5; i++)
		add_pair(&d, 1000 * i, i % 2 ? 10 : 1000, &seed);
	options.cache_size = 200;
	options.threads = 1;
	deltalist_search(&d, &options);
	assert_int_equal(deltalist_verify(&d, 50), 5);
	for (uint32_t i = 0; i < d.list.nr; i++) {
		const struct packing_item *item = &d.list.items[i];

		if (item->how == PACKING_DELTA)
			assert_int_equal(!item->delta, item->delta_size > 200);
	}
	deltalist_release(&d);
}

/*
 * Add versions of 40 texts. Eight texts at a time have the same name hash. The
 * path hash is another hash, of the whole path. Two of three versions of a text
 * have the same path hash, and the others have a random one.
 */
static void add_paths(struct deltalist *d)
{
	uint64_t seed = random_seed();

	for (uint32_t i = 0; i < 40; i++) {
		size_t first = d->list.nr;

		deltalist_add_versions(d, i % 5 ? OBJ_BLOB : OBJ_TREE, i / 8,
				       1 + (unsigned)(random_next(&seed) % 30),
				       &seed);
		for (size_t k = first; k < d->list.nr; k++)
			d->list.items[k].path_hash =
				(uint32_t)(k % 3 ? i : random_next(&seed) % 40);
	}
}

/*
 * If deltas are grouped by path, the search has three passes. Afterwards, no
 * chain is too long, and no chain is a cycle. At least as many deltas are found
 * as without grouping.
 */
static void by_path(void **state)
{
	struct delta_search_options options = deltalist_options;
	uint64_t plain = 0, paths = 0;
	struct deltalist d;

	deltalist_init(&d);
	add_paths(&d);
	for (options.depth = 1; options.depth < 60; options.depth *= 3) {
		options.window = 2 + options.depth % 7;
		options.grouping = PATH_GROUP_NONE;
		deltalist_search(&d, &options);
		plain += deltalist_verify(&d, options.depth);
		deltalist_reset(&d);
		options.grouping = PATH_GROUP_PATH;
		deltalist_search(&d, &options);
		paths += deltalist_verify(&d, options.depth);
		deltalist_reset(&d);
	}
	assert_true(paths >= plain);
	deltalist_release(&d);
}

/*
 * In the order of name hashes, versions of other files can stand between two
 * versions of one file. In the order of paths, the versions of a file are
 * neighbours, so better deltas are found.
 */
static void paths_in_one_name(void **state)
{
	struct delta_search_options options = deltalist_options;
	struct deltalist d;
	uint64_t seed = random_seed();

	deltalist_init(&d);
	for (uint32_t i = 0; i < 12; i++) {
		size_t first = d.list.nr;

		deltalist_add_versions(&d, OBJ_BLOB, 7, 5, &seed);
		for (size_t k = first; k < d.list.nr; k++)
			d.list.items[k].path_hash = 100 + i;
	}
	options.window = 3;
	deltalist_search(&d, &options);
	assert_int_equal(deltalist_verify(&d, 50), 0);
	for (int g = PATH_GROUP_COMPONENTS; g <= PATH_GROUP_PATH; g++) {
		options.grouping = g;
		deltalist_search(&d, &options);
		assert_int_equal(deltalist_verify(&d, 50), 12 * 4);
		deltalist_reset(&d);
	}
	deltalist_release(&d);
}

/* A later pass replaces a delta by a better one. */
static void improved(void **state)
{
	struct delta_search_options options = deltalist_options;
	char text[4000], half[4000];
	struct deltalist d;
	uint64_t seed = random_seed();

	deltalist_init(&d);
	text_make(text, sizeof(text), &seed);
	memcpy(half, text, sizeof(half));
	text_make(half, 1500, &seed);
	deltalist_add(&d, OBJ_BLOB, 7, half, 4000)->path_hash = 1;
	deltalist_add(&d, OBJ_BLOB, 7, text, 3900)->path_hash = 2;
	deltalist_add(&d, OBJ_BLOB, 7, text, 3800)->path_hash = 1;
	options.grouping = PATH_GROUP_PATH;
	options.cache_size = 5000;
	deltalist_search(&d, &options);
	assert_int_equal(deltalist_verify(&d, 50), 2);
	assert_int_equal(d.list.items[2].base, 1);
	assert_true(d.list.items[2].delta_size < 50);
	assert_non_null(d.list.items[2].delta);
	deltalist_release(&d);
}

static void put(void *ctx, const char *text, size_t len)
{
	assert_int_equal(buf_append(ctx, text, len), 0);
}

static void progress(void **state)
{
	struct delta_search_options options = deltalist_options;
	struct buf text = BUF_INIT;
	struct progress_out out = {.put = put, .ctx = &text};
	struct deltalist d;

	deltalist_init(&d);
	add_texts(&d, 2, 5);
	options.progress = &out;
	deltalist_search(&d, &options);
	/*
	 * The first candidate of each type is not counted, because it has no
	 * possible delta base.
	 */
	assert_int_equal(buf_append_char(&text, '\0'), 0);
	assert_non_null(strstr(text.data,
			       "Compressing objects: 100% (15/15), done.\n"));
	buf_release(&text);
	deltalist_release(&d);
}

/*
 * A name hash. The files of a test have the name hashes FILE_HASH, FILE_HASH +
 * 1, FILE_HASH + 2, and so on, like paths that end with the same nine
 * characters. The characters before the last nine change only the lowest bits
 * of a name hash. These bits are 0 in FILE_HASH.
 */
#define FILE_HASH UINT32_C(0x92e74000)

/*
 * Add `versions` versions of each of `nr` files in different directories, from
 * the newest version to the oldest. All files have the same file name, and all
 * versions of all files are similar.
 */
static void add_similar(struct deltalist *d, uint32_t nr, unsigned versions)
{
	char first[TEXT_LINES * TEXT_LINE_LEN], text[sizeof(first)];
	uint64_t seed = random_seed();

	text_make(first, sizeof(first), &seed);
	for (uint32_t i = 0; i < nr * versions; i++) {
		memcpy(text, first, sizeof(text));
		text_edit(text, sizeof(text), 2, &seed);
		deltalist_add(d, OBJ_BLOB, FILE_HASH + i / versions, text,
			      sizeof(text));
	}
}

/*
 * The delta search divides the candidates into segments, which it searches
 * independently. In each segment, at least one object has no delta base. All
 * candidates of this test are similar files of different directories. They stay
 * in one segment, though they have more than four times the weight that a
 * segment should have. So only one file has no base.
 */
static void similar_files(void **state)
{
	struct deltalist d;

	deltalist_init(&d);
	add_similar(&d, 500, 1);
	deltalist_search(&d, &deltalist_options);
	assert_int_equal(deltalist_verify(&d, 50), 499);
	deltalist_release(&d);
}

/*
 * An object of the tip island may only have a base in the tip island. The tip
 * island has the newest version of each file. The window has room for ten
 * objects, and there are 20 old versions between the newest versions of two
 * files. Still each newest version but the first becomes a delta of another
 * newest version.
 */
static void tips_between_old_versions(void **state)
{
	struct islands islands = ISLANDS_INIT;
	struct deltalist d;
	size_t whole = 0;

	deltalist_init(&d);
	add_similar(&d, 20, 21);
	assert_int_equal(bitset_init(&islands.tip, d.list.nr), 0);
	for (uint32_t i = 0; i < d.list.nr; i += 21)
		bitset_set(&islands.tip, d.list.items[i].obj_pos);
	d.list.islands = &islands;
	deltalist_search(&d, &deltalist_options);
	for (uint32_t i = 0; i < d.list.nr; i += 21) {
		uint32_t base = d.list.items[i].base;

		whole += base == PACKING_NO_ITEM;
		assert_true(base == PACKING_NO_ITEM || base % 21 == 0);
	}
	assert_int_equal(whole, 1);
	assert_int_equal(deltalist_verify(&d, 50), d.list.nr - 1);
	deltalist_release(&d);
	islands_release(&islands);
}

/*
 * A file of the first layer (HEAD) must not have a base in the second layer
 * (other branches). The window has room for ten objects, and there are 20 files
 * of the second layer between two files of the first layer. Still each file of
 * the first layer, except one, becomes a delta of another file of this layer.
 */
static void tips_of_two_layers(void **state)
{
	struct islands islands = ISLANDS_INIT;
	uint8_t layers[20 * 21];
	struct deltalist d;
	size_t whole = 0;

	deltalist_init(&d);
	add_similar(&d, 20, 21);
	assert_int_equal(bitset_init(&islands.tip, d.list.nr), 0);
	for (uint32_t i = 0; i < d.list.nr; i++) {
		bitset_set(&islands.tip, i);
		layers[d.list.items[i].obj_pos] =
			i % 21 == 0 ? ISLANDS_LAYER_HEAD
				    : ISLANDS_LAYER_BRANCHES;
	}
	islands.layers = layers;
	islands.layer_end = (uint32_t)d.list.nr;
	d.list.islands = &islands;
	deltalist_search(&d, &deltalist_options);
	for (uint32_t i = 0; i < d.list.nr; i += 21) {
		uint32_t base = d.list.items[i].base;

		whole += base == PACKING_NO_ITEM;
		assert_true(base == PACKING_NO_ITEM || base % 21 == 0);
	}
	assert_int_equal(whole, 1);
	assert_int_equal(deltalist_verify(&d, 50), d.list.nr - 1);
	deltalist_release(&d);
	islands.layers = NULL;
	islands_release(&islands);
}

static void missing_objects(void **state)
{
	struct delta_search_options options = deltalist_options;
	struct odb_reader *reader;
	struct error err = ERROR_INIT;
	uint8_t *delta = NULL;
	uint32_t nr = 0;
	struct deltalist d;
	size_t len;

	deltalist_init(&d);
	add_texts(&d, 2, 5);
	deltalist_search(&d, &options);
	while (d.list.items[nr].how != PACKING_DELTA)
		nr++;
	remove_objects(&d);
	reader = odb_reader_new(d.odb, 0);
	assert_non_null(reader);
	assert_int_equal(delta_search_remake(&d.list, nr, reader, -1, &delta,
					     &len, &err),
			 ERR_MISSING);
	assert_null(delta);
	odb_reader_free(reader);
	deltalist_reset(&d);
	for (options.threads = 1; options.threads <= 2; options.threads++)
		assert_int_equal(delta_search_run(&d.list, &options, &err),
				 ERR_MISSING);
	deltalist_release(&d);
}

int main(void)
{
	static bool by_paths = true;
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(deltas_give_back_targets),
		cmocka_unit_test(depth_is_kept),
		cmocka_unit_test(depth_with_copied_deltas),
		cmocka_unit_test(external_bases),
		cmocka_unit_test(one_pack),
		cmocka_unit_test(two_packs),
		cmocka_unit_test(any_number_of_threads),
		cmocka_unit_test_prestate(any_number_of_threads, &by_paths),
		cmocka_unit_test(by_path),
		cmocka_unit_test(paths_in_one_name),
		cmocka_unit_test(improved),
		cmocka_unit_test(little_cache),
		cmocka_unit_test(deltas_larger_than_the_cache),
		cmocka_unit_test(progress),
		cmocka_unit_test(similar_files),
		cmocka_unit_test(tips_between_old_versions),
		cmocka_unit_test(tips_of_two_layers),
		cmocka_unit_test(missing_objects),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
