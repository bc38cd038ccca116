/* SPDX-License-Identifier: MIT */
/*
 * The user of an HTTP request, and what a user may do. A trusted proxy names
 * the user, or the client sends a password (RFC 7617). The access helper (a
 * program of the administrator) decides whether a request is allowed. It is
 * asked about requests over HTTP, git:// and ssh.
 */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "access/access.h"
#include "base/base64.h"
#include "daemon/daemon-parts.h"
#include "daemon/stream.h"
#include "status/statistics.h"
#include "wire/pktline.h"

#define BASIC "Basic "

/*
 * Returns whether nobody else can read what the client sends: the connection is
 * encrypted, local, or from a trusted proxy.
 */
static bool is_private(const struct daemon_request *q)
{
	const struct daemon_options *o = q->options;
	const char *address = q->conn->address;

	return o->plain_passwords || daemon_stream_is_tls(&q->conn->stream) ||
	       !strncmp(address, "127.", 4) || !strcmp(address, "::1") ||
	       trusted_has(o->proxies, o->proxy_nr, address);
}

const char *daemon_challenge(const struct daemon_request *q)
{
	return q->options->htpasswd && is_private(q)
		       ? "Basic realm=\"Git\", charset=\"UTF-8\""
		       : NULL;
}

/*
 * Splits "Basic <base64>" into user and password. Returns false if the value is
 * malformed.
 */
static bool parse(char *user, const char **password, const char *value)
{
	size_t len = strlen(BASIC);
	ssize_t n;
	char *colon;

	if (strncasecmp(value, BASIC, len))
		return false;
	value += len + strspn(value + len, " ");
	n = base64_decode(user, DAEMON_USER_MAX - 1, value, strlen(value));
	if (n < 0 || memchr(user, '\0', (size_t)n))
		return false;
	user[n] = '\0';
	colon = strchr(user, ':');
	if (!colon || colon == user)
		return false;
	*colon = '\0';
	*password = colon + 1;
	for (const char *p = user; *p; p++)
		if ((unsigned char)*p < ' ' || *p == 127)
			return false;
	return true;
}

static void log_wrong(const struct daemon_request *q, const char *user)
{
	char line[PKTLINE_QUOTE_MAX + 64], quoted[PKTLINE_QUOTE_MAX];

	snprintf(line, sizeof(line), "wrong password of user '%s'",
		 pktline_quote(quoted, user));
	daemon_log(q->options, q->conn, line);
}

static enum daemon_login check(struct daemon_request *q, const char *value)
{
	const struct daemon_options *o = q->options;
	struct error warning = ERROR_INIT;
	const char *password;
	int ret;

	if (!is_private(q)) {
		daemon_log(o, q->conn,
			   "refused a password that was sent without TLS (see "
			   "allow-plain-passwords)");
		return DAEMON_LOGIN_FORBIDDEN;
	}
	if (!parse(q->user, &password, value))
		return DAEMON_LOGIN_MALFORMED;
	ret = htpasswd_check(o->htpasswd, q->user, password, &warning);
	memset(q->user + strlen(q->user) + 1, 0, strlen(password));
	if (warning.code)
		daemon_log(o, q->conn, warning.msg);
	if (ret > 0)
		return DAEMON_LOGIN_USER;
	log_wrong(q, q->user);
	return DAEMON_LOGIN_WRONG;
}

enum daemon_login daemon_login(const char **user, struct daemon_request *q)
{
	const struct daemon_options *o = q->options;
	struct daemon_input *in = q->conn->input;
	bool is_proxy = o->user_header &&
			trusted_has(o->proxies, o->proxy_nr, q->conn->address);
	size_t nr = is_proxy ? daemon_field_nr(in, o->user_header) : 0;
	enum daemon_login login;

	*user = NULL;
	if (nr)
		*user = daemon_field(in, o->user_header);
	if (nr > 1)
		return DAEMON_LOGIN_MALFORMED;
	/* Some proxies send an empty field if there is no user. */
	if (nr && **user)
		return DAEMON_LOGIN_PROXY;
	*user = NULL;
	nr = o->htpasswd ? daemon_field_nr(in, "Authorization") : 0;
	if (nr > 1)
		return DAEMON_LOGIN_MALFORMED;
	if (!nr)
		return DAEMON_LOGIN_NONE;
	login = check(q, daemon_field(in, "Authorization"));
	if (login == DAEMON_LOGIN_USER)
		*user = q->user;
	return login;
}

/*
 * Returns the path of a repository relative to the base path, or its full path
 * if the repository is not below the base path.
 */
static const char *name_of(const struct repo *repo, const char *base)
{
	/*
	 * A linked work tree counts as the repository that it belongs to,
	 * because both have the same refs and objects.
	 */
	const char *dir = repo->common_dir;
	size_t len = strlen(base);

	return !strncmp(dir, base, len) && dir[len] == '/' ? dir + len : dir;
}

void daemon_note_denial(const struct daemon_options *options,
			const struct daemon_conn *conn,
			const struct access_question *question,
			const struct repo *repo)
{
	struct access_question denied = *question;
	struct buf line = BUF_INIT;

	if (repo)
		denied.repository = name_of(repo, options->base_path);
	statistics_add_denial(conn->shared->statistics,
			      access_is_write(&denied));
	/* daemon_log() would cut off long paths. */
	if (!buf_printf(&line, "%s: access denied by the access helper: ",
			conn->address) &&
	    !access_format_denial(&line, &denied))
		options->log(options->log_ctx, line.data);
	buf_release(&line);
}

int daemon_ask(struct access_answer *out, const struct daemon_options *options,
	       const struct daemon_conn *conn,
	       const struct access_question *question)
{
	struct error err = ERROR_INIT;

	if (access_ask(out, conn->helper, question, &err) < 0) {
		daemon_log(options, conn, err.msg);
		return ERR_PEER;
	}
	/*
	 * If refs are hidden, refuse archives: an archive can have objects of
	 * hidden refs.
	 */
	if (out->hidden_nr && !strcmp(question->service, "upload-archive"))
		out->is_allowed = false;
	return out->is_allowed ? 0 : ERR_DENIED;
}

int daemon_authorize(struct access_answer *out,
		     const struct daemon_options *options,
		     const struct daemon_conn *conn,
		     struct access_question *question, const struct repo *repo)
{
	/*
	 * Ask about the path that was opened, because clients can name one
	 * repository as /a, /a.git or /a.git/.
	 */
	if (repo)
		question->repository = name_of(repo, options->base_path);
	return daemon_ask(out, options, conn, question);
}
