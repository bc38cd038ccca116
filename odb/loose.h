/* SPDX-License-Identifier: MIT */
/*
 * The bytes of a loose object's file: one zlib stream and nothing after it,
 * of
 *
 *   <type> SP <size in decimal> NUL <content>
 *
 * For instance "blob 6\0hello\n" (gitrepository-layout(5)).
 */
#ifndef ODB_LOOSE_H
#define ODB_LOOSE_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "object/type.h"
#include "pack/inflate.h"

#define LOOSE_HEADER_MAX 32 /* longest type, 20 digits, SP and NUL: 28 */

struct loose_header {
	enum object_type type;
	uint64_t size;     /* bytes of content */
	size_t header_len; /* bytes before it */
};

/*
 * Parse the header from the front of inflated bytes. ERR_CORRUPT for unknown
 * types, sizes with leading zeros or past 64 bits, and missing parts.
 */
int loose_header_parse(struct loose_header *header, const void *bytes,
		       size_t len, struct error *err);

/*
 * Inflate and parse only the header of a file. `name` is for messages. 0 or
 * ERR_CORRUPT.
 */
int loose_info(struct loose_header *header, struct inflater *inf,
	       const void *file, size_t file_len, const char *name,
	       struct error *err);

/* A decoded loose object. */
struct loose_object {
	enum object_type type;
	const uint8_t *data; /* points into `memory`; NUL-terminated past len */
	size_t len;
	void *memory; /* malloc()ed; the caller's */
};

/*
 * Decode a file. 0, or ERR_CORRUPT, ERR_NOMEM with *obj zeroed. No memory is
 * taken for sizes that the file's length rules out.
 */
int loose_read(struct loose_object *obj, struct inflater *inf, const void *file,
	       size_t file_len, const char *name, struct error *err);

#endif
