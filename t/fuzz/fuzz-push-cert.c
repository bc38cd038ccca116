/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target for push certificates. In a certificate that the parser accepts,
 * the parts must be in order. Each line lies inside of its part, and has no
 * line feed or NUL. No line above the signature may look like the start of a
 * signature.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "receive/push-cert.h"
#include "repo/signature.h"
#include "t/fuzz/fuzz.h"

static void check_line(const struct push_cert_line *line, const char *from,
		       const char *to)
{
	require(line->p >= from && line->p + line->len < to);
	require(!memchr(line->p, '\n', line->len));
	require(!memchr(line->p, '\0', line->len));
}

static void check(const struct push_cert *cert)
{
	const char *commands = cert->text + cert->headers_len;
	const char *end = cert->text + cert->signed_len;
	struct push_cert_line line;
	enum signature_format format;
	size_t at = 0;

	require(cert->headers_len <= cert->signed_len &&
		cert->signed_len <= cert->len);
	while (push_cert_header(&line, cert, "push-option", &at))
		check_line(&line, cert->text, commands);
	at = 0;
	while (push_cert_command(&line, cert, &at))
		check_line(&line, commands, end);
	signature_find(&format, commands, (size_t)(end - commands));
	require(format == SIGNATURE_NONE);
	if (end < cert->text + cert->len)
		require(!signature_find(&format, end,
					cert->len - cert->signed_len));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	struct error err = ERROR_INIT;
	struct push_cert cert;
	int ret = push_cert_parse(&cert, (const char *)bytes, len, &err);

	require(!ret || (ret == ERR_PEER && *err.msg));
	if (!ret)
		check(&cert);
	return 0;
}
