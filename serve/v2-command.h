/* SPDX-License-Identifier: MIT */
/*
 * The commands of protocol v2 (gitprotocol-v2(5)), which v2.c dispatches to,
 * and how they read their arguments.
 */
#ifndef SERVE_V2_COMMAND_H
#define SERVE_V2_COMMAND_H

#include <stdbool.h>

#include "base/error.h"
#include "serve/session.h"

/* ---- arguments: v2-args.c */

/* The arguments of a command, up to the flush packet behind them. */
struct v2_args {
	struct session *s;   /* borrowed: it reads them from s->in */
	const char *command; /* borrowed: its name, for messages */
	bool at_end; /* also from the start, when no arguments were sent */
};

/*
 * The next argument: 1 with *line (valid until the next call), 0 when there
 * are no more, or negative.
 */
int v2_args_next(struct v2_args *args, const char **line, struct error *err);

/* The error for an argument that is not known: ERR_PEER. */
int v2_args_unexpected(const char *line, struct error *err);

/* What follows "<word> " in an argument, or NULL. */
const char *v2_args_value(const char *line, const char *word);

/*
 * ---- commands
 *
 * Each reads its arguments to their end and writes its answer to s->out. They
 * return 0, or a negative error code: ERR_PEER if the client is wrong.
 */

/*
 * List the visible refs that are asked for, in the order of their names, HEAD
 * first. Only the ranges of refs that a ref-prefix names are looked at.
 */
int ls_refs_run(struct session *s, struct v2_args *args, struct error *err);

/*
 * Answer with acknowledgments, the pack, or both. A request without wants gets
 * no answer at all, as from stock Git, unless it says "wait-for-done" (git
 * fetch
 * --negotiate-only).
 */
int fetch_v2_run(struct session *s, struct v2_args *args, struct error *err);

/*
 * Tell the sizes of objects, in the order in which they were named, as often
 * as they were; of one that we do not have the size is empty. "size" is all
 * there is to ask. Without it the ids alone come back, as from stock Git
 * (since 2.55 at the latest; 2.39 tells sizes in any case).
 */
int object_info_run(struct session *s, struct v2_args *args, struct error *err);

/*
 * Tell the bundle.* keys of the configuration, each as "<key>=<value>". It
 * takes no arguments.
 */
int bundle_uri_run(struct session *s, struct v2_args *args, struct error *err);

#endif
