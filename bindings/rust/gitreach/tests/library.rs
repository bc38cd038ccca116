// SPDX-License-Identifier: MIT
//! The crate compared with git. The environment variable GIT names the git that makes
//! repositories.

use gitreach::{
    unique, Code, Error, Hash, Id, ObjectInfo, OpenOptions, PackOptions, Query, Repository, Set,
    Strategy, Type, Types, Verify,
};
use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Write};
use std::ops::{ControlFlow, Range};
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;

/// A repository, removed at the end: 12 commits, the last two of them without a bitmap.
struct Place {
    path: PathBuf,
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path);
    }
}

fn git_in(path: &Path, arguments: &[&str], input: &[u8]) -> Vec<u8> {
    let program = std::env::var("GIT").unwrap_or_else(|_| "git".into());
    let mut child = Command::new(program)
        .arg("-C")
        .arg(path)
        .args(arguments)
        .env("HOME", "/nonexistent")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .envs([("GIT_AUTHOR_NAME", "a"), ("GIT_AUTHOR_EMAIL", "a@b")])
        .envs([("GIT_COMMITTER_NAME", "a"), ("GIT_COMMITTER_EMAIL", "a@b")])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("git starts");
    // git reads all of it before it prints more than a pipe holds.
    child.stdin.take().unwrap().write_all(input).unwrap();
    let done = child.wait_with_output().unwrap();
    assert!(done.status.success(), "git {arguments:?} fails");
    done.stdout
}

impl Place {
    fn empty(name: &str, how: &[&str]) -> Place {
        let path =
            Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        let place = Place { path };
        let mut arguments = vec!["init", "-q"];
        arguments.extend(how);
        place.git(&arguments);
        place
    }

    fn of(name: &str, how: &[&str]) -> Place {
        let place = Place::empty(name, how);
        place.git(&["symbolic-ref", "HEAD", "refs/heads/main"]);
        place.commit(0..10);
        place.git(&["tag", "-a", "-m", "first", "v1", "main~4"]);
        place.git(&["branch", "old", "main~7"]);
        place.git(&["repack", "-adbq"]);
        place.commit(10..12);
        place
    }

    fn new(name: &str) -> Place {
        Place::of(name, &[])
    }

    fn git(&self, arguments: &[&str]) -> Vec<u8> {
        git_in(&self.path, arguments, b"")
    }

    /// Add commits with these numbers to the branch main.
    fn commit(&self, numbers: Range<usize>) {
        let mut stream = String::new();
        for i in numbers {
            let (text, file) = (format!("line {i}\n").repeat(i + 1), i % 4);
            let first = stream.is_empty();
            stream += "commit refs/heads/main\n";
            stream += &format!("committer a <a@b> {} +0000\ndata 0\n", 1000000000 + i);
            if first && i > 0 {
                stream += "from refs/heads/main^0\n";
            }
            stream += &format!("M 644 inline f{file}\ndata {}\n{text}\n", text.len());
        }
        git_in(&self.path, &["fast-import", "--quiet"], stream.as_bytes());
    }

    fn open(&self) -> Repository {
        Repository::open(&self.path).unwrap()
    }

    fn id(&self, name: &str) -> Id {
        let printed = String::from_utf8(self.git(&["rev-parse", name])).unwrap();
        printed.trim().parse().unwrap()
    }

    /// What git rev-list --objects prints.
    fn listed(&self, names: &[&str]) -> BTreeSet<Id> {
        let mut arguments = vec!["rev-list", "--objects", "--no-object-names"];
        arguments.extend(names);
        String::from_utf8(self.git(&arguments))
            .unwrap()
            .lines()
            .map(|line| line.parse().unwrap())
            .collect()
    }
}

fn query_of(repo: &Repository, wants: &[&str], haves: &[&str]) -> Query {
    let mut query = repo.query().unwrap();
    for want in wants {
        query.want_name(want).unwrap();
    }
    for have in haves {
        query.have_name(have).unwrap();
    }
    query
}

fn ids(set: &Set) -> BTreeSet<Id> {
    let all = set.objects(Types::ANY).unwrap();
    all.iter().map(|object| object.id).collect()
}

fn code<T>(result: Result<T, Error>) -> Code {
    match result {
        Ok(_) => panic!("no failure"),
        Err(error) => error.code(),
    }
}

#[test]
fn facts() {
    let place = Place::new("facts");
    let repo = place.open();
    assert_eq!((repo.hash(), repo.id_len()), (Hash::Sha1, 20));
    assert!(!repo.has_changed());
    assert_eq!(gitreach::version(), env!("CARGO_PKG_VERSION"));
    let missing = Repository::open("/nowhere/at/all").unwrap_err();
    assert_eq!(missing.code(), Code::Missing);
    assert!(missing.to_string().contains("/nowhere/at/all"));
    assert_eq!(io::Error::from(missing).kind(), io::ErrorKind::NotFound);
    assert_eq!(code(Repository::open("a\0b")), Code::Invalid);
    let git_dir = place.path.join(".git");
    let exact = OpenOptions::new().exact(true);
    assert!(exact.open(&git_dir).is_ok());
    assert_eq!(code(exact.open(&place.path)), Code::Missing);
    place.git(&["repack", "-adq"]);
    assert!(repo.has_changed());
    assert!(!repo.refresh().unwrap().has_changed());
}

#[test]
fn sha256() {
    let place = Place::of("sha256", &["--object-format=sha256"]);
    let repo = place.open();
    assert_eq!((repo.hash(), repo.id_len()), (Hash::Sha256, 32));
    assert_eq!(repo.resolve("main").unwrap(), place.id("main"));
    let found = query_of(&repo, &["main"], &["old"]).run().unwrap();
    assert_eq!(found.len(), place.listed(&["main", "^old"]).len() as u64);
    let short = Id::try_from(&[1u8; 20][..]).unwrap();
    assert_eq!(code(repo.set_of(&[short])), Code::Invalid);
    assert_eq!(code(repo.query().unwrap().want(&short)), Code::Invalid);
}

#[test]
fn ids_as_text() {
    let hex = "0123456789abcdef0123456789abcdef01234567";
    let id: Id = hex.parse().unwrap();
    assert_eq!(id.to_string(), hex);
    assert_eq!(format!("{id:?}"), format!("Id({hex})"));
    assert_eq!(Id::try_from(id.as_bytes()).unwrap(), id);
    for wrong in ["", "01", "g123456789abcdef0123456789abcdef01234567"] {
        assert_eq!(code(wrong.parse::<Id>()), Code::Invalid);
    }
    assert_eq!(code(Id::try_from(&[0u8; 21][..])), Code::Invalid);
}

#[test]
fn names_and_refs() {
    let place = Place::new("names");
    let repo = place.open();
    assert_eq!(repo.resolve("main~3").unwrap(), place.id("main~3"));
    let error = repo.resolve("nobody").unwrap_err();
    assert_eq!(error.code(), Code::Missing);
    assert!(error.message().contains("nobody"));
    let refs = repo.refs("").unwrap();
    let names: Vec<_> = refs.iter().map(|r| r.name_lossy().into_owned()).collect();
    let all = ["HEAD", "refs/heads/main", "refs/heads/old", "refs/tags/v1"];
    assert_eq!(names, all);
    assert_eq!(refs[0].target.as_deref(), Some(&b"refs/heads/main"[..]));
    assert_eq!(refs[0].id, place.id("main"));
    assert_eq!((refs[3].id, &refs[3].target), (place.id("v1"), &None));
    assert_eq!(repo.refs("refs/tags/").unwrap(), refs[3..]);
}

#[test]
fn objects() {
    let place = Place::new("objects");
    let repo = place.open();
    for (name, kind) in [
        ("main", Type::Commit),
        ("main^{tree}", Type::Tree),
        ("main:f1", Type::Blob),
        ("v1", Type::Tag),
    ] {
        let size = String::from_utf8(place.git(&["cat-file", "-s", name])).unwrap();
        let ObjectInfo { kind: k, bytes, .. } = repo.object(&place.id(name)).unwrap();
        assert_eq!((k, bytes), (kind, size.trim().parse().unwrap()));
        assert_eq!(
            place.git(&["cat-file", "-t", name]),
            format!("{kind}\n").as_bytes()
        );
    }
    let absent = Id::try_from(&[1u8; 20][..]).unwrap();
    assert_eq!(code(repo.object(&absent)), Code::Missing);
}

#[test]
fn bitmaps() {
    let place = Place::new("bitmaps");
    let repo = place.open();
    let info = repo.bitmap_info().unwrap();
    let indexed = place.listed(&["main~2", "v1", "old"]).len();
    assert_eq!(info.objects as usize, indexed);
    assert_eq!(repo.bitmaps().unwrap().len(), info.bitmaps as usize);
    assert!(info.path.is_file());
    repo.verify_bitmap(Verify::All, None).unwrap();
    repo.verify_bitmap(Verify::Sample { nr: 2, seed: 1 }, None)
        .unwrap();
    let mut stop = |_: &gitreach::Progress<'_>| ControlFlow::Break(());
    let cancelled = repo.verify_bitmap(Verify::All, Some(&mut stop));
    assert_eq!(code(cancelled), Code::Cancelled);
    let without = OpenOptions::new()
        .no_bitmap(true)
        .open(&place.path)
        .unwrap();
    assert_eq!(code(without.bitmap_info()), Code::Missing);
    fs::remove_file(&info.path).unwrap();
    place.git(&["repack", "-adq"]);
    place.open().write_bitmap(1, None).unwrap();
    let all = place.listed(&["--all"]).len();
    assert_eq!(place.open().bitmap_info().unwrap().objects as usize, all);
}

#[test]
fn same_as_git() {
    let place = Place::new("same");
    let repo = place.open();
    let cases: [(&[&str], &[&str]); 4] = [
        (&["main"], &[]),
        (&["main", "v1"], &["old"]),
        (&["main"], &["main~1"]),
        (&["old"], &["main"]),
    ];
    for (wants, haves) in cases {
        for strategy in [Strategy::Auto, Strategy::Walk, Strategy::Check] {
            let mut query = query_of(&repo, wants, haves);
            let found = query.strategy(strategy).unwrap().run().unwrap();
            let mut expected = place.listed(wants);
            if !haves.is_empty() {
                let excluded = place.listed(haves);
                expected.retain(|id| !excluded.contains(id));
            }
            assert_eq!(ids(&found), expected);
            assert_eq!(found.len() as usize, expected.len());
            assert_eq!(found.is_empty(), expected.is_empty());
            assert!(expected.iter().all(|id| found.contains(id)));
        }
    }
}

#[test]
fn refs_filters_and_types() {
    let place = Place::new("filters");
    let repo = place.open();
    let all = repo.query().unwrap().want_refs("").unwrap().run().unwrap();
    assert_eq!(ids(&all), place.listed(&["--all"]));
    let mut query = repo.query().unwrap();
    query.exclude_refs("HEAD").unwrap();
    query.exclude_refs("refs/heads/main").unwrap();
    let some = query.want_refs("").unwrap().run().unwrap();
    assert_eq!(ids(&some), place.listed(&["v1", "old"]));
    let main = place.id("main");
    let mut query = repo.query().unwrap();
    query.want(&main).unwrap().have_refs("refs/tags/").unwrap();
    let since = query.run().unwrap();
    assert_eq!(since.count(Types::COMMIT), 6);
    let mut query = query_of(&repo, &["main"], &[]);
    let found = query.filter("blob:none").unwrap().run().unwrap();
    assert_eq!(found.count(Types::BLOB), 0);
    assert_eq!(found.count(Types::COMMIT | Types::TREE), found.len());
    assert_eq!(code(query.filter("no:such")), Code::Invalid);
    let mut query = query_of(&repo, &["main"], &[]);
    let commits = query.objects(false).unwrap().run().unwrap();
    assert_eq!(commits.len(), 12);
    assert_eq!(commits.count(Type::Commit.into()), 12);
    let mut query = query_of(&repo, &["main"], &[]);
    let one = query.shallow(&main).unwrap().run().unwrap();
    assert_eq!(one.count(Types::COMMIT), 1);
}

#[test]
fn what_only_one_query_finds() {
    let place = Place::new("unique");
    let repo = place.open();
    let (a, b) = (
        query_of(&repo, &["main"], &[]),
        query_of(&repo, &["v1"], &[]),
    );
    let found = unique(&[&a, &b]).unwrap();
    // Sets outlive their queries and repositories.
    drop((a, b, repo));
    let other = place.listed(&["v1"]);
    let mut expected = place.listed(&["main"]);
    expected.retain(|id| !other.contains(id));
    assert_eq!(ids(&found[0]), expected);
    let kinds: Vec<_> = found[1].objects(Types::ANY).unwrap();
    assert_eq!((kinds.len(), kinds[0].kind), (1, Type::Tag));
    assert!(unique(&[]).unwrap().is_empty());
}

#[test]
fn progress() {
    let place = Place::new("progress");
    let repo = place.open();
    let mut query = query_of(&repo, &["main"], &[]);
    let mut phases = Vec::new();
    let found = query
        .run_with(&mut |progress| {
            phases.push(progress.phase.clone().into_owned());
            ControlFlow::Continue(())
        })
        .unwrap();
    assert_eq!(phases[0], "Starting");
    assert_eq!(ids(&found), place.listed(&["main"]));
    let ended = query.run_with(&mut |_| ControlFlow::Break(()));
    assert_eq!(code(ended), Code::Cancelled);
    // The query has no closure any more.
    assert_eq!(query.run().unwrap().len(), found.len());
}

/// The text of the panic of a closure.
fn panic_of<T>(function: impl FnOnce() -> T) -> String {
    match catch_unwind(AssertUnwindSafe(function)) {
        Ok(_) => panic!("no panic"),
        Err(panic) => panic.downcast_ref::<&str>().unwrap().to_string(),
    }
}

#[test]
fn panics_go_on_in_the_caller() {
    struct Panics;
    impl Write for Panics {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            panic!("in a writer")
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let place = Place::new("panics");
    let repo = place.open();
    let mut query = query_of(&repo, &["main"], &[]);
    let text = panic_of(|| query.run_with(&mut |_| panic!("in progress")));
    assert_eq!(text, "in progress");
    let found = query.run().unwrap();
    let text = panic_of(|| found.for_each(Types::ANY, |_| panic!("in a visit")));
    assert_eq!(text, "in a visit");
    let text = panic_of(|| query.write_pack(Panics, &PackOptions::new()));
    assert_eq!(text, "in a writer");
    assert_eq!(query.run().unwrap().len(), found.len());
}

#[test]
fn threads() {
    let place = Place::new("threads");
    let repo = place.open();
    let expected = place.listed(&["main"]).len() as u64;
    let whole = query_of(&repo, &["main"], &[]).run().unwrap();
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let found = query_of(&repo, &["main"], &[]).run().unwrap();
                assert_eq!(found.len(), expected);
                assert!(whole.difference(&found).unwrap().is_empty());
            });
        }
    });
    // A query may move to another thread.
    let mut query = query_of(&repo, &["main"], &[]);
    let found = thread::spawn(move || query.run()).join().unwrap().unwrap();
    assert_eq!(found.len(), expected);
}

#[test]
fn algebra_and_sizes() {
    let place = Place::new("algebra");
    let repo = place.open();
    let a = query_of(&repo, &["main"], &[]).run().unwrap();
    let b = query_of(&repo, &["v1"], &[]).run().unwrap();
    let (in_a, in_b) = (ids(&a), ids(&b));
    assert_eq!(ids(&a.intersection(&b).unwrap()), &in_a & &in_b);
    assert_eq!(ids(&a.union(&b).unwrap()), &in_a | &in_b);
    let left = a.difference(&b).unwrap();
    assert_eq!(ids(&left), &in_a - &in_b);
    assert_eq!(left.explain().unwrap().strategy, None);
    let other = repo.refresh().unwrap();
    let of_other = query_of(&other, &["v1"], &[]).run().unwrap();
    assert_eq!(code(a.union(&of_other)), Code::Invalid);
    let usage = place.git(&["rev-list", "--objects", "--disk-usage", "main"]);
    let usage: u64 = String::from_utf8(usage).unwrap().trim().parse().unwrap();
    assert_eq!(a.disk_size(Types::ANY).unwrap(), usage);
    let rest = Types::COMMIT | Types::TREE | Types::TAG;
    let parts = a.disk_size(Types::BLOB).unwrap() + a.disk_size(rest).unwrap();
    assert_eq!(parts, usage);
    let how = a.explain().unwrap();
    assert_eq!(
        (how.strategy, how.reason.as_str()),
        (Some(Strategy::Bitmap), "")
    );
    let mut seen = 0;
    a.for_each(Types::COMMIT, |_| {
        seen += 1;
        if seen == 3 {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    })
    .unwrap();
    assert_eq!(seen, 3);
}

#[test]
fn sets_of_ids() {
    let place = Place::new("sets");
    let repo = place.open();
    let some = [place.id("main"), place.id("main:f1"), place.id("v1")];
    assert_eq!(
        ids(&repo.set_of(&some).unwrap()),
        some.into_iter().collect()
    );
    assert!(repo.set_of(&[]).unwrap().is_empty());
    let absent = Id::try_from(&[1u8; 20][..]).unwrap();
    assert_eq!(code(repo.set_of(&[absent])), Code::Missing);
}

#[test]
fn packs() {
    let place = Place::new("packs");
    let repo = place.open();
    let mut query = query_of(&repo, &["main"], &[]);
    let mut whole = Vec::new();
    let options = PackOptions::new().ofs_delta(true);
    let report = query.write_pack(&mut whole, &options).unwrap();
    assert_eq!(report.bytes, whole.len() as u64);
    assert_eq!(report.objects as usize, place.listed(&["main"]).len());
    let clone = Place::empty("packs-clone", &["--bare"]);
    git_in(&clone.path, &["index-pack", "--stdin", "--strict"], &whole);
    let main = place.id("main").to_string();
    assert_eq!(clone.listed(&[&main]), place.listed(&["main"]));

    let behind = Place::empty("packs-behind", &["--bare"]);
    let to = behind.path.to_str().unwrap();
    place.git(&["push", "-q", to, "old"]);
    let mut thin = Vec::new();
    let mut calls = 0;
    query_of(&repo, &["main"], &["old"])
        .write_pack_with(
            &mut thin,
            &options.clone().thin(true).threads(1),
            Some(&mut |_| {
                calls += 1;
                ControlFlow::Continue(())
            }),
        )
        .unwrap();
    assert!(calls > 0);
    git_in(
        &behind.path,
        &["index-pack", "--stdin", "--fix-thin"],
        &thin,
    );
    assert_eq!(behind.listed(&[&main]), place.listed(&["main"]));

    let one = repo.set_of(&[place.id("main:f1")]).unwrap();
    let mut pack = Vec::new();
    let report = one
        .write_pack(&mut pack, &PackOptions::new().anew(true))
        .unwrap();
    assert_eq!((report.objects, report.bytes_copied), (1, 0));
    assert!(pack.starts_with(b"PACK"));
    let thin = PackOptions::new().thin(true);
    assert_eq!(code(one.write_pack(&mut pack, &thin)), Code::Invalid);
}

#[test]
fn a_writer_that_fails() {
    /// Notes the thread that writes, and fails as a full disk does.
    struct Full(Option<thread::ThreadId>);
    impl Write for Full {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            self.0 = Some(thread::current().id());
            Err(io::Error::from_raw_os_error(28))
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let place = Place::new("full");
    let mut query = query_of(&place.open(), &["main"], &[]);
    let mut out = Full(None);
    let error = query.write_pack(&mut out, &PackOptions::new()).unwrap_err();
    assert_eq!(error.code(), Code::Io);
    assert_eq!(io::Error::from(error).raw_os_error(), Some(28));
    assert_eq!(out.0, Some(thread::current().id()));
}
