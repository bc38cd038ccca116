/* SPDX-License-Identifier: MIT */
/* Checks whether a store keeps the promises of store/filestore.h. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/mem.h"
#include "store/probe.h"
#include "sys/io.h"
#include "sys/thread.h"

/* enough for "probe/<16 digits>/create-<round>" */
#define NAME_LEN 64
/* size of a buffer for a writer's number: decimal digits and a NUL */
#define CONTENT_LEN 16

struct probe {
	struct filestore *store;
	char dir[NAME_LEN]; /* with its last "/" */
	struct error *err;
};

static const struct filestore_condition create = {STORE_CREATE, NULL};

/*
 * Returns the result of the probe after a request had the unexpected result
 * `ret`. There are two cases:
 * - The request failed, which proves nothing about the store. If `ret` is
 *   negative, returns `ret`. If `ret` is STORE_UNAVAILABLE or STORE_AMBIGUOUS,
 *   returns STORE_UNAVAILABLE.
 * - The store has answered, and so has broken a promise. Returns
 *   ERR_UNSUPPORTED with the message `what`, for example "a file can be created
 *   twice".
 */
static int wrong(const struct probe *p, int ret, const char *what)
{
	if (ret < 0 || ret == STORE_UNAVAILABLE)
		return ret;
	if (ret == STORE_AMBIGUOUS)
		return STORE_UNAVAILABLE;
	return error_set(p->err, ERR_UNSUPPORTED,
			 "the store is not safe to use: %s", what);
}

static void make_name(char out[2 * NAME_LEN], const struct probe *p,
		      const char *what, unsigned round)
{
	snprintf(out, 2 * NAME_LEN, "%s%s-%u", p->dir, what, round);
}

static int expect_content(const struct probe *p, const char *name,
			  const char *content)
{
	struct buf got = BUF_INIT;
	int ret = filestore_get(p->store, &got, NULL, name, CONTENT_LEN,
				p->err);

	if (ret)
		ret = wrong(p, ret, "a file that was written is not found");
	else if (strcmp(got.data, content) != 0)
		ret = wrong(p, 0, "a file that was written has old content");
	buf_release(&got);
	return ret;
}

/* ---- checks with one client */

struct search {
	const char *name;
	bool is_found;
};

static int note_entry(void *ctx, const struct filestore_entry *entry,
		      struct error *err)
{
	struct search *s = ctx;

	s->is_found |= !strcmp(entry->name, s->name);
	return 0;
}

static int expect_listed(const struct probe *p, const char *name, bool listed)
{
	struct search s = {name, false};
	int ret = filestore_list_each(p->store, p->dir, note_entry, &s, p->err);

	if (ret)
		return ret;
	if (s.is_found == listed)
		return 0;
	return wrong(p, 0,
		     listed ? "a listing lacks a file that was written"
			    : "a listing has a file that was deleted");
}

static int probe_sight(const struct probe *p)
{
	char name[2 * NAME_LEN];
	struct filestore_info info;
	int ret;

	make_name(name, p, "sight", 0);
	ret = filestore_put(p->store, NULL, name, "one", 3, &create, p->err);
	if (ret)
		return wrong(p, ret, "a new file cannot be created");
	ret = expect_content(p, name, "one");
	if (!ret)
		ret = expect_listed(p, name, true);
	if (ret)
		return ret;
	ret = filestore_head(p->store, &info, name, p->err);
	if (ret || info.size != 3 || !*info.etag)
		return wrong(p, ret, "a file has no size or no entity tag");
	ret = filestore_put(p->store, NULL, name, "two", 3, &create, p->err);
	if (ret != STORE_CONFLICT)
		return wrong(p, ret, "a file can be created twice");
	ret = expect_content(p, name, "one");
	if (!ret)
		ret = filestore_delete(p->store, name, p->err);
	if (ret)
		return wrong(p, ret, "a file cannot be deleted");
	ret = filestore_head(p->store, &info, name, p->err);
	if (ret != STORE_ABSENT)
		return wrong(p, ret, "a file that was deleted is found");
	return expect_listed(p, name, false);
}

/* ---- races */

/* Concurrent writers of one name; writer `n` writes the number `n`. */
struct race {
	const struct probe *p;
	const char *name;
	struct filestore_condition condition;
	int results[STORE_PROBE_CREATORS];
};

static int write_once(void *ctx, unsigned thread_nr, size_t nr,
		      struct error *err)
{
	struct race *race = ctx;
	char content[CONTENT_LEN];

	snprintf(content, sizeof(content), "%zu", nr);
	race->results[nr] = filestore_put(race->p->store, NULL, race->name,
					  content, strlen(content),
					  &race->condition, err);
	return race->results[nr] < 0 ? race->results[nr] : 0;
}

/*
 * Checks the file that several writers have written at the same time. Its
 * content must be that of the writer that succeeded, or of a writer whose
 * outcome is unknown.
 */
static int check_winner(const struct race *race)
{
	struct buf got = BUF_INIT;
	int ret = filestore_get(race->p->store, &got, NULL, race->name,
				CONTENT_LEN, race->p->err);

	if (ret) {
		ret = wrong(race->p, ret,
			    "a file that was written is not found");
	} else {
		unsigned nr = STORE_PROBE_CREATORS;

		if (sscanf(got.data, "%u", &nr) != 1 ||
		    nr >= STORE_PROBE_CREATORS ||
		    (race->results[nr] && race->results[nr] != STORE_AMBIGUOUS))
			ret = wrong(race->p, 0,
				    "a file does not have the content of the "
				    "writer that succeeded");
	}
	buf_release(&got);
	return ret;
}

static int run_race(struct race *race, const char *many, const char *none)
{
	unsigned won = 0, unknown = 0;
	int ret = sys_parallel(STORE_PROBE_CREATORS, STORE_PROBE_CREATORS,
			       write_once, race, race->p->err);

	if (ret)
		return ret;
	for (unsigned i = 0; i < STORE_PROBE_CREATORS; i++) {
		won += !race->results[i];
		unknown += race->results[i] == STORE_AMBIGUOUS ||
			   race->results[i] == STORE_UNAVAILABLE;
	}
	if (won > 1)
		return error_set(race->p->err, ERR_UNSUPPORTED,
				 "the store is not safe to use: %u of %u %s",
				 won, STORE_PROBE_CREATORS, many);
	if (!won)
		return unknown ? STORE_UNAVAILABLE : wrong(race->p, 0, none);
	return check_winner(race);
}

static int race_create(const struct probe *p, unsigned round)
{
	char name[2 * NAME_LEN];
	struct race race = {.p = p, .name = name, .condition = create};
	int ret;

	make_name(name, p, "create", round);
	ret = run_race(
		&race, "concurrent attempts to create one file succeeded",
		"none of the concurrent attempts to create one file succeeded");
	filestore_delete(p->store, name, NULL);
	return ret;
}

static int race_replace(const struct probe *p, unsigned round)
{
	char name[2 * NAME_LEN], etag[STORE_ETAG_MAX + 1];
	struct race race = {
		.p = p, .name = name, .condition = {STORE_REPLACE, etag}};
	int ret;

	make_name(name, p, "replace", round);
	ret = filestore_put(p->store, etag, name, "old", 3, &create, p->err);
	if (ret || !*etag)
		return wrong(p, ret, "a new file has no entity tag");
	ret = run_race(&race,
		       "concurrent attempts to replace one file succeeded",
		       "none of the concurrent attempts to replace one file "
		       "succeeded");
	if (!ret) {
		ret = filestore_put(p->store, NULL, name, "late", 4,
				    &race.condition, p->err);
		if (ret != STORE_CONFLICT)
			ret = wrong(p, ret,
				    "a file is replaced although its entity "
				    "tag has changed");
		else
			ret = 0;
	}
	filestore_delete(p->store, name, NULL);
	return ret;
}

int store_probe(struct filestore *store, struct error *err)
{
	struct probe p = {store, "", err};
	uint8_t random[8];
	int ret = sys_secret(random, sizeof(random), err);

	if (ret < 0)
		return ret;
	snprintf(p.dir, sizeof(p.dir), "probe/%016" PRIx64 "/",
		 load_be64(random));
	ret = probe_sight(&p);
	for (unsigned round = 0; !ret && round < STORE_PROBE_ROUNDS; round++) {
		ret = race_create(&p, round);
		if (!ret)
			ret = race_replace(&p, round);
	}
	return ret;
}
