/* SPDX-License-Identifier: MIT */
/* Checking a pack: `verify-pack` and `index-pack --verify`. */
#ifndef BUILTIN_VERIFY_PACK_H
#define BUILTIN_VERIFY_PACK_H

#include <stdbool.h>

#include "base/error.h"
#include "object/oid.h"

struct verify_pack_request {
	/*
	 * true: also list all objects, and the number of objects for each
	 * length of delta chains
	 */
	bool verbose;
	/*
	 * true: only list the number of objects for each length of delta
	 * chains, and do not check objects
	 */
	bool stat_only;
	enum hash_algo algo;
	unsigned threads;
};

/*
 * Check the pack "<base>.pack" and its index, and print the requested lists.
 * Returns 0 or a negative error code.
 */
int verify_pack_base(const struct verify_pack_request *rq, const char *base,
		     struct error *err);

#endif
