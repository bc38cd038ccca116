# SPDX-License-Identifier: MIT
"""The figures that `scale` calculates with, and where each comes from.

A figure is measured here (the source is a file of t/perf/results), public (an
address), a choice of the design (a file of the tree), or assumed. FIGURES at
the end has a row for each.
"""

from typing import NamedTuple

KB, MB, GB, TB = 1e3, 1e6, 1e9, 1e12
MONTH = 730 * 3600  # seconds

# ---- the site

REPOS = 10_000_000
FETCHES = 1e5             # a second
PUSHES = 1e3              # a second
REPO_MEAN = 57 * MB
SIZE_SIGMA = 2.5          # of log-normal sizes
SIZE_MAX = 100 * GB
EXPONENTS = (0.6, 0.8, 1.0)
REPACK_EVERY = 50         # pushes
GRACE = 24 * 3600         # seconds that old files stay

# ---- CPU and bytes


class Kind(NamedTuple):
    """A kind of fetch."""
    name: str
    share: float      # of all fetches
    cpu: float        # seconds
    sent: float       # bytes
    needs: float      # part of a cold repository that is read at first


INDEX_PART = 0.042        # of a repository: all that is not the pack
DEPTH_PART = 0.04         # of a repository: the answer to a clone of depth 1
FETCH_SENT = 50 * KB
LIST_SENT = 2 * KB
CLONE_CPU = 0.543 / 20 / (146 * MB)    # seconds a byte
REPACK_CPU = 2.291 / (146 * MB)
PUSH_CPU = 17.5e-3
TLS_RATE = 3.73 * GB                   # bytes a second of one core
TLS_CPU = 1 / 41353 + 2 / 27400        # seconds of a handshake
KINDS = (
    Kind("nothing new", 0.85, 0.375e-3, LIST_SENT, 0),
    Kind("a few commits", 0.08, 12.2e-3, FETCH_SENT, INDEX_PART),
    Kind("depth 1, prepared", 0.05, 4.25e-3, DEPTH_PART * REPO_MEAN,
         INDEX_PART + DEPTH_PART),
    Kind("depth 1, made", 0.01, 68e-3, DEPTH_PART * REPO_MEAN,
         INDEX_PART + DEPTH_PART),
    Kind("clone", 0.01, CLONE_CPU * REPO_MEAN, REPO_MEAN, 1),
)
# the part of all fetches that need objects, not refs only
OBJECT_SHARE = sum(k.share for k in KINDS if k.needs)

# ---- nodes: i3en.6xlarge, a quarter of i3en.24xlarge

NODE_PRICE = 10.848 / 4   # an hour
NODE_LINK = 25 * GB / 8   # bytes a second
NODE_DISK = 60 * TB / 4
NODE_CORES = 48 / 4
USED_PART = 0.6           # of CPU and network that is planned for
NODES = 63                # in three zones

# ---- the store


class Latency(NamedTuple):
    """Log-normal latencies of requests; a sigma of 0: always the median."""
    name: str
    put: float     # median, seconds
    get: float
    sigma: float


SIGMA = 0.41              # so that the slowest tenth takes 1.7 times the median
FIXED = Latency("10 ms", 10e-3, 10e-3, 0)
STANDARD = Latency("S3", 63e-3, 10e-3, SIGMA)
EXPRESS = Latency("S3 Express", 20e-3, 5e-3, SIGMA)

PUT_PRICE = 0.005 / 1000
GET_PRICE = 0.0004 / 1000
EXPRESS_GET = 0.00003 / 1000
STORED = 0.023 / GB       # a month
SENT = 0.05 / GB          # to the internet
BETWEEN = 0.02 / GB       # from zone to zone
PREFIX_GETS = 5500        # a second
RANGE = 16 * MB           # of one GET

# ---- the protocol

FILES = 10                # of a repacked repository
RECORD_GETS = 3           # to find the newest record without knowing any
PUSH_FILES = 3
RECORD_GROWTH = 542       # bytes that a push adds
RECORD_MAX = 16 << 20
TRIES = 8
PAUSE = 10e-3             # the first pause at most
GATHER = 20e-3            # the wait for others
BATCH = 256               # pushes of one record at most

# ---- the table

MEASURED, PUBLIC, CHOSEN, ASSUMED = "measured", "public", "chosen", "assumed"


class Figure(NamedTuple):
    name: str
    value: str
    kind: str
    source: str


def ms(seconds: float) -> str:
    return f"{1e3 * seconds:.3g} ms"


FIGURES = [
    Figure("repositories; fetches a second",
           f"{REPOS / 1e6:g} million; {FETCHES:,.0f}", CHOSEN,
           "GitLab.com has 1,900 a second: handbook.gitlab.com/handbook/"
           "engineering/architecture/design-documents/transfer_data/"
           "repository"),
    Figure("pushes a second; pushes between repacks",
           f"{PUSHES:,.0f}; {REPACK_EVERY}", ASSUMED,
           "GitHub had 31 a second in 2025: github.blog/news-insights/"
           "octoverse/what-986-million-code-pushes-say-about-the-developer-"
           "workflow-in-2025"),
    Figure("mean size of a repository", f"{REPO_MEAN / MB:g} MB", PUBLIC,
           "19 PB, 330 million repositories: newsletter.betterstack.com/p/"
           "how-github-reduced-repo-storage-size"),
    Figure("sizes: log-normal, sigma, largest; popularity: Zipf, exponent",
           f"{SIZE_SIGMA}, {SIZE_MAX / GB:g} GB; " +
           ", ".join(f"{a:g}" for a in EXPONENTS), ASSUMED,
           "web pages have 0.6 to 0.8: oreilly.com/library/view/web-caching/"
           "156592536X/apas06.html"),
    Figure("kinds of fetches: the table of CPU; bytes of the first two",
           ":".join(f"{100 * k.share:g}" for k in KINDS) +
           f"; {LIST_SENT / KB:g} KB, {FETCH_SENT / KB:g} KB", ASSUMED,
           "ls-remote is over half of the bandwidth at Google: "
           "mail.spinics.net/lists/git/msg358728.html"),
    Figure("part of a repository: no pack; clone of depth 1",
           f"{100 * INDEX_PART:g}%; {100 * DEPTH_PART:g}%", MEASURED,
           "scale.md; fetches.md, prepared.md (2.6%, 4.2%)"),
    Figure("CPU: nothing new; depth 1, prepared; a MB of a clone",
           f"{ms(KINDS[0].cpu)}; {ms(KINDS[2].cpu)}; {ms(CLONE_CPU * MB)}",
           MEASURED, "server.md"),
    Figure("CPU: a few commits; a MB of a repack",
           f"{ms(KINDS[1].cpu)}; {ms(REPACK_CPU * MB)}", MEASURED,
           "fetches.md (2.3 to 12.2 ms)"),
    Figure("CPU: depth 1, not prepared; push of one commit",
           f"{ms(KINDS[3].cpu)}; {ms(PUSH_CPU)}", MEASURED,
           "prepared.md (15, 68 ms); networks.md (9.1, 17.5 ms)"),
    Figure("TLS: bytes of one core; handshake",
           f"{TLS_RATE / GB:g} GB/s; {ms(TLS_CPU)}", MEASURED, "scale.md"),
    Figure("node (a quarter of i3en.24xlarge)",
           f"${NODE_PRICE:.2f} an hour, {NODE_CORES:g} cores, "
           f"{8 * NODE_LINK / GB:g} Gbit/s, {NODE_DISK / TB:g} TB", PUBLIC,
           "aerospike.com/blog/aws-i4i-instances-superior-performance; "
           "scylladb.com/2019/05/28/aws-new-i3en-meganode"),
    Figure("part of CPU and network that is planned for",
           f"{100 * USED_PART:g}%", ASSUMED, ""),
    Figure("GET of a small file: median, slowest tenth",
           f"{ms(STANDARD.get)}, 17 ms", PUBLIC, "turbopuffer.com/docs/"
           "tradeoffs"),
    Figure("PUT with a condition: S3; S3 Express One Zone",
           f"{ms(STANDARD.put)}; {ms(EXPRESS.put)}", PUBLIC,
           "58 to 68 ms; 14 to 26 ms: "
           "cdouglas.github.io/posts/2026/01/conditional"),
    Figure("latencies: log-normal, sigma; GET of S3 Express",
           f"{SIGMA}; {ms(EXPRESS.get)}", ASSUMED,
           "log-normal: spiraldb.com/post/so-you-want-to-use-object-storage"),
    Figure("1,000 PUTs; 1,000 GETs; a GB stored for a month",
           f"${1e3 * PUT_PRICE:g}; ${1e3 * GET_PRICE:g}; ${STORED * GB:g}",
           PUBLIC, "devnotes.tech/understanding-aws-s3-pricing-a-complete-cost-"
           "breakdown-with-examples"),
    Figure("1,000 GETs of S3 Express", f"${1e3 * EXPRESS_GET:.5f}", PUBLIC,
           "aws.amazon.com/s3/faqs"),
    Figure("a GB to the internet; to another zone; from S3 to a node",
           f"${SENT * GB:.2f}; ${BETWEEN * GB:.2f}; free", PUBLIC,
           "wring.co/blog/aws-data-transfer-pricing-guide"),
    Figure("GETs a second of one prefix", f"{PREFIX_GETS:,}", PUBLIC,
           "repost.aws/knowledge-center/http-5xx-errors-s3"),
    Figure("bytes of one ranged GET", f"{RANGE / MB:g} MB", PUBLIC,
           "docs.aws.amazon.com/whitepapers/latest/s3-optimizing-performance-"
           "best-practices/use-byte-range-fetches.html"),
    Figure("files: of a repacked repository; of a push; bytes of its record",
           f"{FILES}; {PUSH_FILES}; {RECORD_GROWTH}", MEASURED, "scale.md"),
    Figure("GETs for the newest record of a cold repository; tries of a commit",
           f"{RECORD_GETS}; {TRIES}", CHOSEN,
           "generations/history.c, generations/history.h"),
    Figure("first pause at most, then doubled; longest record; old files stay",
           f"{ms(PAUSE)}; {RECORD_MAX >> 20} MiB; {GRACE / 3600:g} h", CHOSEN,
           "generations/commit.c, generations/record.h, generations.md"),
    Figure("group commit: waits; pushes of one record at most",
           f"{ms(GATHER)}; {BATCH}", CHOSEN, "generations/group.c"),
]
