/* SPDX-License-Identifier: MIT */
/*
 * The names of the files of repositories in a store:
 *
 *	<repository>/_/gen/<16 hexadecimal digits>       the record of a
 *generation <repository>/_/file/<SHA-256>.<token of the upload>
 *	hint/<repository>/_                              the number of a
 *generation
 *
 * <repository> is the path of the repository below the base, such as
 * "team/app.git", behind "repo/". A byte that a store does not allow in names,
 * a "_", and a "." at the start of a part are written as "_" and two
 * hexadecimal digits. So no part of a repository's name is "_", and the names
 * of "a" and "a/b" do not collide.
 */
#ifndef GENERATIONS_NAMES_H
#define GENERATIONS_NAMES_H

#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "generations/record.h"

/*
 * Appends a name to *out. `repository` is a relative path without empty parts
 * and the parts "." and "..". Returns 0, ERR_INVALID if the repository has
 * another form or the name is too long for a store, or ERR_NOMEM; *out is
 * unchanged then.
 */
int generation_record_name(struct buf *out, const char *repository,
			   uint64_t number, struct error *err);
int generation_file_name(struct buf *out, const char *repository,
			 const struct generation_file *file, struct error *err);
int generation_hint_name(struct buf *out, const char *repository,
			 struct error *err);
/* The beginning of the names of all files of a repository's generations. */
int generation_file_prefix(struct buf *out, const char *repository,
			   struct error *err);

/*
 * Appends the repository of the name of a hint to *out. Returns 0, 1 if the
 * name is not that of a hint, or ERR_NOMEM.
 */
int generation_hint_repository(struct buf *out, const char *name,
			       struct error *err);

#endif
