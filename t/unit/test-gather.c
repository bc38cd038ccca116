/* SPDX-License-Identifier: MIT */
/*
 * Tests of stored/gather.c, which downloads the files of a generation into the
 * cache. They prove that each needed file is in the cache afterwards. They also
 * prove that the side bundle, one file with the content of all small files,
 * saves requests.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "stored/cache.h"
#include "stored/side.h"
#include "t/unit/copynode.h"

#define FILES_MAX 64

struct fixture {
	struct copynode c;
	struct generation g;
	bool needed[FILES_MAX];
	struct stored_gather how;
};

static void fixture_init(struct fixture *f)
{
	memset(f, 0, sizeof(*f));
	copynode_init(&f->c);
	copynode_push(&f->c, "two");
	storedrepo_newest(&f->c.s, &f->g);
	assert_in_range(f->g.file_nr, 4, FILES_MAX);
	memset(f->needed, true, sizeof(f->needed));
	f->how = (struct stored_gather){
		.cache = f->c.node->cache,
		.place = &f->c.s.place,
		.g = &f->g,
		.needed = f->needed,
	};
	/* Use the store of the node, which counts reads. */
	f->c.s.place.store = f->c.node->store;
}

static void fixture_release(struct fixture *f)
{
	f->c.s.place.store = f->c.s.store;
	generation_release(&f->g);
	copynode_release(&f->c);
}

/*
 * Downloads the needed files into the cache. Returns the number of reads from
 * the store.
 */
static unsigned gather(struct fixture *f)
{
	unsigned before = f->c.count.reads;

	if (stored_gather(&f->how, &f->c.err))
		fail_msg("%s", f->c.err.msg);
	for (size_t i = 0; i < f->g.file_nr; i++)
		if (f->needed[i])
			assert_int_equal(
				stored_cache_has(f->how.cache, &f->g.files[i]),
				!stored_side_is(f->g.files[i].path));
	return f->c.count.reads - before;
}

static size_t pos_of(struct fixture *f, const char *start)
{
	return (size_t)(storedrepo_file(&f->g, start) - f->g.files);
}

static void test_bundle(void **state)
{
	struct fixture f;
	unsigned packs = 0;

	(void)state;
	fixture_init(&f);
	for (size_t i = 0; i < f.g.file_nr; i++)
		packs += !stored_side_takes(&f.g.files[i]);
	packs--;
	assert_int_equal(gather(&f), 1 + packs);
	/* The cache has all needed files now, so nothing is read. */
	assert_int_equal(gather(&f), 0);
	/*
	 * If only one small file is missing, this file is read. The side
	 * bundle, which has all small files, is not read.
	 */
	stored_cache_drop(f.how.cache, &f.g.files[pos_of(&f, "config")]);
	assert_int_equal(gather(&f), 1);
	/*
	 * Two small files are missing from the cache. The side bundle (the file
	 * with all small files) has both, so usually it would be read, by one
	 * request. But the bundle is marked as not needed, as if an earlier
	 * generation (version) had it. So the bundle is not read, and the two
	 * files are read one by one.
	 */
	f.needed[pos_of(&f, STORED_SIDE_PATH)] = false;
	stored_cache_drop(f.how.cache, &f.g.files[pos_of(&f, "config")]);
	stored_cache_drop(f.how.cache,
			  &f.g.files[pos_of(&f, GENERATION_TABLES)]);
	assert_int_equal(gather(&f), 2);
	fixture_release(&f);
}

/*
 * A side bundle (one file with the content of all small files) may be damaged
 * or missing, or may lack files. Then the small files are read one by one, and
 * there is no error.
 */
static void test_useless_bundle(void **state)
{
	struct fixture f;
	struct generation_file *bundle;

	(void)state;
	fixture_init(&f);
	bundle = storedrepo_file(&f.g, STORED_SIDE_PATH);
	storedrepo_damage(&f.c.s, bundle, 0);
	assert_int_equal(gather(&f), f.g.file_nr);
	fixture_release(&f);

	fixture_init(&f);
	bundle = storedrepo_file(&f.g, STORED_SIDE_PATH);
	storedrepo_delete(&f.c.s, bundle);
	assert_int_equal(gather(&f), f.g.file_nr);
	fixture_release(&f);

	/*
	 * A push adds a file after the side bundle (the file with all small
	 * files) was made. So the bundle does not have the new file, which is
	 * read by a request of its own.
	 */
	fixture_init(&f);
	storedrepo_add_file(&f.c.s, &f.g, "objects/pack/pack-2.idx");
	generation_release(&f.g);
	storedrepo_newest(&f.c.s, &f.g);
	assert_int_equal(gather(&f),
			 f.g.file_nr - pos_of(&f, STORED_SIDE_PATH) + 1);
	fixture_release(&f);
}

struct question {
	unsigned nr;
	int ret;
};

static int ask(void *ctx, struct error *err)
{
	struct question *q = ctx;

	q->nr++;
	return q->ret ? error_set(err, (enum error_code)q->ret, "stop") : 0;
}

static void test_also(void **state)
{
	struct question q = {0, 0};
	struct fixture f;

	(void)state;
	fixture_init(&f);
	f.how.also = ask;
	f.how.ctx = &q;
	gather(&f);
	assert_int_equal(q.nr, 1);
	/* stored_gather() calls how.also() even if the cache has all files. */
	gather(&f);
	assert_int_equal(q.nr, 2);
	q.ret = ERR_IO;
	assert_int_equal(stored_gather(&f.how, &f.c.err), ERR_IO);
	assert_string_equal(f.c.err.msg, "stop");
	fixture_release(&f);
}

static void test_store_down(void **state)
{
	struct fixture f;

	(void)state;
	fixture_init(&f);
	f.c.count.is_down = true;
	assert_int_equal(stored_gather(&f.how, &f.c.err), ERR_IO);
	f.c.count.is_down = false;
	fixture_release(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bundle),
		cmocka_unit_test(test_useless_bundle),
		cmocka_unit_test(test_also),
		cmocka_unit_test(test_store_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
