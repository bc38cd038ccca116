/* SPDX-License-Identifier: MIT */
/*
 * git bitmap explain: tells whether a plan (a cached response) in the directory
 * gitreach.planDirectory would answer a client's request.
 */
#include <stdio.h>
#include <stdlib.h>

#include "builtin/bitmap-parts.h"
#include "builtin/revargs.h"
#include "object/hash.h"
#include "plans/plan-cache.h"
#include "refs/refs.h"

/*
 * The tags that a fetch with include-tag can add to the pack. `git bitmap
 * explain` assumes that no tag is hidden.
 */
struct tags {
	struct refs *refs;
	enum hash_algo algo;
	struct hash_ctx *hash;
};

static int identify_tag(void *ctx, const struct ref *ref)
{
	const struct tags *tags = ctx;

	hash_update(tags->hash, ref->oid.bytes, hash_len(tags->algo));
	return 0;
}

static int identify_tags(void *ctx, struct hash_ctx *hash, struct error *err)
{
	struct tags *tags = ctx;
	int ret;

	tags->hash = hash;
	ret = refs_each(tags->refs, "refs/tags/", identify_tag, tags, NULL,
			err);
	return ret < 0 ? ret : 1;
}

/*
 * A callback that is never called. The key of a cached response (a plan)
 * depends on whether the request has a callback that lists tags for
 * include-tag. upload-pack sets such a callback. To get the same key, this
 * request needs one, too.
 */
static int each_tag(void *ctx,
		    int (*fn)(void *fn_ctx, const struct packing_tag *tag),
		    void *fn_ctx, struct error *err)
{
	return 0;
}

static int compare(const void *a, const void *b)
{
	return oid_cmp(a, b);
}

/* Sort ids and remove duplicates. Returns the number of ids that remain. */
static size_t sort(struct oid *oids, size_t nr)
{
	size_t kept = 0;

	qsort(oids, nr, sizeof(*oids), compare);
	for (size_t i = 0; i < nr; i++)
		if (!kept || !oid_equal(&oids[kept - 1], &oids[i]))
			oids[kept++] = oids[i];
	return kept;
}

static int print_key(const struct plan_dir *dir,
		     const struct plan_question *question, struct error *err)
{
	uint8_t key[PLAN_KEY_LEN], shared[PLAN_KEY_LEN];
	char hex[OID_MAX_HEX_LEN + 1];
	const char *reason;
	int ret = plan_cache_key(key, &reason, question, err);

	if (!ret)
		printf("plan=none\nplan-reason=%s\n", reason);
	if (ret <= 0)
		return ret;
	ret = plan_cache_shared_key(shared, key, question, err);
	if (!ret)
		printf("plan=%s\nplan-key=%s\n",
		       plan_dir_has(dir, shared, question->odb) ? "stored"
								: "missing",
		       oid_raw_to_hex(hex, shared, HASH_SHA256));
	return ret;
}

static int ask(const struct plan_dir *dir, const struct bitmap_place *place,
	       struct packing_request *request, struct error *err)
{
	const struct store *store = &place->store;
	struct tags tags = {.refs = store->refs, .algo = store->odb->algo};
	struct packing_send_options options;
	const struct plan_question question = {
		.odb = store->odb, .request = request, .options = &options};
	int ret = packing_send_options_load(&options, store->repo, err);

	request->use_bitmap = true;
	if (!ret && config_bool(&store->repo->config, "pack.usebitmaps",
				&request->use_bitmap, err) < 0)
		ret = ERR_INVALID;
	if (ret < 0)
		return ret;
	/*
	 * Set the options that a client of stock Git sends, and the options
	 * that upload-pack sets. Otherwise the key computed here would differ
	 * from the key of the response that is cached for a real fetch.
	 */
	options.spare_search = true;
	request->knows_shallow = request->thin = request->ofs_delta = true;
	/*
	 * Ask for include-tag only if the request has haves. A clone has none:
	 * it names the tags that it wants.
	 */
	if (request->have_nr)
		request->tags = (struct packing_tags){
			.each = each_tag,
			.ctx = &tags,
			.identify = identify_tags};
	return print_key(dir, &question, err);
}

int bitmap_explain_plan(const struct bitmap_place *place,
			const struct rev_args *revs,
			const struct filter *filter, struct error *err)
{
	struct oid *wants = rev_list_oids(&revs->wants);
	struct oid *haves = rev_list_oids(&revs->haves);
	struct packing_request request = {
		.wants = wants, .haves = haves, .filter = filter};
	struct plan_dir *dir = NULL;
	struct error warning;
	int ret = wants && haves ? plan_dir_load(&dir, place->store.repo,
						 &warning, err)
				 : error_nomem(err);

	if (!ret && dir && warning.code)
		printf("plan=none\nplan-reason=%s\n", warning.msg);
	if (!ret && dir && !warning.code) {
		request.want_nr = sort(wants, revs->wants.nr);
		request.have_nr = sort(haves, revs->haves.nr);
		ret = ask(dir, place, &request, err);
	}
	plan_dir_free(dir);
	free(wants);
	free(haves);
	return ret;
}
