/* SPDX-License-Identifier: MIT */
/*
 * The options --filter=<filter-spec> and --no-filter, for commands that list
 * objects. The options are not in revargs.c, because some commands take filters
 * but no revisions.
 */
#ifndef BUILTIN_FILTERARGS_H
#define BUILTIN_FILTERARGS_H

#include "base/error.h"
#include "builtin/revargs.h"
#include "walk/filter.h"

/* The filters of a command line. */
struct filter_args {
	struct filter filter;
	/*
	 * true: several filters were given, or one that begins with "combine:"
	 */
	bool combined;
};

void filter_args_init(struct filter_args *args);
void filter_args_release(struct filter_args *args);

/* Add a filter. Returns 0, or ERR_INVALID if the filter is not valid. */
int filter_args_add(struct filter_args *args, const char *spec,
		    struct error *err);

/*
 * Callback for the option --filter. `value` points to a struct filter_args.
 * Prints the error of an invalid filter, and returns OPTION_DIED.
 */
int filter_args_option(void *value, const char *arg);

/*
 * Read the blobs that sparse:oid filters name. Returns 0 or a negative error
 * code.
 */
int filter_args_load(struct filter_args *args, struct rev_args *revs,
		     struct error *err);

#endif
