/* SPDX-License-Identifier: MIT */
/* Negotiates common commits with a client. */
#include <string.h>

#include "serve/negotiate.h"

void negotiate_init(struct negotiate *n, const struct negotiate_ops *ops,
		    struct oidset *common, struct pktline_writer *out,
		    enum hash_algo algo)
{
	*n = (struct negotiate){
		.ops = *ops,
		.out = out,
		.common = common,
		.algo = algo,
	};
}

/*
 * Returns 1 if the common haves are enough (each wanted commit has a common
 * have among its ancestors), 0 if not, or a negative error code. The function
 * is called for each unknown have, and the walk is expensive. So the result 0
 * is cached until there is a new common have.
 */
static int is_enough(struct negotiate *n, struct error *err)
{
	int ret;

	if (n->is_enough)
		return 1;
	if (!n->common->nr || n->not_enough_nr == n->common->nr)
		return 0;
	ret = n->ops.enough(n->ops.ctx, n->common, err);
	if (ret > 0)
		n->is_enough = true;
	if (!ret)
		n->not_enough_nr = n->common->nr;
	return ret;
}

static int write_ack(struct negotiate *n, const struct oid *oid,
		     const char *status, struct error *err)
{
	char hex[OID_MAX_HEX_LEN + 1];

	return pktline_printf(n->out, err, "ACK %s%s\n",
			      oid_to_hex(hex, oid, n->algo), status);
}

static int write_nak(struct negotiate *n, struct error *err)
{
	return pktline_write(n->out, "NAK\n", 4, err);
}

static int answer_common(struct negotiate *n, const struct oid *have,
			 struct error *err)
{
	int ret = oidset_add(n->common, have, err);

	if (ret < 0)
		return ret;
	n->round_common = true;
	n->last = *have;
	if (n->mode == NEGOTIATE_DETAILED)
		return write_ack(n, have, " common", err);
	if (n->mode == NEGOTIATE_MULTI_ACK)
		return write_ack(n, have, " continue", err);
	return ret && n->common->nr == 1 ? write_ack(n, have, "", err) : 0;
}

/*
 * Answers a have that the server does not know. The client gets an answer, an
 * ACK, only if the common haves are enough: each wanted commit has one of them
 * among its ancestors. The client then does not send the ancestors of this
 * have.
 */
static int answer_unknown(struct negotiate *n, const struct oid *have,
			  struct error *err)
{
	int ret;

	n->round_other = true;
	if (n->mode == NEGOTIATE_PLAIN)
		return 0;
	ret = is_enough(n, err);
	if (ret <= 0)
		return ret;
	if (n->mode == NEGOTIATE_MULTI_ACK)
		return write_ack(n, have, " continue", err);
	n->sent_ready = true;
	return write_ack(n, have, " ready", err);
}

int negotiate_have(struct negotiate *n, const struct oid *have,
		   struct error *err)
{
	if (n->ops.has(n->ops.ctx, have))
		return answer_common(n, have, err);
	return answer_unknown(n, have, err);
}

static int say_ready(struct negotiate *n, struct error *err)
{
	int ret;

	if (n->mode != NEGOTIATE_DETAILED || !n->round_common || n->round_other)
		return 0;
	ret = is_enough(n, err);
	if (ret <= 0)
		return ret;
	n->sent_ready = true;
	return write_ack(n, &n->last, " ready", err);
}

int negotiate_flush(struct negotiate *n, struct error *err)
{
	int ret = say_ready(n, err);

	if (!ret && (!n->common->nr || n->mode != NEGOTIATE_PLAIN))
		ret = write_nak(n, err);
	if (ret < 0)
		return ret;
	n->round_common = n->round_other = false;
	if (!n->no_done || !n->sent_ready)
		return 0;
	ret = write_ack(n, &n->last, "", err);
	return ret < 0 ? ret : 1;
}

int negotiate_done(struct negotiate *n, struct error *err)
{
	if (!n->common->nr)
		return write_nak(n, err);
	if (n->mode == NEGOTIATE_PLAIN)
		return 0;
	return write_ack(n, &n->last, "", err);
}

int negotiate_acknowledge(struct negotiate *n, bool wait_for_done,
			  struct error *err)
{
	int ret = pktline_printf(n->out, err, "acknowledgments\n");

	if (!ret && !n->common->nr)
		ret = write_nak(n, err);
	for (size_t i = 0; !ret && i < n->common->nr; i++)
		ret = write_ack(n, &n->common->oids[i], "", err);
	if (!ret && !wait_for_done)
		ret = is_enough(n, err);
	if (ret <= 0)
		return ret;
	ret = pktline_printf(n->out, err, "ready\n");
	return ret < 0 ? ret : 1;
}
