/* SPDX-License-Identifier: MIT */
/*
 * Tests of serve/wants.c: wants that the configuration allows are accepted, and
 * all other wants are refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "t/unit/dialog.h"

static void check(struct dialog *d, const char *config, const char *want,
		  bool given)
{
	char script[64], answer[128];

	config_release(&d->t.repo.config);
	d->t.repo.config = (struct config)CONFIG_INIT;
	dialog_config(d, CONFIG_LOCAL, "[transfer]\nhideRefs = refs/hidden\n");
	dialog_config(d, CONFIG_LOCAL, config);
	snprintf(script, sizeof(script), "want %s no-progress|F|done", want);
	snprintf(answer, sizeof(answer),
		 given ? "NAK|=PACK wants=%s"
		       : "ERR upload-pack: not our ref %s",
		 want);
	assert_string_equal(dialog_answer(d, script), answer);
}

#define NOTHING ""
#define TIP "[uploadpack]\nallowTipSHA1InWant\n"
#define REACHABLE "[uploadpack]\nallowReachableSHA1InWant\n"
#define ANY "[uploadpack]\nallowAnySHA1InWant\n"

static void test_stateful(void **state)
{
	static const struct {
		const char *want;
		bool by_default, by_tip, by_reachable, by_any;
	} cases[] = {
		{"c4", true, true, true, true},
		{"v1", true, true, true, true},
		{"h0", false, true, true, true},
		{"c2", false, false, true, true},
		{"t", false, false, true, true},
		{"lost", false, false, false, true},
		{"none", false, false, false, false},
	};
	struct dialog d;

	dialog_init(&d, HASH_SHA1);
	dialog_object(&d, "stray", OBJ_BLOB, "nobody has this");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		check(&d, NOTHING, cases[i].want, cases[i].by_default);
		check(&d, TIP, cases[i].want, cases[i].by_tip);
		check(&d, REACHABLE, cases[i].want, cases[i].by_reachable);
		check(&d, ANY, cases[i].want, cases[i].by_any);
	}
	check(&d, REACHABLE, "stray", false);
	check(&d, ANY, "stray", true);
	dialog_release(&d);
}

/*
 * In a stateless request (as over HTTP), a client may want any object that
 * visible refs reach.
 */
static void test_stateless(void **state)
{
	struct dialog d;

	dialog_init(&d, HASH_SHA1);
	d.options.stateless_rpc = true;
	check(&d, NOTHING, "c4", true);
	check(&d, NOTHING, "c2", true);
	check(&d, NOTHING, "t", true);
	check(&d, NOTHING, "h0", false);
	check(&d, NOTHING, "lost", false);
	dialog_release(&d);
}

static void test_detached_head(void **state)
{
	struct dialog d;

	dialog_init(&d, HASH_SHA1);
	check(&d, NOTHING, "lost", false);
	dialog_ref(&d, "HEAD", "lost");
	check(&d, NOTHING, "lost", true);
	dialog_release(&d);
}

/*
 * The wanted commit has a later date than the tip that reaches it (clock skew).
 * A walk by date misses it. Before a want is refused, an exact walk must find
 * it.
 */
static void test_clock_skew(void **state)
{
	struct dialog d;

	dialog_init(&d, HASH_SHA1);
	dialog_commit(&d, "young", 2000000000, "c1", NULL);
	dialog_commit(&d, "old", 1000, "young", NULL);
	check(&d, REACHABLE, "young", false);
	dialog_ref(&d, "refs/heads/old", "old");
	check(&d, REACHABLE, "young", true);
	check(&d, NOTHING, "young", false);
	dialog_release(&d);
}

/*
 * HEAD names a branch that does not exist yet, or the file HEAD is damaged.
 * Wants are accepted or refused as with a valid HEAD.
 */
static void test_no_head(void **state)
{
	struct dialog d;

	dialog_init(&d, HASH_SHA1);
	d.options.stateless_rpc = true;
	tmprepo_write(&d.t, "HEAD", "ref: refs/heads/new\n");
	check(&d, NOTHING, "c2", true);
	check(&d, NOTHING, "lost", false);
	tmprepo_write(&d.t, "HEAD", "nonsense\n");
	check(&d, NOTHING, "c2", true);
	check(&d, NOTHING, "lost", false);
	dialog_release(&d);
}

/* If one want is refused, the whole request fails. */
static void test_several(void **state)
{
	struct dialog d;

	dialog_init(&d, HASH_SHA1);
	d.options.stateless_rpc = true;
	assert_string_equal(
		dialog_answer(&d, "want c4|want c1|want lost|want c2|F|done"),
		"ERR upload-pack: not our ref lost");
	dialog_release(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stateful),
		cmocka_unit_test(test_stateless),
		cmocka_unit_test(test_detached_head),
		cmocka_unit_test(test_no_head),
		cmocka_unit_test(test_several),
		cmocka_unit_test(test_clock_skew),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
