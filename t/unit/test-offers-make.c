/* SPDX-License-Identifier: MIT */
/*
 * Tests of stored/offers-make.h, which publishes packs (for clients to download
 * from the store) after a repack.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "object/hash.h"
#include "stored/offer-list.h"
#include "stored/offers-make.h"
#include "sys/map.h"
#include "t/unit/bitmaprepo.h"

#define CONFIG                                                                 \
	"[gitreach]\npublishStore = true\npublishMinimum = 1\n"                \
	"[extensions]\nobjectFormat = %s\n"                                    \
	"[core]\nrepositoryFormatVersion = 1\nbare = true\n%s"

struct fixture {
	struct randrepo r;
	struct error err;
};

static void configure(struct fixture *f, const char *more)
{
	struct buf text = BUF_INIT;

	buf_printf(&text, CONFIG,
		   f->r.t.repo.algo == HASH_SHA256 ? "sha256" : "sha1", more);
	tmprepo_write(&f->r.t, "config", text.data);
	buf_release(&text);
}

static void start(struct fixture *f, uint64_t *seed)
{
	*f = (struct fixture){.err = ERROR_INIT};
	randrepo_init(&f->r, *seed % 2 ? HASH_SHA256 : HASH_SHA1, seed);
	randrepo_history(&f->r, 100);
	randrepo_all_refs(&f->r);
	for (int i = 0; i < 20; i++)
		randrepo_grow(&f->r);
	randrepo_ref(&f->r, "refs/pull/1/head",
		     f->r.commits[f->r.commit_nr - 1]);
	randrepo_store_pack(&f->r);
	bitmaprepo_repack(&f->r, true, true);
	configure(f, "");
}

static int make(struct fixture *f)
{
	f->err = (struct error)ERROR_INIT;
	return stored_offers_make(f->r.t.dir, &f->err);
}

/*
 * Check the file of a published pack: its length and its checksum must be those
 * of its entry in the list.
 */
static void check_pack(struct fixture *f, const struct stored_offer *offer)
{
	enum hash_algo algo = f->r.t.repo.algo;
	struct buf path = BUF_INIT, bytes = BUF_INIT;
	struct oid checksum;

	buf_printf(&path, "%s/%s", f->r.t.dir, offer->path);
	assert_int_equal(sys_read_any(&bytes, path.data, NULL), 0);
	assert_int_equal(bytes.len, offer->len);
	assert_int_equal(
		hash_check_trailer(bytes.data, bytes.len, algo, "", NULL), 0);
	oid_from_raw(&checksum,
		     (const uint8_t *)bytes.data + bytes.len - hash_len(algo),
		     algo);
	assert_true(oid_equal(&checksum, &offer->checksum));
	buf_release(&path);
	buf_release(&bytes);
}

/*
 * Checks the packs in the list of offers (published packs). Returns their
 * number, or -1 if there is no list. Sets *remote_nr to the number of packs
 * that are only in the store, and not in the repository.
 */
static int check_list(struct fixture *f, size_t *remote_nr)
{
	struct stored_offer_list list;
	struct buf path = BUF_INIT, text = BUF_INIT;
	int nr = -1;

	*remote_nr = 0;
	buf_printf(&path, "%s/%s", f->r.t.dir, STORED_OFFER_LIST);
	if (!sys_read_any(&text, path.data, NULL)) {
		assert_int_equal(
			stored_offer_list_parse(&list, text.data, text.len,
						f->r.t.repo.algo, NULL),
			0);
		nr = (int)list.nr;
		for (size_t i = 0; i < list.nr; i++) {
			check_pack(f, &list.items[i]);
			*remote_nr += stored_offer_is_remote(
				list.items[i].path);
		}
		stored_offer_list_release(&list);
	}
	buf_release(&path);
	buf_release(&text);
	return nr;
}

static void test_packs(void **state)
{
	uint64_t seed = random_seed();

	for (int round = 0; round < 4; round++, seed++) {
		struct fixture f;
		size_t remote;

		start(&f, &seed);
		if (make(&f))
			fail_msg("%s", f.err.msg);
		/*
		 * The list has three published packs, which clients can
		 * download. Two were made for this purpose, and are only in the
		 * store. The third is the response to a clone of all refs. The
		 * pack of the repository has exactly the objects of this
		 * response, so this pack itself is published.
		 */
		assert_int_equal(check_list(&f, &remote), 3);
		assert_int_equal(remote, 2);
		/*
		 * Some objects of the repository's pack are now reachable only
		 * from hidden refs. So this pack must not be offered.
		 */
		configure(&f, "[transfer]\nhideRefs = refs/pull\n");
		assert_int_equal(make(&f), 0);
		assert_int_equal(check_list(&f, &remote), 2);
		assert_int_equal(remote, 2);
		configure(&f, "[gitreach]\npublishStore = false\n");
		assert_int_equal(make(&f), 0);
		assert_int_equal(check_list(&f, &remote), -1);
		randrepo_release(&f.r);
	}
}

static void test_errors(void **state)
{
	uint64_t seed = random_seed();
	struct fixture f;
	size_t remote;

	start(&f, &seed);
	assert_int_equal(make(&f), 0);
	configure(&f, "[gitreach]\npublishStoreLifetime = 59\n");
	assert_int_equal(make(&f), ERR_INVALID);
	assert_int_equal(check_list(&f, &remote), -1);
	configure(&f, "[gitreach]\npublishStoreUri = cdn.example.com\n");
	assert_int_equal(make(&f), ERR_INVALID);
	assert_non_null(strstr(f.err.msg, "gitreach.publishStoreUri"));
	configure(&f, "");
	tmprepo_remove(&f.r.t, "objects/info/prepared");
	assert_int_equal(make(&f), 0);
	assert_int_equal(check_list(&f, &remote), -1);
	randrepo_release(&f.r);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_packs),
		cmocka_unit_test(test_errors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
