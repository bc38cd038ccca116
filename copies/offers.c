/* SPDX-License-Identifier: MIT */
/* Finds the addresses of the published packs of a local copy. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "copies/marker.h"
#include "copies/node.h"
#include "copies/offers.h"
#include "generations/names.h"
#include "object/hash.h"
#include "repo/repo.h"
#include "stored/fetch.h"
#include "stored/offer-list.h"
#include "stored/successor.h"
#include "sys/io.h"

_Static_assert(STORED_OFFERS_AGE_MAX + PUBLISHED_LIFETIME_MAX <=
		       STORED_GRACE_MIN,
	       "a file must not be collected while its address is valid");

struct stored_offers {
	const struct published_config *config; /* borrowed */
	/* the published packs of the generation */
	struct stored_offer_list list;
	/*
	 * owned array of list.nr names: the name in the store of each pack of
	 * `list`
	 */
	char **names;
	/*
	 * owned: signs the addresses; NULL: addresses begin with
	 * config->store_uri and are not signed
	 */
	struct filestore *store;
	enum hash_algo algo;
};

void stored_offers_close(struct stored_offers *offers)
{
	if (!offers)
		return;
	for (size_t i = 0; offers->names && i < offers->list.nr; i++)
		free(offers->names[i]);
	free(offers->names);
	stored_offer_list_release(&offers->list);
	filestore_close(offers->store);
	free(offers);
}

/* Reads a file of the copy. Returns the codes of sys_read_file(). */
static int read_text(struct buf *out, const char *dir, const char *name,
		     struct error *err)
{
	char *path = stored_join(dir, name, err);
	int ret = path ? sys_read_file(out, path, err) : ERR_NOMEM;

	free(path);
	return ret;
}

/*
 * Reads the list of published packs in the copy. Returns 1 if the list was
 * read, 0 if the copy has none, or a negative error code.
 */
static int read_list(struct stored_offers *offers, const char *dir,
		     struct error *err)
{
	struct error why = ERROR_INIT;
	struct buf text = BUF_INIT;
	int ret = read_text(&text, dir, STORED_OFFER_LIST, &why);

	if (!ret)
		ret = stored_offer_list_parse(&offers->list, text.data,
					      text.len, offers->algo, &why);
	buf_release(&text);
	if (ret < 0 && ret != ERR_MISSING && err)
		*err = why;
	return ret == ERR_MISSING ? 0 : ret ? ret : offers->list.nr != 0;
}

/* Removes pack `i` from the list. */
static void remove_pack(struct stored_offers *offers, size_t i)
{
	struct stored_offer_list *list = &offers->list;

	free(list->items[i].path);
	list->items[i] = list->items[--list->nr];
}

/*
 * Sets offers->names[i] to the name that the file of pack `i` has in the store.
 * The marker of the copy says which generation the copy has, and lists its
 * files. A pack that is not among these files is removed from the list of
 * published packs: during a refresh, the list and the marker may be of
 * different generations.
 */
static int name_files(struct stored_offers *offers,
		      const struct stored_marker *m, struct error *err)
{
	struct stored_offer_list *list = &offers->list;
	size_t i = 0;

	offers->names = mem_calloc(list->nr, sizeof(*offers->names));
	if (!offers->names)
		return error_nomem(err);
	while (i < list->nr) {
		const struct generation_file *file = generation_find_file(
			&m->g, list->items[i].path);
		struct buf name = BUF_INIT;
		int ret;

		if (!file || file->size != list->items[i].len) {
			remove_pack(offers, i);
			continue;
		}
		ret = generation_file_name(&name, m->name, file, err);
		if (ret) {
			buf_release(&name);
			return ret;
		}
		offers->names[i++] = buf_detach(&name, NULL);
	}
	return 0;
}

static int read_marker(struct stored_offers *offers, const char *dir,
		       struct error *err)
{
	struct stored_marker m = {0};
	struct buf text = BUF_INIT;
	int ret = read_text(&text, dir, REPO_COPY_MARKER, err);

	if (!ret)
		ret = stored_marker_parse(&m, text.data, text.len, err);
	if (!ret)
		ret = name_files(offers, &m, err);
	stored_marker_release(&m);
	buf_release(&text);
	return ret;
}

/* Opens the store to which the cache directory with the copy `dir` belongs. */
static int open_store(struct stored_offers *offers, const char *dir,
		      struct error *err)
{
	struct buf cache = BUF_INIT, name = BUF_INIT;
	char *real = sys_realpath(dir, err);
	int ret = real ? stored_node_split(&cache, &name, real, err) : ERR_IO;

	if (!ret)
		ret = stored_node_open_store(&offers->store, cache.data, err);
	else if (ret > 0)
		ret = error_set(err, ERR_MISSING,
				"'%s' is not in the cache of a store", dir);
	free(real);
	buf_release(&cache);
	buf_release(&name);
	return ret;
}

static int append_uri(struct buf *uri, const struct stored_offers *offers,
		      size_t i, struct error *err)
{
	const struct published_config *config = offers->config;

	if (!offers->store)
		return buf_printf(uri, "%s/%s", config->store_uri,
				  offers->names[i]) < 0
			       ? error_nomem(err)
			       : 0;
	return filestore_presign(offers->store, uri, offers->names[i],
				 (unsigned)config->store_lifetime, err);
}

/*
 * The published packs have addresses (URIs), all with the same protocol.
 * `protocols` is the list of protocols that the client accepts. Returns 1 if
 * the list has the protocol of the addresses, 0 if not, or a negative error
 * code.
 */
static int is_taken(const struct stored_offers *offers, const char *protocols,
		    struct error *err)
{
	struct buf uri = BUF_INIT;
	int ret = append_uri(&uri, offers, 0, err);

	if (!ret)
		ret = published_uri_is_taken(uri.data, protocols);
	buf_release(&uri);
	return ret;
}

/*
 * Loads the list of published packs of the local copy. Clients download these
 * packs from addresses (URIs). If config->store_uri is set, the addresses begin
 * with this URI of a CDN. Otherwise clients get the packs from the store
 * itself, and this program signs each address. In this case, also opens the
 * store, because append_uri() needs an open store to sign addresses.
 *
 * Returns 1 if the client can get packs, 0 if there are none for this client,
 * or a negative error code.
 */
static int load(struct stored_offers *offers, const char *dir,
		const char *protocols, struct error *err)
{
	int ret = read_list(offers, dir, err);

	if (ret > 0) {
		ret = read_marker(offers, dir, err);
		if (!ret)
			ret = offers->list.nr != 0;
	}
	if (ret > 0 && !offers->config->store_uri) {
		ret = open_store(offers, dir, err);
		if (!ret)
			ret = 1;
	}
	return ret > 0 ? is_taken(offers, protocols, err) : ret;
}

int stored_offers_open(struct stored_offers **out, const char *dir,
		       const struct published_config *config,
		       enum hash_algo algo, const char *protocols,
		       struct error *err)
{
	struct stored_offers *offers = mem_calloc(1, sizeof(*offers));
	int ret;

	*out = NULL;
	if (!offers)
		return error_nomem(err);
	offers->config = config;
	offers->algo = algo;
	ret = load(offers, dir, protocols, err);
	if (ret > 0)
		*out = offers;
	else
		stored_offers_close(offers);
	return ret < 0 ? ret : 0;
}

int stored_offers_find(struct buf *uri, const struct stored_offers *offers,
		       const struct oid *checksum, uint64_t len,
		       struct error *err)
{
	for (size_t i = 0; i < offers->list.nr; i++) {
		const struct stored_offer *offer = &offers->list.items[i];
		int ret;

		if (!oid_equal(&offer->checksum, checksum) || offer->len != len)
			continue;
		ret = append_uri(uri, offers, i, err);
		return ret ? ret : 1;
	}
	return 0;
}

void stored_offers_identify(const struct stored_offers *offers,
			    struct hash_ctx *hash)
{
	/*
	 * A name in the store contains the SHA-256 of the file. So equal names
	 * mean equal packs.
	 */
	for (size_t i = 0; i < offers->list.nr; i++) {
		hash_update(hash, offers->list.items[i].checksum.bytes,
			    hash_len(offers->algo));
		hash_update(hash, offers->names[i],
			    strlen(offers->names[i]) + 1);
	}
	hash_update(hash, "\n", 1);
}
