/* SPDX-License-Identifier: MIT */
/* Finds the promised objects of a partial clone. */
#include "check/promisor.h"
#include "object/links.h"

/*
 * Adds the objects of a promisor pack to p->packed, a set by obj_pos. Returns
 * 0 or ERR_NOMEM.
 */
static int mark_pack(struct promisor *p, const struct odb_pack *pack)
{
	struct objspace *space = &p->walk->space;
	uint32_t obj_pos;

	for (uint32_t i = 0; i < pack->pack->idx.nr; i++) {
		if (objspace_add(space,
				 odb_oid_raw(space->odb, pack->first_pos + i),
				 &obj_pos) < 0 ||
		    bitset_grow(&p->packed, space->packed_nr) < 0)
			return ERR_NOMEM;
		bitset_set(&p->packed, obj_pos);
	}
	return 0;
}

int promisor_init(struct promisor *p, struct walk *walk, struct error *err)
{
	const struct odb *odb = walk->odb;

	*p = (struct promisor){
		.walk = walk,
		.packed = BITSET_INIT,
		.named = BITSET_INIT,
	};
	for (uint32_t i = 0; i < odb->pack_nr; i++) {
		const struct odb_pack *pack = &odb->packs[i];

		p->has_others |= pack->pack->is_local &&
				 !pack->pack->is_promisor;
		if (!pack->pack->is_promisor)
			continue;
		p->has_packs = true;
		if (mark_pack(p, pack) < 0)
			return error_nomem(err);
	}
	return 0;
}

void promisor_release(struct promisor *p)
{
	bitset_release(&p->packed);
	bitset_release(&p->named);
	*p = (struct promisor){.packed = BITSET_INIT, .named = BITSET_INIT};
}

static int name(void *ctx, const struct oid *to, enum object_type type,
		struct error *err)
{
	struct promisor *p = ctx;
	uint32_t obj_pos;

	if (objspace_add(&p->walk->space, to->bytes, &obj_pos) < 0 ||
	    (obj_pos >= p->named.bits &&
	     bitset_grow(&p->named, (size_t)obj_pos + obj_pos / 2 + 64) < 0))
		return error_nomem(err);
	bitset_set(&p->named, obj_pos);
	return 0;
}

/*
 * Adds to p->named the targets of all links of an object. An object that cannot
 * be parsed is taken to have no links. Returns 0 or a negative error code.
 */
static int name_all(struct promisor *p, uint32_t obj_pos, struct error *err)
{
	struct walk *w = p->walk;
	struct odb_object obj = ODB_OBJECT_INIT;
	enum object_type type;
	int ret = objspace_info(&w->space, w->reader, obj_pos, &type, NULL,
				err);

	if (ret < 0 || type == OBJ_BLOB)
		return ret;
	ret = objspace_read(&w->space, w->reader, obj_pos, &obj, err);
	if (ret < 0)
		return ret;
	ret = object_links_each(obj.type, obj.data, obj.len, w->odb->algo, name,
				p, err);
	odb_object_release(w->reader, &obj);
	return ret == ERR_NOMEM ? ret : 0;
}

static int load(struct promisor *p, struct error *err)
{
	const struct bitset *packed = &p->packed;
	int ret = 0;

	if (p->is_loaded)
		return 0;
	for (size_t i = bitset_next(packed, 0); i < packed->bits && !ret;
	     i = bitset_next(packed, i + 1))
		ret = name_all(p, (uint32_t)i, err);
	p->is_loaded = !ret;
	return ret;
}

int promisor_promises(struct promisor *p, uint32_t obj_pos, struct error *err)
{
	int ret;

	if (!p->has_packs)
		return 0;
	if (promisor_has(p, obj_pos))
		return 1;
	ret = load(p, err);
	return ret < 0 ? ret : bitset_get(&p->named, obj_pos);
}

bool promisor_is_there(const struct promisor *p, uint32_t obj_pos)
{
	struct oid oid;

	if (obj_pos < p->walk->space.packed_nr)
		return true;
	objspace_oid(&oid, &p->walk->space, obj_pos);
	return odb_has(p->walk->odb, &oid);
}

int promisor_check(struct promisor *p, uint32_t obj_pos, enum object_type type,
		   struct error *err)
{
	char hex[OID_MAX_HEX_LEN + 1];
	struct oid oid;
	int ret;

	if (promisor_is_there(p, obj_pos))
		return 1;
	ret = promisor_promises(p, obj_pos, err);
	if (ret)
		return ret < 0 ? ret : 0;
	objspace_oid(&oid, &p->walk->space, obj_pos);
	return error_set(err, ERR_MISSING, "missing %s object '%s'",
			 object_type_name(type),
			 oid_to_hex(hex, &oid, p->walk->odb->algo));
}
