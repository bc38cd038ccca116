/* SPDX-License-Identifier: MIT */
/* Estimates the cost of a clone of a member. */
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

static int plan(struct network_stats *stats, const struct repo *repo,
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
	struct odb *odb = NULL;
	int ret = packing_send_options_load(&options, repo, err);

	options.window = 0;
	options.counts_only = true;
	if (!ret)
		ret = odb_open(&odb, repo, NULL, err);
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
	odb_close(odb);
	return ret;
}

int network_stats(struct network_stats *stats, const struct network *network,
		  const struct network_entry *entry, struct error *err)
{
	struct network_refs refs = NETWORK_REFS_INIT;
	struct oid *wants = NULL;
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
	if (!ret && refs.nr)
		ret = plan(stats, repo, wants, refs.nr, err);
	free(wants);
	network_refs_release(&refs);
	repo_close(repo);
	return ret;
}
