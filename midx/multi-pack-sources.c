/* SPDX-License-Identifier: MIT */
/* Chooses the packs that a multi-pack-index covers. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "midx/multi-pack-sources.h"
#include "odb/odb-midx.h"
#include "pack/pack-name.h"

bool multi_pack_is_in(const struct odb *odb, size_t dir_nr,
		      const struct pack *pack)
{
	size_t dir_len = (size_t)(pack->name - pack->path);
	const char *dir = odb->dirs[dir_nr];
	size_t len = strlen(dir);

	return dir_len == len + 6 && !memcmp(pack->path, dir, len) &&
	       !memcmp(pack->path + len, "/pack/", 6);
}

void multi_pack_sources_release(struct multi_pack_sources *s)
{
	for (uint32_t i = 0; i < s->nr; i++)
		free((char *)s->packs[i].name);
	free(s->packs);
}

static int cmp_sources(const void *a, const void *b)
{
	const struct pack_midx_source *pa = a, *pb = b;

	return strcmp(pa->name, pb->name);
}

/* Returns whether a lower layer of the chain covers the pack. */
static bool is_below(const struct odb_midx *below, const struct odb *odb,
		     const struct pack *pack)
{
	for (; below; below = below->base)
		for (uint32_t i = 0; i < below->midx.pack_nr; i++)
			if (odb->packs[below->pack_nrs[i]].pack == pack)
				return true;
	return false;
}

static int add_source(struct multi_pack_sources *s, const struct odb *odb,
		      const struct pack *pack,
		      const struct multi_pack_options *o,
		      const struct odb_midx *below)
{
	struct buf name = BUF_INIT;

	/*
	 * Skip a pack with a temporary name. A repack of stock Git is still
	 * running, and will rename the pack.
	 */
	if (pack_name_is_temporary(pack->name) ||
	    (o->only && !pack_names_has(o->only, pack->name)) ||
	    pack_names_has(o->but, pack->name) || is_below(below, odb, pack))
		return 0;
	if (buf_printf(&name, "%s.idx", pack->name) < 0)
		return ERR_NOMEM;
	s->packs[s->nr++] = (struct pack_midx_source){
		buf_detach(&name, NULL), &pack->idx, pack->mtime_ns};
	return 0;
}

int multi_pack_sources_init(struct multi_pack_sources *s, const struct odb *odb,
			    const struct multi_pack_options *o,
			    const struct odb_midx *below, struct error *err)
{
	s->packs = mem_calloc(odb->pack_nr, sizeof(*s->packs));
	if (!s->packs)
		return error_nomem(err);
	for (uint32_t i = 0; i < odb->pack_nr; i++)
		if (multi_pack_is_in(odb, o->dir_nr, odb->packs[i].pack) &&
		    add_source(s, odb, odb->packs[i].pack, o, below) < 0)
			return error_nomem(err);
	if (!s->nr)
		return error_set(err, ERR_MISSING, "no pack files to index.");
	qsort(s->packs, s->nr, sizeof(*s->packs), cmp_sources);
	return 0;
}

/*
 * Returns whether `given` is the pack name "pack-<hex>", with or without
 * ".pack" or ".idx". `idx_name` is "pack-<hex>.idx".
 */
static bool is_same_pack(const char *idx_name, const char *given)
{
	size_t base_len = strlen(idx_name) - 4;

	return !strncmp(idx_name, given, base_len) &&
	       (!given[base_len] || !strcmp(given + base_len, ".idx") ||
		!strcmp(given + base_len, ".pack"));
}

uint32_t multi_pack_sources_find(const struct multi_pack_sources *s,
				 const char *given)
{
	for (uint32_t i = 0; i < s->nr && given; i++)
		if (is_same_pack(s->packs[i].name, given))
			return i;
	return PACK_MIDX_NO_PACK;
}

int multi_pack_version(unsigned *version, const struct repo *repo,
		       struct error *err)
{
	uint64_t configured = 1;

	if (config_u64(&repo->config, "midx.version", &configured, err) < 0)
		return ERR_INVALID;
	if (configured != 1 && configured != 2)
		return error_set(err, ERR_INVALID, "unknown MIDX version: %llu",
				 (unsigned long long)configured);
	*version = (unsigned)configured;
	return 0;
}
