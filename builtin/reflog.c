/* SPDX-License-Identifier: MIT */
/*
 * git reflog: expire, delete, drop, list and exists. Stock Git runs "show" and
 * "write".
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/approxidate.h"
#include "base/mem.h"
#include "builtin/builtin.h"
#include "builtin/options.h"
#include "check/reflog-expire.h"
#include "object/refs-name.h"
#include "refs/reflog-write.h"
#include "refs/reflog.h"
#include "refs/refs.h"
#include "sys/clock.h"

enum {
	/* exit code of a subcommand that could not change a reflog */
	FAILED = 255,
};

static const char expire_usage[] =
	"git reflog expire [--expire=<time>] [--expire-unreachable=<time>]\n"
	"[--rewrite] [--updateref] [--stale-fix]\n"
	"[--dry-run | -n] [--verbose] [--all [--single-worktree] | <refs>...]";
static const char delete_usage[] =
	"git reflog delete [--rewrite] [--updateref]\n"
	"[--dry-run | -n] [--verbose] <ref>@{<specifier>}...";
static const char drop_usage[] =
	"git reflog drop [--all [--single-worktree] | <refs>...]";
static const char list_usage[] = "git reflog list";
static const char exists_usage[] = "git reflog exists <ref>";

struct args {
	struct reflog_expire_options expire;
	bool verbose, all, single_worktree;
};

/* One run of a subcommand. */
struct run {
	struct args a;
	struct repo *repo; /* borrowed */
	/* owned: the state for expiring reflogs; used only by "expire" */
	struct reflog_expire *x;
	/* "expire" only: check_storage() was called before */
	bool is_checked;
	int code;
};

#define FLAG(letter, name, field, text)                                        \
	{                                                                      \
		.kind = OPTION_FLAG, .short_name = letter, .long_name = name,  \
		.flag = field, .help = text                                    \
	}
#define EDIT_OPTIONS(a)                                                        \
	FLAG('n', "dry-run", &(a)->expire.dry_run,                             \
	     "do not prune any entries"),                                      \
		FLAG(0, "rewrite", &(a)->expire.rewrite,                       \
		     "rewrite the old id with the new one of the entry "       \
		     "before"),                                                \
		FLAG(0, "updateref", &(a)->expire.update_ref,                  \
		     "set the ref to the value of the top entry"),             \
		FLAG(0, "verbose", &(a)->verbose,                              \
		     "print what becomes of entries")

static void tell(void *ctx, const struct reflog_line *line)
{
	const struct args *a = ctx;

	printf("%s %.*s\n",
	       !line->drop         ? "keep"
	       : a->expire.dry_run ? "would prune"
				   : "prune",
	       (int)line->message_len, line->message);
}

/* The context of a search for the ref of a short name. */
struct log_search {
	const struct repo *repo;
	/* owned: full name of the first ref with a reflog; NULL: none so far */
	char *full;
};

/*
 * If the ref has a reflog, sets s->full to the name of the ref. Otherwise, if
 * the ref is symbolic and its target has a reflog, sets s->full to the name of
 * the target. Returns 1 if s->full was set, otherwise 0.
 */
static int stop_at_log(void *ctx, const struct ref *ref)
{
	struct log_search *s = ctx;
	const char *name = ref->name;

	if (!reflog_exists(s->repo, name))
		name = ref->target;
	if (!name || !reflog_exists(s->repo, name))
		return 0;
	s->full = mem_strdup(name);
	return 1;
}

/*
 * Returns the full name of the ref `name`, malloc()ed. "@" means HEAD. If the
 * name stands for several refs, such as a tag and a branch, the result is the
 * first one that has a reflog. The reflog of a symbolic ref without a reflog is
 * that of its target, as in revisions such as HEAD@{1}. Returns NULL if no ref
 * has a reflog.
 */
static char *find_log(const struct repo *repo, const char *name)
{
	struct log_search s = {repo, NULL};
	struct refs *refs;

	if (!*name || refs_open(&refs, repo, NULL) < 0)
		return NULL;
	refs_dwim_each(refs, strcmp(name, "@") ? name : "HEAD", stop_at_log, &s,
		       NULL);
	refs_close(refs);
	return s.full;
}

static int fail(struct run *r, const struct error *err)
{
	builtin_error("%s", err->msg);
	r->code = FAILED;
	return 0;
}

/*
 * At its first call, checks that packed-refs, or the stack of reftables, is not
 * damaged. If it is damaged, prints an error, sets r->code and returns 1: no
 * reflog may change. Otherwise returns 0.
 */
static int check_storage(struct run *r)
{
	struct error err = ERROR_INIT;
	struct refs *refs = NULL;
	struct ref ref;
	int ret = 0;

	if (r->is_checked)
		return 0;
	r->is_checked = true;
	ret = refs_open(&refs, r->repo, &err);
	/*
	 * Look up a name that no loose ref can have: refs/heads is a directory.
	 * So packed-refs is read, and an error is returned if it is damaged.
	 */
	if (!ret)
		ret = refs_read(refs, "refs/heads", &ref, &err);
	refs_close(refs);
	if (ret >= 0)
		return 0;
	r->code = builtin_fail(&err);
	return 1;
}

/* ---- expire */

/*
 * Expires the reflog of a ref. If this fails, prints an error and sets r->code.
 * Returns 1 if no other reflog may be expired, as in stock Git. This is so in
 * two cases: the storage of refs is damaged; or --stale-fix is given, and
 * expiring has failed with any error except ERR_DENIED (the reflog is locked).
 * Otherwise returns 0.
 */
static int expire_one(void *ctx, const char *name)
{
	struct error err = ERROR_INIT;
	struct run *r = ctx;

	if (check_storage(r))
		return 1;
	if (reflog_expire_run(r->x, name, &err) >= 0)
		return 0;
	if (err.code != ERR_CORRUPT &&
	    (!r->a.expire.stale_fix || err.code == ERR_DENIED))
		return fail(r, &err);
	r->code = builtin_fail(&err);
	return r->a.expire.stale_fix;
}

static int expire_named(struct run *r, const char *name)
{
	char *full;
	int ret = 0;

	if (check_storage(r))
		return 1;
	full = find_log(r->repo, name);
	if (full)
		ret = expire_one(r, full);
	else
		r->code = builtin_error("reflog could not be found: '%s'",
					name) &
			  FAILED;
	free(full);
	return ret;
}

static int expire(struct run *r, const char **names)
{
	struct error err = ERROR_INIT;
	struct reflog_limits limits;
	enum reflog_policy policy;
	int ret = 0;

	if (r->a.verbose) {
		r->a.expire.report = tell;
		r->a.expire.ctx = &r->a;
	}
	/* Report configuration errors once, before any ref is processed. */
	if (reflog_policy(r->repo, &policy, &err) < 0 ||
	    reflog_limits_load(&limits, &r->repo->config, "",
			       sys_clock_seconds(), &err) < 0)
		return builtin_fail(&err);
	if (r->a.verbose && r->a.expire.stale_fix)
		printf("Marking reachable objects...");
	r->x = reflog_expire_new(r->repo, &r->a.expire);
	if (!r->x)
		return builtin_die("out of memory");
	if (r->a.expire.stale_fix)
		ret = reflog_expire_check_refs(r->x, &err);
	if (!ret && r->a.verbose && r->a.expire.stale_fix)
		putchar('\n');
	if (!ret && r->a.all)
		ret = reflog_each(r->repo, !r->a.single_worktree, expire_one, r,
				  &err);
	for (; *names && !ret; names++)
		ret = expire_named(r, *names);
	reflog_expire_free(r->x);
	return ret < 0 ? builtin_fail(&err) : r->code;
}

/*
 * The dates in --expire and --expire-unreachable, and the first option whose
 * date is invalid.
 */
struct dates {
	int64_t total, unreachable;
	const char *bad_option, *bad_text; /* NULL: all are valid */
};

static void take_date(struct dates *d, int64_t *limit, const char *text,
		      const char *option)
{
	if (approxidate_parse_expiry(limit, text, sys_clock_seconds()) < 0 &&
	    !d->bad_option) {
		d->bad_option = option;
		d->bad_text = text;
	}
}

static int take_total(void *value, const char *arg)
{
	struct dates *d = value;

	take_date(d, &d->total, arg, "expire");
	return 0;
}

static int take_unreachable(void *value, const char *arg)
{
	struct dates *d = value;

	take_date(d, &d->unreachable, arg, "expire-unreachable");
	return 0;
}

static int run_expire(struct run *r, int argc, const char **argv)
{
	struct dates dates = {REFLOG_LIMIT_UNSET, REFLOG_LIMIT_UNSET, NULL,
			      NULL};
	struct args *a = &r->a;
	const struct option options[] = {
		EDIT_OPTIONS(a),
		{.kind = OPTION_CALLBACK,
		 .long_name = "expire",
		 .value = &dates,
		 .fn = take_total,
		 .flags = OPTION_NO_NEGATE,
		 .arg_name = "<timestamp>",
		 .help = "delete entries older than this"},
		{.kind = OPTION_CALLBACK,
		 .long_name = "expire-unreachable",
		 .value = &dates,
		 .fn = take_unreachable,
		 .flags = OPTION_NO_NEGATE,
		 .arg_name = "<timestamp>",
		 .help = "delete entries older than this that the ref does not "
			 "reach"},
		FLAG(0, "stale-fix", &a->expire.stale_fix,
		     "prune entries that point to broken commits"),
		FLAG(0, "all", &a->all, "process the reflogs of all refs"),
		FLAG(0, "single-worktree", &a->single_worktree,
		     "process only the reflogs of this work tree"),
		{.kind = OPTION_END},
	};
	int nr = options_parse(argc, argv, options, expire_usage);

	if (nr < 0)
		return 129;
	if (dates.bad_option)
		return builtin_die("invalid timestamp '%s' given to '--%s'",
				   dates.bad_text, dates.bad_option);
	a->expire.limits.total = dates.total;
	a->expire.limits.unreachable = dates.unreachable;
	return expire(r, argv + 1);
}

/* ---- delete */

struct deletion {
	const struct args *a;
	/* number of the reflog entry; 0 is the newest */
	uint64_t nr;
};

static int delete_nth(void *ctx, const char *name, const struct oid *tip,
		      struct reflog *log, struct error *err)
{
	const struct deletion *d = ctx;

	(void)name, (void)tip, (void)err;
	if (d->nr < log->nr)
		log->lines[log->nr - 1 - d->nr].drop = true;
	for (size_t i = 0; i < log->nr && d->a->verbose; i++)
		tell((void *)d->a, &log->lines[i]);
	return 0;
}

static int delete_from(struct run *r, const char *name, uint64_t nr)
{
	const struct reflog_expire_options *o = &r->a.expire;
	struct deletion d = {&r->a, nr};
	const struct reflog_edit edit = {
		.decide = delete_nth,
		.ctx = &d,
		.dry_run = o->dry_run,
		.rewrite = o->rewrite,
		.update_ref = o->update_ref,
	};
	struct error err = ERROR_INIT;

	return reflog_edit(r->repo, name, &edit, &err) < 0 ? fail(r, &err) : 0;
}

/*
 * Returns whether `spec` has the form "<ref>@{<date>}", not "<ref>@{<number>}".
 */
static bool is_by_date(const char *spec)
{
	const char *at = strstr(spec, "@{");
	size_t digits = at ? strspn(at + 2, "0123456789") : 0;

	return at && (!digits || digits > 9 || strcmp(at + 2 + digits, "}"));
}

static int delete_one(struct run *r, const char *spec)
{
	const char *at = strstr(spec, "@{");
	char *name, *full = NULL;

	if (!at)
		return builtin_error("not a reflog: %s", spec);
	if (is_by_date(spec))
		return builtin_error("an entry by its date is not supported "
				     "yet: %s",
				     spec);
	name = mem_strndup(spec, (size_t)(at - spec));
	if (name)
		full = find_log(r->repo, name);
	free(name);
	if (!full)
		return builtin_error("no reflog for '%s'", spec);
	delete_from(r, full, strtoull(at + 2, NULL, 10));
	free(full);
	return 0;
}

static int run_delete(struct run *r, int argc, const char **argv)
{
	struct args *a = &r->a;
	const struct option options[] = {
		EDIT_OPTIONS(a),
		{.kind = OPTION_END},
	};
	int nr = options_parse(argc, argv, options, delete_usage);

	if (nr < 0)
		return 129;
	if (!nr) {
		builtin_error("no reflog specified to delete");
		return FAILED;
	}
	for (int i = 1; i <= nr; i++)
		if (is_by_date(argv[i]) && builtin_has_stock())
			return BUILTIN_NOT_OURS;
	if (check_storage(r))
		return r->code;
	for (int i = 1; i <= nr; i++)
		if (delete_one(r, argv[i]) < 0)
			r->code = FAILED;
	return r->code;
}

/* ---- drop, list, exists */

static int drop_one(void *ctx, const char *name)
{
	struct error err = ERROR_INIT;
	struct run *r = ctx;

	return reflog_drop(r->repo, name, &err) < 0 ? fail(r, &err) : 0;
}

static int run_drop(struct run *r, int argc, const char **argv)
{
	const struct option options[] = {
		FLAG(0, "all", &r->a.all, "drop the reflogs of all refs"),
		FLAG(0, "single-worktree", &r->a.single_worktree,
		     "process only the reflogs of this work tree"),
		{.kind = OPTION_END},
	};
	int nr = options_parse(argc, argv, options, drop_usage);
	struct error err = ERROR_INIT;

	if (nr < 0)
		return 129;
	if (nr && r->a.all) {
		fprintf(stderr,
			"usage: references specified along with --all\n");
		return 129;
	}
	if (r->a.all &&
	    reflog_each(r->repo, !r->a.single_worktree, drop_one, r, &err) < 0)
		return builtin_fail(&err);
	if (nr && check_storage(r))
		return r->code;
	for (int i = 1; i <= nr; i++) {
		char *full = find_log(r->repo, argv[i]);

		if (full)
			drop_one(r, full);
		else
			r->code = builtin_error("reflog could not be found: "
						"'%s'",
						argv[i]) &
				  FAILED;
		free(full);
	}
	return r->code;
}

/*
 * Prints the name of a reflog. As in stock Git, a reflog whose file is a
 * symbolic link is not listed.
 */
static int list_one(void *ctx, const char *name)
{
	const struct run *r = ctx;

	if (reflog_exists(r->repo, name))
		puts(name);
	return 0;
}

static int run_list(struct run *r, int argc, const char **argv)
{
	const struct option options[] = {{.kind = OPTION_END}};
	int nr = options_parse(argc, argv, options, list_usage);
	struct error err = ERROR_INIT;

	if (nr < 0)
		return 129;
	if (nr) {
		builtin_error("list does not accept arguments: '%s'", argv[1]);
		return FAILED;
	}
	return reflog_each(r->repo, false, list_one, r, &err) < 0
		       ? builtin_fail(&err)
		       : 0;
}

static int run_exists(struct run *r, int argc, const char **argv)
{
	const struct option options[] = {{.kind = OPTION_END}};
	int nr = options_parse(argc, argv, options, exists_usage);

	if (nr < 0)
		return 129;
	if (!nr)
		return options_usage(options, exists_usage);
	if (!refs_name_is_valid_len(argv[1], strlen(argv[1]), true))
		return builtin_die("invalid ref format: %s", argv[1]);
	return !reflog_exists(r->repo, argv[1]);
}

/* ---- the command */

static const struct {
	const char *name;
	int (*run)(struct run *r, int argc, const char **argv);
} subcommands[] = {
	{"expire", run_expire}, {"delete", run_delete}, {"drop", run_drop},
	{"list", run_list},     {"exists", run_exists},
};

int cmd_reflog(int argc, const char **argv, struct builtin_env *env)
{
	struct run r = {.code = 0};
	size_t i = 0;
	int ret;

	while (i < ARRAY_NR(subcommands) &&
	       (argc < 2 || strcmp(argv[1], subcommands[i].name) != 0))
		i++;
	if (i == ARRAY_NR(subcommands))
		return BUILTIN_NOT_OURS;
	ret = builtin_open_repo(env);
	if (ret)
		return ret;
	r.repo = env->repo;
	return builtin_finish(subcommands[i].run(&r, argc - 1, argv + 1));
}
