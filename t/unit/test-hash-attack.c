/* SPDX-License-Identifier: MIT */
/*
 * Tests that an object is refused if it is part of a SHA-1 collision attack. No
 * two Git objects that collide are publicly known. So this file replaces
 * hash_refuse_attack() of the library by a function that refuses an id chosen
 * by the test. test-hash.c tests the real function.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "indexer/indexer.h"
#include "pack/verify.h"
#include "t/unit/packfile.h"
#include "t/unit/pushed.h"

static struct oid attack;
/* Number of calls of hash_refuse_attack(), one for each hashed object. */
static unsigned asked_nr;

int hash_refuse_attack(const struct hash_ctx *h, const struct oid *oid,
		       struct error *err)
{
	assert_true(h->checked || h->algo != HASH_SHA1);
	asked_nr++;
	return oid_equal(oid, &attack) ? error_set(err, ERR_CORRUPT, "refused")
				       : 0;
}

/* Size of a blob that is so large that the indexer inflates it in pieces. */
enum { LARGE = (16 << 20) + 1 };

/*
 * Makes a pack with a blob stored whole, a delta of this blob, a delta of this
 * delta, and a large blob.
 */
static void make_pack(struct packfile *p)
{
	void *large = mem_calloc(LARGE, 1);
	struct oid oid;

	assert_non_null(large);
	packfile_init(p, HASH_SHA1);
	packfile_add(p, OBJ_BLOB, "base\n", 5);
	hash_object(&p->hash, &oid, OBJ_BLOB, "base\nmore\n", 10);
	packfile_add_delta(p, OBJ_OFS_DELTA, 0, 5, "more\n", &oid);
	hash_object(&p->hash, &oid, OBJ_BLOB, "base\nmore\nlast\n", 15);
	packfile_add_delta(p, OBJ_REF_DELTA, 1, 10, "last\n", &oid);
	packfile_add(p, OBJ_BLOB, large, LARGE);
	free(large);
}

static ssize_t deal(void *ctx, void *bytes, size_t len, struct error *err)
{
	struct cursor *c = ctx;
	size_t n = cursor_left(c) < len ? cursor_left(c) : len;

	memcpy(bytes, c->p, n);
	cursor_skip(c, n);
	return (ssize_t)n;
}

/*
 * Indexes a pack with the functions that index-pack and receive-pack use.
 * Returns 0 or a negative error code.
 */
static int receive(const struct packfile *p, struct error *err)
{
	const struct pack_indexer_config config = {
		.algo = p->algo, .threads = 2, .cache_limit = 1 << 20};
	struct pack_indexer *ix = pack_indexer_new(&config);
	struct cursor c = cursor_make(p->bytes.data, p->bytes.len);
	int ret;

	assert_non_null(ix);
	ret = pack_indexer_receive(
		ix, (struct pack_source){.read = deal, .ctx = &c}, p->dir, err);
	if (!ret)
		ret = pack_indexer_resolve(ix, err);
	pack_indexer_free(ix);
	return ret;
}

static int verify(const struct pack *pack, struct error *err)
{
	struct pack_chains chains;
	int ret;

	assert_int_equal(pack_chains_init(&chains, (struct pack *)pack, err),
			 0);
	ret = pack_verify(&chains, 2, err);
	pack_chains_release(&chains);
	return ret;
}

/*
 * The indexer checks every object. If the id of any object is refused, the pack
 * is refused.
 */
static void test_packs(void **state)
{
	struct error err = ERROR_INIT;
	struct packfile p;
	struct pack *pack;

	make_pack(&p);
	pack = packfile_open(&p);
	attack = (struct oid)OID_ZERO_INIT;
	asked_nr = 0;
	assert_int_equal(receive(&p, &err), 0);
	assert_int_equal(asked_nr, p.nr);
	assert_int_equal(verify(pack, &err), 0);
	assert_int_equal(asked_nr, 2 * p.nr);
	for (uint32_t i = 0; i < p.nr; i++) {
		attack = p.oids[i];
		assert_int_equal(receive(&p, &err), ERR_CORRUPT);
		assert_string_equal(err.msg, "refused");
		assert_int_equal(verify(pack, &err), ERR_CORRUPT);
		assert_string_equal(err.msg, "refused");
	}
	pack_close(pack);
	packfile_release(&p);
}

/*
 * hash_refuse_attack() reports that an object of the push is made for a
 * collision attack on SHA-1. The push is refused, whether the server would keep
 * the pack or make loose objects. No object and no ref is stored.
 */
static void test_push(void **state)
{
	static const char *const configs[] = {
		"[transfer]\nunpackLimit = 1\n",
		"[transfer]\nunpackLimit = 100\n"};
	struct pushed p;

	for (size_t i = 0; i < ARRAY_NR(configs); i++) {
		pushed_init(&p);
		dialog_config(&p.d, CONFIG_LOCAL, configs[i]);
		pushed_commit(&p, "n1", "c4");
		pushed_commit(&p, "n2", "n1");
		pushed_command(&p, "c4 n2 refs/heads/main", "report-status");
		attack = p.pack.oids[0];
		assert_string_equal(pushed_run(&p, true),
				    "unpack refused|"
				    "ng refs/heads/main unpacker error|F");
		assert_true(pushed_ref_is(&p, "refs/heads/main", "c4"));
		assert_int_equal(pushed_leftovers(&p), 0);
		pushed_release(&p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_packs),
		cmocka_unit_test(test_push),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
