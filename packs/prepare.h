/* SPDX-License-Identifier: MIT */
/*
 * Preparing answers (packing/prepared.h) to the most frequent requests:
 * - clones of depth 1 of the tips in the tip island (repack.tipIsland);
 * - clones of HEAD's branch, of all branches and tags, and of all references.
 */
#ifndef PACKS_PREPARE_H
#define PACKS_PREPARE_H

#include "base/error.h"
#include "odb/odb.h"
#include "refs/refs.h"
#include "repo/repo.h"

struct prepare_options {
	/* Of the pack that the answers are copied from. */
	const struct oid *checksum;
	/*
	 * Further commits for clones of depth 1. Commits that do not exist are
	 * ignored.
	 */
	const struct oid *heads;
	size_t head_nr;
	unsigned threads; /* 0: as many as processors */
};

/* The value of repack.prepareAnswers. Returns 1, 0 or ERR_INVALID. */
int prepare_is_wanted(const struct repo *repo, struct error *err);

/*
 * Work out which answers can be copied from runs of one pack, and write
 * objects/info/prepared. The file is removed if there is no answer, or if
 * repack.prepareAnswers is false. Returns 0 or a negative error code. Cost: the
 * bytes of each answer are read and hashed, twice if tags are added.
 */
int prepare_answers(const struct repo *repo, struct refs *refs,
		    const struct prepare_options *options, struct error *err);

/*
 * Check the prepared answers of the `dir_nr`-th object directory. Each answer
 * must be copyable as stored, have the right checksums, and match its request.
 * A request of several wants is checked only if references still name them. *nr
 * is set to the number of answers, 0 without a file.
 *
 * Returns 0, ERR_CORRUPT with a message that names the wrong answer, or another
 * negative error code. Returns 1, with a message, for a file that is not used:
 * it has another version (the error's code is ERR_UNSUPPORTED) or is truncated.
 */
int prepare_verify(size_t *nr, const struct odb *odb, struct refs *refs,
		   size_t dir_nr, struct error *err);

#endif
