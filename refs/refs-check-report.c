/* SPDX-License-Identifier: MIT */
/*
 * Reports errors in stored refs, and contains the rules that apply to any kind
 * of storage.
 */
#include <stdarg.h>
#include <string.h>

#include "base/affix.h"
#include "base/buf.h"
#include "object/refs-name.h"
#include "refs/refs-check.h"

int refs_check_complain(struct refs_check *c, const char *where,
			enum fsck_msg msg, struct error *err, const char *fmt,
			...)
{
	enum fsck_severity severity = c->rules->severity[msg];
	struct buf text = BUF_INIT;
	va_list ap;
	int ret;

	if (severity == FSCK_IGNORE)
		return 0;
	va_start(ap, fmt);
	ret = buf_vprintf(&text, fmt, ap);
	va_end(ap);
	if (!ret) {
		struct refs_report report = {
			.msg = msg,
			.is_error = severity >= FSCK_ERROR,
			.where = where,
			.text = text.data,
		};

		c->failed |= report.is_error;
		c->report(c->ctx, &report);
	}
	buf_release(&text);
	return ret < 0 ? error_nomem(err) : 0;
}

int refs_check_target(struct refs_check *c, const char *name,
		      const char *target, struct error *err)
{
	if (refs_name_is_head(name) && !starts_with(target, "refs/heads/"))
		return refs_check_complain(c, name, FSCK_BAD_HEAD_TARGET, err,
					   "HEAD points to non-branch '%s'",
					   target);
	if (refs_name_is_root(target))
		return 0;
	if (!refs_name_is_valid(target)) {
		bool failed = c->failed;
		int ret;

		c->failed = false;
		ret = refs_check_complain(c, name, FSCK_BAD_REFERENT_NAME, err,
					  "points to invalid refname '%s'",
					  target);
		if (ret || c->failed)
			return ret;
		c->failed = failed;
	}
	if (starts_with(target, "refs/") || starts_with(target, "worktrees/"))
		return 0;
	return refs_check_complain(c, name, FSCK_SYMREF_TARGET_IS_NOT_A_REF,
				   err, "points to non-ref target '%s'",
				   target);
}
