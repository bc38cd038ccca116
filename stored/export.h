/* SPDX-License-Identifier: MIT */
/* Exports a generation as a plain bare repository that stock Git can read. */
#ifndef STORED_EXPORT_H
#define STORED_EXPORT_H

#include "generations/history.h"
#include "repo/repo.h"

/*
 * Makes `dir` a bare repository with the content of a generation. `dir` must
 * not exist. `storage` is the format of its refs. The content of each file is
 * verified while it is written, and everything is durable at the end. The
 * repository appears complete or not at all, because it is made in
 * "<dir>.tmp_XXXXXX" and then renamed. A killed process leaves the temporary
 * directory. Returns 0, ERR_INVALID if `dir` exists, or another negative error
 * code.
 */
int stored_export(const struct generation_place *place,
		  const struct generation *g, const char *dir,
		  enum repo_ref_storage storage, struct error *err);

#endif
