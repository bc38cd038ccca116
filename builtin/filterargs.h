/* SPDX-License-Identifier: MIT */
/*
 * The options --filter=<filter-spec> and --no-filter, for commands that list
 * objects.
 */
#ifndef BUILTIN_FILTERARGS_H
#define BUILTIN_FILTERARGS_H

#include "base/error.h"
#include "builtin/revargs.h"
#include "walk/filter.h"

/* The filters of a command line. */
struct filter_args {
	struct filter filter;
	/* the error of the first invalid value */
	struct error err;
};

void filter_args_init(struct filter_args *args);
void filter_args_release(struct filter_args *args);

/* Add a filter. filter_args_load() reports an invalid one. */
void filter_args_add(struct filter_args *args, const char *spec);

/* Callback for the option; `value` is a struct filter_args. */
int filter_args_option(void *value, const char *arg);

/*
 * Read the blobs that sparse:oid filters name. Returns 0, or a negative error
 * code, also for an invalid filter.
 */
int filter_args_load(struct filter_args *args, struct rev_args *revs,
		     struct error *err);

#endif
