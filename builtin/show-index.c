/* SPDX-License-Identifier: MIT */
/* git show-index: lists the entries of a pack index on standard input. */
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "base/buf.h"
#include "builtin/builtin.h"
#include "builtin/options.h"
#include "pack/idx.h"
#include "sys/io.h"

#define READ_LEN ((size_t)1 << 16)

static const char usage[] = "git show-index [--object-format=<hash-algorithm>]";

static int read_input(struct buf *out, struct error *err)
{
	ssize_t n;

	do {
		if (buf_reserve(out, READ_LEN) < 0)
			return error_nomem(err);
		n = sys_read_some(STDIN_FILENO, out->data + out->len, READ_LEN,
				  "standard input", err);
		if (n > 0)
			buf_set_len(out, out->len + (size_t)n);
	} while (n > 0);
	return (int)n;
}

/*
 * Print the entries of the index. Returns 0, or ERR_CORRUPT if an entry refers
 * to a 64-bit offset that the index does not have.
 */
static int print_index(const struct pack_idx *idx, struct error *err)
{
	char hex[OID_MAX_HEX_LEN + 1];

	for (uint32_t i = 0; i < idx->nr; i++) {
		uint64_t offset = pack_idx_offset(idx, i);

		if (offset == UINT64_MAX)
			return error_set(err, ERR_CORRUPT,
					 "standard input: the offset of object "
					 "%" PRIu32 " is missing",
					 i);
		printf("%" PRIu64 " %s", offset,
		       oid_raw_to_hex(hex, pack_idx_oid(idx, i), idx->algo));
		if (idx->version > 1)
			printf(" (%08" PRIx32 ")", pack_idx_crc(idx, i));
		putchar('\n');
	}
	return 0;
}

static int show_index(enum hash_algo algo)
{
	struct error err = ERROR_INIT;
	struct buf input = BUF_INIT;
	struct pack_idx idx;
	int ret = read_input(&input, &err);

	if (!ret)
		ret = pack_idx_parse(&idx, input.data, input.len, algo,
				     "standard input", &err);
	if (!ret) {
		ret = print_index(&idx, &err);
		pack_idx_release(&idx);
	}
	buf_release(&input);
	return ret < 0 ? builtin_fail(&err) : builtin_finish(0);
}

int cmd_show_index(int argc, const char **argv, struct builtin_env *env)
{
	const char *format = NULL;
	const struct option options[] = {
		{.kind = OPTION_STRING,
		 .long_name = "object-format",
		 .string = &format,
		 .arg_name = "<hash-algorithm>",
		 .help = "hash function: sha1 or sha256"},
		{.kind = OPTION_END},
	};
	enum hash_algo algo;
	int code;

	if (options_parse(argc, argv, options, usage) < 0)
		return 129;
	code = builtin_choose_algo(env, &algo, format);
	return code ? code : show_index(algo);
}
