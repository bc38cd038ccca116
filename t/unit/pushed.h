/* SPDX-License-Identifier: MIT */
/*
 * Scripted pushes into the repository of dialog.h, for unit tests. Include this
 * header after cmocka.h.
 *
 *	pushed_init(&p);
 *	pushed_commit(&p, "n1", "c4");          add an object to the push
 *	pushed_command(&p, "c4 n1 refs/heads/main", "report-status");
 *	text = pushed_run(&p, true);            add flush and pack, serve
 *
 * Requests and transcripts contain the names of objects instead of object ids;
 * "zero" stands for the zero id.
 */
#ifndef T_UNIT_PUSHED_H
#define T_UNIT_PUSHED_H

#include <signal.h>
#include <sys/stat.h>

#include "receive/receive-pack.h"
#include "receive/receive.h"
#include "t/unit/dialog.h"
#include "t/unit/packfile.h"

struct pushed {
	struct dialog d;
	struct packfile pack;
	struct receive_options options;
	/* Text that receive-pack passed to the callback options.tell(). */
	struct buf told;
};

static inline void pushed_tell(void *ctx, const char *text, size_t len)
{
	buf_append(ctx, text, len);
}

static inline void pushed_init(struct pushed *p)
{
	struct oid zero = OID_ZERO_INIT;

	/*
	 * A hook may exit before it has read its input. Writing to the closed
	 * pipe must not kill the test.
	 */
	signal(SIGPIPE, SIG_IGN);
	memset(p, 0, sizeof(*p));
	dialog_init(&p->d, HASH_SHA1);
	dialog_name(&p->d, "zero", &zero);
	packfile_init(&p->pack, HASH_SHA1);
	buf_init(&p->told);
	dialog_config(&p->d, CONFIG_LOCAL, "[receive]\nautogc = false\n");
	p->options = (struct receive_options){
		.repo = &p->d.t.repo,
		.path = "x.git",
		.stateless_rpc = true,
		.agent = "test/1",
		.committer = "C O Mitter <c@example.com> 1700000000 +0000",
		.tell = pushed_tell,
		.tell_ctx = &p->told,
	};
}

static inline void pushed_release(struct pushed *p)
{
	packfile_release(&p->pack);
	dialog_release(&p->d);
	buf_release(&p->told);
}

/* Add an object to the pack of the push, and register its name. */
static inline void pushed_object(struct pushed *p, const char *name,
				 enum object_type type, const char *data,
				 size_t len)
{
	uint32_t nr = packfile_add(&p->pack, type, data, len);

	dialog_name(&p->d, name, &p->pack.oids[nr]);
}

/*
 * Add a commit with the tree `t` of dialog.h. If `parent` is NULL, the commit
 * has no parent.
 */
static inline void pushed_commit_at(struct pushed *p, const char *name,
				    uint64_t date, const char *parent)
{
	struct buf text = BUF_INIT;

	buf_printf(&text, "tree %s\n", dialog_hex(&p->d, "t"));
	if (parent)
		buf_printf(&text, "parent %s\n", dialog_hex(&p->d, parent));
	buf_printf(&text,
		   "author A <a@b> %ju +0000\ncommitter A <a@b> %ju +0000\n\n"
		   "%s\n",
		   (uintmax_t)date, (uintmax_t)date, name);
	pushed_object(p, name, OBJ_COMMIT, text.data, text.len);
	buf_release(&text);
}

/* Add a commit that is newer than all commits of dialog.h. */
static inline void pushed_commit(struct pushed *p, const char *name,
				 const char *parent)
{
	pushed_commit_at(p, name, 1700000100, parent);
}

/*
 * Add a line to the commands of the push. `caps`: the capabilities after the
 * first command; NULL for later commands.
 */
static inline void pushed_command(struct pushed *p, const char *line,
				  const char *caps)
{
	struct buf spaced = BUF_INIT, data = BUF_INIT;

	buf_printf(&spaced, " %s", line);
	dialog_expand(&p->d, &data, spaced.data, spaced.len);
	if (caps)
		buf_printf(&data, "%c%s", '\0', caps);
	buf_printf(&p->d.in, "%04zx", data.len - 1 + 4);
	buf_append(&p->d.in, data.data + 1, data.len - 1);
	buf_release(&spaced);
	buf_release(&data);
}

/*
 * Append the flush packet and, if `with_pack`, the pack. Then run receive-pack
 * on the input. Returns the transcript.
 */
static inline const char *pushed_run(struct pushed *p, bool with_pack)
{
	struct serve_io io = dialog_io(&p->d);

	buf_append_str(&p->d.in, "0000");
	if (with_pack) {
		packfile_finish(&p->pack);
		buf_append(&p->d.in, p->pack.bytes.data, p->pack.bytes.len);
	}
	p->d.read = 0;
	buf_reset(&p->d.out);
	p->d.err = (struct error)ERROR_INIT;
	p->d.ret = receive_pack_serve(&p->options, &io, &p->d.err);
	dialog_transcribe(&p->d);
	return p->d.text.data;
}

/*
 * Returns true if the ref `ref` points to the object `name`. If `name` is
 * "zero", returns true if the ref does not exist.
 */
static inline bool pushed_ref_is(struct pushed *p, const char *ref,
				 const char *name)
{
	const struct oid *oid = dialog_oid(&p->d, name);
	struct refs *refs;
	struct ref found;
	bool is;

	assert_int_equal(refs_open(&refs, &p->d.t.repo, NULL), 0);
	if (refs_lookup(refs, ref, &found, NULL) > 0)
		is = oid_equal(&found.oid, oid);
	else
		is = oid_is_zero(oid);
	refs_close(refs);
	return is;
}

static inline int pushed_count_tmp(void *ctx, const char *name)
{
	unsigned *nr = ctx;

	*nr += !strncmp(name, "tmp_", 4);
	return 0;
}

/* Returns the number of quarantine directories that exist in the repository. */
static inline unsigned pushed_leftovers(const struct pushed *p)
{
	unsigned nr = 0;

	sys_dir_each(p->d.t.objects, pushed_count_tmp, &nr, NULL);
	return nr;
}

/* Install a shell script as a hook. */
static inline void pushed_hook(struct pushed *p, const char *name,
			       const char *script)
{
	struct buf file = BUF_INIT, path = BUF_INIT;

	buf_printf(&file, "#!/bin/sh\n%s\n", script);
	buf_printf(&path, "hooks/%s", name);
	tmprepo_write(&p->d.t, path.data, file.data);
	buf_reset(&path);
	buf_printf(&path, "%s/hooks/%s", p->d.t.dir, name);
	assert_int_equal(chmod(path.data, 0755), 0);
	buf_release(&file);
	buf_release(&path);
}

/* Initialize *r as if receive-pack had just read the client's request. */
static inline void pushed_session(struct pushed *p, struct receive *r,
				  const struct serve_io *io)
{
	struct error err = ERROR_INIT;

	if (receive_init(r, &p->options, io, &err) < 0)
		fail_msg("%s", err.msg);
}

/* Parse `line` as a command of a push, and add it to r->request. */
static inline void pushed_take(struct pushed *p, struct receive *r,
			       const char *line)
{
	struct buf spaced = BUF_INIT, data = BUF_INIT;

	buf_printf(&spaced, " %s", line);
	dialog_expand(&p->d, &data, spaced.data, spaced.len);
	assert_int_equal(receive_request_take(&r->request, data.data + 1,
					      data.len - 1, NULL),
			 0);
	buf_release(&spaced);
	buf_release(&data);
}

#endif
