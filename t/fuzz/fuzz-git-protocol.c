/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target for serve/upload-pack.c: any bytes are parsed as the value of
 * GIT_PROTOCOL, which the client chooses.
 */
#include "serve/upload-pack.h"
#include "t/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static const char key[] = ":version=2";
	char *text = calloc(len + sizeof(key), 1);
	int version;

	if (!text)
		return 0;
	if (len)
		memcpy(text, data, len);
	version = serve_protocol_version(text);
	require(version >= 0 && version <= 2);
	/*
	 * The highest protocol version in the text must be chosen, whatever
	 * else the text contains.
	 */
	strcat(text, key);
	require(serve_protocol_version(text) == 2);
	free(text);
	return 0;
}
