/* SPDX-License-Identifier: MIT */
/*
 * Tests of stored/side.h, side bundles (the small files of a generation in one
 * file): they are written, parsed, and refused if they are malformed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "base/mem.h"
#include "stored/fetch.h"
#include "stored/side.h"
#include "sys/io.h"
#include "t/unit/storedrepo.h"

/* The dump of Documentation/format/side-files.md. */
static const char dump[] =
	"GRSF\0\0\0\1\0\0\0\2"
	"\x18\xf5\x38\x4d\x58\xbc\xb1\xbb\xa0\xbc\xd9\xe6\xa6\x78\x1d\x1a"
	"\x6a\xc2\xcc\x28\x0c\x33\x0e\xcb\xab\x6c\xb7\x93\x1b\x72\x15\x52"
	"\0\0\0\0\0\0\0\1"
	"\xe3\xb0\xc4\x42\x98\xfc\x1c\x14\x9a\xfb\xf4\xc8\x99\x6f\xb9\x24"
	"\x27\xae\x41\xe4\x64\x9b\x93\x4c\xa4\x95\x99\x1b\x78\x52\xb8\x55"
	"\0\0\0\0\0\0\0\0"
	"Y";

static int parse(const char *bytes, size_t len)
{
	struct stored_side side;
	char *exact = malloc(len + 1);
	int ret;

	memcpy(exact, bytes, len);
	ret = stored_side_parse(&side, exact, len, NULL);
	if (ret)
		assert_null(side.parts);
	if (!ret)
		ret = stored_side_verify(&side, NULL);
	stored_side_release(&side);
	free(exact);
	return ret;
}

static void test_dump(void **state)
{
	const struct stored_side_part *part;
	struct stored_side side;
	uint8_t hash[GENERATION_SHA256_LEN];

	(void)state;
	assert_int_equal(stored_side_parse(&side, dump, sizeof(dump) - 1, NULL),
			 0);
	assert_int_equal(side.nr, 2);
	assert_int_equal(stored_side_verify(&side, NULL), 0);
	memcpy(hash, dump + 12, sizeof(hash));
	part = stored_side_find(&side, hash);
	assert_int_equal(part->size, 1);
	assert_int_equal(*part->bytes, 'Y');
	hash[31] ^= 1;
	assert_null(stored_side_find(&side, hash));
	stored_side_release(&side);
	assert_null(stored_side_find(&side, hash));
}

static void test_damage(void **state)
{
	char bytes[sizeof(dump)];
	static const struct {
		size_t at;
		char value;
		int ret;
	} changes[] = {
		{0, 'g', ERR_CORRUPT},                /* signature */
		{7, 2, ERR_UNSUPPORTED},              /* version */
		{11, 1, ERR_CORRUPT},                 /* number of files */
		{11, 3, ERR_CORRUPT},                 /* the same */
		{8, -1, ERR_CORRUPT},                 /* the same, very large */
		{12, -1, ERR_CORRUPT},                /* order */
		{13, 0, ERR_CORRUPT},                 /* hash */
		{51, 0, ERR_CORRUPT},                 /* size */
		{44, -1, ERR_CORRUPT},                /* size, very large */
		{sizeof(dump) - 2, 'X', ERR_CORRUPT}, /* content */
	};

	(void)state;
	for (size_t len = 0; len < sizeof(dump) - 1; len++)
		assert_int_equal(parse(dump, len), ERR_CORRUPT);
	assert_int_equal(parse(dump, sizeof(dump) - 1), 0);
	/* One byte too many: sizeof includes the NUL of the string. */
	assert_int_equal(parse(dump, sizeof(dump)), ERR_CORRUPT);
	for (size_t i = 0; i < ARRAY_NR(changes); i++) {
		memcpy(bytes, dump, sizeof(dump));
		bytes[changes[i].at] = changes[i].value;
		assert_int_equal(parse(bytes, sizeof(dump) - 1),
				 changes[i].ret);
	}
}

/*
 * Makes a local file with the content `text`. Returns the data for uploading
 * the file as `path` of a generation (version).
 */
static struct generation_upload make(struct storedrepo *s, const char *path,
				     const char *text)
{
	struct generation_upload up = {.file.path = (char *)path};

	tmprepo_write(&s->n.t,
		      strrchr(path, '/') ? strrchr(path, '/') + 1 : path, text);
	up.local_path = mem_strdup(netrepo_path(
		&s->n, strrchr(path, '/') ? strrchr(path, '/') + 1 : path));
	assert_int_equal(stored_describe(&up.file, up.local_path, NULL), 0);
	return up;
}

static void read_side(struct storedrepo *s, struct buf *bytes, const char *name)
{
	buf_reset(bytes);
	assert_int_equal(sys_read_any(bytes, netrepo_path(&s->n, name), NULL),
			 0);
}

static void test_write(void **state)
{
	struct storedrepo s;
	struct buf one = BUF_INIT, two = BUF_INIT;
	struct generation_upload ups[5], swapped[5];
	struct stored_side side;
	char *path;

	(void)state;
	storedrepo_init(&s);
	ups[0] = make(&s, "config", "c");
	ups[1] = make(&s, "objects/pack/pack-1.pack", "p");
	ups[2] = make(&s, "objects/pack/pack-1.idx", "i");
	ups[3] = make(&s, "description", "c");
	ups[4] = make(&s, STORED_SIDE_PATH, "old");
	path = mem_strdup(netrepo_path(&s.n, "side"));
	/*
	 * Equal contents are in the side bundle once. Packs and an old side
	 * bundle are left out.
	 */
	assert_int_equal(stored_side_write(path, ups, 5, NULL), 0);
	read_side(&s, &one, "side");
	assert_int_equal(stored_side_parse(&side, one.data, one.len, NULL), 0);
	assert_int_equal(side.nr, 2);
	assert_int_equal(stored_side_verify(&side, NULL), 0);
	assert_non_null(stored_side_find(&side, ups[0].file.sha256));
	assert_non_null(stored_side_find(&side, ups[2].file.sha256));
	stored_side_release(&side);
	/* The order of the files does not change the side bundle. */
	for (int i = 0; i < 5; i++)
		swapped[i] = ups[4 - i];
	assert_int_equal(stored_side_write(path, swapped, 5, NULL), 0);
	read_side(&s, &two, "side");
	assert_int_equal(one.len, two.len);
	assert_memory_equal(one.data, two.data, one.len);
	/* No side bundle is written for a single small file, or for no file. */
	assert_int_equal(stored_side_write(path, ups, 2, NULL), 1);
	assert_int_equal(stored_side_write(path, ups, 0, NULL), 1);
	/*
	 * A file has another size than expected, so writing the side bundle
	 * fails.
	 */
	ups[0].file.size++;
	assert_int_equal(stored_side_write(path, ups, 5, NULL), ERR_IO);
	ups[0].file.size = STORED_SIDE_FILE_MAX;
	assert_true(stored_side_takes(&ups[0].file));
	ups[0].file.size++;
	assert_false(stored_side_takes(&ups[0].file));
	for (int i = 0; i < 5; i++)
		free((char *)ups[i].local_path);
	free(path);
	buf_release(&one);
	buf_release(&two);
	storedrepo_release(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_dump),
		cmocka_unit_test(test_damage),
		cmocka_unit_test(test_write),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
