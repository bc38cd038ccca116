/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target for plans/plan-file.c. Any bytes are read as the file of a plan
 * (which parts of stored packs answer a fetch). A right checksum is appended
 * first.
 */
#include "object/hash.h"
#include "plans/plan-file.h"
#include "t/fuzz/fuzz.h"

#define PACK_NR 2

/*
 * The packs of the snapshot. The ranges of a plan (cached response) must lie in
 * them.
 */
static const uint8_t packs[PACK_NR][400];

/*
 * Check that each piece of the plan (cached response) is a literal (bytes
 * stored in the plan) or a range of one of the packs.
 */
static void check_plan(const struct plan *plan, const struct plan_file *f)
{
	size_t literals = 0;

	require(plan->nr == f->piece_nr);
	for (size_t i = 0; i < plan->nr; i++) {
		const struct plan_piece *p = &plan->pieces[i];
		bool is_found = !p->span;

		for (int k = 0; k < PACK_NR && !is_found; k++)
			is_found = p->span >= packs[k] &&
				   p->span + p->len <=
					   packs[k] + sizeof(packs[k]);
		require(is_found && p->len);
		literals += p->span ? 0 : p->len;
	}
	require(literals == f->literal_len);
}

static void resolve(const struct plan_file *f)
{
	struct pack list[PACK_NR] = {0};
	struct odb_pack odb_packs[PACK_NR] = {{&list[0], 0}, {&list[1], 0}};
	struct odb odb = {
		.algo = f->algo, .packs = odb_packs, .pack_nr = PACK_NR};
	struct plan plan;

	for (uint32_t i = 0; i < PACK_NR; i++) {
		memset(&list[i].checksum, 0x11 * (int)(i + 1),
		       hash_len(f->algo));
		/*
		 * The plans (cached responses) in the corpus state these sizes
		 * for their packs.
		 */
		list[i].file.len = 332 + i;
		list[i].file.bytes = packs[i];
	}
	if (!plan_file_resolve(&plan, f, &odb, NULL))
		check_plan(&plan, f);
	plan_release(&plan);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct buf file = BUF_INIT;
	struct plan_file f;

	require(!buf_append(&file, data, len));
	require(!hash_append_trailer(&file, 0, HASH_SHA256, NULL));
	if (!plan_file_parse(&f, file.data, file.len, "file", NULL))
		resolve(&f);
	buf_release(&file);
	return 0;
}
