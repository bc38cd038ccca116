/* SPDX-License-Identifier: MIT */
/*
 * Reads a stream of HTTP/1.x requests as gitreachd does, and prints one line
 * for each request: the target and the number of bytes of the body. The last
 * line is "end" (also after a request that ends the connection), "more" if the
 * stream ends inside a request, or the HTTP status of the error.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "http1/body.h"
#include "http1/head.h"

static const struct http1_limits limits = {16384, 8192, 64};

/*
 * Returns the end of the request's body. If the body has no valid end, prints
 * the reason and returns NULL.
 */
static const char *skip_body(const struct http1_head *head, const char *p,
			     const char *end, size_t *total)
{
	struct http1_body body;
	struct http1_piece piece;
	int ret;

	http1_body_init(&body, head);
	for (*total = 0; !(ret = http1_body_next(&body, p, (size_t)(end - p),
						 &piece, NULL)) &&
			 p < end;
	     p += piece.off + piece.len)
		*total += piece.len;
	if (ret > 0)
		return p + piece.off;
	puts(ret < 0 ? "400" : "more");
	return NULL;
}

static const char *read_request(const char *p, const char *end)
{
	struct http1_head head;
	size_t total = 0;
	const char *next;
	int ret;

	http1_head_init(&head);
	ret = http1_head_parse(&head, &limits, p, (size_t)(end - p));
	if (ret < 0)
		printf("%u\n", head.status);
	else if (!ret)
		puts("more");
	if (ret <= 0)
		return NULL;
	next = skip_body(&head, p + head.len, end, &total);
	if (next)
		printf("%.*s %zu\n", (int)head.target.len, p + head.target.off,
		       total);
	return next && !head.keep_alive ? end : next;
}

int main(void)
{
	struct buf all = BUF_INIT;
	const char *p;
	size_t n;

	do {
		if (buf_reserve(&all, 65536) < 0)
			return 1;
		n = fread(all.data + all.len, 1, 65536, stdin);
		buf_set_len(&all, all.len + n);
	} while (n);
	for (p = all.data; p && p < all.data + all.len;)
		p = read_request(p, all.data + all.len);
	if (p)
		puts("end");
	buf_release(&all);
	return 0;
}
