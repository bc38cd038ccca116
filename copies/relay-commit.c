/* SPDX-License-Identifier: MIT */
/* Makes records for pushes, in the relay of a node. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "copies/copy.h"
#include "copies/relay.h"
#include "generations/passing.h"
#include "store/relay-message.h"
#include "stored/finder.h"

/*
 * Maximum number of repositories that a relay remembers. If there are more,
 * those into which nobody pushes at the moment are forgotten.
 */
#define IDLE_MAX 256
/*
 * A proof that the store has the base (the generation before the next record)
 * is valid for this number of nanoseconds. Either the store has given the
 * proof, or this relay has made the base. Later, the store must prove it again
 * before a record is made.
 */
#define PROOF_NS UINT64_C(1000000000)

struct relay_repository {
	struct relay_commits *commits; /* borrowed */
	char *name;                    /* owned */
	/*
	 * The repository in the store: `place` has the usual time limits,
	 * `probe` has short ones.
	 */
	struct generation_place place, probe;
	struct generation_group *group; /* owned */
	/*
	 * Used only by the thread that makes the records of the group (its
	 * leader).
	 */
	struct stored_finder finder;
	/*
	 * The last time (sys_clock_ns()) at which the store was known to have
	 * the base: the generation after which the next record is made. The
	 * time is set when this relay makes the base, and when the store proves
	 * that it has the base. 0: neither has happened for this base.
	 */
	uint64_t proved_ns;
	/* The lock of struct relay_commits guards the fields from here on. */
	struct relay_repository *next;
	unsigned users;
	/* number of the newest record that this relay has made */
	uint64_t made;
	/*
	 * Owned: the record `made`, as long as it must still be written into
	 * the hint; otherwise zero.
	 */
	struct generation hint;
};

struct relay_commits {
	struct relay_commits_options options;
	pthread_mutex_t lock; /* guards the fields below */
	struct relay_repository *first;
	size_t nr;
};

struct relay_commits *relay_commits_new(
	const struct relay_commits_options *options)
{
	struct relay_commits *c = mem_calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->options = *options;
	if (!pthread_mutex_init(&c->lock, NULL))
		return c;
	free(c);
	return NULL;
}

static void free_repository(struct relay_repository *r)
{
	generation_group_free(r->group);
	stored_finder_release(&r->finder);
	generation_release(&r->hint);
	free(r->name);
	free(r);
}

void relay_commits_free(struct relay_commits *c)
{
	if (!c)
		return;
	while (c->first) {
		struct relay_repository *r = c->first;

		c->first = r->next;
		free_repository(r);
	}
	pthread_mutex_destroy(&c->lock);
	free(c);
}

static void warn(const struct relay_repository *r, const char *what,
		 const struct error *why)
{
	const struct relay_commits_options *o = &r->commits->options;
	struct buf text = BUF_INIT;

	if (o->warn &&
	    !buf_printf(&text, "push to '%s': %s: %s", r->name, what, why->msg))
		o->warn(o->ctx, text.data);
	buf_release(&text);
}

/* ---- the base of a record */

/*
 * Replaces *base by the newest generation that is named in the local copy. Two
 * files in it name a generation: the marker has the generation of the copy, and
 * a note has the newest generation that pushes of this node have made
 * (stored_copy_newest_made()). Zeroes *base if there is no usable copy. Returns
 * 0 or a negative error code.
 */
static int load_base(struct relay_repository *r, struct generation *base,
		     struct error *err)
{
	struct generation g = {0};
	struct stored_copy *copy;
	int ret = stored_copy_enter(&copy, r->commits->options.node, r->name,
				    err);

	if (ret)
		return ret;
	ret = stored_copy_newest_made(&g, copy, err);
	stored_copy_close(copy);
	if (ret < 0)
		return ret;
	generation_release(base);
	*base = g;
	r->proved_ns = 0;
	return 0;
}

/*
 * Zeroes *base, because the store has lost this generation. The next record
 * then needs a search for the newest generation in the store.
 */
static void drop_base(struct generation *base)
{
	generation_release(base);
	*base = (struct generation){0};
}

/*
 * Called before the relay makes a record after *base. The relay is the process
 * that makes the records of all pushes to this machine. `seen` is the number of
 * a generation that the pushing process has found in the store. If *base is
 * older than `seen`, replaces *base by the newest generation that load_base()
 * finds in the node's local copy of the repository.
 *
 * If *base is newer than `seen`, the pushing process has not found *base in the
 * store. This relay has made *base earlier, or has read it from the local copy.
 * If the store was restored from a backup since then, it may have lost *base.
 * So if *base is newer than `seen`, asks the store whether it has *base. But if
 * there is a proof that the store has *base, and this proof is less than
 * PROOF_NS old, does not ask again. If the store has lost *base, *base is
 * zeroed. Returns 0 or a negative error code.
 */
static int renew(void *ctx, struct generation *base, uint64_t seen,
		 struct error *err)
{
	struct relay_repository *r = ctx;
	const struct generation_host *host = r->place.host;
	uint64_t now = host->now_ns(host->ctx);
	int ret = 0;

	if (base->number < seen)
		ret = load_base(r, base, err);
	if (ret || base->number <= seen ||
	    (r->proved_ns && now - r->proved_ns < PROOF_NS))
		return ret;
	ret = generation_prove(&r->probe, base, err);
	if (!ret)
		r->proved_ns = now;
	if (ret != STORE_ABSENT)
		return ret;
	drop_base(base);
	return 0;
}

/* ---- after a record */

/*
 * Notes the new record in the copy (stored_copy_note_made()). This is done
 * before the files of the copy are brought to the new state. A worker that
 * refreshes the copy in the meantime reads the note, and asks the store only
 * for records after the noted one.
 */
static void note(const struct relay_repository *r, const struct generation *g)
{
	struct stored_copy *copy;

	/*
	 * Ignore errors: without the note, a worker only sends some more
	 * requests.
	 */
	if (stored_copy_enter(&copy, r->commits->options.node, r->name, NULL))
		return;
	stored_copy_note_made(copy, g, NULL);
	stored_copy_close(copy);
}

static void made(void *ctx, const struct generation *g)
{
	struct relay_repository *r = ctx;
	const struct generation_host *host = r->place.host;

	note(r, g);
	r->proved_ns = host->now_ns(host->ctx);
	pthread_mutex_lock(&r->commits->lock);
	r->made = g->number;
	pthread_mutex_unlock(&r->commits->lock);
}

/*
 * If *g is the newest record of this relay, keeps it in r->hint and zeroes *g.
 * The hint (a file in the store with a copy of a recent record, or with its
 * number) is written from r->hint later. Older records need no hint.
 */
static void keep_for_hint(struct relay_repository *r, struct generation *g)
{
	pthread_mutex_lock(&r->commits->lock);
	if (g->number == r->made) {
		generation_release(&r->hint);
		r->hint = *g;
		*g = (struct generation){0};
	}
	pthread_mutex_unlock(&r->commits->lock);
}

/*
 * Called once for each new record; a record may have the changes of several
 * pushes. *g is the generation (version of the repository) that the record
 * makes. Brings the local copy of the repository on this node to *g. Does
 * nothing if the copy already has a newer generation: several threads may call
 * this function for several records of one repository, in any order.
 */
static void follow(void *ctx, struct generation *g)
{
	struct relay_repository *r = ctx;
	struct error why = ERROR_INIT;
	struct stored_copy *copy;
	int ret = stored_copy_enter(&copy, r->commits->options.node, r->name,
				    &why);

	if (!ret)
		ret = stored_copy_advance(copy, g, &why);
	stored_copy_close(copy);
	if (ret)
		warn(r,
		     "the push succeeded, but the local copy was not updated",
		     &why);
	keep_for_hint(r, g);
}

/* ---- repositories */

static struct relay_repository *make_repository(struct relay_commits *c,
						const char *name)
{
	struct relay_repository *r = mem_calloc(1, sizeof(*r));
	struct stored_node *node = c->options.node;

	if (!r)
		return NULL;
	r->commits = c;
	r->name = mem_strdup(name);
	r->place = (struct generation_place){node->store, &node->host, r->name};
	r->probe = r->place;
	if (node->probe)
		r->probe.store = node->probe;
	r->finder = (struct stored_finder){.cache = node->cache,
					   .place = &r->place};
	/*
	 * 0: the group does not wait for more changes before it makes a record.
	 * While one record is made, further changes arrive and go into the next
	 * record together.
	 */
	r->group = r->name ? generation_group_new(&r->place, 0) : NULL;
	if (!r->group) {
		free_repository(r);
		return NULL;
	}
	generation_group_set_hooks(r->group, &(struct generation_group_hooks){
						     renew, made, follow, r});
	return r;
}

/*
 * Removes from the list the repositories that no request uses, and frees them.
 * The caller holds c->lock.
 */
static void forget_idle(struct relay_commits *c)
{
	struct relay_repository **at = &c->first;

	while (*at) {
		struct relay_repository *r = *at;

		if (r->users) {
			at = &r->next;
			continue;
		}
		*at = r->next;
		c->nr--;
		free_repository(r);
	}
}

static struct relay_repository *use(struct relay_commits *c, const char *name)
{
	struct relay_repository *r;

	pthread_mutex_lock(&c->lock);
	for (r = c->first; r; r = r->next)
		if (!strcmp(r->name, name))
			break;
	if (!r) {
		if (c->nr >= IDLE_MAX)
			forget_idle(c);
		r = make_repository(c, name);
		if (r) {
			r->next = c->first;
			c->first = r;
			c->nr++;
		}
	}
	if (r)
		r->users++;
	pthread_mutex_unlock(&c->lock);
	return r;
}

int relay_commit(struct relay_commits *commits, struct relay_repository **used,
		 struct buf *answer, struct cursor *question, struct error *err)
{
	struct generation_passed p;
	struct error why = ERROR_INIT;
	int ret = generation_passed_parse(&p, question, err);
	int result = 0;

	buf_reset(answer);
	*used = ret ? NULL : use(commits, p.repository);
	if (!ret && !*used)
		ret = error_nomem(err);
	if (!ret) {
		p.change.find_ref = stored_finder_find;
		p.change.find_ctx = &(*used)->finder;
		result = generation_group_session((*used)->group, &p.change,
						  &p.session, &why);
		if (relay_message_add_result(answer, result,
					     result ? &why : NULL))
			ret = error_nomem(err);
	}
	generation_passed_release(&p);
	return ret;
}

void relay_commit_end(struct relay_commits *commits,
		      struct relay_repository *used)
{
	struct generation hint;

	if (!used)
		return;
	pthread_mutex_lock(&commits->lock);
	hint = used->hint;
	used->hint = (struct generation){0};
	pthread_mutex_unlock(&commits->lock);
	/* Ignore errors: without the hint, searches only take longer. */
	if (hint.number)
		generation_write_hint_record(&used->probe, &hint, NULL);
	generation_release(&hint);
	pthread_mutex_lock(&commits->lock);
	used->users--;
	pthread_mutex_unlock(&commits->lock);
}
