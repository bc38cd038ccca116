/* SPDX-License-Identifier: MIT */
/*
 * A fair queue for work that costs CPU time. Knows nothing of sockets, HTTP or
 * Git. The struct has a fixed size and no pointers, so it can be in memory that
 * processes share. The caller holds a lock, and passes the time.
 *
 * Work needs tokens. The number of tokens is about the number of processors.
 * Each request has a ticket, which is in one of these states:
 *
 *	add -> WAITING --next--> RUNNING, holds tokens --remove-> gone
 *	          ^  |              |  |
 *	          |  '-> EXPRESS    |  '--pause--> PAUSED, holds none
 *	          |      (cheap)    |                 |
 *	          '-----yield-------'                 |
 *	          '----------------resume-------------'
 *
 * Order: start-time fair queuing on two levels (Goyal, Vin, Cheng 1996). Each
 * fork network (repositories that share objects), and each principal (a user or
 * an address) in a network, has a virtual time: the service that it has had.
 * The next ticket is chosen from the network with the least service, there from
 * the principal with the least service, and there the oldest. A newcomer starts
 * at the virtual time of the ticket that was served last, so nobody can save up
 * service by being idle.
 *
 * Deficit round robin would be as fair, but needs lists, which a process that
 * is killed could leave half changed. In this queue, all counts can be computed
 * again from the tickets, and the service of all accounts starts at 0 again
 * (admission_queue_repair()). If the estimated price of some work was wrong, it
 * is corrected when the work ends.
 *
 * A principal holds at most a share of the tokens while others wait. Cheap work
 * need not wait for a token (EXPRESS). Each principal has at most one such
 * ticket at a time, and there is a limit for all principals together.
 *
 * Pushes need no tokens; a repository has a limit of pushes at once. If the
 * limit is above 1, no principal may use all of it: one place stays free for
 * the others.
 */
#ifndef ADMISSION_QUEUE_H
#define ADMISSION_QUEUE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ADMISSION_TICKETS_MAX 1024
#define ADMISSION_ACCOUNTS_MAX (3 * ADMISSION_TICKETS_MAX)
#define ADMISSION_NAME_MAX 64

/*
 * Work is cheap if its estimated price is lower than this, in microseconds of
 * CPU time.
 */
#define ADMISSION_CHEAP_US 30000

/*
 * Time in nanoseconds for which work may hold its tokens while other requests
 * wait for them.
 */
#define ADMISSION_SLICE_NS UINT64_C(100000000)

enum admission_state {
	ADMISSION_FREE, /* no ticket */
	ADMISSION_WAITING,
	/* the request works and holds tokens, or is a push */
	ADMISSION_RUNNING,
	/* the request is cheap and works without a token */
	ADMISSION_EXPRESS,
	/* the request waits for its client, and holds no token */
	ADMISSION_PAUSED,
};

/* Limits of a queue. The caller may change them at any time. */
struct admission_limits {
	unsigned token_max; /* tokens without pressure */
	/*
	 * percent of the tokens that one principal (a user or an address) may
	 * hold while others wait
	 */
	unsigned share;
	/* maximum number of waiting fetches of one fork network */
	unsigned queue_max;
	/*
	 * maximum number of waiting fetches of one principal (a user or an
	 * address); the same limit applies to its waiting pushes
	 */
	unsigned principal_max;
	/*
	 * maximum number of pushes at once to one repository; twice as many may
	 * wait
	 */
	unsigned push_max;
	/*
	 * Maximum time in nanoseconds that a request waits for its first token
	 * (the permission for one thread to work). After this time, the request
	 * is refused.
	 */
	uint64_t wait_ns;
};

/*
 * A request for admission. The texts are borrowed. Long texts are cut when they
 * are shown (struct admission_view).
 */
struct admission_ask {
	const char *principal; /* a user or an address */
	/* a fork network or a repository */
	const char *network;
	/* estimated CPU time; unused for pushes */
	uint64_t price_us;
	bool is_push;
	/* the process that holds the ticket */
	long process;
};

struct admission_ticket {
	/* an enum admission_state; threads that wait sleep on this word */
	atomic_uint state;
	bool is_push;
	bool has_begun; /* true: had a token before */
	unsigned tokens;
	long process;
	/*
	 * Numbers of the ticket's accounts (struct admission_account).
	 * `network` is the account of its network. `flow` is the account of its
	 * principal in this network. `who` is the account of its principal in
	 * all networks together.
	 */
	uint16_t network, flow, who;
	uint64_t seq, price_us, charged_us, asked_ns, granted_ns;
	char name[ADMISSION_NAME_MAX]; /* of the principal */
};

/*
 * One account of the queue. There are three kinds:
 * - the account of a fork network (repositories that share objects);
 * - a flow: the account of one principal (a user or an address) in one network;
 * - the account of one principal in all networks together.
 *
 * Pushes and fetches have separate accounts. For pushes, each repository counts
 * as a network.
 */
struct admission_account {
	uint64_t key; /* 0: none */
	/*
	 * numbers of the account's tickets: all of them, those that wait, those
	 * in the state ADMISSION_EXPRESS (cheap requests that work without a
	 * token), and pushes that run; computed from the tickets
	 */
	unsigned nr, waiting, express, pushes;
	unsigned tokens; /* tokens that its tickets hold */
	/* virtual time: microseconds of service that the account has had */
	uint64_t used_us;
	/*
	 * Only for the account of a network. The principal with the smallest
	 * used_us in the network is served next. A principal (a user or an
	 * address) that was idle would have a small used_us, and would be
	 * served before all others for a long time. So its used_us is raised to
	 * now_us when it comes back. now_us follows the used_us of the
	 * principals that are served in this network.
	 */
	uint64_t now_us;
	/* when the last ticket of the account was added or removed */
	uint64_t last_ns;
	/* true: the account of the fetches of one principal in one network */
	bool is_flow;
};

/* Why a ticket was refused. */
enum admission_refusal {
	ADMISSION_NO_REFUSAL,
	/*
	 * too many fetches of the fork network wait, or too many pushes to the
	 * repository
	 */
	ADMISSION_NETWORK_FULL,
	/* too many requests of the principal (a user or an address) wait */
	ADMISSION_PRINCIPAL_FULL,
	ADMISSION_TOO_LATE, /* no token within wait_ns */
	/* too many connections, of all clients or of one address */
	ADMISSION_CONNECTIONS,
	ADMISSION_ADDRESS,
	ADMISSION_REFUSALS,
};

struct admission_queue {
	struct admission_limits limits;
	/*
	 * present number of tokens, which falls when the machine is under
	 * pressure; at least 1
	 */
	unsigned token_nr;
	/* maximum number of cheap tickets that run without a token */
	unsigned express_max;
	/* The fields below are computed from the tickets. */
	unsigned tokens_held, express_nr;
	/*
	 * number of waiting tickets, without pushes; may be read without the
	 * lock
	 */
	atomic_uint waiting_nr;
	/* all used tickets and accounts have numbers below these */
	unsigned ticket_end, account_end;
	uint64_t seq, now_us;
	struct admission_ticket tickets[ADMISSION_TICKETS_MAX];
	struct admission_account accounts[ADMISSION_ACCOUNTS_MAX];
};

/* Initialises an empty queue with all tokens. */
void admission_queue_init(struct admission_queue *q,
			  const struct admission_limits *limits);

/*
 * Changes the limits. A larger number of tokens takes effect step by step, a
 * smaller number at once.
 */
void admission_queue_limit(struct admission_queue *q,
			   const struct admission_limits *limits);

/*
 * Returns ADMISSION_NO_REFUSAL if a ticket could be added now, otherwise why it
 * would be refused. No ticket is added. A fetch is refused if `queue_max`
 * fetches of its network (a fork network or a repository) wait already. A push
 * is refused if 2 * `push_max` pushes of its network wait. Both are refused if
 * `principal_max` tickets of the principal wait.
 */
enum admission_refusal admission_queue_judge(const struct admission_queue *q,
					     const struct admission_ask *ask);

/* Adds a ticket that waits. Returns its number, or -1 if the table is full. */
int admission_queue_add(struct admission_queue *q,
			const struct admission_ask *ask, uint64_t now_ns);

/*
 * Lets the next ticket run. Returns its number, or -1 if none may run now. The
 * caller repeats the call until it returns -1, and wakes the threads of the
 * tickets.
 */
int admission_queue_next(struct admission_queue *q, uint64_t now_ns);

/* Returns about how many tickets will run before a ticket that waits. */
unsigned admission_queue_ahead(const struct admission_queue *q, int nr);

/* Removes a ticket from the queue, whatever its state is. */
void admission_queue_remove(struct admission_queue *q, int nr, uint64_t now_ns);

/* Adds `price_us` to the price of a ticket that runs. */
void admission_queue_raise(struct admission_queue *q, int nr,
			   uint64_t price_us);

/*
 * Takes the tokens of a running ticket back while the request waits for its
 * client.
 */
void admission_queue_pause(struct admission_queue *q, int nr, uint64_t now_ns);

/*
 * Lets a paused ticket wait for tokens again. The ticket goes before newer
 * tickets of the same principal in the same network (a fork network or a
 * repository).
 */
void admission_queue_resume(struct admission_queue *q, int nr);

/*
 * Called while the work of a ticket runs. Makes the ticket wait for tokens if
 * the work has used up its slice of time, and one of these is true:
 * - it is an EXPRESS ticket: it has run without a token, because its work was
 *   estimated as cheap, but the work is not cheap;
 * - all tokens are taken, and a ticket of another principal should get a token.
 *
 * Returns whether the ticket waits now.
 */
bool admission_queue_yield(struct admission_queue *q, int nr, uint64_t now_ns);

/* Removes the tickets of a process that has ended. Returns their number. */
unsigned admission_queue_forget(struct admission_queue *q, long process,
				uint64_t now_ns);

/*
 * Computes all counts and sums of the queue again from its tickets, after a
 * process died while it changed the queue. The service that each account has
 * had (used_us) becomes 0.
 */
void admission_queue_repair(struct admission_queue *q);

#endif
