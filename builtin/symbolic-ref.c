/* SPDX-License-Identifier: MIT */
/* git symbolic-ref: reads, changes and deletes symbolic refs. */
#include <stdio.h>
#include <string.h>

#include "builtin/options.h"
#include "builtin/ref-change.h"
#include "builtin/ref-short.h"

static const char usage[] =
	"git symbolic-ref [-m <reason>] <name> <ref>\n"
	"git symbolic-ref [-q] [--short] [--no-recurse] <name>\n"
	"git symbolic-ref --delete [-q] <name>";

struct symbolic_ref {
	struct store store;
	bool quiet, short_name, recurse, is_delete;
	const char *message; /* NULL: none */
};

static int print_name(const struct symbolic_ref *s, const char *target)
{
	struct error err = ERROR_INIT;
	struct buf name = BUF_INIT;
	int ret;

	if (s->short_name)
		ret = ref_short_append_as(&name, &s->store, target, false,
					  &err);
	else
		ret = buf_append_str(&name, target) ? error_nomem(&err) : 0;
	if (!ret)
		printf("%s\n", name.data);
	buf_release(&name);
	return ret < 0 ? builtin_fail(&err) : 0;
}

static int show(const struct symbolic_ref *s, const char *name)
{
	struct error err = ERROR_INIT;
	struct buf target = BUF_INIT;
	struct ref ref;
	int ret = s->recurse ? refs_lookup(s->store.refs, name, &ref, &err)
			     : refs_read(s->store.refs, name, &ref, &err);

	if ((ret < 0 && !ref.is_zero) || ref.leads_nowhere ||
	    !refs_name_is_valid_len(name, strlen(name), true))
		return builtin_die("No such ref: %s", name);
	if (!ref.target)
		return s->quiet ? 1
				: builtin_die("ref %s is not a symbolic ref",
					      name);
	/*
	 * Copy the target: shortening it looks up other refs, and each look-up
	 * invalidates ref.target.
	 */
	if (buf_append_str(&target, ref.target) < 0)
		ret = builtin_die("out of memory");
	else
		ret = print_name(s, target.data);
	buf_release(&target);
	return ret;
}

/*
 * Changes the symbolic ref in a transaction. Prints errors. Returns the exit
 * code.
 */
static int change(struct symbolic_ref *s, const struct ref_change *change)
{
	struct error err = ERROR_INIT;
	struct ref_changer changer;
	struct ref_transaction *tx;
	int ret;

	ref_changer_init(&changer, &s->store);
	if (ref_changer_begin(&tx, &changer, &err) < 0) {
		ret = builtin_fail(&err);
		goto out;
	}
	ret = ref_transaction_add(tx, change, &err);
	if (!ret)
		ret = ref_transaction_commit(tx, &err);
	if (ret < 0 && changer.was_refused) {
		ret = builtin_fail(&err);
	} else if (ret < 0) {
		builtin_error("%s", err.msg);
		ret = 1;
	}
out:
	ref_transaction_free(tx);
	ref_changer_release(&changer);
	return ret;
}

static int remove_ref(struct symbolic_ref *s, const char *name)
{
	static const struct oid zero = OID_ZERO_INIT;
	struct ref_change deletion = {
		.name = name,
		.flags = REF_NO_DEREF,
		.new_oid = &zero,
	};
	struct ref ref;
	int ret = refs_read(s->store.refs, name, &ref, NULL);

	if ((ret < 0 && !ref.is_zero) ||
	    !refs_name_is_valid_len(name, strlen(name), true))
		return builtin_die("No such ref: %s", name);
	if (!ref.leads_nowhere && (ret <= 0 || !ref.target))
		return builtin_die("Cannot delete %s, not a symbolic ref",
				   name);
	if (!strcmp(name, "HEAD"))
		return builtin_die("deleting '%s' is not allowed", name);
	return change(s, &deletion);
}

static int set(struct symbolic_ref *s, const char *name, const char *target)
{
	struct ref_change update = {
		.name = name,
		.flags = REF_NO_DEREF,
		.new_target = target,
		.message = s->message,
	};

	if (!strcmp(name, "HEAD") && strncmp(target, "refs/", 5) != 0)
		return builtin_die("Refusing to point HEAD outside of refs/");
	if (!refs_name_is_valid_len(target, strlen(target), true))
		return builtin_die("Refusing to set '%s' to invalid ref '%s'",
				   name, target);
	return change(s, &update);
}

int cmd_symbolic_ref(int argc, const char **argv, struct builtin_env *env)
{
	struct symbolic_ref s = {.recurse = true};
	const struct option options[] = {
		{.kind = OPTION_FLAG,
		 .short_name = 'q',
		 .long_name = "quiet",
		 .flag = &s.quiet,
		 .help = "print no error if the ref is not symbolic"},
		{.kind = OPTION_FLAG,
		 .short_name = 'd',
		 .long_name = "delete",
		 .flag = &s.is_delete,
		 .help = "delete the symbolic ref itself"},
		{.kind = OPTION_FLAG,
		 .long_name = "short",
		 .flag = &s.short_name,
		 .help = "print the short name"},
		{.kind = OPTION_FLAG,
		 .long_name = "recurse",
		 .flag = &s.recurse,
		 .help = "follow a chain of symbolic refs (the default)"},
		{.kind = OPTION_STRING,
		 .short_name = 'm',
		 .string = &s.message,
		 .arg_name = "<reason>",
		 .help = "message for the reflog"},
		{.kind = OPTION_END},
	};
	int nr = options_parse(argc, argv, options, usage);
	int ret;

	if (nr < 0)
		return 129;
	if (s.message && !*s.message)
		return builtin_die("Refusing to perform update with empty "
				   "message");
	if (nr < 1 || nr > 2 - s.is_delete)
		return options_usage(options, usage);
	ret = store_open(&s.store, env);
	if (ret)
		return ret;
	if (s.is_delete)
		ret = remove_ref(&s, argv[1]);
	else if (nr == 1)
		ret = show(&s, argv[1]);
	else
		ret = set(&s, argv[1], argv[2]);
	store_close(&s.store);
	return builtin_finish(ret);
}
