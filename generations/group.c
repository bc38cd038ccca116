/* SPDX-License-Identifier: MIT */
/*
 * Several threads make one record together ("group commit" in databases).
 * First, the thread of each change writes the files of the change, or another
 * process has written them. Then the thread waits in a queue. One of the
 * threads, the leader, makes one record for all waiting changes.
 */
#include <string.h>

#include "base/mem.h"
#include "generations/commit.h"
#include "generations/rebase.h"
#include "sys/thread.h"

/* maximum number of changes in one record */
#define BATCH_MAX 256

struct waiting {
	struct commit_member m;
	struct waiting *next; /* next entry of the queue */
	/* true: a leader took this entry; protected by the lock of the group */
	bool is_taken;
	/*
	 * true: the leader that made the record does not use this struct any
	 * more; protected by the lock of the group
	 */
	bool is_answered;
};

struct generation_group {
	const struct generation_place *place; /* borrowed */
	uint64_t gather_ns;
	struct generation_group_hooks hooks;
	/*
	 * protects `first`, `last` and `is_led`; also protects `base` if there
	 * is no leader
	 */
	pthread_mutex_t lock;
	/*
	 * signalled when changes have their results, and when there is no
	 * leader any more
	 */
	pthread_cond_t changed;
	struct waiting *first, **last;
	bool is_led;
	/*
	 * the newest known generation; while there is a leader, only the leader
	 * uses this field
	 */
	struct generation base;
};

struct generation_group *generation_group_new(
	const struct generation_place *place, uint64_t gather_ns)
{
	struct generation_group *group = mem_calloc(1, sizeof(*group));

	if (!group)
		return NULL;
	group->place = place;
	group->gather_ns = gather_ns;
	group->last = &group->first;
	if (pthread_mutex_init(&group->lock, NULL)) {
		free(group);
		return NULL;
	}
	if (pthread_cond_init(&group->changed, NULL)) {
		pthread_mutex_destroy(&group->lock);
		free(group);
		return NULL;
	}
	return group;
}

void generation_group_set_hooks(struct generation_group *group,
				const struct generation_group_hooks *hooks)
{
	group->hooks = *hooks;
}

void generation_group_free(struct generation_group *group)
{
	if (!group)
		return;
	generation_release(&group->base);
	pthread_cond_destroy(&group->changed);
	pthread_mutex_destroy(&group->lock);
	free(group);
}

/*
 * Removes up to BATCH_MAX changes from the queue, and puts them into `batch`.
 * Returns their number. The caller holds the lock.
 */
static size_t take_batch(struct generation_group *group, struct waiting **batch)
{
	size_t nr = 0;

	while (group->first && nr < BATCH_MAX) {
		struct waiting *w = group->first;

		group->first = w->next;
		w->is_taken = true;
		batch[nr++] = w;
	}
	if (!group->first)
		group->last = &group->first;
	return nr;
}

static void fail_all(struct commit_member *const *members, size_t nr, int ret,
		     const struct error *err)
{
	for (size_t i = 0; i < nr; i++) {
		members[i]->result = ret < 0 ? ret : GENERATION_STORE_DOWN;
		members[i]->err = *err;
	}
}

/*
 * *base is the newest generation that the group knows. Returns whether the
 * upload of a change has found a different generation with the same number in
 * the store. In this case the store was restored from a backup, and now has
 * another history.
 */
static bool is_other_history(const struct generation *base,
			     struct commit_member *const *members, size_t nr)
{
	static const uint8_t unknown[GENERATION_TOKEN_LEN];

	for (size_t i = 0; i < nr; i++) {
		const uint8_t *token = members[i]->session.seen_token;

		if (members[i]->change->seen == base->number &&
		    memcmp(token, unknown, sizeof(unknown)) != 0 &&
		    memcmp(token, base->token, sizeof(base->token)) != 0)
			return true;
	}
	return false;
}

/*
 * Sets group->base to the newest generation that is known to be in the store.
 * The next record is made from this generation: it gets the next number, and
 * contains the hash of the base's record. If the repository has no generation,
 * the number of the base is 0. Returns 0, a filestore_result, or a negative
 * error code.
 */
static int renew(struct generation_group *group,
		 struct commit_member *const *members, size_t nr,
		 struct error *err)
{
	const struct generation_group_hooks *hooks = &group->hooks;
	uint64_t seen = 0;
	int ret = 0;

	for (size_t i = 0; i < nr; i++)
		if (members[i]->change->seen > seen)
			seen = members[i]->change->seen;
	if (hooks->renew)
		ret = hooks->renew(hooks->ctx, &group->base, seen, err);
	if (!ret && is_other_history(&group->base, members, nr)) {
		generation_release(&group->base);
		group->base = (struct generation){0};
	}
	if (!ret && !group->base.number)
		ret = generation_newest(&group->base, group->place, 0, err);
	return ret == STORE_ABSENT ? 0 : ret;
}

/*
 * Calls the hook `made` if a record was made, and sets *record to a copy of the
 * record for the hook `follow`. record->number is 0 if no record was made, or
 * if there is no hook `follow`.
 */
static void tell_made(struct generation_group *group, struct generation *record,
		      struct commit_member *const *members, size_t nr)
{
	const struct generation_group_hooks *hooks = &group->hooks;
	bool is_made = false;

	*record = (struct generation){0};
	for (size_t i = 0; i < nr; i++)
		is_made |= members[i]->result == GENERATION_COMMITTED;
	if (is_made && hooks->made)
		hooks->made(hooks->ctx, &group->base);
	if (is_made && hooks->follow &&
	    generation_copy(record, &group->base, NULL)) {
		/*
		 * The copy could not be made, because memory has run out. So
		 * move the record itself from group->base to *record. The group
		 * then does not know the newest generation, and must search the
		 * store for it before it makes its next record.
		 */
		*record = group->base;
		group->base = (struct generation){0};
	}
}

/*
 * Makes one record of the changes of `members`. *record receives a copy of the
 * new record for the hook `follow`. record->number is 0 if no record was made,
 * or if there is no such hook.
 */
static void make_record(struct generation_group *group,
			struct generation *record,
			struct commit_member *const *members, size_t nr)
{
	struct error err = ERROR_INIT;
	int ret = renew(group, members, nr, &err);

	*record = (struct generation){0};
	if (ret) {
		fail_all(members, nr, ret, &err);
		return;
	}
	commit_make(&group->base, group->place, members, nr);
	tell_made(group, record, members, nr);
}

/*
 * This thread stops being the leader. Wakes another thread that waits. The
 * caller holds the lock.
 */
static void end_lead(struct generation_group *group)
{
	group->is_led = false;
	pthread_cond_broadcast(&group->changed);
}

/*
 * Makes one record of the waiting changes. The caller holds the lock and is the
 * leader. After the call, this thread is no longer the leader. `is_idle`: no
 * record was being made when this thread came. In this case, the thread first
 * waits a short time, so that other threads can add changes to the record.
 */
static void lead(struct generation_group *group, bool is_idle)
{
	const struct generation_host *host = group->place->host;
	struct commit_member *members[BATCH_MAX];
	struct waiting *batch[BATCH_MAX];
	struct generation record;
	size_t nr;

	if (is_idle && group->gather_ns) {
		pthread_mutex_unlock(&group->lock);
		host->sleep_ns(host->ctx, group->gather_ns);
		pthread_mutex_lock(&group->lock);
	}
	nr = take_batch(group, batch);
	pthread_mutex_unlock(&group->lock);

	for (size_t i = 0; i < nr; i++)
		members[i] = &batch[i]->m;
	make_record(group, &record, members, nr);

	pthread_mutex_lock(&group->lock);
	end_lead(group);
	if (record.number) {
		pthread_mutex_unlock(&group->lock);
		group->hooks.follow(group->hooks.ctx, &record);
		generation_release(&record);
		pthread_mutex_lock(&group->lock);
	}
	for (size_t i = 0; i < nr; i++)
		batch[i]->is_answered = true;
	pthread_cond_broadcast(&group->changed);
}

/*
 * Puts a change into the queue, and waits until a leader has made the record
 * with this change. This thread becomes the leader if there is none. Returns
 * the result of the change: a value of generation_commit_result or a negative
 * error code.
 */
static int queue(struct generation_group *group, struct waiting *w,
		 struct error *err)
{
	bool is_idle = true;

	pthread_mutex_lock(&group->lock);
	*group->last = w;
	group->last = &w->next;
	while (!w->is_answered) {
		/*
		 * The leader is the thread that makes the next record, from the
		 * changes of several threads. Wait in two cases:
		 * - Another thread is the leader (group->is_led).
		 * - A thread that was the leader before has tried to make the
		 *   record with the change of this thread (w->is_taken), and
		 *   has stopped being the leader. But it still runs the hook
		 *   `follow` for this record, so w->is_answered is not set yet.
		 *   This thread must not become the leader, because its change
		 *   is not in the queue any more. The next leader is a thread
		 *   whose change was not taken yet.
		 */
		if (group->is_led || w->is_taken) {
			pthread_cond_wait(&group->changed, &group->lock);
			is_idle = false;
			continue;
		}
		group->is_led = true;
		lead(group, is_idle);
	}
	pthread_mutex_unlock(&group->lock);
	if (w->m.result && err)
		*err = w->m.err;
	return w->m.result;
}

int generation_group_session(struct generation_group *group,
			     const struct generation_change *change,
			     const struct generation_session *session,
			     struct error *err)
{
	struct waiting w = {.m = {.change = change, .session = *session}};
	int ret = rebase_check(change, err);

	return ret ? ret : queue(group, &w, err);
}

int generation_group_commit(struct generation_group *group,
			    const struct generation_change *change,
			    struct error *err)
{
	struct waiting w = {.next = NULL};
	uint64_t hint;
	int ret = commit_start(&w.m, group->place, change, err);

	pthread_mutex_lock(&group->lock);
	hint = group->is_led ? 0 : group->base.number;
	pthread_mutex_unlock(&group->lock);
	if (!ret)
		ret = commit_upload(change, &w.m.session, group->place, hint,
				    err);
	return ret ? ret : queue(group, &w, err);
}
