/* SPDX-License-Identifier: MIT */
/*
 * Sets of descriptors (epoll), alarms (eventfd), and signals as descriptors
 * (signalfd).
 */
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "sys/event.h"

/* maximum number of events that one call of epoll_wait() returns */
#define AT_ONCE 64

int sys_event_open(struct error *err)
{
	int set = epoll_create1(EPOLL_CLOEXEC);

	return set < 0 ? error_set_errno(err, "cannot wait for events") : set;
}

static int control(int set, int how, int fd, uint32_t events, void *ctx,
		   struct error *err)
{
	struct epoll_event event = {.events = events, .data.ptr = ctx};

	return epoll_ctl(set, how, fd, &event) < 0
		       ? error_set_errno(err, "cannot wait for a descriptor")
		       : 0;
}

int sys_event_add(int set, int fd, void *ctx, bool is_shared, struct error *err)
{
	return control(set, EPOLL_CTL_ADD, fd,
		       EPOLLIN | (is_shared ? EPOLLEXCLUSIVE : 0), ctx, err);
}

int sys_event_add_once(int set, int fd, void *ctx, struct error *err)
{
	return control(set, EPOLL_CTL_ADD, fd, EPOLLIN | EPOLLONESHOT, ctx,
		       err);
}

static int again(int set, int fd, uint32_t events, void *ctx, struct error *err)
{
	struct epoll_event event = {
		.events = events | EPOLLONESHOT,
		.data.ptr = ctx,
	};

	if (!epoll_ctl(set, EPOLL_CTL_MOD, fd, &event))
		return 0;
	return control(set, EPOLL_CTL_ADD, fd, event.events, ctx, err);
}

int sys_event_again(int set, int fd, void *ctx, struct error *err)
{
	return again(set, fd, EPOLLIN, ctx, err);
}

int sys_event_again_out(int set, int fd, void *ctx, struct error *err)
{
	return again(set, fd, EPOLLOUT, ctx, err);
}

void sys_event_remove(int set, int fd)
{
	epoll_ctl(set, EPOLL_CTL_DEL, fd, NULL);
}

size_t sys_event_wait(int set, void **out, size_t max, int timeout_ms)
{
	struct epoll_event events[AT_ONCE];
	int nr = epoll_wait(set, events, max < AT_ONCE ? (int)max : AT_ONCE,
			    timeout_ms);

	for (int i = 0; i < nr; i++)
		out[i] = events[i].data.ptr;
	return nr < 0 ? 0 : (size_t)nr;
}

bool sys_event_is_ready(int fd)
{
	struct pollfd pfd = {fd, POLLIN, 0};

	return poll(&pfd, 1, 0) > 0;
}

int sys_event_alarm_open(struct error *err)
{
	int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);

	return fd < 0 ? error_set_errno(err, "cannot create an event") : fd;
}

void sys_event_wake(int alarm)
{
	uint64_t one = 1;
	ssize_t n = write(alarm, &one, sizeof(one));

	/*
	 * Ignore the result: write() fails only if the counter is full, and
	 * then the descriptor is readable already.
	 */
	(void)n;
}

void sys_event_unwake(int alarm)
{
	uint64_t count;
	ssize_t n = read(alarm, &count, sizeof(count));

	(void)n;
}

int sys_event_signals_open(const sigset_t *signals, struct error *err)
{
	int fd = signalfd(-1, signals, SFD_CLOEXEC | SFD_NONBLOCK);

	if (fd < 0)
		return error_set_errno(err, "cannot read signals");
	pthread_sigmask(SIG_BLOCK, signals, NULL);
	return fd;
}

int sys_event_signal(int fd)
{
	struct signalfd_siginfo info;

	return read(fd, &info, sizeof(info)) == sizeof(info)
		       ? (int)info.ssi_signo
		       : 0;
}
