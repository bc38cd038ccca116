/* SPDX-License-Identifier: MIT */
/*
 * Computes the answers to frequent requests. Writes the file of prepared
 * answers and the file of their wants.
 */
#include "base/mem.h"
#include "packing/find.h"
#include "packing/reuse.h"
#include "packs/prepare-parts.h"
#include "packs/prepare.h"
#include "sys/io.h"
#include "sys/tempfile.h"
#include "sys/thread.h"

static int each_tag(void *ctx,
		    int (*fn)(void *fn_ctx, const struct packing_tag *tag),
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

int prepare_hash(struct oid *checksum, const struct bitmap_space *space,
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
		return pack->version == 2;
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

/*
 * Returns whether all objects that a request finds are in the pack from which
 * answers are copied.
 */
static bool is_of_pack(const struct preparing *p, const struct found *found)
{
	return found->space.pack == p->pack && !found->objects.nr;
}

/*
 * Set *content to the byte ranges of the pack (runs) that store the objects in
 * `set`. The caller frees *runs. Returns 0 or ERR_NOMEM.
 */
static int keep_runs(struct prepared_content *content,
		     struct prepared_run **runs, const struct found *found,
		     const struct bitset *set, struct error *err)
{
	int ret = prepared_runs(runs, &content->run_nr, found->space.rev, set,
				err);

	content->runs = *runs;
	content->object_nr = (uint32_t)bitset_count(set);
	return ret;
}

/*
 * Set bit i of *along for each tag p->tags[i] that is in `set`. Returns 0 or
 * ERR_NOMEM.
 */
static int keep_tags(struct ewah *along, const struct preparing *p,
		     const struct found *found, const struct bitset *set,
		     struct error *err)
{
	for (size_t i = 0; i < p->tag_nr; i++) {
		uint32_t idx_pos, bit;

		if (bitmap_space_find(&found->space, p->tags[i].tag.bytes,
				      &idx_pos) &&
		    bitmap_space_bit_of(&found->space, idx_pos, &bit) &&
		    bitset_get(set, bit) && ewah_set(along, i) < 0)
			return error_nomem(err);
	}
	return 0;
}

/*
 * Fill in item->answer.tree, the description of the root tree that a clone of
 * depth 1 gets (see prepare_tree()). The set bits of `objects` are the objects
 * of the prepared answer. Does nothing if the answer is not for a clone of
 * depth 1.
 */
static int keep_tree(struct preparation *item, struct found *found,
		     const struct bitset *objects, struct error *err)
{
	struct prepared_answer *answer = &item->answer;
	int ret;

	if (!item->is_depth_1)
		return 0;
	ret = prepare_tree(&item->tree, found, &found->space, &answer->plain,
			   objects, err);
	answer->tree = item->tree.tree;
	return ret;
}

static int keep(const struct preparing *p, struct preparation *item,
		struct found *found, const struct bitset *objects,
		struct error *err)
{
	struct prepared_answer *answer = &item->answer;
	struct bitset *all = &found->packed;
	int ret = keep_runs(&answer->plain, &item->plain, found, objects, err);

	if (!ret)
		ret = keep_runs(&answer->tagged, &item->tagged, found, all,
				err);
	bitset_andnot(all, objects);
	if (!ret)
		ret = keep_tags(&item->along, p, found, all, err);
	answer->along = ewah_view_of(&item->along);
	if (!ret)
		ret = keep_tree(item, found, objects, err);
	item->is_done = !ret;
	return ret;
}

/*
 * Make the answer without tags (the objects in `objects`), and the answer with
 * tags. If one of the two answers cannot be copied from the pack, item->is_done
 * stays false. Returns 0 or a negative error code.
 */
static int answer_with_tags(const struct preparing *p, struct preparation *item,
			    struct found *found, const struct bitset *objects,
			    struct error *err)
{
	struct oid *checksum = &item->answer.plain.checksum;
	struct oid *tagged = &item->answer.tagged.checksum;
	int ret = prepare_hash(checksum, &found->space, objects, err);

	if (ret <= 0)
		return ret;
	ret = found_include_tags(found, err);
	if (ret < 0 || !is_of_pack(p, found))
		return ret;
	*tagged = *checksum;
	if (!bitset_equal(&found->packed, objects)) {
		ret = prepare_hash(tagged, &found->space, &found->packed, err);
		if (ret <= 0)
			return ret;
	}
	return keep(p, item, found, objects, err);
}

int prepare_find(struct found *found, const struct preparing *p,
		 const struct preparation *item,
		 struct packing_request *request, struct error *err)
{
	struct error warning = ERROR_INIT;

	*request = (struct packing_request){
		.wants = item->wants,
		.want_nr = item->want_nr,
		.shallow = item->wants,
		.shallow_nr = item->is_depth_1 ? item->want_nr : 0,
		.ofs_delta = true,
		.use_bitmap = true,
	};
	return found_open(found, p->odb, request, &p->options, &warning, err);
}

bool prepare_has_history(const struct preparation *item,
			 const struct found *found)
{
	return item->is_depth_1 || !found->walk.shallow.nr;
}

static int prepare_item(struct preparing *p, struct preparation *item,
			struct error *err)
{
	struct bitset objects = BITSET_INIT;
	struct packing_request request;
	struct found found;
	int ret = prepare_find(&found, p, item, &request, err);

	if (ret < 0)
		return ret;
	request.tags = (struct packing_tags){.each = each_tag, .ctx = p};
	if (prepare_has_history(item, &found) && is_of_pack(p, &found)) {
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
 * Make the answer to one request. If a wanted object is missing, because it was
 * promised or is newer than the snapshot, this answer is not prepared. Returns
 * 0, also in this case, or a negative error code.
 */
static int prepare(void *ctx, unsigned thread_nr, size_t nr, struct error *err)
{
	struct preparing *p = ctx;
	int ret = prepare_item(p, &p->list[nr], err);

	return ret == ERR_MISSING ? 0 : ret;
}

static int put_tags(struct buf *out, const struct preparing *p)
{
	int ret = 0;

	for (size_t i = 0; i < p->tag_nr && !ret; i++)
		ret = buf_append(out, p->tags[i].tag.bytes,
				 hash_len(p->odb->algo));
	return ret;
}

/*
 * Append the content of the file of prepared answers. Appends nothing if no
 * answer could be prepared. Returns 0 or ERR_NOMEM.
 */
static int put_answers(struct buf *out, const struct preparing *p)
{
	struct prepared_answer *answers = mem_alloc(p->nr, sizeof(*answers));
	struct buf tags = BUF_INIT;
	struct prepared file = {
		.algo = p->odb->algo,
		.pack_checksum = p->pack->pack->checksum,
		.tag_nr = (uint32_t)p->tag_nr,
		.answers = answers,
	};
	int ret = answers ? put_tags(&tags, p) : ERR_NOMEM;

	for (size_t i = 0; i < p->nr && !ret; i++)
		if (p->list[i].is_done)
			answers[file.nr++] = p->list[i].answer;
	file.tags = (const uint8_t *)tags.data;
	if (!ret && file.nr)
		ret = prepared_write(out, &file);
	buf_release(&tags);
	free(answers);
	return ret < 0 ? error_nomem(p->err) : 0;
}

int prepare_store(const struct repo *repo, const char *name,
		  const struct buf *bytes, struct error *err)
{
	struct sys_tempfile file = SYS_TEMPFILE_INIT;
	enum sys_fsync_method method = SYS_FSYNC_NONE;
	char *dir = repo_object_path(repo, "info");
	char *path = repo_object_path(repo, name);
	int ret = dir && path ? 0 : error_nomem(err);

	if (!ret && !bytes->len) {
		ret = sys_unlink(path, err);
		goto out;
	}
	if (!ret)
		ret = repo_fsync_method(repo, REPO_FSYNC_PACK_METADATA, &method,
					err);
	if (!ret)
		ret = sys_mkdir_shared(dir, repo->share, err);
	if (!ret)
		ret = sys_tempfile_create(&file, dir, "tmp_prepared_",
					  0444 | repo->share, err);
	if (!ret)
		ret = sys_tempfile_write(&file, bytes->data, bytes->len, err);
	if (!ret)
		ret = sys_tempfile_commit(&file, path, method, err);
out:
	sys_tempfile_abort(&file);
	free(dir);
	free(path);
	return ret;
}

/*
 * Store the prepared answers in the file info/prepared, then the wants of their
 * requests in the file info/prepared-wants. Between the two steps, the file of
 * wants is still the old one. Readers then ignore it: it has the checksum of
 * the old file of answers, not that of the new one. Returns 0 or a negative
 * error code.
 */
static int store_all(const struct repo *repo, const struct buf *answers,
		     const struct buf *wants, struct error *err)
{
	int ret = prepare_store(repo, "info/prepared", answers, err);

	return ret ? ret
		   : prepare_store(repo, "info/prepared-wants", wants, err);
}

void preparing_release(struct preparing *p)
{
	for (size_t i = 0; i < p->nr; i++) {
		free(p->list[i].plain);
		free(p->list[i].tagged);
		prepare_tree_release(&p->list[i].tree);
		ewah_release(&p->list[i].along);
		free(p->list[i].wants);
	}
	free(p->list);
	free(p->tags);
	odb_reader_free(p->reader);
}

/*
 * Append the file of wants. `answers` is the content of the file of prepared
 * answers. Returns 0 or ERR_NOMEM.
 */
static int put_wants(struct buf *out, const struct preparing *p,
		     const struct buf *answers)
{
	enum hash_algo algo = p->odb->algo;
	struct oid checksum;

	if (!answers->len)
		return 0;
	oid_from_raw(&checksum,
		     (const uint8_t *)answers->data + answers->len -
			     hash_len(algo),
		     algo);
	return prepare_put_wants(out, p, &checksum);
}

static int work_out(struct preparing *p, const struct prepare_options *options,
		    struct buf *answers, struct buf *wants)
{
	unsigned threads = options->threads;
	int ret;

	p->reader = odb_reader_new(p->odb, 0);
	ret = p->reader ? prepare_list(p, options) : error_nomem(p->err);
	if (!ret)
		ret = sys_parallel(threads ? threads : sys_cpu_nr(), p->nr,
				   prepare, p, p->err);
	if (!ret)
		ret = put_answers(answers, p);
	if (!ret)
		ret = put_wants(wants, p, answers);
	/*
	 * If references name objects that the snapshot does not have, prepare
	 * nothing.
	 */
	return ret == ERR_MISSING ? 0 : ret;
}

int prepare_load_options(struct packing_send_options *options,
			 const struct repo *repo, struct error *err)
{
	int ret = packing_send_options_load(options, repo, err);

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
	struct buf answers = BUF_INIT, wants = BUF_INIT;
	struct odb *odb = NULL;
	int wanted = prepare_is_wanted(repo, err);
	int ret = wanted < 0 ? wanted
			     : prepare_load_options(&p.options, repo, err);

	if (!ret && wanted)
		ret = odb_open(&odb, repo, NULL, err);
	if (!ret && odb) {
		p.odb = odb;
		p.pack = prepared_pack(odb, options->checksum);
	}
	if (!ret && p.pack)
		ret = work_out(&p, options, &answers, &wants);
	if (!ret)
		ret = store_all(repo, &answers, &wants, err);
	preparing_release(&p);
	buf_release(&answers);
	buf_release(&wants);
	odb_close(odb);
	return ret;
}
