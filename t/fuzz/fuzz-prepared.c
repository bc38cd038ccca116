/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target for prepared/prepared.c. Any bytes are read as a file of prepared
 * answers (stored responses to likely requests). A right checksum is appended
 * first.
 */
#include "object/hash.h"
#include "prepared/prepared.h"
#include "t/fuzz/fuzz.h"

static void use_content(const struct prepared *p,
			const struct prepared_content *content)
{
	require(prepared_find_content(p, content->runs, content->run_nr) !=
		NULL);
	require(prepared_has(content, content->runs[0].off));
	require(!prepared_has(content, content->runs[0].off - 1));
}

static void use_tree(const struct prepared_answer *answer)
{
	const struct prepared_tree *tree = &answer->tree;
	uint64_t nr = 0;

	for (size_t i = 0; i < tree->repeat_nr; i++)
		require(prepared_paths(tree, tree->repeats[i].idx_pos) ==
			tree->repeats[i].paths);
	for (size_t i = 0; i < answer->plain.run_nr && tree->is_known; i++)
		nr += tree->places[i].nr;
	require(!tree->is_known || nr == answer->plain.object_nr);
}

static void use(const struct prepared *p)
{
	struct oid oid;
	uint32_t at;

	for (size_t i = 0; i < p->nr; i++) {
		const struct prepared_answer *answer = &p->answers[i];

		require(prepared_find(p, &answer->request) != NULL);
		use_content(p, &answer->plain);
		use_content(p, &answer->tagged);
		use_tree(answer);
		require(!p->tag_nr || !ewah_test(&answer->along, p->tag_nr));
	}
	for (uint32_t i = 0; i < p->tag_nr; i++) {
		oid_from_raw(&oid, p->tags + i * hash_len(p->algo), p->algo);
		if (prepared_find_tag(p, &oid, &at))
			require(at < p->tag_nr);
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
