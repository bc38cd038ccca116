/* SPDX-License-Identifier: MIT */
/* The options --filter and --no-filter. */
#include <string.h>

#include "builtin/filterargs.h"
#include "builtin/options.h"
#include "names/revname.h"
#include "walk/filter-walk.h"

void filter_args_init(struct filter_args *args)
{
	filter_init(&args->filter);
	args->combined = false;
}

void filter_args_release(struct filter_args *args)
{
	filter_release(&args->filter);
	args->combined = false;
}

int filter_args_add(struct filter_args *args, const char *spec,
		    struct error *err)
{
	args->combined = args->filter.nr || !strncmp(spec, "combine:", 8);
	return filter_add(&args->filter, spec, err);
}

int filter_args_option(void *value, const char *arg)
{
	struct filter_args *args = value;
	struct error err = ERROR_INIT;

	if (arg == option_negated)
		filter_args_release(args);
	else if (filter_args_add(args, arg, &err) < 0) {
		builtin_die("%s", err.msg);
		return OPTION_DIED;
	}
	return 0;
}

static int resolve_blob(void *ctx, const char *name, struct oid *oid)
{
	struct rev_args *revs = ctx;
	const struct revname_options options = {.notes = &revs->notes};

	return revname_resolve_as(oid, name, &options, revs->refs, revs->reader,
				  revs->odb, NULL);
}

int filter_args_load(struct filter_args *args, struct rev_args *revs,
		     struct error *err)
{
	return filter_load_sparse(&args->filter, revs->reader, resolve_blob,
				  revs, err);
}
