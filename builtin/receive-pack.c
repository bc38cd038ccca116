/* SPDX-License-Identifier: MIT */
/* git receive-pack: accepts pushes over standard input and output. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "builtin/builtin.h"
#include "builtin/options.h"
#include "builtin/serving.h"
#include "builtin/serving-copy.h"
#include "config/ident.h"
#include "receive/receive-pack.h"
#include "serve/upload-pack.h"
#include "wire/fdio.h"

static const char usage[] = "git receive-pack <git-dir>";

struct arguments {
	bool quiet, skip_connectivity, stateless_rpc, info_refs;
	/* value of --timeout in seconds; 0: no time limit */
	uint64_t timeout;
};

static int parse(struct arguments *a, int argc, const char **argv)
{
	const struct option options[] = {
		{.kind = OPTION_FLAG,
		 .long_name = "quiet",
		 .short_name = 'q',
		 .flag = &a->quiet,
		 .help = "show no progress"},
		{.kind = OPTION_FLAG,
		 .long_name = "skip-connectivity-check",
		 .flag = &a->skip_connectivity,
		 .help = "do not check whether the pushed objects are "
			 "complete"},
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
		{.kind = OPTION_U64,
		 .long_name = "timeout",
		 .u64 = &a->timeout,
		 .help = "give up if the client is silent for <n> seconds"},
		{.kind = OPTION_END},
	};
	int nr = options_parse(argc, argv, options, usage);

	if (nr < 0)
		return 129;
	if (nr != 1) {
		builtin_die(nr ? "too many arguments"
			       : "you must specify a directory");
		fputc('\n', stderr);
		return options_usage(options, usage);
	}
	if (a->timeout > UINT32_MAX)
		return builtin_die("--timeout is out of range");
	return 0;
}

static void tell(void *ctx, const char *text, size_t len)
{
	fwrite(text, 1, len, stderr);
}

static int serve(const struct repo *repo, const struct arguments *a,
		 const char *path, const struct serving_names *names,
		 const struct receive_target *target, const char *committer)
{
	char address[SYS_ADDRESS_MAX];
	const struct summary_about about = serving_about(address);
	struct fdio fdio = {
		.in = STDIN_FILENO,
		.out = STDOUT_FILENO,
		.timeout = (unsigned)a->timeout,
	};
	struct serve_io io = fdio_io(&fdio);
	struct receive_options options = {
		.repo = repo,
		.path = path,
		.version = serve_protocol_version(getenv("GIT_PROTOCOL")),
		.stateless_rpc = a->stateless_rpc,
		.advertise_only = a->info_refs,
		.quiet = a->quiet,
		.skip_connectivity = a->skip_connectivity,
		.agent = names->agent.data,
		.session_id = names->session_id.data,
		.namespace = getenv("GIT_NAMESPACE"),
		.committer = committer,
		.tell = tell,
		.target = target,
		.about = &about,
	};
	struct error err = ERROR_INIT;

	/*
	 * If receive_pack_serve() fails, it writes the error to the trace
	 * itself. So builtin_fail() below must not write the error to the trace
	 * again.
	 */
	builtin_trace_errors(NULL);
	return receive_pack_serve(&options, &io, &err) < 0 ? builtin_fail(&err)
							   : 0;
}

int cmd_receive_pack(int argc, const char **argv, struct builtin_env *env)
{
	struct arguments arguments = {0};
	struct serving_names names = SERVING_NAMES_INIT;
	struct buf committer = BUF_INIT;
	struct serving_copy copy = {0};
	struct error err = ERROR_INIT;
	const struct repo *repo = NULL;
	int ret = parse(&arguments, argc, argv);

	/*
	 * Ignore SIGPIPE: a write to a client that has closed the connection
	 * shall fail with an error, not end the process.
	 */
	signal(SIGPIPE, SIG_IGN);
	if (!ret)
		ret = serving_enter(env, argv[1], REPO_OPEN_ENTER);
	if (!ret && serving_copy_open(&copy, env->repo, &err) < 0)
		ret = builtin_fail(&err);
	if (!ret) {
		repo = serving_copy_repo(&copy, env->repo);
		ret = serving_names_load(&names, env);
	}
	/*
	 * Go on without a committer if there is none: only refs with a reflog
	 * need one.
	 */
	if (!ret && ident_committer(&committer, &repo->config, NULL) < 0)
		buf_reset(&committer);
	if (!ret)
		ret = serve(repo, &arguments, argv[1], &names,
			    serving_copy_target(&copy),
			    committer.len ? committer.data : NULL);
	serving_copy_close(&copy);
	serving_names_release(&names);
	buf_release(&committer);
	return ret;
}
