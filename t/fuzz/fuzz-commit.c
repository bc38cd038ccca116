/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target for object/parse.c: any bytes are parsed as a commit, and as a
 * tag.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "object/parse.h"
#include "t/fuzz/fuzz.h"

/*
 * Check that the string [p, p + n) lies inside of the input. The place of an
 * empty string is not checked.
 */
static void check_inside(const char *p, size_t n, const uint8_t *data,
			 size_t len)
{
	const uint8_t *start = (const uint8_t *)p;

	if (n && (start < data || n > len - (size_t)(start - data)))
		abort();
}

static void parse(const uint8_t *data, size_t len, enum hash_algo algo)
{
	struct commit_view commit;
	struct tag_view tag;
	struct oid oid;

	if (!commit_parse(&commit, data, len, algo, NULL)) {
		check_inside(commit.message, commit.message_len, data, len);
		for (size_t i = 0; i < commit.parent_nr; i++)
			commit_parent(&oid, &commit, i, algo);
	}
	if (!tag_parse(&tag, data, len, algo, NULL)) {
		check_inside(tag.name, tag.name_len, data, len);
		if (!object_type_name(tag.target_type))
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	parse(data, len, HASH_SHA1);
	parse(data, len, HASH_SHA256);
	return 0;
}
