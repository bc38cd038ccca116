/* SPDX-License-Identifier: MIT */
/*
 * Tests of publish/publish.c, which publishes packs for clients to download
 * from a web server: the right packs are published, and old ones are removed
 * after a grace period.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "base/bytes.h"
#include "object/hash.h"
#include "prepared/prepared.h"
#include "publish/publish.h"
#include "sys/io.h"
#include "t/unit/bitmaprepo.h"

#define DAY INT64_C(86400)

struct fixture {
	struct randrepo r;
	struct published_config config;
	char *place;
	/* Number of times that each event was reported. */
	unsigned events[PUBLISH_REMOVED + 1];
};

static void start(struct fixture *f, uint64_t *seed)
{
	struct buf text = BUF_INIT;
	struct repo *repo = &f->r.t.repo;

	memset(f, 0, sizeof(*f));
	randrepo_init(&f->r, *seed % 2 ? HASH_SHA256 : HASH_SHA1, seed);
	randrepo_history(&f->r, 100);
	randrepo_all_refs(&f->r);
	for (int i = 0; i < 20; i++)
		randrepo_grow(&f->r);
	randrepo_ref(&f->r, "refs/pull/1/head",
		     f->r.commits[f->r.commit_nr - 1]);
	randrepo_store_pack(&f->r);
	bitmaprepo_repack(&f->r, true, true);
	buf_printf(&text,
		   "[gitreach]\npublishDirectory = %s/web\n"
		   "publishMinimum = 1\npublishUri = http://x\n",
		   f->r.t.dir);
	assert_int_equal(config_parse(&repo->config, text.data, text.len,
				      CONFIG_LOCAL, NULL, NULL, NULL),
			 0);
	assert_int_equal(published_config_load(&f->config, repo, NULL), 0);
	tmprepo_write(&f->r.t, "objects/" PUBLISHED_SALT,
		      "00112233445566778899aabbccddeeff\n");
	f->place = published_place(&f->config, f->r.t.objects, NULL);
	buf_release(&text);
}

static void finish(struct fixture *f)
{
	free(f->place);
	published_config_release(&f->config);
	config_release(&f->r.t.repo.config);
	randrepo_release(&f->r);
}

static void note(void *ctx, enum publish_event event, const char *name,
		 uint64_t len)
{
	struct fixture *f = ctx;

	(void)name;
	assert_true(len > PACK_HEADER_LEN);
	f->events[event]++;
}

static int run_at(struct fixture *f, int64_t now)
{
	const struct publish_options options = {
		.note = note, .ctx = f, .now = now};

	memset(f->events, 0, sizeof(f->events));
	return publish_run(&f->r.t.repo, &f->config, &options, NULL);
}

/*
 * Check how many files were reported as new, kept, retired (not offered any
 * more), and removed.
 */
static void check_events(const struct fixture *f, unsigned made, unsigned kept,
			 unsigned retired, unsigned removed)
{
	assert_int_equal(f->events[PUBLISH_WRITTEN] + f->events[PUBLISH_LINKED],
			 made);
	assert_int_equal(f->events[PUBLISH_KEPT], kept);
	assert_int_equal(f->events[PUBLISH_RETIRED], retired);
	assert_int_equal(f->events[PUBLISH_REMOVED], removed);
}

/*
 * Callback for each file of the publish directory, except the lock. Checks that
 * the file is a pack, and that its name contains the pack's checksum. Returns
 * 0.
 */
static int check_file(void *ctx, const char *name)
{
	const struct fixture *f = ctx;
	enum hash_algo algo = f->r.t.repo.algo;
	struct buf path = BUF_INIT, bytes = BUF_INIT, expect = BUF_INIT;
	struct oid checksum;

	if (!strcmp(name, "lock"))
		return 0;
	buf_printf(&path, "%s/%s", f->place, name);
	assert_int_equal(sys_read_any(&bytes, path.data, NULL), 0);
	assert_int_equal(
		hash_check_trailer(bytes.data, bytes.len, algo, "", NULL), 0);
	oid_from_raw(&checksum,
		     (const uint8_t *)bytes.data + bytes.len - hash_len(algo),
		     algo);
	published_pack_name(&expect, &checksum, algo);
	assert_string_equal(name, expect.data);
	buf_release(&path);
	buf_release(&bytes);
	buf_release(&expect);
	return 0;
}

static void test_life(void **state)
{
	uint64_t seed = random_seed();

	for (int round = 0; round < 4; round++) {
		struct fixture f;
		struct buf left = BUF_INIT;

		start(&f, &seed);
		assert_int_equal(run_at(&f, 10 * DAY), ERR_MISSING);
		tmprepo_write(&f.r.t, "web/index.html", "");
		assert_int_equal(run_at(&f, 10 * DAY), 0);
		check_events(&f, 3, 0, 0, 0);
		assert_int_equal(sys_dir_each(f.place, check_file, &f, NULL),
				 0);
		/* A temporary file of a killed process is removed. */
		buf_printf(&left, "web/%s/tmp_publish_123",
			   strrchr(f.place, '/') + 1);
		tmprepo_write(&f.r.t, left.data, "x");
		assert_int_equal(run_at(&f, 11 * DAY), 0);
		check_events(&f, 0, 3, 0, 0);
		assert_int_equal(sys_dir_each(f.place, check_file, &f, NULL),
				 0);
		/*
		 * Without prepared answers (stored responses), all published
		 * packs are retired (not offered any more). After a repack,
		 * they are offered again.
		 */
		tmprepo_write(&f.r.t, "objects/info/prepared", "");
		assert_int_equal(run_at(&f, 20 * DAY), ERR_MISSING);
		tmprepo_remove(&f.r.t, "objects/info/prepared");
		assert_int_equal(run_at(&f, 20 * DAY), 0);
		check_events(&f, 0, 0, 3, 0);
		assert_int_equal(run_at(&f, 21 * DAY), 0);
		check_events(&f, 0, 0, 3, 0);
		bitmaprepo_repack(&f.r, true, true);
		assert_int_equal(run_at(&f, 23 * DAY), 0);
		check_events(&f, 0, 3, 0, 0);
		tmprepo_remove(&f.r.t, "objects/info/prepared");
		assert_int_equal(run_at(&f, 24 * DAY), 0);
		check_events(&f, 0, 0, 3, 0);
		assert_int_equal(run_at(&f, 25 * DAY + 1), 0);
		check_events(&f, 0, 0, 0, 3);
		assert_int_equal(sys_dir_each(f.place, check_file, &f, NULL),
				 0);
		buf_release(&left);
		finish(&f);
	}
}

static void set(struct fixture *f, const char *text)
{
	assert_int_equal(config_parse(&f->r.t.repo.config, text, strlen(text),
				      CONFIG_LOCAL, NULL, NULL, NULL),
			 0);
	published_config_release(&f->config);
	assert_int_equal(published_config_load(&f->config, &f->r.t.repo, NULL),
			 0);
}

static void test_choice(void **state)
{
	uint64_t seed = random_seed();
	struct fixture f;

	start(&f, &seed);
	tmprepo_write(&f.r.t, "web/index.html", "");
	set(&f, "[gitreach]\npublishMinimum = 1g\n");
	assert_int_equal(run_at(&f, DAY), 0);
	check_events(&f, 0, 0, 0, 0);
	set(&f, "[gitreach]\npublishMinimum = 1\n"
		"[transfer]\nhideRefs = refs/pull\n");
	assert_int_equal(run_at(&f, DAY), 0);
	check_events(&f, 2, 0, 0, 0);
	set(&f, "[transfer]\nhideRefs = !refs/pull\n");
	assert_int_equal(run_at(&f, DAY), 0);
	check_events(&f, 1, 2, 0, 0);
	assert_int_equal(f.events[PUBLISH_LINKED], 1);
	set(&f, "[gitreach]\npublishExpire = x\n");
	assert_int_equal(run_at(&f, DAY), ERR_INVALID);
	finish(&f);
}

/* Flip a byte of the repository's pack. */
static void damage(struct fixture *f)
{
	struct odb *odb;
	struct buf path = BUF_INIT, bytes = BUF_INIT;

	assert_int_equal(odb_open(&odb, &f->r.t.repo, NULL, NULL), 0);
	assert_int_equal(odb->pack_nr, 1);
	buf_printf(&path, "%s.pack", odb->packs[0].pack->path);
	odb_close(odb);
	assert_int_equal(sys_read_any(&bytes, path.data, NULL), 0);
	bytes.data[bytes.len / 2] ^= 1;
	tmprepo_write_len(&f->r.t, path.data + strlen(f->r.t.dir) + 1,
			  bytes.data, bytes.len);
	buf_release(&path);
	buf_release(&bytes);
}

static void test_damage(void **state)
{
	uint64_t seed = random_seed();
	struct fixture f;

	start(&f, &seed);
	tmprepo_write(&f.r.t, "web/index.html", "");
	set(&f, "[transfer]\nhideRefs = refs/pull\n");
	damage(&f);
	assert_int_equal(run_at(&f, DAY), ERR_CORRUPT);
	assert_int_equal(f.events[PUBLISH_LINKED], 0);
	finish(&f);
}

/* If another process publishes, the caller has nothing to free. */
static void test_locked(void **state)
{
	uint64_t seed = random_seed();
	char *place, *other = NULL;
	struct fixture f;
	int lock;

	start(&f, &seed);
	tmprepo_write(&f.r.t, "web/index.html", "");
	lock = publish_open_place(&place, &f.r.t.repo, &f.config, NULL);
	assert_true(lock >= 0);
	assert_int_equal(
		publish_open_place(&other, &f.r.t.repo, &f.config, NULL),
		ERR_DENIED);
	assert_null(other);
	sys_close(lock);
	free(place);
	finish(&f);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_life),
		cmocka_unit_test(test_choice),
		cmocka_unit_test(test_damage),
		cmocka_unit_test(test_locked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
