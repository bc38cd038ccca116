/* SPDX-License-Identifier: MIT */
/*
 * Checks the content of .gitmodules files, and collects the ids of blobs to
 * check.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "config/config.h"
#include "odb/fsck-blob.h"

/* ---- .gitmodules */

struct modules {
	struct fsck *f;
	const struct oid *oid;
	/*
	 * result of the check so far: 1 if a message with severity "error" was
	 * reported, else 0
	 */
	int wrong;
};

static int complain(struct modules *m, enum fsck_msg msg, const char *what,
		    const char *value, size_t len, struct error *err)
{
	int ret = fsck_complain(m->f, m->oid, OBJ_BLOB, msg, err,
				"disallowed submodule %s: %.*s", what, (int)len,
				value);

	if (ret > 0)
		m->wrong = 1;
	return ret < 0 ? ret : 0;
}

static int check_value(struct modules *m, const char *key, const char *value,
		       struct error *err)
{
	size_t len = strlen(value);

	if (!strcmp(key, "url") && !submodule_url_is_good(value))
		return complain(m, FSCK_GITMODULES_URL, "url", value, len, err);
	if (!strcmp(key, "path") && submodule_url_is_option(value))
		return complain(m, FSCK_GITMODULES_PATH, "path", value, len,
				err);
	if (!strcmp(key, "update") && value[0] == '!')
		return complain(m, FSCK_GITMODULES_UPDATE, "update setting",
				value, len, err);
	return 0;
}

/*
 * Checks a variable "submodule.<name>.<key>", and reports problems. Other
 * variables are not checked. Returns 0 or a negative error code.
 */
static int check_variable(void *ctx, const char *var, const char *value,
			  struct error *err)
{
	static const char section[] = "submodule.";
	struct modules *m = ctx;
	const char *name = var + sizeof(section) - 1;
	const char *dot = strrchr(var, '.');
	int ret = 0;

	if (strncmp(var, section, sizeof(section) - 1) || dot < name)
		return 0;
	if (!submodule_url_name_is_good(name, (size_t)(dot - name)))
		ret = complain(m, FSCK_GITMODULES_NAME, "name", name,
			       (size_t)(dot - name), err);
	return ret || !value ? ret : check_value(m, dot + 1, value, err);
}

int fsck_blob_gitmodules(struct fsck *f, const struct oid *oid,
			 const void *data, size_t len, struct error *err)
{
	struct modules m = {f, oid, 0};
	int ret;

	if (fsck_is_skipped(f->rules, oid))
		return 0;
	if (!data)
		return fsck_complain(f, oid, OBJ_BLOB, FSCK_GITMODULES_LARGE,
				     err, ".gitmodules too large to parse");
	ret = config_parse_text(data, len, NULL, check_variable, &m, err);
	if (ret == ERR_CORRUPT)
		ret = fsck_complain(f, oid, OBJ_BLOB, FSCK_GITMODULES_PARSE,
				    err, "could not parse gitmodules blob");
	return ret < 0 ? ret : ret | m.wrong;
}

/* ---- collected blobs */

void fsck_blobs_init(struct fsck_blobs *blobs)
{
	memset(blobs, 0, sizeof(*blobs));
	pthread_mutex_init(&blobs->lock, NULL);
}

void fsck_blobs_release(struct fsck_blobs *blobs)
{
	oidmap_release(&blobs->special);
	pthread_mutex_destroy(&blobs->lock);
}

int fsck_blobs_add(struct fsck_blobs *blobs, const struct oid *oid,
		   enum fsck_special special, struct error *err)
{
	uint32_t bits = 0;
	int ret = 0;

	pthread_mutex_lock(&blobs->lock);
	oidmap_get(&blobs->special, oid, &bits);
	if (!(bits & special))
		ret = oidmap_put(&blobs->special, oid, bits | special);
	pthread_mutex_unlock(&blobs->lock);
	return ret < 0 ? error_nomem(err) : 0;
}

/*
 * For each kind of special file: the message to report if the file is missing,
 * and the message to report if it is no blob.
 */
static const struct place {
	enum fsck_special special;
	enum fsck_msg missing, no_blob;
	const char *name;
	int (*check)(struct fsck *f, const struct oid *oid, const void *data,
		     size_t len, struct error *err);
} places[] = {
	{FSCK_GITMODULES, FSCK_GITMODULES_MISSING, FSCK_GITMODULES_BLOB,
	 ".gitmodules", fsck_blob_gitmodules},
	{FSCK_GITATTRIBUTES, FSCK_GITATTRIBUTES_MISSING,
	 FSCK_GITATTRIBUTES_BLOB, ".gitattributes", fsck_gitattributes},
};

static int check_in_place(const struct place *place, struct fsck *f,
			  const struct oid *oid,
			  const struct fsck_blobs_source *source,
			  struct error *err)
{
	enum object_type type = OBJ_NONE;
	const void *data = NULL;
	size_t len = 0;
	int ret = source->read(source->ctx, oid, &type, &data, &len, err);

	if (ret < 0)
		return ret;
	if (!ret && source->is_promised &&
	    source->is_promised(source->ctx, oid))
		return 0;
	if (!ret)
		return fsck_complain(f, oid, OBJ_BLOB, place->missing, err,
				     "unable to read %s blob", place->name);
	if (type != OBJ_BLOB)
		return fsck_complain(f, oid, type, place->no_blob, err,
				     "non-blob found at %s", place->name);
	return place->check(f, oid, data, len, err);
}

static int cmp_entry(const void *a, const void *b)
{
	const struct oidmap_entry *const *ea = a, *const *eb = b;

	return oid_cmp(&(*ea)->oid, &(*eb)->oid);
}

/*
 * Returns a malloc()ed array of the map's entries, sorted by id, or NULL if
 * memory runs out.
 */
static const struct oidmap_entry **sorted(const struct oidmap *map)
{
	const struct oidmap_entry **list;
	size_t nr = 0;

	list = mem_alloc(map->nr, sizeof(*list));
	if (!list)
		return NULL;
	for (size_t i = 0; i < map->slot_nr; i++)
		if (map->slots[i].used)
			list[nr++] = &map->slots[i];
	qsort(list, nr, sizeof(*list), cmp_entry);
	return list;
}

int fsck_blobs_check(struct fsck_blobs *blobs, struct fsck *f,
		     const struct fsck_blobs_source *source, struct error *err)
{
	const struct oidmap_entry **list = sorted(&blobs->special);
	int ret = 0, wrong = 0;

	if (!list)
		return error_nomem(err);
	for (size_t p = 0; ret >= 0 && p < ARRAY_NR(places); p++)
		for (size_t i = 0; ret >= 0 && i < blobs->special.nr; i++) {
			if (!(list[i]->value & places[p].special) ||
			    fsck_is_skipped(f->rules, &list[i]->oid))
				continue;
			ret = check_in_place(&places[p], f, &list[i]->oid,
					     source, err);
			wrong |= ret > 0;
		}
	free(list);
	return ret < 0 ? ret : wrong;
}
