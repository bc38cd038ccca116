/* SPDX-License-Identifier: MIT */
/*
 * The nonce of signed pushes: what the pusher has to sign, so that an old
 * certificate cannot be used again (gitprotocol-capabilities(5), "push-cert";
 * git-receive-pack(1)).
 *
 *	1795290525-0c57491798408521baf716dc6534e1687c077707
 *	seconds    HMAC of receive.certNonceSeed, keyed with the
 *	           repository's path, a colon and the seconds
 *
 * Nothing of it is stored: whoever has the seed knows which ones were issued
 * for a repository and when, also in the process of a later HTTP request, which
 * may be served by another program: of servers that share a seed each takes the
 * other's nonces. That is why seed and path are in this order (git-config(1)
 * calls the seed the key), the hash is the repository's, and the path is that
 * which the program was given: it is what stock Git 2.39 and 2.55 were seen to
 * send.
 */
#ifndef RECEIVE_PUSH_NONCE_H
#define RECEIVE_PUSH_NONCE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "object/oid.h"

/* What the nonces of a repository are made with; all borrowed. */
struct push_nonce_maker {
	enum hash_algo algo;
	const char *seed;
	const char *path;
};

/* Append the nonce of a time, in seconds since 1970. 0 or ERR_NOMEM. */
int push_nonce_make(struct buf *out, const struct push_nonce_maker *maker,
		    int64_t seconds);

enum push_nonce_status {
	PUSH_NONCE_MISSING, /* there is none */
	PUSH_NONCE_BAD,     /* not one of ours, or not of this session */
	PUSH_NONCE_OK,
	PUSH_NONCE_SLOP, /* of another time than this request's */
};

/* As GIT_PUSH_CERT_NONCE_STATUS has it. */
const char *push_nonce_status_name(enum push_nonce_status status);

struct push_nonce_check {
	enum push_nonce_status status;
	int64_t slop;  /* with SLOP: seconds since it was issued */
	bool was_slop; /* OK because the slop is allowed */
};

/*
 * Judge the nonce of a certificate (NULL: it has none) against the one that
 * this process issued at `seconds`. With `stateless` it was an earlier process
 * that talked to the pusher, and other times may count: those at most
 * `slop_max` seconds away are OK. 0 or ERR_NOMEM.
 */
int push_nonce_check(struct push_nonce_check *out,
		     const struct push_nonce_maker *maker, int64_t seconds,
		     const char *nonce, bool stateless, uint64_t slop_max);

#endif
