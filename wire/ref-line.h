/* SPDX-License-Identifier: MIT */
/*
 * The line of a ref. All ref lists that a server sends use this line
 * (gitprotocol-pack(5), gitprotocol-v2(5)):
 *
 *	30 30 33 64  <40 or 64 digits>  20  refs/heads/main  [rest]  0a
 *
 * `rest` depends on the list: "^{}", " peeled:<id>", or a NUL and capabilities.
 */
#ifndef WIRE_REF_LINE_H
#define WIRE_REF_LINE_H

#include <stddef.h>

#include "base/error.h"
#include "object/oid.h"
#include "wire/pktline.h"

/*
 * Append the packet of one line, with `rest_len` bytes of `rest`. Servers call
 * this function more often than any other, so the line is formatted directly in
 * the writer's buffer. Returns as pktline_write().
 */
int ref_line_write(struct pktline_writer *w, enum hash_algo algo,
		   const struct oid *oid, const char *name, const void *rest,
		   size_t rest_len, struct error *err);

#endif
