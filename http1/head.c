/* SPDX-License-Identifier: MIT */
/*
 * Parses the head of a request line by line. After the last line, the fields
 * that decide about the connection are read.
 */
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "base/quote.h"
#include "http1/head.h"

/* ---- bytes */

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_alnum(char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/*
 * Returns whether a byte may be in a method or a field's name (RFC 9110,
 * 5.6.2).
 */
static bool is_token(char c)
{
	return is_alnum(c) || (c && strchr("!#$%&'*+-.^_`|~", c));
}

static bool is_control(char c)
{
	return (unsigned char)c < ' ' || c == 0x7f;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* Returns whether a byte may be in a host and port (RFC 3986, 3.2.2). */
static bool is_host(char c)
{
	return is_alnum(c) || (c && strchr("-._~%!$&'()*+,;=:[]", c));
}

/* ---- parts */

static struct http1_part part(size_t off, size_t end)
{
	return (struct http1_part){(uint32_t)off, (uint32_t)(end - off)};
}

/*
 * Returns the offset of the first byte in [off, end) for which `is` is false,
 * or `end`.
 */
static size_t span(const char *bytes, size_t off, size_t end,
		   bool (*is)(char c))
{
	while (off < end && is(bytes[off]))
		off++;
	return off;
}

/* Returns whether a part is `text`; the case is ignored. */
static bool equals(const char *bytes, struct http1_part p, const char *text)
{
	return p.len == strlen(text) &&
	       !strncasecmp(bytes + p.off, text, p.len);
}

static int refuse(struct http1_head *head, unsigned status)
{
	head->status = status;
	return ERR_PEER;
}

/* ---- the request line */

/*
 * Returns the length of "http://<host>" or "https://<host>" at the front of a
 * target, or 0 if the target has no host.
 */
static size_t origin_len(const char *bytes, size_t off, size_t end)
{
	static const char *const schemes[] = {"http://", "https://"};

	for (size_t i = 0; i < 2; i++) {
		size_t len = strlen(schemes[i]), host;

		if (end - off < len ||
		    strncasecmp(bytes + off, schemes[i], len))
			continue;
		host = span(bytes, off + len, end, is_host);
		return host > off + len ? host - off : 0;
	}
	return 0;
}

/*
 * Returns the decoded byte at `off`, or -1 if the encoding is not valid.
 * Reading beyond the end of the target is harmless: a blank follows, which is
 * no hexadecimal digit.
 */
static int decode(const char *bytes, size_t off)
{
	return bytes[off] == '%' ? quote_percent_byte(bytes + off)
				 : (unsigned char)bytes[off];
}

/*
 * Returns whether all bytes of the path are valid. An encoded slash ("%2f") is
 * refused. A proxy in front may treat "a%2fb" as one component of the path,
 * while this server would see the two components "a" and "b". A rule of the
 * proxy for "a/b" would then not be applied.
 */
static bool is_path(const char *bytes, size_t off, size_t end)
{
	while (off < end) {
		int byte = decode(bytes, off);
		bool is_encoded = bytes[off] == '%';

		if (byte < 0 || is_control((char)byte) ||
		    (is_encoded && byte == '/'))
			return false;
		off += is_encoded ? 3 : 1;
	}
	return true;
}

/* Splits the target into path and query. */
static int parse_target(struct http1_head *head, const char *bytes)
{
	size_t off = head->target.off, end = off + head->target.len;
	const char *mark;

	if (memchr(bytes + off, '#', end - off))
		return refuse(head, 400);
	off += origin_len(bytes, off, end);
	mark = memchr(bytes + off, '?', end - off);
	head->path = part(off, mark ? (size_t)(mark - bytes) : end);
	head->query = part(mark ? (size_t)(mark + 1 - bytes) : end, end);
	if (!head->path.len || bytes[off] != '/' ||
	    !is_path(bytes, off, off + head->path.len))
		return refuse(head, 400);
	return 0;
}

/* Parses "HTTP/1.1" at [off, end). */
static int parse_version(struct http1_head *head, const char *bytes, size_t off,
			 size_t end)
{
	const char *p = bytes + off;

	if (end - off != 8 || memcmp(p, "HTTP/", 5) || !is_digit(p[5]) ||
	    p[6] != '.' || !is_digit(p[7]))
		return refuse(head, 400);
	if (p[5] != '1' || p[7] > '1')
		return refuse(head, 505);
	head->minor = p[7] - '0';
	return 0;
}

static bool is_target(char c)
{
	return c != ' ' && !is_control(c);
}

static int parse_request_line(struct http1_head *head,
			      const struct http1_limits *limits,
			      const char *bytes, size_t off, size_t end)
{
	size_t method = span(bytes, off, end, is_token), target;
	int ret;

	if (method == off || method == end || bytes[method] != ' ')
		return refuse(head, 400);
	target = span(bytes, method + 1, end, is_target);
	if (target - method - 1 > limits->target_len)
		return refuse(head, 414);
	if (target == method + 1 || target == end || bytes[target] != ' ')
		return refuse(head, 400);
	head->method = part(off, method);
	head->target = part(method + 1, target);
	/*
	 * Parse the version before the target: in another version, targets have
	 * other forms.
	 */
	ret = parse_version(head, bytes, target + 1, end);
	return ret ? ret : parse_target(head, bytes);
}

/* ---- fields */

static bool is_value(char c)
{
	return c == '\t' || !is_control(c);
}

static int parse_field(struct http1_head *head,
		       const struct http1_limits *limits, const char *bytes,
		       size_t off, size_t end)
{
	size_t name = span(bytes, off, end, is_token), value;
	struct http1_field *field = &head->fields[head->field_nr];

	if (name == off || name == end || bytes[name] != ':')
		return refuse(head, 400);
	if (span(bytes, name + 1, end, is_value) != end)
		return refuse(head, 400);
	if (head->field_nr == limits->field_nr)
		return refuse(head, 431);
	value = span(bytes, name + 1, end, is_blank);
	while (end > value && is_blank(bytes[end - 1]))
		end--;
	field->name = part(off, name);
	field->value = part(value, end);
	head->field_nr++;
	return 0;
}

/*
 * Sets *out to the field with this name, or to NULL if there is none. Returns
 * 0, or ERR_PEER if there are several such fields.
 */
static int find_single(struct http1_head *head, const char *bytes,
		       const char *name, const struct http1_field **out)
{
	*out = NULL;
	for (size_t i = 0; i < head->field_nr; i++) {
		if (!equals(bytes, head->fields[i].name, name))
			continue;
		if (*out)
			return refuse(head, 400);
		*out = &head->fields[i];
	}
	return 0;
}

static int check_host(struct http1_head *head, const char *bytes)
{
	const struct http1_field *host;
	size_t end;

	if (find_single(head, bytes, "Host", &host) < 0)
		return ERR_PEER;
	if (!host)
		return head->minor ? refuse(head, 400) : 0;
	end = host->value.off + host->value.len;
	return span(bytes, host->value.off, end, is_host) == end
		       ? 0
		       : refuse(head, 400);
}

/* Parses the decimal digits of Content-Length. */
static int parse_length(struct http1_head *head, const char *bytes,
			struct http1_part value)
{
	const char *p = bytes + value.off;

	head->framing = HTTP1_LENGTH;
	if (!value.len)
		return refuse(head, 400);
	for (size_t i = 0; i < value.len; i++) {
		unsigned digit = (unsigned)(p[i] - '0');

		/*
		 * A length must fit into 63 bits, as the length of a file does.
		 */
		if (!is_digit(p[i]) ||
		    head->body_len > (INT64_MAX - digit) / UINT64_C(10))
			return refuse(head, 400);
		head->body_len = head->body_len * 10 + digit;
	}
	return 0;
}

static int check_framing(struct http1_head *head, const char *bytes)
{
	const struct http1_field *length, *coding;

	if (find_single(head, bytes, "Content-Length", &length) < 0 ||
	    find_single(head, bytes, "Transfer-Encoding", &coding) < 0)
		return ERR_PEER;
	if (coding && (length || !head->minor))
		return refuse(head, 400);
	if (coding) {
		head->framing = HTTP1_CHUNKED;
		return equals(bytes, coding->value, "chunked")
			       ? 0
			       : refuse(head, 501);
	}
	return length ? parse_length(head, bytes, length->value) : 0;
}

static int check_expect(struct http1_head *head, const char *bytes)
{
	const struct http1_field *expect;

	if (find_single(head, bytes, "Expect", &expect) < 0)
		return ERR_PEER;
	if (!expect)
		return 0;
	if (!equals(bytes, expect->value, "100-continue"))
		return refuse(head, 417);
	/*
	 * Never send "100 Continue" to a client of HTTP/1.0, which does not
	 * know it.
	 */
	head->expects_continue = head->minor && head->framing != HTTP1_NO_BODY;
	return 0;
}

/* Returns whether a list of words, separated by commas, has this word. */
static bool has_word(const char *bytes, struct http1_part list,
		     const char *word)
{
	size_t off = list.off, end = off + list.len;

	while (off < end) {
		size_t start = span(bytes, off, end, is_blank);
		const char *comma = memchr(bytes + off, ',', end - off);
		size_t stop = comma ? (size_t)(comma - bytes) : end;

		off = stop + 1;
		while (stop > start && is_blank(bytes[stop - 1]))
			stop--;
		if (stop >= start && equals(bytes, part(start, stop), word))
			return true;
	}
	return false;
}

static void check_connection(struct http1_head *head, const char *bytes)
{
	bool close = false, keep = false;

	for (size_t i = 0; i < head->field_nr; i++) {
		const struct http1_field *f = &head->fields[i];

		if (!equals(bytes, f->name, "Connection"))
			continue;
		close |= has_word(bytes, f->value, "close");
		keep |= has_word(bytes, f->value, "keep-alive");
	}
	head->keep_alive = !close && (head->minor || keep);
}

/*
 * Called when the last line of the head was read. Checks the fields of the
 * head. Returns 1 if they are valid, otherwise ERR_PEER with head->status set.
 */
static int finish(struct http1_head *head, const char *bytes)
{
	if (check_host(head, bytes) < 0 || check_framing(head, bytes) < 0 ||
	    check_expect(head, bytes) < 0)
		return ERR_PEER;
	check_connection(head, bytes);
	return 1;
}

/* ---- lines */

void http1_head_init(struct http1_head *head)
{
	/*
	 * Clear all fields before the array `fields`. Its elements need no
	 * clearing: each is set when its line is parsed.
	 */
	memset(head, 0, offsetof(struct http1_head, fields));
	head->field_nr = 0;
	head->framing = HTTP1_NO_BODY;
	head->body_len = 0;
	head->keep_alive = head->expects_continue = false;
}

/*
 * Parses the line [off, end), without CR LF. Returns 0, 1 if the line is the
 * last one of the head, or ERR_PEER.
 */
static int parse_line(struct http1_head *head,
		      const struct http1_limits *limits, const char *bytes,
		      size_t off, size_t end)
{
	if (!head->method.len) {
		if (off == end && !head->line_nr++)
			return 0;
		return parse_request_line(head, limits, bytes, off, end);
	}
	return off < end ? parse_field(head, limits, bytes, off, end)
			 : finish(head, bytes);
}

/*
 * The line at head->len has no end yet, or its end is beyond the limit of the
 * head. Refuses the line if a limit is exceeded, or if the request line cannot
 * become valid.
 */
static int check_unfinished(struct http1_head *head,
			    const struct http1_limits *limits,
			    const char *bytes, size_t len)
{
	size_t off = head->len;

	head->seen = len;
	if (head->method.len)
		return len > limits->head_len ? refuse(head, 431) : 0;
	/* The client speaks another protocol, for example TLS. */
	if (off < len && bytes[off] != '\r' && !is_token(bytes[off]))
		return refuse(head, 400);
	return len > limits->head_len ? refuse(head, 414) : 0;
}

int http1_head_parse(struct http1_head *head, const struct http1_limits *limits,
		     const char *bytes, size_t len)
{
	int ret = head->status ? ERR_PEER : 0;

	while (!ret) {
		const char *lf = memchr(bytes + head->seen, '\n',
					len - head->seen);
		size_t off = head->len, end = lf ? (size_t)(lf - bytes) : len;

		if (!lf || end + 1 > limits->head_len)
			return check_unfinished(head, limits, bytes, len);
		if (end == off || bytes[end - 1] != '\r')
			return refuse(head, 400);
		ret = parse_line(head, limits, bytes, off, end - 1);
		head->len = head->seen = end + 1;
	}
	return ret;
}

const struct http1_field *http1_head_field(const struct http1_head *head,
					   const char *bytes, const char *name)
{
	for (size_t i = 0; i < head->field_nr; i++)
		if (equals(bytes, head->fields[i].name, name))
			return &head->fields[i];
	return NULL;
}

int http1_head_path(struct buf *out, const struct http1_head *head,
		    const char *bytes)
{
	size_t off = head->path.off, end = off + head->path.len;
	int ret = 0;

	while (!ret && off < end) {
		ret = buf_append_char(out, (char)decode(bytes, off));
		off += bytes[off] == '%' ? 3 : 1;
	}
	return ret;
}
