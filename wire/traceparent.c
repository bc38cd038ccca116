/* SPDX-License-Identifier: MIT */
/* Checks the header field "traceparent". */
#include <string.h>

#include "wire/traceparent.h"

bool traceparent_is_valid(const char *text)
{
	static const char form[] =
		"hh-hhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhh-hhhhhhhhhhhhhhhh-hh";
	size_t len = text ? strnlen(text, sizeof(form)) : 0;

	if (len != TRACEPARENT_LEN)
		return false;
	for (size_t i = 0; i < len; i++) {
		bool is_digit = (text[i] >= '0' && text[i] <= '9') ||
				(text[i] >= 'a' && text[i] <= 'f');

		if (form[i] == 'h' ? !is_digit : text[i] != '-')
			return false;
	}
	return memcmp(text, "ff", 2) && strspn(text + 3, "0") < 32 &&
	       strspn(text + 36, "0") < 16;
}
