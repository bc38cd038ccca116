/* SPDX-License-Identifier: MIT */
/*
 * A fetch as one line of text, for the log of requests. If no ids are left out,
 * the line has everything that determines the content of the pack. `git bitmap
 * explain --request=<text>` reads the text and answers the fetch again.
 *
 *	want=<id>,<id>,+498 have=<id> shallow=<id> thin ofs-delta include-tag
 *	filter=blob:none
 *
 * Each word appears at most once, and an empty list has no word. The filter is
 * the last word and goes to the end of the text, because a path in a filter may
 * contain spaces. A long list is shortened: "+498" at its end says that 498
 * further ids were left out.
 */
#ifndef WIRE_REQUEST_TEXT_H
#define WIRE_REQUEST_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "object/oid.h"

/*
 * Maximum number of ids in one list of a text; "+<number>" counts the ids that
 * were left out.
 */
#define REQUEST_TEXT_IDS_MAX 64

/* The first ids of a list. */
struct request_text_ids {
	struct oid oids[REQUEST_TEXT_IDS_MAX];
	size_t nr; /* number of ids in `oids` */
	/* number of further ids, which were left out */
	uint64_t more;
};

struct request_text {
	struct request_text_ids wants;
	/* the haves that the server has, too */
	struct request_text_ids haves;
	/*
	 * the commits that are treated as having no parents: the present and
	 * the future shallow boundary of the client
	 */
	struct request_text_ids shallow;
	bool thin, ofs_delta, include_tag;
	/* borrowed: the specification of the filter; NULL: none */
	const char *filter;
};

/* Copies the first ids of a list. */
void request_text_ids_set(struct request_text_ids *ids, const struct oid *oids,
			  size_t nr);

/* Appends the text of a request. Returns 0 or ERR_NOMEM. */
int request_text_print(struct buf *out, const struct request_text *request,
		       enum hash_algo algo);

/*
 * Parses the text of a request. The filter is not parsed; request->filter
 * points into `text`. Returns 0, or ERR_INVALID. After an error, *request is
 * undefined.
 */
int request_text_parse(struct request_text *request, const char *text,
		       enum hash_algo algo, struct error *err);

#endif
