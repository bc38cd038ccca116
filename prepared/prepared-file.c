/* SPDX-License-Identifier: MIT */
/*
 * Reads and writes the file of prepared answers (stored responses to likely
 * requests).
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "object/hash.h"
#include "pack/pack.h"
#include "prepared/prepared.h"

static const char magic[] = "PREP";

enum { VERSION = 3, RUN_LEN = 16, PLACE_LEN = 8, REPEAT_LEN = 8 };

/* stored as the number of repeated objects: nothing is known about the tree */
#define NO_TREE UINT32_MAX

/* State of parsing a file of prepared answers. */
struct parsing {
	struct prepared *p;
	struct cursor c;
	/* numbers of runs, places and repeated objects parsed so far */
	size_t run_nr, place_nr, repeat_nr;
	/* whether the file ends too early */
	bool is_short;
	const char *name;
	struct error *err;
};

static int corrupt(const struct parsing *g, const char *what)
{
	return error_set(g->err, ERR_CORRUPT, "%s: %s", g->name, what);
}

static int ends_within(struct parsing *g, const char *what)
{
	g->is_short = true;
	return error_set(g->err, ERR_CORRUPT, "%s: ends within %s", g->name,
			 what);
}

static bool take_oid(struct parsing *g, struct oid *oid)
{
	const uint8_t *raw;

	if (!cursor_bytes(&g->c, &raw, hash_len(g->p->algo)))
		return false;
	oid_from_raw(oid, raw, g->p->algo);
	return true;
}

/*
 * Parse a run of pack bytes. A run that starts before the end of the previous
 * run is an error.
 */
static int parse_run(struct parsing *g, uint64_t *end)
{
	struct prepared_run *run = &g->p->runs[g->run_nr];

	if (!cursor_be64(&g->c, &run->off) || !cursor_be64(&g->c, &run->len))
		return ends_within(g, "a run");
	if (run->off <= *end || !run->len || run->len > UINT64_MAX - run->off)
		return corrupt(g, "runs are not in order");
	*end = run->off + run->len;
	g->run_nr++;
	return 0;
}

static int parse_content(struct parsing *g, struct prepared_content *content)
{
	uint64_t end = PACK_HEADER_LEN - 1;
	uint32_t run_nr;
	int ret = 0;

	if (!take_oid(g, &content->checksum) ||
	    !cursor_be32(&g->c, &content->object_nr) ||
	    !cursor_be32(&g->c, &run_nr))
		return ends_within(g, "an answer");
	if (!run_nr || run_nr > content->object_nr)
		return corrupt(g, "runs without objects");
	content->runs = g->p->runs + g->run_nr;
	content->run_nr = run_nr;
	for (uint32_t i = 0; i < run_nr && !ret; i++)
		ret = parse_run(g, &end);
	return ret;
}

static bool has_view(struct cursor c)
{
	uint32_t bits, word_nr;
	uint64_t last_rlw_len = 4;

	return cursor_be32(&c, &bits) && cursor_be32(&c, &word_nr) &&
	       cursor_left(&c) >= 8 * (uint64_t)word_nr + last_rlw_len;
}

/*
 * Parse one record about a tree or blob that occurs at several paths. Records
 * must be in ascending order of idx_pos, otherwise the file is invalid.
 */
static int parse_repeat(struct parsing *g, struct prepared_tree *tree)
{
	struct prepared_repeat *repeat = &g->p->repeats[g->repeat_nr];

	if (!cursor_be32(&g->c, &repeat->idx_pos) ||
	    !cursor_be32(&g->c, &repeat->paths))
		return ends_within(g, "a repeated object");
	if (repeat->paths < 2 || repeat->paths > INT32_MAX ||
	    (tree->repeat_nr && repeat->idx_pos <= repeat[-1].idx_pos))
		return corrupt(g, "malformed record of a repeated object");
	g->repeat_nr++;
	tree->repeat_nr++;
	return 0;
}

/*
 * Parse the objects of a run. `end` is the position after the last object of
 * the previous run.
 */
static int parse_place(struct parsing *g, uint32_t *end)
{
	struct prepared_place *place = &g->p->places[g->place_nr];

	if (!cursor_be32(&g->c, &place->first) ||
	    !cursor_be32(&g->c, &place->nr))
		return ends_within(g, "the place of a run");
	if (place->first < *end || !place->nr ||
	    place->nr > UINT32_MAX - place->first)
		return corrupt(g, "places of runs are not in order");
	*end = place->first + place->nr;
	g->place_nr++;
	return 0;
}

static int parse_places(struct parsing *g, struct prepared_tree *tree,
			const struct prepared_content *plain)
{
	uint64_t nr = 0;
	uint32_t end = 0;
	int ret = 0;

	tree->places = g->p->places + g->place_nr;
	for (size_t i = 0; i < plain->run_nr && !ret; i++) {
		ret = parse_place(g, &end);
		if (!ret)
			nr += tree->places[i].nr;
	}
	if (!ret && nr != plain->object_nr)
		ret = corrupt(g, "runs have another number of objects");
	if (!ret && !take_oid(g, &tree->order))
		ret = ends_within(g, "an answer");
	return ret;
}

static int parse_tree(struct parsing *g, struct prepared_answer *answer)
{
	struct prepared_tree *tree = &answer->tree;
	uint32_t nr;
	int ret = 0;

	if (!cursor_be32(&g->c, &nr))
		return ends_within(g, "an answer");
	tree->is_known = nr != NO_TREE;
	if (!tree->is_known)
		return 0;
	tree->repeats = g->p->repeats + g->repeat_nr;
	for (uint32_t i = 0; i < nr && !ret; i++)
		ret = parse_repeat(g, tree);
	return ret ? ret : parse_places(g, tree, &answer->plain);
}

static int parse_answer(struct parsing *g, struct prepared_answer *answer)
{
	int ret;

	if (!cursor_u8(&g->c, &answer->request.kind) ||
	    !take_oid(g, &answer->request.id))
		return ends_within(g, "an answer");
	ret = parse_content(g, &answer->plain);
	if (!ret)
		ret = parse_content(g, &answer->tagged);
	if (!ret && !has_view(g->c))
		ret = ends_within(g, "an answer");
	if (!ret)
		ret = ewah_view_parse(&answer->along, &g->c, g->err);
	if (!ret && answer->along.bits > g->p->tag_nr)
		ret = corrupt(g, "an answer includes a tag that is not listed");
	return ret ? ret : parse_tree(g, answer);
}

static int parse_header(struct parsing *g, uint16_t *nr)
{
	struct prepared *p = g->p;
	const uint8_t *start;

	if (!cursor_bytes(&g->c, &start, 6))
		return ends_within(g, "its header");
	if (memcmp(start, magic, 4) != 0)
		return corrupt(g, "not a file of prepared answers");
	if (start[4] != VERSION)
		return error_set(g->err, ERR_UNSUPPORTED,
				 "%s: unknown version %u of the format",
				 g->name, start[4]);
	if (start[5] != (uint8_t)p->algo)
		return corrupt(g, "wrong hash function");
	if (!cursor_be16(&g->c, nr) || !cursor_be32(&g->c, &p->tag_nr) ||
	    !take_oid(g, &p->pack_checksum))
		return ends_within(g, "its header");
	if (p->tag_nr > cursor_left(&g->c) / hash_len(p->algo) ||
	    !cursor_bytes(&g->c, &p->tags, p->tag_nr * hash_len(p->algo)))
		return ends_within(g, "its tags");
	return 0;
}

/*
 * Parse the answers in the file. Memory is allocated only for as many answers
 * as the file can hold. Returns 0 or a negative error code.
 */
static int parse_answers(struct parsing *g, uint16_t nr)
{
	struct prepared *p = g->p;
	size_t left = cursor_left(&g->c);
	int ret = 0;

	if (nr > left)
		return ends_within(g, "an answer");
	p->answers = mem_calloc(nr, sizeof(*p->answers));
	p->runs = mem_alloc(left / RUN_LEN + 1, sizeof(*p->runs));
	p->places = mem_alloc(left / PLACE_LEN + 1, sizeof(*p->places));
	p->repeats = mem_alloc(left / REPEAT_LEN + 1, sizeof(*p->repeats));
	if (!p->answers || !p->runs || !p->places || !p->repeats)
		return error_nomem(g->err);
	for (; p->nr < nr && !ret; p->nr++)
		ret = parse_answer(g, &p->answers[p->nr]);
	if (!ret && cursor_left(&g->c))
		ret = corrupt(g, "bytes after the last answer");
	return ret;
}

static int parse_all(struct parsing *g)
{
	uint16_t nr = 0;
	int ret = parse_header(g, &nr);

	return ret ? ret : parse_answers(g, nr);
}

/*
 * Check the checksum of a file of prepared answers. A wrong checksum is
 * reported in place of the parser's error `parsed`. A truncated file gives
 * ERR_MISSING, because writing it was interrupted. Returns `parsed` if the
 * checksum is right, otherwise a negative error code.
 */
static int check_sum(struct parsing *g, const void *bytes, size_t len,
		     int parsed)
{
	struct error sum = ERROR_INIT;
	int ret = hash_check_trailer(bytes, len, g->p->algo, g->name, &sum);

	if (!ret)
		return parsed;
	if (g->is_short && ret == ERR_CORRUPT)
		return error_recode(g->err, ERR_MISSING);
	return error_set(g->err, ret, "%s", sum.msg);
}

void prepared_close(struct prepared *p)
{
	free(p->answers);
	free(p->runs);
	free(p->places);
	free(p->repeats);
	sys_map_close(&p->map);
	*p = (struct prepared)PREPARED_INIT;
}

int prepared_parse(struct prepared *p, const void *bytes, size_t len,
		   enum hash_algo algo, const char *name, struct error *err)
{
	struct parsing g = {
		.p = p,
		.c = cursor_make(bytes, len),
		.name = name,
		.err = err,
	};
	int ret;

	*p = (struct prepared)PREPARED_INIT;
	p->algo = algo;
	if (len > hash_len(algo))
		g.c.end -= hash_len(algo);
	ret = parse_all(&g);
	if (ret != ERR_UNSUPPORTED && ret != ERR_NOMEM)
		ret = check_sum(&g, bytes, len, ret);
	if (ret < 0)
		prepared_close(p);
	return ret;
}

static int write_content(struct buf *out, enum hash_algo algo,
			 const struct prepared_content *content)
{
	int ret = buf_append(out, content->checksum.bytes, hash_len(algo));

	if (!ret)
		ret = buf_append_be32(out, content->object_nr);
	if (!ret)
		ret = buf_append_be32(out, (uint32_t)content->run_nr);
	for (size_t i = 0; i < content->run_nr && !ret; i++) {
		ret = buf_append_be64(out, content->runs[i].off);
		if (!ret)
			ret = buf_append_be64(out, content->runs[i].len);
	}
	return ret;
}

/* Append two numbers of 4 bytes. Returns 0 or ERR_NOMEM. */
static int write_pair(struct buf *out, uint32_t a, uint32_t b)
{
	int ret = buf_append_be32(out, a);

	return ret ? ret : buf_append_be32(out, b);
}

static int write_tree(struct buf *out, enum hash_algo algo,
		      const struct prepared_answer *answer)
{
	const struct prepared_tree *tree = &answer->tree;
	int ret;

	if (!tree->is_known)
		return buf_append_be32(out, NO_TREE);
	ret = buf_append_be32(out, (uint32_t)tree->repeat_nr);
	for (size_t i = 0; i < tree->repeat_nr && !ret; i++)
		ret = write_pair(out, tree->repeats[i].idx_pos,
				 tree->repeats[i].paths);
	for (size_t i = 0; i < answer->plain.run_nr && !ret; i++)
		ret = write_pair(out, tree->places[i].first,
				 tree->places[i].nr);
	return ret ? ret : buf_append(out, tree->order.bytes, hash_len(algo));
}

static int write_answer(struct buf *out, enum hash_algo algo,
			const struct prepared_answer *answer)
{
	int ret = buf_append_char(out, (char)answer->request.kind);

	if (!ret)
		ret = buf_append(out, answer->request.id.bytes, hash_len(algo));
	if (!ret)
		ret = write_content(out, algo, &answer->plain);
	if (!ret)
		ret = write_content(out, algo, &answer->tagged);
	if (!ret)
		ret = ewah_view_write(out, &answer->along);
	return ret ? ret : write_tree(out, algo, answer);
}

int prepared_write(struct buf *out, const struct prepared *p)
{
	size_t start = out->len, id_len = hash_len(p->algo);
	uint8_t header[12];
	int ret;

	memcpy(header, magic, 4);
	header[4] = VERSION;
	header[5] = (uint8_t)p->algo;
	store_be16(header + 6, (uint16_t)p->nr);
	store_be32(header + 8, p->tag_nr);
	ret = buf_append(out, header, sizeof(header));
	if (!ret)
		ret = buf_append(out, p->pack_checksum.bytes, id_len);
	if (!ret && p->tag_nr)
		ret = buf_append(out, p->tags, p->tag_nr * id_len);
	for (size_t i = 0; i < p->nr && !ret; i++)
		ret = write_answer(out, p->algo, &p->answers[i]);
	return ret < 0 ? ret : hash_append_trailer(out, start, p->algo, NULL);
}
