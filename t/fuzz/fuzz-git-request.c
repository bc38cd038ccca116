/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target for the request line of a client of git://. If
 * git_request_missing() says that the line is complete, the parser must find
 * the same line. The strings of a valid request must be plain text.
 */
#include <string.h>

#include "daemon/git-request.h"
#include "t/fuzz/fuzz.h"

static void check_text(const char *text, size_t size, int is_path)
{
	size_t len = strnlen(text, size);

	require(len < size);
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)text[i];

		require(c >= ' ' && c != 0x7f && (is_path || c < 0x7f));
	}
}

/*
 * Returns the length of the first line; 0: the line is incomplete. Asks
 * git_request_missing() how much to read, like the code that reads from the
 * socket.
 */
static size_t line_len(const char *bytes, size_t len)
{
	size_t have = 0, missing;

	while ((missing = git_request_missing(bytes, have))) {
		require(missing <= GIT_REQUEST_MAX - have);
		if (missing > len - have)
			return 0;
		have += missing;
	}
	return have;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	const char *text = (const char *)bytes;
	struct git_request r;
	size_t have = line_len(text, len);

	if (!git_request_parse(&r, text, len, NULL))
		require(have == len);
	if (git_request_parse(&r, text, have, NULL) < 0)
		return 0;
	require(r.service < SERVICE_NR && *r.path);
	check_text(r.path, sizeof(r.path), 1);
	check_text(r.host, sizeof(r.host), 0);
	check_text(r.protocol, sizeof(r.protocol), 0);
	return 0;
}
