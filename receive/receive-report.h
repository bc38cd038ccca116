/* SPDX-License-Identifier: MIT */
/*
 * The report at the end of a push (gitprotocol-pack(5), "Report Status"):
 *
 *	unpack ok                 or "unpack <reason>"
 *	ok <ref>                  "option" lines follow, if the client has
 *	                          report-status-v2 and there are rewrites
 *	ng <ref> <reason>
 *	flush
 *
 * With side bands, these packets are the data of band 1.
 */
#ifndef RECEIVE_RECEIVE_REPORT_H
#define RECEIVE_RECEIVE_REPORT_H

#include "base/error.h"
#include "receive/receive.h"

/*
 * Send the report if the client asked for one. `failure` is the reason why the
 * objects of the push were not stored, or NULL. Returns 0 or a negative error
 * code.
 */
int receive_report(struct receive *r, const char *failure, struct error *err);

#endif
