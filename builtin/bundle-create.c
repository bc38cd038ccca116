/* SPDX-License-Identifier: MIT */
/*
 * git bundle create: writes a file with refs, and the objects that they reach.
 *
 * Prerequisites are the boundary commits of the bundle. The bundle assumes that
 * the receiver has the closure of the prerequisites and no other objects. If an
 * object is reached by an excluded commit, but by no prerequisite, the bundle
 * contains the object.
 *
 * Options that limit the commits, such as --since and -<n>, and paths are not
 * supported. If one of them is given, stock Git runs.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "builtin/bundle-parts.h"
#include "builtin/filterargs.h"
#include "builtin/lazy-fetch.h"
#include "builtin/options.h"
#include "builtin/output.h"
#include "builtin/pack-args.h"
#include "builtin/revargs.h"
#include "builtin/store.h"
#include "names/revname.h"
#include "pack/bundle.h"
#include "packing/send.h"
#include "sys/lockfile.h"

#define FILE_MODE 0666

static const char usage_text[] =
	"git bundle create [-q | --quiet | --progress]\n"
	"[--version=<version>] <file> <git-rev-list-args>";

struct args {
	/*
	 * whether to show progress; the last option about progress on the
	 * command line decides
	 */
	enum show_progress show;
	/*
	 * value of --version; -1: use the lowest version of the format that is
	 * able to hold the bundle
	 */
	int64_t version;
	const char *file;
	const char **revs;
};

/* One run of git bundle create. */
struct run {
	struct args a;
	struct store store;
	struct rev_args revs;
	struct filter_args filter;
	bool read_stdin;
	struct bundle_header header;
	struct bundle_wants wants;
	/*
	 * true: the refs of the bundle were chosen, but making its pack has
	 * failed
	 */
	bool lacks_pack;
	struct error *err;
};

/* ---- arguments */

/*
 * Returns the index in argv of the bundle's file name, which follows the
 * options. The words after the file name are revisions, and some of them look
 * like options.
 */
static int option_nr(const char **argv)
{
	int nr = 1;

	while (argv[nr] && argv[nr][0] == '-' && argv[nr][1])
		nr += !strcmp(argv[nr], "--version") && argv[nr + 1] ? 2 : 1;
	return nr;
}

static int take_progress(void *value, const char *arg)
{
	*(enum show_progress *)value = arg == option_negated ? PROGRESS_OFF
							     : PROGRESS_ON;
	return 0;
}

static int take_quiet(void *value, const char *arg)
{
	*(enum show_progress *)value = arg == option_negated ? PROGRESS_ON
							     : PROGRESS_OFF;
	return 0;
}

static int parse(struct args *a, const char **argv)
{
	bool implied = false;
	const struct option options[] = {
		{.kind = OPTION_CALLBACK,
		 .short_name = 'q',
		 .long_name = "quiet",
		 .value = &a->show,
		 .flags = OPTION_NO_ARG,
		 .fn = take_quiet,
		 .help = "print no progress"},
		{.kind = OPTION_CALLBACK,
		 .long_name = "progress",
		 .value = &a->show,
		 .flags = OPTION_NO_ARG,
		 .fn = take_progress,
		 .help = "show progress meter"},
		{.kind = OPTION_CALLBACK,
		 .long_name = "all-progress",
		 .value = &a->show,
		 .flags = OPTION_NO_ARG,
		 .fn = take_progress,
		 .help = "same as --progress"},
		{.kind = OPTION_FLAG,
		 .long_name = "all-progress-implied",
		 .flag = &implied,
		 .help = "has no effect"},
		{.kind = OPTION_INT,
		 .long_name = "version",
		 .integer = &a->version,
		 .help = "write version 2 or 3 of the format"},
		{.kind = OPTION_END},
	};
	int nr = option_nr(argv), ret;
	const char **words = mem_calloc((size_t)nr + 1, sizeof(*words));

	*a = (struct args){.version = -1, .show = PROGRESS_IF_TERMINAL};
	if (!words)
		return builtin_die("out of memory");
	memcpy(words, argv, (size_t)nr * sizeof(*words));
	ret = options_parse(nr, words, options, usage_text);
	free(words);
	if (ret < 0)
		return 129;
	if (!argv[nr]) {
		builtin_die("%s\n", "need a <file> argument");
		return options_usage(options, usage_text);
	}
	a->file = argv[nr];
	a->revs = argv + nr + 1;
	return 0;
}

/*
 * Returns whether "--" is one of the arguments. If so, no argument before "--"
 * is a path.
 */
static bool has_dashes(const struct run *r)
{
	for (const char **arg = r->a.revs; *arg; arg++)
		if (!strcmp(*arg, "--"))
			return true;
	return false;
}

/*
 * Replace the error in r->err by stock Git's error for an argument that is
 * neither a revision nor a path. Returns the code of the new error.
 */
static int name_nothing(struct run *r, const char *arg)
{
	int code = r->err->code;
	size_t len = revname_rev_len(arg);

	if (code != ERR_MISSING && code != ERR_INVALID)
		return code;
	if (*arg == '^' || has_dashes(r))
		return error_set(r->err, code, "bad revision '%s'", arg);
	if (len && revname_error_is_unknown(r->err))
		return error_set(r->err, code, "invalid object name '%.*s'.",
				 (int)len, arg);
	return code;
}

static int take_rev(struct run *r, const char *arg)
{
	int was_absent = r->revs.absent.code;
	int ret;

	if (!strcmp(arg, "--stdin")) {
		r->read_stdin = true;
		return 0;
	}
	if (!strncmp(arg, "--filter=", 9))
		return filter_args_add(&r->filter, arg + 9, r->err);
	ret = rev_args_add(&r->revs, arg, r->err);
	/*
	 * The argument is not a revision but an existing path. Stock Git can
	 * limit a bundle to paths, so leave the command to stock Git.
	 */
	if (ret < 0 && access(arg, F_OK) == 0)
		ret = 0;
	if (!ret)
		return error_set(r->err, ERR_UNSUPPORTED,
				 "'%s' is not supported yet", arg);
	/*
	 * If rev_args_add() has set r->revs.absent now, the argument names a
	 * missing object, and the error stays. Any other error is replaced by
	 * the message of stock Git.
	 */
	if (ret < 0 && r->revs.absent.code == was_absent)
		return name_nothing(r, arg);
	return ret < 0 ? ret : 0;
}

/*
 * Read the revisions. Returns 0 or a negative error code. ERR_UNSUPPORTED means
 * that stock Git must run.
 */
static int take_revs(struct run *r)
{
	int ret = 0;

	for (const char **arg = r->a.revs; *arg && !ret; arg++)
		ret = take_rev(r, *arg);
	return ret;
}

/* ---- the file */

static int choose_version(struct run *r)
{
	const struct filter *filter = &r->filter.filter;
	struct buf spec = BUF_INIT;
	unsigned least = r->store.repo->algo == HASH_SHA1 &&
					 filter_is_empty(filter)
				 ? 2
				 : 3;

	if (r->a.version != -1 && r->a.version != 2 && r->a.version != 3)
		return error_set(r->err, ERR_INVALID,
				 "unsupported bundle version %" PRId64,
				 r->a.version);
	r->header.version = r->a.version < 0 ? least : (unsigned)r->a.version;
	if (r->header.version < least)
		return error_set(r->err, ERR_INVALID,
				 "cannot write bundle version %u with "
				 "algorithm %s",
				 r->header.version,
				 hash_name(r->store.repo->algo));
	if (filter_is_empty(filter))
		return 0;
	if (filter_print(&spec, filter) < 0)
		return error_nomem(r->err);
	r->header.filter = buf_detach(&spec, NULL);
	return 0;
}

static int send_pack(struct run *r, struct pack_args_file *file)
{
	const struct bundle_items *prerequisites = &r->header.prerequisites;
	struct progress_out out;
	struct packing_report report;
	struct packing_send_options options;
	struct oid *haves = mem_alloc(prerequisites->nr, sizeof(*haves));
	struct packing_request request = {
		.wants = r->wants.oids,
		.want_nr = r->wants.nr,
		.haves = haves,
		.have_nr = prerequisites->nr,
		.filter = &r->filter.filter,
		.thin = true,
		.ofs_delta = true,
		.use_bitmap = true,
	};
	int ret = haves ? packing_send_options_load(&options, r->store.repo,
						    r->err)
			: error_nomem(r->err);

	for (size_t i = 0; haves && i < prerequisites->nr; i++)
		haves[i] = prerequisites->items[i].oid;
	if (!ret && config_bool(&r->store.repo->config, "pack.usebitmaps",
				&request.use_bitmap, r->err) < 0)
		ret = ERR_INVALID;
	if (!ret) {
		options.progress = output_progress(&out, r->a.show);
		/*
		 * Verify the objects that are copied from packs. A bundle may
		 * be the only copy of its objects. Without this check, damage
		 * would be found only when the bundle is used.
		 */
		options.check_reused = true;
		ret = packing_send(r->store.odb, &request, &options,
				   pack_args_sink(file), &report, r->err);
	}
	free(haves);
	r->lacks_pack = ret == ERR_CORRUPT || ret == ERR_INVALID;
	if (!ret && report.warning.code)
		builtin_warn("%s", report.warning.msg);
	if (!ret && options.progress)
		pack_args_print_sent(&report);
	return ret;
}

static int write_to(struct run *r, struct pack_args_file *file)
{
	struct buf text = BUF_INIT;
	int ret = bundle_header_format(&text, &r->header) < 0
			  ? error_nomem(r->err)
			  : sys_write_all(file->fd, text.data, text.len,
					  file->name, r->err);

	buf_release(&text);
	return ret < 0 ? ret : send_pack(r, file);
}

static int write_file(struct run *r)
{
	struct sys_tempfile lock = SYS_TEMPFILE_INIT;
	struct pack_args_file file = {.name = r->a.file};
	char *target;
	int ret = sys_lockfile_follow(&lock, &target, r->a.file,
				      FILE_MODE | r->store.repo->share, 0,
				      r->err);

	file.fd = lock.fd;
	if (!ret)
		ret = write_to(r, &file);
	if (!ret)
		ret = sys_tempfile_commit(&lock, target, SYS_FSYNC_FSYNC,
					  r->err);
	sys_tempfile_abort(&lock);
	free(target);
	return ret;
}

static int write_bundle(struct run *r)
{
	struct pack_args_file file = {STDOUT_FILENO, "standard output"};
	int ret = choose_version(r);

	if (!ret)
		ret = bundle_choose(&r->header, &r->wants, &r->store, &r->revs,
				    r->err);
	if (ret < 0)
		return ret;
	return strcmp(r->a.file, "-") != 0 ? write_file(r) : write_to(r, &file);
}

/* Read standard input, then write the bundle. */
static int make_bundle(struct run *r)
{
	int ret = 0;

	r->revs.must_exist = true;
	if (r->read_stdin)
		ret = rev_args_add_stdin(&r->revs, r->err);
	if (!ret)
		ret = rev_args_check(&r->revs, r->err);
	if (!ret)
		ret = filter_args_load(&r->filter, &r->revs, r->err);
	rev_args_print_notes(&r->revs);
	return ret < 0 ? ret : write_bundle(r);
}

/*
 * Create the bundle. Returns 0 or a negative error code. ERR_UNSUPPORTED means
 * that stock Git must run.
 */
static int run(struct run *r)
{
	int ret = 0;

	if (rev_args_init(&r->revs, r->store.odb, r->store.refs) < 0)
		ret = error_nomem(r->err);
	r->revs.keep_names = true;
	if (!ret)
		ret = take_revs(r);
	if (ret < 0 && ret != ERR_UNSUPPORTED)
		rev_args_print_notes(&r->revs);
	if (!ret && make_bundle(r) < 0)
		/*
		 * Standard input was already read, so stock Git cannot run any
		 * more. ERR_UNSUPPORTED would start it.
		 */
		ret = ERR_INVALID;
	return ret;
}

int bundle_create(int argc, const char **argv, struct builtin_env *env)
{
	struct error err = ERROR_INIT;
	struct run r = {.err = &err};
	int ret = parse(&r.a, argv);

	if (ret)
		return ret;
	ret = builtin_open_repo_gently(env);
	if (!ret && !env->repo)
		return builtin_die("Need a repository to create a bundle.");
	if (!ret)
		ret = store_open(&r.store, env);
	if (ret)
		return ret;
	if (lazy_fetch_enable(r.store.odb, env, LAZY_FETCH_PACK, &err) < 0) {
		store_close(&r.store);
		return builtin_fail(&err);
	}
	bundle_header_init(&r.header, r.store.repo->algo);
	filter_args_init(&r.filter);
	ret = run(&r);
	filter_args_release(&r.filter);
	bundle_header_release(&r.header);
	rev_args_release(&r.revs);
	free(r.wants.oids);
	store_close(&r.store);
	if (ret == ERR_UNSUPPORTED)
		return builtin_not_ours(&err);
	if (ret < 0)
		ret = builtin_fail(&err);
	/*
	 * Stock Git runs pack-objects as a child process. If pack-objects
	 * fails, stock Git prints this message and exits with 1.
	 */
	if (r.lacks_pack) {
		builtin_error("pack-objects died");
		ret = 1;
	}
	return ret;
}
