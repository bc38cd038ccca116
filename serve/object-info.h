/* SPDX-License-Identifier: MIT */
/* The object-info command of protocol v2. */
#ifndef SERVE_OBJECT_INFO_H
#define SERVE_OBJECT_INFO_H

#include "base/error.h"
#include "serve/v2.h"

/*
 * Tell the sizes of objects, in the order in which they were named, as often
 * as they were; of one that we do not have the size is empty. "size" is all
 * there is to ask. Without it the ids alone come back, as from stock Git
 * (since 2.55 at the latest; 2.39 tells sizes in any case).
 */
int object_info_run(struct session *s, struct v2_args *args, struct error *err);

#endif
