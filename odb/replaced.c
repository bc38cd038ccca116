/* SPDX-License-Identifier: MIT */
/* Reading refs/replace/, and following it. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "odb/replaced.h"

#define DEPTH_MAX 5

struct loading {
	struct odb *odb;
	size_t base_len; /* of the refs' names before the id */
	struct error *warning, *err;
};

static struct odb_replaced *make(struct odb *odb)
{
	if (!odb->replaced)
		odb->replaced = mem_calloc(1, sizeof(*odb->replaced));
	return odb->replaced;
}

static int add(struct odb *odb, const struct oid *oid, const struct oid *by)
{
	struct odb_replaced *r = make(odb);

	if (!r || mem_grow(&r->by, &r->alloc, r->nr + 1, sizeof(*r->by)) < 0 ||
	    oidmap_put(&r->by_id, oid, (uint32_t)r->nr) < 0)
		return ERR_NOMEM;
	r->by[r->nr++] = *by;
	return 0;
}

static int take_ref(void *ctx, const struct ref *ref)
{
	struct loading *l = ctx;
	const char *hex = ref->name + l->base_len;
	struct oid oid;

	if (strlen(hex) != hash_hex_len(l->odb->algo) ||
	    !oid_from_hex(&oid, hex, strlen(hex), l->odb->algo)) {
		error_set(l->warning, ERR_INVALID, "bad replace ref name: %s",
			  ref->name);
		return 0;
	}
	return add(l->odb, &oid, &ref->oid) < 0 ? error_nomem(l->err) : 0;
}

int odb_replaced_load(struct odb *odb, struct refs *refs, struct error *warning,
		      struct error *err)
{
	const char *base = getenv("GIT_REPLACE_REF_BASE");
	struct loading l = {.odb = odb, .warning = warning, .err = err};
	bool use = true;
	int ret = config_bool(&odb->repo->config, "core.usereplacerefs", &use,
			      err);

	if (ret < 0 || !use || getenv("GIT_NO_REPLACE_OBJECTS"))
		return ret < 0 ? ret : 0;
	if (!base)
		base = "refs/replace/";
	l.base_len = strlen(base);
	return refs_each(refs, base, take_ref, &l, NULL, err);
}

int odb_replaced_follow(const struct odb_replaced *replaced,
			const struct oid **oid, enum hash_algo algo,
			struct error *err)
{
	const struct oid *first = *oid;
	char hex[OID_MAX_HEX_LEN + 1];
	uint32_t at;

	for (int depth = 0; oidmap_get(&replaced->by_id, *oid, &at); depth++) {
		if (depth == DEPTH_MAX)
			return error_set(err, ERR_CORRUPT,
					 "replace depth too high for object %s",
					 oid_to_hex(hex, first, algo));
		*oid = &replaced->by[at];
	}
	return 0;
}

void odb_replaced_free(struct odb_replaced *replaced)
{
	if (!replaced)
		return;
	oidmap_release(&replaced->by_id);
	free(replaced->by);
	free(replaced);
}
