/* SPDX-License-Identifier: MIT */
/*
 * The parts of a commit or tag as printed by formats: header lines, persons,
 * and the message:
 *
 *   subject, one or more lines
 *   blank lines
 *   body
 *   signature, from a line "-----BEGIN PGP SIGNATURE-----" or the like
 *
 * Nothing is copied; spans point into the object's bytes.
 */
#ifndef BUILTIN_MESSAGE_H
#define BUILTIN_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

struct message_span {
	const char *p;
	size_t len;
};

struct message {
	struct message_span whole;   /* all of it, without blank lines first */
	struct message_span subject; /* without the newline at its end */
	struct message_span body;    /* up to the signature, which follows */
	struct message_span signature; /* empty when there is none */
};

void message_parse(struct message *m, const void *data, size_t len);

/* The value of the first header line of that name; false when none. */
bool message_header(struct message_span *value, const void *data, size_t len,
		    const char *name);

/* The name in "Name <email> date". */
struct message_span message_person_name(struct message_span person);

/*
 * The address in it, with its angle brackets, or without (`trim`), or only up
 * to the @ (`local`).
 */
struct message_span message_person_email(struct message_span person, bool trim,
					 bool local);

/* The subject on one line. 0 or ERR_NOMEM. */
int message_append_subject(struct buf *out, const struct message *m);

/*
 * The first `nr` lines of subject and body, each but the first indented by
 * four spaces, as git-tag -n<nr> shows them.
 */
int message_append_lines(struct buf *out, const struct message *m, size_t nr);

#endif
