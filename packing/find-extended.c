/* SPDX-License-Identifier: MIT */
/*
 * Sends a prepared answer together with newer history. A prepared answer is a
 * response that a repack has stored. After the repack, pushes move some refs. A
 * clone then wants other ids than the request of the prepared answer, but
 * nearly all objects of the clone are in that answer:
 *
 *	wants of the answer    A   B   C
 *	                       |   |   |
 *	new history            D   |   |      wants of the clone: D, B, C
 *
 * The wants of the answer are the ids for which the answer was made. The new
 * history is walked from those wants of the clone that are not wants of the
 * answer (D). The walk ends at commits of the answer (A). The answer has
 * everything that its wants reach. So the clone needs all objects of the answer
 * if each want of the answer is a want of the clone (B, C), or is reached by
 * the new history (A). In this case the content of the answer is sent, and the
 * new objects follow.
 *
 * If several answers can be used, one that the client can download from another
 * place, such as a web server, is preferred. Of several such answers, the one
 * with the most objects is chosen. If the client can download none of the
 * usable answers, the one with the most objects is chosen, too.
 *
 * If a branch was deleted or rewound, the walk does not reach the old tip of
 * the branch. Then the objects are found by the bitmap index or a walk.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "packing/find-parts.h"
#include "prepared/prepared-wants.h"

/*
 * The request is a clone. A prepared answer (a stored response to a clone with
 * other wants) is sent for it, extended by the new history: the commits that
 * the clone needs and the answer lacks. This is done only if each of three
 * numbers is at most NEW_MAX:
 * - the wants of the clone that are not wants of the prepared answer;
 * - the wants of the prepared answer that are not wants of the clone;
 * - the commits that the walk of the new history visits.
 *
 * With a larger number, extending the answer would cost about as much as a
 * bitmap query or a walk.
 */
#define NEW_MAX 4096

/*
 * Maximum number of commits of a prepared answer that walk_old() visits, in
 * search of the answer's wants.
 */
#define OLD_MAX 1024

/*
 * Maximum number of prepared answers that are tried for one clone. A repack
 * makes at most three answers to clones with full history. The limit is needed
 * because each attempt walks up to NEW_MAX + OLD_MAX commits, and a file may
 * have 65,535 answers.
 */
#define TRIES_MAX 4

struct extending {
	struct found *f;
	const struct packing_send_options *options;
	struct prepared_wants file;
	/* indexed like file.ids: ids that the clone wants */
	struct bitset wanted;
	size_t wanted_nr;
	/*
	 * owned array of borrowed ids: wants of the clone that are not in
	 * file.ids
	 */
	const struct oid **unlisted;
	size_t unlisted_nr;
	/*
	 * Indexed like file.ids. The wants of a prepared answer (a stored
	 * response) are the ids for which it was made. At first, this set has
	 * those wants of the answer that are not wants of this clone. When a
	 * walk reaches one of these ids, the id is removed from the set.
	 */
	struct bitset unreached;
	size_t unreached_nr;
	/*
	 * the wants of this clone that are not wants of the prepared answer;
	 * the walk starts from them
	 */
	struct walk_tips tips;
	/*
	 * The result of the walk. result.revs.commits: the new commits, which
	 * the prepared answer lacks. result.revs.boundary: the commits at which
	 * the walk stopped, because the prepared answer has them.
	 */
	struct walk_result result;
	/* indexed by commit_nr: commits that were put into the queue */
	struct bitset seen;
};

/*
 * Look up each want of the clone among the ids of the file (x->file), which has
 * the wants of all prepared answers (stored responses). Returns 0 if too many
 * wants are not in the file, otherwise 1 or ERR_NOMEM.
 */
static int extending_init(struct extending *x, struct error *err)
{
	const struct packing_request *r = x->f->request;
	uint32_t at;

	x->unlisted = mem_alloc(NEW_MAX, sizeof(*x->unlisted));
	if (!x->unlisted || bitset_init(&x->wanted, x->file.id_nr) < 0)
		return error_nomem(err);
	for (size_t i = 0; i < r->want_nr; i++)
		if (prepared_wants_find(&x->file, &r->wants[i], &at))
			bitset_set(&x->wanted, at);
		else if (x->unlisted_nr < NEW_MAX)
			x->unlisted[x->unlisted_nr++] = &r->wants[i];
		else
			return 0;
	x->wanted_nr = bitset_count(&x->wanted);
	return 1;
}

static void extending_release(struct extending *x)
{
	free(x->unlisted);
	bitset_release(&x->wanted);
	bitset_release(&x->unreached);
	bitset_release(&x->seen);
	walk_tips_release(&x->tips);
	walk_result_release(&x->result);
	prepared_wants_close(&x->file);
}

/* Returns the prepared answer (a stored response) that has these wants. */
static const struct prepared_answer *answer_of(
	const struct extending *x, const struct prepared_wants_of *wants)
{
	return &x->f->prepared.answers[wants->answer];
}

/*
 * Compares the wants of a clone with the wants for which a prepared answer (a
 * stored response) was made. Returns whether the two sets differ little:
 * - the clone has at most NEW_MAX wants that the answer does not have;
 * - the answer has at most NEW_MAX wants that the clone does not have.
 */
static bool is_near(const struct extending *x,
		    const struct prepared_wants_of *of)
{
	size_t common = ewah_count_and(&of->ids, &x->wanted);

	return ewah_count(&of->ids) - common <= NEW_MAX &&
	       x->wanted_nr - common + x->unlisted_nr <= NEW_MAX;
}

/* A prepared answer (a stored response) to try. */
struct candidate {
	const struct prepared_wants_of *of;
	uint32_t object_nr;
	/*
	 * true: the client can get the answer from another place, such as a web
	 * server
	 */
	bool is_elsewhere;
};

/* Compares candidates: the one that is tried first is less. */
static int cmp_candidates(const void *va, const void *vb)
{
	const struct candidate *a = va, *b = vb;

	if (a->is_elsewhere != b->is_elsewhere)
		return a->is_elsewhere ? -1 : 1;
	if (a->object_nr != b->object_nr)
		return a->object_nr > b->object_nr ? -1 : 1;
	return a->of->answer < b->of->answer ? -1 : 1;
}

/*
 * List the prepared answers with nearly the same wants as the clone, in the
 * order in which they are tried. *list has room for x->file.nr candidates.
 * Returns the number of candidates.
 */
static size_t list_candidates(const struct extending *x, struct candidate *list)
{
	size_t nr = 0;

	for (size_t i = 0; i < x->file.nr; i++) {
		const struct prepared_wants_of *of = &x->file.answers[i];
		const struct prepared_content *plain = &answer_of(x, of)->plain;

		if (is_near(x, of))
			list[nr++] = (struct candidate){
				of,
				plain->object_nr,
				found_is_elsewhere(x->f, plain),
			};
	}
	qsort(list, nr, sizeof(*list), cmp_candidates);
	return nr;
}

/*
 * Add to the tips of the walk those wants of the clone that are not wants of
 * the prepared answer (a stored response). Returns 0 or a negative error code.
 */
static int load_tips(struct extending *x, const struct prepared_wants_of *of,
		     struct error *err)
{
	struct walk *w = &x->f->walk;
	size_t id_len = hash_len(x->file.algo);
	struct oid oid;
	int ret = 0;

	for (size_t i = 0; i < x->unlisted_nr && !ret; i++)
		ret = walk_add_tip(w, &x->tips, x->unlisted[i], false, err);
	for (size_t at = bitset_next(&x->wanted, 0);
	     at < x->wanted.bits && !ret; at = bitset_next(&x->wanted, at + 1))
		if (!ewah_test(&of->ids, at)) {
			oid_from_raw(&oid, x->file.ids + at * id_len,
				     x->file.algo);
			ret = walk_add_tip(w, &x->tips, &oid, false, err);
		}
	return ret;
}

/*
 * Try to answer the request, a clone, with a prepared answer. This is a stored
 * response to an older clone, which wanted other ids. Set f->content, the
 * content to send, to the content of this answer. Also prepare the walk that
 * finds newer history:
 *
 * - x->tips: the wants of the clone that are not wants of the answer. The walk
 *   starts from them.
 * - x->unreached: the wants of the answer that are not wants of the clone. The
 *   walk (walk_new(), then walk_old()) must reach all of them. If it does not
 *   reach one, the answer cannot be sent: it has objects that the clone does
 *   not want.
 *
 * Returns 0 or a negative error code.
 */
static int take_answer(struct extending *x, const struct prepared_wants_of *of,
		       struct error *err)
{
	struct found *f = x->f;

	f->content = &answer_of(x, of)->plain;
	f->content_pack = f->prepared.pack;
	walk_tips_release(&x->tips);
	x->tips = (struct walk_tips)WALK_TIPS_INIT;
	x->result.revs.nr = x->result.revs.boundary_nr = 0;
	bitset_clear(&x->seen);
	bitset_release(&x->unreached);
	if (bitset_init(&x->unreached, x->file.id_nr) < 0)
		return error_nomem(err);
	ewah_or_into(&x->unreached, &of->ids);
	bitset_andnot(&x->unreached, &x->wanted);
	x->unreached_nr = bitset_count(&x->unreached);
	return load_tips(x, of, err);
}

/* ---- commits */

static void commit_id(const struct extending *x, struct oid *out,
		      uint32_t commit_nr)
{
	struct walk *w = &x->f->walk;

	objspace_oid(out, &w->space, w->history.commits[commit_nr].obj_pos);
}

/*
 * The walk has reached an object. If the object is in x->unreached, remove it
 * from this set.
 */
static void note_reached(struct extending *x, const struct oid *oid)
{
	uint32_t at;

	if (prepared_wants_find(&x->file, oid, &at) &&
	    bitset_get(&x->unreached, at)) {
		bitset_unset(&x->unreached, at);
		x->unreached_nr--;
	}
}

/* A list of commits (commit_nr) to visit; each commit is added once. */
struct queue {
	uint32_t *commits; /* owned */
	size_t nr, alloc;
	/* index of the first commit that was not visited yet */
	size_t next;
};

static int queue_add(struct queue *q, struct bitset *seen,
		     const uint32_t *commits, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		if (bitset_get(seen, commits[i]))
			continue;
		if (bitset_grow(seen, (size_t)commits[i] + 1) < 0 ||
		    mem_grow(&q->commits, &q->alloc, q->nr + 1,
			     sizeof(*q->commits)) < 0)
			return ERR_NOMEM;
		bitset_set(seen, commits[i]);
		q->commits[q->nr++] = commits[i];
	}
	return 0;
}

static int append(uint32_t **list, size_t *nr, size_t *alloc, uint32_t commit)
{
	if (mem_grow(list, alloc, *nr + 1, sizeof(**list)) < 0)
		return ERR_NOMEM;
	(*list)[(*nr)++] = commit;
	return 0;
}

/*
 * Visit a commit. If the prepared answer (a stored response) has the commit,
 * the commit becomes a boundary commit. Otherwise the commit is new, and its
 * parents are queued. Returns 0 or a negative error code.
 */
static int visit(struct extending *x, struct queue *q, uint32_t commit,
		 struct error *err)
{
	struct revwalk_result *revs = &x->result.revs;
	struct history *h = &x->f->walk.history;
	struct oid oid;
	int ret = history_parse(h, commit, err);

	if (ret < 0)
		return ret;
	commit_id(x, &oid, commit);
	if (find_is_prepared(x->f, &oid)) {
		note_reached(x, &oid);
		ret = append(&revs->boundary, &revs->boundary_nr,
			     &revs->boundary_alloc, commit);
	} else {
		ret = append(&revs->commits, &revs->nr, &revs->alloc, commit);
		if (!ret)
			ret = queue_add(q, &x->seen, history_parents(h, commit),
					h->commits[commit].parent_nr);
	}
	return ret < 0 ? error_nomem(err) : 0;
}

/*
 * Walk from the wants of the clone that are not wants of the prepared answer (a
 * stored response). Find the new commits and the boundary of the walk. Returns
 * 0 if there are too many new commits, otherwise 1 or a negative error code.
 */
static int walk_new(struct extending *x, struct error *err)
{
	struct queue q = {NULL, 0, 0, 0};
	int ret = queue_add(&q, &x->seen, x->tips.commits, x->tips.commit_nr);

	if (ret < 0)
		ret = error_nomem(err);
	while (!ret && q.next < q.nr && q.next < NEW_MAX)
		ret = visit(x, &q, q.commits[q.next++], err);
	if (!ret)
		ret = q.next == q.nr;
	free(q.commits);
	return ret;
}

/*
 * walk_new() has walked from the wants of the clone, and has stopped at
 * boundary commits: commits that the prepared answer (a stored response)
 * contains. The answer was prepared for a list of wants. Some of these wants
 * (x->unreached) may not be wants of the clone. The answer can be used only if
 * the clone's wants reach all of them: otherwise the answer has objects that
 * the client did not ask for.
 *
 * walk_new() has removed some of them from x->unreached. This function walks on
 * from the boundary commits, until the others are reached, too. An example of
 * such a want: a branch pointed to this commit when the answer was prepared,
 * and was later moved forward to another commit of the answer. At most OLD_MAX
 * commits are visited. Returns 0 or a negative error code.
 */
static int walk_old(struct extending *x, struct error *err)
{
	const struct revwalk_result *revs = &x->result.revs;
	struct history *h = &x->f->walk.history;
	struct queue q = {NULL, 0, 0, 0};
	struct oid oid;
	int ret = 0;

	bitset_clear(&x->seen);
	if (queue_add(&q, &x->seen, revs->boundary, revs->boundary_nr) < 0)
		ret = error_nomem(err);
	while (!ret && x->unreached_nr && q.next < q.nr && q.next < OLD_MAX) {
		uint32_t commit = q.commits[q.next++];

		ret = history_parse(h, commit, err);
		if (ret < 0)
			break;
		commit_id(x, &oid, commit);
		note_reached(x, &oid);
		if (queue_add(&q, &x->seen, history_parents(h, commit),
			      h->commits[commit].parent_nr) < 0)
			ret = error_nomem(err);
	}
	free(q.commits);
	return ret;
}

/* ---- objects */

static int add_object(struct extending *x, const struct walk_item *item)
{
	struct found *f = x->f;
	struct oid oid;

	objspace_oid(&oid, &f->walk.space, item->obj_pos);
	return find_is_prepared(f, &oid) ? 0
					 : walk_items_add(&f->objects, item);
}

/* List the new objects, except those that are in the prepared answer. */
static int list_objects(struct extending *x, struct error *err)
{
	struct found *f = x->f;
	const struct revwalk_result *revs = &x->result.revs;
	const struct walk_options options = {
		.objects = true,
		.threads = x->options->threads,
		.progress = x->options->progress,
		.grouping = f->grouping,
	};
	const struct walk_tips no_haves = WALK_TIPS_INIT;
	int ret = walk_enumerate_commits(&x->result, &f->walk, &x->tips,
					 &no_haves, &options, err);

	for (size_t i = 0; i < revs->nr && !ret; i++) {
		uint32_t commit = walk_result_commit(&x->result, i);

		if (walk_items_append(&f->objects,
				      f->walk.history.commits[commit].obj_pos,
				      OBJ_COMMIT, 0) < 0)
			ret = error_nomem(err);
	}
	for (size_t i = 0; i < x->result.objects.nr && !ret; i++)
		if (add_object(x, &x->result.objects.items[i]) < 0)
			ret = error_nomem(err);
	return ret;
}

/*
 * The walk has ended at commits of the prepared answer (a stored response). Add
 * these commits to f->boundary, the commits whose trees the receiver has. The
 * content of the answer is sent before the new objects, so the objects in these
 * trees can be delta bases of the new objects. Also add the tags that the
 * request includes. Returns 0 or a negative error code.
 */
static int keep_boundary(struct extending *x, struct error *err)
{
	const struct revwalk_result *revs = &x->result.revs;
	struct found *f = x->f;

	f->knows_all_uninteresting = true;
	f->commits_walked = (uint32_t)revs->nr;
	return find_boundary_add(f, revs->boundary, revs->boundary_nr) < 0
		       ? error_nomem(err)
		       : found_include_tags(f, err);
}

/*
 * Find out whether a prepared answer can be extended. This is so if the clone
 * needs all objects of the answer, and there are not too many new commits.
 * Walks the new commits. Returns 1 if the answer can be extended, 0 if not, or
 * a negative error code.
 */
static int try_answer(struct extending *x, const struct prepared_wants_of *of,
		      struct error *err)
{
	int ret = take_answer(x, of, err);

	if (!ret)
		ret = walk_new(x, err);
	if (ret <= 0 || !x->unreached_nr)
		return ret;
	ret = walk_old(x, err);
	return ret < 0 ? ret : !x->unreached_nr;
}

/*
 * Try prepared answers, at most TRIES_MAX. Returns 1 if an answer can be used,
 * 0 if none fits, or a negative error code.
 */
static int try_answers(struct extending *x, struct error *err)
{
	struct candidate *list = mem_alloc(x->file.nr, sizeof(*list));
	size_t nr;
	int ret = 0;

	if (!list)
		return error_nomem(err);
	nr = list_candidates(x, list);
	for (size_t i = 0; i < nr && i < TRIES_MAX && !ret; i++)
		ret = try_answer(x, list[i].of, err);
	free(list);
	return ret;
}

static int extend(struct extending *x, struct error *err)
{
	int ret = try_answers(x, err);

	if (ret <= 0)
		return ret;
	ret = list_objects(x, err);
	if (!ret)
		ret = keep_boundary(x, err);
	return ret < 0 ? ret : 1;
}

/* Remove the prepared content and the objects that were found. */
static void forget(struct found *f)
{
	f->content = NULL;
	f->content_pack = NULL;
	find_forget_objects(f);
	f->knows_all_uninteresting = false;
	prepared_close(&f->prepared);
}

/*
 * Try to extend a prepared answer (a stored response) of one object directory.
 * Returns 1 if an answer was extended, 0 if none fits, or a negative error
 * code.
 */
static int extend_in(struct found *f,
		     const struct packing_send_options *options, size_t dir_nr,
		     struct error *err)
{
	struct extending x = {
		.f = f,
		.options = options,
		.file = PREPARED_WANTS_INIT,
		.wanted = BITSET_INIT,
		.unreached = BITSET_INIT,
		.tips = WALK_TIPS_INIT,
		.result = WALK_RESULT_INIT,
		.seen = BITSET_INIT,
	};
	int ret = prepared_open(&f->prepared, f->walk.odb, dir_nr, err);

	if (ret > 0)
		ret = prepared_wants_open(&x.file, &f->prepared, f->walk.odb,
					  dir_nr, err);
	if (ret > 0)
		ret = extending_init(&x, err);
	if (ret > 0)
		ret = extend(&x, err);
	extending_release(&x);
	if (ret <= 0)
		forget(f);
	return ret;
}

int find_extended(struct found *f, const struct packing_send_options *options,
		  struct error *err)
{
	int ret = 0;

	for (size_t i = 0; i < f->walk.odb->dir_nr && !ret; i++) {
		struct error own = ERROR_INIT;

		ret = extend_in(f, options, i, &own);
		if (ret == ERR_NOMEM || ret == ERR_CANCELLED)
			*err = own;
		else if (ret < 0)
			ret = 0;
	}
	return ret;
}
