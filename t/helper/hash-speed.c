/* SPDX-License-Identifier: MIT */
/*
 * Measures the speed of several ways to hash a file that fits in memory, in MB
 * (10^6 bytes) per second of processor time:
 *
 *	hash-speed <file> [-<size>]
 *
 * prints "<way> <MB/s>" for the SHA-1 of OpenSSL, and for three variants of
 * our SHA-1: with all instructions of the processor, without SHA instructions,
 * and without any special instructions. All three check for collisions. With
 * "-<size>", the file is cut into messages of <size> bytes, which are hashed
 * one by one.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/buf.h"
#include "object/hash.h"
#include "object/sha1-checked.h"
#include "sys/map.h"

enum { ROUND_NR = 5 };

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void hash_all(struct hash_ctx *h, const struct buf *file, size_t size)
{
	struct oid oid;

	for (size_t at = 0; at < file->len; at += size) {
		size_t left = file->len - at;

		hash_reset(h);
		hash_update(h, file->data + at, left < size ? left : size);
		hash_final(h, &oid);
	}
}

/*
 * Hashes the file several times, in messages of `size` bytes. Prints the speed
 * of the fastest round.
 */
static void measure(const char *way, struct hash_ctx *h, const struct buf *file,
		    size_t size)
{
	double best = 0;

	for (unsigned i = 0; i < ROUND_NR; i++) {
		double start = now(), speed;

		hash_all(h, file, size);
		speed = (double)file->len / (now() - start) / 1e6;
		best = speed > best ? speed : best;
	}
	printf("%s %.0f\n", way, best);
}

int main(int argc, char **argv)
{
	struct error err = ERROR_INIT;
	struct buf file = BUF_INIT;
	struct hash_ctx plain, checked;
	size_t size = SIZE_MAX;

	if (argc > 2 && *argv[1] == '-') {
		size = strtoul(argv[1] + 1, NULL, 10);
		argv++;
		argc--;
	}
	if (argc != 2 || !size) {
		fputs("usage: hash-speed [-<size>] <file>\n", stderr);
		return 129;
	}
	if (sys_read_file(&file, argv[1], &err) < 0 ||
	    hash_init(&plain, HASH_SHA1) < 0 ||
	    hash_init_checked(&checked, HASH_SHA1) < 0) {
		fprintf(stderr, "fatal: %s\n", err.msg);
		return 128;
	}
	size = size < file.len ? size : file.len;
	measure("openssl", &plain, &file, size);
	measure("checked", &checked, &file, size);
	checked.checked->batch.has_sha = false;
	measure("checked-without-sha", &checked, &file, size);
	checked.checked->batch.has_avx2 = false;
	measure("checked-portable", &checked, &file, size);
	hash_release(&plain);
	hash_release(&checked);
	buf_release(&file);
	return 0;
}
