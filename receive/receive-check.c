/* SPDX-License-Identifier: MIT */
/*
 * Checks all commands of a push: connectivity, hidden refs and symbolic refs.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "receive/receive-check.h"

/* ---- connectivity */

/* A check of all commands and, if it fails, of halves of them. */
struct division {
	struct receive *r; /* borrowed */
	struct receive_connect *c;
	struct oidset *new_shallow; /* borrowed */
	struct error *err;
};

/*
 * Accept or refuse a command that needs missing objects; `why` has the message.
 * If the client has sent a shallow boundary, check the command again with this
 * boundary. Returns 0 or a negative error code.
 */
static int settle(struct division *d, struct receive_command *cmd,
		  struct error *why)
{
	struct receive *r = d->r;
	int ret = 0;

	if (r->request.shallow.nr) {
		ret = receive_connect_check(d->c, cmd, 1, d->new_shallow, why,
					    d->err);
		cmd->needs_shallow = ret > 0;
	}
	if (ret < 0)
		return ret;
	if (!ret) {
		receive_peer_tell_failure(&r->peer, why->code, why->msg);
		ret = receive_refuse(cmd, "missing necessary objects");
	} else if (!r->config.shallow_update) {
		ret = receive_refuse(cmd, "shallow update not allowed");
	} else {
		ret = 0;
	}
	return ret < 0 ? error_nomem(d->err) : 0;
}

/*
 * Returns the smallest number n for which `value_nr` of the first n commands
 * set a value. The array must have at least `value_nr` commands that set a
 * value.
 */
static size_t first_part(const struct receive_command *commands,
			 size_t value_nr)
{
	size_t nr = 0;

	while (value_nr)
		value_nr -= receive_sets_value(&commands[nr++]);
	return nr;
}

/*
 * Check that all objects exist that `nr` commands need. If objects are missing,
 * check each half of the commands, until single commands are left. So if a few
 * of many commands are bad, only a few checks are needed. Returns 0 or a
 * negative error code.
 */
static int check_range(struct division *d, struct receive_command *commands,
		       size_t nr)
{
	struct error why = ERROR_INIT;
	size_t value_nr = 0, half;
	int ret;

	for (size_t i = 0; i < nr; i++)
		value_nr += receive_sets_value(&commands[i]);
	if (!value_nr)
		return 0;
	ret = receive_connect_check(d->c, commands, nr, NULL, &why, d->err);
	if (ret)
		return ret < 0 ? ret : 0;
	if (value_nr == 1)
		return settle(d, &commands[first_part(commands, 1) - 1], &why);
	half = first_part(commands, value_nr / 2);
	ret = check_range(d, commands, half);
	return ret ? ret : check_range(d, commands + half, nr - half);
}

int receive_check_connected(struct receive *r,
			    const struct receive_objects *objects,
			    struct oidset *new_shallow, struct error *err)
{
	struct receive_connect c;
	struct division d = {r, &c, new_shallow, err};
	int ret;

	if (r->options->skip_connectivity)
		return 0;
	/*
	 * Read the refs again. A ref that was advertised may be deleted
	 * meanwhile, and its objects pruned.
	 */
	receive_refresh(r);
	ret = receive_connect_init(&c, r, objects, err);
	if (!ret)
		ret = check_range(&d, r->request.commands, r->request.nr);
	if (ret >= 0 && r->options->target) {
		r->checked = c.odb;
		c.odb = NULL;
	}
	receive_connect_release(&c);
	return ret < 0 ? ret : 0;
}

/* ---- hidden refs */

int receive_check_hidden(struct receive *r, struct error *err)
{
	for (size_t i = 0; i < r->request.nr; i++) {
		struct receive_command *cmd = &r->request.commands[i];
		int hides;

		if (!receive_is_live(cmd))
			continue;
		hides = refview_hides(&r->refs, cmd->ref);
		if (hides > 0)
			hides = receive_refuse(
				cmd, receive_is_delete(cmd)
					     ? "deny deleting a hidden ref"
					     : "deny updating a hidden ref");
		if (hides < 0)
			return error_nomem(err);
	}
	return 0;
}

/* ---- symbolic refs */

static int refuse_pair(struct receive *r, struct receive_command *symbolic,
		       struct receive_command *target, struct error *err)
{
	enum { SHORT = 7 };
	char hex[4][OID_MAX_HEX_LEN + 1];
	enum hash_algo algo = r->repo->algo;

	oid_to_hex(hex[0], &symbolic->old_oid, algo)[SHORT] = '\0';
	oid_to_hex(hex[1], &symbolic->new_oid, algo)[SHORT] = '\0';
	oid_to_hex(hex[2], &target->old_oid, algo)[SHORT] = '\0';
	oid_to_hex(hex[3], &target->new_oid, algo)[SHORT] = '\0';
	receive_peer_tell(
		&r->peer,
		"error: refusing inconsistent update between symref '%s' "
		"(%s..%s) and its target '%s' (%s..%s)\n",
		symbolic->ref, hex[0], hex[1], target->ref, hex[2], hex[3]);
	if (receive_refuse(symbolic, "inconsistent aliased update") < 0 ||
	    receive_refuse(target, "inconsistent aliased update") < 0)
		return error_nomem(err);
	return 0;
}

/*
 * Refuses every change of a symbolic ref that cannot be followed to its end.
 * Deletions are refused too: a transaction would treat the ref as one that does
 * not exist.
 */
static int refuse_broken(struct receive *r, struct receive_command *cmd,
			 struct error *err)
{
	receive_peer_tell(&r->peer,
			  "error: refusing update to broken symref '%s'\n",
			  cmd->ref);
	return receive_refuse(cmd, "broken symref") < 0 ? error_nomem(err) : 0;
}

static int check_alias(struct receive *r, struct receive_command *cmd,
		       struct error *err)
{
	const char *name = refview_full_name(&r->refs, cmd->ref);
	struct receive_command *target;
	struct ref ref;
	int ret;

	if (!name)
		return error_nomem(err);
	if (!refs_name_is_valid(cmd->ref))
		return 0;
	ret = refs_lookup(r->refs.refs, name, &ref, NULL);
	if (ref.leads_nowhere ||
	    (ret == ERR_CORRUPT && ref.target && !ref.is_zero))
		return refuse_broken(r, cmd, err);
	if (ret < 0 || !ref.target)
		return 0;
	name = ref.target;
	if (!strncmp(name, r->refs.prefix.data, r->refs.prefix.len))
		name += r->refs.prefix.len;
	ret = receive_request_find(&target, &r->request, name);
	if (ret < 0)
		return error_nomem(err);
	if (!ret || target == cmd)
		return 0;
	if (!oid_equal(&cmd->old_oid, &target->old_oid) ||
	    !oid_equal(&cmd->new_oid, &target->new_oid))
		return refuse_pair(r, cmd, target, err);
	cmd->is_alias = true;
	return 0;
}

int receive_check_aliases(struct receive *r, struct error *err)
{
	struct receive_request *req = &r->request;
	int ret = 0;

	for (size_t i = 0; !ret && i < req->nr; i++)
		if (receive_is_live(&req->commands[i]))
			ret = check_alias(r, &req->commands[i], err);
	return ret;
}
