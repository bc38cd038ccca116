/* SPDX-License-Identifier: MIT */
/*
 * Tests of indexer/indexer-parse.c. They prove that the undamaged entries of a
 * damaged pack are found. Other tests of the parser are in test-indexer.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "indexer/indexer.h"
#include "t/unit/packfile.h"

static char dir[] = "/tmp/gitreach-indexer-parse-XXXXXX";

static int make_dir(void **state)
{
	return mkdtemp(dir) ? 0 : -1;
}

static int remove_dir(void **state)
{
	return rmdir(dir);
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
 * What the callback `broken` has reported: number of damaged entries, and
 * number of times that the pack ended too early.
 */
struct losses {
	unsigned entries, ends;
};

static int count_loss(void *ctx, bool is_end, const struct error *what)
{
	struct losses *l = ctx;

	assert_int_equal(what->code, ERR_CORRUPT);
	*(is_end ? &l->ends : &l->entries) += 1;
	return 0;
}

/*
 * Indexes the first `nr` bytes of a pack, and goes on after errors. Asserts
 * that `want_nr` objects could be read, and that they make a valid pack. The
 * callback `broken` must report `want_entries` damaged entries, and `want_ends`
 * times that the pack ended too early.
 */
static void salvage(const struct packfile *p, size_t nr, uint32_t want_nr,
		    unsigned want_entries, unsigned want_ends)
{
	struct losses losses = {0, 0};
	struct cursor c = cursor_make(p->bytes.data, nr);
	const struct pack_source source = {.read = deal, .ctx = &c};
	const struct pack_indexer_config config = {
		.algo = p->algo,
		.hooks = {.broken = count_loss, .broken_ctx = &losses},
	};
	struct pack_indexer *ix = pack_indexer_new(&config);
	struct error err = ERROR_INIT;
	struct pack *pack;

	assert_non_null(ix);
	if (pack_indexer_receive(ix, source, dir, &err) < 0 ||
	    pack_indexer_resolve(ix, &err) < 0 ||
	    pack_indexer_open_pack(&pack, ix, &err) < 0)
		fail_msg("%s", err.msg);
	assert_int_equal(pack->idx.nr, want_nr);
	assert_int_equal(losses.entries, want_entries);
	assert_int_equal(losses.ends, want_ends);
	assert_int_equal(pack_verify_checksum(pack, NULL), 0);
	pack_close(pack);
	pack_indexer_free(ix);
}

static void test_salvage(void **state)
{
	struct pack_entry liar = {.type = OBJ_BLOB, .size = 9};
	struct packfile p;
	struct oid oid;
	uint32_t liar_nr;

	packfile_init(&p, HASH_SHA1);
	packfile_add(&p, OBJ_BLOB, "one", 3);
	memset(&oid, 7, sizeof(oid));
	liar_nr = packfile_add_entry(&p, &liar, "four", 4, &oid);
	packfile_add(&p, OBJ_BLOB, "two", 3);
	/* The delta's base is damaged, so the delta's object is lost, too. */
	packfile_add_delta(&p, OBJ_OFS_DELTA, liar_nr, 9, "x", &oid);
	packfile_finish(&p);
	salvage(&p, p.bytes.len, 2, 1, 1);
	/*
	 * Cut the pack inside its trailer, then inside its third entry, then
	 * after its header.
	 */
	salvage(&p, p.bytes.len - 1, 2, 1, 2);
	salvage(&p, p.offsets[2] + 2, 1, 1, 1);
	salvage(&p, 12, 0, 0, 1);
	p.bytes.data[p.bytes.len - 1] ^= 1;
	salvage(&p, p.bytes.len, 2, 1, 2);
	packfile_release(&p);
}

/*
 * The second of three entries is damaged. If the stream of this entry can be
 * inflated, the third entry is found. If not, nothing behind the damage is
 * read.
 */
static void entries_behind_damage(void **state)
{
	struct pack_entry orphan = {.type = OBJ_OFS_DELTA, .base_distance = 7};
	static uint8_t text[200];
	struct packfile p;
	struct oid oid = {{7}};

	for (size_t i = 0; i < sizeof(text); i++)
		text[i] = (uint8_t)(i * i >> 3);
	orphan.size = sizeof(text);
	packfile_init(&p, HASH_SHA1);
	packfile_add(&p, OBJ_BLOB, "one", 3);
	packfile_add_entry(&p, &orphan, text, sizeof(text), &oid);
	packfile_add(&p, OBJ_BLOB, "two", 3);
	packfile_finish(&p);
	salvage(&p, p.bytes.len, 2, 1, 1);
	packfile_release(&p);

	packfile_init(&p, HASH_SHA1);
	packfile_add(&p, OBJ_BLOB, "one", 3);
	packfile_add(&p, OBJ_BLOB, text, sizeof(text));
	packfile_add(&p, OBJ_BLOB, "two", 3);
	packfile_finish(&p);
	/*
	 * Damage the first block of the stream, behind its header of 2 bytes.
	 */
	p.bytes.data[p.offsets[1] + 4] |= 6;
	salvage(&p, p.bytes.len, 1, 1, 1);
	packfile_release(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_salvage),
		cmocka_unit_test(entries_behind_damage),
	};

	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
