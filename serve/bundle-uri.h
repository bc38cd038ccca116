/* SPDX-License-Identifier: MIT */
/* The bundle-uri command of protocol v2. */
#ifndef SERVE_BUNDLE_URI_H
#define SERVE_BUNDLE_URI_H

#include "base/error.h"
#include "serve/v2.h"

/*
 * Tell the bundle.* keys of the configuration, each as "<key>=<value>". It
 * takes no arguments.
 */
int bundle_uri_run(struct session *s, struct v2_args *args, struct error *err);

#endif
