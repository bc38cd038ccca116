/* SPDX-License-Identifier: MIT */
/* Makes several packs from one list of objects. */
#include <stdio.h>

#include "base/mem.h"
#include "packs/newpacks.h"

/* Append a zeroed pack. Returns NULL if there is no memory. */
static struct newpack *add_pack(struct newpacks *np)
{
	struct newpack *pack;

	if (mem_grow(&np->packs, &np->alloc, np->nr + 1, sizeof(*np->packs)) <
	    0)
		return NULL;
	pack = mem_calloc(1, sizeof(*pack));
	if (pack)
		np->packs[np->nr++] = pack;
	return pack;
}

static void add_report(struct write_report *sum, const struct write_report *r)
{
	sum->objects += r->objects;
	sum->deltas += r->deltas;
	sum->reused += r->reused;
	sum->reused_deltas += r->reused_deltas;
	sum->bytes_verbatim += r->bytes_verbatim;
	sum->bytes_recompressed += r->bytes_recompressed;
}

int newpacks_make(struct newpacks *np, struct packing_items *items,
		  const uint32_t *mtimes, const char *dir,
		  const struct newpack_options *options, struct error *err)
{
	struct newpack *last = NULL;
	int ret;

	*np = (struct newpacks){0};
	do {
		struct newpack *pack = add_pack(np);

		if (!pack)
			return error_nomem(err);
		ret = last ? newpack_continue(pack, last, dir, err)
			   : newpack_make(pack, items, dir, options, err);
		if (!ret)
			ret = newpack_index(pack, dir, err);
		if (!ret && mtimes)
			ret = newpack_mtimes(pack, dir, mtimes, err);
		if (ret < 0)
			return ret;
		add_report(&np->report, &pack->report);
		last = pack;
	} while (last->rest_nr);
	return 0;
}

int newpacks_promisor(struct newpacks *np, const char *dir, struct error *err)
{
	int ret = 0;

	for (size_t i = 0; i < np->nr && !ret; i++)
		ret = newpack_promisor(np->packs[i], dir, err);
	return ret;
}

int newpacks_send(struct newpacks *np, struct packing_items *items,
		  struct pack_sink sink, const struct newpack_options *options,
		  struct error *err)
{
	struct newpack *pack;
	int ret;

	*np = (struct newpacks){0};
	pack = add_pack(np);
	if (!pack)
		return error_nomem(err);
	ret = newpack_send(pack, items, sink, options, err);
	np->report = pack->report;
	return ret;
}

void newpacks_release(struct newpacks *np)
{
	for (size_t i = 0; i < np->nr; i++) {
		newpack_release(np->packs[i]);
		free(np->packs[i]);
	}
	free(np->packs);
	*np = (struct newpacks){0};
}

int newpacks_install(struct newpacks *np, const char *base, struct error *err)
{
	int ret = 0;

	for (size_t i = 0; i < np->nr && !ret; i++)
		ret = newpack_install(np->packs[i], base, err);
	return ret;
}

int newpacks_names(struct strlist *names, const struct newpacks *np)
{
	char name[sizeof("pack-") + OID_MAX_HEX_LEN];
	char hex[OID_MAX_HEX_LEN + 1];
	int ret = 0;

	for (size_t i = 0; i < np->nr && !ret; i++) {
		const struct newpack *pack = np->packs[i];

		oid_to_hex(hex, &pack->checksum, pack->packs.odb->algo);
		snprintf(name, sizeof(name), "pack-%s", hex);
		ret = strlist_add(names, name);
	}
	return ret;
}
