/* SPDX-License-Identifier: MIT */
/*
 * Calls the functions of store/ for tests:
 *
 *	store <option>... <url> <act> <argument>...
 *
 *	suite                       check what every kind of store promises
 *	probe                       check the store as a program does before use
 *	get <name>                  write a file to standard output
 *	range <name> <off> <len>    write a part of a file to standard output
 *	head <name>                 print the size, and whether mtime is known
 *	put <name> <text>           write a file
 *	create <name> <text>        write a file, which must not exist
 *	replace <name> <tag> <text> write a file that has this entity tag
 *	create-file <name> <path>   as create, with the bytes of a local file
 *	many <nr> <prefix>          write files "<prefix>0", "<prefix>1", ...
 *	list <prefix>               print size and name of each file
 *	delete <name>               delete a file
 *	presign <name> <seconds>    print a URL
 *
 * The last line of the output is the result of <act>:
 *
 *	ok            the store did what was asked
 *	absent        there is no such file
 *	conflict      the condition of a write is false: nothing was written
 *	ambiguous     the store did not answer, so it is unknown whether a write
 *	              or a delete takes effect
 *	unavailable   the store did not work: nothing was changed
 *
 * After any other failure, a message is printed to standard error instead, and
 * the exit code is 1.
 *
 *	--endpoint=<url> --ca=<file> --part=<bytes> --tries=<n> --pause=<ms>
 *	--stall=<ms>
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "store/open.h"
#include "store/probe.h"

#include "t/unit/store-suite.h"

#define GET_MAX ((size_t)64 << 20)

static int print_bytes(void *ctx, const void *bytes, size_t len,
		       struct error *err)
{
	return fwrite(bytes, 1, len, stdout) == len
		       ? 0
		       : error_set(err, ERR_IO, "cannot write");
}

static int print_entry(void *ctx, const struct filestore_entry *entry,
		       struct error *err)
{
	printf("%" PRIu64 " %s\n", entry->info.size, entry->name);
	return 0;
}

static int do_read(struct filestore *s, char **args, struct error *err)
{
	struct filestore_sink sink = {print_bytes, NULL};
	int ret = args[1] ? filestore_read(s, NULL, &sink, args[0],
					   strtoull(args[1], NULL, 10),
					   strtoull(args[2], NULL, 10), err)
			  : filestore_read(s, NULL, &sink, args[0], 0,
					   STORE_TO_END, err);

	if (!ret)
		puts("");
	return ret;
}

static int do_head(struct filestore *s, char **args, struct error *err)
{
	struct filestore_info info;
	int ret = filestore_head(s, &info, args[0], err);

	if (!ret)
		printf("%" PRIu64 " %s %s\n", info.size,
		       info.mtime > 1500000000 ? "dated" : "undated",
		       info.etag);
	return ret;
}

static int do_put(struct filestore *s, const char *act, char **args,
		  struct error *err)
{
	struct filestore_condition condition = {STORE_ALWAYS, NULL};
	char etag[STORE_ETAG_MAX + 1];
	const char *text = args[1];
	int ret;

	if (!strncmp(act, "create", 6))
		condition.kind = STORE_CREATE;
	if (!strcmp(act, "replace")) {
		condition.kind = STORE_REPLACE;
		condition.etag = args[1];
		text = args[2];
	}
	if (!strcmp(act, "create-file"))
		ret = filestore_put_file(s, etag, args[0], text, NULL,
					 &condition, err);
	else
		ret = filestore_put(s, etag, args[0], text, strlen(text),
				    &condition, err);
	if (!ret)
		printf("%s\n", etag);
	return ret;
}

static int do_many(struct filestore *s, char **args, struct error *err)
{
	const struct filestore_condition always = {STORE_ALWAYS, NULL};
	unsigned long nr = strtoul(args[0], NULL, 10);
	int ret = 0;

	for (unsigned long i = 0; !ret && i < nr; i++) {
		struct buf name = BUF_INIT;

		ret = buf_printf(&name, "%s%lu", args[1], i);
		if (!ret)
			ret = filestore_put(s, NULL, name.data, "", 0, &always,
					    err);
		buf_release(&name);
	}
	return ret;
}

static int do_presign(struct filestore *s, char **args, struct error *err)
{
	struct buf url = BUF_INIT;
	int ret = filestore_presign(s, &url, args[0],
				    (unsigned)strtoul(args[1], NULL, 10), err);

	if (!ret)
		puts(url.data);
	buf_release(&url);
	return ret;
}

static int act(struct filestore *s, const char *what, char **args,
	       struct error *err)
{
	if (!strcmp(what, "suite"))
		return store_suite(s, err);
	if (!strcmp(what, "probe"))
		return store_probe(s, err);
	if (!strcmp(what, "get") || !strcmp(what, "range"))
		return do_read(s, args, err);
	if (!strcmp(what, "head"))
		return do_head(s, args, err);
	if (!strcmp(what, "list"))
		return filestore_list_each(s, args[0], print_entry, NULL, err);
	if (!strcmp(what, "many"))
		return do_many(s, args, err);
	if (!strcmp(what, "delete"))
		return filestore_delete(s, args[0], err);
	if (!strcmp(what, "presign"))
		return do_presign(s, args, err);
	return do_put(s, what, args, err);
}

/*
 * Parses `arg` as an option and stores its value in *set. Returns false if
 * `arg` is not an option.
 */
static bool read_option(struct store_s3_settings *set, const char *arg)
{
	const char *value = strchr(arg, '=');

	if (strncmp(arg, "--", 2) || !value)
		return false;
	value++;
	if (!strncmp(arg, "--endpoint=", 11))
		set->endpoint = value;
	else if (!strncmp(arg, "--ca=", 5))
		set->ca_file = value;
	else if (!strncmp(arg, "--part=", 7))
		set->part_len = strtoul(value, NULL, 10);
	else if (!strncmp(arg, "--tries=", 8))
		set->tries = (unsigned)strtoul(value, NULL, 10);
	else if (!strncmp(arg, "--pause=", 8))
		set->pause_ms = (unsigned)strtoul(value, NULL, 10);
	else if (!strncmp(arg, "--stall=", 8))
		set->stall_ms = (unsigned)strtoul(value, NULL, 10);
	else
		return false;
	return true;
}

int main(int argc, char **argv)
{
	static const char *const results[] = {"ok", "absent", "conflict",
					      "ambiguous", "unavailable"};
	struct store_s3_settings set = STORE_S3_SETTINGS_INIT;
	struct error err = ERROR_INIT;
	struct filestore *store = NULL;
	int ret;

	for (argv++; *argv && read_option(&set, *argv); argv++)
		;
	if (!argv[0] || !argv[1])
		return 2;
	ret = store_make_url(&store, argv[0], &set, &err);
	if (!ret)
		ret = act(store, argv[1], argv + 2, &err);
	filestore_close(store);
	if (ret > 0 && *err.msg)
		fprintf(stderr, "%s\n", err.msg);
	if (ret < 0)
		fprintf(stderr, "error: %s\n", err.msg);
	else
		puts(results[ret]);
	return ret < 0;
}
