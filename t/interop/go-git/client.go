// SPDX-License-Identifier: MIT

// go-git as a client: see t/lib-clients.sh.
//
//	client clone <url> <dir> [<depth>]
//	client fetch <dir> [<depth>]
//	client push <dir> <refspec>...
//
// PUSH_ATOMIC and PUSH_OPTION are the form of a push.
package main

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/config"
)

const all = config.RefSpec("+refs/*:refs/*")

func check(err error) {
	if err != nil && !errors.Is(err, git.NoErrAlreadyUpToDate) {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func depthOf(words []string) int {
	if len(words) == 0 {
		return 0
	}
	depth, err := strconv.Atoi(words[0])
	check(err)
	return depth
}

func open(dir string) *git.Repository {
	repo, err := git.PlainOpen(dir)
	check(err)
	return repo
}

func fetch(dir string, depth int) {
	check(open(dir).Fetch(&git.FetchOptions{
		RefSpecs: []config.RefSpec{all}, Depth: depth, CABundle: bundle(),
	}))
}

func clone(url, dir string, depth int) {
	repo, err := git.PlainInit(dir, true)
	check(err)
	_, err = repo.CreateRemote(&config.RemoteConfig{
		Name: "origin", URLs: []string{url},
		Fetch: []config.RefSpec{all}})
	check(err)
	fetch(dir, depth)
}

func push(dir string, words []string) {
	var specs []config.RefSpec

	for _, word := range words {
		if !strings.Contains(word, ":") {
			word += ":" + strings.TrimPrefix(word, "+")
		}
		specs = append(specs, config.RefSpec(word))
	}
	options := git.PushOptions{
		RefSpecs: specs, CABundle: bundle(),
		Atomic: os.Getenv("PUSH_ATOMIC") != "",
	}
	if name, value, found := strings.Cut(os.Getenv("PUSH_OPTION"), "="); found {
		options.Options = map[string]string{name: value}
	}
	check(open(dir).Push(&options))
}

// The certificate of an https server, if the test has one.
func bundle() []byte {
	bytes, _ := os.ReadFile("tls.crt")
	return bytes
}

func main() {
	words := os.Args[2:]
	switch os.Args[1] {
	case "clone":
		clone(words[0], words[1], depthOf(words[2:]))
	case "fetch":
		fetch(words[0], depthOf(words[1:]))
	case "push":
		push(words[0], words[1:])
	}
}
