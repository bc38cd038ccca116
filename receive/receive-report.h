/* SPDX-License-Identifier: MIT */
/*
 * What the pusher is told at the end (gitprotocol-pack(5), "Report Status"):
 *
 *	unpack ok                 or "unpack <what went wrong>"
 *	ok <ref>                  with report-status-v2 and rewrites, "option"
 *	ng <ref> <reason>         lines after it
 *	flush
 *
 * On a side band all of this is data of band 1.
 */
#ifndef RECEIVE_RECEIVE_REPORT_H
#define RECEIVE_RECEIVE_REPORT_H

#include "base/error.h"
#include "receive/receive.h"

/* `failure`: why there are no objects; NULL: they are there. 0 or negative. */
int receive_report(struct receive *r, const char *failure, struct error *err);

#endif
