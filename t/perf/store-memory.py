# SPDX-License-Identifier: MIT
"""A store in memory, for measurements: a server with the requests of S3 that
pushes need.

    store-memory.py <milliseconds>

The server listens on 127.0.0.1, and prints its port. It answers each request
after <milliseconds>. Large files may be uploaded in parts. A GET of /requests is answered at once, with the number of
other requests since the last GET of /requests. Signatures are not checked, and
a listing has all files in one answer. A request takes about 0.2 ms of CPU here,
so a measurement shows the cost of the client.
"""

import asyncio
import hashlib
import html
import sys
import urllib.parse

FILES = {}
UPLOADS = {}  # the parts of an upload by its id, which is the name of the file
COUNT = [0]
DELAY = float(sys.argv[1]) / 1000


def answer(status, body=b"", etag=None):
    head = ["HTTP/1.1 " + status, "Content-Length: %d" % len(body)]
    if etag:
        head += ["ETag: " + etag,
                 "Last-Modified: Sat, 28 Nov 2026 00:00:00 GMT"]
    return "\r\n".join(head).encode() + b"\r\n\r\n", body


def part(body, etag, wanted):
    """The bytes of a file in the range "bytes=<first>-[<last>]"."""
    first, _, last = wanted.partition("=")[2].partition("-")
    first, last = int(first), min(int(last or len(body)), len(body) - 1)
    head, sent = answer("206 Partial Content", body[first:last + 1], etag)
    return head[:-2] + b"Content-Range: bytes %d-%d/%d\r\n\r\n" % (
        first, last, len(body)), sent


def listing(bucket, query):
    """The files of a bucket with a prefix, all in one answer."""
    start = bucket + "/" + urllib.parse.parse_qs(query).get("prefix", [""])[0]
    rows = "".join(
        "<Contents><Key>%s</Key><ETag>%s</ETag><Size>%d</Size></Contents>" %
        (name[len(bucket) + 1:], html.escape(etag), len(body))
        for name, (body, etag) in sorted(FILES.items())
        if name.startswith(start))
    return answer("200 OK", (
        "<ListBucketResult><IsTruncated>false</IsTruncated>%s"
        "</ListBucketResult>" % rows).encode())


def upload(method, name, number, body):
    """A request of an upload in parts. A name has one upload at a time."""
    if number:
        UPLOADS[name][int(number)] = body
        return answer("200 OK", b"", '"%s"' % number)
    if method == "POST" and name not in UPLOADS:
        UPLOADS[name] = {}
        return answer("200 OK", (
            "<InitiateMultipartUploadResult><UploadId>1</UploadId>"
            "</InitiateMultipartUploadResult>").encode())
    parts = UPLOADS.pop(name)
    if method == "DELETE":
        return answer("204 No Content")
    FILES[name] = b"".join(parts[nr] for nr in sorted(parts)), '"1-parts"'
    return answer("200 OK", (
        "<CompleteMultipartUploadResult><ETag>&#34;1-parts&#34;</ETag>"
        "</CompleteMultipartUploadResult>").encode())


def serve(method, path, headers, body):
    name, _, query = path.partition("?")
    fields = urllib.parse.parse_qs(query, keep_blank_values=True)
    if "uploads" in fields or "uploadId" in fields:
        return upload(method, name, fields.get("partNumber", [""])[0], body)
    if "list-type=2" in query:
        return listing(name.rstrip("/"), query)
    if method == "PUT":
        if headers.get("if-none-match") == "*" and name in FILES:
            return answer("412 Precondition Failed",
                          b"<Error><Code>PreconditionFailed</Code></Error>")
        FILES[name] = body, '"%s"' % hashlib.md5(body).hexdigest()
        return answer("200 OK", b"", FILES[name][1])
    if name not in FILES:
        return answer("404 Not Found",
                      b"<Error><Code>NoSuchKey</Code></Error>")
    body, etag = FILES[name]
    if headers.get("range") and body:
        return part(body, etag, headers["range"])
    return answer("200 OK", body, etag)


async def connection(reader, writer):
    writer.transport.set_write_buffer_limits(1 << 30)
    try:
        while True:
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            first, *lines = head.split("\r\n")
            method, name, _ = first.split(" ")
            headers = {key.lower(): value.strip() for key, _, value in
                       (line.partition(":") for line in lines)}
            if headers.get("expect"):
                writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
            length = int(headers.get("content-length", 0))
            body = await reader.readexactly(length)
            if name == "/requests":
                writer.write(b"".join(answer("200 OK", b"%d" % COUNT[0])))
                COUNT[0] = 0
                continue
            COUNT[0] += 1
            await asyncio.sleep(DELAY)
            head, body = serve(method, name, headers, body)
            writer.write(head + (b"" if method == "HEAD" else body))
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()


async def main():
    server = await asyncio.start_server(connection, "127.0.0.1", 0,
                                        limit=1 << 26, backlog=256)
    print(server.sockets[0].getsockname()[1], flush=True)
    async with server:
        await server.serve_forever()


asyncio.run(main())
