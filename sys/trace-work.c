/* SPDX-License-Identifier: MIT */
/* Events about the work of a process: regions, data, children, packets. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "sys/clock.h"
#include "sys/trace-line.h"

/* A snapshot of the state of the trace when an event happens, and the time. */
struct place {
	bool has_repo;
	/*
	 * number of open regions plus 1; 1: the event is outside of all regions
	 */
	unsigned nesting;
	uint64_t abs_ns;
	/* nanoseconds since the start of the innermost region */
	uint64_t rel_ns;
};

/* Returns the place of an event that happens now. The caller holds the lock. */
static struct place here_locked(const struct trace *t)
{
	uint64_t now = sys_clock_ns(), since = t->start_ns;

	if (t->nesting && t->nesting <= TRACE_NESTING_MAX)
		since = t->regions_ns[t->nesting - 1];
	return (struct place){.has_repo = t->has_repo,
			      .nesting = t->nesting + 1,
			      .abs_ns = now - t->start_ns,
			      .rel_ns = now - since};
}

/* Returns the place of an event that happens now. */
static struct place here(struct trace *t)
{
	struct place p;

	pthread_mutex_lock(&t->lock);
	p = here_locked(t);
	pthread_mutex_unlock(&t->lock);
	return p;
}

static struct trace_columns columns_of(const char *event, const char *category,
				       const struct place *p)
{
	return (struct trace_columns){
		.event = event,
		.abs = {p->abs_ns, true},
		.category = category,
		.has_repo = p->has_repo,
		.nesting = p->nesting,
	};
}

/* ---- regions */

static void put_region(struct trace *t, struct trace_at at,
		       const struct trace_columns *columns, const char *label)
{
	struct buf text = BUF_INIT, json = BUF_INIT;
	int ret = buf_printf(&text, "label:%s", label);

	if (!ret)
		trace_put_perf(t, at, columns, text.data);
	if (!ret && columns->has_repo)
		ret = json_member_u64(&json, "repo", 1);
	if (!ret && columns->rel.is_known)
		ret = trace_line_seconds(&json, "t_rel", columns->rel.ns);
	if (!ret)
		ret = json_member_u64(&json, "nesting", columns->nesting);
	if (!ret)
		ret = json_member(&json, "category", columns->category);
	if (!ret)
		ret = json_member(&json, "label", label);
	if (!ret && columns->nesting <= t->nesting_max)
		trace_put_event(t, at, TRACE_EVENT, columns->event, json.data);
	buf_release(&text);
	buf_release(&json);
}

void trace_region_enter_at(struct trace *t, struct trace_at at,
			   const char *category, const char *label)
{
	struct trace_columns columns;
	struct place p;

	pthread_mutex_lock(&t->lock);
	p = here_locked(t);
	if (t->nesting++ < TRACE_NESTING_MAX)
		t->regions_ns[t->nesting - 1] = t->start_ns + p.abs_ns;
	pthread_mutex_unlock(&t->lock);
	columns = columns_of("region_enter", category, &p);
	put_region(t, at, &columns, label);
}

void trace_region_leave_at(struct trace *t, struct trace_at at,
			   const char *category, const char *label)
{
	struct trace_columns columns;
	struct place p;

	pthread_mutex_lock(&t->lock);
	p = here_locked(t);
	t->nesting -= t->nesting > 0;
	p.nesting = t->nesting + 1;
	pthread_mutex_unlock(&t->lock);
	columns = columns_of("region_leave", category, &p);
	columns.rel = (struct trace_seconds){p.rel_ns, true};
	put_region(t, at, &columns, label);
}

/* ---- data */

/* Appends the members of a "data" event in JSON, except the member "value". */
static int put_data_members(struct buf *json, const struct place *p,
			    const char *category, const char *key)
{
	int ret = 0;

	if (p->has_repo)
		ret = json_member_u64(json, "repo", 1);
	if (!ret)
		ret = trace_line_seconds(json, "t_abs", p->abs_ns);
	if (!ret)
		ret = trace_line_seconds(json, "t_rel", p->rel_ns);
	if (!ret)
		ret = json_member_u64(json, "nesting", p->nesting);
	if (!ret)
		ret = json_member(json, "category", category);
	if (!ret)
		ret = json_member(json, "key", key);
	return ret ? ret : json_key(json, "value");
}

/*
 * Writes a "data" event. GIT_TRACE2_PERF shows `value`; GIT_TRACE2_EVENT shows
 * `json_value`.
 */
static void put_data(struct trace *t, struct trace_at at, const char *event,
		     const char *category, const char *key, const char *value,
		     const char *json_value, bool is_request)
{
	struct buf text = BUF_INIT, json = BUF_INIT;
	const struct place p = here(t);
	struct trace_columns columns = columns_of(event, category, &p);

	columns.rel = (struct trace_seconds){p.rel_ns, true};
	if (!buf_printf(&text, "%s:%s", key, value))
		trace_put_perf(t, at, &columns, text.data);
	if (!put_data_members(&json, &p, category, key) &&
	    !buf_append_str(&json, json_value)) {
		if (p.nesting <= t->nesting_max || is_request)
			trace_put_event(t, at, TRACE_EVENT, event, json.data);
		if (is_request)
			trace_put_event(t, at, TRACE_LOG, event, json.data);
	}
	buf_release(&text);
	buf_release(&json);
}

void trace_data_at(struct trace *t, struct trace_at at, const char *category,
		   const char *key, const char *value)
{
	struct buf json = BUF_INIT;

	if (!json_string(&json, value, strlen(value)))
		put_data(t, at, "data", category, key, value, json.data, false);
	buf_release(&json);
}

void trace_data_u64_at(struct trace *t, struct trace_at at,
		       const char *category, const char *key, uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, value);
	trace_data_at(t, at, category, key, text);
}

void trace_json_at(struct trace *t, struct trace_at at, const char *category,
		   const char *key, const char *json)
{
	put_data(t, at, "data_json", category, key, json, json, false);
}

void trace_request_at(struct trace *t, struct trace_at at, const char *json)
{
	put_data(t, at, "data_json", "gitreach", "request", json, json, true);
}

/* ---- other programs */

/* Writes "<what>: <words>" to GIT_TRACE, which hides no passwords. */
static void put_command(struct trace *t, struct trace_at at, const char *what,
			const char *const *argv)
{
	struct buf text = BUF_INIT;

	if (trace_wants(t, TRACE_GENERAL) && !buf_printf(&text, "%s: ", what) &&
	    !trace_line_words(&text, argv, false))
		trace_put_general(t, at, TRACE_GENERAL, "trace", text.data);
	buf_release(&text);
}

static int put_child_members(struct buf *json, const struct trace *t,
			     unsigned id, const char *const *argv,
			     const char *hook)
{
	int ret = json_member_u64(json, "child_id", id);

	if (!ret)
		ret = json_member(json, "child_class", hook ? "hook" : "?");
	if (!ret && hook)
		ret = json_member(json, "hook_name", hook);
	if (!ret)
		ret = json_member_bool(json, "use_shell", false);
	return ret ? ret
		   : trace_line_array(json, "argv", argv, !t->shows_passwords);
}

void trace_child_start_at(struct trace *t, struct trace_at at,
			  struct trace_child *child, const char *const *argv,
			  const char *hook)
{
	struct trace_columns columns = {.event = "child_start"};
	struct place p;
	struct buf words = BUF_INIT, text = BUF_INIT, json = BUF_INIT;

	pthread_mutex_lock(&t->lock);
	child->id = t->child_nr++;
	p = here_locked(t);
	pthread_mutex_unlock(&t->lock);
	columns.abs = (struct trace_seconds){p.abs_ns, true};
	columns.nesting = p.nesting;
	child->start_ns = t->start_ns + p.abs_ns;
	put_command(t, at, "run_command", argv);
	if (trace_line_words(&words, argv, !t->shows_passwords) < 0)
		goto out;
	if (!buf_printf(&text, "child_start[%u]", child->id))
		trace_put_normal(t, at, text.data, words.data);
	buf_reset(&text);
	if (!buf_printf(&text, "[ch%u] class:%s%s argv:[%s]", child->id,
			hook ? "hook hook:" : "?", hook ? hook : "",
			words.data))
		trace_put_perf(t, at, &columns, text.data);
	if (!put_child_members(&json, t, child->id, argv, hook))
		trace_put_event(t, at, TRACE_EVENT, columns.event, json.data);
out:
	buf_release(&words);
	buf_release(&text);
	buf_release(&json);
}

void trace_child_exit_at(struct trace *t, struct trace_at at,
			 const struct trace_child *child, pid_t pid, int code)
{
	const struct place p = here(t);
	struct trace_columns columns = {.event = "child_exit",
					.abs = {p.abs_ns, true},
					.nesting = p.nesting};
	struct buf name = BUF_INIT, text = BUF_INIT, json = BUF_INIT;

	columns.rel = (struct trace_seconds){
		t->start_ns + columns.abs.ns - child->start_ns, true};
	if (!buf_printf(&name, "child_exit[%u]", child->id) &&
	    !buf_printf(&text, "pid:%ld code:%d elapsed:%.6f", (long)pid, code,
			(double)columns.rel.ns / 1e9))
		trace_put_normal(t, at, name.data, text.data);
	buf_reset(&text);
	if (!buf_printf(&text, "[ch%u] pid:%ld code:%d", child->id, (long)pid,
			code))
		trace_put_perf(t, at, &columns, text.data);
	if (!json_member_u64(&json, "child_id", child->id) &&
	    !buf_printf(&json, ",\"pid\":%ld,\"code\":%d", (long)pid, code) &&
	    !trace_line_seconds(&json, "t_rel", columns.rel.ns))
		trace_put_event(t, at, TRACE_EVENT, columns.event, json.data);
	buf_release(&name);
	buf_release(&text);
	buf_release(&json);
}

void trace_exec_at(struct trace *t, struct trace_at at, unsigned *exec_id,
		   const char *exe, const char *const *argv)
{
	struct trace_columns columns = {.event = "exec",
					.abs = trace_elapsed(t)};
	struct buf name = BUF_INIT, words = BUF_INIT, json = BUF_INIT;
	struct buf text = BUF_INIT;
	unsigned id;

	pthread_mutex_lock(&t->lock);
	id = t->exec_nr++;
	pthread_mutex_unlock(&t->lock);
	*exec_id = id;
	put_command(t, at, "exec", argv);
	if (trace_line_words(&words, argv, !t->shows_passwords) < 0)
		goto out;
	if (!buf_printf(&name, "exec[%u]", id) &&
	    !buf_printf(&text, "%s %s", exe, words.data))
		trace_put_normal(t, at, name.data, text.data);
	buf_reset(&text);
	if (!buf_printf(&text, "id:%u exec:%s argv:[%s]", id, exe, words.data))
		trace_put_perf(t, at, &columns, text.data);
	if (!json_member_u64(&json, "exec_id", id) &&
	    !json_member(&json, "exe", exe) &&
	    !trace_line_array(&json, "argv", argv, !t->shows_passwords))
		trace_put_event(t, at, TRACE_EVENT, columns.event, json.data);
out:
	buf_release(&name);
	buf_release(&words);
	buf_release(&text);
	buf_release(&json);
}

void trace_exec_result_at(struct trace *t, struct trace_at at, unsigned exec_id,
			  int sys_errno)
{
	struct trace_columns columns = {.event = "exec_result",
					.abs = trace_elapsed(t)};
	struct buf text = BUF_INIT, json = BUF_INIT;

	if (!buf_printf(&text, "id:%u code:%d", exec_id, sys_errno)) {
		trace_put_normal(t, at, columns.event, text.data);
		trace_put_perf(t, at, &columns, text.data);
	}
	if (!json_member_u64(&json, "exec_id", exec_id) &&
	    !buf_printf(&json, ",\"code\":%d", sys_errno))
		trace_put_event(t, at, TRACE_EVENT, columns.event, json.data);
	buf_release(&text);
	buf_release(&json);
}

/* ---- packets */

void trace_packet_at(struct trace *t, struct trace_at at, const char *who,
		     bool is_sent, const char *bytes, size_t len)
{
	struct buf text = BUF_INIT;

	if (!trace_wants(t, TRACE_PACKET))
		return;
	if (len && bytes[len - 1] == '\n')
		len--;
	if (!buf_printf(&text, "%12s%c ", who, is_sent ? '>' : '<') &&
	    !trace_line_escaped(&text, bytes, len))
		trace_put_general(t, at, TRACE_PACKET, "packet", text.data);
	buf_release(&text);
}
