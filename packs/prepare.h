/* SPDX-License-Identifier: MIT */
/*
 * Makes prepared answers (prepared/prepared.h) for the most frequent requests:
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
	/* The checksum of the pack from which the answers are copied. */
	const struct oid *checksum;
	/*
	 * Further commits, for which clones of depth 1 are prepared. Commits
	 * that do not exist are ignored.
	 */
	const struct oid *heads;
	size_t head_nr;
	/* number of threads; 0: as many as processors */
	unsigned threads;
};

/*
 * Returns 1 if repack.prepareAnswers is true, 0 if it is false, or ERR_INVALID.
 */
int prepare_is_wanted(const struct repo *repo, struct error *err);

/*
 * An answer is the pack that the server sends for a frequent request (listed at
 * the top of this file). Find out which answers can be copied from the pack
 * options->checksum, as ranges of its bytes. Write these ranges to
 * objects/info/prepared. Write the wants of the requests to
 * objects/info/prepared-wants. If no answer can be copied, or
 * repack.prepareAnswers is false, the files are removed. Returns 0 or a
 * negative error code.
 *
 * Cost: the bytes of each answer are read and hashed, because the file stores
 * the answer's checksum. If a client can also ask for tags (include-tag) and
 * this adds objects, the answer with tags is hashed, too.
 */
int prepare_answers(const struct repo *repo, struct refs *refs,
		    const struct prepare_options *options, struct error *err);

/*
 * Check the prepared answers of object directory `dir_nr`. Each answer must be
 * copyable as it is stored, have the right checksums, and match its request.
 * For a request with several wants, the file has only a hash of the wants. Such
 * a request is checked only if the references still name these wants. A second
 * file, info/prepared-wants, must list the wants of the request of each answer.
 * *nr is set to the number of answers; 0: there is no file.
 *
 * Returns 0, ERR_CORRUPT with a message that names the wrong answer, or another
 * negative error code. Returns 1 with a message if readers do not use the file,
 * because it is truncated or has another version (err->code is
 * ERR_UNSUPPORTED).
 */
int prepare_verify(size_t *nr, const struct odb *odb, struct refs *refs,
		   size_t dir_nr, struct error *err);

#endif
