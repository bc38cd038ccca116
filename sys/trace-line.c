/* SPDX-License-Identifier: MIT */
/* Formats of trace lines. The formats are those of stock Git 2.39 and 2.55. */
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "base/json.h"
#include "sys/trace-line.h"

/* Width of the column "<file>:<line>" in the lines of GIT_TRACE2_PERF. */
#define PERF_WIDTH 28

static void read_clock(struct tm *tm, long *us, bool as_utc)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	*us = ts.tv_nsec / 1000;
	if (as_utc)
		gmtime_r(&ts.tv_sec, tm);
	else
		localtime_r(&ts.tv_sec, tm);
}

int trace_line_begin(struct buf *out, struct trace_at at, unsigned width)
{
	struct tm tm;
	size_t start;
	long us;
	int ret;

	read_clock(&tm, &us, false);
	ret = buf_printf(out, "%02d:%02d:%02d.%06ld ", tm.tm_hour, tm.tm_min,
			 tm.tm_sec, us);
	start = out->len;
	if (!ret)
		ret = buf_printf(out, "%s:%d ", at.file, at.line);
	while (!ret && out->len - start < width)
		ret = buf_append_char(out, ' ');
	return ret;
}

static int put_seconds(struct buf *out, struct trace_seconds s)
{
	if (!s.is_known)
		return buf_printf(out, "%9s | ", "");
	return buf_printf(out, "%9.6f | ", (double)s.ns / 1e9);
}

int trace_line_perf(struct buf *out, const struct trace *t, struct trace_at at,
		    const struct trace_columns *c)
{
	int ret = 0;

	if (!t->is_brief[TRACE_PERF]) {
		ret = trace_line_begin(out, at, PERF_WIDTH + 1);
		if (!ret)
			ret = buf_append_str(out, "| ");
	}
	if (!ret)
		ret = buf_printf(out, "d%u | %-24s | %-12s | %-3s | ", t->depth,
				 "main", c->event, c->has_repo ? "r1" : "");
	if (!ret)
		ret = put_seconds(out, c->abs);
	if (!ret)
		ret = put_seconds(out, c->rel);
	if (!ret)
		ret = buf_printf(out, "%-12.12s | ",
				 c->category ? c->category : "");
	for (unsigned i = 1; !ret && i < c->nesting; i++)
		ret = buf_append_str(out, "..");
	return ret;
}

static int put_event_time(struct buf *out)
{
	struct tm tm;
	long us;

	read_clock(&tm, &us, true);
	return buf_printf(out,
			  ",\"time\":\"%04d-%02d-%02dT%02d:%02d:%02d.%06ldZ\"",
			  tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday,
			  tm.tm_hour, tm.tm_min, tm.tm_sec, us);
}

/*
 * Returns whether an event has a time in brief mode. Only the first event of a
 * process and the last one have a time.
 */
static bool has_time(const char *event)
{
	return !strcmp(event, "version") || !strcmp(event, "atexit");
}

int trace_line_event(struct buf *out, const struct trace *t, struct trace_at at,
		     const char *event, bool is_brief)
{
	int ret = buf_append_char(out, '{');

	if (!ret)
		ret = json_member(out, "event", event);
	if (!ret)
		ret = json_member(out, "sid", t->sid);
	if (!ret)
		ret = json_member(out, "thread", "main");
	if (!ret && (!is_brief || has_time(event)))
		ret = put_event_time(out);
	if (!ret && !is_brief)
		ret = json_member(out, "file", at.file);
	if (!ret && !is_brief)
		ret = json_member_u64(out, "line", (uint64_t)at.line);
	return ret;
}

int trace_line_seconds(struct buf *out, const char *key, uint64_t ns)
{
	uint64_t us = ns / 1000;

	return buf_printf(out, ",\"%s\":%" PRIu64 ".%06" PRIu64, key,
			  us / 1000000, us % 1000000);
}

static bool is_plain(const char *word)
{
	static const char plain[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
		"0123456789+,-./:=@_^";

	return *word && !word[strspn(word, plain)];
}

static int put_quoted(struct buf *out, const char *word)
{
	int ret = buf_append_char(out, '\'');

	for (; !ret && *word; word++)
		ret = *word == '\'' || *word == '!'
			      ? buf_printf(out, "'\\%c'", *word)
			      : buf_append_char(out, *word);
	return ret ? ret : buf_append_char(out, '\'');
}

/*
 * Returns the offset of the password in "<scheme>://<user>:<password>@...", or
 * 0 if the word has another form.
 */
static size_t password_at(const char *word)
{
	size_t scheme_len = !strncmp(word, "http://", 7)    ? 7
			    : !strncmp(word, "https://", 8) ? 8
							    : 0;
	size_t user_len = strcspn(word + scheme_len, ":@/");
	const char *colon = word + scheme_len + user_len;

	if (!scheme_len || *colon != ':' || colon[strcspn(colon, "@/")] != '@')
		return 0;
	return scheme_len + user_len + 1;
}

int trace_line_word(struct buf *out, const char *word, bool hides)
{
	size_t at = hides ? password_at(word) : 0;
	int ret;

	if (!at)
		return buf_append_str(out, word);
	ret = buf_append(out, word, at);
	if (!ret)
		ret = buf_append_str(out, "<REDACTED>");
	return ret ? ret : buf_append_str(out, strchr(word + at, '@'));
}

int trace_line_words(struct buf *out, const char *const *words, bool hides)
{
	struct buf word = BUF_INIT;
	int ret = 0;

	for (size_t i = 0; !ret && words[i]; i++) {
		buf_reset(&word);
		ret = trace_line_word(&word, words[i], hides);
		if (!ret && i)
			ret = buf_append_char(out, ' ');
		if (!ret)
			ret = is_plain(word.data)
				      ? buf_append_str(out, word.data)
				      : put_quoted(out, word.data);
	}
	buf_release(&word);
	return ret;
}

int trace_line_array(struct buf *out, const char *key, const char *const *words,
		     bool hides)
{
	struct buf word = BUF_INIT;
	int ret = json_key(out, key);

	if (!ret)
		ret = buf_append_char(out, '[');
	for (size_t i = 0; !ret && words[i]; i++) {
		buf_reset(&word);
		ret = trace_line_word(&word, words[i], hides);
		if (!ret && i)
			ret = buf_append_char(out, ',');
		if (!ret)
			ret = json_string(out, word.data, word.len);
	}
	buf_release(&word);
	return ret ? ret : buf_append_char(out, ']');
}

int trace_line_escaped(struct buf *out, const char *bytes, size_t len)
{
	int ret = 0;

	for (size_t i = 0; !ret && i < len; i++) {
		unsigned char c = (unsigned char)bytes[i];

		ret = c >= ' ' && c < 127 ? buf_append_char(out, (char)c)
					  : buf_printf(out, "\\%o", c);
	}
	return ret;
}
