/* SPDX-License-Identifier: MIT */
/*
 * Tests of generations/commit.c, which makes the next generation (version) of a
 * repository in a store. No change may be lost or made twice, even if other
 * writers make generations or if answers of the store are lost.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>

#include "generations/commit.h"
#include "generations/names.h"
#include "sys/tempdir.h"
#include "t/unit/genhost.h"
#include "t/unit/memstore.h"

#define MINUTE ((uint64_t)60000000000)

struct repo {
	struct memstore mem;
	struct genhost host;
	struct generation_place place;
	/*
	 * How the next `put_nr` puts of records (manifests) end, and how the
	 * next `read_nr` reads end. Later requests succeed.
	 */
	const enum memstore_fate *puts, *reads;
	size_t put_nr, read_nr;
	/* Callback before each put of a record (manifest). */
	void (*before_put)(struct repo *r);
	unsigned deletes, record_puts;
	struct generation base;
};

static enum memstore_fate take(const enum memstore_fate **fates, size_t *nr)
{
	if (!*nr)
		return MEMSTORE_NORMAL;
	--*nr;
	return *(*fates)++;
}

static enum memstore_fate decide(void *ctx, enum memstore_op op,
				 const char *name)
{
	struct repo *r = ctx;

	r->deletes += op == MEMSTORE_DELETE;
	if (!strstr(name, "/gen/"))
		return MEMSTORE_NORMAL;
	if (op == MEMSTORE_READ)
		return take(&r->reads, &r->read_nr);
	r->record_puts++;
	if (r->before_put)
		r->before_put(r);
	return take(&r->puts, &r->put_nr);
}

static void repo_init(struct repo *r)
{
	memset(r, 0, sizeof(*r));
	memstore_init(&r->mem);
	genhost_init(&r->host);
	r->place = (struct generation_place){&r->mem.store, &r->host.host, "r"};
	r->mem.fate = decide;
	r->mem.ctx = r;
}

static void repo_release(struct repo *r)
{
	/* Making a generation (version) must never delete a file. */
	assert_int_equal(r->deletes, 0);
	generation_release(&r->base);
	memstore_release(&r->mem);
}

/*
 * Makes the next generation with a change of *base: the ref `ref` changes from
 * `before` to `after`, and a file is added.
 */
static int push(struct repo *r, struct generation *base, const char *ref,
		const char *before, const char *after, struct error *err)
{
	struct generation_ref_change change_ref = {ref, before, after};
	char path[64];
	struct generation_upload up;
	struct generation_change change = {
		.node = "n",
		.user = "u",
		.action = "push",
		.seen = base->number,
		.uploads = &up,
		.upload_nr = 1,
		.refs = &change_ref,
		.ref_nr = 1,
		.session_ns = MINUTE,
	};

	snprintf(path, sizeof(path), "objects/pack/%s.pack",
		 after ? after : "none");
	up = genhost_upload(path, path);
	return generation_commit(base, &r->place, &change, err);
}

/* Makes the next generation (version) as another writer would do it. */
static void other_push(struct repo *r, const char *ref, const char *after)
{
	struct generation base;
	int ret;

	r->mem.fate = NULL;
	ret = generation_newest(&base, &r->place, 0, NULL);
	assert_true(ret == 0 || ret == STORE_ABSENT);
	assert_int_equal(push(r, &base, ref, NULL, after, NULL), 0);
	generation_release(&base);
	r->mem.fate = decide;
}

static const char *value_of(struct repo *r, const char *ref, char *out)
{
	const struct generation_update *u;
	struct generation g;

	r->mem.fate = NULL;
	assert_int_equal(generation_newest(&g, &r->place, 0, NULL), 0);
	u = generation_find_update(&g, ref);
	snprintf(out, 32, "%s", u && u->value ? u->value : "-");
	generation_release(&g);
	r->mem.fate = decide;
	return out;
}

static void expect(struct repo *r, const char *ref, const char *value)
{
	char found[32];

	assert_string_equal(value_of(r, ref, found), value);
}

static uint64_t newest(struct repo *r)
{
	struct generation g;
	uint64_t number;

	assert_int_equal(generation_newest(&g, &r->place, 0, NULL), 0);
	number = g.number;
	generation_release(&g);
	return number;
}

static void test_commit(void **state)
{
	struct generation read;
	struct buf name = BUF_INIT;
	struct repo r;

	repo_init(&r);
	assert_int_equal(push(&r, &r.base, "main", NULL, "1", NULL), 0);
	assert_int_equal(r.base.number, 1);
	/* A push puts three files: an upload, a hint, a record (manifest). */
	assert_int_equal(r.mem.requests, 3);
	assert_int_equal(push(&r, &r.base, "main", "1", "2", NULL), 0);
	/* Again an upload, a hint and a record are put. */
	assert_int_equal(r.mem.requests, 6);
	assert_int_equal(push(&r, &r.base, "main", "2", "3", NULL), 0);
	assert_string_equal(memstore_find(&r.mem, "hint/r/_")->bytes, "2\n");

	assert_int_equal(generation_read(&read, &r.place, 3, NULL), 0);
	assert_string_equal(read.node, "n");
	assert_string_equal(read.user, "u");
	assert_string_equal(read.action, "push");
	assert_int_equal(read.time, 1764200000);
	assert_int_equal(read.file_nr, 3);
	assert_memory_equal(read.token, r.base.token, sizeof(read.token));
	for (size_t i = 0; i < read.file_nr; i++) {
		buf_reset(&name);
		assert_int_equal(
			generation_file_name(&name, "r", &read.files[i], NULL),
			0);
		assert_string_equal(memstore_find(&r.mem, name.data)->bytes,
				    read.files[i].path);
	}
	assert_memory_not_equal(read.files[0].upload, read.files[1].upload,
				GENERATION_TOKEN_LEN);
	generation_release(&read);
	buf_release(&name);
	repo_release(&r);
}

/*
 * The requests so far, one letter for each. A put is "f" (a file), "h" (the
 * hint: the number of a recent record) or "r" (a record, also called manifest).
 * Any other request is "?".
 */
static char noted[32];

static enum memstore_fate note(void *ctx, enum memstore_op op, const char *name)
{
	const char *kind = strstr(name, "/gen/")        ? "r"
			   : strstr(name, "/file/")     ? "f"
			   : !strncmp(name, "hint/", 5) ? "h"
							: "?";

	strncat(noted, op == MEMSTORE_PUT ? kind : "?",
		sizeof(noted) - strlen(noted) - 1);
	return MEMSTORE_NORMAL;
}

/*
 * A push needs two round trips: in the first, the files are written; in the
 * second, the record (manifest). A push without files needs only the second.
 */
static void test_round_trips(void **state)
{
	struct generation_ref_change ref = {"main", "1", NULL};
	struct generation_change change = {
		.refs = &ref,
		.ref_nr = 1,
		.session_ns = MINUTE,
	};
	struct generation_upload ups[3];
	struct generation_session session;
	struct repo r;

	repo_init(&r);
	assert_int_equal(push(&r, &r.base, "main", NULL, "1", NULL), 0);
	r.mem.fate = note;
	*noted = '\0';
	change.seen = r.base.number;
	assert_int_equal(generation_commit(&r.base, &r.place, &change, NULL),
			 0);
	assert_string_equal(noted, "r");

	ups[0] = genhost_upload("objects/pack/a.pack", "pack");
	ups[1] = genhost_upload("objects/pack/a.idx", "idx");
	ups[2] = genhost_upload("objects/pack/a.rev", "rev");
	change.uploads = ups;
	change.upload_nr = ARRAY_NR(ups);
	change.ref_nr = 0;
	*noted = '\0';
	assert_int_equal(generation_session_begin(&session, &r.place, &change,
						  &r.base, NULL),
			 0);
	assert_string_equal(noted, "fff?");
	ref = (struct generation_ref_change){"main", NULL, "2"};
	change.ref_nr = 1;
	assert_int_equal(generation_session_commit(&r.base, &r.place, &change,
						   &session, NULL),
			 0);
	assert_string_equal(noted, "fff?r");
	r.mem.fate = NULL;
	expect(&r, "main", "2");
	assert_int_equal(r.base.file_nr, 4);
	assert_memory_equal(
		generation_find_file(&r.base, ups[0].file.path)->upload,
		session.upload, GENERATION_TOKEN_LEN);
	repo_release(&r);
}

static int begin(struct repo *r, const struct generation_change *change,
		 struct error *err)
{
	struct generation_session session;

	return generation_session_begin(&session, &r->place, change, &r->base,
					err);
}

/* Replaces the record (manifest) of r->base by a retired (emptied) one. */
static void retire(struct repo *r)
{
	struct generation g = {.number = r->base.number, .is_retired = true};
	struct buf text = BUF_INIT, name = BUF_INIT;

	memcpy(g.parent, r->base.parent, sizeof(g.parent));
	assert_int_equal(generation_print(&text, NULL, &g, NULL), 0);
	assert_int_equal(generation_record_name(&name, r->place.repository,
						g.number, NULL),
			 0);
	assert_int_equal(
		filestore_put(r->place.store, NULL, name.data, text.data,
			      text.len,
			      &(struct filestore_condition){STORE_ALWAYS, NULL},
			      NULL),
		0);
	buf_release(&text);
	buf_release(&name);
}

/*
 * A change is published in two steps: first its files are uploaded, then the
 * record is made. The first step must fail if the store has lost the generation
 * (version) on which the change is based.
 */
static void test_lost(void **state)
{
	struct generation_upload up = genhost_upload("p.pack", "pack");
	struct generation_change change = {
		.uploads = &up,
		.upload_nr = 1,
		.session_ns = MINUTE,
	};
	struct error err = ERROR_INIT;
	struct repo r, other;

	repo_init(&r);
	repo_init(&other);
	assert_int_equal(push(&r, &r.base, "main", NULL, "1", NULL), 0);
	assert_int_equal(push(&r, &r.base, "main", "1", "2", NULL), 0);
	change.seen = r.base.number;
	assert_int_equal(begin(&r, &change, NULL), 0);

	/* The store has another generation (version) with the same number. */
	r.base.token[0] ^= 1;
	assert_int_equal(begin(&r, &change, &err), GENERATION_LOST);
	assert_non_null(strstr(err.msg, ", but another generation with this"));
	r.base.token[0] ^= 1;

	/* A retired record has no token: r.base.parent is compared instead. */
	retire(&r);
	assert_int_equal(begin(&r, &change, NULL), 0);
	r.base.parent[0] ^= 1;
	assert_int_equal(begin(&r, &change, NULL), GENERATION_LOST);
	r.base.parent[0] ^= 1;

	/* The store is empty, so the first step of publishing fails. */
	r.place.store = other.place.store;
	assert_int_equal(begin(&r, &change, &err), GENERATION_LOST);
	assert_string_equal(err.msg, "the store does not have generation 2 of "
				     "the repository");
	change.upload_nr = 0;
	assert_int_equal(begin(&r, &change, NULL), GENERATION_LOST);
	repo_release(&other);
	repo_release(&r);
}

/*
 * Another writer has changed one of two refs, so the second step of publishing
 * the change fails. The caller can try the second step again without this ref.
 */
static void test_prepared_again(void **state)
{
	struct generation_ref_change refs[] = {{"mine", NULL, "1"},
					       {"other", NULL, "1"}};
	struct generation_upload up = genhost_upload("p.pack", "pack");
	struct generation_change change = {
		.uploads = &up,
		.upload_nr = 1,
		.refs = refs,
		.ref_nr = 2,
		.session_ns = MINUTE,
	};
	struct generation_session session;
	struct error err = ERROR_INIT;
	struct repo r;

	repo_init(&r);
	assert_int_equal(push(&r, &r.base, "main", NULL, "1", NULL), 0);
	change.seen = r.base.number;
	assert_int_equal(generation_session_begin(&session, &r.place, &change,
						  &r.base, NULL),
			 0);
	other_push(&r, "other", "o");
	assert_int_equal(generation_session_commit(&r.base, &r.place, &change,
						   &session, NULL),
			 GENERATION_REF_CHANGED);
	assert_int_equal(generation_change_check_ref(&r.base, &change, 1, &err),
			 GENERATION_REF_CHANGED);
	assert_string_equal(err.msg,
			    "ref 'other' was changed by another writer");
	assert_int_equal(generation_change_check_ref(&r.base, &change, 0, NULL),
			 0);
	change.ref_nr = 1;
	assert_int_equal(generation_session_commit(&r.base, &r.place, &change,
						   &session, NULL),
			 0);
	expect(&r, "mine", "1");
	expect(&r, "other", "o");
	assert_non_null(generation_find_file(&r.base, "p.pack"));

	/* The time limit is for both steps of publishing a change together. */
	change.upload_nr = 0;
	refs[0] = (struct generation_ref_change){"mine", "1", "2"};
	r.host.now_ns += MINUTE;
	assert_int_equal(generation_session_commit(&r.base, &r.place, &change,
						   &session, NULL),
			 GENERATION_TOO_LATE);
	expect(&r, "mine", "1");
	repo_release(&r);
}

static unsigned hints_before_put;

static void count_hints(struct repo *r)
{
	hints_before_put += memstore_find(&r->mem, "hint/r/_") != NULL;
}

static enum memstore_fate fail_hint(void *ctx, enum memstore_op op,
				    const char *name)
{
	return op == MEMSTORE_PUT && !strncmp(name, "hint/", 5)
		       ? MEMSTORE_DOWN
		       : decide(ctx, op, name);
}

/*
 * Repositories are listed by their hints (files with the number of a recent
 * record). So the first push writes the hint before the record (manifest).
 */
static void test_first_hint(void **state)
{
	struct repo r;

	repo_init(&r);
	r.before_put = count_hints;
	hints_before_put = 0;
	assert_int_equal(push(&r, &r.base, "main", NULL, "1", NULL), 0);
	assert_int_equal(hints_before_put, 1);
	repo_release(&r);

	repo_init(&r);
	r.mem.fate = fail_hint;
	assert_int_equal(push(&r, &r.base, "main", NULL, "1", NULL),
			 GENERATION_STORE_DOWN);
	assert_int_equal(r.record_puts, 0);
	repo_release(&r);
}

/* Several threads upload files. Some of these are local files. */
static void test_threads(void **state)
{
	struct generation_upload ups[9];
	struct generation_change change = {
		.uploads = ups,
		.upload_nr = ARRAY_NR(ups),
		.session_ns = MINUTE,
	};
	char paths[ARRAY_NR(ups)][16];
	struct buf local = BUF_INIT, name = BUF_INIT;
	struct sys_tempdir dir = SYS_TEMPDIR_INIT;
	struct repo r;
	FILE *f;

	repo_init(&r);
	r.host.host.threads = 4;
	r.mem.fate = NULL;
	assert_int_equal(sys_tempdir_create(&dir, "/tmp", "commit-", NULL), 0);
	assert_int_equal(buf_printf(&local, "%s/f", dir.path), 0);
	f = fopen(local.data, "w");
	assert_non_null(f);
	assert_true(fputs("file 0", f) >= 0);
	assert_int_equal(fclose(f), 0);
	for (size_t i = 0; i < ARRAY_NR(ups); i++) {
		snprintf(paths[i], sizeof(paths[i]), "file %zu", i);
		ups[i] = genhost_upload(paths[i], paths[i]);
	}
	ups[0].bytes = NULL;
	ups[0].local_path = local.data;
	assert_int_equal(generation_commit(&r.base, &r.place, &change, NULL),
			 0);
	assert_int_equal(r.base.file_nr, ARRAY_NR(ups));
	for (size_t i = 0; i < r.base.file_nr; i++) {
		buf_reset(&name);
		assert_int_equal(generation_file_name(&name, "r",
						      &r.base.files[i], NULL),
				 0);
		assert_string_equal(memstore_find(&r.mem, name.data)->bytes,
				    paths[i]);
	}
	ups[0].local_path = "/nonexistent/file";
	assert_int_equal(generation_commit(&r.base, &r.place, &change, NULL),
			 ERR_MISSING);
	assert_int_equal(r.base.number, 1);
	sys_tempdir_release(&dir);
	buf_release(&local);
	buf_release(&name);
	repo_release(&r);
}

static void other_once(struct repo *r)
{
	r->before_put = NULL;
	other_push(r, "other", "o");
}

static void test_rebase(void **state)
{
	struct repo r;

	repo_init(&r);
	assert_int_equal(push(&r, &r.base, "main", NULL, "1", NULL), 0);
	r.before_put = other_once;
	r.mem.requests = 0;
	assert_int_equal(push(&r, &r.base, "main", "1", "2", NULL), 0);
	assert_int_equal(r.base.number, 3);
	expect(&r, "main", "2");
	expect(&r, "other", "o");
	assert_int_equal(r.base.file_nr, 3);
	repo_release(&r);
}

/*
 * The change borrows memory of *base. generation_commit() replaces *base twice,
 * so it must copy the borrowed memory before.
 */
static void test_borrowed(void **state)
{
	struct generation_ref_change ref = {"main", NULL, "2"};
	struct generation_change change = {
		.seen = 1,
		.drop_nr = 1,
		.refs = &ref,
		.ref_nr = 1,
		.session_ns = MINUTE,
	};
	struct repo r;

	repo_init(&r);
	assert_int_equal(push(&r, &r.base, "main", NULL, "1", NULL), 0);
	change.drops = r.base.files;
	ref.before = r.base.updates[0].value;
	r.before_put = other_once;
	assert_int_equal(generation_commit(&r.base, &r.place, &change, NULL),
			 0);
	assert_int_equal(r.base.number, 3);
	assert_int_equal(r.base.file_nr, 1);
	assert_string_equal(r.base.files[0].path, "objects/pack/o.pack");
	expect(&r, "main", "2");
	repo_release(&r);
}

static void other_always(struct repo *r)
{
	char ref[16];

	snprintf(ref, sizeof(ref), "o%u", r->record_puts);
	other_push(r, ref, ref);
}

static void test_busy(void **state)
{
	struct error err = ERROR_INIT;
	struct repo r;

	repo_init(&r);
	assert_int_equal(push(&r, &r.base, "main", NULL, "1", NULL), 0);
	r.before_put = other_always;
	r.record_puts = 0;
	assert_int_equal(push(&r, &r.base, "main", "1", "2", &err),
			 GENERATION_BUSY);
	assert_non_null(strstr(err.msg, "other writers changed"));
	assert_int_equal(r.record_puts, GENERATION_TRIES);
	expect(&r, "main", "1");
	assert_true(r.host.slept_ns > 0);
	repo_release(&r);
}

/*
 * A push that starts from an old generation (version), or from none, must be
 * made on top of the newest one.
 */
static void test_old_base(void **state)
{
	struct generation old = {0}, none = {0};
	struct error err = ERROR_INIT;
	char ref[16];
	struct repo r;

	repo_init(&r);
	assert_int_equal(push(&r, &r.base, "main", NULL, "1", NULL), 0);
	assert_int_equal(generation_copy(&old, &r.base, NULL), 0);
	for (unsigned i = 0; i < 40; i++) {
		snprintf(ref, sizeof(ref), "o%u", i);
		other_push(&r, ref, ref);
	}
	assert_int_equal(push(&r, &old, "main", "1", "2", NULL), 0);
	assert_int_equal(old.number, 42);
	/*
	 * Change the ref several times. A change that expects an older value of
	 * the ref must then be refused.
	 */
	assert_int_equal(push(&r, &r.base, "main", "2", "3", NULL), 0);
	assert_int_equal(push(&r, &none, "main", "3", "4", NULL), 0);
	assert_int_equal(none.number, 44);
	assert_int_equal(push(&r, &old, "main", "2", "5", &err),
			 GENERATION_REF_CHANGED);
	assert_non_null(strstr(err.msg, "'main'"));
	assert_int_equal(old.number, 44);
	generation_release(&old);
	generation_release(&none);
	repo_release(&r);
}

struct lost_case {
	enum memstore_fate puts[4], reads[4];
	size_t put_nr, read_nr;
	int result;
	/* Number of the newest record (manifest) after the push. */
	uint64_t newest;
};

static const struct lost_case lost_cases[] = {
	/* A response is lost, or a put is executed twice. The push succeeds. */
	{{MEMSTORE_LOST}, {0}, 1, 0, GENERATION_COMMITTED, 2},
	{{MEMSTORE_NOTHING}, {0}, 1, 0, GENERATION_COMMITTED, 2},
	{{MEMSTORE_LATE}, {0}, 1, 0, GENERATION_COMMITTED, 2},
	{{MEMSTORE_REPEATED}, {0}, 1, 0, GENERATION_COMMITTED, 2},
	/*
	 * The first response is lost. The record (manifest) cannot be read or
	 * is absent. So it is put again. If this fails, the result is unknown.
	 */
	{{MEMSTORE_LOST}, {MEMSTORE_DOWN}, 1, 1, GENERATION_COMMITTED, 2},
	{{MEMSTORE_NOTHING}, {MEMSTORE_ERROR}, 1, 1, GENERATION_COMMITTED, 2},
	{{MEMSTORE_LOST, MEMSTORE_DOWN},
	 {MEMSTORE_DOWN},
	 2,
	 1,
	 GENERATION_UNKNOWN,
	 2},
	{{MEMSTORE_NOTHING, MEMSTORE_ERROR}, {0}, 2, 0, GENERATION_UNKNOWN, 1},
	/*
	 * The first response is lost. The record (manifest) can be read, but a
	 * power loss may remove it: no response proves that it is durable.
	 */
	{{MEMSTORE_LOST, MEMSTORE_DOWN}, {0}, 2, 0, GENERATION_UNKNOWN, 2},
	{{MEMSTORE_LOST, MEMSTORE_LOST, MEMSTORE_LOST, MEMSTORE_LOST},
	 {0},
	 4,
	 0,
	 GENERATION_UNKNOWN,
	 2},
	/* All responses are lost, so the result of the push is unknown. */
	{{MEMSTORE_NOTHING, MEMSTORE_NOTHING, MEMSTORE_NOTHING,
	  MEMSTORE_NOTHING},
	 {0},
	 4,
	 0,
	 GENERATION_UNKNOWN,
	 1},
	{{MEMSTORE_LOST, MEMSTORE_LOST, MEMSTORE_LOST, MEMSTORE_LOST},
	 {MEMSTORE_DOWN, MEMSTORE_DOWN, MEMSTORE_DOWN, MEMSTORE_DOWN},
	 4,
	 4,
	 GENERATION_UNKNOWN,
	 2},
	/* No earlier response was lost, so a failed put means a failed push. */
	{{MEMSTORE_DOWN}, {0}, 1, 0, GENERATION_STORE_DOWN, 1},
	{{MEMSTORE_ERROR}, {0}, 1, 0, ERR_DENIED, 1},
};

static void test_lost_answers(void **state)
{
	for (size_t i = 0; i < ARRAY_NR(lost_cases); i++) {
		const struct lost_case *c = &lost_cases[i];
		struct error err = ERROR_INIT;
		struct repo r;
		int ret;

		repo_init(&r);
		assert_int_equal(push(&r, &r.base, "main", NULL, "1", NULL), 0);
		r.puts = c->puts;
		r.put_nr = c->put_nr;
		r.reads = c->reads;
		r.read_nr = c->read_nr;
		ret = push(&r, &r.base, "main", "1", "2", &err);
		if (ret != c->result)
			fail_msg("case %zu: %d %s", i, ret, err.msg);
		assert_int_equal(r.put_nr, 0);
		assert_int_equal(r.read_nr, 0);
		if (ret)
			assert_int_not_equal(err.msg[0], '\0');
		assert_int_equal(newest(&r), c->newest);
		expect(&r, "main", c->newest == 2 ? "2" : "1");
		repo_release(&r);
	}
}

static void land_then_other(struct repo *r)
{
	if (r->record_puts == 2)
		other_push(r, "other", "o");
}

/*
 * A put may take effect late, after the writer has tried again. A change must
 * never be in two records (manifests).
 */
static void test_late_put(void **state)
{
	static const enum memstore_fate late[] = {MEMSTORE_LATE};
	struct repo r;

	repo_init(&r);
	assert_int_equal(push(&r, &r.base, "main", NULL, "1", NULL), 0);
	r.puts = late;
	r.put_nr = 1;
	r.record_puts = 0;
	r.before_put = land_then_other;
	assert_int_equal(push(&r, &r.base, "main", "1", "2", NULL), 0);
	assert_int_equal(r.base.number, 3);
	assert_int_equal(r.mem.late_nr, 1);
	memstore_land(&r.mem);
	assert_int_equal(newest(&r), 3);
	expect(&r, "main", "2");
	repo_release(&r);
}

static void pass_time(struct repo *r)
{
	r->host.now_ns += MINUTE;
}

static void suspend(struct repo *r)
{
	r->host.seconds += 61;
}

/*
 * If too much time passes between the first upload and the record, no record is
 * made: a garbage collection may have deleted the uploaded files.
 */
static void test_session(void **state)
{
	static const enum memstore_fate nothing[] = {MEMSTORE_NOTHING};
	void (*const passes[])(struct repo *) = {pass_time, suspend};

	for (size_t i = 0; i < ARRAY_NR(passes); i++) {
		struct error err = ERROR_INIT;
		struct commit_member m, *members = &m;
		struct generation_change change = {.session_ns = MINUTE};
		struct repo r;

		repo_init(&r);
		assert_int_equal(commit_start(&m, &r.place, &change, NULL), 0);
		passes[i](&r);
		commit_make(&r.base, &r.place, &members, 1);
		assert_int_equal(m.result, GENERATION_TOO_LATE);
		assert_non_null(strstr(m.err.msg, "session"));
		assert_int_equal(r.record_puts, 0);

		/* A put gets no response, and it is too late for another. */
		assert_int_equal(push(&r, &r.base, "main", NULL, "1", NULL), 0);
		r.puts = nothing;
		r.put_nr = 1;
		r.before_put = passes[i];
		r.record_puts = 0;
		assert_int_equal(push(&r, &r.base, "main", "1", "2", &err),
				 GENERATION_UNKNOWN);
		assert_int_equal(r.record_puts, 1);
		repo_release(&r);
	}
}

static void put_retired(struct repo *r)
{
	struct generation g = {.is_retired = true};
	struct buf name = BUF_INIT, text = BUF_INIT;

	other_push(r, "other", "o");
	other_push(r, "third", "t");
	g.number = newest(r) - 1;
	g.parent[0] = 1;
	assert_int_equal(generation_record_name(&name, "r", g.number, NULL), 0);
	assert_int_equal(generation_print(&text, NULL, &g, NULL), 0);
	memstore_write(&r->mem, name.data, text.data, text.len);
	buf_release(&name);
	buf_release(&text);
	r->before_put = NULL;
}

/*
 * Another writer has taken the next number. The record (manifest) with this
 * number was retired (emptied) before the tested code could read it.
 */
static void test_retired(void **state)
{
	struct repo r;

	repo_init(&r);
	assert_int_equal(push(&r, &r.base, "main", NULL, "1", NULL), 0);
	r.before_put = put_retired;
	assert_int_equal(push(&r, &r.base, "main", "1", "2", NULL), 0);
	assert_int_equal(r.base.number, 4);
	assert_string_equal(generation_find_update(&r.base, "third")->value,
			    "t");
	repo_release(&r);
}

static enum memstore_fate take_long(void *ctx, enum memstore_op op,
				    const char *name)
{
	struct repo *r = ctx;
	struct generation g = {.number = 2, .is_retired = true};
	struct buf text = BUF_INIT;

	if (op == MEMSTORE_PUT && strstr(name, "/gen/"))
		return MEMSTORE_LOST;
	if (op != MEMSTORE_READ || !memstore_find(&r->mem, name))
		return MEMSTORE_NORMAL;
	/*
	 * The put has taken effect. Then so much time passes that the record
	 * (manifest) is retired (emptied).
	 */
	r->host.now_ns += MINUTE;
	g.parent[0] = 1;
	assert_int_equal(generation_print(&text, NULL, &g, NULL), 0);
	memstore_write(&r->mem, name, text.data, text.len);
	buf_release(&text);
	return MEMSTORE_NORMAL;
}

/*
 * A retired (emptied) record (manifest) does not show who made it. So the
 * caller cannot know whether its push succeeded.
 */
static void test_ours_retired(void **state)
{
	struct repo r;

	repo_init(&r);
	assert_int_equal(push(&r, &r.base, "main", NULL, "1", NULL), 0);
	r.mem.fate = take_long;
	assert_int_equal(push(&r, &r.base, "main", "1", "2", NULL),
			 GENERATION_UNKNOWN);
	repo_release(&r);
}

/* Callback that lets the next puts of files end as r->puts[] says. */
static enum memstore_fate no_files(void *ctx, enum memstore_op op,
				   const char *name)
{
	struct repo *r = ctx;

	return strstr(name, "/file/") ? take(&r->puts, &r->put_nr)
				      : MEMSTORE_NORMAL;
}

static void test_upload_failures(void **state)
{
	static const enum memstore_fate down[] = {MEMSTORE_DOWN};
	static const enum memstore_fate denied[] = {MEMSTORE_ERROR};
	static const enum memstore_fate lost[] = {
		MEMSTORE_LOST, MEMSTORE_NOTHING, MEMSTORE_LOST};
	struct error err = ERROR_INIT;
	struct repo r;

	repo_init(&r);
	r.mem.fate = no_files;
	r.puts = down;
	r.put_nr = 1;
	assert_int_equal(push(&r, &r.base, "main", NULL, "1", &err),
			 GENERATION_STORE_DOWN);
	assert_string_equal(err.msg, "simulated fault");
	r.puts = denied;
	r.put_nr = 1;
	assert_int_equal(push(&r, &r.base, "main", NULL, "1", NULL),
			 ERR_DENIED);
	r.puts = lost;
	r.put_nr = 3;
	assert_int_equal(push(&r, &r.base, "main", NULL, "1", NULL),
			 GENERATION_STORE_DOWN);
	assert_int_equal(r.put_nr, 0);
	r.puts = lost;
	r.put_nr = 2;
	assert_int_equal(push(&r, &r.base, "main", NULL, "1", NULL), 0);
	assert_int_equal(r.base.number, 1);
	repo_release(&r);
}

/*
 * One record (manifest) has several changes. A change that is refused does not
 * affect the others.
 */
static void test_members(void **state)
{
	static const struct generation_ref_change refs[] = {
		{"a", NULL, "1"},
		{"a", NULL, "2"},
		{"b", "wrong", "3"},
		{"c", NULL, "4"},
	};
	struct generation_change changes[ARRAY_NR(refs)];
	struct commit_member m[ARRAY_NR(refs)], *members[ARRAY_NR(refs)];
	struct repo r;

	repo_init(&r);
	for (size_t i = 0; i < ARRAY_NR(refs); i++) {
		changes[i] = (struct generation_change){
			.user = i ? "second" : "first",
			.refs = &refs[i],
			.ref_nr = 1,
			.session_ns = MINUTE,
		};
		assert_int_equal(
			commit_start(&m[i], &r.place, &changes[i], NULL), 0);
		members[i] = &m[i];
	}
	r.before_put = other_once;
	commit_make(&r.base, &r.place, members, ARRAY_NR(refs));
	assert_int_equal(r.base.number, 2);
	assert_int_equal(m[0].result, GENERATION_COMMITTED);
	assert_int_equal(m[1].result, GENERATION_REF_CHANGED);
	assert_int_equal(m[2].result, GENERATION_REF_CHANGED);
	assert_non_null(strstr(m[2].err.msg, "'b'"));
	assert_int_equal(m[3].result, GENERATION_COMMITTED);
	assert_string_equal(r.base.user, "first");
	expect(&r, "a", "1");
	expect(&r, "b", "-");
	expect(&r, "c", "4");
	expect(&r, "other", "o");
	repo_release(&r);
}

#define LONG_REFS 2200

/* Fills a change with refs that together need nearly 10 MB of text. */
static void make_long(struct generation_ref_change *refs, const char *prefix,
		      const char *value, char (*names)[32])
{
	for (size_t i = 0; i < LONG_REFS; i++) {
		snprintf(names[i], sizeof(names[i]), "%s%04zu", prefix, i);
		refs[i] = (struct generation_ref_change){names[i], NULL, value};
	}
}

/*
 * A record (manifest) also lists the refs of earlier changes. Each of two
 * changes fits into a record, but both together do not. So the second change
 * fails.
 */
static void test_long_members(void **state)
{
	struct generation_ref_change *refs = calloc(2 * LONG_REFS,
						    sizeof(*refs));
	char(*names)[32] = calloc(2 * LONG_REFS, sizeof(*names));
	char *value = calloc(1, GENERATION_TEXT_MAX);
	struct generation_change changes[2];
	struct commit_member m[2], *members[2];
	struct repo r;

	repo_init(&r);
	memset(value, 'v', GENERATION_TEXT_MAX - 1);
	for (size_t i = 0; i < 2; i++) {
		make_long(refs + i * LONG_REFS, i ? "b" : "a", value,
			  names + i * LONG_REFS);
		changes[i] = (struct generation_change){
			.refs = refs + i * LONG_REFS,
			.ref_nr = LONG_REFS,
			.tables_up_to = 0,
			.session_ns = MINUTE,
		};
		assert_int_equal(
			commit_start(&m[i], &r.place, &changes[i], NULL), 0);
		members[i] = &m[i];
	}
	commit_make(&r.base, &r.place, members, 2);
	assert_int_equal(m[0].result, GENERATION_COMMITTED);
	assert_true(m[1].is_done);
	/*
	 * Together with the refs of the first change, the second change does
	 * not fit into a record (manifest).
	 */
	assert_int_equal(m[1].result, ERR_INVALID);
	assert_int_equal(newest(&r), 1);
	free(refs);
	free(names);
	free(value);
	repo_release(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_commit),
		cmocka_unit_test(test_round_trips),
		cmocka_unit_test(test_lost),
		cmocka_unit_test(test_prepared_again),
		cmocka_unit_test(test_first_hint),
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_rebase),
		cmocka_unit_test(test_borrowed),
		cmocka_unit_test(test_busy),
		cmocka_unit_test(test_old_base),
		cmocka_unit_test(test_lost_answers),
		cmocka_unit_test(test_late_put),
		cmocka_unit_test(test_session),
		cmocka_unit_test(test_retired),
		cmocka_unit_test(test_ours_retired),
		cmocka_unit_test(test_upload_failures),
		cmocka_unit_test(test_members),
		cmocka_unit_test(test_long_members),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
