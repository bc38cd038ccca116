/* SPDX-License-Identifier: MIT */
/*
 * The relay (copies/relay.h). A child process that receives a push sends its
 * requests to the store of files (for example a bucket) through the relay. A
 * machine has one relay for all its workers, so one process sees all pushes to
 * the machine. After SIGTERM, the relay accepts no connections and no further
 * requests. It ends when it has answered the requests that it got before.
 */
#include <signal.h>
#include <stdio.h>

#include "copies/relay.h"
#include "processes/processes-parts.h"
#include "sys/clock.h"
#include "sys/event.h"
#include "sys/io.h"

/*
 * While the relay drains, this many milliseconds pass between two checks
 * whether any connection is left.
 */
#define TICK_MS 20
/* nanoseconds until the relay tries again to accept a connection */
#define PAUSE_NS (10 * 1000000)

static void warn(void *ctx, const char *message)
{
	const struct daemon_options *o = ctx;
	char line[ERROR_MESSAGE_MAX + sizeof(DAEMON_WARNING)];

	snprintf(line, sizeof(line), DAEMON_WARNING "%s", message);
	o->log(o->log_ctx, line);
}

static int open_events(int *events, int *signals, int listener,
		       struct error *err)
{
	sigset_t set;
	int ret;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	*events = ret = sys_event_open(err);
	if (ret >= 0)
		*signals = ret = sys_event_signals_open(&set, err);
	if (ret >= 0)
		ret = sys_event_add(*events, *signals, signals, false, err);
	if (!ret && listener >= 0)
		ret = sys_event_add(*events, listener, events, false, err);
	return ret;
}

static void loop(struct stored_relay *relay, int events, int signals)
{
	bool is_ending = false;

	while (!is_ending || stored_relay_busy(relay)) {
		void *ready;

		sys_event_wait(events, &ready, 1, is_ending ? TICK_MS : -1);
		if (sys_event_signal(signals) && !is_ending) {
			is_ending = true;
			sys_event_remove(events, stored_relay_listener(relay));
			stored_relay_refuse(relay);
		}
		/*
		 * If the process has no free descriptor, wait a moment:
		 * connections that end will free some.
		 */
		if (stored_relay_accept(relay, NULL))
			sys_sleep_ns(PAUSE_NS);
	}
}

/*
 * Called in the process of the relay, if the relay could not be opened. Waits
 * for SIGTERM. If this process ended at once, the master would start it again
 * and again. There is no need for that: without a relay, pushes send their
 * requests to the store themselves.
 */
static void wait_for_end(int events, int signals)
{
	void *ready;

	while (!sys_event_signal(signals))
		sys_event_wait(events, &ready, 1, -1);
}

int relay_run(const struct daemon_options *options, struct error *err)
{
	const struct stored_relay_options o = {
		.dir = options->store->dir,
		.origin = options->store->origin,
		.warn = warn,
		.ctx = (void *)options,
	};
	struct error why = ERROR_INIT;
	struct stored_relay *relay;
	int events = -1, signals = -1, listener = -1;
	int ret;

	if (stored_relay_open(&relay, &o, &why))
		warn(o.ctx, why.msg);
	else
		listener = stored_relay_listener(relay);
	ret = open_events(&events, &signals, listener, err);
	if (!ret && relay)
		loop(relay, events, signals);
	else if (!ret)
		wait_for_end(events, signals);
	stored_relay_close(relay);
	sys_close(events);
	sys_close(signals);
	return ret;
}
