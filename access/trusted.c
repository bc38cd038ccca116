/* SPDX-License-Identifier: MIT */
/* Parses networks of trusted proxies, and looks up addresses in them. */
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "config/config.h"
#include "access/trusted.h"

/* Returns the number of bytes of the address, or 0 if it is not numeric. */
static unsigned parse_address(uint8_t bytes[16], const char *text)
{
	if (inet_pton(AF_INET, text, bytes) == 1)
		return 4;
	return inet_pton(AF_INET6, text, bytes) == 1 ? 16 : 0;
}

bool trusted_parse(struct trusted_net *out, const char *text)
{
	char address[64];
	size_t len = strcspn(text, "/");
	uint64_t bits;

	if (len >= sizeof(address))
		return false;
	memcpy(address, text, len);
	address[len] = '\0';
	out->bytes_nr = parse_address(out->bytes, address);
	out->bits = out->bytes_nr * 8;
	if (!text[len])
		return out->bytes_nr != 0;
	if (!out->bytes_nr || text[len + 1] < '0' || text[len + 1] > '9' ||
	    config_parse_u64(&bits, text + len + 1) < 0 || bits > out->bits)
		return false;
	out->bits = (unsigned)bits;
	return true;
}

static bool agrees(const struct trusted_net *net, const uint8_t *bytes)
{
	unsigned whole = net->bits / 8, rest = net->bits % 8;
	uint8_t mask = (uint8_t)(0xff00 >> rest);

	return !memcmp(net->bytes, bytes, whole) &&
	       (!rest || !((net->bytes[whole] ^ bytes[whole]) & mask));
}

bool trusted_has(const struct trusted_net *nets, size_t nr, const char *address)
{
	uint8_t bytes[16];
	unsigned bytes_nr = parse_address(bytes, address);

	for (size_t i = 0; bytes_nr && i < nr; i++)
		if (nets[i].bytes_nr == bytes_nr && agrees(&nets[i], bytes))
			return true;
	return false;
}

bool trusted_is_loopback(const char *address)
{
	static const uint8_t one[16] = {[15] = 1};
	uint8_t bytes[16];
	unsigned nr = parse_address(bytes, address);

	return nr == 4 ? bytes[0] == 127 : nr && !memcmp(bytes, one, 16);
}

void trusted_client_name(char out[SYS_ADDRESS_MAX], const char *address)
{
	/*
	 * The prefix of IPv6 addresses that stand for IPv4 addresses. Such an
	 * address is one client; it is not cut to its first 64 bits, which are
	 * equal for all IPv4 addresses.
	 */
	static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
	uint8_t bytes[16];
	char text[SYS_ADDRESS_MAX - 3];

	if (parse_address(bytes, address) == 16 &&
	    memcmp(bytes, mapped, sizeof(mapped)) != 0) {
		memset(bytes + 8, 0, 8);
		inet_ntop(AF_INET6, bytes, text, sizeof(text));
		snprintf(out, SYS_ADDRESS_MAX, "%s/64", text);
		return;
	}
	snprintf(out, SYS_ADDRESS_MAX, "%s", address);
}
