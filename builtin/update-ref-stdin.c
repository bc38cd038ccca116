/* SPDX-License-Identifier: MIT */
/*
 * The commands of `git update-ref --stdin`.
 *
 * Without -z, a command is a line. Its arguments are separated by single
 * spaces, and an argument that starts with a quote is a C string. With -z, the
 * first argument follows the command's name after a space, and every argument
 * ends in a NUL. Each command is carried out before the next one is read. The
 * output of each command is flushed, because the program at the other end may
 * wait for the answer.
 *
 * The first command opens a transaction. After `start`, the end of input does
 * not commit the transaction:
 *
 * OPEN -(start)-> STARTED -(prepare)-> PREPARED -(commit, abort)-> CLOSED
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/quote.h"
#include "builtin/input.h"
#include "builtin/ref-change.h"

enum session_state {
	SESSION_OPEN,
	SESSION_STARTED,
	SESSION_PREPARED,
	SESSION_CLOSED,
};

struct session {
	struct update_ref_args *args; /* borrowed */
	struct ref_transaction *tx;   /* owned */
	enum session_state state;
	bool nul;
	/*
	 * flags from the command "option", for the next command that changes a
	 * ref
	 */
	unsigned flags;
	/*
	 * reads standard input: with -z, one argument at a time, otherwise one
	 * line at a time
	 */
	struct stdin_lines in;
	/* points into in.line: the part of the line that is not parsed yet */
	const char *next;
	/* name of the command that is running, for messages */
	const char *verb;
	/* arguments of the command, unquoted */
	struct buf name, arg;
	/* exit code if an error occurred, otherwise 0 */
	int code;
};

/* Whether an argument of a command is given. */
enum arg_kind {
	ARG_NONE,  /* not given */
	ARG_EMPTY, /* given, and empty */
	ARG_GIVEN,
};

/*
 * Read a string in quotes, without its quotes and escapes, into *out. s->next
 * points to the first quote. Returns 0, or prints an error and returns the exit
 * code.
 */
static int take_quoted(struct session *s, struct buf *out)
{
	const char *start = s->next;
	int ret = quote_undo_c(out, start, &s->next);

	if (ret == ERR_NOMEM)
		return builtin_die("out of memory");
	if (ret < 0)
		return builtin_die("badly quoted argument: %s", start);
	if (*s->next && !isspace((unsigned char)*s->next))
		return builtin_die("unexpected character after quoted "
				   "argument: %s",
				   start);
	return 0;
}

/* Read a word that ends before white space, or a quoted string. */
static int take_word(struct session *s, struct buf *out)
{
	buf_reset(out);
	if (*s->next == '"')
		return take_quoted(s, out);
	while (*s->next && !isspace((unsigned char)*s->next))
		if (buf_append_char(out, *s->next++) < 0)
			return builtin_die("out of memory");
	return 0;
}

/* Read the first argument of a command, the name of a ref, into s->name. */
static int take_ref(struct session *s)
{
	int ret = 0;

	buf_reset(&s->name);
	if (!s->nul)
		ret = take_word(s, &s->name);
	else if (buf_append_str(&s->name, s->next) < 0)
		ret = builtin_die("out of memory");
	if (ret)
		return ret;
	if (!s->name.len)
		return builtin_die("%s: missing <ref>", s->verb);
	if (!refs_name_is_valid_len(s->name.data, s->name.len, true))
		return builtin_die("invalid ref format: %s", s->name.data);
	return 0;
}

static int cut_off(const struct session *s, const char *what)
{
	return builtin_die("%s %s: unexpected end of input when reading %s",
			   s->verb, s->name.data, what);
}

/*
 * With -z: read the next argument, up to its NUL, into s->arg. If the input has
 * ended and `what` is not NULL, prints an error in which `what` names the
 * argument. If the input has ended and `what` is NULL, the argument is empty.
 * Returns 0 or the exit code.
 */
static int next_argument(struct session *s, const char *what)
{
	struct error err = ERROR_INIT;
	int ret = stdin_lines_next(&s->in, &err);

	if (!ret)
		return what ? cut_off(s, what) : 0;
	if (ret > 0 && buf_append_str(&s->arg, s->in.line) < 0)
		ret = error_nomem(&err);
	return ret < 0 ? builtin_fail(&err) : 0;
}

/*
 * Read the next argument of a line into s->arg, and set *kind. If the line has
 * no more arguments, *kind is ARG_NONE.
 *
 * With -z: if the input has ended, prints an error, in which `what` names the
 * argument. If `what` is NULL, the end of input counts as an empty argument.
 * Returns 0 or the exit code.
 */
static int take_arg(struct session *s, const char *what, enum arg_kind *kind)
{
	int ret = 0;

	*kind = ARG_NONE;
	buf_reset(&s->arg);
	if (s->nul) {
		ret = next_argument(s, what);
		if (ret)
			return ret;
	} else {
		if (!*s->next && !s->in.ended)
			return cut_off(s, what ? what : "an argument");
		if (!*s->next)
			return 0;
		if (*s->next != ' ')
			return builtin_die("%s %s: expected SP but got: %s",
					   s->verb, s->name.data, s->next);
		s->next++;
		ret = take_word(s, &s->arg);
	}
	*kind = s->arg.len ? ARG_GIVEN : ARG_EMPTY;
	return ret;
}

int update_ref_value(struct oid *out, const struct store *store,
		     const char *name, bool may_be_empty, struct error *err)
{
	size_t len = strlen(name);
	int ret;

	memset(out, 0, sizeof(*out));
	if (!len)
		return may_be_empty;
	/*
	 * A full id is accepted here without a check. The transaction checks
	 * later that the object exists.
	 */
	if (len == hash_hex_len(store->odb->algo) &&
	    oid_from_hex(out, name, len, store->odb->algo))
		return 1;
	ret = store_resolve(store, out, name, err);
	if (ret == ERR_IO || ret == ERR_CORRUPT || ret == ERR_NOMEM)
		return ret;
	/*
	 * If *out is zero here, the user has given the name of a broken ref,
	 * whose value is the zero id. This zero must not be used: as a new
	 * value, the zero id would delete a ref. To delete a ref, a user gives
	 * the zero id itself, which was accepted above. So the name of a broken
	 * ref counts as unresolved.
	 */
	return ret >= 0 && !oid_is_zero(out);
}

/*
 * Parse s->arg, the new or old value of a ref, into *oid. `what` names the
 * argument in messages. Returns 0, or prints an error and returns 128.
 */
static int parse_value(struct session *s, const char *what, struct oid *oid)
{
	struct error err = ERROR_INIT;
	int ret = update_ref_value(oid, s->args->changer.store, s->arg.data,
				   true, &err);

	if (ret < 0)
		return builtin_fail(&err);
	if (!ret)
		return builtin_die("%s %s: invalid %s: %s", s->verb,
				   s->name.data, what, s->arg.data);
	return 0;
}

/*
 * Read an argument that is a value. With -z, an empty argument counts as
 * missing.
 */
static int take_value(struct session *s, const char *what, struct oid *oid,
		      enum arg_kind *kind)
{
	int ret = take_arg(s, what, kind);

	if (ret)
		return ret;
	memset(oid, 0, sizeof(*oid));
	if (*kind == ARG_EMPTY && s->nul)
		*kind = ARG_NONE;
	return *kind == ARG_GIVEN ? parse_value(s, what, oid) : 0;
}

static int missing(const struct session *s, const char *what)
{
	return builtin_die("%s %s: missing %s", s->verb, s->name.data, what);
}

/* Check that the line has no more arguments and ends in a newline. */
static int take_end(struct session *s)
{
	if (s->nul || (!*s->next && s->in.ended))
		return 0;
	return builtin_die("%s %s: extra input: %s", s->verb, s->name.data,
			   s->next);
}

/*
 * With --batch-updates: print a change that was refused, and the reason. A
 * value is NULL if it is not given.
 */
static void print_refused(const struct session *s, const char *name,
			  const struct oid *new_oid, const struct oid *old_oid,
			  enum ref_result result)
{
	const struct oid *const oids[] = {new_oid, old_oid};
	char hex[OID_MAX_HEX_LEN + 1];

	printf("rejected %s", name);
	for (size_t i = 0; i < ARRAY_NR(oids); i++)
		printf(" %s",
		       oids[i] ? oid_to_hex(hex, oids[i],
					    s->args->changer.store->odb->algo)
			       : "(null)");
	printf(" %s\n", ref_result_reason(result));
}

/*
 * Adds a change to the transaction. If the change is refused, prints its
 * values. For the command "create", no old value is printed.
 */
static int add(struct session *s, struct ref_change *change)
{
	struct error err = ERROR_INIT;
	int ret;

	change->name = s->name.data;
	change->flags = s->flags;
	change->message = s->args->message;
	s->flags = s->args->flags;
	ret = ref_transaction_add(s->tx, change, &err);
	if (ret > 0) {
		builtin_error("%s", err.msg);
		print_refused(s, change->name, change->new_oid,
			      strcmp(s->verb, "create") ? change->old_oid
							: NULL,
			      REF_BAD_VALUE);
	}
	return ret < 0 ? builtin_fail(&err) : 0;
}

static int do_update(struct session *s)
{
	struct oid new_oid, old_oid;
	enum arg_kind new_kind, old_kind;
	struct ref_change change = {.new_oid = &new_oid};
	int ret = take_value(s, "<new-oid>", &new_oid, &new_kind);

	if (ret)
		return ret;
	if (new_kind == ARG_NONE && !s->nul)
		return missing(s, "<new-oid>");
	if (new_kind == ARG_NONE)
		builtin_warn("%s %s: missing <new-oid>, treating as zero",
			     s->verb, s->name.data);
	ret = take_value(s, "<old-oid>", &old_oid, &old_kind);
	if (!ret)
		ret = take_end(s);
	if (ret)
		return ret;
	change.old_oid = old_kind == ARG_NONE ? NULL : &old_oid;
	return add(s, &change);
}

static int do_create(struct session *s)
{
	static const struct oid zero = OID_ZERO_INIT;
	struct oid new_oid;
	enum arg_kind kind;
	struct ref_change change = {.new_oid = &new_oid, .old_oid = &zero};
	int ret = take_value(s, "<new-oid>", &new_oid, &kind);

	if (ret)
		return ret;
	if (kind == ARG_NONE)
		return missing(s, "<new-oid>");
	if (oid_is_zero(&new_oid))
		return builtin_die("%s %s: zero <new-oid>", s->verb,
				   s->name.data);
	ret = take_end(s);
	return ret ? ret : add(s, &change);
}

static int do_delete(struct session *s)
{
	static const struct oid zero = OID_ZERO_INIT;
	struct oid old_oid;
	enum arg_kind kind;
	struct ref_change change = {.new_oid = &zero};
	int ret = take_value(s, "<old-oid>", &old_oid, &kind);

	if (ret)
		return ret;
	if (kind != ARG_NONE && oid_is_zero(&old_oid))
		return builtin_die("%s %s: zero <old-oid>", s->verb,
				   s->name.data);
	ret = take_end(s);
	change.old_oid = kind == ARG_NONE ? NULL : &old_oid;
	return ret ? ret : add(s, &change);
}

static int do_verify(struct session *s)
{
	struct oid old_oid;
	enum arg_kind kind;
	struct ref_change change = {.old_oid = &old_oid};
	int ret = take_value(s, "<old-oid>", &old_oid, &kind);

	if (!ret)
		ret = take_end(s);
	return ret ? ret : add(s, &change);
}

/*
 * Read the target of a symbolic ref. *out is owned by the caller. It is NULL if
 * the argument is empty or missing.
 */
static int take_target(struct session *s, char **out)
{
	enum arg_kind kind;
	int ret = take_arg(s, NULL, &kind);

	*out = NULL;
	if (ret || kind != ARG_GIVEN)
		return ret;
	if (!refs_name_is_valid_len(s->arg.data, s->arg.len, true))
		return builtin_die("invalid ref format: %s", s->arg.data);
	*out = mem_strdup(s->arg.data);
	return *out ? 0 : builtin_die("out of memory");
}

static int do_symref_create(struct session *s)
{
	static const struct oid zero = OID_ZERO_INIT;
	struct ref_change change = {.old_oid = &zero};
	char *target;
	int ret = take_target(s, &target);

	if (!ret && !target)
		ret = missing(s, "<new-target>");
	if (!ret)
		ret = take_end(s);
	change.new_target = target;
	if (!ret)
		ret = add(s, &change);
	free(target);
	return ret;
}

/*
 * Parse s->arg as the old value of a ref. `kind` is "oid" if the value is an
 * id, or "ref" if it is the target of a symbolic ref.
 */
static int parse_old(struct session *s, const char *kind,
		     struct ref_change *change, char **target, struct oid *oid)
{
	if (!strcmp(kind, "oid")) {
		change->old_oid = oid;
		return parse_value(s, "oid", oid);
	}
	if (strcmp(kind, "ref") != 0)
		return builtin_die("%s %s: invalid arg '%s' for old value",
				   s->verb, s->name.data, kind);
	if (!refs_name_is_valid_len(s->arg.data, s->arg.len, true))
		return builtin_die("%s %s: invalid ref: %s", s->verb,
				   s->name.data, s->arg.data);
	*target = mem_strdup(s->arg.data);
	change->old_target = *target;
	return *target ? 0 : builtin_die("out of memory");
}

/*
 * Read the optional old value of a ref: "ref SP <old-target>" or "oid SP
 * <old-oid>". With -z, these are two arguments. If the first of them is empty,
 * there is no old value, and the second is ignored, as in stock Git. If the
 * line or the input ends here, there is no old value.
 */
static int take_old(struct session *s, struct ref_change *change, char **target,
		    struct oid *oid)
{
	enum arg_kind kind_given, given;
	char *kind;
	int ret;

	if (!s->nul && !*s->next)
		return 0;
	ret = take_arg(s, NULL, &kind_given);
	if (ret || (kind_given != ARG_GIVEN && !s->nul))
		return ret;
	kind = mem_strdup(s->arg.data ? s->arg.data : "");
	if (!kind)
		return builtin_die("out of memory");
	ret = take_arg(s, NULL, &given);
	if (!ret && kind_given == ARG_GIVEN && given != ARG_GIVEN)
		ret = builtin_die("%s %s: expected old value", s->verb,
				  s->name.data);
	if (!ret && kind_given == ARG_GIVEN)
		ret = parse_old(s, kind, change, target, oid);
	free(kind);
	return ret;
}

static int do_symref_update(struct session *s)
{
	struct ref_change change = {.name = NULL};
	char *target, *old_target = NULL;
	struct oid old_oid;
	int ret = take_target(s, &target);

	if (!ret && !target)
		ret = missing(s, "<new-target>");
	if (!ret)
		ret = take_old(s, &change, &old_target, &old_oid);
	if (!ret)
		ret = take_end(s);
	change.new_target = target;
	if (!ret)
		ret = add(s, &change);
	free(target);
	free(old_target);
	return ret;
}

/*
 * Read the argument of symref-delete or symref-verify: the target that the
 * symbolic ref must have. `new_oid`: the zero id for symref-delete, NULL for
 * symref-verify.
 */
static int expect_target(struct session *s, const struct oid *new_oid)
{
	static const struct oid zero = OID_ZERO_INIT;
	struct ref_change change = {.new_oid = new_oid};
	char *target = NULL;
	int ret;

	ret = take_target(s, &target);
	if (!ret)
		ret = take_end(s);
	change.old_target = target;
	if (!target && !new_oid)
		change.old_oid = &zero;
	if (!ret)
		ret = add(s, &change);
	free(target);
	return ret;
}

static int do_symref_delete(struct session *s)
{
	static const struct oid zero = OID_ZERO_INIT;

	return expect_target(s, &zero);
}

static int do_symref_verify(struct session *s)
{
	return expect_target(s, NULL);
}

static int do_option(struct session *s)
{
	if (strcmp(s->next, "no-deref") != 0 || !(s->nul || s->in.ended))
		return builtin_die("option unknown: %s", s->next);
	s->flags |= REF_NO_DEREF;
	return 0;
}

static int report(const char *what)
{
	printf("%s: ok\n", what);
	return fflush(stdout) ? builtin_die("write failure on stdout") : 0;
}

static int begin(struct session *s)
{
	struct error err = ERROR_INIT;

	if (ref_changer_begin(&s->tx, &s->args->changer, &err) < 0)
		return builtin_fail(&err);
	s->state = SESSION_OPEN;
	return 0;
}

static int do_start(struct session *s)
{
	int ret = 0;

	if (s->state == SESSION_CLOSED)
		ret = begin(s);
	s->state = SESSION_STARTED;
	return ret ? ret : report("start");
}

static int do_prepare(struct session *s)
{
	struct error err = ERROR_INIT;

	if (ref_transaction_prepare(s->tx, &err) < 0)
		return ref_changer_fail(&s->args->changer, "prepare: ", &err);
	s->state = SESSION_PREPARED;
	return report("prepare");
}

/*
 * With --batch-updates: print the queued changes that were refused, and the
 * reasons. As in stock Git, a value that is the target of a symbolic ref is
 * printed as the zero id.
 */
static void print_rejected(const struct session *s)
{
	for (size_t i = 0; i < ref_transaction_nr(s->tx); i++) {
		const struct ref_update *u = ref_transaction_get(s->tx, i);
		bool has_new = u->new_target || u->has_new;
		bool has_old = u->old_target || u->has_old;

		if (u->result == REF_OK)
			continue;
		builtin_error("%s", u->error);
		print_refused(s, u->reached ? u->reached : u->name,
			      has_new ? &u->new_oid : NULL,
			      has_old ? &u->old_oid : NULL, u->result);
	}
}

static int close_session(struct session *s)
{
	ref_transaction_free(s->tx);
	s->tx = NULL;
	s->state = SESSION_CLOSED;
	return 0;
}

/*
 * Commit the transaction. `who` is the start of an error message, such as
 * "commit: ". Returns 0, or prints an error and returns the exit code.
 */
static int commit(struct session *s, const char *who)
{
	struct error err = ERROR_INIT;

	if (ref_transaction_commit(s->tx, &err) < 0)
		return ref_changer_fail(&s->args->changer, who, &err);
	print_rejected(s);
	return close_session(s);
}

static int do_commit(struct session *s)
{
	int ret = commit(s, "commit: ");

	return ret ? ret : report("commit");
}

static int abort_silently(struct session *s)
{
	struct error err = ERROR_INIT;

	if (ref_transaction_abort(s->tx, &err) < 0)
		return builtin_die("abort: %s", err.msg);
	return close_session(s);
}

static int do_abort(struct session *s)
{
	int ret = abort_silently(s);

	return ret ? ret : report("abort");
}

static const struct command {
	const char *name;
	bool has_args;
	/* true: the first argument of the command is the name of a ref */
	bool has_ref;
	int (*run)(struct session *s);
} commands[] = {
	{"update", true, true, do_update},
	{"create", true, true, do_create},
	{"delete", true, true, do_delete},
	{"verify", true, true, do_verify},
	{"symref-update", true, true, do_symref_update},
	{"symref-create", true, true, do_symref_create},
	{"symref-delete", true, true, do_symref_delete},
	{"symref-verify", true, true, do_symref_verify},
	{"option", true, false, do_option},
	{"start", false, false, do_start},
	{"prepare", false, false, do_prepare},
	{"abort", false, false, do_abort},
	{"commit", false, false, do_commit},
};

static const struct command *find_command(const char *line)
{
	for (size_t i = 0; i < ARRAY_NR(commands); i++) {
		size_t len = strlen(commands[i].name);

		if (!strncmp(line, commands[i].name, len) &&
		    line[len] == (commands[i].has_args ? ' ' : '\0'))
			return &commands[i];
	}
	return NULL;
}

/*
 * Check that a command is allowed in the present state of the transaction (see
 * the comment at the top of this file). Returns 0, or prints an error and
 * returns the exit code.
 */
static int check_state(const struct session *s, const struct command *command)
{
	bool ends = command->run == do_commit || command->run == do_abort;
	bool starts = command->run == do_start;

	if (s->state == SESSION_STARTED && starts)
		return builtin_die("cannot restart ongoing transaction");
	if (s->state == SESSION_PREPARED && !ends)
		return builtin_die("prepared transactions can only be closed");
	if (s->state == SESSION_CLOSED && !starts)
		return builtin_die("transaction is closed");
	return 0;
}

static int run_command(struct session *s)
{
	const char *line = s->in.line;
	const struct command *command;
	int ret;

	if (!*line)
		return builtin_die("empty command in input");
	if (isspace((unsigned char)*line))
		return builtin_die("whitespace before command: %s", line);
	command = find_command(line);
	if (!command || !(s->nul || s->in.ended || command->has_args))
		return builtin_die("unknown command: %s", line);
	ret = check_state(s, command);
	if (ret)
		return ret;
	s->verb = command->name;
	s->next = line + strlen(command->name) + command->has_args;
	if ((command->run == do_symref_delete ||
	     command->run == do_symref_verify) &&
	    !(s->flags & REF_NO_DEREF))
		return builtin_die("%s: cannot operate with deref mode",
				   s->verb);
	ret = command->has_ref ? take_ref(s) : 0;
	return ret ? ret : command->run(s);
}

int update_ref_stdin(struct update_ref_args *args, bool nul)
{
	struct session s = {
		.args = args,
		.nul = nul,
		.flags = args->flags,
		.in = STDIN_LINES_INIT,
		.name = BUF_INIT,
		.arg = BUF_INIT,
	};
	struct error err = ERROR_INIT;
	int more = 0, ret = begin(&s);

	if (nul)
		s.in.end = '\0';
	while (!ret && (more = stdin_lines_next(&s.in, &err)) > 0)
		ret = run_command(&s);
	if (more < 0)
		ret = builtin_fail(&err);
	if (!ret && s.state == SESSION_OPEN)
		ret = commit(&s, "");
	else if (!ret && s.state == SESSION_STARTED)
		ret = abort_silently(&s);
	ref_transaction_free(s.tx);
	stdin_lines_release(&s.in);
	buf_release(&s.name);
	buf_release(&s.arg);
	return ret;
}
