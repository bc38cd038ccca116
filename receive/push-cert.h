/* SPDX-License-Identifier: MIT */
/*
 * A push certificate: the commands of a push, as they were signed
 * (gitprotocol-pack(5), "Push Certificate").
 *
 *	certificate version 0.1\n     \
 *	pusher <ident>\n               |  headers
 *	pushee <url>\n                 |
 *	nonce <nonce>\n                |
 *	push-option <option>\n        /   any number
 *	\n
 *	<old> <new> <ref>\n           commands
 *	-----BEGIN SSH SIGNATURE-----\n   signature, of all that is above it
 *	...
 *
 *	63 65 72 74 69 66 69 63 61 74 65 20 76 65 72 73 69 6f 6e 20 30 2e 31 0a
 *	"certificate version 0.1"
 *	70 75 73 68 65 72 20 78 20 31 20 2b 30 30 30 30 0a 0a
 *	"pusher x 1 +0000", the end of the headers
 */
#ifndef RECEIVE_PUSH_CERT_H
#define RECEIVE_PUSH_CERT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/* Views of the text that was parsed. */
struct push_cert {
	const char *text;
	size_t len;
	size_t headers_len; /* the first line, and the empty one, included */
	size_t signed_len;  /* where the signature begins, or the end */
};

/*
 * Take a certificate apart. 0, or ERR_PEER when it is none: another version,
 * no end of the headers, a line without its line feed, or a NUL above the
 * signature. Commands are not looked at.
 */
int push_cert_parse(struct push_cert *cert, const char *text, size_t len,
		    struct error *err);

/* A line, or the part of it that is asked for, without its line feed. */
struct push_cert_line {
	const char *p; /* borrowed from the text; no NUL follows */
	size_t len;
};

/*
 * The next header of that name, in *value. *at: where to go on, 0 at first.
 * False when there is none.
 */
bool push_cert_header(struct push_cert_line *value,
		      const struct push_cert *cert, const char *name,
		      size_t *at);

/* The next command; likewise. */
bool push_cert_command(struct push_cert_line *command,
		       const struct push_cert *cert, size_t *at);

#endif
