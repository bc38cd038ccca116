/* SPDX-License-Identifier: MIT */
/*
 * Tests of odb/pack-list.c, which lists the packs of a directory: each pack is
 * found together with its side files (.idx, .rev, .bitmap, ...).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/mem.h"
#include "odb/pack-list.h"
#include "t/unit/tmprepo.h"

static char *pack_dir(const struct tmprepo *t)
{
	struct buf dir = BUF_INIT;

	buf_printf(&dir, "%s/objects/pack", t->dir);
	return buf_detach(&dir, NULL);
}

/*
 * Returns the entry for "pack-<name>" of the list, or NULL if this pack is not
 * listed.
 */
static const struct pack_list_entry *entry_of(const struct pack_list *list,
					      const char *dir, const char *name)
{
	const struct pack_list_entry *found = NULL;
	struct buf base = BUF_INIT;

	buf_printf(&base, "%s/pack-%s", dir, name);
	for (size_t i = 0; i < list->nr && !found; i++)
		if (!strcmp(list->entries[i].base, base.data))
			found = &list->entries[i];
	buf_release(&base);
	return found;
}

static void write_all(const struct tmprepo *t, const char *const *names,
		      size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		struct buf name = BUF_INIT;

		buf_printf(&name, "objects/pack/%s", names[i]);
		tmprepo_write(t, name.data, "");
		buf_release(&name);
	}
}

static void many(void **state)
{
	static const char *const names[] = {
		"pack-a.idx",       "pack-a.pack",
		"pack-b.idx",       "pack-b.keep",
		"pack-c.promisor",  "pack-c.idx",
		"pack-d.idx",       "pack-d.mtimes",
		"pack-d.keep",      "pack-e.idx",
		"pack-f.keep",      "pack-aa.keep",
		"pack-g.pack",      ".idx",
		"x.keep",           ".keep",
		"pack-b.keep.idx2",
	};
	struct pack_list list;
	struct tmprepo t;
	char *dir;

	tmprepo_init(&t, HASH_SHA1);
	write_all(&t, names, ARRAY_NR(names));
	dir = pack_dir(&t);
	assert_int_equal(pack_list_read(&list, dir, NULL), 0);
	assert_int_equal(list.nr, 5);
	for (size_t i = 0; i < list.nr; i++) {
		const struct pack_list_entry *entry = &list.entries[i];
		char letter = entry->base[strlen(entry->base) - 1];
		const struct pack_side_files *side_files = pack_list_side_files(
			&list, i);

		assert_ptr_equal(side_files, &entry->side_files);
		assert_int_equal(side_files->has_keep,
				 letter == 'b' || letter == 'd');
		assert_int_equal(side_files->has_promisor, letter == 'c');
		assert_int_equal(side_files->has_mtimes, letter == 'd');
	}
	assert_non_null(entry_of(&list, dir, "a"));
	assert_non_null(entry_of(&list, dir, "e"));
	assert_null(entry_of(&list, dir, "f"));
	assert_null(entry_of(&list, dir, "g"));
	pack_list_release(&list);
	assert_int_equal(list.nr, 0);
	free(dir);
	tmprepo_release(&t);
}

/*
 * If a directory has only few packs, pack_list_read() does not look for the
 * other files of a pack, such as .keep.
 */
static void few(void **state)
{
	static const char *const names[] = {"pack-a.idx", "pack-b.idx",
					    "pack-b.keep"};
	struct pack_list list;
	struct tmprepo t;
	char *dir;

	tmprepo_init(&t, HASH_SHA1);
	write_all(&t, names, ARRAY_NR(names));
	dir = pack_dir(&t);
	assert_int_equal(pack_list_read(&list, dir, NULL), 0);
	assert_int_equal(list.nr, 2);
	assert_null(pack_list_side_files(&list, 0));
	assert_null(pack_list_side_files(&list, 1));
	pack_list_release(&list);
	free(dir);
	tmprepo_release(&t);
}

static void none(void **state)
{
	struct error err = ERROR_INIT;
	struct pack_list list;
	struct tmprepo t;
	char *dir;

	tmprepo_init(&t, HASH_SHA1);
	dir = pack_dir(&t);
	assert_int_equal(pack_list_read(&list, dir, NULL), 0);
	assert_int_equal(list.nr, 0);
	pack_list_release(&list);
	tmprepo_write(&t, "objects/pack/x", "");
	assert_int_equal(pack_list_read(&list, dir, &err), 0);
	assert_int_equal(list.nr, 0);
	pack_list_release(&list);
	free(dir);
	tmprepo_release(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(many),
		cmocka_unit_test(few),
		cmocka_unit_test(none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
