/* SPDX-License-Identifier: MIT */
/*
 * Opens a store in an S3 bucket for tests. A server that answers from a script
 * stands in for S3 (http-peer.h).
 */
#ifndef S3_PEER_H
#define S3_PEER_H

#include "store/s3.h"
#include "t/unit/http-peer.h"

#define OK "HTTP/1.1 200 OK\r\nETag: \"e\"\r\nContent-Length: 0\r\n\r\n"
#define BODY(status, len, body)                                                \
	"HTTP/1.1 " status "\r\nContent-Length: " len "\r\n\r\n" body

struct s3_peer {
	struct peer peer;
	struct filestore *store;
	struct error err;
};

/*
 * Starts the server and opens the store. The store sends a request up to three
 * times, with short pauses between the tries. `part_len`: length of the parts
 * of an upload, in bytes.
 */
static void s3_peer_start(struct s3_peer *p, const struct peer_answer *script,
			  size_t script_nr, size_t part_len)
{
	const struct store_keys keys = {(char *)"id", (char *)"secret", NULL};
	struct store_s3_settings set = STORE_S3_SETTINGS_INIT;

	memset(&p->err, 0, sizeof(p->err));
	peer_start(&p->peer, script, script_nr);
	set.endpoint = p->peer.url;
	set.bucket = "bucket";
	set.prefix = "pre";
	set.keys = &keys;
	set.tries = 3;
	set.pause_ms = 1;
	set.stall_ms = 5000;
	set.part_len = part_len;
	if (store_s3_open(&p->store, &set, &p->err) < 0)
		fprintf(stderr, "%s\n", p->err.msg);
}

/*
 * Closes the store and stops the server. The recorded requests remain in
 * memory.
 */
static void s3_peer_stop(struct s3_peer *p)
{
	filestore_close(p->store);
	peer_stop(&p->peer);
}

#endif
