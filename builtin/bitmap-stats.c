/* SPDX-License-Identifier: MIT */
/*
 * git bitmap stats: prints facts about the bitmap index in use, such as the
 * number of commits that a walk from the tips visits until it finds bitmaps.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "bitmap/fill.h"
#include "builtin/bitmap-parts.h"
#include "builtin/options.h"
#include "packs/crossing.h"
#include "packs/roots.h"

static const char usage[] = "git bitmap stats";

enum tip_kind {
	TIPS_HEAD,
	TIPS_BRANCHES,
	TIPS_TAGS,
	TIPS_OTHER,
	TIPS_ALL,
	TIPS_KIND_NR,
};

static const char *const kind_names[TIPS_KIND_NR] = {
	"head", "branches", "tags", "other", "all",
};

struct stats {
	struct bitmap_place place;
	struct walk_tips tips[TIPS_KIND_NR];
	struct error *err;
};

/* ---- tips */

static int add_tip(struct stats *s, const struct ref *ref, enum tip_kind kind)
{
	struct walk *w = &s->place.walk;
	int ret = walk_add_tip(w, &s->tips[kind], &ref->oid, true, s->err);

	return ret < 0 ? ret
		       : walk_add_tip(w, &s->tips[TIPS_ALL], &ref->oid, true,
				      s->err);
}

static int add_ref(void *ctx, const struct ref *ref)
{
	const struct stats *s = ctx;
	enum tip_kind kind = TIPS_OTHER;

	if (!odb_has(s->place.store.odb, &ref->oid) &&
	    !s->place.store.repo->has_promisor)
		builtin_warn("%s points to a missing object", ref->name);

	if (!strncmp(ref->name, "refs/heads/", 11))
		kind = TIPS_BRANCHES;
	else if (!strncmp(ref->name, "refs/tags/", 10))
		kind = TIPS_TAGS;
	return add_tip(ctx, ref, kind);
}

static int add_tips(struct stats *s)
{
	struct refs *refs = s->place.store.refs;
	struct error warning = ERROR_INIT;
	struct ref head;
	int ret = refs_lookup(refs, "HEAD", &head, s->err);

	if (ret > 0)
		ret = add_tip(s, &head, TIPS_HEAD);
	if (!ret)
		ret = refs_each(refs, "", add_ref, s, &warning, s->err);
	if (warning.code)
		builtin_warn("%s", warning.msg);
	return ret;
}

/* ---- printing */

static void print_number(const char *group, const char *key, uint64_t value)
{
	printf("%s.%s=%" PRIu64 "\n", group, key, value);
}

/* Print part/whole as a percentage with two decimals. */
static void print_share(const char *group, const char *key, uint64_t part,
			uint64_t whole)
{
	printf("%s.%s=%.2f\n", group, key,
	       whole ? 100.0 * (double)part / (double)whole : 0.0);
}

static void print_sections(const struct pack_bitmap *pb)
{
	struct bitmap_sections s;

	bitmap_file_sections(&s, &pb->file);
	print_number("section", "header", s.header);
	print_number("section", "types", s.types);
	print_number("section", "bitmaps", s.entries);
	print_number("section", "pseudo-merges", s.pseudo_merges);
	print_number("section", "lookup-table", s.lookup_table);
	print_number("section", "hash-cache", s.hash_cache);
	print_number("section", "checksum", s.checksum);
}

/*
 * Print facts about the pack that the bitmap index belongs to, or about all
 * packs of the multi-pack-index.
 */
static int print_packs(const struct pack_bitmap *pb, struct error *err)
{
	struct bitmap_space_part *parts;
	uint64_t len = 0;
	size_t nr;

	if (bitmap_space_parts(&parts, &nr, &pb->space) < 0)
		return error_nomem(err);
	for (size_t i = 0; i < nr; i++)
		len += parts[i].pack->pack->file.len;
	free(parts);
	print_number("pack", "bytes", len);
	print_share("pack", "index-percent", bitmap_file_len(&pb->file), len);
	print_number("pack", "all-packed-objects", pb->odb->packed_nr);
	print_share("pack", "indexed-percent", pb->file.object_nr,
		    pb->odb->packed_nr);
	return 0;
}

/*
 * Print the lengths of XOR chains: how many other bitmaps must be decoded
 * before a bitmap of the index can be decoded.
 */
static int print_chains(const struct pack_bitmap *pb, struct error *err)
{
	uint32_t nr = pb->file.row_nr, depth_max = 0;
	uint64_t depth_sum = 0;
	struct bitmap_stored *stored = mem_alloc(nr, sizeof(*stored));
	int ret = stored ? bitmap_file_stored_all(stored, &pb->file, err)
			 : error_nomem(err);

	for (uint32_t row = 0; row < nr && !ret; row++) {
		depth_sum += stored[row].depth;
		if (stored[row].depth > depth_max)
			depth_max = stored[row].depth;
	}
	free(stored);
	if (ret < 0)
		return ret;
	printf("xor-depth.mean=%.2f\n",
	       nr ? (double)depth_sum / (double)nr : 0.0);
	print_number("xor-depth", "max", depth_max);
	return 0;
}

static void print_coverage(const char *kind, const struct bitmap_coverage *c)
{
	print_number(kind, "tips", c->tip_nr);
	print_number(kind, "with-bitmap", c->with_bitmap);
	printf("%s.walk-mean=%.2f\n", kind,
	       c->tip_nr ? (double)c->walked_sum / (double)c->tip_nr : 0.0);
	print_number(kind, "walk-median", c->walked_median);
	print_number(kind, "walk-max", c->walked_max);
	print_number(kind, "walk-together", c->walked_together);
}

static int print_coverages(struct stats *s)
{
	const struct pack_bitmap *pb = s->place.pb;
	struct bitmap_fill fill;
	int ret = bitmap_fill_init(&fill, &pb->file, pb->space, &s->place.walk,
				   s->err);

	for (int kind = 0; kind < TIPS_KIND_NR && !ret; kind++) {
		struct bitmap_coverage coverage;

		ret = bitmap_coverage_measure(&coverage, &fill, &s->tips[kind],
					      s->err);
		if (!ret)
			print_coverage(kind_names[kind], &coverage);
	}
	bitmap_fill_release(&fill);
	return ret;
}

/* ---- delta islands */

static int count_crossing(struct crossing_report *report, struct stats *s)
{
	const struct walk_options options = {.objects = true,
					     .keep_lists = true};
	const struct walk_tips none = WALK_TIPS_INIT;
	struct walk_result found = WALK_RESULT_INIT;
	struct walk *w = &s->place.walk;
	int ret = walk_enumerate(&found, w, &s->tips[TIPS_ALL], &none, &options,
				 s->err);

	if (!ret)
		ret = crossing_count(report, w, &found, s->place.store.refs,
				     s->err);
	walk_result_release(&found);
	return ret;
}

/*
 * Print how many stored deltas have a base in another delta island. Nothing is
 * printed without pack.island, or in a partial clone, which lacks some of the
 * objects to count.
 */
static int print_islands(struct stats *s)
{
	const struct repo *repo = s->place.store.odb->repo;
	struct crossing_report report;
	int ret;

	if (!config_find(&repo->config, "pack.island") || repo->has_promisor)
		return 0;
	ret = count_crossing(&report, s);
	if (ret < 0)
		return ret;
	print_number("islands", "islands", report.island_nr);
	print_number("islands", "objects", report.object_nr);
	print_number("islands", "deltas", report.delta_nr);
	print_number("islands", "crossing-deltas", report.crossing_nr);
	return 0;
}

static int print_stats(struct stats *s)
{
	int ret = add_tips(s);

	if (ret < 0)
		return ret;
	bitmap_print_index(s->place.pb, '\n');
	print_sections(s->place.pb);
	ret = print_packs(s->place.pb, s->err);
	if (!ret)
		ret = print_chains(s->place.pb, s->err);
	if (!ret)
		ret = print_coverages(s);
	return ret < 0 ? ret : print_islands(s);
}

int bitmap_stats(int argc, const char **argv, struct builtin_env *env)
{
	const struct option options[] = {{.kind = OPTION_END}};
	int operands = options_parse(argc, argv, options, usage);
	struct error err = ERROR_INIT;
	struct stats s = {.err = &err};
	int code;

	if (operands < 0)
		return 129;
	if (operands)
		return options_usage(options, usage);
	code = bitmap_place_open(&s.place, env, false);
	if (!code && print_stats(&s) < 0)
		code = builtin_fail(&err);
	for (int kind = 0; kind < TIPS_KIND_NR; kind++)
		walk_tips_release(&s.tips[kind]);
	bitmap_place_close(&s.place);
	return code;
}
