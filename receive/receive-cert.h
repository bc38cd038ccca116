/* SPDX-License-Identifier: MIT */
/*
 * Signed pushes: verify the certificate of a push, and store the certificate
 * for hooks (git-receive-pack(1), GIT_PUSH_CERT).
 *
 * The certificate becomes a blob in the quarantine, so a refused push leaves no
 * blob behind. A bad signature or nonce refuses nothing: hooks decide.
 */
#ifndef RECEIVE_RECEIVE_CERT_H
#define RECEIVE_RECEIVE_CERT_H

#include "base/error.h"
#include "receive/receive.h"

/* Issue a nonce if receive.certNonceSeed is set. Returns 0 or ERR_NOMEM. */
int receive_cert_init(struct receive *r, struct error *err);

/*
 * Verify the certificate, store the blob, and set r->cert.is_judged. Does
 * nothing if the push is not signed, or if the repository has neither a
 * pre-receive nor a post-receive hook. Creates the quarantine if the push has
 * no objects. Returns 0 or a negative error code; a bad signature is no error.
 */
int receive_cert_judge(struct receive *r, struct error *err);

/*
 * Compare the push options with the options in the certificate. Returns 0 if
 * they are equal or the push is not signed, 1 if they differ and all commands
 * were refused, or ERR_NOMEM.
 */
int receive_cert_check_options(struct receive *r, struct error *err);

#endif
