/* SPDX-License-Identifier: MIT */
/*
 * The boundary of a shallow repository: the file "shallow" of the common
 * directory names commits whose parents are not there, an id a line
 * (gitrepository-layout(5)).
 */
#ifndef REPO_SHALLOW_H
#define REPO_SHALLOW_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "object/oid.h"
#include "repo/repo.h"

/*
 * Call `fn` with each id of the file, in its order; none when there is no
 * file. A nonzero return stops and is returned. ERR_CORRUPT for lines that
 * are no ids.
 */
int repo_shallow_each(const struct repo *repo,
		      int (*fn)(void *ctx, const struct oid *oid), void *ctx,
		      struct error *err);

/*
 * Add ids to the file, which is replaced under its lock ("shallow.lock");
 * those that are there already are not repeated. 0, ERR_DENIED when somebody
 * else holds the lock, or another negative error.
 */
int repo_shallow_add(const struct repo *repo, const struct oid *oids, size_t nr,
		     struct error *err);

/*
 * Leave those ids in the file for which `keeps` is true; without any the file
 * goes. Nothing is locked or written when all stay. As repo_shallow_add().
 */
int repo_shallow_retain(const struct repo *repo,
			bool (*keeps)(void *ctx, const struct oid *oid),
			void *ctx, struct error *err);

#endif
