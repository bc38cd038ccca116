/* SPDX-License-Identifier: MIT */
/*
 * Writes the bytes of a commit-graph file. All chunks are measured first, and
 * memory is reserved for the whole file. So writing the chunks cannot fail.
 */
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/chunk-format.h"
#include "base/mem.h"
#include "graph/commit-graph-file.h"
#include "graph/commit-graph-layer.h"
#include "object/hash.h"
#include "pack/ids.h"

/* number of bits of a committer date in the chunk CDAT */
#define DATE_BITS 34
#define DATE_MASK ((UINT64_C(1) << DATE_BITS) - 1)

struct layout {
	const struct commit_graph_file *file;
	struct buf *out;
	struct progress meter;
	uint64_t edge_nr;
	/*
	 * number of commits that need an entry in GDO2, because the difference
	 * of corrected date and date is too large for GDA2
	 */
	uint64_t overflow_nr;
	uint64_t filters_len; /* in bytes */
};

/*
 * Returns the number that a reader adds to the date in CDAT to get the
 * corrected date. CDAT has only the lowest bits of the date.
 */
static uint64_t date_offset(const struct commit_graph_record *r)
{
	return r->corrected - (r->date & DATE_MASK);
}

static void measure(struct layout *l)
{
	for (uint32_t i = 0; i < l->file->nr; i++) {
		const struct commit_graph_record *r = &l->file->records[i];

		if (r->parent_nr > 2)
			l->edge_nr += r->parent_nr - 1;
		l->overflow_nr += date_offset(r) >= COMMIT_GRAPH_OVERFLOW;
		if (l->file->filters)
			l->filters_len += l->file->filters[i].len;
	}
}

static void put_header(const struct layout *l, size_t chunk_nr)
{
	buf_append(l->out, "CGPH\1", 5);
	buf_append_char(l->out, (char)l->file->algo);
	buf_append_char(l->out, (char)chunk_nr);
	buf_append_char(l->out, (char)l->file->base_nr);
}

static void put_fanout(struct layout *l)
{
	const struct commit_graph_file *file = l->file;
	uint32_t upto = 0;

	for (unsigned byte = 0; byte < 256; byte++) {
		while (upto < file->nr &&
		       file->records[upto].oid.bytes[0] <= byte)
			upto++;
		buf_append_be32(l->out, upto);
	}
}

static void put_ids(struct layout *l)
{
	for (uint32_t i = 0; i < l->file->nr; i++)
		buf_append(l->out, l->file->records[i].oid.bytes,
			   hash_len(l->file->algo));
}

static void put_data(struct layout *l)
{
	const struct commit_graph_file *file = l->file;
	uint32_t edge = 0;

	for (uint32_t i = 0; i < file->nr; i++) {
		const struct commit_graph_record *r = &file->records[i];
		const uint32_t *parents = file->parents + r->first_parent;
		uint32_t second = COMMIT_GRAPH_NO_PARENT;

		if (r->parent_nr > 2) {
			second = COMMIT_GRAPH_EDGE | edge;
			edge += r->parent_nr - 1;
		} else if (r->parent_nr == 2) {
			second = parents[1];
		}
		buf_append(l->out, r->tree.bytes, hash_len(file->algo));
		buf_append_be32(l->out, r->parent_nr ? parents[0]
						     : COMMIT_GRAPH_NO_PARENT);
		buf_append_be32(l->out, second);
		buf_append_be64(l->out, (uint64_t)r->generation << DATE_BITS |
						(r->date & DATE_MASK));
	}
}

static void put_offsets(struct layout *l)
{
	uint32_t overflow = 0;

	for (uint32_t i = 0; i < l->file->nr; i++) {
		uint64_t off = date_offset(&l->file->records[i]);

		if (off >= COMMIT_GRAPH_OVERFLOW)
			off = COMMIT_GRAPH_OVERFLOW | overflow++;
		buf_append_be32(l->out, (uint32_t)off);
	}
}

static void put_overflow(struct layout *l)
{
	for (uint32_t i = 0; i < l->file->nr; i++) {
		uint64_t off = date_offset(&l->file->records[i]);

		if (off >= COMMIT_GRAPH_OVERFLOW)
			buf_append_be64(l->out, off);
	}
}

static void put_edges(struct layout *l)
{
	for (uint32_t i = 0; i < l->file->nr; i++) {
		const struct commit_graph_record *r = &l->file->records[i];
		const uint32_t *parents = l->file->parents + r->first_parent;

		for (uint32_t k = 1; r->parent_nr > 2 && k < r->parent_nr; k++)
			buf_append_be32(l->out,
					k + 1 < r->parent_nr
						? parents[k]
						: parents[k] |
							  COMMIT_GRAPH_EDGE);
	}
}

static void put_filter_ends(struct layout *l)
{
	uint32_t end = 0;

	for (uint32_t i = 0; i < l->file->nr; i++) {
		end += l->file->filters[i].len;
		buf_append_be32(l->out, end);
	}
}

static void put_filters(struct layout *l)
{
	const struct commit_graph_file *file = l->file;

	buf_append_be32(l->out, file->bloom.version);
	buf_append_be32(l->out, file->bloom.hash_nr);
	buf_append_be32(l->out, file->bloom.bits_per_entry);
	for (uint32_t i = 0; i < file->nr; i++)
		buf_append(l->out, file->filters[i].bytes,
			   file->filters[i].len);
}

static void put_bases(struct layout *l)
{
	buf_append(l->out, l->file->bases,
		   l->file->base_nr * hash_len(l->file->algo));
}

/*
 * A chunk of the file, the function that writes the chunk, and whether the file
 * gets the chunk.
 */
struct part {
	struct chunk chunk;
	void (*put)(struct layout *l);
	bool wanted;
};

#define PART_MAX 9

static size_t list_parts(struct part parts[PART_MAX], const struct layout *l)
{
	const struct commit_graph_file *file = l->file;
	size_t id_len = hash_len(file->algo);
	const struct part all[] = {
		{{.id = CHUNK_ID('O', 'I', 'D', 'F'), .len = PACK_FANOUT_LEN},
		 put_fanout,
		 true},
		{{.id = CHUNK_ID('O', 'I', 'D', 'L'),
		  .len = (uint64_t)file->nr * id_len},
		 put_ids,
		 true},
		{{.id = CHUNK_ID('C', 'D', 'A', 'T'),
		  .len = (uint64_t)file->nr * (id_len + 16)},
		 put_data,
		 true},
		{{.id = CHUNK_ID('G', 'D', 'A', '2'),
		  .len = (uint64_t)file->nr * 4},
		 put_offsets,
		 file->with_dates},
		{{.id = CHUNK_ID('G', 'D', 'O', '2'),
		  .len = l->overflow_nr * 8},
		 put_overflow,
		 file->with_dates && l->overflow_nr},
		{{.id = CHUNK_ID('E', 'D', 'G', 'E'), .len = l->edge_nr * 4},
		 put_edges,
		 l->edge_nr != 0},
		{{.id = CHUNK_ID('B', 'I', 'D', 'X'),
		  .len = (uint64_t)file->nr * 4},
		 put_filter_ends,
		 file->filters != NULL},
		{{.id = CHUNK_ID('B', 'D', 'A', 'T'),
		  .len = 12 + l->filters_len},
		 put_filters,
		 file->filters != NULL},
		{{.id = CHUNK_ID('B', 'A', 'S', 'E'),
		  .len = file->base_nr * id_len},
		 put_bases,
		 file->base_nr != 0},
	};
	size_t nr = 0;

	for (size_t i = 0; i < ARRAY_NR(all); i++)
		if (all[i].wanted)
			parts[nr++] = all[i];
	return nr;
}

static int put_parts(struct layout *l, size_t file_start)
{
	struct part parts[PART_MAX];
	struct chunk chunks[PART_MAX];
	size_t nr = list_parts(parts, l);
	char title[64];
	size_t room = 8 + CHUNK_ROW_LEN * (nr + 1) + OID_MAX_LEN;

	for (size_t i = 0; i < nr; i++) {
		chunks[i] = parts[i].chunk;
		if (!mem_add(&room, room, (size_t)chunks[i].len))
			return ERR_NOMEM;
	}
	if (buf_reserve(l->out, room) < 0)
		return ERR_NOMEM;
	put_header(l, nr);
	chunk_contents_append(l->out, file_start, chunks, nr);
	snprintf(title, sizeof(title), "Writing out commit graph in %zu pass%s",
		 nr, nr == 1 ? "" : "es");
	progress_start(&l->meter, l->file->progress, title, nr * l->file->nr);
	for (size_t i = 0; i < nr; i++) {
		parts[i].put(l);
		progress_add(&l->meter, l->file->nr);
	}
	progress_stop(&l->meter);
	return 0;
}

int commit_graph_file_append(struct buf *out, struct oid *checksum,
			     const struct commit_graph_file *file,
			     struct error *err)
{
	struct layout l = {.file = file, .out = out};
	size_t start = out->len;
	int ret;

	measure(&l);
	if (l.filters_len > UINT32_MAX)
		return error_set(
			err, ERR_UNSUPPORTED,
			"too many changed-path filters to write graph");
	ret = put_parts(&l, start);
	if (!ret)
		ret = hash_append_trailer(out, start, file->algo, checksum);
	if (ret < 0) {
		buf_set_len(out, start);
		return error_nomem(err);
	}
	return 0;
}
