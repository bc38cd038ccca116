/* SPDX-License-Identifier: MIT */
/* Talks with the proc-receive hook. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/affix.h"
#include "base/buf.h"
#include "base/mem.h"
#include "receive/receive-hooks.h"
#include "receive/receive-parts.h"
#include "repo/hook.h"
#include "sys/io.h"
#include "sys/spawn.h"
#include "sys/thread.h"
#include "wire/fdio.h"

/* maximum bytes of messages about the hook's report */
#define MESSAGES_MAX (64 << 10)
/* maximum bytes that are read from the hook's standard error at once */
#define ERRORS_MAX 4096

/*
 * One run of the proc-receive hook, with two threads. One thread exchanges
 * pkt-lines with the hook. The other thread reads the hook's standard error.
 * The threads share only the side band to the client.
 */
struct proc {
	struct receive *r;
	struct sys_child child;
	struct pktline_reader in;
	struct pktline_writer out;
	/*
	 * Messages about the hook's report are sent after the hook's standard
	 * error has ended. If a message was sent earlier, it could end up
	 * inside a line of the hook's standard error.
	 */
	struct receive_proc_report report;
	/* true: the hook supports the feature push-options */
	bool options;
	bool has_report; /* reading the report began */
	/* why the talk with the hook ended early; code 0: it did not */
	struct error failure;
	/*
	 * true: a line of the hook's report is malformed, or refuses a command
	 */
	bool is_wrong;
};

enum { PROC_TALK, PROC_ERRORS, PROC_TASKS };

/* ---- choosing commands */

static bool matches(const struct receive_proc_ref *p,
		    const struct receive_command *cmd)
{
	if (oid_is_zero(&cmd->new_oid)   ? !p->deletes
	    : oid_is_zero(&cmd->old_oid) ? !p->creates
					 : !p->changes)
		return false;
	return is_at_or_below(cmd->ref, p->prefix) != p->is_negated;
}

void receive_proc_choose(struct receive *r)
{
	const struct receive_config *config = &r->config;

	for (size_t i = 0; i < r->request.nr; i++) {
		struct receive_command *cmd = &r->request.commands[i];

		for (size_t k = 0; k < config->proc_ref_nr; k++)
			if (!cmd->error && matches(&config->proc_refs[k], cmd))
				cmd->by_hook = true;
	}
}

static bool is_for_hook(const struct receive_command *cmd)
{
	return cmd->by_hook && !cmd->error && !cmd->is_alias;
}

/* ---- reading the report */

/*
 * Returns the rewrite (the ref update that the hook made instead of the
 * command) that an "option" line belongs to. The first "option" line after a
 * status line makes a new rewrite. Returns NULL if there is no memory.
 */
static struct receive_rewrite *rewrite_of(struct receive_command *cmd)
{
	if (cmd->in_rewrite)
		return &cmd->rewrites[cmd->rewrite_nr - 1];
	if (mem_grow(&cmd->rewrites, &cmd->rewrite_alloc, cmd->rewrite_nr + 1,
		     sizeof(*cmd->rewrites)) < 0)
		return NULL;
	cmd->rewrites[cmd->rewrite_nr] = (struct receive_rewrite){0};
	cmd->in_rewrite = true;
	return &cmd->rewrites[cmd->rewrite_nr++];
}

static int take_option(struct receive_command *cmd, enum hash_algo algo,
		       const char *name, const char *value)
{
	struct receive_rewrite *rewrite = rewrite_of(cmd);

	if (!rewrite)
		return ERR_NOMEM;
	if (!strcmp(name, "fall-through"))
		cmd->by_hook = cmd->is_told = false;
	else if (!strcmp(name, "forced-update"))
		rewrite->is_forced = true;
	else if (value && !strcmp(name, "old-oid"))
		rewrite->has_old |= oid_from_hex(&rewrite->old_oid, value,
						 strlen(value), algo);
	else if (value && !strcmp(name, "new-oid"))
		rewrite->has_new |= oid_from_hex(&rewrite->new_oid, value,
						 strlen(value), algo);
	if (strcmp(name, "refname") != 0)
		return 0;
	free(rewrite->ref);
	rewrite->ref = value ? mem_strdup(value) : NULL;
	return rewrite->ref || !value ? 0 : ERR_NOMEM;
}

/*
 * Append a message about the hook's report. Returns 1 on success, or ERR_NOMEM.
 */
__attribute__((format(printf, 2, 3))) static int complain(
	struct receive_proc_report *report, const char *fmt, ...)
{
	va_list ap;
	int ret = 0;

	va_start(ap, fmt);
	if (!report->has_message)
		ret = buf_append_str(&report->messages, "error: ");
	if (!ret)
		ret = buf_vprintf(&report->messages, fmt, ap);
	va_end(ap);
	report->has_message = true;
	return ret < 0 ? ERR_NOMEM : 1;
}

/*
 * Returns whether the hook may report the status of a command. The hook may
 * report a status more than once; the last one counts. A command that was
 * refused before the hook ran gets no status.
 */
static bool takes_status(const struct receive_command *cmd)
{
	return cmd->by_hook && !cmd->is_alias && (!cmd->error || cmd->is_told);
}

/* Parse a status line of the hook's report: "ok <ref>" or "ng <ref> <why>". */
static int take_status(struct receive_proc_report *report, struct receive *r,
		       const char *status, const char *ref, const char *why)
{
	struct receive_command *cmd;
	const char *wrong = NULL;
	char quoted[PKTLINE_QUOTE_MAX], other[PKTLINE_QUOTE_MAX];
	int found;

	report->at = NULL;
	pktline_quote(quoted, ref);
	if (strcmp(status, "ok") != 0 && strcmp(status, "ng") != 0) {
		return complain(report,
				"proc-receive reported bad status '%s' on "
				"ref '%s'\n",
				pktline_quote(other, status), quoted);
	}
	found = receive_request_find(&cmd, &r->request, ref);
	if (found < 0)
		return found;
	if (!found)
		wrong = "unknown";
	else if (!takes_status(cmd))
		wrong = "unexpected";
	if (wrong) {
		return complain(report,
				"proc-receive reported status on %s ref: "
				"%s\n",
				wrong, quoted);
	}
	cmd->is_told = true;
	cmd->in_rewrite = false;
	if (*status == 'o') {
		report->at = cmd;
		return 0;
	}
	/* The last reason counts. */
	free(cmd->error);
	cmd->error = NULL;
	return receive_refuse(cmd, why ? why : "failed") < 0 ? ERR_NOMEM : 1;
}

/*
 * End `text` at its first space. Returns the text after the space, or NULL if
 * there is no space.
 */
static char *split_space(char *text)
{
	char *space = text ? strchr(text, ' ') : NULL;

	if (space)
		*space++ = '\0';
	return space;
}

static int complain_of_option(struct receive_proc_report *report)
{
	if (report->has_stray_option)
		return 1;
	report->has_stray_option = true;
	return complain(report, "proc-receive reported 'option' without a "
				"matching 'ok/ng' directive\n");
}

int receive_proc_take(struct receive_proc_report *report, struct receive *r,
		      char *line)
{
	char quoted[PKTLINE_QUOTE_MAX];
	char *name = split_space(line), *value;

	if (!name) {
		return complain(report,
				"proc-receive reported incomplete status "
				"line: '%s'\n",
				pktline_quote(quoted, line));
	}
	value = split_space(name);
	if (strcmp(line, "option") != 0)
		return take_status(report, r, line, name, value);
	if (report->at)
		return take_option(report->at, r->repo->algo, name, value);
	return complain_of_option(report);
}

static void send_messages(struct proc *p)
{
	if (p->report.messages.len)
		receive_peer_tell_text(&p->r->peer, p->report.messages.data,
				       p->report.messages.len, NULL);
	buf_reset(&p->report.messages);
}

static int read_report(struct proc *p, struct error *err)
{
	struct pktline pkt;
	int ret;

	for (;;) {
		char *line;

		ret = pktline_read(&p->in, &pkt, err);
		if (ret < 0 || pkt.kind != PKTLINE_DATA)
			return ret < 0 ? ret : 0;
		line = mem_strndup(pkt.data, pkt.len);
		if (!line)
			return error_nomem(err);
		ret = receive_proc_take(&p->report, p->r, line);
		free(line);
		if (ret < 0)
			return error_nomem(err);
		p->is_wrong |= ret > 0;
		if (p->report.messages.len > MESSAGES_MAX)
			send_messages(p);
	}
}

/* ---- sending commands */

static int send_version(struct proc *p, struct error *err)
{
	static const char version[] = "version=1";
	const struct receive_request *req = &p->r->request;
	struct buf line = BUF_INIT;
	bool has_features = req->has_options || req->atomic;
	int ret = buf_append(&line, version, sizeof(version) - !has_features);

	if (!ret && req->has_options)
		ret = buf_append_str(&line, "push-options");
	if (!ret && req->atomic)
		ret = buf_append_str(&line,
				     req->has_options ? " atomic" : "atomic");
	if (!ret)
		ret = buf_append_char(&line, '\n');
	ret = ret < 0 ? error_nomem(err)
		      : pktline_write(&p->out, line.data, line.len, err);
	buf_release(&line);
	if (!ret)
		ret = pktline_write_flush(&p->out, err);
	return ret ? ret : pktline_send(&p->out, err);
}

/*
 * Read the protocol version that the hook supports. If the hook sends no
 * version, version 1 is assumed.
 */
static int read_version(struct proc *p, struct error *err)
{
	struct pktline pkt;
	long version = 1;
	int ret = pktline_read(&p->in, &pkt, err);

	if (ret == ERR_PEER && p->in.ended)
		return error_set(err, ERR_PEER,
				 "fail to negotiate version with proc-receive "
				 "hook");
	for (; !ret && pkt.kind == PKTLINE_DATA;
	     ret = pktline_read(&p->in, &pkt, err)) {
		const char *features = memchr(pkt.data, '\0', pkt.len);

		if (strncmp(pkt.data, "version=", 8) != 0)
			continue;
		version = strtol(pkt.data + 8, NULL, 10);
		if (features && strstr(features + 1, "push-options"))
			p->options = p->r->request.has_options;
	}
	if (!ret && pkt.kind == PKTLINE_EOF)
		return error_set(err, ERR_PEER,
				 "fail to negotiate version with proc-receive "
				 "hook");
	if (!ret && version != 1)
		return error_set(err, ERR_PEER,
				 "proc-receive version '%ld' is not supported",
				 version);
	return ret;
}

static int send_commands(struct proc *p, struct error *err)
{
	const struct receive_request *req = &p->r->request;
	char old_hex[OID_MAX_HEX_LEN + 1], new_hex[OID_MAX_HEX_LEN + 1];
	int ret = 0;

	for (size_t i = 0; !ret && i < req->nr; i++) {
		const struct receive_command *cmd = &req->commands[i];

		if (is_for_hook(cmd))
			ret = pktline_printf(
				&p->out, err, "%s %s %s",
				oid_to_hex(old_hex, &cmd->old_oid, req->algo),
				oid_to_hex(new_hex, &cmd->new_oid, req->algo),
				cmd->ref);
	}
	if (!ret)
		ret = pktline_write_flush(&p->out, err);
	for (size_t i = 0; !ret && p->options && i < req->option_nr; i++)
		ret = pktline_printf(&p->out, err, "%s", req->options[i]);
	if (!ret && p->options)
		ret = pktline_write_flush(&p->out, err);
	return ret ? ret : pktline_send(&p->out, err);
}

/*
 * Replace the error message after a failed write to the hook, because the
 * original message speaks of a client. `what` says which write failed.
 */
static int explain(int ret, const char *what, struct error *err)
{
	if (ret >= 0 || ret == ERR_NOMEM)
		return ret;
	return error_set(err, ret, "fail to %s proc-receive hook", what);
}

static int talk(struct proc *p, struct error *err)
{
	int ret = explain(send_version(p, err), "negotiate version with", err);

	if (!ret)
		ret = read_version(p, err);
	if (!ret)
		ret = explain(send_commands(p, err), "write commands to", err);
	if (ret)
		return ret;
	p->has_report = true;
	return read_report(p, err);
}

/* ---- running the hook */

/*
 * Send the hook's standard error to the client. The output is read to the end
 * even if the client is gone, because a full pipe would block the hook.
 */
static void forward_errors(struct proc *p)
{
	char bytes[ERRORS_MAX];
	ssize_t n;

	while ((n = sys_read_some(p->child.err, bytes, sizeof(bytes),
				  "proc-receive", NULL)) > 0)
		receive_peer_tell_text(&p->r->peer, bytes, (size_t)n, NULL);
}

/*
 * Do one of the two tasks of struct proc; each task runs in a thread of its
 * own. Returns 0 even after an error: otherwise the other task might not start,
 * and the hook's standard error would be lost. At the end of the talk, the
 * hook's input is closed. So the hook knows that nothing more will come.
 */
static int do_task(void *ctx, unsigned thread_nr, size_t task_nr,
		   struct error *err)
{
	struct proc *p = ctx;

	if (task_nr == PROC_TALK) {
		if (!talk(p, &p->failure))
			p->failure.code = 0;
		sys_spawn_close_in(&p->child);
		sys_close(p->child.out);
		p->child.out = -1;
	} else if (p->child.err >= 0) {
		forward_errors(p);
	}
	return 0;
}

/*
 * Run the two threads of struct proc, and send keep-alives meanwhile. Returns 0
 * or a negative error code.
 */
static int converse(struct proc *p, struct error *err)
{
	struct receive *r = p->r;
	struct fdio fdio = {.in = p->child.out, .out = p->child.in};
	const struct serve_io io = fdio_io(&fdio);
	struct sys_ticker *ticker = NULL;
	int ret = pktline_reader_init(&p->in, &io);

	pktline_writer_init(&p->out, &io);
	if (ret < 0)
		error_nomem(err);
	else
		ret = receive_peer_start_ticker(&ticker, &r->peer,
						r->config.keep_alive, err);
	if (!ret)
		ret = sys_parallel(PROC_TASKS, PROC_TASKS, do_task, p, err);
	if (!ret && p->failure.code) {
		*err = p->failure;
		ret = err->code;
	}
	sys_ticker_stop(ticker);
	pktline_writer_release(&p->out);
	pktline_reader_release(&p->in);
	return ret;
}

/* Tell the client why the hook did not run to its end. */
static int tell_end(struct proc *p, const struct hook_program *program,
		    struct error *err)
{
	struct buf text = BUF_INIT;
	int ret = repo_hook_describe_end(&text, program, &p->child);

	if (ret < 0)
		error_nomem(err);
	else if (ret)
		receive_peer_tell(&p->r->peer, "%s", text.data);
	buf_release(&text);
	return ret < 0 ? ret : 0;
}

/*
 * Start the hook at `path` and wait for its end. Returns its exit code, which
 * is 1 if the hook could not be started, or a negative error code.
 */
static int run(struct proc *p, char *path, struct error *err)
{
	struct receive *r = p->r;
	char *argv[] = {path, NULL};
	const struct hook_program program = {(const char *const *)argv, path};
	struct receive_environment env;
	unsigned flags = SYS_SPAWN_PIPE_IN | SYS_SPAWN_PIPE_OUT;
	int ret = receive_environment_init(&env, r, RECEIVE_ENV_QUARANTINE,
					   NULL, err),
	    status;

	if (receive_peer_has_band(&r->peer))
		flags |= SYS_SPAWN_PIPE_ERR;
	if (!ret)
		ret = sys_spawn(&p->child, argv, env.strings, flags, err);
	receive_environment_release(&env);
	if (ret < 0 && p->child.error_nr)
		return tell_end(p, &program, err) < 0 ? ERR_NOMEM : 1;
	if (ret < 0)
		return ret;
	ret = converse(p, err);
	send_messages(p);
	status = sys_spawn_wait(&p->child, ret < 0 ? NULL : err);
	if (tell_end(p, &program, ret < 0 ? NULL : err) < 0 && !ret)
		ret = ERR_NOMEM;
	return ret < 0 ? ret : status;
}

/*
 * Run the hook. Returns 0 if the hook succeeded, or ERR_NOMEM. Returns a
 * positive number if there is no hook, if the hook failed, or if its report is
 * malformed or refuses a command.
 */
static int run_hook(struct proc *p, struct error *err)
{
	struct error why = ERROR_INIT;
	char *path;
	int ret = receive_hook_find(&path, p->r, "proc-receive", err);

	if (ret < 0)
		return ret;
	if (!ret) {
		receive_peer_tell(&p->r->peer,
				  "error: cannot find hook 'proc-receive'\n");
		return 1;
	}
	ret = run(p, path, &why);
	free(path);
	if (ret == ERR_NOMEM)
		return error_nomem(err);
	if (ret < 0)
		receive_peer_tell_failure(&p->r->peer, why.code, why.msg);
	return ret || p->is_wrong;
}

/*
 * Refuse the commands that the hook had to execute and for which it reported no
 * result. If the push is atomic and the hook failed, also refuse the other
 * commands.
 */
static int settle(struct receive_request *req, bool failed, bool had_report)
{
	int ret = 0;

	for (size_t i = 0; !ret && had_report && i < req->nr; i++)
		if (is_for_hook(&req->commands[i]) &&
		    !req->commands[i].is_told) {
			ret = receive_refuse(&req->commands[i],
					     "proc-receive failed to report "
					     "status");
			failed = true;
		}
	for (size_t i = 0; !ret && failed && i < req->nr; i++) {
		struct receive_command *cmd = &req->commands[i];

		if (!cmd->error && !cmd->is_told &&
		    (cmd->by_hook || req->atomic))
			ret = receive_refuse(cmd,
					     "fail to run proc-receive hook");
	}
	return ret;
}

int receive_proc_run(struct receive *r, struct error *err)
{
	struct proc p = {
		.r = r,
		.child = {.pid = -1, .in = -1, .out = -1, .err = -1},
		.report = RECEIVE_PROC_REPORT_INIT,
	};
	size_t nr = 0;
	int ret;

	for (size_t i = 0; i < r->request.nr; i++)
		nr += is_for_hook(&r->request.commands[i]);
	if (!nr)
		return 0;
	ret = run_hook(&p, err);
	receive_refresh(r);
	buf_release(&p.report.messages);
	if (ret >= 0 && settle(&r->request, ret > 0, p.has_report) < 0)
		ret = error_nomem(err);
	return ret < 0 ? ret : 0;
}
