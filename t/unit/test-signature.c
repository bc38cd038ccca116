/* SPDX-License-Identifier: MIT */
/*
 * Tests of repo/signature.c, which verifies signatures with gpg and ssh-keygen.
 * Test scripts with fixed output replace these programs.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <cmocka.h>

#include "repo/signature.h"
#include "t/unit/emulated.h"
#include "t/unit/tmprepo.h"

#define SSH_SIG "-----BEGIN SSH SIGNATURE-----\nabc\n"
#define PGP_SIG "-----BEGIN PGP SIGNATURE-----\nabc\n"
#define X509_SIG "-----BEGIN SIGNED MESSAGE-----\nabc\n"

/* Writes the file or script `name` into the directory of a repository. */
static void script(struct tmprepo *t, const char *name, const char *text)
{
	struct buf b = BUF_INIT;

	buf_printf(&b, "#!/bin/sh\n%s\n", text);
	tmprepo_write(t, name, b.data);
	buf_reset(&b);
	buf_printf(&b, "%s/%s", t->dir, name);
	assert_int_equal(chmod(b.data, 0755), 0);
	buf_release(&b);
}

static void configure(struct config *config, struct tmprepo *t, const char *fmt)
{
	struct buf b = BUF_INIT;

	buf_printf(&b, fmt, t->dir, t->dir, t->dir);
	assert_int_equal(config_parse(config, b.data, b.len, CONFIG_LOCAL, NULL,
				      NULL, NULL),
			 0);
	buf_release(&b);
}

static struct signature_check verify(const struct config *config,
				     struct tmprepo *t, const char *sig)
{
	struct signature_check check;

	assert_int_equal(signature_verify(&check, config, t->dir, "payload\n",
					  8, sig, strlen(sig), NULL),
			 0);
	return check;
}

static void expect(struct signature_check check, char status,
		   const char *signer, const char *key)
{
	assert_int_equal(check.status, status);
	assert_string_equal(check.signer ? check.signer : "-", signer);
	assert_string_equal(check.key ? check.key : "-", key);
	signature_check_release(&check);
}

static size_t find(const char *text, enum signature_format *format)
{
	return signature_find(format, text, strlen(text));
}

static void test_find(void **state)
{
	enum signature_format format;

	assert_int_equal(find("", &format), 0);
	assert_int_equal(format, SIGNATURE_NONE);
	assert_int_equal(find("a\n" SSH_SIG, &format), 2);
	assert_int_equal(format, SIGNATURE_SSH);
	assert_int_equal(find(PGP_SIG SSH_SIG, &format), 0);
	assert_int_equal(format, SIGNATURE_OPENPGP);
	assert_int_equal(find("-----BEGIN PGP MESSAGE-----", &format), 0);
	assert_int_equal(format, SIGNATURE_OPENPGP);
	assert_int_equal(find("x\n\n" X509_SIG, &format), 3);
	assert_int_equal(format, SIGNATURE_X509);
	/*
	 * The first line of a signature must be complete, and must be at the
	 * start of a line.
	 */
	assert_int_equal(find("a" SSH_SIG, &format), strlen("a" SSH_SIG));
	assert_int_equal(find("-----BEGIN SSH", &format), 14);
	assert_int_equal(format, SIGNATURE_NONE);
}

static void parse_gpg(const char *text, char status, const char *signer,
		      const char *key)
{
	struct signature_check check = {.status = 'N'};

	assert_int_equal(signature_parse_gpg(&check, text, strlen(text)), 0);
	expect(check, status, signer, key);
}

static void test_gpg(void **state)
{
	parse_gpg("", 'N', "-", "-");
	parse_gpg("gpg: hello\n[GNUPG:] NEWSIG\n"
		  "[GNUPG:] GOODSIG 2DA24CB1 A U Thor <a@b>\n"
		  "[GNUPG:] VALIDSIG F524BF5E8A00 2026-11-21\n"
		  "[GNUPG:] TRUST_UNDEFINED 0 pgp\n",
		  'G', "A U Thor <a@b>", "2DA24CB1");
	parse_gpg("[GNUPG:] BADSIG 1 a", 'B', "a", "1");
	parse_gpg("[GNUPG:] EXPSIG 1 a\n", 'X', "a", "1");
	parse_gpg("[GNUPG:] EXPKEYSIG 1 a\n", 'Y', "a", "1");
	parse_gpg("[GNUPG:] REVKEYSIG 1 a\n", 'R', "a", "1");
	parse_gpg("[GNUPG:] ERRSIG 1 22 8 00 17952 9\n", 'E', "-", "1");
	parse_gpg("[GNUPG:] GOODSIG\n", 'G', "", "");
	/* The output names two signers, which is an error. */
	parse_gpg("[GNUPG:] GOODSIG 1 a\n[GNUPG:] GOODSIG 2 b\n", 'E', "-",
		  "-");
	/* Lines that only look like status lines are ignored. */
	parse_gpg("x [GNUPG:] GOODSIG 1 a\n[GNUPG:] GOODSIGH 1 a\n", 'N', "-",
		  "-");
}

static void parse_ssh(const char *text, char status, const char *signer,
		      const char *key)
{
	struct signature_check check = {.status = 'B'};

	assert_int_equal(signature_parse_ssh(&check, text, strlen(text)),
			 status != 'B');
	expect(check, status, signer, key);
}

static void test_ssh(void **state)
{
	parse_ssh("Good \"git\" signature for a@b with ED25519 key SHA256:x\n",
		  'G', "a@b", "SHA256:x");
	parse_ssh("Good \"git\" signature with ED25519 key SHA256:x", 'U', "-",
		  "SHA256:x");
	parse_ssh("Good \"git\" signature for a with b key c with RSA key d\n"
		  "more\n",
		  'G', "a with b key c", "d");
	parse_ssh("", 'B', "-", "-");
	parse_ssh("Good \"git\" signature", 'B', "-", "-");
	parse_ssh("Good \"git\" signature for a key SHA256:x", 'B', "-", "-");
	parse_ssh("Good \"file\" signature with RSA key SHA256:x", 'B', "-",
		  "-");
	parse_ssh("\nGood \"git\" signature with RSA key SHA256:x", 'B', "-",
		  "-");
}

static void test_verify_gpg(void **state)
{
	struct config config = {0};
	struct tmprepo t;

	tmprepo_init(&t, HASH_SHA1);
	script(&t, "good",
	       "test \"$*\" = \"--keyid-format=long --status-fd=1 --verify "
	       "$4 -\" || exit 1\n"
	       "read payload && test \"$payload\" = payload || exit 1\n"
	       "read sig <\"$4\" && echo \"[GNUPG:] GOODSIG 12 $sig\"");
	script(&t, "mixed", "echo '[GNUPG:] GOODSIG 12 me'; exit 1");
	script(&t, "x509", "echo '[GNUPG:] BADSIG 34 you'; exit 1");
	configure(&config, &t,
		  "[gpg]\nprogram = %s/good\n"
		  "[gpg \"x509\"]\nprogram = %s/x509\n");
	expect(verify(&config, &t, PGP_SIG), 'G',
	       "-----BEGIN PGP SIGNATURE-----", "12");
	expect(verify(&config, &t, X509_SIG), 'B', "you", "34");
	/*
	 * gpg.openpgp.program takes precedence over gpg.program. A signature is
	 * good only if the exit status is 0.
	 */
	configure(&config, &t, "[gpg \"openpgp\"]\nprogram = %s/mixed\n");
	expect(verify(&config, &t, PGP_SIG), 'E', "me", "12");
	configure(&config, &t, "[gpg \"openpgp\"]\nprogram = %s/not there\n");
	expect(verify(&config, &t, PGP_SIG), 'E', "-", "-");
	expect(verify(&config, &t, "no signature\n"), 'N', "-", "-");
	config_release(&config);
	tmprepo_release(&t);
}

/*
 * A test script in place of ssh-keygen. It knows two signers, and accepts the
 * second one.
 */
static const char keygen[] =
	"case \"$2\" in\n"
	"find-principals)\n"
	"	test -s \"$4\" || exit 1\n"
	"	printf 'first\\nsecond\\n' ;;\n"
	"verify)\n"
	"	read payload && test \"$payload\" = payload || exit 1\n"
	"	test \"$8\" = second && test -z \"${12}\" || exit 1\n"
	"	echo 'Good \"git\" signature for second with RSA key K' ;;\n"
	"check-novalidate)\n"
	"	echo 'Good \"git\" signature with RSA key K' ;;\n"
	"esac";

static void test_verify_ssh(void **state)
{
	struct signature_check check;
	struct config config = {0};
	struct tmprepo t;

	tmprepo_init(&t, HASH_SHA1);
	script(&t, "keygen", keygen);
	tmprepo_write(&t, "signers", "first,second key\n");
	tmprepo_write(&t, "nobody", "");
	configure(&config, &t, "[gpg \"ssh\"]\nprogram = %s/keygen\n");
	/*
	 * Without a file of allowed signers, SSH signatures cannot be verified.
	 */
	check = verify(&config, &t, SSH_SIG);
	assert_non_null(strstr(check.problem, "allowedSignersFile"));
	expect(check, 'N', "-", "-");
	configure(&config, &t,
		  "[gpg \"ssh\"]\nallowedSignersFile = %s/signers\n");
	expect(verify(&config, &t, SSH_SIG), 'G', "second", "K");
	/*
	 * The signature is valid, but its key is not in the file of allowed
	 * signers.
	 */
	configure(&config, &t,
		  "[gpg \"ssh\"]\nallowedSignersFile = %s/nobody\n");
	expect(verify(&config, &t, SSH_SIG), 'U', "-", "K");
	/* ssh-keygen gets the name of the file of revoked keys. */
	configure(&config, &t,
		  "[gpg \"ssh\"]\nallowedSignersFile = %s/signers\n"
		  "revocationFile = %s/nobody\n");
	expect(verify(&config, &t, SSH_SIG), 'B', "-", "-");
	if (has_spawn_errors()) {
		configure(&config, &t,
			  "[gpg \"ssh\"]\nprogram = %s/not there\n");
		check = verify(&config, &t, SSH_SIG);
		assert_non_null(strstr(check.problem, "cannot run"));
		expect(check, 'E', "-", "-");
	}
	config_release(&config);
	tmprepo_release(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_find),
		cmocka_unit_test(test_gpg),
		cmocka_unit_test(test_ssh),
		cmocka_unit_test(test_verify_gpg),
		cmocka_unit_test(test_verify_ssh),
	};

	/*
	 * The program may exit without reading its input. Writing to the closed
	 * pipe must not kill the test.
	 */
	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
