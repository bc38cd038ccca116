/* SPDX-License-Identifier: MIT */
/*
 * Tests of stored/import.h, which imports a repository into a store as a new
 * generation (version). They prove that the generation has all files, and that
 * it does not overwrite the work of another writer.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "t/unit/storedrepo.h"

static void test_generations(void **state)
{
	struct storedrepo s;
	struct generation g;
	struct oid oid;
	uint64_t file_nr;

	storedrepo_init(&s);
	if (storedrepo_import(&s, false) != 0)
		fail_msg("%s", s.err.msg);
	assert_int_equal(s.result.written.number, 1);
	assert_int_equal(s.result.packed_nr, 3);
	assert_int_equal(s.result.written.upload_nr, s.result.written.file_nr);
	file_nr = s.result.written.file_nr;
	storedrepo_newest(&s, &g);
	assert_int_equal(g.file_nr, file_nr);
	assert_string_equal(g.action, "import");
	assert_string_equal(g.node, "node");
	assert_string_equal(g.user, "user");
	generation_release(&g);

	assert_int_equal(storedrepo_import(&s, false), ERR_DENIED);
	assert_non_null(strstr(s.err.msg, "exists in the store already"));
	assert_int_equal(storedrepo_import(&s, true), 0);
	assert_true(s.result.written.is_same);
	assert_int_equal(s.result.written.number, 1);
	assert_int_equal(s.result.written.upload_nr, 0);

	netrepo_commit(&s.n, "src", "two", &oid);
	assert_int_equal(storedrepo_import(&s, true), 0);
	assert_false(s.result.written.is_same);
	assert_int_equal(s.result.written.number, 2);
	/*
	 * Five files were uploaded: a pack with .idx and .rev, a table of refs,
	 * and the side bundle. The file config is unchanged, so it was not
	 * uploaded again.
	 */
	assert_int_equal(s.result.written.upload_nr, 5);
	assert_int_equal(s.result.written.file_nr, file_nr);
	storedrepo_newest(&s, &g);
	assert_int_equal(g.file_nr, file_nr);
	generation_release(&g);
	storedrepo_release(&s);
}

/* ---- another writer */

/*
 * A store that simulates another writer: once, just before a record (manifest)
 * is read or written, the store makes another import.
 */
struct meddler {
	struct filestore base;
	struct storedrepo *s;
	struct filestore *real;
	/*
	 * The other import happens just before this read of a record
	 * (manifest): 1 is the first read; 0: before no read. `reads`, `puts`:
	 * calls so far.
	 */
	unsigned at_read;
	unsigned reads, puts;
	bool is_done;
};

static void meddle(struct meddler *m)
{
	struct stored_import_result result = m->s->result;
	struct oid oid;

	m->is_done = true;
	m->s->place.store = m->real;
	netrepo_commit(&m->s->n, "src", "meddled", &oid);
	assert_int_equal(storedrepo_import(m->s, true), 0);
	m->s->result = result;
	m->s->place.store = &m->base;
}

static int meddle_put(struct filestore *store, char *etag, const char *name,
		      const void *bytes, size_t len,
		      const struct filestore_condition *condition,
		      struct error *err)
{
	struct meddler *m = (struct meddler *)store;

	if (strstr(name, "/_/gen/") && !m->is_done)
		meddle(m);
	m->puts++;
	return m->real->ops->put(m->real, etag, name, bytes, len, condition,
				 err);
}

static int meddle_read(struct filestore *store, struct filestore_info *info,
		       const struct filestore_sink *sink, const char *name,
		       uint64_t off, uint64_t len, struct error *err)
{
	struct meddler *m = (struct meddler *)store;
	struct filestore *real = m->real;

	if (strstr(name, "/_/gen/") && ++m->reads == m->at_read)
		meddle(m);
	return real->ops->read(real, info, sink, name, off, len, err);
}

static int meddle_head(struct filestore *store, struct filestore_info *info,
		       const char *name, struct error *err)
{
	struct filestore *real = ((struct meddler *)store)->real;

	return real->ops->head(real, info, name, err);
}

static const struct filestore_ops ops = {
	.read = meddle_read,
	.head = meddle_head,
	.put = meddle_put,
};

/*
 * The stored repository changes while the import collects files. So the import
 * fails and uploads nothing.
 */
static void test_changed_before_the_upload(void **state)
{
	for (int exists = 0; exists < 2; exists++) {
		struct storedrepo s;
		struct meddler m = {.base.ops = &ops, .s = &s};

		storedrepo_init(&s);
		if (exists)
			assert_int_equal(storedrepo_import(&s, false), 0);
		m.real = s.store;
		/*
		 * To find the newest generation (version), the import reads one
		 * record (manifest), or two if the repository exists. Just
		 * before the next read, the other writer makes its generation.
		 */
		m.at_read = exists ? 3 : 2;
		s.place.store = &m.base;
		tmprepo_write(&s.n.t, "src/description", "other\n");
		assert_int_equal(storedrepo_import(&s, true), ERR_DENIED);
		assert_non_null(strstr(s.err.msg, "meanwhile"));
		assert_true(m.is_done);
		assert_int_equal(m.puts, 0);
		s.place.store = m.real;
		storedrepo_release(&s);
	}
}

/*
 * The stored repository changes just before the import creates its record
 * (manifest). The generation (version) of the other writer must stay the
 * newest.
 */
static void test_changed_meanwhile(void **state)
{

	for (int exists = 0; exists < 2; exists++) {
		struct storedrepo s;
		struct meddler m = {.base.ops = &ops, .s = &s};
		struct generation g;

		storedrepo_init(&s);
		if (exists)
			assert_int_equal(storedrepo_import(&s, false), 0);
		m.real = s.store;
		s.place.store = &m.base;
		tmprepo_write(&s.n.t, "src/description", "other\n");
		assert_int_equal(storedrepo_import(&s, true), ERR_DENIED);
		assert_non_null(strstr(s.err.msg, "meanwhile"));
		assert_true(m.is_done);
		s.place.store = m.real;
		storedrepo_newest(&s, &g);
		assert_int_equal(g.number, exists + 1);
		generation_release(&g);
		storedrepo_release(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_generations),
		cmocka_unit_test(test_changed_before_the_upload),
		cmocka_unit_test(test_changed_meanwhile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
