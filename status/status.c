/* SPDX-License-Identifier: MIT */
/* Takes the status of the server, and prints it as JSON. */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "status/status.h"
#include "sys/clock.h"

/*
 * Maximum number of running requests that are copied. Only the oldest of them
 * are shown.
 */
#define SLOTS_MAX 8192

static int by_begin(const void *a, const void *b)
{
	uint64_t x = ((const struct status_slot_view *)a)->begin_ns;
	uint64_t y = ((const struct status_slot_view *)b)->begin_ns;

	return (x > y) - (x < y);
}

static int by_cpu(const void *a, const void *b)
{
	uint64_t x = ((const struct status_cost *)a)->cpu_us;
	uint64_t y = ((const struct status_cost *)b)->cpu_us;

	return (x < y) - (x > y);
}

/*
 * Copies the running requests, which are sorted, to s->flights. Of each kind
 * (see struct status_slot_view), at most STATUS_FLIGHTS_MAX are copied: many
 * slow downloads must not hide the requests that occupy threads.
 */
static void keep_oldest(struct status *s, const struct status_slot_view *slots,
			size_t nr)
{
	size_t kept[2] = {0, 0};

	s->flight_nr = 0;
	for (size_t i = 0; i < nr; i++)
		if (kept[slots[i].is_sending]++ < STATUS_FLIGHTS_MAX)
			s->flights[s->flight_nr++] = slots[i];
}

/* Sort the requests that run, and keep the oldest. */
static void take_flights(struct status *s, const struct status_boards *boards)
{
	struct status_slot_view *slots = mem_alloc(SLOTS_MAX, sizeof(*slots));
	size_t nr;

	s->board_nr = status_boards_view(boards, s->boards, slots,
					 slots ? SLOTS_MAX : 0, &nr);
	if (nr)
		qsort(slots, nr, sizeof(*slots), by_begin);
	keep_oldest(s, slots, nr);
	free(slots);
}

void status_take(struct status *s, const struct status_boards *boards,
		 const struct statistics *statistics)
{
	s->taken_ns = sys_clock_ns();
	s->taken = sys_clock_seconds();
	take_flights(s, boards);
	s->now = (struct status_now){0};
	for (size_t i = 0; i < s->board_nr; i++) {
		const struct status_board_view *b = &s->boards[i];

		s->now.connections += b->gauges[STATUS_GAUGE_CONNECTIONS];
		s->now.snapshots += b->gauges[STATUS_GAUGE_SNAPSHOTS];
		s->now.plan_bytes += b->gauges[STATUS_GAUGE_PLAN_BYTES];
		s->now.requests += b->requests;
		s->now.sending += b->gauges[STATUS_GAUGE_SENDING];
		s->now.workers += b->pid != 0;
	}
	s->cost_nr = statistics_costs(statistics, s->costs);
	qsort(s->costs, s->cost_nr, sizeof(s->costs[0]), by_cpu);
	if (s->cost_nr > STATUS_COSTS_SHOWN_MAX)
		s->cost_nr = STATUS_COSTS_SHOWN_MAX;
	s->slow_nr = statistics_slow(statistics, s->slow);
	s->reason_nr = statistics_reasons(statistics, s->reasons);
	s->plan_nr = statistics_plans(statistics, s->plans);
}

uint64_t status_flight_age(const struct status *s,
			   const struct status_slot_view *flight)
{
	uint64_t begin = flight->begin_ns;

	return s->taken_ns > begin ? s->taken_ns - begin : 0;
}

const char *status_flight_phase(const struct status_slot_view *flight)
{
	return flight->is_sending ? "send" : "work";
}

uint64_t status_store_age(const struct status *s)
{
	uint64_t now = (uint64_t)s->taken;

	return now > s->store.answered ? now - s->store.answered : 0;
}

/* ---- JSON */

/* Begin an object of a list; the first one has no comma before it. */
static int begin_item(struct buf *out, size_t i)
{
	return buf_append_str(out, i ? ",{" : "{");
}

static int put_workers(struct buf *out, const struct status *s)
{
	int ret = buf_append_str(out, ",\"workers\":[");

	for (size_t i = 0; !ret && i < s->board_nr; i++) {
		const struct status_board_view *b = &s->boards[i];

		ret = begin_item(out, i) ||
		      json_member_u64(out, "pid", (uint64_t)b->pid) ||
		      json_member_u64(out, "connections",
				      b->gauges[STATUS_GAUGE_CONNECTIONS]) ||
		      json_member_u64(out, "requests", b->requests) ||
		      json_member_u64(out, "responses_sending",
				      b->gauges[STATUS_GAUGE_SENDING]) ||
		      json_member_u64(out, "snapshots",
				      b->gauges[STATUS_GAUGE_SNAPSHOTS]) ||
		      buf_append_char(out, '}');
	}
	return ret || buf_append_char(out, ']');
}

static int put_flights(struct buf *out, const struct status *s)
{
	int ret = buf_append_str(out, ",\"in_flight\":[");

	for (size_t i = 0; !ret && i < s->flight_nr; i++) {
		const struct status_slot_view *f = &s->flights[i];

		ret = begin_item(out, i) || json_member(out, "path", f->path) ||
		      json_member(out, "client", f->client) ||
		      json_member(out, "user", f->user) ||
		      json_member(out, "phase", status_flight_phase(f)) ||
		      json_member_u64(out, "age_ms",
				      status_flight_age(s, f) / 1000000) ||
		      buf_append_char(out, '}');
	}
	return ret || buf_append_char(out, ']');
}

/* Prints the packs of a repository, if they are known. */
static int put_packs(struct buf *out, const struct status_packs *packs)
{
	if (!packs->nr)
		return 0;
	return json_member_u64(out, "packs", packs->nr) ||
	       json_member_u64(out, "newest_pack", packs->newest) ||
	       json_member_u64(out, "oldest_pack", packs->oldest);
}

static int put_costs(struct buf *out, const struct status *s)
{
	int ret = buf_append_str(out, ",\"repositories\":[");

	for (size_t i = 0; !ret && i < s->cost_nr; i++) {
		const struct status_cost *c = &s->costs[i];

		ret = begin_item(out, i) ||
		      json_member(out, "repository", c->path) ||
		      json_member_u64(out, "requests", c->requests) ||
		      json_member_u64(out, "cpu_us", c->cpu_us) ||
		      json_member_u64(out, "bytes_sent", c->bytes_sent) ||
		      put_packs(out, &c->packs) || buf_append_char(out, '}');
	}
	return ret || buf_append_char(out, ']');
}

static int put_phases(struct buf *out, const struct status_slow *r)
{
	int ret = json_key(out, "phases_us") || buf_append_char(out, '{');

	for (int i = 0; !ret && i < SUMMARY_PHASE_NR; i++)
		if (r->phases_us[i])
			ret = json_member_u64(out, summary_phase_name(i),
					      r->phases_us[i]);
	return ret || buf_append_char(out, '}');
}

static int put_slow(struct buf *out, const struct status *s)
{
	int ret = buf_append_str(out, ",\"slow\":[");

	for (size_t i = 0; !ret && i < s->slow_nr; i++) {
		const struct status_slow *r = &s->slow[i];

		ret = begin_item(out, i) ||
		      json_member_u64(out, "end", (uint64_t)r->end) ||
		      json_member(out, "repository", r->path) ||
		      json_member(out, "client", r->client) ||
		      json_member(out, "user", r->user) ||
		      json_member(out, "command", r->command) ||
		      json_member(out, "strategy", r->strategy) ||
		      json_member(out, "no_bitmap_reason", r->reason) ||
		      json_member(out, "error", r->error) ||
		      json_member_u64(out, "total_us", r->total_us) ||
		      json_member_u64(out, "cpu_us", r->cpu_us) ||
		      json_member_u64(out, "wait_read_us", r->wait_read_us) ||
		      json_member_u64(out, "wait_send_us", r->wait_send_us) ||
		      json_member_u64(out, "objects_sent", r->objects) ||
		      json_member_u64(out, "bytes_sent", r->bytes_sent) ||
		      put_phases(out, r) || buf_append_char(out, '}');
	}
	return ret || buf_append_char(out, ']');
}

/*
 * Appends a JSON member `key`, whose value maps each value of a label to a
 * number.
 */
static int put_counts(struct buf *out, const char *key,
		      const struct status_count *counts, size_t nr)
{
	int ret = json_key(out, key) || buf_append_char(out, '{');

	for (size_t i = 0; !ret && i < nr; i++)
		ret = json_member_u64(out, counts[i].value, counts[i].nr);
	return ret || buf_append_char(out, '}');
}

static int put_queue(struct buf *out, const struct status *s)
{
	const struct admission_view *v = &s->now.admission;
	int ret = json_key(out, "admission") || buf_append_char(out, '{') ||
		  json_member_u64(out, "tokens", v->token_nr) ||
		  json_member_u64(out, "in_use", v->tokens_held) ||
		  json_member_u64(out, "queued", v->waiting) ||
		  buf_append_str(out, ",\"principals\":[");

	for (size_t i = 0; !ret && i < v->line_nr; i++)
		ret = begin_item(out, i) ||
		      json_member(out, "name", v->lines[i].name) ||
		      json_member_u64(out, "waiting", v->lines[i].waiting) ||
		      json_member_u64(out, "running", v->lines[i].running) ||
		      buf_append_char(out, '}');
	return ret || buf_append_str(out, "]}");
}

static int put_store(struct buf *out, const struct status *s)
{
	const struct status_store *t = &s->store;
	int ret;

	if (!t->is_used)
		return 0;
	ret = json_key(out, "store") || buf_append_char(out, '{') ||
	      json_member_u64(out, "requests", t->requests) ||
	      json_member_u64(out, "failures", t->failures) ||
	      json_member_u64(out, "received_bytes", t->received) ||
	      json_member_u64(out, "sent_bytes", t->sent);
	if (!ret && t->answered)
		ret = json_member_u64(out, "answer_age_seconds",
				      status_store_age(s));
	return ret || put_counts(out, "lookups", t->lookups, t->lookup_nr) ||
	       json_member_u64(out, "downloads", t->downloads) ||
	       json_member_u64(out, "evictions", t->evictions) ||
	       json_member_u64(out, "cache_bytes", t->bytes) ||
	       json_member_u64(out, "cache_limit_bytes", t->limit) ||
	       buf_append_char(out, '}');
}

int status_print_json(struct buf *out, const struct status *s)
{
	int ret = buf_append_char(out, '{') ||
		  json_member(out, "agent", s->agent) ||
		  json_member_u64(out, "connections", s->now.connections) ||
		  json_member_u64(out, "requests", s->now.requests) ||
		  json_member_u64(out, "responses_sending", s->now.sending) ||
		  json_member_u64(out, "snapshots", s->now.snapshots) ||
		  json_member_u64(out, "plan_bytes", s->now.plan_bytes) ||
		  put_queue(out, s) || put_workers(out, s) ||
		  put_flights(out, s) || put_costs(out, s) ||
		  put_slow(out, s) ||
		  put_counts(out, "bitmap_unused", s->reasons, s->reason_nr) ||
		  put_counts(out, "plan_lookups", s->plans, s->plan_nr) ||
		  put_store(out, s) || buf_append_str(out, "}\n");

	return ret ? ERR_NOMEM : 0;
}
