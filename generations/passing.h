/* SPDX-License-Identifier: MIT */
/*
 * Passes a change to another process, which makes the record of the change. A
 * record is the file in the store that describes one generation (version) of a
 * repository. The files of the change are already in the store. The message has
 * these fields, with the types of store/relay-message.h:
 *
 *	text repository, node, user, action       be64 seen, session_ns
 *	text upload, seen_token (16 bytes each)   be64 start_ns, start_time
 *	be32 number of uploads; for each: text path, text SHA-256, be64 size,
 *	    1 byte: whether the file is executable
 *	be32 number of refs; for each: text ref, 1 byte: 1 if `before` follows,
 *	    2 if `after` follows, 3 for both; text before, text after
 *
 * `seen` is the number of the generation from which the change was made, and
 * seen_token is the token of this generation. `upload` is the token in the
 * names of the uploaded files. start_ns and start_time are the time before the
 * first upload (struct generation_session).
 *
 * Only the change of a push can be passed. The change of a push drops no files
 * and writes no reftables. The new values of its refs are listed in the record
 * itself.
 */
#ifndef GENERATIONS_PASSING_H
#define GENERATIONS_PASSING_H

#include "base/cursor.h"
#include "base/strlist.h"
#include "generations/history.h"

/*
 * Appends a change to a message. `session` says how and when the files of the
 * change were written (generation_session_begin()). Returns 0, ERR_NOMEM, or
 * ERR_INVALID if the change drops files or objects, or sets
 * change->tables_up_to.
 */
int generation_passed_print(struct buf *message, const char *repository,
			    const struct generation_change *change,
			    const struct generation_session *session,
			    struct error *err);

/* A change that was received. */
struct generation_passed {
	/* owned: the strings of the change, and the name of the repository */
	struct strlist texts;
	struct generation_upload *uploads;  /* owned */
	struct generation_ref_change *refs; /* owned */
	const char *repository;             /* borrowed from `texts` */
	/* borrowed from the fields above; without find_ref */
	struct generation_change change;
	struct generation_session session;
};

/*
 * Parses the part of a message that generation_passed_print() has appended.
 * Does not check the texts of the change, such as the name of the user, a path
 * or the value of a ref. They are checked later, when the record of the change
 * is made. Release *out in any case. Returns 0, ERR_PEER if the message is
 * malformed, or ERR_NOMEM.
 */
int generation_passed_parse(struct generation_passed *out, struct cursor *c,
			    struct error *err);
void generation_passed_release(struct generation_passed *passed);

#endif
