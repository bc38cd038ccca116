/* SPDX-License-Identifier: MIT */
/*
 * libgitreach: the interface for other programs.
 *
 * Only what is declared here is exported by the shared library. Link with
 * `pkg-config --cflags --libs gitreach`.
 */
#ifndef GITREACH_H
#define GITREACH_H

#ifdef __cplusplus
extern "C" {
#endif

#define GITREACH_VERSION "0.1.0"

/* Marks what the shared library exports. */
#define GITREACH_API __attribute__((visibility("default")))

/*
 * The version of the library that is linked, which may differ from the
 * GITREACH_VERSION that was compiled against. A constant string.
 */
GITREACH_API const char *gitreach_version(void);

#ifdef __cplusplus
}
#endif

#endif
