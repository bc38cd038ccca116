/* SPDX-License-Identifier: MIT */
/* Declarations for the files that implement publish/publish.h. */
#ifndef PUBLISH_PUBLISH_PARTS_H
#define PUBLISH_PUBLISH_PARTS_H

#include "base/buf.h"
#include "base/strlist.h"
#include "odb/odb.h"
#include "prepared/prepared.h"
#include "publish/publish.h"
#include "sys/share.h"
#include "sys/tempfile.h"

/*
 * Permissions of published files: everybody may read them, whatever the umask
 * is.
 */
#define PUBLISH_SHARE SYS_SHARE(0444)

struct publishing;

/*
 * Publishes a pack of those entries of `pack` that `content` lists. Returns 0
 * or a negative error code.
 */
typedef int (*publish_content_fn)(struct publishing *p,
				  const struct prepared_content *content,
				  const struct odb_pack *pack,
				  struct error *err);

/* State of publishing. */
struct publishing {
	const struct repo *repo;               /* borrowed */
	const struct published_config *config; /* borrowed */
	const struct publish_options *options; /* borrowed */
	publish_content_fn content;
	/* the callback of publish_into(); NULL in publish_run() */
	publish_note_fn note;
	void *ctx;
	struct odb *odb; /* owned */
	/*
	 * owned: path of the repository's place (the directory of its published
	 * files). In publish_into(), it is the path in the argument `dir`.
	 */
	char *place;
	enum sys_fsync_method method;
	/* owned: the names of the files that clients get from now on */
	struct strlist current;
};

/* Calls options->note(). */
static inline void publish_note(const struct publishing *p,
				enum publish_event event, const char *name,
				uint64_t len)
{
	if (p->options->note)
		p->options->note(p->options->ctx, event, name, len);
}

/* ---- publish-write.c */

/*
 * Make sure that p->place, the directory of the repository's published files,
 * has a file with the pack that `content` describes. Add the name of the file
 * to p->current. Returns 0 or a negative error code.
 */
int publish_content(struct publishing *p,
		    const struct prepared_content *content,
		    const struct odb_pack *pack, struct error *err);

/*
 * Write the pack that `content` describes into the directory p->place, and call
 * p->note() with its path. If `content` is all of the existing `pack`, write
 * nothing, and call p->note() with the path of `pack`. Returns 0 or a negative
 * error code.
 */
int publish_content_into(struct publishing *p,
			 const struct prepared_content *content,
			 const struct odb_pack *pack, struct error *err);

/* ---- publish-expire.c */

/*
 * Retire the published files that are not in p->current: they are not offered
 * any more. Remove files that retired before `expire` (seconds since 1970), and
 * remains of killed processes. The caller holds the lock of p->place. Returns 0
 * or a negative error code.
 */
int publish_expire(struct publishing *p, int64_t expire, struct error *err);

#endif
