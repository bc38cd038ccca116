/* SPDX-License-Identifier: MIT */
/* git requests: prints the sums as text and as JSON. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "builtin/date-format.h"
#include "builtin/requests-parts.h"

/* ---- values */

/*
 * Write a time of `us` microseconds as text, for example "12.3 ms", to `out`.
 * Returns `out`.
 */
static const char *time_text(char out[32], uint64_t us)
{
	if (us < 1000000)
		snprintf(out, 32, "%.1f ms", (double)us / 1e3);
	else if (us < UINT64_C(1000) * 1000000)
		snprintf(out, 32, "%.2f s", (double)us / 1e6);
	else
		snprintf(out, 32, "%.1f min", (double)us / 60e6);
	return out;
}

static const char *bytes_text(char out[32], uint64_t bytes)
{
	static const char *const units[] = {"B", "KB", "MB", "GB", "TB", "PB"};
	double n = (double)bytes;
	size_t i = 0;

	for (; n >= 1000 && i + 1 < ARRAY_NR(units); i++)
		n /= 1000;
	snprintf(out, 32, "%.*f %s", i ? 1 : 0, n, units[i]);
	return out;
}

/* Append a time as "2026-11-27T19:00:00Z". */
static int put_end(struct buf *out, uint64_t us)
{
	return date_format_append(out, us / 1000000, 0, DATE_FORMAT_ISO_STRICT);
}

/* ---- text: the slowest requests */

/*
 * Appends a member of a record in printable form, or "-" if the member is null
 * or missing.
 */
static int put_member(struct buf *out, const struct record *record,
		      const char *key)
{
	struct json_value value = {.text = NULL};
	size_t start = out->len;
	int ret;

	record_find(&value, record, key);
	if (!value.text || value.kind == JSON_NULL)
		return buf_append_char(out, '-');
	if (value.kind == JSON_STRING)
		ret = json_value_string(out, &value);
	else
		ret = buf_append(out, value.text, value.len);
	if (!ret && out->len > start)
		requests_make_printable(out->data + start, out->len - start);
	return ret;
}

/* Append " <word> <member>" if the record has the member and it is not null. */
static int put_optional(struct buf *out, const struct record *record,
			const char *word, const char *key)
{
	struct json_value value;

	if (!record_find(&value, record, key) || value.kind == JSON_NULL)
		return 0;
	return buf_printf(out, "%s", word) || put_member(out, record, key);
}

/*
 * Append a line with further members of a request's record. Members that are
 * missing or null are left out. If all are, no line is appended.
 */
static int put_details(struct buf *out, const struct record *record)
{
	static const struct {
		const char *word, *key;
	} details[] = {
		{"  ", "strategy"},  {"  no bitmaps: ", "no_bitmap_reason"},
		{"  plan ", "plan"}, {"  client ", "client"},
		{"  user ", "user"}, {"  failed: ", "error"},
	};
	size_t before = out->len, start;
	int ret = buf_printf(out, "%12s", "");

	start = out->len;
	for (size_t i = 0; !ret && i < ARRAY_NR(details); i++)
		ret = put_optional(out, record, details[i].word,
				   details[i].key);
	if (!ret && out->len > start)
		return buf_append_char(out, '\n');
	if (!ret)
		buf_set_len(out, before);
	return ret;
}

static int put_slow(struct buf *out, const struct requests_slow *slow)
{
	char time[32], total[32], cpu[32], sent[32];
	struct requests_cost cost;
	struct record record;

	if (record_parse(&record, slow->line, slow->len) <= 0)
		return 0;
	requests_cost_of(&cost, &record);
	if (buf_printf(out, "%10s %10s %10s %10s  ",
		       time_text(time, cost.time_us),
		       time_text(total, cost.total_us),
		       time_text(cpu, cost.cpu_us),
		       bytes_text(sent, cost.bytes_sent)) ||
	    put_end(out, record.end_us) || buf_append_char(out, ' ') ||
	    put_member(out, &record, "command") || buf_append_char(out, ' ') ||
	    put_member(out, &record, "repository") ||
	    buf_append_char(out, '\n'))
		return ERR_NOMEM;
	return put_details(out, &record);
}

static int print_slow(const struct requests_sums *sums)
{
	struct buf out = BUF_INIT;
	int ret = 0;

	if (!sums->slow_nr)
		return 0;
	printf("\nSlowest requests\n%10s %10s %10s %10s  %s\n", "time", "total",
	       "cpu", "sent", "end, command and repository");
	for (size_t i = 0; !ret && i < sums->slow_nr; i++) {
		buf_reset(&out);
		ret = put_slow(&out, &sums->slow[i]);
		if (!ret)
			fwrite(out.data, 1, out.len, stdout);
	}
	buf_release(&out);
	return ret;
}

/* ---- text: tables */

static void print_group(const char *name, const struct requests_cost *c)
{
	char time[32], most[32], cpu[32], sent[32];

	printf("%10" PRIu64 " %8" PRIu64 " %10s %10s %10s %10s  %s\n",
	       c->requests, c->failed, time_text(time, c->time_us),
	       time_text(most, c->most_us), time_text(cpu, c->cpu_us),
	       bytes_text(sent, c->bytes_sent), name);
}

static void print_table(const struct requests_table *t, size_t top)
{
	char name[64];

	printf("\nBy %s\n%10s %8s %10s %10s %10s %10s  %s\n", t->by, "requests",
	       "failed", "time", "slowest", "cpu", "sent", t->by);
	for (size_t i = 0; i < t->nr && i < top; i++)
		print_group(t->groups[i].name, &t->groups[i].cost);
	if (t->nr > top)
		printf("%*s (%zu more)\n", 64, "", t->nr - top);
	if (!t->other_nr)
		return;
	snprintf(name, sizeof(name), "(%" PRIu64 " others)", t->other_nr);
	print_group(name, &t->others);
}

int requests_print_text(const struct requests_sums *sums, size_t top)
{
	const struct requests_cost *all = &sums->all;
	char time[32], cpu[32], sent[32];
	struct buf span = BUF_INIT;
	int ret = 0;

	printf("%" PRIu64 " requests, %" PRIu64 " failed", all->requests,
	       all->failed);
	if (all->requests) {
		ret = put_end(&span, sums->first_us) ||
		      buf_append_str(&span, " to ") ||
		      put_end(&span, sums->last_us);
		printf(", %s", ret ? "" : span.data);
	}
	buf_release(&span);
	printf("\ntime %s, cpu %s, sent %s\n", time_text(time, all->time_us),
	       time_text(cpu, all->cpu_us), bytes_text(sent, all->bytes_sent));
	if (!ret)
		ret = print_slow(sums);
	for (size_t i = 0; !ret && i < sums->table_nr; i++)
		print_table(&sums->tables[i], top);
	return ret ? ERR_NOMEM : 0;
}

void requests_print_records(const struct requests_sums *sums)
{
	for (size_t i = 0; i < sums->slow_nr; i++) {
		fwrite(sums->slow[i].line, 1, sums->slow[i].len, stdout);
		putchar('\n');
	}
}

/* ---- JSON */

static int put_cost(struct buf *out, const struct requests_cost *c)
{
	return json_member_u64(out, "requests", c->requests) ||
	       json_member_u64(out, "failed", c->failed) ||
	       json_member_u64(out, "time_us", c->time_us) ||
	       json_member_u64(out, "slowest_us", c->most_us) ||
	       json_member_u64(out, "total_us", c->total_us) ||
	       json_member_u64(out, "cpu_us", c->cpu_us) ||
	       json_member_u64(out, "bytes_sent", c->bytes_sent);
}

static int put_table(struct buf *out, const struct requests_table *t,
		     size_t top)
{
	int ret = json_key(out, t->by) || buf_append_str(out, "[");

	for (size_t i = 0; !ret && i < t->nr && i < top; i++)
		ret = buf_append_str(out, i ? ",{" : "{") ||
		      json_member(out, "name", t->groups[i].name) ||
		      put_cost(out, &t->groups[i].cost) ||
		      buf_append_char(out, '}');
	return ret || buf_append_char(out, ']');
}

static int put_others(struct buf *out, const struct requests_sums *sums)
{
	int ret = json_key(out, "others") || buf_append_char(out, '{');

	for (size_t i = 0; !ret && i < sums->table_nr; i++) {
		const struct requests_table *t = &sums->tables[i];

		if (t->other_nr)
			ret = json_key(out, t->by) ||
			      buf_append_char(out, '{') ||
			      json_member_u64(out, "names", t->other_nr) ||
			      put_cost(out, &t->others) ||
			      buf_append_char(out, '}');
	}
	return ret || buf_append_char(out, '}');
}

static int put_times(struct buf *out, const struct requests_sums *sums)
{
	struct buf first = BUF_INIT, last = BUF_INIT;
	bool has = sums->all.requests;
	int ret = 0;

	if (has)
		ret = put_end(&first, sums->first_us) ||
		      put_end(&last, sums->last_us);
	ret = ret || json_member(out, "first_end", has ? first.data : NULL) ||
	      json_member(out, "last_end", has ? last.data : NULL);
	buf_release(&first);
	buf_release(&last);
	return ret;
}

int requests_print_json(const struct requests_sums *sums, size_t top)
{
	struct buf out = BUF_INIT;
	int ret = buf_append_char(&out, '{') || put_cost(&out, &sums->all) ||
		  put_times(&out, sums) ||
		  json_member_u64(&out, "broken_lines", sums->broken_nr) ||
		  json_member_u64(&out, "other_lines", sums->other_nr) ||
		  json_key(&out, "slowest") || buf_append_char(&out, '[');

	for (size_t i = 0; !ret && i < sums->slow_nr; i++)
		ret = (i && buf_append_char(&out, ',')) ||
		      buf_append(&out, sums->slow[i].line, sums->slow[i].len);
	ret = ret || buf_append_str(&out, "]") || json_key(&out, "by") ||
	      buf_append_char(&out, '{');
	for (size_t i = 0; !ret && i < sums->table_nr; i++)
		ret = put_table(&out, &sums->tables[i], top);
	ret = ret || buf_append_char(&out, '}') || put_others(&out, sums) ||
	      buf_append_str(&out, "}\n");
	if (!ret)
		fwrite(out.data, 1, out.len, stdout);
	buf_release(&out);
	return ret ? ERR_NOMEM : 0;
}
