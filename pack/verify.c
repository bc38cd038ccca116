/* SPDX-License-Identifier: MIT */
/*
 * Verifies a pack. Each thread takes one family of deltas at a time: an object
 * that is stored whole and all deltas made from it.
 */
#include <inttypes.h>
#include <string.h>

#include "base/mem.h"
#include "object/hash.h"
#include "pack/delta-stack.h"
#include "pack/delta.h"
#include "pack/inflate.h"
#include "pack/verify.h"
#include "sys/map.h"
#include "sys/thread.h"

enum {
	FAMILIES_PER_TASK = 64,
	/*
	 * limit for the bytes of the delta bases that a thread keeps: the
	 * default of core.deltaBaseCacheLimit in stock Git
	 */
	BASES_LIMIT = 96 << 20,
};

/*
 * Task numbers. TASK_PACK_CHECKSUM and TASK_IDX start first, because they take
 * longest. Each task with a number from TASK_FAMILIES on verifies some
 * families: objects that are stored whole, with the deltas made from them.
 */
enum { TASK_PACK_CHECKSUM, TASK_IDX, TASK_FAMILIES };

/* The state of one thread. */
struct worker {
	const struct pack_chains *chains;
	unsigned nr;
	const struct pack_verify_hooks *hooks; /* may be NULL */
	struct inflater *inflater;             /* owned */
	struct hash_ctx hash;
	uint8_t *delta; /* owned; an inflated delta */
	size_t delta_alloc;
	/*
	 * The objects from the root of a family to the current object. `nr` is
	 * a pack_pos, and `next` an index into chains->children: the next child
	 * to verify.
	 */
	struct delta_stack stack;
};

struct verify {
	const struct pack_chains *chains;
	const struct pack_verify_hooks *hooks; /* may be NULL */
	/*
	 * number of the first task to run: 0, or TASK_FAMILIES if the
	 * checksums of the files are not verified
	 */
	size_t first_task;
	/* owned array, indexed by thread_nr: the state of each thread */
	struct worker *workers;
};

/* ---- one entry */

/* The range of an entry's bytes in the pack. */
struct extent {
	uint64_t offset;
	const uint8_t *stream;
	size_t stream_len;
	struct pack_entry entry;
};

static int corrupt(const struct pack_chains *c, uint64_t offset,
		   const char *what, struct error *err)
{
	return error_set_at(err, ERR_CORRUPT, c->pack->path, offset, "%s",
			    what);
}

/*
 * Finds the bytes of the entry at pack_pos, which end where the next entry
 * begins, and verifies their CRC. Returns 0 or a negative error code.
 */
static int find_extent(struct extent *x, const struct pack_chains *c,
		       uint32_t pack_pos, struct error *err)
{
	const struct pack *pack = c->pack;
	uint64_t end = pack_rev_offset(&c->rev, pack_pos + 1);
	const uint8_t *bytes;
	size_t len;
	int ret;

	x->offset = pack_rev_offset(&c->rev, pack_pos);
	ret = pack_entry_at(&x->entry, pack, x->offset, err);
	if (ret < 0)
		return ret;
	bytes = pack_bytes(pack, NULL) + x->offset;
	len = (size_t)(end - x->offset);
	if (x->entry.header_len > len)
		return corrupt(c, x->offset, "objects overlap", err);
	x->stream = bytes + x->entry.header_len;
	x->stream_len = len - x->entry.header_len;
	if (pack->idx.version > 1 &&
	    pack_crc32(0, bytes, len) !=
		    pack_idx_crc(&pack->idx,
				 pack_rev_idx_pos(&c->rev, pack_pos)))
		return corrupt(c, x->offset,
			       "object has another CRC than in "
			       "the index",
			       err);
	if (!mem_can_inflate(x->entry.size, x->stream_len))
		return corrupt(c, x->offset,
			       "object larger than its data can "
			       "be",
			       err);
	return 0;
}

/*
 * Inflates an entry of the pack. Its zlib stream must end where the next entry
 * begins. Returns 0 or a negative error code.
 */
static int inflate(struct worker *w, const struct pack_chains *c, uint8_t *dst,
		   const struct extent *x, struct error *err)
{
	size_t used;
	int ret = inflater_exact(w->inflater, dst, (size_t)x->entry.size,
				 x->stream, x->stream_len, &used);

	if (ret == ERR_NOMEM)
		return error_nomem(err);
	if (ret < 0)
		return corrupt(c, x->offset,
			       "object does not inflate to its "
			       "size",
			       err);
	if (used != x->stream_len)
		return corrupt(c, x->offset + x->entry.header_len + used,
			       "bytes between objects", err);
	return 0;
}

/* ---- one object */

static int make_whole(struct worker *w, struct delta_frame *out,
		      const struct extent *x, struct error *err)
{
	out->len = (size_t)x->entry.size;
	out->data = mem_alloc(out->len, 1);
	if (!out->data)
		return error_nomem(err);
	return inflate(w, w->chains, out->data, x, err);
}

static int make_from_delta(struct worker *w, struct delta_frame *out,
			   const struct extent *x,
			   const struct delta_frame *base, struct error *err)
{
	const struct pack_chains *c = w->chains;
	size_t delta_len = (size_t)x->entry.size;
	uint64_t base_len, len;
	int ret;

	if (mem_grow(&w->delta, &w->delta_alloc, delta_len + 1, 1) < 0)
		return error_nomem(err);
	ret = inflate(w, c, w->delta, x, err);
	if (ret < 0)
		return ret;
	if (delta_sizes(w->delta, delta_len, &base_len, &len, NULL) < 0 ||
	    base_len != base->len || !delta_can_make(len, delta_len, base->len))
		return corrupt(c, x->offset, "delta does not fit its base",
			       err);
	out->len = (size_t)len;
	out->data = mem_alloc(out->len, 1);
	if (!out->data)
		return error_nomem(err);
	if (delta_apply(out->data, out->len, base->data, base->len, w->delta,
			delta_len) < 0)
		return corrupt(c, x->offset, "malformed delta", err);
	return 0;
}

/*
 * Decodes the object out->nr. This function is also the callback `make` of the
 * stack. Returns 0, or a negative error code with out->data set to NULL.
 */
static int decode(void *ctx, struct delta_frame *out,
		  const struct delta_frame *base, struct error *err)
{
	struct worker *w = ctx;
	struct extent x;
	int ret = find_extent(&x, w->chains, out->nr, err);

	out->data = NULL;
	if (!ret)
		ret = base ? make_from_delta(w, out, &x, base, err)
			   : make_whole(w, out, &x, err);
	if (ret < 0) {
		free(out->data);
		out->data = NULL;
	}
	return ret;
}

static int check_id(struct worker *w, const struct delta_frame *object,
		    struct error *err)
{
	const struct pack_chains *c = w->chains;
	const uint8_t *raw = pack_idx_oid(
		&c->pack->idx, pack_rev_idx_pos(&c->rev, object->nr));
	char hex[OID_MAX_HEX_LEN + 1];
	struct oid oid;

	hash_object(&w->hash, &oid, c->type[object->nr], object->data,
		    object->len);
	if (!memcmp(oid.bytes, raw, hash_len(c->pack->algo)))
		return hash_refuse_attack(&w->hash, &oid, err);
	return error_set_at(err, ERR_CORRUPT, c->pack->path,
			    pack_rev_offset(&c->rev, object->nr),
			    "object is not %s",
			    oid_raw_to_hex(hex, raw, c->pack->algo));
}

/*
 * Passes an object to one of the callbacks: to `object` if the object is right,
 * to `bad` if it is wrong. `ret` is the result of decoding the object and
 * checking its id. Returns 0 to use the object, 1 to skip it, or a negative
 * error code.
 */
static int judge(struct worker *w, const struct delta_frame *object, int ret,
		 struct error *err)
{
	const struct pack_verify_hooks *hooks = w->hooks;
	const struct pack_chains *c = w->chains;
	uint32_t idx_pos = pack_rev_idx_pos(&c->rev, object->nr);
	struct error why = ERROR_INIT;

	if (!hooks || ret == ERR_NOMEM)
		return ret;
	if (!ret) {
		ret = hooks->object(hooks->ctx, w->nr, idx_pos,
				    c->type[object->nr], object->data,
				    object->len, err);
		return ret < 0 ? ret : 0;
	}
	if (err)
		why = *err;
	ret = hooks->bad(hooks->ctx, w->nr, idx_pos, &why, err);
	return ret < 0 ? ret : 1;
}

/* ---- one family */

static bool has_children(const struct worker *w, const struct delta_frame *f)
{
	return f->next < w->chains->child_first[f->nr + 1];
}

/*
 * Judges an object. `ret` is the result of decoding it. If the object is right
 * and deltas are made from it, puts it on the stack; otherwise frees it.
 * Returns 0 or a negative error code.
 */
static int enter(struct worker *w, struct delta_frame *object, int ret,
		 struct error *err)
{
	if (!ret)
		ret = check_id(w, object, err);
	ret = judge(w, object, ret, err);
	if (!ret && has_children(w, object))
		return delta_stack_push(&w->stack, object, err);
	free(object->data);
	return ret < 0 ? ret : 0;
}

/*
 * Verifies the next child of the object on top of the stack. If this is its
 * last child, the bytes of the object are dropped before the child's own
 * children are verified. Returns 0 or a negative error code.
 */
static int check_next_child(struct worker *w, struct error *err)
{
	const struct pack_chains *c = w->chains;
	struct delta_frame *base = delta_stack_top(&w->stack);
	uint32_t pack_pos = c->children[base->next++];
	struct delta_frame child = {
		.nr = pack_pos,
		.next = c->child_first[pack_pos],
	};
	int ret = base->data ? 0 : delta_stack_load(&w->stack, err);

	if (!ret)
		ret = decode(w, &child, base, err);
	if (!has_children(w, base))
		delta_stack_finish(&w->stack);
	return enter(w, &child, ret, err);
}

static int check_family(struct worker *w, uint32_t pack_pos, struct error *err)
{
	struct delta_stack *stack = &w->stack;
	struct delta_frame root = {
		.nr = pack_pos,
		.next = w->chains->child_first[pack_pos],
	};
	int ret = enter(w, &root, decode(w, &root, NULL, err), err);

	while (!ret && stack->depth) {
		if (has_children(w, delta_stack_top(stack)))
			ret = check_next_child(w, err);
		else
			delta_stack_pop(stack);
		if (stack->depth)
			delta_stack_trim(stack);
	}
	return ret;
}

/* ---- all of it */

static int worker_init(struct worker *w, const struct verify *v, unsigned nr)
{
	w->chains = v->chains;
	w->hooks = v->hooks;
	w->nr = nr;
	w->stack = (struct delta_stack){
		.limit = BASES_LIMIT,
		.make = decode,
		.ctx = w,
	};
	w->inflater = inflater_new();
	if (!w->inflater)
		return ERR_NOMEM;
	return hash_init_checked(&w->hash, v->chains->pack->algo);
}

static void worker_release(struct worker *w)
{
	delta_stack_release(&w->stack);
	free(w->delta);
	hash_release(&w->hash);
	inflater_free(w->inflater);
}

static int run_task(void *ctx, unsigned thread_nr, size_t task_nr,
		    struct error *err)
{
	const struct verify *v = ctx;
	const struct pack_chains *c = v->chains;
	size_t i, end;

	task_nr += v->first_task;
	if (task_nr == TASK_PACK_CHECKSUM)
		return pack_verify_checksum(c->pack, err);
	if (task_nr == TASK_IDX)
		return pack_idx_verify(&c->pack->idx, err);
	i = (task_nr - TASK_FAMILIES) * FAMILIES_PER_TASK;
	end = i + FAMILIES_PER_TASK;
	if (end > c->whole_nr)
		end = c->whole_nr;
	for (; i < end; i++) {
		int ret = check_family(&v->workers[thread_nr], c->order[i],
				       err);

		if (ret < 0)
			return ret;
	}
	return 0;
}

int pack_verify_rev(const struct pack *pack, struct error *err)
{
	struct sys_map map = SYS_MAP_INIT;
	struct buf path = BUF_INIT;
	struct pack_rev rev;
	int ret = buf_printf(&path, "%s.rev", pack->path);

	ret = ret < 0 ? error_nomem(err) : sys_map_open(&map, path.data, err);
	if (!ret)
		ret = hash_check_trailer(map.data, map.len, pack->algo,
					 path.data, err);
	if (!ret)
		ret = pack_rev_parse(&rev, &pack->idx, pack->file.len, map.data,
				     map.len, path.data, err);
	if (!ret)
		ret = pack_rev_verify(&rev, path.data, err);
	sys_map_close(&map);
	buf_release(&path);
	return ret == ERR_MISSING ? 0 : ret;
}

int pack_verify_files(const struct pack *pack, struct error *err)
{
	int ret = pack_idx_verify(&pack->idx, err);

	return ret < 0 ? ret : pack_verify_checksum(pack, err);
}

static int run(struct verify *v, unsigned threads, struct error *err)
{
	size_t tasks = TASK_FAMILIES - v->first_task +
		       ((size_t)v->chains->whole_nr + FAMILIES_PER_TASK - 1) /
			       FAMILIES_PER_TASK;
	unsigned ready = 0;
	int ret = 0;

	v->workers = mem_calloc(threads, sizeof(*v->workers));
	if (!v->workers)
		return error_nomem(err);
	for (; !ret && ready < threads; ready++)
		ret = worker_init(&v->workers[ready], v, ready);
	ret = ret < 0 ? error_nomem(err)
		      : sys_parallel(threads, tasks, run_task, v, err);
	while (ready)
		worker_release(&v->workers[--ready]);
	free(v->workers);
	return ret;
}

int pack_verify(const struct pack_chains *chains, unsigned threads,
		struct error *err)
{
	struct verify v = {.chains = chains};

	return run(&v, threads, err);
}

int pack_verify_objects(const struct pack_chains *chains, unsigned threads,
			const struct pack_verify_hooks *hooks,
			struct error *err)
{
	struct verify v = {
		.chains = chains,
		.hooks = hooks,
		.first_task = TASK_FAMILIES,
	};

	return run(&v, threads, err);
}
