/* SPDX-License-Identifier: MIT */
/* Helpers for descriptors and directories, and random bytes of the kernel. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "sys/io.h"
#include "sys/share.h"

#define IOV_BATCH 1024

/* number of symbolic links that Linux follows in one path */
#define LINKS_MAX 40

static void wait_ready(int fd, short events)
{
	struct pollfd pfd = {fd, events, 0};

	poll(&pfd, 1, -1);
}

/*
 * Returns whether the caller should repeat the system call that has failed. If
 * it failed because the non-blocking descriptor `fd` was not ready, waits until
 * `fd` is ready for `events` (those of poll(2)).
 */
static bool again(int fd, short events)
{
	if (errno == EINTR)
		return true;
	if (errno != EAGAIN && errno != EWOULDBLOCK)
		return false;
	wait_ready(fd, events);
	return true;
}

static int stream_error(const char *verb, const char *what, struct error *err)
{
	bool gone = errno == EPIPE || errno == ECONNRESET;

	error_set_errno(err, "cannot %s %s", verb, what);
	return error_recode(err, gone ? ERR_PEER : ERR_IO);
}

int sys_write_all(int fd, const void *bytes, size_t len, const char *what,
		  struct error *err)
{
	const char *p = bytes;

	while (len) {
		ssize_t n = write(fd, p, len);

		if (n < 0) {
			if (again(fd, POLLOUT))
				continue;
			return stream_error("write to", what, err);
		}
		p += n;
		len -= (size_t)n;
	}
	return 0;
}

/*
 * Removes the first `n` bytes, which are written already, from the start of an
 * array of spans. Returns the number of spans that are written completely.
 */
static size_t iov_advance(struct iovec *iov, size_t nr, size_t n)
{
	size_t i = 0;

	while (i < nr && n >= iov[i].iov_len)
		n -= iov[i++].iov_len;
	if (i < nr) {
		iov[i].iov_base = (char *)iov[i].iov_base + n;
		iov[i].iov_len -= n;
	}
	return i;
}

/*
 * If sendfile() fails, write() is used, because some files and some receivers
 * do not support sendfile().
 */
int sys_send_file(int fd, const struct sys_file_span *span, const char *what,
		  struct error *err)
{
	off_t off = (off_t)span->off;
	size_t done = 0;

	while (done < span->len) {
		ssize_t n = sendfile(fd, span->fd, &off, span->len - done);

		if (n > 0)
			done += (size_t)n;
		else if (!n || !again(fd, POLLOUT))
			break;
	}
	return sys_write_all(fd, span->bytes + done, span->len - done, what,
			     err);
}

void sys_pipe_widen(int fd, size_t len)
{
	(void)fcntl(fd, F_SETPIPE_SZ, (int)len);
}

static void only_sigpipe(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGPIPE);
}

void sys_sigpipe_block(sigset_t *before)
{
	sigset_t set;

	only_sigpipe(&set);
	pthread_sigmask(SIG_BLOCK, &set, before);
}

void sys_sigpipe_restore(const sigset_t *before)
{
	const struct timespec now = {0, 0};
	int saved = errno;
	sigset_t set;

	only_sigpipe(&set);
	sigtimedwait(&set, NULL, &now);
	pthread_sigmask(SIG_SETMASK, before, NULL);
	errno = saved;
}

int sys_writev_all(int fd, struct iovec *iov, size_t nr, const char *what,
		   struct error *err)
{
	while (nr) {
		size_t batch = nr < IOV_BATCH ? nr : IOV_BATCH;
		ssize_t n = writev(fd, iov, (int)batch);
		size_t done;

		if (n < 0) {
			if (again(fd, POLLOUT))
				continue;
			return stream_error("write to", what, err);
		}
		done = iov_advance(iov, batch, (size_t)n);
		iov += done;
		nr -= done;
	}
	return 0;
}

ssize_t sys_read_some(int fd, void *bytes, size_t len, const char *what,
		      struct error *err)
{
	for (;;) {
		ssize_t n = read(fd, bytes, len);

		if (n >= 0)
			return n;
		if (!again(fd, POLLIN))
			return stream_error("read from", what, err);
	}
}

static int fill_stat(struct sys_stat *st, int ret, const struct stat *s,
		     const char *path, struct error *err)
{
	memset(st, 0, sizeof(*st));
	if (ret < 0) {
		bool missing = errno == ENOENT || errno == ENOTDIR;

		error_set_errno(err, "cannot stat '%s'", path);
		return error_recode(err, missing ? ERR_MISSING : ERR_IO);
	}
	st->is_dir = S_ISDIR(s->st_mode);
	st->is_file = S_ISREG(s->st_mode);
	st->is_link = S_ISLNK(s->st_mode);
	st->mode = s->st_mode & 07777;
	st->size = (uint64_t)s->st_size;
	st->mtime_ns = (int64_t)s->st_mtim.tv_sec * 1000000000 +
		       s->st_mtim.tv_nsec;
	st->dev = s->st_dev;
	st->ino = s->st_ino;
	st->link_nr = s->st_nlink;
	st->uid = s->st_uid;
	return 0;
}

int sys_open_read(const char *path, uint64_t *len, struct error *err)
{
	struct stat s;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0) {
		bool missing = errno == ENOENT || errno == ENOTDIR;

		error_set_errno(err, "cannot open '%s'", path);
		return error_recode(err, missing ? ERR_MISSING : ERR_IO);
	}
	if (fstat(fd, &s) < 0) {
		error_set_errno(err, "cannot stat '%s'", path);
		close(fd);
		return ERR_IO;
	}
	*len = (uint64_t)s.st_size;
	return fd;
}

int sys_open_file(struct sys_stat *st, const char *path, struct error *err)
{
	struct stat s;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), ret;

	if (fd < 0) {
		bool missing = errno == ENOENT || errno == ENOTDIR;

		error_set_errno(err, "cannot open '%s'", path);
		return error_recode(err, missing ? ERR_MISSING : ERR_IO);
	}
	ret = fill_stat(st, fstat(fd, &s), &s, path, err);
	if (!ret && !st->is_file) {
		errno = st->is_dir ? EISDIR : EINVAL;
		ret = error_set_errno(err, "cannot read '%s'", path);
	}
	if (ret < 0) {
		close(fd);
		return ret;
	}
	return fd;
}

void sys_close(int fd)
{
	if (fd >= 0)
		close(fd);
}

int sys_read_at(int fd, void *bytes, size_t len, uint64_t off, const char *what,
		struct error *err)
{
	char *p = bytes;

	while (len) {
		ssize_t n = pread(fd, p, len, (off_t)off);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return error_set_errno(err, "cannot read from %s",
					       what);
		if (!n)
			return error_set(err, ERR_IO, "%s is too short", what);
		p += n;
		off += (uint64_t)n;
		len -= (size_t)n;
	}
	return 0;
}

int sys_write_at(int fd, const void *bytes, size_t len, uint64_t off,
		 const char *what, struct error *err)
{
	const char *p = bytes;

	while (len) {
		ssize_t n = pwrite(fd, p, len, (off_t)off);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return error_set_errno(err, "cannot write to %s", what);
		p += n;
		off += (uint64_t)n;
		len -= (size_t)n;
	}
	return 0;
}

int sys_stat(struct sys_stat *st, const char *path, struct error *err)
{
	struct stat s;
	int ret = stat(path, &s);

	return fill_stat(st, ret, &s, path, err);
}

int sys_lstat(struct sys_stat *st, const char *path, struct error *err)
{
	struct stat s;
	int ret = lstat(path, &s);

	return fill_stat(st, ret, &s, path, err);
}

bool sys_exists(const char *path)
{
	return access(path, F_OK) == 0;
}

int sys_may_execute(const char *path)
{
	if (!access(path, X_OK))
		return 1;
	return errno == EACCES ? ERR_DENIED : 0;
}

int sys_dir_each(const char *path, int (*fn)(void *ctx, const char *name),
		 void *ctx, struct error *err)
{
	DIR *dir = opendir(path);
	struct dirent *entry;
	int ret = 0;

	if (!dir) {
		bool missing = errno == ENOENT || errno == ENOTDIR;

		error_set_errno(err, "cannot open directory '%s'", path);
		return error_recode(err, missing ? ERR_MISSING : ERR_IO);
	}
	for (;;) {
		errno = 0;
		entry = readdir(dir);
		if (!entry)
			break;
		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		ret = fn(ctx, entry->d_name);
		if (ret)
			break;
	}
	if (!entry && errno)
		ret = error_set_errno(err, "cannot read directory '%s'", path);
	closedir(dir);
	return ret;
}

static bool is_dir(const char *path)
{
	struct stat s;

	return stat(path, &s) == 0 && S_ISDIR(s.st_mode);
}

static bool make_one(const char *path, unsigned share)
{
	if (!mkdir(path, 0777))
		return sys_share_path(path, share, NULL) == 0;
	return errno == EEXIST && is_dir(path);
}

/*
 * Makes the directory path[0..len). Tries the last component first, since
 * usually only the last one is missing. `path` is shortened during the call and
 * restored.
 */
static int make_dir(char *path, size_t len, unsigned share, struct error *err)
{
	char saved = path[len];
	size_t parent = len;
	bool made;
	int ret = 0;

	while (parent && path[parent - 1] != '/')
		parent--;
	while (parent && path[parent - 1] == '/')
		parent--;
	path[len] = '\0';
	made = make_one(path, share);
	if (!made && errno == ENOENT && parent) {
		ret = make_dir(path, parent, share, err);
		made = !ret && make_one(path, share);
	}
	if (!ret && !made)
		ret = error_set_errno(err, "cannot create directory '%s'",
				      path);
	path[len] = saved;
	return ret;
}

int sys_mkdir_p(const char *path, struct error *err)
{
	return sys_mkdir_shared(path, 0, err);
}

int sys_mkdir_shared(const char *path, unsigned share, struct error *err)
{
	char *copy = mem_strdup(path);
	size_t len = strlen(path);
	int ret;

	if (!copy)
		return error_nomem(err);
	while (len > 1 && copy[len - 1] == '/')
		len--;
	ret = len ? make_dir(copy, len, share, err) : 0;
	free(copy);
	return ret;
}

int sys_set_mtime(const char *path, int64_t seconds, struct error *err)
{
	struct timespec times[2] = {
		{.tv_nsec = UTIME_OMIT},
		{.tv_sec = (time_t)seconds},
	};

	if (utimensat(AT_FDCWD, path, times, 0) < 0)
		return error_set_errno(err, "cannot set the time of '%s'",
				       path);
	return 0;
}

int sys_touch(const char *path, struct error *err)
{
	if (utimensat(AT_FDCWD, path, NULL, 0) < 0)
		return error_set_errno(err, "cannot set the time of '%s'",
				       path);
	return 0;
}

int sys_disk_space(uint64_t *total, uint64_t *available, const char *path,
		   struct error *err)
{
	struct statvfs st;

	if (statvfs(path, &st) < 0)
		return error_set_errno(err, "cannot measure the disk of '%s'",
				       path);
	*total = (uint64_t)st.f_blocks * st.f_frsize;
	*available = (uint64_t)st.f_bavail * st.f_frsize;
	return 0;
}

int sys_sync_file_system(const char *path, struct error *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	int ret = 0;

	if (fd < 0 || syncfs(fd) < 0)
		ret = error_set_errno(err, "cannot sync '%s'", path);
	sys_close(fd);
	return ret;
}

int sys_unlink(const char *path, struct error *err)
{
	if (unlink(path) < 0 && errno != ENOENT)
		return error_set_errno(err, "cannot remove '%s'", path);
	return 0;
}

int sys_rmdir(const char *path, struct error *err)
{
	if (!rmdir(path) || errno == ENOENT)
		return 1;
	if (errno == ENOTEMPTY || errno == EEXIST || errno == ENOTDIR)
		return 0;
	return error_set_errno(err, "cannot remove directory '%s'", path);
}

/*
 * The context of the callback that sys_rmdir_empty() calls for each entry of a
 * directory.
 */
struct emptying {
	const char *dir;
	struct error *err;
};

static int empty_entry(void *ctx, const char *name)
{
	struct emptying *e = ctx;
	struct buf path = BUF_INIT;
	int ret;

	if (buf_printf(&path, "%s/%s", e->dir, name) < 0)
		ret = error_nomem(e->err);
	else
		ret = sys_rmdir_empty(path.data, e->err);
	buf_release(&path);
	/*
	 * If `ret` is 0, sys_rmdir_empty() could not remove the entry. Then the
	 * directory cannot be removed, either, so end the listing with 1.
	 */
	return ret < 0 ? ret : !ret;
}

int sys_rmdir_empty(const char *path, struct error *err)
{
	struct emptying e = {path, err};
	struct stat s;
	int ret = sys_rmdir(path, err);

	/* A symbolic link to a directory is not a directory. */
	if (ret || lstat(path, &s) < 0 || !S_ISDIR(s.st_mode))
		return ret;
	ret = sys_dir_each(path, empty_entry, &e, err);
	if (ret == ERR_MISSING)
		return 1;
	if (ret)
		return ret < 0 ? ret : 0;
	return sys_rmdir(path, err);
}

int sys_append(const char *path, const void *bytes, size_t len, unsigned mode,
	       struct error *err)
{
	int flags = O_WRONLY | O_APPEND | O_CLOEXEC | (mode ? O_CREAT : 0);
	int fd = open(path, flags, SYS_SHARE_MODE(mode));
	int ret;

	if (fd < 0) {
		bool missing = errno == ENOENT;

		error_set_errno(err, "cannot open '%s'", path);
		return error_recode(err, missing ? ERR_MISSING : ERR_IO);
	}
	/*
	 * Permissions that cannot be changed are no error, because the file may
	 * belong to another user.
	 */
	sys_share_fd(fd, mode, path, NULL);
	ret = sys_write_all(fd, bytes, len, path, err);
	if (close(fd) < 0 && !ret)
		ret = error_set_errno(err, "cannot close '%s'", path);
	return ret;
}

int sys_truncate(const char *path, uint64_t len, struct error *err)
{
	if (truncate(path, (off_t)len) < 0)
		return error_set_errno(err, "cannot truncate '%s'", path);
	return 0;
}

char *sys_realpath(const char *path, struct error *err)
{
	char *real = realpath(path, NULL);

	if (!real && errno == ENOMEM)
		error_nomem(err);
	else if (!real)
		error_set_errno(err, "cannot resolve '%s'", path);
	return real;
}

char *sys_parent(const char *path)
{
	size_t len = strlen(path);

	while (len > 1 && path[len - 1] == '/')
		len--;
	while (len && path[len - 1] != '/')
		len--;
	if (!len)
		return mem_strdup(".");
	while (len > 1 && path[len - 1] == '/')
		len--;
	return mem_strndup(path, len);
}

/* Returns whether the last component of a path is ".." or empty. */
static bool ends_upward(const char *path, const char *slash)
{
	const char *last = slash ? slash + 1 : path;

	return !*last || !strcmp(last, ".") || !strcmp(last, "..");
}

char *sys_realpath_missing(const char *path, struct error *err)
{
	struct error io = ERROR_INIT;
	char *real = sys_realpath(path, &io), *parent;
	const char *slash = strrchr(path, '/');
	struct buf out = BUF_INIT;

	if (real || io.sys_errno != ENOENT || ends_upward(path, slash)) {
		if (!real && err)
			*err = io;
		return real;
	}
	parent = sys_parent(path);
	real = parent ? sys_realpath_missing(parent, err) : NULL;
	if (real && buf_printf(&out, "%s%s%s", real, real[1] ? "/" : "",
			       slash ? slash + 1 : path) < 0)
		buf_release(&out);
	free(parent);
	free(real);
	return out.len ? buf_detach(&out, NULL) : NULL;
}

static int read_to_end(struct buf *out, int fd, const char *path,
		       struct error *err)
{
	for (;;) {
		ssize_t n;

		if (buf_reserve(out, 4096) < 0)
			return error_nomem(err);
		n = read(fd, out->data + out->len, 4096);
		if (n > 0)
			buf_set_len(out, out->len + (size_t)n);
		else if (!n)
			return 0;
		else if (!again(fd, POLLIN))
			return error_set_errno(err, "cannot read '%s'", path);
	}
}

int sys_read_any(struct buf *out, const char *path, struct error *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	int ret;

	if (fd < 0) {
		bool missing = errno == ENOENT || errno == ENOTDIR;

		error_set_errno(err, "cannot open '%s'", path);
		return error_recode(err, missing ? ERR_MISSING : ERR_IO);
	}
	ret = read_to_end(out, fd, path, err);
	close(fd);
	return ret;
}

int sys_readlink(struct buf *out, const char *path, struct error *err)
{
	for (size_t room = 256;; room *= 2) {
		ssize_t n;

		if (buf_reserve(out, room) < 0)
			return error_nomem(err);
		n = readlink(path, out->data + out->len, room);
		if (n < 0)
			return error_set_errno(err, "cannot read link '%s'",
					       path);
		if ((size_t)n < room) {
			buf_set_len(out, out->len + (size_t)n);
			return 0;
		}
	}
}

/*
 * Replaces `path`, the path of a link, by the path that the link's text names.
 * Returns 0 or ERR_NOMEM.
 */
static int replace_link(struct buf *path, const struct buf *text)
{
	const char *slash = path->len ? strrchr(path->data, '/') : NULL;

	buf_set_len(path, slash && text->data[0] != '/'
				  ? (size_t)(slash + 1 - path->data)
				  : 0);
	return buf_append(path, text->data, text->len);
}

int sys_follow_links(char **target, const char *path, struct error *err)
{
	struct buf at = BUF_INIT, text = BUF_INIT;
	int ret = buf_append_str(&at, path), links = 0;

	*target = NULL;
	/*
	 * If the link cannot be read, the path is no link, or later uses of
	 * the path report the error.
	 */
	while (!ret && !(ret = sys_readlink(&text, at.data, NULL))) {
		errno = ELOOP;
		if (++links > LINKS_MAX)
			ret = error_set_errno(err, "cannot open '%s'", path);
		else if (replace_link(&at, &text) < 0)
			ret = ERR_NOMEM;
		buf_reset(&text);
	}
	if (ret == ERR_NOMEM)
		error_nomem(err);
	else if (links <= LINKS_MAX)
		*target = buf_detach(&at, NULL);
	buf_release(&at);
	buf_release(&text);
	return *target ? 0 : ret;
}

int sys_link(const char *path, const char *second, struct error *err)
{
	if (!link(path, second) || errno == EEXIST)
		return 0;
	if (errno == EXDEV || errno == EPERM || errno == EMLINK ||
	    errno == EOPNOTSUPP)
		return 1;
	return error_set_errno(err, "cannot link '%s' to '%s'", second, path);
}

int sys_link_new(const char *path, const char *second, struct error *err)
{
	if (!link(path, second))
		return 0;
	if (errno == EEXIST)
		return 1;
	return error_set_errno(err, "cannot link '%s' to '%s'", second, path);
}

int sys_symlink(const char *target, const char *path, struct error *err)
{
	if (symlink(target, path) < 0)
		return error_set_errno(err, "cannot make link '%s'", path);
	return 0;
}

uint32_t sys_euid(void)
{
	return geteuid();
}

void sys_write_ready(int fd, const void *bytes, size_t len, int wait_ms)
{
	struct pollfd pfd = {fd, POLLOUT, 0};
	sigset_t before;
	struct stat st;
	ssize_t n = 0;

	/*
	 * Without a wait, refuse all targets but pipes and sockets: poll()
	 * reports a file as ready even if its file system hangs.
	 */
	if (!wait_ms && (fstat(fd, &st) < 0 ||
			 !(S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode))))
		return;

	sys_sigpipe_block(&before);
	/*
	 * If poll() reports that a pipe can be written, the pipe takes 4096
	 * bytes without waiting.
	 */
	if (poll(&pfd, 1, wait_ms) == 1)
		n = write(fd, bytes, len < 4096 ? len : 4096);
	sys_sigpipe_restore(&before);
	(void)n;
}

int sys_secret(void *out, size_t len, struct error *err)
{
	return getrandom(out, len, 0) == (ssize_t)len
		       ? 0
		       : error_set_errno(err, "cannot get random bytes");
}
