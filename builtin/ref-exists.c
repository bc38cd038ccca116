/* SPDX-License-Identifier: MIT */
/* Whether a ref exists. */
#include <string.h>

#include "builtin/builtin.h"
#include "builtin/ref-exists.h"

int ref_exists(struct refs *refs, const char *name)
{
	struct ref ref;
	int ret = 0;

	if (refs_name_is_valid_len(name, strlen(name), true))
		ret = refs_read(refs, name, &ref, NULL);
	if (ret > 0)
		return 0;
	if (!ret) {
		builtin_error("reference does not exist");
		return 2;
	}
	builtin_error("failed to look up reference: Invalid argument");
	return 1;
}
