// SPDX-License-Identifier: MIT
//
// isomorphic-git as a client: see t/lib-clients.sh.
//
//	client clone <url> <dir> [<depth>]
//	client fetch <dir> [<depth>]
//	client push <dir> <refspec>...
//
// It speaks HTTP only, has no filters, and pushes one ref at a time.
// ISOMORPHIC_GIT is the directory of its package.

import fs from "node:fs";
import { createRequire } from "node:module";

const require = createRequire(process.env.ISOMORPHIC_GIT + "/package.json");
const git = require("isomorphic-git");
const http = require("isomorphic-git/http/node");

// All refs as they are there. A fetch stores branches below refs/remotes, so
// the refs are written here.
async function bring(gitdir, depth) {
	const url = await git.getConfig({ fs, gitdir, path: "remote.origin.url" });
	const refs = await git.listServerRefs({ http, url, protocolVersion: 1 });
	const common = { fs, http, gitdir, url, remote: "origin", tags: true };

	if (depth)
		common.depth = Number(depth);
	await git.fetch({ ...common, singleBranch: false });
	for (const { ref, oid } of refs)
		if (ref.startsWith("refs/") && !ref.endsWith("^{}"))
			await git.writeRef({ fs, gitdir, ref, value: oid, force: true });
}

async function clone(url, gitdir, depth) {
	await git.init({ fs, gitdir, dir: gitdir, bare: true, defaultBranch: "main" });
	await git.addRemote({ fs, gitdir, remote: "origin", url });
	await bring(gitdir, depth);
}

async function push(gitdir, ...refspecs) {
	for (const spec of refspecs) {
		const [source, destination] = spec.replace(/^\+/, "").split(":");
		const result = await git.push({
			fs, http, gitdir, remote: "origin",
			// It must exist here, even to delete another one there.
			ref: source || "refs/heads/main",
			remoteRef: destination || source, delete: !source,
			force: spec.startsWith("+"),
		});
		if (!result.ok)
			throw new Error(JSON.stringify(result));
	}
}

const [verb, ...words] = process.argv.slice(2);
try {
	await { clone, fetch: bring, push }[verb](...words);
	// A mirror has no remote-tracking branches.
	fs.rmSync((verb === "clone" ? words[1] : words[0]) + "/refs/remotes",
		{ recursive: true, force: true });
} catch (error) {
	console.error(error.message, JSON.stringify(error.data ?? {}));
	process.exit(1);
}
