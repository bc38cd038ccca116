/* SPDX-License-Identifier: MIT */
/* Parses and prints the file of a plan. */
#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "base/mem.h"
#include "object/hash.h"
#include "plans/plan-file.h"
#include "plans/plan-spans.h"

#define MAGIC 0x50504c4e /* "PPLN" */
#define VERSION 1
#define HEADER_LEN 104
#define PIECE_LEN 20
#define TRAILER_LEN 32
/*
 * The table of absent objects (objects that the sent pack lacks) starts with
 * numbers; a checksum and ids follow. This is the size of the numbers in bytes.
 */
#define ABSENT_LEN 16

/*
 * Value of a piece's pack number: the piece is not in a pack, but is the next
 * bytes of the literals.
 */
#define LITERAL UINT32_MAX

#define FLAG_BITMAP UINT32_C(1)
#define FLAG_ABSENT UINT32_C(2)
#define FLAGS (FLAG_BITMAP | FLAG_ABSENT)
#define STRATEGY_SHIFT 8

/*
 * Names of the strategies, which are the ways to make a pack. Files contain the
 * index of a name, so new names must be appended at the end.
 */
static const char *const strategies[] = {
	"bitmap",   "bitmap+walk",   "walk",
	"prepared", "prepared+walk", "stored pack",
	"nothing",  "published",     "published+walk",
};

/* ---- parsing */

static int corrupt(const char *name, const char *what, struct error *err)
{
	return error_set(err, ERR_CORRUPT, "%s: %s", name, what);
}

/*
 * Takes the numbers of struct packing_report from the file. Returns false if a
 * number is missing or invalid.
 */
static bool take_report(struct packing_report *r, struct cursor *c,
			uint32_t flags)
{
	uint32_t strategy = flags >> STRATEGY_SHIFT;

	*r = (struct packing_report){.used_bitmap = flags & FLAG_BITMAP};
	if (flags & ((1u << STRATEGY_SHIFT) - 1) & ~FLAGS ||
	    strategy >= ARRAY_NR(strategies))
		return false;
	r->strategy = strategies[strategy];
	return cursor_be32(c, &r->objects) && cursor_be32(c, &r->deltas) &&
	       cursor_be32(c, &r->reused) &&
	       cursor_be32(c, &r->reused_deltas) &&
	       cursor_be32(c, &r->pack_reused) &&
	       cursor_be32(c, &r->packs_reused) &&
	       cursor_be64(c, &r->bytes_verbatim) &&
	       cursor_be64(c, &r->bytes_recompressed);
}

/*
 * Takes the part of the file about objects that the pack lacks: ids of single
 * objects, and a pack that the client gets elsewhere. Returns false if the part
 * is malformed or empty.
 */
static bool take_absent(struct plan_file *f, struct cursor *c)
{
	size_t len = hash_len(f->algo), ids;

	if (!cursor_be32(c, &f->absent_nr) ||
	    !cursor_be32(c, &f->report.objects_elsewhere) ||
	    !cursor_be64(c, &f->absent_pack_len) ||
	    !cursor_bytes(c, &f->absent_pack, len) ||
	    !mem_mul(&ids, f->absent_nr, len) ||
	    !cursor_bytes(c, &f->absent, ids))
		return false;
	f->report.bytes_elsewhere = f->absent_pack_len;
	return f->absent_nr || f->absent_pack_len;
}

/*
 * Takes the tables of packs, pieces and literals. Returns false if they do not
 * end exactly at the end of the file.
 */
static bool take_tables(struct plan_file *f, struct cursor *c,
			uint64_t literals)
{
	size_t pack_len = hash_len(f->algo) + 8, packs, pieces;

	if (literals > cursor_left(c) ||
	    !mem_mul(&packs, f->pack_nr, pack_len) ||
	    !mem_mul(&pieces, f->piece_nr, PIECE_LEN))
		return false;
	f->literal_len = (size_t)literals;
	return cursor_bytes(c, &f->packs, packs) &&
	       cursor_bytes(c, &f->pieces, pieces) &&
	       cursor_bytes(c, &f->literals, f->literal_len) && !cursor_left(c);
}

static uint64_t pack_size(const struct plan_file *f, uint32_t number)
{
	size_t len = hash_len(f->algo);

	return load_be64(f->packs + number * (len + 8) + len);
}

struct piece {
	uint32_t pack;
	uint64_t off, len;
};

static struct piece get_piece(const struct plan_file *f, uint32_t number)
{
	const uint8_t *p = f->pieces + (size_t)number * PIECE_LEN;

	return (struct piece){load_be32(p), load_be64(p + 4),
			      load_be64(p + 12)};
}

/*
 * Returns NULL if the pieces are valid, or a constant string that describes the
 * error.
 */
static const char *check_pieces(const struct plan_file *f)
{
	uint64_t left = f->literal_len;

	for (uint32_t i = 0; i < f->piece_nr; i++) {
		struct piece p = get_piece(f, i);

		if (!p.len)
			return "a piece is empty";
		if (p.pack == LITERAL) {
			if (p.off || p.len > left)
				return "a literal is too long";
			left -= p.len;
			continue;
		}
		if (p.pack >= f->pack_nr)
			return "a piece names no pack";
		if (p.len > pack_size(f, p.pack) ||
		    p.off > pack_size(f, p.pack) - p.len)
			return "a piece is not in its pack";
	}
	return left ? "a literal is not used" : NULL;
}

static int parse_checked(struct plan_file *f, struct cursor *c,
			 const char *name, struct error *err)
{
	uint32_t magic, version, algo, flags;
	uint64_t literals;
	const char *wrong;

	if (!cursor_be32(c, &magic) || magic != MAGIC)
		return corrupt(name, "not a plan", err);
	if (!cursor_be32(c, &version) || version != VERSION)
		return error_set(err, ERR_UNSUPPORTED,
				 "%s: unknown version of a plan", name);
	if (!cursor_bytes(c, &f->key, PLAN_KEY_LEN) || !cursor_be32(c, &algo) ||
	    !cursor_be32(c, &flags) || !cursor_be32(c, &f->pack_nr) ||
	    !cursor_be32(c, &f->piece_nr) || !cursor_be64(c, &literals) ||
	    !take_report(&f->report, c, flags))
		return corrupt(name, "bad header", err);
	if (algo != HASH_SHA1 && algo != HASH_SHA256)
		return corrupt(name, "unknown hash", err);
	f->algo = algo;
	if (flags & FLAG_ABSENT && !take_absent(f, c))
		return corrupt(name, "bad table of absent objects", err);
	if (!take_tables(f, c, literals))
		return corrupt(name, "wrong length", err);
	wrong = check_pieces(f);
	return wrong ? corrupt(name, wrong, err) : 0;
}

int plan_file_parse(struct plan_file *file, const void *bytes, size_t len,
		    const char *name, struct error *err)
{
	struct cursor c;
	int ret;

	*file = (struct plan_file){0};
	if (len < HEADER_LEN + TRAILER_LEN)
		return corrupt(name, "too short", err);
	ret = hash_check_trailer(bytes, len, HASH_SHA256, name, err);
	if (ret < 0)
		return ret;
	c = cursor_make(bytes, len - TRAILER_LEN);
	return parse_checked(file, &c, name, err);
}

/* ---- resolving */

/*
 * Finds the pack `number` of the plan among the packs of the snapshot. Returns
 * the bytes of the pack, or NULL with *err set if the pack is missing or cannot
 * be read.
 */
static const uint8_t *find_pack(const struct plan_file *f, uint32_t number,
				const struct odb *odb, struct error *err)
{
	size_t len = hash_len(f->algo);
	const uint8_t *checksum = f->packs + number * (len + 8);

	for (uint32_t i = 0; i < odb->pack_nr; i++) {
		const struct pack *pack = odb->packs[i].pack;

		if (pack->file.len == pack_size(f, number) &&
		    !memcmp(pack->checksum.bytes, checksum, len))
			return pack_bytes(pack, err);
	}
	error_set(err, ERR_MISSING, "a pack of the plan is missing");
	return NULL;
}

static void put_pieces(struct plan *plan, const struct plan_file *f,
		       const uint8_t *const *packs)
{
	for (uint32_t i = 0; i < f->piece_nr; i++) {
		struct piece p = get_piece(f, i);

		plan->pieces[plan->nr++] = (struct plan_piece){
			p.pack == LITERAL ? NULL : packs[p.pack] + p.off,
			(size_t)p.len};
	}
}

static int put_absent(struct plan_absent *absent, const struct plan_file *f)
{
	size_t len = hash_len(f->algo);

	if (f->absent_pack_len) {
		memcpy(absent->pack.bytes, f->absent_pack, len);
		absent->pack_len = f->absent_pack_len;
	}
	if (!f->absent_nr)
		return 0;
	absent->blobs = mem_calloc(f->absent_nr, sizeof(*absent->blobs));
	if (!absent->blobs)
		return ERR_NOMEM;
	for (; absent->nr < f->absent_nr; absent->nr++)
		memcpy(absent->blobs[absent->nr].bytes,
		       f->absent + absent->nr * len, len);
	return 0;
}

int plan_file_resolve(struct plan *plan, const struct plan_file *file,
		      const struct odb *odb, struct error *err)
{
	const uint8_t **packs = mem_alloc(file->pack_nr, sizeof(*packs));
	int ret = 0;

	*plan = PLAN_INIT;
	if (!packs ||
	    mem_grow(&plan->pieces, &plan->alloc, file->piece_nr,
		     sizeof(*plan->pieces)) < 0 ||
	    put_absent(&plan->absent, file) < 0)
		ret = error_nomem(err);
	else if (file->algo != odb->algo)
		ret = error_set(err, ERR_MISSING,
				"the plan has another hash function");
	for (uint32_t i = 0; !ret && i < file->pack_nr; i++) {
		packs[i] = find_pack(file, i, odb, err);
		ret = packs[i] ? 0 : error_recorded(err, ERR_MISSING);
	}
	if (!ret) {
		put_pieces(plan, file, packs);
		plan->stored = file->literals;
	}
	free(packs);
	return ret;
}

/* ---- printing */

static bool lacks_objects(const struct plan *plan)
{
	return plan->absent.nr || plan->absent.pack_len;
}

size_t plan_file_len(const struct plan *plan, uint32_t pack_nr,
		     enum hash_algo algo)
{
	size_t packs, pieces, absent, len = HEADER_LEN + TRAILER_LEN;

	if (lacks_objects(plan) &&
	    (!mem_mul(&absent, plan->absent.nr, hash_len(algo)) ||
	     !mem_add(&len, absent, len + ABSENT_LEN + hash_len(algo))))
		return SIZE_MAX;
	return mem_mul(&packs, pack_nr, hash_len(algo) + 8) &&
			       mem_mul(&pieces, plan->nr, PIECE_LEN) &&
			       mem_add(&len, len, packs) &&
			       mem_add(&len, len, pieces) &&
			       mem_add(&len, len, plan->literals.len)
		       ? len
		       : SIZE_MAX;
}

static bool find_strategy(uint32_t *flags, const char *strategy)
{
	for (uint32_t i = 0; strategy && i < ARRAY_NR(strategies); i++) {
		if (strcmp(strategies[i], strategy) != 0)
			continue;
		*flags |= i << STRATEGY_SHIFT;
		return true;
	}
	return false;
}

/*
 * The packs from which a plan has spans. Used while the file of the plan is
 * written.
 */
struct used {
	const struct odb *odb;
	/*
	 * owned array, indexed by the number of a pack in the snapshot: 1 + the
	 * number of the pack in the file, or 0 if the plan does not use the
	 * pack
	 */
	uint32_t *numbers;
	/*
	 * owned array, indexed by the number of a pack in the file: its number
	 * in the snapshot
	 */
	uint32_t *order;
	uint32_t nr;
	struct buf pieces;
};

static int use_piece(struct used *u, const struct plan_piece *p, uint32_t *at)
{
	uint64_t off = 0;
	uint32_t number = LITERAL;
	int ret;

	if (p->span) {
		if (!plan_span_find(at, u->odb, p->span, p->len))
			return ERR_INVALID;
		if (!u->numbers[*at]) {
			u->order[u->nr++] = *at;
			u->numbers[*at] = u->nr;
		}
		number = u->numbers[*at] - 1;
		off = (uint64_t)(p->span -
				 sys_held_mapped(
					 &u->odb->packs[*at].pack->file));
	}
	ret = buf_append_be32(&u->pieces, number);
	ret |= buf_append_be64(&u->pieces, off);
	ret |= buf_append_be64(&u->pieces, p->len);
	return ret < 0 ? ERR_NOMEM : 0;
}

static int use_pieces(struct used *u, const struct plan *plan,
		      struct error *err)
{
	uint32_t at = 0;
	int ret = 0;

	u->numbers = mem_calloc(u->odb->pack_nr, sizeof(*u->numbers));
	u->order = mem_alloc(u->odb->pack_nr, sizeof(*u->order));
	if (!u->numbers || !u->order || plan->nr >= UINT32_MAX)
		return error_nomem(err);
	for (size_t i = 0; !ret && i < plan->nr; i++)
		ret = use_piece(u, &plan->pieces[i], &at);
	return ret == ERR_INVALID ? error_set(err, ret, "a span is in no pack")
	       : ret              ? error_nomem(err)
				  : 0;
}

static int put_header(struct buf *out, const uint8_t *key,
		      const struct plan *plan, const struct used *u,
		      const struct packing_report *r, uint32_t flags)
{
	const uint32_t before[] = {MAGIC, VERSION};
	const uint32_t after[] = {u->odb->algo, flags, u->nr,
				  (uint32_t)plan->nr};
	const uint32_t numbers[] = {r->objects,     r->deltas,
				    r->reused,      r->reused_deltas,
				    r->pack_reused, r->packs_reused};
	int ret = 0;

	for (size_t i = 0; i < ARRAY_NR(before); i++)
		ret |= buf_append_be32(out, before[i]);
	ret |= buf_append(out, key, PLAN_KEY_LEN);
	for (size_t i = 0; i < ARRAY_NR(after); i++)
		ret |= buf_append_be32(out, after[i]);
	ret |= buf_append_be64(out, plan->literals.len);
	for (size_t i = 0; i < ARRAY_NR(numbers); i++)
		ret |= buf_append_be32(out, numbers[i]);
	ret |= buf_append_be64(out, r->bytes_verbatim);
	return ret | buf_append_be64(out, r->bytes_recompressed);
}

/*
 * Appends the table of what the sent pack left out because the client gets it
 * elsewhere: single blobs, and one stored pack. Appends nothing if nothing was
 * left out.
 */
static int put_absent_table(struct buf *out, const struct plan_absent *absent,
			    const struct packing_report *r, enum hash_algo algo)
{
	int ret = 0;

	ret |= buf_append_be32(out, (uint32_t)absent->nr);
	ret |= buf_append_be32(out, r->objects_elsewhere);
	ret |= buf_append_be64(out, absent->pack_len);
	ret |= buf_append(out, absent->pack.bytes, hash_len(algo));
	for (size_t i = 0; i < absent->nr; i++)
		ret |= buf_append(out, absent->blobs[i].bytes, hash_len(algo));
	return ret;
}

static int put_tables(struct buf *out, const struct plan *plan,
		      const struct used *u)
{
	int ret = 0;

	for (uint32_t i = 0; i < u->nr; i++) {
		const struct pack *pack = u->odb->packs[u->order[i]].pack;

		ret |= buf_append(out, pack->checksum.bytes,
				  hash_len(u->odb->algo));
		ret |= buf_append_be64(out, pack->file.len);
	}
	ret |= buf_append(out, u->pieces.data, u->pieces.len);
	return ret | buf_append(out, plan->literals.data, plan->literals.len);
}

int plan_file_print(struct buf *out, const uint8_t key[PLAN_KEY_LEN],
		    const struct plan *plan,
		    const struct packing_report *report, const struct odb *odb,
		    struct error *err)
{
	struct used used = {.odb = odb, .pieces = BUF_INIT};
	uint32_t flags = (report->used_bitmap ? FLAG_BITMAP : 0) |
			 (lacks_objects(plan) ? FLAG_ABSENT : 0);
	size_t start = out->len;
	int ret = find_strategy(&flags, report->strategy)
			  ? use_pieces(&used, plan, err)
			  : error_set(err, ERR_INVALID, "unknown strategy");

	if (!ret &&
	    (put_header(out, key, plan, &used, report, flags) < 0 ||
	     (lacks_objects(plan) &&
	      put_absent_table(out, &plan->absent, report, odb->algo) < 0) ||
	     put_tables(out, plan, &used) < 0 ||
	     hash_append_trailer(out, start, HASH_SHA256, NULL) < 0))
		ret = error_nomem(err);
	free(used.numbers);
	free(used.order);
	buf_release(&used.pieces);
	return ret;
}
