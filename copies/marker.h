/* SPDX-License-Identifier: MIT */
/*
 * The text files of a cache directory: the store that the cache belongs to, and
 * the markers of local copies. Documentation/format/store-copy.md has examples.
 * These files contain no keys or passwords.
 */
#ifndef COPIES_MARKER_H
#define COPIES_MARKER_H

#include "generations/record.h"

/* Which store a cache belongs to. A field that is not set is NULL. */
struct stored_origin {
	/* URL of the store. This text and the texts below are owned. */
	char *url;
	char *endpoint; /* endpoint of S3 */
	char *region;
	char *ca_file;
};

void stored_origin_release(struct stored_origin *origin);

/*
 * Appends the content of the file "store" in a cache directory. This file says
 * which store the cache belongs to. Returns 0, ERR_INVALID if a field of
 * *origin has control characters or is longer than GENERATION_TEXT_MAX, or
 * ERR_NOMEM.
 */
int stored_origin_print(struct buf *out, const struct stored_origin *origin,
			struct error *err);

/*
 * Parses `text`, the content of the file "store" in a cache directory. Returns
 * 0 with *out owned by the caller, ERR_CORRUPT if the text is malformed, or
 * ERR_NOMEM. After an error, *out is zeroed.
 */
int stored_origin_parse(struct stored_origin *out, const char *text, size_t len,
			struct error *err);

/* The marker of a local copy: which generation the copy has. */
struct stored_marker {
	/*
	 * owned: the boot id, a random text that is different after each start
	 * of the system
	 */
	char *boot;
	/* owned: name of the repository in the store */
	char *name;
	struct generation g; /* the generation */
};

void stored_marker_release(struct stored_marker *m);

/* Appends the text of a marker. Returns 0 or an error of generation_print(). */
int stored_marker_print(struct buf *out, const struct stored_marker *m,
			struct error *err);

/*
 * Parses the text of a marker. Returns 0 with *out owned by the caller,
 * ERR_CORRUPT, ERR_UNSUPPORTED for another version of the record, or ERR_NOMEM.
 * After an error, *out is zeroed.
 */
int stored_marker_parse(struct stored_marker *out, const char *text, size_t len,
			struct error *err);

#endif
