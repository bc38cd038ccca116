# SPDX-License-Identifier: MIT
"""The functions of libgitreach for ctypes. The comments are in gitreach.h."""

import ctypes
import os
from ctypes import (CFUNCTYPE, POINTER, Structure, c_char_p, c_int, c_int32,
                    c_size_t, c_uint8, c_uint32, c_uint64, c_void_p)

ID_MAX = 32
ABI = 0


class Progress(Structure):
    _fields_ = [("size", c_uint64), ("phase", c_char_p), ("done", c_uint64),
                ("total", c_uint64)]


class Ref(Structure):
    _fields_ = [("size", c_uint64), ("name", c_char_p),
                ("id", POINTER(c_uint8)), ("id_len", c_uint64),
                ("target", c_char_p)]


class ObjectInfo(Structure):
    _fields_ = [("size", c_uint64), ("bytes", c_uint64), ("type", c_uint64)]


class Explanation(Structure):
    _fields_ = [("size", c_uint64), ("strategy", c_int32),
                ("bitmaps_used", c_uint32), ("pseudo_merges_used", c_uint32),
                ("commits_walked", c_uint32), ("objects_walked", c_uint64),
                ("nanoseconds", c_uint64), ("reason", c_char_p)]


class BitmapInfo(Structure):
    _fields_ = [("size", c_uint64), ("bytes", c_uint64),
                ("objects", c_uint32), ("bitmaps", c_uint32),
                ("pseudo_merges", c_uint32), ("flags", c_uint32),
                ("path", c_char_p)]


class BitmapEntry(Structure):
    _fields_ = [("size", c_uint64), ("id", POINTER(c_uint8)),
                ("id_len", c_uint64), ("bytes", c_uint64),
                ("xor_depth", c_uint64)]


PROGRESS_FN = CFUNCTYPE(c_int, c_void_p, POINTER(Progress))
REF_FN = CFUNCTYPE(c_int, c_void_p, POINTER(Ref))
OBJECT_FN = CFUNCTYPE(c_int, c_void_p, POINTER(c_uint8), c_size_t, c_int)
BITMAP_FN = CFUNCTYPE(c_int, c_void_p, POINTER(BitmapEntry))
WRITE_FN = CFUNCTYPE(c_int, c_void_p, c_void_p, c_size_t)


class VerifyOptions(Structure):
    _fields_ = [("size", c_uint64), ("sample", c_uint64), ("seed", c_uint64),
                ("progress", PROGRESS_FN), ("progress_ctx", c_void_p)]


class BitmapOptions(Structure):
    _fields_ = [("size", c_uint64), ("threads", c_uint64),
                ("progress", PROGRESS_FN), ("progress_ctx", c_void_p)]


class PackOptions(Structure):
    _fields_ = [("size", c_uint64), ("flags", c_uint32),
                ("threads", c_uint32), ("progress", PROGRESS_FN),
                ("progress_ctx", c_void_p)]


class PackReport(Structure):
    _fields_ = [("size", c_uint64), ("bytes", c_uint64),
                ("bytes_copied", c_uint64), ("objects", c_uint32),
                ("used_bitmap", c_uint32)]


_ANY, _TEXT = c_void_p, c_char_p

# name: (type of the result, types of the arguments)
FUNCTIONS = {
    "version": (_TEXT,),
    "abi_version": (c_int,),
    "error_new": (_ANY,),
    "error_free": (None, _ANY),
    "error_code": (c_int, _ANY),
    "error_message": (_TEXT, _ANY),
    "repo_open": (c_int, _ANY, _TEXT, c_uint32, _ANY),
    "repo_close": (None, _ANY),
    "repo_refresh": (c_int, _ANY, _ANY, _ANY),
    "repo_has_changed": (c_int, _ANY),
    "repo_hash": (c_int, _ANY),
    "repo_id_len": (c_size_t, _ANY),
    "repo_resolve": (c_int, _ANY, _ANY, _TEXT, _ANY),
    "repo_each_ref": (c_int, _ANY, _TEXT, REF_FN, _ANY, _ANY),
    "object_info": (c_int, POINTER(ObjectInfo), _ANY, _TEXT, c_size_t, _ANY),
    "query_new": (c_int, _ANY, _ANY, _ANY),
    "query_free": (None, _ANY),
    "query_want": (c_int, _ANY, _TEXT, c_size_t, _ANY),
    "query_have": (c_int, _ANY, _TEXT, c_size_t, _ANY),
    "query_shallow": (c_int, _ANY, _TEXT, c_size_t, _ANY),
    "query_want_name": (c_int, _ANY, _TEXT, _ANY),
    "query_have_name": (c_int, _ANY, _TEXT, _ANY),
    "query_want_refs": (c_int, _ANY, _TEXT, _ANY),
    "query_have_refs": (c_int, _ANY, _TEXT, _ANY),
    "query_exclude_refs": (c_int, _ANY, _TEXT, _ANY),
    "query_filter": (c_int, _ANY, _TEXT, _ANY),
    "query_set": (c_int, _ANY, c_int, c_uint64, _ANY),
    "query_progress": (None, _ANY, PROGRESS_FN, _ANY),
    "query_run": (c_int, _ANY, _ANY, _ANY),
    "query_unique": (c_int, _ANY, _ANY, c_size_t, _ANY),
    "query_write_pack": (c_int, _ANY, POINTER(PackOptions), WRITE_FN, _ANY,
                         POINTER(PackReport), _ANY),
    "set_new": (c_int, _ANY, _ANY, _TEXT, c_size_t, c_size_t, _ANY),
    "set_free": (None, _ANY),
    "set_count": (c_uint64, _ANY, c_uint32),
    "set_disk_size": (c_int, POINTER(c_uint64), _ANY, c_uint32, _ANY),
    "set_contains": (c_int, _ANY, _TEXT, c_size_t),
    "set_each": (c_int, _ANY, c_uint32, OBJECT_FN, _ANY, _ANY),
    "set_and": (c_int, _ANY, _ANY, _ANY, _ANY),
    "set_or": (c_int, _ANY, _ANY, _ANY, _ANY),
    "set_andnot": (c_int, _ANY, _ANY, _ANY, _ANY),
    "set_explain": (c_int, POINTER(Explanation), _ANY, _ANY),
    "set_write_pack": (c_int, _ANY, POINTER(PackOptions), WRITE_FN, _ANY,
                       POINTER(PackReport), _ANY),
    "bitmap_info": (c_int, POINTER(BitmapInfo), _ANY, _ANY),
    "bitmap_each": (c_int, _ANY, BITMAP_FN, _ANY, _ANY),
    "bitmap_verify": (c_int, _ANY, POINTER(VerifyOptions), _ANY),
    "bitmap_write": (c_int, _ANY, POINTER(BitmapOptions), _ANY),
}


def load():
    """Load the library that LIBGITREACH names, or the installed one."""
    lib = ctypes.CDLL(os.environ.get("LIBGITREACH", f"libgitreach.so.{ABI}"))
    for name, (result, *arguments) in FUNCTIONS.items():
        function = getattr(lib, "gitreach_" + name)
        function.restype, function.argtypes = result, arguments
    if lib.gitreach_abi_version() != ABI:
        raise ImportError(f"libgitreach has another ABI than {ABI}")
    return lib
