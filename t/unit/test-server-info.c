/* SPDX-License-Identifier: MIT */
/* repack/server-info.c: the files for dumb HTTP clients. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "repack/server-info.h"
#include "sys/map.h"
#include "t/unit/randrepo.h"

static void update(const struct randrepo *r)
{
	struct error err = ERROR_INIT;
	struct refs *refs;

	assert_int_equal(refs_open(&refs, &r->t.repo, NULL), 0);
	if (server_info_update(&r->t.repo, refs, &err) < 0)
		fail_msg("%s", err.msg);
	refs_close(refs);
}

static void check_file(const struct randrepo *r, const char *name,
		       const char *expected)
{
	struct buf path = BUF_INIT, text = BUF_INIT;

	buf_printf(&path, "%s/%s", r->t.dir, name);
	assert_int_equal(sys_read_file(&text, path.data, NULL), 0);
	buf_append_char(&text, '\0');
	assert_string_equal(text.data, expected);
	buf_release(&path);
	buf_release(&text);
}

static struct sys_stat stat_file(const struct randrepo *r, const char *name)
{
	struct buf path = BUF_INIT;
	struct sys_stat st;

	buf_printf(&path, "%s/%s", r->t.dir, name);
	assert_int_equal(sys_stat(&st, path.data, NULL), 0);
	buf_release(&path);
	return st;
}

static const char *hex_of(const struct randrepo *r, char *hex, uint32_t nr)
{
	return oid_to_hex(hex, &r->objects[nr].oid, r->t.repo.algo);
}

/* Refs in order, tags with what they peel to, and no HEAD. */
static void check_refs(const struct randrepo *r, uint32_t commit, uint32_t tag,
		       uint32_t outer)
{
	char c[OID_MAX_HEX_LEN + 1], t[OID_MAX_HEX_LEN + 1],
		o[OID_MAX_HEX_LEN + 1];
	struct buf expected = BUF_INIT;

	hex_of(r, c, commit);
	hex_of(r, t, tag);
	hex_of(r, o, outer);
	buf_printf(&expected,
		   "%s\trefs/heads/main\n%s\trefs/tags/a\n"
		   "%s\trefs/tags/a^{}\n%s\trefs/tags/light\n"
		   "%s\trefs/tags/outer\n%s\trefs/tags/outer^{}\n",
		   c, t, c, c, o, c);
	check_file(r, "info/refs", expected.data);
	buf_release(&expected);
}

static void contents(enum hash_algo algo)
{
	uint64_t seed = random_seed();
	struct buf expected = BUF_INIT;
	struct randrepo r;
	uint32_t commit, tag, outer;

	randrepo_init(&r, algo, &seed);
	randrepo_history(&r, 5);
	commit = r.commits[4];
	tag = randrepo_tag(&r, commit);
	randrepo_store_pack(&r);
	buf_printf(&expected, "P pack-%u.pack\n\n", r.nr);
	outer = randrepo_tag(&r, tag);
	randrepo_store(&r);
	randrepo_ref(&r, "refs/heads/main", commit);
	randrepo_ref(&r, "refs/tags/a", tag);
	randrepo_ref(&r, "refs/tags/light", commit);
	randrepo_ref(&r, "refs/tags/outer", outer);
	update(&r);
	check_refs(&r, commit, tag, outer);
	check_file(&r, "objects/info/packs", expected.data);
	buf_release(&expected);
	randrepo_release(&r);
}

static void sha1(void **state)
{
	contents(HASH_SHA1);
}

static void sha256(void **state)
{
	contents(HASH_SHA256);
}

/* A repository of nothing, and packs of an alternate. */
static void nothing_and_borrowed(void **state)
{
	struct tmppack_object blob = {.type = OBJ_BLOB, .text = "x\n"};
	uint64_t seed = random_seed();
	struct randrepo r;

	randrepo_init(&r, HASH_SHA1, &seed);
	update(&r);
	check_file(&r, "info/refs", "");
	check_file(&r, "objects/info/packs", "\n");
	tmppack_write(&r.t, "other", "pack-1", &blob, 1, false);
	tmprepo_write(&r.t, "objects/info/alternates", "../other\n");
	update(&r);
	check_file(&r, "objects/info/packs", "\n");
	randrepo_release(&r);
}

static void unchanged_files_stay(void **state)
{
	static const char *const names[] = {"info/refs", "objects/info/packs"};
	uint64_t seed = random_seed();
	struct sys_stat before[2], after;
	struct randrepo r;

	randrepo_init(&r, HASH_SHA1, &seed);
	randrepo_history(&r, 5);
	randrepo_store_pack(&r);
	randrepo_ref(&r, "refs/heads/main", r.commits[4]);
	update(&r);
	for (int i = 0; i < 2; i++)
		before[i] = stat_file(&r, names[i]);
	update(&r);
	for (int i = 0; i < 2; i++) {
		after = stat_file(&r, names[i]);
		assert_int_equal(after.ino, before[i].ino);
		assert_int_equal(after.mtime_ns, before[i].mtime_ns);
	}
	randrepo_ref(&r, "refs/heads/main", r.commits[3]);
	update(&r);
	after = stat_file(&r, names[0]);
	assert_true(after.ino != before[0].ino ||
		    after.mtime_ns != before[0].mtime_ns);
	assert_int_equal(stat_file(&r, names[1]).ino, before[1].ino);
	randrepo_release(&r);
}

/* Nothing is written of a ref that cannot be listed. */
static void a_missing_object_is_an_error(void **state)
{
	uint64_t seed = random_seed();
	struct error err = ERROR_INIT;
	struct randrepo r;
	struct refs *refs;

	randrepo_init(&r, HASH_SHA1, &seed);
	tmprepo_write(&r.t, "refs/heads/gone",
		      "0123456789012345678901234567890123456789\n");
	assert_int_equal(refs_open(&refs, &r.t.repo, NULL), 0);
	assert_int_equal(server_info_update(&r.t.repo, refs, &err),
			 ERR_MISSING);
	refs_close(refs);
	randrepo_release(&r);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(sha1),
		cmocka_unit_test(sha256),
		cmocka_unit_test(nothing_and_borrowed),
		cmocka_unit_test(unchanged_files_stay),
		cmocka_unit_test(a_missing_object_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
