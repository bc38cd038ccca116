/* SPDX-License-Identifier: MIT */
/* A generation as a plain bare repository, which stock Git reads. */
#ifndef STORED_EXPORT_H
#define STORED_EXPORT_H

#include "generations/history.h"
#include "repo/repo.h"

/*
 * Makes the directory `dir`, which must not exist, a bare repository with a
 * generation. `storage` is how it keeps its refs. Each file is checked while it
 * is written, and everything is durable. The repository appears complete or not
 * at all: it is made below "<dir>.tmp_XXXXXX" and renamed. A killed process
 * leaves that directory. Returns 0, ERR_INVALID if `dir` exists, or another
 * negative error code.
 */
int stored_export(const struct generation_place *place,
		  const struct generation *g, const char *dir,
		  enum repo_ref_storage storage, struct error *err);

#endif
