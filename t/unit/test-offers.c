/* SPDX-License-Identifier: MIT */
/*
 * Tests of copies/offers.h. Some packs of a local copy are also published in
 * the store, where clients can download them. The functions find the URLs of
 * these packs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "copies/marker.h"
#include "copies/offers.h"
#include "object/hash.h"
#include "stored/offer-list.h"
#include "t/unit/tmprepo.h"

#define COPY "repo/r.git/_"
#define PACK "publish/a.pack"
#define HEX "0123456789abcdef0123456789abcdef01234567"

struct fixture {
	/* The directory of this repository serves as the cache directory. */
	struct tmprepo t;
	struct published_config config;
	struct oid checksum;
	struct buf copy, text;
	struct error err;
};

static void write_text(struct fixture *f, const char *name)
{
	tmprepo_write(&f->t, name, f->text.data);
	buf_reset(&f->text);
}

/*
 * Write the marker of a local copy. The marker names the generation (version),
 * which has one file: PACK, with `len` bytes.
 */
static void write_marker(struct fixture *f, uint64_t len)
{
	struct generation_file file = {.path = (char *)PACK, .size = len};
	struct stored_marker m = {
		(char *)"boot",
		(char *)"r.git",
		{.number = 1, .files = &file, .file_nr = 1},
	};

	assert_int_equal(stored_marker_print(&f->text, &m, NULL), 0);
	write_text(f, COPY "/store-copy");
}

/*
 * Write a list of offers (published packs): the pack PACK with 7 bytes, and a
 * pack that is not in the generation (version).
 */
static void write_list(struct fixture *f)
{
	struct stored_offer offer = {f->checksum, 7, (char *)"publish/b.pack"};

	stored_offer_list_begin(&f->text);
	stored_offer_list_append(&f->text, &offer, HASH_SHA1);
	offer.path = (char *)PACK;
	stored_offer_list_append(&f->text, &offer, HASH_SHA1);
	write_text(f, COPY "/" STORED_OFFER_LIST);
}

static void write_store(struct fixture *f, const char *url)
{
	struct stored_origin origin = {.url = (char *)url};

	if (!strncmp(url, "s3:", 3))
		origin.endpoint = (char *)"https://s3.example.com";
	stored_origin_print(&f->text, &origin, NULL);
	write_text(f, "store");
}

static void start(struct fixture *f)
{
	*f = (struct fixture){
		.config = {.store = true, .store_lifetime = 600},
		.copy = BUF_INIT,
		.text = BUF_INIT,
		.err = ERROR_INIT,
	};
	tmprepo_init(&f->t, HASH_SHA1);
	buf_printf(&f->copy, "%s/%s/objects/info", f->t.dir, COPY);
	assert_int_equal(sys_mkdir_p(f->copy.data, NULL), 0);
	buf_reset(&f->copy);
	buf_printf(&f->copy, "%s/%s", f->t.dir, COPY);
	assert_true(oid_from_hex(&f->checksum, HEX, strlen(HEX), HASH_SHA1));
	write_store(f, "s3://bucket/p");
	write_marker(f, 7);
	write_list(f);
	setenv("AWS_ACCESS_KEY_ID", "the-id", 1);
	setenv("AWS_SECRET_ACCESS_KEY", "the-secret", 1);
}

static void finish(struct fixture *f)
{
	tmprepo_release(&f->t);
	buf_release(&f->copy);
	buf_release(&f->text);
}

static int open_offers(struct fixture *f, struct stored_offers **offers,
		       const char *protocols)
{
	f->err = (struct error)ERROR_INIT;
	return stored_offers_open(offers, f->copy.data, &f->config, HASH_SHA1,
				  protocols, &f->err);
}

/* Check that there are no packs to offer, and no error. */
static void check_none(struct fixture *f, const char *protocols)
{
	struct stored_offers *offers;

	assert_int_equal(open_offers(f, &offers, protocols), 0);
	assert_null(offers);
}

static void test_signed(void **state)
{
	struct fixture f;
	struct stored_offers *offers;
	struct buf uri = BUF_INIT;
	struct oid other;

	start(&f);
	assert_int_equal(open_offers(&f, &offers, "http,https"), 0);
	assert_int_equal(stored_offers_find(&uri, offers, &f.checksum, 7, NULL),
			 1);
	assert_non_null(strstr(
		uri.data, "https://s3.example.com/bucket/p/repo/r.git/_/file/"
			  "000000000000"));
	assert_non_null(strstr(uri.data, "X-Amz-Expires=600&"));
	assert_non_null(strstr(uri.data, "X-Amz-Signature="));
	assert_null(strstr(uri.data, "the-secret"));
	buf_reset(&uri);
	assert_int_equal(stored_offers_find(&uri, offers, &f.checksum, 8, NULL),
			 0);
	other = f.checksum;
	other.bytes[0] ^= 1;
	assert_int_equal(stored_offers_find(&uri, offers, &other, 7, NULL), 0);
	assert_int_equal(uri.len, 0);
	stored_offers_close(offers);
	check_none(&f, "http");
	check_none(&f, "");
	buf_release(&uri);
	finish(&f);
}

static void test_public(void **state)
{
	struct fixture f;
	struct stored_offers *offers;
	struct buf uri = BUF_INIT;

	start(&f);
	f.config.store_uri = (char *)"ftp://cdn.example.com/x";
	unsetenv("AWS_SECRET_ACCESS_KEY");
	assert_int_equal(open_offers(&f, &offers, "ftp"), 0);
	assert_int_equal(stored_offers_find(&uri, offers, &f.checksum, 7, NULL),
			 1);
	assert_non_null(strstr(
		uri.data, "ftp://cdn.example.com/x/repo/r.git/_/file/0000"));
	assert_null(strchr(uri.data, '?'));
	stored_offers_close(offers);
	check_none(&f, "http,https");
	buf_release(&uri);
	finish(&f);
}

/*
 * A local copy of a repository has two files that name packs: the marker, with
 * the files of the generation (version) that the copy has, and the list of
 * offers (published packs). The two files may belong to different generations.
 * A pack is offered only if both files name it with the same size.
 */
static void test_other_generation(void **state)
{
	struct fixture f;
	struct buf path = BUF_INIT;

	start(&f);
	write_marker(&f, 8);
	check_none(&f, "https");
	write_marker(&f, 7);
	buf_printf(&path, "%s/%s", f.copy.data, STORED_OFFER_LIST);
	assert_int_equal(sys_unlink(path.data, NULL), 0);
	check_none(&f, "https");
	buf_release(&path);
	finish(&f);
}

static void test_errors(void **state)
{
	struct fixture f;
	struct stored_offers *offers;

	start(&f);
	unsetenv("AWS_SECRET_ACCESS_KEY");
	assert_true(open_offers(&f, &offers, "https") < 0);
	assert_non_null(strstr(f.err.msg, "no access keys"));
	setenv("AWS_SECRET_ACCESS_KEY", "the-secret", 1);
	tmprepo_write(&f.t, COPY "/" STORED_OFFER_LIST, "x");
	assert_int_equal(open_offers(&f, &offers, "https"), ERR_CORRUPT);
	assert_null(offers);
	write_list(&f);
	tmprepo_write(&f.t, COPY "/store-copy", "x");
	assert_int_equal(open_offers(&f, &offers, "https"), ERR_CORRUPT);
	write_marker(&f, 7);
	/*
	 * A store in a directory cannot sign URLs for packs, so opening the
	 * offers fails.
	 */
	buf_printf(&f.text, "%s/dir/.tmp", f.t.dir);
	assert_int_equal(sys_mkdir_p(f.text.data, NULL), 0);
	buf_reset(&f.text);
	buf_printf(&f.text, "file://%s/dir", f.t.dir);
	{
		char *url = buf_detach(&f.text, NULL);

		write_store(&f, url);
		free(url);
	}
	assert_int_equal(open_offers(&f, &offers, "https"), ERR_UNSUPPORTED);
	finish(&f);
}

/*
 * The identity of the offers is a hash of the packs that can be offered. Other
 * packs give another identity. The lifetime of signed URLs has no effect on the
 * identity.
 */
static void test_identity(void **state)
{
	struct fixture f;
	struct oid ids[3];

	start(&f);
	for (int i = 0; i < 3; i++) {
		struct stored_offers *offers;
		struct hash_ctx hash;

		f.config.store_lifetime = 600 + (uint64_t)i;
		if (i == 2) {
			write_marker(&f, 9);
			buf_printf(&f.text,
				   "gitreach published 1\n" HEX " 9 " PACK
				   "\n" HEX " 9 " PACK "\n");
			write_text(&f, COPY "/" STORED_OFFER_LIST);
		}
		assert_int_equal(open_offers(&f, &offers, "https"), 0);
		assert_int_equal(hash_init(&hash, HASH_SHA256), 0);
		stored_offers_identify(offers, &hash);
		hash_final(&hash, &ids[i]);
		hash_release(&hash);
		stored_offers_close(offers);
	}
	assert_true(oid_equal(&ids[0], &ids[1]));
	assert_false(oid_equal(&ids[0], &ids[2]));
	finish(&f);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_signed),
		cmocka_unit_test(test_public),
		cmocka_unit_test(test_other_generation),
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_identity),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
