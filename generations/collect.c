/* SPDX-License-Identifier: MIT */
/*
 * Garbage collection. A generation is live if it is the newest, or if its
 * successor is younger than the grace period. To retire a record is to replace
 * it by a nearly empty record. The order of the steps is this:
 *
 *	1. ask the store for its time
 *	2. find the newest record, and read down to the first retired record
 *	3. retire the records of generations that are not live, the oldest first
 *	4. list the files, and delete those that are older than the grace period
 *	   and that no live generation names
 *	5. if step 3 has failed, for example because the store was full, retire
 *	   the remaining records now: step 4 may have made room in the store
 *
 * Step 1 must be before step 2. The reason: the record that names a file is
 * made soon after the file. Take a file that is older than the grace period at
 * the time of step 1. Its record exists already when step 2 reads the records,
 * or the file never gets a record. So step 4 deletes no file that a later
 * record names.
 *
 * Step 3 retires the oldest record first, so all records below a retired one
 * are retired, too. So step 2 may stop at the first retired record.
 */
#include <string.h>

#include "base/mem.h"
#include "generations/collect.h"
#include "generations/names.h"
#include "sys/thread.h"

/*
 * Number of records that are read at the same time. A repository with many
 * pushes has thousands of live records, and each of them may have
 * GENERATION_RECORD_MAX bytes.
 */
#define WINDOW_MAX 8

/*
 * length in bytes of a key: the hash of a file's content and the token of its
 * upload; names of files in one repository differ only in these two parts
 */
#define KEY_LEN (GENERATION_SHA256_LEN + GENERATION_TOKEN_LEN)

/* A record that is not live. */
struct old {
	uint64_t number;
	uint8_t parent[GENERATION_SHA256_LEN];
};

struct collection {
	const struct generation_place *place;
	const struct generation_collect_options *options;
	struct generation_garbage *out;
	/* present time by the clock of the store, in seconds since 1970 */
	int64_t now;
	/*
	 * Owned: the keys of the files that live records name. A key is a
	 * content hash and an upload token. The first `sorted_nr` keys are
	 * sorted, without duplicates.
	 */
	uint8_t (*keys)[KEY_LEN];
	size_t key_nr, key_alloc, sorted_nr;
	/* owned: the records to retire, in descending order of their numbers */
	struct old *olds;
	size_t old_nr, old_alloc;
	size_t prefix_len;
	struct error *err;
};

static bool is_young(const struct collection *c, int64_t mtime)
{
	/*
	 * Both times are rounded down to seconds. So a file whose age equals
	 * the grace period counts as young.
	 */
	return c->now - mtime <= c->options->grace;
}

/* ---- the time of the store */

/*
 * Returns ERR_PEER if the store did not tell the time of a file. Without the
 * time, the file would look old and would be deleted. Otherwise returns 0.
 */
static int check_mtime(const struct collection *c,
		       const struct filestore_info *info)
{
	return info->mtime > 0 ? 0
			       : error_set(c->err, ERR_PEER,
					   "the store does not say when a file "
					   "was written");
}

/*
 * Asks the store for its time: writes the hint again, and reads the
 * modification time that the store gives it. The hint is a small file with a
 * copy or the number of a record; a search for the newest record starts at this
 * record. So writing the hint again does no harm. Returns 0, a
 * filestore_result, or a negative error code.
 */
static int write_and_ask(struct collection *c, const struct generation *newest)
{
	struct filestore_info info;
	struct buf name = BUF_INIT;
	int ret = generation_write_hint_record(c->place, newest, c->err);

	if (!ret)
		ret = generation_hint_name(&name, c->place->repository, c->err);
	if (!ret)
		ret = filestore_head(c->place->store, &info, name.data, c->err);
	if (!ret)
		ret = check_mtime(c, &info);
	if (!ret)
		c->now = info.mtime;
	buf_release(&name);
	return ret;
}

/*
 * Asks the store for its time without writing. Returns true with c->now set, or
 * false if the store's response has no time.
 *
 * The response may come from a gateway in front of the store, and the clock of
 * the gateway may be fast. With a fast clock, young files would look old. So
 * c->now is the time in the response, or the time of this node's clock if that
 * is earlier.
 */
static bool ask_only(struct collection *c, uint64_t newest)
{
	struct filestore_info info = {0};
	struct buf name = BUF_INIT;
	int ret = generation_record_name(&name, c->place->repository, newest,
					 NULL);

	if (!ret)
		ret = filestore_head(c->place->store, &info, name.data, NULL);
	if (!ret) {
		const struct generation_host *host = c->place->host;
		int64_t own = host->time(host->ctx);

		c->now = own < info.now ? own : info.now;
	}
	buf_release(&name);
	return !ret && info.now > 0;
}

/*
 * Asks the store for its time. First writes the hint, a small file with the
 * number of the newest record, and asks the store for the modification time of
 * the hint. This time comes from the same clock as the times of other files. If
 * the write fails, for example because the store is full, takes the time from a
 * response of the store. Such a time may come from the clock of another
 * machine. Returns 0, STORE_UNAVAILABLE, or a negative error code.
 */
static int ask_time(struct collection *c, const struct generation *newest)
{
	int ret = write_and_ask(c, newest);

	if (ret && ret != ERR_NOMEM && ask_only(c, newest->number))
		ret = 0;
	/*
	 * The time of the store is not known. One of two things has happened:
	 * the hint (the small file that is written to learn the time) could not
	 * be written, or its modification time could not be read, for example
	 * because another process had removed the hint. Also, no other response
	 * of the store had a time. The caller may try again later.
	 */
	return ret > 0 ? STORE_UNAVAILABLE : ret;
}

/* ---- the live records */

static int key_cmp(const void *a, const void *b)
{
	return memcmp(a, b, KEY_LEN);
}

static void make_key(uint8_t key[KEY_LEN], const struct generation_file *file)
{
	memcpy(key, file->sha256, GENERATION_SHA256_LEN);
	memcpy(key + GENERATION_SHA256_LEN, file->upload, GENERATION_TOKEN_LEN);
}

static bool has_key(const struct collection *c, const uint8_t key[KEY_LEN])
{
	return c->sorted_nr &&
	       bsearch(key, c->keys, c->sorted_nr, KEY_LEN, key_cmp);
}

/* Sorts all keys, and removes duplicates. */
static void sort_keys(struct collection *c)
{
	size_t kept = 0;

	if (c->key_nr)
		qsort(c->keys, c->key_nr, KEY_LEN, key_cmp);
	for (size_t i = 0; i < c->key_nr; i++)
		if (!kept || key_cmp(c->keys[i], c->keys[kept - 1]) != 0)
			memmove(c->keys[kept++], c->keys[i], KEY_LEN);
	c->key_nr = c->sorted_nr = kept;
}

static int add_live(struct collection *c, const struct generation *g)
{
	for (size_t i = 0; i < g->file_nr; i++) {
		uint8_t key[KEY_LEN];

		make_key(key, &g->files[i]);
		if (has_key(c, key))
			continue;
		if (mem_grow(&c->keys, &c->key_alloc, c->key_nr + 1, KEY_LEN) <
		    0)
			return error_nomem(c->err);
		memcpy(c->keys[c->key_nr++], key, KEY_LEN);
	}
	/*
	 * Sort only after the number of keys has doubled since the last sort,
	 * so that there are few sorts.
	 */
	if (c->key_nr / 2 > c->sorted_nr)
		sort_keys(c);
	return 0;
}

static int add_old(struct collection *c, const struct generation *g)
{
	if (mem_grow(&c->olds, &c->old_alloc, c->old_nr + 1, sizeof(*c->olds)) <
	    0)
		return error_nomem(c->err);
	c->olds[c->old_nr].number = g->number;
	memcpy(c->olds[c->old_nr++].parent, g->parent, sizeof(g->parent));
	return 0;
}

/*
 * The result of reading one record: the record, or the reason why it could not
 * be read.
 */
struct reading {
	/* result of generation_read_info() */
	int ret;
	struct generation g;
	struct filestore_info info;
	struct error err;
};

/* Records that are read at the same time: `newest`, `newest` - 1, ... */
struct window {
	const struct generation_place *place;
	uint64_t newest;
	size_t nr;
	struct reading readings[WINDOW_MAX];
};

static int read_one(void *ctx, unsigned thread_nr, size_t nr, struct error *err)
{
	struct window *w = ctx;
	struct reading *r = &w->readings[nr];

	(void)thread_nr;
	(void)err;
	r->err = (struct error)ERROR_INIT;
	r->ret = generation_read_info(&r->g, &r->info, w->place, w->newest - nr,
				      &r->err);
	return 0;
}

/*
 * Reads up to WINDOW_MAX records at the same time, from `newest` downwards.
 * Some reads may turn out to be unnecessary. An earlier garbage collection has
 * replaced old records by retired records, which have no content. So this
 * garbage collection needs no record that is older than the newest retired
 * record.
 */
static int window_read(struct window *w, const struct collection *c,
		       uint64_t newest)
{
	const struct generation_host *host = c->place->host;
	size_t max = host->threads > 1 ? WINDOW_MAX : 1;

	w->place = c->place;
	w->newest = newest;
	w->nr = newest < max ? (size_t)newest : max;
	return sys_parallel((unsigned)w->nr, w->nr, read_one, w, c->err);
}

static void window_release(struct window *w)
{
	for (size_t i = 0; i < w->nr; i++)
		generation_release(&w->readings[i].g);
	w->nr = 0;
}

/*
 * Handles one record. There are three kinds of records:
 * - A live record: its generation is the newest one, or was the newest one
 *   within the grace period. The files of the record are kept.
 * - A record that is not live, but still has its content. It is added to
 *   c->olds, the list of records to retire.
 * - A retired record. An earlier garbage collection has removed its content. It
 *   is ignored.
 *
 * On entry, *is_live says whether this record is live. On return, *is_live says
 * whether the next older record is live. Returns 0, STORE_UNAVAILABLE or a
 * negative error code.
 */
static int note_record(struct collection *c, bool *is_live,
		       const struct reading *r)
{
	int ret = r->ret;

	if (ret == STORE_ABSENT)
		return error_set(
			c->err, ERR_CORRUPT,
			"the store has lost a record of the repository");
	if (ret && c->err)
		*c->err = r->err;
	if (!ret)
		ret = check_mtime(c, &r->info);
	if (ret)
		return ret;
	if (!r->g.is_retired && *is_live) {
		/*
		 * Records arrive from the newest to the oldest. This record is
		 * live, so its files are kept. Usually all newer records are
		 * live, too. But if the clock of the store was set back, newer
		 * records may look old, and be in the list of records to
		 * retire (to replace by nearly empty records).
		 *
		 * These newer records must not be retired now. A collection
		 * reads records only down to the newest retired one. So the
		 * next collection would not see this live record, and would
		 * delete its files. Therefore empty the list. A later
		 * collection retires the newer records.
		 */
		ret = add_live(c, &r->g);
		c->old_nr = 0;
	} else if (!r->g.is_retired) {
		ret = add_old(c, &r->g);
	}
	*is_live = is_young(c, r->info.mtime);
	return ret;
}

/*
 * Reads records from number `newest` downwards. Stops after the first retired
 * record: an earlier collection has replaced the content of this record and of
 * all older ones. Returns 0, STORE_UNAVAILABLE or a negative error code.
 */
static int read_records(struct collection *c, uint64_t newest)
{
	struct window *w = mem_calloc(1, sizeof(*w));
	/*
	 * Whether the next record to read is live. The newest record is live,
	 * because it has no successor.
	 */
	bool is_live = true, is_done = false;
	int ret = w ? 0 : error_nomem(c->err);

	while (!ret && newest && !is_done) {
		ret = window_read(w, c, newest);
		for (size_t i = 0; !ret && !is_done && i < w->nr; i++) {
			ret = note_record(c, &is_live, &w->readings[i]);
			is_done = w->readings[i].g.is_retired;
		}
		newest -= w->nr;
		window_release(w);
	}
	free(w);
	sort_keys(c);
	return ret;
}

/* ---- retiring */

static int retire(struct collection *c, const struct old *old)
{
	static const struct filestore_condition always = {STORE_ALWAYS, NULL};
	struct generation g = {.number = old->number, .is_retired = true};
	struct buf name = BUF_INIT, text = BUF_INIT;
	int ret;

	memcpy(g.parent, old->parent, sizeof(g.parent));
	ret = generation_print(&text, NULL, &g, c->err);
	if (!ret)
		ret = generation_record_name(&name, c->place->repository,
					     old->number, c->err);
	/*
	 * Replace the record without a condition: collections on other nodes
	 * write the same bytes.
	 */
	if (!ret)
		ret = filestore_put(c->place->store, NULL, name.data, text.data,
				    text.len, &always, c->err);
	buf_release(&name);
	buf_release(&text);
	return ret > 0 ? STORE_UNAVAILABLE : ret;
}

/*
 * Retires the records in c->olds. If the call fails at a record, the next call
 * continues with this record.
 */
static int retire_all(struct collection *c)
{
	int ret = 0;

	while (!ret && c->old_nr) {
		if (!c->options->is_dry)
			ret = retire(c, &c->olds[c->old_nr - 1]);
		c->old_nr -= !ret;
		c->out->retired_nr += !ret;
	}
	return ret;
}

/* ---- files */

static int judge_file(void *ctx, const struct filestore_entry *entry,
		      struct error *err)
{
	struct collection *c = ctx;
	struct generation_file file;
	uint8_t key[KEY_LEN];
	int ret = 0;

	/* Ignore a file whose name is not that of a generation's file. */
	if (!generation_file_of_name(&file, entry->name, c->prefix_len))
		return 0;
	make_key(key, &file);
	if (has_key(c, key)) {
		c->out->kept_nr++;
		return 0;
	}
	ret = check_mtime(c, &entry->info);
	if (ret)
		return ret;
	if (is_young(c, entry->info.mtime)) {
		c->out->young_nr++;
		return 0;
	}
	if (!c->options->is_dry)
		ret = filestore_delete(c->place->store, entry->name, err);
	if (!ret) {
		c->out->file_nr++;
		c->out->bytes += entry->info.size;
	}
	/*
	 * A file that could not be deleted is found again by the next
	 * collection.
	 */
	c->out->failed_nr += ret > 0;
	return ret < 0 ? ret : 0;
}

static int delete_files(struct collection *c)
{
	struct buf prefix = BUF_INIT;
	int ret = generation_file_prefix(&prefix, c->place->repository, c->err);

	c->prefix_len = prefix.len;
	if (!ret)
		ret = filestore_list_each(c->place->store, prefix.data,
					  judge_file, c, c->err);
	buf_release(&prefix);
	return ret;
}

/*
 * Retires records, and deletes files. To retire a record is to replace it by a
 * nearly empty one. Only records of generations that are not live are retired:
 * such a generation has a successor that is older than the grace period.
 *
 * Replacing a record writes a new file, which can fail on a full store. In this
 * case the files are deleted first, and the remaining records are retired
 * afterwards. Until then, these records name files that do not exist any more.
 * This does no harm, because nobody reads the record of a generation that is
 * not live.
 */
static int remove_all(struct collection *c)
{
	int retired = retire_all(c);
	int ret = retired == ERR_NOMEM ? retired : delete_files(c);

	return ret || !retired ? ret : retire_all(c);
}

int generation_collect(struct generation_garbage *out,
		       const struct generation_place *place,
		       const struct generation_collect_options *options,
		       struct error *err)
{
	struct collection c = {
		.place = place,
		.options = options,
		.out = out,
		.err = err,
	};
	struct generation newest = {0};
	uint64_t number = 0;
	int ret;

	memset(out, 0, sizeof(*out));
	if (options->grace < 1)
		return error_set(err, ERR_INVALID,
				 "the grace period of a garbage collection "
				 "must be at least one second");
	ret = generation_newest(&newest, place, 0, err);
	if (!ret) {
		number = newest.number;
		ret = ask_time(&c, &newest);
	}
	generation_release(&newest);
	/*
	 * Search for the newest record again: the records must be read after
	 * ask_time() has read the clock of the store. A writer makes the record
	 * that names a file soon after it has written the file. Take a file
	 * that was older than the grace period at the time that ask_time() has
	 * read. There are two cases: the record that names the file exists
	 * already and is read now, or no record will ever name the file. So if
	 * no record that is read now names the file, the file can be deleted.
	 */
	if (!ret)
		ret = generation_newest(&newest, place, number, err);
	if (!ret)
		ret = read_records(&c, newest.number);
	if (!ret)
		ret = remove_all(&c);
	generation_release(&newest);
	free(c.keys);
	free(c.olds);
	return ret;
}
