/* SPDX-License-Identifier: MIT */
/* Starting other programs. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "sys/io.h"
#include "sys/spawn.h"

extern char **environ;

enum { LISTEN_MAX = 65536 }; /* bytes to read at a time */

int sys_exec(const char *file, char *const argv[], struct error *err)
{
	execv(file, argv);
	return error_set_errno(err, "cannot run '%s'", file);
}

static void close_pair(int fds[2])
{
	for (int i = 0; i < 2; i++)
		if (fds[i] >= 0)
			close(fds[i]);
}

/*
 * Connects the child's standard input, output and error to pipes or to
 * /dev/null, as `flags` say.
 */
static int redirect(posix_spawn_file_actions_t *actions, unsigned flags, int in,
		    int out, int err)
{
	int ret = 0;

	if (flags & SYS_SPAWN_SILENT) {
		ret = posix_spawn_file_actions_addopen(actions, 0, "/dev/null",
						       O_RDWR, 0);
		if (!ret)
			ret = posix_spawn_file_actions_adddup2(actions, 0, 1);
		return ret ? ret
			   : posix_spawn_file_actions_adddup2(actions, 0, 2);
	}
	if (in >= 0)
		ret = posix_spawn_file_actions_adddup2(actions, in, 0);
	else if (flags & SYS_SPAWN_NULL_IN)
		ret = posix_spawn_file_actions_addopen(actions, 0, "/dev/null",
						       O_RDONLY, 0);
	if (!ret && out >= 0)
		ret = posix_spawn_file_actions_adddup2(actions, out, 1);
	else if (!ret && (flags & SYS_SPAWN_OUT_TO_ERR))
		ret = posix_spawn_file_actions_adddup2(actions, 2, 1);
	else if (!ret && (flags & SYS_SPAWN_NULL_OUT))
		ret = posix_spawn_file_actions_addopen(actions, 1, "/dev/null",
						       O_WRONLY, 0);
	if (!ret && err >= 0)
		ret = posix_spawn_file_actions_adddup2(actions, err, 2);
	else if (!ret && (flags & SYS_SPAWN_ERR_TO_OUT))
		ret = posix_spawn_file_actions_adddup2(actions, 1, 2);
	else if (!ret && (flags & SYS_SPAWN_NULL_ERR))
		ret = posix_spawn_file_actions_addopen(actions, 2, "/dev/null",
						       O_WRONLY, 0);
	return ret;
}

/*
 * Gives the child the default action for SIGPIPE, since this process may ignore
 * SIGPIPE. If `is_open` is true, the signal mask of the child is empty: the
 * child blocks no signal. If it is false, the child inherits the signal mask of
 * this thread. If `is_group` is true, the child leads a process group.
 */
static int set_attributes(posix_spawnattr_t *attr, bool is_open, bool is_group)
{
	short flags = POSIX_SPAWN_SETSIGDEF;
	sigset_t set;
	int ret;

	sigemptyset(&set);
	if (is_open) {
		flags |= POSIX_SPAWN_SETSIGMASK;
		posix_spawnattr_setsigmask(attr, &set);
	}
	if (is_group) {
		flags |= POSIX_SPAWN_SETPGROUP;
		posix_spawnattr_setpgroup(attr, 0);
	}
	sigaddset(&set, SIGPIPE);
	ret = posix_spawnattr_setsigdefault(attr, &set);
	return ret ? ret : posix_spawnattr_setflags(attr, flags);
}

/* A program to start. All pointers are borrowed. */
struct start {
	char *const *argv;
	char *const *envp; /* NULL: the environment of this process */
	/* the program's working directory; NULL: that of this process */
	const char *dir;
	unsigned flags; /* SYS_SPAWN_* */
	/* descriptors for the standard streams; -1: as `flags` say */
	int in, out, err;
	/* a descriptor that the program inherits; -1: none */
	int keep;
};

static int spawn_with(struct sys_child *child, const struct start *s)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	int ret = posix_spawn_file_actions_init(&actions);

	if (ret)
		return ret;
	ret = posix_spawnattr_init(&attr);
	if (ret)
		goto out;
	ret = set_attributes(&attr, s->flags & SYS_SPAWN_OPEN_SIGNALS,
			     s->flags & SYS_SPAWN_GROUP);
	if (!ret)
		ret = redirect(&actions, s->flags, s->in, s->out, s->err);
	/* See sys_spawn_heir(). */
	if (!ret && s->keep >= 0)
		ret = posix_spawn_file_actions_adddup2(&actions, s->keep,
						       s->keep);
	if (!ret && s->dir)
		ret = posix_spawn_file_actions_addchdir_np(&actions, s->dir);
	if (!ret)
		ret = posix_spawnp(&child->pid, s->argv[0], &actions, &attr,
				   s->argv, s->envp ? s->envp : environ);
	posix_spawnattr_destroy(&attr);
out:
	posix_spawn_file_actions_destroy(&actions);
	return ret;
}

/*
 * Finds an executable file by its name in PATH, as posix_spawnp() does.
 * Relative directories of PATH start in `dir` (NULL: the working directory).
 * Returns the malloc()ed path, or NULL if there is none or memory runs out.
 */
static char *find_in_path(const char *name, const char *dir)
{
	const char *p = getenv("PATH");

	while (p) {
		size_t len = strcspn(p, ":");
		bool is_relative = dir && (!len || *p != '/');
		struct buf path = BUF_INIT;
		struct stat st;

		if (buf_printf(&path, "%s%s%.*s%s%s", is_relative ? dir : "",
			       is_relative ? "/" : "", (int)len, p,
			       len ? "/" : "", name) < 0)
			return NULL;
		if (!stat(path.data, &st) && S_ISREG(st.st_mode) &&
		    !access(path.data, X_OK))
			return buf_detach(&path, NULL);
		buf_release(&path);
		p = p[len] ? p + len + 1 : NULL;
	}
	return NULL;
}

/*
 * Starts sh to run a script that the kernel refused because the script has no
 * "#!" line. sh gets a path with a slash, because sh searches a name without a
 * slash in the working directory first. Returns 0 or an errno value.
 */
static int spawn_script(struct sys_child *child, const struct start *s)
{
	char shell[] = "sh", **words, *found = NULL;
	struct start script = *s;
	size_t nr = 0;
	int ret;

	if (!strchr(s->argv[0], '/')) {
		found = find_in_path(s->argv[0], s->dir);
		if (!found)
			return ENOEXEC;
	}
	while (s->argv[nr])
		nr++;
	words = mem_alloc(nr + 2, sizeof(*words));
	if (!words) {
		free(found);
		return ENOMEM;
	}
	words[0] = shell;
	memcpy(words + 1, s->argv, (nr + 1) * sizeof(*words));
	if (found)
		words[1] = found;
	script.argv = words;
	ret = spawn_with(child, &script);
	free(words);
	free(found);
	return ret;
}

/* A child that has not been started. */
static const struct sys_child no_child = {
	.pid = -1, .in = -1, .out = -1, .err = -1};

int sys_spawn_with(struct sys_child *child, char *const argv[],
		   char *const envp[], const int fds[3], unsigned flags,
		   struct error *err)
{
	const struct start s = {
		.argv = argv,
		.envp = envp,
		.flags = flags,
		.in = fds[0],
		.out = fds[1],
		.err = fds[2],
		.keep = -1,
	};

	*child = no_child;
	errno = spawn_with(child, &s);
	return errno ? error_set_errno(err, "cannot run '%s'", argv[0]) : 0;
}

/*
 * Makes the pipes that `s->flags` name, and starts the program. Returns 0 or
 * ERR_IO.
 */
static int start_piped(struct sys_child *child, struct start *s,
		       struct error *err)
{
	const unsigned flags = s->flags;
	int in[2] = {-1, -1}, out[2] = {-1, -1}, heard[2] = {-1, -1};

	*child = no_child;
	if (((flags & SYS_SPAWN_PIPE_IN) && pipe2(in, O_CLOEXEC) < 0) ||
	    ((flags & SYS_SPAWN_PIPE_OUT) && pipe2(out, O_CLOEXEC) < 0) ||
	    ((flags & SYS_SPAWN_PIPE_ERR) && pipe2(heard, O_CLOEXEC) < 0)) {
		error_set_errno(err, "cannot create a pipe");
		close_pair(in);
		close_pair(out);
		close_pair(heard);
		return ERR_IO;
	}
	s->in = in[0];
	s->out = out[1];
	s->err = heard[1];
	child->error_nr = spawn_with(child, s);
	if (child->error_nr == ENOEXEC)
		child->error_nr = spawn_script(child, s);
	if (child->error_nr) {
		close_pair(in);
		close_pair(out);
		close_pair(heard);
		errno = child->error_nr;
		return error_set_errno(err, "cannot run '%s'", s->argv[0]);
	}
	if (in[0] >= 0)
		close(in[0]);
	if (out[1] >= 0)
		close(out[1]);
	if (heard[1] >= 0)
		close(heard[1]);
	child->in = in[1];
	child->out = out[0];
	child->err = heard[0];
	return 0;
}

int sys_spawn_in(struct sys_child *child, const char *dir, char *const argv[],
		 char *const envp[], unsigned flags, struct error *err)
{
	struct start s = {argv, envp, dir, flags, -1, -1, -1, -1};

	return start_piped(child, &s, err);
}

int sys_spawn_keeping(struct sys_child *child, char *const argv[],
		      char *const envp[], int keep, unsigned flags,
		      struct error *err)
{
	struct start s = {argv, envp, NULL, flags, -1, -1, -1, keep};

	return start_piped(child, &s, err);
}

int sys_spawn(struct sys_child *child, char *const argv[], char *const envp[],
	      unsigned flags, struct error *err)
{
	return sys_spawn_in(child, NULL, argv, envp, flags, err);
}

pid_t sys_spawn_heir(char *const argv[], char *const envp[], const int *keep,
		     size_t nr, struct error *err)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	pid_t pid = -1;
	int ret = posix_spawn_file_actions_init(&actions);

	if (ret)
		goto out;
	ret = posix_spawnattr_init(&attr);
	if (ret)
		goto out_actions;
	ret = set_attributes(&attr, true, false);
	/*
	 * If both descriptors of dup2() are the same, this action clears
	 * FD_CLOEXEC, so the child inherits the descriptor.
	 */
	for (size_t i = 0; !ret && i < nr; i++)
		ret = posix_spawn_file_actions_adddup2(&actions, keep[i],
						       keep[i]);
	if (!ret)
		ret = posix_spawnp(&pid, argv[0], &actions, &attr, argv, envp);
	posix_spawnattr_destroy(&attr);
out_actions:
	posix_spawn_file_actions_destroy(&actions);
out:
	errno = ret;
	return ret ? error_set_errno(err, "cannot run '%s'", argv[0]) : pid;
}

/*
 * Writes as many bytes of the child's input as the pipe takes without waiting.
 * Closes child->in if the child has closed its input. Returns 0 or ERR_IO.
 */
static int feed(struct sys_child *child, const char **p, size_t *left,
		struct error *err)
{
	sigset_t before;
	ssize_t n;

	/*
	 * Block SIGPIPE, because a child that does not read its input must not
	 * end this process.
	 */
	sys_sigpipe_block(&before);
	n = *left ? write(child->in, *p, *left) : 0;
	sys_sigpipe_restore(&before);
	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return 0;
	if (n < 0 && errno != EPIPE)
		return error_set_errno(err, "cannot write to a child");
	if (n < 0) {
		sys_spawn_close_in(child);
	} else {
		*p += n;
		*left -= (size_t)n;
	}
	return 0;
}

/*
 * Reads available bytes of *fd, an output of the child, and passes them to
 * `take`. Returns 0 or a negative error code. At the end of the output, closes
 * *fd and sets it to -1.
 */
static int listen_to(int *fd, sys_talk_fn *take, void *ctx, struct error *err)
{
	char bytes[LISTEN_MAX];
	ssize_t n = read(*fd, bytes, sizeof(bytes));

	if (n < 0 && errno == EINTR)
		return 0;
	if (n < 0)
		return error_set_errno(err, "cannot read from a child");
	if (n)
		return take(ctx, bytes, (size_t)n, err);
	close(*fd);
	*fd = -1;
	return 0;
}

/*
 * Makes writes to the child's input return at once if the pipe is full. Returns
 * 0 or ERR_IO.
 */
static int unblock_input(const struct sys_child *child, struct error *err)
{
	if (child->in >= 0 && fcntl(child->in, F_SETFL, O_NONBLOCK) < 0)
		return error_set_errno(err, "cannot prepare a pipe");
	return 0;
}

int sys_spawn_talk(struct sys_child *child, const struct sys_talk *talk,
		   struct error *err)
{
	int silence = talk->silence_ms ? (int)talk->silence_ms : -1;
	const char *p = talk->input;
	size_t left = talk->input_len;
	int no_fd = -1, *heard = talk->errors ? &child->err : &no_fd;
	int ret = 0;

	ret = unblock_input(child, err);
	while (!ret && (child->in >= 0 || child->out >= 0 || *heard >= 0)) {
		struct pollfd fds[3] = {
			{child->in, POLLOUT, 0},
			{child->out, POLLIN, 0},
			{*heard, POLLIN, 0},
		};
		int nr = poll(fds, 3, silence);

		if (nr < 0 && errno != EINTR)
			return error_set_errno(err, "cannot wait for a child");
		if (!nr && child->out >= 0)
			ret = talk->output(talk->ctx, "", 0, err);
		if (nr > 0 && fds[0].revents)
			ret = feed(child, &p, &left, err);
		if (!left)
			sys_spawn_close_in(child);
		if (!ret && nr > 0 && fds[2].revents)
			ret = listen_to(heard, talk->errors, talk->ctx, err);
		if (!ret && nr > 0 && fds[1].revents)
			ret = listen_to(&child->out, talk->output, talk->ctx,
					err);
	}
	return ret;
}

int sys_spawn_put(struct sys_child *child, const void *bytes, size_t len,
		  sys_talk_fn *output, void *ctx, struct error *err)
{
	const char *p = bytes;
	int ret = unblock_input(child, err);

	while (!ret && len && child->in >= 0) {
		struct pollfd fds[2] = {
			{child->in, POLLOUT, 0},
			{child->out, POLLIN, 0},
		};

		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			return error_set_errno(err, "cannot wait for a child");
		if (fds[1].revents)
			ret = listen_to(&child->out, output, ctx, err);
		if (!ret && fds[0].revents && child->in >= 0)
			ret = feed(child, &p, &len, err);
	}
	return ret;
}

void sys_spawn_close_in(struct sys_child *child)
{
	if (child->in >= 0)
		close(child->in);
	child->in = -1;
}

static uint64_t us_of(const struct timeval *time)
{
	return (uint64_t)time->tv_sec * 1000000 + (uint64_t)time->tv_usec;
}

static void close_pipes(struct sys_child *child)
{
	sys_spawn_close_in(child);
	if (child->out >= 0)
		close(child->out);
	if (child->err >= 0)
		close(child->err);
	child->out = child->err = -1;
}

bool sys_spawn_await(struct sys_child *child, int fd, int ms)
{
	/* poll() always reports the loss of a peer: POLLERR or POLLHUP. */
	struct pollfd fds[2] = {
		{(int)syscall(SYS_pidfd_open, child->pid, 0), POLLIN, 0},
		{fd, 0, 0},
	};
	int nr;

	close_pipes(child);
	if (fds[0].fd < 0)
		return true;
	do
		nr = poll(fds, 2, ms);
	while (nr < 0 && errno == EINTR);
	close(fds[0].fd);
	return nr < 0 || fds[0].revents;
}

int sys_spawn_wait(struct sys_child *child, struct error *err)
{
	struct rusage usage = {0};
	int status;

	close_pipes(child);
	while (wait4(child->pid, &status, 0, &usage) < 0)
		if (errno != EINTR)
			return error_set_errno(err, "cannot wait for a child");
	child->cpu_us = us_of(&usage.ru_utime) + us_of(&usage.ru_stime);
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	child->signal_nr = WTERMSIG(status);
	return 128 + child->signal_nr;
}

pid_t sys_fork(struct error *err)
{
	pid_t parent = getpid(), pid = fork();

	if (pid < 0)
		return error_set_errno(err, "cannot fork");
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		/*
		 * If the parent died before prctl(), no signal comes. So check
		 * whether the parent is still the same process.
		 */
		if (getppid() != parent)
			raise(SIGTERM);
	}
	return pid;
}

void sys_fork_outlive(void)
{
	prctl(PR_SET_PDEATHSIG, 0);
}

pid_t sys_fork_collect(int *status)
{
	pid_t pid = waitpid(-1, status, WNOHANG);

	if (pid > 0)
		*status = WIFSIGNALED(*status) ? 128 + WTERMSIG(*status)
					       : WEXITSTATUS(*status);
	return pid;
}

void sys_fork_signal(pid_t pid, int signal_nr)
{
	kill(pid, signal_nr);
}
