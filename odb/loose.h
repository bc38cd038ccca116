/* SPDX-License-Identifier: MIT */
/*
 * The format of a loose object's file. The file is one zlib stream, and no
 * bytes follow the stream. The inflated bytes are
 *
 * 	<type> SP <size in decimal> NUL <content>
 *
 * For example "blob 6\0hello\n" (gitrepository-layout(5)).
 */
#ifndef ODB_LOOSE_H
#define ODB_LOOSE_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "object/type.h"
#include "pack/inflate.h"

/*
 * length of the longest header, rounded up: the longest type name (6), a
 * space, 20 digits and a NUL are 28 bytes
 */
#define LOOSE_HEADER_MAX 32

struct loose_header {
	enum object_type type;
	/* number of bytes of the content */
	uint64_t size;
	/* number of bytes before the content */
	size_t header_len;
};

/*
 * Parses the header at the start of inflated bytes. Returns 0 or ERR_CORRUPT.
 * The header is corrupt if the type is unknown, if the size has leading zeros
 * or exceeds 64 bits, or if a part is missing.
 */
int loose_header_parse(struct loose_header *header, const void *bytes,
		       size_t len, struct error *err);

/*
 * Inflates and parses only the header of a file. `name` is for messages.
 * Returns 0 or ERR_CORRUPT.
 */
int loose_info(struct loose_header *header, struct inflater *inf,
	       const void *file, size_t file_len, const char *name,
	       struct error *err);

/* A decoded loose object. */
struct loose_object {
	enum object_type type;
	/* content of the object, followed by a NUL; points into `memory` */
	const uint8_t *data;
	size_t len;
	/* owned by the caller, who frees it with free() */
	void *memory;
};

/*
 * Decodes the file of a loose object. Returns 0, ERR_CORRUPT or ERR_NOMEM;
 * after an error *obj is zeroed. A size in the header that is impossible for
 * the length of the file is an error. This error is found before any memory is
 * allocated.
 */
int loose_read(struct loose_object *obj, struct inflater *inf, const void *file,
	       size_t file_len, const char *name, struct error *err);

#endif
