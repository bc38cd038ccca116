/* SPDX-License-Identifier: MIT */
/*
 * The names of the files of repositories in a store:
 *
 *	repo/<repository>/_/gen/<number>	the record of a generation
 *	repo/<repository>/_/file/<hash>.<upload> a file of generations
 *	hint/<repository>/_			the number of a generation
 *	lease/<repository>/_			who maintains the repository
 *
 * <repository> is the path of the repository below the base, such as
 * "team/app.git". <number> has 16 hexadecimal digits. <hash> is the SHA-256 of
 * the content, <upload> the token of the upload, both in hexadecimal.
 *
 * A byte of <repository> that a store does not allow in names, a "_", and a "."
 * at the start of a part are written as "_" and two hexadecimal digits. So no
 * part of a repository's name is "_", and the names of "a" and "a/b" do not
 * collide.
 */
#ifndef GENERATIONS_NAMES_H
#define GENERATIONS_NAMES_H

#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "generations/record.h"

/*
 * Appends a name to *out. `repository` is a relative path without empty parts,
 * without the parts "." and "..", without control characters, and without parts
 * that have more than 255 bytes after quoting. Returns 0, ERR_INVALID if the
 * repository has another form or is too long for a store, or ERR_NOMEM. After
 * an error, *out is unchanged. If one of the names of a repository would be too
 * long, all functions refuse this repository.
 */
int generation_record_name(struct buf *out, const char *repository,
			   uint64_t number, struct error *err);
int generation_file_name(struct buf *out, const char *repository,
			 const struct generation_file *file, struct error *err);
int generation_hint_name(struct buf *out, const char *repository,
			 struct error *err);
int generation_lease_name(struct buf *out, const char *repository,
			  struct error *err);
/*
 * Appends the common beginning of the names of all files of a repository's
 * generations. Returns 0, ERR_INVALID if the repository has another form or is
 * too long, or ERR_NOMEM.
 */
int generation_file_prefix(struct buf *out, const char *repository,
			   struct error *err);

/*
 * Appends to *out the repository to which a hint belongs. `name` is the name of
 * a file in the store. Returns 0, 1 if `name` is not the name of a hint, or
 * ERR_NOMEM.
 */
int generation_hint_repository(struct buf *out, const char *name,
			       struct error *err);

/*
 * Parses the name of a file, and sets the hash and the upload in *out. All
 * other fields of *out become zero. The first `prefix_len` bytes of the name
 * must be the text of generation_file_prefix(). Returns false if the name has
 * another form.
 */
bool generation_file_of_name(struct generation_file *out, const char *name,
			     size_t prefix_len);

#endif
