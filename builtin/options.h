/* SPDX-License-Identifier: MIT */
/*
 * Command-line options, table-driven, with Git's conventions: bundled short
 * options, --name=value and --name value, --no-<flag>, unambiguous
 * abbreviations of long names, "--" (or --end-of-options) ends options,
 * operands may stand between options. --no-<name> sets strings to NULL and
 * numbers to 0; an option that is called no-<x> is negated by --<x>.
 */
#ifndef BUILTIN_OPTIONS_H
#define BUILTIN_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "builtin/builtin.h"

enum option_kind {
	OPTION_END = 0,
	OPTION_FLAG,     /* bool: set, or cleared by --no-<name> */
	OPTION_COUNT,    /* int: incremented, zeroed by --no-<name> */
	OPTION_STRING,   /* const char *: the argument, borrowed from argv */
	OPTION_U64,      /* uint64_t: number with an optional k, m or g */
	OPTION_I64,      /* int64_t, likewise; may be negative */
	OPTION_CALLBACK, /* fn(value, arg): arg NULL when none was given */
	OPTION_NOT_OURS, /* Git has it, we do not: negated or not, with an
			    argument or without */
};

enum {
	OPTION_OPTIONAL_ARG = 1 << 0, /* argument only as --name=value / -nV;
					 absent gives `dflt` (numbers: or,
					 without one, changes nothing) */
	OPTION_NO_ARG = 1 << 1,       /* CALLBACK that takes none */
	OPTION_NO_NEGATE = 1 << 2,    /* --no-<name> is unknown */
	OPTION_LAST_ARG = 1 << 3,     /* CALLBACK: the argument may be lacking
					 where nothing follows; then NULL */
};

struct option {
	enum option_kind kind;
	char short_name;       /* or 0 */
	const char *long_name; /* or NULL */
	void *value;           /* of the kind's type */
	const char *help;      /* one line; NULL: hidden */
	unsigned flags;
	const char *dflt;
	/* negated: arg == option_negated. Returns 0, or -1 after printing. */
	int (*fn)(void *value, const char *arg);
	/* In the usage: "<dir>"; NULL: <n> for numbers, else <value>. */
	const char *arg_name;
};

/* Short forms for the rows of a table of options. letter: 0 for none. */
#define OPTION_ROW_FLAG(letter, name, field, text)                             \
	{                                                                      \
		.kind = OPTION_FLAG, .short_name = letter, .long_name = name,  \
		.value = field, .help = text                                   \
	}
#define OPTION_ROW_STRING(letter, name, field, arg, text)                      \
	{                                                                      \
		.kind = OPTION_STRING, .short_name = letter,                   \
		.long_name = name, .value = field, .arg_name = arg,            \
		.help = text                                                   \
	}
#define OPTION_ROW_CALLBACK(letter, name, call, ctx, arg, text)                \
	{                                                                      \
		.kind = OPTION_CALLBACK, .short_name = letter,                 \
		.long_name = name, .value = ctx, .fn = call, .arg_name = arg,  \
		.help = text                                                   \
	}
/* `how`: flags beside OPTION_OPTIONAL_ARG, or 0. */
#define OPTION_ROW_OPTIONAL(letter, name, call, ctx, how, arg, text)           \
	{                                                                      \
		.kind = OPTION_CALLBACK, .short_name = letter,                 \
		.long_name = name, .value = ctx, .fn = call, .arg_name = arg,  \
		.flags = OPTION_OPTIONAL_ARG | (how), .help = text             \
	}

/* What a callback gets as `arg` for --no-<name>. */
extern const char option_negated[];

/*
 * Parse argv[1..argc), move the operands to the front of argv[1..] and return
 * how many there are, with a NULL after them; "--" is not among them.
 * argv[argc] must be there, for that NULL. An unknown option prints
 * "error: unknown option `x'" and the usage and returns -129; -h prints the
 * usage to stdout and returns -129 as well: the caller returns 129. At the
 * first OPTION_NOT_OURS it stops and returns BUILTIN_NOT_OURS, if there is a
 * stock Git; else "error: option `x' is not supported yet" is printed and it
 * returns -129. `usage`: the text after "usage: ", lines separated by newlines.
 */
int options_parse(int argc, const char **argv, const struct option *options,
		  const char *usage);

/* What the command returns when options_parse() returned `ret`, below 0. */
static inline int options_failed(int ret)
{
	return ret == BUILTIN_NOT_OURS ? ret : 129;
}

/* Print "usage: <usage>" and the options on stderr; returns 129. */
int options_usage(const struct option *options, const char *usage);

struct subcommand {
	const char *name; /* NULL ends a table */
	int (*run)(int argc, const char **argv, struct builtin_env *env);
};

/*
 * Run the one that argv[1] names, with argv[1] as its argv[0]; returns its
 * exit code, after builtin_finish(). Where there is none of that name, say so
 * and print `usage` (see options.h); returns 129.
 */
int subcommand_run(const struct subcommand *table, const char *usage, int argc,
		   const char **argv, struct builtin_env *env);

/* "error: need a subcommand", or that there is none called `name`. */
void subcommand_complain(const char *name);

#endif
