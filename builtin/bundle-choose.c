/* SPDX-License-Identifier: MIT */
/*
 * Choosing the contents of a bundle: the refs that arguments name, and the
 * prerequisites, which are commits that the receiver must have.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/sort.h"
#include "builtin/bundle-parts.h"
#include "builtin/message.h"
#include "ewah/bitset.h"
#include "walk/walk.h"

/* The state while `git bundle create` chooses the contents of a bundle. */
struct choice {
	const struct store *store;
	const struct rev_args *revs;
	struct bundle_header *header;
	struct bundle_wants *chosen;
	struct walk walk;
	struct walk_tips wants, haves;
	/*
	 * Owned: commits[i] is the commit_nr of the commit of want i. If the
	 * want is a tag, this is the commit to which the tag leads.
	 */
	uint32_t *commits;
	/*
	 * Set indexed by commit_nr: the commits that the bundle contains. If
	 * nothing is excluded, shown.bits is NULL, and the bundle contains all
	 * commits that the wants reach.
	 */
	struct bitset shown;
	/*
	 * The prerequisites, which the receiver must have, as bits indexed by
	 * commit_nr.
	 */
	struct bitset needed;
	struct error *err;
};

#define NO_COMMIT UINT32_MAX

static void choice_release(struct choice *c)
{
	walk_tips_release(&c->wants);
	walk_tips_release(&c->haves);
	walk_close(&c->walk);
	bitset_release(&c->shown);
	bitset_release(&c->needed);
	free(c->commits);
}

static int add_tips(struct choice *c)
{
	const struct rev_args *revs = c->revs;
	int ret = 0;

	c->commits = mem_alloc(revs->wants.nr, sizeof(*c->commits));
	if (!c->commits)
		return error_nomem(c->err);
	for (size_t i = 0; i < revs->wants.nr && !ret; i++) {
		size_t before = c->wants.commit_nr;

		ret = walk_add_tip(&c->walk, &c->wants,
				   &revs->wants.items[i].oid, false, c->err);
		c->commits[i] = c->wants.commit_nr > before
					? c->wants.commits[before]
					: NO_COMMIT;
	}
	for (size_t i = 0; i < revs->haves.nr && !ret; i++)
		ret = walk_add_excluded_tip(&c->walk, &c->haves,
					    &revs->haves.items[i].oid, c->err);
	return ret < 0 ? ret : 0;
}

/*
 * Add a prerequisite line "-<id> <subject>", unless the commit has one already.
 */
static int add_prerequisite(struct choice *c, uint32_t commit)
{
	struct odb_object obj = ODB_OBJECT_INIT;
	struct buf subject = BUF_INIT;
	struct message m;
	struct oid oid;
	int ret;

	if (bitset_test(&c->needed, commit))
		return 0;
	bitset_set(&c->needed, commit);
	objspace_oid(&oid, &c->walk.space,
		     c->walk.history.commits[commit].obj_pos);
	ret = odb_read(c->store->reader, &oid, &obj, c->err);
	if (ret < 0)
		return ret;
	message_parse(&m, obj.data, obj.len);
	ret = message_append_subject(&subject, &m);
	if (!ret)
		ret = bundle_items_add(&c->header->prerequisites, &oid,
				       subject.len ? subject.data : "",
				       subject.len);
	odb_object_release(c->store->reader, &obj);
	buf_release(&subject);
	return ret < 0 ? error_nomem(c->err) : 0;
}

/* Add the boundary commits of the bundle as prerequisites, newest first. */
static int add_boundary(struct choice *c, const struct revwalk_result *revs)
{
	size_t nr = revs->boundary_nr;
	struct sort_item *items = mem_alloc(nr, sizeof(*items));
	int ret = items ? 0 : ERR_NOMEM;

	for (size_t i = 0; i < nr && !ret; i++)
		items[i] = (struct sort_item){
			~(uint64_t)c->walk.history.commits[revs->boundary[i]]
				 .date,
			revs->boundary[i],
		};
	if (ret < 0 || sort_items(items, nr) < 0)
		ret = error_nomem(c->err);
	for (size_t i = 0; i < nr && !ret; i++)
		ret = add_prerequisite(c, items[i].value);
	free(items);
	return ret;
}

/*
 * Find the commits that are wanted and not excluded. Also find the boundary:
 * excluded parents of these commits.
 */
static int walk_commits(struct choice *c)
{
	struct revwalk_result revs = REVWALK_RESULT_INIT;
	const struct revwalk_tips tips = {
		c->wants.commits,
		c->wants.commit_nr,
		c->haves.commits,
		c->haves.commit_nr,
	};
	int ret = revwalk_run(&revs, &c->walk.history, &tips, true, c->err);

	if (!ret && (bitset_init(&c->shown, c->walk.history.nr) < 0 ||
		     bitset_init(&c->needed, c->walk.history.nr) < 0))
		ret = error_nomem(c->err);
	for (size_t i = 0; i < revs.nr && !ret; i++)
		bitset_set(&c->shown, revs.commits[i]);
	if (!ret)
		ret = add_boundary(c, &revs);
	revwalk_result_release(&revs);
	return ret;
}

static bool is_excluded(const struct choice *c, size_t want)
{
	return c->shown.bits && c->commits[want] != NO_COMMIT &&
	       !bitset_test(&c->shown, c->commits[want]);
}

/* ---- refs */

/*
 * An argument names a ref: add this ref to the refs of the bundle. If the
 * argument is the full name of a symbolic ref, the ref is listed under this
 * name. For any other name of a symbolic ref, its target is listed. A name that
 * may mean several refs is left out.
 */
static int add_ref(struct choice *c, const char *arg)
{
	struct refs *refs = c->store->refs;
	struct ref ref;
	const char *name, *full = strcmp(arg, "@") != 0 ? arg : "HEAD";
	int ret = refs_dwim_nr(refs, full, NULL, c->err);

	if (ret < 0 || ret > 1)
		return ret < 0 ? ret : 0;
	ret = refs_dwim(refs, full, &ref, c->err);
	if (ret <= 0)
		return ret == ERR_NOMEM ? ret : 0;
	name = ref.target && strcmp(arg, ref.name) != 0 ? ref.target : ref.name;
	return bundle_items_add(&c->header->refs, &ref.oid, name,
				strlen(name)) < 0
		       ? error_nomem(c->err)
		       : 0;
}

static int by_name_and_place(const void *va, const void *vb)
{
	const struct bundle_item *const *a = va, *const *b = vb;
	int cmp = strcmp((*a)->text, (*b)->text);

	return cmp ? cmp : *a < *b ? -1 : 1;
}

/* Keep only the first entry of each ref in the list of refs. */
static int drop_repeated(struct choice *c)
{
	struct bundle_items *refs = &c->header->refs;
	struct bundle_item **sorted = mem_alloc(refs->nr, sizeof(*sorted));
	size_t kept = 0;

	if (!sorted)
		return error_nomem(c->err);
	for (size_t i = 0; i < refs->nr; i++)
		sorted[i] = &refs->items[i];
	if (refs->nr)
		qsort(sorted, refs->nr, sizeof(*sorted), by_name_and_place);
	for (size_t i = refs->nr; i-- > 1;)
		if (!strcmp(sorted[i]->text, sorted[i - 1]->text)) {
			free(sorted[i]->text);
			sorted[i]->text = NULL;
		}
	for (size_t i = 0; i < refs->nr; i++)
		if (refs->items[i].text)
			refs->items[kept++] = refs->items[i];
	refs->nr = kept;
	free(sorted);
	return 0;
}

static bool is_have(const struct choice *c, const struct oid *oid)
{
	for (size_t i = 0; i < c->revs->haves.nr; i++)
		if (oid_equal(&c->revs->haves.items[i].oid, oid))
			return true;
	return false;
}

/*
 * Decide about a want that is an excluded commit, or a tag that leads to one.
 * If the want is a tag that is not excluded itself, sets *takes to true: the
 * bundle gets the tag, and the commit becomes a prerequisite. Otherwise sets
 * *takes to false. Returns 0 or a negative error code.
 */
static int take_excluded(struct choice *c, size_t want, bool *takes)
{
	const struct oid *oid = &c->revs->wants.items[want].oid;
	struct oid commit;

	objspace_oid(&commit, &c->walk.space,
		     c->walk.history.commits[c->commits[want]].obj_pos);
	*takes = !oid_equal(&commit, oid) && !is_have(c, oid);
	return *takes ? add_prerequisite(c, c->commits[want]) : 0;
}

static int choose_want(struct choice *c, size_t want)
{
	const struct rev_arg *arg = &c->revs->wants.items[want];
	bool takes = true;
	int ret = 0;

	if (is_excluded(c, want))
		ret = take_excluded(c, want, &takes);
	else if (c->commits[want] == NO_COMMIT)
		takes = !is_have(c, &arg->oid);
	if (ret < 0 || !takes)
		return ret;
	c->chosen->oids[c->chosen->nr++] = arg->oid;
	/*
	 * <rev>^@ stands for all parents of <rev>. These parents have no name,
	 * so no ref is listed for them.
	 */
	return arg->name ? add_ref(c, arg->name) : 0;
}

static int choose(struct choice *c)
{
	const struct rev_list *wants = &c->revs->wants;
	int ret = 0;

	c->chosen->oids = mem_alloc(wants->nr, sizeof(*c->chosen->oids));
	if (!c->chosen->oids)
		return error_nomem(c->err);
	ret = add_tips(c);
	if (!ret && c->revs->haves.nr)
		ret = walk_commits(c);
	for (size_t i = 0; i < wants->nr && !ret; i++)
		ret = choose_want(c, i);
	return ret ? ret : drop_repeated(c);
}

int bundle_choose(struct bundle_header *header, struct bundle_wants *chosen,
		  const struct store *store, const struct rev_args *revs,
		  struct error *err)
{
	struct choice c = {
		.store = store,
		.revs = revs,
		.header = header,
		.chosen = chosen,
		.wants = WALK_TIPS_INIT,
		.haves = WALK_TIPS_INIT,
		.shown = BITSET_INIT,
		.needed = BITSET_INIT,
		.err = err,
	};
	int ret = walk_open(&c.walk, store->odb, NULL, 0, err);

	if (ret < 0)
		return ret;
	ret = choose(&c);
	choice_release(&c);
	if (!ret && !header->refs.nr)
		ret = error_set(err, ERR_INVALID,
				"Refusing to create empty bundle.");
	return ret;
}
