/* SPDX-License-Identifier: MIT */
/*
 * Searching packed-refs in place.
 *
 * Invariants: the table is empty or ends in a newline, so that a line's end
 * can be looked for without another bound. Whether names are well-formed
 * references is for the caller to judge.
 */
#include <string.h>

#include "base/mem.h"
#include "repo/packed-refs.h"

static const char header_start[] = "# pack-refs with:";

int packed_refs_name_cmp(const char *a, size_t a_len, const char *b,
			 size_t b_len)
{
	int cmp = memcmp(a, b, a_len < b_len ? a_len : b_len);

	if (cmp)
		return cmp;
	return a_len < b_len ? -1 : a_len > b_len;
}

static size_t line_end(const struct packed_refs *refs, size_t off)
{
	const char *p = refs->table + off;
	const char *nl = memchr(p, '\n', refs->len - off);

	return nl ? (size_t)(nl - refs->table) : refs->len;
}

static int bad_line(const struct packed_refs *refs, size_t off,
		    struct error *err)
{
	size_t len = line_end(refs, off) - off;

	return error_set(err, ERR_CORRUPT, "unexpected line in %s: %.*s",
			 refs->name, (int)(len < 200 ? len : 200),
			 refs->table + off);
}

/*
 * Bounds of the record at `off`: its name, and where the next one starts.
 * False when the line is too short to have a name.
 */
static bool record_name(const struct packed_refs *refs, size_t off,
			struct packed_ref *ref, size_t *next)
{
	size_t hex_len = hash_hex_len(refs->algo);
	size_t end = line_end(refs, off);
	const char *line = refs->table + off;

	if (end - off < hex_len + 2 || line[hex_len] != ' ')
		return false;
	ref->name = line + hex_len + 1;
	ref->name_len = end - off - hex_len - 1;
	*next = end < refs->len ? end + 1 : end;
	return true;
}

static bool parse_peeled(const struct packed_refs *refs, size_t *off,
			 struct packed_ref *ref)
{
	size_t hex_len = hash_hex_len(refs->algo);
	size_t end = line_end(refs, *off);
	const char *line = refs->table + *off;

	if (end - *off != hex_len + 1 ||
	    !oid_from_hex(&ref->peeled, line + 1, hex_len, refs->algo))
		return false;
	ref->has_peeled = ref->is_tag = true;
	*off = end < refs->len ? end + 1 : end;
	return true;
}

static bool is_below_tags(const struct packed_ref *ref)
{
	static const char tags[] = "refs/tags/";
	size_t len = sizeof(tags) - 1;

	return ref->name_len > len && !memcmp(ref->name, tags, len);
}

int packed_refs_next(const struct packed_refs *refs, size_t *off,
		     struct packed_ref *ref, struct error *err)
{
	size_t hex_len = hash_hex_len(refs->algo);
	size_t next;

	if (*off >= refs->len)
		return 0;
	memset(ref, 0, sizeof(*ref));
	if (!record_name(refs, *off, ref, &next) ||
	    !oid_from_hex(&ref->oid, refs->table + *off, hex_len, refs->algo))
		return bad_line(refs, *off, err);
	if (next < refs->len && refs->table[next] == '^') {
		if (!parse_peeled(refs, &next, ref))
			return bad_line(refs, next, err);
	} else {
		ref->has_peeled = refs->fully_peeled ||
				  (refs->peeled && is_below_tags(ref));
	}
	*off = next;
	return 1;
}

/* Start of the record that the byte at `off` belongs to; not before `low`. */
static size_t record_start(const struct packed_refs *refs, size_t low,
			   size_t off)
{
	for (;;) {
		const char *from = refs->table + low;
		const char *nl = memrchr(from, '\n', off - low);

		off = nl ? (size_t)(nl - refs->table) + 1 : low;
		if (off == low || refs->table[off] != '^')
			return off;
		off--;
	}
}

int packed_refs_seek(const struct packed_refs *refs, const char *key,
		     size_t key_len, size_t *off, struct error *err)
{
	size_t low = 0, high = refs->len;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		size_t start = record_start(refs, low, mid);
		struct packed_ref ref;
		size_t next;

		if (!record_name(refs, start, &ref, &next))
			return bad_line(refs, start, err);
		if (packed_refs_name_cmp(ref.name, ref.name_len, key,
					 key_len) >= 0) {
			high = start;
			continue;
		}
		low = next;
		if (low < refs->len && refs->table[low] == '^') {
			low = line_end(refs, low);
			low += low < refs->len;
		}
	}
	*off = low;
	return 0;
}

int packed_refs_find(const struct packed_refs *refs, const char *name,
		     struct packed_ref *ref, struct error *err)
{
	size_t len = strlen(name);
	size_t off;
	int ret = packed_refs_seek(refs, name, len, &off, err);

	if (ret < 0)
		return ret;
	ret = packed_refs_next(refs, &off, ref, err);
	if (ret <= 0)
		return ret;
	return !packed_refs_name_cmp(ref->name, ref->name_len, name, len);
}

/* Offset of the first record behind those whose names start with `prefix`. */
static int seek_behind(const struct packed_refs *refs, const char *prefix,
		       size_t *off, struct error *err)
{
	size_t len = strlen(prefix);
	char *next = mem_strdup(prefix);
	int ret;

	if (!next)
		return error_nomem(err);
	next[len - 1]++;
	ret = packed_refs_seek(refs, next, len, off, err);
	free(next);
	return ret;
}

/* First bytes that ids have: most others need not be parsed. */
#define SIEVE_LEN (1 << 13)

static void fill_sieve(uint8_t sieve[SIEVE_LEN], const struct oidmap *ids)
{
	memset(sieve, 0, SIEVE_LEN);
	for (size_t i = 0; i < ids->slot_nr; i++) {
		const uint8_t *id = ids->slots[i].oid.bytes;

		if (ids->slots[i].used)
			sieve[id[0] << 5 | id[1] >> 3] |=
				(uint8_t)(1 << (id[1] & 7));
	}
}

/* The value of a digit; of what is none, any. */
static unsigned digit(char c)
{
	return (unsigned)((c & 15) + (c >> 6 & 1) * 9) & 15;
}

static bool passes(const uint8_t sieve[SIEVE_LEN], const char *hex)
{
	unsigned second = digit(hex[2]) << 4 | digit(hex[3]);

	return sieve[digit(hex[0]) << 9 | digit(hex[1]) << 5 | second >> 3] &
	       1 << (second & 7);
}

/* Whether a line that begins with '^' is of one of the ids. */
static bool names_one(const struct packed_refs *refs, size_t off,
		      const uint8_t sieve[SIEVE_LEN], const struct oidmap *ids)
{
	size_t hex_len = hash_hex_len(refs->algo);
	const char *hex = refs->table + off + 1;
	struct oid oid;
	uint32_t value;

	return refs->len - off > hex_len && passes(sieve, hex) &&
	       oid_from_hex(&oid, hex, hex_len, refs->algo) &&
	       oidmap_get(ids, &oid, &value);
}

int packed_refs_may_peel(const struct packed_refs *refs, const char *prefix,
			 const struct oidmap *ids, struct error *err)
{
	uint8_t sieve[SIEVE_LEN];
	size_t off, end;
	int ret;

	if (!refs->fully_peeled &&
	    !(refs->peeled && !strncmp(prefix, "refs/tags/", 10)))
		return refs->len != 0;
	ret = packed_refs_seek(refs, prefix, strlen(prefix), &off, err);
	if (!ret)
		ret = seek_behind(refs, prefix, &end, err);
	if (ret < 0)
		return ret;
	fill_sieve(sieve, ids);
	while (off < end) {
		if (refs->table[off] == '^' && names_one(refs, off, sieve, ids))
			return 1;
		off = line_end(refs, off) + 1;
	}
	return 0;
}

bool packed_refs_has_trait(const char *line, size_t len, const char *trait)
{
	size_t trait_len = strlen(trait);
	size_t i = 0;

	while (i < len) {
		size_t start;

		while (i < len && line[i] == ' ')
			i++;
		start = i;
		while (i < len && line[i] != ' ')
			i++;
		if (i - start == trait_len &&
		    !memcmp(line + start, trait, trait_len))
			return true;
	}
	return false;
}

/* Read the header line, if there is one; says whether records are sorted. */
static int parse_header(struct packed_refs *refs, bool *sorted,
			struct error *err)
{
	size_t start_len = sizeof(header_start) - 1, len;
	size_t end = line_end(refs, 0);
	const char *line = refs->table;

	*sorted = false;
	if (line[0] != '#')
		return 0;
	if (end < start_len || memcmp(line, header_start, start_len))
		return bad_line(refs, 0, err);
	line += start_len;
	len = end - start_len;
	refs->fully_peeled = packed_refs_has_trait(line, len, "fully-peeled");
	refs->peeled = packed_refs_has_trait(line, len, "peeled");
	*sorted = packed_refs_has_trait(line, len, "sorted");
	refs->table += end + 1;
	refs->len -= end + 1;
	return 0;
}

/* Where a record lies in an unsorted file. */
struct record {
	const char *bytes, *name;
	size_t len, name_len;
};

static int cmp_records(const void *va, const void *vb)
{
	const struct record *a = va;
	const struct record *b = vb;
	int cmp = packed_refs_name_cmp(a->name, a->name_len, b->name,
				       b->name_len);

	if (cmp)
		return cmp;
	return a->bytes < b->bytes ? -1 : a->bytes > b->bytes;
}

static int list_records(struct record **out, size_t *nr,
			const struct packed_refs *refs, struct error *err)
{
	struct record *records = NULL;
	size_t alloc = 0, off = 0;
	struct packed_ref ref;
	int ret;

	*nr = 0;
	for (;;) {
		size_t start = off;

		ret = packed_refs_next(refs, &off, &ref, err);
		if (ret <= 0)
			break;
		if (mem_grow(&records, &alloc, *nr + 1, sizeof(*records)) < 0) {
			ret = error_nomem(err);
			break;
		}
		records[(*nr)++] = (struct record){
			.bytes = refs->table + start,
			.name = ref.name,
			.len = off - start,
			.name_len = ref.name_len,
		};
	}
	*out = records;
	return ret;
}

/* Lay the records out again in the order of their names. */
static int sort_table(struct packed_refs *refs, struct error *err)
{
	struct record *records;
	size_t nr, i, len = 0;
	int ret = list_records(&records, &nr, refs, err);

	if (ret < 0)
		goto out;
	refs->sorted = mem_alloc(refs->len, 1);
	if (!refs->sorted) {
		ret = error_nomem(err);
		goto out;
	}
	if (nr)
		qsort(records, nr, sizeof(*records), cmp_records);
	for (i = 0; i < nr; i++) {
		memcpy(refs->sorted + len, records[i].bytes, records[i].len);
		len += records[i].len;
	}
	refs->table = refs->sorted;
	refs->len = len;
out:
	free(records);
	return ret;
}

int packed_refs_parse(struct packed_refs *refs, const void *bytes, size_t len,
		      enum hash_algo algo, const char *name, struct error *err)
{
	bool sorted;
	int ret;

	*refs = (struct packed_refs)PACKED_REFS_INIT;
	refs->table = bytes;
	refs->len = len;
	refs->algo = algo;
	refs->name = mem_strdup(name);
	if (!refs->name)
		return error_nomem(err);
	if (!len)
		return 0;
	if (refs->table[len - 1] != '\n') {
		ret = error_set(err, ERR_CORRUPT, "unterminated line in %s",
				name);
		goto out;
	}
	ret = parse_header(refs, &sorted, err);
	if (!ret && !sorted)
		ret = sort_table(refs, err);
out:
	if (ret < 0)
		packed_refs_release(refs);
	return ret;
}

int packed_refs_open(struct packed_refs *refs, const char *path,
		     enum hash_algo algo, struct error *err)
{
	struct sys_map map;
	int ret = sys_map_open(&map, path, err);

	if (ret == ERR_MISSING)
		return packed_refs_parse(refs, "", 0, algo, path, err);
	if (ret < 0) {
		*refs = (struct packed_refs)PACKED_REFS_INIT;
		return ret;
	}
	ret = packed_refs_parse(refs, map.data, map.len, algo, path, err);
	if (ret < 0)
		sys_map_close(&map);
	else
		refs->map = map;
	return ret;
}

void packed_refs_release(struct packed_refs *refs)
{
	sys_map_close(&refs->map);
	free(refs->sorted);
	free(refs->name);
	*refs = (struct packed_refs)PACKED_REFS_INIT;
}
