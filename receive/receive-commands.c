/* SPDX-License-Identifier: MIT */
/* Parses the request of a push. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "receive/push-cert.h"
#include "receive/receive-commands.h"

void receive_request_init(struct receive_request *req, enum hash_algo algo)
{
	*req = (struct receive_request){
		.algo = algo,
		.commands_max = RECEIVE_COMMANDS_DEFAULT,
	};
	oidset_init(&req->shallow, OIDSET_MAX);
}

static void release_command(struct receive_command *cmd)
{
	for (size_t i = 0; i < cmd->rewrite_nr; i++)
		free(cmd->rewrites[i].ref);
	free(cmd->rewrites);
	free(cmd->ref);
	free(cmd->error);
}

static void free_commands(struct receive_request *req)
{
	for (size_t i = 0; i < req->nr; i++)
		release_command(&req->commands[i]);
	free(req->commands);
	free(req->by_ref);
	req->commands = NULL;
	req->by_ref = NULL;
	req->nr = req->alloc = 0;
}

void receive_request_release(struct receive_request *req)
{
	free_commands(req);
	for (size_t i = 0; i < req->option_nr; i++)
		free(req->options[i]);
	free(req->options);
	oidset_release(&req->shallow);
	buf_release(&req->cert);
	receive_request_init(req, req->algo);
}

int receive_refuse(struct receive_command *cmd, const char *why)
{
	if (cmd->error)
		return 0;
	cmd->error = mem_strdup(why);
	return cmd->error ? 0 : ERR_NOMEM;
}

int receive_refuse_all(struct receive_request *req, const char *why)
{
	for (size_t i = 0; i < req->nr; i++)
		if (receive_refuse(&req->commands[i], why) < 0)
			return ERR_NOMEM;
	return 0;
}

static int by_ref(const void *a, const void *b)
{
	const struct receive_command *const *x = a, *const *y = b;
	int cmp = strcmp((*x)->ref, (*y)->ref);

	return cmp ? cmp : (*x > *y) - (*x < *y);
}

static int sort_by_ref(struct receive_request *req)
{
	req->by_ref = mem_alloc(req->nr, sizeof(*req->by_ref));
	if (!req->by_ref)
		return ERR_NOMEM;
	for (size_t i = 0; i < req->nr; i++)
		req->by_ref[i] = &req->commands[i];
	qsort(req->by_ref, req->nr, sizeof(*req->by_ref), by_ref);
	return 0;
}

int receive_request_find(struct receive_command **cmd,
			 struct receive_request *req, const char *ref)
{
	size_t low = 0, high = req->nr;

	if (!high)
		return 0;
	if (!req->by_ref && sort_by_ref(req) < 0)
		return ERR_NOMEM;
	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (strcmp(req->by_ref[mid]->ref, ref) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	if (low == req->nr || strcmp(req->by_ref[low]->ref, ref) != 0)
		return 0;
	*cmd = req->by_ref[low];
	return 1;
}

bool receive_request_only_deletes(const struct receive_request *req)
{
	for (size_t i = 0; i < req->nr; i++)
		if (!receive_is_delete(&req->commands[i]))
			return false;
	return true;
}

/*
 * Find a capability in a list. Returns its value and sets *len to the value's
 * length, or returns NULL if the list does not have the capability.
 */
static const char *find_word(const char *list, const char *word, size_t *len)
{
	size_t word_len = strlen(word);

	while (*list) {
		size_t n = strcspn(list, " \n");

		if (n >= word_len && !memcmp(list, word, word_len) &&
		    (n == word_len || list[word_len] == '=')) {
			*len = n - word_len - (n > word_len);
			return list + n - *len;
		}
		list += n;
		list += strspn(list, " \n");
	}
	return NULL;
}

static bool has_word(const char *list, const char *word)
{
	size_t unused;

	return find_word(list, word, &unused);
}

/*
 * Add the capabilities of one list to *req. A client may send several lists; as
 * in stock Git, each adds to the earlier ones.
 */
static int take_capabilities(struct receive_request *req, const char *caps,
			     struct error *err)
{
	const char *ours = hash_name(req->algo);
	char quoted[PKTLINE_QUOTE_MAX];
	const char *format;
	size_t len;

	req->report |= has_word(caps, "report-status");
	req->report_v2 |= has_word(caps, "report-status-v2");
	req->sideband |= has_word(caps, "side-band-64k");
	req->quiet |= has_word(caps, "quiet");
	req->atomic |= req->accept_atomic && has_word(caps, "atomic");
	req->has_options |= req->accept_options &&
			    has_word(caps, "push-options");
	format = find_word(caps, "object-format", &len);
	if (!format) {
		format = "sha1";
		len = 4;
	}
	if (len == strlen(ours) && !memcmp(format, ours, len))
		return 0;
	pktline_quote(quoted, format);
	if (len < sizeof(quoted))
		quoted[len] = '\0';
	return error_set(err, ERR_PEER, "unsupported object format '%s'",
			 quoted);
}

/*
 * Add `len` to the number of text bytes that the request will store. Returns 0,
 * or ERR_PEER if the sum is more than RECEIVE_TEXT_MAX.
 */
static int reserve(struct receive_request *req, size_t len, struct error *err)
{
	if (len >= RECEIVE_TEXT_MAX - req->text_len)
		return error_set(err, ERR_PEER,
				 "the commands, options and certificate of the "
				 "push are too large");
	req->text_len += len + 1;
	return 0;
}

static int add_command(struct receive_request *req, const struct oid *old_oid,
		       const struct oid *new_oid, const char *ref, size_t len,
		       struct error *err)
{
	struct receive_command *cmd;
	int ret;

	if (req->nr >= req->commands_max) {
		req->is_too_long = true;
		return error_set(err, ERR_PEER,
				 "a push of more than %zu commands is not "
				 "accepted here (gitreach.maxPushCommands)",
				 req->commands_max);
	}
	ret = reserve(req, len, err);
	if (ret < 0)
		return ret;
	if (mem_grow(&req->commands, &req->alloc, req->nr + 1, sizeof(*cmd)) <
	    0)
		return error_nomem(err);
	cmd = &req->commands[req->nr];
	*cmd = (struct receive_command){
		.old_oid = *old_oid,
		.new_oid = *new_oid,
		.ref = mem_strndup(ref, len),
	};
	if (!cmd->ref)
		return error_nomem(err);
	req->nr++;
	return 0;
}

/*
 * Add a command (a ref update) to the request. `line` begins with "<old> <new>
 * <ref>".
 */
static int take_command(struct receive_request *req, const char *line,
			size_t len, struct error *err)
{
	size_t hex_len = hash_hex_len(req->algo), head = 2 * (hex_len + 1);
	char quoted[PKTLINE_QUOTE_MAX];
	struct oid old_oid, new_oid;

	if (len <= head || line[hex_len] != ' ' || line[head - 1] != ' ' ||
	    !oid_from_hex(&old_oid, line, hex_len, req->algo) ||
	    !oid_from_hex(&new_oid, line + hex_len + 1, hex_len, req->algo))
		return error_set(err, ERR_PEER,
				 "protocol error: expected old/new/ref, got "
				 "'%s'",
				 pktline_quote(quoted, line));
	return add_command(req, &old_oid, &new_oid, line + head, len - head,
			   err);
}

static int take_shallow(struct receive_request *req, const char *hex,
			struct error *err)
{
	char quoted[PKTLINE_QUOTE_MAX];
	struct oid oid;
	int ret;

	if (strlen(hex) != hash_hex_len(req->algo) ||
	    !oid_from_hex(&oid, hex, strlen(hex), req->algo))
		return error_set(err, ERR_PEER,
				 "protocol error: expected shallow sha, got "
				 "'%s'",
				 pktline_quote(quoted, hex));
	ret = oidset_add(&req->shallow, &oid, err);
	return ret < 0 ? ret : 0;
}

/*
 * Refuse a push that has a certificate and unsigned commands. Hooks could not
 * see which commands are signed.
 */
static int refuse_both(struct error *err)
{
	return error_set(err, ERR_PEER,
			 "protocol error: got both push certificate and "
			 "unsigned commands");
}

static int begin_cert(struct receive_request *req, struct error *err)
{
	if (!req->accept_cert)
		return error_set(err, ERR_PEER,
				 "push certificates are not accepted here");
	if (req->nr || req->cert.len)
		return refuse_both(err);
	req->in_cert = true;
	return 0;
}

static int take_signed_commands(struct receive_request *req, struct error *err)
{
	struct push_cert cert;
	struct push_cert_line line;
	size_t at = 0;
	int ret = push_cert_parse(&cert, req->cert.data, req->cert.len, err);

	while (!ret && push_cert_command(&line, &cert, &at))
		ret = take_command(req, line.p, line.len, err);
	return ret;
}

/*
 * Add a line of the push certificate, with a line feed. The signature covers
 * the line feed, which pktline_read() has removed.
 */
static int take_cert_line(struct receive_request *req, const char *line,
			  size_t len, struct error *err)
{
	int ret;

	if (!strcmp(line, "push-cert-end")) {
		req->in_cert = false;
		return take_signed_commands(req, err);
	}
	ret = reserve(req, len, err);
	if (ret < 0)
		return ret;
	if (buf_append(&req->cert, line, len) < 0 ||
	    buf_append_char(&req->cert, '\n') < 0)
		return error_nomem(err);
	return 0;
}

int receive_request_take(struct receive_request *req, const char *line,
			 size_t len, struct error *err)
{
	size_t text_len = strnlen(line, len);
	int ret = 0;

	if (req->in_cert)
		return take_cert_line(req, line, len, err);
	if (text_len > 8 && !memcmp(line, "shallow ", 8))
		return take_shallow(req, line + 8, err);
	if (text_len < len)
		ret = take_capabilities(req, line + text_len + 1, err);
	if (ret < 0)
		return ret;
	if (!strcmp(line, "push-cert"))
		return begin_cert(req, err);
	if (req->cert.len)
		return refuse_both(err);
	return take_command(req, line, text_len, err);
}

static int take_option(struct receive_request *req, const char *line,
		       size_t len, struct error *err)
{
	int ret = reserve(req, len, err);

	if (!ret && req->option_nr >= RECEIVE_OPTIONS_MAX)
		ret = error_set(err, ERR_PEER,
				"the commands, options and certificate of the "
				"push are too large");
	if (ret < 0)
		return ret;
	if (mem_grow(&req->options, &req->option_alloc, req->option_nr + 1,
		     sizeof(*req->options)) < 0)
		return error_nomem(err);
	req->options[req->option_nr] = mem_strndup(line, len);
	if (!req->options[req->option_nr])
		return error_nomem(err);
	req->option_nr++;
	return 0;
}

/*
 * Check that a list of packets ended with a flush packet. Returns 0 or a
 * negative error code.
 */
static int list_end(struct pktline_reader *in, const struct pktline *pkt,
		    struct error *err)
{
	if (pkt->kind == PKTLINE_FLUSH)
		return 0;
	if (pkt->kind == PKTLINE_EOF)
		return pktline_hung_up(in, err);
	return error_set(err, ERR_PEER, "protocol error: unexpected packet");
}

static int read_options(struct receive_request *req, struct pktline_reader *in,
			struct error *err)
{
	struct pktline pkt;
	int ret;

	while (!(ret = pktline_read(in, &pkt, err)) &&
	       pkt.kind == PKTLINE_DATA) {
		ret = take_option(req, pkt.data, pkt.len, err);
		if (ret < 0)
			return ret;
	}
	return ret < 0 ? ret : list_end(in, &pkt, err);
}

/*
 * Read the command list to its end without storing commands. The client reads
 * the server's error message only after it has sent the whole list.
 */
static void skip_list(struct pktline_reader *in)
{
	struct pktline pkt;

	while (!pktline_read(in, &pkt, NULL) && pkt.kind == PKTLINE_DATA)
		;
}

int receive_request_read(struct receive_request *req, struct pktline_reader *in,
			 struct error *err)
{
	struct pktline pkt;
	int ret;

	while (!(ret = pktline_read(in, &pkt, err)) &&
	       pkt.kind == PKTLINE_DATA) {
		ret = receive_request_take(req, pkt.data, pkt.len, err);
		if (ret < 0 && req->is_too_long) {
			free_commands(req);
			skip_list(in);
		}
		if (ret < 0)
			return ret;
	}
	if (!ret)
		ret = list_end(in, &pkt, err);
	if (!ret && req->in_cert)
		return error_set(err, ERR_PEER,
				 "protocol error: the push certificate has no "
				 "end");
	if (!ret && req->nr && req->has_options)
		ret = read_options(req, in, err);
	return ret < 0 ? ret : req->nr > 0;
}
