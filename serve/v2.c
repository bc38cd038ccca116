/* SPDX-License-Identifier: MIT */
/*
 * The outer state machine of protocol v2. It reads the keys of a request and
 * calls the command:
 *
 *	state  input             then
 *	-----  ----------------  -----------------------------------------
 *	START  flush, end        END (no further request)
 *	       key or command    KEYS
 *	KEYS   key or command    KEYS
 *	       delim             ARGS
 *	       flush             run the command without arguments; START
 *	ARGS   argument          to the command; ARGS
 *	       flush             run the command; START
 *
 * Everything else is an error, for example a delim before a command.
 */
#include <string.h>

#include "base/mem.h"
#include "serve/protocol.h"
#include "serve/v2-command.h"

struct command {
	const char *name;
	int (*run)(struct session *s, struct v2_args *args, struct error *err);
	/*
	 * Returns whether the configuration enables the command. NULL: the
	 * command is always enabled.
	 */
	bool (*is_enabled)(const struct serve_config *config);
	/*
	 * true: the command gives information about objects, so config.is_limit
	 * must be loaded before it runs
	 */
	bool needs_limit;
};

static bool has_object_info(const struct serve_config *config)
{
	return config->advertise_object_info;
}

static bool has_bundle_uri(const struct serve_config *config)
{
	return config->advertise_bundle_uris;
}

static const struct command commands[] = {
	{"ls-refs", ls_refs_run, NULL, false},
	{"fetch", fetch_v2_run, NULL, true},
	{"object-info", v2_object_info_run, has_object_info, true},
	{"bundle-uri", v2_bundle_uri_run, has_bundle_uri, false},
};

struct keys {
	const struct command *command;
	/* hash algorithm of the client */
	enum hash_algo algo;
	/* true: the client has accepted an advertised promisor remote */
	bool has_promisor;
};

/*
 * Returns the command with this name, or NULL if it is unknown or not enabled.
 */
static const struct command *find_command(const struct session *s,
					  const char *name)
{
	for (size_t i = 0; i < ARRAY_NR(commands); i++) {
		const struct command *c = &commands[i];

		if (!strcmp(c->name, name))
			return !c->is_enabled || c->is_enabled(&s->config)
				       ? c
				       : NULL;
	}
	return NULL;
}

static int take_command(struct keys *keys, const struct session *s,
			const char *name, struct error *err)
{
	const struct command *command = find_command(s, name);
	char quoted[PKTLINE_QUOTE_MAX];

	pktline_quote(quoted, name);
	if (!command)
		return error_set(err, ERR_PEER, "invalid command '%s'", quoted);
	if (keys->command)
		return error_set(err, ERR_PEER,
				 "command '%s' requested after already "
				 "requesting command '%s'",
				 quoted, keys->command->name);
	keys->command = command;
	return 0;
}

/*
 * Returns whether `line` is a capability that was advertised and needs no
 * action.
 */
static bool is_known_key(const struct session *s, const char *line)
{
	size_t len = strcspn(line, "=");

	if (len == 5 && !memcmp(line, "agent", len))
		return true;
	if (len == 13 && !memcmp(line, "server-option", len))
		return true;
	return len == 10 && !memcmp(line, "session-id", len) &&
	       s->config.advertise_sid && s->options->session_id;
}

static int take_promisors(struct keys *keys, struct session *s,
			  const char *names, struct error *err)
{
	struct error warning = ERROR_INIT;
	int ret = promisor_remotes_accepted(&s->config.promisor_remotes, names,
					    &warning);

	session_warn(s, &warning);
	keys->has_promisor = ret > 0;
	return ret < 0 ? error_nomem(err) : 0;
}

static int take_key(struct keys *keys, struct session *s, const char *line,
		    struct error *err)
{
	static const char command[] = "command=", format[] = "object-format=",
			  promisor[] = "promisor-remote=";
	char quoted[PKTLINE_QUOTE_MAX];

	if (!strncmp(line, command, sizeof(command) - 1))
		return take_command(keys, s, line + sizeof(command) - 1, err);
	if (!strncmp(line, format, sizeof(format) - 1)) {
		line += sizeof(format) - 1;
		if (hash_by_name(&keys->algo, line))
			return 0;
		return error_set(err, ERR_PEER, "unknown object format '%s'",
				 pktline_quote(quoted, line));
	}
	if (!strcmp(line, "object-format"))
		return error_set(err, ERR_PEER,
				 "object-format capability requires an "
				 "argument");
	if (!strncmp(line, promisor, sizeof(promisor) - 1) &&
	    s->config.promisor_remotes.nr)
		return take_promisors(keys, s, line + sizeof(promisor) - 1,
				      err);
	if (is_known_key(s, line))
		return 0;
	return error_set(err, ERR_PEER, "unknown capability '%s'",
			 pktline_quote(quoted, line));
}

static int run(struct session *s, const struct keys *keys, bool has_args,
	       struct error *err)
{
	struct v2_args args = {.s = s, .at_end = !has_args};
	int ret;

	if (!keys->command)
		return error_set(err, ERR_PEER, "no command requested");
	if (keys->algo != s->algo)
		return error_set(err, ERR_PEER,
				 "mismatched object format: server %s; client "
				 "%s",
				 hash_name(s->algo), hash_name(keys->algo));
	args.command = keys->command->name;
	s->has_promisor = keys->has_promisor;
	session_begin(s, args.command);
	ret = keys->command->needs_limit
		      ? serve_config_load_limit(&s->config, s->options->repo,
						err)
		      : 0;
	if (!ret)
		ret = keys->command->run(s, &args, err);
	if (!ret)
		ret = session_send(s, err);
	if (!ret)
		session_end(s, NULL);
	return ret ? ret : 1;
}

int v2_serve(struct session *s, struct error *err)
{
	struct keys keys = {.algo = HASH_SHA1};
	bool is_start = true;

	for (;; is_start = false) {
		struct pktline pkt;
		int ret = pktline_read(&s->in, &pkt, err);

		if (!ret && pkt.kind == PKTLINE_DATA)
			ret = take_key(&keys, s, pkt.data, err);
		if (ret < 0)
			return ret;
		if (pkt.kind == PKTLINE_DATA)
			continue;
		if (pkt.kind == PKTLINE_DELIM)
			return run(s, &keys, true, err);
		if (pkt.kind == PKTLINE_RESPONSE_END)
			return error_set(err, ERR_PEER,
					 "unexpected response end packet");
		if (is_start)
			return 0;
		if (pkt.kind == PKTLINE_EOF)
			return pktline_hung_up(&s->in, err);
		return run(s, &keys, false, err);
	}
}
