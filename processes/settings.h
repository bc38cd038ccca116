/* SPDX-License-Identifier: MIT */
/*
 * The settings of the server. A setting is a key of the section [gitreachd] in
 * the configuration file, and an option of the same name.
 */
#ifndef PROCESSES_SETTINGS_H
#define PROCESSES_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "access/htpasswd.h"
#include "access/trusted.h"
#include "base/error.h"
#include "daemon/service.h"
#include "daemon/tls.h"

#define DAEMON_LISTENERS_MAX 16
#define DAEMON_PROXIES_MAX 64

/* A text and its place. */
struct daemon_text {
	char *text; /* owned; NULL: not set */
	/* line number in the file; 0: an option of the command line */
	unsigned line;
};

struct daemon_settings {
	/* borrowed: path of the file, or NULL */
	const char *file;
	struct daemon_text base_path;
	/* a store and its cache directory, in place of the base path */
	struct daemon_text store, store_endpoint, store_region, store_ca_file;
	struct daemon_text cache;
	uint64_t cache_size; /* bytes; 0: no limit */
	/* milliseconds */
	uint64_t store_max_age, store_absent_age;
	uint64_t store_stale; /* seconds */
	bool store_probe;
	struct daemon_text listen[DAEMON_LISTENERS_MAX];
	size_t listen_nr;
	bool export_all;
	/* of git:// */
	bool strict_paths, informative_errors;
	struct service_rules services;
	struct daemon_text admin; /* URL of the status */
	struct daemon_text user_header;
	/*
	 * paths of PEM files; without `tls_key`, the file of the certificate
	 * must also contain the key
	 */
	struct daemon_text tls_certificate, tls_key;
	/*
	 * Networks of trusted proxies. If such a proxy sends a user in the user
	 * header, the server believes it.
	 */
	struct trusted_net proxies[DAEMON_PROXIES_MAX];
	size_t proxy_nr;
	struct daemon_text htpasswd;
	bool allow_plain_passwords;
	struct daemon_text access_helper;
	uint64_t access_timeout; /* seconds */
	uint64_t workers, threads, max_connections;
	/* seconds */
	uint64_t head_timeout, timeout, idle_timeout, drain_timeout;
	uint64_t slow_request; /* milliseconds */
	/* MiB of memory for plans (cached responses); 0: no plan in memory */
	uint64_t plan_memory;
	struct daemon_text plan_directory;
	uint64_t plan_directory_size; /* MiB */
	/* limits of work and of waiting; see daemon_settings_keys */
	uint64_t tokens, token_share, queue, queue_of_user, queue_timeout;
	uint64_t pushes, work_nice;
	/*
	 * The default, 0, means that the key is not set. Then
	 * DAEMON_CONNECTIONS_OF_ADDRESS is the limit, but not for loopback
	 * addresses.
	 */
	uint64_t connections_of_address;
};

enum daemon_kind {
	DAEMON_TEXT,   /* struct daemon_text */
	DAEMON_LIST,   /* `listen` */
	DAEMON_NETS,   /* `proxies` */
	DAEMON_FLAG,   /* bool */
	DAEMON_NUMBER, /* uint64_t, at least 1 */
	DAEMON_AMOUNT, /* uint64_t, may be 0 */
	/*
	 * The value is the name of a service. In the array of bools at
	 * `offset`, the bool of this service is set to true (SET) or to false
	 * (CLEAR).
	 */
	DAEMON_SERVICE_SET,
	DAEMON_SERVICE_CLEAR,
};

/* The description of one setting. */
struct daemon_key {
	const char *name; /* NULL ends the table */
	enum daemon_kind kind;
	/* offset of the field in struct daemon_settings */
	size_t offset;
	/* maximum value of a number */
	uint64_t max;
	/*
	 * the argument in the usage of the option, such as "<dir>"; NULL: none
	 */
	const char *arg_name;
	const char *help; /* one line for the usage */
};

/*
 * Maximum length of the table of settings, with the entry without a name that
 * ends the table.
 */
#define DAEMON_KEYS_MAX 64

extern const struct daemon_key daemon_settings_keys[];

/* Receives error messages, one line each. */
struct daemon_report {
	void (*fn)(void *ctx, const char *line);
	void *ctx;
};

/* Sets the defaults. The caller releases the settings. */
void daemon_settings_init(struct daemon_settings *s);
void daemon_settings_release(struct daemon_settings *s);

/*
 * Sets the values of a configuration file. `path` is borrowed until the
 * settings are released. Each error is reported, with file and line. Returns 0,
 * ERR_INVALID if values are wrong, ERR_CORRUPT if the file is malformed, or
 * ERR_NOMEM.
 */
int daemon_settings_parse(struct daemon_settings *s, const char *text,
			  size_t len, const char *path,
			  const struct daemon_report *report);

/*
 * Sets the value of an option, after the file was parsed. The first --listen
 * removes the listeners of the file. Returns 0, ERR_INVALID after a report, or
 * ERR_NOMEM.
 */
int daemon_settings_option(struct daemon_settings *s,
			   const struct daemon_key *key, const char *value,
			   const struct daemon_report *report);

/*
 * Checks the complete settings: required keys, the base path or the form of the
 * store's URL, the form of listeners, the certificate. No socket is opened, and
 * no request is sent to the store. Returns 0, or ERR_INVALID after errors were
 * reported through `report`.
 */
int daemon_settings_check(const struct daemon_settings *s,
			  const struct daemon_report *report);

/*
 * Loads the certificate and its key. Returns 0 with *out owned by the caller;
 * *out is NULL if no certificate is configured. Returns ERR_INVALID after a
 * report, or ERR_NOMEM.
 */
int daemon_settings_tls(struct tls **out, const struct daemon_settings *s,
			const struct daemon_report *report);

/*
 * Loads the file of passwords. Returns 0 with *out owned by the caller; *out is
 * NULL if no file is configured. Returns ERR_INVALID after a report, or
 * ERR_NOMEM.
 */
int daemon_settings_htpasswd(struct htpasswd **out,
			     const struct daemon_settings *s,
			     const struct daemon_report *report);

/*
 * Reports an error about the value of a key. The report names the file and the
 * line of the value. Returns ERR_INVALID.
 */
int daemon_settings_refuse(const struct daemon_settings *s, const char *key,
			   const struct daemon_text *value, const char *reason,
			   const struct daemon_report *report);

#endif
