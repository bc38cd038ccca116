/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target for base/json-read.c: any bytes are parsed as a JSON object. A
 * string that can be read is written. Reading the written string must give the
 * same string.
 */
#include "base/json-read.h"
#include "base/json.h"
#include "t/fuzz/fuzz.h"

static void check_string(const struct json_value *value)
{
	struct buf text = BUF_INIT, object = BUF_INIT, again = BUF_INIT;
	struct json_members m;
	struct json_member member;

	require(!json_value_string(&text, value));
	require(!buf_append_str(&object, "{\"s\":"));
	require(!json_string(&object, text.len ? text.data : "", text.len));
	require(!buf_append_char(&object, '}'));
	json_members_init(&m, object.data, object.len);
	require(json_members_next(&m, &member) == 1);
	require(member.value.kind == JSON_STRING);
	require(!json_value_string(&again, &member.value));
	require(again.len == text.len);
	require(!text.len || !memcmp(again.data, text.data, text.len));
	require(!json_members_next(&m, &member));
	buf_release(&text);
	buf_release(&object);
	buf_release(&again);
}

/*
 * Checks the members of a nested JSON object. Reading them must not fail,
 * because the reader has already validated the nested object as a value of the
 * outer one.
 */
static void check_object(const struct json_value *value)
{
	struct json_members m;
	struct json_member member;
	int ret;

	json_members_init(&m, value->text, value->len);
	while ((ret = json_members_next(&m, &member)) > 0)
		require(member.value.text + member.value.len <=
			value->text + value->len);
	require(!ret);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	char *bytes = malloc(len ? len : 1);
	struct json_members m;
	struct json_member member;
	uint64_t number;

	if (!bytes)
		return 0;
	if (len)
		memcpy(bytes, data, len);
	json_members_init(&m, bytes, len);
	while (json_members_next(&m, &member) > 0) {
		require(member.key >= bytes && member.value.len > 0);
		require(member.value.text + member.value.len <= bytes + len);
		if (member.value.kind == JSON_STRING)
			check_string(&member.value);
		if (member.value.kind == JSON_OBJECT)
			check_object(&member.value);
		json_value_u64(&number, &member.value);
	}
	free(bytes);
	return 0;
}
