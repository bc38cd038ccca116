/* SPDX-License-Identifier: MIT */
/*
 * Makes a record: the file that describes one generation (version) of a
 * repository. The name of the file has the number of the generation. A put
 * makes the file only if no file of this name exists. Each record has a random
 * token, by which its writer recognises it. A try for one number has these
 * states:
 *
 *	put record --- written -----------------------------> COMMITTED
 *	  ^     |----- no effect, first put ----------------> STORE_DOWN
 *	  |     `----- taken, or unknown
 *	  |                 |
 *	  |            read record --- ours, and taken -----> COMMITTED
 *	  |                 |    `---- another's -----------> next number
 *	  `-- ours, and unknown; no record; no answer;
 *	      after CREATE_TRIES ---------------------------> UNKNOWN
 *
 * If the answer to a put is lost, the put may have taken effect, or may take
 * effect later. If a put is refused because the name is taken, the record is
 * another writer's, or an earlier put of ours has made it. In both cases, the
 * record with this number is read:
 *
 * - The record has another token: another writer has made it. The next number
 *   is tried. No earlier put of ours can take effect any more, because the name
 *   of a record stays taken.
 * - The record has our token, and the last put was refused because the name is
 *   taken: the record is durable (filestore_put()), and counts as COMMITTED.
 * - The record has our token, and the answer to the last put was lost: the
 *   record may not be durable. In a store in a directory, a power loss can
 *   remove it. So the same bytes are put again.
 * - There is no record, or no answer: the same bytes are put again.
 */
#include <inttypes.h>
#include <string.h>

#include "base/bytes.h"
#include "base/mem.h"
#include "generations/commit.h"
#include "generations/names.h"
#include "generations/rebase.h"
#include "sys/thread.h"

/* maximum number of puts of one record, and of one file */
#define CREATE_TRIES 4
#define UPLOAD_TRIES 3
/*
 * The pause before the second try is a random time up to this limit. The limit
 * doubles with each further try.
 */
#define PAUSE_NS ((uint64_t)10000000)

/*
 * Results inside this file. TAKEN: another writer has made the record with this
 * number.
 *
 * AGAIN: the record must be composed again, without one of its changes, because
 * that change is too old. A record may have several changes. The files of a
 * change are safe from garbage collection only for session_ns after the first
 * upload of the change. AGAIN is returned if this time has passed for one of
 * the changes before the record was put.
 */
enum { TAKEN = 100, AGAIN = 101 };

/* Waits for a random time, so that competing writers do not collide again. */
static void pause_before(const struct generation_host *host, unsigned nr)
{
	uint8_t random[8] = {0};
	uint64_t max = PAUSE_NS << nr;

	if (!host->random(host->ctx, random, sizeof(random), NULL))
		host->sleep_ns(host->ctx, load_be64(random) % max);
}

/* ---- files */

static int start_session(struct generation_session *s,
			 const struct generation_place *place,
			 const struct generation_change *change,
			 struct error *err)
{
	const struct generation_host *host = place->host;
	int ret = rebase_check(change, err);

	memset(s, 0, sizeof(*s));
	s->start_ns = host->now_ns(host->ctx);
	s->start_time = host->time(host->ctx);
	if (!ret)
		ret = host->random(host->ctx, s->upload, sizeof(s->upload),
				   err);
	return ret;
}

int commit_start(struct commit_member *m, const struct generation_place *place,
		 const struct generation_change *change, struct error *err)
{
	memset(m, 0, sizeof(*m));
	m->change = change;
	return start_session(&m->session, place, change, err);
}

static bool is_over(const struct commit_member *m,
		    const struct generation_host *host)
{
	uint64_t limit = m->change->session_ns;
	int64_t seconds = host->time(host->ctx) - m->session.start_time;

	/*
	 * Measure the session's age by both clocks of the host: the monotonic
	 * clock now_ns() may stop while the machine is suspended.
	 */
	return host->now_ns(host->ctx) - m->session.start_ns >= limit ||
	       (seconds > 0 && (uint64_t)seconds > limit / 1000000000);
}

struct upload {
	const struct generation_change *change;
	const struct generation_session *session;
	const struct generation_place *place;
	uint64_t hint;
	/* the generation that must still be in the store; NULL: do not check */
	const struct generation *known;
	/*
	 * owned: one result for each file, then the results for the hint and
	 * for `known`
	 */
	int *results;
};

static int put_file(const struct upload *u, const struct generation_upload *up,
		    struct error *err)
{
	static const struct filestore_condition always = {STORE_ALWAYS, NULL};
	const struct generation_place *place = u->place;
	struct generation_file file = up->file;
	struct buf name = BUF_INIT;
	int ret;

	memcpy(file.upload, u->session->upload, sizeof(file.upload));
	ret = generation_file_name(&name, place->repository, &file, err);
	if (!ret && !up->local_path)
		ret = filestore_put(place->store, NULL, name.data,
				    up->bytes ? up->bytes : "",
				    (size_t)file.size, &always, err);
	else if (!ret)
		/*
		 * Readers refuse a file if its hash differs from the hash in
		 * the record. The local file may have been replaced after its
		 * hash was computed: files of an import can be symlinks to
		 * files of a repository, and a repack of this repository may
		 * replace them. So pass the hash.
		 */
		ret = filestore_put_file(place->store, NULL, name.data,
					 up->local_path, file.sha256, &always,
					 err);
	buf_release(&name);
	return ret;
}

/*
 * Finds out whether the store has the generation that the change was made from.
 * Returns 0, GENERATION_LOST, GENERATION_STORE_DOWN or a negative error code.
 */
static int prove(const struct upload *u, struct error *err)
{
	int ret = generation_prove(u->place, u->known, err);

	if (ret == STORE_ABSENT)
		return GENERATION_LOST;
	return ret > 0 ? GENERATION_STORE_DOWN : ret;
}

static int run_upload(void *ctx, unsigned thread_nr, size_t nr,
		      struct error *err)
{
	const struct upload *u = ctx;
	const struct generation_change *change = u->change;
	int ret = STORE_AMBIGUOUS;

	if (nr == change->upload_nr) {
		/*
		 * Ignore a failure: without the hint, a search only takes
		 * longer.
		 */
		if (u->hint)
			generation_write_hint(u->place, u->hint, NULL);
		return 0;
	}
	if (nr > change->upload_nr) {
		u->results[nr] = prove(u, err);
		return u->results[nr] ? ERR_PEER : 0;
	}
	/*
	 * The name contains the token of this upload. So nobody else writes a
	 * file of this name, and the put can be repeated safely.
	 */
	for (unsigned i = 0; ret == STORE_AMBIGUOUS && i < UPLOAD_TRIES; i++) {
		if (i)
			pause_before(u->place->host, i);
		ret = put_file(u, &change->uploads[nr], err);
	}
	u->results[nr] = ret;
	return ret ? ERR_PEER : 0;
}

/*
 * Writes the files of a change in parallel. At the same time, does two more
 * things:
 * - If u->hint is not 0, writes this number into the hint, the file in the
 *   store that tells a search for the newest record where to start.
 * - If u->known is not NULL, checks that the store still has this generation,
 *   from which the change was made.
 *
 * Returns 0, GENERATION_LOST if the store does not have u->known,
 * GENERATION_STORE_DOWN, or a negative error code.
 */
static int upload(struct upload *u, struct error *err)
{
	size_t nr = u->change->upload_nr, all = nr + 2;
	unsigned threads = u->place->host->threads;
	int ret;

	/*
	 * Do not write the hint for a change without files: a request only for
	 * the hint would cost one more round trip.
	 */
	if (!nr)
		u->hint = 0;
	if (!u->known)
		all = nr + (u->hint > 0);
	else if (threads > 1)
		/*
		 * Use one more thread, so that the check of `known` does not
		 * wait until a file is written.
		 */
		threads++;
	if (!all)
		return 0;
	u->results = mem_calloc(nr + 2, sizeof(*u->results));
	if (!u->results)
		return error_nomem(err);
	ret = sys_parallel(threads, all, run_upload, u, err);
	if (ret < 0) {
		ret = GENERATION_STORE_DOWN;
		for (size_t i = 0; i < nr + 2; i++)
			if (u->results[i] < 0)
				ret = u->results[i];
		if (u->results[nr + 1])
			ret = u->results[nr + 1];
	}
	free(u->results);
	return ret;
}

int commit_upload(const struct generation_change *change,
		  const struct generation_session *session,
		  const struct generation_place *place, uint64_t hint,
		  struct error *err)
{
	struct upload u = {change, session, place, hint, NULL, NULL};

	return upload(&u, err);
}

/* ---- the record */

struct commit {
	const struct generation_place *place;
	struct generation *base; /* borrowed */
	struct commit_member *const *members;
	size_t nr;
	/*
	 * true: `base` was the newest generation at some moment since the call
	 * of commit_make() began
	 */
	bool is_newest;
	/* number of changes in record `next` */
	int accepted;
	struct generation next, found; /* owned */
	/*
	 * Owned: the generation that the caller passed in *base. Set when *base
	 * is replaced, because the changes may still borrow from the old
	 * generation.
	 */
	struct generation given;
	/* owned: name and text of record `next` */
	struct buf name, text;
	struct error err;
};

/*
 * Sets the results of the members that have none yet, and marks all members as
 * done. `result` is the result of making the record.
 *
 * - A member whose change is in the record gets `result`.
 * - A refused member keeps the reason of its refusal if the record was made, or
 *   if there was no record to make.
 * - If a record was composed but could not be made, a refused member gets
 *   GENERATION_BUSY, so that it tries again: a change in this record may have
 *   caused the refusal.
 */
static void end_all(struct commit *c, int result)
{
	/*
	 * true: at least one change was not refused, so a record was composed
	 */
	bool had_record = false;

	for (size_t i = 0; i < c->nr; i++)
		had_record |= !c->members[i]->is_done && !c->members[i]->result;
	for (size_t i = 0; i < c->nr; i++) {
		struct commit_member *m = c->members[i];

		if (m->is_done)
			continue;
		m->is_done = true;
		if (!m->result) {
			m->result = result;
			m->err = c->err;
		} else if (result && had_record && m->result > 0) {
			m->result = GENERATION_BUSY;
		}
	}
}

static bool has_members(const struct commit *c)
{
	for (size_t i = 0; i < c->nr; i++)
		if (!c->members[i]->is_done)
			return true;
	return false;
}

/*
 * Returns whether a change in the record has passed its time limit (the field
 * session_ns of struct generation_change). A garbage collection may then have
 * deleted the files of the change.
 */
static bool any_is_over(const struct commit *c)
{
	for (size_t i = 0; i < c->nr; i++)
		if (!c->members[i]->is_done && !c->members[i]->result &&
		    is_over(c->members[i], c->place->host))
			return true;
	return false;
}

static void end_old(struct commit *c)
{
	for (size_t i = 0; i < c->nr; i++) {
		struct commit_member *m = c->members[i];

		if (m->is_done || !is_over(m, c->place->host))
			continue;
		m->result = GENERATION_TOO_LATE;
		m->is_done = true;
		error_set(&m->err, ERR_PEER,
			  "the change took longer than the time limit of a "
			  "session");
	}
}

/*
 * Sets the fields of the new record that say how it was made: the time, a new
 * token, and the node, user and action of `change`, the first change in the
 * record. Returns 0 or a negative error code.
 */
static int sign(struct commit *c, const struct generation_change *change)
{
	const struct generation_host *host = c->place->host;
	struct generation *next = &c->next;
	int64_t now = host->time(host->ctx);

	next->time = now < 0 ? 0 : now;
	next->node = mem_strdup(change->node ? change->node : "");
	next->user = mem_strdup(change->user ? change->user : "");
	next->action = mem_strdup(change->action ? change->action : "");
	if (!next->node || !next->user || !next->action)
		return error_nomem(&c->err);
	return host->random(host->ctx, next->token, sizeof(next->token),
			    &c->err);
}

static int print_next(struct commit *c)
{
	buf_reset(&c->text);
	buf_reset(&c->name);
	if (generation_print(&c->text, NULL, &c->next, &c->err) < 0)
		return c->err.code;
	return generation_record_name(&c->name, c->place->repository,
				      c->next.number, &c->err);
}

/*
 * Composes the next generation from all changes that are not refused. Returns
 * the number of these changes, or a negative error code. Sets *has_refused to
 * whether any change was refused.
 */
static int compose(struct commit *c, bool *has_refused)
{
	const struct generation_change *first = NULL;
	int ret, accepted = 0;

	generation_release(&c->next);
	ret = rebase_start(&c->next, c->base, &c->err);
	*has_refused = false;
	for (size_t i = 0; !ret && i < c->nr; i++) {
		struct commit_member *m = c->members[i];

		if (m->is_done)
			continue;
		m->result = rebase_apply(&c->next, m->change, m->session.upload,
					 !accepted, &m->err);
		if (m->result == ERR_NOMEM)
			return error_nomem(&c->err);
		*has_refused |= m->result != 0;
		if (m->result)
			continue;
		first = accepted++ ? first : m->change;
	}
	if (!ret && accepted)
		ret = sign(c, first);
	c->accepted = accepted;
	if (!ret && accepted)
		ret = print_next(c);
	return ret ? ret : accepted;
}

/*
 * Finds out who made the record with this number. Returns GENERATION_COMMITTED
 * if the record has the token of c->next, or TAKEN if another writer has made
 * it. Returns STORE_AMBIGUOUS if the record cannot be read, or if the record
 * was retired and it is not known who made it. (A garbage collection retires a
 * record: it replaces the record by one of the same name without content.)
 */
static int look_at(struct commit *c)
{
	int ret;

	generation_release(&c->found);
	ret = generation_read(&c->found, c->place, c->next.number, &c->err);
	if (ret)
		return STORE_AMBIGUOUS;
	if (c->found.is_retired)
		/*
		 * A retired record has no content any more, and so no token
		 * that says who made it. But time may exclude this writer. A
		 * garbage collection retires a record only after a grace
		 * period, which is longer than session_ns. Suppose that this
		 * writer had made the record from its changes. Then session_ns
		 * would have passed since the first upload of each of these
		 * changes. any_is_over() tells whether session_ns has passed
		 * for any change of this writer. If the result is false, this
		 * writer cannot have made the record, so another writer has
		 * made it. If the result is true, it is not known who made the
		 * record.
		 */
		return any_is_over(c) ? STORE_AMBIGUOUS : TAKEN;
	return memcmp(c->found.token, c->next.token, sizeof(c->next.token))
		       ? TAKEN
		       : GENERATION_COMMITTED;
}

/*
 * Asks the store to create the record, up to CREATE_TRIES times, until it is
 * known whether the record was made. Returns a value of
 * generation_commit_result or a negative error code. Two more values are
 * possible. TAKEN: another writer has made the record with this number. AGAIN:
 * one of the changes is too old, so the record must be composed again without
 * this change.
 */
static int create(struct commit *c)
{
	static const struct filestore_condition create_it = {STORE_CREATE,
							     NULL};

	for (unsigned i = 0; i < CREATE_TRIES; i++) {
		bool is_taken;
		int ret;

		if (i)
			pause_before(c->place->host, i);
		if (any_is_over(c))
			return i ? GENERATION_UNKNOWN : AGAIN;
		ret = filestore_put(c->place->store, NULL, c->name.data,
				    c->text.data, c->text.len, &create_it,
				    &c->err);
		if (!ret)
			return GENERATION_COMMITTED;
		if (ret != STORE_CONFLICT && ret != STORE_AMBIGUOUS) {
			/*
			 * This put had no effect. But an earlier put, whose
			 * answer was lost, may have had one.
			 */
			if (i)
				return GENERATION_UNKNOWN;
			return ret < 0 ? ret : GENERATION_STORE_DOWN;
		}
		is_taken = ret == STORE_CONFLICT;
		ret = look_at(c);
		if (ret == TAKEN || (ret != STORE_AMBIGUOUS && is_taken))
			return ret;
	}
	return GENERATION_UNKNOWN;
}

/*
 * Replaces the generation *c->base by *g, and zeroes *g. The first call moves
 * the old generation, which came from the caller, to c->given: the changes may
 * borrow from it. Later calls release the old generation.
 */
static void replace_base(struct commit *c, struct generation *g)
{
	if (c->given.number)
		generation_release(c->base);
	else
		c->given = *c->base;
	*c->base = *g;
	memset(g, 0, sizeof(*g));
}

/*
 * Replaces *base by the newest generation. `at_least` is the number of a record
 * that exists, or 0. Returns 0, GENERATION_STORE_DOWN, or a negative error
 * code.
 */
static int refresh(struct commit *c, uint64_t at_least)
{
	struct generation newest;
	int ret = generation_newest(&newest, c->place, at_least, &c->err);

	if (!ret)
		replace_base(c, &newest);
	/* A new repository has no generation. That is no error. */
	if (ret == STORE_ABSENT && !at_least)
		ret = 0;
	c->is_newest = true;
	return ret > 0 ? GENERATION_STORE_DOWN : ret;
}

/*
 * Makes the record of another writer (c->found) the base of the next try. After
 * more than one collision, uses the newest record. Returns 0,
 * GENERATION_STORE_DOWN or a negative error code.
 */
static int advance(struct commit *c, unsigned tries)
{
	if (!c->found.is_retired)
		replace_base(c, &c->found);
	pause_before(c->place->host, tries);
	/*
	 * After the first collision, the next number may be free. After more
	 * collisions, search for the newest record.
	 */
	return tries ? refresh(c, c->next.number) : 0;
}

/*
 * Writes the hint (a file with the number of a recent generation) for a new
 * repository. Repositories are listed by their hints, so the hint must exist
 * before the first record. For later records, commit_upload() writes the hint.
 * Returns 0, GENERATION_STORE_DOWN or a negative error code.
 */
static int announce(struct commit *c)
{
	int ret = c->next.number == 1
			  ? generation_write_hint(c->place, 1, &c->err)
			  : 0;

	return ret > 0 ? GENERATION_STORE_DOWN : ret;
}

/*
 * Makes the record of the next generation, with all changes of c->members that
 * are not refused. If another writer has taken the number of the record, tries
 * again with a later number, up to GENERATION_TRIES times. Returns the
 * generation_commit_result of the changes that were not refused, or a negative
 * error code. If all changes were refused, no record is made, and the function
 * returns 0.
 */
static int make(struct commit *c)
{
	unsigned tries = 0;

	while (tries < GENERATION_TRIES) {
		bool has_refused;
		int ret;

		end_old(c);
		if (!has_members(c))
			return 0;
		ret = compose(c, &has_refused);
		if (ret >= 0 && has_refused && !c->is_newest) {
			ret = refresh(c, c->base->number);
			if (ret)
				return ret;
			continue;
		}
		if (ret <= 0)
			return ret;
		ret = announce(c);
		if (ret)
			return ret;
		ret = create(c);
		if (ret == GENERATION_COMMITTED)
			replace_base(c, &c->next);
		if (ret != TAKEN && ret != AGAIN)
			return ret;
		if (ret == TAKEN)
			ret = advance(c, tries++);
		if (ret < 0 || ret == GENERATION_STORE_DOWN)
			return ret;
	}
	error_set(
		&c->err, ERR_PEER,
		"other writers changed the repository first, in each attempt");
	return GENERATION_BUSY;
}

/*
 * Makes one record that contains the changes of all members. A member is one
 * change of a repository, for example one push, with its result.
 *
 * Returns 0 with the result in each member: `is_done` of all members is then
 * set. Returns 1 if no record was made, because the changes together are too
 * long for one record. In this case, `is_done` is set only for members whose
 * time limit (session_ns) has passed. For each other member, the caller must
 * call this function once more, with this member alone.
 */
static int make_record(struct generation *base,
		       const struct generation_place *place,
		       struct commit_member *const *members, size_t nr)
{
	struct commit c = {
		.place = place,
		.base = base,
		.members = members,
		.nr = nr,
		.name = BUF_INIT,
		.text = BUF_INIT,
	};
	int ret = make(&c);
	/* the changes together are too long for one record */
	bool are_many = ret == ERR_INVALID && c.accepted > 1;

	if (ret == GENERATION_UNKNOWN)
		error_set(&c.err, ERR_PEER,
			  "it is not known whether the change was made: %s",
			  c.err.msg);
	if (!are_many)
		end_all(&c, ret);
	generation_release(&c.next);
	generation_release(&c.found);
	generation_release(&c.given);
	buf_release(&c.name);
	buf_release(&c.text);
	return are_many;
}

void commit_make(struct generation *base, const struct generation_place *place,
		 struct commit_member *const *members, size_t nr)
{
	if (!make_record(base, place, members, nr))
		return;
	for (size_t i = 0; i < nr; i++)
		if (!members[i]->is_done)
			make_record(base, place, &members[i], 1);
}

int generation_session_begin(struct generation_session *session,
			     const struct generation_place *place,
			     const struct generation_change *change,
			     const struct generation *known, struct error *err)
{
	struct upload u = {change, session, place, 0, known, NULL};
	int ret = start_session(session, place, change, err);

	memcpy(session->seen_token, known->token, sizeof(known->token));
	return ret ? ret : upload(&u, err);
}

int generation_session_commit(struct generation *base,
			      const struct generation_place *place,
			      const struct generation_change *change,
			      const struct generation_session *session,
			      struct error *err)
{
	struct commit_member m = {.change = change, .session = *session};
	struct commit_member *members = &m;
	int ret = rebase_check(change, err);

	if (ret)
		return ret;
	commit_make(base, place, &members, 1);
	if (m.result && err)
		*err = m.err;
	return m.result;
}

static bool has_upload(const struct generation *g,
		       const struct generation_session *session)
{
	for (size_t i = 0; i < g->file_nr; i++)
		if (!memcmp(g->files[i].upload, session->upload,
			    sizeof(session->upload)))
			return true;
	return false;
}

int generation_session_find(const struct generation_place *place,
			    uint64_t at_least,
			    const struct generation_session *session)
{
	static const struct filestore_condition create_it = {STORE_CREATE,
							     NULL};
	struct buf name = BUF_INIT, text = BUF_INIT;
	struct generation g = {0};
	int result = GENERATION_UNKNOWN;

	/*
	 * If the store is a directory, a power loss could still remove the
	 * record that was read here. So put the record once more.
	 * STORE_CONFLICT means that the record was still there; filestore_put()
	 * has then made it durable.
	 */
	if (!generation_newest(&g, place, at_least, NULL) &&
	    has_upload(&g, session) &&
	    !generation_record_name(&name, place->repository, g.number, NULL) &&
	    !generation_print(&text, NULL, &g, NULL) &&
	    filestore_put(place->store, NULL, name.data, text.data, text.len,
			  &create_it, NULL) == STORE_CONFLICT)
		result = GENERATION_COMMITTED;
	generation_release(&g);
	buf_release(&name);
	buf_release(&text);
	return result;
}

int generation_commit(struct generation *base,
		      const struct generation_place *place,
		      const struct generation_change *change, struct error *err)
{
	struct generation_session session;
	int ret = start_session(&session, place, change, err);

	if (!ret)
		ret = commit_upload(change, &session, place, base->number, err);
	return ret ? ret
		   : generation_session_commit(base, place, change, &session,
					       err);
}
