/* SPDX-License-Identifier: MIT */
/* Runs the access helper, and hides the refs that its answers name. */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "access/access.h"
#include "sys/clock.h"
#include "sys/passing.h"
#include "sys/spawn.h"
#include "sys/tcp.h"

#define MS_NS UINT64_C(1000000)
#define SECOND_NS UINT64_C(1000000000)

/* time in nanoseconds that a helper gets to end by itself */
#define END_NS SECOND_NS

struct access_helper {
	const char *command; /* borrowed */
	unsigned limit_ms;
	pthread_mutex_t lock;
	pthread_cond_t given; /* `is_taken` has become false */
	/* under `lock`: whether a thread uses the helper */
	bool is_taken;
	/* used only by the thread that has set `is_taken` */
	struct sys_child child;
	bool is_running;
	/* time of the last start of the helper; 0: never */
	uint64_t start_ns;
};

/* ---- lines */

static bool is_plain(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') || (c && strchr("-._~/@:+,", c));
}

static int put_word(struct buf *out, const char *name, const char *value)
{
	int ret = buf_printf(out, "%s=", name);

	for (; *value; value++)
		ret |= is_plain(*value)
			       ? buf_append_char(out, *value)
			       : buf_printf(out, "%%%02X",
					    (unsigned)(unsigned char)*value);
	return ret ? ERR_NOMEM : 0;
}

int access_format(struct buf *out, const struct access_question *question)
{
	int ret = put_word(out, "user", question->user);

	ret |= put_word(out, " service", question->service);
	ret |= put_word(out, " repository", question->repository);
	ret |= put_word(out, " protocol", question->protocol);
	ret |= put_word(out, " address", question->address);
	return ret | buf_append_char(out, '\n') ? ERR_NOMEM : 0;
}

bool access_is_write(const struct access_question *question)
{
	return !strcmp(question->service, "receive-pack");
}

int access_format_denial(struct buf *out,
			 const struct access_question *question)
{
	int ret = put_word(out, "right",
			   access_is_write(question) ? "write" : "read");

	/* The longest words are last, because the log cuts off long lines. */
	ret |= put_word(out, " protocol", question->protocol);
	ret |= put_word(out, " client",
			*question->address ? question->address : "-");
	ret |= put_word(out, " user", *question->user ? question->user : "-");
	ret |= put_word(out, " repository", question->repository);
	return ret ? ERR_NOMEM : 0;
}

static int hex_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/*
 * Decode a prefix of ref names from an answer of the access helper, and append
 * it to out->hidden. The refs with this prefix are hidden from the client. The
 * prefix must be "HEAD" or "refs", or begin with "refs/". So a prefix that
 * begins with "!" is refused. As in transfer.hideRefs, "!" would show refs that
 * are hidden otherwise. Returns 0, ERR_PEER if the prefix is refused, or
 * ERR_NOMEM.
 */
static int add_hidden(struct access_answer *out, const char *text, size_t len)
{
	size_t start = out->hidden.len;
	const char *prefix;

	for (size_t i = 0; i < len; i++) {
		int c = (unsigned char)text[i];

		if (c == '%') {
			int high = i + 2 < len ? hex_value(text[i + 1]) : -1;
			int low = high < 0 ? -1 : hex_value(text[i + 2]);

			c = low < 0 ? 0 : high * 16 + low;
			i += 2;
		}
		if (c <= ' ' || c == 127)
			return ERR_PEER;
		if (buf_append_char(&out->hidden, (char)c) < 0)
			return ERR_NOMEM;
	}
	if (buf_append_char(&out->hidden, '\0') < 0)
		return ERR_NOMEM;
	prefix = out->hidden.data + start;
	out->hidden_nr++;
	return !strncmp(prefix, "refs/", 5) || !strcmp(prefix, "refs") ||
			       !strcmp(prefix, "HEAD")
		       ? 0
		       : ERR_PEER;
}

/*
 * Parses an answer: "deny", or "allow" and the words after it. Returns 0,
 * ERR_PEER if the answer has another form, or ERR_NOMEM.
 */
static int parse_words(struct access_answer *out, const char *line, size_t len)
{
	static const char allow[] = "allow", hide[] = "hide=";
	size_t at = sizeof(allow) - 1, name = sizeof(hide) - 1;

	if (len == 4 && !memcmp(line, "deny", 4))
		return 0;
	if (len < at || memcmp(line, allow, at))
		return ERR_PEER;
	while (at < len) {
		const char *word = line + at + 1, *end;
		size_t left = len - at - 1;
		int ret;

		if (line[at] != ' ' || left < name || memcmp(word, hide, name))
			return ERR_PEER;
		end = memchr(word, ' ', left);
		left = end ? (size_t)(end - word) : left;
		ret = add_hidden(out, word + name, left - name);
		if (ret < 0)
			return ret;
		at += 1 + left;
	}
	out->is_allowed = true;
	return 0;
}

int access_parse(struct access_answer *out, const char *line, size_t len,
		 struct error *err)
{
	int ret;

	*out = (struct access_answer){.hidden = BUF_INIT};
	ret = parse_words(out, line, len);
	if (!ret)
		return 0;
	access_answer_release(out);
	return ret == ERR_NOMEM ? error_nomem(err)
				: error_set(err, ERR_PEER,
					    "the access helper's answer is not "
					    "valid: '%.*s'",
					    len < 200 ? (int)len : 200, line);
}

void access_answer_release(struct access_answer *answer)
{
	buf_release(&answer->hidden);
	*answer = (struct access_answer){.hidden = BUF_INIT};
}

/* ---- the process */

/*
 * Sends a signal to the helper. The helper is a child of the shell, so the
 * whole process group gets the signal.
 */
static void signal_all(const struct access_helper *h, int signal_nr)
{
	sys_fork_signal(-h->child.pid, signal_nr);
}

static void stop(struct access_helper *h)
{
	if (!h->is_running)
		return;
	h->is_running = false;
	signal_all(h, SIGKILL);
	sys_spawn_wait(&h->child, NULL);
}

/*
 * Ends the input of the helper and sends SIGTERM. Waits at most END_NS until no
 * process of the helper has the pipe for answers open.
 */
static void ask_to_end(struct access_helper *h)
{
	uint64_t begun_ns = sys_clock_ns();
	struct sys_patience patience = {.limit_ms = END_NS / MS_NS};
	char bytes[ACCESS_ANSWER_MAX];
	ssize_t n;

	sys_spawn_close_in(&h->child);
	signal_all(h, SIGTERM);
	do
		n = sys_socket_read(h->child.out, bytes, sizeof(bytes),
				    &patience, NULL);
	while (n > 0 && sys_clock_ns() - begun_ns < END_NS);
}

static int start(struct access_helper *h, struct error *err)
{
	const char *argv[] = {"sh", "-c", h->command, NULL};
	uint64_t now = sys_clock_ns();
	bool was_blocking;
	int ret;

	if (h->is_running)
		return 0;
	if (h->start_ns && now - h->start_ns < SECOND_NS)
		return error_set(err, ERR_PEER,
				 "the access helper has exited; gitreachd "
				 "restarts it at most once a second");
	h->start_ns = now;
	ret = sys_spawn(&h->child, (char *const *)argv, NULL,
			SYS_SPAWN_PIPE_IN | SYS_SPAWN_PIPE_OUT |
				SYS_SPAWN_OPEN_SIGNALS | SYS_SPAWN_GROUP,
			err);
	if (ret < 0)
		return ret;
	h->is_running = true;
	sys_passing_unblock(h->child.in, &was_blocking);
	sys_passing_unblock(h->child.out, &was_blocking);
	return 0;
}

/*
 * Returns whether the helper runs, and no output of the helper is waiting to be
 * read.
 */
static bool is_quiet(struct access_helper *h)
{
	struct sys_patience none = {.limit_ms = 0};
	char byte;

	return sys_socket_read(h->child.out, &byte, 1, &none, NULL) < 0;
}

/*
 * Read one line. Returns its length without the line feed. Returns ERR_PEER if
 * the helper has ended, is too slow, or sends something other than one line.
 */
static ssize_t read_line(struct access_helper *h, char *line,
			 struct sys_patience *patience, struct error *err)
{
	size_t len = 0;

	while (len < ACCESS_ANSWER_MAX) {
		ssize_t n = sys_socket_read(h->child.out, line + len,
					    ACCESS_ANSWER_MAX - len, patience,
					    NULL);
		char *end;

		if (n <= 0)
			return error_set(err, ERR_PEER,
					 n ? "the access helper does not answer"
					   : "the access helper has exited");
		end = memchr(line + len, '\n', (size_t)n);
		len += (size_t)n;
		/*
		 * If the helper wrote a second line, it would be taken for the
		 * answer to the next question. So only one line is accepted.
		 */
		if (end && end + 1 == line + len)
			return end - line;
		if (end)
			break;
	}
	return error_set(err, ERR_PEER,
			 "the access helper's answer is too long, or has more "
			 "than one line");
}

static int talk(struct access_answer *out, struct access_helper *h,
		const struct buf *question, struct error *err)
{
	struct sys_patience patience = {.limit_ms = h->limit_ms};
	struct iovec iov = {question->data, question->len};
	char line[ACCESS_ANSWER_MAX];
	ssize_t len;
	int ret;

	/*
	 * If the helper has left an unread line, that line would be taken for
	 * the answer to this question.
	 */
	if (h->is_running && !is_quiet(h))
		stop(h);
	ret = start(h, err);
	if (ret < 0)
		return ret;
	if (sys_socket_writev(h->child.in, &iov, 1, &patience, NULL) < 0)
		len = error_set(err, ERR_PEER, "the access helper has exited");
	else
		len = read_line(h, line, &patience, err);
	ret = len < 0 ? (int)len : access_parse(out, line, (size_t)len, err);
	/*
	 * If there is no valid answer, kill the helper. Otherwise a late answer
	 * would be taken for the answer to another question.
	 */
	if (ret < 0)
		stop(h);
	return ret;
}

/*
 * Takes the helper for this thread. If another thread uses the helper, waits
 * for it, but gives up after the time that one answer may take (limit_ms). A
 * change of the time of day does not change the wait. Returns 0 or ERR_PEER.
 */
static int take(struct access_helper *h, struct error *err)
{
	uint64_t end_ns = sys_clock_ns() + h->limit_ms * MS_NS;
	const struct timespec end = {
		.tv_sec = (time_t)(end_ns / SECOND_NS),
		.tv_nsec = (long)(end_ns % SECOND_NS),
	};
	int code = 0;

	pthread_mutex_lock(&h->lock);
	while (h->is_taken && !code)
		code = pthread_cond_timedwait(&h->given, &h->lock, &end);
	if (!h->is_taken)
		code = 0;
	h->is_taken = true;
	pthread_mutex_unlock(&h->lock);
	return code ? error_set(err, ERR_PEER,
				"the access helper is busy with other "
				"requests")
		    : 0;
}

static void give(struct access_helper *h)
{
	pthread_mutex_lock(&h->lock);
	h->is_taken = false;
	pthread_mutex_unlock(&h->lock);
	pthread_cond_signal(&h->given);
}

int access_ask(struct access_answer *out, struct access_helper *helper,
	       const struct access_question *question, struct error *err)
{
	struct buf line = BUF_INIT;
	int ret = access_format(&line, question);

	*out = (struct access_answer){.hidden = BUF_INIT};
	if (ret < 0)
		ret = error_nomem(err);
	if (!ret)
		ret = take(helper, err);
	if (!ret) {
		ret = talk(out, helper, &line, err);
		give(helper);
	}
	buf_release(&line);
	return ret;
}

struct access_helper *access_helper_new(const char *command, unsigned limit_ms)
{
	struct access_helper *h = mem_calloc(1, sizeof(*h));
	pthread_condattr_t monotonic;

	if (!h)
		return NULL;
	h->command = command;
	h->limit_ms = limit_ms;
	pthread_mutex_init(&h->lock, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&h->given, &monotonic);
	pthread_condattr_destroy(&monotonic);
	return h;
}

void access_helper_free(struct access_helper *helper)
{
	if (!helper)
		return;
	/*
	 * stop() kills a helper that ignores SIGTERM. So such a helper does not
	 * keep this worker running.
	 */
	if (helper->is_running)
		ask_to_end(helper);
	stop(helper);
	pthread_cond_destroy(&helper->given);
	pthread_mutex_destroy(&helper->lock);
	free(helper);
}

/* ---- hidden refs */

/*
 * Keys that are also set when refs are hidden, so that clients cannot get
 * hidden objects by their ids.
 */
static const char *const limits[][2] = {
	{"gitreach.reachableonly", "true"},
	{"uploadpack.allowtipsha1inwant", "false"},
	{"uploadpack.allowreachablesha1inwant", "false"},
	{"uploadpack.allowanysha1inwant", "false"},
};

int access_configure(struct config *out, const struct config *base,
		     const struct access_answer *answer)
{
	const char *prefix = answer->hidden.data;
	size_t nr = base->nr, alloc;
	struct config_entry *entries;

	alloc = nr + answer->hidden_nr + ARRAY_NR(limits);
	entries = mem_alloc(alloc, sizeof(*entries));
	if (!entries) {
		*out = (struct config){NULL, 0, 0};
		return ERR_NOMEM;
	}
	if (nr)
		memcpy(entries, base->entries, nr * sizeof(*entries));
	for (size_t i = 0; i < answer->hidden_nr; i++) {
		entries[nr++] = (struct config_entry){
			(char *)"transfer.hiderefs", (char *)prefix,
			CONFIG_COMMAND};
		prefix += strlen(prefix) + 1;
	}
	for (size_t i = 0; i < ARRAY_NR(limits); i++)
		entries[nr++] = (struct config_entry){(char *)limits[i][0],
						      (char *)limits[i][1],
						      CONFIG_COMMAND};
	*out = (struct config){entries, nr, alloc};
	return 0;
}

/* Append '<key>=<value>' to a list of words separated by spaces. */
static int put_parameter(struct buf *out, const char *key, const char *value)
{
	bool is_first = out->data[out->len - 1] == '=';
	int ret = buf_printf(out, "%s'%s=", is_first ? "" : " ", key);

	for (; *value; value++)
		ret |= *value == '\'' ? buf_append_str(out, "'\\''")
				      : buf_append_char(out, *value);
	return ret | buf_append_char(out, '\'') ? ERR_NOMEM : 0;
}

int access_environment(struct buf *out, const struct access_answer *answer)
{
	const char *before = getenv("GIT_CONFIG_PARAMETERS");
	const char *prefix = answer->hidden.data;
	int ret = buf_printf(out, "GIT_CONFIG_PARAMETERS=%s",
			     before ? before : "");

	for (size_t i = 0; i < answer->hidden_nr; i++) {
		ret |= put_parameter(out, "transfer.hiderefs", prefix);
		prefix += strlen(prefix) + 1;
	}
	for (size_t i = 0; i < ARRAY_NR(limits); i++)
		ret |= put_parameter(out, limits[i][0], limits[i][1]);
	return ret ? ERR_NOMEM : 0;
}
