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
 * sys_event_add_once() adds the descriptor `fd` to a set; sys_event_wait() then
 * reports it only once. sys_event_again() lets sys_event_wait() report it once
 * more, and adds it if it is not in the set. Any thread may call these
 * functions. Both return 0 or ERR_IO.
 */
int sys_event_add_once(int set, int fd, void *ctx, struct error *err);
int sys_event_again(int set, int fd, void *ctx, struct error *err);

/*
 * Works like sys_event_again(), but `fd` is reported when bytes can be written
 * to it.
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

/*
 * Returns whether a read from the descriptor would not block: it has bytes, or
 * has ended. Does not wait.
 */
bool sys_event_is_ready(int fd);

/*
 * Makes an alarm: a descriptor that sys_event_wake() makes readable, and
 * sys_event_unwake() makes unreadable again. Returns the descriptor or ERR_IO.
 */
int sys_event_alarm_open(struct error *err);
void sys_event_wake(int alarm);
void sys_event_unwake(int alarm);

/*
 * Blocks `signals` in this thread and in the threads that it starts later.
 * Returns a descriptor that becomes readable when one of these signals arrives,
 * or ERR_IO. sys_event_signal() reads the signal.
 */
int sys_event_signals_open(const sigset_t *signals, struct error *err);

/*
 * Reads a signal from a descriptor of sys_event_signals_open(). Returns the
 * signal's number, or 0 if none has arrived.
 */
int sys_event_signal(int fd);

#endif
