/* SPDX-License-Identifier: MIT */
/* git update-ref: changes one ref, or runs the commands on standard input. */
#include <stdio.h>
#include <string.h>

#include "builtin/options.h"
#include "builtin/ref-change.h"
#include "names/revname.h"

static const char usage[] =
	"git update-ref [<options>] -d <refname> [<old-val>]\n"
	"git update-ref [<options>]    <refname> <new-val> [<old-val>]\n"
	"git update-ref [<options>] --stdin [-z] [--batch-updates]";

/*
 * Returns whether stock Git must run: it is installed, and one of the values
 * may be a name that only stock Git can resolve.
 */
static bool names_not_ours(const char **values)
{
	for (; *values; values++)
		if (revname_may_be_unsupported(*values))
			return builtin_has_stock();
	return false;
}

/* Change one ref in a transaction of its own. */
static int change_one(struct update_ref_args *args,
		      const struct ref_change *change, struct error *err)
{
	struct ref_transaction *tx;
	int ret = ref_changer_begin(&tx, &args->changer, err);

	if (!ret)
		ret = ref_transaction_add(tx, change, err);
	if (!ret)
		ret = ref_transaction_commit(tx, err);
	ref_transaction_free(tx);
	return ret;
}

static int delete_one(struct update_ref_args *args, const char *name,
		      const struct oid *old_oid)
{
	static const struct oid zero = OID_ZERO_INIT;
	struct ref_change change = {
		.name = name,
		.flags = args->flags,
		.new_oid = &zero,
		.message = args->message,
	};
	struct error err = ERROR_INIT;

	/*
	 * For a deletion, an old value of zeros means that the present value of
	 * the ref is not checked.
	 */
	if (old_oid && !oid_is_zero(old_oid))
		change.old_oid = old_oid;
	if (change_one(args, &change, &err) < 0) {
		if (args->changer.was_refused)
			return builtin_fail(&err);
		builtin_error("%s", err.msg);
		return 1;
	}
	return 0;
}

static int update_one(struct update_ref_args *args, const char *name,
		      const struct oid *new_oid, const struct oid *old_oid)
{
	struct ref_change change = {
		.name = name,
		.flags = args->flags,
		.new_oid = new_oid,
		.old_oid = old_oid,
		.message = args->message,
	};
	struct error err = ERROR_INIT;
	int ret;

	ret = change_one(args, &change, &err);
	/*
	 * As in stock Git, an error about a damaged object or from a hook is
	 * printed without "update_ref failed for ref".
	 */
	if (ret == ERR_CORRUPT || args->changer.was_refused)
		return builtin_fail(&err);
	if (ret < 0)
		return builtin_die("update_ref failed for ref '%s': %s", name,
				   err.msg);
	return 0;
}

/*
 * Change or delete the ref that argv[0] names. The other arguments are <new>,
 * which is absent for a deletion, and the optional <old>.
 */
static int run_one(struct update_ref_args *args, const char **argv, int nr,
		   bool is_delete)
{
	const struct store *store = args->changer.store;
	const char *new_name = is_delete ? NULL : argv[1];
	const char *old_name = nr > 1 + !is_delete ? argv[1 + !is_delete]
						   : NULL;
	struct error err = ERROR_INIT;
	struct oid new_oid, old_oid;
	int has_new = 1, has_old = 1;

	if (new_name)
		has_new = update_ref_value(&new_oid, store, new_name, false,
					   &err);
	if (has_new > 0 && old_name)
		has_old = update_ref_value(&old_oid, store, old_name, true,
					   &err);
	if (has_new < 0 || has_old < 0)
		return builtin_fail(&err);
	if (!has_new)
		return builtin_die("%s: not a valid SHA1", new_name);
	if (!has_old)
		return builtin_die("%s: not a valid old SHA1", old_name);
	if (is_delete)
		return delete_one(args, argv[0], old_name ? &old_oid : NULL);
	return update_one(args, argv[0], &new_oid, old_name ? &old_oid : NULL);
}

int cmd_update_ref(int argc, const char **argv, struct builtin_env *env)
{
	struct update_ref_args args = {.message = NULL};
	bool is_delete = false, no_deref = false, nul = false,
	     from_stdin = false;
	bool create_reflog = false, batch = false;
	const struct option options[] = {
		{.kind = OPTION_STRING,
		 .short_name = 'm',
		 .string = &args.message,
		 .arg_name = "<reason>",
		 .help = "message for the reflog"},
		{.kind = OPTION_FLAG,
		 .short_name = 'd',
		 .flag = &is_delete,
		 .help = "delete the ref"},
		{.kind = OPTION_FLAG,
		 .long_name = "no-deref",
		 .flag = &no_deref,
		 .help = "change the named ref itself, even if it is symbolic"},
		{.kind = OPTION_FLAG,
		 .short_name = 'z',
		 .flag = &nul,
		 .help = "arguments end with NUL instead of a line feed"},
		{.kind = OPTION_FLAG,
		 .long_name = "stdin",
		 .flag = &from_stdin,
		 .help = "read commands from standard input"},
		{.kind = OPTION_FLAG,
		 .long_name = "create-reflog",
		 .flag = &create_reflog,
		 .help = "write a reflog even if configuration would not"},
		{.kind = OPTION_FLAG,
		 .short_name = '0',
		 .long_name = "batch-updates",
		 .flag = &batch,
		 .help = "go on after a refused update, and list the refused "
			 "ones"},
		{.kind = OPTION_END},
	};
	int nr = options_parse(argc, argv, options, usage);
	struct store store;
	int ret;

	if (nr < 0)
		return 129;
	if (args.message && !*args.message)
		return builtin_die("Refusing to perform update with empty "
				   "message.");
	if (batch && !from_stdin)
		return builtin_die("--batch-updates can only be used with "
				   "--stdin");
	if (from_stdin ? nr || is_delete
		       : nul || nr < 2 - is_delete || nr > 3 - is_delete)
		return options_usage(options, usage);
	if (nr && names_not_ours(argv + 2))
		return BUILTIN_NOT_OURS;
	ret = store_open(&store, env);
	if (ret)
		return ret;
	ret = store_fetch_missing(&store, env);
	if (ret)
		goto out;
	args.flags = (no_deref ? REF_NO_DEREF : 0) |
		     (create_reflog ? REF_FORCE_REFLOG : 0);
	ref_changer_init(&args.changer, &store);
	args.changer.keep_going = batch;
	ret = from_stdin ? update_ref_stdin(&args, nul)
			 : run_one(&args, argv + 1, nr, is_delete);
	ref_changer_release(&args.changer);
out:
	store_close(&store);
	return builtin_finish(ret);
}
