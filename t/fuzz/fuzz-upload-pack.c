/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target for the bytes that a client sends to upload-pack. The first byte
 * chooses the protocol version, and the size of the pieces in which input
 * arrives. It also chooses whether the request is stateless, whether the
 * configuration permits more kinds of requests, and whether the repository is
 * shallow. The repository is that of t/unit/dialog.h. No pack is made: where a
 * pack would be sent, a text that describes the request is sent. For any input,
 * the response must consist of packets. There is one exception: if the client
 * has not chosen side bands, the text in place of the pack is sent without
 * packets.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define assert_true(x) require(x)
#define assert_non_null(x) require((x) != NULL)
#define assert_int_equal(a, b) require((a) == (b))

#include "t/fuzz/fuzz.h"
#include "t/unit/dialog.h"

enum {
	CHOOSE_VERSION = 3,
	CHOOSE_STATELESS = 1 << 2,
	CHOOSE_SMALL_PIECES = 1 << 3,
	CHOOSE_ALLOWED = 1 << 4,
	CHOOSE_SHALLOW = 1 << 5,
};

static const char allowed[] =
	"[uploadpack]\nallowRefInWant\nallowReachableSHA1InWant\n"
	"allowTipSHA1InWant\nallowFilter\nallowSidebandAll\n"
	"advertiseBundleURIs\n"
	"[bundle]\nversion = 1\n"
	"[promisor]\nadvertise\n"
	"[remote \"r\"]\npromisor\nurl = x\n"
	"[transfer]\nadvertiseObjectInfo\nhideRefs = refs/hidden\n";

/*
 * The repository is made only once, because making it takes longer than running
 * the target on an input.
 */
struct world {
	struct dialog d;
	struct config plain, allowing;
	bool is_made;
};

static struct world *world(void)
{
	static struct world w;

	return &w;
}

static void clean_up(void)
{
	struct world *w = world();

	w->d.t.repo.config = w->plain;
	config_release(&w->allowing);
	dialog_release(&w->d);
}

static void make(struct world *w)
{
	dialog_init(&w->d, HASH_SHA1);
	w->plain = w->d.t.repo.config;
	dialog_config(&w->d, CONFIG_LOCAL, allowed);
	w->allowing = w->d.t.repo.config;
	dialog_ref(&w->d, "was-shallow", "c1");
	w->is_made = true;
	atexit(clean_up);
}

/* Add or remove a file that makes the repository itself shallow. */
static void set_shallow(struct dialog *d, bool is_shallow)
{
	char *from = repo_common_path(&d->t.repo, "was-shallow");
	char *to = repo_common_path(&d->t.repo, "shallow");

	require(from && to);
	if (is_shallow)
		rename(from, to);
	else
		rename(to, from);
	free(from);
	free(to);
}

static void check_answer(struct dialog *d)
{
	struct cursor c = cursor_make(d->out.data, d->out.len);
	struct pktline p;
	int ret;

	while ((ret = pktline_parse(&p, &c, NULL)) > 0)
		continue;
	if (cursor_left(&c))
		require(!memcmp(c.p, "PACK", 4) && d->options.version != 2);
	require(d->ret <= 0);
	require(d->ret == 0 || *d->err.msg);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	struct world *w = world();
	struct dialog *d = &w->d;
	struct serve_io io = dialog_io(d);
	uint8_t choice;

	if (!w->is_made)
		make(w);
	if (!len)
		return 0;
	choice = bytes[0];
	d->options.version = (choice & CHOOSE_VERSION) % 3;
	d->options.stateless_rpc = choice & CHOOSE_STATELESS;
	d->chunk = choice & CHOOSE_SMALL_PIECES ? 7 : 0;
	d->t.repo.config = choice & CHOOSE_ALLOWED ? w->allowing : w->plain;
	set_shallow(d, choice & CHOOSE_SHALLOW);
	buf_reset(&d->in);
	require(buf_append(&d->in, bytes + 1, len - 1) == 0);
	d->read = 0;
	buf_reset(&d->out);
	buf_reset(&d->warnings);
	d->err = (struct error)ERROR_INIT;
	d->ret = serve_upload_pack(&d->options, &io, &d->err);
	check_answer(d);
	return 0;
}
