/* SPDX-License-Identifier: MIT */
/*
 * The names of the files of repositories in a store:
 *
 *	repo/<repository>/_/gen/<number>	the record of a generation
 *	repo/<repository>/_/file/<hash>.<upload> a file of generations
 *	hint/<repository>/_			number or record of a generation
 *	lease/<repository>/_			who maintains the repository
 *
 * <repository> is the relative path of the repository, such as "team/app.git".
 * <number> has 16 hexadecimal digits. <hash> is the SHA-256 of the content,
 * <upload> the token of the upload, both in hexadecimal.
 *
 * Some bytes of <repository> are written as "_" and two hexadecimal digits:
 * bytes that a store does not allow in names, each "_", and a "." at the start
 * of a part. So no part of a repository's name is "_", and the names of "a" and
 * "a/b" do not collide.
 */
#ifndef GENERATIONS_NAMES_H
#define GENERATIONS_NAMES_H

#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "generations/record.h"

/*
 * Each function appends the name of a file in the store to *out. There are four
 * kinds of files: a record, which lists what a generation has; a file of a
 * generation; the hint, which has the number of a recent record; and the lease,
 * which says which node maintains the repository. `repository` is a relative
 * path without empty parts, without the parts "." and "..", without control
 * characters, and without parts that have more than 255 bytes after quoting.
 * Returns 0, ERR_INVALID if the repository has another form or is too long for
 * a store, or ERR_NOMEM. After an error, *out is unchanged. If one of the four
 * names would be too long, all functions refuse the repository.
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
 * Appends the prefix that all file names of a repository's generations have in
 * common. Returns 0, ERR_INVALID if the path of the repository is malformed or
 * too long, or ERR_NOMEM.
 */
int generation_file_prefix(struct buf *out, const char *repository,
			   struct error *err);

/*
 * The hint of a repository is a file in the store with the number of a recent
 * generation. If `name`, a file name in the store, is the name of a hint, this
 * function appends to *out the path of the hint's repository. Returns 0 on
 * success, 1 if `name` is not the name of a hint, or ERR_NOMEM.
 */
int generation_hint_repository(struct buf *out, const char *name,
			       struct error *err);

/*
 * Parses `name`: the name under which the store keeps a file of a generation.
 * Such a name is a prefix and then <hash>.<upload>, the SHA-256 of the content
 * and the token of the upload that wrote the file. Sets out->sha256 and
 * out->upload, and zeroes the other fields of *out. Precondition: the first
 * `prefix_len` bytes of `name` are the prefix that generation_file_prefix()
 * makes. Returns false if the rest of `name` does not have the form
 * <hash>.<upload>.
 */
bool generation_file_of_name(struct generation_file *out, const char *name,
			     size_t prefix_len);

#endif
