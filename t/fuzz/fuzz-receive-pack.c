/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target for the command list of a push. The first byte chooses the hash
 * function and the offered capabilities; the rest are packets. In a list that
 * the parser accepts, ids have the right length, and ref names have no NUL. The
 * numbers and sizes of all parts are within the limits.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "receive/receive-commands.h"
#include "t/fuzz/fuzz.h"

enum {
	CHOOSE_SHA256 = 1 << 0,
	CHOOSE_ATOMIC = 1 << 1,
	CHOOSE_OPTIONS = 1 << 2,
	CHOOSE_SMALL_PIECES = 1 << 3,
	CHOOSE_CERT = 1 << 4,
};

static void check(const struct receive_request *req)
{
	size_t text_len = 0;

	require(req->nr <= RECEIVE_COMMANDS_MAX);
	for (size_t i = 0; i < req->nr; i++) {
		require(*req->commands[i].ref);
		require(!req->commands[i].error);
		text_len += strlen(req->commands[i].ref) + 1;
	}
	for (size_t i = 0; i < req->option_nr; i++)
		text_len += strlen(req->options[i]) + 1;
	text_len += req->cert.len;
	require(text_len <= req->text_len && text_len <= RECEIVE_TEXT_MAX);
	require(!req->atomic || req->accept_atomic);
	require(!req->has_options || req->accept_options);
	require(!req->cert.len || req->accept_cert);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	uint8_t choice = len ? *bytes : 0;
	struct fuzz_input in = {bytes + (len > 0), bytes + len,
				choice & CHOOSE_SMALL_PIECES ? 3 : 0};
	struct serve_io io = {.read = fuzz_input_read, .ctx = &in};
	struct receive_request req;
	struct pktline_reader r;
	struct error err = ERROR_INIT;
	int ret;

	receive_request_init(&req,
			     choice & CHOOSE_SHA256 ? HASH_SHA256 : HASH_SHA1);
	req.accept_atomic = choice & CHOOSE_ATOMIC;
	req.accept_options = choice & CHOOSE_OPTIONS;
	req.accept_cert = choice & CHOOSE_CERT;
	require(!pktline_reader_init(&r, &io));
	ret = receive_request_read(&req, &r, &err);
	require(ret >= 0 || (ret == err.code && *err.msg));
	check(&req);
	pktline_reader_release(&r);
	receive_request_release(&req);
	return 0;
}
