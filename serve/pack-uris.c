/* SPDX-License-Identifier: MIT */
/* Chooses packs that clients download from other servers. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "copies/offers.h"
#include "serve/serve-config.h"

struct loading {
	struct pack_uris *uris;
	enum hash_algo algo;
	struct error *err;
};

/*
 * Parses a configured value "<blob> <pack> <uri>". The strings of *out point
 * into `value`. Returns false if the value is malformed.
 */
static bool parse(struct pack_uri *out, const char *value, enum hash_algo algo)
{
	size_t hex_len = hash_hex_len(algo);
	struct oid pack;

	if (!value || strlen(value) <= 2 * (hex_len + 1) ||
	    value[hex_len] != ' ' || value[2 * hex_len + 1] != ' ' ||
	    !oid_from_hex(&out->blob, value, hex_len, algo) ||
	    !oid_from_hex(&pack, value + hex_len + 1, hex_len, algo))
		return false;
	out->told = value + hex_len + 1;
	out->uri = out->told + hex_len + 1;
	return true;
}

static int take(void *ctx, const struct config_entry *entry)
{
	struct loading *l = ctx;
	struct pack_uris *uris = l->uris;
	struct pack_uri uri;

	if (!parse(&uri, entry->value, l->algo))
		return error_set(l->err, ERR_INVALID,
				 "value of uploadpack.blobpackfileuri must be "
				 "of the form '<object-hash> <pack-hash> "
				 "<uri>' (got '%s')",
				 entry->value ? entry->value : "");
	if (mem_grow(&uris->items, &uris->alloc, uris->nr + 1,
		     sizeof(*uris->items)) < 0)
		return error_nomem(l->err);
	uris->items[uris->nr++] = uri;
	return 0;
}

int pack_uris_load(struct pack_uris *uris, const struct config *config,
		   enum hash_algo algo, struct error *err)
{
	struct loading l = {uris, algo, err};

	*uris = (struct pack_uris){0};
	return config_each(config, "uploadpack.blobpackfileuri", take, &l);
}

void pack_uris_release(struct pack_uris *uris)
{
	free(uris->items);
	*uris = (struct pack_uris){0};
}

int pack_offer_init(struct pack_offer *offer, const struct pack_uris *uris,
		    const char *protocols, struct error *err)
{
	*offer = (struct pack_offer){
		.blobs = mem_alloc(uris->nr, sizeof(*offer->blobs)),
		.told = mem_alloc(uris->nr, sizeof(*offer->told)),
		.uri = BUF_INIT,
	};
	if (!offer->blobs || !offer->told)
		return error_nomem(err);
	for (size_t i = 0; i < uris->nr; i++) {
		if (!published_uri_is_taken(uris->items[i].uri, protocols))
			continue;
		offer->blobs[offer->nr] = uris->items[i].blob;
		offer->told[offer->nr++] = uris->items[i].told;
	}
	return 0;
}

void pack_offer_release(struct pack_offer *offer)
{
	free(offer->blobs);
	free(offer->told);
	published_close(&offer->published);
	stored_offers_close(offer->stored);
	buf_release(&offer->uri);
	*offer = (struct pack_offer){.uri = BUF_INIT};
}

int pack_offer_published(struct pack_offer *offer,
			 const struct published_config *config,
			 const struct odb *odb, const char *protocols,
			 struct error *err)
{
	if (!config->uri || !published_uri_is_taken(config->uri, protocols))
		return 0;
	offer->algo = odb->algo;
	return published_open(&offer->published, config, odb, err);
}

int pack_offer_stored(struct pack_offer *offer,
		      const struct published_config *config,
		      const struct repo *repo, const char *protocols,
		      struct error *warning, struct error *err)
{
	int ret;

	if (!config->store)
		return 0;
	offer->algo = repo->algo;
	ret = stored_offers_open(&offer->stored, repo->common_dir, config,
				 repo->algo, protocols, warning);
	return ret == ERR_NOMEM ? error_nomem(err) : 0;
}

bool pack_offer_has(void *ctx, const struct oid *checksum, uint64_t len)
{
	struct pack_offer *offer = ctx;

	buf_reset(&offer->uri);
	offer->found = *checksum;
	if (offer->stored)
		return stored_offers_find(&offer->uri, offer->stored, checksum,
					  len, NULL) > 0;
	return published_find(&offer->uri, &offer->published, checksum, len) >
	       0;
}

int pack_offer_identify(const struct pack_offer *offer, struct hash_ctx *hash,
			struct error *err)
{
	if (offer->stored) {
		stored_offers_identify(offer->stored, hash);
		return 1;
	}
	return published_identify(&offer->published, hash, err);
}

/* Writes the section with the URI of a published pack. */
static int tell_pack(const struct pack_offer *offer, const struct oid *pack,
		     struct pktline_writer *out, struct error *err)
{
	char hex[OID_MAX_HEX_LEN + 1];
	int ret;

	assert(oid_equal(pack, &offer->found));
	oid_to_hex(hex, pack, offer->algo);
	ret = pktline_printf(out, err, "packfile-uris\n");
	if (!ret)
		ret = pktline_printf(out, err, "%s %s\n", hex, offer->uri.data);
	return ret ? ret : pktline_write_delim(out, err);
}

int pack_offer_tell(const struct pack_offer *offer, const bool *left_out,
		    const struct oid *pack, struct pktline_writer *out,
		    struct error *err)
{
	bool has_begun = false;
	int ret = 0;

	if (pack)
		return tell_pack(offer, pack, out, err);
	for (size_t i = 0; !ret && i < offer->nr; i++) {
		if (!left_out[i])
			continue;
		if (!has_begun)
			ret = pktline_printf(out, err, "packfile-uris\n");
		has_begun = true;
		if (!ret)
			ret = pktline_printf(out, err, "%s\n", offer->told[i]);
	}
	return ret || !has_begun ? ret : pktline_write_delim(out, err);
}
