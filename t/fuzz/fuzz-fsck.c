/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target for object/fsck.c and odb/fsck-blob.c: any bytes are checked as
 * an object. The first byte chooses the type. If the check reports no error,
 * parsing the object must succeed.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "object/parse.h"
#include "odb/fsck-blob.h"
#include "t/fuzz/fuzz.h"

static int count(void *ctx, const struct fsck_report *report, struct error *err)
{
	if (!fsck_msg_name(report->msg) || !*report->text)
		abort();
	++*(size_t *)ctx;
	return 0;
}

static void check_tree(const uint8_t *data, size_t len, enum hash_algo algo)
{
	struct cursor c = cursor_make(data, len);
	struct tree_entry before = {0}, entry;
	bool has_before = false;
	int ret;

	while ((ret = tree_next(&entry, &c, algo)) > 0) {
		if (has_before && tree_name_cmp(&before, &entry) >= 0)
			abort();
		before = entry;
		has_before = true;
	}
	if (ret < 0)
		abort();
}

static void check_passed(enum object_type type, const uint8_t *data, size_t len,
			 enum hash_algo algo)
{
	struct commit_view commit;
	struct tag_view tag;

	if (type == OBJ_COMMIT && commit_parse(&commit, data, len, algo, NULL))
		abort();
	if (type == OBJ_TAG && tag_parse(&tag, data, len, algo, NULL))
		abort();
	if (type == OBJ_TREE)
		check_tree(data, len, algo);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static const enum object_type types[] = {OBJ_COMMIT, OBJ_TREE, OBJ_TAG,
						 OBJ_BLOB};
	struct oid oid = OID_ZERO_INIT;
	enum object_type type;
	struct fsck_rules rules;
	struct fsck f;
	size_t said = 0;
	int ret;

	if (!len)
		return 0;
	type = types[*data & 3];
	fsck_rules_init(&rules, *data & 4 ? HASH_SHA256 : HASH_SHA1,
			(*data & 8) != 0);
	fsck_init(&f, &rules);
	f.report = count;
	f.ctx = &said;
	ret = fsck_object(&f, &oid, type, data + 1, len - 1, NULL);
	if (ret < 0 || (ret && !said))
		abort();
	if (!said)
		check_passed(type, data + 1, len - 1, rules.algo);
	fsck_gitattributes(&f, &oid, data + 1, len - 1, NULL);
	fsck_blob_gitmodules(&f, &oid, data + 1, len - 1, NULL);
	fsck_release(&f);
	fsck_rules_release(&rules);
	return 0;
}
