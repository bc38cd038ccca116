/* SPDX-License-Identifier: MIT */
/*
 * The files that dumb HTTP clients read (git-update-server-info(1)):
 * info/refs and objects/info/packs.
 */
#ifndef REPACK_SERVER_INFO_H
#define REPACK_SERVER_INFO_H

#include "base/buf.h"
#include "base/error.h"
#include "odb/odb.h"
#include "refs/refs.h"
#include "repo/repo.h"

/*
 * Append the line of info/refs for a ref, and for a tag the one with what it
 * peels to. The reader is asked unless packed-refs knows that. 0; negative,
 * with nothing appended, when the object cannot be read; or ERR_NOMEM.
 */
int server_info_put_ref(struct buf *out, struct odb_reader *reader,
			enum hash_algo algo, const struct ref *ref,
			struct error *err);

/* Append objects/info/packs: the packs that are not of alternates. */
int server_info_put_packs(struct buf *out, const struct odb *odb,
			  struct error *err);

/* Write both files anew where their content changes. */
int server_info_update(const struct repo *repo, struct refs *refs,
		       struct error *err);

#endif
