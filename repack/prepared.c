/* SPDX-License-Identifier: MIT */
/* The file of prepared answers. */
#include <string.h>

#include "base/mem.h"
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

	if (!take_oid(&answer->commit, c, algo) ||
	    !take_oid(&answer->checksum, c, algo) ||
	    !cursor_be32(c, &answer->object_nr))
		return corrupt(name, "ends within an answer", err);
	ret = ewah_view_parse(&answer->objects, c, err);
	if (ret < 0)
		return ret;
	return ewah_count(&answer->objects) == answer->object_nr
		       ? 0
		       : corrupt(name, "a wrong number of objects", err);
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
	if (!ret) {
		/* Cut to what there can be, for counts that lie. */
		p->answers = mem_calloc(nr < cursor_left(&c) ? nr : 0,
					sizeof(*p->answers));
		ret = p->answers ? 0 : error_nomem(err);
	}
	if (!ret && nr > cursor_left(&c))
		ret = corrupt(name, "ends within an answer", err);
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
		if (p->answers[i].objects.bits > p->pack->pack->idx.nr)
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

const struct prepared_answer *prepared_of_commit(const struct prepared *p,
						 const struct oid *commit)
{
	for (size_t i = 0; i < p->nr; i++)
		if (!oid_is_zero(commit) &&
		    oid_equal(&p->answers[i].commit, commit))
			return &p->answers[i];
	return NULL;
}

const struct prepared_answer *prepared_of_set(const struct prepared *p,
					      const struct bitset *objects,
					      size_t nr)
{
	for (size_t i = 0; i < p->nr; i++) {
		const struct prepared_answer *answer = &p->answers[i];

		if (answer->object_nr == nr &&
		    ewah_count_and(&answer->objects, objects) == nr)
			return answer;
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

		ret = buf_append(out, answer->commit.bytes, len);
		if (!ret)
			ret = buf_append(out, answer->checksum.bytes, len);
		if (!ret)
			ret = buf_append_be32(out, answer->object_nr);
		if (!ret)
			ret = ewah_view_write(out, &answer->objects);
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
