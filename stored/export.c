/* SPDX-License-Identifier: MIT */
/* Exports a generation as a plain bare repository. */
#include <string.h>

#include "base/mem.h"
#include "refs-write/ref-migrate.h"
#include "stored/export.h"
#include "stored/fetch.h"
#include "stored/layout.h"
#include "sys/io.h"
#include "sys/tempdir.h"

static int put_file(void *ctx, const struct generation_file *file,
		    const char *path, struct error *err)
{
	return stored_fetch(ctx, file, path, SYS_FSYNC_FSYNC, err);
}

/* Converts the repository from reftables to refs in files. */
static int use_files(const char *dir, struct error *err)
{
	const struct repo_options where = {
		.path = dir,
		.flags = REPO_OPEN_EXACT | REPO_OPEN_NO_OWNER,
	};
	const struct ref_migrate_options options = {
		.storage = REPO_REFS_FILES,
		.no_reflog = true,
	};
	struct error warning = ERROR_INIT;
	struct buf unused = BUF_INIT;
	struct repo *repo = NULL;
	int ret = repo_open(&repo, &where, err);

	if (!ret)
		ret = ref_migrate(repo, &options, &unused, &warning, err);
	buf_release(&unused);
	repo_close(repo);
	if (!ret && warning.code && err)
		*err = warning;
	return ret ? ret : warning.code;
}

static int fill(const struct generation_place *place,
		const struct generation *g, const char *dir,
		enum repo_ref_storage storage, struct error *err)
{
	const struct stored_layout how = {
		.put = put_file,
		.ctx = (void *)place,
		.threads = STORED_THREADS,
		.method = SYS_FSYNC_FSYNC,
	};
	int ret = stored_layout_make(dir, g, &how, err);

	if (!ret && storage == REPO_REFS_FILES)
		ret = use_files(dir, err);
	/*
	 * The files are durable already; this call makes the directories
	 * durable.
	 */
	return ret ? ret : sys_sync_file_system(dir, err);
}

/*
 * Creates the directory "<dir>.tmp_XXXXXX" next to `dir`. Appends to *parent
 * the path of the directory that contains both.
 */
static int make_beside(struct sys_tempdir *td, struct buf *parent,
		       const char *dir, struct error *err)
{
	struct buf prefix = BUF_INIT;
	size_t end = strlen(dir), start;
	int ret;

	while (end > 1 && dir[end - 1] == '/')
		end--;
	for (start = end; start && dir[start - 1] != '/';)
		start--;
	if (!start)
		ret = buf_append_char(parent, '.');
	else
		ret = buf_append(parent, dir, start > 1 ? start - 1 : 1);
	if (!ret)
		ret = buf_printf(&prefix, "%.*s.tmp_", (int)(end - start),
				 dir + start);
	ret = ret < 0 ? error_nomem(err)
		      : sys_tempdir_create(td, parent->data, prefix.data, err);
	buf_release(&prefix);
	return ret;
}

/*
 * Renames the repository to its final path, and removes the temporary
 * directory.
 */
static int install(struct sys_tempdir *td, const char *from, const char *parent,
		   const char *dir, struct error *err)
{
	int ret = sys_rename(from, dir, err);

	sys_tempdir_release(td);
	if (ret)
		return ret;
	ret = sys_sync_dir(parent, err);
	/*
	 * Without the sync, a power loss could remove the new name. So if the
	 * sync fails, the export has failed: remove the directory.
	 */
	if (ret)
		sys_tempdir_remove(dir, NULL);
	return ret;
}

int stored_export(const struct generation_place *place,
		  const struct generation *g, const char *dir,
		  enum repo_ref_storage storage, struct error *err)
{
	struct sys_tempdir td = SYS_TEMPDIR_INIT;
	struct buf parent = BUF_INIT;
	char *made = NULL;
	int ret;

	if (sys_exists(dir))
		return error_set(err, ERR_INVALID, "'%s' exists already", dir);
	ret = make_beside(&td, &parent, dir, err);
	if (!ret)
		made = stored_join(td.path, "repository", err);
	if (!ret && !made)
		ret = ERR_NOMEM;
	/*
	 * Make a new directory inside the temporary one. The temporary
	 * directory is readable only by its owner; the new one gets the usual
	 * permissions from the umask.
	 */
	if (!ret)
		ret = sys_mkdir_p(made, err);
	if (!ret)
		ret = fill(place, g, made, storage, err);
	if (!ret)
		ret = install(&td, made, parent.data, dir, err);
	sys_tempdir_release(&td);
	free(made);
	buf_release(&parent);
	return ret;
}
