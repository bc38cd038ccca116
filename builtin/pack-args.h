/* SPDX-License-Identifier: MIT */
/* Options that repack and pack-objects share. */
#ifndef BUILTIN_PACK_ARGS_H
#define BUILTIN_PACK_ARGS_H

#include <stdbool.h>
#include <stdint.h>

#include "packing/send.h"
#include "packing/write.h"
#include "pack/pack-name.h"
#include "packs/newpack.h"
#include "config/config.h"
#include "sys/progress.h"

#define PACK_ARGS_UNSET UINT64_MAX

/* Values of the options that repack and pack-objects share. */
struct pack_args {
	/*
	 * INT64_MIN: the option is not given; other values are those that the
	 * user gave, also negative ones
	 */
	int64_t window, depth, threads;
	/* sizes in bytes; PACK_ARGS_UNSET: the option is not given */
	uint64_t window_memory, max_pack_size;
	int64_t name_hash_version; /* -1: not given */
	int path_walk;             /* 1, 0, or -1: not given */
	bool no_reuse_delta, no_reuse_object;
	/*
	 * 1: show progress; 0: show none; 2: show it also while pack-objects
	 * writes to standard output; -1: show it if standard error is a
	 * terminal. Set by --progress and similar options.
	 */
	int progress;
};

#define PACK_ARGS_INIT                                                         \
	{                                                                      \
		.window = INT64_MIN, .depth = INT64_MIN, .threads = INT64_MIN, \
		.window_memory = PACK_ARGS_UNSET,                              \
		.max_pack_size = PACK_ARGS_UNSET, .name_hash_version = -1,     \
		.path_walk = -1, .progress = -1                                \
	}

/*
 * Rows for a table of options. These options set fields of a struct pack_args,
 * to which `a` points.
 */
#define PACK_ARGS_NUMBER(number, a, name, field, text)                         \
	{                                                                      \
		.kind = number, .long_name = name, .value = &(a)->field,       \
		.help = text                                                   \
	}
#define PACK_ARGS_NUMBERS(a)                                                   \
	PACK_ARGS_NUMBER(OPTION_INT, a, "window", window,                      \
			 "number of bases that are tried for a delta"),        \
		PACK_ARGS_NUMBER(OPTION_INT, a, "depth", depth,                \
				 "maximum length of a delta chain"),           \
		PACK_ARGS_NUMBER(OPTION_INT, a, "threads", threads,            \
				 "number of threads"),                         \
		PACK_ARGS_NUMBER(                                              \
			OPTION_U64, a, "window-memory", window_memory,         \
			"bytes of memory for each thread of delta search")
#define PACK_ARGS_OTHERS(a)                                                    \
	{.kind = OPTION_U64,                                                   \
	 .long_name = "max-pack-size",                                         \
	 .u64 = &(a)->max_pack_size,                                           \
	 .flags = OPTION_NO_NEGATE,                                            \
	 .help = "maximum size of a pack in bytes"},                           \
		{.kind = OPTION_INT,                                           \
		 .long_name = "name-hash-version",                             \
		 .integer = &(a)->name_hash_version,                           \
		 .help = "version of the hash of path names: 1 or 2"},         \
		{.kind = OPTION_CALLBACK,                                      \
		 .long_name = "path-walk",                                     \
		 .value = &(a)->path_walk,                                     \
		 .flags = OPTION_NO_ARG,                                       \
		 .fn = pack_args_take_choice,                                  \
		 .help = "search deltas between versions of the same path "    \
			 "first"},                                             \
	{                                                                      \
		.kind = OPTION_CALLBACK, .long_name = "progress",              \
		.value = &(a)->progress, .flags = OPTION_NO_ARG,               \
		.fn = pack_args_take_choice,                                   \
		.help = "show progress, even if stderr is not a terminal"      \
	}

#define PACK_ARGS_OPTIONS(a) PACK_ARGS_NUMBERS(a), PACK_ARGS_OTHERS(a)

/*
 * Callback for an option whose variable is an int. Sets the int to 1, or to 0
 * for the negated option. If the option is not given, the int keeps its initial
 * value, for example -1. Returns 0.
 */
int pack_args_take_choice(void *value, const char *arg);

/*
 * Check the value of --name-hash-version. Returns 0 or ERR_INVALID. Call this
 * after the checks of all other options, as stock Git does.
 */
int pack_args_check(const struct pack_args *args, struct error *err);

/*
 * Print a warning if the depth is above the limit. The depth is the value of
 * --depth, or of the configuration if the option is not given.
 */
void pack_args_warn_depth(const struct pack_args *args,
			  const struct config *config);

/*
 * Path-walk and delta islands cannot be combined. If both are on, turn
 * path-walk off in *args and print a warning. If neither --path-walk nor
 * --no-path-walk is given, the configuration in *loaded decides whether
 * path-walk is on.
 */
void pack_args_check_islands(struct pack_args *args,
			     const struct newpack_options *loaded,
			     bool delta_islands);

/*
 * Set the options for new packs to the values that the command line gives;
 * other options stay as configured. A negative window or depth becomes 0, and a
 * negative number of threads becomes 1. Numbers above the limits of
 * packing/send.h are lowered to the limits.
 */
void pack_args_apply(struct newpack_options *options,
		     const struct pack_args *args);

/*
 * Set the limit of the size of packs to `max_size`. If `max_size` is 0 or
 * PACK_ARGS_UNSET, the limit of the configuration stays. A limit below one
 * mebibyte is raised to one mebibyte, with a warning.
 */
void pack_args_limit(struct newpack_options *options, uint64_t max_size);

/*
 * Parse "<version>[,<offset>]", the value of --index-version. In the index,
 * offsets above <offset> are stored with 64 bits. Returns 0 or ERR_INVALID.
 */
int pack_args_index_version(struct pack_idx_format *format, const char *text,
			    struct error *err);

/*
 * Callback for an option whose argument is the name of a pack: adds the name to
 * the struct strlist at `value`. The negated option empties the list.
 * Returns 0, or -1 after printing an error.
 */
int pack_args_take_pack(void *value, const char *arg);

/* A file that a pack is written to, such as standard output. */
struct pack_args_file {
	int fd;
	const char *name; /* borrowed; for messages */
};

/* Returns a sink that writes to *file, which it borrows. */
struct pack_sink pack_args_sink(struct pack_args_file *file);

/*
 * Print statistics on stderr: pack_args_print_total() about a pack that was
 * written, and pack_args_print_sent() about a pack that was sent. `pack_reused`
 * objects were copied from `packs_reused` stored packs without a change.
 */
void pack_args_print_total(const struct write_report *report,
			   uint32_t pack_reused, uint32_t packs_reused);
void pack_args_print_sent(const struct packing_report *report);

/*
 * Returns the progress output that the options ask for, or NULL if no progress
 * is to be shown. *out is filled in by output_progress().
 */
const struct progress_out *pack_args_progress(struct progress_out *out,
					      const struct pack_args *args);

#endif
