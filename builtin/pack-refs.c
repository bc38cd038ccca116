/* SPDX-License-Identifier: MIT */
/* git pack-refs: moves loose refs into packed-refs. */
#include <string.h>

#include "base/mem.h"
#include "base/wildmatch.h"
#include "builtin/options.h"
#include "builtin/store.h"
#include "refs-write/ref-pack.h"

static const char usage[] =
	"git pack-refs [--all] [--no-prune] [--auto] [--include <pattern>] "
	"[--exclude <pattern>]";
static const char optimize_usage[] =
	"git refs optimize [--all] [--no-prune] [--auto] [--include <pattern>] "
	"[--exclude <pattern>]";

/* The patterns of one option; strings are borrowed from argv. */
struct patterns {
	const char **items; /* owned */
	size_t nr, alloc;
};

struct pack_refs {
	struct patterns include, exclude;
	bool all;
};

static int take_pattern(void *value, const char *arg)
{
	struct patterns *patterns = value;

	if (arg == option_negated) {
		patterns->nr = 0;
		return 0;
	}
	if (mem_grow(&patterns->items, &patterns->alloc, patterns->nr + 1,
		     sizeof(*patterns->items)) < 0)
		return builtin_error("out of memory");
	patterns->items[patterns->nr++] = arg;
	return 0;
}

static bool match(const struct patterns *patterns, const char *name)
{
	for (size_t i = 0; i < patterns->nr; i++)
		if (wildmatch(patterns->items[i], name, 0))
			return true;
	return false;
}

static bool wants(void *ctx, const char *name)
{
	const struct pack_refs *p = ctx;

	if (match(&p->exclude, name))
		return false;
	if (p->all)
		return true;
	return p->include.nr ? match(&p->include, name)
			     : !strncmp(name, "refs/tags/", 10);
}

static void broken(void *ctx, const char *name)
{
	(void)ctx;
	builtin_error("%s does not point to a valid object!", name);
}

static void locked(void *ctx, const char *name, const struct error *why)
{
	builtin_error("cannot lock ref '%s': %s", name, why->msg);
}

int cmd_pack_refs(int argc, const char **argv, struct builtin_env *env)
{
	struct pack_refs p = {.all = false};
	struct ref_pack_options pack = {
		.wants = wants,
		.broken = broken,
		.locked = locked,
		.ctx = &p,
		.prune = true,
	};
	const struct option options[] = {
		{.kind = OPTION_FLAG,
		 .long_name = "all",
		 .flag = &p.all,
		 .help = "pack all refs"},
		{.kind = OPTION_FLAG,
		 .long_name = "prune",
		 .flag = &pack.prune,
		 .help = "delete loose refs once they are packed (the "
			 "default)"},
		{.kind = OPTION_FLAG,
		 .long_name = "auto",
		 .flag = &pack.if_needed,
		 .help = "do nothing unless there are enough loose refs"},
		{.kind = OPTION_CALLBACK,
		 .long_name = "include",
		 .value = &p.include,
		 .fn = take_pattern,
		 .arg_name = "<pattern>",
		 .help = "pack refs that match"},
		{.kind = OPTION_CALLBACK,
		 .long_name = "exclude",
		 .value = &p.exclude,
		 .fn = take_pattern,
		 .arg_name = "<pattern>",
		 .help = "leave out refs that match"},
		{.kind = OPTION_END},
	};
	const char *use = strcmp(argv[0], "optimize") ? usage : optimize_usage;
	int nr = options_parse(argc, argv, options, use);
	struct error err = ERROR_INIT;
	struct store store;
	int code;

	if (nr < 0)
		code = 129;
	else if (nr)
		code = options_usage(options, use);
	else
		code = store_open(&store, env);
	if (!code) {
		code = store_fetch_missing(&store, env);
		if (!code &&
		    ref_pack(store.repo, store.reader, &pack, &err) < 0)
			code = builtin_fail(&err);
		store_close(&store);
	}
	free(p.include.items);
	free(p.exclude.items);
	return builtin_finish(code);
}
