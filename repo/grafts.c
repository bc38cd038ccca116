/* SPDX-License-Identifier: MIT */
/* Reads the ids in the file info/grafts. */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "repo/grafts.h"
#include "sys/map.h"

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/* Calls `fn` for each id in the line of info/grafts from `p` to `end`. */
static int each_of_line(const char *p, const char *end, enum hash_algo algo,
			int (*fn)(void *ctx, const struct oid *oid), void *ctx)
{
	int ret = 0;

	while (p < end && !ret) {
		const char *word = p;
		struct oid oid;

		while (p < end && !is_space(*p))
			p++;
		if ((size_t)(p - word) == hash_hex_len(algo) &&
		    oid_from_hex(&oid, word, (size_t)(p - word), algo))
			ret = fn(ctx, &oid);
		while (p < end && is_space(*p))
			p++;
	}
	return ret;
}

int grafts_each(const char *bytes, size_t len, enum hash_algo algo,
		int (*fn)(void *ctx, const struct oid *oid), void *ctx)
{
	const char *p = bytes, *last = bytes + len;
	int ret = 0;

	while (p < last && !ret) {
		const char *end = memchr(p, '\n', (size_t)(last - p));

		end = end ? end : last;
		if (*p != '#')
			ret = each_of_line(p, end, algo, fn, ctx);
		p = end < last ? end + 1 : last;
	}
	return ret;
}

int grafts_each_oid(const struct repo *repo,
		    int (*fn)(void *ctx, const struct oid *oid), void *ctx,
		    struct error *err)
{
	const char *named = getenv("GIT_GRAFT_FILE");
	char *path = named ? mem_strdup(named)
			   : repo_common_path(repo, "info/grafts");
	struct buf text = BUF_INIT;
	int ret;

	if (!path)
		return error_nomem(err);
	ret = sys_read_file(&text, path, err);
	if (ret == ERR_MISSING)
		ret = 0;
	else if (!ret)
		ret = grafts_each(text.data, text.len, repo->algo, fn, ctx);
	free(path);
	buf_release(&text);
	return ret;
}
