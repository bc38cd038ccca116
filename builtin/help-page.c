/* SPDX-License-Identifier: MIT */
/* Finds our manual pages, and starts a viewer if stock Git is not installed. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "builtin/builtin.h"
#include "builtin/exec-path.h"
#include "builtin/help.h"
#include "sys/io.h"

/*
 * Returns whether the manual page `page` is installed below `dir`. The file may
 * be compressed, because distributions do this.
 */
static bool has_page(const char *dir, const char *page, char section)
{
	static const char *const suffixes[] = {"", ".gz", ".xz", ".zst",
					       ".bz2"};
	struct buf path = BUF_INIT;
	bool found = false;

	for (size_t i = 0; i < ARRAY_NR(suffixes) && !found; i++) {
		buf_reset(&path);
		if (buf_printf(&path, "%s/man%c/%s.%c%s", dir, section, page,
			       section, suffixes[i]) < 0)
			break;
		found = sys_exists(path.data);
	}
	buf_release(&path);
	return found;
}

/*
 * Append the name of the manual page about `topic`. Returns its section, or 0
 * if there is no page.
 */
static char name_page(struct buf *page, const char *topic)
{
	if (!strcmp(topic, "gitreach") || !strcmp(topic, "libgitreach"))
		return buf_append_str(page, topic) ? 0
		       : *topic == 'l'             ? '3'
						   : '7';
	if (!strncmp(topic, "gitreach-", 9))
		topic += 9;
	if (!help_is_native(topic) || buf_printf(page, "gitreach-%s", topic))
		return 0;
	return '1';
}

int help_find_page(struct buf *page, const char *topic)
{
	struct buf dir = BUF_INIT;
	char section = name_page(page, topic);
	int ret = ERR_MISSING;

	if (section)
		ret = exec_path_man(&dir, NULL);
	if (!ret && !has_page(dir.data, page->data, section))
		ret = ERR_MISSING;
	buf_release(&dir);
	return ret;
}

int help_set_manpath(void)
{
	const char *before = getenv("MANPATH");
	struct buf path = BUF_INIT;
	int ret = exec_path_man(&path, NULL);

	/*
	 * If MANPATH was not set, the new value ends with an empty element, so
	 * that `man` also searches the system's directories.
	 */
	if (!ret && (buf_printf(&path, ":%s", before ? before : "") < 0 ||
		     setenv("MANPATH", path.data, 1) < 0))
		ret = ERR_NOMEM;
	buf_release(&path);
	return ret == ERR_NOMEM ? builtin_die("out of memory") : 0;
}

/* ---- viewers */

struct viewing {
	const struct config *config;
	const char *page;
};

static const char *setting(const struct viewing *v, const char *tool,
			   const char *what)
{
	struct buf key = BUF_INIT;
	const char *value = NULL;

	if (!buf_printf(&key, "man.%s.%s", tool, what))
		value = config_string(v->config, key.data);
	buf_release(&key);
	return value;
}

/*
 * Start the viewer of manual pages that `tool` names. Returns only if it cannot
 * be started.
 */
static void try_viewer(const struct viewing *v, const char *tool)
{
	const char *path = setting(v, tool, "path");
	const char *command = setting(v, tool, "cmd");
	struct buf line = BUF_INIT;

	if (!strcmp(tool, "man")) {
		path = path ? path : "man";
		execlp(path, "man", v->page, (char *)NULL);
		builtin_warn("cannot run '%s': %s", path, strerror(errno));
	} else if (command) {
		if (!buf_printf(&line, "%s \"$@\"", command))
			execl("/bin/sh", "sh", "-c", line.data, command,
			      v->page, (char *)NULL);
		builtin_warn("cannot run '%s': %s", command, strerror(errno));
		buf_release(&line);
	} else {
		builtin_warn("'%s': unknown man viewer.", tool);
	}
}

static int try_configured(void *ctx, const struct config_entry *entry)
{
	if (entry->value)
		try_viewer(ctx, entry->value);
	return 0;
}

int help_view(const char *page, const struct config *config)
{
	struct viewing v = {config, page};
	const char *tool = getenv("GIT_MAN_VIEWER");

	config_each(config, "man.viewer", try_configured, &v);
	if (tool && *tool)
		try_viewer(&v, tool);
	try_viewer(&v, "man");
	return builtin_die("no viewer of manual pages could be started");
}
