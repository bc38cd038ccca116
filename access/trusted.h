/* SPDX-License-Identifier: MIT */
/*
 * The addresses of proxies whose header fields a server believes. A network is
 * "<address>" or "<address>/<bits>": 10.0.0.0/8, ::1.
 */
#ifndef ACCESS_TRUSTED_H
#define ACCESS_TRUSTED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sys/tcp.h"

struct trusted_net {
	/* the address; IPv4 has 4 bytes */
	uint8_t bytes[16];
	unsigned bytes_nr; /* 4 or 16 */
	/* number of leading bits that must be equal */
	unsigned bits;
};

/* Parses a network. Returns false if the text is not valid. */
bool trusted_parse(struct trusted_net *out, const char *text);

/* Returns whether a numeric address is in one of the networks. */
bool trusted_has(const struct trusted_net *nets, size_t nr,
		 const char *address);

/* Returns whether a numeric address is of this machine: 127.0.0.0/8, or ::1. */
bool trusted_is_loopback(const char *address);

/*
 * Writes to `out` the name of the client with this address, for counting the
 * requests of one client. An IPv4 address is its own name. The name of an IPv6
 * address is its /64 network, because one client usually has all addresses of
 * such a network. A text that is not an address is copied, and cut off to the
 * size of `out`.
 */
void trusted_client_name(char out[SYS_ADDRESS_MAX], const char *address);

#endif
