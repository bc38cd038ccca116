/* SPDX-License-Identifier: MIT */
/*
 * Which packs to put into one so that the numbers of objects of all packs
 * form a geometric progression (git-repack(1), --geometric).
 *
 *	objects     3   5   8  40 100 260        factor 2
 *	           '---------'  |               3+5+8 = 16 <= 40 / 2
 *	            into one   stay
 */
#ifndef REPACK_GEOMETRY_H
#define REPACK_GEOMETRY_H

#include <stddef.h>
#include <stdint.h>

/*
 * `counts`: objects of each pack, ascending. Returns how many of the first
 * are to become one; 0: it is a progression already.
 */
size_t geometry_split(const uint32_t *counts, size_t nr, uint64_t factor);

#endif
