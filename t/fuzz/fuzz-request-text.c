/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target for wire/request-text.c: any bytes are parsed as the text form of
 * a fetch request. A request that can be parsed is printed. Parsing the printed
 * text must give the same request.
 */
#include "t/fuzz/fuzz.h"
#include "wire/request-text.h"

static bool is_same(const struct request_text_ids *a,
		    const struct request_text_ids *b)
{
	if (a->nr != b->nr || a->more != b->more)
		return false;
	for (size_t i = 0; i < a->nr; i++)
		if (!oid_equal(&a->oids[i], &b->oids[i]))
			return false;
	return true;
}

static void check(const char *bytes, size_t len, enum hash_algo algo)
{
	static struct request_text a, b;
	struct buf text = BUF_INIT, out = BUF_INIT;

	/* The parser reads the input up to its first NUL. */
	require(!buf_append(&text, bytes, len));
	require(!buf_append_char(&text, '\0'));
	if (!request_text_parse(&a, text.data, algo, NULL)) {
		require(!request_text_print(&out, &a, algo));
		require(!request_text_parse(&b, out.data, algo, NULL));
		require(is_same(&a.wants, &b.wants));
		require(is_same(&a.haves, &b.haves));
		require(is_same(&a.shallow, &b.shallow));
		require(a.thin == b.thin && a.ofs_delta == b.ofs_delta &&
			a.include_tag == b.include_tag);
		require(!a.filter == !b.filter &&
			(!a.filter || !strcmp(a.filter, b.filter)));
	}
	buf_release(&text);
	buf_release(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	fuzz_exactly(data, len, check);
	return 0;
}
