/* SPDX-License-Identifier: MIT */
/*
 * Messages to the service manager that started this process (sd_notify(3)). The
 * service manager names its socket in the variable NOTIFY_SOCKET.
 */
#ifndef SYS_NOTIFY_H
#define SYS_NOTIFY_H

/*
 * Sends lines such as "READY=1". `path` is the path of a datagram socket, or
 * the name of an abstract one after '@'; NULL: nothing is sent. A message that
 * cannot be sent is dropped: a server works without its manager.
 */
void sys_notify(const char *path, const char *text);

#endif
