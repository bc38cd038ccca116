/* SPDX-License-Identifier: MIT */
/*
 * The commands of protocol v2 (gitprotocol-v2(5)) and the reader of their
 * arguments. serve/v2.c calls the commands.
 */
#ifndef SERVE_V2_COMMAND_H
#define SERVE_V2_COMMAND_H

#include <stdbool.h>

#include "base/error.h"
#include "serve/session.h"

/* ---- v2-args.c: the arguments of a command */

/* The arguments of a command, up to the next flush packet. */
struct v2_args {
	/* borrowed; arguments are read from s->in */
	struct session *s;
	/* borrowed; the command's name, for messages */
	const char *command;
	/*
	 * whether there are no more arguments; the caller sets this field at
	 * the start if the request has none
	 */
	bool at_end;
};

/*
 * Reads the next argument. Returns 1 with *line set (valid until the next
 * call), 0 if there are no more, or a negative error code.
 */
int v2_args_next(struct v2_args *args, const char **line, struct error *err);

/*
 * Sets the error message for an argument that the command does not know.
 * Returns ERR_PEER.
 */
int v2_args_unexpected(const char *line, struct error *err);

/*
 * ---- commands
 *
 * Each command reads its arguments to the end and writes its answer to s->out.
 * Each returns 0, ERR_PEER if the client's request is wrong, or another
 * negative error code.
 */

/*
 * ls-refs: lists the visible refs that the client asked for. HEAD comes first,
 * and the other refs are sorted by name. Cost: one pass over the refs with the
 * client's prefixes.
 */
int ls_refs_run(struct session *s, struct v2_args *args, struct error *err);

/*
 * fetch: answers with acknowledgments, with the pack, or with both. As in stock
 * Git, a request without wants gets no answer, except with "wait-for-done",
 * which `git fetch --negotiate-only` sends.
 */
int fetch_v2_run(struct session *s, struct v2_args *args, struct error *err);

/*
 * object-info: writes one line "<id> <size>" for each id in the request, in the
 * same order. The size is in bytes, and empty for a missing object. Without the
 * argument "size" the line has only the id, as in stock Git 2.55 (2.39 always
 * writes sizes).
 */
int v2_object_info_run(struct session *s, struct v2_args *args,
		       struct error *err);

/*
 * bundle-uri: writes each bundle.* key of the configuration that has a value,
 * as "<key>=<value>". If there is none, writes the list of published bundles.
 * The command takes no arguments.
 */
int v2_bundle_uri_run(struct session *s, struct v2_args *args,
		      struct error *err);

#endif
