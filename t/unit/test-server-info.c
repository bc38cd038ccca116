/* SPDX-License-Identifier: MIT */
/*
 * Tests of repack/server-info.c, which writes info/refs and objects/info/packs:
 * both files have the right content, and are written only if the content has
 * changed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "repack/server-info.h"
#include "sys/map.h"
#include "t/unit/nomem.h"
#include "t/unit/randrepo.h"

static void update(struct randrepo *r)
{
	struct error err = ERROR_INIT;
	struct refs *refs;

	assert_int_equal(refs_open(&refs, &r->t.repo, NULL), 0);
	if (server_info_update(&r->t.repo, refs, &err) != 0)
		fail_msg("%s", err.msg);
	refs_close(refs);
}

static void read_file(const struct randrepo *r, const char *name,
		      struct buf *out)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s", r->t.dir, name);
	buf_reset(out);
	assert_int_equal(sys_read_file(out, path, NULL), 0);
	assert_int_equal(buf_append_char(out, '\0'), 0);
}

/*
 * Runs server_info_update(). Asserts that it does not change info/refs. Returns
 * its result.
 */
static int update_not(struct randrepo *r)
{
	struct buf before = BUF_INIT, after = BUF_INIT;
	struct refs *refs;
	int ret;

	read_file(r, "info/refs", &before);
	assert_int_equal(refs_open(&refs, &r->t.repo, NULL), 0);
	ret = server_info_update(&r->t.repo, refs, NULL);
	refs_close(refs);
	read_file(r, "info/refs", &after);
	assert_string_equal(after.data, before.data);
	buf_release(&before);
	buf_release(&after);
	return ret;
}

static ino_t inode(const struct randrepo *r, const char *name)
{
	char path[4096];
	struct stat st;

	snprintf(path, sizeof(path), "%s/%s", r->t.dir, name);
	assert_int_equal(stat(path, &st), 0);
	return st.st_ino;
}

static void contents(void **state)
{
	uint64_t seed = random_seed();
	struct buf text = BUF_INIT, expect = BUF_INIT;
	char commit[OID_MAX_HEX_LEN + 1], tag[OID_MAX_HEX_LEN + 1];
	struct randrepo r;
	uint32_t nr, tag_nr;

	randrepo_init(&r, HASH_SHA1, &seed);
	randrepo_history(&r, 3);
	nr = r.commits[2];
	tag_nr = randrepo_tag(&r, randrepo_tag(&r, nr));
	randrepo_store_pack(&r);
	randrepo_ref(&r, "refs/heads/main", nr);
	randrepo_ref(&r, "refs/tags/v1", tag_nr);
	update(&r);
	oid_to_hex(commit, &r.objects[nr].oid, HASH_SHA1);
	oid_to_hex(tag, &r.objects[tag_nr].oid, HASH_SHA1);
	buf_printf(&expect,
		   "%s\trefs/heads/main\n%s\trefs/tags/v1\n"
		   "%s\trefs/tags/v1^{}\n",
		   commit, tag, commit);
	read_file(&r, "info/refs", &text);
	assert_string_equal(text.data, expect.data);
	buf_reset(&expect);
	buf_printf(&expect, "P pack-%u.pack\n\n", r.nr);
	read_file(&r, "objects/info/packs", &text);
	assert_string_equal(text.data, expect.data);
	buf_release(&text);
	buf_release(&expect);
	randrepo_release(&r);
}

/* A file with the right content is not written again. */
static void rewritten_when_changed(void **state)
{
	uint64_t seed = random_seed();
	ino_t refs, packs;
	struct randrepo r;

	randrepo_init(&r, HASH_SHA1, &seed);
	randrepo_history(&r, 3);
	randrepo_store_pack(&r);
	randrepo_all_refs(&r);
	update(&r);
	refs = inode(&r, "info/refs");
	packs = inode(&r, "objects/info/packs");
	update(&r);
	assert_true(inode(&r, "info/refs") == refs);
	assert_true(inode(&r, "objects/info/packs") == packs);
	randrepo_ref(&r, "refs/heads/another", r.commits[0]);
	update(&r);
	assert_true(inode(&r, "info/refs") != refs);
	assert_true(inode(&r, "objects/info/packs") == packs);
	randrepo_release(&r);
}

/* A ref is broken, or its object is missing or damaged: info/refs stays. */
static void kept_if_a_ref_is_bad(void **state)
{
	static const char id[] = "1234567812345678123456781234567812345678\n";
	uint64_t seed = random_seed();
	struct randrepo r;

	randrepo_init(&r, HASH_SHA1, &seed);
	randrepo_history(&r, 3);
	randrepo_store_pack(&r);
	randrepo_all_refs(&r);
	update(&r);
	tmprepo_write(&r.t, "refs/heads/bad", "nonsense\n");
	assert_int_equal(update_not(&r), SERVER_INFO_INCOMPLETE);
	tmprepo_write(&r.t, "refs/heads/bad", id);
	assert_int_equal(update_not(&r), SERVER_INFO_INCOMPLETE);
	tmprepo_write(&r.t, "objects/12/34567812345678123456781234567812345678",
		      "nonsense");
	assert_int_equal(update_not(&r), SERVER_INFO_DAMAGED);
	tmprepo_write(&r.t, "objects/12/34567812345678123456781234567812345678",
		      "");
	assert_int_equal(update_not(&r), SERVER_INFO_INCOMPLETE);
	tmprepo_write(&r.t, "refs/heads/bad", "ref: refs/../x\n");
	update(&r);
	tmprepo_write(&r.t, "refs/heads/bad", "ref: refs/heads/bad\n");
	update(&r);
	randrepo_release(&r);
}

/* A tag of a damaged blob has one line in info/refs, without the target. */
static void tag_of_damaged_object(void **state)
{
	uint64_t seed = random_seed();
	char hex[OID_MAX_HEX_LEN + 1], name[80];
	struct buf text = BUF_INIT, line = BUF_INIT;
	struct randrepo r;
	uint32_t blob, tag;

	randrepo_init(&r, HASH_SHA1, &seed);
	blob = randrepo_blob(&r, 1);
	tag = randrepo_tag(&r, blob);
	randrepo_store(&r);
	randrepo_ref(&r, "refs/tags/t", tag);
	oid_to_hex(hex, &r.objects[blob].oid, HASH_SHA1);
	snprintf(name, sizeof(name), "objects/%.2s/%s", hex, hex + 2);
	tmprepo_write(&r.t, name, "");
	update(&r);
	read_file(&r, "info/refs", &text);
	oid_to_hex(hex, &r.objects[tag].oid, HASH_SHA1);
	buf_printf(&line, "%s\trefs/tags/t\n", hex);
	assert_string_equal(text.data, line.data);
	buf_release(&text);
	buf_release(&line);
	randrepo_release(&r);
}

static void write_packs(const struct randrepo *r, const char *text)
{
	tmprepo_write(&r->t, "objects/info/packs", text);
}

static void packs_are(const struct randrepo *r, const char *expect)
{
	struct buf text = BUF_INIT;

	read_file(r, "objects/info/packs", &text);
	assert_string_equal(text.data, expect);
	buf_release(&text);
}

/*
 * Packs that the old objects/info/packs lists keep their order. Packs that do
 * not exist any more are removed from the list. New packs come last.
 */
static void packs_keep_their_order(void **state)
{
	uint64_t seed = random_seed();
	char old[128], mixed[256], expect[256];
	struct randrepo r;
	uint32_t nr[3];
	ino_t before;

	randrepo_init(&r, HASH_SHA1, &seed);
	for (int i = 0; i < 3; i++) {
		randrepo_history(&r, 3);
		randrepo_store_pack(&r);
		nr[i] = r.nr;
	}
	for (int i = 0; i < 2; i++) {
		snprintf(old, sizeof(old), "P pack-%u.pack\nP pack-%u.pack\n",
			 nr[i], nr[!i]);
		snprintf(mixed, sizeof(mixed), "P pack-0.pack\n%sP pack-\n\n",
			 old);
		snprintf(expect, sizeof(expect), "%sP pack-%u.pack\n\n", old,
			 nr[2]);
		write_packs(&r, mixed);
		update(&r);
		packs_are(&r, expect);
		before = inode(&r, "objects/info/packs");
		update(&r);
		assert_true(inode(&r, "objects/info/packs") == before);
	}
	randrepo_release(&r);
}

/*
 * Packs that are missing in the old objects/info/packs come last. They have the
 * same order as in a file that is written without an old file.
 */
static void new_packs_keep_their_order(void **state)
{
	uint64_t seed = random_seed();
	char *rows[4], expect[256];
	struct buf fresh = BUF_INIT;
	struct randrepo r;

	randrepo_init(&r, HASH_SHA1, &seed);
	for (int i = 0; i < 4; i++) {
		randrepo_history(&r, 3);
		randrepo_store_pack(&r);
	}
	update(&r);
	read_file(&r, "objects/info/packs", &fresh);
	rows[0] = strtok(fresh.data, "\n");
	for (int i = 1; i < 4; i++)
		rows[i] = strtok(NULL, "\n");
	for (int i = 0; i < 4; i++) {
		snprintf(expect, sizeof(expect), "%s\n\n", rows[i]);
		write_packs(&r, expect);
		update(&r);
		snprintf(expect, sizeof(expect), "%s\n%s\n%s\n%s\n\n", rows[i],
			 rows[i > 0 ? 0 : 1], rows[i > 1 ? 1 : 2],
			 rows[i > 2 ? 2 : 3]);
		packs_are(&r, expect);
	}
	buf_release(&fresh);
	randrepo_release(&r);
}

static int find_temporary(void *ctx, const char *name)
{
	return !strncmp(name, "tmp_", 4);
}

/* If the disk is full, the error is returned, and no temporary file is left. */
static void full_disk(void **state)
{
	uint64_t seed = random_seed();
	struct rlimit before, none;
	struct error err = ERROR_INIT;
	struct randrepo r;
	struct refs *refs;
	char path[4200];
	int ret;

	randrepo_init(&r, HASH_SHA1, &seed);
	randrepo_history(&r, 3);
	randrepo_store_pack(&r);
	randrepo_all_refs(&r);
	assert_int_equal(refs_open(&refs, &r.t.repo, NULL), 0);
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	none = before;
	none.rlim_cur = 0;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &none), 0);
	ret = server_info_update(&r.t.repo, refs, &err);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	assert_int_equal(ret, ERR_IO);
	snprintf(path, sizeof(path), "%s/info", r.t.dir);
	assert_int_equal(sys_dir_each(path, find_temporary, NULL, NULL), 0);
	refs_close(refs);
	randrepo_release(&r);
}

struct nomem_bed {
	struct randrepo r;
	struct refs *refs;
};

static void remove_files(void *ctx)
{
	const struct nomem_bed *b = ctx;
	char path[4200];

	snprintf(path, sizeof(path), "%s/info/refs", b->r.t.dir);
	remove(path);
	write_packs(&b->r, "P pack-0.pack\n");
}

static int update_all(void *ctx, struct error *err)
{
	const struct nomem_bed *b = ctx;

	return server_info_update(&b->r.t.repo, b->refs, err);
}

static void is_updated(void *ctx)
{
	const struct nomem_bed *b = ctx;
	char expect[64];
	struct buf text = BUF_INIT;

	snprintf(expect, sizeof(expect), "P pack-%u.pack\n\n", b->r.nr);
	packs_are(&b->r, expect);
	read_file(&b->r, "info/refs", &text);
	assert_non_null(strstr(text.data, "refs/heads/main\n"));
	buf_release(&text);
}

static void no_memory(void **state)
{
	uint64_t seed = random_seed();
	struct nomem_bed b;

	randrepo_init(&b.r, HASH_SHA1, &seed);
	randrepo_history(&b.r, 1);
	randrepo_store_pack(&b.r);
	randrepo_ref(&b.r, "refs/heads/main", b.r.commits[0]);
	assert_int_equal(refs_open(&b.refs, &b.r.t.repo, NULL), 0);
	nomem_each(remove_files, update_all, is_updated, &b);
	refs_close(b.refs);
	randrepo_release(&b.r);
}

static void empty_repository(void **state)
{
	uint64_t seed = random_seed();
	struct buf text = BUF_INIT;
	struct randrepo r;

	randrepo_init(&r, HASH_SHA1, &seed);
	update(&r);
	read_file(&r, "info/refs", &text);
	assert_string_equal(text.data, "");
	read_file(&r, "objects/info/packs", &text);
	assert_string_equal(text.data, "\n");
	buf_release(&text);
	randrepo_release(&r);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(contents),
		cmocka_unit_test(rewritten_when_changed),
		cmocka_unit_test(kept_if_a_ref_is_bad),
		cmocka_unit_test(tag_of_damaged_object),
		cmocka_unit_test(packs_keep_their_order),
		cmocka_unit_test(new_packs_keep_their_order),
		cmocka_unit_test(full_disk),
		cmocka_unit_test(no_memory),
		cmocka_unit_test(empty_repository),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
