/* SPDX-License-Identifier: MIT */
/*
 * `git repack`: put what is reachable into one pack, or what is loose into a
 * further one, and remove what that replaces.
 *
 * Nothing is removed before what replaces it is on disk and visible, and only
 * packs are removed that were there before the references were read, so that
 * a push that arrives meanwhile loses nothing.
 */
#ifndef REPACK_REPACK_H
#define REPACK_REPACK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "repack/newpack.h"
#include "repo/repo.h"

struct repack_options {
	struct newpack_options newpack;
	bool all;               /* -a: everything reachable, in one pack */
	bool remove_redundant;  /* -d */
	bool local;             /* -l: leave out what alternates have */
	bool write_bitmap;      /* -b */
	bool bitmap_is_default; /* nobody asked: be silent when it cannot be */
	bool pack_kept_objects; /* include objects of packs with .keep */
	bool update_server_info;
	bool delta_islands; /* -i */
};

struct repack_result {
	bool is_new;         /* a pack was written */
	struct oid checksum; /* its name */
	uint32_t object_nr;
	struct write_report report;
	uint32_t bitmap_nr;
	uint64_t bitmap_len;  /* bytes */
	struct error warning; /* code 0: none */
};

/*
 * 0 or negative. On failure nothing is lost: until the new pack is installed
 * the repository is as it was, but for temporary files; after that some of what
 * the pack replaces may be there still.
 */
int repack_run(struct repack_result *result, const struct repo *repo,
	       const struct repack_options *options, struct error *err);

#endif
