/* SPDX-License-Identifier: MIT */
/*
 * Signatures of texts (gitformat-signature(5)): finds a signature at the end of
 * a text, and lets the right program verify it.
 *
 * 	text ...
 * 	-----BEGIN SSH SIGNATURE-----      the first line tells the format
 * 	U1NIU0lHAAAAAQAAADMAAAAL...
 * 	-----END SSH SIGNATURE-----
 *
 * This program does no cryptography itself: gpg, gpgsm and ssh-keygen know the
 * keys, and which keys are trusted. Their output is parsed with care: it may
 * contain text chosen by an untrusted signer.
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
 * Returns the offset of the first line that begins a signature, and its format.
 * Without a signature, returns `len` and SIGNATURE_NONE.
 */
size_t signature_find(enum signature_format *format, const char *text,
		      size_t len);

/* The result of a verification. */
struct signature_check {
	/*
	 * The letter that %G? of git-log(1) shows:
	 *
	 * - G: good, and the key is known (signature_verify()).
	 * - U: good, but the signer of the SSH key is unknown.
	 * - X: good, but the signature has expired.
	 * - Y, R: good, but the key has expired, or was revoked.
	 * - B: bad.
	 * - E: the program that checks signatures failed or gave no clear
	 *   verdict.
	 * - N: no signature; or gpg.ssh.allowedSignersFile is needed but
	 *   missing.
	 */
	char status;
	/* owned: name of the signer; NULL: unknown */
	char *signer;
	/* owned: id of the key; NULL: unknown */
	char *key;
	/* owned: a message that explains status 'E' or 'N'; NULL: no message */
	char *problem;
};

void signature_check_release(struct signature_check *check);

/*
 * Verifies the signature `sig` of a payload. The format comes from its first
 * line. Programs and keys come from gpg.program, gpg.<format>.program,
 * gpg.ssh.allowedSignersFile and gpg.ssh.revocationFile. A temporary file is
 * made in the directory `tmp_dir`.
 *
 * Returns 0 with *check set, for a good and for a bad signature. Returns a
 * negative error code if memory runs out or the file cannot be made; *check is
 * then zeroed. Cost: one to three child processes.
 *
 * The status of a good signature is G or U:
 * - With an OpenPGP or X.509 key, it is G. The trust level of the key is not
 *   looked at. If the key ring lacks the key, the signature cannot be checked,
 *   and the status is E.
 * - With an SSH key, it is G if the file of allowed signers names the key.
 *   Otherwise it is U, because anyone can make an SSH key.
 */
int signature_verify(struct signature_check *check, const struct config *config,
		     const char *tmp_dir, const char *payload,
		     size_t payload_len, const char *sig, size_t sig_len,
		     struct error *err);

/*
 * Parses the output of `gpg --status-fd`,
 *
 *	[GNUPG:] GOODSIG 2DA24CB17C2F1E95 A U Thor <author@example.com>
 *	         status  key              signer
 *
 * into *check. Before the call, check->status must be 'N' or 'E', and the
 * strings of *check must be NULL. If the output has more than one verdict,
 * check->status is 'E'. Returns 0 or ERR_NOMEM.
 */
int signature_parse_gpg(struct signature_check *check, const char *text,
			size_t len);

/*
 * Parses the output of `ssh-keygen -Y verify` and `-Y check-novalidate` about
 * good signatures:
 *
 * 	Good "git" signature for a@example.com with ED25519 key SHA256:4F0I...
 * 	Good "git" signature with ED25519 key SHA256:4F0I...
 *
 * Returns 1 with the status G, or with U if the output names no signer. Returns
 * 0 if there is no such line (*check is then unchanged), or ERR_NOMEM.
 */
int signature_parse_ssh(struct signature_check *check, const char *text,
			size_t len);

#endif
