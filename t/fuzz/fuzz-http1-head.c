/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target for the head of an HTTP/1.x request. The head is parsed as a
 * whole and byte by byte; both results must agree. http1_head_verify() must
 * accept each valid head. The path of a valid head must be plain text.
 */
#include <string.h>

#include "http1/head.h"
#include "t/fuzz/fuzz.h"

static const struct http1_limits limits = {16384, 8192, 64};

static int parse_slowly(struct http1_head *head, const char *bytes, size_t len)
{
	int ret = 0;

	http1_head_init(head);
	for (size_t n = 0; !ret && n <= len; n++)
		ret = http1_head_parse(head, &limits, bytes, n);
	return ret;
}

static void check_valid(const struct http1_head *head, const char *bytes)
{
	struct buf path = BUF_INIT;

	require(http1_head_verify(head, bytes));
	require(http1_head_path(&path, head, bytes) == 0);
	require(path.data[0] == '/' && strlen(path.data) == path.len);
	require(path.len <= head->path.len);
	require(!strpbrk(path.data, "\r\n\t"));
	require(!head->expects_continue || head->minor);
	buf_release(&path);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	struct http1_head head, slow;
	int ret, slow_ret;

	http1_head_init(&head);
	ret = http1_head_parse(&head, &limits, (const char *)bytes, len);
	slow_ret = parse_slowly(&slow, (const char *)bytes, len);
	require(ret == slow_ret && head.status == slow.status);
	require((ret < 0) == (head.status != 0));
	require(head.len <= len);
	if (ret <= 0)
		return 0;
	require(head.len == slow.len && head.field_nr == slow.field_nr);
	require(head.framing == slow.framing &&
		head.body_len == slow.body_len &&
		head.keep_alive == slow.keep_alive);
	check_valid(&head, (const char *)bytes);
	return 0;
}
