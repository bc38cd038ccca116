/* SPDX-License-Identifier: MIT */
/* Random bytes that nobody can guess. */
#ifndef SYS_SECRET_H
#define SYS_SECRET_H

#include <stddef.h>

#include "base/error.h"

/* Fills `out` with `len` random bytes, at most 256. Returns 0 or ERR_IO. */
int sys_secret(void *out, size_t len, struct error *err);

#endif
