/* SPDX-License-Identifier: MIT */
/* Finds the promisor remotes that are advertised to clients. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/quote.h"
#include "serve/serve-config.h"
#include "wire/pktline.h"

/*
 * The characters that separate fields and remotes in the advertised value.
 * Inside of names and values, these characters are percent-encoded.
 */
#define SEPARATORS ",;"

struct loading {
	struct promisor_remotes *remotes;
	struct error *err;
};

static struct promisor_remote *find(const struct promisor_remotes *remotes,
				    const char *name)
{
	for (size_t i = 0; i < remotes->nr; i++)
		if (!strcmp(remotes->items[i].name, name))
			return &remotes->items[i];
	return NULL;
}

static int add(struct promisor_remotes *remotes, const char *name, size_t len)
{
	char *copy = mem_strndup(name, len);

	if (!copy)
		return ERR_NOMEM;
	if (find(remotes, copy)) {
		free(copy);
		return 0;
	}
	if (mem_grow(&remotes->items, &remotes->alloc, remotes->nr + 1,
		     sizeof(*remotes->items)) < 0) {
		free(copy);
		return ERR_NOMEM;
	}
	remotes->items[remotes->nr++] = (struct promisor_remote){.name = copy};
	return 0;
}

/*
 * Adds a remote to the list if a configuration entry says that the remote is a
 * promisor remote. A later entry "promisor = false" does not remove the remote.
 */
static int take(void *ctx, const struct config_entry *entry)
{
	struct loading *l = ctx;
	const char *name = entry->key + strlen("remote.");
	const char *dot = strrchr(entry->key, '.');
	int is_promisor = 0;

	if (dot < name)
		return 0;
	if (!strcmp(dot, ".promisor"))
		is_promisor = config_entry_bool(entry, l->err);
	else if (!strcmp(dot, ".partialclonefilter"))
		is_promisor = 1;
	if (is_promisor <= 0)
		return is_promisor;
	if (add(l->remotes, name, (size_t)(dot - name)) < 0)
		return error_nomem(l->err);
	return 0;
}

/*
 * Sets *out to the value of remote.<name>.<variable>, or to NULL if the key is
 * not set or empty.
 */
static int look_up(const char **out, const struct config *config,
		   const char *name, const char *variable)
{
	struct buf key = BUF_INIT;
	int ret = buf_printf(&key, "remote.%s.%s", name, variable);

	*out = ret ? NULL : config_string(config, key.data);
	if (*out && !**out)
		*out = NULL;
	buf_release(&key);
	return ret;
}

static bool is_field(const char *list, size_t len, const char *field)
{
	return len == strlen(field) && !strncasecmp(list, field, len);
}

/* promisor.sendFields */
static void parse_fields(bool *filter, bool *token, const char *list,
			 struct error *warning)
{
	*filter = *token = false;
	while (list && *list) {
		size_t len = strcspn(list, ", ");

		if (is_field(list, len, "partialCloneFilter"))
			*filter = true;
		else if (is_field(list, len, "token"))
			*token = true;
		else if (len)
			error_set(warning, ERR_INVALID,
				  "unsupported field '%.*s' in "
				  "'promisor.sendFields' config",
				  (int)len, list);
		list += len + (list[len] != '\0');
	}
}

/*
 * Reads the URL and the other fields of each remote. Remotes without a URL are
 * removed from the list.
 */
static int complete(struct promisor_remotes *remotes,
		    const struct config *config, struct error *warning)
{
	bool filter, token;
	size_t kept = 0;
	int ret = 0;

	parse_fields(&filter, &token,
		     config_string(config, "promisor.sendfields"), warning);
	for (size_t i = 0; i < remotes->nr; i++) {
		struct promisor_remote remote = remotes->items[i];

		ret = ret ? ret
			  : look_up(&remote.url, config, remote.name, "url");
		if (!ret && filter)
			ret = look_up(&remote.filter, config, remote.name,
				      "partialclonefilter");
		if (!ret && token)
			ret = look_up(&remote.token, config, remote.name,
				      "token");
		if (remote.url)
			remotes->items[kept++] = remote;
		else
			free(remote.name);
	}
	remotes->nr = kept;
	return ret;
}

int promisor_remotes_load(struct promisor_remotes *remotes,
			  const struct config *config, struct error *warning,
			  struct error *err)
{
	struct loading l = {remotes, err};
	bool is_told = false;
	int ret;

	*remotes = (struct promisor_remotes){0};
	ret = config_bool(config, "promisor.advertise", &is_told, err);
	if (ret < 0 || !is_told)
		return ret < 0 ? ret : 0;
	ret = config_each(config, "remote.", take, &l);
	if (!ret && complete(remotes, config, warning) < 0)
		ret = error_nomem(err);
	return ret;
}

void promisor_remotes_release(struct promisor_remotes *remotes)
{
	for (size_t i = 0; i < remotes->nr; i++)
		free(remotes->items[i].name);
	free(remotes->items);
	*remotes = (struct promisor_remotes){0};
}

static int print_field(struct buf *out, const char *name, const char *value)
{
	int ret = value ? buf_append_str(out, name) : 0;

	return ret || !value
		       ? ret
		       : quote_percent(out, value, strlen(value), SEPARATORS);
}

int promisor_remotes_print(struct buf *out,
			   const struct promisor_remotes *remotes)
{
	int ret = 0;

	for (size_t i = 0; !ret && i < remotes->nr; i++) {
		const struct promisor_remote *remote = &remotes->items[i];

		ret = print_field(out, i ? ";name=" : "name=", remote->name);
		if (!ret)
			ret = print_field(out, ",url=", remote->url);
		if (!ret)
			ret = print_field(
				out, ",partialCloneFilter=", remote->filter);
		if (!ret)
			ret = print_field(out, ",token=", remote->token);
	}
	return ret;
}

int promisor_remotes_accepted(const struct promisor_remotes *remotes,
			      const char *names, struct error *warning)
{
	char quoted[PKTLINE_QUOTE_MAX];
	int ret = 0;

	for (;;) {
		size_t len = strcspn(names, ";");
		char *name = mem_strndup(names, len);

		if (!name)
			return ERR_NOMEM;
		quote_undo_percent(name);
		if (find(remotes, name))
			ret = 1;
		else
			error_set(warning, ERR_PEER,
				  "accepted promisor remote '%s' not found",
				  pktline_quote(quoted, name));
		free(name);
		if (!names[len])
			return ret;
		names += len + 1;
	}
}
