/* SPDX-License-Identifier: MIT */
/* A push into the local copy of a repository in a store. */
#include <string.h>

#include "base/mem.h"
#include "base/strlist.h"
#include "copies/push.h"
#include "generations/passing.h"
#include "store/relay-message.h"
#include "stored/fetch.h"
#include "stored/finder.h"
#include "stored/successor.h"
#include "stored/updates.h"
#include "sys/io.h"
#include "sys/rangelock.h"
#include "sys/thread.h"

#define NS_PER_SECOND UINT64_C(1000000000)
#define PUSHES_FILE "store-pushes"

/*
 * Maximum number of tries to make a record. A try fails with GENERATION_BUSY
 * after other nodes have made GENERATION_TRIES records meanwhile.
 */
#define BUSY_TRIES 8

/*
 * Internal result: no relay (the process that makes records for all pushes of
 * this node) got the change. So this process must make the record itself.
 */
#define NO_RELAY 100

/*
 * TURN_NS: how long a push waits at most for the lock that other pushes of this
 * node hold. TURN_PAUSE_NS: the first pause between two tries to get the lock.
 * TURN_PAUSE_MAX_NS: the longest pause.
 */
#define TURN_NS (5 * NS_PER_SECOND)
#define TURN_PAUSE_NS UINT64_C(500000)
#define TURN_PAUSE_MAX_NS (4 * TURN_PAUSE_NS)

struct stored_push {
	struct stored_copy *copy; /* borrowed */
	struct stored_push_options options;
	char *node, *user; /* owned */
	/*
	 * The generation (version of the repository in the store) against which
	 * the push was checked. Only its number, parent and token are set, not
	 * its files and refs.
	 */
	struct generation seen;
	/*
	 * number of the newest generation that pushes of this node had made
	 * when this push was opened (stored_copy_made_number())
	 */
	uint64_t old_made;
	/*
	 * Owned, with the paths in the elements: the files that this push has
	 * uploaded. Emptied when the push has succeeded: the record of the new
	 * generation then names these files.
	 */
	struct generation_upload *uploads;
	size_t upload_nr, upload_alloc;
	struct generation_session session;
	bool has_session;
	/*
	 * true: a record that names the uploaded files was sent, but it is
	 * unknown whether the store has it
	 */
	bool is_unknown;
	struct stored_finder finder; /* owned */
	/*
	 * valid if has_hint: the thread that writes the hint for the generation
	 * `made`; `made` is owned
	 */
	pthread_t hint;
	bool has_hint;
	struct generation_place hint_place;
	struct generation made;
};

/* ---- results for the client */

/*
 * Reports an error. `meaning` says what the error means for the push, and goes
 * to the client. The administrator gets `meaning` and the message of the store
 * in *detail. Returns `code`.
 */
static int fail(struct stored_push *push, int code, const char *meaning,
		const struct error *detail, struct error *err)
{
	struct buf text = BUF_INIT;

	if (push->options.warn &&
	    !buf_printf(&text, "push to '%s': %s: %s",
			stored_copy_place(push->copy)->repository, meaning,
			detail->msg))
		push->options.warn(push->options.ctx, text.data);
	buf_release(&text);
	return error_set(err, code, "%s", meaning);
}

/*
 * Tells the administrator that the push was made, but that the local copy could
 * not be brought to the new generation.
 */
static void warn_behind(struct stored_push *push, const struct error *detail)
{
	fail(push, ERR_IO,
	     "the push succeeded, but the local copy was not updated", detail,
	     NULL);
}

/*
 * Reports that the refresh at the start of a push has failed. Returns the error
 * code of the push.
 */
static int fail_open(struct stored_push *push, int ret,
		     const struct error *detail, struct error *err)
{
	if (ret == ERR_NOMEM)
		return error_nomem(err);
	/*
	 * Do not return ERR_PEER: as the result of a push, it would mean that
	 * refs may have changed.
	 */
	return fail(push, ret == ERR_PEER ? ERR_IO : ret,
		    ret == ERR_MISSING
			    ? "the store does not have the repository"
			    : "the repository cannot be read from its store",
		    detail, err);
}

/*
 * Reports that a push failed because the copy or its store cannot be read. The
 * push has sent no record yet, so its refs are unchanged. Returns the error
 * code of the push.
 */
static int fail_read(struct stored_push *push, int ret,
		     const struct error *detail, struct error *err)
{
	if (ret == ERR_NOMEM)
		return error_nomem(err);
	return fail(push, ERR_DENIED,
		    "the repository cannot be read from its store; this ref "
		    "was not changed",
		    detail, err);
}

/* ---- opening */

/*
 * Copies a name for a record. Control characters become "?", and a long name is
 * cut.
 */
static char *copy_word(const char *text, struct error *err)
{
	char *word = mem_strndup(text, strnlen(text, GENERATION_WORD_MAX));

	if (!word)
		error_nomem(err);
	for (char *p = word; p && *p; p++)
		if ((unsigned char)*p < 0x20 || *p == 0x7f)
			*p = '?';
	return word;
}

static void remember_seen(struct stored_push *push, const struct generation *g)
{
	push->seen.number = g->number;
	memcpy(push->seen.parent, g->parent, sizeof(g->parent));
	memcpy(push->seen.token, g->token, sizeof(g->token));
}

int stored_push_open(struct stored_push **out, struct stored_copy *copy,
		     const struct stored_push_options *options,
		     struct error *err)
{
	struct stored_push *push = mem_calloc(1, sizeof(*push));
	struct error why = ERROR_INIT;
	int ret;

	*out = NULL;
	if (!push)
		return error_nomem(err);
	push->copy = copy;
	push->options = *options;
	push->finder = (struct stored_finder){
		.cache = stored_copy_cache(copy),
		.place = stored_copy_place(copy),
	};
	push->node = copy_word(options->node, err);
	push->user = push->node ? copy_word(options->user, err) : NULL;
	ret = push->user ? 0 : ERR_NOMEM;
	if (!ret &&
	    (!options->was_asked || !stored_copy_generation(copy)->number))
		ret = stored_copy_refresh(copy, &why);
	if (ret) {
		ret = fail_open(push, ret, &why, err);
		stored_push_close(push);
		return ret;
	}
	remember_seen(push, stored_copy_generation(copy));
	push->old_made = stored_copy_made_number(copy);
	*out = push;
	return 0;
}

static void free_uploads(struct stored_push *push)
{
	for (size_t i = 0; i < push->upload_nr; i++) {
		free(push->uploads[i].file.path);
		free((char *)push->uploads[i].local_path);
	}
	push->upload_nr = 0;
}

void stored_push_close(struct stored_push *push)
{
	if (!push)
		return;
	if (push->has_hint)
		sys_thread_join(push->hint);
	generation_release(&push->made);
	free_uploads(push);
	free(push->uploads);
	stored_finder_release(&push->finder);
	free(push->node);
	free(push->user);
	free(push);
}

/* ---- results of a commit */

static int fail_commit(struct stored_push *push, int result,
		       const struct error *detail, struct error *err)
{
	switch (result) {
	case ERR_NOMEM:
		return error_nomem(err);
	case GENERATION_EPOCH_CHANGED:
		return fail(push, ERR_DENIED,
			    "objects of the repository were removed meanwhile; "
			    "push again",
			    detail, err);
	case GENERATION_FILE_CHANGED:
		return fail(push, ERR_DENIED,
			    "the repository was changed meanwhile; push again",
			    detail, err);
	case GENERATION_REF_CHANGED:
	case GENERATION_BUSY:
		return fail(
			push, ERR_DENIED,
			"other pushes changed the repository first; push again",
			detail, err);
	case GENERATION_STORE_DOWN:
		return fail(push, ERR_DENIED,
			    "the store of the repository does not answer; "
			    "this ref was not changed",
			    detail, err);
	case GENERATION_UNKNOWN:
		push->is_unknown = true;
		return fail(push, ERR_PEER,
			    "the store of the repository does not answer; it "
			    "is unknown whether the refs were changed",
			    detail, err);
	case GENERATION_LOST:
		return fail(
			push, ERR_DENIED,
			"the store has lost the repository, or was replaced by "
			"another store; this ref was not changed",
			detail, err);
	case GENERATION_TOO_LATE:
		return fail(push, ERR_DENIED,
			    "the push took too long; this ref was not changed, "
			    "push again",
			    detail, err);
	default:
		return fail(push, ERR_DENIED,
			    "the store of the repository does not accept the "
			    "push; this ref was not changed",
			    detail, err);
	}
}

/* ---- files */

/* The state of listing the pack directory of a quarantine. */
struct listing {
	struct stored_push *push;
	const char *dir; /* directory with the packs */
	struct error *err;
};

static bool is_wanted(const char *name)
{
	static const char *const ends[] = {".pack", ".idx", ".rev"};
	const char *dot = strrchr(name, '.');

	if (strncmp(name, "pack-", 5) != 0 || !dot)
		return false;
	for (size_t i = 0; i < ARRAY_NR(ends); i++)
		if (!strcmp(dot, ends[i]))
			return true;
	return false;
}

/*
 * Returns whether the generation has the pack to which the file `path` belongs:
 * a file with the same path, but with the extension ".pack".
 */
static bool has_pack(const struct stored_push *push, const char *path)
{
	const struct generation *g = stored_copy_generation(push->copy);
	size_t len = (size_t)(strrchr(path, '.') - path);

	for (size_t i = 0; i < g->file_nr; i++)
		if (!strncmp(g->files[i].path, path, len) &&
		    !strcmp(g->files[i].path + len, ".pack"))
			return true;
	return false;
}

static int add_file(void *ctx, const char *name)
{
	const struct listing *l = ctx;
	struct stored_push *push = l->push;
	struct generation_upload *up;
	char *path;

	if (!is_wanted(name))
		return 0;
	path = stored_join("objects/pack", name, l->err);
	if (!path)
		return ERR_NOMEM;
	if (has_pack(push, path)) {
		free(path);
		return 0;
	}
	if (mem_grow(&push->uploads, &push->upload_alloc, push->upload_nr + 1,
		     sizeof(*push->uploads)) < 0) {
		free(path);
		return error_nomem(l->err);
	}
	up = &push->uploads[push->upload_nr++];
	*up = (struct generation_upload){.file.path = path};
	up->local_path = stored_join(l->dir, name, l->err);
	return up->local_path ? 0 : ERR_NOMEM;
}

static int hash_file(void *ctx, unsigned thread_nr, size_t nr,
		     struct error *err)
{
	const struct stored_push *push = ctx;
	struct generation_upload *up = &push->uploads[nr];

	(void)thread_nr;
	return stored_describe(&up->file, up->local_path, err);
}

/*
 * Returns a change in which only those fields are set that are the same in all
 * changes of one push.
 */
static struct generation_change make_change(const struct stored_push *push)
{
	return (struct generation_change){
		.node = push->node,
		.user = push->user,
		.action = "push",
		.seen = push->seen.number,
		.uploads = push->uploads,
		.upload_nr = push->upload_nr,
		.session_ns = (uint64_t)STORED_SESSION_MAX * NS_PER_SECOND,
	};
}

/*
 * Adds the uploaded files to the cache, so that the copy gets them without a
 * download when it is brought to the new generation.
 */
static void fill_cache(struct stored_push *push)
{
	struct error ignored = ERROR_INIT;

	/*
	 * Ignore a failure: the file is then downloaded when the copy is
	 * advanced.
	 */
	for (size_t i = 0; i < push->upload_nr; i++)
		stored_cache_add(stored_copy_cache(push->copy),
				 &push->uploads[i].file,
				 push->uploads[i].local_path, &ignored);
}

static int begin_session(struct stored_push *push, struct error *err)
{
	const struct generation_change change = make_change(push);
	struct error why = ERROR_INIT;
	int ret = generation_session_begin(&push->session,
					   stored_copy_place(push->copy),
					   &change, &push->seen, &why);

	push->has_session = !ret;
	return ret ? fail_commit(push, ret, &why, err) : 0;
}

int stored_push_upload(void *ctx, const char *dir, struct error *err)
{
	struct stored_push *push = ctx;
	char *packs = stored_join(dir, "pack", err);
	struct listing l = {push, packs, err};
	int ret = packs ? sys_dir_each(packs, add_file, &l, err) : ERR_NOMEM;

	if (!ret)
		ret = sys_parallel(STORED_THREADS, push->upload_nr, hash_file,
				   push, err);
	if (!ret)
		ret = begin_session(push, err);
	if (!ret)
		fill_cache(push);
	free(packs);
	return ret;
}

/*
 * The state of stored_push_publish(), which makes one change of a generation
 * from the ref updates of a transaction.
 */
struct publishing {
	struct stored_push *push;
	struct ref_transaction *tx;
	/*
	 * The refs of the change, sorted by name, in an owned array. Their
	 * strings are in `texts`, which is owned, too. refs[i] was made from
	 * the update updates[i] of the transaction.
	 */
	struct generation_ref_change *refs;
	struct strlist texts;
	struct ref_update **updates;
	size_t nr, alloc, updates_alloc;
	struct error *err;
};

/* ---- the changes of a transaction */

/* Copies a text. The copy, *out, lives as long as the change. */
static int keep_text(const char **out, struct publishing *p, const char *text)
{
	if (strlist_add(&p->texts, text) < 0)
		return error_nomem(p->err);
	*out = p->texts.items[p->texts.nr - 1];
	return 0;
}

/*
 * Sets *out to the value of a ref as the text that a record has for it: an id,
 * or the target of a symbolic ref. Leaves *out unchanged if the ref has no
 * value.
 */
static int print_value(const char **out, struct publishing *p,
		       const struct oid *oid, const char *target)
{
	char hex[OID_MAX_HEX_LEN + 1];
	struct buf text = BUF_INIT;
	int ret;

	if (!target)
		return oid ? keep_text(out, p,
				       oid_to_hex(hex, oid,
						  p->push->options.algo))
			   : 0;
	ret = buf_printf(&text, "%s%s", STORED_SYMBOLIC, target) < 0
		      ? error_nomem(p->err)
		      : keep_text(out, p, text.data);
	buf_release(&text);
	return ret;
}

static int add_effect(void *ctx, const struct ref_effect *effect,
		      struct error *err)
{
	struct publishing *p = ctx;
	struct generation_ref_change *r;
	int ret;

	if (mem_grow(&p->refs, &p->alloc, p->nr + 1, sizeof(*p->refs)) < 0 ||
	    mem_grow(&p->updates, &p->updates_alloc, p->nr + 1,
		     sizeof(struct ref_update *)) < 0)
		return error_nomem(err);
	p->updates[p->nr] = effect->update;
	r = &p->refs[p->nr++];
	*r = (struct generation_ref_change){NULL, NULL, NULL};
	ret = keep_text(&r->ref, p, effect->name);
	if (!ret)
		ret = print_value(&r->before, p, effect->old_oid,
				  effect->old_target);
	return ret ? ret
		   : print_value(&r->after, p, effect->new_oid,
				 effect->new_target);
}

/* Removes from the change the refs whose updates were rejected. */
static void drop_rejected(struct publishing *p)
{
	size_t kept = 0;

	for (size_t i = 0; i < p->nr; i++) {
		if (p->updates[i]->result != REF_OK)
			continue;
		p->refs[kept] = p->refs[i];
		p->updates[kept++] = p->updates[i];
	}
	p->nr = kept;
}

/*
 * Compares the values of refs in the generation *base with the old values that
 * the push expects. If the values of a ref differ, rejects its update. Returns
 * the number of rejected updates, or a negative error code.
 */
static int reject(struct publishing *p, const struct generation *base,
		  const struct generation_change *change)
{
	size_t nr = p->nr;
	int ret = 0;

	for (size_t i = 0; !ret && i < nr; i++) {
		struct error why = ERROR_INIT;

		ret = generation_change_check_ref(base, change, i, &why);
		if (ret > 0)
			ret = ref_transaction_reject(p->tx, p->updates[i],
						     REF_OLD_DIFFERS, why.msg,
						     p->err);
		else if (ret < 0)
			ret = fail_read(p->push, ret, &why, p->err);
	}
	if (ret)
		return ret;
	drop_rejected(p);
	return (int)(nr - p->nr);
}

/*
 * Returns whether the push changes the value of any ref. If it does not, the
 * push only checks the values of refs, and needs no record.
 */
static bool changes_refs(const struct publishing *p)
{
	for (size_t i = 0; i < p->nr; i++) {
		const struct generation_ref_change *r = &p->refs[i];

		if (!r->before != !r->after ||
		    (r->before && strcmp(r->before, r->after) != 0))
			return true;
	}
	return false;
}

/* Returns a change with the files and the refs of the push. */
static struct generation_change make_ref_change(struct publishing *p)
{
	struct generation_change change = make_change(p->push);

	change.refs = p->refs;
	change.ref_nr = p->nr;
	change.find_ref = stored_finder_find;
	change.find_ctx = &p->push->finder;
	return change;
}

/* ---- the relay */

/*
 * Called if the relay has ended before it answered. Finds out whether the relay
 * has made the record of a change. Only this push knows the files that it has
 * uploaded, so only its own records can name them. So the record was made if
 * the newest generation has one of these files.
 *
 * Returns a value of generation_commit_result. The value is GENERATION_UNKNOWN
 * in two cases: the change has no uploaded files; or this push has sent an
 * earlier record with the same files, and it is unknown whether that record was
 * made.
 */
static int find_passed(const struct stored_push *push,
		       const struct generation_change *change)
{
	return change->upload_nr && !push->is_unknown
		       ? generation_session_find(stored_copy_place(push->copy),
						 push->seen.number,
						 &push->session)
		       : GENERATION_UNKNOWN;
}

/*
 * Called if the relay has ended before it answered. Finds out, like
 * find_passed(), whether the relay has made the record of the change, and
 * returns the same values. If the record was made, also brings the local copy
 * to the new generation. Usually the relay does this after it has made the
 * record, but it may have ended before.
 */
static int find_and_follow(struct stored_push *push,
			   const struct generation_change *change)
{
	int result = find_passed(push, change);
	struct error why = ERROR_INIT;

	if (result == GENERATION_COMMITTED &&
	    stored_copy_refresh(push->copy, &why))
		warn_behind(push, &why);
	return result;
}

/*
 * Sends the change to the relay, the process that makes records for all pushes
 * of this node. Returns a value of generation_commit_result, NO_RELAY if the
 * change did not reach the relay, or a negative error code.
 */
static int pass(struct publishing *p, const struct generation_change *change,
		struct error *why)
{
	struct stored_push *push = p->push;
	const struct generation_place *place = stored_copy_place(push->copy);
	struct buf question = BUF_INIT, answer = BUF_INIT;
	struct cursor c;
	int result = NO_RELAY;
	int ret = buf_append_char(&question, RELAY_COMMIT);

	if (ret)
		ret = error_nomem(why);
	if (!ret)
		ret = generation_passed_print(&question, place->repository,
					      change, &push->session, why);
	if (!ret)
		ret = relay_ask(stored_copy_relay(push->copy), &answer,
				&question, why);
	c = cursor_make(answer.data, answer.len);
	if (ret == RELAY_AWAY)
		result = NO_RELAY;
	else if (ret < 0)
		result = ret;
	else if (ret || !relay_message_take_result(&c, &result, why))
		result = find_and_follow(push, change);
	buf_release(&question);
	buf_release(&answer);
	return result;
}

/*
 * Reads the newest generation, and compares its refs with the old values that
 * the push expects. If the values of a ref differ, rejects its update. Returns
 * the number of rejected updates, or a negative error code.
 */
static int reject_passed(struct publishing *p,
			 const struct generation_change *change)
{
	const struct generation_place *place = stored_copy_place(p->push->copy);
	struct generation newest = {0};
	struct error why = ERROR_INIT;
	int ret = generation_newest(&newest, place, p->push->seen.number, &why);

	ret = ret ? fail_read(p->push,
			      stored_result(ret, place->repository, &why), &why,
			      p->err)
		  : reject(p, &newest, change);
	generation_release(&newest);
	return ret;
}

/* ---- making the record */

/*
 * Makes the record of a change: the file in the store that describes the new
 * generation (version) of the repository. If `base` is not NULL, this process
 * makes the record, and *base is the generation before it. If `base` is NULL,
 * the relay makes the record, perhaps together with the changes of other
 * pushes. The relay is the process that makes records for all pushes of this
 * node. Returns a value of generation_commit_result, NO_RELAY if the change did
 * not reach the relay, or a negative error code.
 */
static int make_record(struct publishing *p, struct generation *base,
		       const struct generation_change *change,
		       struct error *why)
{
	struct stored_push *push = p->push;

	return base ? generation_session_commit(base,
						stored_copy_place(push->copy),
						change, &push->session, why)
		    : pass(p, change, why);
}

/*
 * Makes the record of the push. If other nodes have changed some of the refs,
 * the updates of these refs are rejected, and a record without them is tried.
 * `base`: see make_record(). Returns 0 if the record was made, or 1 if no
 * change of refs was left. Returns NO_RELAY if the change did not reach the
 * relay, the process that makes records for all pushes of this node. Otherwise
 * returns a negative error code.
 */
static int commit(struct publishing *p, struct generation *base)
{
	unsigned tries = 0;
	int ret = 0;

	while (changes_refs(p)) {
		const struct generation_change change = make_ref_change(p);
		struct error why = ERROR_INIT;

		ret = make_record(p, base, &change, &why);
		if (ret == NO_RELAY)
			return ret;
		if (ret == GENERATION_REF_CHANGED) {
			int nr = base ? reject(p, base, &change)
				      : reject_passed(p, &change);

			if (nr < 0)
				return nr;
			if (nr)
				continue;
			ret = GENERATION_BUSY;
		}
		if (ret != GENERATION_BUSY || ++tries == BUSY_TRIES)
			return ret ? fail_commit(p->push, ret, &why, p->err)
				   : 0;
	}
	return 1;
}

/* ---- pushes one after the other */

/*
 * Takes the lock with which pushes of this node make their records one after
 * the other. A record is the file in the store that describes the new
 * generation (version) of the repository. Waits at most TURN_NS, because the
 * holder of the lock may wait for a store that does not answer. Returns a
 * descriptor, or -1: the push goes on without the lock.
 */
static int take_turn(const struct stored_push *push)
{
	const struct generation_host *host =
		stored_copy_place(push->copy)->host;
	uint64_t start = host->now_ns(host->ctx), pause = TURN_PAUSE_NS;
	char *path = stored_join(stored_copy_dir(push->copy), PUSHES_FILE,
				 NULL);
	int fd = path ? sys_rangelock_open(path, NULL) : ERR_NOMEM;
	int ret = fd < 0 ? fd : ERR_DENIED;

	free(path);
	while (ret == ERR_DENIED) {
		ret = sys_rangelock_take(fd, 0, false, false, NULL);
		if (ret != ERR_DENIED ||
		    host->now_ns(host->ctx) - start >= TURN_NS)
			break;
		host->sleep_ns(host->ctx, pause);
		if (pause < TURN_PAUSE_MAX_NS)
			pause *= 2;
	}
	if (ret && fd >= 0)
		sys_close(fd);
	return ret ? -1 : fd;
}

static void end_turn(int *turn)
{
	if (*turn >= 0)
		sys_close(*turn);
	*turn = -1;
}

/* Reads which generation the copy has now. */
static int load_copy(struct publishing *p)
{
	struct error why = ERROR_INIT;
	int ret = stored_copy_load(p->push->copy, &why);

	if (ret > 0)
		ret = stored_copy_refresh(p->push->copy, &why);
	return ret ? fail_read(p->push, ret, &why, p->err) : 0;
}

/*
 * Brings the copy to *g, or to a newer generation that another push of this
 * node has made. In the second case, the other push may already have brought
 * the copy to the newer generation.
 */
static void advance(struct stored_push *push, const struct generation *g)
{
	struct error why = ERROR_INIT;

	if (stored_copy_advance_made(push->copy, g, &why) < 0)
		warn_behind(push, &why);
}

/*
 * Returns whether to check that the store still has the generation *made.
 * Another push of this node has made *made, and has written its number to a
 * file of the local copy (stored_copy_note_made()).
 *
 * The check is needed if two things hold:
 * - When *push was opened, the file already had the number of *made or a higher
 *   number.
 * - When *push was opened, the newest generation in the store (push->seen) was
 *   older than *made.
 *
 * The store may then have been restored from a backup, and may have lost *made.
 */
static bool is_doubtful(const struct stored_push *push,
			const struct generation *made)
{
	return made->number > push->seen.number &&
	       made->number <= push->old_made;
}

/*
 * Checks that the store still has *base, the generation from which the push
 * starts. *base may come from the note of another push on this node. The store
 * may have lost *base, for example if the store was restored from a backup. In
 * this case, replaces *base by the generation of the local copy. Returns 0 or a
 * negative error code.
 */
static int prove_base(struct publishing *p, struct generation *base,
		      struct error *why)
{
	const struct generation_place probe = stored_copy_probe_place(
		p->push->copy);
	int ret = generation_prove(&probe, base, why);

	if (ret != STORE_ABSENT)
		return stored_result(ret, probe.repository, why);
	generation_release(base);
	*base = (struct generation){0};
	ret = stored_copy_load(p->push->copy, why);
	return ret ? ret
		   : generation_copy(
			     base, stored_copy_generation(p->push->copy), why);
}

/*
 * Sets *base to the newest generation that this node knows. In most cases, this
 * needs no request to the store. If the local copy cannot be used, asks the
 * store.
 */
static int read_base(struct publishing *p, struct generation *base)
{
	struct error why = ERROR_INIT;
	int ret = stored_copy_newest_made(base, p->push->copy, &why);

	if (!ret && is_doubtful(p->push, base))
		ret = prove_base(p, base, &why);
	if (ret > 0) {
		ret = stored_copy_refresh(p->push->copy, &why);
		if (!ret)
			ret = generation_copy(
				base, stored_copy_generation(p->push->copy),
				&why);
	}
	return ret ? fail_read(p->push, ret, &why, p->err) : 0;
}

static void *write_hint(void *ctx)
{
	const struct stored_push *push = ctx;

	/* Ignore a failure: without the hint, a search only takes longer. */
	generation_write_hint_record(&push->hint_place, &push->made, NULL);
	return NULL;
}

/*
 * Starts a thread that writes the hint while the client gets its report. The
 * hint is a file with a copy of a recent record, or with its number. *g is the
 * generation that this push has made. Does nothing if the local copy of the
 * repository has a newer generation than *g: another push has made that
 * generation, and writes the hint. Otherwise *g is moved to push->made, which
 * owns it then.
 */
static void start_hint(struct stored_push *push, struct generation *g)
{
	if (push->has_hint ||
	    stored_copy_generation(push->copy)->number > g->number)
		return;
	push->hint_place = stored_copy_probe_place(push->copy);
	push->made = *g;
	*g = (struct generation){0};
	push->has_hint = !sys_thread_start(&push->hint, write_hint, push);
}

/*
 * Works like publish(), but this process makes the record itself, without a
 * relay.
 */
static int publish_alone(struct publishing *p)
{
	struct stored_push *push = p->push;
	struct generation base = {0};
	int turn = take_turn(push);
	int ret = read_base(p, &base);

	if (!ret)
		ret = commit(p, &base);
	/*
	 * A failure here is no error: without the note, the next push sends one
	 * request more to find the record.
	 */
	if (!ret && turn >= 0)
		stored_copy_note_made(push->copy, &base, NULL);
	end_turn(&turn);
	if (!ret) {
		free_uploads(push);
		advance(push, &base);
		start_hint(push, &base);
	}
	generation_release(&base);
	return ret;
}

/*
 * Makes the record of the changes (the file in the store that lists the new
 * generation), and brings the local copy to this generation. If the node has a
 * relay, the relay makes the record: it is the process that makes the records
 * for all pushes of a node. Returns 0, also if no record was necessary, or a
 * negative error code.
 */
static int publish(struct publishing *p)
{
	int ret = stored_copy_relay(p->push->copy) ? commit(p, NULL) : NO_RELAY;

	if (!ret)
		free_uploads(p->push);
	if (ret == NO_RELAY)
		ret = publish_alone(p);
	/* 1: there was no record */
	return ret > 0 ? 0 : ret;
}

/*
 * Called if the push changes no ref, but only checks values of refs; then no
 * record is made. Compares the refs of the copy with the values that the push
 * expects. If the values of a ref differ, rejects its update. Returns 0 or a
 * negative error code.
 */
static int check_only(struct publishing *p)
{
	const struct generation_change change = make_ref_change(p);
	int ret = load_copy(p);

	if (!ret)
		ret = reject(p, stored_copy_generation(p->push->copy), &change);
	return ret > 0 ? 0 : ret;
}

/*
 * Starts the session of a push that uploads no files. A session is the time
 * from the first upload of a push to the request that makes the record (the
 * file in the store that lists the new generation). If a session takes longer
 * than a limit, the push fails, because a garbage collection may have deleted
 * the uploaded files. For a push with files, stored_push_upload() has started
 * the session, and this function does nothing.
 */
static int start_session(struct stored_push *push, struct error *err)
{
	return push->has_session ? 0 : begin_session(push, err);
}

int stored_push_publish(void *ctx, struct ref_transaction *tx,
			struct error *err)
{
	struct publishing p = {
		.push = ctx,
		.tx = tx,
		.texts = STRLIST_INIT,
		.err = err,
	};
	int ret = ref_transaction_each_effect(tx, add_effect, &p, err);

	if (!ret && changes_refs(&p)) {
		ret = start_session(p.push, err);
		if (!ret)
			ret = publish(&p);
	} else if (!ret && p.nr) {
		ret = check_only(&p);
	}
	strlist_release(&p.texts);
	free(p.refs);
	free(p.updates);
	return ret;
}
