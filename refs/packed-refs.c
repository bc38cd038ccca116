/* SPDX-License-Identifier: MIT */
/*
 * Searches packed-refs in its mapping.
 *
 * Invariant: the table is empty or ends in a newline, so memchr() always finds
 * the end of a line. The caller validates names of refs.
 */
#include <string.h>

#include "base/mem.h"
#include "refs/packed-refs.h"

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
 * Finds the name of the record at `off`, and the offset of the next record.
 * Returns false if the line is too short to have a name.
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
	*next = end + 1;
	return true;
}

/*
 * Checks that the last line can be a record. The check finds a file to which
 * another program has appended bytes, and a file that is cut off at the end.
 * No other line is read. Returns 0 or ERR_CORRUPT.
 */
static int check_last(const struct packed_refs *refs, struct error *err)
{
	const char *nl;
	struct packed_ref ref;
	size_t off, next;

	if (!refs->len)
		return 0;
	nl = memrchr(refs->table, '\n', refs->len - 1);
	off = nl ? (size_t)(nl - refs->table) + 1 : 0;
	if (refs->table[off] == '^' || record_name(refs, off, &ref, &next))
		return 0;
	return bad_line(refs, off, err);
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
	*off = end + 1;
	return true;
}

bool packed_refs_proves(const struct packed_refs *refs, const char *name,
			size_t len)
{
	static const char tags[] = "refs/tags/", spaces[] = "refs/namespaces/";
	size_t tags_len = sizeof(tags) - 1, spaces_len = sizeof(spaces) - 1;

	if (refs->is_proved || !refs->fully_peeled)
		return refs->is_proved;
	if (len > spaces_len && !memcmp(name, spaces, spaces_len))
		return !memmem(name, len, "/refs/tags/", tags_len + 1);
	return len <= tags_len || memcmp(name, tags, tags_len) != 0;
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
		ref->has_peeled = packed_refs_proves(refs, ref->name,
						     ref->name_len);
	}
	*off = next;
	return 1;
}

/*
 * Returns the start of the record that contains the byte at `off`. The result
 * is not less than `low`.
 */
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

/*
 * State of a search. Records before `low` have names less than the key. Records
 * from `high` on have names equal to the key or greater.
 */
struct range {
	const char *key;
	size_t key_len;
	size_t low, high; /* starts of records */
};

/*
 * Compares the record that contains the byte at `off` with the key, and
 * narrows the range. Returns 0, or ERR_CORRUPT if the record is malformed.
 */
static int narrow(struct range *range, const struct packed_refs *refs,
		  size_t off, struct error *err)
{
	size_t start = record_start(refs, range->low, off), next;
	struct packed_ref ref;

	if (!record_name(refs, start, &ref, &next))
		return bad_line(refs, start, err);
	if (packed_refs_name_cmp(ref.name, ref.name_len, range->key,
				 range->key_len) >= 0) {
		range->high = start;
		return 0;
	}
	if (next < refs->len && refs->table[next] == '^')
		next = line_end(refs, next) + 1;
	range->low = next;
	return 0;
}

static int bisect(struct range *range, const struct packed_refs *refs,
		  size_t *off, struct error *err)
{
	int ret = 0;

	while (!ret && range->low < range->high)
		ret = narrow(range, refs,
			     range->low + (range->high - range->low) / 2, err);
	if (!ret)
		*off = range->low;
	return ret;
}

int packed_refs_seek(const struct packed_refs *refs, const char *key,
		     size_t key_len, size_t *off, struct error *err)
{
	struct range range = {key, key_len, 0, refs->len};

	return bisect(&range, refs, off, err);
}

/*
 * Length in bytes of the first step of packed_refs_seek_on(). If the key is not
 * at the distance that `hint` gives, the search goes on in steps, each twice as
 * long as the step before.
 */
#define STEP_MIN 4096

int packed_refs_seek_on(const struct packed_refs *refs, const char *key,
			size_t key_len, size_t hint, size_t *off,
			struct error *err)
{
	struct range range = {key, key_len, *off, refs->len};
	size_t at = *off + (hint < refs->len - *off ? hint : 0);
	size_t step = STEP_MIN;
	bool has_low = false, has_high = false;

	while (range.low < range.high && !(has_low && has_high)) {
		size_t high = range.high;
		int ret = narrow(&range, refs, at, err);

		if (ret < 0)
			return ret;
		has_high |= range.high < high;
		has_low |= range.high == high;
		if (step >= range.high - range.low)
			break;
		at = range.high < high ? range.high - step : range.low + step;
		step *= 2;
	}
	return bisect(&range, refs, off, err);
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

/*
 * Reads the header line, if there is one. Sets *sorted to whether the header
 * has the trait "sorted". Returns 0 or ERR_CORRUPT.
 */
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
	refs->is_proved = packed_refs_has_trait(line, len, PACKED_REFS_PROVED);
	*sorted = packed_refs_has_trait(line, len, "sorted");
	refs->table += end + 1;
	refs->len -= end + 1;
	return 0;
}

/* The bytes of a record in an unsorted file. */
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

/*
 * Makes a sorted copy of the records of an unsorted file, in the order of
 * their names. Returns 0 or a negative error code.
 */
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

static int check_end(const struct packed_refs *refs, struct error *err)
{
	const char *nl = memrchr(refs->table, '\n', refs->len);
	const char *line = nl ? nl + 1 : refs->table;
	size_t len = refs->len - (size_t)(line - refs->table);

	if (!len)
		return 0;
	return error_set(err, ERR_CORRUPT, "unterminated line in %s: %.*s",
			 refs->name, (int)(len < 200 ? len : 200), line);
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
	ret = check_end(refs, err);
	if (!ret)
		ret = parse_header(refs, &sorted, err);
	if (!ret)
		ret = sorted ? check_last(refs, err) : sort_table(refs, err);
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
