/* SPDX-License-Identifier: MIT */
/*
 * Waits for many descriptors at once (epoll), wakes a thread that waits, and
 * reads signals from a descriptor.
 */
#ifndef SYS_EVENT_H
#define SYS_EVENT_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/*
 * Opens a set of descriptors to wait for. Returns the descriptor of the set, or
 * ERR_IO.
 */
int sys_event_open(struct error *err);

/*
 * Adds the descriptor `fd` to a set. sys_event_wait() returns `ctx` when `fd`
 * is ready. Set `is_shared` if several processes wait for the same `fd`: the
 * kernel then wakes only one of them. Returns 0 or ERR_IO.
 */
int sys_event_add(int set, int fd, void *ctx, bool is_shared,
		  struct error *err);

/*
 * Adds a descriptor that is reported only once. After a report,
 * sys_event_again() allows one more report. sys_event_again() may also be
 * called for a descriptor that is not in the set, and adds it. Any thread may
 * call these functions. Both return 0 or ERR_IO.
 */
int sys_event_add_once(int set, int fd, void *ctx, struct error *err);
int sys_event_again(int set, int fd, void *ctx, struct error *err);

/*
 * Works like sys_event_again(), but the descriptor is reported when it can be
 * written.
 */
int sys_event_again_out(int set, int fd, void *ctx, struct error *err);

void sys_event_remove(int set, int fd);

/*
 * Waits until at least one descriptor of the set has bytes, can be written or
 * has ended, but at most `timeout_ms` (-1: without limit). Stores the `ctx` of
 * each such descriptor in out[0..max). Returns the number of stored `ctx`, or 0
 * if the time is over or a signal came.
 */
size_t sys_event_wait(int set, void **out, size_t max, int timeout_ms);

/* Returns whether a descriptor has bytes or has ended. Does not wait. */
bool sys_event_is_ready(int fd);

/*
 * Makes an alarm: a descriptor that sys_event_wake() makes readable, and
 * sys_event_unwake() makes unreadable again. Returns the descriptor or ERR_IO.
 */
int sys_event_alarm_open(struct error *err);
void sys_event_wake(int alarm);
void sys_event_unwake(int alarm);

/*
 * Blocks `signals` in this thread and in threads that start later. Returns a
 * descriptor from which sys_event_signal() reads these signals, or ERR_IO.
 */
int sys_event_signals_open(const sigset_t *signals, struct error *err);

/* Returns the number of a signal that has come, or 0 if none has. */
int sys_event_signal(int fd);

#endif
