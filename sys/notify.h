/* SPDX-License-Identifier: MIT */
/*
 * Messages to the service manager that started this process (sd_notify(3)). The
 * service manager names its socket in the variable NOTIFY_SOCKET.
 */
#ifndef SYS_NOTIFY_H
#define SYS_NOTIFY_H

/*
 * Sends a text such as "READY=1". `path` is the path of a datagram socket. If
 * `path` begins with '@', the rest is the name of an abstract socket. If `path`
 * is NULL, nothing is sent. A message that cannot be sent is dropped, because a
 * server works without its manager.
 */
void sys_notify(const char *path, const char *text);

#endif
