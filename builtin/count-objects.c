/* SPDX-License-Identifier: MIT */
/* git count-objects: prints the number of objects and their size on disk. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "base/strlist.h"
#include "builtin/output.h"
#include "builtin/options.h"
#include "builtin/store.h"
#include "sys/io.h"

static const char usage[] = "git count-objects [-v] [-H | --human-readable]";

struct count {
	struct store store;
	bool verbose, human;
	/* number and size on disk of the loose objects */
	uint64_t loose_nr, loose_bytes;
	/* number of loose objects that are also in a pack */
	uint64_t packable_nr;
	uint64_t garbage_nr, garbage_bytes;
	uint64_t packed_nr, pack_nr, pack_bytes;
	/*
	 * owned: the working directory; this prefix is removed from paths
	 * before they are printed
	 */
	char *cwd;
};

/* ---- garbage */

static void report(struct count *c, const char *what, const char *path)
{
	size_t len = strlen(c->cwd);
	struct stat st;

	c->garbage_nr++;
	if (!stat(path, &st))
		c->garbage_bytes += (uint64_t)st.st_size;
	if (!strncmp(path, c->cwd, len) && path[len] == '/')
		path += len + 1;
	builtin_warn("%s: %s", what, path);
}

static bool is_hex(const char *s)
{
	return !s[strspn(s, "0123456789abcdef")];
}

static int collect(void *ctx, const char *name)
{
	return strlist_add(ctx, name);
}

/* Set *names to the sorted names of the files in a directory. */
static int list(struct strlist *names, const char *dir)
{
	struct error err = ERROR_INIT;
	int ret = sys_dir_each(dir, collect, names, &err);

	strlist_sort(names);
	if (ret == ERR_MISSING)
		return 0;
	return ret < 0 ? builtin_fail(&err) : 0;
}

static bool has(const struct strlist *names, const char *base, size_t base_len,
		const char *ext)
{
	size_t i;

	for (i = 0; i < names->nr; i++)
		if (!strncmp(names->items[i], base, base_len) &&
		    !strcmp(names->items[i] + base_len, ext))
			return true;
	return false;
}

/*
 * Returns whether a file is a multi-pack-index, a chain of multi-pack-indexes,
 * or one of their side files.
 */
static bool is_midx_file(const char *name)
{
	static const char midx[] = "multi-pack-index";
	const char *dot = strrchr(name, '.');

	if (strncmp(name, midx, strlen(midx)) != 0)
		return false;
	return !strcmp(name + strlen(midx), "") ||
	       !strcmp(name + strlen(midx), ".d") ||
	       (dot && (!strcmp(dot, ".bitmap") || !strcmp(dot, ".rev")));
}

/*
 * Returns a text that says what is wrong with a file of the pack directory, or
 * NULL if nothing is wrong.
 */
static const char *problem_of(const struct strlist *names, const char *name)
{
	static const char *const known[] = {
		".pack",   ".idx",      ".rev",    ".keep",
		".bitmap", ".promisor", ".mtimes",
	};
	const char *dot = strrchr(name, '.');
	bool pack, idx;
	size_t i;

	if (is_midx_file(name))
		return NULL;
	for (i = 0; dot && i < ARRAY_NR(known); i++)
		if (!strcmp(dot, known[i]))
			break;
	if (!dot || i == ARRAY_NR(known))
		return "garbage found";
	pack = has(names, name, (size_t)(dot - name), ".pack");
	idx = has(names, name, (size_t)(dot - name), ".idx");
	if (pack && idx)
		return NULL;
	if (pack)
		return "no corresponding .idx";
	return idx ? "no corresponding .pack"
		   : "no corresponding .idx or .pack";
}

static int judge_packs(struct count *c)
{
	struct strlist names = STRLIST_INIT;
	struct buf path = BUF_INIT;
	size_t i, dir_len;
	int ret;

	if (buf_printf(&path, "%s/pack", c->store.repo->object_dir) < 0)
		return builtin_die("out of memory");
	dir_len = path.len;
	ret = list(&names, path.data);
	for (i = 0; !ret && i < names.nr; i++) {
		const char *why = problem_of(&names, names.items[i]);

		if (!why)
			continue;
		buf_set_len(&path, dir_len);
		if (buf_printf(&path, "/%s", names.items[i]) < 0)
			ret = builtin_die("out of memory");
		else
			report(c, why, path.data);
	}
	strlist_release(&names);
	buf_release(&path);
	return ret;
}

/* ---- loose objects */

static void count_loose(struct count *c, const struct oid *oid,
			const char *path)
{
	uint32_t odb_pos;
	struct stat st;

	if (lstat(path, &st) < 0)
		return;
	c->loose_nr++;
	c->loose_bytes += (uint64_t)st.st_blocks * 512;
	if (odb_find(c->store.odb, oid, &odb_pos))
		c->packable_nr++;
}

/*
 * Handle one file of a directory of loose objects: count it as a loose object,
 * or report it as garbage if its name is not that of an object.
 */
static void judge_loose(struct count *c, const char *first, const char *name,
			const char *path)
{
	enum hash_algo algo = c->store.odb->algo;
	char hex[OID_MAX_HEX_LEN + 1];
	struct oid oid;

	if (strlen(name) == hash_hex_len(algo) - 2 && is_hex(name)) {
		snprintf(hex, sizeof(hex), "%s%s", first, name);
		if (oid_from_hex(&oid, hex, strlen(hex), algo)) {
			count_loose(c, &oid, path);
			return;
		}
	}
	if (c->verbose)
		report(c, "garbage found", path);
}

static int count_loose_dir(struct count *c, unsigned first)
{
	struct strlist names = STRLIST_INIT;
	struct buf path = BUF_INIT;
	char hex[3];
	size_t i, dir_len;
	int ret;

	snprintf(hex, sizeof(hex), "%02x", first & 0xff);
	if (buf_printf(&path, "%s/%s", c->store.repo->object_dir, hex) < 0)
		return builtin_die("out of memory");
	dir_len = path.len;
	ret = list(&names, path.data);
	for (i = 0; !ret && i < names.nr; i++) {
		buf_set_len(&path, dir_len);
		if (buf_printf(&path, "/%s", names.items[i]) < 0)
			ret = builtin_die("out of memory");
		else
			judge_loose(c, hex, names.items[i], path.data);
	}
	strlist_release(&names);
	buf_release(&path);
	return ret;
}

/* ---- printing */

static void count_packs(struct count *c)
{
	const struct odb *odb = c->store.odb;

	for (uint32_t i = 0; i < odb->pack_nr; i++) {
		const struct pack *pack = odb->packs[i].pack;

		if (!pack->is_local)
			continue;
		c->pack_nr++;
		c->packed_nr += pack->idx.nr;
		c->pack_bytes += pack->file.len + pack->idx_map.len;
	}
}

static void print_size(const struct count *c, const char *name, uint64_t bytes)
{
	printf("%s: ", name);
	if (c->human)
		output_size(bytes);
	else
		printf("%" PRIu64, bytes / 1024);
	putchar('\n');
}

static void print_verbose(const struct count *c)
{
	const struct odb *odb = c->store.odb;

	printf("count: %" PRIu64 "\n", c->loose_nr);
	print_size(c, "size", c->loose_bytes);
	printf("in-pack: %" PRIu64 "\n", c->packed_nr);
	printf("packs: %" PRIu64 "\n", c->pack_nr);
	print_size(c, "size-pack", c->pack_bytes);
	printf("prune-packable: %" PRIu64 "\n", c->packable_nr);
	printf("garbage: %" PRIu64 "\n", c->garbage_nr);
	print_size(c, "size-garbage", c->garbage_bytes);
	for (size_t i = 1; i < odb->dir_nr; i++)
		printf("alternate: %s\n", odb->dirs[i]);
}

static void print_short(const struct count *c)
{
	printf("%" PRIu64 " objects, ", c->loose_nr);
	if (c->human)
		output_size(c->loose_bytes);
	else
		printf("%" PRIu64 " kilobytes", c->loose_bytes / 1024);
	putchar('\n');
}

static int run(struct count *c)
{
	struct error err = ERROR_INIT;
	int ret = 0;

	c->cwd = sys_realpath(".", &err);
	if (!c->cwd)
		return builtin_fail(&err);
	for (unsigned first = 0; !ret && first < 256; first++)
		ret = count_loose_dir(c, first);
	if (!ret && c->verbose)
		ret = judge_packs(c);
	if (ret)
		return ret;
	count_packs(c);
	if (c->verbose)
		print_verbose(c);
	else
		print_short(c);
	return 0;
}

int cmd_count_objects(int argc, const char **argv, struct builtin_env *env)
{
	struct count c = {.verbose = false};
	const struct option options[] = {
		{.kind = OPTION_FLAG,
		 .short_name = 'v',
		 .long_name = "verbose",
		 .flag = &c.verbose,
		 .help = "be verbose"},
		{.kind = OPTION_FLAG,
		 .short_name = 'H',
		 .long_name = "human-readable",
		 .flag = &c.human,
		 .help = "print sizes with a unit, such as KiB or MiB"},
		{.kind = OPTION_END},
	};
	int nr = options_parse(argc, argv, options, usage);
	int ret;

	if (nr < 0)
		return 129;
	if (nr > 0)
		return options_usage(options, usage);
	ret = store_open(&c.store, env);
	if (ret)
		return ret;
	ret = run(&c);
	free(c.cwd);
	store_close(&c.store);
	return builtin_finish(ret);
}
