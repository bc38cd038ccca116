/* SPDX-License-Identifier: MIT */
/*
 * The request of a push (gitprotocol-pack(5), "Reference Update Request and
 * Packfile Transfer").
 *
 *	shallow <id>                       shallow boundary of the client
 *	<old> <new> <ref> NUL <caps>       the first command
 *	<old> <new> <ref>                  each further command
 *	flush
 *	<option>, flush                    with the capability push-options
 *
 * A command whose <old> is the zero id creates the ref. A command whose <new>
 * is the zero id deletes the ref.
 *
 * A signed push has all its commands in a certificate:
 *
 *	push-cert NUL <caps>
 *	<line> ...                         see push-cert.h
 *	push-cert-end
 *	flush
 *
 *	30 30 36 37 | 37 64 31 36 ... 20 37 34 37 33 ... 20 | "refs/heads/x"
 *	 length        old id, space      new id, space     | ref
 *	00 20 72 65 70 6f 72 74 ...  NUL, capabilities, line feed
 *
 * Limits: commands_max commands, RECEIVE_OPTIONS_MAX options, and
 * RECEIVE_TEXT_MAX bytes of ref names, options and certificate together. A
 * command takes about 150 bytes of memory. If there are too many commands, the
 * list is read to its end but not stored: the client reads an answer only after
 * it has sent the whole list.
 */
#ifndef RECEIVE_RECEIVE_COMMANDS_H
#define RECEIVE_RECEIVE_COMMANDS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/error.h"
#include "object/oid.h"
#include "wire/oidset.h"
#include "wire/pktline.h"

/* The default of gitreach.maxPushCommands. */
#define RECEIVE_COMMANDS_DEFAULT 600000

/* The largest value of gitreach.maxPushCommands. */
#define RECEIVE_COMMANDS_MAX (1u << 22)

/* Maximum number of push options. */
#define RECEIVE_OPTIONS_MAX (1u << 22)

/* Maximum number of bytes of ref names, push options and certificate. */
#define RECEIVE_TEXT_MAX ((size_t)256 << 20)

/*
 * A ref update that a proc-receive hook made instead of the command. A field
 * that is not set has the value that the command has.
 */
struct receive_rewrite {
	char *ref; /* owned; NULL: not set */
	bool has_old, has_new, is_forced;
	struct oid old_oid, new_oid;
};

struct receive_command {
	struct oid old_oid, new_oid;
	/* owned: the name as the client sent it, not checked yet */
	char *ref;
	/* owned: why the command is refused; NULL: not refused */
	char *error;
	/* true: the proc-receive hook executes this command, not the server */
	bool by_hook;
	/* true: the proc-receive hook has reported a result for the command */
	bool is_told;
	/*
	 * true: further "option" lines of the hook's report belong to the last
	 * element of `rewrites`
	 */
	bool in_rewrite;
	/*
	 * true: the ref is a symbolic ref, and another command makes the same
	 * change to the target of the symbolic ref. So the command on the
	 * symbolic ref is not executed.
	 */
	bool is_alias;
	/* true: the command deletes a ref that does not exist */
	bool is_void;
	/*
	 * true: the command also updates the work tree that has the branch
	 * checked out
	 */
	bool updates_worktree;
	/*
	 * true: the new value is complete only with the shallow boundary of the
	 * client
	 */
	bool needs_shallow;
	struct receive_rewrite *rewrites; /* owned */
	size_t rewrite_nr, rewrite_alloc;
};

struct receive_request {
	enum hash_algo algo;
	/*
	 * Capabilities that the server has advertised: atomic, push-options,
	 * push-cert.
	 */
	bool accept_atomic, accept_options, accept_cert;
	size_t commands_max;              /* limit of `nr` */
	struct receive_command *commands; /* owned */
	size_t nr, alloc;
	/*
	 * owned: pointers to all commands, sorted by the names of the refs, for
	 * receive_request_find(); NULL: not made yet
	 */
	struct receive_command **by_ref;
	/* shallow boundary of the client */
	struct oidset shallow;
	char **options; /* owned: push options */
	size_t option_nr, option_alloc;
	/* the certificate of a signed push; empty: the push is not signed */
	struct buf cert;
	/* true: the end of the certificate was not read yet */
	bool in_cert;
	/* true: the client sent more than commands_max commands */
	bool is_too_long;
	/* number of bytes of all ref names, options and the certificate */
	size_t text_len;
	/* Capabilities that the client has chosen. */
	bool report, report_v2, sideband, quiet, atomic, has_options;
};

/*
 * Make an empty request whose maximum number of commands is
 * RECEIVE_COMMANDS_DEFAULT.
 */
void receive_request_init(struct receive_request *req, enum hash_algo algo);
void receive_request_release(struct receive_request *req);

/*
 * Add one line of the command list or of the push certificate to the request.
 * `line` has `len` bytes and a NUL after them. The last line of a certificate
 * adds the commands that the certificate lists. Returns 0, ERR_PEER if the line
 * is malformed or a limit is exceeded, or ERR_NOMEM. Messages are those of
 * stock Git.
 */
int receive_request_take(struct receive_request *req, const char *line,
			 size_t len, struct error *err);

/*
 * Read the whole request, up to the pack. Returns 1 if the request has
 * commands, 0 if the client sent only a flush packet, or a negative error code:
 * ERR_PEER if the request is malformed or too large.
 */
int receive_request_read(struct receive_request *req, struct pktline_reader *in,
			 struct error *err);

/* Returns true if a command deletes its ref. */
static inline bool receive_is_delete(const struct receive_command *cmd)
{
	return oid_is_zero(&cmd->new_oid);
}

/* Returns true if a command is not refused. */
static inline bool receive_is_live(const struct receive_command *cmd)
{
	return !cmd->error;
}

/*
 * Returns true if a command gives a new value to its ref, and is not refused.
 */
static inline bool receive_sets_value(const struct receive_command *cmd)
{
	return receive_is_live(cmd) && !receive_is_delete(cmd);
}

/*
 * Refuse a command with the reason `why`. If the command is refused already,
 * its first reason stays. Returns 0 or ERR_NOMEM.
 */
int receive_refuse(struct receive_command *cmd, const char *why);

/*
 * Refuse all commands with the reason `why`. Commands that are refused already
 * keep their reason. Returns 0 or ERR_NOMEM.
 */
int receive_refuse_all(struct receive_request *req, const char *why);

/*
 * Find the first command on a ref. Call this function only after the last
 * command was added. Returns 1 with *cmd set, 0 if there is no such command, or
 * ERR_NOMEM. Cost: the first call sorts the commands, and each call is a binary
 * search.
 */
int receive_request_find(struct receive_command **cmd,
			 struct receive_request *req, const char *ref);

/*
 * Returns true if all commands delete refs. In this case the client sends no
 * pack.
 */
bool receive_request_only_deletes(const struct receive_request *req);

#endif
