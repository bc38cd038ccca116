/* SPDX-License-Identifier: MIT */
/*
 * A repository in a temporary directory, for unit tests that write its files
 * one by one. The directory is removed at the end.
 */
#ifndef T_UNIT_TMPREPO_H
#define T_UNIT_TMPREPO_H

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "repo/repo.h"
#include "sys/io.h"

struct tmprepo {
	/* Path of the .git directory. */
	char *dir;
	char *objects;
	struct repo repo;
};

static inline void tmprepo_init(struct tmprepo *t, enum hash_algo algo)
{
	const char *tmp = getenv("TMPDIR");
	struct buf path = BUF_INIT;

	buf_printf(&path, "%s/gitreach-unit-XXXXXX", tmp ? tmp : "/tmp");
	t->dir = buf_detach(&path, NULL);
	assert_non_null(mkdtemp(t->dir));
	buf_printf(&path, "%s/objects", t->dir);
	t->objects = buf_detach(&path, NULL);
	memset(&t->repo, 0, sizeof(t->repo));
	t->repo.git_dir = t->repo.common_dir = t->dir;
	t->repo.object_dir = t->objects;
	t->repo.algo = algo;
	t->repo.is_bare = true;
}

static inline int tmprepo_remove_one(const char *path, const struct stat *st,
				     int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static inline void tmprepo_release(struct tmprepo *t)
{
	nftw(t->dir, tmprepo_remove_one, 16, FTW_DEPTH | FTW_PHYS);
	free(t->dir);
	free(t->objects);
}

/* Write `len` bytes to <dir>/<name>. Missing directories are made. */
static inline void tmprepo_write_len(const struct tmprepo *t, const char *name,
				     const void *bytes, size_t len)
{
	struct buf path = BUF_INIT;
	char *slash;
	FILE *f;

	assert_int_equal(buf_printf(&path, "%s/%s", t->dir, name), 0);
	slash = strrchr(path.data, '/');
	*slash = '\0';
	assert_int_equal(sys_mkdir_p(path.data, NULL), 0);
	*slash = '/';
	remove(path.data);
	f = fopen(path.data, "wb");
	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, len, f), len);
	assert_int_equal(fclose(f), 0);
	buf_release(&path);
}

static inline void tmprepo_write(const struct tmprepo *t, const char *name,
				 const char *text)
{
	tmprepo_write_len(t, name, text, strlen(text));
}

/* Makes a symbolic link <dir>/<name> with the target `to`. */
static inline void tmprepo_link(const struct tmprepo *t, const char *name,
				const char *to)
{
	struct buf path = BUF_INIT;

	buf_printf(&path, "%s/%s", t->dir, name);
	assert_int_equal(symlink(to, path.data), 0);
	buf_release(&path);
}

static inline void tmprepo_remove(const struct tmprepo *t, const char *name)
{
	struct buf path = BUF_INIT;

	buf_printf(&path, "%s/%s", t->dir, name);
	assert_int_equal(remove(path.data), 0);
	buf_release(&path);
}

#endif
