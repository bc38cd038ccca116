/* SPDX-License-Identifier: MIT */
/*
 * Tests of publish/published.c, which finds published packs (packs that clients
 * download from a web server): a pack is found only with the right name and
 * size, and if it is configured.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "object/hash.h"
#include "publish/published.h"
#include "t/unit/tmprepo.h"

#define SALT "00112233445566778899aabbccddeeff\n"
#define OTHER_SALT "00112233445566778899aabbccddeefe\n"

struct fixture {
	struct tmprepo t;
	struct published_config config;
	struct error err;
};

/* Load a configuration with a publish directory, and further lines. */
static int load(struct fixture *f, const char *text)
{
	struct buf all = BUF_INIT;
	const char *dir = f->t.dir;
	int ret;

	assert_int_equal(
		buf_printf(&all, "[gitreach]\npublishDirectory = %s\n", dir),
		0);
	assert_int_equal(buf_append_str(&all, text), 0);
	published_config_release(&f->config);
	config_release(&f->t.repo.config);
	f->t.repo.config = (struct config){0};
	assert_int_equal(config_parse(&f->t.repo.config, all.data, all.len,
				      CONFIG_LOCAL, NULL, NULL, NULL),
			 0);
	f->err = (struct error)ERROR_INIT;
	ret = published_config_load(&f->config, &f->t.repo, &f->err);
	buf_release(&all);
	return ret;
}

static void start(struct fixture *f)
{
	memset(f, 0, sizeof(*f));
	tmprepo_init(&f->t, HASH_SHA1);
	assert_int_equal(sys_mkdir_p(f->t.objects, NULL), 0);
	tmprepo_write(&f->t, "objects/" PUBLISHED_SALT, SALT);
}

static void finish(struct fixture *f)
{
	published_config_release(&f->config);
	config_release(&f->t.repo.config);
	tmprepo_release(&f->t);
}

static void test_config(void **state)
{
	struct fixture f;

	start(&f);
	assert_int_equal(load(&f, ""), 0);
	assert_string_equal(f.config.dir, f.t.dir);
	assert_null(f.config.uri);
	assert_false(f.config.shallow);
	assert_int_equal(f.config.minimum, 1 << 20);
	assert_string_equal(f.config.expire, "1.day.ago");
	assert_int_equal(load(&f, "publishUri = https://x/y//\n"
				  "publishShallow\npublishMinimum = 3k\n"
				  "publishExpire = now\n"),
			 0);
	assert_string_equal(f.config.uri, "https://x/y");
	assert_true(f.config.shallow);
	assert_int_equal(f.config.minimum, 3072);
	assert_string_equal(f.config.expire, "now");
	assert_int_equal(load(&f, "publishDirectory =\n"), 0);
	assert_null(f.config.dir);
	finish(&f);
}

static void test_config_of_store(void **state)
{
	struct fixture f;

	start(&f);
	assert_int_equal(load(&f, "publishStoreUri = https://x\n"), 0);
	assert_false(f.config.store);
	assert_null(f.config.store_uri);
	assert_int_equal(load(&f, "publishDirectory =\npublishStore\n"
				  "publishMinimum = 5\n"),
			 0);
	assert_true(f.config.store);
	assert_null(f.config.store_uri);
	assert_int_equal(f.config.store_lifetime, 6 * 3600);
	assert_int_equal(f.config.minimum, 5);
	assert_int_equal(load(&f, "publishStore\npublishStoreUri = https://x/\n"
				  "publishStoreLifetime = 60\n"),
			 0);
	assert_string_equal(f.config.store_uri, "https://x");
	assert_int_equal(f.config.store_lifetime, 60);
	finish(&f);
}

static void test_bad_config(void **state)
{
	static const char *const bad[] = {
		"publishDirectory = relative",
		"publishUri = x/y",
		"publishUri = ://x",
		"publishBundles = perhaps",
		"publishUri = \"http://x y\"",
		"publishUri = \"http://x\\ny\"",
		"publishShallow = maybe",
		"publishMinimum = much",
		"publishStore = perhaps",
		"publishStore\npublishStoreUri = x",
		"publishStore\npublishStoreLifetime = 59",
		"publishStore\npublishStoreLifetime = 21601",
	};
	struct fixture f;

	start(&f);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(load(&f, bad[i]), ERR_INVALID);
		assert_non_null(strstr(f.err.msg, "ublish"));
	}
	finish(&f);
}

/* Write a file of `len` bytes into the publish directory of the repository. */
static void put(struct fixture *f, const char *name, size_t len)
{
	char *place = published_place(&f->config, f->t.objects, NULL);
	char bytes[100] = {0};
	struct buf path = BUF_INIT;

	assert_non_null(place);
	assert_int_equal(strlen(strrchr(place, '/')), 1 + PUBLISHED_PLACE_LEN);
	assert_int_equal(
		buf_printf(&path, "%s/%s", strrchr(place, '/') + 1, name), 0);
	tmprepo_write_len(&f->t, path.data, bytes, len);
	buf_release(&path);
	free(place);
}

/*
 * Returns whether a published pack of 50 bytes is found. Asserts that its URI
 * is right.
 */
static bool finds(struct fixture *f, const struct oid *checksum)
{
	char *place = published_place(&f->config, f->t.objects, NULL);
	struct odb odb = {
		.algo = HASH_SHA1, .dirs = &f->t.objects, .dir_nr = 1};
	struct published p;
	struct buf uri = BUF_INIT, expect = BUF_INIT, name = BUF_INIT;
	int found;

	assert_int_equal(published_open(&p, &f->config, &odb, NULL), 0);
	found = published_find(&uri, &p, checksum, 50);
	assert_true(found >= 0);
	published_pack_name(&name, checksum, HASH_SHA1);
	buf_printf(&expect, "http://x/%s/%s", strrchr(place, '/') + 1,
		   name.data);
	if (found)
		assert_string_equal(uri.data, expect.data);
	else
		assert_int_equal(uri.len, 0);
	published_close(&p);
	buf_release(&uri);
	buf_release(&expect);
	buf_release(&name);
	free(place);
	return found;
}

static void test_find(void **state)
{
	struct oid a = OID_ZERO_INIT, b = OID_ZERO_INIT;
	struct buf name = BUF_INIT;
	struct fixture f;

	b.bytes[0] = 1;
	start(&f);
	assert_int_equal(load(&f, "publishUri = http://x/\n"), 0);
	assert_false(finds(&f, &a));
	assert_int_equal(published_pack_name(&name, &a, HASH_SHA1), 0);
	put(&f, name.data, 49);
	assert_false(finds(&f, &a));
	put(&f, name.data, 50);
	assert_true(finds(&f, &a));
	assert_false(finds(&f, &b));
	assert_int_equal(buf_append_str(&name, PUBLISHED_RETIRED), 0);
	put(&f, name.data, 0);
	assert_false(finds(&f, &a));
	/* Without a configured URI, no pack is found. */
	assert_int_equal(load(&f, ""), 0);
	assert_false(finds(&f, &a));
	buf_release(&name);
	finish(&f);
}

/*
 * Sets *id to the identity (a hash) of the published packs. Returns the value
 * of published_identify().
 */
static int identify(struct fixture *f, struct oid *id)
{
	struct odb odb = {
		.algo = HASH_SHA1, .dirs = &f->t.objects, .dir_nr = 1};
	struct published p;
	struct hash_ctx hash;
	int ret;

	assert_int_equal(published_open(&p, &f->config, &odb, NULL), 0);
	assert_int_equal(hash_init(&hash, HASH_SHA256), 0);
	ret = published_identify(&p, &hash, NULL);
	hash_final(&hash, id);
	hash_release(&hash);
	published_close(&p);
	return ret;
}

/*
 * Computes the identity (a hash of the published packs) and stores it in *id.
 * Returns true if *id was different before.
 */
static bool is_new(struct fixture *f, struct oid *id)
{
	struct oid before = *id;

	assert_int_equal(identify(f, id), 1);
	return !oid_equal(id, &before);
}

/*
 * Published packs are packs that clients can download from a URL
 * (packfile-uris). published_identify() computes the identity of the set of
 * published packs: one hash of their names and sizes. The identity must change
 * if a published pack is added, is retired (no longer offered), or changes its
 * size. Other files must not change the identity.
 */
static void test_identity(void **state)
{
	struct oid id = OID_ZERO_INIT, a = OID_ZERO_INIT, empty;
	struct buf name = BUF_INIT;
	struct fixture f;

	start(&f);
	assert_int_equal(load(&f, "publishUri = http://x/\n"), 0);
	put(&f, "lock", 0);
	assert_true(is_new(&f, &id));
	empty = id;
	put(&f, "bundle-list", 10);
	put(&f, "tmp_publish_x", 10);
	assert_false(is_new(&f, &id));
	assert_int_equal(published_pack_name(&name, &a, HASH_SHA1), 0);
	put(&f, name.data, 49);
	assert_true(is_new(&f, &id));
	put(&f, name.data, 50);
	assert_true(is_new(&f, &id));
	assert_false(is_new(&f, &id));
	assert_int_equal(buf_append_str(&name, PUBLISHED_RETIRED), 0);
	put(&f, name.data, 0);
	assert_true(is_new(&f, &id));
	assert_true(oid_equal(&id, &empty));
	for (int i = 0; i <= 1000; i++) {
		buf_reset(&name);
		buf_printf(&name, "%d.pack", i);
		put(&f, name.data, 1);
	}
	assert_int_equal(identify(&f, &id), 0);
	buf_release(&name);
	finish(&f);
}

/*
 * Two object directories have different publish directories. Two paths of one
 * object directory give the same publish directory.
 */
static void test_places(void **state)
{
	struct buf other = BUF_INIT;
	struct fixture f;
	char *a, *b, *c;

	start(&f);
	assert_int_equal(load(&f, ""), 0);
	tmprepo_link(&f.t, "link", "objects");
	buf_printf(&other, "%s/link/../link", f.t.dir);
	a = published_place(&f.config, f.t.objects, NULL);
	b = published_place(&f.config, other.data, NULL);
	assert_null(published_place(&f.config, f.t.dir, NULL));
	tmprepo_write(&f.t, PUBLISHED_SALT, SALT);
	c = published_place(&f.config, f.t.dir, NULL);
	assert_string_equal(a, b);
	assert_string_not_equal(a, c);
	free(c);
	/*
	 * The name of the publish directory depends on a salt. If the salt file
	 * is damaged, there is no name.
	 */
	tmprepo_write(&f.t, "objects/" PUBLISHED_SALT, OTHER_SALT);
	c = published_place(&f.config, f.t.objects, NULL);
	assert_non_null(c);
	assert_string_not_equal(a, c);
	tmprepo_write(&f.t, "objects/" PUBLISHED_SALT, "");
	assert_null(published_place(&f.config, f.t.objects, NULL));
	buf_append_str(&other, "/none");
	assert_null(published_place(&f.config, other.data, NULL));
	free(a);
	free(b);
	free(c);
	buf_release(&other);
	finish(&f);
}

static void test_protocols(void **state)
{
	assert_true(published_uri_is_taken("http://x", "http"));
	assert_true(published_uri_is_taken("https://x", "ftp,https"));
	assert_false(published_uri_is_taken("https://x", "http,httpss"));
	assert_false(published_uri_is_taken("https://x", ""));
	assert_false(published_uri_is_taken("x", ",,"));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_config),
		cmocka_unit_test(test_config_of_store),
		cmocka_unit_test(test_bad_config),
		cmocka_unit_test(test_find),
		cmocka_unit_test(test_identity),
		cmocka_unit_test(test_places),
		cmocka_unit_test(test_protocols),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
