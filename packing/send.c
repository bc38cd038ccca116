/* SPDX-License-Identifier: MIT */
/*
 * Makes a pack for a receiver: finds the objects (find.c), copies spans of
 * stored packs (reuse.c), then writes the other objects item by item.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "deltas/delta-search.h"
#include "packing/find.h"
#include "packing/plan.h"
#include "packing/price.h"
#include "packing/fallback-delta.h"
#include "packing/reuse.h"
#include "packing/send.h"
#include "packing/write.h"
#include "sys/clock.h"
#include "sys/thread.h"
#include "sys/trace.h"

struct send {
	const struct odb *odb;
	const struct packing_request *request;
	const struct packing_send_options *options;
	struct packing_report *report;
	struct found found;
	struct packing_items items;
	struct packs packs;
	/*
	 * indexed by bit_pos: objects that were copied in spans (runs of stored
	 * entries); empty, without memory, if there are none
	 */
	struct bitset sent;
	/*
	 * Number of candidates that each object is compared with in the delta
	 * search; 0: no search. Set when items are planned.
	 */
	unsigned window;
	unsigned threads; /* 0: as many as processors */
	/*
	 * checksum of the pack that the receiver gets from another place, such
	 * as a web server; valid if has_left_out
	 */
	struct oid left_out;
	bool has_left_out;
};

/*
 * Returns whether objects that the receiver has may be delta bases. Returns
 * false if the receiver also gets another pack from another place, such as a
 * web server. The receiver may unpack the sent pack before it has the other
 * pack.
 */
static bool is_thin(const struct send *s)
{
	return s->request->thin && !s->has_left_out;
}

/* Returns whether an object that is not an item may be a delta base. */
static bool is_base(void *ctx, uint32_t odb_pos)
{
	const struct send *s = ctx;
	uint32_t bit;

	if (found_is_prepared(&s->found, odb_pos))
		return true;
	if (s->sent.bits && found_bit(&s->found, odb_pos, &bit) &&
	    bitset_get(&s->sent, bit))
		return true;
	return is_thin(s) && found_is_uninteresting(&s->found, odb_pos);
}

static int add_item(void *ctx, const struct walk_item *object)
{
	struct send *s = ctx;

	return packing_items_add(&s->items, object);
}

static int load_items(struct send *s, struct error *err)
{
	const struct walk_items *objects = &s->found.objects;

	for (size_t i = 0; i < objects->nr; i++)
		if (add_item(s, &objects->items[i]) < 0)
			return error_nomem(err);
	return 0;
}

/*
 * Append to the items the objects that could not be copied in spans (runs of
 * stored entries). Returns 0 or a negative error code.
 */
static int load_left_over(struct send *s, const struct bitset *left_over,
			  struct error *err)
{
	return found_each_packed(&s->found, left_over, add_item, s, err);
}

/*
 * A pack with at least this number of objects probably has good deltas: the
 * search that made it had enough candidates.
 */
#define SETTLED_MIN 1000

/*
 * Returns whether the delta search may be skipped or shortened: the options
 * allow this, and the receiver has no objects yet.
 */
static bool spares(const struct send *s)
{
	return s->options->spare_search && !s->request->have_nr;
}

/*
 * Returns whether the receiver has no commits and gets at most one, because it
 * has asked for depth 1 or a similar shallow history. If so, only one version
 * of each file is sent. A search for deltas would then
 * find little.
 */
static bool is_without_history(const struct send *s)
{
	return spares(s) && s->request->shallow_nr &&
	       s->found.commits_walked <= 1;
}

/*
 * Returns whether more than half of the objects are unsettled. An object is
 * unsettled if it is deflated anew, or if it is stored whole in a pack that was
 * too small for a good delta search. Among many unsettled objects, a delta
 * search may find similar files.
 */
static bool is_mostly_unsettled(const struct send *s)
{
	size_t nr = 0;

	for (size_t i = 0; i < s->items.nr; i++) {
		const struct packing_item *item = &s->items.items[i];

		nr += item->how == PACKING_WHOLE ||
		      (item->how == PACKING_COPY && !item->settled);
	}
	return nr > (s->items.nr + s->report->pack_reused) / 2;
}

static void choose_window(struct send *s)
{
	bool spared = is_without_history(s) && !is_mostly_unsettled(s);

	s->window = spared ? 0 : s->options->window;
}

static int plan(struct send *s, struct error *err)
{
	struct plan_options options = {
		.reuse_delta = s->options->reuse_delta,
		.reuse_object = s->options->reuse_object,
		.threads = s->threads,
		.big_file_threshold = s->options->big_file_threshold,
		.settled_min = spares(s) ? SETTLED_MIN : 0,
	};

	if (is_thin(s) || s->sent.bits || s->found.content) {
		options.is_base = is_base;
		options.base_ctx = s;
	}
	return plan_items(&s->items, &s->packs, &options, err);
}

/*
 * Print the progress line "Counting objects", because scripts expect it. The
 * objects were counted before.
 */
static void tell_count(const struct send *s)
{
	const struct prepared_content *content = s->found.content;

	if (s->options->progress)
		progress_tell(s->options->progress, "Counting objects",
			      (content ? content->object_nr : 0) +
				      bitset_count(&s->found.packed) +
				      s->items.nr);
}

static int search(struct send *s, struct error *err)
{
	struct delta_search_options options = {
		.threads = s->threads,
		.window = s->window,
		.depth = s->options->depth,
		.grouping = s->found.grouping,
		.window_memory = s->options->window_memory,
		.cache_size = s->options->delta_cache_size,
		.cache_limit = s->options->delta_cache_limit,
		.big_file_threshold = s->options->big_file_threshold,
		.compression = s->options->compression,
		.retry_same_pack = !s->options->reuse_delta,
		.progress = s->options->progress,
	};

	return delta_search_run(&s->items, &options, err);
}

/*
 * Start a phase of the work, which is traced and timed. Returns the present
 * time.
 */
static uint64_t begin(const struct send *s, const char *label)
{
	trace_region_enter(s->options->trace, "pack-objects", label);
	return sys_clock_ns();
}

/* End a phase that began at `start`. Returns its duration in nanoseconds. */
static uint64_t end(const struct send *s, const char *label, uint64_t start)
{
	trace_region_leave(s->options->trace, "pack-objects", label);
	return sys_clock_ns() - start;
}

/*
 * For each delta whose base is not sent, choose another base from its stored
 * delta chain. Returns 0 or a negative error code.
 */
static int make_chain_deltas(struct send *s, struct error *err)
{
	struct fallback_chains_options options = {
		.packs = &s->packs,
		.reader = s->found.walk.reader,
		.is_base = is_base,
		.base_ctx = s,
		.compression = s->options->compression,
		.cache_size = s->options->delta_cache_size,
	};

	return fallback_chains_make(&s->items, &options, err);
}

/*
 * Make deltas, without a search, for objects whose stored form cannot be sent.
 * The base of such a delta is an older version that the receiver has, or
 * another object of the stored delta chain.
 *
 * Deltas from stored chains are also made if no delta search follows, because
 * such a delta costs less than deflating the object whole. Without these
 * deltas, a clone of depth 1 of a tree with many similar files would send each
 * file whole.
 *
 * If a delta search follows, this function also appends objects of the receiver
 * to the list of items. These items are not sent: the delta search may use them
 * as bases. There are two cases:
 *
 * - With a shallow boundary, many of the receiver's objects are useful bases.
 *   So they are appended before deltas are made from stored chains. If an item
 *   has a possible base in the list (an object of the same type and name hash),
 *   the delta search may find a better delta. So a delta from the item's stored
 *   chain is kept only if it is very small (fallback_chains_make()).
 * - Without a shallow boundary, the receiver's objects are appended at the end,
 *   when only few items still need a base.
 */
static int make_fallback_deltas(struct send *s, struct error *err)
{
	bool keeps_deltas = s->options->reuse_delta;
	bool thin = is_thin(s), is_shallow = s->request->shallow_nr;
	bool has_boundary = thin || s->found.content;
	int ret = fallback_delta_versions(&s->items, &s->found, &s->sent,
					  s->options->compression, err);

	if (ret < 0 || !s->options->window)
		return ret;
	if (!s->window)
		return keeps_deltas ? make_chain_deltas(s, err) : 0;
	ret = found_name_items(&s->found, &s->items, err);
	if (!ret && thin && is_shallow)
		ret = found_add_bases(&s->found, &s->items, err);
	if (!ret && is_shallow && !s->request->have_nr && s->sent.bits)
		ret = found_add_sent(&s->found, &s->items, is_base, s, err);
	if (!ret && keeps_deltas)
		ret = fallback_chains_retry(&s->items, &s->packs, err);
	if (!ret && keeps_deltas)
		ret = make_chain_deltas(s, err);
	if (!ret && has_boundary && !is_shallow)
		ret = found_add_bases(&s->found, &s->items, err);
	return ret;
}

/* Returns the total number of bytes of the objects that are deflated anew. */
static uint64_t bytes_to_read(const struct send *s)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < s->items.nr; i++)
		if (s->items.items[i].how == PACKING_WHOLE)
			bytes += s->items.items[i].size;
	return bytes;
}

/*
 * If at least this number of bytes would be deflated anew, delta bases are
 * searched in the bitmap index. Deflating fewer bytes costs less than the
 * search.
 */
#define LEARN_MIN (UINT64_C(1) << 18)

/*
 * Choose how each item is sent. If many bytes would be deflated anew, search
 * for delta bases that the receiver has, and choose again. There is no search
 * if the request offers objects from another place, such as a web server
 * (request->elsewhere). Returns 0 or a negative error code.
 */
static int plan_with_bases(struct send *s, struct error *err)
{
	int ret = plan(s, err);
	uint64_t len;

	if (ret < 0 || !is_thin(s) || s->request->elsewhere ||
	    !s->options->reuse_delta)
		return ret;
	len = bytes_to_read(s);
	if (len < LEARN_MIN)
		return 0;
	ret = found_learn_bases(&s->found, &s->items, &s->packs, len, err);
	return ret > 0 ? plan(s, err) : ret;
}

static int take_copies(struct send *s, struct error *err)
{
	if (!s->options->reuse_object)
		return 0;
	return found_take_copies(&s->found, &s->items, &s->report->warning,
				 err);
}

/*
 * Choose how each item is sent. Some items have a compressed whole copy that a
 * repack has stored (prepared/kept-deltas.h). For a clone without history, all
 * these copies are used, and only the other items enter the delta search. For
 * other requests, a delta may be smaller, so the copy is used only if the
 * search has found no delta.
 */
static int prepare(struct send *s, struct error *err)
{
	uint64_t start = begin(s, "prepare-pack");
	int ret = plan_with_bases(s, err);
	uint64_t len;

	if (!ret && is_without_history(s))
		ret = take_copies(s, err);
	choose_window(s);
	len = bytes_to_read(s);
	if (!ret)
		ret = packing_admit(&s->threads, s->options,
				    packing_price_deflate(len), err);
	if (!ret)
		ret = progress_ask(s->options->progress, "Reading objects", len,
				   err);
	if (!ret)
		ret = make_fallback_deltas(s, err);
	if (!ret)
		ret = search(s, err);
	if (!ret)
		ret = take_copies(s, err);
	s->report->search_ns += end(s, "prepare-pack", start);
	return ret;
}

/*
 * Write all objects that were not copied in runs of stored bytes: choose how
 * each object is stored, search deltas, and write.
 */
static int send_items(struct send *s, struct pack_writer *writer,
		      struct progress *progress, struct error *err)
{
	struct write_options options = {
		.ofs_delta = s->request->ofs_delta,
		.check = s->options->check_reused,
		.compression = s->options->compression,
		.kept = &s->found.kept,
		.progress = progress,
	};
	struct write_report report = {0};
	uint32_t *order = NULL;
	uint64_t start;
	size_t nr = 0;
	int ret = prepare(s, err);

	if (ret < 0)
		return ret;
	start = begin(s, "write-pack-file");
	order = write_order(&s->items, &nr);
	ret = !order ? error_nomem(err)
		     : write_items(&s->items, order, &nr, &s->packs, writer,
				   &options, &report, err);
	free(order);
	s->report->write_ns += end(s, "write-pack-file", start);
	s->report->objects += report.objects;
	s->report->deltas += report.deltas;
	s->report->reused += report.reused;
	s->report->reused_deltas += report.reused_deltas;
	s->report->bytes_verbatim += report.bytes_verbatim;
	s->report->bytes_recompressed += report.bytes_recompressed;
	return ret;
}

static int send_spans(struct send *s, struct pack_writer *writer,
		      struct progress *progress, struct error *err)
{
	const struct found *f = &s->found;
	struct reuse_request request = {
		.space = &f->space,
		.want = &f->packed,
		.uninteresting = s->request->thin &&
						 f->packed_uninteresting.bits
					 ? &f->packed_uninteresting
					 : NULL,
		.all_packs = s->options->reuse_all_packs,
		.ofs_delta = s->request->ofs_delta,
		.progress = progress,
	};
	struct reuse_report report = {0};
	struct bitset left_over = BITSET_INIT;
	uint64_t start = begin(s, "reuse-pack");
	int ret = reuse_write(&left_over, &request, writer, &report, err);

	s->report->reuse_ns += end(s, "reuse-pack", start);
	if (!ret && (!bitset_is_empty(&left_over) || f->version_nr)) {
		ret = load_left_over(s, &left_over, err);
		if (!ret && bitset_copy(&s->sent, &f->packed) < 0)
			ret = error_nomem(err);
		bitset_andnot(&s->sent, &left_over);
	}
	s->report->objects += report.objects;
	s->report->pack_reused += report.objects;
	s->report->packs_reused += report.packs;
	s->report->bytes_verbatim += report.bytes_verbatim;
	bitset_release(&left_over);
	return ret;
}

/* Send the pack of a request without wants: a header and a checksum only. */
static int send_nothing(struct send *s, struct pack_sink sink,
			struct error *err)
{
	struct pack_writer writer;
	struct oid checksum;
	int ret = pack_writer_init(&writer, sink, 0, s->odb->algo, false, err);

	s->report->strategy = "nothing";
	if (!ret)
		ret = pack_writer_finish(&writer, &checksum, err);
	pack_writer_release(&writer);
	return ret;
}

static int send_content(struct send *s, struct pack_writer *writer,
			struct progress *progress, struct error *err)
{
	const struct prepared_content *content = s->found.content;
	uint64_t start = begin(s, "reuse-pack");
	int ret = prepared_send(content, s->found.content_pack->pack, writer,
				progress, err);

	s->report->reuse_ns += end(s, "reuse-pack", start);
	s->report->objects += content->object_nr;
	s->report->pack_reused += content->object_nr;
	s->report->packs_reused++;
	s->report->bytes_verbatim += prepared_bytes(content);
	return ret;
}

/*
 * If only prepared pack content is sent, its checksum is known in advance, so
 * nothing is hashed. If a disk has damaged these bytes, the checksum does not
 * match, and the receiver notices.
 */
static void expect_checksum(const struct send *s, struct pack_writer *writer)
{
	writer->has_checksum = s->found.content && !s->items.nr;
	if (writer->has_checksum)
		writer->checksum = s->found.content->checksum;
}

/*
 * If a pack has at least this number of objects, its header is sent before the
 * first entry is read. A smaller pack often fits into one write, so its header
 * waits for the entries.
 */
#define EARLY_MIN 1024

/*
 * Start the pack. The header of a large pack is sent before any entry is copied
 * and hashed. So the receiver can start to index the pack at the same time.
 * Returns 0 or a negative error code.
 */
static int start_pack(const struct send *s, struct pack_writer *writer,
		      struct pack_sink sink, uint32_t nr, struct error *err)
{
	int ret = pack_writer_init(writer, sink, nr, s->odb->algo, false, err);

	writer->counts_only = s->options->counts_only;
	writer->check_copies = s->options->check_reused && !writer->counts_only;
	expect_checksum(s, writer);
	return !ret && nr >= EARLY_MIN ? pack_writer_flush(writer, err) : ret;
}

static int send_all(struct send *s, struct pack_sink sink, struct error *err)
{
	struct pack_writer writer;
	struct progress progress;
	struct oid checksum;
	const struct prepared_content *content = s->found.content;
	size_t packed = bitset_count(&s->found.packed);
	size_t nr = (content ? content->object_nr : 0) + packed + s->items.nr;
	int ret;

	if (nr > UINT32_MAX)
		return error_set(err, ERR_UNSUPPORTED,
				 "more objects than a pack can hold");
	ret = start_pack(s, &writer, sink, (uint32_t)nr, err);
	progress_start(&progress, s->options->write_progress, "Writing objects",
		       nr);
	if (!ret && content)
		ret = send_content(s, &writer, &progress, err);
	if (!ret && packed && packing_copies_spans(s->options))
		ret = send_spans(s, &writer, &progress, err);
	else if (!ret && packed)
		ret = load_left_over(s, &s->found.packed, err);
	if (!ret && s->items.nr)
		ret = send_items(s, &writer, &progress, err);
	if (!ret)
		ret = pack_writer_finish(&writer, &checksum, err);
	progress_stop(&progress);
	pack_writer_release(&writer);
	return ret;
}

static int find(struct send *s, struct error *err)
{
	const struct found *f = &s->found;
	struct packing_report *r = s->report;
	uint64_t start = begin(s, "enumerate-objects");
	int ret = found_open(&s->found, s->odb, s->request, s->options,
			     &r->warning, err);

	r->count_ns = end(s, "enumerate-objects", start);
	if (ret < 0)
		return ret;
	r->used_bitmap = f->pb != NULL;
	r->strategy = f->answer           ? "prepared"
		      : f->content        ? "prepared+walk"
		      : f->near           ? "prepared+walk"
		      : !f->pb            ? "walk"
		      : f->commits_walked ? "bitmap+walk"
					  : "bitmap";
	r->no_bitmap = f->no_bitmap;
	r->plan = f->plan;
	r->bitmaps_used = f->bitmaps_used;
	r->pseudo_merges_used = f->pseudo_merges_used;
	r->commits_walked = f->commits_walked;
	return 0;
}

/*
 * If the receiver can get the prepared content as a pack from another place,
 * such as a web server, do not send this content, and count it as left out.
 */
static void leave_out_content(struct send *s)
{
	struct found *f = &s->found;

	if (!f->content || !found_is_elsewhere(f, f->content))
		return;
	s->left_out = f->content->checksum;
	s->has_left_out = true;
	s->report->objects_elsewhere = f->content->object_nr;
	s->report->bytes_elsewhere = PACK_HEADER_LEN +
				     prepared_bytes(f->content) +
				     hash_len(s->odb->algo);
	f->content = NULL;
}

/*
 * Leave out the objects that the receiver gets from another place (such as a
 * web server), and tell the receiver which objects these are. Call this after
 * the objects to send were found. A request without wants gets an empty pack,
 * so no objects are found for it: the receiver is only told that nothing is
 * left out.
 */
static int leave_out(struct send *s, struct error *err)
{
	const struct packing_elsewhere *elsewhere = s->request->elsewhere;
	const struct oid *pack = s->has_left_out ? &s->left_out : NULL;
	bool *left_out = mem_calloc(elsewhere->nr, sizeof(*left_out));
	int ret = 0;

	if (!left_out)
		return error_nomem(err);
	if (s->request->want_nr)
		ret = found_leave_out(&s->found, elsewhere->oids, elsewhere->nr,
				      left_out, err);
	if (!ret)
		ret = elsewhere->tell(elsewhere->ctx, left_out, pack, err);
	free(left_out);
	return ret;
}

static int look_for_stored(struct send *s, struct error *err)
{
	int ret = 0;

	if (s->request->ofs_delta && packing_copies_spans(s->options))
		ret = found_look_for_stored(&s->found, s->options->use_prepared,
					    err);
	if (s->found.content == &s->found.whole)
		s->report->strategy = "stored pack";
	return ret;
}

/*
 * Decide which of the found objects are sent as this pack, and in which form.
 * Leave out objects that the receiver gets from another place, look for stored
 * content, and make items of all remaining objects.
 */
static int settle(struct send *s, struct error *err)
{
	const struct packing_request *request = s->request;
	const struct packing_elsewhere *elsewhere = request->elsewhere;
	int ret = 0;

	if (!s->found.has_told)
		leave_out_content(s);
	if (elsewhere && !s->found.has_told)
		ret = leave_out(s, err);
	if (!ret && is_thin(s) && s->options->window &&
	    packing_copies_spans(s->options))
		ret = found_withhold_versions(&s->found, &s->report->warning,
					      err);
	if (!ret && !s->has_left_out)
		ret = look_for_stored(s, err);
	if (!ret)
		ret = load_items(s, err);
	if (s->has_left_out)
		s->report->strategy = s->items.nr ? "published+walk"
						  : "published";
	return ret;
}

/*
 * Ask for admission before the objects that were found are copied or
 * compressed. No admission is needed to copy a whole stored pack. Returns 0 or
 * a negative error code.
 */
static int admit(struct send *s, struct error *err)
{
	const struct found *f = &s->found;
	uint64_t price = packing_price_items(s->items.nr);
	bool has_spans = bitset_next(&f->packed, 0) < f->packed.bits;

	s->threads = s->options->threads;
	if (!has_spans && !s->items.nr)
		return 0;
	if (has_spans && s->options->admission)
		price += packing_price_spans(&f->space, &f->packed) +
			 packing_price_filter(s->request->filter,
					      bitset_count(&f->packed));
	return packing_admit(&s->threads, s->options, price, err);
}

int packing_send(const struct odb *odb, const struct packing_request *request,
		 const struct packing_send_options *options,
		 struct pack_sink sink, struct packing_report *report,
		 struct error *err)
{
	struct send s = {.odb = odb,
			 .request = request,
			 .options = options,
			 .report = report};
	int ret;

	*report = (struct packing_report){.warning = ERROR_INIT};
	if (!request->want_nr) {
		ret = request->elsewhere ? leave_out(&s, err) : 0;
		return ret ? ret : send_nothing(&s, sink, err);
	}
	ret = find(&s, err);
	if (ret < 0)
		return ret;
	packing_items_init(&s.items, &s.found.walk.space);
	ret = packs_init(&s.packs, odb, err);
	if (!ret)
		ret = settle(&s, err);
	if (!ret)
		ret = admit(&s, err);
	if (!ret)
		tell_count(&s);
	if (!ret)
		ret = send_all(&s, sink, err);
	bitset_release(&s.sent);
	packing_items_release(&s.items);
	packs_release(&s.packs);
	found_close(&s.found);
	return ret;
}
