/* SPDX-License-Identifier: MIT */
/* Checks the store and the members of a network. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "islands/network-member.h"
#include "network/network-sync.h"
#include "network/network-verify.h"
#include "packs/crossing.h"
#include "packs/roots.h"

struct verify {
	struct network *network;
	const struct network_verify *how;
	struct network_verify_report *report;
	struct error *err;
};

static void wrong(struct verify *v, uint32_t id, const char *what)
{
	v->how->wrong(v->how->ctx, id, what);
}

/* ---- the store */

struct store {
	struct refs *refs;
	struct odb *odb;
	struct walk walk;
	struct walk_tips wants;
	struct walk_result found;
};

static void store_release(struct store *s)
{
	walk_result_release(&s->found);
	walk_tips_release(&s->wants);
	if (s->walk.odb)
		walk_close(&s->walk);
	odb_close(s->odb);
	refs_close(s->refs);
}

static int store_open(struct store *s, const struct network *network,
		      struct error *err)
{
	int ret = refs_open(&s->refs, network->store, err);

	if (!ret)
		ret = odb_open_whole(&s->odb, network->store, err);
	if (!ret)
		ret = walk_open(&s->walk, s->odb, NULL, 0, err);
	if (!ret)
		history_check_graph(&s->walk.history);
	return ret;
}

static int enumerate(const struct verify *v, struct store *s)
{
	struct walk_tips none = WALK_TIPS_INIT;
	struct walk_options options = {.objects = true, .keep_lists = true};
	int ret = roots_add(&s->walk, &s->wants, s->refs, 0, v->err);

	if (!ret)
		ret = walk_enumerate(&s->found, &s->walk, &s->wants, &none,
				     &options, v->err);
	return ret < 0 ? ret
		       : walk_check_items(&s->walk, &s->found.objects, v->err);
}

static int check_islands(struct verify *v, struct store *s)
{
	struct crossing_report report;
	int ret = crossing_count(&report, &s->walk, &s->found, s->refs, v->err);

	v->report->crossing_nr = report.crossing_nr;
	return ret;
}

static int check_store(struct verify *v)
{
	const struct config *config = &v->network->store->config;
	struct store s = {.refs = NULL};
	bool precious = false;
	int ret = store_open(&s, v->network, v->err);

	if (config_bool(config, "extensions.preciousobjects", &precious, NULL) <
		    0 ||
	    !precious)
		wrong(v, 0,
		      "extensions.preciousObjects is not set: stock Git may "
		      "remove objects that members need");
	if (!ret)
		ret = enumerate(v, &s);
	if (!ret) {
		v->report->object_nr = (uint32_t)(s.found.revs.nr +
						  s.found.objects.nr);
		ret = check_islands(v, &s);
	}
	if (ret < 0 && ret != ERR_NOMEM) {
		wrong(v, 0, v->err->msg);
		ret = 0;
	}
	store_release(&s);
	return ret;
}

/* ---- members */

static void check_prefixes(struct verify *v, const struct repo *repo,
			   uint32_t id)
{
	const char *command = config_string(&repo->config,
					    "core.alternaterefscommand");

	if (!command && !network_is_marked(repo, id))
		wrong(v, id,
		      "core.alternateRefsPrefixes does not name the member's "
		      "own refs in the store: pushes to this member are told "
		      "about refs of other members");
}

static int check_repo(struct verify *v, const struct repo *repo, uint32_t id)
{
	struct network_refs refs = NETWORK_REFS_INIT;
	enum network_link link;
	uint32_t nr = 0;
	int ret = network_link_check(&link, v->network, repo, v->err);

	if (!ret && link != NETWORK_LINK_STORE) {
		wrong(v, id,
		      "its objects/info/alternates must list the store and "
		      "nothing else");
		return 0;
	}
	check_prefixes(v, repo, id);
	if (!ret)
		ret = network_refs_read(&refs, repo, "refs/", true, v->err);
	if (!ret)
		ret = network_sync_count(&nr, v->network, repo, &refs,
					 v->how->options, v->err);
	v->report->unsynced_nr += nr;
	network_refs_release(&refs);
	return ret;
}

static int check_member(struct verify *v, const struct network_entry *entry)
{
	struct repo *repo;
	int ret = network_member_open(&repo, v->network, entry, v->err);

	if (!ret)
		ret = check_repo(v, repo, entry->id);
	repo_close(repo);
	if (ret < 0 && ret != ERR_NOMEM) {
		wrong(v, entry->id, v->err->msg);
		ret = 0;
	}
	return ret;
}

int network_verify(struct network_verify_report *report,
		   struct network *network, const struct network_verify *how,
		   struct error *err)
{
	struct error own = ERROR_INIT;
	struct verify v = {network, how, report, err ? err : &own};
	int ret = network_lock(network, NETWORK_LOCK_OBJECTS, true, true,
			       v.err);

	*report = (struct network_verify_report){0};
	if (!ret)
		ret = network_reload(network, v.err);
	if (!ret)
		ret = check_store(&v);
	for (size_t i = 0; i < network->registry.nr && !ret; i++) {
		const struct network_entry *entry =
			&network->registry.entries[i];

		report->member_nr++;
		if (entry->state == NETWORK_MEMBER)
			ret = check_member(&v, entry);
		else
			report->pending_nr++;
	}
	network_unlock(network, NETWORK_LOCK_OBJECTS);
	return ret;
}
