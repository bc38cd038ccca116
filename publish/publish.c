/* SPDX-License-Identifier: MIT */
/* Chooses which packs are published. */
#include <stdlib.h>

#include "base/approxidate.h"
#include "base/mem.h"
#include "islands/network.h"
#include "prepared/prepared-wants.h"
#include "publish/publish-parts.h"
#include "sys/io.h"
#include "sys/rangelock.h"
#include "sys/share.h"
#include "sys/tempfile.h"
#include "wire/visible.h"

/* ---- answers */

/*
 * The prepared answers (stored responses to clones), and the data that decide
 * which of them are published.
 */
struct choosing {
	struct prepared prepared;
	struct prepared_wants wants;
	struct visible *visible;
};

/*
 * Check a prepared answer with several wants. Returns 1 if clients may have all
 * wanted objects. Returns 0 if not, or if it is unknown which wants the answer
 * has. Returns a negative error code otherwise.
 */
static int wants_are_visible(struct choosing *c, uint32_t answer_nr,
			     struct error *err)
{
	const struct prepared_wants_of *of = NULL;
	struct oid oid;
	int ret = 1;

	for (size_t i = 0; i < c->wants.nr; i++)
		if (c->wants.answers[i].answer == answer_nr)
			of = &c->wants.answers[i];
	if (!of)
		return 0;
	for (uint32_t at = 0; at < c->wants.id_nr && ret > 0; at++) {
		if (!ewah_test(&of->ids, at))
			continue;
		oid_from_raw(&oid, c->wants.ids + at * hash_len(c->wants.algo),
			     c->wants.algo);
		ret = visible_has(c->visible, &oid, err);
	}
	return ret;
}

/*
 * A prepared answer is a stored response to a request. Returns 1 if clients may
 * have all objects that this request wants. Returns 0 if not, or if the wants
 * are unknown. Returns a negative error code after an error.
 */
static int is_visible(struct choosing *c, uint32_t answer_nr, struct error *err)
{
	const struct prepared_request *r =
		&c->prepared.answers[answer_nr].request;

	return prepared_is_of_one(r) ? visible_has(c->visible, &r->id, err)
				     : wants_are_visible(c, answer_nr, err);
}

static bool is_wanted(const struct publishing *p,
		      const struct prepared_answer *answer)
{
	uint8_t kind = answer->request.kind;
	bool is_full = kind == PREPARED_CLONE ||
		       kind == PREPARED_CLONE + PREPARED_SEVERAL;

	return (is_full || p->config->shallow) &&
	       prepared_bytes(&answer->plain) >= p->config->minimum;
}

static int publish_answers(struct publishing *p, struct choosing *c,
			   struct error *err)
{
	int ret = 0;

	for (uint32_t i = 0; i < c->prepared.nr && ret >= 0; i++) {
		const struct prepared_answer *answer = &c->prepared.answers[i];

		if (!is_wanted(p, answer))
			continue;
		ret = is_visible(c, i, err);
		if (ret > 0)
			ret = p->content(p, &answer->plain, c->prepared.pack,
					 err);
	}
	return ret < 0 ? ret : 0;
}

static int publish_all(struct publishing *p, struct error *err)
{
	struct choosing c = {.prepared = PREPARED_INIT,
			     .wants = PREPARED_WANTS_INIT};
	int ret = prepared_open(&c.prepared, p->odb, 0, err);

	if (ret > 0)
		ret = prepared_wants_open(&c.wants, &c.prepared, p->odb, 0,
					  err);
	if (ret >= 0)
		ret = visible_open(&c.visible, p->repo, NULL, p->odb, NULL,
				   err);
	if (!ret)
		ret = publish_answers(p, &c, err);
	visible_close(c.visible);
	prepared_wants_close(&c.wants);
	prepared_close(&c.prepared);
	return ret;
}

/* ---- the place */

/*
 * Refuses repositories of a fork network: their packs have objects of several
 * repositories, whose hidden refs are not known here.
 */
static int check_network(const struct repo *repo, struct error *err)
{
	char *store = NULL;
	int ret = network_find(&store, repo, err);

	free(store);
	return ret > 0 ? error_set(err, ERR_UNSUPPORTED,
				   "repositories of a fork network are not "
				   "published")
		       : ret;
}

/* Write a new salt, unless another process made one. */
static int write_salt(const struct repo *repo, const char *path,
		      struct error *err)
{
	struct sys_tempfile file = SYS_TEMPFILE_INIT;
	uint8_t bytes[(PUBLISHED_SALT_LEN - 1) / 2];
	struct buf text = BUF_INIT;
	int ret = sys_secret(bytes, sizeof(bytes), err);

	for (size_t i = 0; i < sizeof(bytes) && !ret; i++)
		if (buf_printf(&text, "%02x", bytes[i]) < 0)
			ret = error_nomem(err);
	if (!ret && buf_append_char(&text, '\n') < 0)
		ret = error_nomem(err);
	if (!ret)
		ret = sys_tempfile_create(&file, repo->object_dir,
					  "tmp_publish_", 0444 | repo->share,
					  err);
	if (!ret)
		ret = sys_tempfile_write(&file, text.data, text.len, err);
	if (!ret)
		ret = sys_tempfile_finish(&file, SYS_FSYNC_FSYNC, err);
	if (!ret)
		ret = sys_link_new(file.path, path, err);
	sys_tempfile_abort(&file);
	buf_release(&text);
	return ret < 0 ? ret : 0;
}

/*
 * Make the salt of the repository, if it has none. The salt makes the name of
 * the repository's place in the publish directory secret.
 */
static int make_salt(const struct repo *repo, struct error *err)
{
	struct buf dir = BUF_INIT, path = BUF_INIT;
	int ret = buf_printf(&dir, "%s/info", repo->object_dir) < 0 ||
				  buf_printf(&path, "%s/%s", repo->object_dir,
					     PUBLISHED_SALT) < 0
			  ? error_nomem(err)
			  : 0;

	if (!ret && !sys_exists(path.data)) {
		ret = sys_mkdir_shared(dir.data, repo->share, err);
		if (!ret)
			ret = write_salt(repo, path.data, err);
		if (!ret)
			ret = sys_sync_dir(dir.data, err);
	}
	buf_release(&dir);
	buf_release(&path);
	return ret;
}

/*
 * Make the place of a repository: the directory of its published files, which
 * everybody may read. The publish directory must exist. Returns the path, or
 * NULL.
 */
static char *make_place(const struct published_config *config,
			const struct repo *repo, struct error *err)
{
	struct sys_stat st;
	char *place;

	if (sys_stat(&st, config->dir, NULL) < 0 || !st.is_dir) {
		error_set(err, ERR_MISSING,
			  "there is no directory '%s' "
			  "(gitreach.publishDirectory)",
			  config->dir);
		return NULL;
	}
	if (make_salt(repo, err) < 0)
		return NULL;
	place = published_place(config, repo->object_dir, err);
	if (place && sys_mkdir_shared(place, PUBLISH_SHARE, err) < 0) {
		free(place);
		place = NULL;
	}
	return place;
}

/*
 * Take the lock of a place (a directory of published files), so that only one
 * process at a time changes the place. Returns a descriptor, or a negative
 * error code.
 */
static int lock_place(const char *place, struct error *err)
{
	struct buf path = BUF_INIT;
	int ret, fd = buf_printf(&path, "%s/lock", place) < 0
			      ? error_nomem(err)
			      : sys_rangelock_open_private(path.data, err);

	buf_release(&path);
	if (fd < 0)
		return fd;
	ret = sys_rangelock_take(fd, 0, false, false, err);
	if (ret == ERR_DENIED)
		error_set(err, ERR_DENIED, "another process publishes in '%s'",
			  place);
	if (ret < 0)
		sys_close(fd);
	return ret < 0 ? ret : fd;
}

int publish_open_place(char **place, const struct repo *repo,
		       const struct published_config *config, struct error *err)
{
	struct error own = ERROR_INIT;
	int ret = check_network(repo, &own);

	*place = NULL;
	if (!ret) {
		*place = make_place(config, repo, &own);
		ret = *place ? lock_place(*place, &own) : own.code;
	}
	if (ret < 0) {
		free(*place);
		*place = NULL;
	}
	if (ret < 0 && err)
		*err = own;
	return ret;
}

int publish_run(const struct repo *repo, const struct published_config *config,
		const struct publish_options *options, struct error *err)
{
	struct publishing p = {
		.repo = repo,
		.config = config,
		.options = options,
		.content = publish_content,
	};
	int64_t expire;
	int ret, lock;

	if (approxidate_parse_expiry(&expire, config->expire, options->now) < 0)
		return error_set(err, ERR_INVALID,
				 "bad value of gitreach.publishExpire: '%s'",
				 config->expire);
	ret = lock = publish_open_place(&p.place, repo, config, err);
	if (ret < 0)
		return ret;
	ret = repo_fsync_method(repo, REPO_FSYNC_PACK, &p.method, err);
	if (!ret)
		ret = odb_open(&p.odb, repo, NULL, err);
	if (!ret)
		ret = publish_all(&p, err);
	if (!ret)
		ret = publish_expire(&p, expire, err);
	sys_close(lock);
	strlist_release(&p.current);
	free(p.place);
	odb_close(p.odb);
	return ret;
}

int publish_into(const struct repo *repo, const struct published_config *config,
		 const char *dir, publish_note_fn note, void *ctx,
		 struct error *err)
{
	struct publishing p = {
		.repo = repo,
		.config = config,
		.content = publish_content_into,
		.note = note,
		.ctx = ctx,
		.place = mem_strdup(dir),
		.method = SYS_FSYNC_NONE,
	};
	int ret = p.place ? check_network(repo, err) : error_nomem(err);

	if (!ret)
		ret = odb_open(&p.odb, repo, NULL, err);
	if (!ret)
		ret = publish_all(&p, err);
	strlist_release(&p.current);
	free(p.place);
	odb_close(p.odb);
	return ret;
}
