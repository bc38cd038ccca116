/* SPDX-License-Identifier: MIT */
/*
 * Uploads a large file to S3 in parts. CreateMultipartUpload begins the upload.
 */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "store/client.h"
#include "store/s3-answer.h"
#include "store/s3-request.h"
#include "sys/thread.h"

/* maximum number of parts of an upload, as S3 allows */
#define PARTS_MAX 10000
#define THREADS 4

struct part {
	char etag[STORE_ETAG_MAX + 1];
	/*
	 * result of the part: 0, an enum filestore_result, or a negative error
	 * code
	 */
	int ret;
};

struct upload {
	struct s3 *s3;
	const char *name;
	const uint8_t *bytes; /* borrowed */
	size_t len, part_len;
	struct buf id;
	struct part *parts; /* owned */
	size_t part_nr;
};

static int begin(struct upload *u, struct error *err)
{
	struct s3_call call = {
		.method = "POST",
		.name = u->name,
		.query = {{"uploads", ""}},
		.query_nr = 1,
		.answer_max = S3_ANSWER_MAX,
	};
	struct client_answer answer;
	int ret;

	client_answer_init(&answer);
	ret = s3_send(u->s3, &answer, &call, err);
	if (!ret && answer.status != 200)
		ret = s3_fail(&call, &answer, err);
	if (!ret)
		ret = s3_answer_upload(&u->id, answer.body.data,
				       answer.body.len, err);
	client_answer_release(&answer);
	if (ret == STORE_ABSENT)
		ret = error_set(err, ERR_PEER,
				"the store does not support multipart uploads");
	/*
	 * An unknown outcome is harmless here: the file does not exist yet, and
	 * at worst the store has an upload without parts.
	 */
	return ret == STORE_AMBIGUOUS ? STORE_UNAVAILABLE : ret;
}

static int send_part(void *ctx, unsigned thread_nr, size_t nr,
		     struct error *err)
{
	struct upload *u = ctx;
	size_t off = nr * u->part_len, left = u->len - off;
	struct s3_call call = {
		.method = "PUT",
		.name = u->name,
		.query = {{"uploadId", u->id.data}},
		.query_nr = 2,
		.body = u->bytes + off,
		.body_len = left < u->part_len ? left : u->part_len,
		.answer_max = S3_ANSWER_MAX,
	};
	struct client_answer answer;
	char number[24];
	int ret;

	snprintf(number, sizeof(number), "%zu", nr + 1);
	call.query[1] = (struct sigv4_pair){"partNumber", number};
	client_answer_init(&answer);
	ret = s3_send(u->s3, &answer, &call, err);
	if (!ret && answer.status != 200)
		ret = s3_fail(&call, &answer, err);
	if (!ret && !*answer.etag)
		ret = error_set(
			err, ERR_PEER,
			"the store sent no entity tag for a part of an upload");
	if (!ret)
		memcpy(u->parts[nr].etag, answer.etag, sizeof(answer.etag));
	client_answer_release(&answer);
	u->parts[nr].ret = ret;
	return ret ? ERR_PEER : 0;
}

static int send_parts(struct upload *u, struct error *err)
{
	if (!sys_parallel(THREADS, u->part_nr, send_part, u, err))
		return 0;
	for (size_t i = 0; i < u->part_nr; i++)
		if (u->parts[i].ret < 0)
			return u->parts[i].ret;
	/*
	 * The upload was not completed, so the file does not exist. It does not
	 * matter which parts are stored.
	 */
	return STORE_UNAVAILABLE;
}

/*
 * Aborts the upload, which deletes its parts. If the abort fails, a lifecycle
 * rule of the bucket should delete the parts later.
 */
static void give_up(struct upload *u)
{
	struct s3_call call = {
		.method = "DELETE",
		.name = u->name,
		.query = {{"uploadId", u->id.data}},
		.query_nr = 1,
		.answer_max = S3_ANSWER_MAX,
	};
	struct client_answer answer;

	client_answer_init(&answer);
	s3_send(u->s3, &answer, &call, NULL);
	client_answer_release(&answer);
}

static int list_parts(struct buf *out, const struct upload *u)
{
	int ret = buf_append_str(out, "<CompleteMultipartUpload>");

	for (size_t i = 0; !ret && i < u->part_nr; i++)
		ret = buf_printf(out,
				 "<Part><PartNumber>%zu</PartNumber>"
				 "<ETag>%s</ETag></Part>",
				 i + 1, u->parts[i].etag);
	return ret ? ret : buf_append_str(out, "</CompleteMultipartUpload>");
}

/*
 * Reads an answer with status 200, whose body may be an error nevertheless.
 * Returns 0 with the entity tag in *etag, STORE_CONFLICT, or STORE_AMBIGUOUS.
 */
static int read_result(char *etag, const struct client_answer *answer,
		       struct error *err)
{
	struct s3_error e;
	int ret = s3_answer_complete(etag, &e, answer->body.data,
				     answer->body.len, err);

	if (ret <= 0)
		return ret ? STORE_AMBIGUOUS : 0;
	if (!strcmp(e.code, "PreconditionFailed"))
		return STORE_CONFLICT;
	error_set(err, ERR_PEER, "the store failed: %s: %s", e.code, e.message);
	return STORE_AMBIGUOUS;
}

static int complete(struct upload *u, char *etag,
		    const struct filestore_condition *condition,
		    struct error *err)
{
	struct s3_call call = {
		.method = "POST",
		.name = u->name,
		.query = {{"uploadId", u->id.data}},
		.query_nr = 1,
		.header_nr = condition->kind != STORE_ALWAYS,
		.answer_max = S3_ANSWER_MAX,
		.once = true,
		.is_slow = true,
	};
	struct client_answer answer;
	struct buf body = BUF_INIT;
	int ret = list_parts(&body, u) < 0 ? error_nomem(err) : 0;

	if (condition->kind == STORE_CREATE)
		call.headers[0] = (struct sigv4_pair){"if-none-match", "*"};
	else if (condition->kind == STORE_REPLACE)
		call.headers[0] = (struct sigv4_pair){"if-match",
						      condition->etag};
	call.body = body.data;
	call.body_len = body.len;
	client_answer_init(&answer);
	if (!ret)
		ret = s3_send(u->s3, &answer, &call, err);
	if (!ret)
		ret = answer.status == 200 ? read_result(etag, &answer, err)
					   : s3_fail(&call, &answer, err);
	if (ret == STORE_ABSENT)
		ret = condition->kind == STORE_REPLACE ? STORE_CONFLICT
						       : STORE_AMBIGUOUS;
	client_answer_release(&answer);
	buf_release(&body);
	return ret;
}

int s3_upload(struct s3 *s3, char *etag, const char *name, const void *bytes,
	      size_t len, const struct filestore_condition *condition,
	      struct error *err)
{
	struct upload u = {s3,           name,     bytes, len,
			   s3->part_len, BUF_INIT, NULL,  0};
	int ret;

	if (u.part_len < len / PARTS_MAX + 1)
		u.part_len = len / PARTS_MAX + 1;
	u.part_nr = (len - 1) / u.part_len + 1;
	u.parts = mem_calloc(u.part_nr, sizeof(*u.parts));
	ret = u.parts ? begin(&u, err) : error_nomem(err);
	if (ret)
		goto out;
	ret = send_parts(&u, err);
	if (!ret)
		ret = complete(&u, etag, condition, err);
	if (ret && ret != STORE_AMBIGUOUS)
		give_up(&u);
out:
	buf_release(&u.id);
	free(u.parts);
	return ret;
}
