/* SPDX-License-Identifier: MIT */
/* Where a linked work tree is. */
#include <string.h>

#include "repo/worktree.h"
#include "sys/io.h"

int worktree_git_file(struct buf *out, const char *git_dir)
{
	struct buf path = BUF_INIT, text = BUF_INIT;
	int ret = buf_printf(&path, "%s/gitdir", git_dir);

	if (!ret)
		ret = sys_read_any(&text, path.data, NULL);
	if (ret < 0) {
		ret = ret == ERR_NOMEM ? ret : 0;
		goto out;
	}
	while (text.len && strchr("\r\n", text.data[text.len - 1]))
		buf_set_len(&text, text.len - 1);
	if (!text.len)
		goto out;
	if (*text.data == '/')
		ret = buf_append_str(out, text.data);
	else
		ret = buf_printf(out, "%s/%s", git_dir, text.data);
	ret = ret < 0 ? ret : 1;
out:
	buf_release(&path);
	buf_release(&text);
	return ret;
}
