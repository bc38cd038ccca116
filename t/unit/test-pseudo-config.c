/* SPDX-License-Identifier: MIT */
/*
 * Tests of bitmap/pseudo-config.c, the configuration of pseudo-merges: valid
 * values, defaults, and invalid values.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "bitmap/pseudo-config.h"

#define NOW INT64_C(1700000000)
#define DAY (24 * 3600)

/* Loads `text` as a configuration of pseudo-merges. `warning` may be NULL. */
static int load(struct pseudo_config *out, const char *text,
		struct error *warning, struct error *err)
{
	struct config config = CONFIG_INIT;
	int ret;

	assert_int_equal(config_parse(&config, text, strlen(text), CONFIG_LOCAL,
				      NULL, NULL, NULL),
			 0);
	*out = (struct pseudo_config)PSEUDO_CONFIG_INIT;
	ret = pseudo_config_load(out, &config, NOW, warning, err);
	config_release(&config);
	return ret;
}

static void defaults(void **state)
{
	struct pseudo_config c;
	const struct pseudo_rules *rules;

	assert_int_equal(load(&c,
			      "[bitmapPseudoMerge \"A.b\"]\n"
			      "pattern = refs/(x)\n",
			      NULL, NULL),
			 0);
	assert_int_equal(c.nr, 1);
	assert_string_equal(c.sections[0].name, "A.b");
	assert_int_equal(
		pattern_match(c.sections[0].pattern, "refs/x", 6, NULL), 1);
	assert_int_equal(
		pattern_match(c.sections[0].pattern, "arefs/x", 7, NULL), 0);
	assert_int_equal(
		pattern_match(c.sections[0].pattern, "Refs/x", 6, NULL), 0);
	rules = &c.sections[0].rules;
	assert_true(rules->decay == 1 && rules->sample_rate == 1);
	assert_int_equal(rules->max_merges, 64);
	assert_int_equal(rules->stable_size, 512);
	assert_int_equal(rules->threshold, NOW - 7 * DAY);
	assert_true(rules->stable_threshold <= NOW - 28 * DAY);
	assert_true(rules->stable_threshold >= NOW - 31 * DAY - 3600);
	pseudo_config_release(&c);
}

static void values(void **state)
{
	struct pseudo_config c;

	assert_int_equal(load(&c,
			      "[bitmapPseudoMerge \"a\"]\n"
			      "pattern = a\n decay = 0.5\n sampleRate = .25\n"
			      "threshold = now\n stableThreshold = never\n"
			      "maxMerges = 1k\n stableSize = 7\n"
			      "[bitmapPseudoMerge \"b\"]\n"
			      "pattern = b\n maxMerges = 0\n"
			      "[bitmapPseudoMerge]\n pattern = c\n"
			      "[bitmapPseudoMerge \"a\"]\n stableSize = 9\n",
			      NULL, NULL),
			 0);
	assert_int_equal(c.nr, 2);
	assert_true(c.sections[0].rules.decay == .5);
	assert_true(c.sections[0].rules.sample_rate == .25);
	assert_true(c.sections[0].rules.threshold == INT64_MAX);
	assert_int_equal(c.sections[0].rules.stable_threshold, 0);
	assert_int_equal(c.sections[0].rules.max_merges, 1024);
	assert_int_equal(c.sections[0].rules.stable_size, 9);
	assert_int_equal(c.sections[1].rules.max_merges, 0);
	pseudo_config_release(&c);
}

static void out_of_range(void **state)
{
	static const struct {
		const char *line, *warning;
	} cases[] = {
		{"decay = -1", "decay must be non-negative"},
		{"sampleRate = 0", "samplerate must be between 0 (exclusive)"},
		{"sampleRate = 1.5", "samplerate must be between"},
		{"maxMerges = -1", "maxmerges must be non-negative"},
		{"stableSize = 0", "stablesize must be positive"},
	};

	for (size_t i = 0; i < ARRAY_NR(cases); i++) {
		struct error warning = ERROR_INIT;
		struct pseudo_config c;
		char text[200];

		snprintf(text, sizeof(text),
			 "[bitmapPseudoMerge \"a\"]\npattern = x\n%s\n",
			 cases[i].line);
		assert_int_equal(load(&c, text, &warning, NULL), 0);
		assert_non_null(strstr(warning.msg, cases[i].warning));
		assert_non_null(strstr(warning.msg, "bitmappseudomerge.a."));
		assert_true(c.sections[0].rules.decay == 1);
		assert_true(c.sections[0].rules.sample_rate == 1);
		assert_int_equal(c.sections[0].rules.max_merges, 64);
		assert_int_equal(c.sections[0].rules.stable_size, 512);
		pseudo_config_release(&c);
	}
}

static void refused(void **state)
{
	static const struct {
		const char *lines, *message;
	} cases[] = {
		{"decay = 1", "'a' missing required pattern"},
		{"pattern", "missing value for 'bitmappseudomerge.a.pattern'"},
		{"pattern = (", "regex for a.pattern: '^('"},
		{"pattern = *", "regex for a.pattern: '^*'"},
		{"pattern = x\ndecay = x", "bad numeric config value 'x' for "
					   "'bitmappseudomerge.a.decay'"},
		{"pattern = x\ndecay = 1x", "invalid unit"},
		{"pattern = x\nsampleRate = ", "invalid unit"},
		{"pattern = x\nmaxMerges = x", "invalid unit"},
		{"pattern = x\nstableSize = 3.5", "invalid unit"},
		{"pattern = x\nthreshold = bogus",
		 "'bogus' for 'bitmappseudomerge.a.threshold' is not a valid "
		 "timestamp"},
		{"pattern = x\nstableThreshold = bogus",
		 "is not a valid timestamp"},
		{"pattern = x\nthreshold = never",
		 "'a' has unstable threshold before stable one"},
		{"pattern = x\nstableThreshold = now",
		 "'a' has unstable threshold before stable one"},
	};

	for (size_t i = 0; i < ARRAY_NR(cases); i++) {
		struct error err = ERROR_INIT;
		struct pseudo_config c;
		char text[200];

		snprintf(text, sizeof(text), "[bitmapPseudoMerge \"a\"]\n%s\n",
			 cases[i].lines);
		assert_int_equal(load(&c, text, NULL, &err), ERR_INVALID);
		if (!strstr(err.msg, cases[i].message))
			fail_msg("%s: %s", cases[i].lines, err.msg);
		pseudo_config_release(&c);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(defaults),
		cmocka_unit_test(values),
		cmocka_unit_test(out_of_range),
		cmocka_unit_test(refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
