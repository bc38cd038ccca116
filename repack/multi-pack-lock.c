/* SPDX-License-Identifier: MIT */
/* Locking what a pack directory has for a multi-pack-index. */
#include "base/buf.h"
#include "repack/multi-pack-lock.h"
#include "sys/lockfile.h"

#define TIMEOUT_MS 1000

int multi_pack_lock(struct sys_tempfile *lock, const char *dir,
		    struct error *err)
{
	struct buf path = BUF_INIT;
	int ret = buf_printf(&path, "%s/multi-pack-index.lock", dir) < 0
			  ? error_nomem(err)
			  : sys_lockfile_create(lock, path.data, TIMEOUT_MS,
						err);

	buf_release(&path);
	return ret;
}
