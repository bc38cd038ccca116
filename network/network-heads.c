/* SPDX-License-Identifier: MIT */
/*
 * Chooses, among the HEAD commits of the member repositories, those that
 * clients ask for most.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "network/network-repack-parts.h"
#include "refs/refs.h"

void network_heads_release(struct network_heads *heads)
{
	free(heads->heads);
	*heads = (struct network_heads){.nr = 0};
}

int network_heads_add(struct network_heads *heads, const struct repo *member,
		      struct error *err)
{
	struct refs *refs;
	struct ref head;
	int ret = refs_open(&refs, member, err);

	if (ret < 0)
		return ret;
	ret = refs_lookup(refs, "HEAD", &head, err);
	if (ret > 0) {
		ret = mem_grow(&heads->heads, &heads->alloc, heads->nr + 1,
			       sizeof(*heads->heads));
		if (!ret)
			heads->heads[heads->nr++] = head.oid;
		else
			ret = error_nomem(err);
	}
	refs_close(refs);
	return ret;
}

/* A commit that is the HEAD of one or more members. */
struct candidate {
	struct oid oid;
	/*
	 * index of the first member that has this HEAD, in the order of the
	 * members
	 */
	size_t first;
	size_t nr; /* number of members */
};

static int by_oid(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;
	int ret = oid_cmp(&x->oid, &y->oid);

	return ret ? ret : x->first < y->first ? -1 : x->first > y->first;
}

static int by_use(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	if (!x->first || !y->first)
		return x->first ? 1 : -1;
	if (x->nr != y->nr)
		return x->nr > y->nr ? -1 : 1;
	return x->first < y->first ? -1 : x->first > y->first;
}

/*
 * Merge candidates with the same commit. Returns the number of candidates left.
 */
static size_t merge(struct candidate *candidates, size_t nr)
{
	size_t left = 0;

	for (size_t i = 0; i < nr; i++) {
		if (left &&
		    oid_equal(&candidates[left - 1].oid, &candidates[i].oid))
			candidates[left - 1].nr++;
		else
			candidates[left++] = candidates[i];
	}
	return left;
}

int network_heads_choose(struct network_heads *heads, struct error *err)
{
	struct candidate *candidates = mem_alloc(heads->nr,
						 sizeof(*candidates));

	if (!candidates)
		return error_nomem(err);
	for (size_t i = 0; i < heads->nr; i++)
		candidates[i] = (struct candidate){heads->heads[i], i, 1};
	qsort(candidates, heads->nr, sizeof(*candidates), by_oid);
	heads->nr = merge(candidates, heads->nr);
	qsort(candidates, heads->nr, sizeof(*candidates), by_use);
	if (heads->nr > NETWORK_HEADS_MAX)
		heads->nr = NETWORK_HEADS_MAX;
	for (size_t i = 0; i < heads->nr; i++)
		heads->heads[i] = candidates[i].oid;
	free(candidates);
	return 0;
}
