/* SPDX-License-Identifier: MIT */
/*
 * Reflog selectors, such as ref@{2}. Each entry of a reflog has the old id and
 * the new id of one change of the ref. With n entries, the numbers 0 to n name
 * n + 1 ids:
 *
 * 	ref@{0}   the present id of the ref
 * 	ref@{1}   the new id in the entry before the newest entry
 * 	ref@{k}   the new id in the k-th entry before the newest entry (k < n)
 * 	ref@{n}   the old id in the oldest entry. If this entry created the ref,
 * 	          there is no such id.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "base/approxidate.h"
#include "base/mem.h"
#include "names/revname.h"
#include "refs/reflog.h"

/* A number with more digits is a time in seconds since 1970. */
#define NUMBER_DIGITS_MAX 8

/* ---- the text between the braces */

static bool is_word(const char *text, size_t len, const char *word)
{
	return len == strlen(word) && !strncasecmp(text, word, len);
}

static bool is_number(const char *text, size_t len)
{
	size_t digits = 0;

	while (digits < len && isdigit((unsigned char)text[digits]))
		digits++;
	return len && digits == len;
}

bool revname_selector_is_branch(const char *text, size_t len)
{
	return is_word(text, len, "u") || is_word(text, len, "upstream") ||
	       is_word(text, len, "push") ||
	       (len && text[0] == '-' && is_number(text + 1, len - 1));
}

int revname_selector_parse(struct revname_selector *out, const char *text,
			   size_t len, int64_t now)
{
	char *copy;
	int ret;

	if (revname_selector_is_branch(text, len))
		return ERR_UNSUPPORTED;
	copy = mem_strndup(text, len);
	if (!copy)
		return ERR_NOMEM;
	*out = (struct revname_selector){false, 0, 0, false};
	if (is_number(text, len) && len <= NUMBER_DIGITS_MAX) {
		out->nth = strtoumax(copy, NULL, 10);
		ret = 1;
	} else {
		out->by_time = true;
		ret = !approxidate_parse(&out->time, copy, now);
	}
	free(copy);
	return ret;
}

/* ---- the ref */

struct ref_search {
	const struct repo *repo;
	/* owned: the full name of the ref that was found */
	char *name;
};

/*
 * Looks for the reflog of `ref`. If `ref` has none and is symbolic, looks for
 * the reflog of its target. Sets s->name to the name of the ref that has a
 * reflog. Returns 1 if s->name is set, 0 if there is no reflog, or ERR_NOMEM.
 */
static int take_ref(void *ctx, const struct ref *ref)
{
	struct ref_search *s = ctx;
	const char *name = ref->name;

	if (!reflog_exists(s->repo, name))
		name = ref->target;
	if (!name || !reflog_exists(s->repo, name))
		return 0;
	s->name = mem_strdup(name);
	return s->name ? 1 : ERR_NOMEM;
}

/*
 * Finds the ref whose reflog is read. Returns 1 with *name set to the full name
 * of the ref, which the caller frees. Returns 0 if there is no such ref, or a
 * negative error code.
 */
static int find_ref(char **name, struct refs *refs, const struct repo *repo,
		    const char *given, size_t len, struct error *err)
{
	struct ref_search s = {repo, NULL};
	char *copy;
	struct ref ref;
	int ret;

	if (!len) {
		ret = refs_read(refs, "HEAD", &ref, err);
		if (ret <= 0)
			return ret;
		*name = mem_strdup(ref.target ? ref.target : "HEAD");
		return *name ? 1 : error_nomem(err);
	}
	copy = is_word(given, len, "@") ? mem_strdup("HEAD")
					: mem_strndup(given, len);
	if (!copy)
		return error_nomem(err);
	ret = refs_dwim_each(refs, copy, take_ref, &s, err);
	free(copy);
	if (ret == ERR_NOMEM)
		error_nomem(err);
	*name = s.name;
	return ret;
}

/* ---- the entry */

struct search {
	const struct reflog *log;
	const char *name; /* full name of the ref */
	/*
	 * the name of the ref as the user gave it, for messages; `given_len`
	 * bytes
	 */
	const char *given;
	size_t given_len;
	struct buf *notes;
	struct error *err;
};

/* Returns the time zone of a reflog entry, in minutes east of Greenwich. */
static int zone_minutes(const struct reflog_line *line)
{
	const char *end = memchr(line->text, '\t', line->text_len);
	long zone;

	if (!end)
		end = line->text + line->text_len;
	if (end - line->text < 5)
		return 0;
	zone = strtol(end - 5, NULL, 10);
	return (int)(zone / 100 * 60 + zone % 100);
}

/*
 * Appends the date of a reflog entry and a newline to s->notes, the messages
 * for the user. Returns 0 or ERR_NOMEM.
 */
static int add_date(const struct search *s, const struct reflog_line *line)
{
	static const char days[] = "SunMonTueWedThuFriSat";
	static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
	int zone = zone_minutes(line);
	int off = zone < 0 ? -zone : zone;
	time_t when = (time_t)line->time + (time_t)zone * 60;
	struct tm tm;

	if (!gmtime_r(&when, &tm))
		return buf_printf(s->notes, "an unknown date\n");
	return buf_printf(
		s->notes, "%.3s, %d %.3s %d %02d:%02d:%02d %c%02d%02d\n",
		days + 3 * tm.tm_wday, tm.tm_mday, months + 3 * tm.tm_mon,
		tm.tm_year + 1900, tm.tm_hour, tm.tm_min, tm.tm_sec,
		zone < 0 ? '-' : '+', off / 60, off % 60);
}

static int note_ref(const struct search *s, const char *what,
		    const struct reflog_line *line)
{
	if (!s->notes)
		return 0;
	if (buf_printf(s->notes, "warning: log for ref %s %s ", s->name, what) <
		    0 ||
	    add_date(s, line) < 0)
		return error_nomem(s->err);
	return 0;
}

static int note_too_old(const struct search *s)
{
	if (!s->notes)
		return 0;
	if (buf_printf(s->notes, "warning: log for '%.*s' only goes back to ",
		       (int)s->given_len, s->given) < 0 ||
	    add_date(s, &s->log->lines[0]) < 0)
		return error_nomem(s->err);
	return 0;
}

/*
 * Sets *out to the id that the ref had after the reflog entry with index `at`
 * (0: the oldest entry). For the newest entry, this is *tip, the present id of
 * the ref. For any other entry, this is the new id in the entry.
 *
 * If a change of the ref is missing in the reflog, appends a warning to the
 * notes. A change is missing if the new id in the entry is not the old id in
 * the next entry. For the newest entry, the new id is compared with *tip.
 * Returns 1 or ERR_NOMEM.
 */
static int take_entry(const struct search *s, struct oid *out, size_t at,
		      const struct oid *tip)
{
	const struct reflog_line *line = &s->log->lines[at];
	bool is_newest = at + 1 == s->log->nr;
	const struct oid *next = is_newest ? tip : &line[1].old_oid;

	*out = is_newest ? *tip : line->new_oid;
	if (oid_equal(next, &line->new_oid))
		return 1;
	return note_ref(s,
			is_newest ? "unexpectedly ended on" : "has gap after",
			line) < 0
		       ? ERR_NOMEM
		       : 1;
}

static int find_by_time(const struct search *s, struct oid *out,
			const struct revname_selector *what,
			const struct oid *tip)
{
	const struct reflog_line *oldest = &s->log->lines[0];
	size_t at = s->log->nr;

	while (at && s->log->lines[at - 1].time > what->time)
		at--;
	if (at)
		return take_entry(s, out, at - 1, tip);
	*out = oid_is_zero(&oldest->old_oid) ? oldest->new_oid
					     : oldest->old_oid;
	return !what->quiet && note_too_old(s) < 0 ? ERR_NOMEM : 1;
}

static int find_nth(const struct search *s, struct oid *out, uint64_t nth,
		    const struct oid *tip)
{
	size_t nr = s->log->nr;

	if (nth < nr)
		return take_entry(s, out, nr - 1 - (size_t)nth, tip);
	*out = s->log->lines[0].old_oid;
	if (nth == nr && !oid_is_zero(out))
		return 1;
	return error_set(s->err, ERR_UNSUPPORTED,
			 "log for '%.*s' only has %zu entries",
			 (int)s->given_len, s->given, nr);
}

static int find_entry(const struct search *s, struct oid *out,
		      const struct revname_selector *what,
		      const struct oid *tip)
{
	if (!s->log->nr && !what->by_time && !what->nth) {
		*out = *tip;
		return 1;
	}
	if (!s->log->nr)
		return error_set(s->err, ERR_UNSUPPORTED, "log for %s is empty",
				 s->name);
	return what->by_time ? find_by_time(s, out, what, tip)
			     : find_nth(s, out, what->nth, tip);
}

/*
 * Returns the name of a ref for messages: without "refs/heads/" if the ref is
 * a branch.
 */
static const char *short_name(const char *full)
{
	return strncmp(full, "refs/heads/", 11) ? full : full + 11;
}

int revname_selector_find(struct oid *out, const struct revname_selector *what,
			  const char *given, size_t len, struct refs *refs,
			  const struct repo *repo, struct buf *notes,
			  struct error *err)
{
	struct reflog log = REFLOG_INIT;
	struct search s = {&log, NULL, given, len, notes, err};
	char *name = NULL;
	struct ref ref;
	int ret = find_ref(&name, refs, repo, given, len, err);

	if (ret > 0)
		ret = refs_lookup(refs, name, &ref, err);
	if (ret > 0)
		ret = reflog_read(&log, repo, name, err);
	if (ret > 0) {
		s.name = name;
		if (!len) {
			s.given = short_name(name);
			s.given_len = strlen(s.given);
		}
		ret = find_entry(&s, out, what, &ref.oid);
	}
	reflog_release(&log);
	free(name);
	return ret;
}
