/* SPDX-License-Identifier: MIT */
/* Decodes loose objects from the bytes of their files. */
#include <string.h>

#include "base/cursor.h"
#include "base/mem.h"
#include "odb/loose.h"

/*
 * Maximum size in bytes of a loose object that read_small() inflates in one
 * call, header and content together.
 */
#define SMALL_MAX 8192

static bool parse_size(struct cursor *c, uint64_t *size)
{
	const uint8_t *start = c->p;
	uint64_t value = 0;

	while (cursor_left(c) && *c->p >= '0' && *c->p <= '9') {
		uint64_t digit = *c->p++ - (uint64_t)'0';

		if (value > (UINT64_MAX - digit) / 10)
			return false;
		value = value * 10 + digit;
	}
	if (c->p == start || (*start == '0' && c->p > start + 1))
		return false;
	*size = value;
	return true;
}

int loose_header_parse(struct loose_header *header, const void *bytes,
		       size_t len, struct error *err)
{
	size_t look_len = len < LOOSE_HEADER_MAX ? len : LOOSE_HEADER_MAX;
	const uint8_t *space = memchr(bytes, ' ', look_len);
	struct cursor c = cursor_make(bytes, len);
	size_t type_len;
	uint8_t nul;

	memset(header, 0, sizeof(*header));
	if (!space)
		return error_set(err, ERR_CORRUPT,
				 "loose object header "
				 "without a type");
	type_len = (size_t)(space - c.p);
	header->type = object_type_by_name(bytes, type_len);
	if (header->type == OBJ_NONE)
		return error_set(err, ERR_CORRUPT,
				 "unknown loose object type '%.*s'",
				 (int)type_len, (const char *)bytes);
	cursor_skip(&c, type_len + 1);
	if (!parse_size(&c, &header->size) || !cursor_u8(&c, &nul) || nul)
		return error_set(err, ERR_CORRUPT,
				 "loose object header without a size");
	header->header_len = (size_t)(c.p - (const uint8_t *)bytes);
	return 0;
}

static int in_file(int code, const char *name, const struct error *detail,
		   struct error *err)
{
	return error_set(err, (enum error_code)code, "%s: %s", name,
			 detail->msg);
}

int loose_info(struct loose_header *header, struct inflater *inf,
	       const void *file, size_t file_len, const char *name,
	       struct error *err)
{
	uint8_t bytes[LOOSE_HEADER_MAX];
	size_t header_len = sizeof(bytes), used = file_len;
	struct error detail = ERROR_INIT;

	memset(header, 0, sizeof(*header));
	if (inflater_start(inf) < 0)
		return error_nomem(err);
	if (inflater_feed(inf, bytes, &header_len, file, &used) < 0 ||
	    !header_len)
		return error_set(err, ERR_CORRUPT, "%s: not a zlib stream",
				 name);
	if (loose_header_parse(header, bytes, header_len, &detail) < 0)
		return in_file(detail.code, name, &detail, err);
	return 0;
}

/*
 * Decodes a small file without inflating its header first. Returns 0, or 1 if
 * the caller must decode the file in the usual way: the object or its file is
 * too large (SMALL_MAX), the file is not a loose object, or memory ran out.
 */
static int read_small(struct loose_object *obj, struct inflater *inf,
		      const void *file, size_t file_len)
{
	uint8_t bytes[SMALL_MAX];
	struct loose_header header;
	size_t total_len, used;

	if (file_len > SMALL_MAX ||
	    inflater_up_to(inf, bytes, sizeof(bytes), &total_len, file,
			   file_len, &used) ||
	    used != file_len ||
	    loose_header_parse(&header, bytes, total_len, NULL) < 0 ||
	    header.size != total_len - header.header_len)
		return 1;
	obj->memory = mem_alloc(total_len - header.header_len + 1, 1);
	if (!obj->memory)
		return 1;
	memcpy(obj->memory, bytes + header.header_len, header.size);
	((uint8_t *)obj->memory)[header.size] = '\0';
	obj->type = header.type;
	obj->data = obj->memory;
	obj->len = (size_t)header.size;
	return 0;
}

int loose_read(struct loose_object *obj, struct inflater *inf, const void *file,
	       size_t file_len, const char *name, struct error *err)
{
	struct loose_header header;
	size_t total_len, used;
	uint8_t *memory;
	int ret;

	memset(obj, 0, sizeof(*obj));
	if (!read_small(obj, inf, file, file_len))
		return 0;
	ret = loose_info(&header, inf, file, file_len, name, err);
	if (ret < 0)
		return ret;
	if (!mem_can_inflate(header.size, file_len) ||
	    !mem_add(&total_len, (size_t)header.size, header.header_len))
		return error_set(
			err, ERR_CORRUPT,
			"%s: the size in the header is too large for this file",
			name);
	memory = mem_alloc(total_len + 1, 1);
	if (!memory)
		return error_nomem(err);
	ret = inflater_exact(inf, memory, total_len, file, file_len, &used);
	if (ret < 0 || used != file_len) {
		free(memory);
		return error_set(err, ERR_CORRUPT,
				 ret < 0 ? "%s: corrupt loose object"
					 : "%s: garbage after loose object",
				 name);
	}
	memory[total_len] = '\0';
	*obj = (struct loose_object){
		.type = header.type,
		.data = memory + header.header_len,
		.len = (size_t)header.size,
		.memory = memory,
	};
	return 0;
}
