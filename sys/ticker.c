/* SPDX-License-Identifier: MIT */
/* A thread that calls a function at intervals. */
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/mem.h"
#include "sys/thread.h"
#include "sys/ticker.h"

#define SECOND_NS UINT64_C(1000000000)

struct sys_ticker {
	void (*fn)(void *ctx);
	void *ctx;
	uint64_t seconds;
	pthread_t thread;
	/* protects `started` and `stopped` */
	pthread_mutex_t lock;
	pthread_cond_t wake;
	bool started, stopped;
};

static void *tick(void *ctx)
{
	struct sys_ticker *t = ctx;

	pthread_mutex_lock(&t->lock);
	while (!t->stopped) {
		if (sys_wake_wait(&t->wake, &t->lock, t->seconds * SECOND_NS) !=
		    ETIMEDOUT)
			continue;
		pthread_mutex_unlock(&t->lock);
		t->fn(t->ctx);
		pthread_mutex_lock(&t->lock);
	}
	pthread_mutex_unlock(&t->lock);
	return NULL;
}

int sys_ticker_new(struct sys_ticker **out, uint64_t seconds,
		   void (*fn)(void *ctx), void *ctx, struct error *err)
{
	struct sys_ticker *t;

	*out = NULL;
	t = mem_calloc(1, sizeof(*t));
	if (!t)
		return error_nomem(err);
	t->fn = fn;
	t->ctx = ctx;
	t->seconds = seconds;
	if (sys_wake_init(&t->wake)) {
		free(t);
		return error_set(err, ERR_IO, "cannot set up a timer");
	}
	pthread_mutex_init(&t->lock, NULL);
	*out = t;
	return 0;
}

int sys_ticker_go(struct sys_ticker *t, struct error *err)
{
	int ret = 0;

	pthread_mutex_lock(&t->lock);
	if (!t->started)
		ret = sys_thread_start(&t->thread, tick, t);
	t->started = !ret;
	pthread_mutex_unlock(&t->lock);
	return ret ? error_set(err, ERR_IO, "cannot start a thread") : 0;
}

int sys_ticker_start(struct sys_ticker **out, uint64_t seconds,
		     void (*fn)(void *ctx), void *ctx, struct error *err)
{
	int ret = sys_ticker_new(out, seconds, fn, ctx, err);

	if (!ret)
		ret = sys_ticker_go(*out, err);
	if (ret < 0) {
		sys_ticker_stop(*out);
		*out = NULL;
	}
	return ret;
}

void sys_ticker_stop(struct sys_ticker *t)
{
	bool started;

	if (!t)
		return;
	pthread_mutex_lock(&t->lock);
	t->stopped = true;
	started = t->started;
	pthread_cond_signal(&t->wake);
	pthread_mutex_unlock(&t->lock);
	if (started)
		pthread_join(t->thread, NULL);
	pthread_cond_destroy(&t->wake);
	pthread_mutex_destroy(&t->lock);
	free(t);
}
