/* SPDX-License-Identifier: MIT */
/*
 * Prints the status of the server as a page. The page has no script: the
 * browser loads it again every five seconds. A bar is an element whose width is
 * relative to the longest bar. Texts of clients are escaped and cut off.
 */
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "status/status.h"

/*
 * Maximum number of bytes of a path that are shown. Of a longer path, the end
 * is shown.
 */
#define SHOWN_MAX 80

static const char head[] =
	"<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
	"<meta name=\"viewport\" content=\"width=device-width\">\n"
	"<meta http-equiv=\"refresh\" content=\"5\">\n"
	"<title>gitreachd</title>\n<style>\n"
	":root{color-scheme:light dark;--line:#8884;--soft:#8882;--bar:#47a}\n"
	"body{font:15px/1.45 system-ui,sans-serif;margin:0 auto;padding:1em;"
	"max-width:70em}\n"
	"h1{font-size:1.3em;margin:0 0 .6em}h2{font-size:1.05em;"
	"margin:1.6em 0 .4em}\n"
	".cards{display:flex;flex-wrap:wrap;gap:.6em}\n"
	".card{border:1px solid var(--line);border-radius:.4em;"
	"padding:.4em .8em;min-width:7em}\n"
	".card b{display:block;font-size:1.5em;font-weight:600}\n"
	".wide{overflow-x:auto}table{border-collapse:collapse;width:100%}\n"
	"th,td{text-align:left;padding:.25em .7em .25em 0;"
	"border-bottom:1px solid var(--line);vertical-align:top}\n"
	"td.n,th.n{text-align:right;font-variant-numeric:tabular-nums;"
	"white-space:nowrap}\n"
	".path{overflow-wrap:anywhere}.none{opacity:.7}\n"
	".bar{display:flex;height:.7em;background:var(--soft);"
	"min-width:8em;margin-top:.3em}\n"
	".bar i{display:block;height:100%;background:var(--bar)}\n"
	".p0{background:#888!important}.p1{background:#c80!important}"
	".p2{background:#47a!important}.p3{background:#8a4!important}"
	".p4{background:#a5a!important}.p5{background:#c55!important}"
	".p6{background:#5aa!important}.p7{background:#775!important}"
	".p8{background:#357!important}\n"
	".p9{background:repeating-linear-gradient(90deg,#888 0 2px,"
	"transparent 2px 4px)!important}"
	".wait{height:.3em;min-width:8em}"
	".wait i{display:block;height:100%}"
	"td{overflow-wrap:anywhere}td.t{white-space:nowrap}\n"
	"small{opacity:.75}.key i{display:inline-block;width:.8em;height:.8em;"
	"margin:0 .2em 0 .8em}\n"
	/* On a phone, a row is a block with a name before each number. */
	"@media(max-width:48em){table,tbody,tr,td{display:block}"
	"thead{display:none}.wide{border-top:1px solid var(--line)}"
	"tr{border-bottom:1px solid var(--line);padding:.4em 0}"
	"td{border:0;padding:.1em 0}"
	"td.n,td.t{display:inline-block;text-align:left;margin-right:1.2em}"
	"td.n br{display:none}td.n small{margin-left:.4em}"
	"td[data-l]::before{content:attr(data-l) \" \";opacity:.7}}\n"
	"</style></head><body>\n";

/* ---- texts */

static int put_escaped(struct buf *out, const char *text, size_t len)
{
	int ret = 0;

	for (size_t i = 0; !ret && i < len; i++) {
		unsigned char c = (unsigned char)text[i];

		if (c == '&')
			ret = buf_append_str(out, "&amp;");
		else if (c == '<')
			ret = buf_append_str(out, "&lt;");
		else if (c == '>')
			ret = buf_append_str(out, "&gt;");
		else if (c == '"')
			ret = buf_append_str(out, "&quot;");
		else if (c < ' ' || c == 127)
			ret = buf_append_char(out, '?');
		else
			ret = buf_append_char(out, (char)c);
	}
	return ret;
}

static int put_text(struct buf *out, const char *text)
{
	return put_escaped(out, text, strlen(text));
}

/* Prints a cell with a path. If the path is long, only its end is shown. */
static int put_path(struct buf *out, const char *path)
{
	size_t len = strlen(path);
	int ret = buf_append_str(out, "<td class=\"path\">");

	if (!ret && len > SHOWN_MAX) {
		ret = buf_append_str(out, "&hellip;");
		path += len - SHOWN_MAX;
		len = SHOWN_MAX;
		/* Do not begin in the middle of a UTF-8 character. */
		while (len && ((unsigned char)*path & 0xc0) == 0x80) {
			path++;
			len--;
		}
	}
	if (!ret)
		ret = put_escaped(out, path, len);
	return ret ? ret : buf_append_str(out, "</td>");
}

/* Prints a cell with an address and, if there is one, the name of a user. */
static int put_client(struct buf *out, const char *client, const char *user)
{
	int ret = buf_append_str(out, "<td class=\"t\">") ||
		  put_text(out, client);

	if (!ret && *user)
		ret = buf_append_str(out, "<br>") || put_text(out, user);
	return ret || buf_append_str(out, "</td>");
}

/*
 * Begins a cell with a number. A narrow page also shows the name of the number.
 */
static int begin_number(struct buf *out, const char *name)
{
	return buf_printf(out, "<td class=\"n\" data-l=\"%s\">", name);
}

static int put_number(struct buf *out, const char *name, uint64_t number)
{
	return begin_number(out, name) ||
	       buf_printf(out, "%" PRIu64 "</td>", number);
}

/* Prints a cell with a number of bytes, for example "1.5 GB". */
static int put_bytes(struct buf *out, const char *name, uint64_t bytes)
{
	static const char *const units[] = {"B", "KB", "MB", "GB", "TB", "PB"};
	double n = (double)bytes;
	size_t i = 0;

	for (; n >= 1000 && i + 1 < ARRAY_NR(units); i++)
		n /= 1000;
	return begin_number(out, name) ||
	       buf_printf(out, "%.*f %s</td>", i && n < 100 ? 1 : 0, n,
			  units[i]);
}

/* Prints a time given in microseconds, for example "12 ms" or "3.40 s". */
static int put_time(struct buf *out, uint64_t us)
{
	if (us < 10000)
		return buf_printf(out, "%.2f ms", (double)us / 1e3);
	if (us < 1000000)
		return buf_printf(out, "%.0f ms", (double)us / 1e3);
	return buf_printf(out, "%.2f s", (double)us / 1e6);
}

static int put_time_cell(struct buf *out, const char *name, uint64_t us)
{
	return begin_number(out, name) || put_time(out, us) ||
	       buf_append_str(out, "</td>");
}

/* Prints an age given in seconds, in one unit, for example "5 min". */
static int put_age(struct buf *out, uint64_t seconds)
{
	if (seconds < 120)
		return buf_printf(out, "%" PRIu64 " s", seconds);
	if (seconds < 7200)
		return buf_printf(out, "%" PRIu64 " min", seconds / 60);
	if (seconds < 48 * 3600)
		return buf_printf(out, "%" PRIu64 " h", seconds / 3600);
	return buf_printf(out, "%" PRIu64 " days", seconds / 86400);
}

/* Prints a bar. Its length is `number` as a percentage of `most`. */
static int put_bar(struct buf *out, uint64_t number, uint64_t most)
{
	double share = most ? (double)number * 100 / (double)most : 0;

	return buf_printf(out,
			  "<div class=\"bar\"><i style=\"width:%.1f%%\"></i>"
			  "</div>",
			  share);
}

static int put_card(struct buf *out, uint64_t number, const char *what)
{
	return buf_printf(out,
			  "<div class=\"card\"><b>%" PRIu64 "</b>%s</div>\n",
			  number, what);
}

/*
 * Begin a table with a title and a row of headings. If `nr` is 0, print a text
 * that says that the table is empty.
 */
static int begin_table(struct buf *out, const char *title, size_t nr,
		       const char *headings)
{
	int ret = buf_printf(out, "<h2>%s</h2>\n", title);

	if (!ret && !nr)
		return buf_append_str(out, "<p class=\"none\">none</p>\n");
	return ret ? ret
		   : buf_printf(out,
				"<div class=\"wide\"><table><thead><tr>%s"
				"</tr></thead><tbody>\n",
				headings);
}

static int end_table(struct buf *out, size_t nr)
{
	return nr ? buf_append_str(out, "</tbody></table></div>\n") : 0;
}

/* ---- parts of the page */

static int put_cards(struct buf *out, const struct status *s)
{
	return buf_append_str(out, "<div class=\"cards\">\n") ||
	       put_card(out, s->now.requests, "requests in threads") ||
	       put_card(out, s->now.sending, "answers being sent") ||
	       put_card(out, s->now.connections, "connections") ||
	       put_card(out, s->now.snapshots, "open repositories") ||
	       put_card(out, s->now.workers, "processes") ||
	       put_card(out, s->now.admission.tokens_held, "tokens in use") ||
	       put_card(out, s->now.admission.waiting, "waiting") ||
	       buf_append_str(out, "</div>\n");
}

static int put_flights(struct buf *out, const struct status *s)
{
	int ret = begin_table(out, "Requests in flight, the oldest first",
			      s->flight_nr,
			      "<th>Repository</th><th>Client</th><th>Phase</th>"
			      "<th class=\"n\">Age</th>");

	for (size_t i = 0; !ret && i < s->flight_nr; i++) {
		const struct status_slot_view *f = &s->flights[i];

		ret = buf_append_str(out, "<tr>") || put_path(out, f->path) ||
		      put_client(out, f->client, f->user) ||
		      buf_printf(out, "<td class=\"t\">%s</td>",
				 status_flight_phase(f)) ||
		      put_time_cell(out, "Age",
				    status_flight_age(s, f) / 1000) ||
		      buf_append_str(out, "</tr>\n");
	}
	return ret || end_table(out, s->flight_nr);
}

/*
 * Prints the table of users and addresses (principals) whose requests wait for
 * a token or hold one.
 */
static int put_queue(struct buf *out, const struct status *s)
{
	const struct admission_view *v = &s->now.admission;
	int ret = begin_table(out, "Queue by user or address", v->line_nr,
			      "<th>User or address</th>"
			      "<th class=\"n\">Waiting</th>"
			      "<th class=\"n\">Working</th>");

	for (size_t i = 0; !ret && i < v->line_nr; i++)
		ret = buf_append_str(out, "<tr><td>") ||
		      put_text(out, v->lines[i].name) ||
		      buf_append_str(out, "</td>") ||
		      put_number(out, "Waiting", v->lines[i].waiting) ||
		      put_number(out, "Working", v->lines[i].running) ||
		      buf_append_str(out, "</tr>\n");
	return ret || end_table(out, v->line_nr);
}

/*
 * Prints the number of packs, and the ages of the newest and the oldest pack.
 */
static int put_packs(struct buf *out, const struct status *s,
		     const struct status_packs *packs)
{
	uint64_t now = s->taken > 0 ? (uint64_t)s->taken : 0;
	uint64_t newest = now > packs->newest ? now - packs->newest : 0;
	uint64_t oldest = now > packs->oldest ? now - packs->oldest : 0;
	int ret = begin_number(out, "Packs");

	if (!ret && packs->nr) {
		ret = buf_printf(out, "%" PRIu64 "<br><small>", packs->nr) ||
		      put_age(out, newest);
		if (!ret && packs->nr > 1)
			ret = buf_append_str(out, " to ") ||
			      put_age(out, oldest);
		ret = ret || buf_append_str(out, " old</small>");
	}
	return ret || buf_append_str(out, "</td>");
}

static int put_cost(struct buf *out, const struct status *s,
		    const struct status_cost *c, uint64_t most)
{
	int ret = buf_append_str(out, "<tr>") || put_path(out, c->path);

	/*
	 * Remove the end of the cell with the path, because the bar belongs to
	 * the same cell.
	 */
	if (ret)
		return ret;
	buf_set_len(out, out->len - strlen("</td>"));
	return put_bar(out, c->cpu_us, most) || buf_append_str(out, "</td>") ||
	       put_time_cell(out, "CPU", c->cpu_us) ||
	       put_bytes(out, "Sent", c->bytes_sent) ||
	       put_number(out, "Requests", c->requests) ||
	       put_packs(out, s, &c->packs) || buf_append_str(out, "</tr>\n");
}

static int put_costs(struct buf *out, const struct status *s)
{
	uint64_t most = s->cost_nr ? s->costs[0].cpu_us : 0;
	int ret = begin_table(
		out, "Repositories by processor time", s->cost_nr,
		"<th>Repository</th><th class=\"n\">CPU</th>"
		"<th class=\"n\">Sent</th><th class=\"n\">Requests</th>"
		"<th class=\"n\">Packs</th>");

	for (size_t i = 0; !ret && i < s->cost_nr; i++)
		ret = put_cost(out, s, &s->costs[i], most);
	ret = ret || end_table(out, s->cost_nr);
	if (!ret && s->cost_nr)
		ret = buf_append_str(
			out,
			"<p><small>All numbers are halved every ten minutes, "
			"so recent requests count most.</small></p>\n");
	return ret;
}

static uint64_t most_of(const struct status_count *counts, size_t nr)
{
	uint64_t most = 0;

	for (size_t i = 0; i < nr; i++)
		if (counts[i].nr > most)
			most = counts[i].nr;
	return most;
}

/* Prints a table with a number and a bar for each value of a label. */
static int put_counts(struct buf *out, const char *title, const char *heading,
		      const char *what, const struct status_count *counts,
		      size_t nr)
{
	uint64_t most = most_of(counts, nr);
	int ret = begin_table(out, title, nr, heading);

	for (size_t i = 0; !ret && i < nr; i++)
		ret = buf_append_str(out, "<tr><td>") ||
		      put_text(out, counts[i].value) ||
		      put_bar(out, counts[i].nr, most) ||
		      buf_append_str(out, "</td>") ||
		      put_number(out, what, counts[i].nr) ||
		      buf_append_str(out, "</tr>\n");
	return ret || end_table(out, nr);
}

static int put_reasons(struct buf *out, const struct status *s)
{
	return put_counts(out, "Packs sent without bitmaps",
			  "<th>Reason</th><th class=\"n\">Packs</th>", "Packs",
			  s->reasons, s->reason_nr);
}

/*
 * Prints how many packs were sent by plans. A plan is the record of an earlier
 * pack, from which an equal pack can be sent again. hit: there was a plan;
 * joined: the request waited until another one had made the plan; miss: this
 * request made the plan.
 */
static int put_plans(struct buf *out, const struct status *s)
{
	return put_counts(out, "Packs by use of plans (cached responses)",
			  "<th>Plan</th><th class=\"n\">Packs</th>", "Packs",
			  s->plans, s->plan_nr);
}

static int put_limit(struct buf *out, uint64_t limit)
{
	return limit ? put_bytes(out, "Limit", limit)
		     : begin_number(out, "Limit") ||
			       buf_append_str(out, "none</td>");
}

static int put_answer(struct buf *out, const struct status *s)
{
	return begin_number(out, "Last answer") ||
	       (s->store.answered ? put_age(out, status_store_age(s)) ||
					    buf_append_str(out, " ago")
				  : buf_append_str(out, "none")) ||
	       buf_append_str(out, "</td>");
}

/*
 * Prints the statistics of the store with the repositories, and of the cache
 * with local copies of them. Prints nothing if the server has no store.
 */
static int put_store(struct buf *out, const struct status *s)
{
	const struct status_store *t = &s->store;

	if (!t->is_used)
		return 0;
	return begin_table(out, "Store and cache", 1,
			   "<th class=\"n\">Last answer</th>"
			   "<th class=\"n\">Requests</th>"
			   "<th class=\"n\">Failed</th>"
			   "<th class=\"n\">Read</th>"
			   "<th class=\"n\">Written</th>"
			   "<th class=\"n\">Downloads</th>"
			   "<th class=\"n\">Evictions</th>"
			   "<th class=\"n\">Cache</th>"
			   "<th class=\"n\">Limit</th>") ||
	       buf_append_str(out, "<tr>") || put_answer(out, s) ||
	       put_number(out, "Requests", t->requests) ||
	       put_number(out, "Failed", t->failures) ||
	       put_bytes(out, "Read", t->received) ||
	       put_bytes(out, "Written", t->sent) ||
	       put_number(out, "Downloads", t->downloads) ||
	       put_number(out, "Evictions", t->evictions) ||
	       put_bytes(out, "Cache", t->bytes) || put_limit(out, t->limit) ||
	       buf_append_str(out, "</tr>\n") || end_table(out, 1) ||
	       put_counts(out, "Local copies of repositories",
			  "<th>Copy</th><th class=\"n\">Requests</th>",
			  "Requests", t->lookups, t->lookup_nr);
}

/* Prints the phases of a request as one bar. */
static int put_phases(struct buf *out, const struct status_slow *r)
{
	int ret = buf_append_str(out, "<div class=\"bar\">");

	for (int i = 0; !ret && r->total_us && i < SUMMARY_PHASE_NR; i++)
		if (r->phases_us[i])
			ret = buf_printf(out,
					 "<i class=\"p%d\" title=\"%s\" "
					 "style=\"width:%.1f%%\"></i>",
					 i, summary_phase_name(i),
					 (double)r->phases_us[i] * 100 /
						 (double)r->total_us);
	return ret || buf_append_str(out, "</div>");
}

/*
 * Prints a bar that shows how much of the request's time was spent waiting for
 * the client. This time is also contained in the bar of the phases.
 */
static int put_waits(struct buf *out, const struct status_slow *r)
{
	uint64_t waits = r->wait_read_us + r->wait_send_us;

	if (!waits || !r->total_us)
		return 0;
	waits = waits < r->total_us ? waits : r->total_us;
	return buf_printf(out,
			  "<div class=\"wait\"><i class=\"p9\" "
			  "style=\"width:%.1f%%\"></i></div>",
			  (double)waits * 100 / (double)r->total_us);
}

/*
 * Prints the times of the phases as text, because colours alone are not
 * accessible.
 */
static int put_phase_times(struct buf *out, const struct status_slow *r)
{
	int ret = buf_append_str(out, "<small>");

	for (int i = 0; !ret && i < SUMMARY_PHASE_NR; i++)
		if (r->phases_us[i])
			ret = buf_printf(out, "%s&nbsp;",
					 summary_phase_name(i)) ||
			      put_time(out, r->phases_us[i]) ||
			      buf_append_char(out, ' ');
	if (!ret && (r->wait_read_us || r->wait_send_us))
		ret = buf_append_str(out, "waits for the client&nbsp;") ||
		      put_time(out, r->wait_read_us + r->wait_send_us);
	return ret || buf_append_str(out, "</small>");
}

static int put_end(struct buf *out, int64_t seconds)
{
	time_t t = (time_t)seconds;
	char text[32];
	struct tm tm;

	if (!gmtime_r(&t, &tm) ||
	    !strftime(text, sizeof(text), "%m-%d %H:%M:%S", &tm))
		text[0] = '\0';
	return buf_printf(out, "<td class=\"t\">%s</td>", text);
}

static int put_slow_row(struct buf *out, const struct status_slow *r)
{
	int ret = buf_append_str(out, "<tr>") || put_end(out, r->end) ||
		  put_path(out, r->path) ||
		  put_client(out, r->client, r->user) ||
		  buf_printf(out, "<td>%s, %s", r->command, r->strategy);

	if (!ret && *r->reason)
		ret = buf_append_str(out, "<br><small>") ||
		      put_text(out, r->reason) ||
		      buf_append_str(out, "</small>");
	if (!ret && *r->error)
		ret = buf_append_str(out, "<br><small>") ||
		      put_text(out, r->error) ||
		      buf_append_str(out, "</small>");
	return ret || put_phases(out, r) || put_waits(out, r) ||
	       put_phase_times(out, r) || buf_append_str(out, "</td>") ||
	       put_time_cell(out, "Time", r->total_us) ||
	       put_time_cell(out, "CPU", r->cpu_us) ||
	       put_bytes(out, "Sent", r->bytes_sent) ||
	       buf_append_str(out, "</tr>\n");
}

static int put_slow(struct buf *out, const struct status *s)
{
	int ret = begin_table(
		out, "Slow requests, the newest first", s->slow_nr,
		"<th>End (UTC)</th><th>Repository</th><th>Client</th>"
		"<th>Command and phases</th><th class=\"n\">Time</th>"
		"<th class=\"n\">CPU</th><th class=\"n\">Sent</th>");

	for (size_t i = 0; !ret && i < s->slow_nr; i++)
		ret = put_slow_row(out, &s->slow[i]);
	ret = ret || end_table(out, s->slow_nr);
	if (ret || !s->slow_nr)
		return ret;
	ret = buf_append_str(out, "<p class=\"key\"><small>Phases:");
	for (int i = 0; !ret && i < SUMMARY_PHASE_NR; i++)
		ret = buf_printf(out, "<i class=\"p%d\"></i>%s", i,
				 summary_phase_name(i));
	return ret || buf_append_str(out, "<i class=\"p9\"></i>waits for the "
					  "client</small></p>\n");
}

int status_print_html(struct buf *out, const struct status *s)
{
	int ret = buf_append_str(out, head) || buf_append_str(out, "<h1>") ||
		  put_text(out, s->agent) || buf_append_str(out, "</h1>\n") ||
		  put_cards(out, s) || put_queue(out, s) ||
		  put_flights(out, s) || put_store(out, s) ||
		  put_costs(out, s) || put_slow(out, s) || put_plans(out, s) ||
		  put_reasons(out, s) ||
		  buf_append_str(out, "<p><a href=\"status.json\">JSON</a> "
				      "&middot; <a href=\"metrics\">metrics"
				      "</a></p>\n</body></html>\n");

	return ret ? ERR_NOMEM : 0;
}
