/* SPDX-License-Identifier: MIT */
/* Inside store/: uploading a large file to S3 in parts. */
#ifndef STORE_S3_UPLOAD_H
#define STORE_S3_UPLOAD_H

#include "store/s3-request.h"

/*
 * Works like filestore_put(), with the same results, for a file that is longer
 * than s3->part_len. The parts are uploaded by up to four threads. When all
 * parts are stored, the condition is checked and the file appears. If a part
 * fails, the upload is aborted, which deletes its parts. If the outcome is
 * unknown, the upload is left as it is; a lifecycle rule of the bucket should
 * remove unfinished uploads.
 */
int s3_upload(struct s3 *s3, char *etag, const char *name, const void *bytes,
	      size_t len, const struct filestore_condition *condition,
	      struct error *err);

#endif
