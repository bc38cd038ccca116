/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target for the URL of an HTTP request: its path and, after a NUL, its
 * query string. If a path can be parsed, it must consist of the parsed parts. A
 * plain path must not contain "." or ".." as a component.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "http/http-request.h"
#include "t/fuzz/fuzz.h"

static void check_path(const char *path)
{
	struct buf around = BUF_INIT;
	struct http_url url;
	bool is_plain = http_path_is_plain(path);

	/*
	 * Check the path a second time in a slower way: add a slash at both
	 * ends, and search for "/./" and "/../". Both checks must agree.
	 */
	require(buf_printf(&around, "%s/", path) == 0);
	require(!is_plain ||
		(!strstr(around.data, "/../") && !strstr(around.data, "/./")));
	require(!is_plain || (!strstr(path, "//") && !http_path_climbs(path)));
	if (http_url_parse(&url, path))
		require(http_url_verify(&url, path));
	buf_release(&around);
}

static void check_query(const char *query)
{
	struct buf out = BUF_INIT;
	int ret = http_query_get(&out, query, "service");

	require(ret >= 0 && out.len <= strlen(query));
	require(strlen(out.data) == out.len);
	require(ret || !out.len);
	buf_release(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	char *path = mem_strndup((const char *)bytes, len);
	size_t path_len = path ? strlen(path) : 0;

	require(path != NULL);
	check_path(path);
	check_query(path_len < len ? path + path_len + 1 : path);
	free(path);
	return 0;
}
