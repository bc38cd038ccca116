/* SPDX-License-Identifier: MIT */
/* The option parser: compares the words of argv with a table. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "builtin/fallback.h"
#include "builtin/options.h"

#define HELP_COLUMN 26
#define FAILED (-129)

const char option_negated[] = "";

struct parse {
	const struct option *options;
	const char *usage;
	const char **argv;
	int argc;
	/* index in argv of the word that is parsed next */
	int next;
	/* number of operands that were already moved to the front of argv */
	int operand_nr;
};

/* An option, and how the user wrote it, for messages. */
struct named {
	const struct option *option;
	bool is_long;
	bool negated;
};

/* ---- usage */

static const char *arg_name(const struct option *o)
{
	if (o->arg_name)
		return o->arg_name;
	return o->kind == OPTION_U64 || o->kind == OPTION_INT ? "<n>"
							      : "<value>";
}

static bool takes_arg(const struct option *o)
{
	switch (o->kind) {
	case OPTION_STRING:
	case OPTION_U64:
	case OPTION_INT:
		return true;
	case OPTION_CALLBACK:
		return !(o->flags & OPTION_NO_ARG);
	default:
		return false;
	}
}

static int print_names(FILE *out, const struct option *o)
{
	int width = fprintf(out, "    ");

	if (o->short_name)
		width += fprintf(out, "-%c", o->short_name);
	if (o->short_name && o->long_name)
		width += fprintf(out, ", ");
	if (o->long_name)
		width += fprintf(out, "--%s", o->long_name);
	if (!takes_arg(o))
		return width;
	if (!(o->flags & OPTION_OPTIONAL_ARG))
		return width + fprintf(out, " %s", arg_name(o));
	return width +
	       fprintf(out, o->long_name ? "[=%s]" : "[%s]", arg_name(o));
}

static void print_usage(FILE *out, const struct option *options,
			const char *usage)
{
	const char *prefix = "usage: ";

	while (*usage) {
		size_t len = strcspn(usage, "\n");

		fprintf(out, "%s%.*s\n", prefix, (int)len, usage);
		prefix = "   or: ";
		usage += len;
		usage += *usage == '\n';
	}
	fputc('\n', out);
	for (const struct option *o = options; o->kind != OPTION_END; o++) {
		int width;

		if (!o->help)
			continue;
		width = print_names(out, o);
		if (width > HELP_COLUMN - 2) {
			fputc('\n', out);
			width = 0;
		}
		fprintf(out, "%*s%s\n", HELP_COLUMN - width, "", o->help);
	}
	if (options->kind != OPTION_END)
		fputc('\n', out);
}

int options_usage(const struct option *options, const char *usage)
{
	print_usage(stderr, options, usage);
	return 129;
}

/* ---- completion of options by the shell */

bool options_is_completion(const char *word)
{
	static const char helper[] = "--git-completion-helper";
	size_t len = strlen(helper);

	return word && !strncmp(word, helper, len) &&
	       (!word[len] || !strcmp(word + len, "-all"));
}

/*
 * Returns whether completion offers the option. `all`: also offer options that
 * the usage does not list.
 */
static bool is_offered(const struct option *o, bool all)
{
	if (!o->long_name)
		return false;
	if (o->kind == OPTION_NOT_OURS)
		return fallback_exists();
	return all || o->help;
}

static void print_negated(const struct option *o)
{
	if (!strncmp(o->long_name, "no-", 3))
		printf(" --%s", o->long_name + 3);
	else
		printf(" --no-%s", o->long_name);
}

void options_complete(const struct option *options, const char *option)
{
	const unsigned may_lack_arg = OPTION_OPTIONAL_ARG | OPTION_LAST_ARG;
	bool all = strstr(option, "-all") != NULL;
	size_t negated_nr = 0;

	for (const struct option *o = options; o->kind != OPTION_END; o++)
		if (is_offered(o, all))
			printf(" --%s%s", o->long_name,
			       takes_arg(o) && !(o->flags & may_lack_arg) ? "="
									  : "");
	for (const struct option *o = options; o->kind != OPTION_END; o++) {
		if (!is_offered(o, all) || (o->flags & OPTION_NO_NEGATE))
			continue;
		if (negated_nr++ == 1)
			printf(" --");
		print_negated(o);
	}
	putchar('\n');
}

static void complete_subcommands(const struct subcommand *table)
{
	const char *before = "";

	for (; table->name; table++) {
		printf("%s%s", before, table->name);
		before = " ";
	}
	putchar('\n');
}

/* ---- values */

static int complain(const struct named *n, const char *what)
{
	if (n->is_long)
		builtin_error("option `%s%s' %s", n->negated ? "no-" : "",
			      n->option->long_name, what);
	else
		builtin_error("switch `%c' %s", n->option->short_name, what);
	return FAILED;
}

/*
 * Returns the number of bits by which a unit shifts a number: 10 for k, 20 for
 * m, and 30 for g. Returns -1 for any other suffix.
 */
static int unit_shift(const char *suffix)
{
	if (!*suffix)
		return 0;
	if (suffix[1])
		return -1;
	switch (tolower((unsigned char)*suffix)) {
	case 'k':
		return 10;
	case 'm':
		return 20;
	case 'g':
		return 30;
	default:
		return -1;
	}
}

/*
 * The result of parsing a number: valid, no number, or too large for the
 * option.
 */
enum number { NUMBER_OK, NUMBER_NONE, NUMBER_TOO_LARGE };

static enum number parse_u64(uint64_t *out, const char *arg)
{
	uint64_t value;
	char *end;
	int shift;

	/* As in stock Git, blanks and a plus sign may precede the number. */
	while (isspace((unsigned char)*arg))
		arg++;
	arg += *arg == '+';
	if (!isdigit((unsigned char)*arg))
		return NUMBER_NONE;
	errno = 0;
	value = strtoumax(arg, &end, 0);
	if (errno)
		return NUMBER_TOO_LARGE;
	shift = unit_shift(end);
	if (shift < 0)
		return NUMBER_NONE;
	if (value > UINT64_MAX >> shift)
		return NUMBER_TOO_LARGE;
	*out = value << shift;
	return NUMBER_OK;
}

static enum number parse_int(int64_t *out, const char *arg)
{
	uint64_t value;
	enum number found;
	bool negative;

	while (isspace((unsigned char)*arg))
		arg++;
	negative = *arg == '-';
	if (negative && !isdigit((unsigned char)arg[1]))
		return NUMBER_NONE;
	found = parse_u64(&value, arg + negative);
	if (found != NUMBER_OK)
		return found;
	if (value > (uint64_t)INT32_MAX + negative)
		return NUMBER_TOO_LARGE;
	*out = negative ? -(int64_t)value : (int64_t)value;
	return NUMBER_OK;
}

/*
 * Print the error that a number is not in the range `range`. For sizes, the
 * range in the message is "[0,-1]", as in stock Git.
 */
static int complain_of_range(const struct named *n, const char *arg,
			     const char *range)
{
	if (n->is_long)
		builtin_error("value %s for option `%s' not in range %s", arg,
			      n->option->long_name, range);
	else
		builtin_error("value %s for switch `%c' not in range %s", arg,
			      n->option->short_name, range);
	return FAILED;
}

static int set_number(const struct named *n, const char *arg)
{
	bool is_size = n->option->kind == OPTION_U64;

	switch (is_size ? parse_u64(n->option->u64, arg)
			: parse_int(n->option->integer, arg)) {
	case NUMBER_OK:
		return 0;
	case NUMBER_TOO_LARGE:
		return complain_of_range(n, arg,
					 is_size ? "[0,-1]"
						 : "[-2147483648,2147483647]");
	default:
		if (!is_size && !*arg)
			return complain(n, "expects a numerical value");
		return complain(n, is_size ? "expects a non-negative integer "
					     "value with an optional k/m/g "
					     "suffix"
					   : "expects an integer value with an "
					     "optional k/m/g suffix");
	}
}

static int call_back(const struct option *o, const char *arg)
{
	int ret = o->fn(o->value, arg);

	if (ret == OPTION_DIED || ret == BUILTIN_NOT_OURS)
		return ret;
	return ret ? FAILED : 0;
}

static int set_negated(const struct option *o)
{
	switch (o->kind) {
	case OPTION_FLAG:
		*o->flag = false;
		return 0;
	case OPTION_COUNT:
		*o->count = 0;
		return 0;
	case OPTION_STRING:
		*o->string = NULL;
		return 0;
	case OPTION_U64:
		*o->u64 = 0;
		return 0;
	case OPTION_INT:
		*o->integer = 0;
		return 0;
	default:
		return call_back(o, option_negated);
	}
}

static int not_ours(const struct named *n)
{
	if (fallback_exists())
		return BUILTIN_NOT_OURS;
	return complain(n, "is not supported yet");
}

/*
 * Set the value of an option. `arg` is the argument if it stands in the same
 * word as the option, otherwise NULL. If `arg` is NULL and the option needs an
 * argument, takes the next word.
 */
static int set_value(struct parse *p, const struct named *n, const char *arg)
{
	const struct option *o = n->option;

	if (o->kind == OPTION_NOT_OURS)
		return not_ours(n);
	if (arg && (n->negated || !takes_arg(o)))
		return complain(n, "takes no value");
	if (n->negated)
		return set_negated(o);
	if (!arg && takes_arg(o) && !(o->flags & OPTION_OPTIONAL_ARG)) {
		if (p->next < p->argc)
			arg = p->argv[p->next++];
		else if (!(o->flags & OPTION_LAST_ARG))
			return complain(n, "requires a value");
	}
	switch (o->kind) {
	case OPTION_FLAG:
		*o->flag = true;
		return 0;
	case OPTION_COUNT:
		++*o->count;
		return 0;
	case OPTION_CALLBACK:
		return call_back(o, arg);
	case OPTION_STRING:
		*o->string = arg ? arg : o->dflt;
		return 0;
	default:
		if (!arg)
			arg = o->dflt;
		return arg ? set_number(n, arg) : 0;
	}
}

/* ---- names */

enum match { MATCH_NONE, MATCH_PREFIX, MATCH_EXACT };

static enum match match_name(const char *name, const char *word, size_t len)
{
	if (strncmp(name, word, len))
		return MATCH_NONE;
	return name[len] ? MATCH_PREFIX : MATCH_EXACT;
}

/*
 * Compare a word with the name of the option `o` and with its negations. An
 * option called no-x has two negations: --x and --no-no-x.
 */
static enum match match_option(bool *negated, const struct option *o,
			       const char *word, size_t len)
{
	const char *name = o->long_name;
	enum match match = match_name(name, word, len);

	*negated = false;
	if (match != MATCH_NONE || (o->flags & OPTION_NO_NEGATE))
		return match;
	*negated = true;
	if (!strncmp(name, "no-", 3)) {
		if (!(o->flags & OPTION_ONE_NO) && !strncmp(word, "no-no-", 6))
			return match_name(name, word + 3, len - 3);
		return match_name(name + 3, word, len);
	}
	/* "--n" and "--no" are abbreviations of every negated option. */
	if (len < 3)
		return strncmp("no-", word, len) ? MATCH_NONE : MATCH_PREFIX;
	if (strncmp(word, "no-", 3))
		return MATCH_NONE;
	return match_name(name, word + 3, len - 3);
}

static int report_ambiguous(const char *word, const struct named *a,
			    const struct named *b)
{
	builtin_error("ambiguous option: %s (could be --%s%s or --%s%s)", word,
		      a->negated ? "no-" : "", a->option->long_name,
		      b->negated ? "no-" : "", b->option->long_name);
	return FAILED;
}

/*
 * Find a long option. Returns 0 or FAILED. If no option has the name, returns 0
 * with found->option NULL.
 */
static int find_long(struct named *found, const struct parse *p,
		     const char *word, size_t len)
{
	struct named other = {NULL, true, false};

	*found = other;
	for (const struct option *o = p->options; o->kind != OPTION_END; o++) {
		struct named n = {o, true, false};
		enum match match = MATCH_NONE;

		if (o->long_name)
			match = match_option(&n.negated, o, word, len);
		if (match == MATCH_EXACT) {
			*found = n;
			return 0;
		}
		if (match == MATCH_PREFIX) {
			other = *found;
			*found = n;
		}
	}
	/*
	 * The word is an abbreviation of several options. As in stock Git, the
	 * message names the last two of them.
	 */
	if (other.option)
		return report_ambiguous(word, &other, found);
	return 0;
}

static int parse_long(struct parse *p, const char *word)
{
	size_t len = strcspn(word, "=");
	struct named n;
	int ret;

	if (!strcmp(word, "help-all")) {
		print_usage(stdout, p->options, p->usage);
		return FAILED;
	}
	ret = find_long(&n, p, word, len);
	if (ret) {
		/*
		 * As in stock Git, the usage after an ambiguous option goes to
		 * standard output.
		 */
		print_usage(stdout, p->options, p->usage);
		return ret;
	}
	if (n.option)
		return set_value(p, &n, word[len] ? word + len + 1 : NULL);
	builtin_error("unknown option `%s'", word);
	print_usage(stderr, p->options, p->usage);
	return FAILED;
}

static const struct option *find_short(const struct parse *p, char c)
{
	for (const struct option *o = p->options; o->kind != OPTION_END; o++)
		if (o->short_name == c)
			return o;
	return NULL;
}

static int unknown_switch(const struct parse *p, char c)
{
	if (c == 'h') {
		print_usage(stdout, p->options, p->usage);
		return FAILED;
	}
	builtin_error("unknown switch `%c'", c);
	print_usage(stderr, p->options, p->usage);
	return FAILED;
}

/*
 * Parse bundled short options. Each letter is an option. The first option that
 * needs an argument takes the remaining letters.
 */
static int parse_short(struct parse *p, const char *word)
{
	while (*word) {
		struct named n = {find_short(p, *word), false, false};
		const char *arg = NULL;
		int ret;

		if (!n.option)
			return unknown_switch(p, *word);
		word++;
		if (takes_arg(n.option) && *word) {
			arg = word;
			word = "";
		}
		ret = set_value(p, &n, arg);
		if (ret)
			return ret;
	}
	return 0;
}

int options_parse(int argc, const char **argv, const struct option *options,
		  const char *usage)
{
	struct parse p = {options, usage, argv, argc, 1, 0};

	if (argc == 2 && !strcmp(argv[1], "-h")) {
		print_usage(stdout, options, usage);
		return FAILED;
	}
	if (argc > 1 && options_is_completion(argv[1])) {
		options_complete(options, argv[1]);
		return FAILED;
	}
	while (p.next < argc) {
		const char *word = argv[p.next++];
		int ret = 0;

		if (!strcmp(word, "--") || !strcmp(word, "--end-of-options"))
			break;
		if (!strncmp(word, "--", 2))
			ret = parse_long(&p, word + 2);
		else if (word[0] == '-' && word[1])
			ret = parse_short(&p, word + 1);
		else
			argv[1 + p.operand_nr++] = word;
		if (ret)
			return ret;
	}
	while (p.next < argc)
		argv[1 + p.operand_nr++] = argv[p.next++];
	if (argc > 0)
		argv[1 + p.operand_nr] = NULL;
	return p.operand_nr;
}

void subcommand_complain(const char *name)
{
	if (name)
		builtin_error("unknown subcommand: `%s'", name);
	else
		builtin_error("need a subcommand");
}

int subcommand_run(const struct subcommand *table, const char *usage, int argc,
		   const char **argv, struct builtin_env *env)
{
	const struct option options[] = {{.kind = OPTION_END}};
	const char *name = argc > 1 ? argv[1] : NULL;

	if (options_is_completion(name)) {
		complete_subcommands(table);
		return 129;
	}
	for (; name && table->name; table++)
		if (!strcmp(name, table->name))
			return builtin_finish(
				table->run(argc - 1, argv + 1, env));
	if (!name || *name != '-')
		subcommand_complain(name);
	else if (options_parse(argc, argv, options, usage) < 0)
		return 129;
	return options_usage(options, usage);
}
