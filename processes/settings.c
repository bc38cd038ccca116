/* SPDX-License-Identifier: MIT */
/* Reads the settings of the server, and checks them. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "admission/queue.h"
#include "base/buf.h"
#include "base/mem.h"
#include "config/config.h"
#include "processes/settings.h"
#include "processes/sockets.h"
#include "sys/io.h"

#define SECTION "gitreachd."

#define AT(field) offsetof(struct daemon_settings, field)

const struct daemon_key daemon_settings_keys[] = {
	{"base-path", DAEMON_TEXT, AT(base_path), 0, "<dir>",
	 "serve the repositories below this directory"},
	{"store", DAEMON_TEXT, AT(store), 0, "<url>",
	 "serve the repositories of a store: file:///<directory> or "
	 "s3://<bucket>/<prefix>"},
	{"store-endpoint", DAEMON_TEXT, AT(store_endpoint), 0, "<url>",
	 "s3://: URL of the service"},
	{"store-region", DAEMON_TEXT, AT(store_region), 0, "<name>",
	 "s3://: the region of the bucket"},
	{"store-ca-file", DAEMON_TEXT, AT(store_ca_file), 0, "<file>",
	 "s3://: certificates of the trusted authorities (PEM)"},
	{"store-max-age", DAEMON_AMOUNT, AT(store_max_age), 86400000,
	 "<milliseconds>",
	 "for this time, do not ask the store again about a repository"},
	{"store-absent-age", DAEMON_AMOUNT, AT(store_absent_age), 86400000,
	 "<milliseconds>",
	 "s3://: for this time, do not ask again about a missing repository"},
	{"store-stale", DAEMON_AMOUNT, AT(store_stale), 31536000, "<seconds>",
	 "if the store fails, serve copies that were newest within this time"},
	{"store-probe", DAEMON_FLAG, AT(store_probe), 0, NULL,
	 "s3://: test a new store before using it (default)"},
	{"cache", DAEMON_TEXT, AT(cache), 0, "<dir>",
	 "directory of local copies of the repositories in the store"},
	{"cache-size", DAEMON_NUMBER, AT(cache_size), INT64_MAX, "<bytes>",
	 "maximum size of the cache (default: no limit)"},
	{"listen", DAEMON_LIST, AT(listen), 0, "<url>",
	 "listen on http://, https:// or git://<address>:<port> (port 0: any), "
	 "or on unix:<path> (may be repeated)"},
	{"tls-certificate", DAEMON_TEXT, AT(tls_certificate), 0, "<file>",
	 "https://: the certificate and its chain (PEM)"},
	{"tls-key", DAEMON_TEXT, AT(tls_key), 0, "<file>",
	 "https://: the private key (default: in the certificate's file)"},
	{"admin", DAEMON_TEXT, AT(admin), 0, "<url>",
	 "show the status and the metrics on http://<address>:<port>"},
	{"export-all", DAEMON_FLAG, AT(export_all), 0, NULL,
	 "serve repositories without git-daemon-export-ok"},
	{"strict-paths", DAEMON_FLAG, AT(strict_paths), 0, NULL,
	 "git://, ssh: serve a repository at its exact path only"},
	{"informative-errors", DAEMON_FLAG, AT(informative_errors), 0, NULL,
	 "git://: tell clients why they are refused"},
	{"enable", DAEMON_SERVICE_SET, AT(services.is_enabled), 0, "<service>",
	 "git://: offer this service"},
	{"disable", DAEMON_SERVICE_CLEAR, AT(services.is_enabled), 0,
	 "<service>", "git://: do not offer this service"},
	{"allow-override", DAEMON_SERVICE_CLEAR, AT(services.is_fixed), 0,
	 "<service>",
	 "git://: repositories may enable or disable this service"},
	{"forbid-override", DAEMON_SERVICE_SET, AT(services.is_fixed), 0,
	 "<service>",
	 "git://: repositories may not enable or disable this service"},
	{"user-header", DAEMON_TEXT, AT(user_header), 0, "<name>",
	 "HTTP header field in which a trusted proxy names the user"},
	{"trusted-proxy", DAEMON_NETS, AT(proxies), 0, "<address>[/<bits>]",
	 "accept the user header from these clients (may be repeated)"},
	{"htpasswd", DAEMON_TEXT, AT(htpasswd), 0, "<file>",
	 "HTTP: file of users and password hashes"},
	{"allow-plain-passwords", DAEMON_FLAG, AT(allow_plain_passwords), 0,
	 NULL, "HTTP: accept passwords without TLS"},
	{"access-helper", DAEMON_TEXT, AT(access_helper), 0, "<command>",
	 "ask this program whether a request is allowed"},
	{"access-timeout", DAEMON_NUMBER, AT(access_timeout), 60, "<seconds>",
	 "maximum time to wait for an answer of the access helper"},
	{"workers", DAEMON_NUMBER, AT(workers), 64, "<n>",
	 "number of worker processes"},
	{"threads", DAEMON_NUMBER, AT(threads), 1024, "<n>",
	 "requests that each process answers at once"},
	{"max-connections", DAEMON_NUMBER, AT(max_connections), 1000000, "<n>",
	 "maximum number of connections, all processes together"},
	{"max-connections-per-address", DAEMON_NUMBER,
	 AT(connections_of_address), 1000000, "<n>",
	 "maximum number of connections from one client address"},
	{"tokens", DAEMON_AMOUNT, AT(tokens), 1024, "<n>",
	 "expensive fetches that run at once (0: one for each processor)"},
	{"token-share", DAEMON_NUMBER, AT(token_share), 100, "<percent>",
	 "maximum share of the tokens for one user while others wait"},
	{"work-nice", DAEMON_AMOUNT, AT(work_nice), 19, "<n>",
	 "run expensive fetches with this nice value (0: no lower priority)"},
	{"max-queue", DAEMON_NUMBER, AT(queue), ADMISSION_TICKETS_MAX, "<n>",
	 "maximum number of fetches from one network that wait for a token"},
	{"max-queue-per-user", DAEMON_NUMBER, AT(queue_of_user),
	 ADMISSION_TICKETS_MAX, "<n>",
	 "maximum number of waiting requests of one user or address"},
	{"queue-timeout", DAEMON_NUMBER, AT(queue_timeout), 86400, "<seconds>",
	 "maximum time that a request waits for a token"},
	{"max-pushes", DAEMON_NUMBER, AT(pushes), ADMISSION_TICKETS_MAX, "<n>",
	 "maximum number of pushes to one repository at once"},
	{"head-timeout", DAEMON_NUMBER, AT(head_timeout), 3600, "<seconds>",
	 "time in which a client must send the head of a request"},
	{"timeout", DAEMON_NUMBER, AT(timeout), 86400, "<seconds>",
	 "time in which a client must send or accept 64 KiB"},
	{"idle-timeout", DAEMON_NUMBER, AT(idle_timeout), 86400, "<seconds>",
	 "close a connection after this time without a request"},
	{"drain-timeout", DAEMON_NUMBER, AT(drain_timeout), 86400, "<seconds>",
	 "time to finish requests after SIGTERM"},
	{"slow-request", DAEMON_NUMBER, AT(slow_request), 86400000,
	 "<milliseconds>",
	 "list a request as slow if it takes this time or longer"},
	{"plan-memory", DAEMON_AMOUNT, AT(plan_memory), 1048576, "<MiB>",
	 "memory of each process for plans (cached responses)"},
	{"plan-directory", DAEMON_TEXT, AT(plan_directory), 0, "<dir>",
	 "directory of plans that all processes share"},
	{"plan-directory-size", DAEMON_NUMBER, AT(plan_directory_size), 1048576,
	 "<MiB>", "maximum size of the directory of plans"},
	{NULL, DAEMON_TEXT, 0, 0, NULL, NULL},
};

_Static_assert(ARRAY_NR(daemon_settings_keys) <= DAEMON_KEYS_MAX,
	       "arrays for all keys are too short");

void daemon_settings_init(struct daemon_settings *s)
{
	*s = (struct daemon_settings){
		.services = SERVICE_RULES_INIT,
		.access_timeout = 5,
		.workers = 2,
		.threads = 64,
		.max_connections = 10000,
		.head_timeout = 10,
		.timeout = 30,
		.idle_timeout = 60,
		.drain_timeout = 30,
		.slow_request = 1000,
		.store_absent_age = 1000,
		.store_probe = true,
		.plan_memory = 64,
		.plan_directory_size = 256,
		.token_share = 25,
		.queue = 200,
		.queue_of_user = 64,
		.queue_timeout = 300,
		.pushes = 8,
		.work_nice = 10,
	};
}

static void forget_listeners(struct daemon_settings *s)
{
	while (s->listen_nr) {
		struct daemon_text *last = &s->listen[--s->listen_nr];

		free(last->text);
		*last = (struct daemon_text){NULL, 0};
	}
}

void daemon_settings_release(struct daemon_settings *s)
{
	free(s->base_path.text);
	free(s->store.text);
	free(s->store_endpoint.text);
	free(s->store_region.text);
	free(s->store_ca_file.text);
	free(s->cache.text);
	free(s->admin.text);
	free(s->user_header.text);
	free(s->tls_certificate.text);
	free(s->tls_key.text);
	free(s->htpasswd.text);
	free(s->access_helper.text);
	free(s->plan_directory.text);
	forget_listeners(s);
	*s = (struct daemon_settings){.file = NULL};
}

/* ---- reports */

/*
 * Report an error as "<file>:<line>: <key>: <reason>", or as "--<key>:
 * <reason>" if `line` is 0. Returns ERR_INVALID.
 */
static int refuse_at(const char *file, unsigned line, const char *key,
		     const char *reason, const struct daemon_report *report)
{
	char text[ERROR_MESSAGE_MAX];

	if (line)
		snprintf(text, sizeof(text), "%s:%u: %s: %s", file, line, key,
			 reason);
	else
		snprintf(text, sizeof(text), "--%s: %s", key, reason);
	report->fn(report->ctx, text);
	return ERR_INVALID;
}

int daemon_settings_refuse(const struct daemon_settings *s, const char *key,
			   const struct daemon_text *value, const char *reason,
			   const struct daemon_report *report)
{
	return refuse_at(s->file, value->line, key, reason, report);
}

/* ---- values */

static int set_text(struct daemon_text *out, const char *value, unsigned line)
{
	char *copy = mem_strdup(value);

	if (!copy)
		return ERR_NOMEM;
	free(out->text);
	*out = (struct daemon_text){copy, line};
	return 0;
}

static int add_listener(struct daemon_settings *s, const char *value,
			unsigned line, struct error *err)
{
	/*
	 * Listeners that are given as command-line options replace all
	 * listeners of the configuration file.
	 */
	if (!line && s->listen_nr && s->listen[0].line)
		forget_listeners(s);
	if (s->listen_nr == DAEMON_LISTENERS_MAX)
		return error_set(err, ERR_INVALID,
				 "there are more than %d listeners",
				 DAEMON_LISTENERS_MAX);
	if (set_text(&s->listen[s->listen_nr], value, line) < 0)
		return ERR_NOMEM;
	s->listen_nr++;
	return 0;
}

static int add_proxy(struct daemon_settings *s, const char *value,
		     struct error *err)
{
	if (s->proxy_nr == DAEMON_PROXIES_MAX)
		return error_set(err, ERR_INVALID,
				 "there are more than %d addresses or networks",
				 DAEMON_PROXIES_MAX);
	if (!trusted_parse(&s->proxies[s->proxy_nr], value))
		return error_set(err, ERR_INVALID,
				 "'%.100s' is not of the form "
				 "<address>[/<bits>]",
				 value);
	s->proxy_nr++;
	return 0;
}

static int set_number(uint64_t *out, const char *value,
		      const struct daemon_key *key, struct error *err)
{
	uint64_t number, min = key->kind == DAEMON_NUMBER;

	if (config_parse_u64(&number, value) < 0 || number < min ||
	    number > key->max)
		return error_set(err, ERR_INVALID,
				 "must be a number between %" PRIu64
				 " and %" PRIu64 ", not '%.100s'",
				 min, key->max, value);
	*out = number;
	return 0;
}

static int set_flag(bool *out, const char *value, struct error *err)
{
	int flag = config_parse_bool(value);

	if (flag < 0)
		return error_set(err, ERR_INVALID,
				 "must be true or false, not '%.100s'", value);
	*out = flag;
	return 0;
}

/*
 * Sets the value of the service `name` in the array `row`. Returns 0, or
 * ERR_INVALID if there is no such service.
 */
static int set_service(bool *row, const char *name, bool value,
		       struct error *err)
{
	enum service service;

	if (!service_find(&service, name, strlen(name)))
		return error_set(err, ERR_INVALID, "unknown service '%.100s'",
				 name);
	row[service] = value;
	return 0;
}

/* Sets the value of a key. `value` is NULL for a key without "=". */
static int set(struct daemon_settings *s, const struct daemon_key *key,
	       const char *value, unsigned line, struct error *err)
{
	void *field = (char *)s + key->offset;

	if (key->kind == DAEMON_FLAG)
		return set_flag(field, value, err);
	if (!value || !*value)
		return error_set(err, ERR_INVALID, "the value is missing");
	switch (key->kind) {
	case DAEMON_LIST:
		return add_listener(s, value, line, err);
	case DAEMON_NETS:
		return add_proxy(s, value, err);
	case DAEMON_NUMBER:
	case DAEMON_AMOUNT:
		return set_number(field, value, key, err);
	case DAEMON_SERVICE_SET:
	case DAEMON_SERVICE_CLEAR:
		return set_service(field, value,
				   key->kind == DAEMON_SERVICE_SET, err);
	default:
		return set_text(field, value, line);
	}
}

int daemon_settings_option(struct daemon_settings *s,
			   const struct daemon_key *key, const char *value,
			   const struct daemon_report *report)
{
	struct error err = ERROR_INIT;
	int ret = set(s, key, value, 0, &err);

	return ret == ERR_INVALID
		       ? refuse_at(NULL, 0, key->name, err.msg, report)
		       : ret;
}

/* ---- the file */

struct reading {
	struct daemon_settings *settings;
	const struct daemon_report *report;
	bool has_errors;
};

static const struct daemon_key *find_key(const char *name)
{
	for (const struct daemon_key *key = daemon_settings_keys; key->name;
	     key++)
		if (!strcmp(key->name, name))
			return key;
	return NULL;
}

static int take_line(void *ctx, const struct config_line *line)
{
	struct reading *r = ctx;
	struct error err = ERROR_INIT;
	size_t len = strlen(SECTION);
	bool is_ours = !strncmp(line->key, SECTION, len);
	const char *name = is_ours ? line->key + len : line->key;
	const struct daemon_key *key = is_ours ? find_key(name) : NULL;
	int ret = key ? set(r->settings, key, line->value, line->line, &err)
		      : error_set(&err, ERR_INVALID,
				  is_ours ? "unknown key"
					  : "not in section [gitreachd]");

	if (ret != ERR_INVALID)
		return ret;
	r->has_errors = true;
	refuse_at(r->settings->file, line->line, name, err.msg, r->report);
	return 0;
}

int daemon_settings_parse(struct daemon_settings *s, const char *text,
			  size_t len, const char *path,
			  const struct daemon_report *report)
{
	struct reading r = {.settings = s, .report = report};
	struct error err = ERROR_INIT;
	int ret;

	s->file = path;
	ret = config_each_line(text, len, path, take_line, &r, &err);
	if (ret == ERR_CORRUPT)
		report->fn(report->ctx, err.msg);
	if (!ret && r.has_errors)
		ret = ERR_INVALID;
	return ret;
}

/* ---- checks */

static int refuse_missing(const struct daemon_settings *s, const char *key,
			  const struct daemon_report *report)
{
	char text[ERROR_MESSAGE_MAX];

	snprintf(text, sizeof(text), "--%s is missing%s%s", key,
		 s->file ? ", and the key is not in " : "",
		 s->file ? s->file : "");
	report->fn(report->ctx, text);
	return ERR_INVALID;
}

static int stop_at_once(void *ctx, const char *name)
{
	return 1;
}

static int check_base_path(const struct daemon_settings *s,
			   const struct daemon_report *report)
{
	struct error err = ERROR_INIT;

	if (!s->base_path.text)
		return refuse_missing(s, "base-path", report);
	if (s->base_path.line && *s->base_path.text != '/')
		return daemon_settings_refuse(s, "base-path", &s->base_path,
					      "must be an absolute path",
					      report);
	if (sys_dir_each(s->base_path.text, stop_at_once, NULL, &err) >= 0)
		return 0;
	return daemon_settings_refuse(s, "base-path", &s->base_path, err.msg,
				      report);
}

/*
 * Refuses a setting that can only be used together with the key `needed`.
 * Returns ERR_INVALID.
 */
static int refuse_alone(const struct daemon_settings *s, const char *key,
			const struct daemon_text *value, const char *needed,
			const struct daemon_report *report)
{
	char reason[100];

	snprintf(reason, sizeof(reason), "cannot be used without %s", needed);
	return daemon_settings_refuse(s, key, value, reason, report);
}

static int check_without_store(const struct daemon_settings *s,
			       const struct daemon_report *report)
{
	const struct {
		const char *key;
		const struct daemon_text *value;
	} rows[] = {
		{"store-endpoint", &s->store_endpoint},
		{"store-region", &s->store_region},
		{"store-ca-file", &s->store_ca_file},
		{"cache", &s->cache},
	};
	int ret = check_base_path(s, report);

	for (size_t i = 0; i < ARRAY_NR(rows); i++)
		if (rows[i].value->text)
			ret = refuse_alone(s, rows[i].key, rows[i].value,
					   "store", report);
	return ret;
}

/*
 * Checks the form of the store's URL, and the directory of the cache. Returns 0
 * or ERR_INVALID.
 */
static int check_store(const struct daemon_settings *s,
		       const struct daemon_report *report)
{
	const char *url = s->store.text;
	struct sys_stat st;
	int ret = 0;

	if (!url)
		return check_without_store(s, report);
	if (strncmp(url, "file:///", 8) != 0 && strncmp(url, "s3://", 5) != 0)
		ret = daemon_settings_refuse(s, "store", &s->store,
					     "must begin with file:/// or "
					     "s3://",
					     report);
	if (s->base_path.text)
		ret = daemon_settings_refuse(s, "base-path", &s->base_path,
					     "cannot be used together with "
					     "store",
					     report);
	if (!s->cache.text)
		return refuse_missing(s, "cache", report);
	if (s->cache.line && *s->cache.text != '/')
		ret = daemon_settings_refuse(s, "cache", &s->cache,
					     "must be an absolute path",
					     report);
	if (!sys_stat(&st, s->cache.text, NULL) && !st.is_dir)
		ret = daemon_settings_refuse(s, "cache", &s->cache,
					     "is not a directory", report);
	return ret;
}

int daemon_settings_tls(struct tls **out, const struct daemon_settings *s,
			const struct daemon_report *report)
{
	const struct daemon_text *certificate = &s->tls_certificate;
	const struct daemon_text *key = s->tls_key.text ? &s->tls_key
							: certificate;
	struct error err = ERROR_INIT;
	bool is_key;
	int ret;

	*out = NULL;
	if (!certificate->text)
		return s->tls_key.text
			       ? refuse_missing(s, "tls-certificate", report)
			       : 0;
	ret = tls_open(out, certificate->text, key->text, &is_key, &err);
	if (ret != ERR_INVALID)
		return ret;
	if (is_key && s->tls_key.text)
		return daemon_settings_refuse(s, "tls-key", key, err.msg,
					      report);
	return daemon_settings_refuse(s, "tls-certificate", certificate,
				      err.msg, report);
}

int daemon_settings_htpasswd(struct htpasswd **out,
			     const struct daemon_settings *s,
			     const struct daemon_report *report)
{
	struct error err = ERROR_INIT;
	int ret;

	*out = NULL;
	if (!s->htpasswd.text)
		return 0;
	ret = htpasswd_open(out, s->htpasswd.text, &err);
	return !ret || ret == ERR_NOMEM
		       ? ret
		       : daemon_settings_refuse(s, "htpasswd", &s->htpasswd,
						err.msg, report);
}

static int check_htpasswd(const struct daemon_settings *s,
			  const struct daemon_report *report)
{
	struct htpasswd *htpasswd;
	int ret = daemon_settings_htpasswd(&htpasswd, s, report);

	htpasswd_close(htpasswd);
	return ret;
}

static int check_tls(const struct daemon_settings *s,
		     const struct daemon_report *report)
{
	struct tls *tls;
	int ret = daemon_settings_tls(&tls, s, report);

	tls_close(tls);
	return ret;
}

/*
 * Checks the URL of the status page: the value of --admin. Returns 0 or
 * ERR_INVALID.
 */
static int check_admin(const struct daemon_settings *s,
		       const struct daemon_report *report)
{
	struct error err = ERROR_INIT;
	struct daemon_address a;

	if (!s->admin.text)
		return 0;
	if (!daemon_address_parse(&a, s->admin.text, &err) &&
	    a.protocol == DAEMON_HTTP)
		return 0;
	return daemon_settings_refuse(
		s, "admin", &s->admin,
		err.code ? err.msg : "must begin with http://", report);
}

int daemon_settings_check(const struct daemon_settings *s,
			  const struct daemon_report *report)
{
	int bad, ret = check_store(s, report);
	bool has_https = false;

	bad = check_tls(s, report);
	ret = bad ? bad : ret;
	bad = check_htpasswd(s, report);
	ret = bad ? bad : ret;
	bad = check_admin(s, report);
	ret = bad ? bad : ret;
	if (s->user_header.text && !s->proxy_nr)
		ret = refuse_missing(s, "trusted-proxy", report);
	if (!s->listen_nr)
		ret = refuse_missing(s, "listen", report);
	for (size_t i = 0; i < s->listen_nr; i++) {
		const struct daemon_text *listen = &s->listen[i];
		struct error err = ERROR_INIT;
		struct daemon_address a;

		if (daemon_address_parse(&a, listen->text, &err) < 0)
			ret = daemon_settings_refuse(s, "listen", listen,
						     err.msg, report);
		else
			has_https |= a.protocol == DAEMON_HTTPS;
	}
	if (has_https && !s->tls_certificate.text && !s->tls_key.text)
		ret = refuse_missing(s, "tls-certificate", report);
	return ret;
}
