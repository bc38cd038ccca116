/* SPDX-License-Identifier: MIT */
/* Opens the cache directory of a node. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "copies/node.h"
#include "generations/names.h"
#include "store/open.h"
#include "store/probe.h"
#include "stored/fetch.h"
#include "sys/io.h"
#include "sys/map.h"
#include "sys/rangelock.h"

/*
 * Number of tries of a request to the store. The number is small, because a
 * client waits for the result.
 */
#define TRIES 4
#define CONNECT_MS 5000
/*
 * Time limits of questions with short answers, such as whether there is a newer
 * generation. A question fails if the store is silent for PROBE_MS
 * milliseconds. A failed question is repeated only if it failed within
 * PROBE_TRY_MS milliseconds.
 */
#define PROBE_MS 4000
#define PROBE_TRY_MS 2000

static const char repo_dir[] = "repo/";
static const char hint_dir[] = "hint/";

void stored_node_close(struct stored_node *node)
{
	if (!node)
		return;
	stored_cache_close(node->cache);
	filestore_close(node->store);
	filestore_close(node->probe);
	relay_free(node->relay);
	stored_counts_close(node->counts);
	free(node->dir);
	free(node);
}

/* ---- opening */

/*
 * Opens the store that *origin names. `is_probe`: use short time limits, for
 * requests with answers of few bytes (stored_copy_probe_place()). `is_lazy`:
 * load libcurl, which sends the requests, only when the first request is sent.
 * Most children of a server send no request, so they do not load libcurl.
 */
static int open_store(struct filestore **out,
		      const struct stored_origin *origin, bool is_probe,
		      bool is_lazy, struct error *err)
{
	struct store_s3_settings settings = STORE_S3_SETTINGS_INIT;

	settings.tries = TRIES;
	settings.connect_ms = is_probe ? PROBE_MS : CONNECT_MS;
	if (is_probe) {
		settings.stall_ms = PROBE_MS;
		settings.try_ms = PROBE_TRY_MS;
	}
	settings.is_lazy = is_lazy;
	settings.endpoint = origin->endpoint;
	settings.ca_file = origin->ca_file;
	if (origin->region)
		settings.region = origin->region;
	return store_open_url(out, origin->url, &settings, err);
}

static int open_with(struct stored_node **out, char *dir,
		     const struct stored_origin *origin, struct error *err)
{
	struct stored_node *node = mem_calloc(1, sizeof(*node));
	int ret;

	if (!node) {
		free(dir);
		return error_nomem(err);
	}
	node->dir = dir;
	generation_host_init(&node->host);
	ret = open_store(&node->store, origin, false, true, err);
	if (!ret && !strncmp(origin->url, "s3:", 3))
		ret = open_store(&node->probe, origin, true, true, err);
	if (!ret)
		ret = stored_cache_open(&node->cache, dir, err);
	if (ret) {
		stored_node_close(node);
		return ret;
	}
	node->counts = stored_counts_open(dir);
	stored_counts_watch(node->counts, node->store);
	if (node->probe)
		stored_counts_watch(node->counts, node->probe);
	stored_cache_count(node->cache, node->counts);
	*out = node;
	return 0;
}

/* Reads the file "<dir>/store". */
static int read_origin(struct stored_origin *origin, const char *dir,
		       struct error *err)
{
	char *path = stored_join(dir, "store", err);
	struct buf text = BUF_INIT;
	int ret = path ? sys_read_file(&text, path, err) : ERR_NOMEM;

	*origin = (struct stored_origin){0};
	if (!ret)
		ret = stored_origin_parse(origin, text.data, text.len, err);
	if (ret == ERR_CORRUPT)
		error_set(err, ret, "'%s' is damaged", path);
	if (ret == ERR_MISSING)
		error_set(err, ret, "'%s' is not the cache of a store", dir);
	free(path);
	buf_release(&text);
	return ret;
}

int stored_node_open(struct stored_node **out, const char *dir,
		     struct error *err)
{
	struct stored_origin origin;
	char *real;
	int ret = read_origin(&origin, dir, err);

	*out = NULL;
	if (ret)
		return ret;
	real = sys_realpath(dir, err);
	ret = real ? open_with(out, real, &origin, err)
		   : error_recorded(err, ERR_IO);
	stored_origin_release(&origin);
	return ret;
}

int stored_node_probe(const struct stored_node *node, struct error *err)
{
	char *path = stored_join(node->dir, "probed", err);
	int ret = path ? 0 : ERR_NOMEM;

	if (!ret && !sys_exists(path)) {
		ret = stored_result(store_probe(node->store, err), "the probe",
				    err);
		if (!ret)
			ret = sys_tempfile_replace(path, "", 0, SYS_FSYNC_FSYNC,
						   err);
	}
	free(path);
	return ret;
}

int stored_node_open_store(struct filestore **out, const char *dir,
			   struct error *err)
{
	struct stored_origin origin;
	int ret = read_origin(&origin, dir, err);

	*out = NULL;
	if (!ret)
		ret = open_store(out, &origin, false, true, err);
	stored_origin_release(&origin);
	return ret;
}

/*
 * Replaces *store by a store that sends requests through the relay, and
 * directly if the relay does not work. Returns 0 or a negative error code.
 */
static int relay_store(struct stored_node *node, struct filestore **store,
		       uint8_t which, struct error *err)
{
	struct filestore *direct = *store;

	*store = NULL;
	return store_relay_open(store, node->relay, which, direct, err);
}

static int use_relay(struct stored_node *node, struct error *err)
{
	char *path = stored_join(node->dir, STORED_RELAY_FILE, err);
	int ret = path ? 0 : ERR_NOMEM;

	if (!ret && sys_exists(path)) {
		node->relay = relay_new(path);
		if (!node->relay)
			ret = error_nomem(err);
	}
	/*
	 * Use the relay only if requests go over a network. If the store is a
	 * directory, this process can read it itself.
	 */
	if (!ret && node->relay && node->probe) {
		ret = relay_store(node, &node->store, STORED_RELAY_STORE, err);
		if (!ret)
			ret = relay_store(node, &node->probe,
					  STORED_RELAY_PROBE, err);
	}
	free(path);
	return ret;
}

int stored_node_open_relayed(struct stored_node **out, const char *dir,
			     struct error *err)
{
	int ret = stored_node_open(out, dir, err);

	if (!ret)
		ret = use_relay(*out, err);
	if (ret) {
		stored_node_close(*out);
		*out = NULL;
	}
	return ret;
}

/* ---- making */

static bool is_same(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

static int write_origin(const char *dir, const struct stored_origin *origin,
			struct error *err)
{
	char *path = stored_join(dir, "store", err);
	struct buf text = BUF_INIT;
	int ret = path ? stored_origin_print(&text, origin, err) : ERR_NOMEM;

	if (!ret)
		ret = sys_tempfile_replace(path, text.data, text.len,
					   SYS_FSYNC_FSYNC, err);
	free(path);
	buf_release(&text);
	return ret;
}

/*
 * Writes the file "store" if it is missing or has another content than *origin.
 * The caller has the lock STORED_LOCK_STORE.
 */
static int settle_origin(const char *dir, const struct stored_origin *origin,
			 struct error *err)
{
	struct stored_origin found;
	bool is_right;
	int ret = read_origin(&found, dir, err);

	if (ret == ERR_MISSING)
		return write_origin(dir, origin, err);
	if (ret)
		return ret;
	if (!is_same(found.url, origin->url) ||
	    !is_same(found.endpoint, origin->endpoint))
		ret = error_set(err, ERR_INVALID,
				"'%s' is the cache of another store, %s%s%s",
				dir, found.url, found.endpoint ? " at " : "",
				found.endpoint ? found.endpoint : "");
	is_right = is_same(found.region, origin->region) &&
		   is_same(found.ca_file, origin->ca_file);
	stored_origin_release(&found);
	return ret || is_right ? ret : write_origin(dir, origin, err);
}

static int open_locks(const char *dir, struct error *err)
{
	char *path = stored_join(dir, "locks", err);
	int fd = path ? sys_rangelock_open_private(path, err) : ERR_NOMEM;

	free(path);
	return fd;
}

int stored_node_make(struct stored_node **out, const char *dir,
		     const struct stored_origin *origin, struct error *err)
{
	struct filestore *store;
	int ret = open_store(&store, origin, false, false, err), fd;

	*out = NULL;
	/*
	 * If the store cannot be opened, do not create a cache directory for
	 * it.
	 */
	if (!ret) {
		filestore_close(store);
		ret = sys_mkdir_p(dir, err);
	}
	if (ret)
		return ret;
	fd = open_locks(dir, err);
	if (fd < 0)
		return fd;
	ret = sys_rangelock_take(fd, STORED_LOCK_STORE, false, true, err);
	if (!ret)
		ret = settle_origin(dir, origin, err);
	sys_close(fd);
	return ret ? ret : stored_node_open(out, dir, err);
}

/* ---- paths */

int stored_node_copy(struct buf *path, const struct stored_node *node,
		     const char *name, struct error *err)
{
	struct buf hint = BUF_INIT;
	int ret = generation_hint_name(&hint, name, err);

	if (!ret && (buf_append_str(path, node->dir) < 0 ||
		     buf_append_char(path, '/') < 0 ||
		     buf_append_str(path, repo_dir) < 0 ||
		     buf_append_str(path, hint.data + strlen(hint_dir)) < 0))
		ret = error_nomem(err);
	buf_release(&hint);
	return ret;
}

/* Returns 0 if a directory is a cache, 1 if not, or ERR_NOMEM. */
static int find_origin(const char *dir, struct error *err)
{
	struct stored_origin origin;
	struct error why = ERROR_INIT;
	int ret = read_origin(&origin, dir, &why);

	stored_origin_release(&origin);
	if (ret == ERR_NOMEM)
		return error_nomem(err);
	return ret ? 1 : 0;
}

/*
 * Splits `copy`, the path of a local copy, at the "/repo/" in it; `at` points
 * to the "repo/". The part before "/repo/" is the cache directory, which is
 * appended to *dir. The part after "/repo/" is the quoted name of the
 * repository. The name is appended to *name. Returns 0 on success, 1 if the
 * part after "/repo/" is no valid quoted name, or ERR_NOMEM.
 */
static int split_at(struct buf *dir, struct buf *name, const char *copy,
		    const char *at, struct error *err)
{
	struct buf hint = BUF_INIT;
	int ret = buf_printf(&hint, "%s%s", hint_dir, at + strlen(repo_dir));

	ret = ret < 0 ? error_nomem(err)
		      : generation_hint_repository(name, hint.data, err);
	buf_release(&hint);
	if (!ret && buf_append(dir, copy, (size_t)(at - copy - 1)) < 0)
		ret = error_nomem(err);
	return ret;
}

int stored_node_split(struct buf *dir, struct buf *name, const char *copy,
		      struct error *err)
{
	const char *at = strstr(copy, "/repo/");
	int ret = 1;

	for (; ret > 0 && at; at = strstr(at + 1, "/repo/")) {
		struct buf cache = BUF_INIT;

		ret = buf_printf(&cache, "%.*s", (int)(at - copy), copy) < 0
			      ? error_nomem(err)
			      : find_origin(cache.data, err);
		if (!ret)
			ret = split_at(dir, name, copy, at + 1, err);
		buf_release(&cache);
	}
	return ret;
}

/* ---- locks */

int stored_node_locks(const struct stored_node *node, struct error *err)
{
	return open_locks(node->dir, err);
}

static uint32_t hash_name(const char *name)
{
	uint32_t h = 2166136261;

	for (; *name; name++)
		h = (h ^ (unsigned char)*name) * 16777619;
	return h & 0x1fffffff;
}

uint32_t stored_node_use_lock(const char *name)
{
	return 2 + 2 * hash_name(name);
}

uint32_t stored_node_change_lock(const char *name)
{
	return 3 + 2 * hash_name(name);
}
