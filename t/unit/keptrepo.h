/* SPDX-License-Identifier: MIT */
/*
 * A repository with a linear history, in which each commit changes the same
 * file. It is for tests of the data that a repack stores beside a pack: kept
 * deltas, and whole copies of some blobs.
 */
#ifndef T_UNIT_KEPTREPO_H
#define T_UNIT_KEPTREPO_H

#include <string.h>

#include "packing/send.h"
#include "refs/refs.h"
#include "t/unit/bitmaprepo.h"
#include "t/unit/sentpack.h"

#define KEPTREPO_COMMITS 40

struct keptrepo {
	struct randrepo r;
	struct odb *odb;
	struct refs *refs;
	uint32_t blobs[KEPTREPO_COMMITS];
	uint32_t commits[KEPTREPO_COMMITS];
};

/*
 * Add version `nr` of a file of 1,000 lines (17 KB). Version `nr` is a common
 * text in which only line 20 * nr is changed. So two versions differ in two
 * lines.
 */
static inline uint32_t keptrepo_version(struct randrepo *r, uint32_t nr)
{
	struct buf data = BUF_INIT;
	uint64_t seed = 1;
	uint32_t blob;

	for (uint32_t i = 0; i < 1000; i++) {
		uint64_t number = random_next(&seed);

		buf_printf(&data, "%016jx\n",
			   (uintmax_t)(i == 20 * nr ? number ^ 1 : number));
	}
	blob = randrepo_add(r, OBJ_BLOB, &data, NULL, 0);
	buf_release(&data);
	return blob;
}

static inline uint32_t keptrepo_commit(struct randrepo *r, uint32_t blob,
				       uint32_t nr, uint32_t parent)
{
	struct randrepo_tree t = {.data = BUF_INIT};
	char hex[OID_MAX_HEX_LEN + 1];
	struct buf data = BUF_INIT;
	uint32_t refs[2], commit;

	randrepo_entry(r, &t, "100644", "file", blob);
	refs[0] = randrepo_finish_tree(r, &t);
	refs[1] = parent;
	buf_printf(&data, "tree %s\n",
		   oid_to_hex(hex, &r->objects[refs[0]].oid, r->t.repo.algo));
	if (nr)
		buf_printf(&data, "parent %s\n",
			   oid_to_hex(hex, &r->objects[parent].oid,
				      r->t.repo.algo));
	buf_printf(&data, "author A <a@b> %u +0000\n", nr);
	buf_printf(&data, "committer A <a@b> %u +0000\n\nx\n", nr);
	commit = randrepo_add(r, OBJ_COMMIT, &data, refs, nr ? 2 : 1);
	buf_release(&data);
	return commit;
}

static inline void keptrepo_open(struct keptrepo *k)
{
	assert_int_equal(refs_open(&k->refs, &k->r.t.repo, NULL), 0);
	assert_int_equal(odb_open(&k->odb, &k->r.t.repo, NULL, NULL), 0);
}

static inline void keptrepo_close(struct keptrepo *k)
{
	odb_close(k->odb);
	refs_close(k->refs);
}

/*
 * Make a repository with a linear history, and repack it with the configuration
 * `config`.
 */
static inline void keptrepo_init(struct keptrepo *k, const char *config)
{
	struct randrepo *r = &k->r;
	uint64_t seed = 1;

	memset(k, 0, sizeof(*k));
	randrepo_init(r, HASH_SHA1, &seed);
	for (uint32_t i = 0; i < KEPTREPO_COMMITS; i++) {
		k->blobs[i] = keptrepo_version(r, i);
		k->commits[i] = keptrepo_commit(r, k->blobs[i], i,
						i ? k->commits[i - 1] : 0);
	}
	randrepo_store_pack(r);
	randrepo_ref(r, "refs/heads/main", k->commits[KEPTREPO_COMMITS - 1]);
	tmprepo_remove(&r->t, "HEAD");
	tmprepo_write(&r->t, "HEAD", "ref: refs/heads/main\n");
	assert_int_equal(config_parse(&r->t.repo.config, config, strlen(config),
				      CONFIG_LOCAL, NULL, NULL, NULL),
			 0);
	bitmaprepo_repack(r, true, true);
	keptrepo_open(k);
}

/*
 * Make the pack of a request, and decode it. The receiver has the objects in
 * `had`, indexed like r->objects (NULL: none). `strategy`: whether to use the
 * bitmap index. No deltas are searched, so each delta of the pack is one that
 * the tested code has chosen.
 */
static inline void keptrepo_send(struct keptrepo *k,
				 const struct packing_request *request,
				 enum bitmap_strategy strategy, const bool *had,
				 struct sentpack *s,
				 struct packing_report *report)
{
	struct packing_send_options options;
	struct error err = ERROR_INIT;

	assert_int_equal(
		packing_send_options_load(&options, &k->r.t.repo, NULL), 0);
	options.threads = 1;
	options.depth = 0;
	options.strategy = strategy;
	if (packing_send(k->odb, request, &options, sentpack_init(s, &k->r),
			 report, &err) < 0)
		fail_msg("%s", err.msg);
	sentpack_decode(s, had);
}

static inline void keptrepo_release(struct keptrepo *k)
{
	keptrepo_close(k);
	config_release(&k->r.t.repo.config);
	randrepo_release(&k->r);
}

#endif
