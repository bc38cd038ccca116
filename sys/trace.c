/* SPDX-License-Identifier: MIT */
/*
 * Writes events in the format of each open target. Each line is composed in its
 * own buffer, and dropped if memory runs out.
 */
#include <inttypes.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "sys/clock.h"
#include "sys/trace-line.h"

/*
 * Widths of the column "<file>:<line>": NORMAL_WIDTH in the lines of
 * GIT_TRACE2, GENERAL_WIDTH in those of GIT_TRACE.
 */
#define NORMAL_WIDTH 34
#define GENERAL_WIDTH 24

/*
 * The default of trace2.eventNesting. Events of regions that are nested deeper
 * than this limit are not written.
 */
#define NESTING_DEFAULT 2

void trace_init(struct trace *t, const char *sid, uint64_t start_ns)
{
	*t = (struct trace){
		.nesting_max = NESTING_DEFAULT,
		.start_ns = start_ns,
		.sid = sid,
	};
	for (int i = 0; i < TRACE_TARGET_NR; i++)
		t->files[i] = (struct trace_file)TRACE_FILE_INIT;
	for (const char *p = sid; *p; p++)
		t->depth += *p == '/';
	pthread_mutex_init(&t->lock, NULL);
}

void trace_init_thread(struct trace *t, const struct trace *whole)
{
	trace_init(t, whole->sid, whole->start_ns);
	for (int i = 0; i < TRACE_TARGET_NR; i++) {
		t->files[i].fd = whole->files[i].fd;
		t->is_brief[i] = whole->is_brief[i];
	}
	t->shows_passwords = whole->shows_passwords;
	t->nesting_max = whole->nesting_max;
}

void trace_release(struct trace *t)
{
	for (int i = 0; i < TRACE_TARGET_NR; i++)
		trace_file_close(&t->files[i]);
	pthread_mutex_destroy(&t->lock);
}

bool trace_is_on(const struct trace *t)
{
	for (int i = 0; i < TRACE_TARGET_NR; i++)
		if (t->files[i].fd >= 0)
			return true;
	return false;
}

struct trace_seconds trace_elapsed(const struct trace *t)
{
	return (struct trace_seconds){sys_clock_ns() - t->start_ns, true};
}

/* ---- writing a line to each trace target that is open */

/*
 * Ends a line of a trace and writes it to a target. `ret` is the result of
 * composing the line; if it is an error code, the line is dropped.
 */
static void finish(const struct trace *t, enum trace_target target,
		   struct buf *line, int ret)
{
	if (!ret && !buf_append_char(line, '\n'))
		trace_file_append(&t->files[target], line->data, line->len);
	buf_release(line);
}

static int begin_normal(struct buf *line, const struct trace *t,
			struct trace_at at, const char *event)
{
	int ret = 0;

	if (!t->is_brief[TRACE_NORMAL])
		ret = trace_line_begin(line, at, NORMAL_WIDTH);
	return ret ? ret : buf_append_str(line, event);
}

void trace_put_normal(struct trace *t, struct trace_at at, const char *event,
		      const char *text)
{
	struct buf line = BUF_INIT;
	int ret;

	if (!trace_wants(t, TRACE_NORMAL))
		return;
	ret = begin_normal(&line, t, at, event);
	if (!ret)
		ret = buf_printf(&line, " %s", text);
	finish(t, TRACE_NORMAL, &line, ret);
}

void trace_put_perf(struct trace *t, struct trace_at at,
		    const struct trace_columns *columns, const char *text)
{
	struct buf line = BUF_INIT;
	int ret;

	if (!trace_wants(t, TRACE_PERF))
		return;
	ret = trace_line_perf(&line, t, at, columns);
	if (!ret)
		ret = buf_append_str(&line, text);
	finish(t, TRACE_PERF, &line, ret);
}

void trace_put_event(struct trace *t, struct trace_at at,
		     enum trace_target target, const char *event,
		     const char *members)
{
	struct buf line = BUF_INIT;
	int ret;

	if (!trace_wants(t, target))
		return;
	ret = trace_line_event(&line, t, at, event, t->is_brief[target]);
	if (!ret)
		ret = buf_printf(&line, "%s}", members);
	finish(t, target, &line, ret);
}

void trace_put_general(struct trace *t, struct trace_at at,
		       enum trace_target target, const char *kind,
		       const char *text)
{
	struct buf line = BUF_INIT;
	int ret;

	if (!trace_wants(t, target))
		return;
	ret = trace_line_begin(&line, at, GENERAL_WIDTH);
	if (!ret)
		ret = buf_printf(&line, "%s: %s", kind, text);
	finish(t, target, &line, ret);
}

/*
 * Writes an event to the open targets of trace2. `text` is for GIT_TRACE2 and
 * GIT_TRACE2_PERF. `json` has the members of a JSON event. `ret` is the result
 * of composing these buffers; if it is an error code, nothing is written. Both
 * buffers are released.
 */
static void put(struct trace *t, struct trace_at at,
		const struct trace_columns *columns, struct buf *text,
		struct buf *json, int ret)
{
	if (!ret) {
		trace_put_normal(t, at, columns->event, text->data);
		trace_put_perf(t, at, columns, text->data);
		trace_put_event(t, at, TRACE_EVENT, columns->event, json->data);
	}
	buf_release(text);
	buf_release(json);
}

/* ---- events about the life of a process */

void trace_version_at(struct trace *t, struct trace_at at, const char *exe)
{
	struct buf text = BUF_INIT, json = BUF_INIT;
	int ret = buf_append_str(&text, exe);

	if (!ret)
		ret = json_member(&json, "evt", "4");
	if (!ret)
		ret = json_member(&json, "exe", exe);
	put(t, at, &(struct trace_columns){.event = "version"}, &text, &json,
	    ret);
}

void trace_too_many_files_at(struct trace *t, struct trace_at at)
{
	trace_put_event(t, at, TRACE_EVENT, "too_many_files", "");
}

void trace_start_at(struct trace *t, struct trace_at at,
		    const char *const *argv)
{
	struct trace_columns columns = {.event = "start",
					.abs = trace_elapsed(t)};
	struct buf text = BUF_INIT, json = BUF_INIT;
	int ret = trace_line_words(&text, argv, !t->shows_passwords);

	if (!ret)
		ret = trace_line_seconds(&json, "t_abs", columns.abs.ns);
	if (!ret)
		ret = trace_line_array(&json, "argv", argv,
				       !t->shows_passwords);
	put(t, at, &columns, &text, &json, ret);
}

static int join(struct buf *out, const char *const *names, const char *between)
{
	int ret = 0;

	for (size_t i = 0; !ret && names[i]; i++)
		ret = buf_printf(out, "%s%s", i ? between : "", names[i]);
	return ret;
}

void trace_ancestry_at(struct trace *t, struct trace_at at,
		       const char *const *names)
{
	struct trace_columns columns = {.event = "cmd_ancestry"};
	struct buf normal = BUF_INIT, perf = BUF_INIT, json = BUF_INIT;
	int ret = join(&normal, names, " <- ");

	if (!ret)
		ret = buf_append_str(&perf, "ancestry:[");
	if (!ret)
		ret = join(&perf, names, " ");
	if (!ret)
		ret = buf_append_char(&perf, ']');
	if (!ret)
		ret = trace_line_array(&json, "ancestry", names, false);
	if (!ret) {
		trace_put_normal(t, at, columns.event, normal.data);
		trace_put_perf(t, at, &columns, perf.data);
		trace_put_event(t, at, TRACE_EVENT, columns.event, json.data);
	}
	buf_release(&normal);
	buf_release(&perf);
	buf_release(&json);
}

void trace_name_at(struct trace *t, struct trace_at at, const char *name,
		   const char *hierarchy)
{
	struct buf text = BUF_INIT, json = BUF_INIT;
	int ret = buf_printf(&text, "%s (%s)", name, hierarchy);

	if (!ret)
		ret = json_member(&json, "name", name);
	if (!ret)
		ret = json_member(&json, "hierarchy", hierarchy);
	put(t, at, &(struct trace_columns){.event = "cmd_name"}, &text, &json,
	    ret);
}

void trace_builtin_at(struct trace *t, struct trace_at at,
		      const char *const *argv)
{
	struct buf words = BUF_INIT;

	if (trace_wants(t, TRACE_GENERAL) &&
	    !buf_append_str(&words, "built-in: git ") &&
	    !trace_line_words(&words, argv, false))
		trace_put_general(t, at, TRACE_GENERAL, "trace", words.data);
	buf_release(&words);
}

void trace_param_at(struct trace *t, struct trace_at at, const char *scope,
		    const char *param, const char *value)
{
	struct trace_columns columns = {.event = "def_param"};
	struct buf text = BUF_INIT, category = BUF_INIT, json = BUF_INIT;
	struct buf shown = BUF_INIT;
	int ret;

	if (!scope)
		scope = "unknown";
	ret = buf_printf(&category, "scope:%s", scope);
	columns.category = category.data;
	if (!ret)
		ret = trace_line_word(&shown, value, !t->shows_passwords);
	if (!ret)
		ret = json_member(&json, "scope", scope);
	if (!ret)
		ret = json_member(&json, "param", param);
	if (!ret)
		ret = json_member(&json, "value", shown.data);
	if (!ret &&
	    !buf_printf(&text, "%s %s=%s", category.data, param, shown.data))
		trace_put_normal(t, at, columns.event, text.data);
	buf_reset(&text);
	if (!ret && !buf_printf(&text, "%s:%s", param, shown.data))
		trace_put_perf(t, at, &columns, text.data);
	if (!ret)
		trace_put_event(t, at, TRACE_EVENT, columns.event, json.data);
	buf_release(&text);
	buf_release(&category);
	buf_release(&shown);
	buf_release(&json);
}

void trace_repo_at(struct trace *t, struct trace_at at, const char *worktree)
{
	struct trace_columns columns = {.event = "def_repo", .has_repo = true};
	struct buf text = BUF_INIT, json = BUF_INIT;

	pthread_mutex_lock(&t->lock);
	t->has_repo = true;
	pthread_mutex_unlock(&t->lock);
	trace_put_normal(t, at, "worktree", worktree);
	if (!buf_printf(&text, "worktree:%s", worktree))
		trace_put_perf(t, at, &columns, text.data);
	if (!json_member_u64(&json, "repo", 1) &&
	    !json_member(&json, "worktree", worktree))
		trace_put_event(t, at, TRACE_EVENT, columns.event, json.data);
	buf_release(&text);
	buf_release(&json);
}

void trace_error_at(struct trace *t, struct trace_at at, const char *fmt,
		    const char *msg)
{
	struct buf text = BUF_INIT, json = BUF_INIT;
	int ret = buf_append_str(&text, msg);

	if (!ret)
		ret = json_member(&json, "msg", msg);
	if (!ret)
		ret = json_member(&json, "fmt", fmt);
	put(t, at, &(struct trace_columns){.event = "error"}, &text, &json,
	    ret);
}

static void put_exit(struct trace *t, struct trace_at at, const char *event,
		     int code)
{
	struct trace_columns columns = {.event = event,
					.abs = trace_elapsed(t)};
	struct buf text = BUF_INIT, json = BUF_INIT;

	if (!buf_printf(&text, "elapsed:%.6f code:%d",
			(double)columns.abs.ns / 1e9, code))
		trace_put_normal(t, at, event, text.data);
	buf_reset(&text);
	if (!buf_printf(&text, "code:%d", code))
		trace_put_perf(t, at, &columns, text.data);
	if (!trace_line_seconds(&json, "t_abs", columns.abs.ns) &&
	    !buf_printf(&json, ",\"code\":%d", code))
		trace_put_event(t, at, TRACE_EVENT, event, json.data);
	buf_release(&text);
	buf_release(&json);
}

void trace_exit_at(struct trace *t, struct trace_at at, int code)
{
	put_exit(t, at, "exit", code);
	put_exit(t, at, "atexit", code);
}
