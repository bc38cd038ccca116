/* SPDX-License-Identifier: MIT */
/*
 * The steps of moving all refs from one kind of storage (the old store) to the
 * other (the new store). ref-migrate-write.c writes the new store into a
 * temporary directory, and ref-migrate-tell.c tells hooks. This file exchanges
 * the stores: it removes the old store from the git directory, and moves the
 * entries of the temporary directory into the git directory:
 *
 *	files      HEAD and other root refs, packed-refs, refs/, logs/
 *	reftable   reftable/, and the stubs HEAD and refs/heads
 *
 * A git directory without HEAD or refs/ is no repository. So HEAD is replaced
 * by a rename. The git directory keeps its directory refs/, and only what is
 * inside refs/ is replaced.
 */
#include <stdlib.h>
#include <string.h>

#include "base/strlist.h"
#include "refs-write/ref-migrate.h"
#include "reftable/stack.h"
#include "repo/worktree.h"
#include "sys/io.h"
#include "sys/lockfile.h"
#include "sys/share.h"
#include "sys/tempdir.h"

static const char stub_head[] = "ref: refs/heads/.invalid\n";
static const char stub_heads[] = "this repository uses the reftable format\n";

struct migration {
	const struct repo *repo; /* borrowed */
	const struct ref_migrate_options *options;
	/*
	 * a copy of *repo with the new kind of storage; its pointers are
	 * borrowed from *repo
	 */
	struct repo to;
	/* owned: path of the file config, with symbolic links resolved */
	char *config;
	struct sys_tempfile lock; /* config.lock */
	/* temporary directory in which the new store is written */
	struct sys_tempdir dir;
	enum sys_fsync_method method;
	struct error *err; /* borrowed */
};

/* ---- paths */

/* Returns "<dir>/<name>", malloc()ed, or NULL with m->err set. */
static char *join(struct migration *m, const char *dir, const char *name)
{
	struct buf path = BUF_INIT;

	if (buf_printf(&path, "%s/%s", dir, name) < 0) {
		error_nomem(m->err);
		buf_release(&path);
		return NULL;
	}
	return path.data;
}

/*
 * Adds the name of a directory entry to a list. Directories are listed before
 * they are changed.
 */
static int add_name(void *ctx, const char *name)
{
	return strlist_add(ctx, name);
}

/*
 * Calls `fn` with each name in the directory `dir`, which may be missing. If
 * `fn` returns a negative value, the loop stops and returns this value.
 */
static int each_name(struct migration *m, const char *dir,
		     int (*fn)(struct migration *m, const char *name))
{
	struct strlist names = STRLIST_INIT;
	struct error io = ERROR_INIT;
	int ret = sys_dir_each(dir, add_name, &names, &io);

	if (ret == ERR_MISSING)
		ret = 0;
	else if (ret == ERR_NOMEM)
		error_nomem(m->err);
	else if (ret && m->err)
		*m->err = io;
	for (size_t i = 0; !ret && i < names.nr; i++)
		ret = fn(m, names.items[i]);
	strlist_release(&names);
	return ret;
}

/*
 * Works like each_name() for the directory refs/ in `dir`. `dir` is a git
 * directory, or the directory of a new store. Returns 0, the negative value of
 * `fn`, or another negative error code.
 */
static int each_below_refs(struct migration *m, const char *dir,
			   int (*fn)(struct migration *m, const char *name))
{
	char *path = join(m, dir, "refs");
	int ret = path ? each_name(m, path, fn) : ERR_NOMEM;

	free(path);
	return ret;
}

/* ---- clearing a store */

static int remove_entry(struct migration *m, const char *name)
{
	char *path = join(m, m->repo->git_dir, name);
	int ret = path ? sys_tempdir_remove(path, m->err) : ERR_NOMEM;

	free(path);
	return ret;
}

static int remove_root(struct migration *m, const char *name)
{
	return refs_name_is_root(name) && strcmp(name, "HEAD") != 0
		       ? remove_entry(m, name)
		       : 0;
}

static int remove_below_refs(struct migration *m, const char *name)
{
	struct buf path = BUF_INIT;
	int ret = buf_printf(&path, "refs/%s", name);

	ret = ret < 0 ? error_nomem(m->err) : remove_entry(m, path.data);
	buf_release(&path);
	return ret;
}

/*
 * Removes the refs and reflogs of one kind of storage from the git directory,
 * except HEAD. Returns 0 or a negative error code.
 */
static int clear_store(struct migration *m, enum repo_ref_storage storage)
{
	const char *dir = m->repo->git_dir;
	int ret;

	if (storage == REPO_REFS_REFTABLE)
		return remove_entry(m, "reftable");
	ret = remove_entry(m, "packed-refs");
	if (!ret)
		ret = remove_entry(m, "logs");
	if (!ret)
		ret = each_name(m, dir, remove_root);
	return ret ? ret : each_below_refs(m, dir, remove_below_refs);
}

/* ---- moving the new store into the git directory */

static int move_entry(struct migration *m, const char *name)
{
	char *from = join(m, m->dir.path, name);
	char *to = from ? join(m, m->repo->git_dir, name) : NULL;
	int ret = to ? sys_rename(from, to, m->err) : ERR_NOMEM;

	free(from);
	free(to);
	return ret;
}

static int move_below_refs(struct migration *m, const char *name)
{
	struct buf path = BUF_INIT;
	int ret = buf_printf(&path, "refs/%s", name);

	ret = ret < 0 ? error_nomem(m->err) : move_entry(m, path.data);
	buf_release(&path);
	return ret;
}

static int move_top(struct migration *m, const char *name)
{
	return strcmp(name, "refs") != 0 ? move_entry(m, name) : 0;
}

static int move_files(struct migration *m)
{
	int ret = each_below_refs(m, m->dir.path, move_below_refs);

	return ret ? ret : each_name(m, m->dir.path, move_top);
}

/*
 * Removes the old files, and moves the stubs into place. Without the stubs, a
 * Git that does not know reftables would see an empty repository. Returns 0 or
 * a negative error code.
 */
static int files_to_stubs(struct migration *m)
{
	int ret = clear_store(m, REPO_REFS_FILES);

	if (!ret)
		ret = move_entry(m, "refs/heads");
	return ret ? ret : move_entry(m, "HEAD");
}

static int write_stub(struct migration *m, const char *name, const char *text)
{
	char *path = join(m, m->dir.path, name);
	int ret = path ? sys_append(path, text, strlen(text),
				    0666 | m->repo->share, m->err)
		       : ERR_NOMEM;

	free(path);
	return ret;
}

static int write_stubs(struct migration *m)
{
	char *refs = join(m, m->dir.path, "refs");
	int ret = refs ? sys_mkdir_shared(refs, m->repo->share, m->err)
		       : ERR_NOMEM;

	free(refs);
	if (!ret)
		ret = write_stub(m, "HEAD", stub_head);
	return ret ? ret : write_stub(m, "refs/heads", stub_heads);
}

/*
 * Undoes a migration that failed before config was replaced: removes the
 * entries that were moved into the git directory.
 */
static void take_back(struct migration *m)
{
	struct error *err = m->err;

	m->err = NULL;
	if (m->options->storage == REPO_REFS_REFTABLE) {
		clear_store(m, REPO_REFS_REFTABLE);
	} else {
		char *heads = join(m, m->repo->git_dir, "refs/heads");
		char *head = join(m, m->repo->git_dir, "HEAD");

		clear_store(m, REPO_REFS_FILES);
		if (heads)
			sys_append(heads, stub_heads, strlen(stub_heads),
				   0666 | m->repo->share, NULL);
		if (head)
			sys_tempfile_replace(head, stub_head, strlen(stub_head),
					     m->method, NULL);
		free(heads);
		free(head);
	}
	m->err = err;
}

/* ---- the configuration */

static int is_other_extension(void *ctx, const struct config_entry *entry)
{
	(void)ctx;
	return entry->scope == CONFIG_LOCAL &&
	       strcmp(entry->key, "extensions.refstorage") != 0;
}

static int lock_config(struct migration *m)
{
	char *path = join(m, m->repo->git_dir, "config");
	int ret = path ? sys_lockfile_follow(&m->lock, &m->config, path,
					     0666 | m->repo->share, 0, m->err)
		       : ERR_NOMEM;

	ret = ret == ERR_DENIED ? error_set(m->err, ret,
					    "could not lock config file %s: "
					    "File exists",
					    path)
				: ret;
	free(path);
	return ret;
}

/*
 * Sets or removes extensions.refStorage in the text of the configuration. Also
 * sets the version of the repository format, because extensions need version 1.
 * Returns 0 or a negative error code.
 */
static int edit_config(struct migration *m, struct buf *text)
{
	bool is_plain = m->options->storage == REPO_REFS_FILES;
	bool needs_1 = !is_plain || m->repo->algo != HASH_SHA1 ||
		       config_each(&m->repo->config, "extensions.",
				   is_other_extension, NULL);
	int ret = config_edit(text, "core", "repositoryformatversion",
			      needs_1 ? "1" : "0");

	if (!ret)
		ret = config_edit(text, "extensions", "refstorage",
				  is_plain ? NULL : "reftable");
	return ret < 0 ? error_nomem(m->err) : 0;
}

/*
 * Writes the new configuration into config.lock. Returns 0 or a negative error
 * code.
 */
static int write_config(struct migration *m)
{
	struct buf text = BUF_INIT;
	int ret = sys_read_any(&text, m->config, m->err);

	if (!ret || ret == ERR_MISSING)
		ret = edit_config(m, &text);
	if (!ret)
		ret = sys_tempfile_write(&m->lock, text.data, text.len, m->err);
	if (!ret)
		ret = sys_tempfile_finish(&m->lock, m->method, m->err);
	buf_release(&text);
	return ret;
}

/* ---- the steps */

static int found_worktree(void *ctx, const char *name, const char *git_dir)
{
	(void)ctx, (void)name, (void)git_dir;
	return 1;
}

/*
 * Refuses to replace a reftable directory whose list names no table although
 * there are tables. The list was lost, and these tables may be the only copy of
 * the refs. Returns 0 or a negative error code.
 */
static int check_tables(struct migration *m)
{
	char *dir = repo_refs_common_path(m->repo, "reftable");
	enum hash_algo algo = m->repo->algo;
	struct reftable_stack stack = {0};
	uint64_t lost = 0;
	int ret = dir ? reftable_stack_open(&stack, dir, algo, m->err)
		      : error_nomem(m->err);

	if (!ret && !stack.nr)
		ret = reftable_unlisted_max_index(&lost, &stack, dir, algo,
						  m->err);
	if (!ret && lost)
		ret = error_set(m->err, ERR_CORRUPT,
				"%s/tables.list names none of the tables in "
				"this directory",
				dir);
	reftable_stack_release(&stack);
	free(dir);
	return ret;
}

static int check(struct migration *m)
{
	const struct repo *repo = m->repo;
	int ret = repo_check_quarantine(repo, m->err);

	if (!ret)
		ret = repo_check_copy(repo, "migrate refs", m->err);
	if (ret)
		return ret;
	if (repo->ref_storage == m->options->storage)
		return error_set(m->err, ERR_INVALID,
				 "repository already uses '%s' format",
				 repo_ref_storage_name(repo->ref_storage));
	ret = worktree_each(repo, found_worktree, NULL, m->err);
	if (ret > 0)
		return error_set(m->err, ERR_UNSUPPORTED,
				 "migrating repositories with worktrees is not "
				 "supported yet");
	if (!ret && (repo->refs_dir || repo->refs_common_dir))
		return error_set(m->err, ERR_UNSUPPORTED,
				 "migrating refs that are in another directory "
				 "is not supported");
	if (!ret && repo->ref_storage == REPO_REFS_REFTABLE)
		ret = check_tables(m);
	return ret;
}

static int write_store(struct migration *m)
{
	int ret = sys_tempdir_create(&m->dir, m->repo->git_dir,
				     "ref_migration.", m->err);

	if (ret)
		return ret;
	m->to = *m->repo;
	m->to.refs_dir = m->to.refs_common_dir = m->dir.path;
	m->to.ref_storage = m->options->storage;
	ret = ref_migrate_write(m->repo, &m->to, m->options->no_reflog, m->err);
	if (!ret && m->options->storage == REPO_REFS_REFTABLE)
		ret = write_stubs(m);
	return ret;
}

/*
 * Moves the new store to its place, and makes it durable. Returns 0 or a
 * negative error code.
 */
static int move_store(struct migration *m)
{
	int ret = m->options->storage == REPO_REFS_REFTABLE
			  ? move_entry(m, "reftable")
			  : move_files(m);

	if (!ret && m->method != SYS_FSYNC_NONE)
		ret = sys_sync_file_system(m->repo->git_dir, m->err);
	return ret;
}

/*
 * Switches to the new store: renames config.lock to config. The new store must
 * be in its place already. Returns 0 or a negative error code.
 */
static int switch_stores(struct migration *m)
{
	int ret = write_config(m);

	if (!ret)
		ret = clear_store(m, m->options->storage);
	if (ret)
		return ret;
	ret = move_store(m);
	if (!ret)
		ret = sys_tempfile_commit(&m->lock, m->config, SYS_FSYNC_NONE,
					  m->err);
	if (ret)
		take_back(m);
	return ret;
}

/*
 * Removes the old store after the switch is durable. If the removal fails, the
 * remaining files do no harm, because no reader uses them.
 */
static void clear_old(struct migration *m, struct error *warning)
{
	int ret = 0;

	m->err = warning;
	if (m->method != SYS_FSYNC_NONE)
		ret = sys_sync_dir(m->repo->git_dir, warning);
	if (ret)
		return;
	if (m->options->storage == REPO_REFS_REFTABLE)
		files_to_stubs(m);
	else
		clear_store(m, REPO_REFS_REFTABLE);
}

static int keep_dir(struct migration *m, struct buf *dir)
{
	if (buf_append_str(dir, m->dir.path) < 0)
		return error_nomem(m->err);
	sys_tempdir_keep(&m->dir);
	return 0;
}

int ref_migrate(const struct repo *repo,
		const struct ref_migrate_options *options, struct buf *dir,
		struct error *warning, struct error *err)
{
	struct migration m = {
		.repo = repo,
		.options = options,
		.lock = SYS_TEMPFILE_INIT,
		.dir = SYS_TEMPDIR_INIT,
		.err = err,
	};
	int ret = check(&m);

	if (!ret)
		ret = repo_fsync_method(repo, REPO_FSYNC_PACKED_REFS, &m.method,
					err);
	if (!ret && !options->dry_run)
		ret = lock_config(&m);
	if (!ret)
		ret = write_store(&m);
	if (!ret)
		ret = ref_migrate_tell(repo, options, err);
	if (!ret && options->dry_run) {
		ret = keep_dir(&m, dir);
	} else if (!ret) {
		ret = switch_stores(&m);
		if (!ret)
			clear_old(&m, warning);
	}
	sys_tempfile_abort(&m.lock);
	free(m.config);
	sys_tempdir_release(&m.dir);
	return ret;
}
