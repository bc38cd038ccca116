/* SPDX-License-Identifier: MIT */
/* Runs the commands in gc.recentObjectsHook. */
#include <string.h>

#include "base/buf.h"
#include "repack/unreachable.h"
#include "sys/io.h"
#include "sys/spawn.h"

/* Maximum bytes of output of one command: about sixteen million ids. */
#define OUTPUT_MAX ((size_t)1 << 30)

struct hooks {
	const struct repo *repo;
	int (*fn)(void *ctx, const struct oid *oid);
	void *ctx;
	struct error *err;
};

static int read_all(struct buf *out, int fd, struct error *err)
{
	ssize_t got;

	do {
		if (out->len > OUTPUT_MAX)
			return error_set(err, ERR_INVALID,
					 "gc.recentObjectsHook: too much "
					 "output");
		if (buf_reserve(out, 65536) < 0)
			return error_nomem(err);
		got = sys_read_some(fd, out->data + out->len, 65536,
				    "gc.recentObjectsHook", err);
		if (got > 0)
			buf_set_len(out, out->len + (size_t)got);
	} while (got > 0);
	return (int)got;
}

static int each_line(const struct hooks *h, const struct buf *out)
{
	size_t hex_len = hash_hex_len(h->repo->algo);
	const char *p = out->data, *end = out->data + out->len;
	int ret = 0;

	while (p < end && !ret) {
		const char *eol = memchr(p, '\n', (size_t)(end - p));
		size_t len = (size_t)((eol ? eol : end) - p);
		struct oid oid;

		if (len != hex_len ||
		    !oid_from_hex(&oid, p, len, h->repo->algo))
			return error_set(h->err, ERR_INVALID,
					 "invalid extra cruft tip: '%.*s'",
					 len < 200 ? (int)len : 200, p);
		ret = h->fn(h->ctx, &oid);
		p += len + 1;
	}
	return ret;
}

static int run_hook(void *ctx, const struct config_entry *entry)
{
	const struct hooks *h = ctx;
	char *argv[] = {(char *)"sh", (char *)"-c", entry->value, NULL};
	struct buf out = BUF_INIT;
	struct sys_child child;
	int ret, status;

	if (!entry->value)
		return error_set(h->err, ERR_INVALID,
				 "missing value for 'gc.recentObjectsHook'");
	ret = sys_spawn(&child, argv, NULL, SYS_SPAWN_PIPE_OUT, h->err);
	if (ret < 0)
		return ret;
	ret = read_all(&out, child.out, h->err);
	status = sys_spawn_wait(&child, ret ? NULL : h->err);
	if (!ret && status < 0)
		ret = status;
	if (!ret && status)
		ret = error_set(h->err, ERR_INVALID,
				"unable to enumerate additional recent "
				"objects: '%s' failed",
				entry->value);
	if (!ret)
		ret = each_line(h, &out);
	buf_release(&out);
	return ret;
}

int recent_hook_each(const struct repo *repo,
		     int (*fn)(void *ctx, const struct oid *oid), void *ctx,
		     struct error *err)
{
	struct hooks h = {repo, fn, ctx, err};

	return config_each(&repo->config, "gc.recentobjectshook", run_hook, &h);
}
