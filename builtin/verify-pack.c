/* SPDX-License-Identifier: MIT */
/* git verify-pack: checks packs, and lists their objects and delta chains. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "builtin/builtin.h"
#include "builtin/config-check.h"
#include "builtin/options.h"
#include "builtin/verify-pack.h"
#include "pack/chains.h"
#include "pack/verify.h"
#include "repo/repo.h"
#include "sys/io.h"
#include "sys/thread.h"

static const char usage[] = "git verify-pack [-v | --verbose] [-s | "
			    "--stat-only] [--] <pack>.idx...";

/*
 * Print <id> <type> <size> <size in the pack> <offset> [<depth> <id of base>].
 */
static int print_object(const struct pack_chains *c, uint32_t pack_pos,
			struct error *err)
{
	const struct pack_idx *idx = &c->pack->idx;
	uint64_t offset = pack_rev_offset(&c->rev, pack_pos);
	uint64_t end = pack_rev_offset(&c->rev, pack_pos + 1);
	uint32_t base = c->base[pack_pos];
	char hex[OID_MAX_HEX_LEN + 1];
	struct pack_entry entry;
	int ret = pack_entry_at(&entry, c->pack, offset, err);

	if (ret < 0)
		return ret;
	oid_raw_to_hex(hex,
		       pack_idx_oid(idx, pack_rev_idx_pos(&c->rev, pack_pos)),
		       c->pack->algo);
	printf("%s %-6s %" PRIu64 " %" PRIu64 " %" PRIu64, hex,
	       object_type_name(c->type[pack_pos]), entry.size, end - offset,
	       offset);
	if (base != PACK_CHAINS_WHOLE) {
		oid_raw_to_hex(
			hex, pack_idx_oid(idx, pack_rev_idx_pos(&c->rev, base)),
			c->pack->algo);
		printf(" %" PRIu32 " %s", c->depth[pack_pos], hex);
	}
	putchar('\n');
	return 0;
}

static int print_objects(const struct pack_chains *c, struct error *err)
{
	int ret = 0;

	for (uint32_t p = 0; p < c->nr && !ret; p++)
		ret = print_object(c, p, err);
	return ret;
}

static const char *objects(uint32_t nr)
{
	return nr == 1 ? "object" : "objects";
}

/*
 * For each length of delta chains, print the number of objects with a chain of
 * this length.
 */
static int print_histogram(const struct pack_chains *c, struct error *err)
{
	uint32_t *nr = mem_calloc((size_t)c->depth_max + 1, sizeof(*nr));

	if (!nr)
		return error_nomem(err);
	for (uint32_t p = 0; p < c->nr; p++)
		nr[c->depth[p]]++;
	if (nr[0])
		printf("non delta: %" PRIu32 " %s\n", nr[0], objects(nr[0]));
	for (uint32_t depth = 1; depth <= c->depth_max; depth++)
		printf("chain length = %" PRIu32 ": %" PRIu32 " %s\n", depth,
		       nr[depth], objects(nr[depth]));
	free(nr);
	return 0;
}

/*
 * Check that the pack contains no object twice. As in stock Git, a second copy
 * is an error.
 */
static int check_unique(const struct pack *pack, struct error *err)
{
	const struct pack_idx *idx = &pack->idx;
	char hex[OID_MAX_HEX_LEN + 1];

	for (uint32_t i = 1; i < idx->nr; i++)
		if (!memcmp(pack_idx_oid(idx, i - 1), pack_idx_oid(idx, i),
			    hash_len(pack->algo)))
			return error_set(
				err, ERR_CORRUPT,
				"The same object %s appears twice in the pack",
				oid_raw_to_hex(hex, pack_idx_oid(idx, i),
					       pack->algo));
	return 0;
}

/*
 * Check an open pack, and print the requested lists. With -s, objects are not
 * checked, and only the number of objects for each length of delta chains is
 * printed, as in stock Git.
 */
static int verify_opened(const struct verify_pack_request *rq,
			 const struct pack *pack, struct error *err)
{
	struct pack_chains chains;
	int ret = pack_chains_init(&chains, pack, err);

	if (ret < 0)
		return ret;
	ret = rq->stat_only ? pack_verify_files(pack, err)
			    : pack_verify(&chains, rq->threads, err);
	if (!ret && rq->verbose && !rq->stat_only)
		ret = print_objects(&chains, err);
	if (!ret && (rq->verbose || rq->stat_only))
		ret = print_histogram(&chains, err);
	if (!ret)
		ret = check_unique(pack, err);
	if (!ret)
		ret = pack_verify_rev(pack, err);
	pack_chains_release(&chains);
	return ret;
}

int verify_pack_base(const struct verify_pack_request *rq, const char *base,
		     struct error *err)
{
	struct pack *pack;
	int ret = pack_open(&pack, base, rq->algo, err);

	if (ret < 0)
		return ret;
	ret = verify_opened(rq, pack, err);
	pack_close(pack);
	return ret;
}

/*
 * Append the name of a pack without its suffix: `name` may end in .idx or
 * .pack.
 */
static int strip_name(struct buf *base, const char *name)
{
	size_t len = strlen(name);

	if (len >= 4 && !strcmp(name + len - 4, ".idx"))
		len -= 4;
	else if (len >= 5 && !strcmp(name + len - 5, ".pack"))
		len -= 5;
	return buf_append(base, name, len);
}

/*
 * Check that the index of the pack exists. Returns 0, or ERR_MISSING if it does
 * not.
 */
static int check_idx(const char *base, struct error *err)
{
	struct buf path = BUF_INIT;
	int ret = buf_printf(&path, "%s.idx", base);

	if (ret < 0)
		error_nomem(err);
	else if (!sys_exists(path.data))
		ret = error_set(err, ERR_MISSING,
				"Cannot open existing pack file '%s'",
				path.data);
	buf_release(&path);
	return ret;
}

/*
 * Returns whether the configuration keys of index-pack have correct values.
 * Prints an error if not. Call this once for each pack, because stock Git runs
 * index-pack for each pack, and so prints the error for each pack.
 */
static bool is_configured_well(const struct repo *repo)
{
	static const char *const index_pack[] = {"index-pack", NULL};

	return !repo ||
	       !config_check(&repo->config, config_check_groups(index_pack));
}

/*
 * Check one pack and print the requested lists, or an error. `repo` is NULL
 * outside of a repository. Returns whether the pack is correct.
 */
static bool verify_named(const struct verify_pack_request *rq,
			 const struct repo *repo, const char *name)
{
	struct buf base = BUF_INIT;
	struct error err = ERROR_INIT;
	bool is_good = false;

	if (strip_name(&base, name) < 0)
		builtin_error("out of memory");
	else if (!is_configured_well(repo))
		is_good = false;
	else if (check_idx(base.data, &err) < 0)
		builtin_fail(&err);
	else if (verify_pack_base(rq, base.data, &err) < 0)
		builtin_error("%s", err.msg);
	else
		is_good = true;
	if (!is_good && (rq->verbose || rq->stat_only))
		printf("%s.pack: bad\n", base.data);
	else if (rq->verbose && !rq->stat_only)
		printf("%s.pack: ok\n", base.data);
	buf_release(&base);
	return is_good;
}

/*
 * Returns pack.threads. If it is 0 or not set, returns the number of
 * processors.
 */
static unsigned choose_threads(const struct repo *repo)
{
	uint64_t nr = 0;

	if (repo)
		config_u64(&repo->config, "pack.threads", &nr, NULL);
	return nr && nr < 1024 ? (unsigned)nr : sys_cpu_nr();
}

int cmd_verify_pack(int argc, const char **argv, struct builtin_env *env)
{
	struct verify_pack_request rq = {0};
	const char *format = NULL;
	const struct option options[] = {
		{.kind = OPTION_FLAG,
		 .short_name = 'v',
		 .long_name = "verbose",
		 .flag = &rq.verbose,
		 .help = "print each object, and the lengths of the delta "
			 "chains"},
		{.kind = OPTION_FLAG,
		 .short_name = 's',
		 .long_name = "stat-only",
		 .flag = &rq.stat_only,
		 .help = "print only the number of delta chains of each "
			 "length"},
		{.kind = OPTION_STRING,
		 .long_name = "object-format",
		 .string = &format,
		 .arg_name = "<hash>",
		 .help = "hash function: sha1 or sha256"},
		{.kind = OPTION_END},
	};
	int operands = options_parse(argc, argv, options, usage);
	int code, bad = 0;

	if (operands < 0)
		return 129;
	if (!operands)
		return options_usage(options, usage);
	code = builtin_open_repo_gently(env);
	if (code)
		return code;
	code = builtin_choose_algo(env, &rq.algo, format);
	/*
	 * From here on, the exit code of an error is always 1. Stock Git runs a
	 * child process for each pack, and does not pass on the exit code of
	 * that child process.
	 */
	if (code)
		return 1;
	rq.threads = choose_threads(env->repo);
	for (int i = 1; i <= operands; i++)
		bad |= !verify_named(&rq, env->repo, argv[i]);
	return builtin_finish(bad);
}
