/* SPDX-License-Identifier: MIT */
/*
 * The master: starts the workers, replaces a worker that ends, and passes
 * SIGTERM on. The master serves no request, has no threads and stays small, so
 * that forking it is cheap.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "daemon/daemon-parts.h"
#include "sys/clock.h"
#include "sys/event.h"
#include "sys/io.h"
#include "sys/spawn.h"

#define SECOND_NS UINT64_C(1000000000)

struct master {
	const struct daemon_options *options;
	int events, signals;  /* owned descriptors */
	pid_t *workers;       /* owned; 0: not running */
	uint64_t deadline_ns; /* 0: not draining */
};

static void tell(const struct master *m, const char *what, long pid, int status)
{
	char line[128];

	if (status > 128)
		snprintf(line, sizeof(line), "%s %ld: killed by signal %d",
			 what, pid, status - 128);
	else
		snprintf(line, sizeof(line), "%s %ld: exit code %d", what, pid,
			 status);
	m->options->log(m->options->log_ctx, line);
}

/* Returns 1 in the worker when it has ended, 0 in the master, or an error. */
static int start_worker(struct master *m, unsigned nr, struct error *err)
{
	pid_t pid = sys_fork(err);

	if (pid < 0)
		return (int)pid;
	if (pid) {
		m->workers[nr] = pid;
		return 0;
	}
	sys_close(m->events);
	sys_close(m->signals);
	m->events = m->signals = -1;
	pid = daemon_worker(m->options, err);
	return pid < 0 ? (int)pid : 1;
}

static bool is_running(const struct master *m)
{
	for (unsigned i = 0; i < m->options->worker_nr; i++)
		if (m->workers[i])
			return true;
	return false;
}

static void signal_workers(const struct master *m, int signal_nr)
{
	for (unsigned i = 0; i < m->options->worker_nr; i++)
		if (m->workers[i])
			sys_fork_signal(m->workers[i], signal_nr);
}

/* Replace the workers that have ended. Returns as start_worker(). */
static int replace(struct master *m, struct error *err)
{
	int status, ret = 0;
	pid_t pid;

	while (!ret && (pid = sys_fork_collect(&status)) > 0)
		for (unsigned i = 0; i < m->options->worker_nr; i++) {
			if (m->workers[i] != pid)
				continue;
			m->workers[i] = 0;
			if (m->deadline_ns && !status)
				break;
			tell(m, "worker", (long)pid, status);
			/* A worker that cannot start must not use up a CPU. */
			if (status && status < 128)
				sys_sleep_ns(SECOND_NS / 2);
			if (!m->deadline_ns)
				ret = start_worker(m, i, err);
			break;
		}
	return ret;
}

static void drain(struct master *m)
{
	const struct daemon_options *o = m->options;

	if (m->deadline_ns)
		return;
	m->deadline_ns = sys_clock_ns() + o->drain_timeout * SECOND_NS;
	for (size_t i = 0; i < o->listener_nr; i++)
		sys_close(o->listeners[i]);
	signal_workers(m, SIGTERM);
}

/* Returns as start_worker(). */
static int supervise(struct master *m, struct error *err)
{
	int ret = 0;

	while (!ret && (!m->deadline_ns || is_running(m))) {
		void *ready;
		int nr;

		sys_event_wait(m->events, &ready, 1, m->deadline_ns ? 100 : -1);
		while ((nr = sys_event_signal(m->signals)))
			if (nr != SIGCHLD)
				drain(m);
		ret = replace(m, err);
		if (ret || !m->deadline_ns || sys_clock_ns() < m->deadline_ns)
			continue;
		signal_workers(m, SIGKILL);
	}
	return ret;
}

static int open_signals(struct master *m, struct error *err)
{
	sigset_t set;
	int ret;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGCHLD);
	m->events = ret = sys_event_open(err);
	if (ret >= 0)
		m->signals = ret = sys_event_signals_open(&set, err);
	return ret < 0 ? ret
		       : sys_event_add(m->events, m->signals, m, false, err);
}

int daemon_run(const struct daemon_options *options, struct error *err)
{
	struct master m = {.options = options, .events = -1, .signals = -1};
	int ret;

	m.workers = mem_calloc(options->worker_nr, sizeof(*m.workers));
	ret = m.workers ? open_signals(&m, err) : error_nomem(err);
	for (unsigned i = 0; !ret && i < options->worker_nr; i++)
		ret = start_worker(&m, i, err);
	if (!ret)
		ret = supervise(&m, err);
	sys_close(m.events);
	sys_close(m.signals);
	free(m.workers);
	return ret < 0 ? ret : 0;
}
