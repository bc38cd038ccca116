/* SPDX-License-Identifier: MIT */
/* pack/file-sink.c: all bytes arrive in order, in whole blocks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <unistd.h>

#include "base/buf.h"
#include "pack/file-sink.h"
#include "sys/map.h"
#include "t/unit/random.h"

static void open_file(struct pack_file_sink *fs, struct sys_tempfile *tf)
{
	assert_int_equal(
		sys_tempfile_create(tf, "/tmp", "gitreach-sink-", 0600, NULL),
		0);
	assert_int_equal(pack_file_sink_init(fs, tf, NULL), 0);
}

static size_t file_len(const struct sys_tempfile *tf)
{
	return (size_t)lseek(tf->fd, 0, SEEK_END);
}

/* Small and large pieces; the file grows by blocks. */
static void pieces(void **state)
{
	uint64_t seed = random_seed();
	struct buf want = BUF_INIT, got = BUF_INIT;
	struct pack_file_sink fs;
	struct sys_tempfile tf;
	struct pack_sink sink;

	open_file(&fs, &tf);
	sink = pack_file_sink(&fs);
	for (int i = 0; i < 60; i++) {
		size_t len = (size_t)(random_next(&seed) %
				      (i % 10 ? 300000 : 5 << 20));
		size_t at = want.len;

		assert_int_equal(buf_reserve(&want, len + 1), 0);
		for (size_t k = 0; k < len; k++)
			want.data[at + k] = (char)(at + k + len);
		buf_set_len(&want, at + len);
		assert_int_equal(
			pack_sink_put_file(
				&sink,
				&(struct sys_file_span){
					.bytes = (uint8_t *)want.data + at,
					.len = len,
					.fd = -1},
				NULL),
			0);
		assert_true(file_len(&tf) ==
			    want.len / PACK_FILE_BLOCK * PACK_FILE_BLOCK);
	}
	assert_int_equal(pack_file_sink_flush(&fs, NULL), 0);
	assert_int_equal(pack_file_sink_flush(&fs, NULL), 0);
	assert_int_equal(sys_read_file(&got, tf.path, NULL), 0);
	assert_true(got.len == want.len);
	assert_memory_equal(got.data, want.data, want.len);
	pack_file_sink_release(&fs);
	sys_tempfile_abort(&tf);
	buf_release(&want);
	buf_release(&got);
}

static void failures(void **state)
{
	struct error err = ERROR_INIT;
	struct pack_file_sink fs;
	struct sys_tempfile tf;
	struct pack_sink sink;

	open_file(&fs, &tf);
	sink = pack_file_sink(&fs);
	close(tf.fd);
	tf.fd = -1;
	assert_int_equal(sink.put(sink.ctx, "bytes", 5, &err), 0);
	assert_int_equal(pack_file_sink_flush(&fs, &err), ERR_IO);
	assert_non_null(strstr(err.msg, "gitreach-sink-"));
	pack_file_sink_release(&fs);
	sys_tempfile_abort(&tf);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pieces),
		cmocka_unit_test(failures),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
