/* SPDX-License-Identifier: MIT */
/*
 * Tests of refs-write/refs-publish-tx.c, transactions whose changes are made by
 * a callback publish(). If the callback makes the changes in reftables, the
 * results must be those of an ordinary transaction.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "refs-write/ref-pack.h"
#include "refs-write/ref-transaction.h"
#include "refs/reflog.h"
#include "refs/refs.h"
#include "t/unit/random.h"
#include "t/unit/tmprepo.h"

#define ROUNDS 200

static const char *const names[] = {
	"HEAD",     "refs/heads/main", "refs/heads/a", "refs/heads/a/b",
	"refs/sym", "refs/tags/t",     "refs/heads/b", "refs/heads/b/c/d"};
#define NAME_NR (sizeof(names) / sizeof(names[0]))

struct plan {
	struct ref_change change;
	struct oid new_oid, old_oid;
};

/*
 * Context of the callback publish(). The callback makes the changes in the
 * repository `t`, or returns `result`.
 */
struct place {
	struct tmprepo *t;
	struct ref_transaction *tx;
	struct buf seen;   /* the effects as text */
	struct buf states; /* that were reported */
	const char *rejects;
	enum ref_state denied; /* is refused, if `denies` */
	bool denies;
	int result;
};

static void prepare(struct tmprepo *t)
{
	tmprepo_init(t, HASH_SHA1);
	t->repo.ref_storage = REPO_REFS_REFTABLE;
	assert_int_equal(repo_init_reftable(t->dir, HASH_SHA1,
					    "refs/heads/main", 0, NULL),
			 0);
}

static void make_plan(struct plan *p, uint64_t *seed)
{
	unsigned what = (unsigned)(random_next(seed) % 10);

	memset(p, 0, sizeof(*p));
	p->change.name = names[random_next(seed) % NAME_NR];
	p->new_oid.bytes[0] = (uint8_t)(random_next(seed) % 3 + 1);
	p->old_oid.bytes[0] = (uint8_t)(random_next(seed) % 4);
	if (what < 6)
		p->change.new_oid = &p->new_oid;
	if (what == 6 || what == 7) {
		p->new_oid.bytes[0] = 0;
		p->change.new_oid = &p->new_oid;
	}
	/*
	 * Only refs/sym gets a symbolic target, so no loop of symbolic refs
	 * arises.
	 */
	if (what == 8) {
		p->change.name = "refs/sym";
		p->change.new_target = "refs/heads/main";
		p->change.flags |= REF_NO_DEREF;
	}
	if (what == 9 || random_next(seed) % 3 == 0)
		p->change.old_oid = &p->old_oid;
	/* Never replace HEAD, so that it remains a symbolic ref. */
	if (random_next(seed) % 4 == 0 && strcmp(p->change.name, "HEAD") != 0)
		p->change.flags |= REF_NO_DEREF;
}

/* Makes one change in the reftables, if the ref has the expected old value. */
static int apply(void *ctx, const struct ref_effect *effect, struct error *err)
{
	static const struct oid zero = OID_ZERO_INIT;
	struct place *p = ctx;
	struct ref_change change = {
		.name = effect->name,
		.flags = REF_NO_DEREF,
		.old_oid = effect->old_target ? NULL
			   : effect->old_oid  ? effect->old_oid
					      : &zero,
		.old_target = effect->old_target,
		.new_target = effect->new_target,
		.new_oid = effect->new_target ? NULL
			   : effect->new_oid  ? effect->new_oid
					      : &zero,
	};

	if (effect->new_target && effect->old_target &&
	    !strcmp(effect->new_target, effect->old_target))
		change.new_target = NULL;
	if (!effect->old_target && !effect->new_target &&
	    oid_equal(change.old_oid, change.new_oid))
		change.new_oid = NULL;
	return ref_transaction_add(p->tx, &change, err);
}

static int publish(void *ctx, struct ref_transaction *tx, struct error *err)
{
	struct place *p = ctx;
	int ret = ref_transaction_new(&p->tx, &p->t->repo, NULL, err);

	assert_int_equal(ret, 0);
	ret = ref_transaction_each_effect(tx, apply, p, err);
	if (!ret)
		ret = ref_transaction_commit(p->tx, err);
	ref_transaction_free(p->tx);
	return ret;
}

/*
 * Runs a transaction of `nr` changes. If `publishes` is true, the transaction
 * passes its changes to the callback publish(), which makes them. If it is
 * false, the transaction itself makes them. Appends the results of the changes
 * and the values of all refs to *out.
 */
static void run(struct tmprepo *t, const struct plan *plans, size_t nr,
		bool keep_going, bool publishes, struct buf *out)
{
	struct place p = {.t = t};
	struct ref_transaction_options options = {
		.keep_going = keep_going,
		.publish = publishes ? publish : NULL,
		.ctx = &p,
	};
	struct ref_transaction *tx;
	struct error err = ERROR_INIT;
	struct refs *refs;
	struct ref ref;
	int ret;

	assert_int_equal(ref_transaction_new(&tx, &t->repo, &options, NULL), 0);
	for (size_t i = 0; i < nr; i++)
		assert_int_equal(
			ref_transaction_add(tx, &plans[i].change, NULL), 0);
	ret = ref_transaction_commit(tx, &err);
	buf_printf(out, "%d", ret);
	for (size_t i = 0; i < nr; i++)
		buf_printf(out, " %d", ref_transaction_get(tx, i)->result);
	ref_transaction_free(tx);
	assert_int_equal(refs_open(&refs, &t->repo, NULL), 0);
	for (size_t i = 0; i < NAME_NR; i++) {
		ret = refs_read(refs, names[i], &ref, NULL);
		buf_printf(out, "\n%s %d %02x %s", names[i], ret,
			   ret > 0 ? ref.oid.bytes[0] : 0,
			   ret > 0 && ref.target ? ref.target : "");
	}
	refs_close(refs);
}

/*
 * Returns true if one of `nr` changes may be a change of the ref `name`: it has
 * this name, or it is for a symbolic ref that may point to this ref.
 */
static bool is_twice(const struct plan *plans, size_t nr, const char *name)
{
	static const char group[] = "HEAD refs/sym refs/heads/main";

	for (size_t i = 0; i < nr; i++)
		if (!strcmp(plans[i].change.name, name) ||
		    (strstr(group, name) &&
		     strstr(group, plans[i].change.name)))
			return true;
	return false;
}

static void test_random(void **state)
{
	uint64_t seed = random_seed();
	struct tmprepo a, b;

	(void)state;
	prepare(&a);
	prepare(&b);
	for (int i = 0; i < ROUNDS; i++) {
		struct buf direct = BUF_INIT, published = BUF_INIT;
		struct plan plans[4];
		size_t nr = 1 + random_next(&seed) % 4;
		bool keep_going = random_next(&seed) % 2;

		for (size_t n = 0; n < nr; n++)
			do
				make_plan(&plans[n], &seed);
			while (is_twice(plans, n, plans[n].change.name));
		run(&a, plans, nr, keep_going, false, &direct);
		run(&b, plans, nr, keep_going, true, &published);
		assert_string_equal(direct.data, published.data);
		buf_release(&direct);
		buf_release(&published);
	}
	tmprepo_release(&a);
	tmprepo_release(&b);
}

/* ---- states and results */

static int on_state(void *ctx, enum ref_state state,
		    const struct ref_transaction *tx, struct error *err)
{
	struct place *p = ctx;

	(void)tx;
	buf_printf(&p->states, "%s ", ref_state_name(state));
	return p->denies && state == p->denied
		       ? error_set(err, ERR_DENIED, "no")
		       : 0;
}

struct rejecting {
	struct place *p;
	struct ref_transaction *tx;
};

static int see(void *ctx, const struct ref_effect *effect, struct error *err)
{
	struct rejecting *r = ctx;

	buf_printf(&r->p->seen, "%s ", effect->name);
	if (!r->p->rejects || strcmp(effect->name, r->p->rejects) != 0)
		return 0;
	return ref_transaction_reject(r->tx, effect->update, REF_OLD_DIFFERS,
				      "another node was faster", err);
}

static int only_see(void *ctx, struct ref_transaction *tx, struct error *err)
{
	struct place *p = ctx;
	struct rejecting r = {p, tx};
	int ret = ref_transaction_each_effect(tx, see, &r, err);

	return ret ? ret : p->result ? error_set(err, p->result, "result") : 0;
}

/*
 * Sets refs/heads/a and refs/heads/b in one transaction. *p determines the
 * result of publishing. The callback sees the refs in the order of their names,
 * although b is added first.
 */
static int set_two(struct place *p, bool keep_going, enum ref_result results[2])
{
	struct ref_transaction_options options = {
		.keep_going = keep_going,
		.publish = only_see,
		.on_state = on_state,
		.ctx = p,
	};
	struct oid oid = {.bytes = {1}};
	struct ref_change change = {.new_oid = &oid};
	struct ref_transaction *tx;
	int ret;

	buf_reset(&p->seen);
	buf_reset(&p->states);
	assert_int_equal(ref_transaction_new(&tx, &p->t->repo, &options, NULL),
			 0);
	change.name = "refs/heads/b";
	assert_int_equal(ref_transaction_add(tx, &change, NULL), 0);
	change.name = "refs/heads/a";
	assert_int_equal(ref_transaction_add(tx, &change, NULL), 0);
	ret = ref_transaction_commit(tx, NULL);
	for (size_t i = 0; i < 2; i++)
		results[i] = ref_transaction_get(tx, 1 - i)->result;
	ref_transaction_free(tx);
	return ret;
}

static void test_states(void **state)
{
	enum ref_result results[2];
	struct tmprepo t;
	struct place p = {.t = &t};
	struct refs *refs;
	struct ref ref;

	(void)state;
	prepare(&t);
	assert_int_equal(set_two(&p, true, results), 0);
	assert_string_equal(p.seen.data, "refs/heads/a refs/heads/b ");
	assert_string_equal(p.states.data, "preparing prepared committed ");
	/*
	 * The callback publish() only notes the changes. So the refs must stay
	 * as they are.
	 */
	assert_int_equal(refs_open(&refs, &t.repo, NULL), 0);
	assert_int_equal(refs_read(refs, "refs/heads/a", &ref, NULL), 0);
	refs_close(refs);

	p.rejects = "refs/heads/a";
	assert_int_equal(set_two(&p, true, results), 0);
	assert_int_equal(results[0], REF_OLD_DIFFERS);
	assert_int_equal(results[1], REF_OK);
	assert_string_equal(p.states.data, "preparing prepared committed ");
	assert_int_equal(set_two(&p, false, results), ERR_INVALID);
	assert_string_equal(p.states.data, "preparing prepared aborted ");
	p.rejects = NULL;

	p.result = ERR_IO;
	assert_int_equal(set_two(&p, true, results), ERR_IO);
	assert_string_equal(p.states.data, "preparing prepared aborted ");
	/* unknown */
	p.result = ERR_PEER;
	assert_int_equal(set_two(&p, true, results), ERR_PEER);
	assert_string_equal(p.states.data, "preparing prepared ");

	p.denies = true;
	p.denied = REF_PREPARED;
	assert_int_equal(set_two(&p, true, results), ERR_DENIED);
	assert_string_equal(p.seen.data, "");
	p.denies = false;

	t.repo.ref_storage = REPO_REFS_FILES;
	assert_int_equal(set_two(&p, true, results), ERR_UNSUPPORTED);
	buf_release(&p.seen);
	buf_release(&p.states);
	tmprepo_release(&t);
}

/* ---- copies */

static int change_main(struct tmprepo *t, struct error *err)
{
	struct oid oid = {.bytes = {1}};
	struct ref_change change = {.name = "refs/heads/main", .new_oid = &oid};
	struct ref_transaction *tx;
	int ret;

	assert_int_equal(ref_transaction_new(&tx, &t->repo, NULL, NULL), 0);
	assert_int_equal(ref_transaction_add(tx, &change, NULL), 0);
	ret = ref_transaction_commit(tx, err);
	ref_transaction_free(tx);
	return ret;
}

/*
 * The refs of a local copy (of a repository in a store) can only be changed by
 * publishing.
 */
static void test_copy(void **state)
{
	const struct ref_pack_options options = {.prune = true};
	enum ref_result results[2];
	struct error err = ERROR_INIT;
	struct tmprepo t;
	struct place p = {.t = &t};

	(void)state;
	prepare(&t);
	assert_int_equal(change_main(&t, NULL), 0);
	tmprepo_write(&t, REPO_COPY_MARKER, "x");
	assert_int_equal(change_main(&t, &err), ERR_DENIED);
	assert_string_equal(
		err.msg,
		"cannot change refs: this is a local copy of a "
		"repository in a store, and only pushes may change it");
	assert_int_equal(ref_pack(&t.repo, NULL, &options, &err), ERR_DENIED);
	assert_int_equal(reflog_drop(&t.repo, "refs/heads/main", &err),
			 ERR_DENIED);
	assert_int_equal(set_two(&p, true, results), 0);
	buf_release(&p.seen);
	buf_release(&p.states);
	tmprepo_release(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_states),
		cmocka_unit_test(test_copy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
