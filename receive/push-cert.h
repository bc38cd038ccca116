/* SPDX-License-Identifier: MIT */
/*
 * Push certificates: the signed commands of a push (gitprotocol-pack(5), "Push
 * Certificate").
 *
 *	certificate version 0.1\n     \
 *	pusher <ident>\n               |  headers
 *	pushee <url>\n                 |
 *	nonce <nonce>\n                |
 *	push-option <option>\n        /   any number
 *	\n
 *	<old> <new> <ref>\n           commands
 *	-----BEGIN SSH SIGNATURE-----\n   signature of all lines above
 *	...
 *
 *	63 65 72 74 69 66 69 63 61 74 65 20 76 65 72 73 69 6f 6e 20 30 2e 31 0a
 *	"certificate version 0.1"
 *	70 75 73 68 65 72 20 78 20 31 20 2b 30 30 30 30 0a 0a
 *	"pusher x 1 +0000", and the empty line that ends the headers
 */
#ifndef RECEIVE_PUSH_CERT_H
#define RECEIVE_PUSH_CERT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/* A parsed push certificate. `text` is borrowed from the caller. */
struct push_cert {
	const char *text;
	size_t len;
	/* number of bytes of the headers, with the empty line that ends them */
	size_t headers_len;
	/* number of bytes before the signature: headers and commands */
	size_t signed_len;
};

/*
 * Parse a certificate. `text` must outlive *cert. Commands are not parsed.
 * Returns 0, or ERR_PEER if the text is malformed. Errors are: another version,
 * no empty line after the headers, no line feed before the signature, or a NUL
 * in the signed part.
 */
int push_cert_parse(struct push_cert *cert, const char *text, size_t len,
		    struct error *err);

/* One value of a header, or one command, without the line feed. */
struct push_cert_line {
	/* borrowed from the certificate; no NUL at the end */
	const char *p;
	size_t len;
};

/*
 * Finds the next header `name` and sets *value. The search starts at the offset
 * *at. The caller sets *at to 0 before the first call, and does not change it
 * between calls. Returns false if there are no more such headers.
 */
bool push_cert_header(struct push_cert_line *value,
		      const struct push_cert *cert, const char *name,
		      size_t *at);

/*
 * Finds the next command and sets *command. The search starts at the offset
 * *at. The caller sets *at to 0 before the first call, and does not change it
 * between calls. Returns false if there are no more commands.
 */
bool push_cert_command(struct push_cert_line *command,
		       const struct push_cert *cert, size_t *at);

#endif
