/* SPDX-License-Identifier: MIT */
/*
 * The times of a cruft pack's objects (.mtimes). An object's time is when the
 * object was last known to be in use, like the modification time of a loose
 * object (gitformat-pack(5)). A pack with such a file is a cruft pack: its
 * objects are unreachable.
 *
 * 	"MTME" | version 1 | hash id: 1 SHA-1, 2 SHA-256
 * 	nr x 4      seconds since 1970, in the order of the index
 * 	pack checksum | own checksum
 *
 * The file of a pack whose only object has the time 2005-04-07 22:14:17 UTC:
 *
 * 	00  4d544d45 00000001 00000001
 * 	0c  4255b0b9
 * 	10  de041240 1f4a9e5f 05411f44 eaf9c86d 46096746
 * 	24  7ff05f42 ebee92a9 44a217b9 cb79fcc0 98b0e70b
 *
 * The numbers have 32 bits and end in 2106. Earlier times than 1970 are written
 * as 0, and later times than 2106 as the largest number.
 */
#ifndef PACK_MTIMES_H
#define PACK_MTIMES_H

#include <stdint.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/error.h"
#include "pack/idx.h"
#include "pack/pack.h"
#include "sys/map.h"

/*
 * A parsed .mtimes file. Immutable; borrows the index and the bytes of the
 * file.
 */
struct pack_mtimes {
	const struct pack_idx *idx;
	/* `nr` big-endian times, indexed by idx_pos; points into the file */
	const uint8_t *table;
	const uint8_t *bytes; /* the whole file */
	size_t len;
};

/*
 * Parses the .mtimes file of the pack with the index `idx`. Verifies size,
 * header and pack checksum. Returns 0 or ERR_CORRUPT. After an error, *m is
 * zeroed.
 */
int pack_mtimes_parse(struct pack_mtimes *m, const struct pack_idx *idx,
		      const void *bytes, size_t len, const char *name,
		      struct error *err);

/*
 * Verifies the checksum of the file: a damaged time could make an object expire
 * too early. Returns 0, ERR_CORRUPT or ERR_NOMEM.
 */
int pack_mtimes_verify(const struct pack_mtimes *m, const char *name,
		       struct error *err);

/* The .mtimes file of a pack, mapped. */
struct pack_mtimes_file {
	struct sys_map map;
	/* the parsed file; points into `map` and the pack's index */
	struct pack_mtimes times;
};

/*
 * Maps, parses and verifies "<pack->path>.mtimes". `pack` must outlive *f.
 * Returns 0, ERR_MISSING if there is no such file, ERR_CORRUPT, ERR_IO or
 * ERR_NOMEM. The caller closes *f in any case.
 */
int pack_mtimes_open(struct pack_mtimes_file *f, const struct pack *pack,
		     struct error *err);
void pack_mtimes_close(struct pack_mtimes_file *f);

/*
 * Removes the .mtimes file of the pack at `pack_path` ("<base>.pack"), if
 * there is one. Call this after writing an ordinary pack over a cruft pack of
 * the same name, to make the pack ordinary. The new .pack file must have its
 * modification time already, because the objects have this time from now on.
 * Returns 0, ERR_IO or ERR_NOMEM.
 */
int pack_mtimes_drop(const char *pack_path, struct error *err);

/*
 * Returns the time of the object at idx_pos < idx->nr, in seconds since 1970.
 */
static inline uint32_t pack_mtimes_get(const struct pack_mtimes *m,
				       uint32_t idx_pos)
{
	return load_be32(m->table + 4 * (size_t)idx_pos);
}

/*
 * Returns the time as a number of 32 bits; times before 1970 become 0, and
 * times after 2106 the largest number.
 */
static inline uint32_t pack_mtimes_clamp(int64_t seconds)
{
	if (seconds < 0)
		return 0;
	return seconds > UINT32_MAX ? UINT32_MAX : (uint32_t)seconds;
}

/*
 * Appends a whole .mtimes file. `mtimes` is an array of times, indexed by
 * idx_pos. Returns 0 or ERR_NOMEM.
 */
int pack_mtimes_write(struct buf *out, const uint32_t *mtimes, uint32_t nr,
		      const struct oid *pack_checksum, enum hash_algo algo,
		      struct error *err);

#endif
