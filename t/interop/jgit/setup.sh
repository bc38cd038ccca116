# SPDX-License-Identifier: MIT
#
# Sourced after t/lib.sh by the tests that need JGit. Fetches its jars with
# Maven once into build/jgit, compiles the peer, and defines
#
#	jgit <verb> <repo> ...     see JGitPeer.java
#
# Without Java, Maven or the jars the script's tests are skipped, with the
# reason; GITREACH_REQUIRE_JGIT=1 makes that a failure.

JGIT_DIR=$GITREACH_SRC/build/jgit
jgit_source=$GITREACH_SRC/t/interop/jgit

jgit () {
	java -XX:+UseSerialGC -XX:TieredStopAtLevel=1 \
		-Djava.awt.headless=true -cp "$JGIT_DIR/classes:$JGIT_DIR/*" \
		JGitPeer "$@"
}

jgit_unavailable () {
	if test -n "${GITREACH_REQUIRE_JGIT-}"
	then
		echo "JGit is required: $1" >&2
		exit 1
	fi
	skip_all="JGit: $1"
	test_done
}

# Maven keeps its downloads in the caller's home, not in the test's.
jgit_fetch () {
	test "$JGIT_DIR/fetched" -nt "$jgit_source/pom.xml" && return
	rm -f "$JGIT_DIR"/*.jar
	HOME=$GITREACH_HOME mvn -q -B -f "$jgit_source/pom.xml" \
		dependency:copy-dependencies -DoutputDirectory="$JGIT_DIR" \
		>"$JGIT_DIR/mvn.log" 2>&1 && touch "$JGIT_DIR/fetched"
}

jgit_compile () {
	test "$JGIT_DIR/classes/JGitPeer.class" -nt \
		"$jgit_source/JGitPeer.java" && return
	javac -d "$JGIT_DIR/classes" -cp "$JGIT_DIR/*" \
		"$jgit_source/JGitPeer.java" >"$JGIT_DIR/javac.log" 2>&1
}

for tool in javac mvn
do
	command -v $tool >/dev/null || jgit_unavailable \
		"no $tool (apt-get install default-jdk-headless maven)"
done
mkdir -p "$JGIT_DIR"
exec 9>"$JGIT_DIR/lock"
flock 9
try_to_fetch "${GITREACH_REQUIRE_JGIT-}" jgit_fetch ||
	jgit_unavailable "Maven cannot fetch it, see $JGIT_DIR/mvn.log"
jgit_compile || jgit_unavailable "javac failed, see $JGIT_DIR/javac.log"
exec 9>&-
