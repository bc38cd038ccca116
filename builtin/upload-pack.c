/* SPDX-License-Identifier: MIT */
/* git upload-pack: serves fetches over standard input and output. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "builtin/builtin.h"
#include "builtin/exec-path.h"
#include "builtin/lazy-fetch.h"
#include "builtin/options.h"
#include "builtin/serving.h"
#include "serve/upload-pack.h"
#include "wire/fdio.h"

static const char usage[] =
	"git-upload-pack [--[no-]strict] [--timeout=<n>] [--stateless-rpc]\n"
	"                [--advertise-refs] <directory>";

struct arguments {
	bool strict, stateless_rpc, info_refs;
	/* value of --timeout in seconds; 0 or less: no time limit */
	int64_t timeout;
};

static int parse(struct arguments *a, int argc, const char **argv)
{
	const struct option options[] = {
		{.kind = OPTION_FLAG,
		 .long_name = "stateless-rpc",
		 .flag = &a->stateless_rpc,
		 .help = "answer one request and exit"},
		{.kind = OPTION_FLAG,
		 .long_name = "http-backend-info-refs",
		 .flag = &a->info_refs,
		 .help = "print the advertisement of refs and exit"},
		{.kind = OPTION_FLAG,
		 .long_name = "advertise-refs",
		 .flag = &a->info_refs},
		{.kind = OPTION_FLAG,
		 .long_name = "strict",
		 .flag = &a->strict,
		 .help = "do not look for .git in the directory"},
		{.kind = OPTION_INT,
		 .long_name = "timeout",
		 .integer = &a->timeout,
		 .help = "give up if the client is silent for <n> seconds"},
		{.kind = OPTION_END},
	};
	int nr = options_parse(argc, argv, options, usage);

	if (nr < 0)
		return 129;
	if (nr != 1)
		return options_usage(options, usage);
	return 0;
}

static void warn(void *ctx, const char *message)
{
	builtin_warn("%s", message);
}

static int serve(struct builtin_env *env, const struct arguments *a,
		 const struct serving_names *names)
{
	char address[SYS_ADDRESS_MAX];
	const struct summary_about about = serving_about(address);
	struct fdio fdio = {
		.in = STDIN_FILENO,
		.out = STDOUT_FILENO,
		.timeout = a->timeout > 0 ? (unsigned)a->timeout : 0,
	};
	struct serve_io io = fdio_io(&fdio);
	struct serve_options options = {
		.repo = env->repo,
		.version = serve_protocol_version(getenv("GIT_PROTOCOL")),
		.stateless_rpc = a->stateless_rpc,
		.advertise_only = a->info_refs,
		.agent = names->agent.data,
		.session_id = names->session_id.data,
		.namespace = getenv("GIT_NAMESPACE"),
		.warn = warn,
		.before_hook = exec_path_prepend,
		.make_pack = serving_make_pack,
		.about = &about,
	};
	struct error err = ERROR_INIT;
	int ret;

	/*
	 * Turn off the tracing of builtin_fail() and similar functions, because
	 * serve_upload_pack() writes its errors and warnings to the trace
	 * itself.
	 */
	builtin_trace_errors(NULL);
	ret = lazy_fetch_provider(&options.provider, env, LAZY_FETCH_SERVE,
				  &err);
	if (!ret)
		ret = serve_upload_pack(&options, &io, &err);
	return ret < 0 ? builtin_fail(&err) : 0;
}

/*
 * Returns flags that allow a repository of any owner, as in stock Git. This is
 * safe because upload-pack does not let the configuration of a repository run
 * programs, choose where files are written, or fetch objects.
 */
static unsigned open_flags(const struct arguments *a)
{
	return REPO_OPEN_NO_OWNER |
	       (a->strict ? REPO_OPEN_EXACT : REPO_OPEN_ENTER);
}

int cmd_upload_pack(int argc, const char **argv, struct builtin_env *env)
{
	struct arguments arguments = {0};
	struct serving_names names = SERVING_NAMES_INIT;
	int ret = parse(&arguments, argc, argv);

	/*
	 * Ignore SIGPIPE: a write to a client that has closed the connection
	 * shall fail with an error, not end the process.
	 */
	signal(SIGPIPE, SIG_IGN);
	if (!ret)
		ret = serving_enter(env, argv[1], open_flags(&arguments));
	if (!ret)
		ret = serving_names_load(&names, env);
	if (!ret)
		ret = serve(env, &arguments, &names);
	serving_names_release(&names);
	return ret;
}
