/* SPDX-License-Identifier: MIT */
/*
 * Opens and writes the target of a trace: standard error, a descriptor, a file,
 * or a socket.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/buf.h"
#include "sys/append-line.h"
#include "sys/io.h"
#include "sys/trace.h"

/*
 * The number of file names to try, with suffixes ".1", ".2" and so on, if the
 * name of the new trace file is taken.
 */
#define ATTEMPTS_MAX 10

static int take(struct trace_file *f, int fd, bool is_owned)
{
	f->fd = fd;
	f->is_owned = is_owned;
	return 1;
}

static int open_append(struct trace_file *f, const char *path, int flags,
		       struct error *err)
{
	int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | flags,
		      0666);

	if (fd < 0)
		return error_set_errno(err, "could not open '%s'", path);
	return take(f, fd, true);
}

static int count(void *ctx, const char *name)
{
	uint64_t *left = ctx;

	return !--*left;
}

/*
 * Creates and opens the file that marks a trace directory with too many files.
 * Returns 2 if the file was created, 0 if the file existed already, or a
 * negative error code.
 */
static int open_discard(struct trace_file *f, const char *dir,
			struct error *err)
{
	struct buf path = BUF_INIT;
	int ret;

	if (buf_printf(&path, "%s/" TRACE_FILE_DISCARD, dir) < 0)
		ret = error_nomem(err);
	else if (sys_exists(path.data))
		ret = 0;
	else
		ret = open_append(f, path.data, O_EXCL, err);
	buf_release(&path);
	return ret > 0 ? 2 : ret;
}

static int open_in_dir(struct trace_file *f, const char *dir, const char *name,
		       struct error *err)
{
	struct buf path = BUF_INIT;
	int ret = ERR_IO;

	for (int i = 0; i < ATTEMPTS_MAX && ret < 0; i++) {
		buf_reset(&path);
		if (buf_printf(&path, "%s/%s", dir, name) < 0 ||
		    (i && buf_printf(&path, ".%d", i) < 0))
			ret = error_nomem(err);
		else
			ret = open_append(f, path.data, O_EXCL, err);
		if (ret == ERR_NOMEM || (ret < 0 && errno != EEXIST))
			break;
	}
	buf_release(&path);
	return ret;
}

static int open_path(struct trace_file *f, const char *path,
		     const struct trace_file_dir *dir, struct error *err)
{
	uint64_t left = dir->files_max;
	struct sys_stat st;

	if (!dir->name || sys_stat(&st, path, NULL) < 0 || !st.is_dir)
		return open_append(f, path, 0, err);
	if (left && sys_dir_each(path, count, &left, NULL) > 0)
		return open_discard(f, path, err);
	return open_in_dir(f, path, dir->name, err);
}

static int connect_as(struct trace_file *f, const struct sockaddr_un *to,
		      int type)
{
	int fd = socket(AF_UNIX, type | SOCK_CLOEXEC, 0), saved;

	if (fd < 0)
		return ERR_IO;
	if (!connect(fd, (const struct sockaddr *)to, sizeof(*to)))
		return take(f, fd, true);
	saved = errno;
	close(fd);
	errno = saved;
	return ERR_IO;
}

static int open_socket(struct trace_file *f, const char *path,
		       struct error *err)
{
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	bool as_stream = true, as_dgram = true;
	int ret = ERR_IO;

	if (!strncmp(path, "stream:", 7)) {
		as_dgram = false;
		path += 7;
	} else if (!strncmp(path, "dgram:", 6)) {
		as_stream = false;
		path += 6;
	}
	if (*path != '/' || strlen(path) >= sizeof(to.sun_path))
		return error_set(err, ERR_INVALID, "invalid AF_UNIX path '%s'",
				 path);
	memcpy(to.sun_path, path, strlen(path));
	if (as_stream)
		ret = connect_as(f, &to, SOCK_STREAM);
	if (ret < 0 && as_dgram && (!as_stream || errno == EPROTOTYPE))
		ret = connect_as(f, &to, SOCK_DGRAM);
	return ret < 0 ? error_set_errno(
				 err, "could not connect to socket '%s'", path)
		       : ret;
}

int trace_file_open(struct trace_file *f, const char *value,
		    const struct trace_file_dir *dir, struct error *err)
{
	*f = (struct trace_file)TRACE_FILE_INIT;
	if (!value || !*value || !strcmp(value, "0") ||
	    !strcasecmp(value, "false"))
		return 0;
	if (!strcmp(value, "1") || !strcasecmp(value, "true"))
		return take(f, 2, false);
	if (value[0] >= '2' && value[0] <= '9' && !value[1])
		return take(f, value[0] - '0', false);
	if (*value == '/')
		return open_path(f, value, dir, err);
	if (dir->name && !strncmp(value, "af_unix:", 8))
		return open_socket(f, value + 8, err);
	return error_set(err, ERR_INVALID, "unknown value '%s'", value);
}

/*
 * Errors are ignored. For example, the process that reads the trace from a pipe
 * may have ended.
 */
void trace_file_append(const struct trace_file *f, const void *bytes,
		       size_t len)
{
	if (f->fd >= 0)
		sys_append_line(f->fd, bytes, len);
}

void trace_file_close(struct trace_file *f)
{
	if (f->is_owned)
		sys_close(f->fd);
	*f = (struct trace_file)TRACE_FILE_INIT;
}
