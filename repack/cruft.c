/* SPDX-License-Identifier: MIT */
/* Writes cruft packs. */
#include "base/mem.h"
#include "pack/mtimes.h"
#include "deltas/names.h"
#include "repack/cruft.h"

struct cruft {
	struct unreachable *u;
	const struct cruft_options *options;
	struct packing_items items;
	/* owned: the time of each item, indexed by item number */
	uint32_t *mtimes;
};

static uint32_t time_of(const struct cruft *c,
			const struct unreachable_item *item)
{
	int64_t expiry = c->options->expiry;

	if (c->options->expired || expiry == INT64_MAX || item->mtime >= expiry)
		return item->mtime;
	return pack_mtimes_clamp(expiry);
}

static int add_items(struct cruft *c, struct error *err)
{
	for (size_t i = 0; i < c->u->nr; i++) {
		const struct unreachable_item *item = &c->u->items[i];
		enum object_type type;
		int ret;

		if (c->options->expired ? item->is_kept || item->is_safe
					: !cruft_wants(item))
			continue;
		ret = unreachable_type(c->u, item, &type, err);
		if (ret < 0)
			return ret;
		if (ret > 0)
			continue;
		c->mtimes[c->items.nr] = time_of(c, item);
		if (packing_items_append(&c->items, item->obj_pos, type, 0,
					 false) < 0)
			return error_nomem(err);
	}
	return 0;
}

int cruft_write(struct newpacks *np, struct unreachable *u,
		const struct cruft_options *options, struct error *err)
{
	struct cruft c = {.u = u, .options = options};
	int ret;

	*np = (struct newpacks){0};
	packing_items_init(&c.items, &u->walk->space);
	c.mtimes = mem_alloc(u->nr, sizeof(*c.mtimes));
	ret = c.mtimes ? add_items(&c, err) : error_nomem(err);
	if (!ret && (c.items.nr || options->empty)) {
		ret = names_fill(&c.items, options->newpack->make.grouping,
				 err);
		if (!ret && options->sink)
			ret = newpacks_send(np, &c.items, *options->sink,
					    options->newpack, err);
		else if (!ret)
			ret = newpacks_make(np, &c.items, c.mtimes,
					    options->dir, options->newpack,
					    err);
		if (!ret && !options->sink)
			ret = newpacks_install(np, options->base, err);
	}
	free(c.mtimes);
	packing_items_release(&c.items);
	return ret;
}
