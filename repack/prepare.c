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
		.tags = {.each = item->is_bare_tip ? NULL : each_tag,
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
		if (item->is_bare_tip)
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

/* What is alike to the last byte is the same answer. */
static bool is_there(const struct prepared_answer *answers, size_t nr,
		     const struct prepared_answer *answer)
{
	for (size_t i = 0; i < nr; i++)
		if (oid_equal(&answers[i].checksum, &answer->checksum))
			return true;
	return false;
}

/* The file's bytes; none when nothing could be prepared. */
static int put_answers(struct buf *out, const struct preparing *p)
{
	struct prepared_answer *answers = mem_alloc(p->nr, sizeof(*answers));
	const struct pack *pack = p->pack->pack;
	size_t nr = 0;
	int ret = answers ? 0 : ERR_NOMEM;

	for (size_t i = 0; i < p->nr && !ret; i++)
		if (p->list[i].is_done &&
		    !is_there(answers, nr, &p->list[i].answer))
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
		    const struct prepare_options *options, struct error *err)
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

/* Whether a clone of depth 1 gets these objects. */
static int verify_tip(const struct preparing *p, struct oid commit,
		      const struct bitset *objects, struct error *err)
{
	const struct preparation item = {
		.wants = &commit,
		.want_nr = 1,
		.is_cut = true,
		.is_bare_tip = true,
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
