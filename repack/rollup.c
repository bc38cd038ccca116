/* SPDX-License-Identifier: MIT */
/* Collecting the objects of packs. */
#include <string.h>

#include "base/mem.h"
#include "repack/names.h"
#include "repack/rollup.h"

/* Whether a name is that of a pack's file. */
static bool is_named(const struct pack *pack, const char *name)
{
	size_t len = strlen(pack->name);

	return !strncmp(name, pack->name, len) && !strcmp(name + len, ".pack");
}

int rollup_mark(enum rollup_part *parts, const struct odb *odb,
		const char *name, enum rollup_part part, struct error *err)
{
	for (uint32_t i = 0; i < odb->pack_nr; i++) {
		if (!is_named(odb->packs[i].pack, name))
			continue;
		if (parts[i] != ROLLUP_UNLISTED && parts[i] != part)
			return error_set(err, ERR_INVALID,
					 "pack '%s' is named twice, with and "
					 "without a mark",
					 name);
		parts[i] = part;
		return 0;
	}
	return error_set(err, ERR_MISSING, "could not find pack '%s'", name);
}

struct rollup {
	struct pack_job *job;
	const struct rollup_options *options;
	struct bitset seen; /* by obj_pos of packed objects */
	struct error *err;
};

/* Whether a pack of that part has the object. */
static bool has(const struct rollup *r, const uint8_t *raw,
		enum rollup_part part)
{
	const struct odb *odb = r->job->walk.odb;
	uint32_t ignored;

	for (uint32_t i = 0; i < odb->pack_nr; i++)
		if (r->options->parts[i] == part &&
		    pack_idx_find(&odb->packs[i].pack->idx, raw, &ignored))
			return true;
	return false;
}

static int add(struct rollup *r, uint32_t obj_pos)
{
	struct walk *w = &r->job->walk;
	enum object_type type;
	int ret = objspace_info(&w->space, w->reader, obj_pos, &type, NULL,
				r->err);

	if (!ret && pack_job_add_pos(r->job, obj_pos, type, 0) < 0)
		ret = error_nomem(r->err);
	return ret;
}

static int add_pack(struct rollup *r, const struct odb_pack *p)
{
	const struct odb *odb = r->job->walk.odb;
	const struct pack_rev *rev = pack_get_rev(p->pack, r->err);
	int ret = rev ? 0 : ERR_NOMEM;

	for (uint32_t i = 0; i < p->pack->idx.nr && !ret; i++) {
		uint32_t idx_pos = pack_rev_idx_pos(rev, i);
		const uint8_t *raw = pack_idx_oid(&p->pack->idx, idx_pos);
		uint32_t obj_pos = p->first_pos + idx_pos;

		if (!odb_find_raw(odb, raw, &obj_pos) ||
		    bitset_test(&r->seen, obj_pos))
			continue;
		bitset_set(&r->seen, obj_pos);
		if (!has(r, raw, ROLLUP_EXCLUDE))
			ret = add(r, obj_pos);
	}
	return ret;
}

static int add_loose(void *ctx, const struct oid *oid, const char *path)
{
	struct rollup *r = ctx;
	uint32_t obj_pos;

	if (has(r, oid->bytes, ROLLUP_EXCLUDE) ||
	    has(r, oid->bytes, ROLLUP_SUFFICE))
		return 0;
	if (objspace_add(&r->job->walk.space, oid->bytes, &obj_pos) < 0)
		return error_nomem(r->err);
	/* Of an included pack. */
	if (bitset_get(&r->seen, obj_pos))
		return 0;
	return add(r, obj_pos);
}

int rollup_add(struct pack_job *job, const struct rollup_options *options,
	       struct error *err)
{
	struct rollup r = {.job = job, .options = options, .err = err};
	const struct odb *odb = job->walk.odb;
	int ret = 0;

	if (bitset_init(&r.seen, odb->packed_nr) < 0)
		return error_nomem(err);
	/* Nobody said that this is all that something reaches. */
	job->left_out = true;
	for (uint32_t i = 0; i < odb->pack_nr && !ret; i++)
		if (options->parts[i] == ROLLUP_INCLUDE)
			ret = add_pack(&r, &odb->packs[i]);
	if (!ret && options->loose)
		ret = odb_each_loose(odb, true, add_loose, &r, err);
	bitset_release(&r.seen);
	return ret ? ret
		   : names_fill(&job->items,
				job->options->newpack->make.grouping, err);
}
