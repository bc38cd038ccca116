/* SPDX-License-Identifier: MIT */
/*
 * TLS by OpenSSL. The library is loaded only when a certificate is configured,
 * so other commands and servers without TLS do not pay for it. OpenSSL keeps
 * errors in a queue for each thread. Each call here starts with an empty queue.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/err.h>
#include <openssl/ssl.h>

#include "base/mem.h"
#include "daemon/tls.h"
#include "sys/io.h"
#include "sys/library.h"

#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)
/*
 * The file name of libssl, in the version of the included headers. Loading
 * libssl also loads libcrypto.
 */
#define LIBRARY "libssl.so." TEXT(OPENSSL_SHLIB_VERSION)

#define FUNCTIONS(F)                                                           \
	F(ERR_clear_error)                                                     \
	F(ERR_peek_error)                                                      \
	F(ERR_reason_error_string)                                             \
	F(SSL_CTX_ctrl)                                                        \
	F(SSL_CTX_free)                                                        \
	F(SSL_CTX_new)                                                         \
	F(SSL_CTX_set_alpn_select_cb)                                          \
	F(SSL_CTX_set_default_passwd_cb)                                       \
	F(SSL_CTX_set_num_tickets)                                             \
	F(SSL_CTX_set_options)                                                 \
	F(SSL_CTX_set_session_id_context)                                      \
	F(SSL_CTX_use_PrivateKey_file)                                         \
	F(SSL_CTX_use_certificate_chain_file)                                  \
	F(SSL_do_handshake)                                                    \
	F(SSL_free)                                                            \
	F(SSL_get_error)                                                       \
	F(SSL_new)                                                             \
	F(SSL_pending)                                                         \
	F(SSL_read_ex)                                                         \
	F(SSL_select_next_proto)                                               \
	F(SSL_set_accept_state)                                                \
	F(SSL_set_fd)                                                          \
	F(SSL_shutdown)                                                        \
	F(SSL_write_ex)                                                        \
	F(TLS_server_method)

/* Pointers to the functions of OpenSSL, in fields with their names. */
struct openssl {
#define FIELD(name) __typeof__(name) *name;
	FUNCTIONS(FIELD)
#undef FIELD
};

struct tls {
	void *library; /* owned */
	struct openssl f;
	SSL_CTX *context; /* owned */
};

static int load_library(struct tls *tls, struct error *err)
{
	int ret = sys_library_open(&tls->library, LIBRARY, err);

#define FIND(name)                                                             \
	if (!ret)                                                              \
		ret = sys_library_find(&tls->f.name, tls->library, #name, err);
	FUNCTIONS(FIND)
#undef FIND
	return ret;
}

/* Returns the text of the first error in OpenSSL's error queue. */
static const char *reason(const struct openssl *f)
{
	unsigned long code = f->ERR_peek_error();
	const char *text = code ? f->ERR_reason_error_string(code) : NULL;

	return text ? text : "unknown error";
}

/* ---- certificates */

/* Refuses a key with a passphrase, because nobody can type the passphrase. */
static int no_passphrase(char *out, int size, int is_for_writing, void *ctx)
{
	return 0;
}

static int select_protocol(SSL *ssl, const unsigned char **out,
			   unsigned char *out_len, const unsigned char *in,
			   unsigned in_len, void *ctx)
{
	static const unsigned char ours[] = "\010http/1.1";
	const struct tls *tls = ctx;
	unsigned char *found;

	if (tls->f.SSL_select_next_proto(&found, out_len, ours,
					 sizeof(ours) - 1, in,
					 in_len) != OPENSSL_NPN_NEGOTIATED)
		return SSL_TLSEXT_ERR_ALERT_FATAL;
	*out = found;
	return SSL_TLSEXT_ERR_OK;
}

static int make_context(struct tls *tls, struct error *err)
{
	static const unsigned char id[] = "gitreachd";
	const struct openssl *f = &tls->f;
	SSL_CTX *c = f->SSL_CTX_new(f->TLS_server_method());

	tls->context = c;
	if (!c)
		return error_nomem(err);
	f->SSL_CTX_ctrl(c, SSL_CTRL_SET_MIN_PROTO_VERSION, TLS1_2_VERSION,
			NULL);
	/*
	 * A client may close the socket without a closing TLS message. This
	 * counts as the normal end of the connection.
	 */
	f->SSL_CTX_set_options(c, SSL_OP_NO_RENEGOTIATION |
					  SSL_OP_NO_COMPRESSION |
					  SSL_OP_IGNORE_UNEXPECTED_EOF);
	f->SSL_CTX_ctrl(c, SSL_CTRL_MODE,
			SSL_MODE_ENABLE_PARTIAL_WRITE |
				SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
				SSL_MODE_RELEASE_BUFFERS,
			NULL);
	/*
	 * Keep no sessions on the server: each connection gives the client one
	 * session ticket instead.
	 */
	f->SSL_CTX_ctrl(c, SSL_CTRL_SET_SESS_CACHE_MODE, SSL_SESS_CACHE_OFF,
			NULL);
	f->SSL_CTX_set_session_id_context(c, id, sizeof(id) - 1);
	f->SSL_CTX_set_num_tickets(c, 1);
	f->SSL_CTX_set_default_passwd_cb(c, no_passphrase);
	f->SSL_CTX_set_alpn_select_cb(c, select_protocol, tls);
	return 0;
}

/*
 * Checks that a file can be read, because OpenSSL's message for this error is
 * not helpful.
 */
static int check_file(const char *path, struct error *err)
{
	struct sys_stat st;
	int fd = sys_open_file(&st, path, err);

	if (fd < 0)
		return error_recode(err, ERR_INVALID);
	sys_close(fd);
	return 0;
}

static int load_certificate(const struct tls *tls, const char *path,
			    struct error *err)
{
	const struct openssl *f = &tls->f;
	int ret = check_file(path, err);

	if (ret < 0 ||
	    f->SSL_CTX_use_certificate_chain_file(tls->context, path) == 1)
		return ret;
	return error_set(err, ERR_INVALID, "'%s' has no valid certificate: %s",
			 path, reason(f));
}

static int load_key(const struct tls *tls, const char *path, struct error *err)
{
	const struct openssl *f = &tls->f;
	int ret = check_file(path, err);
	unsigned long code;

	if (ret < 0 || f->SSL_CTX_use_PrivateKey_file(tls->context, path,
						      SSL_FILETYPE_PEM) == 1)
		return ret;
	code = f->ERR_peek_error();
	if (ERR_GET_LIB(code) == ERR_LIB_X509 &&
	    (ERR_GET_REASON(code) == X509_R_KEY_VALUES_MISMATCH ||
	     ERR_GET_REASON(code) == X509_R_KEY_TYPE_MISMATCH))
		return error_set(
			err, ERR_INVALID,
			"the key in '%s' does not match the certificate", path);
	return error_set(err, ERR_INVALID,
			 "'%s' has no valid private key, or the key needs a "
			 "passphrase: %s",
			 path, reason(f));
}

static int load(struct tls *tls, const char *certificate, const char *key,
		bool *is_key, struct error *err)
{
	int ret = load_library(tls, err);

	*is_key = false;
	if (ret < 0)
		return error_recode(err, ERR_INVALID);
	tls->f.ERR_clear_error();
	ret = make_context(tls, err);
	if (!ret)
		ret = load_certificate(tls, certificate, err);
	if (!ret) {
		*is_key = true;
		ret = load_key(tls, key, err);
	}
	tls->f.ERR_clear_error();
	return ret;
}

int tls_open(struct tls **out, const char *certificate, const char *key,
	     bool *is_key, struct error *err)
{
	struct tls *tls = mem_calloc(1, sizeof(*tls));
	int ret = tls ? load(tls, certificate, key, is_key, err)
		      : error_nomem(err);

	if (ret < 0)
		tls_close(tls);
	else
		*out = tls;
	return ret;
}

void tls_close(struct tls *tls)
{
	if (!tls)
		return;
	if (tls->context)
		tls->f.SSL_CTX_free(tls->context);
	sys_library_close(tls->library);
	free(tls);
}

/* ---- connections */

bool tls_accept(struct tls_conn *conn, const struct tls *tls, int fd)
{
	SSL *ssl = tls->f.SSL_new(tls->context);

	*conn = (struct tls_conn){NULL, NULL};
	if (!ssl)
		return false;
	if (tls->f.SSL_set_fd(ssl, fd) != 1) {
		tls->f.SSL_free(ssl);
		return false;
	}
	tls->f.SSL_set_accept_state(ssl);
	*conn = (struct tls_conn){tls, ssl};
	return true;
}

void tls_release(struct tls_conn *conn)
{
	if (conn->tls)
		conn->tls->f.SSL_free(conn->ssl);
	*conn = (struct tls_conn){NULL, NULL};
}

static int fail(const struct openssl *f, struct error *err)
{
	int code = errno;

	if (f->ERR_peek_error())
		error_set(err, ERR_PEER, "TLS: %s", reason(f));
	else
		error_set(err, ERR_PEER,
			  "lost the connection to the client: %s",
			  code ? strerror(code)
			       : "the client closed the connection");
	f->ERR_clear_error();
	return ERR_PEER;
}

/*
 * Sets *wait after a call of an OpenSSL function, such as SSL_read(), that
 * returned `ret` (<= 0). Returns 0, or ERR_PEER if the connection is broken.
 */
static int judge(const struct tls_conn *conn, int ret, enum tls_wait *wait,
		 struct error *err)
{
	switch (conn->tls->f.SSL_get_error(conn->ssl, ret)) {
	case SSL_ERROR_WANT_READ:
		*wait = TLS_INPUT;
		return 0;
	case SSL_ERROR_WANT_WRITE:
		*wait = TLS_OUTPUT;
		return 0;
	case SSL_ERROR_ZERO_RETURN:
		*wait = TLS_READY;
		return 0;
	default:
		return fail(&conn->tls->f, err);
	}
}

/*
 * Prepares for a call of OpenSSL: clears OpenSSL's error queue, so that judge()
 * sees only errors of this call.
 */
static void start(const struct tls_conn *conn, enum tls_wait *wait)
{
	conn->tls->f.ERR_clear_error();
	errno = 0;
	*wait = TLS_READY;
}

static bool is_plain_http(unsigned long code)
{
	int why = ERR_GET_REASON(code);

	return ERR_GET_LIB(code) == ERR_LIB_SSL &&
	       (why == SSL_R_HTTP_REQUEST || why == SSL_R_HTTPS_PROXY_REQUEST);
}

int tls_handshake(struct tls_conn *conn, enum tls_wait *wait, struct error *err)
{
	const struct openssl *f = &conn->tls->f;
	int ret;

	start(conn, wait);
	ret = f->SSL_do_handshake(conn->ssl);
	if (ret == 1)
		return 0;
	if (is_plain_http(f->ERR_peek_error()))
		return error_set(
			err, ERR_UNSUPPORTED,
			"the client sent HTTP without TLS to an https:// port");
	ret = judge(conn, ret, wait, err);
	if (ret < 0)
		return ret;
	return *wait == TLS_READY
		       ? error_set(err, ERR_MISSING,
				   "the client closed the connection")
		       : 0;
}

ssize_t tls_read(struct tls_conn *conn, void *bytes, size_t len,
		 enum tls_wait *wait, struct error *err)
{
	size_t n = 0;
	int ret;

	start(conn, wait);
	ret = conn->tls->f.SSL_read_ex(conn->ssl, bytes, len, &n);
	return ret == 1 ? (ssize_t)n : judge(conn, ret, wait, err);
}

bool tls_has_bytes(const struct tls_conn *conn)
{
	return conn->tls->f.SSL_pending(conn->ssl) > 0;
}

/*
 * Copies bytes from spans, at most one TLS record. Returns the number of bytes.
 */
static size_t gather(uint8_t *out, const struct iovec *iov, size_t nr)
{
	size_t len = 0;

	for (size_t i = 0; i < nr && len < TLS_RECORD_MAX; i++) {
		size_t left = TLS_RECORD_MAX - len;
		size_t n = iov[i].iov_len < left ? iov[i].iov_len : left;

		memcpy(out + len, iov[i].iov_base, n);
		len += n;
	}
	return len;
}

ssize_t tls_writev(struct tls_conn *conn, const struct iovec *iov, size_t nr,
		   enum tls_wait *wait, struct error *err)
{
	uint8_t record[TLS_RECORD_MAX];
	const void *bytes = record;
	size_t len = TLS_RECORD_MAX, n = 0;
	int ret;

	start(conn, wait);
	if (nr && iov->iov_len >= TLS_RECORD_MAX)
		bytes = iov->iov_base;
	else
		len = gather(record, iov, nr);
	if (!len)
		return 0;
	ret = conn->tls->f.SSL_write_ex(conn->ssl, bytes, len, &n);
	if (ret == 1)
		return (ssize_t)n;
	ret = judge(conn, ret, wait, err);
	/*
	 * If the client has ended its output earlier, OpenSSL reports each
	 * failed write as the end of the client's output. OpenSSL wants input
	 * if the client has sent only a part of a handshake message. Callers
	 * wait only for room in the socket, so such a client is refused.
	 */
	return !ret && *wait != TLS_OUTPUT ? fail(&conn->tls->f, err) : ret;
}

void tls_end_output(struct tls_conn *conn)
{
	enum tls_wait wait;

	start(conn, &wait);
	conn->tls->f.SSL_shutdown(conn->ssl);
	conn->tls->f.ERR_clear_error();
}
