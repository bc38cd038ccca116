/* SPDX-License-Identifier: MIT */
/*
 * uploadpack.packObjectsHook: a shell command of the operator's that makes
 * the pack in place of `git pack-objects`, whose arguments and input it gets.
 */
#ifndef SERVE_HOOK_H
#define SERVE_HOOK_H

#include "base/error.h"
#include "serve/request.h"
#include "wire/sideband.h"

/*
 * Run the hook of the session's configuration for a request and pass its
 * output on as pack data. It runs in our directory and environment, with
 * GIT_DIR set; what it prints on its standard error goes to ours.
 * 0, ERR_IO when it cannot be run or fails, or the output's error.
 */
int hook_pack_objects(struct request *req, struct sideband *sb,
		      struct error *err);

#endif
