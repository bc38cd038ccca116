/* SPDX-License-Identifier: MIT */
/* From requests to prepared answers. */
#include "base/mem.h"
#include "repack/find.h"
#include "repack/prepare-parts.h"
#include "repack/prepare.h"
#include "repack/reuse.h"
#include "sys/io.h"
#include "sys/tempfile.h"
#include "sys/thread.h"

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
	const struct pack *pack = space->pack->pack;
	struct reuse_report report = {0};
	struct bitset left_over = BITSET_INIT;
	struct pack_writer writer;
	size_t nr = bitset_count(objects);
	int ret;

	if (nr == pack->idx.nr) {
		*checksum = pack->checksum;
		return pack->map.data[7] == 2;
	}
	ret = pack_writer_init(&writer, sink, (uint32_t)nr, space->odb->algo,
			       false, err);
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

/* Whether what was found is in the pack. */
static bool is_of_pack(const struct preparing *p, const struct found *found)
{
	return found->space.pack == p->pack && !found->objects.nr;
}

/* Keep a set as a bitmap that the answer borrows. */
static int keep(struct ewah *kept, struct ewah_view *view, uint32_t *nr,
		const struct bitset *set, struct error *err)
{
	if (ewah_from_bitset(kept, set) < 0)
		return error_nomem(err);
	*view = ewah_view_of(kept);
	*nr = (uint32_t)bitset_count(set);
	return 0;
}

/* The answer without tags, of `objects`, and with those that are found. */
static int answer_with_tags(const struct preparing *p, struct preparation *item,
			    struct found *found, const struct bitset *objects,
			    struct error *err)
{
	struct prepared_answer *answer = &item->answer;
	struct bitset *all = &found->packed;
	int ret = hash_answer(&answer->checksum, &found->space, objects, err);

	if (ret > 0)
		ret = found_include_tags(found, err) < 0 ? err->code
							 : is_of_pack(p, found);
	answer->tagged = answer->checksum;
	if (ret > 0 && !bitset_equal(all, objects))
		ret = hash_answer(&answer->tagged, &found->space, all, err);
	if (ret <= 0)
		return ret;
	bitset_andnot(all, objects);
	ret = keep(&item->objects, &answer->objects, &answer->object_nr,
		   objects, err);
	if (!ret)
		ret = keep(&item->tags, &answer->tags, &answer->tag_nr, all,
			   err);
	item->is_done = !ret;
	return ret;
}

/*
 * Find what an item is answered with, without tags. Those come along that are
 * added to found->request->tags.
 */
static int find(struct found *found, const struct preparing *p,
		const struct preparation *item, struct repack_request *request,
		struct error *err)
{
	struct error warning = ERROR_INIT;

	*request = (struct repack_request){
		.wants = item->wants,
		.want_nr = item->want_nr,
		.shallow = item->wants,
		.shallow_nr = item->is_cut ? item->want_nr : 0,
		.ofs_delta = true,
		.use_bitmap = true,
	};
	return found_open(found, p->odb, request, &p->options, &warning, err);
}

/*
 * Whether what was found has the history that is asked for. A repository that
 * is shallow has not, and may get it when its answers are there still.
 */
static bool has_history(const struct preparation *item,
			const struct found *found)
{
	return item->is_cut || !found->walk.shallow.nr;
}

static int prepare_item(struct preparing *p, struct preparation *item,
			struct error *err)
{
	struct bitset objects = BITSET_INIT;
	struct repack_request request;
	struct found found;
	int ret = find(&found, p, item, &request, err);

	if (ret < 0)
		return ret;
	request.tags = (struct repack_tags){.each = each_tag, .ctx = p};
	if (has_history(item, &found) && is_of_pack(p, &found)) {
		ret = bitset_copy(&objects, &found.packed) < 0
			      ? error_nomem(err)
			      : answer_with_tags(p, item, &found, &objects,
						 err);
	}
	bitset_release(&objects);
	found_close(&found);
	return ret;
}

/*
 * What is asked for may not be there: it was promised, or has come after the
 * snapshot. Then it is not prepared.
 */
static int prepare(void *ctx, unsigned thread_nr, size_t nr, struct error *err)
{
	struct preparing *p = ctx;
	int ret = prepare_item(p, &p->list[nr], err);

	return ret == ERR_MISSING ? 0 : ret;
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
		ewah_release(&p->list[i].tags);
		free(p->list[i].wants);
	}
	free(p->list);
	free(p->tags);
	odb_reader_free(p->reader);
}

static int work_out(struct preparing *p, const struct prepare_options *options,
		    struct buf *bytes)
{
	unsigned threads = options->threads;
	int ret;

	p->reader = odb_reader_new(p->odb, 0);
	ret = p->reader ? prepare_list(p, options) : error_nomem(p->err);
	if (!ret)
		ret = sys_parallel(threads ? threads : sys_cpu_nr(), p->nr,
				   prepare, p, p->err);
	if (!ret)
		ret = put_answers(bytes, p);
	/* References that are newer than the snapshot: nothing is prepared. */
	return ret == ERR_MISSING ? 0 : ret;
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

int prepare_is_wanted(const struct repo *repo, struct error *err)
{
	bool wanted = true;
	int ret = config_bool(&repo->config, "repack.prepareanswers", &wanted,
			      err);

	return ret < 0 ? ret : wanted;
}

int prepare_answers(const struct repo *repo, struct refs *refs,
		    const struct prepare_options *options, struct error *err)
{
	struct preparing p = {.refs = refs, .err = err};
	struct buf bytes = BUF_INIT;
	struct odb *odb = NULL;
	int wanted = prepare_is_wanted(repo, err);
	int ret = wanted < 0 ? wanted : load_options(&p.options, repo, err);

	if (!ret && wanted)
		ret = odb_open(&odb, repo, NULL, err);
	if (!ret && odb) {
		p.odb = odb;
		p.pack = prepared_pack(odb, options->checksum);
	}
	if (!ret && p.pack)
		ret = work_out(&p, options, &bytes);
	if (!ret)
		ret = store(repo, &bytes, err);
	preparing_release(&p);
	buf_release(&bytes);
	odb_close(odb);
	return ret;
}

static int open_space(struct bitmap_space *space, const struct preparing *p,
		      struct error *err)
{
	const struct pack_rev *rev = pack_get_rev(p->pack->pack, err);

	if (!rev)
		return ERR_NOMEM;
	*space = bitmap_space_of_pack(p->odb, p->pack, rev);
	return 0;
}

/*
 * Whether a set of objects, with tags or without, can be copied as it is, and
 * what is sent then ends with the checksum.
 */
static int verify_set(const struct preparing *p, const struct bitset *objects,
		      const struct oid *expected, struct error *err)
{
	struct bitmap_space space;
	struct oid checksum;
	int ret = open_space(&space, p, err);

	if (!ret)
		ret = hash_answer(&checksum, &space, objects, err);
	return ret > 0 ? oid_equal(&checksum, expected) : ret;
}

static bool has(const struct bitset *objects, const struct bitmap_space *space,
		struct found *found, uint32_t obj_pos)
{
	uint32_t bit;

	return bitmap_space_bit(space, &found->walk.space, obj_pos, &bit) &&
	       bitset_get(objects, bit);
}

/*
 * Whether these objects of the pack are those that were found: it may have been
 * another pack where they were, or a multi-pack-index.
 */
static int is_found(const struct preparing *p, struct found *found,
		    const struct bitset *objects, struct error *err)
{
	const struct bitset *packed = &found->packed;
	struct bitmap_space space;
	int ret = open_space(&space, p, err);

	if (ret < 0)
		return ret;
	if (found->objects.nr + bitset_count(packed) != bitset_count(objects))
		return false;
	for (size_t i = 0; i < found->objects.nr; i++)
		if (!has(objects, &space, found,
			 found->objects.items[i].obj_pos))
			return false;
	for (size_t bit = bitset_next(packed, 0); bit < packed->bits;
	     bit = bitset_next(packed, bit + 1)) {
		uint32_t obj_pos;

		ret = bitmap_space_obj_of_bit(&obj_pos, &found->space,
					      (uint32_t)bit, err);
		if (ret < 0)
			return ret;
		if (!has(objects, &space, found, obj_pos))
			return false;
	}
	return true;
}

/*
 * Whether what is wanted is answered with these objects; a history that is not
 * here any more cannot be compared.
 */
static int verify_found(const struct preparing *p,
			const struct preparation *item,
			const struct bitset *objects, struct error *err)
{
	struct repack_request request;
	struct found found;
	int ret = find(&found, p, item, &request, err);

	if (ret < 0)
		return ret;
	ret = has_history(item, &found) ? is_found(p, &found, objects, err)
					: true;
	found_close(&found);
	return ret;
}

/*
 * What is asked for by several wants can only be compared while references
 * name them still.
 */
static int verify_request(const struct preparing *p,
			  const struct prepared_request *request,
			  const struct bitset *objects, struct error *err)
{
	struct oid want = request->id;
	const struct preparation single = {
		.wants = &want,
		.want_nr = 1,
		.is_cut = request->kind == PREPARED_DEPTH_1,
	};
	int ret = 1;

	if (prepared_is_of_one(request))
		return verify_found(p, &single, objects, err);
	for (size_t i = 0; i < p->nr && ret > 0; i++)
		if (prepared_same_request(&p->list[i].answer.request, request))
			ret = verify_found(p, &p->list[i], objects, err);
	return ret;
}

static int verify_answer(const struct preparing *p,
			 const struct prepared_answer *answer,
			 struct error *err)
{
	struct bitset objects = BITSET_INIT;
	char hex[OID_MAX_HEX_LEN + 1];
	int ret;

	if (bitset_init(&objects, p->pack->pack->idx.nr) < 0)
		return error_nomem(err);
	ewah_or_into(&objects, &answer->objects);
	ret = verify_set(p, &objects, &answer->checksum, err);
	if (ret > 0)
		ret = verify_request(p, &answer->request, &objects, err);
	ewah_or_into(&objects, &answer->tags);
	if (ret > 0)
		ret = verify_set(p, &objects, &answer->tagged, err);
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

/* Every answer of a file. */
static int verify_all(struct preparing *p, const struct prepared *file)
{
	const struct prepare_options nothing = {.checksum = NULL};
	int ret = load_options(&p->options, p->odb->repo, p->err);

	p->pack = file->pack;
	p->reader = odb_reader_new(p->odb, 0);
	if (!p->reader)
		ret = error_nomem(p->err);
	if (!ret)
		ret = prepare_list(p, &nothing);
	for (size_t i = 0; i < file->nr && !ret; i++)
		ret = verify_answer(p, &file->answers[i], p->err);
	return ret;
}

int prepare_verify(size_t *nr, const struct odb *odb, struct refs *refs,
		   size_t dir_nr, struct error *err)
{
	struct preparing p = {.odb = odb, .refs = refs, .err = err};
	struct prepared file;
	int ret = prepared_open(&file, odb, dir_nr, err);

	*nr = 0;
	if (ret <= 0)
		return ret;
	*nr = file.nr;
	ret = verify_all(&p, &file);
	preparing_release(&p);
	prepared_close(&file);
	return ret;
}
