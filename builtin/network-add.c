/* SPDX-License-Identifier: MIT */
/*
 * git network add and sync: adds members to a fork network, and synchronizes
 * them with its store.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "builtin/network-parts.h"
#include "builtin/options.h"
#include "network/network-sync.h"

static const char add_usage[] = "git network add [-q] <repository>...";
static const char sync_usage[] = "git network sync [-q] (--all | <member>...)";

struct run {
	struct network *network;
	struct newpack_options options;
	struct progress_out out;
	bool quiet;
};

static int run_open(struct run *r, struct builtin_env *env)
{
	struct error err = ERROR_INIT;
	int code = network_place_open_to_change(&r->network, env);

	if (!code && network_place_options(&r->options, &r->out, r->network,
					   r->quiet, &err) < 0)
		code = builtin_fail(&err);
	return code;
}

static void report(const struct run *r, uint32_t id,
		   const struct network_sync_report *report)
{
	if (!r->quiet)
		printf("member %" PRIu32 ": %" PRIu32
		       " objects copied, %" PRIu32
		       " linked, %zu refs changed\n",
		       id, report->copied_nr, report->linked_nr,
		       report->ref_nr);
}

static int add_all(struct run *r, const char **paths, int nr)
{
	struct network_sync_report done;
	struct error err = ERROR_INIT;
	uint32_t id;

	for (int i = 0; i < nr; i++) {
		if (network_add(&id, r->network, paths[i], &r->options, &done,
				&err) < 0)
			return builtin_fail(&err);
		report(r, id, &done);
	}
	return 0;
}

int network_cmd_add(int argc, const char **argv, struct builtin_env *env)
{
	struct run r = {.quiet = false};
	const struct option options[] = {
		{.kind = OPTION_FLAG,
		 .short_name = 'q',
		 .long_name = "quiet",
		 .flag = &r.quiet,
		 .help = "print nothing but errors"},
		{.kind = OPTION_END},
	};
	int operands = options_parse(argc, argv, options, add_usage);
	int code;

	if (operands < 0)
		return 129;
	if (!operands)
		return options_usage(options, add_usage);
	code = run_open(&r, env);
	if (!code)
		code = add_all(&r, argv + 1, operands);
	network_close(r.network);
	return code;
}

struct syncing {
	const struct run *run;
	int code;
};

/*
 * Callback for each member that was synchronized: prints the result. Returns 0
 * even if the member has failed, so that the next ones are still synchronized.
 */
static int synced(void *ctx, uint32_t id,
		  const struct network_sync_report *done,
		  const struct error *failed)
{
	struct syncing *s = ctx;

	if (done) {
		report(s->run, id, done);
		return 0;
	}
	builtin_error("%s", failed->msg);
	s->code = 1;
	return 0;
}

static int sync_ids(struct run *r, const uint32_t *ids, size_t nr, bool all)
{
	struct syncing s = {.run = r};
	const struct network_sync sync = {
		.options = &r->options,
		.skip_gone = all,
		.done = synced,
		.ctx = &s,
	};
	struct error err = ERROR_INIT;

	return network_sync(r->network, ids, nr, &sync, &err) < 0
		       ? builtin_fail(&err)
		       : s.code;
}

static int compare_ids(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/*
 * Sort ids in ascending order and remove duplicates. Returns the number of ids
 * that remain.
 */
static size_t sort_ids(uint32_t *ids, size_t nr)
{
	size_t kept = 0;

	qsort(ids, nr, sizeof(*ids), compare_ids);
	for (size_t i = 0; i < nr; i++)
		if (!kept || ids[kept - 1] != ids[i])
			ids[kept++] = ids[i];
	return kept;
}

static int choose(struct run *r, uint32_t **ids, size_t *nr, bool all,
		  const char **names, int name_nr)
{
	const struct network_registry *registry = &r->network->registry;
	struct error err = ERROR_INIT;

	*nr = 0;
	*ids = mem_alloc(all ? registry->nr : (size_t)name_nr, sizeof(**ids));
	if (!*ids)
		return builtin_die("out of memory");
	for (size_t i = 0; all && i < registry->nr; i++)
		if (registry->entries[i].state == NETWORK_MEMBER)
			(*ids)[(*nr)++] = registry->entries[i].id;
	for (int i = 0; !all && i < name_nr; i++) {
		struct network_entry *entry = network_lookup(r->network,
							     names[i], &err);

		if (!entry)
			return builtin_fail(&err);
		(*ids)[(*nr)++] = entry->id;
	}
	*nr = sort_ids(*ids, *nr);
	return 0;
}

int network_cmd_sync(int argc, const char **argv, struct builtin_env *env)
{
	struct run r = {.quiet = false};
	bool all = false;
	const struct option options[] = {
		{.kind = OPTION_FLAG,
		 .long_name = "all",
		 .flag = &all,
		 .help = "add the objects of all members"},
		{.kind = OPTION_FLAG,
		 .short_name = 'q',
		 .long_name = "quiet",
		 .flag = &r.quiet,
		 .help = "print nothing but errors"},
		{.kind = OPTION_END},
	};
	int operands = options_parse(argc, argv, options, sync_usage);
	uint32_t *ids = NULL;
	size_t nr;
	int code;

	if (operands < 0)
		return 129;
	if (all == (operands > 0))
		return options_usage(options, sync_usage);
	code = run_open(&r, env);
	if (!code)
		code = choose(&r, &ids, &nr, all, argv + 1, operands);
	if (!code)
		code = sync_ids(&r, ids, nr, all);
	free(ids);
	network_close(r.network);
	return code;
}
