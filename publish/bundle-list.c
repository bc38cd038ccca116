/* SPDX-License-Identifier: MIT */
/* Reads and formats lists of published bundles. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "publish/bundle-list.h"
#include "sys/io.h"
#include "sys/map.h"

#define HEAD "# pack "
#define RULES "\n# hidden "
#define OPTIONS                                                                \
	"[bundle]\n\tversion = 1\n\tmode = all\n"                              \
	"\theuristic = creationToken\n"

/* The rest of a list. */
struct text {
	const char *p, *end;
};

/*
 * Skip a constant. Returns false if the rest does not start with the constant.
 */
static bool take(struct text *t, const char *constant)
{
	size_t len = strlen(constant);

	if ((size_t)(t->end - t->p) < len || memcmp(t->p, constant, len) != 0)
		return false;
	t->p += len;
	return true;
}

static bool take_oid(struct text *t, struct oid *oid, enum hash_algo algo)
{
	size_t len = hash_hex_len(algo);

	if ((size_t)(t->end - t->p) < len ||
	    !oid_from_hex(oid, t->p, len, algo))
		return false;
	t->p += len;
	return true;
}

/* Take a number of at most 18 digits. Returns false if there is no digit. */
static bool take_number(struct text *t, uint64_t *number)
{
	const char *start = t->p;

	*number = 0;
	while (t->p < t->end && t->p - start < 18 && *t->p >= '0' &&
	       *t->p <= '9')
		*number = *number * 10 + (uint64_t)(*t->p++ - '0');
	return t->p > start;
}

static bool take_item(struct text *t, struct bundle_list_item *item,
		      enum hash_algo algo)
{
	uint64_t name;

	return take(t, "[bundle \"") && take_number(t, &name) &&
	       take(t, "\"]\n\turi = ") && take_oid(t, &item->hash, algo) &&
	       take(t, ".bundle\n\tcreationToken = ") &&
	       take_number(t, &item->token) && take(t, "\n") &&
	       name == item->token;
}

static bool take_list(struct text *t, struct bundle_list *list)
{
	if (!take(t, HEAD) || !take_oid(t, &list->pack, list->algo) ||
	    !take(t, RULES) || !take_oid(t, &list->rules, HASH_SHA256) ||
	    !take(t, "\n" OPTIONS))
		return false;
	while (t->p < t->end) {
		if (list->nr == BUNDLE_LIST_MAX ||
		    !take_item(t, &list->items[list->nr], list->algo))
			return false;
		if (list->nr && list->items[list->nr].token <=
					list->items[list->nr - 1].token)
			return false;
		list->nr++;
	}
	return list->nr;
}

int bundle_list_parse(struct bundle_list *list, const char *text, size_t len,
		      enum hash_algo algo, struct error *err)
{
	struct text t = {text, text + len};

	*list = (struct bundle_list){.algo = algo};
	if (take_list(&t, list))
		return 0;
	*list = (struct bundle_list){.algo = algo};
	return error_set(err, ERR_CORRUPT, "the list of bundles is damaged");
}

int bundle_list_format(struct buf *out, const struct bundle_list *list)
{
	char hex[OID_MAX_HEX_LEN + 1], rules[OID_MAX_HEX_LEN + 1];
	int ret;

	oid_to_hex(hex, &list->pack, list->algo);
	oid_to_hex(rules, &list->rules, HASH_SHA256);
	ret = buf_printf(out, HEAD "%s" RULES "%s\n" OPTIONS, hex, rules);
	for (size_t i = 0; i < list->nr && !ret; i++) {
		const struct bundle_list_item *item = &list->items[i];

		oid_to_hex(hex, &item->hash, list->algo);
		ret = buf_printf(out,
				 "[bundle \"%" PRIu64 "\"]\n\turi = %s.bundle\n"
				 "\tcreationToken = %" PRIu64 "\n",
				 item->token, hex, item->token);
	}
	return ret;
}

int bundle_list_read(struct bundle_list *list, const char *place,
		     enum hash_algo algo, struct error *err)
{
	struct buf path = BUF_INIT, text = BUF_INIT;
	int ret = buf_printf(&path, "%s/%s", place, BUNDLE_LIST_FILE) < 0
			  ? error_nomem(err)
			  : sys_read_file(&text, path.data, err);

	*list = (struct bundle_list){.algo = algo};
	if (!ret)
		ret = bundle_list_parse(list, text.data, text.len, algo, err);
	buf_release(&path);
	buf_release(&text);
	return ret == ERR_MISSING ? 0 : ret < 0 ? ret : 1;
}
