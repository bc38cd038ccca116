/* SPDX-License-Identifier: MIT */
/*
 * git refs: migrate, verify and exists. `refs list` runs for-each-ref, and
 * `refs optimize` runs pack-refs.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "builtin/builtin.h"
#include "builtin/options.h"
#include "builtin/output.h"
#include "builtin/ref-change.h"
#include "builtin/refs-parts.h"
#include "odb/fsck-config.h"
#include "refs-write/ref-migrate.h"
#include "refs/refs-loose.h"
#include "builtin/hook-run.h"
#include "sys/io.h"

static const char migrate_usage[] =
	"git refs migrate --ref-format=<format> [--no-reflog] [--dry-run]";
static const char verify_usage[] = "git refs verify [--strict] [--verbose]";
static const char exists_usage[] = "git refs exists <ref>";
static const char usage[] =
	"git refs migrate --ref-format=<format> [--no-reflog] [--dry-run]\n"
	"git refs verify [--strict] [--verbose]\n"
	"git refs list [<options>] [<pattern>]\n"
	"git refs exists <ref>\n"
	"git refs optimize [--all] [--no-prune] [--auto] "
	"[--include <pattern>] [--exclude <pattern>]";

enum {
	/* exit code: an error was found */
	FAILED = 255,
};

void refs_report_print(void *ctx, const struct refs_report *report)
{
	(void)ctx;
	fprintf(stderr, "%s: %s: %s: %s\n",
		report->is_error ? "error" : "warning", report->where,
		fsck_msg_name(report->msg), report->text);
}

void refs_report_looking(void *ctx, const char *at)
{
	const char *path = strchr(at, '/'), *prefix = "";
	const char *git_dir = getenv("GIT_DIR");

	/*
	 * As in stock Git, only the path of packed-refs is printed as a
	 * relative path. If the user gave GIT_DIR as an absolute path, even the
	 * path of packed-refs is absolute.
	 */
	if (!path || strncmp(at, "packed-refs file ", 17) != 0 ||
	    (git_dir && *git_dir == '/'))
		path = at;
	fprintf(stderr, "Checking %.*s", (int)(path - at), at);
	if (path != at)
		path = shown_path_get(ctx, path, &prefix);
	fprintf(stderr, "%s%s\n", prefix, path);
}

/*
 * Returns whether the path of a loose ref leads through a file. For example,
 * refs/heads/main/x leads through a file if the ref refs/heads/main exists.
 */
static bool is_below_file(const struct repo *repo, const char *name)
{
	struct error err = ERROR_INIT;
	struct buf path = BUF_INIT;
	struct sys_stat st;

	if (repo->ref_storage != REPO_REFS_REFTABLE &&
	    !refs_loose_path(&path, repo, name))
		sys_lstat(&st, path.data, &err);
	buf_release(&path);
	return err.sys_errno == ENOTDIR;
}

int refs_exists(struct refs *refs, const struct repo *repo, const char *name)
{
	struct error err = ERROR_INIT;
	struct ref ref = {.name = NULL};
	bool valid = refs_name_is_valid_len(name, strlen(name), true);
	int ret = valid ? refs_read(refs, name, &ref, &err) : 0;

	if (ret > 0 || ref.is_zero || ref.leads_nowhere)
		return 0;
	if (!ret && valid && is_below_file(repo, name)) {
		builtin_error("failed to look up reference: Not a directory");
		return 1;
	}
	if (!ret) {
		builtin_error("reference does not exist");
		return 2;
	}
	if (!ref.is_broken)
		return builtin_fail(&err);
	builtin_error("failed to look up reference: Invalid argument");
	return 1;
}

static int verify(const struct repo *repo, bool is_strict, bool is_verbose,
		  struct error *err)
{
	struct fsck_rules rules;
	struct shown_path shown;
	struct refs_check check = {
		.rules = &rules,
		.report = refs_report_print,
		.looking = is_verbose ? refs_report_looking : NULL,
		.ctx = &shown,
	};
	int ret = shown_path_init(&shown, repo, err);

	fsck_rules_init(&rules, repo->algo, is_strict);
	if (!ret)
		ret = fsck_config_load(&rules, repo, "fsck.", NULL, NULL, err);
	if (ret >= 0)
		ret = refs_check_run(&check, repo, err);
	fsck_rules_release(&rules);
	shown_path_release(&shown);
	return ret < 0 ? ret : check.failed;
}

static int run_verify(int argc, const char **argv, struct builtin_env *env)
{
	bool is_strict = false, is_verbose = false;
	const struct option options[] = {
		{.kind = OPTION_FLAG,
		 .long_name = "verbose",
		 .flag = &is_verbose,
		 .help = "be verbose"},
		{.kind = OPTION_FLAG,
		 .long_name = "strict",
		 .flag = &is_strict,
		 .help = "treat warnings as errors"},
		{.kind = OPTION_END},
	};
	struct error err = ERROR_INIT;
	int nr = options_parse(argc, argv, options, verify_usage);
	int ret;

	if (nr < 0)
		return 129;
	if (nr) {
		fprintf(stderr,
			"usage: 'git refs verify' takes no arguments\n");
		return 129;
	}
	ret = builtin_open_repo(env);
	if (ret)
		return ret;
	ret = verify(env->repo, is_strict, is_verbose, &err);
	if (ret == ERR_CORRUPT)
		builtin_error("%s", err.msg);
	else if (ret < 0)
		return builtin_fail(&err);
	return ret ? FAILED : 0;
}

static int run_exists(int argc, const char **argv, struct builtin_env *env)
{
	const struct option options[] = {{.kind = OPTION_END}};
	struct error err = ERROR_INIT;
	struct refs *refs;
	int nr = options_parse(argc, argv, options, exists_usage), ret;

	if (nr < 0)
		return 129;
	if (nr != 1)
		return builtin_die("'git refs exists' requires a reference");
	ret = builtin_open_repo(env);
	if (ret)
		return ret;
	if (refs_open(&refs, env->repo, &err) < 0)
		return builtin_fail(&err);
	ret = refs_exists(refs, env->repo, argv[1]);
	refs_close(refs);
	return ret;
}

/*
 * Append the path of a subdirectory of the git directory as stock Git's
 * messages show it. For example, the path begins with ".git" in a work tree,
 * and with the value of GIT_DIR if this variable is set. `dir` is the full path
 * of the subdirectory.
 */
static int name_dir(struct buf *out, const struct repo *repo, const char *dir)
{
	const char *given = getenv("GIT_DIR");
	size_t top_len = repo->worktree ? strlen(repo->worktree) : 0;
	char *cwd = getcwd(NULL, 0);
	const char *name = repo->git_dir;

	if (given)
		name = given;
	else if (cwd && !strcmp(cwd, repo->git_dir))
		name = ".";
	else if (top_len && !strncmp(repo->git_dir, repo->worktree, top_len) &&
		 !strcmp(repo->git_dir + top_len, "/.git"))
		name = ".git";
	free(cwd);
	return buf_printf(out, "%s%s", name, dir + strlen(repo->git_dir));
}

/* State for the reference-transaction hooks that git refs migrate runs. */
struct told {
	const struct repo *repo;
	/* borrowed: ref changes that a hook reads on its standard input */
	const struct buf *changes;
	/* true: a hook has refused the migration */
	bool was_refused;
	/* the advice about hooks that was printed already */
	struct buf advice;
};

static int describe(void *ctx, struct buf *out)
{
	const struct told *told = ctx;

	return buf_append(out, told->changes->data, told->changes->len);
}

static int tell_hooks(void *ctx, enum ref_state state,
		      const struct buf *changes, struct error *err)
{
	struct told *told = ctx;
	int ret;

	told->changes = changes;
	ret = ref_hook_run(told->repo, state, describe, told, &told->advice,
			   err);
	told->was_refused |= ret > 0;
	return ret > 0 ? ERR_DENIED : ret;
}

static int migrate(const struct repo *repo,
		   const struct ref_migrate_options *options, struct error *err)
{
	struct buf dir = BUF_INIT, shown = BUF_INIT;
	struct error warning = ERROR_INIT;
	int ret = ref_migrate(repo, options, &dir, &warning, err);

	if (*warning.msg)
		builtin_warn("%s", warning.msg);
	if (!ret && options->dry_run) {
		ret = name_dir(&shown, repo, dir.data);
		ret = ret < 0 ? error_nomem(err) : 0;
	}
	if (!ret && options->dry_run)
		printf("Finished dry-run migration of refs, "
		       "the result can be found at '%s'\n",
		       shown.data);
	buf_release(&dir);
	buf_release(&shown);
	return ret;
}

static int run_migrate(int argc, const char **argv, struct builtin_env *env)
{
	struct told told = {.advice = BUF_INIT};
	struct hook_call call = {
		.event = "reference-transaction",
		.advice = &told.advice,
	};
	struct ref_migrate_options how = {
		.storage = REPO_REFS_FILES,
		.ctx = &told,
	};
	const char *format = NULL;
	const struct option options[] = {
		{.kind = OPTION_STRING,
		 .long_name = "ref-format",
		 .string = &format,
		 .flags = OPTION_NO_NEGATE,
		 .arg_name = "<format>",
		 .help = "specify the reference format to convert to"},
		OPTION_ROW_FLAG(0, "dry-run", &how.dry_run,
				"perform a non-destructive dry-run"),
		OPTION_ROW_FLAG(0, "no-reflog", &how.no_reflog,
				"drop reflogs entirely during the migration"),
		{.kind = OPTION_END},
	};
	struct error err = ERROR_INIT;
	int ret = builtin_open_repo(env), nr;

	if (ret)
		return ret;
	nr = options_parse(argc, argv, options, migrate_usage);
	if (nr < 0)
		return options_failed(nr);
	if (nr || !format) {
		fprintf(stderr, "usage: %s\n",
			nr ? "too many arguments"
			   : "missing --ref-format=<format>");
		return 129;
	}
	if (!repo_ref_storage_by_name(&how.storage, format)) {
		builtin_error("unknown ref storage format '%s'", format);
		return FAILED;
	}
	told.repo = env->repo;
	call.repo = env->repo;
	ret = hook_is_there(&call, &err);
	if (ret < 0)
		return builtin_fail(&err);
	how.on_state = ret ? tell_hooks : NULL;
	ret = migrate(env->repo, &how, &err);
	buf_release(&told.advice);
	if (told.was_refused)
		return builtin_fail(&err);
	if (ret == ERR_INVALID || ret == ERR_UNSUPPORTED || ret == ERR_DENIED) {
		builtin_error("%s", err.msg);
		return FAILED;
	}
	return ret < 0 ? builtin_fail(&err) : 0;
}

static const struct subcommand subcommands[] = {
	{"migrate", run_migrate},    {"verify", run_verify},
	{"list", cmd_for_each_ref},  {"exists", run_exists},
	{"optimize", cmd_pack_refs}, {NULL, NULL},
};

int cmd_refs(int argc, const char **argv, struct builtin_env *env)
{
	return subcommand_run(subcommands, usage, argc, argv, env);
}
