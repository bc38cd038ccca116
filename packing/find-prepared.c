/* SPDX-License-Identifier: MIT */
/*
 * Uses prepared answers (prepared/prepared.h): the stored responses to likely
 * requests.
 */
#include <stdlib.h>

#include "packing/find-parts.h"

/*
 * Used after the objects to send were found by the bitmap index. If a prepared
 * answer (a stored response) has exactly these objects, it is sent. At this
 * point, the answer saves only the time for computing the checksum of the pack:
 * this checksum is stored with the answer. If fewer objects than PREPARED_MIN
 * are sent, computing the checksum takes less time than opening the file of
 * prepared answers. So the file is not opened.
 */
#define PREPARED_MIN 512

/*
 * State of comparing the present tags with the tags of the prepared answer (the
 * stored response).
 */
struct tag_check {
	const struct found *f;
	/*
	 * One bit for each tag in the file of prepared answers. At first, a bit
	 * is set if the prepared answer has the tag. Then has_same_tags()
	 * visits the present tags of the repository, and check_tag() clears the
	 * bit of each present tag. The bits that are still set at the end stand
	 * for tags that the answer has, but the repository no longer has.
	 */
	struct bitset missing;
};

/*
 * Returns whether the request is a clone: with full history, or of depth 1, so
 * that each want is on the shallow boundary.
 */
static bool is_clone(const struct found *f)
{
	const struct packing_request *r = f->request;
	bool is_shallow = f->walk.shallow.nr;
	uint32_t ignored;

	if (!r->want_nr || r->have_nr || !filter_is_empty(r->filter) ||
	    f->walk.odb->replaced)
		return false;
	for (size_t i = 0; is_shallow && i < r->want_nr; i++)
		if (!oidmap_get(&f->walk.shallow, &r->wants[i], &ignored))
			return false;
	return true;
}

/*
 * Called for each tag that a ref names. Returns 1 if the tag must be sent, but
 * the prepared answer (the stored response) does not have it. Otherwise returns
 * 0.
 *
 * At first, check->missing contains all tags of the prepared answer. If the
 * answer has the tag of this call, removes it from the set. A tag that is still
 * in the set after the last call has no ref, so the answer has a tag too many.
 */
static int check_tag(void *ctx, const struct packing_tag *tag)
{
	struct tag_check *check = ctx;
	const struct found *f = check->f;
	const struct packing_tags *tags = &f->request->tags;
	uint32_t at;

	if (prepared_find_tag(&f->prepared, &tag->tag, &at)) {
		if (bitset_get(&check->missing, at))
			bitset_unset(&check->missing, at);
		return 0;
	}
	return !(tags->is_want && tags->is_want(tags->ctx, &tag->tag)) &&
	       find_is_prepared(f, &tag->target);
}

/*
 * Returns 1 if the tags to send are exactly the tags of the prepared answer
 * (the stored response), 0 if not, or a negative error code.
 */
static int has_same_tags(const struct found *f, struct error *err)
{
	struct tag_check check = {.f = f, .missing = BITSET_INIT};
	const struct packing_tags *tags = &f->request->tags;
	int ret;

	if (bitset_init(&check.missing, f->prepared.tag_nr) < 0)
		return error_nomem(err);
	ewah_or_into(&check.missing, &f->answer->along);
	ret = tags->each(tags->ctx, check_tag, &check, err);
	if (ret >= 0)
		ret = !ret && bitset_is_empty(&check.missing);
	bitset_release(&check.missing);
	return ret;
}

/*
 * If the client asked for tags (include-tag), add each tag whose target is
 * sent. The prepared answer exists in two variants: with tags and without. The
 * variant with tags is used if it has exactly the tags to send. Otherwise the
 * variant without tags is used, and each tag is sent as an object of its own.
 * The variant without tags is also used if the client can get this variant from
 * another place, such as a web server, but cannot get the variant with tags.
 */
static int add_tags(struct found *f, struct error *err)
{
	int ret;

	if (!f->request->tags.each)
		return 0;
	ret = has_same_tags(f, err);
	if (ret > 0 && (found_is_elsewhere(f, &f->answer->tagged) ||
			!found_is_elsewhere(f, &f->answer->plain)))
		f->content = &f->answer->tagged;
	else if (ret >= 0)
		ret = found_include_tags(f, err);
	return ret;
}

/*
 * Look for a prepared answer in one object directory. Returns 1 if
 * found->answer or found->near was set, 0 if there is no answer, or a negative
 * error code.
 */
static int find_in(struct found *f, size_t dir_nr, struct error *err)
{
	const struct packing_request *r = f->request;
	bool is_shallow = f->walk.shallow.nr;
	struct prepared_request request;
	int ret = prepared_open(&f->prepared, f->walk.odb, dir_nr, NULL);

	if (ret > 0 && prepared_request(&request, f->walk.odb->algo, is_shallow,
					r->wants, r->want_nr) < 0)
		ret = ERR_NOMEM;
	if (ret > 0) {
		f->answer = prepared_find(&f->prepared, &request);
		if (!f->answer)
			ret = is_shallow ? find_near(f, err) : 0;
	} else if (ret < 0) {
		ret = ret == ERR_NOMEM ? error_nomem(err) : 0;
	}
	if (ret <= 0)
		prepared_close(&f->prepared);
	return ret;
}

int find_prepared(struct found *f, const struct packing_send_options *options,
		  struct error *err)
{
	int ret = 0;

	if (!is_clone(f))
		return 0;
	for (size_t i = 0; i < f->walk.odb->dir_nr && !ret; i++)
		ret = find_in(f, i, err);
	if (ret < 0 || f->near)
		return ret;
	if (!ret)
		return f->walk.shallow.nr ? 0 : find_extended(f, options, err);
	f->content = &f->answer->plain;
	f->content_pack = f->prepared.pack;
	ret = add_tags(f, err);
	return ret < 0 ? ret : 1;
}

/* Set found->content, the stored bytes to send, to all entries of a pack. */
static void take_whole_pack(struct found *f)
{
	const struct pack *pack = f->space.pack->pack;

	f->whole_run = (struct prepared_run){
		PACK_HEADER_LEN,
		pack->file.len - hash_len(pack->algo) - PACK_HEADER_LEN,
	};
	f->whole = (struct prepared_content){
		.checksum = pack->checksum,
		.object_nr = pack->idx.nr,
		.runs = &f->whole_run,
		.run_nr = 1,
	};
	f->content = &f->whole;
}

static bool is_whole_pack(const struct found *f, size_t nr)
{
	const struct pack *pack = f->space.pack->pack;

	return nr == pack->idx.nr && pack->version == 2;
}

/*
 * Look in one object directory for a prepared answer (a stored response) that
 * has exactly the objects to send (`runs`). If there is one, found->content is
 * set to its content. A damaged file is ignored. Returns 0 or ERR_NOMEM.
 */
static int look_in(struct found *f, size_t dir_nr,
		   const struct prepared_run *runs, size_t nr)
{
	int ret = prepared_open(&f->prepared, f->walk.odb, dir_nr, NULL);

	if (ret > 0 && f->prepared.pack == f->space.pack)
		f->content = prepared_find_content(&f->prepared, runs, nr);
	if (!f->content)
		prepared_close(&f->prepared);
	return ret == ERR_NOMEM ? ret : 0;
}

static int look_for_prepared(struct found *f, struct error *err)
{
	struct prepared_run *runs;
	size_t nr;
	int ret = prepared_runs(&runs, &nr, f->space.rev, &f->packed, err);

	for (size_t i = 0; i < f->walk.odb->dir_nr && !f->content && !ret; i++)
		if (look_in(f, i, runs, nr) < 0)
			ret = error_nomem(err);
	free(runs);
	return ret;
}

int found_look_for_stored(struct found *f, bool use_prepared, struct error *err)
{
	size_t nr;
	int ret = 0;

	if (f->content || f->objects.nr || !f->space.pack)
		return 0;
	nr = bitset_count(&f->packed);
	if (is_whole_pack(f, nr))
		take_whole_pack(f);
	else if (use_prepared && !f->near && !f->request->have_nr &&
		 nr >= PREPARED_MIN)
		ret = look_for_prepared(f, err);
	if (f->content) {
		f->content_pack = f->space.pack;
		bitset_release(&f->packed);
	}
	return ret;
}
