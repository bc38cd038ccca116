/* SPDX-License-Identifier: MIT */
/* Fuzz target for base/approxidate.c: any text is parsed as a date. */
#include "base/approxidate.h"
#include "t/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	char *text = calloc(len + 1, 1);
	int64_t seconds;
	int zone;

	if (!text)
		return 0;
	if (len)
		memcpy(text, data, len);
	if (!approxidate_parse_exact(&seconds, &zone, text))
		require(seconds >= 0 && zone > -100 * 60 && zone < 100 * 60);
	approxidate_parse(&seconds, text, 1700000000);
	approxidate_parse_expiry(&seconds, text, 1700000000);
	free(text);
	return 0;
}
