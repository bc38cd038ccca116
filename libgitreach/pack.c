/* SPDX-License-Identifier: MIT */
/* The public functions that make packs and pass the bytes to a callback. */
#include "libgitreach/internal.h"
#include "packing/send.h"
#include "packs/pack-job.h"

#define ALL_FLAGS                                                              \
	(GITREACH_PACK_THIN | GITREACH_PACK_OFS_DELTA | GITREACH_PACK_ANEW)

/* State while one pack is made. */
struct packing {
	struct gitreach_pack_options options;
	struct libgitreach_progress progress;
	gitreach_write_fn write;
	void *ctx;
	struct gitreach_pack_report report;
};

static int put(void *ctx, const void *bytes, size_t len, struct error *err)
{
	struct packing *p = ctx;

	p->report.bytes += len;
	return p->write(p->ctx, bytes, len)
		       ? error_set(err, ERR_CANCELLED,
				   "the caller's write function failed")
		       : 0;
}

static int start(struct packing *p, const struct gitreach_pack_options *given,
		 gitreach_write_fn write, void *ctx, struct error *err)
{
	int ret = libgitreach_need(write, err);

	if (!ret)
		ret = libgitreach_struct_in(&p->options, given,
					    sizeof(p->options), err);
	p->report = (struct gitreach_pack_report){0};
	p->write = write;
	p->ctx = ctx;
	if (!ret && p->options.flags & ~(uint32_t)ALL_FLAGS)
		ret = error_set(err, ERR_UNSUPPORTED, "unknown flags %#x",
				p->options.flags);
	if (!ret)
		ret = libgitreach_progress_begin(p->options.progress,
						 p->options.progress_ctx, err);
	return ret;
}

/*
 * Replaces the options *make, which come from the configuration, by the options
 * that the caller of the library has set.
 */
static void apply(struct packing *p, struct packing_send_options *make)
{
	const struct progress_out *progress = libgitreach_progress(
		&p->progress, p->options.progress, p->options.progress_ctx);

	make->progress = make->write_progress = progress;
	if (p->options.threads)
		make->threads = p->options.threads;
	if (make->threads > PACKING_MAX_THREADS)
		make->threads = PACKING_MAX_THREADS;
	if (p->options.flags & GITREACH_PACK_ANEW)
		make->reuse_delta = make->reuse_object = make->reuse_spans =
			false;
}

static int finish(const struct packing *p, struct gitreach_pack_report *report,
		  struct error *err)
{
	return report ? libgitreach_struct_out(report, &p->report,
					       sizeof(p->report), err)
		      : 0;
}

/* ---- packs of a query */

static int check_query(const gitreach_query *q, struct error *err)
{
	const char *why =
		q->commits_only   ? "for commits only"
		: q->filter_wants ? "with filtered wants"
		: q->strategy > GITREACH_WALK
			? "with the strategy GITREACH_BITMAP or GITREACH_CHECK"
			: NULL;

	return why ? error_set(err, ERR_UNSUPPORTED,
			       "a pack cannot be made from a query %s", why)
		   : 0;
}

static int send_query(struct packing *p, const gitreach_query *q,
		      const struct filter *filter, struct error *err)
{
	const gitreach_repo *repo = q->repo;
	struct packing_request request = {
		.wants = q->wants.items,
		.want_nr = q->wants.nr,
		.haves = q->haves.items,
		.have_nr = q->haves.nr,
		.shallow = q->shallow.items,
		.shallow_nr = q->shallow.nr,
		.filter = filter,
		.thin = p->options.flags & GITREACH_PACK_THIN,
		.ofs_delta = p->options.flags & GITREACH_PACK_OFS_DELTA,
		.use_bitmap = repo->pb && q->strategy == GITREACH_AUTO,
	};
	struct pack_sink sink = {.put = put, .ctx = p};
	struct packing_send_options make;
	struct packing_report report;
	int ret = packing_send_options_load(&make, repo->repo, err);

	if (ret < 0)
		return ret;
	apply(p, &make);
	if (!p->options.threads && q->threads)
		make.threads = q->threads;
	ret = packing_send(repo->odb, &request, &make, sink, &report, err);
	p->report.objects = report.objects;
	p->report.bytes_copied = report.bytes_verbatim;
	p->report.used_bitmap = report.used_bitmap;
	return ret;
}

int gitreach_query_write_pack(const gitreach_query *q,
			      const struct gitreach_pack_options *options,
			      gitreach_write_fn write, void *ctx,
			      struct gitreach_pack_report *report,
			      gitreach_error *err)
{
	struct error *inner = libgitreach_error(err);
	struct filter filter;
	struct packing p;
	int ret = libgitreach_need(q, inner);

	if (!ret)
		ret = check_query(q, inner);
	if (!ret)
		ret = start(&p, options, write, ctx, inner);
	if (ret < 0)
		return ret;
	ret = libgitreach_query_load_filter(&filter, q, inner);
	if (!ret)
		ret = send_query(&p, q, &filter, inner);
	filter_release(&filter);
	return libgitreach_done(ret < 0 ? ret : finish(&p, report, inner), err);
}

/* ---- packs of a set */

struct loading {
	struct pack_job *job;
	struct error *err;
};

static int load_object(void *ctx, const struct oid *oid, enum object_type type,
		       uint32_t name_hash)
{
	struct loading *l = ctx;
	uint32_t obj_pos;

	return objspace_add(&l->job->walk.space, oid->bytes, &obj_pos) < 0 ||
			       pack_job_add_pos(l->job, obj_pos, type,
						name_hash) < 0
		       ? error_nomem(l->err)
		       : 0;
}

static int send_set(struct packing *p, const gitreach_set *set,
		    const struct newpack_options *newpack, struct error *err)
{
	struct pack_job_options options = {.newpack = newpack};
	struct pack_sink sink = {.put = put, .ctx = p};
	struct pack_job job;
	struct loading l = {&job, err};
	int ret = pack_job_open(&job, set->repo->odb, NULL, &options, err);

	if (!ret)
		ret = libgitreach_set_visit(set, GITREACH_ANY_TYPE, load_object,
					    &l, err);
	if (!ret)
		ret = pack_job_send(&job, sink, err);
	p->report.objects = job.newpacks.report.objects;
	p->report.bytes_copied = job.newpacks.report.bytes_verbatim;
	p->report.used_bitmap = set->how.strategy == GITREACH_BITMAP ||
				set->how.strategy == GITREACH_CHECK;
	pack_job_close(&job);
	return ret;
}

int gitreach_set_write_pack(const gitreach_set *set,
			    const struct gitreach_pack_options *options,
			    gitreach_write_fn write, void *ctx,
			    struct gitreach_pack_report *report,
			    gitreach_error *err)
{
	struct error *inner = libgitreach_error(err);
	struct newpack_options newpack;
	struct packing p;
	int ret = libgitreach_need(set, inner);

	if (!ret)
		ret = start(&p, options, write, ctx, inner);
	if (!ret && p.options.flags & GITREACH_PACK_THIN)
		ret = error_set(inner, ERR_INVALID,
				"a thin pack cannot be made from a set, "
				"because a set has no haves");
	if (!ret)
		ret = newpack_options_load(&newpack, set->repo->repo, inner);
	if (ret < 0)
		return ret;
	apply(&p, &newpack.make);
	newpack.ofs_delta = p.options.flags & GITREACH_PACK_OFS_DELTA;
	newpack.max_pack_size = 0;
	ret = send_set(&p, set, &newpack, inner);
	return libgitreach_done(ret < 0 ? ret : finish(&p, report, inner), err);
}
