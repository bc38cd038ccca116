/* SPDX-License-Identifier: MIT */
/* Loading refs/replace/ into the table of replaced objects. */
#include <stdlib.h>
#include <string.h>

#include "config/config.h"
#include "odb/odb.h"
#include "odb/replaced.h"
#include "refs/refs.h"

struct loading {
	struct odb *odb;
	/* length of a ref's name before the id */
	size_t base_len;
	struct error *warning, *err;
};

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
	return odb_replaced_add(l->odb, &oid, &ref->oid) < 0
		       ? error_nomem(l->err)
		       : 0;
}

int refs_load_replaced(struct refs *refs, struct odb *odb,
		       struct error *warning, struct error *err)
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
