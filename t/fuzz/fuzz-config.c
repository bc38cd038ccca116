/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target for config/config-parse.c: any bytes are parsed as a
 * configuration file.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "config/config.h"
#include "t/fuzz/fuzz.h"

/*
 * Look up each parsed configuration entry by its key. The result must have the
 * same key.
 */
static void query(const struct config *config)
{
	for (size_t i = 0; i < config->nr; i++) {
		const char *key = config->entries[i].key;
		const struct config_entry *found = config_find(config, key);
		int64_t i64;
		uint64_t u64;
		bool flag;

		if (!found || strcmp(found->key, key))
			abort();
		config_bool(config, key, &flag, NULL);
		config_i64(config, key, &i64, NULL);
		config_u64(config, key, &u64, NULL);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct config config = CONFIG_INIT;
	struct error err = ERROR_INIT;
	int ret = config_parse(&config, (const char *)data, len, CONFIG_LOCAL,
			       NULL, NULL, &err);

	if ((ret < 0) != (err.code != 0))
		abort();
	query(&config);
	config_release(&config);
	return 0;
}
