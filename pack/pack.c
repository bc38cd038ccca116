/* SPDX-License-Identifier: MIT */
/*
 * Opens packs. For all packs that are written today, versions 2 and 3 of the
 * format are the same.
 */
#include <string.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/mem.h"
#include "object/hash.h"
#include "pack/pack.h"
#include "sys/io.h"

/*
 * Sets *path to the path of the side file with the suffix `ext`, "<base><ext>".
 * Returns 0 or ERR_NOMEM.
 */
static int file_path(struct buf *path, const struct pack *pack, const char *ext)
{
	buf_reset(path);
	if (buf_append_str(path, pack->path) < 0)
		return ERR_NOMEM;
	return buf_append_str(path, ext);
}

static int has_file(bool *has, struct buf *path, const struct pack *pack,
		    const char *ext)
{
	if (file_path(path, pack, ext) < 0)
		return ERR_NOMEM;
	*has = sys_exists(path->data);
	return 0;
}

static int find_side_files(struct pack_side_files *side_files, struct buf *path,
			   const struct pack *pack)
{
	if (has_file(&side_files->has_keep, path, pack, ".keep") < 0 ||
	    has_file(&side_files->has_promisor, path, pack, ".promisor") < 0 ||
	    has_file(&side_files->has_mtimes, path, pack, ".mtimes") < 0)
		return ERR_NOMEM;
	return 0;
}

/*
 * Sets the fields of a pack that tell which side files exist. If `known` is
 * NULL, looks for the side files. Returns 0 or ERR_NOMEM.
 */
static int set_side_fields(struct pack *pack, struct buf *path,
			   const struct pack_side_files *known,
			   struct error *err)
{
	struct pack_side_files side_files = {0};

	if (known)
		side_files = *known;
	else if (find_side_files(&side_files, path, pack) < 0)
		return error_nomem(err);
	pack->is_kept = side_files.has_keep;
	pack->is_promisor = side_files.has_promisor;
	pack->is_cruft = side_files.has_mtimes;
	return 0;
}

static int open_idx(struct pack *pack, struct buf *path, struct error *err)
{
	int ret;

	if (file_path(path, pack, ".idx") < 0)
		return error_nomem(err);
	ret = sys_map_open(&pack->idx_map, path->data, err);
	if (ret < 0)
		return ret;
	return pack_idx_parse(&pack->idx, pack->idx_map.data, pack->idx_map.len,
			      pack->algo, path->data, err);
}

static int check_pack(struct pack *pack, const char *file, struct error *err)
{
	uint8_t header[PACK_HEADER_LEN], trailer[OID_MAX_LEN];
	size_t len = pack->file.len, id_len = hash_len(pack->algo);
	int ret;

	if (len < PACK_HEADER_LEN + id_len)
		return error_set(err, ERR_CORRUPT, "%s: pack file too small",
				 file);
	ret = sys_held_read(&pack->file, header, PACK_HEADER_LEN, 0, file, err);
	if (!ret)
		ret = sys_held_read(&pack->file, trailer, id_len, len - id_len,
				    file, err);
	if (ret < 0)
		return ret;
	if (memcmp(header, "PACK", 4) != 0)
		return error_set(err, ERR_CORRUPT, "%s: not a pack", file);
	pack->version = load_be32(header + 4);
	if (pack->version != 2 && pack->version != 3)
		return error_set(err, ERR_UNSUPPORTED,
				 "%s: pack version %u is not known", file,
				 pack->version);
	if (load_be32(header + 8) != pack->idx.nr)
		return error_set(err, ERR_CORRUPT,
				 "%s: %u objects in the pack, %u in its index",
				 file, load_be32(header + 8), pack->idx.nr);
	oid_from_raw(&pack->checksum, trailer, pack->algo);
	if (memcmp(pack->checksum.bytes, pack->idx.pack_checksum, id_len) != 0)
		return error_set(err, ERR_CORRUPT,
				 "%s: index belongs to another pack", file);
	return 0;
}

static int hold_pack(struct pack *pack, struct buf *path, struct error *err)
{
	int ret;

	if (file_path(path, pack, ".pack") < 0)
		return error_nomem(err);
	ret = sys_held_open(&pack->file, path->data, err);
	pack->mtime_ns = pack->file.mtime_ns;
	return ret;
}

/*
 * Opens the .pack file first. If there is no .pack file, the index is a
 * leftover file and is ignored. Returns 0 or a negative error code.
 */
static int open_files(struct pack *pack, struct buf *path,
		      const struct pack_side_files *side_files,
		      struct error *err)
{
	int ret = hold_pack(pack, path, err);

	if (!ret)
		ret = open_idx(pack, path, err);
	if (!ret)
		ret = set_side_fields(pack, path, side_files, err);
	if (ret < 0)
		return ret;
	if (file_path(path, pack, ".pack") < 0)
		return error_nomem(err);
	return check_pack(pack, path->data, err);
}

/*
 * Makes the struct of a pack, whose files are not opened yet. Returns NULL if
 * memory runs out.
 */
static struct pack *new_pack(const char *path, enum hash_algo algo,
			     struct error *err)
{
	struct pack *pack = mem_calloc(1, sizeof(*pack));
	const char *slash;

	if (!pack) {
		error_nomem(err);
		return NULL;
	}
	pthread_mutex_init(&pack->lock, NULL);
	pack->file = (struct sys_held)SYS_HELD_INIT;
	pack->algo = algo;
	pack->path = mem_strdup(path);
	if (!pack->path) {
		pack_close(pack);
		error_nomem(err);
		return NULL;
	}
	slash = strrchr(pack->path, '/');
	pack->name = slash ? slash + 1 : pack->path;
	return pack;
}

int pack_open_with(struct pack **out, const char *base, enum hash_algo algo,
		   const struct pack_side_files *side_files, struct error *err)
{
	struct pack *pack = new_pack(base, algo, err);
	struct buf path = BUF_INIT;
	int ret = pack ? open_files(pack, &path, side_files, err) : ERR_NOMEM;

	if (ret < 0) {
		pack_close(pack);
		pack = NULL;
	}
	*out = pack;
	buf_release(&path);
	return ret;
}

int pack_open_alone(struct pack **out, const char *path, const void *idx,
		    size_t idx_len, enum hash_algo algo, struct error *err)
{
	struct pack *pack = new_pack(path, algo, err);
	int ret = pack ? sys_held_open(&pack->file, path, err) : ERR_NOMEM;

	if (!ret)
		ret = pack_idx_parse(&pack->idx, idx, idx_len, algo, path, err);
	if (!ret)
		ret = check_pack(pack, path, err);
	if (ret < 0) {
		pack_close(pack);
		pack = NULL;
	} else {
		pack->ignores_rev = true;
	}
	*out = pack;
	return ret;
}

int pack_open(struct pack **out, const char *base, enum hash_algo algo,
	      struct error *err)
{
	return pack_open_with(out, base, algo, NULL, err);
}

/*
 * Returns whether an open file is the file of the pack. If the pack was
 * replaced by another pack of the same name with other bytes, the checksums
 * differ.
 */
static bool is_same_file(const struct pack *pack, int fd, uint64_t len)
{
	uint8_t checksum[OID_MAX_LEN];
	size_t id_len = hash_len(pack->algo);

	return len == pack->file.len &&
	       !sys_read_at(fd, checksum, id_len, len - id_len, pack->path,
			    NULL) &&
	       !memcmp(checksum, pack->checksum.bytes, id_len);
}

int pack_open_file(const struct pack *pack)
{
	struct buf path = BUF_INIT;
	uint64_t len;
	int fd = -1;

	if (!file_path(&path, pack, ".pack"))
		fd = sys_open_read(path.data, &len, NULL);
	if (fd >= 0 && !is_same_file(pack, fd, len)) {
		sys_close(fd);
		fd = -1;
	}
	buf_release(&path);
	return fd < 0 ? -1 : fd;
}

void pack_close(struct pack *pack)
{
	if (!pack)
		return;
	pack_rev_release(&pack->rev_file);
	pack_rev_release(&pack->rev_sorted);
	sys_map_close(&pack->rev_map);
	pack_idx_release(&pack->idx);
	sys_map_close(&pack->idx_map);
	sys_held_close(&pack->file);
	pthread_mutex_destroy(&pack->lock);
	free(pack->path);
	free(pack);
}

static bool parse_rev_file(struct pack *pack, const char *path)
{
	if (!sys_map_open(&pack->rev_map, path, NULL) &&
	    !pack_rev_parse(&pack->rev_file, &pack->idx, pack->file.len,
			    pack->rev_map.data, pack->rev_map.len, path, NULL))
		return true;
	sys_map_close(&pack->rev_map);
	return false;
}

/*
 * Computes the reverse index of a pack by sorting. A computed index is always
 * right, so it also replaces the table of a .rev file that was found wrong.
 * Returns NULL if memory runs out. The caller of sort_rev(), make_rev() and
 * prove_rev() holds the lock.
 */
static const struct pack_rev *sort_rev(struct pack *pack)
{
	if (pack_rev_compute(&pack->rev_sorted, &pack->idx, pack->file.len) < 0)
		return NULL;
	atomic_store_explicit(&pack->proven_rev, &pack->rev_sorted,
			      memory_order_release);
	atomic_store_explicit(&pack->rev, &pack->rev_sorted,
			      memory_order_release);
	return &pack->rev_sorted;
}

/*
 * Makes the reverse index of a pack. A .rev file that cannot be used is
 * treated as missing. Returns NULL if memory runs out.
 */
static const struct pack_rev *make_rev(struct pack *pack)
{
	const struct pack_rev *rev = atomic_load_explicit(&pack->rev,
							  memory_order_relaxed);
	struct buf path = BUF_INIT;

	if (rev)
		return rev;
	if (!file_path(&path, pack, ".rev"))
		rev = !pack->ignores_rev && parse_rev_file(pack, path.data)
			      ? &pack->rev_file
			      : sort_rev(pack);
	buf_release(&path);
	atomic_store_explicit(&pack->rev, rev, memory_order_release);
	return rev;
}

/*
 * Verifies the table of the .rev file, and returns the reverse index. If the
 * table is wrong, returns a computed reverse index. Other threads may continue
 * to use the unverified reverse index: its results may be wrong, but are in
 * range.
 */
static const struct pack_rev *prove_rev(struct pack *pack)
{
	const struct pack_rev *rev = make_rev(pack);

	if (rev != &pack->rev_file)
		return rev;
	if (pack_rev_verify(rev, pack->path, NULL) < 0)
		return sort_rev(pack);
	atomic_store_explicit(&pack->proven_rev, rev, memory_order_release);
	return rev;
}

const struct pack_rev *pack_get_rev(struct pack *pack, struct error *err)
{
	const struct pack_rev *rev = atomic_load_explicit(&pack->proven_rev,
							  memory_order_acquire);

	if (rev)
		return rev;
	pthread_mutex_lock(&pack->lock);
	rev = atomic_load_explicit(&pack->proven_rev, memory_order_relaxed);
	if (!rev)
		rev = prove_rev(pack);
	pthread_mutex_unlock(&pack->lock);
	if (!rev)
		error_nomem(err);
	return rev;
}

const struct pack_rev *pack_get_rev_unproven(struct pack *pack,
					     struct error *err)
{
	const struct pack_rev *rev = atomic_load_explicit(&pack->rev,
							  memory_order_acquire);

	if (pack->idx.nr <= PACK_REV_SMALL_NR)
		return pack_get_rev(pack, err);
	if (rev)
		return rev;
	pthread_mutex_lock(&pack->lock);
	rev = make_rev(pack);
	pthread_mutex_unlock(&pack->lock);
	if (!rev)
		error_nomem(err);
	return rev;
}

/*
 * Sets the verified reverse index of the pack to `rev`, whose file has the
 * right checksum. Returns false if another reverse index was verified before:
 * then the order of `rev` was found wrong.
 */
static bool accept_rev(struct pack *pack, const struct pack_rev *rev)
{
	const struct pack_rev *proven = NULL;

	return atomic_compare_exchange_strong(&pack->proven_rev, &proven,
					      rev) ||
	       proven == rev;
}

int pack_check_rev(struct pack *pack, const struct pack_rev *rev,
		   struct error *err)
{
	struct buf path = BUF_INIT;
	int ret;

	if (rev->owned)
		return pack_idx_verify(&pack->idx, err);
	if (file_path(&path, pack, ".rev") < 0)
		ret = error_nomem(err);
	else
		ret = hash_check_trailer(pack->rev_map.data, pack->rev_map.len,
					 pack->algo, path.data, err);
	if (!ret && !accept_rev(pack, rev))
		ret = error_set(err, ERR_CORRUPT, "%s: wrong order of objects",
				path.data);
	buf_release(&path);
	return ret;
}

int pack_check_rev_with(struct pack *pack, const struct pack_rev *rev,
			const void *bytes, size_t len)
{
	int ret = rev->owned ? 0
			     : hash_check_two(pack->rev_map.data,
					      pack->rev_map.len, bytes, len,
					      pack->algo);

	return ret > 0 ? accept_rev(pack, rev) : ret;
}

int pack_entry_at(struct pack_entry *entry, const struct pack *pack,
		  uint64_t offset, struct error *err)
{
	uint64_t end = pack->file.len - hash_len(pack->algo);
	const uint8_t *bytes = pack_bytes(pack, err);
	struct cursor c;

	if (!bytes)
		return error_recorded(err, ERR_IO);
	if (offset < PACK_HEADER_LEN || offset >= end)
		return error_set_at(err, ERR_CORRUPT, pack->path, offset,
				    "offset is outside the objects");
	c = cursor_make(bytes + offset, (size_t)(end - offset));
	if (pack_entry_parse(entry, &c, pack->algo) < 0)
		return error_set_at(err, ERR_CORRUPT, pack->path, offset,
				    "invalid object header");
	if (entry->type == OBJ_OFS_DELTA &&
	    entry->base_distance > offset - PACK_HEADER_LEN)
		return error_set_at(err, ERR_CORRUPT, pack->path, offset,
				    "delta base before the pack's start");
	return 0;
}

/*
 * Searches the index of the pack for the base of a REF_DELTA. The REF_DELTA is
 * the entry at `offset` of the pack. Returns 1 or ERR_CORRUPT.
 */
static int find_ref_base(uint32_t *idx_pos, const struct pack *pack,
			 uint64_t offset, const struct pack_entry *entry,
			 struct error *err)
{
	char hex[OID_MAX_HEX_LEN + 1];

	if (pack_idx_find(&pack->idx, entry->base_oid, idx_pos))
		return 1;
	return error_set_at(err, ERR_CORRUPT, pack->path, offset,
			    "delta base %s is not in the pack",
			    oid_raw_to_hex(hex, entry->base_oid, pack->algo));
}

int pack_entry_base(uint64_t *base_offset, const struct pack *pack,
		    uint64_t offset, const struct pack_entry *entry,
		    struct error *err)
{
	uint32_t idx_pos;
	int ret;

	if (entry->type == OBJ_OFS_DELTA) {
		*base_offset = offset - entry->base_distance;
		return 1;
	}
	if (entry->type != OBJ_REF_DELTA)
		return 0;
	ret = find_ref_base(&idx_pos, pack, offset, entry, err);
	if (ret > 0)
		*base_offset = pack_idx_offset(&pack->idx, idx_pos);
	return ret;
}

/*
 * Finds the object that begins at `offset`. Returns 1, ERR_CORRUPT or
 * ERR_NOMEM.
 */
static int find_at(uint32_t *idx_pos, struct pack *pack, uint64_t offset,
		   struct error *err)
{
	const struct pack_rev *rev = pack_get_rev_unproven(pack, err);
	uint32_t pack_pos;

	if (rev && !pack_rev_find(rev, offset, &pack_pos)) {
		rev = pack_get_rev(pack, err);
		if (rev && !pack_rev_find(rev, offset, &pack_pos))
			return error_set_at(err, ERR_CORRUPT, pack->path,
					    offset, "no object starts there");
	}
	if (!rev)
		return ERR_NOMEM;
	*idx_pos = pack_rev_idx_pos(rev, pack_pos);
	return 1;
}

int pack_entry_base_pos(uint32_t *base_idx_pos, struct pack *pack,
			uint64_t offset, const struct pack_entry *entry,
			struct error *err)
{
	if (entry->type == OBJ_OFS_DELTA)
		return find_at(base_idx_pos, pack,
			       offset - entry->base_distance, err);
	if (entry->type == OBJ_REF_DELTA)
		return find_ref_base(base_idx_pos, pack, offset, entry, err);
	return 0;
}

/*
 * Returns whether the id at idx_pos is twice in the index. Equal ids are
 * neighbours.
 */
static bool is_twice(const struct pack *pack, uint32_t idx_pos)
{
	const uint8_t *raw = pack_idx_oid(&pack->idx, idx_pos);
	size_t len = hash_len(pack->algo);

	return (idx_pos &&
		!memcmp(raw, pack_idx_oid(&pack->idx, idx_pos - 1), len)) ||
	       (idx_pos + 1 < pack->idx.nr &&
		!memcmp(raw, pack_idx_oid(&pack->idx, idx_pos + 1), len));
}

/*
 * Sets *offset to the offset of the base of the entry at *offset, and
 * returns 1. Returns 0 if the entry is stored whole, or a negative error code.
 * If the id of the base is twice in the index, the result is ERR_CORRUPT.
 */
static int step_to_base(uint64_t *offset, const struct pack *pack)
{
	struct pack_entry entry;
	uint32_t idx_pos;
	int ret = pack_entry_at(&entry, pack, *offset, NULL);

	if (ret < 0 || entry.type != OBJ_REF_DELTA)
		return ret < 0 ? ret
			       : pack_entry_base(offset, pack, *offset, &entry,
						 NULL);
	if (!pack_idx_find(&pack->idx, entry.base_oid, &idx_pos) ||
	    is_twice(pack, idx_pos))
		return ERR_CORRUPT;
	*offset = pack_idx_offset(&pack->idx, idx_pos);
	return 1;
}

bool pack_chain_ends(const struct pack *pack, uint32_t idx_pos)
{
	uint64_t offset = pack_idx_offset(&pack->idx, idx_pos);
	int ret = is_twice(pack, idx_pos) ? ERR_CORRUPT : 1;

	for (unsigned i = 0; i <= PACK_CHAIN_MAX && ret > 0; i++)
		ret = step_to_base(&offset, pack);
	return !ret;
}

bool pack_holds(const struct pack *pack, const uint8_t *raw)
{
	uint32_t idx_pos;

	return pack_idx_find(&pack->idx, raw, &idx_pos) &&
	       pack_chain_ends(pack, idx_pos);
}

int pack_verify_checksum(const struct pack *pack, struct error *err)
{
	const uint8_t *bytes = pack_bytes(pack, err);

	if (!bytes)
		return error_recorded(err, ERR_IO);
	return hash_check_trailer(bytes, pack->file.len, pack->algo, pack->path,
				  err);
}
