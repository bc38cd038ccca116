/* SPDX-License-Identifier: MIT */
/*
 * Answers a clone of depth 1 with the help of a prepared answer to a clone of
 * another commit. After a repack, pushes move the tip. The new tip's tree then
 * differs from the old tip's tree in a few paths. In this example, the numbers
 * are objects:
 *
 *	                 old tip (prepared)     new tip
 *	a/file           1                      1
 *	b/copy           1                      2
 *	b/notes          3                      -
 *
 * The trees are compared, and only directories that differ are read. The
 * objects to send are those of the prepared answer, without objects that the
 * new tree lacks (object 3), and with new objects (object 2). An object may
 * have lost a path and still be at another path (object 1). So the prepared
 * answer lists the objects that are at several paths of its tree
 * (trees/tree-tally.h).
 *
 * The content of a prepared answer is copied from one stored pack, which is
 * called the pack of the prepared answer. This pack usually has many objects
 * that the answer does not have.
 *
 * Exactly the objects of the new tip are sent. So an object that only the old
 * tip has is never sent to a client that may not see it. The old tip need not
 * be an ancestor of the new tip: it may be the tip of a branch that was
 * rewritten, or of another fork in a fork network.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "base/sort.h"
#include "packing/find-parts.h"
#include "trees/tree-tally.h"

/*
 * Maximum number of prepared answers that are tried for one clone. To try an
 * answer, the tree of its commit is compared with the tree of the wanted
 * commit. The limit is needed because the file may have many answers: in a fork
 * network, one for each fork.
 */
#define TRIES_MAX 4

/*
 * Maximum number of objects at paths that differ: one for every CHANGES_SHARE
 * objects of the prepared answer, plus CHANGES_MORE. If the trees differ more,
 * a walk of the wanted tree costs about as much as the comparison.
 */
#define CHANGES_SHARE 4
#define CHANGES_MORE 64

/*
 * Maximum number of bytes of trees that are read for the comparison:
 * BYTES_SHARE for each object of the prepared answer, plus BYTES_MORE. A walk
 * reads about this much. The limit is needed because a tree at very many paths
 * would be read at each of them.
 */
#define BYTES_SHARE 32
#define BYTES_MORE (1 << 20)

/*
 * Number of bits of a filter of the changed objects (struct change). A prepared
 * answer is copied from a stored pack. For each changed object of this pack,
 * bit idx_pos % FILTER_BITS is set. For most objects of the prepared answer,
 * the bit is not set. Such an object is no changed object, and need not be
 * looked up in the list of changed objects.
 */
#define FILTER_BITS 8192

/*
 * An object that is at more or fewer paths in the wanted tree than in the tree
 * of the prepared answer.
 */
struct change {
	struct tree_tally_row row;
	/*
	 * pack_pos of the object in the pack from which the prepared answer is
	 * copied; NO_BIT: the answer does not have the object
	 */
	uint32_t bit;
};

#define NO_BIT UINT32_MAX

struct nearing {
	struct found *f;
	uint32_t want; /* commit_nr */
	/* the answer that is tried, and its commit (commit_nr) */
	const struct prepared_answer *answer;
	uint32_t old;
	struct tree_tally tally;
	struct change *changes; /* owned */
	size_t nr;
	/*
	 * Owned: those changed objects that are in the stored pack from which
	 * the prepared answer is copied. Key: idx_pos of the object in this
	 * pack. Value: its index in `changes`. Sorted by key.
	 */
	struct sort_item *packed;
	size_t packed_nr;
	/* bit idx_pos % FILTER_BITS is set for each object in `packed` */
	struct bitset filter;
	/*
	 * true: the reverse index is right for the whole pack, not only for the
	 * objects of the answer; false: not known yet
	 */
	bool is_proved;
};

/*
 * Load a commit. Returns 1 if loaded, 0 if the object is no commit or is
 * missing, or ERR_NOMEM.
 */
static int load_commit(struct found *f, const struct oid *oid, uint32_t *commit)
{
	struct walk_tips tips = WALK_TIPS_INIT;
	uint32_t obj_pos;
	int ret = objspace_add(&f->walk.space, oid->bytes, &obj_pos);

	if (!ret)
		ret = walk_add_commit_unread(&f->walk, &tips, obj_pos, NULL);
	if (!ret) {
		*commit = tips.commits[0];
		ret = history_parse(&f->walk.history, *commit, NULL);
	}
	walk_tips_release(&tips);
	return ret < 0 ? (ret == ERR_NOMEM ? ret : 0) : 1;
}

static void nearing_release(struct nearing *n)
{
	tree_tally_release(&n->tally);
	free(n->changes);
	free(n->packed);
	bitset_release(&n->filter);
	n->changes = NULL;
	n->packed = NULL;
	n->nr = n->packed_nr = 0;
	n->is_proved = false;
}

/* ---- comparing the prepared answer with the wanted commit */

/*
 * Find the position of an object in the index of the pack from which the
 * prepared answers are copied. Returns false if the pack does not have the
 * object.
 */
static bool find_idx(const struct found *f, uint32_t obj_pos, uint32_t *idx_pos)
{
	const struct odb_pack *pack = f->prepared.pack;

	if (obj_pos >= f->walk.space.packed_nr)
		return false;
	*idx_pos = obj_pos - pack->first_pos;
	return *idx_pos < pack->pack->idx.nr ||
	       pack_idx_find(&pack->pack->idx,
			     objspace_raw(&f->walk.space, obj_pos), idx_pos);
}

static void add_change(struct nearing *n, const struct tree_tally_row *row)
{
	uint32_t idx_pos;

	if (find_idx(n->f, row->obj_pos, &idx_pos)) {
		bitset_set(&n->filter, idx_pos % FILTER_BITS);
		n->packed[n->packed_nr++] = (struct sort_item){idx_pos,
							       (uint32_t)n->nr};
	}
	n->changes[n->nr++] = (struct change){.row = *row, .bit = NO_BIT};
}

/*
 * Add the two commits to the list of changed objects, so that the commit of the
 * prepared answer is not sent, and the wanted commit is sent. A change has the
 * number of paths that an object has gained or lost. -1 for the answer's commit
 * means: the object is no longer at any path. 1 for the wanted commit means:
 * the object is at a new path.
 */
static void add_commits(struct nearing *n)
{
	const struct history_commit *commits = n->f->walk.history.commits;
	const struct tree_tally_row old = {
		.obj_pos = commits[n->old].obj_pos,
		.paths = -1,
		.type = OBJ_COMMIT,
	};
	const struct tree_tally_row want = {
		.obj_pos = commits[n->want].obj_pos,
		.paths = 1,
		.type = OBJ_COMMIT,
	};

	add_change(n, &old);
	add_change(n, &want);
}

/*
 * List the changed objects: the two commits, and each object whose number of
 * paths in the wanted tree differs from its number of paths in the tree of the
 * prepared answer. An object that was only moved to another path is not listed:
 * it is in both trees, and is sent in any case. Returns 0 or ERR_NOMEM.
 */
static int list_changes(struct nearing *n)
{
	size_t max = n->tally.nr + 2;

	n->changes = mem_alloc(max, sizeof(*n->changes));
	n->packed = mem_alloc(max, sizeof(*n->packed));
	if (!n->changes || !n->packed ||
	    bitset_init(&n->filter, FILTER_BITS) < 0)
		return ERR_NOMEM;
	add_commits(n);
	for (size_t i = 0; i < n->tally.nr; i++)
		add_change(n, &n->tally.rows[i]);
	return sort_items(n->packed, n->packed_nr);
}

/*
 * Compare the tree of the wanted commit with the tree of the commit of the
 * prepared answer. Returns 1 if both trees were compared, 0 if they differ too
 * much or one of them cannot be read, or ERR_NOMEM.
 */
static int compare(struct nearing *n)
{
	struct walk *w = &n->f->walk;
	size_t object_nr = n->answer->plain.object_nr;
	const struct tree_tally_limits limits = {
		.paths = object_nr / CHANGES_SHARE + CHANGES_MORE,
		.bytes = object_nr * BYTES_SHARE + BYTES_MORE,
	};
	const struct history_commit *commits;
	int ret = load_commit(n->f, &n->answer->request.id, &n->old);

	if (ret <= 0)
		return ret;
	commits = w->history.commits;
	ret = tree_tally_compare(&n->tally, &w->space, w->reader,
				 commits[n->old].tree_pos,
				 commits[n->want].tree_pos, &limits, NULL);
	if (!ret)
		ret = list_changes(n);
	return ret == ERR_NOMEM ? ret : !ret;
}

/* ---- objects to send */

/*
 * A prepared answer is copied from ranges of a stored pack. Visit the objects
 * of one such range. If an object in the range is a changed object (struct
 * change), set the field `bit` of the change.
 */
static void match_place(struct nearing *n, const struct prepared_place *place,
			const struct pack_rev *rev)
{
	for (uint32_t i = 0; i < place->nr; i++) {
		uint32_t bit = place->first + i;
		uint32_t idx_pos = pack_rev_idx_pos(rev, bit);
		const struct sort_item *found;

		if (!bitset_test(&n->filter, idx_pos % FILTER_BITS))
			continue;
		found = sort_find(n->packed, n->packed_nr, idx_pos);
		if (found)
			n->changes[found->value].bit = bit;
	}
}

/*
 * Set found->packed to the objects of the prepared answer (a stored response to
 * the request for another commit). Then find the changed objects among them,
 * and set the field `bit` of each. A changed object (struct change) is at more
 * or fewer paths in the wanted tree than in the tree of the prepared answer.
 * Returns 1 if this was done, 0 if the reverse index of the pack is wrong, or
 * ERR_NOMEM.
 */
static int load_answer(struct nearing *n)
{
	struct found *f = n->f;
	const struct odb_pack *pack = f->prepared.pack;
	const struct prepared_tree *tree = &n->answer->tree;
	const struct pack_rev *rev = pack_get_rev_unproven(pack->pack, NULL);
	size_t run_nr = n->answer->plain.run_nr;
	struct oid order;

	if (!rev || prepared_hash_order(&order, tree, run_nr, rev) < 0)
		return ERR_NOMEM;
	if (!oid_equal(&order, &tree->order))
		return 0;
	if (bitset_init(&f->packed, pack->pack->idx.nr) < 0)
		return ERR_NOMEM;
	f->space = bitmap_space_of_pack(f->walk.odb, pack, rev);
	for (size_t i = 0; i < run_nr; i++) {
		const struct prepared_place *place = &tree->places[i];

		bitset_set_range(&f->packed, place->first,
				 (size_t)place->first + place->nr);
		match_place(n, place, rev);
	}
	return 1;
}

/*
 * Returns whether an object that a tree names exists in the repository. An
 * object with a position in a pack exists, and so does a commit or tree,
 * because it was already read. Only a blob that has no position in a pack must
 * be looked up.
 */
static bool exists(const struct found *f, const struct walk_item *item)
{
	struct oid oid;

	if (item->obj_pos < f->walk.space.packed_nr || item->type != OBJ_BLOB)
		return true;
	oid_from_raw(&oid, objspace_raw(&f->walk.space, item->obj_pos),
		     f->walk.odb->algo);
	return odb_has_loose(f->walk.odb, &oid) ||
	       odb_reader_has(f->walk.reader, &oid);
}

/*
 * Returns whether the pack's reverse index, which lists the objects of the pack
 * in the order of their offsets, is right for the whole pack. A reverse index
 * that this process has computed from the pack index is right. A reverse index
 * that was read from a .rev file is checked once (pack_check_rev()).
 */
static bool is_proved(struct nearing *n)
{
	const struct pack_rev *rev = n->f->space.rev;

	if (!n->is_proved)
		n->is_proved = rev->owned ||
			       !pack_check_rev(n->f->prepared.pack->pack, rev,
					       NULL);
	return n->is_proved;
}

/*
 * Send one more object of the stored pack from which the prepared answer is
 * copied. The answer does not have this object. Only the answer's part of the
 * pack's reverse index was checked so far, so the whole reverse index is
 * checked now. Returns 1 if the object was added to the objects to send, 0 if
 * the reverse index is wrong, or ERR_NOMEM.
 */
static int send_packed_too(struct nearing *n, const struct walk_item *item,
			   uint32_t idx_pos)
{
	struct found *f = n->f;
	uint32_t bit;

	if (!is_proved(n) || !bitmap_space_bit_of(&f->space, idx_pos, &bit))
		return 0;
	bitset_set(&f->packed, bit);
	return walk_items_add(&f->walked, item) < 0 ? ERR_NOMEM : 1;
}

/*
 * Send an object in addition to the objects of the prepared answer. (The answer
 * is a stored response, copied from some of the objects of a stored pack.)
 * Returns 1 if the object was added to the objects to send, 0 if this is not
 * possible, or ERR_NOMEM. An object cannot be added if it does not exist.
 * Another object of the stored pack cannot be added if the reverse index of the
 * pack is wrong.
 */
static int send_too(struct nearing *n, const struct tree_tally_row *row)
{
	struct found *f = n->f;
	const struct walk_item item = {
		.obj_pos = row->obj_pos,
		.type = row->type,
	};
	uint32_t idx_pos;

	if (find_idx(f, row->obj_pos, &idx_pos))
		return send_packed_too(n, &item, idx_pos);
	if (!exists(f, &item))
		return 0;
	return walk_items_add(&f->objects, &item) < 0 ? ERR_NOMEM : 1;
}

/*
 * Update the set of objects to send for one changed object. At first, the set
 * has the objects of the prepared answer (a stored response). `change` says how
 * many more paths the object has in the wanted tree than in the tree of the
 * prepared answer; the number is negative for fewer paths.
 *
 * - If the prepared answer does not have the object, the object is added.
 * - If the prepared answer has the object, and the wanted tree has it at no
 *   path, the object is removed.
 * - Otherwise the object stays in the set.
 *
 * Returns 1 if the set was updated, or ERR_NOMEM. Returns 0 if the prepared
 * answer cannot be used: the number of paths in the wanted tree would be
 * negative, or send_too() cannot add the object.
 */
static int apply(struct nearing *n, const struct change *change)
{
	struct found *f = n->f;
	int64_t paths = change->row.paths;
	uint32_t idx_pos;

	if (change->bit == NO_BIT)
		return paths < 0 ? 0 : send_too(n, &change->row);
	idx_pos = bitmap_space_idx_pos(&f->space, change->bit);
	paths += prepared_paths(&n->answer->tree, idx_pos);
	if (!paths)
		bitset_unset(&f->packed, change->bit);
	return paths >= 0;
}

/*
 * Find the objects to send for the wanted commit: the objects of the prepared
 * answer, with the changes that compare() has found. Returns 1 if the objects
 * were found, 0 if the answer cannot be used, or a negative error code.
 */
static int use_answer(struct nearing *n, struct error *err)
{
	struct found *f = n->f;
	int ret = load_answer(n);

	for (size_t i = 0; i < n->nr && ret > 0; i++)
		ret = apply(n, &n->changes[i]);
	if (ret > 0) {
		f->near = n->answer;
		f->commits_walked = 1;
		f->unnamed = true;
		ret = found_include_tags(f, err);
		return ret < 0 ? ret : 1;
	}
	find_forget_objects(f);
	return ret < 0 ? error_nomem(err) : 0;
}

static int try_answer(struct nearing *n, struct error *err)
{
	int ret = compare(n);

	if (ret > 0)
		ret = use_answer(n, err);
	else if (ret < 0)
		ret = error_nomem(err);
	nearing_release(n);
	return ret;
}

/*
 * Try those prepared answers of the opened file found->prepared that were made
 * for clones of depth 1. Returns 1 if the objects to send were found with the
 * help of one of them, 0 if none helps, or a negative error code.
 */
static int try_answers(struct nearing *n, struct error *err)
{
	const struct prepared *file = &n->f->prepared;
	unsigned tries = 0;
	int ret = 0;

	for (size_t i = 0; i < file->nr && !ret && tries < TRIES_MAX; i++) {
		n->answer = &file->answers[i];
		if (n->answer->request.kind != PREPARED_DEPTH_1 ||
		    !n->answer->tree.is_known)
			continue;
		tries++;
		ret = try_answer(n, err);
	}
	return ret;
}

int find_near(struct found *f, struct error *err)
{
	struct nearing n = {.f = f, .tally = TREE_TALLY_INIT};
	const struct packing_request *r = f->request;
	int ret;

	if (r->want_nr != 1 || r->promised_missing)
		return 0;
	ret = load_commit(f, &r->wants[0], &n.want);
	if (ret <= 0)
		return ret < 0 ? error_nomem(err) : 0;
	return try_answers(&n, err);
}
