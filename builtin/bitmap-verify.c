/* SPDX-License-Identifier: MIT */
/* git bitmap verify: compares bitmap indexes with the objects. */
#include <inttypes.h>
#include <stdio.h>

#include "builtin/bitmap-parts.h"
#include "builtin/options.h"
#include "builtin/output.h"
#include "packs/keep-deltas.h"
#include "packs/prepare.h"
#include "sys/clock.h"

static const char usage[] = "git bitmap verify [--sample=<n> [--seed=<n>]]";

/*
 * Verify the next bitmap index. Returns 1 if the index is correct, 0 if there
 * are no more bitmap indexes, or a negative error code.
 */
static int verify_next(struct bitmap_place *place, size_t *next,
		       const struct pack_bitmap_verify *how, struct error *err)
{
	uint64_t nr;
	struct pack_bitmap *pb;
	int ret = pack_bitmap_open_next(&pb, place->store.odb, next, err);

	if (ret <= 0)
		return ret;
	nr = (uint64_t)pb->file.row_nr + pb->file.pseudo.nr;
	ret = pack_bitmap_verify(pb, &place->walk, how, err);
	if (!ret && how->sample && how->sample < nr)
		printf("verified=%" PRIu64 " of=%" PRIu64 " seed=%" PRIu64
		       " path=%s\n",
		       how->sample, nr, how->seed, pb->path);
	else if (!ret)
		printf("verified=%" PRIu64 " of=%" PRIu64 " path=%s\n", nr, nr,
		       pb->path);
	pack_bitmap_close(pb);
	return ret < 0 ? ret : 1;
}

/*
 * Print the reason why a bitmap index is not used. This is not counted as an
 * error: Git works without the index, and the next repack replaces it.
 */
static void tell_unused(const struct error *why)
{
	if (why->code == ERR_UNSUPPORTED)
		fprintf(stderr,
			"note: %s; this file is not used, and the next repack "
			"replaces it\n",
			why->msg);
	else
		builtin_warn("%s; this file is not used, and the next repack "
			     "replaces it",
			     why->msg);
}

/*
 * Print the result of verifying the file info/<name> of an object directory.
 * `ret` is 0 if the file is right, negative for an error, and positive for a
 * file that is not used. Returns 1 for an error, otherwise 0.
 */
static int tell_result(int ret, const struct error *err, size_t verified,
		       size_t nr, const char *dir, const char *name)
{
	if (ret < 0)
		builtin_error("%s", err->msg);
	else if (ret)
		tell_unused(err);
	else if (nr)
		printf("verified=%zu of=%zu path=%s/info/%s\n", verified, nr,
		       dir, name);
	return ret < 0;
}

/*
 * Verify prepared answers (stored responses to frequent requests), too: a wrong
 * one would give clients a wrong pack, as a wrong bitmap would.
 */
static int verify_prepared(const struct store *store)
{
	const struct odb *odb = store->odb;
	int code = 0;

	for (size_t dir = 0; dir < odb->dir_nr; dir++) {
		struct error err = ERROR_INIT;
		size_t nr;
		int ret = prepare_verify(&nr, odb, store->refs, dir, &err);

		code |= tell_result(ret, &err, nr, nr, odb->dirs[dir],
				    "prepared");
	}
	return code;
}

/*
 * Verify the files of kept deltas: deltas that are stored beside the packs for
 * later fetches (prepared/kept-deltas.h). A wrong delta would make a fetch
 * fail.
 */
static int verify_deltas(const struct store *store)
{
	const struct odb *odb = store->odb;
	int code = 0;

	for (size_t dir = 0; dir < odb->dir_nr; dir++) {
		struct error err = ERROR_INIT;
		size_t nr, checked;
		int ret = keep_deltas_verify(&nr, &checked, odb, dir, &err);

		code |= tell_result(ret, &err, checked, nr, odb->dirs[dir],
				    "deltas");
	}
	return code;
}

/* Verify all bitmap indexes, even if one of them is wrong. */
static int verify(struct bitmap_place *place,
		  const struct pack_bitmap_verify *how)
{
	int code = 0, ret = 1;
	size_t next = 0;

	while (ret) {
		struct error err = ERROR_INIT;

		ret = verify_next(place, &next, how, &err);
		if (ret >= 0)
			continue;
		builtin_error("%s", err.msg);
		code = 1;
	}
	return code;
}

int bitmap_verify(int argc, const char **argv, struct builtin_env *env)
{
	struct progress_out progress;
	struct pack_bitmap_verify how = {
		.progress = output_progress(&progress, PROGRESS_IF_TERMINAL),
	};
	const struct option options[] = {
		{.kind = OPTION_U64,
		 .long_name = "sample",
		 .u64 = &how.sample,
		 .help = "verify only <n> bitmaps, each by a walk of its own"},
		{.kind = OPTION_U64,
		 .long_name = "seed",
		 .u64 = &how.seed,
		 .help = "number that selects these bitmaps"},
		{.kind = OPTION_END},
	};
	int operands = options_parse(argc, argv, options, usage);
	struct bitmap_place place;
	int code;

	if (operands < 0)
		return 129;
	if (operands || (how.seed && !how.sample))
		return options_usage(options, usage);
	if (!how.seed)
		how.seed = 1 + sys_clock_ns() % 1000000;
	code = bitmap_place_open(&place, env, true);
	if (!code) {
		history_check_graph(&place.walk.history);
		code = verify(&place, &how);
		if (verify_prepared(&place.store))
			code = 1;
		if (verify_deltas(&place.store))
			code = 1;
	}
	bitmap_place_close(&place);
	return code;
}
