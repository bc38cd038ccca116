/* SPDX-License-Identifier: MIT */
/*
 * Files of ids, one a line in hexadecimal digits: chains of commit-graphs and
 * of multi-pack-indexes.
 *
 *	2f4045abf1af51f49ecff8034da3bca195a47c77\n
 *	6949608296cf6f325502708aa42097b5c5144209\n
 */
#ifndef OBJECT_OID_LINES_H
#define OBJECT_OID_LINES_H

#include "base/cursor.h"
#include "base/error.h"
#include "object/oid.h"

/*
 * The id of the next line, whose end may be that of the file: 1, 0 when there
 * are no more, or ERR_CORRUPT ("invalid <what>: line '...' not a hash") with
 * *oid untouched.
 */
int oid_lines_next(struct oid *oid, struct cursor *c, enum hash_algo algo,
		   const char *what, struct error *err);

#endif
