/* SPDX-License-Identifier: MIT */
/*
 * Tests of odb/pack-check.[ch], which checks the objects of a received pack:
 * their form, and whether they refer to existing objects. The objects arrive in
 * any order.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

#include "odb/pack-check.h"
#include "t/unit/packfile.h"

#define ONES "1111111111111111111111111111111111111111"
#define TWOS "2222222222222222222222222222222222222222"
#define WHO "author A <a> 1 +0000\ncommitter A <a> 1 +0000\n\n"
#define EMPTY_TREE "4b825dc642cb6eb9a060e54bf8d69288fbee4904"

static int count(void *ctx, const struct fsck_report *report, struct error *err)
{
	++*(size_t *)ctx;
	return 0;
}

/*
 * Callback: whether the repository has an object. Here it has the objects whose
 * ids start with a 2.
 */
static int has(void *ctx, unsigned thread_nr, const struct oid *oid,
	       struct error *err)
{
	return oid->bytes[0] == 0x22;
}

static const struct pack_indexer_hooks known = {.has = has};

/*
 * Callback: whether the repository has an object. The first call fails. All
 * later calls find the object.
 */
static int has_later(void *ctx, unsigned thread_nr, const struct oid *oid,
		     struct error *err)
{
	return (*(int *)ctx)++ ? 1 : error_set(err, ERR_IO, "try again");
}

static struct oid id_of(uint8_t byte)
{
	struct oid oid = OID_ZERO_INIT;

	memset(oid.bytes, byte, 20);
	return oid;
}

struct fixture {
	struct fsck_rules rules;
	struct pack_check *check;
	size_t reports;
};

static void begin(struct fixture *f, bool rules, bool links)
{
	struct pack_check_options o = {
		.links = links,
		.threads = 2,
		.algo = HASH_SHA1,
		.report = count,
		.ctx = &f->reports,
	};

	f->reports = 0;
	fsck_rules_init(&f->rules, HASH_SHA1, true);
	if (rules)
		o.rules = &f->rules;
	f->check = pack_check_new(&o);
	assert_non_null(f->check);
}

static void end(struct fixture *f)
{
	pack_check_free(f->check);
	fsck_rules_release(&f->rules);
}

static int put(struct fixture *f, uint8_t id, enum object_type type,
	       const char *text)
{
	struct oid oid = id_of(id);

	return pack_check_object(f->check, id & 1, &oid, type, text,
				 text ? strlen(text) : 0, NULL);
}

static void test_form(void **state)
{
	struct fixture f;

	begin(&f, true, false);
	assert_int_equal(put(&f, 3, OBJ_COMMIT, "tree " ONES "\n" WHO), 0);
	assert_int_equal(f.reports, 0);
	assert_int_equal(put(&f, 4, OBJ_COMMIT, "tree\n" WHO), ERR_CORRUPT);
	assert_int_equal(f.reports, 1);
	assert_int_equal(put(&f, 5, OBJ_TAG,
			     "object " ONES "\ntype tree\n"
			     "tag a..b\n\n"),
			 0);
	assert_int_equal(f.reports, 3);
	assert_int_equal(put(&f, 6, OBJ_BLOB, NULL), 0);
	end(&f);

	begin(&f, false, false);
	assert_int_equal(put(&f, 4, OBJ_COMMIT, "tree\n" WHO), 0);
	end(&f);
}

static int links(struct fixture *f, bool *contained, char *message)
{
	struct error err = ERROR_INIT;
	int ret = pack_check_links(f->check, &known, contained, &err);

	strcpy(message, err.msg);
	return ret;
}

static void test_links(void **state)
{
	int asked = 0;
	const struct pack_indexer_hooks hooks = {.has = has_later,
						 .ctx = &asked};
	char message[ERROR_MESSAGE_MAX];
	struct fixture f;
	bool contained;

	begin(&f, false, true);
	assert_int_equal(put(&f, 3, OBJ_COMMIT, "tree " ONES "\n" WHO), 0);
	assert_int_equal(links(&f, &contained, message), ERR_MISSING);
	assert_string_equal(message, "did not receive expected object " ONES);
	assert_int_equal(put(&f, 0x11, OBJ_TREE, ""), 0);
	assert_int_equal(links(&f, &contained, message), 0);
	assert_true(contained);
	assert_int_equal(
		put(&f, 4, OBJ_COMMIT, "tree " ONES "\nparent " TWOS "\n" WHO),
		0);
	assert_int_equal(links(&f, &contained, message), 0);
	assert_false(contained);
	end(&f);

	/*
	 * The empty tree need not be stored. But a pack without it is not
	 * self-contained.
	 */
	begin(&f, false, true);
	put(&f, 3, OBJ_COMMIT, "tree " EMPTY_TREE "\n" WHO);
	assert_int_equal(links(&f, &contained, message), 0);
	assert_false(contained);
	end(&f);

	/* A commit names a blob of the pack as its tree, which is an error. */
	begin(&f, false, true);
	put(&f, 0x11, OBJ_BLOB, "x");
	put(&f, 3, OBJ_COMMIT, "tree " ONES "\n" WHO);
	assert_int_equal(links(&f, &contained, message), ERR_CORRUPT);
	end(&f);

	/*
	 * The callback that looks up objects returns an error. The object must
	 * not count as existing.
	 */
	begin(&f, false, true);
	put(&f, 3, OBJ_COMMIT, "tree " TWOS "\n" WHO);
	assert_int_equal(pack_check_links(f.check, &hooks, &contained, NULL),
			 ERR_IO);
	assert_int_equal(asked, 1);
	end(&f);

	begin(&f, false, true);
	assert_int_equal(put(&f, 3, OBJ_TREE, "100644"), ERR_CORRUPT);
	assert_int_equal(put(&f, 4, OBJ_COMMIT, "x"), ERR_CORRUPT);
	end(&f);
}

static uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Adds a tree that names `blob` as its .gitmodules. */
static void add_tree(struct packfile *p, const struct oid *blob)
{
	static const char entry[] = "100644 .gitmodules";
	uint8_t tree[sizeof(entry) + 20];

	memcpy(tree, entry, sizeof(entry));
	memcpy(tree + sizeof(entry), blob->bytes, 20);
	packfile_add(p, OBJ_TREE, tree, sizeof(tree));
}

/*
 * Adds `nr` versions of a file .gitmodules, and a tree for each. Each version
 * is a delta against the version before, and has one more line. The first
 * version has `len` bytes. The last version has an invalid URL if `is_bad`.
 */
static void add_versions(struct packfile *p, uint32_t nr, size_t len,
			 bool is_bad)
{
	struct buf text = BUF_INIT;
	uint32_t at;

	for (size_t i = 0; i < len; i++)
		buf_append_char(&text, i % 64 ? '#' : '\n');
	at = packfile_add(p, OBJ_BLOB, text.data, text.len);
	add_tree(p, &p->oids[at]);
	for (uint32_t i = 1; i < nr; i++) {
		const char *line = is_bad && i == nr - 1
					   ? "\n[submodule \"x\"]\nurl = -u"
					   : "\n";
		size_t base_len = text.len;
		struct oid oid;

		buf_append_str(&text, line);
		hash_object(&p->hash, &oid, OBJ_BLOB, text.data, text.len);
		at = packfile_add_delta(p, OBJ_OFS_DELTA, at, base_len, line,
					&oid);
		add_tree(p, &oid);
	}
	buf_release(&text);
}

/*
 * Indexes a pack of add_versions(), and checks its blobs. Returns the result of
 * the check. *resolve_ns and *check_ns are set to the CPU times of indexing and
 * checking.
 */
static int check_versions(struct fixture *f, uint32_t nr, size_t len,
			  bool is_bad, uint64_t *resolve_ns, uint64_t *check_ns)
{
	static struct packfile p;
	struct pack_indexer_config config = {
		.hooks = {.object = pack_check_object, .object_ctx = f->check},
		.cache_limit = 1 << 20,
	};
	struct error err = ERROR_INIT;
	struct pack_indexer *ix;
	char path[128];
	int ret;

	packfile_init(&p, HASH_SHA1);
	config.algo = p.algo;
	add_versions(&p, nr, len, is_bad);
	packfile_finish(&p);
	packfile_save(&p);
	snprintf(path, sizeof(path), "%s.pack", p.base);
	ix = pack_indexer_new(&config);
	assert_non_null(ix);
	*resolve_ns = cpu_ns();
	if (pack_indexer_open(ix, path, &err) < 0 ||
	    pack_indexer_resolve(ix, &err) < 0)
		fail_msg("%s", err.msg);
	*check_ns = cpu_ns();
	*resolve_ns = *check_ns - *resolve_ns;
	ret = pack_check_blobs(f->check, ix, &known, NULL, NULL, &err);
	*check_ns = cpu_ns() - *check_ns;
	pack_indexer_free(ix);
	packfile_release(&p);
	return ret;
}

/*
 * The versions of .gitmodules are a delta chain. Each of them is checked. This
 * takes time in proportion to the length of the chain, like indexing the pack.
 */
static void test_blobs(void **state)
{
	uint64_t resolve_ns, check_ns;
	struct fixture f;

	begin(&f, true, false);
	assert_int_equal(
		check_versions(&f, 10, 100, true, &resolve_ns, &check_ns),
		ERR_CORRUPT);
	assert_int_equal(f.reports, 1);
	end(&f);
	begin(&f, true, false);
	assert_int_equal(
		check_versions(&f, 600, 40000, false, &resolve_ns, &check_ns),
		0);
	assert_int_equal(f.reports, 0);
	assert_true(check_ns < resolve_ns * 10);
	end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_form),
		cmocka_unit_test(test_links),
		cmocka_unit_test(test_blobs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
