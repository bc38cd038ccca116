/* SPDX-License-Identifier: MIT */
/*
 * Pack indexes of random packs that have common objects, and a multi-pack-index
 * of these packs. Everything is in memory. Include this header after cmocka.h.
 */
#ifndef T_UNIT_MIDXFILE_H
#define T_UNIT_MIDXFILE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "pack/midx-write.h"
#include "pack/midx.h"
#include "t/unit/random.h"

enum { MIDXFILE_PACKS = 6, MIDXFILE_IDS = 400 };

struct midxfile {
	enum hash_algo algo;
	struct oid ids[MIDXFILE_IDS]; /* sorted */
	struct buf idx_files[MIDXFILE_PACKS];
	struct pack_idx idx[MIDXFILE_PACKS];
	char names[MIDXFILE_PACKS][16];
	struct pack_midx_source sources[MIDXFILE_PACKS];
	/*
	 * The input of the writer in midxfile_write(). Tests may change the
	 * request before they call that function.
	 */
	struct pack_midx_request request;
	struct buf file;
	struct pack_midx_written written;
	struct pack_midx midx;
};

static inline void midxfile_make_idx(struct midxfile *f, unsigned p,
				     uint64_t *seed, bool large)
{
	struct pack_idx_entry entries[MIDXFILE_IDS];
	struct oid checksum = OID_ZERO_INIT;
	uint32_t nr = 0;

	checksum.bytes[0] = (uint8_t)p;
	for (uint32_t i = 0; i < MIDXFILE_IDS; i++) {
		uint64_t off = 12 + random_next(seed) % 100000 * 1000 + i;

		if (large && i % 5 == 0)
			off += UINT64_C(0x70000000) << (i % 4);
		if (p && random_next(seed) % 3 == 0)
			entries[nr++] = (struct pack_idx_entry){f->ids[i].bytes,
								off, 0};
	}
	assert_int_equal(pack_idx_write(&f->idx_files[p], entries, nr,
					&checksum, 2, f->algo, NULL),
			 0);
	assert_int_equal(pack_idx_parse(&f->idx[p], f->idx_files[p].data,
					f->idx_files[p].len, f->algo, "idx",
					NULL),
			 0);
}

/*
 * Make the pack indexes. Pack 0 is empty. Packs 2 and 3 have the same
 * modification time. The modification time of pack 4 is before 1970. If `large`
 * is true, packs with odd numbers have some offsets beyond 2 GiB.
 */
static inline void midxfile_init(struct midxfile *f, enum hash_algo algo,
				 uint64_t *seed, bool large)
{
	static const int64_t mtimes[MIDXFILE_PACKS] = {1, 50, 30, 30, -20, 40};

	memset(f, 0, sizeof(*f));
	f->algo = algo;
	buf_init(&f->file);
	for (uint32_t i = 0; i < MIDXFILE_IDS; i++) {
		/*
		 * Some ids differ from the previous id only in the last byte.
		 */
		if (i % 4 == 1) {
			f->ids[i] = f->ids[i - 1];
			f->ids[i].bytes[hash_len(algo) - 1] = 1;
			continue;
		}
		store_be32(f->ids[i].bytes, i * 10000000);
		store_be32(f->ids[i].bytes + 8, (uint32_t)random_next(seed));
	}
	for (unsigned p = 0; p < MIDXFILE_PACKS; p++) {
		buf_init(&f->idx_files[p]);
		midxfile_make_idx(f, p, seed, large && p % 2);
		snprintf(f->names[p], sizeof(f->names[p]), "pack-%u.idx", p);
		f->sources[p] = (struct pack_midx_source){
			f->names[p], &f->idx[p], mtimes[p]};
	}
	f->request = (struct pack_midx_request){
		.packs = f->sources,
		.pack_nr = MIDXFILE_PACKS,
		.preferred = PACK_MIDX_NO_PACK,
		.version = 1,
		.algo = algo,
	};
}

/*
 * Write the multi-pack-index that f->request describes. Parse the written
 * bytes.
 */
static inline void midxfile_write(struct midxfile *f)
{
	struct error err = ERROR_INIT;

	buf_reset(&f->file);
	if (pack_midx_write(&f->file, &f->request, &f->written, &err) < 0 ||
	    pack_midx_parse(&f->midx, f->file.data, f->file.len, f->algo,
			    "midx", &err) < 0)
		fail_msg("%s", err.msg);
}

/* Release the written multi-pack-index. Call this before writing again. */
static inline void midxfile_reset(struct midxfile *f)
{
	pack_midx_release(&f->midx);
}

static inline void midxfile_release(struct midxfile *f)
{
	pack_midx_release(&f->midx);
	for (unsigned p = 0; p < MIDXFILE_PACKS; p++) {
		pack_idx_release(&f->idx[p]);
		buf_release(&f->idx_files[p]);
	}
	buf_release(&f->file);
}

#endif
