/* SPDX-License-Identifier: MIT */
/*
 * The master: starts the workers and the relay, replaces a process that ends,
 * and acts on signals. The master serves no request, has no threads and stays
 * small, so that forking it is cheap.
 *
 *	SIGTERM, SIGINT   workers drain, then the master ends
 *	SIGHUP            new options: new workers start, then old ones drain
 *	SIGUSR2           a successor starts; when it is ready, workers drain,
 *	                  then the master ends
 *
 * A worker that drains accepts no connections, and ends after its requests.
 * After SIGTERM, workers that need longer than options->drain_timeout are
 * killed. After SIGHUP and SIGUSR2, new workers serve, so there is no limit.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "daemon/suspects.h"
#include "processes/master.h"
#include "processes/processes-parts.h"
#include "processes/settings.h"
#include "status/board.h"
#include "status/statistics.h"
#include "sys/clock.h"
#include "sys/event.h"
#include "sys/io.h"
#include "sys/notify.h"
#include "sys/process.h"
#include "sys/spawn.h"
#include "wire/pktline.h"

#define MS_NS UINT64_C(1000000)
#define SECOND_NS UINT64_C(1000000000)

/* milliseconds between two checks of the clock, while a time limit runs */
#define TICK_MS 50

/*
 * Minimum and maximum nanoseconds before processes that have failed are started
 * again.
 */
#define PAUSE_NS (SECOND_NS / 2)
#define PAUSE_MAX_NS (30 * SECOND_NS)

/* number of status requests that are answered at the same time */
#define ADMIN_THREADS 4

/* The task of a process of the server. */
enum role {
	ROLE_WORKER,
	ROLE_ADMIN, /* answers --admin */
	/* sends requests of pushes to the store (processes/relay.c) */
	ROLE_RELAY,
};

struct process {
	pid_t pid;
	/*
	 * from status_board_take(): the memory in which the worker shows its
	 * requests; NULL: the relay has none
	 */
	struct status_board *board;
	enum role role;
	bool is_draining;
	/* the time at which a process that drains is killed; 0: no limit */
	uint64_t kill_ns;
	bool is_killed; /* kill_late() has killed the process */
	/* master.generation when the process was started */
	unsigned generation;
};

struct master {
	const struct daemon_options *options;
	const struct daemon_program *program;
	int events, signals, alarm;  /* owned descriptors */
	struct daemon_shared shared; /* owned */
	struct process *processes;   /* owned */
	size_t process_nr, process_alloc;
	/* No worker is started before this time (sys_clock_ns()). */
	uint64_t pause_ns;
	/*
	 * length in nanoseconds of the pause that ends at pause_ns; 0: there
	 * was no pause since the last reload
	 */
	uint64_t pause_len_ns;
	/*
	 * Before this time, the workers of the last reload should be ready; 0:
	 * they are, or report_reload() has reported that they are not.
	 */
	uint64_t report_ns;
	/* time of the next message to the service manager; 0: none */
	uint64_t watchdog_ns;
	/*
	 * number of reloads so far; the processes of earlier generations have
	 * older options
	 */
	unsigned generation;
	/* all workers of this generation serve */
	bool is_ready;
	bool is_ending;
	/*
	 * true: the new master reports to the service manager, so this master
	 * does not
	 */
	bool is_superseded;
	/* this process is a forked worker */
	bool is_worker;
	struct daemon_successor successor; /* pid 0: none */
	/* process id of the new master if it serves; otherwise 0 */
	long heir;
};

static void put_log(const struct master *m, const char *line)
{
	m->options->log(m->options->log_ctx, line);
}

static void tell_manager(const struct master *m, const char *text)
{
	if (!m->is_superseded)
		sys_notify(m->program->notify_socket, text);
}

static void tell(const struct master *m, const char *what, long pid, int status)
{
	char line[128];

	if (status > 128)
		snprintf(line, sizeof(line),
			 DAEMON_ERROR "%s %ld: killed by signal %d", what, pid,
			 status - 128);
	else
		snprintf(line, sizeof(line),
			 DAEMON_ERROR "%s %ld: exit code %d", what, pid,
			 status);
	put_log(m, line);
}

/* ---- workers */

static void close_all(struct master *m)
{
	sys_close(m->events);
	sys_close(m->signals);
	sys_close(m->successor.ready);
	m->events = m->signals = m->successor.ready = -1;
}

/*
 * A copy of the options for one child process. The copy has only those
 * listeners that the child serves.
 */
struct own_options {
	struct daemon_options options;
	int fds[DAEMON_LISTENERS_MAX];
	enum daemon_protocol protocols[DAEMON_LISTENERS_MAX];
};

static enum daemon_protocol protocol_of(const struct daemon_options *o,
					size_t listener)
{
	return o->protocols ? o->protocols[listener] : DAEMON_HTTP;
}

/*
 * Set *out to the options with the listeners that belong to `role`. Close the
 * descriptors of all other listeners in this process.
 */
static void choose_options(struct own_options *out,
			   const struct daemon_options *o, enum role role)
{
	size_t nr = 0;

	out->options = *o;
	if (role == ROLE_ADMIN)
		out->options.thread_nr = ADMIN_THREADS;
	for (size_t i = 0; i < o->listener_nr; i++) {
		bool is_admin = protocol_of(o, i) == DAEMON_ADMIN;

		if (role != (is_admin ? ROLE_ADMIN : ROLE_WORKER)) {
			sys_close(o->listeners[i]);
			continue;
		}
		out->fds[nr] = o->listeners[i];
		out->protocols[nr++] = protocol_of(o, i);
	}
	out->options.listeners = out->fds;
	out->options.protocols = out->protocols;
	out->options.listener_nr = nr;
}

/*
 * Run as a worker or as the relay, after the fork, until the process must end.
 * Returns 0 or a negative error code.
 */
static int be_worker(struct master *m, struct status_board *board,
		     enum role role, struct error *err)
{
	struct own_options own;

	m->is_worker = true;
	close_all(m);
	choose_options(&own, m->options, role);
	if (role == ROLE_RELAY)
		return relay_run(&own.options, err);
	return worker_run(&own.options, board, &m->shared, m->alarm, err);
}

/*
 * Starts a worker by forking. Returns in both processes, with 0 or a negative
 * error code: in the master immediately, and in the worker process when the
 * worker has done its work.
 */
static int start_worker(struct master *m, enum role role, struct error *err)
{
	struct status_board *board = NULL;
	pid_t pid;

	if (mem_grow(&m->processes, &m->process_alloc, m->process_nr + 1,
		     sizeof(*m->processes)) < 0)
		return error_nomem(err);
	if (role != ROLE_RELAY) {
		board = status_board_take(m->shared.boards,
					  m->options->thread_nr);
		if (!board)
			return error_set(
				err, ERR_IO,
				"too many old workers are still ending");
	}
	pid = sys_fork(err);
	if (!pid)
		return be_worker(m, board, role, err);
	if (pid < 0) {
		if (board)
			status_board_give_back(board);
		return (int)pid;
	}
	m->processes[m->process_nr++] = (struct process){
		.pid = pid,
		.board = board,
		.role = role,
		.generation = m->generation,
	};
	return 0;
}

/* Returns whether there are listeners of the admin process. */
static bool wants_admin(const struct daemon_options *o)
{
	for (size_t i = 0; i < o->listener_nr; i++)
		if (protocol_of(o, i) == DAEMON_ADMIN)
			return true;
	return false;
}

/*
 * Returns whether a process has the present options, and has not been told to
 * end.
 */
static bool is_current(const struct master *m, const struct process *p)
{
	return !p->is_draining && p->generation == m->generation;
}

static size_t serving_nr(const struct master *m, enum role role)
{
	size_t nr = 0;

	for (size_t i = 0; i < m->process_nr; i++)
		nr += is_current(m, &m->processes[i]) &&
		      m->processes[i].role == role;
	return nr;
}

/* Returns whether a process other than the relay drains. */
static bool is_any_draining(const struct master *m)
{
	for (size_t i = 0; i < m->process_nr; i++)
		if (m->processes[i].is_draining &&
		    m->processes[i].role != ROLE_RELAY)
			return true;
	return false;
}

/* Returns whether a process drains that will be killed if it takes long. */
static bool is_any_limited(const struct master *m)
{
	for (size_t i = 0; i < m->process_nr; i++)
		if (m->processes[i].kill_ns)
			return true;
	return false;
}

/* Returns whether a worker has reported that it serves. */
static bool has_served(const struct process *p)
{
	return p->board && status_board_is_ready(p->board);
}

/* Returns the number of workers that serve with the present options. */
static size_t ready_nr(const struct master *m)
{
	size_t nr = 0;

	for (size_t i = 0; i < m->process_nr; i++)
		nr += is_current(m, &m->processes[i]) &&
		      m->processes[i].role == ROLE_WORKER &&
		      has_served(&m->processes[i]);
	return nr;
}

/* Returns whether a worker with older options serves. */
static bool is_older_serving(const struct master *m)
{
	for (size_t i = 0; i < m->process_nr; i++) {
		const struct process *p = &m->processes[i];

		if (!p->is_draining && p->generation != m->generation &&
		    p->role == ROLE_WORKER && has_served(p))
			return true;
	}
	return false;
}

/*
 * Called when a process has failed. Delays the next start of processes, to save
 * CPU time. If workers with older options serve, clients do not wait for new
 * workers. In this case, each pause is twice as long as the pause before.
 */
static void pause_starts(struct master *m)
{
	uint64_t now = sys_clock_ns();

	if (!m->pause_len_ns || m->is_ready || !is_older_serving(m))
		m->pause_len_ns = PAUSE_NS;
	else if (now >= m->pause_ns)
		m->pause_len_ns = m->pause_len_ns < PAUSE_MAX_NS / 2
					  ? m->pause_len_ns * 2
					  : PAUSE_MAX_NS;
	m->pause_ns = now + m->pause_len_ns;
}

/* Shortens a long pause, if no worker with older options serves any more. */
static void limit_pause(struct master *m)
{
	uint64_t max = sys_clock_ns() + PAUSE_NS;

	if (m->pause_ns > max && !is_older_serving(m))
		m->pause_ns = max;
}

/*
 * Sets the time at which the processes that drain without a limit are killed:
 * options->drain_timeout from now.
 */
static void limit_draining(struct master *m)
{
	uint64_t end = sys_clock_ns() + m->options->drain_timeout * SECOND_NS;

	for (size_t i = 0; i < m->process_nr; i++)
		if (m->processes[i].is_draining && !m->processes[i].kill_ns)
			m->processes[i].kill_ns = end;
}

/*
 * Start processes until the configured number of workers serve. If a worker
 * cannot be started, the master tries again later. The reason may be that too
 * many old workers still drain, so they get a limit then. In the master,
 * returns 0. In a worker process, returns the result of the worker: 0 or a
 * negative error code.
 */
static int fill(struct master *m, struct error *err)
{
	struct error reason = ERROR_INIT;
	int ret = 0;

	if (m->is_ending || sys_clock_ns() < m->pause_ns)
		return 0;
	if (wants_admin(m->options) && !serving_nr(m, ROLE_ADMIN))
		ret = start_worker(m, ROLE_ADMIN, &reason);
	if (!ret && !m->is_worker && m->options->store &&
	    !serving_nr(m, ROLE_RELAY))
		ret = start_worker(m, ROLE_RELAY, &reason);
	while (!ret && !m->is_worker &&
	       serving_nr(m, ROLE_WORKER) < m->options->worker_nr)
		ret = start_worker(m, ROLE_WORKER, &reason);
	if (m->is_worker && ret < 0 && err)
		*err = reason;
	if (m->is_worker || !ret)
		return ret;
	pause_starts(m);
	limit_draining(m);
	error_set(&reason, ERR_IO, DAEMON_ERROR "cannot start a worker: %s",
		  reason.msg);
	put_log(m, reason.msg);
	return 0;
}

/*
 * Allows as many descriptors as one worker needs if it gets all connections.
 * Warns if the system does not allow so many.
 */
static void raise_descriptors(const struct master *m)
{
	const struct daemon_options *o = m->options;
	size_t wanted = o->admission.connection_max +
			daemon_pool_fds(o->thread_nr);
	size_t max = sys_descriptors_raise(wanted);
	char line[256];

	if (max >= wanted)
		return;
	snprintf(line, sizeof(line),
		 DAEMON_WARNING
		 "a process may open only %zu files (ulimit -n), so workers "
		 "refuse clients before there are %u connections "
		 "(max-connections), which may need %zu files",
		 max, o->admission.connection_max, wanted);
	put_log(m, line);
}

/* Tells a process to finish its requests and end. */
static void retire_one(struct process *p)
{
	if (p->is_draining)
		return;
	p->is_draining = true;
	sys_fork_signal(p->pid, SIGTERM);
}

/* Tells all processes that serve to finish their requests and end. */
static void retire(struct master *m)
{
	for (size_t i = 0; i < m->process_nr; i++)
		retire_one(&m->processes[i]);
}

/* Tells the processes with older options to finish their requests and end. */
static void retire_older(struct master *m)
{
	for (size_t i = 0; i < m->process_nr; i++)
		if (m->processes[i].generation != m->generation)
			retire_one(&m->processes[i]);
}

/*
 * Returns whether there is a process with older options that was not told to
 * end.
 */
static bool has_older(const struct master *m)
{
	for (size_t i = 0; i < m->process_nr; i++)
		if (!m->processes[i].is_draining &&
		    m->processes[i].generation != m->generation)
			return true;
	return false;
}

/*
 * Begins to replace all processes, because the options have changed. Older
 * processes serve until the new ones are ready, see check_ready(). So the
 * server goes on serving if new processes cannot be started now. Processes of a
 * generation that has not become ready are ended at once, if there are older
 * ones that serve.
 */
static void begin_generation(struct master *m)
{
	uint64_t reload_ms = m->program->reload_ms ? m->program->reload_ms
						   : DAEMON_RELOAD_MS;

	for (size_t i = 0; !m->is_ready && has_older(m) && i < m->process_nr;
	     i++)
		if (is_current(m, &m->processes[i]))
			retire_one(&m->processes[i]);
	m->generation++;
	m->is_ready = false;
	m->pause_ns = m->pause_len_ns = 0;
	m->report_ns = sys_clock_ns() + reload_ms * MS_NS;
}

/*
 * Called in the old master if an upgrade has failed: the new master has ended.
 * The relay, a child process of the master, sends the requests of all pushes to
 * the store of files. Other processes find the relay by its socket file. Ends
 * the relay that the old master has started, so that fill() starts another
 * relay. This is necessary because the relay of the new master may have
 * replaced the socket file. Processes could then not find the relay of the old
 * master any more.
 */
static void renew_relay(struct master *m)
{
	for (size_t i = 0; i < m->process_nr; i++)
		if (m->processes[i].role == ROLE_RELAY)
			retire_one(&m->processes[i]);
}

static void forget(struct master *m, size_t i)
{
	if (m->processes[i].board)
		status_board_give_back(m->processes[i].board);
	m->processes[i] = m->processes[--m->process_nr];
}

/*
 * Tell the service manager that the server ends, and how long this may take:
 * the time for running requests, and ten seconds. Otherwise the manager would
 * kill the server after a time of its own.
 */
static void tell_end(const struct master *m)
{
	char text[64];

	snprintf(text, sizeof(text), "STOPPING=1\nEXTEND_TIMEOUT_USEC=%" PRIu64,
		 (m->options->drain_timeout + UINT64_C(10)) * 1000000);
	tell_manager(m, text);
}

/* Lets the processes drain, without a limit. The server ends after them. */
static void end(struct master *m)
{
	if (m->is_ending)
		return;
	m->is_ending = true;
	tell_end(m);
	if (m->successor.pid)
		sys_fork_signal((pid_t)m->successor.pid, SIGTERM);
	for (size_t i = 0; i < m->options->listener_nr; i++)
		sys_close(m->options->listeners[i]);
	retire(m);
}

/* ---- children that have ended */

static void lose_successor(struct master *m)
{
	sys_event_remove(m->events, m->successor.ready);
	sys_close(m->successor.ready);
	m->successor = (struct daemon_successor){.ready = -1};
}

/*
 * Records that a worker has crashed during a request for the repository at
 * `path`. If `is_suspect` is set, the repository had crashed workers before. A
 * worker only opens such a repository, and leaves the answer to a child
 * process. So this crash happened while the worker opened the repository, which
 * proves that the repository is the cause.
 */
static void note_crash(void *ctx, const char *path, bool is_suspect)
{
	const struct master *m = ctx;
	char quoted[PKTLINE_QUOTE_MAX], line[PKTLINE_QUOTE_MAX + 128];
	uint64_t now = sys_clock_ns();
	size_t len = strlen(path);
	unsigned nr = daemon_suspects_crash(m->shared.suspects, path, len, now);

	if (is_suspect)
		daemon_suspects_convict(m->shared.suspects, path, len, now);
	snprintf(line, sizeof(line),
		 DAEMON_ERROR "a worker crashed during a request for '%s' "
			      "(crash %u)",
		 pktline_quote(quoted, path), nr);
	put_log(m, line);
}

/* Reads the process id of the new master, if there is one in the pipe. */
static void read_heir(struct master *m)
{
	long heir;

	if (sys_read_some(m->successor.ready, &heir, sizeof(heir), "pipe",
			  NULL) == sizeof(heir))
		m->heir = heir;
}

/*
 * Called when the helper process of an upgrade has ended (struct
 * daemon_successor). The helper has started the new master as its child. The
 * helper ends when it gets SIGTERM from this master, or when the new master
 * ends. In the second case, the helper has the exit code of the new master.
 * `status` is the exit status of the helper:
 * - 128 + SIGTERM: this master has ended the helper, because the new master
 *   serves, or because this master itself has to end.
 * - Any other status: this master has not ended the helper. So the new master
 *   has ended: it has crashed, or could not start.
 */
static void note_successor_end(struct master *m, pid_t pid, int status)
{
	char line[128];

	/*
	 * m->successor is the helper process. m->heir is the process id of the
	 * new master, which the new master writes into a pipe. If this master
	 * has to end, it also ends the helper. At that time, it may not have
	 * read the id yet. So read the id from the pipe now: the new master
	 * must be ended, too.
	 */
	if (!m->heir && sys_event_is_ready(m->successor.ready))
		read_heir(m);
	lose_successor(m);
	if (status != 128 + SIGTERM)
		m->heir = 0;
	if (!m->heir && !m->is_ending) {
		tell(m,
		     "upgrade failed, this process continues to serve: process",
		     pid, status);
		renew_relay(m);
	}
	if (!m->heir)
		return;
	if (m->is_ending) {
		sys_fork_signal((pid_t)m->heir, SIGTERM);
		return;
	}
	snprintf(line, sizeof(line), "upgrade: process %ld serves", m->heir);
	put_log(m, line);
	snprintf(line, sizeof(line), "MAINPID=%ld\nREADY=1", m->heir);
	tell_manager(m, line);
	m->is_superseded = true;
	end(m);
}

/* Returns the words with which the log names a process that has failed. */
static const char *what_ended(const struct process *p)
{
	if (p->role == ROLE_RELAY)
		return "relay";
	return p->is_killed ? "requests took longer than drain-timeout: worker"
			    : "worker";
}

static void note_end(struct master *m, pid_t pid, int status)
{
	size_t i = 0;
	bool is_early, is_last;

	admission_forget(m->shared.admission, pid);
	if (pid == m->successor.pid) {
		note_successor_end(m, pid, status);
		return;
	}
	while (i < m->process_nr && m->processes[i].pid != pid)
		i++;
	if (i == m->process_nr)
		return;
	if (!m->processes[i].is_draining || status)
		tell(m, what_ended(&m->processes[i]), pid, status);
	if (status > 128 && !m->processes[i].is_killed)
		statistics_add_crash(m->shared.statistics);
	if (status > 128 && status != 128 + SIGKILL && m->processes[i].board)
		status_board_each(m->processes[i].board, note_crash, m);
	/*
	 * If a worker ends by itself, or crashes before it is ready, wait
	 * before it is started again, to save CPU time.
	 */
	is_early = !m->processes[i].is_draining &&
		   (status < 128 || !has_served(&m->processes[i]));
	is_last = m->processes[i].is_draining && !m->is_ending &&
		  m->processes[i].role != ROLE_RELAY;
	forget(m, i);
	if (is_last && !is_any_draining(m))
		put_log(m, "the old workers have ended");
	if (is_early)
		pause_starts(m);
	limit_pause(m);
}

static void collect(struct master *m)
{
	int status;
	pid_t pid;

	while ((pid = sys_fork_collect(&status)) > 0)
		note_end(m, pid, status);
}

static void kill_late(struct master *m)
{
	uint64_t now = sys_clock_ns();

	for (size_t i = 0; i < m->process_nr; i++) {
		struct process *p = &m->processes[i];

		if (!p->kill_ns || now < p->kill_ns)
			continue;
		p->is_killed = true;
		sys_fork_signal(p->pid, SIGKILL);
	}
}

/* ---- reload, upgrade, readiness */

static void reload(struct master *m)
{
	const struct daemon_options *options;
	struct error err = ERROR_INIT;
	char line[ERROR_MESSAGE_MAX + 64];

	snprintf(line, sizeof(line), "RELOADING=1\nMONOTONIC_USEC=%llu",
		 (unsigned long long)(sys_clock_ns() / 1000));
	tell_manager(m, line);
	if (m->program->reload(m->program->ctx, &options, &err) < 0) {
		snprintf(
			line, sizeof(line),
			DAEMON_ERROR
			"reload failed, the old configuration stays in use: %s",
			err.msg);
		put_log(m, line);
		tell_manager(m, "READY=1");
		return;
	}
	/* program->reload() has made the old options invalid. */
	m->options = options;
	admission_configure(m->shared.admission, &options->admission);
	raise_descriptors(m);
	begin_generation(m);
}

static void upgrade(struct master *m)
{
	struct error err = ERROR_INIT;
	char line[ERROR_MESSAGE_MAX + 64];
	int ret;

	if (m->successor.pid || m->is_ending)
		return;
	ret = m->program->upgrade(m->program->ctx, &m->successor, &err);
	if (!ret)
		ret = sys_event_add(m->events, m->successor.ready,
				    &m->successor, false, &err);
	if (ret < 0)
		snprintf(line, sizeof(line),
			 DAEMON_ERROR
			 "upgrade failed, this process continues to serve: %s",
			 err.msg);
	else
		snprintf(line, sizeof(line), "upgrade: starting");
	put_log(m, line);
}

/*
 * Reads the pipe of the new master. If the new master serves, sends SIGTERM to
 * the helper process that started it; note_successor_end() then ends the
 * upgrade. If the pipe was closed without a message, the helper ends by itself.
 */
static void hear_successor(struct master *m)
{
	read_heir(m);
	if (m->heir)
		sys_fork_signal((pid_t)m->successor.pid, SIGTERM);
	sys_event_remove(m->events, m->successor.ready);
}

/*
 * If all workers with the present options serve, tells those with older options
 * to end. Also tells the service manager and the old master that the server is
 * ready.
 */
static void check_ready(struct master *m)
{
	char line[128];

	sys_event_unwake(m->alarm);
	if (m->is_ready || serving_nr(m, ROLE_WORKER) < m->options->worker_nr)
		return;
	for (size_t i = 0; i < m->process_nr; i++)
		if (is_current(m, &m->processes[i]) &&
		    m->processes[i].role != ROLE_RELAY &&
		    !has_served(&m->processes[i]))
			return;
	m->is_ready = true;
	m->report_ns = 0;
	retire_older(m);
	snprintf(line, sizeof(line), "%s: %u workers",
		 m->generation ? "reloaded" : "started", m->options->worker_nr);
	put_log(m, line);
	m->program->ready(m->program->ctx);
	tell_manager(m, "READY=1");
}

/*
 * If new workers are not ready a long time after a reload, reports this once.
 * If workers with older options serve, also tells the service manager that the
 * server serves. Otherwise the manager, which was told about the reload, would
 * go on waiting.
 */
static void report_reload(struct master *m)
{
	char line[160];
	bool has_old;

	if (m->is_ending || !m->report_ns || sys_clock_ns() < m->report_ns)
		return;
	m->report_ns = 0;
	has_old = is_older_serving(m);
	snprintf(line, sizeof(line),
		 DAEMON_ERROR
		 "reload is not complete: %zu of %u new workers serve%s",
		 ready_nr(m), m->options->worker_nr,
		 has_old ? "; workers with the old configuration continue"
			 : "");
	put_log(m, line);
	if (has_old)
		tell_manager(m, "READY=1");
}

static void feed_watchdog(struct master *m)
{
	uint64_t now = sys_clock_ns();

	if (!m->program->watchdog_ms || now < m->watchdog_ns)
		return;
	tell_manager(m, "WATCHDOG=1");
	m->watchdog_ns = now + m->program->watchdog_ms * MS_NS / 2;
}

/* ---- the loop */

static void obey(struct master *m, int signal_nr)
{
	if (signal_nr == SIGHUP && !m->is_ending) {
		reload(m);
	} else if (signal_nr == SIGUSR2) {
		upgrade(m);
	} else if (signal_nr == SIGTERM || signal_nr == SIGINT) {
		end(m);
		limit_draining(m);
	}
}

/*
 * Returns how many milliseconds the master may wait for an event; -1: no limit.
 */
static int sleep_ms(const struct master *m)
{
	uint64_t watchdog_ms = m->program->watchdog_ms / 4;

	if (is_any_limited(m) || m->report_ns || sys_clock_ns() < m->pause_ns)
		return TICK_MS;
	return watchdog_ms ? (int)watchdog_ms : -1;
}

static void handle(struct master *m, const void *ready)
{
	int nr;

	if (ready == &m->successor)
		hear_successor(m);
	else if (ready == &m->alarm)
		check_ready(m);
	else
		while ((nr = sys_event_signal(m->signals)))
			obey(m, nr);
}

/*
 * The loop of the master. Returns 0 when the server has ended. In a forked
 * worker process, returns the result of the worker: 0 or a negative error code.
 */
static int supervise(struct master *m, struct error *err)
{
	int ret = 0;

	while (!ret && !m->is_worker &&
	       (!m->is_ending || m->process_nr || m->successor.pid)) {
		void *ready;

		if (sys_event_wait(m->events, &ready, 1, sleep_ms(m)))
			handle(m, ready);
		collect(m);
		kill_late(m);
		feed_watchdog(m);
		report_reload(m);
		ret = fill(m, err);
	}
	return ret;
}

static int open_events(struct master *m, struct error *err)
{
	static const int signals[] = {SIGTERM, SIGINT, SIGHUP, SIGUSR2,
				      SIGCHLD};
	sigset_t set;
	int ret;

	sigemptyset(&set);
	for (size_t i = 0; i < ARRAY_NR(signals); i++)
		sigaddset(&set, signals[i]);
	m->events = ret = sys_event_open(err);
	if (ret >= 0)
		m->signals = ret = sys_event_signals_open(&set, err);
	if (ret >= 0)
		m->alarm = ret = sys_event_alarm_open(err);
	if (ret >= 0)
		ret = sys_event_add(m->events, m->signals, m, false, err);
	if (ret >= 0)
		ret = sys_event_add(m->events, m->alarm, &m->alarm, false, err);
	return ret;
}

int master_run(const struct daemon_options *options,
	       const struct daemon_program *program, struct error *err)
{
	struct master m = {.options = options,
			   .program = program,
			   .events = -1,
			   .signals = -1,
			   .alarm = -1,
			   .successor = {.ready = -1}};
	int ret = open_events(&m, err);

	m.shared = (struct daemon_shared){
		.boards = status_boards_new(err),
		.suspects = daemon_suspects_new(err),
		.statistics = statistics_new(err),
		.admission = admission_new(&options->admission, err),
	};
	if (!m.shared.boards || !m.shared.suspects || !m.shared.statistics ||
	    !m.shared.admission)
		ret = ERR_NOMEM;
	if (!ret) {
		raise_descriptors(&m);
		ret = fill(&m, err);
	}
	if (!ret)
		ret = supervise(&m, err);
	close_all(&m);
	sys_close(m.alarm);
	/*
	 * A forked worker runs this code too, while the other workers go on. So
	 * these calls release only the memory of this process. They do not call
	 * status_board_give_back(), because the other workers still use their
	 * boards.
	 */
	free(m.processes);
	status_boards_free(m.shared.boards);
	daemon_suspects_free(m.shared.suspects);
	statistics_free(m.shared.statistics);
	admission_free(m.shared.admission);
	return ret;
}
