/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target for the XML responses of S3. Parsed values must be within the
 * limits. Names must be valid, and error texts must be visible ASCII. A list
 * with further parts must have a token for the next part.
 */
#include <string.h>

#include "store/s3-answer.h"
#include "t/fuzz/fuzz.h"

static void check_text(const char *text, size_t max)
{
	require(strlen(text) <= max);
	for (; *text; text++)
		require(*text >= ' ' && *text <= '~');
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	const char *text = (const char *)bytes;
	struct filestore_page page = {NULL, 0, 0, NULL};
	char etag[STORE_ETAG_MAX + 1];
	struct buf id = BUF_INIT;
	struct s3_error e;
	int ret = s3_answer_listing(&page, "p/", text, len, NULL);

	for (size_t i = 0; i < page.nr; i++) {
		require(filestore_name_is_valid(page.entries[i].name));
		require(page.entries[i].info.mtime >= 0);
		require(strlen(page.entries[i].info.etag) <= STORE_ETAG_MAX);
	}
	require(ret < 0 || !page.next ||
		(*page.next && strlen(page.next) <= S3_TOKEN_MAX));
	filestore_page_release(&page);

	s3_answer_error(&e, text, len);
	check_text(e.code, S3_CODE_MAX);
	check_text(e.message, S3_MESSAGE_MAX);

	ret = s3_answer_upload(&id, text, len, NULL);
	require(ret < 0 ? !id.len : id.len && id.len <= S3_UPLOAD_MAX);
	buf_release(&id);

	ret = s3_answer_complete(etag, &e, text, len, NULL);
	require(ret <= 1 && strlen(etag) <= STORE_ETAG_MAX);
	require((ret == 1) == (e.code[0] != 0));
	return 0;
}
