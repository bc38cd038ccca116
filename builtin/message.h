/* SPDX-License-Identifier: MIT */
/*
 * The parts of a commit or tag that --format fields print: header lines,
 * persons (author, committer, tagger), and the message:
 *
 *	subject, one or more lines
 *	blank lines
 *	body
 *	signature, from a line "-----BEGIN PGP SIGNATURE-----" or the like
 *
 * Spans are not copies; they point into the object's bytes.
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
	/*
	 * the whole message of the commit or tag, without leading blank lines
	 */
	struct message_span whole;
	/* the subject, without the final newline */
	struct message_span subject;
	/* the body, without the signature */
	struct message_span body;
	/* the signature; empty if there is none */
	struct message_span signature;
};

void message_parse(struct message *m, const void *data, size_t len);

/* Find the first header line with this name. Returns false if there is none. */
bool message_header(struct message_span *value, const void *data, size_t len,
		    const char *name);

/* Returns the name in "Name <email> date". */
struct message_span message_person_name(struct message_span person);

/*
 * Returns the address in "Name <email> date". With `trim`, the angle brackets
 * are removed. With `local`, only the part before the @ is returned.
 */
struct message_span message_person_email(struct message_span person, bool trim,
					 bool local);

/* Append the subject on one line. Returns 0 or ERR_NOMEM. */
int message_append_subject(struct buf *out, const struct message *m);

/*
 * Append the first `nr` lines of subject and body in the form of git-tag
 * -n<nr>: each line except the first is indented by four spaces. Returns 0 or
 * ERR_NOMEM.
 */
int message_append_lines(struct buf *out, const struct message *m, size_t nr);

#endif
