/* SPDX-License-Identifier: MIT */
/*
 * Tests of refs/reflog-reftable.c, which edits reflogs in reftables. The same
 * edit of a reflog in a file must have the same result.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "refs/reflog.h"
#include "refs/refs-reftable.h"
#include "sys/io.h"
#include "sys/map.h"
#include "t/unit/nomem.h"
#include "t/unit/random.h"
#include "t/unit/tmprepo.h"

static const char ref_name[] = "refs/heads/main";

/*
 * Two repositories that get the same edits. `file` stores refs in files,
 * `table` in a reftable.
 */
struct twins {
	struct tmprepo file, table;
	uint64_t drop; /* bit i: drop line i */
	size_t seen_nr;
};

static void id_hex(char *out, unsigned nr, enum hash_algo algo)
{
	snprintf(out, OID_MAX_HEX_LEN + 1, "%0*x", (int)hash_hex_len(algo), nr);
}

static struct oid id_of(unsigned nr, enum hash_algo algo)
{
	char hex[OID_MAX_HEX_LEN + 1];
	struct oid oid;

	id_hex(hex, nr, algo);
	oid_from_hex(&oid, hex, hash_hex_len(algo), algo);
	return oid;
}

/*
 * Adds entry number `i` (from 1) to a reflog. In this entry, the ref changes
 * from id i - 1 to id i.
 */
static void put_record(const struct tmprepo *t, const char *dir,
		       const char *name, unsigned i)
{
	enum hash_algo algo = t->repo.algo;
	struct reftable_append_options options = {.algo = algo};
	struct reftable_ref ref = {
		.name = name,
		.name_len = strlen(name),
		.value = REFTABLE_OID,
		.oid = id_of(i, algo),
	};
	struct reftable_log log = {
		.name = name,
		.name_len = strlen(name),
		.old_oid = id_of(i - 1, algo),
		.new_oid = ref.oid,
		.who = {"A U", 3},
		.mail = {"a@b", 3},
		.message = {"m\n", 2},
		.time = 100 + i,
		.zone = i & 1 ? -230 : 100,
	};
	struct reftable_append a;
	struct buf path = BUF_INIT;

	buf_printf(&path, "%s/%s", t->dir, dir);
	assert_int_equal(sys_mkdir_p(path.data, NULL), 0);
	assert_int_equal(reftable_append_begin(&a, path.data, &options, NULL),
			 0);
	ref.update_index = log.update_index = a.index;
	assert_int_equal(reftable_append_start(&a, 1, NULL), 0);
	assert_int_equal(reftable_writer_add_ref(a.writer, &ref, NULL), 0);
	assert_int_equal(reftable_writer_add_log(a.writer, &log, NULL), 0);
	assert_int_equal(reftable_append_finish(&a, NULL), 0);
	assert_int_equal(reftable_append_commit(&a, NULL), 0);
	reftable_append_release(&a);
	buf_release(&path);
}

static void setup(struct twins *t, enum hash_algo algo, unsigned nr)
{
	/* `to` has room for a line feed. */
	char from[OID_MAX_HEX_LEN + 1], to[OID_MAX_HEX_LEN + 2];
	struct buf text = BUF_INIT, dir = BUF_INIT;

	tmprepo_init(&t->file, algo);
	tmprepo_init(&t->table, algo);
	t->table.repo.ref_storage = REPO_REFS_REFTABLE;
	buf_printf(&dir, "%s/reftable", t->table.dir);
	assert_int_equal(sys_mkdir_p(dir.data, NULL), 0);
	buf_release(&dir);
	for (unsigned i = 1; i <= nr; i++) {
		id_hex(from, i - 1, algo);
		id_hex(to, i, algo);
		buf_printf(&text, "%s %s A U <a@b> %u %s\tm\n", from, to,
			   100 + i, i & 1 ? "-0230" : "+0100");
		put_record(&t->table, "reftable", ref_name, i);
		/*
		 * The reftable has reflogs of further refs. They must not
		 * change.
		 */
		put_record(&t->table, "reftable", "refs/heads/mai", i);
		put_record(&t->table, "reftable", "refs/heads/main/x", i);
	}
	if (!nr)
		return;
	tmprepo_write(&t->file, "logs/refs/heads/main", text.data);
	strcat(to, "\n");
	tmprepo_write(&t->file, ref_name, to);
	buf_release(&text);
}

static void teardown(struct twins *t)
{
	tmprepo_release(&t->file);
	tmprepo_release(&t->table);
}

static struct oid value_of(const struct repo *repo)
{
	struct refs *refs;
	struct ref ref;

	assert_int_equal(refs_open(&refs, repo, NULL), 0);
	refs_lookup(refs, ref_name, &ref, NULL);
	refs_close(refs);
	return ref.oid;
}

/* Checks that both reflogs have the same lines. */
static void compare(const struct twins *t)
{
	struct reflog a = REFLOG_INIT, b = REFLOG_INIT;
	struct oid values[2] = {value_of(&t->file.repo),
				value_of(&t->table.repo)};

	assert_int_equal(reflog_read(&a, &t->file.repo, ref_name, NULL),
			 reflog_read(&b, &t->table.repo, ref_name, NULL));
	assert_int_equal(a.nr, b.nr);
	for (size_t i = 0; i < a.nr; i++) {
		const struct reflog_line *x = &a.lines[i], *y = &b.lines[i];

		assert_true(oid_equal(&x->old_oid, &y->old_oid));
		assert_true(oid_equal(&x->new_oid, &y->new_oid));
		assert_int_equal(x->time, y->time);
		assert_int_equal(x->text_len, y->text_len);
		assert_memory_equal(x->text, y->text, x->text_len);
		assert_int_equal(x->message_len, y->message_len);
	}
	assert_int_equal(reflog_exists(&t->file.repo, ref_name),
			 reflog_exists(&t->table.repo, ref_name));
	assert_true(oid_equal(&values[0], &values[1]));
	reflog_release(&a);
	reflog_release(&b);
}

static int decide(void *ctx, const char *name, const struct oid *tip,
		  struct reflog *log, struct error *err)
{
	struct twins *t = ctx;

	assert_string_equal(name, ref_name);
	assert_non_null(tip);
	(void)err;
	for (size_t i = 0; i < log->nr; i++)
		log->lines[i].drop = t->drop >> i & 1;
	t->seen_nr = log->nr;
	return 0;
}

static void edit(struct twins *t, struct reflog_edit *how)
{
	how->decide = decide;
	how->ctx = t;
	assert_int_equal(reflog_edit(&t->file.repo, ref_name, how, NULL), 0);
	assert_int_equal(reflog_edit(&t->table.repo, ref_name, how, NULL), 0);
	compare(t);
}

static void test_random(void **state)
{
	uint64_t seed = random_seed();

	for (int round = 0; round < 12; round++) {
		struct twins t;

		setup(&t, round % 2 ? HASH_SHA256 : HASH_SHA1,
		      (unsigned)(random_next(&seed) % 6));
		compare(&t);
		for (int i = 0; i < 3; i++) {
			struct reflog_edit how = {
				.dry_run = random_next(&seed) % 4 == 0,
				.rewrite = random_next(&seed) % 2,
				.update_ref = random_next(&seed) % 2,
			};

			t.drop = random_next(&seed);
			edit(&t, &how);
		}
		assert_int_equal(reflog_drop(&t.file.repo, ref_name, NULL), 0);
		assert_int_equal(reflog_drop(&t.table.repo, ref_name, NULL), 0);
		compare(&t);
		assert_false(reflog_exists(&t.table.repo, ref_name));
		teardown(&t);
	}
}

/* Returns the content of tables.list, the list of tables of a stack. */
static struct buf list_of(const struct tmprepo *t)
{
	struct buf path = BUF_INIT, list = BUF_INIT;

	buf_printf(&path, "%s/reftable/tables.list", t->dir);
	assert_int_equal(sys_read_file(&list, path.data, NULL), 0);
	buf_release(&path);
	return list;
}

/*
 * An edit removes all entries. The reflog still exists, and other reflogs stay
 * as they are.
 */
static void test_empty(void **state)
{
	struct reflog log = REFLOG_INIT;
	struct reflog_edit how = {.dry_run = false};
	struct buf tables, again;
	struct twins t;

	setup(&t, HASH_SHA1, 3);
	t.drop = UINT64_MAX;
	edit(&t, &how);
	assert_true(reflog_exists(&t.table.repo, ref_name));
	tables = list_of(&t.table);
	edit(&t, &how);
	assert_int_equal(t.seen_nr, 0);
	/* The second edit changes nothing, so it writes no table. */
	again = list_of(&t.table);
	assert_string_equal(again.data, tables.data);
	buf_release(&tables);
	buf_release(&again);
	assert_int_equal(
		reflog_read(&log, &t.table.repo, "refs/heads/main/x", NULL), 1);
	assert_int_equal(log.nr, 3);
	reflog_release(&log);
	teardown(&t);
}

/*
 * Adds a record of a ref: a symbolic ref to `target`, or a deletion if `target`
 * is NULL.
 */
static void put_ref(const struct tmprepo *t, const char *name,
		    const char *target)
{
	struct reftable_append_options options = {.algo = HASH_SHA1};
	struct reftable_ref ref = {
		.name = name,
		.name_len = strlen(name),
		.value = target ? REFTABLE_SYMBOLIC : REFTABLE_DELETED,
		.target = target,
		.target_len = target ? strlen(target) : 0,
	};
	struct reftable_append a;
	struct buf path = BUF_INIT;

	buf_printf(&path, "%s/reftable", t->dir);
	assert_int_equal(reftable_append_begin(&a, path.data, &options, NULL),
			 0);
	ref.update_index = a.index;
	assert_int_equal(reftable_append_start(&a, 1, NULL), 0);
	assert_int_equal(reftable_writer_add_ref(a.writer, &ref, NULL), 0);
	assert_int_equal(reftable_append_finish(&a, NULL), 0);
	assert_int_equal(reftable_append_commit(&a, NULL), 0);
	reftable_append_release(&a);
	buf_release(&path);
}

static int note_tip(void *ctx, const char *name, const struct oid *tip,
		    struct reflog *log, struct error *err)
{
	*(struct oid *)ctx = tip ? *tip : (struct oid)OID_ZERO_INIT;
	log->lines[log->nr - 1].drop = true;
	return 0;
}

/*
 * The callback of an edit gets the present id of the ref. If the ref is
 * symbolic or missing, the callback gets no id, and the edit does not change
 * the ref.
 */
static void test_tip(void **state)
{
	struct oid tip, three = id_of(3, HASH_SHA1);
	const struct reflog_edit how = {
		.decide = note_tip, .ctx = &tip, .update_ref = true};
	struct reflog log = REFLOG_INIT;
	struct refs *refs;
	struct ref ref;
	struct twins t;

	setup(&t, HASH_SHA1, 3);
	put_ref(&t.table, "refs/heads/mai", NULL);
	put_ref(&t.table, "refs/heads/main/x", ref_name);
	assert_int_equal(reflog_edit(&t.table.repo, ref_name, &how, NULL), 0);
	assert_true(oid_equal(&tip, &three));
	assert_int_equal(
		reflog_edit(&t.table.repo, "refs/heads/mai", &how, NULL), 0);
	assert_true(oid_is_zero(&tip));
	assert_int_equal(
		reflog_edit(&t.table.repo, "refs/heads/main/x", &how, NULL), 0);
	assert_true(oid_is_zero(&tip));
	assert_int_equal(refs_open(&refs, &t.table.repo, NULL), 0);
	assert_int_equal(refs_read(refs, "refs/heads/mai", &ref, NULL), 0);
	assert_int_equal(refs_read(refs, "refs/heads/main/x", &ref, NULL), 1);
	assert_string_equal(ref.target, ref_name);
	refs_close(refs);
	/*
	 * After reflog_release(), the same struct can be used to read another
	 * reflog.
	 */
	for (int i = 0; i < 2; i++) {
		assert_int_equal(
			reflog_read(&log, &t.table.repo, ref_name, NULL), 1);
		assert_int_equal(log.nr, 2);
		reflog_release(&log);
		assert_int_equal(log.nr, 0);
		assert_int_equal(log.bytes.len, 0);
	}
	teardown(&t);
}

static void test_locked(void **state)
{
	struct reflog_edit how = {.decide = decide};
	struct twins t;

	setup(&t, HASH_SHA1, 2);
	how.ctx = &t;
	tmprepo_write(&t.table, "reftable/tables.list.lock", "");
	assert_int_equal(reflog_edit(&t.table.repo, ref_name, &how, NULL),
			 ERR_DENIED);
	compare(&t);
	teardown(&t);
}

static int add_name(void *ctx, const char *name)
{
	return buf_printf(ctx, "%s\n", name);
}

static void names_are(const struct repo *repo, bool all, const char *want)
{
	struct buf got = BUF_INIT;

	assert_int_equal(reflog_each(repo, all, add_name, &got, NULL), 0);
	assert_string_equal(got.data, want);
	buf_release(&got);
}

/*
 * Lists the reflogs of a repository with reftables: the shared reflogs, and
 * those of this work tree. The reflogs of other work trees are listed only on
 * request.
 */
static void test_names(void **state)
{
	struct buf git_dir = BUF_INIT;
	struct repo linked;
	struct tmprepo t;

	tmprepo_init(&t, HASH_SHA1);
	t.repo.ref_storage = REPO_REFS_REFTABLE;
	names_are(&t.repo, true, "");
	put_record(&t, "reftable", "HEAD", 1);
	put_record(&t, "reftable", "HEAD", 2);
	put_record(&t, "reftable", "refs/heads/a", 1);
	put_record(&t, "worktrees/w/reftable", "HEAD", 1);
	names_are(&t.repo, false, "HEAD\nrefs/heads/a\n");
	names_are(&t.repo, true, "HEAD\nrefs/heads/a\nworktrees/w/HEAD\n");
	buf_printf(&git_dir, "%s/worktrees/w", t.dir);
	linked = t.repo;
	linked.git_dir = git_dir.data;
	names_are(&linked, false, "HEAD\nrefs/heads/a\n");
	names_are(&linked, true, "HEAD\nmain-worktree/HEAD\nrefs/heads/a\n");
	assert_true(reflog_exists(&linked, "main-worktree/HEAD"));
	assert_false(reflog_exists(&linked, "refs/heads"));
	buf_release(&git_dir);
	tmprepo_release(&t);
}

struct listing {
	const struct repo *repo;
	struct buf names;
};

static int list(void *ctx, struct error *err)
{
	struct listing *l = ctx;

	buf_reset(&l->names);
	return reflog_each(l->repo, true, add_name, &l->names, err);
}

static void check_list(void *ctx)
{
	assert_string_equal(((struct listing *)ctx)->names.data,
			    "HEAD\nrefs/heads/a\nworktrees/w/HEAD\n");
}

/* Writes a reflog of two lines, in place of the old reflog. */
static void write_again(void *ctx)
{
	struct twins *t = ctx;

	assert_int_equal(reflog_drop(&t->table.repo, ref_name, NULL), 0);
	put_record(&t->table, "reftable", ref_name, 1);
	put_record(&t->table, "reftable", ref_name, 2);
}

/*
 * Drops the second line of a reflog, and sets the ref to the id of the first
 * line. Returns 0 or a negative error code.
 */
static int edit_again(void *ctx, struct error *err)
{
	struct twins *t = ctx;
	const struct reflog_edit how = {
		.decide = decide, .ctx = t, .update_ref = true};

	return reflog_edit(&t->table.repo, ref_name, &how, err);
}

static void check_edit(void *ctx)
{
	struct twins *t = ctx;
	struct oid one = id_of(1, HASH_SHA1), value = value_of(&t->table.repo);
	struct reflog log = REFLOG_INIT;

	assert_true(oid_equal(&value, &one));
	assert_int_equal(reflog_read(&log, &t->table.repo, ref_name, NULL), 1);
	assert_int_equal(log.nr, 1);
	assert_true(oid_equal(&log.lines[0].new_oid, &one));
	assert_memory_equal(log.lines[0].message, "m", 1);
	reflog_release(&log);
}

static void test_no_memory(void **state)
{
	struct listing l = {.names = BUF_INIT};
	struct tmprepo t;
	struct twins twins;

	tmprepo_init(&t, HASH_SHA1);
	t.repo.ref_storage = REPO_REFS_REFTABLE;
	put_record(&t, "reftable", "HEAD", 1);
	put_record(&t, "reftable", "refs/heads/a", 1);
	put_record(&t, "worktrees/w/reftable", "HEAD", 1);
	l.repo = &t.repo;
	/*
	 * The buffer is large enough, so that add_name() allocates no memory.
	 */
	assert_int_equal(buf_reserve(&l.names, 256), 0);
	nomem_each(NULL, list, check_list, &l);
	buf_release(&l.names);
	tmprepo_release(&t);
	setup(&twins, HASH_SHA1, 1);
	twins.drop = 2;
	nomem_each(write_again, edit_again, check_edit, &twins);
	teardown(&twins);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random), cmocka_unit_test(test_empty),
		cmocka_unit_test(test_locked), cmocka_unit_test(test_names),
		cmocka_unit_test(test_tip),    cmocka_unit_test(test_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
