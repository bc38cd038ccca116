/* SPDX-License-Identifier: MIT */
/* Error records: formatting a message into a fixed buffer. */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"

/*
 * Formats into a temporary array first, because the old message in *err may be
 * one of the arguments.
 */
static size_t format_message(struct error *err, const char *fmt, va_list ap)
{
	char msg[ERROR_MESSAGE_MAX];
	int n = vsnprintf(msg, sizeof(msg), fmt, ap);
	size_t len = n < 0 ? 0 : (size_t)n;

	if (len >= sizeof(msg))
		len = sizeof(msg) - 1;
	memcpy(err->msg, msg, len);
	err->msg[len] = '\0';
	return len;
}

int error_set(struct error *err, enum error_code code, const char *fmt, ...)
{
	va_list ap;

	if (!err)
		return code;
	err->code = code;
	err->sys_errno = 0;
	va_start(ap, fmt);
	format_message(err, fmt, ap);
	va_end(ap);
	return code;
}

int error_set_errno(struct error *err, const char *fmt, ...)
{
	int saved = errno;
	size_t len;
	va_list ap;

	if (!err)
		return ERR_IO;
	err->code = ERR_IO;
	err->sys_errno = saved;
	va_start(ap, fmt);
	len = format_message(err, fmt, ap);
	va_end(ap);
	snprintf(err->msg + len, sizeof(err->msg) - len, ": %s",
		 strerror(saved));
	return ERR_IO;
}

int error_set_at(struct error *err, enum error_code code, const char *file,
		 uint64_t off, const char *fmt, ...)
{
	char detail[ERROR_MESSAGE_MAX / 2];
	va_list ap;

	if (!err)
		return code;
	va_start(ap, fmt);
	vsnprintf(detail, sizeof(detail), fmt, ap);
	va_end(ap);
	return error_set(err, code, "%s: %s at offset %" PRIu64, file, detail,
			 off);
}

int error_recode(struct error *err, enum error_code code)
{
	if (err)
		err->code = code;
	return code;
}

int error_nomem(struct error *err)
{
	return error_set(err, ERR_NOMEM, "out of memory");
}
