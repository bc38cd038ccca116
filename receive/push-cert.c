/* SPDX-License-Identifier: MIT */
/* Parses push certificates. */
#include <string.h>

#include "receive/push-cert.h"
#include "repo/signature.h"

static const char version[] = "certificate version 0.1\n";

/*
 * Set *line to the line at offset *at, and move *at to the next line. Returns
 * false if *at is the end of the text.
 */
static bool next_line(struct push_cert_line *line, const char *text, size_t end,
		      size_t *at)
{
	const char *lf;

	if (*at >= end)
		return false;
	line->p = text + *at;
	lf = memchr(line->p, '\n', end - *at);
	line->len = lf ? (size_t)(lf - line->p) : end - *at;
	*at += line->len + (lf != NULL);
	return true;
}

/*
 * Returns the length of a certificate's headers, with the empty line that ends
 * them. Returns 0 if there is no empty line.
 */
static size_t find_headers(const char *text, size_t len)
{
	struct push_cert_line line;
	size_t at = 0;

	while (next_line(&line, text, len, &at))
		if (!line.len && at && text[at - 1] == '\n')
			return at;
	return 0;
}

int push_cert_parse(struct push_cert *cert, const char *text, size_t len,
		    struct error *err)
{
	enum signature_format format;
	size_t headers_len = find_headers(text, len), signed_len;

	if (len < sizeof(version) - 1 ||
	    memcmp(text, version, sizeof(version) - 1) != 0 || !headers_len)
		return error_set(err, ERR_PEER, "malformed push certificate");
	signed_len = headers_len + signature_find(&format, text + headers_len,
						  len - headers_len);
	if (text[signed_len - 1] != '\n' || memchr(text, '\0', signed_len))
		return error_set(err, ERR_PEER, "malformed push certificate");
	*cert = (struct push_cert){text, len, headers_len, signed_len};
	return 0;
}

bool push_cert_header(struct push_cert_line *value,
		      const struct push_cert *cert, const char *name,
		      size_t *at)
{
	size_t name_len = strlen(name);
	struct push_cert_line line;

	while (next_line(&line, cert->text, cert->headers_len, at)) {
		if (line.len <= name_len || line.p[name_len] != ' ' ||
		    memcmp(line.p, name, name_len) != 0)
			continue;
		value->p = line.p + name_len + 1;
		value->len = line.len - name_len - 1;
		return true;
	}
	return false;
}

bool push_cert_command(struct push_cert_line *command,
		       const struct push_cert *cert, size_t *at)
{
	if (*at < cert->headers_len)
		*at = cert->headers_len;
	return next_line(command, cert->text, cert->signed_len, at);
}
