/* SPDX-License-Identifier: MIT */
/* Finds published packs. Nothing here writes. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "object/hash.h"
#include "publish/publish-parts.h"
#include "publish/published.h"
#include "sys/io.h"

#define DEFAULT_MINIMUM (UINT64_C(1) << 20)
#define DEFAULT_EXPIRE "1.day.ago"

/*
 * Returns whether a URI can be a part of a packet: it has a protocol, and no
 * blanks or control characters.
 */
static bool is_uri(const char *uri)
{
	const char *end = strstr(uri, "://");

	if (!end || end == uri)
		return false;
	for (const char *p = uri; *p; p++)
		if ((unsigned char)*p <= ' ' || *p == 0x7f)
			return false;
	return true;
}

/*
 * Read the URI in the configuration key `key`, without slashes at its end. *uri
 * is owned by the caller; NULL: there is none.
 */
static int load_uri(char **uri, const struct config *c, const char *key,
		    const char *name, struct error *err)
{
	const char *value = config_string(c, key);
	size_t len = value ? strlen(value) : 0;

	if (!len)
		return 0;
	if (!is_uri(value))
		return error_set(err, ERR_INVALID, "bad value of %s: '%s'",
				 name, value);
	while (len && value[len - 1] == '/')
		len--;
	*uri = mem_strndup(value, len);
	return *uri ? 0 : error_nomem(err);
}

static int load_dir(struct published_config *config, const struct config *c,
		    struct error *err)
{
	const char *dir = config_string(c, "gitreach.publishdirectory");
	int ret;

	if (!dir || !*dir)
		return 0;
	config->dir = config_expand_path(dir);
	if (!config->dir || *config->dir != '/')
		return error_set(err, ERR_INVALID,
				 "gitreach.publishDirectory is not an absolute "
				 "path: '%s'",
				 dir);
	ret = config_bool(c, "gitreach.publishbundles", &config->bundles, err);
	return ret < 0 ? ret
		       : load_uri(&config->uri, c, "gitreach.publishuri",
				  "gitreach.publishUri", err);
}

static int load_store(struct published_config *config, const struct config *c,
		      struct error *err)
{
	int ret = config_bool(c, "gitreach.publishstore", &config->store, err);

	if (ret < 0 || !config->store)
		return ret;
	ret = load_uri(&config->store_uri, c, "gitreach.publishstoreuri",
		       "gitreach.publishStoreUri", err);
	if (ret >= 0)
		ret = config_u64(c, "gitreach.publishstorelifetime",
				 &config->store_lifetime, err);
	if (ret >= 0 && (config->store_lifetime < PUBLISHED_LIFETIME_MIN ||
			 config->store_lifetime > PUBLISHED_LIFETIME_MAX))
		return error_set(err, ERR_INVALID,
				 "gitreach.publishStoreLifetime is not from "
				 "%d to %d seconds",
				 PUBLISHED_LIFETIME_MIN,
				 (int)PUBLISHED_LIFETIME_MAX);
	return ret;
}

int published_config_load(struct published_config *config,
			  const struct repo *repo, struct error *err)
{
	const struct config *c = &repo->config;
	const char *expire = config_string(c, "gitreach.publishexpire");
	int ret;

	*config = (struct published_config){
		.minimum = DEFAULT_MINIMUM,
		.expire = expire ? expire : DEFAULT_EXPIRE,
		.store_lifetime = PUBLISHED_LIFETIME_MAX,
	};
	ret = load_dir(config, c, err);
	if (ret >= 0)
		ret = load_store(config, c, err);
	if (ret < 0 || (!config->dir && !config->store))
		return ret < 0 ? ret : 0;
	ret = config_bool(c, "gitreach.publishshallow", &config->shallow, err);
	if (ret >= 0)
		ret = config_u64(c, "gitreach.publishminimum", &config->minimum,
				 err);
	return ret < 0 ? ret : 0;
}

void published_config_release(struct published_config *config)
{
	free(config->dir);
	free(config->uri);
	free(config->store_uri);
	*config = (struct published_config){0};
}

/*
 * Append the salt of an object directory to *out. The salt is a random text in
 * the file PUBLISHED_SALT of this directory. The name of the directory for
 * published packs is a hash of the salt and a path, so nobody can guess this
 * name. Returns 0, ERR_CORRUPT if the length of the file is wrong, or another
 * negative error code.
 */
static int read_salt(struct buf *out, const char *object_dir, struct error *err)
{
	struct buf path = BUF_INIT;
	int ret = buf_printf(&path, "%s/%s", object_dir, PUBLISHED_SALT) < 0
			  ? error_nomem(err)
			  : sys_read_file(out, path.data, err);

	if (!ret && out->len != PUBLISHED_SALT_LEN)
		ret = error_set(err, ERR_CORRUPT, "%s is damaged", path.data);
	buf_release(&path);
	return ret;
}

/*
 * Set `name` to the name of the directory in which the files of an object
 * directory are published.
 */
static int name_place(char name[PUBLISHED_PLACE_LEN + 1],
		      const char *object_dir, struct error *err)
{
	char *path = sys_realpath(object_dir, err);
	char hex[OID_MAX_HEX_LEN + 1];
	struct buf text = BUF_INIT;
	struct hash_ctx hash;
	struct oid oid;
	int ret = path ? read_salt(&text, path, err) : ERR_IO;

	if (!ret && (buf_append_str(&text, path) < 0 ||
		     hash_init(&hash, HASH_SHA256) < 0))
		ret = error_nomem(err);
	if (!ret) {
		hash_update(&hash, text.data, text.len);
		hash_final(&hash, &oid);
		hash_release(&hash);
		oid_to_hex(hex, &oid, HASH_SHA256);
		memcpy(name, hex, PUBLISHED_PLACE_LEN);
		name[PUBLISHED_PLACE_LEN] = '\0';
	}
	buf_release(&text);
	free(path);
	return ret;
}

char *published_place(const struct published_config *config,
		      const char *object_dir, struct error *err)
{
	char name[PUBLISHED_PLACE_LEN + 1];
	struct buf path = BUF_INIT;

	if (name_place(name, object_dir, err) < 0)
		return NULL;
	if (buf_printf(&path, "%s/%s", config->dir, name) < 0) {
		error_nomem(err);
		buf_release(&path);
		return NULL;
	}
	return buf_detach(&path, NULL);
}

int published_pack_name(struct buf *out, const struct oid *checksum,
			enum hash_algo algo)
{
	char hex[OID_MAX_HEX_LEN + 1];

	oid_to_hex(hex, checksum, algo);
	return buf_printf(out, "%s.pack", hex);
}

/*
 * Add the directory in which the files of an object directory are published, if
 * it exists.
 */
static int add_place(struct published *p, const char *object_dir,
		     struct error *err)
{
	struct error own = ERROR_INIT;
	char *path = published_place(p->config, object_dir, &own);
	struct sys_stat st;

	if (!path)
		return own.code == ERR_NOMEM ? error_nomem(err) : 0;
	if (sys_stat(&st, path, NULL) < 0 || !st.is_dir)
		free(path);
	else
		p->places[p->nr++] = path;
	return 0;
}

int published_open(struct published *p, const struct published_config *config,
		   const struct odb *odb, struct error *err)
{
	int ret = 0;

	*p = (struct published){.config = config, .algo = odb->algo};
	if (!config->dir || !config->uri)
		return 0;
	p->places = mem_calloc(odb->dir_nr, sizeof(*p->places));
	if (!p->places)
		return error_nomem(err);
	for (size_t i = 0; i < odb->dir_nr && !ret; i++)
		ret = add_place(p, odb->dirs[i], err);
	if (ret < 0)
		published_close(p);
	return ret;
}

void published_close(struct published *p)
{
	for (size_t i = 0; i < p->nr; i++)
		free(p->places[i]);
	free(p->places);
	*p = (struct published){0};
}

/*
 * Find a published file that is still offered to clients. Returns 1 with the
 * length of the file in *len, 0 if there is none or it is retired, or
 * ERR_NOMEM.
 */
static int is_offered(uint64_t *len, const char *place, const char *name)
{
	struct buf path = BUF_INIT;
	struct sys_stat st;
	int ret = buf_printf(&path, "%s/%s", place, name);

	if (!ret)
		ret = !sys_stat(&st, path.data, NULL) && st.is_file;
	if (ret > 0) {
		*len = st.size;
		ret = buf_append_str(&path, PUBLISHED_RETIRED) < 0
			      ? ERR_NOMEM
			      : !sys_exists(path.data);
	}
	buf_release(&path);
	return ret;
}

/*
 * Returns 1 if the directory `place` offers a published file with this name and
 * length, 0 if not, or ERR_NOMEM. A shorter file does not count: a program that
 * copied it may have been interrupted.
 */
static int has_file(const char *place, const char *name, uint64_t len)
{
	uint64_t found;
	int ret = is_offered(&found, place, name);

	return ret > 0 ? found == len : ret;
}

int published_find(struct buf *uri, const struct published *p,
		   const struct oid *checksum, uint64_t len)
{
	struct buf name = BUF_INIT;
	int ret = published_pack_name(&name, checksum, p->algo);

	for (size_t i = 0; i < p->nr && !ret; i++) {
		const char *place = p->places[i];

		ret = has_file(place, name.data, len);
		if (ret > 0 &&
		    buf_printf(uri, "%s/%s/%s", p->config->uri,
			       strrchr(place, '/') + 1, name.data) < 0)
			ret = ERR_NOMEM;
	}
	buf_release(&name);
	return ret;
}

/* ---- identity */

/*
 * Maximum number of packs in a place (a directory of published files). With
 * more packs, listing them for each request would cost too much.
 */
#define PACKS_MAX 1000

static int list_pack(void *ctx, const char *name)
{
	struct strlist *packs = ctx;
	const char *end = strstr(name, ".pack");

	if (!end || strcmp(end, ".pack") != 0)
		return 0;
	return packs->nr == PACKS_MAX ? 1 : strlist_add(packs, name);
}

/*
 * Add to *hash the packs that published_find() would find in `place`, a
 * directory of published files. Returns 0 if all were added, 1 if there are too
 * many packs, or ERR_NOMEM.
 */
static int identify_place(struct hash_ctx *hash, const char *place)
{
	struct strlist packs = STRLIST_INIT;
	struct buf bytes = BUF_INIT;
	int ret = sys_dir_each(place, list_pack, &packs, NULL);

	if (!ret)
		strlist_sort(&packs);
	for (size_t i = 0; !ret && i < packs.nr; i++) {
		uint64_t len;

		ret = is_offered(&len, place, packs.items[i]);
		if (ret > 0)
			ret = buf_printf(&bytes, "%s %" PRIu64 "\n",
					 packs.items[i], len);
	}
	hash_update(hash, bytes.data, bytes.len);
	buf_release(&bytes);
	strlist_release(&packs);
	/* A directory of published files that cannot be listed has no packs. */
	return ret == ERR_NOMEM || ret > 0 ? ret : 0;
}

int published_identify(const struct published *p, struct hash_ctx *hash,
		       struct error *err)
{
	int ret = 0;

	for (size_t i = 0; !ret && i < p->nr; i++) {
		ret = identify_place(hash, p->places[i]);
		hash_update(hash, "", 1);
	}
	hash_update(hash, "\n", 1);
	return ret < 0 ? error_nomem(err) : !ret;
}

bool published_uri_is_taken(const char *uri, const char *protocols)
{
	const char *end = strstr(uri, "://");
	size_t len = end ? (size_t)(end - uri) : 0;

	while (len && *protocols) {
		size_t n = strcspn(protocols, ",");

		if (n == len && !memcmp(protocols, uri, len))
			return true;
		protocols += n;
		protocols += *protocols == ',';
	}
	return false;
}
