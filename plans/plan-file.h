/* SPDX-License-Identifier: MIT */
/*
 * The file of a plan, by which processes share the plan. All numbers are
 * big-endian. Documentation/format/plan.md has a field table and an example.
 *
 * 	| header and report | absent | packs | pieces | literals | SHA-256 |
 * 	                                 ^        |         ^
 * 	                                 +--------+---------+
 * 	          a piece: a range of a pack, or the next bytes of the literals
 *
 * 	absent: objects left out of the sent pack, because the client gets them
 * 	        from elsewhere; most files do not have this table
 *
 * A pack is named by its checksum and its size, so a file stays valid when
 * packs are added or removed. A process uses the file only if all packs that
 * the file names are in the process's repository. So a file gives nobody a pack
 * of another repository.
 *
 * The parser validates everything. A file that was cut or damaged is
 * ERR_CORRUPT.
 */
#ifndef PLANS_PLAN_FILE_H
#define PLANS_PLAN_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "odb/odb.h"
#include "packing/send.h"
#include "plans/plan.h"

#define PLAN_KEY_LEN 32

/* A parsed file. Its pointers point into the parsed bytes. */
struct plan_file {
	const uint8_t *key; /* PLAN_KEY_LEN bytes */
	enum hash_algo algo;
	uint32_t pack_nr, piece_nr;
	/*
	 * Objects that the sent pack lacks, as in struct plan_absent.
	 * `absent_pack` is the checksum of a stored pack, and `absent_pack_len`
	 * its length: all its objects are lacking (0: no such pack). `absent`
	 * has the ids of `absent_nr` single objects. All four are zero if
	 * nothing is lacking.
	 */
	const uint8_t *absent_pack, *absent;
	uint64_t absent_pack_len;
	uint32_t absent_nr;
	/* for each pack: its checksum and its size (be64) */
	const uint8_t *packs;
	/*
	 * for each piece: number of its pack (be32), offset in the pack and
	 * length (be64 each)
	 */
	const uint8_t *pieces;
	const uint8_t *literals; /* literal_len bytes */
	size_t literal_len;
	/*
	 * what packing_send() reported when the pack was made, without
	 * durations, and without the choice of a bitmap index
	 */
	struct packing_report report;
};

/*
 * Parses a file. `name` is for messages. Returns 0, ERR_CORRUPT,
 * ERR_UNSUPPORTED for another version, or ERR_NOMEM.
 */
int plan_file_parse(struct plan_file *file, const void *bytes, size_t len,
		    const char *name, struct error *err);

/*
 * Makes a plan from a parsed file and the packs of a snapshot. The spans of the
 * plan point into the packs of the snapshot, the literals into the bytes of the
 * file. The caller releases *plan in any case. Returns 0, ERR_MISSING if the
 * snapshot lacks one of the packs, ERR_IO if a pack cannot be mapped, or
 * ERR_NOMEM.
 */
int plan_file_resolve(struct plan *plan, const struct plan_file *file,
		      const struct odb *odb, struct error *err);

/*
 * Returns the length of the file of a plan whose spans are in `pack_nr` packs,
 * or SIZE_MAX if the file would be too large.
 */
size_t plan_file_len(const struct plan *plan, uint32_t pack_nr,
		     enum hash_algo algo);

/*
 * Appends the file of a plan to *out. Returns 0, ERR_NOMEM, or ERR_INVALID if a
 * span is not in a pack of the snapshot or if report->strategy is unknown.
 */
int plan_file_print(struct buf *out, const uint8_t key[PLAN_KEY_LEN],
		    const struct plan *plan,
		    const struct packing_report *report, const struct odb *odb,
		    struct error *err);

#endif
