/* SPDX-License-Identifier: MIT */
/* The lease of a repository: "<node> LF <time> LF <token> LF". */
#include <inttypes.h>
#include <string.h>

#include "generations/lease.h"
#include "generations/names.h"

/* maximum size of the file of a lease, in bytes */
#define LEASE_MAX 1024
/*
 * Maximum number of tries to take a lease. A try fails if the lease changes
 * between reading and writing it.
 */
#define TRIES 3

/* The lease that was read from the store: its text and the time of its file. */
struct seen {
	struct buf text;
	struct filestore_info info;
};

static int print_token(struct buf *out, const uint8_t *token)
{
	int ret = generation_append_hex(out, token, GENERATION_TOKEN_LEN);

	return ret ? ret : buf_append_char(out, '\n');
}

/* Returns whether the text of a lease ends with the line of `token`. */
static bool has_token(const struct buf *text, const uint8_t *token)
{
	struct buf line = BUF_INIT;
	bool found = print_token(&line, token) >= 0 && text->len >= line.len &&
		     !memcmp(text->data + text->len - line.len, line.data,
			     line.len);

	buf_release(&line);
	return found;
}

static int read_lease(struct seen *seen, const struct generation_place *place,
		      const char *name, struct error *err)
{
	buf_reset(&seen->text);
	return filestore_get(place->store, &seen->text, &seen->info, name,
			     LEASE_MAX, err);
}

/*
 * Appends the content of a lease's file. The file has the current time, so that
 * a renewed lease has another entity tag. A node that has read the old lease
 * thus cannot take over the renewed one. Returns 0 or ERR_NOMEM.
 */
static int print_lease(struct buf *out, const struct generation_lease *lease,
		       struct error *err)
{
	const struct generation_host *host = lease->place->host;

	return buf_printf(out, "%s\n%" PRId64 "\n", lease->node,
			  host->time(host->ctx)) < 0 ||
			       print_token(out, lease->token) < 0
		       ? error_nomem(err)
		       : 0;
}

/*
 * Returns the time of the store, or the time of this node if the store does not
 * tell the time.
 */
static int64_t ask_time(const struct generation_place *place, const char *name)
{
	struct filestore_info info = {0};

	if (!filestore_head(place->store, &info, name, NULL) && info.now > 0)
		return info.now;
	return place->host->time(place->host->ctx);
}

/*
 * Checks who wrote the lease `seen`, which is in the store. Returns 0 if the
 * lease has the token of *lease. Otherwise another holder wrote the lease. Then
 * returns STORE_ABSENT if the lease is older than `max_age` seconds, or
 * STORE_CONFLICT if not.
 */
static int judge(const struct generation_lease *lease, const char *name,
		 const struct seen *seen, int64_t max_age)
{
	if (has_token(&seen->text, lease->token))
		return 0;
	return ask_time(lease->place, name) - seen->info.mtime > max_age
		       ? STORE_ABSENT
		       : STORE_CONFLICT;
}

static int tell_holder(struct buf *holder, const struct seen *seen,
		       struct error *err)
{
	const char *end = memchr(seen->text.data, '\n', seen->text.len);
	size_t len = end ? (size_t)(end - seen->text.data) : 0;

	return buf_append(holder, seen->text.data, len) < 0 ? error_nomem(err)
							    : STORE_CONFLICT;
}

/*
 * Tries once to write the lease: creates it, or replaces a lease that is too
 * old. Returns 0 if the lease was written. Returns STORE_CONFLICT if another
 * holder has a lease that is not too old. Returns STORE_AMBIGUOUS if the lease
 * has changed meanwhile or the outcome is unknown, so that the caller tries
 * again. Otherwise returns STORE_UNAVAILABLE or a negative error code.
 */
static int try_once(const struct generation_lease *lease, const char *name,
		    const struct buf *text, int64_t max_age, struct buf *holder,
		    struct error *err)
{
	struct filestore *store = lease->place->store;
	struct filestore_condition condition = {STORE_CREATE, NULL};
	struct seen seen = {.text = BUF_INIT};
	int ret = filestore_put(store, NULL, name, text->data, text->len,
				&condition, err);

	if (ret != STORE_CONFLICT && ret != STORE_AMBIGUOUS)
		return ret;
	ret = read_lease(&seen, lease->place, name, err);
	if (ret == STORE_ABSENT) {
		ret = STORE_AMBIGUOUS;
	} else if (!ret) {
		ret = judge(lease, name, &seen, max_age);
		if (ret == STORE_CONFLICT)
			ret = tell_holder(holder, &seen, err);
		if (ret == STORE_ABSENT) {
			condition.kind = STORE_REPLACE;
			condition.etag = seen.info.etag;
			ret = filestore_put(store, NULL, name, text->data,
					    text->len, &condition, err);
			if (ret == STORE_CONFLICT)
				ret = STORE_AMBIGUOUS;
		}
	}
	buf_release(&seen.text);
	return ret;
}

int generation_lease_take(struct generation_lease *lease,
			  const struct generation_place *place,
			  const char *node, int64_t max_age, struct buf *holder,
			  struct error *err)
{
	const struct generation_host *host = place->host;
	struct buf name = BUF_INIT, text = BUF_INIT;
	int ret;

	*lease = (struct generation_lease){.place = place, .node = node};
	ret = host->random(host->ctx, lease->token, sizeof(lease->token), err);
	if (!ret)
		ret = generation_lease_name(&name, place->repository, err);
	if (!ret)
		ret = print_lease(&text, lease, err);
	if (!ret)
		ret = STORE_AMBIGUOUS;
	for (int i = 0; i < TRIES && ret == STORE_AMBIGUOUS; i++)
		ret = try_once(lease, name.data, &text, max_age, holder, err);
	buf_release(&name);
	buf_release(&text);
	return ret == STORE_AMBIGUOUS ? STORE_UNAVAILABLE : ret;
}

int generation_lease_renew(const struct generation_lease *lease,
			   struct error *err)
{
	struct filestore_condition same = {STORE_REPLACE, NULL};
	struct seen seen = {.text = BUF_INIT};
	struct buf name = BUF_INIT;
	int ret = generation_lease_name(&name, lease->place->repository, err);

	if (!ret)
		ret = read_lease(&seen, lease->place, name.data, err);
	if (ret == STORE_ABSENT ||
	    (!ret && !has_token(&seen.text, lease->token)))
		ret = STORE_CONFLICT;
	if (!ret) {
		same.etag = seen.info.etag;
		buf_reset(&seen.text);
		ret = print_lease(&seen.text, lease, err);
	}
	if (!ret)
		ret = filestore_put(lease->place->store, NULL, name.data,
				    seen.text.data, seen.text.len, &same, err);
	buf_release(&seen.text);
	buf_release(&name);
	return ret;
}

int generation_lease_drop(const struct generation_lease *lease,
			  struct error *err)
{
	struct buf name = BUF_INIT;
	/*
	 * A store cannot delete a file under a condition. So renew the lease
	 * first: then no other node takes an old lease over before it is
	 * deleted.
	 */
	int ret = generation_lease_renew(lease, err);

	if (ret)
		return ret == STORE_CONFLICT ? 0 : ret;
	ret = generation_lease_name(&name, lease->place->repository, err);
	if (!ret)
		ret = filestore_delete(lease->place->store, name.data, err);
	buf_release(&name);
	return ret;
}
