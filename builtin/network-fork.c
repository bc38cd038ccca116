/* SPDX-License-Identifier: MIT */
/*
 * git network fork: creates a new member repository of a fork network from an
 * existing member.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "builtin/network-parts.h"
#include "builtin/options.h"
#include "islands/network-member.h"
#include "network/network-sync.h"

static const char usage[] = "git network fork [-q] <source> <destination>";

struct forking {
	struct network *network;
	struct repo *source;
	bool quiet;
};

/*
 * Open the repository to fork, by its path, and its network: the one whose
 * store lends objects to this repository.
 */
static int open_by_path(struct forking *f, const char *name, struct error *err)
{
	struct repo_options options = {.path = name, .flags = REPO_OPEN_ENTER};
	char *store = NULL;
	int ret = repo_open(&f->source, &options, err);

	if (ret < 0)
		return ret;
	ret = network_find(&store, f->source, err);
	if (!ret)
		ret = error_set(
			err, ERR_INVALID,
			"'%s' is not in a network; run 'git network add' first",
			f->source->git_dir);
	if (ret > 0)
		ret = network_open(&f->network, store, err);
	free(store);
	return ret;
}

static int open_by_id(struct forking *f, const char *name, struct error *err)
{
	const struct network_entry *entry = network_lookup(f->network, name,
							   err);

	return entry ? network_member_open(&f->source, f->network, entry, err)
		     : ERR_MISSING;
}

/*
 * Check that the repository to fork is a member of the network, and borrows
 * objects from the store alone. If an operation on this member was interrupted,
 * the member is refused, because it may lack objects that its refs need.
 */
static int check_source(const struct forking *f, struct error *err)
{
	const struct network_entry *entry = network_lookup(
		f->network, f->source->common_dir, err);
	enum network_link link;
	int ret;

	if (!entry)
		return ERR_MISSING;
	if (entry->state != NETWORK_MEMBER)
		return error_set(err, ERR_INVALID,
				 "member %u is in the state '%s': another "
				 "operation runs or was interrupted",
				 entry->id, network_state_name(entry->state));
	ret = network_link_check(&link, f->network, f->source, err);
	if (!ret && link != NETWORK_LINK_STORE)
		ret = error_set(err, ERR_INVALID,
				"member %u, '%s': its objects/info/alternates "
				"must list the store and nothing else",
				entry->id, f->source->git_dir);
	return ret;
}

static int run(struct forking *f, const char *source, const char *path,
	       struct error *err)
{
	struct newpack_options options;
	struct progress_out out;
	uint32_t id;
	int ret = f->network ? open_by_id(f, source, err)
			     : open_by_path(f, source, err);

	if (!ret)
		ret = network_place_recover(f->network, err);
	if (!ret)
		ret = check_source(f, err);
	if (!ret)
		ret = network_place_options(&options, &out, f->network,
					    f->quiet, err);
	if (!ret)
		ret = network_fork_synced(&id, f->network, f->source, path,
					  &options, err);
	if (!ret && !f->quiet)
		printf("member %" PRIu32 ": %s\n", id, path);
	return ret;
}

static bool is_id(const char *name)
{
	return *name && strspn(name, "0123456789") == strlen(name);
}

int network_cmd_fork(int argc, const char **argv, struct builtin_env *env)
{
	struct forking f = {.quiet = false};
	const struct option options[] = {
		{.kind = OPTION_FLAG,
		 .short_name = 'q',
		 .long_name = "quiet",
		 .flag = &f.quiet,
		 .help = "print nothing but errors"},
		{.kind = OPTION_END},
	};
	int operands = options_parse(argc, argv, options, usage);
	struct error err = ERROR_INIT;
	int code = 0;

	if (operands < 0)
		return 129;
	if (operands != 2)
		return options_usage(options, usage);
	if (is_id(argv[1]))
		code = network_place_open(&f.network, env);
	if (!code && run(&f, argv[1], argv[2], &err) < 0)
		code = builtin_fail(&err);
	repo_close(f.source);
	network_close(f.network);
	return code;
}
