/* SPDX-License-Identifier: MIT */
/* Opens files of prepared answers, and finds the answer to a request. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/sort.h"
#include "object/hash.h"
#include "pack/pack.h"
#include "prepared/prepared.h"

const struct odb_pack *prepared_pack(const struct odb *odb,
				     const struct oid *checksum)
{
	for (uint32_t i = 0; i < odb->pack_nr; i++)
		if (oid_equal(&odb->packs[i].pack->checksum, checksum))
			return &odb->packs[i];
	return NULL;
}

/*
 * Returns whether all runs of `content`, which are byte ranges of a pack, end
 * at or before `end`, the offset of the pack's trailer.
 */
static bool is_within(const struct prepared_content *content, uint64_t end)
{
	const struct prepared_run *last = &content->runs[content->run_nr - 1];

	return last->off + last->len <= end;
}

/*
 * A prepared answer of depth 1 also stores a description of its tree (struct
 * prepared_tree), which refers to objects by their positions in a pack. Returns
 * whether these positions are below `object_nr`, the number of objects of the
 * pack. Also returns true if the answer has no such description.
 */
static bool has_tree(const struct prepared_answer *answer, uint32_t object_nr)
{
	const struct prepared_tree *tree = &answer->tree;
	const struct prepared_place *last;

	if (!tree->is_known)
		return true;
	last = &tree->places[answer->plain.run_nr - 1];
	return last->first + last->nr <= object_nr &&
	       (!tree->repeat_nr ||
		tree->repeats[tree->repeat_nr - 1].idx_pos < object_nr);
}

/* Returns whether all answers are about objects inside the pack. */
static bool fits_pack(const struct prepared *p)
{
	uint64_t end = p->pack->pack->file.len - hash_len(p->algo);

	for (size_t i = 0; i < p->nr; i++)
		if (!is_within(&p->answers[i].plain, end) ||
		    !is_within(&p->answers[i].tagged, end) ||
		    !has_tree(&p->answers[i], p->pack->pack->idx.nr))
			return false;
	return true;
}

int prepared_map_file(struct sys_map *map, struct buf *path,
		      const struct odb *odb, size_t dir_nr, const char *name,
		      struct error *err)
{
	int ret;

	if (buf_printf(path, "%s/info/%s", odb->dirs[dir_nr], name) < 0)
		return error_nomem(err);
	ret = sys_map_open(map, path->data, err);
	if (ret == ERR_MISSING)
		return 0;
	return ret < 0 ? ret : 1;
}

int prepared_open(struct prepared *p, const struct odb *odb, size_t dir_nr,
		  struct error *err)
{
	struct buf path = BUF_INIT;
	struct sys_map map = SYS_MAP_INIT;
	int ret = prepared_map_file(&map, &path, odb, dir_nr, "prepared", err);

	*p = (struct prepared)PREPARED_INIT;
	if (ret <= 0)
		goto out;
	ret = prepared_parse(p, map.data, map.len, odb->algo, path.data, err);
	p->map = map;
	if (!ret)
		p->pack = prepared_pack(odb, &p->pack_checksum);
	if (p->pack)
		ret = fits_pack(p)
			      ? 1
			      : error_set(err, ERR_CORRUPT,
					  "%s: does not belong to its pack",
					  path.data);
out:
	buf_release(&path);
	if (ret <= 0)
		prepared_close(p);
	return ret;
}

/*
 * Sort ids by their first 8 bytes. Returns NULL if there is no memory. Ids with
 * equal first bytes have no defined order.
 */
static struct sort_item *sort_ids(const struct oid *ids, size_t nr)
{
	struct sort_item *order = mem_alloc(nr, sizeof(*order));

	for (size_t i = 0; order && i < nr; i++)
		order[i] = (struct sort_item){
			load_be64(ids[i].bytes),
			(uint32_t)i,
		};
	if (order && !sort_items(order, nr))
		return order;
	free(order);
	return NULL;
}

/*
 * Compute the hash of sorted ids. Of equal ids, only one is hashed. *several is
 * set to whether there is more than one different id. Returns 0 or ERR_NOMEM.
 */
static int hash_ids(struct oid *out, enum hash_algo algo, const struct oid *ids,
		    const struct sort_item *order, size_t nr, bool *several)
{
	struct hash_ctx hash;

	if (hash_init(&hash, algo) < 0)
		return ERR_NOMEM;
	*several = false;
	for (size_t i = 0; i < nr; i++) {
		const struct oid *id = &ids[order[i].value];

		if (i && oid_equal(id, &ids[order[i - 1].value]))
			continue;
		*several |= i > 0;
		hash_update(&hash, id->bytes, hash_len(algo));
	}
	hash_final(&hash, out);
	hash_release(&hash);
	return 0;
}

int prepared_request(struct prepared_request *request, enum hash_algo algo,
		     bool depth_1, const struct oid *wants, size_t nr)
{
	struct sort_item *order = sort_ids(wants, nr);
	bool several = false;
	int ret = order ? hash_ids(&request->id, algo, wants, order, nr,
				   &several)
			: ERR_NOMEM;

	free(order);
	request->kind = depth_1 ? PREPARED_DEPTH_1 : PREPARED_CLONE;
	if (several)
		request->kind += PREPARED_SEVERAL;
	else
		request->id = wants[0];
	return ret;
}

const struct prepared_answer *prepared_find(
	const struct prepared *p, const struct prepared_request *request)
{
	for (size_t i = 0; i < p->nr; i++)
		if (prepared_same_request(&p->answers[i].request, request))
			return &p->answers[i];
	return NULL;
}

static bool has_runs(const struct prepared_content *content,
		     const struct prepared_run *runs, size_t nr)
{
	if (content->run_nr != nr)
		return false;
	for (size_t i = 0; i < nr; i++)
		if (content->runs[i].off != runs[i].off ||
		    content->runs[i].len != runs[i].len)
			return false;
	return true;
}

const struct prepared_content *prepared_find_content(
	const struct prepared *p, const struct prepared_run *runs, size_t nr)
{
	for (size_t i = 0; i < p->nr; i++) {
		const struct prepared_answer *answer = &p->answers[i];

		if (has_runs(&answer->plain, runs, nr))
			return &answer->plain;
		if (has_runs(&answer->tagged, runs, nr))
			return &answer->tagged;
	}
	return NULL;
}

bool prepared_find_tag(const struct prepared *p, const struct oid *tag,
		       uint32_t *at)
{
	return oid_raw_find(p->tags, p->tag_nr, tag, p->algo, at);
}

bool prepared_has(const struct prepared_content *content, uint64_t off)
{
	size_t low = 0, high = content->run_nr;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		const struct prepared_run *run = &content->runs[mid];

		if (off < run->off)
			high = mid;
		else if (off - run->off < run->len)
			return true;
		else
			low = mid + 1;
	}
	return false;
}

uint32_t prepared_paths(const struct prepared_tree *tree, uint32_t idx_pos)
{
	size_t low = 0, high = tree->repeat_nr;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (tree->repeats[mid].idx_pos == idx_pos)
			return tree->repeats[mid].paths;
		if (tree->repeats[mid].idx_pos < idx_pos)
			low = mid + 1;
		else
			high = mid;
	}
	return 1;
}

/*
 * Add to the hash the index positions of all objects of one run, and of the
 * object that follows the run in the pack. This object shows where the last
 * object of the run ends.
 */
static void hash_place(struct hash_ctx *hash,
		       const struct prepared_place *place,
		       const struct pack_rev *rev)
{
	uint32_t end = place->first + place->nr;
	uint8_t bytes[4096];
	size_t len = 0;

	if (end < rev->idx->nr)
		end++;
	for (uint32_t pos = place->first; pos < end; pos++) {
		store_be32(bytes + len, pack_rev_idx_pos(rev, pos));
		len += 4;
		if (len == sizeof(bytes)) {
			hash_update(hash, bytes, len);
			len = 0;
		}
	}
	hash_update(hash, bytes, len);
}

int prepared_hash_order(struct oid *order, const struct prepared_tree *tree,
			size_t run_nr, const struct pack_rev *rev)
{
	struct hash_ctx hash;

	if (hash_init(&hash, rev->idx->algo) < 0)
		return ERR_NOMEM;
	for (size_t i = 0; i < run_nr; i++)
		hash_place(&hash, &tree->places[i], rev);
	hash_final(&hash, order);
	hash_release(&hash);
	return 0;
}

uint64_t prepared_bytes(const struct prepared_content *content)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < content->run_nr; i++)
		bytes += content->runs[i].len;
	return bytes;
}

int prepared_runs(struct prepared_run **runs, size_t *nr,
		  const struct pack_rev *rev, const struct bitset *objects,
		  struct error *err)
{
	size_t alloc = 0, next;

	*runs = NULL;
	*nr = 0;
	for (size_t pos = bitset_next(objects, 0); pos < objects->bits;
	     pos = bitset_next(objects, next)) {
		uint64_t off = pack_rev_offset(rev, (uint32_t)pos), end;

		next = bitset_next_unset(objects, pos);
		end = pack_rev_offset(rev, (uint32_t)next);
		if (mem_grow(runs, &alloc, *nr + 1, sizeof(**runs)) < 0)
			return error_nomem(err);
		if (end <= off)
			return error_set(err, ERR_CORRUPT,
					 "objects are not in the order of the "
					 "pack");
		(*runs)[(*nr)++] = (struct prepared_run){off, end - off};
	}
	return 0;
}

/*
 * Set *pos to the pack_pos of the entry that starts at the offset `off`. If
 * `off` is the end of all entries, set *pos to the number of objects. Returns
 * false for any other offset.
 */
static bool find_pos(const struct pack_rev *rev, uint64_t off, uint32_t *pos)
{
	*pos = rev->idx->nr;
	return off == rev->end || pack_rev_find(rev, off, pos);
}

bool prepared_objects(struct bitset *objects, const struct pack_rev *rev,
		      const struct prepared_content *content)
{
	uint64_t nr = 0;

	for (size_t i = 0; i < content->run_nr; i++) {
		const struct prepared_run *run = &content->runs[i];
		uint32_t first, end;

		if (!pack_rev_find(rev, run->off, &first) ||
		    !find_pos(rev, run->off + run->len, &end))
			return false;
		bitset_set_range(objects, first, end);
		nr += end - first;
	}
	return nr == content->object_nr;
}
