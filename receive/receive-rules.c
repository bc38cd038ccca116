/* SPDX-License-Identifier: MIT */
/* Checks single commands of a push. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "receive/receive-check.h"
#include "receive/receive-worktree.h"

/*
 * Text that follows the refusal of a push to the checked-out branch, if
 * receive.denyCurrentBranch was never set.
 */
static const char advice_current[] =
	"error: The branch is checked out in this repository. A push would "
	"move it,\n"
	"but not the files of the work tree. The next commit made there "
	"would undo\n"
	"the push.\n"
	"\n"
	"Push to another branch, or to a bare repository. The owner of this "
	"repository\n"
	"can set receive.denyCurrentBranch: to updateInstead, so that a push "
	"updates\n"
	"the files as well, or to ignore or warn, so that only the branch "
	"moves.\n"
	"With refuse, pushes are refused without this advice.\n";

static const char advice_delete[] =
	"error: HEAD of this repository names the branch. Without it, a new "
	"clone has\n"
	"no branch to check out.\n"
	"\n"
	"The owner of this repository can point HEAD to another branch, or "
	"set\n"
	"receive.denyDeleteCurrent to ignore or warn. With refuse, such pushes "
	"are\n"
	"refused without this advice.\n";

int receive_rules_init(struct receive_rules *rules, struct receive *r,
		       struct error *err)
{
	struct ref head;

	*rules = (struct receive_rules){.r = r};
	if (refs_lookup(r->refs.refs, "HEAD", &head, NULL) < 0 || !head.target)
		return 0;
	rules->head = mem_strdup(head.target);
	return rules->head ? 0 : error_nomem(err);
}

void receive_rules_release(struct receive_rules *rules)
{
	if (rules->walk_is_open)
		walk_close(&rules->walk);
	odb_close(rules->odb);
	free(rules->head);
}

static int open_walk(struct receive_rules *rules, struct error *err)
{
	int ret = 0;

	if (rules->walk_is_open)
		return 0;
	if (!rules->odb) {
		rules->odb = rules->r->checked;
		rules->r->checked = NULL;
	}
	if (!rules->odb)
		ret = odb_open(
			&rules->odb,
			quarantine_repo(&rules->r->quarantine, rules->r->repo),
			NULL, err);
	if (!ret)
		ret = walk_open(&rules->walk, rules->odb, NULL, 0, err);
	rules->walk_is_open = !ret;
	return ret;
}

int receive_rules_type(struct receive_rules *rules, const struct oid *oid,
		       enum object_type *type, struct error *err)
{
	int ret = open_walk(rules, err);

	if (!ret)
		ret = odb_info(rules->walk.reader, oid, type, NULL, err);
	if (ret == ERR_MISSING || ret == ERR_CORRUPT)
		return 0;
	return ret < 0 ? ret : 1;
}

int receive_rules_old(struct receive_rules *rules,
		      const struct receive_command *cmd, const char *full,
		      struct error *err)
{
	struct receive *r = rules->r;
	enum object_type type;
	struct ref ref;

	if (!r->is_limit)
		return receive_rules_type(rules, &cmd->old_oid, &type, err);
	if (refs_lookup(r->refs.refs, full, &ref, NULL) > 0 &&
	    oid_equal(&ref.oid, &cmd->old_oid))
		return receive_rules_type(rules, &cmd->old_oid, &type, err);
	return receive_sees(r, &cmd->old_oid, err);
}

/*
 * Refuse a command with the reason `why`, and send a message to the client's
 * terminal.
 */
static int refuse(struct receive *r, struct receive_command *cmd,
		  const char *why, const char *fmt)
{
	receive_peer_tell(&r->peer, fmt, cmd->ref);
	return receive_refuse(cmd, why);
}

static int check_name(struct receive *r, struct receive_command *cmd)
{
	const char *name = cmd->ref;

	if (!strncmp(name, "refs/", 5) &&
	    refs_name_is_valid_len(name + 5, strlen(name + 5),
				   receive_is_delete(cmd)))
		return 0;
	return refuse(r, cmd, "funny refname",
		      "error: refusing to update funny ref '%s' remotely\n");
}

/* ---- checked-out branches */

/*
 * Refuse a command on a branch that a work tree has checked out. As in stock
 * Git, a work tree's branch is compared with the name that the client knows,
 * without the prefix of a namespace.
 */
static int check_current(struct receive *r, struct receive_command *cmd,
			 bool *is_current, struct error *err)
{
	int ret = receive_worktree_find(NULL, r, cmd->ref, err);

	*is_current = ret > 0;
	if (ret <= 0)
		return ret;
	switch (r->config.deny_current) {
	case RECEIVE_DENY_IGNORE:
		return 0;
	case RECEIVE_DENY_WARN:
		receive_peer_tell(&r->peer,
				  "warning: updating the current branch\n");
		return 0;
	case RECEIVE_DENY_UPDATE_INSTEAD:
		cmd->updates_worktree = true;
		return 0;
	case RECEIVE_DENY_DEFAULT:
	case RECEIVE_DENY_REFUSE:
		break;
	}
	ret = refuse(r, cmd, "branch is currently checked out",
		     "error: refusing to update checked out branch: %s\n");
	if (r->config.deny_current == RECEIVE_DENY_DEFAULT)
		receive_peer_tell(&r->peer, "%s", advice_current);
	return ret;
}

/* ---- deletions */

static int check_delete_current(struct receive *r, struct receive_command *cmd)
{
	switch (r->config.deny_delete_current) {
	case RECEIVE_DENY_IGNORE:
		return 0;
	case RECEIVE_DENY_WARN:
		receive_peer_tell(&r->peer,
				  "warning: deleting the current branch\n");
		return 0;
	case RECEIVE_DENY_DEFAULT:
		receive_peer_tell(&r->peer, "%s", advice_delete);
		break;
	case RECEIVE_DENY_REFUSE:
	case RECEIVE_DENY_UPDATE_INSTEAD:
		break;
	}
	return refuse(r, cmd, "deletion of the current branch prohibited",
		      "error: refusing to delete the current branch: %s\n");
}

static int check_delete(struct receive_rules *rules,
			struct receive_command *cmd, const char *full,
			bool is_current)
{
	struct receive *r = rules->r;

	if (oid_is_zero(&cmd->old_oid))
		return 0;
	if (r->config.deny_deletes && !strncmp(cmd->ref, "refs/heads/", 11))
		return refuse(r, cmd, "deletion prohibited",
			      "error: denying ref deletion for %s\n");
	if (is_current || (rules->head && !strcmp(rules->head, full)))
		return check_delete_current(r, cmd);
	return 0;
}

/* ---- updates */

static int check_exists(struct receive_rules *rules,
			struct receive_command *cmd, struct error *err)
{
	char hex[OID_MAX_HEX_LEN + 1];
	enum object_type type;
	int ret = receive_rules_type(rules, &cmd->new_oid, &type, err);

	if (ret)
		return ret < 0 ? ret : 0;
	receive_peer_tell(&rules->r->peer,
			  "error: unpack should have generated %s, but I can't "
			  "find it!\n",
			  oid_to_hex(hex, &cmd->new_oid, rules->r->repo->algo));
	return receive_refuse(cmd, "bad pack");
}

/*
 * Returns 1 if commit `new_nr` reaches commit `old_nr`, 0 if not, or a negative
 * error code. If `exact` is false, the walk relies on commit dates, and wrong
 * dates can make the result 0.
 */
static int is_ahead(struct receive_rules *rules, uint32_t old_nr,
		    uint32_t new_nr, bool exact, struct error *err)
{
	struct revwalk_result lost = REVWALK_RESULT_INIT;
	struct revwalk_tips tips = {&old_nr, 1, &new_nr, 1};
	int ret = revwalk_run(&lost, &rules->walk.history, &tips, exact, err);

	ret = ret < 0 ? ret : !lost.nr;
	revwalk_result_release(&lost);
	return ret;
}

/*
 * Returns 1 for a fast-forward, 0 for another update, or a negative error code.
 * *bad is set if the old or the new value is no commit.
 */
static int is_fast_forward(struct receive_rules *rules,
			   const struct receive_command *cmd, bool *bad,
			   struct error *err)
{
	struct walk_tips tips = WALK_TIPS_INIT;
	struct error why = ERROR_INIT;
	int ret = open_walk(rules, err);

	*bad = false;
	if (ret < 0)
		return ret;
	ret = walk_add_tip(&rules->walk, &tips, &cmd->old_oid, true, &why);
	if (!ret)
		ret = walk_add_tip(&rules->walk, &tips, &cmd->new_oid, true,
				   &why);
	/*
	 * An annotated tag is not a commit, but walk_add_tip() adds the tag's
	 * commit too. So look also at others.nr, which counts the tag.
	 */
	*bad = !ret && (tips.commit_nr != 2 || tips.others.nr);
	if (!ret && !*bad)
		ret = is_ahead(rules, tips.commits[0], tips.commits[1], false,
			       err);
	/*
	 * If wrong dates made the inexact walk miss the old commit, an exact
	 * walk finds it.
	 */
	if (!ret && !*bad)
		ret = is_ahead(rules, tips.commits[0], tips.commits[1], true,
			       err);
	walk_tips_release(&tips);
	return ret;
}

static int check_fast_forward(struct receive_rules *rules,
			      struct receive_command *cmd, const char *full,
			      struct error *err)
{
	bool bad;
	int ret;

	if (!rules->r->config.deny_non_ff || oid_is_zero(&cmd->old_oid) ||
	    strncmp(cmd->ref, "refs/heads/", 11))
		return 0;
	ret = receive_rules_old(rules, cmd, full, err);
	bad = !ret;
	if (ret > 0)
		ret = is_fast_forward(rules, cmd, &bad, err);
	if (ret < 0 || ret > 0)
		return ret < 0 ? ret : 0;
	if (bad)
		return receive_refuse(cmd, "bad ref");
	return refuse(rules->r, cmd, "non-fast-forward",
		      "error: denying non-fast-forward %s (you should pull "
		      "first)\n");
}

/*
 * Check a command on the ref `full`. `full` must be a copy, because look-ups
 * overwrite the buffer of the refview.
 */
static int check_full(struct receive_rules *rules, struct receive_command *cmd,
		      const char *full, struct error *err)
{
	bool is_current;
	int ret = check_current(rules->r, cmd, &is_current, err);

	if (ret < 0 || cmd->error)
		return ret;
	if (receive_is_delete(cmd))
		return check_delete(rules, cmd, full, is_current);
	ret = check_exists(rules, cmd, err);
	if (!ret && !cmd->error)
		ret = check_fast_forward(rules, cmd, full, err);
	return ret;
}

int receive_rules_check(struct receive_rules *rules,
			struct receive_command *cmd, struct error *err)
{
	const char *name;
	char *full;
	int ret = check_name(rules->r, cmd);

	if (ret < 0)
		return error_nomem(err);
	if (cmd->error)
		return 0;
	name = refview_full_name(&rules->r->refs, cmd->ref);
	full = name ? mem_strdup(name) : NULL;
	if (!full)
		return error_nomem(err);
	ret = check_full(rules, cmd, full, err);
	free(full);
	return ret == ERR_NOMEM ? error_nomem(err) : ret;
}
