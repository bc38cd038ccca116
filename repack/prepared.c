/* SPDX-License-Identifier: MIT */
/* The file of prepared answers. */
#include <string.h>

#include "base/mem.h"
#include "base/sort.h"
#include "object/hash.h"
#include "repack/prepared.h"

static const char magic[] = "PREP";

enum { VERSION = 1 };

static int corrupt(const char *name, const char *what, struct error *err)
{
	return error_set(err, ERR_CORRUPT, "%s: %s", name, what);
}

static bool take_oid(struct oid *oid, struct cursor *c, enum hash_algo algo)
{
	const uint8_t *raw;

	if (!cursor_bytes(c, &raw, hash_len(algo)))
		return false;
	oid_from_raw(oid, raw, algo);
	return true;
}

static int parse_answer(struct prepared_answer *answer, struct cursor *c,
			enum hash_algo algo, const char *name,
			struct error *err)
{
	int ret;

	if (!cursor_u8(c, &answer->request.kind) ||
	    !take_oid(&answer->request.id, c, algo) ||
	    !take_oid(&answer->checksum, c, algo) ||
	    !take_oid(&answer->tagged, c, algo))
		return corrupt(name, "ends within an answer", err);
	ret = ewah_view_parse(&answer->objects, c, err);
	if (!ret)
		ret = ewah_view_parse(&answer->tags, c, err);
	if (ret < 0)
		return ret;
	answer->object_nr = (uint32_t)ewah_count(&answer->objects);
	answer->tag_nr = (uint32_t)ewah_count(&answer->tags);
	return 0;
}

static int parse_header(uint16_t *nr, struct oid *pack_checksum,
			struct cursor *c, enum hash_algo algo, const char *name,
			struct error *err)
{
	const uint8_t *start;

	if (!cursor_bytes(c, &start, 6) || memcmp(start, magic, 4) != 0 ||
	    start[4] != VERSION)
		return corrupt(name, "not a file of prepared answers", err);
	if (start[5] != (uint8_t)algo)
		return corrupt(name, "wrong hash function", err);
	if (!cursor_be16(c, nr) || !take_oid(pack_checksum, c, algo))
		return corrupt(name, "ends within its header", err);
	return 0;
}

int prepared_parse(struct prepared *p, const void *bytes, size_t len,
		   enum hash_algo algo, const char *name, struct error *err)
{
	struct cursor c = cursor_make(bytes, len);
	uint16_t nr = 0;
	int ret;

	*p = (struct prepared)PREPARED_INIT;
	ret = hash_check_trailer(bytes, len, algo, name, err);
	if (ret < 0)
		return ret;
	c.end -= hash_len(algo);
	ret = parse_header(&nr, &p->pack_checksum, &c, algo, name, err);
	if (!ret && nr > cursor_left(&c))
		ret = corrupt(name, "ends within an answer", err);
	if (!ret) {
		p->answers = mem_calloc(nr, sizeof(*p->answers));
		ret = p->answers ? 0 : error_nomem(err);
	}
	for (; p->nr < nr && !ret; p->nr++)
		ret = parse_answer(&p->answers[p->nr], &c, algo, name, err);
	if (!ret && cursor_left(&c))
		ret = corrupt(name, "bytes after the last answer", err);
	if (ret < 0)
		prepared_close(p);
	return ret;
}

const struct odb_pack *prepared_pack(const struct odb *odb,
				     const struct oid *checksum)
{
	for (uint32_t i = 0; i < odb->pack_nr; i++)
		if (oid_equal(&odb->packs[i].pack->checksum, checksum))
			return &odb->packs[i];
	return NULL;
}

/* Whether all answers are about objects that the pack has. */
static bool fits_pack(const struct prepared *p)
{
	for (size_t i = 0; i < p->nr; i++)
		if (p->answers[i].objects.bits > p->pack->pack->idx.nr ||
		    p->answers[i].tags.bits > p->pack->pack->idx.nr)
			return false;
	return true;
}

int prepared_open(struct prepared *p, const struct odb *odb, size_t dir_nr,
		  struct error *err)
{
	struct buf path = BUF_INIT;
	struct sys_map map = SYS_MAP_INIT;
	int ret;

	*p = (struct prepared)PREPARED_INIT;
	if (buf_printf(&path, "%s/info/prepared", odb->dirs[dir_nr]) < 0)
		return error_nomem(err);
	ret = sys_map_open(&map, path.data, err);
	if (!ret)
		ret = prepared_parse(p, map.data, map.len, odb->algo, path.data,
				     err);
	p->map = map;
	if (!ret) {
		p->pack = prepared_pack(odb, &p->pack_checksum);
		if (p->pack && !fits_pack(p))
			ret = corrupt(path.data, "not of its pack", err);
	}
	buf_release(&path);
	if (!ret && p->pack)
		return 1;
	prepared_close(p);
	return ret == ERR_MISSING ? 0 : ret;
}

void prepared_close(struct prepared *p)
{
	free(p->answers);
	sys_map_close(&p->map);
	*p = (struct prepared)PREPARED_INIT;
}

/* By the first bytes; ids that have these in common come in any order. */
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

/* Ids that are sorted, each once; *several: there is more than one. */
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

int prepared_open_for(struct prepared *p, const struct prepared_answer **answer,
		      const struct odb *odb, bool depth_1,
		      const struct oid *wants, size_t nr)
{
	struct prepared_request request;

	*answer = NULL;
	*p = (struct prepared)PREPARED_INIT;
	for (size_t i = 0; i < odb->dir_nr; i++) {
		int ret = prepared_open(p, odb, i, NULL);

		if (ret > 0)
			ret = prepared_request(&request, odb->algo, depth_1,
					       wants, nr);
		if (!ret && p->pack)
			*answer = prepared_find(p, &request);
		if (*answer)
			return 1;
		prepared_close(p);
		if (ret == ERR_NOMEM)
			return ret;
	}
	return 0;
}

/* Whether all of a bitmap is in a set. */
static bool is_in(const struct ewah_view *bits, uint32_t nr,
		  const struct bitset *set)
{
	return ewah_count_and(bits, set) == nr;
}

const struct oid *prepared_checksum(const struct prepared *p,
				    const struct bitset *objects, size_t nr)
{
	for (size_t i = 0; i < p->nr; i++) {
		const struct prepared_answer *answer = &p->answers[i];
		size_t tagged_nr = (size_t)answer->object_nr + answer->tag_nr;

		if ((nr != answer->object_nr && nr != tagged_nr) ||
		    !is_in(&answer->objects, answer->object_nr, objects))
			continue;
		if (nr == answer->object_nr)
			return &answer->checksum;
		if (is_in(&answer->tags, answer->tag_nr, objects))
			return &answer->tagged;
	}
	return NULL;
}

static int write_answers(struct buf *out, enum hash_algo algo,
			 const struct prepared_answer *answers, size_t nr)
{
	size_t len = hash_len(algo);
	int ret = 0;

	for (size_t i = 0; i < nr && !ret; i++) {
		const struct prepared_answer *answer = &answers[i];

		ret = buf_append_char(out, (char)answer->request.kind);
		if (!ret)
			ret = buf_append(out, answer->request.id.bytes, len);
		if (!ret)
			ret = buf_append(out, answer->checksum.bytes, len);
		if (!ret)
			ret = buf_append(out, answer->tagged.bytes, len);
		if (!ret)
			ret = ewah_view_write(out, &answer->objects);
		if (!ret)
			ret = ewah_view_write(out, &answer->tags);
	}
	return ret;
}

int prepared_write(struct buf *out, const struct oid *pack_checksum,
		   enum hash_algo algo, const struct prepared_answer *answers,
		   size_t nr)
{
	uint8_t header[8];
	size_t start = out->len;
	int ret;

	memcpy(header, magic, 4);
	header[4] = VERSION;
	header[5] = (uint8_t)algo;
	store_be16(header + 6, (uint16_t)nr);
	ret = buf_append(out, header, sizeof(header));
	if (!ret)
		ret = buf_append(out, pack_checksum->bytes, hash_len(algo));
	if (!ret)
		ret = write_answers(out, algo, answers, nr);
	return ret < 0 ? ret : hash_append_trailer(out, start, algo, NULL);
}
