/* SPDX-License-Identifier: MIT */
/*
 * git bundle: reads bundles. A bundle is one file with refs and a pack, for
 * transport without a connection. bundle-create.c creates bundles.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "builtin/bundle-parts.h"
#include "builtin/child.h"
#include "builtin/options.h"
#include "builtin/store.h"
#include "pack/bundle.h"
#include "sys/io.h"
#include "sys/spawn.h"
#include "walk/filter.h"
#include "walk/ref-tips.h"
#include "walk/walk.h"

#define READ_LEN ((size_t)1 << 16)

static const char usage_text[] =
	"git bundle create [-q | --quiet | --progress]\n"
	"[--version=<version>] <file> <git-rev-list-args>\n"
	"git bundle verify [-q | --quiet] <file>\n"
	"git bundle list-heads <file> [<refname>...]\n"
	"git bundle unbundle [--progress] <file> [<refname>...]";
static const char verify_usage[] = "git bundle verify [-q | --quiet] <file>";
static const char list_usage[] = "git bundle list-heads <file> [<refname>...]";
static const char unbundle_usage[] =
	"git bundle unbundle [--progress] <file> [<refname>...]";

/* A bundle that is being read. */
struct bundle {
	const char *name; /* borrowed */
	int fd;
	/*
	 * the bytes of the file that were read so far: the header of the
	 * bundle, and the first bytes of the pack
	 */
	struct buf ahead;
	size_t header_len;
	struct bundle_header header;
};

static int read_more(struct bundle *b, bool *is_all, struct error *err)
{
	ssize_t n;

	if (buf_reserve(&b->ahead, b->ahead.len + READ_LEN) < 0)
		return error_nomem(err);
	n = sys_read_some(b->fd, b->ahead.data + b->ahead.len,
			  b->ahead.len + READ_LEN, b->name, err);
	if (n < 0)
		return (int)n;
	buf_set_len(&b->ahead, b->ahead.len + (size_t)n);
	*is_all = !n;
	return 0;
}

/*
 * Read the header of the bundle. Read twice as many bytes at each try, until
 * the header is complete.
 */
static int read_header(struct bundle *b, struct error *err)
{
	bool is_all = false;
	int ret;

	do {
		ret = read_more(b, &is_all, err);
		if (ret < 0)
			return ret;
		bundle_header_release(&b->header);
		ret = bundle_header_parse(&b->header, &b->header_len,
					  b->ahead.data, b->ahead.len, is_all,
					  b->name, err);
	} while (!ret);
	return ret < 0 ? ret : 0;
}

/*
 * Check that the bundle's filter, if it has one, is a filter that we know.
 * Returns 0, or prints an error and returns the exit code.
 */
static int check_filter(const struct bundle_header *header)
{
	struct error err = ERROR_INIT;
	struct filter filter;
	int ret;

	if (!header->filter)
		return 0;
	filter_init(&filter);
	ret = filter_add(&filter, header->filter, &err);
	filter_release(&filter);
	return ret < 0 ? builtin_fail(&err) : 0;
}

/*
 * Open a bundle. Returns 0, or prints an error and returns the exit code. The
 * caller must close *b in both cases.
 */
static int bundle_open(struct bundle *b, const char *file)
{
	struct error err = ERROR_INIT;
	bool is_stdin = !strcmp(file, "-");
	uint64_t len;

	*b = (struct bundle){
		.name = is_stdin ? "<stdin>" : file,
		.fd = is_stdin ? STDIN_FILENO : sys_open_read(file, &len, NULL),
		.ahead = BUF_INIT,
	};
	bundle_header_init(&b->header, HASH_SHA1);
	if (b->fd < 0) {
		builtin_error("could not open '%s'", file);
		return 1;
	}
	if (read_header(b, &err) < 0) {
		builtin_error("%s", err.msg);
		return 1;
	}
	return check_filter(&b->header);
}

static void bundle_close(struct bundle *b)
{
	if (b->fd > STDIN_FILENO)
		close(b->fd);
	buf_release(&b->ahead);
	bundle_header_release(&b->header);
}

/*
 * Print the refs in `names`, which ends with NULL. An empty list means all
 * refs.
 */
static void print_refs(const struct bundle *b, const char *const *names)
{
	const struct bundle_items *refs = &b->header.refs;
	char hex[OID_MAX_HEX_LEN + 1];

	for (size_t i = 0; i < refs->nr; i++) {
		const struct bundle_item *ref = &refs->items[i];
		const char *const *name = names;

		while (*name && strcmp(*name, ref->text) != 0)
			name++;
		if (!*names || *name)
			printf("%s %s\n",
			       oid_to_hex(hex, &ref->oid, b->header.algo),
			       ref->text);
	}
}

static int need_file(const struct option *options, const char *usage)
{
	builtin_die("%s\n", "need a <file> argument");
	return options_usage(options, usage);
}

static int list_heads(int argc, const char **argv, struct builtin_env *env)
{
	const struct option options[] = {{.kind = OPTION_END}};
	int operands = options_parse(argc, argv, options, list_usage), ret;
	struct bundle b;

	if (operands < 0)
		return 129;
	if (!operands)
		return need_file(options, list_usage);
	ret = bundle_open(&b, argv[1]);
	if (!ret)
		print_refs(&b, argv + 2);
	bundle_close(&b);
	return ret;
}

/* ---- prerequisites */

/*
 * Find out whether `oid` is the id of a commit that the repository has. Returns
 * 1 if so, 0 if not, or a negative error code.
 */
static int is_here(const struct store *store, const struct oid *oid,
		   struct error *err)
{
	struct odb_object obj = ODB_OBJECT_INIT;
	int ret = odb_read(store->reader, oid, &obj, err);
	bool is_commit = !ret && obj.type == OBJ_COMMIT;

	odb_object_release(store->reader, &obj);
	return ret == ERR_MISSING ? 0 : ret < 0 ? ret : is_commit;
}

/*
 * Look for the prerequisites in the repository. Returns 0 if all exist, 1 if
 * one is missing, or a negative error code. Missing prerequisites are printed,
 * unless `quiet` is set.
 */
static int find_missing(const struct bundle *b, const struct store *store,
			bool quiet, struct error *err)
{
	const struct bundle_items *needed = &b->header.prerequisites;
	char hex[OID_MAX_HEX_LEN + 1];
	int missing = 0;

	for (size_t i = 0; i < needed->nr; i++) {
		const struct bundle_item *item = &needed->items[i];
		int ret = is_here(store, &item->oid, err);

		if (ret < 0)
			return ret;
		if (!ret && !missing++ && !quiet)
			builtin_error("Repository lacks these prerequisite "
				      "commits:");
		if (!ret && !quiet)
			builtin_error("%s ", oid_to_hex(hex, &item->oid,
							b->header.algo));
	}
	return missing != 0;
}

/*
 * Check that all objects that the prerequisites reach exist. Returns 0 if they
 * do, 1 after printing an error, or a negative error code.
 */
static int check_history(const struct bundle *b, const struct store *store,
			 struct error *err)
{
	const struct bundle_items *needed = &b->header.prerequisites;
	const struct walk_options options = {.objects = true, .set_only = true};
	struct walk_tips wants = WALK_TIPS_INIT, haves = WALK_TIPS_INIT;
	struct walk_result found = WALK_RESULT_INIT;
	struct walk w;
	int ret = walk_open(&w, store->odb, NULL, 0, err);

	if (ret < 0)
		return ret;
	for (size_t i = 0; i < needed->nr && !ret; i++)
		ret = walk_add_tip(&w, &wants, &needed->items[i].oid, false,
				   err);
	if (!ret)
		ret = ref_tips_add(&w, &haves, store->refs, "", err);
	if (!ret)
		ret = walk_enumerate(&found, &w, &wants, &haves, &options, err);
	walk_result_release(&found);
	walk_tips_release(&wants);
	walk_tips_release(&haves);
	walk_close(&w);
	if (ret != ERR_MISSING)
		return ret;
	builtin_error("some prerequisite commits exist in the object store, "
		      "but are not connected to the repository's history");
	return 1;
}

static void print_count(const char *what, size_t nr)
{
	if (nr == 1)
		printf("The bundle %s this ref:\n", what);
	else
		printf("The bundle %s these %zu refs:\n", what, nr);
}

static void describe(const struct bundle *b)
{
	const struct bundle_header *h = &b->header;
	static const char *const none[] = {NULL};
	char hex[OID_MAX_HEX_LEN + 1];

	print_count("contains", h->refs.nr);
	print_refs(b, none);
	if (!h->prerequisites.nr)
		puts("The bundle records a complete history.");
	else
		print_count("requires", h->prerequisites.nr);
	for (size_t i = 0; i < h->prerequisites.nr; i++)
		printf("%s \n", oid_to_hex(hex, &h->prerequisites.items[i].oid,
					   h->algo));
	printf("The bundle uses this hash algorithm: %s\n", hash_name(h->algo));
	if (h->filter)
		printf("The bundle uses this filter: %s\n", h->filter);
}

/*
 * Check that the bundle can be applied to this repository. Returns 0 if it can,
 * 1 after printing an error, or a negative error code.
 */
static int check(const struct bundle *b, const struct store *store,
		 bool describes, bool quiet, struct error *err)
{
	int ret = find_missing(b, store, quiet, err);

	if (ret)
		return ret;
	if (describes)
		describe(b);
	return b->header.prerequisites.nr ? check_history(b, store, err) : 0;
}

static int check_in(const struct bundle *b, struct builtin_env *env,
		    bool describes, bool quiet)
{
	struct error err = ERROR_INIT;
	struct store store;
	int ret = store_open(&store, env);

	if (ret)
		return ret;
	ret = check(b, &store, describes, quiet, &err);
	store_close(&store);
	return ret < 0 ? builtin_fail(&err) : ret;
}

static int verify(int argc, const char **argv, struct builtin_env *env)
{
	bool quiet = false;
	const struct option options[] = {
		{.kind = OPTION_FLAG,
		 .short_name = 'q',
		 .long_name = "quiet",
		 .flag = &quiet,
		 .help = "print nothing but errors"},
		{.kind = OPTION_END},
	};
	int operands = options_parse(argc, argv, options, verify_usage), ret;
	struct bundle b;

	if (operands < 0)
		return 129;
	if (!operands)
		return need_file(options, verify_usage);
	ret = builtin_open_repo_gently(env);
	if (!ret && !env->repo) {
		builtin_error("need a repository to verify a bundle");
		return 1;
	}
	if (ret)
		return ret;
	ret = bundle_open(&b, argv[1]);
	if (!ret)
		ret = check_in(&b, env, !quiet, quiet);
	if (!ret)
		fprintf(stderr, "%s is okay\n", b.name);
	bundle_close(&b);
	return ret;
}

/* ---- unbundle */

/* Write the pack of the bundle to `fd`, without the header of the bundle. */
static int feed(struct bundle *b, int fd, struct error *err)
{
	const char *from = b->ahead.data + b->header_len;
	size_t len = b->ahead.len - b->header_len;
	int ret = sys_write_all(fd, from, len, "index-pack", err);
	bool is_all = false;

	while (!ret && !is_all) {
		buf_reset(&b->ahead);
		ret = read_more(b, &is_all, err);
		if (!ret)
			ret = sys_write_all(fd, b->ahead.data, b->ahead.len,
					    "index-pack", err);
	}
	return ret;
}

/*
 * Run index-pack as a child process. Its standard output, the name of the pack,
 * is dropped. Its error messages are printed.
 */
static int run_index_pack(struct bundle *b, struct child_words *w,
			  struct error *err)
{
	struct sys_child child;
	sigset_t before;
	int fed, ret = w->failed ? error_nomem(err)
				 : sys_spawn(&child, w->items, NULL,
					     SYS_SPAWN_PIPE_IN |
						     SYS_SPAWN_NULL_OUT,
					     err);

	if (ret < 0)
		return ret;
	sys_sigpipe_block(&before);
	fed = feed(b, child.in, err);
	sys_sigpipe_restore(&before);
	ret = sys_spawn_wait(&child, err);
	if (ret > 0)
		return error_set(err, ERR_PEER, "index-pack died");
	return fed < 0 ? fed : ret;
}

static int store_pack(struct bundle *b, bool progress, struct error *err)
{
	static const char *const words[] = {"index-pack", "--fix-thin",
					    "--stdin", NULL};
	struct child_words w = child_git(words);
	int ret;

	if (progress) {
		child_add(&w, "-v");
		child_add(&w, "--progress-title=Unbundling objects");
	}
	if (b->header.filter)
		child_add(&w, "--promisor=from-bundle");
	ret = run_index_pack(b, &w, err);
	child_words_release(&w);
	return ret;
}

static int unbundle(int argc, const char **argv, struct builtin_env *env)
{
	bool progress = false;
	const struct option options[] = {
		{.kind = OPTION_FLAG,
		 .long_name = "progress",
		 .flag = &progress,
		 .help = "show progress meter"},
		{.kind = OPTION_END},
	};
	int operands = options_parse(argc, argv, options, unbundle_usage), ret;
	struct error err = ERROR_INIT;
	struct bundle b;

	if (operands < 0)
		return 129;
	if (!operands)
		return need_file(options, unbundle_usage);
	ret = builtin_open_repo_gently(env);
	if (ret || !env->repo)
		return ret ? ret
			   : builtin_die("Need a repository to unbundle.");
	ret = bundle_open(&b, argv[1]);
	if (!ret)
		ret = check_in(&b, env, false, false);
	if (!ret && store_pack(&b, progress, &err) < 0) {
		builtin_error("%s", err.msg);
		ret = 1;
	}
	if (!ret)
		print_refs(&b, argv + 2);
	bundle_close(&b);
	return ret;
}

int cmd_bundle(int argc, const char **argv, struct builtin_env *env)
{
	static const struct subcommand subcommands[] = {
		{"create", bundle_create},
		{"verify", verify},
		{"list-heads", list_heads},
		{"unbundle", unbundle},
		{NULL, NULL},
	};

	return subcommand_run(subcommands, usage_text, argc, argv, env);
}
