/* SPDX-License-Identifier: MIT */
/*
 * uploadpack.packObjectsHook: a shell command of the operator that makes the
 * pack. The hook gets the arguments and the input that `git pack-objects`
 * would get.
 */
#ifndef SERVE_HOOK_H
#define SERVE_HOOK_H

#include "base/error.h"
#include "serve/request.h"
#include "wire/sideband.h"

/*
 * Run the configured hook for a request and send its output as pack data. The
 * configuration must name a hook. The hook runs in our directory and
 * environment, with GIT_DIR set; its standard error is ours. Returns 0, ERR_IO
 * if the hook cannot be started or fails, or the error of writing to `sb`.
 */
int hook_pack_objects(struct request *req, struct sideband *sb,
		      struct error *err);

#endif
