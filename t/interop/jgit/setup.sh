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

# Most of a run is loading classes. One jar without signatures and an archive of
# loaded classes (class data sharing) make that three times cheaper.
jgit_java () {
	java -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Xlog:disable \
		-Djava.awt.headless=true "$@"
}

jgit () {
	jgit_java -XX:SharedArchiveFile="$JGIT_DIR/classes.jsa" \
		-Djavax.net.ssl.trustStore="${JGIT_TRUST-}" \
		-Djavax.net.ssl.trustStorePassword=gitreach \
		-cp "$JGIT_DIR/all.jar" JGitPeer "$@"
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
		"$jgit_source/JGitPeer.java" >"$JGIT_DIR/javac.log" 2>&1 &&
		rm -f "$JGIT_DIR/all.jar" "$JGIT_DIR/classes.jsa"
}

# The subshell leaves the script's directory as it is. A run that clones loads
# nearly all classes that the tests need.
jgit_join () {
	test -f "$JGIT_DIR/all.jar" && return
	rm -rf "$JGIT_DIR/all" && cp -R "$JGIT_DIR/classes" "$JGIT_DIR/all" &&
	(
		cd "$JGIT_DIR/all" &&
		for jar in ../*.jar
		do
			jar xf $jar || exit 1
		done &&
		rm -rf META-INF/*.SF META-INF/*.RSA META-INF/MANIFEST.MF &&
		jar cf ../all.jar.new . &&
		mv -f ../all.jar.new ../all.jar &&
		stock init -q --bare seen.git &&
		jgit_java -XX:ArchiveClassesAtExit="$JGIT_DIR/classes.jsa" \
			-cp "$JGIT_DIR/all.jar" JGitPeer clone \
			"file://$PWD/seen.git" cloned.git
	) >"$JGIT_DIR/jar.log" 2>&1 || return
	rm -rf "$JGIT_DIR/all"
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
jgit_join || jgit_unavailable "jar failed, see $JGIT_DIR/jar.log"
exec 9>&-
