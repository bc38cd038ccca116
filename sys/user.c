/* SPDX-License-Identifier: MIT */
/* The password file and the name of the host. */
#include <ctype.h>
#include <pwd.h>
#include <string.h>
#include <unistd.h>

#include "sys/user.h"

#define HOST_MAX 256
#define ENTRY_BYTES 16384

static int append_login(struct buf *out, const char *login)
{
	size_t at = out->len;
	int ret = buf_append_str(out, login);

	if (!ret && out->len > at)
		out->data[at] = (char)toupper((unsigned char)out->data[at]);
	return ret;
}

static int append_full(struct buf *out, const struct passwd *entry)
{
	int ret = 0;

	for (const char *p = entry->pw_gecos; !ret && *p && *p != ','; p++)
		ret = *p == '&' ? append_login(out, entry->pw_name)
				: buf_append_char(out, *p);
	return ret;
}

int sys_user_name(struct buf *out, bool full, struct error *err)
{
	char bytes[ENTRY_BYTES];
	struct passwd entry, *found = NULL;

	if (getpwuid_r(getuid(), &entry, bytes, sizeof(bytes), &found) ||
	    !found)
		return error_set(err, ERR_MISSING,
				 "unable to look up current "
				 "user in the passwd file");
	if (full ? append_full(out, found)
		 : buf_append_str(out, found->pw_name))
		return error_nomem(err);
	return 0;
}

int sys_host_name(struct buf *out, struct error *err)
{
	char name[HOST_MAX + 1] = "";

	if (gethostname(name, HOST_MAX) < 0)
		return error_set_errno(err, "cannot get host name");
	return buf_append_str(out, name) ? error_nomem(err) : 0;
}
