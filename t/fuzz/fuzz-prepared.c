/* SPDX-License-Identifier: MIT */
/* repack/prepared.c: any bytes as prepared answers, with a right checksum. */
#include "object/hash.h"
#include "repack/prepared.h"
#include "t/fuzz/fuzz.h"

static void use(const struct prepared *p)
{
	for (size_t i = 0; i < p->nr; i++) {
		const struct prepared_answer *answer = &p->answers[i];
		struct bitset set = BITSET_INIT;

		require(prepared_find(p, &answer->request) != NULL);
		/* A run may stand for more than is worth its memory. */
		if (answer->objects.bits > 1 << 20)
			continue;
		require(!bitset_init(&set, answer->objects.bits));
		ewah_or_into(&set, &answer->objects);
		require(bitset_count(&set) == answer->object_nr);
		require(prepared_checksum(p, &set, answer->object_nr) != NULL);
		bitset_release(&set);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct buf file = BUF_INIT;
	struct prepared p;

	if (buf_append(&file, data, len) < 0 ||
	    hash_append_trailer(&file, 0, HASH_SHA1, NULL) < 0)
		abort();
	if (!prepared_parse(&p, file.data, file.len, HASH_SHA1, "file", NULL)) {
		use(&p);
		prepared_close(&p);
	}
	buf_release(&file);
	return 0;
}
