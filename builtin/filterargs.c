/* SPDX-License-Identifier: MIT */
/* The options --filter and --no-filter. */
#include "builtin/filterargs.h"
#include "builtin/options.h"
#include "names/revname.h"
#include "walk/filter-walk.h"

void filter_args_init(struct filter_args *args)
{
	filter_init(&args->filter);
	args->err = (struct error)ERROR_INIT;
}

void filter_args_release(struct filter_args *args)
{
	filter_release(&args->filter);
}

void filter_args_add(struct filter_args *args, const char *spec)
{
	if (!args->err.code)
		filter_add(&args->filter, spec, &args->err);
}

int filter_args_option(void *value, const char *arg)
{
	struct filter_args *args = value;

	if (arg == option_negated)
		filter_release(&args->filter);
	else
		filter_args_add(args, arg);
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
	if (args->err.code)
		return error_set(err, args->err.code, "%s", args->err.msg);
	return filter_load_sparse(&args->filter, revs->reader, resolve_blob,
				  revs, err);
}
