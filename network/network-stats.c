/* SPDX-License-Identifier: MIT */
/*
 * Estimates the cost of a clone of a member, and counts the bytes of packs.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "islands/network-member.h"
#include "islands/network-refs.h"
#include "network/network-verify.h"
#include "packing/send.h"

static int ignore(void *ctx, const void *bytes, size_t len, struct error *err)
{
	return 0;
}

/* Returns the number of bytes of the packs that are not in an alternate. */
static uint64_t own_bytes(const struct odb *odb)
{
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < odb->pack_nr; i++)
		if (odb->packs[i].pack->is_local)
			bytes += odb->packs[i].pack->file.len;
	return bytes;
}

static int plan(struct network_stats *stats, const struct odb *odb,
		const struct oid *wants, size_t want_nr, struct error *err)
{
	struct packing_request request = {
		.wants = wants,
		.want_nr = want_nr,
		.ofs_delta = true,
		.use_bitmap = true,
	};
	struct pack_sink sink = {.put = ignore};
	struct packing_send_options options;
	struct packing_report report;
	int ret = packing_send_options_load(&options, odb->repo, err);

	options.window = 0;
	options.counts_only = true;
	if (!ret)
		ret = packing_send(odb, &request, &options, sink, &report, err);
	if (!ret)
		*stats = (struct network_stats){
			.object_nr = report.objects,
			.verbatim_bytes = report.bytes_verbatim,
			.recompressed_nr = report.objects - report.pack_reused -
					   report.reused,
			.used_bitmap = report.used_bitmap,
		};
	return ret;
}

int network_stats(struct network_stats *stats, const struct network *network,
		  const struct network_entry *entry, struct error *err)
{
	struct network_refs refs = NETWORK_REFS_INIT;
	struct oid *wants = NULL;
	struct odb *odb = NULL;
	struct repo *repo;
	int ret = network_member_open(&repo, network, entry, err);

	*stats = (struct network_stats){0};
	if (!ret)
		ret = network_refs_read(&refs, repo, "refs/", true, err);
	if (!ret) {
		wants = mem_alloc(refs.nr, sizeof(*wants));
		ret = wants ? 0 : error_nomem(err);
	}
	for (size_t i = 0; i < refs.nr && !ret; i++)
		wants[i] = refs.refs[i].oid;
	if (!ret)
		ret = odb_open(&odb, repo, NULL, err);
	if (!ret && refs.nr)
		ret = plan(stats, odb, wants, refs.nr, err);
	if (!ret)
		stats->own_pack_bytes = own_bytes(odb);
	free(wants);
	odb_close(odb);
	network_refs_release(&refs);
	repo_close(repo);
	return ret;
}

int network_stats_store(uint64_t *bytes, const struct network *network,
			struct error *err)
{
	struct odb *odb = NULL;
	int ret = odb_open(&odb, network->store, NULL, err);

	*bytes = ret ? 0 : own_bytes(odb);
	odb_close(odb);
	return ret;
}
