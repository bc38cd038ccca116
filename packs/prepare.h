/* SPDX-License-Identifier: MIT */
/*
 * Preparing answers (packing/prepared.h) to what is asked most: clones of depth
 * 1 of the tips that the pack was laid out for (repack.tipIsland), of HEAD's
 * branch, of all branches and tags, and of all references.
 */
#ifndef PACKS_PREPARE_H
#define PACKS_PREPARE_H

#include "base/error.h"
#include "odb/odb.h"
#include "refs/refs.h"
#include "repo/repo.h"

struct prepare_options {
	const struct oid *checksum; /* of the pack that answers */
	const struct oid *heads;    /* commits that are asked for besides, with
				       depth 1; those that are not there are
				       left out */
	size_t head_nr;
	unsigned threads; /* 0: as many as processors */
};

/* What repack.prepareAnswers says: 1, 0 or ERR_INVALID. */
int prepare_is_wanted(const struct repo *repo, struct error *err);

/*
 * Work out what one pack of the repository can answer by copying runs, and
 * write objects/info/prepared; or remove that file when there is nothing to
 * write, or repack.prepareAnswers is false. What is sent for each answer is
 * read and hashed, once more with tags that come along. 0 or negative.
 */
int prepare_answers(const struct repo *repo, struct refs *refs,
		    const struct prepare_options *options, struct error *err);

/*
 * Check the prepared answers of the `dir_nr`-th object directory: that each can
 * be copied as it is, with its checksums, and is what its request asks for; of
 * several wants only if references name these. *nr is set to how many there
 * are, 0 without such a file. 0; ERR_CORRUPT with a message that says which one
 * is wrong; or another error. 1, with a message: it is a file that nobody uses,
 * of another version (the error's code is ERR_UNSUPPORTED) or not written to
 * its end.
 */
int prepare_verify(size_t *nr, const struct odb *odb, struct refs *refs,
		   size_t dir_nr, struct error *err);

#endif
