/* SPDX-License-Identifier: MIT */
/*
 * The head of an HTTP/1.x request: the request line and the fields (RFC 9112).
 *
 *	POST /r.git/git-upload-pack HTTP/1.1 CR LF
 *	Host: git.example CR LF
 *	Content-Length: 6 CR LF
 *	CR LF
 *
 * The parser is strict. A request that two servers could read differently is
 * refused, so that a proxy in front and this server agree where each request
 * ends:
 *
 *	form                                                       status
 *	---------------------------------------------------------  ------
 *	CR or LF alone, folded line, NUL or other control byte     400
 *	white space before a colon, name that is not a token       400
 *	two lengths, a length that is not digits only              400
 *	a length and chunks, or chunks in HTTP/1.0                 400
 *	no Host in HTTP/1.1, two Hosts                             400
 *	a Host with a byte that no host or port may contain        400
 *	a target that is neither "/..." nor "http://host/..."      400
 *	a slash written as "%2f" in the path                       400
 *	a control byte in the path, as such or encoded ("%00")     400
 *	target longer than the limit                               414
 *	Expect other than "100-continue"                           417
 *	head longer than the limit, or with too many fields        431
 *	Transfer-Encoding other than "chunked"                     501
 *	version other than HTTP/1.0 and HTTP/1.1                   505
 *
 * One empty line before the request line is skipped. The functions do not
 * allocate memory, except for http1_head_path(), and make no system calls.
 */
#ifndef HTTP1_HEAD_H
#define HTTP1_HEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

/* the largest number of fields that http1_limits can allow */
#define HTTP1_FIELDS_MAX 64

struct http1_limits {
	/* maximum number of bytes of the head; at most UINT32_MAX */
	size_t head_len;
	size_t target_len; /* bytes of the target */
	size_t field_nr;   /* at most HTTP1_FIELDS_MAX */
};

/* A part of the head: bytes [off, off + len) of the input. */
struct http1_part {
	uint32_t off, len;
};

struct http1_field {
	struct http1_part name;
	/*
	 * the value of the field, without the white space before and after it
	 */
	struct http1_part value;
};

/* How the end of the request's body is found. */
enum http1_framing {
	HTTP1_NO_BODY,
	HTTP1_LENGTH, /* body_len bytes; may be 0 */
	HTTP1_CHUNKED,
};

struct http1_head {
	/* bytes parsed so far; if the head is complete, its length */
	size_t len;
	/*
	 * offset of the first byte that was not searched yet for the end of the
	 * current line
	 */
	size_t seen;
	/* the status to answer with, if the head is not valid; otherwise 0 */
	unsigned status;
	unsigned line_nr; /* lines parsed so far */
	struct http1_part method;
	/* the target as the client sent it */
	struct http1_part target;
	/* the part of the target before the first '?' and after the host */
	struct http1_part path;
	/* the part behind the first '?'; empty if there is none */
	struct http1_part query;
	unsigned minor; /* HTTP/1.<minor>: 0 or 1 */
	struct http1_field fields[HTTP1_FIELDS_MAX];
	size_t field_nr;
	enum http1_framing framing;
	/* number of bytes of the body; valid if framing is HTTP1_LENGTH */
	uint64_t body_len;
	/* The client allows further requests on the connection. */
	bool keep_alive;
	/* The client waits for "100 Continue" before it sends the body. */
	bool expects_continue;
};

/* Prepares *head for the first call of http1_head_parse(). */
void http1_head_init(struct http1_head *head);

/*
 * Parses the head at `bytes`. `len` is the number of all bytes that have
 * arrived, including those of earlier calls with this *head. The bytes may move
 * in memory between two calls. Bytes behind the head are not looked at. All
 * calls together take linear time.
 *
 * Returns 1 if the head is complete and valid; head->len is its length. Returns
 * 0 if more bytes are needed. Returns ERR_PEER if the head is not valid or
 * exceeds a limit; head->status is the status to answer with.
 */
int http1_head_parse(struct http1_head *head, const struct http1_limits *limits,
		     const char *bytes, size_t len);

/*
 * Returns the field with this name, compared without case, or NULL. If there
 * are several, returns the first. `bytes` are those of http1_head_parse().
 */
const struct http1_field *http1_head_field(const struct http1_head *head,
					   const char *bytes, const char *name);

/*
 * Appends the path to *out, with "%41" decoded to "A". The path of a valid head
 * begins with '/', and has no encoded slash, NUL or other control byte. Dot
 * segments and double slashes are not removed. Returns 0 or ERR_NOMEM.
 */
int http1_head_path(struct buf *out, const struct http1_head *head,
		    const char *bytes);

/*
 * Checks the result of the parser by another algorithm, for tests and fuzzing.
 * *head must be the complete, valid head that was parsed from `bytes`. Returns
 * whether both algorithms find the same in `bytes`: the parts of the first
 * line, the fields and the framing.
 */
bool http1_head_verify(const struct http1_head *head, const char *bytes);

#endif
