/* SPDX-License-Identifier: MIT */
/* repack/old-packs.c: which packs a repack replaces, and their end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "repack/old-packs.h"
#include "t/unit/tmppack.h"

#define TEN(digit) digit digit digit digit digit digit digit digit digit digit
#define HEX(digit) TEN(digit) TEN(digit) TEN(digit) TEN(digit)
#define PACKS "objects/pack/"

/* All the files a pack can have. */
static const char *const extensions[] = {
	"pack", "idx", "rev", "bitmap", "mtimes",
};

static void write_pack(const struct tmprepo *t, const char *hex)
{
	for (size_t i = 0; i < sizeof(extensions) / sizeof(*extensions); i++) {
		char name[128];

		snprintf(name, sizeof(name), PACKS "pack-%s.%s", hex,
			 extensions[i]);
		tmprepo_write(t, name, "x");
	}
}

static bool exists(const struct tmprepo *t, const char *name)
{
	struct buf path = BUF_INIT;
	bool ret;

	buf_printf(&path, "%s/%s", t->dir, name);
	ret = sys_exists(path.data);
	buf_release(&path);
	return ret;
}

/* How many of its files a pack has. */
static size_t count(const struct tmprepo *t, const char *hex)
{
	size_t nr = 0;

	for (size_t i = 0; i < sizeof(extensions) / sizeof(*extensions); i++) {
		char name[128];

		snprintf(name, sizeof(name), PACKS "pack-%s.%s", hex,
			 extensions[i]);
		nr += exists(t, name);
	}
	return nr;
}

static int list(struct old_packs *old, const struct tmprepo *t,
		struct error *err)
{
	char *dir = repo_object_path(&t->repo, "pack");
	int ret = old_packs_list(old, dir, err);

	free(dir);
	return ret;
}

static bool is_listed(const struct old_packs *old, const char *hex)
{
	for (size_t i = 0; i < old->nr; i++)
		if (strstr(old->bases[i], hex))
			return true;
	return false;
}

static void listing(void **state)
{
	struct old_packs old;
	struct tmprepo t;

	tmprepo_init(&t, HASH_SHA1);
	assert_int_equal(list(&old, &t, NULL), 0); /* no directory */
	assert_int_equal(old.nr, 0);
	old_packs_release(&old);
	write_pack(&t, HEX("1"));
	write_pack(&t, HEX("2"));
	write_pack(&t, HEX("3"));
	tmprepo_write(&t, PACKS "pack-" HEX("2") ".keep", "");
	/* a pack that is on its way in, and other things */
	tmprepo_write(&t, PACKS "pack-" HEX("4") ".pack", "x");
	tmprepo_write(&t, PACKS "tmp_idx_123", "x");
	tmprepo_write(&t, PACKS "multi-pack-index", "x");
	assert_int_equal(list(&old, &t, NULL), 0);
	assert_int_equal(old.nr, 2);
	assert_true(is_listed(&old, HEX("1")));
	assert_true(is_listed(&old, HEX("3")));
	old_packs_release(&old);
	tmprepo_release(&t);
}

static void promisor_packs_are_refused(void **state)
{
	struct error err = ERROR_INIT;
	struct old_packs old;
	struct tmprepo t;

	tmprepo_init(&t, HASH_SHA1);
	write_pack(&t, HEX("1"));
	write_pack(&t, HEX("2"));
	tmprepo_write(&t, PACKS "pack-" HEX("2") ".promisor", "");
	assert_int_equal(list(&old, &t, &err), ERR_UNSUPPORTED);
	assert_non_null(strstr(err.msg, HEX("2") ".promisor"));
	old_packs_release(&old);
	tmprepo_release(&t);
}

static void removing(void **state)
{
	struct old_packs old;
	struct tmprepo t;
	struct oid keep;

	tmprepo_init(&t, HASH_SHA1);
	write_pack(&t, HEX("1"));
	write_pack(&t, HEX("2"));
	write_pack(&t, HEX("3"));
	tmprepo_write(&t, PACKS "pack-" HEX("3") ".keep", "");
	tmprepo_write(&t, PACKS "multi-pack-index", "x");
	assert_int_equal(list(&old, &t, NULL), 0);
	write_pack(&t, HEX("4")); /* it came later */
	memset(&keep, 0, sizeof(keep));
	memset(keep.bytes, 0x22, 20);
	assert_int_equal(old_packs_remove(&old, &keep, HASH_SHA1, NULL), 0);
	assert_int_equal(count(&t, HEX("1")), 0);
	assert_int_equal(count(&t, HEX("2")), 5);
	assert_int_equal(count(&t, HEX("3")), 5);
	assert_int_equal(count(&t, HEX("4")), 5);
	assert_false(exists(&t, PACKS "multi-pack-index"));
	/* They may be gone already; none is to be kept. */
	assert_int_equal(old_packs_remove(&old, NULL, HASH_SHA1, NULL), 0);
	assert_int_equal(count(&t, HEX("2")), 0);
	assert_int_equal(count(&t, HEX("3")), 5);
	old_packs_release(&old);
	tmprepo_release(&t);
}

/* Somebody wants a pack kept that was listed before. */
static void kept_meanwhile(void **state)
{
	struct old_packs old;
	struct tmprepo t;

	tmprepo_init(&t, HASH_SHA1);
	write_pack(&t, HEX("1"));
	write_pack(&t, HEX("2"));
	assert_int_equal(list(&old, &t, NULL), 0);
	assert_int_equal(old.nr, 2);
	tmprepo_write(&t, PACKS "pack-" HEX("1") ".keep", "");
	assert_int_equal(old_packs_remove(&old, NULL, HASH_SHA1, NULL), 0);
	assert_int_equal(count(&t, HEX("1")), 5);
	assert_int_equal(count(&t, HEX("2")), 0);
	old_packs_release(&old);
	tmprepo_release(&t);
}

/*
 * The index goes first: where the next file cannot be removed (a directory is
 * in its place), no reader opens what is left.
 */
static void index_first(void **state)
{
	struct error err = ERROR_INIT;
	struct old_packs old;
	struct tmprepo t;

	tmprepo_init(&t, HASH_SHA1);
	write_pack(&t, HEX("1"));
	tmprepo_remove(&t, PACKS "pack-" HEX("1") ".rev");
	tmprepo_write(&t, PACKS "pack-" HEX("1") ".rev/file", "x");
	assert_int_equal(list(&old, &t, NULL), 0);
	assert_int_equal(old_packs_remove(&old, NULL, HASH_SHA1, &err), ERR_IO);
	assert_false(exists(&t, PACKS "pack-" HEX("1") ".idx"));
	assert_true(exists(&t, PACKS "pack-" HEX("1") ".pack"));
	old_packs_release(&old);
	tmprepo_release(&t);
}

static void write_loose(const struct tmprepo *t, struct oid *oid,
			const char *text, char *name)
{
	char hex[OID_MAX_HEX_LEN + 1];

	tmppack_loose(t, "objects", oid, OBJ_BLOB, text, strlen(text));
	oid_to_hex(hex, oid, t->repo.algo);
	sprintf(name, "objects/%.2s/%s", hex, hex + 2);
}

static void loose_objects(void **state)
{
	struct tmppack_object packed[] = {
		{.type = OBJ_BLOB, .text = "one\n"},
		{.type = OBJ_BLOB, .text = "two\n"},
	};
	char one[128], three[128];
	struct tmprepo t;
	struct oid oid;

	tmprepo_init(&t, HASH_SHA1);
	tmppack_write(&t, "objects", "pack-1", packed, 2, false);
	write_loose(&t, &oid, "one\n", one);
	assert_true(oid_equal(&oid, &packed[0].oid));
	write_loose(&t, &oid, "three\n", three);
	assert_int_equal(old_packs_prune_loose(&t.repo, NULL), 0);
	assert_false(exists(&t, one));
	assert_true(exists(&t, three));
	tmprepo_release(&t);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(listing),
		cmocka_unit_test(promisor_packs_are_refused),
		cmocka_unit_test(removing),
		cmocka_unit_test(kept_meanwhile),
		cmocka_unit_test(index_first),
		cmocka_unit_test(loose_objects),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
