/* SPDX-License-Identifier: MIT */
/* Protocol v2 (gitprotocol-v2(5)): requests and their commands. */
#ifndef SERVE_V2_H
#define SERVE_V2_H

#include <stdbool.h>

#include "base/error.h"
#include "serve/session.h"

/*
 * Serve one request. Returns 1 when it was answered and another may follow, 0
 * when the client is done, or negative.
 */
int v2_serve(struct session *s, struct error *err);

/* The arguments of a command, up to the flush packet behind them. */
struct v2_args {
	struct session *s;
	const char *command;
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

#endif
