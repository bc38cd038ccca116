/* SPDX-License-Identifier: MIT */
/*
 * One push from its advertisement to its end.
 *
 *	state       on                      does                       next
 *	----------  ----------------------  -------------------------  --------
 *	HELLO       connection              advertisement              REQUEST
 *	REQUEST     flush at once           nothing                    END
 *	            commands, options       takes them                 OBJECTS
 *	OBJECTS     pack (none when all     quarantine, index          JUDGE
 *	            commands delete)
 *	            no good pack            refuses all                REPORT
 *	JUDGE       --                      purge, connectivity,       ACCEPT
 *	                                    hidden refs,
 *	                                    certificate, pre-receive
 *	            other push options      refuses all                REPORT
 *	            than were signed
 *	            hook declines           refuses all                REPORT
 *	ACCEPT      nothing is left to do   --                         REPORT
 *	            --                      migrates the objects, or   UPDATE
 *	                                    stores them in the target
 *	UPDATE      --                      aliases, proc-receive and  REPORT
 *	                                    update hooks, rules,
 *	                                    transactions
 *	REPORT      --                      report, post hooks, flush  TIDY
 *	TIDY        --                      server info, maintenance   END
 *
 * A client that breaks the protocol in REQUEST gets an "ERR" packet. From
 * OBJECTS on, errors are in the report. Nobody sees objects of the push before
 * ACCEPT. A push that ends early, in any state, removes the quarantine. If the
 * client goes away in UPDATE or later, the push goes on, so that hooks run for
 * all refs that changed.
 */
#include "receive/receive.h"
#include "receive/receive-advertise.h"
#include "receive/receive-cert.h"
#include "receive/receive-check.h"
#include "receive/receive-hooks.h"
#include "receive/receive-objects.h"
#include "receive/receive-parts.h"
#include "repack/server-info.h"
#include "serve/upload-pack.h"
#include "sys/spawn.h"

enum state {
	HELLO,
	REQUEST,
	OBJECTS,
	JUDGE,
	ACCEPT,
	UPDATE,
	REPORT,
	TIDY,
	END,
};

/* The state of one push. */
struct push {
	struct receive r;
	struct receive_objects objects;
	/* commits that the push adds to the repository's shallow boundary */
	struct oidset new_shallow;
	/* the number of refs that were read before the request began */
	uint64_t refs_before;
	/* true: the objects of the push could not be stored */
	bool has_failed;
	struct error failure; /* reason, with has_failed */
	struct error *err;
};

/* ---- the states: each returns the next state or a negative error code */

static void begin(struct push *p, const char *command, enum summary_phase phase)
{
	struct receive *r = &p->r;

	summary_begin(&r->summary, command);
	summary_phase(&r->summary, phase);
	summary_u64(&r->summary, SUMMARY_PROTOCOL,
		    (uint64_t)r->options->version);
	p->refs_before = r->refs.looked_at;
}

static void finish(struct push *p, const struct error *error)
{
	struct receive *r = &p->r;
	size_t refused = 0;

	summary_u64(&r->summary, SUMMARY_REFS_LOOKED_AT,
		    r->refs.looked_at - p->refs_before);
	if (r->request.nr) {
		for (size_t i = 0; i < r->request.nr; i++)
			refused += r->request.commands[i].error != NULL;
		summary_u64(&r->summary, SUMMARY_REFS_ASKED, r->request.nr);
		summary_u64(&r->summary, SUMMARY_REFS_REFUSED, refused);
		summary_string(&r->summary, SUMMARY_UNPACK_ERROR,
			       p->has_failed ? p->failure.msg : NULL);
	}
	if (!error && p->has_failed)
		error = &p->failure;
	if (!error && r->peer.failure.code)
		error = &r->peer.failure;
	summary_end(&r->summary, error);
}

static int hello(struct push *p)
{
	struct receive *r = &p->r;
	int ret;

	if (!r->options->advertise_only && r->options->stateless_rpc)
		return REQUEST;
	begin(p, "advertise", SUMMARY_ANSWER);
	ret = receive_advertise(r, p->err);
	if (!ret)
		ret = pktline_send(&r->peer.out, p->err);
	if (ret < 0)
		return ret;
	finish(p, NULL);
	return r->options->advertise_only ? END : REQUEST;
}

static int request(struct push *p)
{
	struct receive *r = &p->r;
	int ret;

	begin(p, "push", SUMMARY_NEGOTIATE);
	ret = receive_request_read(&r->request, &r->peer.in, p->err);
	if (!ret)
		summary_drop(&r->summary);
	if (r->request.sideband)
		r->peer.band.mode = SIDEBAND_LARGE;
	if (ret <= 0)
		return ret < 0 ? ret : END;
	return receive_request_only_deletes(&r->request) ? JUDGE : OBJECTS;
}

static int objects(struct push *p)
{
	struct receive *r = &p->r;

	summary_phase(&r->summary, SUMMARY_RECEIVE);
	if (!receive_objects_take(&p->objects, r, &p->failure) &&
	    !receive_fsck(r, &p->objects, &p->failure))
		return JUDGE;
	p->has_failed = true;
	receive_peer_tell_failure(&r->peer, p->failure.code, p->failure.msg);
	if (receive_refuse_all(&r->request, "unpacker error") < 0)
		return error_nomem(p->err);
	return REPORT;
}

/*
 * Refuse all commands after the error p->err. The client gets the reason `why`.
 * Exception: if the repository is a local copy of a repository in a store
 * (options->target is set), the client gets the message of p->err. Returns the
 * next state or a negative error code.
 */
static int refuse(struct push *p, const char *why)
{
	struct receive *r = &p->r;

	receive_peer_tell_failure(&r->peer, p->err->code, p->err->msg);
	if (r->options->target) {
		receive_hide_paths(p->err->msg);
		why = p->err->msg;
	}
	if (receive_refuse_all(&r->request, why) < 0)
		return error_nomem(p->err);
	return REPORT;
}

static int judge(struct push *p)
{
	struct receive *r = &p->r;
	const struct receive_target *target = r->options->target;
	int ret;

	ret = receive_cert_check_options(r, p->err);
	if (ret)
		return ret < 0 ? ret : REPORT;
	if (target && target->purge && target->purge(target->ctx, p->err) < 0)
		return refuse(p, NULL);
	summary_phase(&r->summary, SUMMARY_CONNECTIVITY);
	ret = receive_check_connected(r, &p->objects, &p->new_shallow, p->err);
	if (!ret)
		ret = receive_check_hidden(r, p->err);
	summary_phase(&r->summary, SUMMARY_HOOKS);
	if (!ret)
		receive_proc_choose(r);
	if (!ret)
		ret = receive_cert_judge(r, p->err);
	if (!ret)
		ret = receive_hook_pre(r, p->err);
	if (ret <= 0)
		return ret < 0 ? ret : ACCEPT;
	if (receive_refuse_all(&r->request, "pre-receive hook declined") < 0)
		return error_nomem(p->err);
	return REPORT;
}

/*
 * Moves the objects of the push into the repository. If the options have a
 * target (struct receive_target), the target stores the objects instead.
 * Returns 0 or a negative error code.
 */
static int take_objects(struct push *p)
{
	struct receive *r = &p->r;
	const struct receive_target *target = r->options->target;
	struct sys_ticker *ticker = NULL;
	int ret;

	if (!target)
		return quarantine_migrate(&r->quarantine, p->err);
	if (!p->objects.result.nr)
		return 0;
	ret = receive_peer_start_ticker(&ticker, &r->peer, r->config.keep_alive,
					p->err);
	if (!ret)
		ret = target->store(target->ctx, r->quarantine.dir.path,
				    p->err);
	sys_ticker_stop(ticker);
	return ret;
}

static int accept(struct push *p)
{
	struct receive *r = &p->r;
	size_t live = 0;

	for (size_t i = 0; i < r->request.nr; i++)
		live += receive_is_live(&r->request.commands[i]);
	if (!live)
		return REPORT;
	summary_phase(&r->summary, SUMMARY_MIGRATE);
	if (!take_objects(p))
		return UPDATE;
	return refuse(p, "unable to migrate objects to permanent storage");
}

static int update(struct push *p)
{
	int ret;

	summary_phase(&p->r.summary, SUMMARY_UPDATE);
	p->r.peer.is_settling = true;
	receive_refresh(&p->r);
	ret = receive_check_aliases(&p->r, p->err);
	if (!ret)
		ret = receive_proc_run(&p->r, p->err);
	if (!ret)
		ret = receive_update_refs(&p->r, &p->new_shallow, p->err);
	return ret < 0 ? ret : REPORT;
}

/*
 * Updates info/refs and objects/info/packs if receive.updateServerInfo is true.
 * A failure is told to the client and on standard error. It does not end the
 * push, because the refs are updated already.
 */
static void update_info(struct receive *r)
{
	struct error why = ERROR_INIT, told = ERROR_INIT;
	struct refs *refs = NULL;
	int ret;

	if (!r->config.server_info)
		return;
	ret = refs_open(&refs, r->repo, &why);
	if (!ret)
		ret = server_info_update(r->repo, refs, &why);
	refs_close(refs);
	if (ret == SERVER_INFO_INCOMPLETE)
		error_set(&why, ERR_CORRUPT,
			  "a ref is broken, or its object is missing");
	if (!ret)
		return;
	error_set(&told, ERR_IO, "unable to update %s: %s",
		  ret < 0 ? "server info" : "info/refs", why.msg);
	receive_peer_tell_failure(&r->peer, told.code, told.msg);
}

static int report(struct push *p)
{
	struct error told = p->failure;
	struct receive *r = &p->r;
	int ret;

	summary_phase(&r->summary, SUMMARY_REPORT);
	/*
	 * Refs do not change any more, so remove the .keep file and the
	 * quarantine. In a push into a local copy of a stored repository
	 * (options->target), the hooks post-receive and post-update may still
	 * need the quarantine: if the push is signed, or if the copy does not
	 * have the packs of the push. Then keep it.
	 */
	if (!r->options->target ||
	    (!r->cert.is_judged && quarantine_is_stored(&r->quarantine)))
		receive_discard(r);
	receive_hide_paths(told.msg);
	ret = receive_report(r, p->has_failed ? told.msg : NULL, p->err);
	summary_phase(&r->summary, SUMMARY_HOOKS);
	if (!ret)
		ret = receive_hook_post(r, p->err);
	if (!ret)
		update_info(r);
	if (!ret && receive_peer_has_band(&r->peer))
		ret = pktline_write_flush(&r->peer.out, p->err);
	if (!ret)
		ret = pktline_send(&r->peer.out, p->err);
	if (!ret)
		finish(p, r->peer.gone.code ? &r->peer.gone : NULL);
	return ret < 0 ? ret : TIDY;
}

/*
 * Returns true if the configuration allows automatic maintenance after the
 * push. receive.autogc must be true. In addition, maintenance.auto must be
 * true; if this key is not set, gc.auto must be above 0.
 */
static bool wants_maintenance(const struct receive *r)
{
	const struct config *config = &r->repo->config;
	bool wanted = true;
	int64_t limit = 1;
	int ret = config_bool(config, "maintenance.auto", &wanted, NULL);

	if (!ret)
		ret = config_i64(config, "gc.auto", &limit, NULL);
	return ret >= 0 && wanted && limit > 0 && r->config.auto_gc;
}

/*
 * Set *detach to the value of maintenance.autoDetach. If this key is not set,
 * gc.autoDetach is used; if neither is set, *detach stays unchanged. Returns
 * false if the value is not a boolean.
 */
static bool load_detach(bool *detach, const struct config *config)
{
	int ret = config_bool(config, "maintenance.autodetach", detach, NULL);

	if (!ret)
		ret = config_bool(config, "gc.autodetach", detach, NULL);
	return ret >= 0;
}

/*
 * Run `git maintenance`, without output. Its errors are ignored: the client
 * already has the report. If the maintenance does not run in the background,
 * the push ends after it. Neither --detach nor --no-detach is passed to the
 * command. The reason: a client of the same machine may set GIT_EXEC_PATH to a
 * Git that is older than these two options.
 */
static void maintain(const struct receive *r)
{
	static const char *const argv[] = {"git",    "maintenance", "run",
					   "--auto", "--quiet",     NULL};
	struct sys_child child;
	bool detach = true;

	if (!wants_maintenance(r) || !load_detach(&detach, &r->repo->config))
		return;
	if (!sys_spawn(&child, (char *const *)argv, NULL, SYS_SPAWN_SILENT,
		       NULL) &&
	    !detach)
		sys_spawn_wait(&child, NULL);
}

static int tidy(struct push *p)
{
	maintain(&p->r);
	return END;
}

static int run(struct push *p)
{
	static int (*const steps[])(struct push * p) = {
		[HELLO] = hello,   [REQUEST] = request, [OBJECTS] = objects,
		[JUDGE] = judge,   [ACCEPT] = accept,   [UPDATE] = update,
		[REPORT] = report, [TIDY] = tidy,
	};
	int state = HELLO;

	while (state >= 0 && state != END)
		state = steps[state](p);
	return state < 0 ? state : 0;
}

/*
 * Tell the client why the push ended early, without the server's paths. The
 * caller also prints the whole message on standard error. Without a side band,
 * this function sends nothing, because standard error is then the client's
 * terminal.
 */
static void tell_end(struct receive *r, struct error err)
{
	if (!receive_peer_has_band(&r->peer))
		return;
	receive_hide_paths(err.msg);
	receive_peer_tell(&r->peer, "fatal: %s\n", err.msg);
}

int receive_pack_serve(const struct receive_options *options,
		       const struct serve_io *io, struct error *err)
{
	struct error own = ERROR_INIT;
	struct push p = {.err = &own};
	int ret;

	oidset_init(&p.new_shallow, OIDSET_MAX);
	serve_trace_version(options->repo->trace, options->version);
	ret = receive_init(&p.r, options, io, &own);
	if (!ret)
		ret = receive_fsck_check_config(&p.r, &own);
	if (!ret)
		ret = receive_cert_init(&p.r, &own);
	if (!ret)
		ret = run(&p);
	if (ret == ERR_PEER)
		receive_peer_tell_end(&p.r.peer, own.msg);
	else if (ret < 0)
		tell_end(&p.r, own);
	if (ret < 0)
		finish(&p, &own);
	if (!ret && p.r.peer.gone.code) {
		own = p.r.peer.gone;
		ret = own.code;
	}
	if (ret < 0)
		trace_error(options->repo->trace, own.msg);
	if (ret < 0 && err)
		*err = own;
	receive_objects_release(&p.objects);
	receive_release(&p.r);
	oidset_release(&p.new_shallow);
	return ret;
}
