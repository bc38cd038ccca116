/* SPDX-License-Identifier: MIT */
/*
 * Tests of wire/visible.c, which decides whether visible refs reach an object.
 * There are several ways to find this out, and their results are compared.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "t/unit/dialog.h"
#include "wire/visible.h"

static struct visible *open_one(struct dialog *d, const char *namespace)
{
	struct visible *v;

	assert_int_equal(
		visible_open(&v, &d->t.repo, namespace, NULL, NULL, &d->err),
		0);
	return v;
}

/*
 * Returns whether a new `struct visible` lets clients know of the object
 * `name`.
 */
static int sees(struct dialog *d, const char *name)
{
	struct visible *v = open_one(d, NULL);
	int ret = visible_has(v, dialog_oid(d, name), &d->err);

	visible_close(v);
	return ret;
}

static void init(struct dialog *d, const char *config)
{
	dialog_init(d, HASH_SHA1);
	dialog_config(d, CONFIG_LOCAL, "[transfer]\nhideRefs = refs/hidden\n");
	dialog_config(d, CONFIG_LOCAL, config);
	dialog_object(d, "stray", OBJ_BLOB, "nobody has this");
}

static void test_kinds(void **state)
{
	static const struct {
		const char *name;
		bool visible, with_hidden;
	} cases[] = {
		{"c4", true, true},      {"s0", true, true},
		{"v1", true, true},      {"c3", true, true},
		{"c0", true, true},      {"t", true, true},
		{"h0", false, true},     {"lost", false, false},
		{"stray", false, false}, {"none", false, false},
	};
	static const char *const keys[] = {
		"[uploadpack]\nallowTipSHA1InWant\n",
		"[uploadpack]\nallowReachableSHA1InWant\n",
		"[uploadpack]\nallowAnySHA1InWant\n",
	};
	struct dialog d;

	for (size_t k = 0; k <= ARRAY_NR(keys); k++) {
		init(&d, k ? keys[k - 1] : "");
		for (size_t i = 0; i < ARRAY_NR(cases); i++)
			assert_int_equal(sees(&d, cases[i].name),
					 k ? cases[i].with_hidden
					   : cases[i].visible);
		dialog_release(&d);
	}
}

/*
 * A `struct visible` caches results. The cached results must equal those of a
 * new `struct visible`.
 */
static void test_all_at_once(void **state)
{
	static const char *const names[] = {
		"stray", "lost", "h0", "none", "c0",   "c1", "c2", "lost",
		"h0",    "t",    "v1", "c3",   "lost", "s0", "c4", "stray",
	};
	struct visible *v;
	struct dialog d;

	init(&d, "");
	for (size_t from = 0; from < ARRAY_NR(names); from++) {
		v = open_one(&d, NULL);
		for (size_t i = 0; i < ARRAY_NR(names); i++) {
			const char *name = names[(from + i) % ARRAY_NR(names)];

			assert_int_equal(
				visible_has(v, dialog_oid(&d, name), &d.err),
				sees(&d, name));
		}
		visible_close(v);
	}
	dialog_release(&d);
}

/*
 * A hint is a commit whose trees are likely to contain the object. A hint that
 * is not the value of a visible ref is ignored.
 */
static void test_hints(void **state)
{
	struct visible *v;
	struct dialog d;

	init(&d, "");
	dialog_object(&d, "lost-blob", OBJ_BLOB, "lost");
	v = open_one(&d, NULL);
	assert_int_equal(visible_hint(v, dialog_oid(&d, "lost"), &d.err), 0);
	assert_int_equal(visible_hint(v, dialog_oid(&d, "h0"), &d.err), 0);
	assert_int_equal(visible_hint(v, dialog_oid(&d, "none"), &d.err), 0);
	assert_int_equal(visible_hint(v, dialog_oid(&d, "v1"), &d.err), 0);
	assert_int_equal(visible_hint(v, dialog_oid(&d, "s0"), &d.err), 0);
	assert_int_equal(visible_has(v, dialog_oid(&d, "t"), &d.err), 1);
	assert_int_equal(visible_has(v, dialog_oid(&d, "lost"), &d.err), 0);
	assert_int_equal(visible_has(v, dialog_oid(&d, "stray"), &d.err), 0);
	visible_close(v);
	dialog_release(&d);
}

static void test_namespace(void **state)
{
	struct visible *v;
	struct dialog d;

	init(&d, "");
	dialog_ref(&d, "refs/namespaces/n/refs/heads/x", "c1");
	v = open_one(&d, "n");
	assert_int_equal(visible_has(v, dialog_oid(&d, "c1"), &d.err), 1);
	assert_int_equal(visible_has(v, dialog_oid(&d, "c0"), &d.err), 1);
	assert_int_equal(visible_has(v, dialog_oid(&d, "c2"), &d.err), 0);
	assert_int_equal(visible_has(v, dialog_oid(&d, "v1"), &d.err), 0);
	visible_close(v);
	dialog_release(&d);
}

/*
 * One ref points to a commit whose parent is missing, another to a missing
 * object. Objects that other refs reach must still be visible.
 */
static void test_broken(void **state)
{
	struct dialog d;

	init(&d, "");
	dialog_commit(&d, "broken", 1700000050, "none", NULL);
	dialog_ref(&d, "refs/heads/broken", "broken");
	dialog_ref(&d, "refs/heads/ghost", "none");
	assert_int_equal(sees(&d, "broken"), 1);
	assert_int_equal(sees(&d, "none"), 0);
	assert_int_equal(sees(&d, "c4"), 1);
	assert_int_equal(sees(&d, "lost"), 0);
	assert_int_equal(sees(&d, "stray"), 0);
	dialog_release(&d);
}

static bool limit(struct dialog *d)
{
	bool is = false;

	assert_int_equal(visible_is_limit(&is, &d->t.repo, &d->err), 0);
	return is;
}

static void test_limit(void **state)
{
	struct dialog d;

	init(&d, "");
	assert_false(limit(&d));
	/*
	 * This file makes the repository the shared store of a fork network. In
	 * a fork network, gitreach.reachableOnly is on by default.
	 */
	tmprepo_write(&d.t, "network/members", "");
	assert_true(limit(&d));
	dialog_config(&d, CONFIG_LOCAL, "[gitreach]\nreachableOnly = false\n");
	assert_false(limit(&d));
	dialog_config(&d, CONFIG_LOCAL, "[gitreach]\nreachableOnly\n");
	assert_true(limit(&d));
	dialog_release(&d);
}

/*
 * With gitreach.reachableOnly, the server must respond to an invisible object
 * as to a missing one. The requests name the object as want, have or shallow
 * commit, or ask for its size.
 */
static void test_dialogs(void **state)
{
	static const char *const ids[] = {"lost", "h0", "stray"};
	static const char *const scripts[] = {
		"command=fetch|D|want %s|done|F",
		"command=fetch|D|want %s|want none|done|F",
		"command=fetch|D|want c4|have %s|have c3|F",
		"command=fetch|D|want c4|shallow %s|deepen 1|done|F",
		"command=object-info|D|size|oid %s|F",
	};
	char one[128], other[128], expect[256], answer[256], *found;
	struct dialog d;

	init(&d, "[gitreach]\nreachableOnly\n");
	dialog_config(&d, CONFIG_LOCAL, "[transfer]\nadvertiseObjectInfo\n");
	d.options.version = 2;
	for (size_t i = 0; i < ARRAY_NR(scripts) * ARRAY_NR(ids); i++) {
		const char *id = ids[i % ARRAY_NR(ids)];
		const char *script = scripts[i / ARRAY_NR(ids)];

		snprintf(other, sizeof(other), script, "none");
		snprintf(expect, sizeof(expect), "%s",
			 dialog_answer(&d, other));
		snprintf(one, sizeof(one), script, id);
		snprintf(answer, sizeof(answer), "%s", dialog_answer(&d, one));
		/*
		 * Cut out the id of the object, which differs in each response.
		 */
		found = strstr(answer, id);
		if (found) {
			memmove(found + 4, found + strlen(id),
				strlen(found + strlen(id)) + 1);
			memcpy(found, "none", 4);
		}
		assert_string_equal(answer, expect);
	}
	dialog_release(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_all_at_once),
		cmocka_unit_test(test_hints),
		cmocka_unit_test(test_namespace),
		cmocka_unit_test(test_broken),
		cmocka_unit_test(test_limit),
		cmocka_unit_test(test_dialogs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
