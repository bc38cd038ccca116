/* SPDX-License-Identifier: MIT */
/* Opens listening sockets, or finds them among those that are open. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "processes/sockets.h"
#include "sys/io.h"
#include "sys/passing.h"

static const char *const schemes[] = {
	[DAEMON_HTTP] = "http://",   [DAEMON_GIT] = "git://",
	[DAEMON_SSH] = "unix:",      [DAEMON_HTTPS] = "https://",
	[DAEMON_ADMIN] = "admin://",
};

/*
 * Returns the rest of the URL after its scheme, and sets *out to the protocol.
 * Returns NULL if the scheme is unknown.
 */
static const char *skip_scheme(enum daemon_protocol *out, const char *url)
{
	/*
	 * Skip the last scheme of the table, because URLs do not use it.
	 * Messages use it as the scheme of listeners for the status page.
	 */
	for (size_t i = 0; i < DAEMON_ADMIN; i++) {
		size_t len = strlen(schemes[i]);

		*out = (enum daemon_protocol)i;
		if (!strncmp(url, schemes[i], len))
			return url + len;
	}
	return NULL;
}

static void set_name(struct daemon_address *a)
{
	bool is_v6 = strchr(a->address, ':') != NULL;

	snprintf(a->name, sizeof(a->name), "%s%s%s%s:%u", schemes[a->protocol],
		 is_v6 ? "[" : "", a->address, is_v6 ? "]" : "",
		 (unsigned)a->port);
}

static int set_path(struct daemon_address *a, const char *path,
		    struct error *err)
{
	int len = snprintf(a->name, sizeof(a->name), "%s%s",
			   schemes[DAEMON_SSH], path);

	if (!*path || len >= (int)sizeof(a->name) || strchr(path, '\n'))
		return error_set(err, ERR_INVALID,
				 "'%.200s' cannot be the path of a socket: it "
				 "is empty, too long or has a newline",
				 path);
	a->path = a->name + strlen(schemes[DAEMON_SSH]);
	return 0;
}

/* Returns whether the place is "systemd" or "systemd:<name>". */
static bool is_activated(const char *place)
{
	size_t len = strlen(DAEMON_ACTIVATED);

	return !strncmp(place, DAEMON_ACTIVATED, len - 1) &&
	       (!place[len - 1] || (place[len - 1] == ':' && place[len]));
}

int daemon_address_parse(struct daemon_address *out, const char *url,
			 struct error *err)
{
	const char *place = skip_scheme(&out->protocol, url);
	bool is_v6 = place && *place == '[';
	char rest[3] = "";
	unsigned port;
	int nr;

	if (!place)
		return error_set(err, ERR_INVALID,
				 "'%.200s': only http://, https://, git:// and "
				 "unix: are supported",
				 url);
	out->path = NULL;
	out->is_activated = out->protocol != DAEMON_SSH && is_activated(place);
	if (out->protocol == DAEMON_SSH)
		return set_path(out, place, err);
	if (out->is_activated) {
		const char *name = place + strlen(DAEMON_ACTIVATED) - 1;

		name += *name == ':';
		snprintf(out->name, sizeof(out->name), DAEMON_ACTIVATED "%.99s",
			 name);
		return 0;
	}
	nr = is_v6 ? sscanf(place, "[%45[^]]]:%5u%2s", out->address, &port,
			    rest)
		   : sscanf(place, "%45[^:/]:%5u%2s", out->address, &port,
			    rest);
	if (nr < 2 || port > 65535 || (nr == 3 && strcmp(rest, "/")))
		return error_set(err, ERR_INVALID,
				 "'%.200s' is not of the form "
				 "%s<address>:<port>",
				 url, schemes[out->protocol]);
	if (!sys_address_is_valid(out->address))
		return error_set(err, ERR_INVALID,
				 "'%s' is not a numeric address", out->address);
	out->port = (uint16_t)port;
	set_name(out);
	return 0;
}

/* ---- opening */

static bool contains(const struct daemon_sockets *s, int fd)
{
	for (size_t i = 0; i < s->nr; i++)
		if (s->items[i].fd == fd)
			return true;
	return false;
}

static void add(struct daemon_sockets *s, const char *name, int fd,
		enum daemon_protocol protocol)
{
	struct daemon_listener *item = &s->items[s->nr++];

	snprintf(item->name, sizeof(item->name), "%s", name);
	item->fd = fd;
	item->protocol = protocol;
}

/*
 * Add to *out sockets that are already open in *before. If the address is
 * "systemd" without a name, all sockets that the service manager has passed are
 * added. For any other address, the socket with the name of this address is
 * added. Returns whether a socket was added.
 */
static bool reuse(struct daemon_sockets *out,
		  const struct daemon_sockets *before,
		  const struct daemon_address *a)
{
	size_t len = strlen(a->name);
	bool wants_all = a->is_activated && a->name[len - 1] == ':';
	bool found = false;

	for (size_t i = 0; i < before->nr; i++) {
		const struct daemon_listener *item = &before->items[i];

		if ((found && !wants_all) || contains(out, item->fd) ||
		    out->nr == DAEMON_LISTENERS_MAX)
			continue;
		if (wants_all ? strncmp(item->name, a->name, len)
			      : strcmp(item->name, a->name))
			continue;
		add(out, item->name, item->fd, a->protocol);
		found = true;
	}
	return found;
}

static int open_one(struct daemon_sockets *out,
		    const struct daemon_sockets *before, const char *url,
		    struct error *err)
{
	struct daemon_address a;
	int fd = daemon_address_parse(&a, url, err);

	if (fd < 0 || reuse(out, before, &a))
		return fd;
	if (a.is_activated)
		return error_set(err, ERR_INVALID,
				 "'%s': the service manager has passed no such "
				 "socket",
				 url);
	if (out->nr == DAEMON_LISTENERS_MAX)
		return error_set(err, ERR_INVALID,
				 "there are more than %d sockets",
				 DAEMON_LISTENERS_MAX);
	fd = a.path ? sys_passing_listen(a.path, err)
		    : sys_socket_listen(a.address, a.port, err);
	if (fd < 0)
		return fd;
	add(out, a.name, fd, a.protocol);
	return 0;
}

int daemon_sockets_open(struct daemon_sockets *out,
			const struct daemon_sockets *before,
			const struct daemon_settings *settings,
			const struct daemon_text **bad, struct error *err)
{
	size_t nr;
	int ret = 0;

	out->nr = 0;
	for (size_t i = 0; !ret && i < settings->listen_nr; i++) {
		*bad = &settings->listen[i];
		ret = open_one(out, before, (*bad)->text, err);
	}
	nr = out->nr;
	if (!ret && settings->admin.text) {
		*bad = &settings->admin;
		ret = open_one(out, before, (*bad)->text, err);
	}
	for (; nr < out->nr; nr++)
		out->items[nr].protocol = DAEMON_ADMIN;
	for (; ret < 0 && out->nr; out->nr--)
		if (!contains(before, out->items[out->nr - 1].fd))
			sys_close(out->items[out->nr - 1].fd);
	return ret;
}

/*
 * Logs the name of a listener. If its URL has the port 0, the line shows the
 * port that the system chose.
 */
static void tell(const char *what, const struct daemon_listener *item,
		 const struct daemon_report *report)
{
	char name[DAEMON_NAME_MAX], line[DAEMON_NAME_MAX + 32];
	const char *port = strrchr(item->name, ':');
	bool is_activated = !strncmp(item->name, DAEMON_ACTIVATED,
				     strlen(DAEMON_ACTIVATED));

	snprintf(name, sizeof(name), "%s", item->name);
	if (item->protocol != DAEMON_SSH && !strcmp(port, ":0"))
		snprintf(name + (port - item->name),
			 sizeof(name) - (size_t)(port - item->name), ":%u",
			 (unsigned)sys_socket_port(item->fd));
	snprintf(line, sizeof(line), "%s %s%s%s", what,
		 is_activated ? schemes[item->protocol] : "", name,
		 item->protocol == DAEMON_ADMIN ? " (status)" : "");
	report->fn(report->ctx, line);
}

void daemon_sockets_replace(const struct daemon_sockets *before,
			    const struct daemon_sockets *now, bool reports_all,
			    const struct daemon_report *report)
{
	for (size_t i = 0; i < now->nr; i++)
		if (reports_all || !contains(before, now->items[i].fd))
			tell("listens on", &now->items[i], report);
	for (size_t i = 0; i < before->nr; i++) {
		if (contains(now, before->items[i].fd))
			continue;
		tell("closes", &before->items[i], report);
		sys_close(before->items[i].fd);
	}
}

/* ---- sockets of another program */

static int adopt(struct daemon_sockets *out, const char *name, size_t name_len,
		 int fd, struct error *err)
{
	struct daemon_listener *item = &out->items[out->nr];

	if (out->nr == DAEMON_LISTENERS_MAX || contains(out, fd) || !name_len ||
	    name_len >= sizeof(item->name))
		return error_set(err, ERR_INVALID,
				 "the list of inherited sockets is malformed");
	if (sys_socket_adopt(fd, err) < 0)
		return ERR_INVALID;
	memcpy(item->name, name, name_len);
	item->name[name_len] = '\0';
	item->fd = fd;
	item->protocol = DAEMON_HTTP;
	out->nr++;
	return 0;
}

int daemon_sockets_activate(struct daemon_sockets *out, int first, size_t nr,
			    const char *names, struct error *err)
{
	int ret = 0;

	names = names ? names : "";
	for (size_t i = 0; !ret && i < nr; i++) {
		char name[DAEMON_NAME_MAX];
		int len = (int)strcspn(names, ":");

		len = len < 99 ? len : 99;
		len = snprintf(name, sizeof(name), DAEMON_ACTIVATED "%.*s", len,
			       names);
		ret = adopt(out, name, (size_t)len, first + (int)i, err);
		names += strcspn(names, ":");
		names += *names == ':';
	}
	return ret;
}

/* Writes a line "<descriptor> <name>" for each socket. */
int daemon_sockets_write(struct buf *out, const struct daemon_sockets *sockets)
{
	int ret = 0;

	for (size_t i = 0; !ret && i < sockets->nr; i++)
		ret = buf_printf(out, "%d %s\n", sockets->items[i].fd,
				 sockets->items[i].name);
	return ret;
}

int daemon_sockets_read(struct daemon_sockets *out, const char *list,
			struct error *err)
{
	int ret = 0;

	while (!ret && *list) {
		size_t len = strcspn(list, "\n");
		char *name;
		long fd = strtol(list, &name, 10);

		if (*name != ' ' || name == list || fd < 0 || fd > INT_MAX ||
		    list[len] != '\n')
			return error_set(
				err, ERR_INVALID,
				"the list of inherited sockets is malformed");
		name++;
		ret = adopt(out, name, (size_t)(list + len - name), (int)fd,
			    err);
		list += len + 1;
	}
	return ret;
}
