/* SPDX-License-Identifier: MIT */
/* Starting other programs. */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sys/spawn.h"

extern char **environ;

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

static int spawn_with(struct sys_child *child, char *const argv[],
		      char *const envp[], int in[2], int out[2])
{
	posix_spawn_file_actions_t actions;
	int ret = posix_spawn_file_actions_init(&actions);

	if (ret)
		return ret;
	if (in[0] >= 0)
		ret = posix_spawn_file_actions_adddup2(&actions, in[0], 0);
	if (!ret && out[1] >= 0)
		ret = posix_spawn_file_actions_adddup2(&actions, out[1], 1);
	if (!ret)
		ret = posix_spawnp(&child->pid, argv[0], &actions, NULL, argv,
				   envp ? envp : environ);
	posix_spawn_file_actions_destroy(&actions);
	return ret;
}

int sys_spawn(struct sys_child *child, char *const argv[], char *const envp[],
	      unsigned flags, struct error *err)
{
	int in[2] = {-1, -1}, out[2] = {-1, -1};
	int ret;

	*child = (struct sys_child){-1, -1, -1};
	if (((flags & SYS_SPAWN_PIPE_IN) && pipe2(in, O_CLOEXEC) < 0) ||
	    ((flags & SYS_SPAWN_PIPE_OUT) && pipe2(out, O_CLOEXEC) < 0)) {
		error_set_errno(err, "cannot create a pipe");
		close_pair(in);
		close_pair(out);
		return ERR_IO;
	}
	ret = spawn_with(child, argv, envp, in, out);
	if (ret) {
		close_pair(in);
		close_pair(out);
		errno = ret;
		return error_set_errno(err, "cannot run '%s'", argv[0]);
	}
	if (in[0] >= 0)
		close(in[0]);
	if (out[1] >= 0)
		close(out[1]);
	child->in = in[1];
	child->out = out[0];
	return 0;
}

void sys_spawn_close_in(struct sys_child *child)
{
	if (child->in >= 0)
		close(child->in);
	child->in = -1;
}

int sys_spawn_wait(struct sys_child *child, struct error *err)
{
	int status;

	sys_spawn_close_in(child);
	if (child->out >= 0)
		close(child->out);
	child->out = -1;
	while (waitpid(child->pid, &status, 0) < 0)
		if (errno != EINTR)
			return error_set_errno(err, "cannot wait for a child");
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
