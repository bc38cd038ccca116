/* SPDX-License-Identifier: MIT */
/* Reading records, and the search for the newest one. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "generations/history.h"
#include "generations/names.h"
#include "sys/clock.h"
#include "sys/io.h"

/* maximum size in bytes of a hint that is only a number and a line feed */
#define HINT_NUMBER_MAX 24
/*
 * Maximum number of searches. A search must be repeated if a garbage collection
 * retires the found record before the record is read.
 */
#define SEARCHES 3

/* ---- the host */

static uint64_t host_now(void *ctx)
{
	return sys_clock_ns();
}

static int64_t host_time(void *ctx)
{
	return sys_clock_seconds();
}

static int host_random(void *ctx, void *out, size_t len, struct error *err)
{
	return sys_secret(out, len, err);
}

static void host_sleep(void *ctx, uint64_t ns)
{
	sys_sleep_ns(ns);
}

void generation_host_init(struct generation_host *host)
{
	*host = (struct generation_host){
		.now_ns = host_now,
		.time = host_time,
		.random = host_random,
		.sleep_ns = host_sleep,
		.threads = GENERATION_THREADS,
	};
}

/* ---- one record */

/*
 * Replaces *bytes by the text of a record. Returns a result of filestore_get().
 */
static int get_record(struct buf *bytes, const struct generation_place *place,
		      uint64_t number, struct filestore_info *info,
		      struct error *err)
{
	struct buf name = BUF_INIT;
	int ret = generation_record_name(&name, place->repository, number, err);

	buf_reset(bytes);
	if (!ret)
		ret = filestore_get(place->store, bytes, info, name.data,
				    GENERATION_RECORD_MAX, err);
	buf_release(&name);
	return ret;
}

static int parse_record(struct generation *out, const struct buf *bytes,
			uint64_t number, struct error *err)
{
	char name[40];
	int ret;

	snprintf(name, sizeof(name), "record %" PRIu64, number);
	ret = generation_parse(out, bytes->data, bytes->len, name, err);
	if (!ret && out->number != number) {
		generation_release(out);
		ret = error_set(err, ERR_CORRUPT,
				"%s has the number of another record", name);
	}
	return ret;
}

int generation_read_info(struct generation *out, struct filestore_info *info,
			 const struct generation_place *place, uint64_t number,
			 struct error *err)
{
	struct buf bytes = BUF_INIT;
	int ret = get_record(&bytes, place, number, info, err);

	memset(out, 0, sizeof(*out));
	if (!ret)
		ret = parse_record(out, &bytes, number, err);
	buf_release(&bytes);
	return ret;
}

int generation_read(struct generation *out,
		    const struct generation_place *place, uint64_t number,
		    struct error *err)
{
	return generation_read_info(out, NULL, place, number, err);
}

/* ---- the hint */

static int put_hint(const struct generation_place *place, const char *text,
		    size_t len, struct error *err)
{
	static const struct filestore_condition always = {STORE_ALWAYS, NULL};
	struct buf name = BUF_INIT;
	int ret = generation_hint_name(&name, place->repository, err);

	if (!ret)
		ret = filestore_put(place->store, NULL, name.data, text, len,
				    &always, err);
	buf_release(&name);
	return ret;
}

int generation_write_hint(const struct generation_place *place, uint64_t number,
			  struct error *err)
{
	char text[HINT_NUMBER_MAX];
	int len = snprintf(text, sizeof(text), "%" PRIu64 "\n", number);

	return put_hint(place, text, (size_t)len, err);
}

int generation_write_hint_record(const struct generation_place *place,
				 const struct generation *g, struct error *err)
{
	struct buf text = BUF_INIT;
	int ret = generation_print(&text, NULL, g, err);

	if (!ret)
		ret = text.len > GENERATION_HINT_MAX
			      ? generation_write_hint(place, g->number, err)
			      : put_hint(place, text.data, text.len, err);
	buf_release(&text);
	return ret;
}

/* A hint above this number is wrong. Larger numbers could overflow in sums. */
#define NUMBER_MAX (UINT64_MAX / 4)

/* Returns the number in a hint, or 0 if the hint is malformed. */
static uint64_t parse_hint(const struct buf *text)
{
	const char *p = text->data;
	uint64_t v = 0;

	for (; *p >= '0' && *p <= '9'; p++)
		if (__builtin_mul_overflow(v, 10, &v) ||
		    __builtin_add_overflow(v, (uint64_t)(*p - '0'), &v))
			return 0;
	return *p == '\n' && p + 1 == text->data + text->len && v <= NUMBER_MAX
		       ? v
		       : 0;
}

/*
 * Reads the hint: a file with a copy of a recent record, or with its number. If
 * the hint is a copy of a record, sets *out to this record. Otherwise sets only
 * out->number, to the number in the hint, or to 0 if the hint cannot be used.
 * Returns 0, a filestore_result, or a negative error code.
 */
static int read_hint(struct generation *out,
		     const struct generation_place *place, struct error *err)
{
	struct buf name = BUF_INIT, text = BUF_INIT;
	int ret = generation_hint_name(&name, place->repository, err);

	memset(out, 0, sizeof(*out));
	if (!ret)
		ret = filestore_get(place->store, &text, NULL, name.data,
				    GENERATION_HINT_MAX, err);
	if (ret == ERR_CORRUPT) {
		/* The hint is too long. */
		ret = 0;
	} else if (!ret) {
		out->number = parse_hint(&text);
		if (!out->number)
			ret = generation_parse(out, text.data, text.len, "hint",
					       err);
		if (ret == ERR_CORRUPT || ret == ERR_UNSUPPORTED)
			ret = 0;
		if (out->number > NUMBER_MAX)
			generation_release(out);
	}
	buf_release(&name);
	buf_release(&text);
	return ret;
}

int generation_read_hint(struct generation *out,
			 const struct generation_place *place,
			 struct error *err)
{
	int ret = read_hint(out, place, err);

	/*
	 * Every record names files. A hint that names no files holds only the
	 * number of a record, or is malformed.
	 */
	if (!ret && !out->file_nr) {
		generation_release(out);
		ret = STORE_ABSENT;
	}
	return ret;
}

/*
 * Sets *number to the number in the hint, or to 0 if the hint cannot be read:
 * the search for the newest record then only takes longer. Returns 0,
 * STORE_UNAVAILABLE if the store does not answer, or a negative error code.
 * After STORE_UNAVAILABLE, the caller should not search: the search would wait
 * for the store once more.
 */
static int read_hint_number(uint64_t *number,
			    const struct generation_place *place,
			    struct error *err)
{
	struct error why = ERROR_INIT;
	struct generation hint;
	int ret = read_hint(&hint, place, &why);

	*number = ret ? 0 : hint.number;
	generation_release(&hint);
	if (ret != ERR_INVALID && ret != ERR_NOMEM && ret != STORE_UNAVAILABLE)
		return 0;
	if (err)
		*err = why;
	return ret;
}

/* ---- the newest */

/*
 * A search for the newest record. Records up to `low` exist; 0: none is known.
 * Record `high` does not exist; 0: not known yet.
 */
struct search {
	const struct generation_place *place;
	uint64_t low, high;
	/*
	 * `bytes` has the text of record `bytes_number`. If this number is 0,
	 * `bytes` has no text. `probe` is the buffer for the record that is
	 * read next.
	 */
	struct buf bytes, probe;
	uint64_t bytes_number;
	struct error *err;
};

/*
 * Finds out whether record `number` exists. If it exists, sets s->low to
 * `number` and s->bytes to the text of the record. If it does not exist, sets
 * s->high to `number`. Returns 0 in both cases. Returns STORE_UNAVAILABLE or a
 * negative error code if the store cannot tell.
 */
static int look_at(struct search *s, uint64_t number)
{
	struct buf swap;
	int ret = get_record(&s->probe, s->place, number, NULL, s->err);

	if (ret == STORE_ABSENT) {
		s->high = number;
		return 0;
	}
	if (ret)
		return ret;
	s->low = number;
	swap = s->bytes;
	s->bytes = s->probe;
	s->probe = swap;
	s->bytes_number = number;
	return 0;
}

/*
 * Tries higher numbers than `low`, in growing steps, until a record does not
 * exist.
 */
static int gallop(struct search *s)
{
	int ret = 0;

	for (uint64_t step = 1; !ret && !s->high; step *= 2)
		ret = step > UINT64_MAX / 2 - s->low
			      ? error_set(s->err, ERR_CORRUPT,
					  "a repository has too many "
					  "generations")
			      : look_at(s, s->low + step);
	return ret;
}

/*
 * Finds the newest record between `low` and `high`, and reads its text. Returns
 * 0, STORE_ABSENT if there is no record, STORE_UNAVAILABLE, or a negative error
 * code.
 */
static int find_newest(struct search *s)
{
	int ret = gallop(s);

	while (!ret && s->high - s->low > 1)
		ret = look_at(s, s->low + (s->high - s->low) / 2);
	if (ret)
		return ret;
	if (!s->low)
		return STORE_ABSENT;
	if (s->bytes_number == s->low)
		return 0;
	ret = get_record(&s->bytes, s->place, s->low, NULL, s->err);
	s->bytes_number = ret ? 0 : s->low;
	return ret;
}

/*
 * Searches for the newest record, beginning at the number `start`. If `is_sure`
 * is false and record `start` does not exist, searches again from the first
 * record. If `is_sure` is true, record `start` must exist: otherwise returns
 * ERR_CORRUPT.
 */
static int find_from(struct search *s, uint64_t start, bool is_sure)
{
	int ret;

	s->low = start;
	s->high = 0;
	ret = find_newest(s);
	if (ret != STORE_ABSENT || !start)
		return ret;
	if (is_sure)
		return error_set(s->err, ERR_CORRUPT,
				 "the store has lost record %" PRIu64
				 " of the repository",
				 start);
	return find_from(s, 0, true);
}

/*
 * Finds the newest record with a search from `start`, and parses it. If the
 * record was retired meanwhile, there must be a newer one, so the search is
 * repeated from the retired record. Returns the results of find_newest(), or
 * ERR_CORRUPT if each search ends at a retired record.
 */
static int take_newest(struct search *s, struct generation *out, uint64_t start,
		       bool is_sure)
{
	for (unsigned i = 0; i < SEARCHES; i++) {
		int ret = find_from(s, start, is_sure);

		if (!ret)
			ret = parse_record(out, &s->bytes, s->low, s->err);
		if (ret || !out->is_retired)
			return ret;
		generation_release(out);
		start = s->low;
		is_sure = true;
	}
	return error_set(s->err, ERR_CORRUPT,
			 "the newest record of a repository, %" PRIu64
			 ", is retired",
			 s->low);
}

static void search_release(struct search *s)
{
	buf_release(&s->bytes);
	buf_release(&s->probe);
}

int generation_newest(struct generation *out,
		      const struct generation_place *place, uint64_t at_least,
		      struct error *err)
{
	struct search s = {place, 0, 0, BUF_INIT, BUF_INIT, 0, err};
	bool is_sure = at_least > 0;
	int ret = 0;

	memset(out, 0, sizeof(*out));
	if (!is_sure)
		ret = read_hint_number(&at_least, place, err);
	if (!ret)
		ret = take_newest(&s, out, at_least, is_sure);
	search_release(&s);
	return ret;
}

/* Whether a listing of the store has the records `number` and `number` + 1. */
struct neighbours {
	/* names of the records, borrowed */
	const char *own, *next;
	bool has_own, has_next;
};

static int note_neighbour(void *ctx, const struct filestore_entry *entry,
			  struct error *err)
{
	struct neighbours *n = ctx;

	n->has_own |= !strcmp(entry->name, n->own);
	n->has_next |= !strcmp(entry->name, n->next);
	return 0;
}

/*
 * Looks for the records `number` and `number` + 1 with one listing of the
 * store. Both names start with the same text, and the listing has all names
 * that start with this text. In most cases, the two names differ only in their
 * last hexadecimal digit, so at most 16 names are listed.
 */
int generation_is_newest(bool *out, const struct generation_place *place,
			 uint64_t number, struct error *err)
{
	struct buf own = BUF_INIT, next = BUF_INIT, prefix = BUF_INIT;
	struct neighbours n = {0};
	size_t len = 0;
	int ret = generation_record_name(&own, place->repository, number, err);

	*out = false;
	if (!ret)
		ret = generation_record_name(&next, place->repository,
					     number + 1, err);
	while (!ret && len < own.len && own.data[len] == next.data[len])
		len++;
	if (!ret && buf_append(&prefix, own.data, len) < 0)
		ret = error_nomem(err);
	n.own = own.data;
	n.next = next.data;
	if (!ret)
		ret = filestore_list_each(place->store, prefix.data,
					  note_neighbour, &n, err);
	*out = !ret && n.has_own && !n.has_next;
	buf_release(&own);
	buf_release(&next);
	buf_release(&prefix);
	return ret;
}

int generation_newest_after(struct generation *g,
			    const struct generation_place *place,
			    struct error *err)
{
	struct search s = {place, g->number, 0, BUF_INIT, BUF_INIT, 0, err};
	struct generation newest = {0};
	int ret = look_at(&s, g->number + 1);

	if (!ret && (!s.high || g->is_retired)) {
		ret = take_newest(&s, &newest, s.low, true);
		if (!ret) {
			generation_release(g);
			*g = newest;
		}
	}
	search_release(&s);
	return ret;
}

int generation_newer(struct generation *out,
		     const struct generation_place *place, uint64_t number,
		     struct error *err)
{
	struct search s = {place, number, 0, BUF_INIT, BUF_INIT, 0, err};
	int ret = look_at(&s, number + 1);

	memset(out, 0, sizeof(*out));
	if (!ret && s.high)
		ret = STORE_ABSENT;
	if (!ret)
		ret = take_newest(&s, out, s.low, true);
	search_release(&s);
	return ret;
}
