/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target for the output of gpg and ssh-keygen about a signature. Parts of
 * the output come from the signer, who may be hostile. The result must be
 * consistent. For example, a good signature has a key and a signer.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "repo/signature.h"
#include "t/fuzz/fuzz.h"

static void check_gpg(const char *text, size_t len)
{
	struct signature_check check = {.status = 'N'};

	require(!signature_parse_gpg(&check, text, len));
	require(strchr("NGBXYRE", check.status) != NULL);
	require(!check.key || !strpbrk(check.key, " \n"));
	require(!check.signer || !strchr(check.signer, '\n'));
	require(!check.signer || check.key);
	require(check.status != 'N' || !check.key);
	require(check.status != 'G' || (check.key && check.signer));
	signature_check_release(&check);
}

static void check_ssh(const char *text, size_t len)
{
	struct signature_check check = {.status = 'B'};
	int ret = signature_parse_ssh(&check, text, len);

	require(ret == (check.status != 'B'));
	require(ret == (check.key != NULL));
	require((check.status == 'G') == (check.signer != NULL));
	require(!check.signer || *check.signer);
	signature_check_release(&check);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	const char *text = (const char *)bytes;
	enum signature_format format;
	size_t at = signature_find(&format, text, len);

	require(at <= len);
	require((at == len) == (format == SIGNATURE_NONE));
	require(!at || at == len || text[at - 1] == '\n');
	check_gpg(text, len);
	check_ssh(text, len);
	return 0;
}
