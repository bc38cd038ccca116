/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target for prepared/prepared-wants.c. Any bytes are read as a file with
 * the wants of prepared answers (stored responses to likely requests). A right
 * checksum is appended first.
 */
#include "object/hash.h"
#include "prepared/prepared-wants.h"
#include "t/fuzz/fuzz.h"

static void use(const struct prepared_wants *w)
{
	struct oid oid;
	uint32_t at;

	for (uint32_t i = 0; i < w->id_nr; i++) {
		oid_from_raw(&oid, w->ids + i * hash_len(w->algo), w->algo);
		require(prepared_wants_find(w, &oid, &at) && at == i);
	}
	for (size_t i = 0; i < w->nr; i++) {
		require(!i || w->answers[i - 1].answer < w->answers[i].answer);
		require(ewah_count(&w->answers[i].ids) <= w->id_nr);
	}
}

/*
 * Write a parsed file, and parse the written bytes. The result must be the
 * same.
 */
static void write_again(const struct prepared_wants *w)
{
	struct prepared_wants again;
	struct buf file = BUF_INIT;

	if (prepared_wants_write(&file, w) < 0)
		abort();
	require(!prepared_wants_parse(&again, file.data, file.len, HASH_SHA1,
				      "file", NULL));
	require(again.nr == w->nr && again.id_nr == w->id_nr);
	prepared_wants_close(&again);
	buf_release(&file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct buf file = BUF_INIT;
	struct prepared_wants w;

	if (buf_append(&file, data, len) < 0 ||
	    hash_append_trailer(&file, 0, HASH_SHA1, NULL) < 0)
		abort();
	if (!prepared_wants_parse(&w, file.data, file.len, HASH_SHA1, "file",
				  NULL)) {
		use(&w);
		write_again(&w);
		prepared_wants_close(&w);
	}
	buf_release(&file);
	return 0;
}
