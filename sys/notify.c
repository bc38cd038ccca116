/* SPDX-License-Identifier: MIT */
/* Messages to the service manager. */
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "sys/io.h"
#include "sys/notify.h"

void sys_notify(const char *path, const char *text)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	size_t len = path ? strlen(path) : 0;
	ssize_t n;
	int fd;

	if (!len || len >= sizeof(a.sun_path) || !strchr("/@", *path))
		return;
	memcpy(a.sun_path, path, len);
	if (*path == '@')
		a.sun_path[0] = '\0';
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return;
	n = sendto(fd, text, strlen(text), MSG_NOSIGNAL, (void *)&a,
		   (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len));
	(void)n;
	sys_close(fd);
}
