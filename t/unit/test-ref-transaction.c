/* SPDX-License-Identifier: MIT */
/*
 * Tests of refs-write/ref-transaction.c: refs and reflogs change as requested,
 * and a change fails if it conflicts with a lock, with the old value, or with
 * another name.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/mem.h"
#include "refs-write/ref-transaction.h"
#include "refs/refs.h"
#include "t/unit/random.h"
#include "t/unit/tmprepo.h"

#define HEX_A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define HEX_B "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
#define HEX_0 "0000000000000000000000000000000000000000"
#define HEADER "# pack-refs with: peeled fully-peeled sorted \n"
#define WHO "A U Thor <author@example.com> 1112911993 -0700"

static struct oid oid_of(uint8_t byte)
{
	struct oid oid = OID_ZERO_INIT;

	memset(oid.bytes, byte, 20);
	return oid;
}

/*
 * Makes three refs: HEAD is a symbolic ref to main, main is loose, and old is
 * packed.
 */
static void fill(struct tmprepo *t)
{
	tmprepo_init(t, HASH_SHA1);
	tmprepo_write(t, "HEAD", "ref: refs/heads/main\n");
	tmprepo_write(t, "packed-refs",
		      HEADER HEX_A " refs/heads/main\n" HEX_A
				   " refs/heads/old\n" HEX_A
				   " refs/tags/v1\n^" HEX_B "\n");
	tmprepo_write(t, "refs/heads/main", HEX_B "\n");
}

static struct ref_transaction *begin(struct tmprepo *t, bool keep_going)
{
	struct ref_transaction_options options = {
		.committer = WHO,
		.keep_going = keep_going,
	};
	struct ref_transaction *tx;

	assert_int_equal(ref_transaction_new(&tx, &t->repo, &options, NULL), 0);
	return tx;
}

/*
 * Adds a change of a ref to the transaction. `new_byte`: each byte of the new
 * id. `old_byte`: each byte of the expected old id. -1: the id is not given.
 */
static void add(struct ref_transaction *tx, const char *name, int new_byte,
		int old_byte, unsigned flags)
{
	struct oid new_oid = oid_of((uint8_t)new_byte);
	struct oid old_oid = oid_of((uint8_t)old_byte);
	struct ref_change change = {
		.name = name,
		.flags = flags,
		.new_oid = new_byte < 0 ? NULL : &new_oid,
		.old_oid = old_byte < 0 ? NULL : &old_oid,
		.message = " a\n b ",
	};

	assert_int_equal(ref_transaction_add(tx, &change, NULL), 0);
}

static int commit(struct ref_transaction *tx, struct error *err)
{
	int ret = ref_transaction_commit(tx, err);

	ref_transaction_free(tx);
	return ret;
}

/* Returns the first byte of a ref's id, or 0 if the ref does not exist. */
static int value(struct tmprepo *t, const char *name)
{
	struct refs *refs;
	struct ref ref;
	int ret;

	assert_int_equal(refs_open(&refs, &t->repo, NULL), 0);
	ret = refs_lookup(refs, name, &ref, NULL);
	assert_in_range(ret, 0, 1);
	ret = ret ? ref.oid.bytes[0] : 0;
	refs_close(refs);
	return ret;
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

static void assert_text(const struct tmprepo *t, const char *name,
			const char *text)
{
	struct buf path = BUF_INIT, found = BUF_INIT;

	buf_printf(&path, "%s/%s", t->dir, name);
	assert_int_equal(sys_read_any(&found, path.data, NULL), 0);
	assert_string_equal(found.data, text);
	buf_release(&path);
	buf_release(&found);
}

static void test_values(void **state)
{
	struct ref_transaction *tx;
	struct tmprepo t;

	(void)state;
	fill(&t);
	tx = begin(&t, false);
	add(tx, "refs/heads/a/b/c", 1, 0, 0);
	add(tx, "refs/heads/main", 2, 0xbb, 0);
	add(tx, "refs/heads/old", 0, 0xaa, 0);
	add(tx, "refs/tags/v1", -1, 0xaa, 0);
	assert_int_equal(commit(tx, NULL), 0);
	assert_int_equal(value(&t, "refs/heads/a/b/c"), 1);
	assert_int_equal(value(&t, "HEAD"), 2);
	assert_int_equal(value(&t, "refs/heads/old"), 0);
	assert_int_equal(value(&t, "refs/tags/v1"), 0xaa);
	assert_text(&t, "packed-refs",
		    HEADER HEX_A " refs/heads/main\n" HEX_A
				 " refs/tags/v1\n^" HEX_B "\n");
	assert_false(exists(&t, "packed-refs.lock"));
	assert_false(exists(&t, "packed-refs.new"));

	tx = begin(&t, false);
	add(tx, "refs/heads/a/b/c", 0, 1, 0);
	assert_int_equal(commit(tx, NULL), 0);
	assert_false(exists(&t, "refs/heads/a"));
	assert_true(exists(&t, "refs/heads"));
	tmprepo_release(&t);
}

/* Cases: in each case, the change fails, and the whole transaction fails. */
static void test_refused(void **state)
{
	static const struct {
		const char *name;
		int new_byte, old_byte;
		enum ref_result result;
		const char *words;
	} cases[] = {
		{"refs/heads/main", 1, 0, REF_EXISTS,
		 "cannot lock ref 'refs/heads/main': reference already exists"},
		{"refs/heads/main", 1, 0xaa, REF_OLD_DIFFERS,
		 "cannot lock ref 'refs/heads/main': is at " HEX_B
		 " but expected " HEX_A},
		{"refs/heads/no", 1, 0xaa, REF_ABSENT,
		 "cannot lock ref 'refs/heads/no': unable to resolve reference "
		 "'refs/heads/no'"},
		{"refs/heads/main/x", 1, -1, REF_NAME_CONFLICT,
		 "cannot lock ref 'refs/heads/main/x': 'refs/heads/main' "
		 "exists; cannot create 'refs/heads/main/x'"},
		{"refs/heads/old/x", 1, -1, REF_NAME_CONFLICT,
		 "cannot lock ref 'refs/heads/old/x': 'refs/heads/old' exists; "
		 "cannot create 'refs/heads/old/x'"},
		{"refs/tags", 1, -1, REF_NAME_CONFLICT,
		 "cannot lock ref 'refs/tags': 'refs/tags/v1' exists; cannot "
		 "create 'refs/tags'"},
		{"refs/heads/broken", 1, -1, REF_BROKEN,
		 "cannot lock ref 'refs/heads/broken': unable to resolve "
		 "reference 'refs/heads/broken': reference broken"},
		{"HEAD", -1, 0xaa, REF_OLD_DIFFERS,
		 "cannot lock ref 'HEAD': is at " HEX_B " but expected " HEX_A},
		{"refs/heads/w", 1, -1, REF_DUPLICATE,
		 "multiple updates for ref 'refs/heads/w' not allowed"},
	};
	struct tmprepo t;

	(void)state;
	fill(&t);
	tmprepo_write(&t, "refs/heads/broken", "what\n");
	for (size_t i = 0; i < ARRAY_NR(cases); i++) {
		struct ref_transaction *tx = begin(&t, false);
		struct error err = ERROR_INIT;

		add(tx, "refs/heads/w", 1, -1, 0);
		add(tx, cases[i].name, cases[i].new_byte, cases[i].old_byte, 0);
		assert_int_equal(ref_transaction_commit(tx, &err), ERR_INVALID);
		assert_string_equal(err.msg, cases[i].words);
		assert_int_equal(ref_transaction_get(tx, 0)->result, REF_OK);
		assert_int_equal(ref_transaction_get(tx, 1)->result,
				 cases[i].result);
		ref_transaction_free(tx);
		assert_false(exists(&t, "refs/heads/w"));
		assert_false(exists(&t, "refs/heads/w.lock"));
		assert_false(exists(&t, "packed-refs.lock"));
	}
	tmprepo_release(&t);
}

static void test_bad_names(void **state)
{
	static const char *const bad[] = {"refs/heads/a..b", "refs/heads/",
					  "refs/heads/x.lock", "a b", ""};
	struct oid oid = oid_of(1), zero = oid_of(0);
	struct ref_transaction *tx;
	struct tmprepo t;

	(void)state;
	fill(&t);
	tx = begin(&t, false);
	for (size_t i = 0; i < ARRAY_NR(bad); i++) {
		struct ref_change change = {.name = bad[i], .new_oid = &oid};

		assert_int_equal(ref_transaction_add(tx, &change, NULL),
				 ERR_INVALID);
	}
	/*
	 * The file of a ref with a bad name can be removed, but only below
	 * refs/.
	 */
	for (size_t i = 0; i < 3; i++) {
		static const char *const names[] = {"refs/heads/a..b",
						    "refs/../config", "../x y"};
		struct ref_change change = {.name = names[i], .new_oid = &zero};

		assert_int_equal(ref_transaction_add(tx, &change, NULL),
				 i ? ERR_INVALID : 0);
	}
	assert_int_equal(ref_transaction_nr(tx), 1);
	ref_transaction_free(tx);
	tmprepo_release(&t);
}

static void test_keep_going(void **state)
{
	struct ref_transaction *tx;
	struct tmprepo t;

	(void)state;
	fill(&t);
	tmprepo_write(&t, "refs/heads/held.lock", "");
	tx = begin(&t, true);
	add(tx, "refs/heads/held", 1, -1, 0);
	add(tx, "refs/heads/x", 1, 0, 0);
	add(tx, "refs/heads/x/y", 1, 0, 0);
	add(tx, "refs/heads/old", 0, 0xbb, 0);
	add(tx, "refs/tags/v1", 0, 0xaa, 0);
	assert_int_equal(ref_transaction_commit(tx, NULL), 0);
	assert_int_equal(ref_transaction_get(tx, 0)->result, REF_LOCKED);
	/*
	 * Changes 1 and 2 set two refs. The first fails because of its name,
	 * and is left out. The second succeeds.
	 */
	assert_int_equal(ref_transaction_get(tx, 1)->result, REF_NAME_CONFLICT);
	assert_int_equal(ref_transaction_get(tx, 2)->result, REF_OK);
	assert_int_equal(ref_transaction_get(tx, 3)->result, REF_OLD_DIFFERS);
	assert_int_equal(ref_transaction_get(tx, 4)->result, REF_OK);
	ref_transaction_free(tx);
	assert_int_equal(value(&t, "refs/heads/x/y"), 1);
	assert_int_equal(value(&t, "refs/heads/old"), 0xaa);
	assert_int_equal(value(&t, "refs/tags/v1"), 0);
	tmprepo_release(&t);
}

static void test_symbolic(void **state)
{
	struct ref_change change = {
		.name = "refs/heads/s",
		.new_target = "refs/heads/main",
		.flags = REF_NO_DEREF,
	};
	struct ref_transaction *tx;
	struct error err = ERROR_INIT;
	struct tmprepo t;

	(void)state;
	fill(&t);
	tx = begin(&t, false);
	assert_int_equal(ref_transaction_add(tx, &change, NULL), 0);
	assert_int_equal(commit(tx, NULL), 0);
	assert_text(&t, "refs/heads/s", "ref: refs/heads/main\n");

	tx = begin(&t, false);
	add(tx, "refs/heads/s", 3, 0xbb, 0);
	assert_int_equal(commit(tx, NULL), 0);
	assert_text(&t, "refs/heads/s", "ref: refs/heads/main\n");
	assert_int_equal(value(&t, "refs/heads/main"), 3);

	change.old_target = "refs/heads/other";
	tx = begin(&t, false);
	assert_int_equal(ref_transaction_add(tx, &change, NULL), 0);
	assert_int_equal(commit(tx, &err), ERR_INVALID);
	assert_string_equal(err.msg, "verifying symref target: 'refs/heads/s': "
				     "is at refs/heads/main but expected "
				     "refs/heads/other");

	tx = begin(&t, false);
	add(tx, "refs/heads/s", 1, -1, 0);
	add(tx, "refs/heads/main", 1, -1, 0);
	assert_int_equal(commit(tx, &err), ERR_INVALID);
	tx = begin(&t, false);
	add(tx, "refs/heads/s", 4, 3, REF_NO_DEREF);
	assert_int_equal(commit(tx, NULL), 0);
	assert_text(&t, "refs/heads/s",
		    "0404040404040404040404040404040404040404\n");
	assert_int_equal(value(&t, "refs/heads/main"), 3);
	tmprepo_release(&t);
}

/*
 * The target of a symbolic ref is an invalid name. With REF_NO_DEREF, the
 * symbolic ref can be replaced and removed. Without REF_NO_DEREF, setting it
 * fails, and deleting it has no effect. Nothing is written to the target.
 */
static void test_impossible_target(void **state)
{
	static const char text[] = "ref: refs/../x\n";
	struct ref_transaction *tx;
	struct error err = ERROR_INIT;
	struct tmprepo t;

	(void)state;
	fill(&t);
	tmprepo_write(&t, "refs/heads/s", text);
	tx = begin(&t, false);
	add(tx, "refs/heads/s", 3, -1, 0);
	assert_int_equal(commit(tx, &err), ERR_INVALID);
	assert_string_equal(err.msg,
			    "cannot lock ref 'refs/heads/s': unable to "
			    "resolve reference 'refs/heads/s': "
			    "reference broken");
	tx = begin(&t, false);
	add(tx, "refs/heads/s", 3, 2, REF_NO_DEREF);
	assert_true(commit(tx, &err) < 0);
	assert_non_null(strstr(err.msg, "error reading reference"));
	tx = begin(&t, false);
	add(tx, "refs/heads/s", 0, -1, 0);
	assert_int_equal(commit(tx, NULL), 0);
	assert_text(&t, "refs/heads/s", text);
	tx = begin(&t, false);
	add(tx, "refs/heads/s", 3, -1, REF_NO_DEREF);
	assert_int_equal(commit(tx, NULL), 0);
	assert_int_equal(value(&t, "refs/heads/s"), 3);
	tmprepo_write(&t, "refs/heads/s", text);
	tx = begin(&t, false);
	add(tx, "refs/heads/s", 0, -1, REF_NO_DEREF);
	assert_int_equal(commit(tx, NULL), 0);
	assert_int_equal(value(&t, "refs/heads/s"), 0);
	tmprepo_release(&t);
}

static void test_symbolic_loop(void **state)
{
	struct ref_transaction *tx;
	struct tmprepo t;

	(void)state;
	fill(&t);
	tmprepo_write(&t, "refs/heads/l1", "ref: refs/heads/l2\n");
	tmprepo_write(&t, "refs/heads/l2", "ref: refs/heads/l1\n");
	tx = begin(&t, false);
	add(tx, "refs/heads/l1", 1, -1, 0);
	assert_int_equal(commit(tx, NULL), ERR_INVALID);
	assert_text(&t, "refs/heads/l1", "ref: refs/heads/l2\n");
	tmprepo_release(&t);
}

static void test_reflogs(void **state)
{
	struct ref_transaction *tx;
	struct tmprepo t;

	(void)state;
	fill(&t);
	t.repo.is_bare = false;
	tx = begin(&t, false);
	add(tx, "refs/heads/main", 0xaa, -1, 0);
	add(tx, "refs/tags/v2", 0xaa, -1, 0);
	add(tx, "refs/tags/v3", 0xaa, -1, REF_FORCE_REFLOG);
	assert_int_equal(commit(tx, NULL), 0);
	assert_text(&t, "logs/HEAD", HEX_B " " HEX_A " " WHO "\ta b\n");
	assert_text(&t, "logs/refs/heads/main",
		    HEX_B " " HEX_A " " WHO "\ta b\n");
	assert_text(&t, "logs/refs/tags/v3", HEX_0 " " HEX_A " " WHO "\ta b\n");
	assert_false(exists(&t, "logs/refs/tags/v2"));

	tx = begin(&t, false);
	add(tx, "HEAD", 0, -1, 0);
	assert_int_equal(commit(tx, NULL), 0);
	assert_text(&t, "logs/HEAD",
		    HEX_B " " HEX_A " " WHO "\ta b\n" HEX_A " " HEX_0 " " WHO
			  "\ta b\n");
	assert_false(exists(&t, "logs/refs/heads/main"));
	tmprepo_release(&t);
}

/* The states that the callback on_state() has got for a transaction. */
struct told {
	struct buf out;
	/* State for which on_state() fails; -1: none. */
	int refuse;
};

static int on_state(void *ctx, enum ref_state state,
		    const struct ref_transaction *tx, struct error *err)
{
	struct told *told = ctx;

	buf_printf(&told->out, "%s\n", ref_state_name(state));
	assert_int_equal(ref_transaction_describe(&told->out, tx), 0);
	if ((int)state == told->refuse)
		return error_set(err, ERR_DENIED, "no");
	return 0;
}

static int run_told(struct tmprepo *t, struct told *told, int old_byte)
{
	struct ref_transaction_options options = {
		.committer = WHO,
		.on_state = on_state,
		.ctx = told,
	};
	struct ref_transaction *tx;

	buf_init(&told->out);
	assert_int_equal(ref_transaction_new(&tx, &t->repo, &options, NULL), 0);
	add(tx, "HEAD", 0xaa, old_byte, 0);
	return commit(tx, NULL);
}

static void test_states(void **state)
{
	struct told told = {.refuse = -1};
	struct tmprepo t;

	(void)state;
	fill(&t);
	assert_int_equal(run_told(&t, &told, 0xaa), ERR_INVALID);
	assert_string_equal(told.out.data,
			    "preparing\n" HEX_A " " HEX_A " HEAD\naborted\n");
	buf_release(&told.out);
	told.refuse = REF_PREPARED;
	assert_int_equal(run_told(&t, &told, -1), ERR_DENIED);
	assert_int_equal(value(&t, "refs/heads/main"), 0xbb);
	buf_release(&told.out);
	told.refuse = -1;
	assert_int_equal(run_told(&t, &told, 0xbb), 0);
	assert_string_equal(told.out.data,
			    "preparing\n" HEX_B " " HEX_A " HEAD\n"
			    "prepared\n" HEX_B " " HEX_A " refs/heads/main\n"
			    "committed\n" HEX_B " " HEX_A " refs/heads/main\n");
	assert_int_equal(value(&t, "refs/heads/main"), 0xaa);
	buf_release(&told.out);
	tmprepo_release(&t);
}

/*
 * Hooks also run for a transaction without changes, and for the abort of a
 * transaction that was not prepared.
 */
static void test_states_without_changes(void **state)
{
	struct told told = {.out = BUF_INIT, .refuse = -1};
	const struct ref_transaction_options options = {
		.on_state = on_state,
		.ctx = &told,
	};
	struct ref_transaction *tx;
	struct tmprepo t;

	(void)state;
	fill(&t);
	assert_int_equal(ref_transaction_new(&tx, &t.repo, &options, NULL), 0);
	assert_int_equal(commit(tx, NULL), 0);
	assert_string_equal(told.out.data, "preparing\nprepared\ncommitted\n");
	buf_reset(&told.out);
	assert_int_equal(ref_transaction_new(&tx, &t.repo, &options, NULL), 0);
	assert_int_equal(ref_transaction_abort(tx, NULL), 0);
	assert_int_equal(ref_transaction_abort(tx, NULL), 0);
	assert_string_equal(told.out.data, "aborted\n");
	ref_transaction_free(tx);
	buf_reset(&told.out);
	assert_int_equal(ref_transaction_new(&tx, &t.repo, &options, NULL), 0);
	ref_transaction_free(tx);
	assert_int_equal(told.out.len, 0);
	buf_release(&told.out);
	tmprepo_release(&t);
}

static int refuse_two(void *ctx, const char *name, const struct oid *new_oid,
		      struct error *err)
{
	(void)ctx;
	if (new_oid->bytes[0] != 2 || !strcmp(name, "HEAD"))
		return 0;
	return error_set(err, ERR_INVALID, "no two for %s", name);
}

static void test_check_value(void **state)
{
	struct ref_transaction_options options = {.check_value = refuse_two};
	struct error err = ERROR_INIT;
	struct ref_transaction *tx;
	struct tmprepo t;

	(void)state;
	fill(&t);
	assert_int_equal(ref_transaction_new(&tx, &t.repo, &options, NULL), 0);
	add(tx, "refs/heads/one", 1, -1, 0);
	add(tx, "HEAD", 2, -1, 0);
	assert_int_equal(commit(tx, &err), ERR_INVALID);
	assert_string_equal(err.msg, "no two for refs/heads/main");
	assert_int_equal(value(&t, "refs/heads/one"), 0);
	tmprepo_release(&t);
}

/*
 * The callback check_value rejects a change already when it is added to a
 * transaction. So the transaction does not contain this change. Its other
 * changes are committed.
 */
static void test_check_value_early(void **state)
{
	struct ref_transaction_options options = {.check_value = refuse_two};
	struct oid two = {.bytes = {2}};
	struct ref_change change = {
		.name = "refs/heads/main",
		.new_oid = &two,
		.old_oid = &two,
	};
	struct error err = ERROR_INIT;
	struct ref_transaction *tx;
	struct tmprepo t;

	(void)state;
	fill(&t);
	for (int going = 0; going < 2; going++) {
		options.keep_going = going;
		assert_int_equal(
			ref_transaction_new(&tx, &t.repo, &options, NULL), 0);
		add(tx, "refs/heads/one", 1, -1, 0);
		assert_int_equal(ref_transaction_add(tx, &change, &err),
				 going ? 1 : ERR_INVALID);
		assert_string_equal(err.msg, "no two for refs/heads/main");
		assert_int_equal(ref_transaction_nr(tx), 1);
		assert_int_equal(commit(tx, &err), 0);
		assert_int_equal(value(&t, "refs/heads/one"), 1);
	}
	tmprepo_release(&t);
}

/*
 * An empty directory has the path of a ref or of a reflog. The ref can be
 * created nevertheless.
 */
static void test_empty_dirs(void **state)
{
	struct ref_transaction *tx;
	struct tmprepo t;

	(void)state;
	fill(&t);
	t.repo.is_bare = false;
	tmprepo_write(&t, "refs/heads/e/f/g", "");
	tmprepo_remove(&t, "refs/heads/e/f/g");
	tmprepo_write(&t, "logs/refs/heads/e/f/g", "");
	tmprepo_remove(&t, "logs/refs/heads/e/f/g");
	tmprepo_write(&t, "refs/heads/old/x", "");
	tmprepo_remove(&t, "refs/heads/old/x");
	tx = begin(&t, false);
	add(tx, "refs/heads/e", 1, 0, 0);
	add(tx, "refs/heads/old", 0, -1, 0);
	assert_int_equal(commit(tx, NULL), 0);
	assert_int_equal(value(&t, "refs/heads/e"), 1);
	assert_int_equal(value(&t, "refs/heads/old"), 0);
	tmprepo_release(&t);
}

#define MODEL_NAMES 12

/*
 * Makes random transactions. Compares the refs with an array to which the same
 * changes are applied.
 */
static void test_model(void **state)
{
	static const char *const dirs[] = {"refs/heads/", "refs/heads/d/",
					   "refs/tags/"};
	uint64_t rng = random_seed();
	uint8_t model[MODEL_NAMES] = {0};
	struct tmprepo t;

	(void)state;
	fill(&t);
	for (int round = 0; round < 150; round++) {
		struct ref_transaction *tx = begin(&t, false);
		uint8_t next[MODEL_NAMES];
		bool good = true;

		memcpy(next, model, sizeof(next));
		for (int i = 0; i < MODEL_NAMES; i++) {
			char name[64];
			int old_byte, new_byte;

			if (random_next(&rng) % 3)
				continue;
			snprintf(name, sizeof(name), "%sm%d", dirs[i % 3], i);
			new_byte = (int)(random_next(&rng) % 4);
			old_byte = random_next(&rng) % 2 ? model[i] : -1;
			if (random_next(&rng) % 20 == 0) {
				old_byte = 0x77;
				good = false;
			}
			next[i] = (uint8_t)new_byte;
			add(tx, name, new_byte, old_byte, 0);
		}
		assert_int_equal(commit(tx, NULL), good ? 0 : ERR_INVALID);
		if (good)
			memcpy(model, next, sizeof(next));
		for (int i = 0; i < MODEL_NAMES; i++) {
			char name[64];

			snprintf(name, sizeof(name), "%sm%d", dirs[i % 3], i);
			assert_int_equal(value(&t, name), model[i]);
		}
	}
	tmprepo_release(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_bad_names),
		cmocka_unit_test(test_keep_going),
		cmocka_unit_test(test_symbolic),
		cmocka_unit_test(test_impossible_target),
		cmocka_unit_test(test_symbolic_loop),
		cmocka_unit_test(test_reflogs),
		cmocka_unit_test(test_states),
		cmocka_unit_test(test_states_without_changes),
		cmocka_unit_test(test_check_value),
		cmocka_unit_test(test_check_value_early),
		cmocka_unit_test(test_empty_dirs),
		cmocka_unit_test(test_model),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
