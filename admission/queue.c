/* SPDX-License-Identifier: MIT */
/*
 * A fair queue of requests. Each request has a ticket, and each decision scans
 * all tickets. This is cheap: there are about as many tickets as the server has
 * threads, and one decision lets milliseconds of work run.
 */
#include <string.h>

#include "admission/queue.h"

/*
 * An account is forgotten if it has had no tickets for this time, in
 * nanoseconds. An account counts the requests of one fork network (repositories
 * that share objects), or of one client (a user or an address).
 */
#define ACCOUNT_NS UINT64_C(60000000000)

static enum admission_state state_of(const struct admission_ticket *t)
{
	return (enum admission_state)atomic_load(&t->state);
}

static unsigned max_of(unsigned a, unsigned b)
{
	return a > b ? a : b;
}

void admission_queue_init(struct admission_queue *q,
			  const struct admission_limits *limits)
{
	memset(q, 0, sizeof(*q));
	q->token_nr = max_of(limits->token_max, 1);
	admission_queue_limit(q, limits);
}

void admission_queue_limit(struct admission_queue *q,
			   const struct admission_limits *limits)
{
	q->limits = *limits;
	q->limits.token_max = max_of(limits->token_max, 1);
	if (q->token_nr > q->limits.token_max)
		q->token_nr = q->limits.token_max;
	q->express_max = q->limits.token_max;
}

/* ---- accounts */

/*
 * Returns the FNV-1a hash of a text, never 0. `seed` separates kinds of
 * accounts.
 */
static uint64_t key_of(uint64_t seed, const char *text)
{
	uint64_t hash = UINT64_C(14695981039346656037) ^ seed;

	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * UINT64_C(1099511628211);
	return hash ? hash : 1;
}

enum { NETWORK = 1, FLOW, WHO };

struct keys {
	uint64_t network, flow, who;
};

/*
 * Returns the keys of the three accounts in which a request is counted (struct
 * admission_account):
 * - `network`: the account of the fork network (repositories that share
 *   objects) that is requested.
 * - `flow`: the account of the principal (the user or the address that sends
 *   the request) in this fork network.
 * - `who`: the account of the principal in all fork networks.
 *
 * Pushes and fetches have separate accounts. For pushes, each repository counts
 * as a fork network.
 */
static struct keys keys_of(const struct admission_ask *ask)
{
	uint64_t kind = ask->is_push ? 8 : 0;
	struct keys keys = {
		.network = key_of(NETWORK + kind, ask->network),
		.who = key_of(WHO + kind, ask->principal),
	};

	keys.flow = key_of(keys.network * FLOW, ask->principal);
	return keys;
}

static const struct admission_account *find(const struct admission_queue *q,
					    uint64_t key)
{
	for (unsigned i = 0; i < q->account_end; i++)
		if (q->accounts[i].key == key)
			return &q->accounts[i];
	return NULL;
}

/*
 * Returns the number of the account with a key. Makes the account if it does
 * not exist. The table never gets full: the ticket of a request uses three
 * accounts, and the table has three for each ticket that can exist. An account
 * without tickets can be replaced.
 */
static unsigned account(struct admission_queue *q, uint64_t key,
			uint64_t now_ns)
{
	const struct admission_account *found = find(q, key);
	unsigned at = q->account_end, oldest = 0;
	bool has_oldest = false;

	if (found)
		return (unsigned)(found - q->accounts);
	for (unsigned i = 0; i < q->account_end; i++) {
		const struct admission_account *a = &q->accounts[i];

		if (a->nr)
			continue;
		if (!has_oldest || a->last_ns < q->accounts[oldest].last_ns)
			oldest = i;
		has_oldest = true;
	}
	if (has_oldest && (at == ADMISSION_ACCOUNTS_MAX ||
			   now_ns - q->accounts[oldest].last_ns > ACCOUNT_NS))
		at = oldest;
	if (at == q->account_end)
		q->account_end++;
	q->accounts[at] = (struct admission_account){.key = key,
						     .last_ns = now_ns};
	return at;
}

/*
 * Adds a ticket to the counts of its accounts, or with `sign` -1 removes it
 * from them.
 */
static void count(struct admission_queue *q, const struct admission_ticket *t,
		  int sign)
{
	const unsigned numbers[] = {t->network, t->flow, t->who};
	enum admission_state state = state_of(t);
	unsigned one = (unsigned)sign;

	for (int i = 0; i < 3; i++) {
		struct admission_account *a = &q->accounts[numbers[i]];

		a->nr += one;
		a->waiting += one * (state == ADMISSION_WAITING);
		a->express += one * (state == ADMISSION_EXPRESS);
		a->pushes += one * (t->is_push && state == ADMISSION_RUNNING);
		a->tokens += one * t->tokens;
	}
	q->tokens_held += one * t->tokens;
	q->express_nr += one * (state == ADMISSION_EXPRESS);
	if (!t->is_push && state == ADMISSION_WAITING)
		atomic_fetch_add(&q->waiting_nr, one);
}

/*
 * Changes the state and the number of tokens of a ticket. Changes the sums of
 * the ticket's accounts accordingly.
 */
static void change(struct admission_queue *q, struct admission_ticket *t,
		   enum admission_state state, unsigned tokens)
{
	count(q, t, -1);
	t->tokens = tokens;
	atomic_store(&t->state, state);
	count(q, t, 1);
}

/*
 * Adds `us` microseconds to the service (the time used for requests) that two
 * accounts have had. One is the account of the ticket's fork network. The other
 * is the account of the ticket's principal (a user or an address) in this
 * network, t->flow.
 */
static void charge(struct admission_queue *q, struct admission_ticket *t,
		   uint64_t us)
{
	q->accounts[t->network].used_us += us;
	q->accounts[t->flow].used_us += us;
	t->charged_us += us;
}

/*
 * Ends the turn of a running ticket. The ticket has two accounts: of its
 * network, and of its principal (user or address) in this network. An account
 * has the sum of the time that was used. When the turn began, an estimate was
 * added to both accounts. This function subtracts the estimate (t->charged_us),
 * and adds the time that the turn took, multiplied by the number of tokens
 * (threads that may work; at least 1). Does nothing for a push.
 */
static void settle(struct admission_queue *q, struct admission_ticket *t,
		   uint64_t now_ns)
{
	enum admission_state state = state_of(t);
	uint64_t us = (now_ns - t->granted_ns) / 1000;

	if (t->is_push ||
	    (state != ADMISSION_RUNNING && state != ADMISSION_EXPRESS))
		return;
	us *= max_of(t->tokens, 1);
	q->accounts[t->network].used_us -= t->charged_us;
	q->accounts[t->flow].used_us -= t->charged_us;
	t->charged_us = 0;
	charge(q, t, us);
	t->charged_us = 0;
	t->price_us = t->price_us > us ? t->price_us - us : 0;
}

/* ---- tickets */

enum admission_refusal admission_queue_judge(const struct admission_queue *q,
					     const struct admission_ask *ask)
{
	struct keys keys = keys_of(ask);
	const struct admission_account *network = find(q, keys.network);
	const struct admission_account *who = find(q, keys.who);
	unsigned max = ask->is_push ? 2 * q->limits.push_max
				    : q->limits.queue_max;

	if (network && network->waiting >= max)
		return ADMISSION_NETWORK_FULL;
	if (who && who->waiting >= q->limits.principal_max)
		return ADMISSION_PRINCIPAL_FULL;
	return ADMISSION_NO_REFUSAL;
}

/*
 * If an account was idle, raises its used time to the current virtual time
 * `now_us`, so that idle time gives no advantage.
 */
static void catch_up(struct admission_account *a, uint64_t now_us)
{
	if (!a->nr && a->used_us < now_us)
		a->used_us = now_us;
}

static void copy_name(char out[ADMISSION_NAME_MAX], const char *name)
{
	size_t len = strlen(name);

	len = len < ADMISSION_NAME_MAX ? len : ADMISSION_NAME_MAX - 1;
	memcpy(out, name, len);
	out[len] = '\0';
}

int admission_queue_add(struct admission_queue *q,
			const struct admission_ask *ask, uint64_t now_ns)
{
	struct keys keys = keys_of(ask);
	struct admission_ticket *t = q->tickets;

	while (state_of(t) != ADMISSION_FREE)
		if (++t == q->tickets + ADMISSION_TICKETS_MAX)
			return -1;
	t->is_push = ask->is_push;
	t->has_begun = false;
	t->tokens = 0;
	t->process = ask->process;
	t->network = (uint16_t)account(q, keys.network, now_ns);
	/*
	 * Count the ticket in this account now. Otherwise the next call of
	 * account() could replace this account, because an account without
	 * tickets is free.
	 */
	q->accounts[t->network].nr++;
	t->flow = (uint16_t)account(q, keys.flow, now_ns);
	q->accounts[t->flow].nr++;
	q->accounts[t->flow].is_flow = !t->is_push;
	t->who = (uint16_t)account(q, keys.who, now_ns);
	q->accounts[t->network].nr--;
	q->accounts[t->flow].nr--;
	catch_up(&q->accounts[t->network], q->now_us);
	catch_up(&q->accounts[t->flow], q->accounts[t->network].now_us);
	t->seq = q->seq++;
	t->price_us = ask->price_us;
	t->charged_us = 0;
	t->asked_ns = now_ns;
	t->granted_ns = 0;
	copy_name(t->name, ask->principal);
	if (q->ticket_end <= (unsigned)(t - q->tickets))
		q->ticket_end = (unsigned)(t - q->tickets) + 1;
	atomic_store(&t->state, ADMISSION_WAITING);
	count(q, t, 1);
	return (int)(t - q->tickets);
}

/* ---- order */

static unsigned share_of(const struct admission_queue *q)
{
	return max_of(q->token_nr * q->limits.share / 100, 1);
}

/* Returns whether a ticket may run without a token. */
static bool is_express(const struct admission_queue *q,
		       const struct admission_ticket *t)
{
	return t->price_us < ADMISSION_CHEAP_US &&
	       q->express_nr < q->express_max && !q->accounts[t->who].express;
}

/*
 * Returns whether a push may run. One principal (a user or an address) never
 * gets all places for pushes to a repository.
 */
static bool may_push(const struct admission_queue *q,
		     const struct admission_ticket *t)
{
	unsigned max = q->limits.push_max;

	return q->accounts[t->network].pushes < max &&
	       (max < 2 || q->accounts[t->flow].pushes < max - 1);
}

/*
 * Returns whether a waiting request (ticket) may run now. If `over` is true,
 * its user or address (principal) may hold more than the usual share of the
 * tokens.
 */
static bool may_run(const struct admission_queue *q,
		    const struct admission_ticket *t, bool over)
{
	if (state_of(t) != ADMISSION_WAITING)
		return false;
	if (t->is_push)
		return may_push(q, t);
	if (q->tokens_held >= q->token_nr)
		return is_express(q, t);
	return over || q->accounts[t->who].tokens < share_of(q);
}

/*
 * Returns whether ticket `a` must be served before ticket `b`. The ticket whose
 * network has had less service goes first. In one network, the ticket whose
 * principal has had less service goes first. If both are equal, the older
 * ticket goes first.
 */
static bool is_before(const struct admission_queue *q,
		      const struct admission_ticket *a,
		      const struct admission_ticket *b)
{
	const struct admission_account *accounts = q->accounts;
	uint64_t x = accounts[a->network].used_us;
	uint64_t y = accounts[b->network].used_us;

	if (a->network != b->network && x != y)
		return x < y;
	x = accounts[a->flow].used_us;
	y = accounts[b->flow].used_us;
	if (a->network == b->network && a->flow != b->flow && x != y)
		return x < y;
	return a->seq < b->seq;
}

static struct admission_ticket *first(struct admission_queue *q, bool over)
{
	struct admission_ticket *best = NULL;

	for (unsigned i = 0; i < q->ticket_end; i++) {
		struct admission_ticket *t = &q->tickets[i];

		if (may_run(q, t, over) && (!best || is_before(q, t, best)))
			best = t;
	}
	return best;
}

/*
 * Called when the ticket t gets its tokens. Raises two virtual times (see
 * catch_up()). A virtual time never goes backwards.
 *
 * Fair queueing has two levels. Fork networks compete in the queue. In each
 * network, its flows compete: a flow is the account of one user or address in
 * this network. An account's used_us says how much work was done for it, in
 * microseconds. The account with the least used_us is served first.
 *
 * Each level has a virtual time now_us, from which an account that was idle
 * starts again. So an idle account gets no advantage later. This function
 * raises both to the used_us of the accounts that are served now:
 * - now_us of the queue to used_us of the ticket's network;
 * - now_us of the network to used_us of the ticket's flow.
 */
static void advance(struct admission_queue *q, const struct admission_ticket *t)
{
	struct admission_account *network = &q->accounts[t->network];
	const struct admission_account *flow = &q->accounts[t->flow];

	if (q->now_us < network->used_us)
		q->now_us = network->used_us;
	if (network->now_us < flow->used_us)
		network->now_us = flow->used_us;
}

/*
 * Returns how many tokens a ticket gets: usually one. If no other ticket waits,
 * expensive work also gets half of the free tokens. The other half stays free
 * for new requests.
 */
static unsigned tokens_for(const struct admission_queue *q,
			   const struct admission_ticket *t)
{
	unsigned left = q->token_nr - q->tokens_held - 1;

	if (atomic_load(&q->waiting_nr) > 1 || t->price_us < ADMISSION_CHEAP_US)
		return 1;
	return 1 + left / 2;
}

int admission_queue_next(struct admission_queue *q, uint64_t now_ns)
{
	struct admission_ticket *t = first(q, false);
	bool is_express;

	if (!t)
		t = first(q, true);
	if (!t)
		return -1;
	is_express = !t->is_push && q->tokens_held >= q->token_nr;
	t->granted_ns = now_ns;
	t->has_begun = true;
	if (t->is_push) {
		change(q, t, ADMISSION_RUNNING, 0);
		return (int)(t - q->tickets);
	}
	advance(q, t);
	charge(q, t, t->price_us);
	if (is_express)
		change(q, t, ADMISSION_EXPRESS, 0);
	else
		change(q, t, ADMISSION_RUNNING, tokens_for(q, t));
	return (int)(t - q->tickets);
}

/*
 * Returns how many tickets of the same network and principal wait before ticket
 * `t`.
 */
static unsigned waiting_before(const struct admission_queue *q,
			       const struct admission_ticket *t)
{
	unsigned nr = 0;

	for (unsigned i = 0; i < q->ticket_end; i++) {
		const struct admission_ticket *o = &q->tickets[i];

		nr += state_of(o) == ADMISSION_WAITING && o->seq < t->seq &&
		      (t->is_push ? o->network == t->network
				  : o->flow == t->flow);
	}
	return nr;
}

unsigned admission_queue_ahead(const struct admission_queue *q, int nr)
{
	const struct admission_ticket *t = &q->tickets[nr];
	const struct admission_account *own = &q->accounts[t->flow];
	unsigned before = waiting_before(q, t), ahead = before;

	/*
	 * Flows (the requests of one principal in one network) take turns.
	 * `before` is the number of tickets of t's own flow that run before
	 * `t`. Until `t` runs, each other flow gets at most `before` turns, or
	 * one more if it has had less service.
	 */
	for (unsigned i = 0; !t->is_push && i < q->account_end; i++) {
		const struct admission_account *a = &q->accounts[i];
		unsigned turns = before + (a->used_us < own->used_us);

		if (a->is_flow && a != own)
			ahead += a->waiting < turns ? a->waiting : turns;
	}
	return ahead;
}

/* ---- changes of a ticket */

void admission_queue_remove(struct admission_queue *q, int nr, uint64_t now_ns)
{
	struct admission_ticket *t = &q->tickets[nr];

	settle(q, t, now_ns);
	count(q, t, -1);
	q->accounts[t->network].last_ns = now_ns;
	q->accounts[t->flow].last_ns = now_ns;
	q->accounts[t->who].last_ns = now_ns;
	atomic_store(&t->state, ADMISSION_FREE);
	while (q->ticket_end &&
	       state_of(&q->tickets[q->ticket_end - 1]) == ADMISSION_FREE)
		q->ticket_end--;
}

void admission_queue_raise(struct admission_queue *q, int nr, uint64_t price_us)
{
	struct admission_ticket *t = &q->tickets[nr];

	t->price_us += price_us;
	charge(q, t, price_us);
}

void admission_queue_pause(struct admission_queue *q, int nr, uint64_t now_ns)
{
	struct admission_ticket *t = &q->tickets[nr];

	settle(q, t, now_ns);
	change(q, t, ADMISSION_PAUSED, 0);
}

void admission_queue_resume(struct admission_queue *q, int nr)
{
	change(q, &q->tickets[nr], ADMISSION_WAITING, 0);
}

/*
 * Returns whether a waiting ticket of another principal should get the token
 * that `t` holds. There are two cases: the waiting ticket comes before `t` in
 * the fair order, or the waiting principal holds no token while the principal
 * of `t` holds more than the maximum share.
 */
static bool is_wanted(const struct admission_queue *q,
		      const struct admission_ticket *t)
{
	bool is_over = q->accounts[t->who].tokens > share_of(q);

	for (unsigned i = 0; i < q->ticket_end; i++) {
		const struct admission_ticket *o = &q->tickets[i];

		if (state_of(o) != ADMISSION_WAITING || o->is_push ||
		    o->who == t->who)
			continue;
		if (is_before(q, o, t) ||
		    (is_over && !q->accounts[o->who].tokens))
			return true;
	}
	return false;
}

bool admission_queue_yield(struct admission_queue *q, int nr, uint64_t now_ns)
{
	struct admission_ticket *t = &q->tickets[nr];
	bool is_express = state_of(t) == ADMISSION_EXPRESS;

	if (now_ns - t->granted_ns < ADMISSION_SLICE_NS ||
	    (!is_express && (q->tokens_held < q->token_nr || !is_wanted(q, t))))
		return false;
	settle(q, t, now_ns);
	/*
	 * The work was estimated as cheap, but has used up a slice of time.
	 * Give it a price that is not cheap, so that it needs a token from now
	 * on.
	 */
	if (t->price_us < ADMISSION_CHEAP_US)
		t->price_us = ADMISSION_CHEAP_US;
	change(q, t, ADMISSION_WAITING, 0);
	return true;
}

unsigned admission_queue_forget(struct admission_queue *q, long process,
				uint64_t now_ns)
{
	unsigned nr = 0;

	for (unsigned i = 0; i < ADMISSION_TICKETS_MAX; i++) {
		if (state_of(&q->tickets[i]) == ADMISSION_FREE ||
		    q->tickets[i].process != process)
			continue;
		admission_queue_remove(q, (int)i, now_ns);
		nr++;
	}
	return nr;
}

void admission_queue_repair(struct admission_queue *q)
{
	q->tokens_held = q->express_nr = 0;
	q->now_us = 0;
	atomic_store(&q->waiting_nr, 0);
	q->ticket_end = 0;
	for (unsigned i = 0; i < ADMISSION_ACCOUNTS_MAX; i++) {
		struct admission_account *a = &q->accounts[i];

		a->nr = a->waiting = a->express = a->pushes = a->tokens = 0;
		/*
		 * The process that died may have been changing these sums, so
		 * they may be wrong. They start at 0 again.
		 */
		a->used_us = a->now_us = 0;
		if (a->key)
			q->account_end = max_of(q->account_end, i + 1);
	}
	for (unsigned i = 0; i < ADMISSION_TICKETS_MAX; i++) {
		if (state_of(&q->tickets[i]) == ADMISSION_FREE)
			continue;
		q->ticket_end = i + 1;
		q->tickets[i].charged_us = 0;
		count(q, &q->tickets[i], 1);
	}
}
