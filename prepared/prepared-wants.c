/* SPDX-License-Identifier: MIT */
/* Reads and writes the file with the wants of prepared answers. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "object/hash.h"
#include "prepared/prepared-wants.h"

static const char magic[] = "PREW";

enum { VERSION = 1, HEADER_LEN = 12 };

struct parsing {
	struct prepared_wants *w;
	struct cursor c;
	const char *name;
	struct error *err;
};

static int corrupt(const struct parsing *g, const char *what)
{
	return error_set(g->err, ERR_CORRUPT, "%s: %s", g->name, what);
}

static const uint8_t *id_at(const struct prepared_wants *w, uint32_t i)
{
	return w->ids + (size_t)i * hash_len(w->algo);
}

static int parse_ids(struct parsing *g)
{
	struct prepared_wants *w = g->w;
	size_t id_len = hash_len(w->algo);

	if (w->id_nr > cursor_left(&g->c) / id_len ||
	    !cursor_bytes(&g->c, &w->ids, w->id_nr * id_len))
		return corrupt(g, "ends within its ids");
	for (uint32_t i = 1; i < w->id_nr; i++)
		if (memcmp(id_at(w, i - 1), id_at(w, i), id_len) >= 0)
			return corrupt(g, "ids are not in order");
	return 0;
}

/*
 * Parse the wants of one prepared answer: the number of the answer (its index
 * in the file of prepared answers), and the bitmap of its wants. Each number
 * must be larger than the number before it. Returns 0 or a negative error code.
 */
static int parse_answer(struct parsing *g)
{
	struct prepared_wants *w = g->w;
	struct prepared_wants_of *of = &w->answers[w->nr];
	int ret;

	if (!cursor_be32(&g->c, &of->answer))
		return corrupt(g, "ends within an answer");
	if (w->nr && of->answer <= w->answers[w->nr - 1].answer)
		return corrupt(g, "answers are not in order");
	ret = ewah_view_parse(&of->ids, &g->c, g->err);
	if (!ret && of->ids.bits > w->id_nr)
		ret = corrupt(g, "an answer wants an id that is not listed");
	if (!ret)
		w->nr++;
	return ret;
}

static int parse_answers(struct parsing *g, uint16_t nr)
{
	int ret = 0;

	if (nr > cursor_left(&g->c))
		return corrupt(g, "ends within an answer");
	g->w->answers = mem_calloc(nr, sizeof(*g->w->answers));
	if (nr && !g->w->answers)
		return error_nomem(g->err);
	while (g->w->nr < nr && !ret)
		ret = parse_answer(g);
	if (!ret && cursor_left(&g->c))
		ret = corrupt(g, "bytes after the last answer");
	return ret;
}

static int parse(struct parsing *g)
{
	struct prepared_wants *w = g->w;
	const uint8_t *start, *checksum;
	uint16_t nr;
	int ret;

	if (!cursor_bytes(&g->c, &start, 6) || memcmp(start, magic, 4) != 0)
		return corrupt(g, "not a file of wants");
	if (start[4] != VERSION)
		return error_set(g->err, ERR_UNSUPPORTED,
				 "%s: unknown version %u of the format",
				 g->name, start[4]);
	if (start[5] != (uint8_t)w->algo)
		return corrupt(g, "wrong hash function");
	if (!cursor_be16(&g->c, &nr) || !cursor_be32(&g->c, &w->id_nr) ||
	    !cursor_bytes(&g->c, &checksum, hash_len(w->algo)))
		return corrupt(g, "ends within its header");
	oid_from_raw(&w->prepared_checksum, checksum, w->algo);
	ret = parse_ids(g);
	return ret ? ret : parse_answers(g, nr);
}

int prepared_wants_parse(struct prepared_wants *w, const void *bytes,
			 size_t len, enum hash_algo algo, const char *name,
			 struct error *err)
{
	struct parsing g = {
		.w = w,
		.c = cursor_make(bytes, len),
		.name = name,
		.err = err,
	};
	int ret = hash_check_trailer(bytes, len, algo, name, err);

	*w = (struct prepared_wants)PREPARED_WANTS_INIT;
	w->algo = algo;
	if (ret < 0)
		return ret;
	g.c.end -= hash_len(algo);
	ret = parse(&g);
	if (ret < 0)
		prepared_wants_close(w);
	return ret;
}

int prepared_wants_write(struct buf *out, const struct prepared_wants *w)
{
	size_t start = out->len, id_len = hash_len(w->algo);
	uint8_t header[HEADER_LEN];
	int ret;

	memcpy(header, magic, 4);
	header[4] = VERSION;
	header[5] = (uint8_t)w->algo;
	store_be16(header + 6, (uint16_t)w->nr);
	store_be32(header + 8, w->id_nr);
	ret = buf_append(out, header, sizeof(header));
	if (!ret)
		ret = buf_append(out, w->prepared_checksum.bytes, id_len);
	if (!ret && w->id_nr)
		ret = buf_append(out, w->ids, w->id_nr * id_len);
	for (size_t i = 0; i < w->nr && !ret; i++) {
		ret = buf_append_be32(out, w->answers[i].answer);
		if (!ret)
			ret = ewah_view_write(out, &w->answers[i].ids);
	}
	return ret < 0 ? ret : hash_append_trailer(out, start, w->algo, NULL);
}

/*
 * Returns whether the file of wants was written for the answers in `prepared`.
 */
static bool belongs(const struct prepared_wants *w,
		    const struct prepared *prepared)
{
	size_t id_len = hash_len(w->algo);
	const struct prepared_wants_of *last = w->answers + w->nr;

	return prepared->map.len >= id_len &&
	       !memcmp(prepared->map.data + prepared->map.len - id_len,
		       w->prepared_checksum.bytes, id_len) &&
	       (!w->nr || last[-1].answer < prepared->nr);
}

/*
 * Works like prepared_wants_open(), but ignores a file of more than `len_max`
 * bytes.
 */
static int open_up_to(struct prepared_wants *w, const struct prepared *prepared,
		      const struct odb *odb, size_t dir_nr, size_t len_max,
		      struct error *err)
{
	struct sys_map map = SYS_MAP_INIT;
	struct buf path = BUF_INIT;
	int ret = prepared_map_file(&map, &path, odb, dir_nr, "prepared-wants",
				    err);

	*w = (struct prepared_wants)PREPARED_WANTS_INIT;
	if (ret <= 0)
		goto out;
	ret = 0;
	if (map.len <= len_max)
		ret = prepared_wants_parse(w, map.data, map.len, odb->algo,
					   path.data, err);
	w->map = map;
	if (!ret && map.len <= len_max && belongs(w, prepared))
		ret = 1;
out:
	buf_release(&path);
	if (ret <= 0)
		prepared_wants_close(w);
	return ret;
}

int prepared_wants_open(struct prepared_wants *w,
			const struct prepared *prepared, const struct odb *odb,
			size_t dir_nr, struct error *err)
{
	return open_up_to(w, prepared, odb, dir_nr, SIZE_MAX, err);
}

int prepared_wants_open_any(struct prepared_wants *w, const struct odb *odb,
			    size_t len_max)
{
	struct prepared prepared = PREPARED_INIT;
	int ret = 0;

	*w = (struct prepared_wants)PREPARED_WANTS_INIT;
	for (size_t i = 0; i < odb->dir_nr && ret <= 0; i++) {
		ret = prepared_open(&prepared, odb, i, NULL);
		if (ret > 0)
			ret = open_up_to(w, &prepared, odb, i, len_max, NULL);
		prepared_close(&prepared);
		if (ret == ERR_NOMEM)
			return ret;
	}
	return ret > 0;
}

void prepared_wants_close(struct prepared_wants *w)
{
	free(w->answers);
	sys_map_close(&w->map);
	*w = (struct prepared_wants)PREPARED_WANTS_INIT;
}

bool prepared_wants_find(const struct prepared_wants *w, const struct oid *oid,
			 uint32_t *at)
{
	return oid_raw_find(w->ids, w->id_nr, oid, w->algo, at);
}
