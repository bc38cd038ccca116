/* SPDX-License-Identifier: MIT */
/* Opens walks, and resolves their tips. enumerate.c lists the objects. */
#include <string.h>

#include "base/mem.h"
#include "object/parse.h"
#include "repo/shallow.h"
#include "walk/walk.h"

/*
 * Limit of the bytes that the reader of a walk caches. This reader decodes
 * commits, and trees if a bitmap does not answer the whole request.
 */
#define READER_CACHE_LIMIT ((size_t)16 << 20)

static int add_shallow(void *ctx, const struct oid *oid)
{
	return oidmap_put(ctx, oid, 0);
}

/* Adds the ids of the repository's shallow file, if the file exists. */
static int load_shallow_file(struct walk *w, struct error *err)
{
	int ret = repo_shallow_each(w->odb->repo, add_shallow, &w->shallow,
				    err);

	return ret == ERR_NOMEM ? error_nomem(err) : ret;
}

int walk_open(struct walk *w, const struct odb *odb, const struct oid *shallow,
	      size_t shallow_nr, struct error *err)
{
	int ret;

	*w = (struct walk){.odb = odb, .shallow = OIDMAP_INIT};
	objspace_init(&w->space, odb);
	w->reader = odb_reader_new(odb, READER_CACHE_LIMIT);
	ret = w->reader ? load_shallow_file(w, err) : error_nomem(err);
	for (size_t i = 0; !ret && i < shallow_nr; i++)
		if (oidmap_put(&w->shallow, &shallow[i], 0) < 0)
			ret = error_nomem(err);
	if (!ret)
		ret = history_init(&w->history, &w->space, w->reader,
				   w->shallow.nr ? &w->shallow : NULL, err);
	if (ret < 0)
		walk_close(w);
	else
		w->history.threads = repo_threads(odb->repo);
	return ret;
}

void walk_close(struct walk *w)
{
	history_release(&w->history);
	odb_reader_free(w->reader);
	oidmap_release(&w->shallow);
	objspace_release(&w->space);
}

void walk_tips_release(struct walk_tips *tips)
{
	free(tips->commits);
	free(tips->others.items);
	*tips = (struct walk_tips)WALK_TIPS_INIT;
}

void walk_result_release(struct walk_result *result)
{
	revwalk_result_release(&result->revs);
	free(result->objects.items);
	free(result->parents_first);
	newobj_release(&result->lists);
	bitset_release(&result->uninteresting);
	*result = (struct walk_result)WALK_RESULT_INIT;
}

enum tip_care { TIP_STRICT, TIP_LENIENT, TIP_UNREAD };

static int add_commit(struct walk *w, struct walk_tips *tips, uint32_t obj_pos,
		      enum tip_care care, struct error *err)
{
	uint32_t commit_nr;
	int ret = 0;

	if (history_add(&w->history, obj_pos, &commit_nr) < 0)
		return error_nomem(err);
	if (care != TIP_UNREAD)
		ret = history_parse(&w->history, commit_nr, err);
	if (ret < 0)
		return care == TIP_LENIENT && ret != ERR_NOMEM ? 0 : ret;
	if (mem_grow(&tips->commits, &tips->commit_alloc, tips->commit_nr + 1,
		     sizeof(*tips->commits)) < 0)
		return error_nomem(err);
	tips->commits[tips->commit_nr++] = commit_nr;
	return 0;
}

/*
 * Reads a tag. Sets *oid to the object that the tag names, and *type to the
 * type that the tag states.
 */
static int follow_tag(struct walk *w, uint32_t obj_pos, struct oid *oid,
		      enum object_type *type, struct error *err)
{
	struct odb_object obj = ODB_OBJECT_INIT;
	struct tag_view tag;
	int ret = objspace_read(&w->space, w->reader, obj_pos, &obj, err);

	if (ret < 0)
		return ret;
	ret = tag_parse(&tag, obj.data, obj.len, w->odb->algo, err);
	if (!ret) {
		*oid = tag.target;
		*type = tag.target_type;
	}
	odb_object_release(w->reader, &obj);
	return ret;
}

static int add_tip(struct walk *w, struct walk_tips *tips,
		   const struct oid *oid, enum tip_care care, struct error *err)
{
	/*
	 * type of the object `at`, as the last tag of the chain states it;
	 * OBJ_NONE: no tag was followed
	 */
	enum object_type named = OBJ_NONE;
	bool lenient = care == TIP_LENIENT;
	struct oid at = *oid;

	for (;;) {
		enum object_type type = OBJ_COMMIT;
		uint32_t obj_pos;
		int ret = 0;

		if (objspace_add(&w->space, at.bytes, &obj_pos) < 0)
			return error_nomem(err);
		if (history_find(&w->history, obj_pos) == HISTORY_NONE)
			ret = objspace_info(&w->space, w->reader, obj_pos,
					    &type, NULL, err);
		if (!ret && named != OBJ_NONE && named != type)
			ret = objspace_mistyped(&w->space, obj_pos, type, named,
						err);
		if (ret < 0)
			return lenient && ret != ERR_NOMEM ? 0 : ret;
		if (type == OBJ_COMMIT)
			return add_commit(w, tips, obj_pos, care, err);
		if (walk_items_append(&tips->others, obj_pos, type, 0) < 0)
			return error_nomem(err);
		if (type != OBJ_TAG)
			return 0;
		ret = follow_tag(w, obj_pos, &at, &named, err);
		if (ret < 0)
			return lenient && ret != ERR_NOMEM ? 0 : ret;
	}
}

int walk_add_tip(struct walk *w, struct walk_tips *tips, const struct oid *oid,
		 bool lenient, struct error *err)
{
	return add_tip(w, tips, oid, lenient ? TIP_LENIENT : TIP_STRICT, err);
}

int walk_add_excluded_tip(struct walk *w, struct walk_tips *tips,
			  const struct oid *oid, struct error *err)
{
	size_t before = tips->others.nr;
	int ret = walk_add_tip(w, tips, oid, false, err);

	/* If a tag was added before the error, only its target is missing. */
	return ret == ERR_MISSING && tips->others.nr > before ? 0 : ret;
}

int walk_add_tip_unread(struct walk *w, struct walk_tips *tips,
			const struct oid *oid, struct error *err)
{
	return add_tip(w, tips, oid, TIP_UNREAD, err);
}

int walk_add_commit_unread(struct walk *w, struct walk_tips *tips,
			   uint32_t obj_pos, struct error *err)
{
	return add_commit(w, tips, obj_pos, TIP_UNREAD, err);
}

int walk_check_items(struct walk *w, const struct walk_items *items,
		     struct error *err)
{
	char hex[OID_MAX_HEX_LEN + 1];
	struct oid oid;

	for (size_t i = 0; i < items->nr; i++) {
		uint32_t obj_pos = items->items[i].obj_pos;

		if (obj_pos < w->odb->packed_nr)
			continue;
		objspace_oid(&oid, &w->space, obj_pos);
		if (!odb_has(w->odb, &oid))
			return error_set(err, ERR_MISSING, "%s is missing",
					 oid_to_hex(hex, &oid, w->odb->algo));
	}
	return 0;
}
