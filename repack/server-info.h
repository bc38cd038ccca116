/* SPDX-License-Identifier: MIT */
/*
 * Writes the files that dumb HTTP clients read (git-update-server-info(1)):
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
 * Append the line of info/refs for a ref. For a tag, also append a line with
 * the peeled object. `reader` is used only if packed-refs has no peeled value.
 * If the ref's object is missing, nothing is appended. If only the target of a
 * tag is missing or damaged, the second line is left out. Returns 0,
 * ERR_CORRUPT if the ref's object is damaged, or another negative error code.
 */
int server_info_put_ref(struct buf *out, struct odb_reader *reader,
			enum hash_algo algo, const struct ref *ref,
			struct error *err);

/*
 * Append the content of objects/info/packs, the names of the local packs.
 * Returns 0 or ERR_NOMEM.
 */
int server_info_put_packs(struct buf *out, const struct odb *odb,
			  struct error *err);

/*
 * Write each of the two files if its content changes. Returns 0 on success, a
 * positive value if info/refs stays as it is and only objects/info/packs was
 * written, or a negative error code. SERVER_INFO_DAMAGED: an object that a ref
 * names is damaged; *err says which one. SERVER_INFO_INCOMPLETE: a ref is
 * broken, or its object is missing. A loose object in an empty file counts as
 * missing.
 */
enum server_info_result {
	SERVER_INFO_DAMAGED = 1,
	SERVER_INFO_INCOMPLETE,
};

int server_info_update(const struct repo *repo, struct refs *refs,
		       struct error *err);

#endif
