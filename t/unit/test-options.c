/* SPDX-License-Identifier: MIT */
/*
 * Tests of builtin/options.c, which parses command lines: accepted words, and
 * error messages.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "builtin/options.h"

#define WORDS_MAX 16

/* Variables that the options set, one for each kind of option. */
struct world {
	bool all, quiet, no_reuse, no_twice;
	int verbose;
	const char *name, *format;
	uint64_t memory;
	int64_t window;
	/*
	 * Argument of the last call of the callback: "<negated>" for a negated
	 * option, "<none>" if there was no argument.
	 */
	const char *called_with;
	int operand_nr;
	char words[256];
	const char *argv[WORDS_MAX + 1]; /* point into words */
	/* Text that was printed to standard output and standard error. */
	char text[4096];
};

static int remember(void *value, const char *arg)
{
	struct world *w = value;

	w->called_with = arg == option_negated ? "<negated>"
			 : arg                 ? arg
					       : "<none>";
	if (arg && !strcmp(arg, "dies"))
		return OPTION_DIED;
	return arg && !strcmp(arg, "bad") ? -1 : 0;
}

/*
 * Parse the command line `words`, and collect what is printed to standard
 * output and standard error.
 */
static int run(struct world *w, const char *words)
{
	const struct option options[] = {
		{.kind = OPTION_FLAG,
		 .short_name = 'a',
		 .long_name = "all",
		 .flag = &w->all,
		 .help = "everything"},
		{.kind = OPTION_FLAG,
		 .short_name = 'q',
		 .flag = &w->quiet,
		 .help = "be quiet",
		 .flags = OPTION_NO_NEGATE},
		{.kind = OPTION_FLAG,
		 .long_name = "no-reuse-delta",
		 .flag = &w->no_reuse,
		 .help = "compress again"},
		{.kind = OPTION_FLAG,
		 .long_name = "no-twice",
		 .flag = &w->no_twice,
		 .flags = OPTION_ONE_NO},
		{.kind = OPTION_COUNT,
		 .short_name = 'v',
		 .long_name = "verbose",
		 .count = &w->verbose,
		 .help = "say more"},
		{.kind = OPTION_STRING,
		 .short_name = 'n',
		 .long_name = "name",
		 .string = &w->name,
		 .help = "a name",
		 .arg_name = "<name>"},
		{.kind = OPTION_STRING,
		 .short_name = 'f',
		 .long_name = "format",
		 .string = &w->format,
		 .flags = OPTION_OPTIONAL_ARG,
		 .dflt = "raw",
		 .help = "a format",
		 .arg_name = "<fmt>"},
		{.kind = OPTION_U64,
		 .long_name = "window-memory",
		 .u64 = &w->memory,
		 .help = "bytes",
		 .arg_name = "<bytes>"},
		{.kind = OPTION_INT,
		 .long_name = "window",
		 .integer = &w->window,
		 .help = "objects"},
		{.kind = OPTION_CALLBACK,
		 .long_name = "call",
		 .value = w,
		 .fn = remember,
		 .help = "call"},
		{.kind = OPTION_CALLBACK,
		 .long_name = "ring",
		 .value = w,
		 .fn = remember,
		 .flags = OPTION_NO_ARG},
		{.kind = OPTION_NOT_OURS,
		 .short_name = 'Y',
		 .long_name = "stock-only"},
		{.kind = OPTION_END},
	};
	char *rest = w->words, *word;
	FILE *capture = tmpfile();
	int saved[2] = {dup(1), dup(2)}, argc = 1, ret;

	assert_non_null(capture);
	assert_true(strlen(words) < sizeof(w->words));
	strcpy(w->words, words);
	w->argv[0] = "test";
	while ((word = strsep(&rest, " ")) && argc < WORDS_MAX)
		if (*word)
			w->argv[argc++] = word;
	w->argv[argc] = NULL;
	fflush(stdout);
	dup2(fileno(capture), 1);
	dup2(fileno(capture), 2);
	ret = options_parse(argc, w->argv, options,
			    "git test [<options>]\ngit test --other");
	fflush(stdout);
	dup2(saved[0], 1);
	dup2(saved[1], 2);
	close(saved[0]);
	close(saved[1]);
	rewind(capture);
	w->text[fread(w->text, 1, sizeof(w->text) - 1, capture)] = '\0';
	fclose(capture);
	w->operand_nr = ret;
	return ret;
}

#define WORLD_INIT                                                             \
	{                                                                      \
		.called_with = "<never>"                                       \
	}

static void assert_says(const char *words, const char *message)
{
	struct world w = WORLD_INIT;

	assert_int_equal(run(&w, words), -129);
	assert_memory_equal(w.text, message, strlen(message));
}

static void operands_between_options(void **state)
{
	struct world w = WORLD_INIT;

	assert_int_equal(run(&w, "one -a two --verbose three"), 3);
	assert_true(w.all);
	assert_int_equal(w.verbose, 1);
	assert_string_equal(w.argv[1], "one");
	assert_string_equal(w.argv[2], "two");
	assert_string_equal(w.argv[3], "three");
	assert_null(w.argv[4]);
	assert_string_equal(w.text, "");
}

static void two_dashes_end_options(void **state)
{
	struct world w = WORLD_INIT;

	assert_int_equal(run(&w, "-a -- -q --"), 2);
	assert_true(w.all);
	assert_false(w.quiet);
	assert_string_equal(w.argv[1], "-q");
	assert_string_equal(w.argv[2], "--");
	assert_int_equal(run(&w, "--end-of-options -q -"), 2);
	assert_false(w.quiet);
	assert_string_equal(w.argv[2], "-");
}

static void bundles(void **state)
{
	struct world w = WORLD_INIT;

	assert_int_equal(run(&w, "-vaqv -nfoo -vn bar"), 0);
	assert_int_equal(w.verbose, 3);
	assert_true(w.all);
	assert_true(w.quiet);
	assert_string_equal(w.name, "bar");
}

static void arguments(void **state)
{
	struct world w = WORLD_INIT;

	assert_int_equal(run(&w, "--name=a=b --format x"), 1);
	assert_string_equal(w.name, "a=b");
	assert_string_equal(w.format, "raw");
	assert_int_equal(run(&w, "--name -a -ffoo"), 0);
	assert_string_equal(w.name, "-a");
	assert_string_equal(w.format, "foo");
	assert_int_equal(run(&w, "--format=bar -f"), 0);
	assert_string_equal(w.format, "raw");
	assert_int_equal(run(&w, "--name="), 0);
	assert_string_equal(w.name, "");
}

static void negation(void **state)
{
	struct world w = WORLD_INIT;

	w.memory = 3;
	w.window = -3;
	assert_int_equal(run(&w, "-aavn x --no-all --no-verbose --no-name "
				 "--no-window --no-window-memory"),
			 0);
	assert_false(w.all);
	assert_int_equal(w.verbose, 0);
	assert_null(w.name);
	assert_int_equal(w.memory, 0);
	assert_int_equal(w.window, 0);
	assert_int_equal(run(&w, "--no-reuse-delta"), 0);
	assert_true(w.no_reuse);
	assert_int_equal(run(&w, "--reuse-delta"), 0);
	assert_false(w.no_reuse);
}

static void negation_twice(void **state)
{
	static const char *const words[] = {"--no-no-reuse-delta",
					    "--no-no-reuse", "--no-no-"};
	struct world w = WORLD_INIT;

	for (size_t i = 0; i < ARRAY_NR(words); i++) {
		w.no_reuse = true;
		assert_int_equal(run(&w, words[i]), 0);
		assert_false(w.no_reuse);
	}
	assert_says("--no-no-reuse=1",
		    "error: option `no-no-reuse-delta' takes no value\n");
	assert_says("--no-no-reuse-deltas",
		    "error: unknown option `no-no-reuse-deltas'\n");
	assert_says("--no-no", "error: unknown option `no-no'\n");
	assert_says("--no-no-all", "error: unknown option `no-no-all'\n");
	assert_says("--no-no-twice", "error: unknown option `no-no-twice'\n");
}

static void numbers(void **state)
{
	struct world w = WORLD_INIT;

	assert_int_equal(run(&w, "--window=-10 --window-memory 4k"), 0);
	assert_int_equal(w.window, -10);
	assert_int_equal(w.memory, 4096);
	assert_int_equal(run(&w, "--window=2k --window-memory=16G"), 0);
	assert_int_equal(w.window, 2048);
	assert_int_equal(w.memory, UINT64_C(16) << 30);
	assert_int_equal(run(&w, "--window-memory=18446744073709551615"), 0);
	assert_int_equal(w.memory, UINT64_MAX);
	assert_int_equal(run(&w, "--window-memory=+7k --window=+8"), 0);
	assert_int_equal(w.memory, 7 << 10);
	assert_int_equal(w.window, 8);
	assert_says("--window=-+8", "error: option `window' expects");
	assert_says("--window=+-8", "error: option `window' expects");
	assert_says("--window-memory=18446744073709551616",
		    "error: value 18446744073709551616 for option "
		    "`window-memory' not in range [0,-1]\n");
	assert_says("--window-memory=18014398509481984k",
		    "error: value 18014398509481984k for option "
		    "`window-memory' not in range [0,-1]\n");
	assert_says("--window-memory=-1",
		    "error: option `window-memory' expects a non-negative "
		    "integer value with an optional k/m/g suffix\n");
	assert_says("--window-memory=", "error: option `window-memory' exp");
	assert_says("--window=1x", "error: option `window' expects an integer "
				   "value with an optional k/m/g suffix\n");
	assert_says("--window=1kk", "error: option `window' expects");
}

static void integers_have_32_bits(void **state)
{
	struct world w = WORLD_INIT;

	assert_int_equal(run(&w, "--window=2147483647"), 0);
	assert_int_equal(w.window, INT32_MAX);
	assert_int_equal(run(&w, "--window=-2g"), 0);
	assert_int_equal(w.window, INT32_MIN);
	assert_says("--window=2g", "error: value 2g for option `window' not in "
				   "range [-2147483648,2147483647]\n");
	assert_says("--window=-2147483649",
		    "error: value -2147483649 for option `window' not in ");
	assert_says("--window=99999999999999999999",
		    "error: value 99999999999999999999 for option `window' ");
}

static void callbacks(void **state)
{
	struct world w = WORLD_INIT;

	assert_int_equal(run(&w, "--call x"), 0);
	assert_string_equal(w.called_with, "x");
	assert_int_equal(run(&w, "--no-call"), 0);
	assert_string_equal(w.called_with, "<negated>");
	assert_int_equal(run(&w, "--ring x"), 1);
	assert_string_equal(w.called_with, "<none>");
	assert_int_equal(run(&w, "--call=bad"), -129);
	assert_string_equal(w.text, "");
	assert_int_equal(run(&w, "--call=dies --nope"), OPTION_DIED);
	assert_string_equal(w.text, "");
	assert_int_equal(options_failed(OPTION_DIED), 128);
}

static void abbreviations(void **state)
{
	struct world w = WORLD_INIT;

	assert_int_equal(run(&w, "--al --verb --na=x --no-reuse"), 0);
	assert_true(w.all);
	assert_int_equal(w.verbose, 1);
	assert_string_equal(w.name, "x");
	assert_true(w.no_reuse);
	assert_int_equal(run(&w, "--no-al --window=4 --window-m=5"), 0);
	assert_false(w.all);
	assert_int_equal(w.window, 4);
	assert_int_equal(w.memory, 5);
	assert_says("--win=1", "error: ambiguous option: win=1 (could be "
			       "--window-memory or --window)\n");
	assert_says("--no",
		    "error: ambiguous option: no (could be --no-ring or "
		    "--no-stock-only)\n");
	assert_says("--n", "error: ambiguous option: n (could be --no-");
	assert_says("--no-win", "error: ambiguous option: no-win (could be "
				"--no-window-memory or --no-window)\n");
}

static void mistakes(void **state)
{
	struct world w = WORLD_INIT;

	assert_says("--nope", "error: unknown option `nope'\n"
			      "usage: git test [<options>]\n"
			      "   or: git test --other\n\n");
	assert_says("--all=x", "error: option `all' takes no value\n");
	assert_says("--no-name=x", "error: option `no-name' takes no value\n");
	assert_says("--ring=x", "error: option `ring' takes no value\n");
	assert_says("--name", "error: option `name' requires a value\n");
	assert_says("-n", "error: switch `n' requires a value\n");
	assert_says("-aZ", "error: unknown switch `Z'\nusage: git test ");
	assert_says("--no-q", "error: unknown option `no-q'\n");
	assert_int_equal(run(&w, "-a x --nope"), -129);
}

/*
 * Command lines with an option that only stock Git has. Invalid words may come
 * before or after it. The option must be found at any position.
 */
static const char *const stock_only[] = {
	"--stock-only",
	"--stock-only=x",
	"--no-stock-only",
	"--stock",
	"-Y",
	"-aYx",
	"x --stock-only y",
	"--stock-only --nope",
};

static void for_the_stock_git(void **state)
{
	assert_int_equal(setenv("GITREACH_FALLBACK", "/bin/sh", 1), 0);
	for (size_t i = 0; i < sizeof(stock_only) / sizeof(*stock_only); i++) {
		struct world w = WORLD_INIT;
		int ret = run(&w, stock_only[i]);

		assert_int_equal(ret, BUILTIN_NOT_OURS);
		assert_int_equal(options_failed(ret), BUILTIN_NOT_OURS);
		assert_string_equal(w.text, "");
	}
	assert_says("--nope --stock-only", "error: unknown option `nope'\n");
	assert_int_equal(options_failed(-129), 129);
}

static void without_a_stock_git(void **state)
{
	assert_int_equal(setenv("GITREACH_FALLBACK", "/no/such/git", 1), 0);
	for (size_t i = 0; i < sizeof(stock_only) / sizeof(*stock_only); i++) {
		struct world w = WORLD_INIT;

		assert_int_equal(run(&w, stock_only[i]), -129);
		assert_non_null(strstr(w.text, "not supported yet\n"));
	}
	assert_says("--no-stock-only",
		    "error: option `no-stock-only' is not supported yet\n");
	assert_says("-Y", "error: switch `Y' is not supported yet\n");
}

static void usage(void **state)
{
	assert_says("-h", "usage: git test [<options>]\n"
			  "   or: git test --other\n"
			  "\n"
			  "    -a, --all             everything\n"
			  "    -q                    be quiet\n"
			  "    --no-reuse-delta      compress again\n"
			  "    -v, --verbose         say more\n"
			  "    -n, --name <name>     a name\n"
			  "    -f, --format[=<fmt>]  a format\n"
			  "    --window-memory <bytes>\n"
			  "                          bytes\n"
			  "    --window <n>          objects\n"
			  "    --call <value>        call\n"
			  "\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(operands_between_options),
		cmocka_unit_test(two_dashes_end_options),
		cmocka_unit_test(bundles),
		cmocka_unit_test(arguments),
		cmocka_unit_test(negation),
		cmocka_unit_test(negation_twice),
		cmocka_unit_test(numbers),
		cmocka_unit_test(integers_have_32_bits),
		cmocka_unit_test(callbacks),
		cmocka_unit_test(abbreviations),
		cmocka_unit_test(mistakes),
		cmocka_unit_test(usage),
		cmocka_unit_test(for_the_stock_git),
		cmocka_unit_test(without_a_stock_git),
	};

	return cmocka_run_group_tests_name("options", tests, NULL, NULL);
}
