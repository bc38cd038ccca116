/* SPDX-License-Identifier: MIT */
/*
 * The header field "traceparent" of the W3C recommendation "Trace Context". It
 * names the trace of which an HTTP request is a part.
 *
 *	00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
 *	version, trace, parent, flags
 */
#ifndef WIRE_TRACEPARENT_H
#define WIRE_TRACEPARENT_H

#include <stdbool.h>

/* Length in bytes of a valid "traceparent" field. */
#define TRACEPARENT_LEN 55

/*
 * Returns whether a text is a valid "traceparent" field. The digits must be
 * lower case, the version other than ff, and the trace and the parent other
 * than 0. Nothing may follow the flags. NULL is not valid.
 */
bool traceparent_is_valid(const char *text);

#endif
