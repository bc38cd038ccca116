/* SPDX-License-Identifier: MIT */
/*
 * Verifies a whole pack.
 *
 * Together with the checks of pack_open() and pack_chains_init(), success means
 * the following. Both files have the right checksums. The entries fill the pack
 * without a gap. The CRC of each entry and the id of each object are those in
 * the index. The content of objects is not parsed; fsck does that.
 */
#ifndef PACK_VERIFY_H
#define PACK_VERIFY_H

#include "base/error.h"
#include "pack/chains.h"

/*
 * Verifies the checksums of the .pack and .idx files, and the order of the
 * index. Objects are not read. Returns 0, ERR_CORRUPT or ERR_NOMEM.
 */
int pack_verify_files(const struct pack *pack, struct error *err);

/*
 * Verifies the order and the checksum of "<pack>.rev". Returns 0 if the .rev
 * file is right or missing, ERR_CORRUPT, or another negative error code.
 */
int pack_verify_rev(const struct pack *pack, struct error *err);

/*
 * Verifies a pack with `threads` threads. Each family of deltas is visited
 * depth first. So a thread needs only those bases of the current object that
 * have further children. Each thread keeps at most 96 MiB of bases. If this
 * limit suffices, every object is inflated once. Otherwise, bases are dropped
 * and made again. Returns 0, ERR_CORRUPT (with pack and offset in the message)
 * or ERR_NOMEM.
 */
int pack_verify(const struct pack_chains *chains, unsigned threads,
		struct error *err);

/* Callbacks for the objects of a pack that is being verified. */
struct pack_verify_hooks {
	/*
	 * Called for each object that has the right id. The bytes are valid
	 * until the callback returns. `thread_nr` < threads. A negative result
	 * ends the verification.
	 */
	int (*object)(void *ctx, unsigned thread_nr, uint32_t idx_pos,
		      enum object_type type, const void *data, size_t len,
		      struct error *err);
	/*
	 * Called for each object that is wrong or unreadable. Deltas that are
	 * made from this object are skipped.
	 */
	int (*bad)(void *ctx, unsigned thread_nr, uint32_t idx_pos,
		   const struct error *why, struct error *err);
	void *ctx;
};

/*
 * Verifies all objects like pack_verify(), but not the checksums of the files.
 * The verification continues after a wrong object. Both callbacks are required.
 * Returns 0, the first negative result of a callback, or ERR_NOMEM.
 */
int pack_verify_objects(const struct pack_chains *chains, unsigned threads,
			const struct pack_verify_hooks *hooks,
			struct error *err);

#endif
