/* SPDX-License-Identifier: MIT */
/* Writes files of plans (cached responses), and removes old ones. */
#include <stdlib.h>
#include <string.h>

#include "base/affix.h"
#include "base/mem.h"
#include "plans/plan-dir-parts.h"
#include "sys/clock.h"
#include "sys/io.h"
#include "sys/rangelock.h"
#include "sys/tempfile.h"

/*
 * Maximum number of plans in a directory. A plan is a cached response: the
 * recipe of a pack that was sent. Each time a plan is stored, all files of the
 * directory are listed. With more files, this would be slow.
 */
#define FILES_MAX 2048

#define TEMP_PREFIX "tmp_plan_"

/* Number of tries to get the lock while another process stores a plan. */
#define TRIES 20
#define TRY_NS UINT64_C(5000000)

struct stored {
	char *path; /* owned */
	uint64_t size;
	int64_t mtime_ns;
};

struct listing {
	const struct plan_dir *dir;
	struct stored *files; /* owned */
	size_t nr, alloc;
	/* sum of the sizes of all listed files, in bytes */
	uint64_t size;
};

static void listing_release(struct listing *l)
{
	for (size_t i = 0; i < l->nr; i++)
		free(l->files[i].path);
	free(l->files);
}

static int add(struct listing *l, const char *path)
{
	struct stored *file;
	struct sys_stat st;

	/*
	 * Ignore a file that does not exist any more: another process may have
	 * removed it.
	 */
	if (sys_lstat(&st, path, NULL) < 0)
		return 0;
	if (mem_grow(&l->files, &l->alloc, l->nr + 1, sizeof(*l->files)) < 0)
		return ERR_NOMEM;
	file = &l->files[l->nr];
	*file = (struct stored){mem_strdup(path), st.size, st.mtime_ns};
	if (!file->path)
		return ERR_NOMEM;
	l->nr++;
	l->size += st.size;
	return 0;
}

/*
 * Adds the file of a plan to the listing, or removes a temporary file. The
 * caller holds the lock PLAN_DIR_STORING, so no process is writing a temporary
 * file: a process that died has left the file.
 */
static int visit(void *ctx, const char *name)
{
	struct listing *l = ctx;
	struct buf path = BUF_INIT;
	int ret = buf_printf(&path, "%s/%s", l->dir->path, name);

	if (!ret && !strncmp(name, TEMP_PREFIX, strlen(TEMP_PREFIX)))
		sys_unlink(path.data, NULL);
	else if (!ret && ends_with(name, PLAN_DIR_SUFFIX))
		ret = add(l, path.data);
	buf_release(&path);
	return ret;
}

static int compare(const void *a, const void *b)
{
	const struct stored *x = a, *y = b;

	return (x->mtime_ns > y->mtime_ns) - (x->mtime_ns < y->mtime_ns);
}

/*
 * Remove old plans, until `len` more bytes are within the limits. Returns false
 * if this is not possible.
 */
static bool make_room(const struct plan_dir *dir, size_t len)
{
	struct listing l = {.dir = dir};
	bool fits = len <= dir->max &&
		    !sys_dir_each(dir->path, visit, &l, NULL);

	if (fits && l.nr)
		qsort(l.files, l.nr, sizeof(*l.files), compare);
	for (size_t i = 0; fits && i < l.nr; i++) {
		if (l.size <= dir->max - len && l.nr - i < FILES_MAX)
			break;
		fits = !sys_unlink(l.files[i].path, NULL);
		l.size -= l.files[i].size;
	}
	listing_release(&l);
	return fits;
}

int plan_dir_path(struct buf *out, const struct plan_dir *dir,
		  const uint8_t *key)
{
	char hex[OID_MAX_HEX_LEN + 1];

	return buf_printf(out, "%s/%s" PLAN_DIR_SUFFIX, dir->path,
			  oid_raw_to_hex(hex, key, HASH_SHA256));
}

static bool write_file(const struct plan_dir *dir, const uint8_t *key,
		       const void *bytes, size_t len)
{
	struct sys_tempfile file = SYS_TEMPFILE_INIT;
	struct buf path = BUF_INIT;
	int ret = plan_dir_path(&path, dir, key);

	if (!ret)
		ret = sys_tempfile_create(&file, dir->path, TEMP_PREFIX, 0600,
					  NULL);
	if (!ret)
		ret = sys_tempfile_write(&file, bytes, len, NULL);
	if (!ret)
		ret = sys_tempfile_commit(&file, path.data, SYS_FSYNC_NONE,
					  NULL);
	sys_tempfile_abort(&file);
	buf_release(&path);
	return !ret;
}

static bool lock(int locks)
{
	for (int i = 0; i < TRIES; i++) {
		int ret = sys_rangelock_take(locks, PLAN_DIR_STORING, false,
					     false, NULL);

		if (ret != ERR_DENIED)
			return !ret;
		sys_sleep_ns(TRY_NS);
	}
	return false;
}

const char *plan_dir_store(const struct plan_dir *dir, const uint8_t *key,
			   const void *bytes, size_t len, int locks)
{
	const char *reason = NULL;

	if (!lock(locks))
		return "another process stores a plan";
	if (!make_room(dir, len))
		reason = "there is no room for the plan";
	else if (!write_file(dir, key, bytes, len))
		reason = "the plan cannot be written";
	sys_rangelock_drop(locks, PLAN_DIR_STORING);
	return reason;
}
