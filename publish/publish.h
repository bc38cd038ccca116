/* SPDX-License-Identifier: MIT */
/*
 * Publishes packs of a repository: writes them into the repository's directory
 * of published files (publish/published.h), and removes old ones.
 *
 *	objects/info/prepared     clone of HEAD's branch   ---> <checksum>.pack
 *	                          clone of all branches    ---> <checksum>.pack
 *	                          clone of all refs        ---> <checksum>.pack
 *
 * Each published pack is the content of a prepared answer, as a whole pack
 * (prepared/prepared.h). A pack is published only if all objects that the clone
 * wants are reachable from refs that are visible to clients.
 *
 * A pack that is no longer offered to clients stays for a while, because
 * clients may be downloading it, or may know its address and start later. The
 * empty file <checksum>.pack.retired marks such a pack. The pack was not
 * offered after the modification time of this file.
 */
#ifndef PUBLISH_PUBLISH_H
#define PUBLISH_PUBLISH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "publish/published.h"
#include "repo/repo.h"

enum publish_event {
	/* the file was there already */
	PUBLISH_KEPT,
	PUBLISH_WRITTEN, /* the file was written */
	/* the file is a hard link to the repository's pack */
	PUBLISH_LINKED,
	/* the file is no longer offered to clients, but stays for a while */
	PUBLISH_RETIRED,
	PUBLISH_REMOVED, /* the file was removed */
};

struct publish_options {
	/*
	 * Called for each published file. Also called for each file that is no
	 * longer offered to clients, but stays for a while (PUBLISH_RETIRED).
	 * `len` is the size of the file in bytes. NULL: nothing is called.
	 */
	void (*note)(void *ctx, enum publish_event event, const char *name,
		     uint64_t len);
	void *ctx;
	/* the present time, seconds since 1970 */
	int64_t now;
};

/*
 * Make the place of a repository (the directory of its published files) if
 * needed, and lock it. config->dir must be set, and the directory must exist.
 * *place is owned by the caller, and NULL after an error. When the caller
 * closes the descriptor, the lock is released.
 *
 * Returns a descriptor or a negative error code. ERR_UNSUPPORTED: the
 * repository belongs to a fork network. ERR_MISSING: the directory does not
 * exist. ERR_DENIED: another process has the lock. ERR_IO: a system call
 * failed.
 */
int publish_open_place(char **place, const struct repo *repo,
		       const struct published_config *config,
		       struct error *err);

/*
 * Bring the directory of a repository's published files up to date.
 * config->dir, its parent directory, must be set and must exist. If the
 * repository has no prepared answers, all published files retire: they are not
 * offered to clients any more, and are removed after the grace period
 * gitreach.publishExpire. A new file gets its name when it is complete, and is
 * made durable like packs of the repository.
 *
 * Returns 0 or a negative error code. ERR_UNSUPPORTED: the repository belongs
 * to a fork network. ERR_MISSING: config->dir does not exist. ERR_DENIED:
 * another process has the lock of the directory. ERR_INVALID:
 * gitreach.publishExpire is no date. ERR_CORRUPT: the repository's pack is
 * damaged. ERR_IO: a system call failed. After an error, files that clients may
 * get are still there.
 *
 * Cost: the bytes of each new pack are read, hashed and written. A whole pack
 * of the repository is only linked.
 */
int publish_run(const struct repo *repo, const struct published_config *config,
		const struct publish_options *options, struct error *err);

/* A pack that publish_into() has found or written. */
struct publish_pack {
	struct oid checksum;
	uint64_t len; /* bytes */
	/*
	 * Borrowed: path of the pack. If `is_own`, the pack belongs to the
	 * repository; otherwise, the pack is in the directory `dir` of
	 * publish_into().
	 */
	const char *path;
	bool is_own;
};

/*
 * Called for each pack that publish_into() finds or writes. Returns 0, or a
 * negative error code that ends publish_into().
 */
typedef int (*publish_note_fn)(void *ctx, const struct publish_pack *pack,
			       struct error *err);

/*
 * Writes packs into the directory `dir`, which must exist: the packs that
 * publish_run() would publish, as "<checksum>.pack". If a pack would be equal
 * to one of the repository's own packs, does not write it. Removes no file and
 * takes no lock. Calls `note` once for each pack: with the path of the written
 * file, or with the path of the repository's own pack. Returns 0,
 * ERR_UNSUPPORTED, ERR_IO or ERR_CORRUPT as publish_run() does, or another
 * negative error code. After an error, some packs may be in `dir`. Cost: the
 * bytes of each written pack are read, hashed and written.
 */
int publish_into(const struct repo *repo, const struct published_config *config,
		 const char *dir, publish_note_fn note, void *ctx,
		 struct error *err);

#endif
