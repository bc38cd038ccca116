/* SPDX-License-Identifier: MIT */
/*
 * Packs that clients download from another server (packfile-uris of
 * gitprotocol-v2(5)). A repack publishes packs in a directory that a web server
 * or a CDN serves:
 *
 * 	<gitreach.publishDirectory>/<place>/<checksum>.pack
 * 	<gitreach.publishUri>/<place>/<checksum>.pack
 *
 * <checksum> is the trailer of the pack, so a file never changes its content.
 * <place> stands for one object directory. It is the first 32 hex digits of a
 * SHA-256 over the file info/publish-salt in that directory and the directory's
 * absolute path. The file has 16 random bytes, as 32 hex digits and a newline,
 * and the permissions of an object. So only users who can read the repository
 * can compute the name of its place. Repositories can share a publish
 * directory. No repository removes files of another one, even if one is a copy
 * of the other with the same salt.
 *
 * This module finds published packs. publish/publish.h writes and removes them.
 */
#ifndef PUBLISH_PUBLISHED_H
#define PUBLISH_PUBLISHED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "object/oid.h"
#include "odb/odb.h"
#include "repo/repo.h"

struct hash_ctx;

/* Number of hex digits in the name of a directory of published files. */
#define PUBLISHED_PLACE_LEN 32

/*
 * The salt of an object directory is a random text from which the name of its
 * directory of published files is computed. PUBLISHED_SALT is the path of the
 * salt's file, relative to the object directory. PUBLISHED_SALT_LEN is the
 * length of the file in bytes.
 */
#define PUBLISHED_SALT "info/publish-salt"
#define PUBLISHED_SALT_LEN 33

/*
 * Suffix of marker files. An empty file "<name>.retired" means that the
 * published file <name> is not offered any more, and will be removed.
 */
#define PUBLISHED_RETIRED ".retired"

/* Limits of gitreach.publishStoreLifetime in seconds, and its default. */
#define PUBLISHED_LIFETIME_MIN 60
#define PUBLISHED_LIFETIME_MAX ((uint64_t)6 * 3600)

/* The configuration. */
struct published_config {
	/* owned: gitreach.publishDirectory; NULL: nothing is published */
	char *dir;
	/*
	 * owned: gitreach.publishUri, without slashes at the end; NULL: no
	 * pack is offered to clients
	 */
	char *uri;
	/* gitreach.publishStore: whether `git store repack` publishes packs */
	bool store;
	/*
	 * Owned: gitreach.publishStoreUri, the address of a CDN from which
	 * clients get packs of the store, without slashes at the end. NULL:
	 * clients get signed addresses of the store itself.
	 */
	char *store_uri;
	/*
	 * gitreach.publishStoreLifetime: how many seconds a signed address is
	 * valid
	 */
	uint64_t store_lifetime;
	/* gitreach.publishShallow: publish clones of depth 1, too */
	bool shallow;
	/* gitreach.publishBundles: publish bundles, too */
	bool bundles;
	/*
	 * value of gitreach.publishMinimum in bytes: smaller packs are not
	 * published
	 */
	uint64_t minimum;
	/*
	 * borrowed from the configuration: gitreach.publishExpire, an age as in
	 * gc.pruneExpire
	 */
	const char *expire;
};

/*
 * Read the configuration of `repo`, which must outlive *config. Returns 0,
 * ERR_INVALID for a bad value, or ERR_NOMEM. The caller releases *config in
 * each case.
 */
int published_config_load(struct published_config *config,
			  const struct repo *repo, struct error *err);
void published_config_release(struct published_config *config);

/*
 * Returns the path of the directory in which the packs of an object directory
 * are published; the caller frees the path. config->dir must be set. Returns
 * NULL after an error. The error is ERR_MISSING if the object directory has no
 * salt file, so nothing was published.
 */
char *published_place(const struct published_config *config,
		      const char *object_dir, struct error *err);

/*
 * Append the file name "<checksum>.pack" of a published pack. Returns 0 or
 * ERR_NOMEM.
 */
int published_pack_name(struct buf *out, const struct oid *checksum,
			enum hash_algo algo);

/*
 * The directories of published files of a repository. Each object directory of
 * the repository may have one.
 */
struct published {
	const struct published_config *config; /* borrowed */
	enum hash_algo algo;
	/*
	 * owned: paths of the directories of published files; directories that
	 * do not exist are left out
	 */
	char **places;
	size_t nr;
};

/*
 * Find the directories of published files, one for each object directory of
 * `odb`. `config` must outlive *p. If nothing is published, p->nr is 0. Returns
 * 0, or ERR_NOMEM with *p empty. Cost: about two system calls for each object
 * directory.
 */
int published_open(struct published *p, const struct published_config *config,
		   const struct odb *odb, struct error *err);
void published_close(struct published *p);

/*
 * Append the URI of a published pack to *uri. Returns 1 if it was appended, or
 * ERR_NOMEM. Returns 0 if no directory of published files has a file with the
 * pack's name and this length, or if that file is retired.
 */
int published_find(struct buf *uri, const struct published *p,
		   const struct oid *checksum, uint64_t len);

/*
 * Add to *hash the names and lengths of the packs that published_find() can
 * find. Returns 1 if they were added, 0 if a directory of published files has
 * too many files, or ERR_NOMEM. Cost: a listing of each directory, and two
 * system calls for each pack.
 */
int published_identify(const struct published *p, struct hash_ctx *hash,
		       struct error *err);

/*
 * Returns whether `protocols`, a list from a client such as "http,https", has
 * the protocol of a URI: the part before "://".
 */
bool published_uri_is_taken(const char *uri, const char *protocols);

#endif
