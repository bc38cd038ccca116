/* SPDX-License-Identifier: MIT */
/* Versions and errors of the public interface. */
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
