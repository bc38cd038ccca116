/* SPDX-License-Identifier: MIT */
/* Reads the file info/grafts. */
#include <ctype.h>
#include <stdbool.h>
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

/*
 * Calls `fn` for each id in the line of info/grafts from `p` to `end`. Returns
 * 0, or the first nonzero result of `fn`, which ends the calls.
 */
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

/*
 * The state of reading one line of info/grafts, to find a parent of `commit`.
 */
struct graft {
	const struct oid *commit;
	struct oid *parent;
	size_t wanted; /* which parent, from 1 */
	size_t seen;   /* ids of the line so far */
	/* true: the first id in the line is `commit` */
	bool is_of;
	bool found;
};

static int take_id(void *ctx, const struct oid *oid)
{
	struct graft *g = ctx;

	if (!g->seen)
		g->is_of = oid_equal(oid, g->commit);
	else if (g->is_of && g->seen == g->wanted) {
		*g->parent = *oid;
		g->found = true;
	}
	g->seen++;
	return 0;
}

/*
 * Returns whether a line consists of ids, each with at most one space before
 * it.
 */
static bool is_graft(const char *p, const char *end, enum hash_algo algo)
{
	size_t len = hash_hex_len(algo);
	struct oid oid;

	while (end > p && isspace((unsigned char)end[-1]))
		end--;
	for (; (size_t)(end - p) >= len; p += len + 1) {
		if (!oid_from_hex(&oid, p, len, algo))
			return false;
		if (p + len == end)
			return true;
		if (p[len] != ' ')
			return false;
	}
	return false;
}

int grafts_parent(struct oid *parent, const char *bytes, size_t len,
		  enum hash_algo algo, const struct oid *commit, size_t n)
{
	const char *p = bytes, *last = bytes + len;

	while (p < last) {
		struct graft g = {.commit = commit, .parent = parent};
		const char *end = memchr(p, '\n', (size_t)(last - p));

		g.wanted = n;
		end = end ? end : last;
		if (is_graft(p, end, algo))
			each_of_line(p, end, algo, take_id, &g);
		if (g.is_of)
			return g.found;
		p = end < last ? end + 1 : last;
	}
	return ERR_MISSING;
}

int grafts_read(struct buf *text, const struct repo *repo, struct error *err)
{
	const char *named = getenv("GIT_GRAFT_FILE");
	char *path = named ? mem_strdup(named)
			   : repo_common_path(repo, "info/grafts");
	int ret = path ? sys_read_file(text, path, err) : error_nomem(err);

	free(path);
	return ret == ERR_MISSING ? 0 : ret;
}

int grafts_each_oid(const struct repo *repo,
		    int (*fn)(void *ctx, const struct oid *oid), void *ctx,
		    struct error *err)
{
	struct buf text = BUF_INIT;
	int ret = grafts_read(&text, repo, err);

	if (!ret)
		ret = grafts_each(text.data, text.len, repo->algo, fn, ctx);
	buf_release(&text);
	return ret;
}

static int stop_at_first(void *ctx, const struct oid *oid)
{
	return 1;
}

int grafts_exist(const struct repo *repo, struct error *err)
{
	return grafts_each_oid(repo, stop_at_first, NULL, err);
}
