/* SPDX-License-Identifier: MIT */
/*
 * git network borrowers: prints repositories that borrow objects from the fork
 * network and are no members.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "builtin/network-parts.h"
#include "builtin/options.h"
#include "network/network-borrowers.h"

static const char usage[] = "git network borrowers [--json] <directory>...";

struct borrowers_out {
	bool json;
	/* number of printed borrowers */
	size_t nr;
	/* the exit code */
	int code;
};

static int found(void *ctx, const char *git_dir, uint32_t id)
{
	struct borrowers_out *out = ctx;
	struct buf path = BUF_INIT;
	char from[16] = "store";
	int ret = 0;

	if (id)
		snprintf(from, sizeof(from), "%" PRIu32, id);
	if (!out->json)
		printf("from=%s path=%s\n", from, git_dir);
	else
		ret = json_string(&path, git_dir, strlen(git_dir));
	if (out->json && !ret)
		printf("%s\n  {\"from\": \"%s\", \"path\": %s}",
		       out->nr ? "," : "", from, path.data);
	buf_release(&path);
	out->nr++;
	return ret;
}

static void unread(void *ctx, const char *message)
{
	struct borrowers_out *out = ctx;

	builtin_warn("%s", message);
	out->code = 1;
}

static int print_all(const struct network *network, bool json,
		     const char **dirs, int nr)
{
	struct borrowers_out out = {.json = json};
	const struct network_borrowers search = {network, found, unread, &out};
	struct error err = ERROR_INIT;
	int ret = 0;

	if (json)
		printf("[");
	for (int i = 0; i < nr && !ret; i++)
		ret = network_borrowers(&search, dirs[i], &err);
	if (ret < 0)
		return err.code ? builtin_fail(&err)
				: builtin_die("out of memory");
	if (json)
		printf("%s]\n", out.nr ? "\n" : "");
	return out.code;
}

int network_cmd_borrowers(int argc, const char **argv, struct builtin_env *env)
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
	if (!operands)
		return options_usage(options, usage);
	code = network_place_open(&network, env);
	if (!code)
		code = print_all(network, json, argv + 1, operands);
	network_close(network);
	return code;
}
