/* SPDX-License-Identifier: MIT */
/* Creates, moves and removes quarantine directories. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "pack/mtimes.h"
#include "receive/receive.h"
#include "sys/cleanup.h"
#include "sys/dirlock.h"
#include "sys/io.h"

/*
 * Number of attempts to rename a file while other processes remove its target
 * directory.
 */
#define DIR_TRIES 3

/* number of bytes of two files that are compared at once */
#define COMPARE_LEN 32768

/* Appends a path to a list of alternates, in quotes if necessary. */
static int add_quoted(struct buf *out, const char *path)
{
	int ret;

	if (!strpbrk(path, ":\"\n\\") && *path != '#')
		return buf_append_str(out, path);
	ret = buf_append_char(out, '"');
	for (; !ret && *path; path++) {
		if (*path == '"' || *path == '\\')
			ret = buf_append_char(out, '\\');
		if (!ret)
			ret = *path == '\n' ? buf_append_str(out, "\\n")
					    : buf_append_char(out, *path);
	}
	return ret ? ret : buf_append_char(out, '"');
}

char *quarantine_alternates(const struct repo *repo, const char *dir)
{
	const char *others = repo->alternate_object_dirs;
	struct buf b = BUF_INIT;

	if (add_quoted(&b, dir) < 0 ||
	    (others && buf_printf(&b, ":%s", others) < 0)) {
		buf_release(&b);
		return NULL;
	}
	return buf_detach(&b, NULL);
}

int quarantine_create(struct quarantine *q, const struct repo *repo,
		      struct error *err)
{
	char *object_dir = sys_realpath(repo->object_dir, err);
	int ret;

	*q = (struct quarantine){.repo = repo,
				 .dir = SYS_TEMPDIR_INIT,
				 .keep = SYS_TEMPFILE_INIT};
	if (!object_dir)
		return error_set(err, ERR_IO, "cannot find '%s'",
				 repo->object_dir);
	ret = sys_tempdir_create(&q->dir, object_dir, REPO_QUARANTINE_PREFIX,
				 err);
	if (!ret) {
		q->alternates = quarantine_alternates(repo, object_dir);
		ret = q->alternates ? 0 : error_nomem(err);
	}
	if (!ret) {
		q->view = *repo;
		q->view.object_dir = q->dir.path;
		q->view.alternate_object_dirs = q->alternates;
	}
	free(object_dir);
	return ret;
}

int quarantine_remove(struct quarantine *q, struct error *err)
{
	return sys_tempdir_drop(&q->dir, err);
}

void quarantine_release(struct quarantine *q)
{
	sys_tempdir_release(&q->dir);
	sys_tempfile_abort(&q->keep);
	free(q->alternates);
	*q = (struct quarantine){.dir = SYS_TEMPDIR_INIT,
				 .keep = SYS_TEMPFILE_INIT};
}

const struct repo *quarantine_repo(const struct quarantine *q,
				   const struct repo *repo)
{
	return q->dir.path ? &q->view : repo;
}

/*
 * Returns the rank of a file of a pack: files with lower ranks are moved first.
 * The .idx is last, because readers use a pack as soon as it has an .idx.
 */
static int pack_file_rank(const char *name)
{
	static const char *const order[] = {".keep", ".promisor", ".pack",
					    ".rev", ".idx"};
	const char *dot = strrchr(name, '.');

	for (size_t i = 0; dot && i < ARRAY_NR(order); i++)
		if (!strcmp(dot, order[i]))
			return (int)i;
	return -1;
}

/* State of moving one directory of the quarantine into the repository. */
struct move {
	struct quarantine *q;
	/* name of the directory: "pack" or two hexadecimal digits */
	const char *sub;
	char *from, *to; /* owned: the directories */
	/*
	 * -1: all files are moved; else only those files of a pack that have
	 * this rank, see pack_file_rank()
	 */
	int rank;
	struct error *err;
	/*
	 * result of sys_dirlock_take(). Negative: another process may be
	 * removing stored packs, so the move must not rely on a stored file.
	 */
	int lock;
};

/*
 * Store the path of a .keep file that was moved into the repository, so that
 * quarantine_release() removes the file.
 */
static int note_keep(struct move *m, const char *to, bool was_there)
{
	const char *dot = strrchr(to, '.');

	if (was_there || !dot || strcmp(dot, ".keep") || m->q->keep.path)
		return 0;
	return sys_tempfile_adopt(&m->q->keep, to, m->err);
}

/*
 * Rename a file of the quarantine to its final path. If the target directory is
 * gone, create the directory again: a prune removes empty directories.
 */
static int rename_into(const struct move *m, const char *from, const char *to)
{
	struct error own = ERROR_INIT;
	int ret = sys_rename(from, to, &own);

	for (int i = 1; i < DIR_TRIES && own.sys_errno == ENOENT && ret; i++) {
		ret = sys_mkdir_shared(m->to, m->q->repo->share, &own);
		if (!ret)
			ret = sys_rename(from, to, &own);
	}
	if (ret < 0 && m->err)
		*m->err = own;
	return ret;
}

/*
 * Compare two open files of `len` bytes. Returns 1 if the bytes are equal, 0 if
 * not, or a negative error code.
 */
static int compare(int a, int b, uint64_t len, struct error *err)
{
	uint8_t bytes[2][COMPARE_LEN];
	int ret = 0;

	for (uint64_t off = 0; !ret && off < len; off += COMPARE_LEN) {
		size_t nr = len - off < COMPARE_LEN ? (size_t)(len - off)
						    : COMPARE_LEN;

		ret = sys_read_at(a, bytes[0], nr, off, "received file", err);
		if (!ret)
			ret = sys_read_at(b, bytes[1], nr, off, "stored file",
					  err);
		if (!ret && memcmp(bytes[0], bytes[1], nr) != 0)
			return 0;
	}
	return ret < 0 ? ret : 1;
}

/*
 * Check that the stored file `to` has the content of the received file `from`.
 * A pack is named after its content, so other content means damage. Returns 1
 * if the content is equal, 0 if `to` does not exist, or a negative error code.
 */
static int check_stored(const char *from, const char *to, struct error *err)
{
	struct error own = ERROR_INIT;
	uint64_t from_len, to_len;
	int ret = 0, from_fd, to_fd = sys_open_read(to, &to_len, &own);

	if (to_fd == ERR_MISSING)
		return 0;
	from_fd = to_fd < 0 ? to_fd : sys_open_read(from, &from_len, &own);
	if (from_fd < 0)
		ret = from_fd;
	else if (from_len == to_len)
		ret = compare(from_fd, to_fd, to_len, &own);
	if (!ret)
		ret = error_set(&own, ERR_IO,
				"files '%s' and '%s' differ in contents", from,
				to);
	sys_close(from_fd);
	sys_close(to_fd);
	if (ret < 0 && err)
		*err = own;
	return ret;
}

/*
 * Handle a file of a received pack. The repository may already have a file of
 * this name. This stored file is not replaced. It must have the same content,
 * or an error is returned. A .keep file is not compared: it names the process
 * that made it, so its content may differ. The stored file must not be pruned
 * before refs reach the objects of the pack. So its modification time is set to
 * now.
 *
 * Returns 1 if there is a stored file to use, 0 if there is none, or a negative
 * error code.
 */
static int use_stored(const struct move *m, const char *from, const char *to)
{
	const char *dot = strrchr(to, '.');
	int ret = 1;

	if (!sys_exists(to))
		return 0;
	if (m->lock < 0)
		return error_set(m->err, ERR_DENIED,
				 "'%s' may be removed by a repack", to);
	if (dot && strcmp(dot, ".keep") != 0)
		ret = check_stored(from, to, m->err);
	return ret > 0 ? !sys_touch(to, NULL) : ret;
}

static int move_file(void *ctx, const char *name)
{
	struct move *m = ctx;
	struct buf from = BUF_INIT, to = BUF_INIT;
	int ret = 0;

	if (m->rank >= 0 ? pack_file_rank(name) != m->rank
			 : !strncmp(name, "tmp_", 4))
		return 0;
	if (buf_printf(&from, "%s/%s", m->from, name) < 0 ||
	    buf_printf(&to, "%s/%s", m->to, name) < 0) {
		ret = error_nomem(m->err);
	} else {
		/*
		 * A received loose object replaces a stored loose object of the
		 * same name. A received file of a pack does not: if the
		 * repository has a file of this name, the stored file stays.
		 * The stored pack may be a cruft pack, whose objects may be
		 * pruned. The push needs them, so remove the .mtimes file of
		 * the pack, which makes it an ordinary pack.
		 */
		int is_stored = m->rank < 0 ? 0
					    : use_stored(m, from.data, to.data);

		ret = is_stored < 0 ? is_stored : 0;
		if (!is_stored)
			ret = rename_into(m, from.data, to.data);
		if (!ret && m->rank >= 0)
			ret = pack_mtimes_drop(to.data, m->err);
		if (!ret && m->rank >= 0)
			ret = note_keep(m, to.data, is_stored);
	}
	buf_release(&from);
	buf_release(&to);
	return ret;
}

static int move_dir(struct move *m)
{
	struct buf from = BUF_INIT, to = BUF_INIT;
	int ret = 0;

	if (buf_printf(&from, "%s/%s", m->q->dir.path, m->sub) < 0 ||
	    buf_printf(&to, "%s/%s", m->q->repo->object_dir, m->sub) < 0)
		ret = error_nomem(m->err);
	m->from = from.data;
	m->to = to.data;
	if (!ret)
		ret = sys_mkdir_shared(m->to, m->q->repo->share, m->err);
	if (!ret && m->rank < 0)
		ret = sys_dir_each(m->from, move_file, m, m->err);
	for (; !ret && m->rank >= 0 && m->rank < 5; m->rank++)
		ret = sys_dir_each(m->from, move_file, m, m->err);
	buf_release(&from);
	buf_release(&to);
	return ret == ERR_MISSING ? 0 : ret;
}

static int move_fanout(void *ctx, const char *name)
{
	struct move *m = ctx;

	if (strlen(name) != 2 || !isxdigit((unsigned char)name[0]) ||
	    !isxdigit((unsigned char)name[1]))
		return 0;
	m->sub = name;
	return move_dir(m);
}

static int migrate(struct quarantine *q, int lock, struct error *err)
{
	struct move m = {.q = q, .rank = -1, .lock = lock, .err = err};
	struct sys_hold hold;
	int ret;

	/*
	 * Block signals. If a signal ended the process now, it could leave a
	 * pack without .idx in the repository, or a .keep file that nobody
	 * removes.
	 */
	sys_hold_signals(&hold);
	ret = sys_dir_each(q->dir.path, move_fanout, &m, err);
	m.sub = "pack";
	m.rank = 0;
	if (!ret)
		ret = move_dir(&m);
	sys_tempdir_release(&q->dir);
	sys_release_signals(&hold);
	return ret;
}

int quarantine_migrate(struct quarantine *q, struct error *err)
{
	struct buf dir = BUF_INIT;
	int ret, lock = SYS_DIRLOCK_NONE;

	if (!q->dir.path)
		return 0;
	/*
	 * The repository may already have a pack of the same name, and a repack
	 * may be removing this stored pack. So wait until the repack has
	 * removed its old packs.
	 */
	ret = buf_printf(&dir, "%s/pack", q->repo->object_dir);
	if (!ret)
		lock = sys_dirlock_take(dir.data, SYS_DIRLOCK_PACKS_MS, NULL);
	ret = ret < 0 ? error_nomem(err) : migrate(q, lock, err);
	sys_dirlock_drop(lock);
	buf_release(&dir);
	return ret;
}

static int find_pack(void *ctx, const char *name)
{
	const struct quarantine *q = ctx;
	const char *dot = strrchr(name, '.');
	struct buf path = BUF_INIT;
	int ret = 0;

	if (!dot || strcmp(dot, ".idx") != 0)
		return 0;
	if (buf_printf(&path, "%s/pack/%s", q->repo->object_dir, name) < 0 ||
	    !sys_exists(path.data))
		ret = 1;
	buf_release(&path);
	return ret;
}

bool quarantine_is_stored(const struct quarantine *q)
{
	struct buf dir = BUF_INIT;
	int ret = ERR_MISSING;

	if (q->dir.path)
		ret = buf_printf(&dir, "%s/pack", q->dir.path) < 0
			      ? ERR_NOMEM
			      : sys_dir_each(dir.data, find_pack, (void *)q,
					     NULL);
	buf_release(&dir);
	return !ret || ret == ERR_MISSING;
}
