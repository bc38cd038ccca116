/* SPDX-License-Identifier: MIT */
/*
 * Tests of midx/multi-pack.c and multi-pack-use.c, the commands of git
 * multi-pack-index: which packs are indexed, and which are removed. No object
 * may be lost because a multi-pack-index is wrong.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <sys/time.h>

#include "base/mem.h"
#include "midx/multi-pack.h"
#include "odb/odb-midx.h"
#include "pack/midx.h"
#include "packs/multi-pack-remove.h"
#include "t/unit/tmppack.h"

enum { PACKS = 3, PER_PACK = 2 };

/*
 * A repository of three packs. "pack-c" is the oldest. One of its two objects
 * is also in "pack-a", the other one is also in "pack-b".
 */
struct bed {
	struct tmprepo t;
	struct tmppack_object objects[PACKS][PER_PACK];
	struct odb *odb;
};

static const char *const names[PACKS] = {"pack-a", "pack-b", "pack-c"};

static void set_age(const struct bed *b, const char *name, long seconds)
{
	struct timeval times[2] = {{seconds, 0}, {seconds, 0}};
	struct buf path = BUF_INIT;

	buf_printf(&path, "%s/pack/%s.pack", b->t.objects, name);
	assert_int_equal(utimes(path.data, times), 0);
	buf_release(&path);
}

static void reopen(struct bed *b)
{
	odb_close(b->odb);
	assert_int_equal(odb_open(&b->odb, &b->t.repo, NULL, NULL), 0);
}

static void bed_init(struct bed *b)
{
	static const char *const texts[PACKS][PER_PACK] = {
		{"one", "two"}, {"three", "four"}, {"two", "three"}};

	memset(b, 0, sizeof(*b));
	tmprepo_init(&b->t, HASH_SHA1);
	for (unsigned p = 0; p < PACKS; p++) {
		for (unsigned i = 0; i < PER_PACK; i++)
			b->objects[p][i] = (struct tmppack_object){
				OBJ_BLOB, texts[p][i], {{0}}};
		tmppack_write(&b->t, "objects", names[p], b->objects[p],
			      PER_PACK, false);
		set_age(b, names[p], 1000 + p);
	}
	set_age(b, "pack-c", 500);
	reopen(b);
}

static void bed_release(struct bed *b)
{
	odb_close(b->odb);
	tmprepo_release(&b->t);
}

static void write_midx(struct bed *b, const struct multi_pack_options *o,
		       uint32_t pack_nr, uint32_t object_nr)
{
	struct multi_pack_result result;
	struct error err = ERROR_INIT;

	if (multi_pack_write(&result, b->odb, o, &err) < 0)
		fail_msg("%s", err.msg);
	assert_int_equal(result.pack_nr, pack_nr);
	assert_int_equal(result.object_nr, object_nr);
	reopen(b);
	assert_non_null(b->odb->midxes[0]);
	assert_int_equal(b->odb->midxes[0]->midx.pack_nr, pack_nr);
}

static bool has_file(const struct bed *b, const char *name)
{
	struct buf path = BUF_INIT;
	bool exists;

	buf_printf(&path, "%s/pack/%s", b->t.objects, name);
	exists = sys_exists(path.data);
	buf_release(&path);
	return exists;
}

static void refuse(void *ctx, const char *line)
{
	fail_msg("%s", line);
}

static void test_write(void **state)
{
	struct strlist some = {0};
	struct multi_pack_options o = {.dir_nr = 0};
	struct multi_pack_result result;
	struct bed b;

	bed_init(&b);
	write_midx(&b, &o, 3, 4);
	assert_int_equal(multi_pack_verify(b.odb, 0, refuse, NULL, NULL, NULL),
			 0);
	assert_int_equal(pack_names_add(&some, "pack-b.idx"), 0);
	assert_int_equal(pack_names_add(&some, "pack-z.idx"), 0);
	o.only = &some;
	write_midx(&b, &o, 1, 2);
	o.but = &some;
	assert_int_equal(multi_pack_write(&result, b.odb, &o, NULL),
			 ERR_MISSING);
	o.only = NULL;
	o.preferred = "pack-c.pack";
	write_midx(&b, &o, 2, 3);
	o.preferred = "pack-b";
	assert_int_equal(multi_pack_write(&result, b.odb, &o, NULL), 0);
	assert_true(result.no_such_preferred);
	strlist_release(&some);
	bed_release(&b);
}

static void test_parts_removed(void **state)
{
	const struct multi_pack_options o = {.dir_nr = 0};
	struct bed b;
	struct buf dir = BUF_INIT;

	bed_init(&b);
	tmprepo_write(&b.t, "objects/pack/multi-pack-index-00.bitmap", "");
	tmprepo_write(&b.t, "objects/pack/multi-pack-index-00.rev", "");
	write_midx(&b, &o, 3, 4);
	assert_false(has_file(&b, "multi-pack-index-00.bitmap"));
	assert_false(has_file(&b, "multi-pack-index-00.rev"));
	assert_false(has_file(&b, "multi-pack-index.lock"));
	tmprepo_write(&b.t, "objects/pack/multi-pack-index-00.bitmap", "");
	buf_printf(&dir, "%s/pack", b.t.objects);
	assert_int_equal(multi_pack_remove(dir.data, NULL), 0);
	assert_false(has_file(&b, "multi-pack-index"));
	assert_false(has_file(&b, "multi-pack-index-00.bitmap"));
	buf_release(&dir);
	bed_release(&b);
}

/*
 * With keep_current, an index of the same packs stays, even if another pack is
 * preferred. Side files of other indexes are removed.
 */
static void test_keep_current(void **state)
{
	struct multi_pack_options o = {.preferred = "pack-c"};
	struct multi_pack_result result;
	struct strlist but = {0};
	struct bed b;

	bed_init(&b);
	write_midx(&b, &o, 3, 4);
	tmprepo_write(&b.t, "objects/pack/multi-pack-index-00.rev", "");
	o.keep_current = true;
	o.preferred = "none";
	assert_int_equal(multi_pack_write(&result, b.odb, &o, NULL), 0);
	assert_false(result.no_such_preferred);
	assert_int_equal(result.pack_nr, 3);
	assert_int_equal(result.object_nr, 4);
	assert_memory_equal(result.checksum.bytes,
			    b.odb->midxes[0]->midx.checksum, 20);
	assert_false(has_file(&b, "multi-pack-index-00.rev"));
	assert_false(has_file(&b, "multi-pack-index.lock"));
	/* Another process has replaced the index since the snapshot. */
	tmprepo_write(&b.t, "objects/pack/multi-pack-index-00.rev", "");
	tmprepo_write(&b.t, "objects/pack/multi-pack-index", "");
	assert_int_equal(multi_pack_write(&result, b.odb, &o, NULL), ERR_IO);
	assert_true(result.outdated);
	assert_true(has_file(&b, "multi-pack-index-00.rev"));
	reopen(&b);
	write_midx(&b, &o, 3, 4);
	assert_int_equal(pack_names_add(&but, "pack-b"), 0);
	o.but = &but;
	write_midx(&b, &o, 2, 3);
	strlist_release(&but);
	bed_release(&b);
}

static void test_locked(void **state)
{
	const struct multi_pack_options o = {.dir_nr = 0};
	struct multi_pack_result result;
	struct bed b;

	bed_init(&b);
	tmprepo_write(&b.t, "objects/pack/multi-pack-index.lock", "");
	assert_int_equal(multi_pack_write(&result, b.odb, &o, NULL),
			 ERR_DENIED);
	assert_true(has_file(&b, "multi-pack-index.lock"));
	assert_false(has_file(&b, "multi-pack-index"));
	bed_release(&b);
}

static int expire(const struct bed *b)
{
	bool outdated = true;
	int ret = multi_pack_expire(&outdated, b->odb, 0, NULL, NULL);

	assert_false(outdated);
	return ret;
}

static void test_expire(void **state)
{
	const struct multi_pack_options o = {.dir_nr = 0};
	uint32_t pos;
	struct bed b;

	bed_init(&b);
	assert_int_equal(expire(&b), 0);
	write_midx(&b, &o, 3, 4);
	tmprepo_write(&b.t, "objects/pack/pack-c.keep", "");
	reopen(&b);
	assert_int_equal(expire(&b), 0);
	tmprepo_remove(&b.t, "objects/pack/pack-c.keep");
	reopen(&b);
	assert_int_equal(expire(&b), 1);
	assert_false(has_file(&b, "pack-c.idx"));
	assert_false(has_file(&b, "pack-c.pack"));
	reopen(&b);
	assert_int_equal(b.odb->midxes[0]->midx.pack_nr, 2);
	for (unsigned p = 0; p < PACKS; p++)
		for (unsigned i = 0; i < PER_PACK; i++)
			assert_true(
				odb_find(b.odb, &b.objects[p][i].oid, &pos));
	bed_release(&b);
}

/*
 * If another process has replaced or removed the multi-pack-index, no pack is
 * removed.
 */
static void test_expire_outdated(void **state)
{
	const struct multi_pack_options o = {.dir_nr = 0};
	const struct multi_pack_options other = {.preferred = "pack-c"};
	struct multi_pack_result result;
	struct error err = ERROR_INIT;
	bool outdated = false;
	struct bed b;

	bed_init(&b);
	write_midx(&b, &o, 3, 4);
	assert_int_equal(multi_pack_write(&result, b.odb, &other, NULL), 0);
	assert_int_equal(multi_pack_expire(&outdated, b.odb, 0, NULL, &err),
			 ERR_IO);
	assert_true(outdated);
	assert_string_equal(err.msg,
			    "the multi-pack-index was replaced meanwhile");
	assert_true(has_file(&b, "pack-c.idx"));
	tmprepo_remove(&b.t, "objects/pack/pack-a.idx");
	outdated = false;
	assert_int_equal(multi_pack_expire(&outdated, b.odb, 0, NULL, NULL),
			 ERR_MISSING);
	assert_true(outdated);
	assert_true(has_file(&b, "pack-c.idx"));
	bed_release(&b);
}

/*
 * A damaged multi-pack-index says that all objects come from "pack-c". The
 * other packs have objects that "pack-c" does not have, so they must stay.
 */
static void test_expire_distrusts(void **state)
{
	const struct multi_pack_options o = {.dir_nr = 0};
	const struct odb_midx *om;
	struct buf file = BUF_INIT;
	size_t at;
	struct bed b;

	bed_init(&b);
	write_midx(&b, &o, 3, 4);
	om = b.odb->midxes[0];
	at = (size_t)(om->midx.objects - om->midx.bytes);
	assert_int_equal(buf_append(&file, om->midx.bytes, om->midx.len), 0);
	for (uint32_t i = 0; i < om->midx.nr; i++)
		/*
		 * In the multi-pack-index, replace the object's pack number by
		 * the number of "pack-c".
		 */
		file.data[at + 8 * (size_t)i + 3] = 2;
	tmprepo_write_len(&b.t, "objects/pack/multi-pack-index", file.data,
			  file.len);
	reopen(&b);
	assert_int_equal(expire(&b), 0);
	assert_true(has_file(&b, "pack-a.pack"));
	assert_true(has_file(&b, "pack-b.pack"));
	buf_release(&file);
	bed_release(&b);
}

static void test_repack(void **state)
{
	const struct multi_pack_options o = {.dir_nr = 0};
	struct newpack_options newpack;
	struct bed b;

	bed_init(&b);
	assert_int_equal(newpack_options_load(&newpack, &b.t.repo, NULL), 0);
	assert_int_equal(multi_pack_repack(b.odb, 0, false, &newpack, NULL), 0);
	write_midx(&b, &o, 3, 4);
	/*
	 * A pack is chosen only if it is smaller than the batch size. A batch
	 * size of 1 byte excludes all packs.
	 */
	assert_int_equal(multi_pack_repack(b.odb, 1, false, &newpack, NULL), 0);
	assert_int_equal(multi_pack_repack(b.odb, 0, false, NULL, NULL), 1);
	assert_int_equal(multi_pack_repack(b.odb, 0, false, &newpack, NULL), 1);
	reopen(&b);
	assert_int_equal(b.odb->pack_nr, 4);
	write_midx(&b, &o, 4, 4);
	assert_int_equal(expire(&b), 3);
	reopen(&b);
	assert_int_equal(b.odb->pack_nr, 1);
	assert_int_equal(b.odb->packed_nr, 4);
	bed_release(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_write),
		cmocka_unit_test(test_parts_removed),
		cmocka_unit_test(test_keep_current),
		cmocka_unit_test(test_locked),
		cmocka_unit_test(test_expire),
		cmocka_unit_test(test_expire_outdated),
		cmocka_unit_test(test_expire_distrusts),
		cmocka_unit_test(test_repack),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
