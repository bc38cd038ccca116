/* SPDX-License-Identifier: MIT */
/* The services of Git's own protocol. */
#include <string.h>

#include "daemon/service.h"

static const char *const names[SERVICE_NR] = {
	"upload-pack",
	"upload-archive",
	"receive-pack",
};

const char *service_name(enum service service)
{
	return names[service];
}

bool service_find(enum service *out, const char *name, size_t len)
{
	for (int i = 0; i < SERVICE_NR; i++)
		if (len == strlen(names[i]) && !memcmp(name, names[i], len)) {
			*out = (enum service)i;
			return true;
		}
	return false;
}

int service_is_enabled(const struct service_rules *rules, enum service service,
		       const struct config *config, struct error *err)
{
	bool is_enabled = rules->is_enabled[service];
	int ret = 0;

	if (rules->is_fixed[service])
		return is_enabled;
	switch (service) {
	case SERVICE_UPLOAD_PACK:
		ret = config_bool(config, "daemon.uploadpack", &is_enabled,
				  err);
		break;
	case SERVICE_UPLOAD_ARCHIVE:
		ret = config_bool(config, "daemon.uploadarch", &is_enabled,
				  err);
		break;
	default:
		ret = config_bool(config, "daemon.receivepack", &is_enabled,
				  err);
	}
	return ret < 0 ? ret : is_enabled;
}
