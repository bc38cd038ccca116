/* SPDX-License-Identifier: MIT */
/*
 * Makes bundles of all branches and tags that clients see, and a list of these
 * bundles. `git bundle create` writes the bundles.
 *
 * The first bundle has all branches and tags. Each further bundle has the
 * commits that the bundles before it lack. If the list already has
 * BUNDLE_LIST_MAX bundles, a new second bundle replaces all bundles except the
 * first.
 *
 * After each repack, a new list is made. Its first bundle has all branches and
 * tags, for clients that have no bundle yet. Its second bundle has only the
 * commits that the old list lacks, for clients that have the old bundles. A
 * client downloads only the bundles whose creationToken is higher than all
 * tokens that it knows.
 *
 * The first bundle gets the highest token of the old list. A client that has
 * the old bundles knows this token, so it does not download the first bundle.
 * The second bundle gets a higher token, so such a client downloads the second
 * bundle.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "builtin/builtin.h"
#include "builtin/child.h"
#include "builtin/publish-parts.h"
#include "object/hash.h"
#include "pack/bundle.h"
#include "prepared/prepared.h"
#include "publish/bundle-list.h"
#include "publish/publish.h"
#include "sys/io.h"
#include "sys/map.h"
#include "sys/share.h"
#include "sys/tempfile.h"
#include "walk/revwalk.h"
#include "walk/walk.h"
#include "wire/oidset.h"
#include "wire/refview.h"

/* Permissions of published files: everybody may read them. */
#define MODE (0444 | SYS_SHARE(0444))

struct bundling {
	const struct repo *repo; /* borrowed */
	char *place;             /* owned */
	struct odb *odb;         /* owned */
	struct refview refs;
	struct bundle_list list;
	/* known[i]: the ids of the refs in bundle i of the list */
	struct oidset known[BUNDLE_LIST_MAX];
	/*
	 * the refs of the repository: their names, one on each line, and their
	 * ids
	 */
	struct buf names;
	struct oidset tips;
	struct error *err;
};

/* ---- present refs and listed bundles */

static int add_ref(void *ctx, const struct ref *ref)
{
	struct bundling *b = ctx;
	int ret = oidset_add(&b->tips, &ref->oid, b->err);

	if (ret >= 0 && buf_printf(&b->names, "%s\n", ref->name) < 0)
		ret = error_nomem(b->err);
	return ret < 0 ? ret : 0;
}

static int list_refs(struct bundling *b)
{
	int ret = refview_each(&b->refs, "refs/heads/", false, add_ref, b, NULL,
			       b->err);

	return ret ? ret
		   : refview_each(&b->refs, "refs/tags/", false, add_ref, b,
				  NULL, b->err);
}

/*
 * Set *checksum to the checksum of the pack that the prepared answers (stored
 * responses to clones) belong to. Without prepared answers, *checksum is zero.
 */
static int find_pack(struct bundling *b, struct oid *checksum)
{
	struct prepared prepared = PREPARED_INIT;
	int ret = prepared_open(&prepared, b->odb, 0, b->err);

	*checksum = (struct oid)OID_ZERO_INIT;
	if (ret > 0)
		*checksum = prepared.pack_checksum;
	prepared_close(&prepared);
	return ret < 0 ? ret : 0;
}

static int bundle_path(struct bundling *b, struct buf *out,
		       const struct oid *hash)
{
	char hex[OID_MAX_HEX_LEN + 1];

	oid_to_hex(hex, hash, b->repo->algo);
	return buf_printf(out, "%s/%s.bundle", b->place, hex) < 0
		       ? error_nomem(b->err)
		       : 0;
}

/*
 * Add the ids of a bundle's refs to *known, without refs that are hidden now.
 * Returns 1 if no ref of the bundle is hidden, 0 if one is, or a negative error
 * code.
 */
static int take_header(struct bundling *b, struct oidset *known,
		       const struct bundle_header *header)
{
	int ret = 0, stays = 1;

	for (size_t i = 0; i < header->refs.nr && ret >= 0; i++) {
		const struct bundle_item *item = &header->refs.items[i];

		ret = refview_hides(&b->refs, item->text);
		if (ret < 0)
			return error_nomem(b->err);
		if (ret > 0)
			stays = 0;
		else
			ret = oidset_add(known, &item->oid, b->err);
	}
	return ret < 0 ? ret : stays;
}

/*
 * Read the header of bundle `nr` of the list. Returns 1 if the bundle can stay
 * in the list, 0 if a new list must be made, or a negative error code.
 */
static int read_bundle(struct bundling *b, size_t nr)
{
	struct buf path = BUF_INIT;
	struct sys_map map = SYS_MAP_INIT;
	struct bundle_header header;
	size_t len;
	int ret = bundle_path(b, &path, &b->list.items[nr].hash);

	if (!ret)
		ret = sys_map_open(&map, path.data, b->err);
	if (!ret) {
		ret = bundle_header_parse(&header, &len, map.data, map.len,
					  true, path.data, b->err);
		if (ret > 0)
			ret = take_header(b, &b->known[nr], &header);
		bundle_header_release(&header);
	}
	sys_map_close(&map);
	buf_release(&path);
	return ret == ERR_MISSING || ret == ERR_CORRUPT ? 0 : ret;
}

/*
 * Read the list of bundles. Sets *last to the last token of the list, or to 0
 * if there is no list. Sets *known_nr to the number of bundles in the list.
 * Sets b->known to the refs of the bundles that can be read. If bundles cannot
 * be added to this list, sets b->list.nr to 0: the caller must make a new list.
 */
static int read_list(struct bundling *b, uint64_t *last, size_t *known_nr)
{
	struct oid pack, rules;
	int ret = find_pack(b, &pack), one = 0;
	bool stays;

	*last = *known_nr = 0;
	if (ret >= 0 && refview_rules_id(&rules, &b->refs.rules) < 0)
		ret = error_nomem(b->err);
	if (ret < 0)
		return ret;
	ret = bundle_list_read(&b->list, b->place, b->repo->algo, b->err);
	if (ret < 0 && ret != ERR_CORRUPT)
		return ret;
	*known_nr = b->list.nr;
	if (b->list.nr)
		*last = b->list.items[b->list.nr - 1].token;
	stays = oid_equal(&b->list.pack, &pack) &&
		oid_equal(&b->list.rules, &rules);
	for (size_t i = 0; i < b->list.nr && one >= 0; i++) {
		one = read_bundle(b, i);
		stays = stays && one > 0;
	}
	if (!stays)
		b->list.nr = 0;
	b->list.pack = pack;
	b->list.rules = rules;
	return one < 0 ? one : 0;
}

/*
 * Returns 1 if refs reach commits that the first `nr` bundles do not have, 0 if
 * not, or a negative error code.
 */
static int has_new(struct bundling *b, size_t nr)
{
	struct walk_tips wants = WALK_TIPS_INIT, haves = WALK_TIPS_INIT;
	struct revwalk_result result = REVWALK_RESULT_INIT;
	struct walk w;
	int ret = walk_open(&w, b->odb, NULL, 0, b->err);

	if (ret < 0)
		return ret;
	for (size_t i = 0; i < b->tips.nr && !ret; i++)
		ret = walk_add_tip(&w, &wants, &b->tips.oids[i], false, b->err);
	for (size_t k = 0; k < nr; k++)
		for (size_t i = 0; i < b->known[k].nr && !ret; i++)
			ret = walk_add_tip(&w, &haves, &b->known[k].oids[i],
					   true, b->err);
	if (!ret) {
		const struct revwalk_tips tips = {
			wants.commits, wants.commit_nr, haves.commits,
			haves.commit_nr};

		ret = revwalk_run(&result, &w.history, &tips, false, b->err);
	}
	if (!ret)
		ret = result.nr > 0;
	revwalk_result_release(&result);
	walk_tips_release(&wants);
	walk_tips_release(&haves);
	walk_close(&w);
	return ret;
}

/*
 * Returns whether the first `nr` bundles have at least one ref whose object the
 * repository has.
 */
static bool knows_any(struct bundling *b, size_t nr)
{
	for (size_t k = 0; k < nr; k++)
		for (size_t i = 0; i < b->known[k].nr; i++)
			if (odb_has(b->odb, &b->known[k].oids[i]))
				return true;
	return false;
}

/* ---- a new bundle */

/*
 * Write the arguments of `git bundle create`: all refs, without the commits of
 * the first `known_nr` bundles.
 */
static int put_revisions(struct bundling *b, struct buf *out, size_t known_nr)
{
	char hex[OID_MAX_HEX_LEN + 1];
	int ret = buf_append(out, b->names.data, b->names.len);

	for (size_t k = 0; k < known_nr; k++)
		for (size_t i = 0; i < b->known[k].nr && !ret; i++) {
			const struct oid *oid = &b->known[k].oids[i];

			oid_to_hex(hex, oid, b->repo->algo);
			if (odb_has(b->odb, oid))
				ret = buf_printf(out, "^%s\n", hex);
		}
	return ret < 0 ? error_nomem(b->err) : 0;
}

/*
 * Run `git bundle create` for all refs, without the commits of the first
 * `known_nr` bundles. Returns 0, the positive exit code of the command, or a
 * negative error code.
 */
static int create(struct bundling *b, const char *path, size_t known_nr)
{
	static const char *const words[] = {"bundle", "create", "-q", NULL};
	struct child_words w = child_git(words);
	struct buf input = BUF_INIT;
	int ret = put_revisions(b, &input, known_nr);

	child_add(&w, "%s", path);
	child_add(&w, "--stdin");
	if (ret < 0)
		child_words_release(&w);
	else
		ret = child_feed(&w, b->repo, input.data, input.len, b->err);
	buf_release(&input);
	return ret;
}

static int hash_bundle(struct bundling *b, struct oid *hash, const char *path)
{
	struct sys_map map = SYS_MAP_INIT;
	struct hash_ctx ctx;
	int ret = sys_map_open(&map, path, b->err);

	if (ret < 0)
		return ret;
	if (hash_init(&ctx, b->repo->algo) < 0) {
		ret = error_nomem(b->err);
	} else {
		hash_update(&ctx, map.data, map.len);
		hash_final(&ctx, hash);
		hash_release(&ctx);
	}
	sys_map_close(&map);
	return ret;
}

/*
 * Write a bundle and add it to the list, with the creationToken `token`. `git
 * bundle create` replaces our empty temporary file, and syncs the new file.
 * Returns 0, the positive exit code of `git bundle create`, or a negative error
 * code.
 */
static int add_bundle(struct bundling *b, uint64_t token, size_t known_nr)
{
	struct bundle_list_item *item = &b->list.items[b->list.nr];
	struct sys_tempfile file = SYS_TEMPFILE_INIT;
	struct buf path = BUF_INIT;
	int ret = sys_tempfile_create(&file, b->place, "tmp_publish_", MODE,
				      b->err);

	if (!ret)
		ret = sys_tempfile_finish(&file, SYS_FSYNC_NONE, b->err);
	if (!ret)
		ret = create(b, file.path, known_nr);
	if (!ret)
		ret = hash_bundle(b, &item->hash, file.path);
	if (!ret)
		ret = bundle_path(b, &path, &item->hash);
	if (!ret)
		ret = sys_share_path(file.path, SYS_SHARE(0444), b->err);
	if (!ret)
		ret = sys_tempfile_commit(&file, path.data, SYS_FSYNC_FSYNC,
					  b->err);
	item->token = token;
	b->list.nr += !ret;
	sys_tempfile_abort(&file);
	buf_release(&path);
	return ret;
}

static int write_list(struct bundling *b)
{
	struct sys_tempfile file = SYS_TEMPFILE_INIT;
	struct buf path = BUF_INIT, text = BUF_INIT;
	int ret = buf_printf(&path, "%s/%s", b->place, BUNDLE_LIST_FILE);

	if (!ret)
		ret = bundle_list_format(&text, &b->list);
	if (ret < 0)
		error_nomem(b->err);
	if (!ret)
		ret = sys_tempfile_create(&file, b->place, "tmp_publish_", MODE,
					  b->err);
	if (!ret)
		ret = sys_tempfile_write(&file, text.data, text.len, b->err);
	if (!ret)
		ret = sys_tempfile_commit(&file, path.data, SYS_FSYNC_FSYNC,
					  b->err);
	sys_tempfile_abort(&file);
	buf_release(&path);
	buf_release(&text);
	return ret;
}

static int remove_list(struct bundling *b)
{
	struct buf path = BUF_INIT;
	int ret = buf_printf(&path, "%s/%s", b->place, BUNDLE_LIST_FILE) < 0
			  ? error_nomem(b->err)
			  : sys_unlink(path.data, b->err);

	buf_release(&path);
	return ret;
}

/* ---- the list */

/*
 * If refs reach commits that no bundle of the list has, add a bundle of these
 * commits.
 */
static int extend(struct bundling *b, uint64_t now, uint64_t last)
{
	int ret = has_new(b, b->list.nr);

	if (ret <= 0)
		return ret;
	if (b->list.nr == BUNDLE_LIST_MAX)
		b->list.nr = 1;
	ret = add_bundle(b, now > last ? now : last + 1, b->list.nr);
	return ret ? ret : write_list(b);
}

/*
 * Write a new list of two bundles. The first has all refs. The second has the
 * commits that the `known_nr` bundles of the old list do not have.
 *
 * In two cases, the second bundle would be equal to the first, so only the
 * first is written: no old bundle can be read; or the repository has lost all
 * objects that refs of the old bundles name. A client with the old bundles then
 * fetches newer commits from the server.
 */
static int begin(struct bundling *b, uint64_t now, uint64_t last,
		 size_t known_nr)
{
	int ret = add_bundle(b, last ? last : now, 0);

	if (!ret && knows_any(b, known_nr)) {
		ret = has_new(b, known_nr);
		if (ret > 0)
			ret = add_bundle(b, last + 1, known_nr);
	}
	return ret ? ret : write_list(b);
}

/*
 * Extend the list of bundles, or make a new list. Returns 0, the positive exit
 * code of `git bundle create`, or a negative error code.
 */
static int update(struct bundling *b, uint64_t now)
{
	uint64_t last;
	size_t known_nr;
	int ret = read_list(b, &last, &known_nr);

	if (!ret)
		ret = list_refs(b);
	if (ret < 0)
		return ret;
	if (!b->tips.nr)
		return remove_list(b);
	return b->list.nr ? extend(b, now, last)
			  : begin(b, now, last, known_nr);
}

static int open_refs(struct bundling *b)
{
	return refview_open(&b->refs, b->repo, "uploadpack.hiderefs", NULL,
			    b->err);
}

/*
 * Returns 1 if branches or tags have changed since list_refs() listed them, 0
 * if not, or a negative error code.
 */
static int has_changed(struct bundling *b)
{
	struct buf before = b->names;
	int ret;

	b->names = (struct buf)BUF_INIT;
	refview_release(&b->refs);
	ret = open_refs(b);
	if (!ret)
		ret = list_refs(b);
	if (!ret)
		ret = before.len != b->names.len ||
		      memcmp(before.data, b->names.data, before.len) != 0;
	buf_release(&before);
	return ret;
}

/*
 * Update the list of bundles. Returns 0, the positive exit code of `git bundle
 * create`, or a negative error code. Sets *again to true if `git bundle create`
 * has failed and refs have changed during this try: the caller should try
 * again.
 */
static int try_update(struct bundling *b, uint64_t now, bool *again)
{
	int ret, changed;

	b->names = (struct buf)BUF_INIT;
	oidset_init(&b->tips, OIDSET_MAX);
	for (size_t i = 0; i < BUNDLE_LIST_MAX; i++)
		oidset_init(&b->known[i], OIDSET_MAX);
	ret = open_refs(b);
	if (!ret)
		ret = update(b, now);
	changed = ret > 0 ? has_changed(b) : 0;
	*again = changed > 0;
	refview_release(&b->refs);
	for (size_t i = 0; i < BUNDLE_LIST_MAX; i++)
		oidset_release(&b->known[i]);
	oidset_release(&b->tips);
	buf_release(&b->names);
	return changed < 0 ? changed : ret;
}

int publish_bundles(const struct repo *repo,
		    const struct published_config *config, int64_t now,
		    struct error *err)
{
	struct bundling b = {.repo = repo, .err = err};
	int ret, lock;
	bool again = false;

	ret = lock = publish_open_place(&b.place, repo, config, err);
	if (ret >= 0)
		ret = odb_open(&b.odb, repo, NULL, err);
	if (!ret)
		ret = try_update(&b, (uint64_t)now, &again);
	if (ret > 0 && again)
		ret = try_update(&b, (uint64_t)now, &again);
	if (ret > 0)
		ret = error_set(err, ERR_IO,
				"git bundle create failed with code %d", ret);
	sys_close(lock);
	odb_close(b.odb);
	free(b.place);
	return ret;
}
