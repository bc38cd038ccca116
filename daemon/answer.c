/* SPDX-License-Identifier: MIT */
/*
 * The state of an answer until its last byte is sent, in each protocol: the
 * open repository, the plan of the pack, the unsent bytes, and the record for
 * the log of requests.
 */
#include <stdlib.h>
#include <string.h>

#include "access/access.h"
#include "daemon/daemon-parts.h"
#include "daemon/outbox.h"
#include "daemon/snapshots.h"
#include "plans/plan-cache.h"
#include "status/statistics.h"
#include "sys/clock.h"

static void count(void *ctx, const struct summary *s, const struct error *error)
{
	const struct daemon_answer *a = ctx;

	statistics_add(a->conn->shared->statistics, s, error,
		       (uint64_t)a->options->slow_ms * 1000);
}

/*
 * Called when a wait for the client begins or ends. While a pack is made, the
 * request gives up its token during the wait.
 */
static void note_wait(void *ctx, bool begins)
{
	struct daemon_answer *a = ctx;

	atomic_store(&a->conn->stalled_ns, begins ? sys_clock_ns() : 0);
	if (a->makes_pack)
		daemon_admit_rest(&a->admit, begins);
}

void daemon_answer_init(struct daemon_answer *a,
			const struct daemon_options *options,
			struct daemon_conn *conn, struct daemon_stream *stream)
{
	*a = (struct daemon_answer){
		.options = options,
		.conn = conn,
		.access = {.hidden = BUF_INIT},
		.output = {.stream = stream,
			   .patience = {.limit_ms = options->timeout * 1000,
					.waits = note_wait,
					.ctx = a},
			   .box = OUTBOX_INIT},
	};
	a->about = (struct summary_about){
		.is_of_thread = true,
		.done = count,
		.ctx = a,
	};
	summary_init_off(&a->summary, "");
}

/* ---- the repository */

int daemon_answer_enter(struct daemon_answer *a, const char *path, bool exact,
			struct error *err)
{
	return a->entered
		       ? 0
		       : daemon_snapshots_enter(a->conn->snapshots, &a->use,
						path, exact, &a->entered, err);
}

int daemon_answer_repo(const struct repo **repo, struct daemon_answer *a,
		       struct error *err)
{
	*repo = a->entered;
	if (!a->options->trace && !a->access.hidden_nr)
		return 0;
	a->repo = *a->entered;
	*repo = &a->repo;
	if (a->options->trace) {
		trace_init_thread(&a->trace, a->options->trace);
		a->repo.trace = &a->trace;
	}
	return a->access.hidden_nr && access_configure(&a->repo.config,
						       &a->entered->config,
						       &a->access) < 0
		       ? error_nomem(err)
		       : 0;
}

/*
 * Records the number of the packs, and the times of the oldest and the newest
 * pack, for the status page.
 */
static void note_packs(const struct daemon_answer *a, const struct odb *odb)
{
	struct status_packs packs = {.nr = odb->pack_nr, .oldest = UINT64_MAX};

	for (uint32_t i = 0; i < odb->pack_nr; i++) {
		int64_t ns = odb->packs[i].pack->mtime_ns;
		uint64_t time = ns > 0 ? (uint64_t)ns / 1000000000 : 0;

		if (time > packs.newest)
			packs.newest = time;
		if (time < packs.oldest)
			packs.oldest = time;
	}
	if (packs.nr)
		statistics_note_packs(a->conn->shared->statistics,
				      a->entered->git_dir, &packs);
}

int daemon_answer_objects(void *ctx, struct odb **odb, struct error *warning,
			  struct error *err)
{
	struct daemon_answer *a = ctx;
	int ret = daemon_snapshots_objects(a->conn->snapshots, &a->use, odb,
					   warning, err);

	if (!ret)
		note_packs(a, *odb);
	return ret;
}

/*
 * Sends the pack that answers *question. If plans (cached responses) are kept,
 * the plan of an equal earlier request is used. Otherwise the pack is made
 * anew. Called once for each answer. Returns 0 or a negative error code.
 */
static int send_planned(struct daemon_answer *a,
			const struct plan_question *question,
			const struct pack_sink *sink,
			struct packing_report *report, struct error *err)
{
	if (a->conn->plans)
		return plan_cache_send(a->conn->plans, &a->plan, question, sink,
				       report, err);
	return question->make(question->make_ctx, question->odb,
			      question->request, question->options, *sink,
			      report, err);
}

int daemon_answer_make_pack(void *ctx, const struct odb *odb,
			    const struct packing_request *request,
			    const struct packing_send_options *options,
			    struct pack_sink sink,
			    struct packing_report *report, struct error *err)
{
	struct daemon_answer *a = ctx;
	const struct plan_question question = {
		.owner = daemon_snapshots_owner(&a->use),
		.odb = odb,
		.request = request,
		.options = options,
		.make = daemon_admit_send,
		.make_ctx = &a->admit,
	};
	int ret;

	daemon_admit_init(&a->admit, a->options, a->conn->shared, a->principal,
			  &a->output.has_failed);
	a->makes_pack = true;
	ret = send_planned(a, &question, &sink, report, err);
	a->makes_pack = false;
	return ret;
}

/* ---- the record */

bool daemon_answer_end_later(struct daemon_answer *a, struct summary *summary,
			     bool has_failed)
{
	summary->tap.bytes_sent -= a->output.lost;
	if (has_failed || outbox_is_empty(&a->output.box))
		return false;
	summary_suspend(&a->summary, summary);
	return true;
}

void daemon_answer_record(struct daemon_answer *a, const struct error *err)
{
	const struct daemon_output *out = &a->output;

	a->summary.tap.bytes_sent -= out->lost + outbox_unsent(&out->box);
	summary_end(&a->summary, err);
}

void daemon_answer_end(struct daemon_answer *a, const struct error *err)
{
	daemon_answer_record(a, err);
	summary_release(&a->summary);
	summary_init_off(&a->summary, "");
	if (a->repo.trace)
		trace_release(&a->trace);
	if (a->access.hidden_nr)
		free(a->repo.config.entries);
	memset(&a->repo, 0, sizeof(a->repo));
	plan_cache_release(a->conn->plans, a->plan);
	a->plan = NULL;
	daemon_snapshots_leave(a->conn->snapshots, &a->use);
	a->entered = NULL;
	outbox_release(&a->output.box);
}

void daemon_answer_release(struct daemon_answer *a)
{
	daemon_answer_end(a, NULL);
	access_answer_release(&a->access);
}
