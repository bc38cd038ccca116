/* SPDX-License-Identifier: MIT */
/* Computes the key by which equal requests find the same plan. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "object/hash.h"
#include "plans/plan-cache.h"
#include "plans/plan.h"
#include "repo/grafts.h"
#include "sys/io.h"
#include "sys/map.h"
#include "walk/filter.h"

/*
 * FORMAT is hashed into each key, SHARED_FORMAT into each shared key. If you
 * change the meaning of the other hashed bytes, change the text, too. Otherwise
 * an old key could match a new request.
 */
#define FORMAT "gitreach plan 1"
#define SHARED_FORMAT "gitreach shared plan 1"

static void put_number(struct hash_ctx *h, uint64_t number)
{
	uint8_t bytes[8];

	for (int i = 0; i < 8; i++)
		bytes[i] = (uint8_t)(number >> (8 * i));
	hash_update(h, bytes, sizeof(bytes));
}

static int compare(const void *a, const void *b)
{
	return oid_cmp(a, b);
}

static void put_sorted(struct hash_ctx *h, const struct oid *oids, size_t nr,
		       size_t len)
{
	put_number(h, nr);
	for (size_t i = 0; i < nr; i++)
		hash_update(h, oids[i].bytes, len);
}

/*
 * Returns a sorted copy of `nr` ids, which the caller frees, or NULL if memory
 * runs out. `nr` is not 0.
 */
static struct oid *sort(const struct oid *oids, size_t nr)
{
	struct oid *sorted = mem_alloc(nr, sizeof(*sorted));

	if (!sorted)
		return NULL;
	memcpy(sorted, oids, nr * sizeof(*sorted));
	qsort(sorted, nr, sizeof(*sorted), compare);
	return sorted;
}

/*
 * Hashes the ids in sorted order: the order in which a client names objects
 * does not matter. Returns 0 or ERR_NOMEM.
 */
static int put_oids(struct hash_ctx *h, const struct oid *oids, size_t nr,
		    size_t len)
{
	struct oid *sorted = nr ? sort(oids, nr) : NULL;

	if (nr && !sorted)
		return ERR_NOMEM;
	put_sorted(h, sorted, nr, len);
	free(sorted);
	return 0;
}

/*
 * Hashes the haves that remain after plan_haves_reduce(). Returns 0 or
 * ERR_NOMEM.
 */
static int put_haves(struct hash_ctx *h, const struct plan_question *q)
{
	const struct packing_request *r = q->request;
	struct oid *haves = r->have_nr ? sort(r->haves, r->have_nr) : NULL;
	size_t nr = r->have_nr;

	if (nr && !haves)
		return ERR_NOMEM;
	plan_haves_reduce(haves, &nr, q->odb, r);
	put_sorted(h, haves, nr, hash_len(q->odb->algo));
	free(haves);
	return 0;
}

static int put_filter(struct hash_ctx *h, const struct filter *filter)
{
	struct buf text = BUF_INIT;
	int ret = 0;

	if (filter && !filter_is_empty(filter))
		ret = filter_print(&text, filter);
	put_number(h, text.len);
	hash_update(h, text.data, text.len);
	buf_release(&text);
	return ret;
}

/*
 * Returns the reason why a plan cannot be used for a request, or NULL if it
 * can.
 */
static const char *refuse(const struct plan_question *q)
{
	const struct packing_request *r = q->request;

	if (!r->want_nr)
		return "nothing is wanted";
	if (packing_has_packs(r->elsewhere) && !r->elsewhere->identify)
		return "the published packs are unknown";
	if (r->promised_missing)
		return "missing objects are promised";
	/*
	 * No plan for a sparse filter: the content of its pattern file may
	 * change while its name stays the same.
	 */
	if (filter_has_sparse(r->filter))
		return "the filter has sparse patterns";
	if (q->options->check_reused)
		return "copied objects are to be checked";
	if (q->odb->replaced)
		return "objects are replaced";
	if (r->tags.each && !r->tags.identify)
		return "the tags are unknown";
	return NULL;
}

/*
 * Adds to the hash the ids of the objects or packs that the client may download
 * from another place, by packfile URIs. A pack for this client can leave these
 * objects out.
 *
 * The hash is the key under which a plan (a cached response) is stored and
 * found. For a client that accepts no URIs, no such ids are hashed. So its key
 * differs from the key of a client that accepts URIs. Therefore a client that
 * accepts no URIs finds only plans of packs that leave no object out.
 *
 * Returns 0 if there are too many packs, otherwise 1 or a negative error code.
 */
static int put_elsewhere(struct hash_ctx *h, const struct plan_question *q,
			 struct error *err)
{
	const struct packing_elsewhere *e = q->request->elsewhere;

	if (!e)
		return 1;
	if (put_oids(h, e->oids, e->nr, hash_len(q->odb->algo)) < 0)
		return error_nomem(err);
	return packing_has_packs(e) ? e->identify(e->ctx, h, err) : 1;
}

/*
 * Hashes all that the pack of a request depends on. Returns 1 on success, 0
 * with *reason set if the key would cost too much to compute, or a negative
 * error code.
 */
static int put_request(struct hash_ctx *h, const char **reason,
		       const struct plan_question *q, struct error *err)
{
	const struct packing_request *r = q->request;
	size_t len = hash_len(q->odb->algo);
	int ret;

	hash_update(h, FORMAT, sizeof(FORMAT));
	put_number(h, q->odb->algo);
	put_number(h, (uint64_t)r->thin << 0 | (uint64_t)r->ofs_delta << 1 |
			      (uint64_t)r->use_bitmap << 2 |
			      (uint64_t)r->knows_shallow << 3 |
			      (uint64_t) !!r->tags.each << 4 |
			      (uint64_t) !!r->elsewhere << 5);
	ret = put_oids(h, r->wants, r->want_nr, len);
	ret |= put_haves(h, q);
	ret |= put_oids(h, r->shallow, r->shallow_nr, len);
	ret |= put_filter(h, r->filter);
	if (ret)
		return error_nomem(err);
	*reason = "there are too many published packs";
	ret = put_elsewhere(h, q, err);
	if (ret <= 0 || !r->tags.each)
		return ret;
	*reason = "there are too many tags";
	return r->tags.identify(r->tags.ctx, h, err);
}

int plan_cache_key(uint8_t key[PLAN_KEY_LEN], const char **reason,
		   const struct plan_question *question, struct error *err)
{
	struct hash_ctx h;
	struct oid hash;
	int ret;

	*reason = refuse(question);
	if (*reason)
		return 0;
	if (hash_init(&h, HASH_SHA256) < 0)
		return error_nomem(err);
	ret = put_request(&h, reason, question, err);
	if (ret)
		*reason = NULL;
	hash_final(&h, &hash);
	hash_release(&h);
	memcpy(key, hash.bytes, PLAN_KEY_LEN);
	return ret;
}

/* ---- keys of a directory */

/* Hashes the options that change the bytes of a pack. */
static void put_options(struct hash_ctx *h,
			const struct packing_send_options *o)
{
	put_number(h, (uint64_t)(int64_t)o->compression);
	put_number(h, o->window);
	put_number(h, o->depth);
	put_number(h, o->grouping);
	put_number(h, o->window_memory);
	put_number(h, o->big_file_threshold);
	put_number(h, o->strategy);
	put_number(h, (uint64_t)o->reuse_spans << 0 |
			      (uint64_t)o->reuse_all_packs << 1 |
			      (uint64_t)o->reuse_delta << 2 |
			      (uint64_t)o->reuse_object << 3 |
			      (uint64_t)o->use_prepared << 4 |
			      (uint64_t)o->spare_search << 5 |
			      (uint64_t)o->exact << 6);
}

static void put_text(struct hash_ctx *h, const struct buf *text)
{
	put_number(h, text->len);
	hash_update(h, text->data, text->len);
}

/*
 * Hashes the files that change the parents of commits: the shallow and graft
 * files.
 */
static int put_history(struct hash_ctx *h, const struct repo *repo,
		       struct error *err)
{
	struct buf shallow = BUF_INIT, grafts = BUF_INIT;
	char *path = repo_common_path(repo, "shallow");
	int ret = path ? sys_read_file(&shallow, path, err) : error_nomem(err);

	if (ret == ERR_MISSING)
		ret = 0;
	if (!ret)
		ret = grafts_read(&grafts, repo, err);
	put_text(h, &shallow);
	put_text(h, &grafts);
	buf_release(&shallow);
	buf_release(&grafts);
	free(path);
	return ret;
}

int plan_cache_shared_key(uint8_t shared[PLAN_KEY_LEN],
			  const uint8_t key[PLAN_KEY_LEN],
			  const struct plan_question *question,
			  struct error *err)
{
	const struct odb *odb = question->odb;
	struct hash_ctx h;
	struct sys_stat st;
	struct oid hash;
	int ret = sys_stat(&st, odb->dirs[0], err);

	if (ret < 0)
		return ret;
	if (hash_init(&h, HASH_SHA256) < 0)
		return error_nomem(err);
	hash_update(&h, SHARED_FORMAT, sizeof(SHARED_FORMAT));
	hash_update(&h, key, PLAN_KEY_LEN);
	put_number(&h, st.dev);
	put_number(&h, st.ino);
	put_options(&h, question->options);
	ret = put_history(&h, odb->repo, err);
	hash_final(&h, &hash);
	hash_release(&h);
	memcpy(shared, hash.bytes, PLAN_KEY_LEN);
	return ret;
}
