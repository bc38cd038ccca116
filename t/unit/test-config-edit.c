/* SPDX-License-Identifier: MIT */
/*
 * Tests of config/config-edit.c, which changes one variable in the text of a
 * configuration file. An edit must not change any other variable.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "config/config.h"
#include "t/unit/random.h"

/* Edits core.bare. NULL removes the variable. */
static void edits(const char *before, const char *value, const char *after)
{
	struct buf text = BUF_INIT;

	buf_append_str(&text, before);
	assert_int_equal(config_edit(&text, "core", "bare", value), 0);
	assert_string_equal(text.data, after);
	buf_release(&text);
}

/* The results are those of git-config(1). */
static void test_sets(void **state)
{
	static const char set[] = "[core]\n\tbare = no\n";

	edits("", "no", set);
	edits("[core]", "no", set);
	edits("[core]\n\tbare = yes\n", "no", set);
	edits("[core] bare = yes\n", "no", set);
	edits("[CORE]\n  Bare\n", "no", "[CORE]\n\tbare = no\n");
	edits("[core]\na = 1\n\nbare = 1\n\nb = 1\n", "no",
	      "[core]\na = 1\n\n\tbare = no\n\nb = 1\n");
	edits("[core]\na=1", "no", "[core]\na=1\n\tbare = no\n");
	edits("[core]\na=1\n\n# c\n[x]\ny=1\n", "no",
	      "[core]\na=1\n\tbare = no\n\n# c\n[x]\ny=1\n");
	edits("[core] # c\n[x] bare=1\n", "no",
	      "[core] # c\n\tbare = no\n[x] bare=1\n");
	edits("[core] [core \"x\"] bare = 1\n", "no",
	      "[core] \n\tbare = no\n[core \"x\"] bare = 1\n");
	edits("[core]\na=1\n[core]\nb=1\n[x]\n", "no",
	      "[core]\na=1\n[core]\nb=1\n\tbare = no\n[x]\n");
	edits("[core]\nbare=1\n[x]\n[core]\nbare=2\n", "no",
	      "[core]\n\tbare = no\n[x]\n");
}

static void test_removes(void **state)
{
	edits("[core]\n\n\tbare = yes\n", NULL, "");
	edits("[core] bare = yes # c\n[x]\n\ty=1\n", NULL, "[x]\n\ty=1\n");
	edits("[core]\n\tbare = yes\n\t# c\n", NULL, "[core]\n\t# c\n");
	edits("[core] a=1\nbare = 1\n", NULL, "[core] a=1\n");
	edits("[core] bare=1\na = 1\n", NULL, "[core]\na = 1\n");
	edits("[core]\n[x]\ny=1\n", NULL, "[core]\n[x]\ny=1\n");
	edits("[x] [core]\nbare=1\n[z]\n", NULL, "[x]\n[z]\n");
}

/*
 * A backslash at the end of a line continues a value. At the end of a comment
 * the backslash has no meaning.
 */
static void test_backslashes(void **state)
{
	edits("[core]\nbare = yes # C:\\dir\\\na = 1\n", "no",
	      "[core]\n\tbare = no\na = 1\n");
	edits("[core]\na = 1 ; \\\n[x]\nbare = 2\n", "no",
	      "[core]\na = 1 ; \\\n\tbare = no\n[x]\nbare = 2\n");
	edits("[core]\na = 1 # \\\nbare = 2\n", NULL, "[core]\na = 1 # \\\n");
	edits("[core]\r\nbare = y\\\r\nes\r\na = 1\r\n", "no",
	      "[core]\r\n\tbare = no\na = 1\r\n");
	edits("[core]\na = 1\\", "no", "[core]\na = 1\\\n\n\tbare = no\n");
	edits("[core]\na = \"#\\\nbare = 2\"\n", "no",
	      "[core]\na = \"#\\\nbare = 2\"\n\tbare = no\n");
}

static void test_malformed(void **state)
{
	struct buf text = BUF_INIT;

	buf_append_str(&text, "[core]\nbare = \"\n");
	assert_int_equal(config_edit(&text, "core", "bare", "no"), ERR_CORRUPT);
	assert_string_equal(text.data, "[core]\nbare = \"\n");
	buf_release(&text);
}

/* Makes a text from random pieces. Many of these texts are malformed. */
static void make_text(struct buf *out, uint64_t *seed)
{
	static const char *const pieces[] = {
		"[core]", "[core]\n", "[CORE]",   "[x]\n",   "[core \"s\"]\n",
		"bare",   "\n",       "\r\n",     " = ",     "=",
		"bare=1", "\\",       "\\\n",     "\\\r\n",  "# c\\",
		"; ",     "\"",       "\"#\"",    "a = 1\n", "b = \"x\\\ny\"\n",
		"\t",     "1",        "Bare=2\n", "c",       "\\\\",
	};
	size_t nr = 1 + random_next(seed) % 24;

	for (size_t i = 0; i < nr; i++)
		buf_append_str(out,
			       pieces[random_next(seed) % ARRAY_NR(pieces)]);
}

static int parse(struct config *config, const struct buf *text)
{
	return config_parse(config, text->data, text->len, CONFIG_LOCAL, NULL,
			    NULL, NULL);
}

/* Appends all variables except core.bare, one a line. */
static void list_others(struct buf *out, const struct config *config)
{
	for (size_t i = 0; i < config->nr; i++) {
		const struct config_entry *e = &config->entries[i];

		if (strcmp(e->key, "core.bare"))
			buf_printf(out, "%s %s\n", e->key,
				   e->value ? e->value : "(none)");
	}
}

static int count(void *ctx, const struct config_entry *entry)
{
	size_t *nr = ctx;

	(*nr)++;
	return 0;
}

/* Checks an edited text; `before` is the parsed text before the edit. */
static void check_edit(const struct buf *text, const struct config *before,
		       const char *value)
{
	struct config after = CONFIG_INIT;
	struct buf lists[2] = {BUF_INIT, BUF_INIT};
	size_t nr = 0;

	assert_int_equal(parse(&after, text), 0);
	list_others(&lists[0], before);
	list_others(&lists[1], &after);
	assert_string_equal(lists[0].data, lists[1].data);
	config_each(&after, "core.bare", count, &nr);
	assert_int_equal(nr, value ? 1 : 0);
	if (value)
		assert_string_equal(config_string(&after, "core.bare"), value);
	buf_release(&lists[0]);
	buf_release(&lists[1]);
	config_release(&after);
}

/* After an edit, the parser finds the same other variables as before. */
static void test_random(void **state)
{
	static const char *const values[] = {"new", NULL};
	uint64_t seed = random_seed();
	size_t edited = 0;

	for (int round = 0; round < 20000; round++) {
		struct config before = CONFIG_INIT;
		struct buf text = BUF_INIT;
		const char *value = values[round % 2];

		make_text(&text, &seed);
		if (!parse(&before, &text)) {
			assert_int_equal(
				config_edit(&text, "core", "bare", value), 0);
			check_edit(&text, &before, value);
			edited++;
		}
		config_release(&before);
		buf_release(&text);
	}
	assert_true(edited > 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sets),
		cmocka_unit_test(test_removes),
		cmocka_unit_test(test_backslashes),
		cmocka_unit_test(test_malformed),
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
