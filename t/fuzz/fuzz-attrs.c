/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target for names/attrs.c. Any bytes are parsed as gitattributes files of
 * the top directory and of a subdirectory. If no rule mentions an attribute,
 * the attribute must be unspecified for every path.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "names/attrs.h"
#include "t/fuzz/fuzz.h"

static void ask(const char *text, size_t len, const char *dir, unsigned flags)
{
	static const char *const paths[] = {"a", "a.b", "d/a.b", "d/e/a"};
	struct attrs *a = attrs_new("delta");

	if (!a || attrs_add(a, text, len, dir, flags) < 0)
		abort();
	if (!attrs_settle(a, NULL))
		for (size_t i = 0; i < 4; i++)
			if (attrs_of(a, paths[i]) != ATTR_UNSPECIFIED &&
			    (!attrs_any(a) ||
			     strncmp(paths[i], dir, strlen(dir)) != 0))
				abort();
	attrs_free(a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	char *text = malloc(len + 1);

	if (!text)
		return 0;
	memcpy(text, data, len);
	text[len] = '\0';
	ask(text, len, "", ATTRS_MACROS);
	ask(text, len, "d/", ATTRS_ICASE);
	free(text);
	return 0;
}
