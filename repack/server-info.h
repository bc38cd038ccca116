/* SPDX-License-Identifier: MIT */
/*
 * The files that dumb HTTP clients read (git-update-server-info(1)):
 * info/refs and objects/info/packs.
 */
#ifndef REPACK_SERVER_INFO_H
#define REPACK_SERVER_INFO_H

#include "base/error.h"
#include "repo/refs.h"
#include "repo/repo.h"

/* Write both files anew where their content changes. */
int server_info_update(const struct repo *repo, struct refs *refs,
		       struct error *err);

#endif
