/* SPDX-License-Identifier: MIT */
/*
 * Tests of repack/unreachable.c, which lists unreachable objects: which objects
 * are listed, which times they have, and which are kept.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "config/config.h"
#include "t/unit/nomem.h"
#include "t/unit/oldrepo.h"

#define LOCAL (OLD_PACK | OLD_PACK_2 | OLD_KEPT | OLD_CRUFT | OLD_LOOSE)
#define EVERYWHERE (LOCAL | OLD_ALTERNATE)

static void check_listed(struct oldrepo *o, const struct unreachable *u,
			 bool loose)
{
	unsigned local = loose ? LOCAL : LOCAL & ~(unsigned)OLD_LOOSE;
	uint32_t expected = 0;

	for (uint32_t i = 0; i < o->r.nr; i++) {
		unsigned p = o->places[i];
		const struct unreachable_item *item = unreachable_find(
			u, oldrepo_pos(o, i));

		assert_int_equal(item != NULL, !o->reached[i] && (p & local));
		if (!item)
			continue;
		expected++;
		assert_int_equal(item->obj_pos, oldrepo_pos(o, i));
		assert_int_equal(item->is_packed, (p & (OLD_PACK | OLD_PACK_2 |
							OLD_CRUFT)) != 0);
		assert_int_equal(item->is_loose, loose && (p & OLD_LOOSE));
		assert_int_equal(item->is_safe,
				 (p & (OLD_KEPT | OLD_ALTERNATE)) != 0);
		assert_false(item->is_kept);
		if (loose)
			assert_int_equal(item->mtime, o->times[i]);
	}
	assert_int_equal(u->nr, expected);
}

static void listed(void **state)
{
	uint64_t seed = random_seed();

	for (int round = 0; round < 6; round++) {
		struct unreachable u;
		struct oldrepo o;

		oldrepo_init(&o, &seed, round % 2 ? EVERYWHERE : LOCAL);
		for (int loose = 0; loose < 2; loose++) {
			oldrepo_collect(&o, &u, loose);
			check_listed(&o, &u, loose);
			unreachable_release(&u);
		}
		oldrepo_release(&o);
	}
}

/*
 * Check which objects are kept: exactly those that recent objects reach. The
 * test computes the expected objects from r.objects[].
 */
static void check_kept(struct oldrepo *o, struct unreachable *u, int64_t expiry)
{
	bool *kept = calloc(RANDREPO_MAX, sizeof(*kept));
	struct error err = ERROR_INIT;

	assert_non_null(kept);
	for (size_t i = 0; i < u->nr; i++) {
		u->items[i].is_kept = false;
		if (u->items[i].mtime > expiry)
			randrepo_reach(&o->r, kept,
				       oldrepo_nr(o, u->items[i].obj_pos));
	}
	if (unreachable_keep(u, expiry, &err) != 0)
		fail_msg("%s", err.msg);
	for (size_t i = 0; i < u->nr; i++)
		assert_int_equal(u->items[i].is_kept,
				 kept[oldrepo_nr(o, u->items[i].obj_pos)]);
	free(kept);
}

static void kept(void **state)
{
	uint64_t seed = random_seed();

	for (int round = 0; round < 4; round++) {
		struct unreachable u;
		struct oldrepo o;

		oldrepo_init(&o, &seed, EVERYWHERE);
		oldrepo_collect(&o, &u, true);
		for (int k = 0; k < 10; k++)
			check_kept(&o, &u, OLDREPO_EPOCH + 600 * k);
		check_kept(&o, &u, INT64_MAX);
		check_kept(&o, &u, 0);
		unreachable_release(&u);
		oldrepo_release(&o);
	}
}

/* A recent object refers to missing objects. They are skipped. */
static void torn(void **state)
{
	uint64_t seed = random_seed();
	struct unreachable u;
	struct oldrepo o;

	oldrepo_init(&o, &seed, OLD_LOOSE);
	for (uint32_t i = 0; i < o.r.nr; i += 3) {
		struct buf path = BUF_INIT;

		if (o.reached[i])
			continue;
		assert_int_equal(odb_loose_path(&path, o.odb, o.odb->dirs[0],
						&o.r.objects[i].oid),
				 0);
		assert_int_equal(sys_unlink(path.data, NULL), 0);
		buf_release(&path);
	}
	oldrepo_collect(&o, &u, true);
	assert_int_equal(unreachable_keep(&u, OLDREPO_EPOCH + 1000, NULL), 0);
	for (size_t i = 0; i < u.nr; i++)
		if (u.items[i].mtime > OLDREPO_EPOCH + 1000)
			assert_true(u.items[i].is_kept);
	unreachable_release(&u);
	oldrepo_release(&o);
}

/*
 * unreachable_in_pack() returns whether an object of the list of unreachable
 * objects is in the named pack. For a cruft pack and for a pack of an
 * alternate, it returns false.
 */
static void in_pack(void **state)
{
	uint64_t seed = random_seed();
	struct unreachable u;
	struct oldrepo o;

	oldrepo_init(&o, &seed, EVERYWHERE & ~(unsigned)OLD_LOOSE);
	for (int round = 0; round < 2; round++) {
		oldrepo_collect(&o, &u, true);
		assert_int_equal(unreachable_in_pack(&u, "pack-1"), true);
		assert_int_equal(unreachable_in_pack(&u, "pack-2"), !round);
		assert_int_equal(unreachable_in_pack(&u, "pack-4"), true);
		assert_int_equal(unreachable_in_pack(&u, "pack-8"), false);
		assert_int_equal(unreachable_in_pack(&u, "pack-32"), false);
		assert_int_equal(unreachable_in_pack(&u, "pack-3"), false);
		unreachable_release(&u);
		/* In the second round, all objects of pack 2 are reachable. */
		for (uint32_t i = 0; i < o.r.nr; i++)
			if (o.places[i] & OLD_PACK_2)
				bitset_set(&o.bits, oldrepo_pos(&o, i));
	}
	oldrepo_release(&o);
}

/* A small repository with an alternate, and what unreachable_collect() lists.
 */
struct small {
	struct tmprepo t;
	struct odb *odb;
	struct walk w;
	struct bitset none;
	struct unreachable u;
};

static void small_init(struct small *s)
{
	memset(s, 0, sizeof(*s));
	tmprepo_init(&s->t, HASH_SHA1);
	tmprepo_write(&s->t, "objects/info/alternates", "../other\n");
}

static void small_collect_since(struct small *s, int64_t expiry)
{
	struct unreachable_options options = {
		.is_leaving = oldrepo_is_leaving,
		.loose = true,
		.expiry = expiry,
	};

	assert_int_equal(odb_open(&s->odb, &s->t.repo, NULL, NULL), 0);
	assert_int_equal(walk_open(&s->w, s->odb, NULL, 0, NULL), 0);
	assert_int_equal(
		unreachable_collect(&s->u, &s->w, &s->none, &options, NULL), 0);
}

static void small_collect(struct small *s)
{
	small_collect_since(s, 0);
}

static struct unreachable_item *small_item(struct small *s,
					   const struct oid *oid)
{
	uint32_t obj_pos;

	assert_true(objspace_find(&s->w.space, oid->bytes, &obj_pos));
	return unreachable_find(&s->u, obj_pos);
}

static void small_close(struct small *s)
{
	unreachable_release(&s->u);
	walk_close(&s->w);
	odb_close(s->odb);
}

static void small_release(struct small *s)
{
	small_close(s);
	tmprepo_release(&s->t);
}

/* Add a local loose object. `mtime`: the time of its file. */
static void small_loose(struct small *s, struct oid *oid, enum object_type type,
			const char *text, int64_t mtime)
{
	char hex[OID_MAX_HEX_LEN + 1], path[4200];

	tmppack_loose(&s->t, "objects", oid, type, text, strlen(text));
	oid_to_hex(hex, oid, HASH_SHA1);
	snprintf(path, sizeof(path), "%s/%.2s/%s", s->t.objects, hex, hex + 2);
	assert_int_equal(sys_set_mtime(path, mtime, NULL), 0);
}

/* Write the text of a tag that points to `to`, an object of the type `type`. */
static void tag_text(struct buf *out, const struct oid *to, const char *type)
{
	char hex[OID_MAX_HEX_LEN + 1];

	buf_reset(out);
	buf_printf(out,
		   "object %s\ntype %s\ntag x\n"
		   "tagger A <a@b> 1 +0000\n\n",
		   oid_to_hex(hex, to, HASH_SHA1), type);
}

/*
 * A recent local tag object refers to a tag object in the alternate, and a
 * chain of such tag objects ends at an old local blob. struct unreachable lists
 * only local objects, so it does not list the tag objects of the alternate.
 * Still, the walk must follow them. The recent tag reaches the blob, so the
 * blob must be kept.
 */
static void behind_an_alternate(void **state)
{
	struct oid blob, other, to, top;
	struct buf text = BUF_INIT;
	struct small s;
	char more[16];

	small_init(&s);
	small_loose(&s, &blob, OBJ_BLOB, "one\n", 1000);
	for (int i = 0; i < 62; i++) {
		snprintf(more, sizeof(more), "more %d\n", i);
		small_loose(&s, &other, OBJ_BLOB, more, 1000);
	}
	to = blob;
	for (int i = 0; i < 5; i++) {
		tag_text(&text, &to, i ? "tag" : "blob");
		tmppack_loose(&s.t, "other", &to, OBJ_TAG, text.data, text.len);
	}
	tag_text(&text, &to, "tag");
	small_loose(&s, &top, OBJ_TAG, text.data, 3000);
	small_collect(&s);
	/*
	 * There are exactly 64 local objects, so they fill the words of a
	 * bitset. The first object of the alternate must make the bitset grow.
	 * If the bitset does not grow, sanitizers report it.
	 */
	assert_int_equal(s.u.nr, 64);
	assert_int_equal(objspace_end(&s.w.space), 64);
	assert_int_equal(unreachable_keep(&s.u, 2000, NULL), 0);
	assert_true(small_item(&s, &blob)->is_kept);
	assert_true(small_item(&s, &top)->is_kept);
	assert_false(small_item(&s, &other)->is_kept);
	small_release(&s);
	buf_release(&text);
}

/*
 * A loose file that is gone when its time is read is not listed. A damaged
 * loose object is listed, and cannot be packed.
 */
static void gone_and_damaged(void **state)
{
	struct oid fine, damaged;
	enum object_type type;
	struct small s;

	small_init(&s);
	tmprepo_write(&s.t, "objects/00/000000000000000000000000000000000000aa",
		      "nonsense");
	tmprepo_link(&s.t, "objects/00/000000000000000000000000000000000000bb",
		     "nowhere");
	small_loose(&s, &fine, OBJ_BLOB, "one\n", 1000);
	small_collect(&s);
	assert_int_equal(s.u.nr, 2);
	assert_int_equal(
		unreachable_type(&s.u, small_item(&s, &fine), &type, NULL), 0);
	assert_int_equal(type, OBJ_BLOB);
	assert_true(oid_from_hex(&damaged,
				 "00000000000000000000000000000000000000aa", 40,
				 HASH_SHA1));
	assert_int_equal(
		unreachable_type(&s.u, small_item(&s, &damaged), &type, NULL),
		1);
	small_release(&s);
}

/* An object that the hook names is kept. Its time becomes the present time. */
static void named_by_the_hook(void **state)
{
	static const char config[] =
		"[gc]\nrecentObjectsHook = "
		"\"echo 5626abf0f72e58d7a153368ba57db4c673c0e171; "
		"echo 0123456789012345678901234567890123456789\"\n";
	struct oid named, other;
	struct small s;

	small_init(&s);
	s.t.repo.config = (struct config)CONFIG_INIT;
	assert_int_equal(config_parse(&s.t.repo.config, config, strlen(config),
				      CONFIG_LOCAL, NULL, NULL, NULL),
			 0);
	small_loose(&s, &named, OBJ_BLOB, "one\n", 1000);
	small_loose(&s, &other, OBJ_BLOB, "two\n", 1000);
	small_collect(&s);
	assert_int_equal(unreachable_keep(&s.u, 2000, NULL), 0);
	assert_true(small_item(&s, &named)->is_kept);
	assert_true(small_item(&s, &named)->mtime > 2000);
	assert_false(small_item(&s, &other)->is_kept);
	assert_int_equal(small_item(&s, &other)->mtime, 1000);
	small_release(&s);
	config_release(&s.t.repo.config);
}

/*
 * A local object of time 1000 is also in a cruft pack of an alternate. The
 * local copy is unnecessary if the .mtimes file of the pack states a time of at
 * least 1000 for the object. A damaged .mtimes file is ignored.
 */
static void noted_in_alternate(void **state)
{
	for (uint32_t k = 0; k < 3; k++) {
		struct tmppack_object blob = {.type = OBJ_BLOB,
					      .text = "one\n"};
		uint32_t noted = 999 + k;
		struct buf file = BUF_INIT;
		struct oid oid, sum;
		struct pack *pack;
		struct small s;
		char base[4200];

		small_init(&s);
		small_loose(&s, &oid, OBJ_BLOB, "one\n", 1000);
		tmppack_write(&s.t, "other", "pack-1", &blob, 1, false);
		snprintf(base, sizeof(base), "%s/other/pack/pack-1", s.t.dir);
		assert_int_equal(pack_open(&pack, base, HASH_SHA1, NULL), 0);
		sum = pack->checksum;
		pack_close(pack);
		assert_int_equal(pack_mtimes_write(&file, &noted, 1, &sum,
						   HASH_SHA1, NULL),
				 0);
		if (k == 2)
			file.data[file.len - 1] ^= 1;
		tmprepo_write_len(&s.t, "other/pack/pack-1.mtimes", file.data,
				  file.len);
		small_collect(&s);
		assert_int_equal(s.u.nr, 1);
		assert_int_equal(s.u.items[0].mtime, 1000);
		assert_int_equal(s.u.items[0].staying_mtime,
				 k == 2 ? 0 : noted);
		assert_int_equal(s.u.items[0].is_safe, k == 1);
		small_release(&s);
		buf_release(&file);
	}
}

/*
 * A pack of time 5000 that is removed has the same object as a kept pack of
 * time `kept`. Returns whether the time of the kept pack was set to now.
 */
static bool freshens_kept(int64_t kept, int64_t expiry)
{
	struct tmppack_object blob = {.type = OBJ_BLOB, .text = "one\n"};
	struct buf path = BUF_INIT;
	struct sys_stat st;
	struct small s;

	small_init(&s);
	tmppack_write(&s.t, "objects", "pack-1", &blob, 1, false);
	tmppack_write(&s.t, "objects", "pack-2", &blob, 1, false);
	tmprepo_write(&s.t, "objects/pack/pack-2.keep", "");
	buf_printf(&path, "%s/pack/pack-1.pack", s.t.objects);
	assert_int_equal(sys_set_mtime(path.data, 5000, NULL), 0);
	buf_reset(&path);
	buf_printf(&path, "%s/pack/pack-2.pack", s.t.objects);
	assert_int_equal(sys_set_mtime(path.data, kept, NULL), 0);
	small_collect_since(&s, expiry);
	assert_true(small_item(&s, &blob.oid)->is_safe);
	assert_int_equal(sys_stat(&st, path.data, NULL), 0);
	small_release(&s);
	buf_release(&path);
	return st.mtime_ns / 1000000000 != kept;
}

/*
 * A pack that is removed has the same object as a kept pack. If the kept pack
 * is the older one, its modification time is set to now, so that the object
 * does not expire earlier than with the removed copy. For an expired object,
 * the kept pack keeps its time.
 */
static void old_kept_pack(void **state)
{
	assert_true(freshens_kept(1000, 0));
	assert_true(freshens_kept(1000, 4999));
	assert_false(freshens_kept(1000, 5000));
	assert_false(freshens_kept(1000, INT64_MAX));
	assert_false(freshens_kept(9000, 0));
}

static int list_and_keep(void *ctx, struct error *err)
{
	struct unreachable_options options = {
		.is_leaving = oldrepo_is_leaving,
		.loose = true,
	};
	struct small *s = ctx;
	int ret = walk_open(&s->w, s->odb, NULL, 0, err);

	if (ret < 0)
		return ret;
	ret = unreachable_collect(&s->u, &s->w, &s->none, &options, err);
	if (!ret)
		ret = unreachable_keep(&s->u, 2000, err);
	for (size_t i = 0; !ret && i < s->u.nr; i++)
		assert_int_equal(s->u.items[i].is_kept, true);
	if (!ret)
		assert_int_equal(s->u.nr, 3);
	unreachable_release(&s->u);
	walk_close(&s->w);
	return ret;
}

/* If memory runs out, listing fails, or all objects are listed. */
static void no_memory(void **state)
{
	struct tmppack_object packed = {.type = OBJ_BLOB, .text = "one\n"};
	struct buf text = BUF_INIT;
	struct small s;
	struct oid oid;

	small_init(&s);
	tmppack_write(&s.t, "objects", "pack-1", &packed, 1, false);
	tag_text(&text, &packed.oid, "blob");
	tmppack_loose(&s.t, "other", &oid, OBJ_TAG, text.data, text.len);
	tag_text(&text, &oid, "tag");
	small_loose(&s, &oid, OBJ_TAG, text.data, 1000);
	tag_text(&text, &oid, "tag");
	small_loose(&s, &oid, OBJ_TAG, text.data, 3000);
	assert_int_equal(odb_open(&s.odb, &s.t.repo, NULL, NULL), 0);
	nomem_each(NULL, list_and_keep, NULL, &s);
	odb_close(s.odb);
	tmprepo_release(&s.t);
	buf_release(&text);
}

static void damaged_times(void **state)
{
	struct unreachable_options options = {
		.is_leaving = oldrepo_is_leaving,
	};
	uint64_t seed = random_seed();
	struct error err = ERROR_INIT;
	struct unreachable u;
	struct oldrepo o;

	oldrepo_init(&o, &seed, OLD_CRUFT);
	tmprepo_write(&o.r.t, "objects/pack/pack-8.mtimes", "MTME");
	assert_int_equal(unreachable_collect(&u, &o.w, &o.bits, &options, &err),
			 ERR_CORRUPT);
	assert_non_null(strstr(err.msg, "pack-8.mtimes"));
	unreachable_release(&u);
	oldrepo_release(&o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(listed),
		cmocka_unit_test(kept),
		cmocka_unit_test(torn),
		cmocka_unit_test(in_pack),
		cmocka_unit_test(behind_an_alternate),
		cmocka_unit_test(gone_and_damaged),
		cmocka_unit_test(named_by_the_hook),
		cmocka_unit_test(noted_in_alternate),
		cmocka_unit_test(old_kept_pack),
		cmocka_unit_test(no_memory),
		cmocka_unit_test(damaged_times),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
