/* SPDX-License-Identifier: MIT */
/*
 * The side bundle of a generation: one file with the content of the small files
 * of the generation. A node without a copy downloads the side bundle in one
 * request, in place of one request for each small file.
 *
 *	objects/pack/pack-1.pack      downloaded by itself
 *	objects/pack/pack-1.idx   \
 *	config                     >  also in the file objects/pack/side-files
 *	reftable/0x5-0x5-1.ref    /
 *
 * The record lists the bundle, but no local copy of the repository has it. The
 * store also has each small file by itself. So a bundle may be outdated or
 * missing. Documentation/format/side-files.md has the bytes.
 */
#ifndef STORED_SIDE_H
#define STORED_SIDE_H

#include "generations/history.h"

/* the path of a bundle in a record */
#define STORED_SIDE_PATH "objects/pack/side-files"
/* maximum size of a file in a bundle, and of a bundle, in bytes */
#define STORED_SIDE_FILE_MAX ((uint64_t)16 << 20)
#define STORED_SIDE_MAX ((uint64_t)64 << 20)

/* Returns whether `path` is the path of a side bundle. */
bool stored_side_is(const char *path);

/*
 * Returns whether a file of a generation may be put into a side bundle (one
 * file with the content of several small files). It may if it has at most
 * STORED_SIDE_FILE_MAX bytes, is no pack, and is not itself the side bundle.
 */
bool stored_side_takes(const struct generation_file *file);

/* One file of a bundle. */
struct stored_side_part {
	uint8_t sha256[GENERATION_SHA256_LEN];
	uint64_t size; /* bytes */
	/* the content of the file, in the parsed bytes of the bundle */
	const uint8_t *bytes;
};

/* A parsed bundle. Zero-initialised before its first use. */
struct stored_side {
	struct stored_side_part *parts; /* owned; sorted by hash */
	size_t nr;
};

/*
 * Parses a side bundle (not a bundle of `git bundle`). Each part has a file's
 * content and the hash of the content. This function does not compute the
 * hashes again; stored_side_verify() does. *out borrows `bytes`. Returns 0,
 * ERR_CORRUPT if the bundle is malformed, ERR_UNSUPPORTED if it has another
 * version, or ERR_NOMEM. After an error, *out is released.
 */
int stored_side_parse(struct stored_side *out, const void *bytes, size_t len,
		      struct error *err);
void stored_side_release(struct stored_side *side);

/*
 * Compares the content of each part with its hash. Returns 0, ERR_CORRUPT if a
 * hash differs, or ERR_NOMEM.
 */
int stored_side_verify(const struct stored_side *side, struct error *err);

/*
 * Returns the part whose content has this hash, or NULL. Takes logarithmic
 * time.
 */
const struct stored_side_part *stored_side_find(
	const struct stored_side *side,
	const uint8_t sha256[GENERATION_SHA256_LEN]);

/*
 * Writes a bundle, the local file `path`. The bundle has the content of those
 * uploads that stored_side_takes() allows. Each upload has its size, its hash
 * and its local path. The order of the uploads does not matter: equal contents
 * give equal bytes.
 *
 * Returns 0, 1 if no bundle was written, or a negative error code. No bundle is
 * written if it would have only one file or be larger than STORED_SIDE_MAX.
 */
int stored_side_write(const char *path, const struct generation_upload *uploads,
		      size_t nr, struct error *err);

#endif
