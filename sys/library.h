/* SPDX-License-Identifier: MIT */
/*
 * Loads shared libraries only when they are needed, because linking a program
 * with a library makes each start of the program slower.
 */
#ifndef SYS_LIBRARY_H
#define SYS_LIBRARY_H

#include "base/error.h"

/*
 * Loads a library by its name, such as "libssl.so.3". NULL means the program
 * itself, with the libraries that it was linked with. Returns 0 with *out owned
 * by the caller, or ERR_MISSING.
 */
int sys_library_open(void **out, const char *name, struct error *err);
void sys_library_close(void *library);

/*
 * Finds a function of the library, or of a library that it needs. *out is a
 * pointer to the function. Returns 0 or ERR_MISSING.
 */
int sys_library_find(void *out, void *library, const char *name,
		     struct error *err);

#endif
