#!/bin/sh
# SPDX-License-Identifier: MIT
#
#	sh example.sh
#
# Makes the repository that the pages of the guide use, /srv/git/project.git: 300
# commits on main, a branch topic, and a tag v1.0. Run it as the user who owns
# /srv/git.
set -eu
export GIT_AUTHOR_NAME=Example GIT_AUTHOR_EMAIL=example@example.com
export GIT_COMMITTER_NAME=Example GIT_COMMITTER_EMAIL=example@example.com

git init -q --bare --initial-branch=main /srv/git/project.git
cd /srv/git/project.git
awk 'BEGIN {
	for (i = 1; i <= 300; i++) {
		print "commit refs/heads/main"
		print "committer Example <example@example.com> " \
			1700000000 + 60 * i " +0000"
		print "data <<END\nchange " i "\nEND"
		print "M 100644 inline dir" i % 7 "/file" i % 20
		print "data <<END\ncontent " i "\nEND"
	}
}' | git fast-import --quiet
git branch topic main~20
git tag -a -m 'version 1.0' v1.0 main~100
