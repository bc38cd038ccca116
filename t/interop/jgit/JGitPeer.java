/* SPDX-License-Identifier: MIT */
/*
 * JGit as a peer of the interoperability tests: calls its API, prints plain
 * lines. The verbs are in usage().
 */
import java.io.File;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

import org.eclipse.jgit.api.CloneCommand;
import org.eclipse.jgit.api.FetchCommand;
import org.eclipse.jgit.api.Git;
import org.eclipse.jgit.api.PushCommand;
import org.eclipse.jgit.api.TransportConfigCallback;
import org.eclipse.jgit.errors.PackProtocolException;
import org.eclipse.jgit.internal.storage.file.FileRepository;
import org.eclipse.jgit.internal.storage.file.GC;
import org.eclipse.jgit.internal.storage.file.Pack;
import org.eclipse.jgit.internal.storage.file.PackBitmapIndex;
import org.eclipse.jgit.internal.storage.file.PackIndex;
import org.eclipse.jgit.internal.storage.file.PackReverseIndexFactory;
import org.eclipse.jgit.internal.storage.pack.PackExt;
import org.eclipse.jgit.internal.storage.pack.PackWriter;
import org.eclipse.jgit.lib.BitmapIndex;
import org.eclipse.jgit.lib.BitmapObject;
import org.eclipse.jgit.lib.NullProgressMonitor;
import org.eclipse.jgit.lib.ObjectId;
import org.eclipse.jgit.lib.ObjectReader;
import org.eclipse.jgit.lib.Ref;
import org.eclipse.jgit.lib.Repository;
import org.eclipse.jgit.revwalk.BitmapWalker;
import org.eclipse.jgit.revwalk.ObjectWalk;
import org.eclipse.jgit.revwalk.RevCommit;
import org.eclipse.jgit.revwalk.RevObject;
import org.eclipse.jgit.storage.file.FileRepositoryBuilder;
import org.eclipse.jgit.storage.pack.PackConfig;
import org.eclipse.jgit.transport.FilterSpec;
import org.eclipse.jgit.transport.PushResult;
import org.eclipse.jgit.transport.RefSpec;
import org.eclipse.jgit.transport.RemoteRefUpdate;

import com.googlecode.javaewah.EWAHCompressedBitmap;
import com.googlecode.javaewah.IntIterator;

public class JGitPeer {
	private static final int SAMPLE_NR = 50;

	private static int usage() {
		System.err.println(String.join("\n",
			"usage: JGitPeer gc <repo>",
			"       JGitPeer count <repo> (--all | <want>...) [--not <have>...]",
			"       JGitPeer objects <repo> (--all | <want>...) [--not <have>...]",
			"       JGitPeer walk <repo> (--all | <want>...) [--not <have>...]",
			"       JGitPeer bitmap-list <repo>",
			"       JGitPeer bitmap-check <repo> [<sample size>]",
			"       JGitPeer clone <url> <directory> [<depth> [<filter>]]",
			"       JGitPeer fetch <repo> [<depth> [<refspec>...]]",
			"       JGitPeer push <repo> <refspec>...",
			"PUSH_ATOMIC=yes, PUSH_OPTION=<text>: the form of a push",
			"JGIT_SERVERS=<directory>: where a local clone, fetch or push",
			"finds its git-upload-pack and git-receive-pack"));
		return 129;
	}

	public static void main(String[] args) throws Exception {
		System.exit(run(args));
	}

	private static int run(String[] args) throws Exception {
		if (args.length < 2)
			return usage();
		if (args[0].equals("clone"))
			return args.length < 3 ? usage()
				: copy(args[1], args[2], depth(args, 3),
					args.length > 4 ? args[4] : null);
		try (FileRepository repo = open(args[1])) {
			switch (args[0]) {
			case "gc":
				return gc(repo);
			case "count":
				return count(repo, new Tips(repo, args));
			case "objects":
				return objects(repo, new Tips(repo, args));
			case "walk":
				return walk(repo, new Tips(repo, args));
			case "bitmap-list":
				return bitmaps(repo, 0);
			case "bitmap-check":
				return bitmaps(repo, args.length > 2
					? Integer.parseInt(args[2]) : SAMPLE_NR);
			case "fetch":
				return fetch(repo, depth(args, 2),
					rest(args, 3));
			case "push":
				return push(repo, rest(args, 2));
			default:
				return usage();
			}
		}
	}

	private static FileRepository open(String dir) throws Exception {
		return (FileRepository) new FileRepositoryBuilder()
			.setGitDir(new File(dir)).setMustExist(true).build();
	}

	/* The objects named after the repository on the command line. */
	private static class Tips {
		final Set<ObjectId> wants = new TreeSet<>();
		final Set<ObjectId> haves = new TreeSet<>();

		Tips(Repository repo, String[] args) throws Exception {
			Set<ObjectId> to = wants;

			for (int i = 2; i < args.length; i++) {
				if (args[i].equals("--not"))
					to = haves;
				else if (args[i].equals("--all"))
					addAll(repo, to);
				else
					to.add(resolve(repo, args[i]));
			}
		}

		/* An unborn HEAD has no id. */
		private static void addAll(Repository repo, Set<ObjectId> to)
				throws Exception {
			for (Ref ref : repo.getRefDatabase().getRefs())
				if (ref.getObjectId() != null)
					to.add(ref.getObjectId());
		}

		private static ObjectId resolve(Repository repo, String rev)
				throws Exception {
			ObjectId id = repo.resolve(rev);

			if (id == null)
				throw new IllegalArgumentException("no such object: " + rev);
			return id;
		}
	}

	/* Everything in packs with a bitmap, as JGit's own gc leaves it. */
	private static int gc(FileRepository repo) throws Exception {
		GC gc = new GC(repo);
		PackConfig config = new PackConfig(repo);

		config.setBuildBitmaps(true);
		gc.setPackConfig(config);
		gc.setExpireAgeMillis(0);
		gc.setPackExpireAgeMillis(0);
		gc.gc().get();
		return 0;
	}

	/* The number of objects of the pack that upload-pack would send. */
	private static int count(Repository repo, Tips tips) throws Exception {
		try (PackWriter writer = new PackWriter(new PackConfig(repo),
				repo.newObjectReader(), null)) {
			writer.setUseBitmaps(true);
			writer.setDeltaBaseAsOffset(true);
			writer.preparePack(NullProgressMonitor.INSTANCE, tips.wants,
				tips.haves);
			System.out.println(writer.getObjectCount());
		}
		return 0;
	}

	/* The ids of wants without haves, by bitmaps where there are any. */
	private static int objects(Repository repo, Tips tips) throws Exception {
		Set<String> names = new TreeSet<>();

		try (ObjectReader reader = repo.newObjectReader()) {
			BitmapIndex index = reader.getBitmapIndex();

			if (index == null) {
				System.err.println("no bitmap index");
				return 1;
			}
			BitmapIndex.BitmapBuilder found =
				find(reader, index, tips.wants);
			if (!tips.haves.isEmpty())
				found.andNot(find(reader, index, tips.haves));
			for (BitmapObject object : found)
				names.add(object.getObjectId().name());
		}
		names.forEach(System.out::println);
		return 0;
	}

	private static BitmapIndex.BitmapBuilder find(ObjectReader reader,
			BitmapIndex index, Set<ObjectId> tips) throws Exception {
		try (ObjectWalk walk = new ObjectWalk(reader)) {
			return new BitmapWalker(walk, index,
				NullProgressMonitor.INSTANCE).findObjects(tips, null, false);
		}
	}

	/* The same by walking; exact, because haves are walked in full. */
	private static int walk(Repository repo, Tips tips) throws Exception {
		Set<String> names = reachable(repo, tips.wants);

		names.removeAll(reachable(repo, tips.haves));
		names.forEach(System.out::println);
		return 0;
	}

	private static Set<String> reachable(Repository repo,
			Iterable<? extends ObjectId> tips) throws Exception {
		Set<String> names = new TreeSet<>();

		try (ObjectWalk walk = new ObjectWalk(repo)) {
			for (ObjectId tip : tips) {
				RevObject object = walk.parseAny(tip);

				walk.markStart(object);
			}
			for (RevCommit c = walk.next(); c != null; c = walk.next())
				names.add(c.name());
			for (RevObject o = walk.nextObject(); o != null;
					o = walk.nextObject())
				names.add(o.name());
		}
		return names;
	}

	/*
	 * One line per pack: its name, the number of its objects and of its
	 * bitmaps ("-": it has no bitmap index). About `sampleNr` bitmaps per pack,
	 * evenly spread over the commits, are compared to walks; the last line
	 * is then "checked <nr>".
	 */
	private static int bitmaps(FileRepository repo, int sampleNr)
			throws Exception {
		int checked = 0, wrong = 0;

		for (Pack pack : repo.getObjectDatabase().getPacks()) {
			File file = pack.getPackFile().create(PackExt.BITMAP_INDEX);
			PackIndex index = pack.getIndex();

			if (!file.exists()) {
				System.out.println(pack.getPackName() + " "
					+ index.getObjectCount() + " -");
				continue;
			}
			PackBitmapIndex bitmap = PackBitmapIndex.open(file, index,
				PackReverseIndexFactory.computeFromIndex(index));
			System.out.println(pack.getPackName() + " "
				+ index.getObjectCount() + " "
				+ bitmap.getBitmapCount());
			List<ObjectId> commits = commits(index, bitmap);
			if (commits.size() != bitmap.getBitmapCount()) {
				System.err.println("found the bitmaps of "
					+ commits.size() + " commits");
				wrong++;
			}
			if (sampleNr == 0)
				continue;
			int step = commits.size() / sampleNr + 1;
			for (int i = 0; i < commits.size(); i += step) {
				checked++;
				if (!agrees(repo, bitmap, commits.get(i)))
					wrong++;
			}
		}
		if (sampleNr > 0)
			System.out.println("checked " + checked);
		return wrong == 0 ? 0 : 1;
	}

	/* The commits that have a bitmap. */
	private static List<ObjectId> commits(PackIndex index,
			PackBitmapIndex bitmap) {
		List<ObjectId> found = new ArrayList<>();

		for (PackIndex.MutableEntry entry : index) {
			ObjectId id = entry.toObjectId();

			if (bitmap.getBitmap(id) != null)
				found.add(id);
		}
		return found;
	}

	private static boolean agrees(Repository repo, PackBitmapIndex bitmap,
			ObjectId commit) throws Exception {
		EWAHCompressedBitmap bits = bitmap.getBitmap(commit);
		Set<String> names = new TreeSet<>();

		for (IntIterator i = bits.intIterator(); i.hasNext();)
			names.add(bitmap.getObject(i.next()).name());
		if (names.equals(reachable(repo, List.of(commit))))
			return true;
		System.err.println("the bitmap of " + commit.name()
			+ " is not what a walk finds");
		return false;
	}

	/* An optional argument; 0: not given. */
	private static int depth(String[] args, int at) {
		return args.length > at ? Integer.parseInt(args[at]) : 0;
	}

	private static List<String> rest(String[] args, int from) {
		return List.of(args).subList(Math.min(from, args.length),
			args.length);
	}

	/*
	 * The program of a server on this machine, as the shell takes it; null:
	 * JGit's own code.
	 */
	private static String server(String name) {
		String dir = System.getenv("JGIT_SERVERS");

		return dir == null || dir.isEmpty() ? null
			: "'" + dir + "/" + name + "'";
	}

	private static TransportConfigCallback configure(String filter) {
		String server = server("git-upload-pack");

		return transport -> {
			if (server != null)
				transport.setOptionUploadPack(server);
			if (filter == null)
				return;
			try {
				transport.setFilterSpec(
					FilterSpec.fromFilterLine(filter));
			} catch (PackProtocolException e) {
				throw new IllegalArgumentException(e);
			}
		};
	}

	/* A bare clone, through JGit's own transport; filter may be null. */
	private static int copy(String url, String dir, int depth, String filter)
			throws Exception {
		CloneCommand clone = Git.cloneRepository().setURI(url)
			.setDirectory(new File(dir)).setBare(true).setMirror(true)
			.setTransportConfigCallback(configure(filter));

		if (depth > 0)
			clone.setDepth(depth);
		clone.call().close();
		return 0;
	}

	/* What is new at the origin, or as much of it, or what specs name. */
	private static int fetch(Repository repo, int depth, List<String> specs)
			throws Exception {
		try (Git git = new Git(repo)) {
			FetchCommand fetch = git.fetch()
				.setTransportConfigCallback(configure(null));

			if (depth > 0)
				fetch.setDepth(depth);
			if (!specs.isEmpty())
				fetch.setRefSpecs(specs.toArray(new String[0]));
			fetch.call();
		}
		return 0;
	}

	/* 1 when the server refuses one of them. */
	private static int push(Repository repo, List<String> specs)
			throws Exception {
		int code = 0;

		try (Git git = new Git(repo)) {
			PushCommand push = git.push();

			if (server("git-receive-pack") != null)
				push.setReceivePack(server("git-receive-pack"));
			if (System.getenv("PUSH_OPTION") != null)
				push.setPushOptions(List.of(
					System.getenv("PUSH_OPTION")));
			push.setAtomic(System.getenv("PUSH_ATOMIC") != null);
			push.setRefSpecs(specs.stream().map(RefSpec::new)
				.collect(Collectors.toList()));
			for (PushResult result : push.call())
				for (RemoteRefUpdate u : result.getRemoteUpdates())
					if (u.getStatus() != RemoteRefUpdate.Status.OK) {
						System.err.println(u);
						code = 1;
					}
		}
		return code;
	}
}
