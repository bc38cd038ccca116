/* SPDX-License-Identifier: MIT */
/*
 * Measures a request, and reports the results as one trace event and to a
 * callback.
 */
#include <string.h>

#include "base/json.h"
#include "sys/clock.h"
#include "wire/summary.h"

static const struct {
	const char *label, *key;
} phases[SUMMARY_PHASE_NR] = {
	[SUMMARY_ANSWER] = {"answer", "answer_us"},
	[SUMMARY_NEGOTIATE] = {"negotiate", "negotiate_us"},
	[SUMMARY_PACK] = {"pack", "pack_us"},
	[SUMMARY_RECEIVE] = {"receive", "receive_us"},
	[SUMMARY_CONNECTIVITY] = {"connectivity", "connectivity_us"},
	[SUMMARY_HOOKS] = {"hooks", "hooks_us"},
	[SUMMARY_MIGRATE] = {"migrate", "migrate_us"},
	[SUMMARY_UPDATE] = {"update-refs", "update_refs_us"},
	[SUMMARY_REPORT] = {"report", "report_us"},
};

static const char *const number_keys[SUMMARY_NUMBER_NR] = {
	[SUMMARY_PROTOCOL] = "protocol",
	[SUMMARY_REFS_LOOKED_AT] = "refs_looked_at",
	[SUMMARY_WANTS] = "wants",
	[SUMMARY_HAVES] = "haves",
	[SUMMARY_HAVES_COMMON] = "haves_common",
	[SUMMARY_SHALLOW] = "shallow",
	[SUMMARY_DEPTH] = "depth",
	[SUMMARY_ESTIMATED_BITMAP] = "estimated_bitmap",
	[SUMMARY_ESTIMATED_WALK] = "estimated_walk",
	[SUMMARY_BITMAPS_USED] = "bitmaps_used",
	[SUMMARY_PSEUDO_MERGES_USED] = "pseudo_merges_used",
	[SUMMARY_COMMITS_WALKED] = "commits_walked",
	[SUMMARY_OBJECTS_SENT] = "objects_sent",
	[SUMMARY_OBJECTS_REUSED_IN_SPANS] = "objects_reused_in_spans",
	[SUMMARY_OBJECTS_REUSED] = "objects_reused",
	[SUMMARY_OBJECTS_RECOMPRESSED] = "objects_recompressed",
	[SUMMARY_BYTES_VERBATIM] = "bytes_verbatim",
	[SUMMARY_BYTES_RECOMPRESSED] = "bytes_recompressed",
	[SUMMARY_BYTES_ELSEWHERE] = "bytes_elsewhere",
	[SUMMARY_COUNT_US] = "count_us",
	[SUMMARY_REUSE_US] = "reuse_us",
	[SUMMARY_SEARCH_US] = "search_us",
	[SUMMARY_WRITE_US] = "write_us",
	[SUMMARY_QUEUE_US] = "queue_us",
	[SUMMARY_PRICE_US] = "price_us",
	[SUMMARY_REFS_ASKED] = "refs_asked",
	[SUMMARY_REFS_REFUSED] = "refs_refused",
	[SUMMARY_BYTES_RECEIVED] = "bytes_received",
	[SUMMARY_BYTES_SENT] = "bytes_sent",
	[SUMMARY_WAIT_READ_US] = "wait_read_us",
	[SUMMARY_WAIT_SEND_US] = "wait_send_us",
	[SUMMARY_FIRST_BYTE_US] = "first_byte_us",
	[SUMMARY_TOTAL_US] = "total_us",
	[SUMMARY_CPU_USER_US] = "cpu_user_us",
	[SUMMARY_CPU_SYS_US] = "cpu_sys_us",
	[SUMMARY_PEAK_RSS_KIB] = "peak_rss_kib",
};

static const char *const text_keys[SUMMARY_TEXT_NR] = {
	[SUMMARY_FILTER] = "filter",
	[SUMMARY_REQUEST] = "request",
	[SUMMARY_STRATEGY] = "strategy",
	[SUMMARY_NO_BITMAP_REASON] = "no_bitmap_reason",
	[SUMMARY_STRATEGY_REASON] = "strategy_reason",
	[SUMMARY_PLAN] = "plan",
	[SUMMARY_NO_PLAN_REASON] = "no_plan_reason",
	[SUMMARY_UNPACK_ERROR] = "unpack_error",
	[SUMMARY_FILE] = "file",
};

void summary_init_off(struct summary *s, const char *service)
{
	*s = (struct summary){.service = service, .phase = SUMMARY_NO_PHASE};
	for (int i = 0; i < SUMMARY_TEXT_NR; i++)
		s->texts[i] = (struct buf)BUF_INIT;
}

void summary_init(struct summary *s, const struct repo *repo,
		  const struct summary_about *about, const char *service)
{
	summary_init_off(s, service);
	s->repository = repo->git_dir;
	s->trace = repo->trace;
	s->about = about;
	s->is_on = s->trace || (about && about->done);
	s->tap = (struct pktline_tap){.trace = s->trace, .who = service};
}

void summary_release(struct summary *s)
{
	summary_drop(s);
	for (int i = 0; i < SUMMARY_TEXT_NR; i++)
		buf_release(&s->texts[i]);
}

static void measure_usage(const struct summary *s, struct sys_usage *usage)
{
	sys_usage(usage, s->about && s->about->is_of_thread);
}

void summary_begin(struct summary *s, const char *command)
{
	if (!s->is_on)
		return;
	s->command = command;
	s->start_ns = sys_clock_ns();
	measure_usage(s, &s->usage);
	s->base.read_ns = s->tap.read_ns;
	s->base.send_ns = s->tap.send_ns;
	memset(s->phases_ns, 0, sizeof(s->phases_ns));
	memset(s->entered, 0, sizeof(s->entered));
	s->tap.first_ns = 0;
	s->has_numbers = 0;
	s->has_texts = s->null_texts = 0;
}

const char *summary_phase_name(enum summary_phase phase)
{
	return phases[phase].label;
}

void summary_phase(struct summary *s, enum summary_phase phase)
{
	uint64_t now;

	if (!s->is_on || phase == s->phase)
		return;
	now = sys_clock_ns();
	if (s->phase != SUMMARY_NO_PHASE) {
		s->phases_ns[s->phase] += now - s->phase_start_ns;
		trace_region_leave(s->trace, s->service,
				   phases[s->phase].label);
	}
	s->phase = phase;
	s->phase_start_ns = now;
	if (phase == SUMMARY_NO_PHASE)
		return;
	s->entered[phase] = true;
	trace_region_enter(s->trace, s->service, phases[phase].label);
}

void summary_u64(struct summary *s, enum summary_number number, uint64_t value)
{
	s->numbers[number] = value;
	s->has_numbers |= UINT64_C(1) << number;
}

void summary_string(struct summary *s, enum summary_text text,
		    const char *value)
{
	if (!s->is_on)
		return;
	buf_reset(&s->texts[text]);
	s->has_texts |= 1U << text;
	s->null_texts &= ~(1U << text);
	if (!value || buf_append_str(&s->texts[text], value) < 0)
		s->null_texts |= 1U << text;
}

const char *summary_text(const struct summary *s, enum summary_text text)
{
	if (!(s->has_texts & 1U << text) || s->null_texts & 1U << text)
		return NULL;
	return s->texts[text].data;
}

/* Returns the CPU time since the request began. */
static struct sys_usage measure_cpu(const struct summary *s)
{
	struct sys_usage spent;

	if (s->suspended_ns)
		return s->usage;
	measure_usage(s, &spent);
	spent.user_us -= s->usage.user_us;
	spent.system_us -= s->usage.system_us;
	return spent;
}

void summary_suspend(struct summary *to, struct summary *from)
{
	*to = *from;
	summary_init_off(from, from->service);
	if (!to->is_on)
		return;
	to->usage = measure_cpu(to);
	to->suspended_ns = sys_clock_ns();
}

/* Set the durations and byte counts of the request. */
static void measure_costs(struct summary *s)
{
	const struct sys_usage usage = measure_cpu(s);
	uint64_t now = sys_clock_ns();
	/*
	 * The difference can be negative: bytes that did not reach the client
	 * were subtracted from bytes_sent. They may include HTTP headers, which
	 * were never added.
	 */
	int64_t sent = (int64_t)(s->tap.bytes_sent - s->base.bytes_sent);

	summary_u64(s, SUMMARY_BYTES_RECEIVED,
		    s->tap.bytes_read - s->base.bytes_read);
	summary_u64(s, SUMMARY_BYTES_SENT, sent > 0 ? (uint64_t)sent : 0);
	summary_u64(s, SUMMARY_WAIT_READ_US,
		    (s->tap.read_ns - s->base.read_ns) / 1000);
	summary_u64(s, SUMMARY_WAIT_SEND_US,
		    (s->tap.send_ns - s->base.send_ns) / 1000);
	if (s->tap.first_ns)
		summary_u64(s, SUMMARY_FIRST_BYTE_US,
			    (s->tap.first_ns - s->start_ns) / 1000);
	summary_u64(s, SUMMARY_TOTAL_US, (now - s->start_ns) / 1000);
	summary_u64(s, SUMMARY_CPU_USER_US, usage.user_us);
	summary_u64(s, SUMMARY_CPU_SYS_US, usage.system_us);
	/*
	 * Without a trace, skip this value, because reading it is slow and only
	 * the trace shows it.
	 */
	if (s->trace)
		summary_u64(s, SUMMARY_PEAK_RSS_KIB, sys_peak_rss_kib());
}

/* ---- the event */

static int put_number(struct buf *json, const struct summary *s, int number)
{
	if (!(s->has_numbers >> number & 1))
		return 0;
	if (number == SUMMARY_SHALLOW)
		return json_member_bool(json, number_keys[number],
					s->numbers[number]);
	return json_member_u64(json, number_keys[number], s->numbers[number]);
}

static int put_about(struct buf *json, const struct summary *s)
{
	int ret = json_member(json, "repository", s->repository);

	if (!ret && s->about)
		ret = json_member(json, "client", s->about->client);
	if (!ret && s->about)
		ret = json_member(json, "user", s->about->user);
	if (!ret && s->about && s->about->traceparent)
		ret = json_member(json, "traceparent", s->about->traceparent);
	return ret;
}

static int put_record(struct buf *json, const struct summary *s,
		      const struct error *error)
{
	int ret = buf_append_char(json, '{');

	if (!ret)
		ret = json_member(json, "service", s->service);
	if (!ret)
		ret = json_member(json, "command", s->command);
	if (!ret)
		ret = json_member(json, "error", error ? error->msg : NULL);
	if (!ret)
		ret = put_about(json, s);
	for (int i = 0; !ret && i < SUMMARY_TEXT_NR; i++)
		if (s->has_texts >> i & 1)
			ret = json_member(json, text_keys[i],
					  summary_text(s, i));
	for (int i = 0; !ret && i < SUMMARY_PHASE_NR; i++)
		if (s->entered[i])
			ret = json_member_u64(json, phases[i].key,
					      s->phases_ns[i] / 1000);
	for (int i = 0; !ret && i < SUMMARY_NUMBER_NR; i++)
		ret = put_number(json, s, i);
	return ret ? ret : buf_append_char(json, '}');
}

void summary_end(struct summary *s, const struct error *error)
{
	struct buf json = BUF_INIT;

	if (!s->is_on || !s->command)
		return;
	if (s->suspended_ns)
		s->tap.send_ns += sys_clock_ns() - s->suspended_ns;
	summary_phase(s, SUMMARY_NO_PHASE);
	measure_costs(s);
	if (s->trace && !put_record(&json, s, error))
		trace_request(s->trace, json.data);
	buf_release(&json);
	if (s->about && s->about->done)
		s->about->done(s->about->ctx, s, error);
	s->base = s->tap;
	s->command = NULL;
}

void summary_drop(struct summary *s)
{
	summary_phase(s, SUMMARY_NO_PHASE);
	s->command = NULL;
}
