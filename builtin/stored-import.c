/* SPDX-License-Identifier: MIT */
/* git store import: copies local repositories into a store. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "builtin/output.h"
#include "builtin/stored-parts.h"
#include "stored/fetch.h"
#include "stored/import.h"
#include "sys/io.h"

static const char usage[] =
	"git store import [--name=<name>] [--force] [--cache=<directory>] "
	"[<options>] <repository> <store>\n"
	"git store import --all [--force] [--cache=<directory>] [<options>] "
	"<directory> <store>";

struct run {
	const struct stored_place *place;
	/* owned; NULL: no cache directory is given */
	struct stored_copies *copies;
	struct stored_import how;
	struct buf node, user;
	uint64_t done_nr, failed_nr;
};

static int name_origin(struct run *run, struct error *err)
{
	int ret = stored_place_origin(&run->node, &run->user, err);

	run->how.node = run->node.data;
	run->how.user = run->user.len ? run->user.data : "";
	return ret;
}

/*
 * Brings the local copy of the repository, in the cache directory, to the new
 * generation.
 */
static int fetch(struct run *run, const char *name, struct error *err)
{
	struct stored_use use = {0};
	int ret = stored_copies_enter(run->copies, &use, name, err);

	stored_copies_leave(&use);
	return ret;
}

/* Imports one repository. Returns 0 or a negative error code. */
static int import_one(struct run *run, const char *path, const char *name,
		      struct error *err)
{
	const struct repo_options where = {
		.path = path,
		.flags = REPO_OPEN_EXACT,
	};
	const struct generation_place place = stored_place_repository(
		run->place, name);
	const struct stored_written *written;
	struct stored_import_result result;
	struct repo *repo = NULL;
	int ret = repo_open(&repo, &where, err);

	if (!ret)
		ret = stored_import_run(&result, &place, repo, &run->how, err);
	repo_close(repo);
	if (ret)
		return ret;
	run->done_nr++;
	written = &result.written;
	if (written->is_same)
		printf("%s: generation %" PRIu64 " is up to date\n", name,
		       written->number);
	else
		printf("%s: generation %" PRIu64 ", wrote %" PRIu64
		       " of %" PRIu64 " files, %" PRIu64 " of %" PRIu64
		       " bytes\n",
		       name, written->number, written->upload_nr,
		       written->file_nr, written->upload_bytes, written->bytes);
	fflush(stdout);
	return run->copies ? fetch(run, name, err) : 0;
}

/* ---- one repository */

/* Returns the last part of the path of a repository, malloc()ed. */
static char *name_of(const char *path, struct error *err)
{
	char *real = sys_realpath(path, err), *name;
	const char *slash;

	if (!real)
		return NULL;
	slash = strrchr(real, '/');
	name = mem_strdup(slash && slash[1] ? slash + 1 : real);
	if (!name)
		error_nomem(err);
	free(real);
	return name;
}

static int import_single(struct run *run, const char *path, const char *name)
{
	struct error err = ERROR_INIT;
	char *own = name ? NULL : name_of(path, &err);
	int ret = name || own ? import_one(run, path, name ? name : own, &err)
			      : error_recorded(&err, ERR_IO);

	free(own);
	return ret ? builtin_fail(&err) : 0;
}

/* ---- all repositories below a directory */

/*
 * The state of visiting a directory tree: names of directories that are still
 * to be visited, relative to `top`.
 */
struct tree {
	struct run *run;
	const char *top;
	struct stored_names names; /* a stack of paths */
	/* name of the directory that is being listed */
	const char *at;
};

static int push(void *ctx, const char *entry)
{
	struct tree *t = ctx;
	struct buf path = BUF_INIT;

	if (*entry == '.')
		return 0;
	if (mem_grow(&t->names.names, &t->names.alloc, t->names.nr + 1,
		     sizeof(*t->names.names)) < 0 ||
	    buf_printf(&path, "%s%s%s", t->at, *t->at ? "/" : "", entry) < 0) {
		buf_release(&path);
		return ERR_NOMEM;
	}
	t->names.names[t->names.nr++] = buf_detach(&path, NULL);
	return 0;
}

static bool has_entry(const char *dir, const char *name)
{
	char *path = stored_join(dir, name, NULL);
	bool found = path && sys_exists(path);

	free(path);
	return found;
}

static bool is_repository(const char *dir)
{
	return has_entry(dir, "HEAD") && has_entry(dir, "objects") &&
	       has_entry(dir, "refs");
}

static int cmp_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)b, *(char *const *)a);
}

/*
 * Prints an error about a repository or directory that could not be imported,
 * and counts it. Returns 0 to go on, or ERR_NOMEM.
 */
static int pass_over(struct tree *t, const char *name, int ret,
		     const struct error *why)
{
	if (ret == ERR_NOMEM)
		return ret;
	t->run->failed_nr++;
	builtin_error("%s: %s", name, why->msg);
	return 0;
}

/*
 * Imports a directory that is a repository. For any other directory, adds its
 * entries to the names that are visited later.
 */
static int visit(struct tree *t, const char *name, struct error *err)
{
	char *path = *name ? stored_join(t->top, name, err)
			   : mem_strdup(t->top);
	size_t before = t->names.nr;
	struct error why = ERROR_INIT;
	struct sys_stat st;
	int ret = path ? sys_lstat(&st, path, err) : ERR_NOMEM;

	if (!ret && st.is_dir && *name && is_repository(path)) {
		ret = import_one(t->run, path, name, &why);
		if (ret)
			ret = pass_over(t, name, ret, &why);
	} else if (!ret && st.is_dir) {
		t->at = name;
		ret = sys_dir_each(path, push, t, err);
		if (!ret && t->names.nr > before)
			qsort(t->names.names + before, t->names.nr - before,
			      sizeof(*t->names.names), cmp_names);
	}
	free(path);
	return ret;
}

/*
 * Imports all repositories below a directory. If a repository fails or a
 * directory cannot be read, continues with the others. A directory that was
 * deleted meanwhile is no failure.
 */
static int import_all(struct run *run, const char *top)
{
	struct tree t = {.run = run, .top = top};
	struct error err = ERROR_INIT;
	int ret = visit(&t, "", &err);

	while (!ret && t.names.nr) {
		char *name = t.names.names[--t.names.nr];

		ret = visit(&t, name, &err);
		if (ret == ERR_MISSING)
			ret = 0;
		if (ret)
			ret = pass_over(&t, name, ret, &err);
		free(name);
	}
	stored_names_release(&t.names);
	if (ret)
		return builtin_fail(&err);
	printf("imported %" PRIu64 " repositories, %" PRIu64 " failed\n",
	       run->done_nr, run->failed_nr);
	return run->failed_nr ? 1 : 0;
}

int stored_cmd_import(int argc, const char **argv, struct builtin_env *env)
{
	struct store_s3_settings settings = STORE_S3_SETTINGS_INIT;
	struct progress_out progress;
	struct run run = {.node = BUF_INIT, .user = BUF_INIT};
	const char *name = NULL, *cache = NULL;
	bool all = false;
	const struct option options[] = {
		OPTION_ROW_STRING(0, "name", &name, "<name>",
				  "name of the repository in the store"),
		OPTION_ROW_FLAG(0, "all", &all,
				"import all repositories below the directory"),
		OPTION_ROW_FLAG('f', "force", &run.how.force,
				"replace the content in the store"),
		OPTION_ROW_STRING(0, "cache", &cache, "<directory>",
				  "also make local copies of the repositories "
				  "in this directory"),
		STORED_OPTION_ROWS(&settings),
		{.kind = OPTION_END},
	};
	int operands = options_parse(argc, argv, options, usage);
	struct stored_place place;
	struct error err = ERROR_INIT;
	int code;

	(void)env;
	if (operands < 0)
		return 129;
	if (operands != 2 || (all && name))
		return options_usage(options, usage);
	run.how.tmp = stored_place_tmp();
	run.how.progress = output_progress(&progress, PROGRESS_IF_TERMINAL);
	run.place = &place;
	code = stored_place_make(&place, argv[2], &settings);
	if (!code && cache)
		code = stored_place_copies(&run.copies, &place, cache,
					   &settings, 0);
	if (!code && name_origin(&run, &err) < 0)
		code = builtin_fail(&err);
	if (!code)
		code = all ? import_all(&run, argv[1])
			   : import_single(&run, argv[1], name);
	stored_copies_close(run.copies);
	buf_release(&run.node);
	buf_release(&run.user);
	stored_place_close(&place);
	return code;
}
