/* SPDX-License-Identifier: MIT */
/*
 * git network list: prints the member repositories of a fork network and their
 * paths.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "builtin/network-parts.h"
#include "builtin/options.h"

static const char usage[] = "git network list [--json]";

/* Print one member's id and path. Returns 0 or ERR_NOMEM. */
static int print_entry(const struct network_entry *entry, const char *path,
		       bool json, bool first)
{
	const char *state = network_state_name(entry->state);
	struct buf text = BUF_INIT;
	int ret;

	if (!json) {
		printf("%" PRIu32 " %s %s\n", entry->id, state, path);
		return 0;
	}
	ret = json_string(&text, path, strlen(path));
	if (!ret)
		printf("%s\n  {\"id\": %" PRIu32
		       ", \"state\": \"%s\", \"path\": %s}",
		       first ? "" : ",", entry->id, state, text.data);
	buf_release(&text);
	return ret;
}

static int print_all(const struct network *network, bool json)
{
	const struct network_registry *registry = &network->registry;
	struct buf path = BUF_INIT;
	int ret = 0;

	if (json)
		printf("[");
	for (size_t i = 0; i < registry->nr && !ret; i++) {
		buf_reset(&path);
		ret = network_path(&path, network, &registry->entries[i]);
		if (!ret)
			ret = print_entry(&registry->entries[i], path.data,
					  json, !i);
	}
	if (json)
		printf("%s]\n", registry->nr ? "\n" : "");
	buf_release(&path);
	return ret < 0 ? builtin_die("out of memory") : 0;
}

int network_cmd_list(int argc, const char **argv, struct builtin_env *env)
{
	bool json = false;
	const struct option options[] = {
		{.kind = OPTION_FLAG,
		 .long_name = "json",
		 .flag = &json,
		 .help = "print a JSON array of objects"},
		{.kind = OPTION_END},
	};
	int operands = options_parse(argc, argv, options, usage);
	struct network *network;
	int code;

	if (operands < 0)
		return 129;
	if (operands)
		return options_usage(options, usage);
	code = network_place_open(&network, env);
	if (!code)
		code = print_all(network, json);
	network_close(network);
	return code;
}
