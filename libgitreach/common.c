/* SPDX-License-Identifier: MIT */
/*
 * The parts of the public interface that all its functions need: versions,
 * errors, structs that may grow, and progress.
 */
#include <string.h>

#include "base/mem.h"
#include "libgitreach/internal.h"

#define SAME_CODE(public, inner)                                               \
	_Static_assert((int)(public) == (int)(inner), #public)
SAME_CODE(GITREACH_NOMEM, ERR_NOMEM);
SAME_CODE(GITREACH_IO, ERR_IO);
SAME_CODE(GITREACH_CORRUPT, ERR_CORRUPT);
SAME_CODE(GITREACH_MISSING, ERR_MISSING);
SAME_CODE(GITREACH_UNSUPPORTED, ERR_UNSUPPORTED);
SAME_CODE(GITREACH_INVALID, ERR_INVALID);
SAME_CODE(GITREACH_PEER, ERR_PEER);
SAME_CODE(GITREACH_DENIED, ERR_DENIED);
SAME_CODE(GITREACH_CANCELLED, ERR_CANCELLED);

const char *gitreach_version(void)
{
	return GITREACH_VERSION;
}

int gitreach_abi_version(void)
{
	return GITREACH_ABI_VERSION;
}

gitreach_error *gitreach_error_new(void)
{
	return mem_calloc(1, sizeof(gitreach_error));
}

void gitreach_error_free(gitreach_error *err)
{
	free(err);
}

int gitreach_error_code(const gitreach_error *err)
{
	return err ? err->error.code : 0;
}

const char *gitreach_error_message(const gitreach_error *err)
{
	return err ? err->error.msg : "";
}

int gitreach_error_errno(const gitreach_error *err)
{
	return err ? err->error.sys_errno : 0;
}

/*
 * ---- structs with a size in their first member, which later versions extend
 */

static int size_of(uint64_t *size, const void *given, struct error *err)
{
	memcpy(size, given, sizeof(*size));
	return *size < sizeof(*size)
		       ? error_set(err, ERR_INVALID,
				   "the member 'size' of a struct is not set")
		       : 0;
}

int libgitreach_struct_out(void *out, const void *in, size_t len,
			   struct error *err)
{
	uint64_t size;
	int ret = size_of(&size, out, err);

	if (ret < 0)
		return ret;
	if (len > size)
		len = (size_t)size;
	memcpy((char *)out + sizeof(size), (const char *)in + sizeof(size),
	       len - sizeof(size));
	return 0;
}

int libgitreach_struct_in(void *out, const void *in, size_t len,
			  struct error *err)
{
	const uint8_t *bytes = in;
	uint64_t size;
	int ret;

	memset(out, 0, len);
	if (!in)
		return 0;
	ret = size_of(&size, in, err);
	for (uint64_t i = len; i < size && !ret; i++)
		if (bytes[i])
			ret = error_set(err, ERR_UNSUPPORTED,
					"a struct sets members that only later "
					"versions of libgitreach know");
	if (!ret)
		memcpy(out, in, size < len ? (size_t)size : len);
	return ret;
}

/* ---- progress */

static int poll(void *ctx, const char *title, uint64_t done, uint64_t total)
{
	struct libgitreach_progress *p = ctx;
	struct gitreach_progress progress = {
		.size = sizeof(progress),
		.phase = title,
		.done = done,
		.total = total,
	};

	if (atomic_load(&p->is_cancelled))
		return 1;
	if (!p->fn(p->ctx, &progress))
		return 0;
	atomic_store(&p->is_cancelled, true);
	return 1;
}

int libgitreach_progress_begin(gitreach_progress_fn fn, void *ctx,
			       struct error *err)
{
	const struct gitreach_progress progress = {
		.size = sizeof(progress),
		.phase = "Starting",
	};

	return fn && fn(ctx, &progress)
		       ? error_set(err, ERR_CANCELLED,
				   "ended by a callback of the caller")
		       : 0;
}

const struct progress_out *libgitreach_progress(struct libgitreach_progress *p,
						gitreach_progress_fn fn,
						void *ctx)
{
	p->out = (struct progress_out){.ctx = p, .poll = poll};
	p->fn = fn;
	p->ctx = ctx;
	atomic_init(&p->is_cancelled, false);
	return fn ? &p->out : NULL;
}
