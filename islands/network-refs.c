/* SPDX-License-Identifier: MIT */
/* Reads the references of a member. network-refs-write.c writes them. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "islands/network-refs.h"
#include "refs/refs.h"

struct reading {
	struct network_refs *refs;
	size_t prefix_len;
	struct error *err;
};

void network_refs_release(struct network_refs *refs)
{
	free(refs->refs);
	buf_release(&refs->names);
	*refs = (struct network_refs)NETWORK_REFS_INIT;
}

static int add(struct network_refs *refs, const struct ref *ref,
	       const char *name)
{
	struct network_ref *to;

	if (mem_grow(&refs->refs, &refs->alloc, refs->nr + 1,
		     sizeof(*refs->refs)) < 0)
		return ERR_NOMEM;
	to = &refs->refs[refs->nr];
	*to = (struct network_ref){
		.name_off = refs->names.len,
		.target_off = SIZE_MAX,
		.oid = ref->oid,
		.peeled = ref->peeled,
		.has_peeled = ref->has_peeled,
		.is_tag = ref->is_tag,
	};
	if (buf_append(&refs->names, name, strlen(name) + 1) < 0)
		return ERR_NOMEM;
	if (ref->target) {
		to->target_off = refs->names.len;
		if (buf_append(&refs->names, ref->target,
			       strlen(ref->target) + 1) < 0)
			return ERR_NOMEM;
	}
	refs->nr++;
	return 0;
}

static int visit(void *ctx, const struct ref *ref)
{
	struct reading *r = ctx;

	return add(r->refs, ref, ref->name + r->prefix_len) < 0
		       ? error_nomem(r->err)
		       : 0;
}

/*
 * Moves the last reference of the list ("HEAD", which was appended) to where it
 * belongs in the order of names.
 */
static void place_last(struct network_refs *refs)
{
	struct network_ref last = refs->refs[refs->nr - 1];
	const char *name = network_ref_name(refs, &last);
	size_t i = refs->nr - 1;

	while (i &&
	       strcmp(network_ref_name(refs, &refs->refs[i - 1]), name) > 0) {
		refs->refs[i] = refs->refs[i - 1];
		i--;
	}
	refs->refs[i] = last;
}

static int add_head(struct network_refs *refs, struct refs *from,
		    struct error *err)
{
	struct ref head;
	int ret = refs_read(from, "HEAD", &head, err);

	if (ret <= 0 || head.target)
		return ret < 0 ? ret : 0;
	head.has_peeled = false;
	if (add(refs, &head, "HEAD") < 0)
		return error_nomem(err);
	place_last(refs);
	return 0;
}

int network_refs_read(struct network_refs *refs, const struct repo *repo,
		      const char *prefix, bool head, struct error *err)
{
	struct reading r = {refs, strlen(prefix), err};
	struct refs *from = NULL;
	int ret = refs_open(&from, repo, err);

	if (!ret)
		ret = refs_each_strict(from, prefix, visit, &r, err);
	if (!ret && head)
		ret = add_head(refs, from, err);
	refs_close(from);
	return ret;
}
