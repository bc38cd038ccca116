/* SPDX-License-Identifier: MIT */
/* git init: creates an empty repository, or completes an existing one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "builtin/builtin.h"
#include "builtin/config-check.h"
#include "builtin/options.h"
#include "refs/refs.h"
#include "repo/repo.h"
#include "sys/io.h"

static const char usage[] =
	"git init [-q | --quiet] [--bare] [--template=<template-directory>] "
	"[--object-format=<format>] [--ref-format=<format>] "
	"[--shared[=<permissions>]] "
	"[-b <branch-name> | --initial-branch=<branch-name>] [<directory>]";

/* The arguments, and the paths derived from them. */
struct init_args {
	bool quiet, bare;
	/*
	 * true: --no-bare is given, so the repository gets a work tree,
	 * whatever the name of its git directory is
	 */
	bool not_bare;
	const char *template_dir, *format, *ref_format, *branch, *directory;
	const char *shared; /* NULL: not given */
	/* the error of the first --shared whose value is not valid */
	struct error share_error;
	/* true: the command line names the initial branch */
	bool asked_for_branch;
	/* true: init.defaultBranch names the initial branch */
	bool branch_is_configured;
	char *git_dir; /* owned */
	/*
	 * owned: the path that messages show for the git directory; NULL: they
	 * show git_dir
	 */
	char *shown_dir;
	char *worktree; /* owned; NULL: bare */
};

/*
 * Callback for --shared. Stores the value of the last --shared as text:
 * choose_share() parses this text when the configuration is loaded. This
 * callback also checks each value at once. If one is invalid, stores the error
 * of the first invalid value in args->share_error. So the command fails even if
 * a later --shared on the command line is valid.
 */
static int parse_shared(void *value, const char *arg)
{
	struct init_args *args = value;
	unsigned share;

	args->shared = arg ? arg : "group";
	if (!args->share_error.code)
		repo_share_parse(&share, "arg", args->shared,
				 &args->share_error);
	return 0;
}

static int parse_bare(void *value, const char *arg)
{
	struct init_args *args = value;

	args->not_bare = arg == option_negated;
	args->bare = !args->not_bare;
	return 0;
}

static int parse_args(struct init_args *args, int argc, const char **argv)
{
	const struct option options[] = {
		{.kind = OPTION_STRING,
		 .long_name = "template",
		 .string = &args->template_dir,
		 .help = "copy the files of this directory into the repository",
		 .arg_name = "<template-directory>"},
		{.kind = OPTION_CALLBACK,
		 .long_name = "bare",
		 .flags = OPTION_NO_ARG,
		 .value = args,
		 .fn = parse_bare,
		 .help = "make a repository without a work tree"},
		{.kind = OPTION_CALLBACK,
		 .long_name = "shared",
		 .flags = OPTION_OPTIONAL_ARG | OPTION_NO_NEGATE,
		 .value = args,
		 .arg_name = "<permissions>",
		 .help = "share the repository with the group or with "
			 "everybody",
		 .fn = parse_shared},
		{.kind = OPTION_FLAG,
		 .short_name = 'q',
		 .long_name = "quiet",
		 .flag = &args->quiet,
		 .help = "be quiet"},
		{.kind = OPTION_NOT_OURS, .long_name = "separate-git-dir"},
		{.kind = OPTION_STRING,
		 .short_name = 'b',
		 .long_name = "initial-branch",
		 .string = &args->branch,
		 .help = "name of the branch that HEAD refers to",
		 .arg_name = "<name>"},
		{.kind = OPTION_STRING,
		 .long_name = "object-format",
		 .string = &args->format,
		 .help = "hash function: sha1 or sha256",
		 .arg_name = "<hash>"},
		{.kind = OPTION_STRING,
		 .long_name = "ref-format",
		 .string = &args->ref_format,
		 .help = "ref storage: files or reftable",
		 .arg_name = "<format>"},
		{.kind = OPTION_END},
	};
	int nr = options_parse(argc, argv, options, usage);

	if (nr < 0)
		return options_failed(nr);
	if (nr > 1)
		return options_usage(options, usage);
	args->directory = nr ? argv[1] : NULL;
	args->asked_for_branch = args->branch != NULL;
	return 0;
}

/* Create the directory that the command line names, if it does not exist. */
static int make_directory(const char *path)
{
	struct error err = ERROR_INIT;
	struct sys_stat st;

	if (!*path)
		return builtin_die("cannot mkdir %s: No such file or directory",
				   path);
	if (!sys_stat(&st, path, NULL)) {
		if (st.is_dir)
			return 0;
		return builtin_die("cannot mkdir %s: File exists", path);
	}
	return sys_mkdir_p(path, &err) < 0 ? builtin_fail(&err) : 0;
}

static char *join(const char *dir, const char *name)
{
	struct buf path = BUF_INIT;
	size_t len = dir ? strlen(dir) : 0;

	if (*name == '/' || !len)
		return mem_strdup(name);
	if (buf_printf(&path, "%s%s%s", dir, dir[len - 1] == '/' ? "" : "/",
		       name) < 0) {
		buf_release(&path);
		return NULL;
	}
	return buf_detach(&path, NULL);
}

/* Returns whether the last component of GIT_DIR suggests a bare repository. */
static bool looks_bare(const char *git_dir)
{
	size_t len = strlen(git_dir);

	if (!strcmp(git_dir, ".git"))
		return false;
	return len < 5 || strcmp(git_dir + len - 5, "/.git");
}

/*
 * Print the error of stock Git for a work tree that does not exist. Returns
 * 128.
 */
static int no_worktree(const char *worktree)
{
	char *here = sys_realpath(".", NULL);
	char *path = here ? join(here, worktree) : NULL;
	int ret = builtin_die("Cannot access work tree '%s': No such file or "
			      "directory",
			      path ? path : worktree);

	free(here);
	free(path);
	return ret;
}

/*
 * Print an error if a directory of `path` before its last component does not
 * exist.
 */
static int check_parents(const char *path)
{
	char *here = sys_realpath(".", NULL);
	char *full = here ? join(here, path) : NULL;
	char *slash = full;
	int ret = full ? 0 : builtin_die("out of memory");

	while (!ret && (slash = strchr(slash + 1, '/'))) {
		*slash = '\0';
		if (!sys_exists(full))
			ret = builtin_die("Invalid path '%s': No such file or "
					  "directory",
					  full);
		*slash = '/';
	}
	free(here);
	free(full);
	return ret;
}

/*
 * Check the directories before anything is created. Returns 0, or prints the
 * error of stock Git and returns the exit code.
 */
static int check_place(const struct init_args *args, bool guessed_bare)
{
	int ret = 0;

	/*
	 * If the name of the git directory suggests a bare repository, a
	 * missing work tree is no error.
	 */
	if (args->worktree && !guessed_bare && !sys_exists(args->worktree))
		return no_worktree(args->worktree);
	if (args->worktree)
		ret = check_parents(args->worktree);
	return ret ? ret : check_parents(args->git_dir);
}

/* Choose the paths of the git directory and the work tree. */
static int choose_place(struct init_args *args)
{
	const char *dir = args->directory;
	const char *git_dir = getenv("GIT_DIR");
	const char *worktree = getenv("GIT_WORK_TREE");
	bool guessed_bare = !args->bare && !args->not_bare && git_dir &&
			    looks_bare(git_dir);

	/*
	 * With --bare, a directory on the command line is used in place of
	 * GIT_DIR.
	 */
	if (args->bare && dir)
		git_dir = NULL;
	if (worktree && (!git_dir || args->bare))
		return builtin_die("GIT_WORK_TREE (or --work-tree=<directory>) "
				   "not allowed without specifying GIT_DIR "
				   "(or --git-dir=<directory>)");
	if (guessed_bare && !worktree)
		args->bare = true;
	if (!git_dir)
		git_dir = args->bare ? "." : ".git";
	args->git_dir = join(dir, git_dir);
	if (args->git_dir && !args->bare)
		args->worktree = worktree ? join(dir, worktree)
					  : sys_parent(args->git_dir);
	if (!args->git_dir || (!args->bare && !args->worktree))
		return builtin_die("out of memory");
	return check_place(args, guessed_bare);
}

/*
 * If args->git_dir is the path of a .git file, replace it by the directory to
 * which the file points. Returns 0, or prints an error and returns the exit
 * code.
 */
static int prepare_place(struct init_args *args)
{
	struct repo_options options = {.git_dir = args->git_dir};
	struct error err = ERROR_INIT;
	struct repo *repo;
	struct sys_stat st;

	if (sys_stat(&st, args->git_dir, NULL) < 0 || !st.is_file)
		return 0;
	/*
	 * The path is a .git file: use the repository that the file points to.
	 */
	if (repo_open(&repo, &options, &err) < 0)
		return builtin_fail(&err);
	free(args->git_dir);
	args->git_dir = mem_strdup(repo->common_dir);
	args->shown_dir = mem_strdup(repo->git_dir);
	repo_close(repo);
	if (!args->git_dir || !args->shown_dir)
		return builtin_die("out of memory");
	return 0;
}

static int choose_branch(struct init_args *args, const struct config *config)
{
	const struct config_entry *entry = config_find(config,
						       "init.defaultbranch");

	args->branch_is_configured = !args->branch && entry;
	if (args->branch_is_configured && !entry->value)
		return builtin_die("missing value for 'init.defaultbranch'");
	if (args->branch_is_configured)
		args->branch = entry->value;
	if (!args->branch)
		args->branch = "master";
	return 0;
}

/* Checks the name of the initial branch. */
static int check_branch(const struct init_args *args)
{
	struct buf ref = BUF_INIT;
	bool valid;

	if (buf_printf(&ref, "refs/heads/%s", args->branch) < 0)
		return builtin_die("out of memory");
	valid = refs_name_is_valid(ref.data);
	buf_release(&ref);
	if (valid)
		return 0;
	if (args->branch_is_configured)
		return builtin_die("invalid branch name: init.defaultBranch "
				   "= %s",
				   args->branch);
	return builtin_die("invalid initial branch name: '%s'", args->branch);
}

static bool has_head(const char *git_dir)
{
	char *path = join(git_dir, "HEAD");
	bool there = path && sys_exists(path);

	free(path);
	return there;
}

/*
 * Returns whether the hash function and the ref storage that the arguments name
 * exist. If not, the caller reports this error first, before an error about the
 * name of the branch.
 */
static bool formats_are_known(const struct init_args *args)
{
	enum repo_ref_storage storage;
	enum hash_algo algo;

	return (!args->format || hash_by_name(&algo, args->format)) &&
	       (!args->ref_format ||
		repo_ref_storage_by_name(&storage, args->ref_format));
}

/*
 * Choose the hash function by the arguments, the environment or the
 * configuration. For an existing repository, only the arguments count. If none
 * was chosen, *algo is not changed. Returns 0, or prints an error and returns
 * 128.
 */
static int choose_format(enum hash_algo *algo, const struct init_args *args,
			 const struct config *config)
{
	bool is_new = !has_head(args->git_dir);
	const char *name = args->format;

	if (!name && is_new)
		name = getenv("GIT_DEFAULT_HASH");
	if (name && !hash_by_name(algo, name))
		return builtin_die("unknown hash algorithm '%s'", name);
	if (name || !is_new)
		return 0;
	name = config_string(config, "init.defaultobjectformat");
	if (name && !hash_by_name(algo, name))
		builtin_warn("unknown hash algorithm '%s'", name);
	return 0;
}

/*
 * Choose the ref storage by the arguments, the environment or the
 * configuration. For an existing repository, only the arguments count. If a
 * storage was chosen, options->ref_storage points to *chosen; otherwise it is
 * not changed.
 */
static int choose_ref_format(struct repo_init_options *options,
			     enum repo_ref_storage *chosen,
			     const struct init_args *args,
			     const struct config *config)
{
	const char *env = getenv("GIT_DEFAULT_REF_FORMAT");
	const char *name = args->ref_format ? args->ref_format : env;
	const char *configured = config_string(config, "init.defaultrefformat");
	bool is_new = !has_head(args->git_dir);

	if (name && !repo_ref_storage_by_name(chosen, name))
		return builtin_die("unknown ref storage format '%s'", name);
	if (!name && configured) {
		name = configured;
		if (!repo_ref_storage_by_name(chosen, name)) {
			builtin_warn("unknown ref storage format '%s'", name);
			name = NULL;
		}
	}
	if (name && (is_new || args->ref_format))
		options->ref_storage = chosen;
	return 0;
}

/*
 * Set options->template_dir. The path may be in *owned, which the caller must
 * free after the last use of the options. Returns 0, or prints an error and
 * returns 128.
 */
static int choose_template(struct repo_init_options *options, char **owned,
			   const struct init_args *args,
			   const struct config *config)
{
	const char *dir = args->template_dir;
	const char *configured = config_string(config, "init.templatedir");

	if (!dir)
		dir = getenv("GIT_TEMPLATE_DIR");
	if (!dir && configured) {
		if (config_path(owned, configured, NULL) < 0)
			return builtin_die("failed to expand user dir in: "
					   "'%s'",
					   configured);
		dir = *owned;
	}
	if (dir && *dir && !sys_exists(dir))
		builtin_warn("templates not found in %s", dir);
	options->template_dir = dir;
	return 0;
}

/*
 * Choose the sharing mode: the value of --shared, or else that of
 * core.sharedRepository in the configuration of the user or the system. If
 * neither is given, *share is not changed.
 */
static int choose_share(unsigned *share, const struct init_args *args,
			const struct config *config, struct error *err)
{
	const struct config_entry *entry = config_find(config,
						       "core.sharedrepository");

	if (args->shared)
		return repo_share_parse(share, "arg", args->shared, err);
	if (!entry)
		return 0;
	return repo_share_parse(share, entry->key, entry->value, err);
}

static int report(const struct init_args *args, bool existed, bool shared)
{
	const char *dir = args->shown_dir ? args->shown_dir : args->git_dir;
	char *real = sys_realpath(dir, NULL);
	const char *path = real ? real : dir;
	size_t len = strlen(path);

	if (existed && args->asked_for_branch)
		builtin_warn("re-init: ignored --initial-branch=%s",
			     args->branch);
	if (!args->quiet)
		printf("%s %sGit repository in %s%s\n",
		       existed ? "Reinitialized existing" : "Initialized empty",
		       shared ? "shared " : "", path,
		       len && path[len - 1] == '/' ? "" : "/");
	free(real);
	return builtin_finish(0);
}

/*
 * Makes the repository. `checks`: the groups of keys for config_check().
 * Returns an exit code.
 */
static int run(struct init_args *args, const struct config *config,
	       unsigned checks)
{
	struct error err = ERROR_INIT;
	bool shared = false;
	struct repo_init_options options = {.is_shared = &shared};
	enum repo_ref_storage storage;
	char *owned = NULL;
	bool is_new;
	int ret = args->share_error.code ? builtin_fail(&args->share_error)
					 : choose_branch(args, config);

	/*
	 * Check the name of the branch before the directory is made, so that a
	 * wrong name leaves no new directory behind.
	 */
	if (!ret && args->directory && !sys_exists(args->directory) &&
	    formats_are_known(args))
		ret = check_branch(args);
	if (!ret && args->directory)
		ret = make_directory(args->directory);
	if (!ret)
		ret = choose_place(args);
	if (!ret)
		ret = config_check(config, checks);
	is_new = !ret && !has_head(args->git_dir);
	/*
	 * A .git file leads to an existing repository. Find it before the
	 * formats are chosen: the defaults are for new repositories only.
	 */
	if (!ret)
		ret = prepare_place(args);
	if (!ret)
		ret = choose_format(&options.algo, args, config);
	if (!ret)
		ret = choose_ref_format(&options, &storage, args, config);
	if (is_new && !ret)
		ret = check_branch(args);
	if (!ret)
		ret = choose_template(&options, &owned, args, config);
	if (ret)
		goto out;
	options.branch = args->branch;
	options.worktree = args->worktree;
	options.start_dir = args->directory;
	ret = choose_share(&options.share, args, config, &err);
	if (!ret)
		ret = repo_init_from(args->git_dir, &options, &err);
	ret = ret < 0 ? builtin_fail(&err) : report(args, ret == 1, shared);
out:
	free(owned);
	return ret;
}

/*
 * Leave the command to stock Git if GIT_REFERENCE_BACKEND is set. Returns 0 if
 * the variable is not set, otherwise the value that the command must return.
 */
static int refs_elsewhere(void)
{
	struct error why = ERROR_INIT;

	if (!getenv("GIT_REFERENCE_BACKEND"))
		return 0;
	error_set(&why, ERR_UNSUPPORTED,
		  "cannot make a repository with GIT_REFERENCE_BACKEND");
	return builtin_not_ours(&why);
}

int cmd_init(int argc, const char **argv, struct builtin_env *env)
{
	struct config_sources sources = {.protected_only = true};
	struct config config = CONFIG_INIT;
	struct init_args args = {.bare = env->is_bare};
	struct error err = ERROR_INIT;
	int ret = parse_args(&args, argc, argv);

	if (!ret)
		ret = refs_elsewhere();
	if (ret)
		return ret;
	if (config_load(&config, &sources, &err) < 0)
		return builtin_fail(&err);
	ret = run(&args, &config, env->config_checks);
	config_release(&config);
	free(args.git_dir);
	free(args.shown_dir);
	free(args.worktree);
	return ret;
}
