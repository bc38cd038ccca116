/* SPDX-License-Identifier: MIT */
/*
 * Parsing of command-line options by a table, with Git's conventions. Short
 * options may be bundled. Long options are --name=value or --name value. A long
 * option may be abbreviated if the abbreviation is unique. A long option may be
 * negated: --no-<name> clears a flag, sets a string to NULL, or sets a number
 * to 0. The negations of an option called no-<x> are --<x> and --no-no-<x>.
 * "--" or --end-of-options ends the options. Operands may stand between
 * options.
 */
#ifndef BUILTIN_OPTIONS_H
#define BUILTIN_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "builtin/builtin.h"

enum option_kind {
	OPTION_END = 0,
	/* bool: set to true, or to false by --no-<name> */
	OPTION_FLAG,
	/* int: incremented, or set to 0 by --no-<name> */
	OPTION_COUNT,
	/* const char *: the argument, borrowed from argv */
	OPTION_STRING,
	/* uint64_t: number with an optional k, m or g */
	OPTION_U64,
	/*
	 * int64_t: number with an optional k, m or g. The number may be
	 * negative, and must fit into 32 bits, as in stock Git.
	 */
	OPTION_INT,
	/* calls fn(value, arg); `arg` is NULL if the option has no argument */
	OPTION_CALLBACK,
	/*
	 * An option that only stock Git has. The option may be negated, and may
	 * have an argument.
	 */
	OPTION_NOT_OURS,
};

enum {
	/*
	 * The argument is optional and must have the form --name=value or -nV.
	 * If there is no argument, the variable of the option is set to `dflt`.
	 * Exception: if `dflt` is NULL, the variable of an OPTION_U64 or
	 * OPTION_INT is not changed.
	 */
	OPTION_OPTIONAL_ARG = 1 << 0,
	/* for OPTION_CALLBACK: the option has no argument */
	OPTION_NO_ARG = 1 << 1,
	/* --no-<name> is not allowed */
	OPTION_NO_NEGATE = 1 << 2,
	/*
	 * For OPTION_CALLBACK: the argument may be missing if the option is the
	 * last word of argv. `arg` is then NULL.
	 */
	OPTION_LAST_ARG = 1 << 3,
	/*
	 * The table lists the option under the name no-<x>. In stock Git,
	 * --no-<x> is the negation of the option --<x>. So --no-no-<x> is not
	 * allowed.
	 */
	OPTION_ONE_NO = 1 << 4,
};

/* One option; a table of options ends with OPTION_END. */
struct option {
	enum option_kind kind;
	char short_name;       /* 0: none */
	const char *long_name; /* NULL: none */
	/* borrowed: the variable to set; the member that `kind` names */
	union {
		bool *flag;          /* OPTION_FLAG */
		int *count;          /* OPTION_COUNT */
		const char **string; /* OPTION_STRING */
		uint64_t *u64;       /* OPTION_U64 */
		int64_t *integer;    /* OPTION_INT */
		void *value;         /* OPTION_CALLBACK */
	};
	/* one line for the usage; NULL: the usage does not list the option */
	const char *help;
	unsigned flags;
	const char *dflt;
	/*
	 * Callback of OPTION_CALLBACK. For the negated option, arg ==
	 * option_negated. Returns 0 if the argument is valid, or
	 * BUILTIN_NOT_OURS if only stock Git supports the argument. Otherwise
	 * prints an error, and returns -1 for the exit code 129, or OPTION_DIED
	 * for the exit code 128.
	 */
	int (*fn)(void *value, const char *arg);
	/*
	 * Name of the argument in the usage, such as "<dir>". NULL: <n> for
	 * numbers, otherwise <value>.
	 */
	const char *arg_name;
};

/*
 * Macros for the rows of a table of options. `letter` is the short form of the
 * option; 0: there is none.
 */
#define OPTION_ROW_FLAG(letter, name, field, text)                             \
	{                                                                      \
		.kind = OPTION_FLAG, .short_name = letter, .long_name = name,  \
		.flag = field, .help = text                                    \
	}
#define OPTION_ROW_STRING(letter, name, field, arg, text)                      \
	{                                                                      \
		.kind = OPTION_STRING, .short_name = letter,                   \
		.long_name = name, .string = field, .arg_name = arg,           \
		.help = text                                                   \
	}
#define OPTION_ROW_CALLBACK(letter, name, call, ctx, arg, text)                \
	{                                                                      \
		.kind = OPTION_CALLBACK, .short_name = letter,                 \
		.long_name = name, .value = ctx, .fn = call, .arg_name = arg,  \
		.help = text                                                   \
	}
/*
 * A row for an option that is handled by the callback `call` and whose argument
 * is optional. `how`: more flags, such as OPTION_NO_NEGATE, or 0.
 */
#define OPTION_ROW_OPTIONAL(letter, name, call, ctx, how, arg, text)           \
	{                                                                      \
		.kind = OPTION_CALLBACK, .short_name = letter,                 \
		.long_name = name, .value = ctx, .fn = call, .arg_name = arg,  \
		.flags = OPTION_OPTIONAL_ARG | (how), .help = text             \
	}

/*
 * The value that a callback returns if the command must exit with 128.
 * options_parse() stops and returns this value, too.
 */
enum { OPTION_DIED = -128 };

/* The value of `arg` that a callback gets for --no-<name>. */
extern const char option_negated[];

/*
 * Parse argv[1..argc). Moves the operands to the front of argv[1..], followed
 * by NULL, and returns their number. "--" is not an operand. argv[argc] must
 * exist for the NULL.
 *
 * If an option is unknown, prints "error: unknown option `x'" and the usage,
 * and returns -129. For --help-all, for -h as the only argument, and for -h if
 * no option is called -h, prints the usage on stdout and returns -129. In all
 * these cases the caller returns 129, as stock Git does. If a callback returns
 * OPTION_DIED or BUILTIN_NOT_OURS, parsing stops and returns this value.
 *
 * If argv[1] asks for completion, prints the options for it and returns -129.
 *
 * Parsing stops at the first option that only stock Git has (its kind is
 * OPTION_NOT_OURS). If stock Git is installed, returns BUILTIN_NOT_OURS.
 * Otherwise prints "error: option `x' is not supported yet" and returns -129.
 *
 * `usage`: the text after "usage: "; newlines separate its lines.
 */
int options_parse(int argc, const char **argv, const struct option *options,
		  const char *usage);

/*
 * Convert a negative result of options_parse() into the value that the command
 * must return: 128, 129 or BUILTIN_NOT_OURS.
 */
static inline int options_failed(int ret)
{
	if (ret == OPTION_DIED)
		return 128;
	return ret == BUILTIN_NOT_OURS ? ret : 129;
}

/* Print "usage: <usage>" and the options on stderr. Returns 129. */
int options_usage(const struct option *options, const char *usage);

/*
 * Returns whether the word is --git-completion-helper or
 * --git-completion-helper-all. The shell's completion runs `git <command>
 * <word>` to get the names of the options. The command prints the names, and
 * its function returns 129 as after a usage error. Nevertheless, the process
 * exits with 0.
 */
bool options_is_completion(const char *word);

/*
 * Print the long options on one line of stdout, as stock Git does. Each is
 * printed as "--<name>", with "=" if an argument is required. The negated
 * options come last. A word "--" follows the first negated option: shells offer
 * the options after "--" only when the user has typed "--no-". If `option`, the
 * option that options_is_completion() has accepted, ends in "-all", options
 * that the usage does not list are printed too.
 */
void options_complete(const struct option *options, const char *option);

/* A subcommand with arguments of its own. */
struct subcommand {
	const char *name; /* NULL ends a table */
	int (*run)(int argc, const char **argv, struct builtin_env *env);
};

/*
 * Run the subcommand that argv[1] names, with argv[1] as its argv[0]. Returns
 * the exit code of the subcommand, or 128 if writing to stdout has failed (see
 * builtin_finish()). If there is no such subcommand, prints an error and
 * `usage`, and returns 129. If argv[1] asks for completion, prints the names in
 * the table.
 */
int subcommand_run(const struct subcommand *table, const char *usage, int argc,
		   const char **argv, struct builtin_env *env);

/*
 * Print an error: the subcommand is missing (`name` NULL), or there is no
 * subcommand of this name.
 */
void subcommand_complain(const char *name);

#endif
