/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target for processes/settings.c and processes/sockets.c: any bytes are
 * parsed as a configuration file of the server. If the parser fails, it must
 * report an error. The values must be within their limits, also after an error.
 */
#include "processes/settings.h"
#include "t/fuzz/fuzz.h"

static void count(void *ctx, const char *line)
{
	require(line[0] != '\0');
	++*(size_t *)ctx;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	struct daemon_settings s;
	size_t errors = 0;
	const struct daemon_report report = {count, &errors};
	int ret;

	daemon_settings_init(&s);
	ret = daemon_settings_parse(&s, (const char *)bytes, len, "file",
				    &report);
	require((ret < 0) == (errors > 0));
	require(s.workers && s.workers <= 64);
	require(s.listen_nr <= DAEMON_LISTENERS_MAX);
	for (size_t i = 0; i < s.listen_nr; i++)
		require(s.listen[i].text && s.listen[i].line);
	/*
	 * Without a base path, daemon_settings_check() accesses no path that
	 * the input names.
	 */
	if (!s.base_path.text) {
		errors = 0;
		require(daemon_settings_check(&s, &report) < 0 && errors);
	}
	daemon_settings_release(&s);
	return 0;
}
