/* SPDX-License-Identifier: MIT */
/* Checks the format of received objects. */
#include "object/fsck.h"
#include "odb/fsck-blob.h"
#include "odb/fsck-config.h"
#include "odb/odb.h"
#include "receive/receive-objects.h"

/* maximum number of bytes of cached delta bases */
enum { CACHE_LIMIT = 32 << 20 };

struct check {
	struct receive *r;
	const struct receive_objects *objects;
	struct fsck_rules rules;
	struct fsck fsck;
	struct fsck_blobs blobs;
	struct odb *odb;           /* owned */
	struct odb_reader *reader; /* owned */
	/* owned: the object that read_blob() read last */
	struct odb_object obj;
	bool has_errors;
};

/*
 * Send a problem of an object to the client: "error: object <id>: <message>:
 * <text>", or "warning: ...".
 */
static int report(void *ctx, const struct fsck_report *report,
		  struct error *err)
{
	struct check *k = ctx;
	char hex[OID_MAX_HEX_LEN + 1];

	receive_peer_tell(&k->r->peer, "%s: object %s: %s: %s\n",
			  report->is_error ? "error" : "warning",
			  oid_to_hex(hex, report->oid, k->r->repo->algo),
			  fsck_msg_name(report->msg), report->text);
	k->has_errors |= report->is_error;
	return 0;
}

static int found(void *ctx, const struct oid *oid, enum fsck_special special,
		 struct error *err)
{
	struct check *k = ctx;

	return fsck_blobs_add(&k->blobs, oid, special, err);
}

static void unknown(void *ctx, const char *name)
{
	receive_peer_tell(ctx, "warning: skipping unknown msg id '%s'\n", name);
}

static void ignore(void *ctx, const char *name)
{
}

int receive_fsck_check_config(struct receive *r, struct error *err)
{
	struct fsck_rules rules;
	int ret;

	fsck_rules_init(&rules, r->repo->algo, true);
	ret = fsck_config_load(&rules, r->repo, "receive.fsck.", unknown,
			       &r->peer, err);
	fsck_rules_release(&rules);
	/*
	 * Ignore here that a skip list cannot be read (ERR_IO). This error is
	 * reported later, and only if objects are checked.
	 */
	return ret == ERR_IO ? 0 : ret;
}

static int open_all(struct check *k, struct error *err)
{
	struct receive *r = k->r;
	int ret = fsck_config_load(&k->rules, r->repo, "receive.fsck.", ignore,
				   NULL, err);

	if (!ret)
		ret = odb_open(&k->odb,
			       quarantine_repo(&r->quarantine, r->repo), NULL,
			       err);
	if (ret < 0)
		return ret;
	k->reader = odb_reader_new(k->odb, CACHE_LIMIT);
	return k->reader ? 0 : error_nomem(err);
}

/*
 * Check an object, unless the object is a blob. Blobs can be larger than the
 * memory, so no blob is read here. Returns 0 or a negative error code.
 */
static int check_one(struct check *k, const uint8_t *raw, struct error *err)
{
	struct odb_object obj = ODB_OBJECT_INIT;
	enum object_type type;
	struct oid oid;
	int ret;

	oid_from_raw(&oid, raw, k->r->repo->algo);
	ret = odb_info(k->reader, &oid, &type, NULL, err);
	if (ret < 0 || type == OBJ_BLOB)
		return ret;
	ret = odb_read(k->reader, &oid, &obj, err);
	if (!ret)
		ret = fsck_object(&k->fsck, &oid, obj.type, obj.data, obj.len,
				  err);
	odb_object_release(k->reader, &obj);
	return ret < 0 ? ret : 0;
}

/*
 * Callback of fsck_blobs_check() that reads an object. *data is valid until the
 * next call.
 */
static int read_blob(void *ctx, const struct oid *oid, enum object_type *type,
		     const void **data, size_t *len, struct error *err)
{
	struct check *k = ctx;
	struct receive *r = k->r;
	int ret = 1;

	if (r->is_limit && !receive_objects_has(k->objects, r->repo->algo, oid))
		ret = receive_sees(r, oid, err);
	if (ret <= 0)
		return ret;
	odb_object_release(k->reader, &k->obj);
	k->obj = (struct odb_object)ODB_OBJECT_INIT;
	ret = odb_read(k->reader, oid, &k->obj, err);
	if (ret == ERR_MISSING)
		return 0;
	if (ret < 0)
		return ret;
	*type = k->obj.type;
	*data = k->obj.data;
	*len = k->obj.len;
	return 1;
}

static int check_all(struct check *k, const struct receive_objects *objects,
		     struct error *err)
{
	const struct fsck_blobs_source source = {.read = read_blob, .ctx = k};
	int ret = open_all(k, err);

	for (uint32_t i = 0; !ret && i < objects->result.nr; i++)
		ret = check_one(k, objects->result.entries[i].oid, err);
	if (!ret)
		ret = fsck_blobs_check(&k->blobs, &k->fsck, &source, err);
	return ret < 0 ? ret : 0;
}

int receive_fsck(struct receive *r, const struct receive_objects *objects,
		 struct error *err)
{
	struct check k = {
		.r = r,
		.objects = objects,
		.obj = ODB_OBJECT_INIT,
	};
	int ret;

	if (!r->config.fsck_objects || !objects->result.nr)
		return 0;
	fsck_rules_init(&k.rules, r->repo->algo, true);
	fsck_init(&k.fsck, &k.rules);
	fsck_blobs_init(&k.blobs);
	k.fsck.report = report;
	k.fsck.found = found;
	k.fsck.ctx = &k;
	ret = check_all(&k, objects, err);
	if (!ret && k.has_errors)
		ret = error_set(err, ERR_CORRUPT,
				"fsck error in packed object");
	if (k.reader)
		odb_object_release(k.reader, &k.obj);
	odb_reader_free(k.reader);
	odb_close(k.odb);
	fsck_blobs_release(&k.blobs);
	fsck_release(&k.fsck);
	fsck_rules_release(&k.rules);
	return ret;
}
