/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target for the message that a forced command of sshd sends to the
 * server. The path of a valid request must be absolute and have no control
 * characters.
 */
#include <string.h>

#include "daemon/ssh-request.h"
#include "t/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	struct ssh_request r;
	size_t path_len;

	if (ssh_request_parse(&r, (const char *)bytes, len, NULL) < 0)
		return 0;
	path_len = strnlen(r.path, sizeof(r.path));
	require(r.service < SERVICE_NR && path_len > 1);
	require(path_len < sizeof(r.path) && r.path[0] == '/');
	for (size_t i = 0; i < path_len; i++)
		require((unsigned char)r.path[i] >= ' ' && r.path[i] != 0x7f);
	require(strnlen(r.protocol, sizeof(r.protocol)) < sizeof(r.protocol));
	require(strnlen(r.user, sizeof(r.user)) < sizeof(r.user));
	require(strnlen(r.address, sizeof(r.address)) < sizeof(r.address));
	return 0;
}
