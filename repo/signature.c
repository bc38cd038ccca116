/* SPDX-License-Identifier: MIT */
/* Verifies signatures by running other programs. */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "repo/signature.h"
#include "sys/io.h"
#include "sys/spawn.h"
#include "sys/tempfile.h"

/* maximum number of bytes that are read of a program's output */
enum { OUTPUT_MAX = 1 << 16 };

/* A running verification. All fields except `out` are borrowed. */
struct job {
	struct signature_check *check;
	const struct config *config;
	const char *payload;
	size_t payload_len;
	const char *sig_path;
	/* output of the program that ran last */
	struct buf out;
};

static int set_problem(struct signature_check *check, char status,
		       const char *problem)
{
	check->status = status;
	check->problem = mem_strdup(problem);
	return check->problem ? 0 : ERR_NOMEM;
}

static int hear(void *ctx, const char *bytes, size_t len, struct error *err)
{
	struct buf *out = ctx;
	size_t room = OUTPUT_MAX - out->len;

	if (buf_append(out, bytes, len < room ? len : room) < 0)
		return error_nomem(err);
	return 0;
}

/*
 * Runs a program with the payload, or nothing, on its standard input. Returns
 * the exit status of the program, or a negative error code if the program
 * could not be run. Callers treat ERR_NOMEM as an error. Any other error code
 * means that the signature cannot be checked.
 */
static int run(struct job *job, const char *const *argv, bool has_payload,
	       struct error *why)
{
	struct sys_talk talk = {
		.input = has_payload ? job->payload : NULL,
		.input_len = has_payload ? job->payload_len : 0,
		.output = hear,
		.ctx = &job->out,
	};
	struct sys_child child;
	int ret, status;

	buf_reset(&job->out);
	ret = sys_spawn(&child, (char *const *)argv, NULL,
			(has_payload ? SYS_SPAWN_PIPE_IN : SYS_SPAWN_NULL_IN) |
				SYS_SPAWN_PIPE_OUT | SYS_SPAWN_NULL_ERR,
			why);
	if (ret < 0)
		return ret;
	ret = sys_spawn_talk(&child, &talk, why);
	status = sys_spawn_wait(&child, ret < 0 ? NULL : why);
	return ret < 0 ? ret : status;
}

/*
 * Reads a path from the configuration. Returns 1 with *path malloc()ed, 0 if
 * the key is not set, or ERR_NOMEM.
 */
static int find_path(char **path, const struct config *config, const char *key)
{
	const char *value = config_string(config, key);
	int ret;

	*path = NULL;
	if (!value)
		return 0;
	ret = config_path(path, value, NULL);
	return ret < 0 ? ERR_NOMEM : ret;
}

/*
 * Returns the path of the program for a signature format, malloc()ed, or NULL
 * if memory runs out.
 */
static char *find_program(const struct config *config, const char *key,
			  const char *otherwise)
{
	char *path;

	if (find_path(&path, config, key) != 0)
		return path;
	if (!strcmp(key, "gpg.openpgp.program") &&
	    find_path(&path, config, "gpg.program") != 0)
		return path;
	return mem_strdup(otherwise);
}

/* ---- OpenPGP and X.509 */

static int verify_gpg(struct job *job, const char *program, bool is_openpgp)
{
	const char *argv[7] = {program};
	struct error why = ERROR_INIT;
	size_t nr = 1;
	int status;

	if (is_openpgp)
		argv[nr++] = "--keyid-format=long";
	argv[nr++] = "--status-fd=1";
	argv[nr++] = "--verify";
	argv[nr++] = job->sig_path;
	argv[nr] = "-";
	status = run(job, argv, true, &why);
	if (status < 0)
		return set_problem(job->check, 'E', why.msg);
	job->check->status = 'E';
	if (signature_parse_gpg(job->check, job->out.data, job->out.len) < 0)
		return ERR_NOMEM;
	/*
	 * The signature is good only if both the status line and the exit
	 * status of the program report success.
	 */
	if (status && job->check->status == 'G')
		job->check->status = 'E';
	return 0;
}

/* ---- SSH */

/*
 * Verifies that the signer `principal` made the signature. Returns 1 if so, 0
 * if not, or ERR_NOMEM.
 */
static int verify_principal(struct job *job, const char *program,
			    const char *allowed, const char *revoked,
			    const char *principal)
{
	const char *argv[14] = {program,   "-Y", "verify",     "-n",
				"git",     "-f", allowed,      "-I",
				principal, "-s", job->sig_path};
	int status;

	if (revoked) {
		argv[11] = "-r";
		argv[12] = revoked;
	}
	status = run(job, argv, true, NULL);
	if (status)
		return status == ERR_NOMEM ? status : 0;
	return signature_parse_ssh(job->check, job->out.data, job->out.len);
}

/*
 * Verifies an SSH signature whose key belongs to no known signer. Returns 1 if
 * the signature is valid, 0 if not, or ERR_NOMEM.
 */
static int verify_unknown(struct job *job, const char *program)
{
	const char *argv[] = {program, "-Y", "check-novalidate", "-n",
			      "git",   "-s", job->sig_path,      NULL};
	int ret = run(job, argv, true, NULL);

	if (!ret)
		ret = signature_parse_ssh(job->check, job->out.data,
					  job->out.len);
	else if (ret != ERR_NOMEM)
		ret = 0;
	/*
	 * No signer is known for the key, so the signature is not fully good.
	 */
	if (ret > 0 && job->check->status == 'G')
		job->check->status = 'U';
	return ret;
}

/*
 * Verifies an SSH signature. `ssh-keygen -Y find-principals` prints the names
 * of the signers to whom the file `allowed` gives the signature's key, one a
 * line. The signature is verified for one name after the other, until it is
 * valid for a name. If no signer has the key, verify_unknown() is used. Returns
 * 1 if the signature is valid, 0 if not, or a negative error code.
 */
static int verify_ssh_with(struct job *job, const char *program,
			   const char *allowed, const char *revoked)
{
	const char *argv[] = {program, "-Y", "find-principals", "-f",
			      allowed, "-s", job->sig_path,     NULL};
	struct error why = ERROR_INIT;
	char *names, *name, *rest;
	int ret = run(job, argv, false, &why);

	if (ret < 0)
		return ret == ERR_NOMEM ? ret
					: set_problem(job->check, 'E', why.msg);
	job->check->status = 'B';
	if (ret > 0 || !job->out.len)
		return verify_unknown(job, program);
	names = rest = buf_detach(&job->out, NULL);
	ret = 0;
	while (!ret && (name = strsep(&rest, "\r\n")))
		if (*name)
			ret = verify_principal(job, program, allowed, revoked,
					       name);
	free(names);
	return ret;
}

static int verify_ssh(struct job *job, const char *program)
{
	static const char no_signers[] =
		"gpg.ssh.allowedSignersFile needs to be configured and exist "
		"for ssh signature verification";
	char *allowed = NULL, *revoked = NULL;
	struct sys_stat st;
	int ret = find_path(&allowed, job->config,
			    "gpg.ssh.allowedsignersfile");

	if (ret >= 0 && (!ret || sys_stat(&st, allowed, NULL) < 0)) {
		ret = set_problem(job->check, 'N', no_signers);
		goto out;
	}
	if (ret > 0)
		ret = find_path(&revoked, job->config,
				"gpg.ssh.revocationfile");
	if (ret >= 0)
		ret = verify_ssh_with(job, program, allowed, revoked);
out:
	free(allowed);
	free(revoked);
	return ret;
}

/* ---- all formats */

static int verify(struct job *job, enum signature_format format)
{
	static const struct {
		const char *key, *otherwise;
	} programs[] = {
		[SIGNATURE_OPENPGP] = {"gpg.openpgp.program", "gpg"},
		[SIGNATURE_X509] = {"gpg.x509.program", "gpgsm"},
		[SIGNATURE_SSH] = {"gpg.ssh.program", "ssh-keygen"},
	};
	char *program = find_program(job->config, programs[format].key,
				     programs[format].otherwise);
	int ret;

	if (!program)
		return ERR_NOMEM;
	if (format == SIGNATURE_SSH)
		ret = verify_ssh(job, program);
	else
		ret = verify_gpg(job, program, format == SIGNATURE_OPENPGP);
	free(program);
	return ret;
}

int signature_verify(struct signature_check *check, const struct config *config,
		     const char *tmp_dir, const char *payload,
		     size_t payload_len, const char *sig, size_t sig_len,
		     struct error *err)
{
	struct job job = {check, config, payload, payload_len, NULL, BUF_INIT};
	struct sys_tempfile file = SYS_TEMPFILE_INIT;
	enum signature_format format;
	int ret;

	*check = (struct signature_check){.status = 'N'};
	if (signature_find(&format, sig, sig_len) || format == SIGNATURE_NONE)
		return 0;
	ret = sys_tempfile_create(&file, tmp_dir, "tmp_sig_", 0600, err);
	if (!ret)
		ret = sys_tempfile_write(&file, sig, sig_len, err);
	if (!ret)
		ret = sys_tempfile_finish(&file, SYS_FSYNC_NONE, err);
	if (!ret) {
		job.sig_path = file.path;
		ret = verify(&job, format);
		if (ret < 0)
			error_nomem(err);
	}
	sys_tempfile_abort(&file);
	buf_release(&job.out);
	if (ret < 0)
		signature_check_release(check);
	return ret < 0 ? ret : 0;
}
