/* SPDX-License-Identifier: MIT */
/* The parts of git network: its subcommands, and code that they share. */
#ifndef BUILTIN_NETWORK_PARTS_H
#define BUILTIN_NETWORK_PARTS_H

#include "builtin/builtin.h"
#include "islands/network.h"
#include "packs/newpack.h"
#include "sys/progress.h"

/*
 * Functions that run the subcommands. argv[0] is the name of the subcommand.
 * Each prints its own errors and returns the exit code.
 */
int network_cmd_add(int argc, const char **argv, struct builtin_env *env);
int network_cmd_fork(int argc, const char **argv, struct builtin_env *env);
int network_cmd_sync(int argc, const char **argv, struct builtin_env *env);
int network_cmd_repack(int argc, const char **argv, struct builtin_env *env);
int network_cmd_leave(int argc, const char **argv, struct builtin_env *env);
int network_cmd_delete(int argc, const char **argv, struct builtin_env *env);
int network_cmd_verify(int argc, const char **argv, struct builtin_env *env);
int network_cmd_stats(int argc, const char **argv, struct builtin_env *env);
int network_cmd_list(int argc, const char **argv, struct builtin_env *env);
int network_cmd_borrowers(int argc, const char **argv, struct builtin_env *env);

/* ---- network-place.c */

/*
 * Open the fork network of the current repository. This repository is the store
 * of the network, or a member. Returns 0, or prints an error and returns 128.
 */
int network_place_open(struct network **out, struct builtin_env *env);

/*
 * Open the network like network_place_open(), for a subcommand that changes the
 * network. Also removes files that killed commands left in the store. Returns
 * 0, or prints an error and returns 128.
 */
int network_place_open_to_change(struct network **out, struct builtin_env *env);

/*
 * Set the callback of `network` that prints warnings. Then remove files that
 * killed commands left in the network's store. Returns 0 or a negative error
 * code.
 */
int network_place_recover(struct network *network, struct error *err);

/*
 * Load the options for writing packs of the network's store. If `quiet` is
 * false, progress is shown by *out. Returns 0 or a negative error code.
 */
int network_place_options(struct newpack_options *options,
			  struct progress_out *out,
			  const struct network *network, bool quiet,
			  struct error *err);

#endif
