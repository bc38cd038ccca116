/* SPDX-License-Identifier: MIT */
/* --filter=<filter-spec> and --no-filter, for commands that list objects. */
#ifndef BUILTIN_FILTERARGS_H
#define BUILTIN_FILTERARGS_H

#include "base/error.h"
#include "builtin/revargs.h"
#include "walk/filter.h"

struct filter_args {
	struct filter filter;
	struct error err; /* of the first value that is no filter */
};

void filter_args_init(struct filter_args *args);
void filter_args_release(struct filter_args *args);

/* Take a value; filter_args_load() reports what is wrong with it. */
void filter_args_add(struct filter_args *args, const char *spec);

/* The callback of the option; `value` is a struct filter_args. */
int filter_args_option(void *value, const char *arg);

/* Read the blobs that sparse:oid parts name. 0 or negative. */
int filter_args_load(struct filter_args *args, struct rev_args *revs,
		     struct error *err);

#endif
