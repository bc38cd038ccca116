/* SPDX-License-Identifier: MIT */
/*
 * Signed pushes: verify the certificate of a push, and store the certificate
 * for hooks (git-receive-pack(1), GIT_PUSH_CERT).
 *
 * The certificate becomes a blob in the quarantine, so a refused push leaves no
 * blob behind. A push with a bad signature or nonce is not refused here: hooks
 * decide.
 */
#ifndef RECEIVE_RECEIVE_CERT_H
#define RECEIVE_RECEIVE_CERT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "object/oid.h"
#include "repo/signature.h"

/*
 * ---- push-nonce.c
 *
 * The nonce of signed pushes. The client signs the nonce, so that nobody can
 * use an old certificate again (gitprotocol-capabilities(5), "push-cert";
 * git-receive-pack(1)).
 *
 *	1795290525-0c57491798408521baf716dc6534e1687c077707
 *	seconds    HMAC of receive.certNonceSeed, keyed with the
 *	           repository's path, a colon and the seconds
 *
 * Nonces are not stored. A process that has the seed can verify the nonce of
 * another process, for instance in a later HTTP request. Servers that share a
 * seed accept each other's nonces, stock Git's too. For this reason the nonce
 * is made like that of stock Git 2.39 and 2.55: the seed is the text of the
 * HMAC, and the path is a part of the HMAC's key. git-config(1) calls the seed
 * the key, but stock Git's output shows otherwise. The hash algorithm is that
 * of the repository. The path is the argument of receive-pack.
 */

/*
 * The data from which the nonces of a repository are computed. Pointers are
 * borrowed.
 */
struct push_nonce_maker {
	enum hash_algo algo;
	const char *seed;
	const char *path;
};

/*
 * Append the nonce for a time in seconds since 1970 to *out. Returns 0 or
 * ERR_NOMEM.
 */
int push_nonce_make(struct buf *out, const struct push_nonce_maker *maker,
		    int64_t seconds);

enum push_nonce_status {
	/* the certificate has no nonce */
	PUSH_NONCE_MISSING,
	/*
	 * The nonce was not made with the seed, or was issued in another
	 * session.
	 */
	PUSH_NONCE_BAD,
	PUSH_NONCE_OK,
	/*
	 * The nonce was made with the seed, but its time is not the time of
	 * this process's own nonce.
	 */
	PUSH_NONCE_SLOP,
};

/*
 * Returns the value of GIT_PUSH_CERT_NONCE_STATUS for hooks, for instance "OK".
 */
const char *push_nonce_status_name(enum push_nonce_status status);

struct push_nonce_check {
	enum push_nonce_status status;
	/* Seconds between the time of the nonce and this request. */
	int64_t slop;
	/*
	 * true: the status is PUSH_NONCE_OK only because `slop` is within
	 * receive.certNonceSlop
	 */
	bool was_slop;
};

/*
 * Check the nonce of a certificate. `nonce` is NULL if the certificate has no
 * nonce. `seconds` is the time at which this process issued its own nonce.
 *
 * If `stateless` is true, an earlier process may have issued the nonce. In this
 * case a nonce is OK if its time is at most `slop_max` seconds before or after
 * `seconds`. Returns 0 or ERR_NOMEM.
 */
int push_nonce_check(struct push_nonce_check *out,
		     const struct push_nonce_maker *maker, int64_t seconds,
		     const char *nonce, bool stateless, uint64_t slop_max);

/* ---- receive-cert.c */

struct receive;

/*
 * The certificate of a signed push. receive_cert_init() sets `issued` and
 * `seconds`, and receive_cert_judge() sets all other members.
 */
struct receive_cert {
	/*
	 * the nonce that this process advertised; empty: no signed pushes are
	 * accepted
	 */
	struct buf issued;
	/* the time at which `issued` was made, in seconds since 1970 */
	int64_t seconds;
	/* true: receive_cert_judge() has set the fields below */
	bool is_judged;
	/* the blob that holds the certificate */
	struct oid oid;
	struct signature_check signature;
	struct push_nonce_check nonce;
	/* owned: the nonce in the certificate; NULL: none */
	char *nonce_text;
};

/*
 * Make the nonce of this process if receive.certNonceSeed is set. Returns 0 or
 * ERR_NOMEM.
 */
int receive_cert_init(struct receive *r, struct error *err);

/*
 * Verify the certificate, store it as a blob, and set r->cert.is_judged. Does
 * nothing if the push is not signed, or if no hook (pre-receive or
 * post-receive) can read the certificate. Creates the quarantine if the push
 * has no objects. Returns 0 or a negative error code; a bad signature is no
 * error.
 */
int receive_cert_judge(struct receive *r, struct error *err);

/*
 * Compare the push options that the client sent with the options in the
 * certificate. If they differ, refuses all commands of the push and returns 1.
 * Returns 0 if they are equal or the push is not signed, or ERR_NOMEM.
 */
int receive_cert_check_options(struct receive *r, struct error *err);

#endif
