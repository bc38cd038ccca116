/* SPDX-License-Identifier: MIT */
/* Lists the packs and side files in a directory. */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "odb/pack-list.h"
#include "sys/io.h"

struct listing {
	struct pack_list *list;
	/*
	 * path of the directory with a slash, followed by the name of a file in
	 * it
	 */
	struct buf path;
	size_t dir_len;
	/* true: the list is sorted by `base` */
	bool is_sorted;
	struct error *err;
};

/*
 * If `name` is longer than `ext` and ends in `ext`, sets l->path to the path of
 * the file without `ext` and returns 1. Otherwise returns 0 or ERR_NOMEM.
 */
static int take_base(struct listing *l, const char *name, const char *ext)
{
	size_t len = strlen(name), ext_len = strlen(ext);

	if (len <= ext_len || strcmp(name + len - ext_len, ext) != 0)
		return 0;
	buf_set_len(&l->path, l->dir_len);
	if (buf_append(&l->path, name, len - ext_len) < 0)
		return error_nomem(l->err);
	return 1;
}

static int add_pack(void *ctx, const char *name)
{
	struct listing *l = ctx;
	struct pack_list *list = l->list;
	int ret = take_base(l, name, ".idx");
	char *base;

	if (ret <= 0)
		return ret;
	base = mem_strdup(l->path.data);
	if (!base || mem_grow(&list->entries, &list->alloc, list->nr + 1,
			      sizeof(*list->entries)) < 0) {
		free(base);
		return error_nomem(l->err);
	}
	list->entries[list->nr++] = (struct pack_list_entry){.base = base};
	return 0;
}

static int cmp_entries(const void *va, const void *vb)
{
	const struct pack_list_entry *a = va, *b = vb;

	return strcmp(a->base, b->base);
}

/*
 * Returns the listed pack whose base is in l->path, or NULL. The first call
 * sorts the list. This function is called only for side files, so the list of a
 * directory without side files is never sorted.
 */
static struct pack_list_entry *find_entry(struct listing *l)
{
	const struct pack_list_entry wanted = {.base = l->path.data};
	struct pack_list *list = l->list;

	if (!l->is_sorted)
		qsort(list->entries, list->nr, sizeof(*list->entries),
		      cmp_entries);
	l->is_sorted = true;
	return bsearch(&wanted, list->entries, list->nr, sizeof(wanted),
		       cmp_entries);
}

static int note_side_file(void *ctx, const char *name)
{
	static const struct {
		const char *ext;
		/*
		 * offset of the field in struct pack_side_files that records
		 * the file
		 */
		size_t at;
	} files[] = {
		{".keep", offsetof(struct pack_side_files, has_keep)},
		{".promisor", offsetof(struct pack_side_files, has_promisor)},
		{".mtimes", offsetof(struct pack_side_files, has_mtimes)},
	};

	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		int ret = take_base(ctx, name, files[i].ext);
		struct pack_list_entry *entry;

		if (ret < 0)
			return ret;
		entry = ret ? find_entry(ctx) : NULL;
		if (entry)
			*(bool *)((char *)&entry->side_files +
				  files[i].at) = true;
	}
	return 0;
}

int pack_list_read(struct pack_list *list, const char *dir, struct error *err)
{
	struct listing l = {.list = list, .path = BUF_INIT, .err = err};
	int ret = buf_printf(&l.path, "%s/", dir);

	*list = (struct pack_list){0};
	l.dir_len = l.path.len;
	if (ret < 0)
		ret = error_nomem(err);
	else
		ret = sys_dir_each(dir, add_pack, &l, err);
	if (!ret && list->nr > PACK_LIST_FEW) {
		ret = sys_dir_each(dir, note_side_file, &l, err);
		list->knows_side_files = !ret;
	}
	buf_release(&l.path);
	return ret == ERR_MISSING ? 0 : ret;
}

void pack_list_release(struct pack_list *list)
{
	while (list->nr)
		free(list->entries[--list->nr].base);
	free(list->entries);
	*list = (struct pack_list){0};
}
