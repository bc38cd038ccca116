/* SPDX-License-Identifier: MIT */
/*
 * Finds the repository of a request. If repositories are in a store, the path
 * without slashes at its ends is the name of a repository: the path
 * "/team/app.git" means "team/app.git". If the store has no repository with
 * this name, "<name>.git" is tried, as on the local disk.
 *
 * The access helper (a program that decides who may read a repository) is asked
 * about a name before the store is asked. So a denied client causes no
 * download, and nearly always no request to the store. There is one exception:
 * if the helper denies the name but allows "<name>.git", the store is asked
 * whether the denied repository exists.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "access/access.h"
#include "base/mem.h"
#include "daemon/daemon-parts.h"

/* Makes the path of a repository below the base path. The disk is not read. */
static int find_below(struct daemon_place *place, const char *base,
		      const char *path, size_t len, struct error *err)
{
	struct buf full = BUF_INIT;

	if (buf_printf(&full, "%s%.*s", base, (int)len, path) < 0) {
		buf_release(&full);
		return error_nomem(err);
	}
	place->path = buf_detach(&full, NULL);
	return 0;
}

/*
 * Returns a copy of a path without slashes at its ends: the name of a
 * repository. Returns NULL if memory runs out.
 */
static char *name_of(const char *path, size_t len)
{
	while (len && path[len - 1] == '/')
		len--;
	while (len && *path == '/') {
		path++;
		len--;
	}
	return mem_strndup(path, len);
}

/*
 * The search for the repository of one request, if repositories are in a store.
 */
struct search {
	struct daemon_place *place;
	const struct daemon_options *options;
	const struct daemon_conn *conn;
	struct daemon_inquiry *inquiry; /* NULL: there is no helper */
	/*
	 * name of the repository, as the client sent it, without slashes at the
	 * ends
	 */
	const char *name;
	struct error *why;
};

/*
 * Asks the access helper about a name. Returns 0 if the helper allows the
 * request or there is no helper, or a negative error code of daemon_ask().
 */
static int ask(const struct search *s, const char *name)
{
	struct daemon_inquiry *inquiry = s->inquiry;
	struct buf path = BUF_INIT;
	int ret;

	if (!inquiry)
		return 0;
	if (buf_printf(&path, "/%s", name) < 0)
		return error_nomem(s->why);
	/* Drop the answer about the name that was tried before. */
	access_answer_release(inquiry->answer);
	inquiry->question.repository = path.data;
	ret = daemon_ask(inquiry->answer, s->options, s->conn,
			 &inquiry->question);
	inquiry->question.repository = NULL;
	buf_release(&path);
	return ret;
}

/*
 * Translates an error code of copies/copies.h. ERR_DENIED and ERR_PEER become
 * ERR_IO, because callers take these two codes as an answer of the access
 * helper. ERR_INVALID (no repository can have this name) becomes ERR_MISSING.
 * Other codes and 0 are returned unchanged.
 */
static int result_of(int ret, struct error *why)
{
	switch (ret) {
	case ERR_INVALID:
		return error_recode(why, ERR_MISSING);
	case ERR_DENIED:
	case ERR_PEER:
		return error_recode(why, ERR_IO);
	default:
		return ret;
	}
}

/*
 * Asks the access helper about the name. If the helper allows it, enters the
 * local copy of the repository with this name. Returns 0 or a negative error
 * code.
 */
static int try_name(const struct search *s, const char *name)
{
	int ret = ask(s, name);

	if (ret)
		return ret;
	return result_of(stored_copies_enter(s->conn->copies, &s->place->use,
					     name, s->why),
			 s->why);
}

/*
 * Tries the name with ".git" appended. `before` is the result of the name
 * without ".git": ERR_MISSING or ERR_DENIED.
 *
 * Suppose that the access helper denies the name without ".git", and allows the
 * name with ".git". Then the store is searched for the name without ".git". If
 * there is such a repository, the request is denied. If there is none, the
 * repository with ".git" is used. Without this search, one path would name
 * different repositories for different users.
 *
 * Returns 0 or a negative error code.
 */
static int try_longer(const struct search *s, const char *longer, int before)
{
	int ret = before == ERR_DENIED ? ask(s, longer) : 0;

	if (ret)
		return ret;
	if (before == ERR_MISSING)
		return try_name(s, longer);
	ret = result_of(stored_copies_look(s->conn->copies, s->name, s->why),
			s->why);
	if (ret == ERR_MISSING)
		return result_of(stored_copies_enter(s->conn->copies,
						     &s->place->use, longer,
						     s->why),
				 s->why);
	return ret ? ret : ERR_DENIED;
}

/*
 * Tries the name, and then, unless `strict`, the name with ".git" appended.
 * Returns 0 or a negative error code.
 */
static int enter(const struct search *s, bool strict)
{
	struct buf longer = BUF_INIT;
	int ret = try_name(s, s->name);

	if ((ret != ERR_MISSING && ret != ERR_DENIED) || strict)
		return ret;
	if (buf_printf(&longer, "%s.git", s->name) < 0)
		ret = error_nomem(s->why);
	else
		ret = try_longer(s, longer.data, ret);
	buf_release(&longer);
	return ret;
}

static void tell(const struct daemon_options *options,
		 const struct daemon_conn *conn, const char *name,
		 const char *what, const struct error *why)
{
	char line[ERROR_MESSAGE_MAX + 512];

	snprintf(line, sizeof(line), "%.400s: %s: %s", name, what, why->msg);
	daemon_log(options, conn, line);
}

/* Fills *err for the client, and writes the reason into the log. */
static int refuse(const struct search *s, int ret, struct error *err)
{
	switch (ret) {
	case ERR_MISSING:
		return error_set(err, ret, "no such repository in the store");
	case ERR_DENIED:
		return error_set(err, ret, "access denied");
	case ERR_PEER:
		return error_set(err, ret, "service unavailable");
	default:
		tell(s->options, s->conn, s->name,
		     "cannot be served from the store", s->why);
		return error_set(err, ret,
				 "the repository cannot be served now");
	}
}

static int find_copy(const struct search *s, bool strict, struct error *err)
{
	struct daemon_place *place = s->place;
	int ret = enter(s, strict);

	if (!ret) {
		place->path = mem_strdup(stored_copy_dir(place->use.copy));
		if (!place->path)
			ret = error_nomem(s->why);
	}
	if (!ret && place->use.is_news)
		tell(s->options, s->conn, s->name,
		     "the local copy may be out of date, because the store "
		     "cannot be read",
		     s->why);
	return ret ? refuse(s, ret, err) : 0;
}

int daemon_place_find(struct daemon_place *place,
		      const struct daemon_options *options,
		      const struct daemon_conn *conn, const char *path,
		      size_t len, bool strict, struct daemon_inquiry *inquiry,
		      struct error *err)
{
	struct error why = ERROR_INIT;
	char *name;
	int ret;

	if (!conn->copies)
		return find_below(place, options->base_path, path, len, err);
	name = name_of(path, len);
	if (name) {
		const struct search s = {place,   options, conn,
					 inquiry, name,    &why};

		ret = find_copy(&s, strict, err);
	} else {
		ret = error_nomem(err);
	}
	free(name);
	if (ret)
		daemon_place_release(place);
	return ret;
}

void daemon_place_release(struct daemon_place *place)
{
	stored_copies_leave(&place->use);
	free(place->path);
	place->path = NULL;
}
