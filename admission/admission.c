/* SPDX-License-Identifier: MIT */
/* The fair queue in memory that processes share. */
#include <stdio.h>
#include <string.h>

#include "admission/admission.h"
#include "base/buf.h"
#include "sys/clock.h"
#include "sys/io.h"
#include "sys/process.h"
#include "sys/thread.h"

#define SECOND_NS UINT64_C(1000000000)

/*
 * A request that waits less than this time, in nanoseconds, gets no message
 * about the wait.
 */
#define MOMENT_NS UINT64_C(50000000)

/*
 * The table of connections. An entry counts the connections of one address in
 * one process. A seeded hash of the address gives a place in the table; the
 * entry is one of the PEERS_NEAR entries from there on. Thanks to the seed,
 * clients cannot choose addresses with equal places.
 *
 * If none of these entries is free, the connection is counted in the spare
 * entry of the process, at the end of the table. Spare entries have no limit
 * for one address.
 */
#define PEERS_NR 16384
#define PEERS_NEAR 32
#define SPARES_NR 2048
#define PEERS_ALL (PEERS_NR + PEERS_NEAR + SPARES_NR)

struct peer {
	uint64_t key;
	long process;
	unsigned nr; /* 0: the entry is free */
};

struct admission {
	/* guards all fields but the atomic ones */
	struct sys_shared_lock lock;
	struct admission_queue queue;
	unsigned connection_max, address_max, connection_nr;
	/* the time at which /proc/pressure is read next */
	_Atomic uint64_t adjust_ns;
	_Atomic uint64_t refused[ADMISSION_REFUSALS];
	uint64_t seed; /* never changes */
	struct peer peers[PEERS_ALL];
};

/* ---- lock */

static void count_connections(struct admission *a)
{
	a->connection_nr = 0;
	for (size_t i = 0; i < PEERS_ALL; i++)
		a->connection_nr += a->peers[i].nr;
}

static void lock(struct admission *a)
{
	if (!sys_shared_lock_take(&a->lock))
		return;
	admission_queue_repair(&a->queue);
	count_connections(a);
}

static void unlock(struct admission *a)
{
	sys_shared_lock_give(&a->lock);
}

/*
 * Lets all tickets run that may run now, and wakes their threads. The caller
 * holds the lock.
 */
static void grant(struct admission *a)
{
	uint64_t now = sys_clock_ns();
	int nr;

	while ((nr = admission_queue_next(&a->queue, now)) >= 0)
		sys_word_wake(&a->queue.tickets[nr].state);
}

struct admission *admission_new(const struct admission_options *options,
				struct error *err)
{
	struct admission *a = sys_memory_shared(sizeof(*a));

	if (!a || sys_shared_lock_init(&a->lock)) {
		admission_free(a);
		error_nomem(err);
		return NULL;
	}
	if (sys_secret(&a->seed, sizeof(a->seed), err) < 0) {
		admission_free(a);
		return NULL;
	}
	admission_queue_init(&a->queue, &options->limits);
	a->connection_max = options->connection_max;
	a->address_max = options->address_max;
	return a;
}

void admission_free(struct admission *a)
{
	if (a)
		sys_memory_unshare(a, sizeof(*a));
}

void admission_configure(struct admission *a,
			 const struct admission_options *options)
{
	lock(a);
	admission_queue_limit(&a->queue, &options->limits);
	a->connection_max = options->connection_max;
	a->address_max = options->address_max;
	grant(a);
	unlock(a);
}

/* ---- pressure */

static int read_pressure(const char *path)
{
	struct buf text = BUF_INIT;
	int value = -1;

	if (!sys_read_any(&text, path, NULL))
		value = admission_pressure_parse(text.data, text.len);
	buf_release(&text);
	return value;
}

/*
 * Adjusts the number of tokens to the load of the machine. A token is the
 * permission for one thread to work on an expensive fetch. The load is the
 * pressure on processors and memory that Linux reports (/proc/pressure). Does
 * nothing before the time a->adjust_ns. Of all threads of all processes, only
 * one adjusts the number at a time.
 */
static void adjust(struct admission *a)
{
	uint64_t now = sys_clock_ns(), due = atomic_load(&a->adjust_ns);
	uint64_t next = now + ADMISSION_PRESSURE_INTERVAL * SECOND_NS;
	uint64_t steps = 1;
	unsigned before;
	int cpu, memory;

	if (now > due)
		steps += (now - due) /
			 (ADMISSION_PRESSURE_INTERVAL * SECOND_NS);
	if (now < due ||
	    !atomic_compare_exchange_strong(&a->adjust_ns, &due, next))
		return;
	cpu = read_pressure("/proc/pressure/cpu");
	memory = read_pressure("/proc/pressure/memory");
	lock(a);
	/*
	 * While the server was idle, no thread adjusted the tokens: make all
	 * missed steps now.
	 */
	do {
		before = a->queue.token_nr;
		a->queue.token_nr = admission_pressure_adjust(
			before, a->queue.limits.token_max, cpu, memory);
	} while (a->queue.token_nr > before && --steps);
	grant(a);
	unlock(a);
}

/* ---- waiting */

static struct admission_ticket *ticket_of(const struct admission_pass *pass)
{
	return &pass->a->queue.tickets[pass->nr];
}

static bool is_waiting(const struct admission_pass *pass)
{
	return atomic_load(&ticket_of(pass)->state) == ADMISSION_WAITING;
}

void admission_refused(struct admission *a, enum admission_refusal why)
{
	atomic_fetch_add(&a->refused[why], 1);
}

/* Removes a ticket, unless it runs. Returns true if the ticket was removed. */
static bool give_up(struct admission_pass *pass)
{
	struct admission *a = pass->a;
	bool is_late;

	lock(a);
	is_late = is_waiting(pass);
	if (is_late)
		admission_queue_remove(&a->queue, pass->nr, sys_clock_ns());
	unlock(a);
	if (is_late)
		pass->a = NULL;
	return is_late;
}

static unsigned look_ahead(const struct admission_pass *pass)
{
	unsigned ahead;

	lock(pass->a);
	ahead = is_waiting(pass)
			? admission_queue_ahead(&pass->a->queue, pass->nr)
			: 0;
	unlock(pass->a);
	return ahead;
}

/*
 * Waits until the request is admitted, `limit` nanoseconds at most. An admitted
 * request has a token (the permission for one thread to work), or its work
 * needs no token. Returns 0 if the request is admitted, so that its work can
 * begin. Otherwise the ticket (the entry of the request in the queue) was
 * removed: returns ERR_DENIED after `limit`, or the negative result of
 * listener->tell().
 */
static int await(struct admission_pass *pass, uint64_t limit,
		 const struct admission_listener *listener, struct error *err)
{
	struct admission *a = pass->a;
	struct admission_ticket *t = ticket_of(pass);
	uint64_t start = sys_clock_ns();
	int ret = 0;

	sys_word_wait(&t->state, ADMISSION_WAITING, MOMENT_NS);
	while (is_waiting(pass)) {
		if (!ret && listener)
			ret = listener->tell(listener->ctx, look_ahead(pass),
					     err);
		if (!ret && sys_clock_ns() - start >= limit) {
			ret = error_set(err, ERR_DENIED,
					"the server is busy, try again later");
			admission_refused(a, ADMISSION_TOO_LATE);
		}
		if (ret && give_up(pass))
			return ret;
		adjust(a);
		sys_word_wait(&t->state, ADMISSION_WAITING,
			      limit < SECOND_NS ? limit : SECOND_NS);
	}
	pass->waited_ns = sys_clock_ns() - start;
	return 0;
}

int admission_enter(struct admission_pass *pass, struct admission *a,
		    struct admission_ask *ask,
		    const struct admission_listener *listener,
		    struct error *err)
{
	uint64_t limit;
	int ret = 0, nr;

	adjust(a);
	ask->process = sys_process_id();
	*pass = (struct admission_pass){.tokens = 1, .price_us = ask->price_us};
	lock(a);
	limit = a->queue.limits.wait_ns;
	/*
	 * Read the clock while the lock is held, so that times in the queue
	 * never go backwards.
	 */
	nr = admission_queue_add(&a->queue, ask, sys_clock_ns());
	if (nr >= 0)
		grant(a);
	unlock(a);
	/*
	 * If the table of tickets is full, let the request run without a
	 * ticket. At this point, the client has already sent its whole request,
	 * and clients do not send it again after a refusal.
	 */
	if (nr < 0)
		return 0;
	pass->nr = nr;
	pass->a = a;
	if (is_waiting(pass))
		ret = await(pass, limit, listener, err);
	if (!ret && ticket_of(pass)->tokens)
		pass->tokens = ticket_of(pass)->tokens;
	return ret;
}

void admission_leave(struct admission_pass *pass)
{
	struct admission *a = pass->a;

	if (!a)
		return;
	lock(a);
	admission_queue_remove(&a->queue, pass->nr, sys_clock_ns());
	grant(a);
	unlock(a);
	pass->a = NULL;
}

void admission_raise(struct admission_pass *pass, uint64_t price_us)
{
	if (!pass->a)
		return;
	pass->price_us += price_us;
	lock(pass->a);
	admission_queue_raise(&pass->a->queue, pass->nr, price_us);
	unlock(pass->a);
}

/* Waits, without a time limit, for a token for work that has already begun. */
static void await_again(struct admission_pass *pass)
{
	struct admission_ticket *t = ticket_of(pass);

	while (is_waiting(pass)) {
		sys_word_wait(&t->state, ADMISSION_WAITING, SECOND_NS);
		adjust(pass->a);
	}
}

void admission_pause(struct admission_pass *pass)
{
	enum admission_state state;

	if (!pass->a)
		return;
	lock(pass->a);
	state = atomic_load(&ticket_of(pass)->state);
	/*
	 * A ticket that waits is not changed: the ticket keeps its place in the
	 * queue.
	 */
	if (state == ADMISSION_RUNNING || state == ADMISSION_EXPRESS) {
		admission_queue_pause(&pass->a->queue, pass->nr,
				      sys_clock_ns());
		grant(pass->a);
	}
	unlock(pass->a);
}

void admission_resume(struct admission_pass *pass)
{
	if (!pass->a)
		return;
	lock(pass->a);
	if (atomic_load(&ticket_of(pass)->state) == ADMISSION_PAUSED) {
		admission_queue_resume(&pass->a->queue, pass->nr);
		grant(pass->a);
	}
	unlock(pass->a);
	await_again(pass);
}

void admission_yield(struct admission_pass *pass)
{
	struct admission *a = pass->a;
	enum admission_state state;

	if (!a)
		return;
	state = atomic_load(&ticket_of(pass)->state);
	if (state == ADMISSION_RUNNING && !atomic_load(&a->queue.waiting_nr))
		return;
	lock(a);
	state = atomic_load(&ticket_of(pass)->state);
	if ((state == ADMISSION_RUNNING || state == ADMISSION_EXPRESS) &&
	    admission_queue_yield(&a->queue, pass->nr, sys_clock_ns()))
		grant(a);
	unlock(a);
	await_again(pass);
}

bool admission_has_queue(const struct admission *a)
{
	return atomic_load(&a->queue.waiting_nr);
}

enum admission_refusal admission_judge(struct admission *a,
				       const struct admission_ask *ask)
{
	enum admission_refusal why;

	lock(a);
	why = admission_queue_judge(&a->queue, ask);
	unlock(a);
	if (why)
		admission_refused(a, why);
	return why;
}

/* ---- connections */

/* FNV-1a with a seed */
static uint64_t key_of(const struct admission *a, const char *address)
{
	uint64_t hash = UINT64_C(14695981039346656037) ^ a->seed;

	for (; *address; address++)
		hash = (hash ^ (unsigned char)*address) *
		       UINT64_C(1099511628211);
	return hash;
}

static struct peer *near(struct admission *a, uint64_t key)
{
	return &a->peers[(key ^ key >> 32) % PEERS_NR];
}

/*
 * Finds an entry in the table of connections, which all processes share. An
 * entry counts the connections of one address to one process. Returns the entry
 * for this address and this process. If there is none, returns a free entry
 * near the address's place, or NULL if none is free. Sets *sum to the number of
 * connections of the address to all processes.
 */
static struct peer *find_peer(struct admission *a, uint64_t key, unsigned *sum)
{
	struct peer *first = near(a, key), *found = NULL;
	long process = sys_process_id();

	*sum = 0;
	for (struct peer *p = first; p < first + PEERS_NEAR; p++) {
		if (p->nr && p->key == key) {
			*sum += p->nr;
			if (p->process == process)
				found = p;
		} else if (!p->nr && !found) {
			found = p;
		}
	}
	return found;
}

/*
 * Called if the table of connections has no room for an address. The table has
 * spare entries at its end. A process takes one of them when it needs it, and
 * counts there all connections for which the table has no room. Returns the
 * spare entry that this process uses already. If this process uses none,
 * returns a free spare entry, or NULL if none is free.
 */
static struct peer *find_spare(struct admission *a)
{
	struct peer *free_one = NULL;
	long process = sys_process_id();

	for (struct peer *p = a->peers + PEERS_NR + PEERS_NEAR;
	     p < a->peers + PEERS_ALL; p++) {
		if (p->nr && p->process == process)
			return p;
		if (!p->nr && !free_one)
			free_one = p;
	}
	return free_one;
}

enum admission_refusal admission_connect(struct admission *a,
					 const char *address, bool is_trusted)
{
	enum admission_refusal why = ADMISSION_NO_REFUSAL;
	uint64_t key = key_of(a, address);
	struct peer *peer;
	unsigned sum;

	lock(a);
	peer = find_peer(a, key, &sum);
	if (!peer)
		peer = find_spare(a);
	if (!peer || a->connection_nr >= a->connection_max)
		why = ADMISSION_CONNECTIONS;
	else if (!is_trusted && sum >= a->address_max)
		why = ADMISSION_ADDRESS;
	if (!why) {
		peer->key = key;
		peer->process = sys_process_id();
		peer->nr++;
		a->connection_nr++;
	}
	unlock(a);
	if (why)
		admission_refused(a, why);
	return why;
}

void admission_disconnect(struct admission *a, const char *address)
{
	uint64_t key = key_of(a, address);
	struct peer *peer;
	unsigned sum;

	lock(a);
	peer = find_peer(a, key, &sum);
	/*
	 * An address can be counted only in a few entries of the table, which
	 * follow the entry that its hash selects. While these entries were all
	 * in use, connections of the address were counted in the spare entry of
	 * this process. When one of the entries was free again, later
	 * connections were counted there. So this process may have two counts
	 * for the address. It does not matter which of them is reduced: their
	 * sum stays right.
	 */
	if (!peer || !peer->nr)
		peer = find_spare(a);
	if (peer && peer->nr) {
		peer->nr--;
		a->connection_nr--;
	}
	unlock(a);
}

/* ---- functions for the parent process and for the status */

void admission_forget(struct admission *a, long process)
{
	lock(a);
	admission_queue_forget(&a->queue, process, sys_clock_ns());
	for (size_t i = 0; i < PEERS_ALL; i++)
		if (a->peers[i].process == process)
			a->peers[i].nr = 0;
	count_connections(a);
	grant(a);
	unlock(a);
}

/*
 * Counts a ticket in the line of its principal (a user or an address). Each
 * principal has one line in the view.
 */
static void add_line(struct admission_view *out,
		     const struct admission_ticket *t,
		     enum admission_state state)
{
	struct admission_line *line = out->lines;

	while (line < out->lines + out->line_nr &&
	       strcmp(line->name, t->name) != 0)
		line++;
	if (line == out->lines + ADMISSION_LINES_MAX)
		return;
	if (line == out->lines + out->line_nr) {
		*line = (struct admission_line){.waiting = 0};
		memcpy(line->name, t->name, sizeof(line->name));
		out->line_nr++;
	}
	if (state == ADMISSION_WAITING)
		line->waiting++;
	else
		line->running++;
}

void admission_look(struct admission_view *out, struct admission *a)
{
	const struct admission_queue *q = &a->queue;

	*out = (struct admission_view){.token_nr = 0};
	lock(a);
	out->token_nr = q->token_nr;
	out->tokens_held = q->tokens_held;
	out->connections = a->connection_nr;
	for (unsigned i = 0; i < q->ticket_end; i++) {
		enum admission_state state = atomic_load(&q->tickets[i].state);

		out->waiting += state == ADMISSION_WAITING;
		if (state != ADMISSION_FREE)
			add_line(out, &q->tickets[i], state);
	}
	unlock(a);
	for (int i = 0; i < ADMISSION_REFUSALS; i++)
		out->refused[i] = atomic_load(&a->refused[i]);
}

/* The text before the number in a file of /proc/pressure. */
static const char pressure_prefix[] = "some avg10=";

int admission_pressure_parse(const char *text, size_t len)
{
	size_t at = sizeof(pressure_prefix) - 1;
	int value = 0, digits = -1;

	if (len < at || memcmp(text, pressure_prefix, at) != 0)
		return -1;
	/*
	 * The kernel writes a percentage with two digits after the point. The
	 * loop ends after these two digits. The highest value is 100.00: then
	 * `value` is 10000.
	 */
	for (; at < len && value <= 10000 && digits < 2; at++) {
		if (text[at] == '.' && digits < 0) {
			digits = 0;
			continue;
		}
		if (text[at] < '0' || text[at] > '9')
			return -1;
		value = value * 10 + (text[at] - '0');
		digits += digits >= 0;
	}
	return digits == 2 && value <= 10000 ? value : -1;
}

unsigned admission_pressure_adjust(unsigned token_nr, unsigned max, int cpu,
				   int memory)
{
	if (cpu > ADMISSION_PRESSURE_CPU || memory > ADMISSION_PRESSURE_MEMORY)
		token_nr /= 2;
	else
		token_nr++;
	if (token_nr > max)
		token_nr = max;
	return token_nr ? token_nr : 1;
}
