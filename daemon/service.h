/* SPDX-License-Identifier: MIT */
/*
 * The services of Git's own protocol: their names, and whether a server offers
 * them over git://.
 */
#ifndef DAEMON_SERVICE_H
#define DAEMON_SERVICE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "config/config.h"

enum service {
	SERVICE_UPLOAD_PACK,
	SERVICE_UPLOAD_ARCHIVE,
	SERVICE_RECEIVE_PACK,
	SERVICE_NR,
};

/*
 * Which services are offered over git://, as in git-daemon(1). The
 * configuration of a repository overrides is_enabled, unless is_fixed is set.
 */
struct service_rules {
	bool is_enabled[SERVICE_NR];
	bool is_fixed[SERVICE_NR];
};

/*
 * Only upload-pack is enabled. Repositories can override this for each service.
 */
#define SERVICE_RULES_INIT                                                     \
	{                                                                      \
		.is_enabled = { true, false, false }                           \
	}

/* Returns the service's name without "git-", a static string. */
const char *service_name(enum service service);

/* Finds a service by its name without "git-". Returns false if unknown. */
bool service_find(enum service *out, const char *name, size_t len);

/*
 * Returns 1 if a service is enabled for the repository with this configuration
 * (daemon.uploadpack, daemon.uploadarch, daemon.receivepack), 0 if not, or
 * ERR_INVALID if the value is no boolean.
 */
int service_is_enabled(const struct service_rules *rules, enum service service,
		       const struct config *config, struct error *err);

#endif
