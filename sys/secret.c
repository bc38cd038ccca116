/* SPDX-License-Identifier: MIT */
/* Random bytes from the kernel. */
#include <sys/random.h>

#include "sys/secret.h"

int sys_secret(void *out, size_t len, struct error *err)
{
	return getrandom(out, len, 0) == (ssize_t)len
		       ? 0
		       : error_set_errno(err, "cannot get random bytes");
}
