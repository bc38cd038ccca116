/* SPDX-License-Identifier: MIT */
/*
 * Signatures of texts (gitformat-signature(5)): finding one behind its text,
 * and having it verified by the program of its kind.
 *
 *	text ...
 *	-----BEGIN SSH SIGNATURE-----      the first line says which kind
 *	U1NIU0lHAAAAAQAAADMAAAAL...
 *	-----END SSH SIGNATURE-----
 *
 * No cryptography is done here: gpg, gpgsm and ssh-keygen know the keys, and
 * whom their owners trust. What they print is parsed; it may quote the signer,
 * who is not to be believed.
 */
#ifndef REPO_SIGNATURE_H
#define REPO_SIGNATURE_H

#include <stddef.h>

#include "base/error.h"
#include "config/config.h"

enum signature_format {
	SIGNATURE_NONE,
	SIGNATURE_OPENPGP,
	SIGNATURE_X509,
	SIGNATURE_SSH,
};

/*
 * Where the first line lies that begins a signature, and of which kind; `len`
 * and SIGNATURE_NONE when there is none.
 */
size_t signature_find(enum signature_format *format, const char *text,
		      size_t len);

/* What is known about a signature. */
struct signature_check {
	/*
	 * As %G? of git-log(1) has it: (G)ood; (B)ad; good but (U)nknown who
	 * made it, or e(X)pired, or made by an expired (Y) or (R)evoked key;
	 * (E): cannot be checked; (N)one, or nobody there to check it.
	 */
	char status;
	char *signer;  /* owned: who made it; NULL: not known */
	char *key;     /* owned: with which key; NULL: not known */
	char *problem; /* owned: a message about E and N; NULL: none */
};

void signature_check_release(struct signature_check *check);

/*
 * Verify the signature `sig` of a payload. The kind comes from its first line,
 * programs and keys from gpg.program, gpg.<format>.program,
 * gpg.ssh.allowedSignersFile and gpg.ssh.revocationFile. A file is made in the
 * directory `tmp_dir` while that goes on. 0 with *check filled in, whatever it
 * says; or negative when memory or that file is not to be had, with *check
 * zeroed. Cost: one to three child processes.
 *
 * A good signature of an OpenPGP or X.509 key is G when the key ring has the
 * key; of an SSH key when the file of allowed signers names it, else U: anyone
 * can make such a key.
 */
int signature_verify(struct signature_check *check, const struct config *config,
		     const char *tmp_dir, const char *payload,
		     size_t payload_len, const char *sig, size_t sig_len,
		     struct error *err);

/*
 * Parse what `gpg --status-fd` prints:
 *
 *	[GNUPG:] GOODSIG 2DA24CB17C2F1E95 A U Thor <author@example.com>
 *	         status  key              signer
 *
 * into *check, which holds N or E and no strings. More than one verdict is
 * none: E. 0 or ERR_NOMEM.
 */
int signature_parse_gpg(struct signature_check *check, const char *text,
			size_t len);

/*
 * Parse what `ssh-keygen -Y verify` and `-Y check-novalidate` print about good
 * signatures:
 *
 *	Good "git" signature for a@example.com with ED25519 key SHA256:4F0I...
 *	Good "git" signature with ED25519 key SHA256:4F0I...
 *
 * 1 with G or, without a signer, U; 0 with *check untouched when it is no such
 * line; or ERR_NOMEM.
 */
int signature_parse_ssh(struct signature_check *check, const char *text,
			size_t len);

#endif
