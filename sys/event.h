/* SPDX-License-Identifier: MIT */
/*
 * Waiting for many descriptors at once (epoll), waking a thread that waits, and
 * signals that are read like bytes.
 */
#ifndef SYS_EVENT_H
#define SYS_EVENT_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/* Returns a new set of descriptors to wait for, or ERR_IO. */
int sys_event_open(struct error *err);

/*
 * Adds a descriptor; `ctx` names it in sys_event_wait(). If `is_shared`, other
 * processes wait for the descriptor too, and one of them is woken. Returns 0 or
 * ERR_IO.
 */
int sys_event_add(int set, int fd, void *ctx, bool is_shared,
		  struct error *err);

/*
 * Adds a descriptor that is reported once. sys_event_again() lets it be
 * reported once more. Any thread may call these functions.
 */
int sys_event_add_once(int set, int fd, void *ctx, struct error *err);
int sys_event_again(int set, int fd, void *ctx, struct error *err);

/*
 * Works like sys_event_again() for a descriptor that waits until it can be
 * written.
 */
int sys_event_again_out(int set, int fd, void *ctx, struct error *err);

void sys_event_remove(int set, int fd);

/*
 * Waits up to `timeout_ms` (-1: without limit) until descriptors have bytes,
 * can be written or have ended, and stores their `ctx` in out[0..max). Returns
 * their number; 0 if none, or a signal came.
 */
size_t sys_event_wait(int set, void **out, size_t max, int timeout_ms);

/* Returns a descriptor that sys_event_wake() makes readable, or ERR_IO. */
int sys_event_alarm_open(struct error *err);
void sys_event_wake(int alarm);
void sys_event_unwake(int alarm);

/*
 * Blocks the signals of this thread and of threads started later. Returns a
 * descriptor from which sys_event_signal() reads the signals, or ERR_IO.
 */
int sys_event_signals_open(const sigset_t *signals, struct error *err);

/* Returns the number of a signal that has come, or 0 if none has. */
int sys_event_signal(int fd);

#endif
