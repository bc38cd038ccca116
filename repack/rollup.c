/* SPDX-License-Identifier: MIT */
/* Collects the objects of the packs that a caller lists. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "object/links.h"
#include "odb/freshen.h"
#include "deltas/names.h"
#include "repack/rollup.h"

/* Returns whether `name` is the name of the pack's .pack file. */
static bool is_named(const struct pack *pack, const char *name)
{
	size_t len = strlen(pack->name);

	return !strncmp(name, pack->name, len) && !strcmp(name + len, ".pack");
}

int rollup_mark(enum rollup_part *parts, const struct odb *odb,
		const char *name, enum rollup_part part, bool once,
		struct error *err)
{
	for (uint32_t i = 0; i < odb->pack_nr; i++) {
		if (!is_named(odb->packs[i].pack, name))
			continue;
		if (once && parts[i] != ROLLUP_UNLISTED && parts[i] != part)
			return error_set(err, ERR_INVALID,
					 "pack '%s' is named twice, with "
					 "different marks",
					 name);
		if (part > parts[i])
			parts[i] = part;
		return 0;
	}
	return error_set(err, ERR_MISSING, "could not find pack '%s'", name);
}

struct rollup {
	struct pack_job *job;
	const struct rollup_options *options;
	/*
	 * indexed by obj_pos: objects that need not be listed any more, because
	 * they are in the list of objects to pack, or are left out
	 */
	struct bitset seen;
	/*
	 * indexed by obj_pos: objects on the stack, and objects whose links
	 * were followed
	 */
	struct bitset met;
	/* owned: obj_pos of objects whose links will be followed */
	uint32_t *stack;
	size_t stack_nr, stack_alloc;
	/*
	 * true: the walk does not follow the links of objects in ROLLUP_EXCLUDE
	 * packs
	 */
	bool stops;
	/* owned: for each pack, whether its time was set to the present */
	enum freshen_state *freshness;
	/* the latest modification time of a ROLLUP_INCLUDE pack */
	int64_t newest_ns;
	struct error *err;
};

/*
 * Returns whether the object is in a pack whose entry in options->parts is
 * `part`.
 */
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

static bool is_excluded(const struct rollup *r, const uint8_t *raw)
{
	return has(r, raw, ROLLUP_EXCLUDE) || has(r, raw, ROLLUP_OPEN);
}

/*
 * Returns whether an object of a ROLLUP_INCLUDE pack is left out, because a
 * pack that stays has the object (see options->removes).
 */
static bool is_left_out(struct rollup *r, const uint8_t *raw)
{
	const struct odb *odb = r->job->walk.odb;

	if (!r->options->removes)
		return is_excluded(r, raw);
	for (uint32_t i = 0; i < odb->pack_nr; i++)
		if ((r->options->parts[i] == ROLLUP_EXCLUDE ||
		     r->options->parts[i] == ROLLUP_OPEN) &&
		    pack_holds(odb->packs[i].pack, raw) &&
		    freshen_pack(&r->freshness[i], odb->packs[i].pack,
				 r->newest_ns))
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
		if (!is_left_out(r, raw))
			ret = add(r, obj_pos);
	}
	return ret;
}

/* ---- following */

static bool has_part(const struct rollup *r, enum rollup_part part)
{
	for (uint32_t i = 0; i < r->job->walk.odb->pack_nr; i++)
		if (r->options->parts[i] == part)
			return true;
	return false;
}

/*
 * Put an object on the stack, so that its links (ids of other objects) are
 * followed. Returns 1 if the object is new, 0 if it was met before, or a
 * negative error code. A leaf (a blob) has no links and is only marked.
 */
static int meet(struct rollup *r, uint32_t obj_pos, bool is_leaf)
{
	if (obj_pos >= r->met.bits &&
	    bitset_grow(&r->met, (size_t)obj_pos + obj_pos / 2 + 64) < 0)
		return error_nomem(r->err);
	if (bitset_test(&r->met, obj_pos))
		return 0;
	bitset_set(&r->met, obj_pos);
	if (is_leaf)
		return 1;
	if (mem_grow(&r->stack, &r->stack_alloc, r->stack_nr + 1,
		     sizeof(*r->stack)) < 0)
		return error_nomem(r->err);
	r->stack[r->stack_nr++] = obj_pos;
	return 1;
}

/*
 * Warn that an unreadable loose object is not packed. Its file stays. If the
 * object is needed, fsck reports it. Returns 0.
 */
static int warn_damaged(struct rollup *r, const char *path)
{
	error_set(&r->job->warning, ERR_CORRUPT,
		  "loose object at %s could not be examined", path);
	return 0;
}

/*
 * Add a loose object to the list of objects to pack, and follow its links.
 * Returns 0 or a negative error code.
 */
static int add_loose(void *ctx, const struct oid *oid, const char *path)
{
	struct rollup *r = ctx;
	uint32_t obj_pos;
	int ret;

	if (is_excluded(r, oid->bytes) || has(r, oid->bytes, ROLLUP_SUFFICE))
		return 0;
	if (objspace_add(&r->job->walk.space, oid->bytes, &obj_pos) < 0)
		return error_nomem(r->err);
	/* The object is already in the list, because a pack has it. */
	if (bitset_get(&r->seen, obj_pos))
		return 0;
	if (obj_pos >= r->seen.bits &&
	    bitset_grow(&r->seen, (size_t)obj_pos + obj_pos / 2 + 64) < 0)
		return error_nomem(r->err);
	bitset_set(&r->seen, obj_pos);
	ret = add(r, obj_pos);
	if (ret == ERR_CORRUPT)
		return warn_damaged(r, path);
	if (!ret && r->options->follow)
		ret = meet(r, obj_pos, false);
	return ret < 0 ? ret : 0;
}

/*
 * Put all objects of a pack on the stack of objects whose links are followed.
 * Returns 0 or a negative error code.
 */
static int meet_pack(struct rollup *r, const struct odb_pack *p)
{
	int ret = 0;

	for (uint32_t i = 0; i < p->pack->idx.nr && ret >= 0; i++) {
		const uint8_t *raw = pack_idx_oid(&p->pack->idx, i);
		uint32_t obj_pos;

		if (r->stops && has(r, raw, ROLLUP_EXCLUDE))
			continue;
		if (odb_find_raw(r->job->walk.odb, raw, &obj_pos))
			ret = meet(r, obj_pos, false);
	}
	return ret < 0 ? ret : 0;
}

/*
 * Handle a link from an object to the object `to`: put `to` on the stack, and
 * add it to the list of objects to pack. Objects of included packs are in this
 * list already. Returns 0 or a negative error code.
 */
static int add_link(void *ctx, const struct oid *to, enum object_type type,
		    struct error *err)
{
	struct rollup *r = ctx;
	struct walk *w = &r->job->walk;
	uint32_t obj_pos;
	int ret;

	if (r->stops && has(r, to->bytes, ROLLUP_EXCLUDE))
		return 0;
	if (objspace_add(&w->space, to->bytes, &obj_pos) < 0)
		return error_nomem(err);
	ret = meet(r, obj_pos, type == OBJ_BLOB);
	if (ret <= 0)
		return ret;
	/*
	 * Ignore a missing object: the packs need not be closed under
	 * reachability.
	 */
	if (bitset_get(&r->seen, obj_pos) || is_excluded(r, to->bytes) ||
	    !odb_reader_has(w->reader, to))
		return 0;
	return add(r, obj_pos);
}

static int look_behind(struct rollup *r, uint32_t obj_pos)
{
	struct walk *w = &r->job->walk;
	struct odb_object obj = ODB_OBJECT_INIT;
	enum object_type type;
	int ret = objspace_info(&w->space, w->reader, obj_pos, &type, NULL,
				r->err);

	if (!ret && type == OBJ_BLOB)
		return 0;
	if (!ret)
		ret = objspace_read(&w->space, w->reader, obj_pos, &obj,
				    r->err);
	if (ret < 0)
		return ret == ERR_MISSING ? 0 : ret;
	ret = object_links_each(obj.type, obj.data, obj.len, w->odb->algo,
				add_link, r, r->err);
	odb_object_release(w->reader, &obj);
	return ret;
}

static int follow(struct rollup *r)
{
	const struct odb *odb = r->job->walk.odb;
	int ret = 0;

	r->stops = has_part(r, ROLLUP_OPEN);
	for (uint32_t i = 0; i < odb->pack_nr && !ret; i++)
		if (r->options->parts[i] == ROLLUP_INCLUDE ||
		    r->options->parts[i] == ROLLUP_OPEN)
			ret = meet_pack(r, &odb->packs[i]);
	while (!ret && r->stack_nr)
		ret = look_behind(r, r->stack[--r->stack_nr]);
	return ret;
}

/* Initialise the tables and r->newest_ns. Returns 0 or ERR_NOMEM. */
static int prepare(struct rollup *r)
{
	const struct odb *odb = r->job->walk.odb;

	r->freshness = mem_calloc(odb->pack_nr, sizeof(*r->freshness));
	for (uint32_t i = 0; i < odb->pack_nr; i++)
		if (r->options->parts[i] == ROLLUP_INCLUDE &&
		    odb->packs[i].pack->mtime_ns > r->newest_ns)
			r->newest_ns = odb->packs[i].pack->mtime_ns;
	return r->freshness && !bitset_init(&r->seen, odb->packed_nr) &&
			       !bitset_init(&r->met, odb->packed_nr)
		       ? 0
		       : error_nomem(r->err);
}

int rollup_add(struct pack_job *job, const struct rollup_options *options,
	       struct error *err)
{
	struct rollup r = {
		.job = job,
		.options = options,
		.newest_ns = INT64_MIN,
		.err = err,
	};
	const struct odb *odb = job->walk.odb;
	int ret = prepare(&r);

	/*
	 * The list need not be closed under reachability, so no bitmap index
	 * may be written for it.
	 */
	job->left_out = true;
	for (uint32_t i = 0; i < odb->pack_nr && !ret; i++)
		if (options->parts[i] == ROLLUP_INCLUDE)
			ret = add_pack(&r, &odb->packs[i]);
	if (!ret && options->loose)
		ret = odb_each_loose(odb, true, add_loose, &r, err);
	if (!ret && options->follow)
		ret = follow(&r);
	bitset_release(&r.seen);
	bitset_release(&r.met);
	free(r.freshness);
	free(r.stack);
	return ret ? ret
		   : names_fill(&job->items,
				job->options->newpack->make.grouping, err);
}
