/* SPDX-License-Identifier: MIT */
/* Finding hooks. */
#include <stdlib.h>

#include "base/buf.h"
#include "repo/hook.h"
#include "sys/io.h"

static int name_dir(struct buf *out, const struct repo *repo)
{
	const char *value = config_string(&repo->config, "core.hookspath");
	char *dir = value ? config_expand_path(value)
			  : repo_common_path(repo, "hooks");
	int ret = dir ? buf_append_str(out, dir) : ERR_NOMEM;

	free(dir);
	return ret;
}

int repo_hook_find(char **path, const struct repo *repo, const char *name,
		   struct error *err)
{
	struct buf b = BUF_INIT;
	struct sys_stat st;

	*path = NULL;
	if (name_dir(&b, repo) < 0 || buf_printf(&b, "/%s", name) < 0) {
		buf_release(&b);
		return error_nomem(err);
	}
	if (sys_stat(&st, b.data, NULL) < 0 || !st.is_file ||
	    !(st.mode & 0111)) {
		buf_release(&b);
		return 0;
	}
	*path = buf_detach(&b, NULL);
	return 1;
}
