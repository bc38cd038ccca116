/* SPDX-License-Identifier: MIT */
/*
 * Parses core.sharedRepository, the permissions of files that this program
 * creates.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "repo/repo-internal.h"
#include "sys/share.h"

#define GROUP 0660U
#define EVERYBODY 0664U
/* permission bits that the owner must keep */
#define OWNER 0600U
#define READ_WRITE 0666U

static int parse_word(unsigned *share, const char *name, const char *value,
		      struct error *err)
{
	int yes = config_parse_bool(value);

	if (yes < 0)
		return error_set(err, ERR_INVALID,
				 "bad boolean config value '%s' for '%s'",
				 value, name);
	*share = yes ? SYS_SHARE(GROUP) : 0;
	return 0;
}

static int parse_bits(unsigned *share, unsigned long bits, struct error *err)
{
	switch (bits) {
	case 0:
		*share = 0;
		return 0;
	/* the value "1" stands for "group", as in configuration files */
	case 1:
		*share = SYS_SHARE(GROUP);
		return 0;
	case 2:
		*share = SYS_SHARE(EVERYBODY);
		return 0;
	}
	if ((bits & OWNER) != OWNER)
		return error_set(err, ERR_INVALID,
				 "problem with core.sharedRepository filemode "
				 "value (0%.3lo).\nThe mode has to let the "
				 "owner read and write (0600).",
				 bits);
	*share = SYS_SHARE_EXACT(bits & READ_WRITE);
	return 0;
}

int repo_share_parse(unsigned *share, const char *name, const char *value,
		     struct error *err)
{
	unsigned long bits;
	char *end;

	if (!value || !strcmp(value, "group")) {
		*share = SYS_SHARE(GROUP);
		return 0;
	}
	if (!strcmp(value, "umask")) {
		*share = 0;
		return 0;
	}
	if (!strcmp(value, "all") || !strcmp(value, "world") ||
	    !strcmp(value, "everybody")) {
		*share = SYS_SHARE(EVERYBODY);
		return 0;
	}
	bits = strtoul(value, &end, 8);
	return *end ? parse_word(share, name, value, err)
		    : parse_bits(share, bits, err);
}

int repo_share_load(unsigned *share, const struct config *config,
		    struct error *err)
{
	const struct config_entry *entry = config_find(config,
						       "core.sharedrepository");

	*share = 0;
	return entry ? repo_share_parse(share, "core.sharedrepository",
					entry->value, err)
		     : 0;
}

void repo_share_text(char text[REPO_SHARE_TEXT_LEN], unsigned share)
{
	if (share == SYS_SHARE(GROUP))
		snprintf(text, REPO_SHARE_TEXT_LEN, "1");
	else if (share == SYS_SHARE(EVERYBODY))
		snprintf(text, REPO_SHARE_TEXT_LEN, "2");
	else
		snprintf(text, REPO_SHARE_TEXT_LEN, "0%03o",
			 SYS_SHARE_BITS(share));
}
