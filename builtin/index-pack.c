/* SPDX-License-Identifier: MIT */
/*
 * git index-pack: writes the index of a pack. It can also store a pack from
 * standard input with its index in the repository, or check a pack and its
 * index.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "builtin/builtin.h"
#include "builtin/input.h"
#include "builtin/lazy-fetch.h"
#include "builtin/options.h"
#include "builtin/output.h"
#include "builtin/pack-args.h"
#include "builtin/verify-pack.h"
#include "odb/fsck-config.h"
#include "odb/known-objects.h"
#include "odb/pack-check.h"
#include "indexer/indexer.h"
#include "repo/shallow.h"
#include "sys/io.h"

static const char usage_text[] =
	"git index-pack [-v] [-o <index-file>] [--keep | --keep=<msg>] "
	"[--[no-]rev-index] [--verify] [--strict[=<msg-id>=<severity>...]] "
	"[--fsck-objects[=<msg-id>=<severity>...]] (<pack-file> | --stdin "
	"[--fix-thin] "
	"[<pack-file>])";

enum {
	NOT_SELF_CONTAINED = 1, /* exit code */
};

struct args {
	bool from_stdin, fix_thin, verbose, resolve_progress, report_end;
	bool check_connected;
	bool verify, verify_stat, verify_stat_only;
	int rev_index; /* -1: as configured */
	uint64_t threads, max_input;
	const char *index_name, *pack_name, *keep, *promisor, *format;
	const char *index_version, *header, *title;
	/*
	 * values of --strict and --fsck-objects: lists of fsck messages; NULL:
	 * not given
	 */
	const char *strict, *fsck_objects;
};

/* One run of the command. */
struct run {
	struct args a;
	/* borrowed; NULL: the command runs outside of a repository */
	struct repo *repo;
	struct builtin_env *env; /* borrowed */
	enum hash_algo algo;
	/*
	 * owned: the objects that the repository has; NULL if there is no
	 * repository
	 */
	struct known_objects *known;
	struct pack_indexer_hooks known_hooks; /* hooks of `known` */
	struct pack_indexer_config config;
	struct fsck_rules rules;
	/*
	 * owned: the checks of --strict and similar options; NULL: none are
	 * requested
	 */
	struct pack_check *check;
	bool is_self_contained;
	/*
	 * ids of the blobs that trees name and that are missing, one on each
	 * line
	 */
	struct buf missing;
	struct pack_indexer_files files;
	struct pack_indexer *ix; /* owned */
	struct progress_out out;
	struct pack_input input;
	struct error *err;
};

static int set_rev_index(void *value, const char *arg)
{
	*(int *)value = arg != option_negated;
	return 0;
}

#define FLAG(name, field, text)                                                \
	{                                                                      \
		.kind = OPTION_FLAG, .long_name = name, .flag = &a->field,     \
		.help = text                                                   \
	}
#define FLAG_ONLY(name, field, text)                                           \
	{                                                                      \
		.kind = OPTION_FLAG, .long_name = name, .flag = &a->field,     \
		.flags = OPTION_NO_NEGATE, .help = text                        \
	}
#define STRING(name, field, arg, text)                                         \
	{                                                                      \
		.kind = OPTION_STRING, .long_name = name, .string = &a->field, \
		.arg_name = arg, .help = text                                  \
	}
#define MESSAGE(name, field, text)                                             \
	{                                                                      \
		.kind = OPTION_STRING, .long_name = name, .string = &a->field, \
		.flags = OPTION_OPTIONAL_ARG, .dflt = "", .arg_name = "<msg>", \
		.help = text                                                   \
	}

#define LIST(name, field, text)                                                \
	{                                                                      \
		.kind = OPTION_STRING, .long_name = name, .string = &a->field, \
		.flags = OPTION_OPTIONAL_ARG | OPTION_NO_NEGATE, .dflt = "",   \
		.arg_name = "<msg-id>=<severity>...", .help = text             \
	}

static int parse(struct args *a, int argc, const char **argv)
{
	const struct option options[] = {
		{.kind = OPTION_FLAG,
		 .short_name = 'v',
		 .flag = &a->verbose,
		 .help = "show progress"},
		{.kind = OPTION_STRING,
		 .short_name = 'o',
		 .string = &a->index_name,
		 .arg_name = "<index-file>",
		 .help = "name of the index file to write"},
		FLAG("stdin", from_stdin, "read the pack from stdin"),
		FLAG("fix-thin", fix_thin, "append missing bases of deltas"),
		MESSAGE("keep", keep, "make a .keep file"),
		MESSAGE("promisor", promisor, "make a .promisor file"),
		{.kind = OPTION_CALLBACK,
		 .long_name = "rev-index",
		 .value = &a->rev_index,
		 .flags = OPTION_NO_ARG,
		 .fn = set_rev_index,
		 .help = "write a reverse index"},
		LIST("strict", strict, "check objects, and what they name"),
		LIST("fsck-objects", fsck_objects, "check objects"),
		STRING("index-version", index_version, "<version>[,<offset>]",
		       "of the index: 1 or 2"),
		STRING("object-format", format, "<hash-algorithm>",
		       "sha1 or sha256"),
		{.kind = OPTION_U64,
		 .long_name = "threads",
		 .u64 = &a->threads,
		 .help = "number of threads; 0: as many as processors"},
		{.kind = OPTION_U64,
		 .long_name = "max-input-size",
		 .u64 = &a->max_input,
		 .arg_name = "<size>",
		 .help = "refuse a pack larger than <n> bytes"},
		STRING("progress-title", title, NULL, NULL),
		STRING("pack_header", header, NULL, NULL),
		FLAG("show-resolving-progress", resolve_progress, NULL),
		FLAG("report-end-of-input", report_end, NULL),
		FLAG("check-self-contained-and-connected", check_connected,
		     NULL),
		FLAG_ONLY("verify", verify, "check the pack and its index"),
		FLAG_ONLY("verify-stat", verify_stat,
			  "same as --verify, and list the objects"),
		FLAG_ONLY("verify-stat-only", verify_stat_only,
			  "print the number of delta chains of each length"),
		{.kind = OPTION_END},
	};
	int operands = options_parse(argc, argv, options, usage_text);

	if (operands < 0)
		return 129;
	if (operands > 1 || (!operands && !a->from_stdin))
		return options_usage(options, usage_text);
	a->pack_name = operands ? argv[1] : NULL;
	a->verify |= a->verify_stat || a->verify_stat_only;
	return 0;
}

static int check_args(struct run *r)
{
	const struct args *a = &r->a;

	if (a->fix_thin && !a->from_stdin)
		return error_set(r->err, ERR_INVALID,
				 "the option '--fix-thin' requires '--stdin'");
	if (a->promisor && a->pack_name)
		return error_set(r->err, ERR_INVALID,
				 "--promisor cannot be used with a pack name");
	if (a->verify && !a->pack_name)
		return error_set(r->err, ERR_INVALID,
				 "--verify with no packfile name given");
	if (a->verify && a->from_stdin)
		return error_set(r->err, ERR_INVALID,
				 "options '--verify' and '--stdin' cannot be "
				 "used together");
	if (a->from_stdin && a->format)
		return error_set(r->err, ERR_INVALID,
				 "options '--object-format' and '--stdin' "
				 "cannot be used together");
	if (a->from_stdin && !r->repo)
		return error_set(r->err, ERR_MISSING,
				 "--stdin requires a git repository");
	return 0;
}

/* Choose the index version from --index-version or the configuration. */
static int choose_version(struct run *r)
{
	const char *text = r->a.index_version;
	uint64_t version = 2;
	int ret = 0;

	if (text)
		return pack_args_index_version(&r->files.idx_format, text,
					       NULL) < 0
			       ? error_set(r->err, ERR_INVALID,
					   "bad --index-version=%s", text)
			       : 0;
	if (r->repo)
		ret = config_u64(&r->repo->config, "pack.indexversion",
				 &version, r->err);
	if (ret < 0)
		return ret;
	if (version != 1 && version != 2)
		return error_set(r->err, ERR_INVALID,
				 "bad pack.indexVersion=%" PRIu64, version);
	r->files.idx_format.version = (unsigned)version;
	return 0;
}

static int load_config(struct run *r, bool *rev_index)
{
	int ret = config_bool(&r->repo->config, "pack.writereverseindex",
			      rev_index, r->err);

	if (ret >= 0)
		ret = repo_fsync_method(r->repo, REPO_FSYNC_PACK,
					&r->files.fsync_pack, r->err);
	if (ret >= 0)
		ret = repo_fsync_method(r->repo, REPO_FSYNC_PACK_METADATA,
					&r->files.fsync_metadata, r->err);
	return ret < 0 ? ret : 0;
}

static int load_options(struct run *r)
{
	const struct progress_out *out = NULL;
	bool rev_index = true;
	int ret = pack_indexer_config_load(
		&r->config, r->repo ? &r->repo->config : NULL, r->err);

	r->files.fsync_pack = r->files.fsync_metadata = SYS_FSYNC_FSYNC;
	if (!ret && r->repo)
		ret = load_config(r, &rev_index);
	if (!ret)
		ret = choose_version(r);
	if (!ret)
		ret = pack_input_take_header(&r->input, r->a.header, r->err);
	if (ret < 0)
		return ret;
	if (r->a.threads != UINT64_MAX)
		r->config.threads = pack_indexer_threads(r->a.threads);
	if (r->a.rev_index < 0)
		r->a.rev_index = rev_index;
	if (r->a.verbose || r->a.resolve_progress)
		out = output_progress(&r->out, PROGRESS_ON);
	r->config.algo = r->algo;
	r->config.share = r->repo ? r->repo->share : 0;
	r->config.max_len = r->a.max_input;
	r->config.parse_title = r->a.title        ? r->a.title
				: r->a.from_stdin ? "Receiving objects"
						  : "Indexing objects";
	r->config.parse_progress = r->a.verbose ? out : NULL;
	r->config.resolve_progress = out;
	return 0;
}

/*
 * Let the indexer look up the repository's objects. A stored object can be the
 * delta base that a thin pack lacks. If a received object has the id of a
 * stored one, both are compared.
 */
static int use_known_objects(struct run *r)
{
	const struct odb_provider *provider;
	int ret;

	if (!r->repo)
		return 0;
	ret = known_objects_open(&r->known, r->repo, r->config.threads, r->err);
	if (!ret)
		ret = lazy_fetch_provider(&provider, r->env, LAZY_FETCH_LISTED,
					  r->err);
	if (ret < 0)
		return ret;
	known_objects_set_provider(r->known, provider);
	r->known_hooks = known_objects_hooks(r->known);
	r->config.hooks = r->known_hooks;
	if (!r->a.fix_thin)
		r->config.hooks.base = NULL;
	return 0;
}

/* ---- --strict, --fsck-objects, --check-self-contained-and-connected */

static int on_report(void *ctx, const struct fsck_report *report,
		     struct error *err)
{
	const struct run *r = ctx;

	return pack_input_report(r->algo, report);
}

static int load_rules(struct run *r)
{
	int ret = 0;

	fsck_rules_init(&r->rules, r->algo, true);
	if (r->a.strict)
		ret = fsck_config_list(&r->rules, r->a.strict, r->err);
	if (!ret && r->a.fsck_objects)
		ret = fsck_config_list(&r->rules, r->a.fsck_objects, r->err);
	return ret;
}

static int prepare_check(struct run *r)
{
	const struct pack_check_options options = {
		.rules = r->a.strict || r->a.fsck_objects ? &r->rules : NULL,
		.links = r->a.strict || r->a.check_connected,
		.threads = r->config.threads,
		.algo = r->algo,
		.report = on_report,
		.ctx = r,
	};
	int ret;

	if (!options.rules && !options.links)
		return 0;
	ret = load_rules(r);
	if (ret < 0)
		return ret;
	r->check = pack_check_new(&options);
	r->config.hooks.object = pack_check_object;
	r->config.hooks.object_ctx = r->check;
	if (!r->check)
		return error_nomem(r->err);
	return r->repo ? repo_shallow_each(r->repo, pack_check_add_boundary,
					   r->check, r->err)
		       : 0;
}

static void note_missing(void *ctx, const struct oid *oid)
{
	char hex[OID_MAX_HEX_LEN + 1];
	struct run *r = ctx;

	buf_printf(&r->missing, "%s\n", oid_to_hex(hex, oid, r->algo));
}

static int finish_check(struct run *r)
{
	int ret = 0;

	if (!r->check)
		return 0;
	if (r->a.strict || r->a.check_connected)
		ret = pack_check_links(r->check, &r->known_hooks,
				       &r->is_self_contained, r->err);
	if (!ret)
		ret = pack_check_blobs(r->check, r->ix, &r->known_hooks,
				       note_missing, r, r->err);
	return ret;
}

/* ---- the pack */

static bool is_regular(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
}

/* Returns the directory part of a path, malloc()ed. */
static char *dir_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? mem_strndup(path, (size_t)(slash - path) + 1)
		     : mem_strdup(".");
}

static int receive(struct run *r)
{
	struct pack_source source = pack_input_source(&r->input);
	char *dir = r->a.pack_name ? dir_of(r->a.pack_name)
				   : repo_object_path(r->repo, "pack");
	int ret = dir ? 0 : error_nomem(r->err);

	source.must_end = is_regular(STDIN_FILENO);
	if (!ret)
		ret = sys_mkdir_shared(dir, r->repo->share, r->err);
	if (!ret)
		ret = pack_indexer_receive(r->ix, source, dir, r->err);
	/*
	 * --report-end-of-input: write a zero byte when the whole pack was
	 * read. The parent process then starts to send keep-alive packets to
	 * its client.
	 */
	if (!ret && r->a.report_end)
		ret = sys_write_all(STDERR_FILENO, "", 1, "standard error",
				    r->err);
	free(dir);
	return ret;
}

static int index_pack(struct run *r)
{
	int ret;

	r->ix = pack_indexer_new(&r->config);
	if (!r->ix)
		return error_nomem(r->err);
	ret = r->a.from_stdin
		      ? receive(r)
		      : pack_indexer_open(r->ix, r->a.pack_name, r->err);
	if (!ret)
		ret = pack_indexer_resolve(r->ix, r->err);
	if (!ret && (r->a.strict || r->a.check_connected))
		ret = pack_indexer_check_unique(r->ix, r->err);
	return ret < 0 ? ret : finish_check(r);
}

/*
 * Set *out to a copy of `path` in which the extension `to` takes the place of
 * the extension `from`. The caller frees *out.
 */
static int derive(struct run *r, const char **out, const char *path,
		  const char *from, const char *to)
{
	size_t len = strlen(path), from_len = strlen(from);
	struct buf b = BUF_INIT;

	if (len < from_len || strcmp(path + len - from_len, from) != 0)
		return error_set(r->err, ERR_INVALID,
				 "packfile name '%s' does not end with '%s'",
				 path, from);
	if (buf_append(&b, path, len - from_len) < 0 ||
	    buf_append_str(&b, to) < 0) {
		buf_release(&b);
		return error_nomem(r->err);
	}
	*out = buf_detach(&b, NULL);
	return 0;
}

/*
 * Set *out to the path at which the pack is or will be stored. *out is
 * malloc()ed.
 */
static int name_pack(struct run *r, const char **out)
{
	char hex[OID_MAX_HEX_LEN + 1], name[sizeof(hex) + 16];
	struct pack_indexer_result result;

	if (r->a.pack_name) {
		*out = mem_strdup(r->a.pack_name);
	} else {
		pack_indexer_result(r->ix, &result);
		snprintf(name, sizeof(name), "pack/pack-%s.pack",
			 oid_to_hex(hex, &result.checksum, r->algo));
		*out = repo_object_path(r->repo, name);
	}
	return *out ? 0 : error_nomem(r->err);
}

/*
 * Set the path of the .idx file: the path that an argument gives, or else a
 * path derived from that of the pack. If a .rev file is wanted, derive its path
 * from that of the .idx file.
 */
static int name_indexes(struct run *r, const char *pack)
{
	struct pack_indexer_files *f = &r->files;
	int ret = 0;

	if (r->a.index_name)
		f->idx = mem_strdup(r->a.index_name);
	else
		ret = derive(r, &f->idx, pack, ".pack", ".idx");
	if (!ret && !f->idx)
		ret = error_nomem(r->err);
	if (!ret && r->a.rev_index)
		ret = derive(r, &f->rev, f->idx, ".idx", ".rev");
	return ret;
}

static int name_marks(struct run *r, const char *pack)
{
	struct pack_indexer_files *f = &r->files;
	int ret = 0;

	f->keep_text = r->a.keep;
	f->promisor_text = r->a.promisor;
	if (r->a.keep)
		ret = derive(r, &f->keep, pack, ".pack", ".keep");
	if (!ret && r->a.promisor)
		ret = derive(r, &f->promisor, pack, ".pack", ".promisor");
	return ret;
}

static int write_files(struct run *r)
{
	const char *pack;
	int ret = name_pack(r, &pack);

	if (!ret)
		ret = name_indexes(r, pack);
	if (!ret)
		ret = name_marks(r, pack);
	if (r->a.from_stdin)
		r->files.pack = pack;
	if (!ret)
		ret = pack_indexer_write(r->ix, &r->files, r->err);
	free((char *)pack);
	r->files.pack = NULL;
	return ret;
}

static void print_result(struct run *r, bool kept)
{
	struct pack_indexer_result result;
	char hex[OID_MAX_HEX_LEN + 1];

	pack_indexer_result(r->ix, &result);
	if (r->a.verbose && result.appended_nr)
		fprintf(stderr, "completed with %" PRIu32 " local object%s\n",
			result.appended_nr, result.appended_nr == 1 ? "" : "s");
	if (r->a.from_stdin)
		printf("%s\t", kept ? "keep" : "pack");
	puts(oid_to_hex(hex, &result.checksum, r->algo));
	fwrite(r->missing.data, 1, r->missing.len, stdout);
	fwrite(r->input.rest.data, 1, r->input.rest.len, stdout);
}

/* ---- --verify */

/*
 * Check the file `pack` and its index, the file `idx`. `base` is the path of
 * both files without the suffix. With --verify-stat or --verify-stat-only, also
 * prints lists in the format of `git verify-pack`.
 */
static int verify_files(struct run *r, const char *idx, const char *base,
			const char *pack)
{
	const struct verify_pack_request request = {
		.verbose = r->a.verify_stat,
		.stat_only = r->a.verify_stat_only,
		.algo = r->algo,
		.threads = r->config.threads,
	};

	if (access(pack, F_OK) < 0)
		return error_set(r->err, ERR_MISSING,
				 "Cannot open existing pack file '%s'", idx);
	if (access(idx, F_OK) < 0)
		return error_set(r->err, ERR_MISSING,
				 "Cannot open existing pack idx file for '%s'",
				 idx);
	return verify_pack_base(&request, base, r->err);
}

/*
 * Run index-pack --verify. As in stock Git, -o names the index, and the pack of
 * the same name is checked.
 */
static int verify(struct run *r)
{
	const char *base = NULL, *pack = NULL, *idx;
	int ret = name_indexes(r, r->a.pack_name);

	idx = r->files.idx;
	if (!ret)
		ret = derive(r, &base, idx, ".idx", "");
	if (!ret)
		ret = derive(r, &pack, idx, ".idx", ".pack");
	if (!ret)
		ret = verify_files(r, idx, base, pack);
	/*
	 * verify_files() does not run the checks of --strict and similar
	 * options, which read the content of objects. These checks are run by
	 * indexing the pack.
	 */
	if (!ret && r->check)
		ret = index_pack(r);
	free((char *)base);
	free((char *)pack);
	return ret;
}

static int run_all(struct run *r)
{
	const char *name = NULL;
	int ret = check_args(r);

	if (!ret)
		ret = load_options(r);
	/*
	 * Check the name of the pack before the pack is read, so that a wrong
	 * name is reported before a long wait.
	 */
	if (!ret && r->a.pack_name) {
		ret = name_pack(r, &name);
		if (!ret)
			ret = name_indexes(r, name);
		free((char *)name);
		free((char *)r->files.idx);
		free((char *)r->files.rev);
		r->files.idx = r->files.rev = NULL;
	}
	if (!ret)
		ret = use_known_objects(r);
	if (!ret)
		ret = prepare_check(r);
	if (!ret && r->a.verify)
		return verify(r);
	if (!ret)
		ret = index_pack(r);
	if (!ret)
		ret = write_files(r);
	if (ret >= 0)
		print_result(r, ret > 0);
	return ret;
}

static void run_release(struct run *r)
{
	pack_indexer_free(r->ix);
	pack_check_free(r->check);
	fsck_rules_release(&r->rules);
	known_objects_close(r->known);
	free((char *)r->files.idx);
	free((char *)r->files.rev);
	free((char *)r->files.keep);
	free((char *)r->files.promisor);
	pack_input_release(&r->input);
	buf_release(&r->missing);
}

int cmd_index_pack(int argc, const char **argv, struct builtin_env *env)
{
	struct error err = ERROR_INIT;
	struct run r = {
		.a = {.rev_index = -1, .threads = UINT64_MAX},
		.input = PACK_INPUT_INIT,
		.missing = BUF_INIT,
		.err = &err,
	};
	int ret = parse(&r.a, argc, argv);

	if (!ret)
		ret = builtin_choose_algo(env, &r.algo, r.a.format);
	/*
	 * A pack must not be added to a local copy of a repository in a store,
	 * because the store would not get its objects.
	 */
	if (!ret && r.a.from_stdin && env->repo &&
	    repo_check_copy(env->repo, "add a pack", &err) < 0)
		ret = builtin_fail(&err);
	if (ret)
		return ret;
	r.repo = env->repo;
	r.env = env;
	ret = run_all(&r);
	run_release(&r);
	if (ret < 0)
		return builtin_fail(&err);
	return builtin_finish(r.a.check_connected && !r.is_self_contained
				      ? NOT_SELF_CONTAINED
				      : 0);
}
