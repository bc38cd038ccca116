/* SPDX-License-Identifier: MIT */
/*
 * What a push asks for: the request of gitprotocol-pack(5), "Reference Update
 * Request and Packfile Transfer".
 *
 *	shallow <id>                       where the pusher's history ends
 *	<old> <new> <ref> NUL <caps>       the first command
 *	<old> <new> <ref>                  others; zero ids create and delete
 *	flush
 *	<option>, flush                    when "push-options" was asked for
 *
 * A signed push has its commands in a certificate, and none elsewhere:
 *
 *	push-cert NUL <caps>
 *	<line> ...                         the certificate: push-cert.h
 *	push-cert-end
 *	flush
 *
 *	30 30 36 37 | 37 64 31 36 ... 20 37 34 37 33 ... 20 | "refs/heads/x"
 *	 length        old id, space      new id, space     | ref
 *	00 20 72 65 70 6f 72 74 ...  NUL, capabilities, line feed
 *
 * A peer can make us hold commands_max commands, RECEIVE_OPTIONS_MAX options,
 * and RECEIVE_TEXT_MAX bytes of names, options and certificate. A command takes
 * about 150 bytes. A request with more commands is read to the end of its list,
 * so that the client can read the answer, and nothing of it is kept.
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

#define RECEIVE_COMMANDS_DEFAULT 600000 /* gitreach.maxPushCommands */
#define RECEIVE_COMMANDS_MAX (1u << 22)
#define RECEIVE_OPTIONS_MAX (1u << 22)
#define RECEIVE_TEXT_MAX ((size_t)256 << 20)

/* What a proc-receive hook did instead of a command. */
struct receive_rewrite {
	char *ref; /* owned; NULL: that of the command */
	bool has_old, has_new, is_forced;
	struct oid old_oid, new_oid;
};

struct receive_command {
	struct oid old_oid, new_oid;
	char *ref;       /* owned; unchecked, as the peer sent it */
	char *error;     /* owned: why it is refused; NULL: it is not */
	bool by_hook;    /* the proc-receive hook executes it */
	bool is_told;    /* ... and said what became of it */
	bool in_rewrite; /* its last rewrite may get more */
	bool is_alias;   /* of a ref that another command changes as well */
	bool is_void;    /* deletes what is not there */
	/* A work tree has its branch, and comes along. */
	bool updates_worktree;
	bool needs_cut; /* needs commits of `shallow` to stay without parents */
	struct receive_rewrite *rewrites; /* owned */
	size_t rewrite_nr, rewrite_alloc;
};

struct receive_request {
	enum hash_algo algo;
	/* What was advertised. */
	bool accept_atomic, accept_options, accept_cert;
	size_t commands_max;              /* more of them are refused */
	struct receive_command *commands; /* owned */
	size_t nr, alloc;
	struct oidset shallow;
	char **options; /* owned: push options */
	size_t option_nr, option_alloc;
	struct buf cert;  /* of a signed push, as it was signed */
	bool in_cert;     /* it has not come to its end */
	bool is_too_long; /* there are more than commands_max commands */
	size_t text_len;  /* bytes of refs, options and the certificate */
	/* Capabilities of the peer. */
	bool report, report_v2, sideband, quiet, atomic, has_options;
};

/* Set commands_max to RECEIVE_COMMANDS_DEFAULT, all else to nothing. */
void receive_request_init(struct receive_request *req, enum hash_algo algo);
void receive_request_release(struct receive_request *req);

/*
 * Take one line of the command list, of `len` bytes and a NUL, or of the
 * certificate; its end gives the commands in it. 0, ERR_PEER or ERR_NOMEM. What
 * Git's clients would never send is refused with Git's words.
 */
int receive_request_take(struct receive_request *req, const char *line,
			 size_t len, struct error *err);

/*
 * Read the whole request up to the pack. Returns 1 if it has commands, 0 if
 * nothing is asked for (a flush in place of the list), or a negative error:
 * ERR_PEER if the request is malformed or too large.
 */
int receive_request_read(struct receive_request *req, struct pktline_reader *in,
			 struct error *err);

/* Whether a command deletes its ref. */
static inline bool receive_is_delete(const struct receive_command *cmd)
{
	return oid_is_zero(&cmd->new_oid);
}

/* Whether a command is still to be executed. */
static inline bool receive_is_live(const struct receive_command *cmd)
{
	return !cmd->error;
}

/* Refuse a command, unless it is refused already. 0 or ERR_NOMEM. */
int receive_refuse(struct receive_command *cmd, const char *why);

/* Refuse all commands that are not refused yet. 0 or ERR_NOMEM. */
int receive_refuse_all(struct receive_request *req, const char *why);

/* Whether all commands delete: then there is no pack. */
bool receive_request_only_deletes(const struct receive_request *req);

#endif
