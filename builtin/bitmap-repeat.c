/* SPDX-License-Identifier: MIT */
/*
 * git bitmap explain --request: repeats a fetch from the log of requests. The
 * pack is made in the same way as by the server, but its bytes are dropped.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/json-read.h"
#include "base/mem.h"
#include "builtin/bitmap-parts.h"
#include "builtin/input.h"
#include "packing/send.h"
#include "wire/record.h"
#include "wire/refview.h"

/* ---- the request */

static int append_member(struct buf *out, const struct record *record,
			 const char *key)
{
	struct json_value value;

	if (!record_find(&value, record, key) || value.kind != JSON_STRING)
		return 0;
	return json_value_string(out, &value) < 0 ? ERR_NOMEM : 1;
}

/* Take the request from `line`, a record of the log of requests. */
static int take_record(struct bitmap_repeat *r, const struct repo *repo,
		       const char *line, size_t len, struct error *err)
{
	struct buf path = BUF_INIT;
	struct record record;
	int ret = record_parse(&record, line, len);

	if (ret <= 0)
		return error_set(err, ERR_INVALID,
				 "standard input is not the record of a "
				 "request");
	ret = append_member(&r->text, &record, "request");
	if (!ret)
		return error_set(
			err, ERR_INVALID,
			"the record has no member 'request': the request made "
			"no pack, or an older version wrote the record");
	if (ret > 0)
		ret = append_member(&path, &record, "repository");
	if (ret > 0 && strcmp(path.data, repo->git_dir))
		builtin_warn("the request was to another repository: %s",
			     path.data);
	buf_release(&path);
	return ret < 0 ? error_nomem(err) : 0;
}

static int read_record(struct bitmap_repeat *r, const struct repo *repo,
		       struct error *err)
{
	struct stdin_lines in = STDIN_LINES_INIT;
	int ret = stdin_lines_next(&in, err);

	if (ret >= 0)
		ret = take_record(r, repo, ret ? in.line : "", ret ? in.len : 0,
				  err);
	stdin_lines_release(&in);
	return ret;
}

static void warn_cut(const char *what, const struct request_text_ids *ids)
{
	if (ids->more)
		builtin_warn(
			"the record leaves out %" PRIu64 " of %" PRIu64
			" %s, so the answer differs from that of the request",
			ids->more, ids->more + ids->nr, what);
}

int bitmap_repeat_load(struct bitmap_repeat *r, const struct repo *repo,
		       const char *text, struct error *err)
{
	int ret = text ? buf_append_str(&r->text, text)
		       : read_record(r, repo, err);

	if (ret < 0)
		return ret == ERR_NOMEM ? error_nomem(err) : ret;
	ret = request_text_parse(&r->request, r->text.len ? r->text.data : "",
				 repo->algo, err);
	if (ret < 0)
		return ret;
	warn_cut("wants", &r->request.wants);
	warn_cut("haves", &r->request.haves);
	warn_cut("shallow commits", &r->request.shallow);
	return 0;
}

bool bitmap_repeat_is_empty(const struct bitmap_repeat *r)
{
	const struct request_text_ids *wants = &r->request.wants;
	const struct request_text_ids *haves = &r->request.haves;

	if (r->request.shallow.nr)
		return false;
	for (size_t i = 0; i < wants->nr; i++) {
		size_t k = 0;

		while (k < haves->nr &&
		       !oid_equal(&wants->oids[i], &haves->oids[k]))
			k++;
		if (k == haves->nr)
			return false;
	}
	return true;
}

void bitmap_repeat_release(struct bitmap_repeat *r)
{
	buf_release(&r->text);
}

/* ---- tags, for include-tag */

struct tags {
	struct bitmap_place *place;
	/* the refs that clients see: refs that are not hidden */
	struct refview refs;
	int (*fn)(void *ctx, const struct packing_tag *tag);
	void *ctx;
};

static int visit_tag(void *ctx, const struct ref *ref)
{
	struct tags *tags = ctx;
	struct packing_tag tag = {.tag = ref->oid, .target = ref->peeled};

	if (ref->has_peeled && !ref->is_tag)
		return 0;
	if (!ref->has_peeled && odb_peel_tag(tags->place->store.reader,
					     &ref->oid, &tag.target, NULL) < 0)
		return 0;
	return tags->fn(tags->ctx, &tag);
}

static int each_tag(void *ctx,
		    int (*fn)(void *fn_ctx, const struct packing_tag *tag),
		    void *fn_ctx, struct error *err)
{
	struct tags *tags = ctx;

	tags->fn = fn;
	tags->ctx = fn_ctx;
	return refview_each(&tags->refs, "refs/tags/", false, visit_tag, tags,
			    NULL, err);
}

/* ---- the pack */

static int drop(void *ctx, const void *bytes, size_t len, struct error *err)
{
	return 0;
}

static void print_text(const char *key, const char *text)
{
	printf("%s=%s\n", key, text ? text : "");
}

/* Print how the pack was made, with the keys that the log of requests uses. */
static void print_report(const struct packing_report *r)
{
	const struct {
		const char *key;
		uint64_t number;
	} numbers[] = {
		{"bitmaps_used", r->bitmaps_used},
		{"pseudo_merges_used", r->pseudo_merges_used},
		{"commits_walked", r->commits_walked},
		{"objects_sent", r->objects},
		{"objects_reused_in_spans", r->pack_reused},
		{"objects_reused", r->reused},
		{"objects_recompressed",
		 r->objects - r->pack_reused - r->reused},
		{"bytes_verbatim", r->bytes_verbatim},
		{"bytes_recompressed", r->bytes_recompressed},
		{"count_us", r->count_ns / 1000},
		{"reuse_us", r->reuse_ns / 1000},
		{"search_us", r->search_ns / 1000},
		{"write_us", r->write_ns / 1000},
	};

	print_text("strategy", r->strategy);
	print_text("no_bitmap_reason",
		   r->warning.code ? r->warning.msg : r->no_bitmap);
	if (r->plan.reason)
		print_text("strategy_reason", r->plan.reason);
	for (size_t i = 0; i < ARRAY_NR(numbers); i++)
		printf("%s=%" PRIu64 "\n", numbers[i].key, numbers[i].number);
}

/*
 * Make the pack of the repeated fetch, drop its bytes, and print the report. If
 * the fetch asked for tags, `tags` lists them.
 */
static int make_pack(const struct bitmap_repeat *r, struct tags *tags,
		     const struct filter *filter, struct error *err)
{
	const struct store *store = &tags->place->store;
	const struct request_text *text = &r->request;
	struct packing_send_options options;
	struct packing_report report;
	struct packing_request request = {
		.wants = text->wants.oids,
		.want_nr = bitmap_repeat_is_empty(r) ? 0 : text->wants.nr,
		.haves = text->haves.oids,
		.have_nr = text->haves.nr,
		.shallow = text->shallow.oids,
		.shallow_nr = text->shallow.nr,
		.knows_shallow = true,
		.tags = {text->include_tag ? each_tag : NULL, tags},
		.filter = filter,
		.thin = text->thin,
		.ofs_delta = text->ofs_delta,
		.use_bitmap = true,
	};
	int ret = packing_send_options_load(&options, store->repo, err);

	if (!ret && config_bool(&store->repo->config, "pack.usebitmaps",
				&request.use_bitmap, err) < 0)
		ret = ERR_INVALID;
	options.spare_search = true;
	if (!ret)
		ret = packing_send(store->odb, &request, &options,
				   (struct pack_sink){.put = drop}, &report,
				   err);
	if (!ret)
		print_report(&report);
	return ret;
}

int bitmap_repeat_pack(const struct bitmap_repeat *r,
		       struct bitmap_place *place, const struct filter *filter,
		       struct error *err)
{
	struct tags tags = {.place = place};
	int ret = refview_open(&tags.refs, place->store.repo,
			       "uploadpack.hiderefs", NULL, err);

	if (!ret)
		ret = make_pack(r, &tags, filter, err);
	refview_release(&tags.refs);
	return ret;
}
