/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target for the report of a proc-receive hook: lines with the results of
 * the commands of a push. Only commands that the report names may get an error
 * or another ref. Commands that are not for the hook must not change.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "receive/receive-parts.h"
#include "t/fuzz/fuzz.h"

#define HEX_A "7d1665144a3a975c05f1f43902ddaf084e784dbe"
#define HEX_B "74730d410fcb6603ace96f1dc55ea6196122532d"

/*
 * Make the request of a push with three commands. The hook must answer the
 * first two commands.
 */
static void make_request(struct receive_request *req)
{
	static const char *const lines[] = {
		HEX_A " " HEX_B " refs/for/main",
		HEX_A " " HEX_B " refs/for/x",
		HEX_A " " HEX_B " refs/heads/main",
	};

	receive_request_init(req, HASH_SHA1);
	for (size_t i = 0; i < ARRAY_NR(lines); i++)
		require(!receive_request_take(req, lines[i], strlen(lines[i]),
					      NULL));
	req->commands[0].by_hook = req->commands[1].by_hook = true;
}

static void check(const struct receive_request *req)
{
	for (size_t i = 0; i < req->nr; i++) {
		const struct receive_command *cmd = &req->commands[i];

		require(!cmd->error || cmd->is_told || !cmd->by_hook);
		require(!cmd->rewrite_nr || cmd->is_told || !cmd->by_hook);
		require(!cmd->in_rewrite || cmd->rewrite_nr);
		for (size_t k = 0; k < cmd->rewrite_nr; k++)
			require(!cmd->rewrites[k].ref ||
				!strchr(cmd->rewrites[k].ref, '\n'));
	}
	require(!req->commands[2].is_told && !req->commands[2].by_hook);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	const struct receive_options options = {.quiet = true};
	struct repo repo = {.algo = HASH_SHA1};
	struct receive r = {.options = &options, .repo = &repo};
	struct receive_proc_report report = RECEIVE_PROC_REPORT_INIT;
	const char *p = (const char *)bytes, *end = p + len;

	make_request(&r.request);
	while (p < end) {
		const char *lf = memchr(p, '\n', (size_t)(end - p));
		size_t n = lf ? (size_t)(lf - p) : (size_t)(end - p);
		char *line = mem_strndup(p, n);
		int ret;

		require(line != NULL);
		ret = receive_proc_take(&report, &r, line);
		require(ret == 0 || ret == 1);
		require(!report.at || report.at->is_told ||
			!report.at->by_hook);
		free(line);
		p += n + (lf != NULL);
	}
	check(&r.request);
	buf_release(&report.messages);
	receive_request_release(&r.request);
	return 0;
}
