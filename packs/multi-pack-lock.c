/* SPDX-License-Identifier: MIT */
/* Locks the multi-pack-index of a pack directory. */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "odb/odb-midx.h"
#include "packs/multi-pack-lock.h"
#include "sys/io.h"
#include "sys/lockfile.h"

#define TIMEOUT_MS 1000

int multi_pack_lock(struct sys_tempfile *lock, const char *dir, unsigned share,
		    struct error *err)
{
	struct buf path = BUF_INIT;
	char *target = NULL;
	int ret = buf_printf(&path, "%s/multi-pack-index", dir) < 0
			  ? error_nomem(err)
			  : sys_lockfile_follow(lock, &target, path.data,
						0666 | share, TIMEOUT_MS, err);

	buf_release(&path);
	free(target);
	return ret;
}

int multi_pack_check_packs(bool *outdated, const struct pack_midx *midx,
			   const char *dir, struct error *err)
{
	struct buf path = BUF_INIT;
	int ret = 0;

	for (uint32_t i = 0; i < midx->pack_nr && !ret; i++) {
		buf_reset(&path);
		if (buf_printf(&path, "%s/%s", dir, midx->names[i]) < 0)
			ret = error_nomem(err);
		else if (!sys_exists(path.data))
			ret = error_set(err, ERR_MISSING,
					"%s was removed meanwhile",
					midx->names[i]);
	}
	buf_release(&path);
	*outdated |= ret == ERR_MISSING;
	return ret;
}

static bool is_same_layer(const struct odb_midx *a, const struct odb_midx *b)
{
	return a->in_chain == b->in_chain &&
	       !memcmp(a->midx.checksum, b->midx.checksum,
		       hash_len(a->midx.algo));
}

int multi_pack_check_current(bool *outdated, const struct odb *odb,
			     size_t dir_nr, struct error *err)
{
	const struct odb_midx *ours = odb->midxes[dir_nr], *now;
	size_t nr = odb_midx_layer_nr(ours), now_nr;
	struct odb_midx *top;
	int ret = odb_midx_open(&top, odb->dirs[dir_nr], odb->algo, NULL);

	if (ret == ERR_NOMEM)
		return error_nomem(err);
	now_nr = odb_midx_layer_nr(top);
	ret = now_nr < nr;
	for (now = top; now_nr > nr; now_nr--)
		now = now->base;
	for (; !ret && ours; ours = ours->base, now = now->base)
		ret = !is_same_layer(ours, now);
	odb_midx_close(top);
	*outdated |= ret;
	return ret ? error_set(err, ERR_IO,
			       "the multi-pack-index was replaced meanwhile")
		   : 0;
}
