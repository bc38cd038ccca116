/* SPDX-License-Identifier: MIT */
/*
 * Signed pushes: what hooks are told about the certificate of a push
 * (git-receive-pack(1), GIT_PUSH_CERT).
 *
 * The certificate becomes a blob in the quarantine: a push that is refused
 * leaves nothing of it. Whether it is good enough is for the hooks to say.
 */
#ifndef RECEIVE_RECEIVE_CERT_H
#define RECEIVE_RECEIVE_CERT_H

#include "base/error.h"
#include "receive/receive.h"

/* Issue a nonce when receive.certNonceSeed is set. 0 or ERR_NOMEM. */
int receive_cert_init(struct receive *r, struct error *err);

/*
 * Judge and store the certificate, if the push has one and there is a hook
 * that may ask. Makes the quarantine of a push without objects. 0 or negative.
 */
int receive_cert_judge(struct receive *r, struct error *err);

/*
 * Refuse all commands when the push options are not those of the certificate.
 * 0, 1 when that was done, or ERR_NOMEM.
 */
int receive_cert_check_options(struct receive *r, struct error *err);

#endif
