/* SPDX-License-Identifier: MIT */
/* Measures a request and reports it as one trace event. */
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

void summary_init(struct summary *s, struct trace *trace, const char *service)
{
	*s = (struct summary){
		.trace = trace,
		.service = service,
		.tap = {.trace = trace, .who = service},
		.phase = SUMMARY_NO_PHASE,
		.members = BUF_INIT,
	};
}

void summary_release(struct summary *s)
{
	summary_drop(s);
	buf_release(&s->members);
}

void summary_begin(struct summary *s, const char *command)
{
	if (!s->trace)
		return;
	s->command = command;
	s->start_ns = sys_clock_ns();
	sys_usage(&s->usage, s->trace->is_of_thread);
	s->base.read_ns = s->tap.read_ns;
	s->base.send_ns = s->tap.send_ns;
	memset(s->phases_ns, 0, sizeof(s->phases_ns));
	memset(s->entered, 0, sizeof(s->entered));
	buf_reset(&s->members);
}

void summary_phase(struct summary *s, enum summary_phase phase)
{
	uint64_t now;

	if (!s->trace || phase == s->phase)
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

void summary_u64(struct summary *s, const char *key, uint64_t value)
{
	if (s->trace)
		json_member_u64(&s->members, key, value);
}

void summary_bool(struct summary *s, const char *key, bool value)
{
	if (s->trace)
		json_member_bool(&s->members, key, value);
}

void summary_string(struct summary *s, const char *key, const char *value)
{
	if (s->trace)
		json_member(&s->members, key, value);
}

/* Add the durations and byte counts of a request to its event. */
static void put_costs(struct summary *s)
{
	struct sys_usage usage;

	sys_usage(&usage, s->trace->is_of_thread);
	summary_u64(s, "bytes_received",
		    s->tap.bytes_read - s->base.bytes_read);
	summary_u64(s, "bytes_sent", s->tap.bytes_sent - s->base.bytes_sent);
	for (int i = 0; i < SUMMARY_PHASE_NR; i++)
		if (s->entered[i])
			summary_u64(s, phases[i].key, s->phases_ns[i] / 1000);
	summary_u64(s, "wait_read_us",
		    (s->tap.read_ns - s->base.read_ns) / 1000);
	summary_u64(s, "wait_send_us",
		    (s->tap.send_ns - s->base.send_ns) / 1000);
	summary_u64(s, "total_us", (sys_clock_ns() - s->start_ns) / 1000);
	summary_u64(s, "cpu_user_us", usage.user_us - s->usage.user_us);
	summary_u64(s, "cpu_sys_us", usage.system_us - s->usage.system_us);
	summary_u64(s, "peak_rss_kib", usage.peak_rss_kib);
}

void summary_end(struct summary *s, const struct error *error)
{
	struct buf json = BUF_INIT;
	int ret;

	if (!s->trace || !s->command)
		return;
	summary_phase(s, SUMMARY_NO_PHASE);
	put_costs(s);
	ret = buf_append_char(&json, '{');
	if (!ret)
		ret = json_member(&json, "service", s->service);
	if (!ret)
		ret = json_member(&json, "command", s->command);
	if (!ret)
		ret = json_member(&json, "error", error ? error->msg : NULL);
	if (!ret)
		ret = buf_printf(&json, "%s}", s->members.data);
	if (!ret)
		trace_request(s->trace, json.data);
	buf_release(&json);
	s->base = s->tap;
	s->command = NULL;
}

void summary_drop(struct summary *s)
{
	summary_phase(s, SUMMARY_NO_PHASE);
	s->command = NULL;
}
