/* SPDX-License-Identifier: MIT */
/* From requests to prepared answers. */
#include "base/mem.h"
#include "repack/find.h"
#include "repack/prepare.h"
#include "repack/reuse.h"
#include "repack/roots.h"
#include "sys/io.h"
#include "sys/tempfile.h"
#include "sys/thread.h"

/* Clones of depth 1 that are prepared: of more tips, the first ones. */
#define TIPS_MAX 256

/* A request that many make. */
struct preparation {
	struct oid *wants; /* owned */
	size_t want_nr, want_alloc;
	bool is_cut; /* a clone of depth 1 */
	/* What comes of it: */
	bool is_done;
	struct ewah objects; /* owned */
	struct prepared_answer answer;
};

struct preparing {
	const struct odb *odb;
	struct refs *refs;
	const struct odb_pack *pack; /* whose answers they are */
	struct odb_reader *reader;   /* owned: for who visits references */
	struct repack_send_options options;
	struct repack_tag *tags; /* owned */
	size_t tag_nr, tag_alloc;
	struct preparation *list; /* owned */
	size_t nr, alloc;
	struct error *err; /* of who visits references */
};

static int each_tag(void *ctx,
		    int (*fn)(void *fn_ctx, const struct repack_tag *tag),
		    void *fn_ctx, struct error *err)
{
	const struct preparing *p = ctx;
	int ret = 0;

	for (size_t i = 0; i < p->tag_nr && !ret; i++)
		ret = fn(fn_ctx, &p->tags[i]);
	return ret;
}

static int put_nothing(void *ctx, const void *bytes, size_t len,
		       struct error *err)
{
	return 0;
}

/*
 * What the pack of these objects ends with: 1; 0 when they cannot be copied as
 * they are.
 */
static int hash_answer(struct oid *checksum, const struct bitmap_space *space,
		       const struct bitset *objects, struct error *err)
{
	const struct reuse_request request = {
		.space = space,
		.want = objects,
		.ofs_delta = true,
	};
	const struct pack_sink sink = {.put = put_nothing};
	struct reuse_report report = {0};
	struct bitset left_over = BITSET_INIT;
	struct pack_writer writer;
	int ret = pack_writer_init(&writer, sink,
				   (uint32_t)bitset_count(objects),
				   space->odb->algo, false, err);

	if (!ret)
		ret = reuse_write(&left_over, &request, &writer, &report, err);
	if (!ret)
		ret = pack_writer_finish(&writer, checksum, err);
	if (!ret)
		ret = bitset_is_empty(&left_over) && !report.changed_headers;
	bitset_release(&left_over);
	pack_writer_release(&writer);
	return ret;
}

static int find(struct found *found, const struct preparing *p,
		const struct preparation *item, struct error *err)
{
	const struct repack_request request = {
		.wants = item->wants,
		.want_nr = item->want_nr,
		.shallow = item->wants,
		.shallow_nr = item->is_cut ? item->want_nr : 0,
		.tags = {.each = item->is_cut ? NULL : each_tag,
			 .ctx = (void *)p},
		.ofs_delta = true,
		.use_bitmap = true,
	};
	struct error warning = ERROR_INIT;
	int ret = found_open(found, p->odb, &request, &p->options, &warning,
			     err);

	found->request = NULL;
	return ret;
}

/* Whether what was found is in the pack, but not all that the pack has. */
static bool is_of_pack(const struct preparing *p, const struct found *found)
{
	return found->space.pack == p->pack && !found->objects.nr &&
	       bitset_count(&found->packed) < p->pack->pack->idx.nr;
}

static int prepare(void *ctx, unsigned thread_nr, size_t nr, struct error *err)
{
	const struct preparing *p = ctx;
	struct preparation *item = &p->list[nr];
	struct prepared_answer *answer = &item->answer;
	struct found found;
	int ret = find(&found, p, item, err);

	if (ret < 0)
		return ret;
	if (is_of_pack(p, &found)) {
		ret = hash_answer(&answer->checksum, &found.space,
				  &found.packed, err);
		item->is_done = ret > 0;
	}
	if (ret > 0) {
		if (item->is_cut)
			answer->commit = item->wants[0];
		answer->object_nr = (uint32_t)bitset_count(&found.packed);
		ret = ewah_from_bitset(&item->objects, &found.packed) < 0
			      ? error_nomem(err)
			      : 0;
		answer->objects = ewah_view_of(&item->objects);
	}
	found_close(&found);
	return ret;
}

static struct preparation *add(struct preparing *p, bool is_cut)
{
	struct preparation *item;

	if (mem_grow(&p->list, &p->alloc, p->nr + 1, sizeof(*p->list)) < 0)
		return NULL;
	item = &p->list[p->nr++];
	*item = (struct preparation){.is_cut = is_cut};
	ewah_init(&item->objects);
	return item;
}

static int add_want(struct preparation *item, const struct oid *oid)
{
	if (mem_grow(&item->wants, &item->want_alloc, item->want_nr + 1,
		     sizeof(*item->wants)) < 0)
		return ERR_NOMEM;
	item->wants[item->want_nr++] = *oid;
	return 0;
}

static int add_request(struct preparing *p, const struct oid *want, bool is_cut)
{
	struct preparation *item = add(p, is_cut);

	return item && !add_want(item, want) ? 0 : error_nomem(p->err);
}

/* Clones of depth 1 of what the tip island was painted from. */
static int add_tips(struct preparing *p)
{
	struct walk_tips tips = WALK_TIPS_INIT;
	struct walk w;
	int ret = walk_open(&w, p->odb, NULL, 0, p->err);

	if (ret < 0)
		return ret;
	ret = roots_add_island_tips(&w, &tips, p->refs, p->err);
	for (size_t i = 0; i < tips.commit_nr && i < TIPS_MAX && !ret; i++) {
		struct oid oid;

		objspace_oid(&oid, &w.space,
			     w.history.commits[tips.commits[i]].obj_pos);
		ret = add_request(p, &oid, true);
	}
	walk_tips_release(&tips);
	walk_close(&w);
	return ret;
}

static int add_branch(void *ctx, const struct ref *ref)
{
	struct preparing *p = ctx;

	return add_want(&p->list[p->nr - 1], &ref->oid) < 0
		       ? error_nomem(p->err)
		       : 0;
}

/* A tag is wanted where all are, and comes along where it fits. */
static int add_tag(void *ctx, const struct ref *ref)
{
	struct preparing *p = ctx;
	struct repack_tag tag = {ref->oid, ref->oid};
	enum object_type type;
	int ret = 0;

	if (!ref->has_peeled)
		ret = odb_peel(p->reader, &tag.tag, &tag.target, &type, p->err);
	else if (ref->is_tag)
		tag.target = ref->peeled;
	if (ret < 0)
		return ret;
	if (!oid_equal(&tag.tag, &tag.target)) {
		if (mem_grow(&p->tags, &p->tag_alloc, p->tag_nr + 1,
			     sizeof(*p->tags)) < 0)
			return error_nomem(p->err);
		p->tags[p->tag_nr++] = tag;
	}
	return add_branch(ctx, ref);
}

/* HEAD's branch, then all branches and tags. */
static int add_clones(struct preparing *p)
{
	struct ref head;
	int ret = refs_lookup(p->refs, "HEAD", &head, p->err);

	if (ret <= 0)
		return ret;
	ret = add_request(p, &head.oid, false);
	if (!ret && !add(p, false))
		ret = error_nomem(p->err);
	if (!ret)
		ret = refs_each_strict(p->refs, "refs/heads/", add_branch, p,
				       p->err);
	if (!ret)
		ret = refs_each_strict(p->refs, "refs/tags/", add_tag, p,
				       p->err);
	return ret;
}

/* The file's bytes; none when nothing could be prepared. */
static int put_answers(struct buf *out, const struct preparing *p)
{
	struct prepared_answer *answers = mem_alloc(p->nr, sizeof(*answers));
	const struct pack *pack = p->pack->pack;
	size_t nr = 0;
	int ret = answers ? 0 : ERR_NOMEM;

	for (size_t i = 0; i < p->nr && !ret; i++)
		if (p->list[i].is_done)
			answers[nr++] = p->list[i].answer;
	if (!ret && nr)
		ret = prepared_write(out, &pack->checksum, pack->algo, answers,
				     nr);
	free(answers);
	return ret < 0 ? error_nomem(p->err) : 0;
}

/* Nothing is lost with the file: it need not be on the disk at once. */
static int store(const struct repo *repo, const struct buf *bytes,
		 struct error *err)
{
	struct sys_tempfile file = SYS_TEMPFILE_INIT;
	char *dir = repo_object_path(repo, "info");
	char *path = repo_object_path(repo, "info/prepared");
	int ret = dir && path ? 0 : error_nomem(err);

	if (!ret && !bytes->len) {
		ret = sys_unlink(path, err);
		goto out;
	}
	if (!ret)
		ret = sys_mkdir_shared(dir, repo->share, err);
	if (!ret)
		ret = sys_tempfile_create(&file, dir, "tmp_prepared_",
					  0444 | repo->share, err);
	if (!ret)
		ret = sys_tempfile_write(&file, bytes->data, bytes->len, err);
	if (!ret)
		ret = sys_tempfile_commit(&file, path, SYS_FSYNC_NONE, err);
out:
	sys_tempfile_abort(&file);
	free(dir);
	free(path);
	return ret;
}

static void preparing_release(struct preparing *p)
{
	for (size_t i = 0; i < p->nr; i++) {
		ewah_release(&p->list[i].objects);
		free(p->list[i].wants);
	}
	free(p->list);
	free(p->tags);
	odb_reader_free(p->reader);
}

static int work_out(struct preparing *p, struct buf *bytes, unsigned threads)
{
	int ret = add_tips(p);

	p->reader = odb_reader_new(p->odb, 0);
	if (!p->reader)
		ret = error_nomem(p->err);
	if (!ret)
		ret = add_clones(p);
	if (!ret)
		ret = sys_parallel(threads ? threads : sys_cpu_nr(), p->nr,
				   prepare, p, p->err);
	return ret < 0 ? ret : put_answers(bytes, p);
}

/*
 * Nothing is taken from what is prepared already: a mistake would go from file
 * to file.
 */
static int load_options(struct repack_send_options *options,
			const struct repo *repo, struct error *err)
{
	int ret = repack_send_options_load(options, repo, err);

	options->threads = 1;
	options->use_prepared = false;
	return ret;
}

int prepare_answers(const struct repo *repo, struct refs *refs,
		    const struct oid *checksum, unsigned threads,
		    struct error *err)
{
	struct preparing p = {.refs = refs, .err = err};
	struct buf bytes = BUF_INIT;
	struct odb *odb = NULL;
	bool wanted = true;
	int ret = config_bool(&repo->config, "repack.prepareanswers", &wanted,
			      err);

	if (ret >= 0)
		ret = load_options(&p.options, repo, err);
	if (!ret && wanted)
		ret = odb_open(&odb, repo, NULL, err);
	if (!ret && odb) {
		p.odb = odb;
		p.pack = prepared_pack(odb, checksum);
	}
	if (!ret && p.pack)
		ret = work_out(&p, &bytes, threads);
	if (!ret)
		ret = store(repo, &bytes, err);
	preparing_release(&p);
	buf_release(&bytes);
	odb_close(odb);
	return ret;
}

/* Whether a clone of depth 1 gets these objects. */
static int verify_tip(const struct preparing *p, struct oid commit,
		      const struct bitset *objects, struct error *err)
{
	const struct preparation item = {
		.wants = &commit,
		.want_nr = 1,
		.is_cut = true,
	};
	struct found found;
	int ret = find(&found, p, &item, err);

	if (ret < 0)
		return ret;
	ret = is_of_pack(p, &found) && bitset_equal(&found.packed, objects);
	found_close(&found);
	return ret;
}

static int verify_answer(const struct preparing *p,
			 const struct prepared_answer *answer,
			 struct error *err)
{
	const struct pack_rev *rev = pack_get_rev(p->pack->pack, err);
	struct bitset objects = BITSET_INIT;
	struct bitmap_space space;
	char hex[OID_MAX_HEX_LEN + 1];
	struct oid checksum;
	int ret;

	if (!rev)
		return ERR_NOMEM;
	space = bitmap_space_of_pack(p->odb, p->pack, rev);
	if (bitset_init(&objects, p->pack->pack->idx.nr) < 0)
		return error_nomem(err);
	ewah_or_into(&objects, &answer->objects);
	ret = hash_answer(&checksum, &space, &objects, err);
	if (ret > 0)
		ret = oid_equal(&checksum, &answer->checksum);
	if (ret > 0 && !oid_is_zero(&answer->commit))
		ret = verify_tip(p, answer->commit, &objects, err);
	bitset_release(&objects);
	if (ret < 0)
		return ret;
	return ret ? 0
		   : error_set(
			     err, ERR_CORRUPT,
			     "%s: the prepared answer that ends with %s is "
			     "wrong",
			     p->pack->pack->name,
			     oid_to_hex(hex, &answer->checksum, p->odb->algo));
}

int prepare_verify(size_t *nr, const struct odb *odb, size_t dir_nr,
		   struct error *err)
{
	struct preparing p = {.odb = odb, .err = err};
	struct prepared file;
	int ret;

	*nr = 0;
	ret = prepared_open(&file, odb, dir_nr, err);
	if (ret <= 0)
		return ret;
	p.pack = file.pack;
	ret = load_options(&p.options, odb->repo, err);
	for (; *nr < file.nr && !ret; ++*nr)
		ret = verify_answer(&p, &file.answers[*nr], err);
	prepared_close(&file);
	return ret;
}
